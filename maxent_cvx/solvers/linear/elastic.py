"""Whether rows can hold at all, and what would have to give: one linear program."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ...errors import Infeasible, SolverError
from ..program.linear_form import LinearForm
from ..program.weak_duality import dual_bound
from ..tolerances import LINEAR_PROGRAMS
from .entropic_penalty import optima

__all__ = ["ElasticRelaxation", "elastic_relaxation"]


@dataclass(frozen=True, eq=False)
class ElasticRelaxation:
    """What has to give.

    Attributes
    ----------
    below, above : ndarray, one a row
        How many people each row lacks of its low side, and has beyond its high side, >= 0; rounding is none. Zero
        throughout: all can hold as they are.
    direction : ndarray, one a row
        Multipliers d that tell why: no x has d' A x as large as d' (sides), which every x that satisfied
        the rows would have.
    """

    below: np.ndarray
    above: np.ndarray
    direction: np.ndarray

    @property
    def off(self) -> np.ndarray:
        """By how many people each row is missed."""
        return self.below + self.above


def elastic_relaxation(form: LinearForm, price: np.ndarray | None = None) -> ElasticRelaxation:
    """Find the least total change of the knowledge, in people, that makes all rows hold together.

    Parameters
    ----------
    form : LinearForm
        Facts never give way.
    price : ndarray, one a row of knowledge, optional
        What a change of one person costs, by default 1; what has an infinite price does not give way either.

    Raises
    ------
    Infeasible
        If the rows that do not give way contradict each other.
    SolverError
        If HiGHS cannot decide.
    """
    n_rows, n_terms = form.shape
    price = np.ones(n_rows - form.n_facts) if price is None else price
    below, above = np.zeros(n_rows), np.zeros(n_rows)
    if len(price) == 0:
        return ElasticRelaxation(below, above, below)
    gives = np.flatnonzero(np.isfinite(price))
    n = len(gives)
    give = sp.csr_array((np.ones(n), (form.n_facts + gives, np.arange(n))), shape=(n_rows, n))
    cost = np.concatenate([np.zeros(n_terms), np.tile(price[gives] / price[gives].max(initial=0.0), 2)])
    matrix = sp.hstack([form.matrix, give, -give], format="csr")
    sides = np.concatenate([form.low, form.high])
    precision = np.clip(
        LINEAR_PROGRAMS.share * np.abs(sides[np.isfinite(sides)]).max(initial=0.0),
        LINEAR_PROGRAMS.precision,
        LINEAR_PROGRAMS.coarsest,
    )
    elastic = replace(form, matrix=sp.csr_array(matrix), weights=np.ones(n_terms + 2 * n))
    most = np.full(n_rows, np.inf)
    most[form.n_facts + gives] = cost[n_terms : n_terms + n]
    for optimum in optima(elastic, cost, float(precision)):
        if optimum.infeasible:
            raise Infeasible("the rows that do not give way contradict each other")
        if not optimum.found:
            raise SolverError(f"HiGHS could not tell whether the knowledge is consistent: {optimum.message}")
        direction = np.clip(optimum.multipliers, -most, most)
        attained = float(cost @ optimum.x)
        if attained - dual_bound(form, np.zeros(n_terms), direction) <= LINEAR_PROGRAMS.gap * max(attained, 1.0):
            break
    given = np.where(optimum.x[n_terms:] > 10 * precision, optimum.x[n_terms:], 0.0)
    below[form.n_facts + gives], above[form.n_facts + gives] = given[:n], given[n:]
    return ElasticRelaxation(below, above, direction)
