"""How far a point is from one that satisfies the rows exactly as typed: proved part by part, or estimated."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..linear_algebra.newton_system import newton_system
from ..linear_algebra.schur_preconditioner import SchurComplement
from ..program.block_detection import detect_blocks
from ..program.linear_form import LinearForm
from ..rows.exact_products import exact_matvec
from ..size_limits import EXISTENCE_PROOF_SIZES
from ..tolerances import CERTIFICATION, EPS
from .closed_components import closed_components
from .existence import Part, relative_moves
from .residuals import exact_misses

__all__ = ["ExactPoint", "exact_point"]


class ExactPoint(NamedTuple):
    """What there is to know of a point x'' that satisfies the rows exactly.

    Attributes
    ----------
    moves : ndarray, one a term
        It differs from the point at hand by no more than this part of each count; infinite if nothing is proved.
    slack : ndarray, one a row
        The size of each inequality's multiplier times its distance from the side that it is active at, people.
    backward : float
        0 if that is proved of the rows as typed; else by what part of their values rows are moved of which it is.
    """

    moves: np.ndarray
    slack: np.ndarray
    backward: float


class Held(NamedTuple):
    """Rows that shall hold at one value each: equations, and inequalities that are active, or may be by rounding.

    Attributes
    ----------
    at_low, at_high : ndarray of bool
        At which side; equations at the low one.
    side : ndarray
        That value, people.
    doubt : ndarray
        How far off it is for reasons other than what the row misses, people.
    """

    at_low: np.ndarray
    at_high: np.ndarray
    side: np.ndarray
    side_error: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """Which rows these are."""
        return self.at_low | self.at_high

    @property
    def inward(self) -> np.ndarray:
        """1 for an inequality that is held at its low side, and -1 at its high side."""
        return np.where(self.at_low, 1.0, -1.0)


def exact_point(
    form: LinearForm,
    x: np.ndarray,
    multipliers: np.ndarray,
    free: np.ndarray,
    width: np.ndarray,
    parts: tuple[np.ndarray, np.ndarray],
    schur: SchurComplement | None = None,
    also: np.ndarray | None = None,
) -> ExactPoint:
    """Bound the way from x, where rows hold to their last places, to where they hold exactly.

    Parameters
    ----------
    form : LinearForm
    x : ndarray
        Counts >= 0, people.
    multipliers : ndarray
        Inequalities with a multiplier are active at the side that its sign says.
    free : ndarray of bool
        Terms that may move.
    width : ndarray
        How far the true value of each other term may be from its count, people.
    parts : (ndarray, ndarray)
        The number of the independent part that each row, and each term, is in.
    corner : Corner, optional
        See :func:`.certificate.certify`.
    also : ndarray of bool, optional
        Inequalities that shall be held at the nearest side: with less room than the way there may take.
    """
    size, entries = abs(form.matrix), np.diff(form.matrix.indptr)
    value, mass = exact_matvec(form.matrix, x), size @ x
    held = _held(form, value, multipliers, CERTIFICATION.growth * form.side_error + size @ width, also)
    moves, backward = np.zeros(len(x)), 0.0
    component_of_row, component_of_term = parts
    closed = closed_components(form, x, free, component_of_row, component_of_term)
    moves[closed.terms] = closed.moves
    of_free = size @ free.astype(float) > 0
    left = of_free & held.rows & ~closed.rows
    small = _small(component_of_row[left])
    implied, inside = np.zeros(len(left), dtype=bool), np.zeros(len(left), dtype=bool)
    in_small = left & np.isin(component_of_row, small)
    moving = free & np.isin(component_of_term, small)
    numbers = np.where(in_small, component_of_row, -1), np.where(moving, component_of_term, -1)
    for rows, terms, part in _parts(form, x, held, *numbers):
        found = relative_moves(part)
        moves[terms], implied[rows], inside[rows] = found.moves, found.implied, found.inside
        backward = max(backward, float(np.max(found.missed / people(held.side[rows]), initial=0.0)))
    if (large := left & ~in_small).any():
        missing = np.where(large, held.side - value, 0.0)
        moves += _estimated(form, x, np.where(np.isin(component_of_term, small), 0.0, x * free), missing, schur)
        moved = np.abs(missing) + held.side_error + EPS * mass
        backward = max(backward, float((moved[large] / people(held.side[large])).max()))
    above, below = value - form.low, form.high - value
    with np.errstate(invalid="ignore"):
        way = size @ np.where(free, x * moves, 0.0) + held.side_error + EPS * (entries + 4) * mass
        at_side = ~inside | form.is_equation
        slack = np.where((multipliers > 0) & ~(held.at_low & at_side), multipliers * (np.maximum(above, 0) + way), 0.0)
        slack -= np.where(
            (multipliers < 0) & ~(held.at_high & at_side), multipliers * (np.maximum(below, 0) + way), 0.0
        )
        # The multiplier of what equations imply may as well be theirs: y is the same, but for the row's rounding.
        slack = np.where(implied, np.abs(multipliers) * held.side_error, slack)
        # Where x'' would leave another inequality's room, nothing is proved.
        leaves = of_free & ~large & ~held.rows & ~((above >= way) & (below >= way))
        if also is None and leaves.any() and np.isfinite(way[leaves]).all():
            return exact_point(form, x, multipliers, free, width, parts, schur, leaves)
        # Those that are aimed at inside must not reach their other side.
        leaves |= inside & ~form.is_equation & (np.where(held.at_low, below, above) < way)
        # Rows that others contradict in their last digits: what is proved is of rows that are moved by so much.
        off = np.where(large | ~np.isfinite(way), 0.0, np.maximum(-above, -below) - way)
        backward = max(backward, float((off / people(held.side)).max(initial=0.0)))
    slack[np.isnan(slack) | leaves] = np.inf
    if backward > CERTIFICATION.most_backward:
        moves = np.where(free, np.inf, 0.0)
    return ExactPoint(moves, np.where(form.is_equation, 0.0, slack), backward)


def people(side: np.ndarray) -> np.ndarray:
    """What a row's miss is compared with: the people it is about, or one if that is less."""
    return np.where(np.isfinite(side), np.maximum(np.abs(side), 1.0), 1.0)


def _held(
    form: LinearForm, value: np.ndarray, multipliers: np.ndarray, side_error: np.ndarray, also: np.ndarray | None
) -> Held:
    """Choose the rows that shall hold at a side."""
    last, close = CERTIFICATION.active_places * np.abs(value) + side_error, form.tolerance
    if also is not None:
        last = np.where(also, np.minimum(value - form.low, form.high - value), last)
    above, below = value - form.low, form.high - value
    up, down = multipliers > 0, multipliers < 0
    at_low = form.is_equation | (up & (above <= close)) | (~down & (above <= last))
    at_high = ~at_low & ((down & (below <= close)) | (below <= last))
    return Held(at_low, at_high, np.where(at_low, form.low, form.high), side_error)


def _small(component_of_row: np.ndarray) -> np.ndarray:
    """The parts that are small enough for a proof, if they are together."""
    parts, rows = np.unique(component_of_row, return_counts=True)
    limits = EXISTENCE_PROOF_SIZES
    few = rows <= limits.largest_component
    affordable = few.sum() <= limits.most_components and (rows[few].astype(float) ** 3).sum() <= limits.most_work
    return parts[few] if affordable else parts[:0]


def _parts(
    form: LinearForm, x: np.ndarray, held: Held, of_row: np.ndarray, of_term: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, Part]]:
    """Lay out every part, by its number for each row and term (-1: none): its rows, its terms, a dense matrix."""
    rows = np.flatnonzero(of_row >= 0)
    rows = rows[np.lexsort((~form.is_equation[rows], of_row[rows]))]
    terms = np.flatnonzero(of_term >= 0)
    terms = terms[np.argsort(of_term[terms], kind="stable")]
    off = np.abs(exact_misses(form, x, rows, held.side[rows])) + held.side_error[rows]
    matrix = form.matrix[rows]
    starts = np.flatnonzero(np.diff(of_row[rows], prepend=-1))
    first = np.searchsorted(of_term[terms], of_row[rows[starts]])
    last = np.searchsorted(of_term[terms], of_row[rows[starts]], side="right")
    place = np.full(len(x), -1)
    place[terms] = np.arange(len(terms))
    inward = np.where(form.is_equation, 0.0, held.inward)
    for start, end, low, high in zip(starts, np.append(starts, len(rows))[1:], first, last, strict=True):
        entries = slice(matrix.indptr[start], matrix.indptr[end])
        at = place[matrix.indices[entries]]
        inside = at >= 0  # others may not move
        dense = np.zeros((end - start, high - low))
        row = np.repeat(np.arange(end - start), np.diff(matrix.indptr[start : end + 1]))
        dense[row[inside], at[inside] - low] = matrix.data[entries][inside]
        own, here = rows[start:end], terms[low:high]
        typed = [_as_typed(form, int(i), here) if i >= form.n_facts else None for i in own]
        yield own, here, Part(dense, x[here], off[start:end], int(form.is_equation[own].sum()), inward[own], typed)


def _as_typed(form: LinearForm, row: int, terms: np.ndarray) -> list[tuple[Fraction, np.ndarray]] | None:
    """Say of the coefficients of a row, as they were typed, which of some terms each is of; None if nobody knows."""
    origin = form.origin
    if origin is None or row >= origin.starts[-1]:
        return None
    return [(a, np.isin(terms, at)) for a, at in origin.coefficients(row)]


def _estimated(
    form: LinearForm, x: np.ndarray, weight: np.ndarray, missing: np.ndarray, schur: SchurComplement | None
) -> np.ndarray:
    """Estimate, to first order, how far counts move to where rows hold that miss so many people."""
    if schur is None and not form.is_equation[: form.n_published].all():
        form, order = detect_blocks(form)
        missing = missing[order]
    active = np.flatnonzero(missing[form.n_published :])
    solve = newton_system(form, schur, may_form=False).factor(weight, active, CERTIFICATION.estimate_ridge)
    return np.where(weight > 0, np.abs(form.rmatvec(solve(missing, CERTIFICATION.estimate_precision))), 0.0)
