"""The positions of the signatures of people, or of a view's QI tuples, in a table of priors."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..errors import UnknownName, amount, arguments, unknown_name
from ..tables.coding import group_codes, sort_distinct
from ..tables.columns import check_columns

__all__ = ["positions"]


def positions(index: pd.Index, people: pd.DataFrame | pd.MultiIndex, key: tuple[str, ...]) -> np.ndarray:
    """Find the signature of every row in the index of a table.

    Parameters
    ----------
    index : Index
        The signatures that have priors, a level an attribute of `key`.
    people : DataFrame or MultiIndex
        With a column, or a level, for every attribute.
    key : tuple of str
        The attribute set.

    Returns
    -------
    ndarray of int, one a row of `people`

    Raises
    ------
    UnknownName
        If nothing is said about a signature.
    """
    code, distinct = _distinct(people, key)
    at = index.get_indexer(distinct)
    if (at < 0).any():
        for i, name in enumerate(key):
            level, known = distinct.get_level_values(i), index.unique(level=i)
            if len(strange := level[~level.isin(known)]):
                raise unknown_name(f"value of {name!r} that the prior has a signature of", strange[0], known)
        raise UnknownName(
            f"the prior has no row for {int((at < 0).sum())} of {amount(len(at), 'signature')} by {', '.join(key)}: "
            "each value occurs in it, but not together; add their rows"
        )
    return np.asarray(at[code])


def _distinct(people: pd.DataFrame | pd.MultiIndex, key: tuple[str, ...]) -> tuple[np.ndarray, pd.MultiIndex]:
    """Number the distinct signatures of people, or of QI tuples."""
    if isinstance(people, pd.DataFrame):
        check_columns(people, {"signature": key}, "the table of people")
        return sort_distinct(people[list(key)])
    arguments.instance(people, pd.MultiIndex, "people", "a DataFrame, or the QI tuples of a view, are expected")
    if strangers := [name for name in key if name not in people.names]:
        raise unknown_name("quasi-identifier (given as an attribute of the prior)", strangers[0], people.names)
    at = [people.names.index(name) for name in key]
    code = group_codes([np.asarray(people.codes[i]) for i in at], [len(people.levels[i]) for i in at])
    first = np.unique(code, return_index=True)[1]
    return code, pd.MultiIndex.from_arrays([people.get_level_values(i)[first] for i in at], names=key)
