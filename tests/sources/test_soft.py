"""Soft statements: their forms; their answers against CVXPY, other solvers and hard statements."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P, SolverError
from support.helpers import refused
from support.solving import INSTALLED

MALE, FEMALE = {"Gender": "male"}, {"Gender": "female"}
FLU, HIV = P("Flu", given=MALE), P("HIV", given=MALE)


@pytest.fixture(scope="module")
def published() -> mx.Release:
    """The ten patients."""
    table = mx.datasets.load_hospital()
    return mx.Release.from_buckets(table, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")


@pytest.fixture
def model(published) -> MaxEnt:
    """A model that knows nothing yet."""
    return MaxEnt(published)


@pytest.mark.parametrize(
    "costs",
    [{}, {"sd": 1, "weight": 1}, {"weight": 1, "delta": 1}, {"sd": -1}, {"sd": "0.1"}, {"sd": np.array(1.0)}],
    ids=str,
)
def test_wrong_costs(costs):
    """There is one cost, a number above 0."""
    for write in (lambda: mx.soft(FLU == 0.3, **costs), lambda: FLU.softly(0.3, **costs)):
        with pytest.raises((mx.StatementError, mx.BadProbability)):
            write()


@pytest.mark.parametrize("groups", [["male"], ["male", "female", "other"], ["male", "other"]], ids=str)
def test_costs_are_those_of_the_rows(model, groups):
    """A Series of costs has the labels of the rows, no more and no less."""
    rows = model.space.conditional("Disease", given="Gender")["Flu"] == 0.2
    with refused(mx.StatementError):
        mx.soft(rows, sd=pd.Series(0.1, groups))


def test_forms_of_soft_statements(published):
    """A statement, its text, a block, rows with a Series of costs, and a function have one answer."""
    models = [MaxEnt(published) for _ in range(6)]
    blocks = [model.space.conditional("Disease", given="Gender")["Flu"] for model in models]
    sd = pd.Series({"male": 0.05, "female": 0.02}).rename_axis("Gender")
    forms = [
        ["P(Flu | Gender=male) ~ 0.2 +- 0.05", "P(Flu | Gender=female) ~ 0.2 +- 0.02"],
        [mx.soft(P("Flu", given=group) == 0.2, sd=sd[group["Gender"]]) for group in (MALE, FEMALE)],
        [blocks[2].softly(0.2, sd=sd)],
        [mx.soft(blocks[3] == 0.2, sd=sd)],
        [lambda space: space.conditional("Disease", given="Gender")["Flu"].softly(0.2, sd=sd)],
        [mx.soft(lambda space, q=q: space.prob("Flu", q) == 0.2, sd=sd[q["Gender"]]) for q in (MALE, FEMALE)],
    ]
    posts = [model.add(*form).solve() for model, form in zip(models, forms, strict=True)]
    for post in posts[1:]:
        np.testing.assert_allclose(post.conditional(), posts[0].conditional(), atol=1e-9)
        assert post.objective == pytest.approx(posts[0].objective, abs=1e-9)
        assert sorted(post.penalties) == pytest.approx(sorted(posts[0].penalties), abs=1e-9)


def test_cvxpy_constraints(model):
    """Affine ones are rows, with names of their own; others have no cost per row, and are refused."""
    model.add(mx.soft(lambda space: [space.prob("Flu", MALE) >= 0.45, space.prob("HIV", MALE) == 0.1], weight=3))
    other = MaxEnt(model.view).add(mx.soft(FLU >= 0.45, weight=3), mx.soft(HIV == 0.1, weight=3))
    post, expected = model.solve(), other.solve()
    np.testing.assert_allclose(post.conditional(), expected.conditional(), atol=1e-9)
    np.testing.assert_allclose(sorted(post.prices()["price"]), sorted(expected.prices()["price"]), atol=1e-6)
    assert post.penalties.index.is_unique
    limit = cp.Parameter(value=0.1)
    for constraint in (lambda space: cp.abs(space.prob("Flu") - 0.1) <= 0.1, lambda space: space.prob("Flu") <= limit):
        with refused(mx.StatementError):
            model.add(mx.soft(constraint, weight=3))


def test_a_prior(published):
    """N D(p || prior) plus costs is least; `objective` is minus that."""
    believed = pd.DataFrame(0.2, pd.Index(["female", "male"], name="Gender"), list(published.sensitive_values))
    believed.loc["male", ["Flu", "HIV"]] = [0.35, 0.05]
    prior = mx.QIDistribution(believed)
    post = MaxEnt(published, prior=prior).add(FLU.softly(0.1, sd=0.1)).solve()
    assert post.penalties.sum() == pytest.approx((0.1 - post.prob(FLU)) ** 2 / 0.02, rel=1e-6)
    assert post.certificate.bound < 1e-6
    assert post.objective == pytest.approx(-10 * post.relative_entropy - post.penalties.sum(), abs=1e-9)
    for other in (
        MaxEnt(published, prior=prior).solve(),
        MaxEnt(published, prior=prior).add(post.prob(FLU) + 0.01 == FLU).solve(),
    ):
        cost = (other.prob(FLU) - 0.1) ** 2 / 0.02
        assert -10 * other.relative_entropy - cost < post.objective


def test_what_depends_on_the_hard_rows_alone(published):
    """Bounds, certainties, diagnoses and relaxations do not depend on soft statements."""
    soft = [FLU.softly(0.1, weight=1e3), mx.soft(FLU >= 0.9, sd=0.01), P("HIV", given=FEMALE).softly(0, sd=1e-3)]
    plain, model = MaxEnt(published).add(HIV <= 0.1), MaxEnt(published).add(*soft).add(HIV <= 0.1)
    probabilities = ["P(Flu | Gender=male)", "P(HIV | Gender=female)"]
    pd.testing.assert_frame_equal(model.bounds(probabilities), plain.bounds(probabilities))
    assert model.bounds(probabilities[0], integer=True) == plain.bounds(probabilities[0], integer=True)
    assert model.diagnose().empty
    assert model.solve().certain(progress=False).empty == plain.solve().certain(progress=False).empty
    assert model.relax().changes.empty
    clash = [FLU >= 0.7, FLU <= 0.6]
    wrong = MaxEnt(published).add(*soft).add(*clash)
    relaxed = wrong.relax()
    for table in (wrong.diagnose(), relaxed.changes):
        assert set(table.index) <= set(map(str, clash))
    assert relaxed.model.solve().certificate.holds
    assert set(map(str, soft)) <= set(relaxed.model.knowledge)
    with pytest.raises(mx.Infeasible):
        wrong.solve()


def test_a_backend_that_takes_no_soft_rows(model):
    """A backend of one's own is refused unless it declares `takes_soft_rows`."""

    class Hard:
        name = "HARD"

        def solve(self, form, start=None):
            raise AssertionError

    with refused(SolverError):
        model.add(FLU.softly(0.4, sd=0.1)).solve(Hard())


# Answers.


@pytest.mark.parametrize("solver", INSTALLED)
def test_every_solver(solver: str, published):
    """With all costs at once, every solver has the answer of the dual solver."""
    statements = [
        FLU.softly(0.6, sd=0.05), FLU.softly(0.1, weight=1), HIV.softly(0.5, sd=0.05, delta=0.02),
        mx.soft(P("HIV", given=FEMALE) <= 0.1, weight=30), P("Pneumonia", given={"Degree": "college"}) >= 0.2,
    ]  # fmt: skip
    exact = MaxEnt(published).add(*statements).solve()
    assert exact.model.certify(exact.counts).bound <= 1e-6
    assert exact.model.certify(exact.counts, exact.multipliers).bound <= 1e-6
    again = exact.model.copy().add(FLU.softly(0.3, sd=1))
    assert again.solve(warm_start=exact).certificate.bound <= 1e-6
    for options in ({}, {"presolve": False}, {"polish": True}):
        post = MaxEnt(published).add(*statements).solve(solver, **options)
        distance = np.abs(exact.conditional() - post.conditional()).to_numpy().max()
        assert distance <= exact.certificate.bound + post.certificate.bound


@pytest.mark.parametrize("seed", range(6))
def test_against_cvxpy(seed: int, model):
    """Random costs, written anew: max N H(p) less |x|, x^2 / (2 sd^2) or half of cvxpy.huber of what is missed."""
    rng, space = np.random.default_rng(seed), model.space
    p = cp.Variable(len(space), nonneg=True)
    constraints = [rows.matrix @ p == rows.low for fact in model.facts for rows in fact.rows(space)]
    objective = 10 * cp.sum(cp.entr(p))
    for i, of in enumerate((FLU, HIV, FLU + HIV, P("Flu", given=FEMALE), P("HIV", given={"Degree": "college"}))):
        low, width = rng.uniform(0, 0.7), float(rng.choice([0.0, 0.1, np.inf]))
        sd, weight, delta = 10.0 ** rng.uniform(-2, 0), 10.0 ** rng.uniform(-1, 2), 10.0 ** rng.uniform(-2, -1)
        kind = rng.choice(["sd", "weight", "delta"])
        costs = {"sd": {"sd": sd}, "weight": {"weight": weight}, "delta": {"sd": sd, "delta": delta}}[kind]
        model.add(of.missable(low, low + width, mx.soft(P("a") == 1, **costs).penalty), label=str(i))
        value = sum(a * (event.row(space) @ p) for event, a in of.terms.items())
        missed = cp.maximum(low - value, *([value - low - width] if np.isfinite(width) else []), 0.0)
        squared = cp.square(missed / sd) / 2 if kind == "sd" else cp.huber(missed / sd, delta / sd) / 2
        objective -= cp.sum(weight * missed if kind == "weight" else squared)
    problem, post = cp.Problem(cp.Maximize(objective), constraints), model.solve()
    tight = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12, "max_iter": 500}
    size = 1 + abs(post.objective)
    assert problem.solve("CLARABEL", **tight) == pytest.approx(post.objective, abs=1e-7 * size)
    assert model.problem.solve("CLARABEL", **tight) + 10 * np.log(10) == pytest.approx(post.objective, abs=1e-7 * size)
    assert np.abs(post.counts - 10 * p.value).max() <= 5e-4


def test_what_is_met_exactly(published):
    """A statement with an absolute cost is met exactly if its weight is at least N times the hard statement's price."""
    hard = MaxEnt(published).add(FLU == 0.4).solve()
    price = 10 * abs(hard.prices()["price"].iloc[0])
    enough = MaxEnt(published).add(FLU.softly(0.4, weight=price * 1.01)).solve()
    np.testing.assert_allclose(enough.conditional(), hard.conditional(), atol=1e-9)
    assert enough.penalties.iloc[0] == pytest.approx(0, abs=1e-9)
    assert 10 * abs(enough.prices()["price"].iloc[0]) == pytest.approx(price, rel=1e-6)
    short = MaxEnt(published).add(FLU.softly(0.4, weight=price * 0.99)).solve()
    assert abs(short.prob(FLU) - 0.4) > 1e-4
    assert 10 * abs(short.prices()["price"].iloc[0]) == pytest.approx(price * 0.99, rel=1e-6)


CONTRADICTORY = [(FLU, 0.2), (FLU, 0.45), (FLU + HIV, 0.9), (P("Flu", given=FEMALE), 0.6), (P("Flu"), 0.1)]


@pytest.mark.parametrize("squared", [False, True], ids=["absolute", "squared"])
def test_contradictory_ones_tend_to_least_cost_then_most_entropy(squared: bool, model):
    """With growing costs the limit has the least cost, by a linear or quadratic program, and then the most entropy.

    Of convex costs, the sum of squares is least at unique misses, which are then equations. Of absolute costs there may
    be a whole face of solutions.
    """
    space, p = model.space, cp.Variable(len(model.space), nonneg=True)
    published = [rows.matrix @ p == rows.low for fact in model.facts for rows in fact.rows(space)]
    misses = cp.hstack(
        [sum(a * (event.row(space) @ p) for event, a in said.terms.items()) - v for said, v in CONTRADICTORY]
    )
    cost = cp.sum_squares(misses) if squared else cp.norm1(misses)
    least = cp.Problem(cp.Minimize(cost), published).solve(solver="CLARABEL", tol_gap_abs=1e-13, tol_gap_rel=1e-13)
    among = [misses == misses.value] if squared else [cost <= least * (1 + 1e-9) + 1e-10]
    cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [*published, *among]).solve(solver="CLARABEL")
    before = np.inf
    for weight in (1e1, 1e3, 1e5):
        costs = {"sd": weight**-0.5} if squared else {"weight": weight}
        post = model.copy().add(*[said.softly(v, **costs) for said, v in CONTRADICTORY]).solve()
        apart = np.abs(post.counts / 10 - p.value).max()
        assert apart <= before * 1.001
        before = apart
    assert before < 2e-4
    assert post.penalties.sum() / weight * (2 if squared else 1) == pytest.approx(least, rel=1e-3)
    assert post.certificate.bound < 1e-5


@pytest.mark.parametrize("kind", ["sd", "weight"])
@pytest.mark.parametrize("value", [0.4, 3.0])
def test_costs_of_any_size(kind: str, value: float, published):
    """From 1e-12 to 1e12, for possible and impossible values: certified, or, beyond floating point, refused."""
    plain = MaxEnt(published).add(HIV.softly(0.2, sd=0.1)).solve()
    for exponent in (-12, -4, 0, 4, 12):
        model = MaxEnt(published).add(FLU.softly(value, **{kind: 10.0**exponent}), HIV.softly(0.2, sd=0.1))
        try:
            post = model.solve()
        except mx.Inaccurate:
            assert value > 1
            assert exponent == (-12 if kind == "sd" else 12)
            continue
        assert post.certificate.bound < 1e-4
        if exponent > 3 if kind == "sd" else exponent < -3:  # it costs little
            np.testing.assert_allclose(post.conditional(), plain.conditional(), atol=1e-3)
        elif abs(exponent) >= 4:
            assert post.prob(FLU) == pytest.approx(min(value, 0.5), abs=1e-3)
