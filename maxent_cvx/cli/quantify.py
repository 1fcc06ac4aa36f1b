"""``maxent-cvx quantify`` and ``maxent-cvx report``: inferences from a release, and the exposed people."""

from __future__ import annotations

import glob
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from .. import anonymize, experiments, measures, plots
from .._utils.errors import Infeasible, MaxEntError, TableError, pluralize, unknown_name
from .._utils.formatting import Message, format_number, rounded
from .._utils.parallel import local_client
from .._utils.validation import check_in
from ..measures.exposure import WITHOUT_HER, Exposure, certified_error
from ..model.maxent import MaxEnt, load_posterior
from ..model.partitioned import PartitionedMaxEnt, PartitionedPosterior
from ..model.posterior import Posterior
from ..model.storage import is_saved
from ..releases.partitioned import PartitionedRelease
from ..releases.release import Release
from ..releases.series import ReleaseSeries
from ..reporting.language import languages
from ..reporting.report import report as make_report
from ..solvers.backends import find
from .inputs import (
    CommandInput,
    check_buckets,
    known_values,
    located,
    numbers_by_value,
    people_of,
    printed,
    read_further,
    read_input,
    statements_of,
    values_as_printed,
)
from .options import (
    ExposureOptions,
    QuantifyOptions,
    ReportOptions,
    given,
    table_arguments,
    typed,
    with_dataset_defaults,
)
from .output import PICTURES, check_output, describe_release, draw, without_formulas, write, write_answer, write_result
from .streams import EXPOSED, UNDECIDED, flag, say, table_text

#: The meaning of the columns of the worst disclosure.
LEGEND = (
    "people: size of the smallest group; max_p: the largest P(s | q); value: the value that attains it;\n"
    "distinct_l: the least number of possible values;\n"
    "entropy_l: exp of the least entropy; recursive_c: of recursive (c, 2)-diversity; r: 1 / max_p"
)
#: Groups of exposed people that are printed.
LISTED = 10
#: Probabilities that differ by less are equal up to rounding.
ROUNDING = 1e-9
#: Number of bucket sizes tried for advice, with one solve per size.
TRIES = 6
#: Endings of report files.
PAGES = {".html", ".htm"}
#: Measures printed besides the inference risk; --json contains all measures.
PRINTED = (
    "k", "records below k", "sample uniques", "prosecutor risk", "journalist risk", "population uniques",
    "population uniques (Pitman)", "marketer risk", "median query error", "total variation, attribute",
    "total variation, attribute with the sensitive values",
)  # fmt: skip
#: Baselines that are not read from a file.
BASELINES = ("none", "overall", WITHOUT_HER)
#: Units of counts.
WHOLE = {"people", "records", "classes"}
#: Options that --top does not use.
NOT_SCORED = (
    "know", "knowledge", "people", "fail_above", "sensitive", "baseline", "within", "id", "qi_table", "report",
)  # fmt: skip
#: Options that require a table in memory, with alternatives for Parquet files.
IN_MEMORY = {
    "top": "score the associations of a CSV file", "l": "write the buckets into a column, and give --bucket",
    "exempt": "write the buckets into a column, and give --bucket", "sa_table": "write the values into the same files",
    "generalized": "write the groups into a column, and give --bucket", "id": "name one file per release, without --workers",
    "qi_table": "rules are about one table of people", "population_size": "leave it out",
    "original": "leave it out", "rows": "write the rows into files of their own", "plot": "plot what --out writes",
    "missing": "leave rows with missing cells out of the files", "missing_codes": "leave these rows out of the files",
    "counterfeits": "leave it out", "no_count": "leave the column out of the files",
}  # fmt: skip

#: Rows of a Parquet file up to which it is read into memory, as other files are.
MOST_IN_MEMORY = 1_000_000

AnyPosterior = Posterior | PartitionedPosterior


def quantify(options: QuantifyOptions) -> int:
    """Print what the adversary infers and who is exposed, or the scores of --top; write and plot it as requested."""
    find(options.solver)  # refuse unknown names before any work
    check_buckets(options)
    if options.top and (unused := [flag(name) for name in NOT_SCORED if name in given(options)]):
        raise TableError(f"--top scores adversaries who know associations only; leave out {' and '.join(unused)}")
    statements = statements_of(options)
    is_in_partitions = _is_in_partitions(options)
    if is_in_partitions:
        _check_partitions(options)
    else:
        check_output(options.out, {".csv"} if options.top else {".csv", ".parquet"})
    check_output(options.plot, PICTURES)
    check_output(options.report, PAGES)
    with _client(options) as client:
        source = read_input(options, statements, in_partitions=is_in_partitions)
        say(f"{source.view!r}"[1:-1])
        return _score(source, options) if options.top else _answer(source, options, client)


def _answer(source: CommandInput, options: QuantifyOptions, client: Any) -> int:
    """Print what is inferred and who is exposed; write and plot it as requested."""
    model = source.model(source.view)
    for label in model.knowledge:
        say(f"known: {label}")
    post = solve(model, options, client)
    _print_posterior(post)
    _print_missing_baseline(options, post.view)
    verdict = judge(post, options, source.original)
    _print_exposure(verdict)
    divergence = None
    if source.original is not None:
        divergence = measures.overall_divergence(post, source.original)
        print(f"Divergence from the truth: {divergence:.6f} bits")
    risks = _other_risks(post, source.original, options)
    _print_limit(verdict)
    advice = list(_advice(source, verdict, options))
    say(*advice)

    if isinstance(post, PartitionedPosterior):
        if options.out:
            post.to_parquet(options.out)
            say(f"wrote {options.out}")
    elif options.out and Path(options.out).suffix == ".parquet":
        post.save(options.out)
        say(f"wrote {options.out}")
    elif options.out:
        table = post.conditional() if source.people is None else post.people()
        description = "" if source.people is None else f": P({', '.join(source.view.sensitive)} | person)"
        write(options.out, without_formulas(table, options).to_csv, description)
    if options.plot:
        draw(options.plot, plots.posterior(post))  # type: ignore[arg-type]  # in partitions there is no --plot
    if options.report:
        write_report({"": post}, {"": source.original}, options, options.report)
    if options.json:
        people = post.people().to_dict("index") if len(post.known_people) else {}
        write_result(
            options, post, model.knowledge, verdict, advice=advice, risks=risks, divergence_bits=divergence,
            people=[{"person": who, "P": p} for who, p in people.items()],
        )  # fmt: skip
    return verdict.status


def report(options: ReportOptions) -> int:
    """Write the report page, and print who is exposed."""
    find(options.solver)  # refuse unknown names before any work
    check_in(options.language, "language", languages())
    check_buckets(options)
    check_output(options.out, PAGES)
    if Path(options.table).is_dir() and options.table != "-":
        raise TableError(f"for a report of Parquet files use: maxent-cvx quantify {options.table} --report FILE")
    statements = statements_of(options)
    if not options.more or options.id is not None:  # one release, or a series
        sources = {"": read_input(options, statements)}
    else:
        if len({*options.tables}) < len(options.tables):
            raise TableError("a TABLE is given twice; the tables of a report must be different")
        of_tables = {name: with_dataset_defaults(replace(options, table=name, more=())) for name in options.tables}
        sources, known = dict[str, CommandInput](), dict[str, pd.Index]()
        for name, options_of_table in of_tables.items():
            sources[name] = source = read_input(options_of_table, statements, known=known)
            # The values of --sensitive, and of a file of the baseline, are those of all tables.
            if not known and (options.sensitive or options.baseline not in (None, *BASELINES)):
                known = {of: source.view.sensitive_values.get_level_values(of) for of in source.sa}
    posts, originals, statuses = {}, {}, list[int]()
    for name, source in sources.items():
        say(f"{name}: {source.view!r}".replace("<", "").rstrip(">") if name else f"{source.view!r}"[1:-1])
        posts[name], originals[name] = solve(source.model(source.view), options), source.original
        _print_missing_baseline(options, source.view)
        verdict = judge(posts[name], options, source.original)
        _print_exposure(verdict)
        _print_limit(verdict)
        statuses.append(verdict.status)
    assert options.out is not None
    write_report(
        posts, originals, options, options.out, attacks=[name.replace("-", "_") for name in options.attack],
        records=options.records, about=dict(options.about), rows=options.listed, language=options.language,
    )  # fmt: skip
    return EXPOSED if EXPOSED in statuses else max(statuses)


def solve(model: MaxEnt | PartitionedMaxEnt, options: ExposureOptions, client: Any = None) -> AnyPosterior:
    """Solve a model; a contradiction names the files and lines of its statements."""
    try:
        if isinstance(model, PartitionedMaxEnt):
            return model.solve(client=client)
        return model.solve(solver=options.solver)
    except Infeasible as error:
        raise located(error, model.knowledge) from error


# ----------------------------------------------------------------------------------------------------------- the verdict


@dataclass(frozen=True, eq=False)
class Verdict:
    """The exposure at the threshold, and above the limit of --fail-above or at a higher threshold."""

    exposure: Exposure
    limit: float | None
    above: Exposure | None

    @property
    def fails(self) -> bool:
        """Whether somebody is exposed above the limit."""
        return self.above is not None and self.above.people > 0

    @property
    def is_undecided(self) -> bool:
        """Whether nobody is exposed above the limit, but the comparison of values is unreliable."""
        return self.above is not None and not self.fails and bool(self.above.undecided)

    @property
    def status(self) -> int:
        """The exit status."""
        return EXPOSED if self.fails else UNDECIDED if self.is_undecided else 0


def judge(post: AnyPosterior, options: ExposureOptions, original: pd.DataFrame | None) -> Verdict:
    """Compute the exposure at the threshold and above the limit."""
    arguments = exposure_kwargs(options, post.view)
    exposure = measures.exposed(post, options.threshold, original, **arguments)
    if (limit := options.fail_above) is None:
        return Verdict(exposure, None, None)
    truth = original if options.baseline == WITHOUT_HER else None  # the attack's success is printed once
    # People exposed at a higher threshold are exposed above the limit too, even if the baseline is between the two.
    strict = strict_threshold(limit, post)
    above = measures.exposed(post, [strict, max(strict, options.threshold)], truth, **arguments)
    return Verdict(exposure, limit, above)


def strict_threshold(limit: float, post: AnyPosterior) -> float:
    """Return the limit plus more than the certified error, so that 1/l does not count as above 1/l."""
    return min(limit + 2 * certified_error(post) + ROUNDING, 1.0)


def exposure_kwargs(options: ExposureOptions, view: Any) -> dict[str, Any]:
    """Return the arguments of :func:`maxent_cvx.measures.exposed`."""
    within: Any = options.within
    if within is not None and within.endswith(".csv"):
        within = Path(within)
    elif within is not None:
        with suppress(ValueError):  # a duration, such as "30 days", remains a text
            within = float(within)
    sensitive = values_as_printed(options.sensitive, view.sensitive_values) if options.sensitive else None
    return {"sensitive": sensitive, "baseline": _baseline(options, view), "within": within}


def _print_missing_baseline(options: ExposureOptions, view: Any) -> None:
    """Print why there is no baseline, unless the option is given."""
    if options.baseline is None and view.n_s is None:
        print(
            f"baseline: none, since the {view.noun} does not publish how many people have each value (see --baseline)"
        )


def _baseline(options: ExposureOptions, view: Any) -> Any:
    """Read the baseline: a name, a posterior, values with their P, or QI with one column per value."""
    source = options.baseline
    if source is None:
        source = "none" if view.n_s is None else "overall"
    if source in BASELINES:
        return None if source == "none" else source
    if is_saved(source):
        return load_posterior(source)
    table = read_further(source, options, known_values(view, cells=True))
    if {*view.sensitive} <= {*table.columns}:
        return _baseline_by_value(table, view, source)
    attributes = [name for name in table.columns if name in view.qi]
    if not attributes:
        raise TableError(
            f"{source!r} has the columns {', '.join(table.columns)}; expected {', '.join(view.sensitive)} and P, or some "
            f"of {', '.join(view.qi)} and one column per value"
        )
    by_group = table.set_index(attributes)
    values: Any = values_as_printed(list(by_group.columns), view.sensitive_values)
    return by_group.set_axis(pd.Index(values), axis=1)


def _baseline_by_value(table: pd.DataFrame, view: Any, path: str) -> pd.Series:
    """Return P by value, with values of the types of the release instead of those of the file."""
    shares = numbers_by_value(table, list(view.sensitive), path, "a column of probabilities")
    texts = [printed(value) for value in shares.index]
    values: Any = values_as_printed(texts, view.sensitive_values)
    if len(lost := set(view.sensitive_values) - {*values}) == len(view.sensitive_values):
        raise unknown_name(f"sensitive value (in {path!r})", texts[0], lost)
    return shares.set_axis(pd.MultiIndex.from_tuples(values) if len(view.sensitive) > 1 else pd.Index(values))


# --------------------------------------------------------------------------------------------------------- printed output


def _print_posterior(post: AnyPosterior) -> None:
    """Print the entropy, the certificate, the inferences about named people, and the worst disclosure."""
    is_named = len(post.known_people) > 0
    has_buckets = isinstance(post.view, Release | PartitionedRelease)
    entropy = f"H({'I, ' * is_named}Q, S, B)" if has_buckets else "entropy"
    print(f"{entropy} = {post.entropy:.6f} nats; {post.certificate}\n")
    if is_named:
        say(f"P({', '.join(post.view.sensitive)} | person):")
        print(table_text(post.people(), float_format=lambda x: f"{x:.4f}"), end="\n\n")
    print("Worst disclosure over all QI tuples:")
    worst = measures.disclosure(post, worst=True)
    worst["value"] = worst["value"].map(printed)  # formatted as labels, which are not rounded
    worst = worst.dropna(axis=1)  # a series does not publish how many people have each value, and has no t
    print(table_text(worst, index=False, float_format=lambda x: f"{x:.4g}"))
    print(LEGEND + ";\nt: the largest distance of P(. | q) from P(.)" * ("t" in worst.columns), end="\n\n")


def _print_exposure(verdict: Verdict) -> None:
    print(verdict.exposure)
    if verdict.exposure.people:
        _print_groups(verdict.exposure)


def _print_limit(verdict: Verdict) -> None:
    """Print whether somebody is exposed above the limit, and the groups unless printed before."""
    if (above := verdict.above) is None:
        return
    assert verdict.limit is not None
    limit, equal = format_number(verdict.limit), ""
    text = f"exposed above P = {limit} (--fail-above)"
    if verdict.exposure.threshold == verdict.limit and verdict.exposure.people > above.people:
        equal = f"; people with P = {limit} are not above it"
    if verdict.is_undecided:
        print(f"\nUNDECIDED: nobody is {text}, but the values cannot be compared as they are; see the warnings")
    elif not above.people:
        print(f"\nPASS: nobody is {text}{equal}")
    else:
        are = "is" if above.people == 1 else "are"
        print(f"\nFAIL: {above.people} of {pluralize(above.total, 'person', 'people')} {are} {text}{equal}")
    printed = str(verdict.exposure).splitlines()
    say(*(line for line in str(above).splitlines()[1:] if line not in printed))
    if above.people and not above.who.index.equals(verdict.exposure.who.index):
        _print_groups(above)


def _print_groups(exposure: Exposure) -> None:
    """Print the exposed groups, the largest probability first."""
    shown = exposure.who.head(LISTED)
    formats: Any = dict.fromkeys(("P", "baseline"), "{:.4g}".format)
    print(table_text(shown.reset_index(), index=False, formatters=formats))
    if len(exposure.who) > len(shown):
        print(f"... and {pluralize(len(exposure.who) - len(shown), 'more group')}; quantify --json lists all of them")


def _population_size(post: AnyPosterior, options: ExposureOptions) -> int | None:
    size = options.population_size
    if size is None:
        return None
    if isinstance(post.view, PartitionedRelease | ReleaseSeries):
        raise TableError("--population-size requires a single release in memory")
    if size < (n := post.view.n_records):
        raise TableError(f"--population-size {size} must be at least the {n} people of the release")
    return size


def _other_risks(post: AnyPosterior, original: pd.DataFrame | None, options: QuantifyOptions) -> list[Any]:
    """Compute re-identification risk and utility, except for a series of releases; print the main measures."""
    size = _population_size(post, options)
    if isinstance(post.view, PartitionedRelease | ReleaseSeries):
        return []
    table = measures.risk_utility(post, original, threshold=options.threshold, baseline=None, population=size)
    risks = table.drop("inference risk", level="kind").reset_index()
    shown = risks[risks["measure"].isin(PRINTED)]
    if len(shown):
        print("\nOther measures (--json lists all of them):")
        width = max(map(len, shown["measure"]))
        for measure, value, unit, says in shown.drop(columns="kind").itertuples(index=False, name=None):
            exact = 0.0 if abs(value) < 1e-12 else value  # rounding of sums of shares
            number = f"{exact:,.0f}" if unit in WHOLE else rounded(exact, 4)
            say(f"  {measure:<{width}}  {number:>9} {unit:<11}  {says}")
    return risks.to_dict("records")


# ---------------------------------------------------------------------------------------------------------------- advice


def _advice(source: CommandInput, verdict: Verdict, options: ExposureOptions) -> Iterator[str]:
    """Yield suggestions if people are exposed above the limit."""
    if not verdict.fails or (above := verdict.above) is None:
        return
    if source.original is not None and isinstance(source.view, Release):
        yield _larger_buckets(source, source.original, verdict, options)
    elif options.is_generalized:
        yield "Publish larger groups (publish --method mondrian with a larger --k), or groups with several values (--l)."
    if not options.sensitive:
        yield "If not every value is sensitive, name those that are (--sensitive)."
    yield (
        f"Or withhold the records of the {pluralize(above.people, 'person', 'people')} in "
        f"{pluralize(len(above.who), 'group')} above, and quantify the remaining table, which is another release."
    )


def _larger_buckets(source: CommandInput, records: pd.DataFrame, verdict: Verdict, options: ExposureOptions) -> str:
    """Try increasing bucket sizes for the same people, and report the first at which nobody is exposed."""
    limit = verdict.limit
    assert limit is not None  # somebody is exposed above it
    # Without knowledge, no probability is above 1 / l.
    least = math.ceil(1 / (limit + ROUNDING))
    tried, end, others = None, "", "Generalized groups may pass (publish --method mondrian)."
    method: Any = {"qi": source.qi, "sa": source.sa, "exempt": options.exempt or 0, "seed": options.seed}
    for l in range(max(2, least, (source.l or 0) + 1), len(records) + 1)[:TRIES]:
        try:
            release = anonymize.anatomy(records, l=l, **method)
            original = None
            if options.baseline == WITHOUT_HER:  # the original records have the buckets of the release
                original = records.assign(**{release.bucket: anonymize.anatomy_buckets(records, l=l, **method)})
            above = judge(solve(source.model(release), options), options, original).above
        except MaxEntError as error:
            reason = str(error).removesuffix(", or choose a smaller l")  # which does not pass
            if tried is None:
                return f"Anatomy cannot make buckets with --l {l}: {reason}. {others}"
            end = f", and larger ones cannot be made: {reason}"
            break
        tried = l
        if above is not None and not above.people and not above.undecided:
            more = ["--l", str(l), "--exempt", str(options.exempt or 0), "--seed", str(options.seed)]
            table = options.original or options.table
            about = (
                options if options.original is None else replace(options, rows=None, count=None)
            )  # these are TABLE's
            command = typed("maxent-cvx publish", [table], source.qi, source.sa, *more, *table_arguments(about))
            return (
                f"Anatomy's buckets with --l {l} pass: nobody is exposed above P = {format_number(limit)}. Publish them:"
                f"  {command}"
            )
    if tried is None:
        return f"Anatomy's buckets of {len(records)} records do not pass at any size."
    return f"Anatomy's buckets up to --l {tried} do not pass{end}. {others}"


# ---------------------------------------------------------------------------------------------------------------- reports


def write_report(
    posts: Mapping[str, AnyPosterior],
    originals: Mapping[str, pd.DataFrame | None],
    options: ExposureOptions,
    path: str,
    *,
    about: Mapping[str, object] | None = None,
    **more: Any,
) -> None:
    """Write a report of posteriors by name ("" for a single one), with the thresholds of --fail-above if it is given."""
    first = next(iter(posts.values()))
    about = {"table": ", ".join(options.tables), **(about or {})}
    if options.l is not None:
        made = Message("made by Anatomy, l = {l}, exempt = {exempt}", l=options.l, exempt=options.exempt or 0)
        about |= {"buckets": made, "seed": options.seed}
    thresholds = [options.threshold]
    if (limit := options.fail_above) is not None:  # the page must agree with the exit status
        verdicts = [judge(post, options, originals.get(name)) for name, post in posts.items()]
        failing = [verdict.above.threshold for verdict in verdicts if verdict.above is not None and verdict.fails]
        strict = max(failing or [strict_threshold(limit, post) for post in posts.values()])
        thresholds = [strict, max(strict, options.threshold)]
        about["limit"] = Message("nobody may be exposed above P = {limit}", limit=format_number(limit))
    for post in posts.values():
        _population_size(post, options)
    reported: Any = first if len(posts) == 1 else posts
    known = {name: table for name, table in originals.items() if table is not None}
    make_report(
        reported, path, threshold=thresholds, **exposure_kwargs(options, first.view), about=about,
        original=next(iter(known.values()), None) if len(posts) == 1 else known or None,
        population=options.population_size, **more,
    )  # fmt: skip
    say(f"wrote {path}")


# ----------------------------------------------------------------------------------------------------------------- scores


def _score(source: CommandInput, options: QuantifyOptions) -> int:
    """Print the paper's (bound, score), for three kinds of adversary."""
    if not isinstance(source.view, Release):
        raise TableError("--top scores one release; give one TABLE")
    if source.original is None and (options.sa_table or options.population):
        raise TableError(
            "--top mines associations from original records, which TABLE does not contain; give --original"
        )
    records = source.records if source.original is None else source.original
    kinds = {"K+": lambda k: (k, 0), "K-": lambda k: (0, k), "K/2 + K/2": lambda k: (k - k // 2, k // 2)}
    bounds = {(name, k): bound(k) for name, bound in kinds.items() for k in options.top}
    assert records is not None  # there is no --top in partitions
    if options.count is not None and options.count in records.columns:
        records = people_of(records, options.count)
    table = experiments.quantify(
        source.view, records, list(bounds.values()), min_support=options.min_support, solver=options.solver
    )
    table.insert(0, "K", [k for _, k in bounds])
    table.insert(0, "curve", [name for name, _ in bounds])
    print("score: divergence of P(s | q) from the truth, bits; term_divergence: the same over P(q, s, b)")
    print(table_text(table, index=False, formatters={"certified_error": "{:.0e}".format, "seconds": "{:.2f}".format}))
    scores = table.pivot(index="K", columns="curve", values="score")
    falls = {name: bool((scores[name].diff().dropna() <= 0).all()) for name in kinds}
    print(
        f"\nAt K = {scores.index[-1]} the curve {scores.iloc[-1].idxmin()} is lowest (the adversary is closest to the truth)."
    )
    print("Score nonincreasing in K: " + ", ".join(f"{name} {'yes' if ok else 'no'}" for name, ok in falls.items()))
    plot = partial(plots.quantification, {name: table[table["curve"] == name] for name in kinds})
    write_answer(options, table, plot, index=False, release=describe_release(source.view), scores=table)
    return 0


# --------------------------------------------------------------------------------------- Parquet files, read in partitions


def _is_in_partitions(options: QuantifyOptions) -> bool:
    """Return whether the tables are Parquet files for partitions; other tables refuse --cluster and --workers."""
    tables = [*map(Path, options.tables)]
    if any(table.is_dir() and table.suffix != ".csv" for table in tables):
        return True
    if any(table.suffix == ".parquet" for table in tables):
        if any(glob.glob(str(table)) and not table.exists() for table in tables):  # Windows' shells expand no patterns
            return True
        if options.cluster is not None or options.workers is not None:
            return True
        is_large = len(tables) > 1 or (options.bucket is not None and _n_rows(tables[0]) > MOST_IN_MEMORY)
        return is_large and options.id is None  # several TABLEs with --id are a series
    if options.cluster is not None or options.workers is not None:
        raise TableError(f"--cluster and --workers are for Parquet files, not for {options.table!r}")
    return False


def _n_rows(path: Path) -> int:
    """Return the number of rows of a Parquet file; 0 if it is not one, as reading it will say."""
    from pyarrow.parquet import read_metadata

    with suppress(OSError, ValueError):
        return int(read_metadata(path).num_rows)
    return 0


def _check_partitions(options: QuantifyOptions) -> None:
    """Refuse options that releases in partitions do not support, before any work."""
    for name, instead in IN_MEMORY.items():
        if name in given(options):
            raise TableError(
                f"{flag(name)} is not supported for Parquet files, which are read in partitions: {instead}"
            )
    if options.solver != "auto":
        raise TableError(f"--solver {options.solver} is not supported for releases in partitions; omit --solver")
    if missing := [flag(name) for name in ("qi", "sa", "bucket") if getattr(options, name) is None]:
        raise TableError(f"{', '.join(missing)} must be given for Parquet files")
    if options.out is not None and Path(options.out).exists():
        raise TableError(f"cannot write {options.out!r}: it already exists; give the name of a new folder")


@contextmanager
def _client(options: QuantifyOptions) -> Iterator[Any]:
    """Yield a client of a cluster or of local processes, and close it at the end; None for threads."""
    address, workers = options.cluster, options.workers
    if address is None and workers is None:
        yield None
        return
    if address is not None and workers is not None:
        raise TableError("--cluster uses existing workers, and --workers starts new ones; give one of them")
    if workers is not None and workers < 1:
        raise TableError(f"--workers {workers}: at least one process is needed")
    try:
        from distributed import Client
    except ImportError:
        raise TableError("--cluster and --workers need Dask: pip install 'maxent-cvx[dask]'") from None
    try:
        started = local_client(workers) if workers is not None else Client(address, timeout="10s")
    except (OSError, ValueError) as error:  # ValueError for an invalid address, OSError without an answer
        raise TableError(f"--cluster {address}: no Dask scheduler answers at this address ({error})") from error
    with started as client:
        yield client
