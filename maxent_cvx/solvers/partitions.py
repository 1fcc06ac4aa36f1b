"""Presolve and the dual Newton method over partitions of whole buckets.

Every partition has the terms x and the published rows P of some buckets, and its part of the rows of knowledge K: over
the whole problem, K x is a sum over partitions. With u the multipliers of the published rows and m those of the
knowledge, the dual function is g(u, m), and

    g(m) = min over u of g(u, m)

is a convex function with one variable per row of knowledge. Its gradient is K x minus the active sides, and its second
derivatives are the Schur complement S of :mod:`.schur`; both are sums over partitions. Newton's method
(:mod:`.newton`) minimises g(m); each iteration sends m to every partition and receives sums. The minimum over u is a
small problem for each bucket, which never leaves its partition.

In memory u remains among the variables, which takes less time. In partitions it is eliminated, which takes fewer rounds
of communication: see docs/architecture.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp

from .._utils.errors import Infeasible, join_names
from .._utils.parallel import Executor
from .answer import Status
from .blocks import BucketInverse, single_thread
from .columns import SplitMatrix
from .dual import Dual, Point
from .duality import Consequence, bounds_by, consequence, exact_rmatvec
from .existence import ExactRows
from .form import ClosedForm, Groups, LinearForm, Sized
from .monitor import Monitor
from .newton import (
    LOOSEST,
    NOTHING,
    RECESSION_MOVED,
    RECESSION_PRECISION,
    RECESSION_ROUNDS,
    RIDGES,
    ROUNDING,
    SHRINKS,
    TIGHTEST,
    VANISHING,
    descent,
)
from .parameters import FEASIBLE_MULTIPLE
from .presolve import (
    CONTRADICTS_RELEASE,
    PROPAGATION_ROUNDS,
    Bounds,
    Propagation,
    first_terms,
    largest_activity,
    largest_coefficients,
    negligible,
    relevant_terms,
    require_feasible,
    sides_in_units,
    slacks,
    unit_of,
)
from .proofs import LOWERED, PRECISION, REPAIRS, ROUNDS, SMALL
from .schur import BlockFactor, BlockSystem, SchurFactor, Systems
from .sparse import with_shared_ones


@dataclass(frozen=True, eq=False)
class Part(Sized):
    """One partition: its terms and published rows, and below these all rows of knowledge with the sides of the whole.

    All partitions have the same rows of knowledge, in the same order, with the coefficients of their own terms.
    """

    form: LinearForm
    closed_form: ClosedForm  # the solution for the published rows alone
    groups: Groups  # the QI tuples of its terms, with their records in the whole release
    q_numbers: np.ndarray  # their numbers in the whole release
    exact: ExactRows | None = None  # the rows of knowledge as typed


class Whole(NamedTuple):
    """The problem before presolve, whose rows are used in proofs: handles of Part, and the rows of knowledge."""

    parts: Sequence[Any]
    shared: LinearForm


class OverPartitions:
    """Applies pure functions to partitions, with one BLAS thread in whatever process they run.

    A handle represents a result that stays where it was computed.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.gather, self.reduce = executor.gather, executor.reduce

    def map(self, function: Callable[..., Any], *handles: Sequence[Any], common: tuple[Any, ...] = ()) -> list[Any]:
        """Return handles of ``function(*results, *common)``, where the results are those of one partition."""
        return self._executor.map(partial(_with_one_thread, function), *handles, common=common)

    def total(self, function: Callable[..., Any], *handles: Sequence[Any], common: tuple[Any, ...] = ()) -> Any:
        """Sum the results of a function over partitions: numbers, arrays, or dictionaries of these."""
        return self.reduce(added, self.map(function, *handles, common=common))


def _with_one_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with one BLAS thread."""
    with single_thread:
        return function(*arguments)


def added(shares: Sequence[Any]) -> Any:
    """Sum numbers or arrays; sum dictionaries by name, but take the maximum for names that begin with `largest`."""
    if not isinstance(shares[0], Mapping):
        return reduce(add, shares)
    names = {name: [share[name] for share in shares] for name in shares[0]}
    return {
        name: np.maximum.reduce(values) if name.startswith("largest") else added(values)
        for name, values in names.items()
    }


# Bound propagation: activity bounds of the rows of knowledge are sums over all partitions.


def propagated(parts: Sequence[Any], shared: LinearForm, n_records: float, over: OverPartitions) -> list[Any]:
    """Return handles of the bounds of every partition, as :func:`.presolve.propagated_bounds` does in memory."""
    first = over.total(first_activity, parts, common=(n_records,))
    unit = unit_of(max(first["largest"], float(first["size"].max(initial=0.0))))
    propagations = over.map(Propagation, over.map(getattr, parts, common=("form",)), common=(n_records, unit))
    bounds, sides = over.map(getattr, propagations, common=("start",)), sides_in_units(shared, unit)
    for _ in range(PROPAGATION_ROUNDS):
        activity = over.total(activity_within, propagations, bounds)
        if not activity["changed"]:
            break
        slack = slacks(shared, sides, activity["low"], activity["high"], unit)
        bounds = over.map(tightened, propagations, bounds, common=slack)
    return bounds


def first_activity(part: Part, n_records: float) -> dict[str, Any]:
    """Return the largest values of rows of knowledge and of published rows before propagation."""
    form = part.form
    size = abs(form.known.distinct) @ form.known.collect(np.minimum(form.upper_bound, n_records))
    return {"size": size, "largest": largest_activity(form.select(np.arange(form.n_published)), n_records)}


def activity_within(propagation: Propagation, bounds: Bounds) -> dict[str, Any]:
    """Return activity bounds of the rows of knowledge, and whether the bounds have changed."""
    low, high = (side[propagation.form.n_published :] for side in propagation.activity(bounds))
    return {"low": low, "high": high, "changed": int(bounds.changed)}


def tightened(propagation: Propagation, bounds: Bounds, to_high: np.ndarray, to_low: np.ndarray) -> Bounds:
    """Compute one round: the slack of the published rows is computed here, that of the rows of knowledge is given."""
    form, n = propagation.form, propagation.form.n_published
    low, high, *sides = (side[:n] for side in (*propagation.activity(bounds), *propagation.sides))
    of_published = slacks(form.select(np.arange(n)), (sides[0], sides[1]), low, high, bounds.unit)
    both = (np.concatenate(pair) for pair in zip(of_published, (to_high, to_low), strict=True))
    return propagation.tightened(bounds, *both)


# Presolve of one partition: fixed terms and buckets without knowledge are removed; fixed values are included in sums.

#: Relative to the size of a row: if it changes by less between two random points, the published rows imply it; and the
#: number of corrections of these points.
IMPLIED, REFINEMENTS = 1e-12, 3


@dataclass(frozen=True, eq=False)
class ReducedPart(Sized):
    """The reduced problem of one partition."""

    form: LinearForm  # the published rows of the remaining terms, and all rows of knowledge
    terms: np.ndarray  # the numbers of the remaining terms in the partition
    rows: np.ndarray  # the numbers of these published rows in the partition
    fixed: np.ndarray  # one per term of the partition: whether it has only one value
    counts: np.ndarray  # the values of all removed terms, in records
    width: np.ndarray  # bounds on their errors

    def __post_init__(self) -> None:
        self.buckets  # noqa: B018 - all that is derived is made here, so that it is there wherever the part is sent
        self.systems  # noqa: B018
        self.form.clear_cache()  # the block structure contains the same data

    @cached_property
    def systems(self) -> BlockSystem:
        """Block structure of the Newton systems, which is the same at every x."""
        return BlockSystem(self.form)

    @cached_property
    def buckets(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Terms sorted by bucket; the first position of each bucket among them; and the bucket of every term."""
        component = self.form.bucket[1]
        order = np.argsort(component, kind="stable").astype(np.int32)
        starts = np.flatnonzero(np.diff(component[order], prepend=-1))
        of_term = np.empty_like(order)
        of_term[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
        return order, starts, of_term


def _nearly_fixed(form: LinearForm, bounds: Bounds) -> np.ndarray:
    return np.asarray(bounds.range <= form.zero_tolerance * form.count_scale)


def largest_open(part: Part, bounds: Bounds) -> dict[str, np.ndarray]:
    """Return the largest coefficient of each row of knowledge over the terms of one partition that are not fixed."""
    return {"largest": largest_coefficients(part.form, ~_nearly_fixed(part.form, bounds))}


def reduced(part: Part, bounds: Bounds | None, largest: np.ndarray | None) -> ReducedPart:
    """Remove fixed terms, and the buckets without knowledge.

    If there are no bounds, all knowledge is soft and nothing is fixed. `largest` is the largest coefficient of each row
    of knowledge over all terms that are not fixed.
    """
    form, n_terms = part.form, part.form.shape[1]
    fixed, width, counts = np.zeros(n_terms, dtype=bool), np.zeros(n_terms), part.closed_form.counts.copy()
    if bounds is not None and largest is not None:
        fixed = _nearly_fixed(form, bounds) & negligible(form, bounds.range, largest)
        counts[fixed], width[fixed] = bounds.values(fixed)
    terms = relevant_terms(form, fixed, part.closed_form.counts) & ~fixed
    counts[terms] = 0.0
    contributed = form.published @ counts
    involved = form.published @ terms.astype(float) > 0
    published = form.select(np.arange(form.n_published))
    feasible = involved | (published.residual(counts) <= FEASIBLE_MULTIPLE * published.tolerance)
    require_feasible(published, feasible, contributed, contributed)
    rows = np.flatnonzero(involved)
    rows = rows[np.argsort(first_terms(form)[form.bucket[0][rows]], kind="stable")]
    kept = np.flatnonzero(terms).astype(np.int32)
    form.clear_cache()
    return ReducedPart(_restricted(form, rows, kept, contributed), kept, rows, fixed, *map(_constant, (counts, width)))


def _constant(numbers: np.ndarray) -> np.ndarray:
    """Store an array of zeros as a single number."""
    return numbers if numbers.any() else np.broadcast_to(0.0, len(numbers))


def without(part: Part, reduced_part: ReducedPart, zeros: tuple[np.ndarray, np.ndarray]) -> ReducedPart:
    """Remove further terms, which are zero up to the given bounds, both with one entry per term of the partition."""
    form, (is_zero, upper) = part.form, zeros
    gone = np.zeros(form.shape[1], dtype=bool)
    gone[reduced_part.terms] = is_zero[reduced_part.terms]
    width, counts = np.where(gone, upper, reduced_part.width), np.where(gone, 0.0, reduced_part.counts)
    terms = reduced_part.terms[~gone[reduced_part.terms]]
    is_left = np.zeros(form.shape[1])
    is_left[terms] = 1.0
    rows = reduced_part.rows[(form.published @ is_left > 0)[reduced_part.rows]]
    return ReducedPart(
        _restricted(form, rows, terms, form.published @ counts), terms, rows, reduced_part.fixed | gone, counts, width
    )


def _restricted(form: LinearForm, rows: np.ndarray, terms: np.ndarray, contributed: np.ndarray) -> LinearForm:
    """Restrict published rows and all rows of knowledge to some terms; subtract the contributions of the others."""
    smaller = form.select(np.concatenate([rows, np.arange(form.n_published, form.shape[0])]))
    published, known = smaller.published, smaller.known
    if len(terms) < form.shape[1]:
        published, known = published[:, terms], form.known.columns(terms)
    low, high = smaller.low.copy(), smaller.high.copy()
    low[: len(rows)] -= contributed[rows]
    high[: len(rows)] -= contributed[rows]
    weights = form.weights[terms] if form.is_weighted else np.broadcast_to(1.0, len(terms))
    matrix = SplitMatrix(with_shared_ones(published), known)
    # Newton's method needs the sides only; the other arrays would take a third of the memory of the rows.
    ones, zeros = (np.broadcast_to(constant, len(low)) for constant in (1.0, 0.0))
    return replace(
        smaller, coefficients=matrix, low=low, high=high, weights=weights, scale=ones, shift=zeros, side_error=zeros,
        coefficient_error=zeros,
    )  # fmt: skip


def presolved(
    parts: Sequence[Any], shared: LinearForm, n_records: float, over: OverPartitions
) -> tuple[list[Any], LinearForm]:
    """Return handles of the reduced partitions, and the rows of knowledge minus the contributions of removed terms."""
    if shared.n_hard:
        soft = np.arange(shared.shape[0]) >= shared.n_hard
        low, high = np.where(soft, -np.inf, shared.low), np.where(soft, np.inf, shared.high)
        try:
            bounds = propagated(parts, replace(shared, low=low, high=high, penalties=None), n_records, over)
            largest = over.total(largest_open, parts, bounds)["largest"]
            reduced_parts = over.map(reduced, parts, bounds, common=(largest,))
        except Infeasible as error:
            is_empty = (np.arange(shared.shape[0]) >= shared.n_facts) & ((low == 0) | (high == 0))
            if str(error) != CONTRADICTS_RELEASE or not is_empty.any():
                raise
            names = join_names(map(shared.name, np.flatnonzero(is_empty).tolist()))
            raise Infeasible(
                f"{error}: statements of 0 leave no terms for a published count; correct or remove one of {names}"
            ) from None
    else:
        reduced_parts = over.map(reduced, parts, common=(None, None))
    known, n_open = over.total(determined, parts, reduced_parts)
    tolerance = FEASIBLE_MULTIPLE * shared.tolerance
    feasible = (n_open > 0) | (np.maximum(shared.low - known, known - shared.high) <= tolerance)
    feasible[shared.n_hard :] = True
    require_feasible(shared, feasible, known, known)
    low, high = shared.low - known, shared.high - known
    if shared.n_hard:  # rows that the published rows imply are left out: any multiplier of theirs changes no count
        sums = over.total(value_and_range, reduced_parts)
        value = sums["value"]
        is_implied = (sums["largest_range"] <= IMPLIED) & (np.maximum(low - value, value - high) <= tolerance)
        is_implied[shared.n_hard :] = False
        low, high = np.where(is_implied, -np.inf, low), np.where(is_implied, np.inf, high)
    return reduced_parts, replace(shared, low=low, high=high)


def determined(part: Part, reduced_part: ReducedPart) -> np.ndarray:
    """Return the contribution of the removed terms to every row of knowledge, and each row's number of other terms."""
    known = part.form.known
    terms = np.zeros(part.form.shape[1])
    terms[reduced_part.terms] = 1.0
    return np.stack([known.matvec(reduced_part.counts), known.pattern @ known.collect(terms)])


def value_and_range(part: ReducedPart) -> dict[str, np.ndarray]:
    """Return the rows of knowledge at some x with P x = b, and their relative change to another such x."""
    blocks, known = part.systems.bucket_blocks, part.form.known
    move = np.random.default_rng(0).uniform(1, 2, len(part.terms))
    x, inverse = move, BucketInverse(blocks, np.ones(len(move)), BUCKET_RIDGE)
    for _ in range(REFINEMENTS):
        x = x + blocks.by_term @ inverse.apply(_sides(part) - blocks.rows @ x)
        move = move - blocks.by_term @ inverse.apply(blocks.rows @ move)
    size = np.maximum(abs(known.distinct) @ known.collect(np.ones(len(move))), np.finfo(float).tiny)
    return {"value": known.matvec(x), "largest_range": np.abs(known.matvec(move)) / size}


# The multipliers of published rows, given those of the knowledge: every bucket is a separate small problem.
#
# Knowledge with multipliers m changes the weights of the terms to w exp(K' m). These are then scaled until the
# published rows P hold, which minimises
#
#     sum w exp(K' m + P' u - 1) - b' u
#
# over u, bucket by bucket and all buckets at once. Newton's steps have the length log(1 + d) / d, where d is the
# largest change of a logarithm in the bucket, with which a sum of exponentials decreases from any point (Sun and
# Tran-Dinh, 2019, "Generalized self-concordant functions"). Far from the solution, rows are first scaled in turn
# (Sinkhorn, 1967), in the logarithmic domain.

#: Records: the largest violation of a published row at which to stop.
TOLERANCE = 1e-13
#: Relative to the largest right-hand side: below this, a violation that is no longer halved is due to rounding.
BUCKET_ROUNDING = 1e-10
#: Relative violation of each row below which Newton's method takes over, and the largest number of rounds of scaling.
#: Without scaling there are 1.7 times as many steps (Adult, 200 statements).
SCALED, SCALINGS = 0.5, 8
#: The largest number of Newton's steps, and the relative ridge of the blocks, each of which has a redundant row.
BUCKET_STEPS, BUCKET_RIDGE = 25, 1e-10
#: Logarithm: a step that changes counts by less is not shortened.
WHOLE_STEP = 0.1


class BucketState(NamedTuple):
    """The multipliers of one partition's published rows, with the counts and the residual there."""

    u: np.ndarray  # one per slot of the blocks
    counts: np.ndarray  # x, records
    residual: float = np.inf  # the largest violation of a published row, records
    steps: int = 0  # number of Newton's steps


def first_state(part: ReducedPart) -> BucketState:
    """Return the state with all multipliers 0."""
    return BucketState(np.zeros(part.systems.bucket_blocks.n_slots), np.zeros(0))


def minimised(part: ReducedPart, state: BucketState, m: np.ndarray, tolerance: float) -> BucketState:
    """Return the state at multipliers m of the knowledge, starting from another; `tolerance` as :data:`TOLERANCE`."""
    blocks, sides = part.systems.bucket_blocks, _sides(part)
    with np.errstate(over="ignore", invalid="ignore"):
        offset = part.form.known.rmatvec(m)
        offset += np.log(part.form.weights) - 1 if part.form.is_weighted else -1.0
        u, exponent = state.u.copy(), blocks.by_term @ state.u + offset
        filled = np.flatnonzero(np.diff(blocks.rows.indptr))
        middle = blocks.n_blocks * blocks.n_single
        for _ in range(SCALINGS):
            residual = sides - blocks.rows @ np.exp(exponent)
            if (np.abs(residual) <= SCALED * np.abs(sides)).all():  # false if anything has overflowed
                break
            for slots in (filled[filled < middle], filled[filled >= middle]):  # rows within each set share no term
                if len(slots):
                    u[slots] += np.log(sides[slots]) - _log_sums(blocks.rows, slots, exponent)
                    exponent = blocks.by_term @ u + offset
        return _by_newton(part, u, exponent, sides, tolerance)


def _log_sums(rows: sp.csr_array, slots: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """Return the logarithm of the sum of exp(exponent) over the terms of the rows, ascending; coefficients are 1."""
    rows_of_slots = rows[slots]
    return np.asarray(np.logaddexp.reduceat(exponent[rows_of_slots.indices], rows_of_slots.indptr[:-1]))


def _by_newton(
    part: ReducedPart, u: np.ndarray, exponent: np.ndarray, sides: np.ndarray, tolerance: float
) -> BucketState:
    """Apply Newton's method to all buckets at once, from a point near the solution."""
    blocks, x, before = part.systems.bucket_blocks, np.exp(exponent), np.inf
    for n_steps in range(BUCKET_STEPS + 1):
        residual = sides - blocks.rows @ x
        worst = float(np.abs(residual).max(initial=0.0))
        # If a step from a nearby point has not halved the residual, rounding prevents further progress.
        stalled = worst > 0.5 * before and worst <= BUCKET_ROUNDING * max(float(sides.max(initial=0.0)), 1.0)
        if worst <= tolerance or stalled or n_steps == BUCKET_STEPS or not np.isfinite(worst):
            break
        before = worst
        step = BucketInverse(blocks, x, BUCKET_RIDGE).apply(residual)
        change = blocks.by_term @ step
        size = np.abs(change)
        if not size.max(initial=0.0) <= WHOLE_STEP:
            order, starts, bucket = part.buckets
            largest = np.maximum.reduceat(size[order], starts)
            length = np.where(largest > WHOLE_STEP, np.log1p(largest) / np.maximum(largest, WHOLE_STEP), 1.0)[bucket]
            change *= length
            step = step * _of_slots(blocks.rows, length)
        u, exponent = u + step, exponent + change
        x = np.exp(exponent)
    return BucketState(u, x, worst, n_steps)


def contribution(part: ReducedPart, state: BucketState) -> dict[str, Any]:
    """Return the contribution of the partition to the dual function: sum x, b' u, |b|'|u| and K x, in records."""
    products = _sides(part) * state.u
    return {
        "total": float(state.counts.sum()), "linear": float(products.sum()), "size": float(np.abs(products).sum()),
        "activity": part.form.known.matvec(state.counts), "largest_residual": state.residual,
        "largest_steps": state.steps,
    }  # fmt: skip


def _sides(part: ReducedPart) -> np.ndarray:
    """Return the right-hand sides of the published rows, one per slot; 0 for padding."""
    blocks = part.systems.bucket_blocks
    sides = np.zeros(blocks.n_slots)
    sides[blocks.slot] = part.form.low[: part.form.n_published]
    return sides


def _of_slots(rows: sp.csr_array, of_term: np.ndarray) -> np.ndarray:
    """Return a number that is equal for all terms of a row, one per slot; 1 for padding."""
    filled = np.diff(rows.indptr) > 0
    of_slot = np.ones(rows.shape[0])
    of_slot[filled] = of_term[rows.indices[rows.indptr[:-1][filled]]]
    return of_slot


# The dual function of the knowledge alone, minimised over the multipliers of published rows in each partition.


@dataclass(frozen=True, eq=False)
class PartialPoint(Point):
    """A point of the partial dual."""

    states: Sequence[Any] = ()  # handles of BucketState
    residual: float = 0.0  # the largest violation of a published row, records


class Weights(NamedTuple):
    """The weights of the Hessian: the counts at a point, but at least `floor` records each."""

    states: Sequence[Any]
    floor: float


class PartialDual(Dual):
    """The dual function of the knowledge; `shared` are its rows minus the contributions of removed terms."""

    def __init__(
        self,
        whole: Whole,
        shared: LinearForm,
        parts: Sequence[Any],
        over: OverPartitions,
        states: Sequence[Any] | None = None,
        tolerance: float = TOLERANCE,
    ) -> None:
        super().__init__(shared)
        self.whole, self.parts, self.over, self.tolerance = whole, parts, over, tolerance
        self._n_removed = 0
        self.states = over.map(first_state, parts) if states is None else states
        self.steps = 0
        self.lowest: PartialPoint | None = None  # the lowest point since terms were last removed
        self._first: float | None = None
        self._fallen = 1.0

    def start_from(self, point: Point) -> None:
        """Start later minimisations over the published rows from the states of this point."""
        assert isinstance(point, PartialPoint)
        self.states = point.states
        self._first = point.value if self._first is None else self._first
        # If no counts satisfy the rows, the function decreases without limit; test that after each doubled decrease.
        if self._first - point.value > self._fallen * max(abs(self._first), 1.0) and self.lowest is not None:
            require_consistent(self.whole, self.parts, self.lowest, self.over)
            self._fallen *= 2

    def at(self, m: np.ndarray) -> PartialPoint:
        """Minimise over the published rows, and sum the components of the gradient."""
        states = self.over.map(minimised, self.parts, self.states, common=(m, self.tolerance))
        sums = self.over.total(contribution, self.parts, states)
        self.steps += sums["largest_steps"]
        activity = sums["activity"].copy()
        size = sums["total"] + sums["size"]
        value, rounding, curvature = self.value_at(m, sums["total"] - sums["linear"], size, activity)
        residual = float(sums["largest_residual"])
        point = PartialPoint(m, value, rounding, np.empty(0), activity, curvature, states, residual)
        if self.lowest is None or value < self.lowest.value:
            self.lowest = point
        return point

    def residual_and_gap(self, point: Point) -> tuple[float, float]:
        """Return the residual and gap of the knowledge, including the largest violation of published rows."""
        residual, gap = super().residual_and_gap(point)
        assert isinstance(point, PartialPoint)
        return max(residual, point.residual), gap

    def remove_zeros(self, proof: Any) -> None:
        """Remove terms from every partition; the proof consists of handles of (is zero, upper bound) of every term."""
        before, self.lowest = self.parts, None
        self.parts = self.over.map(without, self.whole.parts, before, proof)
        self.states = self.over.map(moved_state, before, self.parts, self.states)
        self._n_removed += int(self.over.total(_n_fewer, before, self.parts))

    @property
    def n_removed(self) -> int:
        """Number of terms proved zero."""
        return self._n_removed

    def weights(self, point: Point, floor: float) -> Weights:
        """Return the weights at a point, for all partitions."""
        assert isinstance(point, PartialPoint)
        return Weights(point.states, floor)


def moved_state(before: ReducedPart, after: ReducedPart, state: BucketState) -> BucketState:
    """Return the state with the same multipliers after some terms, and possibly rows, were removed."""
    of_row = np.zeros(int(before.rows.max(initial=-1)) + 1)
    of_row[before.rows] = state.u[before.systems.bucket_blocks.slot]
    u = np.zeros(after.systems.bucket_blocks.n_slots)
    u[after.systems.bucket_blocks.slot] = of_row[after.rows]
    return BucketState(u, np.zeros(0))


def _n_fewer(before: ReducedPart, after: ReducedPart) -> int:
    return len(before.terms) - len(after.terms)


# Newton systems of the partial dual: the Schur complement, and products with it, are sums over partitions.


class PartitionedSystems(Systems):
    """Solves S v = r at any x for the partitions of a dual function, also after terms were removed."""

    def __init__(self, dual: PartialDual) -> None:
        super().__init__(dual.form.shape[0])
        self.dual, self.over = dual, dual.over

    @cached_property
    def affordable_products(self) -> int:
        """Return how many products with S one solution may take before S is formed: the maximum over partitions."""
        return int(self.over.total(affordable_products, self.dual.parts)["largest"])

    def at(self, x: Weights, ridge: float, curvature: np.ndarray | None = None) -> PartitionedFactor:
        """Factorise the blocks of all partitions at x."""
        factors = self.over.map(factored, self.dual.parts, x.states, common=(x.floor, ridge))
        return PartitionedFactor(self, factors, ridge, curvature)


class PartitionedFactor(SchurFactor):
    """The Schur complement at one x."""

    def __init__(
        self, systems: PartitionedSystems, factors: Sequence[Any], ridge: float, curvature: np.ndarray | None
    ) -> None:
        self._over, self.factors = systems.over, factors
        squares = self._over.total(getattr, factors, common=("squares",))
        super().__init__(systems, squares, ridge, curvature)

    def solve(self, gradient: np.ndarray, active: np.ndarray, tolerance: float = 1e-12) -> np.ndarray:
        """Solve for the active rows of knowledge; the direction of the others is 0."""
        direction = np.zeros(len(gradient))
        if len(active):
            direction[active] = self.solve_schur(gradient[active], active, tolerance)
        return direction

    def schur_product(self, v: np.ndarray, active: np.ndarray) -> np.ndarray:
        """Return S v over the active rows, summed over partitions."""
        return np.asarray(self._over.total(BlockFactor.schur_product, self.factors, common=(v, active)))

    def form_schur(self, active: np.ndarray) -> np.ndarray:
        """Return S over the active rows, summed over partitions."""
        return np.asarray(self._over.total(BlockFactor.form_schur, self.factors, common=(active,)))


def affordable_products(part: ReducedPart) -> dict[str, int]:
    """Return how many products one partition permits before S is formed."""
    return {"largest": part.systems.affordable_products}


class PartFactor(Sized, BlockFactor):
    """The factorised blocks of one partition."""


def factored(part: ReducedPart, state: BucketState, floor: float, ridge: float) -> PartFactor:
    """Return the factorised blocks of one partition."""
    return PartFactor(part.systems, np.maximum(state.counts, floor), ridge)


# Terms that are zero in every solution, derived from a Newton step as in :mod:`.newton`.
#
# A direction has one number per row of knowledge, stored here, and one per published row, stored in the partitions. It
# is proved from the rows before presolve: the contributions of all partitions to its two sides are summed.


class Direction(NamedTuple):
    """The part of a direction of the multipliers in one partition."""

    of_buckets: np.ndarray  # one per slot
    change: np.ndarray  # (A' d)_j, one per remaining term
    shrinks: np.ndarray  # one per term: whether it tends to zero along the first step
    counts: np.ndarray  # the counts, in records; 0 for terms that tend to zero


#: Records: the least weight of a term in the first direction. A large step leaves some counts of 0 and some of 1e-90,
#: which must all fall along it.
LEAST_WEIGHT = 1e-9


def recession_direction(
    dual: PartialDual, point: PartialPoint, step: np.ndarray, systems: PartitionedSystems, active: np.ndarray
) -> Sequence[Any] | None:
    """Turn a Newton step into a proof that some terms are zero; see :func:`.newton.recession_direction`."""
    require_consistent(dual.whole, dual.parts, point, dual.over)
    over, n_hard = dual.over, dual.form.n_hard
    active, of_known = active[active < n_hard], np.where(np.arange(len(step)) < n_hard, step, 0.0)
    if not len(active):
        return None
    factor = systems.at(dual.weights(point, LEAST_WEIGHT), RIDGES[0])
    common = of_known[active], active
    directions: Sequence[Any] = over.map(first_direction, dual.parts, factor.factors, point.states, common=common)
    largest = over.total(largest_change, directions)
    if not largest["n_shrinking"]:
        return None
    of_newton = systems.schur
    factor = systems.at(Weights(directions, 0.0), RIDGES[0])  # its counts are those of the terms that must not change
    allowed = RECESSION_MOVED * largest["largest"]
    for _ in range(RECESSION_ROUNDS):
        # Subtract the least-squares solution of A' d = (change of the other terms).
        of_others = largest["largest_of_others"]
        if of_others <= NOTHING * largest["largest"] or of_others > allowed:
            break
        allowed = 0.1 * of_others
        effects = over.map(side_effect, dual.parts, factor.factors, directions)
        right = over.total(getattr, effects, common=("of_known",))[active]
        back = factor.solve_schur(right, active, RECESSION_PRECISION)
        of_known = of_known.copy()
        of_known[active] -= back
        directions = over.map(cleaned, dual.parts, factor.factors, directions, effects, common=(back, active))
        largest = over.total(largest_change, directions)
    systems.schur = of_newton or systems.schur  # S as formed here is a bad preconditioner for Newton's systems
    return _proof(dual, of_known, directions)


def recession_part(
    dual: PartialDual, point: PartialPoint, systems: PartitionedSystems, scale: float = 1.0
) -> Sequence[Any] | None:
    """Prove terms zero by the part of the scaled multipliers that tends to infinity; see :func:`.proofs.recession_part`."""
    over, shared, n_hard = dual.over, dual.form, dual.form.n_hard
    hard = scale * np.where(np.arange(len(point.m)) < n_hard, point.m, 0.0)
    active, of_newton = np.flatnonzero(hard), systems.schur
    first: Sequence[Any] = over.map(of_multipliers, dual.parts, point.states, common=(scale, hard[active], active))
    for _ in range(ROUNDS):
        directions, of_known = first, hard
        factor = systems.at(Weights(first, 0.0), RIDGES[0])
        for _ in range(REPAIRS):
            effects = over.map(side_effect, dual.parts, factor.factors, directions)
            back = factor.solve_schur(over.total(getattr, effects, common=("of_known",))[active], active, PRECISION)
            before, of_known = of_known, of_known.copy()
            of_known[active] -= back
            # As in memory: with the other sign, an inequality would refer to a side at which it is not active.
            of_known = np.where(shared.is_equation | (of_known * hard > 0), of_known, 0.0)
            # The published rows follow the change of the knowledge after the projection.
            back = (before - of_known)[active]
            directions = over.map(cleaned, dual.parts, factor.factors, directions, effects, common=(back, active))
        if not over.total(n_raised, directions):
            break
        first = over.map(without_raised, first, directions)
    systems.schur = of_newton or systems.schur  # as in `recession_direction`
    return _proof(dual, of_known, directions)


def _proof(dual: PartialDual, of_known: np.ndarray, directions: Sequence[Any]) -> Sequence[Any] | None:
    """Return handles of the terms that a direction proves zero, or None if there are none."""
    over, whole = dual.over, dual.whole
    of_buckets = over.map(getattr, directions, common=("of_buckets",))
    total = implied(whole, dual.parts, of_known, of_buckets, over)
    zeros = over.map(zeros_by, whole.parts, dual.parts, of_buckets, common=(of_known, total.excess))
    return zeros if over.total(_n_zeros, zeros) else None


def of_multipliers(
    part: ReducedPart, state: BucketState, scale: float, of_active: np.ndarray, active: np.ndarray
) -> Direction:
    """Return the scaled multipliers of an answer as a direction that should lower small terms, and change no others."""
    is_small, of_buckets = state.counts < SMALL, scale * state.u
    change = change_of_terms(part, of_buckets, of_active, active)
    return Direction(of_buckets, change, is_small, (~is_small).astype(float))


def n_raised(direction: Direction) -> int:
    """Return the number of small terms that a direction does not lower."""
    return int((direction.shrinks & (direction.change > -LOWERED)).sum())


def without_raised(first: Direction, direction: Direction) -> Direction:
    """Return the first direction with the small terms that another does not lower among those that must not change."""
    is_small = direction.shrinks & (direction.change <= -LOWERED)
    return first._replace(shrinks=is_small, counts=(~is_small).astype(float))


def require_consistent(whole: Whole, reduced_parts: Sequence[Any], point: PartialPoint, over: OverPartitions) -> None:
    """Raise Infeasible if multipliers are a Farkas certificate, along which the dual decreases without limit."""
    of_known = np.where(np.arange(len(point.m)) < whole.shared.n_hard, point.m, 0.0)
    of_rows = implied(whole, reduced_parts, of_known, over.map(getattr, point.states, common=("u",)), over)
    # As in memory, a contradiction must exceed what the rows may be violated by.
    slack = float(np.abs(of_known) @ whole.shared.tolerance)
    if not of_rows._replace(error=of_rows.error + slack).is_contradiction:
        return
    order = np.argsort(-np.abs(of_known), kind="stable")
    names = [whole.shared.name(int(row)) for row in order if abs(of_known[row]) > 0.01 * abs(of_known[order[0]])]
    raise Infeasible(
        "the knowledge contradicts the published data or itself: no counts satisfy them together with "
        f"{join_names(names)}; correct one of these statements, or remove it"
    )


def implied(
    whole: Whole, reduced_parts: Sequence[Any], of_known: np.ndarray, of_buckets: Sequence[Any], over: OverPartitions
) -> Consequence:
    """Return the implication of a direction, summed over all partitions; the sides of the knowledge are added here."""
    shares = over.map(implied_by, whole.parts, reduced_parts, of_buckets, common=(of_known,))
    nothing = np.zeros(0)
    of_sides = consequence(whole.shared, of_known, nothing, nothing, np.zeros(0, dtype=bool), nothing)
    return Consequence.added([over.reduce(Consequence.added, shares), of_sides])


def first_direction(
    part: ReducedPart, factor: BlockFactor, state: BucketState, of_active: np.ndarray, active: np.ndarray
) -> Direction:
    """Return the step of the multipliers of published rows that corresponds to a step of the knowledge."""
    of_buckets = -factor.compensation(of_active, active)
    change = change_of_terms(part, of_buckets, of_active, active)
    shrinks = change < SHRINKS
    return Direction(of_buckets, change, shrinks & (state.counts < VANISHING), np.where(shrinks, 0.0, state.counts))


def largest_change(direction: Direction) -> dict[str, Any]:
    """Return the largest changes in one partition, of all terms and of those that must not change."""
    size, others = np.abs(direction.change), direction.counts > 0
    return {
        "largest": float(size.max(initial=0.0)), "largest_of_others": float(size[others].max(initial=0.0)),
        "n_shrinking": int(direction.shrinks.sum()),
    }  # fmt: skip


class SideEffect(NamedTuple):
    """The effect of a direction on rows through terms that must not change: on published rows, and on the knowledge."""

    of_buckets: np.ndarray
    of_known: np.ndarray


def side_effect(part: ReducedPart, factor: BlockFactor, direction: Direction) -> SideEffect:
    """Return the effect of a direction on the rows of one partition."""
    moved = direction.counts * np.where(direction.counts > 0, direction.change, 0.0)
    of_buckets = factor.of_buckets(part.systems.bucket_blocks.rows @ moved)
    return SideEffect(of_buckets, part.form.known.matvec(moved) - factor.effect_on_known(of_buckets))


def cleaned(
    part: ReducedPart,
    factor: BlockFactor,
    direction: Direction,
    effect: SideEffect,
    back: np.ndarray,
    active: np.ndarray,
) -> Direction:
    """Return the direction without its effect on the terms that must not change."""
    less = effect.of_buckets - factor.compensation(back, active)
    change = direction.change - change_of_terms(part, less, back, active)
    return direction._replace(of_buckets=direction.of_buckets - less, change=change)


def change_of_terms(part: ReducedPart, of_buckets: np.ndarray, of_active: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Return A' d for the remaining terms, with d given for slots and for the active rows of knowledge."""
    of_known = np.zeros(part.form.known.shape[0])
    of_known[active] = of_active
    return np.asarray(part.systems.bucket_blocks.by_term @ of_buckets + part.form.known.rmatvec(of_known))


def _of_rows(part: Part, reduced_part: ReducedPart, of_buckets: np.ndarray, of_known: np.ndarray) -> np.ndarray:
    """Return a direction of all rows of a partition."""
    direction = np.concatenate([np.zeros(part.form.n_published), of_known])
    direction[reduced_part.rows] = of_buckets[reduced_part.systems.bucket_blocks.slot]
    return direction


def implied_by(part: Part, reduced_part: ReducedPart, of_buckets: np.ndarray, of_known: np.ndarray) -> Consequence:
    """Return the implication of a direction for one partition, without the sides of the rows of knowledge."""
    direction = _of_rows(part, reduced_part, of_buckets, of_known)
    change, error = exact_rmatvec(part.form, direction)
    direction[part.form.n_published :] = 0.0
    return consequence(part.form, direction, change, error, reduced_part.fixed, reduced_part.counts, reduced_part.width)


def zeros_by(
    part: Part, reduced_part: ReducedPart, of_buckets: np.ndarray, of_known: np.ndarray, excess: float
) -> tuple[np.ndarray, np.ndarray]:
    """Mark the terms of one partition that a direction proves zero, with their upper bounds."""
    form = part.form
    change, error = exact_rmatvec(form, _of_rows(part, reduced_part, of_buckets, of_known))
    upper = bounds_by(change + error, excess, reduced_part.fixed)
    return upper <= form.zero_tolerance * form.count_scale, upper


def _n_zeros(zeros: tuple[np.ndarray, np.ndarray]) -> int:
    return int(zeros[0].sum())


@dataclass(frozen=True, eq=False)
class Minimum:
    """The result of Newton's method."""

    status: Status
    point: PartialPoint
    iterations: int
    systems: PartitionedSystems  # with the last Schur complement that was formed
    log: list[dict[str, Any]] = field(default_factory=list)

    @property
    def parts(self) -> Sequence[Any]:
        """Handles of the reduced partitions, without terms that were proved zero."""
        return self.systems.dual.parts


def minimum(
    whole: Whole,
    parts: Sequence[Any],
    shared: LinearForm,
    start: np.ndarray,
    over: OverPartitions,
    monitor: Monitor,
    before: Minimum | None = None,
    *,
    most_tiny_steps: float = math.inf,
    tolerance: float = 1e-9,
    max_iterations: int = 200,
) -> Minimum:
    """Minimise the partial dual by Newton's method, from multipliers or from the result of an earlier run, `before`.

    `parts` are handles of ReducedPart. A tolerance of 0 is not raised to the smallest value that rounding permits.
    """
    goal = tolerance
    if goal:  # for 0, max_iterations limits the iterations
        goal = max(goal, ROUNDING * float(np.abs(shared.low[shared.is_equation]).max(initial=0.0)))
    states = None if before is None else before.point.states
    dual = PartialDual(whole, shared, parts, over, states, TOLERANCE if goal else 0.0)
    systems = PartitionedSystems(dual)
    systems.schur = None if before is None else before.systems.schur
    log: list[dict[str, Any]] = []
    status, point = descent(
        dual, systems, goal, max_iterations, monitor, log, shared.project_to_dual_cone(start),
        find_zeros=recession_direction, loosest=LOOSEST if goal else TIGHTEST, most_tiny_steps=most_tiny_steps,
    )  # fmt: skip
    return Minimum(status, cast("PartialPoint", point), len(log) - 1, systems, log)
