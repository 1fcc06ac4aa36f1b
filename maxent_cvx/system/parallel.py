"""Work in several processes, through joblib, whose backends take it over as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from typing import Any

from ..errors import StatementError, shown

__all__ = ["in_parallel", "jobs_asked", "one_after_another"]

#: More processes than this are no number of processes.
MOST_JOBS = 10**6


def jobs_asked(n_jobs: int | None) -> int | None:
    """Read how many processes are asked for, as joblib counts them.

    Raises
    ------
    StatementError
        If it is no such number.
    """
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0 or abs(n_jobs) > MOST_JOBS):
        raise StatementError(f"n_jobs={shown(n_jobs)}: a number of processes is expected, or -1 for all there are")
    return n_jobs


def one_after_another(n_jobs: int | None) -> bool:
    """Whether tasks are done here, one after another: None is what ``joblib.parallel_config`` says, or else one."""
    from joblib import effective_n_jobs  # takes a while to load, which no other part needs

    return bool(effective_n_jobs(n_jobs) == 1)


def in_parallel(work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None = None) -> Iterator[Any]:
    """Do the same work on every task, and give the results in the order of the tasks, each as soon as it can be."""
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=n_jobs, return_as="generator")(delayed(work)(*task) for task in tasks)
