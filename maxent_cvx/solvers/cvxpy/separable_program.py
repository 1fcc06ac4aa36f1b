r"""Maximum entropy over rows and bounds, in the logarithmic domain, and its dual function.

With t the inverse temperature, 1 in the problem that is posed, the problem is

    maximise sum y (t c - log y)  over  M y = r (equations) or <= r, and l <= y <= u.

The Lagrangian is maximised by y = exp(e) with e = t c - 1 + M' m, clipped to the bounds; m has one number a row, which
is at most 0 for an inequality. So a bound costs nothing: it is no row, and its multiplier is e - log y. The dual
problem is to minimise

    g(m) = sum y (e + 1 - log y) - r' m.

What is added to c by a combination M' a of the equations moves m by -a, and changes no y. `centred` takes that away, so
that constants in costs, however large, meet no exponential function.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..parameters.tolerances import SEPARABLE
from .normal_matrix import NormalMatrix, Solve, normal_matrix

__all__ = ["Point", "SeparableProgram"]


@dataclass(frozen=True, eq=False)
class Point:
    """Multipliers, and what the dual function and its derivatives are made of there.

    Attributes
    ----------
    m : ndarray, one a row
    value, rounding : float
        The dual function, and a bound on its rounding error.
    y, slope : ndarray, one a term
        y, and its derivative with respect to e: y itself, and 0 at a bound.
    excess : ndarray, one a row
        M y - r.
    """

    m: np.ndarray
    value: float
    rounding: float
    y: np.ndarray
    slope: np.ndarray
    excess: np.ndarray


@dataclass(frozen=True, eq=False)
class SeparableProgram:
    """Maximise sum y (c - log y) over rows and bounds.

    Attributes
    ----------
    matrix : csr_array, shape (rows, terms)
    right : ndarray, one a row
    is_equation : ndarray of bool, one a row
        The other rows are at most their right-hand side.
    log_weights : ndarray, one a term
        c.
    least, most : ndarray, one a term, or None
        Bounds, 0 <= least <= most <= infinity; None if there are none.
    """

    matrix: sp.csr_array
    right: np.ndarray
    is_equation: np.ndarray
    log_weights: np.ndarray
    least: np.ndarray | None = None
    most: np.ndarray | None = None

    @cached_property
    def normal(self) -> NormalMatrix:
        """Products with M, and solutions of M diag(x) M' d = g."""
        return normal_matrix(self.matrix, self.is_equation)

    @cached_property
    def log_most(self) -> np.ndarray | None:
        """The logarithms of the upper bounds."""
        return None if self.most is None else np.log(self.most)

    @cached_property
    def log_least(self) -> np.ndarray | None:
        """The logarithms of the lower bounds, minus infinity where there is none."""
        if self.least is None:
            return None
        with np.errstate(divide="ignore"):
            return np.log(self.least)

    @cached_property
    def equations(self) -> np.ndarray:
        """The numbers of the equations."""
        return np.flatnonzero(self.is_equation)

    @cached_property
    def _gram(self) -> Solve:
        """M M' of the equations, factored."""
        return self.normal.factor(np.ones(self.matrix.shape[1]), self.equations, SEPARABLE.ridge)

    def combination(self, values: np.ndarray) -> np.ndarray:
        """The combination a of the equations, one number a row, for which M' a is nearest to some values of terms."""
        a = np.zeros(len(self.right))
        if not len(self.equations):
            return a
        solve = self._gram
        for _ in range(2):  # the second time for the rounding error of the first, which large constants enlarge
            rest = values - self.normal.rmatvec(a)
            a[self.equations] += solve(self.normal.matvec(rest)[self.equations])
        return a

    @cached_property
    def of_ones(self) -> np.ndarray:
        """The combination that is nearest to the sum of all terms."""
        return self.combination(np.ones(self.matrix.shape[1]))

    def centred(self) -> tuple[SeparableProgram, np.ndarray]:
        """The same problem with c - M' a, as near to 0 as equations can make it, and a; multipliers are m - a."""
        c = self.log_weights
        is_constant = len(c) > 0 and bool((c == c[0]).all())
        a = c[0] * self.of_ones if is_constant else self.combination(c)
        smaller = replace(self, log_weights=self.log_weights - self.normal.rmatvec(a))
        smaller.__dict__.update(
            {name: self.__dict__[name] for name in ("normal", "_gram", "of_ones") if name in self.__dict__}
        )
        return smaller, a

    def exponent(self, m: np.ndarray, inverse_temperature: float = 1.0) -> np.ndarray:
        """Compute e = t c - 1 + M' m."""
        e = self.normal.rmatvec(m)
        e += inverse_temperature * self.log_weights if inverse_temperature != 1 else self.log_weights
        e -= 1
        return e

    def at(self, m: np.ndarray, inverse_temperature: float = 1.0) -> Point:
        """Evaluate the dual function, and what its derivatives are made of, at multipliers and a temperature."""
        e = self.exponent(m, inverse_temperature)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.log_most is None and self.log_least is None:
                y = slope = np.exp(e, out=e)
                total = size = float(y.sum())
            else:
                y, slope, summands = self._bounded(e)
                total, size = float(summands.sum()), float(np.abs(summands).sum())
            value = total - float(self.right @ m)
            size += float(np.abs(self.right) @ np.abs(m))
            excess = self.normal.matvec(y) - self.right if np.isfinite(size) else np.full(len(m), np.nan)
        return Point(m, value if np.isfinite(size) else np.inf, SEPARABLE.rounding * size, y, slope, excess)

    def _bounded(self, e: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The terms y between their bounds, d y / d e, and what they add to the dual function."""
        log_y = e
        if self.log_most is not None:
            log_y = np.minimum(log_y, self.log_most)
        if self.log_least is not None:
            log_y = np.maximum(log_y, self.log_least)
        y = np.exp(log_y)
        if self.log_most is not None and self.most is not None:
            y = np.where(e >= self.log_most, self.most, y)  # exactly, by which terms at bounds are known
        if self.log_least is not None and self.least is not None:
            y = np.where(e <= self.log_least, self.least, y)
        return y, np.where(log_y == e, y, 0.0), y * (e + 1 - log_y)

    def violation(self, point: Point) -> np.ndarray:
        """By how much each row is violated, >= 0."""
        return np.where(self.is_equation, np.abs(point.excess), np.maximum(point.excess, 0.0))

    def gap(self, point: Point) -> float:
        """The complementarity gap of the inequalities."""
        slack = np.where(self.is_equation, 0.0, np.maximum(-point.excess, 0.0))
        return float(slack @ np.abs(point.m))
