"""Attacks: what can be inferred from what was published alone, and how often the inference is right.

An attack is a function from what is published to what is inferred. It needs no knowledge that the adversary states, as
a model does; what it assumes instead is in its docstring.
"""

from __future__ import annotations

from .composition.intersection import intersection
from .composition.intersection_result import IntersectionResult
from .judgement import Judgement
from .presence.aggregates import aggregates
from .presence.aggregates_result import AggregatesResult
from .presence.membership import membership
from .presence.membership_result import MembershipResult
from .result import AttackResult

__all__ = [
    "AggregatesResult",
    "AttackResult",
    "IntersectionResult",
    "Judgement",
    "MembershipResult",
    "aggregates",
    "intersection",
    "membership",
]
