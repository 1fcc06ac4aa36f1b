"""Propagated bounds are valid: no feasible point, and no optimum of a linear program, is outside of them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import OptimizeResult, linprog

from maxent_cvx import Infeasible
from maxent_cvx.solvers.form import LinearForm
from maxent_cvx.solvers.presolve import ActivityBounds, term_bounds
from support.solving import examples

OPEN = np.inf
#: The upper bound of every term without any row.
N = 20
seeds = st.integers(0, 10**6)


class Named(LinearForm):
    """A form without origin whose rows have names for errors."""

    def name(self, row: int) -> str:
        return f"row {row}"


def rows(matrix: object, low: object, high: object, n_published: int = 0) -> LinearForm:
    """A linear form, typed; its first rows may be published ones, which have no negative coefficient."""
    a, low, high = sp.csr_array(np.array(matrix, float)), np.array(low, float), np.array(high, float)
    return replace(Named.plain(a, low, high), n_published=n_published, n_facts=n_published)


def drawn(seed: int, coefficients: list[float], width: float = 3.0) -> tuple[LinearForm, np.ndarray]:
    """Draw equations and inequalities, some with one side, and integers that satisfy all of them exactly.

    Sums of integer multiples of the coefficients must be exact in doubles.
    """
    rng = np.random.default_rng(seed)
    n_terms, n_rows, n_published = int(rng.integers(2, 7)), int(rng.integers(1, 7)), int(rng.integers(0, 3))
    x = rng.integers(0, 5, n_terms) * rng.integers(0, 2, n_terms).astype(float)
    known = rng.choice([0.0, *coefficients], (n_rows, n_terms), p=[0.4, *[0.6 / len(coefficients)] * len(coefficients)])
    published = rng.integers(0, 2, (n_published, n_terms)).astype(float)
    matrix = np.vstack([published, known])
    matrix = matrix[np.abs(matrix).max(axis=1) > 0]
    n_published = int((published.max(axis=1) > 0).sum())
    value, kind = matrix @ x, rng.choice(["==", "<=", ">=", "between"], len(matrix))
    kind[:n_published] = "=="
    room = np.rint(rng.uniform(0, width, len(matrix)) * 4) / 4
    low = np.where(kind == "==", value, np.where(kind == "<=", -OPEN, value - room))
    high = np.where(kind == "==", value, np.where(kind == ">=", OPEN, value + room))
    return rows(matrix, low, high, n_published), x


def extreme(form: LinearForm, cost: np.ndarray) -> OptimizeResult:
    """The least cost' x over everything from 0 to N that satisfies the rows, by a linear program."""
    a, upper, lower = form.matrix.toarray(), np.isfinite(form.high), np.isfinite(form.low)
    sides = np.concatenate([form.high[upper], -form.low[lower]])
    return linprog(cost, np.vstack([a[upper], -a[lower]]), sides, bounds=(0, N), method="highs")


def ranges(form: LinearForm) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest value of each term."""
    ends = []
    for sign in (1, -1):
        found = [extreme(form, sign * unit) for unit in np.eye(form.shape[1])]
        assert all(one.success for one in found)
        ends.append(np.array([sign * one.fun for one in found]))
    return ends[0], ends[1]


@pytest.mark.parametrize("coefficients", [[1.0], [1.0, -1.0], [1.0, -1.0, 2.0, -0.5, 3.0], [1.0, 2.0**-20, -(2.0**12)]])
@given(seed=seeds)
def test_nothing_feasible_is_outside(coefficients: list[float], seed: int):
    """Optima of linear programs are within the bounds, and exactly feasible points are, to the last bit."""
    form, x = drawn(seed, coefficients)
    lower, upper = term_bounds(form, N)
    least, most = ranges(form)
    off = 1e-6 / min(map(abs, coefficients))  # HiGHS violates a row by up to 1e-7, which a small coefficient enlarges
    assert (lower <= least + off).all()
    assert (most <= upper + off).all()
    assert (lower <= x).all()
    assert (x <= upper).all()


@examples(100)
@given(seed=seeds)
def test_rounded_outwards(seed: int):
    """For coefficients and sides of any size, points that are feasible in rational arithmetic are within the bounds."""
    rng = np.random.default_rng(seed)
    n_terms, n_rows = int(rng.integers(1, 6)), int(rng.integers(1, 6))
    matrix = rng.normal(0, 1, (n_rows, n_terms)) * rng.choice([0.0, 1e-6, 1.0, 1.0, 1e3], (n_rows, n_terms))
    matrix = matrix[np.abs(matrix).max(axis=1) > 0]
    matrix /= np.abs(matrix).max(axis=1, initial=1e-300, keepdims=True)
    x = rng.uniform(0, N, n_terms) * rng.integers(0, 2, n_terms)
    exact = [sum((Fraction(a) * Fraction(v) for a, v in zip(row, x, strict=True)), Fraction(0)) for row in matrix]
    low = np.array([_beyond(value, -1) for value in exact])
    high = np.array([_beyond(value, 1) for value in exact])
    side = rng.choice(["both", "low", "high"], len(matrix))
    form = rows(matrix.reshape(-1, n_terms), np.where(side == "high", -OPEN, low), np.where(side == "low", OPEN, high))
    lower, upper = term_bounds(form, N)
    assert (lower <= x).all()
    assert (x <= upper).all()


def _beyond(value: Fraction, sign: int) -> float:
    """The double next to a number, on one side of it."""
    near = float(value)
    return near if sign * (Fraction(near) - value) >= 0 else float(np.nextafter(near, sign * OPEN))


@examples(100)
@given(seed=seeds)
def test_rounded_outwards_where_all_terms_are_fixed(seed: int):
    """So they are where rows fix one term after the other, and only roundoff is left between the bounds."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    matrix = np.tril(rng.normal(0, 1, (n, n)))
    np.fill_diagonal(matrix, rng.choice([-1.0, 1.0], n) * rng.uniform(0.5, 1, n))
    matrix /= np.abs(matrix).max(axis=1, keepdims=True)
    x = rng.uniform(1, N / 2, n)
    exact = [sum((Fraction(a) * Fraction(v) for a, v in zip(row, x, strict=True)), Fraction(0)) for row in matrix]
    form = rows(matrix, [_beyond(value, -1) for value in exact], [_beyond(value, 1) for value in exact])
    lower, upper = term_bounds(form, N)
    assert (lower <= x).all()
    assert (x <= upper).all()
    assert (upper - lower <= 1e-5).all()


@given(seed=seeds)
def test_infeasible_only_if_it_is(seed: int):
    """Rows that are refused as contradictory are infeasible by a linear program, too."""
    form, _ = drawn(seed, [1.0, -1.0, 2.0])
    rng = np.random.default_rng(seed)
    moved = np.where(rng.random(form.shape[0]) < 0.5, rng.integers(-6, 7, form.shape[0]), 0)
    moved[: form.n_published] = np.maximum(moved[: form.n_published], -form.low[: form.n_published])
    form = replace(form, low=form.low + moved, high=form.high + moved)
    try:
        lower, upper = term_bounds(form, N)
    except Infeasible:
        assert extreme(form, np.zeros(form.shape[1])).status == 2
    else:
        assert (lower <= upper).all()


@pytest.mark.parametrize(
    ("row", "low", "high"),
    [
        ([1, 1], 41, OPEN),  # two terms of at most 20
        ([1, 1], -OPEN, -1),
        ([1, -1], 21, OPEN),
        ([-1, -0.5], 1, 1),
        ([0, 0], 1, 1),
    ],
)
def test_one_row_that_cannot_hold(row: list[float], low: float, high: float):
    """A row whose side is beyond its activity bounds is refused."""
    assert extreme(rows([row], [low], [high]), np.zeros(2)).status == 2
    with pytest.raises(Infeasible):
        term_bounds(rows([row], [low], [high]), N)


@given(seed=seeds)
def test_one_row_is_exact(seed: int):
    """For a single row the bounds are the exact ranges of the terms."""
    rng = np.random.default_rng(seed)
    row = rng.choice([-2.0, -1.0, -0.3, 0.0, 0.7, 1.0, 3.0], int(rng.integers(1, 6)))
    value = float(row @ rng.uniform(0, N, len(row)))
    low, high = [(value, value), (-OPEN, value), (value, OPEN), (value - 1, value + 1)][int(rng.integers(4))]
    form = rows([row], [low], [high])
    for found, end in zip(term_bounds(form, N), ranges(form), strict=True):
        np.testing.assert_allclose(found, end, atol=1e-5)


@given(seed=seeds)
def test_activity(seed: int):
    """The least and the largest value of a row over a box are attained at vertices of the box."""
    form, _ = drawn(seed, [1.0, -1.0, 2.0, -0.5])
    rng = np.random.default_rng(seed)
    lower = rng.integers(0, 5, form.shape[1]).astype(float)
    upper = lower + rng.integers(0, 5, form.shape[1])
    values = np.array([form.matrix @ np.array(vertex) for vertex in itertools.product(*zip(lower, upper, strict=True))])
    least, most = ActivityBounds(form)(lower, upper)
    np.testing.assert_allclose(least, values.min(axis=0))
    np.testing.assert_allclose(most, values.max(axis=0))
