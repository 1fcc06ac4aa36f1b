"""The rows of an exposure: whom each is about, what is inferred, how surely, and how usual that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...measures import Exposure
from ..formats import group_name, value_name

__all__ = ["ExposedRows"]


@dataclass(frozen=True, eq=False)
class ExposedRows:
    """Who is exposed, by column.

    Attributes
    ----------
    index : Index
        The QI tuples, and names.
    values : list
        The value inferred of each; of several sensitive attributes a tuple.
    p, usual, people : ndarray
        Its probability; the probability that it is compared with, NaN if none; how many people.
    sensitive : tuple of str
    """

    index: pd.Index
    values: list[object]
    p: np.ndarray
    usual: np.ndarray
    people: np.ndarray
    sensitive: tuple[str, ...]

    @classmethod
    def of(cls, found: Exposure, sensitive: tuple[str, ...]) -> ExposedRows:
        """Read the table of an exposure; its first columns are the sensitive attributes, whatever they are called."""
        table = found.who
        columns = [table.iloc[:, i] for i in range(len(sensitive))]
        values = list(columns[0]) if len(columns) == 1 else list(zip(*columns, strict=True))
        rest = table.iloc[:, len(sensitive) :]
        usual = rest["baseline"].to_numpy(float) if "baseline" in rest else np.full(len(table), np.nan)
        p, people = rest["P"].to_numpy(float), rest["people"].to_numpy(float)
        return cls(table.index, values, p, usual, people, sensitive)

    @property
    def tuples(self) -> pd.MultiIndex:
        """The QI tuples, without names."""
        levels = [self.index.get_level_values(i) for i, name in enumerate(self.index.names) if name != "who"]
        return pd.MultiIndex.from_arrays(levels)

    def __len__(self) -> int:
        return len(self.p)

    def whom(self, at: int) -> str:
        """Whom a row is about."""
        return group_name(self.index, at)

    def what(self, at: int) -> str:
        """What is inferred of them."""
        return value_name(self.sensitive, self.values[at])
