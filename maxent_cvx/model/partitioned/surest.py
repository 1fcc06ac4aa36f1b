"""The surest inferences of an answer in partitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
import pandas as pd

from ...terms.people import OTHERS, People
from ...views.partitioned.partitioned_release import PartitionedRelease

__all__ = ["surest_of"]


#: From P(s | .), shape (groups, sensitive values), to one number of each group, and the position of its label.
Chooser: TypeAlias = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class Surest:
    """The n largest probabilities, one of each group; or the one that a function chooses of each."""

    def __init__(self, n: int, of: Chooser | None = None) -> None:
        self.n, self.of = n, of

    def __call__(self, p: np.ndarray, people: np.ndarray, numbers: np.ndarray) -> pd.DataFrame:
        """Those of some groups."""
        if self.of is not None:
            largest, s = self.of(p)
        else:
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
    of: Chooser | None = None,
    values: pd.Index | None = None,
) -> pd.DataFrame:
    """The surest inferences, as :meth:`maxent_cvx.PartitionedPosterior.top`, or those that a function chooses.

    Parameters
    ----------
    post : PartitionedPosterior
    n : int
        How many.
    of : callable, optional
        Chooses one inference of each group; by default its largest probability.
    values : Index, optional
        The labels that its positions are of.
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
