"""Multipliers recovered from counts: they reproduce these counts, and are the derivatives of the optimum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.solvers import SOLVERS
from maxent_cvx.solvers.diagnosis.multipliers import determined, multipliers_from_counts
from maxent_cvx.solvers.program.linear_form import LinearForm
from maxent_cvx.testing.problems import PROBLEMS, Problem, find
from support.random_models import from_multipliers
from support.solving import examples

OPEN = np.inf
seeds = st.integers(0, 10**6)
HARD = [problem for problem in PROBLEMS.values() if not (problem.needs_convex or problem.needs_soft_rows)]
LINEAR = [problem for problem in HARD if problem.feasible]


def rows(matrix: object, low: object, high: object, weights: object = None) -> LinearForm:
    """A linear form, typed."""
    a = sp.csr_array(np.array(matrix, float))
    weights = None if weights is None else np.array(weights, float)
    return LinearForm.plain(a, np.array(low, float), np.array(high, float), weights)


def drawn(seed: int) -> LinearForm:
    """Draw weights, and independent equations and inequalities that a positive point satisfies."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 9))
    matrix = np.vstack([np.ones(n), rng.normal(0, 1, (int(rng.integers(1, 4)), n))])
    value, kind = matrix @ rng.uniform(0.5, 2, n), rng.choice(["==", "<=", ">=", "between"], len(matrix))
    slack = rng.uniform(0, 0.5, len(matrix))
    kind[0] = "=="
    low = np.where(kind == "==", value, np.where(kind == "<=", -OPEN, value - slack))
    high = np.where(kind == "==", value, np.where(kind == ">=", OPEN, value + slack))
    return rows(matrix, low, high, rng.uniform(0.5, 2, n))


def counts_of(form: LinearForm) -> np.ndarray:
    return SOLVERS["DUAL_NEWTON"].solve(form, tolerance=1e-12).counts


def optimum(form: LinearForm) -> float:
    """The largest sum x log(w / x)."""
    x = counts_of(form)
    return float(np.sum(x * np.log(form.weights / x)))


@examples(40)
@given(seed=seeds)
def test_they_reproduce_the_counts(seed: int):
    """The counts are w exp(A' m - 1); inactive rows have 0, and the others the sign of a side that they have."""
    exact = from_multipliers(seed)
    form, x = exact.form, exact.counts
    m = multipliers_from_counts(form, x)
    np.testing.assert_allclose(np.log(form.weights) + form.matrix.T @ m - 1, np.log(x), atol=1e-7)
    value = form.matrix @ x
    assert (m[(value > form.low + 1e-6) & (value < form.high - 1e-6)] == 0).all()
    assert (m[np.isinf(form.low)] <= 1e-6).all()
    assert (m[np.isinf(form.high)] >= -1e-6).all()


def test_inequalities_that_depend_on_each_other():
    """Multipliers with the right signs are found where the least-squares solution has several wrong ones."""
    exact = from_multipliers(256)
    m = multipliers_from_counts(exact.form, exact.counts)
    np.testing.assert_allclose(exact.form.matrix.T @ m - 1, np.log(exact.counts), atol=1e-7)
    assert (m[np.isinf(exact.form.low)] <= 0).all()
    assert (m[np.isinf(exact.form.high)] >= 0).all()


@examples(40)
@given(seed=seeds)
def test_weights(seed: int):
    """The same with weights; for independent rows these multipliers are unique."""
    form = drawn(seed)
    x = counts_of(form)
    m = multipliers_from_counts(form, x)
    np.testing.assert_allclose(form.weights * np.exp(form.matrix.T @ m - 1), x, rtol=1e-7)
    tight = form.is_equation | (np.minimum(form.matrix @ x - form.low, form.high - form.matrix @ x) <= 1e-9)
    own = np.linalg.lstsq(form.matrix[tight].toarray().T, np.log(x / form.weights) + 1, rcond=None)[0]
    np.testing.assert_allclose(m[tight], own, atol=1e-6)


@examples(15)
@given(seed=seeds)
def test_shadow_prices(seed: int):
    """Changing a row's side by h changes the optimum by -m h, by finite differences."""
    form, h = drawn(seed), 1e-4
    m = multipliers_from_counts(form, counts_of(form))
    for i in range(form.shape[0]):
        ends = []
        for step in (h, -h):
            moved = np.eye(form.shape[0])[i] * step
            ends.append(optimum(replace(form, low=form.low + moved, high=form.high + moved)))
        now = optimum(form)
        up, down = (ends[0] - now) / h, (now - ends[1]) / h
        if abs(up - down) > 1e-2 * max(
            1.0, abs(up)
        ):  # a side becomes active just here: the optimum is not differentiable
            assert min(up, down) - 1e-2 <= -m[i] <= max(up, down) + 1e-2
        else:
            assert -m[i] == pytest.approx((up + down) / 2, abs=1e-5 * max(1.0, abs(up), abs(up - down) * 1e5))


@pytest.mark.parametrize("problem", LINEAR, ids=lambda problem: problem.name.replace(" ", "_"))
def test_the_depot(problem: Problem):
    """For exactly known answers: the exact multipliers; infinite if and only if some term is forced to zero."""
    model = problem.model()
    form, x = model.form, problem.expected(model.space)
    m = multipliers_from_counts(form, x)
    assert not np.isnan(m).any()
    positive, finite = x > 0, np.where(np.isfinite(m), m, 0.0)
    infinite = np.where(np.isfinite(m), 0.0, np.sign(m))
    assert positive.all() == np.isfinite(m).all()
    if np.isfinite(m).all():
        np.testing.assert_allclose(form.weights * np.exp(form.matrix.T @ finite - 1), x, rtol=1e-6)
        if problem.dual is not None:
            fixed = determined(form)[form.n_published :]
            found = m[form.n_published :]
            np.testing.assert_allclose(found[~fixed], np.array(problem.dual)[~fixed], atol=1e-6)
    else:
        assert np.abs(form.matrix[:, ~positive].T @ np.abs(infinite)).min() > 0


def test_repeated_rows_share():
    """Three identical rows have a third of the multiplier each: the solution of minimal norm."""
    one = rows([[1, 1, 1], [1, 0, 0]], [3, 2], [3, 2])
    m = multipliers_from_counts(one, np.array([2, 0.5, 0.5]))
    three = rows([[1, 1, 1], *[[1, 0, 0]] * 3], [3, 2, 2, 2], [3, 2, 2, 2])
    shared = multipliers_from_counts(three, np.array([2, 0.5, 0.5]))
    np.testing.assert_allclose(shared, [m[0], *[m[1] / 3] * 3], atol=1e-8)
    np.testing.assert_allclose(m, [np.log(0.5) + 1, np.log(4)], atol=1e-9)


def test_forced_zeros_have_infinite_prices():
    """Three of four is the largest value: a smaller one makes zeros positive, with an infinite derivative."""
    model = find("largest value").model()
    form = model.form
    m = multipliers_from_counts(form, find("largest value").expected(model.space))
    assert m[-1] == OPEN
    slopes = []
    for h in (1e-2, 1e-4, 1e-6):
        less = replace(form, low=form.low - h * (np.arange(len(form.low)) == len(form.low) - 1))
        less = replace(less, high=less.low)
        x = counts_of(less)
        slopes.append(-np.sum(x * np.log(x)) / h)
    now = -np.sum([3 * np.log(3), 2 * np.log(2)])
    steps = [slope - now / h for slope, h in zip(slopes, (1e-2, 1e-4, 1e-6), strict=True)]
    assert steps[0] < steps[1] < steps[2]  # as log(1 / h)
    assert np.diff(steps) == pytest.approx([np.log(100)] * 2, rel=0.01)


def test_rows_that_hard_constraints_determine():
    """A linear combination of hard constraints has the multiplier 0; a row that only nearly is one has its own."""
    hard = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]]
    known = [[1, 1, 1, 1], [0, 1, 0, 1], [1, 0, 0, 0], [1, 1, 1, 0.99]]
    x = np.array([1.2, 0.8, 0.8, 1.2])
    matrix = np.array([*hard, *known])
    form = replace(rows(matrix, matrix @ x, matrix @ x), n_published=0, n_facts=3)
    np.testing.assert_array_equal(determined(form), [False] * 3 + [True, True, False, False])
    m = multipliers_from_counts(form, x)
    assert (m[3:5] == 0).all()
    np.testing.assert_allclose(np.exp(matrix.T @ m - 1), x, atol=1e-8)


def test_counts_without_multipliers():
    """Counts that are not optimal have no multipliers: all are NaN."""
    form = rows([[1, 1, 1]], [3], [3])
    assert np.isnan(multipliers_from_counts(form, np.array([2, 0.5, 0.5]))).all()
    np.testing.assert_allclose(multipliers_from_counts(form, np.ones(3)), [1.0], atol=1e-9)


def test_two_inequalities_that_say_an_equation():
    """Of two inequalities that state an equation, the one that restricts the objective has the multiplier."""
    x = np.array([2, 0.5, 0.5])
    sides = rows([[1, 1, 1], [1, 0, 0], [1, 0, 0]], [3, 2, -OPEN], [3, OPEN, 2])
    np.testing.assert_allclose(multipliers_from_counts(sides, x), [np.log(0.5) + 1, np.log(4), 0], atol=1e-8)
    x = np.array([0.5, 1.25, 1.25])
    sides = replace(sides, low=np.array([3, 0.5, -OPEN]), high=np.array([3, OPEN, 0.5]))
    np.testing.assert_allclose(multipliers_from_counts(sides, x), [np.log(1.25) + 1, 0, np.log(0.4)], atol=1e-8)
