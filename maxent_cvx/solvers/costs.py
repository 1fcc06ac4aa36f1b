r"""Soft rows: the cost of missing a row, and its conjugate, which is part of the dual function.

A soft row states low <= a x <= high, and missing it by r records costs

    c(r) = r^2 / (2 v)            up to |r| = v u,
           u |r| - v u^2 / 2      above (Huber, 1964).

v is the variance and u the slope: v = 0 is the absolute error u \|r\|, u = infinity is the square, minus the logarithm
of a Gaussian density of variance v. In the dual, the row has a multiplier m with \|m\| <= u, and adds v m^2 / 2 to the
function that is minimised. A hard row is the limit v = 0, u = infinity.

A third kind is a divergence: the row's value y >= 0 itself costs t (y log(y / T) - y + T) nats, where t is a
temperature and T > 0 a target. Its conjugate is t T (exp(-m / t) - 1), with minus the derivative y = T exp(-m / t).
Both its sides are the number to be subtracted from the row to give y: 0, until terms of the row are fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .parameters import EPS

#: Relative rounding error of a variance or slope between the typed number and the stored row. The square of a standard
#: deviation, the row's scale and its square each have an error of at most a few EPS / 2.
PENALTY_ROUNDING = 16 * EPS

# The divergence of one number y from another T, y log(y / T) - y + T = y (d - 1 + exp(-d)) for d = log(y / T).


#: |d| below which d - 1 + exp(-d) is evaluated by its Taylor series; above, cancellation is harmless.
SERIES_BELOW = 1e-2


def excess(d: np.ndarray) -> np.ndarray:
    """Evaluate d - 1 + exp(-d) >= 0 to full relative precision."""
    series = d * d * (0.5 - d * (1 / 6 - d * (1 / 24 - d * (1 / 120 - d * (1 / 720 - d / 5040)))))
    return np.where(np.abs(d) < SERIES_BELOW, series, d + np.expm1(-d))


def log_ratio(y: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Evaluate log(y / T) for y >= 0 and T > 0 to nearly full relative precision, even if y is near T."""
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        ratio = y / target
        plain = np.log(ratio)
        # The quotient is infinite, or has lost digits at the lower end of the exponent range.
        plain = np.where((ratio < np.finfo(float).tiny) | np.isinf(ratio), np.log(y) - np.log(target), plain)
        return np.where((ratio > 0.5) & (ratio < 2), np.log1p((y - target) / target), plain)  # y - T is exact there


def divergence_from(y: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Evaluate y log(y / T) - y + T >= 0 for y >= 0 and T > 0 to nearly full relative precision; it is T at y = 0."""
    d = log_ratio(y, target)
    with np.errstate(over="ignore", invalid="ignore"):
        far_below = (target - y) + np.where(y > 0, y * d, 0.0)
        return np.where(y < target / 2, far_below, y * excess(d))


@dataclass(frozen=True, eq=False)
class Penalties:
    """Costs of missing rows."""

    variance: np.ndarray  # v >= 0, records^2 per nat, one per row; 0 where the cost is the absolute error
    slope: np.ndarray  # u > 0, nats per record: the largest slope and so the largest multiplier; may be infinite
    temperature: np.ndarray = None  # type: ignore[assignment]  # t of divergences, nats; by default 0, of other kinds
    target: np.ndarray = None  # type: ignore[assignment]  # T > 0 of divergences, records; by default 1

    def __post_init__(self) -> None:
        if self.temperature is None:
            object.__setattr__(self, "temperature", np.zeros(len(self)))
            object.__setattr__(self, "target", np.ones(len(self)))

    def __len__(self) -> int:
        return len(self.variance)

    def select(self, rows: np.ndarray) -> Penalties:
        """Return the costs of some rows, by number."""
        return Penalties(self.variance[rows], self.slope[rows], self.temperature[rows], self.target[rows])

    def scaled(self, by: np.ndarray) -> Penalties:
        """Return the costs after multiplying every row by a positive number."""
        return Penalties(self.variance * by**2, self.slope / by, self.temperature / by, self.target * by)

    def times(self, factor: float) -> Penalties:
        """Return the costs multiplied by a positive number."""
        return Penalties(self.variance / factor, self.slope * factor, self.temperature * factor, self.target)

    def then(self, other: Penalties) -> Penalties:
        """Return the costs of these rows, followed by those of others."""
        names = ("variance", "slope", "temperature", "target")
        return Penalties(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))

    @cached_property
    def is_divergence(self) -> np.ndarray:
        """Mark the rows whose cost is a divergence."""
        return self.temperature > 0

    @cached_property
    def has_divergences(self) -> bool:
        """Whether the cost of any row is a divergence."""
        return bool(self.is_divergence.any())

    def conjugate_increase(self, m: np.ndarray, step: np.ndarray) -> float:
        """Return the increase of the conjugates of all costs from m to m + step, in nats, without cancellation."""
        increase, rows = self.variance * (m + step / 2) * step, self.is_divergence
        t, target = self.temperature[rows], self.target[rows]
        with np.errstate(over="ignore", invalid="ignore"):
            increase[rows] = t * target * np.exp(-m[rows] / t) * np.expm1(-step[rows] / t)
        return float(increase.sum())

    def conjugate(self, m: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the sum of the conjugates at -m, and their first and second derivatives with respect to m."""
        value, first, second = float(self.variance @ m**2) / 2, self.variance * m, self.variance.copy()
        rows = self.is_divergence
        t, target = self.temperature[rows], self.target[rows]
        with np.errstate(over="ignore", invalid="ignore"):
            y = target * np.exp(-m[rows] / t)
            value += float((t * (y - target)).sum())
        first[rows], second[rows] = -y, y / t
        return value, first, second

    def conjugates(self, m: np.ndarray) -> np.ndarray:
        """Return the conjugate of the cost of each row at -m, without the term of its side."""
        conjugates = self.variance * m**2 / 2
        if not self.has_divergences:
            return conjugates
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            divergence = self.temperature * self.target * np.expm1(-m / self.temperature)
        return np.where(self.is_divergence, divergence, conjugates)

    def cost(self, missed: np.ndarray) -> np.ndarray:
        """Return the cost of each row, in nats, given by how many records it is missed."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            linear = missed > self.variance * self.slope
            squared = np.where(missed > 0, missed**2 / (2 * self.variance), 0.0)
            cost = np.where(linear, self.slope * (missed - self.variance * self.slope / 2), squared)
        if not self.has_divergences:
            return cost
        apart = divergence_from(missed, self.target)  # the sides are 0, so `missed` is the value
        return np.where(self.is_divergence, self.temperature * apart, cost)

    def multiplier(self, low: np.ndarray, high: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Return the multiplier of each row at its value: minus the slope of the cost, positive below the low side."""
        missed = np.maximum(low - value, 0.0) - np.maximum(value - high, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.clip(np.where(missed == 0, 0.0, missed / self.variance), -self.slope, self.slope)
            if not self.has_divergences:
                return slope
            return np.where(self.is_divergence, -self.temperature * log_ratio(-missed, self.target), slope)

    def within(self, multipliers: np.ndarray) -> np.ndarray:
        """Move multipliers to where the conjugate is finite although the slopes are rounded."""
        most = self.slope * (1 - PENALTY_ROUNDING)
        return np.clip(multipliers, -most, most)

    def fenchel_gap(self, beyond: tuple[np.ndarray, np.ndarray], error: np.ndarray, m: np.ndarray) -> np.ndarray:
        """Return an upper bound, in nats, on c(r) + v m^2 / 2 - m (side - value), which is 0 if m is minus c's slope.

        `beyond` contains the distances of each value below its low side and above its high side: negative inside, and
        minus infinity for a missing side. `error` bounds the error of these distances, in records. The gap is convex in
        the value, so that its maximum over the error interval is at one of the ends. Multipliers are 0 if the side that
        their sign refers to is missing, and :meth:`within` leaves them unchanged.
        """
        below, above = beyond
        missed, other = np.where(m >= 0, below, above), np.where(m >= 0, above, below)
        # A rounded variance has the effect of an error of the distance v |m|, to second order.
        error = error + PENALTY_ROUNDING * self.variance * np.abs(m)
        with np.errstate(invalid="ignore"):
            ends = [self._gap(missed + shift, other - shift, np.abs(m)) for shift in (-error, error)]
        gap = np.maximum(*ends) * (1 + 4 * PENALTY_ROUNDING)
        if not self.has_divergences:
            return gap
        return np.where(self.is_divergence, self._divergence_gap(above, error, m), gap)

    def _divergence_gap(self, y: np.ndarray, error: np.ndarray, m: np.ndarray) -> np.ndarray:
        """Return the gap of divergences: t times that of y from T exp(-m / t), maximised over the error of y."""
        t = np.where(self.is_divergence, self.temperature, 1.0)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            log_target = np.log(self.target) - m / t
            off = PENALTY_ROUNDING * (1 + np.abs(m / t) + np.abs(np.log(self.target)))  # error of the logarithm
            ends = []
            for value in (np.maximum(y - error, 0.0), y + error):
                d = np.log(value) - log_target
                near = value * np.maximum(excess(d - off), excess(d + off))
                ends.append(np.where(value > 0, near, np.exp(log_target + off)))
            return t * np.maximum(*ends) * (1 + 4 * PENALTY_ROUNDING)

    def doubt(self, beyond: tuple[np.ndarray, np.ndarray], error: np.ndarray, m: np.ndarray) -> np.ndarray:
        """Return the largest difference of slope and multiplier for rows on a linear part of their cost; 0 elsewhere.

        The slope is then a multiplier without any gap; see :meth:`fenchel_gap` for the parameters.
        """
        missed = np.where(m > 0, beyond[0], beyond[1])
        with np.errstate(invalid="ignore"):
            linear = missed - error > self.variance * self.slope * (1 + 4 * PENALTY_ROUNDING)
            at_slope = np.abs(m) >= self.slope * (1 - 2 * PENALTY_ROUNDING)
            return np.where(linear & at_slope, self.slope * (1 + PENALTY_ROUNDING) - np.abs(m), 0.0)

    def _gap(self, missed: np.ndarray, other: np.ndarray, m: np.ndarray) -> np.ndarray:
        """Return the gap for multipliers m >= 0 of the row's side; every form is a sum or product of numbers >= 0."""
        v, u = self.variance, self.slope
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # At the knee, a rounded slope may select the wrong piece, to second order.
            at_knee = np.isfinite(u) & (np.abs(missed - v * u) <= 4 * PENALTY_ROUNDING * v * u)
            wrong_piece = np.where(at_knee, v * (4 * PENALTY_ROUNDING * u) ** 2, 0.0)
            quadratic = np.where(missed == v * m, 0.0, (missed - v * m) ** 2 / (2 * v)) + wrong_piece
            steepest = u * (1 + PENALTY_ROUNDING)
            linear = (steepest - m) * (missed - v * (u + m) / 2 * (1 - 2 * PENALTY_ROUNDING)) + wrong_piece
            inside = np.where(m > 0, m * -missed, 0.0) + v * m**2 / 2
            inside = inside + np.where(other > 0, self.cost(np.maximum(other, 0.0)), 0.0)
            return np.where(missed < 0, inside, np.where(missed > v * u, linear, quadratic))
