"""Releases: counts per bucket, and nothing that links a person to a value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P, Release, StatementError, TableError, UnknownName
from support.helpers import refused
from support.strategies import microdata, possible, publish, quasi, tally, tuples

ROLES = {"qi": ["Gender", "Degree"], "sa": "Disease", "bucket": "Bucket"}


def same(first: Release, second: Release) -> bool:
    """Whether two releases publish the same."""
    return (
        (first.qi, first.sa, first.bucket) == (second.qi, second.sa, second.bucket)
        and first.quasi_identifiers.identical(second.quasi_identifiers)
        and first.sensitive_values.identical(second.sensitive_values)
        and first.buckets.identical(second.buckets)
        and np.array_equal(first.n_qb.toarray(), second.n_qb.toarray())
        and np.array_equal(first.n_sb.toarray(), second.n_sb.toarray())
    )


def test_fig_1(release):
    """Ten people, six QI tuples, five diseases, three buckets; P(q1, 1) = 2/10 and P(s4, 2) = 1/10 (section 5.2)."""
    assert release.n_records == 10
    assert (len(release.quasi_identifiers), len(release.sensitive_values), len(release.buckets)) == (6, 5, 3)
    assert release.p_qb["male", "college", 1] == pytest.approx(2 / 10)
    assert release.p_sb["HIV", 2] == pytest.approx(1 / 10)
    assert release.p_sb["Flu", 1] == pytest.approx(2 / 10)


@given(microdata())
def test_counts(frame):
    """P(q, b) and P(s, b) are the shares of records, for every pair that occurs (Eqs. (4) and (5))."""
    release = publish(frame)
    for series, columns in ((release.p_qb, [*quasi(frame), "K"]), (release.p_sb, ["S", "K"])):
        expected = {key: count / len(frame) for key, count in tally(frame, columns).items()}
        assert series.index.names == columns
        assert dict(zip(tuples(series.index), series, strict=True)) == pytest.approx(expected)
    people = tally(frame, quasi(frame))
    assert [people[q] for q in tuples(release.quasi_identifiers)] == release.n_q.tolist()


@given(microdata())
def test_terms_are_the_pairs_of_each_bucket(frame):
    """There is one term for every QI tuple and every sensitive value of a bucket, and no other (Eq. (6))."""
    release = publish(frame)
    terms = release.terms()
    results = [
        (*release.quasi_identifiers[q], release.sensitive_values[s], release.buckets[b])
        for q, s, b in zip(terms["q"], terms["s"], terms["bucket"], strict=True)
    ]
    assert len(results) == len(set(results))
    assert set(results) == possible(frame)


@given(microdata())
def test_round_trip(frame):
    """The two tables that Anatomy publishes hold the whole release: reading them gives it back."""
    release = publish(frame)
    qi_table, sa_table = release.to_tables()
    again = Release.from_tables(qi_table, sa_table, qi=quasi(frame), sa="S", bucket="K", count="Count")
    assert same(again, release)


def test_a_column_called_count():
    """The table of values has another name for its counts if the release has a column "Count"."""
    people = pd.DataFrame({"Count": [1, 2, 1], "S": ["a", "b", "a"], "B": [1, 1, 1], "id": [7, 8, 9]})
    release = Release.from_buckets(people, qi="Count", sa="S", bucket="B", id="id")
    tables = release.to_tables_of_people()
    assert same(Release.from_tables(*tables, qi="Count", sa="S", bucket="B", count="count", id="id"), release)


def test_tables_that_do_not_go_together(release):
    """Other totals of a bucket, a bucket in one table only, bad counts, and one column in both tables are refused."""
    for table in (0, 1):
        tables = list(release.to_tables())
        right, more = tables[table], tables[table].copy()
        more.loc[more["Bucket"] == 2, "Count"] += 1
        bad = [right.assign(Count=[count, *[1] * 8]) for count in (-1, 0.5, np.inf, "few")]
        for tables[table] in (more, right[right["Bucket"] != 3], *bad):
            with refused(TableError):
                Release.from_tables(*tables, count="Count", **ROLES)
    qi_table, sa_table = release.to_tables()
    with refused(TableError):
        Release.from_tables(
            qi_table.rename(columns={"Gender": "Disease"}), sa_table, count="Count", **{**ROLES, "qi": "Disease"}
        )


@pytest.mark.parametrize("n", [2**20, 2**33, 2**40])
def test_a_bucket_of_billions(n):
    """P(s | q) = n(s, b) / n(b), also where the product of two counts has more than 64 bits."""
    frame = pd.DataFrame({"Q": ["a", "a", "b"], "S": ["x", "y", "x"], "K": 1, "n": [n, 1, n]})
    post = MaxEnt(Release.from_buckets(frame, qi="Q", sa="S", bucket="K", count="n")).solve()
    assert post.conditional()["y"].to_list() == pytest.approx([1 / (2 * n + 1)] * 2, rel=1e-9)


# Several sensitive attributes: each combination of their values is one value.

QI, SA = ["Gender", "Degree"], ["Disease", "Salary"]


@pytest.fixture
def staff(hospital: pd.DataFrame) -> pd.DataFrame:
    """The ten patients, with their salaries."""
    return hospital.assign(Salary=["high", "low", "low", "low", "high", "low", "high", "low", "high", "low"])


def test_everything_else_works(staff, tmp_path):
    """Tables, files, measures, mining, plots and buckets accept values that are pairs."""
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


def test_ambiguous_and_unknown_attributes(staff):
    """A value without its attribute is ambiguous; unknown and repeated attributes are refused."""
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
