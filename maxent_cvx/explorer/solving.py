"""A solve for which somebody waits: knowledge that seems contradictory is examined before the solver has given up."""

from __future__ import annotations

import pandas as pd

from ..errors import SolverError
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from ..solvers import Iteration

__all__ = ["Contradiction", "solved"]

#: Iterations after which one asks whether there is any answer: consistent knowledge of Adult takes 6 to 12, and of
#: contradictory one Newton's method takes hundreds before it says so.
PATIENCE = 16


class Contradiction(Exception):
    """The knowledge is contradictory, by the table that :meth:`maxent_cvx.MaxEnt.diagnose` gives."""

    def __init__(self, conflict: pd.DataFrame) -> None:
        super().__init__("contradictory")
        self.conflict = conflict


def solved(model: MaxEnt, seconds: float) -> Posterior:
    """Solve a model, or find out soon what contradicts what.

    Parameters
    ----------
    model : MaxEnt
    seconds : float
        For the solve, and for the search.

    Returns
    -------
    Posterior

    Raises
    ------
    Contradiction
        If the knowledge is contradictory, and it took the solver long to see it.
    MaxEntError
        As :meth:`maxent_cvx.MaxEnt.solve` and :meth:`maxent_cvx.MaxEnt.diagnose`.
    """
    if model.convex:  # which nobody diagnoses
        return model.solve(time_limit=seconds)
    try:
        return model.solve(time_limit=seconds, callback=_takes_long)
    except SolverError:
        found = model.diagnose(time_limit=seconds)
    if len(found):
        raise Contradiction(found)
    return model.solve(time_limit=seconds)


def _takes_long(iteration: Iteration) -> bool:
    """Whether it is time to ask."""
    return iteration.iteration >= PATIENCE
