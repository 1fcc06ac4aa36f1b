"""How far a point is from one that satisfies the rows exactly as typed: proved part by part, or estimated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from .arrange import arranged
from .corner import Corner
from .existence import Part, relative_moves
from .linear_form import EPS, LinearForm
from .newton_system import newton_system
from .residuals import exact_misses

__all__ = ["MOST_ROWS", "ExactPoint", "exact_point"]

#: Rows of a part of the problem, and of all such parts, up to which a dense matrix is inverted: a second or so.
MOST_ROWS, MOST_WORK = 600, 2e9
#: An inequality is held at a side that it is so close to, relative to its value: rounding would decide otherwise.
LAST_PLACES = 16 * EPS
#: Rows that would have to be moved by a larger part of their values are another problem's.
MOST_BACKWARD = 1e-7
#: Relative precision, and ridge, of the estimate where parts are too large.
PRECISION, RIDGE = 0.03, 1e-10


class ExactPoint(NamedTuple):
    """What there is to know of a point x'' that satisfies the rows exactly.

    Attributes
    ----------
    moves : ndarray, one a term
        It differs from the point at hand by no more than this part of each count; infinite if nothing is proved.
    slack : ndarray, one a row
        The size of each inequality's multiplier times its distance from the side that it is active at, people.
    backward : float
        0 if that is proved; else by what part of their values rows are moved, for which it is.
    """

    moves: np.ndarray
    slack: np.ndarray
    backward: float


def exact_point(
    form: LinearForm,
    x: np.ndarray,
    multipliers: np.ndarray,
    free: np.ndarray,
    width: np.ndarray,
    corner: Corner | None = None,
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
    corner : Corner, optional
        See :func:`.certificate.certify`.
    """
    size = abs(form.matrix)
    value, mass = form.exact_sums(x), size @ x
    rounding = EPS * (np.diff(form.matrix.indptr) + 4) * mass
    doubt = 1.5 * form.doubt + size @ width  # counts may move by half of themselves
    last = LAST_PLACES * np.abs(value) + doubt
    up, down = multipliers > 0, multipliers < 0
    above, below = value - form.low, form.high - value
    close = form.tolerance
    at_low = form.is_equation | (up & (above <= close)) | (~down & (above <= last))
    at_high = ~at_low & ((down & (below <= close)) | (below <= last))
    held = at_low | at_high
    side = np.where(at_low, form.low, form.high)
    moves, implied, backward = np.zeros(len(x)), np.zeros(len(held), dtype=bool), 0.0
    part_of_row, part_of_term = form.parts(free)
    touched = np.diff(form.matrix.indptr) > 0  # a row that says nothing of any term is true or not, whatever x is
    of_free = (size @ free.astype(float) > 0) & touched
    moving = free & (x > 0)
    published_only = _closed(form, x, free, part_of_row, part_of_term)
    moves[published_only.terms] = published_only.moves
    rest = of_free & held & ~published_only.rows
    parts, rows_in = np.unique(part_of_row[rest], return_counts=True)
    small = parts[rows_in <= MOST_ROWS]
    if (rows_in[rows_in <= MOST_ROWS].astype(float) ** 3).sum() > MOST_WORK or len(small) > MOST_ROWS:
        small = small[:0]
    of_row = np.where(rest & np.isin(part_of_row, small), part_of_row, -1)
    of_term = np.where(moving & np.isin(part_of_term, small), part_of_term, -1)
    inward = np.where(form.is_equation, 0.0, np.where(at_low, 1.0, -1.0))
    for rows, terms, part in _parts(form, x, of_row, of_term, side, doubt, inward):
        found = relative_moves(part)
        moves[terms] = found.moves
        implied[rows[found.implied]] = True
        missed = np.max(found.missed / np.maximum(np.abs(side[rows]), 1.0), initial=0.0)
        backward = max(backward, float(missed))
        held[rows] &= form.is_equation[rows] | (not found.inside)
    large = rest & ~np.isin(part_of_row, small)
    if large.any():
        missing = np.where(large, side - value, 0.0)
        moves += _estimated(form, x, np.where(np.isin(part_of_term, small), 0.0, x * free), missing, corner)
        of_large = float(((np.abs(missing) + doubt + EPS * mass) / np.maximum(np.abs(side), 1.0))[large].max())
        backward = max(backward, of_large)
    with np.errstate(invalid="ignore"):
        way = size @ np.where(free, x * moves, 0.0) + doubt + rounding
        slack = np.where(up & ~(at_low & held), multipliers * (np.maximum(above, 0) + way), 0.0)
        slack += np.where(down & ~(at_high & held), -multipliers * (np.maximum(below, 0) + way), 0.0)
        # The multiplier of what equations imply may as well be theirs: y is the same, but for the row's rounding.
        slack = np.where(implied, np.abs(multipliers) * doubt, slack)
        # Where x'' would leave another inequality's room, nothing is proved.
        within = at_low | at_high | ~touched | ((above >= way) & (below >= way))
        # Rows that others contradict in their last digits: what is proved is of rows that are moved by so much.
        off = np.where(large | ~np.isfinite(way), 0.0, np.maximum(-above, -below) - way)
        backward = max(backward, float((off / np.maximum(np.abs(side), 1.0)).max(initial=0.0)))
    slack[np.isnan(slack)] = np.inf
    if backward > MOST_BACKWARD:
        moves = np.where(free, np.inf, 0.0)
    slack[~within & of_free & ~large] = np.inf
    return ExactPoint(moves, np.where(form.is_equation, 0.0, slack), backward)


class _Closed(NamedTuple):
    """Parts that have a closed form: which rows and terms they have, and how far x is from it, relatively."""

    rows: np.ndarray
    terms: np.ndarray
    moves: np.ndarray


def _closed(
    form: LinearForm, x: np.ndarray, free: np.ndarray, part_of_row: np.ndarray, part_of_term: np.ndarray
) -> _Closed:
    """Compare buckets of which nothing is known with P(q, b) P(s, b) / P(b) (Privacy-MaxEnt, Eq. (9))."""
    n, by_term = form.n_published, form.published_by_term
    n_parts = int(max(part_of_row.max(initial=-1), part_of_term.max(initial=-1))) + 1
    two = np.diff(by_term.indptr) == 2
    plain = free & two & (form.weights == 1) & (x > 0)
    ok = np.bincount(part_of_term, ~plain, n_parts) == 0
    rows = np.arange(form.shape[0])
    odd = (rows >= n) | (form.low != form.high) | (form.doubt > 0)
    involved = np.diff(form.matrix.indptr) > 0
    ok &= np.bincount(part_of_row, odd & involved, n_parts) == 0
    if n:
        uneven = np.bincount(_entry_rows(form), form.published.data != 1, n) > 0
        ok &= np.bincount(part_of_row[:n], uneven, n_parts) == 0
    terms = np.flatnonzero(ok[part_of_term])
    first = by_term.indices[by_term.indptr[terms]]
    second = by_term.indices[by_term.indptr[terms] + 1] if len(terms) else first
    first, second = np.minimum(first, second), np.maximum(first, second)
    # A bucket is complete if it has a term for every pair of its rows of either kind.
    pairs = np.unique(first * np.int64(form.shape[0]) + second)
    people = np.zeros(n_parts)
    firsts, seconds = np.unique(first), np.unique(second)
    np.add.at(people, part_of_row[firsts], form.low[firsts])
    expected = np.bincount(part_of_row[firsts], minlength=n_parts) * np.bincount(part_of_row[seconds], minlength=n_parts)
    count = np.bincount(part_of_row[pairs // form.shape[0]], minlength=n_parts)
    other = np.bincount(part_of_row[seconds], form.low[seconds], n_parts)
    complete = (expected == count) & (np.bincount(part_of_term[terms], minlength=n_parts) == count) & (people == other)
    complete &= ~np.isin(np.arange(n_parts), part_of_row[np.intersect1d(firsts, seconds)])
    kept = complete[part_of_term[terms]]
    terms, first, second = terms[kept], first[kept], second[kept]
    exact = form.low[first] * form.low[second] / people[part_of_term[terms]]
    moves = np.abs(x[terms] / exact - 1) + 8 * EPS
    return _Closed((complete & ok)[part_of_row] & ~odd, terms, moves)


def _entry_rows(form: LinearForm) -> np.ndarray:
    return np.repeat(np.arange(form.n_published), np.diff(form.published.indptr))


def _parts(
    form: LinearForm, x: np.ndarray, of_row: np.ndarray, of_term: np.ndarray, side: np.ndarray, doubt: np.ndarray,
    inward: np.ndarray,
) -> Iterator[tuple[np.ndarray, np.ndarray, Part]]:
    """Lay out every part: its rows, its terms, and both as a dense matrix."""
    rows = np.flatnonzero(of_row >= 0)
    rows = rows[np.lexsort((~form.is_equation[rows], of_row[rows]))]
    terms = np.flatnonzero(of_term >= 0)
    terms = terms[np.argsort(of_term[terms], kind="stable")]
    off = np.abs(exact_misses(form, x, rows, side[rows])) + doubt[rows]
    matrix = form.matrix[rows]
    starts = np.flatnonzero(np.diff(of_row[rows], prepend=-1))
    first = np.searchsorted(of_term[terms], of_row[rows[starts]])
    last = np.searchsorted(of_term[terms], of_row[rows[starts]], side="right")
    place = np.full(len(x), -1)
    place[terms] = np.arange(len(terms))
    for start, end, low, high in zip(starts, np.append(starts, len(rows))[1:], first, last, strict=True):
        entries = slice(matrix.indptr[start], matrix.indptr[end])
        at = place[matrix.indices[entries]]
        inside = at >= 0  # others may not move
        dense = np.zeros((end - start, high - low))
        row = np.repeat(np.arange(end - start), np.diff(matrix.indptr[start : end + 1]))
        dense[row[inside], at[inside] - low] = matrix.data[entries][inside]
        own, here = rows[start:end], terms[low:high]
        typed = [_of_terms(form.typed(int(i)), here) if i >= form.n_facts else None for i in own]
        yield own, here, Part(dense, x[here], off[start:end], int(form.is_equation[own].sum()), inward[own], typed)


def _of_terms(
    typed: Sequence[tuple[Fraction, np.ndarray]] | None, terms: np.ndarray
) -> list[tuple[Fraction, np.ndarray]] | None:
    """Say of typed coefficients which of some terms each is of."""
    return None if typed is None else [(a, np.isin(terms, at)) for a, at in typed]


def _estimated(
    form: LinearForm, x: np.ndarray, weight: np.ndarray, missing: np.ndarray, corner: Corner | None
) -> np.ndarray:
    """Estimate, to first order, how far counts move to where rows hold that miss so many people."""
    if corner is None and not form.is_equation[: form.n_published].all():
        form, order = arranged(form)
        missing = missing[order]
    active = np.flatnonzero(missing[form.n_published :])
    solve = newton_system(form, corner, may_form=False).factor(weight, active, RIDGE)
    return np.where(weight > 0, np.abs(form.spread(solve(missing, PRECISION))), 0.0)
