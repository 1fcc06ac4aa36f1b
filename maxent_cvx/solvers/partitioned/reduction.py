"""Presolve of one partition: fixed terms and buckets without knowledge are left out; what is fixed counts in sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from ..linear_algebra.block_system import BlockSystem
from ..parameters.tolerances import FEASIBILITY
from ..presolve.reduce import largest_coefficients, negligible
from ..presolve.required import require_feasible
from ..program.linear_form import LinearForm
from ..program.split_matrix import SplitMatrix
from ..rows.sized import Sized
from ..rows.sparse import with_shared_ones
from .part import Part
from .propagation import Bounds

__all__ = ["ReducedPart", "largest_of", "largest_open", "reduced", "without"]


@dataclass(frozen=True, eq=False)
class ReducedPart(Sized):
    """What is left of one partition to solve for.

    Attributes
    ----------
    form : LinearForm
        Over the terms that are left; its published rows are those that involve some, then come all rows of knowledge.
    terms, rows : ndarray of int
        The numbers in the partition of these terms, and of these published rows.
    fixed : ndarray of bool, one a term of the partition
        Terms that have only one value.
    counts, width : ndarray, one a term of the partition
        The values of all terms that are left out, records, and bounds on their errors.
    """

    form: LinearForm
    terms: np.ndarray
    rows: np.ndarray
    fixed: np.ndarray
    counts: np.ndarray
    width: np.ndarray

    @classmethod
    def ready(
        cls,
        form: LinearForm,
        terms: np.ndarray,
        rows: np.ndarray,
        fixed: np.ndarray,
        counts: np.ndarray,
        width: np.ndarray,
    ) -> ReducedPart:
        """Make one with all that is derived from it, so that it is so wherever it is sent."""
        found = cls(form, terms, rows, fixed, counts, width)
        found.systems  # noqa: B018
        return found

    @cached_property
    def systems(self) -> BlockSystem:
        """The structure of its blocks, which is the same at every x."""
        self.buckets  # noqa: B018 - what it is made of is forgotten below
        systems = BlockSystem(self.form)
        self.form.forget()  # the structure holds what else would be held twice
        return systems

    @cached_property
    def buckets(self) -> Buckets:
        """The terms of each connected component of the published rows."""
        return Buckets.of(self.form.bucket[1])


@dataclass(frozen=True, eq=False)
class Buckets:
    """The terms of every bucket.

    Attributes
    ----------
    order : ndarray of int, or None
        The terms, bucket after bucket; None if they are so already.
    starts : ndarray of int
        Where each begins in that order.
    of_term : ndarray of int
        The bucket of every term.
    """

    order: np.ndarray | None
    starts: np.ndarray
    of_term: np.ndarray

    @classmethod
    def of(cls, component: np.ndarray) -> Buckets:
        """Number the components in the order in which they are listed."""
        order = None if (np.diff(component) >= 0).all() else np.argsort(component, kind="stable")
        ordered = component if order is None else component[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        number = np.repeat(np.arange(len(starts), dtype=np.int32), np.diff(np.append(starts, len(ordered))))
        if order is None:
            return cls(None, starts, number)
        of_term = np.empty_like(number)
        of_term[order] = number
        return cls(order, starts, of_term)

    def largest(self, of_term: np.ndarray) -> np.ndarray:
        """The largest of numbers given one a term, in every bucket."""
        return np.maximum.reduceat(of_term if self.order is None else of_term[self.order], self.starts)


def largest_open(part: Part, bounds: Bounds) -> np.ndarray:
    """The largest coefficient of each row of knowledge over the terms of one partition that are not fixed."""
    return largest_coefficients(part.form, ~_nearly_fixed(part.form, bounds))


def largest_of(some: Sequence[np.ndarray]) -> np.ndarray:
    """The largest over partitions."""
    return np.max(some, axis=0)


def _nearly_fixed(form: LinearForm, bounds: Bounds) -> np.ndarray:
    return np.asarray(bounds.upper - bounds.lower <= form.zero_tolerance * form.count_scale)


def reduced(part: Part, bounds: Bounds | None, largest: np.ndarray | None) -> ReducedPart:
    """Leave out what is fixed, and the buckets that no knowledge is about.

    Parameters
    ----------
    part : Part
    bounds : Bounds or None
        None if all knowledge is soft, so that nothing is fixed.
    largest : ndarray or None
        The largest coefficient of each row of knowledge over all terms that are not fixed.

    Raises
    ------
    Infeasible
        If a published row cannot hold.
    """
    form, closed_form = part.form, part.closed_form.counts
    n, n_terms = form.n_published, form.shape[1]
    fixed, width, counts = np.zeros(n_terms, dtype=bool), np.zeros(n_terms), closed_form.copy()
    if bounds is not None and largest is not None:
        fixed = _nearly_fixed(form, bounds)
        fixed &= negligible(form, bounds.upper - bounds.lower, largest)
        least, most = bounds.lower[fixed], bounds.upper[fixed]
        counts[fixed] = value = np.clip(np.rint((least + most) / 2), least, most)  # an integer, if there is one
        width[fixed] = np.maximum(most - value, value - least)
    of_row, bucket = form.bucket
    relevant = form.known.touched | fixed | (form.weights != 1) | np.isnan(closed_form)
    relevant = (np.bincount(bucket, relevant) > 0)[bucket]
    terms = relevant & ~fixed
    counts[terms] = 0.0
    determined = form.published @ counts
    involved = form.published @ terms.astype(float) > 0
    published = form.select(np.arange(n))
    feasible = involved | (published.residual(counts) <= FEASIBILITY.multiple * published.tolerance)
    require_feasible(published, feasible, determined, determined)
    order = pd.unique(bucket)  # rows in the order of their buckets' terms, for locality of memory
    rank = np.zeros(int(max(bucket.max(initial=0), of_row.max(initial=0))) + 1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    rows = np.flatnonzero(involved)
    rows = rows[np.argsort(rank[of_row[rows]], kind="stable")]
    left = np.flatnonzero(terms).astype(np.int32)
    form.forget()
    return ReducedPart.ready(_restricted(form, rows, left, determined), left, rows, fixed, counts, width)


def without(part: Part, left: ReducedPart, zeros: tuple[np.ndarray, np.ndarray]) -> ReducedPart:
    """Leave out further terms, which are zero up to the bounds given; one of each a term of the partition."""
    form, (is_zero, upper) = part.form, zeros
    gone = np.zeros(form.shape[1], dtype=bool)
    gone[left.terms] = True
    gone &= is_zero
    fixed, width = left.fixed | gone, np.where(gone, upper, left.width)
    counts = np.where(gone, 0.0, left.counts)
    terms = left.terms[~gone[left.terms]]
    is_left = np.zeros(form.shape[1])
    is_left[terms] = 1.0
    rows = left.rows[(form.published @ is_left > 0)[left.rows]]
    smaller = _restricted(form, rows, terms, form.published @ counts)
    return ReducedPart.ready(smaller, terms, rows, fixed, counts, width)


def _restricted(form: LinearForm, rows: np.ndarray, terms: np.ndarray, determined: np.ndarray) -> LinearForm:
    """Some published rows and all rows of knowledge over some terms, less what the other terms contribute."""
    n = form.n_published
    kept = np.concatenate([rows, np.arange(n, form.shape[0])])
    smaller = form.select(kept)
    published = smaller.published if len(terms) == form.shape[1] else smaller.published[:, terms]
    known = smaller.known if len(terms) == form.shape[1] else form.known.columns(terms)
    low, high = smaller.low.copy(), smaller.high.copy()
    low[: len(rows)] -= determined[rows]
    high[: len(rows)] -= determined[rows]
    matrix = SplitMatrix(with_shared_ones(published), known)
    weights = form.weights[terms] if form.is_weighted else np.broadcast_to(1.0, len(terms))
    return replace(smaller, coefficients=matrix, low=low, high=high, weights=weights)
