"""Published association rules, and the people whom they are about: ``maxent-cvx quantify rules.csv --qi-table ...``."""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from ..errors import TableError, listing
from ..rules.rule_set import RuleSet
from ..sources import PublishedRules
from ..views import QITable
from .reading import columns_of, read_csv, without_gaps
from .streams import DASH, read_text, say

__all__ = ["are_rules", "distribution_of", "people_and_rules"]

#: How the first line of a file of rules begins, as RuleSet.to_csv writes it.
FIRST = "# {"


def are_rules(options: argparse.Namespace) -> bool:
    """Whether TABLE is a file of rules, which its first line says; or else --qi-table."""
    if getattr(options, "qi_table", None) is not None:
        return True
    path = Path(options.table)
    if not path.is_file() or path.suffix == ".parquet":
        return False
    with path.open("rb") as file:
        found = file.read(len(FIRST)) == FIRST.encode()
    if found:
        raise TableError(
            f"{options.table!r} holds association rules; --qi-table must be given, a CSV file of everybody's QI, "
            "a row a person"
        )
    return False


def people_and_rules(options: argparse.Namespace) -> tuple[QITable, PublishedRules, pd.DataFrame]:
    """Read the people whose QI are known, and the rules about them."""
    told = {name: columns_of(text) for name in ("qi", "sa") if (text := getattr(options, name)) is not None}
    rules = _piped(told) if options.table == DASH else RuleSet.from_csv(options.table, **told)
    options.qi, options.sa = list(rules.qi), list(rules.sensitive)
    people = without_gaps(read_csv(options.qi_table), options.qi_table, options)
    values, distribution = _values(options, people, rules)
    view = QITable(
        people, qi=options.qi, sa=options.sa, sa_values=values, sa_distribution=distribution, count=options.count
    )
    scores = None if options.scores is None else columns_of(options.scores)
    return view, PublishedRules(rules, scores, options.decimals, non_rules=rules.complete), people


def _piped(told: dict[str, list[str]]) -> RuleSet:
    """Read rules from standard input, by way of a file, which is what rules are read from."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "rules.csv")
        path.write_text(read_text(DASH), encoding="utf-8")
        return RuleSet.from_csv(path, **told)


def distribution_of(table: pd.DataFrame, sa: list[str], path: str, what: str) -> pd.Series:
    """Read the table of a file of sensitive values, each with a number."""
    others = [name for name in table.columns if name not in sa]
    if len(others) != 1 or not {*sa} <= {*table.columns}:
        raise TableError(f"{path!r} has the columns {listing(table.columns)}; {listing(sa)} and {what} are expected")
    numbers = pd.to_numeric(table[others[0]], errors="coerce")
    if numbers.isna().any():
        raise TableError(f"{path!r}: {others[0]!r} holds something that is no number")
    return pd.Series(numbers.to_numpy(), index=table.set_index(sa).index)


def _values(
    options: argparse.Namespace, people: pd.DataFrame, rules: RuleSet
) -> tuple[list[object] | None, pd.Series | None]:
    """The values that anybody may have, and how many people have each, if that is published."""
    if options.distribution is not None:
        table, what = read_csv(options.distribution), "a column of numbers of people"
        return None, distribution_of(table, options.sa, options.distribution, what)
    if options.values is not None:
        found: list[object] = [*columns_of(options.values)]
        return (found if len(options.sa) == 1 else [tuple(str(one).split("|")) for one in found]), None
    if {*options.sa} <= {*people.columns}:
        listed = (
            people[options.sa].dropna().drop_duplicates().sort_values(options.sa).itertuples(index=False, name=None)
        )
        values = [one[0] if len(options.sa) == 1 else one for one in listed]
        say(f"values of {', '.join(options.sa)}, from {options.qi_table}: {listing(values)}")
        return values, None
    named = rules.table[options.sa].drop_duplicates().itertuples(index=False, name=None)
    raise TableError(
        f"--values must be given: all values of {', '.join(options.sa)} that anybody may have; the rules name "
        + listing([one[0] if len(options.sa) == 1 else one for one in named])
    )
