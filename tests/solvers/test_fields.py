"""DUAL_NEWTON has the answers of its users' own methods: scaling, fitting, projections, a root, the dual.

Each of these is written down in a few lines of NumPy or SciPy in tests/benchmarks/peers, and shares nothing with the
package. Libraries are asked where they are installed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import maxent_cvx as mx
from tests.benchmarks.peers import fitting, marginals, moments
from tests.benchmarks.peers import transport as plans
from tests.benchmarks.peers.comparing import violation

RAKED, CROSSED = ((12, 9), ((0,), (1,)), 0.5), ((5, 4, 3), ((0, 1), (1, 2), (0, 2)), 0.0)
LOOP, PAIRS = (4, 3, marginals.cliques("loop", 4), 0), (3, 5, marginals.cliques("pairs", 3), 0)
FIELDS: dict[str, tuple[Callable[..., cp.Problem], Callable[..., np.ndarray], tuple[Any, ...]]] = {
    "iterative proportional fitting, empty cells": (fitting.fitted, fitting.by_fitting, RAKED),
    "iterative proportional fitting, three-way": (fitting.fitted, fitting.by_fitting, CROSSED),
    "Sinkhorn and Knopp": (fitting.stochastic, fitting.by_knopp, (20,)),
    "matrix balancing": (fitting.balancing, fitting.by_schneider, (15,)),
    "marginals in a loop": (marginals.posed, marginals.by_fitting, LOOP),
    "all two-way marginals": (marginals.posed, marginals.by_fitting, PAIRS),
    "Jaynes' die": (moments.levels, moments.by_root, (6, 4.5)),
    "levels, mean near an end": (moments.levels, moments.by_root, (200, 4.0)),
    "density of given moments": (moments.density, moments.density_by_dual, (300, 6)),
    "features within a band": (moments.species, moments.species_by_dual, (300, 8)),
    "dense moments": (moments.dense, moments.dense_by_dual, (300, 8)),
    "transport with capacities": (plans.transport, plans.dykstra, (12, 0.05, 3.3)),
}


def solved(problem: cp.Problem) -> np.ndarray:
    """The answer of DUAL_NEWTON, which is optimal and satisfies the constraints."""
    problem.solve(solver=mx.solvers.DualNewton())
    assert problem.status == cp.OPTIMAL
    answer = problem.variables()[0].value
    assert violation(problem, answer) <= 1e-9
    return answer


@pytest.mark.parametrize("field", FIELDS)
def test_answers_of_a_field(field: str):
    """The method of the field has the same answer, to seven digits of its largest entry."""
    posed, method, arguments = FIELDS[field]
    known, answer = method(*arguments), solved(posed(*arguments))
    assert np.abs(answer - known).max() <= 1e-7 * known.max()


def test_marginals_of_a_tree():
    """Marginals of neighbours in a chain: the answer is p(a, b) p(b, c) / p(b), as the model is decomposable."""
    p = marginals.truth(3, 4)
    ab, bc = p.sum(axis=2), p.sum(axis=0)
    known = ab[:, :, None] * bc[None] / ab.sum(axis=0)[None, :, None]
    answer = solved(marginals.posed(3, 4, marginals.cliques("chain", 3), 0))
    assert np.abs(answer - known.ravel()).max() <= 1e-9
