"""``maxent-cvx publish``: anonymize a table, and write the release."""

from __future__ import annotations

import argparse
import shlex
from functools import partial
from typing import Any

import pandas as pd

from .. import anonymize
from .._utils.errors import TableError, unknown_name
from ..priors import QIDistribution
from ..releases.release import Release
from .inputs import as_list, as_text, bucketed, free_name, people_of, read_csv, read_table, values_as_printed
from .output import check_output, not_a_formula, without_formulas, write
from .streams import DASH, outputs, say

__all__ = [
    "run",
]

#: What each method cannot do without.
NEEDED = {
    "anatomy": ["l"], "mondrian": ["k"], "republish": ["before", "before_sa", "id", "bucket", "l"],
    "similar-linkage": ["r"], "rules": ["support", "confidence"],
}  # fmt: skip
#: What each method would pass over in silence; seeds have a default, and are no wish.
FOREIGN = {
    "anatomy": ["k", "r", "prior", "before", "before_sa", "support", "confidence", "attributes"],
    "mondrian": ["exempt", "r", "prior", "before", "before_sa", "support", "confidence", "attributes"],
    "republish": ["k", "safe", "r", "prior", "support", "confidence", "attributes"],
    "similar-linkage": ["l", "k", "safe", "id", "before", "before_sa", "support", "confidence", "attributes"],
    "rules": ["l", "k", "safe", "id", "exempt", "r", "prior", "before", "before_sa"],
}


def run(options: argparse.Namespace) -> None:
    """Write what is published, and print the command that reads it back."""
    asked = {name for name, value in vars(options).items() if value is not None}
    if strange := [name for name in FOREIGN[options.method] if name in asked]:
        raise TableError(f"--{strange[0].replace('_', '-')} is not for --method {options.method} (publish --help)")
    if options.out == DASH and options.method != "mondrian":
        raise TableError(f"--out -: --method {options.method} writes two tables; give a name, of both files")
    files = [path for _, path in outputs(options)] or [DASH]
    for path in files:
        check_output(path, {".csv"})
    records = read_table(options)
    if missing := [f"--{n.replace('_', '-')}" for n in NEEDED[options.method] if getattr(options, n) is None]:
        why = " to make buckets (Anatomy)" if options.method == "anatomy" else f" for --method {options.method}"
        raise TableError(f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} needed{why}")
    if options.count is not None:
        records = people_of(records, options.count)
    if options.escape_formulas:  # before anything is made of them, so that all tables and commands name them alike
        records = without_formulas(records, options)
        options.qi, options.sa = ([str(not_a_formula(name)) for name in names] for names in (options.qi, options.sa))
        options.id = not_a_formula(options.id)
    METHODS[options.method](records, options, files)


def _anatomy(records: pd.DataFrame, options: argparse.Namespace, files: list[str]) -> None:
    records, bucket = bucketed(records, options)
    more = {"id": options.id} if options.id else {}
    release = Release.from_buckets(records, qi=options.qi, sa=options.sa, bucket=bucket, **more)
    _two_tables(release, options, files)


def _similar_linkage(records: pd.DataFrame, options: argparse.Namespace, files: list[str]) -> None:
    roles = {"qi": options.qi, "sa": options.sa}
    if options.prior is None:
        prior = QIDistribution.estimate(records, **roles, smoothing=options.smoothing)
        say(f"prior: {prior.about}")
    else:
        prior = _prior(options.prior, records, options)
    release = anonymize.similar_linkage(
        records, **roles, prior=prior, r=options.r, condition=options.condition, exempt=options.exempt or 0,
        suppress=options.suppress, seed=options.seed,
    )  # fmt: skip
    if left := len(records) - release.n_records:
        print(f"left out {left} of {len(records)} records (--suppress)")
    _two_tables(release, options, files)


def _republish(records: pd.DataFrame, options: argparse.Namespace, files: list[str]) -> None:
    people, values = read_csv(options.before), read_csv(options.before_sa)
    roles: dict[str, Any] = {"qi": options.qi, "sa": options.sa, "bucket": options.bucket, "id": options.id}
    before = Release.from_tables(people, values, **roles, count=options.before_count, counterfeits=True)
    release = anonymize.republish(
        before, records, method=options.strategy, l=options.l, exempt=options.exempt or 0, seed=options.seed
    )
    _two_tables(release, options, files, before=[options.before, options.before_sa])


def _mondrian(records: pd.DataFrame, options: argparse.Namespace, files: list[str]) -> None:
    found = anonymize.mondrian_table(records, qi=options.qi, sa=options.sa, k=options.k, l=options.l, safe=options.safe)
    for name in options.qi:
        found[name] = found[name].map(as_text)
    ids = []
    if options.id is not None:
        if options.id not in records.columns:
            raise unknown_name("column of the table (given as --id)", options.id, records.columns)
        found.insert(0, options.id, records[options.id])
        ids = ["--id", options.id]
    found = found.sort_values(list(found.columns), key=lambda column: column.map(str), ignore_index=True)
    write(files[0], lambda path: found.to_csv(path, index=False))
    print(f"{len(found)} records in {len(found[options.qi].drop_duplicates())} groups")
    _read_back(files[:1], ["--generalized", *_roles(options), *ids])


def _rules(records: pd.DataFrame, options: argparse.Namespace, files: list[str]) -> None:
    rules = anonymize.mine_rules(
        records, qi=options.qi, sa=options.sa, support=options.support, confidence=options.confidence,
        attributes=options.attributes,
    )  # fmt: skip
    rules = rules.without_scores()
    write(files[0], rules.to_csv)
    people = records[options.qi].sort_values(options.qi, key=lambda column: column.map(str), ignore_index=True)
    write(files[1], lambda path: people.to_csv(path, index=False))
    say(f"{rules!r}"[1:-1])
    values = records[options.sa].drop_duplicates().sort_values(options.sa).itertuples(index=False, name=None)
    _read_back(files[:1], ["--qi-table", files[1], "--values", as_list("|".join(map(str, one)) for one in values)])


METHODS = {
    "anatomy": _anatomy, "mondrian": _mondrian, "republish": _republish, "similar-linkage": _similar_linkage,
    "rules": _rules,
}  # fmt: skip


def _two_tables(
    release: Release, options: argparse.Namespace, files: list[str], before: list[str] | None = None
) -> None:
    """Write the people and the values, which share the bucket only."""
    taken = [*release.qi, *release.sensitive, release.bucket]
    count = options.before_count or free_name("Count", taken)
    people, values = release.to_tables(count)
    more = ["--count", count]
    if release.persons is not None:
        people = release.persons.table(release.quasi_identifiers, release.buckets)
        people = people.sort_values([release.bucket, release.persons.id], ignore_index=True)
        more += ["--id", release.persons.id]
    for path, table in zip(files, (people, values), strict=True):
        write(path, partial(table.to_csv, index=False))
    say(f"{release!r}"[1:-1])
    if release.with_counterfeits.any():
        more.append("--counterfeits")
    if before:
        files = [before[0], files[0], before[1], files[1]]
        tables, more = files[:2], [one for path in files[2:] for one in ("--sa-table", path)] + more
    else:
        tables, more = files[:1], ["--sa-table", files[1], *more]
    _read_back(tables, [*more, *_roles(options), "--bucket", release.bucket])


def _roles(options: argparse.Namespace) -> list[str]:
    return [*(["--qi", as_list(options.qi)] if options.qi else []), "--sa", as_list(options.sa)]


def _read_back(tables: list[str], more: list[str]) -> None:
    say(f"Read them back:  {shlex.join(['maxent-cvx', 'quantify', *tables, *more])}")


def _prior(path: str, records: pd.DataFrame, options: argparse.Namespace) -> QIDistribution:
    """Read P(s | q): columns of quasi-identifiers, and one a value."""
    table = read_csv(path)
    attributes = [name for name in table.columns if name in options.qi]
    if not attributes:
        raise TableError(f"{path!r} has none of the columns {', '.join(options.qi)}, by which a prior knows people")
    found = table.set_index(attributes)
    known = records[options.sa].drop_duplicates().itertuples(index=False, name=None)
    values: Any = values_as_printed(list(found.columns), (one if len(one) > 1 else one[0] for one in known))
    return QIDistribution(found.set_axis(pd.Index(values), axis=1), about=f"read from {path}")
