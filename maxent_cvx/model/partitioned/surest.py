"""The surest inferences of an answer in partitions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...terms.people import OTHERS, People
from ...views.partitioned.partitioned_release import PartitionedRelease

__all__ = ["Surest", "labelled"]


class Surest:
    """The n largest probabilities, one of each group."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __call__(self, p: np.ndarray, people: np.ndarray, numbers: np.ndarray) -> pd.DataFrame:
        """Those of some groups."""
        s = p.argmax(axis=1) if p.size else np.zeros(len(p), dtype=np.int64)
        largest = p[np.arange(len(p)), s]
        return self._first(pd.DataFrame({"number": numbers, "s": s, "P": largest, "people": people}))

    def combined(self, some: list[pd.DataFrame]) -> pd.DataFrame:
        """Those of all groups."""
        return self._first(pd.concat(some, ignore_index=True))

    def _first(self, table: pd.DataFrame) -> pd.DataFrame:
        order = np.lexsort((table["number"], -table["people"], -table["P"]))
        return table.iloc[order[: self.n]]


def labelled(found: pd.DataFrame, release: PartitionedRelease, people: People) -> pd.DataFrame:
    """Label groups by their numbers: QI tuples, and where people are named, who they are."""
    number, n_tuples = found["number"].to_numpy(), len(release.quasi_identifiers)
    place = np.where(number >= n_tuples, number - n_tuples, len(people))  # of a person among the names
    tuples = np.where(number >= n_tuples, np.append(people.q, 0)[place], number)
    labels = release.quasi_identifiers[tuples].to_frame(index=False)
    if len(people):
        labels.insert(0, "who", np.append(people.names.to_numpy(dtype=object), OTHERS)[place])
    values = release.sensitive_values[found["s"].to_numpy()].to_frame(index=False)
    table = values.assign(P=found["P"].to_numpy(), people=found["people"].to_numpy())
    return table.set_index(pd.MultiIndex.from_frame(labels) if labels.shape[1] > 1 else pd.Index(labels.iloc[:, 0]))
