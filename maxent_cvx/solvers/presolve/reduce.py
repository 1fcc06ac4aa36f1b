"""Presolve: fix terms, leave out rows and buckets, aggregate what is interchangeable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..monitoring.deadline import check_step
from ..parameters.tolerances import FEASIBILITY, PRESOLVE
from ..program.linear_form import LinearForm
from ..program.problem import Problem
from ..program.split_matrix import SplitMatrix
from ..rows.sparse import entry_rows, most_by_row
from .aggregation import aggregate
from .bound_propagation import term_bounds
from .reduced import Reduced
from .redundant_rows import redundant
from .required import require_feasible

__all__ = ["fix_implied", "largest_coefficients", "negligible", "reduce", "remaining"]


def reduce(problem: Problem, most: np.ndarray | None = None) -> Reduced:
    """Fix implied terms, leave out buckets without knowledge and redundant rows, and aggregate interchangeable terms.

    Parameters
    ----------
    problem : Problem
        A bucket that is irrelevant, having neither knowledge nor fixed terms, keeps the closed form (Privacy-MaxEnt,
        Eq. (9); section 5.5, Proposition 1).
    most : ndarray, optional
        Upper bounds of terms that are known for other reasons, records; infinite where there are none.

    Raises
    ------
    Infeasible
        If a row cannot hold.
    """
    form, n_records, closed_form = problem.form, problem.n_records, problem.closed_form.counts
    n_rows, n_terms = form.shape
    fixed, values, width, upper = _implied_values(problem, most)
    of_row, bucket = form.bucket
    # The closed form is that of weights 1; it is NaN where there is none.
    relevant = form.known.touched | fixed | (form.weights != 1) | np.isnan(closed_form)
    relevant = (np.bincount(bucket, relevant) > 0)[bucket]
    terms = relevant & ~fixed
    counts = np.where(fixed, values, np.where(relevant, 0.0, closed_form))
    multipliers = problem.start
    determined = form.matvec(np.where(terms, 0.0, counts))
    involved = form.rows_involving(terms)
    tolerance = form.tolerance + (form.absolute_matvec(width) if width.any() else 0.0)
    feasible = involved | (form.residual(counts) <= FEASIBILITY.multiple * tolerance)
    require_feasible(form, feasible, determined, determined)
    if form.penalties is not None and not involved[form.n_hard :].all():
        settled = form.penalties.multiplier(*(side[form.n_hard :] for side in (form.low, form.high, determined)))
        multipliers[form.n_hard :] = np.where(involved[form.n_hard :], 0.0, settled)
    restricted, scale = _rescaled(remaining(form, terms, involved, determined), np.minimum(upper, n_records)[terms])
    check_step()
    needed = np.flatnonzero(~redundant(restricted, n_records))
    # Rows are put in the order of their buckets' terms, for locality of memory; knowledge comes last.
    order = pd.unique(bucket)
    rank = np.full(int(max(bucket.max(initial=0), of_row.max(initial=0))) + 1, n_terms)
    rank[order] = np.arange(len(order))
    place = np.concatenate([rank[of_row], np.full(n_rows - form.n_published, n_terms + 1)])
    needed = needed[np.argsort(place[involved][needed], kind="stable")]
    rows = np.flatnonzero(involved)[needed]
    check_step()
    is_left = np.zeros(n_rows, dtype=bool)
    is_left[rows] = True
    multipliers[involved & ~is_left] = 0.0
    return Reduced(
        terms, rows, aggregate(restricted.select(needed)), fixed, counts, multipliers, restricted, form.n_published,
        width, scale[needed],
    )  # fmt: skip


def fix_implied(problem: Problem) -> Reduced:
    """Only fix implied terms, as :func:`reduce` does; all rows and all other terms are left as they are."""
    form = problem.form
    fixed, counts, width, _ = _implied_values(problem)
    determined, error = form.matvec(counts), form.absolute_matvec(width) if width.any() else 0.0
    feasible = form.residual(counts) <= FEASIBILITY.multiple * (form.tolerance + error)
    require_feasible(form, form.rows_involving(~fixed) | feasible, determined, determined)
    return replace(Reduced.identity(form), terms=~fixed, fixed=fixed, counts=counts, width=width)


def _implied_values(
    problem: Problem, most: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Which terms the rows fix, their counts, how far these can be off, and upper bounds of all terms."""
    form, n_terms = problem.form, problem.form.shape[1]
    if form.n_hard == form.n_published:  # without hard knowledge no term is fixed: the closed form has all values
        lower, upper = np.zeros(n_terms), np.full(n_terms, np.inf)
    else:
        lower, upper = term_bounds(form.hard, problem.n_records, most)
    check_step()
    fixed, counts, width = _fixed_terms(form, lower, upper), np.zeros(n_terms), np.zeros(n_terms)
    least, largest = lower[fixed], upper[fixed]
    counts[fixed] = value = np.clip(np.rint((least + largest) / 2), least, largest)  # an integer, if there is one
    width[fixed] = np.maximum(largest - value, value - least)
    return fixed, counts, width, upper


def _fixed_terms(form: LinearForm, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Mark the terms whose bounds are so close that the difference is negligible in every row."""
    nearly = upper - lower <= form.zero_tolerance * form.count_scale
    if not nearly.any() or nearly.all():
        return nearly
    return nearly & negligible(form, upper - lower, largest_coefficients(form, ~nearly))


def largest_coefficients(form: LinearForm, terms: np.ndarray) -> np.ndarray:
    """The largest absolute coefficient of each row of knowledge over some terms, 0 where it has none."""
    distinct, is_open = form.known.distinct, form.known.collect(terms) > 0
    return most_by_row(np.where(is_open[distinct.indices], np.abs(distinct.data), 0.0), distinct)


def negligible(form: LinearForm, width: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Mark the terms whose width counts for nothing in any row, relative to its largest coefficient of open terms."""
    distinct, size = form.known.distinct, np.abs(form.known.distinct.data)
    of_row = largest[entry_rows(distinct)]
    ratio = np.divide(size, of_row, out=np.ones(len(size)), where=of_row > 0)
    by_class = sp.csr_array((ratio, distinct.indices, distinct.indptr), shape=distinct.shape).T.tocsr()
    effect = width * most_by_row(by_class.data, by_class)[form.known.of_term]
    return effect <= form.zero_tolerance * form.count_scale


def _rescaled(form: LinearForm, upper: np.ndarray) -> tuple[LinearForm, np.ndarray]:
    """Scale rows of knowledge anew after terms have been removed; also return what each row was divided by.

    The magnitude of a row is the largest |a_j| u_j of its terms, u_j being their upper bounds, divided by their largest
    u_j. Rows are divided by a power of two near it, which is exact; rows whose magnitude is at least
    ``PRESOLVE.in_scale`` are left as they are.
    """
    n, known, scale = form.n_published, form.known, np.ones(form.shape[0])
    distinct = known.distinct
    largest = np.zeros(distinct.shape[1])
    np.maximum.at(largest, known.of_term, upper)
    activity = most_by_row(np.abs(distinct.data) * largest[distinct.indices], distinct)
    records = most_by_row(largest[distinct.indices], distinct)
    nonzero = (activity > 0) & (records > 0)
    magnitude = np.divide(activity, records, out=np.ones(len(activity)), where=nonzero)
    scale[n:] = np.where(magnitude < PRESOLVE.in_scale, 2.0 ** np.floor(np.log2(magnitude)), 1.0)
    if (scale == 1).all():
        return form, scale
    coefficients = SplitMatrix(form.published, known.divided(scale[n:]))
    sides = {
        name: getattr(form, name) / scale
        for name in ("low", "high", "scale", "shift", "side_error", "coefficient_error")
    }
    penalties = None if form.penalties is None else form.penalties.scaled(1 / scale[form.n_hard :])
    return replace(form, coefficients=coefficients, penalties=penalties, **sides), scale


def remaining(
    form: LinearForm, terms: np.ndarray, rows: np.ndarray, determined: np.ndarray, error: np.ndarray | None = None
) -> LinearForm:
    """Restrict a problem to some rows and terms, the values of all other terms being given.

    Parameters
    ----------
    form : LinearForm
    terms, rows : ndarray of bool
        The terms and rows to keep.
    determined : ndarray, one a row
        What the other terms contribute to each row, records.
    error : ndarray, one a row, optional
        A bound on the error of these contributions, records: it becomes an error of the sides.
    """
    if terms.all() and rows.all():
        return form
    smaller = form.select(rows)
    smaller = smaller if terms.all() else smaller.select_terms(np.flatnonzero(terms))
    side_error = smaller.side_error if error is None else smaller.side_error + error[rows]
    low, high = smaller.low - determined[rows], smaller.high - determined[rows]
    return replace(smaller, low=low, high=high, side_error=side_error)
