"""Readers of the tables of a release, which check them and count records by bucket."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._utils.errors import StatementError, TableError, join_names, short_repr, unknown_name
from .._utils.tables import (
    Microdata,
    check_labels,
    check_named,
    check_no_count,
    check_once,
    counted,
    distinct,
    factorize,
    names,
    sort_distinct,
    tally,
)
from .._utils.validation import check_bool, check_dataframe, check_known, check_str, is_several
from .base import Persons, View, check_roles, unused_name
from .generalized import (
    GroupedRelease,
    check_readable,
    generalised_cells,
    group_names,
    groups_of,
    label_of,
    population_groups,
    read_hierarchies,
)


@dataclass(frozen=True, eq=False)
class ReleaseColumns:
    """The checked tables of a release before counting: QI by bucket, and sensitive values by bucket."""

    qi: tuple[str, ...]  # column names
    sensitive: tuple[str, ...]
    bucket: str
    qi_table: pd.DataFrame  # for microdata, both are the same table
    sa_table: pd.DataFrame
    qi_counts: np.ndarray | None  # number of records per row of either table; None: one per row
    sa_counts: np.ndarray | None
    id: str | None  # the column of `qi_table` with pseudonyms, if published
    counterfeits: bool = False  # whether a bucket may contain more values than people

    def counted(self) -> dict[str, Any]:
        """Count records per (q, b) and per (s, b), and check that every bucket's two counts agree."""
        q, quasi_identifiers = sort_distinct(self.qi_table[list(self.qi)])
        s, sensitive_values = distinct(self.sa_table[list(self.sensitive)])
        in_buckets = [table[self.bucket] for table in (self.qi_table, self.sa_table)]
        b, buckets = factorize(pd.concat(in_buckets, ignore_index=True))
        n_qb = tally(q, b[: len(q)], (len(quasi_identifiers), len(buckets)), self.qi_counts)
        n_sb = tally(s, b[len(q) :], (len(sensitive_values), len(buckets)), self.sa_counts)
        self._check(n_qb.sum(axis=0), n_sb.sum(axis=0), buckets)
        persons = None
        if self.id is not None:
            persons = Persons(self.id, pd.Index(self.qi_table[self.id].array, name=self.id), q, b[: len(q)])
        return {
            "qi": self.qi, "sensitive": self.sensitive, "bucket": self.bucket, "quasi_identifiers": quasi_identifiers,
            "sensitive_values": sensitive_values, "buckets": buckets, "n_qb": n_qb, "n_sb": n_sb, "persons": persons,
        }  # fmt: skip

    def _check(self, people: np.ndarray, values: np.ndarray, buckets: pd.Index) -> None:
        """Check that every bucket has people, and the same number of values."""
        if (differ := (people > values) if self.counterfeits else people != values).any():
            first = int(differ.argmax())
            allowing = ", or pass counterfeits=True if the publisher added counterfeit records"
            remedy = "" if self.counterfeits or people[first] > values[first] else allowing
            raise TableError(
                f"bucket {join_names([buckets[first]])} contains {int(people[first])} QI tuples, but "
                f"{int(values[first])} sensitive values; the numbers must be equal, but differ in {int(differ.sum())} "
                f"of {len(buckets)} buckets: check the column {self.bucket!r} of both tables{remedy}"
            )
        if (people == 0).any():
            raise TableError(f"bucket {join_names(buckets[people == 0])} contains no people; remove it from the tables")


def record_columns(
    table: pd.DataFrame,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    bucket: str,
    id: str | None,
    count: str | None,
) -> ReleaseColumns:
    """Read a table of records with a bucket column, see :meth:`maxent_cvx.Release.from_buckets`."""
    (qi, alone), sa = _with_id(qi, id), names(sa, "sa")
    roles = {"qi": qi, "sa": sa, "bucket": (bucket,)} | ({} if id is None or alone else {"id": (id,)})
    table, each = _each(table, count, id, roles)
    check_release_roles(qi, sa, bucket)
    return ReleaseColumns(qi, sa, bucket, table, table, each, each, id)


def anatomy_columns(
    qi_table: pd.DataFrame,
    sa_table: pd.DataFrame,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    bucket: str,
    count: str | None,
    id: str | None,
    counterfeits: bool,
) -> ReleaseColumns:
    """Read the two tables that Anatomy publishes, see :meth:`maxent_cvx.Release.from_tables`."""
    check_bool(counterfeits, "counterfeits")
    (qi, alone), sa = _with_id(qi, id), names(sa, "sa")
    roles = {"qi": qi, "bucket": (bucket,)} | ({} if id is None or alone else {"id": (id,)})
    qi_table, n_qb = counted(qi_table, roles, None if id is not None else count, "the QI table")
    if id is not None:
        check_once(qi_table[id])
        if count in qi_table.columns:
            raise TableError(
                f"the QI table has pseudonyms and counts {count!r}, but pseudonyms need one row per person; omit one"
            )
    sa_table, n_sb = counted(sa_table, {"sa": sa, "bucket": (bucket,)}, count, "the SA table")
    if count is not None and n_sb is None and (n_qb is None or id is not None):
        raise unknown_name("column of either table (given as count)", count, [*qi_table, *sa_table])
    if count is None:
        check_no_count(sa_table, {"sa": sa, "bucket": (bucket,)}, "the SA table")
    if count is None and id is None:
        check_no_count(qi_table, roles, "the QI table")
    check_named({*qi_table, *sa_table}, {**roles, "sa": sa}, "the two tables")
    check_release_roles(qi, sa, bucket)
    return ReleaseColumns(qi, sa, bucket, qi_table, sa_table, n_qb, n_sb, id, counterfeits)


def generalized_columns(
    table: pd.DataFrame,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    population: pd.DataFrame | None,
    hierarchies: Mapping[str, object] | None,
    count: str | None,
    id: str | None,
) -> ReleaseColumns | GroupedRelease:
    """Read records with generalised QI, see :meth:`maxent_cvx.Release.from_generalized`."""
    qi, sa = names(qi, "qi"), names(sa, "sa")
    nodes = read_hierarchies(hierarchies)
    if id is not None:
        check_str(id, "id")
    if len(sa) > 1 and population is not None:
        raise StatementError(f"with a population, sa must be a single attribute, got {join_names(sa)}")
    if id is not None and population is not None:
        raise StatementError("id cannot be combined with population: pseudonyms already determine groups; omit one")
    if count is not None:
        check_str(count, "count")
    check_dataframe(table, "the table")
    check_labels(table.columns, "a name of a column of the table")
    table = generalised_cells(table, qi)
    inside = count if population is None or count in table.columns else None
    roles = {"qi": qi, "sa": sa} | ({} if id is None else {"id": (id,)})
    table, each = _each(table, inside, id, roles, sets=qi)
    texts = pd.DataFrame({name: [label_of(cell) for cell in table[name]] for name in qi}, index=table.index)
    bucket = unused_name("Group", (*table.columns, *qi, *sa, id))
    group = group_names(texts).rename(bucket)
    check_release_roles(qi, sa, bucket)
    check_known(nodes, "quasi-identifier (given in hierarchies)", qi)
    if population is None:
        check_readable(table, nodes)
        table = table.assign(**texts, **{bucket: group})
        return ReleaseColumns(qi, sa, bucket, table, table, each, each, id)
    if each is not None and isinstance(population, pd.DataFrame) and count not in population.columns:
        count = None
    return population_groups(table, group, qi, sa, population, count, nodes, each)


def read_cells(view: View, records: pd.DataFrame) -> pd.DataFrame:
    """Return records with the cells that a generalised release has read from them; other records are not changed."""
    check_dataframe(records, "the table")
    columns = [*view.qi, *view.sensitive]
    # Other columns may look like numbers of people.
    table = records[columns] if set(columns) <= set(records.columns) else records
    read = generalized_columns(table, view.qi, view.sensitive, None, None, None, None)
    assert not isinstance(read, GroupedRelease)  # there is no population
    cells = read.qi_table[list(view.qi)]
    is_known = view.quasi_identifiers.get_indexer(pd.MultiIndex.from_frame(cells)) >= 0
    return records.assign(**cells) if is_known.all() else records


def with_cells(view: View, records: pd.DataFrame) -> pd.DataFrame:
    """Return records with the cells that they have or are in, see :func:`cell_positions`; others are not changed."""
    records = read_cells(view, records)
    group, tuples = Microdata(records, view.qi, view.sensitive).tuples()
    q = cell_positions(view, tuples)
    if (q < 0).any():
        return records
    cells = view.quasi_identifiers[q[group]]
    return records.assign(**{name: cells.get_level_values(name).to_numpy() for name in view.qi})


def cell_positions(view: View, tuples: pd.MultiIndex) -> np.ndarray:
    """Return positions in a view of distinct tuples, or of the only cell that covers each; -1 for none or several."""
    q = view.quasi_identifiers.get_indexer(tuples)
    if not view.generalized or (q >= 0).all():
        return q
    cells, people = (index.to_frame(index=False) for index in (view.quasi_identifiers, tuples))
    try:
        cell, person = groups_of(cells, people, None, {})[2].nonzero()
    except TableError:  # a cell covers none of the tuples, for example a node of a hierarchy
        return q
    q = np.full(len(tuples), -1)
    q[person] = cell
    q[np.bincount(person, minlength=len(q)) > 1] = -1
    return q


def _each(
    table: pd.DataFrame,
    count: str | None,
    id: str | None,
    roles: dict[str, tuple[str, ...]],
    sets: Collection[str] = (),
) -> tuple[pd.DataFrame, np.ndarray | None]:
    """Check a table of records, and return it with the number of people per row, or None for one per row."""
    table, each = counted(table, roles, count, "the table", sets)
    if count is not None and each is None:
        raise unknown_name("column of the table (given as count)", count, table.columns)
    if count is None and id is None:
        check_no_count(table, roles, "the table")
    if id is not None:
        if each is not None:
            raise TableError(
                f"the table has pseudonyms and counts {count!r}, but pseudonyms need one row per person; omit one"
            )
        check_once(table[id])
    return table, each


def _with_id(qi: str | Iterable[str], id: str | None) -> tuple[tuple[str, ...], bool]:
    """Return the QI columns, and whether they consist of the pseudonym alone because `qi` is empty."""
    if id is not None and not isinstance(qi, str) and is_several(qi) and not (qi := tuple(qi)):
        return (id,), True
    return names(qi, "qi"), False


def check_release_roles(qi: tuple[str, ...], sa: tuple[str, ...], bucket: str) -> None:
    """Check the column names of a release; `bucket` must be a single column."""
    if not isinstance(bucket, str):
        raise TableError(f"bucket must be the name of the column of buckets, got {short_repr(bucket)}")
    check_roles({"q": qi, "s": sa, "bucket": (bucket,)})
