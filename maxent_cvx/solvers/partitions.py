"""Presolve and the dual Newton method over partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg.lapack import dpstrf

from .._utils.errors import Infeasible, join_names
from .answer import Status
from .blocks import BucketInverse, single_thread
from .dual import Dual, Point
from .duality import Consequence, bounds_by, consequence, exact_rmatvec
from .existence import ExactRows
from .form import ClosedForm, Groups, LinearForm, Sized, SplitMatrix
from .monitor import Monitor
from .newton import descent
from .parameters import DUAL_FUNCTION, EPS, FEASIBILITY, NEWTON, PARTITIONED, PRESOLVE, VANISHING_TERMS
from .presolve import (
    Propagation,
    largest_activity,
    largest_coefficients,
    negligible,
    power_of_two_unit,
    require_feasible,
    row_rounding,
    slacks,
)
from .schur import BlockFactor, BlockSystem, SchurComplement, SchurFactor
from .sparse import entry_rows, with_shared_ones

__all__ = [
    "BucketState",
    "Executor",
    "IndependentRows",
    "Minimum",
    "Part",
    "PartitionedFactor",
    "PartitionedSystems",
    "ReducedPart",
    "SingleThreaded",
    "Weights",
    "Whole",
    "first_state",
    "minimised",
    "minimum",
    "presolved",
]

# One partition of a problem: the terms and published rows of some buckets, and its share of the rows of knowledge.


@dataclass(frozen=True, eq=False)
class Part(Sized):
    """The terms of one partition.

    Published rows are about its terms only. All partitions have the same rows of knowledge, in the same order, with the
    coefficients of their own terms: A x is the sum over partitions. Their sides are those of the whole.

    Attributes
    ----------
    form : LinearForm
        Published equations first, then all rows of knowledge.
    closed_form : ClosedForm
        The answer where nothing is known but what is published, by its own terms and published rows.
    groups : Groups
        The QI tuples of its own terms, with their records in the whole.
    q_numbers : ndarray of int
        The number in the whole of each of these.
    exact : ExactRows, optional
        The rows of knowledge as they were typed.
    """

    form: LinearForm
    closed_form: ClosedForm
    groups: Groups
    q_numbers: np.ndarray
    exact: ExactRows | None = None


# What the solver asks of whatever works on partitions: maps whose results stay there, and reductions.


class Executor(Protocol):
    """Applies pure functions to partitions; a handle stands for a result that stays where it was made."""

    def map(self, function: Callable[..., Any], *handles: Sequence[Any], common: tuple[Any, ...] = ()) -> list[Any]:
        """Handles of ``function(*results, *common)``, the results being those of one partition each."""
        ...

    def reduce(self, combine: Callable[[list[Any]], Any], handles: Sequence[Any]) -> Any:
        """Combine the results of all partitions, a few neighbours at a time, and those in turn."""
        ...

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """The results themselves, in order."""
        ...


@dataclass(frozen=True)
class SingleThreaded:
    """An executor whose functions take one BLAS thread, in whatever process they are called."""

    executor: Executor

    def map(self, function: Callable[..., Any], *handles: Sequence[Any], common: tuple[Any, ...] = ()) -> list[Any]:
        """As of :class:`Executor`."""
        return self.executor.map(partial(_with_one_thread, function), *handles, common=common)

    def reduce(self, combine: Callable[[list[Any]], Any], handles: Sequence[Any]) -> Any:
        """As of :class:`Executor`."""
        return self.executor.reduce(combine, handles)

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """As of :class:`Executor`."""
        return self.executor.gather(handles)


def _with_one_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with one BLAS thread."""
    with single_thread:
        return function(*arguments)


# Bound propagation over partitions: activity bounds of the rows of knowledge are sums over all of them.


class Bounds(NamedTuple):
    """Bounds on the terms of one partition, records, and whether the last round has changed any."""

    lower: np.ndarray
    upper: np.ndarray
    changed: bool = True


class Activity(NamedTuple):
    """What one partition, or some together, contribute to the rows of knowledge.

    Attributes
    ----------
    low, high : ndarray, one a row of knowledge
        The least and the largest value, records.
    size : ndarray, one a row of knowledge
        The largest value with all coefficients taken for positive, records.
    products : ndarray of int
        The number of products that were added up, 0 where all coefficients are 1 or -1.
    largest : float
        The largest value of a published row, records.
    changed : bool
        Whether bounds have changed.
    """

    low: np.ndarray
    high: np.ndarray
    size: np.ndarray
    products: np.ndarray
    largest: float
    changed: bool

    @staticmethod
    def added(some: Sequence[Activity]) -> Activity:
        """The contribution of some partitions together."""
        return Activity(
            np.sum([one.low for one in some], axis=0),
            np.sum([one.high for one in some], axis=0),
            np.sum([one.size for one in some], axis=0),
            np.sum([one.products for one in some], axis=0),
            max(one.largest for one in some),
            any(one.changed for one in some),
        )


def propagated(parts: Sequence[Any], shared: LinearForm, n_records: float, executor: Executor) -> list[Any]:
    """Handles of the :class:`Bounds` of every partition, as :func:`..presolve.bound_propagation.term_bounds` has them.

    Parameters
    ----------
    parts : sequence of handles of Part
    shared : LinearForm
        The rows of knowledge without terms.
    n_records : float
    executor : Executor

    Raises
    ------
    Infeasible
        If some row cannot hold within the bounds.
    """
    first = executor.reduce(Activity.added, executor.map(first_activity, parts, common=(n_records,)))
    unit = power_of_two_unit(max(first.largest, float(first.size.max(initial=0.0))))
    propagations = executor.map(propagation_of, parts, common=(n_records, unit))
    bounds = executor.map(first_bounds, propagations)
    of_sides = row_rounding(shared, unit)(np.zeros(0), np.zeros(0))
    for _ in range(PRESOLVE.propagation_rounds):
        found = executor.reduce(Activity.added, executor.map(activity_within, propagations, bounds))
        if not found.changed:
            break
        error = of_sides + np.where(found.products > 0, EPS * (found.products + 2) * found.size, 0.0)
        slack = slacks(shared, found.low, found.high, error)
        bounds = executor.map(tightened, propagations, bounds, common=slack)
    return bounds


def first_activity(part: Part, n_records: float) -> Activity:
    """The largest values that rows can have before anything is propagated."""
    form, none = part.form, np.zeros(part.form.shape[0] - part.form.n_published)
    published = form.select(np.arange(form.n_published))
    upper = np.minimum(form.upper_bound, n_records)
    size = abs(form.known.distinct) @ form.known.collect(upper)
    return Activity(none, none, size, none, largest_activity(published, n_records), True)


def propagation_of(part: Part, n_records: float, unit: float) -> Propagation:
    """What does not change from round to round."""
    return Propagation(part.form, n_records, unit)


def first_bounds(propagation: Propagation) -> Bounds:
    """The bounds that single published rows imply."""
    return Bounds(*propagation.start)


def activity_within(propagation: Propagation, bounds: Bounds) -> Activity:
    """Activity bounds of the rows of knowledge."""
    form, n = propagation.form, propagation.form.n_published
    low, high = (side[n:] for side in propagation.activity(bounds.lower, bounds.upper))
    distinct = form.known.distinct
    size = abs(distinct) @ form.known.collect(bounds.upper)
    mixed = np.bincount(entry_rows(distinct), np.abs(distinct.data) != 1, distinct.shape[0]) > 0
    return Activity(low, high, size, np.where(mixed, np.diff(distinct.indptr) + 1, 0), 0.0, bounds.changed)


def tightened(propagation: Propagation, bounds: Bounds, to_high: np.ndarray, to_low: np.ndarray) -> Bounds:
    """One round: the slack of its own published rows is found here, that of the rows of knowledge is given."""
    form, n = propagation.form, propagation.form.n_published
    within = bounds.lower, bounds.upper
    low, high = (side[:n] for side in propagation.activity(*within))
    error = row_rounding(form, propagation.unit)(*within)[:n]
    own = slacks(form.select(np.arange(n)), low, high, error)
    both = (np.concatenate(pair) for pair in zip(own, (to_high, to_low), strict=True))
    lower, upper = propagation.tightened(*within, *both)
    return Bounds(lower, upper, not (np.array_equal(lower, within[0]) and np.array_equal(upper, within[1])))


# Presolve of one partition: fixed terms and buckets without knowledge are left out; what is fixed counts in sums.


@dataclass(frozen=True, eq=False)
class ReducedPart(Sized):
    """What is left of one partition to solve for.

    Attributes
    ----------
    form : LinearForm
        Over the terms that are left; its published rows are those that involve some, then come all rows of knowledge.
    terms, rows : ndarray of int
        The numbers in the partition of these terms, and of these published rows.
    fixed : ndarray of bool, one a term of the partition
        Terms that have only one value.
    counts, width : ndarray, one a term of the partition
        The values of all terms that are left out, records, and bounds on their errors.
    """

    form: LinearForm
    terms: np.ndarray
    rows: np.ndarray
    fixed: np.ndarray
    counts: np.ndarray
    width: np.ndarray

    @classmethod
    def ready(
        cls,
        form: LinearForm,
        terms: np.ndarray,
        rows: np.ndarray,
        fixed: np.ndarray,
        counts: np.ndarray,
        width: np.ndarray,
    ) -> ReducedPart:
        """Make one with all that is derived from it, so that it is so wherever it is sent."""
        found = cls(form, terms, rows, fixed, counts, width)
        found.systems  # noqa: B018
        return found

    @cached_property
    def systems(self) -> BlockSystem:
        """The structure of its blocks, which is the same at every x."""
        self.buckets  # noqa: B018 - what it is made of is forgotten below
        systems = BlockSystem(self.form)
        self.form.forget()  # the structure holds what else would be held twice
        return systems

    @cached_property
    def buckets(self) -> Buckets:
        """The terms of each connected component of the published rows."""
        return Buckets.of(self.form.bucket[1])


@dataclass(frozen=True, eq=False)
class Buckets:
    """The terms of every bucket.

    Attributes
    ----------
    order : ndarray of int, or None
        The terms, bucket after bucket; None if they are so already.
    starts : ndarray of int
        Where each begins in that order.
    of_term : ndarray of int
        The bucket of every term.
    """

    order: np.ndarray | None
    starts: np.ndarray
    of_term: np.ndarray

    @classmethod
    def of(cls, component: np.ndarray) -> Buckets:
        """Number the components in the order in which they are listed."""
        order = None if (np.diff(component) >= 0).all() else np.argsort(component, kind="stable")
        ordered = component if order is None else component[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        number = np.repeat(np.arange(len(starts), dtype=np.int32), np.diff(np.append(starts, len(ordered))))
        if order is None:
            return cls(None, starts, number)
        of_term = np.empty_like(number)
        of_term[order] = number
        return cls(order, starts, of_term)

    def largest(self, of_term: np.ndarray) -> np.ndarray:
        """The largest of numbers given one a term, in every bucket."""
        return np.maximum.reduceat(of_term if self.order is None else of_term[self.order], self.starts)


def largest_open(part: Part, bounds: Bounds) -> np.ndarray:
    """The largest coefficient of each row of knowledge over the terms of one partition that are not fixed."""
    return largest_coefficients(part.form, ~_nearly_fixed(part.form, bounds))


def largest_of(some: Sequence[np.ndarray]) -> np.ndarray:
    """The largest over partitions."""
    return np.max(some, axis=0)


def _nearly_fixed(form: LinearForm, bounds: Bounds) -> np.ndarray:
    return np.asarray(bounds.upper - bounds.lower <= form.zero_tolerance * form.count_scale)


def reduced(part: Part, bounds: Bounds | None, largest: np.ndarray | None) -> ReducedPart:
    """Leave out what is fixed, and the buckets that no knowledge is about.

    Parameters
    ----------
    part : Part
    bounds : Bounds or None
        None if all knowledge is soft, so that nothing is fixed.
    largest : ndarray or None
        The largest coefficient of each row of knowledge over all terms that are not fixed.

    Raises
    ------
    Infeasible
        If a published row cannot hold.
    """
    form, closed_form = part.form, part.closed_form.counts
    n, n_terms = form.n_published, form.shape[1]
    fixed, width, counts = np.zeros(n_terms, dtype=bool), np.zeros(n_terms), closed_form.copy()
    if bounds is not None and largest is not None:
        fixed = _nearly_fixed(form, bounds)
        fixed &= negligible(form, bounds.upper - bounds.lower, largest)
        least, most = bounds.lower[fixed], bounds.upper[fixed]
        counts[fixed] = value = np.clip(np.rint((least + most) / 2), least, most)  # an integer, if there is one
        width[fixed] = np.maximum(most - value, value - least)
    of_row, bucket = form.bucket
    relevant = form.known.touched | fixed | (form.weights != 1) | np.isnan(closed_form)
    relevant = (np.bincount(bucket, relevant) > 0)[bucket]
    terms = relevant & ~fixed
    counts[terms] = 0.0
    determined = form.published @ counts
    involved = form.published @ terms.astype(float) > 0
    published = form.select(np.arange(n))
    feasible = involved | (published.residual(counts) <= FEASIBILITY.multiple * published.tolerance)
    require_feasible(published, feasible, determined, determined)
    order = pd.unique(bucket)  # rows in the order of their buckets' terms, for locality of memory
    rank = np.zeros(int(max(bucket.max(initial=0), of_row.max(initial=0))) + 1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    rows = np.flatnonzero(involved)
    rows = rows[np.argsort(rank[of_row[rows]], kind="stable")]
    left = np.flatnonzero(terms).astype(np.int32)
    form.forget()
    return ReducedPart.ready(_restricted(form, rows, left, determined), left, rows, fixed, counts, width)


def without(part: Part, left: ReducedPart, zeros: tuple[np.ndarray, np.ndarray]) -> ReducedPart:
    """Leave out further terms, which are zero up to the bounds given; one of each a term of the partition."""
    form, (is_zero, upper) = part.form, zeros
    gone = np.zeros(form.shape[1], dtype=bool)
    gone[left.terms] = True
    gone &= is_zero
    fixed, width = left.fixed | gone, np.where(gone, upper, left.width)
    counts = np.where(gone, 0.0, left.counts)
    terms = left.terms[~gone[left.terms]]
    is_left = np.zeros(form.shape[1])
    is_left[terms] = 1.0
    rows = left.rows[(form.published @ is_left > 0)[left.rows]]
    smaller = _restricted(form, rows, terms, form.published @ counts)
    return ReducedPart.ready(smaller, terms, rows, fixed, counts, width)


def _restricted(form: LinearForm, rows: np.ndarray, terms: np.ndarray, determined: np.ndarray) -> LinearForm:
    """Some published rows and all rows of knowledge over some terms, less what the other terms contribute."""
    n = form.n_published
    kept = np.concatenate([rows, np.arange(n, form.shape[0])])
    smaller = form.select(kept)
    published = smaller.published if len(terms) == form.shape[1] else smaller.published[:, terms]
    known = smaller.known if len(terms) == form.shape[1] else form.known.columns(terms)
    low, high = smaller.low.copy(), smaller.high.copy()
    low[: len(rows)] -= determined[rows]
    high[: len(rows)] -= determined[rows]
    matrix = SplitMatrix(with_shared_ones(published), known)
    weights = form.weights[terms] if form.is_weighted else np.broadcast_to(1.0, len(terms))
    return replace(smaller, coefficients=matrix, low=low, high=high, weights=weights)


# The multipliers of published rows, given those of the knowledge: every bucket is a small problem of its own.
#
# Knowledge with multipliers m changes the weights of the terms to w exp(K' m). What is left is to scale these until the
# published rows P hold: to minimise
#
#     sum w exp(K' m + P' u - 1) - b' u
#
# over u, bucket by bucket and all buckets at once. Newton's steps are as long as log(1 + d) / d allows, d being the
# largest change of a logarithm in the bucket: that decreases a sum of exponentials from wherever it is (Sun and
# Tran-Dinh, 2019, "Generalized self-concordant functions"). Far from the solution, rows are scaled in turn before
# (Sinkhorn, 1967), in the logarithmic domain.


class BucketState(NamedTuple):
    """Where the multipliers of one partition's published rows are.

    Attributes
    ----------
    u : ndarray, one a slot of the blocks
    counts : ndarray, one a term
        x, records.
    residual : float
        The largest violation of a published row, records.
    iterations : int
        Newton's steps that it took.
    """

    u: np.ndarray
    counts: np.ndarray
    residual: float = np.inf
    iterations: int = 0


class Contribution(NamedTuple):
    """What one partition, or some together, contribute to the dual function of the knowledge.

    Attributes
    ----------
    total : float
        sum x, records.
    linear, size : float
        b' u, and the sum of the absolute values of its summands.
    activity : ndarray, one a row of knowledge
        K x, records.
    residual : float
        The largest violation of a published row, records.
    iterations : int
        The largest number of steps in a partition.
    """

    total: float
    linear: float
    size: float
    activity: np.ndarray
    residual: float
    iterations: int

    @staticmethod
    def added(some: Sequence[Contribution]) -> Contribution:
        """The contribution of some partitions together."""
        return Contribution(
            sum(one.total for one in some),
            sum(one.linear for one in some),
            sum(one.size for one in some),
            np.sum([one.activity for one in some], axis=0),
            max(one.residual for one in some),
            max(one.iterations for one in some),
        )


def first_state(part: ReducedPart) -> BucketState:
    """All multipliers at 0."""
    return BucketState(np.zeros(part.systems.bucket_blocks.n_slots), np.zeros(0))


def minimised(part: ReducedPart, state: BucketState, m: np.ndarray, tolerance: float) -> BucketState:
    """The state at multipliers m of the knowledge.

    Parameters
    ----------
    part : ReducedPart
    state : BucketState
        Where to start from.
    m : ndarray, one a row of knowledge
    tolerance : float
        Records: the largest violation of a published row at which to stop.
    """
    blocks, sides = part.systems.bucket_blocks, _sides(part)
    with np.errstate(over="ignore", invalid="ignore"):
        offset = part.form.known.rmatvec(m)
        offset += np.log(part.form.weights) - 1 if part.form.is_weighted else -1.0
        u, exponent = state.u.copy(), blocks.by_term @ state.u + offset
        rows = _Rows.of(blocks.rows)
        for _ in range(PARTITIONED.scalings):
            residual = sides - blocks.rows @ np.exp(exponent)
            if (np.abs(residual) <= PARTITIONED.near * np.abs(sides)).all():  # false where anything has overflown
                break
            for own in rows.halves(blocks.n_blocks * blocks.n_single):
                u = own.scaled(u, exponent, sides)
                exponent = blocks.by_term @ u + offset
        return _by_newton(part, u, exponent, sides, tolerance)


def _by_newton(
    part: ReducedPart, u: np.ndarray, exponent: np.ndarray, sides: np.ndarray, tolerance: float
) -> BucketState:
    """Newton's method on all buckets at once, from a point near the solution."""
    blocks, x, before = part.systems.bucket_blocks, np.exp(exponent), np.inf
    for iteration in range(PARTITIONED.iterations + 1):
        residual = sides - blocks.rows @ x
        worst = float(np.abs(residual).max(initial=0.0))
        # Rounding prevents any more where a step from nearby has not halved the residual.
        stalled = worst > 0.5 * before and worst <= PARTITIONED.rounding * max(float(sides.max(initial=0.0)), 1.0)
        if worst <= tolerance or stalled or iteration == PARTITIONED.iterations or not np.isfinite(worst):
            break
        before = worst
        step = BucketInverse(blocks, x, PARTITIONED.ridge).apply(residual)
        change = blocks.by_term @ step
        largest = part.buckets.largest(np.abs(change))
        if largest.max(initial=0.0) > PARTITIONED.whole_step:
            length = np.log1p(largest) / np.maximum(largest, np.finfo(float).tiny)
            length = np.where(largest > PARTITIONED.whole_step, length, 1.0)
            of_term = length[part.buckets.of_term]
            change *= of_term
            step = step * _of_slots(blocks.rows, of_term)
        u = u + step
        exponent = exponent + change
        x = np.exp(exponent)
    return BucketState(u, x, worst, iteration)


def contribution(part: ReducedPart, state: BucketState) -> Contribution:
    """What the partition contributes at a state."""
    products = _sides(part) * state.u
    return Contribution(
        float(state.counts.sum()), float(products.sum()), float(np.abs(products).sum()),
        part.form.known.matvec(state.counts), state.residual, state.iterations,
    )  # fmt: skip


def _sides(part: ReducedPart) -> np.ndarray:
    """The right-hand sides of the published rows, one a slot; 0 for padding."""
    blocks = part.systems.bucket_blocks
    found = np.zeros(blocks.n_slots)
    found[blocks.slot] = part.form.low[: part.form.n_published]
    return found


def _of_slots(rows: sp.csr_array, of_term: np.ndarray) -> np.ndarray:
    """A number that is the same for all terms of a row, one a slot; 1 for padding."""
    filled = np.diff(rows.indptr) > 0
    found = np.ones(rows.shape[0])
    found[filled] = of_term[rows.indices[rows.indptr[:-1][filled]]]
    return found


class _Rows(NamedTuple):
    """Rows with terms: their slots, where the entries of each begin, and the terms of the entries."""

    slots: np.ndarray
    starts: np.ndarray
    terms: np.ndarray

    @classmethod
    def of(cls, rows: sp.csr_array) -> _Rows:
        """All rows with terms."""
        slots = np.flatnonzero(np.diff(rows.indptr))
        return cls(slots, rows.indptr[:-1][slots], rows.indices)

    def halves(self, middle: int) -> tuple[_Rows, _Rows]:
        """The rows in slots before `middle`, and those after."""
        at = int(np.searchsorted(self.slots, middle))
        first = int(self.starts[at]) if at < len(self.starts) else len(self.terms)
        return (
            _Rows(self.slots[:at], self.starts[:at], self.terms[:first]),
            _Rows(self.slots[at:], self.starts[at:] - first, self.terms[first:]),
        )

    def scaled(self, u: np.ndarray, exponent: np.ndarray, sides: np.ndarray) -> np.ndarray:
        """Change the multiplier of each row until it holds: no two have a term in common, and coefficients are 1."""
        if not len(self.slots):
            return u
        own = exponent[self.terms]
        largest = np.maximum.reduceat(own, self.starts)
        sizes = np.diff(np.append(self.starts, len(own)))
        logarithm = largest + np.log(np.add.reduceat(np.exp(own - np.repeat(largest, sizes)), self.starts))
        found = u.copy()
        found[self.slots] += np.log(sides[self.slots]) - logarithm
        return found


# Rows of knowledge none of which is implied by the others, and the solution of their Schur complement.


class IndependentRows(NamedTuple):
    """The largest set of rows, but for rounding, whose Schur complement S can be inverted.

    Attributes
    ----------
    numbers : ndarray of int
        Which rows of knowledge these are.
    factor : ndarray
        The upper Cholesky factor of S, scaled to a diagonal of 1.
    scale : ndarray, one a row
        What rows and columns of S were multiplied by.
    """

    numbers: np.ndarray
    factor: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, schur: np.ndarray, numbers: np.ndarray) -> IndependentRows:
        """Choose rows by a Cholesky factorisation with pivoting (LAPACK's dpstrf)."""
        diagonal = np.diag(schur)
        some = np.flatnonzero(diagonal > 0)
        scale = 1 / np.sqrt(diagonal[some])
        if not len(some):
            return cls(numbers[:0], np.zeros((0, 0)), scale)
        factor, order, rank, _ = dpstrf(schur[np.ix_(some, some)] * scale[:, None] * scale, tol=PARTITIONED.dependent)
        chosen = order[:rank] - 1
        return cls(numbers[some[chosen]], np.triu(factor[:rank, :rank]), scale[chosen])

    def solve(self, right: np.ndarray) -> np.ndarray:
        """S^-1 right."""
        if not len(self.numbers):
            return right
        return np.asarray(scipy.linalg.cho_solve((self.factor, False), right * self.scale)) * self.scale


# The dual function of the knowledge alone, minimised over the multipliers of published rows partition by partition.
#
# With u the multipliers of the published rows and m those of the knowledge, the dual function is g(u, m), and
#
#     g(m) = min over u of g(u, m)
#
# is a convex function of one number a row of knowledge. Its gradient is K x less the active sides, and its second
# derivatives are the Schur complement S of :mod:`..linear_algebra.block_system`. Both are sums over partitions.


@dataclass(frozen=True, eq=False)
class PartialPoint(Point):
    """A point of the partial dual.

    Attributes
    ----------
    states : sequence of handles of BucketState
    residual : float
        The largest violation of a published row, records.
    """

    states: Sequence[Any] = ()
    residual: float = 0.0


@dataclass(frozen=True, eq=False)
class Weights:
    """The counts at a point, but at least `floor` records each: what the Hessian is made of."""

    states: Sequence[Any]
    floor: float


class PartialDual(Dual):
    """The dual function of the knowledge.

    Parameters
    ----------
    shared : LinearForm
        The rows of knowledge, without terms, less what terms that are left out contribute.
    whole, parts : sequence of handles of Part, and of ReducedPart
        The partitions before presolve, and what is left of them.
    executor : Executor
    states : sequence of handles of BucketState, optional
        Where the multipliers of published rows start from; by default at 0.
    tolerance : float
        Records: the largest violation of a published row.

    Attributes
    ----------
    lowest : PartialPoint or None
        Where the function has been lowest since terms were left out last.
    """

    def __init__(
        self,
        shared: LinearForm,
        whole: Sequence[Any],
        parts: Sequence[Any],
        executor: Executor,
        states: Sequence[Any] | None = None,
        tolerance: float = PARTITIONED.tolerance,
    ) -> None:
        super().__init__(shared)
        self.whole, self.parts, self.executor, self.tolerance = whole, parts, executor, tolerance
        self._n_removed = 0
        self.states = executor.map(first_state, parts) if states is None else states
        self.steps = 0
        self.lowest: PartialPoint | None = None

    def start_from(self, point: Point) -> None:
        """Minimise over the published rows from where they are at this point."""
        assert isinstance(point, PartialPoint)
        self.states = point.states

    def at(self, m: np.ndarray) -> PartialPoint:
        """Minimise over the published rows, and add up what the gradient is made of."""
        states = self.executor.map(minimised, self.parts, self.states, common=(m, self.tolerance))
        found = self.executor.reduce(Contribution.added, self.executor.map(contribution, self.parts, states))
        self.steps += found.iterations
        value = found.total - found.linear - self.linear_part(m)
        size = found.total + found.size + float(np.abs(self.equation_sides) @ np.abs(m))
        activity, curvature = found.activity.copy(), None
        if self.form.penalties is not None:
            n = self.form.n_hard
            conjugate, first, second = self.form.penalties.conjugate(m[n:])
            value, size = value + conjugate, size + abs(conjugate)
            activity[n:] += first
            curvature = np.concatenate([np.zeros(n), second])
        rounding = max(DUAL_FUNCTION.rounding * max(abs(value), 1.0), DUAL_FUNCTION.summed * size)
        point = PartialPoint(m, value, rounding, np.empty(0), activity, curvature, states, found.residual)
        if self.lowest is None or value < self.lowest.value:
            self.lowest = point
        return point

    def residual_and_gap(self, point: Point) -> tuple[float, float]:
        """As of any dual function; of published rows, the largest violation that is left."""
        residual, gap = super().residual_and_gap(point)
        assert isinstance(point, PartialPoint)
        return max(residual, point.residual), gap

    def remove_zeros(self, proof: Any) -> None:
        """Leave the terms that a proof says are zero out of every partition."""
        before, self.lowest = self.parts, None
        self.parts = self.executor.map(without, self.whole, before, proof.zeros)
        self.states = self.executor.map(moved_state, before, self.parts, self.states)
        self._n_removed += int(self.executor.reduce(sum, self.executor.map(fewer, before, self.parts)))

    @property
    def n_removed(self) -> int:
        """The number of terms that were proved zero."""
        return self._n_removed

    def weights(self, point: Point, floor: float) -> Weights:
        """The counts of all partitions at a point."""
        assert isinstance(point, PartialPoint)
        return Weights(point.states, floor)

    def largest_rise(self, step: np.ndarray) -> float:
        """By how much a step raises the logarithm of a count at most, before buckets make up for it."""
        return float(self.executor.reduce(max, self.executor.map(largest_rise, self.parts, common=(step,))))


def moved_state(before: ReducedPart, after: ReducedPart, state: BucketState) -> BucketState:
    """The same multipliers where some terms, and maybe some rows, are no longer there."""
    of_row = np.zeros(int(before.rows.max(initial=-1)) + 1)
    of_row[before.rows] = state.u[before.systems.bucket_blocks.slot]
    u = np.zeros(after.systems.bucket_blocks.n_slots)
    u[after.systems.bucket_blocks.slot] = of_row[after.rows]
    return BucketState(u, np.zeros(0))


def fewer(before: ReducedPart, after: ReducedPart) -> int:
    """How many terms have been left out."""
    return len(before.terms) - len(after.terms)


def largest_rise(part: ReducedPart, step: np.ndarray) -> float:
    """By how much the knowledge raises the logarithm of a count at most."""
    return float((part.form.known.transposed @ step).max(initial=0.0))


# Newton systems of the partial dual: products with the Schur complement are sums over partitions, and so is it.


class PartitionedSystems:
    """Solves S v = r at any x.

    Parameters
    ----------
    dual : PartialDual
        Whose partitions they are of, also after terms have been left out.
    may_form : bool
        Whether S may be formed.

    Attributes
    ----------
    products, formed : int
        Products with S so far, and how often S has been formed.
    schur : SchurComplement or None
        S as it was formed last.
    """

    def __init__(self, dual: PartialDual, *, may_form: bool = True) -> None:
        self.dual, self.executor, self.n_known, self.may_form = dual, dual.executor, dual.form.shape[0], may_form
        self.products = self.formed = 0
        self.schur: SchurComplement | None = None

    @cached_property
    def affordable_products(self) -> int:
        """How many products with S one solution may take before S is formed: the most that any partition affords."""
        return int(self.executor.reduce(max, self.executor.map(affordable_products, self.dual.parts)))

    def at(self, x: Weights, ridge: float, curvature: np.ndarray | None = None) -> PartitionedFactor:
        """Factor the blocks of all partitions at x."""
        factors = self.executor.map(factored, self.dual.parts, x.states, common=(x.floor, ridge))
        squares = self.executor.reduce(added, self.executor.map(squares_of, factors))
        return PartitionedFactor(self, factors, squares, ridge, curvature)


class PartitionedFactor(SchurFactor):
    """The Schur complement at one x."""

    def __init__(
        self,
        systems: PartitionedSystems,
        factors: Sequence[Any],
        squares: np.ndarray,
        ridge: float,
        curvature: np.ndarray | None,
    ) -> None:
        super().__init__(systems, squares if curvature is None else squares + curvature, ridge)
        self._executor, self.factors, self._curvature = systems.executor, factors, curvature

    def solve(self, gradient: np.ndarray, active: np.ndarray, tolerance: float = 1e-12) -> np.ndarray:
        """Solve for the active rows of knowledge; the direction of the others is 0."""
        direction = np.zeros(len(gradient))
        if len(active):
            direction[active] = self.solve_schur(gradient[active], active, tolerance)
        return direction

    def schur_product(self, v: np.ndarray, active: np.ndarray) -> np.ndarray:
        """S v over the active rows, added up over partitions."""
        products = self._executor.map(product_with, self.factors, common=(v, active))
        product: np.ndarray = self._executor.reduce(added, products)
        return product if self._curvature is None else product + self._curvature[active] * v

    def form_schur(self, active: np.ndarray) -> np.ndarray:
        """S over the active rows, added up over partitions."""
        formed = self._executor.map(schur_of, self.factors, common=(active,))
        schur: np.ndarray = self._executor.reduce(added, formed)
        if self._curvature is not None:
            schur[np.diag_indices_from(schur)] += self._curvature[active]
        return schur


def added(some: Sequence[np.ndarray]) -> np.ndarray:
    """The sum of arrays."""
    total = some[0].copy()
    for one in some[1:]:
        total += one
    return total


def affordable_products(part: ReducedPart) -> int:
    """How many products one partition affords."""
    return part.systems.affordable_products


class PartFactor(Sized, BlockFactor):
    """The blocks of one partition, factored."""


def factored(part: ReducedPart, state: BucketState, floor: float, ridge: float) -> PartFactor:
    """The blocks of one partition, factored."""
    systems: BlockSystem = part.systems
    return PartFactor(systems, np.maximum(state.counts, floor), ridge)


def squares_of(factor: BlockFactor) -> np.ndarray:
    """Its share of the diagonal of C."""
    return factor.squares


def product_with(factor: BlockFactor, v: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Its share of S v."""
    return factor.schur_product(v, active)


def schur_of(factor: BlockFactor, active: np.ndarray) -> np.ndarray:
    """Its share of S."""
    return factor.form_schur(active)


# Terms that are zero in every solution, found from a Newton step; see :mod:`..dual.vanishing_terms`.
#
# A direction has one number a row of knowledge, which is here, and one a published row, which stay in the partitions.
# It is proved as in :mod:`..presolve.zero_proofs`, from the raw rows: what all partitions add to its two sides is
# summed up.


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
        f"{join_names(names)}; correct one of these statements, or remove it"
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


class Minimum(NamedTuple):
    """Where Newton's method ended.

    Attributes
    ----------
    status : Status
    point : PartialPoint
    iterations : int
    systems : PartitionedSystems
        With the Schur complement that was formed last.
    log : list of dict
        A line an iteration.
    """

    status: Status
    point: PartialPoint
    iterations: int
    systems: PartitionedSystems
    log: list[dict[str, Any]]

    @property
    def parts(self) -> Sequence[Any]:
        """Handles of what is left of the partitions, without terms that were proved zero."""
        return self.systems.dual.parts


def presolved(
    parts: Sequence[Any], shared: LinearForm, n_records: float, executor: Executor
) -> tuple[list[Any], LinearForm]:
    """Handles of what is left of every partition, and the rows of knowledge less what is known already.

    Raises
    ------
    Infeasible
        If some row cannot hold.
    """
    if shared.n_hard:
        soft = np.arange(shared.shape[0]) >= shared.n_hard
        hard = replace(
            shared, low=np.where(soft, -np.inf, shared.low), high=np.where(soft, np.inf, shared.high), penalties=None
        )
        bounds: Sequence[Any] = propagated(parts, hard, n_records, executor)
        largest = executor.reduce(largest_of, executor.map(largest_open, parts, bounds))
        left = executor.map(reduced, parts, bounds, common=(largest,))
    else:
        left = executor.map(reduced, parts, common=(None, None))
    known, open_ = executor.reduce(added, executor.map(determined, parts, left))
    feasible = (open_ > 0) | (
        np.maximum(shared.low - known, known - shared.high) <= FEASIBILITY.multiple * shared.tolerance
    )
    feasible[shared.n_hard :] = True
    require_feasible(shared, feasible, known, known)
    return left, replace(shared, low=shared.low - known, high=shared.high - known)


def determined(part: Any, left: ReducedPart) -> np.ndarray:
    """What the terms that are left out contribute to every row of knowledge, and how many terms of each are left."""
    known = part.form.known
    terms = np.zeros(part.form.shape[1])
    terms[left.terms] = 1.0
    return np.stack([known.matvec(left.counts), known.pattern @ known.collect(terms)])


def minimum(
    whole: Whole,
    parts: Sequence[Any],
    shared: LinearForm,
    start: np.ndarray,
    executor: Executor,
    monitor: Monitor,
    before: Minimum | None = None,
    **options: Any,
) -> Minimum:
    """Minimise the partial dual by Newton's method.

    Parameters
    ----------
    whole : Whole
        The problem before presolve.
    parts : sequence of handles of ReducedPart
    shared : LinearForm
        The rows of knowledge, as :func:`presolved` gives them.
    start : ndarray, one a row of knowledge
    executor : Executor
    monitor : Monitor
    before : Minimum, optional
        Where to go on from.
    **options
        `tolerance` and `max_iterations`, as of :func:`..dual.newton.newton`; a tolerance of 0 is not raised.
    """
    tolerance = float(options.get("tolerance", 1e-9))
    if tolerance:  # at 0, the number of iterations is limited
        tolerance = max(tolerance, NEWTON.rounding * float(np.abs(shared.low[shared.is_equation]).max(initial=0.0)))
    states = None if before is None else before.point.states
    dual = PartialDual(shared, whole.parts, parts, executor, states, PARTITIONED.tolerance if tolerance else 0.0)
    systems = PartitionedSystems(dual)
    if before is not None:
        systems.schur = before.systems.schur
    steps = descent(
        dual, systems, shared.project_to_dual_cone(start), tolerance, int(options.get("max_iterations", 200)),
        partial(recession_direction, whole), NEWTON.loosest if tolerance else NEWTON.tightest,
    )  # fmt: skip
    log: list[dict[str, Any]] = []
    stop, fallen = None, 1.0
    while True:
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                line = steps.send(stop)  # type: ignore[arg-type]
        except StopIteration as end:
            status, iterations, point = end.value
            return Minimum(status, point, iterations, systems, log)
        log.append({"iteration": len(log), **line, "seconds": monitor.seconds})
        stop = monitor.tell(log[-1])
        # Where no counts satisfy the rows the function falls without end; each time by twice as much, that is tried.
        if log[0]["dual"] - log[-1]["dual"] > fallen * max(abs(log[0]["dual"]), 1.0) and dual.lowest is not None:
            require_consistent(whole, dual.parts, dual.lowest, executor)
            fallen *= 2
