"""Which rows force terms to be empty: an irreducible set for each, with a proof that is checked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ..errors import Infeasible
from .bounds import term_bounds
from .conflict import irreducible
from .feasibility import least_change
from .implied_zeros import empty_terms
from .linear_form import TOLERANCE, LinearForm
from .support import whole

__all__ = ["forced_by", "forcing"]

#: People that are supposed to be where nobody can be, for the contradiction that this makes.
SUPPOSED = 1e-2


def forced_by(form: LinearForm, rows: np.ndarray, n_records: float) -> np.ndarray:
    """Mark the terms that bounds show to be empty, given the facts and some rows of knowledge."""
    try:
        some = form.among(rows)
        upper = term_bounds(some, n_records)[1]
    except Infeasible:
        return np.zeros(form.shape[1], dtype=bool)
    return upper <= TOLERANCE * some.room


def forcing(
    form: LinearForm, terms: np.ndarray, closed_form: tuple[np.ndarray, np.ndarray], n_records: float
) -> np.ndarray | None:
    """Find an irreducible set of rows of knowledge that, with the facts, leave nobody in some terms.

    Parameters
    ----------
    form : LinearForm
    terms : ndarray of bool
    closed_form, n_records
        As of :func:`maxent_cvx.solvers.presolve.reduce`.

    Returns
    -------
    ndarray of int or None
        None if they are not forced, or not provably.

    Notes
    -----
    The terms are forced to be empty exactly if the rows contradict the supposition that somebody is there; what
    that contradiction needs is what forces them. Its multipliers are then a direction that proves them empty,
    which is checked from the raw rows.
    """
    supposed = _supposing(form, terms)
    clash = irreducible(supposed, closed_form, n_records)
    if clash is None:
        return None
    rows = np.sort(clash) - 1
    direction = least_change(supposed.among(rows + 1)).direction
    pressed = direction[form.n_facts]
    if not pressed > 0:
        return None
    proof = whole(np.delete(direction, form.n_facts) / pressed)
    nobody = np.zeros(form.shape[1], dtype=bool)
    proved = empty_terms(form.among(rows), proof, nobody, np.zeros(form.shape[1]))
    return rows if proved[terms].all() else None


def _supposing(form: LinearForm, terms: np.ndarray) -> LinearForm:
    """Add as a fact that there is somebody in some terms."""
    n = form.n_facts
    row = sp.csr_array(terms.astype(float)[None])
    return replace(
        form,
        matrix=sp.csr_array(sp.vstack([form.matrix[:n], row, form.matrix[n:]], format="csr")),
        low=np.insert(form.low, n, SUPPOSED),
        high=np.insert(form.high, n, np.inf),
        scale=np.insert(form.scale, n, 1.0),
        shift=np.insert(form.shift, n, 0.0),
        doubt=np.insert(form.doubt, n, 0.0),
        n_facts=n + 1,
    )
