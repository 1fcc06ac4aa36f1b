"""Groups taken apart and made anew, as a linear program over safe patterns of groups says."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...tables.coding import densely, tally
from ..drawing import rank
from .group_patterns import GroupPatterns, distinct_rows
from .grouping import Grouping

__all__ = ["rearrange"]

#: More kinds of records, by signature and value, are not rearranged.
MOST_KINDS = 5_000


def rearrange(grouping: Grouping, work: float) -> bool:
    """Choose among safe patterns of groups so that fewer are left over; groups that can stay do.

    Parameters
    ----------
    grouping : Grouping
        Changed in place.
    work : float
        See :meth:`GroupPatterns.best`.

    Returns
    -------
    bool
        Whether the search for patterns ended because its work was spent.
    """
    n_values = len(grouping.criterion.protected)
    kinds, kind = np.unique(grouping.signature * n_values + grouping.value, return_inverse=True)
    if not len(grouping.left) or len(kinds) > MOST_KINDS:
        return False
    inside = np.flatnonzero(grouping.group >= 0)
    group = densely(grouping.group[inside])
    table = tally(group, kind[inside], (int(group.max(initial=-1)) + 1, len(kinds)), None)
    first, pattern = distinct_rows(table)
    patterns = GroupPatterns(
        grouping.criterion, kinds // n_values, kinds % n_values, np.bincount(kind), table[first], np.bincount(pattern),
        grouping.rng,
    )  # fmt: skip
    used = patterns.best(work)
    n = patterns.table.shape[0]
    # Of each pattern the first groups stay; all other records are dealt to new groups, kind by kind, at random.
    stays = rank(np.sort(pattern))[np.argsort(np.argsort(pattern, kind="stable"))] < used[:n][pattern]
    grouping.group[inside[~stays[group]]] = -1
    new = sp.csr_array(patterns.table[np.repeat(np.arange(n), used[n:])])
    row = np.repeat(np.arange(new.shape[0]), np.diff(new.indptr))
    slot_group, slot_kind = (np.repeat(x, new.data.astype(int)) for x in (row, new.indices))
    left = grouping.rng.permutation(grouping.left)
    left = left[np.argsort(kind[left], kind="stable")]
    slots = np.argsort(slot_kind, kind="stable")
    start = np.searchsorted(kind[left], slot_kind[slots])
    grouping.accept(left[start + rank(slot_kind[slots])], slot_group[slots])
    return patterns.work >= work
