r"""The least and the largest values of linear expressions over rows and convex constraints.

The constraints are replaced by rows that every feasible point satisfies, so that linear programs prove the bounds. Such
rows are created where they are needed. A conic program finds the least value of an expression, at a point x^. There, a
constraint g(x) <= 0 has the tangent g(x^) + g'(x^) (x - x^) <= 0. At a kink the tangent is not unique; but if g is a
sum of costs c_k of rows a_k x and a linear expression, dual values of v_k = a_k x give slopes y_k for which

    sum_k (y_k a_k x - c_k*(y_k)) + g x <= limit

supports the set at x^, where c_k* is the conjugate of c_k. Both hold for every feasible x, even if x^ and y are
inexact. Remaining gaps are closed by further tangents at the optima of the linear programs (Kelley, J. E. (1960). The
cutting-plane method for solving convex programs. Journal of the Society for Industrial and Applied Mathematics 8,
703-712).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._utils.errors import Infeasible, NotDecided, SolverError
from .backends import constraints, soft_rows, solve_by_clarabel
from .convex import Budget, cuts_at, read_budget
from .convex_solve import refuted
from .extension import AddedRows, Extension, extended
from .form import Convex, Groups, LinearForm, Problem
from .intervals import Ends
from .linear import GAP, Minima
from .monitor import check_time, seconds_left
from .sparse import most_by_row

#: The largest number of linear programs, with tangents at their optima, for each bound.
ROUNDS = 200
#: The largest number of successive linear programs without an increase of the least value.
PATIENCE = 5
#: Share of the permitted gap at which no further tangents are added.
NARROW = 0.1
#: Relative to the number of records: the outward shift of tangent rows, whose largest coefficient is 1. It covers
#: thousands of rounding errors; the rounding errors of CVXPY's gradients have no known bound.
OUTWARDS = 1e-12
#: Records: smaller violations of a constraint are rounding errors.
SMALLEST = 1e-10
#: Records: a constraint this close to its limit may bind.
BINDS = 1e-3
#: Relative: a constraint with a smaller slope does not bind.
UNUSED = 1e-9


def convex_bounds(
    problem: Problem,
    expressions: sp.csr_array,
    linear_bounds: Callable[[Problem], Ends],
    answered: Callable[[int], None] = lambda ends: None,
) -> Ends:
    """Find the least and largest values of expressions; `linear_bounds` computes them over the rows of a problem."""
    assert problem.convex is not None
    plain = replace(problem.hard, convex=None)
    program = ConicProgram(plain.form, problem.convex, problem.groups)
    size = most_by_row(np.abs(expressions.data), expressions)
    attained = np.stack([np.full(len(size), np.inf), np.full(len(size), -np.inf)])
    for row in np.flatnonzero(size > 0):
        cost = expressions[[row]].toarray().ravel() / size[row]
        for side, sign in enumerate((1.0, -1.0)):
            check_time()
            value = program.minimum(sign * cost)
            attained[side, row] = sign * value * size[row]
            answered(1)
        if program.is_infeasible:
            break
    attained[:, size == 0] = 0.0
    try:
        ends = linear_bounds(plain.with_rows(program.with_cuts(program.cuts).form))
    except Infeasible:  # it refers to rows of tangents, which the user did not type
        raise refuted(problem) or _unproved() from None
    except SolverError:  # the rows are nearly dependent
        ends = linear_bounds(plain)
    if program.is_infeasible:
        raise refuted(problem) or _unproved()
    gaps = np.abs(ends.value - attained)
    return Ends(ends.value, ends.is_exact & (gaps <= 2 * GAP * np.where(size > 0, size, 1.0)))


def _unproved() -> SolverError:
    """Return the error of a contradiction that a conic solver reports without a proof."""
    return SolverError(
        "CLARABEL reports that no distribution satisfies all constraints, but this was not proved: they nearly "
        "contradict each other; relax one of them"
    )


def _parts(constraint: Any) -> list[Any]:
    """Split a constraint on the largest of several expressions into one constraint per expression."""
    expression = constraint.expr
    summands = expression.args if type(expression).__name__ == "AddExpression" else [expression]
    curved = [summand for summand in summands if not summand.is_affine()]
    if len(curved) != 1 or type(curved[0]).__name__ != "maximum":
        return [constraint]
    rest = sum(summand for summand in summands if summand.is_affine())
    return [part for summand in curved[0].args for part in _parts(summand + rest <= 0)]


@dataclass(eq=False)
class ConicProgram:
    """Minimises linear expressions one after the other over rows and convex constraints, and keeps the proving rows."""

    form: LinearForm
    convex: Convex
    groups: Groups
    cuts: list[AddedRows] = field(default_factory=list)
    is_infeasible: bool = False  # reported by the conic solver, not proved

    def __post_init__(self) -> None:
        import cvxpy as cp

        unit, n = self.form.count_scale, self.form.shape[1]
        shares = cp.Variable(n, nonneg=True)
        self.counts = cp.multiply(unit, shares)
        self.cost = cp.Parameter(n)
        rows = [block[2] for block in constraints(self.form, self.counts)]
        # Each with the constraints on the values of its rows, the constraint on their cost, and its divisor.
        self.budgets: list[tuple[Budget, list[tuple[np.ndarray, float, Any]], Any, float]] = []
        self.others = []
        self.parts = [(name, part) for name, constraint in self.convex.by_name for part in _parts(constraint)]
        for name, constraint in self.parts:
            budget = read_budget(constraint.expr, self.convex.variable, name)
            if budget is None:
                self.others.append((name, constraint))
                continue
            budget = budget.without_totals(self.groups)
            missed, cost = soft_rows(budget.rows)
            spent, allowed = cost + budget.linear @ self.counts, budget.limit
            if budget.norm is not None:
                roots = np.sqrt(2 * budget.penalties.variance)
                spent, allowed = cp.norm(cp.multiply(1 / roots, missed)), math.sqrt(max(budget.limit, 0.0))
            by = abs(allowed) or 1.0
            blocks, limit = constraints(budget.rows, self.counts, missed), spent / by <= allowed / by
            rows += [*(block[2] for block in blocks), limit]
            if budget.zeros.shape[0]:
                rows.append(budget.zeros @ self.counts == 0)
            self.budgets.append((budget, blocks, limit, by))
        # In records, because solvers resolve more digits of records than of probabilities.
        records = float(self.groups.records.sum())
        others = [
            records * constraint.expr.tree_copy({id(self.convex.variable): self.counts}) <= 0
            for _, constraint in self.others
        ]
        self.problem = cp.Problem(cp.Minimize(self.cost @ shares), rows + others)

    def with_cuts(self, cuts: Sequence[AddedRows]) -> Extension:
        """Return the rows, and those that the constraints imply."""
        outwards = OUTWARDS * float(self.groups.records.sum())
        added = {i: replace(cut, high=cut.high + outwards) for i, cut in enumerate(cuts)}
        return extended(self.form, added, self.form.weights)

    def minimum(self, cost: np.ndarray) -> float:
        """Return the least value at a point that is feasible up to `GAP` records, and create the rows that prove it.

        The point is that of the conic solver or, if that violates a constraint, the one at which no tangent remains to
        be added. The value is infinite if neither point exists.
        """
        x = self._solved(cost)
        if x is None:
            return math.inf
        value, variable = float(cost @ x) if self._is_feasible(x) else math.inf, self.convex.variable
        cuts, least = list(self.cuts), list[float]()
        for _ in range(ROUNDS):
            check_time()
            extension = self.with_cuts(cuts)
            try:
                optimum = next(Minima(extension.form).of(cost))
            except NotDecided:
                raise
            except (Infeasible, SolverError):  # the tangents are nearly dependent
                return value
            new = [cut for name, part in self.parts for cut in cuts_at(part, variable, optimum.x, name, SMALLEST)]
            least.append(float(cost @ optimum.x))
            stalls = len(least) > PATIENCE and least[-1] - least[-1 - PATIENCE] <= NARROW * GAP
            if not new:  # the optimum over the rows satisfies the constraints
                value = min(value, least[-1])
            if not new or stalls or value - least[-1] <= NARROW * GAP:
                break
            cuts += new
        n_used = len(extension.added)  # no program contains the last tangents yet
        used = [cut for i, cut in enumerate(cuts[:n_used]) if optimum.multipliers[extension.added[i]].any()]
        self.cuts += [cut for cut in used if not any(cut is other for other in self.cuts)]
        return value

    def _is_feasible(self, x: np.ndarray) -> bool:
        """Return whether a point satisfies rows and convex constraints up to `GAP` records, computed independently."""
        if not self.form.residual(x).max(initial=0.0) <= GAP:
            return False
        try:
            return not any(cuts_at(part, self.convex.variable, x, name, GAP) for name, part in self.parts)
        except SolverError:  # violated, and without a gradient there
            return False

    def _solved(self, cost: np.ndarray) -> np.ndarray | None:
        """Return the conic solver's point, and create the rows that support the feasible set there."""
        self.cost.value = cost * self.form.count_scale
        status = solve_by_clarabel(self.problem, seconds_left())
        self.is_infeasible |= status == "infeasible"
        if status != "optimal":
            return None
        x = np.maximum(np.asarray(self.counts.value), 0.0)
        for budget, blocks, limit, by in self.budgets:
            price, slopes = float(np.asarray(limit.dual_value).item()), np.zeros(budget.matrix.shape[0])
            if price > UNUSED:
                for at, sign, constraint in blocks:
                    slopes[at] -= sign * constraint.dual_value / price * by
                self.cuts += supporting(budget, slopes)
        for name, constraint in self.others:
            with suppress(SolverError):  # some functions have no gradient at 0
                self.cuts += cuts_at(constraint, self.convex.variable, x, name, -BINDS)
        return x


def supporting(budget: Budget, slopes: np.ndarray) -> Sequence[AddedRows]:
    """Return the row that slopes of the costs imply for every x that satisfies the budget."""
    if budget.norm is not None:  # the conjugate of the norm is 0 within the unit ball of the dual norm
        roots = np.sqrt(2 * budget.penalties.variance)
        largest = float(np.linalg.norm(slopes * roots))
        slopes = slopes / max(largest, 1.0)
        constants, limit = slopes @ budget.low, math.sqrt(max(budget.limit, 0.0))
    else:
        slopes, of_sides, conjugates = budget.support(slopes)
        constants, limit = float((of_sides + conjugates).sum()), budget.limit
    row = budget.matrix.T @ slopes + budget.linear
    if not row.any() or not np.isfinite([*row, constants]).all():
        return []
    high = np.array([limit + constants + budget.error])
    return [AddedRows.at_most(sp.csr_array(row[None]), high, budget.name)]
