"""How the tests solve: every solver by name, with its multipliers, and the error of an answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import settings

from maxent_cvx import MaxEnt, Posterior
from maxent_cvx.solvers.backends import SOLVERS, CvxpyBackend, find
from maxent_cvx.solvers.certificate import Solution
from maxent_cvx.solvers.solve import solve

INSTALLED = [name for name, backend in SOLVERS.items() if backend.installed]
#: Solvers behind CVXPY, as against those of this package.
CONIC = [name for name in INSTALLED if isinstance(SOLVERS[name], CvxpyBackend)]
DEFAULT = next(iter(SOLVERS))


def examples(n: int) -> settings:
    """Try n examples, the same ones in every run."""
    return settings(max_examples=n, deadline=None, derandomize=True)


def solution(model: MaxEnt, solver: str = "auto", **options: Any) -> Solution:
    """Solve a model, and keep the multipliers, which a posterior does not show."""
    return solve(model.posed, find(solver), **options)


def error(post: Posterior, counts: np.ndarray) -> float:
    """The largest |P(s, b | q) - P'(s, b | q)| between a posterior and other counts of its terms."""
    return float((np.abs(post.counts - counts) / post.space.view.n_q[post.space.codes["q"]]).max())
