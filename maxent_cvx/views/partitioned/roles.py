"""The columns of a large table that have a role, and its records, checked one partition at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from ...errors import StatementError, TableError, shown
from ...tables.columns import check_columns, check_named, check_no_count, count_column, names
from ..release_tables import check_release_roles

__all__ = ["Roles"]


@dataclass(frozen=True)
class Roles:
    """Which columns are quasi-identifiers, sensitive, the bucket, and the number of records a row stands for.

    Attributes
    ----------
    qi, sensitive : tuple of str
    bucket : str
    count : str or None
        Without it a row is one record.
    """

    qi: tuple[str, ...]
    sensitive: tuple[str, ...]
    bucket: str
    count: str | None = None

    @classmethod
    def read(
        cls, qi: str | Iterable[str], sa: str | Iterable[str], bucket: str, count: str | None, id: object = None
    ) -> Self:
        """Read them as users give them.

        Raises
        ------
        StatementError
            If there are pseudonyms.
        TableError
            If they are no names of columns.
        """
        if id is not None:
            raise StatementError(
                f"id={shown(id)}: a release in partitions has no pseudonyms, which link it to others of a series; "
                "leave id out, or publish the table in memory, Release.from_buckets(..., id=...)"
            )
        if count is not None and not isinstance(count, str):
            raise TableError(f"count={shown(count)}: the name of a column is expected")
        (one_bucket,) = names([bucket], "bucket")
        return cls(names(qi, "qi"), names(sa, "sa"), one_bucket, count)

    @property
    def players(self) -> dict[str, tuple[str, ...]]:
        """The columns by their roles."""
        counts = {} if self.count is None else {"count": (self.count,)}
        return {"qi": self.qi, "sa": self.sensitive, "bucket": (self.bucket,), **counts}

    @property
    def columns(self) -> list[str]:
        """All of them."""
        return [column for columns in self.players.values() for column in columns]

    def check_named(self, columns: Iterable[object]) -> None:
        """Check that a table has the columns, each once, and that no name of them means something else."""
        check_named(columns, self.players, "the table")
        check_release_roles(self.qi, self.sensitive, self.bucket)

    def checked(self, rows: pd.DataFrame, name: str) -> tuple[pd.DataFrame, np.ndarray]:
        """Check the rows of one partition, as those of a whole table are; rows that count nobody are left out.

        Parameters
        ----------
        rows : DataFrame
            Perhaps none.
        name : str
            What the partition is called in messages.

        Returns
        -------
        rows : DataFrame
        records : ndarray of int
            How many each row stands for.

        Raises
        ------
        TableError
            If a value is missing, a count is none, or a column looks like one and has no role.
        """
        if rows.empty:
            return rows, np.empty(0, dtype=np.int64)
        check_columns(rows, self.players, name)
        if self.count is None:
            check_no_count(rows, self.players, name)
            return rows, np.ones(len(rows), dtype=np.int64)
        records = count_column(rows[self.count], name)
        return rows[records > 0], records[records > 0]
