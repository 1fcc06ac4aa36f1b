"""What is known of re-identification: a table of measures, and the classes that they are of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...display import FirstRows, Shown

__all__ = ["Reidentification"]

#: How many of the measures are of the records by themselves.
OF_SAMPLE = 6


@dataclass(frozen=True, eq=False)
class Reidentification(Shown):
    """How likely it is that a record is taken for the person whose it is.

    Attributes
    ----------
    measures : DataFrame
        A row a measure: its `value`, its `unit`, and what it `says`.
    classes : DataFrame
        By quasi-identifiers, the smallest class first: `records` that have them; of a population `people` who do; and
        of each record of the class the `risk`: 1 / people, or else 1 / records; where only the number of people is
        known, Pitman's individual risk, or else Benedetti and Franconi's.
    k : int
        Below how many records, or people, a class is small.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> found = mx.measures.reidentification(hospital, qi=["Gender", "Degree"], k=3)
    >>> print(found)
    7 of 10 records in classes of fewer than 3, 3 unique; risk of a record 0.6 on average, 1 at most
    >>> found.classes.head(2)
                     records  risk
    Gender Degree
    female graduate        1   1.0
           junior          1   1.0
    """

    measures: pd.DataFrame
    classes: pd.DataFrame
    k: int

    def __str__(self) -> str:
        records, value = self.classes["records"].to_numpy(), self.measures["value"]
        return (
            f"{records[records < self.k].sum()} of {records.sum()} records in classes of fewer than {self.k}, "
            f"{np.sum(records == 1)} unique; risk of a record {value['marketer risk']:.3g} on average, "
            f"{self.classes['risk'].max():.3g} at most"
        )

    def __repr__(self) -> str:
        return f"<Reidentification: {self}>"

    def _tables(self) -> Iterable[FirstRows]:
        """What the records say by themselves, and what a population does."""
        tables = self.measures.iloc[:OF_SAMPLE], self.measures.iloc[OF_SAMPLE:]
        return [*(FirstRows(table, "measures") for table in tables), FirstRows(self.classes, "classes")]
