"""What a view says of its terms, if nothing better is known of the view: its published counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from ...errors import arguments
from ...terms.rows import Rows
from ...terms.space import Space
from ...views import View
from ..base import Source
from .published_rows import PublishedRows

__all__ = ["PublishedCounts", "PublishedZeros", "counted_rows"]


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
        self.tables = tuple(sorted(view.published, key=self._of_values) if tables is None else tables)

    @property
    def label(self) -> str:
        """The name of this source in every model of such a view; of some tables only, with what they are by."""
        if len(self.tables) == len(self.view.published):
            return "published counts"
        return f"published counts by {'; '.join(', '.join(by) for by in self.tables)}"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row a label of every table, of those that somebody has; that nobody has the others, other rows say."""
        for by in self.tables:
            counts = self.view.published[by]
            rows, held = counted_rows(space, by, counts), counts.to_numpy() > 0
            yield rows if held.all() else rows.at(held)

    def closed_form(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """Whoever is counted under a label has any of its terms alike, if there is one table; else there is none.

        Returns
        -------
        counts : ndarray, one a term
            Records: the weight of the term, by that of all terms with the label, times n(label). NaN where several
            tables are published, or labels that nobody has.
        multipliers : ndarray, one a row
            With x = w exp(A' multipliers - 1) for the rows A x = b in records; of several tables those of the first as
            if it were alone, and 0 for the others.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx.sources import PublishedCounts
        >>> table = mx.QITable(mx.datasets.load_hospital(), qi="Gender", sa="Disease", sa_values=["Flu", "HIV"])
        >>> source, space = PublishedCounts(table), mx.MaxEnt(table).space
        >>> source.closed_form(space)[0].tolist()                     # half of four women, half of six men
        [2.0, 2.0, 3.0, 3.0]
        >>> source.closed_bounds(space, space.row("Flu", {"Gender": "male"}).indices)
        (0.0, 6.0)
        """
        counts = [self.view.published[by].to_numpy() for by in self.tables]
        row = self._rows_of(space)
        each = counts[0] / np.bincount(row, space.weights)
        others = np.zeros(sum(int((n > 0).sum()) for n in counts[1:]))
        alone = len(self.view.published) == 1 and bool((each > 0).all())
        found = space.weights * each[row] if alone else np.full(len(space), np.nan)
        return found, np.concatenate([np.log(each[each > 0]) + 1, others])

    def closed_bounds(self, space: Space, at: np.ndarray) -> tuple[float, float]:
        """Under one label, people may have any of its terms: nobody or everybody, unless there is no other term."""
        low, high = self._bounds_of_each(space, at, np.zeros(len(at), dtype=np.int64), 1)
        return float(low[0]), float(high[0])

    def closed_bounds_of_each(
        self, space: Space, at: np.ndarray, group: np.ndarray, n_groups: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of each of several groups of terms what :meth:`closed_bounds` says of it, all at once."""
        if type(self).closed_bounds is not PublishedCounts.closed_bounds:  # a subclass knows better
            return super().closed_bounds_of_each(space, at, group, n_groups)
        return self._bounds_of_each(space, at, group, n_groups)

    def _bounds_of_each(
        self, space: Space, at: np.ndarray, group: np.ndarray, n_groups: int
    ) -> tuple[np.ndarray, np.ndarray]:
        row, n = self._rows_of(space), self.view.published[self.tables[0]].to_numpy()
        pairs, some = np.unique(group * len(n) + row[at], return_counts=True)
        whose, label = np.divmod(pairs, len(n))
        all_of_them = some == np.bincount(row, minlength=len(n))[label]
        return np.bincount(whose, n[label] * all_of_them, n_groups), np.bincount(whose, n[label], n_groups)

    def _of_values(self, by: tuple[str, ...]) -> bool:
        """Whether a table does not count people by QI tuple."""
        return not ("q" in by or set(self.view.qi) <= set(by))

    def _rows_of(self, space: Space) -> np.ndarray:
        """The label of each term in the first table; every term has one."""
        return space.marginal(list(self.tables[0])).matrix.tocsc().indices


class PublishedZeros(Source):
    """sum P(terms with a label) = 0, for every label that a view publishes that nobody has.

    These force terms to be empty, as knowledge may, and link none; hence they are apart from the other counts.

    Parameters
    ----------
    view : View
    """

    def __init__(self, view: View) -> None:
        self.view = view

    @property
    def label(self) -> str:
        """The name of this source in every model of such a view."""
        return "published zeros"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row a label that nobody has."""
        for by, counts in self.view.published.items():
            if (nobody := counts.to_numpy() == 0).any():
                yield counted_rows(space, by, counts).at(nobody)
