"""Convex constraints: budgets, each with one unknown multiplier, and cutting planes for all others.

A budget is a constraint whose left side is a sum of costs of rows and a linear expression:

    sum_k c_k(a_k x) + g x <= limit.

With the multiplier t of the constraint, the Lagrangian has t c_k as the costs of soft rows and t g as a linear term,
which changes the weights w to w exp(-t g). The only unknown is t.

Unattainable budgets are refuted by a lower bound on the left side. A cost c(v) of a row v = a x satisfies
c(v) >= y v - c*(y) for any slope y, where c* is the conjugate of the cost. For prices t >= 0 of the budgets, the sum of
t (left side - limit) is therefore at least a linear function of x, which weak duality bounds over the hard rows. If
that bound is positive, no x satisfies all budgets. The numbers t, y and the multipliers of the rows may come from any
method and be inexact: the bound includes all rounding errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq

from .._utils.errors import Infeasible, SolverError
from .answer import ConvexMultipliers
from .backends import linearise, value_at
from .certificate import Excess
from .costs import Penalties
from .duality import consequence, exact_rmatvec
from .extension import AddedRows
from .form import Convex, Groups, LinearForm
from .linear import Minima
from .parameters import EPS
from .sparse import entry_rows, exact_matvec, most_by_row

if TYPE_CHECKING:
    import cvxpy as cp

    from .presolve import Reduced


#: Records: infinite gradients at zero, such as that of an entropy, are evaluated here instead.
SMALLEST_COUNT = 1e-12
#: The slope of a divergence used instead of an infinite one. A choice: its exponential is finite.
STEEPEST = 700.0


@dataclass(frozen=True, eq=False)
class Budget:
    """A constraint: the costs of missing low <= matrix @ x <= high, plus linear @ x, are at most the limit."""

    matrix: sp.csr_array
    low: np.ndarray  # the lower ends of the values without cost, in the unit of the row
    high: np.ndarray
    penalties: Penalties  # in the unit of the constraint, like all following fields
    linear: np.ndarray
    limit: float
    name: str  # name of the constraint, for messages
    zeros: sp.csr_array  # further rows that must be 0
    # For a constraint on a Euclidean norm, whose square gives the costs: the factor of the norm.
    norm: float | None = None
    error: float = 0.0  # a bound on the rounding error of the limit

    @property
    def rows(self) -> LinearForm:
        """The rows of costs, as soft rows."""
        return replace(LinearForm.plain(self.matrix, self.low, self.high), penalties=self.penalties)

    def without_totals(self, groups: Groups) -> Budget:
        """Return the budget without linear terms that only count the records of a group, subtracted on both sides.

        An entropy or divergence of P(q, s) has such a linear part. Without it, the limit is the distance from the
        reference, and no digits cancel even if it is small.
        """
        q, records = groups
        if not self.linear.any():
            return self
        least, most = np.full(len(records), np.inf), np.full(len(records), -np.inf)
        np.minimum.at(least, q, self.linear)
        np.maximum.at(most, q, self.linear)
        of_group = np.where(least == most, least, 0.0)
        parts = [self.limit, *(-of_group * records)]
        error = self.error + EPS * float(np.abs(parts).sum())
        return replace(self, linear=self.linear - of_group[q], limit=math.fsum(parts), error=error)

    def excess(self, spent: float) -> float:
        """Return the left side of the constraint minus its right side as typed, given the left side of this budget."""
        if self.norm is None:
            return spent - self.limit
        radius = math.copysign(math.sqrt(abs(self.limit)), self.limit)
        return self.norm * (math.sqrt(max(spent, 0.0)) - radius)

    def scaled(self) -> Budget:
        """Return the budget with rows in records, like the rows of knowledge; largest coefficients are from 1/2 to 1.

        The factors are powers of two, which change numbers without rounding.
        """
        largest = most_by_row(np.abs(self.matrix.data), self.matrix)
        fraction, exponent = np.frexp(np.where(largest > 0, largest, 1.0))
        by = np.exp2(-np.clip(exponent - (fraction == 1 / 2), -1000, 1000))
        matrix = self.matrix.copy()
        matrix.data = matrix.data * by[entry_rows(matrix)]
        return replace(
            self, matrix=matrix, low=self.low * by, high=self.high * by, penalties=self.penalties.scaled(by)
        )  # fmt: skip

    def spent(self, x: np.ndarray) -> float:
        """Return the left side of the constraint at x."""
        value = exact_matvec(self.matrix, x)
        missed = np.maximum(np.maximum(self.low - value, value - self.high), 0.0)
        return float(self.penalties.cost(missed).sum() + self.linear @ x)

    def rounding(self, x: np.ndarray) -> float:
        """Return the effect on :meth:`spent` of one unit in the last place of the value of each row."""
        value = self.matrix @ x
        slope = np.abs(self.penalties.multiplier(self.low, self.high, value))
        return EPS * float(np.where(value == 0, 0.0, slope) @ np.abs(value) + np.abs(self.linear) @ x)

    def support(self, slopes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return slopes y of the costs near the given ones, and y v and the conjugates c*(y) at the sides v.

        The costs are at least y (matrix @ x) minus the sum of both.
        """
        slopes = np.clip(slopes, -self.penalties.slope, self.penalties.slope)
        side = np.where(slopes > 0, self.high, self.low)
        slopes = np.where(np.isfinite(side), slopes, 0.0)
        of_sides = slopes * np.where(np.isfinite(side), side, 0.0)
        return slopes, of_sides, self.penalties.conjugates(-slopes)

    @cached_property
    def ball(self) -> tuple[float, np.ndarray] | None:
        """Return the temperature and the targets of the terms, if the costs are divergences, one per term; else None.

        Terms in :attr:`zeros` may be missing from the costs; their target is 1.
        """
        temperature, target = self.penalties.temperature, self.penalties.target
        if not self.penalties.has_divergences or not self.penalties.is_divergence.all():
            return None
        terms, unfilled = self.matrix.indices, np.ones(self.matrix.shape[1], dtype=bool)
        unfilled[self.zeros.indices] = unfilled[terms] = False
        is_diagonal = (
            len(terms) == self.matrix.shape[0] == len(np.unique(terms)) and (np.diff(self.matrix.indptr) == 1).all()
        )
        if not is_diagonal or unfilled.any():
            return None
        # a x log(a x / T) is a times x log(x / (T / a)).
        temperature, target = temperature * self.matrix.data, target / self.matrix.data
        if np.ptp(temperature) > 4 * EPS * temperature[0]:
            return None
        weights = np.ones(self.matrix.shape[1])
        weights[terms] = target
        return float(temperature[0]), weights

    @property
    def cost_free_rows(self) -> AddedRows:
        """Return the rows that require values without cost, and those of :attr:`zeros`."""
        at, target, none = self.penalties.is_divergence, self.penalties.target, np.zeros(self.zeros.shape[0])
        matrix = sp.csr_array(sp.vstack([self.matrix, self.zeros], format="csr"))
        low, high = (np.append(np.where(at, target, side), none) for side in (self.low, self.high))
        return AddedRows(matrix, low, high, self.name)

    @property
    def multiplier_of_nothing(self) -> float:
        """Multiplier of a budget of zero: infinite if its costs have no slope at 0, otherwise unknown (NaN)."""
        is_smooth = (self.penalties.variance > 0) | self.penalties.is_divergence
        return math.inf if self.norm is None and is_smooth.all() else math.nan

    @property
    def magnitude(self) -> float:
        """Unit of relative violations of the constraint."""
        return max(abs(self.limit), float(np.abs(self.linear).max(initial=0.0)), np.finfo(float).tiny)


class Priced(NamedTuple):
    """A budget with its price."""

    budget: Budget
    price: float  # t >= 0
    slopes: np.ndarray  # y of each row of costs; the derivatives of the costs give the best bound


@np.errstate(over="ignore", invalid="ignore")
def least_excess(
    form: LinearForm, priced: Sequence[Priced], reduced: Reduced | None = None, multipliers: np.ndarray | None = None
) -> float:
    """Bound the sum of t (spent - limit) from below over the hard rows of a form, given the terms that they fix."""
    cost, cost_error = np.zeros(form.shape[1]), np.zeros(form.shape[1])
    constants: list[float] = []
    for budget, price, slopes in priced:
        # Every slope gives a bound; at a term that is 0, the derivative of an entropy is infinite.
        slopes, of_sides, conjugates = budget.support(np.nan_to_num(slopes, posinf=STEEPEST, neginf=-STEEPEST))
        constants += [-price * budget.limit, *(-price * of_sides), *(-price * conjugates)]
        constants.append(-price * budget.error)
        cost += price * (budget.matrix.T @ slopes + budget.linear)
        n_products = np.bincount(budget.matrix.indices, minlength=form.shape[1]) + 4
        cost_error += EPS * n_products * price * (abs(budget.matrix).T @ np.abs(slopes) + np.abs(budget.linear))
    size = float(np.abs(cost).max(initial=0.0))
    if not np.isfinite(size) or not np.isfinite(constants).all():
        return -math.inf
    if multipliers is None:
        multipliers = np.zeros(form.shape[0])
        if size > 0:
            with suppress(Infeasible, SolverError):
                minimum = next(Minima(form).of(cost / size))
                multipliers = form.project_to_dual_cone(minimum.multipliers * size)
    change, error = exact_rmatvec(form, multipliers)
    none = np.zeros(form.shape[1])
    settled = (none > 0, none, none) if reduced is None else (reduced.fixed, reduced.counts, reduced.width)
    least = consequence(form, multipliers, change - cost, error + cost_error, *settled)
    constants += [least.beta, -least.error, -least.risen]
    # The conjugates are products of a few numbers and an exponential; the sum is rounded once.
    return math.fsum(constants) - 16 * EPS * math.fsum(map(abs, constants))


def unattainable(name: str, constraint: Any, least: float) -> Infeasible:
    """Return the error of a constraint whose left side exceeds its right side by at least `least`, in its own unit."""
    lhs, rhs = constraint.args if len(constraint.args) == 2 else (None, None)
    if rhs is not None and rhs.is_constant() and rhs.size == 1:
        limit = float(rhs.value)
        what = f"its value is at least about {_beside(limit + least, limit)}, but at most {limit:.6g} is allowed"
    elif lhs is not None and lhs.is_constant() and lhs.size == 1:
        limit = float(lhs.value)
        what = f"its value is at most about {_beside(limit - least, limit)}, but at least {limit:.6g} is required"
    else:
        what = f"its left side exceeds its right side by at least about {least:.6g}"
    return Infeasible(f"{name!r} contradicts the other constraints: {what}; relax it, or remove it")


def _beside(value: float, limit: float) -> str:
    """Format a number with enough digits, at least six, to distinguish it from another."""
    differ = abs(value - limit)
    digits = 6 if differ == 0 else max(6, 2 + math.ceil(math.log10(max(abs(value), abs(limit)) / differ)))
    return f"{value:.{min(digits, 17)}g}"


# Cuts: affine functions that are nowhere above a convex function and touch it at one point.


def violation(constraint: Any, variable: cp.Variable, x: np.ndarray) -> np.ndarray:
    """Return the left sides of ``expression <= 0`` at x."""
    return value_at(constraint.expr, variable, np.maximum(x, SMALLEST_COUNT))


def cuts_at(constraint: Any, variable: cp.Variable, x: np.ndarray, name: str, smallest: float) -> list[AddedRows]:
    """Return the first-order expansions of the parts of ``expression <= 0`` violated by more than `smallest` records.

    If `smallest` is negative, parts that nearly bind are included.
    """
    value = violation(constraint, variable, x)
    if smallest >= 0 and not (value > 0).any():
        return []
    cut = tangent(constraint, variable, x, name)
    assert cut.scale is not None
    records = value * cut.scale
    violated = np.flatnonzero(records > smallest)
    if not len(violated):
        return []
    return [
        AddedRows(
            sp.csr_array(cut.matrix[violated]), cut.low[violated], cut.high[violated], name,
            scale=cut.scale[violated], violation=float(records[violated].max()), entries=violated,
        )
    ]  # fmt: skip


def tangent(constraint: Any, variable: cp.Variable, x: np.ndarray, name: str) -> AddedRows:
    """Return the first-order expansion of a constraint ``expression <= 0`` at a point, one row per entry."""
    at = np.maximum(x, SMALLEST_COUNT)
    try:
        matrix, constant = linearise(constraint.expr, variable, at)
    except NotImplementedError:
        raise SolverError(
            f"CVXPY has no gradient of {name!r}, {constraint}; use solver='CLARABEL', or write the constraint with "
            "other functions"
        ) from None
    matrix.eliminate_zeros()
    return replace(AddedRows.at_most(matrix, -constant, name), entries=np.arange(len(constant)))


def multipliers_at(convex: Convex, x: np.ndarray) -> dict[str, ConvexMultipliers]:
    """Return the dual values of convex constraints that a solver treated as such, and gradients at the solution."""
    multipliers = {}
    for name, constraint in convex.by_name:
        if constraint.dual_value is None:
            continue
        try:
            gradient = tangent(constraint, convex.variable, np.maximum(x, 0.0), name)
        except SolverError:
            continue
        t = np.maximum(np.atleast_1d(np.asarray(constraint.dual_value, dtype=float)).ravel(order="F"), 0.0)
        assert gradient.scale is not None
        multipliers[name] = ConvexMultipliers(t, sp.csr_array(sp.diags_array(1 / gradient.scale) @ gradient.matrix))
    return multipliers


def about(expression: Any, variable: cp.Variable) -> np.ndarray:
    """Mark the terms in an expression: those with a coefficient in one of its affine parts."""
    is_involved = np.zeros(variable.size, dtype=bool)
    if expression.is_affine():
        is_involved[linearise(expression, variable, np.zeros(variable.size))[0].indices] = True
        return is_involved
    return np.logical_or.reduce([about(part, variable) for part in expression.args])


def exceeded(
    others: Sequence[tuple[str, Any]], variable: cp.Variable, rows: Mapping[str, np.ndarray]
) -> Callable[[np.ndarray], list[Excess]]:
    """Return a function of x for the certificate: the violation of each constraint, and the rows that represent it."""
    terms = [about(constraint.expr, variable) for _, constraint in others]

    def at(x: np.ndarray) -> list[Excess]:
        violations = []
        for (name, constraint), involved in zip(others, terms, strict=True):
            value = np.maximum(violation(constraint, variable, x), 0.0)
            value, backward = np.where(np.isnan(value), np.inf, value), 0.0
            if value.any():
                cut = tangent(constraint, variable, x, name)
                # In records, relative to the side of the cut.
                backward = float((value * cut.scale / np.maximum(np.abs(cut.high), 1.0)).max())
            cuts = rows.get(name, np.empty(0, dtype=np.int64))
            violations.append(Excess(cuts, involved, float(value.max(initial=0.0)), backward))
        return violations

    return at


# Reading a convex CVXPY expression as a sum of costs of affine rows and an affine remainder, if it has that form.


@dataclass
class Parts:
    """The parts read so far from an expression over n terms."""

    variable: cp.Variable  # the counts
    rows: list[tuple[sp.csr_array, np.ndarray, np.ndarray, Penalties]] = field(default_factory=list)
    linear: np.ndarray = field(default_factory=lambda: np.empty(0))
    constants: list[float] = field(default_factory=list)  # their sum is the constant
    # Rows that must be 0, since their divergence from 0 is infinite elsewhere
    zeros: list[sp.csr_array] = field(default_factory=list)
    # The factor, matrix and constants of a Euclidean norm, which is a sum of costs only if all else is constant.
    norm: tuple[float, sp.csr_array, np.ndarray] | None = None

    def affine(self, expression: Any) -> tuple[sp.csr_array, np.ndarray]:
        """Return the matrix and the constants of an affine expression."""
        return linearise(expression, self.variable, np.zeros(self.variable.size))

    def add(self, factor: np.ndarray, expression: Any, kind: str, parameter: float = np.inf) -> bool:
        """Add the costs of an affine expression: factor times its square, absolute value, Huber function or part."""
        if not expression.is_affine() or (factor < 0).any():
            return False
        matrix, constant = self.affine(expression)
        factor = np.broadcast_to(factor, len(constant)).astype(float)
        used = factor > 0
        matrix, side, factor = sp.csr_array(matrix[np.flatnonzero(used)]), -constant[used], factor[used]
        low, high, zero, none = side, side, np.zeros(len(side)), np.full(len(side), np.inf)
        if kind == "square":
            costs = Penalties(1 / (2 * factor), none)
        elif kind == "huber":
            costs = Penalties(1 / (2 * factor), 2 * factor * parameter)
        else:
            costs = Penalties(zero, factor)
            low = np.full(len(side), -np.inf) if kind == "positive part" else low
            high = np.full(len(side), np.inf) if kind == "negative part" else high
        self.rows.append((matrix, low, high, costs))
        return True

    def add_divergence(self, factor: np.ndarray, expression: Any, target: np.ndarray) -> bool:
        """Add factor times (y log(y / target) - y + target) of an affine expression y without a constant."""
        if not expression.is_affine() or (factor < 0).any() or not (target >= 0).all():
            return False
        matrix, constant = self.affine(expression)
        if constant.any() or (matrix.data < 0).any():
            return False
        factor, target = (np.broadcast_to(side, len(constant)).astype(float) for side in (factor, target))
        self.zeros.append(sp.csr_array(matrix[np.flatnonzero((target == 0) & (factor > 0))]))  # 0 log(0 / 0) = 0
        used = (target > 0) & (factor > 0)
        matrix, factor, target = sp.csr_array(matrix[np.flatnonzero(used)]), factor[used], target[used]
        zeros = np.zeros(len(target))
        costs = Penalties(zeros, np.full(len(target), np.inf), factor, target)
        self.rows.append((matrix, zeros, zeros.copy(), costs))
        return True

    def add_linear(self, factor: np.ndarray, expression: Any) -> None:
        """Add factor times an affine expression."""
        matrix, constant = self.affine(expression)
        factor = np.broadcast_to(factor, len(constant))
        self.linear = self.linear + matrix.T @ factor
        self.constants += (factor * constant).tolist()


def read_budget(expression: Any, variable: cp.Variable, name: str) -> Budget | None:
    """Read a scalar ``expression <= 0``; return None if it is not a sum of costs.

    Squares, absolute values, Huber functions, positive and negative parts, divergences from constants, entropies and
    quadratic forms of affine expressions are costs; a Euclidean norm is one if all else is constant.
    """
    parts, norm = Parts(variable, linear=np.zeros(variable.size)), None
    if expression.size != 1 or not _read(expression, np.ones(1), parts):
        return None
    if parts.norm is not None:
        factor, matrix, constant = parts.norm
        radius = -math.fsum(parts.constants) / factor
        if parts.rows or parts.linear.any():
            return None
        n, norm = len(constant), factor
        parts.rows.append((matrix, -constant, -constant, Penalties(np.full(n, 0.5), np.full(n, np.inf))))
        parts.constants = [-radius * abs(radius)]  # neither a norm nor its square is negative
    if not parts.rows:
        return None
    penalties = parts.rows[0][3]
    for *_, more in parts.rows[1:]:
        penalties = penalties.then(more)
    matrix = sp.csr_array(sp.vstack([part[0] for part in parts.rows], format="csr"))
    low, high = (np.concatenate([part[i] for part in parts.rows]) for i in (1, 2))
    zeros = sp.csr_array(sp.vstack([sp.csr_array((0, variable.size)), *parts.zeros], format="csr"))
    # Each constant is a product that is rounded once, or the square of a quotient; their sum is rounded once.
    error = (1 if norm is None else 4) * EPS * math.fsum(map(abs, parts.constants))
    limit = -math.fsum(parts.constants)
    return Budget(matrix, low, high, penalties, parts.linear, limit, name, zeros, norm, error).scaled()


def _read(e: Any, factor: np.ndarray, parts: Parts) -> bool:
    """Add factor' vec(e) to the parts; return False if some part is not a cost. Names are those of CVXPY's atoms."""
    if e.is_affine():
        parts.add_linear(factor, e)
        return True
    factor = np.broadcast_to(factor, e.size)
    first, last = e.args[0], e.args[-1]
    match type(e).__name__:
        case "AddExpression":
            of_sums = factor.sum(keepdims=True)
            return all(_read(part, factor if part.size == e.size else of_sums, parts) for part in e.args)
        case "NegExpression":
            return _read(first, -factor, parts)
        case "DivExpression":
            return _read(first, factor / np.broadcast_to(last.value, e.shape).ravel(order="F"), parts)
        case "Promote":
            return _read(first, factor.sum(keepdims=True), parts)
        case "reshape":
            return e.order == "F" and _read(first, factor, parts)
        case "Sum":
            return e.size == 1 and _read(first, np.full(first.size, factor[0]), parts)
        case "multiply" | "MulExpression" as name:
            return _read_product(e, name == "multiply", factor, parts)
        case "Power" | "PowerApprox" | "power":
            return float(e.p.value if hasattr(e.p, "value") else e.p) == 2 and parts.add(factor, first, "square")
        case "quad_over_lin":
            if e.get_data()[0] is not None or not last.is_constant():
                return False
            return parts.add(factor / float(last.value), first, "square")
        case "QuadForm":
            return _read_quadratic_form(e, factor, parts)
        case "abs":
            return parts.add(factor, first, "absolute")
        case "norm1":
            return e.size == 1 and parts.add(np.full(first.size, factor[0]), first, "absolute")
        case "huber":
            return parts.add(factor, first, "huber", float(e.M.value))
        case "maximum" | "minimum" as name:  # max(x, 0) and min(x, 0)
            if len(e.args) != 2 or not last.is_constant() or np.any(last.value) or first.size != e.size:
                return False
            is_max = name == "maximum"
            return parts.add(factor if is_max else -factor, first, f"{'positive' if is_max else 'negative'} part")
        case "Pnorm" | "PnormApprox":
            p, axis = e.get_data()[:2]
            if float(p) != 2 or axis is not None or parts.norm is not None or factor[0] <= 0 or not first.is_affine():
                return False
            parts.norm = (float(factor[0]), *parts.affine(first))
            return True
        case "kl_div" | "rel_entr" as name if last.is_constant():
            target = np.broadcast_to(np.asarray(last.value, dtype=float).ravel(order="F"), e.size)
            if not parts.add_divergence(factor, first, target):
                return False
            if name == "rel_entr":  # y log(y / t) is kl_div(y, t) + y - t
                parts.add_linear(factor, first)
                parts.constants += (-factor * target).tolist()
            return True
        case "entr":  # entr(y) = -y log y, and y log y = kl_div(y, 1) + y - 1
            if not parts.add_divergence(-factor, first, np.ones(e.size)):
                return False
            parts.add_linear(-factor, first)
            parts.constants += factor.tolist()
            return True
    return False


def _read_product(e: Any, by_element: bool, factor: np.ndarray, parts: Parts) -> bool:
    """Read a constant times an elementwise expression, or a constant matrix or vector times a vector."""
    at = 0 if e.args[0].is_constant() else 1
    constant, inner = e.args[at].value, e.args[1 - at]
    constant = np.asarray(constant.todense() if sp.issparse(constant) else constant, dtype=float)  # type: ignore[attr-defined]
    if by_element or constant.size == 1:
        return _read(inner, factor * np.broadcast_to(constant, e.shape).ravel(order="F"), parts)
    if len(inner.shape) != 1:
        return False
    matrix = np.atleast_2d(constant).T if at == 0 or constant.ndim == 1 else constant
    return _read(inner, matrix @ factor, parts)


def _read_quadratic_form(e: Any, factor: np.ndarray, parts: Parts) -> bool:
    """Read x' P x as the sum of squares of D^(1/2) V' x, where P = V D V'."""
    import cvxpy as cp

    if not e.args[1].is_constant() or not e.args[0].is_affine():
        return False
    matrix: Any = e.args[1].value
    dense = np.asarray(matrix.todense() if sp.issparse(matrix) else matrix)  # type: ignore[attr-defined]
    values, vectors = np.linalg.eigh(dense)
    kept = values > np.finfo(float).eps * len(values) * values.max(initial=0.0)
    root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    return parts.add(np.full(int(kept.sum()), factor[0]), root @ cp.vec(e.args[0], order="F"), "square")


def decreasing_root(
    function: Callable[[float], float], start: float, tolerance: float, width: float, largest: float, most: int
) -> tuple[float, float]:
    """Find t > 0 with abs(function(t)) <= tolerance for a decreasing function that is positive at 0."""
    values: dict[float, float] = {}

    def at(t: float) -> float:
        if t not in values:
            values[t] = function(t)
        return 0.0 if abs(values[t]) <= tolerance else values[t]

    low = high = start
    while at(high) > 0 and high < largest:
        low, high = high, min(8 * high, largest)
    while at(low) < 0 and len(values) < most:
        low, high = low / 8, low
    if at(low) > 0 > at(high):
        brentq(at, low, high, xtol=np.finfo(float).tiny, rtol=width, maxiter=most, disp=False)
    best = min(values, key=lambda t: abs(values[t]))
    return best, values[best]
