"""Anatomy: buckets of l records with l different sensitive values (Xiao and Tao, 2006)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ..errors import TableError, amount, listing, whole
from ..tables.columns import names
from ..tables.microdata import Microdata
from ..views import Release
from .drawing import draw, join, shuffled

__all__ = ["anatomy", "anatomy_buckets"]


def anatomy(
    table: pd.DataFrame, *, qi: str | Iterable[str], sa: str | Iterable[str], l: int, exempt: int = 0, seed: int = 0
) -> Release:
    """Publish a table as buckets in which no sensitive value (but the exempt ones) occurs twice.

    Parameters
    ----------
    table : DataFrame
        One row a person.
    qi, sa
        Column names.
    l : int
        Records a bucket, and different sensitive values among them.
    exempt : int
        How many of the most frequent sensitive values may repeat in a bucket: they are not thought
        of as sensitive (Privacy-MaxEnt, section 7, footnote 3).
    seed : int
        Which records of a value go together is random.

    Returns
    -------
    Release
        floor(N / l) buckets of l records; the up to l - 1 records that are left over join buckets that
        lack their value.

    Raises
    ------
    TableError
        If the table is smaller than l, or a value that is not exempt occurs in more than 1/l of it; or `l`, `exempt` or
        `seed` is out of range.
    UnknownName
        If the table lacks a column.

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
    """
    qi, sa = names(qi, "qi"), names(sa, "sa")
    bucket = anatomy_buckets(table, qi=qi, sa=sa, l=l, exempt=exempt, seed=seed)
    name = next(name for name in ("Bucket", "bucket", "Anatomy", "_bucket") if name not in table.columns)
    return Release.from_buckets(table[[*qi, *sa]].assign(**{name: bucket}), qi=qi, sa=sa, bucket=name)


def anatomy_buckets(
    table: pd.DataFrame, *, qi: str | Iterable[str], sa: str | Iterable[str], l: int, exempt: int = 0, seed: int = 0
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

    Returns
    -------
    Series
        Named "Bucket", indexed like the table: 1 to floor(N / l).

    Raises
    ------
    TableError
        If the table is smaller than l, or a value that is not exempt occurs in more than 1/l of it; or `l`, `exempt` or
        `seed` is out of range.
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
    rng = np.random.default_rng(seed)
    value, values = data.values()
    frequency = np.bincount(value)
    is_exempt = np.zeros(len(values), dtype=bool)
    is_exempt[np.argsort(-frequency, kind="stable")[:exempt]] = True
    check_eligible(pd.Series(frequency, index=values), is_exempt, n_buckets, l)

    # An exempt value counts as more than one value, none too frequent: so often may it occur in a bucket.
    order, rank = shuffled(value, rng)
    part = np.where(is_exempt[value[order]], rank // n_buckets, 0)
    pile = np.unique(value[order] * (n + 1) + part, return_inverse=True)[1]
    dealt = draw(pile, l, rng)
    left = dealt < 0  # fewer than l
    dealt[left] = join(pile[left], dealt[~left], pile[~left], rng)
    bucket = np.empty(n, dtype=np.int64)
    bucket[order] = dealt
    return pd.Series(bucket + 1, index=table.index, name="Bucket")


def check_eligible(frequency: pd.Series, is_exempt: np.ndarray, n_buckets: int, l: int) -> None:
    """Check that every value that counts fits into as many buckets as it has records."""
    too_many = frequency[~is_exempt & (frequency.to_numpy() > n_buckets)].sort_values(ascending=False)
    if len(too_many):
        enough = int(is_exempt.sum()) + len(too_many)
        raise TableError(
            f"{amount(len(too_many), 'value occurs', 'values occur')} more often than once a bucket "
            f"({amount(n_buckets, 'bucket')} of l={l}), "
            f"{listing(too_many.index[:1])} {int(too_many.iloc[0])} times; exempt the most frequent values "
            f"(exempt={enough}), or choose a smaller l"
        )
