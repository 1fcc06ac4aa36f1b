"""A linear form as CVXPY constraints, and the whole problem in CVXPY, which users can print and extend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..program.linear_form import LinearForm

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["ConstraintBlock", "constraints", "entropy_problem", "soft_rows"]


class ConstraintBlock(NamedTuple):
    """One CVXPY constraint for many rows, and the sign that turns its dual values into multipliers."""

    rows: np.ndarray
    sign: float
    constraint: Any


def soft_rows(form: LinearForm) -> tuple[cp.Variable | None, Any]:
    """By how much each soft row is missed, a variable, and the cost of that, nats; None and 0 if all rows are hard."""
    import cvxpy as cp

    if form.penalties is None:
        return None, 0.0
    missed = cp.Variable(len(form.penalties), name="missed")
    variance, slope, divergence = form.penalties.variance, form.penalties.slope, form.penalties.is_divergence
    cost: Any = 0.0
    if len(some := np.flatnonzero(divergence)):  # of the value, whose sign in `missed` is the other one
        temperature, target = form.penalties.temperature, form.penalties.target
        assert temperature is not None
        assert target is not None
        cost += temperature[some] @ cp.kl_div(-missed[some], target[some])
    if len(some := np.flatnonzero((variance == 0) & ~divergence)):
        cost += slope[some] @ cp.abs(missed[some])
    if len(some := np.flatnonzero((variance > 0) & np.isinf(slope))):
        cost += cp.sum_squares(cp.multiply(1 / np.sqrt(2 * variance[some]), missed[some]))
    if len(some := np.flatnonzero((variance > 0) & np.isfinite(slope))):
        # cvxpy.huber(y, 1) is y^2 up to |y| = 1, and 2 |y| - 1 beyond.
        knee = variance[some] * slope[some]
        cost += (knee * slope[some] / 2) @ cp.huber(cp.multiply(1 / knee, missed[some]))
    return missed, cost


def constraints(form: LinearForm, counts: cp.Expression, missed: cp.Variable | None = None) -> list[ConstraintBlock]:
    """Write all rows as at most three constraints: compiling one constraint a row takes seconds.

    Parameters
    ----------
    form : LinearForm
    counts : Expression, one a term
    missed : Variable, optional
        What is added to the values of soft rows, so that they hold: see :func:`soft_rows`.
    """
    exact = np.flatnonzero(form.is_equation)
    at_least = np.flatnonzero(~form.is_equation & np.isfinite(form.low))
    at_most = np.flatnonzero(~form.is_equation & np.isfinite(form.high))
    blocks = []
    if len(exact):
        blocks.append(ConstraintBlock(exact, -1.0, _values(form, exact, counts, missed) == form.low[exact]))
    if len(at_least):
        blocks.append(ConstraintBlock(at_least, 1.0, _values(form, at_least, counts, missed) >= form.low[at_least]))
    if len(at_most):
        blocks.append(ConstraintBlock(at_most, -1.0, _values(form, at_most, counts, missed) <= form.high[at_most]))
    return blocks


def _values(form: LinearForm, rows: np.ndarray, counts: cp.Expression, missed: cp.Variable | None) -> Any:
    """The values of some rows, to which soft rows add by how much they are missed."""
    soft = np.flatnonzero(rows >= form.n_hard)
    if missed is None or not len(soft):
        return form.rows(rows) @ counts
    place = (np.ones(len(soft)), (soft, rows[soft] - form.n_hard))
    return form.rows(rows) @ counts + sp.csr_array(place, shape=(len(rows), form.shape[0] - form.n_hard)) @ missed


def entropy_problem(
    form: LinearForm, counts: cp.Variable, multiplicities: np.ndarray, n_records: int, convex: Sequence[Any] = ()
) -> cp.Problem:
    """The problem max H over all rows, H = -sum p log(p / w) = (sum entr(counts) + log(w) counts) / N + log N, nats.

    The costs of soft rows, divided by N, are subtracted.
    """
    import cvxpy as cp

    missed, cost = soft_rows(form)
    labelled = []
    every = np.arange(form.shape[0])
    parts = {
        "published": every[: form.n_published],
        "known": every[form.n_published : form.n_hard],
        "soft": every[form.n_hard :],
    }
    for name, rows in parts.items():
        some = form.select(rows)
        own = missed if name == "soft" else None
        labelled += [block.constraint.set_label(name) for block in constraints(some, counts, own)]
    entropy = cp.sum(cp.entr(counts)) / n_records + math.log(n_records)
    if (multiplicities != 1).any():
        entropy += (np.log(multiplicities) / n_records) @ counts
    if missed is not None:
        entropy -= cost / n_records
    return cp.Problem(cp.Maximize(entropy), [*labelled, *convex])
