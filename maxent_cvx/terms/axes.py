"""The axes of the terms: columns and roles, the codes of every term along them, and labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..errors import StatementError, arguments, shown, unknown_name
from ..tables.coding import multi_index
from ..views import View
from .descriptions import OTHERS
from .people import People

__all__ = ["Axes", "as_names", "level_of"]


@dataclass(frozen=True, eq=False)
class Axes:
    """By what terms are named: the columns of the view, and the roles "q", "s", "bucket" (of releases) and "who".

    Attributes
    ----------
    view : View
    people : People
    codes : dict of str to ndarray
        For every term, its position along each role, see :class:`maxent_cvx.Space`.
    """

    view: View
    people: People
    codes: Mapping[str, np.ndarray]

    def columns(self, by: Sequence[str]) -> list[str]:
        """Write roles as the columns that play them."""
        roles = {"who": ("who",)} | {role: columns for role, (columns, _) in self.view.axes.items()}
        return list(dict.fromkeys(column for name in by for column in roles.get(name, (name,))))

    def of(self, name: str) -> tuple[np.ndarray, pd.Index]:
        """Codes over the terms of one column or role, and the values that the codes stand for."""
        if name in self.view.axes:
            return self.codes[name], self.view.axes[name][1]
        return self.of_column(name)

    def labels(self, by: Sequence[str], at: Any) -> pd.MultiIndex:
        """Label terms from their codes; the levels are shared with the view, not copied."""
        columns = self.columns(by)
        axes = [self.of_column(column) for column in columns]
        return multi_index([values for _, values in axes], [codes[at] for codes, _ in axes], columns)

    def tell_apart(self, names: Iterable[str]) -> None:
        """Say that what follows depends on which combinations of QI values occur: of a whole view, all are known."""

    def of_column(self, name: str) -> tuple[np.ndarray, pd.Index]:
        """Codes over the terms of one column, and its values."""
        if name == "who" and len(self.people):
            return self.codes["who"], self.people.names.append(pd.Index([OTHERS], name="who"))
        for role, (columns, index) in self.view.axes.items():
            if name in columns:
                codes, level = level_of(index, columns.index(name))
                return codes[self.codes[role]], level
        roles = [*self.view.axes, *["who"][: len(self.people)]]
        raise unknown_name(f"column of the {self.view.noun}", name, [*self.view.columns, *roles])


def level_of(index: pd.Index, level: int) -> tuple[np.ndarray, pd.Index]:
    """One level of an index: codes of its labels, and the values that the codes stand for."""
    if isinstance(index, pd.MultiIndex):
        return np.asarray(index.codes[level]), index.levels[level]
    return np.arange(len(index)), index


def as_names(by: str | Sequence[str]) -> list[str]:
    """Read a name, or a list of names, as a list; a sum over nothing in particular has no labels."""
    found = [by] if isinstance(by, str) else arguments.list_of(by, "what is summed by", "names")
    if strange := [name for name in found if not isinstance(name, str)]:
        raise StatementError(f"columns and roles are named by text, not by {shown(strange[0])}")
    if found:
        return found
    raise StatementError("at least one name is needed, e.g. marginal(['q', 's'])")
