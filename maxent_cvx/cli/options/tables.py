"""Options that commands share: the table, the release that it is or becomes, and how it is judged."""

from __future__ import annotations

import argparse

from ..parsing import limit, named_file, share

__all__ = ["formula_option", "judging_options", "release_options", "table_options"]

#: What a TABLE can be.
TABLE = "a CSV file with a header, - for standard input, or the built-in adult or hospital"


def table_options(command: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Options of commands that read a table, or several with the same columns."""
    if several:
        command.add_argument("table", metavar="TABLE", nargs="+", help=TABLE)
    else:
        command.add_argument("table", metavar="TABLE", help=TABLE)
    group = command.add_argument_group("the table")
    group.add_argument("--qi", metavar="A,B,...", help="quasi-identifier columns: what others know about a person")
    group.add_argument("--sa", metavar="S,...", help="the sensitive column; of several, each combination is a value")
    group.add_argument("--rows", type=int, metavar="N", help="use the first N rows only")
    group.add_argument(
        "--missing", choices=["drop", "error"], default="error",
        help="rows with missing cells in these columns: leave them out and say how many, or stop (error)",
    )  # fmt: skip
    group = command.add_argument_group("Anatomy: buckets that are made of the table")
    group.add_argument("--l", type=int, help="records, and different sensitive values, a bucket")
    group.add_argument("--exempt", type=int, metavar="N", help="the N most frequent values may repeat in a bucket (0)")
    group.add_argument("--seed", type=int, default=0, help="which records go together is random: the seed (0)")


def release_options(command: argparse.ArgumentParser) -> None:
    """Options of commands that take a release, or make one of a table."""
    group = command.add_argument_group("what is published", "The table is published already, in one of these forms:")
    group.add_argument("--bucket", metavar="B", help="column of the published buckets")
    group.add_argument(
        "--sa-table", metavar="CSV", action="append", help="TABLE holds QI and bucket only; sensitive values are here"
    )
    group.add_argument("--count", metavar="N", help="column that says how many people a row stands for")
    group.add_argument("--generalized", action="store_true", help="cells are 20-29, [20, 30), {a, b}, 130** or *")
    group.add_argument(
        "--hierarchy", metavar="A=CSV", action="append", type=named_file,
        help="what cells of A stand for: values in the first column, what they are generalised to in the others; as "
        "ARX writes it (repeatable)",
    )  # fmt: skip
    group.add_argument(
        "--population", metavar="CSV", help="exact QI of everybody who may be meant, such as a voter list"
    )
    group.add_argument("--id", metavar="I", help="column of pseudonyms, which link the releases of a series")
    group.add_argument(
        "--counterfeits", action="store_true", help="buckets may hold more values than people (m-invariance)"
    )


def formula_option(command: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add the option of commands that write labels of the data into CSV files."""
    command.add_argument(
        "--escape-formulas", action="store_true",
        help="put an apostrophe before texts that begin with =, +, -, @, a tab or a line break, so that no spreadsheet "
        "runs them as formulas",
    )  # fmt: skip


def judging_options(command: argparse.ArgumentParser) -> None:
    """Options of commands that say who is exposed."""
    group = command.add_argument_group(
        "the verdict",
        "Somebody is exposed if a sensitive value is inferred with at least the threshold's probability, and has less "
        "by the baseline.",
    )
    group.add_argument("--threshold", type=share, default=0.8, metavar="P", help="the probability (0.8)")
    group.add_argument(
        "--sensitive", action="append", metavar="VALUE",
        help="a value that must not be inferred (repeatable; all); of several sensitive columns: S,T",
    )  # fmt: skip
    group.add_argument(
        "--baseline", metavar="WHAT",
        help="what an inference is compared with: overall, the share of each value in the release (the default, where "
        "it is published); none; or a CSV file of values with their P, or of QI with a column a value",
    )  # fmt: skip
    group.add_argument(
        "--within", metavar="R",
        help="values that are numbers or dates count as inferred to within R: 500, '30 days'; 0 is equal values only "
        "(a twentieth of their range); of other values a hierarchy, FILE.csv, whose nodes count as well",
    )  # fmt: skip
    group.add_argument(
        "--fail-above", type=limit, metavar="P",
        help="end with exit status 1 if somebody is exposed with a probability above P, and say what would help; with "
        "4 if nobody is, but the values cannot be judged as they are (--within)",
    )  # fmt: skip
    group.add_argument(
        "--population-size", type=int, metavar="N",
        help="people of whom the records are a random sample, for the risk of re-identification",
    )  # fmt: skip
