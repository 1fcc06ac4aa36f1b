"""Projection: where it ends every row holds, and it is no further than it has to be."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.solvers.certificate.projection import project
from maxent_cvx.solvers.program.linear_form import LinearForm
from maxent_cvx.testing.problems import PROBLEMS, Problem
from support.random_models import random_model
from support.solving import examples

OPEN = np.inf
seeds = st.integers(0, 10**6)
LINEAR = [problem for problem in PROBLEMS.values() if not problem.needs_convex]
FEASIBLE = [problem for problem in LINEAR if problem.feasible]


def rows(matrix: object, low: object, high: object) -> LinearForm:
    """A linear form, typed."""
    return LinearForm.plain(sp.csr_array(np.array(matrix, float)), np.array(low, float), np.array(high, float))


def drawn(seed: int, off: float, equations: bool) -> tuple[LinearForm, np.ndarray]:
    """Draw rows that hold at a positive point, and a point about so far away, relatively."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    matrix = np.vstack([np.ones(n), rng.normal(0, 1, (k, n))])
    x = rng.uniform(0.2, 3, n)
    value, room = matrix @ x, rng.uniform(0, 0.1, k + 1)
    kind = rng.choice(["=="] if equations else ["==", "<=", ">=", "between"], k + 1)
    low = np.where(kind == "==", value, np.where(kind == "<=", -OPEN, value - room))
    high = np.where(kind == "==", value, np.where(kind == ">=", OPEN, value + room))
    return rows(matrix, low, high), x * (1 + off * rng.uniform(-1, 1, n))


def distance(form: LinearForm, x: np.ndarray) -> float:
    """The least sum (y - x)^2 / x over everything that satisfies the rows, by another solver."""
    y = cp.Variable(len(x), nonneg=True)
    a, low, high = form.matrix.toarray(), form.low, form.high
    sides = [a[np.isfinite(low)] @ y >= low[np.isfinite(low)], a[np.isfinite(high)] @ y <= high[np.isfinite(high)]]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(cp.multiply(y - x, x**-0.5))), sides)
    return float(problem.solve(solver="CLARABEL"))


@examples(60)
@given(seed=seeds, off=st.sampled_from([1e-8, 1e-4, 1e-2]))
def test_equations(seed: int, off: float):
    """With equations it is the nearest point there is, x + X A' (A X A')^-1 (b - A x), in a metric weighted by x."""
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
    """With inequalities it is not quite the nearest, but of that order; and where all rows hold nothing moves."""
    form, x = drawn(seed, off, equations=False)
    found = project(form, x, np.zeros(len(x), dtype=bool))
    assert found is not None
    assert (found >= 0).all()
    assert (form.residual(found) <= 1e-7).all()
    assert np.sum((found - x) ** 2 / x) <= 4 * distance(form, x) + 1e-7
    np.testing.assert_array_equal(project(form, found, np.zeros(len(x), dtype=bool)) is None, False)
    if (form.residual(x) == 0).all():
        np.testing.assert_array_equal(found, x)


@examples(40)
@given(seed=seeds)
def test_fixed_terms_do_not_move(seed: int):
    """Terms that are settled stay as they are, and the others make up for them; or there is no such point."""
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
    """From near the exact answer it ends near it, with no count below zero and every row satisfied."""
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
    """Rounded counts of a model, as somebody prints them, are a small way from some that satisfy all of it."""
    model, records = random_model(seed)
    counts = model.solve().counts
    found = project(model.form, counts.round(4), counts < 1e-4)
    exact = project(model.form, model.space.count(records).astype(float), np.zeros(len(counts), dtype=bool))
    np.testing.assert_array_equal(exact, model.space.count(records))  # the records that all is true of
    if found is not None:
        assert (model.form.residual(found) <= 10 * model.form.tolerance).all()
        assert np.abs(found - counts).max() <= 0.01


def test_a_term_that_would_be_negative_is_zero():
    """x1 + x2 = 1 and x1 - x2 = 1 leave nothing of x2."""
    found = project(rows([[1, 1], [1, -1]], [1, 1], [1, 1]), np.array([0.9, 0.3]), np.zeros(2, dtype=bool))
    np.testing.assert_allclose(found, [1, 0], atol=1e-8)
    assert (found >= 0).all()


@pytest.mark.parametrize(
    ("matrix", "low", "high"),
    [([[1, 1], [1, 1]], [1, 2], [1, 2]), ([[1, 1]], [-2], [-1]), ([[1, 1], [1, 0]], [1, 2], [1, OPEN])],
)
def test_where_nothing_satisfies_the_rows(matrix: list[list[float]], low: list[float], high: list[float]):
    """There is no point to move to, and none is made up."""
    assert project(rows(matrix, low, high), np.ones(2), np.zeros(2, dtype=bool)) is None


@pytest.mark.parametrize("worthless", [np.nan, np.inf])
def test_numbers_that_are_none(worthless: float):
    """From nowhere it goes nowhere."""
    form = rows([[1, 1]], [1], [1])
    assert project(form, np.array([0.5, worthless]), np.zeros(2, dtype=bool)) is None
