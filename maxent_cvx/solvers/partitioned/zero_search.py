"""Terms that are zero in every solution, found from a Newton step; see :mod:`..dual.vanishing_terms`.

A direction has one number a row of knowledge, which is here, and one a published row, which stay in the partitions. It
is proved as in :mod:`..presolve.zero_proofs`, from the raw rows: what all partitions add to its two sides is summed up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import Infeasible, listing
from ..linear_algebra.block_factor import BlockFactor
from ..parameters.dual_methods import VANISHING_TERMS
from ..presolve.zero_proofs import Consequence, bounds_by, consequence
from ..program.linear_form import LinearForm
from ..program.rounding_errors import exact_rmatvec
from .bucket_multipliers import BucketState
from .executing import Executor
from .part import Part
from .partial_dual import PartialDual, PartialPoint, Weights
from .reduction import ReducedPart
from .schur_systems import PartitionedFactor, PartitionedSystems, added

__all__ = ["Direction", "RecessionProof", "Whole", "proved"]


class Whole(NamedTuple):
    """The problem before presolve, from whose rows proofs are made: its partitions, and its rows of knowledge."""

    parts: Sequence[Any]
    shared: LinearForm


class Direction(NamedTuple):
    """One partition's share of a direction of the multipliers.

    Attributes
    ----------
    of_buckets : ndarray, one a slot
    change : ndarray, one a term that is solved for
        (A' d)_j.
    shrinks : ndarray of bool
        Terms that tend to zero along the first step.
    counts : ndarray
        The others' counts, records.
    """

    of_buckets: np.ndarray
    change: np.ndarray
    shrinks: np.ndarray
    counts: np.ndarray


class RecessionProof(NamedTuple):
    """A direction that proves terms zero.

    Attributes
    ----------
    of_known : ndarray, one a row of knowledge
    zeros : sequence of handles of (ndarray of bool, ndarray)
        For every term of a partition whether it is proved zero, and its upper bound, records.
    """

    of_known: np.ndarray
    zeros: Sequence[Any]


class Largest(NamedTuple):
    """The largest changes over partitions: of any term, of the others; and whether some small term shrinks."""

    of_any: float
    of_others: float
    is_promising: bool

    @staticmethod
    def of(some: Sequence[Largest]) -> Largest:
        """The largest of some partitions together."""
        any_, others, promising = zip(*some, strict=True)
        return Largest(max(any_), max(others), any(promising))


def recession_direction(
    whole: Whole,
    dual: PartialDual,
    point: PartialPoint,
    step: np.ndarray,
    systems: PartitionedSystems,
    active: np.ndarray,
) -> RecessionProof | None:
    """Turn a Newton step into a proof that some terms are zero; None if nothing is proved.

    Parameters
    ----------
    whole : Whole
    dual, point, step, systems, active
        As of :func:`..dual.vanishing_terms.recession_direction`.

    Raises
    ------
    Infeasible
        If the multipliers prove that no counts satisfy the rows.
    """
    require_consistent(whole, dual.parts, point, dual.executor)
    executor, n_hard, limits = dual.executor, dual.form.n_hard, VANISHING_TERMS
    active, of_known = active[active < n_hard], np.where(np.arange(len(step)) < n_hard, step, 0.0)
    if not len(active):
        return None
    factor = systems.at(dual.weights(point, 0.0), limits.ridge)
    directions: Sequence[Any] = executor.map(
        first_direction, dual.parts, factor.factors, point.states, common=(of_known[active], active)
    )
    largest = executor.reduce(Largest.of, executor.map(largest_change, directions))
    if not largest.is_promising:
        return None
    of_newton = systems.schur
    factor = systems.at(Weights(executor.map(others_of, directions), 0.0), limits.ridge)
    allowed = limits.most_moved * largest.of_any
    for _ in range(limits.rounds):
        if largest.of_others <= limits.nothing * largest.of_any or largest.of_others > allowed:
            break
        allowed = 0.1 * largest.of_others
        of_known, directions = _cleaned(executor, factor, dual.parts, of_known, directions, active)
        largest = executor.reduce(Largest.of, executor.map(largest_change, directions))
    systems.schur = of_newton or systems.schur
    return proved(whole, dual.parts, of_known, executor.map(buckets_of, directions), executor)


def _cleaned(
    executor: Executor,
    factor: PartitionedFactor,
    parts: Sequence[Any],
    of_known: np.ndarray,
    directions: Sequence[Any],
    active: np.ndarray,
) -> tuple[np.ndarray, Sequence[Any]]:
    """Subtract from a direction the least-squares solution of A' d = (change of the other terms)."""
    found = executor.map(side_effect, parts, factor.factors, directions)
    right = executor.reduce(added, executor.map(known_of, found))[active]
    back = factor.solve_schur(right, active, VANISHING_TERMS.precision)
    of_known = of_known.copy()
    of_known[active] -= back
    return of_known, executor.map(cleaned, parts, factor.factors, directions, found, common=(back, active))


def proved(
    whole: Whole, left: Sequence[Any], of_known: np.ndarray, of_buckets: Sequence[Any], executor: Executor
) -> RecessionProof | None:
    """Prove terms zero by a direction, from the rows as they were before presolve; None if it proves none."""
    total = implied(whole, left, of_known, of_buckets, executor)
    zeros = executor.map(zeros_by, whole.parts, left, of_buckets, common=(of_known, total.excess))
    n_zeros = executor.reduce(sum, executor.map(number_of_zeros, zeros))
    return RecessionProof(of_known, zeros) if n_zeros else None


def require_consistent(whole: Whole, left: Sequence[Any], point: PartialPoint, executor: Executor) -> None:
    """Raise if multipliers are a Farkas certificate: the dual function falls without end along them.

    Raises
    ------
    Infeasible
        It names the rows of knowledge with the largest multipliers.
    """
    of_known = np.where(np.arange(len(point.m)) < whole.shared.n_hard, point.m, 0.0)
    if not implied(whole, left, of_known, executor.map(multipliers_of, point.states), executor).is_contradiction:
        return
    order = np.argsort(-np.abs(of_known), kind="stable")
    names = [whole.shared.name(int(row)) for row in order if abs(of_known[row]) > 0.01 * abs(of_known[order[0]])]
    raise Infeasible(
        "the knowledge contradicts the published data or itself: no counts satisfy them together with "
        f"{listing(names)}; correct one of these statements, or remove it"
    )


def multipliers_of(state: BucketState) -> np.ndarray:
    """The multipliers of the published rows, one a slot."""
    return state.u


def implied(
    whole: Whole, left: Sequence[Any], of_known: np.ndarray, of_buckets: Sequence[Any], executor: Executor
) -> Consequence:
    """What a direction implies, summed up over all partitions."""
    shares = executor.map(implied_by, whole.parts, left, of_buckets, common=(of_known,))
    nothing = np.zeros(0)
    own = consequence(whole.shared, of_known, nothing, nothing, np.zeros(0, dtype=bool), nothing)
    return Consequence.added([executor.reduce(Consequence.added, shares), own])


def first_direction(
    part: ReducedPart, factor: BlockFactor, state: BucketState, of_active: np.ndarray, active: np.ndarray
) -> Direction:
    """The step of the multipliers of published rows that goes with a step of the knowledge."""
    of_buckets = -factor.made_up(of_active, active)
    change = _change(part, of_buckets, of_active, active)
    shrinks = change < VANISHING_TERMS.shrinks
    small = shrinks & (state.counts < VANISHING_TERMS.small)
    return Direction(of_buckets, change, small, np.where(shrinks, 0.0, state.counts))


def largest_change(direction: Direction) -> Largest:
    """The largest changes in one partition."""
    size, others = np.abs(direction.change), direction.counts > 0
    return Largest(float(size.max(initial=0.0)), float(size[others].max(initial=0.0)), bool(direction.shrinks.any()))


def others_of(direction: Direction) -> BucketState:
    """The counts of the terms that do not tend to zero."""
    return BucketState(direction.of_buckets, direction.counts)


def side_effect(part: ReducedPart, factor: BlockFactor, direction: Direction) -> tuple[np.ndarray, np.ndarray]:
    """What a direction changes in the rows, by the terms that must not change: what buckets and what knowledge do."""
    moved = direction.counts * np.where(direction.counts > 0, direction.change, 0.0)
    of_buckets = factor.of_buckets(part.systems.bucket_blocks.rows @ moved)
    return of_buckets, part.form.known.matvec(moved) - factor.carried(of_buckets)


def known_of(found: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The share of the knowledge."""
    return found[1]


def cleaned(
    part: ReducedPart,
    factor: BlockFactor,
    direction: Direction,
    found: tuple[np.ndarray, np.ndarray],
    back: np.ndarray,
    active: np.ndarray,
) -> Direction:
    """The direction without its effect on the terms that must not change."""
    less = found[0] - factor.made_up(back, active)
    of_buckets, change = direction.of_buckets - less, direction.change - _change(part, less, back, active)
    return direction._replace(of_buckets=of_buckets, change=change)


def buckets_of(direction: Direction) -> np.ndarray:
    """The direction of the published rows, one number a slot."""
    return direction.of_buckets


def _change(part: ReducedPart, of_buckets: np.ndarray, of_active: np.ndarray, active: np.ndarray) -> np.ndarray:
    """A' d for the terms that are solved for."""
    of_known = np.zeros(part.form.known.shape[0])
    of_known[active] = of_active
    return np.asarray(part.systems.bucket_blocks.by_term @ of_buckets + part.form.known.rmatvec(of_known))


def _of_rows(part: Part, left: ReducedPart, of_buckets: np.ndarray, of_known: np.ndarray) -> np.ndarray:
    """A direction of all rows of a partition."""
    direction = np.concatenate([np.zeros(part.form.n_published), of_known])
    direction[left.rows] = of_buckets[left.systems.bucket_blocks.slot]
    return direction


def implied_by(part: Part, left: ReducedPart, of_buckets: np.ndarray, of_known: np.ndarray) -> Consequence:
    """What a direction implies of one partition; the sides of the rows of knowledge are not counted here."""
    direction = _of_rows(part, left, of_buckets, of_known)
    change, error = exact_rmatvec(part.form, direction)
    direction[part.form.n_published :] = 0.0
    return consequence(part.form, direction, change, error, left.fixed, left.counts, left.width)


def zeros_by(
    part: Part, left: ReducedPart, of_buckets: np.ndarray, of_known: np.ndarray, excess: float
) -> tuple[np.ndarray, np.ndarray]:
    """Mark the terms of one partition that a direction proves zero, with their upper bounds."""
    form = part.form
    change, error = exact_rmatvec(form, _of_rows(part, left, of_buckets, of_known))
    upper = bounds_by(change + error, excess, left.fixed)
    return upper <= form.zero_tolerance * form.count_scale, upper


def number_of_zeros(zeros: tuple[np.ndarray, np.ndarray]) -> int:
    """How many terms are proved zero."""
    return int(zeros[0].sum())
