"""The table of a rule set: its rules checked, and named by their texts; its scores checked against the thresholds."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ..errors import StatementError, TableError, listing, number, unknown_name
from ..tables.selection import written
from .scores import SCORES, rounding
from .thresholds import Thresholds

__all__ = ["check_names", "check_scores", "named_rules"]


def check_names(columns: Sequence[str]) -> None:
    """Refuse a column with two roles, and one that has the name of a score."""
    if clash := [name for name in columns if name in SCORES]:
        raise TableError(f"a column is called {clash[0]!r}, which is a rule's score here; rename the column")
    if twice := [name for name in columns if list(columns).count(name) > 1]:
        raise TableError(f"column {twice[0]!r} is given twice in qi and sa; a column has one role")


def named_rules(
    table: pd.DataFrame, qi: tuple[str, ...], sensitive: tuple[str, ...], attributes: Sequence[int] | None
) -> pd.DataFrame:
    """Check the rules, and name each: the index is "Education=Doctorate, Gender=Female => 50K+".

    Parameters
    ----------
    table : DataFrame
        One row a rule.
    qi, sensitive : tuple of str
        Its columns of attributes.
    attributes : sequence of int, optional
        How many QI attributes a rule may set.

    Returns
    -------
    DataFrame
        With None where an attribute is not set, and the scores that are there.

    Raises
    ------
    UnknownName, TableError, StatementError
        If a column is missing or named twice, or a rule is incomplete, repeated, or sets another number of attributes.
    """
    if not isinstance(table, pd.DataFrame):
        raise TableError(f"rules must be a pandas DataFrame, a row a rule, not a {type(table).__name__}")
    columns = [*qi, *sensitive]
    check_names(columns)
    if twice := [name for name in columns if list(table.columns).count(name) > 1]:
        raise TableError(f"the rules have more than one column named {twice[0]!r}; rename one")
    if unknown := [name for name in columns if name not in table.columns]:
        raise unknown_name("column of the rules", unknown[0], table.columns)
    frame = table[[*columns, *(name for name in SCORES if name in table.columns)]].reset_index(drop=True)
    for column in columns:
        frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
    if (lacks := frame[list(sensitive)].isna().any(axis=1)).any():
        raise TableError(f"rule {int(lacks.argmax()) + 1} lacks a value of {listing(sensitive)}; every rule has one")
    sizes = frame[list(qi)].notna().sum(axis=1)
    if (sizes == 0).any():
        raise TableError(f"rule {int((sizes == 0).argmax()) + 1} sets no QI attribute; every rule sets one at least")
    frame.index = pd.Index(_texts(frame, qi, sensitive), name="rule")
    if frame.index.has_duplicates:
        repeated = frame.index[frame.index.duplicated()].unique()
        raise TableError(f"the rules {listing(repeated, 3)} are given more than once; one row a rule")
    if attributes is not None and not set(sizes) <= set(attributes):
        first = frame.index[~sizes.isin(attributes).to_numpy()][0]
        raise StatementError(f"{first!r} sets a number of QI attributes that is not among {list(attributes)}")
    return frame


def _texts(frame: pd.DataFrame, qi: tuple[str, ...], sensitive: tuple[str, ...]) -> list[str]:
    """Write the rules."""
    given = _pairs(frame[sorted(qi)])
    named = len(sensitive) > 1  # of a single attribute, the value alone is the right side
    values = _pairs(frame[list(sensitive)]) if named else map(written, frame[sensitive[0]])
    return [f"{left} => {right}" for left, right in zip(given, values, strict=True)]


def _pairs(frame: pd.DataFrame) -> list[str]:
    """Write what every row sets: "Education=Doctorate, Gender=Female"."""
    rows = zip(*(frame[column] for column in frame), strict=True)
    return [", ".join(f"{c}={written(v)}" for c, v in zip(frame, row, strict=True) if v is not None) for row in rows]


def check_scores(table: pd.DataFrame, thresholds: Thresholds) -> None:
    """Check that scores are shares, and not below their thresholds by more than their own rounding."""
    for name in (name for name in SCORES if name in table):
        score, least = table[name], float(getattr(thresholds, name))
        for rule, value in score.items():
            number(value, f"the {name} of {rule!r}")
        values = score.to_numpy(dtype=float)
        short = values + [rounding(value) for value in values] < least
        if (short | (values > 1 + 1e-9)).any():
            first = int((short | (values > 1 + 1e-9)).argmax())
            raise StatementError(
                f"{table.index[first]!r} has the {name} {values[first]:.12g}, and rules have "
                f"{thresholds}; correct the thresholds, or leave the rule out"
            )
