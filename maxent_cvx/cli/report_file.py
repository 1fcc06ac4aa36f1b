"""A report that a command writes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..model.partitioned.partitioned_posterior import PartitionedPosterior
from ..model.posterior import Posterior
from ..reporting.report import report
from .judging import asked_of, beyond, judge
from .risks import check_population
from .streams import say

__all__ = ["PAGES", "write_report"]

#: Endings of files that a report is written to.
PAGES = {".html", ".htm"}


def write_report(
    posts: Mapping[str, Posterior | PartitionedPosterior],
    originals: Mapping[str, pd.DataFrame | None],
    options: argparse.Namespace,
    path: str,
    **more: Any,
) -> None:
    """Write a report of answers, each judged as the options say, and by the original records of each, if there are any.

    Where nobody may be exposed above a limit, that is the threshold, so that the page says what the command does.

    Parameters
    ----------
    posts, originals : dict
        By the same names; of one answer alone by "".
    options : Namespace
        The command's.
    path : str
    **more
        Further arguments of :func:`maxent_cvx.report`.
    """
    first = next(iter(posts.values()))
    view: Any = first.release if isinstance(first, PartitionedPosterior) else first.space.view
    about = {"table": ", ".join([options.table, *getattr(options, "more", ())]), **more.pop("about", {})}
    if options.l is not None:
        about |= {"buckets": f"made by Anatomy, l = {options.l}, exempt = {options.exempt or 0}", "seed": options.seed}
    threshold = options.threshold
    if (limit := options.fail_above) is not None:  # the page and the exit status say the same
        verdicts = [judge(post, options, None) for post in posts.values()]
        failing = [verdict.above.threshold for verdict in verdicts if verdict.above is not None and verdict.fails]
        threshold = max(failing) if failing else max(beyond(limit, post) for post in posts.values())
        about["limit"] = f"nobody may be exposed above P = {limit:g}"
    given: Any = first if len(posts) == 1 else posts
    known = {name: table for name, table in originals.items() if table is not None}
    original = next(iter(known.values()), None) if len(posts) == 1 else known or None
    asked = asked_of(options, view)
    for post in posts.values():
        check_population(post, options)
    population = options.population_size
    report(given, path, threshold=threshold, **asked, original=original, about=about, population=population, **more)
    say(f"wrote {path}")
