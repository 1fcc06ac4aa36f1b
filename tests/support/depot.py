"""The package's depot of problems whose answers are known, as the tests use it."""

from __future__ import annotations

from support.problems import CUBE, FIGURE_1C, PROBLEMS, SQUARE, Buckets, members, p, publish, square_dual
from support.problems import Problem as Case

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
