"""Where the partitions of a large release are worked on: in threads of this process, or by the workers of Dask.

Both do the same: a function is applied to every partition, and what it gives stays where it was made; only what is
asked for comes back. Functions are pure, so that Dask computes again what a worker took with it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

from ..errors import SolverError, StatementError, shown
from .waiting import wait_for

__all__ = ["ClusterExecutor", "Executor", "LocalExecutor", "cluster_of", "current_client", "executor_for", "then"]

#: How many results are combined at a time, so that sums are made in the same order by any number of workers.
FAN_IN = 8


class Executor(Protocol):
    """Applies functions to partitions; a handle stands for a result that stays where it was made."""

    def made(self, makers: Iterable[Callable[[], Any]]) -> list[Any]:
        """Handles of what functions without arguments return, or of what a Dask Delayed stands for."""
        ...

    def map(self, function: Callable[..., Any], *handles: Sequence[Any], common: tuple[Any, ...] = ()) -> list[Any]:
        """Handles of ``function(*results, *common)``, the results being those of one partition each."""
        ...

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """The results themselves, in order."""
        ...

    def reduce(self, combine: Callable[[list[Any]], Any], handles: Sequence[Any]) -> Any:
        """Combine the results of all partitions, a few neighbours at a time, and those in turn."""
        ...


class LocalExecutor:
    """Threads of this process: NumPy and SciPy leave Python's lock to others while they compute.

    Parameters
    ----------
    threads : int, optional
        By default one a processor.
    """

    def __init__(self, threads: int | None = None) -> None:
        available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.threads = threads or available

    def made(self, makers: Iterable[Callable[[], Any]]) -> list[Any]:
        """What the functions return; a Delayed is computed in its thread, or by the client of Dask that is there."""
        return self._each(_made_here, [(make,) for make in makers])

    def map(self, function: Callable[..., Any], *handles: Sequence[Any], common: tuple[Any, ...] = ()) -> list[Any]:
        """The results, one a partition."""
        return self._each(function, [(*own, *common) for own in zip(*handles, strict=True)])

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """The results as they are."""
        return list(handles)

    def reduce(self, combine: Callable[[list[Any]], Any], handles: Sequence[Any]) -> Any:
        """Combine them, a few neighbours at a time."""
        left = list(handles)
        while len(left) > 1:
            left = [combine(left[i : i + FAN_IN]) for i in range(0, len(left), FAN_IN)]
        return left[0] if handles else combine([])

    def _each(self, function: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
        """Apply a function to arguments, as many at a time as there are threads; the first error is raised."""
        if self.threads == 1 or len(arguments) < 2:
            return [function(*each) for each in arguments]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(lambda each: function(*each), arguments))


class ClusterExecutor:
    """The workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def made(self, makers: Iterable[Callable[[], Any]]) -> list[Any]:
        """Futures of what the functions return; they are computed again if their worker is lost."""
        makers = list(makers)
        with _worded():
            # All in one graph: partitions of one table share what they are made of, which so is sent once.
            computed = iter(self.client.compute([make for make in makers if _is_delayed(make)]))
            return [next(computed) if _is_delayed(make) else self.client.submit(make, pure=False) for make in makers]

    def map(self, function: Callable[..., Any], *handles: Sequence[Any], common: tuple[Any, ...] = ()) -> list[Any]:
        """Futures, one a partition, each computed where its partition is."""
        with _worded():
            return [self.client.submit(function, *own, *common, pure=False) for own in zip(*handles, strict=True)]

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """The results, sent here."""
        with _worded():
            wait_for(handles, self.client)
            return list(self.client.gather(list(handles)))

    def reduce(self, combine: Callable[[list[Any]], Any], handles: Sequence[Any]) -> Any:
        """Combine them on the workers, a few neighbours at a time; one result is sent here."""
        left = list(handles)
        while len(left) > 1:
            some = [left[i : i + FAN_IN] for i in range(0, len(left), FAN_IN)]
            with _worded():
                left = [self.client.submit(combine, each, pure=False) for each in some]
        return self.gather(left)[0] if handles else combine([])

    def in_turn(self, function: Callable[..., Any], shared: Any, tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Send ``function(shared, *task)`` of every task here, in their order, each as soon as it can be.

        Whoever stops asking, or is interrupted, stops the work: tasks that have not begun never do. What is shared
        travels once; it is the result of a task, which Dask makes again where a worker took it with it.

        Raises
        ------
        StatementError
            If what is shared cannot be sent.
        """
        with _worded():
            held = self._held(shared)
            # The first is done first; submitted at once, tasks of one priority are done in any order.
            waiting = [
                self.client.submit(function, held, *task, pure=False, priority=-i) for i, task in enumerate(tasks)
            ]
        waiting.reverse()
        try:
            while waiting:
                yield self.gather([waiting.pop()])[0]
        finally:
            waiting.clear()  # an error holds on to this frame, and Dask works on what somebody holds on to

    def _held(self, shared: Any) -> Any:
        """A future of an object of this process, however large: Dask advises users not to have such here."""
        import dask

        try:
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": sys.maxsize}):
                return self.client.submit(_itself, shared, pure=False)
        except TypeError as error:
            raise StatementError(
                "what is to be done cannot be sent to the workers of the Dask cluster; mostly a function, such as a "
                "measure, holds an open file, a lock or the like: let it open its own, or leave client out"
            ) from error


@contextmanager
def _worded() -> Iterator[None]:
    """Say in words what became of a cluster; errors of the work itself are raised as they are.

    Raises
    ------
    SolverError
        If the scheduler cannot be reached, or workers die of a task again and again.
    """
    try:
        yield
    except Exception as error:
        kind = type(error).__name__
        if kind == "KilledWorker":
            raise SolverError(
                "the workers of the Dask cluster died of the same task again and again, mostly because it takes more "
                "memory than they have; use larger workers or, of a release in partitions, more and smaller ones"
            ) from error
        is_of_cluster = type(error).__module__.startswith("distributed")
        if not is_of_cluster and not isinstance(error, (CancelledError, ConnectionError, TimeoutError)):
            raise
        raise SolverError(
            f"the Dask cluster does not answer ({kind}); what was computed there is lost, and nothing was written. "
            "Start a cluster, and solve again with client=distributed.Client(...)"
        ) from error


def executor_for(client: Any = None, threads: int | None = None) -> Executor:
    """The workers of a Dask client, or threads of this process without one.

    Raises
    ------
    StatementError
        If it is no client.
    """
    if client is None:
        return LocalExecutor(threads)
    return client if isinstance(client, (LocalExecutor, ClusterExecutor)) else cluster_of(client)


def cluster_of(client: Any) -> ClusterExecutor:
    """The workers of a Dask client.

    Raises
    ------
    StatementError
        If it is no client.
    """
    if not all(callable(getattr(client, name, None)) for name in ("submit", "gather", "scheduler_info")):
        raise StatementError(f"client={shown(client)}: a client of Dask is expected, distributed.Client(...)")
    return ClusterExecutor(client)


def current_client() -> Any:
    """The client of Dask that its own functions would use here, or None."""
    get_client = getattr(sys.modules.get("distributed"), "get_client", None)  # no client is there without it
    try:
        return None if get_client is None else get_client()
    except ValueError:
        return None


def then(maker: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """The maker of ``function(made, *arguments)``, where `made` is what another maker makes.

    Parameters
    ----------
    maker : callable or dask.delayed.Delayed
        Without arguments.
    function : callable
        Of a module, so that it can be sent to another process.
    *arguments : object
        What follows `made`; of a Delayed they are not searched for parts that Dask should compute.

    Returns
    -------
    callable or dask.delayed.Delayed
        As `maker`: a Delayed stays one, so that Dask sees where the work is to be done.
    """
    if not _is_delayed(maker):
        return partial(_after, maker, function, arguments)
    import dask

    return dask.delayed(partial(_before, function, arguments), pure=False)(maker)


def _after(maker: Callable[[], Any], function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Make something, and apply a function to it."""
    return function(maker(), *arguments)


def _itself(shared: Any) -> Any:
    """What a task is given, as its result."""
    return shared


def _before(function: Callable[..., Any], arguments: tuple[Any, ...], made: Any) -> Any:
    """Apply a function to something that was made."""
    return function(made, *arguments)


def _is_delayed(maker: Any) -> bool:
    """Whether something is a Delayed of Dask: a graph, which Dask computes."""
    return hasattr(maker, "__dask_graph__")


def _made_here(maker: Any) -> Any:
    """What a maker makes, in this thread; a Delayed where there is a client, which may hold parts of it, by that.

    Raises
    ------
    StatementError
        If parts of a Delayed were held by a cluster whose client is gone.
    """
    if not _is_delayed(maker):
        return maker()
    if current_client() is not None:
        return maker.compute()
    future = getattr(sys.modules.get("distributed"), "Future", ())
    if any(isinstance(part, future) for part in dict(maker.__dask_graph__()).values()):
        raise StatementError(
            "a partition is held by the workers of a Dask cluster, and there is no client of it here any more; "
            "connect one, distributed.Client(...), and make the release again"
        )
    return maker.compute(scheduler="synchronous")
