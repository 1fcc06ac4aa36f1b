"""Bounds of expressions: the least and largest value of each over every distribution that satisfies the rows."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from ...errors import Infeasible
from ...solvers.diagnosis.failure import contradiction
from ...solvers.intervals.rounds import Ends, many_bounds
from ...solvers.linear.integer import integer_bounds
from ...solvers.linear.integrality import settle_integers
from ...solvers.linear_algebra.single_thread import single_thread
from ...solvers.monitoring.deadline import within
from ...solvers.parameters.size_limits import LINEAR_PROGRAM_SIZES
from ...solvers.presolve.reduce import remaining
from ...solvers.presolve.reduced import Reduced
from ...solvers.program.linear_form import LinearForm
from ...solvers.program.problem import Problem
from ...solvers.rows.sparse import entry_rows
from ...solvers.solving.presolving import presolved
from ...system.progress import progress_bar
from ..adversary import Adversary
from .alternatives import has_alternatives, over_alternatives
from .asked import Asked

__all__ = ["bounds_of", "without_knowledge"]


@single_thread
def bounds_of(
    asked: Asked, model: Adversary, integer: bool, seconds: float, progress: bool | None, exact: bool | None = True
) -> Ends:
    """Find the least and the largest value of linear expressions.

    Parameters
    ----------
    asked : Asked
    model : Adversary
        Of linear knowledge only.
    integer : bool
        Over integer counts only: every record has exactly one value.
    seconds : float
        For all linear programs together, presolve included; or for each integer program.
    progress : bool or None
        Whether to show a progress bar.
    exact : bool or None
        Whether all ends are to be attained; by default those of small independent parts.

    Returns
    -------
    Ends
        Of shape (2, expressions).

    Raises
    ------
    Infeasible
        If the rows are infeasible, with an irreducible infeasible subsystem (IIS).
    """
    if integer and has_alternatives(model):
        value = over_alternatives(model, lambda one: bounds_of(asked, one, integer, seconds, progress).value)
        return Ends(value, np.ones(value.shape, dtype=bool))
    problem = model.posed.hard  # soft rows do not say what is possible
    try:
        with within(math.inf if integer else seconds):
            return _bounds(asked, model, problem, integer, seconds, progress, exact)
    except Infeasible as error:
        if (found := contradiction(problem)) is not None:
            raise found from None
        if problem.as_typed is None or integer:
            raise error from None
        with within(seconds):
            return _bounds(asked, model, problem.as_typed, integer, seconds, progress, exact)


def _bounds(
    asked: Asked,
    model: Adversary,
    problem: Problem,
    integer: bool,
    seconds: float,
    progress: bool | None,
    exact: bool | None,
) -> Ends:
    """Find the values by linear programs, or by integer programs."""
    reduced = presolved(problem)
    reduced = settle_integers(reduced) if integer else reduced
    known = asked.constant + asked.matrix @ np.where(reduced.fixed, reduced.counts, 0.0)
    width = abs(asked.matrix) @ np.where(reduced.fixed, reduced.width, 0.0)
    closed, rest = _in_closed_form(asked, model, problem, reduced)
    if integer:
        found = _by_integer_programs(rest, problem, reduced, seconds, progress)
    else:
        found = _by_linear_programs(rest, problem, reduced, progress, exact)
    # A probability is between 0 and 1: roundoff must not lead outside of what is attainable at all.
    value = known + np.outer([-1.0, 1.0], width) + closed + found.value
    return Ends(np.clip(value, *asked.attainable), found.is_exact)


def without_knowledge(problem: Problem, reduced: Reduced) -> np.ndarray:
    """Mark the terms of buckets that only published rows involve, and whose answer to these has a closed form.

    Parameters
    ----------
    problem : Problem
    reduced : Reduced
        What presolve has made of it; where it has fixed a term, rows of knowledge act on the bucket.

    Returns
    -------
    ndarray of bool, one a term
    """
    bucket = problem.form.bucket[1]
    involved = problem.form.known.touched | reduced.fixed | np.isnan(problem.closed_form.counts)
    return (np.bincount(bucket, involved) == 0)[bucket]


def _in_closed_form(
    asked: Asked, model: Adversary, problem: Problem, reduced: Reduced
) -> tuple[np.ndarray, sp.csr_array]:
    """Bound rectangles in buckets without knowledge in closed form; also return the expressions without these terms."""
    matrix, n = asked.matrix, asked.matrix.shape[0]
    row, term = entry_rows(matrix), matrix.indices
    is_closed = asked.is_rectangle[row] & without_knowledge(problem, reduced)[term]
    ends = np.zeros((2, n))
    if is_closed.any():
        coefficient = np.zeros(n)
        coefficient[row[is_closed]] = matrix.data[is_closed]
        ends = coefficient * np.stack(
            model.invariants.closed_bounds_of_each(model.space, term[is_closed], row[is_closed], n)
        )
    kept = ~is_closed & ~reduced.fixed[term]
    rest = sp.csr_array((matrix.data[kept], (row[kept], term[kept])), shape=matrix.shape)
    return np.sort(ends, axis=0), rest


def _by_linear_programs(
    rest: sp.csr_array, problem: Problem, reduced: Reduced, progress: bool | None, exact: bool | None
) -> Ends:
    """Bound the expressions over all independent parts of the model that they involve, together."""
    free = _connected(rest, problem, reduced)
    ends = Ends(np.zeros((2, rest.shape[0])), np.ones((2, rest.shape[0]), dtype=bool))
    if not free.any():
        return ends
    largest = LINEAR_PROGRAM_SIZES.large if exact is None else math.inf if exact else 0
    smaller = _remaining(problem, reduced, free)
    some = np.flatnonzero(np.diff(rest.indptr) > 0)
    left = 2 * len(some)
    with progress_bar(None, "bounds", progress, total=left) as bar:

        def answered(open_: int) -> None:
            nonlocal left
            bar.update(max(left - open_, 0))
            left = min(left, open_)

        columns = sp.csr_array(rest[some][:, np.flatnonzero(free)])
        found = many_bounds(smaller, columns, problem.n_records, answered, largest=largest)
        ends.value[:, some], ends.is_exact[:, some] = found
    return ends


def _by_integer_programs(
    rest: sp.csr_array, problem: Problem, reduced: Reduced, seconds: float, progress: bool | None
) -> Ends:
    """Bound the expressions one by one over integer points."""
    ends = np.zeros((2, rest.shape[0]))
    free = _connected(rest, problem, reduced)
    smaller, columns = _remaining(problem, reduced, free), sp.csr_array(rest[:, np.flatnonzero(free)])
    some = np.flatnonzero(np.diff(rest.indptr) > 0)
    for i in progress_bar(some, "bounds", progress):
        ends[:, i] = integer_bounds(smaller, columns[[i]].toarray().ravel(), seconds)
    return Ends(ends, np.ones(ends.shape, dtype=bool))


def _connected(rest: sp.csr_array, problem: Problem, reduced: Reduced) -> np.ndarray:
    """Mark the terms of all components that expressions involve."""
    component = problem.form.components(~reduced.fixed)[1]
    return ~reduced.fixed & np.isin(component, component[rest.indices])


def _remaining(problem: Problem, reduced: Reduced, free: np.ndarray) -> LinearForm:
    """The problem of some terms, the others being fixed up to their widths, or parts of other components."""
    form, fixed_counts = problem.form, np.where(reduced.fixed, reduced.counts, 0.0)
    error = form.absolute_matvec(np.where(reduced.fixed, reduced.width, 0.0))
    return remaining(form, free, form.rows_involving(free), form.matvec(fixed_counts), error)
