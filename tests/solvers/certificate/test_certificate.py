"""The certificate is honest: no answer, wherever it comes from, is further from the exact one than its bound."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import cvxpy as cp
import mpmath as mp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import entr

from maxent_cvx import MaxEnt, P
from maxent_cvx.solvers.answer import Answer, Status
from maxent_cvx.solvers.backends import SOLVERS
from maxent_cvx.solvers.certificate import (
    ACCURACY,
    Allowance,
    Certificate,
    ConvexTerms,
    certify,
    fitted,
    gaps_of_terms,
    project,
)
from maxent_cvx.solvers.convex import read_budget
from maxent_cvx.solvers.costs import Penalties
from maxent_cvx.solvers.form import Groups, LinearForm, Settled
from support.problems import CONTRADICTORY, PROBLEMS, SOLVABLE, publish, square_dual
from support.random_models import Exact, from_multipliers, linear_form, random_rows
from support.solving import error, examples, solution

#: The gap is known to about 1e-16 of its terms, and the bound is its square root.
ROUNDING = 1e-12
#: The indicator of the term (q1, s1) of the two by two.
FIRST = np.array([1, 0, 0, 0])
seeds = st.integers(0, 10**6)
#: From roundoff to more than all records.
sizes = st.floats(-9, 1).map(lambda exponent: 10**exponent)
KINDS = ("nothing", "cycle", "feasible", "anywhere", "negative", "multipliers", "cycle and multipliers")


@cache
def solved_by_hand(name: str) -> Exact:
    """A problem with a known answer, and the multipliers that the default solver finds."""
    model = PROBLEMS[name].model()
    found = solution(model, presolve=False, allow_inaccurate=True).answer.multipliers
    q, s = model.space.codes["q"], model.space.codes["s"]
    return Exact(model.form, PROBLEMS[name].expected(model.space), found, q, s, model.view.n_q)


def spoil(exact: Exact, kind: str, size: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Perturb counts in the null space of published rows or all rows, arbitrarily, or below zero; or multipliers."""
    rng = np.random.default_rng(seed)
    x, m = exact.counts.copy(), exact.multipliers.copy()
    if "cycle" in kind:  # q1 takes more of s1, and less of s2; q2 the other way round
        published = exact.form.matrix[: exact.form.n_published].toarray()
        for null in rng.permutation(null_vectors(published))[:1]:
            x += null * min(size, 0.9 * longest_step(x, null))
    if kind == "feasible":
        for null in rng.permutation(null_vectors(exact.form.matrix.toarray()))[:1]:
            x += null * min(size, 0.9 * longest_step(x, null))
    if kind == "anywhere":
        x *= np.exp(size * rng.normal(size=len(x)))
    if kind == "negative":
        x[rng.integers(len(x))] = -size
    if "multipliers" in kind:
        m += size * rng.normal(size=len(m))
    return x, m


def null_vectors(matrix: np.ndarray) -> np.ndarray:
    """A basis of the null space, one vector per row, with largest entry 1."""
    _, values, vectors = np.linalg.svd(matrix)
    null = vectors[(values > 1e-9).sum() :]
    return null / np.abs(null).max(axis=1, keepdims=True)


def longest_step(x: np.ndarray, direction: np.ndarray) -> float:
    """The longest step along a direction before a term is negative."""
    return float(min(x[direction < 0] / -direction[direction < 0], default=0.0))


#: Drawn problems, and known ones with zeros, redundant rows, or buckets of very different sizes.
exact_problems = st.one_of(
    seeds.map(from_multipliers), st.sampled_from([problem.name for problem in SOLVABLE]).map(solved_by_hand)
)


@examples(150)
@given(exact=exact_problems, kind=st.sampled_from(KINDS), size=sizes, seed=seeds)
def test_honest(exact: Exact, kind: str, size: float, seed: int):
    """However an answer is perturbed, no P(s | q) is further from the exact one than the bound."""
    counts, multipliers = spoil(exact, kind, size, seed)
    certificate = exact.certify(counts, multipliers)
    assert exact.error(counts) <= certificate.bound + ROUNDING


@examples(30)
@given(seed=seeds, size=st.floats(-9, -2).map(lambda exponent: 10**exponent))
def test_honest_about_fixed_terms(seed: int, size: float):
    """Fixed terms, which are known only up to a width, may be anywhere within it."""
    exact, rng = from_multipliers(seed), np.random.default_rng(seed)
    fixed = rng.random(len(exact.counts)) < rng.choice([0.3, 1])
    width = np.where(fixed, size * exact.counts, 0.0)
    counts = exact.counts + rng.choice([-1, 1]) * width
    groups = Groups(exact.q, exact.n_q)
    certificate = certify(exact.form, groups, counts, exact.multipliers, Settled(fixed, width))
    assert exact.error(counts) <= certificate.bound + ROUNDING


def test_a_fixed_term_moves_others():
    """If n(q1, s1) is known up to a width, so are the other terms of the bucket, also those of q2."""
    exact = solved_by_hand("inactive between")
    for width in (1e-8, 1e-4, 0.1):
        counts = exact.counts + width * np.array([-1, 1, 1, -1])
        published = exact.form.matrix[:4].T.toarray()[1:]
        multipliers = np.append(np.linalg.lstsq(published, np.log(counts[1:]) + 1)[0], 0.0)
        settled = Settled(FIRST == 1, width * FIRST)
        certificate = certify(exact.form, Groups(exact.q, exact.n_q), counts, multipliers, settled)
        assert width / 2 <= certificate.bound + ROUNDING <= 10 * width


@given(seed=seeds)
def test_useful(seed: int):
    """The exact answer is certified, with a bound well below the threshold: honesty is not achieved by refusing all."""
    exact = from_multipliers(seed)
    certificate = exact.certify(exact.counts, exact.multipliers)
    assert certificate.holds
    # Divergences are of second order in roundoff. Of inequalities that depend on each other some are inactive by
    # roundoff, which is a slack; the bound is the square root of the gap divided by the records of a group.
    assert certificate.bound <= 1e-6 / np.sqrt(min(1.0, exact.n_q.min()))
    assert certificate.gap <= 1e-12
    assert certificate.clipped == 0


@given(seed=seeds, size=st.floats(-6, -3).map(lambda exponent: 10**exponent))
def test_proportionate(seed: int, size: float):
    """Multipliers with an error d have a gap of order d^2: the bound is proportional to the error."""
    exact = from_multipliers(seed)
    _, multipliers = spoil(exact, "multipliers", size, seed)
    multipliers = np.where(exact.multipliers == 0, 0.0, multipliers)  # inactive rows keep the multiplier 0
    certificate = exact.certify(exact.counts, multipliers)
    # With e = A' d, the gap is sum x (exp(e) - 1 - e), at most sum x e^2 for |e| < 1.
    e = exact.form.matrix.T @ (multipliers - exact.multipliers)
    assert certificate.gap <= exact.counts @ e**2 + 1e-9


def test_nothing_satisfies_contradictions():
    """Where no distribution satisfies the rows the bound is infinite."""
    for problem in CONTRADICTORY:
        posed = problem.model().posed
        certificate = certify(posed.form, posed.groups, posed.closed_form.counts, posed.start)
        assert certificate.bound == np.inf
        assert not certificate.holds


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_bucket_with_more_people_than_values(sign: int):
    """Published rows that contradict each other, if only by 1e-11 of their values, are not certified."""
    for seed in range(5):
        exact = from_multipliers(seed)
        off = np.where(np.arange(len(exact.multipliers)) == 0, sign * 1e-11 * exact.form.low, 0.0)
        form = replace(exact.form, low=exact.form.low + off, high=exact.form.high + off)
        bound = certify(form, Groups(exact.q, exact.n_q), exact.counts, exact.multipliers).bound
        assert bound == np.inf


def test_an_inequality_that_contradicts_equations():
    """If P(s1 | q1) = 0.4 is known, a limit of less is not certified, however close, unless reported as moved."""
    exact = solved_by_hand("a multiple and a bound")
    is_limit = np.isinf(exact.form.low)
    for off in (-1e-9, -1e-11, 1e-11):
        form = replace(exact.form, high=np.where(is_limit, exact.form.high * (1 + off), exact.form.high))
        certificate = certify(form, Groups(exact.q, exact.n_q), exact.counts, exact.multipliers)
        assert (certificate.bound == np.inf or certificate.backward > 0) == (off < 0)


def test_worthless_answers():
    """Counts that are NaN, zero, negative or infinite are not certified, without an exception."""
    exact = from_multipliers(1)
    for worthless in (np.nan, 0.0, -1.0, np.inf):
        assert not exact.certify(np.full(len(exact.counts), worthless), exact.multipliers).holds
    assert not exact.certify(exact.counts, np.full(len(exact.multipliers), np.nan)).holds


@given(seed=seeds, size=sizes)
def test_clipped(seed: int, size: float):
    """A negative count is set to zero, and its size is reported."""
    exact = from_multipliers(seed)
    counts = exact.counts.copy()
    counts[seed % len(counts)] = -size
    certificate = exact.certify(counts, exact.multipliers)
    assert certificate.clipped == size
    counts[seed % len(counts)] = 0.0
    assert certificate.residual == exact.form.residual(counts).max()


#: Problems with the counts of SQUARE and one row of knowledge on P(s1 | q1), hard or soft.
ONE_ROW = [
    "inactive between",
    "met at a price below its weight",
    "missed at a price of its weight",
    "missed beyond delta",
]
ONE_ROW += ["missed within delta", "softly at most, and it is", "softly at most, and it is more", "softly between"]


@pytest.mark.parametrize("name", ONE_ROW)
def test_multipliers_of_another_answer(name: str):
    """Counts that match the multipliers are not the answer if complementary slackness, or the slope of a cost, is violated.

    Of a hard row, the gap is |m| times the slack of the side that the sign of m refers to.
    """
    exact = solved_by_hand(name)
    published = exact.form.matrix[:4].T.toarray()
    for x in (1.21, 1.6, 1.99, 2.01, 2.4, 2.79):
        counts = np.array([x, 4 - x, 3 - x, x - 1])
        m = square_dual(x)
        multipliers = np.append(np.linalg.lstsq(published, np.log(counts) + 1 - m * FIRST)[0], m)
        np.testing.assert_allclose(exact.form.matrix.T @ multipliers - 1, np.log(counts), atol=1e-12)
        certificate = exact.certify(counts, multipliers)
        assert certificate.residual <= 1e-9
        assert exact.error(counts) <= certificate.bound + ROUNDING
        if name == "inactive between":
            assert certificate.gap == pytest.approx(abs(m) * (x - 1.2 if m > 0 else 2.8 - x), rel=1e-6)


def test_a_multiplier_with_the_wrong_sign():
    """A multiplier with the sign of a side that its row lacks proves nothing, however close the answer."""
    for name, sign in (("active at most", 1), ("active at least", -1)):
        exact = solved_by_hand(name)
        assert exact.certify(exact.counts, exact.multipliers).bound <= ACCURACY
        assert exact.certify(exact.counts, np.append(exact.multipliers[:-1], sign * 1e-9)).bound == np.inf


# -- the divergence of counts from those of the multipliers ---------------------------------------------------------


def exactly(form: LinearForm, x: np.ndarray, multipliers: np.ndarray, shift: float = 0.0) -> list[mp.mpf]:
    """KL(x || y), x log(x / y) - x + y, to fifty digits; `shift` is added to log y."""
    divergences = []
    with mp.workdps(50):
        for count, column in zip(x.tolist(), form.matrix.toarray().T, strict=True):
            log_y = mp.fdot(column, multipliers) - 1 + shift
            divergences.append((count * (mp.log(count) - log_y) if count else 0) - count + mp.exp(log_y))
    return divergences


@given(seed=seeds, off=st.floats(-16, 0).map(lambda power: 10.0**power))
def test_divergence(seed: int, off: float):
    """Compared with fifty digits, for relative errors of the answer from roundoff to 1, and the same of log y."""
    exact, rng = from_multipliers(seed), np.random.default_rng(seed)
    x = exact.counts * np.exp(off * rng.normal(size=len(exact.counts)))
    x[rng.random(len(x)) < 0.1] = 0.0
    _, found = gaps_of_terms(exact.form, x, exact.multipliers)
    for claimed, true, count in zip(found, exactly(exact.form, x, exact.multipliers), x, strict=True):
        assert claimed >= float(true) * (1 - 1e-12)
        assert claimed <= 2 * float(true) + 1e-24 * max(count, 1.0)
    _, found = gaps_of_terms(exact.form, x, exact.multipliers, off)
    for shift in (-off, off):
        assert (found >= np.array(exactly(exact.form, x, exact.multipliers, shift), dtype=float) * (1 - 1e-12)).all()


def test_divergence_far_away():
    """Counts beyond the range of exp give a finite bound."""
    exact = from_multipliers(3)
    for x in (1e-320, 1e-200, 1e200):
        _, found = gaps_of_terms(exact.form, np.full(len(exact.counts), x), exact.multipliers)
        assert np.isfinite(found).all()
        assert (found > 0).all()


# -- projection on the rows -----------------------------------------------------------------------------------------


def moved(x: np.ndarray, off: float, seed: int) -> np.ndarray:
    """A point at most a relative distance away."""
    return x * (1 + off * np.random.default_rng(seed).uniform(-1, 1, len(x)))


def nearest(form: LinearForm, x: np.ndarray) -> float:
    """The least sum (y - x)^2 / x over all feasible y, by another solver."""
    y = cp.Variable(len(x), nonneg=True)
    a, low, high = form.matrix.toarray(), form.low, form.high
    sides = [a[np.isfinite(low)] @ y >= low[np.isfinite(low)], a[np.isfinite(high)] @ y <= high[np.isfinite(high)]]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(cp.multiply(y - x, x**-0.5))), sides)
    return float(problem.solve(solver="CLARABEL"))


@examples(60)
@given(seed=seeds, off=st.sampled_from([1e-8, 1e-4, 1e-2]))
def test_projection_on_equations(seed: int, off: float):
    """The projection is the nearest point in a metric weighted by x, x + X A' (A X A')^-1 (b - A x)."""
    form, at = random_rows(seed, 0.1, equations=True)
    x = moved(at, off, seed)
    before = x.copy()
    found = project(form, x, np.zeros(len(x), dtype=bool))
    assert found is not None
    np.testing.assert_array_equal(x, before)
    assert (form.residual(found) <= 1e-8).all()
    a = form.matrix.toarray()
    step = x * (a.T @ np.linalg.lstsq((a * x) @ a.T, form.low - a @ x, rcond=None)[0])
    np.testing.assert_allclose(found - x, step, atol=1e-6 * off + 1e-8)


@examples(40)
@given(seed=seeds, off=st.sampled_from([1e-4, 1e-2, 0.1]))
def test_projection_on_inequalities(seed: int, off: float):
    """The result satisfies every row, where it is found; a feasible point is its own projection.

    Near the feasible set it is always found, and at most at twice the least distance. Further away the active
    inequalities may be guessed wrong.
    """
    form, at = random_rows(seed, 0.1)
    x = moved(at, off, seed)
    found = project(form, x, np.zeros(len(x), dtype=bool))
    if found is None:
        assert off > 1e-4
        return
    assert (found >= 0).all()
    assert (form.residual(found) <= 1e-7).all()
    away, least = np.sum((found - x) ** 2 / x), nearest(form, x)
    assert away >= least * (1 - 1e-3) - 1e-7
    assert off > 1e-4 or away <= 4 * least + 1e-7
    assert project(form, found, np.zeros(len(x), dtype=bool)) is not None
    if (form.residual(x) == 0).all():
        np.testing.assert_array_equal(found, x)


@examples(40)
@given(seed=seeds)
def test_fixed_terms_do_not_move(seed: int):
    """Fixed terms keep their counts, and the others make the rows hold; None if they cannot."""
    form, at = random_rows(seed, 0.1, equations=True)
    x = moved(at, 1e-3, seed)
    fixed = np.random.default_rng(seed).random(len(x)) < 0.3
    found = project(form, x, fixed)
    a, free = form.matrix.toarray(), ~fixed
    missing = form.low - a @ x
    solvable = np.linalg.lstsq(a[:, free], missing, rcond=None)[0] if free.any() else np.empty(0)
    if np.abs(a[:, free] @ solvable - missing).max() > 1e-6:
        assert found is None
    else:
        assert found is not None
        np.testing.assert_array_equal(found[fixed], x[fixed])
        assert (form.residual(found) <= 1e-7).all()


def test_no_projection():
    """Infeasible rows have none, nor have points that are no numbers."""
    for form, x in (
        (([[1, 1], [1, 1]], [1, 2], [1, 2]), [1, 1]),
        (([[1, 1]], [-2], [-1]), [1, 1]),
        (([[1, 1], [1, 0]], [1, 2], [1, np.inf]), [1, 1]),
        (([[1, 1]], [1], [1]), [0.5, np.nan]),
        (([[1, 1]], [1], [1]), [0.5, np.inf]),
    ):
        assert project(linear_form(*form), np.array(x, float), np.zeros(2, dtype=bool)) is None


# -- convex constraints: also one without a multiplier couples what it is about -------------------------------------

#: Twice two by two: n(q1, s1) = x, then 4 - x, 4 - x, x - 2, for 2 <= x <= 4, and the same of a hundred times as many,
#: n(q3, s3) = y. By eq. (9) x = 16/6, and y a hundred times that.
TWICE = (("q1*4 q2*2", "s1*4 s2*2"), ("q3*400 q4*200", "s3*400 s4*200"))
X, Y = 16 / 6, 1600 / 6


def table(x: float, y: float) -> np.ndarray:
    """The counts of both buckets, in the order of the terms."""
    return np.array([x, 4 - x, 4 - x, x - 2, y, 400 - y, 400 - y, y - 200])


def optimal(most: float) -> float:
    """The x of the largest entropy with 10 x + y = most."""
    found = minimize_scalar(
        lambda x: -float(entr(table(x, most - 10 * x)).sum()), bounds=(2, 4), method="bounded", options={"xatol": 1e-12}
    )
    return float(found.x)


def certified(most: float, x: float, y: float, name: str) -> Certificate:
    """Certify (x, y) for 10 x + y <= most, written as a convex constraint whose multiplier is 0.

    Statements that are always true keep the buckets from being solved in closed form.
    """
    model = MaxEnt(publish(TWICE)).add(*(P(s, given={"Q": q}) >= 0.5 for s, q in (("s1", "q1"), ("s3", "q3"))))
    multipliers = solution(model).answer.multipliers
    counts = cp.Variable(len(model.space), nonneg=True)
    both = 10 * counts[0] + counts[4]
    budget = read_budget(
        cp.square(both - 200) - (most - 200) ** 2 if name == "squares" else cp.pos(both - most / 2) - most / 2,
        counts,
        name,
    )
    assert budget is not None
    rows = replace(LinearForm.plain(budget.matrix, budget.low, budget.high), penalties=budget.penalties)
    none = np.empty(0, dtype=np.int64)
    allowance = Allowance(rows, budget.linear, budget.limit, budget.magnitude, 0.0, none, 0.0)
    return certify(model.form, model.posed.groups, table(x, y), multipliers, convex=ConvexTerms([allowance]))


@pytest.mark.parametrize("name", ["squares", "parts"])
def test_allowances(name: str):
    """A constraint over two buckets couples them: at x = 16/6 the first bucket alone has no duality gap.

    The gap of the second is small for 400 people, and not for four. A constraint that is never active couples nothing,
    and a violation is measured.
    """
    for lacking in (1.0, 5.0, 20.0):
        most = 10 * X + Y - lacking
        for x in (X, optimal(most)):
            assert certified(most, x, most - 10 * x, name).bound >= abs(x - optimal(most)) / 4
    inactive = certified(10 * X + Y + 0.1, X, Y, name)
    assert inactive.backward == 0
    assert inactive.bound <= 1e-7
    assert 1e-10 < certified((10 * X + Y) * (1 - 1e-9), X, Y, name).backward < 1e-8
    assert not certified(10 * X + Y - 1, X, Y, name).holds


#: Variance, largest slope and temperature of an absolute error, a square, Huber's cost and a divergence.
COSTS = {"absolute": (0, 1.5, 0), "square": (0.3, np.inf, 0), "huber": (0.7, 1, 0), "divergence": (0, np.inf, 0.6)}


@pytest.mark.parametrize("cost", COSTS)
@examples(40)
@given(seed=seeds, size=st.floats(-3, 1).map(lambda exponent: 10**exponent))
def test_what_a_constraint_leaves_nearby(cost: str, seed: int, size: float):
    """At every point within the moves, C(x'') + g x'' has at most the slack and at most the violation."""
    rng, v, u, t = np.random.default_rng(seed), *COSTS[cost]
    x, row, linear = rng.uniform(0.5, 4, 3), rng.integers(0, 2, 3), rng.normal(size=3) * rng.integers(2)
    value = float(row @ x)
    low, high = (0.0, 0.0) if t else (value + size * rng.normal(), rng.choice([np.inf, value + size * rng.normal()]))
    low, high = min(low, high), max(low, high)
    penalties = Penalties(*(np.array([each]) for each in (v, u, t, max(value, 0.5) * np.exp(size * rng.normal()))))
    rows = replace(
        LinearForm.plain(sp.csr_array(row[None].astype(float)), np.array([low]), np.array([high])), penalties=penalties
    )
    points = np.clip(x + size * rng.uniform(-1, 1, (100, 3)) * rng.integers(0, 2, 3), 0, None)
    points[0] = x
    moves = np.abs(points - x).max(axis=0)
    for is_exact in (np.array([False]), np.array([True])):
        is_met = is_exact[0] and v == t == 0  # a row with an absolute error that x'' satisfies exactly
        missed = np.maximum(np.maximum(low - points @ row, points @ row - high), 0) * (not is_met)
        spent = points @ linear + np.array([penalties.cost(each[None])[0] for each in missed])
        limit = float(np.median(spent))
        allowance = Allowance(rows, linear, limit, 3.0, 2.0, np.zeros(1, dtype=int), 0.0)
        met = allowance.met(is_exact)
        slack, violation = allowance.left(x, moves, met, is_movable=False)
        assert 2 * (limit - spent.min()) <= slack + 1e-12
        assert (spent.max() - limit) / 3 <= violation + 1e-12
        here = 2 * max(limit - spent[0], 0), max(spent[0] - limit, 0) / 3
        assert allowance.left(x, 0 * moves, met, is_movable=False) == pytest.approx(here, rel=1e-10, abs=1e-11)


@examples(40)
@given(seed=seeds, ratio=st.sampled_from([0.5, 0.99, 1.0, 1.01]))
def test_an_active_constraint(seed: int, ratio: float):
    """With sum x = N and g x <= limit the answer is N exp(-t g) / sum exp(-t g): that for another t is not certified.

    A larger t leaves slack, which the gap includes, and a smaller one violates the constraint.
    """
    rng = np.random.default_rng(seed)
    g, n, t = rng.normal(size=4), rng.uniform(1, 100), rng.uniform(0.1, 2)
    right, found = (n * np.exp(-t * by * g) / np.exp(-t * by * g).sum() for by in (1, 1 / ratio))
    form = linear_form([[1] * 4], [n], [n], np.exp(-t / ratio * g))
    no_rows = replace(linear_form(np.zeros((0, 4)), [], []), penalties=Penalties(np.empty(0), np.empty(0)))
    allowance = Allowance(no_rows, g, float(g @ right), 1.0, t / ratio, np.empty(0, dtype=int), 1e-12)
    multiplier = np.log(n / np.exp(-t / ratio * g).sum()) + 1
    groups, terms = Groups(np.zeros(4, dtype=int), np.array([n])), ConvexTerms([allowance])
    bound = certify(form, groups, found, np.array([multiplier]), convex=terms).bound
    assert np.abs(found - right).max() / n <= bound + ROUNDING
    assert (bound <= 1e-5) == (ratio == 1)


# -- multipliers that are fitted to an answer, and certificates of counts by a certified point nearby ------------------


class Noisy:
    """A solver that changes each count of the default solver by a share of up to `noise`, without useful multipliers."""

    name = "NOISY"
    takes_soft_rows = takes_convex = True

    def __init__(self, noise: float, multipliers: str = "none") -> None:
        self.noise, self.multipliers = noise, multipliers
        self.generator = np.random.default_rng(7)

    def solve(self, form, start=None, convex=None):
        solver = SOLVERS["CLARABEL" if convex else "DUAL_NEWTON"]
        answer = solver.solve(form, convex=convex) if convex else solver.solve(form)
        counts = answer.counts * (1 + self.noise * self.generator.uniform(-1, 1, len(answer.counts)))
        nonsense = self.generator.normal(size=form.shape[0])
        return Answer(Status.OPTIMAL, counts, None if self.multipliers == "none" else nonsense)


def test_multipliers_of_exact_counts():
    """Where x = w exp(A' m - 1), and its equations and active inequalities are known, the fit has the same A' m."""
    for seed in range(4):
        exact = from_multipliers(seed)
        form, n = exact.form, exact.form.n_published
        fit = fitted(form, exact.counts, np.zeros(form.shape[0]))
        assert fit is not None
        np.testing.assert_allclose(form.exponent(fit), np.log(exact.counts), atol=1e-6)
        assert (fit[n:][np.isinf(form.high[n:])] >= 0).all()
        assert (fit[n:][np.isinf(form.low[n:])] <= 0).all()


@pytest.mark.parametrize("multipliers", ["none", "nonsense"])
def test_bounds_hold_whatever_the_multipliers(multipliers: str):
    """The certified error is at least the true one; counts that are right to far below 1e-4 are certified."""
    for i, problem in enumerate(SOLVABLE[::2]):
        model, noise = problem.model(), [1e-9, 1e-6, 3e-5, 1e-2][i % 4]
        post = model.solve(Noisy(noise, multipliers), allow_inaccurate=True)
        assert error(post, problem.expected(model.space)) <= post.certificate.bound + 1e-12
        assert post.certificate.holds or noise > 3e-5


def test_bounds_beside_a_convex_constraint(release):
    """Bounds hold beside a convex constraint, whose multiplier is fitted, too."""
    male = {"Gender": "male"}
    model = MaxEnt(release).add(lambda space: cp.square(space.prob("Flu", given=male) - 0.2) <= 0.01)
    exact = MaxEnt(release).add(P("Flu", given=male) <= 0.3).solve()
    for noise in (1e-8, 1e-5, 1e-2):
        post = model.solve(Noisy(noise), allow_inaccurate=True)
        assert error(post, exact.counts) <= post.certificate.bound + 1e-6
        assert post.certificate.holds == (noise < 1e-2)
