"""What would help where too many people are exposed: larger buckets, less that is known, or fewer people."""

from __future__ import annotations

import argparse
import math
import shlex
from collections.abc import Callable, Iterator

import pandas as pd

from .. import disguise
from ..errors import MaxEntError, amount
from ..measures import Exposure
from ..views import View
from .judging import ROUNDING
from .reading import as_list

__all__ = ["larger_buckets", "withholding"]

#: Sizes of buckets that are tried, each with a solve.
TRIES = 6


def larger_buckets(
    limit: float,
    made: int | None,
    records: pd.DataFrame,
    options: argparse.Namespace,
    above: Callable[[View], Exposure | None],
) -> str:
    """Try larger and larger buckets of the same people, and say which are the first in which nobody is exposed.

    Parameters
    ----------
    limit : float
        The probability that nobody may be exposed above.
    made : int or None
        The l of the buckets in which somebody is, if Anatomy has made them.
    records : DataFrame
        Who has what.
    options : Namespace
        The command's.
    above : callable
        Who is exposed above the limit, from a release, by the same knowledge.
    """
    least = (
        math.ceil(1 / (limit + ROUNDING)) if limit else len(records)
    )  # nobody is surer than 1/l of what is published
    exempt, tried, end = options.exempt or 0, None, ""
    for l in range(max(2, least, (made or 0) + 1), len(records) + 1)[:TRIES]:
        try:
            release = disguise.anatomy(records, qi=options.qi, sa=options.sa, l=l, exempt=exempt, seed=options.seed)
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
    groups = amount(len(above.who), "group")
    yield (
        f"Or withhold the records of the {amount(above.people, 'person', 'people')} in {groups} above, and quantify "
        "what is left, which is another release."
    )
