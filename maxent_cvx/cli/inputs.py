"""The inputs of commands: tables, columns, hierarchies, knowledge and published statistics."""

from __future__ import annotations

import argparse
import copy
import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from .. import anonymize, datasets
from .._utils.errors import Infeasible, MaxEntError, TableError, join_names, unknown_name
from .._utils.tables import count_column
from ..attacks.reconstruction import Statistic
from ..releases.base import View
from ..releases.generalized import GroupedRelease, is_suppressed, label_of, parse
from ..releases.qi_table import QITable
from ..releases.release import Release
from ..releases.series import ReleaseSeries
from ..rules import RuleSet
from ..sources.parser import read_knowledge, read_statement, read_statements
from ..sources.rules import PublishedRules
from ..sources.statements import Statement
from .streams import DASH, read_text, say, source_name

__all__ = [
    "CommandInput",
    "as_list",
    "as_text",
    "bucketed",
    "distribution_of",
    "free_name",
    "located",
    "material",
    "one_source_of_buckets",
    "people_of",
    "read_csv",
    "read_domain",
    "read_people",
    "read_statistics",
    "read_table",
    "released",
    "statements_of",
    "values_as_printed",
    "where_of",
]

# Tables that travel with the package, and what a command assumes of them unless told otherwise.


BUILT_IN: dict[str, tuple[Callable[[], pd.DataFrame], dict[str, object]]] = {
    "adult": (
        datasets.load_adult,
        {
            "qi": ",".join(datasets.ADULT_QI), "sa": "education", "rows": 14_210, "l": 5, "exempt": 2,
            "top": [0, 10, 50, 100, 200, 500],
        },
    ),
    "hospital": (datasets.load_hospital, {"qi": "Gender,Degree", "sa": "Disease", "bucket": "Bucket"}),
}  # fmt: skip
#: Of what is assumed, what is not if another option is given: who asks for Anatomy (--l) does not want the buckets that
#: the table has, and the other way round; who asks for a verdict does not want scores.
INSTEAD = {
    "bucket": ("l",), "l": ("bucket",), "exempt": ("bucket",),
    "top": ("bucket", "json", "know", "knowledge", "people", "fail_above", "sensitive", "baseline"),
}  # fmt: skip


def apply_dataset_defaults(options: argparse.Namespace) -> None:
    """Fill in what is known of a built-in table, and was not said."""
    _, known = BUILT_IN.get(options.table, (None, {}))
    said = {name for name, value in vars(options).items() if value not in (None, False, [])}
    for name, value in known.items():
        if name in vars(options) and name not in said and not said & {*INSTEAD.get(name, ())}:
            setattr(options, name, value)


# What a command reads: a table with its columns, people known by name.


#: People that a table with counts is written out for.
MOST_PEOPLE = 10**8


def read_table(options: argparse.Namespace) -> pd.DataFrame:
    """Read the table, and fill in what is known of a built-in one; with the columns of its roles as lists."""
    apply_dataset_defaults(options)
    table = load_table(options.table, options)
    if options.qi is None and getattr(options, "id", None) is not None:
        options.qi = ""  # a pseudonym may be all that is known of a person
    if options.qi is None or options.sa is None:
        needed = " and ".join(f"--{name}" for name in ("qi", "sa") if getattr(options, name) is None)
        raise TableError(f"{needed} must be given; {_name(options.table)} has the columns {', '.join(table.columns)}")
    options.qi, options.sa = columns_of(options.qi), columns_of(options.sa)
    return without_gaps(table, options.table, options)


def columns_of(text: str) -> list[str]:
    """Read names with commas between them, in quotes where they hold one; of an empty text none."""
    if not text.strip():
        return []
    try:
        (found,) = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    except (csv.Error, ValueError):
        raise TableError(
            f"{text!r} is not a list of names such as age,sex; put names with line breaks in quotes"
        ) from None
    return [name.strip() for name in found]


def as_list(names: Iterable[str]) -> str:
    """Write names with commas between them, in quotes where they hold one."""
    text = io.StringIO()
    csv.writer(text).writerow(names)
    return text.getvalue().removesuffix("\r\n")


def load_table(name: str, options: argparse.Namespace) -> pd.DataFrame:
    """Read a table, or its first rows."""
    load, _ = BUILT_IN.get(name, (None, {}))
    if load is None and name != DASH and not Path(name).exists():
        raise unknown_name("file or built-in table", name, BUILT_IN)
    table = load() if load else read_csv(name)
    if options.rows is not None and not 0 < options.rows <= len(table):
        raise TableError(f"--rows {options.rows}: {_name(name)} has {len(table)} rows")
    return table.head(options.rows) if options.rows else table


def without_gaps(table: pd.DataFrame, name: str, options: argparse.Namespace) -> pd.DataFrame:
    """Leave out rows with missing cells in columns that have a role, if that is asked for; else refuse them."""
    roles = [*options.sa, *(one for role in ("bucket", "id", "count") if (one := getattr(options, role, None)))]
    if not getattr(options, "generalized", False):  # there a missing cell is any value
        roles += options.qi
    missing = table[[column for column in dict.fromkeys(roles) if column in table.columns]].isna()
    if not missing.to_numpy().any():
        return table
    found = ", ".join(f"{column!r} ({n} of {len(table)})" for column, n in missing.sum().items() if n)
    if options.missing == "error":
        raise TableError(
            f"{_name(name)} has missing cells in {found}; --missing drop leaves those rows out, or give what is "
            "missing a value of its own"
        )
    gaps = missing.any(axis=1)
    if gaps.all():
        raise TableError(f"every row of {_name(name)} has a missing cell, in {found}")
    say(f"left out {gaps.sum()} of {len(table)} rows of {_name(name)}, with missing cells in {found}")
    dropped = {"table": name, "rows": int(gaps.sum()), "of": len(table)}
    options.dropped = [*getattr(options, "dropped", []), dropped | {"cells": missing.sum()[lambda n: n > 0].to_dict()}]
    return table[~gaps]


def read_csv(path: str, dtype: type | None = None) -> pd.DataFrame:
    """Read a CSV file with a header, or standard input; with a type, all columns as that."""
    source = io.StringIO(read_text(path)) if path == DASH else path
    try:
        header = pd.read_csv(source, dtype=str, header=None, nrows=1, keep_default_na=False)
        table = pd.read_csv(_again(source), dtype=dtype, keep_default_na=dtype is None)  # as text, NA is a value
        if codes := _codes(source, table):
            table = pd.read_csv(_again(source), dtype=dict.fromkeys(codes, str))
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeError) as error:
        raise TableError(f"{source_name(path)} is not a CSV file with a header: {error}") from error
    names = header.iloc[0]  # which pandas would make different, Gender and Gender.1
    if twins := [*names[names.duplicated() & (names != "")]]:
        raise TableError(
            f"{source_name(path)} has more than one column named {join_names(dict.fromkeys(twins))}; rename all but one"
        )
    if len(table.columns) == 1 and (signs := [sign for sign in ";\t" if sign in table.columns[0]]):
        raise TableError(
            f"{source_name(path)}: its cells are parted by {signs[0]!r}, and commas are expected; write it so"
        )
    if len(table) and not table.index.equals(pd.RangeIndex(len(table))):  # what pandas makes of the first columns then
        raise TableError(f"{source_name(path)}: its lines have more cells than the header; quote cells with commas")
    return table


def _codes(source: str | io.StringIO, table: pd.DataFrame) -> list[str]:
    """Find columns of numbers of which some begin with zeros: 01234 is a code, and another one than 1234."""
    if not (numbers := [*table.select_dtypes("number").columns]):
        return []
    cells = pd.read_csv(_again(source), dtype=str, usecols=numbers)
    return [name for name in numbers if cells[name].str.fullmatch(r"0\d+").any()]


def _again(source: str | io.StringIO) -> str | io.StringIO:
    """What was read, to be read once more."""
    return io.StringIO(source.getvalue()) if isinstance(source, io.StringIO) else source


def people_of(records: pd.DataFrame, count: str) -> pd.DataFrame:
    """Write a table with counts as one row a person: Anatomy, mining and the truth are of people."""
    if count not in records.columns:
        raise unknown_name("column of the table (given as --count)", count, records.columns)
    n = count_column(records[count], "the table")
    if not 0 < n.sum() <= MOST_PEOPLE:
        raise TableError(f"{count!r} counts {n.sum()} people; from 1 to {MOST_PEOPLE:,} are expected")
    return records.loc[records.index.repeat(n)].drop(columns=count).reset_index(drop=True)


def read_people(path: str) -> pd.DataFrame:
    """Read a CSV file of people, whose names are in its first column."""
    table = read_csv(path)
    return table.set_index(table.columns[0])


def free_name(name: str, taken: Iterable[str]) -> str:
    """Find a column name that is not taken."""
    while name in taken:
        name += "_"
    return name


def values_as_printed(given: Sequence[str] | None, known: Iterable[object]) -> list[object] | None:
    """Find values by how a table prints them, of several columns with commas between them; strangers stay texts."""
    if given is None:
        return None
    printed: dict[str, object] = {",".join(map(str, one if isinstance(one, tuple) else [one])): one for one in known}
    return [printed.get(one, one) for one in given]


def _name(path: str) -> str:
    return "standard input" if path == DASH else path


# Published association rules, and the people whom they are about: ``maxent-cvx quantify rules.csv --qi-table ...``.


#: How the first line of a file of rules begins, as RuleSet.to_csv writes it.
FIRST = "# {"


def are_rules(options: argparse.Namespace) -> bool:
    """Whether TABLE is a file of rules, which its first line says; or else --qi-table."""
    if getattr(options, "qi_table", None) is not None:
        return True
    path = Path(options.table)
    if not path.is_file() or path.suffix == ".parquet":
        return False
    with path.open("rb") as file:
        found = file.read(len(FIRST)) == FIRST.encode()
    if found:
        raise TableError(
            f"{options.table!r} holds association rules; --qi-table must be given, a CSV file of everybody's QI, "
            "a row a person"
        )
    return False


def people_and_rules(options: argparse.Namespace) -> tuple[QITable, PublishedRules, pd.DataFrame]:
    """Read the people whose QI are known, and the rules about them."""
    told = {name: columns_of(text) for name in ("qi", "sa") if (text := getattr(options, name)) is not None}
    rules = _piped(told) if options.table == DASH else RuleSet.from_csv(options.table, **told)
    options.qi, options.sa = list(rules.qi), list(rules.sensitive)
    people = without_gaps(read_csv(options.qi_table), options.qi_table, options)
    values, distribution = _values(options, people, rules)
    view = QITable(
        people, qi=options.qi, sa=options.sa, sa_values=values, sa_distribution=distribution, count=options.count
    )
    scores = None if options.scores is None else columns_of(options.scores)
    return view, PublishedRules(rules, scores, options.decimals, non_rules=rules.complete), people


def _piped(told: dict[str, list[str]]) -> RuleSet:
    """Read rules from standard input, by way of a file, which is what rules are read from."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "rules.csv")
        path.write_text(read_text(DASH), encoding="utf-8")
        return RuleSet.from_csv(path, **told)


def distribution_of(table: pd.DataFrame, sa: list[str], path: str, what: str) -> pd.Series:
    """Read the table of a file of sensitive values, each with a number."""
    others = [name for name in table.columns if name not in sa]
    if len(others) != 1 or not {*sa} <= {*table.columns}:
        raise TableError(
            f"{path!r} has the columns {join_names(table.columns)}; {join_names(sa)} and {what} are expected"
        )
    numbers = pd.to_numeric(table[others[0]], errors="coerce")
    if numbers.isna().any():
        raise TableError(f"{path!r}: {others[0]!r} holds something that is no number")
    return pd.Series(numbers.to_numpy(), index=table.set_index(sa).index)


def _values(
    options: argparse.Namespace, people: pd.DataFrame, rules: RuleSet
) -> tuple[list[object] | None, pd.Series | None]:
    """The values that anybody may have, and how many people have each, if that is published."""
    if options.distribution is not None:
        table, what = read_csv(options.distribution), "a column of numbers of people"
        return None, distribution_of(table, options.sa, options.distribution, what)
    if options.values is not None:
        found: list[object] = [*columns_of(options.values)]
        return (found if len(options.sa) == 1 else [tuple(str(one).split("|")) for one in found]), None
    if {*options.sa} <= {*people.columns}:
        listed = (
            people[options.sa].dropna().drop_duplicates().sort_values(options.sa).itertuples(index=False, name=None)
        )
        values = [one[0] if len(options.sa) == 1 else one for one in listed]
        say(f"values of {', '.join(options.sa)}, from {options.qi_table}: {join_names(values)}")
        return values, None
    named = rules.table[options.sa].drop_duplicates().itertuples(index=False, name=None)
    raise TableError(
        f"--values must be given: all values of {', '.join(options.sa)} that anybody may have; the rules name "
        + join_names([one[0] if len(options.sa) == 1 else one for one in named])
    )


# Generalised values as texts, which are read as what they were.


def as_text(cell: object) -> object:
    """Write a set, an interval or a value; a text that looks like one of the others as a set with one value."""
    if isinstance(cell, str):
        found = parse([cell])
        looks_generalized = found.spans or found.sets or found.masks or is_suppressed(cell)
        return f"{{{json.dumps(cell, ensure_ascii=False)}}}" if looks_generalized and cell != "*" else cell
    return label_of(cell) if isinstance(cell, frozenset | pd.Interval) else cell


# What is known besides what is published: statements of the command line and of a file, and people by name.


def statements_of(options: argparse.Namespace) -> list[Statement]:
    """Read the statements of --know and --knowledge."""
    found = [replace(read_statement(text), where=f"--know {text!r}") for text in options.know]
    if options.knowledge == DASH:
        return [*found, *read_statements(read_text(DASH), "standard input")]
    return [*found, *(read_knowledge(options.knowledge) if options.knowledge else [])]


def where_of(knowledge: Mapping[str, Any]) -> dict[str, str]:
    """File and line of every piece of knowledge that has one, by its label."""
    return {label: where for label, source in knowledge.items() if (where := getattr(source, "where", None))}


def located(error: Infeasible, knowledge: Mapping[str, Any]) -> Infeasible:
    """The same error with file and line of every statement of the conflict."""
    labels = () if error.conflict is None else map(str, error.conflict.index)
    where = where_of(knowledge)
    if not (lines := [f"{label} ({where[label]})" for label in labels if label in where and "line" in where[label]]):
        return error
    found = Infeasible(f"{error}; {'; '.join(lines)}")
    found.conflict = error.conflict
    return found


# From tables to a release: buckets, two tables, generalised cells; or buckets that Anatomy makes.


#: What says where the buckets are, by option, in words.
SOURCES = {
    "bucket": "that the table has buckets", "l": "that Anatomy should make them",
    "generalized": "that cells are generalised, and records with the same are a group",
}  # fmt: skip
#: What generalised cells begin or end with, or hold.
LOOKS_GENERALIZED = r"^[\[(\]{].*[\])}\[]$|\*|^[<>]=?\s*\d|^\d+\s*-\s*\d+$"


def one_source_of_buckets(options: argparse.Namespace) -> None:
    """Refuse two sources of buckets."""
    if any(getattr(options, name, None) for name in ("hierarchy", "population")):
        options.generalized = True
    given = [name for name in SOURCES if getattr(options, name, None) not in (None, False)]
    if len(given) > 1:
        raise TableError(", and ".join(f"--{name} says {SOURCES[name]}" for name in given) + "; give one")


def released(
    records: pd.DataFrame, options: argparse.Namespace, sa_table: str | None = None
) -> tuple[Release | GroupedRelease, pd.DataFrame]:
    """Read a release from its tables, or make one; with the records, in their buckets, that it is of."""
    roles: dict[str, Any] = {"qi": options.qi, "sa": options.sa}
    more: dict[str, Any] = {name: value for name in ("id",) if (value := getattr(options, name, None))}
    if sa_table := sa_table or sa_table_of(options):
        if options.bucket is None:
            raise TableError("--sa-table needs --bucket")
        more["counterfeits"] = options.counterfeits
        values = read_csv(sa_table)
        release = Release.from_tables(records, values, **roles, bucket=options.bucket, count=options.count, **more)
        return release, records
    if options.generalized:
        return _generalized(records, options, more), records
    if options.count is not None:
        records = people_of(records, options.count)
    if options.bucket is None:
        records, options.bucket = bucketed(records, options)
    return Release.from_buckets(records, **roles, bucket=options.bucket, **more), records


def sa_table_of(options: argparse.Namespace) -> str | None:
    """The one table of sensitive values, if there is one."""
    given: Sequence[str] = options.sa_table or ()
    if len(given) > 1:
        raise TableError(f"--sa-table is given {len(given)} times, and one TABLE; give one each, in the same order")
    return given[0] if given else None


def bucketed(table: pd.DataFrame, options: argparse.Namespace) -> tuple[pd.DataFrame, str]:
    """Put the records into Anatomy's buckets, in a column of a name that is free."""
    if options.l is None:
        raise TableError(f"--l is needed to make buckets (Anatomy){_otherwise(table, options)}")
    bucket = anonymize.anatomy_buckets(
        table, qi=options.qi or [options.id], sa=options.sa, l=options.l, exempt=options.exempt or 0, seed=options.seed,
        safe=getattr(options, "safe", None),
    )  # fmt: skip
    name = free_name("Bucket", table.columns)
    return table.assign(**{name: bucket}), name


def _otherwise(table: pd.DataFrame, options: argparse.Namespace) -> str:
    """What to give if the table is a release already, by the look of it."""
    if not hasattr(options, "bucket"):
        return ""
    others = [name for name in table.columns if name not in (*options.qi, *options.sa)]
    said = f", or --bucket COLUMN if the table has them ({', '.join(others)})" if others else ""
    texts = table[[name for name in options.qi if name in table.columns]].select_dtypes(exclude="number")
    for name in texts if hasattr(options, "generalized") else ():
        cells = texts[name].dropna().astype(str)
        if cells.str.contains(LOOKS_GENERALIZED).any():
            return f"{said}, or --generalized, as cells of {name!r} look so"
    return said


def _generalized(records: pd.DataFrame, options: argparse.Namespace, more: dict[str, Any]) -> Release | GroupedRelease:
    """Read generalised cells, with hierarchies and a population if there are any."""
    hierarchies = dict(options.hierarchy or ())
    if len(hierarchies) < len(options.hierarchy or ()):
        raise TableError("--hierarchy is given twice for one attribute")
    for name in hierarchies:
        if name not in options.qi:
            raise unknown_name("quasi-identifier (given as --hierarchy)", name, options.qi)
    population = None if options.population is None else read_csv(options.population)
    return Release.from_generalized(
        records, qi=options.qi, sa=options.sa, population=population, hierarchies=hierarchies or None,
        count=options.count, **more,
    )  # fmt: skip


# What is judged: a release, a series of releases, or people of whom rules are published; maybe the truth.


@dataclass(frozen=True, eq=False)
class CommandInput:
    """What a command is about."""

    view: View
    records: pd.DataFrame
    original: pd.DataFrame | None
    published: Sequence[PublishedRules] = ()


def material(options: argparse.Namespace) -> CommandInput:
    """Read what the options name."""
    if are_rules(options):
        told, rules, people = people_and_rules(options)
        original = people if {*told.sensitive} <= {*people.columns} else None
        return CommandInput(told, people, original, [rules])
    if getattr(options, "more", ()):
        return _series(options)
    records = read_table(options)
    view, records = released(records, options)
    is_truth = not options.sa_table and not options.generalized
    return CommandInput(view, records, records if is_truth else None)


def _series(options: argparse.Namespace) -> CommandInput:
    """Read releases one after the other, each from its TABLE, and perhaps its own table of sensitive values."""
    tables = [options.table, *options.more]
    if options.id is None:
        raise TableError(
            f"{len(tables)} TABLEs are a series of releases, which --id links: give the column of pseudonyms"
        )
    if options.sa_table and len(options.sa_table) != len(tables):
        raise TableError(f"--sa-table is given {len(options.sa_table)} times for {len(tables)} TABLEs; give one each")
    releases: list[Release] = []
    dropped: list[object] = []
    for number, name in enumerate(tables):
        own = copy.copy(options)
        own.table = name
        records = read_table(own)
        sa_table = options.sa_table[number] if options.sa_table else None
        release, _ = released(records, own, sa_table)
        if not isinstance(release, Release):
            raise TableError("--population is for one release; give one TABLE")
        say(f"{name}: {release!r}"[:-1].replace("<", ""))
        releases.append(release)
        dropped += getattr(own, "dropped", [])
    options.dropped, options.qi, options.sa = dropped, own.qi, own.sa
    return CommandInput(ReleaseSeries(releases), records, None)


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
        domain[name.strip()] = _table_values(values)
    return domain


def _table_values(text: str) -> list[object]:
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
    """Read a CSV file, a row a statistic; means and medians are rounded to the decimals of the longest that is printed."""
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
    where = {name: _table_values(row[name]) for name in domain if row.get(name, "") not in ("", "*")}
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
