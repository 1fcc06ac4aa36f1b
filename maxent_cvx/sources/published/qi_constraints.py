"""What is known when no table is published: everybody's QI, perhaps how frequent the values are (section V.D)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...terms.rows import Rows
from ...terms.space import Space
from ...views import QITable
from ..base import Source
from .published_rows import PublishedRows

__all__ = ["QIConstraints", "SAConstraints"]


class QIConstraints(PublishedRows):
    """sum_x P(q, x) = P(q), for every QI tuple q.

    Parameters
    ----------
    table : QITable

    Notes
    -----
    Published rules, Eq. (8).
    """

    def __init__(self, table: QITable) -> None:
        self.table = table

    @property
    def label(self) -> str:
        """The name of this source in every model of a QI table."""
        return "quasi-identifiers"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row a QI tuple."""
        yield space.marginal("q") == self.table.published["q",] / space.n_records

    def closed_form(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """P(q, x) = P(q) / |SA|: the answer when nothing else is known.

        Returns
        -------
        counts : ndarray, one a term
            N P(q, x), people.
        multipliers : ndarray, one a QI tuple
            With x = w exp(A' multipliers - 1) for the rows A x = b in people.
        """
        n_q = self.table.n_q
        among = np.where(space.people.unnamed < n_q, n_q, 1)
        each = n_q / len(self.table.possible) / among
        return space.weights * each[space.codes["q"]], np.log(each) + 1

    def closed_bounds(self, space: Space, at: np.ndarray) -> tuple[float, float]:
        """Anybody may have any value: nobody, or everybody, unless there is no other value."""
        n_q, q = self.table.n_q, space.codes["q"]
        some, every = np.bincount(q[at], minlength=len(n_q)), np.bincount(q, minlength=len(n_q))
        return float(n_q[some == every].sum()), float(n_q[some > 0].sum())


class SAConstraints(Source):
    """sum_q P(q, x) = P(x), for every sensitive value x, if their distribution is published.

    Parameters
    ----------
    table : QITable

    Notes
    -----
    Published rules, Eq. (9).
    """

    def __init__(self, table: QITable) -> None:
        self.table = table

    @property
    def label(self) -> str:
        """The name of this source in every model of a QI table whose values are counted."""
        return "published distribution"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row a value that somebody has; nobody has the others, whose terms do not exist."""
        yield space.marginal("s") == self.table.published["s",] / space.n_records
