"""Options of commands that read a table."""

from __future__ import annotations

import argparse

__all__ = ["release_options", "table_options"]


def table_options(command: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Options of commands that read a table, or several with the same columns."""
    what = "a CSV file with a header, or adult or hospital"
    if several:
        command.add_argument("table", metavar="TABLE", nargs="+", help=what)
    else:
        command.add_argument("table", metavar="TABLE", help=what)
    command.add_argument("--qi", metavar="A,B,...", help="quasi-identifier columns")
    command.add_argument("--sa", metavar="S,...", help="the sensitive column; of several, each combination is a value")
    command.add_argument("--rows", type=int, metavar="N", help="use the first N rows only")
    command.add_argument("--l", type=int, help="Anatomy: records, and different values, a bucket")
    command.add_argument("--exempt", type=int, help="Anatomy: most frequent values that may repeat (0)")
    command.add_argument("--seed", type=int, default=0, help="Anatomy: random seed (0)")


def release_options(command: argparse.ArgumentParser) -> None:
    """Options of commands that take a release, or make one of a table."""
    command.add_argument("--bucket", help="column of the published buckets; without it, Anatomy makes them (--l)")
    command.add_argument("--sa-table", metavar="CSV", help="TABLE holds QI and bucket only; sensitive values are here")
    command.add_argument("--count", help="column that says how many people a row stands for")
