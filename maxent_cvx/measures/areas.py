"""Equivocation of many distributions over the same values: entropy, area and eps_max, all at once."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..errors import GroupTooLarge
from .breakpoints import differences
from .covering import cost, least_entropy
from .units import Units

__all__ = ["areas"]

#: Runs that are tried for all distributions, in some minutes.
MOST_RUNS = 10**11


def areas(units: np.ndarray, unit: Units, p: np.ndarray, at: list[float]) -> pd.DataFrame:
    """H(0), the exact area, eps_max, 1 / H(0), and H(eps) where it is asked for.

    Parameters
    ----------
    units : ndarray of int64, shape (values,)
        The numbers, in any order; equal ones are put together.
    unit : Units
    p : ndarray, shape (distributions, values)
        What is 0 is impossible.
    at : list of float
        eps.

    Returns
    -------
    DataFrame
        A row a distribution: "initial", "area", "eps_max", "disclosure_risk", "H(eps)", ...

    Raises
    ------
    GroupTooLarge
        If that takes too long.
    """
    order = np.argsort(units, kind="stable")
    distinct, start = np.unique(units[order], return_index=True)
    p = p[:, order]
    if len(distinct) < len(units):  # several values stand for one number
        p = np.add.reduceat(p, start, axis=1)
    span = int(distinct[-1] - distinct[0])
    every = differences(distinct, len(distinct) ** 2)
    assert every is not None
    if (runs := len(p) * len(every) * cost(distinct, span)) > MOST_RUNS:
        raise GroupTooLarge(
            f"the equivocation of {len(p)} people and {len(distinct)} values means {runs:.1e} runs to try, of which "
            f"{MOST_RUNS:.0e} are allowed; round the values, values={{value: number}}"
        )
    possible = p > 0
    eps_max = distinct[p.shape[1] - 1 - possible[:, ::-1].argmax(axis=1)] - distinct[possible.argmax(axis=1)]
    entropy = np.where(every >= eps_max[:, None], 0.0, least_entropy(distinct, p, every))
    initial = entropy[:, 0]
    found = {
        "initial": initial,
        "area": entropy[:, :-1] @ np.diff(unit.width(every)),
        "eps_max": unit.width(eps_max),
        "disclosure_risk": np.divide(1.0, initial, out=np.full(len(p), np.inf), where=initial > 0),
    }
    for eps in at:
        width = span if eps >= unit.width(np.array([span]))[0] else unit.of(eps)
        found[f"H({eps:g})"] = entropy[:, np.searchsorted(every, width, side="right") - 1]
    return pd.DataFrame(found)
