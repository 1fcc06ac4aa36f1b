"""What is known when no table is published: everybody's QI, perhaps how frequent the values are (section V.D)."""

from __future__ import annotations

import numpy as np

from ...terms.space import Space
from ...views import QITable
from .facts import published_sources
from .published_counts import PublishedCounts

__all__ = ["QIConstraints", "SAConstraints"]


class QIConstraints(PublishedCounts):
    """sum_x P(q, x) = P(q), for every QI tuple q.

    Parameters
    ----------
    table : QITable

    Notes
    -----
    Published rules, Eq. (8).
    """

    def __init__(self, table: QITable) -> None:
        super().__init__(table, [("q",)])
        self.table = table

    @property
    def label(self) -> str:
        """The name of this source in every model of a QI table."""
        return "quasi-identifiers"

    def closed_form(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """P(q, x) = P(q) / |SA|: the answer when nothing else is known.

        Returns
        -------
        counts : ndarray, one a term
            N P(q, x), records.
        multipliers : ndarray, one a QI tuple
            With x = w exp(A' multipliers - 1) for the rows A x = b in records.
        """
        n_q = self.table.n_q
        among = np.where(space.people.unnamed < n_q, n_q, 1)
        each = n_q / len(self.table.possible) / among
        return space.weights * each[space.codes["q"]], np.log(each) + 1


class SAConstraints(PublishedCounts):
    """sum_q P(q, x) = P(x), for every sensitive value x, if their distribution is published.

    Nobody has values that nobody is published to have: their terms do not exist.

    Parameters
    ----------
    table : QITable

    Notes
    -----
    Published rules, Eq. (9).
    """

    def __init__(self, table: QITable) -> None:
        super().__init__(table, [("s",)])
        self.table = table

    @property
    def label(self) -> str:
        """The name of this source in every model of a QI table whose values are counted."""
        return "published distribution"


@published_sources.register(QITable)
def _table_sources(table: QITable) -> tuple[QIConstraints, *tuple[SAConstraints, ...]]:
    return QIConstraints(table), *([] if table.n_s is None else [SAConstraints(table)])
