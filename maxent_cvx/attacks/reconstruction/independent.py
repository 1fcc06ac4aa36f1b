"""Records of which only each attribute by itself is known: the baseline of a reconstruction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

__all__ = ["Independent"]


@dataclass(frozen=True, eq=False)
class Independent:
    """P(k people have a record) = Binomial(k; N, product of the shares of its values).

    Attributes
    ----------
    shares : dict of str to Series
        Of the values of each attribute.
    sizes : Series
        Probability by number of people N.
    """

    shares: dict[str, pd.Series]
    sizes: pd.Series

    @classmethod
    def of(cls, types: pd.DataFrame, people: np.ndarray, weights: np.ndarray) -> Independent:
        """Those with the attributes that solutions have on average.

        Parameters
        ----------
        types : DataFrame
            A row a type of record.
        people : ndarray of int, shape (solutions, types)
        weights : ndarray
            Probability of each solution.
        """
        expected = weights @ people
        share = pd.Series(expected / (expected.sum() or 1.0))  # all 0 if there is nobody
        shares = {str(name): share.groupby(types[name].to_numpy()).sum() for name in types.columns}
        return cls(shares, pd.Series(weights).groupby(people.sum(axis=1)).sum())

    def at_least(self, records: pd.DataFrame, k: np.ndarray) -> np.ndarray:
        """P(k people or more have a record), one a row."""
        from scipy.stats import binom  # takes a third of a second to load

        share = np.ones(len(records))
        for name, of_value in self.shares.items():
            share *= records[name].map(of_value).fillna(0.0).to_numpy(dtype=float)
        by_size = binom.sf(k[:, None] - 1, self.sizes.index.to_numpy()[None, :], np.minimum(share, 1.0)[:, None])
        return np.asarray(by_size @ self.sizes.to_numpy())
