"""Aggregation of interchangeable or proportional terms into one variable, and of their published rows into one row.

Both ways to aggregate have an exact inverse for counts and multipliers:

* **Proportional rows.** QI values (or sensitive values) of a bucket that no knowledge distinguishes share one
  conditional distribution over the rest of the bucket. Their rows are merged; a merged count is divided in
  proportion to the sides of the original rows.
* **Equitable partition.** Colour refinement (Grohe, Kersting, Mladenov and Selman, 2014) finds rows and terms, of whole
  buckets for instance, that have the same sides, weights and neighbours. As the objective is strictly concave, terms of
  one colour have the same value in the solution; n of them become one variable of weight n.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .columns import SplitMatrix, bits, scramble
from .form import LinearForm
from .monitor import check_step
from .sparse import compact, entry_rows

#: Rounds of aggregating values; each round merges values along one axis of the buckets.
VALUE_ROUNDS = 4
#: Rounds of colour refinement while terms are aggregated.
COLOUR_ROUNDS = 30
#: The smallest share of the terms that aggregation must save, and twice the smallest share of the rows.
LEAST_SAVING = 0.1

# Published rows that can be merged: a colouring of the rows, found by hashing.
#
# The hash of a row or term is the sum of one 64-bit number per neighbour, so that the order of neighbours does not
# matter. Different neighbourhoods are treated as equal only if their hashes collide; every answer is checked against
# all rows.


def proportional_rows(form: LinearForm) -> np.ndarray | None:
    """Number the published rows so that rows with the same number can be merged; return None if too few can be.

    Two rows can be merged if they are equations with coefficients 1 and positive sides, and if there is a bijection
    between their terms that preserves everything but these rows: weights, columns of knowledge, other published rows.
    The values of corresponding terms are then in the ratio of the sides. No term may be in two rows that are merged,
    so that one call merges values along one axis of a bucket, and the next call along the other axis.
    """
    by_row, by_term, n = form.published, form.published_by_term, form.n_published
    number = scramble(np.arange(n))  # one pseudo-random number per row
    of_entry = scramble(number[entry_rows(by_row)] ^ bits(by_row.data))
    term = row_sums(scramble(number[by_term.indices] ^ bits(by_term.data)), by_term) + column_hashes(form)
    others = row_sums(scramble(term[by_row.indices] - of_entry), by_row)  # hash of the terms without this row
    ones = np.bincount(entry_rows(by_row), by_row.data != 1, n) == 0
    able = ones & (form.low[:n] == form.high[:n]) & (form.low[:n] > 0)
    others = np.where(able, others, number)
    kind = pd.factorize(others)[0]
    repeated = (np.bincount(kind) > 1)[kind]
    # No term may be in two merged rows: each term keeps its first (or its last) candidate row.
    orders = [_foremost(by_row, by_term, kind, repeated, order) for order in (np.arange(n), np.arange(n)[::-1])]
    chosen = max(orders, key=np.count_nonzero)
    saved = np.count_nonzero(chosen) - len(np.unique(kind[chosen]))
    return pd.factorize(np.where(chosen, others, number))[0] if saved > LEAST_SAVING * n / 2 else None


def _foremost(
    by_row: sp.csr_array, by_term: sp.csr_array, kind: np.ndarray, repeated: np.ndarray, order: np.ndarray
) -> np.ndarray:
    """Mark the kinds whose rows are all first, in the given order, among the candidate rows of each of their terms."""
    candidate = np.where(repeated, order, len(order))
    first = np.minimum.reduceat(np.append(candidate[by_term.indices], len(order)), by_term.indptr[:-1])
    follows = candidate[entry_rows(by_row)] != first[by_row.indices]
    out = repeated & (np.bincount(entry_rows(by_row), follows, len(order)) == 0)
    return out & (np.bincount(kind, ~out) == 0)[kind]


def equitable_partition(form: LinearForm) -> np.ndarray | None:
    """Colour the published rows by colour refinement: rows of one colour, and their terms, are interchangeable.

    Rows begin with the colour of their sides, terms with that of their weight and column of knowledge. Each round
    recolours terms by the colours of their rows, and rows by those of their terms, until nothing changes.
    """
    by_row, by_term, n = form.published, form.published_by_term, form.n_published
    of_sides = scramble(bits(form.low[:n]) ^ scramble(bits(form.high[:n])))
    of_columns = column_hashes(form)
    row, n_before = of_sides, 0
    by_row_data, by_term_data = bits(by_row.data), bits(by_term.data)
    for _ in range(COLOUR_ROUNDS):
        check_step()
        term = scramble(of_columns + row_sums(scramble(row[by_term.indices] ^ by_term_data), by_term))
        row = scramble(of_sides + row_sums(scramble(term[by_row.indices] ^ by_row_data), by_row))
        colour, distinct = pd.factorize(row)
        if len(distinct) == n_before:
            return colour
        if len(distinct) > (1 - LEAST_SAVING) * n:
            return None
        n_before = len(distinct)
    return None


def column_hashes(form: LinearForm) -> np.ndarray:
    """Hash the weight and the knowledge column of every term, but not its published rows."""
    return scramble(~scramble(form.known.of_term) ^ bits(form.weights))  # "~" avoids the hashes of row numbers


def row_sums(of_entry: np.ndarray, matrix: sp.csr_array) -> np.ndarray:
    """Sum 64-bit integers, one per entry, over every row, modulo 2^64."""
    sums = np.concatenate([np.zeros(1, dtype=of_entry.dtype), np.cumsum(of_entry)])
    return sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]]


@dataclass(frozen=True, eq=False)
class Aggregation:
    """An aggregated problem, and the maps between its solution and that of the original problem."""

    form: LinearForm  # the aggregated problem
    term: np.ndarray  # one per original term: its aggregated term; `row` likewise
    row: np.ndarray
    share: np.ndarray  # one per original term: its share of the count of its aggregated term
    offset: np.ndarray  # one per original row: its multiplier minus that of its aggregated row

    @classmethod
    def identity(cls, form: LinearForm) -> Aggregation:
        """Return the aggregation that changes nothing."""
        n_rows, n_terms = form.shape
        return cls(
            form,
            np.arange(n_terms, dtype=np.int32),
            np.arange(n_rows),
            np.broadcast_to(1.0, n_terms),
            np.broadcast_to(0.0, n_rows),
        )

    def then(self, other: Aggregation) -> Aggregation:
        """Compose with an aggregation of the aggregated problem."""
        share = self.share * other.share[self.term]
        offset = self.offset + other.offset[self.row]
        return Aggregation(other.form, other.term[self.term], other.row[self.row], share, offset)

    def counts(self, aggregated: np.ndarray) -> np.ndarray:
        """Return the counts of the original terms, given those of the aggregated terms."""
        return self.share * aggregated[self.term]

    def multipliers(self, aggregated: np.ndarray) -> np.ndarray:
        """Return the multipliers of the original rows, given those of the aggregated rows."""
        return aggregated[self.row] + self.offset

    def aggregated_multipliers(self, multipliers: np.ndarray) -> np.ndarray:
        """Return the multipliers of the aggregated rows, each from one of its original rows."""
        multipliers_of_rows = np.empty(self.form.shape[0])
        multipliers_of_rows[self.row] = multipliers - self.offset
        return multipliers_of_rows


def aggregate(form: LinearForm) -> Aggregation:
    """Aggregate a problem in both ways; return the identity if too few terms would be saved."""
    done = Aggregation.identity(form)
    if not form.published.nnz:
        return done
    for _ in range(VALUE_ROUNDS):
        check_step()
        kind = proportional_rows(done.form)
        if kind is None:
            break
        check_step()
        done = done.then(_merge_rows(done.form, kind, proportional=True))
    check_step()
    colour = equitable_partition(done.form)
    check_step()
    if colour is not None:
        done = done.then(_merge_rows(done.form, colour, proportional=False))
    return done if done.form.shape[1] <= (1 - LEAST_SAVING) * form.shape[1] else Aggregation.identity(form)


def _merge_rows(form: LinearForm, kind: np.ndarray, *, proportional: bool) -> Aggregation:
    """Merge the published rows of each kind, and the terms that have the same rows and columns afterwards."""
    n, by_term = form.n_published, form.published_by_term
    n_kinds = int(kind.max()) + 1
    hashes = row_sums(scramble(scramble(kind)[by_term.indices] ^ bits(by_term.data)), by_term) + column_hashes(form)
    term = pd.factorize(hashes)[0]
    size = np.bincount(term)
    example = np.empty(len(size), dtype=np.int64)
    example[term] = np.arange(len(term))
    low, high = (np.bincount(kind, side[:n], n_kinds) for side in (form.low, form.high))
    offset = np.zeros(form.shape[0])
    if proportional:
        unmerged = (np.bincount(kind) == 1)[kind]  # unmerged rows may be inequalities
        part = np.divide(form.low[:n], low[kind], out=np.ones(n), where=~unmerged)
        portion = np.exp(np.bincount(entry_rows(by_term), np.log(part)[by_term.indices], len(term)))
        offset[:n] = np.log(part)
    else:
        portion = np.ones(len(term))
    total = np.bincount(term, portion)
    share, weights = portion / total[term], form.weights[example] * total
    chosen = by_term[example]
    published = sp.csr_array((chosen.data, (kind[chosen.indices], entry_rows(chosen))), shape=(n_kinds, len(size)))
    smaller = replace(
        form,
        coefficients=SplitMatrix(compact(published), form.known.columns(example)),
        low=np.concatenate([low, form.low[n:]]),
        high=np.concatenate([high, form.high[n:]]),
        scale=np.ones(n_kinds + form.shape[0] - n),
        shift=np.zeros(n_kinds + form.shape[0] - n),
        coefficient_error=np.concatenate([np.zeros(n_kinds), form.coefficient_error[n:]]),
        side_error=np.concatenate([np.bincount(kind, form.side_error[:n], n_kinds), form.side_error[n:]]),
        n_published=n_kinds,
        n_facts=n_kinds + form.n_facts - n,
        weights=weights,
    )
    row = np.concatenate([kind, n_kinds + np.arange(form.shape[0] - n)])
    return Aggregation(smaller, term, row, share, offset)
