"""By how many records what an algorithm makes of a table differs from what was published."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import pandas as pd

from ...errors import TableError, arguments
from ...views import Release

__all__ = ["difference"]


def difference(release: Release, algorithm: Callable[..., Any], table: pd.DataFrame, given: Mapping[str, int]) -> float:
    """Half of the sum of absolute differences of counts; twice the records if nothing like it is published.

    Parameters
    ----------
    release : Release
        What was published.
    algorithm : function
        From a table to a Release.
    table : DataFrame
    given : dict
        Further arguments of the algorithm.
    """
    try:
        found = algorithm(table, **given)
    except TableError:  # of such a table it publishes nothing
        return float(2 * len(table))
    arguments.instance(found, Release, "what the algorithm returns")
    if found.qi != release.qi or found.sensitive != release.sensitive:
        return float(2 * len(table))
    return float(sum(_apart(found.published[key], counts) for key, counts in release.published.items()))


def _apart(one: pd.Series, other: pd.Series) -> float:
    """Half of the sum of absolute differences of counts."""
    counts: dict[Hashable, int] = one.to_dict()
    others: dict[Hashable, int] = other.to_dict()
    return sum(abs(counts.get(key, 0) - others.get(key, 0)) for key in counts.keys() | others.keys()) / 2
