"""Zayatz's estimator: which share of the records that are unique in a sample are unique in its population."""

from __future__ import annotations

import numpy as np

__all__ = ["share_unique"]


def share_unique(records: np.ndarray, n_population: int) -> float:
    """P(F = 1 | f = 1) = P(F = 1) P(f = 1 | F = 1) / sum_i P(F = i) P(f = 1 | F = i), by Bayes' rule.

    Parameters
    ----------
    records : ndarray of int
        Of each class of the sample, of which one at least has one record.
    n_population : int
        N, the people of the population.

    Returns
    -------
    float
        A probability.

    Notes
    -----
    Zayatz (1991): P(F = i) is taken to be the share of the sample's classes that have i records, and P(f = 1 | F = i)
    is hypergeometric, for a simple random sample of n of N people. As a class of the population is larger than that of
    the sample, it is too high where the sample is a small share.
    """
    n = int(records.sum())
    size = np.arange(1, int(records.max()) + 1)
    share = np.bincount(records)[1:] / len(records)
    # i n / N times the probability that the other i - 1 are among those who are not drawn.
    others, left = np.arange(len(size) - 1), float(n_population - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        missed = np.clip((n_population - n - others) / np.maximum(left - others, 1), 0.0, 1.0)
        none = np.exp(np.concatenate([[0.0], np.cumsum(np.log(missed))]))
    of_one = size * n / n_population * none
    return float(share[0] * of_one[0] / (share @ of_one))
