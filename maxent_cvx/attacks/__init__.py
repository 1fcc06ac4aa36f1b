"""Attacks: what can be inferred without knowing anybody's sensitive value, and how often the inference is right.

An attack is a function from a publication to probabilities. Unlike a model it takes no statements about sensitive
values. What it needs instead is in its docstring: exact quasi-identifiers, a voter list, the algorithm that made the
release, or several releases that share people.
"""

from __future__ import annotations

from .definetti import definetti
from .intersection import IntersectionResult, intersection
from .membership import AggregatesResult, MembershipResult, aggregates, membership
from .minimality import DowncodingResult, Minimal, MinimalityResult, downcoding, minimality
from .noisy import NoisyResult, noisy
from .reconstruction import Reconstruction, Statistic, reconstruct, tabulate
from .result import AttackResult, Judgement
from .worst_case import skyline, worst_case

__all__ = [
    "AggregatesResult",
    "AttackResult",
    "DowncodingResult",
    "IntersectionResult",
    "Judgement",
    "MembershipResult",
    "Minimal",
    "MinimalityResult",
    "NoisyResult",
    "Reconstruction",
    "Statistic",
    "aggregates",
    "definetti",
    "downcoding",
    "intersection",
    "membership",
    "minimality",
    "noisy",
    "reconstruct",
    "skyline",
    "tabulate",
    "worst_case",
]
