"""The package's depot of problems whose answers are known, as the tests use it."""

from __future__ import annotations

from maxent_cvx.testing.problems import PROBLEMS
from maxent_cvx.testing.problems.problem import Problem as Case
from maxent_cvx.testing.problems.published import CUBE, FIGURE_1C, SQUARE, Buckets, members, p, publish, square_dual

__all__ = [
    "CONTRADICTORY",
    "CUBE",
    "FIGURE_1C",
    "SOLVABLE",
    "SQUARE",
    "Buckets",
    "Case",
    "members",
    "p",
    "publish",
    "square_dual",
]

#: Those of linear rows: every solver takes them.
LINEAR = [case for case in PROBLEMS.values() if not case.needs_convex]
SOLVABLE = tuple(case for case in LINEAR if case.feasible)
CONTRADICTORY = tuple(case for case in LINEAR if not case.feasible)
