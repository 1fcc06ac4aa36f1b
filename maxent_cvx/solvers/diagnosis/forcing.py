"""Which rows force terms to be empty: an irreducible set for each, with a proof that is checked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ...errors import Infeasible, SolverError
from ..linear.elastic import elastic_relaxation
from ..linear.support import rationalised
from ..presolve.aggregation import aggregate
from ..presolve.bound_propagation import term_bounds
from ..presolve.zero_proofs import empty_terms
from ..program.linear_form import LinearForm
from ..program.problem import Problem
from ..tolerances import DIAGNOSIS, FEASIBILITY
from .conflict import irreducible

__all__ = ["forced_by", "forcing"]


def forced_by(form: LinearForm, rows: np.ndarray, n_records: float) -> np.ndarray:
    """Mark the terms that bounds show to be empty, given the facts and some rows of knowledge."""
    try:
        some = form.among(rows)
        upper = term_bounds(some, n_records)[1]
    except Infeasible:
        return np.zeros(form.shape[1], dtype=bool)
    return upper <= FEASIBILITY.relative * some.count_scale


def forcing(problem: Problem, terms: np.ndarray) -> np.ndarray | None:
    """Find an irreducible set of rows of knowledge that, with the facts, leave nobody in some terms.

    Parameters
    ----------
    problem : Problem
    terms : ndarray of bool

    Returns
    -------
    ndarray of int or None
        None if they are not forced, or not provably.

    Notes
    -----
    If rows force the terms to be empty, they contradict the supposition that somebody is there; what that
    contradiction needs is what forces them. Its multipliers are then a direction that proves them empty, which is
    checked from the raw rows. The converse does not hold: rows that leave a part of a person smaller than the one
    supposed are a contradiction as well, and may be found instead of those that leave nobody, of which there can be
    several. Then the question is asked without a supposition: how many people can be there at most.
    """
    form = problem.form
    supposed = _supposing(form, terms, as_fact=True)
    clash = irreducible(problem.with_rows(supposed))
    if clash is None:
        return None
    rows = np.sort(clash) - 1
    direction = elastic_relaxation(supposed.among(rows + 1)).direction
    proof = _proof(form.among(rows), terms, direction, form.n_facts)
    return _irreducible(form, terms) if proof is None else rows


def _irreducible(form: LinearForm, terms: np.ndarray) -> np.ndarray | None:
    """Find an irreducible set of rows of knowledge that, with the facts, leave nobody in some terms; or None."""
    rows = _needed(form, terms, np.arange(form.n_facts, form.shape[0]))
    if rows is None:
        return None
    for row in rows:
        if row in rows:  # a proof without another may not have needed it
            fewer = _needed(form, terms, rows[rows != row])
            rows = rows if fewer is None else fewer
    return rows


def _needed(form: LinearForm, terms: np.ndarray, rows: np.ndarray) -> np.ndarray | None:
    """Those of some rows of knowledge that a proof makes use of, that there is nobody in some terms; None without one.

    Nothing gives way but that somebody is there. What is missing of that at least is all of it where nobody can be.
    """
    some = form.among(rows)
    last = some.shape[0]
    aggregation = aggregate(_supposing(some, terms, as_fact=False))
    price = np.append(np.full(len(rows), np.inf), 1.0)
    try:
        direction = elastic_relaxation(aggregation.form, price).direction[aggregation.row]
    except (Infeasible, SolverError):  # where rows hold together only as closely as rounding is forgiven
        return None
    proof = _proof(some, terms, direction, last)
    return None if proof is None else rows[proof[form.n_facts :] != 0]


def _proof(form: LinearForm, terms: np.ndarray, direction: np.ndarray, place: int) -> np.ndarray | None:
    """A direction that proves some terms to be empty, from that of a contradiction; None if it does not.

    Parameters
    ----------
    form : LinearForm
        The rows without the supposition.
    terms : ndarray of bool
    direction : ndarray
        A multiplier a row, also of the supposition.
    place : int
        Which of them that is.
    """
    multiplier = direction[place]
    if not multiplier > 0:
        return None
    proof = rationalised(np.delete(direction, place) / multiplier)
    nobody = np.zeros(form.shape[1], dtype=bool)
    return proof if empty_terms(form, proof, nobody, np.zeros(form.shape[1]))[terms].all() else None


def _supposing(form: LinearForm, terms: np.ndarray, *, as_fact: bool) -> LinearForm:
    """Add that there is somebody in some terms: as the last fact, or else as the last row of knowledge."""
    place = form.n_facts if as_fact else form.shape[0]
    row = sp.csr_array(terms.astype(float)[None])
    return replace(
        form,
        matrix=sp.csr_array(sp.vstack([form.matrix[:place], row, form.matrix[place:]], format="csr")),
        low=np.insert(form.low, place, DIAGNOSIS.supposed),
        high=np.insert(form.high, place, np.inf),
        scale=np.insert(form.scale, place, 1.0),
        shift=np.insert(form.shift, place, 0.0),
        side_error=np.insert(form.side_error, place, 0.0),
        coefficient_error=np.insert(form.coefficient_error, place, 0.0),
        n_facts=form.n_facts + as_fact,
    )
