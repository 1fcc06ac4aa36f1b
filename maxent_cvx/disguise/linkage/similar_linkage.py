"""Similar linkage: groups of people whom a prior cannot tell apart (Probabilistic Inference Protection, IV and V)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from ... import arguments
from ...errors import StatementError, TableError, listing, shown, whole
from ...priors import QIDistribution
from ...tables.coding import densely
from ...tables.columns import names
from ...tables.microdata import Microdata
from ...views import Release
from ...worlds.deviation import one_r
from .column_generation import rearrange
from .grouping import Grouping
from .local_search import place_left
from .safe_groups import CONDITIONS, Promise
from .signature_tree import nested

__all__ = ["similar_linkage", "similar_linkage_groups"]

#: The logarithm of a prior of 0, where signatures are compared: further apart than any others.
IMPOSSIBLE = -1e3
#: Sums over worlds are rounded; relatively, by no more than this in groups of any size.
CHECKED = 1e-9
#: If so many are left over after everything was tried, it is not tried again.
MANY = 50
#: Work on new patterns of groups, also where it is only asked whether something else would do; attempts to place who is
#: left over.
EFFORT, LESS, PATIENCE = 2e10, 5e9, 20


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
    qi, sa : str or several
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
    Those with one signature are grouped as Anatomy does, from the largest piles of values: the prior cannot tell them
    apart. Who is left over is grouped with those of similar signatures, and so on upwards; a group that does not
    satisfy the condition is drawn again, and larger. For those who are left over in the end a linear program chooses
    among safe patterns of groups, which are found as they are needed, how often each should be there; at last some
    groups are taken apart and drawn anew, as long as that places more. That merging more helps is not sure: the
    conditions are not monotone. So it ends when attempts fail, and nothing is published then.

    Probabilistic Inference Protection, sections IV and V. With `condition` "sound" or "exact" the release is r-robust,
    which all possible worlds confirm before it is returned (in groups of many values swaps). The promise is about
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
    qi, sa : str or several
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
    data = Microdata(table, names(qi, "qi"), names(sa, "sa"))
    if not isinstance(prior, QIDistribution):
        raise StatementError(f"prior must be a QIDistribution, not {shown(prior)}")
    arguments.known_label(condition, "condition", CONDITIONS)
    r = one_r(r)
    exempt, suppress = whole(exempt, "exempt", 0), whole(suppress, "suppress", 0)
    seed = whole(seed, "seed", 0)
    value, values = data.values()
    frequency = np.bincount(value)
    counts = np.ones(len(values), dtype=bool)
    counts[np.argsort(-frequency, kind="stable")[:exempt]] = False
    _check_frequent(pd.Series(frequency, index=values), counts, r, suppress)
    tuples, quasi_identifiers = data.tuples()
    column = prior.columns(values)
    rows = np.column_stack([prior.rows(quasi_identifiers, key) for key in prior.attribute_sets])
    distinct, of_tuple = np.unique(rows, axis=0, return_inverse=True)
    tables = [(distinct[:, i], prior.tables[key].to_numpy()[:, column]) for i, key in enumerate(prior.attribute_sets)]
    with np.errstate(divide="ignore"):
        log_prior = np.concatenate([np.log(f[position]) for position, f in tables], axis=1)
    order, parts = nested(np.maximum(log_prior, IMPOSSIBLE))
    tables = [(position[order], f) for position, f in tables]
    signature = np.argsort(order)[of_tuple.reshape(-1)][tuples]

    def grouped(r: float, condition: str, work: float) -> tuple[Grouping, bool]:
        """Group the records, and say whether all work was spent."""
        promise = Promise(tables, counts, r, condition)
        found, spent = Grouping.of(promise, signature, value, np.random.default_rng(seed)), False
        found.from_the_bottom(parts)
        while before := len(found.left):
            spent |= rearrange(found, work)
            place_left(found, PATIENCE)
            if len(found.left) >= min(before, MANY):
                break
        return found, spent

    found, _ = grouped(r, condition, EFFORT)
    if len(found.left) > suppress:
        others = [(r, "exact")] if condition == "sound" else []
        others += [(less, condition) for less in range(int(np.ceil(r)) - 1, 1, -1)]
        trials = ((other, *grouped(*other, LESS)) for other in others)
        # What ends before its work is spent ends so with more, too: who follows the advice gets what it says.
        works = next((other for other, trial, spent in trials if not len(trial.left) and not spent), None)
        raise _left_over(found, values, suppress, works)
    _check_worlds(found)
    number = np.unique(found.group, return_inverse=True)[1] + (0 if len(found.left) else 1)
    return pd.Series(number, index=table.index, name="Bucket")


def _check_frequent(frequency: pd.Series, counts: np.ndarray, r: float, suppress: int) -> None:
    """Check that every value that counts has as many groups to be in as it has records, but for some left out."""
    n, least = int(frequency.sum()), int(np.ceil(r))
    too_many = frequency[counts & (frequency.to_numpy() * least > n)].sort_values(ascending=False)
    if not len(too_many):
        return
    most, enough = int(too_many.iloc[0]), int((~counts).sum()) + len(too_many)
    out = -(-(most * least - n) // (least - 1))  # without s of them, most - s <= (n - s) / least
    if out > suppress:
        raise TableError(
            f"{len(too_many)} of the values {'is' if len(too_many) == 1 else 'are'} too frequent to stand once in a "
            f"group of {least} records: {listing(too_many.index[:1])} occurs {most} times, and {n} records make "
            f"{n // least} groups; r={n // most} is the largest with enough of them, or exempt the most frequent "
            f"values (exempt={enough}), or leave {out} of its records out (suppress={out}, or more)"
        )


def _left_over(found: Grouping, values: pd.Index, suppress: int, works: tuple[float, str] | None) -> TableError:
    """Say who fits nowhere, and what would help."""
    left = found.left
    often = pd.Series(found.value[left]).value_counts()
    allowed = f", and suppress={suppress} are allowed to be left out" if suppress else ""
    remedy = "" if works is None else f"; with r={works[0]:g}, condition={works[1]!r} all records fit"
    return TableError(
        f"{len(left)} of {len(found.value)} records fit into no group that keeps r={found.promise.r:g}{allowed}, of "
        f"{listing(values.take(often.index[:3].to_numpy()))} most of them: the prior expects these values of too many; "
        f"taking groups apart did not help{remedy}, or leave them out (suppress={len(left)}), or exempt the value"
    )


def _check_worlds(found: Grouping) -> None:
    """Check the groups against all possible worlds, where these are not too many; else against the sound condition."""
    inside = found.group >= 0
    if not inside.any():
        return
    promise = found.promise
    strain = replace(promise, condition="exact").strain(
        densely(found.group[inside]), found.signature[inside], found.value[inside]
    )
    if (unsafe := strain > 1 + CHECKED).any():
        raise TableError(
            f"{int(unsafe.sum())} of {len(unsafe)} groups that satisfy the condition {promise.condition!r} are not "
            f"safe: P(t : x) is up to {strain.max() / promise.r:.4g}, above 1 / {promise.r:g}; use "
            "condition='sound' (see maxent_cvx.worlds.delta_condition for what the paper's guarantees)"
        )
