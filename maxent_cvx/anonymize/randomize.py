"""Randomized response: values are changed at random before publication."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .._utils.errors import StatementError, TableError, join_names
from .._utils.tables import check_columns
from .._utils.validation import check_seed, check_str
from ..sources.queries import RandomizedResponse


def randomize(table: pd.DataFrame, *, sa: str, transition: pd.DataFrame, seed: int = 0) -> pd.Series:
    """Replace s by r with probability T(s, r), independently for each record.

    Parameters
    ----------
    table : DataFrame
        One row per person.
    sa : str
        The sensitive attribute.
    transition : DataFrame
        T, probabilities: one row per value, one column per reported value, see :class:`maxent_cvx.RandomizedResponse`.
    seed : int
        Random seed.

    Returns
    -------
    Series
        The reported values, indexed like the table.

    Raises
    ------
    TableError, BadProbability, StatementError
        If `transition` is not a transition matrix, or lacks a value; or the seed is not an integer.
    UnknownName
        If the table lacks the attribute.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> truth = pd.DataFrame({"Smokes": ["yes"] * 300 + ["no"] * 700})
    >>> flip = pd.DataFrame([[0.8, 0.2], [0.2, 0.8]], index=["yes", "no"], columns=["yes", "no"])
    >>> reported = mx.anonymize.randomize(truth, sa="Smokes", transition=flip)
    >>> pd.crosstab(truth["Smokes"], reported).loc["yes"].to_dict()             # about a fifth of 300 report the opposite
    {'no': 79, 'yes': 221}
    """
    RandomizedResponse(transition, reported=check_str(sa, "sa"))  # checks the matrix
    check_seed(seed, TableError)
    check_columns(table, {"sa": (sa,)}, "the table")
    row = transition.index.get_indexer(pd.Index(table[sa]))
    if (row < 0).any():
        raise StatementError(f"transition has no row for {join_names(table[sa][row < 0].unique())}")
    cumulative = transition.to_numpy(dtype=float).cumsum(axis=1)
    drawn = np.random.default_rng(seed).random(len(table))
    published = (drawn[:, None] >= cumulative[row]).sum(axis=1).clip(max=transition.shape[1] - 1)
    return pd.Series(np.asarray(transition.columns, dtype=object)[published], index=table.index, name=sa)
