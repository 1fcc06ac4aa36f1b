"""The solve over partitions: presolve, Newton's method on the shared rows, and the certificate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .answer import Status
from .blocks import single_thread
from .certificate import Certificate, GroupGaps, divergence, within_slopes
from .duality import rmatvec_coefficient_error, rmatvec_rounding
from .existence import PRIMES, Correction, CorrectionSums, LocalRows, Moved, closed_components, correct
from .explain import PRECISE_LOG, SMALL_COUNT, multipliers_beside
from .form import LinearForm, SharedColumns, SplitMatrix
from .monitor import Monitor
from .parameters import CERTIFICATION, EPS, NEWTON, PARTITIONED, PENALTIES, PROJECTION
from .partitions import (
    BucketState,
    Executor,
    IndependentRows,
    Minimum,
    Part,
    PartitionedFactor,
    PartitionedSystems,
    ReducedPart,
    SingleThreaded,
    Weights,
    Whole,
    added,
    determined,
    first_state,
    minimised,
    minimum,
    presolved,
    require_consistent,
)
from .schur import BlockFactor
from .sparse import entry_rows

__all__ = [
    "PartitionedSolution",
    "PointPart",
    "price_multipliers",
    "solve_partitioned",
]

# Projection onto the feasible set, partition by partition; see :mod:`..certificate.projection`.


class PointPart(NamedTuple):
    """One partition's share of an answer.

    Attributes
    ----------
    counts : ndarray, one a term
        Records.
    multipliers : ndarray, one a published row
    """

    counts: np.ndarray
    multipliers: np.ndarray


class Eliminated(NamedTuple):
    """What is wrong with a point in one partition, and what the buckets alone do about it.

    Attributes
    ----------
    of_buckets : ndarray, one a slot
        The correction of published rows.
    sums : Sums
        What the driver needs to know.
    """

    of_buckets: np.ndarray
    sums: Sums


class Sums(NamedTuple):
    """Sums over partitions.

    Attributes
    ----------
    value, mass : ndarray, one a row of knowledge
        K x and |K| x, records.
    carried : ndarray, one a row of knowledge
        What the correction of published rows changes in K x.
    residual : float
        The largest violation of a published row, records.
    is_exact : bool
        Whether every published row holds up to its last places.
    """

    value: np.ndarray
    mass: np.ndarray
    carried: np.ndarray
    residual: float
    is_exact: bool

    @staticmethod
    def added(some: Sequence[Sums]) -> Sums:
        """Those of some partitions together."""
        return Sums(
            np.sum([one.value for one in some], axis=0),
            np.sum([one.mass for one in some], axis=0),
            np.sum([one.carried for one in some], axis=0),
            max(one.residual for one in some),
            all(one.is_exact for one in some),
        )


class Projected(NamedTuple):
    """A point at which all rows hold up to their last places, if that could be reached.

    Attributes
    ----------
    points : sequence of handles of PointPart
    first, last : Sums
        At the answer that was given, and at the projection.
    active : ndarray of bool, one a row of knowledge
        Rows that were taken for equations.
    """

    points: Sequence[Any]
    first: Sums
    last: Sums
    active: np.ndarray


def projected(
    parts: Sequence[Any],
    left: Sequence[Any],
    states: Sequence[Any],
    shared: LinearForm,
    systems: PartitionedSystems,
    also_active: np.ndarray | None = None,
    vanished: float = CERTIFICATION.vanished,
) -> Projected:
    """Correct counts in rounds, as long as each at least halves the largest violation.

    Rows that others imply are not corrected: rounding of their sides could be made up for by large changes only.

    Parameters
    ----------
    parts, left, states : sequence of handles of Part, ReducedPart and BucketState
        The problem, what was left of it to solve for, and the answer to that.
    shared : LinearForm
        The rows of knowledge, without terms.
    systems : PartitionedSystems
    also_active : ndarray of bool, optional
        Inequalities to take for equations at their nearest side.
    vanished : float
        Records: smaller counts are 0 at the projection.
    """
    executor: Executor = systems.executor
    factor = systems.at(Weights(states, 0.0), NEWTON.ridges[0])
    points = executor.map(restored, parts, left, states)
    sums, found = _eliminated(executor, parts, left, factor, points)
    first, active = sums, active_rows(shared, sums.value, also_active)
    every = np.flatnonzero(active)
    rows, before = IndependentRows.of(factor.form_schur(every) if len(every) else np.zeros((0, 0)), every), np.inf
    for _ in range(PROJECTION.rounds):
        violation = violations(shared, sums.value, also_active)[rows.numbers]
        of_known = rows.solve(violation - sums.carried[rows.numbers])
        changes = executor.map(changed, left, factor.factors, found, common=(of_known, rows.numbers))
        worst = max(float(np.abs(violation).max(initial=0.0)), sums.residual)
        places = PROJECTION.places * np.abs(sums.value[rows.numbers])
        if (sums.is_exact and bool((np.abs(violation) <= places).all())) or not worst <= 0.5 * before:
            break
        before, points = worst, executor.map(corrected, left, points, changes)
        sums, found = _eliminated(executor, parts, left, factor, points)
    points = executor.map(without_vanished, left, points, common=(vanished,))
    sums, _ = _eliminated(executor, parts, left, factor, points)
    return Projected(points, first, sums, active)


def without_vanished(left: ReducedPart, point: PointPart, vanished: float) -> PointPart:
    """The point with the smallest counts 0, of the terms that are solved for."""
    counts = point.counts.copy()
    own = counts[left.terms]
    counts[left.terms] = np.where(own < vanished, 0.0, own)
    return PointPart(counts, point.multipliers)


def _eliminated(
    executor: Executor, parts: Sequence[Any], left: Sequence[Any], factor: PartitionedFactor, points: Sequence[Any]
) -> tuple[Sums, Sequence[Any]]:
    """What is wrong with a point: sums over all partitions, and handles of what each has."""
    found = executor.map(eliminated, parts, left, factor.factors, points)
    return executor.reduce(Sums.added, executor.map(sums_of, found)), found


def active_rows(shared: LinearForm, value: np.ndarray, also_active: np.ndarray | None) -> np.ndarray:
    """Mark the hard rows to take for equations: equations, and inequalities at one of their sides."""
    tolerance, is_hard = shared.tolerance, np.arange(shared.shape[0]) < shared.n_hard
    near = (value <= shared.low + tolerance) | (value >= shared.high - tolerance)
    active = is_hard & (shared.is_equation | near)
    return active if also_active is None else active | also_active


def violations(shared: LinearForm, value: np.ndarray, also_active: np.ndarray | None) -> np.ndarray:
    """By how much the value of each row is to rise, records; of rows in `also_active`, up to their nearest side."""
    violation = np.clip(value, shared.low, shared.high) - value
    if also_active is None:
        return violation
    to_low, to_high = shared.low - value, shared.high - value
    return np.where(also_active, np.where(np.abs(to_low) <= np.abs(to_high), to_low, to_high), violation)


def restored(part: Part, left: ReducedPart, state: BucketState) -> PointPart:
    """Postsolve: the counts of all terms, and the multipliers of all published rows."""
    counts, multipliers = left.counts.copy(), part.closed_form.multipliers.copy()
    counts[left.terms] = state.counts
    multipliers[left.rows] = state.u[left.systems.bucket_blocks.slot]
    return PointPart(counts, multipliers)


def eliminated(part: Part, left: ReducedPart, factor: BlockFactor, point: PointPart) -> Eliminated:
    """The violation of published rows, and the correction of the buckets by themselves."""
    form, n, blocks = part.form, part.form.n_published, left.systems.bucket_blocks
    value = form.exact_matvec(point.counts)
    residual = form.low[:n] - value[:n]
    right = np.zeros(blocks.n_slots)
    right[blocks.slot] = residual[left.rows]
    of_buckets = factor.of_buckets(right)
    worst = float(np.abs(residual).max(initial=0.0))
    is_exact = bool((np.abs(residual) <= PROJECTION.places * np.abs(value[:n])).all())
    mass = abs(form.known.distinct) @ form.known.collect(point.counts)
    return Eliminated(of_buckets, Sums(value[n:], mass, factor.carried(of_buckets), worst, is_exact))


def sums_of(found: Eliminated) -> Sums:
    """What the driver needs to know."""
    return found.sums


def changed(
    left: ReducedPart, factor: BlockFactor, found: Eliminated, of_known: np.ndarray, active: np.ndarray
) -> np.ndarray:
    """By which share of itself each count that is solved for is to be corrected."""
    of_buckets = found.of_buckets - factor.made_up(of_known, active)
    multipliers = np.zeros(left.form.known.shape[0])
    multipliers[active] = of_known
    return np.asarray(left.systems.bucket_blocks.by_term @ of_buckets + left.form.known.rmatvec(multipliers))


def corrected(left: ReducedPart, point: PointPart, change: np.ndarray) -> PointPart:
    """The point with all counts corrected; one that would be negative becomes 0."""
    counts = point.counts.copy()
    counts[left.terms] = np.maximum(counts[left.terms] * (1 + change), 0.0)
    return PointPart(counts, point.multipliers)


# The certificate of a partitioned answer; the theorem is that of :mod:`..certificate.certificate`.
#
# All buckets that knowledge is about, in whatever partition, count as one connected component: its gap is a bound on
# those of its connected components. That a point satisfies all rows exactly is proved as it is in memory
# (:mod:`..certificate.existence_proofs.correction`): each partition contributes its share of the Schur complement of
# the rows of knowledge, of their values, and of the residues that decide linear dependence. Buckets without knowledge
# are compared with the closed form.


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
        executor.reduce(CorrectionSums.added, executor.map(LocalRows.sums, local)), *of_known, Exactly(executor, local)
    )
    if found.seems_implied:
        local = executor.map(LocalRows.with_all_cycles, local)
        sums = executor.reduce(CorrectionSums.added, executor.map(LocalRows.sums, local))
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


# Multipliers of the rows of knowledge as shadow prices: whether they belong to the answer.
#
# The derivative of the maximum of sum x log(w / x) with respect to the side of a row is -m, if every term is x = w
# exp(A' m - 1). That a term is zero, no multiplier tells. So what statements of 0 and the published rows determine is
# left out first, which no other row can change; over the other terms, the multipliers have to give the answer. Where
# they do not, or where other counts are nearly 0, so that rows may force them to be 0, the multipliers are recovered
# from the counts of all partitions in memory, if these are few enough.


def price_multipliers(
    parts: Sequence[Any],
    points: Sequence[Any],
    shared: LinearForm,
    multipliers: np.ndarray,
    n_records: float,
    executor: Executor,
) -> np.ndarray | None:
    """Multipliers of the knowledge whose opposites are derivatives; None if there are too many counts to tell.

    Parameters
    ----------
    parts, points : sequence of handles of Part, and of PointPart
    shared : LinearForm
        The rows of knowledge without terms.
    multipliers : ndarray, one a row of knowledge
    n_records : float
    executor : Executor

    Returns
    -------
    ndarray, one a row of knowledge
        Infinite where a row forces terms to be 0.
    """
    signs = executor.reduce(either, executor.map(signs_of, parts))
    is_hard = np.arange(shared.shape[0]) < shared.n_hard
    empty_above = is_hard & signs[0] & ~signs[1] & (shared.high == 0)
    empty_below = is_hard & signs[1] & ~signs[0] & (shared.low == 0)
    empty = empty_above | empty_below
    alone = replace(
        shared, low=np.where(empty, shared.low, -np.inf), high=np.where(empty, shared.high, np.inf), penalties=None
    )
    left, _ = presolved(parts, alone, n_records, executor)
    off = executor.reduce(max, executor.map(difference, left, points, common=(np.where(empty, 0.0, multipliers),)))
    if not off <= PRECISE_LOG:
        sizes = executor.gather(executor.map(_size, points))
        if sum(sizes) > PARTITIONED.prices_in_memory:
            return None
        form, counts = _together(executor.gather(parts), executor.gather(points), shared)
        found = multipliers_beside(form, counts, multipliers[shared.n_hard :])[form.n_published :]
        return None if np.isnan(found).any() else found
    return np.where(empty_above, -np.inf, np.where(empty_below, np.inf, multipliers))


def _size(point: PointPart) -> int:
    """The number of terms of a partition."""
    return len(point.counts)


def _together(parts: Sequence[Part], points: Sequence[PointPart], shared: LinearForm) -> tuple[LinearForm, np.ndarray]:
    """The rows of all partitions, and the counts, as of a problem in memory; what is nearly 0 counts as 0."""
    forms = [part.form.select(np.arange(part.form.n_published)) for part in parts]
    known = [part.form.known.distinct[:, part.form.known.of_term] for part in parts]
    n = sum(form.n_published for form in forms)
    published = sp.csr_array(sp.block_diag([form.published for form in forms], format="csr"))
    rows: dict[str, Any] = {
        name: np.concatenate([*(getattr(form, name) for form in forms), getattr(shared, name)])
        for name in ("low", "high", "scale", "shift", "side_error", "coefficient_error")
    }
    form = replace(
        shared,
        coefficients=SplitMatrix(published, SharedColumns(sp.csr_array(sp.hstack(known)))),
        n_published=n,
        n_facts=n + shared.n_facts,
        weights=np.concatenate([part.form.weights for part in parts]),
        **rows,
    )
    counts = np.concatenate([point.counts for point in points])
    return form, np.where(counts <= form.zero_tolerance, 0.0, counts)


def signs_of(part: Part) -> np.ndarray:
    """Mark the rows of knowledge that have positive coefficients on terms of a partition, and negative ones."""
    distinct = part.form.known.distinct
    found = np.zeros((2, distinct.shape[0]), dtype=bool)
    for own, has in zip(found, (distinct.data > 0, distinct.data < 0), strict=True):
        own[entry_rows(distinct)[has]] = True
    return found


def either(some: Sequence[np.ndarray]) -> np.ndarray:
    """Mark what is marked in any partition."""
    return np.logical_or.reduce(list(some))


def difference(left: ReducedPart, point: PointPart, multipliers: np.ndarray) -> float:
    """The largest difference between the logarithm of a count and what multipliers of the knowledge imply."""
    if not len(left.terms):
        return 0.0
    implied = minimised(left, first_state(left), multipliers, PARTITIONED.tolerance).counts
    if (point.counts[left.terms] < SMALL_COUNT).any():
        return np.inf  # rows may force these to be 0
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.abs(np.log(implied) - np.log(point.counts[left.terms]))
    return float(np.where(np.isnan(off), np.inf, off).max())


@dataclass(frozen=True, eq=False)
class PartitionedSolution:
    """An answer that stays in its partitions.

    Attributes
    ----------
    points : sequence of handles of PointPart
        Counts of all terms, records, and multipliers of all published rows.
    multipliers : ndarray, one a row of knowledge
    certificate : Certificate
    status : Status
    iterations : int
    log : list of dict
        A line an iteration.
    """

    points: Sequence[Any]
    multipliers: np.ndarray
    certificate: Certificate
    status: Status
    iterations: int
    log: list[dict[str, Any]]


@single_thread
def solve_partitioned(
    parts: Sequence[Any],
    shared: LinearForm,
    n_records: float,
    executor: Executor,
    *,
    start: np.ndarray | None = None,
    monitor: Monitor | None = None,
    **options: Any,
) -> PartitionedSolution:
    """Maximise sum x log(w / x), less the costs of soft rows, over the rows of all partitions, and certify the answer.

    Parameters
    ----------
    parts : sequence of handles of Part
    shared : LinearForm
        The rows of knowledge over no terms: their sides, their names, and the costs of soft ones.
    n_records : float
        N.
    executor : Executor
    start : ndarray, one a row of knowledge, optional
        Multipliers to start from.
    monitor : Monitor, optional
    **options
        `tolerance` and `max_iterations`, as of :func:`..dual.newton.newton`.

    Raises
    ------
    Infeasible
        If rows contradict each other.
    """
    monitor, executor = monitor or Monitor(), SingleThreaded(executor)
    left, rest = presolved(parts, shared, n_records, executor)
    monitor.say(f"{shared.shape[0]:,} rows of knowledge over {len(left):,} partitions, {monitor.seconds:.2f} seconds")
    first = np.zeros(shared.shape[0]) if start is None else start
    whole = Whole(parts, shared)
    found = _with_settled(whole, minimum(whole, left, rest, first, executor, monitor, **options), executor)
    certificate = certified(whole, found)
    if certificate.bound > PARTITIONED.precise and found.status is Status.OPTIMAL and "tolerance" not in options:
        monitor.say("going on at full precision")
        more = {**options, "tolerance": 0.0, "max_iterations": PARTITIONED.more_iterations}
        further = minimum(whole, found.parts, rest, found.point.m, executor, monitor, found, **more)
        further = _with_settled(whole, further, executor)
        better = certified(whole, further)
        if better.bound < certificate.bound:
            log = [*found.log, *further.log]
            found = further._replace(status=found.status, iterations=found.iterations + further.iterations, log=log)
            certificate = better
    if not certificate.holds:
        lowest = found.systems.dual.lowest
        require_consistent(whole, found.parts, found.point if lowest is None else lowest, executor)
    monitor.say(f"{found.status} in {found.iterations} iterations, {monitor.seconds:.2f} seconds: {certificate}")
    points = executor.map(restored, parts, found.parts, found.point.states)
    return PartitionedSolution(points, found.point.m, certificate, found.status, found.iterations, found.log)


def _with_settled(whole: Whole, found: Minimum, executor: Executor) -> Minimum:
    """Set the multiplier of each soft row whose value is determined: it is the slope of its cost there."""
    shared = whole.shared
    if shared.penalties is None:
        return found
    value, open_ = executor.reduce(added, executor.map(determined, whole.parts, found.parts))
    slope = shared.penalties.multiplier(*(side[shared.n_hard :] for side in (shared.low, shared.high, value)))
    m = found.point.m.copy()
    m[shared.n_hard :] = np.where(open_[shared.n_hard :] > 0, m[shared.n_hard :], slope)
    return found._replace(point=replace(found.point, m=m))
