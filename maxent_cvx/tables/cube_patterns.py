"""Patterns of the lattice: whom each describes, and its name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .coding import places_of
from .lattice import Cube
from .selection import written

__all__ = ["members", "pattern_names"]


def members(found: Sequence[Cube], cube: np.ndarray, pattern: np.ndarray) -> sp.csr_array:
    """Mark which distinct QI tuples belong to each of some patterns, shape (patterns, tuples).

    Parameters
    ----------
    found : sequence of Cube
    cube, pattern : ndarray of int
        Which of the cubes, and which pattern of it.
    """
    rows, columns = [np.empty(0, dtype=int)], [np.empty(0, dtype=int)]
    for i in np.unique(cube):
        at = np.flatnonzero(cube == i)
        which, tuples = places_of(found[i].group, pattern[at])
        rows.append(at[which])
        columns.append(tuples)
    where = np.concatenate(rows), np.concatenate(columns)
    n_tuples = len(found[0].group) if len(found) else 0
    return sp.csr_array((np.ones(len(where[0])), where), shape=(len(cube), n_tuples))


def pattern_names(
    qi: Sequence[str], tuples: pd.MultiIndex, found: Sequence[Cube], cube: np.ndarray, pattern: np.ndarray
) -> np.ndarray:
    """Name patterns as texts: "Gender=male, Degree=college"."""
    names = np.empty(len(cube), dtype=object)
    values = [
        np.array([f"{name}={written(value)}" for value in level], dtype=object)
        for name, level in zip(qi, tuples.levels, strict=True)
    ]
    for i in np.unique(cube):
        at = np.flatnonzero(cube == i)
        first = found[i].first[pattern[at]]
        texts = [values[j][np.asarray(tuples.codes[j])[first]] for j in found[i].attributes]
        names[at] = texts[0]
        for text in texts[1:]:
            names[at] = names[at] + ", " + text
    return names
