"""The options of every command: frozen dataclasses, and the parser that makes them, once.

The parser is argparse's. With click every option is a parameter of a function, which would have thirty here, and the
functions that commands share need them as one object anyway.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import io
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeAlias, TypeVar

from .streams import Output

__all__ = [
    "AttackOptions",
    "CompareOptions",
    "ExposureOptions",
    "Options",
    "PublishOptions",
    "QuantifyOptions",
    "ReconstructOptions",
    "ReleaseOptions",
    "ReportOptions",
    "TableOptions",
    "UsageError",
    "format_list",
    "is_json",
    "make_options",
    "parse",
    "with_dataset_defaults",
]

T = TypeVar("T", bound="Options")


@dataclass(frozen=True, kw_only=True)
class Options:
    """What every command has."""

    command: str
    json: bool = False
    out: str | None = None
    plot: str | None = None


@dataclass(frozen=True, kw_only=True)
class TableOptions(Options):
    """A table of people, or several, and how Anatomy makes buckets of it."""

    table: str
    more: tuple[str, ...] = ()
    qi: tuple[str, ...] | None
    sa: tuple[str, ...] | None
    rows: int | None
    missing: str
    sep: str | None
    encoding: str | None
    decimal: str | None
    l: Any
    exempt: int | None
    seed: int
    bucket: Any = None
    id: str | None = None
    count: str | None = None
    safe: tuple[float, int] | None = None
    escape_formulas: bool = False

    @property
    def tables(self) -> tuple[str, ...]:
        """Everything that is read as a table."""
        return self.table, *self.more

    @property
    def is_generalized(self) -> bool:
        """Whether cells stand for several values."""
        return False


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions(TableOptions):
    """A release that exists already, in one of several forms."""

    sa_table: tuple[str, ...] = ()
    generalized: bool = False
    hierarchy: tuple[tuple[str, str], ...] = ()
    population: str | None = None
    counterfeits: bool = False

    @property
    def is_generalized(self) -> bool:
        """Whether cells stand for several values: hierarchies and populations imply it."""
        return self.generalized or bool(self.hierarchy) or self.population is not None


@dataclass(frozen=True, kw_only=True)
class ExposureOptions(ReleaseOptions):
    """What the adversary knows, and who counts as exposed."""

    know: tuple[str, ...] = ()
    knowledge: str | None = None
    people: str | None = None
    original: str | None = None
    threshold: float = 0.8
    sensitive: tuple[str, ...] = ()
    baseline: str | None = None
    within: str | None = None
    fail_above: float | None = None
    population_size: int | None = None
    qi_table: str | None = None
    values: tuple[str, ...] | None = None
    distribution: str | None = None
    scores: tuple[str, ...] | None = None
    decimals: int | None = None
    solver: str = "auto"


@dataclass(frozen=True, kw_only=True)
class QuantifyOptions(ExposureOptions):
    """The options of ``quantify``."""

    top: tuple[int, ...] = ()
    min_support: int = 3
    report: str | None = None
    cluster: str | None = None
    workers: int | None = None


@dataclass(frozen=True, kw_only=True)
class ReportOptions(ExposureOptions):
    """The options of ``report``."""

    attack: tuple[str, ...] = ()
    records: bool = False
    about: tuple[tuple[str, str], ...] = ()
    listed: int = 25
    language: str = "en"


@dataclass(frozen=True, kw_only=True)
class PublishOptions(TableOptions):
    """The options of ``publish``."""

    method: str
    k: Any  # of the method's own options, those that it needs are numbers, the others None
    before: str | None
    before_sa: str | None
    before_count: str | None
    strategy: str
    r: Any
    prior: str | None
    smoothing: float
    condition: str
    suppress: int
    support: Any
    confidence: Any
    attributes: int | None


@dataclass(frozen=True, kw_only=True)
class AttackOptions(ReleaseOptions):
    """The options of ``attack worst-case`` and ``attack definetti``."""

    k: tuple[int, ...] = ()
    sensitive: tuple[str, ...] = ()
    smoothing: float = 1.0
    iterations: int = 60


@dataclass(frozen=True, kw_only=True)
class ReconstructOptions(Options):
    """The options of ``attack reconstruct``."""

    table: str
    domain: str
    of: str | None
    decimals: int | None
    limit: int
    time_limit: float
    escape_formulas: bool

    @property
    def tables(self) -> tuple[str, ...]:
        """The one file that is read."""
        return (self.table,)


@dataclass(frozen=True, kw_only=True)
class CompareOptions(TableOptions):
    """The options of ``compare``."""

    known: int
    min_support: int
    solvers: tuple[str, ...] | None
    no_presolve: bool


#: Defaults of the tables that come with the package; the QI of Adult are those of :data:`maxent_cvx.datasets.ADULT_QI`.
DATASET_DEFAULTS: dict[str, dict[str, Any]] = {
    "adult": {"sa": ("education",), "rows": 14_210, "l": 5, "exempt": 2, "top": (0, 10, 50, 100, 200, 500)},
    "hospital": {"qi": ("Gender", "Degree"), "sa": ("Disease",), "bucket": "Bucket"},
}  # fmt: skip
#: A default is not used where one of these options is given: whoever asks for Anatomy (--l) does not want the table's
#: own buckets, and whoever asks for a verdict does not want scores.
INSTEAD = {
    "bucket": ("l", "generalized", "hierarchy", "population"),
    "l": ("bucket", "generalized", "hierarchy", "population"),
    "exempt": ("bucket",),
    "top": (
        "bucket", "json", "know", "knowledge", "people", "fail_above", "sensitive", "baseline", "within", "report",
        "id", "qi_table",
    ),
}  # fmt: skip


def with_dataset_defaults(options: T) -> T:
    """The options of one table, with the defaults of a built-in one in the place of what is not given."""
    if not isinstance(options, TableOptions) or options.more:
        return options
    known = DATASET_DEFAULTS.get(options.table, {})
    if options.table == "adult":
        from ..datasets.load import ADULT_QI  # which loads pandas

        known = known | {"qi": ADULT_QI}
    # Of values that are falsy, 0 is one that was given, and so are no quasi-identifiers: --qi ''.
    present = {
        name
        for name, value in vars(options).items()
        if value is not None and value is not False and (value != () or name in ("qi", "sa"))
    }
    defaults = {
        name: value
        for name, value in known.items()
        if name in vars(options) and name not in present and not present & {*INSTEAD.get(name, ())}
    }
    return replace(options, **defaults)


# ------------------------------------------------------------------------------------------------------- the parser itself


class UsageError(Exception):
    """The options cannot be read."""


class _Layout(argparse.HelpFormatter):
    """Fills paragraphs, and leaves lines that begin with a space, such as examples, as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = (
            part if part.startswith(" ") else super(_Layout, self)._fill_text(part, width, indent)
            for part in text.split("\n")
        )
        return "\n".join(paragraphs)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and whose help ends with an example."""

    def __init__(self, *arguments: Any, example: str | None = None, **settings: Any) -> None:
        if example is not None:
            settings["epilog"] = "Example:\n" + "\n".join(f"  {line}" for line in example.split("\n"))
        super().__init__(*arguments, **settings)
        self.formatter_class = _Layout

    def _print_message(self, message: str, file: Any = None) -> None:  # argparse ignores errors of writing
        Output(file or sys.stdout).write(message)

    def error(self, message: str) -> NoReturn:
        """Raise an error that says where to find help."""
        raise UsageError(f"{message} (see {self.prog} --help)")


#: What commands are added to.
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
Command: TypeAlias = "argparse.ArgumentParser | argparse._ArgumentGroup"


class Version(argparse.Action):
    """Print the version, which is looked up only when it is asked for, and exit."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print it."""
        from importlib.metadata import version

        print(f"maxent-cvx {version('maxent-cvx')} (Python {platform.python_version()})")
        parser.exit()


def is_json(arguments: Sequence[str]) -> bool:
    """Whether --json is given, possibly abbreviated, even if the options cannot be read."""
    return any(len(argument) > 2 and "--json".startswith(argument) for argument in arguments)


def parse(arguments: Sequence[str]) -> Options:
    """Parse the arguments of the command line into the options of a command."""
    return make_options(parser().parse_args(arguments))


def make_options(namespace: argparse.Namespace) -> Options:
    """Freeze what argparse has read, with the defaults of built-in tables."""
    cls: type[Options] = namespace.options
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in vars(namespace).items()
    }
    if isinstance(tables := values.get("table"), tuple):  # several of them
        values |= {"table": tables[0], "more": tables[1:]}
    names = {field.name for field in dataclasses.fields(cls)}
    fields_read: dict[str, Any] = {name: value for name, value in values.items() if name in names}
    repeatable = {
        name
        for name in fields_read
        if fields_read[name] is None and name in ("sensitive", "sa_table", "hierarchy", "top")
    }
    fields_read |= dict.fromkeys(repeatable, ())
    options = cls(**fields_read)
    # publish refuses options that its method does not use, so it must see which ones the user has given.
    return options if cls is PublishOptions else with_dataset_defaults(options)


def names(text: str) -> list[str]:
    """Read names separated by commas, in quotes where they contain one; none of an empty text."""
    if not text.strip():
        return []
    try:
        (cells,) = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    except (csv.Error, ValueError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of names such as age,sex; put names with line breaks in quotes"
        ) from None
    return [name.strip() for name in cells]


def format_list(items: Sequence[str]) -> str:
    """Write names separated by commas, in quotes where they contain one."""
    text = io.StringIO()
    csv.writer(text).writerow(items)
    return text.getvalue().removesuffix("\r\n")


def counts(text: str) -> list[int]:
    """Read a list of numbers."""
    if not all(part.strip().isdigit() for part in text.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers such as 0,10,50")
    return [int(part) for part in text.split(",")]


def natural(text: str) -> int:
    """Read an integer of at least 0."""
    if not text.strip().isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer of at least 0")
    return int(text)


def share(text: str) -> float:
    """Read a probability."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a probability; write 0.3 for 30%")
    return number


def limit(text: str) -> float:
    """Read a probability that another one can exceed."""
    number = share(text)
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"the limit must be above 0 and below 1, got {text}")
    return number


def pair_of_texts(example: str) -> Callable[[str], tuple[str, str]]:
    """A reader of NAME=TEXT."""

    def read(text: str) -> tuple[str, str]:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise argparse.ArgumentTypeError(f"{text!r} must have the form {example}")
        return name.strip(), value.strip()

    return read


def separator(text: str) -> str:
    """Read the sign between cells; a tab may be written as a word or escaped."""
    sign = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(sign) != 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a separator; give one sign, such as ';' or tab")
    return sign


def safety(text: str) -> tuple[float, int]:
    """Read C,K: a probability and a number of implications."""
    probability, comma, number = text.partition(",")
    if not comma or not number.strip().isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a probability and a number, such as 0.5,1")
    return share(probability), int(number)


def parser() -> Parser:
    """The parser of all commands, in the order in which help lists them."""
    example = "maxent-cvx demo\nmaxent-cvx quantify people.csv --qi age,sex --sa disease --l 3 --fail-above 0.5"
    top = Parser(prog="maxent-cvx", description=DESCRIPTION, example=example)
    top.add_argument("--version", action=Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for add_command in (_add_demo, _add_quantify, _add_report, _add_publish, _add_attack, _add_compare, _add_solvers):
        add_command(commands)
    return top


DESCRIPTION = """\
What can an adversary infer about people from published data plus background knowledge?

Exit status: 0; 1 if somebody is exposed above --fail-above; 2 if there is no answer, for example because of bad input; \
3 if the knowledge contradicts the published data; 4 if --fail-above cannot be decided (see --within)."""


# ------------------------------------------------------------------------------------------ options that commands share


#: What a TABLE can be.
TABLE = "a CSV, .xlsx or .parquet file with a header, - for standard input, or the built-in adult or hospital"


def _table_options(command: argparse.ArgumentParser, *, several: bool = False) -> None:
    if several:
        command.add_argument("table", metavar="TABLE", nargs="+", help=TABLE)
    else:
        command.add_argument("table", metavar="TABLE", help=TABLE)
    group = command.add_argument_group("the table")
    group.add_argument(
        "--qi",
        metavar="A,B,...",
        type=names,
        help="quasi-identifier columns: what others know about a person (proposed, if it is not given)",
    )
    group.add_argument(
        "--sa", metavar="S,...", type=names, help="the sensitive column; of several, each combination is a value"
    )
    group.add_argument("--rows", type=int, metavar="N", help="use the first N rows only")
    group.add_argument(
        "--sep", type=separator, metavar="SIGN", help="what separates the cells: ',', ';', tab or '|' (detected)"
    )
    group.add_argument("--encoding", metavar="NAME", help="the encoding, such as utf-8 or cp1252 (detected)")
    group.add_argument("--decimal", choices=[".", ","], help="the decimal sign (detected)")
    group.add_argument(
        "--missing", choices=["drop", "error"], default="error",
        help="rows with missing cells in these columns: drop them and report how many, or stop (error)",
    )  # fmt: skip
    group = command.add_argument_group("Anatomy", "Without --l and --bucket, people with equal --qi are a group.")
    group.add_argument("--l", type=int, help="records, and distinct sensitive values, per bucket")
    group.add_argument("--exempt", type=int, metavar="N", help="the N most frequent values may repeat in a bucket (0)")
    group.add_argument("--seed", type=int, default=0, help="random seed of the assignment of records to buckets (0)")


def _release_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("the release", "If the table is a release already, in one of these forms:")
    group.add_argument("--bucket", metavar="B", help="column of the published buckets")
    group.add_argument(
        "--sa-table", metavar="FILE", action="append", help="the sensitive values, if TABLE has only QI and bucket"
    )
    group.add_argument("--count", metavar="N", help="column with the number of people that a row stands for")
    group.add_argument("--generalized", action="store_true", help="cells are 20-29, [20, 30), {a, b}, 130** or *")
    group.add_argument(
        "--hierarchy", metavar="A=CSV", action="append", type=pair_of_texts("ATTRIBUTE=FILE, such as age=age.csv"),
        help="generalization hierarchy of A, as written by ARX: values in the first column, their generalizations in "
        "the others (repeatable)",
    )  # fmt: skip
    group.add_argument(
        "--population", metavar="FILE", help="exact QI of everybody who may be in the release, such as a voter list"
    )
    group.add_argument("--id", metavar="I", help="column of pseudonyms, which link the releases of a series")
    group.add_argument(
        "--counterfeits", action="store_true", help="buckets may contain more values than people (m-invariance)"
    )


def _formula_option(command: Command) -> None:
    command.add_argument(
        "--escape-formulas", action="store_true",
        help="put an apostrophe before texts that begin with =, +, -, @, a tab or a line break, so that spreadsheets "
        "do not run them as formulas",
    )  # fmt: skip


def _knowledge_options(command: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    group = command.add_argument_group("background knowledge")
    group.add_argument(
        "--know", action="append", default=[], metavar="TEXT",
        help="a statement, e.g. 'P(Flu | Gender=male) <= 0.3' (repeatable)",
    )  # fmt: skip
    group.add_argument("--knowledge", metavar="FILE", help="a text file with one statement per line")
    group.add_argument("--people", metavar="FILE", help="people known by name: names first, then the QI columns")
    return group


def _exposure_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group(
        "exposure",
        "A person is exposed if a sensitive value is inferred with at least the threshold's probability, while its "
        "baseline probability is below the threshold.",
    )
    group.add_argument("--threshold", type=share, default=0.8, metavar="P", help="the threshold (0.8)")
    group.add_argument(
        "--original", metavar="FILE",
        help="the original records, if TABLE is only what is published: how often the likeliest value is the true one",
    )  # fmt: skip
    group.add_argument(
        "--sensitive", action="append", metavar="VALUE",
        help="a value that must not be inferred (repeatable; all); with several sensitive columns: S,T",
    )  # fmt: skip
    group.add_argument(
        "--baseline", metavar="WHAT",
        help="overall: the share of each value in the release (the default, where it is published); 'without her': "
        "what is inferred from the same release without the person's own record, for a TABLE of records; none; or a CSV file "
        "of values with their P, or of QI with one column per value",
    )  # fmt: skip
    group.add_argument(
        "--within", metavar="R",
        help="numbers and dates within R of each other count as equal: 500, '30 days'; 0 for equal values only (default: "
        "a twentieth of their range); for other values a hierarchy, FILE.csv, whose nodes count too",
    )  # fmt: skip
    group.add_argument(
        "--fail-above", type=limit, metavar="P",
        help="exit with status 1 if somebody is exposed with a probability above P, and suggest changes; with status 4 "
        "if nobody is, but the values cannot be compared as they are (see --within)",
    )  # fmt: skip
    group.add_argument(
        "--population-size", type=int, metavar="N",
        help="size of the population that the records are a random sample of, for the re-identification risk",
    )  # fmt: skip


def _rule_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group(
        "association rules", "If TABLE is a file of rules, and only rules are published:"
    )
    group.add_argument("--qi-table", metavar="FILE", help="everybody's quasi-identifiers, one row per person")
    group.add_argument("--values", metavar="V,W,...", type=names, help="the possible values of the sensitive column")
    group.add_argument(
        "--distribution", metavar="FILE", help="number or share of people with each value: value, number"
    )
    group.add_argument(
        "--scores", metavar="S,...", type=names, help="scores that are published too: confidence, support or both"
    )
    group.add_argument("--decimals", type=int, metavar="N", help="decimals of the published scores")


def _solver_option(command: Command) -> None:
    command.add_argument(
        "--solver", default="auto", metavar="S", help="a solver that 'maxent-cvx solvers' lists (auto)"
    )


# ---------------------------------------------------------------------------------------------------------- the commands


def _add_demo(commands: Commands) -> None:
    command = commands.add_parser(
        "demo",
        help="the hospital example of the paper, step by step",
        description="Shows what is inferred about ten patients in three buckets as more and more is known.",
        example="maxent-cvx demo",
    )
    command.set_defaults(command="demo:run", options=Options)


def _add_quantify(commands: Commands) -> None:
    command = commands.add_parser(
        "quantify",
        help="what an adversary infers from a release",
        description="Prints P(sensitive value | QI), inferred from the release and from background knowledge (--know, "
        "--knowledge), and who is exposed. With --top it prints the paper's (bound, score) for adversaries who know the "
        "K strongest associations.\n\nTABLE is a table of people, which is judged as it is or divided into buckets by "
        "Anatomy (--l), or a release: with --bucket, --sa-table or --generalized. Without --qi and --sa, they are proposed. "
        "Several TABLEs with --id are a series of releases. A file of "
        "association rules, as written by 'publish --method rules', is recognized by its first line.",
        example="maxent-cvx quantify people.csv\n"
        "maxent-cvx quantify people.csv --qi age,sex --sa disease --l 3 --know 'P(flu | sex=m) = 0.3' --fail-above 0.5\n"
        "cat people.csv | maxent-cvx quantify - --qi age,sex --sa disease --bucket ward --json | python -m json.tool\n"
        "maxent-cvx quantify open.csv --generalized --hierarchy age=age.csv --qi age,sex --sa disease",
        usage="%(prog)s [options] TABLE [MORE ...]",
    )
    _table_options(command)
    command.add_argument("more", nargs="*", metavar="MORE", help="further releases of a series, or Parquet files")
    _release_options(command)
    known = _knowledge_options(command)
    known.add_argument(
        "--top", type=counts, metavar="K,K,...", help="score Top-K associations: K+, K- and half of each"
    )
    known.add_argument("--min-support", type=int, default=3, metavar="N", help="records behind an association (3)")
    _exposure_options(command)
    _rule_options(command)
    group = command.add_argument_group("the answer")
    _solver_option(group)
    group.add_argument(
        "--json", action="store_true",
        help="print one JSON document and nothing else: release, knowledge, certificate, exposure, worst_disclosure, "
        "fail_above, versions, status; the reference page of the command line explains its keys",
    )  # fmt: skip
    group.add_argument(
        "--out", metavar="FILE",
        help="write P(s | q), with --people P(s | person), with --top the scores: .csv, or - for standard output; the "
        "posterior: .parquet; for Parquet files P(q, s, b): a folder",
    )  # fmt: skip
    _formula_option(group)
    group.add_argument("--plot", metavar="FILE", help="plot what is printed: .png, .pdf or .svg")
    group.add_argument("--report", metavar="FILE", help="write a report for decision makers: .html")
    group.add_argument("--cluster", metavar="ADDRESS", help="Parquet files: the scheduler of a Dask cluster, tcp://...")
    group.add_argument("--workers", type=int, metavar="N", help="Parquet files: N Dask processes instead of threads")
    command.set_defaults(command="quantify:quantify", options=QuantifyOptions)


def _add_report(commands: Commands) -> None:
    command = commands.add_parser(
        "report",
        help="a report for decision makers",
        description="Writes a standalone HTML page: how many people are exposed, what to change, who they are, what is "
        "certain and why, what is published and known, how exact the numbers are, and a glossary. If --fail-above is "
        "given, it is the threshold of the page.\n\nTABLE is read as by quantify. Several TABLEs with --id are a series "
        "of releases; without it they are compared side by side.",
        example="maxent-cvx report people.csv --qi age,sex --sa disease --l 3 --know 'P(flu | sex=m) = 0.3' --out "
        "report.html\n"
        "maxent-cvx report draft.csv final.csv --qi age,sex --sa disease --bucket ward --attack worst-case",
    )
    _table_options(command)
    command.add_argument(
        "more", nargs="*", metavar="MORE", help="further releases: side by side, or with --id a series"
    )
    _release_options(command)
    _knowledge_options(command)
    _exposure_options(command)
    _rule_options(command)
    group = command.add_argument_group("the report")
    group.add_argument("--out", default="report.html", metavar="FILE", help="where to write it, .html (report.html)")
    group.add_argument(
        "--attack", action="append", default=[], choices=["worst-case", "definetti"], help="add an attack (repeatable)"
    )
    group.add_argument("--records", action="store_true", help="show original records of exposed people")
    group.add_argument(
        "--about", action="append", default=[], type=pair_of_texts("WHAT=TEXT, such as 'source=ward 3, 2024'"),
        metavar="WHAT=TEXT", help="information about the data for readers, e.g. 'source=ward 3, 2024' (repeatable)",
    )  # fmt: skip
    group.add_argument("--language", default="en", metavar="CODE", help="the language of the page: en or de (en)")
    group.add_argument("--listed", type=int, default=25, metavar="N", help="rows shown per table (25)")
    _solver_option(group)
    command.set_defaults(command="quantify:report", options=ReportOptions)


def _add_publish(commands: Commands) -> None:
    command = commands.add_parser(
        "publish",
        help="anonymize a table and write the release",
        description="Anonymizes a table of people, writes the release, and prints the command that reads it back and "
        "quantifies what it discloses. The order of the written rows reveals nothing.\n\n"
        "  anatomy          buckets of l people with l distinct values: NAME_qi.csv and NAME_sa.csv, which share the\n"
        "                   bucket only\n"
        "  mondrian         groups of k people with the same generalized QI: NAME.csv, or - for standard output\n"
        "  republish        a changed table of people who were partly published before (--before): two tables\n"
        "  similar-linkage  buckets in which nobody's value is surer than 1/r for an adversary with a --prior: two tables\n"
        "  rules            association rules only: NAME_rules.csv, and the people's QI in NAME_qi.csv",
        example="maxent-cvx publish people.csv --qi age,sex --sa disease --l 3 --out open\n"
        "maxent-cvx publish people.csv --qi age,sex --sa disease --method mondrian --k 5 --l 2 --out - > open.csv\n"
        "maxent-cvx publish now.csv --qi age --sa disease --id person --method republish --strategy m_invariant --l 3 \\\n"
        "    --before open_qi.csv --before-sa open_sa.csv --bucket Bucket --before-count Count --out again",
        usage="%(prog)s [options] TABLE",
    )
    _table_options(command)
    methods = ["anatomy", "mondrian", "republish", "similar-linkage", "rules"]
    command.add_argument("--method", choices=methods, default="anatomy", help="the method (anatomy)")
    command.add_argument("--out", metavar="NAME", default="published", help="beginning of the file names (published)")
    _formula_option(command)
    command.add_argument("--id", metavar="I", help="column of pseudonyms to publish: anatomy, mondrian, republish")
    command.add_argument(
        "--safe", type=safety, metavar="C,K",
        help="anatomy, mondrian: after any K implications that an adversary knows, nobody's value has a probability of "
        "C or more; for mondrian not if the adversary also knows the algorithm",
    )  # fmt: skip
    command.add_argument("--count", metavar="N", help="column with the number of people that a row of TABLE stands for")
    group = command.add_argument_group("mondrian (and --l, distinct values per group)")
    group.add_argument("--k", type=int, help="least number of people per group")
    group = command.add_argument_group("republish (and --id, --l)")
    group.add_argument("--before", metavar="FILE", help="the previous release: people with pseudonym, QI and bucket")
    group.add_argument("--before-sa", metavar="FILE", help="its sensitive values by bucket")
    group.add_argument("--bucket", metavar="B", help="the column of the buckets in both")
    group.add_argument("--before-count", metavar="N", help="the column of counts in --before-sa")
    group.add_argument(
        "--strategy", choices=["independent", "history_guided", "m_invariant"], default="independent",
        help="independent: new buckets; history_guided: people stay in their buckets; m_invariant: buckets also keep "
        "their values, with counterfeits if necessary (independent)",
    )  # fmt: skip
    group = command.add_argument_group("similar-linkage (and --exempt, --seed)")
    group.add_argument("--r", type=float, help="nobody's value may be surer than 1/R")
    group.add_argument(
        "--prior", metavar="FILE",
        help="the adversary's prior: QI columns, and one column of P per sensitive value; by default the shares in the "
        "table itself, with --smoothing records added to each",
    )  # fmt: skip
    group.add_argument("--smoothing", type=float, default=1.0, metavar="N", help="records added to each value (1)")
    group.add_argument(
        "--condition", choices=["sound", "exact", "delta"], default="sound", help="how groups are tested (sound)"
    )
    group.add_argument("--suppress", type=int, default=0, metavar="N", help="records that may be dropped (0)")
    group = command.add_argument_group("rules")
    group.add_argument("--support", type=float, metavar="P", help="least share of all records that a rule is true of")
    group.add_argument("--confidence", type=float, metavar="P", help="least share of the records that it applies to")
    group.add_argument("--attributes", type=int, metavar="N", help="number of QI attributes in a rule (any)")
    command.set_defaults(command="publish:run", options=PublishOptions)


def _add_attack(commands: Commands) -> None:
    command = commands.add_parser(
        "attack",
        help="attacks that need no sensitive background knowledge",
        description="Attacks that need nobody's sensitive value; 'maxent-cvx attack ATTACK --help' explains each.",
        example="maxent-cvx attack worst-case before.csv after.csv --qi age,sex --sa disease --bucket ward --k 0,1,2",
    )
    attacks = command.add_subparsers(required=True, metavar="ATTACK")

    worst = attacks.add_parser(
        "worst-case",
        help="the most that k pieces of knowledge can disclose",
        description="The largest P(somebody has a value) after any k implications, for several releases side by side. "
        "All assignments of a bucket's values are equally likely beforehand; a prior may disclose more.",
        example="maxent-cvx attack worst-case a.csv b.csv --qi age,sex --sa disease --bucket ward --sensitive HIV",
    )
    _table_options(worst, several=True)
    _release_options(worst)
    worst.add_argument("--k", type=counts, default=[0, 1, 2, 3], metavar="K,K,...", help="pieces known (0,1,2,3)")
    worst.add_argument(
        "--sensitive", action="append", metavar="VALUE",
        help="a value that must not be inferred (all); with several columns: S,T",
    )  # fmt: skip
    _attack_outputs(worst, "the disclosure against k")
    worst.set_defaults(command="attack:worst_case", options=AttackOptions)

    definetti = attacks.add_parser(
        "definetti",
        help="guess everybody's value by a model learned from all buckets",
        description="Infers who has what by a model that is learned from the release and its exact quasi-identifiers.",
        example="maxent-cvx attack definetti people.csv --qi age,sex --sa disease --l 5 --plot sure.png",
    )
    _table_options(definetti)
    _release_options(definetti)
    definetti.add_argument(
        "--smoothing", type=float, default=1.0, help="records added to each count of naive Bayes (1)"
    )
    definetti.add_argument("--iterations", type=int, default=60, metavar="N", help="largest number of iterations (60)")
    _attack_outputs(definetti, "how sure the likeliest values are")
    definetti.set_defaults(command="attack:definetti", options=AttackOptions)

    reconstruct = attacks.add_parser(
        "reconstruct",
        help="all sets of records that are consistent with published tables",
        description="TABLES is a CSV file with one row per statistic: a column for each attribute of the domain (a value, "
        "0-4, a|b, or empty for all), and n, mean and median as they are printed; n may be suppressed, as <3.",
        example="maxent-cvx attack reconstruct tables.csv --domain 'age=0-115;sex=F|M' --out people.csv",
    )
    reconstruct.add_argument("table", metavar="TABLES", help="the CSV file, or - for standard input")
    reconstruct.add_argument(
        "--domain", required=True, metavar="A=V;...",
        help="the possible values: 'age=0-125;sex=F|M', or 'degrees=-5-5'",
    )  # fmt: skip
    reconstruct.add_argument("--of", metavar="A", help="the attribute of means and medians (the numeric one)")
    reconstruct.add_argument("--decimals", type=int, metavar="N", help="their decimals (as many as the longest has)")
    reconstruct.add_argument("--limit", type=int, default=10, metavar="N", help="solutions that are listed (10)")
    reconstruct.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="seconds (60)")
    _attack_outputs(reconstruct, "how sure the records are")
    reconstruct.set_defaults(command="attack:reconstruct", options=ReconstructOptions)


def _attack_outputs(command: argparse.ArgumentParser, plotted: str) -> None:
    command.add_argument("--json", action="store_true", help="print the result as one JSON document, and nothing else")
    command.add_argument("--out", metavar="FILE", help="write the table that is printed, in full: .csv, or -")
    _formula_option(command)
    command.add_argument("--plot", metavar="FILE", help=f"plot {plotted}: .png, .pdf or .svg")


def _add_compare(commands: Commands) -> None:
    command = commands.add_parser(
        "compare",
        help="compare the solvers on one model",
        description="Solves one model with every solver: a release, and an adversary who knows strong associations.",
        example="maxent-cvx compare adult --rows 2000 --known 100 --solvers DUAL_NEWTON,CLARABEL --plot errors.png",
    )
    _table_options(command)
    command.add_argument("--bucket", metavar="B", help="column of the published buckets (else Anatomy, --l)")
    command.add_argument(
        "--known", type=natural, default=0, metavar="K", help="known associations, half of each kind (0)"
    )
    command.add_argument("--min-support", type=int, default=3, metavar="N", help="records behind an association (3)")
    command.add_argument(
        "--solvers", type=names, metavar="A,B,...", help="solvers that 'maxent-cvx solvers' lists (all installed)"
    )
    command.add_argument("--no-presolve", action="store_true", help="solve the problem without presolve")
    command.add_argument("--json", action="store_true", help="print the table as one JSON document, and nothing else")
    command.add_argument("--out", metavar="FILE", help="write the table: .csv, or - for standard output")
    command.add_argument("--plot", metavar="FILE", help="plot errors against seconds: .png, .pdf or .svg")
    command.set_defaults(command="solvers:compare", options=CompareOptions)


def _add_solvers(commands: Commands) -> None:
    command = commands.add_parser(
        "solvers",
        help="list the solvers",
        description="Lists the solvers and which are installed; the first one is the default of --solver.",
        example="maxent-cvx solvers",
    )
    command.set_defaults(command="solvers:list_solvers", options=Options)
