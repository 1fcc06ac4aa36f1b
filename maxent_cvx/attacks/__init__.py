"""Attacks: what can be inferred from what was published alone, and how often the inference is right.

An attack is a function from what is published to what is inferred. It needs no knowledge that the adversary states, as
a model does; what it assumes instead is in its docstring.
"""

from __future__ import annotations

from .judgement import Judgement
from .reconstruction.reconstruct import reconstruct
from .reconstruction.result import Reconstruction
from .reconstruction.statistic import Statistic
from .reconstruction.tabulate import tabulate
from .result import AttackResult
from .skyline import skyline
from .worst_case import worst_case

__all__ = [
    "AttackResult",
    "Judgement",
    "Reconstruction",
    "Statistic",
    "reconstruct",
    "skyline",
    "tabulate",
    "worst_case",
]
