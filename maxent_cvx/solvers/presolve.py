"""Presolve: fix terms, remove rows and buckets, aggregate interchangeable terms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import Infeasible
from .aggregate import Aggregation, aggregate
from .columns import SplitMatrix
from .duality import with_zeros
from .form import OF_ROWS, LinearForm, Problem, Settled
from .monitor import check_step
from .parameters import EPS, FEASIBLE_MULTIPLE
from .schur import MOST_DENSE_WORK
from .sparse import entry_rows, least_by_row, most_by_row, with_data

#: The largest number of rows of a block that is searched for redundant rows, at a cost cubic in their number.
WIDEST_BLOCK = 64
#: Rounds of bound propagation; stopping early is safe, since the bounds are merely wider.
PROPAGATION_ROUNDS = 30
#: Records, or share of a term's upper bound: the least change of a bound, since rows can magnify rounding errors.
LEAST_MOVE = 1e-7
#: A smaller change counts if at most this share of the term's range remains, 1 / SHRINKAGE. Rows with coefficients such
#: as 3.7 and 1e-8 then fix terms. Of 324 models of a true mean, which is the least possible, 21 were refused without it,
#: and none with it; of 194 models of one relative risk, 12 were refused with 1,000, and none with 10.
SHRINKAGE = 10
#: Units, see :class:`Bounds`: more than any activity has; and a slack that implies no bound.
BEYOND, NO_BOUND = 2.0**61, 2**62
#: A row whose largest coefficient over the remaining terms is at least this is not rescaled.
IN_SCALE = 0.01
#: Relative to the row: smaller pivots are rounding errors of zero.
ZERO_PIVOT = 1e-9

# Rows that cannot hold, and the error that names them.

#: The error if a published row cannot hold, before the statements that contradict it are known.
CONTRADICTS_RELEASE = "the knowledge contradicts the published data"


def require_feasible(form: LinearForm, feasible: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Raise Infeasible if some row cannot hold, with the first such row of knowledge and its possible values."""
    if feasible.all():
        return
    bad = np.flatnonzero(~feasible)
    if not (bad >= form.n_facts).any():
        raise Infeasible(CONTRADICTS_RELEASE)
    row = int(bad[bad >= form.n_facts][0])
    least, most = ((side[row] + form.shift[row]) / form.scale[row] for side in (low, high))
    remedy = form.remedy(row)
    raise Infeasible(
        f"the knowledge contradicts the published data or itself: {form.name(row)!r} cannot hold, "
        f"because everything else implies a value between {least:.6g} and {most:.6g}. {remedy[0].upper()}{remedy[1:]}"
    )


# Bound propagation: every row tightens the bounds of its terms by its activity bounds, until nothing changes.


def term_bounds(form: LinearForm, n_records: float) -> tuple[np.ndarray, np.ndarray]:
    """Bound every term, in records: ``lower <= x <= upper`` for every x >= 0 that satisfies the rows as typed."""
    return propagated_bounds(form, n_records).records()


def propagated_bounds(form: LinearForm, n_records: float, most: np.ndarray | None = None) -> Bounds:
    """Bound every term by the rows as typed, and by the upper bounds `most`, in records, if these are known.

    Let L be the least activity of a row, its value with every term at the bound that makes it smallest. A term with
    coefficient a > 0 is then at most lower + (high - L) / a; likewise for the other side and the other sign. For rows
    of knowledge the slack is computed once for all terms with the same column.
    """
    propagation = Propagation(form, n_records, unit_of(largest_activity(form, n_records)), most)
    bounds = propagation.start
    for _ in range(PROPAGATION_ROUNDS):
        check_step()
        slack = slacks(form, propagation.sides, *propagation.activity(bounds), bounds.unit)
        bounds = propagation.tightened(bounds, *slack)
        if not bounds.changed:
            break
    return bounds


class Bounds(NamedTuple):
    """Bounds on terms, in units: their sums are exact, since they are integers, and all else is rounded outwards."""

    lower: np.ndarray  # 64-bit integers, one per term
    upper: np.ndarray
    unit: float  # records, a power of two
    changed: bool = True  # whether the last round has changed any

    @property
    def range(self) -> np.ndarray:
        """The differences of the bounds, in records."""
        return (self.upper - self.lower) * self.unit

    def records(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds in records."""
        lower, upper = self.lower.astype(float), self.upper.astype(float)
        lower = np.where(lower.astype(np.int64) > self.lower, np.nextafter(lower, -np.inf), lower)
        upper = np.where(upper.astype(np.int64) < self.upper, np.nextafter(upper, np.inf), upper)
        return lower * self.unit, upper * self.unit

    def values(self, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return values of some terms, integers if the bounds contain any, and bounds on their errors, in records."""
        lower, upper = self.lower[terms], self.upper[terms]
        middle = (lower + (upper - lower) // 2) * self.unit
        units = in_units(np.rint(middle), self.unit)
        value = np.where((lower <= units) & (units <= upper), np.rint(middle), middle)
        units = in_units(value, self.unit)
        return value, np.maximum(upper - units, units - lower) * self.unit * (1 + EPS)


def unit_of(largest: float) -> float:
    """Return a unit, in records, of which no activity has more than 2^60."""
    return float(2.0 ** (np.ceil(np.log2(largest)) - 60))


def in_units(records: np.ndarray, unit: float) -> np.ndarray:
    """Return numbers in units, rounded up; those whose size is more than any activity, as :data:`BEYOND`."""
    return np.clip(np.ceil(records / unit), -BEYOND, BEYOND).astype(np.int64)


class Propagation:
    """Rounds of bound propagation, from bounds on the terms to activity bounds of the rows, and back."""

    def __init__(self, form: LinearForm, n_records: float, unit: float, most: np.ndarray | None = None) -> None:
        self.form = form
        upper = _first_upper(form, n_records)
        upper = in_units(upper if most is None else np.minimum(upper, most), unit)
        self.start = Bounds(np.zeros_like(upper), upper, unit)
        self.sides = sides_in_units(form, unit)
        self._of_published, self._of_classes = RowBounds(form.published), RowBounds(form.known.distinct)
        self._least_move = in_units(LEAST_MOVE * form.count_scale, unit)
        self._least = LeastSlack(form.published_by_term)
        self._least_of_class = LeastSlack(form.known.transposed)

    def activity(self, bounds: Bounds) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the largest value of every row, in units."""
        collect = self.form.known.collect
        published = self._of_published(bounds.lower, bounds.upper)
        known = self._of_classes(collect(bounds.lower), collect(bounds.upper))
        return np.append(published[0], known[0]), np.append(published[1], known[1])

    def tightened(self, before: Bounds, to_high: np.ndarray, to_low: np.ndarray) -> Bounds:
        """Return the bounds that the slack of every row implies."""
        n, of_term, (lower, upper, unit, _) = self.form.n_published, self.form.known.of_term, before
        rise, fall = self._least(to_high[:n], to_low[:n])
        by_class = self._least_of_class(to_high[n:], to_low[n:])
        new_upper = np.minimum(upper, lower + np.minimum(rise, by_class[0][of_term]))
        new_lower = np.maximum(lower, upper - np.minimum(fall, by_class[1][of_term]))
        shrinks = new_upper - new_lower <= (upper - lower) // SHRINKAGE
        least_move = np.where(shrinks, 0, self._least_move)
        new_upper = np.where(upper - new_upper > least_move, new_upper, upper)
        new_lower = np.where(new_lower - lower > least_move, new_lower, lower)
        # Bounds that cross contradict each other: by the rounding of typed numbers, or so that the next round finds it.
        new_lower = np.minimum(new_lower, new_upper)
        return Bounds(new_lower, new_upper, unit, bool((new_lower != lower).any() or (new_upper != upper).any()))


def sides_in_units(form: LinearForm, unit: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the low and the high sides of all rows, widened by their errors, in units."""
    error = in_units(form.side_error, unit)
    return -in_units(-form.low, unit) - error, in_units(form.high, unit) + error


def slacks(
    form: LinearForm, sides: tuple[np.ndarray, np.ndarray], low: np.ndarray, high: np.ndarray, unit: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return how far each row may rise from its least, and fall from its largest activity, in units."""
    tolerance, least, most = FEASIBLE_MULTIPLE * form.tolerance, low * unit, high * unit
    require_feasible(form, (least <= form.high + tolerance) & (most >= form.low - tolerance), least, most)
    return np.clip(sides[1] - low, 0, NO_BOUND), np.clip(high - sides[0], 0, NO_BOUND)


def largest_activity(form: LinearForm, n_records: float) -> float:
    """Return the largest value of a row with absolute coefficients within the first bounds; at least one record."""
    activity = form.absolute_matvec(_first_upper(form, n_records))
    return max(float(n_records), 1.0, float(activity.max(initial=0.0)))


def _first_upper(form: LinearForm, n_records: float) -> np.ndarray:
    """Return the upper bounds that single published rows and N imply, rounded outwards."""
    upper = np.full(form.shape[1], float(n_records))
    if form.side_error[: form.n_published].any():
        form = replace(form, high=form.high + form.side_error)
    return np.minimum(upper, form.upper_bound * (1 + 8 * EPS * (form.upper_bound != np.rint(form.upper_bound))))


class RowBounds:
    """Function from bounds on terms to those of the rows of one matrix: exact if all coefficients of a row are 1 or -1."""

    def __init__(self, matrix: sp.csr_array) -> None:
        row = entry_rows(matrix)
        is_exact = np.bincount(row, np.abs(matrix.data) != 1, matrix.shape[0]) == 0
        exact = np.where(is_exact[row], matrix.data, 0).astype(np.int64)
        self._exact = _by_sign(with_data(matrix, exact))
        self._other = np.flatnonzero(~is_exact)
        self._rounded = _by_sign(matrix[self._other])
        self._places = EPS * (np.diff(matrix.indptr)[self._other] + 3)  # relative errors of terms, products and sums

    def __call__(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the largest value of every row, in units."""
        least, most = _least(self._exact, lower, upper), _least(self._exact, upper, lower)
        if len(self._other):
            below, above = lower.astype(float), upper.astype(float)
            positive, negative = self._rounded
            error = self._places * (positive @ above + (0.0 if negative is None else -negative @ above))
            least[self._other] = -in_units(error - _least(self._rounded, below, above), 1.0)
            most[self._other] = in_units(error + _least(self._rounded, above, below), 1.0)
        return least, most


def _by_sign(matrix: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array | None]:
    """Split a matrix into its positive and its negative part; the latter is None if it is empty."""
    if (matrix.data >= 0).all():
        return matrix, None
    return sp.csr_array(matrix.maximum(0)), sp.csr_array(matrix.minimum(0))


def _least(parts: tuple[sp.csr_array, sp.csr_array | None], lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return the least value of every row within the bounds; with the bounds exchanged, the largest."""
    positive, negative = parts
    least = positive @ lower
    return least if negative is None else least + negative @ upper


class LeastSlack:
    """Largest rise and fall of each column in units: the minimum over its rows of slack / |a|; NO_BOUND without rows."""

    def __init__(self, by_column: sp.csr_array) -> None:
        a = by_column.data
        self._by_column, self._size = by_column, np.abs(a)
        self._rises = None if (a > 0).all() else a > 0
        self._divided = None if (self._size == 1).all() else self._size != 1

    def __call__(self, to_high: np.ndarray, to_low: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rise and fall of each column, given the distances of each row from its high and its low side."""
        row = self._by_column.indices
        up, down = to_high[row], to_low[row]
        if self._rises is not None:
            up, down = np.where(self._rises, up, down), np.where(self._rises, down, up)
        return self._least(up), self._least(down)

    def _least(self, slack: np.ndarray) -> np.ndarray:
        if self._divided is not None:  # quotients are rounded, and coefficients may be rounded
            with np.errstate(over="ignore"):  # a coefficient of 1e-300 implies no bound
                quotient = np.minimum(slack / self._size * (1 + 8 * EPS) + 1, float(NO_BOUND))
            slack = np.where(self._divided, np.ceil(quotient).astype(np.int64), slack)
        return least_by_row(slack, self._by_column, NO_BOUND)


# The result of presolve: a smaller problem, and postsolve, which maps its solution back to the original problem.


@dataclass(frozen=True, eq=False)
class Reduced:
    """A smaller problem, and the maps between its solution and that of the original problem."""

    terms: np.ndarray  # one per original term: whether it remains to be solved
    rows: np.ndarray  # the remaining original rows; in a large problem, sorted by bucket
    # The aggregation of the remaining rows and terms; its form is the problem to solve.
    aggregation: Aggregation
    # One per original term: whether presolve has determined its value: implied zeros, and further values implied by
    # these.
    fixed: np.ndarray
    counts: np.ndarray  # the solution of the original problem as far as it is determined by presolve
    multipliers: np.ndarray
    restricted: LinearForm  # the problem over the remaining terms, before aggregation, with redundant rows
    # One per original term: a bound on the distance between a fixed term's true value and its count, in records.
    width: np.ndarray
    scale: np.ndarray  # one per remaining row: its divisor

    @classmethod
    def identity(cls, form: LinearForm) -> Reduced:
        """Return the reduction that changes nothing."""
        n_rows, n_terms = form.shape
        every_term, every_row = np.ones(n_terms, dtype=bool), np.arange(n_rows)
        no_widths, no_scale = np.zeros(n_terms), np.ones(n_rows)
        return cls(
            every_term, every_row, Aggregation.identity(form), ~every_term, np.zeros(n_terms), np.zeros(n_rows), form,
            no_widths, no_scale,
        )  # fmt: skip

    def with_penalties_of(self, original: LinearForm) -> Reduced:
        """Return the reduction for an original problem that differs from this one in the costs of soft rows only."""
        penalties, n_hard = original.penalties, original.n_hard
        assert penalties is not None
        soft = self.rows >= n_hard
        selected = penalties.select(self.rows[soft] - n_hard).scaled(1 / self.scale[soft])
        form = replace(self.aggregation.form, penalties=selected if len(selected) else None)
        # The multipliers of soft rows with fixed values are slopes of their costs; the others come with the answer.
        multipliers = np.append(self.multipliers[:n_hard], settled_multipliers(original, original.matvec(self.counts)))
        return replace(self, aggregation=replace(self.aggregation, form=form), multipliers=multipliers)

    @property
    def form(self) -> LinearForm:
        """The problem to solve."""
        return self.aggregation.form

    @property
    def zeros(self) -> np.ndarray:
        """Original terms that are fixed at zero."""
        return self.fixed & (self.counts == 0)

    @property
    def upper_bounds_of_zeros(self) -> np.ndarray:
        """Proved upper bounds of the terms fixed at zero, in records; infinite for all other terms."""
        return np.where(self.zeros, self.width, np.inf)

    @property
    def settled(self) -> Settled:
        """Fixed terms, for the certificate."""
        return Settled(self.fixed, self.width)

    def settled_for(self, counts: np.ndarray) -> Settled:
        """Return the fixed terms for the certificate of other counts, with widths increased by their differences."""
        distance = np.abs(self.counts - np.maximum(counts, 0.0))
        return Settled(self.fixed, np.where(self.fixed, self.width + distance, 0.0))

    def start(self, multipliers: np.ndarray) -> np.ndarray:
        """Return multipliers of the reduced problem, given those of the original rows."""
        return self.aggregation.aggregated_multipliers(multipliers[self.rows] * self.scale)

    def restore(self, counts: np.ndarray, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Postsolve: return counts and multipliers of the original problem, given those of the reduced problem."""
        all_counts, all_multipliers = self.counts.copy(), self.multipliers.copy()
        all_counts[self.terms] = self.aggregation.counts(counts)
        all_multipliers[self.rows] = self.aggregation.multipliers(multipliers) / self.scale
        return all_counts, all_multipliers

    def proved_zeros(self, form: LinearForm, directions: Iterable[np.ndarray]) -> np.ndarray:
        """Return upper bounds, in records, of terms that successive directions prove zero; infinite for other terms."""
        fixed, width = with_zeros(form, self.settled, self.restore_directions(directions), self.counts)
        return np.where(fixed & ~self.fixed, width, np.inf)

    def restore_directions(self, directions: Iterable[np.ndarray]) -> list[np.ndarray]:
        """Return directions of the original problem's multipliers, given those of the reduced problem's."""
        originals = []
        for direction in directions:
            restored = np.zeros(len(self.multipliers))
            restored[self.rows] = direction[self.aggregation.row] / self.scale
            originals.append(restored)
        return originals


# Redundant rows, which are implied by others, so that they can be removed with the multiplier 0.


def redundant(form: LinearForm, n_records: float) -> np.ndarray:
    """Mark redundant rows.

    These are

    * inequalities that hold for all counts within the bounds that published rows imply; bounds derived from an
      inequality itself would not prove it redundant,
    * hard rows of knowledge that repeat an earlier row,
    * published rows that depend linearly on earlier ones: one per bucket (Privacy-MaxEnt, Theorem 3), and more if
      terms have been fixed at zero.

    The consistency of the sides of dependent rows is not checked here, since the answer is checked against all rows.
    """
    within = Propagation(form, n_records, unit_of(largest_activity(form, n_records)))
    (low, high), (least, most) = within.sides, within.activity(within.start)
    is_redundant = ~form.is_equation & (least >= low) & (most <= high)
    is_redundant[: form.n_published] = dependent(form)
    is_redundant[form.n_published :] |= repeated(form)
    return is_redundant


def dependent(form: LinearForm) -> np.ndarray:
    """Mark published rows that depend linearly on earlier ones."""
    none = np.zeros(form.n_published, dtype=bool)
    if not form.is_equation[: form.n_published].all():
        return none
    last = last_of_bipartite(form)
    return dependent_by_elimination(form) if last is None else last


def last_of_bipartite(form: LinearForm) -> np.ndarray | None:
    """Mark the last row of each bucket if every term has coefficient 1 in one row of each of two kinds; else None.

    Terms are then the edges of a connected bipartite graph whose vertices are the rows, which have rank n - 1.
    """
    by_term, n = form.published_by_term, form.n_published
    if not n or not (np.diff(by_term.indptr) == 2).all() or not (by_term.data == 1).all():
        return None
    pair = by_term.indices.reshape(-1, 2)
    kinds = np.zeros((2, n), dtype=bool)
    kinds[0, pair.min(axis=1)] = kinds[1, pair.max(axis=1)] = True
    if (kinds[0] & kinds[1]).any():
        return None
    return ~pd.Series(form.bucket[0]).duplicated(keep="last").to_numpy()


def dependent_by_elimination(form: LinearForm) -> np.ndarray:
    """Mark dependent published rows by elimination on the Gram matrices of all buckets, if these are small."""
    n, published = form.n_published, form.published
    none, (block, used) = np.zeros(n, dtype=bool), pd.factorize(form.bucket[0])
    local = pd.Series(block).groupby(block).cumcount().to_numpy()
    width = int(local.max(initial=-1)) + 1
    if not 0 < width <= WIDEST_BLOCK:
        return none
    products = published @ form.published_by_term
    row, column = entry_rows(products), products.indices
    gram = np.zeros((len(used), width, width))
    gram[block[row], local[row], local[column]] = products.data
    size_of = np.einsum("bii->bi", gram).copy()
    zero = np.zeros(size_of.shape, dtype=bool)
    for i in range(width):
        zero[:, i] = gram[:, i, i] <= ZERO_PIVOT * size_of[:, i]
        column = np.where(zero[:, i, None], 0.0, gram[:, :, i])
        pivot = np.where(zero[:, i], 1.0, gram[:, i, i])
        gram -= column[:, :, None] * (column / pivot[:, None])[:, None, :]
    return zero[block, local]


def repeated(form: LinearForm) -> np.ndarray:
    """Mark rows of knowledge with the coefficients and sides of an earlier one, compared by random products."""
    n, distinct = form.n_published, form.known.distinct
    hashes = distinct @ np.random.default_rng(1).uniform(1, 2, distinct.shape[1])
    is_repeated = pd.DataFrame({"low": form.low[n:], "high": form.high[n:], "hash": hashes}).duplicated().to_numpy()
    return is_repeated & (np.arange(len(hashes)) < form.n_hard - n)  # two equal soft rows have twice the cost


def reduce(problem: Problem, most: np.ndarray | None = None, *, keep_small: bool = False) -> Reduced:
    """Fix implied terms, remove buckets without knowledge and redundant rows, and aggregate interchangeable terms.

    With `keep_small`, only implied terms and buckets without knowledge are removed from a small problem: Newton's
    method solves it by one dense factor, which permits redundant rows.
    """
    form, n_records, closed_form = problem.form, problem.n_records, problem.closed_form.counts
    n_rows, n_terms = form.shape
    fixed, values, width, upper = _implied_values(problem, most)
    relevant = relevant_terms(form, fixed, closed_form)
    terms = relevant & ~fixed
    counts = np.where(fixed, values, np.where(relevant, 0.0, closed_form))
    multipliers = problem.start
    determined = form.matvec(np.where(terms, 0.0, counts))
    involved = form.rows_involving(terms)
    tolerance = form.tolerance + (form.absolute_matvec(width) if width.any() else 0.0)
    feasible = involved | (form.residual(counts) <= FEASIBLE_MULTIPLE * tolerance)
    require_feasible(form, feasible, determined, determined)
    if form.penalties is not None and not involved[form.n_hard :].all():
        multipliers[form.n_hard :] = np.where(involved[form.n_hard :], 0.0, settled_multipliers(form, determined))
    restricted, scale = _rescaled(remaining(form, terms, involved, determined), np.minimum(upper, n_records)[terms])
    check_step()
    if keep_small and restricted.shape[0] ** 2 * restricted.shape[1] <= MOST_DENSE_WORK:
        rows, aggregation = np.flatnonzero(involved), Aggregation.identity(restricted)
    else:
        needed = np.flatnonzero(~redundant(restricted, n_records))
        # Rows are sorted by the positions of their buckets' terms, for locality of memory; knowledge comes last.
        place = np.append(first_terms(form)[form.bucket[0]], np.full(n_rows - form.n_published, n_terms + 1))
        needed = needed[np.argsort(place[involved][needed], kind="stable")]
        rows, scale = np.flatnonzero(involved)[needed], scale[needed]
        check_step()
        aggregation = aggregate(restricted.select(needed))
    multipliers[np.setdiff1d(np.flatnonzero(involved), rows)] = 0.0
    return Reduced(terms, rows, aggregation, fixed, counts, multipliers, restricted, width, scale)


def settled_multipliers(form: LinearForm, value: np.ndarray) -> np.ndarray:
    """Return the multipliers of soft rows, given the values of all rows."""
    assert form.penalties is not None
    return form.penalties.multiplier(*(side[form.n_hard :] for side in (form.low, form.high, value)))


def relevant_terms(form: LinearForm, fixed: np.ndarray, closed_form: np.ndarray) -> np.ndarray:
    """Mark the terms of buckets with knowledge or fixed terms, and terms whose solution is not the closed form.

    The closed form is the solution for weights 1; it is NaN if there is none.
    """
    bucket = form.bucket[1]
    relevant = form.known.touched | fixed | (form.weights != 1) | np.isnan(closed_form)
    return (np.bincount(bucket, relevant) > 0)[bucket]


def first_terms(form: LinearForm) -> np.ndarray:
    """Return the first term of each bucket; for buckets without terms, the number of all terms."""
    of_row, bucket = form.bucket
    first = np.full(int(max(bucket.max(initial=0), of_row.max(initial=0))) + 1, form.shape[1])
    np.minimum.at(first, bucket, np.arange(form.shape[1]))
    return first


def fix_implied(problem: Problem) -> Reduced:
    """Fix implied terms as :func:`reduce` does, but keep all rows and all other terms."""
    form = problem.form
    fixed, counts, width, _ = _implied_values(problem)
    determined, error = form.matvec(counts), form.absolute_matvec(width) if width.any() else 0.0
    feasible = form.residual(counts) <= FEASIBLE_MULTIPLE * (form.tolerance + error)
    require_feasible(form, form.rows_involving(~fixed) | feasible, determined, determined)
    return replace(Reduced.identity(form), terms=~fixed, fixed=fixed, counts=counts, width=width)


def _implied_values(
    problem: Problem, most: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return which terms the rows fix, their counts, bounds on the errors of these, and upper bounds of all terms."""
    form, n_terms = problem.form, problem.form.shape[1]
    fixed, counts, width = np.zeros(n_terms, dtype=bool), np.zeros(n_terms), np.zeros(n_terms)
    if form.n_hard == form.n_published:  # without hard knowledge, the closed form has all values
        return fixed, counts, width, np.full(n_terms, np.inf)
    bounds = propagated_bounds(form.hard, problem.n_records, most)
    check_step()
    nearly = bounds.range <= form.zero_tolerance * form.count_scale
    fixed = nearly & negligible(form, bounds.range, largest_coefficients(form, ~nearly)) if nearly.any() else nearly
    counts[fixed], width[fixed] = bounds.values(fixed)
    return fixed, counts, width, bounds.records()[1]


def largest_coefficients(form: LinearForm, terms: np.ndarray) -> np.ndarray:
    """Return the largest absolute coefficient of each row of knowledge over the given terms; 0 if there is none."""
    distinct, is_open = form.known.distinct, form.known.collect(terms) > 0
    return most_by_row(np.where(is_open[distinct.indices], np.abs(distinct.data), 0.0), distinct)


def negligible(form: LinearForm, width: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Mark the terms whose width is negligible in all rows, relative to their largest coefficient of open terms."""
    distinct, size = form.known.distinct, np.abs(form.known.distinct.data)
    of_row = largest[entry_rows(distinct)]
    of_class = np.zeros(distinct.shape[1])
    np.maximum.at(of_class, distinct.indices, np.divide(size, of_row, out=np.ones(len(size)), where=of_row > 0))
    effect = width * of_class[form.known.of_term]
    return effect <= form.zero_tolerance * form.count_scale


def _rescaled(form: LinearForm, upper: np.ndarray) -> tuple[LinearForm, np.ndarray]:
    """Rescale rows of knowledge after terms have been removed; also return the divisor of each row.

    Rows are divided by a power of two near their magnitude (:func:`magnitudes`), which is exact; rows whose magnitude is
    at least ``IN_SCALE`` are not changed.
    """
    n, known, scale = form.n_published, form.known, np.ones(form.shape[0])
    distinct = known.distinct
    largest = np.zeros(distinct.shape[1])
    np.maximum.at(largest, known.of_term, upper)
    magnitude = magnitudes(distinct, largest)
    small = (magnitude > 0) & (magnitude < IN_SCALE)
    scale[n:][small] = 2.0 ** np.floor(np.log2(magnitude[small]))
    if (scale == 1).all():
        return form, scale
    coefficients = SplitMatrix(form.published, known.divided(scale[n:]))
    of_rows = {name: getattr(form, name) / scale for name in OF_ROWS}
    penalties = None if form.penalties is None else form.penalties.scaled(1 / scale[form.n_hard :])
    return replace(form, coefficients=coefficients, penalties=penalties, **of_rows), scale


def magnitudes(rows: sp.csr_array, upper: np.ndarray) -> np.ndarray:
    """Return the largest |a_j| u_j of each row divided by its largest u_j, where u_j are upper bounds; 0 if all are 0."""
    records = upper[rows.indices]
    activity, most = most_by_row(np.abs(rows.data) * records, rows), most_by_row(records, rows)
    return np.divide(activity, most, out=np.zeros(len(most)), where=most > 0)


def remaining(
    form: LinearForm, terms: np.ndarray, rows: np.ndarray, determined: np.ndarray, error: np.ndarray | None = None
) -> LinearForm:
    """Restrict a problem to some rows and terms, given the values of all other terms."""
    if terms.all() and rows.all():
        return form
    smaller = form.select(rows)
    smaller = smaller if terms.all() else smaller.select_terms(np.flatnonzero(terms))
    side_error = smaller.side_error if error is None else smaller.side_error + error[rows]
    low, high = smaller.low - determined[rows], smaller.high - determined[rows]
    return replace(smaller, low=low, high=high, side_error=side_error)
