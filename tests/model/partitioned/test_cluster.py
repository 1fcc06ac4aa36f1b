"""Workers of Dask give the answer of one process, to the last digit; a lost one changes nothing."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import maxent_cvx as mx
from maxent_cvx._utils.errors import SolverError
from maxent_cvx.releases.partitioned import PartitionedRelease, divided

distributed = pytest.importorskip("distributed")

STATEMENTS = (
    "P(HS-grad | sex=Male) = 0.32", "P(Bachelors | race=White) <= 0.2", "P(Masters | salary=>50K) ~ 0.1 +- 0.02",
)  # fmt: skip


@pytest.fixture(scope="module")
def release() -> PartitionedRelease:
    adult = mx.datasets.load_adult().head(6_000)
    return divided(mx.anonymize.anatomy(adult, qi=mx.datasets.ADULT_QI, sa="education", l=5, exempt=2), 4)


@pytest.fixture
def client() -> Iterator[object]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def same(one: mx.model.PartitionedPosterior, other: mx.model.PartitionedPosterior) -> bool:
    multipliers = zip(one.multipliers.items(), other.multipliers.items(), strict=True)
    return one.certificate == other.certificate and all(
        a == b and np.array_equal(left, right) for (a, left), (b, right) in multipliers
    )


def test_workers_give_the_answer_of_one_process(release: PartitionedRelease, client: object):
    here = mx.MaxEnt(release).add(*STATEMENTS).solve(threads=1)
    there = mx.MaxEnt(release).add(*STATEMENTS).solve(client=client)
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
