"""Who works on tasks that do not need each other: processes, through joblib, or the workers of a Dask cluster.

Joblib has a backend for Dask, too, and ``joblib.parallel_config(backend="dask")`` works here as everywhere. A client
that is given does not use that backend, which waits for ever where a task cannot be sent (joblib 1.6), and stays set
for whatever else is done between two results of a generator.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from ..errors import StatementError, shown
from .executors import check_client, in_words

__all__ = ["Workers"]

#: More processes than this are no number of processes.
MOST_JOBS = 10**6


@dataclass(frozen=True)
class Workers:
    """Who does the work; by default whoever ``joblib.parallel_config`` says, or else this process.

    Attributes
    ----------
    n_jobs : int, optional
        Processes, as joblib counts them.
    client : distributed.Client, optional
        Of a cluster, whose workers then do all of it.
    """

    n_jobs: int | None = None
    client: Any = None

    @classmethod
    def asked(cls, n_jobs: int | None = None, client: Any = None) -> Workers:
        """Read the arguments of a public function.

        Raises
        ------
        StatementError
            If `n_jobs` is no number of processes, `client` is no client of Dask, or both are given.
        """
        if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0 or abs(n_jobs) > MOST_JOBS):
            raise StatementError(f"n_jobs={shown(n_jobs)}: a number of processes is expected, or -1 for all there are")
        if client is not None:
            check_client(client)
            if n_jobs is not None:
                raise StatementError(
                    f"n_jobs={n_jobs} is for processes of this machine, a client has its own workers; give one of the "
                    "two"
                )
        return cls(n_jobs, client)

    @property
    def is_this_process(self) -> bool:
        """Whether tasks are done here, one after another."""
        from joblib import effective_n_jobs  # takes a while to load, which no other part needs

        return self.client is None and bool(effective_n_jobs(self.n_jobs) == 1)

    def map(self, work: Callable[..., Any], shared: Any, tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Give ``work(shared, *task)`` of every task, in their order, each as soon as it can be.

        Whoever stops asking, or is interrupted, stops the work: tasks that have not begun never do.

        Parameters
        ----------
        work : callable
            Pure: of a worker that is lost, it is done again by another.
        shared : object
            What every task needs; it travels to the cluster once.
        tasks : iterable of tuples

        Raises
        ------
        StatementError
            If what is shared cannot be sent to the cluster.
        """
        if self.client is not None:
            return _on_cluster(self.client, work, shared, tasks)
        from joblib import Parallel, delayed

        given: Iterator[Any] = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(work)(shared, *task) for task in tasks
        )
        return given


def _on_cluster(client: Any, work: Callable[..., Any], shared: Any, tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """Give the results of tasks in order; what is shared is the result of a task, which Dask can make again."""
    import dask

    with in_words():
        try:
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": sys.maxsize}):
                sent = client.submit(_itself, shared, pure=False)
        except TypeError as error:
            raise StatementError(
                "what is to be done cannot be sent to the workers of the Dask cluster; mostly a function, such as a "
                "measure, holds an open file, a lock or the like: let it open its own, or leave client out"
            ) from error
        # The first is done first; submitted at once, tasks of one priority are done in any order.
        waiting = [client.submit(work, sent, *task, pure=False, priority=-i) for i, task in enumerate(tasks)]
    waiting.reverse()
    try:
        while waiting:
            with in_words():
                (result,) = client.gather([waiting.pop()])
            yield result
    finally:
        waiting.clear()  # an error holds on to this frame, and Dask works on what somebody holds on to


def _itself(shared: Any) -> Any:
    """What a task is given, as its result."""
    return shared
