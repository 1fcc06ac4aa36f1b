"""Prices, bounds, contradictions and certainties of models with convex statements."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy

import maxent_cvx as mx
from maxent_cvx import P
from support.convex_models import KINDS, apart, drawn, missed
from tests.benchmarks.convex_statements import outcomes

TARGET = np.array([0.1, 0.2, 0.2, 0.1, 0.2, 0.2])


@pytest.fixture
def view():
    """Fifty people in each of two groups, of whom nothing else is known."""
    people = pd.DataFrame({"g": ["a"] * 50 + ["b"] * 50})
    return mx.QITable(people, qi="g", sa="s", sa_values=["x", "y", "z"])


def near(side):
    """The joint distribution is near a target."""
    return lambda space: cp.sum_squares(space.marginal(["g", "s"]).expr - TARGET) <= side


def each(side):
    """The divergence of every entry from the target is small."""
    return lambda space: cp.kl_div(space.marginal(["g", "s"]).expr, TARGET) <= side


@pytest.mark.parametrize("case", [*KINDS, 44])
def test_prices_are_derivatives_of_the_entropy(case):
    """They are dH / d(right-hand side), of one or two (44) convex statements and of the linear ones beside."""
    table = missed(drawn(case) if isinstance(case, int) else drawn(list(KINDS).index(case), case))
    assert table["close"].all(), table
    if case in KINDS:
        assert table["price"].iloc[0] < 0 if case == "entropy" else table["price"].iloc[0] > 0


def test_prices_of_conic_solvers(view):
    """The dual values of a conic solver, and of a program that CVXPY has solved, give the same prices."""
    model = mx.MaxEnt(view).add(near(0.1), P("x", given={"g": "a"}) >= 0.7)
    expected = model.solve().prices()
    for solver in ("CLARABEL", "SCS"):
        pd.testing.assert_frame_equal(model.solve(solver).prices(), expected, atol=1e-5)
    model.problem.solve("CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    pd.testing.assert_frame_equal(model.read(model.problem).prices(), expected, atol=1e-5)


def test_prices_of_each_entry(view):
    """A constraint on a vector has a price for each entry."""
    post = mx.MaxEnt(view).add(each(0.004)).solve()
    prices = post.prices(leave_one_out=True)
    assert len(prices) == 6
    assert (prices["price"] > 0).sum() == 2
    assert np.allclose(prices["change"], math.log(6) - post.entropy)
    wider = mx.MaxEnt(view).add(each(0.004 + 1e-6)).solve()
    assert np.isclose((wider.entropy - post.entropy) / 1e-6, prices["price"].sum(), rtol=1e-3)


@pytest.mark.parametrize(
    ("of", "slope"),
    [
        (lambda p: 2 * cp.abs(p), 2),
        (lambda p: cp.square(p), 0.2),
        (lambda p: 3 * cp.square(p) / 2, 0.3),
        (lambda p: -cp.minimum(-5 * p, 0), 5),
        (lambda p: cp.power(p, 4) / 3, 0.004 / 3),
    ],
    ids=["multiple", "square", "multiple of a square", "minimum", "fourth power"],
)
def test_prices_of_convex_statements_read_as_rows(view, of, slope):
    """They refer to the side as typed, not to its root or quotient: dH / dp = ln((1 - p) / 2p) / 2 for P(x | a) <= p = 0.1."""
    side = of(cp.Constant(0.1)).value
    model = mx.MaxEnt(view).add(lambda space: of(space.prob("x", given={"g": "a"})) <= side)
    assert np.isclose(model.solve().prices()["price"].sum(), math.log(0.9 / 0.2) / 2 / slope)


@pytest.mark.parametrize(
    ("typed", "statement"),
    [
        (lambda p: p >= 0.5, P("x", given={"g": "a"}) >= 0.5),
        (lambda p: cp.Constant(0.5) == p, P("x", given={"g": "a"}) == 0.5),
        (lambda p: p <= 0.2, P("x", given={"g": "a"}) <= 0.2),
        (lambda p: cp.minimum(p, 2 * p) >= 0.5, P("x", given={"g": "a"}) >= 0.5),
    ],
    ids=["at least", "number first", "at most", "minimum"],
)
def test_prices_of_constraints_of_cvxpy_have_the_sign_of_the_typed_side(view, typed, statement):
    """CVXPY makes ``c <= x`` of ``x >= c``; dH / dc is that of the statement, also from the dual values of a solver."""
    model = mx.MaxEnt(view).add(lambda space: typed(space.prob("x", given={"g": "a"})))
    expected = mx.MaxEnt(view).add(statement).solve().prices()
    model.problem.solve("CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    for post in (model.solve(), model.read(model.problem)):
        price = post.prices().iloc[0]
        assert price["side"] == expected["side"].item()
        assert np.isclose(price["price"], expected["price"].item(), atol=1e-5)


@pytest.mark.parametrize(("of", "price"), [(cp.sum_squares, math.inf), (cp.norm1, math.nan), (cp.norm2, math.nan)])
def test_prices_where_nothing_is_left(view, of, price):
    """If the left side must be 0, the price of a square is infinite, and that of a norm is NaN, that is, unknown."""
    counts = np.array([5.0, 10.0, 35.0, 25.0, 15.0, 10.0])
    model = mx.MaxEnt(view).add(lambda space: of(space.counts / 100 - counts / 100) <= 0, label="near")
    prices = model.add(P("z", given={"g": "b"}) <= 0.9).solve().prices()["price"]
    assert np.array_equal(prices.loc["near"], price, equal_nan=True)
    assert prices.loc["P(z | g=b) <= 0.9"] == 0
    uniform = mx.MaxEnt(view).add(lambda space: of(space.counts - 100 / 6) <= 0)
    assert uniform.solve().prices()["price"].item() == 0


def test_statements_that_are_hard_to_certify():
    """They are certified within 1e-6: an absolute distance against a sum of squares, and shares at their kinks.

    The latter is Adult by Anatomy, near a table of which some shares are met exactly.
    """
    case = drawn(38)
    assert case.kinds == ("norm1", "sum_squares")
    assert case.model(case.sides).solve().certificate.bound <= 1e-6
    table = pd.DataFrame(list(outcomes("adult, anatomy", ["norm1"], [0.2, 0.01])))
    assert table["right"].all(), table


# Bounds.


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_those_of_conic_programs(kind):
    """Every end is attained, and is that of CLARABEL with tight tolerances."""
    table = apart(drawn(list(KINDS).index(kind), kind))
    assert (table["exact"] == "both").all()
    assert np.allclose(table[["low outside", "high outside"]], 0, atol=1e-6)


def test_bounds_beside_closed_forms(release):
    """Buckets that the convex constraint does not involve have the ends that they have without it."""
    plain = mx.MaxEnt(release)
    first = np.flatnonzero(plain.space.codes["bucket"] == 0)
    model = plain.copy().add(lambda space: cp.sum_squares(space.counts[first] - 4 / len(first)) <= 1.0)
    wide, narrow = plain.bounds(progress=False), model.bounds(progress=False)
    post = model.solve().conditional().stack()
    values = post.reindex(narrow.index.set_names(post.index.names)).to_numpy()
    ends = [wide["low"], narrow["low"], values, narrow["high"], wide["high"]]
    assert (np.diff(ends, axis=0) >= -1e-9).all()
    elsewhere = ["graduate" in label for label in narrow.index]  # in the third bucket only
    np.testing.assert_allclose(narrow.loc[elsewhere, ["low", "high"]], wide.loc[elsewhere, ["low", "high"]], atol=1e-9)


@pytest.mark.parametrize(("exponent", "seed"), [(0, 0), (3, 1), (6, 2), (7, 0), (8, 1), (10, 2)])
def test_bounds_of_a_ball_around_tiny_targets(exponent, seed):
    """Five people leave one count free, so that the ends are roots of the divergence, however small its targets are."""
    people = pd.DataFrame({"g": list("mmmff"), "s": list("aabab"), "bucket": 0})
    release = mx.Release.from_buckets(people, qi="g", sa="s", bucket="bucket")
    rng = np.random.default_rng(seed)
    target = rng.dirichlet(np.ones(4))  # of (f, a), (f, b), (m, a), (m, b)
    target[rng.integers(4, size=2)] *= 10.0**-exponent

    def divergence(p):
        return scipy.special.kl_div([0.6 - p, p - 0.2, p, 0.6 - p], target).sum()

    least = scipy.optimize.minimize_scalar(divergence, bounds=(0.2, 0.6), method="bounded", options={"xatol": 1e-12})
    radius = least.fun * 1.02 + 1e-4
    low, high = (
        end if divergence(end) <= radius
        else scipy.optimize.brentq(lambda p: divergence(p) - radius, end, least.x, xtol=1e-14)
        for end in (0.2, 0.6)
    )  # fmt: skip
    model = mx.MaxEnt(release).add(lambda space: cp.sum(cp.kl_div(space.p, target)) <= radius, label="near")
    assert np.allclose(model.bounds(P("a", given={"g": "m"})), (low / 0.6, high / 0.6), atol=1e-7)


def test_bounds_of_contradictory_statements(view):
    """Bounds of statements that contradict each other are an error."""
    model = mx.MaxEnt(view).add(near(0.01), P("x", given={"g": "a"}) >= 0.7, label=None)
    with pytest.raises(mx.Infeasible):
        model.bounds("P(y | g=b)")


def test_whole_assignments(view):
    """Integer programs need linear rows: bounds are refused, and certainties of the linear rows remain true."""
    model = mx.MaxEnt(view).add(near(0.1), "P(x | g=a) <= 0.01")
    with pytest.raises(mx.SolverError):
        model.bounds("P(x)", integer=True)
    assert model.solve().certain(progress=False).empty
    few = mx.QITable(pd.DataFrame({"g": ["a"] * 5 + ["b"] * 5}), qi="g", sa="s", sa_values=["x", "y", "z"])
    post = mx.MaxEnt(few).add(near(0.1), "P(x | g=a) <= 0.1").solve()
    certain = post.certain(progress=False, integer=True)
    assert certain.loc["P(x | g=a)", "probability"] == 0
    none = mx.MaxEnt(few).add(near(0.2), "P(x | g=a) = 0").solve().certain(progress=False)
    assert none.loc["P(x | g=a)", "because"] == ["P(x | g=a) = 0"]


# Contradictions, and their relaxation.


@pytest.mark.parametrize("kind", KINDS)
def test_diagnose_and_relax(kind):
    """The diagnosis has the least value that the other statements permit; the relaxed statement has that side."""
    case = drawn(list(KINDS).index(kind), kind)
    model = case.model(np.array([-1.0, case.sides[-1]]))
    (constraint,) = model.constraints[kind]
    sign = -1 if kind == "entropy" else 1  # H >= 1, or f <= -1
    others = [one for label, several in model.constraints.items() if label != kind for one in several]
    least = sign * (cp.Problem(cp.Minimize(constraint.expr), others).solve("CLARABEL") - 1)
    row = model.diagnose().loc[kind]
    assert (row["least"] if sign > 0 else -row["most"]) <= sign * least + 1e-6
    assert row["move"] > 0
    relaxation = model.relax({label: math.inf for label in model.knowledge if label != kind})
    change = relaxation.changes.loc[kind]
    assert np.isclose(change["new_high"] if sign > 0 else change["new_low"], least, atol=2e-4 * change["move"])
    assert relaxation.model.solve().certificate.holds
    assert len(relaxation.model.knowledge) == len(model.knowledge)
    assert len(model.diagnose())  # the model itself is as it was


def test_relaxation_is_least(view):
    """A statement with infinite priority stays, so that the other one moves; otherwise the weighted sum is least."""
    linear = P("x", given={"g": "a"}) >= 0.7
    model = mx.MaxEnt(view).add(near(0.05), label="near").add(linear)
    convex_stays, linear_stays = model.relax({"near": math.inf}), model.relax({linear.label: math.inf})
    high = mx.MaxEnt(view).add(near(0.05)).bounds(P("x", given={"g": "a"}))[1]
    assert np.isclose(convex_stays.changes["new_low"].item(), high, atol=1e-4)
    assert convex_stays.model.solve().certificate.holds
    with pytest.raises(mx.Infeasible):
        model.relax(dict.fromkeys(model.knowledge, math.inf))
    costs = [50 * convex_stays.changes["move"].item(), 100 * linear_stays.changes["move"].item()]
    total = sum(move * (100 if name == "near" else 50) for name, move in model.relax().changes["move"].items())
    assert 0 < total <= min(costs) * (1 + 1e-3)


def test_relaxed_entries(view):
    """Entries of a vector move one by one, and consistent knowledge does not move."""
    model = mx.MaxEnt(view).add(each(0.001), label="each").add("P(x | g=a) = 0.3")
    changes = model.relax({"P(x | g=a) = 0.3": math.inf}).changes
    assert len(changes) >= 1
    assert changes.index.str.startswith("each, entry").all()
    assert mx.MaxEnt(view).add(each(0.5)).relax().changes.empty


@pytest.mark.parametrize(
    ("most", "cost"),
    [
        (0.32, lambda p, guess: cp.sum(cp.kl_div(p, guess))),
        (0.32, lambda p, guess: cp.sum(cp.rel_entr(p, guess))),
        (0.075, lambda p, guess: cp.quad_form(p - guess, np.eye(9) + 0.1)),
        (0.26, lambda p, guess: cp.norm(p - guess)),
        (0.69, lambda p, guess: cp.norm1(p - guess)),
        (2.8138, lambda p, guess: cp.log_sum_exp(5 * p)),
    ],
)
def test_a_statement_that_fixes_an_expression_of_a_cost(most, cost):
    """Its price includes the effect on the cost: it is the slope of H beside any convex statement."""
    table = pd.DataFrame({"Q": list("abbccbb"), "S": list("xyzxyzz"), "B": [1] * 3 + [2] * 4})
    release = mx.Release.from_buckets(table, qi="Q", sa="S", bucket="B")
    guess = np.array([0.14, 0.18, 0.09, 0.26, 0.08, 0.09, 0.02, 0.05, 0.09])

    def solved(value):
        model = mx.MaxEnt(release).add(P("x", given={"Q": "a"}) == value, label="known")
        return model.add(lambda space: cost(space.marginal(["Q", "S"]).expr, guess) <= most, label="cost").solve()

    prices = solved(0.5).prices()["price"]
    assert prices["cost"] > 0
    assert np.isclose(prices["known"], (solved(0.5 + 1e-4).entropy - solved(0.5 - 1e-4).entropy) / 2e-4, rtol=1e-4)
