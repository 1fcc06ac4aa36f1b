"""Noise of a known distribution, as an interval for what it was added to."""

from __future__ import annotations

import math
from typing import Any, Protocol

from ...errors import BadProbability, StatementError, number, shown
from ...terms.penalty import Penalty

__all__ = ["Noise", "noise_interval", "noise_penalty"]


class Noise(Protocol):
    """What is asked of a distribution: scipy.stats.laplace(scale=2), norm(scale=3), binom(10, 0.5, loc=-5), ..."""

    def ppf(self, q: float) -> float:
        """The quantile from below."""

    def isf(self, q: float) -> float:
        """The quantile from above."""

    def support(self) -> tuple[float, float]:
        """The least and the largest value."""


def noise_interval(noise: Any, confidence: float, times: int) -> tuple[float, float]:
    """The interval that so many draws of the noise are all in, with a probability of at least `confidence`.

    Each side of each draw leaves out (1 - confidence) / (2 times), which adds up (Bonferroni). 1 takes the ends.

    Raises
    ------
    StatementError, BadProbability
        If that is no distribution or no confidence, or the noise has no ends and confidence is 1.
    """
    _require_parameters(noise)
    if any(not callable(getattr(noise, method, None)) for method in ("ppf", "isf", "support")):
        raise StatementError(f"noise is a distribution of scipy.stats, laplace(scale=2) say, not {shown(noise)}")
    if not 0 < number(confidence, "confidence") <= 1:
        raise BadProbability(f"confidence={confidence!r}: a probability above 0 and at most 1 is expected")
    tail = (1 - confidence) / (2 * times)
    try:
        least, most = map(float, (noise.ppf(tail), noise.isf(tail)) if tail > 0 else noise.support())
    except (OverflowError, TypeError, ValueError) as error:
        raise StatementError(f"noise has no quantiles: {' '.join(str(error).split())}") from error
    if math.isnan(least) or math.isnan(most):
        raise StatementError("noise has no quantiles: its parameters are out of range")
    if not math.isfinite(most - least):
        raise StatementError("with confidence=1 noise without ends says nothing; take a confidence below 1")
    return least, most


def noise_penalty(noise: Any) -> Penalty:
    """Minus the log-likelihood of a draw of the noise, less its least value, as what it costs to miss a value.

    Raises
    ------
    StatementError, BadProbability
        If it is not one of ``scipy.stats.norm(scale=...)``, ``laplace(scale=...)`` and ``dlaplace(a)``.
    """
    _require_parameters(noise)
    name = getattr(getattr(noise, "dist", None), "name", None)
    names = ("a", "loc") if name == "dlaplace" else ("loc", "scale")
    found = {"loc": 0.0, "scale": 1.0, **dict(zip(names, getattr(noise, "args", ()), strict=False))}
    found |= getattr(noise, "kwds", {})
    if name not in ("norm", "laplace", "dlaplace"):
        raise StatementError(
            f"the likelihood of {name or shown(noise)} is not one of those that are known: norm(scale=...), "
            "laplace(scale=...) and dlaplace(a) of scipy.stats; take how='box', which reads any noise"
        )
    if number(found["loc"], "loc of the noise") != 0:
        raise StatementError(f"noise around {found['loc']} is not around 0: subtract that from the counts instead")
    match name:
        case "norm":
            return Penalty(sd=found["scale"])
        case "laplace":
            return Penalty(weight=1 / _above_0(found["scale"], "scale of the noise"))
    return Penalty(weight=_above_0(found["a"], "a of the noise"))


def _above_0(value: Any, what: str) -> float:
    if not 0 < number(value, what) < math.inf:
        raise BadProbability(f"{what} is {value!r}; a number above 0 is expected")
    return number(value, what)


def _require_parameters(noise: Any) -> None:
    """Refuse a distribution of scipy.stats that has not been called."""
    import scipy.stats  # takes a third of a second to load

    name = getattr(noise, "name", None)
    if isinstance(name, str) and getattr(scipy.stats, name, None) is noise:
        raise StatementError(f"noise is scipy.stats.{name}, with no parameters; call it: {name}(scale=...), say")
