"""Nobody waits for ever for a cluster whose workers take no task any more."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

from maxent_cvx import SolverError
from maxent_cvx._utils import parallel as waiting
from maxent_cvx._utils.parallel import executor_for
from support.helpers import refused
from support.patience import PATIENT_DASK

distributed = pytest.importorskip("distributed", reason="distributed is not installed")


@contextmanager
def cluster(n_workers: int = 1, settings: Mapping[str, Any] = MappingProxyType({})) -> Iterator[Any]:
    """A cluster in threads of this process."""
    import dask

    kind = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0", "memory_limit": "1GiB"}
    with (
        dask.config.set({**PATIENT_DASK, **settings}),
        distributed.LocalCluster(n_workers=n_workers, silence_logs=logging.CRITICAL, **kind) as found,
    ):
        yield found


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 0.5)


def test_workers_whose_memory_is_full():
    """They are paused for as long as nothing can be written to disk, which here is for ever."""
    memory = {"distributed.worker.memory.pause": 0.01, "distributed.worker.memory.spill": False}
    with cluster(settings=memory) as found, distributed.Client(found) as client:
        (worker,) = found.workers.values()
        while worker.status.name != "paused":
            threading.Event().wait(0.01)
        executor = executor_for(client)
        with refused(SolverError):
            executor.reduce(sum, executor.made([int, int]))


def test_workers_that_are_gone():
    """The cluster is there, and nobody in it works."""
    with cluster() as found, distributed.Client(found) as client:
        executor = executor_for(client)
        assert executor.reduce(sum, executor.made([int])) == 0
        found.scale(0)
        found.sync(found._correct_state)
        with refused(SolverError):
            executor.reduce(sum, executor.made([int]))


def test_workers_that_are_yet_to_come():
    """A cluster whose workers have to be queued for is waited for."""
    with cluster(0) as found, distributed.Client(found) as client:
        executor = executor_for(client)
        later = threading.Timer(2.0, found.scale, [1])
        later.start()
        assert executor.reduce(sum, executor.made([int])) == 0
        later.join()


def test_workers_that_start():
    """Between its coming and its first task a worker is no paused one, however long a busy machine leaves it there."""
    statuses = "init", "running", "paused"
    workers = {name: SimpleNamespace(status=distributed.Status[name], executing={}) for name in statuses}
    scheduler = SimpleNamespace(workers=workers, total_nthreads_history=[(0, 0), (1, 1)], transition_counter=5)
    assert waiting.tasks_and_workers(scheduler) == (5, 2, 3)
