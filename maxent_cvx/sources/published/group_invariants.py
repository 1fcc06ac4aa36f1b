"""What generalised groups say of the population that their people are from."""

from __future__ import annotations

import numpy as np

from ...terms.space import Space
from ...views import GroupedRelease
from .facts import published_sources
from .published_counts import PublishedCounts

__all__ = ["GroupInvariants", "Population"]


class GroupInvariants(PublishedCounts):
    """sum_q P(q, s, b) = P(s, b), for every value s of every group b, q being what the group covers.

    Parameters
    ----------
    release : GroupedRelease
    """

    def __init__(self, release: GroupedRelease) -> None:
        super().__init__(release, [("s", "bucket")])
        self.release = release

    @property
    def label(self) -> str:
        """The name of this source in every model of a generalised release."""
        return "published groups"

    def closed_form(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """There is none, as groups compete for people: NaN, and multipliers to begin with."""
        b = self.release.n_sb.nonzero()[1]
        covered = np.asarray(self.release.cover @ self.release.n_q)
        return np.full(len(space), np.nan), np.log(self.release.n_sb.data / covered[b]) + 1


class Population(PublishedCounts):
    """sum_{s, b} P(q, s, b) = P(q): the population's people, in whichever group, or in none.

    Parameters
    ----------
    release : GroupedRelease
    """

    def __init__(self, release: GroupedRelease) -> None:
        super().__init__(release, [("q",)])

    @property
    def label(self) -> str:
        """The name of this source in every model of a generalised release."""
        return "population"


@published_sources.register(GroupedRelease)
def _group_sources(release: GroupedRelease) -> tuple[GroupInvariants, Population]:
    return GroupInvariants(release), Population(release)
