"""Multipliers that fit the counts of an answer, and a bound by a certified point nearby.

The certificate of counts x needs multipliers m with x = w exp(A' m - 1). A conic solver's own are often less precise
than its counts: an interior-point method that stops early leaves those of nearly active inequalities undetermined.

1. The least-squares solution of sum_j x_j (log(x_j / w_j) + 1 - (A' m)_j)^2 over the equations and the active inequalities
   fits them to the counts: to first order it minimises the duality gap at x, which is sum_j x_j d_j^2 / 2.
2. Let y be a point with a certificate of its own. Every P(s | q) of x is within the bound of y, plus the distance of x
   from y relative to the records of q. So counts are certified that are nearly right, but not so nearly that a gap, of
   which the bound has the square root, tells it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .certificate import Certificate
from .form import LinearForm, Problem
from .parameters import EPS
from .schur import detect_blocks, newton_system

#: Rounds of leaving out inequalities whose multipliers have the wrong sign.
SIGN_ROUNDS = 10
#: Relative ridge and precision of the least squares: rows that depend on others share a multiplier.
RIDGE, PRECISION = 1e-12, 1e-12
#: Relative to the side: an inequality that is as close to it may be active at an answer that is not exact.
NEARLY = 1e-5


@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def fitted(form: LinearForm, counts: np.ndarray, multipliers: np.ndarray) -> np.ndarray | None:
    """Fit the multipliers of hard rows to counts; those of soft rows stay. None if they cannot be fitted."""
    original, (form, order) = form, detect_blocks(form)
    x, m = np.maximum(counts, 0.0), form.project_to_dual_cone(multipliers[order])
    value, is_hard = form.matvec(x), np.arange(form.shape[0]) < form.n_hard
    close = NEARLY * np.maximum(np.abs(value), 1.0)
    at_low, at_high = is_hard & (value - form.low <= close), is_hard & (form.high - value <= close)
    soft = form.rmatvec(np.where(is_hard, 0.0, m))
    target = np.where(x > 0, np.log(x / form.weights) + 1 - soft, 0.0)
    factor = newton_system(form).at(x, RIDGE)
    active, fit = at_low | at_high, np.zeros(len(m))
    for _ in range(SIGN_ROUNDS):
        # No published row can be left out of the system; the multipliers of inactive ones are set to 0.
        gradient = np.where(active, form.matvec(x * target), 0.0)
        fit = np.where(active, factor.solve(gradient, np.flatnonzero(active[form.n_published :]), PRECISION), 0.0)
        wrong = active & ~form.is_equation & (((fit > 0) & ~at_low) | ((fit < 0) & ~at_high))
        if not wrong.any():
            break
        active &= ~wrong
    fit = form.project_to_dual_cone(np.where(is_hard, fit, m))
    if not np.isfinite(fit).all():
        return None
    back = np.empty(original.shape[0])
    back[order] = fit
    return back


def by_distance(certificate: Certificate, near: np.ndarray, counts: np.ndarray, problem: Problem) -> Certificate:
    """Certify counts by their distance from others, which have a certificate."""
    (of_term, records), x = problem.groups, np.maximum(counts, 0.0)
    apart = np.abs(x - np.maximum(near, 0.0))
    furthest = float((np.bincount(of_term, apart, len(records)) / records).max(initial=0.0))
    return replace(
        certificate,
        residual=float(problem.form.residual(x).max(initial=0.0)),
        clipped=float(max(0.0, -counts.min(initial=0.0))),
        moved=certificate.moved + float(apart.max(initial=0.0)),
        bound=(certificate.bound + furthest) * (1 + 64 * EPS),
    )
