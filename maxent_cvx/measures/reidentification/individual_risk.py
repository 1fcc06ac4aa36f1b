"""E[1 / F | f]: how likely a record is whose it seems, if f of some F people in the population are in the sample."""

from __future__ import annotations

import numpy as np
from scipy.special import hyp2f1

__all__ = ["individual_risk"]

#: Up to this share of the population the recursion is stable; above it, the hypergeometric series converges quickly.
HALF = 0.5


def individual_risk(records: np.ndarray, share: float) -> np.ndarray:
    """E[1 / F | f] = p int_0^1 v^(f - 1) / (p + (1 - p) v) dv, with F given f negative binomial.

    Parameters
    ----------
    records : ndarray of int
        f, the records of each class in the sample.
    share : float
        p, the probability with which somebody of the population is in the sample, above 0.

    Returns
    -------
    ndarray
        Probabilities.

    Notes
    -----
    P(F = h | f) = C(h - 1, f - 1) p^f (1 - p)^(h - f): every person is in the sample with the same probability,
    whoever else is, and before it is seen a class of h people is as likely as 1 / h (Benedetti and Franconi, 1998;
    Franconi and Polettini, 2004, the individual risk of mu-Argus and sdcMicro). Their (p^f / f) 2F1(f, f; f + 1; 1 - p)
    is the same by Euler's transformation and his integral.
    """
    if share > HALF:
        return np.asarray(share / records * hyp2f1(1.0, 1.0, records + 1.0, 1.0 - share))
    # p I(1) + (1 - p) I(2) = 1, and so on: f (p I(f) + (1 - p) I(f + 1)) = 1. Errors are multiplied by p / (1 - p).
    sizes = np.unique(records)
    integral, at, found = -np.log(share) / (1 - share), 1, np.empty(len(sizes))
    for i, size in enumerate(sizes.tolist()):
        for f in range(at, size):
            integral = (1 / f - share * integral) / (1 - share)
        at, found[i] = size, share * integral
    return found[np.searchsorted(sizes, records)]
