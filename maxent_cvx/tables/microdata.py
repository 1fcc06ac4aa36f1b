"""Microdata: a DataFrame whose columns have roles, checked at the door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from ..errors import TableError
from .coding import distinct, sort_distinct
from .columns import check_columns, check_no_count, names

__all__ = ["Microdata", "check_once"]


@dataclass(frozen=True, eq=False)
class Microdata:
    """Records of people: quasi-identifiers, sensitive attributes, perhaps a bucket.

    Parameters
    ----------
    frame : DataFrame
        One row a person. Rows keep their order and index; columns without a role are ignored.
    qi : sequence of str
        The quasi-identifier columns: what an adversary knows about people, in this order.
    sa : sequence of str
        The sensitive attribute; of several, each combination of values is one value.
    bucket : str, optional
        The column that says which published bucket a record is in.
    id : str, optional
        The column that names people. Checked to name each person once.

    Raises
    ------
    UnknownName
        If a column is not in the table.
    TableError
        If the table is empty, a column has two roles or missing values, or a person has two rows.
    """

    frame: pd.DataFrame
    qi: tuple[str, ...]
    sa: tuple[str, ...]
    bucket: str | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "qi", names(self.qi, "qi"))
        object.__setattr__(self, "sa", names(self.sa, "sa"))
        roles = {"qi": self.qi, "sa": self.sa}
        roles |= {role: (c,) for role in ("bucket", "id") if (c := getattr(self, role)) is not None}
        check_columns(self.frame, roles, what="the table")
        if self.id is not None:
            check_once(self.frame[self.id])

    @classmethod
    def of_people(cls, frame: pd.DataFrame, qi: tuple[str, ...], sa: tuple[str, ...]) -> Self:
        """Read a table of which every row is taken for one person; a column that looks like a count is refused."""
        data = cls(frame, qi, sa)
        repeat = "repeat the rows, table.loc[table.index.repeat(table[{name!r}])].drop(columns={name!r})"
        check_no_count(frame, {"qi": data.qi, "sa": data.sa}, "the table, of a row a person,", repeat)
        return data

    def __len__(self) -> int:
        return len(self.frame)

    def tuples(self) -> tuple[np.ndarray, pd.MultiIndex]:
        """Number the distinct QI tuples: a code for every record, and the sorted tuples."""
        return sort_distinct(self.frame[list(self.qi)])

    def values(self) -> tuple[np.ndarray, pd.Index]:
        """Number the distinct sensitive values: a code for every record, and the sorted values."""
        return distinct(self.frame[list(self.sa)])


def check_once(column: pd.Series) -> None:
    """Check that a column names each person once."""
    if (repeated := column.value_counts() > 1).any():
        raise TableError(
            f"column {column.name!r} names {int(repeated.sum())} people more than once; "
            "one row a person is expected: drop the repeats, or pass id=None"
        )
