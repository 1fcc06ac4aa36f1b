"""A linear form as CVXPY constraints, and the whole problem in CVXPY, which users can print and extend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..program.linear_form import LinearForm

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["ConstraintBlock", "constraints", "entropy_problem"]


class ConstraintBlock(NamedTuple):
    """One CVXPY constraint for many rows, and the sign that turns its dual values into multipliers."""

    rows: np.ndarray
    sign: float
    constraint: Any


def constraints(form: LinearForm, counts: cp.Variable) -> list[ConstraintBlock]:
    """Write all rows as at most three constraints: compiling one constraint a row takes seconds."""
    exact = np.flatnonzero(form.is_equation)
    at_least = np.flatnonzero(~form.is_equation & np.isfinite(form.low))
    at_most = np.flatnonzero(~form.is_equation & np.isfinite(form.high))
    blocks = []
    if len(exact):
        blocks.append(ConstraintBlock(exact, -1.0, form.matrix[exact] @ counts == form.low[exact]))
    if len(at_least):
        blocks.append(ConstraintBlock(at_least, 1.0, form.matrix[at_least] @ counts >= form.low[at_least]))
    if len(at_most):
        blocks.append(ConstraintBlock(at_most, -1.0, form.matrix[at_most] @ counts <= form.high[at_most]))
    return blocks


def entropy_problem(
    form: LinearForm, counts: cp.Variable, multiplicities: np.ndarray, n_records: int, convex: Sequence[Any] = ()
) -> cp.Problem:
    """The problem max H over all rows, H = -sum p log(p / w) = (sum entr(counts) + log(w) counts) / N + log N, nats."""
    import cvxpy as cp

    labelled = []
    every = np.arange(form.shape[0])
    for name, rows in (("published", every[: form.n_published]), ("known", every[form.n_published :])):
        some = form.select(rows)
        labelled += [block.constraint.set_label(name) for block in constraints(some, counts)]
    entropy = cp.sum(cp.entr(counts)) / n_records + math.log(n_records)
    if (multiplicities != 1).any():
        entropy += (np.log(multiplicities) / n_records) @ counts
    return cp.Problem(cp.Maximize(entropy), [*labelled, *convex])
