"""Integer programs over the rows, by HiGHS through SciPy: counts are integers, as each record has one value."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from ...errors import Inaccurate, Infeasible, NotDecided, SolverError, number
from ..certificate.residuals import exact_residuals
from ..parameters.tolerances import FEASIBILITY, INTEGER
from ..program.linear_form import LinearForm
from ..rows.sparse import entry_rows, least_by_row, most_by_row

__all__ = ["integer_bounds", "never_filled"]


@dataclass(frozen=True, eq=False)
class IntegerOptimum:
    """The least value of an expression over the integer feasible points.

    Attributes
    ----------
    bound : float
        A lower bound.
    x : ndarray or None
        The best integer feasible point that was found; it has been checked against the rows.
    decided : bool
        Whether that attains the bound.
    """

    bound: float
    x: np.ndarray | None
    decided: bool


def integer_bounds(form: LinearForm, objective: np.ndarray, seconds: float) -> tuple[float, float]:
    """The least and the largest objective @ x over integers x >= 0 with low <= A x <= high.

    Raises
    ------
    Infeasible
        If no integer x satisfies the rows.
    NotDecided
        If `seconds` are over.
    SolverError, Inaccurate
        If HiGHS fails, or its answer does not satisfy the rows.
    """
    seconds = number(seconds, "time_limit")
    size = float(np.abs(objective).max(initial=0.0))
    ends, until = [0.0, 0.0], time.perf_counter() + seconds
    for component, at in _components_with(form, objective != 0):
        for i, sign in enumerate((1.0, -1.0)):
            found = integer_minimum(component, sign * objective[at] / size, until - time.perf_counter())
            if not found.decided:
                raise NotDecided(
                    f"whole assignments were not decided in {seconds:.3g} seconds; give more time, or ask integer=False"
                )
            ends[i] += sign * found.bound * size
    return ends[0], ends[1]


def never_filled(form: LinearForm, terms: np.ndarray, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Find the terms that are zero at every integer feasible point.

    Each integer program maximises the sum of the terms that have been positive at none of the points so far, and ends
    at any point where that is positive: the best one may take minutes, and further programs follow anyway. Terms are
    zero at every point if the bound on their sum is below 1.

    Parameters
    ----------
    form : LinearForm
    terms : ndarray of bool
        The terms in question.
    seconds : float

    Returns
    -------
    empty, undecided : ndarray of bool
        Terms that are zero at every integer feasible point, and those for which the time was too short.

    Raises
    ------
    Infeasible
        If no integer point satisfies the rows.
    """
    seconds = number(seconds, "time_limit")
    empty, undecided = np.zeros(len(terms), dtype=bool), np.zeros(len(terms), dtype=bool)
    until = time.perf_counter() + seconds
    for component, at in _components_with(form, terms):
        unfilled = terms[at].copy()
        while unfilled.any():
            objective, left = -unfilled.astype(float), until - time.perf_counter()
            found = integer_minimum(component, objective, left, INTEGER.any_gap)
            filled = unfilled & (found.x > 0) if found.x is not None else np.zeros(len(unfilled), dtype=bool)
            if filled.any():
                unfilled &= ~filled
                continue
            (empty if found.bound > INTEGER.precision - 1 else undecided)[at[unfilled]] = True
            break
    return empty, undecided


def integer_minimum(form: LinearForm, objective: np.ndarray, seconds: float, gap: float = 0.0) -> IntegerOptimum:
    """Minimise over the integer feasible points; see :func:`integer_bounds` for what is raised.

    It ends at a point whose value is within `gap`, relative to that value, of the bound; at a value of 0 it goes on.
    """
    if seconds <= 0:
        return IntegerOptimum(-np.inf, None, False)
    scaled, is_wide = _scaled_to_integers(form)
    upper = np.where(np.isfinite(form.upper_bound), form.upper_bound, np.inf)
    matrix = sp.csc_array(scaled.matrix)  # with 32-bit indices, which older versions of SciPy ask for
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    answer = milp(
        objective,
        constraints=LinearConstraint(matrix, scaled.low, scaled.high),
        integrality=np.ones(len(objective), dtype=np.int64),
        bounds=Bounds(0, np.floor(upper + INTEGER.rounding)),
        options={"time_limit": seconds, "mip_rel_gap": gap},
    )
    if answer.status == 2 and is_wide:
        raise SolverError(
            f"coefficients of one statement are more than {INTEGER.widest_ratio:g} apart, so that HiGHS cannot "
            "tell whether whole assignments satisfy it; say it in two statements, or ask without integer=True"
        )
    if answer.status == 2:
        raise Infeasible(
            "no whole assignment satisfies what is published and known, though probabilities may: people have one "
            "value each; make statements vague with .about(value, eps), or ask without integer=True"
        )
    if answer.status not in (0, 1):
        raise SolverError(f"HiGHS found no whole assignment: {answer.message}")
    bound = -np.inf if answer.mip_dual_bound is None else float(answer.mip_dual_bound)
    if answer.x is None:
        return IntegerOptimum(bound, None, False)
    x = np.rint(answer.x)
    if _is_violated(scaled, x):
        raise Inaccurate("HiGHS' whole assignment does not satisfy the rows; ask without integer=True")
    attained = float(objective @ x)
    decided = answer.status == 0 and (gap == 0 or bound >= attained - INTEGER.precision)
    return IntegerOptimum(attained if decided else bound, x, decided)


def _scaled_to_integers(form: LinearForm) -> tuple[LinearForm, bool]:
    """Scale the rows so that one record more or less changes each by 1 or more, beyond the solver's tolerance.

    The sides of a row that counts records are integers, up to rounding, which is removed. Any other row is scaled so
    that its smallest coefficient is 1, and widened by its rounding error and the feasibility tolerance.

    Returns
    -------
    form : LinearForm
    is_wide : bool
        Whether coefficients of one row are so far apart that the solver's precision is too coarse.
    """
    matrix = form.matrix
    size = np.abs(matrix.data)
    least, most = least_by_row(size, matrix), most_by_row(size, matrix)
    counts = least >= most  # one coefficient, which is 1
    by = np.where(counts | (least <= 0), 1.0, least)
    sides = np.stack([np.where(np.isfinite(side), np.abs(side), 0.0) for side in (form.low, form.high)])
    widened = np.where(counts, 0.0, form.side_error + FEASIBILITY.relative * sides.max(axis=0)) / by
    low, high = (np.where(counts, _nearest_integer(side), side / by) for side in (form.low, form.high))
    matrix = sp.csr_array((matrix.data / by[entry_rows(matrix)], matrix.indices, matrix.indptr), shape=form.shape)
    return replace(form, coefficients=matrix, low=low - widened, high=high + widened), bool(
        (most > INTEGER.widest_ratio * by)[~counts].any()
    )


def _is_violated(form: LinearForm, x: np.ndarray) -> bool:
    """Whether integer counts violate a row by more than HiGHS' precision; computed without rounding."""
    every = np.arange(form.shape[0])
    low, high = (np.where(np.isfinite(side), side, 0.0) for side in (form.low, form.high))
    short = np.where(np.isfinite(form.low), -exact_residuals(form, x, every, low), 0.0)
    beyond = np.where(np.isfinite(form.high), exact_residuals(form, x, every, high), 0.0)
    return bool((np.maximum(short, beyond) > INTEGER.precision).any())


def _nearest_integer(side: np.ndarray) -> np.ndarray:
    """Replace numbers that are integers up to rounding by these integers."""
    with np.errstate(invalid="ignore"):
        nearest = np.rint(side)
        return np.where(np.abs(side - nearest) <= INTEGER.rounding, nearest, side)


def _components_with(form: LinearForm, asked: np.ndarray) -> Iterator[tuple[LinearForm, np.ndarray]]:
    """The independent components that contain some of the terms asked for, with all terms of each."""
    of_row, of_term = form.components()
    form = replace(form, coefficients=(matrix := form.matrix))  # as one matrix, of which small parts are made fast
    by_term = sp.csc_array(matrix)
    for component in np.unique(of_term[asked]):
        terms, rows = np.flatnonzero(of_term == component), of_row == component
        smaller = form.select(rows)
        kept = sp.csr_array(by_term[:, terms])[np.flatnonzero(rows)]
        yield replace(smaller, coefficients=sp.csr_array(kept), weights=form.weights[terms]), terms
