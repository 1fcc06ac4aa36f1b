r"""The certificate of a partitioned answer; the theorem is that of :mod:`..certificate.certificate`.

All buckets that knowledge is about, in whatever partition, count as one connected component: its gap is a bound on
those of its connected components. That a point satisfies all rows exactly is proved as it is in memory
(:mod:`..certificate.existence_proofs.correction`): each partition contributes its share of the Schur complement of the
rows of knowledge, of their values, and of the residues that decide linear dependence. Buckets without knowledge are
compared with the closed form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..certificate.certificate import Certificate
from ..certificate.existence_proofs.closed_components import closed_components
from ..certificate.existence_proofs.correction import Correction, LocalRows, Moved, Sums, correct
from ..certificate.existence_proofs.dependence import PRIMES
from ..certificate.group_gaps import GroupGaps
from ..certificate.soft_rows import within_slopes
from ..parameters.tolerances import CERTIFICATION, EPS, PENALTIES
from ..program.divergence import divergence
from ..program.linear_form import LinearForm
from ..program.rounding_errors import rmatvec_coefficient_error, rmatvec_rounding
from .executing import Executor
from .minimising import Minimum
from .part import Part
from .projection import PointPart, Projected, projected, restored
from .reduction import ReducedPart
from .zero_search import Whole

__all__ = ["certified"]


class Moves(NamedTuple):
    """What moving to an exact solution changes, in one partition or some together.

    Attributes
    ----------
    change, widths : ndarray, one a row of knowledge
        |K| times the moves of the counts, and times the widths of fixed terms, records.
    entries : ndarray of int, one a row of knowledge
    """

    change: np.ndarray
    widths: np.ndarray
    entries: np.ndarray

    @staticmethod
    def added(some: Sequence[Moves]) -> Moves:
        """Those of some partitions together."""
        return Moves(
            np.sum([one.change for one in some], axis=0),
            np.sum([one.widths for one in some], axis=0),
            np.sum([one.entries for one in some], axis=0),
        )


@dataclass(frozen=True, eq=False)
class Share:
    """What one partition contributes to the bound.

    Attributes
    ----------
    gap : float
        Of the terms that were solved for, records.
    log_ratio : float
        sum x log(x / y)^2 over these terms, records.
    closed_gap, moved, corrected : ndarray, one a QI tuple of its own
        The gaps of buckets without knowledge, the sum of the changes of counts by the projection and in these buckets,
        and a bound on the sum of all further changes, records.
    is_open : ndarray of bool, one a QI tuple of its own
        Whether some of its terms were solved for.
    largest_move : float
    n_fixed : int
    q_numbers : ndarray of int
    records : ndarray
        Of these QI tuples in the whole.
    own : float
        sum d^2 / x of the correction of the published rows by themselves.
    stretch : float
        See :class:`..certificate.existence_proofs.correction.Moved`.
    """

    gap: float
    log_ratio: float
    closed_gap: np.ndarray
    moved: np.ndarray
    corrected: np.ndarray
    is_open: np.ndarray
    largest_move: float
    n_fixed: int
    q_numbers: np.ndarray
    records: np.ndarray
    own: float
    stretch: float


@dataclass(frozen=True, eq=False)
class Exactly:
    """The rows of knowledge as typed, in all partitions."""

    executor: Executor
    local: Sequence[Any]

    def residues(self, rows: np.ndarray, n: int, least: float) -> list[np.ndarray]:
        """Random combinations of the columns, modulo each prime: sums over partitions."""
        seeds = list(range(len(self.local)))
        return self.executor.reduce(
            added_residues, self.executor.map(residues_of, self.local, seeds, common=(rows, n, least))
        )

    def vanish(self, rows: np.ndarray, factors: Sequence[np.ndarray], least: float) -> bool:
        """Whether rows with these factors add up to a combination of published rows in every partition."""
        return bool(
            self.executor.reduce(all, self.executor.map(LocalRows.vanish, self.local, common=(rows, factors, least)))
        )


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
    for vanished in (CERTIFICATION.vanished, PENALTIES.vanished):  # an edge of a forest cannot hold less than roundoff
        near = projected(parts, left, states, shared, systems, vanished=vanished)
        certificate, unproved = _bounded(parts, left, states, m, shared, systems.executor, near)
        if unproved.any():  # they hold exactly at a point near the projection if they are corrected as equations
            near = projected(parts, left, states, shared, systems, unproved, vanished)
            certificate, _ = _bounded(parts, left, states, m, shared, systems.executor, near)
        if certificate.holds:
            break
    return certificate


def _bounded(
    parts: Sequence[Any],
    left: Sequence[Any],
    states: Sequence[Any],
    m: np.ndarray,
    shared: LinearForm,
    executor: Executor,
    near: Projected,
) -> tuple[Certificate, np.ndarray]:
    """The certificate, and the inequalities that an exact solution near the projection may violate."""
    local, correction, known = _corrected(parts, left, shared, executor, near)
    moved = executor.map(
        LocalRows.moved, local, common=(np.where(np.isfinite(correction.length), correction.length, 0.0),)
    )
    moves = executor.reduce(Moves.added, executor.map(moves_of, parts, left, near.points, moved))
    rows = _RowsOfKnowledge.at(shared, near, moves, m, known, correction)
    common = rows.multipliers, rows.doubt
    shares = executor.gather(executor.map(share_of, parts, left, states, near.points, moved, local, common=common))
    length = float(correction.length.max(initial=0.0))
    stretch = max((one.stretch for one in shares), default=0.0)
    spread = math.sqrt(sum(one.own for one in shares)) + length * math.sqrt(1 + stretch**2)
    log_ratio = sum(one.log_ratio for one in shares)
    solved = sum(one.gap for one in shares) + float(rows.slack.sum()) + spread * (math.sqrt(log_ratio) + spread)
    bound = _largest_error(shares, solved, spread)
    first = near.first
    missed = np.maximum(shared.low - first.value, first.value - shared.high)[: shared.n_hard]
    certificate = Certificate(
        max(first.residual, float(missed.max(initial=0.0))),
        0.0,
        max((one.largest_move for one in shares), default=0.0),
        solved + sum(float(one.closed_gap.sum()) for one in shares),
        bound if np.isfinite(bound) and rows.backward <= CERTIFICATION.most_backward else np.inf,
        sum(one.n_fixed for one in shares),
        rows.backward,
    )
    return certificate, rows.unproved


def _corrected(
    parts: Sequence[Any], left: Sequence[Any], shared: LinearForm, executor: Executor, near: Projected
) -> tuple[Sequence[Any], Correction, np.ndarray]:
    """Prove that rows hold exactly at a point nearby; return what partitions know, and the rows of knowledge."""
    touched = executor.reduce(any_of, executor.map(rows_touched, left))
    known = np.flatnonzero(near.active & touched)
    mass = executor.reduce(total, executor.map(mass_of_rows, parts, near.points))
    side, side_error = _sides(shared, near), CERTIFICATION.growth * shared.rounding_of_rows(mass)
    inward = np.where(shared.is_equation, 0.0, np.where(side == shared.low, 1.0, -1.0))
    local = executor.map(local_rows, parts, left, near.points, common=(known, 1 / max(len(parts), 1)))
    exactly = executor.reduce(all_of, executor.map(LocalRows.known_exactly, local))
    of_known = side[known], side_error[known], inward[known], np.zeros(len(known), dtype=np.int64), exactly
    found = correct(
        executor.reduce(Sums.added, executor.map(LocalRows.sums, local)), *of_known, Exactly(executor, local)
    )
    if found.seems_implied:
        local = executor.map(LocalRows.with_all_cycles, local)
        sums = executor.reduce(Sums.added, executor.map(LocalRows.sums, local))
        found = correct(sums, *of_known, Exactly(executor, local))
    return local, found, known


def _sides(shared: LinearForm, near: Projected) -> np.ndarray:
    """The active side of every row of knowledge."""
    above, below = near.last.value - shared.low, shared.high - near.last.value
    return np.where(near.active & ~(np.abs(below) < np.abs(above)), shared.low, shared.high)


def rows_touched(left: ReducedPart) -> np.ndarray:
    """Which rows of knowledge involve terms that are solved for."""
    known = left.form.known
    return np.asarray(known.pattern @ np.bincount(known.of_term, minlength=known.distinct.shape[1]) > 0)


def mass_of_rows(part: Part, point: PointPart) -> np.ndarray:
    """The sum of the counts of one partition that each row of knowledge is about."""
    return np.asarray(part.form.known.pattern @ part.form.known.collect(point.counts))


def total(some: Sequence[np.ndarray]) -> np.ndarray:
    """The sum over partitions."""
    return np.sum(some, axis=0)


def any_of(some: Sequence[np.ndarray]) -> np.ndarray:
    """Which are true in some partition."""
    return np.logical_or.reduce(some)


def all_of(some: Sequence[np.ndarray]) -> np.ndarray:
    """Which are true in all partitions."""
    return np.logical_and.reduce(some)


def local_rows(part: Part, left: ReducedPart, point: PointPart, known: np.ndarray, share: float) -> LocalRows:
    """The active rows over the terms of one partition that are solved for."""
    form, n = part.form, part.form.n_published
    positive, active = np.zeros(form.shape[1], dtype=bool), np.zeros(form.shape[0], dtype=bool)
    positive[left.terms] = True
    active[left.rows] = active[n + known] = True
    side_error = CERTIFICATION.growth * form.side_error
    positive &= point.counts > 0
    return LocalRows(
        form, point.counts, positive, active, form.low, side_error, left.width, exact=part.exact, share=share
    )


def residues_of(local: LocalRows, seed: int, rows: np.ndarray, n: int, least: float) -> list[np.ndarray]:
    """The share of one partition in random combinations of the columns."""
    return local.residues(rows, n, least, seed)


def added_residues(some: Sequence[list[np.ndarray]]) -> list[np.ndarray]:
    """Add up residues, modulo each prime."""
    found = []
    for prime, parts in zip(PRIMES, zip(*some, strict=True), strict=True):
        total = parts[0]
        for part in parts[1:]:
            total = (total + part) % prime
        found.append(total)
    return found


def _largest_error(shares: Sequence[Share], solved: float, spread: float) -> float:
    """The largest bound of a QI tuple, whose terms may lie in several partitions.

    Parameters
    ----------
    shares : sequence of Share
    solved : float
        The gap of all terms that were solved for, records.
    spread : float
        A bound on the square root of sum d^2 / x, d being the changes of counts to an exact solution.
    """
    if not shares:
        return 0.0
    numbers = np.concatenate([one.q_numbers for one in shares])
    q, place = np.unique(numbers, return_inverse=True)
    records = np.empty(len(q))
    records[place] = np.concatenate([one.records for one in shares])
    closed, moved, corrected, is_open = (
        np.bincount(place, np.concatenate([getattr(one, name) for one in shares]), len(q))
        for name in ("closed_gap", "moved", "corrected", "is_open")
    )
    gap = closed + np.where(is_open > 0, solved, 0.0)
    # sum |d| of a QI tuple, term by term, or by Cauchy and Schwarz
    off = np.where(is_open > 0, np.minimum(corrected, spread * np.sqrt(records)), 0.0)
    return float(((moved + off) / records + np.sqrt(gap / (2 * records))).max(initial=0.0)) * (1 + 64 * EPS)


class _RowsOfKnowledge(NamedTuple):
    """What the rows of knowledge add to the gap.

    Attributes
    ----------
    multipliers, slack, doubt : ndarray, one a row
        `doubt` is how far a multiplier may be from the slope of a cost that the row has.
    backward : float
        The largest relative change of the side of a row whose value the published rows determine.
    unproved : ndarray of bool, one a row
        Inequalities that are not active, and that an exact solution may violate.
    """

    multipliers: np.ndarray
    slack: np.ndarray
    doubt: np.ndarray
    backward: float
    unproved: np.ndarray

    @classmethod
    def at(
        cls,
        shared: LinearForm,
        near: Projected,
        moves: Moves,
        m: np.ndarray,
        known: np.ndarray,
        correction: Correction,
    ) -> _RowsOfKnowledge:
        m, value, mass, hard = within_slopes(shared, m), near.last.value, near.last.mass, shared.n_hard
        is_hard, side_error = np.arange(len(m)) < hard, CERTIFICATION.growth * shared.side_error + moves.widths
        above, below = value - shared.low, shared.high - value
        side, distance = _sides(shared, near), np.zeros(len(m))
        finite = correction.implied & np.isfinite(correction.distance)
        distance[known] = np.where(finite, side_error[known], correction.distance)
        change = moves.change + side_error + EPS * (moves.entries + 4) * mass
        at_low, at_high = near.active & (side == shared.low), near.active & (side == shared.high)
        with np.errstate(invalid="ignore"):
            slack = np.where((m > 0) & ~at_low, m * (np.maximum(above, 0) + change), 0.0)
            slack -= np.where((m < 0) & ~at_high, m * (np.maximum(below, 0) + change), 0.0)
            slack = np.where(is_hard & ~shared.is_equation, slack + np.abs(m) * distance, 0.0)
            unproved = is_hard & (moves.entries > 0) & ~near.active & ~((above >= change) & (below >= change))
        slack[unproved | (~shared.is_equation & (shared.high - shared.low < distance))] = np.inf
        doubt = np.zeros(len(m))
        if shared.penalties is not None:
            beyond = (-above[hard:], -below[hard:])
            slack[hard:] = shared.penalties.fenchel_gap(beyond, change[hard:], m[hard:])
            doubt[hard:] = shared.penalties.doubt(beyond, change[hard:], m[hard:])
            slack[hard:] = np.where((doubt[hard:] == 0) & (moves.entries[hard:] > 0), slack[hard:], 0.0)
        slack[np.isnan(slack)] = np.inf
        size = np.maximum(np.abs(np.where(np.isfinite(side), side, 0.0)), 1.0)
        violation = np.where(is_hard & (moves.entries == 0), np.maximum(-above, -below) - change, 0.0)
        backward = max(float((violation / size).max(initial=0.0)), float(correction.moved.max(initial=0.0)))
        return cls(m, slack, doubt, backward, unproved)


def moves_of(part: Part, left: ReducedPart, point: PointPart, moved: Moved) -> Moves:
    """What the moves of one partition change in the rows."""
    form = part.form
    moves, size = _moves(part, left, point, moved), abs(form.known.distinct)
    entries = form.known.pattern @ np.bincount(form.known.of_term, minlength=size.shape[1])
    collect = form.known.collect
    return Moves(size @ collect(np.where(np.isfinite(moves), moves, 0.0)), size @ collect(left.width), entries)


def share_of(
    part: Part,
    left: ReducedPart,
    state: Any,
    point: PointPart,
    moved: Moved,
    local: LocalRows,
    m: np.ndarray,
    doubt: np.ndarray,
) -> Share:
    """What one partition contributes to the bound."""
    form, (q, n_q), near = part.form, part.groups, point.counts
    multipliers, of_rows = np.concatenate([point.multipliers, m]), np.concatenate([np.zeros(form.n_published), doubt])
    solved, free = np.zeros(len(q), dtype=bool), ~left.fixed
    solved[left.terms] = True
    moves = _moves(part, left, point, moved)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        relative = np.where(near > 0, moves / np.where(near > 0, near, 1.0), 0.0)
        unsure = form.absolute_rmatvec(of_rows) if doubt.any() else np.zeros(len(q))
        log_ratio = np.abs(np.log(np.where(near > 0, near, 1.0)) - np.where(near > 0, form.exponent(multipliers), 0.0))
        log_ratio += rmatvec_rounding(form, multipliers) + rmatvec_coefficient_error(form, multipliers) + unsure
        apart = divergence(form, near, multipliers)
        of_moving = np.where(solved | (near == 0), 0.0, moves * (log_ratio + relative))
        distance = np.where(free, apart + of_moving, 0.0)
        if doubt.any():  # with y exp(doubt) for y the divergence changes by (y - x) doubt, to first order
            y = np.exp(form.exponent(multipliers))
            distance += np.where(free, np.abs(y - near) * unsure + y * np.where(unsure < 1, unsure**2, np.inf), 0.0)
        own = np.where(solved & (moved.own > 0), moved.own**2 / near, 0.0)
    gaps = GroupGaps(*form.bucket, part.groups)
    closed = gaps.of_groups(np.zeros(form.n_published), np.where(solved, 0.0, distance))
    before = restored(part, left, state).counts
    fixed = np.abs(near - before) + left.width
    is_open = np.bincount(q, solved, len(n_q)) > 0
    failed = bool(local.failed.any() or not (relative[solved] <= CERTIFICATION.most_moved).all())
    return Share(
        np.inf if failed else float(distance[solved].sum()),
        float((near * log_ratio**2)[solved].sum()),
        closed,
        np.bincount(q, fixed + np.where(solved, 0.0, moves), len(n_q)),
        np.bincount(q, np.where(solved, moves, 0.0), len(n_q)),
        is_open,
        float(np.abs(near - before).max(initial=0.0)),
        int(left.fixed.sum()),
        part.q_numbers,
        n_q,
        float(own.sum()),
        moved.stretch,
    )


def _moves(part: Part, left: ReducedPart, point: PointPart, moved: Moved) -> np.ndarray:
    """A bound on the distance of each count from an exact solution, records; infinite without a proof."""
    form = part.form
    moves, closed = np.zeros(form.shape[1]), ~left.fixed
    moves[left.terms] = (moved.own + moved.through)[left.terms]
    closed[left.terms] = False
    if closed.any():
        published = form.select(np.arange(form.n_published))
        found = closed_components(published, point.counts, closed, *published.bucket)
        moves[closed] = np.where(point.counts[closed] > 0, np.inf, 0.0)
        moves[found.terms] = point.counts[found.terms] * found.moves
    return moves
