"""What every published view says of its terms: the first source of every model."""

from __future__ import annotations

import numpy as np

from ...errors import StatementError
from ...terms.space import Space
from ..base import Source

__all__ = ["PublishedRows"]


class PublishedRows(Source):
    """Rows that are true of whatever was published, and what they say alone, without a solver, where that is known.

    The first rows that are emitted shall be those of people's quasi-identifiers, which are no part of an irreducible
    infeasible subsystem where what is published contradicts itself.
    """

    def closed_form(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """The maximum-entropy answer when nothing else is known: records a term, and a multiplier a row.

        By default none is known.

        Parameters
        ----------
        space : Space
            The terms of a model of the view.

        Returns
        -------
        counts : ndarray, one a term
            Records; NaN where no closed form is known. Where there is one, all that is published is consistent.
        multipliers : ndarray, one a row
            As of `multipliers` of :class:`maxent_cvx.Posterior`; where there is no closed form, where to begin.
        """
        return np.full(len(space), np.nan), np.zeros(sum(len(rows) for rows in self.rows(space)))  # type: ignore[misc,arg-type]

    def closed_bounds(self, space: Space, at: np.ndarray) -> tuple[float, float]:
        """The least and the most records that some terms can hold together, when nothing else is known.

        Asked only where there is a closed form.

        Parameters
        ----------
        space : Space
        at : ndarray of int
            Terms: in every bucket all of some QI tuples with some values.

        Returns
        -------
        low, high : float
            Records.

        Raises
        ------
        StatementError
            If the class has a closed form and not this.
        """
        name = type(self).__name__
        raise StatementError(f"{name} has a closed form and no closed_bounds(space, at); write both, or neither")

    def closed_bounds_of_each(
        self, space: Space, at: np.ndarray, group: np.ndarray, n_groups: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of each of several groups of terms what :meth:`closed_bounds` says of it; by default one after the other.

        Parameters
        ----------
        space : Space
        at : ndarray of int
            Terms; of each group those that :meth:`closed_bounds` takes.
        group : ndarray of int
            The group of each.
        n_groups : int

        Returns
        -------
        low, high : ndarray, one a group
            Records; 0 of a group without terms.
        """
        found = np.zeros((2, n_groups))
        order = np.argsort(group, kind="stable")
        some, start = np.unique(group[order], return_index=True)
        for one, terms in zip(some, np.split(at[order], start[1:]), strict=True):
            found[:, one] = self.closed_bounds(space, terms)
        return found[0], found[1]
