"""Similar linkage: groups of people whom a prior hardly distinguishes (Probabilistic Inference Protection, IV, V)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ...errors import StatementError, TableError, arguments, shown, whole
from ...priors import QIDistribution
from ...tables.columns import names
from ...tables.microdata import Microdata
from ...views import Release
from ...worlds.deviation import one_r
from .linking import Linking
from .privacy_criterion import CONDITIONS

__all__ = ["similar_linkage", "similar_linkage_groups"]


def similar_linkage(
    table: pd.DataFrame,
    *,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    prior: QIDistribution,
    r: float,
    condition: str = "sound",
    exempt: int = 0,
    suppress: int = 0,
    seed: int = 0,
) -> Release:
    """Publish a table as buckets in which P(t : x) <= 1 / r for everybody, also for who knows the prior: r-robust.

    Parameters
    ----------
    table : DataFrame
        One row a person.
    qi, sa : str or list of str
        Column names.
    prior : QIDistribution
        What the adversary knows, of one attribute set or several, each of which is asked.
    r : float
        At least 1.
    condition : str
        How a group is known to be safe. "sound": by :func:`maxent_cvx.worlds.sound_condition`, which proves it.
        "exact": by :func:`maxent_cvx.worlds.posterior`, so that no safe group is refused; groups with more than
        fourteen values or so as if "sound". "delta": by the paper's condition, after which the release may **not** be
        r-robust; then that raises.
    exempt : int
        How many of the most frequent sensitive values are not protected, and may repeat in a bucket.
    suppress : int
        How many records may be left out of the release, if they fit nowhere; none unless allowed.
    seed : int
        What goes together is random.

    Returns
    -------
    Release
        Buckets in which no value that is not exempt occurs twice, of ceil(r) records as far as the condition holds;
        smaller where all values are exempt.

    Raises
    ------
    TableError
        If values are too frequent for r, or records fit into no group that can be found: how many, of which values, and
        an r with which all fit; or if the release is not r-robust after all (condition="delta").
    UnknownName
        If the table lacks a column, the prior a signature or a value, or there is no such condition.
    StatementError
        If the prior is no :class:`maxent_cvx.QIDistribution`, or a number is out of range.

    Notes
    -----
    Those with one signature are grouped as Anatomy does, from the largest piles of values: by the prior they are
    indistinguishable. Who is left over is grouped with those of similar signatures, and so on upwards; a group that
    does not satisfy the condition is drawn again, and larger. For those who are left over in the end a linear program
    chooses among safe patterns of groups, which are found as they are needed, how often each should be there; at last
    some groups are taken apart and drawn anew, as long as that places more. That merging more helps is not sure: the
    conditions are not monotone. So it ends when attempts fail, and nothing is published then.

    Probabilistic Inference Protection, sections IV and V. With `condition` "sound" or "exact" the release is r-robust,
    which all possible worlds confirm before it is returned (in groups of many values swaps). The guarantee is about
    adversaries who do not reason about how the groups were chosen.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> prior = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=1)
    >>> release = mx.disguise.similar_linkage(hospital, qi=["Gender", "Degree"], sa="Disease", prior=prior, r=2)
    >>> release
    <Release: 10 records in 5 buckets; 6 distinct (Gender, Degree), 5 values of 'Disease'>
    >>> mx.worlds.r_robustness(release, prior)["r"].min().round(6).item()       # no P(t : x) is above 1/2
    2.0
    """
    group = similar_linkage_groups(
        table, qi=qi, sa=sa, prior=prior, r=r, condition=condition, exempt=exempt, suppress=suppress, seed=seed
    )
    qi, sa = names(qi, "qi"), names(sa, "sa")
    name = "Bucket"
    while name in (*qi, *sa):
        name = f"_{name}"
    published = table[[*qi, *sa]].assign(**{name: group})[(group > 0).to_numpy()]
    if published.empty:
        raise TableError(f"suppress={suppress} lets all {len(table)} records be left out, and nothing else helps")
    return Release.from_buckets(published, qi=qi, sa=sa, bucket=name)


def similar_linkage_groups(
    table: pd.DataFrame,
    *,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    prior: QIDistribution,
    r: float,
    condition: str = "sound",
    exempt: int = 0,
    suppress: int = 0,
    seed: int = 0,
) -> pd.Series:
    """Assign every record to a bucket, as :func:`similar_linkage` does; this is the publisher's secret.

    Parameters
    ----------
    table : DataFrame
        One row a person.
    qi, sa : str or list of str
        Column names.
    prior, r, condition, exempt, suppress, seed
        As in :func:`similar_linkage`.

    Returns
    -------
    Series
        Named "Bucket", indexed like the table: numbers from 1; 0 of records that are left out.

    Raises
    ------
    TableError
        If values are too frequent for r, or records fit into no group that can be found: how many, of which values, and
        an r with which all fit; or if the release is not r-robust after all (condition="delta").
    UnknownName
        If the table lacks a column, the prior a signature or a value, or there is no such condition.
    StatementError
        If the prior is no :class:`maxent_cvx.QIDistribution`, or a number is out of range.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> prior = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=1)
    >>> qi = ["Gender", "Degree"]
    >>> bucket = mx.disguise.similar_linkage_groups(hospital, qi=qi, sa="Disease", prior=prior, r=2)
    >>> bucket.value_counts().to_list()
    [2, 2, 2, 2, 2]
    >>> bool((hospital["Gender"].groupby(bucket).nunique() == 1).all())     # together are those of one signature
    True
    """
    data = Microdata.of_people(table, names(qi, "qi"), names(sa, "sa"))
    if not isinstance(prior, QIDistribution):
        raise StatementError(f"prior must be a QIDistribution, not {shown(prior)}")
    arguments.known_label(condition, "condition", CONDITIONS)
    r = one_r(r)
    exempt, suppress = whole(exempt, "exempt", 0), whole(suppress, "suppress", 0)
    found = Linking.of(data, prior, exempt, whole(seed, "seed", 0)).groups(r, condition, suppress)
    number = np.unique(found.group, return_inverse=True)[1] + (0 if len(found.left) else 1)
    return pd.Series(number, index=table.index, name="Bucket")
