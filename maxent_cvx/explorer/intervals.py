"""What the rows alone leave open of some groups: the interval of every P(s | q) that is shown."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..errors import SolverError
from ..model.intervals.asked import Asked
from ..model.intervals.bounds import bounds_of
from ..model.maxent import MaxEnt

__all__ = ["intervals"]


def intervals(model: MaxEnt, groups: np.ndarray, seconds: float) -> np.ndarray:
    """``low <= P(s | q) <= high`` over every distribution that satisfies the rows, of some groups q.

    Parameters
    ----------
    model : MaxEnt
        Of linear knowledge.
    groups : ndarray of int
        QI tuples, or named people and the others of each, by their number in ``model.space.groups``.
    seconds : float
        For all of them.

    Returns
    -------
    ndarray, shape (2, groups, sensitive values)
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
    of_term, people = space.groups
    row_of = np.full(len(people), -1)
    row_of[groups] = np.arange(len(groups))
    terms = np.flatnonzero(row_of[of_term] >= 0)
    cell = row_of[of_term[terms]] * n_values + space.codes["s"][terms]
    cells, place = np.unique(cell, return_inverse=True)
    records = people[groups][cells // n_values]
    n = len(cells)
    matrix = sp.csr_array((1 / records[place], (place, terms)), shape=(n, n_terms))
    ends = np.stack([np.zeros(n), np.ones(n)])
    asked = Asked(matrix, np.zeros(n), ends, np.ones(n, dtype=bool), pd.RangeIndex(n))
    found = np.zeros((2, len(groups) * n_values))
    found[:, cells] = bounds_of(asked, model, False, seconds, False, None).value
    return found.reshape(2, len(groups), n_values)
