"""Workers that are short of memory write to disk, or it is said what is missing; an answer is never another one."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import maxent_cvx as mx
from benchmarks.models import larger_adult
from maxent_cvx.releases.partitioned import PartitionedRelease, divided

distributed = pytest.importorskip("distributed")

STATEMENTS = "P(HS-grad | sex=Male) = 0.32", "P(Bachelors | race=White) <= 0.2"


def released(n_records: int, n_partitions: int) -> PartitionedRelease:
    people = larger_adult(n_records)
    return divided(mx.anonymize.anatomy(people, qi=mx.datasets.ADULT_QI, sa="education", l=5, exempt=2), n_partitions)


@contextmanager
def connected(n_workers: int, memory_limit: str, **settings: Any) -> Iterator[Any]:
    """A client of processes with little memory, and fractions of it at which Dask does something."""
    import dask

    every = {f"distributed.worker.memory.{name}": fraction for name, fraction in settings.items()}
    kind = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with (
        dask.config.set({**every, "distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=n_workers, memory_limit=memory_limit, **kind) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def written(dask_worker: Any) -> float:
    """How many bytes a worker has written to disk."""
    return float(dask_worker.data.cumulative_metrics.get(("disk-write", "bytes"), 0.0))


@pytest.mark.filterwarnings("ignore")
def test_workers_with_little_memory_write_to_disk() -> None:
    """Each may hold a few MiB of results, and all of them need some hundred; none takes more than its process has."""
    model = mx.MaxEnt(released(10_000, 6)).add(*STATEMENTS)
    here = model.solve(threads=1)
    # What a process takes by itself, and Dask cannot write, is as it may be.
    with connected(1, "600MiB", target=0.005, spill=False, pause=False) as client:
        there = model.solve(client=client)
        assert sum(client.run(written).values()) > 2**23
    assert there.certificate == here.certificate
    for label, multipliers in here.multipliers.items():
        assert np.array_equal(multipliers, there.multipliers[label])


@pytest.mark.filterwarnings("ignore")
def test_a_task_larger_than_a_worker_is_an_error_in_words() -> None:
    """Dask ends the process whenever that has too much, and gives up."""
    model = mx.MaxEnt(released(150_000, 1)).add(*STATEMENTS)
    with (
        connected(1, "350MiB", pause=False) as client,
        pytest.raises(mx.SolverError, match="more memory than they have"),
    ):
        model.solve(client=client)
