"""What a release says without its algorithm, if tables are not equally probable beforehand."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...priors import QIDistribution
from ...views import Release
from ...worlds.groups import Groups
from ...worlds.linked import linked

__all__ = ["believed"]


def believed(release: Release, prior: QIDistribution) -> np.ndarray:
    """P(s | q, release) where P(table) is in proportion to the product of P(s | q) over its records; exact.

    Returns
    -------
    ndarray, shape (tuples, values)

    Raises
    ------
    Infeasible
        If the prior rules out every way to deal the values of a bucket.
    GroupTooLarge
        If a bucket has too many.
    """
    key = prior.attribute_set(None)
    groups = Groups.of(release, prior, key)
    share = linked(groups)
    bucket, u, v = groups.pairs
    n_signatures, n_s = len(prior.tables[key]), len(release.sensitive_values)
    where = bucket * n_signatures + groups.tuples.indices[u], groups.values.indices[v]
    of_signature = sp.csr_array((share, where), shape=(len(release.buckets) * n_signatures, n_s))
    q, b = release.n_qb.nonzero()
    row = b * n_signatures + prior.rows(release.quasi_identifiers, key)[q]
    weight = sp.csr_array(
        (release.n_qb.data / release.n_q[q], (q, row)), shape=(len(release.n_q), of_signature.shape[0])
    )
    return np.asarray((weight @ of_signature).toarray())
