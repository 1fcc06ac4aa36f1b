"""Generalised releases, with the population they are from and without (Re-publishing, section 2; Mondrian)."""

from __future__ import annotations

import itertools
from io import StringIO

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P, Release, ReleaseSeries, StatementError, TableError, UnknownName
from maxent_cvx.anonymize.mondrian import mondrian, mondrian_table
from maxent_cvx.releases.generalized import OUTSIDE
from support.helpers import refused

seeds = st.integers(0, 10**6)
QI = ["Age", "Sex"]
#: Five records in two groups.
RECORDS = pd.DataFrame(
    {
        "Age": ["[20, 29]"] * 3 + [pd.Interval(30, 40, closed="left")] * 2,
        "Sex": ["*"] * 3 + [{"f", "m"}] * 2,
        "Disease": ["Flu", "Flu", "HIV", "Flu", "Gout"],
    }
)
VOTERS = pd.DataFrame({"Age": [20, 25, 29, 30, 35], "Sex": list("fmmff")})
#: A hierarchy with rows for them, but for nobody of another age.
AGES = pd.DataFrame({0: VOTERS["Age"], 1: ["[20, 29]"] * 3 + ["old"] * 2})


def read(records: pd.DataFrame = RECORDS, population: pd.DataFrame | None = VOTERS, **options):
    return Release.from_generalized(records, qi=QI, sa="Disease", population=population, **options)


@given(seed=seeds)
def test_against_cvxpy(seed: int):
    """The answer is that of a problem written down group by group."""
    rng = np.random.default_rng(seed)
    voters = pd.DataFrame({"Age": rng.integers(20, 26, 8), "Sex": rng.choice(["f", "m"], 8)})
    inside = voters.sample(5, random_state=seed)
    low, high = inside["Age"] - rng.integers(0, 3, 5), inside["Age"] + rng.integers(0, 3, 5)
    ages = [f"[{a}, {b}]" for a, b in zip(low, high, strict=True)]
    records = pd.DataFrame({"Age": ages, "Sex": np.where(rng.random(5) < 0.5, "*", inside["Sex"])})
    records["Disease"] = rng.choice(["x", "y"], 5)
    p = MaxEnt(read(records, voters)).solve().conditional()
    tuples, rows = voters.value_counts().sort_index(), []
    people = {(q, value): [] for q in tuples.index for value in (OUTSIDE, "x", "y")}
    for (age, sex), values in records.groupby(["Age", "Sex"])["Disease"].agg(list).items():
        a, b = (int(x) for x in age.strip("[]").split(","))
        covered = [q for q in tuples.index if a <= q[0] <= b and sex in ("*", q[1])]
        for value in sorted(set(values)):
            x = cp.Variable(len(covered), nonneg=True)
            rows.append(cp.sum(x) == values.count(value))
            for i, q in enumerate(covered):
                people[q, value].append(x[i])
    for q, n in tuples.items():
        people[q, OUTSIDE].append(cp.Variable(nonneg=True))
        rows.append(sum(x for (of, _), some in people.items() if of == q for x in some) == int(n))
    every = cp.hstack([x for some in people.values() for x in some])
    cp.Problem(cp.Maximize(cp.sum(cp.entr(every))), rows).solve(solver="CLARABEL")
    for (q, value), some in people.items():
        if value in p:
            assert p.loc[q, value] * tuples[q] == pytest.approx(float(sum(x.value for x in some)), abs=5e-3)


def test_mixed_series(tmp_path):
    """A bucketized release and a generalised one of the same people, in one model (Re-publishing, section 2)."""
    tables = mx.datasets.load_patients()
    groups = tables[1].groupby("Bucket")["Zip"].transform(lambda z: f"[{z.min()}, {z.max()}]")
    roles = {"qi": ["Gender", "Zip"], "sa": "Disease", "id": "Pseudonym"}
    second = Release.from_generalized(tables[1].assign(Gender="*", Zip=groups), **roles)
    first, plain = (Release.from_buckets(table, **roles, bucket="Bucket") for table in tables)
    mixed, both = ReleaseSeries([first, second]), ReleaseSeries([first, plain])
    assert mixed.qi == ("Pseudonym",)  # of 14 and 15 only generalised QI are known
    assert both.qi == ("Pseudonym", "Gender", "Zip")
    post = MaxEnt(mixed).solve()
    pd.testing.assert_frame_equal(post.people(), MaxEnt(both).solve().people(), atol=1e-6)
    post.save(tmp_path / "mixed.parquet")
    pd.testing.assert_frame_equal(mx.load_posterior(tmp_path / "mixed.parquet").people(), post.people())


def test_sets_beside_a_hierarchy():
    """Without a population, a hierarchy defines the values; cells may be sets of them, and lists are refused."""
    release = read(population=None, hierarchies={"Sex": {"person": ["f", "m"]}})
    assert release.quasi_identifiers.get_level_values("Sex").tolist() == ["*", "{f, m}"]
    for wrong in ({"f", "x"}, ["f", "m"]):
        with refused(TableError):
            read(RECORDS.assign(Sex=[wrong] * 5), None, hierarchies={"Sex": {"person": ["f", "m"]}})


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"records": RECORDS.assign(Sex="x")}, TableError),
        ({"records": RECORDS.assign(Age="[50, 60]")}, TableError),
        ({"population": VOTERS.head(4)}, TableError),
        ({"population": VOTERS.assign(Age=[20, 25, 29, 20, 35], Sex=list("fmmfm"))}, TableError),
        ({"records": RECORDS.assign(Age=20, Sex="m")}, TableError),
        ({"hierarchies": {"Sex": ["f", "m"]}}, StatementError),
        ({"hierarchies": {"Sex": {"person": [["f", "m"]]}}}, TableError),
        ({"hierarchies": {"Sex": {0: ["f", "m"], 1: [["f"], ["m"]]}}}, TableError),
        ({"hierarchies": {"Sex": {"a": ["b"], "b": ["a"]}}}, StatementError),
        ({"id": "Disease"}, StatementError),
        ({"count": "people"}, UnknownName),
        ({"records": RECORDS.assign(Age="[40, 30]")}, TableError),
        ({"records": RECORDS.assign(Disease=OUTSIDE)}, TableError),
        ({"hierarchies": {"Agee": {}}}, UnknownName),
        ({"population": pd.concat([VOTERS, VOTERS.head(1).assign(Age=24)]), "hierarchies": {"Age": AGES}}, TableError),
        ({"population": None, "hierarchies": {"Age": {}}}, StatementError),
    ],
)
def test_what_is_refused(change, error):
    """Values of nobody, groups with more records than people, and wrong or incomplete hierarchies are refused."""
    with refused(error):
        read(**({"records": RECORDS} | change))


@given(seed=seeds, k=st.integers(1, 6), l=st.sampled_from([None, 1, 2]))
def test_groups_of_mondrian_are_large_and_true(seed: int, k: int, l: int | None):
    """Every group has k people and l values, and every generalised value, in a file too, covers the record's own."""
    rng, qi = np.random.default_rng(seed), ["Age", "Sex", "Job"]
    frame = pd.DataFrame(
        {"Age": rng.integers(0, 90, 30), "Sex": rng.choice(["f", "m"], 30), "Job": rng.choice(list("abcde"), 30)}
    ).assign(Disease=rng.choice(["x", "y", "z"], 30))
    table = mondrian_table(frame, qi=qi, sa="Disease", k=k, l=l)
    sizes = table.astype(str).groupby(qi)["Disease"].agg(["size", "nunique"])
    assert (sizes["size"] >= k).all()
    assert l is None or (sizes["nunique"] >= l).all()
    for column, row in itertools.product(qi, range(30)):
        cell, own = table[column].iloc[row], frame[column].iloc[row]
        assert cell == "*" or (own in cell if isinstance(cell, pd.Interval | frozenset) else own == cell)
    assert len(mondrian(frame, qi=qi, sa="Disease", k=k, l=l).buckets) == len(sizes)
    for published in (table, pd.read_csv(StringIO(table.to_csv(index=False)))):
        assert Release.from_generalized(published, qi=qi, sa="Disease", population=frame).n_records == 30


@pytest.mark.parametrize("exact", [35, 35.5, pd.Timestamp("1990-01-31"), True], ids=str)
def test_exact_values_among_cells_are_named_as_given(exact):
    """Statements and people name an exact value among cells by itself; the statement is refused if another cell may be it."""
    other, unclear = (
        pd.DataFrame({"Age": [exact] * 3 + [cell] * 3, "Sex": "m", "Disease": ["Flu", "HIV", "Cold"] * 2})
        for cell in ("{1, 2}", "*")
    )
    model = MaxEnt(read(other, None), people={"Ann": {"Age": exact, "Sex": "m"}})
    statement = P("HIV", given={"Age": exact}) <= 0.4
    assert model.add(statement).solve().prob("HIV", who="Ann") == pytest.approx(1 / 3)
    with refused(StatementError):
        MaxEnt(read(unclear, None)).add(statement).solve()


@pytest.mark.parametrize("ages", [[21, 24, 45], [21, 24, 28, 45]], ids=["everybody", "more people"])
def test_dates_of_a_population_are_named_as_texts(ages):
    """A sensitive date has its text also beside people who are not in the release, who have no date."""
    cells = pd.DataFrame(
        {"A": ["20-29", "20-29", "*"], "D": pd.to_datetime(["2020-01-01", "2021-05-01", "2020-01-01"])}
    )
    model = MaxEnt(Release.from_generalized(cells, qi="A", sa="D", population=pd.DataFrame({"A": ages})))
    about = P(cells["D"][0], given={"A": 21})
    assert model.add(str(about <= 0.2)).solve().prob(about) == pytest.approx(0.2)


def test_a_condition_that_cells_leave_open():
    """How many of the people published as m, f and * are m is not known; those of a generalised cell are known."""
    records = pd.DataFrame(
        {
            "Age": ["20-29"] * 3 + ["30-39"] * 3 + ["*"] * 2,
            "Sex": ["m"] * 3 + ["*"] * 3 + ["f"] * 2,
            "Disease": ["Flu", "HIV", "Cold", "Flu", "HIV", "HIV", "Cold", "Flu"],
        }
    )
    release = read(records, None)
    for text in ("P(HIV | Sex=m) = 0.25", "E(Age: Sex=f) = 30"):
        with refused(StatementError):
            MaxEnt(release).add(text).solve()
    assert MaxEnt(release).solve().prob("HIV", given={"Sex": "m"}) == pytest.approx(1 / 3)  # of the cell
    assert MaxEnt(release).add("P(HIV | Age=20-29) = 1/3").solve().certificate.holds
    model = MaxEnt(release).add("P(HIV | Age=20-29, Sex=m) = 1/3")  # Sex=f with any age is nobody else's
    assert model.add("P(HIV | Sex=*) = 2/3").solve().prob("Flu", given={"Age": "20-29", "Sex": "m"}) == pytest.approx(
        1 / 3
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.assign(Age_min=[20, 20, None], Age_max=[25, 25, None]),
        lambda t: t.assign(Age_min=["20", "20", "*"], Age_max=["25", "25", "*"]),
        lambda t: t.assign(Age_min=[20, 20, None], Age_max=[25, 25, None]).astype("category"),
        lambda t: t.assign(Age_min=[20, 20, None], Age_max=[25, 25, None]).astype(
            {"Age_min": "Int64", "Age_max": "Int64"}
        ),
    ],
)
def test_missing_ends_of_intervals_are_suppressed(change):
    """A suppressed record in two columns covers everybody, whatever the type of the columns."""
    table = change(pd.DataFrame({"Age_min": [20, 20, 30], "Age_max": [25, 25, 40], "S": ["x", "y", "x"]}))
    ages = pd.DataFrame({"Age": [20, 22, 31]})
    single = pd.DataFrame({"Age": ["20-25", "20-25", "*"], "S": ["x", "y", "x"]})
    posts = [
        MaxEnt(Release.from_generalized(cells, qi="Age", sa="S", population=ages)).solve().conditional()
        for cells in (table, single)
    ]
    assert np.allclose(posts[0], posts[1])


def test_flags_must_not_be_missing():
    """A missing value in a column of truth values is neither True nor False."""
    flags = pd.DataFrame({"Age_20": [True, False], "Age_30": [True, pd.NA], "S": ["x", "y"]}).astype(
        {"Age_30": "boolean"}
    )
    with refused(TableError):
        Release.from_generalized(flags, qi="Age", sa="S", population=pd.DataFrame({"Age": [20, 30]}))
