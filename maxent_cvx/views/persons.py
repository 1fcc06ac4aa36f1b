"""Who is in a release, by pseudonym: what links a release to the others of its series."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

__all__ = ["Persons"]


@dataclass(frozen=True, eq=False)
class Persons:
    """The people of a release, a row a person.

    Attributes
    ----------
    id : str
        The column of pseudonyms.
    names : Index
        The pseudonyms, each once.
    q, bucket : ndarray of int
        The position of each one's QI tuple and bucket in the release.
    """

    id: str
    names: pd.Index
    q: np.ndarray
    bucket: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    def table(self, quasi_identifiers: pd.MultiIndex, buckets: pd.Index) -> pd.DataFrame:
        """A row a person: QI, pseudonym and bucket."""
        people = quasi_identifiers[self.q].to_frame(index=False)
        people[self.id] = self.names.array
        people[str(buckets.name)] = buckets[self.bucket].array
        return people
