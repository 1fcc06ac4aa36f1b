"""Anatomy: buckets of l records with l different sensitive values (Xiao and Tao, 2006)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast, overload

import numpy as np
import pandas as pd

from ..errors import TableError, whole
from ..tables.columns import names
from ..tables.microdata import Microdata
from ..views import PartitionedRelease, Release
from ..views.partitioned.from_dask import DaskTable, is_dask
from ..worlds.worst.safety import Safety
from .dealing import check_eligible, dealt, exempt_values
from .partitioned_anatomy import anatomy_of_partitions
from .safe_dealing import safely_dealt

__all__ = ["anatomy", "anatomy_buckets"]


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
    """Publish a table as buckets in which no sensitive value (but the exempt ones) occurs twice.

    Parameters
    ----------
    table : DataFrame or dask.dataframe.DataFrame
        One row a person. Each partition of a Dask DataFrame is bucketized by itself, where it lies.
    qi, sa
        Column names.
    l : int
        Records a bucket, and different sensitive values among them.
    exempt : int
        How many of the most frequent sensitive values may repeat in a bucket: they are not thought
        of as sensitive (Privacy-MaxEnt, section 7, footnote 3).
    seed : int
        Seed of the random choice which records go together. To an adversary who knows the algorithm the choice is
        random only if the seed is secret; the default is not.
    safe : tuple of float and int, optional
        (c, k): after any k basic implications that an adversary knows, no value but the exempt ones has a probability
        of c or more, see :func:`maxent_cvx.attacks.worst_case`. The smallest l that does it is taken, from `l` on. Of
        a table in memory. This holds against an adversary who knows the release alone, or the release and this
        algorithm, but not against one who also knows the seed and the order of the records.

    Returns
    -------
    Release or PartitionedRelease
        floor(N / l) buckets of l records; the up to l - 1 records that are left over join buckets that
        lack their value. Of a Dask DataFrame a release in its partitions.

    Raises
    ------
    TableError
        If the table is smaller than l, or a value that is not exempt occurs in more than 1/l of it; no l that values
        allow is safe; or `l`, `exempt`, `seed` or `safe` is out of range.
    UnknownName
        If the table lacks a column.

    Notes
    -----
    What differs with a Dask DataFrame: people are in a bucket with others of their own partition only, so that up to
    l - 1 records are left over in each, and each must be large and mixed enough by itself (a value that is not exempt
    is in at most 1/l of it); an error names the partition. The exempt values are the most frequent ones of the whole
    table. Buckets are numbered through all partitions. Each draws from a random stream of its own, of the seed and
    the partition's number, so that the same partitions give the same buckets, and others give others. A table that is
    sorted should be shuffled before.

    References
    ----------
    Xiao, X. and Tao, Y. (2006). Anatomy: Simple and effective privacy preservation. VLDB, 139-150.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.disguise.anatomy(hospital, qi=["Gender", "Degree"], sa="Disease", l=3)
    >>> release
    <Release: 10 records in 3 buckets; 6 distinct (Gender, Degree), 5 values of 'Disease'>
    >>> worst = mx.measures.disclosure(mx.MaxEnt(release).solve(), worst=True)
    >>> round(worst["max_p"].item(), 3)                 # nobody's disease is surer than 1/l
    0.333

    Buckets that withstand an adversary who knows any two implications, as far as a probability of 0.6:

    >>> release = mx.disguise.anatomy(hospital, qi=["Gender", "Degree"], sa="Disease", l=2, safe=(0.6, 1))
    >>> len(release.buckets), mx.attacks.worst_case(release, k=1)["disclosure"].item()
    (3, 0.5)

    A table that is larger than memory, here of two partitions:

    >>> import dask.dataframe as dd
    >>> adult = dd.from_pandas(mx.datasets.load_adult(), npartitions=2)
    >>> large = mx.disguise.anatomy(adult, qi=["sex", "age"], sa="education", l=5, exempt=2)
    >>> large.n_records, large.n_buckets, large.n_partitions
    (30162, 6032, 2)
    """
    if is_dask(table):
        if safe is not None:
            raise TableError("safe= asks of all buckets at once what implications can do; of partitions, leave it out")
        return anatomy_of_partitions(table, names(qi, "qi"), names(sa, "sa"), l, exempt, seed)
    table = cast(pd.DataFrame, table)  # or it is refused
    qi, sa = names(qi, "qi"), names(sa, "sa")
    bucket = anatomy_buckets(table, qi=qi, sa=sa, l=l, exempt=exempt, seed=seed, safe=safe)
    name = next(name for name in ("Bucket", "bucket", "Anatomy", "_bucket") if name not in table.columns)
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
    """Assign every record of a table to a bucket, as :func:`anatomy` does; this is the publisher's secret.

    Parameters
    ----------
    table : DataFrame
        One row a person.
    qi, sa : str or list of str
        Column names.
    l, exempt, seed : int
        As in :func:`anatomy`.
    safe : tuple of float and int, optional
        (c, k) as in :func:`anatomy`, which says against whom it holds.

    Returns
    -------
    Series
        Named "Bucket", indexed like the table: 1 to floor(N / l).

    Raises
    ------
    TableError
        If the table is smaller than l, or a value that is not exempt occurs in more than 1/l of it; no l that values
        allow is safe; or `l`, `exempt`, `seed` or `safe` is out of range.
    UnknownName
        If the table lacks a column.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> bucket = mx.disguise.anatomy_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", l=3)
    >>> print(hospital["Disease"].groupby(bucket).agg(["size", "nunique"]))     # the tenth record has joined a bucket
            size  nunique
    Bucket
    1          3        3
    2          3        3
    3          4        4
    """
    data = Microdata.of_people(table, names(qi, "qi"), names(sa, "sa"))
    n = len(table)
    n_buckets = n // whole(l, "l", 1, n, TableError)
    whole(exempt, "exempt", 0, error=TableError)
    whole(seed, "seed", 0, error=TableError)
    safety = Safety.read(safe)
    value, values = data.values()
    frequency = np.bincount(value)
    is_exempt = exempt_values(frequency, exempt)
    check_eligible(pd.Series(frequency, index=values), is_exempt, n_buckets, l)
    if safety is None:
        bucket = dealt(value, is_exempt[value], l, np.random.default_rng(seed))
    else:
        bucket = safely_dealt(value, is_exempt, l, seed, safety)
    return pd.Series(bucket + 1, index=table.index, name="Bucket")
