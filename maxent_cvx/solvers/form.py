"""The form: maximise sum x log(w / x) subject to low <= A x <= high, with the origin and rounding of every row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from .blocks import BucketBlocks
from .columns import SharedColumns, SplitMatrix
from .costs import Penalties
from .parameters import FEASIBLE, PLACES
from .sparse import (
    absolute,
    components,
    entry_rows,
    least_by_row,
    pattern,
    split_exactly,
    with_entries_in,
    with_ones_of,
)

if TYPE_CHECKING:
    import cvxpy as cp


#: The largest number of coefficients, zeros included, of products with dense arrays; sparse ones take ten times longer.
MOST_DENSE_ENTRIES = 40_000

# The origin of the rows of a system: their names, and their coefficients before any rounding.


#: The distinct coefficients of a row, each with its terms.
Coefficients = tuple[tuple[Fraction, np.ndarray], ...]


def by_coefficient(coefficients: np.ndarray, terms: np.ndarray) -> Coefficients:
    """Collect the terms of each nonzero coefficient; every double is taken as the exact rational number."""
    kept = coefficients != 0
    values, number = np.unique(coefficients[kept], return_inverse=True)
    collected = np.split(terms[kept][np.argsort(number, kind="stable")], np.cumsum(np.bincount(number))[:-1])
    return tuple((Fraction(a), at) for a, at in zip(values.tolist(), collected, strict=False))


class RowOrigin(Protocol):
    """Information about rows beyond their numbers; rows are numbered as in the whole system.

    Rows come in blocks: the rows of one block state the same relation for different groups of people.
    """

    @property
    def starts(self) -> np.ndarray:
        """Numbers of the first row of each block, followed by the number of all rows."""
        ...

    @property
    def labels(self) -> Mapping[str, slice]:
        """Rows of each block by its label, in the order of the blocks."""
        ...

    @property
    def typed(self) -> np.ndarray:
        """Numbers of the rows whose coefficients are available as rational numbers."""
        ...

    def name(self, row: int) -> str:
        """Return the name of a row for messages."""
        ...

    def remedy(self, row: int) -> str:
        """Return what a user can do about a row that contradicts others."""
        ...

    def coefficients(self, row: int) -> Coefficients:
        """Return the coefficients of a row over probabilities, as typed."""
        ...

    def sides(self, row: int) -> tuple[float, float]:
        """Return the lower and the upper side of a row over probabilities, as typed; infinite if missing."""
        ...

    def is_exact(self, row: int) -> bool:
        """Return whether the stored coefficients and sides are the intended ones; False if they were typed rounded."""
        ...


# Elementary row operations on rows of knowledge: subtracting multiples of published equations, and rescaling.


@dataclass(frozen=True, eq=False)
class RowOperations:
    """Row i became ``factors[i] * (row i - sum over k of multiples[i, k] * row k)``; the feasible set is unchanged."""

    multiples: sp.csr_array  # shape (rows, rows): nonzero only for rows k that are not rewritten
    factors: np.ndarray  # one per row: positive

    def transform_multipliers(self, multipliers: np.ndarray) -> np.ndarray:
        """Return the multipliers of the rewritten rows, given those of the original rows."""
        return (multipliers + self.multiples.T @ multipliers) / self.factors

    def restore_multipliers(self, multipliers: np.ndarray) -> np.ndarray:
        """Return the multipliers of the original rows, given those of the rewritten rows."""
        scaled = multipliers * self.factors
        return scaled - self.multiples.T @ scaled


# The linear constraints of a model as one sparse system over counts of records.


#: The attributes of a form with one number per row.
OF_ROWS = ("low", "high", "scale", "shift", "side_error", "coefficient_error")


@dataclass(frozen=True, eq=False)
class LinearForm:
    """Linear constraints ``low <= matrix @ x <= high`` over the counts x = N p, in records.

    Every row is scaled so that its largest coefficient is 1. Its sides and residuals are then in records, whether it
    was typed as a joint or as a conditional probability. Rows of knowledge that were rewritten (`operations`) or
    rescaled by presolve may have a largest coefficient other than 1.
    """

    # Shape (rows, terms): the matrix; or, to save memory, its published rows and the distinct columns of the other
    # rows.
    coefficients: sp.csr_array | SplitMatrix
    low: np.ndarray  # in records; equal to `high` for an equation, infinite if missing
    high: np.ndarray
    scale: np.ndarray  # a side of value v as typed is v * scale - shift records
    # Names of the rows and their numbers as typed, for all rows of the system from which this one was selected.
    origin: RowOrigin | None
    # The number of leading rows that come from the published view. Their connected components are the buckets.
    n_published: int
    # The number of leading rows that are hard constraints: the published rows, and those that state the presence of
    # named people. All further rows are knowledge, any of which may be wrong.
    n_facts: int
    # w > 0, one per term. The objective is sum x log(w / x): the entropy if all weights are 1, otherwise minus the
    # relative entropy with respect to the prior w.
    weights: np.ndarray
    shift: np.ndarray = None  # type: ignore[assignment]  # zeros, unless given
    side_error: np.ndarray = None  # type: ignore[assignment]
    coefficient_error: np.ndarray = None  # type: ignore[assignment]
    # A term that is proved to be at most this many times `count_scale` is treated as zero.
    zero_tolerance: float = FEASIBLE
    # The row operations that improved the scaling of rows. None if rows were selected, since it refers to all rows.
    operations: RowOperations | None = None
    # The costs of missing the last rows, which are soft: the objective is sum x log(w / x) minus these costs. None if
    # all rows are hard.
    penalties: Penalties | None = None
    # The rows before these operations, with the possible rounding errors of the numbers as typed.
    typed: LinearForm | None = None

    def __post_init__(self) -> None:
        for name in ("shift", "side_error", "coefficient_error"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.zeros(len(self.low)))

    @classmethod
    def plain(
        cls, matrix: sp.csr_array, low: np.ndarray, high: np.ndarray, weights: np.ndarray | None = None
    ) -> LinearForm:
        """Build a form of rows over counts without names, published rows or rounding errors."""
        n_rows, n_terms = matrix.shape
        weights = np.ones(n_terms) if weights is None else weights
        return cls(matrix, low, high, np.ones(n_rows), None, 0, 0, weights)

    def select(self, rows: np.ndarray) -> LinearForm:
        """Keep the given rows in the given order, published first and soft rows last; `origin` is that of all rows."""
        kept = np.flatnonzero(rows) if rows.dtype == bool else rows
        if np.array_equal(kept, np.arange(self.shape[0])):
            return self
        n_published, n_facts, n_hard = (
            int(np.searchsorted(kept >= n, True)) for n in (self.n_published, self.n_facts, self.n_hard)
        )
        soft = None if self.penalties is None else self.penalties.select(kept[n_hard:] - self.n_hard)
        return replace(
            self,
            coefficients=self._selected(kept, n_published),
            n_published=n_published,
            n_facts=n_facts,
            operations=None,
            typed=None,
            penalties=soft if soft is not None and len(soft) else None,
            **{name: getattr(self, name)[kept] for name in OF_ROWS},
        )

    def _selected(self, rows: np.ndarray, n_published: int) -> sp.csr_array | SplitMatrix:
        """Return the coefficients of the given rows, the first of which are published."""
        n = self.n_published
        if self._split is None and not np.array_equal(rows[n_published:], np.arange(n, self.shape[0])):
            return self.matrix[rows]
        published = with_ones_of(self.published[rows[:n_published]], self.published)
        return SplitMatrix(published, self.known.select(rows[n_published:] - n))

    def select_terms(self, terms: np.ndarray) -> LinearForm:
        """Keep the coefficients of the given terms, in the given order."""
        split = self._split
        kept = self.matrix[:, terms] if split is None else split.columns(terms)
        return replace(self, coefficients=kept, weights=self.weights[terms])

    def select_knowledge(self, rows: np.ndarray) -> LinearForm:
        """Keep all hard constraints, and the rows of knowledge with the given numbers, in ascending order."""
        return self.select(np.concatenate([np.arange(self.n_facts), np.sort(rows)]))

    def relax_published(self) -> LinearForm:
        """Keep only the first block of published rows hard (the records of QI tuples); make the others knowledge."""
        n = 0 if self.origin is None else int(self.origin.starts[1])
        return replace(self, n_published=n, n_facts=n)

    @property
    def n_hard(self) -> int:
        """Number of leading rows that are hard; all further rows are soft."""
        return self.shape[0] - (0 if self.penalties is None else len(self.penalties))

    @cached_property
    def hard(self) -> LinearForm:
        """The form without soft rows, with the same row numbers; it determines the feasible set."""
        return self if self.penalties is None else self.select(np.arange(self.n_hard))

    def extend_to_soft(self, direction: np.ndarray) -> np.ndarray:
        """Extend numbers of the hard rows by zeros for the soft rows."""
        return np.concatenate([direction, np.zeros(self.shape[0] - len(direction))])

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and terms."""
        return self.coefficients.shape

    @property
    def _split(self) -> SplitMatrix | None:
        """Coefficients if published rows are stored separately and are still the same rows; otherwise None."""
        split = self.coefficients
        return split if isinstance(split, SplitMatrix) and split.published.shape[0] == self.n_published else None

    @property
    def matrix(self) -> sp.csr_array:
        """All rows as one sparse matrix; if they are stored separately, it is computed at every access."""
        split = self.coefficients
        return split.rows(np.arange(split.shape[0])) if isinstance(split, SplitMatrix) else split

    def rows(self, numbers: np.ndarray) -> sp.csr_array:
        """Return the given rows as a sparse matrix, in the given order."""
        split = self._split
        return self.matrix[numbers] if split is None else split.rows(numbers)

    @property
    def is_equation(self) -> np.ndarray:
        """Mark the rows that are equations."""
        return self.low == self.high

    @property
    def within_rounding(self) -> LinearForm:
        """Rows with sides widened by the possible rounding of the numbers as typed.

        Operations treat the numbers as typed as exact, and magnify their rounding errors.
        """
        if self.operations is None or self.typed is None:
            return self
        error = self.typed.side_error * self.operations.factors
        rewritten = np.append(self.operations.factors[: self.n_hard] != 1, np.zeros(self.shape[0] - self.n_hard, bool))
        error = np.where(rewritten, error, 0.0)
        return replace(self, low=self.low - error, high=self.high + error)

    @property
    def tolerance(self) -> np.ndarray:
        """Feasibility tolerance of each row, in records."""
        size = np.maximum(np.abs(np.where(np.isfinite(self.low), self.low, 0)),
                          np.abs(np.where(np.isfinite(self.high), self.high, 0)))  # fmt: skip
        return FEASIBLE * np.maximum(size, 1.0) + self.side_error

    @cached_property
    def published(self) -> sp.csr_array:
        """Published rows."""
        split = self._split
        return self.matrix[: self.n_published] if split is None else split.published

    @cached_property
    def published_by_term(self) -> sp.csr_array:
        """Published rows, transposed."""
        return with_ones_of(self.published.T.tocsr(), self.published)

    @cached_property
    def known(self) -> SharedColumns:
        """Rows that are not published, with each distinct column stored once."""
        split = self._split
        return SharedColumns(self.matrix[self.n_published :]) if split is None else split.known

    @cached_property
    def bucket(self) -> tuple[np.ndarray, np.ndarray]:
        """Bucket of each published row and of each term; buckets are the components of the published rows."""
        return components(self.published)

    @cached_property
    def bucket_blocks(self) -> BucketBlocks:
        """Published rows as blocks of a block-diagonal matrix."""
        return BucketBlocks(self.published, self.published_by_term, self.bucket[0])

    def clear_cache(self) -> None:
        """Free the data that a solve has derived from the rows (several times their memory); they can be recomputed."""
        for name in ("published_by_term", "bucket", "bucket_blocks", "_components", "upper_bound"):
            self.__dict__.pop(name, None)

    def components(self, terms: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Number the connected components, which are independent subproblems: for each row, and for each term."""
        if terms is None or terms.all():
            return self._components
        pieces = components(with_entries_in(self.published, terms))
        return self._joined(*pieces, self.known.touched & terms)

    @cached_property
    def _components(self) -> tuple[np.ndarray, np.ndarray]:
        """Connected components if all terms connect rows."""
        return self._joined(*self.bucket, self.known.touched)

    def _joined(self, of_row: np.ndarray, of_term: np.ndarray, touched: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Join components of the published rows by the classes of columns of knowledge that the terms have."""
        known, n = self.known, int(max(of_row.max(initial=-1), of_term.max(initial=-1))) + 1
        pairs = np.ones(np.count_nonzero(touched)), (of_term[touched], known.of_term[touched])
        links = sp.csr_array(pairs, shape=(n, known.distinct.shape[1]))
        is_used = np.bincount(known.of_term[touched], minlength=links.shape[1]) > 0
        distinct = known.distinct if is_used.all() else with_entries_in(known.distinct, is_used)
        component = components(sp.vstack([links, distinct], format="csr"))[0]
        return np.concatenate([component[of_row], component[n:]]), component[of_term]

    @cached_property
    def dense(self) -> np.ndarray | None:
        """All coefficients as a dense array, if there are few; otherwise None."""
        if self.shape[0] * self.shape[1] > MOST_DENSE_ENTRIES:
            return None
        return np.vstack([self.published.toarray(), self.known.toarray()])

    def matvec(self, x: np.ndarray) -> np.ndarray:
        """Compute A x."""
        if self.dense is not None:
            return self.dense @ x
        return np.concatenate([self.published @ x, self.known.matvec(x)])

    def exact_matvec(self, x: np.ndarray) -> np.ndarray:
        """Compute A x without the roundoff of long sums, if all coefficients are 1 or -1; see `exact_products`."""
        multiples, rest = split_exactly(x)
        with np.errstate(over="ignore", invalid="ignore"):
            return self.matvec(multiples) + self.matvec(rest)

    def absolute_matvec(self, x: np.ndarray) -> np.ndarray:
        """Compute |A| x."""
        return np.concatenate([absolute(self.published) @ x, absolute(self.known.distinct) @ self.known.collect(x)])

    @property
    def entries(self) -> np.ndarray:
        """Number of terms in each row."""
        size = np.bincount(self.known.of_term, minlength=self.known.distinct.shape[1])
        return np.concatenate([np.diff(self.published.indptr), self.known.pattern @ size]).astype(np.int64)

    def rounding_of_rows(self, mass: np.ndarray) -> np.ndarray:
        """Bound the error of each row's residual due to rounding while the row was built, in records.

        `side_error` is the bound for any counts. Errors of coefficients are multiplied by the counts.
        """
        size = np.maximum(*(np.where(np.isfinite(side), np.abs(side), 0.0) for side in (self.low, self.high)))
        return np.minimum(self.side_error, PLACES * size + self.coefficient_error * mass)

    def mass_of_rows(self, x: np.ndarray) -> np.ndarray:
        """Return the sum of the counts in each row."""
        return np.concatenate([pattern(self.published) @ x, self.known.pattern @ self.known.collect(x)])

    def rows_involving(self, terms: np.ndarray) -> np.ndarray:
        """Mark the rows that have a coefficient on any of the given terms."""
        if not terms.any():
            return np.zeros(self.shape[0], dtype=bool)
        return self.absolute_matvec(terms.astype(float)) > 0

    def rmatvec(self, multipliers: np.ndarray) -> np.ndarray:
        """Compute A' multipliers, one number per term."""
        if self.dense is not None:
            return multipliers @ self.dense
        n = self.n_published
        product = self.published_by_term @ multipliers[:n]
        product += self.known.rmatvec(multipliers[n:])
        return product

    def absolute_rmatvec(self, multipliers: np.ndarray) -> np.ndarray:
        """Compute |A|' multipliers, one number per term."""
        n, known = self.n_published, self.known
        of_class = absolute(known.transposed) @ multipliers[n:]
        return absolute(self.published_by_term) @ multipliers[:n] + of_class[known.of_term]

    def project_to_dual_cone(self, multipliers: np.ndarray) -> np.ndarray:
        """Set to 0 the multipliers m > 0 of rows without a low side, and m < 0 of rows without a high side.

        The multipliers of soft rows are moved between minus and plus the slope of the cost.
        """
        least, most = np.where(np.isfinite(self.high), -np.inf, 0), np.where(np.isfinite(self.low), np.inf, 0)
        if self.penalties is not None:
            slope = self.penalties.slope
            least[self.n_hard :] = np.maximum(least[self.n_hard :], -slope)
            most[self.n_hard :] = np.minimum(most[self.n_hard :], slope)
        return np.clip(multipliers, least, most)

    def exponent(self, multipliers: np.ndarray) -> np.ndarray:
        """Compute log x for the primal point x = w exp(A' m - 1) of the given multipliers."""
        exponent = self.rmatvec(multipliers)
        exponent -= 1
        return exponent + np.log(self.weights) if self.is_weighted else exponent

    @cached_property
    def is_weighted(self) -> bool:
        """Whether some weight differs from 1."""
        return bool((self.weights != 1).any())

    @cached_property
    def upper_bound(self) -> np.ndarray:
        """Least upper bound on each term that a single published row implies, in records; infinite if none does."""
        published, by_term = self.published, self.published_by_term
        subtracts = np.bincount(entry_rows(published), published.data < 0, self.n_published) > 0
        high = np.where(subtracts, np.inf, self.high[: self.n_published])
        return least_by_row(high[by_term.indices] / np.abs(by_term.data), by_term)

    @property
    def count_scale(self) -> np.ndarray:
        """Unit of the roundoff of each term, in records: its upper bound, but at least one."""
        return np.where(np.isfinite(self.upper_bound), np.maximum(self.upper_bound, 1.0), 1.0)

    def residual(self, counts: np.ndarray) -> np.ndarray:
        """Return the violation of each row, in records, >= 0; 0 for soft rows."""
        missed = self.missed(counts)
        missed[self.n_hard :] = 0.0
        return missed

    def missed(self, counts: np.ndarray) -> np.ndarray:
        """Return by how much each row, hard or soft, is missed; in records, >= 0."""
        value = self.exact_matvec(counts)
        return np.maximum(np.maximum(self.low - value, value - self.high), 0.0)

    def costs(self, counts: np.ndarray) -> np.ndarray:
        """Return the cost of each soft row, in nats."""
        if self.penalties is None:
            return np.empty(0)
        return self.penalties.cost(self.missed(counts)[self.n_hard :])

    def name(self, row: int) -> str:
        """Return the name of a row for messages."""
        return f"row {row}" if self.origin is None else self.origin.name(row)

    def remedy(self, row: int) -> str:
        """Return what a user can do about a row that contradicts others."""
        known = self.origin is not None and row < self.origin.starts[-1]
        return self.origin.remedy(row) if known else "correct it, or remove it"  # type: ignore[union-attr]

    def original_multipliers(self, multipliers: np.ndarray) -> np.ndarray:
        """Return the multipliers of the rows before `operations`, given those of the present rows."""
        return multipliers if self.operations is None else self.operations.restore_multipliers(multipliers)

    def transformed_multipliers(self, multipliers: np.ndarray) -> np.ndarray:
        """Return the multipliers of the present rows, given those of the rows before `operations`."""
        return multipliers if self.operations is None else self.operations.transform_multipliers(multipliers)

    def by_label(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """Split an array with one number per row by the labels of the blocks of rows."""
        labels = {} if self.origin is None else self.origin.labels
        return {label: values[rows] for label, rows in labels.items()}


# The problem: maximise sum x log(w / x) over rows, with the solution to the published rows alone.


class ClosedForm(NamedTuple):
    """The solution in closed form to the problem with the published rows only."""

    counts: np.ndarray  # one per term, records; NaN if there is no closed form
    multipliers: np.ndarray  # one per published row


class Groups(NamedTuple):
    """The groups q of the conditional distributions P(s | q) that are of interest."""

    of_term: np.ndarray  # one per term: its group
    records: np.ndarray  # one per group: its number of records


class Settled(NamedTuple):
    """Terms whose value is the same at every feasible point, up to `width`."""

    fixed: np.ndarray  # one per term
    # One per term: a bound on the distance between a fixed term's true value and its count, records.
    width: np.ndarray

    @classmethod
    def none(cls, n_terms: int) -> Settled:
        """Return an object in which no term is settled."""
        return cls(np.zeros(n_terms, dtype=bool), np.zeros(n_terms))


@dataclass(frozen=True, eq=False)
class Convex:
    """Convex, nonlinear constraints on a CVXPY variable of all counts."""

    variable: cp.Variable
    constraints: Sequence[Any]
    names: Sequence[str] = ()  # their names in messages

    @property
    def by_name(self) -> list[tuple[str, Any]]:
        """Constraints with their names."""
        names = self.names or [f"convex constraint {i + 1}" for i in range(len(self.constraints))]
        return list(zip(names, self.constraints, strict=True))

    def select(self, numbers: np.ndarray) -> Convex | None:
        """Return some constraints, by number; None if there are none."""
        chosen = [self.by_name[i] for i in numbers.tolist()]
        return Convex(self.variable, [item for _, item in chosen], [name for name, _ in chosen]) if chosen else None


@dataclass(frozen=True, eq=False)
class Problem:
    """The problem max sum x log(w / x), minus costs of soft rows, subject to low <= A x <= high, with x in records."""

    form: LinearForm  # the rows and the objective's weights w
    closed_form: ClosedForm
    groups: Groups
    convex: Convex | None = field(default=None)  # constraints in addition to the rows

    @property
    def n_records(self) -> float:
        """Number of records N, an upper bound on every term."""
        return float(self.groups.records.sum())

    @property
    def start(self) -> np.ndarray:
        """Initial multipliers of all rows: those of the closed form for published rows, and 0 for knowledge."""
        return np.concatenate([self.closed_form.multipliers, np.zeros(self.form.shape[0] - self.form.n_published)])

    def with_rows(self, form: LinearForm) -> Problem:
        """Replace the rows of knowledge; the published rows must be the same."""
        return replace(self, form=form)

    @property
    def as_typed(self) -> Problem | None:
        """The problem before row operations; None if there were none."""
        return None if self.form.operations is None or self.form.typed is None else self.with_rows(self.form.typed)

    @property
    def hard(self) -> Problem:
        """The problem with its hard rows only, which determine the feasible set."""
        return self if self.form.penalties is None else replace(self, form=self.form.hard)

    def relax_published(self) -> Problem:
        """Treat the published rows as knowledge, except those of the number of records of each QI tuple."""
        form = self.form.relax_published()
        counts, multipliers = self.closed_form
        return replace(self, form=form, closed_form=ClosedForm(counts, multipliers[: form.n_published]))


class Sized:
    """Base class of objects that report the size of their arrays to Dask, by ``sys.getsizeof``."""

    def __sizeof__(self) -> int:
        """Return the bytes of all arrays reachable from this object, each counted once."""
        return object.__sizeof__(self) + bytes_held(vars(self), set())


def bytes_held(value: Any, seen: set[int]) -> int:
    """Return the bytes of the arrays of an object and of the objects that it contains."""
    if id(value) in seen or value is None or isinstance(value, (str, bytes, int, float)):
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return bytes_held(value.base, seen) if isinstance(value.base, np.ndarray) else value.nbytes
    if isinstance(value, (sp.csr_array, sp.csc_array)):
        return sum(bytes_held(part, seen) for part in (value.data, value.indices, value.indptr))
    if isinstance(value, Mapping):
        return sum(bytes_held(element, seen) for element in value.values())
    if isinstance(value, (tuple, list)):
        return sum(bytes_held(element, seen) for element in value)
    return bytes_held(getattr(value, "__dict__", None), seen)
