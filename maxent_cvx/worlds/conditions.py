"""Conditions that guarantee a bound for every bucket and value of a release without enumerating worlds."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from .._utils.errors import BadProbability, StatementError, short_repr
from .._utils.formatting import ReprMixin, TablePreview
from ..priors import QIDistribution
from ..releases.base import attach
from ..releases.release import Release
from .groups import Groups, check_release

# The paper's bounding condition on the deviation of priors in a group (Probabilistic Inference Protection, IV).


#: The upper limit of the number of tuples of a group.
LARGEST = 1e15


#: The relative tolerance of a bound, for roundoff.
DEVIATION_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class DeltaCondition(ReprMixin):
    """Delta_max <= Delta_ceil, for one value or an array of values.

    Attributes
    ----------
    deviations : ndarray, shape (tuples, ...)
        Delta_v = f_max - f_v, probabilities (Definition 7).
    deviation : float or ndarray
        Delta_max, the largest of them (Definition 8).
    ceiling : float or ndarray
        Delta_ceil; negative if the group has fewer than r tuples, so that the condition is false.
    holds : bool or ndarray of bool

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.worlds.delta_condition([0.1, 0.003], r=2)       # the running example: Delta_max is above Delta_ceil
    <DeltaCondition: deviation 0.097, ceiling 0.0, holds False>
    """

    deviations: np.ndarray
    deviation: Any
    ceiling: Any
    holds: Any

    def __bool__(self) -> bool:
        """Return whether the condition is true for every value."""
        return bool(np.all(self.holds))

    def __repr__(self) -> str:
        deviation, ceiling = np.round(self.deviation, 6), np.round(self.ceiling, 6)
        return f"<DeltaCondition: deviation {deviation}, ceiling {ceiling}, holds {self.holds}>"


def delta_ceiling(n: npt.ArrayLike, r: npt.ArrayLike, f_max: npt.ArrayLike) -> Any:
    """Return Delta_ceil = (N - r) f / (f (r - 1) / (1 - f) + (N - 1)), f being f_max (Definition 8; vectorised).

    Parameters
    ----------
    n : int or array
        N, the number of tuples of a group.
    r : float or array
        The privacy parameter of P(t : x) <= 1 / r, at least 1.
    f_max : float or array
        The largest prior probability of the value among the group's tuples.

    Returns
    -------
    float or ndarray
        A difference of probabilities; 0 for f = 0 and for f = 1, f for r = 1.

    Raises
    ------
    BadProbability
        If `f_max` is not a probability.
    StatementError
        If `n` is not an integer of at least 1, `r` not a number of at least 1, or the shapes do not broadcast.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> round(mx.worlds.delta_ceiling(3, 2, 0.1), 4)       # Table V
    0.0474

    Notes
    -----
    Definition 8 adds that Delta_ceil >= Delta_max. This is the condition, not a fact: in the paper's running example
    (N = r = 2, priors .1 and .003), they are 0 and .097. Neither does it follow that there is "no privacy breach" in an
    extremely large group: Delta_ceil tends to f_max from below as N grows, and if all other tuples have a prior of 0,
    the remaining one certainly has x, in a group of any size.
    """
    size = _floats(n)
    if not (np.isfinite(size) & (size >= 1) & (size == np.round(size))).all():
        raise StatementError(f"n must be integers of at least 1, not {short_repr(n)}")
    r, f = _checked_r(r), _probabilities(f_max)
    try:
        size, r, f = np.broadcast_arrays(size, r, f)
    except ValueError as error:
        raise StatementError(f"n, r and f_max cannot be broadcast: {error}") from error
    # Multiplied by 1 - f, so that f = 1 needs no limit; at r = 1, any deviation up to f is allowed.
    above, below = (size - r) * f * (1 - f), f * (r - 1) + (size - 1) * (1 - f)
    ceiling = np.where(r == 1, f, above / np.where(below > 0, below, 1.0))
    return ceiling.item() if ceiling.ndim == 0 else ceiling


def delta_condition(f: npt.ArrayLike, r: float) -> DeltaCondition:
    """Test Delta_max <= Delta_ceil, which implies P(t : x) <= 1 / r for all t in the two-valued model (Theorem 1).

    In the two-valued model, x occurs once in the group, a world determines who has it, and all others have the factor
    1 - f. There the condition is sound and tight. It is **not** sound if worlds assign three or more values, each with
    its own prior, as in the paper's Eqs. (1) to (3): see :func:`sound_condition`.

    Parameters
    ----------
    f : array, shape (tuples,) or (tuples, ...)
        Prior probabilities of x, one per tuple; further axes for several values.
    r : float
        At least 1.

    Returns
    -------
    DeltaCondition
        ``bool(condition)`` is True if it is satisfied for all values.

    Raises
    ------
    BadProbability
        If a prior is not a probability.
    StatementError
        If `r` is not a number of at least 1, or `f` has no tuple.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> result = mx.worlds.delta_condition([0.1, 0.08, 0.09], r=2)      # Example 2
    >>> round(result.deviation, 4), round(result.ceiling, 4), result.holds
    (0.02, 0.0474, True)
    """
    r, f = one_r(r), np.atleast_1d(_probabilities(f))
    if not len(f):
        raise StatementError("f must have at least one tuple")
    most = f.max(axis=0)
    deviations = most - f
    deviation, ceiling = deviations.max(axis=0), np.asarray(delta_ceiling(len(f), r, most))
    holds = deviation <= ceiling + DEVIATION_ROUNDING * most
    if f.ndim == 1:
        return DeltaCondition(deviations, float(deviation), float(ceiling), bool(holds))
    return DeltaCondition(deviations, deviation, ceiling, holds)


def _checked_r(r: npt.ArrayLike) -> np.ndarray:
    """Read the privacy parameter, which must be at least 1."""
    values = _floats(r)
    if not (np.isfinite(values) & (values >= 1)).all():
        raise StatementError(f"r must be a number of at least 1, as in P(t : x) <= 1 / r, not {short_repr(r)}")
    return values


def one_r(r: object) -> float:
    """Read a single privacy parameter, which must be at least 1."""
    values = _checked_r(r)  # type: ignore[arg-type]
    if values.ndim or values > LARGEST:
        raise StatementError(f"r must be a single number of at most {LARGEST:g}, not {short_repr(r)}")
    return float(values)


def _floats(values: npt.ArrayLike) -> np.ndarray:
    """Read numbers; return NaN, which fails every check, for anything else."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return np.array(np.nan)


def _probabilities(f: npt.ArrayLike) -> np.ndarray:
    """Read prior probabilities."""
    p = _floats(f)
    if not ((p >= 0) & (p <= 1)).all():
        raise BadProbability(f"prior probabilities must be numbers from 0 to 1, got {short_repr(f)}")
    return p


# Upper bounds of P(t : x), from comparisons of worlds that differ in the swap of two values.


def odds_ratios(f: np.ndarray) -> np.ndarray:
    """Return kappa_x = max f_t(x) f_j(y) / (f_t(y) f_j(x)) of groups with equally many signatures and values."""
    ratios, log_f = np.zeros((len(f), f.shape[2])), _log(f)
    for y in range(f.shape[2]):
        with np.errstate(invalid="ignore"):
            ratio = log_f - log_f[:, :, [y]]  # log f_t(x) / f_t(y); NaN, without a swap, if t can have neither
            ratios = np.fmax(ratios, np.fmax.reduce(ratio, axis=1) - np.fmin.reduce(ratio, axis=1))
    with np.errstate(over="ignore"):
        return np.exp(ratios)


def upper_bounds(f: np.ndarray, n: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Return the bounds P(t : x) <= m / (m + S), by swaps, of groups with equally many signatures and values."""
    bounds = np.empty(f.shape)
    for t in range(f.shape[1]):
        among = n.copy()
        among[:, t] -= 1  # the other tuples
        swap = _swaps(f, f[:, [t]], among)
        least = np.maximum(_least_sum(swap, among, m, 3, 1), _least_sum(swap, among, m, 1, 3))
        bounds[:, t] = m / (m + least)
    return np.where(f > 0, bounds, 0.0)


def _swaps(f: np.ndarray, own: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Return h_j(y) for every x, shape (groups, signatures j, values x, values y); inf if y = x or f_j(y) = 0."""
    log_f, log_own = _log(f), _log(own)
    has = (f > 0) & (among[:, :, None] > 0)
    with np.errstate(invalid="ignore", over="ignore"):  # NaN for an x that t cannot have, which is not used
        take = np.where(f > 0, log_f - log_own, -np.inf)  # log f_j(x) / f_t(x)
        give = np.where(has, log_own - log_f, -np.inf)  # log f_t(y) / f_j(y)
        swap = np.exp(take[:, :, :, None] + give[:, :, None, :])
    swap = np.where(has[:, :, None, :], swap, np.inf)
    x = np.arange(f.shape[2])
    swap[:, :, x, x] = np.inf
    return swap


def _least_sum(swap: np.ndarray, among: np.ndarray, m: np.ndarray, first: int, then: int) -> np.ndarray:
    """Return S from the share of every swap for its tuple (axis 3 first), or for its place (axis 1)."""
    total = np.zeros(m.shape)
    cost = swap
    for axis in (first, then):
        least = cost.min(axis=axis)
        with np.errstate(invalid="ignore"):
            cost = np.where(np.isinf(cost), np.inf, cost - np.expand_dims(least, axis))
        if axis == 3:
            total += _without_largest(least, among[:, :, None], m[:, None, :] - 1)
        else:
            x = np.arange(m.shape[1])
            least[:, x, x] = 0.0
            total += (least * m[:, None, :]).sum(axis=2)
    return total


def _without_largest(least: np.ndarray, among: np.ndarray, spared: np.ndarray) -> np.ndarray:
    """Return the sum over the tuples, without the `spared` largest."""
    order = np.argsort(-least, axis=1, kind="stable")
    many = np.take_along_axis(np.broadcast_to(among, least.shape), order, axis=1)
    remaining = many - np.clip(spared - (np.cumsum(many, axis=1) - many), 0, many)
    sorted_ = np.take_along_axis(least, order, axis=1)
    return np.asarray(np.where(remaining > 0, sorted_ * np.maximum(remaining, 1), 0.0).sum(axis=1))


def _log(f: np.ndarray) -> np.ndarray:
    """Return the logarithm; -inf for 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(f))


# A sound condition for any number of values, by a swap argument.


@dataclass(frozen=True, eq=False)
class SoundCondition(ReprMixin):
    """Whether P(t : x) <= 1 / r for every tuple and value of a group, by a bound on swaps.

    Attributes
    ----------
    kappa : Series
        kappa_x by value: the largest factor by which a swap of x with another value changes the weight of a world.
    limit : Series
        (N - m) / (m (r - 1)) by value with m occurrences; x is safe if kappa_x is not larger.
    bounds : DataFrame
        Upper bounds of P(t : x), shaped like the group; 0 for a value that does not occur.
    holds : bool
        Whether all bounds are at most 1 / r; true if every kappa_x is within its limit, but also in other cases.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> prior = {"Flu": [0.3, 0.2, 0.1], "HIV": [0.1, 0.1, 0.3], "Cancer": [0.6, 0.7, 0.6]}
    >>> group = pd.DataFrame(prior, index=["Ann", "Bob", "Eve"])
    >>> result = mx.worlds.sound_condition(group, ["Flu", "HIV", "Cancer"], r=1.5)
    >>> result
    <SoundCondition: does not hold; every P(t : x) is at most 0.7159>
    >>> result.kappa.round(2).to_dict(), result.limit.to_dict()
    ({'Flu': 9.0, 'HIV': 9.0, 'Cancer': 3.5}, {'Flu': 4.0, 'HIV': 4.0, 'Cancer': 4.0})
    """

    kappa: pd.Series
    limit: pd.Series
    bounds: pd.DataFrame
    holds: bool

    def __bool__(self) -> bool:
        """Return whether the condition is true."""
        return self.holds

    def __repr__(self) -> str:
        verdict = "holds" if self.holds else "does not hold"
        return f"<SoundCondition: {verdict}; every P(t : x) is at most {self.bounds.to_numpy().max():.4g}>"

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(self.bounds, "tuples")]


def sound_condition(group: pd.DataFrame, values: Sequence[Hashable], r: float) -> SoundCondition:
    """Test kappa_x <= (N - m) / (m (r - 1)), which implies P(t : x) <= 1 / r for every tuple t of a group of N.

    x occurs m times, and kappa_x is the largest f_t(x) f_j(y) / (f_t(y) f_j(x)) over tuples t and j and values y other
    than x. Any number of values, repeated or not, and priors of 0 are allowed. The tested condition is sharper, see the
    notes.

    Parameters
    ----------
    group : DataFrame
        f_t(x), prior probabilities: one row per tuple, one column per sensitive value.
    values : sequence
        The values of the group, as many as there are tuples; they may repeat.
    r : float
        At least 1.

    Returns
    -------
    SoundCondition
        ``bool(condition)`` is True if it is satisfied for all values.

    Raises
    ------
    Infeasible
        If the priors exclude every world.
    TableError, UnknownName, BadProbability
        If `group` is not a table of priors, or `values` are not its values.
    StatementError
        If `r` is not a number of at least 1.

    Notes
    -----
    *Proof.* Take a world w in which t has x, and another tuple j, which has w(j) = y other than x. Swap them: in the
    world w', t has y and j has x, and P(w') = h_j(y) P(w) with h_j(y) = f_t(y) f_j(x) / (f_t(x) f_j(y)). A world w' in
    which t does not have x results from m such swaps, one for each tuple that has x in it:

        sum over w with (t : x) of P(w) sum_j h_j(w(j)) = m (1 - P(t : x)).

    If S is a lower bound of the inner sum in every such world of positive weight, then S P(t : x) <= m (1 - P(t : x)),
    and P(t : x) <= m / (m + S). The inner sum has N - m terms, none below 1 / kappa_x: S = (N - m) / kappa_x gives the
    condition. A sharper bound: each j contributes at least the minimum of h_j(y) over its possible y, without the m - 1
    largest of these minima, for the other tuples with x; and each place of y adds at least the minimum over j of the
    remainder of h_j(y). The order of tuples and places can be reversed: S is the larger of both sums, which are
    values of the dual of an assignment problem. A prior of 0 makes h_j(y) = 0, or, for f_j(y), excludes the world.

    The condition is not necessary. It is tight if all priors are equal, and for two values that occur once among tuples
    of two kinds.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> prior = {"Flu": [0.3, 0.2, 0.1], "HIV": [0.1, 0.1, 0.3], "Cancer": [0.6, 0.7, 0.6]}
    >>> group = pd.DataFrame(prior, index=["Ann", "Bob", "Eve"])
    >>> values = ["Flu", "HIV", "Cancer"]
    >>> bool(mx.worlds.sound_condition(group, values, r=1.3)), bool(mx.worlds.sound_condition(group, values, r=1.5))
    (True, False)
    >>> mx.worlds.sound_condition(group, values, r=1.3).bounds.loc["Eve"].round(3).to_dict()         # at most so much
    {'Flu': 0.1, 'HIV': 0.716, 'Cancer': 0.218}
    >>> mx.worlds.posterior(group, values).loc["Eve"].round(3).to_dict()                             # and exactly
    {'Flu': 0.092, 'HIV': 0.697, 'Cancer': 0.211}
    """
    single, signature, column = Groups.single(group, values)
    r = one_r(r)
    single.check_worlds()
    of_pair, kappa = swap_bounds(single)
    bounds = np.zeros(group.shape)
    bounds[:, column] = of_pair.reshape(single.prior.shape)[signature]
    index, m = group.columns[column], single.values.data
    limit = (len(group) - m) / (m * (r - 1)) if r > 1 else np.inf
    return SoundCondition(
        pd.Series(kappa, index=index, name="kappa"),
        pd.Series(limit, index=index, name="limit"),
        pd.DataFrame(bounds, index=group.index, columns=group.columns),
        bool(at_most(bounds, r).all()),
    )


def at_most(p: np.ndarray, r: float) -> np.ndarray:
    """Return whether probabilities are at most 1 / r, up to roundoff."""
    return np.asarray(p * r <= 1 + DEVIATION_ROUNDING)


#: The maximum number of numbers in memory for a batch of groups.
AT_ONCE = 1 << 20


def conditions(release: Release, prior: QIDistribution, r: float) -> pd.DataFrame:
    """Test whether the priors in every bucket guarantee P(t : x) <= 1 / r, by both conditions.

    Parameters
    ----------
    release : Release
        Without counterfeits.
    prior : QIDistribution
        The prior, whose attribute sets are each tested.
    r : float
        At least 1.

    Returns
    -------
    DataFrame
        By attribute set, bucket and sensitive value: the paper's `f_max`, `deviation` (Delta_max), `ceiling`
        (Delta_ceil) and `delta_holds`, which is also False if the value occurs more than once, and is a guarantee only
        in the two-valued model; `kappa`, its `limit`, `bound`, the largest upper bound of P(t : x), and `sound_holds`,
        whether this bound is at most 1 / r. See :func:`maxent_cvx.worlds.delta_condition` and
        :func:`maxent_cvx.worlds.sound_condition`.

    Raises
    ------
    StatementError
        If the view is not a release, or has counterfeits; if the prior is not a :class:`maxent_cvx.QIDistribution`; or
        if r is not a number of at least 1.
    UnknownName
        If the prior lacks a signature or a value of the release.
    Infeasible
        If the prior excludes every world of a bucket.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> prior = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=1)
    >>> result = mx.worlds.conditions(release, prior, r=2)
    >>> print(result.loc["Gender", 2][["deviation", "ceiling", "delta_holds", "bound", "sound_holds"]].round(3))
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
        groups.check_worlds()
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
    """Return Delta_max, Delta_ceil, and whether Delta_max <= Delta_ceil, for every value of every group."""
    most = groups.over_tuples(groups.f)
    deviation = most - groups.over_tuples(groups.f, np.minimum)
    ceiling = delta_ceiling(groups.sizes[groups.group_of_value], r, most)
    return deviation, ceiling, deviation <= ceiling + DEVIATION_ROUNDING * most


def swap_bounds(groups: Groups) -> tuple[np.ndarray, np.ndarray]:
    """Return upper bounds of P(t : x), one per pair, and kappa_x, one per value of every group."""
    bounds, kappa = np.empty(groups.start[-1]), np.empty(len(groups.values.data))
    for group, u, v in groups.alike():
        size = u.shape[1] * v.shape[1]
        for part in np.array_split(np.arange(len(group)), 1 + len(group) * size * v.shape[1] // AT_ONCE):
            f = groups.prior[groups.tuples.indices[u[part]][:, :, None], groups.values.indices[v[part]][:, None, :]]
            n, m = groups.tuples.data[u[part]], groups.values.data[v[part]]
            bounds[groups.start[group[part]][:, None] + np.arange(size)] = upper_bounds(f, n, m).reshape(len(part), -1)
            kappa[v[part]] = odds_ratios(f)
    return bounds, kappa
