"""What the rows alone leave open of some QI tuples: the interval of every P(s | q) that is shown."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..errors import SolverError
from ..model.intervals.asked import Asked
from ..model.intervals.bounds import bounds_of
from ..model.maxent import MaxEnt

__all__ = ["intervals"]


def intervals(model: MaxEnt, tuples: np.ndarray, seconds: float) -> np.ndarray:
    """``low <= P(s | q) <= high`` over every distribution that satisfies the rows, of some QI tuples q.

    Parameters
    ----------
    model : MaxEnt
        Of linear knowledge.
    tuples : ndarray of int
        The QI tuples, by their position in ``model.view.quasi_identifiers``.
    seconds : float
        For all of them.

    Returns
    -------
    ndarray, shape (2, QI tuples, sensitive values)
        Probabilities, never narrower than the truth; in large models an end may be further outside. What nobody can
        have is 0 to 0.

    Raises
    ------
    Infeasible, SolverError, NotDecided
        As :meth:`maxent_cvx.MaxEnt.bounds`.
    """
    if model.convex:
        raise SolverError("intervals are of linear rows, and the model holds a convex constraint of your own")
    space = model.space
    n_values, n_terms = len(space.view.sensitive_values), len(space)
    row_of = np.full(len(space.view.n_q), -1)
    row_of[tuples] = np.arange(len(tuples))
    terms = np.flatnonzero(row_of[space.codes["q"]] >= 0)
    cell = row_of[space.codes["q"][terms]] * n_values + space.codes["s"][terms]
    cells, place = np.unique(cell, return_inverse=True)
    people = space.view.n_q[tuples][cells // n_values]
    n = len(cells)
    matrix = sp.csr_array((1 / people[place], (place, terms)), shape=(n, n_terms))
    ends = np.stack([np.zeros(n), np.ones(n)])
    asked = Asked(matrix, np.zeros(n), ends, np.ones(n, dtype=bool), pd.RangeIndex(n))
    found = np.zeros((2, len(tuples) * n_values))
    found[:, cells] = bounds_of(asked, model, False, seconds, False, None).value
    return found.reshape(2, len(tuples), n_values)
