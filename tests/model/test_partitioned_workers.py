"""A model in partitions where Dask works on it: every answer is that of threads of one process, to the last digit.

Workers are lost, run out of memory, or write to disk; the cluster goes; what goes wrong is said in words.
"""

from __future__ import annotations

import gc
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
from benchmarks.larger_tables import larger_adult
from maxent_cvx import P, measures
from maxent_cvx.errors import SolverError
from maxent_cvx.views.partitioned.partitioned_release import PartitionedRelease, divided
from support.parts import published, random_records, some_people

distributed = pytest.importorskip("distributed")

STATEMENTS = (
    "P(HS-grad | sex=Male) = 0.32", "P(Bachelors | race=White) <= 0.2", "P(Masters | salary=>50K) ~ 0.1 +- 0.02",
)  # fmt: skip

RECORDS = random_records(np.random.default_rng(4))
PEOPLE = some_people(RECORDS)


@pytest.fixture(scope="module")
def release() -> PartitionedRelease:
    adult = mx.datasets.load_adult().head(6_000)
    return divided(mx.disguise.anatomy(adult, qi=mx.datasets.ADULT_QI, sa="education", l=5, exempt=2), 4)


@contextmanager
def two_workers() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def client() -> Iterator[object]:
    """A cluster that a test may break."""
    with two_workers() as found:
        yield found


@pytest.fixture(scope="module")
def workers() -> Iterator[object]:
    """A cluster that all other tests share."""
    with two_workers() as found:
        yield found


def same(one: mx.model.PartitionedPosterior, other: mx.model.PartitionedPosterior) -> bool:
    multipliers = zip(one.multipliers.items(), other.multipliers.items(), strict=True)
    return one.certificate == other.certificate and all(
        a == b and np.array_equal(left, right) for (a, left), (b, right) in multipliers
    )


def test_workers_give_the_answer_of_one_process(release: PartitionedRelease, workers: object):
    here = mx.MaxEnt(release).add(*STATEMENTS).solve(threads=1)
    there = mx.MaxEnt(release).add(*STATEMENTS).solve(client=workers)
    assert same(here, there)
    asked = {"sex": "Female", "salary": ">50K"}
    assert here.prob("HS-grad", given=asked) == there.prob("HS-grad", given=asked)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_is_killed_changes_nothing(release: PartitionedRelease, client: distributed.Client):
    """What it held is computed again by the others, from functions and their arguments alone."""
    killed = []

    def kill(iteration: mx.solvers.Iteration) -> None:
        if iteration.iteration == 2 and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    here = mx.MaxEnt(release).add(*STATEMENTS).solve(threads=1)
    there = mx.MaxEnt(release).add(*STATEMENTS).solve(client=client, callback=kill)
    assert killed
    assert same(here, there)


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_is_gone_is_an_error_in_words(release: PartitionedRelease, client: distributed.Client):
    """Nobody waits for ever, and nothing is half done: the model can be solved elsewhere afterwards."""
    model = mx.MaxEnt(release).add(*STATEMENTS)

    def close(iteration: mx.solvers.Iteration) -> None:
        if iteration.iteration == 1:
            client.cluster.close()

    with pytest.raises(SolverError, match="Dask cluster"):
        model.solve(client=client, callback=close)
    assert model.solve(threads=1).certificate.holds


def known(model: mx.PartitionedMaxEnt) -> mx.PartitionedMaxEnt:
    share = float((RECORDS[RECORDS.g == "m"].s == "flu").mean())
    return model.add(
        P("flu", given={"g": "m"}) == share,
        lambda space: space.conditional("s", given="d") <= 0.9,
        mx.StrongestAssociations(RECORDS, positive=2, negative=2),
        P("hiv", who="p0") <= 0.9,
    )


def test_answer_is_that_of_threads(workers: object, tmp_path: Path) -> None:
    """Knowledge is emitted, solved, asked, measured and written where the partitions are."""
    here = known(mx.PartitionedMaxEnt(divided(published(RECORDS), 3), PEOPLE)).solve(threads=2)
    there = known(mx.PartitionedMaxEnt(divided(published(RECORDS), 3), PEOPLE, workers)).solve()
    assert there.certificate.holds
    asked = RECORDS[["g", "d", "age"]].drop_duplicates()
    pd.testing.assert_frame_equal(there.conditional(asked), here.conditional(asked), atol=1e-9, rtol=0)
    pd.testing.assert_frame_equal(there.people(), here.people(), atol=1e-9, rtol=0)
    assert there.entropy == pytest.approx(here.entropy, abs=1e-9)
    assert there.prob("hiv", {"d": "a"}) == pytest.approx(here.prob("hiv", {"d": "a"}), abs=1e-9)
    assert measures.exposed(there, 0.5).people == measures.exposed(here, 0.5).people
    there.to_parquet(tmp_path / "there")
    assert pd.read_parquet(tmp_path / "there")["N P(i, q, s, b)"].sum() == pytest.approx(len(RECORDS))


def test_client_may_be_named_when_it_is_solved(workers: object) -> None:
    """What was checked by threads before is emitted by the workers."""
    model = known(mx.PartitionedMaxEnt(divided(published(RECORDS), 2), PEOPLE))
    one, other = model.solve(), model.solve(workers)
    assert other.entropy == pytest.approx(one.entropy, abs=1e-9)
    assert one.prob("flu") == pytest.approx(other.prob("flu"), abs=1e-9)


def test_errors_come_back(workers: object) -> None:
    """What cannot be divided is an error of this package on the workers, too."""
    model = mx.PartitionedMaxEnt(divided(published(RECORDS), 3), client=workers)
    model.add(lambda space: space.prob("flu") <= min(1.0, 0.1 + 0.01 * len(space)))
    with pytest.raises(mx.StatementError, match="cannot be divided"):
        model.solve()


def released(n_records: int, n_partitions: int) -> PartitionedRelease:
    people = larger_adult(n_records)
    return divided(mx.disguise.anatomy(people, qi=mx.datasets.ADULT_QI, sa="education", l=5, exempt=2), n_partitions)


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
    model = mx.MaxEnt(released(10_000, 6)).add(*STATEMENTS[:2])
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
    model = mx.MaxEnt(released(150_000, 1)).add(*STATEMENTS[:2])
    with (
        connected(1, "350MiB", pause=False) as client,
        pytest.raises(mx.SolverError, match="more memory than they have"),
    ):
        model.solve(client=client)


def stored_below(folder: Path) -> list[str]:
    """The files of results; Dask leaves its own locks."""
    return [name for _, _, files in os.walk(folder) for name in files if not name.endswith(".lock")]


def test_answers_from_files_are_those_from_memory(release, tmp_path: Path):
    import dask

    here = mx.MaxEnt(release).add(*STATEMENTS[:2]).solve(threads=1)
    stored = []
    with dask.config.set({"distributed.worker.memory.target": 1e-9}):  # of the memory, so that everything is stored
        there = mx.MaxEnt(release).add(*STATEMENTS[:2]).solve(
            scratch=tmp_path, threads=2, callback=lambda _: stored.append(len(stored_below(tmp_path)))
        )  # fmt: skip
    assert max(stored) > 2 * release.n_partitions
    assert there.certificate == here.certificate
    asked = {"sex": "Female", "salary": ">50K"}
    assert np.array_equal(there.conditional(asked), here.conditional(asked))
    assert mx.measures.exposed(there).people == mx.measures.exposed(here).people
    del there
    gc.collect()
    assert not stored_below(tmp_path)


def test_a_folder_that_is_not_there(release, tmp_path: Path):
    with pytest.raises(mx.TableError, match="cannot write to the folder"):
        mx.MaxEnt(release).solve(scratch=tmp_path / "none")


def test_workers_have_folders_of_their_own(release, tmp_path: Path):
    with pytest.raises(mx.StatementError, match="leave scratch or client out"):
        mx.MaxEnt(release).solve(scratch=tmp_path, client=object())
