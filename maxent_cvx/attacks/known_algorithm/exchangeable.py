"""Algorithms that cannot tell people of a bucket apart, and so tell nothing of who of them has which value."""

from __future__ import annotations

import numpy as np

from ...errors import GroupTooLarge, StatementError, amount
from ...priors import QIDistribution
from ...views import Release
from .people import People

__all__ = ["exchangeable"]


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
