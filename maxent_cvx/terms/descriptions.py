"""Descriptions of people: tables of their quasi-identifiers by name, checked against a view."""

from __future__ import annotations

import numbers
from collections.abc import Mapping

import numpy as np
import pandas as pd

from ..errors import StatementError, arguments, listing, shown, unknown_name
from ..views import View

__all__ = ["OTHERS", "checked_names", "codes_in_view", "described_table", "is_name"]

#: What everybody is called who has no name, in the index of the terms.
OTHERS = "(others)"


def described_table(described: object, view: View) -> pd.DataFrame:
    """Read descriptions as a table of the release's QI columns, indexed by name; nothing may be missing."""
    if isinstance(described, Mapping):
        if strange := [name for name, of in described.items() if not isinstance(of, Mapping)]:
            raise StatementError(
                f"{shown(strange[0])} is described by {shown(described[strange[0]])}; a dictionary "
                "{attribute: value} is expected"
            )
        described = pd.DataFrame(list(described.values()), index=pd.Index(list(described), dtype=object), dtype=object)
    if not isinstance(described, pd.DataFrame):
        raise StatementError(
            "people must be a dictionary {name: {attribute: value}}, or a table with the QI columns indexed by name, "
            f"not {shown(described)}"
        )
    if "who" in view.columns:
        raise StatementError("a column is called 'who', which stands for named people here; rename the column")
    if strangers := [column for column in described.columns if column not in view.qi]:
        raise unknown_name(f"quasi-identifier of the {view.noun}", strangers[0], view.qi)
    if described.columns.has_duplicates:
        twice = described.columns[described.columns.duplicated()]
        raise StatementError(f"people are described by two columns called {listing(twice)}; leave one out")
    for attribute in view.qi:
        if attribute not in described.columns or (missing := described[attribute].isna()).all():
            raise StatementError(f"people are described without {attribute!r}; every QI attribute is needed, of each")
        if missing.any():
            raise StatementError(
                f"{listing(described.index[missing])} is described without {attribute!r}; every QI attribute is needed"
            )
    return described


def checked_names(index: pd.Index) -> pd.Index:
    """Check that names are texts or integers, each once."""
    if strange := [name for name in index if not is_name(name)]:
        raise StatementError(f"a person's name is a text or a whole number, not {shown(strange[0])}")
    if index.has_duplicates:
        raise StatementError(
            f"{listing(index[index.duplicated()].unique())} is described more than once; a person has one description"
        )
    return index


def is_name(name: object) -> bool:
    """Whether somebody can be called so."""
    if isinstance(name, str):
        return arguments.is_text(name) and name not in ("", OTHERS)
    return isinstance(name, numbers.Integral) and not isinstance(name, bool)


def codes_in_view(column: pd.Series, level: pd.Index) -> np.ndarray:
    """Number the values of one attribute as the view does."""
    try:
        # As objects: a number is not the interval that it lies in.
        codes = pd.Index(level, dtype=object).get_indexer(pd.Index(column.to_numpy(dtype=object), dtype=object))
    except TypeError as error:  # a list, say
        raise StatementError(f"{column.name!r} of some person is no single value: {error}; name one") from error
    if (codes < 0).any():
        first = int((codes < 0).argmax())
        raise unknown_name(f"value of {column.name!r} (of {column.index[first]!r})", column.iloc[first], level)
    return codes
