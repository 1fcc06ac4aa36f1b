"""Algorithms that do not distinguish the people of a bucket, and so tell nothing about who of them has which value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...disguise.dealing import exempt_values
from ...errors import GroupTooLarge, Infeasible, StatementError, amount, arguments, whole
from ...priors import QIDistribution
from ...views import Release
from ...worlds.worst.frequencies import Frequencies
from ...worlds.worst.safety import Safety
from .people import People

__all__ = ["check_anatomy", "check_similar_linkage", "exchangeable"]


def exchangeable(people: People, prior: QIDistribution | None) -> np.ndarray:
    """P(s | q) if the algorithm sees of records but the value, and the signature of a prior, in an unknown order.

    Let T' be a table T with the values of two records exchanged that are in the same bucket and have the same
    signature. To the algorithm this is another order of records, and the order is unknown, or random by an unknown
    seed: so P(these buckets | T') = P(these buckets | T), whatever P(T) is. Hence assignments of a bucket's values to
    records of one signature are as likely as they are without the algorithm: equally, or in proportion to their prior.

    Raises
    ------
    GroupTooLarge
        If there are buckets with records of several signatures, for which this says nothing.
    """
    view = people.view
    if not isinstance(view, Release):
        raise StatementError("the release does not say who is in which bucket, as this algorithm does")
    if prior is not None:
        rows = [prior.rows(view.quasi_identifiers, key) for key in prior.attribute_sets]
        signature = np.unique(np.column_stack(rows), axis=0, return_inverse=True)[1].reshape(-1)
        q, b = view.n_qb.nonzero()
        several = np.bincount(np.unique(np.stack([b, signature[q]]), axis=1)[0]) > 1
        if several.any():
            raise GroupTooLarge(
                f"{amount(int(several.sum()), 'bucket')} of {len(several)} put together people whom the prior "
                "distinguishes, and what their choice tells is not worked out; with few people pass seeds="
            )
    return people.baseline()


def check_anatomy(release: Release, given: Mapping[str, Any]) -> None:
    """Check that Anatomy's buckets have these sizes and values, for its arguments.

    Raises
    ------
    Infeasible
        If they do not.
    """
    n, n_buckets = release.n_records, len(release.buckets)
    l, safety = whole(given.get("l"), "l of the algorithm", 1), Safety.read(given.get("safe"))
    is_exempt = exempt_values(release.n_sb.sum(axis=1), whole(given.get("exempt", 0), "exempt of the algorithm", 0))
    least = int(release.n_sb.sum(axis=0).min())
    # floor(n / size) buckets of at least that size; safe= may have chosen any size from l on.
    sizes = range(l, least + 1 if safety else min(l, least) + 1)
    possible = any(n // size == n_buckets for size in sizes) and not _repeats(release, ~is_exempt)
    if not possible or (safety and safety.disclosure(Frequencies.of(release.n_sb.tocsc(), ~is_exempt)) >= safety.c):
        raise _not_made()


def check_similar_linkage(release: Release, given: Mapping[str, Any]) -> None:
    """Check what holds of all releases of similar linkage: without exempt values r different values in a bucket.

    Raises
    ------
    Infeasible
        If it does not hold.
    """
    r = arguments.real(given.get("r"), "r of the algorithm", 1.0, np.inf)
    if not whole(given.get("exempt", 0), "exempt of the algorithm", 0) and (
        _repeats(release, np.ones(release.n_sb.shape[0], dtype=bool)) or release.n_sb.sum(axis=0).min() < r
    ):
        raise _not_made()


def _repeats(release: Release, protected: np.ndarray) -> bool:
    """Whether a protected value occurs twice in a bucket."""
    s, _ = release.n_sb.nonzero()
    return bool((release.n_sb.data[protected[s]] > 1).any())


def _not_made() -> Infeasible:
    return Infeasible(
        "the algorithm makes this release of no table: its buckets have other sizes or values; are the parameters of "
        "the algorithm those of the publisher?"
    )
