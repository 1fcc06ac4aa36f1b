"""Equivocation of many distributions over the same values: entropy, area and eps_max, all at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...errors import BadProbability, GroupTooLarge, number, shown
from ...tables.numbers import one_or_several
from .breakpoints import differences
from .covering import cost, least_entropy
from .own_values import own_curves, own_runs
from .units import Units

__all__ = ["areas", "widths_asked"]

#: The most runs that are evaluated for all distributions: some minutes.
MOST_RUNS = 10**11
#: Distinct differences beyond which distributions are not treated together.
MOST_DIFFERENCES = 20_000


def widths_asked(at: object) -> list[float]:
    """Read the eps for which H(eps) is wanted."""
    listed = one_or_several(at)
    for eps in listed:
        if number(eps, "eps") < 0:
            raise BadProbability(f"eps={shown(eps)}: the width of a range is expected, 0 or more")
    return list({_name(eps): eps for eps in listed}.values())


def _name(eps: float) -> str:
    """The column of an eps."""
    return f"H({float(eps):.15g})"


def areas(units: np.ndarray, unit: Units, p: np.ndarray, at: Sequence[float]) -> pd.DataFrame:
    """H(0), the exact area, eps_max, 1 / H(0), and H(eps) where it is asked for.

    Widths are taken over the differences of all values, for all distributions together, or over those of the possible
    values of each distribution: whichever is less work.

    Parameters
    ----------
    units : ndarray of int64, shape (values,)
        The numbers, in any order; equal ones are merged.
    unit : Units
    p : ndarray, shape (distributions, values)
        0 is impossible.
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
    distinct, p = distinct[p.any(axis=0)], p[:, p.any(axis=0)]
    support = (p > 0).sum(axis=1)
    every = differences(distinct, MOST_DIFFERENCES)
    together = np.inf if every is None else len(p) * len(every) * cost(distinct, int(np.ptp(distinct)))
    if (runs := min(together, own_runs(support))) > MOST_RUNS:
        raise GroupTooLarge(
            f"the equivocation of {len(p)} people, of {len(distinct)} values, means {runs:.1e} runs to try, of which "
            f"{MOST_RUNS:.0e} are allowed; round the values, values={{value: number}}"
        )
    span = int(np.ptp(distinct))
    widest = 2 * float(unit.width(np.array([span]))[0])
    of_eps = [span if eps > widest else min(unit.of(eps), span) for eps in at]
    found = np.empty((len(p), 3 + len(at)))
    if together <= own_runs(support):
        assert every is not None
        entropy = least_entropy(distinct, p, every)
        found[:] = _measured(np.broadcast_to(every, entropy.shape), entropy, _reach(distinct, p), unit, of_eps)
    else:
        for k in np.unique(support):
            some = np.flatnonzero(support == k)
            own = np.nonzero(p[some])[1].reshape(-1, k)
            values = distinct[own]
            widths, entropy = own_curves(values, np.take_along_axis(p[some], own, axis=1))
            found[some] = _measured(widths, entropy, values[:, -1] - values[:, 0], unit, of_eps)
    table = pd.DataFrame(found, columns=["initial", "area", "eps_max", *map(_name, at)])
    initial = table["initial"].to_numpy()
    table.insert(3, "disclosure_risk", np.divide(1.0, initial, out=np.full(len(p), np.inf), where=initial > 0))
    return table


def _reach(units: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The distance of the largest and the smallest possible value."""
    possible = p > 0
    return units[len(units) - 1 - possible[:, ::-1].argmax(axis=1)] - units[possible.argmax(axis=1)]


def _measured(
    widths: np.ndarray, entropy: np.ndarray, reach: np.ndarray, unit: Units, of_eps: Sequence[int]
) -> np.ndarray:
    """H(0), the area, eps_max, and H(eps), of curves that are known at every change."""
    entropy = np.where(widths >= reach[:, None], 0.0, entropy)
    area = (entropy[:, :-1] * np.diff(unit.width(widths), axis=1)).sum(axis=1)
    last = [(widths <= eps).sum(axis=1, keepdims=True) - 1 for eps in of_eps]
    return np.column_stack(
        [entropy[:, 0], area, unit.width(reach), *(np.take_along_axis(entropy, at, axis=1)[:, 0] for at in last)]
    )
