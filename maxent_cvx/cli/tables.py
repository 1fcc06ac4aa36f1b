"""Published tables as a CSV file of statistics, and the domain of their attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..attacks import Statistic
from ..errors import MaxEntError, TableError, unknown_name
from .reading import read_csv

__all__ = ["read_domain", "read_statistics"]

#: A whole number, and from one to another; both may be negative: "-5--1".
NUMBER, RANGE = re.compile(r"-?[0-9]+"), re.compile(r"(-?[0-9]+)\s*-\s*(-?[0-9]+)")
#: Columns of a table of statistics that are no attributes.
PRINTED = ("n", "mean", "median")


def read_domain(text: str) -> dict[str, list[object]]:
    """Read the values that attributes can have, as "age=0-125;sex=F|M"."""
    domain: dict[str, list[object]] = {}
    for part in text.split(";"):
        name, equals, values = part.partition("=")
        if not equals or not name.strip() or not values.strip():
            raise TableError(f"--domain: {part!r} is not ATTRIBUTE=VALUES, such as age=0-125 or sex=F|M")
        if name.strip() in domain:
            raise TableError(f"--domain: {name.strip()!r} is given twice")
        if name.strip() in PRINTED:
            raise TableError(f"--domain: {name.strip()!r} is what a column of the tables prints, and no attribute")
        domain[name.strip()] = _values(values)
    return domain


def _values(text: str) -> list[object]:
    """Read a range of whole numbers, or values with bars between them; numbers are numbers if all are."""
    parts = [part.strip() for part in text.split("|")]
    found: list[object] = []
    for part in parts:
        if ends := RANGE.fullmatch(part):
            low, high = map(int, ends.groups())
            if low > high:
                raise TableError(f"{part!r}: a range begins with its least number")
            found += range(low, high + 1)
        else:
            found.append(int(part) if NUMBER.fullmatch(part) else part)
    return found if all(isinstance(one, int) for one in found) else [*map(str, found)]


def read_statistics(
    path: str, domain: Mapping[str, list[object]], of: str | None, decimals: int | None
) -> list[Statistic]:
    """Read a CSV file, a row a statistic; means and medians are rounded to the decimals of the longest that is printed.

    Raises
    ------
    TableError, UnknownName
        If a column is neither an attribute nor n, mean or median, or a line cannot be read; it is named.
    """
    table = read_csv(path, dtype=str).fillna("")
    if strange := [name for name in table.columns if name not in domain and name not in PRINTED]:
        raise unknown_name(f"attribute of --domain (a column of {path!r})", strange[0], [*domain, *PRINTED])
    if table.empty:
        raise TableError(f"{path!r} has no line but its header")
    table = table.apply(lambda column: column.str.strip())
    places = dict.fromkeys(PRINTED[1:], decimals)
    for name in (name for name in PRINTED[1:] if decimals is None and name in table.columns):
        places[name] = int(table[name].str.partition(".")[2].str.len().max())
    found: list[Statistic] = []
    for line, row in enumerate(table.to_dict("records"), 2):  # the header is the first line
        try:
            found += _statistics(row, domain, of, places)
        except MaxEntError as error:
            raise type(error)(f"{path!r}, line {line}: {error}") from error
    return found


def _statistics(
    row: Mapping[str, str], domain: Mapping[str, list[object]], of: str | None, places: Mapping[str, int | None]
) -> list[Statistic]:
    """What one line says: how many people, and, as they may be rounded differently, a mean and a median."""
    where = {name: _values(row[name]) for name in domain if row.get(name, "") not in ("", "*")}
    for name in where:  # numbers are numbers only if all of the domain are
        if any(isinstance(one, str) for one in domain[name]):
            where[name] = [*map(str, where[name])]
    said = []
    if n := row.get("n", ""):
        said.append(Statistic(where, int(n) if n.isdecimal() else n))
    for name in PRINTED[1:]:
        if text := row.get(name, ""):
            said.append(Statistic(where, of=of, decimals=places[name], **{name: _number(text, name)}))  # type: ignore[arg-type]
    return said


def _number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise TableError(f"{name} is {text!r}; a number is expected") from error
