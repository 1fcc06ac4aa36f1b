"""Possible worlds: all assignments of a group's values to its tuples, weighted by their priors."""

from __future__ import annotations

from .conditions import DeltaCondition, SoundCondition, conditions, delta_ceiling, delta_condition, sound_condition
from .linkage import linkage, r_robustness
from .posterior import joint, posterior
from .sampling import SampledPosterior, sample
from .sentences import Sentence, at_least, at_most, exactly, has, read_sentence

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
    "sound_condition",
]
