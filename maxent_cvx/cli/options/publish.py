"""``maxent-cvx publish``: disguise a table, and write what is published."""

from __future__ import annotations

import argparse

from ..parsing import Commands, pair
from .tables import formula_option, table_options

__all__ = ["add"]

DESCRIPTION = """\
Disguises a table of people, writes what is published of it, and prints the command that reads it back and says what \
it discloses. Rows of what is written are in an order that tells nothing.

  anatomy          buckets of l people with l different values: NAME_qi.csv and NAME_sa.csv, which share the bucket only
  mondrian         groups of k people with the same generalised quasi-identifiers: NAME.csv, or - for standard output
  republish        a changed table of people who were partly published before (--before), as two tables again
  similar-linkage  buckets in which nobody's value is surer than 1/r for somebody who knows a --prior: two tables
  rules            association rules alone: NAME_rules.csv, and the people's quasi-identifiers in NAME_qi.csv"""

EXAMPLE = """\
maxent-cvx publish people.csv --qi age,sex --sa disease --l 3 --out open
maxent-cvx publish people.csv --qi age,sex --sa disease --method mondrian --k 5 --l 2 --out - > open.csv
maxent-cvx publish now.csv --qi age --sa disease --id person --method republish --strategy m_invariant --l 3 \\
    --before open_qi.csv --before-sa open_sa.csv --bucket Bucket --before-count Count --out again"""

METHODS = ["anatomy", "mondrian", "republish", "similar-linkage", "rules"]


def add(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "publish", help="disguise a table, and write what is published", description=DESCRIPTION, example=EXAMPLE,
        usage="%(prog)s [options] TABLE",
    )  # fmt: skip
    table_options(command)
    command.add_argument("--method", choices=METHODS, default="anatomy", help="how (anatomy)")
    command.add_argument(
        "--out", metavar="NAME", default="published", help="what names of files begin with (published)"
    )
    formula_option(command)
    command.add_argument("--id", metavar="I", help="column of pseudonyms to be published: anatomy, mondrian, republish")
    command.add_argument(
        "--safe", type=pair, metavar="C,K",
        help="anatomy, mondrian: after any K implications that an adversary knows, nobody's value has a probability of "
        "C or more; mondrian: not against an adversary who also knows the algorithm",
    )  # fmt: skip
    command.add_argument("--count", metavar="N", help="column that says how many people a row of TABLE stands for")
    group = command.add_argument_group("mondrian (and --l, different values of a group)")
    group.add_argument("--k", type=int, help="people of a group, at least")
    _republish(command)
    _similar_linkage(command)
    group = command.add_argument_group("rules")
    group.add_argument(
        "--support", type=float, metavar="P", help="share of all records that a rule holds for, at least"
    )
    group.add_argument("--confidence", type=float, metavar="P", help="share of those it speaks of, at least")
    group.add_argument("--attributes", type=int, metavar="N", help="quasi-identifiers that a rule may set (any)")
    command.set_defaults(command="publish:run")


def _republish(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("republish (and --id, --l)")
    group.add_argument(
        "--before", metavar="CSV", help="what was published before: people with pseudonym, QI and bucket"
    )
    group.add_argument("--before-sa", metavar="CSV", help="and its sensitive values by bucket")
    group.add_argument("--bucket", metavar="B", help="the column of the buckets in both")
    group.add_argument("--before-count", metavar="N", help="the column of counts in --before-sa")
    group.add_argument(
        "--strategy", choices=["independent", "history_guided", "m_invariant"], default="independent",
        help="independent: anew; history_guided: people stay in their buckets; m_invariant: and buckets keep their "
        "values, by counterfeits if need be (independent)",
    )  # fmt: skip


def _similar_linkage(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("similar-linkage (and --exempt, --seed)")
    group.add_argument("--r", type=float, help="nobody's value is to be surer than 1/R")
    group.add_argument(
        "--prior", metavar="CSV",
        help="what somebody knows: columns of quasi-identifiers, and one for each sensitive value with its P; without "
        "it the shares in the table itself, one record added to each (--smoothing)",
    )  # fmt: skip
    group.add_argument("--smoothing", type=float, default=1.0, metavar="N", help="records added to each value (1)")
    group.add_argument(
        "--condition",
        choices=["sound", "exact", "delta"],
        default="sound",
        help="how groups are known to be safe (sound)",
    )
    group.add_argument("--suppress", type=int, default=0, metavar="N", help="records that may be left out (0)")
