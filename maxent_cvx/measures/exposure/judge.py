"""Who is exposed: the rule, applied to the probabilities of some people at a time, and what is counted of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from ...model.posterior import Posterior
from ...solvers import ACCURACY
from ...views import OUTSIDE
from ..disclosure import NEGLIGIBLE
from ..leakage.beliefs import inferred
from .baseline import ROUNDING, Baseline
from .intervals import Intervals
from .judged_values import JudgedValues, single_values

__all__ = ["Judge", "Tally", "slack_of", "summed"]

#: How many numbers can be added up, one array a partition, of the same judge.
summed = partial(np.sum, axis=0)
#: Probabilities that are judged at a time: a table of more is judged in parts.
MOST_NUMBERS = 2**22
#: How far rounding may move the sum of the probabilities of an interval.
SUM_ROUNDING = 1e-12


def slack_of(post: Posterior) -> float:
    """How far a P(s | q) may be from the maximum-entropy one; of a population P(s | q, in the release)."""
    if OUTSIDE not in post.space.view.sensitive_values.to_flat_index():
        return min(post.certificate.bound, 1.0)
    return float(inferred(post)[2].off.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Judge:
    """A person is exposed if P(s | q) >= threshold while P0(s) < threshold, for one of the judged values s at least.

    Where values are numbers, times or ranks, P(s | q) and P0(s) are those of the interval around s.

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
        P0 of the units, of the same rows as what is judged, or the same for all; without one it is 0.
    intervals : Intervals, optional
        Around the judged values, where these are on a scale.
    rho1 : float, optional
        The largest P0 that counts; by default whatever is below the threshold.
    """

    threshold: float
    slack: float
    values: pd.Index
    judged: JudgedValues
    baseline: Baseline | None = None
    intervals: Intervals | None = None
    rho1: float | None = None

    @cached_property
    def by_interval(self) -> Intervals | None:
        """The intervals, if one of them holds more than one value; else equal values are judged."""
        return None if self.intervals is None or not self.intervals.hold_several else self.intervals

    @property
    def units(self) -> JudgedValues:
        """What a baseline is read of: the judged values, or all values where intervals are judged."""
        return self.judged if self.by_interval is None else self.by_interval.all_values

    @property
    def involved(self) -> np.ndarray:
        """Mark the sensitive values that are judged at all."""
        return self.judged.involved if self.by_interval is None else self.by_interval.involved

    def of(self, p: np.ndarray) -> np.ndarray:
        """P of each judged value, or of the interval around it, from P of all sensitive values."""
        return self._within(self.units.of(p))

    def _within(self, p: np.ndarray) -> np.ndarray:
        """P of each judged value, or of the interval around it, from P of the units."""
        return p if self.by_interval is None else self.by_interval.of(p)

    @cached_property
    def p0(self) -> np.ndarray:
        """P0 of each judged value, or of the interval around it; one row if it is the same for all."""
        assert self.baseline is not None
        return self._within(self.baseline.p)

    @property
    def least_p0(self) -> np.ndarray:
        """P0 less what a certificate leaves open."""
        assert self.baseline is not None
        off = self.baseline.off  # bounds the error of any set of values
        return self.p0 - (off if self.by_interval is None else off.max(axis=1, keepdims=True))

    @cached_property
    def counts(self) -> np.ndarray:
        """Mark the judged values that count, of all (one row) or of every row: P0 is below the threshold."""
        if self.baseline is None:
            return np.ones((1, len(self.judged.labels)), dtype=bool)
        least = self.least_p0
        return least < self.threshold - ROUNDING if self.rho1 is None else least <= self.rho1 + ROUNDING

    def parts(self, n_rows: int) -> Iterator[tuple[slice, Judge]]:
        """Judge some rows at a time, so that memory holds: which rows, and the judge of these."""
        step = max(1, MOST_NUMBERS // max(len(self.values), 1))
        for start in range(0, max(n_rows, 1), step):
            rows = slice(start, start + step)
            if self.baseline is None or len(self.baseline.p) == 1:
                yield rows, self
            else:
                own = replace(self.baseline, p=self.baseline.p[rows], off=self.baseline.off[rows])
                yield rows, replace(self, baseline=own)

    def counted(self, p: np.ndarray) -> np.ndarray:
        """P of judged values that count, and -1 of others, shape (rows, judged values)."""
        asked = self.of(p)
        return asked if self.baseline is None else np.where(self.counts, asked, -1.0)

    def surest(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The largest P that counts of every row, and the position of its judged value: of intervals the middle one."""
        counted = self.counted(p)
        largest = counted.max(axis=1, initial=-1.0)
        if self.by_interval is None:
            return largest, counted.argmax(axis=1)
        near = self.by_interval
        far = np.abs(near.scale.position[near.centres] - near.medians(near.all_values.of(p))[:, None])
        return largest, np.where(counted >= largest[:, None] - ROUNDING, far, np.inf).argmin(axis=1)

    def surest_of_all(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same of many rows, some at a time."""
        found = [judge.surest(p[rows]) for rows, judge in self.parts(len(p))]
        return np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])

    def counted_at(self, p: np.ndarray, which: np.ndarray) -> np.ndarray:
        """P of one judged value of every row, -1 where it does not count."""
        found = [np.take_along_axis(judge.counted(p[rows]), which[rows, None], 1) for rows, judge in self.parts(len(p))]
        return np.concatenate(found)[:, 0]

    def baseline_at(self, which: np.ndarray) -> np.ndarray:
        """P0 of one judged value of every row."""
        if len(self.p0) == 1:
            return self.p0[0, which]
        return self.p0[np.arange(len(which)), which]

    def reaches(self, p: np.ndarray) -> np.ndarray:
        """Mark probabilities that reach the threshold, or cannot be told from such."""
        slack = self.slack if self.by_interval is None else self.slack + SUM_ROUNDING
        return np.asarray((p >= self.threshold - slack) & (p >= 0))

    def certain(self, p: np.ndarray) -> np.ndarray:
        """Mark probabilities that are 1, as far as can be told."""
        return np.asarray(p >= 1 - max(min(self.slack, ACCURACY), NEGLIGIBLE))

    def _known_closer(self, p: np.ndarray, some: np.ndarray) -> np.ndarray:
        """Mark rows, among some, that an interval narrower than the judged ones would expose."""
        found = np.zeros(len(p), dtype=bool)
        near, baseline = self.by_interval, self.baseline
        if near is None or baseline is None or not some.any():
            return found
        same = len(baseline.p) == 1
        p0, off = (baseline.p, baseline.off) if same else (baseline.p[some], baseline.off[some])
        most = self.threshold - ROUNDING if self.rho1 is None else self.rho1 + ROUNDING
        least = self.threshold - self.slack - SUM_ROUNDING
        found[some] = near.narrow(near.all_values.of(p[some]), p0, least, most + float(off.max(initial=0.0)))
        return found

    def sizes(self) -> list[int]:
        """How many numbers each entry of a tally has."""
        n, single = len(self.judged.labels), single_values(self.values)
        return [1, 1, 1, 1, 10, n, n, n, n, len(self.values), 0 if single is None else len(single.labels), 1]

    def __call__(self, p: np.ndarray, people: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Count people of some rows: the entries of a :class:`Tally`, one after another."""
        found = np.zeros(sum(self.sizes()))
        for rows, judge in self.parts(len(p)):
            found += judge._counts_of(p[rows], people[rows].astype(float))
        return found

    def _counts_of(self, p: np.ndarray, ones: np.ndarray) -> np.ndarray:
        """Count people of rows that fit into memory."""
        asked = self.of(p)
        counted = asked if self.baseline is None else np.where(self.counts, asked, -1.0)
        largest = counted.max(axis=1, initial=-1.0)
        exposed = self.reaches(largest)
        # As the certificate's bound decides for exposure, it decides for the next tenth.
        tenth = np.clip((largest * 10 + 10 * (self.slack + SUM_ROUNDING)).astype(int), 0, 9)
        anyway = self.reaches(asked) & ~self.counts
        closer = self._known_closer(p, ~exposed & anyway.any(axis=1))
        unsure = exposed & (largest < self.threshold - NEGLIGIBLE)
        errors = 0.0 if self.intervals is None else float(ones @ self.intervals.errors(self.intervals.all_values.of(p)))
        is_certain, reached = self.certain(p), self.reaches(counted)
        single, of_one = single_values(self.values), np.zeros(0)
        uncounted = is_certain.any(axis=1) & ~exposed
        if single is not None:
            one = self.certain(single.of(p)) & ~is_certain.any(axis=1, keepdims=True) & ~exposed[:, None]
            of_one, uncounted = ones @ one, uncounted | one.any(axis=1)
        return np.concatenate(
            [
                [errors, ones[closer].sum(), ones[exposed].sum(), ones[unsure].sum()],
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
    errors : float
        The expected distance of the value from the best guess, added up over all people; of labels 0.
    closer : int
        Those who are not exposed by an interval, and would be by a narrower one, whose baseline is smaller.
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

    errors: float
    closer: int
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
        entries = np.split(counted, np.cumsum(judge.sizes())[:-1])
        errors, *whole = entries[0], *(np.rint(entry).astype(int) for entry in entries[1:])
        (closer,), (exposed,), (unsure,), tenths, by_value, certain, anyway, not_counted, uncounted, of_one, one = whole
        return cls(
            float(errors[0]), int(closer), int(exposed), int(unsure), tenths, by_value, certain, anyway, not_counted,
            uncounted, of_one, int(one[0]),
        )  # fmt: skip
