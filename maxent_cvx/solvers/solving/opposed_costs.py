r"""Soft rows that contradict each other at great cost: the same problem with multipliers of moderate size.

Let two soft rows say that K x is .3 and .35, with standard deviations of 10^-6. Each misses its side b by a residual
r = b - K x of about .03, and has the multiplier m = r / v = 10^10, v being its variance. These cancel in A' m, of which
only rounding is left. For any multipliers m0 of the rows, and e = A' m0,

    sum r^2 / (2 v)  =  sum (r - v m0)^2 / (2 v) - e' x + constant

on the points that satisfy the hard rows: with the sides b - v m0 and the weights w exp(e) the problem is the same, and
its multipliers are m - m0. So m0 is chosen in the null space of A', where it minimises the dual function but for the
entropy, and e, which is rounding, is computed exactly.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..certificate.residuals import exact_residuals
from ..parameters.size_limits import ATTEMPT_SIZES
from ..parameters.tolerances import EPS, PENALTIES
from ..presolve.reduced import Reduced
from ..program.linear_form import LinearForm
from ..program.problem import Problem

__all__ = ["balanced"]


def balanced(problem: Problem, reduced: Reduced) -> tuple[Problem, np.ndarray] | None:
    """The same problem with smaller multipliers, and what is to be added to these; None if there are no such.

    Parameters
    ----------
    problem : Problem
    reduced : Reduced
        What presolve has made of it: terms with only one feasible value are left out.
    """
    form, penalties, fixed = problem.form, problem.form.penalties, reduced.fixed
    if penalties is None:
        return None
    variance = np.zeros(form.shape[0])
    variance[form.n_hard :] = penalties.variance
    quadratic = np.zeros(form.shape[0], dtype=bool)
    quadratic[form.n_hard :] = np.isinf(penalties.slope) & ~penalties.is_divergence & (penalties.variance > 0)
    of_row, of_term = form.components(~fixed)
    concerned = np.isin(of_row, of_row[quadratic])
    exact = (form.coefficient_error == 0) & form.is_equation & concerned
    rows = np.flatnonzero(exact & (quadratic | (np.arange(form.shape[0]) < form.n_hard)))
    terms = np.flatnonzero(~fixed & np.isin(of_term, of_row[quadratic]))
    if not len(rows) or not len(terms) or len(terms) * len(rows) ** 2 > ATTEMPT_SIZES.opposed_costs:
        return None
    by_term = sp.csr_array(form.rows(rows)[:, terms].T)
    null = scipy.linalg.null_space(by_term.toarray(), rcond=PENALTIES.dependent)
    v = variance[rows] / variance[rows].max()
    side = form.low[rows] - form.rows(rows) @ np.where(fixed, reduced.counts, 0.0)
    m = null @ np.linalg.lstsq(null.T @ (v[:, None] * null), null.T @ side)[0] / variance[rows].max()
    if not np.abs(m[quadratic[rows]]).max(initial=0.0) > PENALTIES.opposed:
        return None
    plain = LinearForm.plain(by_term, np.zeros(len(terms)), np.zeros(len(terms)))
    change = exact_residuals(plain, m, np.arange(len(terms)), np.zeros(len(terms)))
    moved = variance[rows] * m
    low, weights, error = form.low.copy(), form.weights.astype(float), form.side_error.copy()
    low[rows] -= moved
    with np.errstate(over="ignore"):
        weights[terms] *= np.exp(change)
    if not (np.isfinite(weights) & (weights > 0)).all():
        return None
    error[rows] += PENALTIES.rounding * np.abs(moved) + EPS * np.abs(low[rows]) * (moved != 0)
    high = np.where(np.isin(np.arange(len(low)), rows), low, form.high)
    added = np.zeros(form.shape[0])
    added[rows] = m
    return problem.with_rows(replace(form, low=low, high=high, weights=weights, side_error=error)), added
