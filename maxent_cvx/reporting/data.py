"""The data of a report: its settings, the quantities computed from each posterior, and releases with merged buckets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from .._utils.errors import MaxEntError
from .._utils.formatting import as_label
from ..anonymize.merging import merge_buckets
from ..measures.exposure import WITHOUT_HER, Exposure, exposed
from ..measures.utility import risk_utility
from ..model.maxent import MaxEnt
from ..model.partitioned import PartitionedPosterior
from ..model.posterior import Posterior
from ..releases.release import Release

#: A function from a release to the inferences of an attack: a result of :mod:`maxent_cvx.attacks`, or a table.
Attack: TypeAlias = Callable[[Any], Any]
#: The reason why some sections are missing for a release in partitions.
IN_MEMORY = "they are computed for releases in memory only, and this release is in partitions"
#: Limits of :func:`least_merging`: the number of QI tuples times values, and seconds.
LARGEST_PROGRAM, MERGING_SECONDS = 2_000, 10.0
#: Buckets that are compared with an exposed one before it is merged: with all of 20,000, a round took a minute.
CANDIDATES = 1_000

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Settings:
    """The arguments of :func:`maxent_cvx.report`."""

    thresholds: tuple[float, ...] = (0.8,)
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

    @property
    def threshold(self) -> float:
        """The least threshold."""
        return self.thresholds[0]


@dataclass(frozen=True)
class Attempt(Generic[T]):
    """The value of a computation, or the reason why it failed."""

    value: T | None
    why: str = ""

    @classmethod
    def of(cls, compute: Callable[[], T]) -> Attempt[T]:
        """Compute something; an error of this package becomes the reason."""
        try:
            return cls(compute())
        except MaxEntError as error:
            return cls(None, " ".join(str(error).split()))


@dataclass(frozen=True, eq=False)
class ReportData:
    """A posterior with its name, and quantities shared by several sections, each computed once."""

    name: str
    post: Posterior | PartitionedPosterior
    settings: Settings

    @property
    def view(self) -> Any:
        """The release."""
        return self.post.view

    @property
    def in_partitions(self) -> bool:
        """Whether the release is in partitions."""
        return isinstance(self.post, PartitionedPosterior)

    @property
    def model(self) -> Any:
        """The model that was solved; None for a posterior from a file, or in partitions."""
        return getattr(self.post, "model", None)

    @property
    def n_named(self) -> int:
        """Number of people whom the adversary knows by name."""
        return len(self.post.known_people)

    @property
    def n_statements(self) -> int | None:
        """Number of rows and convex constraints of knowledge; None if the model is not available."""
        if self.model is None:
            return None
        form = self.model.form
        return int(form.shape[0] - form.n_facts + len(self.model.convex))

    @property
    def has_prior(self) -> bool:
        """Whether the adversary has a prior."""
        return self.model is not None and self.model.prior is not None

    @property
    def exact(self) -> float:
        """The certified error of a probability."""
        return min(self.post.certificate.bound, 1.0)

    @property
    def sa(self) -> str:
        """The sensitive attributes for use in a sentence: "Disease", or "Disease, Salary"."""
        return as_label(self.view.sensitive)

    @property
    def judged(self) -> tuple[str, ...]:
        """The sensitive attributes whose values count, all or some."""
        return tuple(map(str, self.exposure.values.index.names))

    @property
    def is_compared(self) -> bool:
        """Whether there is a baseline: the overall distribution is not always published."""
        baseline = self.settings.baseline
        is_published = self.view.n_s is not None or self.is_without_her
        return baseline is not None and (is_published or not isinstance(baseline, str))

    @property
    def is_without_her(self) -> bool:
        """Whether the baseline is the inference without the person's own record."""
        return isinstance(self.settings.baseline, str) and self.settings.baseline == WITHOUT_HER

    @property
    def _judged(self) -> dict[str, Any]:
        settings = self.settings
        return {
            "threshold": settings.thresholds, "sensitive": settings.sensitive, "within": settings.within,
            "baseline": settings.baseline if self.is_compared else None,
        }  # fmt: skip

    @property
    def is_judged_plainly(self) -> bool:
        """Whether all values count, by the default distance, and the baseline is one of the whole release."""
        settings, baseline = self.settings, self.settings.baseline
        is_of_all = baseline is None or (isinstance(baseline, str) and baseline == "overall")
        return is_of_all and settings.sensitive is None and settings.within is None

    @cached_property
    def exposure(self) -> Exposure:
        """The exposure by the posterior."""
        return self.exposed(self.post)

    def exposed(self, post: Posterior | PartitionedPosterior) -> Exposure:
        """Compute the exposure by another posterior."""
        # Other uses of the original records have separate sections.
        original = self.settings.original if self.is_without_her else None
        return exposed(post, original=original, **self._judged)

    @cached_property
    def certain(self) -> Attempt[pd.DataFrame]:
        """The certain inferences with their reasons."""
        post, seconds = self.post, self.settings.time_limit
        if isinstance(post, PartitionedPosterior):
            return Attempt(None, IN_MEMORY)
        return Attempt.of(lambda: post.certain(False, time_limit=seconds))

    @cached_property
    def intervals(self) -> Attempt[pd.DataFrame]:
        """The interval of every P(s | q)."""
        if self.in_partitions:
            return Attempt(None, IN_MEMORY)
        if self.model is None:
            return Attempt(None, "the answer was read from a file, which does not contain the adversary's knowledge")
        return Attempt.of(lambda: self.model.bounds(time_limit=self.settings.time_limit, progress=False))

    @cached_property
    def figures(self) -> Attempt[pd.DataFrame]:
        """Measures of risk and utility."""
        settings, population = self.settings, self.settings.population
        return Attempt.of(
            lambda: risk_utility(self.post, settings.original, population=population, **self._judged)  # type: ignore[arg-type]
        )

    @cached_property
    def prices(self) -> Attempt[pd.DataFrame]:
        """The price of every statement."""
        return Attempt.of(self.post.prices)

    def figures_of(self, kind: str) -> pd.DataFrame | None:
        """Return the measures of a kind; None if there are no such measures."""
        if self.figures.value is None:
            return None
        table = self.figures.value
        table = table[table.index.get_level_values("kind") == kind].droplevel("kind")
        return table if len(table) else None


def least_merging(release: Release, threshold: float) -> np.ndarray | None:
    """Return the target bucket of each bucket in the least merging without knowledge; None if not found in time."""
    if len(release.quasi_identifiers) * len(release.sensitive_values) > LARGEST_PROGRAM:
        return None
    merging = Attempt.of(lambda: merge_buckets(release, threshold, time_limit=MERGING_SECONDS)).value
    return None if merging is None else release.buckets.get_indexer(pd.Index(merging.buckets))


def merge_pairs(release: Release, exposed: Sequence[int]) -> np.ndarray:
    """Return the target bucket of each bucket if each exposed bucket joins the one with the most different values.

    Buckets that are not exposed are preferred, then buckets that are not merged yet, so that few buckets grow. Only the
    first candidates are compared, so that the number of comparisons is linear in that of buckets. There must be two buckets.
    """
    every = np.arange(len(release.buckets))
    into, is_free = every.copy(), np.ones(len(every), dtype=bool)
    is_safe = ~np.isin(every, exposed)
    counts = release.n_sb.T.toarray().astype(float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    for bucket in exposed:
        if not is_free[bucket]:
            continue
        is_free[bucket] = False
        masks = is_free & is_safe, is_free, every != bucket
        partners = np.flatnonzero(next(mask for mask in masks if mask.any()))[:CANDIDATES]
        partner = int(partners[np.abs(shares[partners] - shares[bucket]).sum(axis=1).argmax()])
        is_free[partner] = False
        into[bucket] = into[partner]
    return into


def solve_again(model: MaxEnt, release: Release) -> Posterior:
    """Solve the model of the same adversary for another release of the same people."""
    people = model.space.people
    described = pd.DataFrame(
        [tuple(release.quasi_identifiers[q]) for q in people.q], index=people.names, columns=list(release.qi)
    )
    other = MaxEnt(release, people=described if len(people) else None, prior=model.prior)
    for label, source in model.knowledge.items():
        if label not in other.knowledge:
            other.add(source, label=label)
    return other.solve()
