"""Both conditions for every bucket and value of a release, without any world."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..priors import QIDistribution
from ..views import Release
from ..views.base import attach
from .deviation import ROUNDING, delta_ceiling, one_r
from .groups import Groups
from .linked import impossible
from .reading import check_release
from .sound import at_most
from .swaps import odds_ratios, upper_bounds

__all__ = ["conditions", "deviations", "swap_bounds"]

#: Numbers held at once, for some groups.
AT_ONCE = 1 << 20


def conditions(release: Release, prior: QIDistribution, r: float) -> pd.DataFrame:
    """Whether priors are similar enough in every bucket to promise P(t : x) <= 1 / r, by both conditions.

    Parameters
    ----------
    release : Release
        Without counterfeits.
    prior : QIDistribution
        Asked for each attribute set.
    r : float
        At least 1.

    Returns
    -------
    DataFrame
        By attribute set, bucket and sensitive value: the paper's `f_max`, `deviation` (Delta_max), `ceiling`
        (Delta_ceil) and `delta_holds`, which is False where the value occurs more than once, too, and promises
        something in the two-valued model only; `kappa`, its `limit`, `bound`, the largest upper bound of P(t : x), and
        `sound_holds`, whether that is at most 1 / r. See :func:`maxent_cvx.worlds.delta_condition` and
        :func:`maxent_cvx.worlds.sound_condition`.

    Raises
    ------
    StatementError
        If the view is no release, or has counterfeits; or the prior is no :class:`maxent_cvx.QIDistribution`, or r no
        number of at least 1.
    UnknownName
        If the prior lacks a signature or a value of the release.
    Infeasible
        If the prior rules out every world of a bucket.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> prior = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=1)
    >>> found = mx.worlds.conditions(release, prior, r=2)
    >>> print(found.loc["Gender", 2][["deviation", "ceiling", "delta_holds", "bound", "sound_holds"]].round(3))
                   deviation  ceiling  delta_holds  bound  sound_holds
    Disease
    Breast Cancer      0.242    0.133        False  0.692        False
    HIV                0.040    0.097         True  0.429         True
    Pneumonia          0.162    0.115        False  0.474         True
    """
    check_release(release, prior)
    r = one_r(r)
    tables = {}
    for key in prior.attribute_sets:
        groups = Groups.of(release, prior, key)
        if (without := groups.without_world()).any():
            raise impossible(groups.names[without])
        deviation, ceiling, delta_holds = deviations(groups, r)
        bounds, kappa = swap_bounds(groups)
        bound = groups.over_tuples(bounds)
        bucket = groups.group_of_value
        n, m = groups.sizes[bucket], groups.values.data
        tables[", ".join(key)] = pd.DataFrame(
            {
                "f_max": groups.over_tuples(groups.f),
                "deviation": deviation,
                "ceiling": ceiling,
                "delta_holds": delta_holds & (m == 1),
                "kappa": kappa,
                "limit": (n - m) / (m * (r - 1)) if r > 1 else np.inf,
                "bound": bound,
                "sound_holds": at_most(bound, r),
            },
            index=attach(groups.names, bucket, release.sensitive_values, groups.values.indices),
        )
    return pd.concat(tables, names=["attributes"])


def deviations(groups: Groups, r: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Delta_max, Delta_ceil, and whether the one is within the other, one for every value of every group."""
    most = groups.over_tuples(groups.f)
    deviation = most - groups.over_tuples(groups.f, np.minimum)
    ceiling = delta_ceiling(groups.sizes[groups.group_of_value], r, most)
    return deviation, ceiling, deviation <= ceiling + ROUNDING * most


def swap_bounds(groups: Groups) -> tuple[np.ndarray, np.ndarray]:
    """Upper bounds of P(t : x), one a pair, and kappa_x, one a value of every group."""
    bounds, kappa = np.empty(groups.start[-1]), np.empty(len(groups.values.data))
    for group, u, v in groups.alike(np.arange(len(groups))):
        size = u.shape[1] * v.shape[1]
        for part in np.array_split(np.arange(len(group)), 1 + len(group) * size * v.shape[1] // AT_ONCE):
            f = groups.prior[groups.tuples.indices[u[part]][:, :, None], groups.values.indices[v[part]][:, None, :]]
            n, m = groups.tuples.data[u[part]], groups.values.data[v[part]]
            bounds[groups.start[group[part]][:, None] + np.arange(size)] = upper_bounds(f, n, m).reshape(len(part), -1)
            kappa[v[part]] = odds_ratios(f)
    return bounds, kappa
