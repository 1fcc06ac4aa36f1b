"""The inputs of commands: tables, releases, background knowledge, association rules and published statistics."""

from __future__ import annotations

import json
import re
import shlex
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from .. import anonymize, datasets
from .._utils.errors import Infeasible, MaxEntError, StatementError, TableError, join_names, pluralize, unknown_name
from .._utils.formatting import constant, iso_text
from .._utils.tables import check_named, count_column, distinct, looks_like_count
from .._utils.validation import check_label, read_file_text
from ..attacks.reconstruction import Statistic
from ..model.maxent import MaxEnt
from ..model.partitioned import PartitionedMaxEnt
from ..releases.base import View
from ..releases.generalized import MONTH, GroupedRelease, hierarchy_table, is_suppressed, label_of, parse, text_of
from ..releases.partitioned import PartitionedRelease
from ..releases.qi_table import QITable
from ..releases.readers import with_cells
from ..releases.release import Release
from ..releases.series import ReleaseSeries
from ..rules import RuleSet
from ..sources.parser import read_statement, read_statements
from ..sources.rules import PublishedRules
from ..sources.statements import RatioStatement, Statement
from .files import (
    EXCEL,
    INVISIBLE,
    MISSING,
    PLAIN_NUMBER,
    THOUSANDS,
    Format,
    are_ambiguous_dates,
    as_dates,
    as_numbers,
    is_nested,
    notations_of_dates,
    read_table,
    read_texts,
    readings_as_dates,
    with_plain_values,
)
from .matching import is_number, with_types_of
from .options import (
    ExposureOptions,
    PublishOptions,
    ReleaseOptions,
    TableOptions,
    composed,
    given,
    table_arguments,
    typed,
    with_dataset_defaults,
)
from .roles import chosen_roles
from .streams import DASH, flag, left_out, read_text, say, warn

#: Tables that come with the package.
BUILT_IN: dict[str, Callable[[], pd.DataFrame]] = {"adult": datasets.load_adult, "hospital": datasets.load_hospital}
#: The largest number of people that a table with counts is expanded to. A choice: for 3 million people with two values,
#: Anatomy takes 3.7 GB and 29 s, and comparisons with the truth 0.4 GB and 2.4 s.
MOST_PEOPLE = 10**7
#: The beginning of a file of rules, as written by RuleSet.to_csv.
RULES_BEGIN = "# {"
#: Options for association rules only.
OF_RULES = ("values", "distribution", "scores", "decimals")
#: Options that specify the buckets, in three ways.
BUCKET_SOURCES = (("bucket",), ("l",), ("generalized", "hierarchy", "population"))
#: Number of distinct numbers of a quasi-identifier above which ranges are proposed.
MANY_NUMBERS = 20
#: Pattern of generalized cells; 100-0001 is a postcode.
LOOKS_GENERALIZED = r"^[\[(\]{].*[\])}\[]$|\*|^[<>]=?\s*\d|^(?:0|[1-9]\d*)\s*(?:-|\u2013|to|bis|à|a)\s*(?:0|[1-9]\d*)$"
#: Pattern of a month, or of the first end of a range of dates.
DATE_RANGE = rf"(?:{MONTH})$|\[\d{{4}}-\d{{2}}-\d{{2}}[, ]"
#: An integer, and a range of integers; both may be negative: "-5--1".
NUMBER, RANGE = re.compile(r"-?[0-9]+"), re.compile(r"(-?[0-9]+)\s*-\s*(-?[0-9]+)")
#: Rows in which the names of columns are looked for.
FIRST_ROWS = 1000
#: Fewest rows of a table whose first row may be a second header.
FEWEST_BELOW = 4
#: Columns of a table of statistics that are not attributes.
STATISTICS = ("n", "mean", "median")
#: Numbers that often denote a missing cell; codes of nines exceed the others by at least one in FAR of their range.
MISSING_CODE, FAR = re.compile(r"-[0-9]+|9{2,}"), 10
#: Signs that often denote a missing cell; beside plus signs they are results.
MISSING_SIGN, PLUS = re.compile(r"[?.\u2013\u2014-]+|#NULL!"), re.compile(r"\++")


# ------------------------------------------------------------------------------------------------------ tables of people


@dataclass(frozen=True, eq=False)
class Records:
    """A table with its quasi-identifiers and sensitive columns."""

    table: pd.DataFrame
    qi: list[str]
    sa: list[str]


def read_records(options: TableOptions, *, is_further: bool = False) -> Records:
    """Read the table of a command: its first --rows, with --missing rows dropped."""
    table = _load(options.table, options.rows, _format(options, is_further))
    _warn_of_header(table, options.table)
    _check_names(table, options)
    qi: Sequence[str] | None = options.qi
    sa: Sequence[str] | None = options.sa
    if qi is None and sa is not None and options.id is not None:  # the pseudonym may be the only identifier
        qi = ()
    others = {f"--{name}": value for name in ("id", "bucket", "count") if (value := getattr(options, name)) is not None}
    if qi is None or sa is None:
        free = table.drop(columns=[name for name in others.values() if name in table.columns])
        qi, sa = chosen_roles(free, _name(options.table), options, qi, sa)
    roles = {option: [name] for option, name in others.items()} | {"--qi": qi, "--sa": sa}
    check_named({name for names in roles.values() for name in names}, roles, _name(options.table))
    table = _without_counts(table, {name for names in roles.values() for name in names}, options)
    _check_cells(table, [*qi, *sa], options)
    has_totals = _has_totals(table)  # before rows are left out, which the totals count
    last = table.index[-1:]
    table = _without_gaps(table, options.table, list(qi), list(sa), options)
    if has_totals and last.isin(table.index).all():
        warn(
            f"the last row of {_name(options.table)}, {join_names(table.iloc[-1].dropna(), 4)}, looks like totals, but is read "
            "as a person; if it is not one, delete it from the file"
        )
    _warn_of_values(table[[name for name in (*qi, *sa) if name in table.columns]])
    return Records(_with_iso_dates(table, sa), list(qi), list(sa))


def _without_counts(table: pd.DataFrame, roles: Collection[str | None], options: TableOptions) -> pd.DataFrame:
    """With --no-count, drop columns that look like counts and have no role."""
    looks = [name for name in table.columns if looks_like_count(name) and name not in roles]
    return table.drop(columns=looks) if options.no_count else table


def _warn_of_header(table: pd.DataFrame, path: str) -> None:
    """Warn if most columns have the name of one of their values, or of another number, since it is a person's then."""
    first = table.head(FIRST_ROWS).map(str)  # astype(str) would decode bytes
    numbers = [str(name) for name in table.select_dtypes("number") if re.fullmatch(PLAIN_NUMBER, str(name))]
    if all(map(str.isdecimal, numbers)) and numbers == sorted(numbers, key=int):  # years, or numbers of questions
        numbers = []
    if sum(first[name].eq(name).any() or name in numbers for name in table.columns) > len(table.columns) / 2:
        warn(
            f"the line {join_names(table.columns, 4)} of {_name(path)} is read as a header, but looks like a record; if it "
            "is one, add a header"
        )
    if _has_second_header(table):
        warn(
            f"the first row of {_name(path)}, {join_names(table.iloc[0].dropna(), 4)}, looks like a second header or like "
            "units, but is read as a person; if it is not one, delete it from the file"
        )


def _has_second_header(table: pd.DataFrame) -> bool:
    """Return whether the first row consists of words, while other cells of a column are numbers or dates."""
    if len(table) < FEWEST_BELOW:
        return False
    words = [
        (name, cell) for name, cell in table.iloc[0].items() if not pd.api.types.is_list_like(cell) and pd.notna(cell)
    ]
    if any(
        not isinstance(cell, str) or not re.search("[^\\W\\d]|--", cell) or are_dates(pd.Series([cell]))
        for _, cell in words
    ):
        return False
    below = table.iloc[1:FIRST_ROWS]
    return any(are_numbers(cells) or are_dates(cells) for cells in (below[name].dropna() for name, _ in words))


def _has_totals(table: pd.DataFrame) -> bool:
    """Return whether the last row has sums of the numbers above it, and else only texts of its own, or empty cells."""
    if len(table) < FEWEST_BELOW:
        return False
    n_sums = 0
    for _, column in table.items():
        cell, above = column.iloc[-1], column.iloc[:-1].dropna()
        if is_number(cell) and pd.notna(cell) and are_numbers(above):
            numbers = pd.to_numeric(above)
            if not (cell > numbers.max() and np.isclose(float(cell), float(numbers.sum()), rtol=1e-9, atol=0)):
                return False
            n_sums += 1
        elif pd.api.types.is_list_like(cell) or not (
            pd.isna(cell) or (isinstance(cell, str) and not above.eq(cell).any())
        ):
            return False
    return 0 < n_sums < len(table.columns)


def are_numbers(cells: pd.Series) -> bool:
    """Return whether there are cells, all of which are numbers, possibly as texts."""
    return len(cells) > 0 and bool(pd.to_numeric(cells, errors="coerce").notna().all())


def are_dates(cells: pd.Series) -> bool:
    """Return whether there are cells, all of which are dates, possibly as texts."""
    is_typed = pd.api.types.infer_dtype(cells) in ("datetime", "datetime64", "date")
    return len(cells) > 0 and (is_typed or len(readings_as_dates(cells)) > 0)


def _warn_of_values(table: pd.DataFrame) -> None:
    """Warn of values that may be equal, be dates of unknown order, or denote missing cells."""
    for name, column in table.items():
        if are_ambiguous_dates(column):
            warn(
                f"the dates of {name!r}, such as {column.iloc[0]}, are ambiguous and are treated as texts; write them as "
                "2024-01-31"
            )
        if notations := notations_of_dates(column):
            warn(
                f"the dates of {name!r} have several notations, such as {join_names(notations)}, and are treated as texts; write "
                "them as 2024-01-31"
            )
        texts = pd.Series([value for value in column.dropna().unique() if isinstance(value, str)], dtype=object)
        plain = texts.map(_plain_text)
        alike = texts[plain[plain.duplicated(keep=False)].sort_values(kind="stable").index]
        if len(alike):
            warn(
                f"values of {name!r} that differ in capital letters, blanks or invisible characters only are treated as "
                f"different: {join_names(alike)}; if they are the same, write them alike in the file"
            )
        if codes := missing_codes(column):
            shown, values = shlex.quote(",".join(map(text_of, codes))), "values" if len(codes) > 1 else "a value"
            warn(
                f"{join_names(codes)} in {name!r} may denote missing cells, but will be treated as {values}; to drop these "
                f"rows, give  --missing-codes={shown} --missing drop"
            )


def _plain_text(text: str) -> str:
    """Return a text without differences that are easily overlooked."""
    visible = re.sub(f"[{INVISIBLE}]", "", unicodedata.normalize("NFKC", text))
    return " ".join(visible.split()).casefold()


def missing_codes(column: pd.Series) -> list[object]:
    """Return repeated values that may denote missing cells.

    These are negative integers if no other number is negative and the others are many or smaller in magnitude; numbers of
    nines, far above the others; such texts of digits among words; and signs such as "?" in texts.

    >>> missing_codes(pd.Series(["f", "?", "?"])), missing_codes(pd.Series(["+", "-", "-"]))
    (['?'], [])
    """
    counts = column.value_counts()
    repeated = [value for value in counts[counts > 1].index if MISSING_CODE.fullmatch(text_of(value))]
    if not pd.api.types.is_numeric_dtype(column):
        words = [value for value in counts.index if not NUMBER.fullmatch(text_of(value))]
        if pd.api.types.infer_dtype(column) != "string" or len(words) <= len(counts) / 2:
            repeated = []
        if any(PLUS.fullmatch(text_of(value)) for value in words):
            return repeated
        return [*repeated, *(value for value in words if counts[value] > 1 and MISSING_SIGN.fullmatch(text_of(value)))]
    others = counts.index.difference(repeated)
    if not len(others) or others.min() < 0:
        return []
    low, high = others.min(), others.max()
    return [
        value
        for value in repeated
        if (-value > high or len(others) > MANY_NUMBERS if value < 0 else value - high > (high - low) / FAR)
    ]


def dates_of(table: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the columns of texts that are dates, converted to dates."""
    dates = {}
    for name, texts in table.items():
        column = as_dates(texts)
        if column.dtype != texts.dtype:
            dates[str(name)] = column
            first = texts.first_valid_index()
            if texts[first] != (date := iso_text(column[first])):
                say(f"{name} is read as dates: {texts[first]} as {date}")
    return dates


def _with_iso_dates(table: pd.DataFrame, sa: Sequence[str]) -> pd.DataFrame:
    """Write sensitive dates as 2024-01-31, with their times; measures read these as dates."""
    dates = dates_of(table[[name for name in sa if name in table.columns]])
    return table.assign(**{name: column.map(iso_text) for name, column in dates.items()})


def _check_cells(table: pd.DataFrame, roles: list[str], options: TableOptions) -> None:
    """Refuse columns of lists, and columns without values unless empty cells stand for any value."""
    for name in (name for name in roles if name in table.columns):  # except columns of --sa-table
        if is_nested(table[name]):
            raise TableError(
                f"column {name!r} of {_name(options.table)} contains lists or records; one value per cell is expected: leave "
                "the column out, or write each cell as a text"
            )
        if len(table) and table[name].isna().all() and not options.is_generalized:
            raise TableError(
                f"column {name!r} of {_name(options.table)} is empty, and values are expected; leave it out, or, if it "
                "contains formulas, save the file in a spreadsheet program, which writes their values"
            )


def _format(options: TableOptions, is_further: bool) -> Format:
    return Format(options.sep, options.encoding, options.decimal, options.sheet, is_further)


def read_further(
    path: str, options: TableOptions, known: Mapping[str, pd.Series | pd.Index] | None = None
) -> pd.DataFrame:
    """Read a further table, whose format may differ from the options given for TABLE.

    Columns with `known` values get the types of these.
    """
    known = known or {}
    texts = frozenset(name for name, values in known.items() if pd.api.types.infer_dtype(values) == "string")
    return with_types_of(known, read_table(path, replace(_format(options, is_further=True), texts=texts)), path)


def known_values(view: Any, *, cells: bool = False) -> dict[str, pd.Index]:
    """Return the values of the columns of a view, except, without `cells`, quasi-identifiers that are generalized cells."""
    indexes = [view.sensitive_values]
    if cells or not getattr(view, "generalized", False):
        indexes.append(view.quasi_identifiers)
    if isinstance(view, Release) and not view.generalized:
        indexes.append(view.buckets)
    return {str(name): index.get_level_values(name).unique() for index in indexes for name in index.names}


def _load(name: str, rows: int | None, form: Format) -> pd.DataFrame:
    if name not in BUILT_IN and name != DASH and not Path(name).exists():
        raise unknown_name("file or built-in table", name, BUILT_IN)
    table = BUILT_IN[name]() if name in BUILT_IN else read_table(name, form)
    if rows is not None and not 0 < rows <= len(table):
        raise TableError(f"--rows {rows}: {_name(name)} has {pluralize(len(table), 'row')}")
    return table.head(rows) if rows else table


def _check_names(table: pd.DataFrame, options: TableOptions) -> None:
    """Refuse names that are not columns, before any other check."""
    in_another_table: tuple[str, ...] = ("bucket",) if isinstance(options, PublishOptions) else ()
    if isinstance(options, ReleaseOptions) and options.sa_table:
        in_another_table = ("sa", "count")
    elif isinstance(options, ReleaseOptions) and options.population is not None:
        in_another_table = ("count",)
    for option in ("qi", "sa", "bucket", "id", "count"):
        value = None if option in in_another_table else getattr(options, option)
        for name in (value,) if isinstance(value, str) else value or ():
            check_label(name, f"column of {_name(options.table)} (given as --{option})", table.columns)


def _without_gaps(table: pd.DataFrame, name: str, qi: list[str], sa: list[str], options: TableOptions) -> pd.DataFrame:
    """Drop rows with missing cells in columns with a role, or refuse the table."""
    roles = [*sa, *(column for column in (options.bucket, options.id, options.count) if column)]
    if not options.is_generalized:  # there a missing cell stands for any value
        roles += qi
    columns = [column for column in dict.fromkeys([*roles, *qi]) if column in table.columns]
    given = table
    if options.missing_codes:
        are_codes = table[columns].map(text_of).isin(options.missing_codes)
        coded = [column for column in columns if are_codes[column].any()]
        table = table.assign(**table[coded].astype(object).mask(are_codes[coded]))
    missing = table[[column for column in dict.fromkeys(roles) if column in table.columns]].isna()
    if not missing.to_numpy().any():
        return table
    where = ", ".join(f"{column!r} ({n} of {len(table)})" for column, n in missing.sum().items() if n)
    if options.missing == "error":
        merged = "; of merged cells, only the first one has a value" if Path(name).suffix.lower() in EXCEL else ""
        raise TableError(
            f"{_name(name)} has missing cells in {where}; drop these rows with --missing drop, or replace the missing "
            f"cells by a separate value{merged}"
        )
    gaps = missing.any(axis=1)
    if gaps.all():
        raise TableError(f"every row of {_name(name)} has a missing cell, in {where}")
    say(f"dropped {gaps.sum()} of {len(table)} rows of {_name(name)}, with missing cells in {where}")
    cells = missing.sum()[lambda n: n > 0].to_dict()
    left_out().append({"table": name, "rows": int(gaps.sum()), "of": len(table), "cells": cells})
    signs = [*THOUSANDS] if options.decimal is None else [options.decimal]
    return _with_numbers(table[~gaps].infer_objects(), given[columns], signs)


def _with_numbers(table: pd.DataFrame, given: pd.DataFrame, signs: Iterable[str]) -> pd.DataFrame:
    """Convert texts to numbers where the last texts that are not were in the rows that are left out."""
    changed = {}
    for name in given:
        if all(pd.api.types.infer_dtype(x, skipna=True) == "string" for x in (given[name], table[name])):
            before, after = given[name].dropna(), table[name].dropna()
            is_number = before.str.fullmatch(PLAIN_NUMBER)
            if not is_number.all() and is_number[after.index].all():
                changed[str(name)] = pd.to_numeric(table[name])
                continue
            readings = [x for sign in signs if (x := as_numbers(after, sign)) is not None]
            if len(readings) == 1 and all(as_numbers(before, sign) is None for sign in signs):
                changed[str(name)] = readings[0].reindex(table.index)
                say(f"{name} is read as numbers: {after.iloc[0]} as {readings[0].iloc[0]}")
    return table.assign(**changed)


def people_of(table: pd.DataFrame, count: str) -> pd.DataFrame:
    """Expand a table with counts to one row per person, as required by Anatomy, mining and original records."""
    check_label(count, "column of the table (given as --count)", table.columns)
    n = count_column(table[count], "the table")
    if n.sum() > MOST_PEOPLE:
        raise TableError(
            f"{count!r} counts {n.sum():,} people, but Anatomy's buckets, generalization and associations need one row per "
            f"person, for which at most {MOST_PEOPLE:,} people are supported; give a sample of the people"
        )
    return table.loc[table.index.repeat(n)].drop(columns=count).reset_index(drop=True)


def truth_of(table: pd.DataFrame, count: str | None) -> pd.DataFrame | None:
    """Return one row per person, for comparisons with the truth, or None, and say so, if there are too many people."""
    if count is None or count not in table.columns:
        return table
    if (n := count_column(table[count], "the table").sum()) > MOST_PEOPLE:
        say(
            "utility, divergence from the truth, success of guesses and the baseline 'without her' need one row per person, "
            f"and are left out above {MOST_PEOPLE:,} people; {count!r} counts {n:,}"
        )
        return None
    return people_of(table, count)


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return a column name that is not taken, by appending underscores."""
    while name in taken:
        name += "_"
    return name


def values_as_printed(texts: Sequence[str], values: Iterable[object]) -> list[object]:
    """Return the values that are printed as the given texts, or the equal numbers; keep other texts."""
    values = list(values)
    by_text = {printed(value): value for value in values}
    by_number = {value: value for value in values if is_number(value)}
    return [by_text.get(text, by_number.get(constant(text), text)) for text in texts]


def typed_values(texts: Sequence[str]) -> list[object]:
    """Convert texts that are all numbers, or all True or False.

    >>> typed_values(["1000.0", "2e3"]), typed_values(["01", "2"]), typed_values(["True", "False"])
    ([1000, 2000], ['01', '2'], [True, False])
    """
    parsed = [constant(text) for text in texts]
    if all(isinstance(value, bool) for value in parsed):
        return parsed
    numbers = [value for value in parsed if is_number(value)]
    if len(numbers) < len(texts):
        return [*texts]
    return [int(x) for x in numbers] if all(x % 1 == 0 for x in numbers) else parsed  # type: ignore[operator,call-overload]


def printed(value: object) -> str:
    """Format a sensitive value; combinations with commas."""
    return ",".join(map(label_of, value)) if isinstance(value, tuple) else label_of(value)


def numbers_by_value(table: pd.DataFrame, sa: list[str], path: str, what: str) -> pd.Series:
    """Read a table with one number per sensitive value."""
    others = [name for name in table.columns if name not in sa]
    if len(others) != 1 or not {*sa} <= {*table.columns}:
        raise TableError(
            f"{path!r} has the columns {join_names(table.columns)}; {join_names(sa)} and {what} are expected"
        )
    numbers = pd.to_numeric(table[others[0]], errors="coerce")
    if numbers.isna().any():
        raise TableError(f"column {others[0]!r} of {path!r} must contain numbers only")
    return pd.Series(numbers.to_numpy(), index=table.set_index(sa).index)


def _name(path: str) -> str:
    return "standard input" if path == DASH else path


def as_text(cell: object) -> object:
    """Format a set, an interval or a value; a text that looks generalized becomes a set with one value.

    >>> as_text(frozenset({"b", "a"})), as_text("a"), as_text("20-29")
    ('{a, b}', 'a', '{"20-29"}')
    """
    if isinstance(cell, str):
        parsed = parse([cell])
        looks_generalized = parsed.spans or parsed.sets or parsed.masks or is_suppressed(cell)
        return f"{{{json.dumps(cell, ensure_ascii=False)}}}" if looks_generalized and cell != "*" else cell
    return label_of(cell) if isinstance(cell, frozenset | pd.Interval | pd.Timestamp) else cell


# -------------------------------------------------------------------------------------------------------------- releases


@dataclass(frozen=True, eq=False)
class CommandInput:
    """The release that a command reads, and what the adversary knows.

    `records` is the table; `original` is the same table if it contains the value of each person, for comparisons with the
    truth; `published` are rules published besides the view; `l` is that of buckets made by the command; `people` are known
    by name.
    """

    view: View | PartitionedRelease
    records: pd.DataFrame | None
    original: pd.DataFrame | None
    qi: list[str]
    sa: list[str]
    published: Sequence[PublishedRules] = ()
    l: int | None = None
    people: pd.DataFrame | None = None
    statements: Sequence[Statement | RatioStatement] = ()

    def model(self, view: Any) -> MaxEnt | PartitionedMaxEnt:
        """Return the model of a release of these people, with all knowledge."""
        cls: Any = PartitionedMaxEnt if isinstance(view, PartitionedRelease) else MaxEnt
        return cls(view, people=self.people).add(*self.published, *self.statements)


def read_input(
    options: ExposureOptions,
    statements: Sequence[Statement | RatioStatement],
    *,
    in_partitions: bool = False,
    known: Mapping[str, pd.Index] | None = None,
) -> CommandInput:
    """Read rules, a series of releases, or one release; the original records; and the people known by name.

    Columns of one release with `known` values get the types of these.
    """
    if in_partitions:
        source = _read_partitions(options)
    elif _is_rules(options):
        source = _read_rules(options)
    else:
        source = _read_series(options) if options.more else _read_release(options, known)
    if options.original is not None:
        source = replace(source, original=_read_original(options.original, options, source))
    people = None if options.people is None else _read_people(options.people, options, source.view)
    return replace(source, people=people, statements=statements)


def _read_original(path: str, options: ExposureOptions, source: CommandInput) -> pd.DataFrame:
    """Read the original records."""
    original = read_further(path, options, known_values(source.view))
    for name in (*source.qi, *source.sa):
        check_label(name, f"column of {_name(path)} (given as --original)", original.columns)
    original = _without_counts(original, {*source.qi, *source.sa}, options)
    # Missing cells stand for any value only in originals that are generalized like TABLE.
    full = [name for name in source.qi if source.records is None or source.records[name].notna().all()]
    original = _with_iso_dates(_without_gaps(original, path, source.qi, [*source.sa, *full], options), source.sa)
    if options.count is not None and options.count in original:
        original = people_of(original, options.count)
    if isinstance(source.view, Release) and source.view.generalized:
        original = _with_dates_of(source.view.quasi_identifiers.to_frame(index=False), original, path)
        if not _are_cells(with_cells(source.view, original)[source.qi], source.view):
            raise TableError(
                f"the quasi-identifiers of {_name(path)} (given as --original) are exact, but those of the "
                "release are generalized, and not everybody is in exactly one of its groups; give --population "
                f"{shlex.quote(path)} too, to determine everybody's group"
            )
    return original


def _read_people(path: str, options: TableOptions, view: Any) -> pd.DataFrame:
    """Read a table of people, with their names in the first column."""
    table = read_further(path, options, known_values(view, cells=True))
    if (first := table.columns[0]) in view.qi:
        raise TableError(
            f"the first column of {path!r} must contain the names of people, but is {first!r}; put names first"
        )
    return table.set_index(first)


def _read_partitions(options: ExposureOptions) -> CommandInput:
    """Read a release in partitions, from Parquet files, and refuse cells that are read otherwise in memory."""
    roles: Any = {"qi": list(options.qi or ()), "sa": list(options.sa or ())}
    release = Release.from_parquet(list(options.tables), **roles, bucket=options.bucket, count=options.count)
    signs = [*THOUSANDS] if options.decimal is None else [options.decimal]
    for name, values in known_values(release, cells=True).items():
        cells = values.to_frame(index=False)
        present = cells.mask(cells.isin(MISSING))
        plain = _with_iso_dates(with_plain_values(present, signs)[0], roles["sa"])
        before, after = (table.to_numpy(dtype=object)[:, 0] for table in (cells, plain))
        if (changed := np.flatnonzero(before != after)).size:
            raise TableError(
                f"column {name!r} contains {before[changed[0]]!a}, which would be read as {join_names(after[changed[:1]])} "
                "in memory; in partitions cells are not changed, so change it in the files"
            )
        _warn_of_values(cells)
    return CommandInput(release, None, None, **roles)


def _are_cells(people: pd.DataFrame, release: Release) -> bool:
    """Return whether the quasi-identifiers of all people are cells of a generalized release."""
    cells = release.quasi_identifiers.to_frame(index=False).astype(str)
    return bool(pd.MultiIndex.from_frame(people.astype(str)).isin(pd.MultiIndex.from_frame(cells)).all())


def _read_release(options: ExposureOptions, known: Mapping[str, pd.Index] | None) -> CommandInput:
    """Read one release, or make one from a table of records."""
    records = read_records(options)
    if known:
        records = replace(records, table=with_types_of(known, records.table, options.table))
    view, table = read_release(records, options)
    has_truth = not options.sa_table and not options.is_generalized and options.original is None
    original = truth_of(table, options.count) if has_truth else None
    is_made = not (options.bucket or options.sa_table or options.is_generalized)
    return CommandInput(view, table, original, records.qi, records.sa, l=options.l if is_made else None)


def check_buckets(options: ReleaseOptions | TableOptions) -> None:
    """Refuse several sources of buckets."""
    is_given = given(options)
    sources = [
        flag(of_kind[0]) for names in BUCKET_SOURCES if (of_kind := [name for name in names if name in is_given])
    ]
    if len(sources) > 1:
        raise TableError(
            f"{' and '.join(sources)} contradict each other: --bucket names the buckets of the table, --l makes them, and "
            "generalized cells are groups themselves; give one"
        )


def read_release(records: Records, options: ReleaseOptions) -> tuple[Release | GroupedRelease, pd.DataFrame]:
    """Read a release from its tables, group equal records, or make buckets; also return the records."""
    table = records.table
    roles: Any = {"qi": records.qi, "sa": records.sa, "id": options.id}
    if len(options.sa_table) > 1:
        raise TableError(
            f"--sa-table is given {len(options.sa_table)} times for one TABLE; give one per TABLE, in the same order"
        )
    if sa_table := next(iter(options.sa_table), None):
        if options.bucket is None:
            raise TableError("--sa-table needs --bucket")
        values = read_further(sa_table, options, {options.bucket: table[options.bucket]})
        values = _without_counts(values, {*records.sa, options.bucket, options.count}, options)
        values = _with_iso_dates(values, records.sa)
        release = Release.from_tables(
            table, values, **roles, bucket=options.bucket, count=options.count, counterfeits=options.counterfeits
        )
        return release, table
    if options.counterfeits:
        raise TableError("--counterfeits requires sensitive values in a separate table; give it with --sa-table")
    if options.is_generalized:
        return _read_generalized(records, options), table
    count, bucket = options.count, options.bucket
    if count is not None and (n := count_column(table[count], "the table")).any():
        table = table[n > 0]  # rows of nobody have no QI tuples in the release
    is_table = options.l is None and len(records.qi) > 0
    if count is not None and (options.id is not None or not (bucket or is_table)):
        table, count = people_of(table, count), None
    if bucket is None:
        table, bucket = (grouped if is_table else anatomize)(replace(records, table=table), options)
    return Release.from_buckets(table, **roles, bucket=bucket, count=count), table


def grouped(records: Records, options: TableOptions) -> tuple[pd.DataFrame, str]:
    """Make a bucket of all people with equal quasi-identifiers; also return the name of the new column."""
    table = records.table
    name = free_name("Group", table.columns)
    groups = table.groupby(records.qi, sort=False).ngroup()
    n = groups.nunique()
    say(f"the table is used unchanged: {n:,} {'group' if n == 1 else 'groups'} of equal {', '.join(records.qi)}")
    if generalized := _generalized_column(records, options):
        say(f"cells of {generalized!r} look generalized; --generalized reads them as sets and ranges")
    if many := [name for name in records.qi if _has_many_numbers(table[name])]:
        command = typed(
            "maxent-cvx publish", [options.table], records.qi, records.sa, "--method", "mondrian", "--k", "5",
            *table_arguments(options),
        )  # fmt: skip
        say(f"{' and '.join(many)} can be published in ranges instead:  {command}")
    return table.assign(**{name: groups}), name


def _has_many_numbers(column: pd.Series) -> bool:
    """Return whether a quasi-identifier has so many numbers, or dates, that ranges are proposed."""
    column = as_dates(column)
    is_ordered = pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column)
    return is_ordered and column.nunique() > MANY_NUMBERS


def anatomize(records: Records, options: TableOptions) -> tuple[pd.DataFrame, str]:
    """Divide the records into Anatomy's buckets; also return the name of the new column."""
    table = records.table
    if options.l is None:
        raise TableError(f"--l is needed to make buckets (Anatomy){_alternatives(records, options)}")
    bucket = anonymize.anatomy_buckets(
        table, qi=records.qi or [str(options.id)], sa=records.sa, l=options.l, exempt=options.exempt or 0,
        seed=options.seed, safe=options.safe,
    )  # fmt: skip
    name = free_name("Bucket", table.columns)
    return table.assign(**{name: bucket}), name


def _alternatives(records: Records, options: TableOptions) -> str:
    """Suggest options if the table looks like a release."""
    others = [name for name in records.table.columns if name not in (*records.qi, *records.sa)]
    text = f", or --bucket COLUMN if the table has them ({', '.join(others)})" if others else ""
    generalized = _generalized_column(records, options)
    return f"{text}, or --generalized, since cells of {generalized!r} look generalized" if generalized else text


def _generalized_column(records: Records, options: TableOptions) -> str | None:
    """Return a quasi-identifier whose cells look generalized, if the command can read such cells."""
    texts = records.table[[name for name in records.qi if name in records.table]].select_dtypes(exclude="number")
    for name in texts if isinstance(options, ReleaseOptions) else ():
        if any(re.search(LOOKS_GENERALIZED, str(cell)) for cell in texts[name].dropna().unique()):
            return str(name)
    return None


def hierarchies_of(options: ReleaseOptions | PublishOptions, people: pd.DataFrame) -> dict[str, Any]:
    """Return the hierarchy of each attribute that has one: its file, or a table if its numbers are those of people."""
    hierarchies: dict[str, Any] = dict(options.hierarchy)
    if len(hierarchies) < len(options.hierarchy):
        raise TableError("--hierarchy is given twice for one attribute")
    for name, path in options.hierarchy:
        if name in people and pd.api.types.is_numeric_dtype(people[name]):
            levels = hierarchy_table(path, name)
            for sign in THOUSANDS if options.decimal is None else [options.decimal]:
                numbers = as_numbers(levels[0], sign)
                if numbers is not None and people[name].isin(numbers).all():
                    levels[0], hierarchies[name] = numbers, levels
                    break
    return hierarchies


def _with_dates_of(cells: pd.DataFrame, table: pd.DataFrame, path: str) -> pd.DataFrame:
    """Convert the dates of a further table of people to the notation of generalized cells."""
    dates = {str(name): column for name, column in cells.items() if are_dates(column.dropna())}
    table = with_types_of(dates, table, path)
    for name, column in cells.items():
        is_range = any(re.match(DATE_RANGE, str(cell)) for cell in column.unique())
        # Publish writes dates such as 31.01.2024 as 2024-01-31.
        if is_range and name in table and not table[name].isin(column).any():
            table = table.assign(**{str(name): as_dates(table[name])})
    return table


def _read_generalized(records: Records, options: ReleaseOptions) -> Release | GroupedRelease:
    """Read generalized cells, with hierarchies and a population if given."""
    for name, _ in options.hierarchy:
        check_label(name, "quasi-identifier (given as --hierarchy)", records.qi)
    population = None
    if options.population is not None:
        population = _without_counts(read_further(options.population, options), {*records.qi, options.count}, options)
        population = _without_gaps(population, options.population, [], records.qi, options)  # exact QI are not empty
        cells = records.table[[name for name in records.qi if name in records.table]]
        population = _with_dates_of(cells, population, options.population)
    hierarchies = hierarchies_of(options, records.table if population is None else population)
    return Release.from_generalized(
        records.table, qi=records.qi, sa=records.sa, population=population, hierarchies=hierarchies or None,
        count=options.count, id=options.id,
    )  # fmt: skip


def _read_series(options: ExposureOptions) -> CommandInput:
    """Read the releases of a series, each from its TABLE, with its table of sensitive values if given."""
    tables = options.tables
    if options.id is None:
        raise TableError(f"{len(tables)} TABLEs are a series of releases; give the column of pseudonyms with --id")
    if options.sa_table and len(options.sa_table) != len(tables):
        raise TableError(
            f"--sa-table is given {len(options.sa_table)} times for {len(tables)} TABLEs; give one per TABLE"
        )
    releases: list[Release] = []
    known: dict[str, pd.Series] = {}
    for name, sa_table in zip(tables, options.sa_table or [None] * len(tables), strict=True):
        separate = () if sa_table is None else (sa_table,)
        options_of_table = with_dataset_defaults(replace(options, table=name, more=(), sa_table=separate))
        records = read_records(options_of_table, is_further=True)  # formats may differ, for example those of publish
        records = replace(records, table=with_types_of(known, records.table, name))
        known = known or {str(name): records.table[name] for name in (options.id, *records.sa) if name in records.table}
        release, _ = read_release(records, options_of_table)
        if not isinstance(release, Release):
            raise TableError("--population can be given for a single release only; give one TABLE")
        say(f"{name}: {release!r}"[:-1].replace("<", ""))
        releases.append(release)
    series = ReleaseSeries(releases)
    is_in = series.buckets >= 0  # of shape (releases, people)
    if alone := [name for name, people in zip(tables, is_in, strict=True) if is_in[:, people].sum() == people.sum()]:
        warn(
            f"nobody in {_name(alone[0])} has a pseudonym ({options.id}) of the other releases; if these are the same people, "
            "write their pseudonyms alike"
        )
    return CommandInput(series, records.table, None, records.qi, records.sa)


# ----------------------------------------------------------------------------------------------------- association rules


def _is_rules(options: ExposureOptions) -> bool:
    """Return whether --qi-table is given; a TABLE that contains rules requires it."""
    if options.qi_table is not None:
        return True
    path = Path(options.table)
    is_rules = False
    if path.is_file() and path.suffix != ".parquet":
        with path.open("rb") as file:
            is_rules = file.read(len(RULES_BEGIN)) == RULES_BEGIN.encode()
    about_rules = [name for name in OF_RULES if name in given(options)]
    if is_rules or about_rules:
        why = f"{flag(about_rules[0])} is about" if about_rules and not is_rules else f"{options.table!r} contains"
        raise TableError(
            f"{why} association rules; --qi-table must be given, a CSV file of everybody's QI with one row per person"
        )
    return False


def _read_rules(options: ExposureOptions) -> CommandInput:
    """Read association rules, and the people that they describe."""
    assert options.qi_table is not None
    roles = {name: list(columns) for name in ("qi", "sa") if (columns := getattr(options, name)) is not None}
    if options.table == DASH:
        with TemporaryDirectory() as folder:  # RuleSet reads files only
            path = Path(folder, "rules.csv")
            path.write_text(read_text(DASH), encoding="utf-8")
            rules = RuleSet.from_csv(path, **roles)
    else:
        rules = RuleSet.from_csv(options.table, **roles)
    qi, sa = list(rules.qi), list(rules.sensitive)
    people = _without_counts(read_further(options.qi_table, options), {*qi, *sa, options.count}, options)
    people = _without_gaps(people, options.qi_table, qi, sa, options)
    values, distribution = _sensitive_values(options, people, rules)
    view = QITable(people, qi=qi, sa=sa, sa_values=values, sa_distribution=distribution, count=options.count)
    scores = None if options.scores is None else list(options.scores)
    published = PublishedRules(rules, scores, options.decimals, non_rules=rules.complete)
    return CommandInput(view, people, people if {*sa} <= {*people.columns} else None, qi, sa, [published])


def _sensitive_values(
    options: ExposureOptions, people: pd.DataFrame, rules: RuleSet
) -> tuple[list[object] | None, pd.Series | None]:
    """Return the possible values, and the number of people with each if published."""
    sa = list(rules.sensitive)
    if options.distribution is not None:
        table = read_further(options.distribution, options)
        return None, numbers_by_value(table, sa, options.distribution, "a column of numbers of people")
    if options.values is not None:
        parts = [value.split("|") if len(sa) > 1 else [value] for value in options.values]
        if wrong := [part for part in parts if len(part) != len(sa)]:
            raise TableError(
                f"--values: {'|'.join(wrong[0])!r} must be one value of each of {join_names(sa)}, such as a|b"
            )
        columns = [typed_values(column) for column in zip(*parts, strict=True)]
        return columns[0] if len(sa) == 1 else [*zip(*columns, strict=True)], None
    if {*sa} <= {*people.columns}:
        values = list(distinct(people[sa].dropna())[1])
        say(f"values of {', '.join(sa)}, from {options.qi_table}: {join_names(values)}")
        return values, None
    named = rules.table[sa].drop_duplicates().itertuples(index=False, name=None)
    raise TableError(
        f"--values must be given: all possible values of {', '.join(sa)}. The rules contain "
        + join_names([row[0] if len(sa) == 1 else row for row in named])
    )


# -------------------------------------------------------------------------------------------------- background knowledge


def statements_of(options: ExposureOptions | PublishOptions) -> list[Statement | RatioStatement]:
    """Read the statements of --know and --knowledge."""
    statements = [replace(read_statement(text), where=f"--know {text!r}") for text in options.know]
    if options.knowledge == DASH:
        statements += read_statements(composed(read_text(DASH)), "standard input")
    elif options.knowledge:
        text = read_file_text(options.knowledge, "path", StatementError)
        statements += read_statements(composed(text), options.knowledge)
    return statements


def where_of(knowledge: Mapping[str, Any]) -> dict[str, str]:
    """Return file and line of the pieces of knowledge that have them, by label."""
    return {label: where for label, source in knowledge.items() if (where := getattr(source, "where", None))}


def located(error: Infeasible, knowledge: Mapping[str, Any]) -> Infeasible:
    """Add file and line of every conflicting statement to an error."""
    labels = () if error.conflict is None else map(str, error.conflict.index)
    where = where_of(knowledge)
    if not (lines := [f"{label} ({where[label]})" for label in labels if label in where and "line" in where[label]]):
        return error
    with_places = Infeasible(f"{error}; {'; '.join(lines)}")
    with_places.conflict = error.conflict
    return with_places


# -------------------------------------------------------------------------------------------------- published statistics


def read_domain(text: str) -> dict[str, list[object]]:
    """Read the possible values of attributes, as "age=0-125;sex=F|M"."""
    domain: dict[str, list[object]] = {}
    for part in text.split(";"):
        name, equals, values = part.partition("=")
        name = name.strip()
        if not equals or not name or not values.strip():
            raise TableError(f"--domain: {part!r} must have the form ATTRIBUTE=VALUES, such as age=0-125 or sex=F|M")
        if name in domain:
            raise TableError(f"--domain: {name!r} is given twice")
        if name in STATISTICS:
            raise TableError(f"--domain: {name!r} is a statistic, not an attribute; rename the attribute")
        domain[name] = _read_values(values)
    return domain


def _read_values(text: str) -> list[object]:
    """Read a range of integers, or values separated by bars, which are numbers if all of them are."""
    parsed: list[object] = []
    for part in (part.strip() for part in text.split("|")):
        if ends := RANGE.fullmatch(part):
            low, high = map(int, ends.groups())
            if low > high:
                raise TableError(f"{part!r}: the first number of a range must not be larger than the second")
            parsed += range(low, high + 1)
        else:
            parsed.append(int(part) if NUMBER.fullmatch(part) else part)
    return parsed if all(isinstance(value, int) for value in parsed) else [*map(str, parsed)]


def read_statistics(
    path: str, domain: Mapping[str, list[object]], of: str | None, decimals: int | None
) -> list[Statistic]:
    """Read a CSV file with one row per statistic; by default, the longest mean or median gives the number of decimals."""
    table, decimal = read_texts(path)
    for name in table.columns:
        check_label(name, f"attribute of --domain (a column of {path!r})", [*domain, *STATISTICS])
    if table.empty:
        raise TableError(f"{path!r} contains only a header")
    table = table.apply(lambda column: column.str.strip())
    if decimal == ",":
        for name in table.columns.intersection(STATISTICS[1:]):
            table[name] = table[name].str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
    places = dict.fromkeys(STATISTICS[1:], decimals)
    for name in (name for name in STATISTICS[1:] if decimals is None and name in table.columns):
        places[name] = int(table[name].str.partition(".")[2].str.len().max())
    statistics: list[Statistic] = []
    for line, row in zip(table.index, table.to_dict("records"), strict=True):
        try:
            statistics += _statistics_of(row, domain, of, places)
        except MaxEntError as error:
            raise type(error)(f"{path!r}, line {line}: {error}") from error
    return statistics


def _statistics_of(
    row: Mapping[str, str], domain: Mapping[str, list[object]], of: str | None, places: Mapping[str, int | None]
) -> list[Statistic]:
    """Return the statistics of one line: a number of people, a mean and a median, each with its rounding."""
    where = {name: _read_values(row[name]) for name in domain if row.get(name, "") not in ("", "*")}
    for name in where:  # values are numbers only if all values of the domain are
        if any(isinstance(value, str) for value in domain[name]):
            where[name] = [*map(str, where[name])]
    statistics = []
    if n := row.get("n", ""):
        statistics.append(Statistic(where, int(n) if n.isdecimal() else n))
    for name in STATISTICS[1:]:
        if text := row.get(name, ""):
            try:
                number: Any = {name: float(text)}
            except ValueError as error:
                raise TableError(f"{name} must be a number, got {text!r}") from error
            statistics.append(Statistic(where, of=of, decimals=places[name], **number))
    return statistics
