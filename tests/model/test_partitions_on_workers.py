"""Workers of Dask give the answer of one process, to the last digit, and errors of this package."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from benchmarks.models import larger_adult
from maxent_cvx import P, measures
from maxent_cvx.releases.partitioned import PartitionedRelease, divided
from support.parts import published, random_records, some_people

distributed = pytest.importorskip("distributed")

RECORDS = random_records(np.random.default_rng(4))
PEOPLE = some_people(RECORDS)
STATEMENTS = (
    "P(HS-grad | sex=Male) = 0.32", "P(Bachelors | race=White) <= 0.2", "P(Masters | salary=>50K) ~ 0.1 +- 0.02",
)  # fmt: skip


@contextmanager
def connected(n_workers: int, memory_limit: str, **memory: Any) -> Iterator[Any]:
    """A client of processes, and shares of their memory at which Dask does something."""
    import dask

    settings = {f"distributed.worker.memory.{name}": share for name, share in memory.items()}
    kind = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with (
        dask.config.set({**settings, "distributed.scheduler.allowed-failures": 0 if memory else 3}),
        distributed.LocalCluster(n_workers=n_workers, memory_limit=memory_limit, **kind) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with connected(2, "2GiB") as client:
        yield client


def adult(n_records: int, n_partitions: int) -> PartitionedRelease:
    people = larger_adult(n_records)
    return divided(mx.anonymize.anatomy(people, qi=mx.datasets.ADULT_QI, sa="education", l=5, exempt=2), n_partitions)


def same(one: mx.model.PartitionedPosterior, other: mx.model.PartitionedPosterior) -> bool:
    return one.certificate == other.certificate and all(
        np.array_equal(multipliers, other.multipliers[label]) for label, multipliers in one.multipliers.items()
    )


def test_answer_is_that_of_threads(client: object, tmp_path: Path) -> None:
    """Knowledge of every kind, queries, measures and files."""
    models = (
        mx.PartitionedMaxEnt(divided(published(RECORDS), 3), PEOPLE, *where).add(
            P("flu", given={"g": "m"}) == float((RECORDS[RECORDS.g == "m"].s == "flu").mean()),
            lambda space: space.conditional("s", given="d") <= 0.9,
            mx.StrongestAssociations(RECORDS, positive=2, negative=2),
            P("hiv", who="p0") <= 0.9,
        )
        for where in ((), (client,))
    )
    here, there = (one.solve() for one in models)
    assert there.certificate.holds
    assert same(here, there)
    asked = RECORDS[["g", "d", "age"]].drop_duplicates()
    pd.testing.assert_frame_equal(there.conditional(asked), here.conditional(asked))
    assert there.entropy == pytest.approx(here.entropy, abs=1e-12)
    assert measures.exposed(there, 0.5).people == measures.exposed(here, 0.5).people
    there.to_parquet(tmp_path / "there")
    assert pd.read_parquet(tmp_path / "there")["N P(i, q, s, b)"].sum() == pytest.approx(len(RECORDS))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_task_larger_than_a_worker() -> None:
    """Dask ends the process whenever it has too much, and gives up."""
    model = mx.MaxEnt(adult(150_000, 1)).add(*STATEMENTS)
    with connected(1, "350MiB", pause=False) as client, pytest.raises(mx.SolverError):
        model.solve(client=client)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.filterwarnings("ignore")
def test_lost_workers(client: Any) -> None:
    """The results of one that is killed are computed again by others; without a cluster there is an error.

    It closes the cluster of this module, and so is the last test of it.
    """
    model, killed = mx.MaxEnt(adult(6_000, 4)).add(*STATEMENTS), []
    here = model.solve(threads=1)

    def kill(iteration: mx.solvers.Iteration) -> None:
        if iteration.iteration == 2 and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    assert same(here, model.solve(client=client, callback=kill))
    assert killed

    def close(iteration: mx.solvers.Iteration) -> None:
        if iteration.iteration == 1:
            client.cluster.close()

    with pytest.raises(mx.SolverError):
        model.solve(client=client, callback=close)
    assert model.solve(threads=1).certificate.holds
