"""Attacks: what can be inferred without knowing anybody's sensitive value, and how often the inference is right.

An attack is a function from a publication to probabilities. Unlike a model it takes no statements about sensitive
values. What it needs instead is in its docstring: exact quasi-identifiers, a voter list, the algorithm that made the
release, or several releases that share people.
"""

from __future__ import annotations

from .composition.intersection import intersection
from .composition.intersection_result import IntersectionResult
from .judgement import Judgement
from .known_algorithm.downcoding.downcoding import downcoding
from .known_algorithm.downcoding.minimal import Minimal
from .known_algorithm.downcoding.result import DowncodingResult
from .known_algorithm.minimality import minimality
from .known_algorithm.result import MinimalityResult
from .learning.definetti import definetti
from .presence.aggregates import aggregates
from .presence.aggregates_result import AggregatesResult
from .presence.membership import membership
from .presence.membership_result import MembershipResult
from .reconstruction.reconstruct import reconstruct
from .reconstruction.result import Reconstruction
from .reconstruction.statistic import Statistic
from .reconstruction.tabulate import tabulate
from .result import AttackResult
from .skyline import skyline
from .worst_case import worst_case

__all__ = [
    "AggregatesResult",
    "AttackResult",
    "DowncodingResult",
    "IntersectionResult",
    "Judgement",
    "MembershipResult",
    "Minimal",
    "MinimalityResult",
    "Reconstruction",
    "Statistic",
    "aggregates",
    "definetti",
    "downcoding",
    "intersection",
    "membership",
    "minimality",
    "reconstruct",
    "skyline",
    "tabulate",
    "worst_case",
]
