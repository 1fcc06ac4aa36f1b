"""``maxent-cvx attack``: what can be inferred without knowing anybody's sensitive value."""

from __future__ import annotations

import argparse

from ..parsing import Commands, counts
from .tables import formula_option, release_options, table_options

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Describe the command, and the attacks that it knows."""
    command = commands.add_parser(
        "attack",
        help="what can be inferred without knowing anybody's sensitive value",
        description="Attacks that need nobody's sensitive value; 'maxent-cvx attack ATTACK --help' explains each.",
        example="maxent-cvx attack worst-case before.csv after.csv --qi age,sex --sa disease --bucket ward --k 0,1,2",
    )
    methods = command.add_subparsers(required=True, metavar="ATTACK")

    worst = methods.add_parser(
        "worst-case",
        help="the most that k pieces of knowledge can disclose",
        description="The largest P(somebody has a value) after any k implications, of several releases side by side. "
        "All assignments of a bucket's values are equally likely before; a prior may disclose more.",
        example="maxent-cvx attack worst-case a.csv b.csv --qi age,sex --sa disease --bucket ward --sensitive HIV",
    )
    table_options(worst, several=True)
    release_options(worst)
    worst.add_argument("--k", type=counts, default=[0, 1, 2, 3], metavar="K,K,...", help="pieces known (0,1,2,3)")
    worst.add_argument(
        "--sensitive",
        action="append",
        metavar="VALUE",
        help="a value that must not be inferred (all); of several columns: S,T",
    )
    _outputs(worst, "disclosure against k")
    worst.set_defaults(command="attack:worst_case")

    learnt = methods.add_parser(
        "definetti",
        help="guess everybody's value by what all buckets together say",
        description="Who has what, by a model that is learnt from the release and its exact quasi-identifiers.",
        example="maxent-cvx attack definetti people.csv --qi age,sex --sa disease --l 5 --plot sure.png",
    )
    table_options(learnt)
    release_options(learnt)
    learnt.add_argument("--smoothing", type=float, default=1.0, help="records added to each count of naive Bayes (1)")
    learnt.add_argument("--iterations", type=int, default=60, metavar="N", help="at most so many (60)")
    _outputs(learnt, "of how many people the likeliest value is how sure")
    learnt.set_defaults(command="attack:definetti")

    tables = methods.add_parser(
        "reconstruct",
        help="all records that published tables leave possible",
        description="TABLES is a CSV file, a row a statistic: a column for each attribute of the domain (a value, 0-4, "
        "a|b, or nothing for all), and n, mean and median as they are printed; n may be suppressed, as <3.",
        example="maxent-cvx attack reconstruct tables.csv --domain 'age=0-115;sex=F|M' --out people.csv",
    )
    tables.add_argument("tables", metavar="TABLES", help="the CSV file, or - for standard input")
    tables.add_argument(
        "--domain",
        required=True,
        metavar="A=V;...",
        help="what values are possible: 'age=0-125;sex=F|M', or 'degrees=-5-5'",
    )
    tables.add_argument("--of", metavar="A", help="the attribute that means and medians are of (the one of numbers)")
    tables.add_argument("--decimals", type=int, metavar="N", help="what they are rounded to (as the longest of each)")
    tables.add_argument("--limit", type=int, default=10, metavar="N", help="solutions that are listed (10)")
    tables.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="seconds (60)")
    _outputs(tables, "how sure the records are")
    tables.set_defaults(command="attack:reconstruct")


def _outputs(command: argparse.ArgumentParser, drawn: str) -> None:
    command.add_argument(
        "--json", action="store_true", help="print what is found as one JSON document, and nothing else"
    )
    command.add_argument("--out", metavar="FILE", help="write the table that is printed, whole: .csv, or -")
    formula_option(command)
    command.add_argument("--plot", metavar="FILE", help=f"draw {drawn}: .png, .pdf or .svg")
