"""A published contingency table: cells, margins and the grand total, of which some are suppressed or rounded."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...display import FirstRows
from ...errors import StatementError, TableError, UnknownName, arguments, listing, shown, unknown_name
from ...tables.columns import check_columns
from ...terms.rows import Rows
from ...terms.space import Space
from ...views import QITable
from ..base import Source
from .cell_counts import HALF_WIDTHS, cell_intervals, symbol_intervals
from .cells import cell_terms, unknown_values
from .table_view import people_of

__all__ = ["PublishedTable"]


class PublishedTable(Source):
    """least <= N sum P(terms of a cell) <= most, for every cell, margin and total of a published table.

    Parameters
    ----------
    table : DataFrame
        One row a cell, in long form: the column `count`, and a column an attribute, quasi-identifiers and sensitive
        ones. `total` in a column is the sum over it. Cells that are left out say nothing.
    count : str
        The column of counts, people: whole numbers, or symbols of suppressed cells. "*" is a cell that says nothing, as
        one that is suppressed to protect another (complementary suppression).
    suppressed : str, dict or None
        The symbol of cells that are too small to be published, "<5" or "<=4"; or every symbol to what it stands for,
        ``{"c": (0, 4), "*": (1, None)}``, least and most people.
    base : int, optional
        All numbers are rounded to multiples of it.
    rounding : {"nearest", "random"}
        Then within base // 2 of the truth, or, to either of the two next multiples at random, within base - 1.
    zeros_shown : bool
        Whether a zero is published as such: then "<5" is 1 to 4, and otherwise 0 to 4.
    total : object
        What stands for the total over a column.

    Attributes
    ----------
    attributes : tuple of str
        The columns that are counted by.
    cells : DataFrame
        The least and the most people of each cell, `low` and `high`, by the attributes.

    Raises
    ------
    UnknownName, TableError, StatementError
        If the table or an argument cannot be read, or a cell is there twice.

    Notes
    -----
    The conventions are those of statistical offices (Hundepool et al., Statistical Disclosure Control, 2012,
    chapters 4 and 5): ``model.audit(table)`` gives the feasibility intervals of the cells. Margins are rounded by
    themselves, and need not be the sums of their cells.

    Counts are of the people of the view; of a population (:class:`maxent_cvx.GroupedRelease`), of those in the release.

    Examples
    --------
    Two regions, three diseases, and all totals. The small cells of the North are suppressed, and those beside them,
    which would tell them otherwise. What an intruder can still work out, and what maximum entropy makes of it:

    >>> import maxent_cvx as mx, pandas as pd
    >>> table = mx.PublishedTable(pd.DataFrame(
    ...     [("North", "Flu", "<5"), ("North", "HIV", "<5"), ("North", "Cold", 20), ("North", "*", 24),
    ...      ("South", "Flu", "*"), ("South", "HIV", "*"), ("South", "Cold", 10), ("South", "*", 29),
    ...      ("*", "Flu", 20), ("*", "HIV", 3), ("*", "Cold", 30), ("*", "*", 53)],
    ...     columns=["Region", "Disease", "n"]))
    >>> model = mx.MaxEnt(table.to_view(sa="Disease")).add(table)
    >>> print(model.audit(table).round(3))
                     low  high  certain
    Region Disease
    North  Flu       1.0   4.0    False
           HIV       0.0   3.0    False
    South  Flu      16.0  19.0    False
           HIV       0.0   3.0    False
    >>> print(model.solve().conditional().round(3))
    Disease    Flu    HIV   Cold
    Region
    North    0.145  0.022  0.833
    South    0.570  0.085  0.345

    Totals of the sensitive attribute alone are SA-constraints, P(s), here of people whose gender is known:

    >>> hospital = mx.datasets.load_hospital()
    >>> people = mx.QITable(hospital, qi="Gender", sa="Disease", sa_values=hospital["Disease"].unique())
    >>> totals = hospital["Disease"].value_counts().rename("n").reset_index()
    >>> told = mx.MaxEnt(people).add(mx.PublishedTable(totals)).solve()
    >>> told.conditional().loc["male"].round(3).to_dict()
    {'Flu': 0.3, 'Pneumonia': 0.2, 'Breast Cancer': 0.2, 'HIV': 0.2, 'Lung Cancer': 0.1}
    """

    def __init__(
        self,
        table: pd.DataFrame,
        count: str = "n",
        suppressed: str | Mapping[str, tuple[int | None, int | None]] | None = "<5",
        base: int | None = None,
        *,
        rounding: str = "nearest",
        zeros_shown: bool = False,
        total: Hashable = "*",
    ) -> None:
        arguments.table(table, "the published table")
        if not arguments.is_text(count):
            raise TableError(f"count={shown(count)}: the name of a column is expected")
        arguments.choice(rounding, "rounding", tuple(HALF_WIDTHS))
        arguments.flag(zeros_shown, "zeros_shown")
        if not pd.api.types.is_scalar(total) or pd.isna(total):  # type: ignore[call-overload]
            raise StatementError(f"total={shown(total)}: what stands for a total, a text say, is expected")
        base = None if base is None else arguments.whole(base, "base", 1)
        symbols = symbol_intervals(suppressed, zeros_shown)
        if count not in table.columns and table.index.names != [None]:
            raise TableError(
                f"the published table has no column {count!r} of counts, and names in its index: a table with a column "
                f"for each value is expected in long form, table.stack().rename({count!r}).reset_index()"
            )
        by = [column for column in table.columns if column != count]
        check_columns(table, {"an attribute": by, "count": (count,)}, "the published table")
        if not by:
            raise TableError("the published table has a column of counts only; name what is counted in other columns")
        self.attributes, self.total = tuple(by), total
        low, high = cell_intervals(table[count], symbols, base, rounding)
        index = _labels(table[by])
        if index.has_duplicates:
            twice = index[index.duplicated()].unique()
            raise TableError(f"the published table has more than one row for {listing(twice)}; one a cell is expected")
        self.cells = pd.DataFrame({"low": low, "high": high}, index=index)

    @property
    def label(self) -> str:
        """What is counted by."""
        return f"published table by {', '.join(self.attributes)}"

    @cached_property
    def identity(self) -> Hashable:
        """The cells and what they say."""
        cells = frozenset(zip(self.cells.index.tolist(), *self.cells.T.to_numpy().tolist(), strict=True))
        return "PublishedTable", self.attributes, self.total, cells

    @cached_property
    def is_total(self) -> np.ndarray:
        """For every cell and attribute, whether the cell is a sum over it."""
        values = [self.cells.index.get_level_values(name) for name in self.attributes]
        return np.column_stack([np.asarray(level == self.total, dtype=bool) for level in values])

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row a cell, people; a cell that may hold anybody or nobody emits none.

        Parameters
        ----------
        space : Space
            The terms of the model, by which rows are numbered.

        Yields
        ------
        Rows
            least <= N P(cell) <= most.

        Raises
        ------
        UnknownName
            If the view has no such attribute, or no such value, unless the table says that nobody has it.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> cells = [("male", "Flu", 3), ("female", "Flu", "<5"), ("*", "HIV", 2)]
        >>> table = mx.PublishedTable(pd.DataFrame(cells, columns=["Gender", "Disease", "n"]))
        >>> (rows,) = table.rows(mx.MaxEnt(release).space)
        >>> rows.name(2), rows.low.tolist(), rows.high.tolist()                         # people
        ('published table by Gender, Disease: *, HIV', [3.0, -inf, 2.0], [3.0, 4.0, 2.0])
        """
        low, high = self.cells["low"].to_numpy(), self.cells["high"].to_numpy()
        exact, matrix = low == high, self.matrix(space)
        low = np.where(exact | (low > 0), low, -np.inf)
        high = np.where(exact | (high < space.n_records), high, np.inf)
        nobody = np.diff(matrix.indptr) == 0  # an impossible combination: 0 says nothing, more contradicts the view
        said = np.where(nobody, low > 0, np.isfinite(low) | np.isfinite(high))
        scaled = sp.csr_array(matrix * float(space.n_records))
        rows = Rows(scaled, low, high, self.label, self.cells.index, space.view, exact=True)
        yield rows.at(np.flatnonzero(said))

    def matrix(self, space: Space) -> sp.csr_array:
        """The terms of every cell, in the order of `cells`: entries of 1.

        Parameters
        ----------
        space : Space
            The terms of a model.

        Returns
        -------
        csr_array, shape (cells, terms)

        Raises
        ------
        UnknownName
            As :meth:`rows`.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> table = mx.PublishedTable(pd.DataFrame({"Gender": ["male", "*"], "n": [6, 10]}))
        >>> space = mx.MaxEnt(release).space
        >>> (table.matrix(space) @ space.count(hospital)).tolist()                      # people
        [6.0, 10.0]
        """
        arguments.instance(space, Space, "space")
        view = space.view
        if strangers := [name for name in self.attributes if name not in view.columns]:
            raise unknown_name(f"attribute of the {view.noun}", strangers[0], view.columns)
        index, is_total = self.cells.index, self.is_total
        for i, name in enumerate(self.attributes):
            for value, at in unknown_values(space, index, is_total, i):
                low, high = self.cells["low"].to_numpy()[at], self.cells["high"].to_numpy()[at]
                if name not in view.qi or low.any() or not (high == 0).any():
                    error = unknown_name(f"value of {name!r}", value, space.axes.of_column(name)[1])
                    raise UnknownName(f"the published table by {', '.join(self.attributes)}: {error}")
        return cell_terms(space, index, is_total)

    def to_view(self, sa: str | Iterable[str], n_records: int | None = None) -> QITable:
        """The people who are counted, as a view, if nothing is published but tables.

        Parameters
        ----------
        sa : str or list of str
            The attributes that are sensitive. The others are quasi-identifiers, known of everybody: their totals must
            be published, as numbers. If all are sensitive, only the number of people is known.
        n_records : int, optional
            Instead of the grand total, if all are sensitive and that is not published as a number.

        Returns
        -------
        QITable
            Values are those that are in the table; an attribute has no others.

        Raises
        ------
        UnknownName, TableError
            If there is no such attribute, or a total is not there.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> cells = [("North", "Flu", "<5"), ("North", "Cold", "*"), ("North", "*", 24), ("*", "*", 24)]
        >>> table = mx.PublishedTable(pd.DataFrame(cells, columns=["Region", "Disease", "n"]))
        >>> table.to_view(sa="Disease")
        <QITable: 24 people; 1 distinct (Region), 2 values of 'Disease'>
        >>> table.to_view(sa=["Region", "Disease"])
        <QITable: 24 people; 1 distinct (people), 2 values of 'Region', 'Disease'>
        """
        return people_of(self.cells, self.is_total, sa, n_records)

    def _tables(self) -> Iterable[FirstRows]:
        return [FirstRows(self.cells, "cells")]

    def __repr__(self) -> str:
        open_ = int((self.cells["low"] < self.cells["high"]).sum())
        return f"<PublishedTable: {len(self.cells)} cells by {', '.join(self.attributes)}, {open_} of them not exact>"


def _labels(columns: pd.DataFrame) -> pd.Index:
    """The labels of the cells."""
    try:
        if columns.shape[1] == 1:
            name = columns.columns[0]
            return pd.Index(columns[name].astype(object).array, name=name)
        return pd.MultiIndex.from_frame(columns.astype(object))
    except TypeError as error:  # a list in a cell, say
        raise TableError(f"the published table holds something that is no single value: {error}") from error
