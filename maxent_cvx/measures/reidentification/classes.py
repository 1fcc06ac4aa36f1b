"""Equivalence classes: how many records have the same quasi-identifiers, and how many people of a population."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ...errors import StatementError, TableError, amount, shown
from ...model.partitioned.partitioned_posterior import PartitionedPosterior
from ...model.posterior import Posterior
from ...tables.coding import sort_distinct
from ...tables.columns import check_columns, check_no_count, names
from ...views import OUTSIDE, GroupedRelease, QITable, ReleaseSeries, View
from ...views.partitioned.partitioned_release import PartitionedRelease

__all__ = ["classes_of"]


def classes_of(published: object, qi: str | Iterable[str] | None, population: object) -> pd.DataFrame:
    """Count the records of every class, and the population's people, if a population is given as a table.

    Returns
    -------
    DataFrame
        A row a class; `records`, and of a population `people`.

    Raises
    ------
    StatementError, TableError, UnknownName
        If it is nothing that has classes, or the population lacks somebody.
    """
    if isinstance(published, Posterior):
        published = published.space.view
    elif isinstance(published, PartitionedPosterior):
        published = published.release
    if isinstance(published, pd.DataFrame):
        if qi is None:
            raise StatementError("which columns of the table are quasi-identifiers? Say so with qi=[...]")
        code, tuples = _tuples(published, names(qi, "qi"), "the table")
        found = pd.DataFrame({"records": np.bincount(code)}, index=tuples)
    elif isinstance(published, View | PartitionedRelease) and not isinstance(published, ReleaseSeries):
        if qi is not None:
            raise StatementError(f"qi= is of a table; the {published.noun} has {list(published.qi)}")
        if isinstance(published, GroupedRelease):
            return _of_groups(published, population)
        found = pd.DataFrame({"records": published.n_q}, index=published.quasi_identifiers)
    else:
        series = "; of a series give one of its releases" * isinstance(published, ReleaseSeries)
        raise StatementError(
            f"records are counted in a DataFrame, a release or a table of quasi-identifiers, not in {shown(published)}"
            + series
        )
    if isinstance(population, pd.DataFrame | QITable):
        found["people"] = _found_in(population, found)
    return found if found.index.nlevels > 1 else found.set_index(found.index.get_level_values(0))


def _of_groups(release: GroupedRelease, population: object) -> pd.DataFrame:
    """Groups of a generalised release, and how many of its population each covers."""
    if population is not None:
        raise StatementError("the release has its population already; leave population= out")
    inside = np.asarray(release.buckets != OUTSIDE)
    records, people = np.asarray(release.n_sb.sum(axis=0)), np.asarray(release.cover @ release.n_q)
    table = pd.DataFrame({"records": records, "people": people}, index=release.buckets)
    return table[inside].astype(np.int64)


def _found_in(population: pd.DataFrame | QITable, found: pd.DataFrame) -> np.ndarray:
    """How many people of a population are in each class."""
    if isinstance(population, QITable):
        tuples, n = population.quasi_identifiers, population.n_q
        if set(tuples.names) != set(found.index.names):
            raise StatementError(
                f"the population has {list(tuples.names)}, and the records {list(found.index.names)}; the same "
                "quasi-identifiers are expected"
            )
        tuples = tuples.reorder_levels(list(found.index.names)) if tuples.nlevels > 1 else tuples
    else:
        code, tuples = _tuples(population, tuple(map(str, found.index.names)), "the population")
        n = np.bincount(code)
    at = tuples.get_indexer(found.index)
    people = np.where(at >= 0, n[at], 0)
    if (lacking := people < found["records"].to_numpy()).any():
        raise TableError(
            f"the population lacks people of {amount(int(lacking.sum()), 'class', 'classes')} of {len(found)}: it must "
            "hold everybody of the release, with the same quasi-identifiers; of generalised records make the release "
            "with Release.from_generalized(records, population=...)"
        )
    return np.asarray(people)


def _tuples(table: pd.DataFrame, qi: tuple[str, ...], what: str) -> tuple[np.ndarray, pd.MultiIndex]:
    """Number the distinct quasi-identifiers of a table, a row a person."""
    check_columns(table, {"qi": qi}, what)
    repeat = "repeat the rows, table.loc[table.index.repeat(table[{name!r}])].drop(columns={name!r})"
    check_no_count(table, {"qi": qi}, f"{what}, of a row a person,", repeat)
    return sort_distinct(table[list(qi)])
