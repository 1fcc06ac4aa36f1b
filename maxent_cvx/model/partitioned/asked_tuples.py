"""QI tuples as users name them, by their numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...errors import StatementError, arguments, listing, shown

__all__ = ["numbers_of_tuples"]


def numbers_of_tuples(asked: object, qi: Sequence[str], tuples: pd.MultiIndex) -> np.ndarray:
    """Find QI tuples among those of a release.

    Parameters
    ----------
    asked : DataFrame, MultiIndex, or list of tuples
        Of a table its QI columns; of one attribute the values will do.
    qi : sequence of str
    tuples : MultiIndex
        All of them.

    Raises
    ------
    StatementError
        If they are no tuples, or nobody has one.
    """
    what = (
        f"q={shown(asked)}: the QI tuples that are asked for are expected, a table with the columns {list(qi)}, a list "
        "of tuples, or a description {attribute: value}"
    )
    if isinstance(asked, pd.DataFrame):
        if not set(qi) <= set(asked.columns):
            raise StatementError(what)
        listed = list(asked[list(qi)].itertuples(index=False, name=None))
    elif isinstance(asked, str | pd.Series) or not arguments.is_several(asked):
        raise StatementError(what)
    else:
        listed = [one if isinstance(one, tuple) else (one,) for one in asked]
    if not listed or any(len(one) != len(qi) for one in listed):
        raise StatementError(what)
    codes = []
    for i, level in enumerate(tuples.levels):
        try:
            codes.append(pd.Index(level, dtype=object).get_indexer(pd.Index([one[i] for one in listed], dtype=object)))
        except TypeError:  # a list in a tuple, say
            raise StatementError(what) from None
    own = pd.MultiIndex.from_arrays([np.asarray(one) for one in tuples.codes])
    at = own.get_indexer(pd.MultiIndex.from_arrays(codes))
    if (strangers := np.flatnonzero(at < 0)).size:
        nobody = [listed[i] for i in strangers.tolist()]
        raise StatementError(f"nobody in the release has the {', '.join(qi)} {listing(nobody)}")
    return np.asarray(at)
