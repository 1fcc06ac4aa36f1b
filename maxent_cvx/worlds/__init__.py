"""Possible worlds: everything that a group's tuples and values may be, each as likely as its prior says."""

from __future__ import annotations

from .conditions import conditions
from .deviation import DeltaCondition, delta_ceiling, delta_condition
from .exact import posterior
from .robustness import linkage, r_robustness
from .sampling import SampledPosterior, sample
from .sound import SoundCondition, sound_condition
from .ties import joint

__all__ = [
    "DeltaCondition",
    "SampledPosterior",
    "SoundCondition",
    "conditions",
    "delta_ceiling",
    "delta_condition",
    "joint",
    "linkage",
    "posterior",
    "r_robustness",
    "sample",
    "sound_condition",
]
