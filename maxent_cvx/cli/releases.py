"""From tables to a release: buckets, two tables, generalised cells; or buckets that Anatomy makes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import pandas as pd

from .. import disguise
from ..errors import TableError, unknown_name
from ..views import GroupedRelease, Release
from .reading import free_name, people_of, read_csv

__all__ = ["bucketed", "one_source_of_buckets", "released", "sa_table_of"]

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
    bucket = disguise.anatomy_buckets(
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
