"""Supplementary knowledge: what an intruder knows of a person, and who in a population is like that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..errors import StatementError, TableError, listing, shown, unknown_name
from ..tables.columns import check_columns
from ..tables.selection import choose
from ..views import QITable
from .domains import check_type

__all__ = ["Known"]


@dataclass(frozen=True, eq=False)
class Known:
    """Mo, the records of the population that match the supplementary knowledge.

    Attributes
    ----------
    values : dict of str to Index
        For every attribute that is known, the values that it may have.
    frame : DataFrame
        The attributes of everybody, or of everybody who is distinguishable.
    weight : ndarray of int
        How many records each row stands for.
    matching : ndarray of bool
        Which rows match.
    """

    values: Mapping[str, pd.Index]
    frame: pd.DataFrame
    weight: np.ndarray
    matching: np.ndarray

    @classmethod
    def of(cls, known: Mapping[str, object] | None, population: object, confidential: str) -> Known:
        """Read what is known, against the population; somebody must be like that."""
        if known is not None and not isinstance(known, Mapping):
            raise StatementError(f"known must be a dictionary {{attribute: value}}, not {shown(known)}")
        if isinstance(population, QITable):
            frame, weight = population.quasi_identifiers.to_frame(index=False), population.n_q
        elif isinstance(population, pd.DataFrame):
            frame, weight = population, np.ones(len(population), dtype=np.int64)
        else:
            raise TableError(
                f"population must be a DataFrame of everybody's other attributes, or a QITable, not {shown(population)}"
            )
        if not len(frame):
            raise TableError("the population has no rows; everybody's other attributes are expected")
        values = {}
        matching = np.ones(len(frame), dtype=bool)
        for name, chosen in (known or {}).items():
            if isinstance(name, str) and name == confidential:
                raise StatementError(f"{name!r} is the confidential attribute: what is known is of the others")
            if name not in frame.columns:
                others = [column for column in frame.columns if column is not confidential]
                raise unknown_name("attribute of the population", name, others)
            check_columns(frame, {"known": (name,)}, "the population")
            check_type(frame[name])
            there = pd.Index(np.asarray(frame[name].unique()), tupleize_cols=False)
            values[name] = there[choose(chosen, name).mask(there, name)]
            matching &= frame[name].isin(values[name]).to_numpy()
        if not matching.any():
            asked = ", ".join(f"{name}={choose(chosen, name)}" for name, chosen in (known or {}).items())
            raise StatementError(f"nobody in the population has {asked or 'any attribute'}; take a condition out")
        return cls(values, frame, weight, matching)

    @property
    def people(self) -> int:
        """|Mo|, how many people are like that."""
        return int(self.weight[self.matching].sum())

    def matches(self, table: pd.DataFrame, what: str) -> np.ndarray:
        """Which records of another table, of people of the population, are like that."""
        found = np.ones(len(table), dtype=bool)
        for name, values in self.values.items():
            if name not in table.columns:
                raise unknown_name(f"attribute of {what}", name, table.columns)
            strange = ~table[name].isin(pd.unique(self.frame[name]))
            if strange.any():
                raise TableError(
                    f"{listing(pd.unique(table[name][strange]))} of {name!r} is in {what}, and not in the population; "
                    "pass the population that it is of, with the same values"
                )
            found &= table[name].isin(values).to_numpy()
        return found
