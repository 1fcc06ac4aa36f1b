"""Functions of partitions, whose results stay where they are made: by threads of Dask, or on the workers of a client.

A map gives one handle for each partition and a reduction one result, so that a computation over partitions is written
once: for `dask`, whose threads work in this process, and for `distributed`, whose workers are other processes. A handle
is the result itself in this process, and a future of the client otherwise. All functions are pure, so that Dask
computes again what a lost worker held. Dask also writes to disk what does not fit into memory: every worker does so
beyond a share of its memory (``distributed.worker.memory``), one in this process as well (:meth:`Executor.spilling`).
"""

from __future__ import annotations

import logging
import os
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from typing import Any, Self

from ..errors import SolverError, StatementError, TableError, shown
from .files import path_of

__all__ = ["Executor", "check_client", "current_client", "in_words", "local_client", "then"]

#: How many results are combined at a time, so that sums are made in the same order by any number of workers.
FAN_IN = 8

#: Settings of the clusters that this package starts. Dask by default waits for ever for workers that are gone; a minute
#: is longer than it takes to start one again. It also waits for ever for the tasks of a worker that is paused because
#: its memory is full, if nothing is left that could be written to disk: here no worker pauses, one that needs more than
#: it has is ended, and its task fails after some attempts. And Dask has workers give all freed memory but 64 KiB back,
#: after which the system clears every page of the next array: 10 of 23 processor seconds of 250,000 records, and 2 to 4
#: with these limits of glibc, in bytes.
SETTINGS = {
    "distributed.scheduler.no-workers-timeout": "60s",
    "distributed.worker.memory.pause": False,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 256 * 2**20,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 32 * 2**20,
}


class Executor:
    """Applies functions to partitions.

    Parameters
    ----------
    client : distributed.Client, optional
        Whose workers hold the results; by default this process does.
    threads : int, optional
        Without a client: how many functions are called at a time, by default one for each processor.

    Raises
    ------
    StatementError
        If `client` is not a client of Dask.
    """

    def __init__(self, client: Any = None, threads: int | None = None) -> None:
        if client is not None:
            check_client(client)
        self.client, self.threads = client, threads

    @classmethod
    def spilling(cls, folder: str | os.PathLike[str], threads: int | None = None) -> Self:
        """An executor in this process that writes results to a folder where they exceed a share of the memory.

        It has a client of its own with one worker, which are closed with the last reference to it.

        Raises
        ------
        TableError
            If `distributed` is not installed, or the folder cannot be written to.
        """
        try:
            from distributed import Client
        except ImportError:
            raise TableError("scratch needs distributed: pip install 'maxent-cvx[dask]'") from None
        import dask

        place = path_of(folder)
        if not os.access(place, os.W_OK | os.X_OK):
            raise TableError(f"cannot write to the folder {str(place)!r}: give one that exists and can be written to")
        with dask.config.set(SETTINGS):
            client = Client(
                processes=False, n_workers=1, threads_per_worker=threads, memory_limit=1.0, local_directory=str(place),
                dashboard_address=":0", set_as_default=False, silence_logs=logging.CRITICAL,
            )  # fmt: skip
        found = cls(client)
        weakref.finalize(found, client.close).atexit = False  # Dask closes what is open then
        return found

    def made(self, makers: Iterable[Any]) -> list[Any]:
        """Handles of what functions without arguments return, or of what Delayed objects of Dask stand for."""
        makers = list(makers)
        if not any(map(_is_delayed, makers)):
            return self._each(_called, [(maker,) for maker in makers])
        if self.client is not None:
            with in_words():
                return list(self.client.compute(makers))  # one graph: what partitions share is sent and computed once
        if (client := current_client()) is not None:  # it may hold parts of the table
            there = Executor(client)
            return there.gather(there.made(makers))
        import dask

        _refuse_lost_parts(makers)
        return list(dask.compute(*makers, scheduler="threads", num_workers=self.threads))

    def map(self, function: Callable[..., Any], *handles: Sequence[Any], common: tuple[Any, ...] = ()) -> list[Any]:
        """Handles of ``function(*results, *common)``, where the results are those of one partition each."""
        return self._each(function, [(*own, *common) for own in zip(*handles, strict=True)])

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """The results themselves, in order."""
        if self.client is None:
            return list(handles)
        with in_words():
            return list(self.client.gather(list(handles)))

    def reduce(self, combine: Callable[[list[Any]], Any], handles: Sequence[Any]) -> Any:
        """Combine the results of all partitions, a few neighbours at a time, and those in turn."""
        left = list(handles)
        while len(left) > 1:
            left = self._each(combine, [(left[i : i + FAN_IN],) for i in range(0, len(left), FAN_IN)])
        return self.gather(left)[0] if left else combine([])

    def _each(self, function: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
        """Handles of what a function returns for each tuple of arguments; an error here is raised at once."""
        if self.client is not None:
            with in_words():
                return [self.client.submit(function, *each, pure=False) for each in arguments]
        import dask.threaded

        # The arguments are bound: Dask would search them for tasks.
        graph = {i: (partial(function, *each),) for i, each in enumerate(arguments)}
        return list(dask.threaded.get(graph, list(graph), num_workers=self.threads))


@contextmanager
def local_client(workers: int) -> Iterator[Any]:
    """A client of so many processes of this machine, each with one thread, for as long as it is needed."""
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set(SETTINGS),
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def in_words() -> Iterator[None]:
    """Say what became of a cluster; errors of the work itself are raised as they are.

    Raises
    ------
    SolverError
        If the scheduler cannot be reached, workers die of a task again and again, or no worker takes a task.
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
        if kind in ("NoWorkerError", "NoValidWorkerError"):
            raise SolverError(
                "no worker of the Dask cluster takes tasks: all have died, or are paused because their memory is full "
                "and they hold nothing that could be written to disk; use larger workers or, of a release in "
                "partitions, more and smaller ones"
            ) from error
        is_of_cluster = type(error).__module__.startswith("distributed")
        if not is_of_cluster and not isinstance(error, (CancelledError, ConnectionError, TimeoutError)):
            raise
        raise SolverError(
            f"the Dask cluster does not answer ({kind}); what was computed there is lost, and nothing was written. "
            "Start a cluster, and solve again with client=distributed.Client(...)"
        ) from error


def check_client(client: Any) -> None:
    """Check that something is a client of Dask.

    Raises
    ------
    StatementError
        If it is not.
    """
    if not all(callable(getattr(client, name, None)) for name in ("submit", "gather", "scheduler_info")):
        raise StatementError(f"client={shown(client)}: a client of Dask is expected, distributed.Client(...)")


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


def _before(function: Callable[..., Any], arguments: tuple[Any, ...], made: Any) -> Any:
    """Apply a function to something that was made."""
    return function(made, *arguments)


def _called(maker: Callable[[], Any]) -> Any:
    """What a maker makes."""
    return maker()


def _is_delayed(maker: Any) -> bool:
    """Whether something is a Delayed of Dask: a graph, which Dask computes."""
    return hasattr(maker, "__dask_graph__")


def _refuse_lost_parts(makers: Iterable[Any]) -> None:
    """Check that no part of Delayed objects was held by a cluster: there is no client of it here.

    Raises
    ------
    StatementError
        If some was.
    """
    future = getattr(sys.modules.get("distributed"), "Future", ())
    if any(isinstance(part, future) for maker in makers for part in dict(maker.__dask_graph__()).values()):
        raise StatementError(
            "a partition is held by the workers of a Dask cluster, and there is no client of it here any more; "
            "connect one, distributed.Client(...), and make the release again"
        )
