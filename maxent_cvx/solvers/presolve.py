"""Presolve: take out of the problem what needs no solver, and put it back afterwards."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from .bounds import term_bounds
from .linear_form import LinearForm, parts

__all__ = ["Reduced", "reduce"]

#: Two bounds on a term that are closer than this, in people, are one value.
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Reduced:
    """A smaller problem, and the way back.

    Attributes
    ----------
    form : LinearForm
        The rows that are left over the terms that are left.
    terms, rows : ndarray of bool
        Which of the original ones those are.
    fixed : ndarray of bool
        Terms that every solution agrees on: forced zeros, and whatever they force in turn.
    counts, multipliers : ndarray
        The original problem's answer where it is known already.
    """

    form: LinearForm
    terms: np.ndarray
    rows: np.ndarray
    fixed: np.ndarray
    counts: np.ndarray
    multipliers: np.ndarray

    @classmethod
    def whole(cls, form: LinearForm) -> Reduced:
        """Reduce nothing."""
        n_rows, n_terms = form.shape
        every_term, every_row = np.ones(n_terms, dtype=bool), np.ones(n_rows, dtype=bool)
        return cls(form, every_term, every_row, ~every_term, np.zeros(n_terms), np.zeros(n_rows))

    def restore(self, counts: np.ndarray, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Put the reduced problem's answer into the original's."""
        all_counts, all_multipliers = self.counts.copy(), self.multipliers.copy()
        all_counts[self.terms], all_multipliers[self.rows] = counts, multipliers
        return all_counts, all_multipliers


def reduce(form: LinearForm, closed_form: tuple[np.ndarray, np.ndarray], n_records: float) -> Reduced:
    """Remove the terms that are forced, and the buckets that no knowledge speaks of.

    Parameters
    ----------
    form : LinearForm
    closed_form : (counts, multipliers)
        The answer to the published rows alone (Privacy-MaxEnt, Eq. (9)), which every irrelevant
        bucket keeps (section 5.5, Proposition 1).
    n_records : float

    Raises
    ------
    Infeasible
        If a row cannot hold.
    """
    alone_counts, alone_multipliers = closed_form
    n_rows, n_terms = form.shape
    if n_rows == form.n_published:  # nothing is known, so nothing is forced beyond the closed form
        lower, fixed = np.zeros(n_terms), np.zeros(n_terms, dtype=bool)
    else:
        lower, upper = term_bounds(form, n_records)
        fixed = upper - lower <= SAME
    published = form.matrix[: form.n_published]
    bucket = parts(published)[1]  # published rows link the terms of one bucket, and no others
    known = abs(form.matrix[form.n_published :]).sum(axis=0) > 0
    # The closed form is that of equal weights; with a prior every bucket is relevant.
    relevant = np.isin(bucket, bucket[known | fixed]) | form.is_weighted
    terms = relevant & ~fixed
    counts = np.where(fixed, lower, np.where(relevant, 0.0, alone_counts))
    rest = form.matrix[:, np.flatnonzero(terms)]
    rows = np.diff(rest.indptr) > 0
    done = form.matrix @ np.where(terms, 0.0, counts)
    form.require(rows | (form.residual(counts) <= 10 * form.tolerance), done, done)
    multipliers = np.concatenate([alone_multipliers, np.zeros(n_rows - form.n_published)])
    smaller = form.select(rows)
    smaller = replace(
        smaller,
        matrix=sp.csr_array(rest[np.flatnonzero(rows)]),
        low=smaller.low - done[rows],
        high=smaller.high - done[rows],
        weights=form.weights[terms],
    )
    return Reduced(smaller, terms, rows, fixed, counts, multipliers)
