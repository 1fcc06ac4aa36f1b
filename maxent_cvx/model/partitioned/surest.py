"""The surest inferences of an answer in partitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import pandas as pd

from ...terms.people import OTHERS, People
from ...views.partitioned.partitioned_release import PartitionedRelease

__all__ = ["surest_of"]


class Surest:
    """The n largest probabilities, one of each group; or the largest of what a function makes of them."""

    def __init__(self, n: int, of: Callable[[np.ndarray], np.ndarray] | None = None) -> None:
        self.n, self.of = n, of

    def __call__(self, p: np.ndarray, people: np.ndarray, numbers: np.ndarray) -> pd.DataFrame:
        """Those of some groups."""
        p = p if self.of is None else self.of(p)
        s = p.argmax(axis=1) if p.size else np.zeros(len(p), dtype=np.int64)
        largest = p[np.arange(len(p)), s]
        return self._first(pd.DataFrame({"number": numbers, "s": s, "P": largest, "people": people}))

    def combined(self, some: list[pd.DataFrame]) -> pd.DataFrame:
        """Those of all groups."""
        return self._first(pd.concat(some, ignore_index=True))

    def _first(self, table: pd.DataFrame) -> pd.DataFrame:
        order = np.lexsort((table["number"], -table["people"], -table["P"]))
        return table.iloc[order[: self.n]]


class Reduced(Protocol):
    """An answer in partitions, as :class:`~maxent_cvx.PartitionedPosterior` is one."""

    release: PartitionedRelease

    @property
    def known_people(self) -> People:
        """Who is known by name."""
        ...

    def reduce(self, measure: Callable[..., Any], combine: Callable[..., Any]) -> Any:
        """Measure the probabilities of some groups at a time."""
        ...


def surest_of(
    post: Reduced,
    n: int,
    of: Callable[[np.ndarray], np.ndarray] | None = None,
    values: pd.Index | None = None,
) -> pd.DataFrame:
    """The surest inferences, as :meth:`maxent_cvx.PartitionedPosterior.top`, or the largest that a function makes.

    Parameters
    ----------
    post : PartitionedPosterior
    n : int
        How many.
    of : callable, optional
        From P(s | .), shape (groups, sensitive values), to numbers of the same shape, or of other columns.
    values : Index, optional
        The labels of these columns.
    """
    surest, labels = Surest(n, of), post.release.sensitive_values if values is None else values
    return labelled(post.reduce(surest, surest.combined), post.release, post.known_people, labels)


def labelled(found: pd.DataFrame, release: PartitionedRelease, people: People, s: pd.Index) -> pd.DataFrame:
    """Label values, and groups by their numbers: QI tuples, and where people are named, who they are."""
    number, n_tuples = found["number"].to_numpy(), len(release.quasi_identifiers)
    place = np.where(number >= n_tuples, number - n_tuples, len(people))  # of a person among the names
    tuples = np.where(number >= n_tuples, np.append(people.q, 0)[place], number)
    labels = release.quasi_identifiers[tuples].to_frame(index=False)
    if len(people):
        labels.insert(0, "who", np.append(people.names.to_numpy(dtype=object), OTHERS)[place])
    values = s[found["s"].to_numpy()].to_frame(index=False)
    table = values.assign(P=found["P"].to_numpy(), people=found["people"].to_numpy())
    return table.set_index(pd.MultiIndex.from_frame(labels) if labels.shape[1] > 1 else pd.Index(labels.iloc[:, 0]))
