"""Checks of input: releases with priors, and tables of priors of one group."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from ..errors import BadProbability, StatementError, TableError, amount, arguments, listing, shown, unknown_name
from ..priors import QIDistribution
from ..views import Release, View

__all__ = ["check_release", "checked_priors"]


def check_release(view: object, prior: object, *, optional: bool = False) -> None:
    """Refuse a view without buckets, and anything that is not a prior, nor None if that may be."""
    if not (isinstance(prior, QIDistribution) or (optional and prior is None)):
        raise StatementError(f"prior must be a QIDistribution, not {shown(prior)}")
    if not isinstance(view, Release):
        what = f"a {type(view).__name__}" if isinstance(view, View) else shown(view)
        raise StatementError(f"possible worlds are those of the buckets of a Release, not of {what}")


def checked_priors(group: pd.DataFrame, values: Sequence[Hashable]) -> tuple[np.ndarray, np.ndarray]:
    """Check one group's priors, and count how often each of its columns occurs among its values."""
    if not isinstance(group, pd.DataFrame):
        raise TableError(
            f"a group is a DataFrame of prior probabilities, a row a tuple and a column a value, not {shown(group)}"
        )
    if group.columns.has_duplicates:
        twice = group.columns[group.columns.duplicated()].unique()
        raise TableError(f"the group has a column twice: {listing(twice)}")
    if isinstance(values, str):
        raise TableError(f"values={values!r} is a text; the list of the group's values is expected")
    if not arguments.is_several(values):
        raise TableError(f"values={shown(values)}: the list of the group's values is expected")
    held = list(values)
    try:
        at = group.columns.get_indexer(pd.Index(held, dtype=object) if held else group.columns[:0])
    except (TypeError, pd.errors.InvalidIndexError) as error:
        raise TableError(f"the values cannot be found among the group's columns: {error}") from error
    if (at < 0).any():
        raise unknown_name("value that the group has priors of", held[int((at < 0).argmax())], group.columns)
    if len(held) != len(group) or not held:
        raise TableError(
            f"the group has {amount(len(group), 'tuple')} and {amount(len(held), 'value')}; equally many are expected"
        )
    try:
        f = group.to_numpy(dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise BadProbability(f"the group's priors must be numbers: {error}") from error
    if not ((f >= 0) & (f <= 1)).all():
        raise BadProbability("the group's priors must be probabilities, from 0 to 1; at least one is not")
    return f, np.bincount(at, minlength=len(group.columns))
