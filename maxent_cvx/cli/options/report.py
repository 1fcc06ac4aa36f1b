"""``maxent-cvx report``: what a release discloses, as one page for somebody who decides whether to publish it."""

from __future__ import annotations

from ..parsing import Commands, told
from .quantify import knowledge_options, rule_options
from .tables import judging_options, release_options, table_options

__all__ = ["add"]

DESCRIPTION = """\
Writes one page of HTML, with everything in it: how many people are exposed, what to change, who they are, what is \
certain and why, what is published and known, how exact the numbers are, and a glossary. With --fail-above that is its \
threshold.

TABLE is what quantify takes. Several TABLEs with --id are a series of releases; without it they are shown side by \
side."""

EXAMPLE = """\
maxent-cvx report people.csv --qi age,sex --sa disease --l 3 --know 'P(flu | sex=m) = 0.3' --out report.html
maxent-cvx report draft.csv final.csv --qi age,sex --sa disease --bucket ward --attack worst-case"""


def add(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "report",
        help="a page for somebody who decides whether to publish",
        description=DESCRIPTION,
        example=EXAMPLE,
    )
    table_options(command)
    command.add_argument(
        "more", nargs="*", metavar="MORE", help="further releases: side by side, or with --id a series"
    )
    release_options(command)
    knowledge_options(command)
    judging_options(command)
    rule_options(command)
    group = command.add_argument_group("the report")
    group.add_argument("--out", default="report.html", metavar="FILE", help="where to write it, .html (report.html)")
    group.add_argument(
        "--attack", action="append", default=[], choices=["worst-case", "definetti"],
        help="what else can be inferred from what is published (repeatable)",
    )  # fmt: skip
    group.add_argument("--records", action="store_true", help="show original records of people who are exposed")
    group.add_argument(
        "--about", action="append", default=[], type=told, metavar="WHAT=TEXT",
        help="what readers should know of the data, e.g. 'source=ward 3, 2024' (repeatable)",
    )  # fmt: skip
    group.add_argument("--listed", type=int, default=25, metavar="N", help="rows of its tables that are shown (25)")
    group.add_argument("--solver", default="auto", metavar="S", help="a name that 'maxent-cvx solvers' lists (auto)")
    command.set_defaults(command="report:run")
