"""The table that compares solvers, which says in a notebook what it shows."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..display import FirstRows, as_html
from ..errors import amount

__all__ = ["SolverTable"]


class SolverTable(pd.DataFrame):
    """A DataFrame; what is taken from it is a plain one.

    Examples
    --------
    >>> table = SolverTable({"certified": [True, False], "bound": [1e-9, 1e-3]}, index=["A", "B"])
    >>> type(table[table["certified"]]).__name__
    'DataFrame'
    """

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame

    def __reduce__(self) -> Any:
        return SolverTable._of, (pd.DataFrame(self), self.attrs)

    @classmethod
    def _of(cls, table: pd.DataFrame, attrs: dict[Any, Any]) -> SolverTable:
        """Make it of a plain one, with what is attached to it."""
        made = cls(table)
        made.attrs.update(attrs)
        return made

    def _repr_html_(self) -> str:
        certified = int(self["certified"].sum())
        said = (
            f"{amount(len(self), 'answer')} asked for, {certified} certified: no P(s | q) is off by more than its bound"
        )
        return as_html(f"<Solvers: {said}>", FirstRows(pd.DataFrame(self), "answers"))
