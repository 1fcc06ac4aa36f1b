"""Partitions and independent tasks have the same results in this process, in others, and on a cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from functools import partial
from operator import add, mul

import joblib
import pytest

from maxent_cvx import SolverError, StatementError
from maxent_cvx._utils.parallel import LocalExecutor, Workers, executor_for, then


@pytest.fixture(params=["one thread", "threads", "workers"])
def executor(request):
    if request.param == "workers":
        return executor_for(request.getfixturevalue("client"))
    return LocalExecutor(1 if request.param == "one thread" else 3)


def test_map_and_reduce(executor):
    """Functions are applied to the results of one partition each, in order, and sums are those of all."""
    handles = executor.made([then(partial(mul, i, 1), add, 0) for i in range(20)])
    shifted = executor.map(add, handles, common=(5,))
    assert executor.gather(executor.map(add, handles, shifted)) == [2 * i + 5 for i in range(20)]
    assert executor.reduce(sum, shifted) == sum(range(20)) + 100
    assert executor.reduce(sum, []) == 0
    with pytest.raises(ZeroDivisionError):
        executor.gather(executor.made([partial(divmod, 1, 0)]))


def test_delayed_makers(executor):
    """A maker may be a Dask Delayed; a function of its result is one again."""
    dask = pytest.importorskip("dask")
    followed = [then(dask.delayed(mul)(i, 10), add, 1) for i in range(4)]
    assert all(dask.is_dask_collection(maker) for maker in followed)
    assert executor.gather(executor.made(followed)) == [1, 11, 21, 31]


class Recorded:
    """A client that does each task when its result is gathered, and remembers which were done."""

    def __init__(self, interrupted_at: int = -1) -> None:
        self.interrupted_at = interrupted_at
        self.done, self.held = [], []

    def submit(self, function, *given, pure, priority=0):
        future = Future()
        future.task = (function, given)
        self.held.append((priority, future))
        return future

    def gather(self, futures):
        for future in futures:
            if len(self.done) == self.interrupted_at:
                raise KeyboardInterrupt
            function, (held, *task) = future.task
            self.done.append(task)
            yield function(held.task[0](*held.task[1]), *task)

    def scheduler_info(self):
        return {}


def raised_to(base: float, exponent: int) -> float:
    """The power; the first one takes longest."""
    time.sleep(0.05 * (exponent == 0))
    return base**exponent


@pytest.fixture(params=["this process", "threads of joblib", "processes", "workers"])
def workers(request) -> Iterator[Workers]:
    if request.param == "workers":
        yield Workers.asked(client=request.getfixturevalue("client"))
        return
    with joblib.parallel_config(backend="threading" if request.param == "threads of joblib" else "loky"):
        yield Workers.asked(1 if request.param == "this process" else 2)


def test_results_in_order(workers):
    """Results have the order of the tasks even if the first one finishes last; errors are raised unchanged."""
    assert list(workers.map(raised_to, 2.0, ((i,) for i in range(9)))) == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert list(workers.map(raised_to, 2.0, [])) == []
    with pytest.raises(ZeroDivisionError):
        list(workers.map(raised_to, 0.0, [(2,), (1,), (-1,), (3,)]))


def test_arguments():
    """The default is one process, or joblib's context; wrong numbers, wrong clients, and both at once are errors."""
    assert Workers().is_this_process
    assert not Workers.asked(2).is_this_process
    assert not Workers.asked(client=Recorded()).is_this_process
    with joblib.parallel_config(n_jobs=2):
        assert not Workers().is_this_process
    for n_jobs, client in ((0, None), ("two", None), (10**9, None), (None, object()), (2, Recorded())):
        with pytest.raises(StatementError):
            Workers.asked(n_jobs, client)


def test_tasks_are_cancelled():
    """After an interrupt, or where no further results are needed, no reference to a future remains."""
    pytest.importorskip("dask", reason="Dask is not installed")
    for stopped in ("interrupted", "closed"):
        client = Recorded(interrupted_at=2 if stopped == "interrupted" else -1)
        results = Workers.asked(client=client).map(raised_to, 2.0, [(i,) for i in range(5)])
        assert [next(results), next(results)] == [1, 2]
        if stopped == "interrupted":
            with pytest.raises(KeyboardInterrupt) as error:
                next(results)
            held = [entry.frame.f_locals["waiting"] for entry in error.traceback if "waiting" in entry.frame.f_locals]
            assert held == [[]]
        else:
            results.close()
        assert client.done == [[0], [1]]
        tasks = [priority for priority, _ in client.held][1:]
        assert tasks == sorted(tasks, reverse=True)


def test_objects_that_are_sent(client, recwarn):
    """Large objects are sent without a warning; an object that cannot be pickled is an error at once."""
    counts = Workers.asked(client=client).map(bytes.count, bytes(20_000_000), [(b"\0",), (b"\1",)])
    assert list(counts) == [20_000_000, 0]
    assert not [warning for warning in recwarn if "large graph" in str(warning.message)]
    with pytest.raises(StatementError):
        next(Workers.asked(client=client).map(raised_to, threading.Lock(), [(1,)]))


def test_a_client_that_is_closed(client):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(client.scheduler.address, set_as_default=False) as another:
        pass
    with pytest.raises(SolverError):
        list(Workers.asked(client=another).map(raised_to, 2.0, [(1,)]))


def test_a_task_that_kills_workers():
    """Dask gives up a task on which several workers died, as of too little memory."""
    distributed = pytest.importorskip("distributed")

    class Client:
        submit = scheduler_info = staticmethod(lambda *_: None)

        def gather(self, futures):
            raise distributed.scheduler.KilledWorker("task", None, 3)

    with pytest.raises(SolverError):
        executor_for(Client()).gather([])
