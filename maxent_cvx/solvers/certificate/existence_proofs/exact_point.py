"""The distance of a point from one that satisfies the rows exactly as typed: proved per component, or estimated."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...linear_algebra.newton_system import newton_system
from ...linear_algebra.schur_preconditioner import SchurComplement
from ...parameters.size_limits import EXISTENCE_PROOF_SIZES
from ...parameters.tolerances import CERTIFICATION, EPS
from ...program.block_detection import detect_blocks
from ...program.linear_form import LinearForm
from ..residuals import exact_residuals
from .active_rows import ActiveRows, active_rows
from .closed_components import closed_components
from .existence import Component, relative_moves
from .margin_components import margin_components

__all__ = ["Components", "ExactPoint", "exact_point"]


class ExactPoint(NamedTuple):
    """Bounds on a point x'' that satisfies the rows exactly.

    Attributes
    ----------
    moves : ndarray, one a term
        A bound on the relative difference of each count between the given point and x''; infinite without a proof.
    slack : ndarray, one a row
        |multiplier| of each inequality times a bound on its distance at x'' from the side that the multiplier's sign
        refers to, records (complementary slackness). Infinite without a proof.
    backward : float
        0 if this holds for the rows as typed; otherwise the largest relative change of the sides for which it does.
    """

    moves: np.ndarray
    slack: np.ndarray
    backward: float


class Components(NamedTuple):
    """The connected components of the rows.

    Attributes
    ----------
    of_row, of_term : ndarray of int
        The component of each row, and of each term.
    on_face : bool
        Whether some terms that are not free are 0 by choice, so that the rows may contradict each other.
    """

    of_row: np.ndarray
    of_term: np.ndarray
    on_face: bool = False


def exact_point(
    form: LinearForm,
    x: np.ndarray,
    multipliers: np.ndarray,
    free: np.ndarray,
    width: np.ndarray,
    components: Components,
    schur: SchurComplement | None = None,
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
    schur : SchurComplement, optional
        See :func:`.certificate.certify`.
    also_active : ndarray of bool, optional
        Inequalities to take for active at their nearest side, as their slack is less than the bound on the distance.
    """
    value, mass, widths = form.exact_matvec(x), form.absolute_matvec(x), form.absolute_matvec(width)
    active = active_rows(form, value, multipliers, CERTIFICATION.growth * form.side_error + widths, also_active)
    moves, backward = np.zeros(len(x)), 0.0
    component_of_row, component_of_term, on_face = components
    closed = closed_components(form, x, free, component_of_row, component_of_term)
    moves[closed.terms] = closed.moves
    involved = form.rows_involving(free)
    left = involved & active.rows & ~closed.rows
    if not on_face:  # otherwise the sides of dependent rows may contradict each other
        margins = margin_components(form, x, active, free, left, component_of_row, component_of_term)
        moves[margins.terms] = margins.moves
        left &= ~margins.rows
    small = _provable(component_of_row[left])
    implied, interior = np.zeros(len(left), dtype=bool), np.zeros(len(left), dtype=bool)
    in_small = left & np.isin(component_of_row, small)
    free_in_small = free & np.isin(component_of_term, small)
    numbers = np.where(in_small, component_of_row, -1), np.where(free_in_small, component_of_term, -1)
    for rows, terms, component in _components(form, x, active, *numbers):
        if on_face:
            component = component._replace(sides=[_exact_side(form, int(i), x, free, width) for i in rows])
        found = relative_moves(component)
        moves[terms], implied[rows], interior[rows] = found.moves, found.implied, found.interior
        backward = max(backward, float(np.max(found.violation / magnitude(active.side[rows]), initial=0.0)))
    if (large := left & ~in_small).any():
        residual = np.where(large, active.side - value, 0.0)
        moves += _estimated(form, np.where(np.isin(component_of_term, small), 0.0, x * free), residual, schur)
        moved = np.abs(residual) + active.side_error + EPS * mass
        backward = max(backward, float((moved[large] / magnitude(active.side[large])).max()))
    above, below = value - form.low, form.high - value
    with np.errstate(invalid="ignore"):
        change = form.absolute_matvec(np.where(free, x * moves, 0.0)) + active.side_error
        change += EPS * (form.entries + 4) * mass
        at_side = ~interior | form.is_equation
        slack = np.where(
            (multipliers > 0) & ~(active.at_low & at_side), multipliers * (np.maximum(above, 0) + change), 0.0
        )
        slack -= np.where(
            (multipliers < 0) & ~(active.at_high & at_side), multipliers * (np.maximum(below, 0) + change), 0.0
        )
        # The multiplier of a row that equations imply can be moved to these: y changes by the rounding error only.
        slack = np.where(implied, np.abs(multipliers) * active.side_error, slack)
        # Inequalities that are not active and that x'' may violate: nothing is proved unless they are taken for active.
        unproved = involved & ~large & ~active.rows & ~((above >= change) & (below >= change))
        if also_active is None and unproved.any() and np.isfinite(change[unproved]).all():
            return exact_point(form, x, multipliers, free, width, components, schur, unproved)
        # Inequalities that are satisfied strictly at x'' must not violate their other side.
        unproved |= interior & ~form.is_equation & (np.where(active.at_low, below, above) < change)
        # Rows that contradict others in their last digits: the proof is for rows that are changed by this much.
        violation = np.where(large | ~np.isfinite(change), 0.0, np.maximum(-above, -below) - change)
        backward = max(backward, float((violation / magnitude(active.side)).max(initial=0.0)))
    slack[np.isnan(slack) | unproved] = np.inf
    if backward > CERTIFICATION.most_backward:
        moves = np.where(free, np.inf, 0.0)
    return ExactPoint(moves, np.where(form.is_equation, 0.0, slack), backward)


def _exact_side(form: LinearForm, row: int, x: np.ndarray, free: np.ndarray, width: np.ndarray) -> Fraction | None:
    """The side of a published row, less its terms that are not free; None if it is not known exactly."""
    own = form.rows(np.array([row]))
    a, terms = own.data, own.indices
    known = row < form.n_facts and not form.side_error[row] and not form.coefficient_error[row]
    if not known or width[terms].any():
        return None
    rest = ~free[terms] & (x[terms] > 0)
    return Fraction(form.low[row]) - sum(
        (Fraction(c) * Fraction(count) for c, count in zip(a[rest], x[terms[rest]], strict=True)), Fraction(0)
    )


def magnitude(side: np.ndarray) -> np.ndarray:
    """The magnitude that a violation is relative to, records: that of the side, but at least one."""
    return np.where(np.isfinite(side), np.maximum(np.abs(side), 1.0), 1.0)


def _provable(component_of_row: np.ndarray) -> np.ndarray:
    """The components that are small enough for a proof; none if they are too many or too much work together."""
    components, rows = np.unique(component_of_row, return_counts=True)
    few = rows <= EXISTENCE_PROOF_SIZES.largest_component
    affordable = (
        few.sum() <= EXISTENCE_PROOF_SIZES.most_components
        and (rows[few].astype(float) ** 3).sum() <= EXISTENCE_PROOF_SIZES.most_work
    )
    return components[few] if affordable else components[:0]


def _components(
    form: LinearForm, x: np.ndarray, active: ActiveRows, of_row: np.ndarray, of_term: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, Component]]:
    """Yield the rows, the terms and the system of every component, numbered per row and term (-1: none)."""
    rows = np.flatnonzero(of_row >= 0)
    rows = rows[np.lexsort((~form.is_equation[rows], of_row[rows]))]
    terms = np.flatnonzero(of_term >= 0)
    terms = terms[np.argsort(of_term[terms], kind="stable")]
    residual = np.abs(exact_residuals(form, x, rows, active.side[rows])) + active.side_error[rows]
    matrix = form.rows(rows)
    starts = np.flatnonzero(np.diff(of_row[rows], prepend=-1))
    first = np.searchsorted(of_term[terms], of_row[rows[starts]])
    last = np.searchsorted(of_term[terms], of_row[rows[starts]], side="right")
    place = np.full(len(x), -1)
    place[terms] = np.arange(len(terms))
    inward = np.where(form.is_equation, 0.0, active.inward)
    for start, end, low, high in zip(starts, np.append(starts, len(rows))[1:], first, last, strict=True):
        entries = slice(matrix.indptr[start], matrix.indptr[end])
        at = place[matrix.indices[entries]]
        is_free = at >= 0
        ends = np.concatenate([[0], np.cumsum(is_free)])[matrix.indptr[start : end + 1] - matrix.indptr[start]]
        own = sp.csr_array((matrix.data[entries][is_free], at[is_free] - low, ends), shape=(end - start, high - low))
        own_rows, own_terms = rows[start:end], terms[low:high]
        typed = [_typed_coefficients(form, int(i), own_terms) if i >= form.n_facts else None for i in own_rows]
        n_equations = int(form.is_equation[own_rows].sum())
        yield (
            own_rows,
            own_terms,
            Component(own, x[own_terms], residual[start:end], n_equations, inward[own_rows], typed),
        )


def _typed_coefficients(
    form: LinearForm, row: int, terms: np.ndarray
) -> list[tuple[Fraction | np.ndarray, np.ndarray]] | None:
    """The coefficients of a row as typed, with the columns of their terms among some; None if unknown."""
    origin = form.origin
    if origin is None or row >= origin.starts[-1]:
        return None
    if (as_doubles := origin.doubles(row)) is None:
        return [(a, np.flatnonzero(np.isin(terms, at))) for a, at in origin.coefficients(row)]
    coefficients, at = as_doubles
    columns = np.searchsorted(terms, at)
    known = np.append(terms, -1)[columns] == at
    return [(coefficients[known], columns[known])]


def _estimated(form: LinearForm, weight: np.ndarray, residual: np.ndarray, schur: SchurComplement | None) -> np.ndarray:
    """Estimate, to first order, the relative change of counts that removes the residuals, in a metric by `weight`."""
    if schur is None and not form.is_equation[: form.n_published].all():
        form, order = detect_blocks(form)
        residual = residual[order]
    active = np.flatnonzero(residual[form.n_published :])
    factor = newton_system(form, schur, may_form=False).at(weight, CERTIFICATION.estimate_ridge)
    multipliers = factor.solve(residual, active, CERTIFICATION.estimate_precision)
    return np.where(weight > 0, np.abs(form.rmatvec(multipliers)), 0.0)
