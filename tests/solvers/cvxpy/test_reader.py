"""Cone programs read as entropy programs: elimination keeps the optimum, and entropies relative to 0 force zeros."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import OptimizeResult, linprog

from maxent_cvx.solvers.cvxpy.reader import Elimination, eliminate
from maxent_cvx.solvers.cvxpy.solver import DualNewton

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

    def optimum(self) -> OptimizeResult:
        """The optimum by a linear program, with kept columns between 0 and 1."""
        bounds = [(0, 1)] * self.n_kept + [(None, None)] * (len(self.cost) - self.n_kept)
        n = self.n_equations
        return linprog(self.cost, self.rows[n:], self.right[n:], self.rows[:n], self.right[:n], bounds, "highs")


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


@pytest.mark.parametrize(("named", "epigraphs"), [(3, 0), (0, 3), (2, 2)])
@given(seed=seeds)
def test_the_same_optimum(named: int, epigraphs: int, seed: int):
    """The remaining linear program has the same value, and so has the point restored from its solution."""
    program = chain(seed, named, epigraphs)
    out = program.eliminated()
    assert not len(out.left)
    assert not len(out.unbounded)
    assert len(out.used) == len(out.gives) == named + epigraphs
    optimum = program.optimum()
    smaller = Program(out.rows.toarray(), out.right, out.cost, program.n_kept, program.n_equations).optimum()
    assert optimum.status == smaller.status == 0
    z, n = restored(out, smaller.x), program.n_equations
    np.testing.assert_allclose(program.rows[:n] @ z, program.right[:n], atol=1e-7)
    assert (program.rows[n:] @ z <= program.right[n:] + 1e-7).all()
    assert program.cost @ z == pytest.approx(optimum.fun, abs=1e-7)


def test_what_determines_a_column():
    """An equation before an inequality; columns that no row determines are returned, unbounded ones apart."""
    rows = np.array([[1.0, -1], [-1, -2]])  # t = x, and t >= -x / 2
    out = Program(rows, np.zeros(2), np.array([0.0, 1]), 1, 1).eliminated()
    assert out.used.tolist() == [0]
    np.testing.assert_array_equal(out.matrix.toarray(), [[1]])
    np.testing.assert_array_equal(out.rows.toarray(), [[0], [-3]])  # -x - 2 x <= 0
    assert out.cost.tolist() == [1]
    for matrix, cost, left, unbounded in (
        ([[1, -1], [-1, -1]], [0, 1], [0], []),  # t >= |x|: two rows bound it, and none determines it
        ([[1, 1], [1, -1]], [0, 0], [], []),  # between two rows and without a cost, one of them determines it
        ([[1, 0]], [0, 1], [], [0]),  # in no row, with a cost: unbounded
        ([[1, 0]], [0, 0], [], []),  # in no row, without a cost: 0
        ([[1, 1]], [0, 1], [0], []),  # its cost lowers it, and no row bounds it below
    ):
        out = Program(np.array(matrix, float), np.ones(len(matrix)), np.array(cost, float), 1, 0).eliminated()
        assert (out.left.tolist(), out.unbounded.tolist()) == (left, unbounded)


# -- entropies relative to 0 ----------------------------------------------------------------------------------------

W = np.array([0.2, 0.3, 0.0, 0.5, 0.0, 0.1])


def solved(problem: cp.Problem) -> float:
    value = problem.solve(solver=DualNewton())
    assert problem.status == cp.OPTIMAL
    return float(value)


@pytest.mark.parametrize("side", ["equation", "soft", "constraint"])
def test_a_reference_of_0_is_a_term_of_0(side: str):
    """kl_div(x, 0) is infinite for x > 0: all else is as in the problem without these variables, dual values too."""

    def problem(x: cp.Variable, w: np.ndarray) -> cp.Problem:
        of_all, one = cp.sum(cp.kl_div(x, w)), cp.sum(x) == 1
        if side == "constraint":
            return cp.Problem(cp.Maximize(x[0]), [one, of_all <= 0.1])
        cost = cp.abs(x[0] - 0.6) if side == "soft" else 0
        return cp.Problem(cp.Minimize(of_all + cost), [one, *([x[0] == 0.3] if side == "equation" else [])])

    x, y = cp.Variable(6), cp.Variable(4)
    full, less = problem(x, W), problem(y, W[W > 0])
    assert solved(full) == pytest.approx(solved(less), abs=1e-9)
    assert (x.value[W == 0] == 0).all()
    atol = 1e-4 if side == "constraint" else 1e-8  # Clarabel's, by the square root of the gap
    np.testing.assert_allclose(x.value[W > 0], y.value, atol=atol)
    for of_full, of_less in zip(full.constraints, less.constraints, strict=True):
        np.testing.assert_allclose(of_full.dual_value, of_less.dual_value, atol=max(1e-6, atol))


def test_an_affine_argument_relative_to_0_is_an_equation():
    """With y = (u, 2 v, v): u log(u / 0.2) + v log(v / 0.4) at u + 3 v = 7, so that v / 0.4 = (u / 0.2)^3 e^2."""
    y = cp.Variable(3)
    argument = cp.hstack([y[0], y[1] - 2 * y[2], y[2]])
    solved(cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(argument, [0.2, 0, 0.4]))), [cp.sum(y) == 7]))
    u, v = y.value[0], y.value[2]
    assert y.value[1] == pytest.approx(2 * v, rel=1e-12)
    assert u + 3 * v == pytest.approx(7, rel=1e-9)
    assert v / 0.4 == pytest.approx((u / 0.2) ** 3 * np.exp(2), rel=1e-6)


def test_more_than_0_relative_to_0_is_infeasible():
    """A term whose reference is 0 cannot be above 0; beside terms without entropy a linear program is left."""
    x = cp.Variable(6)
    for row in (x[2] >= 0.1, x[2] + x[4] == 0.1):
        problem = cp.Problem(cp.Minimize(cp.sum(cp.kl_div(x, W))), [cp.sum(x) == 1, row])
        problem.solve(solver=DualNewton())
        assert problem.status == cp.INFEASIBLE
    x, y = cp.Variable(), cp.Variable(2, nonneg=True)
    for other in (y[0] + 2 * y[1], cp.abs(y[0] - 0.25) + y[1]):
        value = solved(cp.Problem(cp.Minimize(cp.kl_div(x, 0) + other), [x + cp.sum(y) == 1]))
        assert x.value == 0
        alone = cp.Problem(cp.Minimize(other), [cp.sum(y) == 1])
        assert value == pytest.approx(alone.solve(solver="CLARABEL"), abs=1e-6)


def test_a_reference_that_becomes_0():
    """A parameter may be 0 in one solve and not in the next, which begins at the multipliers of the last."""
    x, w = cp.Variable(6), cp.Parameter(6, nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.kl_div(x, w))), [cp.sum(x) == 1])
    for reference in (W, W + 0.1, W[::-1]):
        w.value = reference
        solved(problem)
        np.testing.assert_allclose(x.value, reference / reference.sum(), atol=1e-9)
