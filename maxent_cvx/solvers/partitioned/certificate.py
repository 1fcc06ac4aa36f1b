r"""The certificate of a partitioned answer; the theorem is that of :mod:`..certificate.certificate`.

All buckets that knowledge is about, in whatever partition, count as one connected component: its gap is a bound on
those of its connected components. As in any large component, the distance from a point where the rows hold up to their
last places to one where they hold exactly is estimated to first order, and the certificate says by how much rows are
moved (`backward`). Buckets without knowledge are compared with the closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..certificate.certificate import Certificate
from ..certificate.existence_proofs.closed_components import closed_components
from ..certificate.existence_proofs.exact_point import magnitude
from ..certificate.group_gaps import GroupGaps
from ..certificate.soft_rows import within_slopes
from ..parameters.tolerances import CERTIFICATION, EPS
from ..program.divergence import divergence
from ..program.linear_form import LinearForm
from ..program.rounding_errors import rmatvec_coefficient_error, rmatvec_rounding
from .minimising import Minimum
from .part import Part
from .projection import PointPart, Projected, projected, restored
from .reduction import ReducedPart
from .schur_systems import PartitionedSystems
from .zero_search import Whole

__all__ = ["certified"]


class Moves(NamedTuple):
    """What moving to an exact solution changes, in one partition or some together.

    Attributes
    ----------
    change, widths : ndarray, one a row of knowledge
        |K| times the moves of the counts, and times the widths of fixed terms, records.
    entries : ndarray of int, one a row of knowledge
    backward : float
        The largest relative change of the side of a published row.
    """

    change: np.ndarray
    widths: np.ndarray
    entries: np.ndarray
    backward: float

    @staticmethod
    def added(some: Sequence[Moves]) -> Moves:
        """Those of some partitions together."""
        return Moves(
            np.sum([one.change for one in some], axis=0),
            np.sum([one.widths for one in some], axis=0),
            np.sum([one.entries for one in some], axis=0),
            max(one.backward for one in some),
        )


@dataclass(frozen=True, eq=False)
class Share:
    """What one partition contributes to the bound.

    Attributes
    ----------
    gap : float
        Of the terms that were solved for, records.
    closed_gap, moved : ndarray, one a QI tuple of its own
        The gaps of buckets without knowledge, and the sum of the changes of counts, records.
    is_open : ndarray of bool, one a QI tuple of its own
        Whether some of its terms were solved for.
    largest_move : float
    n_fixed : int
    q_numbers : ndarray of int
    records : ndarray
        Of these QI tuples in the whole.
    """

    gap: float
    closed_gap: np.ndarray
    moved: np.ndarray
    is_open: np.ndarray
    largest_move: float
    n_fixed: int
    q_numbers: np.ndarray
    records: np.ndarray


def certified(whole: Whole, found: Minimum) -> Certificate:
    """Bound the error of every P(s | q).

    Parameters
    ----------
    whole : Whole
        The problem.
    found : Minimum
        The answer.
    """
    (parts, shared), left, states, m, systems = whole, found.parts, found.point.states, found.point.m, found.systems
    near = projected(parts, left, states, shared, systems)
    certificate, unproved = _bounded(parts, left, states, m, shared, systems, near)
    if unproved.any():  # they hold exactly at a point near the projection if they are corrected as equations
        near = projected(parts, left, states, shared, systems, unproved)
        certificate, _ = _bounded(parts, left, states, m, shared, systems, near)
    return certificate


def _bounded(
    parts: Sequence[Any],
    left: Sequence[Any],
    states: Sequence[Any],
    m: np.ndarray,
    shared: LinearForm,
    systems: PartitionedSystems,
    near: Projected,
) -> tuple[Certificate, np.ndarray]:
    """The certificate, and the inequalities that an exact solution near the projection may violate."""
    executor = systems.executor
    moves = executor.reduce(Moves.added, executor.map(moves_of, parts, left, near.points, near.moves))
    rows = _RowsOfKnowledge.at(shared, near, moves, m)
    common = rows.multipliers, rows.doubt
    shares = executor.gather(executor.map(share_of, parts, left, states, near.points, near.moves, common=common))
    solved = sum(one.gap for one in shares) + float(rows.slack.sum())
    bound = _largest_error(shares, solved, rows.strain)
    backward = max(moves.backward, rows.backward)
    first = near.first
    missed = np.maximum(shared.low - first.value, first.value - shared.high)[: shared.n_hard]
    certificate = Certificate(
        max(first.residual, float(missed.max(initial=0.0))),
        0.0,
        max((one.largest_move for one in shares), default=0.0),
        solved + sum(float(one.closed_gap.sum()) for one in shares),
        bound if np.isfinite(bound) and backward <= CERTIFICATION.most_backward else np.inf,
        sum(one.n_fixed for one in shares),
        backward,
    )
    return certificate, rows.unproved


def _largest_error(shares: Sequence[Share], solved: float, strain: float) -> float:
    """The largest bound of a QI tuple, whose terms may lie in several partitions.

    Parameters
    ----------
    shares : sequence of Share
    solved : float
        The gap of all terms that were solved for, records.
    strain : float
        The square root of sum d^2 / x, where the sides of rows are moved so much that the counts x are by d.
    """
    if not shares:
        return 0.0
    numbers = np.concatenate([one.q_numbers for one in shares])
    q, place = np.unique(numbers, return_inverse=True)
    records = np.empty(len(q))
    records[place] = np.concatenate([one.records for one in shares])
    closed, moved, is_open = (
        np.bincount(place, np.concatenate([getattr(one, name) for one in shares]), len(q))
        for name in ("closed_gap", "moved", "is_open")
    )
    gap = closed + np.where(is_open > 0, solved, 0.0)
    off = np.where(is_open > 0, strain * np.sqrt(records), 0.0)  # sum |d| of a QI tuple, by Cauchy and Schwarz
    return float(((moved + off) / records + np.sqrt(gap / (2 * records))).max(initial=0.0)) * (1 + 64 * EPS)


class _RowsOfKnowledge(NamedTuple):
    """What the rows of knowledge add to the gap, and by how much those that hold are moved.

    Attributes
    ----------
    multipliers, slack, doubt : ndarray, one a row
        `doubt` is how far a multiplier may be from the slope of a cost that the row has.
    backward, strain : float
        The largest relative change of the side of a row, and what these changes amount to, see :func:`_largest_error`.
    unproved : ndarray of bool, one a row
        Inequalities that are not active, and that an exact solution may violate.
    """

    multipliers: np.ndarray
    slack: np.ndarray
    doubt: np.ndarray
    backward: float
    strain: float
    unproved: np.ndarray

    @classmethod
    def at(cls, shared: LinearForm, near: Projected, moves: Moves, m: np.ndarray) -> _RowsOfKnowledge:
        m, value, mass, hard = within_slopes(shared, m), near.last.value, near.last.mass, shared.n_hard
        is_hard, side_error = np.arange(len(m)) < hard, CERTIFICATION.growth * shared.side_error + moves.widths
        above, below = value - shared.low, shared.high - value
        side = np.where(near.active & ~(np.abs(below) < np.abs(above)), shared.low, shared.high)
        residual = np.where(near.active, np.abs(value - side), 0.0)
        off = residual + side_error + EPS * mass
        backward = float((off / magnitude(side))[near.active].max(initial=0.0))
        implied = near.active.copy()  # rows that others imply: what they are off by, is what the others may be off by
        implied[near.rows.numbers] = False
        strain = float(near.rows.sensitivity @ (off[near.rows.numbers] + residual[implied].max(initial=0.0)))
        change = moves.change + side_error + EPS * (moves.entries + 4) * mass
        at_low, at_high = near.active & (side == shared.low), near.active & (side == shared.high)
        with np.errstate(invalid="ignore"):
            slack = np.where((m > 0) & ~at_low, m * (np.maximum(above, 0) + change), 0.0)
            slack -= np.where((m < 0) & ~at_high, m * (np.maximum(below, 0) + change), 0.0)
            slack = np.where(is_hard & ~shared.is_equation, slack, 0.0)
            unproved = is_hard & (moves.entries > 0) & ~near.active & ~((above >= change) & (below >= change))
        slack[unproved] = np.inf
        doubt = np.zeros(len(m))
        if shared.penalties is not None:
            beyond = (-above[hard:], -below[hard:])
            slack[hard:] = shared.penalties.fenchel_gap(beyond, change[hard:], m[hard:])
            doubt[hard:] = shared.penalties.doubt(beyond, change[hard:], m[hard:])
            slack[hard:] = np.where((doubt[hard:] == 0) & (moves.entries[hard:] > 0), slack[hard:], 0.0)
        slack[np.isnan(slack)] = np.inf
        return cls(m, slack, doubt, backward, strain, unproved)


def moves_of(part: Part, left: ReducedPart, point: PointPart, change: np.ndarray) -> Moves:
    """What the moves of one partition change in the rows."""
    form, n = part.form, part.form.n_published
    moves, size = _moves(part, left, point, change), abs(form.known.distinct)
    entries = form.known.pattern @ np.bincount(form.known.of_term, minlength=size.shape[1])
    published = form.select(np.arange(n))
    value, mass = published.exact_matvec(point.counts), published.absolute_matvec(point.counts)
    off = np.abs(form.low[:n] - value) + CERTIFICATION.growth * form.side_error[:n] + EPS * mass
    off += published.absolute_matvec(left.width)
    is_open = np.zeros(n, dtype=bool)
    is_open[left.rows] = True
    backward = float((off / magnitude(form.low[:n]))[is_open].max(initial=0.0))
    collect = form.known.collect
    return Moves(
        size @ collect(np.where(np.isfinite(moves), moves, 0.0)), size @ collect(left.width), entries, backward
    )


def share_of(
    part: Part,
    left: ReducedPart,
    state: Any,
    point: PointPart,
    change: np.ndarray,
    m: np.ndarray,
    doubt: np.ndarray,
) -> Share:
    """What one partition contributes to the bound."""
    form, (q, n_q), near = part.form, part.groups, point.counts
    multipliers, of_rows = np.concatenate([point.multipliers, m]), np.concatenate([np.zeros(form.n_published), doubt])
    solved, free = np.zeros(len(q), dtype=bool), ~left.fixed
    solved[left.terms] = True
    moves = _moves(part, left, point, change)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        relative = np.where(near > 0, moves / np.where(near > 0, near, 1.0), 0.0)
        unsure = form.absolute_rmatvec(of_rows) if doubt.any() else np.zeros(len(q))
        log_ratio = np.abs(np.log(np.where(near > 0, near, 1.0)) - np.where(near > 0, form.exponent(multipliers), 0.0))
        log_ratio += rmatvec_rounding(form, multipliers) + rmatvec_coefficient_error(form, multipliers) + unsure
        apart = divergence(form, near, multipliers)
        distance = np.where(free, np.where(near == 0, apart, apart + moves * (log_ratio + relative)), 0.0)
        if doubt.any():  # with y exp(doubt) for y the divergence changes by (y - x) doubt, to first order
            y = np.exp(form.exponent(multipliers))
            distance += np.where(free, np.abs(y - near) * unsure + y * np.where(unsure < 1, unsure**2, np.inf), 0.0)
    gaps = GroupGaps(*form.bucket, part.groups)
    closed = gaps.of_groups(np.zeros(form.n_published), np.where(solved, 0.0, distance))
    before = restored(part, left, state).counts
    moved = np.bincount(q, np.abs(near - before) + moves + left.width, len(n_q))
    largest = float(np.abs(near - before).max(initial=0.0))
    is_open = np.bincount(q, solved, len(n_q)) > 0
    gap = float(distance[solved].sum())
    return Share(gap, closed, moved, is_open, largest, int(left.fixed.sum()), part.q_numbers, n_q)


def _moves(part: Part, left: ReducedPart, point: PointPart, change: np.ndarray) -> np.ndarray:
    """A bound on the distance of each count from an exact solution, records; infinite without a proof."""
    form = part.form
    relative = np.zeros(form.shape[1])
    relative[left.terms] = np.abs(change)
    closed = ~left.fixed
    closed[left.terms] = False
    if closed.any():
        published = form.select(np.arange(form.n_published))
        found = closed_components(published, point.counts, closed, *published.bucket)
        relative[closed] = np.inf
        relative[found.terms] = found.moves
    return np.where(relative == 0, 0.0, point.counts * relative)
