"""Where partitions are worked on changes nothing of what is computed, and nobody waits for ever."""

from __future__ import annotations

import logging
import os
import threading
from functools import partial
from operator import add, mul
from typing import Any

import pytest

from maxent_cvx import SolverError, StatementError
from maxent_cvx.system.executors import SETTINGS, Executor, current_client, local_client, then
from support.helpers import refused
from support.patience import PATIENT_DASK


@pytest.fixture(params=["one thread", "threads", "workers", "files"])
def executor(request, tmp_path):
    if request.param == "workers":
        return Executor(request.getfixturevalue("client"))
    if request.param == "files":
        return Executor.spilling(tmp_path, 2)
    return Executor(threads=1 if request.param == "one thread" else 3)


def test_map_and_reduce(executor):
    """Functions are applied to the results of one partition each, in order, and sums are those of all."""
    handles = executor.made([partial(mul, i, 1) for i in range(20)])
    shifted = executor.map(add, handles, common=(5,))
    assert executor.gather(executor.map(add, handles, shifted)) == [2 * i + 5 for i in range(20)]
    assert executor.reduce(sum, shifted) == sum(range(20)) + 100
    assert executor.reduce(sum, []) == 0


def test_delayed_makers(executor):
    """A maker may be a Delayed of Dask; what follows it is one again, and is done where it is."""
    import dask

    makers = [dask.delayed(mul)(i, 10) for i in range(4)]
    followed = [then(maker, add, 1) for maker in makers]
    assert all(dask.is_dask_collection(maker) for maker in followed)
    assert executor.gather(executor.made(followed)) == [1, 11, 21, 31]


def test_functions_that_follow(executor):
    """What follows a function is a function."""
    assert executor.gather(executor.made([then(partial(mul, i, 10), add, 1) for i in range(4)])) == [1, 11, 21, 31]


def test_errors_come_back(executor):
    """What goes wrong in a partition is raised here."""
    with pytest.raises(ZeroDivisionError):
        executor.gather(executor.made([partial(divmod, 1, 0)]))


def test_client(client):
    """The client of Dask's own functions is found; what is no client is refused."""
    assert current_client() is client
    with refused(StatementError, "a client of Dask is expected"):
        Executor("tcp://127.0.0.1:8786")


def test_results_are_no_tasks(executor):
    """Dask has tuples of a function and its arguments for tasks, and names for results: here they are values."""
    values = [(sum, [1, 2]), [(len, "ab")], {"a": (int, 1)}, 0, "0"]
    handles = executor.made([partial(list, [value]) for value in values])
    assert executor.gather(executor.map(add, handles, handles)) == [[value, value] for value in values]


@pytest.mark.parametrize("what", ["gone", "full"])
def test_workers_that_take_no_task(what):
    """With a limit of time of its own, Dask fails what nobody works on, and that is said."""
    distributed = pytest.importorskip("distributed")
    import dask

    kind: dict[str, Any] = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    settings = {**PATIENT_DASK, "distributed.scheduler.no-workers-timeout": "0.5s"}
    if what == "full":  # paused at once, with nothing that could be written to disk
        settings |= {"distributed.worker.memory.pause": 0.01, "distributed.worker.memory.spill": False}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(n_workers=1, silence_logs=logging.CRITICAL, memory_limit="1GiB", **kind) as cluster,
        distributed.Client(cluster) as client,
    ):
        if what == "gone":
            assert Executor(client).reduce(sum, Executor(client).made([int])) == 0
            cluster.scale(0)
            cluster.sync(cluster._correct_state)
        else:
            (worker,) = cluster.workers.values()
            while worker.status.name != "paused":
                threading.Event().wait(0.01)
        with refused(SolverError, "no worker of the Dask cluster"):
            Executor(client).reduce(sum, Executor(client).made([int, int]))


def test_workers_of_this_machine(monkeypatch):
    """They are set not to wait for ever, and to keep memory; the settings of the user stay as they were."""
    pytest.importorskip("distributed")
    import dask

    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)  # Dask left it, if it started workers before
    before = {name: dask.config.get(name, None) for name in SETTINGS}
    with local_client(1) as client:
        (environment,) = client.run(os.environ.copy).values()
        (pauses,) = client.run(dask.config.get, "distributed.worker.memory.pause").values()
        timeout = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.no_workers_timeout)
    assert environment["MALLOC_TRIM_THRESHOLD_"] == str(2**28)
    assert (pauses, timeout) == (False, 60)
    assert {name: dask.config.get(name, None) for name in SETTINGS} == before
