"""The problems of linear rows, which every solver takes, under the names that tests of solvers use."""

from __future__ import annotations

from support.problems import CONTRADICTORY, CUBE, FIGURE_1C, SOLVABLE, SQUARE, Buckets, members, p, publish, square_dual
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
