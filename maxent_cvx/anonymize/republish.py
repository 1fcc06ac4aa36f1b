"""Publish a changed table again: independently, guided by the previous release, or m-invariant."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from .._utils.errors import StatementError, TableError, join_names, pluralize, short_repr
from .._utils.tables import Microdata, check_once, check_types, concatenated, distinct
from .._utils.validation import check_in, check_int, check_seed
from ..releases.release import Release
from .anatomy import anatomy_buckets, draw, join, shuffled

# Buckets continued from an earlier release: people stay, newcomers take free places or are put into new buckets.


#: The bucket and the value of each free place.
Places = tuple[np.ndarray, np.ndarray]


def _fill_places(bucket: np.ndarray, value: np.ndarray, places: Places, rng: np.random.Generator) -> Places:
    """Put newcomers (bucket -1) into random free places of their value; return the places that remain empty."""
    new, (buckets, values) = np.flatnonzero(bucket < 0), places
    ranks = []
    for of_value in (value[new], values):
        order, rank = shuffled(of_value, rng)
        ranks.append(rank[np.argsort(order)])
    # The n-th newcomer with a value takes the n-th place of that value.
    size = max(len(new), len(values), 1)
    keys = value[new] * size + ranks[0], values * size + ranks[1]
    _, newcomer, place = np.intersect1d(*keys, return_indices=True)
    bucket[new[newcomer]] = buckets[place]
    return np.delete(buckets, place), np.delete(values, place)


def _new_buckets(bucket: np.ndarray, value: np.ndarray, l: int, first: int, rng: np.random.Generator) -> np.ndarray:
    """Put newcomers into new buckets of l different values, numbered from `first`; return the remaining newcomers."""
    newcomers = np.flatnonzero(bucket < 0)
    newcomers = newcomers[shuffled(value[newcomers], rng)[0]]
    fresh = draw(value[newcomers], l, rng)
    bucket[newcomers[fresh >= 0]] = first + fresh[fresh >= 0]
    return newcomers[fresh < 0]


def _join_buckets(
    bucket: np.ndarray, value: np.ndarray, newcomers: np.ndarray, values: pd.Index, rng: np.random.Generator
) -> None:
    """Put the remaining newcomers into buckets without their value."""
    is_placed = bucket >= 0
    bucket[newcomers] = joined = join(value[newcomers], bucket[is_placed], value[is_placed], rng)
    if (stranded := newcomers[joined < 0]).size:
        sensitive = value[stranded[0]]
        many = pluralize(int(np.sum(value[stranded] == sensitive)), "newcomer")
        raise TableError(
            f"{many} with {join_names([values[sensitive]])} cannot be placed: too few buckets lack that value; choose "
            "a smaller l, or the method 'm_invariant', which adds counterfeits"
        )


def _alone(
    unplaced: np.ndarray, l: int, n_values: int, first: int, rng: np.random.Generator
) -> tuple[np.ndarray, Places]:
    """Put the remaining newcomers into further buckets, numbered from `first`, with counterfeits of other values."""
    if len(unplaced) and n_values < l:
        raise TableError(f"l must be at most {n_values}, the number of sensitive values, got {l}")
    order, number = shuffled(unplaced, rng)
    bucket = np.empty(len(unplaced), dtype=np.int64)
    bucket[order] = number  # each value once per bucket
    has_value = np.zeros((int(bucket.max(initial=-1)) + 1, n_values), dtype=bool)
    has_value[bucket, unplaced] = True
    others = np.argsort(rng.random(has_value.shape) + has_value, axis=1)  # in random order, present values last
    added, which = np.nonzero(np.arange(n_values) < (l - has_value.sum(axis=1))[:, None])
    return first + bucket, (first + added, others[added, which])


METHODS = ("independent", "history_guided", "m_invariant")


def republish(
    release: Release, table: pd.DataFrame, *, method: str = "independent", l: int, exempt: int = 0, seed: int = 0
) -> Release:
    """Publish a table of people who were partly in an earlier release.

    Parameters
    ----------
    release : Release
        The earlier release, with pseudonyms.
    table : DataFrame
        One row per person, with the columns of the release except the bucket, and the pseudonyms. People in the earlier
        release must have an unchanged value; a person whose value has changed needs a new pseudonym.
    method : str
        "independent": Anatomy, ignoring the earlier release. "history_guided": everybody stays in the old bucket;
        newcomers take the places of former people with the same value, others are put into new buckets, and those who
        fill no new bucket join buckets without their value. "m_invariant": the same, but places that remain empty, also
        in new buckets, are published as counterfeits, so that the values of a bucket never change.
    l : int
        Number of different values per bucket.
    exempt : int
        Number of most frequent values that may repeat in a bucket, see :func:`anatomy`; "independent" only.
    seed : int
        Random seed of the assignment.

    Returns
    -------
    Release
        With the columns and pseudonyms of the earlier one, for a :class:`maxent_cvx.ReleaseSeries` of both.

    Raises
    ------
    StatementError
        If the release has no pseudonyms, or the method is unknown.
    TableError
        If the value of a person has changed, labels have other types or another order than in the release, newcomers cannot
        be placed into buckets of l different values, or a number is out of range.
    UnknownName
        If the table lacks a column of the release.

    Notes
    -----
    Re-publishing, section 4.1; m-invariance of Xiao and Tao (2007), whose algorithm needs fewer counterfeits. A person
    who was in an earlier release, but not in the last one, counts as a newcomer, and may be exposed by the earlier
    release if placed into another bucket. History-guided buckets with empty places have fewer than l values.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> first, second = mx.datasets.load_patients()
    >>> release = mx.Release.from_buckets(first, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym")
    >>> again = mx.anonymize.republish(release, second, method="m_invariant", l=3)
    >>> int(again.with_counterfeits.sum())                     # buckets with counterfeit values
    3
    >>> len(mx.inference_channels(mx.ReleaseSeries([release, again]), progress=False))      # no additional disclosure
    0
    """
    if not isinstance(release, Release) or release.persons is None:
        raise StatementError(f"the earlier release must be a Release with pseudonyms (id), got {short_repr(release)}")
    check_in(method, "method", METHODS)
    name, bare = release.persons.id, release.persons.id in release.qi
    qi = release.qi if bare else (name, *release.qi)
    data = Microdata(table, qi, release.sensitive)
    check_once(table[name])
    check_int(l, "l", 1, error=TableError)
    columns = [*qi, *release.sensitive]
    check_types([release.persons.names.to_frame(), table[[name]]])
    before = release.persons.names.get_indexer(pd.Index(table[name]))
    frames = [release.sensitive_values.to_frame(index=False), data.frame[list(release.sensitive)]]
    code, values = distinct(concatenated(frames))
    old, value = code[: len(frames[0])], code[len(frames[0]) :]
    places = _places(release, old, value, before, table[name])
    if method == "independent":
        anew = anatomy_buckets(table, qi=qi, sa=release.sensitive, l=l, exempt=exempt, seed=seed)
        return Release.from_buckets(
            table[columns].assign(**{release.bucket: anew}), qi=() if bare else release.qi, sa=release.sensitive,
            bucket=release.bucket, id=name,
        )  # fmt: skip
    rng = np.random.default_rng(check_seed(seed, TableError))
    bucket = np.full(len(table), -1)
    bucket[before >= 0] = release.persons.bucket[before[before >= 0]]
    empty = _fill_places(bucket, value, places, rng)
    newcomers = _new_buckets(bucket, value, l, len(release.buckets), rng)
    added = added_value = np.empty(0, dtype=int)  # the bucket and the value of each counterfeit
    if method == "history_guided":
        _join_buckets(bucket, value, newcomers, values, rng)
    else:  # counterfeits in unfilled places, and in buckets of remaining newcomers
        first = max(len(release.buckets), int(bucket.max()) + 1)
        bucket[newcomers], more = _alone(value[newcomers], l, len(values), first, rng)
        added, added_value = (np.append(old, new) for old, new in zip(empty, more, strict=True))
        is_used = np.isin(added, bucket)  # other buckets are empty
        added, added_value = added[is_used], added_value[is_used]
    labels = _bucket_labels(release.buckets, int(bucket.max()) + 1)
    people = table[[*dict.fromkeys([name, *release.qi])]].assign(**{release.bucket: labels[bucket]})
    published = values[np.append(value, added_value)].to_frame(index=False).set_axis(list(release.sensitive), axis=1)
    published[release.bucket] = labels[np.append(bucket, added)]
    return Release.from_tables(
        people, published, qi=() if bare else release.qi, sa=release.sensitive, bucket=release.bucket, id=name,
        counterfeits=True,
    )  # fmt: skip


def _places(release: Release, old: np.ndarray, value: np.ndarray, before: np.ndarray, ids: pd.Series) -> Places:
    """Return bucket and value of each place in the earlier release whose person is not in the table."""
    n_values = int(max(old.max(), value.max())) + 1
    s, b = release.n_sb.nonzero()
    places = np.zeros((len(release.buckets), n_values), dtype=np.int64)
    places[b, old[s]] = release.n_sb.data
    stays = np.flatnonzero(before >= 0)
    bucket = release.persons.bucket[before[stays]]  # type: ignore[union-attr]
    np.subtract.at(places, (bucket, value[stays]), 1)
    if (places < 0).any():
        wrong = ids.iloc[stays[places[bucket, value[stays]] < 0]]
        raise TableError(
            f"the sensitive value of {ids.name} {join_names(wrong)} differs from the one published before; a person "
            "whose value has changed needs a new pseudonym"
        )
    at, which = places.nonzero()
    number = places[at, which]
    return np.repeat(at, number), np.repeat(which, number)


def _bucket_labels(old: pd.Index, n: int) -> np.ndarray:
    """Return the labels of the old buckets, followed by unused ones up to n buckets."""
    n_new = max(n - len(old), 0)
    if pd.api.types.is_integer_dtype(old):
        fresh: list[object] = list(range(int(old.max()) + 1, int(old.max()) + 1 + n_new))
    else:
        used = set(map(str, old))
        fresh = list(itertools.islice((label for i in itertools.count(1) if (label := f"new {i}") not in used), n_new))
    return pd.Series([*old, *fresh]).to_numpy()
