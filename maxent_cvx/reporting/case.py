"""One answer that is reported: the posterior, its view and model, and what is computed of it once for all sections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import pandas as pd

from ..display import as_label
from ..errors import MaxEntError
from ..measures import Exposure, exposed, risk_utility
from ..model.partitioned.partitioned_posterior import PartitionedPosterior
from ..model.posterior import Posterior
from .settings import Settings

__all__ = ["Case", "Tried"]

T = TypeVar("T")

#: Why questions of linear programs, and of logic, have no answer of a release in partitions.
IN_MEMORY = "it is worked out for releases in memory only, and this one is in partitions"


@dataclass(frozen=True)
class Tried(Generic[T]):
    """What came of a computation: its value, or why there is none."""

    value: T | None
    why: str = ""

    @classmethod
    def of(cls, compute: Callable[[], T]) -> Tried[T]:
        """Compute something; an error of this package says why it cannot be."""
        try:
            return cls(compute())
        except MaxEntError as error:
            return cls(None, " ".join(str(error).split()))


@dataclass(frozen=True, eq=False)
class Case:
    """An answer under its name.

    Attributes
    ----------
    name : str
    post : Posterior or PartitionedPosterior
    asked : Settings
    """

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
    def certain(self) -> Tried[pd.DataFrame]:
        """What is certain, and why."""
        post, seconds = self.post, self.asked.time_limit
        if isinstance(post, PartitionedPosterior):
            return Tried(None, IN_MEMORY)
        return Tried.of(lambda: post.certain(False, time_limit=seconds))

    @cached_property
    def intervals(self) -> Tried[pd.DataFrame]:
        """The least and the largest P(s | q) that all rows permit."""
        if self.in_partitions:
            return Tried(None, IN_MEMORY)
        if self.model is None:
            return Tried(None, "the answer was read from a file, which does not hold what the adversary knows")
        return Tried.of(lambda: self.model.bounds(time_limit=self.asked.time_limit, progress=False))

    @cached_property
    def figures(self) -> Tried[pd.DataFrame]:
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
        return Tried.of(lambda: risk_utility(self.post, asked.original, population=population, **judged))

    @cached_property
    def prices(self) -> Tried[pd.DataFrame]:
        """What a unit of each statement is worth."""
        return Tried.of(self.post.prices)
