"""Generalised releases, with the population they are from and without (Re-publishing, section 2; Mondrian)."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import GroupedRelease, MaxEnt, P, Release, ReleaseSeries, StatementError, TableError, UnknownName
from maxent_cvx.anonymize.mondrian import mondrian, mondrian_table
from maxent_cvx.releases.generalized import OUTSIDE, covers, label_of
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


def read(records: pd.DataFrame = RECORDS, population: pd.DataFrame | None = VOTERS, **options):
    return Release.from_generalized(records, qi=QI, sa="Disease", population=population, **options)


class TestWithAPopulation:
    """A voter list says who may be in which group."""

    def test_more_people(self):
        """Of four women and men between 20 and 29 three are in the release, each with probability 3/4."""
        release = read(population=pd.concat([VOTERS, pd.DataFrame({"Age": [22], "Sex": ["f"]})]))
        assert isinstance(release, GroupedRelease)
        post = MaxEnt(release).solve()
        assert post.prob(OUTSIDE, given={"Age": 22}) == pytest.approx(1 / 4)
        assert post.prob("Flu", given={"Age": 22}) == pytest.approx(1 / 2)
        assert post.prob(OUTSIDE, given={"Age": 35}) == pytest.approx(0, abs=1e-9)
        assert "5 records in 2 groups, of a population of 6 people" in repr(release)

    def test_knowing_who_is_in_it(self):
        """'Is in the release' is knowledge like any other; so is a person's name."""
        release = read(population=pd.concat([VOTERS, pd.DataFrame({"Age": [22, 22], "Sex": ["f", "f"]})]))
        model = MaxEnt(release, people={"Ann": {"Age": 22, "Sex": "f"}}).add(P(OUTSIDE, who="Ann") == 0)
        post = model.solve()
        assert post.people().loc["Ann", "Flu"] == pytest.approx(2 / 3)
        low, high = model.bounds(P("HIV", who="Ann"))
        assert (low, high) == pytest.approx((0, 1), abs=1e-6)

    def test_hierarchies(self):
        """A node of a hierarchy stands for what is below it, given as a dictionary or as a table."""
        records = pd.DataFrame({"Degree": ["higher", "higher", "any"], "Disease": ["Flu", "HIV", "Flu"]})
        voters = pd.DataFrame({"Degree": ["bachelor", "master", "school"]})
        as_dict = {"any": ["higher", "school"], "higher": ["bachelor", "master"]}
        as_table = pd.DataFrame(
            {"value": ["bachelor", "master", "school"], "1": ["higher", "higher", "lower"], "2": "any"}
        )
        for hierarchy in (as_dict, as_table):
            release = Release.from_generalized(
                records, qi="Degree", sa="Disease", population=voters, hierarchies={"Degree": hierarchy}
            )
            p = MaxEnt(release).solve().conditional()
            assert p.loc["school", "Flu"] == pytest.approx(1)
            assert p.loc["master", "HIV"] == pytest.approx(1 / 2)

    @given(seed=seeds)
    def test_against_cvxpy(self, seed: int):
        """The answer is that of a problem written down group by group."""
        import cvxpy as cp

        rng = np.random.default_rng(seed)
        voters = pd.DataFrame({"Age": rng.integers(20, 26, 8), "Sex": rng.choice(["f", "m"], 8)})
        inside = voters.sample(5, random_state=seed)
        low = inside["Age"] - rng.integers(0, 3, 5)
        high = inside["Age"] + rng.integers(0, 3, 5)
        records = pd.DataFrame(
            {
                "Age": [f"[{a}, {b}]" for a, b in zip(low, high, strict=True)],
                "Sex": np.where(rng.random(5) < 0.5, "*", inside["Sex"]),
                "Disease": rng.choice(["x", "y"], 5),
            }
        )
        post = MaxEnt(read(records, voters)).solve()
        tuples = voters.value_counts().sort_index()
        groups = records.groupby(["Age", "Sex"])["Disease"].agg(list)
        rows, terms, of_q = [], [], {q: [] for q in tuples.index}
        for (age, sex), values in groups.items():
            a, b = (int(x) for x in age.strip("[]").split(","))
            covered = [q for q in tuples.index if a <= q[0] <= b and sex in ("*", q[1])]
            for value in sorted(set(values)):
                x = cp.Variable(len(covered), nonneg=True)
                rows.append(cp.sum(x) == values.count(value))
                for i, q in enumerate(covered):
                    of_q[q].append(x[i])
                    terms.append((q, value, x, i))
        absent = cp.Variable(len(tuples), nonneg=True)
        for i, q in enumerate(tuples.index):
            rows.append(cp.sum(cp.hstack([*of_q[q], absent[i]])) == int(tuples[q]))
        every = cp.hstack([absent, *{id(x): x for *_, x, _ in terms}.values()])
        cp.Problem(cp.Maximize(cp.sum(cp.entr(every))), rows).solve(solver="CLARABEL")
        p = post.conditional()
        for i, q in enumerate(tuples.index):
            assert p.loc[q, OUTSIDE] * tuples[q] == pytest.approx(absent.value[i], abs=5e-3)
            for value in sorted(set(records["Disease"])):
                expected = sum(x.value[j] for r, v, x, j in terms if (r, v) == (q, value))
                assert p.loc[q, value] * tuples[q] == pytest.approx(expected, abs=5e-3)


class TestWithout:
    """Without a population a group's people are known by the generalised QI."""

    def test_shares_of_a_group(self):
        """P(s | generalised tuple) is the share in the group."""
        release = read(population=None)
        p = MaxEnt(release).solve().conditional()
        assert p.loc[("[20, 29]", "*"), "Flu"] == pytest.approx(2 / 3)
        assert release.generalized

    def test_mixed_series(self, tmp_path):
        """A bucketized release and a generalised one of the same people, in one model (section 2)."""
        tables = mx.datasets.load_patients()
        cells = tables[1].assign(Gender="*", Zip=(tables[1]["Zip"] // 100).map("[{0}00, {0}99]".format))
        groups = tables[1].groupby("Bucket")["Zip"].transform(lambda z: f"[{z.min()}, {z.max()}]")
        second = Release.from_generalized(cells.assign(Zip=groups), qi=["Gender", "Zip"], sa="Disease", id="Pseudonym")
        first = Release.from_buckets(tables[0], qi=["Gender", "Zip"], sa="Disease", bucket="Bucket", id="Pseudonym")
        plain = Release.from_buckets(tables[1], qi=["Gender", "Zip"], sa="Disease", bucket="Bucket", id="Pseudonym")
        mixed, both = ReleaseSeries([first, second]), ReleaseSeries([first, plain])
        assert mixed.qi == ("Pseudonym",)  # of 14 and 15 only generalised QI are known
        assert both.qi == ("Pseudonym", "Gender", "Zip")
        post = MaxEnt(mixed).solve()
        pd.testing.assert_frame_equal(post.people(), MaxEnt(both).solve().people(), atol=1e-6)
        post.save(tmp_path / "mixed.parquet")
        pd.testing.assert_frame_equal(mx.load_posterior(tmp_path / "mixed.parquet").people(), post.people())


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"records": RECORDS.assign(Sex="x")}, TableError, ["hierarchy"]),
        ({"records": RECORDS.assign(Age="[50, 60]")}, TableError, []),
        ({"population": VOTERS.head(4)}, TableError, []),
        ({"population": VOTERS.assign(Age=[20, 25, 29, 20, 35], Sex=list("fmmfm"))}, TableError, []),
        ({"records": RECORDS.assign(Age=20, Sex="m")}, TableError, ["nobody"]),
        ({"hierarchies": {"Sex": ["f", "m"]}}, StatementError, []),
        ({"hierarchies": {"Sex": {"a": ["b"], "b": ["a"]}}}, StatementError, ["cycle"]),
        ({"id": "Disease"}, StatementError, []),
        ({"count": "people"}, UnknownName, ["'people'"]),
        ({"records": RECORDS.assign(Age="[40, 30]")}, TableError, ["'[40, 30]'"]),
        ({"records": RECORDS.assign(Disease=OUTSIDE)}, TableError, ["rename"]),
        ({"hierarchies": {"Agee": {}}}, UnknownName, ["'Agee'"]),
        ({"population": None, "hierarchies": {"Age": {}}}, StatementError, ["population"]),
    ],
)
def test_what_is_refused(change, error, says):
    """Values that stand for nobody, groups with more records than people, hierarchies that are none."""
    with refused(error, *says):
        read(**({"records": RECORDS} | change))


class TestMondrian:
    """k-anonymity by medians, with l-diversity if asked for."""

    @given(seed=seeds, k=st.integers(1, 6), l=st.sampled_from([None, 1, 2]))
    def test_groups_are_large_and_true(self, seed: int, k: int, l: int | None):
        """Every group has k people and l values, and every generalised value covers the record's own."""
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(
            {"Age": rng.integers(0, 90, 30), "Sex": rng.choice(["f", "m"], 30), "Job": rng.choice(list("abcde"), 30)}
        ).assign(Disease=rng.choice(["x", "y", "z"], 30))
        found = mondrian_table(frame, qi=["Age", "Sex", "Job"], sa="Disease", k=k, l=l)
        text = found.astype(str).assign(Disease=frame["Disease"])
        sizes = text.groupby(["Age", "Sex", "Job"])["Disease"].agg(["size", "nunique"])
        assert (sizes["size"] >= k).all()
        assert l is None or (sizes["nunique"] >= l).all()
        for column, row in itertools.product(["Age", "Sex", "Job"], range(30)):
            cell, own = found[column].iloc[row], frame[column].iloc[row]
            inside = cell == "*" or (own in cell if isinstance(cell, pd.Interval | frozenset) else own == cell)
            assert inside
        release = mondrian(frame, qi=["Age", "Sex", "Job"], sa="Disease", k=k, l=l)
        assert len(release.buckets) == len(sizes)
        read_back = Release.from_generalized(found, qi=["Age", "Sex", "Job"], sa="Disease", population=frame)
        model = MaxEnt(read_back)
        assert model.view.n_records == 30

    def test_pycanon_agrees(self):
        """An independent measure of k-anonymity and l-diversity, on Adult."""
        anonymity = pytest.importorskip("pycanon.anonymity")
        adult = mx.datasets.load_adult().head(2_000)
        qi = ["age", "sex", "race", "education-num"]
        found = mondrian_table(adult, qi=qi, sa="occupation", k=10, l=3).astype(str)
        assert anonymity.k_anonymity(found, qi) >= 10
        assert anonymity.l_diversity(found, qi, ["occupation"]) >= 3


AWKWARD = ["a", "b c", "k, l", 'say "x"', "or", "7", "{z}", "back\\slash", "u, v"]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_sets_are_read_back_from_texts(size):
    """What label_of writes of a set is read as the same set: values with commas, quotes and braces, too."""
    values = pd.Index(AWKWARD)
    for chosen in itertools.combinations(AWKWARD, size):
        np.testing.assert_array_equal(covers(label_of(frozenset(chosen)), values, "A", {}), values.isin(chosen))
