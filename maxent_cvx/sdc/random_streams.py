"""Random numbers: a stream for each technique (C13)."""

from __future__ import annotations

import numpy as np

__all__ = ["draws"]

#: Techniques with the same seed draw independent numbers, so that publishing by two of them discloses no common noise.
STREAMS = {"Sampling": 1, "RangeQueries": 2, "BinomialNoise": 3}


def draws(technique: str, seed: int) -> np.random.Generator:
    """The random numbers of a technique with a seed."""
    return np.random.default_rng([seed, STREAMS[technique]])
