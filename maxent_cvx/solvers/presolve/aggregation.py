"""Aggregation: terms that no row tells apart become one, and so do the rows that they leave alike.

Two ways, both with an exact way back:

* **QI values** (or sensitive values) of a bucket whose terms no knowledge tells apart share one
  distribution over the rest of the bucket: their rows become one, whose terms are divided again in
  proportion to the rows' values.
* **Buckets**, and anything else, that look the same from everywhere: colour refinement (Grohe,
  Kersting, Mladenov and Selman, 2014) numbers rows and terms until all of one colour have the same
  values and the same neighbours. By concavity they then have the same answer, and n of them weigh n.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..program.linear_form import LinearForm
from ..rows.sparse import entry_rows
from ..tolerances import PRESOLVE

__all__ = ["Aggregation", "aggregate"]


@dataclass(frozen=True, eq=False)
class Aggregation:
    """A smaller problem and the way back.

    Attributes
    ----------
    form : LinearForm
    term, row : ndarray of int
        What each of the original terms and rows has become.
    share : ndarray
        What part of its lump each term is.
    offset : ndarray
        What each row's multiplier is above that of its lump.
    """

    form: LinearForm
    term: np.ndarray
    row: np.ndarray
    share: np.ndarray
    offset: np.ndarray

    @classmethod
    def none(cls, form: LinearForm) -> Aggregation:
        """Leave everything as it is."""
        n_rows, n_terms = form.shape
        return cls(form, np.arange(n_terms), np.arange(n_rows), np.ones(n_terms), np.zeros(n_rows))

    def then(self, other: Aggregation) -> Aggregation:
        """Lump what has been lumped."""
        share = self.share * other.share[self.term]
        offset = self.offset + other.offset[self.row]
        return Aggregation(other.form, other.term[self.term], other.row[self.row], share, offset)

    def counts(self, aggregated: np.ndarray) -> np.ndarray:
        """Divide the lumps' counts among their terms."""
        return self.share * aggregated[self.term]

    def multipliers(self, aggregated: np.ndarray) -> np.ndarray:
        """The multiplier of every row."""
        return aggregated[self.row] + self.offset

    def aggregated(self, multipliers: np.ndarray) -> np.ndarray:
        """A multiplier for every lump of rows: that of one of its rows."""
        found = np.empty(self.form.shape[0])
        found[self.row] = multipliers - self.offset
        return found


def aggregate(form: LinearForm) -> Aggregation:
    """Lump what can be, if it is worth it."""
    done = Aggregation.none(form)
    if not form.published.nnz:
        return done
    for _ in range(PRESOLVE.value_rounds):
        alike = rows_alike(done.form)
        if alike is None:
            break
        done = done.then(merged(done.form, alike, shares=True))
    colours = refine(done.form)
    if colours is not None:
        done = done.then(merged(done.form, colours, shares=False))
    return done if done.form.shape[1] <= (1 - PRESOLVE.least_saving) * form.shape[1] else Aggregation.none(form)


def rows_alike(form: LinearForm) -> np.ndarray | None:
    """Number the published rows so that rows with one number can be merged; None if none can.

    Rows can be merged that are equations with coefficients 1 and positive values, if their terms are
    alike in everything but these rows; and no term may be in two such rows at once, so that the
    values of one axis of a bucket are merged first, and those of the other in the next round.
    """
    by_row, by_term, n = form.published, form.published_by_term, form.n_published
    own = scramble(np.arange(n))  # a random number a row
    of_entry = scramble(own[entry_rows(by_row)] ^ bits(by_row.data))
    term = totals(scramble(own[by_term.indices] ^ bits(by_term.data)), by_term) + marks(form)
    rest = totals(scramble(term[by_row.indices] - of_entry), by_row)
    ones = np.bincount(entry_rows(by_row), by_row.data != 1, n) == 0
    able = ones & (form.low[:n] == form.high[:n]) & (form.low[:n] > 0)
    rest = np.where(able, rest, own)
    kind = pd.factorize(rest)[0]
    several = (np.bincount(kind) > 1)[kind]
    # No term may be in two rows that are merged: either the first or the last of its candidates has precedence.
    orders = [_foremost(by_row, by_term, kind, several, order) for order in (np.arange(n), np.arange(n)[::-1])]
    chosen = max(orders, key=np.count_nonzero)
    saved = np.count_nonzero(chosen) - len(np.unique(kind[chosen]))
    return pd.factorize(np.where(chosen, rest, own))[0] if saved > PRESOLVE.least_saving * n / 2 else None


def _foremost(
    by_row: sp.csr_array, by_term: sp.csr_array, kind: np.ndarray, several: np.ndarray, order: np.ndarray
) -> np.ndarray:
    """Choose the kinds of rows of which each comes first, in some order, among the candidates of all its terms."""
    candidate = np.where(several, order, len(order))
    first = np.minimum.reduceat(np.append(candidate[by_term.indices], len(order)), by_term.indptr[:-1])
    follows = candidate[entry_rows(by_row)] != first[by_row.indices]
    out = several & (np.bincount(entry_rows(by_row), follows, len(order)) == 0)
    return out & (np.bincount(kind, ~out) == 0)[kind]


def refine(form: LinearForm) -> np.ndarray | None:
    """Colour the published rows so that rows of one colour, and their terms, are interchangeable.

    Returns None where every row has a colour of its own, or where refinement does not come to an end.
    """
    by_row, by_term, n = form.published, form.published_by_term, form.n_published
    value = scramble(bits(form.low[:n]) ^ scramble(bits(form.high[:n])))
    mark = marks(form)
    row, before = value, 0
    by_row_data, by_term_data = bits(by_row.data), bits(by_term.data)
    for _ in range(PRESOLVE.colour_rounds):
        term = scramble(mark + totals(scramble(row[by_term.indices] ^ by_term_data), by_term))
        row = scramble(value + totals(scramble(term[by_row.indices] ^ by_row_data), by_row))
        colour, different = pd.factorize(row)
        if len(different) == before:
            return colour
        if len(different) > (1 - PRESOLVE.least_saving) * n:
            return None
        before = len(different)
    return None


def merged(form: LinearForm, kind: np.ndarray, *, shares: bool) -> Aggregation:
    """Merge the published rows of one kind, and the terms that are alike then.

    Parameters
    ----------
    form : LinearForm
    kind : ndarray of int, one a published row
    shares : bool
        Whether a term's part of its lump is its row's part of the merged row's value. Otherwise all
        terms of a lump are equal.
    """
    n, by_term = form.n_published, form.published_by_term
    n_kinds = int(kind.max()) + 1
    looks = totals(scramble(scramble(kind)[by_term.indices] ^ bits(by_term.data)), by_term) + marks(form)
    term = pd.factorize(looks)[0]
    size = np.bincount(term)
    example = np.empty(len(size), dtype=np.int64)
    example[term] = np.arange(len(term))
    low, high = (np.bincount(kind, side[:n], n_kinds) for side in (form.low, form.high))
    offset = np.zeros(form.shape[0])
    if shares:
        alone = (np.bincount(kind) == 1)[kind]  # these may be inequalities
        part = np.divide(form.low[:n], low[kind], out=np.ones(n), where=~alone)
        portion = np.exp(np.bincount(entry_rows(by_term), np.log(part)[by_term.indices], len(term)))
        offset[:n] = np.log(part)
    else:
        portion = np.ones(len(term))
    whole = np.bincount(term, portion)
    share, weights = portion / whole[term], form.weights[example] * whole
    chosen = sp.csr_array(by_term[example])
    published = sp.csr_array((chosen.data, (kind[chosen.indices], entry_rows(chosen))), shape=(n_kinds, len(size)))
    known = sp.csr_array(form.known.transposed[form.known.of_term[example]].T)
    smaller = replace(
        form,
        matrix=sp.csr_array(sp.vstack([published, known], format="csr")),
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


# -- hashing: sums of 64-bit numbers, so that the order in which neighbours are listed does not matter -----------------


def scramble(numbers: np.ndarray) -> np.ndarray:
    """Map 64-bit numbers to others that have nothing to do with them (Steele, Lea and Flood's SplitMix)."""
    z = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def bits(numbers: np.ndarray) -> np.ndarray:
    """Floating-point numbers as 64-bit integers."""
    return np.ascontiguousarray(numbers, dtype=float).view(np.uint64)


def marks(form: LinearForm) -> np.ndarray:
    """A number for every term that says everything of it but its published rows: its knowledge, and its weight."""
    return scramble(~scramble(form.known.of_term) ^ bits(form.weights))  # "~": no row is numbered like this


def totals(of_entry: np.ndarray, matrix: sp.csr_array) -> np.ndarray:
    """Add up a number an entry over every row."""
    sums = np.concatenate([np.zeros(1, dtype=of_entry.dtype), np.cumsum(of_entry)])
    return sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]]
