"""Multipliers of all rows, recovered from the counts of a solution; those of rows that presolve removed, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..linear.facial_reduction import facial_reduction
from ..linear_algebra.newton_system import newton_system
from ..linear_algebra.single_thread import single_thread
from ..parameters.tolerances import MULTIPLIERS
from ..presolve.zero_proofs import empty_terms
from ..program.block_detection import detect_blocks
from ..program.linear_form import LinearForm

__all__ = ["multipliers_beside", "multipliers_from_counts"]


@single_thread
def multipliers_from_counts(form: LinearForm, counts: np.ndarray) -> np.ndarray:
    """Find multipliers m with x = w exp(A' m - 1) where x > 0; they are infinite for rows that force zeros.

    Parameters
    ----------
    form : LinearForm
    counts : ndarray
        The maximum-entropy solution, records, with zeros where rows force zeros.

    Returns
    -------
    ndarray, one a row
        The derivative of the maximum of sum x log(w / x) with respect to the side of each row is -m, the shadow price.
        It is infinite where changing the side, in the only feasible direction, makes terms positive that are forced to
        zero, as the derivative of x log x is infinite at 0. Identical rows share their multiplier equally; rows whose
        value the hard constraints determine have 0. NaN for all rows if no multipliers exist.

    Notes
    -----
    The least-squares solution of minimal norm of A' m = log(x / w) + 1 over the terms with x > 0. Inequalities that are
    inactive, or for which it has the wrong sign, get 0. If that leaves a residual, inequalities are added again one by
    one; of identical ones, one may then have the whole multiplier.
    """
    return _multipliers(form, counts, ~determined(form))


def multipliers_beside(form: LinearForm, counts: np.ndarray, soft: np.ndarray) -> np.ndarray:
    """The multipliers of all rows, where those of the soft rows are given."""
    found = np.concatenate([np.zeros(form.n_hard), soft])
    with np.errstate(under="ignore", over="ignore"):
        hard = replace(form.hard, weights=form.weights * np.exp(form.rmatvec(found)))
    found[: form.n_hard] = multipliers_from_counts(hard, counts)
    return found


def determined(form: LinearForm) -> np.ndarray:
    """Mark rows of knowledge whose value the hard constraints determine: linear combinations of equations among these.

    Notes
    -----
    A row is such a combination if and only if it is orthogonal to all x with E x = 0, E being the equations. It is
    tested against one such x, drawn at random, to which any other row is orthogonal with probability 0.
    """
    found = np.zeros(form.shape[0], dtype=bool)
    equations = form.select(np.flatnonzero(form.is_equation[: form.n_facts]))
    if not equations.shape[0] or form.n_facts == form.shape[0]:
        return found
    x = np.random.default_rng(0).uniform(1, 2, form.shape[1])
    others = np.arange(equations.shape[0] - equations.n_published)
    factor = newton_system(equations).at(np.ones(len(x)), MULTIPLIERS.ridge)
    for _ in range(MULTIPLIERS.refinements):
        x = x - equations.rmatvec(factor.solve(equations.matvec(x), others, MULTIPLIERS.precision))
    determined = np.abs(form.matvec(x)) <= MULTIPLIERS.determined * form.absolute_matvec(np.ones(len(x)))
    found[form.n_facts :] = determined[form.n_facts :]
    return found


def _multipliers(form: LinearForm, counts: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """As :func:`multipliers_from_counts`, with multipliers for the candidate rows only."""
    posed, (form, order) = form, detect_blocks(form)  # published inequalities may be inactive, as knowledge may be
    if form is not posed:
        found = np.empty(form.shape[0])
        found[order] = _multipliers(form, counts, candidates[order])
        return found
    value = form.exact_matvec(counts)
    at_low, at_high = value <= form.low + form.tolerance, value >= form.high - form.tolerance
    tight = replace(form, low=np.where(at_low, form.low, form.high), high=np.where(at_low, form.low, form.high))
    if ((counts > 0) & (counts < MULTIPLIERS.small)).any():  # an inexact solution has small counts for forced zeros
        direction = _with_signs(form, at_low, at_high, candidates, lambda active: _zero_proof(tight, counts, active))
        zero = counts == 0
        counts = np.where(empty_terms(form, direction, zero, np.zeros(len(counts))), 0.0, counts)
    positive = counts > 0
    m = _with_signs(form, at_low, at_high, candidates, lambda active: _finite_multipliers(form, counts, active))
    if np.abs(_residual(form, counts, m)).max(initial=0.0) > MULTIPLIERS.precise:
        m = _with_rows_added(form, counts, m, at_low & candidates, at_high & candidates)
        if np.abs(_residual(form, counts, m)).max(initial=0.0) > MULTIPLIERS.precise:
            return np.full(form.shape[0], np.nan)
    if positive.all():
        return m
    support = positive.astype(float)
    forces = _with_signs(form, at_low, at_high, candidates, lambda active: _zero_proof(tight, support, active))
    return np.where(forces != 0, np.copysign(np.inf, forces), m)


def _with_signs(
    form: LinearForm,
    at_low: np.ndarray,
    at_high: np.ndarray,
    candidates: np.ndarray,
    multipliers: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """Find multipliers of active rows, removing inequalities whose multiplier has the wrong sign, until none has."""
    active = (at_low | at_high) & candidates
    for _ in range(MULTIPLIERS.rounds):
        m = multipliers(active)
        wrong = (
            active
            & ~form.is_equation
            & (((m > MULTIPLIERS.nothing) & ~at_low) | ((m < -MULTIPLIERS.nothing) & ~at_high))
        )
        if not wrong.any():
            break
        active = active & ~wrong
    return m


def _finite_multipliers(form: LinearForm, counts: np.ndarray, active: np.ndarray) -> np.ndarray:
    """The least-squares solution of minimal norm over the terms that are positive."""
    m = np.zeros(form.shape[0])
    known = np.flatnonzero(active[form.n_published :])
    factor = newton_system(form).at((counts > 0).astype(float), MULTIPLIERS.ridge)
    for _ in range(MULTIPLIERS.refinements):
        gradient = np.where(active, form.matvec(_residual(form, counts, m)), 0.0)
        m = m + factor.solve(gradient, known, MULTIPLIERS.precision)
    return m


def _residual(form: LinearForm, counts: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Compute log(x / w) + 1 - A' m over the terms that are positive, and 0 for the others."""
    with np.errstate(divide="ignore"):
        return np.where(counts > 0, np.log(counts / form.weights) + 1 - form.rmatvec(m), 0.0)


def _with_rows_added(
    form: LinearForm, counts: np.ndarray, m: np.ndarray, at_low: np.ndarray, at_high: np.ndarray
) -> np.ndarray:
    """Reduce the residual of multipliers with the right signs by adding inequalities to the active rows.

    Of inequalities that depend on each other :func:`_with_signs` may remove more than it must. The one with the largest
    gradient is added, as by Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23); where a sign would
    become wrong, the step ends, and the row is removed.
    """
    active = (m != 0) | (form.is_equation & (at_low | at_high))
    for _ in range(MULTIPLIERS.rounds):
        gradient = form.matvec(_residual(form, counts, m))
        gradient = np.where(
            active, 0.0, np.where(at_low, np.maximum(gradient, 0), 0) - np.where(at_high, np.minimum(gradient, 0), 0)
        )
        if not gradient.max(initial=0.0) > MULTIPLIERS.precise:
            break
        active[gradient.argmax()] = True
        while True:
            step = _finite_multipliers(form, counts, active) - m
            beyond = m + step
            wrong = active & ~form.is_equation & (((beyond > 0) & ~at_low) | ((beyond < 0) & ~at_high))
            if not wrong.any():
                m = beyond
                break
            share = np.divide(-m, step, out=np.zeros(len(m)), where=wrong & (step != 0))
            first = np.flatnonzero(wrong)[share[wrong].argmin()]
            m = m + share[first] * step
            m[first], active[first] = 0.0, False
    return m


def _zero_proof(form: LinearForm, counts: np.ndarray, active: np.ndarray) -> np.ndarray:
    """A direction of the multipliers that proves nearly zero terms zero; its largest component is 1 or -1."""
    direction = np.zeros(form.shape[0])
    direction[active] = facial_reduction(form.select(active), counts)
    direction /= max(np.abs(direction).max(initial=0.0), MULTIPLIERS.nothing)
    return np.where(np.abs(direction) > MULTIPLIERS.nothing, direction, 0.0)
