"""What merging buckets would do: the same adversary, and exposed people among more others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..errors import StatementError
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from ..views import Release

__all__ = ["Merged", "again", "in_one_bucket", "merged_once"]


@dataclass(frozen=True, eq=False)
class Merged:
    """A release some buckets of which were merged.

    Attributes
    ----------
    release : Release
    names : list of str
        What was merged with what: "bucket 2 with bucket 1".
    """

    release: Release
    names: list[str]


def merged_once(release: Release, exposed: Sequence[int]) -> Merged:
    """Merge each of some buckets with the one whose values differ most from its own, each with another one.

    Parameters
    ----------
    release : Release
    exposed : sequence of int
        Positions of the buckets.

    Raises
    ------
    StatementError
        If there are not two buckets.
    """
    if len(release.buckets) < 2:
        raise StatementError("all people are in one bucket already")
    counts = release.n_sb.toarray().astype(float)
    shares = counts / counts.sum(axis=0)
    into, free = np.arange(len(release.buckets)), np.ones(len(release.buckets), dtype=bool)
    free[list(exposed)] = False
    names = []
    for bucket in exposed:
        if into[bucket] != bucket:
            continue
        others = free if free.any() else (np.arange(len(into)) != bucket) & (into == np.arange(len(into)))
        if not others.any():
            break
        apart = np.where(others, np.abs(shares - shares[:, [bucket]]).sum(axis=0), -1.0)
        partner = int(apart.argmax())
        free[partner] = False
        into[into == bucket] = partner
        names.append(f"bucket {release.buckets[bucket]} with bucket {release.buckets[partner]}")
    return Merged(_joined(release, into), names)


def in_one_bucket(release: Release) -> Merged:
    """Merge all buckets."""
    return Merged(_joined(release, np.zeros(len(release.buckets), dtype=np.int64)), ["all buckets"])


def again(post: Posterior, release: Release) -> Posterior:
    """Solve the same adversary's model of another release of the same people."""
    model, people = post.model, post.space.people
    assert model is not None
    described = pd.DataFrame(
        [tuple(release.quasi_identifiers[q]) for q in people.q], index=people.names, columns=list(release.qi)
    )
    other = MaxEnt(release, people=described if len(people) else None, prior=model.prior)
    for label, source in model.knowledge.items():
        if label not in other.knowledge:
            other.add(source, label=label)
    return other.solve()


def _joined(release: Release, into: np.ndarray) -> Release:
    """The release whose buckets are others; each is called as the one that it went into."""
    kept, place = np.unique(into, return_inverse=True)
    n = len(into)
    join = sp.csr_array((np.ones(n, dtype=np.int64), (np.arange(n), place)), shape=(n, len(kept)))
    return replace(
        release, buckets=release.buckets[kept], n_qb=sp.csr_array(release.n_qb @ join),
        n_sb=sp.csr_array(release.n_sb @ join), persons=None,
    )  # fmt: skip
