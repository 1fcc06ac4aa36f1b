"""Several sensitive attributes: each combination of their values is one value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import P, StatementError, TableError, UnknownName
from support.helpers import refused

MEN = {"Gender": "male"}
QI, SA = ["Gender", "Degree"], ["Disease", "Salary"]


@pytest.fixture
def staff(hospital: pd.DataFrame) -> pd.DataFrame:
    """The ten patients, with their salaries."""
    return hospital.assign(Salary=["high", "low", "low", "low", "high", "low", "high", "low", "high", "low"])


@pytest.fixture
def published(staff: pd.DataFrame) -> mx.Release:
    return mx.Release.from_buckets(staff, qi=QI, sa=SA, bucket="Bucket")


def test_sums_over_the_other(published, staff):
    """P({attribute: value}) sums over what is not named."""
    post = mx.MaxEnt(published).solve()
    conditional = post.conditional()
    assert conditional.columns.names == SA
    by_disease = conditional.T.groupby(level="Disease").sum().T
    n = published.n_q[[i for i, q in enumerate(published.quasi_identifiers) if q[0] == "male"]]
    expected = n @ by_disease.loc["male", "Flu"] / n.sum()
    assert post.prob(P({"Disease": "Flu"}, given=MEN)) == pytest.approx(expected)
    both = [P({"Disease": "Flu", "Salary": salary}, given=MEN) for salary in ("high", "low")]
    assert post.prob(both[0] + both[1]) == pytest.approx(expected)
    assert post.prob(P({"Salary": "high"})) == pytest.approx((staff["Salary"] == "high").mean())


@given(seed=st.integers(0, 10_000))
def test_one_attribute_alone_is_its_own_release(seed: int):
    """Without knowledge of the other attribute, what is inferred of one is what its own release says."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    drawn = {"A": rng.integers(0, 3, n), "S": rng.integers(0, 3, n), "T": rng.integers(0, 2, n)}
    table = pd.DataFrame(drawn).assign(K=np.sort(rng.integers(0, 3, n)))
    two = mx.MaxEnt(mx.Release.from_buckets(table, qi="A", sa=["S", "T"], bucket="K"))
    one = mx.MaxEnt(mx.Release.from_buckets(table, qi="A", sa="S", bucket="K"))
    a, s = (int(table[column].iloc[0]) for column in "AS")
    truth = float((table["S"][table["A"] == a] == s).mean())
    two.add(P({"S": s}, given={"A": a}) == truth)
    one.add(P(s, given={"A": a}) == truth)
    of_two = two.solve().conditional().T.groupby(level="S").sum().T
    np.testing.assert_allclose(of_two, one.solve().conditional(), atol=1e-6)


def test_everything_else_works(published, staff, tmp_path):
    """Tables, files, measures, mining, plots, buckets: nothing minds that a value is a pair."""
    again = mx.Release.from_tables(*published.to_tables(), qi=QI, sa=SA, bucket="Bucket", count="Count")
    pd.testing.assert_series_equal(again.p_sb, published.p_sb)
    model = mx.MaxEnt(published).add(mx.StrongestAssociations(staff, positive=1, negative=1, min_support=2))
    assert all("Disease=" in name for rows in model.blocks[2:] for name in rows.index)
    post = model.solve()
    post.save(tmp_path / "post.parquet")
    pd.testing.assert_frame_equal(mx.load_posterior(tmp_path / "post.parquet").conditional(), post.conditional())
    assert mx.measures.overall_divergence(post, staff) >= 0
    assert mx.measures.disclosure(post)["value"].map(len).eq(2).all()
    assert list(mx.measures.exposed(post, 0.1, staff).who.columns) == [*SA, "P", "people"]
    assert len(mx.plots.posterior(post).get_xticklabels()) == len(published.sensitive_values)
    assert "Disease, Salary" in post._repr_html_()
    buckets = mx.anonymize.anatomy(staff, qi=QI, sa=SA, l=2)
    assert buckets.n_sb.max() == 1


def test_refusals(published, staff):
    """Which attribute is meant must be said; what does not exist is named."""
    model = mx.MaxEnt(published)
    with refused(StatementError):
        model.add(P("Flu") == 0.3)
    with refused(UnknownName):
        model.add(P({"Salry": "high"}) == 0.3)
    with refused(UnknownName):
        model.add(P({"Salary": "hgih"}) == 0.3)
    with refused(TableError):
        mx.Release.from_buckets(staff, qi=QI, sa=["Disease", "Disease"], bucket="Bucket")
