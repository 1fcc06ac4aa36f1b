"""``maxent-cvx quantify``: what an adversary infers from a table."""

from __future__ import annotations

import argparse
from typing import Any

from ..parsing import Commands, counts
from .tables import formula_option, judging_options, release_options, table_options

__all__ = ["add", "knowledge_options", "rule_options"]

DESCRIPTION = """\
Prints P(sensitive value | QI), inferred from what is published and from what is known (--know, --knowledge), and who \
is exposed by that. With --top it prints the paper's (bound, score) for adversaries who know the K strongest \
associations.

TABLE is a table of people, of which Anatomy makes buckets (--l) unless it is a release already: with --bucket, \
--sa-table, or --generalized. Several TABLEs with --id are a series of releases. A file of association rules, as \
'publish --method rules' writes it, is recognised by its first line."""

EXAMPLE = """\
maxent-cvx quantify people.csv --qi age,sex --sa disease --l 3 --know 'P(flu | sex=m) = 0.3' --fail-above 0.5
cat people.csv | maxent-cvx quantify - --qi age,sex --sa disease --bucket ward --json | python -m json.tool
maxent-cvx quantify open.csv --generalized --hierarchy age=age.csv --qi age,sex --sa disease"""


def add(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "quantify", help="what an adversary infers from what is published", description=DESCRIPTION, example=EXAMPLE,
        usage="%(prog)s [options] TABLE [MORE ...]",
    )  # fmt: skip
    table_options(command)
    command.add_argument(
        "more", nargs="*", default=[], metavar="MORE", help="further releases of a series, or Parquet files"
    )
    release_options(command)
    known = knowledge_options(command)
    known.add_argument(
        "--top", type=counts, metavar="K,K,...", help="score Top-K associations: K+, K- and half of each"
    )
    known.add_argument("--min-support", type=int, default=3, metavar="N", help="records behind an association (3)")
    judging_options(command)
    rule_options(command)
    _output_options(command)
    command.set_defaults(command="quantify:run")


def knowledge_options(command: argparse.ArgumentParser) -> Any:
    """Options that say what is known besides what is published; gives the group, for more of them."""
    group = command.add_argument_group("what is known besides")
    group.add_argument(
        "--know", action="append", default=[], metavar="TEXT",
        help="a statement, e.g. 'P(Flu | Gender=male) <= 0.3' (repeatable)",
    )  # fmt: skip
    group.add_argument("--knowledge", metavar="FILE", help="a text file of such statements, one a line")
    group.add_argument("--people", metavar="CSV", help="people known by name: names first, then the QI columns")
    return group


def rule_options(command: argparse.ArgumentParser) -> None:
    """Options of commands that read a file of association rules."""
    group = command.add_argument_group("association rules", "TABLE is a file of rules, and nothing else is published:")
    group.add_argument("--qi-table", metavar="CSV", help="everybody's quasi-identifiers, a row a person")
    group.add_argument("--values", metavar="V,W,...", help="the values that the sensitive column can have")
    group.add_argument(
        "--distribution", metavar="CSV", help="how many people, or which share, have each value: value, number"
    )
    group.add_argument("--scores", metavar="S,...", help="scores that are published, too: confidence, support or both")
    group.add_argument("--decimals", type=int, metavar="N", help="to how many decimals scores are printed")


def _output_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("the answer")
    group.add_argument("--solver", default="auto", metavar="S", help="a name that 'maxent-cvx solvers' lists (auto)")
    group.add_argument(
        "--json", action="store_true",
        help="print one JSON document, and nothing else: release, knowledge, certificate, exposure, worst_disclosure, "
        "fail_above, versions, status; its keys are in the reference's page on the command line",
    )  # fmt: skip
    group.add_argument(
        "--out", metavar="FILE",
        help="write P(s | q), with --people P(s | person), with --top the scores: .csv, or - for standard output; the "
        "posterior: .parquet; of Parquet files P(q, s, b): a folder",
    )  # fmt: skip
    formula_option(group)
    group.add_argument("--plot", metavar="FILE", help="draw what is printed: .png, .pdf or .svg")
    group.add_argument("--report", metavar="FILE", help="write a report for somebody who decides: .html")
    group.add_argument("--cluster", metavar="ADDRESS", help="Parquet files: the scheduler of a Dask cluster, tcp://...")
    group.add_argument("--workers", type=int, metavar="N", help="Parquet files: N processes, by Dask; else threads")
