"""What a view says of its terms, if nothing better is known of the view: its published counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from ... import arguments
from ...terms.rows import Rows
from ...terms.space import Space
from ...views import View
from .published_rows import PublishedRows

__all__ = ["PublishedCounts", "counted_rows"]


def counted_rows(space: Space, by: Sequence[str], counts: pd.Series) -> Rows:
    """Say that a marginal is what was counted: a row a label."""
    return space.marginal(list(by)) == counts / space.n_records


class PublishedCounts(PublishedRows):
    """sum P(terms with a label) = n(label) / N, for every label of the tables that a view publishes.

    What is known of every view whose class has no sources of its own, see
    :func:`~maxent_cvx.sources.published_sources`.

    Parameters
    ----------
    view : View
    tables : sequence of tuple of str, optional
        By what the counts are, of those in ``view.published``; by default all, first those by QI tuple.

    Examples
    --------
    Of a release it says what :class:`~maxent_cvx.BucketInvariants` does, which also know the answer to it:

    >>> import maxent_cvx as mx
    >>> from maxent_cvx.sources import PublishedCounts
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> [rows.label for rows in PublishedCounts(release).rows(mx.MaxEnt(release).space)]
    ['P(Gender, Degree, Bucket)', 'P(Disease, Bucket)']
    """

    def __init__(self, view: View, tables: Sequence[tuple[str, ...]] | None = None) -> None:
        arguments.instance(view, View, "view")
        self.view = view
        self.tables = tuple(sorted(view.published, key=lambda by: "q" not in by) if tables is None else tables)

    @property
    def label(self) -> str:
        """The name of this source in every model of such a view."""
        return "published counts"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row a label of every table."""
        published = self.view.published
        for by in self.tables:
            yield counted_rows(space, by, published[by])

    def closed_form(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """Whoever is counted under a label has any of its terms alike, if there is one table; else there is none.

        Returns
        -------
        counts : ndarray, one a term
            People: the weight of the term, by that of all terms with the label, times n(label). NaN where several
            tables are published.
        multipliers : ndarray, one a row
            With x = w exp(A' multipliers - 1) for the rows A x = b in people; of several tables those of the first as
            if it were alone, and 0 for the others.
        """
        published = self.view.published
        row, each = self._alone(space)
        others = sum(len(published[by]) for by in self.tables[1:])
        with np.errstate(divide="ignore"):
            multipliers = np.maximum(np.log(each) + 1, LEAST)
        counts = space.weights * each[row] if len(published) == 1 else np.full(len(space), np.nan)
        return counts, np.concatenate([multipliers, np.zeros(others)])

    def closed_bounds(self, space: Space, at: np.ndarray) -> tuple[float, float]:
        """Under one label, people may have any of its terms: nobody or everybody, unless there is no other term."""
        row, _ = self._alone(space)
        n = self.view.published[self.tables[0]].to_numpy()
        some, every = np.bincount(row[at], minlength=len(n)), np.bincount(row, minlength=len(n))
        return float(n[some == every].sum()), float(n[some > 0].sum())

    def _alone(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """Of the first table, the row of each term, and of each row the people that a weight of 1 has."""
        row = space.marginal(list(self.tables[0])).matrix.tocsc().indices  # every term is in one row
        return row, self.view.published[self.tables[0]].to_numpy() / np.bincount(row, space.weights)


#: The logarithm of a count that is as good as 0, people; minus infinity is no multiplier to begin with.
LEAST = -50.0
