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

QI, SA = ["Gender", "Degree"], ["Disease", "Salary"]


@pytest.fixture
def staff(hospital: pd.DataFrame) -> pd.DataFrame:
    """The ten patients, with their salaries."""
    return hospital.assign(Salary=["high", "low", "low", "low", "high", "low", "high", "low", "high", "low"])


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
    post = two.add(P({"S": s}, given={"A": a}) == truth).solve()
    one.add(P(s, given={"A": a}) == truth)
    np.testing.assert_allclose(post.conditional().T.groupby(level="S").sum().T, one.solve().conditional(), atol=1e-6)
    both = sum(P({"S": s, "T": t}, given={"A": a}) for t in set(table["T"][table["S"] == s].tolist()))
    assert post.prob(both) == pytest.approx(truth, abs=1e-7)


def test_everything_else_works(staff, tmp_path):
    """Tables, files, measures, mining, plots, buckets: nothing minds that a value is a pair."""
    published = mx.Release.from_buckets(staff, qi=QI, sa=SA, bucket="Bucket")
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
    assert mx.anonymize.anatomy(staff, qi=QI, sa=SA, l=2).n_sb.max() == 1


def test_refusals(staff):
    """Which attribute is meant must be said; what does not exist is refused."""
    model = mx.MaxEnt(mx.Release.from_buckets(staff, qi=QI, sa=SA, bucket="Bucket"))
    for event, error in (
        (P("Flu"), StatementError),
        (P({"Salry": "high"}), UnknownName),
        (P({"Salary": "hgih"}), UnknownName),
    ):
        with refused(error):
            model.add(event == 0.3)
    with refused(TableError):
        mx.Release.from_buckets(staff, qi=QI, sa=["Disease", "Disease"], bucket="Bucket")
