"""Projection: the result satisfies every row, and is as near as possible."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.solvers.certificate import project
from maxent_cvx.solvers.form import LinearForm
from support.problems import PROBLEMS, Problem
from support.random_models import random_model
from support.solving import examples

OPEN = np.inf
seeds = st.integers(0, 10**6)
LINEAR = [problem for problem in PROBLEMS.values() if not (problem.needs_convex or problem.needs_soft_rows)]
FEASIBLE = [problem for problem in LINEAR if problem.feasible]


def rows(matrix: object, low: object, high: object) -> LinearForm:
    """A linear form, typed."""
    return LinearForm.plain(sp.csr_array(np.array(matrix, float)), np.array(low, float), np.array(high, float))


def drawn(seed: int, off: float, equations: bool) -> tuple[LinearForm, np.ndarray]:
    """Draw rows that hold at a positive point, and a point at most the relative distance `off` from it."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    matrix = np.vstack([np.ones(n), rng.normal(0, 1, (k, n))])
    x = rng.uniform(0.2, 3, n)
    value, slack = matrix @ x, rng.uniform(0, 0.1, k + 1)
    kind = rng.choice(["=="] if equations else ["==", "<=", ">=", "between"], k + 1)
    low = np.where(kind == "==", value, np.where(kind == "<=", -OPEN, value - slack))
    high = np.where(kind == "==", value, np.where(kind == ">=", OPEN, value + slack))
    return rows(matrix, low, high), x * (1 + off * rng.uniform(-1, 1, n))


def distance(form: LinearForm, x: np.ndarray) -> float:
    """The least sum (y - x)^2 / x over all feasible y, by another solver."""
    y = cp.Variable(len(x), nonneg=True)
    a, low, high = form.matrix.toarray(), form.low, form.high
    sides = [a[np.isfinite(low)] @ y >= low[np.isfinite(low)], a[np.isfinite(high)] @ y <= high[np.isfinite(high)]]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(cp.multiply(y - x, x**-0.5))), sides)
    return float(problem.solve(solver="CLARABEL"))


@examples(60)
@given(seed=seeds, off=st.sampled_from([1e-8, 1e-4, 1e-2]))
def test_equations(seed: int, off: float):
    """With equations it is the nearest point in a metric weighted by x, x + X A' (A X A')^-1 (b - A x)."""
    form, x = drawn(seed, off, equations=True)
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
def test_inequalities(seed: int, off: float):
    """With inequalities it satisfies every row, where it is found; a feasible point is its own projection."""
    form, x = drawn(seed, off, equations=False)
    found = project(form, x, np.zeros(len(x), dtype=bool))
    if found is None:
        assert off > 1e-4  # far from the feasible set the active inequalities may be guessed wrong
        return
    assert (found >= 0).all()
    assert (form.residual(found) <= 1e-7).all()
    assert np.sum((found - x) ** 2 / x) >= distance(form, x) * (1 - 1e-3) - 1e-7
    np.testing.assert_array_equal(project(form, found, np.zeros(len(x), dtype=bool)) is None, False)
    if (form.residual(x) == 0).all():
        np.testing.assert_array_equal(found, x)


@pytest.mark.parametrize(("off", "mostly"), [(1e-4, 1.0), (1e-2, 0.98)])
def test_mostly_near_the_nearest(off: float, mostly: float):
    """Of points near the feasible set, and of nearly all that are further, twice the least distance is not exceeded.

    Nearly all, since active inequalities are guessed: of 1,500 points that are off by a hundredth 3 were further than
    that, and 4 had no projection; of those off by a tenth 14 and 24. The certificate is then less precise, not wrong.
    """
    near = []
    for seed in range(300):
        form, x = drawn(seed, off, equations=False)
        found = project(form, x, np.zeros(len(x), dtype=bool))
        near.append(found is not None and np.sum((found - x) ** 2 / x) <= 4 * distance(form, x) + 1e-7)
    assert np.mean(near) >= mostly


@examples(40)
@given(seed=seeds)
def test_fixed_terms_do_not_move(seed: int):
    """Fixed terms keep their counts, and the others make the rows hold; None if they cannot."""
    form, x = drawn(seed, 1e-3, equations=True)
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


@pytest.mark.parametrize("problem", FEASIBLE, ids=lambda problem: problem.name.replace(" ", "_"))
def test_near_a_known_answer(problem: Problem):
    """The projection of a point near the exact answer is near it, non-negative and feasible."""
    model = problem.model()
    form, exact = model.form, problem.expected(model.space)
    x = exact * (1 + 1e-6 * np.random.default_rng(0).uniform(-1, 1, len(exact)))
    found = project(form, x, exact == 0)
    assert found is not None
    assert (found >= 0).all()
    assert (form.residual(found) <= 10 * form.tolerance).all()
    np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_models(seed: int):
    """Counts of a model rounded to four digits are near feasible counts."""
    model, records = random_model(seed)
    counts = model.solve().counts
    found = project(model.form, counts.round(4), counts < 1e-4)
    exact = project(model.form, model.space.count(records).astype(float), np.zeros(len(counts), dtype=bool))
    np.testing.assert_array_equal(exact, model.space.count(records))  # the true records are feasible
    if found is not None:
        assert (model.form.residual(found) <= 10 * model.form.tolerance).all()
        assert np.abs(found - counts).max() <= 0.01


def test_a_term_that_would_be_negative_is_zero():
    """x1 + x2 = 1 and x1 - x2 = 1 imply x2 = 0."""
    found = project(rows([[1, 1], [1, -1]], [1, 1], [1, 1]), np.array([0.9, 0.3]), np.zeros(2, dtype=bool))
    np.testing.assert_allclose(found, [1, 0], atol=1e-8)
    assert (found >= 0).all()


@pytest.mark.parametrize(
    ("matrix", "low", "high"),
    [([[1, 1], [1, 1]], [1, 2], [1, 2]), ([[1, 1]], [-2], [-1]), ([[1, 1], [1, 0]], [1, 2], [1, OPEN])],
)
def test_where_nothing_satisfies_the_rows(matrix: list[list[float]], low: list[float], high: list[float]):
    """Infeasible rows have no projection."""
    assert project(rows(matrix, low, high), np.ones(2), np.zeros(2, dtype=bool)) is None


@pytest.mark.parametrize("worthless", [np.nan, np.inf])
def test_numbers_that_are_none(worthless: float):
    """From nowhere it goes nowhere."""
    form = rows([[1, 1]], [1], [1])
    assert project(form, np.array([0.5, worthless]), np.zeros(2, dtype=bool)) is None
