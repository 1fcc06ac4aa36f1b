"""Projection onto the feasible set, partition by partition; see :mod:`..certificate.projection`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..linear_algebra.block_factor import BlockFactor
from ..parameters.dual_methods import NEWTON
from ..parameters.tolerances import CERTIFICATION, PROJECTION
from ..program.linear_form import LinearForm
from .bucket_multipliers import BucketState
from .executing import Executor
from .independent_rows import IndependentRows
from .part import Part
from .partial_dual import Weights
from .reduction import ReducedPart
from .schur_systems import PartitionedFactor, PartitionedSystems

__all__ = ["PointPart", "Projected", "Sums", "projected"]


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
