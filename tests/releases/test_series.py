"""Data published again and again (Re-publishing, sections 1 to 3)."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import Infeasible, MaxEnt, P, ReleaseSeries, StatementError, TableError, UnknownName
from support.helpers import refused
from support.series import assignments, patients, published, random_tables

seeds = st.integers(0, 10**6)


def test_sections_1_and_3():
    """The paper's inferences from Fig. 1: 10 has Lung Cancer; 11 no Flu, and Pneumonia with 1/2; 14 has no Flu."""
    model = MaxEnt(patients())
    people = model.solve().people()
    assert people.loc[10, "Lung Cancer"] == pytest.approx(1)
    assert people.loc[11, "Flu"] == pytest.approx(0)
    assert people.loc[11, "Pneumonia"] == pytest.approx(1 / 2)
    assert people.loc[14, "Flu"] == pytest.approx(0)
    # Patients 7 and 13 have Diabetes for certain, and 15 has no Flu, which the paper does not say.
    for value, who, p in (("Diabetes", 7, 1), ("Diabetes", 13, 1), ("Flu", 15, 0)):
        assert model.bounds(P(value, who=who)) == pytest.approx((p, p), abs=1e-6)


def test_constraints_of_fig_1():
    """MCS(5) = {Pneumonia, Flu}; section 3.4: a row for each value of each bucket, 12 + 12, and for each of 15 people."""
    assert set(patients().mcs(5)) == {"Pneumonia", "Flu"}
    assert patients().mcs(10) == ["Flu", "HIV", "Lung Cancer"]
    model = MaxEnt(patients())
    assert model.form.shape[0] == 15 + (3 + 3 + 3 + 3) + (3 + 3 + 3 + 3)
    row = next(i for i in range(39) if model.form.name(i) == "release 1: 1, Flu")
    assert model.form.matrix[[row]].toarray().sum() == 4
    assert model.form.low[row] == 2


@given(seed=seeds, releases=st.integers(1, 3))
def test_assignments_satisfy_all_rows(seed: int, releases: int):
    """An assignment that the releases allow satisfies all rows, has a term, and lies within the bounds."""
    tables = random_tables(seed, releases)
    model, every = MaxEnt(ReleaseSeries(map(published, tables))), assignments(tables)
    people, values, q, s = model.view.persons, model.view.sensitive_values, *(model.space.codes[role] for role in "qs")
    assert list(every.columns) == list(people)
    cells = set(zip(q, s, strict=True))
    for _, row in every.head(20).iterrows():
        codes = values.get_indexer(row)
        assert set(enumerate(codes)) <= cells
        assert (model.form.residual((codes[q] == s).astype(float)) < 1e-9).all()
    post = model.solve()
    person, value = people[seed % len(people)], values[seed % len(values)]
    low, high = model.bounds(P(value, who=int(person)))
    for p in (post.prob(value, who=int(person)), (every[person] == value).mean()):
        assert low - 1e-6 <= p <= high + 1e-6
    of_all = model.bounds()
    if (person, value) in of_all.index:
        assert of_all.loc[(person, value), ["low", "high"]].tolist() == pytest.approx([low, high], abs=1e-6)


@given(seed=seeds, releases=st.integers(1, 3))
def test_against_cvxpy(seed: int, releases: int):
    """The answer is that of the paper's problem, posed person by person and bucket by bucket in CVXPY."""
    tables = random_tables(seed, releases)
    series = ReleaseSeries(map(published, tables))
    post = MaxEnt(series).solve()
    people, values = list(series.persons), list(series.sensitive_values)
    p = cp.Variable((len(people), len(values)), nonneg=True)
    rows = [cp.sum(p, axis=1) == 1]
    for table in tables:
        for _, group in table.groupby("Bucket"):
            inside = [people.index(i) for i in group["Pseudonym"]]
            rows += [cp.sum(p[inside, j]) == int((group["Disease"] == v).sum()) for j, v in enumerate(values)]
    value = cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), rows).solve(solver="CLARABEL")
    np.testing.assert_allclose(post.people(), p.value, atol=2e-3)
    assert post.entropy == pytest.approx(value / len(people), abs=1e-5)  # H(S | I), Eq. (1)


def test_knowledge_about_people_and_groups():
    """Knowledge may be by pseudonym, by QI, and about people who are in one release only (section 5, future work)."""
    series = patients(["Gender", "Zip"])
    women = P("Pneumonia", given={"Gender": "female", "release": 2})
    model = MaxEnt(series).add(
        P("Flu", who=8) == 0.6,
        women <= 0.36,
        mx.Count("HIV", who=[8, 11]) <= 1,
        "P(Flu | Gender=male, release=2) >= 0.3",
    )
    post = model.solve()
    assert post.prob("Flu", who=8) == pytest.approx(0.6)
    assert post.people().loc[[3, 4, 8, 11, 15], "Pneumonia"].mean() == pytest.approx(post.prob(women))
    assert post.prob(women) <= 0.36 + 1e-6


def test_what_is_not_there():
    """Unknown pseudonyms and releases, and names beside pseudonyms, are refused."""
    model = MaxEnt(patients())
    for unknown in (P("Flu", who=99) == 0, P("Flu", given={"release": 3}) == 0):
        with refused(UnknownName):
            model.add(unknown)
    for nobody in (999, "7", [7.5], [[[7]]], [(1, 2)], [None], [10**5000], [pd.Series([1])], [int]):
        with refused(UnknownName):
            patients().named(nobody)
    with refused(StatementError):
        MaxEnt(patients(), people={"Al": {"Pseudonym": 1}})


TABLES = mx.datasets.load_patients()


def test_releases_that_cannot_be_of_the_same_people():
    """Releases with other pseudonyms, attributes or types, changed QI, or without a common value are refused."""
    plain = mx.Release.from_buckets(TABLES[0], qi=["Gender"], sa="Disease", bucket="Bucket")
    renamed = TABLES[1].rename(columns={"Pseudonym": "Id"})
    other = mx.Release.from_buckets(renamed, qi=[], sa="Disease", bucket="Bucket", id="Id")
    moved = TABLES[1].assign(Gender=TABLES[1]["Gender"].where(TABLES[1]["Pseudonym"] != 5, "female"))
    gout = TABLES[1].assign(Disease=lambda t: t["Disease"].where(t["Bucket"] != 1, "Gout"))
    codes = TABLES[0].assign(Disease=pd.factorize(TABLES[0]["Disease"])[0])
    for releases, error in [
        ([plain], StatementError),
        ([], StatementError),
        (published(TABLES[0]), StatementError),
        ([published(TABLES[0]), TABLES[1]], StatementError),
        ([published(TABLES[0]), other], TableError),
        ([published(TABLES[0], ["Gender"]), published(moved, ["Gender"])], TableError),
        ([published(codes.astype({"Disease": str})), published(codes)], TableError),
        ([published(TABLES[0]), published(gout)], Infeasible),
    ]:
        with refused(error):
            ReleaseSeries(releases)
    turned = ReleaseSeries([published(TABLES[0], ["Gender", "Zip"]), published(TABLES[1], ["Zip", "Gender"])])
    assert turned.qi == ("Pseudonym", "Gender", "Zip")


@pytest.mark.parametrize("column", ["Disease", "Degree"])
def test_ordered_categories(column: str):
    """Releases may lack ordered categories if one has all; an order that differs, or that only one has, is refused."""
    names = ["none", "mild", "bad", "dead"]
    order = pd.CategoricalDtype(names, ordered=True)
    values = pd.Categorical(["bad", "none"] * 6 + ["bad"], dtype=order)
    table = TABLES[0].assign(**{"Degree": "mild", "Bucket": 1, column: values})
    second = table.assign(**{column: table[column].cat.remove_unused_categories()})
    first, again = published(table, ["Degree"]), published(second, ["Degree"])
    for series in (ReleaseSeries([first, again]), ReleaseSeries([again, first])):
        united = series.quasi_identifiers.get_level_values(column) if column in series.qi else series.sensitive_values
        assert united.dtype == order
    if column == "Disease":
        assert mx.anonymize.republish(again, table, method="m_invariant", l=2).sensitive_values.dtype == order
    for other in (table[column].astype(str), table[column].cat.reorder_categories(names[::-1])):
        with refused(TableError):
            ReleaseSeries([first, published(table.assign(**{column: other}), ["Degree"])])


def test_releases_that_contradict_each_other():
    """Two of three have a, and one of the same three; or the second release leaves b to two of them."""
    first = pd.DataFrame({"Pseudonym": [1, 2, 3], "Disease": list("aab"), "Bucket": 1})
    model = MaxEnt(ReleaseSeries([published(first), published(first.assign(Disease=list("abb")))]))
    for ask in (
        model.solve,
        lambda: model.bounds(P("a", who=1)),
        lambda: model.solve("CLARABEL", presolve=False),
        lambda: model.copy().add(P("a", who=1) <= 0.9).solve(),
    ):
        with refused(Infeasible):
            ask()
    assert (model.diagnose()["move"] > 0).any()
    second = pd.DataFrame({"Pseudonym": [1, 4, 2, 5], "Disease": list("bcbc"), "Bucket": [1, 1, 2, 2]})
    model = MaxEnt(ReleaseSeries([published(first), published(second)]))
    with refused(Infeasible):
        model.solve()
    assert model.diagnose().index[0].startswith("release 1: 1, ")


def test_certainties_and_their_reasons():
    """Patient 10 has Lung Cancer by one row; a statement is a reason only for what the releases leave open."""
    certain = MaxEnt(patients()).solve().certain(progress=False)
    assert certain.loc["P(Lung Cancer | Pseudonym=10)", "probability"] == 1
    assert certain.loc["P(Lung Cancer | Pseudonym=10)", "because"] == ["release 1: 3, Lung Cancer"]
    assert {"P(Diabetes | Pseudonym=7)", "P(Diabetes | Pseudonym=13)", "P(Flu | Pseudonym=14)"} <= set(certain.index)
    more = MaxEnt(patients()).add(P("Flu", who=8) == 0).solve().certain(progress=False)
    assert more.loc["P(HIV | Pseudonym=8)", "because"][-1] == "P(Flu | 8) = 0"
    for name in set(certain.index) & set(more.index):
        assert not any("P(" in row for row in more.loc[name, "because"])


def test_certain_values_that_two_buckets_have_in_common():
    """The value of u and w is certain, as no other is in both buckets; the others have a bucket with one value only."""
    first = pd.DataFrame({"Pseudonym": list("uvwxyz"), "Disease": list("ababcc"), "Bucket": [1, 1, 2, 2, 3, 3]})
    second = first.assign(Bucket=[1, 3, 2, 3, 1, 2])
    post = MaxEnt(ReleaseSeries([published(first), published(second)])).solve()
    for certain in (post.certain(progress=False), post.certain(integer=True)):
        assert certain["probability"].to_dict() == {"P(a | Pseudonym=u)": 1, "P(a | Pseudonym=w)": 1}
    assert post.certain(progress=False).loc["P(a | Pseudonym=u)", "because"] == []


def test_channels_of_fig_1():
    """Inferences from all releases that none allows alone (Definition 2.2): the paper's channels, with their causes."""
    channels = mx.inference_channels(patients())
    at = channels.set_index(["person", "value", "release"])
    assert at.loc[(10, "Lung Cancer", 1), ["alone", "together"]].tolist() == pytest.approx([1 / 3, 1])
    assert at.loc[(11, "Pneumonia", 2), ["alone", "together"]].tolist() == pytest.approx([1 / 3, 1 / 2])
    assert at.loc[(14, "Flu", 2), "together"] == pytest.approx(0)
    assert (at["because"] != at.index.get_level_values("release")).all()
    assert channels["change"].abs().is_monotonic_decreasing


@given(seed=seeds)
def test_channels_by_hand(seed: int):
    """Every difference is listed, and no other."""
    tables = random_tables(seed, 2)
    series = ReleaseSeries(map(published, tables))
    together = MaxEnt(series).solve().people()
    result = mx.inference_channels(series, tolerance=1e-4, blame=False).set_index(["release", "person", "value"])
    for u, table in enumerate(tables, 1):
        for person, bucket in zip(table["Pseudonym"], table["Bucket"], strict=True):
            shares = table.loc[table["Bucket"] == bucket, "Disease"].value_counts(normalize=True)
            for value, alone in shares.items():
                change = together.loc[person, value] - alone
                assert ((u, person, value) in result.index) == (abs(change) > 1e-4)
                if abs(change) > 1e-4:
                    assert result.loc[(u, person, value), "change"] == pytest.approx(change)
