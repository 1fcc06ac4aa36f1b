"""Who works on tasks that do not need each other: processes, through joblib, or the workers of a Dask cluster.

Joblib has a backend for Dask, too, and ``joblib.parallel_config(backend="dask")`` holds here as everywhere. A client
that is given goes the way of a release's partitions (:mod:`.executors`), and not through that backend: it waits for
ever where a task cannot be sent (joblib 1.6), and is set for whatever else is done between two results of a generator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from ..errors import StatementError, shown
from .executors import ClusterExecutor, cluster_of

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
    cluster : ClusterExecutor, optional
        The workers of a cluster, which then do all of it.
    """

    n_jobs: int | None = None
    cluster: ClusterExecutor | None = None

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
        cluster = None if client is None else cluster_of(client)
        if n_jobs is not None and cluster is not None:
            raise StatementError(
                f"n_jobs={n_jobs} is for processes of this machine, a client has its own workers; give one of the two"
            )
        return cls(n_jobs, cluster)

    @property
    def is_this_process(self) -> bool:
        """Whether tasks are done here, one after another."""
        from joblib import effective_n_jobs  # takes a while to load, which no other part needs

        return self.cluster is None and bool(effective_n_jobs(self.n_jobs) == 1)

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
        """
        if self.cluster is not None:
            return self.cluster.in_turn(work, shared, tasks)
        from joblib import Parallel, delayed

        given: Iterator[Any] = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(work)(shared, *task) for task in tasks
        )
        return given
