"""The paper's bounding condition: how much priors may deviate in a group (Probabilistic Inference Protection, IV)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..display import Shown
from ..errors import BadProbability, StatementError, shown

#: The number of tuples of a group is below this.
LARGEST = 1e15

__all__ = ["ROUNDING", "DeltaCondition", "checked_r", "delta_ceiling", "delta_condition", "one_r"]

#: Relative: a bound that is exceeded by no more than this holds but for rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class DeltaCondition(Shown):
    """Delta_max <= Delta_ceil, for a value, or each of an array of values.

    Attributes
    ----------
    deviations : ndarray, shape (tuples, ...)
        Delta_v = f_max - f_v, probabilities (Definition 7).
    deviation : float or ndarray
        Delta_max, the largest of them (Definition 8).
    ceiling : float or ndarray
        Delta_ceil; negative where the group has fewer than r tuples, so that nothing holds.
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
        """Whether it holds for every value."""
        return bool(np.all(self.holds))

    def __repr__(self) -> str:
        deviation, ceiling = np.round(self.deviation, 6), np.round(self.ceiling, 6)
        return f"<DeltaCondition: deviation {deviation}, ceiling {ceiling}, holds {self.holds}>"


def delta_ceiling(n: npt.ArrayLike, r: npt.ArrayLike, f_max: npt.ArrayLike) -> Any:
    """Delta_ceil = (N - r) f / (f (r - 1) / (1 - f) + (N - 1)), f being f_max (Definition 8; vectorised).

    Parameters
    ----------
    n : int or array
        N, the tuples of a group.
    r : float or array
        At least 1: what is promised is P(t : x) <= 1 / r.
    f_max : float or array
        The largest prior probability of the value among the group's tuples.

    Returns
    -------
    float or ndarray
        A difference of probabilities; 0 for f = 0 and for f = 1, f for r = 1.

    Raises
    ------
    BadProbability
        If `f_max` is no probability.
    StatementError
        If `n` is no integer of at least 1, `r` no number of at least 1, or shapes do not go together.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> round(mx.worlds.delta_ceiling(3, 2, 0.1), 4)       # Table V
    0.0474

    Notes
    -----
    Definition 8 adds that Delta_ceil >= Delta_max. That is the condition, and no fact: in the paper's running example
    (N = r = 2, priors .1 and .003) it is 0 and .097. And that in an extremely large group "there will be no privacy
    breach" does not follow: Delta_ceil comes close to f_max as N grows and stays below it, and if all others have a
    prior of 0, the one that is left has x for certain, in a group of any size.
    """
    try:
        size = np.asarray(n, dtype=float)
    except (TypeError, ValueError, OverflowError):
        size = np.array(np.nan)
    if not (np.isfinite(size) & (size >= 1) & (size == np.round(size))).all():
        raise StatementError(f"n={shown(n)}: whole numbers of tuples are expected, at least 1")
    r, f = checked_r(r), _probabilities(f_max)
    try:
        size, r, f = np.broadcast_arrays(size, r, f)
    except ValueError as error:
        raise StatementError(f"n, r and f_max do not go together: {error}") from error
    # Multiplied by 1 - f, so that f = 1 needs no limit; at r = 1 everything is safe, and any deviation up to f allowed.
    above, below = (size - r) * f * (1 - f), f * (r - 1) + (size - 1) * (1 - f)
    found = np.where(r == 1, f, above / np.where(below > 0, below, 1.0))
    return found.item() if found.ndim == 0 else found


def delta_condition(f: npt.ArrayLike, r: float) -> DeltaCondition:
    """Delta_max <= Delta_ceil, which in the two-valued model implies P(t : x) <= 1 / r for every tuple t (Theorem 1).

    What it does guarantee: x occurs once in the group, and a world says who has it and nothing of the others, whose
    factor is 1 - f. There the condition is sound, and tight. It is **not** sound where worlds deal three values or
    more, of which each has a prior of its own, as in the paper's Eqs. (1) to (3): see :func:`sound_condition`.

    Parameters
    ----------
    f : array, shape (tuples,) or (tuples, ...)
        Prior probabilities of x, one a tuple; of more values at once along further axes.
    r : float
        At least 1.

    Returns
    -------
    DeltaCondition
        True or False as a whole, if asked so.

    Raises
    ------
    BadProbability
        If a prior is no probability.
    StatementError
        If `r` is no number of at least 1, or there is no tuple.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> found = mx.worlds.delta_condition([0.1, 0.08, 0.09], r=2)      # Example 2
    >>> round(found.deviation, 4), round(found.ceiling, 4), found.holds
    (0.02, 0.0474, True)
    """
    r, f = one_r(r), np.atleast_1d(_probabilities(f))
    if not len(f):
        raise StatementError("the condition is about a group's tuples, and none is given")
    most = f.max(axis=0)
    deviations = most - f
    deviation, ceiling = deviations.max(axis=0), np.asarray(delta_ceiling(len(f), r, most))
    holds = deviation <= ceiling + ROUNDING * most
    if f.ndim == 1:
        return DeltaCondition(deviations, float(deviation), float(ceiling), bool(holds))
    return DeltaCondition(deviations, deviation, ceiling, holds)


def checked_r(r: npt.ArrayLike) -> np.ndarray:
    """Read the privacy parameter, at least 1."""
    try:
        found = np.asarray(r, dtype=float)
    except (TypeError, ValueError, OverflowError):
        found = np.array(np.nan)
    if not (np.isfinite(found) & (found >= 1)).all():
        raise StatementError(f"r={shown(r)}: the promise is P(t : x) <= 1 / r, for a number r of at least 1")
    return found


def one_r(r: object) -> float:
    """Read one privacy parameter, at least 1."""
    found = checked_r(r)  # type: ignore[arg-type]
    if found.ndim or found > LARGEST:
        raise StatementError(f"r={shown(r)}: one number is expected, of at most {LARGEST:g}")
    return float(found)


def _probabilities(f: npt.ArrayLike) -> np.ndarray:
    """Read prior probabilities."""
    try:
        found = np.asarray(f, dtype=float)
    except (TypeError, ValueError, OverflowError):
        found = np.array(np.nan)
    if not ((found >= 0) & (found <= 1)).all():
        raise BadProbability(f"prior probabilities must be numbers from 0 to 1; {shown(f)} is not, or not all of it")
    return found
