"""Read a convex CVXPY expression as a sum of costs of affine rows and an affine rest, if it is one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ..backends.linearization import linearise
from ..parameters.tolerances import EPS
from ..rows.penalties import Penalties
from .budget import Budget

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["read_budget"]


@dataclass
class Parts:
    """What has been read of an expression over n terms.

    Attributes
    ----------
    variable : Variable
        All counts.
    rows : list of (csr_array, low, high, Penalties)
    linear : ndarray, one a term
    constants : list of float
        Their sum is the constant.
    zeros : list of csr_array
        Rows that must be 0, as their divergence from 0 is infinite elsewhere.
    norm : tuple or None
        The factor, matrix and constants of one Euclidean norm, which is no sum of costs unless nothing else is there.
    """

    variable: cp.Variable
    rows: list[tuple[sp.csr_array, np.ndarray, np.ndarray, Penalties]] = field(default_factory=list)
    linear: np.ndarray = field(default_factory=lambda: np.empty(0))
    constants: list[float] = field(default_factory=list)
    zeros: list[sp.csr_array] = field(default_factory=list)
    norm: tuple[float, sp.csr_array, np.ndarray] | None = None

    def affine(self, expression: Any) -> tuple[sp.csr_array, np.ndarray]:
        """The matrix and the constants of an affine expression."""
        return linearise(expression, self.variable, np.zeros(self.variable.size))

    def add(self, factor: np.ndarray, expression: Any, kind: str, parameter: float = np.inf) -> bool:
        """Add the costs of an affine expression: factor times its square, absolute value, Huber's function or part."""
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
        self.add_constants(factor * constant)

    def add_constants(self, constants: np.ndarray) -> None:
        """Add the sum of some constants."""
        self.constants += constants.tolist()


def read_budget(expression: Any, variable: cp.Variable, name: str) -> Budget | None:
    """Read ``expression <= 0``, a scalar; None if it is no sum of costs.

    Squares, absolute values, Huber's function, positive and negative parts, divergences from constants, entropies and
    quadratic forms of affine expressions are costs; a Euclidean norm is one where all else is a constant.
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
        parts.constants = [-radius * abs(radius)]  # below 0 neither the norm nor its square can be
    if not parts.rows:
        return None
    penalties = parts.rows[0][3]
    for *_, more in parts.rows[1:]:
        penalties = penalties.then(more)
    matrix = sp.csr_array(sp.vstack([one[0] for one in parts.rows], format="csr"))
    low, high = (np.concatenate([one[i] for one in parts.rows]) for i in (1, 2))
    zeros = sp.csr_array(sp.vstack([sp.csr_array((0, variable.size)), *parts.zeros], format="csr"))
    # Each constant is a product that is rounded once, or the square of a quotient; their sum is rounded once.
    error = (1 if norm is None else 4) * EPS * math.fsum(map(abs, parts.constants))
    limit = -math.fsum(parts.constants)
    return Budget(matrix, low, high, penalties, parts.linear, limit, name, zeros, norm, error).scaled()


def _read(e: Any, factor: np.ndarray, parts: Parts) -> bool:
    """Add factor' vec(e) to what has been read; False if some part of it is no cost."""
    if e.is_affine():
        parts.add_linear(factor, e)
        return True
    kind = type(e).__name__
    factor = np.broadcast_to(factor, e.size)
    read = READERS.get(kind)
    return read is not None and read(e, factor, parts)


def _sum(e: Any, factor: np.ndarray, parts: Parts) -> bool:
    inner = e.args[0]
    return e.size == 1 and _read(inner, np.full(inner.size, factor[0]), parts)


def _product(e: Any, factor: np.ndarray, parts: Parts) -> bool:
    """A constant times an expression by elements, or the product of a constant matrix or vector and a vector."""
    at = 0 if e.args[0].is_constant() else 1
    constant, inner = e.args[at].value, e.args[1 - at]
    constant = np.asarray(constant.todense() if sp.issparse(constant) else constant, dtype=float)  # type: ignore[attr-defined]
    if type(e).__name__ == "multiply" or constant.size == 1:
        return _read(inner, factor * np.broadcast_to(constant, e.shape).ravel(order="F"), parts)
    if len(inner.shape) != 1:
        return False
    matrix = np.atleast_2d(constant).T if at == 0 or constant.ndim == 1 else constant
    return _read(inner, matrix @ factor, parts)


def _power(e: Any, factor: np.ndarray, parts: Parts) -> bool:
    return float(e.p.value if hasattr(e.p, "value") else e.p) == 2 and parts.add(factor, e.args[0], "square")


def _quad_over_lin(e: Any, factor: np.ndarray, parts: Parts) -> bool:
    if e.get_data()[0] is not None or not e.args[1].is_constant():
        return False
    return parts.add(factor / float(e.args[1].value), e.args[0], "square")


def _quadratic_form(e: Any, factor: np.ndarray, parts: Parts) -> bool:
    """Read x' P x as the sum of squares of D^(1/2) V' x, P = V D V'."""
    import cvxpy as cp

    if not e.args[1].is_constant() or not e.args[0].is_affine():
        return False
    matrix: Any = e.args[1].value
    dense = np.asarray(matrix.todense() if sp.issparse(matrix) else matrix)  # type: ignore[attr-defined]
    values, vectors = np.linalg.eigh(dense)
    kept = values > np.finfo(float).eps * len(values) * values.max(initial=0.0)
    root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    return parts.add(np.full(int(kept.sum()), factor[0]), root @ cp.vec(e.args[0], order="F"), "square")


def _extreme(e: Any, factor: np.ndarray, parts: Parts, part: str) -> bool:
    """max(x, 0) and min(x, 0)."""
    first, second = e.args[0], e.args[1] if len(e.args) == 2 else e.args[0]
    if len(e.args) != 2 or not second.is_constant() or np.any(second.value) or first.size != e.size:
        return False
    return parts.add(factor, first, "positive part") if part == "max" else parts.add(-factor, first, "negative part")


def _norm(e: Any, factor: np.ndarray, parts: Parts) -> bool:
    p, axis = e.get_data()[:2]
    if float(p) != 2 or axis is not None or parts.norm is not None or factor[0] <= 0 or not e.args[0].is_affine():
        return False
    parts.norm = (float(factor[0]), *parts.affine(e.args[0]))
    return True


def _kl_div(e: Any, factor: np.ndarray, parts: Parts) -> bool:
    y, target = e.args
    return target.is_constant() and parts.add_divergence(factor, y, np.asarray(target.value).ravel(order="F"))


def _rel_entr(e: Any, factor: np.ndarray, parts: Parts) -> bool:
    """Read y log(y / t) as kl_div(y, t) + y - t."""
    y, target = e.args
    if not target.is_constant():
        return False
    value = np.broadcast_to(np.asarray(target.value, dtype=float).ravel(order="F"), e.size)
    if not parts.add_divergence(factor, y, value):
        return False
    parts.add_linear(factor, y)
    parts.add_constants(-factor * value)
    return True


def _entr(e: Any, factor: np.ndarray, parts: Parts) -> bool:
    """Read y log y, of which ``entr`` is the negative, as kl_div(y, 1) + y - 1."""
    if not parts.add_divergence(-factor, e.args[0], np.ones(e.size)):
        return False
    parts.add_linear(-factor, e.args[0])
    parts.add_constants(factor)
    return True


READERS: dict[str, Any] = {
    "AddExpression": lambda e, f, p: all(
        _read(one, f if one.size == len(f) else f.sum(keepdims=True), p) for one in e.args
    ),
    "NegExpression": lambda e, f, p: _read(e.args[0], -f, p),
    "DivExpression": lambda e, f, p: _read(
        e.args[0], f / np.broadcast_to(e.args[1].value, e.shape).ravel(order="F"), p
    ),
    "Promote": lambda e, f, p: _read(e.args[0], f.sum(keepdims=True), p),
    "reshape": lambda e, f, p: e.order == "F" and _read(e.args[0], f, p),
    "Sum": _sum,
    "multiply": _product,
    "MulExpression": _product,
    "Power": _power,
    "PowerApprox": _power,
    "power": _power,
    "quad_over_lin": _quad_over_lin,
    "QuadForm": _quadratic_form,
    "abs": lambda e, f, p: p.add(f, e.args[0], "absolute"),
    "norm1": lambda e, f, p: e.size == 1 and p.add(np.full(e.args[0].size, f[0]), e.args[0], "absolute"),
    "huber": lambda e, f, p: p.add(f, e.args[0], "huber", float(e.M.value)),
    "maximum": lambda e, f, p: _extreme(e, f, p, "max"),
    "minimum": lambda e, f, p: _extreme(e, f, p, "min"),
    "Pnorm": _norm,
    "PnormApprox": _norm,
    "kl_div": _kl_div,
    "rel_entr": _rel_entr,
    "entr": _entr,
}
