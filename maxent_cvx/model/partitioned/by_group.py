"""Numbers of groups that have terms in several partitions: sums are brought together, some groups at a time.

Each partition adds up its own terms by group and value. Groups are divided by their numbers into as many ranges as
there are partitions; what all of these have of one range meets in one place, is asked there, and only the answer goes
on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...solvers.partitioned.projection import PointPart
from ...system.executors import Executor
from ...terms.partitioned.surroundings import Surroundings
from ...views.partitioned.release_part import ReleasePart
from .published_part import groups_of, own_space

__all__ = ["GroupTable", "Measured", "by_group"]


class GroupTable(NamedTuple):
    """What some groups have.

    Attributes
    ----------
    numbers : ndarray of int
        Of the groups in the whole, ascending.
    records : ndarray
        Of each in the whole.
    counts : csr_array, shape (groups, sensitive values)
        N P(group, s), records.
    """

    numbers: np.ndarray
    records: np.ndarray
    counts: sp.csr_array


class Measured:
    """A measure of probabilities, as a function of a table of counts.

    Parameters
    ----------
    measure : callable
        Of probabilities, people, and the numbers of groups. One that holds something of every group has a method
        ``between(first, end)``, the same measure for these groups alone, so that only that is sent.
    """

    def __init__(self, measure: Callable[[np.ndarray, np.ndarray, np.ndarray], Any]) -> None:
        self.measure = measure

    def between(self, first: int, end: int) -> Measured:
        """The measure of the groups from `first` to before `end`."""
        of_some = getattr(self.measure, "between", None)
        return self if of_some is None else Measured(of_some(first, end))

    def __call__(self, table: GroupTable) -> Any:
        """What the measure gives."""
        return self.measure(table.counts.toarray() / table.records[:, None], table.records, table.numbers)


def by_group(
    measured: Measured,
    executor: Executor,
    parts: Sequence[Any],
    points: Sequence[Any],
    surroundings: Surroundings,
    n_tuples: int,
) -> list[Any]:
    """Handles of what is measured of every range of groups, all of whose terms are added up."""
    n_groups, n_ranges = n_tuples + len(surroundings.names), len(parts)
    edges = np.linspace(0, n_groups, n_ranges + 1).astype(np.int64)
    divided = executor.map(tables_of, parts, points, common=(surroundings, n_tuples, edges))
    ranges = [executor.map(taken, [table] * n_ranges, range(n_ranges)) for table in divided]
    functions = [measured.between(first, end) for first, end in itertools.pairwise(edges.tolist())]
    return executor.map(asked_together, functions, *ranges)


def tables_of(
    part: ReleasePart, point: PointPart, surroundings: Surroundings, n_tuples: int, edges: np.ndarray
) -> list[GroupTable]:
    """What a partition has of every range of groups."""
    space = own_space(part, surroundings)
    groups, numbers = groups_of(part, space, n_tuples)
    order = np.argsort(numbers, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    shape = len(numbers), len(part.sensitive_values)
    entries = point.counts, (place[groups.of_term], space.codes["s"])
    table, numbers, records = sp.coo_array(entries, shape=shape).tocsr(), numbers[order], groups.records[order]
    ends = np.searchsorted(numbers, edges)
    return [GroupTable(numbers[a:b], records[a:b], sp.csr_array(table[a:b])) for a, b in itertools.pairwise(ends)]


def taken(tables: Sequence[GroupTable], i: int) -> GroupTable:
    """One of some tables."""
    return tables[i]


def asked_together(function: Callable[[GroupTable], Any], *tables: GroupTable) -> Any:
    """What a function gives of the sum of tables that share groups."""
    numbers, first = np.unique(np.concatenate([table.numbers for table in tables]), return_index=True)
    records = np.concatenate([table.records for table in tables])[first]
    total = sp.csr_array((len(numbers), tables[0].counts.shape[1]))
    for table in tables:
        at = np.searchsorted(numbers, table.numbers)
        placing = sp.csr_array((np.ones(len(at)), (at, np.arange(len(at)))), shape=(len(numbers), len(at)))
        total = total + placing @ table.counts
    return function(GroupTable(numbers, records, sp.csr_array(total)))
