"""The data of a report: settings, answers, and the attempts to merge buckets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import MaxEntError, StatementError
from .._utils.formatting import as_label
from ..measures.exposure import Exposure, exposed
from ..measures.utility import risk_utility
from ..model.maxent import MaxEnt
from ..model.partitioned import PartitionedPosterior
from ..model.posterior import Posterior
from ..releases.release import Release

__all__ = [
    "Attack",
    "Attempt",
    "ReportData",
    "Settings",
    "again",
    "in_one_bucket",
    "merged_once",
]

# What somebody asked of a report.


#: From what is published to what an attack infers of it, a result of :mod:`maxent_cvx.attacks` or a table.
Attack: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Settings:
    """The arguments of :func:`maxent_cvx.report`, read."""

    threshold: float = 0.8
    sensitive: object = None
    baseline: object = "overall"
    within: object = None
    original: pd.DataFrame | None = None
    population: object = None
    records: bool = False
    attacks: Mapping[str, Attack] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)
    rows: int = 25
    time_limit: float = 60.0


# One answer that is reported: the posterior, its view and model, and what is computed of it once for all sections.


T = TypeVar("T")

#: Why questions of linear programs, and of logic, have no answer of a release in partitions.
IN_MEMORY = "it is worked out for releases in memory only, and this one is in partitions"


@dataclass(frozen=True)
class Attempt(Generic[T]):
    """What came of a computation: its value, or why there is none."""

    value: T | None
    why: str = ""

    @classmethod
    def of(cls, compute: Callable[[], T]) -> Attempt[T]:
        """Compute something; an error of this package says why it cannot be."""
        try:
            return cls(compute())
        except MaxEntError as error:
            return cls(None, " ".join(str(error).split()))


@dataclass(frozen=True, eq=False)
class ReportData:
    """An answer under its name."""

    name: str
    post: Posterior | PartitionedPosterior
    asked: Settings

    @property
    def in_partitions(self) -> bool:
        """Whether it is of a release in partitions."""
        return isinstance(self.post, PartitionedPosterior)

    @property
    def names_people(self) -> bool:
        """Whether the adversary knows somebody by name."""
        post = self.post
        return post.names_people if isinstance(post, PartitionedPosterior) else len(post.space.people) > 0

    @property
    def n_named(self) -> int:
        """How many people the adversary knows by name; of a release in partitions this is not counted."""
        return 0 if isinstance(self.post, PartitionedPosterior) else len(self.post.space.people)

    @property
    def has_prior(self) -> bool:
        """Whether the adversary believed something before the release."""
        return self.model is not None and self.model.prior is not None

    @property
    def view(self) -> Any:
        """What is published."""
        return self.post.release if isinstance(self.post, PartitionedPosterior) else self.post.space.view

    @property
    def model(self) -> Any:
        """The model as it was solved; None of an answer from a file, or in partitions."""
        return None if isinstance(self.post, PartitionedPosterior) else self.post.model

    @property
    def exact(self) -> float:
        """What every probability is proved to be exact within."""
        return min(self.post.certificate.bound, 1.0)

    @property
    def sa(self) -> str:
        """The sensitive attribute in a sentence: "Disease", or "Disease, Salary"."""
        return ", ".join(map(as_label, self.view.sensitive))

    @cached_property
    def exposure(self) -> Exposure:
        """Who is exposed."""
        return self.exposed(self.post)

    def exposed(self, post: Posterior | PartitionedPosterior) -> Exposure:
        """Who would be exposed by another answer, judged alike."""
        asked = self.asked
        baseline: Any = asked.baseline if self.is_compared else None
        return exposed(post, asked.threshold, sensitive=asked.sensitive, baseline=baseline, within=asked.within)

    @property
    def is_compared(self) -> bool:
        """Whether inferences are compared with a baseline: the overall distribution is not always published."""
        return self.asked.baseline is not None and not (isinstance(self.asked.baseline, str) and self.view.n_s is None)

    @cached_property
    def certain(self) -> Attempt[pd.DataFrame]:
        """What is certain, and why."""
        post, seconds = self.post, self.asked.time_limit
        if isinstance(post, PartitionedPosterior):
            return Attempt(None, IN_MEMORY)
        return Attempt.of(lambda: post.certain(False, time_limit=seconds))

    @cached_property
    def intervals(self) -> Attempt[pd.DataFrame]:
        """The least and the largest P(s | q) that all rows permit."""
        if self.in_partitions:
            return Attempt(None, IN_MEMORY)
        if self.model is None:
            return Attempt(None, "the answer was read from a file, which does not hold what the adversary knows")
        return Attempt.of(lambda: self.model.bounds(time_limit=self.asked.time_limit, progress=False))

    @cached_property
    def figures(self) -> Attempt[pd.DataFrame]:
        """The measures of risk and of utility that users of disclosure control expect."""
        asked = self.asked
        baseline: Any = asked.baseline if self.is_compared else None
        population: Any = asked.population
        judged = {
            "threshold": asked.threshold,
            "sensitive": asked.sensitive,
            "baseline": baseline,
            "within": asked.within,
        }
        return Attempt.of(lambda: risk_utility(self.post, asked.original, population=population, **judged))

    @cached_property
    def prices(self) -> Attempt[pd.DataFrame]:
        """What a unit of each statement is worth."""
        return Attempt.of(self.post.prices)


@dataclass(frozen=True, eq=False)
class Merged:
    """A release some buckets of which were merged."""

    release: Release
    names: list[str]


def merged_once(release: Release, exposed: Sequence[int]) -> Merged:
    """Merge each of some buckets with the one whose values differ most from its own, each with another one."""
    if len(release.buckets) < 2:
        raise StatementError("all people are in one bucket already")
    counts = release.n_sb.toarray().astype(float)
    shares = counts / counts.sum(axis=0)
    into, free = np.arange(len(release.buckets)), np.ones(len(release.buckets), dtype=bool)
    free[list(exposed)] = False
    names = []
    for bucket in exposed:
        if into[bucket] != bucket:
            continue
        others = free if free.any() else (np.arange(len(into)) != bucket) & (into == np.arange(len(into)))
        if not others.any():
            break
        apart = np.where(others, np.abs(shares - shares[:, [bucket]]).sum(axis=0), -1.0)
        partner = int(apart.argmax())
        free[partner] = False
        into[into == bucket] = partner
        names.append(f"bucket {release.buckets[bucket]} with bucket {release.buckets[partner]}")
    return Merged(_joined(release, into), names)


def in_one_bucket(release: Release) -> Merged:
    """Merge all buckets."""
    return Merged(_joined(release, np.zeros(len(release.buckets), dtype=np.int64)), ["all buckets"])


def again(post: Posterior, release: Release) -> Posterior:
    """Solve the same adversary's model of another release of the same people."""
    model, people = post.model, post.space.people
    assert model is not None
    described = pd.DataFrame(
        [tuple(release.quasi_identifiers[q]) for q in people.q], index=people.names, columns=list(release.qi)
    )
    other = MaxEnt(release, people=described if len(people) else None, prior=model.prior)
    for label, source in model.knowledge.items():
        if label not in other.knowledge:
            other.add(source, label=label)
    return other.solve()


def _joined(release: Release, into: np.ndarray) -> Release:
    """The release whose buckets are others; each is called as the one that it went into."""
    kept, place = np.unique(into, return_inverse=True)
    n = len(into)
    join = sp.csr_array((np.ones(n, dtype=np.int64), (np.arange(n), place)), shape=(n, len(kept)))
    return replace(
        release, buckets=release.buckets[kept], n_qb=sp.csr_array(release.n_qb @ join),
        n_sb=sp.csr_array(release.n_sb @ join), persons=None,
    )  # fmt: skip
