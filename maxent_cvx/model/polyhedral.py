"""Convex constraints that are finitely many affine ones: absolute values, maxima, and even powers of one number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["affine_pieces"]

#: The largest number of affine expressions that one constraint is written as; sums of maxima multiply.
MOST_PIECES = 64


def affine_pieces(expression: Any) -> list[Any] | None:
    """Write ``expression <= 0`` as affine expressions that are all <= 0; None if it is something else, or too many.

    Parameters
    ----------
    expression : cvxpy.Expression
        Convex.
    """
    pieces = _pieces(expression, 0.0)
    return None if pieces is None or len(pieces) > MOST_PIECES else pieces


def _pieces(e: Any, rest: Any) -> list[Any] | None:
    """Write ``e + rest <= 0``, rest being affine."""
    if e.is_affine():
        return [e + rest]
    reader = READERS.get(type(e).__name__)
    return None if reader is None else reader(e, rest)


def _all(parts: list[list[Any] | None]) -> list[Any] | None:
    """Everything that all parts say; None if one of them cannot be said."""
    return None if any(part is None for part in parts) else [one for part in parts for one in part or []]


def _sum(e: Any, rest: Any) -> list[Any] | None:
    """|a| + |b| <= c is four affine constraints: the pieces of one summand, with each of the pieces of the others."""
    flat = sum((one for one in e.args if one.is_affine()), rest)
    return _sum_of([one for one in e.args if not one.is_affine()], flat)


def _sum_of(curved: list[Any], rest: Any) -> list[Any] | None:
    first, *others = curved
    if not others:
        return _pieces(first, rest)
    pieces = _pieces(first, 0.0)
    if pieces is None or len(pieces) > MOST_PIECES or any(piece.size != 1 for piece in pieces):
        return None
    return _all([_sum_of(others, rest + piece) for piece in pieces])


def _negative(e: Any, rest: Any) -> list[Any] | None:
    inner = e.args[0]
    if type(inner).__name__ == "minimum":
        return _all([_pieces(-one, rest) for one in inner.args])
    if type(inner).__name__ == "min" and inner.get_data()[0] is None:
        return _pieces(-inner.args[0], rest)
    if type(inner).__name__ in ("multiply", "MulExpression", "DivExpression"):
        return _multiple(inner, rest, sign=-1.0)
    return None


def _multiple(e: Any, rest: Any, sign: float = 1.0) -> list[Any] | None:
    """Divide by a constant factor, which the rest is divided by instead."""
    if type(e).__name__ == "DivExpression":
        by, inner = 1 / np.asarray(e.args[1].value, dtype=float), e.args[0]
    else:
        at = 0 if e.args[0].is_constant() else 1
        by, inner = np.asarray(e.args[at].value, dtype=float), e.args[1 - at]
    if by.size != 1 or by.item() == 0:
        return None
    factor = sign * by.item()
    return _pieces(inner, rest / factor) if factor > 0 else _pieces(-inner, rest / -factor)


def _largest(e: Any, rest: Any) -> list[Any] | None:
    """The largest of some numbers is at most the rest if all are."""
    return _pieces(e.args[0], rest) if e.get_data()[0] is None else None


def _absolute(e: Any, rest: Any) -> list[Any] | None:
    return _all([_pieces(e.args[0], rest), _pieces(-e.args[0], rest)]) if e.args[0].is_affine() else None


def _power(e: Any, rest: Any) -> list[Any] | None:
    """|x|^p <= c is |x| <= c^(1/p) for even p, if the rest is a constant."""
    p = float(e.p.value if hasattr(e.p, "value") else e.p)
    if p not in (2.0, 4.0) or not e.args[0].is_affine():
        return None
    constant = -np.asarray(rest.value if hasattr(rest, "value") else rest, dtype=float)
    if (hasattr(rest, "is_constant") and not rest.is_constant()) or (constant < 0).any():
        return None
    root = constant ** (1 / p)
    return [e.args[0] - root, -e.args[0] - root]


def _norm_of_one(e: Any, rest: Any) -> list[Any] | None:
    """Any norm of a single number is its absolute value."""
    return _absolute(e, rest) if e.args[0].size == 1 else None


def _largest_absolute(e: Any, rest: Any) -> list[Any] | None:
    return _absolute(e, rest) if e.get_data()[0] is None else None


def _l1(e: Any, rest: Any) -> list[Any] | None:
    """|a| + |b| + ... of few numbers: one affine constraint for each choice of signs."""
    import cvxpy as cp

    inner = e.args[0] if type(e).__name__ != "Sum" else e.args[0].args[0]
    if e.size != 1 or inner.size > math.log2(MOST_PIECES) / 2 or not inner.is_affine():
        return None
    signs = np.stack(np.meshgrid(*[[-1.0, 1.0]] * inner.size), axis=-1).reshape(-1, inner.size)
    return [signs @ cp.vec(inner, order="F") + rest]


READERS: dict[str, Any] = {
    "AddExpression": _sum,
    "NegExpression": _negative,
    "DivExpression": _multiple,
    "multiply": _multiple,
    "MulExpression": _multiple,
    "Promote": lambda e, rest: _pieces(e.args[0], rest),
    "max": _largest,
    "maximum": lambda e, rest: _all([_pieces(one, rest) for one in e.args]),
    "abs": _absolute,
    "Power": _power,
    "PowerApprox": _power,
    "power": _power,
    "norm_inf": _largest_absolute,
    "norm1": lambda e, rest: _norm_of_one(e, rest) or _l1(e, rest),
    "Pnorm": _norm_of_one,
    "PnormApprox": _norm_of_one,
    "Sum": lambda e, rest: _l1(e, rest) if type(e.args[0]).__name__ == "abs" else None,
}
