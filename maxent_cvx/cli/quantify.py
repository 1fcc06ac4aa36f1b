"""``maxent-cvx quantify``: what an adversary infers from a table."""

from __future__ import annotations

import argparse
import copy
import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from .. import anonymize, measures, plots
from .._utils.errors import Infeasible, MaxEntError, TableError, pluralize, unknown_name
from .._utils.parallel import local_client
from ..experiments import quantify
from ..measures.exposure import Exposure
from ..model.loading import load_posterior
from ..model.maxent import MaxEnt
from ..model.partitioned import PartitionedMaxEnt, PartitionedPosterior
from ..model.posterior import Posterior
from ..releases.base import View
from ..releases.release import Release
from ..releases.series import ReleaseSeries
from ..reporting.report import report
from ..solvers.backends import find
from ..sources.statements import Statement
from .inputs import (
    CommandInput,
    as_list,
    distribution_of,
    located,
    material,
    one_source_of_buckets,
    read_csv,
    read_people,
    statements_of,
    values_as_printed,
)
from .output import PICTURES, check_output, draw, scored, without_formulas, write, write_result
from .streams import EXPOSED, UNDECIDED, in_options, say, table_text

__all__ = [
    "Verdict",
]

# The verdict: who is exposed, compared with a baseline, and whether that is too many.


#: Groups of exposed people that are printed.
LISTED = 10
#: Probabilities that are closer to each other are the same but for rounding.
EXPOSURE_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Verdict:
    """Who is exposed."""

    exposure: Exposure
    limit: float | None
    above: Exposure | None

    @property
    def fails(self) -> bool:
        """Whether somebody is exposed above the limit."""
        return self.above is not None and self.above.people > 0

    @property
    def is_undecided(self) -> bool:
        """Whether nobody is exposed above the limit, and this may be false of such values."""
        if self.above is None or self.limit is None or self.fails:
            return False
        from_higher = self.exposure.undecided if self.exposure.threshold > self.limit else ()
        return bool(self.above.undecided or from_higher)

    @property
    def status(self) -> int:
        """The exit status."""
        return EXPOSED if self.fails else UNDECIDED if self.is_undecided else 0


def judge(
    post: Posterior | PartitionedPosterior, options: argparse.Namespace, original: pd.DataFrame | None
) -> Verdict:
    """Find who is exposed from the threshold on, and who above the limit."""
    view: Any = post.release if isinstance(post, PartitionedPosterior) else post.space.view
    asked = exposure_kwargs(options, view)
    exposure = measures.exposed(post, options.threshold, original, **asked)
    if (limit := options.fail_above) is None:
        return Verdict(exposure, None, None)
    above = measures.exposed(post, strict_threshold(limit, post), **asked)
    # What is exposed from the threshold on is exposed above a lower limit, also where its baseline is between the two.
    if options.threshold > limit and exposure.people > above.people:
        above = exposure
    return Verdict(exposure, limit, above)


def strict_threshold(limit: float, post: Posterior | PartitionedPosterior) -> float:
    """The threshold of what is above a limit; 1/l is not above 1/l: by more than what the certificate leaves open."""
    return min(limit + 2 * min(post.certificate.bound, 1.0) + EXPOSURE_ROUNDING, 1.0)


def exposure_kwargs(options: argparse.Namespace, view: Any) -> dict[str, Any]:
    """Read which values count, and what they are compared with."""
    return {
        "sensitive": values_as_printed(options.sensitive, view.sensitive_values),
        "baseline": _baseline(options, view),
        "within": _within(options.within),
    }


def _within(given: str | None) -> float | str | Path | None:
    """Read how close two values are to count as the same: a number, a duration, or a file with a hierarchy."""
    if given is None or given.endswith(".csv"):
        return None if given is None else Path(given)
    try:
        return float(given)
    except ValueError:
        return given


def print_exposure(verdict: Verdict, options: argparse.Namespace) -> None:
    """Print who is exposed from the threshold on, the surest first."""
    print(in_options(str(verdict.exposure), options))
    if verdict.exposure.people:
        _print_people(verdict.exposure)


def print_limit(verdict: Verdict, options: argparse.Namespace) -> None:
    """Print whether somebody is exposed above the limit, and who if that was not printed yet."""
    if (above := verdict.above) is None:
        return
    said = f"exposed above P = {verdict.limit:g} (--fail-above)"
    if verdict.is_undecided:
        print(f"\nUNDECIDED: nobody is {said}, but the values cannot be judged like this: see the warnings")
    elif not above.people:
        print(f"\nPASS: nobody is {said}")
    else:
        print(f"\nFAIL: {above.people} of {pluralize(int(above.histogram.sum()), 'person is', 'people are')} {said}")
    told = str(verdict.exposure).splitlines()
    for line in str(above).splitlines()[1:]:
        if line not in told:
            say(in_options(line, options))
    if above.people and not above.who.index.equals(verdict.exposure.who.index):
        _print_people(above)


def _print_people(exposure: Exposure) -> None:
    """Print whom, the surest first."""
    shown = exposure.who.head(LISTED)
    formats: Any = dict.fromkeys(("P", "baseline"), "{:.4g}".format)
    print(table_text(shown.reset_index(), index=False, formatters=formats))
    if len(exposure.who) > len(shown):
        print(f"... and {len(exposure.who) - len(shown)} groups more: --json has all of them")


def _baseline(options: argparse.Namespace, view: Any) -> Any:
    """Read what inferences are compared with."""
    asked = options.baseline
    if asked is None:
        if view.n_s is None:
            print(f"baseline: none, as the {view.noun} does not say how many people have each value (--baseline)")
            return None
        return "overall"
    if asked in ("overall", "none"):
        return None if asked == "none" else asked
    if asked.endswith(".parquet"):
        return load_posterior(asked)
    table = read_csv(asked)
    if {*view.sensitive} <= {*table.columns}:
        shares = distribution_of(table, list(view.sensitive), asked, "a column of probabilities")
        return _typed(shares, view, asked)
    attributes = [name for name in table.columns if name in view.qi]
    if not attributes:
        raise TableError(
            f"{asked!r} has the columns {', '.join(table.columns)}: either {', '.join(view.sensitive)} and P are "
            f"expected, or some of {', '.join(view.qi)} and a column for each value"
        )
    found = table.set_index(attributes)
    values: Any = values_as_printed(list(found.columns), view.sensitive_values)
    return found.set_axis(pd.Index(values), axis=1)


def _typed(found: pd.Series, view: Any, path: str) -> pd.Series:
    """The same values as the release has them, whatever a file makes of numbers."""
    printed = [",".join(map(str, one if isinstance(one, tuple) else [one])) for one in found.index]
    values: Any = values_as_printed(printed, view.sensitive_values)
    if len(lost := set(view.sensitive_values) - {*values}) == len(view.sensitive_values):
        raise unknown_name(f"sensitive value (in {path!r})", next(iter(printed)), lost)
    index = pd.MultiIndex.from_tuples(values) if len(view.sensitive) > 1 else pd.Index(values)
    return found.set_axis(index)


# What would help where too many people are exposed: larger buckets, less that is known, or fewer people.


#: Sizes of buckets that are tried, each with a solve.
TRIES = 6


def larger_buckets(
    limit: float,
    made: int | None,
    records: pd.DataFrame,
    options: argparse.Namespace,
    above: Callable[[View], Exposure | None],
) -> str:
    """Try larger and larger buckets of the same people, and say which are the first in which nobody is exposed."""
    least = (
        math.ceil(1 / (limit + EXPOSURE_ROUNDING)) if limit else len(records)
    )  # nobody is surer than 1/l of what is published
    exempt, tried, end = options.exempt or 0, None, ""
    for l in range(max(2, least, (made or 0) + 1), len(records) + 1)[:TRIES]:
        try:
            release = anonymize.anatomy(records, qi=options.qi, sa=options.sa, l=l, exempt=exempt, seed=options.seed)
            found = above(release)
        except MaxEntError as error:
            if tried is None:
                return f"Anatomy makes no buckets of --l {l}: {error}."
            end = f", and larger ones cannot be made: {error}"
            break
        tried = l
        if found is not None and not found.people and not found.undecided:
            return (
                f"Anatomy's buckets of --l {l} pass: nobody is exposed in them above P = {limit:g}. Publish them:  "
                f"{_publish(options, l)}"
            )
    if tried is None:
        return f"No buckets that Anatomy makes of {len(records)} records pass."
    return (
        f"Anatomy's buckets of up to --l {tried} do not pass{end}. Generalised groups may (publish --method mondrian)."
    )


def _publish(options: argparse.Namespace, l: int) -> str:
    """The command that publishes these buckets."""
    command = ["maxent-cvx", "publish", options.table, "--qi", as_list(options.qi), "--sa", as_list(options.sa)]
    command += ["--l", str(l), "--exempt", str(options.exempt or 0), "--seed", str(options.seed)]
    for name in ("rows", "count"):
        if (value := getattr(options, name)) is not None:
            command += [f"--{name}", str(value)]
    return shlex.join([*command, *(["--missing", "drop"] if options.missing == "drop" else [])])


def withholding(above: Exposure, options: argparse.Namespace) -> Iterator[str]:
    """Say what need not be protected, and whose records could be left out."""
    if options.sensitive is None:
        yield "If not every value is sensitive, say which are (--sensitive)."
    groups = pluralize(len(above.who), "group")
    yield (
        f"Or withhold the records of the {pluralize(above.people, 'person', 'people')} in {groups} above, and quantify "
        "what is left, which is another release."
    )


# What stands beside the inference risk: re-identification risk, uniques of the population, utility.


#: The kind of measures that are printed as the verdict already.
TOLD = "inference risk"
#: Measures that are printed; --json has all.
PRINTED = (
    "k", "records below k", "sample uniques", "prosecutor risk", "journalist risk", "population uniques",
    "population uniques (Pitman)", "marketer risk", "median query error", "total variation, attribute",
    "total variation, attribute with the sensitive values",
)  # fmt: skip
#: What is smaller is zero but for rounding of sums of shares.
ROUNDING = 1e-12


def risks_beside(post: Posterior, original: pd.DataFrame | None, options: argparse.Namespace) -> pd.DataFrame:
    """Find them: of a series of releases none, without the original records no utility."""
    if isinstance(post.space.view, ReleaseSeries):
        check_population(post, options)
        return pd.DataFrame(columns=["kind", "measure", "value", "unit", "says"])
    size = check_population(post, options)
    found = measures.risk_utility(post, original, threshold=options.threshold, baseline=None, population=size)
    return found.drop(TOLD, level="kind").reset_index()


def check_population(post: Posterior | PartitionedPosterior, options: argparse.Namespace) -> int | None:
    """Refuse a population that is smaller than the release, and of releases whose records are no sample of one."""
    size: int | None = options.population_size
    if size is None:
        return None
    if isinstance(post, PartitionedPosterior) or isinstance(post.space.view, ReleaseSeries):
        raise TableError("--population-size is for one release in memory")
    if size < (n := post.space.view.n_records):
        raise TableError(f"--population-size {size}: the {n} people of the release, and whoever else, are expected")
    return size


def print_risks(found: pd.DataFrame) -> None:
    """Print the ones that users of other tools look for first."""
    shown = found[found["measure"].isin(PRINTED)]
    if len(shown):
        print("\nBeside it (all of them with --json):")
        names = max(map(len, shown["measure"]))
        for measure, value, unit, says in shown.drop(columns="kind").itertuples(index=False, name=None):
            seen = 0.0 if abs(value) < ROUNDING else value
            say(f"  {measure:<{names}}  {seen:>9.4g} {unit:<11}  {says}")


# A report that a command writes.


#: Endings of files that a report is written to.
PAGES = {".html", ".htm"}


def write_report(
    posts: Mapping[str, Posterior | PartitionedPosterior],
    originals: Mapping[str, pd.DataFrame | None],
    options: argparse.Namespace,
    path: str,
    **more: Any,
) -> None:
    """Write a report of answers, each judged as the options say, and by the original records of each, if there are any."""
    first = next(iter(posts.values()))
    view: Any = first.release if isinstance(first, PartitionedPosterior) else first.space.view
    about = {"table": ", ".join([options.table, *getattr(options, "more", ())]), **more.pop("about", {})}
    if options.l is not None:
        about |= {"buckets": f"made by Anatomy, l = {options.l}, exempt = {options.exempt or 0}", "seed": options.seed}
    threshold = options.threshold
    if (limit := options.fail_above) is not None:  # the page and the exit status say the same
        verdicts = [judge(post, options, None) for post in posts.values()]
        failing = [verdict.above.threshold for verdict in verdicts if verdict.above is not None and verdict.fails]
        threshold = max(failing) if failing else max(strict_threshold(limit, post) for post in posts.values())
        about["limit"] = f"nobody may be exposed above P = {limit:g}"
    given: Any = first if len(posts) == 1 else posts
    known = {name: table for name, table in originals.items() if table is not None}
    original = next(iter(known.values()), None) if len(posts) == 1 else known or None
    asked = exposure_kwargs(options, view)
    for post in posts.values():
        check_population(post, options)
    population = options.population_size
    report(given, path, threshold=threshold, **asked, original=original, about=about, population=population, **more)
    say(f"wrote {path}")


# ``maxent-cvx quantify`` of Parquet files: a release in partitions, on this machine or on a cluster of Dask.


#: Options of ``quantify`` that a table in memory is needed for, and what to do instead.
IN_MEMORY = {
    "top": "score associations of a CSV file", "l": "write the buckets into a column, and give --bucket",
    "exempt": "write the buckets into a column, and give --bucket", "sa_table": "write values into the same files",
    "generalized": "write the groups into a column, and give --bucket", "id": "read the releases of a series from CSV",
    "qi_table": "rules are about one table of people", "population_size": "leave it out",
    "rows": "write the rows wanted into files of their own",
    "plot": "plot what --out writes",
}  # fmt: skip


def is_in_partitions(options: argparse.Namespace) -> bool:
    """Whether Parquet files are to be read; the options that are for these alone are refused with anything else."""
    tables = [*map(Path, (options.table, *options.more))]
    if any(table.suffix == ".parquet" or (table.is_dir() and table.suffix != ".csv") for table in tables):
        return True
    if options.cluster is not None or options.workers is not None:
        raise TableError(f"--cluster and --workers are for Parquet files; {options.table!r} is none")
    return False


def quantify_partitions(options: argparse.Namespace, statements: Sequence[Statement]) -> int:
    """Print what the release discloses; write P(q, s, b) of every partition where asked."""
    for name, instead in IN_MEMORY.items():
        if getattr(options, name, None) not in (None, False):
            option = "--" + name.replace("_", "-")
            raise TableError(f"Parquet files are read in partitions, for which there is no {option}: {instead}")
    if options.solver != "auto":
        raise TableError(f"--solver {options.solver}: releases in partitions are solved by the default solver")
    if missing := [f"--{name}" for name in ("qi", "sa", "bucket") if getattr(options, name) is None]:
        raise TableError(f"{', '.join(missing)} must be given: Parquet files do not say which columns those are")
    qi, sa = ([name.strip() for name in text.split(",")] for text in (options.qi, options.sa))
    if options.out is not None and Path(options.out).exists():
        raise TableError(f"cannot write {options.out!r}: it is there; a folder is written whole, under a new name")
    check_output(options.report, PAGES)
    people = None if options.people is None else read_people(options.people)
    with _workers(options) as client:
        release = Release.from_parquet(
            [options.table, *options.more], qi=qi, sa=sa, bucket=options.bucket, count=options.count
        )
        say(f"{release!r}"[1:-1])
        model = PartitionedMaxEnt(release, people).add(*statements)
        for label in model.knowledge:
            say(f"known: {label}")
        post = model.solve(client=client)
        print(f"H({'I, ' * (people is not None)}Q, S, B) = {post.entropy:.6f} nats; {post.certificate}\n")
        if people is not None:
            say(f"P({', '.join(sa)} | person):")
            print(table_text(post.people(), float_format=lambda x: f"{x:.4f}"), end="\n\n")
        print("Worst disclosure over all QI tuples:")
        worst = measures.disclosure(post, worst=True)
        print(table_text(worst, index=False, float_format=lambda x: f"{x:.4g}"))
        verdict = judge(post, options, None)
        print()
        print_exposure(verdict, options)
        print_limit(verdict, options)
        advice = [*withholding(verdict.above, options)] if verdict.above is not None and verdict.fails else []
        say(*advice)
        if options.out:
            post.to_parquet(options.out)
            say(f"wrote {options.out}")
        if options.report:
            write_report({"": post}, {}, options, options.report)
        status = verdict.status
        if options.json:
            write_result(options, post, model.knowledge, verdict, {"advice": advice}, status)
    return status


def _workers(options: argparse.Namespace) -> Any:
    """The client of a cluster, or of processes of this machine, for as long as it is needed; None for threads."""
    if options.cluster is None and options.workers is None:
        return nullcontext()
    if options.cluster is not None and options.workers is not None:
        raise TableError("--cluster says where the workers are, and --workers starts others; give one")
    if options.workers is not None and options.workers < 1:
        raise TableError(f"--workers {options.workers}: at least one process is needed")
    return _client(options.cluster, options.workers)


@contextmanager
def _client(address: str | None, workers: int | None) -> Iterator[Any]:
    """Connect to a scheduler, or start a cluster on this machine."""
    try:
        from distributed import Client
    except ImportError:
        raise TableError("--cluster and --workers need Dask: pip install 'maxent-cvx[dask]'") from None
    if workers is not None:
        with local_client(workers) as client:
            yield client
        return
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:  # a wrong address is a ValueError, one that does not answer an OSError
        raise TableError(f"--cluster {address}: no scheduler of Dask answers there ({error})") from error
    with client:
        yield client


#: Options that --top has no use for.
NOT_SCORED = (
    "know", "knowledge", "people", "fail_above", "sensitive", "baseline", "within", "id", "qi_table", "report",
)  # fmt: skip


def quantify_command(options: argparse.Namespace) -> int:
    """Print what the release discloses, or the scores; write and draw them where asked."""
    find(options.solver)  # before any work
    one_source_of_buckets(options)
    if options.top and (given := [f"--{n.replace('_', '-')}" for n in NOT_SCORED if getattr(options, n)]):
        raise TableError(f"--top scores adversaries who know associations only; leave out {' and '.join(given)}")
    statements = statements_of(options)
    if is_in_partitions(options):
        return quantify_partitions(options, statements)
    if options.sa_table and options.top:
        raise TableError("--sa-table has no records to mine for --top")
    asked = question(options, statements)
    check_output(options.out, {".csv"} if options.top else {".csv", ".parquet"})
    check_output(options.plot, PICTURES)
    check_output(options.report, PAGES)
    say(f"{asked.found.view!r}"[1:-1])
    return _score(asked.found, options) if options.top else asked.answer()


def question(options: argparse.Namespace, statements: list[Statement]) -> Question:
    """Read what is published, and who is known by name."""
    people = None if options.people is None else read_people(options.people)
    is_made = not (options.bucket or options.sa_table or options.generalized)
    found = material(options)
    return Question(options, found, people, statements, options.l if is_made else None)


@dataclass(frozen=True, eq=False)
class Question:
    """What is inferred from a release by somebody who knows some statements, and people by name."""

    options: argparse.Namespace
    found: CommandInput
    people: pd.DataFrame | None
    statements: list[Statement]
    made: int | None

    def answer(self) -> int:
        """Print, write and draw the answer, and give the exit status."""
        model = self.model(self.found.view)
        for label in model.knowledge:
            say(f"known: {label}")
        post = self.solved(model)
        self._print(post, model)
        verdict = judge(post, self.options, self.found.original)
        print_exposure(verdict, self.options)
        if (original := self.found.original) is not None:
            divergence = measures.overall_divergence(post, original)
            print(f"Divergence from the truth: {divergence:.6f} bits")
        print_risks(risks := risks_beside(post, original, self.options))
        print_limit(verdict, self.options)
        advice = [in_options(line, self.options) for line in self.advice(verdict)] if verdict.fails else []
        for line in advice:
            say(line)
        self._write(post)
        if self.options.report:
            write_report({"": post}, {"": self.found.original}, self.options, self.options.report)
        status = verdict.status
        if self.options.json:
            more: dict[str, object] = {"advice": advice, "risks": risks.to_dict("records")}
            if original is not None:
                more["divergence_bits"] = divergence
            if len(model.space.people):
                more["people"] = [{"person": who, "P": p} for who, p in post.people().to_dict("index").items()]
            write_result(self.options, post, model.knowledge, verdict, more, status)
        return status

    def model(self, view: View) -> MaxEnt:
        """Add what is known to what is published."""
        return MaxEnt(view, people=self.people).add(*self.found.published, *self.statements)

    def solved(self, model: MaxEnt) -> Posterior:
        """Solve it."""
        try:
            return model.solve(solver=self.options.solver)
        except Infeasible as error:
            raise located(error, model.knowledge) from error

    def advice(self, verdict: Verdict) -> Iterator[str]:
        """Say what would help."""
        assert verdict.above is not None
        assert verdict.limit is not None
        if self.found.original is not None and isinstance(self.found.view, Release):
            yield larger_buckets(verdict.limit, self.made, self.found.original, self.options, self._above)
        yield from withholding(verdict.above, self.options)

    def _above(self, view: View) -> Exposure | None:
        """Who is exposed above the limit by another release of the same people."""
        return judge(self.model(view).solve(solver=self.options.solver), self.options, None).above

    def _print(self, post: Posterior, model: MaxEnt) -> None:
        named = len(model.space.people) > 0
        entropy = "H(" + "I, " * named + "Q, S, B)" if isinstance(model.view, Release) else "entropy"
        print(f"{entropy} = {post.entropy:.6f} nats; {post.certificate}\n")
        if named:
            say(f"P({', '.join(model.view.sensitive)} | person):")
            print(table_text(post.people(), float_format=lambda x: f"{x:.4f}"), end="\n\n")
        print("Worst disclosure over all QI tuples:")
        worst = measures.disclosure(post, worst=True)
        print(table_text(worst, index=False, float_format=lambda x: f"{x:.4g}"), end="\n\n")

    def _write(self, post: Posterior) -> None:
        """Write and draw the answer where asked: of people who are named, theirs."""
        out, sensitive = self.options.out, ", ".join(self.found.view.sensitive)
        if out and Path(out).suffix == ".parquet":
            post.save(out)
            say(f"wrote {out}")
        elif out and self.people is not None:
            write(
                out,
                lambda path: without_formulas(post.people(), self.options).to_csv(path),
                f": P({sensitive} | person)",
            )
        elif out:
            write(out, lambda path: without_formulas(post.conditional(), self.options).to_csv(path))
        if self.options.plot:
            draw(self.options.plot, plots.posterior(post))


def _score(found: CommandInput, options: argparse.Namespace) -> int:
    """Print the paper's (bound, score), for three kinds of adversary."""
    if not isinstance(found.view, Release):
        raise TableError("--top scores one release; give one TABLE")
    kinds = {"K+": lambda k: (k, 0), "K-": lambda k: (0, k), "K/2 + K/2": lambda k: (k - k // 2, k // 2)}
    bounds = {(name, k): bound(k) for name, bound in kinds.items() for k in options.top}
    table = quantify(
        found.view, found.records, list(bounds.values()), min_support=options.min_support, solver=options.solver
    )
    table.insert(0, "K", [k for _, k in bounds])
    table.insert(0, "curve", [name for name, _ in bounds])
    print("score: divergence of P(s | q) from the truth, bits; term_divergence: the same over P(q, s, b)")
    print(table_text(table, index=False, formatters={"certified_error": "{:.0e}".format, "seconds": "{:.2f}".format}))
    scores = table.pivot(index="K", columns="curve", values="score")
    lowest = scores.iloc[-1].idxmin()
    falls = {name: bool((scores[name].diff().dropna() <= 0).all()) for name in kinds}
    print(f"\nAt K = {scores.index[-1]} the curve {lowest} lies lowest (the adversary is closest to the truth).")
    print("The score never rises with K: " + ", ".join(f"{name} {'yes' if ok else 'no'}" for name, ok in falls.items()))
    if options.out:
        write(options.out, lambda path: table.to_csv(path, index=False))
    if options.plot:
        curves = {name: table[table["curve"] == name] for name in kinds}
        draw(options.plot, plots.quantification(curves))
    if options.json:
        scored(options, found.view, table)
    return 0


# ``maxent-cvx report``: what a release discloses, as one page.


def report_command(options: argparse.Namespace) -> int:
    """Write the page, and print who is exposed."""
    find(options.solver)  # before any work
    one_source_of_buckets(options)
    check_output(options.out, PAGES)
    if Path(options.table).suffix == ".parquet" or (Path(options.table).is_dir() and options.table != "-"):
        raise TableError(f"a report of Parquet files is written by: maxent-cvx quantify {options.table} --report FILE")
    asked = dict(_questions(options))
    posts, originals, statuses = {}, {}, list[int]()
    for name, one in asked.items():
        say(f"{name}: {one.found.view!r}".replace("<", "").rstrip(">") if name else f"{one.found.view!r}"[1:-1])
        posts[name] = one.solved(one.model(one.found.view))
        originals[name] = one.found.original
        verdict = judge(posts[name], options, one.found.original)
        print_exposure(verdict, options)
        print_limit(verdict, options)
        statuses.append(verdict.status)
    attacks = [name.replace("-", "_") for name in options.attack]
    about = dict(options.about)
    more = {"attacks": attacks, "records": options.records, "about": about, "rows": options.listed}
    write_report(posts, originals, options, options.out, **more)
    return EXPOSED if EXPOSED in statuses else max(statuses)


def _questions(options: argparse.Namespace) -> Iterator[tuple[str, Question]]:
    """Read one release, or a series; or several releases, each under the name of its table."""
    statements = statements_of(options)
    if not options.more or options.id is not None:
        yield "", question(options, statements)
        return
    names = [options.table, *options.more]
    if len({*names}) < len(names):
        raise TableError("a TABLE is given twice; in a report each has a name of its own")
    for name in names:
        own = copy.copy(options)
        own.table, own.more = name, []
        yield name, question(own, statements)
