"""Attacks: what can be inferred from what was published alone, and how often the inference is right.

An attack is a function from what is published to what is inferred. It needs no knowledge that the adversary states, as
a model does; what it assumes instead is in its docstring.
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
