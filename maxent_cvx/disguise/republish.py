"""Publish a changed table again: anew, guided by what was published before, or m-invariant."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from ..errors import StatementError, TableError, arguments, listing, shown, whole
from ..tables.coding import distinct
from ..tables.microdata import Microdata, check_once
from ..views import Release
from .anatomy import anatomy_buckets
from .history import Assignment, History, history_guided, m_invariant

__all__ = ["republish"]

METHODS = ("independent", "history_guided", "m_invariant")


def republish(
    release: Release, table: pd.DataFrame, *, method: str = "independent", l: int, exempt: int = 0, seed: int = 0
) -> Release:
    """Publish a table of people who were partly in an earlier release.

    Parameters
    ----------
    release : Release
        What was published before, with pseudonyms.
    table : DataFrame
        One row a person, with the release's columns but for the bucket, and the pseudonyms. Who was in the release
        has the value of then; who has another value is a new person.
    method : str
        "independent": Anatomy, as if nothing had been published. "history_guided": everybody stays in the old bucket,
        the places of those who have left are filled with newcomers who have their values, as far as there are any, and
        the other newcomers get buckets of their own. "m_invariant": the same, but what is not filled is
        published as if somebody had it (a counterfeit), so that a bucket has the same values for ever.
    l : int
        Different values of a bucket.
    exempt : int
        How many of the most frequent values may repeat in a bucket, see :func:`anatomy`; "independent" only.
    seed : int
        What goes together is random.

    Returns
    -------
    Release
        With the columns and pseudonyms of the earlier one, to be put into a :class:`maxent_cvx.ReleaseSeries` with it.

    Raises
    ------
    StatementError
        If the release has no pseudonyms, or the method is unknown.
    TableError
        If somebody has another value than before, or newcomers cannot be put into buckets of l different values; or a
        number is out of range.
    UnknownName
        If the table lacks a column of the release.

    Notes
    -----
    Re-publishing, section 4.1; m-invariance is that of Xiao and Tao (2007), who find fewer counterfeits. Somebody who
    was in an earlier release, and not in the last, is a newcomer here: who comes back into another bucket is exposed by
    what was published before. History-guided buckets with empty places have fewer than l values.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> first, second = mx.datasets.load_patients()
    >>> release = mx.Release.from_buckets(first, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym")
    >>> again = mx.disguise.republish(release, second, method="m_invariant", l=3)
    >>> int(again.with_counterfeits.sum())                     # buckets with values that nobody in them has
    3
    >>> len(mx.inference_channels(mx.ReleaseSeries([release, again]), progress=False))      # both tell no more than one
    0
    """
    if not isinstance(release, Release) or release.persons is None:
        raise StatementError(f"an earlier Release made with id= is expected, not {shown(release)}")
    arguments.choice(method, "method", METHODS)
    name, bare = release.persons.id, release.persons.id in release.qi
    qi = release.qi if bare else (name, *release.qi)
    data = Microdata(table, qi, release.sensitive)
    check_once(table[name])
    whole(l, "l", 1, len(table), TableError)
    columns = [*qi, *release.sensitive]
    before = release.persons.names.get_indexer(pd.Index(table[name]))
    frames = [release.sensitive_values.to_frame(index=False), data.frame[list(release.sensitive)]]
    code, values = distinct(pd.concat(frames, ignore_index=True))
    old, value = code[: len(frames[0])], code[len(frames[0]) :]
    places = _places(release, old, value, before, table[name])
    if method == "independent":
        anew = anatomy_buckets(table, qi=qi, sa=release.sensitive, l=l, exempt=exempt, seed=seed)
        return Release.from_buckets(
            table[columns].assign(**{release.bucket: anew}), qi=() if bare else release.qi, sa=release.sensitive,
            bucket=release.bucket, id=name,
        )  # fmt: skip
    rng = np.random.default_rng(whole(seed, "seed", 0, error=TableError))
    bucket = np.full(len(table), -1)
    bucket[before >= 0] = release.persons.bucket[before[before >= 0]]
    history = History(bucket, value, values, places, len(release.buckets))
    assigned = m_invariant if method == "m_invariant" else history_guided
    return _publish(release, table, history, assigned(history, l, rng))


def _places(
    release: Release, old: np.ndarray, value: np.ndarray, before: np.ndarray, ids: pd.Series
) -> tuple[np.ndarray, np.ndarray]:
    """The places of those who have left: bucket and value of each."""
    n_values = int(max(old.max(), value.max())) + 1
    s, b = release.n_sb.nonzero()
    held = np.zeros((len(release.buckets), n_values), dtype=np.int64)
    held[b, old[s]] = release.n_sb.data
    stays = np.flatnonzero(before >= 0)
    bucket = release.persons.bucket[before[stays]]  # type: ignore[union-attr]
    np.subtract.at(held, (bucket, value[stays]), 1)
    if (held < 0).any():
        wrong = ids.iloc[stays[held[bucket, value[stays]] < 0]]
        raise TableError(
            f"somebody among {ids.name} {listing(wrong)} has another value than when it was published first: somebody "
            "with a new value is a new person; give a new pseudonym"
        )
    at, which = held.nonzero()
    number = held[at, which]
    return np.repeat(at, number), np.repeat(which, number)


def _publish(release: Release, table: pd.DataFrame, history: History, found: Assignment) -> Release:
    """Write the tables of people and of values, counterfeits among them, and read them as a release."""
    assert release.persons is not None
    name, bare = release.persons.id, release.persons.id in release.qi
    numeric = pd.api.types.is_integer_dtype(release.buckets)
    n_new = max(int(found.bucket.max()) + 1 - len(release.buckets), 0)
    if numeric:  # new buckets have names that no old one has
        fresh: list[object] = list(range(int(release.buckets.max()) + 1, int(release.buckets.max()) + 1 + n_new))
    else:
        used = set(map(str, release.buckets))
        fresh = list(itertools.islice((n for i in itertools.count(1) if (n := f"new {i}") not in used), n_new))
    names = pd.Series([*release.buckets, *fresh])
    people = table[[*dict.fromkeys([name, *release.qi])]].assign(**{release.bucket: names.to_numpy()[found.bucket]})
    every = np.append(history.value, found.added_value)
    held = history.values[every].to_frame(index=False).set_axis(list(release.sensitive), axis=1)
    held[release.bucket] = names.to_numpy()[np.append(found.bucket, found.added_bucket)]
    return Release.from_tables(
        people,
        held,
        qi=() if bare else release.qi,
        sa=release.sensitive,
        bucket=release.bucket,
        id=name,
        counterfeits=True,
    )
