"""Conversion between rows and CVXPY: polyhedral constraints of users become rows, and rows become CVXPY constraints.

Both directions use the variable ``space.counts``, x = N p. A block of rows ``low <= A p <= high`` becomes at most three
constraints on (A / N) x, in the unit of the values as given; published rows are stated in records. CVXPY's dual value
of such a constraint is, up to its sign, the multiplier of the row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._utils.errors import BadProbability, StatementError
from ..solvers.backends import RELATE, by_relation, cost_of_missing, linearise, value_at
from ..terms.rows import Rows, rounded_to_integers
from ..terms.space import Space


def values_of(parameters: Sequence[Any], label: str) -> tuple[np.ndarray, ...]:
    """Return the current values of parameters."""
    for parameter in parameters:
        if parameter.value is None:
            raise StatementError(f"the CVXPY Parameter {parameter.name()} of {label!r} has no value; set it first")
    return tuple(np.array(parameter.value, dtype=float) for parameter in parameters)


# Polyhedral convex constraints: absolute values, maxima, sums of the largest, even powers.

#: The maximum number of affine expressions for one constraint; those of summands multiply in a sum of maxima.
MOST_PIECES = 64
#: The maximum number of choices of k summands for one sum of the k largest.
MOST_CHOICES = 200


class _NotPolyhedral(Exception):
    """Signal an expression that cannot be written as the maximum of a few affine expressions."""


def affine_pieces(expression: Any) -> list[Any] | None:
    """Write ``expression <= 0`` as affine expressions that are all <= 0; None if impossible, or too many."""
    try:
        pieces = list(islice(_pieces(expression, 0.0), MOST_PIECES + 1))
    except _NotPolyhedral:
        return None
    return pieces if len(pieces) <= MOST_PIECES else None


def _pieces(e: Any, rest: Any) -> Iterator[Any]:
    """Write ``e + rest <= 0``, with an affine rest, as affine expressions."""
    if e.is_affine():
        yield e + rest
    elif (reader := READERS.get(type(e).__name__)) is not None:
        yield from reader(e, rest)
    else:
        raise _NotPolyhedral


def _sum(e: Any, rest: Any) -> Iterator[Any]:
    """Combine each piece of one summand with each of the others: |a| + |b| <= c is four affine constraints."""
    affine = sum((summand for summand in e.args if summand.is_affine()), rest)
    return _sum_of([summand for summand in e.args if not summand.is_affine()], affine)


def _sum_of(curved: list[Any], rest: Any) -> Iterator[Any]:
    first, *others = curved
    if not others:
        yield from _pieces(first, rest)
        return
    if _has_power(first):
        raise _NotPolyhedral
    for piece in _pieces(first, 0.0):
        if piece.size != 1:
            raise _NotPolyhedral
        yield from _sum_of(others, rest + piece)


def _has_power(e: Any) -> bool:
    """Return whether an expression contains an even power, which has affine pieces only if the rest is constant."""
    return READERS.get(type(e).__name__) is _power or any(map(_has_power, e.args))


def _negative(e: Any, rest: Any) -> Iterator[Any]:
    """Write minus the minimum of expressions as the maximum of their negatives."""
    inner = e.args[0]
    match type(inner).__name__:
        case "minimum":
            for argument in inner.args:
                yield from _pieces(-argument, rest)
        case "min" if inner.get_data()[0] is None:
            yield from _pieces(-inner.args[0], rest)
        case "multiply" | "MulExpression" | "DivExpression":
            yield from _multiple(inner, rest)
        case _:
            raise _NotPolyhedral


def _multiple(e: Any, rest: Any) -> Iterator[Any]:
    """Keep a constant factor on the pieces, so that they can be summed and their sides are in the unit as typed."""
    if type(e).__name__ == "DivExpression":
        by, inner = 1 / np.asarray(e.args[1].value, dtype=float), e.args[0]
    else:
        at = 0 if e.args[0].is_constant() else 1
        by, inner = np.asarray(e.args[at].value, dtype=float), e.args[1 - at]
    if by.size != 1:
        raise _NotPolyhedral
    factor, curved = abs(by.item()), inner if inner.is_convex() else -inner  # the product is convex
    if factor and _has_power(curved):  # whose root needs the constant
        for piece in _pieces(curved, rest / factor):
            yield factor * piece
    else:
        for piece in _pieces(curved, 0.0):
            yield factor * piece + rest


def _largest(e: Any, rest: Any) -> Iterator[Any]:
    """Bound a maximum by bounding each of its arguments."""
    if type(e).__name__ == "max" and e.get_data()[0] is not None:  # along an axis
        raise _NotPolyhedral
    for argument in e.args:
        yield from _pieces(argument, rest)


def _absolute(e: Any, rest: Any) -> Iterator[Any]:
    """Write |x| <= c as x <= c and -x <= c; also the maximum of several |x|, and any norm of a single number."""
    kind, inner = type(e).__name__, e.args[0]
    along_axis = kind == "norm_inf" and e.get_data()[0] is not None
    if not inner.is_affine() or along_axis or (kind not in ("abs", "norm_inf") and inner.size != 1):
        raise _NotPolyhedral
    yield inner + rest
    yield -inner + rest


def _power(e: Any, rest: Any) -> Iterator[Any]:
    """Write |x|^p <= c as |x| <= c^(1/p) for even p, if the rest is constant."""
    import cvxpy as cp

    p = float(e.p.value if hasattr(e.p, "value") else e.p)
    if p not in (2.0, 4.0) or not e.args[0].is_affine() or (hasattr(rest, "is_constant") and not rest.is_constant()):
        raise _NotPolyhedral
    constant = -np.asarray(rest.value if hasattr(rest, "value") else rest, dtype=float)
    root = np.sign(constant) * np.abs(constant) ** (1 / p)  # infeasible pieces if the constant is negative
    # The slope of the power at the root is a factor, so that prices are of the side as typed.
    slope = np.where(root > 0, p * np.abs(root) ** (p - 1), 1.0)
    yield cp.multiply(slope, e.args[0] - root)
    yield cp.multiply(slope, -e.args[0] - root)


def _sum_of_absolute(e: Any, rest: Any) -> Iterator[Any]:
    """Write |a| + |b| + ... of few numbers as one affine constraint per choice of signs."""
    import cvxpy as cp

    kind, inner = type(e).__name__, e.args[0]
    if inner.size == 1:
        yield from _pieces(inner, rest) if kind == "Sum" else _absolute(e, rest)
        return
    if kind == "Sum":
        if type(inner).__name__ != "abs":
            raise _NotPolyhedral
        inner = inner.args[0]
    if e.size != 1 or inner.size > math.log2(MOST_PIECES) / 2 or not inner.is_affine():
        raise _NotPolyhedral
    signs = np.stack(np.meshgrid(*[[-1.0, 1.0]] * inner.size), axis=-1).reshape(-1, inner.size)
    yield signs @ cp.vec(inner, order="F") + rest


def _sum_of_largest(e: Any, rest: Any) -> Iterator[Any]:
    """Bound the sum of the k largest of few numbers by bounding the sum of each choice of k."""
    import cvxpy as cp

    inner, k = e.args[0], e.get_data()[0]
    if not inner.is_affine() or k != int(k) or not 1 <= k <= inner.size or math.comb(inner.size, int(k)) > MOST_CHOICES:
        raise _NotPolyhedral
    choices = np.array(list(combinations(range(inner.size), int(k))))
    chosen = np.zeros((len(choices), inner.size))
    np.put_along_axis(chosen, choices, 1.0, axis=1)
    yield chosen @ cp.vec(inner, order="F") + rest


#: Functions that write an expression as affine pieces, by the name of its class in CVXPY.
READERS: dict[str, Callable[[Any, Any], Iterator[Any]]] = {
    "AddExpression": _sum,
    "NegExpression": _negative,
    "DivExpression": _multiple,
    "multiply": _multiple,
    "MulExpression": _multiple,
    "Promote": _largest,
    "max": _largest,
    "maximum": _largest,
    "sum_largest": _sum_of_largest,
    "abs": _absolute,
    "Power": _power,
    "PowerApprox": _power,
    "power": _power,
    "norm_inf": _absolute,
    "norm1": _sum_of_absolute,
    "Pnorm": _absolute,
    "PnormApprox": _absolute,
    "Sum": _sum_of_absolute,
}


def read_constraint(constraint: Any, space: Space, label: str) -> tuple[Any, Rows | None]:
    """Convert a constraint on ``space.p`` to rows if it is polyhedral, else to a convex constraint, or both."""
    import cvxpy as cp

    if not isinstance(constraint, cp.Constraint):
        raise StatementError(
            f"{label!r} must return rows, a statement, or a CVXPY constraint, such as space.prob('HIV') <= 0.2, not a "
            f"{type(constraint).__name__}"
        )
    values_of(constraint.parameters(), label)
    if [variable.id for variable in constraint.variables()] != [space._variable.id]:
        raise StatementError(f"{label!r} must use space.p of this model, and no other variable")
    if not constraint.is_dcp():
        raise StatementError(
            f"{label!r} is not convex by CVXPY's rules: {constraint}; state it as an affine equation, or as a convex "
            "expression that is at most a concave one, such as cp.sum(cp.entr(block.expr)) >= 1"
        )
    kinds = cp.constraints
    linear = kinds.Equality | kinds.Zero | kinds.Inequality | kinds.NonNeg | kinds.NonPos
    if isinstance(constraint, linear) and constraint.expr.is_affine():
        pieces: list[Any] | None = [constraint.expr]
    elif isinstance(constraint, kinds.Inequality):
        _check_finite(constraint, label)
        pieces = affine_pieces(constraint.expr)
    else:
        kind = type(constraint).__name__
        raise StatementError(f"{label!r} is a {kind} constraint; compare a convex expression with a number instead")
    if pieces is None:
        return _without_zero_references(constraint, space, label)
    blocks = [linearise(_orientation(constraint) * piece, space._variable, np.zeros(len(space))) for piece in pieces]
    matrix = sp.csr_array(sp.vstack([block[0] for block in blocks], format="csr"))
    constant = np.concatenate([block[1] for block in blocks])
    return None, Rows(matrix * space.n_records, *_sides(constraint, constant), label)


def _without_zero_references(constraint: Any, space: Space, label: str) -> tuple[Any, Rows | None]:
    """Write divergences from 0 as rows, since they are infinite if their first argument is above 0."""
    import cvxpy as cp

    zeros: list[Any] = []

    def rewritten(e: Any) -> Any:
        if type(e).__name__ in ("kl_div", "rel_entr") and e.args[1].is_constant() and e.args[0].is_affine():
            reference = np.broadcast_to(np.asarray(e.args[1].value, dtype=float), e.shape).ravel(order="F")
            if (reference == 0).any():
                if e.args[1].parameters():  # the rows would remain when the parameter changes
                    raise StatementError(
                        f"{label!r} contains a divergence from a CVXPY Parameter that is 0; give it a positive value, "
                        "or write 0 as a number"
                    )
                nonzero, zero = np.flatnonzero(reference != 0), np.flatnonzero(reference == 0)
                value = cp.vec(e.args[0] if e.args[0].shape == e.shape else e.args[0] + np.zeros(e.shape), order="F")
                zeros.append(value[zero])
                if not len(nonzero):
                    return cp.Constant(np.zeros(e.shape))
                place = sp.csc_array(sp.eye_array(e.size))[:, nonzero]
                return cp.reshape(place @ type(e)(value[nonzero], reference[nonzero]), e.shape, order="F")
        return e.copy([rewritten(argument) for argument in e.args]) if e.args else e

    left, right = (rewritten(side) for side in constraint.args)
    if not zeros:
        return constraint, None
    matrix, constant = linearise(cp.hstack(zeros), space._variable, np.zeros(len(space)))
    return left <= right, Rows(matrix * space.n_records, -constant, -constant, label)


def read_again(constraint: Any, rows: Rows, space: Space, label: str) -> Rows:
    """Read the rows of a constraint at other values of its parameters."""
    # If the constraint is jointly affine in terms and parameters, the matrix of its rows is constant, and only their
    # sides are computed again, from the expression at x = 0. Otherwise, all of it is read again.
    import cvxpy as cp

    as_variables = {id(parameter): cp.Variable(parameter.shape) for parameter in constraint.parameters()}
    if constraint.expr.tree_copy(id_objects=as_variables).is_affine():
        constant = value_at(constraint.expr, space.counts, np.zeros(len(space)))
        low, high = _sides(constraint, _orientation(constraint) * constant)
        return replace(rows, low=low, high=high)
    _, now = read_constraint(constraint, space, rows.label)
    if now is None:
        raise StatementError(
            f"{label!r} has a different form at the new values of its parameters; remove it and add it again"
        )
    return now


def _check_finite(constraint: Any, label: str) -> None:
    """Check that constants of a convex constraint are finite: with NaN, the constraint would seem satisfied."""
    for constant in constraint.constants():
        value = constant.value
        values = np.asarray(value.data if hasattr(value, "tocsr") else value)
        if bad := int(np.sum(~np.isfinite(values))):
            raise BadProbability(
                f"{label!r} contains NaN or infinity in {bad} of the {values.size} entries of a constant; each must be "
                "a finite number (a Series has NaN if it was reindexed to labels that it lacks)"
            )


def number_on_left(constraint: Any) -> bool:
    """Return whether the constraint is ``c <= x``, which CVXPY makes of ``x >= c``; c is then the low side of its price."""
    return len(constraint.args) == 2 and constraint.args[0].is_constant() and not constraint.args[1].is_constant()


def _orientation(constraint: Any) -> float:
    """Return the sign with which the expression, left minus right, becomes a row of the side that has terms."""
    return -1.0 if number_on_left(constraint) else 1.0


def _sides(constraint: Any, constant: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sides of A x for a constraint on A x + constant."""
    import cvxpy as cp

    # In CVXPY, Inequality and NonPos mean expr <= 0, NonNeg means expr >= 0.
    nothing = np.full(len(constant), np.inf)
    if isinstance(constraint, cp.constraints.Equality | cp.constraints.Zero):
        return -constant, -constant
    if isinstance(constraint, cp.constraints.NonNeg) or number_on_left(constraint):
        return -constant, nothing
    return -nothing, -constant


# Rows stated in CVXPY.


class Piece(NamedTuple):
    """A CVXPY constraint of a model, and the rows that it states."""

    constraint: Any
    block: int | None = None  # number of the block of rows of the source; None for a convex constraint
    # Positions of rows in the block, one per entry of the constraint; None if dual values are not multipliers of rows.
    rows: np.ndarray | None = None
    to_multiplier: float = 0.0  # the factor from a dual value to the multiplier of the row ``A p``


def stated(rows: Rows, space: Space, block: int, written: Any, side: Any, unit: float) -> list[Piece]:
    """State hard rows in CVXPY, by the constraint from which they were read, if any; `unit` is N for records."""
    import cvxpy as cp

    if written is not None:
        is_affine = written.size == len(rows) and written.expr.is_affine()
        sign = _orientation(written) * (1.0 if isinstance(written, cp.constraints.NonNeg) else -1.0)
        return [Piece(written, block, np.arange(len(rows)) if is_affine else None, sign)]
    low, high = rows.low * unit, rows.high * unit
    if unit != 1:
        low, high = rounded_to_integers(low), rounded_to_integers(high)
    pieces = []
    for relation, chosen in by_relation(low, high):
        bound = (high if relation == "<=" else low)[chosen] + 0.0  # converts -0 to 0
        limit = side if side is not None else float(bound[0]) if len(bound) == 1 else bound
        constraint = RELATE[relation](_value(rows, chosen, space, unit), limit)
        pieces.append(Piece(constraint, block, chosen, unit if relation == ">=" else -unit))
    return pieces


def _value(rows: Rows, chosen: np.ndarray, space: Space, unit: float = 1.0) -> Any:
    """Return the values of some rows as an expression of the counts, in which the matrix is printed as "A"."""
    import cvxpy as cp

    matrix = rows.matrix[chosen] * (unit / space.n_records)
    return cp.Constant(sp.csr_array(matrix), name="A") @ space.counts


def cost_of(rows: Rows, space: Space, side: Any = None) -> Any:
    """Return the cost of violating soft rows, in nats, as an expression of the counts."""
    import cvxpy as cp

    assert rows.penalty is not None
    n = len(rows)
    value = _value(rows, np.arange(n), space)
    variance, slope = rows.penalty.variance_and_slope(n)
    above, below = np.isfinite(rows.high), np.isfinite(rows.low)
    cost: Any = 0.0
    for at, distance in (
        (np.flatnonzero(rows.low == rows.high), lambda v, low, high: v - low),
        (np.flatnonzero(below & ~above), lambda v, low, high: cp.pos(low - v)),
        (np.flatnonzero(above & ~below), lambda v, low, high: cp.pos(v - high)),
        (np.flatnonzero(below & above & (rows.low < rows.high)), lambda v, low, high: cp.maximum(low - v, v - high, 0)),
    ):
        if len(at):
            low, high = (rows.low[at], rows.high[at]) if side is None else (side, side)
            cost += cost_of_missing(distance(value[at] if len(at) < n else value, low, high), variance[at], slope[at])
    return cost
