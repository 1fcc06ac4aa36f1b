"""``maxent-cvx attack``: attacks that need no sensitive background knowledge."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pandas as pd

from .. import attacks, plots
from .._utils.errors import TableError
from ..releases.release import Release
from .inputs import (
    check_buckets,
    free_name,
    read_domain,
    read_records,
    read_release,
    read_statistics,
    truth_of,
    values_as_printed,
)
from .options import DefinettiOptions, ReconstructOptions, ReleaseOptions, WorstCaseOptions, with_dataset_defaults
from .output import PICTURES, check_output, write_answer
from .streams import say, table_text

#: The most certain inferences that are printed.
LISTED = 10


def worst_case(options: WorstCaseOptions) -> None:
    """Print the worst case of each release."""
    _check(options)
    results, releases = {}, {}
    for name in options.tables:
        release, _ = _read(with_dataset_defaults(replace(options, table=name, more=())))
        releases[name] = f"{release!r}"[1:-1]
        sensitive = values_as_printed(options.sensitive, release.sensitive_values) if options.sensitive else None
        results[name] = attacks.worst_case(release, k=options.k, sensitive=sensitive)
    for name, result in results.items():
        say(f"{name}: {releases[name]}", "The largest P(somebody has a value) after any k implications:")
        columns = ["k", "disclosure", "person", "bucket", "value"]
        print(table_text(result[columns], index=False, float_format="{:.4f}".format))
        last = result.iloc[-1]
        examples = last["sentences"] or ["no knowledge is needed"]
        say(f"For k = {last['k']}, for example:", *(f"  {sentence}" for sentence in examples), "")
    table = pd.concat(results, names=["release", None]).reset_index(level=0)
    written = table.assign(sentences=table["sentences"].map("; ".join))
    plot = partial(plots.worst_case, results)
    write_answer(options, written, plot, index=False, worst_case=table.reset_index(drop=True), releases=releases)


def definetti(options: DefinettiOptions) -> None:
    """Print the probabilities of the guesses, the most certain of them, and their accuracy."""
    _check(options)
    release, records = _read(options)
    result = attacks.definetti(
        release, options.classifier.replace("naive-bayes", "naive Bayes"), options.smoothing, options.iterations,
        calibrate=options.calibrate,
    )  # fmt: skip
    say(f"{release!r}"[1:-1])
    say(result)
    surest = result.table.max(axis=1).nlargest(LISTED, keep="first")
    likeliest = result.table.loc[surest.index].idxmax(axis=1)
    print("\nThe most certain inferences:")
    shown = pd.DataFrame({"value": likeliest, "P": surest, "records": result.records.loc[surest.index]})
    groups = surest.index.to_frame(index=False)  # concatenated, since columns may have the same names
    shown = pd.concat([groups, shown.reset_index(drop=True)], axis=1)
    print(table_text(shown, index=False, float_format="{:.4f}".format))
    score = None
    original = None if options.sa_table or options.is_generalized else truth_of(records, options.count)
    if original is not None:
        score = result.judge(original)
        say("", f"Compared with the records: {score}")
        calibration = score.calibration[score.calibration["records"] > 0]
        print(table_text(calibration, float_format="{:.3f}".format))
    right = None if score is None else score.right
    write_answer(options, result.table, result.plot, said=str(result), probabilities=result.table, right=right)


def reconstruct(options: ReconstructOptions) -> None:
    """Print the records that are certain, and the solutions."""
    check_output(options.out, {".csv"})
    check_output(options.plot, PICTURES)
    domain = read_domain(options.domain)
    tables = read_statistics(options.table, domain, options.of, options.decimals)
    result = attacks.reconstruct(tables, domain, limit=options.limit, time_limit=options.time_limit)
    say(result)
    if result.unique:
        print(table_text(result.solutions[0], index=False))
    elif len(result.certain):
        print("\nIn every solution:")
        print(table_text(result.certain, index=False))
    number = free_name("solution", domain)
    listed = pd.concat(dict(enumerate(result.solutions, 1)), names=[number, None]).reset_index(level=0)
    write_answer(
        options, listed, result.plot, index=False, unique=result.unique, complete=result.complete,
        stopped=result.stopped, certain=result.certain.reset_index(drop=True),
        solutions=[solution.to_dict("records") for solution in result.solutions],
    )  # fmt: skip


def _check(options: ReleaseOptions) -> None:
    """Refuse unusable inputs and outputs before any work."""
    check_buckets(options)
    check_output(options.out, {".csv"})
    check_output(options.plot, PICTURES)
    if options.more and options.sa_table:
        raise TableError("--sa-table can be given for a single release only; give one TABLE")


def _read(options: ReleaseOptions) -> tuple[Release, pd.DataFrame]:
    release, records = read_release(read_records(options), options)
    if not isinstance(release, Release):
        raise TableError("--population is not supported by attacks, which require the group of every person")
    return release, records
