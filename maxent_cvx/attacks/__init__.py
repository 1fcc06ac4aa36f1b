"""Attacks: inference without knowledge of sensitive values, and the share of right guesses.

An attack is a function from a publication to probabilities. Unlike a model it takes no statements about sensitive
values. Its docstring lists the requirements: exact quasi-identifiers, a voter list, the algorithm that made the
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
