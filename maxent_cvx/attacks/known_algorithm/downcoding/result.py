"""What is inferred of exact quasi-identifiers, and how it is compared with the original records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from ....errors import TableError, amount
from ....tables.coding import sort_distinct
from ....tables.columns import check_columns
from ...result import AttackResult

__all__ = ["DowncodingResult"]


@dataclass(frozen=True, eq=False, repr=False)
class DowncodingResult(AttackResult):
    """P(exact value of an attribute | generalised record, algorithm), beside what its cell says alone.

    Attributes
    ----------
    table, baseline, records, error
        As of any :class:`maxent_cvx.attacks.AttackResult`. Rows are groups, with the sensitive value; the baseline is
        the distribution that is assumed beforehand, inside the cell.
    cells : dict of str to DataFrame
        Of each attribute, which exact values (columns) the cell of each group (rows) stands for.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> from functools import partial
    >>> people = pd.DataFrame({"Age": [20, 23, 40, 41, 47], "Disease": ["Flu", "HIV", "Flu", "Flu", "HIV"]})
    >>> algorithm = partial(mx.disguise.mondrian, qi="Age", sa="Disease", k=2)
    >>> result = mx.attacks.downcoding(algorithm(people), algorithm)
    >>> result
    <downcoding of 5 records: the likeliest value has a probability of 0.40 on average, 0.09 without the attack>
    >>> print(result.judge(people))
    right for 40.0% of 5 records; without the attack 8.6% (difference 0.31, standard error 0.22)
    """

    cells: Mapping[str, pd.DataFrame]

    title: ClassVar[str | None] = "downcoding"

    def _truth(self, original: pd.DataFrame) -> np.ndarray:
        """How many records of each group and sensitive value have each exact value."""
        group, *sensitive = map(str, self.table.index.names)
        qi = list(self.cells)
        check_columns(original, {"exact quasi-identifiers": qi, "sensitive values": sensitive}, "the original records")
        if group not in original.columns:
            original = original.assign(**{group: self._groups(original[qi]).to_numpy()})
        return super()._truth(original)

    def _groups(self, exact: pd.DataFrame) -> pd.Series:
        """The group whose cells stand for each record."""
        code, distinct = sort_distinct(exact)
        groups = next(iter(self.cells.values())).index
        inside = np.ones((len(distinct), len(groups)), dtype=bool)
        for name, cells in self.cells.items():
            at = cells.columns.get_indexer(distinct.get_level_values(name))
            inside &= (cells.to_numpy()[:, at] & (at >= 0)).T
        number = inside.sum(axis=1)
        if off := int((number[code] != 1).sum()):
            raise TableError(
                f"{amount(off, 'original record')} of {len(exact)} are in no group or in several; pass the table that "
                f"was published, with the groups as a column {groups.name!r} where these overlap"
            )
        return pd.Series(groups[inside.argmax(axis=1)][code])
