"""One line of a published table: how many people there are of a kind, and the mean and median of their numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ...display import Shown
from ...errors import StatementError, TableError, amount, arguments, shown
from ...sources import PublishedTable
from ...sources.tables.cell_counts import OPEN, symbol_intervals
from ...tables.selection import choose, written

__all__ = ["Interval", "Statistic", "as_fraction", "statistics_of"]

#: As it is typed; a float is the decimal number that it is written as.
Number = float | Fraction
#: Least and most, both included.
Interval = tuple[Fraction, Fraction]
#: The most decimals that a number is rounded to, or, if negative, its zeros.
MOST_DECIMALS = 15


class Statistic(Shown):
    """low <= #{people as described} <= high, and the mean and the median of a number of theirs, as they are printed.

    Parameters
    ----------
    where : dict
        Of whom: attribute to a value, a list of values, or a pandas Interval; ``{}`` is everybody.
    count : int, str or (int, int), optional
        How many people: a number; "<3" or "<=2", a suppressed cell; (least, most), a rounded or a noisy one, None where
        there is no limit. By default nothing is said.
    mean, median : float or (float, float), optional
        Of a number of theirs, in its unit, or (least, most). The median of an even number of people is the mean of the
        two in the middle. That one is published says that there is somebody.
    of : str, optional
        Of which attribute; by default of the only one of the domain whose values are numbers.
    decimals : int, optional
        To how many decimals the mean and the median are printed: 36.7 is 36.65 to 36.75 then, whichever way a half was
        rounded. None: they are exact, as far as their decimals go.

    Attributes
    ----------
    count : (int, int) or None
        Least and most people; the most is None where there is no limit.
    mean, median : (Fraction, Fraction) or None
        Least and most.

    Raises
    ------
    StatementError, BadProbability
        If an argument cannot be read, or nothing is said.

    Notes
    -----
    Garfinkel, Abowd and Martindale, "Understanding database reconstruction attacks on public data", Communications of
    the ACM 62(3), 2019, Table 1, prints such lines, (D) for what is suppressed.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> women = mx.attacks.Statistic({"sex": "F", "race": "black"}, count=3, median=36, mean=36.7, decimals=1)
    >>> women
    <Statistic: sex=F, race=black: 3 people, mean 36.65 to 36.75, median 35.95 to 36.05>
    >>> mx.attacks.Statistic({"age": range(5)}, count="<3")
    <Statistic: age=0 or 1 or 2 or 3 or 4: 0 to 2 people>
    """

    def __init__(
        self,
        where: Mapping[str, object],
        count: int | str | tuple[int | None, int | None] | None = None,
        *,
        mean: Number | tuple[Number, Number] | None = None,
        median: Number | tuple[Number, Number] | None = None,
        of: str | None = None,
        decimals: int | None = None,
    ) -> None:
        described = arguments.mapping(where, "where", "{attribute: value}")
        self.where = {
            arguments.text(name, "an attribute of where="): choose(one, name) for name, one in described.items()
        }
        self.of = None if of is None else arguments.text(of, "of")
        places = None if decimals is None else arguments.whole(decimals, "decimals", -MOST_DECIMALS, MOST_DECIMALS)
        self.count = None if count is None else _count(count)
        self.mean = None if mean is None else _interval(mean, "mean", places)
        self.median = None if median is None else _interval(median, "median", places)
        if self.count is None and self.mean is None and self.median is None:
            raise StatementError("a statistic without count=, mean= and median= says nothing; give one of them")
        if self.mean is None and self.median is None and (of is not None or decimals is not None):
            raise StatementError("of= and decimals= are of a mean or a median; leave them out, or give one")

    @property
    def label(self) -> str:
        """Of whom it is."""
        return ", ".join(f"{written(name)}={one}" for name, one in self.where.items()) or "everybody"

    def __repr__(self) -> str:
        said = []
        if self.count is not None:
            least, most = self.count
            said.append(amount(least, "person", "people") if least == most else f"{_range(least, most)} people")
        for name, one in (("mean", self.mean), ("median", self.median)):
            if one is not None:
                said.append(f"{name} {_range(*map(float, one))}")
        return f"<Statistic: {self.label}: {', '.join(said)}>"


def as_fraction(value: Any) -> Fraction:
    """The number that is written: 36.7, and not the double next to it."""
    return Fraction(Decimal(repr(float(value)))) if isinstance(value, float | np.floating) else Fraction(value)


def statistics_of(tables: object) -> list[Statistic]:
    """Read what is published: statistics, published tables, or a list of both.

    Raises
    ------
    StatementError
        If something else is in it, or nothing.
    """
    one = isinstance(tables, Statistic | PublishedTable)
    listed: Iterable[object] = [tables] if one else arguments.list_of(tables, "tables", "Statistic and PublishedTable")
    found: list[Statistic] = []
    for table in listed:
        arguments.instance(table, (Statistic, PublishedTable), "each of the tables")
        found += _cells(table) if isinstance(table, PublishedTable) else [table]  # type: ignore[list-item]
    if not found:
        raise StatementError("tables=[] say nothing; give a Statistic or a PublishedTable at least")
    return found


def _cells(table: PublishedTable) -> list[Statistic]:
    """The cells of a published table."""
    found = []
    for label, total, low, high in zip(
        table.cells.index, table.is_total, table.cells["low"], table.cells["high"], strict=True
    ):
        values = label if isinstance(label, tuple) else (label,)
        where = {name: one for name, one, over in zip(table.attributes, values, total, strict=True) if not over}
        found.append(Statistic(where, (int(low), None if math.isinf(high) else int(high))))
    return found


def _range(least: object, most: object) -> str:
    if most is None:
        return f"at least {least}"
    return f"{least:.12g}" if least == most else f"{least:.12g} to {most:.12g}"


def _count(count: object) -> tuple[int, int | None]:
    """Read how many people."""
    if isinstance(count, str):
        symbol = "".join(count.split())
        low, high = symbol_intervals(symbol, zeros_shown=False).get(symbol, (0.0, math.inf))
        if symbol == OPEN:
            raise StatementError("count='*' says nothing; leave the cell out")
        return int(low), int(high)
    if isinstance(count, tuple | list):
        if len(count) != 2:
            raise StatementError(f"count={shown(count)}: (least, most) people are expected")
        least = 0 if count[0] is None else arguments.whole(count[0], "the least count", 0)
        most = None if count[1] is None else arguments.whole(count[1], "the most people", least)
        return least, most
    found = arguments.whole(count, "count", 0)
    return found, found


def _interval(value: object, what: str, decimals: int | None) -> Interval:
    """Read a number, printed to so many decimals, or the least and the most."""
    if isinstance(value, tuple | list):
        if len(value) != 2:
            raise StatementError(f"{what}={shown(value)}: a number, or (least, most), is expected")
        if decimals is not None:
            raise StatementError(f"{what}={shown(value)} is an interval already; leave decimals= out")
        low, high = (_exact(one, what) for one in value)
        if low > high:
            raise StatementError(f"{what}={shown(value)}: the least comes first")
        return low, high
    found = _exact(value, what)
    if decimals is None:
        return found, found
    unit = Fraction(10) ** -decimals
    if found % unit:
        raise StatementError(f"{what}={value} has more than decimals={decimals}")
    return found - unit / 2, found + unit / 2


def _exact(value: object, what: str) -> Fraction:
    arguments.number(value, what)
    try:
        return as_fraction(value)
    except (OverflowError, TypeError, ValueError) as error:
        raise TableError(f"{what}={shown(value)}: a number is expected") from error
