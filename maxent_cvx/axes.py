"""The axes of the terms: columns and roles, the codes of every term along them, and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .errors import StatementError, unknown_name
from .people import OTHERS, People
from .tables import multi_index
from .views import Release

__all__ = ["Axes", "level_of", "several_names"]


@dataclass(frozen=True, eq=False)
class Axes:
    """By what terms are named: the columns of the release, and the roles "q", "s", "bucket" and "who".

    Attributes
    ----------
    view : Release
    people : People
    codes : dict of str to ndarray
        For every term, its position along each role, see :class:`maxent_cvx.Space`.
    """

    view: Release
    people: People
    codes: Mapping[str, np.ndarray]

    def columns(self, by: Sequence[str]) -> list[str]:
        """Write roles as the columns that play them."""
        roles = {"q": self.view.qi, "s": self.view.sensitive, "bucket": (self.view.bucket,), "who": ("who",)}
        return list(dict.fromkeys(column for name in by for column in roles.get(name, (name,))))

    def of(self, name: str) -> tuple[np.ndarray, pd.Index]:
        """Codes over the terms of one column or role, and the values that the codes stand for."""
        if name == "q":
            return self.codes["q"], self.view.quasi_identifiers
        if name == "s":
            return self.codes["s"], self.view.sensitive_values
        return self._column(self.view.bucket if name == "bucket" else name)

    def labels(self, by: Sequence[str], at: Any) -> pd.MultiIndex:
        """Label terms from their codes; the levels are shared with the view, not copied."""
        columns = self.columns(by)
        axes = [self._column(column) for column in columns]
        return multi_index([values for _, values in axes], [codes[at] for codes, _ in axes], columns)

    def _column(self, name: str) -> tuple[np.ndarray, pd.Index]:
        """Codes over the terms of one column, and its values."""
        view = self.view
        if name == "who" and len(self.people):
            return self.codes["who"], self.people.names.append(pd.Index([OTHERS], name="who"))
        if name == view.bucket:
            return self.codes["bucket"], view.buckets
        tuples = (("q", view.qi, view.quasi_identifiers), ("s", view.sensitive, view.sensitive_values))
        for role, columns, index in tuples:
            if name in columns:
                codes, level = level_of(index, columns.index(name))
                return codes[self.codes[role]], level
        roles = ["q", "s", "bucket", *["who"][: len(self.people)]]
        raise unknown_name("column of the release", name, [*view.qi, *view.sensitive, view.bucket, *roles])


def level_of(index: pd.Index, level: int) -> tuple[np.ndarray, pd.Index]:
    """One level of an index: codes of its labels, and the values that the codes stand for."""
    if isinstance(index, pd.MultiIndex):
        return np.asarray(index.codes[level]), index.levels[level]
    return np.arange(len(index)), index


def several_names(by: str | Sequence[str]) -> list[str]:
    """Read one name or several; a sum over nothing in particular has no labels."""
    if found := [by] if isinstance(by, str) else list(by):
        return found
    raise StatementError("at least one name is needed, e.g. marginal(['q', 'bucket'])")
