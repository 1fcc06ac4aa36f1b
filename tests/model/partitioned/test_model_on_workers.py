"""A model in partitions on the workers of a Dask cluster: the answer of threads, whatever is known and asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import P, measures
from maxent_cvx.releases.partitioned import divided
from support.parts import published, random_records, some_people

RECORDS = random_records(np.random.default_rng(4))
PEOPLE = some_people(RECORDS)


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as found:
        yield found


def known(model: mx.PartitionedMaxEnt) -> mx.PartitionedMaxEnt:
    share = float((RECORDS[RECORDS.g == "m"].s == "flu").mean())
    return model.add(
        P("flu", given={"g": "m"}) == share,
        lambda space: space.conditional("s", given="d") <= 0.9,
        mx.StrongestAssociations(RECORDS, positive=2, negative=2),
        P("hiv", who="p0") <= 0.9,
    )


def test_answer_is_that_of_threads(client: object, tmp_path: Path) -> None:
    """Knowledge is emitted, solved, asked, measured and written where the partitions are."""
    here = known(mx.PartitionedMaxEnt(divided(published(RECORDS), 3), PEOPLE)).solve(threads=2)
    there = known(mx.PartitionedMaxEnt(divided(published(RECORDS), 3), PEOPLE, client)).solve()
    assert there.certificate.holds
    asked = RECORDS[["g", "d", "age"]].drop_duplicates()
    pd.testing.assert_frame_equal(there.conditional(asked), here.conditional(asked), atol=1e-9, rtol=0)
    pd.testing.assert_frame_equal(there.people(), here.people(), atol=1e-9, rtol=0)
    assert there.entropy == pytest.approx(here.entropy, abs=1e-9)
    assert there.prob("hiv", {"d": "a"}) == pytest.approx(here.prob("hiv", {"d": "a"}), abs=1e-9)
    assert measures.exposed(there, 0.5).people == measures.exposed(here, 0.5).people
    there.to_parquet(tmp_path / "there")
    assert pd.read_parquet(tmp_path / "there")["N P(i, q, s, b)"].sum() == pytest.approx(len(RECORDS))


def test_client_may_be_named_when_it_is_solved(client: object) -> None:
    """What was checked by threads before is emitted by the workers."""
    model = known(mx.PartitionedMaxEnt(divided(published(RECORDS), 2), PEOPLE))
    one, other = model.solve(), model.solve(client)
    assert other.entropy == pytest.approx(one.entropy, abs=1e-9)
    assert one.prob("flu") == pytest.approx(other.prob("flu"), abs=1e-9)


def test_errors_come_back(client: object) -> None:
    """What cannot be divided is an error of this package on the workers, too."""
    model = mx.PartitionedMaxEnt(divided(published(RECORDS), 3), client=client)
    model.add(lambda space: space.prob("flu") <= min(1.0, 0.1 + 0.01 * len(space)))
    with pytest.raises(mx.StatementError, match="cannot be divided"):
        model.solve()
