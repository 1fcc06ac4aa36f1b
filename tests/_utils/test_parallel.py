"""Tasks are worked on by this process, by others, or by a cluster: the results are the same, in the same order."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future

import joblib
import pytest

from maxent_cvx import SolverError, StatementError
from maxent_cvx._utils.parallel import Workers
from support.helpers import refused


class Recorded:
    """A client that does each task when its result is asked for, and remembers which were done."""

    def __init__(self, interrupted_at: int = -1) -> None:
        self.interrupted_at = interrupted_at
        self.done, self.held = [], []

    def submit(self, function, *given, pure, priority=0):
        future = Future()
        future.set_result(None)  # nobody waits for it
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
    """Results are in the order of the tasks, also where the first is done last; of no task there is none."""
    assert list(workers.map(raised_to, 2.0, ((i,) for i in range(9)))) == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert list(workers.map(raised_to, 2.0, [])) == []


def test_an_error_of_a_task(workers):
    """It is raised as it is; joblib raises it as soon as it knows, maybe before what went before it is given."""
    given = []
    results = workers.map(raised_to, 0.0, [(2,), (1,), (-1,), (3,)])
    with pytest.raises(ZeroDivisionError):
        given.extend(one for one in results)
    assert given in ([0.0, 0.0], [0.0], [])
    if workers.is_this_process or workers.cluster:
        assert given == [0.0, 0.0]


def test_who_works():
    """One process unless another number is asked for, or joblib's context says so."""
    assert Workers().is_this_process
    assert Workers.asked(1).is_this_process
    assert not Workers.asked(2).is_this_process
    assert not Workers.asked(client=Recorded()).is_this_process
    with joblib.parallel_config(n_jobs=2):
        assert not Workers().is_this_process


def test_who_cannot_work():
    """Numbers that are none, what is no client, and both at once."""
    for wrong in (0, "two", 1.5, 10**9):
        with refused(StatementError, "n_jobs="):
            Workers.asked(wrong)
    for wrong in ("tcp://127.0.0.1:8786", 2, object()):
        with refused(StatementError, "client="):
            Workers.asked(client=wrong)
    with refused(StatementError, "n_jobs=2"):
        Workers.asked(2, Recorded())


def test_what_nobody_asks_for_is_given_up():
    """Dask works on what somebody holds on to: after an interrupt nobody does, whoever keeps the error."""
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
        first, *tasks = [priority for priority, _ in client.held]
        assert first >= tasks[0]
        assert tasks == sorted(tasks, reverse=True)


def test_large_objects_travel_without_advice(client, recwarn):
    """Of 20 million bytes Dask would say that they should be loaded by the workers."""
    found = Workers.asked(client=client).map(bytes.count, bytes(20_000_000), [(b"\0",), (b"\1",)])
    assert list(found) == [20_000_000, 0]
    assert not [warning for warning in recwarn if "large graph" in str(warning.message)]


def test_what_cannot_be_sent(client):
    """A lock is one of this process, and that is said at once."""
    with refused(StatementError):
        next(Workers.asked(client=client).map(raised_to, threading.Lock(), [(1,)]))


def test_a_client_that_is_closed(client):
    """Nobody answers, and that is said."""
    distributed = pytest.importorskip("distributed")
    with distributed.Client(client.scheduler.address, set_as_default=False) as another:
        pass
    with refused(SolverError):
        list(Workers.asked(client=another).map(raised_to, 2.0, [(1,)]))
