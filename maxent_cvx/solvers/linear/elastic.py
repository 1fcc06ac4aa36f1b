"""Whether the rows are feasible, and the least change of the knowledge that makes them so: one linear program."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ...errors import Infeasible, SolverError
from ..parameters.tolerances import LINEAR_PROGRAMS
from ..program.linear_form import LinearForm
from ..program.weak_duality import dual_bound
from .entropic_penalty import optima

__all__ = ["ElasticRelaxation", "elastic_relaxation"]


@dataclass(frozen=True, eq=False)
class ElasticRelaxation:
    """The least weighted violation of the rows, and the dual solution that proves it.

    Attributes
    ----------
    below, above : ndarray, one a row
        By how many records each row falls short of its low side, and exceeds its high side, >= 0; violations within
        the precision of the linear program are 0. All are 0 if the rows are feasible.
    direction : ndarray, one a row
        Multipliers d of the rows. If the rows are infeasible it is a Farkas certificate: d' A x is less than d' (sides)
        for every x >= 0, and at least d' (sides) for every x that satisfies the rows.
    """

    below: np.ndarray
    above: np.ndarray
    direction: np.ndarray

    @property
    def off(self) -> np.ndarray:
        """The violation of each row, records."""
        return self.below + self.above


def elastic_relaxation(form: LinearForm, weights: np.ndarray | None = None) -> ElasticRelaxation:
    """Minimise the weighted sum of violations of the knowledge, in records, subject to the hard constraints.

    Parameters
    ----------
    form : LinearForm
        Its first `n_facts` rows are hard constraints.
    weights : ndarray, one a row of knowledge, optional
        The penalty for a violation of one record, by default 1; a row of infinite weight is a hard constraint.

    Raises
    ------
    Infeasible
        If the hard constraints contradict each other.
    SolverError
        If HiGHS cannot decide.
    """
    n_rows, n_terms = form.shape
    weights = np.ones(n_rows - form.n_facts) if weights is None else weights
    below, above = np.zeros(n_rows), np.zeros(n_rows)
    if len(weights) == 0:
        return ElasticRelaxation(below, above, below)
    soft = np.flatnonzero(np.isfinite(weights))
    n, rows = len(soft), form.n_facts + soft
    slacks = sp.csr_array((np.ones(n), (rows, np.arange(n))), shape=(n_rows, n))
    cost = np.concatenate([np.zeros(n_terms), np.tile(weights[soft] / weights[soft].max(initial=0.0), 2)])
    matrix = sp.hstack([form.matrix, slacks, -slacks], format="csr")
    sides = np.concatenate([form.low, form.high])
    precision = np.clip(
        LINEAR_PROGRAMS.share * np.abs(sides[np.isfinite(sides)]).max(initial=0.0),
        LINEAR_PROGRAMS.precision,
        LINEAR_PROGRAMS.coarsest,
    )
    elastic = replace(form, coefficients=sp.csr_array(matrix), weights=np.ones(n_terms + 2 * n))
    largest_multiplier = np.full(n_rows, np.inf)
    largest_multiplier[rows] = cost[n_terms : n_terms + n]
    for optimum in optima(elastic, cost, float(precision)):
        if optimum.infeasible:
            raise Infeasible("the rows that do not give way contradict each other")
        if not optimum.found:
            raise SolverError(f"HiGHS could not tell whether the knowledge is consistent: {optimum.message}")
        direction = np.clip(optimum.multipliers, -largest_multiplier, largest_multiplier)
        attained = float(cost @ optimum.x)
        if attained - dual_bound(form, np.zeros(n_terms), direction) <= LINEAR_PROGRAMS.gap * max(attained, 1.0):
            break
    violations = np.where(optimum.x[n_terms:] > 10 * precision, optimum.x[n_terms:], 0.0)
    below[rows], above[rows] = violations[:n], violations[n:]
    return ElasticRelaxation(below, above, direction)
