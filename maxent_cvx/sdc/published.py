"""What everybody can see after a technique was applied."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..display import FirstRows, Shown
from ..errors import StatementError, amount, shown

__all__ = ["Published", "expected"]


@dataclass(frozen=True, eq=False, repr=False)
class Published(Shown):
    """What everybody can see after a technique was applied.

    Attributes
    ----------
    table : DataFrame
        Records, or answers.
    confidential : str
        The confidential attribute C.
    domain : Index
        Its domain D, in order, named by it: the categories of a Categorical, else the values that occur.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
    >>> sample = mx.sdc.Sampling(0.5).publish(people, confidential="Salary")
    >>> isinstance(sample, mx.sdc.Published), len(sample), sample.domain.to_list()         # of the whole table
    (True, 2, [50, 77, 80, 107])
    """

    table: pd.DataFrame
    confidential: str
    domain: pd.Index

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        rows, values = amount(len(self), "row"), amount(len(self.domain), "value")
        return f"<{type(self).__name__}: {rows}; {self.confidential!r} is confidential, one of {values}>"

    def _tables(self) -> Iterable[FirstRows]:
        return [FirstRows(self.table, "rows")]


def expected(published: object, kind: type[Published], technique: str) -> Any:
    """Check that something was published by a technique, to be read by the same one."""
    if not isinstance(published, kind):
        raise StatementError(f"{technique}.infer reads what {technique}.publish returned, not {shown(published)}")
    return published
