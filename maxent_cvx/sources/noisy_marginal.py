"""Counts that were published with noise of a known distribution, differentially private ones among them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..errors import BadProbability, StatementError, TableError, listing, number, shown, unknown_name
from ..rows import Rows
from ..space import Space
from .base import Source

__all__ = ["NoisyMarginal"]

#: Rounding that a whole number is forgiven.
ROUNDING = 1e-9


class Noise(Protocol):
    """What is asked of a distribution: scipy.stats.laplace(scale=2), norm(scale=3), binom(10, 0.5, loc=-5), ..."""

    def ppf(self, q: float) -> float:
        """The quantile from below."""

    def isf(self, q: float) -> float:
        """The quantile from above."""

    def support(self) -> tuple[float, float]:
        """The least and the largest value."""


class NoisyMarginal(Source):
    """noisy - z_high <= N P(by) <= noisy - z_low, with z the quantiles of the noise that was added to every count.

    Parameters
    ----------
    counts : Series
        Noisy numbers of people, indexed by the attributes (their names are the names of the levels): quasi-identifiers
        or sensitive ones. Cells that are left out were not published.
    noise : frozen distribution of scipy.stats
        Of the noise in each of them, ``scipy.stats.laplace(scale=1 / epsilon)`` for instance.
    confidence : float
        With what probability all rows are true together: quantiles leave out (1 - confidence) / (2 rows) on each side
        (Bonferroni). 1 takes the ends of a noise that has some.
    integer : bool
        Numbers of people are whole, as everybody knows; False takes the interval as it is.

    Raises
    ------
    TableError, BadProbability, StatementError
        If an argument cannot be read, or the noise has no ends and confidence is 1.
    UnknownName
        When added to a model, if it has no such attribute, or none of its values.

    Notes
    -----
    A count that the noise made negative says that few people are there, and is used as it is: nothing is clipped. What
    the interval says beyond 0 and N is left out. Noise beyond the confidence makes the model infeasible, which
    ``model.diagnose()`` tells.

    Examples
    --------
    >>> import pandas as pd, scipy.stats
    >>> flu = pd.Series([4.2, -0.7], index=pd.MultiIndex.from_tuples(
    ...     [("male", "Flu"), ("female", "Flu")], names=["Gender", "Disease"]))
    >>> source = NoisyMarginal(flu, scipy.stats.laplace(scale=1), confidence=0.9)
    """

    def __init__(self, counts: pd.Series, noise: Noise, confidence: float = 0.95, integer: bool = True) -> None:
        if not isinstance(counts, pd.Series):
            raise TableError(f"counts must be a pandas Series, indexed by attributes, not {shown(counts)}")
        if not len(counts) or None in counts.index.names:
            raise TableError("counts must have an entry, and the names of the attributes as names of its index")
        if counts.index.has_duplicates:
            raise TableError(f"counts repeat {listing(counts.index[counts.index.duplicated()])}; one entry a cell")
        if not pd.api.types.is_numeric_dtype(counts) or not np.isfinite(counts.to_numpy(dtype=float)).all():
            raise TableError("counts must be finite numbers")
        if any(not callable(getattr(noise, name, None)) for name in ("ppf", "isf", "support")):
            raise StatementError(f"noise is a distribution of scipy.stats, laplace(scale=2) say, not {shown(noise)}")
        if not 0 < number(confidence, "confidence") <= 1:
            raise BadProbability(f"confidence={confidence!r}: a probability above 0 is expected")
        if confidence < 1:
            tail = (1 - confidence) / (2 * len(counts))
            self.least, self.most = float(noise.ppf(tail)), float(noise.isf(tail))
        else:
            self.least, self.most = map(float, noise.support())
        if not np.isfinite([self.least, self.most]).all():
            raise StatementError("with confidence=1 noise without ends says nothing; take a confidence below 1")
        self.counts, self.integer = counts, integer

    @property
    def label(self) -> str:
        """The attributes that are counted by."""
        return f"noisy counts by {', '.join(map(str, self.counts.index.names))}"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row a cell; cells that nobody can be in emit one only if the noise does not explain them."""
        block = space.marginal([str(name) for name in self.counts.index.names])
        for name in map(str, block.index.names):
            found, there = self.counts.index.get_level_values(name), block.index.get_level_values(name)
            if not found.isin(there).any():
                raise unknown_name(f"value of {name!r}", found[0], there.unique())
        noisy = self.counts.to_numpy(dtype=float)
        low, high = noisy - self.most, noisy - self.least
        if self.integer:
            low, high = np.ceil(low - ROUNDING), np.floor(high + ROUNDING)
            if (none := low > high).any():
                raise StatementError(
                    f"no whole number of people is within the noise of {listing(self.counts.index[none])}; "
                    "integer=False takes any number"
                )
        at = block.index.get_indexer(self.counts.index)
        known = np.flatnonzero(at >= 0)
        pick = sp.csr_array((np.ones(len(known)), (known, at[known])), shape=(len(at), len(block)))
        matrix = sp.csr_array(pick @ block.matrix)
        low, high = np.where(low > 0, low, -np.inf), np.where(high < space.n_records, high, np.inf)
        said = np.where(at >= 0, np.isfinite(low) | np.isfinite(high), np.isfinite(low) | (high < 0))
        share = 1 / space.n_records
        rows = Rows(matrix, low * share, high * share, self.label, self.counts.index, space.view)
        yield rows.at(np.flatnonzero(said))
