"""``maxent-cvx attack``: what can be inferred without knowing anybody's sensitive value."""

from __future__ import annotations

import argparse
import copy

import pandas as pd

from .. import attacks, plots
from .._utils.errors import TableError
from ..releases.release import Release
from .inputs import (
    free_name,
    one_source_of_buckets,
    read_domain,
    read_statistics,
    read_table,
    released,
    values_as_printed,
)
from .output import PICTURES, check_output, draw, tabulated, without_formulas, write
from .streams import say, table_text

__all__ = [
    "definetti",
    "reconstruct",
    "worst_case",
]

#: The surest inferences that are printed.
LISTED = 10


def worst_case(options: argparse.Namespace) -> None:
    """Print the worst of each release."""
    _check(options)
    found, releases = {}, {}
    for name in options.table:
        own = copy.copy(options)
        own.table = name
        release, _ = _release(own)
        releases[name] = f"{release!r}"[1:-1]
        found[name] = attacks.worst_case(
            release, k=options.k, sensitive=values_as_printed(options.sensitive, release.sensitive_values)
        )
    table = pd.concat(found, names=["release", None]).reset_index(level=0)
    for name, one in found.items():
        say(f"{name}: {releases[name]}", "The largest P(somebody has a value) after any k implications:")
        columns = ["k", "disclosure", "person", "bucket", "value"]
        print(table_text(one[columns], index=False, float_format="{:.4f}".format))
        last = one.iloc[-1]
        examples = last["sentences"] or ["nothing need be known"]
        say(f"For k = {last['k']}, for example:", *(f"  {sentence}" for sentence in examples), "")
    if options.out:
        written = table.assign(sentences=table["sentences"].map("; ".join))
        write(options.out, lambda path: without_formulas(written, options).to_csv(path, index=False))
    if options.plot:
        draw(options.plot, plots.worst_case(found))
    if options.json:
        tabulated(options, worst_case=table.reset_index(drop=True), releases=releases)


def definetti(options: argparse.Namespace) -> None:
    """Print how sure the guesses are, the surest of them, and how often they are right."""
    _check(options)
    release, records = _release(options)
    found = attacks.definetti(release, smoothing=options.smoothing, iterations=options.iterations)
    say(f"{release!r}"[1:-1])
    say(found)
    surest = found.table.max(axis=1).nlargest(LISTED, keep="first")
    likeliest = found.table.loc[surest.index].idxmax(axis=1)
    print("\nThe surest:")
    shown = pd.DataFrame({"value": likeliest, "P": surest, "records": found.records.loc[surest.index]})
    whom = surest.index.to_frame(index=False)  # whose columns may have the same names
    shown = pd.concat([whom, shown.reset_index(drop=True)], axis=1)
    print(table_text(shown, index=False, float_format="{:.4f}".format))
    judged = None
    if not options.sa_table and not options.generalized:
        judged = found.judge(records)
        say("", f"Of the records themselves: {judged}")
        held = judged.calibration[judged.calibration["records"] > 0]
        print(table_text(held, float_format="{:.3f}".format))
    if options.out:
        write(options.out, lambda path: without_formulas(found.table, options).to_csv(path))
    if options.plot:
        draw(options.plot, found.plot())
    if options.json:
        right = None if judged is None else judged.right
        tabulated(options, said=str(found), probabilities=found.table, right=right)


def reconstruct(options: argparse.Namespace) -> None:
    """Print the records that are certain, and the solutions."""
    check_output(options.out, {".csv"})
    check_output(options.plot, PICTURES)
    domain = read_domain(options.domain)
    tables = read_statistics(options.tables, domain, options.of, options.decimals)
    found = attacks.reconstruct(tables, domain, limit=options.limit, time_limit=options.time_limit)
    say(found)
    number = free_name("solution", domain)
    listed = pd.concat(dict(enumerate(found.solutions, 1)), names=[number, None]).reset_index(level=0)
    if found.unique:
        print(table_text(found.solutions[0], index=False))
    elif len(found.certain):
        print("\nIn every solution:")
        print(table_text(found.certain, index=False))
    if options.out:
        write(options.out, lambda path: without_formulas(listed, options).to_csv(path, index=False))
    if options.plot:
        draw(options.plot, found.plot())
    if options.json:
        solutions = [one.to_dict("records") for one in found.solutions]
        certain = found.certain.reset_index(drop=True)
        tabulated(
            options, unique=found.unique, complete=found.complete, stopped=found.stopped, certain=certain,
            solutions=solutions,
        )  # fmt: skip


def _check(options: argparse.Namespace) -> None:
    """Refuse what cannot be read or written, before any work."""
    one_source_of_buckets(options)
    check_output(options.out, {".csv"})
    check_output(options.plot, PICTURES)
    if isinstance(options.table, list) and len(options.table) > 1 and options.sa_table:
        raise TableError("--sa-table belongs to one release; give one TABLE")


def _release(options: argparse.Namespace) -> tuple[Release, pd.DataFrame]:
    release, records = released(read_table(options), options)
    if not isinstance(release, Release):
        raise TableError(
            "--population: who is in which group is not known, and these attacks are of releases that say so"
        )
    return release, records
