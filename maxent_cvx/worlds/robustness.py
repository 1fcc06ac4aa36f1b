"""r-robustness: the largest linkage probabilities of a release, for adversaries with priors."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..priors import QIDistribution
from ..views import Release
from ..views.base import attach
from .groups import Groups
from .linked import STEPS, linked
from .reading import check_release

__all__ = ["r_robustness"]


def r_robustness(release: Release, prior: QIDistribution, *, limit: float = STEPS) -> pd.DataFrame:
    """The largest P(t : x) over the tuples t of every bucket, for every value x: the release is r-robust if none > 1/r.

    Parameters
    ----------
    release : Release
        Without counterfeits.
    prior : QIDistribution
        The adversary is asked for each of its attribute sets.
    limit : float
        See :func:`posterior`.

    Returns
    -------
    DataFrame
        By bucket and sensitive value: `largest`, a probability; `r`, 1 / largest, the r that holds; and of the tuples
        with it `attributes`, the attribute set, and `signature`, their values of it. The release holds
        ``table["r"].min()``, or with the values that are not sensitive left out, what that is of the others.

    Raises
    ------
    StatementError
        If the view is no release, or has counterfeits; or the prior is no :class:`maxent_cvx.QIDistribution`.
    UnknownName
        If the prior lacks a signature or a value of the release.
    Infeasible
        If the prior rules out every world of a bucket.
    GroupTooLarge
        If more steps are needed than the limit allows.

    Notes
    -----
    Probabilistic Inference Protection, Definition 3.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> prior = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=1)
    >>> found = mx.worlds.r_robustness(release, prior)
    >>> print(found.loc[3].round(3))
                 largest      r attributes  signature
    Disease
    Flu            0.727  1.375     Gender    (male,)
    HIV            0.409  2.444     Gender  (female,)
    Lung Cancer    0.455  2.200     Gender  (female,)
    >>> found["r"].min().round(3).item()                  # what the whole release keeps
    1.278
    """
    check_release(release, prior)
    largest, at = [], []
    for key in prior.attribute_sets:
        groups = Groups.of(release, prior, key)
        _, u, v = groups.pairs
        p = linked(groups, limit)
        order = np.lexsort((-p, v))  # of every value of every bucket, the tuples with the largest first
        first = order[np.unique(v[order], return_index=True)[1]]
        largest.append(p[first])
        at.append(groups.tuples.indices[u[first]])
    which = np.argmax(largest, axis=0)
    pairs = np.arange(len(which))
    most = np.asarray(largest)[which, pairs]
    signature = np.empty(len(pairs), dtype=object)
    for i, key in enumerate(prior.attribute_sets):
        here = np.flatnonzero(which == i)
        signature[here] = prior.tables[key].index.take(at[i][here]).to_numpy()
    return pd.DataFrame(
        {
            "largest": most,
            "r": 1 / most,
            "attributes": [", ".join(prior.attribute_sets[i]) for i in which],
            "signature": signature,
        },
        index=attach(groups.names, groups.group_of_value, release.sensitive_values, groups.values.indices),
    )
