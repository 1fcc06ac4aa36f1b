"""Soft statements: how they are written, and what can be soft, of which views, among which other knowledge."""

from __future__ import annotations

import itertools

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, MaxEnt, P, Release, SolverError, StatementError
from maxent_cvx.sources.parser import read_statement
from maxent_cvx.terms.rows import Rows
from support.helpers import refused
from support.softly import FEMALE, FLU, HIV, MALE, QI, hospital
from support.solving import examples

# -- written and read ------------------------------------------------------------------------------------------------

awkward = st.sampled_from(
    [
        "a = b",
        "x ~ y",
        "Flu, weight 3",
        "it's",
        'say "so"',
        "a) ~ 0.3 +- 1",
        "(b",
        "c <= d",
        "~",
        "+- 1",
        "delta 2",
        "or",
    ]
)
costs = st.floats(1e-9, 1e9)


@examples(200)
@given(
    value=awkward, other=awkward, low=st.floats(-1e3, 1e3), width=st.sampled_from([0.0, 0.1, np.inf]),
    downwards=st.booleans(), kind=st.sampled_from(["sd", "weight", "delta"]), cost=costs, delta=costs,
    against=st.booleans(),
)  # fmt: skip
def test_what_is_written_is_read_as_the_same(value, other, low, width, downwards, kind, cost, delta, against):
    """str(statement) is read as the same statement, whatever its values are called."""
    left = P(value, given={other: [value, "z"]})
    left = left - 2.5 * P("z", who=other) if against else left
    sides = (-np.inf, low) if downwards and width else (low, low + width)
    penalty = mx.soft(P("a") == 1, **{kind: cost} if kind != "delta" else {"sd": cost, "delta": delta}).penalty
    said = left.missable(*sides, penalty)
    again = read_statement(str(said))
    assert again == said
    assert str(again) == str(said)


@pytest.mark.parametrize(
    ("text", "said"),
    {
        "P(Flu | Gender=male) ~ 0.3 +- 0.05": FLU.softly(0.3, sd=0.05),
        "P(Flu | Gender=male)~.3±5e-2  # they say": FLU.softly(0.3, sd=0.05),
        "P(Flu | Gender=male) ~ 0.3 +- 0.05, delta 0.1": FLU.softly(0.3, sd=0.05, delta=0.1),
        "P(Flu | Gender=male) ~ 0.3, weight 50": FLU.softly(0.3, weight=50),
        "P(Flu | Gender=male) <~ 0.3, weight 50": mx.soft(FLU <= 0.3, weight=50),
        "P(Flu | Gender=male) >~ 0.3 +- 0.1": mx.soft(FLU >= 0.3, sd=0.1),
        "0.1 <~ P(Flu | Gender=male) <~ 0.3 +- 0.1": mx.soft(FLU.between(0.1, 0.3), sd=0.1),
        "P(Flu | Gender=male) ~ P(HIV | Gender=male) +- 0.1": mx.soft(FLU == HIV, sd=0.1),
        "P(Flu | Gender=male) <~ 2 P(HIV | Gender=male), weight 3": mx.soft(FLU <= 2 * HIV, weight=3),
    }.items(),
)
def test_read(text: str, said: mx.Statement):
    """The notation, and what people make of it."""
    assert read_statement(text) == said


@pytest.mark.parametrize(
    ("text", "parts"),
    {
        "P(Flu) ~ 0.3": ("a cost is expected after ~", "character 13"),
        "P(Flu) ~ 0.3 +- 0.1, weight 3": ("one of both",),
        "P(Flu) ~ 0.3, delta 3": ("sd=0.05",),
        "P(Flu) ~ 0.3 +- 0": ("sd must be a number above 0",),
        "P(Flu) = 0.3, weight 3": ("the end is expected",),
        "0.1 <= P(Flu) <~ 0.3, weight 3": ("two relations",),
    }.items(),
)
def test_mistakes(text: str, parts: tuple[str, ...]):
    """Mistakes are pointed at."""
    with refused(BadProbability if "+- 0" in text and "weight" not in text else StatementError, *parts):
        read_statement(text)


@pytest.mark.parametrize(
    "wrong",
    [
        {}, {"sd": 1, "weight": 1}, {"weight": 1, "delta": 1}, {"sd": 0}, {"sd": -1}, {"weight": float("nan")},
        {"sd": float("inf")}, {"sd": 1e-200}, {"sd": "0.1"}, {"sd": 1, "delta": 0}, {"sd": np.array([1.0])},
        {"sd": pd.Series([1.0])},
    ],
)  # fmt: skip
def test_costs_that_are_none(wrong: dict[str, object]):
    """There is one cost, above 0."""
    with pytest.raises((StatementError, BadProbability)):
        mx.soft(FLU == 0.3, **wrong)


def test_what_cannot_be_soft():
    """What is soft already, what costs nothing, what is no row."""
    soft = FLU.softly(0.3, sd=0.1)
    for said in (soft, (FLU - HIV).anything()):
        with pytest.raises(StatementError):
            mx.soft(said, sd=0.1)
    with refused(StatementError):
        FLU.missable(-np.inf, np.inf, soft.penalty)
    with refused(StatementError):
        hospital().add(mx.soft(mx.soft(own, sd=1), sd=1))
    with refused(StatementError):
        hospital().add(mx.soft(lambda space: cp.sum_squares(space.marginal("s").expr) <= 0.3, sd=0.1))
    model = hospital()
    rows = model.space.conditional("Disease", given="Gender")["Flu"] == 0.3
    with refused(StatementError):
        mx.soft(rows, sd=np.ones(3))
    with refused(StatementError):
        mx.soft(rows, sd=pd.Series([1.0, 2.0]))


def own(space: mx.Space) -> Rows:
    return space.conditional("Disease", given="Gender")["Flu"] <= 0.25


# -- the same thing, however it is said --------------------------------------------------------------------------------


def test_however_it_is_said():
    """A statement, its text, a block, rows with a Series of costs, a function and a source have one answer."""
    models = [hospital() for _ in range(5)]
    blocks = [model.space.conditional("Disease", given="Gender")["Flu"] for model in models]
    sd = pd.Series({"male": 0.05, "female": 0.02}).rename_axis("Gender")
    ways = [
        ["P(Flu | Gender=male) ~ 0.2 +- 0.05", "P(Flu | Gender=female) ~ 0.2 +- 0.02"],
        [mx.soft(P("Flu", given=group) == 0.2, sd=sd[group["Gender"]]) for group in (MALE, FEMALE)],
        [blocks[2].softly(0.2, sd=sd)],
        [mx.soft(blocks[3] == 0.2, sd=sd)],
        [lambda space: space.conditional("Disease", given="Gender")["Flu"].softly(0.2, sd=sd)],
    ]
    posts = [model.add(*way).solve() for model, way in zip(models, ways, strict=True)]
    for post in posts[1:]:
        np.testing.assert_allclose(post.conditional(), posts[0].conditional(), atol=1e-9)
        assert post.objective == pytest.approx(posts[0].objective, abs=1e-9)
        assert sorted(post.penalties) == pytest.approx(sorted(posts[0].penalties), abs=1e-9)


def test_an_expectation():
    """The mean of a number, in its own unit: missed by r it costs r^2 / 2 with sd 1."""
    values = {"Flu": 10, "HIV": 40, "Pneumonia": 20, "Breast Cancer": 60, "Lung Cancer": 80}
    mean = mx.E("Disease", values=values, given=MALE)
    free = hospital().solve()
    has = sum(free.prob(s, given=MALE) * v for s, v in values.items())
    post = hospital().add(mx.soft(mean == 20, sd=1)).solve()
    now = sum(post.prob(s, given=MALE) * v for s, v in values.items())
    assert 20 < now < has
    assert post.penalties.tolist() == pytest.approx([(now - 20) ** 2 / 2], rel=1e-9)
    # The slope of the cost is the price, divided by N.
    assert post.prices()["price"].tolist() == pytest.approx([(now - 20) / 10], rel=1e-6)


def test_a_source_is_softened_row_by_row():
    """Names stay in prices and penalties; inequalities are missed on their wrong side only."""
    source = mx.soft(own, weight=2)
    post = hospital().add(source, label="own").solve()
    assert list(post.penalties.index) == ["own: female", "own: male"]
    assert set(post.prices().index) == set(post.penalties.index)
    share = [post.prob("Flu", given={"Gender": g}) for g in ("female", "male")]
    assert post.penalties.tolist() == pytest.approx([2 * max(p - 0.25, 0) for p in share], abs=1e-9)
    assert (post.prices()["side"] == "~").all()


# -- other views -------------------------------------------------------------------------------------------------------


def miss(post: mx.Posterior, value: float, has: float, sd: float) -> None:
    assert post.penalties.sum() == pytest.approx((value - has) ** 2 / (2 * sd**2), rel=1e-6)
    assert post.certificate.bound < 1e-6


def test_people():
    """What is said softly about a person; counts are in people."""
    table = mx.datasets.load_hospital()
    release = Release.from_buckets(table, qi=QI, sa="Disease", bucket="Bucket")
    people = pd.DataFrame({"Gender": ["male"], "Degree": ["college"]}, index=["Bob"])
    free = MaxEnt(release, people=people).solve().people().loc["Bob", "Flu"]
    post = MaxEnt(release, people=people).add(P("Flu", who="Bob").softly(0.9, sd=0.2)).solve()
    has = post.people().loc["Bob", "Flu"]
    assert free < has < 0.9
    miss(post, 0.9, has, 0.2)
    counted = MaxEnt(release, people=people).add(mx.soft(mx.Count("Flu", who=["Bob"]) == 0.9, sd=0.2)).solve()
    assert counted.people().loc["Bob", "Flu"] == pytest.approx(has, abs=1e-7)


def test_a_prior():
    """N D(p || prior) plus costs is least; `objective` is minus that."""
    table = mx.datasets.load_hospital()
    release = Release.from_buckets(table, qi=QI, sa="Disease", bucket="Bucket")
    believed = pd.DataFrame(0.2, index=pd.Index(["female", "male"], name="Gender"), columns=sorted(set(table.Disease)))
    believed.loc["male", ["Flu", "HIV"]] = [0.35, 0.05]
    prior = mx.QIDistribution(believed)
    post = MaxEnt(release, prior=prior).add(FLU.softly(0.1, sd=0.1)).solve()
    miss(post, 0.1, post.prob(FLU), 0.1)
    assert post.objective == pytest.approx(-10 * post.relative_entropy - post.penalties.sum(), abs=1e-9)
    for other in (
        MaxEnt(release, prior=prior).solve(),
        MaxEnt(release, prior=prior).add(post.prob(FLU) + 0.01 == FLU).solve(),
    ):
        cost = (other.prob(FLU) - 0.1) ** 2 / 0.02
        assert -10 * other.relative_entropy - cost < post.objective


def test_a_series():
    """Releases of the same patients."""
    tables = mx.datasets.load_patients()
    series = mx.ReleaseSeries(
        Release.from_buckets(table, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym") for table in tables
    )
    shares = MaxEnt(series).solve().conditional().stack()
    (person, value), free = next((key, p) for key, p in shares.items() if 0.2 < p < 0.8)
    post = MaxEnt(series).add(P(value, given={"Pseudonym": person}).softly(0.1, sd=0.3)).solve()
    has = post.conditional().loc[person, value]
    assert 0.1 < has < free
    miss(post, 0.1, has, 0.3)


def test_a_table_of_people():
    """Of a table without buckets the published rows are those of QI tuples only."""
    people = pd.DataFrame({"Gender": ["male"] * 3 + ["female"] * 2})
    model = MaxEnt(mx.QITable(people, qi=["Gender"], sa="Disease", sa_values=["Flu", "HIV"]))
    post = model.add(FLU.softly(0.9, weight=1e-3), P("Flu", given=FEMALE).softly(0.9, weight=1e6)).solve()
    # N H has the slope 3 log odds at the men's share: 0.001 moves that to expit(0.001 / 3).
    assert post.prob(FLU) == pytest.approx(1 / (1 + np.exp(-1e-3 / 3)), abs=1e-9)
    assert post.prob("Flu", given=FEMALE) == pytest.approx(0.9, abs=1e-9)


# -- models ------------------------------------------------------------------------------------------------------------


def test_two_measurements():
    """The same again under its own text is a repetition; under another label it is a second measurement."""
    said = FLU.softly(0.45, sd=0.1)
    with pytest.warns(mx.RepeatedStatement):
        once = hospital().add(said).add(said)
    assert len(once.knowledge) == 1
    twice = hospital().add(said).add(said, label="again").solve()
    better = hospital().add(FLU.softly(0.45, sd=0.1 / np.sqrt(2))).solve()
    np.testing.assert_allclose(twice.conditional(), better.conditional(), atol=1e-9)
    removed = hospital().add(said).add(said, label="again").remove("again")
    np.testing.assert_allclose(removed.solve().conditional(), once.solve().conditional(), atol=1e-12)


def test_order_makes_no_difference():
    """Soft and hard statements, in any order, keep their names."""
    said = [FLU.softly(0.45, sd=0.1), HIV == 0.25, mx.soft(HIV <= 0.1, weight=2), FLU <= 0.42]
    first = hospital().add(*said).solve()
    prices = first.prices()["price"]
    assert first.penalties.index.tolist() == [str(said[0]), str(said[2])]
    for order in itertools.permutations(said):
        post = hospital().add(*order).solve()
        np.testing.assert_allclose(post.conditional(), first.conditional(), atol=1e-9)
        pd.testing.assert_series_equal(post.prices()["price"].reindex(prices.index), prices, atol=1e-7, rtol=1e-6)
        assert set(post.multipliers) >= set(map(str, said))


def test_leave_one_out():
    """What is measured without each statement is what a model without it says."""
    said = [FLU.softly(0.45, sd=0.1), HIV == 0.25, HIV.softly(0.1, weight=2)]
    table = hospital().add(*said).solve().prices(leave_one_out=True)
    for one in said:
        rest = [other for other in said if other is not one]
        assert table.loc[str(one), "without"] == pytest.approx(hospital().add(*rest).solve().entropy, abs=1e-8)


def test_what_is_of_the_hard_rows_alone():
    """Bounds, certainties, diagnoses and relaxations do not see what is soft."""
    soft = [FLU.softly(0.1, weight=1e3), mx.soft(FLU >= 0.9, sd=0.01), P("HIV", given=FEMALE).softly(0, sd=1e-3)]
    plain, model = hospital().add(HIV <= 0.1), hospital().add(*soft).add(HIV <= 0.1)
    asked = ["P(Flu | Gender=male)", "P(HIV | Gender=female)"]
    pd.testing.assert_frame_equal(model.bounds(asked), plain.bounds(asked))
    assert model.bounds(asked[0], integer=True) == plain.bounds(asked[0], integer=True)
    assert model.diagnose().empty
    post = model.solve()
    assert post.certain(progress=False).empty == plain.solve().certain(progress=False).empty
    assert model.relax().changes.empty
    wrong = hospital().add(*soft).add(FLU >= 0.7, FLU <= 0.6)
    assert set(wrong.diagnose().index) <= {str(FLU >= 0.7), str(FLU <= 0.6)}
    relaxed = wrong.relax()
    assert set(relaxed.changes.index) <= {str(FLU >= 0.7), str(FLU <= 0.6)}
    assert relaxed.model.solve().certificate.holds
    assert set(map(str, soft)) <= set(relaxed.model.knowledge)
    with pytest.raises(mx.Infeasible):
        wrong.solve()


def test_what_describe_says():
    """Which sources are soft, and what they cost."""
    said = hospital().add(FLU.softly(0.4, sd=0.1), HIV == 0.2).describe()["note"]
    assert said.tolist() == ["", "soft: sd 0.1", ""]


def test_a_backend_that_takes_no_soft_rows():
    """One of your own is asked by `takes_soft_rows`; the refusal names others."""

    class Hard:
        name = "HARD"

        def solve(self, form, start=None):
            raise AssertionError

    with refused(SolverError, "HARD", str(FLU.softly(0.4, sd=0.1)), "DUAL_NEWTON"):
        hospital().add(FLU.softly(0.4, sd=0.1)).solve(Hard())


def test_saved_and_loaded(tmp_path):
    """A posterior that was loaded has no knowledge, and says so."""
    post = hospital().add(FLU.softly(0.4, sd=0.1)).solve()
    post.save(tmp_path / "post.parquet")
    again = mx.load_posterior(tmp_path / "post.parquet")
    np.testing.assert_allclose(again.conditional(), post.conditional())
    for name in ("penalties", "objective"):
        with pytest.raises(StatementError):
            getattr(again, name)
