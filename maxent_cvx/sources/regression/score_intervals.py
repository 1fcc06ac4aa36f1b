"""What coefficients, exact or rounded, say of X'y: intervals of linear expressions of the responses y.

A fit of n people with the regressors X, linear or logistic, solves the score equations

    X'y = X'mu(X b) + D b,        mu(t) = t (linear) or 1 / (1 + exp(-t)) (logistic),

with D a diagonal of penalties, 0 for the intercept. Everything but y is known where b is. Let b* be the coefficients
that solve them, b those that were published, |b* - b| <= h, and G = (X'WX + D) / n the derivative of the right-hand
side at b, divided by n (W = 1 for the linear kind, mu (1 - mu) for the logistic one). For any matrix T at all

    T X'y / n = T (X'mu(Xb) + Db) / n + T G (b* - b) + T r,

    |T G (b* - b)| <= h + |T G - 1| h,        |r| <= k/2 sum_q n(q)/n |x(q)| (h'|x(q)|)^2   within T,

with k = max |mu''| = 1 / (6 sqrt(3)), by Taylor's theorem at each person; of the linear kind r = 0. So intervals are
sound whatever T is, also with its rounding errors; they are narrow if T is the inverse of G.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

__all__ = ["Fit", "Intervals"]

#: Bound of the second derivative of the logistic function, 1 / (6 sqrt(3)).
CURVATURE = 1 / (6 * np.sqrt(3))
#: Relative error of a coefficient that is published as it was computed, in the scores: errors of least squares by
#: Householder transformations are some multiples of the unit roundoff 1.1e-16 (Higham, Accuracy and Stability of
#: Numerical Algorithms, 2nd ed., theorem 20.3); seven digits are left to the condition of the columns.
COMPUTED = 1e-9


@dataclass(frozen=True)
class Intervals:
    """low <= E[w y] <= high, for several weights of QI tuples.

    Attributes
    ----------
    weights : ndarray, shape (rows, QI tuples)
    low, high : ndarray, one a row
    """

    weights: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class Fit:
    """A published fit.

    Attributes
    ----------
    X : ndarray, shape (QI tuples, coefficients)
    share : ndarray, one a QI tuple
        Of the people whose data were fitted.
    b : ndarray, one a coefficient
        As published.
    half : ndarray, one a coefficient
        How far each may be from the fit; 0 where it is published as it was computed.
    penalty : ndarray, one a coefficient
        The diagonal of D / n.
    logistic : bool
    largest : float
        The largest |y| that there is.
    """

    X: np.ndarray
    share: np.ndarray
    b: np.ndarray
    half: np.ndarray
    penalty: np.ndarray
    logistic: bool
    largest: float

    def scores(self, tolerance: float | None) -> Intervals:
        """X'y / n, from coefficients that are published as they were computed."""
        margin = self._computed() if tolerance is None else np.full(len(self.b), tolerance) + self._roundoff(self.X)
        middle = self._expected(self.X @ self.b) + self.penalty * self.b
        return Intervals(self.X.T, middle - margin, middle + margin)

    def box(self) -> Intervals:
        """X'y / n, from the least and the largest response that anybody can be expected to have.

        The response is increasing in x'b, and |x'(b* - b)| <= h'|x|.
        """
        middle, off = self.X @ self.b, np.abs(self.X) @ self.half
        ends = np.stack([self.share[:, None] * self.X * self._mean(middle + s * off)[:, None] for s in (-1, 1)])
        penalty, spread = self.penalty * self.b, self.penalty * self.half + self._roundoff(self.X)
        return Intervals(
            self.X.T, ends.min(axis=0).sum(axis=0) + penalty - spread, ends.max(axis=0).sum(axis=0) + penalty + spread
        )

    def coefficients(self) -> Intervals:
        """T X'y / n with T the inverse of G: of the linear kind it is b*, of the logistic one b* up to a constant."""
        G, T, size = self.derivative(), self.inverse(), np.abs(self.X)
        rounding = (len(self.X) + 16) * np.finfo(float).eps * (size.T @ (self.share[:, None] * size) + G)
        off_unit = np.abs(T @ G - np.eye(len(T))) + np.abs(T) @ rounding
        weights, largest = self.X @ T.T, size @ np.abs(T).T  # and what they are sums of
        weights[np.abs(weights) <= 8 * len(T) * np.finfo(float).eps * largest] = 0.0  # which is all rounding
        off = self.half + off_unit @ (self.half + np.abs(self.b)) + self._roundoff(largest)
        if self.logistic:
            off = off + CURVATURE / 2 * (np.abs(weights).T @ (self.share * (size @ self.half) ** 2))
        middle = T @ (self._expected(self.X @ self.b) + self.penalty * self.b)
        return Intervals(weights.T, middle - off, middle + off)

    def derivative(self) -> np.ndarray:
        """G, the derivative of the score equations at b, a person."""
        slope = np.ones(len(self.share))
        if self.logistic:
            mean = expit(self.X @ self.b)
            slope = mean * (1 - mean)
        return self.X.T @ ((self.share * slope)[:, None] * self.X) + np.diag(self.penalty)

    def inverse(self) -> np.ndarray:
        """T, the inverse of G but for rounding, from columns that are scaled to 1.

        Raises
        ------
        LinAlgError
            If columns are linearly dependent.
        """
        G = self.derivative()
        size = np.sqrt(np.diag(G))
        if not (size > 0).all():
            raise np.linalg.LinAlgError
        scaled = G / np.outer(size, size)
        if np.linalg.eigvalsh(scaled)[0] <= len(G) * 1e-13:
            raise np.linalg.LinAlgError
        return np.linalg.inv(scaled) / np.outer(size, size)

    def _mean(self, t: np.ndarray) -> np.ndarray:
        """mu(t)."""
        return expit(t) if self.logistic else t

    def _expected(self, t: np.ndarray) -> np.ndarray:
        """X'mu(t) / n."""
        return self.X.T @ (self.share * self._mean(t))

    def _computed(self) -> np.ndarray:
        """How far the scores at computed coefficients may be from 0."""
        return COMPUTED * self._size(self.X) + self._roundoff(self.X) + COMPUTED * self.penalty * np.abs(self.b)

    def _roundoff(self, weights: np.ndarray) -> np.ndarray:
        """How far sums over the QI tuples may be rounded."""
        return 8 * len(self.share) * np.finfo(float).eps * self._size(weights)

    def _size(self, weights: np.ndarray) -> np.ndarray:
        """The sums of absolute values."""
        there = np.abs(self.X) @ (np.abs(self.b) + self.half)
        if self.logistic:
            there = 1 + there  # a rounding of t moves mu(t) by a quarter of it at most
        return np.abs(weights).T @ (self.share * (self.largest + there))
