"""``maxent-cvx quantify``: what an adversary infers from a table."""

from __future__ import annotations

import argparse

from ..parsing import Commands, counts
from .tables import release_options, table_options

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "quantify",
        help="what an adversary infers from a table",
        description="Without --top: P(sensitive value | QI) from the release and what is known (--know, --knowledge), "
        "and what that discloses. With --top: "
        "the paper's (bound, score) for adversaries who know the K strongest associations.",
    )
    table_options(command)
    _partition_options(command)
    release_options(command)
    command.add_argument(
        "--top", type=counts, metavar="K,K,...", help="score Top-K associations: K+, K- and half of each"
    )
    command.add_argument("--min-support", type=int, default=3, metavar="N", help="records behind an association (3)")
    command.add_argument(
        "--know", action="append", default=[], metavar="TEXT", help="what is known, e.g. 'P(Flu | Gender=male) <= 0.3'"
    )
    command.add_argument("--knowledge", metavar="FILE", help="a text file of what is known, a statement a line")
    command.add_argument("--people", metavar="CSV", help="people known by name: names first, then the QI columns")
    command.add_argument("--solver", default="auto", help="a name that 'maxent-cvx solvers' lists")
    command.add_argument(
        "--out",
        metavar="FILE",
        help="write P(s | q), or the scores: .csv; the posterior: .parquet; of Parquet files P(q, s, b): a folder",
    )
    command.add_argument("--plot", metavar="FILE", help="draw what is printed: .png, .pdf or .svg")
    command.set_defaults(command="quantify:run")


def _partition_options(command: argparse.ArgumentParser) -> None:
    """Options for files that are read in partitions."""
    command.add_argument("more", nargs="*", metavar="PARQUET", help="TABLE is a Parquet file, and these follow it")
    command.add_argument("--cluster", metavar="ADDRESS", help="the scheduler of a Dask cluster, tcp://...")
    command.add_argument("--workers", type=int, metavar="N", help="N processes of this machine, by Dask; else threads")
