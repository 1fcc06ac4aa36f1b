"""What is judged: a release, a series of releases, or people of whom rules are published; maybe the truth."""

from __future__ import annotations

import argparse
import copy
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from ..errors import TableError
from ..sources import PublishedRules
from ..views import Release, ReleaseSeries, View
from .association_rules import are_rules, people_and_rules
from .reading import read_table
from .releases import released
from .streams import say

__all__ = ["Material", "material"]


@dataclass(frozen=True, eq=False)
class Material:
    """What a command is about.

    Attributes
    ----------
    view : View
        What is published.
    records : DataFrame
        What was read.
    original : DataFrame or None
        The same, if it says who has which value, so that an answer can be compared with the truth.
    published : sequence of PublishedRules
        What is published besides.
    """

    view: View
    records: pd.DataFrame
    original: pd.DataFrame | None
    published: Sequence[PublishedRules] = ()


def material(options: argparse.Namespace) -> Material:
    """Read what the options name."""
    if are_rules(options):
        told, rules, people = people_and_rules(options)
        original = people if {*told.sensitive} <= {*people.columns} else None
        return Material(told, people, original, [rules])
    if getattr(options, "more", ()):
        return _series(options)
    records = read_table(options)
    view, records = released(records, options)
    is_truth = not options.sa_table and not options.generalized
    return Material(view, records, records if is_truth else None)


def _series(options: argparse.Namespace) -> Material:
    """Read releases one after the other, each from its TABLE, and perhaps its own table of sensitive values."""
    tables = [options.table, *options.more]
    if options.id is None:
        raise TableError(
            f"{len(tables)} TABLEs are a series of releases, which --id links: give the column of pseudonyms"
        )
    if options.sa_table and len(options.sa_table) != len(tables):
        raise TableError(f"--sa-table is given {len(options.sa_table)} times for {len(tables)} TABLEs; give one each")
    releases: list[Release] = []
    dropped: list[object] = []
    for number, name in enumerate(tables):
        own = copy.copy(options)
        own.table = name
        records = read_table(own)
        sa_table = options.sa_table[number] if options.sa_table else None
        release, _ = released(records, own, sa_table)
        if not isinstance(release, Release):
            raise TableError("--population is for one release; give one TABLE")
        say(f"{name}: {release!r}"[:-1].replace("<", ""))
        releases.append(release)
        dropped += getattr(own, "dropped", [])
    options.dropped, options.qi, options.sa = dropped, own.qi, own.sa
    return Material(ReleaseSeries(releases), records, None)
