"""The options of every command: frozen dataclasses, from whose fields the parser is built.

The parser is argparse's. With click every option is a parameter of a function, which would have thirty parameters here,
and the functions that commands share use a single object of options.
"""

from __future__ import annotations

import argparse
import csv
import inspect
import io
import platform
import re
import shlex
import sys
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from difflib import get_close_matches
from functools import partial
from typing import Any, NoReturn, TypeVar

from .streams import DASH, Output, flag

T = TypeVar("T", bound="Options")

# --------------------------------------------------------------------------------------- how the values of options are read


def names(text: str) -> list[str]:
    """Read names separated by commas, in quotes if they contain a comma; an empty text gives no names."""
    if not text.strip():
        return []
    try:
        (cells,) = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    except (csv.Error, ValueError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of names such as age,sex; put names with line breaks in quotes"
        ) from None
    return [without_line_breaks(composed(name.strip())) for name in cells]


def composed(text: str) -> str:
    """Return a text with composed characters, one for a letter with its accent, as they are typed (Unicode NFC)."""
    return unicodedata.normalize("NFC", text)


def without_line_breaks(name: str) -> str:
    """Replace the line breaks in the name of a column, which can hardly be typed, by blanks."""
    return re.sub(r"\s*[\r\n]+\s*", " ", name)


def format_list(items: Sequence[str]) -> str:
    """Write names separated by commas, in quotes if they contain a comma."""
    text = io.StringIO()
    csv.writer(text).writerow(items)
    return text.getvalue().removesuffix("\r\n")


def as_arguments(option: str, value: str) -> list[str]:
    """Write an option and its value as arguments: one if the value begins with a minus sign, otherwise two."""
    return [f"{option}={value}"] if value.startswith("-") else [option, value]


def typed(program: str, tables: Sequence[str], qi: Sequence[str], sa: Sequence[str], *more: str) -> str:
    """Format a command as a user types it."""
    roles = [*as_arguments("--qi", format_list(qi)), *as_arguments("--sa", format_list(sa))]
    return shlex.join([*program.split(), *tables, *roles, *more])


def format_arguments(options: TableOptions) -> list[str]:
    """Return the given options of the file format, for another command that reads the same files."""
    given = {"encoding": options.encoding, "decimal": options.decimal, "sheet": options.sheet}
    given["sep"] = "tab" if options.sep == "\t" else options.sep
    return [text for name, value in given.items() if value is not None for text in (f"--{name}", value)]


def table_arguments(options: TableOptions) -> list[str]:
    """Return the given options of records and file format, for another command about the same table."""
    given = {name: str(value) for name in ("rows", "count") if (value := getattr(options, name)) is not None}
    if options.missing != "error":
        given["missing"] = options.missing
    arguments = [text for name, value in given.items() for text in (f"--{name}", value)]
    if options.missing_codes:
        arguments.append(f"--missing-codes={format_list(options.missing_codes)}")
    return [*arguments, *["--no-count"] * options.no_count, *format_arguments(options)]


def file_name(text: str) -> str:
    """Read the name of a file, which must not look like an option in printed commands."""
    return f"./{text}" if text.startswith("-") and text != DASH else text


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
    """Read a limit of a probability, above 0 and below 1."""
    number = share(text)
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"the limit must be above 0 and below 1, got {text}")
    return number


def pair_of_texts(example: str) -> Callable[[str], tuple[str, str]]:
    """Return a parser of NAME=TEXT."""

    def read(text: str) -> tuple[str, str]:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise argparse.ArgumentTypeError(f"{text!r} must have the form {example}")
        return composed(name.strip()), value.strip()

    return read


def separator(text: str) -> str:
    """Read a separator of cells; a tab may be written as a word or escaped."""
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


# ------------------------------------------------------------------------------------------------- the options of commands


def option(group: str | None, metavar: str | None, help: str, default: Any = None, **settings: Any) -> Any:
    """Declare an option as a field, in a group of the help; `settings` are further arguments of argparse."""
    if default is False:
        settings["action"] = "store_true"
    elif metavar is not None:
        settings["metavar"] = metavar
    return field(default=default, metadata={"group": group, "help": help, **settings})


#: Descriptions of groups of options in the help.
GROUPS = {
    "Anatomy": "Without --l and --bucket, people with equal --qi are a group.",
    "the release": "If the table is a release already, in one of these forms:",
    "exposure": "A person is exposed if a sensitive value is inferred with at least the threshold's probability, while "
    "its baseline probability is below the threshold.",
    "association rules": "If TABLE is a file of rules, and only rules are published:",
}
# Options in a group, or outside all groups: in_table("N", "use the first N rows only", type=int).
in_table, in_anatomy, in_release = (partial(option, group) for group in ("the table", "Anatomy", "the release"))
in_knowledge, in_exposure = partial(option, "background knowledge"), partial(option, "exposure")
in_rules, in_answer = partial(option, "association rules"), partial(option, "the answer")
in_report, ungrouped = partial(option, "the report"), partial(option, None)

#: Fields that are typed without the name of an option.
ARGUMENTS = ("table", "more")
#: The help of TABLE.
TABLE = "a CSV, .xlsx or .parquet file with a header, - for standard input, or the built-in adult or hospital"
# The help of options shared by several commands.
ESCAPE = (
    "put an apostrophe before texts that begin with =, +, -, @, a tab or a line break, so that spreadsheets do not run "
    "them as formulas"
)
SOLVER = "a solver that 'maxent-cvx solvers' lists (auto)"
RESULT = "print the result as one JSON document, and nothing else"
WRITTEN = "write the table that is printed, in full: .csv, or -"


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of every command.

    `program` is the command, `arguments` is what was typed after it, and `command` is the function that runs it.
    """

    program: str
    command: str
    arguments: tuple[str, ...] = ()
    json: bool = False
    out: str | None = None
    plot: str | None = None


@dataclass(frozen=True, kw_only=True)
class TableOptions(Options):
    """The options of tables of people and of Anatomy's buckets."""

    table: str = ungrouped("TABLE", TABLE, MISSING)
    qi: tuple[str, ...] | None = in_table(
        "A,B,...",
        "quasi-identifier columns: attributes that others know about a person (proposed if not given)",
        type=names, action="extend",
    )  # fmt: skip
    sa: tuple[str, ...] | None = in_table(
        "S,...", "the sensitive column; combinations of several columns are values", type=names, action="extend"
    )
    rows: int | None = in_table("N", "use the first N rows only", type=int)
    sep: str | None = in_table("SIGN", "the separator of cells: ',', ';', tab or '|' (detected)", type=separator)
    encoding: str | None = in_table("NAME", "the encoding, such as utf-8 or cp1252 (detected)")
    decimal: str | None = in_table(None, "the decimal sign (detected)", choices=[".", ","])
    sheet: str | None = in_table("NAME", "the sheet of an Excel file (the first one with a table)")
    missing: str = in_table(
        None, "rows with missing cells in these columns: drop them and report how many, or stop (error)", "error",
        choices=["drop", "error"],
    )  # fmt: skip
    missing_codes: tuple[str, ...] = in_table(
        "V,W,...", "values of these columns that denote a missing cell: --missing-codes=-9,99", (), type=names,
        action="extend",
    )  # fmt: skip
    no_count: bool = in_table(None, "every row is one person, even if a column is called n or count", False)
    l: Any = in_anatomy(None, "records, and distinct sensitive values, per bucket", type=int)
    exempt: int | None = in_anatomy("N", "the N most frequent values may repeat in a bucket (0)", type=int)
    seed: int = in_anatomy(None, "random seed of the assignment of records to buckets (0)", 0, type=int)
    # Options of some of the commands.
    more: tuple[str, ...] = ()
    bucket: Any = None
    id: str | None = None
    count: str | None = None
    safe: tuple[float, int] | None = None
    escape_formulas: bool = False

    @property
    def tables(self) -> tuple[str, ...]:
        """The paths of all tables."""
        return self.table, *self.more

    @property
    def is_generalized(self) -> bool:
        """Whether cells may denote several values."""
        return False


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions(TableOptions):
    """The options of existing releases, in several forms."""

    bucket: Any = in_release("B", "column of the published buckets", type=composed)
    sa_table: tuple[str, ...] = in_release(
        "FILE", "the sensitive values, if TABLE has only QI and bucket", (), action="append"
    )
    count: str | None = in_release("N", "column with the number of people that a row stands for", type=composed)
    generalized: bool = in_release(None, "cells are 20-29, [20, 30), {a, b}, 130** or *", False)
    hierarchy: tuple[tuple[str, str], ...] = in_release(
        "A=CSV",
        "generalization hierarchy of A, as written by ARX: values in the first column, their generalizations in the "
        "others (repeatable)",
        (), action="append", type=pair_of_texts("ATTRIBUTE=FILE, such as age=age.csv"),
    )  # fmt: skip
    population: str | None = in_release("FILE", "exact QI of everybody who may be in the release, such as a voter list")
    id: str | None = in_release("I", "column of pseudonyms, which link the releases of a series", type=composed)
    counterfeits: bool = in_release(None, "buckets may contain more values than people (m-invariance)", False)

    @property
    def is_generalized(self) -> bool:
        """Whether cells may denote several values, which hierarchies and populations imply."""
        return self.generalized or bool(self.hierarchy) or self.population is not None


@dataclass(frozen=True, kw_only=True)
class ExposureOptions(ReleaseOptions):
    """The options of the adversary's knowledge and of exposure."""

    know: tuple[str, ...] = in_knowledge(
        "TEXT", "a statement, e.g. 'P(Flu | Gender=male) <= 0.3' (repeatable)", (), action="append",
        type=composed,
    )  # fmt: skip
    knowledge: str | None = in_knowledge("FILE", "a text file with one statement per line")
    people: str | None = in_knowledge("FILE", "people known by name: names first, then the QI columns")
    original: str | None = in_exposure(
        "FILE",
        "the original records, if TABLE is only the release; needed to measure how often the likeliest value is true",
    )
    threshold: float = in_exposure("P", "the threshold (0.8)", 0.8, type=share)
    sensitive: tuple[str, ...] = in_exposure(
        "VALUE", "a value that must not be inferred (repeatable; all); with several sensitive columns: S,T", (),
        action="append", type=composed,
    )  # fmt: skip
    baseline: str | None = in_exposure(
        "WHAT",
        "overall: the share of each value in the release (the default, if published); 'without her': the inference from "
        "the same release without the person's own record, for a TABLE of records; none; or a file: values with their P, QI "
        "with one column per value, or a saved answer (.parquet)",
    )
    within: str | None = in_exposure(
        "R",
        "numbers and dates within R of each other count as equal: 500, '30 days'; 0 for equal values only (default: a "
        "twentieth of their range); for other values a hierarchy, FILE.csv, whose nodes count too",
    )
    fail_above: float | None = in_exposure(
        "P",
        "exit with status 1 if somebody is exposed with a probability above P, or at a higher --threshold, and suggest "
        "changes; with status 4 if nobody is, but values cannot be compared without --within",
        type=limit,
    )
    population_size: int | None = in_exposure(
        "N", "size of the population of which the records are a random sample, for re-identification risks", type=int
    )
    qi_table: str | None = in_rules("FILE", "everybody's quasi-identifiers, one row per person")
    values: tuple[str, ...] | None = in_rules("V,W,...", "the possible values of the sensitive column", type=names)
    distribution: str | None = in_rules("FILE", "number or share of people with each value: value, number")
    scores: tuple[str, ...] | None = in_rules(
        "S,...", "scores that are published too: confidence, support, or confidence,support", type=names
    )
    decimals: int | None = in_rules("N", "decimals of the published scores", type=int)
    solver: str = "auto"


@dataclass(frozen=True, kw_only=True)
class QuantifyOptions(ExposureOptions):
    """The options of ``quantify``."""

    more: tuple[str, ...] = ungrouped("MORE", "further releases of a series, or Parquet files", (), nargs="*")
    top: tuple[int, ...] = in_knowledge("K,K,...", "score Top-K associations: K+, K- and half of each", (), type=counts)
    min_support: int = in_knowledge("N", "least number of records of an association (3)", 3, type=int)
    solver: str = in_answer("S", SOLVER, "auto")
    json: bool = in_answer(
        None,
        "print one JSON document and nothing else: release, knowledge, certificate, exposure, worst_disclosure, "
        "fail_above, versions, status; the reference page of the command line explains its keys",
        False,
    )
    out: str | None = in_answer(
        "FILE",
        "write P(s | q), with --people P(s | person), with --top the scores: .csv, or - for standard output; the "
        "posterior: .parquet; for Parquet files P(q, s, b): a folder",
    )
    escape_formulas: bool = in_answer(None, ESCAPE, False)
    plot: str | None = in_answer("FILE", "plot the printed table: .png, .pdf or .svg")
    report: str | None = in_answer("FILE", "write a report for decision makers: .html")
    cluster: str | None = in_answer("ADDRESS", "Parquet files: the scheduler of a Dask cluster, tcp://...")
    workers: int | None = in_answer("N", "Parquet files: N Dask processes instead of threads", type=int)


@dataclass(frozen=True, kw_only=True)
class ReportOptions(ExposureOptions):
    """The options of ``report``."""

    more: tuple[str, ...] = ungrouped("MORE", "further releases: side by side, or with --id a series", (), nargs="*")
    out: str = in_report("FILE", "where to write it, .html (report.html)", "report.html")
    attack: tuple[str, ...] = in_report(
        None, "add an attack (repeatable)", (), action="append", choices=["worst-case", "definetti"]
    )
    records: bool = in_report(None, "show original records of exposed people", False)
    about: tuple[tuple[str, str], ...] = in_report(
        "WHAT=TEXT", "information about the data for readers, e.g. 'source=ward 3, 2024' (repeatable)", (),
        action="append", type=pair_of_texts("WHAT=TEXT, such as 'source=ward 3, 2024'"),
    )  # fmt: skip
    language: str = in_report("CODE", "the language of the page: en or de (en)", "en")
    listed: int = in_report("N", "rows shown per table (25)", 25, type=int)
    solver: str = in_report("S", SOLVER, "auto")


in_mondrian = partial(option, "mondrian (and --l, distinct values per group)")
in_republish = partial(option, "republish (and --id, --l)")
in_similar = partial(option, "similar-linkage (and --exempt, --seed)")
in_mining = partial(option, "rules")
in_search = partial(option, "search: the release of least loss that exposes nobody")


@dataclass(frozen=True, kw_only=True)
class PublishOptions(TableOptions):
    """The options of ``publish``; those required by a method are not None when it runs."""

    method: str = ungrouped(
        None,
        "the method (anatomy)",
        "anatomy",
        choices=["anatomy", "mondrian", "search", "republish", "similar-linkage", "rules"],
    )
    out: str = ungrouped("NAME", "beginning of the file names (published)", "published", type=file_name)
    escape_formulas: bool = ungrouped(None, ESCAPE, False)
    id: str | None = ungrouped("I", "column of pseudonyms to publish: anatomy, mondrian, republish", type=composed)
    safe: tuple[float, int] | None = ungrouped(
        "C,K",
        "anatomy, mondrian: no value has a probability of C or more for an adversary who knows any K implications; for "
        "mondrian not if the adversary also knows the algorithm",
        type=safety,
    )
    count: str | None = ungrouped("N", "column with the number of people that a row of TABLE stands for", type=composed)
    k: Any = in_mondrian(None, "least number of people per group", type=int)
    before: Any = in_republish("FILE", "the previous release: people with pseudonym, QI and bucket")
    before_sa: Any = in_republish("FILE", "its sensitive values by bucket")
    bucket: str | None = in_republish("B", "the column of the buckets in both", type=composed)
    before_count: str | None = in_republish("N", "the column of counts in --before-sa", type=composed)
    strategy: str = in_republish(
        None,
        "independent: new buckets; history_guided: people stay in their buckets; m_invariant: buckets also keep their "
        "values, with counterfeits if necessary (independent)",
        "independent", choices=["independent", "history_guided", "m_invariant"],
    )  # fmt: skip
    r: Any = in_similar(None, "no value may have a probability above 1/R", type=float)
    prior: str | None = in_similar(
        "FILE",
        "the adversary's prior: QI columns, and one column of P per sensitive value; by default the shares in the table "
        "itself, with --smoothing records added to each",
    )
    smoothing: float = in_similar("N", "records added to each value (1)", 1.0, type=float)
    condition: str = in_similar(None, "the test of groups (sound)", "sound", choices=["sound", "exact", "delta"])
    suppress: int = in_similar("N", "records that may be dropped (0); also for search", 0, type=int)
    support: Any = in_mining("P", "least share of all records that satisfy a rule", type=float)
    confidence: Any = in_mining("P", "least share of the records with the QI of a rule that satisfy it", type=float)
    attributes: int | None = in_mining("N", "number of QI attributes in a rule (any)", type=int)
    threshold: float | None = in_search(
        "P",
        "the threshold of exposure (0.8); values that at least this share of all people have do not count",
        type=share,
    )
    loss: str | None = in_search(
        None, "the measure of loss (ncp)", choices=["ncp", "discernibility", "classification", "queries"]
    )
    hierarchy: tuple[tuple[str, str], ...] = in_search(
        "A=FILE",
        "generalization hierarchy of A, as written by ARX (repeatable)",
        (),
        action="append",
        type=pair_of_texts("ATTRIBUTE=FILE, such as age=age.csv"),
    )
    methods: tuple[str, ...] | None = in_search(
        "M,...", "the methods to search: full-domain (generalization), mondrian, anatomy (all)", type=names
    )
    time_limit: float | None = in_search(
        "S", "seconds, after which the best release so far is written (60)", type=float
    )
    know: tuple[str, ...] = in_search(
        "TEXT", "a known statement, e.g. 'P(Flu | Gender=male) <= 0.3' (repeatable)", (), action="append",
        type=composed,
    )  # fmt: skip
    knowledge: str | None = in_search("FILE", "a text file with one statement per line")


@dataclass(frozen=True, kw_only=True)
class WorstCaseOptions(ReleaseOptions):
    """The options of ``attack worst-case``; the tables after the first are `more`."""

    table: str = ungrouped("TABLE", TABLE, MISSING, nargs="+")
    k: tuple[int, ...] = ungrouped("K,K,...", "numbers of known implications (0,1,2,3)", (0, 1, 2, 3), type=counts)
    sensitive: tuple[str, ...] = ungrouped(
        "VALUE", "a value that must not be inferred (all); with several columns: S,T", (), action="append",
        type=composed,
    )  # fmt: skip
    json: bool = ungrouped(None, RESULT, False)
    out: str | None = ungrouped("FILE", WRITTEN)
    escape_formulas: bool = ungrouped(None, ESCAPE, False)
    plot: str | None = ungrouped("FILE", "plot the disclosure against k: .png, .pdf or .svg")


@dataclass(frozen=True, kw_only=True)
class DefinettiOptions(ReleaseOptions):
    """The options of ``attack definetti``."""

    classifier: str = ungrouped(
        None, "the classifier (naive-bayes)", "naive-bayes", choices=["naive-bayes", "logistic"]
    )
    calibrate: bool = ungrouped(
        None, "learn from the other buckets, and calibrate the probabilities without the truth", False
    )
    smoothing: float = ungrouped(None, "records added to each count of naive Bayes (1)", 1.0, type=float)
    iterations: int = ungrouped("N", "largest number of iterations (60)", 60, type=int)
    json: bool = ungrouped(None, RESULT, False)
    out: str | None = ungrouped("FILE", WRITTEN)
    escape_formulas: bool = ungrouped(None, ESCAPE, False)
    plot: str | None = ungrouped("FILE", "plot the probabilities of the likeliest values: .png, .pdf or .svg")


@dataclass(frozen=True, kw_only=True)
class ReconstructOptions(Options):
    """The options of ``attack reconstruct``."""

    table: str = ungrouped("TABLES", "the CSV file, or - for standard input", MISSING)
    domain: str = ungrouped(
        "A=V;...", "the possible values: 'age=0-125;sex=F|M', or 'degrees=-5-5'", MISSING, required=True,
        type=composed,
    )  # fmt: skip
    of: str | None = ungrouped("A", "the attribute of means and medians (the numeric one)", type=composed)
    decimals: int | None = ungrouped("N", "decimals of means and medians (those of the longest number)", type=int)
    limit: int = ungrouped("N", "largest number of solutions (10)", 10, type=int)
    time_limit: float = ungrouped("S", "seconds (60)", 60.0, type=float)
    json: bool = ungrouped(None, RESULT, False)
    out: str | None = ungrouped("FILE", WRITTEN)
    escape_formulas: bool = ungrouped(None, ESCAPE, False)
    plot: str | None = ungrouped("FILE", "plot the certainty of the records: .png, .pdf or .svg")

    @property
    def tables(self) -> tuple[str, ...]:
        """The path of the single file."""
        return (self.table,)


@dataclass(frozen=True, kw_only=True)
class CompareOptions(TableOptions):
    """The options of ``compare``."""

    bucket: str | None = ungrouped("B", "column of the published buckets (else Anatomy, --l)", type=composed)
    count: str | None = ungrouped("N", "column with the number of people that a row of TABLE stands for", type=composed)
    known: int = ungrouped("K", "known associations, half of each kind (0)", 0, type=natural)
    min_support: int = ungrouped("N", "least number of records of an association (3)", 3, type=int)
    solvers: tuple[str, ...] | None = ungrouped(
        "A,B,...", "solvers that 'maxent-cvx solvers' lists (all installed)", type=names
    )
    no_presolve: bool = ungrouped(None, "solve the problem without presolve", False)
    json: bool = ungrouped(None, "print the table as one JSON document, and nothing else", False)
    out: str | None = ungrouped("FILE", "write the table: .csv, or - for standard output")
    plot: str | None = ungrouped("FILE", "plot errors against seconds: .png, .pdf or .svg")


# ------------------------------------------------------------------------------------------ defaults of built-in tables


#: Defaults of the built-in tables; the QI of Adult are :data:`maxent_cvx.datasets.ADULT_QI`.
DATASET_DEFAULTS: dict[str, dict[str, Any]] = {
    "adult": {"sa": ("education",), "rows": 14_210, "l": 5, "exempt": 2, "top": (0, 10, 50, 100, 200, 500)},
    "hospital": {"qi": ("Gender", "Degree"), "sa": ("Disease",), "bucket": "Bucket"},
}  # fmt: skip
#: A default is not used if one of these options is given: Anatomy (--l) replaces the buckets of the table, and options
#: of the exposure replace scores.
INSTEAD = {
    "bucket": ("l", "generalized", "hierarchy", "population"),
    "l": ("bucket", "generalized", "hierarchy", "population"),
    "exempt": ("bucket",),
    "top": (
        "bucket", "json", "know", "knowledge", "people", "original", "fail_above", "sensitive", "baseline", "within", "report",
        "id", "qi_table",
    ),
}  # fmt: skip


def given(options: Options) -> set[str]:
    """Return the names of the options whose values are not the defaults."""
    return {field.name for field in fields(options) if getattr(options, field.name) != field.default}


def with_dataset_defaults(options: T) -> T:
    """Fill options that are not given with the defaults of a built-in table."""
    if not isinstance(options, TableOptions) or options.more:
        return options
    known = DATASET_DEFAULTS.get(options.table, {})
    if options.table == "adult":
        from ..datasets.load import ADULT_QI  # imports pandas

        known = known | {"qi": ADULT_QI}
    is_given = given(options)
    defaults = {
        name: value
        for name, value in known.items()
        if hasattr(options, name) and not is_given & {name, *INSTEAD.get(name, ())}
    }
    return replace(options, **defaults)


# ------------------------------------------------------------------------------------------------------- the parser itself


class UsageError(Exception):
    """The options cannot be read."""


class _Layout(argparse.HelpFormatter):
    """Fills paragraphs, and leaves lines that begin with a space, such as examples, unchanged."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = (
            part if part.startswith(" ") else super(_Layout, self)._fill_text(part, width, indent)
            for part in text.split("\n")
        )
        return "\n".join(paragraphs)


class Parser(argparse.ArgumentParser):
    """A parser with one-line errors, whose help ends with an example."""

    def __init__(self, *, example: str | None = None, **settings: Any) -> None:
        if example is not None:
            settings["epilog"] = "Example:\n" + "\n".join(f"  {line}" for line in example.split("\n"))
        super().__init__(formatter_class=_Layout, argument_default=argparse.SUPPRESS, **settings)

    def _print_message(self, message: str, file: Any = None) -> None:  # argparse ignores errors of writing
        Output(file or sys.stdout).write(message)

    def error(self, message: str) -> NoReturn:
        """Raise an error that refers to the help."""
        raise UsageError(f"{message} (see {self.prog} --help)")


class Version(argparse.Action):
    """Look up the version on request, print it, and exit."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print the version and exit."""
        from importlib.metadata import version

        print(f"maxent-cvx {version('maxent-cvx')} (Python {platform.python_version()})")
        parser.exit()


def is_json(arguments: Sequence[str]) -> bool:
    """Return whether --json is given, possibly abbreviated, even if the options cannot be parsed."""
    return any(len(argument) > 2 and "--json".startswith(argument) for argument in arguments)


def parse(arguments: Sequence[str]) -> Options:
    """Parse the arguments of the command line into the options of a command."""
    known, unknown = parser().parse_known_args(arguments)
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in vars(known).items()
    }
    cls: type[Options] = given.pop("options")
    if unknown:
        options_of_command = [option.name for option in fields(cls) if option.metadata and option.name not in ARGUMENTS]
        near = get_close_matches(unknown[0].strip("-").replace("-", "_"), options_of_command, n=1)
        hint = f"; did you mean {flag(near[0])}?" if near else ""
        raise UsageError(f"unrecognized argument {unknown[0]!r}{hint} (see {given['program']} --help)")
    if isinstance(given.get("table"), tuple):  # several tables
        given["table"], *more = given["table"]
        given["more"] = tuple(more)
    options = cls(**given, arguments=tuple(arguments[len(given["program"].split()) - 1 :]))
    # publish refuses options that its method does not use, so defaults must not be filled in.
    return options if cls is PublishOptions else with_dataset_defaults(options)


def parser() -> Parser:
    """Build the parser of all commands, in the order of the help."""
    top = Parser(
        prog="maxent-cvx", description=DESCRIPTION,
        example="maxent-cvx demo\nmaxent-cvx quantify people.csv --qi age,sex --sa disease --l 3 --fail-above 0.5",
    )  # fmt: skip
    top.add_argument("--version", action=Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, command: str, cls: type[Options], among: Any = commands, **settings: Any) -> None:
        """Add a command: its function, imported when it runs, and its options."""
        parser = among.add_parser(name, **settings)
        _add_options(parser, cls)
        parser.set_defaults(program=parser.prog, command=command, options=cls)

    add(
        "demo", "demo:run", Options,
        help="the hospital example of the paper, step by step",
        description="Shows the inferences about ten patients in three buckets as the adversary's knowledge increases.",
        example="maxent-cvx demo",
    )  # fmt: skip
    add(
        "quantify", "quantify:quantify", QuantifyOptions,
        help="inferences of an adversary from a release",
        description="Prints P(sensitive value | QI), inferred from the release and from background knowledge (--know, "
        "--knowledge), and who is exposed. With --top it prints the paper's (bound, score) for adversaries who know the "
        "K strongest associations.\n\nTABLE is a table of people, which is used unchanged or divided into buckets by "
        "Anatomy (--l), or a release: with --bucket, --sa-table or --generalized. Without --qi and --sa, they are proposed. "
        "Several TABLEs with --id are a series of releases. A file of "
        "association rules, as written by 'publish --method rules', is recognized by its first line.",
        example="maxent-cvx quantify people.csv\n"
        "maxent-cvx quantify people.csv --qi age,sex --sa disease --l 3 --know 'P(flu | sex=m) = 0.3' --fail-above 0.5\n"
        "cat people.csv | maxent-cvx quantify - --qi age,sex --sa disease --bucket ward --json | python -m json.tool\n"
        "maxent-cvx quantify open.csv --generalized --hierarchy age=age.csv --qi age,sex --sa disease",
        usage="%(prog)s [options] TABLE [MORE ...]",
    )  # fmt: skip
    add(
        "report", "quantify:report", ReportOptions,
        help="a report for decision makers",
        description="Writes a standalone HTML page: the number of exposed people, suggested changes, the exposed groups, "
        "certain inferences with reasons, the release and the assumed knowledge, the accuracy, and a glossary. If --fail-above "
        "is given, it is the threshold of the page, besides a higher --threshold.\n\nTABLE is read as by quantify. Several "
        "TABLEs with --id are a series of releases; without it they are compared side by side.",
        example="maxent-cvx report people.csv --qi age,sex --sa disease --l 3 --know 'P(flu | sex=m) = 0.3' --out "
        "report.html\n"
        "maxent-cvx report draft.csv final.csv --qi age,sex --sa disease --bucket ward --attack worst-case",
    )  # fmt: skip
    add(
        "publish", "publish:run", PublishOptions,
        help="anonymize a table and write the release",
        description="Anonymizes a table of people, writes the release, and prints the command that reads it back and "
        "quantifies what it discloses. The order of the written rows reveals nothing.\n\n"
        "  anatomy          buckets of l people with l distinct values: NAME_qi.csv and NAME_sa.csv, which share the\n"
        "                   bucket only\n"
        "  mondrian         groups of k people with the same generalized QI: NAME.csv, or - for standard output\n"
        "  search           the release of least loss that exposes nobody: generalized cells, as from mondrian, or\n"
        "                   buckets, as from anatomy\n"
        "  republish        a changed table of people who were partly published before (--before): two tables\n"
        "  similar-linkage  buckets with no probability above 1/r for an adversary with a --prior: two tables\n"
        "  rules            association rules only: NAME_rules.csv, and the people's QI in NAME_qi.csv",
        example="maxent-cvx publish people.csv --qi age,sex --sa disease --l 3 --out open\n"
        "maxent-cvx publish people.csv --qi age,sex --sa disease --method mondrian --k 5 --l 2 --out - > open.csv\n"
        "maxent-cvx publish now.csv --qi age --sa disease --id person --method republish --strategy m_invariant --l 3 \\\n"
        "    --before open_qi.csv --before-sa open_sa.csv --bucket Bucket --before-count Count --out again",
        usage="%(prog)s [options] TABLE",
    )  # fmt: skip
    attack = commands.add_parser(
        "attack",
        help="attacks that need no sensitive background knowledge",
        description="Attacks that require no sensitive value; 'maxent-cvx attack ATTACK --help' explains each.",
        example="maxent-cvx attack worst-case before.csv after.csv --qi age,sex --sa disease --bucket ward --k 0,1,2",
    )
    attacks = attack.add_subparsers(required=True, metavar="ATTACK")
    add(
        "worst-case", "attack:worst_case", WorstCaseOptions, attacks,
        help="the largest disclosure by k pieces of knowledge",
        description="The largest P(somebody has a value) after any k implications, for several releases side by side. "
        "All assignments of a bucket's values are equally likely beforehand; a prior may disclose more.",
        example="maxent-cvx attack worst-case a.csv b.csv --qi age,sex --sa disease --bucket ward --sensitive HIV",
    )  # fmt: skip
    add(
        "definetti", "attack:definetti", DefinettiOptions, attacks,
        help="infer everybody's value by a model learned from all buckets",
        description="Infers everybody's value by a model learned from the release and its exact quasi-identifiers.",
        example="maxent-cvx attack definetti people.csv --qi age,sex --sa disease --l 5 --classifier logistic --calibrate",
    )  # fmt: skip
    add(
        "reconstruct", "attack:reconstruct", ReconstructOptions, attacks,
        help="all sets of records that are consistent with published tables",
        description="TABLES is a CSV file with one row per statistic: a column for each attribute of the domain (a value, "
        "0-4, a|b, or empty for all), and n, mean and median as they are printed; n may be suppressed, as <3.",
        example="maxent-cvx attack reconstruct tables.csv --domain 'age=0-115;sex=F|M' --out people.csv",
    )  # fmt: skip
    add(
        "compare", "solvers:compare", CompareOptions,
        help="compare the solvers on one model",
        description="Solves one model with every solver: a release, and an adversary who knows strong associations.",
        example="maxent-cvx compare adult --rows 2000 --known 100 --solvers DUAL_NEWTON,CLARABEL --plot errors.png",
    )  # fmt: skip
    add(
        "solvers", "solvers:list_solvers", Options,
        help="list the solvers",
        description="Lists the solvers and which are installed; the first one is the default of --solver.",
        example="maxent-cvx solvers",
    )  # fmt: skip
    return top


DESCRIPTION = """\
Quantifies the inferences of an adversary from published data and background knowledge.

Exit status: 0; 1 if somebody is exposed above --fail-above; 2 if there is no result, for example because of bad input; \
3 if the knowledge contradicts the published data; 4 if --fail-above cannot be decided (see --within)."""


def _add_options(command: Parser, cls: type[Options]) -> None:
    """Add the options of a class, those of its base classes first, in the order of declaration."""
    declared = [
        name
        for owner in reversed(cls.__mro__)
        for name in inspect.get_annotations(owner)
        if owner.__dataclass_fields__[name].metadata  # type: ignore[attr-defined]
    ]
    groups: dict[str | None, Any] = {None: command}
    for name in dict.fromkeys(declared):
        settings = dict(cls.__dataclass_fields__[name].metadata)
        group = settings.pop("group")
        if group not in groups:
            groups[group] = command.add_argument_group(group, GROUPS.get(group))
        is_argument = name in ARGUMENTS
        # argparse's result contains given options only; the defaults are those of the class.
        if settings.get("nargs") == "*":
            settings["default"] = argparse.SUPPRESS  # otherwise, errors call further tables required
        groups[group].add_argument(name if is_argument else flag(name), **settings)
