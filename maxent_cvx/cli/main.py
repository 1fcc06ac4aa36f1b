"""The command line: parser, dispatch and exit statuses of ``maxent-cvx``."""

from __future__ import annotations

import argparse
import os
import pkgutil
import platform
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn, TypeAlias

from .._utils.errors import Infeasible, MaxEntError
from .streams import (
    CONTRADICTORY,
    DEFECT,
    INTERRUPTED,
    NO_READER,
    UNUSABLE,
    ForPeople,
    Output,
    Unwritable,
    check_inputs_kept,
    check_streams,
    discard,
    in_options,
    redirect_messages,
)

__all__ = [
    "main",
]

# The parser of the command line.
#
# It is argparse's. With click, the best known other one, every option is a parameter of a function, which would have
# thirty, while the functions that commands share need them as one object all the same. What click has and argparse has
# not, a dash for a standard stream and a quiet end when the reader of a pipe is gone, is a few lines in :mod:`.streams`
# and :mod:`.main`. So click would make this room no smaller, and ``--help`` slower.


class _Layout(argparse.HelpFormatter):
    """Paragraphs are filled, and lines that begin with a space, such as examples, are left as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = (
            part if part.startswith(" ") else super(_Layout, self)._fill_text(part, width, indent)
            for part in text.split("\n")
        )
        return "\n".join(paragraphs)


class UsageError(Exception):
    """The options cannot be read."""


def is_json(arguments: Sequence[str]) -> bool:
    """Whether --json is given, possibly abbreviated, also where the options cannot be read."""
    return any(len(one) > 2 and "--json".startswith(one) for one in arguments)


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line, and ends its help with an example."""

    def __init__(self, *arguments: Any, example: str | None = None, **settings: Any) -> None:
        if example is not None:
            settings["epilog"] = "For example:\n" + "\n".join(f"  {line}" for line in example.split("\n"))
        super().__init__(*arguments, **settings)
        self.formatter_class = _Layout

    def _print_message(self, message: str, file: Any = None) -> None:  # of argparse, which drops errors of writing
        """Print help."""
        Output(file or sys.stdout).write(message)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and where to find help."""
        raise UsageError(f"{message} (see {self.prog} --help)")


#: What commands are added to.
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


class Version(argparse.Action):
    """Print which versions answer, and end; they are looked up only when they are asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print them."""
        from importlib.metadata import version

        print(f"maxent-cvx {version('maxent-cvx')} (Python {platform.python_version()})")
        parser.exit()


def counts(text: str) -> list[int]:
    """Read a list of counts."""
    if not all(part.strip().isdigit() for part in text.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of counts such as 0,10,50")
    return [int(part) for part in text.split(",")]


def whole(text: str) -> int:
    """Read a number of something."""
    if not text.strip().isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return int(text)


def share(text: str) -> float:
    """Read a probability."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a probability; write 0.3 for 30%")
    return found


def limit(text: str) -> float:
    """Read a probability that something can be above."""
    if (found := share(text)) == 1:
        raise argparse.ArgumentTypeError("nothing is above a probability of 1; give less")
    if found == 0:
        raise argparse.ArgumentTypeError("every value that somebody has is above 0 anyway; give more")
    return found


def named_file(text: str) -> tuple[str, str]:
    """Read ATTRIBUTE=FILE."""
    name, equals, path = text.partition("=")
    if not equals or not name.strip() or not path.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not ATTRIBUTE=FILE, such as age=age.csv")
    return name.strip(), path.strip()


def told(text: str) -> tuple[str, str]:
    """Read WHAT=TEXT: something that readers are told."""
    what, equals, said = text.partition("=")
    if not equals or not what.strip() or not said.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not WHAT=TEXT, such as 'source=ward 3, 2024'")
    return what.strip(), said.strip()


def pair(text: str) -> tuple[float, int]:
    """Read P,K: a probability and a number of statements."""
    probability, comma, number = text.partition(",")
    if not comma or not number.strip().isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not P,K, a probability and a number, such as 0.5,1")
    return share(probability), int(number)


# Options that commands share: the table, the release that it is or becomes, and how it is judged.


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


# ``maxent-cvx attack``: what can be inferred without knowing anybody's sensitive value.


def add_attack(commands: Commands) -> None:
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


# ``maxent-cvx compare``: one model with every solver.


def add_compare(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "compare",
        help="what every solver makes of one model, how precisely, and how fast",
        description="Solve one model with every solver: a release, and an adversary who knows strong associations.",
        example="maxent-cvx compare adult --rows 2000 --known 100 --solvers DUAL_NEWTON,CLARABEL --plot errors.png",
    )
    table_options(command)
    command.add_argument(
        "--bucket", metavar="B", help="column of the published buckets; without it, Anatomy makes them (--l)"
    )
    command.add_argument(
        "--known", type=whole, default=0, metavar="K", help="associations known, half of each kind (0)"
    )
    command.add_argument("--min-support", type=int, default=3, metavar="N", help="records behind an association (3)")
    command.add_argument("--solvers", metavar="A,B,...", help="names that 'maxent-cvx solvers' lists (all installed)")
    command.add_argument("--no-presolve", action="store_true", help="give them the problem as posed")
    command.add_argument("--json", action="store_true", help="print the table as one JSON document, and nothing else")
    command.add_argument("--out", metavar="FILE", help="write the table: .csv, or - for standard output")
    command.add_argument("--plot", metavar="FILE", help="draw errors against seconds: .png, .pdf or .svg")
    command.set_defaults(command="solvers:compare_command")


# ``maxent-cvx demo``: the hospital example of the paper.


def add_demo(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "demo",
        help="the hospital example of the paper, as a story",
        description="Tells what is inferred from ten patients in three buckets, as more and more is known.",
        example="maxent-cvx demo",
    )
    command.set_defaults(command="demo:run")


# ``maxent-cvx publish``: disguise a table, and write what is published.


PUBLISH_DESCRIPTION = """\
Disguises a table of people, writes what is published of it, and prints the command that reads it back and says what \
it discloses. Rows of what is written are in an order that tells nothing.

  anatomy          buckets of l people with l different values: NAME_qi.csv and NAME_sa.csv, which share the bucket only
  mondrian         groups of k people with the same generalised quasi-identifiers: NAME.csv, or - for standard output
  republish        a changed table of people who were partly published before (--before), as two tables again
  similar-linkage  buckets in which nobody's value is surer than 1/r for somebody who knows a --prior: two tables
  rules            association rules alone: NAME_rules.csv, and the people's quasi-identifiers in NAME_qi.csv"""

PUBLISH_EXAMPLE = """\
maxent-cvx publish people.csv --qi age,sex --sa disease --l 3 --out open
maxent-cvx publish people.csv --qi age,sex --sa disease --method mondrian --k 5 --l 2 --out - > open.csv
maxent-cvx publish now.csv --qi age --sa disease --id person --method republish --strategy m_invariant --l 3 \\
    --before open_qi.csv --before-sa open_sa.csv --bucket Bucket --before-count Count --out again"""

METHODS = ["anatomy", "mondrian", "republish", "similar-linkage", "rules"]


def add_publish(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "publish", help="disguise a table, and write what is published", description=PUBLISH_DESCRIPTION, example=PUBLISH_EXAMPLE,
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


# ``maxent-cvx quantify``: what an adversary infers from a table.


QUANTIFY_DESCRIPTION = """\
Prints P(sensitive value | QI), inferred from what is published and from what is known (--know, --knowledge), and who \
is exposed by that. With --top it prints the paper's (bound, score) for adversaries who know the K strongest \
associations.

TABLE is a table of people, of which Anatomy makes buckets (--l) unless it is a release already: with --bucket, \
--sa-table, or --generalized. Several TABLEs with --id are a series of releases. A file of association rules, as \
'publish --method rules' writes it, is recognised by its first line."""

QUANTIFY_EXAMPLE = """\
maxent-cvx quantify people.csv --qi age,sex --sa disease --l 3 --know 'P(flu | sex=m) = 0.3' --fail-above 0.5
cat people.csv | maxent-cvx quantify - --qi age,sex --sa disease --bucket ward --json | python -m json.tool
maxent-cvx quantify open.csv --generalized --hierarchy age=age.csv --qi age,sex --sa disease"""


def add_quantify(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "quantify", help="what an adversary infers from what is published", description=QUANTIFY_DESCRIPTION,
        example=QUANTIFY_EXAMPLE, usage="%(prog)s [options] TABLE [MORE ...]",
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
    command.set_defaults(command="quantify:quantify_command")


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


# ``maxent-cvx report``: what a release discloses, as one page for somebody who decides whether to publish it.


REPORT_DESCRIPTION = """\
Writes one page of HTML, with everything in it: how many people are exposed, what to change, who they are, what is \
certain and why, what is published and known, how exact the numbers are, and a glossary. With --fail-above that is its \
threshold.

TABLE is what quantify takes. Several TABLEs with --id are a series of releases; without it they are shown side by \
side."""

EXAMPLE = """\
maxent-cvx report people.csv --qi age,sex --sa disease --l 3 --know 'P(flu | sex=m) = 0.3' --out report.html
maxent-cvx report draft.csv final.csv --qi age,sex --sa disease --bucket ward --attack worst-case"""


def add_report(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "report",
        help="a page for somebody who decides whether to publish",
        description=REPORT_DESCRIPTION,
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
    command.set_defaults(command="quantify:report_command")


# ``maxent-cvx solvers``: what can be asked for by name.


def add(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "solvers",
        help="list the solvers, for --solver",
        description="Lists the solvers, and which are installed; the first one is taken unless --solver says another.",
        example="maxent-cvx solvers",
    )
    command.set_defaults(command="solvers:list_solvers")


DESCRIPTION = """\
What can be inferred about people from what is published, and from what else is known?

Exit status: 0; 1 if somebody is exposed above --fail-above; 2 if there is no answer, such as for bad input; \
3 if what is known contradicts what is published."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; an error is one line on standard error."""
    if sys.stderr is None:  # closed; print() would take standard output instead
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        _say("error: standard output is closed; redirect it to a file, or to /dev/null")
        return UNUSABLE
    try:
        try:
            return _run(sys.argv[1:] if arguments is None else [*arguments])
        finally:  # of --help, too, which ends the program
            Output(sys.stdout).flush()
    except BrokenPipeError:
        discard(sys.stdout)
        return NO_READER
    except Unwritable as error:
        discard(sys.stdout)
        _say(f"error: {error}")
        return UNUSABLE


def _run(arguments: Sequence[str]) -> int:
    """Run a command; what ends it without an answer is a document, too, if that is what was asked for."""
    options = argparse.Namespace(json=is_json(arguments), table=[])
    try:
        options = parser().parse_args(arguments)
        check_streams(options)
        check_inputs_kept(options)
        with redirect_messages(options), warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: _say(f"warning: {in_options(str(message), options)}")
            command = pkgutil.resolve_name(f"{__package__}.{options.command}")  # which loads what the command needs
            return command(options) or 0
    except (BrokenPipeError, Unwritable):
        raise
    except UsageError as error:
        return _failed(options, error, str(error), UNUSABLE)
    except (MaxEntError, OSError) as error:
        status = CONTRADICTORY if isinstance(error, Infeasible) else UNUSABLE
        is_gone = isinstance(error, FileNotFoundError) and error.filename is not None
        said = f"there is no file {error.filename!r}" if is_gone else str(error)  # type: ignore[union-attr]
        return _failed(options, error, in_options(" ".join(said.split()), options), status)
    except UnicodeEncodeError as error:
        why = f"standard output is in {error.encoding}, which lacks some characters; set PYTHONIOENCODING=utf-8"
        return _failed(options, error, why, UNUSABLE)
    except KeyboardInterrupt as error:
        return _failed(options, error, "interrupted", INTERRUPTED, "interrupted")
    except Exception as error:  # a defect of this program; its status must not be that of somebody who is exposed
        _print_error(traceback.format_exc())
        return _failed(options, error, f"a defect of this program, {type(error).__name__}; please report it", DEFECT)


def _failed(
    options: argparse.Namespace, error: BaseException, message: str, status: int, line: str | None = None
) -> int:
    """Say why there is no answer, on standard error and in the document; the status is returned."""
    _say(line or f"error: {message}")
    if getattr(options, "json", False):
        from .output import failure  # which needs a table

        failure(options, error, message, status)
    return status


def _say(message: str) -> None:
    """Print a line on standard error."""
    _print_error(f"maxent-cvx: {' '.join(message.split())}\n")


def _print_error(text: str) -> None:
    """Print on standard error; if that cannot be written, the exit status has to be enough."""
    try:
        print(text, end="", file=ForPeople(sys.stderr), flush=True)
    except (BrokenPipeError, Unwritable):
        discard(sys.stderr)


def parser() -> Parser:
    """Describe the commands, in the order in which help lists them."""
    example = "maxent-cvx demo\nmaxent-cvx quantify people.csv --qi age,sex --sa disease --l 3 --fail-above 0.5"
    top = Parser(prog="maxent-cvx", description=DESCRIPTION, example=example)
    top.add_argument("--version", action=Version, nargs=0, help="print the version, and end")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for add_command in (add_demo, add_quantify, add_report, add_publish, add_attack, add_compare, add):
        add_command(commands)
    return top
