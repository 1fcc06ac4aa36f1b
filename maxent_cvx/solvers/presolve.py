"""Presolve: take out of the problem what needs no solver, and put it back afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .bounds import term_bounds
from .corner import Corner
from .linear_form import LinearForm
from .lumping import Lumping, lump
from .redundant import redundant

__all__ = ["Reduced", "reduce"]

#: Two bounds on a term that are closer than this are one value: people, or part of those that there is room for.
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Reduced:
    """A smaller problem, and the way back.

    Attributes
    ----------
    terms : ndarray of bool
        Which of the original terms are left.
    rows : ndarray of int
        Which of the original rows are left, those of one bucket side by side.
    lumping : Lumping
        What those have become; its form is the problem to solve.
    fixed : ndarray of bool
        Terms that every solution agrees on: forced zeros, and whatever they force in turn.
    counts, multipliers : ndarray
        The original problem's answer where it is known already.
    posed : LinearForm
        The problem over the terms that are left, before rows were left out and terms lumped.
    posed_rows : ndarray of int
        Which of the original rows are its rows.
    n_published : int
        How many of the original rows are published.
    """

    terms: np.ndarray
    rows: np.ndarray
    lumping: Lumping
    fixed: np.ndarray
    counts: np.ndarray
    multipliers: np.ndarray
    posed: LinearForm
    posed_rows: np.ndarray
    n_published: int

    @classmethod
    def whole(cls, form: LinearForm) -> Reduced:
        """Reduce nothing."""
        n_rows, n_terms = form.shape
        every_term, every_row = np.ones(n_terms, dtype=bool), np.arange(n_rows)
        zeros = np.zeros(n_terms), np.zeros(n_rows)
        return cls(
            every_term, every_row, Lumping.none(form), ~every_term, *zeros, form, np.arange(n_rows), form.n_published
        )

    @property
    def form(self) -> LinearForm:
        """The problem to solve."""
        return self.lumping.form

    @property
    def empty(self) -> np.ndarray:
        """Terms that are zero in every solution."""
        return self.fixed & (self.counts == 0)

    def start(self, multipliers: np.ndarray) -> np.ndarray:
        """Take multipliers of the original rows to those of the reduced problem."""
        return self.lumping.lumped(multipliers[self.rows])

    def restore(self, counts: np.ndarray, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Put the reduced problem's answer into the original's."""
        all_counts, all_multipliers = self.counts.copy(), self.multipliers.copy()
        all_counts[self.terms] = self.lumping.counts(counts)
        all_multipliers[self.rows] = self.lumping.multipliers(multipliers)
        return all_counts, all_multipliers

    def restore_corner(self, corner: Corner | None) -> Corner | None:
        """Number the knowledge rows of a Schur complement as in the original; it is the same, lumped or not."""
        return (
            None if corner is None else corner.renumbered(self.rows[self.rows >= self.n_published] - self.n_published)
        )

    def restore_directions(self, directions: Iterable[np.ndarray]) -> list[np.ndarray]:
        """Put directions of the reduced problem's multipliers into the original's."""
        found = []
        for direction in directions:
            whole = np.zeros(len(self.multipliers))
            whole[self.rows] = direction[self.lumping.row]
            found.append(whole)
        return found


def reduce(
    form: LinearForm,
    closed_form: tuple[np.ndarray, np.ndarray],
    n_records: float,
    zeros: np.ndarray | None = None,
) -> Reduced:
    """Remove what is forced, what no knowledge speaks of, what repeats, and lump what nothing tells apart.

    Parameters
    ----------
    form : LinearForm
    closed_form : (counts, multipliers)
        The answer to the published rows alone (Privacy-MaxEnt, Eq. (9)), which every irrelevant
        bucket keeps (section 5.5, Proposition 1). NaN in buckets where it has no closed form.
    n_records : float
    zeros : ndarray of bool, optional
        Terms that are known to be empty for other reasons.

    Raises
    ------
    Infeasible
        If a row cannot hold.
    """
    alone_counts, alone_multipliers = closed_form
    n_rows, n_terms = form.shape
    known = form.known.touched
    if n_rows == form.n_published:  # nothing is known, so nothing is forced beyond the closed form
        lower, upper = np.zeros(n_terms), np.full(n_terms, np.inf)
    else:
        lower, upper = term_bounds(form, n_records, zeros)
    fixed = upper - lower <= SAME * form.room
    of_row, bucket = form.bucket
    # The closed form is that of equal weights; where there is none, it is NaN.
    relevant = (np.bincount(bucket, known | fixed | (form.weights != 1) | np.isnan(alone_counts)) > 0)[bucket]
    terms = relevant & ~fixed
    counts = np.where(fixed, lower, np.where(relevant, 0.0, alone_counts))
    multipliers = np.concatenate([alone_multipliers, np.zeros(n_rows - form.n_published)])
    done = form.sums(np.where(terms, 0.0, counts))
    spoken = form.speak_of(terms)
    form.require(spoken | (form.residual(counts) <= 10 * form.tolerance), done, done)
    rest = remaining(form, terms, spoken, done)
    needed = np.flatnonzero(~redundant(rest, n_records))
    # Rows in the order of their buckets' terms, which is how they are worked on; knowledge comes last.
    order = pd.unique(bucket)
    rank = np.full(int(max(bucket.max(initial=0), of_row.max(initial=0))) + 1, n_terms)
    rank[order] = np.arange(len(order))
    place = np.concatenate([rank[of_row], np.full(n_rows - form.n_published, n_terms + 1)])
    needed = needed[np.argsort(place[spoken][needed], kind="stable")]
    rows = np.flatnonzero(spoken)[needed]
    solved = np.zeros(n_rows, dtype=bool)
    solved[rows] = True
    multipliers[spoken & ~solved] = 0.0
    lumping = lump(rest.select(needed))
    return Reduced(terms, rows, lumping, fixed, counts, multipliers, rest, np.flatnonzero(spoken), form.n_published)


def remaining(form: LinearForm, terms: np.ndarray, rows: np.ndarray, done: np.ndarray) -> LinearForm:
    """The rows that are left over the terms that are left, less what the other terms contribute."""
    if terms.all() and rows.all():
        return form
    smaller = form.select(rows)
    return replace(
        smaller,
        matrix=smaller.matrix if terms.all() else sp.csr_array(smaller.matrix[:, np.flatnonzero(terms)]),
        low=smaller.low - done[rows],
        high=smaller.high - done[rows],
        weights=form.weights[terms],
    )
