"""Soft statements: how they are written, and what can be soft, of which views, among which other knowledge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P, Release, SolverError
from maxent_cvx.sources.parser import read_statement
from maxent_cvx.terms.rows import Rows
from support.helpers import refused
from support.softly import FEMALE, FLU, HIV, MALE, QI, hospital

# -- written and read ------------------------------------------------------------------------------------------------

awkward = st.sampled_from(
    ["a = b", "x ~ y", "Flu, weight 3", "it's", 'say "so"', "a) ~ 0.3 +- 1", "(b", "c <= d", "~", "+- 1", "delta 2", "or"]
)  # fmt: skip
costs = st.floats(1e-9, 1e9)


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
    "wrong",
    [{}, {"sd": 1, "weight": 1}, {"weight": 1, "delta": 1}, {"sd": -1}, {"sd": "0.1"}, {"sd": np.array(1.0)}],
)
def test_wrong_costs(wrong: dict[str, object]):
    """There is one cost, a number above 0."""
    with pytest.raises((mx.StatementError, mx.BadProbability)):
        mx.soft(FLU == 0.3, **wrong)
    with pytest.raises((mx.StatementError, mx.BadProbability)):
        FLU.softly(0.3, **wrong)


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


def test_a_backend_that_takes_no_soft_rows():
    """One of your own is asked by `takes_soft_rows`; the refusal names others."""

    class Hard:
        name = "HARD"

        def solve(self, form, start=None):
            raise AssertionError

    with refused(SolverError, "HARD", str(FLU.softly(0.4, sd=0.1)), "DUAL_NEWTON"):
        hospital().add(FLU.softly(0.4, sd=0.1)).solve(Hard())
