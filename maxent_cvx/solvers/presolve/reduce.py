"""Presolve: take out of the problem what needs no solver, and put it back afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..linear_algebra.schur_preconditioner import SchurComplement
from ..program.linear_form import LinearForm
from ..program.problem import Problem, Settled
from ..rows.sparse import entry_rows, most_by_row
from ..tolerances import FEASIBILITY, PRESOLVE
from .aggregation import Aggregation, aggregate
from .bound_propagation import term_bounds
from .redundant_rows import redundant
from .required import require
from .zero_proofs import most_left

__all__ = ["Reduced", "reduce"]


@dataclass(frozen=True, eq=False)
class Reduced:
    """A smaller problem, and the way back.

    Attributes
    ----------
    terms : ndarray of bool
        Which of the original terms are left.
    rows : ndarray of int
        Which of the original rows are left, those of one bucket side by side.
    lumping : Aggregation
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
    width : ndarray
        How far the one value of a fixed term may be from its count, people.
    scale : ndarray, one a row that is left
        What each of them was divided by.
    """

    terms: np.ndarray
    rows: np.ndarray
    aggregation: Aggregation
    fixed: np.ndarray
    counts: np.ndarray
    multipliers: np.ndarray
    posed: LinearForm
    posed_rows: np.ndarray
    n_published: int
    width: np.ndarray
    scale: np.ndarray

    @classmethod
    def whole(cls, form: LinearForm) -> Reduced:
        """Reduce nothing."""
        n_rows, n_terms = form.shape
        every_term, every_row = np.ones(n_terms, dtype=bool), np.arange(n_rows)
        zeros = np.zeros(n_terms), np.zeros(n_rows)
        no_widths, no_scale = zeros[0], np.ones(n_rows)
        return cls(
            every_term, every_row, Aggregation.none(form), ~every_term, *zeros, form, every_row, form.n_published,
            no_widths, no_scale,
        )  # fmt: skip

    @property
    def form(self) -> LinearForm:
        """The problem to solve."""
        return self.aggregation.form

    @property
    def empty(self) -> np.ndarray:
        """Terms that are zero in every solution."""
        return self.fixed & (self.counts == 0)

    @property
    def most(self) -> np.ndarray:
        """The most people that each term can hold, as far as it was found to be empty; infinite for the others."""
        return np.where(self.empty, self.width, np.inf)

    @property
    def settled(self) -> Settled:
        """The terms that every solution agrees on, as the certificate needs to know of them."""
        return Settled(self.fixed, self.width)

    def settled_beside(self, counts: np.ndarray) -> Settled:
        """The same for other counts, from which the values of fixed terms may be that much further."""
        off = np.abs(self.counts - np.maximum(counts, 0.0))
        return Settled(self.fixed, np.where(self.fixed, self.width + off, 0.0))

    def start(self, multipliers: np.ndarray) -> np.ndarray:
        """Take multipliers of the original rows to those of the reduced problem."""
        return self.aggregation.aggregated(multipliers[self.rows] * self.scale)

    def restore(self, counts: np.ndarray, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Put the reduced problem's answer into the original's."""
        all_counts, all_multipliers = self.counts.copy(), self.multipliers.copy()
        all_counts[self.terms] = self.aggregation.counts(counts)
        all_multipliers[self.rows] = self.aggregation.multipliers(multipliers) / self.scale
        return all_counts, all_multipliers

    def proved(self, form: LinearForm, directions: Iterable[np.ndarray]) -> np.ndarray:
        """The most people in terms that directions prove empty, each given those before it; infinite for the others.

        Parameters
        ----------
        form : LinearForm
            The original problem.
        directions : iterable of ndarray
            Directions of the reduced problem's multipliers.
        """
        empty, width, most = self.fixed, self.width, np.full(len(self.fixed), np.inf)
        for proof in self.restore_directions(directions):
            left = most_left(form, proof, empty, self.counts, width)
            more = left <= form.zero_tolerance * form.count_scale
            most, width, empty = np.where(more, left, most), np.where(more, left, width), empty | more
        return most

    def restore_schur(self, schur: SchurComplement | None) -> SchurComplement | None:
        """Number the knowledge rows of a Schur complement as in the original; it is the same, lumped or not."""
        if schur is None:
            return None
        known = self.rows >= self.n_published
        return schur.scaled(self.scale[known]).renumbered(self.rows[known] - self.n_published)

    def restore_directions(self, directions: Iterable[np.ndarray]) -> list[np.ndarray]:
        """Put directions of the reduced problem's multipliers into the original's."""
        found = []
        for direction in directions:
            whole = np.zeros(len(self.multipliers))
            whole[self.rows] = direction[self.aggregation.row] / self.scale
            found.append(whole)
        return found


def reduce(problem: Problem, most: np.ndarray | None = None) -> Reduced:
    """Remove what is forced, what no knowledge speaks of, what repeats, and lump what nothing tells apart.

    Parameters
    ----------
    problem : Problem
        Every irrelevant bucket keeps its closed form (Privacy-MaxEnt, Eq. (9); section 5.5, Proposition 1).
    most : ndarray, optional
        The most records that a term can hold for other reasons; infinite where there are none.

    Raises
    ------
    Infeasible
        If a row cannot hold.
    """
    form, n_records, alone = problem.form, problem.n_records, problem.closed_form.counts
    n_rows, n_terms = form.shape
    known = form.known.touched
    if n_rows == form.n_published:  # nothing is known, so nothing is forced beyond the closed form
        lower, upper = np.zeros(n_terms), np.full(n_terms, np.inf)
    else:
        lower, upper = term_bounds(form, n_records, most)
    fixed = settled(form, lower, upper)
    of_row, bucket = form.bucket
    # The closed form is that of equal weights; where there is none, it is NaN.
    relevant = (np.bincount(bucket, known | fixed | (form.weights != 1) | np.isnan(alone)) > 0)[bucket]
    terms = relevant & ~fixed
    counts, width = np.where(relevant, 0.0, alone), np.zeros(n_terms)
    least, most = lower[fixed], upper[fixed]
    counts[fixed] = value = np.clip(np.rint((least + most) / 2), least, most)  # a whole number, if there is one
    width[fixed] = np.maximum(most - value, value - least)
    multipliers = problem.start
    done = form.matvec(np.where(terms, 0.0, counts))
    involved = form.rows_involving(terms)
    require(form, involved | (form.residual(counts) <= FEASIBILITY.multiple * form.tolerance), done, done)
    rest, scale = rescaled(remaining(form, terms, involved, done), upper[terms])
    needed = np.flatnonzero(~redundant(rest, n_records))
    # Rows in the order of their buckets' terms, which is how they are worked on; knowledge comes last.
    order = pd.unique(bucket)
    rank = np.full(int(max(bucket.max(initial=0), of_row.max(initial=0))) + 1, n_terms)
    rank[order] = np.arange(len(order))
    place = np.concatenate([rank[of_row], np.full(n_rows - form.n_published, n_terms + 1)])
    needed = needed[np.argsort(place[involved][needed], kind="stable")]
    rows = np.flatnonzero(involved)[needed]
    solved = np.zeros(n_rows, dtype=bool)
    solved[rows] = True
    multipliers[involved & ~solved] = 0.0
    aggregation = aggregate(rest.select(needed))
    return Reduced(
        terms, rows, aggregation, fixed, counts, multipliers, rest, np.flatnonzero(involved), form.n_published, width,
        scale[needed],
    )  # fmt: skip


def settled(form: LinearForm, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Which terms are known so closely that it makes no difference to any row what else is in it."""
    width = upper - lower
    fixed = width <= form.zero_tolerance * form.count_scale
    if not fixed.any() or fixed.all():
        return fixed
    known = form.known
    # A row is about its largest coefficient among the other terms, which those of the fixed ones may exceed.
    open_ = known.collect(~fixed) > 0
    distinct, size = known.distinct, np.abs(known.distinct.data)
    about = most_by_row(np.where(open_[distinct.indices], size, 0.0), distinct)
    effect = np.divide(size, about[entry_rows(distinct)], out=np.ones(len(size)), where=about[entry_rows(distinct)] > 0)
    by_class = sp.csr_array((effect, distinct.indices, distinct.indptr), shape=distinct.shape).T.tocsr()
    largest = most_by_row(by_class.data, by_class)[known.of_term]
    return fixed & (width * largest <= form.zero_tolerance * form.count_scale)


def rescaled(form: LinearForm, upper: np.ndarray) -> tuple[LinearForm, np.ndarray]:
    """Scale rows of knowledge by what they are about now that terms have gone; also gives what each was divided by.

    A row is about its largest coefficient times what its term can hold, beside what any of its terms can hold. Powers
    of two divide without rounding; a row that is nearly in scale is left as it is.
    """
    n, known, scale = form.n_published, form.known, np.ones(form.shape[0])
    distinct = known.distinct
    largest = np.zeros(distinct.shape[1])
    np.maximum.at(largest, known.of_term, upper)
    size = most_by_row(np.abs(distinct.data) * largest[distinct.indices], distinct)
    people = most_by_row(largest[distinct.indices], distinct)
    about = np.divide(size, people, out=np.ones(len(size)), where=(size > 0) & (people > 0))
    scale[n:] = np.where(about < PRESOLVE.in_scale, 2.0 ** np.floor(np.log2(about)), 1.0)
    if (scale == 1).all():
        return form, scale
    matrix = sp.csr_array((form.matrix.data / scale[entry_rows(form.matrix)], form.matrix.indices, form.matrix.indptr),
                          shape=form.shape)  # fmt: skip
    sides = {
        name: getattr(form, name) / scale
        for name in ("low", "high", "scale", "shift", "side_error", "coefficient_error")
    }
    return replace(form, matrix=matrix, **sides), scale


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
