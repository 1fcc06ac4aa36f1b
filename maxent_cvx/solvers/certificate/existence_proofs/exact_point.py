"""The distance of a point from one that satisfies the rows exactly as typed, and what inequalities lack there."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...parameters.tolerances import CERTIFICATION, EPS
from ...program.linear_form import LinearForm
from .active_rows import ActiveRows, active_rows
from .closed_components import closed_components
from .correction import SMALL, LocalRows, correct

__all__ = ["Components", "ExactPoint", "exact_point"]


class ExactPoint(NamedTuple):
    """Bounds on a point x'' that satisfies the rows exactly.

    Attributes
    ----------
    moves : ndarray, one a term
        A bound on the relative difference of each count between the given point and x''; infinite without a proof.
    spread : ndarray, one a component
        A bound on the square root of sum d^2 / x over the terms of each component, d being the changes of counts.
    slack : ndarray, one a row
        |multiplier| of each inequality times a bound on its distance at x'' from the side that the multiplier's sign
        refers to, records (complementary slackness). Infinite without a proof.
    backward : float
        0 if this holds for the rows as typed; otherwise the largest relative change of the side of a row whose value
        the published rows determine.
    stuck : ndarray of bool, one a term
        Terms that hold next to nothing and would have to change by more than ``CERTIFICATION.most_moved``.
    """

    moves: np.ndarray
    spread: np.ndarray
    slack: np.ndarray
    backward: float
    stuck: np.ndarray


class Components(NamedTuple):
    """The connected components of the rows.

    Attributes
    ----------
    of_row, of_term : ndarray of int
        The component of each row, and of each term.
    """

    of_row: np.ndarray
    of_term: np.ndarray


def exact_point(
    form: LinearForm,
    x: np.ndarray,
    multipliers: np.ndarray,
    free: np.ndarray,
    width: np.ndarray,
    components: Components,
    also_active: np.ndarray | None = None,
) -> ExactPoint:
    """Bound the distance from x, where rows hold up to their last places, to a point where they hold exactly.

    Parameters
    ----------
    form : LinearForm
    x : ndarray
        Counts >= 0, records.
    multipliers : ndarray
        A positive one suggests that the low side of its inequality is active, a negative one the high side.
    free : ndarray of bool
        Terms that are not fixed.
    width : ndarray
        A bound on the distance of the true value of each fixed term from its count, records.
    components : Components
    also_active : ndarray of bool, optional
        Inequalities to take for active at their nearest side, as their slack is less than the bound on the distance.
    """
    value, mass, widths = form.exact_matvec(x), form.absolute_matvec(x), form.absolute_matvec(width)
    rounding = CERTIFICATION.growth * form.rounding_of_rows(form.mass_of_rows(x))
    active = active_rows(form, value, multipliers, rounding + widths, also_active)
    component_of_row, component_of_term = components
    closed = closed_components(form, x, free, component_of_row, component_of_term)
    involved, is_open = form.rows_involving(free), free.copy()
    is_open[closed.terms] = False
    corrected = involved & active.rows & ~closed.rows
    moves, spread, distance, backward, stuck = _corrected(
        form, x, active, is_open, width, corrected, component_of_row, component_of_term
    )
    moves[closed.terms] = closed.moves
    spread += np.sqrt(np.bincount(component_of_term[closed.terms], x[closed.terms] * closed.moves**2, len(spread)))
    above, below = value - form.low, form.high - value
    with np.errstate(invalid="ignore"):
        change = form.absolute_matvec(np.where(free, x * moves, 0.0)) + active.side_error
        change += EPS * (form.entries + 4) * mass
        slack = np.where((multipliers > 0) & ~active.at_low, multipliers * (np.maximum(above, 0) + change), 0.0)
        slack -= np.where((multipliers < 0) & ~active.at_high, multipliers * (np.maximum(below, 0) + change), 0.0)
        # Rows that others imply are at x'' as far from their sides as these contradict each other by, or less; the
        # multipliers of those that equations imply can be moved to these, but for rounding.
        slack += np.where(corrected, np.abs(multipliers) * distance, 0.0)
        # Inequalities that are not active and that x'' may violate: nothing is proved unless they are taken for active.
        unproved = involved & ~active.rows & ~((above >= change) & (below >= change))
        if also_active is None and unproved.any() and np.isfinite(change[unproved]).all():
            return exact_point(form, x, multipliers, free, width, components, unproved)
        # Inequalities that are satisfied strictly at x'' must not violate their other side.
        unproved |= corrected & ~form.is_equation & (form.high - form.low < distance)
        # Rows all of whose terms are fixed hold, or are moved to where they do.
        roundoff = rounding + EPS * (form.entries + 4) * mass
        violation = np.where(involved, 0.0, np.maximum(-above, -below) - roundoff)
        magnitude = np.maximum(np.abs(np.where(np.isfinite(active.side), active.side, 0.0)), 1.0)
        backward = max(backward, float((violation / magnitude).max(initial=0.0)))
    slack[np.isnan(slack) | unproved] = np.inf
    return ExactPoint(moves, spread, np.where(form.is_equation, 0.0, slack), backward, stuck)


def _corrected(
    form: LinearForm,
    x: np.ndarray,
    active: ActiveRows,
    free: np.ndarray,
    width: np.ndarray,
    rows: np.ndarray,
    of_row: np.ndarray,
    of_term: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, np.ndarray]:
    """Bound the changes of counts to a point where some rows hold; see :class:`ExactPoint`, also for what is stuck.

    Parameters
    ----------
    form : LinearForm
    x : ndarray, one a term
    active : ActiveRows
    free : ndarray of bool, one a term
    width : ndarray, one a term
    rows : ndarray of bool, one a row
        The rows that are to hold.
    of_row, of_term : ndarray of int
        The connected component of each row, and of each term.

    Returns
    -------
    moves : ndarray, one a term
    spread : ndarray, one a component
    distance : ndarray, one a row
        A bound on the distance of the row from its side at that point, records.
    backward : float
    stuck : ndarray of bool, one a term
    """
    moves, distance = np.zeros(len(x)), np.zeros(form.shape[0])
    spread = np.zeros(int(max(of_row.max(initial=-1), of_term.max(initial=-1))) + 1)
    if not rows.any():
        return moves, spread, distance, 0.0, np.zeros(len(x), dtype=bool)
    side_error = CERTIFICATION.growth * form.rounding_of_rows(form.mass_of_rows(x))
    local = LocalRows(form, x, free & (x > 0), rows, active.side, side_error, width)
    known = local.known
    inward, exactly = np.where(form.is_equation, 0.0, active.inward)[known], local.known_exactly()
    of_known = active.side[known], side_error[known], inward, of_row[known], exactly
    found = correct(local.sums(), *of_known, local)
    if local.is_sample and found.seems_implied:
        local = local.with_all_cycles()
        found = correct(local.sums(), *of_known, local)
    distance[known] = np.where(found.implied & np.isfinite(found.distance), side_error[known], found.distance)
    proved = np.isfinite(found.length)
    moved = local.moved(np.where(proved, found.length, 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        moves = np.where(moved.own + moved.through > 0, (moved.own + moved.through) / x, 0.0)
        spread = np.sqrt(np.bincount(of_term, np.where(moved.own > 0, moved.own**2 / x, 0.0), len(spread)))
    length = np.zeros(len(spread))
    length[of_row[known]] = found.length
    spread += length * math.sqrt(1 + moved.stretch**2)
    failed, too_far = np.zeros(len(spread), dtype=bool), ~(moves <= CERTIFICATION.most_moved)
    failed[of_term[local.failed | too_far]] = True
    failed[of_row[known[~proved]]] = True
    moves, spread = np.where(free & failed[of_term], np.inf, moves), np.where(failed, np.inf, spread)
    return moves, spread, distance, float(found.moved.max(initial=0.0)), free & too_far & (x < SMALL)
