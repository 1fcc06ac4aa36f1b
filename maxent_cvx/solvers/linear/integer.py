"""Whole assignments: linear programs over whole numbers of people, by HiGHS through SciPy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from ...errors import Inaccurate, Infeasible, NotDecided, SolverError, number
from ..certificate.residuals import exact_residuals
from ..program.linear_form import LinearForm
from ..rows.sparse import entry_rows, least_by_row, most_by_row
from ..tolerances import FEASIBILITY, INTEGER

__all__ = ["integer_bounds", "never_filled"]


@dataclass(frozen=True, eq=False)
class IntegerOptimum:
    """The least value of an expression over whole assignments.

    Attributes
    ----------
    bound : float
        No whole assignment has less.
    x : ndarray or None
        A whole assignment, checked against the rows.
    decided : bool
        Whether it attains the bound.
    """

    bound: float
    x: np.ndarray | None
    decided: bool


def integer_bounds(form: LinearForm, objective: np.ndarray, seconds: float) -> tuple[float, float]:
    """The least and the largest objective @ x over whole x >= 0 with low <= A x <= high.

    Raises
    ------
    Infeasible
        If no whole x satisfies the rows.
    NotDecided
        If the time is over.
    SolverError, Inaccurate
        If HiGHS fails, or its answer does not satisfy the rows.
    """
    seconds = number(seconds, "time_limit")
    size = float(np.abs(objective).max(initial=0.0))
    ends, until = [0.0, 0.0], time.perf_counter() + seconds
    for part, at in _parts(form, objective != 0):
        for i, sign in enumerate((1.0, -1.0)):
            found = integer_minimum(part, sign * objective[at] / size, until - time.perf_counter())
            if not found.decided:
                raise NotDecided(
                    f"whole assignments were not decided in {seconds:.3g} seconds; give more time, or ask integer=False"
                )
            ends[i] += sign * found.bound * size
    return ends[0], ends[1]


def never_filled(form: LinearForm, terms: np.ndarray, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Find terms that are empty in every whole assignment: as many others as possible are filled, again and again.

    Parameters
    ----------
    form : LinearForm
    terms : ndarray of bool
        The terms in question.
    seconds : float

    Returns
    -------
    empty, undecided : ndarray of bool

    Raises
    ------
    Infeasible
        If no whole assignment satisfies the rows.
    """
    seconds = number(seconds, "time_limit")
    empty, undecided = np.zeros(len(terms), dtype=bool), np.zeros(len(terms), dtype=bool)
    until = time.perf_counter() + seconds
    for part, at in _parts(form, terms):
        open_ = terms[at].copy()
        while open_.any():
            found = integer_minimum(part, -open_.astype(float), until - time.perf_counter())
            filled = open_ & (found.x > 0) if found.x is not None else np.zeros(len(open_), dtype=bool)
            if filled.any():
                open_ &= ~filled
                continue
            (empty if found.decided else undecided)[at[open_]] = True
            break
    return empty, undecided


def integer_minimum(form: LinearForm, objective: np.ndarray, seconds: float) -> IntegerOptimum:
    """Minimise over whole assignments; see :func:`integer_bounds` for what is raised."""
    if seconds <= 0:
        return IntegerOptimum(-np.inf, None, False)
    posed, is_wide = _posed(form)
    top = np.where(np.isfinite(form.upper_bound), form.upper_bound, np.inf)
    matrix = sp.csc_array(posed.matrix)  # with 32-bit indices, which older versions of SciPy ask for
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    answer = milp(
        objective,
        constraints=LinearConstraint(matrix, posed.low, posed.high),
        integrality=np.ones(len(objective), dtype=np.int64),
        bounds=Bounds(0, np.floor(top + INTEGER.rounding)),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
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
    if _misses(posed, x):
        raise Inaccurate("HiGHS' whole assignment does not satisfy the rows; ask without integer=True")
    return IntegerOptimum(float(objective @ x) if answer.status == 0 else bound, x, answer.status == 0)


def _posed(form: LinearForm) -> tuple[LinearForm, bool]:
    """Write the rows so that a whole person more or less shows in each; also tells if that is beyond all precision.

    A row that counts people has a whole number on either side, or what is no more than rounding of one. Any other is
    scaled so that its smallest coefficient is 1, and is forgiven what rounding made of it, in proportion to its sides.
    """
    size = np.abs(form.matrix.data)
    least, most = least_by_row(size, form.matrix), most_by_row(size, form.matrix)
    counts = least >= most  # one coefficient, which is 1
    by = np.where(counts | (least <= 0), 1.0, least)
    sides = np.stack([np.where(np.isfinite(side), np.abs(side), 0.0) for side in (form.low, form.high)])
    off = np.where(counts, 0.0, form.side_error + FEASIBILITY.relative * sides.max(axis=0)) / by
    low, high = (np.where(counts, _whole(side), side / by) for side in (form.low, form.high))
    data = form.matrix.data / by[entry_rows(form.matrix)]
    matrix = sp.csr_array((data, form.matrix.indices, form.matrix.indptr), shape=form.shape)
    return replace(form, matrix=matrix, low=low - off, high=high + off), bool(
        (most > INTEGER.widest_ratio * by)[~counts].any()
    )


def _misses(form: LinearForm, x: np.ndarray) -> bool:
    """Whether whole numbers of people miss a row by more than HiGHS' precision, without any rounding."""
    every = np.arange(form.shape[0])
    low, high = (np.where(np.isfinite(side), side, 0.0) for side in (form.low, form.high))
    short = np.where(np.isfinite(form.low), -exact_residuals(form, x, every, low), 0.0)
    beyond = np.where(np.isfinite(form.high), exact_residuals(form, x, every, high), 0.0)
    return bool((np.maximum(short, beyond) > INTEGER.precision).any())


def _whole(side: np.ndarray) -> np.ndarray:
    """Take off what is no more than rounding of a whole number."""
    with np.errstate(invalid="ignore"):
        nearest = np.rint(side)
        return np.where(np.abs(side - nearest) <= INTEGER.rounding, nearest, side)


def _parts(form: LinearForm, asked: np.ndarray) -> Iterator[tuple[LinearForm, np.ndarray]]:
    """The independent parts that some terms are in, with the terms of each."""
    of_row, of_term = form.components()
    by_term = sp.csc_array(form.matrix)
    for part in np.unique(of_term[asked]):
        terms, rows = np.flatnonzero(of_term == part), of_row == part
        smaller = form.select(rows)
        kept = sp.csr_array(by_term[:, terms])[np.flatnonzero(rows)]
        yield replace(smaller, matrix=sp.csr_array(kept), weights=form.weights[terms]), terms
