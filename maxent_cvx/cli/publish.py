"""``maxent-cvx publish``: anonymize a table, and write the release."""

from __future__ import annotations

import csv
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .. import anonymize, measures
from .._utils.errors import TableError, pluralize
from .._utils.formatting import format_number
from ..measures.exposure import check_attributes
from ..model.maxent import MaxEnt
from ..priors import QIDistribution
from ..releases.qi_table import QITable
from ..releases.release import Release
from ..releases.series import ReleaseSeries
from ..sources.rules import PublishedRules
from .inputs import (
    Records,
    anatomize,
    as_text,
    dates_of,
    free_name,
    hierarchies_of,
    people_of,
    read_further,
    read_records,
    statements_of,
    values_as_printed,
)
from .options import (
    PublishOptions,
    as_arguments,
    format_arguments,
    format_list,
    given,
    table_arguments,
    with_dataset_defaults,
)
from .output import check_output, not_a_formula, without_formulas, write
from .streams import DASH, flag, output_files, say

#: Options that a method requires.
NEEDED = {
    "anatomy": ["l"], "mondrian": ["k"], "republish": ["before", "before_sa", "id", "bucket", "l"],
    "similar-linkage": ["r"], "rules": ["support", "confidence"], "search": [],
}  # fmt: skip
#: Defaults of the threshold of exposure and of the time limit of a search, in seconds.
THRESHOLD, SEARCH_SECONDS = 0.8, 60.0
#: The options of each method; other methods refuse them rather than ignore them.
USED = {
    "anatomy": ["l", "safe", "id", "exempt", "seed"], "mondrian": ["l", "k", "safe", "id"],
    "search": ["threshold", "loss", "hierarchy", "methods", "time_limit", "suppress", "know", "knowledge"],
    "republish": ["l", "id", "exempt", "before", "before_sa", "before_count", "bucket", "strategy", "seed"],
    "similar-linkage": ["exempt", "r", "prior", "smoothing", "condition", "suppress", "seed"],
    "rules": ["support", "confidence", "attributes"],
}  # fmt: skip


def run(options: PublishOptions) -> None:
    """Write the release, and print the command that reads it back."""
    method = options.method
    others = [name for names in USED.values() for name in names if name not in USED[method]]
    if unused := [name for name in others if name in given(options)]:
        raise TableError(f"{flag(unused[0])} is not an option of --method {method} (see publish --help)")
    if options.out == DASH and method != "mondrian":
        raise TableError(f"--method {method} writes two tables; give a prefix of their names with --out")
    files = [path for _, path in output_files(options)] or [DASH]
    for path in files:
        check_output(path, {".csv"})
    options = with_dataset_defaults(options)
    records = read_records(options)
    if missing := [flag(name) for name in NEEDED[method] if getattr(options, name) is None]:
        why = "to make buckets (Anatomy)" if method == "anatomy" else f"for --method {method}"
        raise TableError(f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} needed {why}")
    if options.count is not None:
        records = replace(records, table=people_of(records.table, options.count))
    if options.escape_formulas:  # first, so that all tables and commands use the same names
        names = ([str(not_a_formula(name)) for name in columns] for columns in (records.qi, records.sa))
        records = Records(without_formulas(records.table, options), *names)
        options = replace(options, id=None if options.id is None else str(not_a_formula(options.id)))
    is_identifier = method == "republish" or not records.qi  # the pseudonym distinguishes people, as in a series
    check_attributes([*records.qi, *records.sa, *([options.id] if is_identifier else [])])
    METHODS[method](records, options, files)


def _anatomy(records: Records, options: PublishOptions, files: list[str]) -> None:
    table, bucket = anatomize(records, options)
    release = Release.from_buckets(table, qi=records.qi, sa=records.sa, bucket=bucket, id=options.id)
    _write_tables(release, records, options, files)


def _search(records: Records, options: PublishOptions, files: list[str]) -> None:
    threshold = THRESHOLD if options.threshold is None else options.threshold
    hierarchies = hierarchies_of(options, records.table)
    dates = dates_of(records.table[[name for name in records.qi if name not in hierarchies]])  # hierarchies use texts
    among: Any = {} if options.methods is None else {"methods": options.methods}
    knowledge = statements_of(options)
    result = anonymize.search(
        records.table.assign(**dates), records.qi, records.sa, hierarchies, threshold, baseline="overall",
        knowledge=knowledge, loss=options.loss or "ncp", suppression=options.suppress / max(len(records.table), 1),
        time_limit=SEARCH_SECONDS if options.time_limit is None else options.time_limit, **among,
    )  # fmt: skip
    say(f"{result!r}"[1:-1])
    candidates = result.candidates
    is_best = candidates["safe"] & (candidates["method"] == result.method) & (candidates["loss"] == result.loss)
    levels = ", ".join(f"{name} {level}" for name, level in result.levels.items())
    best = candidates[is_best].iloc[0]
    say(f"levels (0: exact): {levels}" if levels else f"{result.method}: {best['parameters']}")
    if result.suppressed:
        print(f"dropped {result.suppressed} of {len(records.table)} records (--suppress)")
    if knowledge:
        known = pluralize(len(knowledge), "statement")
        print(f"An adversary who knows exact quasi-identifiers and {known} infers P = {best['largest']:.4g} at most")
    if result.release.generalized:
        _write_groups(result.release, records, options, files[0], threshold)
    else:
        _write_tables(result.release, records, options, files[1:], threshold=threshold)


def _write_groups(release: Release, records: Records, options: PublishOptions, path: str, threshold: float) -> None:
    """Write generalized records, group by group; all people of a group have the same cells."""
    cells, in_group = sp.csc_array(release.n_qb).indices, sp.csc_array(release.n_sb)
    groups = np.repeat(np.arange(len(release.buckets)), np.diff(in_group.indptr))
    row = np.repeat(np.arange(in_group.nnz), in_group.data.astype(int))
    parts = release.quasi_identifiers[cells[groups]], release.sensitive_values[in_group.indices]
    table = pd.concat([labels.to_frame(index=False) for labels in parts], axis=1).iloc[row]
    write(path, partial(table.to_csv, index=False))
    print(f"{len(table)} records in {len(release.buckets)} groups")
    _print_exposure(MaxEnt(release), threshold=threshold)
    more = [] if threshold == THRESHOLD else ["--threshold", format_number(threshold)]
    if known := _known(options):  # statements are about exact values, which generalized cells do not have
        are_all = Path(options.table).exists() and table_arguments(options) == format_arguments(options)
        hierarchies = [text for pair in options.hierarchy for text in ("--hierarchy", "=".join(pair))]
        more += ["--population", options.table if are_all else "FILE", *hierarchies, *known]
    _print_command([path], ["--generalized", *_roles(records), *more])
    if known and not are_all:
        print("FILE contains the exact quasi-identifiers of these records, one row per person")


def _similar_linkage(records: Records, options: PublishOptions, files: list[str]) -> None:
    roles: Any = {"qi": records.qi, "sa": records.sa}
    if options.prior is None:
        prior = QIDistribution.estimate(records.table, **roles, smoothing=options.smoothing)
        say(f"prior: {prior.about}")
    else:
        prior = _prior(options.prior, records, options)
    release = anonymize.similar_linkage(
        records.table, **roles, prior=prior, r=options.r, condition=options.condition, exempt=options.exempt or 0,
        suppress=options.suppress, seed=options.seed,
    )  # fmt: skip
    if suppressed := len(records.table) - release.n_records:
        print(f"dropped {suppressed} of {len(records.table)} records (--suppress)")
    _write_tables(release, records, options, files)


def _republish(records: Records, options: PublishOptions, files: list[str]) -> None:
    roles: Any = {"qi": records.qi, "sa": records.sa, "bucket": options.bucket, "id": options.id}
    names = [*records.qi, str(options.id)]
    people = read_further(options.before, options, {name: records.table[name] for name in names})
    known = {name: records.table[name] for name in records.sa}
    if options.bucket in people.columns:
        known[str(options.bucket)] = people[options.bucket]
    before = Release.from_tables(
        people,
        read_further(options.before_sa, options, known),
        **roles,
        count=options.before_count,
        counterfeits=True,
    )
    release = anonymize.republish(
        before, records.table, method=options.strategy, l=options.l, exempt=options.exempt or 0, seed=options.seed
    )
    _write_tables(release, records, options, files, before=before)


def _mondrian(records: Records, options: PublishOptions, files: list[str]) -> None:
    table = anonymize.mondrian_table(
        records.table.assign(**dates_of(records.table[records.qi])),
        qi=records.qi,
        sa=records.sa,
        k=options.k,
        l=options.l,
        safe=options.safe,
    )
    for name in records.qi:
        if not table[name].map(lambda cell: isinstance(cell, str) and cell != "*").all():  # with generalised cells
            table[name] = table[name].map(as_text)
    ids = []
    if options.id is not None:
        table.insert(0, options.id, records.table[options.id])
        ids = as_arguments("--id", options.id)
    # Sorted, since the order of the original records could identify people.
    table = table.sort_values(list(table.columns), key=lambda column: column.map(str), ignore_index=True)
    write(files[0], lambda path: table.to_csv(path, index=False))
    groups = table[records.qi].drop_duplicates()
    print(f"{pluralize(len(table), 'record')} in {pluralize(len(groups), 'group')}")
    _print_exposure(MaxEnt(Release.from_generalized(table, qi=records.qi, sa=records.sa)))
    _print_command(files[:1], ["--generalized", *_roles(records), *ids])


def _rules(records: Records, options: PublishOptions, files: list[str]) -> None:
    table, qi, sa = records.table, records.qi, records.sa
    rules = anonymize.mine_rules(
        table, qi=qi, sa=sa, support=options.support, confidence=options.confidence, attributes=options.attributes
    ).without_scores()
    write(files[0], rules.to_csv)
    people = table[qi].sort_values(qi, key=lambda column: column.map(str), ignore_index=True)
    # Without quotes, a | in all cells of a single column is read as a separator.
    quoting: Any = csv.QUOTE_MINIMAL if len(qi) > 1 else csv.QUOTE_ALL
    write(files[1], lambda path: people.to_csv(path, index=False, quoting=quoting))
    say(f"{rules!r}"[1:-1])
    values = [*table[sa].drop_duplicates().sort_values(sa).itertuples(index=False, name=None)]
    view = QITable(people, qi=qi, sa=sa, sa_values=values if len(sa) > 1 else [value for (value,) in values])
    _print_exposure(MaxEnt(view).add(PublishedRules(rules, non_rules=rules.complete)), baseline=None)
    listed = format_list(["|".join(map(str, value)) for value in values])
    _print_command(files[:1], ["--qi-table", files[1], f"--values={listed}"])  # the first value may be negative


METHODS = {
    "anatomy": _anatomy, "mondrian": _mondrian, "republish": _republish, "similar-linkage": _similar_linkage,
    "rules": _rules, "search": _search,
}  # fmt: skip


def _write_tables(
    release: Release,
    records: Records,
    options: PublishOptions,
    files: list[str],
    before: Release | None = None,
    threshold: float = THRESHOLD,
) -> None:
    """Write the table of people and the table of values, which share the bucket only."""
    count = options.before_count or free_name("Count", [*release.qi, *release.sensitive, release.bucket])
    people, values = release.to_tables(count)
    more = as_arguments("--count", count)
    if release.persons is not None:
        people = release.persons.table(release.quasi_identifiers, release.buckets)
        people = people.sort_values([release.bucket, release.persons.id], ignore_index=True)
        more += as_arguments("--id", release.persons.id)
    for path, table in zip(files, (people, values), strict=True):
        write(path, partial(table.to_csv, index=False))
    say(f"{release!r}"[1:-1])
    baseline = None if release.n_s is None else "overall"  # with counterfeits, true counts are not published
    _print_exposure(MaxEnt(release), baseline, threshold)
    if before is not None:
        _print_exposure(
            MaxEnt(ReleaseSeries([before, release])), baseline=None, threshold=threshold, who="both releases"
        )
    if release.with_counterfeits.any():
        more.append("--counterfeits")
    if threshold != THRESHOLD:
        more += ["--threshold", format_number(threshold)]
    if before is not None:
        more += format_arguments(options)  # not needed for files written by publish
        files = [options.before, files[0], options.before_sa, files[1]]
        tables, more = files[:2], [argument for path in files[2:] for argument in ("--sa-table", path)] + more
    else:
        tables, more = files[:1], ["--sa-table", files[1], *more]
    _print_command(tables, [*more, *_roles(records), *as_arguments("--bucket", release.bucket), *_known(options)])


def _print_exposure(
    model: MaxEnt, baseline: str | None = "overall", threshold: float = THRESHOLD, who: str = "only this release"
) -> None:
    """Print the exposure by the release alone."""
    print(f"Given {who}:", measures.exposed(model.solve(), threshold, baseline=baseline))


def _roles(records: Records) -> list[str]:
    qi = as_arguments("--qi", format_list(records.qi)) if records.qi else []
    return [*qi, *as_arguments("--sa", format_list(records.sa))]


def _known(options: PublishOptions) -> list[str]:
    known = [text for statement in options.know for text in ("--know", statement)]
    return [*known, *([] if options.knowledge is None else ["--knowledge", options.knowledge])]


def _print_command(tables: list[str], more: list[str]) -> None:
    say(f"Read them back:  {shlex.join(['maxent-cvx', 'quantify', *tables, *more])}")


def _prior(path: str, records: Records, options: PublishOptions) -> QIDistribution:
    """Read P(s | q): QI columns, and one column per value."""
    table = read_further(path, options, {name: records.table[name] for name in records.qi})
    attributes = [name for name in table.columns if name in records.qi]
    if not attributes:
        raise TableError(f"{path!r} must contain at least one of the quasi-identifiers {', '.join(records.qi)}")
    prior = table.set_index(attributes)
    known = records.table[records.sa].drop_duplicates().itertuples(index=False, name=None)
    values: Any = values_as_printed(
        list(prior.columns), (combination if len(combination) > 1 else combination[0] for combination in known)
    )
    return QIDistribution(prior.set_axis(pd.Index(values), axis=1), about=f"read from {path}")
