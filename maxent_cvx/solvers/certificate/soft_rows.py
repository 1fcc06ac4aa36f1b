r"""Soft rows in the certificate: their gap at a point that satisfies the hard rows exactly.

Let c be the cost of missing a row by r records, c* its conjugate, and m the row's multiplier. For any x'', the row adds

    c(r'') + c*(m) - m r''  >=  0    (Fenchel's inequality)

to the duality gap, r'' being the distance of its value at x'' from the side that the sign of m refers to. Soft rows do
not restrict x''. But where an absolute error is 0 and m is within its slope, x'' can be required to satisfy the row
exactly: the gap of that row is then 0, and not the product of the slope and a rounding error. So it can where the
variance v is tiny, with v m added to the value: a rounding error e of it would cost e^2 / (2 v).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..parameters.tolerances import EPS, FEASIBILITY, PENALTIES
from ..program.linear_form import LinearForm
from .existence_proofs.exact_point import Components
from .residuals import exact_residuals

__all__ = ["Restriction", "fenchel_gaps", "restrictions", "rows_without_terms_hold", "within_slopes"]


def within_slopes(form: LinearForm, multipliers: np.ndarray) -> np.ndarray:
    """Move the multipliers of soft rows to where the conjugates are finite; those of hard rows stay."""
    if form.penalties is None:
        return multipliers
    n, found = form.n_hard, multipliers.copy()
    found[n:] = form.penalties.within(form.project_to_dual_cone(multipliers)[n:])
    return found


class Restriction(NamedTuple):
    """The rows that x'' shall satisfy, and where it is looked for.

    Attributes
    ----------
    form : LinearForm
        All rows, of which those that do not restrict x'' have infinite sides.
    is_soft : ndarray of bool, one a row
        Which rows these are.
    near : ndarray, one a term
        A point near which x'' may be, records.
    held : ndarray of bool, one a term
        The terms of which x'' is not known; the others are fixed, or 0 at x''.
    components : Components
        The connected components of the rows that do restrict it, over these terms.
    """

    form: LinearForm
    is_soft: np.ndarray
    near: np.ndarray
    held: np.ndarray
    components: Components


def restrictions(form: LinearForm, x: np.ndarray, multipliers: np.ndarray, fixed: np.ndarray) -> Iterator[Restriction]:
    """Yield the rows that x'' may be required to satisfy: first with soft rows that x meets exactly, then without.

    A high cost, or a low limit, can make counts as small as exp(-1000), less than any residual. Last, x'' is looked for
    where such counts are 0.

    Parameters
    ----------
    form : LinearForm
    x : ndarray, one a term
        Counts, records.
    multipliers : ndarray, one a row
    fixed : ndarray of bool, one a term
    """
    penalties, is_soft = form.penalties, np.zeros(form.shape[0], dtype=bool)
    vanished = (x < PENALTIES.vanished) & ~fixed
    if penalties is None:
        yield Restriction(form, is_soft, x, ~fixed, Components(*form.components(~fixed)))
        if vanished.any():
            held = ~fixed & ~vanished
            yield Restriction(form, is_soft, np.where(vanished, 0.0, x), held, Components(*form.components(held)))
        return
    met, side = np.zeros(form.shape[0], dtype=bool), np.where(multipliers < 0, form.high, form.low)
    m = multipliers[form.n_hard :]
    met[form.n_hard :] = (penalties.variance <= PENALTIES.stiff) & (np.abs(m) < penalties.within(penalties.slope))
    side[form.n_hard :] -= penalties.variance * m
    met[form.n_hard :] &= ~penalties.is_divergence
    met &= form.is_equation | (multipliers != 0)
    met[met] = np.abs(exact_residuals(form, x, np.flatnonzero(met), side[met])) <= (
        FEASIBILITY.multiple * form.tolerance[met]
    )
    is_soft[form.n_hard :] = True
    choices = [met, np.zeros_like(met)] if met.any() else [met]
    for zero, exactly in itertools.product([np.zeros_like(vanished), vanished][: 1 + vanished.any()], choices):
        missable, held = is_soft & ~exactly, ~fixed & ~zero
        low, high = np.where(exactly, side, form.low), np.where(exactly, side, form.high)
        rows = np.flatnonzero(~missable)
        of_row, of_term = replace(form.select(rows), penalties=None).components(held)
        component = np.full(form.shape[0], max(of_row.max(initial=-1), of_term.max(initial=-1)) + 1)
        component[rows] = of_row
        restricted = replace(
            form, low=np.where(missable, -np.inf, low), high=np.where(missable, np.inf, high), penalties=None
        )  # fmt: skip
        near, components = np.where(zero, 0.0, x), Components(component, of_term)
        yield Restriction(restricted, missable, near, held, components)


def rows_without_terms_hold(
    form: LinearForm, restriction: Restriction, near: np.ndarray, fixed: np.ndarray, width: np.ndarray
) -> bool:
    """Whether those rows hold exactly all of whose terms are 0 at x'' by choice, or fixed.

    Parameters
    ----------
    form : LinearForm
    restriction : Restriction
    near : ndarray, one a term
        Counts, records.
    fixed : ndarray of bool, one a term
    width : ndarray, one a term
        A bound on the distance of each fixed term from its true value, records.
    """
    zero = ~fixed & ~restriction.held
    if not zero.any():
        return True
    size = abs(form.matrix)
    lost = ~restriction.is_soft & (size @ zero > 0) & ~(size @ restriction.held > 0)
    rows = np.flatnonzero(lost)
    error = form.side_error[rows] + form.coefficient_error[rows] * (size[rows].sign() @ near) + size[rows] @ width
    low, high = restriction.form.low[rows], restriction.form.high[rows]
    below, above = (exact_residuals(form, near, rows, np.where(np.isfinite(side), side, 0.0)) for side in (low, high))
    return bool((np.isneginf(low) | (below >= error)).all() and (np.isposinf(high) | (above <= -error)).all())


def fenchel_gaps(
    form: LinearForm,
    restriction: Restriction,
    x: np.ndarray,
    multipliers: np.ndarray,
    free: np.ndarray,
    moves: np.ndarray,
    width: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Bound the gap of each soft row from above, records, at any x'' within the given distance of x; 0 of other rows.

    A row on a linear part of its cost has no gap if its multiplier is the slope, which is known up to rounding: how far
    that may be from the given multiplier is returned, too.

    Parameters
    ----------
    form : LinearForm
    restriction : Restriction
    x : ndarray, one a term
        Counts, records.
    multipliers : ndarray, one a row
        After :func:`within_slopes`.
    free : ndarray of bool, one a term
        Terms that are not fixed. A row without any has the same cost at every feasible point, and no gap.
    moves : ndarray, one a term
        A bound on the relative distance of each free count from x''.
    width : ndarray, one a term
        A bound on the distance of each fixed term from its true value, records.
    """
    assert form.penalties is not None
    rows, found, doubt = np.flatnonzero(restriction.is_soft), np.zeros(form.shape[0]), np.zeros(form.shape[0])
    penalties = form.penalties.select(rows - form.n_hard)
    matrix = form.rows(rows)
    size, entries = abs(matrix), np.diff(matrix.indptr)
    with np.errstate(invalid="ignore", over="ignore"):
        error = size @ (np.where(free, x * moves, 0.0) + width) + form.side_error[rows]
        error += form.coefficient_error[rows] * (abs(matrix.sign()) @ x) + EPS * (entries + 4) * (size @ x)
    below, above = (
        np.where(
            np.isfinite(side), sign * exact_residuals(form, x, rows, np.where(np.isfinite(side), side, 0.0)), -np.inf
        )
        for side, sign in ((form.low[rows], -1.0), (form.high[rows], 1.0))
    )
    gaps = penalties.fenchel_gap((below, above), error, multipliers[rows])
    doubt[rows] = penalties.doubt((below, above), error, multipliers[rows])
    charged = (size @ free.astype(float) > 0) & (doubt[rows] == 0)
    found[rows] = np.where(charged, np.where(np.isnan(gaps), np.inf, gaps), 0.0)
    exactly = form.n_hard + np.flatnonzero(~restriction.is_soft[form.n_hard :] & (form.penalties.variance > 0))
    if len(exactly):  # x'' satisfies the row as typed but for v m, which is rounded where the side is moved by it
        variance, m = form.penalties.variance[exactly - form.n_hard], multipliers[exactly]
        side = np.where(m < 0, form.high[exactly], form.low[exactly])
        off = np.abs(restriction.form.low[exactly] - side + variance * m) + PENALTIES.rounding * variance * np.abs(m)
        found[exactly] = off**2 / variance
    return found, doubt
