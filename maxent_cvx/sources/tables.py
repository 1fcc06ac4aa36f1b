"""Published contingency tables, in which some cells and margins are suppressed or rounded."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import StatementError, TableError, UnknownName, join_names, short_repr, unknown_name
from .._utils.formatting import TablePreview
from .._utils.tables import LARGEST_COUNT, check_columns, names, repeated
from .._utils.validation import (
    check_bool,
    check_dataframe,
    check_in,
    check_instance,
    check_int,
    check_known,
    check_label,
    check_str,
    is_text,
)
from ..releases.base import View, unused_name
from ..releases.qi_table import QITable
from ..solvers.sparse import with_entries_in
from ..terms.axes import find, level_of, occur, pick, subset_keys
from ..terms.rows import Rows
from ..terms.space import Space
from .base import Source

# Published counts, which are possibly rounded numbers and symbols of suppressed cells, as intervals.

#: The symbol of an unknown count, such as one suppressed to protect another cell (complementary suppression).
OPEN = "*"

Intervals = dict[str, tuple[float, float]]


def symbol_intervals(suppressed: object, zeros_shown: bool) -> Intervals:
    """Return the interval of people that each symbol of suppressed cells stands for."""
    least = 1.0 if zeros_shown else 0.0
    if suppressed is None:
        return {OPEN: (0.0, np.inf)}
    if isinstance(suppressed, str):
        symbol = _plain(suppressed)
        if symbol == OPEN:
            return {OPEN: (0.0, np.inf)}
        if (match := re.fullmatch(r"(<=?|≤)(\d{1,15})", symbol)) is None:
            raise StatementError(
                f"a suppressed count must be a limit such as '<5' or '<=4', got {short_repr(suppressed)}"
            )
        most = float(match[2]) - (match[1] == "<")
        if most < least:
            raise StatementError(f"a suppressed count must be a limit above the smallest count, got {suppressed!r}")
        return {symbol: (least, most), OPEN: (0.0, np.inf)}
    if not isinstance(suppressed, Mapping):
        raise StatementError(f"suppressed must be a limit such as '<5', a dict or None, got {short_repr(suppressed)}")
    if zeros_shown:
        raise StatementError("zeros_shown needs a limit such as '<5'; in a dictionary, write {'<5': (1, 4)}")
    return {OPEN: (0.0, np.inf), **{_symbol(key): _limits(key, value) for key, value in suppressed.items()}}


def cell_intervals(
    counts: pd.Series, symbols: Intervals, base: int | None, rounding: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the most people of every cell; the most is infinite if it is unknown."""
    column = f"column {counts.name!r} of the published table"
    types = pd.api.types
    of_texts = isinstance(counts.dtype, pd.CategoricalDtype) or types.is_string_dtype(counts)
    of_numbers = types.is_numeric_dtype(counts) and not types.is_bool_dtype(counts)
    if types.is_complex_dtype(counts) or not (of_numbers or of_texts or types.is_object_dtype(counts)):
        raise TableError(f"{column} must contain counts, not {counts.dtype}")
    as_typed = counts.astype(object)
    strange = as_typed.map(lambda cell: isinstance(cell, bool | np.bool_ | complex)).to_numpy(dtype=bool)
    values = pd.to_numeric(as_typed.where(~strange), errors="coerce").to_numpy(dtype=float)
    is_number = ~np.isnan(values)
    bad = is_number & ~((values >= 0) & (values <= LARGEST_COUNT) & (values == np.floor(values)))
    if bad.any():
        raise TableError(
            f"{column} must contain integers from 0 to {LARGEST_COUNT}, got {join_names(as_typed[bad].unique())}"
        )
    low, high = values.copy(), values.copy()
    if base is not None:
        if (off := is_number & (values % base != 0)).any():
            raise TableError(
                f"{column} must contain multiples of the base {base}, got {join_names(as_typed[off].unique())}"
            )
        width = base // 2 if rounding == "nearest" else base - 1
        low, high = np.maximum(low - width, 0), high + width
    symbols_typed = as_typed[~is_number].map(lambda cell: _plain(cell) if isinstance(cell, str) else short_repr(cell))
    texts, which = np.unique(symbols_typed.to_numpy(dtype=str), return_inverse=True)
    if unknown := [symbol for symbol in texts.tolist() if symbol not in symbols]:
        raise TableError(
            f"{column} contains {join_names(unknown)}, which is neither an integer nor a symbol of a suppressed cell, "
            f"{join_names(symbols)}; pass its meaning, suppressed={{symbol: (least, most)}}"
        )
    ends = np.array([symbols[symbol] for symbol in texts.tolist()]).reshape(-1, 2)
    low[~is_number], high[~is_number] = ends[which].T if len(which) else (0.0, 0.0)
    return low, high


def _plain(text: str) -> str:
    """Return a symbol without spaces."""
    return "".join(text.split())


def _symbol(key: object) -> str:
    """Read a symbol, which must be a string that is not a number."""
    symbol = _plain(check_str(key, "a symbol of suppressed="))
    try:
        float(symbol)
    except ValueError:
        return symbol
    raise StatementError(f"the symbol of suppressed cells must not be a number, as counts are, got {key!r}")


def _limits(key: object, value: object) -> tuple[float, float]:
    """Read (least, most), where None means no limit."""
    what = f"suppressed={{{key!r}: (least, most)}}"
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise StatementError(f"{what} must contain two numbers of people or None, not {short_repr(value)}")
    least = 0 if value[0] is None else check_int(value[0], f"{what}: least", 0)
    most = np.inf if value[1] is None else check_int(value[1], f"{what}: most", least)
    return float(least), float(most)


# Cells of a table over the terms of a model.


def cell_terms(space: Space, cells: pd.Index, is_total: np.ndarray) -> sp.csr_array:
    """Mark the terms of every cell, one margin at a time."""
    margins, margin = np.unique(is_total, axis=0, return_inverse=True)
    margin = margin.ravel()
    parts, order = [], []
    for i, total in enumerate(margins):
        at = np.flatnonzero(margin == i)
        by = [str(name) for name, over in zip(cells.names, total, strict=True) if not over]
        if by:
            block = space.marginal(by)
            parts.append(pick(block.matrix, find(block.index, subset_keys(cells[at], by))))
        else:
            parts.append(sp.csr_array(np.ones((len(at), len(space)))))
        order.append(at)
    back = np.argsort(np.concatenate(order), kind="stable")
    matrix = sp.csr_array(sp.vstack(parts, format="csr")[back])
    return with_entries_in(matrix, space.view.inside[space.codes["s"]])


# The counted people as a view, if only tables are published.


def people_of(cells: pd.DataFrame, is_total: np.ndarray, sa: str | Iterable[str], n_records: int | None) -> QITable:
    """Make the QI table of the totals over the sensitive attributes."""
    attributes = [str(name) for name in cells.index.names]
    sensitive = names(sa, "sa")
    check_known(sensitive, "attribute of the published table", attributes)
    if n_records is not None:
        check_int(n_records, "n_records", 1, error=TableError)
    qi = [name for name in attributes if name not in sensitive]
    is_sensitive = np.array([name in sensitive for name in attributes])
    labels = {
        name: pd.unique(np.asarray(cells.index.get_level_values(name)[~total]))
        for name, total in zip(attributes, is_total.T, strict=True)
    }
    domain = list(itertools.product(*(labels[name] for name in sensitive)))
    if len(sensitive) == 1:
        domain = list(labels[sensitive[0]])
    if not qi:
        total = _grand_total(cells, is_total, n_records)
        alone = unused_name("people", attributes)
        everybody = pd.DataFrame({alone: ["everybody"], f"n of {alone}": [total]})
        return QITable(everybody, qi=alone, sa=sensitive, sa_values=domain, count=f"n of {alone}")
    if n_records is not None:
        raise TableError("n_records can only be given if all attributes are sensitive; omit it")
    of_people = np.flatnonzero((is_total == is_sensitive).all(axis=1))
    margin = cells.iloc[of_people]
    people = margin.index.to_frame(index=False)[qi].infer_objects()
    _check_margin(people, margin, [labels[name] for name in qi], sensitive)
    _check_sum(cells.iloc[np.flatnonzero(is_total.all(axis=1))], margin, math.prod(len(labels[name]) for name in qi))
    count = unused_name("n", qi)
    people[count] = margin["low"].to_numpy().astype(np.int64)
    return QITable(people, qi=qi, sa=sensitive, sa_values=domain, count=count)


def _grand_total(cells: pd.DataFrame, is_total: np.ndarray, n_records: int | None) -> int:
    """Return the number of people."""
    everybody = cells[is_total.all(axis=1)]
    if n_records is not None:
        if len(everybody) and not everybody["low"].iloc[0] <= n_records <= everybody["high"].iloc[0]:
            low, high = everybody.iloc[0]
            raise TableError(f"n_records is {n_records}, but the published table counts {low:.0f} to {high:.0f} people")
        return n_records
    if not len(everybody) or everybody["low"].iloc[0] != everybody["high"].iloc[0]:
        raise TableError(
            "the published table has no grand total that is a number; pass the number of people, n_records"
        )
    return int(everybody["low"].iloc[0])


def _check_margin(people: pd.DataFrame, margin: pd.DataFrame, values: list[np.ndarray], sa: tuple[str, ...]) -> None:
    """Check that the totals of all QI values in the table are published."""
    over = f"over {', '.join(map(repr, sa))}"
    if (vague := (margin["low"] != margin["high"]).to_numpy()).any():
        whom = join_names(people[vague].itertuples(index=False, name=None))
        raise TableError(
            f"the total {over} of {whom} is suppressed or rounded, so the number of people with these QI values is "
            f"unknown; make all attributes sensitive, sa={[*people.columns, *sa]}"
        )
    for name, values_of_name in zip(people.columns, values, strict=True):
        if missing := values_of_name[~pd.Index(values_of_name).isin(people[name])].tolist():
            raise TableError(
                f"the published table has no total {over} of {name}={join_names(missing)}; add the row, or make all "
                f"attributes sensitive, sa={[*people.columns, *sa]}"
            )


def _check_sum(everybody: pd.DataFrame, margin: pd.DataFrame, n_combinations: int) -> None:
    """Check that the totals are complete: they add up to the grand total, or exist for every combination."""
    total = int(margin["low"].sum())
    if len(everybody):
        least, most = everybody["low"].iloc[0], everybody["high"].iloc[0]
        if not least <= total <= most or (least < most and len(margin) < n_combinations):
            raise TableError(
                f"the published totals over the sensitive attributes add up to {total} people, but the grand total is "
                f"{least:.0f} to {most:.0f}; add the missing totals"
            )
    elif len(margin) < n_combinations:
        raise TableError(
            f"the published table has totals over the sensitive attributes for {len(margin)} of {n_combinations} "
            "combinations of quasi-identifiers; add the others, possibly 0, or the grand total"
        )


class PublishedTable(Source):
    """least <= N sum P(terms of a cell) <= most, for every cell, margin and total of a published table.

    Parameters
    ----------
    table : DataFrame
        One row per cell, in long form: the column `count`, and one column per quasi-identifier or sensitive attribute.
        `total` in a column means the sum over it. Missing cells are unknown.
    count : str
        The column of counts of people: integers, or symbols of suppressed cells. "*" is an unknown cell, such as one
        suppressed to protect another (complementary suppression).
    suppressed : str, dict or None
        The symbol of cells that are too small to be published, "<5" or "<=4"; or a dictionary from symbols to (least,
        most) people, ``{"c": (0, 4), "*": (1, None)}``.
    base : int, optional
        The base to whose multiples all numbers are rounded.
    rounding : {"nearest", "random"}
        With `base`: a count is within base // 2 of the truth, or, if rounded up or down at random, within base - 1.
    zeros_shown : bool
        Whether zeros are published, so that "<5" means 1 to 4; otherwise it means 0 to 4.
    total : object
        The label of totals over a column.

    Attributes
    ----------
    attributes : tuple of str
        The columns other than the counts.
    cells : DataFrame
        The least and the most people of each cell, `low` and `high`, by the attributes.

    Raises
    ------
    UnknownName, TableError, StatementError
        If the table or an argument is invalid, or a cell occurs twice.

    Notes
    -----
    The conventions are those of statistical offices (Hundepool et al., Statistical Disclosure Control, 2012,
    chapters 4 and 5): ``model.audit(table)`` returns the feasibility intervals of the cells. Margins are rounded
    independently, and may differ from the sums of their cells.

    Counts refer to the people of the view; for a population (:class:`maxent_cvx.GroupedRelease`), to the people in the
    release.

    Examples
    --------
    Two regions, three diseases, and all totals. The small cells of the North are suppressed, and so are the adjacent
    cells, which would reveal them. The feasibility intervals for an intruder, and the maximum-entropy answer:

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

    Totals of the sensitive attribute alone are SA-constraints, P(s), here for people whose gender is known:

    >>> hospital = mx.datasets.load_hospital()
    >>> people = mx.QITable(hospital, qi="Gender", sa="Disease", sa_values=hospital["Disease"].unique())
    >>> totals = hospital["Disease"].value_counts().rename("n").reset_index()
    >>> post = mx.MaxEnt(people).add(mx.PublishedTable(totals)).solve()
    >>> post.conditional().loc["male"].round(3).to_dict()
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
        check_dataframe(table, "the published table")
        if not is_text(count):
            raise TableError(f"count must be the name of a column, got {short_repr(count)}")
        check_in(rounding, "rounding", ("nearest", "random"))
        check_bool(zeros_shown, "zeros_shown")
        if not pd.api.types.is_scalar(total) or pd.isna(total):  # type: ignore[call-overload]
            raise StatementError(f"total must be the label of a total, such as a text, got {short_repr(total)}")
        base = None if base is None else check_int(base, "base", 1)
        symbols = symbol_intervals(suppressed, zeros_shown)
        if count not in table.columns and table.index.names != [None]:
            raise TableError(
                f"the published table has no column {count!r} of counts, but labels in its index; if it has one column "
                f"per value, convert it to long form, table.stack().rename({count!r}).reset_index()"
            )
        by = [column for column in table.columns if column != count]
        check_columns(table, {"an attribute": by, "count": (count,)}, "the published table")
        if not by:
            raise TableError("the published table has only a column of counts; add columns of attributes")
        self.attributes, self.total = tuple(by), total
        low, high = cell_intervals(table[count], symbols, base, rounding)
        index = _labels(table[by])
        if index.has_duplicates:
            raise TableError(f"the published table has more than one row for {join_names(repeated(index))}")
        self.cells = pd.DataFrame({"low": low, "high": high}, index=index)
        self._typed, self._symbols = table[[*by, count]], symbols
        self._arguments: dict[str, Any] = {
            "count": count, "suppressed": suppressed, "base": base, "rounding": rounding, "zeros_shown": zeros_shown,
            "total": total,
        }  # fmt: skip

    def without(self, record: Mapping[Any, Any] | pd.Series, original: pd.DataFrame) -> PublishedTable:
        """Return the table that would be published without a record, with the same suppression and rounding.

        Cells with "*" remain unknown. A cell is not suppressed if its margin prints numbers that small, and suppresses
        none.

        Parameters
        ----------
        record : mapping or Series
            The record's values of the attributes.
        original : DataFrame
            The original records, including this one, which determine suppressed and rounded cells.

        Raises
        ------
        TableError, UnknownName
            If numbers are rounded at random, the record or the original records lack an attribute, no original record
            has the record's values, or the table does not match the original records.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> people = pd.DataFrame({"Region": ["North"] * 5 + ["South"] * 6})
        >>> table = mx.PublishedTable(pd.DataFrame({"Region": ["North", "South", "*"], "n": [5, 6, 11]}))
        >>> table.without({"Region": "North"}, people).cells
                low  high
        Region
        North   0.0   4.0
        South   6.0   6.0
        *      10.0  10.0
        """
        count, base = self._arguments["count"], self._arguments["base"]
        if base is not None and self._arguments["rounding"] != "nearest":
            raise TableError(f"{self.label} is rounded at random, so it cannot be computed again after a removal")
        check_instance(record, (Mapping, pd.Series), "record", error=TableError)
        check_known(self.attributes, "attribute of the record", list(record.keys()))
        check_dataframe(original, "the original records")
        check_known(self.attributes, "column of the original records", list(original.columns))
        values = [record[name] for name in self.attributes]
        is_hers = (
            self.is_total | (self._typed[list(self.attributes)].to_numpy() == np.array(values, dtype=object))
        ).all(axis=1)
        is_same = np.column_stack([original[name] == record[name] for name in self.attributes])
        if not is_same.all(axis=1).any():
            raise TableError(
                f"no original record has the record's values of {join_names(self.attributes)}; pass a row of the original "
                "records, whose values have the same types"
            )
        typed = self._typed[count].astype(object).to_numpy(copy=True)
        printed = pd.to_numeric(pd.Series(typed), errors="coerce").to_numpy(dtype=float)  # NaN for symbols
        is_suppressed = np.isnan(printed) & np.isfinite(self.cells["high"].to_numpy())
        for cell in np.flatnonzero(is_hers):
            inside = (self.is_total[cell] | is_same).all(axis=1)
            n, (low, high) = int(inside.sum()), self.cells.iloc[cell]
            if not low <= n <= high:
                raise TableError(
                    f"{self.label} does not match the original records: a cell contains {n} of them, but the table "
                    f"allows {low:.0f} to {high:.0f}"
                )
            if not math.isinf(high):
                # A margin that prints small numbers, and suppresses none, does not follow the rule of suppression.
                margin = (self.is_total == self.is_total[cell]).all(axis=1)
                numbers = printed[margin & ~is_suppressed[margin].any()]
                symbols = [
                    name
                    for name, (least, most) in self._symbols.items()
                    if least <= n - 1 <= most < np.inf and not ((least <= numbers) & (numbers <= most)).any()
                ]
                rounded = n - 1 if base is None else base * int((n - 1) / base + 0.5)
                typed[cell] = symbols[0] if symbols else rounded
        table = self._typed.assign(**{count: pd.array(typed, dtype=object)})
        return PublishedTable(table, **self._arguments)

    def _without(self, at: int, original: pd.DataFrame, view: View) -> PublishedTable:
        return self.without(original.iloc[at], original)

    @property
    def label(self) -> str:
        """The attributes of the table."""
        return f"published table by {', '.join(self.attributes)}"

    @cached_property
    def identity(self) -> Hashable:
        """The cells and their counts."""
        cells = frozenset(zip(self.cells.index.tolist(), *self.cells.T.to_numpy().tolist(), strict=True))
        return "PublishedTable", self.attributes, self.total, cells

    @cached_property
    def is_total(self) -> np.ndarray:
        """Whether each cell is a sum over each attribute, shape (cells, attributes)."""
        values = [self.cells.index.get_level_values(name) for name in self.attributes]
        return np.column_stack([np.asarray(level == self.total, dtype=bool) for level in values])

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per cell, in people; none if the cell may have any number of people."""
        low, high = self.cells["low"].to_numpy(), self.cells["high"].to_numpy()
        exact, matrix = low == high, self.matrix(space)
        low = np.where(exact | (low > 0), low, -np.inf)
        high = np.where(exact | (high < space.n_records), high, np.inf)
        nobody = np.diff(matrix.indptr) == 0  # impossible combinations: 0 has no effect, more contradicts the view
        bounded = np.where(nobody, low > 0, np.isfinite(low) | np.isfinite(high))
        scaled = sp.csr_array(matrix * float(space.n_records))
        rows = Rows(scaled, low, high, self.label, self.cells.index, space.view, exact=True)
        yield rows.at(np.flatnonzero(bounded))

    def matrix(self, space: Space) -> sp.csr_array:
        """Mark the terms of every cell by 1, in the order of `cells`.

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
            As in :meth:`rows`.

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
        check_instance(space, Space, "space")
        view = space.view
        for i, name in enumerate(self.attributes):
            check_label(name, f"attribute of the {view.noun}", view.columns)
            codes, values = level_of(self.cells.index, i)
            known = space.axes.of_column(name)[1]
            for code in np.flatnonzero(~occur(values, known)):
                cells = self.cells[(codes == code) & ~self.is_total[:, i]]
                # Zeros for a value that nobody has are true.
                if len(cells) and (name not in view.qi or cells["low"].any() or not (cells["high"] == 0).any()):
                    error = unknown_name(f"value of {name!r}", values.to_list()[code], known)
                    raise UnknownName(f"the published table by {', '.join(self.attributes)}: {error}")
        return cell_terms(space, self.cells.index, self.is_total)

    def to_view(self, sa: str | Iterable[str], n_records: int | None = None) -> QITable:
        """Make a view of the counted people, if only tables are published.

        Parameters
        ----------
        sa : str or list of str
            The sensitive attributes. The others are quasi-identifiers, which are known for everybody, so their totals
            must be numbers. If all attributes are sensitive, only the number of people is known.
        n_records : int, optional
            The number of people, if all attributes are sensitive and the grand total is not a number.

        Returns
        -------
        QITable
            Each attribute has exactly the values that occur in the table.

        Raises
        ------
        UnknownName, TableError
            If an attribute does not exist, or a total is missing.

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

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(self.cells, "cells")]

    def __repr__(self) -> str:
        open_ = int((self.cells["low"] < self.cells["high"]).sum())
        return f"<PublishedTable: {len(self.cells)} cells by {', '.join(self.attributes)}, {open_} of them not exact>"


def _labels(columns: pd.DataFrame) -> pd.Index:
    """Return the labels of the cells."""
    try:
        if columns.shape[1] == 1:
            name = columns.columns[0]
            return pd.Index(columns[name].astype(object).array, name=name)
        return pd.MultiIndex.from_frame(columns.astype(object))
    except TypeError as error:  # such as a list in a cell
        raise TableError(f"the published table must contain single values: {error}") from error
