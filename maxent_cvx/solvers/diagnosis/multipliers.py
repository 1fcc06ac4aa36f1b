"""Multipliers of all rows from an answer, also of those that presolve or a proof has decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..linear.facial_reduction import facial_reduction
from ..linear_algebra.newton_system import newton_system
from ..presolve.zero_proofs import empty_terms
from ..program.block_detection import detect_blocks
from ..program.linear_form import LinearForm
from ..rows.exact_products import exact_matvec
from ..tolerances import MULTIPLIERS

__all__ = ["pricing"]


def pricing(form: LinearForm, counts: np.ndarray) -> np.ndarray:
    """Find multipliers m with x = w exp(A' m - 1) where somebody is, and infinite ones where rows force zeros.

    Parameters
    ----------
    form : LinearForm
    counts : ndarray
        The maximum-entropy answer, people, with zeros where a term must be empty.

    Returns
    -------
    ndarray, one a row
        The derivative of the maximum of sum x log(w / x) by the value of each row is -m. Infinite where moving the
        value, in the one direction that is possible, fills terms that must be empty: the derivative of x log x is
        infinite there. Of rows that repeat each other, each has its share; of a row whose value the facts determine it
        is 0. NaN throughout if there are none.

    Notes
    -----
    The smallest least-squares solution of A' m = log(x / w) + 1 over the terms that are not empty. Inequalities
    with room, or that would press from an open side, have 0.
    """
    return _pricing(form, counts, determined(form))


def determined(form: LinearForm) -> np.ndarray:
    """Mark rows of knowledge whose value the facts determine: combinations of equations among these.

    Notes
    -----
    A row is one if and only if it is orthogonal to all x with E x = 0, E being the equations. It is tested against one
    such x, drawn at random, which a row that is none is orthogonal to with probability 0.
    """
    found = np.zeros(form.shape[0], dtype=bool)
    equations = form.select(np.flatnonzero(form.is_equation[: form.n_facts]))
    if not equations.shape[0] or form.n_facts == form.shape[0]:
        return found
    x = np.random.default_rng(0).uniform(1, 2, form.shape[1])
    others = np.arange(equations.shape[0] - equations.n_published)
    solve = newton_system(equations).factor(np.ones(len(x)), others, MULTIPLIERS.ridge)
    for _ in range(MULTIPLIERS.refinements):
        x = x - equations.rmatvec(solve(equations.matvec(x), MULTIPLIERS.precision))
    known = form.matrix[form.n_facts :]
    found[form.n_facts :] = np.abs(known @ x) <= MULTIPLIERS.determined * (abs(known) @ np.ones(len(x)))
    return found


def _pricing(form: LinearForm, counts: np.ndarray, told: np.ndarray) -> np.ndarray:
    """As :func:`pricing`; `told` are rows that say nothing that the facts do not."""
    posed, (form, order) = form, detect_blocks(form)  # published inequalities take part or not, as knowledge does
    if form is not posed:
        found = np.empty(form.shape[0])
        found[order] = _pricing(form, counts, told[order])
        return found
    value = exact_matvec(form.matrix, counts)
    at_low, at_high = value <= form.low + form.tolerance, value >= form.high - form.tolerance
    speaks = ~told
    tight = replace(form, low=np.where(at_low, form.low, form.high), high=np.where(at_low, form.low, form.high))
    if (
        (counts > 0) & (counts < MULTIPLIERS.small)
    ).any():  # an answer that is not exact leaves somebody where nobody can be
        direction = _pressing(form, at_low, at_high, speaks, lambda takes_part: _forcing(tight, counts, takes_part))
        nobody = counts == 0
        counts = np.where(empty_terms(form, direction, nobody, np.zeros(len(counts))), 0.0, counts)
    held = counts > 0
    m = _pressing(form, at_low, at_high, speaks, lambda takes_part: _finite(form, counts, takes_part))
    with np.errstate(divide="ignore"):
        off = np.where(held, np.log(counts / form.weights) + 1 - form.rmatvec(m), 0.0)
    if np.abs(off).max(initial=0.0) > MULTIPLIERS.precise:
        return np.full(form.shape[0], np.nan)
    if held.all():
        return m
    exact = held.astype(float)
    forces = _pressing(form, at_low, at_high, speaks, lambda takes_part: _forcing(tight, exact, takes_part))
    return np.where(forces != 0, np.copysign(np.inf, forces), m)


def _pressing(
    form: LinearForm,
    at_low: np.ndarray,
    at_high: np.ndarray,
    speaks: np.ndarray,
    found: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """Find a number a row, of rows at a side; inequalities that would press from an open side are left out."""
    takes_part = (at_low | at_high) & speaks
    for _ in range(MULTIPLIERS.rounds):
        m = found(takes_part)
        wrong = (
            takes_part
            & ~form.is_equation
            & (((m > MULTIPLIERS.nothing) & ~at_low) | ((m < -MULTIPLIERS.nothing) & ~at_high))
        )
        if not wrong.any():
            break
        takes_part = takes_part & ~wrong
    return m


def _finite(form: LinearForm, counts: np.ndarray, takes_part: np.ndarray) -> np.ndarray:
    """The smallest least-squares solution over the terms that are not empty."""
    held, m = counts > 0, np.zeros(form.shape[0])
    known = np.flatnonzero(takes_part[form.n_published :])
    solve = newton_system(form).factor(held.astype(float), known, MULTIPLIERS.ridge)
    with np.errstate(divide="ignore"):
        aim = np.where(held, np.log(counts / form.weights) + 1, 0.0)
    for _ in range(MULTIPLIERS.refinements):
        off = np.where(held, aim - form.rmatvec(m), 0.0)
        m = m + solve(np.where(takes_part, form.matvec(off), 0.0), MULTIPLIERS.precision)
    return m


def _forcing(form: LinearForm, counts: np.ndarray, takes_part: np.ndarray) -> np.ndarray:
    """A direction of multipliers that proves the nearly empty terms empty; its largest part is 1."""
    direction = np.zeros(form.shape[0])
    direction[takes_part] = facial_reduction(form.select(takes_part), counts)
    direction /= max(np.abs(direction).max(initial=0.0), MULTIPLIERS.nothing)
    return np.where(np.abs(direction) > MULTIPLIERS.nothing, direction, 0.0)
