"""Elimination: the remaining problem has the same optimum, and eliminated variables have the values that it gives."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from maxent_cvx.solvers.cvxpy.reader import Elimination, eliminate
from support.solving import examples

seeds = st.integers(0, 10**6)


@dataclass(frozen=True)
class Program:
    """The least cost' z over rows z = right (the first n_equations) or <= right; z is (kept, others)."""

    rows: np.ndarray
    right: np.ndarray
    cost: np.ndarray
    n_kept: int
    n_equations: int

    def eliminated(self) -> Elimination:
        return eliminate(sp.csr_array(self.rows), self.right, self.cost, self.n_kept, self.n_equations)

    def optimum(self) -> tuple[float, int]:
        """Value and status (0 optimal, 2 infeasible) by a linear program, with kept columns between 0 and 1."""
        bounds = [(0, 1)] * self.n_kept + [(None, None)] * (len(self.cost) - self.n_kept)
        n = self.n_equations
        found = linprog(
            self.cost, self.rows[n:], self.right[n:], self.rows[:n], self.right[:n], bounds=bounds, method="highs"
        )
        return found.fun, found.status


def chain(seed: int, named: int, epigraphs: int) -> Program:
    """Draw kept columns, columns that equations define, and epigraph variables; in any order.

    A named column is a combination of kept and of earlier ones. An epigraph variable t has a cost that makes one
    inequality t >= (a combination) active, and is in no other row.
    """
    rng = np.random.default_rng(seed)
    n_kept, n_others = int(rng.integers(2, 5)), named + epigraphs
    column = n_kept + rng.permutation(n_others)
    n = n_kept + n_others
    equations, inequalities, cost = [], [], np.append(rng.normal(0, 1, n_kept), np.zeros(n_others))
    for i in range(named):
        row = np.zeros(n)
        row[:n_kept] = rng.integers(-2, 3, n_kept)
        row[column[:i]] = rng.integers(-1, 2, i)
        row[column[i]] = rng.choice([-2.0, -1.0, 1.0, 0.5])
        equations.append(row)
        cost[column[i]] = rng.normal()
    for i in range(named, n_others):
        row, sign = np.zeros(n), rng.choice([-1.0, 1.0])
        row[:n_kept] = rng.integers(-2, 3, n_kept)
        row[column[:named]] = rng.integers(-1, 2, named)
        row[column[i]] = -sign * rng.choice([1.0, 2.0])  # sign t >= ..., and sign t is to be small
        inequalities.append(row)
        cost[column[i]] = sign * rng.uniform(0.1, 2)
    for _ in range(int(rng.integers(0, 3))):  # further rows over the kept and the named
        row = np.zeros(n)
        row[:n_kept] = rng.integers(-2, 3, n_kept)
        row[column[:named]] = rng.integers(-1, 2, named)
        inequalities.append(row)
    matrix = np.array([*rng.permutation(equations), *rng.permutation(inequalities)]).reshape(-1, n)
    # Made to hold at a point inside, the columns that stand alone having any value.
    z = np.append(rng.uniform(0.1, 0.9, n_kept), rng.normal(0, 1, n_others))
    right = matrix @ z + np.append(np.zeros(len(equations)), rng.uniform(0, 1, len(inequalities)))
    return Program(matrix, right, cost, n_kept, len(equations))


def restored(out: Elimination, kept: np.ndarray) -> np.ndarray:
    return np.concatenate([kept, out.constant + out.matrix @ kept])


@pytest.mark.parametrize(("named", "epigraphs"), [(0, 1), (1, 0), (3, 0), (0, 3), (2, 2)])
@examples(30)
@given(seed=seeds)
def test_the_same_optimum(named: int, epigraphs: int, seed: int):
    """The remaining linear program has the same value, and so has the point restored from its solution."""
    program = chain(seed, named, epigraphs)
    out = program.eliminated()
    assert not len(out.left)
    assert not len(out.unbounded)
    assert len(out.used) == len(out.gives) == named + epigraphs
    value, status = program.optimum()
    smaller = Program(out.rows.toarray(), out.right, out.cost, program.n_kept, program.n_equations)
    found = linprog(
        smaller.cost, smaller.rows[program.n_equations :], smaller.right[program.n_equations :],
        smaller.rows[: program.n_equations], smaller.right[: program.n_equations], bounds=(0, 1), method="highs",
    )  # fmt: skip
    assert found.status == status == 0
    z, n = restored(out, found.x), program.n_equations
    np.testing.assert_allclose(program.rows[:n] @ z, program.right[:n], atol=1e-7)
    assert (program.rows[n:] @ z <= program.right[n:] + 1e-7).all()
    assert program.cost @ z == pytest.approx(value, abs=1e-7)


@examples(30)
@given(seed=seeds)
def test_every_point_is_restored(seed: int):
    """For any kept columns, rows that determined a column hold with equality, and the residuals of the others agree."""
    program = chain(seed, 2, 1)
    out = program.eliminated()
    kept = np.random.default_rng(seed).normal(0, 3, program.n_kept)
    z = restored(out, kept)
    np.testing.assert_allclose((program.rows @ z)[out.used], program.right[out.used], atol=1e-9)
    assert (np.diff(out.rows.indptr)[out.used] == 0).all()
    assert (out.right[out.used] == 0).all()
    np.testing.assert_allclose(program.rows @ z - program.right, out.rows @ kept - out.right, atol=1e-9)
    other = restored(out, np.zeros(program.n_kept))
    assert program.cost @ (z - other) == pytest.approx(out.cost @ kept, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_entropies_of_what_is_kept(seed: int):
    """With entropies of the kept columns, CVXPY finds the same value for the original and the remaining problem."""
    program = chain(seed, 2, 2)
    out, n = program.eliminated(), program.n_equations
    z, k = cp.Variable(len(program.cost)), cp.Variable(program.n_kept)
    a, b = program.rows, program.right
    first = z[: program.n_kept]
    original = cp.Problem(
        cp.Maximize(cp.sum(cp.entr(first)) - program.cost @ z), [a[:n] @ z == b[:n], a[n:] @ z <= b[n:], first <= 1]
    )
    g, h = out.rows.toarray(), out.right
    left = cp.Problem(cp.Maximize(cp.sum(cp.entr(k)) - out.cost @ k), [g[:n] @ k == h[:n], g[n:] @ k <= h[n:], k <= 1])
    value, rest = original.solve(solver="CLARABEL"), left.solve(solver="CLARABEL")
    constant = program.cost[program.n_kept :] @ out.constant
    assert rest - constant == pytest.approx(value, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(k.value, first.value, atol=1e-3)
    np.testing.assert_allclose(restored(out, k.value), z.value, atol=1e-2)


def test_an_absolute_value():
    """In |x1 - x2| <= t <= 1 with t without a cost, t is set to 1, and |x1 - x2| <= 1 remains."""
    rows = np.array([[1.0, -1, -1], [-1, 1, -1], [0, 0, 1]])
    out = Program(rows, np.array([0.0, 0, 1]), np.zeros(3), 2, 0).eliminated()
    assert out.used.tolist() == [2]
    assert out.constant.tolist() == [1]
    np.testing.assert_array_equal(out.rows.toarray(), [[1, -1], [-1, 1], [0, 0]])
    np.testing.assert_array_equal(out.right, [1, 1, 0])


def test_equations_before_inequalities():
    """A column that an equation determines is eliminated by it, even if an inequality would determine it too."""
    rows = np.array([[1.0, -1], [-1, -2]])  # t = x, and t >= -x / 2
    out = Program(rows, np.zeros(2), np.array([0.0, 1]), 1, 1).eliminated()
    assert out.used.tolist() == [0]
    np.testing.assert_array_equal(out.matrix.toarray(), [[1]])
    np.testing.assert_array_equal(out.rows.toarray(), [[0], [-3]])  # -x - 2 x <= 0
    assert out.cost.tolist() == [1]


@pytest.mark.parametrize(
    ("rows", "cost", "left", "unbounded"),
    [
        ([[1, -1], [-1, -1]], [0, 1], [0], []),  # t >= |x|: two rows bound it, and none determines it
        ([[1, 1], [1, -1]], [0, 0], [], []),  # between two rows and without a cost, one of them determines it
        ([[1, 0]], [0, 1], [], [0]),  # in no row, with a cost: unbounded
        ([[1, 0]], [0, 0], [], []),  # in no row, without a cost: 0
        ([[1, 1]], [0, 1], [0], []),  # its cost lowers it, and no row bounds it below
    ],
)
def test_what_nothing_gives(rows: list[list[float]], cost: list[float], left: list[int], unbounded: list[int]):
    """Columns that no row determines are returned, those with an unbounded objective apart."""
    matrix = np.array(rows, float)
    out = Program(matrix, np.ones(len(matrix)), np.array(cost, float), 1, 0).eliminated()
    assert (out.left.tolist(), out.unbounded.tolist()) == (left, unbounded)


def test_nothing_to_eliminate():
    """A program of kept columns alone is left as it is."""
    rows, right, cost = np.array([[1.0, 2]]), np.array([3.0]), np.array([4.0, 5])
    out = Program(rows, right, cost, 2, 1).eliminated()
    np.testing.assert_array_equal(out.rows.toarray(), rows)
    np.testing.assert_array_equal(out.right, right)
    np.testing.assert_array_equal(out.cost, cost)
    assert out.matrix.shape == (0, 2)
