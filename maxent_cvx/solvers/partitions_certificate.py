"""The solve over partitions: presolve, Newton's method on the shared rows, and the certificate.

The theorem is that of :mod:`.certificate`. All buckets that knowledge is about, in whatever partition, count as one
connected component: its gap is a bound on those of its connected components. That a point satisfies all rows exactly is
proved as in memory (:func:`.existence.correct`): each partition contributes its share of the Schur complement of the
rows of knowledge, of their values, and of the residues that decide linear dependence. Buckets without knowledge are
compared with the closed form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._utils.parallel import Executor
from .answer import Status
from .blocks import single_thread
from .certificate import (
    PROJECTION_ROUNDS,
    VALUE_PLACES,
    VANISHED,
    Certificate,
    GroupGaps,
    gaps_of_terms,
    largest_error,
    within_slopes,
)
from .columns import SharedColumns, SplitMatrix
from .existence import (
    GROWTH,
    MOST_BACKWARD,
    MOST_MOVED,
    Correction,
    CorrectionSums,
    LocalRows,
    Moved,
    closed_components,
    correct,
)
from .explain import PRECISE_LOG, SMALL_COUNT, multipliers_beside
from .form import LinearForm
from .modular import PRIMES
from .monitor import Monitor
from .newton import RIDGES
from .parameters import EPS
from .partitions import (
    TOLERANCE,
    BucketState,
    IndependentRows,
    Minimum,
    OverPartitions,
    Part,
    ReducedPart,
    Weights,
    Whole,
    added,
    change_of_terms,
    determined,
    first_state,
    minimised,
    minimum,
    presolved,
    require_consistent,
)
from .schur import BlockFactor
from .sparse import entry_rows

#: A probability: an answer with a larger certified error is made more precise, by so many iterations; from nearby, each
#: doubles the digits until rounding prevents it.
PRECISE, MORE_ITERATIONS = 1e-8, 3
#: Records: counts that are 0 at the point that is certified where it cannot be certified otherwise.
NEARLY_VANISHED = 1e-10
#: Terms of all partitions up to which shadow prices are found in memory, where multipliers alone do not tell.
PRICES_IN_MEMORY = 1_000_000


class PointPart(NamedTuple):
    """One partition's share of an answer: counts of its terms, records, and multipliers of its published rows."""

    counts: np.ndarray
    multipliers: np.ndarray


@dataclass(frozen=True, eq=False)
class PartitionedSolution:
    """An answer that stays in its partitions."""

    points: Sequence[Any]  # handles of PointPart
    multipliers: np.ndarray  # one per row of knowledge
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

    `parts` are handles of Part, and `shared` the rows of knowledge over no terms: their sides, names and costs. Options
    are `tolerance` and `max_iterations`. Raises Infeasible if rows contradict each other.
    """
    monitor, over = monitor or Monitor(), OverPartitions(executor)
    reduced_parts, rest = presolved(parts, shared, n_records, over)
    monitor.say(
        f"{shared.shape[0]:,} rows of knowledge over {len(reduced_parts):,} partitions, {monitor.seconds:.2f} seconds"
    )
    first = np.zeros(shared.shape[0]) if start is None else start
    whole = Whole(parts, shared)
    optimum = _with_settled(whole, minimum(whole, reduced_parts, rest, first, over, monitor, **options), over)
    certificate = certified(whole, optimum, over)
    if certificate.bound > PRECISE and optimum.status is Status.OPTIMAL and "tolerance" not in options:
        monitor.say("going on at full precision")
        more = {**options, "tolerance": 0.0, "max_iterations": MORE_ITERATIONS}
        further = minimum(whole, optimum.parts, rest, optimum.point.m, over, monitor, optimum, **more)
        further = _with_settled(whole, further, over)
        better = certified(whole, further, over)
        if better.bound < certificate.bound:
            log, iterations = [*optimum.log, *further.log], optimum.iterations + further.iterations
            optimum = replace(further, status=optimum.status, iterations=iterations, log=log)
            certificate = better
    if not certificate.holds:
        lowest = optimum.systems.dual.lowest
        require_consistent(whole, optimum.parts, optimum.point if lowest is None else lowest, over)
    monitor.say(f"{optimum.status} in {optimum.iterations} iterations, {monitor.seconds:.2f} seconds: {certificate}")
    points = over.map(restored, parts, optimum.parts, optimum.point.states)
    return PartitionedSolution(points, optimum.point.m, certificate, optimum.status, optimum.iterations, optimum.log)


def _with_settled(whole: Whole, optimum: Minimum, over: OverPartitions) -> Minimum:
    """Set the multiplier of each soft row whose value is determined: it is the slope of its cost there."""
    shared = whole.shared
    if shared.penalties is None:
        return optimum
    value, n_open = over.total(determined, whole.parts, optimum.parts)
    slope = shared.penalties.multiplier(*(side[shared.n_hard :] for side in (shared.low, shared.high, value)))
    m = optimum.point.m.copy()
    m[shared.n_hard :] = np.where(n_open[shared.n_hard :] > 0, m[shared.n_hard :], slope)
    return replace(optimum, point=replace(optimum.point, m=m))


def restored(part: Part, reduced_part: ReducedPart, state: BucketState) -> PointPart:
    """Postsolve: the counts of all terms, and the multipliers of all published rows."""
    counts, multipliers = reduced_part.counts.copy(), part.closed_form.multipliers.copy()
    counts[reduced_part.terms] = state.counts
    multipliers[reduced_part.rows] = state.u[reduced_part.systems.bucket_blocks.slot]
    return PointPart(counts, multipliers)


# Projection onto the feasible set, partition by partition, in a metric weighted by the point itself; see
# :func:`.certificate.project`. Rows that others imply are not corrected: rounding of their sides could be made up for by
# large changes only. Each partition eliminates its published rows; the driver corrects the rows of knowledge.


class Eliminated(NamedTuple):
    """The correction of published rows by themselves, one number per slot, and what the driver adds up."""

    of_buckets: np.ndarray
    sums: dict[str, Any]


class Projected(NamedTuple):
    """A point at which all rows hold up to their last places, if that could be reached."""

    points: Sequence[Any]  # handles of PointPart
    first: dict[str, Any]  # sums at the answer that was given, see `eliminated`
    last: dict[str, Any]  # sums at the projection
    active: np.ndarray  # of bool: rows of knowledge that were taken for equations


def projected(
    whole: Whole, optimum: Minimum, over: OverPartitions, also_active: np.ndarray | None, vanished: float
) -> Projected:
    """Correct counts in rounds, as long as each at least halves the largest violation.

    Inequalities in `also_active` are taken for equations at their nearest side, and counts below `vanished` for 0.
    """
    parts, shared = whole
    reduced_parts, states = optimum.parts, optimum.point.states
    factor = optimum.systems.at(Weights(states, 0.0), RIDGES[0])
    points = over.map(restored, parts, reduced_parts, states)

    def violation_of_buckets() -> tuple[Sequence[Any], dict[str, Any]]:
        eliminated_ = over.map(eliminated, parts, reduced_parts, factor.factors, points)
        return eliminated_, over.total(getattr, eliminated_, common=("sums",))

    corrections, sums = violation_of_buckets()
    first, active = sums, active_rows(shared, sums["value"], also_active)
    every = np.flatnonzero(active)
    rows, before = IndependentRows.of(factor.form_schur(every) if len(every) else np.zeros((0, 0)), every), np.inf
    for _ in range(PROJECTION_ROUNDS):
        violation = violations(shared, sums["value"], also_active)[rows.numbers]
        of_known = rows.solve(violation - sums["carried"][rows.numbers])
        worst = max(float(np.abs(violation).max(initial=0.0)), sums["largest_residual"])
        places = VALUE_PLACES * np.abs(sums["value"][rows.numbers])
        is_exact = not sums["n_inexact"] and bool((np.abs(violation) <= places).all())
        if is_exact or not worst <= 0.5 * before:
            break
        common = of_known, rows.numbers
        before, points = worst, over.map(corrected, reduced_parts, factor.factors, corrections, points, common=common)
        corrections, sums = violation_of_buckets()
    points = over.map(without_vanished, reduced_parts, points, common=(vanished,))
    return Projected(points, first, violation_of_buckets()[1], active)


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


def eliminated(part: Part, reduced_part: ReducedPart, factor: BlockFactor, point: PointPart) -> Eliminated:
    """The violation of published rows, and the correction of the buckets by themselves.

    Sums: K x, |K| x and what the correction changes in K x, records; the largest violation, and how many rows do not
    hold up to their last places.
    """
    form, n, blocks = part.form, part.form.n_published, reduced_part.systems.bucket_blocks
    value = form.exact_matvec(point.counts)
    residual = form.low[:n] - value[:n]
    right = np.zeros(blocks.n_slots)
    right[blocks.slot] = residual[reduced_part.rows]
    of_buckets = factor.of_buckets(right)
    sums = {
        "value": value[n:], "mass": abs(form.known.distinct) @ form.known.collect(point.counts),
        "carried": factor.carried(of_buckets), "largest_residual": float(np.abs(residual).max(initial=0.0)),
        "n_inexact": int((~(np.abs(residual) <= VALUE_PLACES * np.abs(value[:n]))).sum()),
    }  # fmt: skip
    return Eliminated(of_buckets, sums)


def corrected(
    reduced_part: ReducedPart,
    factor: BlockFactor,
    correction: Eliminated,
    point: PointPart,
    of_known: np.ndarray,
    active: np.ndarray,
) -> PointPart:
    """The point with all counts corrected by a share of themselves; one that would be negative becomes 0."""
    of_buckets = correction.of_buckets - factor.made_up(of_known, active)
    change = change_of_terms(reduced_part, of_buckets, of_known, active)
    counts = point.counts.copy()
    counts[reduced_part.terms] = np.maximum(counts[reduced_part.terms] * (1 + change), 0.0)
    return PointPart(counts, point.multipliers)


def without_vanished(reduced_part: ReducedPart, point: PointPart, vanished: float) -> PointPart:
    """The point with the smallest counts 0, of the terms that are solved for."""
    counts = point.counts.copy()
    solved = counts[reduced_part.terms]
    counts[reduced_part.terms] = np.where(solved < vanished, 0.0, solved)
    return PointPart(counts, point.multipliers)


# The certificate.


def certified(whole: Whole, optimum: Minimum, over: OverPartitions) -> Certificate:
    """Bound the error of every P(s | q)."""
    for vanished in (VANISHED, NEARLY_VANISHED):  # an edge of a forest cannot hold less than roundoff
        certificate, unproved = _bounded(whole, optimum, over, projected(whole, optimum, over, None, vanished))
        if unproved.any():  # they hold exactly at a point near the projection if they are corrected as equations
            certificate, _ = _bounded(whole, optimum, over, projected(whole, optimum, over, unproved, vanished))
        if certificate.holds:
            break
    return certificate


def _bounded(whole: Whole, optimum: Minimum, over: OverPartitions, near: Projected) -> tuple[Certificate, np.ndarray]:
    """The certificate, and the inequalities that an exact solution near the projection may violate."""
    (parts, shared), reduced_parts, states = whole, optimum.parts, optimum.point.states
    local, correction, known = _corrected(whole, reduced_parts, over, near)
    length = np.where(np.isfinite(correction.length), correction.length, 0.0)
    moved = over.map(LocalRows.moved, local, common=(length,))
    moves = over.total(moves_of, parts, reduced_parts, near.points, moved)
    rows = _RowsOfKnowledge.at(shared, near, moves, optimum.point.m, known, correction)
    common = rows.multipliers, rows.doubt
    shares = over.gather(over.map(share_of, parts, reduced_parts, states, near.points, moved, local, common=common))
    total = added([share.sums for share in shares])
    # A bound on the square root of sum d^2 / x, d being the changes of counts to an exact solution.
    reach = float(correction.length.max(initial=0.0))
    spread = math.sqrt(total["of_published"]) + reach * math.sqrt(1 + total["largest_stretch"] ** 2)
    solved = total["gap"] + float(rows.slack.sum()) + spread * (math.sqrt(total["log_ratio"]) + spread)
    bound = _largest_error(shares, solved, spread)
    value = near.first["value"]
    missed = np.maximum(shared.low - value, value - shared.high)[: shared.n_hard]
    certificate = Certificate(
        max(near.first["largest_residual"], float(missed.max(initial=0.0))),
        0.0,
        float(total["largest_move"]),
        solved + sum(float(share.of_groups["closed_gap"].sum()) for share in shares),
        bound if np.isfinite(bound) and rows.backward <= MOST_BACKWARD else np.inf,
        total["n_fixed"],
        rows.backward,
    )
    return certificate, rows.unproved


@dataclass(frozen=True, eq=False)
class Exactly:
    """The rows of knowledge as typed, in all partitions; see :class:`.existence.Exact`."""

    over: OverPartitions
    local: Sequence[Any]

    def residues(self, rows: np.ndarray, n: int, least: float) -> list[np.ndarray]:
        """Random combinations of the columns, modulo each prime: sums over partitions."""
        seeds = list(range(len(self.local)))
        return self.over.reduce(added_residues, self.over.map(residues_of, self.local, seeds, common=(rows, n, least)))

    def vanish(self, rows: np.ndarray, factors: Sequence[np.ndarray], least: float) -> bool:
        """Whether rows with these factors add up to a combination of published rows in every partition."""
        return bool(self.over.reduce(all, self.over.map(LocalRows.vanish, self.local, common=(rows, factors, least))))


def residues_of(local: LocalRows, seed: int, rows: np.ndarray, n: int, least: float) -> list[np.ndarray]:
    """The share of one partition in random combinations of the columns."""
    return local.residues(rows, n, least, seed)


def added_residues(shares: Sequence[list[np.ndarray]]) -> list[np.ndarray]:
    """Add up residues, modulo each prime."""
    return [reduce(partial(_added_modulo, prime), some) for prime, *some in zip(PRIMES, *shares, strict=True)]


def _added_modulo(prime: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return (first + second) % prime


def _corrected(
    whole: Whole, reduced_parts: Sequence[Any], over: OverPartitions, near: Projected
) -> tuple[Sequence[Any], Correction, np.ndarray]:
    """Prove that rows hold exactly at a point nearby; also what partitions know, and which rows of knowledge these are."""
    parts, shared = whole
    known = np.flatnonzero(near.active & (over.total(entries_of_rows, reduced_parts) > 0))
    side = _sides(shared, near)
    side_error = GROWTH * shared.rounding_of_rows(over.total(mass_of_rows, parts, near.points))
    inward = np.where(shared.is_equation, 0.0, np.where(side == shared.low, 1.0, -1.0))
    local = over.map(local_rows, parts, reduced_parts, near.points, common=(known, 1 / max(len(parts), 1)))
    exactly = over.reduce(np.logical_and.reduce, over.map(LocalRows.known_exactly, local))

    def correction_by(local: Sequence[Any]) -> Correction:
        sums = over.reduce(CorrectionSums.added, over.map(LocalRows.sums, local))
        together = np.zeros(len(known), dtype=np.int64)  # one component
        return correct(sums, side[known], side_error[known], inward[known], together, exactly, Exactly(over, local))

    correction = correction_by(local)
    if correction.seems_implied:
        local = over.map(LocalRows.with_all_cycles, local)
        correction = correction_by(local)
    return local, correction, known


def _sides(shared: LinearForm, near: Projected) -> np.ndarray:
    """The active side of every row of knowledge."""
    above, below = near.last["value"] - shared.low, shared.high - near.last["value"]
    return np.where(near.active & ~(np.abs(below) < np.abs(above)), shared.low, shared.high)


def entries_of_rows(reduced_part: ReducedPart) -> np.ndarray:
    """How many terms that are solved for each row of knowledge involves."""
    known = reduced_part.form.known
    return np.asarray(known.pattern @ np.bincount(known.of_term, minlength=known.distinct.shape[1]))


def mass_of_rows(part: Part, point: PointPart) -> np.ndarray:
    """The sum of the counts of one partition that each row of knowledge is about."""
    return np.asarray(part.form.known.pattern @ part.form.known.collect(point.counts))


def local_rows(part: Part, reduced_part: ReducedPart, point: PointPart, known: np.ndarray, share: float) -> LocalRows:
    """The active rows over the terms of one partition that are solved for."""
    form, n = part.form, part.form.n_published
    positive, active = np.zeros(form.shape[1], dtype=bool), np.zeros(form.shape[0], dtype=bool)
    positive[reduced_part.terms] = True
    active[reduced_part.rows] = active[n + known] = True
    side_error = GROWTH * form.side_error
    positive &= point.counts > 0
    return LocalRows(
        form, point.counts, positive, active, form.low, side_error, reduced_part.width, exact=part.exact, share=share
    )


@dataclass(frozen=True, eq=False)
class _RowsOfKnowledge:
    """What rows of knowledge add to the gap, at an exact solution near the projection."""

    multipliers: np.ndarray  # as the certificate takes them, see :func:`.certificate.within_slopes`
    slack: np.ndarray  # records
    doubt: np.ndarray  # by how much the slope of a soft row can differ from its multiplier
    backward: float  # the largest relative change of the side of a row whose value the published rows determine
    unproved: np.ndarray  # of bool: inactive inequalities that an exact solution may violate

    @classmethod
    def at(
        cls,
        shared: LinearForm,
        near: Projected,
        moves: dict[str, np.ndarray],
        m: np.ndarray,
        known: np.ndarray,
        correction: Correction,
    ) -> _RowsOfKnowledge:
        m, value, mass, hard = within_slopes(shared, m), near.last["value"], near.last["mass"], shared.n_hard
        entries, is_hard = moves["entries"], np.arange(len(m)) < hard
        side_error = GROWTH * shared.side_error + moves["widths"]
        above, below = value - shared.low, shared.high - value
        side, distance = _sides(shared, near), np.zeros(len(m))
        finite = correction.implied & np.isfinite(correction.distance)
        distance[known] = np.where(finite, side_error[known], correction.distance)
        change = moves["change"] + side_error + EPS * (entries + 4) * mass
        at_low, at_high = near.active & (side == shared.low), near.active & (side == shared.high)
        with np.errstate(invalid="ignore"):
            slack = np.where((m > 0) & ~at_low, m * (np.maximum(above, 0) + change), 0.0)
            slack -= np.where((m < 0) & ~at_high, m * (np.maximum(below, 0) + change), 0.0)
            slack = np.where(is_hard & ~shared.is_equation, slack + np.abs(m) * distance, 0.0)
            unproved = is_hard & (entries > 0) & ~near.active & ~((above >= change) & (below >= change))
        slack[unproved | (~shared.is_equation & (shared.high - shared.low < distance))] = np.inf
        doubt = np.zeros(len(m))
        if shared.penalties is not None:
            beyond = (-above[hard:], -below[hard:])
            slack[hard:] = shared.penalties.fenchel_gap(beyond, change[hard:], m[hard:])
            doubt[hard:] = shared.penalties.doubt(beyond, change[hard:], m[hard:])
            slack[hard:] = np.where((doubt[hard:] == 0) & (entries[hard:] > 0), slack[hard:], 0.0)
        slack[np.isnan(slack)] = np.inf
        size = np.maximum(np.abs(np.where(np.isfinite(side), side, 0.0)), 1.0)
        violation = np.where(is_hard & (entries == 0), np.maximum(-above, -below) - change, 0.0)
        backward = max(float((violation / size).max(initial=0.0)), float(correction.moved.max(initial=0.0)))
        return cls(m, slack, doubt, backward, unproved)


def moves_of(part: Part, reduced_part: ReducedPart, point: PointPart, moved: Moved) -> dict[str, np.ndarray]:
    """|K| times the moves of the counts, and times the widths of fixed terms, records; and the entries of each row."""
    known, moves = part.form.known, _moves(part, reduced_part, point, moved)
    size = abs(known.distinct)
    return {
        "change": size @ known.collect(np.where(np.isfinite(moves), moves, 0.0)),
        "widths": size @ known.collect(reduced_part.width),
        "entries": known.pattern @ np.bincount(known.of_term, minlength=size.shape[1]),
    }


def _moves(part: Part, reduced_part: ReducedPart, point: PointPart, moved: Moved) -> np.ndarray:
    """A bound on the distance of each count from an exact solution, records; infinite without a proof."""
    form = part.form
    moves, is_closed = np.zeros(form.shape[1]), ~reduced_part.fixed
    moves[reduced_part.terms] = (moved.own + moved.through)[reduced_part.terms]
    is_closed[reduced_part.terms] = False
    if is_closed.any():
        published = form.select(np.arange(form.n_published))
        closed = closed_components(published, point.counts, is_closed, *published.bucket)
        moves[is_closed] = np.where(point.counts[is_closed] > 0, np.inf, 0.0)
        moves[closed.terms] = point.counts[closed.terms] * closed.moves
    return moves


class Share(NamedTuple):
    """What one partition contributes to the bound: sums, records, and sums for each of its QI tuples."""

    sums: dict[str, Any]
    of_groups: dict[str, np.ndarray]


def share_of(
    part: Part,
    reduced_part: ReducedPart,
    state: BucketState,
    point: PointPart,
    moved: Moved,
    local: LocalRows,
    m: np.ndarray,
    doubt: np.ndarray,
) -> Share:
    """What one partition contributes to the bound.

    Sums over terms that were solved for: the gap, sum x log(x / y)^2, and sum d^2 / x of the correction of the published
    rows by themselves. For QI tuples: the gaps of buckets without knowledge; the changes of counts by the projection and
    in these buckets; and a bound on all further changes.
    """
    form, (q, n_q), near = part.form, part.groups, point.counts
    free, solved, none = ~reduced_part.fixed, np.zeros(len(q), dtype=bool), np.zeros(form.n_published)
    solved[reduced_part.terms] = True
    unsure = form.absolute_rmatvec(np.concatenate([none, doubt])) if doubt.any() else np.zeros(len(q))
    log_ratio, distance = gaps_of_terms(form, near, np.concatenate([point.multipliers, m]), free, unsure)
    moves = _moves(part, reduced_part, point, moved)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        relative = np.where(near > 0, moves / np.where(near > 0, near, 1.0), 0.0)
        distance += np.where(free & ~solved & (near > 0), moves * (log_ratio + relative), 0.0)
        of_published = np.where(solved & (moved.own > 0), moved.own**2 / near, 0.0)
    closed_gap = GroupGaps(*form.bucket, part.groups).of_groups(none, np.where(solved, 0.0, distance))
    projection = np.abs(near - restored(part, reduced_part, state).counts)
    is_failed = bool(local.failed.any() or not (relative[solved] <= MOST_MOVED).all())
    sums = {
        "gap": np.inf if is_failed else float(distance[solved].sum()),
        "log_ratio": float((near * log_ratio**2)[solved].sum()),
        "of_published": float(of_published.sum()),
        "n_fixed": int(reduced_part.fixed.sum()),
        "largest_move": float(projection.max(initial=0.0)),
        "largest_stretch": moved.stretch,
    }
    of_groups = {
        "closed_gap": closed_gap,
        "moved": np.bincount(q, projection + reduced_part.width + np.where(solved, 0.0, moves), len(n_q)),
        "corrected": np.bincount(q, np.where(solved, moves, 0.0), len(n_q)),
        "n_open": np.bincount(q, solved, len(n_q)),
        "number": part.q_numbers,
        "records": n_q,
    }
    return Share(sums, of_groups)


def _largest_error(shares: Sequence[Share], solved: float, spread: float) -> float:
    """The largest bound of a QI tuple, whose terms may lie in several partitions.

    `solved` is the gap of all terms that were solved for, records, and `spread` a bound on the square root of sum
    d^2 / x, d being the changes of counts to an exact solution.
    """
    joined = {name: np.concatenate([share.of_groups[name] for share in shares]) for name in shares[0].of_groups}
    q, first, place = np.unique(joined["number"], return_index=True, return_inverse=True)
    records = joined["records"][first]
    closed_gap, moved, corrected, n_open = (
        np.bincount(place, joined[name], len(q)) for name in ("closed_gap", "moved", "corrected", "n_open")
    )
    # sum |d| of a QI tuple, term by term, or by Cauchy and Schwarz
    further = np.where(n_open > 0, np.minimum(corrected, spread * np.sqrt(records)), 0.0)
    return largest_error(moved + further, closed_gap + np.where(n_open > 0, solved, 0.0), records)


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
    """Multipliers of the knowledge whose opposites are derivatives, infinite where a row forces terms to be 0.

    None if there are too many counts to tell.
    """
    over = OverPartitions(executor)
    positive, negative = over.total(signs_of, parts) > 0
    is_hard = np.arange(shared.shape[0]) < shared.n_hard
    empty_above = is_hard & positive & ~negative & (shared.high == 0)
    empty_below = is_hard & negative & ~positive & (shared.low == 0)
    empty = empty_above | empty_below
    low, high = np.where(empty, shared.low, -np.inf), np.where(empty, shared.high, np.inf)
    reduced_parts, _ = presolved(parts, replace(shared, low=low, high=high, penalties=None), n_records, over)
    off = over.total(difference, reduced_parts, points, common=(np.where(empty, 0.0, multipliers),))["largest"]
    if off <= PRECISE_LOG:
        return np.where(empty_above, -np.inf, np.where(empty_below, np.inf, multipliers))
    if over.total(_n_terms, points) > PRICES_IN_MEMORY:
        return None
    form, counts = _together(over.gather(parts), over.gather(points), shared)
    recovered = multipliers_beside(form, counts, multipliers[shared.n_hard :])[form.n_published :]
    return None if np.isnan(recovered).any() else recovered


def _n_terms(point: PointPart) -> int:
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
    """How many positive, and negative, coefficients each row of knowledge has on classes of terms of a partition."""
    distinct = part.form.known.distinct
    rows, n = entry_rows(distinct), distinct.shape[0]
    return np.stack([np.bincount(rows, distinct.data > 0, n), np.bincount(rows, distinct.data < 0, n)])


def difference(reduced_part: ReducedPart, point: PointPart, multipliers: np.ndarray) -> dict[str, float]:
    """The largest difference between the logarithm of a count and what multipliers of the knowledge imply."""
    if not len(reduced_part.terms):
        return {"largest": 0.0}
    counts = point.counts[reduced_part.terms]
    if (counts < SMALL_COUNT).any():
        return {"largest": np.inf}  # rows may force these to be 0
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.abs(
            np.log(minimised(reduced_part, first_state(reduced_part), multipliers, TOLERANCE).counts) - np.log(counts)
        )
    return {"largest": float(np.where(np.isnan(off), np.inf, off).max())}
