"""Aggregation: interchangeable or proportional terms become one variable, and their published rows one row.

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

from ..monitoring.deadline import check_step
from ..parameters.tolerances import PRESOLVE
from ..program.linear_form import LinearForm
from ..program.split_matrix import SplitMatrix
from ..rows.sparse import compact, entry_rows
from .equitable_partition import bits, column_hashes, equitable_partition, proportional_rows, row_sums, scramble

__all__ = ["Aggregation", "aggregate"]


@dataclass(frozen=True, eq=False)
class Aggregation:
    """An aggregated problem, and the maps between its solution and that of the original problem.

    Attributes
    ----------
    form : LinearForm
        The aggregated problem.
    term, row : ndarray of int
        The aggregated term, and row, of each original one.
    share : ndarray, one an original term
        The share of each term in the count of its aggregated term.
    offset : ndarray, one an original row
        The multiplier of each row minus that of its aggregated row.
    """

    form: LinearForm
    term: np.ndarray
    row: np.ndarray
    share: np.ndarray
    offset: np.ndarray

    @classmethod
    def identity(cls, form: LinearForm) -> Aggregation:
        """Aggregate nothing."""
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
        """Counts of the original terms, from those of the aggregated terms."""
        return self.share * aggregated[self.term]

    def multipliers(self, aggregated: np.ndarray) -> np.ndarray:
        """Multipliers of the original rows, from those of the aggregated rows."""
        return aggregated[self.row] + self.offset

    def aggregated_multipliers(self, multipliers: np.ndarray) -> np.ndarray:
        """Multipliers of the aggregated rows, each from one of its original rows."""
        found = np.empty(self.form.shape[0])
        found[self.row] = multipliers - self.offset
        return found


def aggregate(form: LinearForm) -> Aggregation:
    """Aggregate a problem in both ways, unless too few terms are saved: then the problem stays as it is."""
    done = Aggregation.identity(form)
    if not form.published.nnz:
        return done
    for _ in range(PRESOLVE.value_rounds):
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
    return done if done.form.shape[1] <= (1 - PRESOLVE.least_saving) * form.shape[1] else Aggregation.identity(form)


def _merge_rows(form: LinearForm, kind: np.ndarray, *, proportional: bool) -> Aggregation:
    """Merge the published rows of each kind, and the terms that have the same rows and columns afterwards.

    Parameters
    ----------
    form : LinearForm
    kind : ndarray of int, one a published row
    proportional : bool
        Whether terms that are merged are in the ratio of the sides of their rows. Otherwise they are equal.
    """
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
        alone = (np.bincount(kind) == 1)[kind]  # rows that are not merged may be inequalities
        part = np.divide(form.low[:n], low[kind], out=np.ones(n), where=~alone)
        portion = np.exp(np.bincount(entry_rows(by_term), np.log(part)[by_term.indices], len(term)))
        offset[:n] = np.log(part)
    else:
        portion = np.ones(len(term))
    total = np.bincount(term, portion)
    share, weights = portion / total[term], form.weights[example] * total
    chosen = sp.csr_array(by_term[example])
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
