"""Anatomy: buckets of l records with l different sensitive values (Xiao and Tao, 2006)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import Any, cast, overload

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import TableError, join_names, pluralize
from .._utils.parallel import current_client, executor_for, then
from .._utils.tables import Microdata, check_named, names, plain_index
from .._utils.validation import check_int, check_seed
from ..releases.base import unused_name
from ..releases.partitioned import (
    CountedTuples,
    DaskTable,
    PartCounts,
    PartitionedRelease,
    Records,
    Roles,
    dask_records,
    is_dask,
    narrowed,
    number_rows,
    released,
    sensitive_codes,
    unshared,
)
from ..releases.release import Release
from ..worlds.worst_case import Frequencies, Safety, least_of_counts

# Buckets drawn from the largest piles of values; remaining records join buckets without their value (Anatomy).


def shuffled(value: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Sort records by value, in random order within each; return their positions, and the rank of each in its value."""
    order = rng.permutation(len(value))
    order = order[np.argsort(value[order], kind="stable")]
    return order, rank(value[order])


def rank(ordered: np.ndarray) -> np.ndarray:
    """Count the equal entries before each entry of a sorted array."""
    return np.arange(len(ordered)) - np.searchsorted(ordered, ordered)


def draw(pile: np.ndarray, l: int, rng: np.random.Generator) -> np.ndarray:
    """Draw one record from each of the l largest piles for every bucket, as long as there are l piles."""
    # Sequential, since the largest piles depend on all previous draws. Ties are broken at random.
    sizes = np.bincount(pile)
    heap = [(-int(sizes[kind]), float(rng.random()), int(kind)) for kind in np.flatnonzero(sizes)]
    heapq.heapify(heap)
    drawn: list[int] = []
    while len(heap) >= l:
        largest = [heapq.heappop(heap) for _ in range(l)]
        drawn += [kind for _, _, kind in largest]
        for size, tie, kind in largest:
            if size < -1:
                heapq.heappush(heap, (size + 1, tie, kind))
    drawn_from = np.array(drawn, dtype=np.int64)
    order = np.argsort(drawn_from, kind="stable")
    first = np.cumsum(sizes) - sizes
    bucket = np.full(len(pile), -1)
    bucket[first[drawn_from[order]] + rank(drawn_from[order])] = order // l
    return bucket


def join(left: np.ndarray, bucket: np.ndarray, value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Assign each remaining record to a random bucket without its value; -1 if there are too few such buckets."""
    chosen = np.full(len(left), -1)
    buckets = np.unique(bucket)
    for sensitive in np.unique(left):
        at = np.flatnonzero(left == sensitive)
        free = np.setdiff1d(buckets, bucket[value == sensitive])
        if len(free) >= len(at):
            chosen[at] = rng.choice(free, len(at), replace=False)
    return chosen


# Assignment of records to buckets of l different values (Anatomy), and its feasibility.


def exempt_values(frequency: np.ndarray, exempt: int) -> np.ndarray:
    """Mark the most frequent values, which may repeat in a bucket; ties are broken by position."""
    is_exempt = np.zeros(len(frequency), dtype=bool)
    is_exempt[np.argsort(-frequency, kind="stable")[:exempt]] = True
    return is_exempt


def assign_values(value: np.ndarray, is_exempt: np.ndarray, l: int, rng: np.random.Generator) -> np.ndarray:
    """Assign every record to a bucket from 0 to floor(n / l) - 1, given the codes of the values."""
    n = len(value)
    n_buckets = n // l
    # An exempt value is split into several values, none of them too frequent, so it may repeat in a bucket.
    order, rank = shuffled(value, rng)
    part = np.where(is_exempt[order], rank // n_buckets, 0)
    pile = np.unique(value[order] * (n + 1) + part, return_inverse=True)[1]
    assigned = draw(pile, l, rng)
    unassigned = assigned < 0  # fewer than l
    assigned[unassigned] = join(pile[unassigned], assigned[~unassigned], pile[~unassigned], rng)
    bucket = np.empty(n, dtype=np.int64)
    bucket[order] = assigned
    return bucket


def check_eligible(frequency: pd.Series, is_exempt: np.ndarray, n_buckets: int, l: int, part: str = "") -> None:
    """Raise TableError if a value that is not exempt occurs in more records than there are buckets."""
    too_many = frequency[~is_exempt & (frequency.to_numpy() > n_buckets)].sort_values(ascending=False)
    if len(too_many):
        exempting = f"exempt the {pluralize(int(is_exempt.sum()) + len(too_many), 'most frequent value')}"
        remedy = "spread people evenly over the partitions, exempt more values" if part else exempting
        raise TableError(
            f"{part}{': ' * bool(part)}{pluralize(len(too_many), 'value is', 'values are')} too frequent to occur once "
            f"per bucket ({pluralize(n_buckets, 'bucket')} with l = {l}): {join_names(too_many.index[:1])} occurs "
            f"{int(too_many.iloc[0])} times; {remedy}, or choose a smaller l"
        )


# Anatomy of a table in partitions, each of which is bucketized separately.


def anatomy_of_partitions(
    table: Any, qi: tuple[str, ...], sa: tuple[str, ...], l: int, exempt: int, seed: int
) -> PartitionedRelease:
    """Publish a Dask DataFrame as buckets, see :func:`maxent_cvx.anonymize.anatomy`."""
    check_int(l, "l", 1, error=TableError)
    check_int(exempt, "exempt", 0, error=TableError)
    check_seed(seed, TableError)
    check_named(table.columns, {"qi": qi, "sa": sa}, "the table")
    bucket = unused_name("Bucket", table.columns)
    roles = Roles.read(qi, sa, bucket, None)
    executor = executor_for(current_client())
    people = dask_records(narrowed(table, [*qi, *sa]))
    counts = executor.gather(executor.made([then(part.make, count_people, roles, l) for part in people]))
    occupied = [i for i, counts_of_part in enumerate(counts) if counts_of_part is not None]
    if not occupied:
        raise TableError("the table has no rows; at least one record is needed")
    values, numbers = CountedTuples.united([counts[i].values for i in occupied])
    is_exempt = exempt_values(values.records, exempt)
    dealers, first = [], 1
    for i, values_of_part in zip(occupied, numbers, strict=True):
        check_partition(counts[i], is_exempt[values_of_part], l, people[i].name)
        make = then(people[i].make, bucketized, roles, values.labels, is_exempt, (l, seed, i, first))
        dealers.append((Records(make, people[i].name), counts[i]))
        first += counts[i].buckets
    return released(dealers, roles)


def count_people(rows: pd.DataFrame, roles: Roles, l: int) -> PartCounts | None:
    """Count the QI tuples, values and future buckets of a partition; return None if it is empty."""
    if rows.empty:
        return None
    Microdata.of_people(rows, roles.qi, roles.sensitive)
    counts = np.ones(len(rows), dtype=np.int64)
    tuples, values = (CountedTuples.of(rows[list(columns)], counts) for columns in (roles.qi, roles.sensitive))
    return PartCounts(tuples, values, len(rows) // l, "numbers")


def check_partition(counts: PartCounts, is_exempt: np.ndarray, l: int, name: str) -> None:
    """Raise TableError if a partition cannot be bucketized separately."""
    if not counts.buckets:
        raise TableError(
            f"{name} has {pluralize(int(counts.values.records.sum()), 'record')}, fewer than a bucket with l = {l}; "
            "use fewer and larger partitions, table.repartition(npartitions=...)"
        )
    records = pd.Series(counts.values.records, plain_index(counts.values.labels))
    check_eligible(records, is_exempt, counts.buckets, l, name)


def bucketized(
    rows: pd.DataFrame, roles: Roles, values: pd.MultiIndex, is_exempt: np.ndarray, dealing: Sequence[int]
) -> pd.DataFrame:
    """Assign every record of a partition to a bucket, independently of the order of the records."""
    # A partition that is computed again, for example on another worker, therefore has the same counts. Equal records are
    # interchangeable.
    l, seed, number, first = dealing
    value = sensitive_codes(rows[list(roles.sensitive)], unshared(values))
    tuples, _ = number_rows(rows[list(roles.qi)])
    order = np.lexsort((value, tuples))
    bucket = np.empty(len(rows), dtype=np.int64)
    bucket[order] = first + assign_values(
        value[order], is_exempt[value[order]], l, np.random.default_rng([seed, number])
    )
    return rows[[*roles.qi, *roles.sensitive]].assign(**{roles.bucket: bucket})


# The smallest (c, k)-safe buckets.


def safely_dealt(value: np.ndarray, is_exempt: np.ndarray, l: int, seed: int, safety: Safety) -> np.ndarray:
    """Assign records to buckets by :func:`assign_values`, of the smallest safe size from l on."""
    n, frequency = len(value), np.bincount(value)
    largest = n // int(frequency[~is_exempt].max(initial=1))
    p = np.inf
    for size in range(l, largest + 1):
        bucket = assign_values(value, is_exempt[value], size, np.random.default_rng(seed))
        counts = sp.coo_array((np.ones(n, dtype=np.int64), (value, bucket))).tocsc()
        p = safety.disclosure(Frequencies.of(counts, ~is_exempt))
        if p < safety.c:
            return bucket
    raise safety.unreachable(p, f"l = {largest}, the largest possible", ", or exempt more values")


@overload
def anatomy(
    table: pd.DataFrame,
    *,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    l: int,
    exempt: int = 0,
    seed: int = 0,
    safe: tuple[float, int] | None = None,
) -> Release: ...
@overload
def anatomy(
    table: DaskTable,
    *,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    l: int,
    exempt: int = 0,
    seed: int = 0,
    safe: None = None,
) -> PartitionedRelease: ...
def anatomy(
    table: pd.DataFrame | DaskTable,
    *,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    l: int,
    exempt: int = 0,
    seed: int = 0,
    safe: tuple[float, int] | None = None,
) -> Release | PartitionedRelease:
    """Publish a table as buckets in which no sensitive value, except exempt ones, occurs twice.

    Parameters
    ----------
    table : DataFrame or dask.dataframe.DataFrame
        One row per person. The partitions of a Dask DataFrame are bucketized independently.
    qi, sa
        Column names.
    l : int
        Number of records per bucket, and of different sensitive values among them.
    exempt : int
        Number of most frequent sensitive values that may repeat in a bucket, as they are not considered sensitive
        (Privacy-MaxEnt, section 7, footnote 3).
    seed : int
        Random seed of the assignment. To an adversary who knows the algorithm the assignment is random only if the seed
        is secret; the default is not.
    safe : tuple of float and int, optional
        (c, k): no value except the exempt ones has a probability of c or more for an adversary who knows k basic
        implications, see :func:`maxent_cvx.attacks.worst_case`. The smallest sufficient l is used, from `l` on; only
        for a table in memory. This holds against an adversary who knows the release, or the release and this algorithm,
        but not against one who also knows the seed and the order of the records.

    Returns
    -------
    Release or PartitionedRelease
        floor(N / l) buckets of l records; the up to l - 1 remaining records join buckets without their value. For a
        Dask DataFrame a release with the same partitions.

    Raises
    ------
    TableError
        If the table is smaller than l, a value that is not exempt occurs in more than 1/l of it, no possible l is safe,
        or `l`, `exempt`, `seed` or `safe` is out of range.
    UnknownName
        If the table lacks a column.

    Notes
    -----
    With a Dask DataFrame, buckets do not cross partitions, so that up to l - 1 records remain in each, and each must be
    large and diverse enough by itself (a value that is not exempt occurs in at most 1/l of it); an error names the
    partition. The exempt values are the most frequent ones of the whole table. Buckets are numbered through all
    partitions. Each partition has its own random stream, given by the seed and its number, so that the result depends
    on the partitions. Shuffle sorted tables first.

    References
    ----------
    Xiao, X. and Tao, Y. (2006). Anatomy: Simple and effective privacy preservation. VLDB, 139-150.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.anonymize.anatomy(hospital, qi=["Gender", "Degree"], sa="Disease", l=3)
    >>> release
    <Release: 10 records in 3 buckets; 6 distinct (Gender, Degree), 5 values of 'Disease'>
    >>> worst = mx.measures.disclosure(mx.MaxEnt(release).solve(), worst=True)
    >>> round(worst["max_p"].item(), 3)                 # no probability is above 1/l
    0.333

    Buckets in which no probability reaches 0.6 for an adversary who knows any one implication:

    >>> release = mx.anonymize.anatomy(hospital, qi=["Gender", "Degree"], sa="Disease", l=2, safe=(0.6, 1))
    >>> len(release.buckets), mx.attacks.worst_case(release, k=1)["disclosure"].item()
    (3, 0.5)

    A table in partitions, which may be larger than memory:

    >>> import dask.dataframe as dd
    >>> adult = dd.from_pandas(mx.datasets.load_adult(), npartitions=2)
    >>> large = mx.anonymize.anatomy(adult, qi=["sex", "age"], sa="education", l=5, exempt=2)
    >>> large.n_records, large.n_buckets, large.n_partitions
    (30162, 6032, 2)
    """
    if is_dask(table):
        if safe is not None:
            raise TableError(
                "safe is not available for a table in partitions, since implications may link people of different ones; "
                "omit it"
            )
        return anatomy_of_partitions(table, names(qi, "qi"), names(sa, "sa"), l, exempt, seed)
    table = cast(pd.DataFrame, table)  # checked below
    qi, sa = names(qi, "qi"), names(sa, "sa")
    bucket = anatomy_buckets(table, qi=qi, sa=sa, l=l, exempt=exempt, seed=seed, safe=safe)
    name = unused_name("Bucket", table.columns)
    return Release.from_buckets(table[[*qi, *sa]].assign(**{name: bucket}), qi=qi, sa=sa, bucket=name)


def anatomy_buckets(
    table: pd.DataFrame,
    *,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    l: int,
    exempt: int = 0,
    seed: int = 0,
    safe: tuple[float, int] | None = None,
) -> pd.Series:
    """Assign every record of a table to a bucket, as :func:`anatomy` does; the assignment must stay secret.

    Parameters
    ----------
    table : DataFrame
        One row per person.
    qi, sa : str or list of str
        Column names.
    l, exempt, seed : int
        As in :func:`anatomy`.
    safe : tuple of float and int, optional
        (c, k) as in :func:`anatomy`, which describes the adversary.

    Returns
    -------
    Series
        Named "Bucket", indexed like the table: 1 to floor(N / l).

    Raises
    ------
    TableError
        If the table is smaller than l, a value that is not exempt occurs in more than 1/l of it, no possible l is safe,
        or `l`, `exempt`, `seed` or `safe` is out of range.
    UnknownName
        If the table lacks a column.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> bucket = mx.anonymize.anatomy_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", l=3)
    >>> print(hospital["Disease"].groupby(bucket).agg(["size", "nunique"]))     # the tenth record has joined a bucket
            size  nunique
    Bucket
    1          3        3
    2          3        3
    3          4        4
    """
    data = Microdata.of_people(table, qi, sa)
    n = len(table)
    n_buckets = n // check_int(l, "l", 1, n, TableError)
    check_int(exempt, "exempt", 0, error=TableError)
    check_seed(seed, TableError)
    safety = Safety.read(safe)
    value, values = data.values()
    frequency = np.bincount(value)
    is_exempt = exempt_values(frequency, exempt)
    check_eligible(pd.Series(frequency, index=values), is_exempt, n_buckets, l)
    if safety is None:
        bucket = assign_values(value, is_exempt[value], l, np.random.default_rng(seed))
    else:
        bucket = safely_dealt(value, is_exempt, l, seed, safety)
    return pd.Series(bucket + 1, index=table.index, name="Bucket")


# Groups of records that are cut in two as long as all groups together remain (c, k)-safe.


class SafeGroups:
    """The disclosure by implications for all groups of a table together, since they may link people of different groups."""

    # A group that is cut remains counted, since its factor is not less than that of its halves together. *Proof.* Take a
    # chain in the group. A factor (n - i - S_c) / (n - i), or (n - S_c) / n_s for the target, who may be the first person,
    # is at least the ratio of sums over both halves, of n - i - S_c in the halves to n - i or n_s. So the factor in one
    # half is not larger, and the person is put into this half.

    def __init__(self, value: np.ndarray, safety: Safety) -> None:
        self.value, self.safety = value, safety
        self._n_values = int(value.max()) + 1
        whole = self._counts([np.arange(len(value))])
        every = np.ones(self._n_values, dtype=bool)  # all values are sensitive
        if (p := safety.disclosure(Frequencies.of(sp.csc_array(whole.T), every))) >= safety.c:
            raise safety.unreachable(p, "the whole table as one group")
        (self._least,) = least_of_counts(whole, safety.k)

    def cut(self, halves: list[np.ndarray]) -> bool:
        """Record the cut of a group if all groups are safe after it; return whether they are."""
        first, second = least_of_counts(self._counts(halves), self.safety.k)
        together = self._least & first & second
        allowed = self.safety.holds(together)
        if allowed:
            self._least = together
        return allowed

    def _counts(self, groups: list[np.ndarray]) -> np.ndarray:
        return np.array([np.bincount(self.value[records], minlength=self._n_values) for records in groups])
