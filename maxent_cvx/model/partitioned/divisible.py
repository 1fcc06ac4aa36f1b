"""Whether a source of one's own says of each term the same, whatever other terms a partition has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ...terms.partitioned.part_space import PartSpace
from ...terms.partitioned.surroundings import Surroundings
from ...views.partitioned.partitioned_release import part_of
from ...views.partitioned.release_part import ReleasePart
from .shared_rows import own_columns
from .told_source import ToldSource

__all__ = ["check_divisible"]


def check_divisible(
    part: ReleasePart, sources: Sequence[ToldSource], around: Mapping[frozenset[str], Surroundings]
) -> None:
    """Compare what sources say of a partition with what they say of its two halves, term by term.

    Names and sides are compared in all partitions; coefficients that depend on the other terms, on ``len(space)`` say,
    are found here.

    Raises
    ------
    StatementError
        If they differ.
    """
    n = len(part.buckets)
    parts = [part, *(half_of(part, np.arange(a, b)) for a, b in ((0, n // 2), (n // 2, n)))]
    for source in sources if n > 1 else ():
        spaces = [PartSpace.around(one, around[source.columns]) for one in parts]
        for whole, *halves in zip(*(source.emitted_in(space) for space in spaces), strict=True):
            found, *pieces = (own_columns(rows, at.n_own) for rows, at in zip((whole, *halves), spaces, strict=True))
            if abs(found - sp.csr_array(sp.hstack(pieces, format="csr"))).sum() > 0:
                raise source.differs(f"other coefficients of {whole.label} than of half of it")


def half_of(part: ReleasePart, buckets: np.ndarray) -> ReleasePart:
    """Some buckets of a partition."""
    half = part_of(part, buckets)
    return replace(half, q_numbers=part.q_numbers[half.q_numbers])
