r"""Existence proofs: a point that satisfies the rows exactly as typed, near an answer, and a bound on the distance.

Let P be the published rows and K the active rows of knowledge, x > 0 a point, and r its residuals. The published rows
are corrected first, along a forest (:mod:`.cycle_space`). The remaining residual rho of the rows of knowledge is
corrected by changes that preserve all published rows, t = sqrt(W) y on the cycles Z. Of all y with

    M sqrt(W) y = -rho,    M = K Z',    W >= 0 diagonal,

the shortest has \|y\|^2 = rho' S^-1 rho with S = M W M', with one row and column per row of knowledge, regardless of
the number of buckets. W are the counts of the terms outside the forest. So \|t_e\| <= sqrt(w_e) \|y\|, and \|y\| is
bounded by a *verified* lower bound of the eigenvalues of S. S, scaled to a unit diagonal, is known up to roundoff,
which is bounded; and if the Cholesky factorization of S - mu I succeeds in floating point, no eigenvalue of S is below
mu by more than a small multiple of the roundoff (Rump, 2006). For a sparse S, the bound is computed from its factors.

Rows of knowledge that nearly depend on others have tiny pivots. Rows with pivots that roundoff can explain are omitted,
and exact arithmetic decides whether they depend on the others (:mod:`.modular`). If so, they hold where the others do,
up to the contradiction between the sides, which the rounding of the sides must explain. If not, they contain
information that floating point does not resolve, and nothing is proved.

The rows as typed differ from the stored ones by rounding errors whose effect depends on the point itself. Then rho is
a continuous function of y, and Brouwer's fixed-point theorem gives a y.

References
----------
Higham, N. J. (2002). Accuracy and stability of numerical algorithms, second edition. SIAM.
Rump, S. M. (2006). Verification of positive definiteness. BIT Numerical Mathematics 46, 433-452.
Rump, S. M. (2010). Verification methods: rigorous results using floating-point arithmetic. Acta Numerica 19, 287-449.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpotrf, dpstrf
from scipy.sparse.linalg import splu

from .columns import SharedColumns
from .cycle_space import CycleSpace, ends_of
from .duality import two_product
from .form import Groups, LinearForm, Settled, Sized
from .modular import PRIMES, SPARE, combination, combined, product, residues, residues_of_fraction
from .parameters import EPS
from .schur import MOST_DENSE
from .sparse import UNIT, absolute, entry_rows, most_by_row, split_exactly, with_data

if TYPE_CHECKING:
    from .partitions import OverPartitions

#: The largest relative change of a count on the way to a point where rows hold exactly.
MOST_MOVED = 0.5
#: The largest factor by which counts, and the rounding of a row, may grow on that way: 1 + MOST_MOVED.
GROWTH = 1.5
#: Relative: the largest change of a row's values that counts as the same problem (backward error).
MOST_BACKWARD = 1e-7

#: Number of cycles that suffice to correct rows of knowledge if there are more than twice as many: minimum and per row.
LEAST_CYCLES = 2_000
CYCLES_OF_A_ROW = 10

#: Cycles whose products are summed at a time.
BATCH = 1_024

#: The largest number of cycles for which they and M' are stored for a second use.
MOST_KEPT = 25_000

#: The largest number of rows of knowledge for which dense products are always as fast, because calls dominate the time.
MOST_DENSE_ROWS = 32

#: Speed of a product of dense matrices relative to one of sparse matrices.
DENSE_SPEED = 60

#: Counts are split into multiples of these units, in records; their sums are exact below 2^53 units.
UNITS = (UNIT, 2.0**-52)


class CorrectionSums(NamedTuple):
    """The contribution of one partition to the system of the active rows of knowledge; contributions are summed."""

    rows: np.ndarray  # the numbers of these rows among the shared rows
    is_known: np.ndarray  # one per row: whether its typed coefficients are known exactly
    gram: np.ndarray | sp.csr_array  # shape (rows, rows): S
    # One per row: the diagonal of S for absolute values; |S_ij| is computed up to `length` EPS sqrt(size_i
    # size_j).
    size: np.ndarray
    high: np.ndarray  # one per row: K (x + d), records, unevaluated: d corrects the published rows
    low: np.ndarray
    error: np.ndarray  # one per row: a bound on the error of that value
    # Shape (fixed terms, rows): the largest change of each row by the value of a fixed term whose true value is not
    # known.
    wide: sp.csr_array
    length: float  # the number of summands of the longest sum
    # One per row: all records, times the largest coefficient of the row: a probability that was computed as 1 - p is
    # rounded relative to 1, and its side is a share of the records in its condition.
    reach: np.ndarray

    @staticmethod
    def added(partitions: Sequence[CorrectionSums]) -> CorrectionSums:
        """Sum the contributions of partitions."""
        high = np.stack([sums.high for sums in partitions])
        total = high.sum(axis=0)
        rest = [math.fsum([*column, -t]) for column, t in zip(high.T.tolist(), total.tolist(), strict=True)]
        return CorrectionSums(
            partitions[0].rows,
            np.logical_and.reduce([sums.is_known for sums in partitions]),
            sum((sums.gram for sums in partitions[1:]), partitions[0].gram),
            np.sum([sums.size for sums in partitions], axis=0),
            total,
            np.array(rest) + np.sum([sums.low for sums in partitions], axis=0),
            np.sum([sums.error for sums in partitions], axis=0),
            sp.csr_array(sp.vstack([sums.wide for sums in partitions])),
            max(sums.length for sums in partitions) + len(partitions),
            np.sum([sums.reach for sums in partitions], axis=0),
        )


class ExactRows(Protocol):
    """The rows of knowledge of one partition as they were typed."""

    def residues(self, rows: np.ndarray, prime: int) -> sp.csr_array:
        """Return some rows modulo a prime, numbered without the published rows; shape (rows, terms)."""
        ...


@dataclass(frozen=True, eq=False)
class Block(Sized):
    """The terms of one partition near an answer, and the rows over them, published rows first."""

    form: LinearForm
    n_own: int  # leading rows, all equations, with terms of this block only; the others are shared
    counts: np.ndarray  # one per term: the answer, records
    near: np.ndarray  # the point x'
    multipliers: np.ndarray  # multipliers of its own rows
    settled: Settled
    component: np.ndarray  # one per term: its connected component of hard rows
    groups: Groups
    numbers: np.ndarray  # the number of each group in the whole release
    exact: ExactRows | None = None


class LocalRows(Sized):
    """The active rows over the terms of one block that may change, and the forest of its published rows.

    `active`, `side` and `side_error` are those of the rows shared by blocks; `share` is the share of this block in the
    number of cycles that suffices for all blocks.
    """

    def __init__(
        self, block: Block, active: np.ndarray, side: np.ndarray, side_error: np.ndarray, share: float = 1.0
    ) -> None:
        form, x, (fixed, width), own = block.form, block.near, block.settled, slice(block.n_own)
        n, positive = form.n_published, ~fixed & (x > 0)
        active = np.concatenate([form.rows_involving(~fixed)[own], active])
        side, side_error = np.append(form.low[own], side), np.append(GROWTH * form.side_error[own], side_error)
        self.form, self.x, self.exact, self.n_own = form, x, block.exact, block.n_own
        self._kept: list[tuple[np.ndarray, sp.csr_array, sp.csr_array]] = []
        self.space = CycleSpace.of(form, x, positive, active[:n])
        vertex, is_known = self.space.is_vertex, active.copy()
        is_known[:n] &= ~vertex
        self.known = np.flatnonzero(is_known)
        self.rows = _by_classes(form, self.known)
        residual, error = _published_residuals(form, x, side[:n])
        residual = np.where(vertex, residual, 0.0)
        error = np.where(vertex, error + side_error[:n] + EPS * np.abs(residual), 0.0)
        self.change, surplus = self.space.routed(residual)
        height = int(self.space.depth.max(initial=0)) + 1
        off = self.space.of_trees(error + height * EPS * np.abs(residual))
        self.fixed = np.flatnonzero(width > 0)
        self.wide = self.space.closed_by(self.fixed, *ends_of(form, self.fixed, vertex)[:2])
        self.width = width[self.fixed]
        certain = off + self.space.of_trees(form.published @ width) + 16 * EPS * self.space.of_trees(np.abs(side[:n]))
        contradicts = ~(np.abs(surplus) <= certain)
        self._off_of_tree = off
        self.failed = np.zeros(len(x), dtype=bool)
        if contradicts.any():
            terms, tree = self.space.trees_of_terms()
            self.failed[terms[(tree >= 0) & contradicts[tree]]] = True
        self.sample = self._sample(share)

    @property
    def off(self) -> np.ndarray:
        """Bound on the error of `change`, one number per term, in records."""
        return self.space.on_forest(self._off_of_tree)

    def with_all_cycles(self) -> LocalRows:
        """Return a copy in which all cycles may change."""
        rows = copy.copy(self)
        rows.sample, rows._kept = np.arange(len(self.space.outside)), []
        return rows

    def _sample(self, share: float) -> np.ndarray:
        """Choose random trees, and more of those that contain rows of knowledge with too few chosen cycles."""
        space, known = self.space, self.rows
        enough, of_row = share * max(LEAST_CYCLES, CYCLES_OF_A_ROW * len(self.known)), CYCLES_OF_A_ROW * share
        every = np.arange(len(space.outside))
        if len(every) <= 2 * enough or (self.known < self.form.n_published).any():
            return every
        generator, terms, tree = np.random.default_rng(0), *space.trees_of_terms()
        chosen = generator.random(int(tree.max()) + 2) < enough / len(every)  # the last entry: terms without a tree
        of_class = known.of_term[terms]
        reached = known.pattern @ np.bincount(of_class[chosen[tree]], minlength=known.distinct.shape[1])
        for row in np.flatnonzero(reached < of_row):
            is_about = np.zeros(known.distinct.shape[1], dtype=bool)
            is_about[known.distinct[[row]].indices] = True
            lacking = np.flatnonzero(is_about[of_class] & ~chosen[tree])
            # Twice as many: with fewer, half of the samples of Adult had apparent dependences, with these none had.
            chosen[tree[generator.choice(lacking, min(len(lacking), math.ceil(2 * of_row)), replace=False)]] = True
        return np.flatnonzero(chosen[tree[: len(every)]])

    def sums(self) -> CorrectionSums:
        """Return the contribution of these rows to the system of all partitions."""
        k = len(self.known)
        high, low, error = self._values()
        total: Any = sp.csr_array((k, k)) if k > MOST_DENSE_ROWS else np.zeros((k, k))
        size, longest, batches = np.zeros(k), 0.0, 0
        wide = sp.csr_array((0, k))
        if k and self.wide.nnz:
            wide = sp.diags_array(self.width).tocsr() @ self._rows(self.wide)
        is_unit = bool((np.abs(self.rows.distinct.data) == 1).all())
        largest = most_by_row(np.abs(self.rows.distinct.data), self.rows.distinct)
        reach = np.where(
            self.known >= self.form.n_published, largest * self.x.sum(), 0.0
        )  # published sides are integers
        for terms, cycles, rows in self._cycles():
            weight = self.x[terms]
            sizes = absolute(rows) if is_unit else self._by_class(absolute(cycles)) @ absolute(self.rows.transposed)
            longest = max(longest, 2.0 * float(np.diff(cycles.indptr).max(initial=0)))
            size += np.bincount(sizes.indices, sizes.data**2 * weight[entry_rows(sizes)], k)
            rooted = with_data(rows, rows.data * np.sqrt(weight)[entry_rows(rows)])
            for start in range(0, len(terms), BATCH):  # short sums have small roundoff
                batch = rooted[start : start + BATCH]
                entries = np.diff(batch.indptr).astype(float)
                is_dense = k <= MOST_DENSE and len(entries) * k**2 <= DENSE_SPEED * float(entries @ entries)
                columns = batch.toarray() if is_dense or k <= MOST_DENSE_ROWS else batch
                total = total + columns.T @ columns
                if not isinstance(total, np.ndarray) and k <= MOST_DENSE and total.nnz > k**2 / 8:
                    total = total.toarray()
                batches += 1
        return CorrectionSums(
            self.known - self.n_own, self._known_exactly(), total, size, high, low, error, wide,
            longest + batches + BATCH, reach,
        )  # fmt: skip

    def moved(self, of_row: np.ndarray) -> Moved:
        """Bound the change of every count, given a bound on |y| for each row of knowledge."""
        own, through = np.abs(self.change) + self.off, np.zeros(len(self.x))
        root_of_count = np.sqrt(np.where(self.x > 0, self.x, 1.0))  # terms without a positive count are in no cycle
        if len(self.fixed):
            own += absolute(self.wide).T @ self.width  # for the forest; the fixed terms do not change
            own[self.fixed] = 0.0
        most_of_cycle, of_edge = 0.0, np.zeros(len(self.x))
        for terms, cycles, rows in self._cycles():
            touched = np.diff(rows.indptr) > 0
            y = np.zeros(len(terms))
            y[touched] = of_row[rows.indices[rows.indptr[:-1][touched]]]  # all rows of a cycle are in one component
            root = np.sqrt(self.x[terms])
            size = absolute(cycles)
            through += size.T @ (root * y)
            of_edge += size.T @ root
            most_of_cycle = max(most_of_cycle, float((root * (size @ (1 / root_of_count))).max(initial=0.0)))
        stretch = math.sqrt(most_of_cycle * float((of_edge / root_of_count).max(initial=0.0)))
        rounding = 1 + 64 * EPS
        return Moved(own * rounding, (own + through) * rounding, stretch * (1 + 4 * len(self.x) * EPS))

    def residues(self, seed: int, rows: np.ndarray, n: int, least: float) -> list[np.ndarray]:
        """Return random combinations of the columns of M for some rows, modulo each prime, to be summed."""
        totals = [np.zeros((len(rows), n), dtype=np.int64) for _ in PRIMES]
        generators = [np.random.default_rng(seed) for _ in PRIMES]
        columns = [self._typed_columns(rows, prime) for prime in PRIMES]
        for _, cycles in self.space.cycles(self.sample[self.x[self.space.outside[self.sample]] >= least]):
            signs = cycles.astype(np.int64)
            by_class_signs = self._by_class(signs)
            for i, (prime, (by_class, by_term)) in enumerate(zip(PRIMES, columns, strict=True)):
                product = by_class_signs @ by_class + signs @ by_term
                product.data %= prime
                totals[i] = (totals[i] + combined(product, n, prime, generators[i])) % prime
        return totals

    def vanish(self, rows: np.ndarray, factors: Sequence[np.ndarray], least: float) -> bool:
        """Return whether the combination of rows with these factors, modulo each prime, is one of published rows."""
        if len(self.sample) == len(self.space.outside):
            return True  # the residues that gave the factors are combinations of all cycles
        for factor, prime in zip(factors, PRIMES, strict=True):
            by_class, by_term = self._typed_columns(rows, prime)
            of_term = product(by_class, factor, prime)[self.rows.of_term] + product(by_term, factor, prime)
            if not self.space.vanishes(of_term, prime, self.x[self.space.outside] >= least):
                return False
        return True

    def _known_exactly(self) -> np.ndarray:
        """Mark the rows of knowledge whose typed coefficients are known exactly."""
        form, origin = self.form, self.form.origin
        if self.exact is not None:
            return np.ones(len(self.known), dtype=bool)
        typed = form.n_facts if origin is None else max(form.n_facts, int(origin.starts[-1]))
        return (form.coefficient_error[self.known] == 0) | (self.known < typed)

    def _typed_columns(self, rows: np.ndarray, prime: int) -> tuple[sp.csr_array, sp.csr_array]:
        """Return some typed rows modulo a prime, transposed: one part by classes of columns, the rest by terms."""
        form, numbers = self.form, self.known[rows]
        stored = (form.coefficient_error[numbers] == 0) | (numbers < form.n_facts)
        stored |= (form.origin is None) & (self.exact is None)
        entries = self.rows.distinct[rows[stored]]
        shape = self.rows.distinct.shape[1], len(rows)
        places = np.flatnonzero(stored)[entry_rows(entries)]
        by_class = sp.csr_array((residues(entries.data, prime), (entries.indices, places)), shape=shape)
        parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = [(np.empty(0, dtype=np.int64),) * 3]
        for place in np.flatnonzero(~stored):
            number = int(numbers[place])
            if self.exact is not None:
                entries = self.exact.residues(np.array([number - form.n_published]), prime)
                parts.append((np.full(entries.nnz, place), entries.indices.astype(np.int64), entries.data))
                continue
            assert form.origin is not None
            for fraction, at in form.origin.coefficients(number):
                value = np.full(len(at), residues_of_fraction(fraction, prime), dtype=np.int64)
                parts.append((np.full(len(at), place), at, value))
        row, term, value = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
        by_term = sp.csr_array((value, (term, row)), shape=(form.shape[1], len(rows)))
        by_term.data %= prime  # after summing several coefficients of a term
        return by_class, by_term

    def _by_class(self, cycles: sp.csr_array) -> sp.csr_array:
        """Sum the cycles over the terms of each class of columns of the rows."""
        columns, shape = self.rows.of_term[cycles.indices], (cycles.shape[0], self.rows.distinct.shape[1])
        return sp.csr_array((cycles.data, columns, cycles.indptr), shape=shape)

    def _rows(self, cycles: sp.csr_array) -> sp.csr_array:
        """Return M' for some cycles, shape (cycles, rows of knowledge)."""
        rows = self._by_class(cycles) @ self.rows.transposed
        rows.eliminate_zeros()
        return rows

    def _cycles(self) -> Iterable[tuple[np.ndarray, sp.csr_array, sp.csr_array]]:
        """Yield terms outside the forest, their cycles, and M' for these; a small number is stored for a second use."""
        if not len(self.known) or self._kept:
            return self._kept
        batches = ((terms, cycles, self._rows(cycles)) for terms, cycles in self.space.cycles(self.sample))
        if self.exact is not None or len(self.sample) > MOST_KEPT:  # else all would be stored at once
            return batches
        self._kept = list(batches)
        return self._kept

    def _values(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return K (x + d) in two parts, and a bound on the error, each with one number per row of knowledge."""
        known, entries = self.rows, self.rows.distinct
        # K x: the counts of each class of columns are summed first; likewise K d.
        collected = _exact_sums(self.x, known.of_term, entries.shape[1])
        small, row = collected.low + known.collect(self.change), entry_rows(entries)
        little = entries.data * small[entries.indices]
        pieces = np.concatenate([*two_product(entries.data, collected.high[entries.indices]), little])
        total = _exact_sums(pieces, np.tile(row, 3), len(self.known))
        error = EPS * (len(self.x) + 8) * known.collect(np.abs(self.change)) + EPS * np.abs(small) + collected.error
        error = absolute(entries) @ (error + known.collect(self.off))
        rounding = 2 * EPS * np.bincount(row, np.abs(little), len(error))
        return total.high, total.low, total.error + error + rounding


def _by_classes(form: LinearForm, rows: np.ndarray) -> SharedColumns:
    """Return some rows, ascending, by classes of terms with equal columns of the knowledge and of published rows."""
    known, extra = form.known, rows[rows < form.n_published]
    if len(rows) == known.shape[0] and not len(extra):
        return known
    distinct, of_term = known.distinct[rows[len(extra) :] - form.n_published], known.of_term
    if len(extra):
        published = SharedColumns(form.published[extra])
        pairs, of_term = np.unique(published.of_term * np.int64(distinct.shape[1]) + of_term, return_inverse=True)
        above, below = np.divmod(pairs, distinct.shape[1])
        distinct = sp.csr_array(sp.vstack([published.distinct[:, above], distinct[:, below]], format="csr"))
    return SharedColumns.of_distinct(distinct, of_term)


class _Sums(NamedTuple):
    """Sums in two parts, high + low unevaluated, and bounds on their errors."""

    high: np.ndarray
    low: np.ndarray
    error: np.ndarray


def _exact_sums(values: np.ndarray, of_sum: np.ndarray, n: int) -> _Sums:
    """Compute n sums of numbers: sums of multiples of a unit are exact below 2^53 units."""
    entries, error, parts = np.bincount(of_sum, minlength=n) + 8, np.zeros(n), []
    for unit in UNITS:
        multiples = np.rint(values / unit) * unit
        values = values - multiples
        parts.append(np.bincount(of_sum, multiples, n))
        size = np.bincount(of_sum, np.abs(multiples), n)
        error += np.where(size < 2.0**52 * unit, 0.0, EPS * entries * size)  # larger sums are rounded as usual
    rest, high = np.bincount(of_sum, values, n), parts[0] + parts[1]
    added = high - parts[0]
    low = (parts[0] - (high - added)) + (parts[1] - added)  # exactly the rounding error of `high` (Knuth)
    error += EPS * (entries * np.bincount(of_sum, np.abs(values), n) + np.abs(low) + np.abs(rest))
    return _Sums(high, low + rest, error)


class Moved(NamedTuple):
    r"""Bounds on the change of counts."""

    # One per term, in records: the change that corrects the block's published rows, and the total change.
    own: np.ndarray
    moves: np.ndarray
    stretch: float  # sum t^2 / x over all terms is at most the square of this times \|y\|^2


def _published_residuals(form: LinearForm, x: np.ndarray, side: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return P x - side, and a bound on its roundoff, in records, for rows with coefficients 1.

    Sums of multiples of a unit are exact, and so is the difference of such a sum and a nearby side (Sterbenz).
    """
    multiples, rest = split_exactly(x)
    total, entries = form.published @ multiples, np.diff(form.published.indptr) + 2
    with np.errstate(invalid="ignore"):
        apart = total - side
        error = EPS * (np.abs(apart) + entries * (form.published @ np.abs(rest)))
        error += np.where(total < 2.0**52 * UNIT, 0.0, EPS * entries * np.abs(total))  # larger sums are rounded
        return apart + form.published @ rest, error


class Correction(NamedTuple):
    r"""A point that satisfies the rows of knowledge exactly; arrays have one number per row."""

    rows: np.ndarray  # the row numbers
    length: np.ndarray  # bound on \|y\| in the component of the row; infinite if nothing is proved
    # A bound on the distance of the row's value from its side at that point, in records: 0 for independent equations,
    # and the rounding error for rows implied by equations alone, whose multipliers can be moved to these equations.
    # For watched rows, a bound on the change of their value.
    distance: np.ndarray
    backward: float  # largest relative change of a side, for rows whose value others determine


def correct(
    local: Sequence[Any],
    side: np.ndarray,
    side_error: np.ndarray,
    inward: np.ndarray,
    watched: np.ndarray,
    component: np.ndarray,
    over: OverPartitions,
) -> tuple[Sequence[Any], Correction]:
    """Bound the correction of all rows of knowledge, and decide which of them are implied by others.

    `local` are handles of LocalRows, which are returned as they were used; all arrays have one number per row shared by
    the partitions. Rows that are `watched` are not corrected; the change of their value, which is their `side`, is bounded.
    """
    sums = over.reduce(CorrectionSums.added, over.map(LocalRows.sums, local))
    rows, not_implied = sums.rows, partial(_not_implied, local, over, sums.is_known)
    correction, seems_implied = _correction(
        sums, side[rows], side_error[rows], inward[rows], watched[rows], component[rows], not_implied
    )
    if seems_implied:  # by the sampled cycles, but not by all
        return correct(over.map(LocalRows.with_all_cycles, local), side, side_error, inward, watched, component, over)
    return local, correction


def _correction(
    sums: CorrectionSums,
    side: np.ndarray,
    side_error: np.ndarray,
    inward: np.ndarray,
    watched: np.ndarray,
    component: np.ndarray,
    not_implied: Callable[..., tuple[set[int], bool]],
) -> tuple[Correction, bool]:
    """Return the correction of all rows, and whether more cycles might prove what is not proved."""
    k = len(side)
    if not k:
        return Correction(sums.rows, np.zeros(0), np.zeros(0), 0.0), False
    pieces = zip(sums.high.tolist(), sums.low.tolist(), (-side).tolist(), strict=True)
    rho = np.array([math.fsum(three) for three in pieces])
    error, magnitude = side_error + sums.error + EPS * np.abs(rho), np.maximum(np.abs(side), 1.0)

    def by_component(strictly: np.ndarray) -> _Corrected:
        """Correct every component, with all rows in one result."""
        length, distance, moved, violation, unexplained = *np.zeros((4, k)), np.zeros(k, dtype=bool)
        dependent: list[_Dependence] = []
        for of_component, gram in _components(sums.gram, component):
            rows, is_corrected = of_component, ~watched[of_component]
            if not is_corrected.all():
                rows, gram = rows[is_corrected], gram[is_corrected][:, is_corrected]
            step = _Component(
                gram, sums.size[rows], sums.length, rho[rows], error[rows], inward[rows],
                magnitude[rows], np.maximum(magnitude, sums.reach)[rows], _columns(sums.wide, rows),
            ).corrected(strictly[rows])  # fmt: skip
            length[of_component], distance[rows], moved[rows] = step.length, step.distance, step.moved / magnitude[rows]
            violation[rows], unexplained[rows] = step.violation / magnitude[rows], step.unexplained
            dependent += [_Dependence(int(rows[j]), rows[support], factors) for j, support, factors in step.dependent]
        return _Corrected(length, distance, moved, violation, unexplained, dependent)

    step = by_component(np.zeros(k, dtype=bool))
    different, seems_implied = not_implied(step.dependent)
    strictly = np.isin(np.arange(k), sorted(different)) & (inward != 0)
    if strictly.any() and not seems_implied:
        # Such an inequality nearly repeats others, and may hold strictly if these hold by a margin. Otherwise the first
        # correction remains, whose contradictions are judged below.
        by_margin = by_component(strictly)
        if not by_margin.unexplained.any():
            step = by_margin
            different, seems_implied = not_implied(step.dependent)
    length, distance, moved, violation, unexplained, dependent = step
    implied = np.zeros(k, dtype=bool)
    for j, support, _ in dependent:
        implied[j] = not inward[support].any()
    if different and not seems_implied:
        # Rows that differ from combinations of others only by vanishing counts, which are not changed.
        still, _ = not_implied([each for each in dependent if each.row in different], SMALL)
        small = np.array(sorted(different - still), dtype=np.int64)
        close = violation[small] <= MOST_SMALL
        moved[small] = np.where(close, np.maximum(moved[small], violation[small]), moved[small])
        unexplained[small] = ~close
        different = still
    unexplained[np.array(sorted(different), dtype=np.int64)] = True
    # If equations imply a row, its multiplier can be moved to them, up to rounding.
    distance = np.where(implied & np.isfinite(distance), side_error, distance)
    distance[unexplained] = np.inf
    length[np.isin(component, component[unexplained])] = np.inf
    # Changes sqrt(W) y of cycles change the value of a row by at most |y| times the root of its diagonal element of S.
    diagonal = sums.gram.diagonal() + sums.length * EPS * sums.size
    by_fixed_terms = np.asarray(abs(sums.wide).sum(axis=0)).ravel() if sums.wide.nnz else 0.0
    with np.errstate(invalid="ignore"):
        change = np.abs(rho) + error + by_fixed_terms + np.sqrt(diagonal) * length
    distance = np.where(watched, change, distance)
    return Correction(sums.rows, length, distance, float(moved.max())), seems_implied


def _components(
    gram: np.ndarray | sp.csr_array, component: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray | sp.csr_array]]:
    """Yield the rows of each connected component, with its part of S."""
    order = np.argsort(component, kind="stable")
    ends = np.flatnonzero(np.diff(component[order], append=-1)) + 1
    blocks = sp.csr_array(gram)[order][:, order] if sp.issparse(gram) else gram[np.ix_(order, order)]
    for start, end in itertools.pairwise([0, *ends.tolist()]):
        block, size = blocks[start:end, start:end], end - start
        if sp.issparse(block) and not (size > MOST_DENSE_STEP and block.nnz < DENSE_SHARE * size**2):
            block = block.toarray()
        yield order[start:end], block


def _columns(wide: sp.csr_array, rows: np.ndarray) -> np.ndarray:
    """Return the nonzero changes of some rows by fixed terms, shape (rows, fixed terms)."""
    if not wide.nnz:
        return np.zeros((len(rows), 0))
    changes = wide.T.tocsr()[rows]
    return np.asarray(changes[:, np.unique(changes.indices)].toarray())


class _Dependence(NamedTuple):
    """A row that is numerically a combination of others: its number, theirs, and their approximate factors."""

    row: int
    support: np.ndarray
    factors: np.ndarray


class _Corrected(NamedTuple):
    """One component, or all: a bound on |y| (one per row), the distance of every row from its side, and the omitted rows.

    `moved` is the permitted violation of a row whose value others determine, `violation` the violation of each row, and
    `unexplained` marks violations above roundoff. `dependent` contains the omitted rows.
    """

    length: Any
    distance: np.ndarray
    moved: np.ndarray
    violation: np.ndarray
    unexplained: np.ndarray
    dependent: list[_Dependence]


#: Smallest ratio of a diagonal element of S to its roundoff if the row is not a combination of published rows.
LEAST_SHARE = 1e3

#: Records: counts below this are not changed if rows are combinations of others except for such counts.
SMALL = 1e-5

#: Relative to all records: the largest contradiction, due to rounding, between rows that determine each other.
ROUNDED = 32 * EPS

#: Relative: the largest permitted violation of such a row, which the certificate reports.
MOST_SMALL = 1e-9

#: Relative to the largest coefficient of a combination of rows: smaller ones are roundoff.
NO_COEFFICIENT = 1e-7

#: The largest distance of an approximate coefficient from an integer that is tried instead. A choice.
NEAR_INTEGER = 1e-3

#: Doubles of omitted rows and their factors that are processed at a time: 80 MB.
BATCH_OF_FACTORS = 10_000_000

#: The largest number of rows of a component for which S is dense, and the share of entries from which larger ones are:
#: for 4,900 rows with 15 entries each, a sparse factorization takes .4 s, and a dense one .9 s and 200 MB.
MOST_DENSE_STEP = 1_000
DENSE_SHARE = 0.05

#: The largest number of rows for which each uncertainty is propagated separately, with the inverse of S (500: .02 s).
MOST_ROWS_SINGLY = 500

#: Relative to the first tolerance for pivots: added to the diagonal of a sparse S so that no pivot is 0. The pivot of a
#: row that is a combination of others is this times 1 plus the sum of the squares of its coefficients, so that a later
#: tolerance is needed for combinations of a thousand rows.
SHIFT = 1e-3

#: Steps of inverse iteration; it stops when the estimate changes by less than a tenth.
INVERSE_ITERATIONS = 20

#: Shares of the estimated smallest eigenvalue (an upper bound) that are tried in turn as verified lower bounds.
SHARES_OF_EIGENVALUE = (0.5, 0.1, 0.01)


@dataclass(frozen=True, eq=False)
class _Component:
    """The rows of one connected component; arrays have one number per row."""

    gram: np.ndarray | sp.csr_array  # S
    size: np.ndarray  # the diagonal of S for absolute values
    terms: float  # the number of summands of the longest sum
    rho: np.ndarray  # residuals, records
    error: np.ndarray  # bounds on the errors of the residuals
    inward: np.ndarray  # 0 for equations; otherwise the sign of the direction in which the row holds strictly
    magnitude: np.ndarray  # absolute values of the sides, at least 1
    typed: np.ndarray  # the numbers, in records, relative to which the sides were rounded when typed
    wide: np.ndarray  # shape (rows, fixed terms): the largest changes by fixed terms whose true values are not known

    def corrected(self, strictly: np.ndarray) -> _Corrected:
        """Bound the shortest correction by independent rows, and judge the other rows, which are omitted.

        The correction changes the value of an omitted row by the combination of the independent rows that is nearest to
        it, up to `doubt`, whether the row is exactly that combination or not. So the inequalities in `strictly` need not
        be combinations if they hold strictly.
        """
        definite, n = self._independent_rows(), len(self.rho)
        rows = definite.rows
        omitted = np.setdiff1d(np.arange(n), rows)
        combined = self._combinations(definite, omitted)
        scale, sign = np.sqrt(self.gram.diagonal()[rows]), self.inward[omitted]
        beyond, doubt = self.rho[omitted] - combined.rho, self.error[omitted] + combined.doubt
        distance, moved, violation = np.zeros((3, n))
        unexplained, margin = np.zeros(n, dtype=bool), 0.0
        distance[omitted] = np.abs(beyond) + doubt
        violation[omitted] = missed = np.where(sign == 0, np.abs(beyond), np.maximum(-sign * beyond, 0.0))
        # A value that the published rows determine may be typed rounded; other contradictions must be within roundoff.
        determined = self.gram.diagonal()[omitted] <= (self.terms * EPS) ** 2 * self.size[omitted]
        roundoff = ROUNDED * (self.typed[omitted] + combined.typed)
        allowed = np.where(determined, MOST_BACKWARD * self.magnitude[omitted], roundoff)
        moved[omitted] = permitted = np.where(missed <= doubt + allowed, np.maximum(missed - doubt, 0.0), 0.0)
        doubt = np.where(permitted > 0, np.maximum(doubt + permitted, missed), doubt)
        is_missed = ~(missed <= doubt)
        strict, gain = strictly[omitted] & (sign * combined.inward > 2 * combined.blur), sign * combined.inward
        if is_missed.any() or strict.any():  # implied inequalities hold if the others hold by a margin
            is_implied, least_gain = is_missed & (gain > 0) | strict, np.where(strict, gain - combined.blur, gain)
            wanted = missed + np.where(strict, 2, 1) * doubt
            margin = float((wanted[is_implied] / least_gain[is_implied]).max(initial=0.0))
            inside = sign * beyond + margin * gain
            strict &= inside - margin * combined.blur >= doubt
            is_missed = ~(np.where(sign == 0, missed, -inside) <= doubt)
            is_missed |= (sign == 0) & (np.abs(combined.inward) * margin > doubt)
            distance[rows] = margin * np.abs(self.inward[rows])
            distance[omitted] += margin * (np.abs(gain) + combined.blur)
        unexplained[omitted] = is_missed
        values = (self.rho[rows] - margin * self.inward[rows]) / scale
        length = definite.longest(values, self.error[rows] / scale, self.wide[rows] / scale[:, None])
        dependent = [each for each, holds in zip(combined.dependent, strict, strict=True) if not holds]
        return _Corrected(length, distance, moved, violation, unexplained, dependent)

    def _independent_rows(self) -> _Definite:
        """Choose rows that are not combinations of published rows or of each other, as far as roundoff can tell."""
        diagonal = self.gram.diagonal()
        # Rows whose remainder after elimination of the published rows is roundoff, or close to it, are excluded.
        distinct = np.flatnonzero(diagonal > LEAST_SHARE * self.terms * EPS * self.size)
        root = np.sqrt(diagonal[distinct])
        scaled = _scaled(self.gram, distinct, distinct, root, root)
        definite = _definite(scaled, self.size[distinct] / diagonal[distinct], self.terms)
        return replace(definite, rows=distinct[definite.rows])

    def _combinations(self, definite: _Definite, omitted: np.ndarray) -> _Combinations:
        """Write the omitted rows as combinations of the chosen ones, in batches."""
        rows, least, trust = definite.rows, definite.least, definite.trust
        # All rows are scaled: S to a unit diagonal for the chosen ones, and nearly so for the omitted ones.
        scale, root_size = np.sqrt(self.gram.diagonal()[rows]), np.sqrt(self.size[omitted])
        root_size[root_size == 0] = 1.0
        values, uncertain, fixed = self.rho[rows] / scale, self.error[rows] / scale, self.wide[rows] / scale[:, None]
        rho, doubt, inward, typed, unsure = np.zeros((5, len(omitted)))
        dependent: list[_Dependence] = []
        for start in range(0, len(omitted), step := max(BATCH_OF_FACTORS // max(len(rows), 1), 1)):
            batch = slice(start, start + step)
            across = _scaled(self.gram, rows, omitted[batch], scale, root_size[batch])
            across = across.toarray() if sp.issparse(across) else np.asarray(across)
            factors = definite.solve(across)
            sizes = np.abs(factors)
            with np.errstate(invalid="ignore", divide="ignore"):
                # A bound on the errors of the factors: of the solution, and of S itself.
                blur = np.linalg.norm(across - definite.matrix @ factors, axis=0)
                blur = (blur + (1 - trust) * least * (1 + np.linalg.norm(factors, axis=0))) / (least * trust)
                doubt[batch] = sizes.T @ uncertain + blur * np.linalg.norm(values)
                unsure[batch] = blur * np.linalg.norm(self.inward[rows] / scale)
                doubt[batch] += np.abs(self.wide[omitted[batch]] / root_size[batch, None] - factors.T @ fixed).sum(
                    axis=1
                )
            rho[batch] = factors.T @ values
            inward[batch] = factors.T @ (self.inward[rows] / scale)
            typed[batch] = sizes.T @ (self.typed[rows] / scale)
            is_used = sizes > NO_COEFFICIENT * sizes.max(axis=0, initial=0.0)
            factors *= root_size[batch] / scale[:, None]
            dependent += [
                _Dependence(j, rows[used], factors[used, i])
                for i, (j, used) in enumerate(zip(omitted[batch].tolist(), is_used.T, strict=True))
            ]
        rho, doubt, inward, blur, typed = (root_size * part for part in (rho, doubt, inward, unsure, typed))
        return _Combinations(rho, doubt, inward, blur, typed, dependent)


class _Combinations(NamedTuple):
    """Omitted rows as combinations of the chosen rows; one number per omitted row."""

    rho: np.ndarray  # the combination of the residuals, records
    doubt: np.ndarray  # bound on the error of that number
    inward: np.ndarray  # the combination of the inward directions
    blur: np.ndarray  # bound on the error of that number
    typed: np.ndarray  # the same of `typed`, with the absolute values of the factors
    dependent: list[_Dependence]  # one per omitted row; the factors are not roundoff


def _scaled(
    gram: np.ndarray | sp.csr_array, rows: np.ndarray, columns: np.ndarray, by_row: np.ndarray, by_column: np.ndarray
) -> np.ndarray | sp.csr_array:
    """Return some rows and columns of S, divided by the product of two numbers, so that S remains symmetric."""
    if not sp.issparse(gram):
        return np.asarray(gram)[np.ix_(rows, columns)] / np.outer(by_row, by_column)
    part = sp.csr_array(sp.csr_array(gram)[rows][:, columns])
    part.data = part.data / (by_row[entry_rows(part)] * by_column[part.indices])
    return part


@dataclass(frozen=True, eq=False)
class _Definite:
    """Rows whose Schur complement, scaled to a unit diagonal, is verified to be positive definite."""

    rows: np.ndarray  # the row numbers
    matrix: np.ndarray | sp.csr_array  # S of these rows
    solve: Callable[[np.ndarray], np.ndarray]  # S^-1 times columns, approximately
    least: float  # lower bound on the eigenvalues of the computed S
    trust: float  # v' S^-1 v is at most 1 / trust times the value for the computed S

    def energy(self, columns: np.ndarray) -> np.ndarray:
        """Bound v' S^-1 v from above for each column v, with S as computed.

        With z near S^-1 v and r = v - S z it is z'v + z'r + r' S^-1 r, and the last term is at most r'r over the
        smallest eigenvalue. The computed value is increased by bounds on its roundoff, (k + 2) EPS of absolute values.
        """
        z = self.solve(columns)
        size, k = np.abs(columns) + abs(self.matrix) @ np.abs(z), len(columns)
        residual = np.linalg.norm(columns - self.matrix @ z, axis=0) + (k + 2) * EPS * np.linalg.norm(size, axis=0)
        product = (z * columns).sum(axis=0) + (k + 2) * EPS * np.abs(z * columns).sum(axis=0)
        return np.maximum(product + np.linalg.norm(z, axis=0) * residual + residual**2 / self.least, 0.0)

    def longest(self, values: np.ndarray, uncertain: np.ndarray, fixed: np.ndarray) -> float:
        """Bound |y| = sqrt(rho' S^-1 rho) for |rho - values - fixed @ v| <= uncertain and all |v| <= 1."""
        if self.trust <= 0:
            return math.inf
        k = len(values)
        known = math.sqrt(float(self.energy(values[:, None])[0]))
        by_term = float(np.sqrt(self.energy(fixed)).sum()) if fixed.shape[1] else 0.0
        spread = float(np.linalg.norm(uncertain)) / math.sqrt(self.least)
        if uncertain.any() and k <= MOST_ROWS_SINGLY:
            spread = min(spread, float(np.sqrt(self.energy(np.eye(k))) @ uncertain))
        return (known + by_term + spread) / math.sqrt(self.trust) * (1 + 4 * k * EPS)


def _definite(matrix: np.ndarray | sp.csr_array, size: np.ndarray, terms: float) -> _Definite:
    """Choose rows whose S, scaled to a unit diagonal, can be verified to be positive definite.

    `size` is as in :class:`CorrectionSums` for the unscaled rows, divided by their diagonal elements.
    """
    k = matrix.shape[0]
    if not k:
        return _Definite(np.empty(0, dtype=np.int64), np.zeros((0, 0)), np.copy, 1.0, 1.0)
    tolerance = max(4 * terms * EPS * float(size.sum()), 16 * k * EPS)
    shift = SHIFT * tolerance
    while True:
        rows = _independent(matrix, tolerance, shift)
        chosen = matrix[rows][:, rows]
        if not len(rows):  # S contains NaN, so nothing is proved about the omitted rows
            return _Definite(rows, chosen, np.copy, 1.0, 1.0)
        solve, least = _verified(chosen)
        noise = (terms + 8) * EPS * float(size[rows].sum())
        trust = 1 - noise / least if least > 0 else 0.0
        if trust >= 0.5 or len(rows) <= 1:
            return _Definite(rows, chosen, solve, least, trust)
        tolerance = max(10 * tolerance, 1e-12)


def _independent(matrix: np.ndarray | sp.csr_array, tolerance: float, shift: float) -> np.ndarray:
    """Return rows of S with pivots above a tolerance: of a pivoted Cholesky factorization, or of S + shift I if sparse."""
    if not sp.issparse(matrix):
        _, order, rank, _ = dpstrf(matrix, tol=tolerance)
        return np.asarray(order[:rank] - 1)
    factor = _sparse_factor(matrix, shift)
    if factor is None:
        return _independent(matrix.toarray(), tolerance, shift)
    pivots = factor.U.diagonal()
    kept = pivots > tolerance
    kept[pivots.argmax()] = True  # the pivoted factorization keeps at least one, too
    return np.sort(np.argsort(factor.perm_c)[kept])


def _sparse_factor(matrix: sp.csr_array, shift: float) -> Any:
    """Factorise S + shift I = L U with U = D L', in a sparsity-preserving order; None if pivots were exchanged."""
    shifted = sp.csc_array(matrix + shift * sp.eye_array(matrix.shape[0]))
    try:
        factor = splu(shifted, "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:  # exactly singular
        return None
    return factor if (factor.perm_r == factor.perm_c).all() else None


def _verified(matrix: np.ndarray | sp.csr_array) -> tuple[Callable[[np.ndarray], np.ndarray], float]:
    """Return a solver for S with a unit diagonal, and a verified lower bound on its eigenvalues, or 0."""
    k = matrix.shape[0]
    factor = _sparse_factor(matrix, 0.0) if sp.issparse(matrix) else None
    if factor is None:
        matrix = matrix.toarray() if sp.issparse(matrix) else matrix
        upper, failed = dpotrf(matrix)
        if failed:
            return np.zeros_like, 0.0
        solve: Callable[[np.ndarray], np.ndarray] = partial(cho_solve, (upper, False), check_finite=False)
    else:
        solve = factor.solve
    smallest = _smallest_eigenvalue(solve, k)
    for share in SHARES_OF_EIGENVALUE:
        below = _below_eigenvalues(matrix, share * smallest)
        if below > 0:
            return solve, below
    return solve, 0.0


def _smallest_eigenvalue(solve: Callable[[np.ndarray], np.ndarray], k: int) -> float:
    """Estimate the smallest eigenvalue from above, by inverse iteration."""
    if k == 1:
        return 1.0
    x = np.random.default_rng(0).normal(size=k)
    estimate = math.inf
    for _ in range(INVERSE_ITERATIONS):
        x /= np.linalg.norm(x)
        y = solve(x)
        before, estimate = estimate, 1 / max(float(x @ y), 1.0)
        x = y
        if estimate > 0.9 * before:
            break
    return estimate


def _below_eigenvalues(matrix: np.ndarray | sp.csr_array, shift: float) -> float:
    """Return a lower bound on the eigenvalues from a factorization of S - shift I; 0 if that is not definite."""
    k = matrix.shape[0]
    if not sp.issparse(matrix):
        shifted = matrix.copy()
        shifted[np.diag_indices(k)] -= shift
        # Success proves that S - shift I + E is definite with |E| <= (k + 1) u / (1 - 2 (k + 1) u) trace(S) (Rump,
        # 2006, section 2), where u = EPS / 2 and trace(S) = k.
        return max(shift - (k + 4) * EPS * k, 0.0) if dpotrf(shifted)[1] == 0 else 0.0
    factor = _sparse_factor(matrix, -shift)
    pivots = None if factor is None else factor.U.diagonal()
    if factor is None or pivots is None or not (pivots > 0).all():
        return 0.0
    # L U = S - shift I + E with |E| <= m EPS |L| |U| (Higham, 2002, theorem 9.3), and L D L' is definite; the
    # difference of U from D L' is computed.
    lower, upper, ones = sp.csr_array(factor.L), sp.csr_array(factor.U), np.ones(k)
    longest = int(max(np.diff(lower.indptr).max(), np.diff(upper.indptr).max())) + 4
    asymmetry = abs(upper - sp.diags_array(pivots) @ lower.T) @ ones + EPS * (abs(upper) @ ones)
    off = abs(lower) @ (2 * longest * EPS * (abs(upper) @ ones) + asymmetry)
    return max(shift - float(off.max()) * (1 + k * EPS) - 4 * EPS, 0.0)


def _not_implied(
    local: Sequence[Any],
    over: OverPartitions,
    is_known: np.ndarray,
    dependent: Sequence[_Dependence],
    least: float = 0.0,
) -> tuple[set[int], bool]:
    """Return the rows that, as typed, are not combinations of others, and whether all are so on the sampled cycles.

    Cycles of terms with a count less than `least` are ignored.
    """
    different = {j for j, support, _ in dependent if not (is_known[j] and is_known[support].all())}
    if different or not dependent:
        return different, False
    rows = np.unique(np.concatenate([np.append(support, j) for j, support, _ in dependent]))

    def residues_of(n: int) -> list[np.ndarray]:
        """Return n random combinations of the columns, modulo each prime."""
        shares = over.map(LocalRows.residues, local, list(range(len(local))), common=(rows, n, least))
        return over.reduce(_added_residues, shares)

    # Most factors are integers, which a few columns verify; for the others there is an elimination.
    places = [(int(np.searchsorted(rows, each.row)), np.searchsorted(rows, each.support)) for each in dependent]
    few = residues_of(SPARE)
    factors = [
        _as_integers(each.factors, row, others, few) for each, (row, others) in zip(dependent, places, strict=True)
    ]
    remaining = [len(each.support) for each, known in zip(dependent, factors, strict=True) if known is None]
    many = residues_of(max(remaining) + SPARE) if remaining else few
    weights, total = np.random.default_rng(1).integers(1, min(PRIMES), len(dependent)), np.zeros((2, len(rows)), int)
    for weight, each, (row, others), integers in zip(weights, dependent, places, factors, strict=True):
        n = len(others) + SPARE
        for i, (residue, prime) in enumerate(zip(many, PRIMES, strict=True)):
            of_others = (
                combination(residue[row, :n], residue[others, :n], prime) if integers is None else integers % prime
            )
            if of_others is None:
                different.add(each.row)
                break
            total[i, row] = (total[i, row] + weight) % prime
            total[i, others] = (total[i, others] - weight * of_others) % prime
    # The combinations may have been found on some cycles: test them on all others by a random combination.
    if different or over.reduce(all, over.map(LocalRows.vanish, local, common=(rows, list(total), least))):
        return different, False
    return {each.row for each in dependent}, True


def _as_integers(
    factors: np.ndarray, row: int, others: np.ndarray, by_prime: Sequence[np.ndarray]
) -> np.ndarray | None:
    """Return the integers near approximate factors if they combine the other rows of residues to a row, or None."""
    # With a sum below 2^31, which also excludes NaN, the products with residues of 31 bits do not overflow.
    if not np.abs(factors).sum() < 2.0**31:
        return None
    integers = np.rint(factors).astype(np.int64)
    if (np.abs(factors - integers) >= NEAR_INTEGER).any():
        return None
    zero = (
        (residue[row] - integers @ residue[others]) % prime for residue, prime in zip(by_prime, PRIMES, strict=True)
    )
    return None if any(off.any() for off in zero) else integers


def _added_residues(shares: Sequence[list[np.ndarray]]) -> list[np.ndarray]:
    """Sum the residues of partitions, modulo each prime."""
    return [sum(addends) % prime for prime, *addends in zip(PRIMES, *shares, strict=True)]
