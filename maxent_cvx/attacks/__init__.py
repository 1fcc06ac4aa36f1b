"""Attacks: what can be inferred from what was published alone, and how often the inference is right.

An attack is a function from what is published to what is inferred. It needs no knowledge that the adversary states, as
a model does; what it assumes instead is in its docstring.
"""

from __future__ import annotations

from .judgement import Judgement
from .known_algorithm.minimality import minimality
from .known_algorithm.result import MinimalityResult
from .result import AttackResult

__all__ = ["AttackResult", "Judgement", "MinimalityResult", "minimality"]
