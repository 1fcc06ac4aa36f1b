"""Naive Bayes: quasi-identifiers are independent of each other given the sensitive value."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...tables.coding import densely
from ...views import Release

__all__ = ["NaiveBayes"]


class NaiveBayes:
    """P(q, s) = P(s) prod_a P(q_a | s), P(q_a = v | s) = (n(v, s) + c) / (n(s) + c |A|), P(s) as published.

    Parameters
    ----------
    release : Release
    smoothing : float
        c, records that are added to each of the ``|A|`` values of every attribute, for every sensitive value.
    """

    def __init__(self, release: Release, smoothing: float) -> None:
        self.codes = [densely(np.asarray(code, dtype=np.int64)) for code in release.quasi_identifiers.codes]
        self.log_prior = np.log(release.n_s / release.n_s.sum())
        self.smoothing = smoothing

    def learnt(self, expected: np.ndarray) -> tuple[np.ndarray, float]:
        """Maximise the expected log-likelihood, and what smoothing adds to it.

        Parameters
        ----------
        expected : ndarray, shape (tuples, values)
            How many records with each QI tuple have each value.

        Returns
        -------
        log_f : ndarray, shape (tuples, values)
            log P(q, s).
        penalty : float
            c sum log P(v | s) over all attributes, their values and sensitive values, nats.
        """
        log_f, penalty = np.tile(self.log_prior, (len(expected), 1)), 0.0
        n_s, every = expected.sum(axis=0), np.arange(len(expected))
        nobody = (n_s == 0) & (self.smoothing == 0)  # has a value: 0 / 0 people then, who are not expected
        for code in self.codes:
            has = sp.csr_array((np.ones(len(code)), (code, every)))  # every value that occurs, and who has it
            with np.errstate(divide="ignore"):
                log_p = np.log((has @ expected + self.smoothing) / (n_s + self.smoothing * has.shape[0] + nobody))
            log_f += log_p[code]
            penalty += self.smoothing * float(log_p.sum()) if self.smoothing else 0.0
        return log_f, penalty
