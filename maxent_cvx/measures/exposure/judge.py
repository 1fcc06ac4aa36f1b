"""Who is exposed: the rule, applied to the probabilities of some people at a time, and what is counted of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from ...model.posterior import Posterior
from ...solvers import ACCURACY
from ...views import OUTSIDE
from ..disclosure import NEGLIGIBLE
from ..leakage.beliefs import inferred
from .baseline import Baseline
from .judged_values import JudgedValues, single_values

__all__ = ["Judge", "Tally", "slack_of", "summed"]

#: How many numbers can be added up, one array a partition, of the same judge.
summed = partial(np.sum, axis=0)


def slack_of(post: Posterior) -> float:
    """How far a P(s | q) may be from the maximum-entropy one; of a population P(s | q, in the release)."""
    if OUTSIDE not in post.space.view.sensitive_values.to_flat_index():
        return min(post.certificate.bound, 1.0)
    return float(inferred(post)[2].off.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Judge:
    """A person is exposed if P(s | q) >= threshold while P0(s) < threshold, for one of the judged values s at least.

    Attributes
    ----------
    threshold : float
        A probability.
    slack : float
        The certificate's bound on P(s | q), which decides for exposure where it cannot be told.
    values : Index
        All sensitive values.
    judged : JudgedValues
        Those that count.
    baseline : Baseline, optional
        P0, of the same rows as what is judged, or the same for all; without one it is 0.
    """

    threshold: float
    slack: float
    values: pd.Index
    judged: JudgedValues
    baseline: Baseline | None = None

    @property
    def counts(self) -> np.ndarray:
        """Mark the judged values that count, of all (one row) or of every row: P0 is below the threshold."""
        if self.baseline is None:
            return np.ones((1, len(self.judged.labels)), dtype=bool)
        return ~self.baseline.reaches(self.threshold)

    def counted(self, p: np.ndarray) -> np.ndarray:
        """P of judged values that count, and -1 of others, shape (rows, judged values)."""
        asked = self.judged.of(p)
        return asked if self.baseline is None else np.where(self.counts, asked, -1.0)

    def reaches(self, p: np.ndarray) -> np.ndarray:
        """Mark probabilities that reach the threshold, or cannot be told from such."""
        return np.asarray((p >= self.threshold - self.slack) & (p >= 0))

    def certain(self, p: np.ndarray) -> np.ndarray:
        """Mark probabilities that are 1, as far as can be told."""
        return np.asarray(p >= 1 - max(min(self.slack, ACCURACY), NEGLIGIBLE))

    def sizes(self) -> list[int]:
        """How many numbers each entry of a tally has."""
        n, single = len(self.judged.labels), single_values(self.values)
        return [1, 1, 10, n, n, n, n, len(self.values), 0 if single is None else len(single.labels), 1]

    def __call__(self, p: np.ndarray, people: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Count people of some rows: the entries of a :class:`Tally`, one after another."""
        if not len(p):
            return np.zeros(sum(self.sizes()))
        ones = people.astype(float)
        asked, counted = self.judged.of(p), self.counted(p)
        largest = counted.max(axis=1)
        exposed = self.reaches(largest)
        # As the certificate's bound decides for exposure, it decides for the next tenth.
        tenth = np.clip((largest * 10 + 10 * self.slack).astype(int), 0, 9)
        anyway = self.reaches(asked) & ~self.counts
        unsure = exposed & (largest < self.threshold - NEGLIGIBLE)
        is_certain, reached = self.certain(p), self.reaches(counted)
        single, of_one = single_values(self.values), np.zeros(0)
        uncounted = is_certain.any(axis=1) & ~exposed
        if single is not None:
            one = self.certain(single.of(p)) & ~is_certain.any(axis=1, keepdims=True) & ~exposed[:, None]
            of_one, uncounted = ones @ one, uncounted | one.any(axis=1)
        return np.concatenate(
            [
                [ones[exposed].sum(), ones[unsure].sum()],
                np.bincount(tenth, ones, 10),
                ones @ reached,
                ones @ (reached & self.certain(counted)),
                ones @ anyway,
                ones @ np.broadcast_to(~self.counts, asked.shape),
                ones @ (is_certain & ~exposed[:, None]),
                of_one,
                [ones[uncounted].sum()],
            ]
        )


class Tally(NamedTuple):
    """People, counted.

    Attributes
    ----------
    exposed, unsure : int
        Those exposed, and those of them by the certificate's bound alone.
    tenths : ndarray of int
        By the largest probability of a value that counts.
    by_value, certain : ndarray of int
        Those exposed by each judged value, somebody perhaps by several, and those of them for whom it is certain.
    anyway, not_counted : ndarray of int
        By judged value: for whom it reaches the threshold, and does not count; and for whom it does not count.
    uncounted, of_one : ndarray of int
        By sensitive value, and by value of one of several attributes: who is not exposed, and for whom it is certain.
    certain_uncounted : int
        Of how many people, each counted once, one of these is certain.
    """

    exposed: int
    unsure: int
    tenths: np.ndarray
    by_value: np.ndarray
    certain: np.ndarray
    anyway: np.ndarray
    not_counted: np.ndarray
    uncounted: np.ndarray
    of_one: np.ndarray
    certain_uncounted: int

    @classmethod
    def of(cls, judge: Judge, counted: np.ndarray) -> Self:
        """Take apart what a judge has counted."""
        found = np.split(np.rint(counted).astype(int), np.cumsum(judge.sizes())[:-1])
        (exposed,), (unsure,), tenths, by_value, certain, anyway, not_counted, uncounted, of_one, (people,) = found
        return cls(
            int(exposed), int(unsure), tenths, by_value, certain, anyway, not_counted, uncounted, of_one, int(people)
        )
