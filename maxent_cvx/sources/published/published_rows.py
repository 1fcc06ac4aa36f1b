"""What every published view says of its terms: the first source of every model."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from ...terms.space import Space
from ..base import Source

__all__ = ["PublishedRows"]


class PublishedRows(Source):
    """Rows that are true of whatever was published, and what they say alone, without a solver."""

    @abstractmethod
    def closed_form(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """The maximum-entropy answer when nothing else is known: people a term, and a multiplier a row.

        Parameters
        ----------
        space : Space
            The terms of a model of the view.

        Returns
        -------
        counts : ndarray, one a term
            People; NaN where no closed form is known.
        multipliers : ndarray, one a row
            As of `multipliers` of :class:`maxent_cvx.Posterior`.
        """

    @abstractmethod
    def closed_bounds(self, space: Space, at: np.ndarray) -> tuple[float, float]:
        """The least and the most people that some terms can hold together, when nothing else is known.

        Parameters
        ----------
        space : Space
        at : ndarray of int
            Terms: in every bucket all of some QI tuples with some values.

        Returns
        -------
        low, high : float
            People.
        """
