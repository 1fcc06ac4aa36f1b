"""Statistical disclosure control: techniques that publish a table or answers, and an intruder's inferences from them.

Every technique has ``publish(table, confidential)`` and ``infer(published, known, population)``, which returns the
intruder's probabilities of a person's confidential values given some attributes; measure them with
:func:`maxent_cvx.measures.equivocation`. :func:`experiment` compares techniques.
"""

from __future__ import annotations

from .experiment import experiment
from .range_queries import RangeQueries, RangeSums, WindowSums, WithinBounds, half_overlapping_bounds, record_bounds
from .techniques import BinomialNoise, Channel, NoisyTable, Published, Sample, Sampling, Technique, noise_limit

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
