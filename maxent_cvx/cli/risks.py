"""What stands beside the inference risk: re-identification risk, uniques of the population, utility."""

from __future__ import annotations

import argparse

import pandas as pd

from .. import measures
from ..errors import TableError
from ..model.partitioned.partitioned_posterior import PartitionedPosterior
from ..model.posterior import Posterior
from ..views import ReleaseSeries
from .streams import say

__all__ = ["check_population", "print_risks", "risks_beside"]

#: The kind of measures that are printed as the verdict already.
TOLD = "inference risk"
#: Measures that are printed; --json has all.
PRINTED = (
    "k", "records below k", "sample uniques", "prosecutor risk", "journalist risk", "population uniques",
    "population uniques (Pitman)", "marketer risk", "median query error", "total variation, attribute",
    "total variation, attribute with the sensitive values",
)  # fmt: skip
#: What is smaller is zero but for rounding of sums of shares.
ROUNDING = 1e-12


def risks_beside(post: Posterior, original: pd.DataFrame | None, options: argparse.Namespace) -> pd.DataFrame:
    """Find them: of a series of releases none, without the original records no utility."""
    if isinstance(post.space.view, ReleaseSeries):
        check_population(post, options)
        return pd.DataFrame(columns=["kind", "measure", "value", "unit", "says"])
    size = check_population(post, options)
    found = measures.risk_utility(post, original, threshold=options.threshold, baseline=None, population=size)
    return found.drop(TOLD, level="kind").reset_index()


def check_population(post: Posterior | PartitionedPosterior, options: argparse.Namespace) -> int | None:
    """Refuse a population that is smaller than the release, and of releases whose records are no sample of one."""
    size: int | None = options.population_size
    if size is None:
        return None
    if isinstance(post, PartitionedPosterior) or isinstance(post.space.view, ReleaseSeries):
        raise TableError("--population-size is for one release in memory")
    if size < (n := post.space.view.n_records):
        raise TableError(f"--population-size {size}: the {n} people of the release, and whoever else, are expected")
    return size


def print_risks(found: pd.DataFrame) -> None:
    """Print the ones that users of other tools look for first."""
    shown = found[found["measure"].isin(PRINTED)]
    if len(shown):
        print("\nBeside it (all of them with --json):")
        names = max(map(len, shown["measure"]))
        for measure, value, unit, says in shown.drop(columns="kind").itertuples(index=False, name=None):
            seen = 0.0 if abs(value) < ROUNDING else value
            say(f"  {measure:<{names}}  {seen:>9.4g} {unit:<11}  {says}")
