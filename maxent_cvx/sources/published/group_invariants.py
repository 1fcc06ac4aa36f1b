"""What generalised groups say of the population that their people are from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...terms.rows import Rows
from ...terms.space import Space
from ...views import GroupedRelease
from ..base import Source
from .published_rows import PublishedRows

__all__ = ["GroupInvariants", "Population"]


class GroupInvariants(PublishedRows):
    """sum_q P(q, s, b) = P(s, b), for every value s of every group b, q being what the group covers.

    Parameters
    ----------
    release : GroupedRelease
    """

    def __init__(self, release: GroupedRelease) -> None:
        self.release = release

    @property
    def label(self) -> str:
        """The name of this source in every model of a generalised release."""
        return "published groups"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row a value of each group."""
        yield space.marginal(["s", "bucket"]) == self.release.published["s", "bucket"] / space.n_records

    def closed_form(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """There is none, as groups compete for people: NaN, and multipliers to begin with."""
        b = self.release.n_sb.nonzero()[1]
        covered = np.asarray(self.release.cover @ self.release.n_q)
        return np.full(len(space), np.nan), np.log(self.release.n_sb.data / covered[b]) + 1

    def closed_bounds(self, space: Space, at: np.ndarray) -> tuple[float, float]:
        """Never asked, as there is no closed form."""
        raise NotImplementedError


class Population(Source):
    """sum_{s, b} P(q, s, b) = P(q): the population's people, in whichever group, or in none.

    Parameters
    ----------
    release : GroupedRelease
    """

    def __init__(self, release: GroupedRelease) -> None:
        self.release = release

    @property
    def label(self) -> str:
        """The name of this source in every model of a generalised release."""
        return "population"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row a QI tuple."""
        yield space.marginal("q") == self.release.published["q",] / space.n_records
