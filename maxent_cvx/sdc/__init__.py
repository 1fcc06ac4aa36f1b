"""Statistical disclosure control: techniques that publish a table, or answers, and what an intruder infers from it.

Every technique has ``publish(table, confidential)`` and ``infer(published, known, population)``, the intruder's
probabilities of the confidential values of a person of whom some attributes are known; judge them with
:func:`maxent_cvx.measures.equivocation`. :func:`experiment` compares techniques.
"""

from __future__ import annotations

from .experiment import experiment
from .noise.binomial_noise import BinomialNoise
from .noise.channel import Channel, noise_limit
from .noise.noisy_table import NoisyTable
from .published import Published
from .range_queries.bounds import half_overlapping_bounds, record_bounds
from .range_queries.range_queries import RangeQueries
from .range_queries.range_sums import RangeSums
from .range_queries.window_sums import WindowSums, WithinBounds
from .sampling import Sample, Sampling
from .technique import Technique

__all__ = [
    "BinomialNoise",
    "Channel",
    "NoisyTable",
    "Published",
    "RangeQueries",
    "RangeSums",
    "Sample",
    "Sampling",
    "Technique",
    "WindowSums",
    "WithinBounds",
    "experiment",
    "half_overlapping_bounds",
    "noise_limit",
    "record_bounds",
]
