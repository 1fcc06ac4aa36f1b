"""Data published again and again (Re-publishing, sections 1 to 3)."""

from __future__ import annotations

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


class TestFig1:
    """What the paper infers from Fig. 1, in words."""

    def test_sections_1_and_3(self):
        """Patient 10 has Lung Cancer; 11 has no Flu, and Pneumonia with probability 1/2; 14 has no Flu."""
        people = MaxEnt(patients()).solve().people()
        assert people.loc[10, "Lung Cancer"] == pytest.approx(1)
        assert people.loc[11, "Flu"] == pytest.approx(0)
        assert people.loc[11, "Pneumonia"] == pytest.approx(1 / 2)
        assert people.loc[14, "Flu"] == pytest.approx(0)

    def test_zero_constraints(self):
        """MCS(5) = {Pneumonia, Flu}."""
        assert set(patients().mcs(5)) == {"Pneumonia", "Flu"}
        assert patients().mcs(10) == ["Flu", "HIV", "Lung Cancer"]

    def test_overlooked(self):
        """Patients 7 and 13 have Diabetes for certain, and 15 has no Flu, which the paper does not say."""
        model = MaxEnt(patients())
        assert model.bounds(P("Diabetes", who=7)) == pytest.approx((1, 1), abs=1e-6)
        assert model.bounds(P("Diabetes", who=13)) == pytest.approx((1, 1), abs=1e-6)
        assert model.bounds(P("Flu", who=15)) == pytest.approx((0, 0), abs=1e-6)

    def test_relation_constraints(self):
        """Section 3.4: a row for each value of each bucket, 13 + 12, and one for each of the 15 people."""
        model = MaxEnt(patients())
        assert model.form.shape[0] == 15 + (3 + 3 + 3 + 3) + (3 + 3 + 3 + 3)
        row = next(i for i in range(39) if model.form.name(i) == "release 1: 1, Flu")
        assert model.form.matrix[[row]].toarray().sum() == 4
        assert model.form.low[row] == 2


@given(seed=seeds, releases=st.integers(1, 3))
def test_whole_assignments_are_inside(seed: int, releases: int):
    """Whatever the releases allow satisfies all rows, has a term, and lies within the bounds."""
    tables = random_tables(seed, releases)
    model = MaxEnt(ReleaseSeries(map(published, tables)))
    every = assignments(tables)
    people = model.view.persons
    assert list(every.columns) == list(people)
    cells = set(zip(model.space.codes["q"], model.space.codes["s"], strict=True))
    codes = model.view.sensitive_values.get_indexer
    for _, row in every.head(20).iterrows():
        values = codes(row)
        assert set(enumerate(values)) <= cells
        counts = (values[model.space.codes["q"]] == model.space.codes["s"]).astype(float)
        assert (model.form.residual(counts) < 1e-9).all()
    post = model.solve()
    person, value = people[seed % len(people)], model.view.sensitive_values[seed % len(model.view.sensitive_values)]
    low, high = model.bounds(P(value, who=int(person)))
    assert low - 1e-6 <= post.prob(value, who=int(person)) <= high + 1e-6
    assert low - 1e-6 <= (every[person] == value).mean() <= high + 1e-6


@given(seed=seeds, releases=st.integers(1, 3))
def test_against_cvxpy(seed: int, releases: int):
    """The answer is that of the paper's problem, posed person by person and bucket by bucket in CVXPY."""
    import cvxpy as cp

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
    cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), rows).solve(solver="CLARABEL")
    np.testing.assert_allclose(post.people(), p.value, atol=2e-3)


@given(seed=seeds)
def test_order_and_repetition_do_not_matter(seed: int):
    """Releases in another order, or published twice, say the same."""
    releases = [published(table) for table in random_tables(seed, 2)]
    expected = MaxEnt(ReleaseSeries(releases)).solve().people()
    for other in (releases[::-1], [*releases, releases[0]]):
        pd.testing.assert_frame_equal(MaxEnt(ReleaseSeries(other)).solve().people(), expected, atol=2e-5)


class TestKnowledge:
    """Background knowledge about a series (section 5, future work)."""

    def test_about_people_and_groups(self):
        """By pseudonym, by QI, and about those who are in one release only."""
        series = patients(["Gender", "Zip"])
        model = MaxEnt(series).add(
            P("Flu", who=8) == 0.6,
            P("Pneumonia", given={"Gender": "female", "release": 2}) <= 0.36,
            mx.Count("HIV", who=[8, 11]) <= 1,
            "P(Flu | Gender=male, release=2) >= 0.3",
        )
        post = model.solve()
        assert post.prob("Flu", who=8) == pytest.approx(0.6)
        women = [3, 4, 8, 11, 15]
        assert post.people().loc[women, "Pneumonia"].mean() == pytest.approx(
            post.prob("Pneumonia", given={"Gender": "female", "release": 2})
        )
        assert post.prob("Pneumonia", given={"Gender": "female", "release": 2}) <= 0.36 + 1e-6

    def test_what_is_not_there(self):
        """Unknown pseudonyms and releases, and names beside pseudonyms."""
        model = MaxEnt(patients())
        with refused(UnknownName, "99"):
            model.add(P("Flu", who=99) == 0)
        with refused(UnknownName, never="'999'"):
            patients().named(999)
        with refused(UnknownName):
            patients().named("7")
        for nobody in (7.5, [[7]], (1, 2), None, 10**5000, pd.Series([1]), int):
            with refused(UnknownName, never="'["):
                patients().named([nobody])
        with refused(UnknownName, "3", "'release'"):
            model.add(P("Flu", given={"release": 3}) == 0)
        with refused(StatementError, "pseudonyms", "who="):
            MaxEnt(patients(), people={"Al": {"Pseudonym": 1}})


TABLES = mx.datasets.load_patients()


class TestRefused:
    """Releases that cannot be of the same people."""

    def test_contradictions(self):
        """Somebody in two buckets that share no value: the person and the releases are named."""
        other = TABLES[1].assign(Disease=lambda t: t["Disease"].where(t["Bucket"] != 1, "Gout"))
        with refused(Infeasible, "bucket 1 of release 2"):
            ReleaseSeries([published(TABLES[0]), published(other)])

    def test_bucket_with_more_people_than_values(self):
        """Two people and one value; with one value more it may be a counterfeit's."""
        qi = pd.DataFrame({"Pseudonym": [1, 2], "Bucket": 1})
        sa = pd.DataFrame({"Disease": ["Flu"], "Bucket": 1})
        roles = {"qi": [], "sa": "Disease", "bucket": "Bucket", "id": "Pseudonym"}
        for counterfeits in (False, True):
            with refused(TableError):
                mx.Release.from_tables(qi, sa, counterfeits=counterfeits, **roles)
        more = pd.DataFrame({"Disease": ["Flu", "HIV", "Gout"], "Bucket": 1})
        with refused(TableError, "counterfeits"):
            mx.Release.from_tables(qi, more, **roles)
        post = MaxEnt(ReleaseSeries([mx.Release.from_tables(qi, more, counterfeits=True, **roles)])).solve()
        np.testing.assert_allclose(post.people(), 1 / 3, atol=1e-6)

    def test_other_columns(self):
        """Releases without pseudonyms, with others, of other attributes; QI that change."""
        plain = mx.Release.from_buckets(TABLES[0], qi=["Gender"], sa="Disease", bucket="Bucket")
        with refused(StatementError, "id"):
            ReleaseSeries([plain])
        with refused(StatementError):
            ReleaseSeries([])
        with refused(StatementError):
            ReleaseSeries(published(TABLES[0]))
        turned = ReleaseSeries([published(TABLES[0], ["Gender", "Zip"]), published(TABLES[1], ["Zip", "Gender"])])
        assert turned.qi == ("Pseudonym", "Gender", "Zip")
        with refused(StatementError, "DataFrame"):
            ReleaseSeries([published(TABLES[0]), TABLES[1]])
        renamed = TABLES[1].rename(columns={"Pseudonym": "Id"})
        other = mx.Release.from_buckets(renamed, qi=[], sa="Disease", bucket="Bucket", id="Id")
        with refused(TableError, "'Id'", "'Pseudonym'"):
            ReleaseSeries([published(TABLES[0]), other])
        moved = TABLES[1].assign(Gender=TABLES[1]["Gender"].where(TABLES[1]["Pseudonym"] != 5, "female"))
        with refused(TableError, "Pseudonym 5"):
            ReleaseSeries([published(TABLES[0], ["Gender"]), published(moved, ["Gender"])])


class TestContradictions:
    """Releases whose buckets cannot be filled together, though everybody has a possible value."""

    a = pd.DataFrame({"Pseudonym": [1, 2, 3], "Disease": list("aab"), "Bucket": 1})

    def test_releases_that_contradict_each_other(self):
        """Two of three have a, and one of the same three: the later release's rows are named."""
        model = MaxEnt(ReleaseSeries([published(self.a), published(self.a.assign(Disease=list("abb")))]))
        for ask in (model.solve, lambda: model.bounds(P("a", who=1)), lambda: model.solve("CLARABEL", presolve=False)):
            remedy = "Correct it, give people with new values new pseudonyms, or remove it"
            with refused(Infeasible, remedy):
                ask()
        assert (model.diagnose()["move"] > 0).any()
        with refused(Infeasible):
            model.copy().add(P("a", who=1) <= 0.9).solve()

    def test_the_first_release_cannot_hold(self):
        """Two of three have a, and the second release leaves b to two of them: rows of both are named."""
        second = pd.DataFrame({"Pseudonym": [1, 4, 2, 5], "Disease": list("bcbc"), "Bucket": [1, 1, 2, 2]})
        model = MaxEnt(ReleaseSeries([published(self.a), published(second)]))
        with refused(Infeasible, "what is published contradicts itself"):
            model.solve()
        assert model.diagnose().index[0].startswith("release 1: 1, ")


class TestCertain:
    """What releases force together, with the rows of the later ones that do it."""

    def test_fig_1(self):
        """Patient 10 has Lung Cancer, as nobody else of the bucket may have it: that row alone says so."""
        found = MaxEnt(patients()).solve().certain(progress=False)
        assert found.loc["P(Lung Cancer | Pseudonym=10)", "probability"] == 1
        assert found.loc["P(Lung Cancer | Pseudonym=10)", "because"] == ["release 1: 3, Lung Cancer"]
        assert {f"P(Diabetes | Pseudonym={i})" for i in (7, 13)} <= set(found.index)
        assert "P(Flu | Pseudonym=14)" in found.index

    def test_statements_are_blamed_for_what_they_do(self):
        """A statement is a reason only for what the releases leave open."""
        bare = set(MaxEnt(patients()).solve().certain(progress=False).index)
        post = MaxEnt(patients()).add(P("Flu", who=8) == 0).solve()
        found = post.certain(progress=False)
        assert found.loc["P(HIV | Pseudonym=8)", "because"][-1] == "P(Flu | 8) = 0"
        for name in bare & set(found.index):
            assert not any("P(" in row for row in found.loc[name, "because"])
        assert not MaxEnt(patients()).add(P("Flu", who=8) == 0.5).solve().certain(progress=False).empty


class TestChannels:
    """What releases say together that none says alone (Definition 2.2)."""

    def test_fig_1(self):
        """The paper's channels, and which release opens them."""
        found = mx.inference_channels(patients())
        at = found.set_index(["person", "value", "release"])
        assert at.loc[(10, "Lung Cancer", 1), ["alone", "together"]].tolist() == pytest.approx([1 / 3, 1])
        assert at.loc[(11, "Pneumonia", 2), ["alone", "together"]].tolist() == pytest.approx([1 / 3, 1 / 2])
        assert at.loc[(14, "Flu", 2), "together"] == pytest.approx(0)
        assert (at["because"] != at.index.get_level_values("release")).all()
        assert found["change"].abs().is_monotonic_decreasing

    @given(seed=seeds)
    def test_by_hand(self, seed: int):
        """Every difference is listed, and no other."""
        tables = random_tables(seed, 2)
        series = ReleaseSeries(map(published, tables))
        together = MaxEnt(series).solve().people()
        found = mx.inference_channels(series, tolerance=1e-4, blame=False).set_index(["release", "person", "value"])
        for u, table in enumerate(tables, 1):
            for person, bucket in zip(table["Pseudonym"], table["Bucket"], strict=True):
                shares = table.loc[table["Bucket"] == bucket, "Disease"].value_counts(normalize=True)
                for value, alone in shares.items():
                    change = together.loc[person, value] - alone
                    assert ((u, person, value) in found.index) == (abs(change) > 1e-4)
                    if abs(change) > 1e-4:
                        assert found.loc[(u, person, value), "change"] == pytest.approx(change)


@given(seed=seeds, qi=st.sampled_from([(), ("Sex",)]))
def test_saved_and_loaded(seed: int, qi: tuple, tmp_path_factory):
    """A posterior of a series is stored with its releases."""
    post = MaxEnt(ReleaseSeries(published(table, qi) for table in random_tables(seed, 3))).solve()
    path = tmp_path_factory.mktemp("saved") / "post.parquet"
    post.save(path)
    again = mx.load_posterior(path)
    pd.testing.assert_frame_equal(again.people(), post.people())
    assert again.entropy == pytest.approx(post.entropy)
    assert repr(again.space.view) == repr(post.space.view)
