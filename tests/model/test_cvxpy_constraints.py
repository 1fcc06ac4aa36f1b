"""Knowledge written in CVXPY: affine constraints are rows like any others, convex ones go to a solver behind CVXPY."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx import BadProbability, Infeasible, MaxEnt, P, Release, SolverError, Space, StatementError
from maxent_cvx.sources.cvxpy_constraints import affine_pieces
from support.problems import p, publish
from support.solving import CONIC, DEFAULT, error

Q1, Q2 = {"Q": "q1"}, {"Q": "q2"}
#: Another two by two: n(q1, s1) = x, then 4 - x, 4 - x, x - 2. Eq. (9) is x = 16/6; the sum of squares is least at 2.5.
BUCKETS = (("q1*4 q2*2", "s1*4 s2*2"),)


def table(x: float) -> np.ndarray:
    return np.array([x, 4 - x, 4 - x, x - 2])


def model() -> MaxEnt:
    return MaxEnt(publish(BUCKETS))


def a(space: Space) -> cp.Expression:
    return space.prob("s1", Q1)


def b(space: Space) -> cp.Expression:
    return space.prob("s1", Q2)


def both(space: Space) -> cp.Expression:
    return cp.hstack([a(space), b(space)])


def square(space: Space, order: str) -> cp.Expression:
    """Four probabilities as a matrix, not symmetric: P(s1 | q1), P(s1 | q2), P(s2 | q1), P(s2 | q2) in that order."""
    flat = [space.prob(s, q) for s in ("s1", "s2") for q in (Q1, Q2)]
    return cp.reshape(cp.hstack(flat), (2, 2), order=order)


A, B = p("s1", "q1"), p("s1", "q2")
FOUR = (A, B, p("s2", "q1"), p("s2", "q2"))
SIDES = [0.71, 0.72, 0.73, 0.74]
FOUR_AT_MOST = [one <= side for one, side in zip(FOUR, SIDES, strict=True)]

#: Constraints of CVXPY, and the equivalent statements.
AFFINE: dict[str, tuple[Callable[[Space], Any], list[Any]]] = {
    "=": (lambda space: a(space) == 0.6, [A == 0.6]),
    "<=": (lambda space: a(space) <= 0.6, [A <= 0.6]),
    "number <=": (lambda space: 0.6 <= a(space), [A >= 0.6]),  # noqa: SIM300
    "number >=": (lambda space: 0.6 >= a(space), [A <= 0.6]),  # noqa: SIM300
    "both sides": (lambda space: a(space) <= 2 * b(space) - 0.1, [A - 2 * B <= -0.1]),
    "a constant": (lambda space: 2 * a(space) + 0.1 == 1.3, [A == 0.6]),
    "minus": (lambda space: -a(space) <= -0.6, [A >= 0.6]),
    "Zero": (lambda space: cp.Zero(a(space) - 0.6), [A == 0.6]),
    "NonNeg": (lambda space: cp.NonNeg(a(space) - 0.6), [A >= 0.6]),
    "counts": (lambda space: space.counts[0] <= 2.4, [A <= 0.6]),  # n(q1, s1) of 4 people
    "p": (lambda space: space.p[0] <= 0.4, [A <= 0.6]),  # of all 6
    "parameter": (lambda space: a(space) <= cp.Parameter(value=0.6), [A <= 0.6]),
    "vector =": (lambda space: both(space) == [0.6, 0.8], [A == 0.6, B == 0.8]),
    "vector >=": (lambda space: both(space) >= np.array([0.6, 0.7]), [A >= 0.6, B >= 0.7]),
    "vector and number": (lambda space: both(space) <= 0.7, [A <= 0.7, B <= 0.7]),
    "number and vector": (lambda space: a(space) <= np.array([0.6, 0.7]), [A <= 0.6, A <= 0.7]),
    "block": (lambda space: space.conditional("s", "q").expr[:2] <= 0.7, [A <= 0.7, B <= 0.7]),
    "matrix by columns": (lambda space: square(space, "F") <= np.reshape(SIDES, (2, 2), order="F"), FOUR_AT_MOST),
    "matrix by rows": (lambda space: square(space, "C") <= np.reshape(SIDES, (2, 2)), FOUR_AT_MOST),
    "sum of the 2 largest": (
        lambda space: cp.sum_largest(square(space, "F"), 2) <= 1.4,
        [one + other <= 1.4 for one, other in itertools.combinations(FOUR, 2)],
    ),
    "several": (lambda space: [a(space) <= 0.6, b(space) >= 0.7], [A <= 0.6, B >= 0.7]),
}


def test_affine_is_rows():
    """An affine constraint is violated by any counts by as much as the statements that say the same."""
    for name, (constraint, statements) in AFFINE.items():
        mine, theirs = model().add(constraint), model()
        for i, statement in enumerate(statements):
            theirs.add(statement, label=str(i))
        assert not mine.convex
        assert mine.form.shape == theirs.form.shape
        for x in np.random.default_rng(0).uniform(0, 4, (20, 4)):
            violated = np.sort(mine.form.residual(x)), np.sort(theirs.form.residual(x))
            np.testing.assert_allclose(*violated, atol=1e-12, err_msg=name)


CONVEX: dict[str, tuple[Callable[[Space], Any], float]] = {
    # The sum of squares is 2 (4-x)^2 + x^2 + (x-2)^2, least at 2.5: at most its value at 2.6 means 2.4 <= x <= 2.6.
    "squares": (lambda space: cp.sum_squares(space.counts) <= (table(2.6) ** 2).sum(), 2.6),
    # A ball around x = 2.3 up to x = 2.5, in Kullback and Leibler's distance.
    "divergence": (lambda space: cp.sum(cp.kl_div(space.counts, table(2.3))) <= kl(2.5, 2.3), 2.5),
    # |x - 2.3| four times is at most 0.4.
    "absolute": (lambda space: cp.norm1(space.counts - table(2.3)) <= 0.4, 2.4),
    # |x / 4 - 0.5| <= 0.1.
    "one absolute": (lambda space: cp.abs(a(space) - 0.5) <= 0.1, 2.4),
    "largest": (lambda space: cp.max(cp.hstack([a(space), 0.1 * b(space)])) <= 0.6, 2.4),
    "largest norm": (lambda space: cp.norm_inf(cp.hstack([a(space), 0.1 * b(space)])) <= 0.6, 2.4),
    # Two at once, of which each row is its own constraint: x^2 <= 2.4^2 binds, (4 - x)^2 <= 9 does not.
    "vector": (lambda space: cp.square(space.counts[:2]) <= np.array([2.4**2, 9]), 2.4),
    # Concave from below is convex: the answer without it, x = 8/3, has entropy enough.
    "entropy": (lambda space: cp.sum(cp.entr(space.p)) >= 1, 8 / 3),
    "inactive": (lambda space: cp.sum_squares(space.counts) <= 100, 8 / 3),
}


def test_constraints_of_one_source_have_different_names():
    """Prices and contradictions identify each of several constraints that a function returns, given a label or not."""

    def limits(space: Space) -> list[Any]:
        return [cp.norm(space.p) <= 1, a(space) <= 0.6, cp.hstack([a(space), b(space)]) <= 0.9, b(space) >= 0.95]

    for label in (None, "limits"):
        knowledge = model().add(limits, label=label)
        with pytest.raises(
            Infeasible, match=r"limits, part 3 \[2\].*limits, part 4|limits, part 4.*limits, part 3 \[2\]"
        ):
            knowledge.solve()
        relaxed = knowledge.relax().model.solve().prices()
        assert sorted(relaxed.index) == ["limits", *(f"limits, part {i}" for i in ("2", "3 [1]", "3 [2]", "4"))]


def kl(x: float, y: float) -> float:
    """Sum of x log(x / y) - x + y over the two tables."""
    return float((table(x) * np.log(table(x) / table(y)) - table(x) + table(y)).sum())


#: Of these, the ones that are finitely many affine constraints, which rows say.
POLYHEDRAL = ("one absolute", "largest", "largest norm", "vector")


@pytest.mark.parametrize("solver", [DEFAULT, *CONIC])
def test_convex(solver: str):
    """A convex constraint that is not affine is part of the problem, and of what the certificate is about.

    The default solver transforms convex constraints to rows, and is as precise as with rows alone.
    """
    for name, (constraint, x) in CONVEX.items():
        known = model().add(constraint)
        assert len(known.convex) == (name not in POLYHEDRAL)
        try:
            post = known.solve(solver)
        except SolverError:
            post = known.solve(solver, allow_inaccurate=True)
            assert post.certificate.bound > 5e-5, "refused without need"
        assert error(post, table(x)) <= post.certificate.bound + (1e-15 if solver == DEFAULT else 1e-6)
        assert solver != DEFAULT or (post.solver, post.certificate.bound < 1e-6) == (DEFAULT, True), name


@pytest.mark.parametrize("solver", CONIC)
def test_kinks(release: Release, solver: str):
    """An answer in which absolute values are 0 is certified, although no single tangent has a multiplier that fits."""

    def alike(space: Space) -> Any:
        of_sex = space.conditional("Disease", given="Gender")
        men, women = (of_sex.xs(sex, level="Gender").expr for sex in ("male", "female"))
        return cp.norm1(men - women) <= 0.29

    assert MaxEnt(release).add(alike).solve(solver).certificate.holds


#: Kinds of convex constraints on P(Gender, Disease) of the ten patients.
TOGETHER: dict[str, Callable[[Any, np.ndarray], cp.Expression]] = {
    "squares": lambda block, target: cp.sum_squares(block - target),
    "absolute values": lambda block, target: cp.norm1(block - target),
    "divergence": lambda block, target: cp.sum(cp.kl_div(block, target)),
    "the largest": lambda block, target: cp.sum_largest(block - target, 2),
    "an exponential": lambda block, target: cp.sum(cp.exp(5 * cp.abs(block - target))),
}


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # CLARABEL, of tolerances that are very tight
@pytest.mark.parametrize("names", [*itertools.pairwise(TOGETHER), tuple(TOGETHER)], ids=" and ".join)
def test_several_convex_constraints(names: tuple[str, ...], release: Release):
    """Several constraints, beside a hard and a soft statement: near the answer of a conic solver.

    Each has a multiplier or cuts of its own, which are found one after the other. All hold at a point nearer to the
    target than the answer without them is.
    """
    flu = P("Flu", given={"Gender": "male"})
    known = MaxEnt(release).add(flu <= 0.3, P("HIV", given={"Gender": "female"}).softly(0.3, sd=0.05))
    block = known.space.marginal(["Gender", "Disease"])
    now = block.matrix @ known.solve().counts / 10
    target = now * np.linspace(0.5, 1.6, len(now))
    target *= now.sum() / target.sum()
    near = known.copy().add(block.softly(pd.Series(target, block.index), sd=0.01)).solve()
    nearer = block.matrix @ near.counts / 10
    for name in names:
        least, most = (float(TOGETHER[name](cp.Constant(at), target).value) for at in (nearer, now))
        known.add(TOGETHER[name](block.expr, target) <= 0.8 * least + 0.2 * most, label=name)
    post = known.solve()
    known.problem.solve("CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    assert np.abs(known.space.counts.value - post.counts).max() <= 1e-5 + 10 * post.certificate.bound
    assert known.problem.value + 10 * np.log(10) == pytest.approx(post.objective, abs=1e-6)


@pytest.mark.parametrize("solver", CONIC)
def test_convex_contradictions(solver: str):
    """A ball that is too small, or does not intersect the statements, is a contradiction."""
    with pytest.raises(Infeasible):
        model().add(lambda space: cp.sum_squares(space.counts) <= 10.9).solve(solver)  # 11 at x = 2.5
    with pytest.raises(Infeasible):
        model().add(CONVEX["squares"][0], A >= 0.7).solve(solver)


@pytest.mark.parametrize(
    "statement", ["P(HIV | Gender=male) = 0", "P(HIV | Gender=male) <= 0", "P(HIV | Gender=male) <= 0.05"]
)
def test_more_entropy_than_there_is(release, statement: str):
    """Knowledge allows no more than its largest entropy, also beside terms that it forces to 0, where slopes are infinite."""
    known = MaxEnt(release).add(statement)
    most = known.solve().entropy
    for beyond in (-0.05, 0.05):
        again = known.copy().add(
            lambda space, beyond=beyond: cp.sum(cp.entr(space.p)) >= most + beyond, label="entropy"
        )
        if beyond < 0:
            assert again.solve().certificate.holds
            assert len(again.diagnose()) == 0
        else:
            with pytest.raises(Infeasible):
                again.solve()
            assert len(again.diagnose()) == 2


@pytest.mark.parametrize(
    "constraint",
    [
        lambda space: cp.sum_squares(space.p) >= 0.5,
        lambda space: cp.entr(space.p[0]) <= 0.1,
        lambda space: space.p[0] <= cp.Variable(),
        lambda space: cp.Variable() <= 1,
        lambda space: cp.SOC(space.p[0], space.p[1:]),
        lambda space: space.prob("s1"),
        lambda space: space.prob("s1").value,
        lambda space: MaxEnt(space.view).space.prob("s1") <= 0.5,
        lambda space: space.prob("s1") <= cp.Parameter(),
    ],
    ids=["not convex", "concave", "two variables", "another variable", "a cone",
         "no comparison", "nothing", "another model", "unset"],
)  # fmt: skip
def test_refused(constraint: Callable[[Space], Any]):
    """Constraints that are not convex, or not over this model's terms, are refused; the model stays as it was."""
    known = model()
    with pytest.raises(StatementError):
        known.add(constraint)
    assert not known.knowledge
    assert error(known.solve(), table(8 / 3)) <= 1e-6


def test_constants_are_numbers():
    """NaN satisfies no comparison and violates none, so that a statement with it would be taken to be true: refused."""
    known = model()
    for what in (np.nan, np.inf):
        target = np.append(what, np.ones(len(known.space) - 1))
        for constraint in (
            lambda p, target, what: cp.sum_squares(p - target) <= 1,
            lambda p, target, what: cp.sum_squares(p) <= what,
            lambda p, target, what: cp.sum(cp.kl_div(p, target)) <= 1,
            lambda p, target, what: cp.abs(p - target) <= 1,
            lambda p, target, what: cp.sum_squares(sp.csr_array(sp.diags_array(target)) @ p) <= 1,
        ):
            with pytest.raises(BadProbability):
                known.add(lambda space, say=constraint, target=target, what=what: say(space.p, target, what))
            assert not known.knowledge


#: P(s1 | q1) and P(s1 | q2) where the sum of squares of all counts is least.
LEAST = np.array([2.5 / 4, 1.5 / 2])


@pytest.mark.parametrize(
    "cost",
    [
        lambda y: cp.sum_squares(y - LEAST),
        lambda y: cp.norm(y - LEAST),
        lambda y: cp.sum(cp.huber(y - LEAST, 0.2)),
        lambda y: cp.sum(cp.kl_div(y, LEAST)),
        lambda y: cp.norm1(y - LEAST),
    ],
)
def test_a_limit_of_nothing_is_equations(cost: Callable[[cp.Expression], cp.Expression]):
    """A cost of at most 0 is the equation of its argument: sum (y - c)^2 <= 0 is y = c."""
    free, fixed = model(), model()
    post = free.add(cost(both(free.space)) <= 0).solve()
    assert post.certificate.holds
    exact = fixed.add(both(fixed.space) == LEAST).solve()
    np.testing.assert_allclose(post.conditional(), exact.conditional(), atol=1e-9)


def test_the_unit_of_a_constraint_does_not_matter():
    """For every c > 0, c exp(P) <= c exp(b) is P <= b, by cuts; so is c P^2 <= c b^2, by a multiplier."""
    expected = np.array([[0.64, 0.36], [0.72, 0.28]])  # x = 4 * 0.64, and 4 - x of the two in q2
    for unit, function in itertools.product((1e-12, 1e-6, 1e6, 1e12), (cp.exp, cp.square)):
        free = model()
        post = free.add(unit * function(a(free.space)) <= unit * float(function(cp.Constant(0.64)).value)).solve()
        assert np.abs(post.conditional().to_numpy() - expected).max() <= post.certificate.bound + 1e-12
        assert post.certificate.bound <= 1e-6


def test_the_order_of_summands_does_not_matter(release):
    """cp.square(a) + cp.abs(b) is not |a| + |b|."""
    answers = []
    for flip in (False, True):

        def near(space, flip=flip):
            flu, hiv = (space.prob(s, given={"Gender": "male"}) for s in ("Flu", "HIV"))
            summands = [cp.square(flu - 0.6), cp.abs(hiv - 0.2)]
            return sum(summands[::-1] if flip else summands) <= 0.15

        model = MaxEnt(release).add(near)
        answers.append(model.solve().counts)
        model.problem.solve(solver="CLARABEL")
        np.testing.assert_allclose(answers[-1], model.space.counts.value, atol=1e-3)
    np.testing.assert_allclose(*answers, atol=1e-6)


# Convex expressions that are the largest of finitely many affine ones.

M = np.array([[1.0, 2.0, 0.0], [0.0, -0.5, 3.0]])

PIECES: dict[str, Callable[[cp.Variable], Any]] = {
    "affine": lambda x: M @ x - 1,
    "absolute": lambda x: cp.abs(M @ x - 1) - 0.5,
    "largest": lambda x: cp.max(M @ x) - 1,
    "maximum": lambda x: cp.maximum(x[0], 2 * x[1], 0.3) - x[2],
    "largest norm": lambda x: cp.norm_inf(M @ x - 1) - 0.5,
    "sum of one": lambda x: cp.sum(cp.norm_inf(M @ x - 1)) - 0.5,
    "least": lambda x: 0.2 - cp.min(x),
    "minimum": lambda x: 0.2 - cp.minimum(x[0], x[1]),
    "multiple": lambda x: 3 * cp.abs(x[0] - 1) / 2 - 1,
    "negative multiple": lambda x: -2 * cp.min(x) + 1,
    "multiples in a sum": lambda x: 2 * cp.abs(x[0] - 1) - 3 * cp.minimum(x[1], x[2]) + cp.abs(x[2]) / 4 - 1,
    "a multiple of a sum": lambda x: 2 * (cp.abs(x[0]) + cp.maximum(x[1], x[2])) + cp.abs(x[1]) - 1,
    "multiple of a square": lambda x: 3 * cp.square(x[0] - 1) / 2 - 1,
    "square of one": lambda x: cp.square(x[0] - 1) - 0.25,
    "a square that nothing satisfies": lambda x: cp.square(x[0] - 1) + 0.25,
    "nothing of an absolute value": lambda x: 0 * cp.abs(x[0]) + cp.abs(x[1]) - 1,
    "squares one by one": lambda x: cp.square(x) - np.array([1.0, 2.0, 3.0]),
    "two absolute values": lambda x: cp.abs(x[0] - 1) + cp.abs(x[1] - 2) - 1.5,
    "positive and negative part": lambda x: cp.pos(x[0] - 1) + cp.neg(x[1] - 1) - 0.7,
    "few absolute values": lambda x: cp.norm1(x - 1) - 1.2,
    "a norm of one": lambda x: cp.norm(x[0] - 1, 2) - 0.5,
}
CURVED: dict[str, Callable[[cp.Variable], Any]] = {
    "squares": lambda x: cp.sum_squares(x) - 1,
    "a square of what is not constant": lambda x: cp.square(x[0]) - x[1],
    "exponential": lambda x: cp.exp(x[0]) - 2,
    "a square beside an absolute value": lambda x: cp.square(x[0]) + cp.abs(x[1]) - 1,
    "an absolute value beside a square": lambda x: cp.abs(x[1]) + 2 * cp.square(x[0]) - 1,
    "a square among the largest, in a sum": lambda x: cp.maximum(cp.square(x[0]), x[1]) + cp.abs(x[1]) - 1,
}


@given(values=st.lists(st.floats(-3, 3), min_size=3, max_size=3))
def test_pieces_say_the_same(values: list[float]):
    """Some piece is violated exactly where the constraint is."""
    x = cp.Variable(3)
    x.value = np.array(values)
    for name, function in PIECES.items():
        expression = function(x)
        pieces = affine_pieces(expression)
        assert pieces is not None
        assert all(piece.is_affine() for piece in pieces)
        written = float(np.max(expression.value))
        if abs(written) > 1e-9:
            assert (max(float(np.max(piece.value)) for piece in pieces) > 0) == (written > 0), name


def test_curved_constraints_are_no_rows():
    """A curved expression has no pieces, and neither have eight absolute values, with 256 choices of signs."""
    for function in [*CURVED.values(), lambda x: cp.norm1(cp.hstack([x, x, x])[:8]) - 1]:
        assert affine_pieces(function(cp.Variable(3))) is None
