"""Random numbers: a stream of its own for each technique."""

from __future__ import annotations

import numpy as np

__all__ = ["draws"]

#: Techniques of one seed draw numbers of their own: who publishes by more than one tells no more by that.
STREAMS = {"Sampling": 1, "RangeQueries": 2, "BinomialNoise": 3}


def draws(technique: str, seed: int) -> np.random.Generator:
    """The random numbers of a technique with a seed."""
    return np.random.default_rng([seed, STREAMS[technique]])
