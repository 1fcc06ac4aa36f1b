"""Pitman's sampling formula: from the classes of a sample to those of its population."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaln, expit, gammaln, logit

__all__ = ["expected_risk", "fitted", "log_likelihood", "still_unique"]

#: Evaluations of the likelihood, whose two parameters are found in some two hundred.
MOST_EVALUATIONS = 2_000
#: Additions to a class that are summed one by one; beyond them their probabilities are smooth, and are integrated.
ONE_BY_ONE = 400
#: Nodes of the quadrature, over the logarithm of the additions.
NODES = 800
#: Of classes of more records the mean of 1 / F is known to six digits from the mean and the variance of F.
LARGE = 1_000
#: Precision of the parameters, on their logarithmic scales; the statistical error is larger by far.
PRECISION = 1e-7


def log_likelihood(alpha: float, theta: float, sizes: np.ndarray, classes: np.ndarray) -> float:
    """The logarithm of Pitman's sampling formula, up to a constant, nats.

    sum_{i=1}^{u-1} ln(theta + i alpha) - sum_{i=1}^{n-1} ln(theta + i) + sum_j sum_{i=1}^{f_j - 1} ln(i - alpha), of n
    records in u classes of f_j (Pitman, 1995; Hoshino, 2001).

    Parameters
    ----------
    alpha, theta : float
        0 <= alpha < 1 and theta > -alpha.
    sizes, classes : ndarray of int
        The sizes that classes have, records, and how many classes have each.
    """
    opened = np.log(theta + alpha * np.arange(1, classes.sum())).sum()
    joined = (classes * (gammaln(sizes - alpha) - gammaln(1 - alpha))).sum()
    return float(opened + joined - (gammaln(theta + sizes @ classes) - gammaln(theta + 1)))


def fitted(records: np.ndarray) -> tuple[float, float]:
    """The parameters alpha and theta of the largest likelihood.

    Parameters
    ----------
    records : ndarray of int
        Of each class, of which one at least has one record, and one has several.
    """
    sizes, classes = np.unique(records, return_counts=True)

    def parameters(x: np.ndarray) -> tuple[float, float]:
        alpha = float(expit(x[0]))
        return alpha, float(np.exp(x[1])) - alpha

    def loss(x: Any) -> float:
        return -log_likelihood(*parameters(x), sizes, classes)

    share = float((records == 1).mean())  # alpha itself, of an infinite sample
    start = np.array([logit(np.clip(share, 0.05, 0.95)), math.log(len(records))])
    options: Any = {"xatol": PRECISION, "fatol": PRECISION, "maxfev": MOST_EVALUATIONS}
    with np.errstate(all="ignore"):  # far away the likelihood may overflow; that is no maximum
        found = minimize(loss, start, method="Nelder-Mead", options=options)
    return parameters(found.x)


def still_unique(alpha: float, theta: float, n: float, n_population: float) -> float:
    """The probability that a record that is unique among n is unique among the N people of the population.

    prod_{i=n}^{N-1} (theta + alpha + i - 1) / (theta + i): nobody of the others joins its class.

    Parameters
    ----------
    alpha, theta : float
    n, n_population : float
        Records of the sample, and people of the population.
    """
    a = 1 - alpha
    return float(np.exp(betaln(theta + n_population - a, a) - betaln(theta + n - a, a)))


def expected_risk(alpha: float, theta: float, sizes: np.ndarray, n: float, n_population: float) -> np.ndarray:
    """E[1 / F | f]: the mean of 1 / (f + X), X people of the other N - n who join a class of f records.

    X is beta-binomial with N - n draws and the parameters f - alpha and theta + n - f + alpha: each joins a class of m
    with probability (m - alpha) / (theta + i), as the i-th after the first (Pitman, 1995).

    Parameters
    ----------
    alpha, theta : float
    sizes : ndarray of int
        f, records of each class.
    n, n_population : float
        Records of the sample, and people of the population.

    Returns
    -------
    ndarray
        Probabilities.
    """
    others = n_population - n
    a, b = sizes - alpha, theta + n - sizes + alpha
    mean = sizes + others * a / (a + b)
    variance = others * a * b * (a + b + others) / ((a + b) ** 2 * (a + b + 1))
    found = (1 + variance / mean**2) / mean
    x, weight = _additions(others)
    chosen = gammaln(others + 1) - gammaln(x + 1) - gammaln(others - x + 1)
    for i in np.flatnonzero(sizes <= LARGE):
        log_p = chosen + betaln(x + a[i], others - x + b[i]) - betaln(a[i], b[i])
        found[i] = np.exp(log_p) @ (weight / (sizes[i] + x))
    return found


def _additions(others: float) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of people who may join a class, and their weights in a sum over all numbers up to `others`."""
    x = np.arange(min(ONE_BY_ONE, others) + 1.0)
    if others <= ONE_BY_ONE:
        return x, np.ones(len(x))
    low, high = math.log(ONE_BY_ONE + 0.5), math.log(others + 0.5)
    node, share = np.polynomial.legendre.leggauss(NODES)
    far = np.exp(low + (node + 1) / 2 * (high - low))
    weight = np.concatenate([np.ones(len(x)), share * (high - low) / 2 * far])
    return np.concatenate([x, np.minimum(far, others)]), weight
