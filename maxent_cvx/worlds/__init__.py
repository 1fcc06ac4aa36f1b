"""Possible worlds: everything that a group's tuples and values may be, each as likely as its prior says."""

from __future__ import annotations

from .conditions import conditions
from .deviation import DeltaCondition, delta_ceiling, delta_condition
from .exact import posterior
from .linkage import linkage
from .robustness import r_robustness
from .sampled_linkage import sample_linkage
from .sampling import SampledPosterior, sample
from .sentences import Sentence, at_least, at_most, exactly, has, read_sentence
from .sound import SoundCondition, sound_condition
from .ties import joint

__all__ = [
    "DeltaCondition",
    "SampledPosterior",
    "Sentence",
    "SoundCondition",
    "at_least",
    "at_most",
    "conditions",
    "delta_ceiling",
    "delta_condition",
    "exactly",
    "has",
    "joint",
    "linkage",
    "posterior",
    "r_robustness",
    "read_sentence",
    "sample",
    "sample_linkage",
    "sound_condition",
]
