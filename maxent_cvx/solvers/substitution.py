"""Elimination of large coefficients from rows of knowledge by subtracting multiples of published equations.

Two examples of rows in which a large coefficient hides the others:

* c P(Flu | male) + P(any disease) = 1 + 0.2 c. As published, P(any disease) = 1, so that the row states
  P(Flu | male) = 0.2; but if c is small, its largest coefficients belong to a sum that is already known.
* A sum of incomes over some people of a bucket in which one income is 10^10. If it is among them, the number x of these
  people with that income is 1 up to about 10^-5. The other information of the row concerns the other incomes and 1 - x,
  and is lost in the roundoff of 10^10 x.

Multiples of published equations are subtracted in rational arithmetic, and every coefficient is rounded once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._utils.errors import Infeasible
from .._utils.tables import densely
from .form import OF_ROWS, LinearForm, RowOperations, RowOrigin
from .parameters import PLACES
from .presolve import magnitudes, term_bounds
from .sparse import canonical, entry_rows, least_by_row, most_by_row

#: A coefficient hides another one in the same row that is smaller by this ratio.
HIDING_RATIO = 100.0
#: An equation is subtracted if it reduces the largest possible contribution of one term to this share.
LEAST_REDUCTION = 0.25
#: The largest factor by which a point that nearly satisfies the published rows may exceed the bounds that they imply.
EXCESS = 2.0

# One row in rational arithmetic: as typed, and after multiples of equations have been subtracted.


@dataclass(frozen=True, eq=False)
class RationalRow:
    """A row ``low <= sum over i of values[value_index[i]] * x[terms[i]] <= high`` over the counts x."""

    terms: np.ndarray  # the terms with a coefficient, ascending
    value_index: np.ndarray  # one per term: the position of its coefficient in `values`
    values: list[Fraction]  # the distinct coefficients
    low: Fraction | None  # the lower side, in records; None if missing
    high: Fraction | None
    constant: Fraction = Fraction(0)  # the constant subtracted from both sides so far, in records

    @classmethod
    def from_origin(cls, origin: RowOrigin, row: int, n_records: float) -> RationalRow:
        """Convert a row over probabilities, as typed, to counts; every double is taken as an exact rational number."""
        typed = origin.coefficients(row)
        terms = np.concatenate([np.empty(0, dtype=np.int64), *(at for _, at in typed)])
        value_index = np.repeat(np.arange(len(typed)), [len(at) for _, at in typed])
        order, n = np.argsort(terms), Fraction(n_records)
        low, high = (Fraction(side) * n if math.isfinite(side) else None for side in origin.sides(row))
        return cls(terms[order], value_index[order], [a for a, _ in typed], low, high)

    def coefficient(self, term: int) -> Fraction:
        """Return the coefficient of a term, 0 if it has none."""
        i = int(np.searchsorted(self.terms, term))
        return self.values[self.value_index[i]] if i < len(self.terms) and self.terms[i] == term else Fraction(0)

    def minus_equations(
        self, multiples: Sequence[Fraction], counts: Sequence[Fraction], equations: sp.csr_array
    ) -> RationalRow:
        """Subtract ``multiples[k]`` times equation k, ``equations[k] @ x == counts[k]``, for every k."""
        distinct = [Fraction(0), *dict.fromkeys(multiples)]
        number = {a: i for i, a in enumerate(distinct)}
        terms, place = np.unique(np.concatenate([self.terms, equations.indices]), return_inverse=True)
        kept, subtracted = np.zeros(len(terms), dtype=np.int64), np.zeros(len(terms), dtype=np.int64)
        kept[place[: len(self.terms)]] = self.value_index + 1
        of_equation = np.array([number[a] for a in multiples], dtype=np.int64)
        subtracted[place[len(self.terms) :]] = of_equation[entry_rows(equations)]
        # A term's new coefficient depends only on the pair (its own coefficient, the multiple).
        pairs, value_index = np.unique(kept * len(distinct) + subtracted, return_inverse=True)
        before = [Fraction(0), *self.values]
        values = [before[pair // len(distinct)] - distinct[pair % len(distinct)] for pair in pairs.tolist()]
        by = sum((a * n for a, n in zip(multiples, counts, strict=True)), Fraction(0))
        low, high = (None if side is None else side - by for side in (self.low, self.high))
        return RationalRow(terms, value_index, values, low, high, self.constant + by)

    def scaled(self, by: Fraction) -> RationalRow:
        """Multiply the row by a positive number."""
        low, high = (None if side is None else side * by for side in (self.low, self.high))
        return RationalRow(self.terms, self.value_index, [a * by for a in self.values], low, high, self.constant * by)

    @property
    def coefficients(self) -> np.ndarray:
        """Coefficients of :attr:`terms` as doubles, each rounded once."""
        return np.array([float(a) for a in self.values], dtype=float)[self.value_index]

    @property
    def sides(self) -> tuple[float, float]:
        """Sides as doubles, each rounded once; infinite if missing."""
        return -math.inf if self.low is None else float(self.low), math.inf if self.high is None else float(self.high)

    @property
    def rounding_error(self) -> tuple[np.ndarray, float]:
        """Absolute rounding error of each of :attr:`coefficients`, and the larger one of :attr:`sides`."""
        errors = np.array([float(abs(Fraction(float(a)) - a)) for a in self.values], dtype=float)[self.value_index]
        sides = [side for side in (self.low, self.high) if side is not None]
        return errors, float(max((abs(Fraction(float(side)) - side) for side in sides), default=0))


# Pivots: the published equation that is subtracted from a row, and the term whose coefficient it eliminates.


class Equations(NamedTuple):
    """A block of published rows with coefficients 1, no two of which have a term in common."""

    first: int  # the number of the first of these rows among all rows
    matrix: sp.csr_array  # shape (rows, terms)
    # One per term: the row of the block with the term, if it is an equation with an exact integer side; otherwise
    # -1.
    of_term: np.ndarray


class Pivots(NamedTuple):
    """For pairs of a row and an equation, the term of the row that the equation eliminates."""

    row: np.ndarray  # one per pair
    equation: np.ndarray
    term: np.ndarray
    equations: Equations

    def multiples(self, rows: sp.csr_array) -> sp.csr_array:
        """Return the multiple of each equation to subtract from each row: the coefficient of the pivot term."""
        a = np.asarray(canonical(rows)[self.row, self.term]).ravel()
        return sp.csr_array((a, (self.row, self.equation)), shape=(rows.shape[0], self.equations.matrix.shape[0]))


def equation_blocks(form: LinearForm) -> list[Equations]:
    """Return the blocks of hard constraints with coefficients 1 whose rows have no term in common."""
    blocks = []
    ends = np.empty(0, dtype=int) if form.origin is None else form.origin.starts
    for start, end in itertools.pairwise(ends[ends <= form.n_facts].tolist()):
        matrix = form.rows(np.arange(start, end))
        side = form.low[start:end]
        exact = (side == form.high[start:end]) & (np.rint(side) == side) & (form.side_error[start:end] == 0)
        of_term = np.full(form.shape[1], -1)
        of_term[matrix.indices] = np.where(exact, np.arange(end - start), -1)[entry_rows(matrix)]
        if (matrix.data == 1).all() and len(np.unique(matrix.indices)) == matrix.nnz:
            blocks.append(Equations(start, matrix, of_term))
    return blocks


def pivots(rows: sp.csr_array, equations: Equations, upper: np.ndarray) -> Pivots:
    """Choose pivots for the pairs of a row and an equation if elimination reduces the largest contribution.

    The contribution of a term to a row is |coefficient| times the term's upper bound. The largest one over the terms of
    the equation must fall to the share ``LEAST_REDUCTION`` or less.
    """
    pairs = largest_terms(rows, equations, upper)
    most = LEAST_REDUCTION * pairs.contribution
    # The remainder of the common terms needs no matrix product, and is too large for most rows.
    possible = np.flatnonzero(_left_of_common(rows, pairs, upper) <= most)
    row, equation = np.divmod(pairs.pair[possible], equations.matrix.shape[0])
    tried = Pivots(row, equation, rows.indices[pairs.entry[possible]], equations)
    if not len(row):
        return tried
    rows_with, place = np.unique(row, return_inverse=True)
    multiples = Pivots(place, equation, tried.term, equations).multiples(chosen := rows[rows_with])
    remainder = largest_terms(sp.csr_array(chosen - multiples @ equations.matrix), equations, upper)
    after = np.zeros(len(rows_with) * equations.matrix.shape[0])
    after[remainder.pair] = remainder.contribution
    better = after[place * equations.matrix.shape[0] + equation] <= most[possible]
    return Pivots(row[better], equation[better], tried.term[better], equations)


class Pairs(NamedTuple):
    """Pairs of a row and an equation with a common term."""

    pair: np.ndarray  # row number times the number of equations, plus the equation's number
    # One per pair: the entry of the row to eliminate: among those whose contribution is near the largest, the one
    # with the smallest coefficient, so that subtracting this multiple adds little to the other terms.
    entry: np.ndarray
    # One per pair: the largest |coefficient| times upper bound over the common terms, records.
    contribution: np.ndarray
    common: np.ndarray  # the entries of all common terms, and the pair of each
    of_common: np.ndarray


def largest_terms(rows: sp.csr_array, equations: Equations, upper: np.ndarray) -> Pairs:
    """Find a pivot for every row and equation with a common term."""
    equation = equations.of_term[rows.indices]
    inside = np.flatnonzero(equation >= 0)
    sizes = np.abs(rows.data[inside])
    pair = entry_rows(rows)[inside] * np.int64(equations.matrix.shape[0]) + equation[inside]
    at = densely(pair)
    pairs = np.empty(int(at.max(initial=-1)) + 1, dtype=np.int64)
    pairs[at] = pair
    contribution, largest = sizes * upper[rows.indices[inside]], np.zeros(len(pairs))
    np.maximum.at(largest, at, contribution)
    near = np.flatnonzero(contribution >= LEAST_REDUCTION * largest[at])
    least = np.full(len(pairs), np.inf)
    np.minimum.at(least, at[near], sizes[near])
    chosen = near[sizes[near] == least[at[near]]][::-1]
    entry = np.zeros(len(pairs), dtype=np.int64)
    entry[at[chosen]] = inside[chosen]  # keeps the first of several
    return Pairs(pairs, entry, largest, inside, at)


def _left_of_common(rows: sp.csr_array, pairs: Pairs, upper: np.ndarray) -> np.ndarray:
    """Return the largest |coefficient| times upper bound after elimination, over common terms of each pair; records."""
    remainder = np.abs(rows.data[pairs.common] - rows.data[pairs.entry][pairs.of_common])
    largest = np.zeros(len(pairs.pair))
    np.maximum.at(largest, pairs.of_common, remainder * upper[rows.indices[pairs.common]])
    return largest


# Subtraction of multiples of equations from the rows as typed, in rational arithmetic with one rounding.


def rewritten(
    form: LinearForm, n_records: int, rows: np.ndarray, chosen: np.ndarray, steps: Sequence[Pivots], upper: np.ndarray
) -> LinearForm:
    """Apply the pivots to some rows, one step after the other, and rescale these rows.

    A row is not changed if its new coefficients exceed the range of doubles.
    """
    new: dict[str, Any] = {name: getattr(form, name).copy() for name in OF_ROWS}
    factors, rewritten_rows = np.ones(form.shape[0]), {}
    subtracted: list[tuple[int, int, float]] = []
    origin = form.origin
    assert origin is not None
    most = EXCESS * np.minimum(form.upper_bound, n_records)
    for i in chosen.tolist():
        row = int(rows[i])
        first = RationalRow.from_origin(origin, row, n_records)
        combination, equations = _eliminated(first, i, steps, form.low)
        magnitude = _row_magnitude(combination, upper) or n_records / float(form.scale[row])  # no terms: keep its scale
        scale = Fraction(2) ** -math.floor(math.log2(magnitude))  # division by a power of two is exact
        combination = combination.scaled(scale)
        try:
            (low, high), (error, error_of_sides) = combination.sides, combination.rounding_error
            coefficients = combination.coefficients
            shift, new_scale = float(combination.constant), float(n_records * scale)
        except OverflowError:
            continue
        side_error = error @ most[combination.terms] + error_of_sides
        if not origin.is_exact(row):
            source, sizes = PLACES * float(scale), np.abs(first.coefficients)
            largest_side = max(filter(math.isfinite, map(abs, first.sides)), default=0.0)
            side_error += source * (sizes @ most[first.terms] + largest_side)
            error = np.append(error, source * sizes.max(initial=0.0))
        rewritten_rows[row] = combination.terms, coefficients
        new["low"][row], new["high"][row] = low, high
        new["scale"][row], new["shift"][row] = new_scale, shift
        new["side_error"][row], new["coefficient_error"][row] = side_error, error.max(initial=0.0)
        factors[row] = new_scale / form.scale[row]
        subtracted += [(row, equation, float(a)) for equation, a in equations]
    if not rewritten_rows:
        return form
    at = tuple(np.array([item[k] for item in subtracted], dtype=np.int64) for k in (0, 1))
    scaled = np.array([item[2] for item in subtracted]) * form.scale[at[0]] / n_records
    operations = RowOperations(sp.csr_array((scaled, at), shape=(len(factors), len(factors))), factors)
    matrix = _with_rows(form.matrix, rewritten_rows)
    return replace(form, coefficients=matrix, operations=operations, typed=form, **new)


def _eliminated(
    row: RationalRow, i: int, steps: Sequence[Pivots], sides: np.ndarray
) -> tuple[RationalRow, list[tuple[int, Fraction]]]:
    """Apply the pivots of row i; also return the numbers of the equations subtracted, and their multiples."""
    subtracted = []
    for step in steps:
        entries = slice(*np.searchsorted(step.row, [i, i + 1]))
        multiples = [row.coefficient(j) for j in step.term[entries].tolist()]
        numbers = step.equations.first + step.equation[entries]
        counts = [Fraction(n) for n in sides[numbers].tolist()]
        row = row.minus_equations(multiples, counts, step.equations.matrix[step.equation[entries]])
        subtracted += list(zip(numbers.tolist(), multiples, strict=True))
    return row, subtracted


def _row_magnitude(row: RationalRow, upper: np.ndarray) -> float:
    """Return the largest |a_j| u_j of a row divided by its largest u_j, where u_j are upper bounds; 0 without terms."""
    sizes = np.abs(row.coefficients)
    most = upper[row.terms]
    largest = float(np.max(most, where=sizes > 0, initial=0.0))
    return float(np.max(sizes * most)) / largest if largest else 0.0


def _with_rows(matrix: sp.csr_array, replaced: dict[int, tuple[np.ndarray, np.ndarray]]) -> sp.csr_array:
    """Replace some rows of a matrix, given the terms and coefficients of each."""
    kept = np.ones(matrix.shape[0])
    kept[list(replaced)] = 0.0
    row = np.repeat(list(replaced), [len(terms) for terms, _ in replaced.values()])
    terms, coefficients = (np.concatenate(column) for column in zip(*replaced.values(), strict=True))
    rewritten = sp.csr_array(
        sp.diags_array(kept) @ matrix + sp.csr_array((coefficients, (row, terms)), shape=matrix.shape)
    )
    rewritten.eliminate_zeros()
    rewritten.sort_indices()
    return rewritten


def substituted(form: LinearForm, n_records: int) -> LinearForm:
    """Rewrite the rows of knowledge in which large coefficients hide others; the feasible set does not change."""
    uneven = _uneven(form)
    if not len(uneven):
        return form
    blocks = equation_blocks(form)
    try:
        upper = _bounds(form, n_records, uneven, blocks)
    except Infeasible:
        return form  # the solve will find and explain the contradiction
    rows = remainder = form.rows(uneven)
    steps: list[Pivots] = []
    for _ in range(2):  # twice, since an earlier block may eliminate coefficients left by a later one
        for equations in blocks:
            step = pivots(remainder, equations, upper)
            if len(step.row):
                steps.append(step)
                remainder = sp.csr_array(remainder - step.multiples(remainder) @ equations.matrix)
        if not steps:
            break
    remainder.eliminate_zeros()
    chosen = np.flatnonzero(magnitudes(remainder, upper) <= LEAST_REDUCTION * magnitudes(rows, np.ones(len(upper))))
    return rewritten(form, n_records, uneven, chosen, steps, upper) if len(chosen) else form


def _uneven(form: LinearForm) -> np.ndarray:
    """Return the hard rows of knowledge whose coefficients differ in absolute value, as stored or as typed."""
    known, n = form.known.distinct, form.n_published
    sizes = np.abs(known.data)
    is_uneven = np.zeros(form.shape[0], dtype=bool)
    is_uneven[n:] = most_by_row(sizes, known) > least_by_row(sizes, known)
    if form.origin is not None:
        for row in form.origin.typed:
            is_uneven[row] |= len({abs(a) for a, _ in form.origin.coefficients(int(row))}) > 1
    is_uneven[: form.n_facts] = is_uneven[form.n_hard :] = False
    return np.flatnonzero(is_uneven)


def _bounds(form: LinearForm, n_records: int, uneven: np.ndarray, blocks: Sequence[Equations]) -> np.ndarray:
    """Bound every term from above, by the rows as they are and after elimination of each block's large pivots.

    A row may imply no bound before elimination, and a tight one after: if one of some people in a bucket has the
    income 10^10, the row bounds none of them, but implies that none of the other people of the bucket has it.
    """
    upper, rows = term_bounds(form.hard, n_records)[1], form.rows(uneven)
    sizes = np.abs(rows.data)
    least = least_by_row(sizes, rows)
    if not (most_by_row(sizes, rows) > HIDING_RATIO * least).any():
        return upper
    for equations in blocks:
        pair, entry, *_ = largest_terms(rows, equations, upper)
        hiding = sizes[entry] > HIDING_RATIO * least[pair // equations.matrix.shape[0]]
        row, equation = np.divmod(pair[hiding], equations.matrix.shape[0])
        if not len(row):
            continue
        multiples = Pivots(row, equation, rows.indices[entry[hiding]], equations).multiples(rows)
        value = multiples @ form.low[equations.first : equations.first + multiples.shape[1]]
        remainder = sp.csr_array(rows - multiples @ equations.matrix)
        hard, knowledge = form.select(np.arange(form.n_facts)), form.select(uneven)
        tried = replace(
            form.select(np.concatenate([np.arange(form.n_facts), uneven])),
            coefficients=sp.csr_array(sp.vstack([hard.matrix, remainder], format="csr")),
            low=np.concatenate([hard.low, knowledge.low - value]),
            high=np.concatenate([hard.high, knowledge.high - value]),
            side_error=np.concatenate([hard.side_error, knowledge.side_error + PLACES * (n_records + np.abs(value))]),
        )
        upper = np.minimum(upper, term_bounds(tried, n_records)[1])
    return upper
