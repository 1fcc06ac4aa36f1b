"""``maxent-cvx report``: what a release discloses, as one page."""

from __future__ import annotations

import argparse
import copy
from collections.abc import Iterator
from pathlib import Path

from ..errors import TableError
from ..solvers import find
from .judging import judge, print_exposure, print_limit
from .knowledge import statements_of
from .output import check_output
from .quantify import Question, question
from .releases import one_source_of_buckets
from .report_file import PAGES, write_report
from .statuses import EXPOSED
from .streams import say

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
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
