"""Tables of records as a statistical office prints them: small cells suppressed, numbers rounded, or noise added."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

import numpy as np
import pandas as pd

from ...errors import StatementError, arguments, shown
from ...sources.tables.cell_counts import symbol_intervals
from ...tables.columns import check_columns, names
from ...tables.numbers import as_numbers
from ...tables.selection import choose
from .statistic import Statistic, as_fraction

__all__ = ["tabulate"]


def tabulate(
    original: pd.DataFrame,
    by: Iterable[str | Iterable[str] | Mapping[str, object]],
    of: str | None = None,
    *,
    suppressed: str | None = "<3",
    decimals: int | None = 1,
    noise: int = 0,
    seed: int = 0,
) -> list[Statistic]:
    """#{people as described}, and the mean and median of a number of theirs, of every group that is asked for.

    Parameters
    ----------
    original : DataFrame
        The records, a row a person.
    by : list
        Of each table: attributes, a group for every combination of their values, ``[]`` for everybody; or a group as
        described, ``{"age": range(5)}``, of which only people are counted.
    of : str, optional
        The attribute of means and medians; None: only people are counted.
    suppressed : str, optional
        Counts that are not printed, "<3" say, nor are their means and medians.
    decimals : int, optional
        To how many decimals means and medians are printed, halves upwards; None: exactly.
    noise : int
        Integers from -noise to noise, all equally likely, are added to every count that is printed. Readers know that,
        so that each becomes an interval of 2 noise + 1 counts. Nothing is added to means and medians.
    seed : int
        Of the noise.

    Returns
    -------
    list of Statistic
        What a reader knows.

    Raises
    ------
    StatementError, UnknownName, TableError
        If an argument cannot be read, or the records lack an attribute or value.

    Notes
    -----
    The statistics of the fictional block in Garfinkel, Abowd and Martindale, 2019, Table 1: by nothing, sex, race, and
    sex and race, of age, and some classes of ages.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"age": [21, 25, 42, 60], "sex": ["F", "F", "F", "M"]})
    >>> tables = mx.attacks.tabulate(people, [[], "sex", {"age": [60]}], of="age")
    >>> for one in tables:
    ...     print(one)
    <Statistic: everybody: 4 people, mean 36.95 to 37.05, median 33.45 to 33.55>
    <Statistic: sex=F: 3 people, mean 29.25 to 29.35, median 24.95 to 25.05>
    <Statistic: sex=M: 0 to 2 people>
    <Statistic: age=60: 0 to 2 people>
    >>> print(mx.attacks.reconstruct(tables, domain={"age": range(20, 70), "sex": ["F", "M"]}, limit=5))
    reconstruction of 4 people: 1 solution, and no other: the records are unique
    """
    arguments.table(original, "the original records")
    of = None if of is None else arguments.text(of, "of")
    groups = [
        group
        for one in arguments.list_of(by, "by", "attributes or {attribute: values}")
        for group in _groups(original, one)
    ]
    if not groups:
        raise StatementError("by=[] asks for no table; [[]] is one of everybody")
    columns = list(dict.fromkeys([name for where, _ in groups for name in where] + ([] if of is None else [of])))
    check_columns(original, {"an attribute": columns}, "the original records")
    least_printed = 0 if suppressed is None else _least_printed(suppressed)
    width = arguments.whole(noise, "noise", 0)
    rng = np.random.default_rng(arguments.whole(seed, "seed", 0))
    numbers = None if of is None else [as_fraction(one) for one in as_numbers(original[of], f"column {of!r}").tolist()]
    found = []
    for where, only_counted in groups:
        rows = np.flatnonzero(_described(original, where))
        if len(rows) < least_printed:
            found.append(Statistic(where, (0, least_printed - 1)))
            continue
        printed = len(rows) + int(rng.integers(-width, width + 1))
        count = (max(printed - width, 0), printed + width)
        if numbers is None or only_counted or not len(rows):
            found.append(Statistic(where, count))
            continue
        each = sorted(numbers[row] for row in rows)
        n = len(each)
        mean, median = sum(each, Fraction(0)) / n, (each[(n - 1) // 2] + each[n // 2]) / 2
        found.append(
            Statistic(
                where, count, mean=_printed(mean, decimals), median=_printed(median, decimals), of=of, decimals=decimals
            )
        )
    return found


def _groups(original: pd.DataFrame, by: object) -> list[tuple[dict[str, object], bool]]:
    """The groups of one table, and whether only people are counted."""
    if isinstance(by, Mapping):
        return [(dict(by), True)]
    attributes = () if isinstance(by, list | tuple) and not by else names(by, "by")  # type: ignore[arg-type]
    check_columns(original, {"by": attributes}, "the original records")
    values = [sorted(original[name].unique().tolist(), key=lambda one: (str(type(one)), one)) for name in attributes]
    return [(dict(zip(attributes, one, strict=True)), False) for one in itertools.product(*values)]


def _described(original: pd.DataFrame, where: Mapping[str, object]) -> np.ndarray:
    """Mark the people of a group; a value that nobody has is no error."""
    chosen = np.ones(len(original), dtype=bool)
    for name, one in where.items():
        choice = choose(one, name)
        column = original[name]
        if choice.interval is None:
            chosen &= column.isin(list(choice.values or ())).to_numpy()
        else:
            chosen &= np.array([_inside(value, choice.interval) for value in column.tolist()])
    return chosen


def _inside(value: object, interval: pd.Interval) -> bool:
    try:
        return value in interval
    except TypeError as error:
        raise StatementError(
            f"{shown(value)} and {interval} cannot be compared; list the values that are meant"
        ) from error


def _least_printed(suppressed: str) -> int:
    symbol = "".join(arguments.text(suppressed, "suppressed").split())
    most = symbol_intervals(symbol, zeros_shown=False)[symbol][1]
    if math.isinf(most):
        raise StatementError(f"suppressed={shown(suppressed)}: a limit such as '<3' is expected")
    return int(most) + 1


def _printed(value: Fraction, decimals: int | None) -> Fraction:
    """A number to so many decimals, halves upwards."""
    if decimals is None:
        return value
    unit = Fraction(10) ** -arguments.whole(decimals, "decimals", -15, 15)
    return math.floor(value / unit + Fraction(1, 2)) * unit
