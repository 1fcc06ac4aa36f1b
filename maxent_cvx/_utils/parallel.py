"""Independent tasks, and partitions of a large release: in this process, in several (joblib), or on a Dask cluster.

An executor applies a function to every partition. Each result stays where it was computed until it is gathered.
Functions are pure, so that Dask can recompute the results of a lost worker.

Joblib also has a backend for Dask, and ``joblib.parallel_config(backend="dask")`` works here as elsewhere. If a client
is given, it is used directly, because with that backend joblib 1.6 waits forever for a task that cannot be sent, and
the backend remains set for any other code that runs between two results of a generator.
"""

from __future__ import annotations

import itertools
import os
import pickle
import sys
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any

from .errors import SolverError, StatementError, TableError, short_repr
from .files import TemporaryFolder, path_of

#: The number of results combined at a time; it is fixed so that the order of summation does not depend on the workers.
FAN_IN = 8


class Executor(ABC):
    """Applies functions to partitions; a handle represents a result that stays where it was computed."""

    @abstractmethod
    def made(self, makers: Iterable[Callable[[], Any]]) -> list[Any]:
        """Return handles of the results of functions without arguments, or of Dask Delayed objects."""

    @abstractmethod
    def map(self, function: Callable[..., Any], *handles: Sequence[Any], common: tuple[Any, ...] = ()) -> list[Any]:
        """Return handles of ``function(*results, *common)``, where the results are those of one partition."""

    @abstractmethod
    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results of handles, in order."""

    @abstractmethod
    def combined(self, combine: Callable[[list[Any]], Any], groups: list[list[Any]]) -> list[Any]:
        """Return handles of ``combine(results)`` for every group of handles."""

    def reduce(self, combine: Callable[[list[Any]], Any], handles: Sequence[Any]) -> Any:
        """Combine the results of all partitions in a tree, a few neighbours at a time."""
        pending = list(handles)
        while len(pending) > 1:
            pending = self.combined(combine, [pending[i : i + FAN_IN] for i in range(0, len(pending), FAN_IN)])
        return self.gather(pending)[0] if pending else combine([])


class LocalExecutor(Executor):
    """Threads of this process; NumPy and SciPy release the GIL while they compute."""

    def __init__(self, threads: int | None = None) -> None:
        available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.threads = threads or available

    def made(self, makers: Iterable[Callable[[], Any]]) -> list[Any]:
        """Return the results of functions, or of Delayed objects, computed in threads or by the current Dask client."""
        return self.map(_made_here, list(makers))

    def map(self, function: Callable[..., Any], *handles: Sequence[Any], common: tuple[Any, ...] = ()) -> list[Any]:
        """Return the results, one per partition, computed in a pool of threads; raise the first error."""
        arguments = [(*each, *common) for each in zip(*handles, strict=True)]
        if self.threads == 1 or len(arguments) < 2:
            return [function(*each) for each in arguments]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(lambda each: function(*each), arguments))

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results unchanged."""
        return list(handles)

    def combined(self, combine: Callable[[list[Any]], Any], groups: list[list[Any]]) -> list[Any]:
        """Return the result for each group."""
        return [combine(self.gather(group)) for group in groups]


class ClusterExecutor(Executor):
    """The workers of a Dask cluster."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def made(self, makers: Iterable[Callable[[], Any]]) -> list[Any]:
        """Return futures of the results; Dask recomputes them if their worker is lost."""
        makers = list(makers)
        with _worded():
            # All in one graph: partitions of one table share inputs, which are then sent only once.
            computed = iter(self.client.compute([make for make in makers if _is_delayed(make)]))
            return [next(computed) if _is_delayed(make) else self.client.submit(make, pure=False) for make in makers]

    def map(self, function: Callable[..., Any], *handles: Sequence[Any], common: tuple[Any, ...] = ()) -> list[Any]:
        """Return futures, one per partition, each computed where its partition is."""
        with _worded():
            return [
                self.client.submit(function, *arguments, *common, pure=False)
                for arguments in zip(*handles, strict=True)
            ]

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results, sent to this process."""
        with _worded():
            return list(self.client.gather(list(handles)))

    def combined(self, combine: Callable[[list[Any]], Any], groups: list[list[Any]]) -> list[Any]:
        """Return futures, one per group, computed on the workers."""
        with _worded():
            return [self.client.submit(combine, group, pure=False) for group in groups]

    def in_turn(self, function: Callable[..., Any], shared: Any, tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield ``function(shared, *task)`` for every task, in order, each as soon as possible.

        Closing the generator, or an interrupt, cancels the tasks that have not begun. The shared object is sent once,
        as the result of a task, which Dask recomputes if its worker is lost.
        """
        with _worded():
            handle = self._held(shared)
            # Priorities preserve the order: tasks of equal priority are executed in any order.
            waiting = [
                self.client.submit(function, handle, *task, pure=False, priority=-i) for i, task in enumerate(tasks)
            ]
        waiting.reverse()
        try:
            while waiting:
                yield self.gather([waiting.pop()])[0]
        finally:
            waiting.clear()  # a traceback keeps this frame alive, and Dask computes futures that are referenced

    def _held(self, shared: Any) -> Any:
        """Return a future of an object of this process, without Dask's warning about large objects."""
        import dask

        try:
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": sys.maxsize}):
                return self.client.submit(_itself, shared, pure=False)
        except TypeError as error:
            raise StatementError(
                "the task cannot be sent to the workers of the Dask cluster; usually a function, such as a measure, refers "
                "to an open file or a lock: open it inside the function, or omit client"
            ) from error


@contextmanager
def _worded() -> Iterator[None]:
    """Raise SolverError if the cluster is lost; other errors of tasks are not changed."""
    try:
        yield
    except Exception as error:
        kind = type(error).__name__
        if kind == "KilledWorker":
            raise SolverError(
                "the workers of the Dask cluster died repeatedly while computing the same task, usually because it needs "
                "more memory than they have; use larger workers or, for a release in partitions, smaller partitions"
            ) from error
        is_of_cluster = type(error).__module__.startswith("distributed")
        if not is_of_cluster and not isinstance(error, (CancelledError, ConnectionError, TimeoutError)):
            raise
        raise SolverError(
            f"the Dask cluster does not answer ({kind}); its results are lost, and no files were written. Start a "
            "cluster, and solve again with client=distributed.Client(...)"
        ) from error


def executor_for(client: Any = None, threads: int | None = None) -> Executor:
    """Return an executor for the workers of a Dask client, or for threads of this process if there is no client."""
    if client is None:
        return LocalExecutor(threads)
    return client if isinstance(client, (LocalExecutor, ClusterExecutor)) else cluster_of(client)


def cluster_of(client: Any) -> ClusterExecutor:
    """Return an executor for the workers of a Dask client."""
    if not all(callable(getattr(client, name, None)) for name in ("submit", "gather", "scheduler_info")):
        raise StatementError(f"client must be a Dask client, distributed.Client(...), got client={short_repr(client)}")
    return ClusterExecutor(client)


def current_client() -> Any:
    """Return the current client of Dask, or None."""
    get_client = getattr(sys.modules.get("distributed"), "get_client", None)  # without it there is no client
    try:
        return None if get_client is None else get_client()
    except ValueError:
        return None


def then(maker: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return a maker of ``function(result, *arguments)``, given a maker of the result: a function or a Dask Delayed."""
    if not _is_delayed(maker):
        return partial(_after, maker, function, arguments)
    import dask

    return dask.delayed(partial(_before, function, arguments), pure=False)(maker)


def _after(maker: Callable[[], Any], function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return function(maker(), *arguments)


def _before(function: Callable[..., Any], arguments: tuple[Any, ...], made: Any) -> Any:
    return function(made, *arguments)


def _itself(shared: Any) -> Any:
    return shared


def _is_delayed(maker: Any) -> bool:
    """Return whether a maker is a Dask Delayed."""
    return hasattr(maker, "__dask_graph__")


def _made_here(maker: Any) -> Any:
    """Return the result of a maker, computed here; the current client computes a Delayed, whose parts it may own."""
    if not _is_delayed(maker):
        return maker()
    if current_client() is not None:
        return maker.compute()
    future = getattr(sys.modules.get("distributed"), "Future", ())
    if any(isinstance(part, future) for part in dict(maker.__dask_graph__()).values()):
        raise StatementError(
            "a partition is stored by the workers of a Dask cluster without a client in this process; connect one, "
            "distributed.Client(...), and make the release again"
        )
    return maker.compute(scheduler="synchronous")


#: Bytes of freed memory that glibc retains, by environment variable. Dask workers return all but 64 KiB to the system,
#: which must then clear every page of the next array: this took 10 of 23 processor seconds for a quarter of a million
#: records, and takes 2 to 4 with these values. Arrays above the second value, its maximum in glibc, are returned.
MEMORY_KEPT = {"MALLOC_TRIM_THRESHOLD_": str(256 * 2**20), "MALLOC_MMAP_THRESHOLD_": str(32 * 2**20)}


@contextmanager
def local_client(workers: int) -> Iterator[Any]:
    """Yield a client of a local cluster with the given number of processes, each with one thread."""
    import dask
    from distributed import Client, LocalCluster

    variables = "distributed.nanny.pre-spawn-environ"
    with (
        dask.config.set({variables: {**dask.config.get(variables, {}), **MEMORY_KEPT}}),
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


#: Bytes; smaller results stay in memory.
LARGE = 2**20


class Stored:
    """A result in a file, which is deleted with the last reference."""

    def __init__(self, path: Path, owner: object) -> None:
        self.path, self._owner = path, owner
        weakref.finalize(self, path.unlink, missing_ok=True)

    def load(self) -> Any:
        """Return the result; its arrays are mapped from the file, and only the parts that are read take memory."""
        import joblib

        return joblib.load(self.path, mmap_mode="c")


class OutOfCoreExecutor(LocalExecutor):
    """Threads of this process that write large results to files, which are mapped into memory while they are used.

    Only the partitions in use take memory; the operating system caches files in the remaining memory. Dask's own
    spilling takes 2.6 times as long.
    """

    def __init__(self, folder: str | PathLike[str], threads: int | None = None) -> None:
        super().__init__(threads)
        place = path_of(folder)
        try:
            self._folder = TemporaryFolder(place)
        except OSError as error:
            raise TableError(f"cannot write to the folder {str(place)!r}: {error.strerror}; give another") from error
        self._numbers = itertools.count()

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results of handles."""
        return [_loaded(handle) for handle in handles]

    def map(self, function: Callable[..., Any], *handles: Sequence[Any], common: tuple[Any, ...] = ()) -> list[Any]:
        """Return the results, of which large ones are stored in files, of arguments that may be stored, too."""
        return super().map(partial(self._kept, function), *handles, common=common)

    def _kept(self, function: Callable[..., Any], *arguments: Any) -> Any:
        result, buffers = function(*map(_loaded, arguments)), list[pickle.PickleBuffer]()
        pickle.dumps(result, protocol=5, buffer_callback=buffers.append)  # collects the arrays without a copy
        if sum(buffer.raw().nbytes for buffer in buffers) < LARGE:
            return result
        import joblib

        path = self._folder.path / f"{next(self._numbers)}.joblib"
        joblib.dump(result, path)
        return Stored(path, self)


def _loaded(handle: Any) -> Any:
    """Return a result from memory or from its file."""
    return handle.load() if isinstance(handle, Stored) else handle


#: The largest valid number of processes.
MOST_JOBS = 10**6


@dataclass(frozen=True)
class Workers:
    """Executor of independent tasks: by default as set by ``joblib.parallel_config``, or else this process."""

    n_jobs: int | None = None  # processes, as joblib counts them
    cluster: ClusterExecutor | None = None  # executes all tasks if given

    @classmethod
    def asked(cls, n_jobs: int | None = None, client: Any = None) -> Workers:
        """Check the arguments of a public function."""
        if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0 or abs(n_jobs) > MOST_JOBS):
            raise StatementError(
                f"n_jobs must be a number of processes, or -1 for one per processor, got n_jobs={short_repr(n_jobs)}"
            )
        cluster = None if client is None else cluster_of(client)
        if n_jobs is not None and cluster is not None:
            raise StatementError(f"n_jobs={n_jobs} and client exclude each other: a client has its own workers")
        return cls(n_jobs, cluster)

    @property
    def is_this_process(self) -> bool:
        """Whether tasks are executed in this process, one after another."""
        from joblib import effective_n_jobs  # late: slow to import, and needed only here

        return self.cluster is None and bool(effective_n_jobs(self.n_jobs) == 1)

    def map(self, work: Callable[..., Any], shared: Any, tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield ``work(shared, *task)`` for every task, in order; closing it cancels tasks that have not begun."""
        if self.cluster is not None:
            return self.cluster.in_turn(work, shared, tasks)
        from joblib import Parallel, delayed

        results: Iterator[Any] = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(work)(shared, *task) for task in tasks
        )
        return results
