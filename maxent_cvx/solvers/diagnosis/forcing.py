"""Which rows force terms to zero: an irreducible set of rows, with a certificate that is verified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ...errors import Infeasible, NotDecided, SolverError
from ..linear.elastic import elastic_relaxation
from ..linear.support import rationalised
from ..parameters.tolerances import DIAGNOSIS, FEASIBILITY, PRESOLVE
from ..presolve.aggregation import aggregate
from ..presolve.bound_propagation import ActivityBounds, term_bounds
from ..presolve.zero_proofs import empty_terms
from ..program.linear_form import LinearForm
from ..program.problem import Problem
from ..rows.sparse import entry_rows
from .conflict import find_iis

__all__ = ["forcing_rows", "zeros_by_bounds"]


def zeros_by_bounds(form: LinearForm, rows: np.ndarray, n_records: float) -> Iterator[tuple[int, np.ndarray]]:
    """Mark the terms that bound propagation proves zero from the hard constraints and one row of knowledge, row by row.

    Parameters
    ----------
    form : LinearForm
    rows : ndarray of int
        Rows of knowledge, by their numbers in the form.
    n_records : float

    Yields
    ------
    (int, ndarray of bool)
        A row, and the terms; rows that prove none may be left out.
    """
    for row in rows[_may_tighten(form, rows, n_records)]:
        try:
            selected = form.select_knowledge(np.array([row]))
            upper = term_bounds(selected, n_records)[1]
        except Infeasible:
            continue
        yield int(row), upper <= FEASIBILITY.relative * selected.count_scale


def _may_tighten(form: LinearForm, rows: np.ndarray, n_records: float) -> np.ndarray:
    """Mark the rows that, alone, move any bound that propagation of the hard constraints has arrived at.

    With a row that does not, propagation proves what it proves without. Most vague or common probabilities are such
    rows. What is compared is the slack of a row with the widest of the terms that have the same column, with half the
    least move as a margin for rounding errors, by which propagation only widens bounds.
    """
    hard = form.select_knowledge(np.empty(0, dtype=int))
    try:
        lower, upper = term_bounds(hard, n_records)
    except Infeasible:
        return np.ones(len(rows), dtype=bool)
    if (upper <= FEASIBILITY.relative * hard.count_scale).any():  # they prove something with any row
        return np.ones(len(rows), dtype=bool)
    known, at = form.known, rows - form.n_published
    low, high = (value[rows] for value in ActivityBounds(form)(lower, upper))
    width, distinct = np.zeros(known.distinct.shape[1]), known.distinct[at]
    np.maximum.at(width, known.of_term, upper - lower)
    scale = np.full(len(width), np.inf)
    np.minimum.at(scale, known.of_term, form.count_scale)
    slack = np.maximum(np.minimum(form.high[rows] - low, high - form.low[rows]), 0.0)
    row, least_move = entry_rows(distinct), PRESOLVE.least_move * scale[distinct.indices] / 2
    tightens = np.abs(distinct.data) * (width[distinct.indices] - least_move) > slack[row]
    return np.bincount(row, tightens, len(rows)) > 0


def forcing_rows(problem: Problem, terms: np.ndarray) -> np.ndarray | None:
    """Find an irreducible set of rows of knowledge that, with the hard constraints, force some terms to zero.

    Parameters
    ----------
    problem : Problem
    terms : ndarray of bool

    Returns
    -------
    ndarray of int or None
        None if the terms are not forced to zero, or if there is no proof.

    Notes
    -----
    If rows force the terms to zero, they contradict the supposition that the terms hold ``DIAGNOSIS.supposed`` records
    in all; an IIS of this contradiction is an irreducible set that forces them. Its Farkas certificate is then a
    direction that proves the terms zero, which is verified from the raw rows. The converse does not hold: rows that
    only force the terms below ``DIAGNOSIS.supposed`` contradict the supposition as well, and may be found instead. In
    that case rows are removed one by one, as long as the certificate of a linear program still proves the terms zero.
    """
    form = problem.form
    supposed = _with_supposition(form, terms, hard=True)
    iis = find_iis(problem.with_rows(supposed))
    if iis is None:
        return None
    rows = np.sort(iis) - 1
    aggregation = aggregate(supposed.select_knowledge(rows + 1))
    direction = elastic_relaxation(aggregation.form).direction[aggregation.row]
    proof = _proof(form.select_knowledge(rows), terms, direction, form.n_facts)
    return _irreducible(form, terms) if proof is None else rows


def _irreducible(form: LinearForm, terms: np.ndarray) -> np.ndarray | None:
    """Find an irreducible set of rows of knowledge that force some terms to zero, by deletion; None without a proof."""
    rows = _needed(form, terms, np.arange(form.n_facts, form.shape[0]))
    if rows is None:
        return None
    for row in rows:
        if row in rows:  # it may have been dropped together with an earlier one
            fewer = _needed(form, terms, rows[rows != row])
            rows = rows if fewer is None else fewer
    return rows


def _needed(form: LinearForm, terms: np.ndarray, rows: np.ndarray) -> np.ndarray | None:
    """The rows of knowledge with a non-zero multiplier in a proof that some terms are zero; None without a proof.

    The proof is the certificate of an elastic relaxation in which only the supposition is relaxed.
    """
    selected = form.select_knowledge(rows)
    last = selected.shape[0]
    aggregation = aggregate(_with_supposition(selected, terms, hard=False))
    price = np.append(np.full(len(rows), np.inf), 1.0)
    try:
        direction = elastic_relaxation(aggregation.form, price).direction[aggregation.row]
    except NotDecided:  # the time is over
        raise
    except (Infeasible, SolverError):  # the rows are feasible only within their tolerances
        return None
    proof = _proof(selected, terms, direction, last)
    return None if proof is None else rows[proof[form.n_facts :] != 0]


def _proof(form: LinearForm, terms: np.ndarray, direction: np.ndarray, place: int) -> np.ndarray | None:
    """A direction that proves some terms zero, from the Farkas certificate of a contradiction; None if it does not.

    Parameters
    ----------
    form : LinearForm
        The rows without the supposition.
    terms : ndarray of bool
    direction : ndarray
        The Farkas certificate: a multiplier for each row, the supposition included.
    place : int
        The position of the supposition.
    """
    multiplier = direction[place]
    if not multiplier > 0:
        return None
    proof = rationalised(np.delete(direction, place) / multiplier)
    nothing_fixed = np.zeros(form.shape[1], dtype=bool)
    return proof if empty_terms(form, proof, nothing_fixed, np.zeros(form.shape[1]))[terms].all() else None


def _with_supposition(form: LinearForm, terms: np.ndarray, *, hard: bool) -> LinearForm:
    """Add the row that some terms hold ``DIAGNOSIS.supposed`` records: as the last hard row, or as the last of all."""
    place = form.n_facts if hard else form.shape[0]
    row, matrix = sp.csr_array(terms.astype(float)[None]), form.matrix
    return replace(
        form,
        coefficients=sp.csr_array(sp.vstack([matrix[:place], row, matrix[place:]], format="csr")),
        low=np.insert(form.low, place, DIAGNOSIS.supposed),
        high=np.insert(form.high, place, np.inf),
        scale=np.insert(form.scale, place, 1.0),
        shift=np.insert(form.shift, place, 0.0),
        side_error=np.insert(form.side_error, place, 0.0),
        coefficient_error=np.insert(form.coefficient_error, place, 0.0),
        n_facts=form.n_facts + hard,
    )
