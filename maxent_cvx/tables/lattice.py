"""The lattice of QI patterns: records counted over every subset of the QI attributes, level by level.

A pattern Q sets some of the attributes. What is decided for a pattern and all that set more ("too few records",
say) closes it, so that nothing is counted below it (the Apriori principle).
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..errors import StatementError, shown
from .coding import densely
from .numbers import as_list

__all__ = ["Cube", "cubes", "sizes_of"]


@dataclass(frozen=True, eq=False)
class Cube:
    """Records counted over one subset of the QI attributes.

    Attributes
    ----------
    attributes : tuple of int
        Positions of the attributes in `qi`.
    group : ndarray, one a distinct QI tuple
        The pattern that the tuple belongs to, numbered in sorted order; -1 where that is closed.
    first : ndarray, one a pattern
        A QI tuple that belongs to it.
    counts : ndarray, shape (patterns, columns)
        The sums of what is counted over the pattern's tuples.
    closed : ndarray of bool, shape (patterns, kinds)
        What patterns that set fewer attributes have closed.
    parents : dict of tuple to ndarray
        For each subset with one attribute less, the pattern there that each pattern belongs to.
    """

    attributes: tuple[int, ...]
    group: np.ndarray
    first: np.ndarray
    counts: np.ndarray
    closed: np.ndarray
    parents: Mapping[tuple[int, ...], np.ndarray]

    def __len__(self) -> int:
        return len(self.first)


def cubes(
    qi: Sequence[str],
    tuples: pd.MultiIndex,
    counts: np.ndarray,
    closes: Callable[[Cube], np.ndarray],
    sizes: Iterable[int] | None = None,
) -> Iterator[Cube]:
    """Count over the subsets of the attributes: small ones first, those of a size by the attributes' names.

    Parameters
    ----------
    qi : sequence of str
        The attributes, which are the levels of `tuples`.
    tuples : MultiIndex
        The distinct QI tuples.
    counts : ndarray, shape (tuples, columns)
    closes : callable
        From a cube to a mask, shape (patterns, kinds), of what is decided for all that set more attributes.
        A pattern is left out when all kinds are closed.
    sizes : iterable of int, optional
        How many attributes to set; None is any number.
    """
    sizes = set(range(1, len(qi) + 1)) if sizes is None else set(sizes)
    by_name = sorted(range(len(qi)), key=qi.__getitem__)
    everything = np.zeros(len(tuples), dtype=np.int32)
    above: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
    for size in range(1, max(sizes) + 1):
        level: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
        for subset in combinations(by_name, size):
            parents = [subset[:i] + subset[i + 1 :] for i in range(size)] if size > 1 else []
            if any(parent not in above for parent in parents):
                continue
            group, first = _split(above[subset[:-1]][0] if parents else everything, tuples, subset[-1])
            closed, at = np.zeros((len(first), 1), dtype=bool), {}
            for parent in parents:
                at[parent] = above[parent][0][first]
                closed = closed | above[parent][1][at[parent]] | (at[parent] < 0)[:, None]
            out = np.asarray(closed.all(axis=1))
            if out.any():
                group, first = _without(group, first, out)
                closed, at = closed[~out], {parent: of[~out] for parent, of in at.items()}
            if not len(first):
                continue
            inside = group >= 0
            where = (np.ones(inside.sum(), dtype=counts.dtype), (group[inside], np.flatnonzero(inside)))
            sums = sp.csr_array(where, shape=(len(first), len(tuples))) @ counts
            cube = Cube(subset, group, first, np.asarray(sums), closed, at)
            if size in sizes:
                yield cube
            after = closed | closes(cube)
            if not after.all():
                done = after.all(axis=1)
                level[subset] = (np.where(inside & ~done[group], group, -1).astype(np.int32), after)
        above = level


def sizes_of(attributes: int | Iterable[int] | None, n_attributes: int) -> list[int]:
    """Read how many QI attributes a pattern may set; None is any number."""
    sizes = list(range(1, n_attributes + 1))
    if attributes is None:
        return sizes
    asked = as_list(attributes)
    whole_ones = all(isinstance(size, numbers.Integral) and not isinstance(size, bool) for size in asked)
    if not asked or not whole_ones or not set(asked) <= set(sizes):
        raise StatementError(
            f"attributes={shown(attributes)}: an association can set 1 to {n_attributes} of the QI attributes"
        )
    return sorted({int(size) for size in asked})


def _split(group: np.ndarray, tuples: pd.MultiIndex, attribute: int) -> tuple[np.ndarray, np.ndarray]:
    """Split patterns by the values of one more attribute; give each QI tuple's, and a tuple of each."""
    inside = np.flatnonzero(group >= 0)
    size = len(tuples.levels[attribute])
    finer = np.full(len(group), -1, dtype=np.int32)
    key = group[inside].astype(np.int64) * size + np.asarray(tuples.codes[attribute])[inside]
    finer[inside] = number = densely(key)
    first = np.empty(int(number.max(initial=-1)) + 1, dtype=np.int64)
    first[number[::-1]] = inside[::-1]
    return finer, first


def _without(group: np.ndarray, first: np.ndarray, out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leave out some patterns, and number the others anew."""
    number = np.append(np.where(out, -1, np.cumsum(~out) - 1), -1)  # -1 stays -1
    return number[group].astype(np.int32), first[~out]
