"""Equivocation of everybody: how closely an adversary can say each person's number."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from ..errors import BadProbability, GroupTooLarge, TableError, listing, number
from ..posterior import Posterior
from .breakpoints import differences
from .covering import cost, least_entropy
from .disclosure import NEGLIGIBLE, of_those_inside
from .units import in_units

__all__ = ["individual_equivocation"]

#: Runs that are tried for all people, in some minutes.
MOST_RUNS = 10**11


def individual_equivocation(
    post: Posterior, at: float | Iterable[float] = (), values: Mapping[object, float] | pd.Series | None = None
) -> pd.DataFrame:
    """H(eps) of P(s | q), for everybody who is told apart: least entropy over windows of width eps, bits.

    Parameters
    ----------
    post : Posterior
        Of any release and knowledge; one sensitive attribute.
    at : float or several
        eps for which H(eps) is wanted too, a column each.
    values : dict or Series, optional
        The number that each sensitive value stands for; by default the values are numbers themselves.

    Returns
    -------
    DataFrame
        Indexed as ``post.inferences()``: how many `people` a row is; `initial`, H(0), bits; `area`, bits x the unit
        of the values; `eps_max`, the distance of the largest and smallest value that is possible; `disclosure_risk`,
        1 / H(0), infinite where the value is certain; and "H(eps)" for the eps that are asked for. Probabilities
        below 1e-9 are the solver's way to write zero. The mean area, weighted by people, is that of a release.

    Raises
    ------
    TableError
        If the values are no numbers, or one is missing.
    BadProbability
        If an eps is negative.
    GroupTooLarge
        If that takes too long.

    Notes
    -----
    As :func:`equivocation`, exactly, for all people at once: O(v^2 d) for each of them, v values with d distinct
    differences. Of a population (:class:`maxent_cvx.GroupedRelease`) those in the release are judged.
    """
    conditional, people = of_those_inside(post)
    units, unit = _numbers_of(conditional.columns, values)
    order = np.argsort(units, kind="stable")
    distinct, place = np.unique(units, return_inverse=True)
    p = conditional.to_numpy()
    if len(distinct) == len(units):
        p = p[:, order]
    else:  # several values stand for one number
        p = np.stack([p[:, place == i].sum(axis=1) for i in range(len(distinct))], axis=1)
    p = np.where(p > NEGLIGIBLE, p, 0.0)
    span = int(distinct[-1] - distinct[0])
    every = differences(distinct, len(distinct) ** 2)
    assert every is not None
    asked = [number(eps, "eps") for eps in np.atleast_1d(np.asarray(at, dtype=object))]
    if asked and min(asked) < 0:
        raise BadProbability(f"eps={min(asked):.12g}: the width of a range is expected, 0 or more")
    if (runs := len(p) * len(every) * cost(distinct, span)) > MOST_RUNS:
        raise GroupTooLarge(
            f"the equivocation of {len(p)} people and {len(distinct)} values means {runs:.1e} runs to try, of which "
            f"{MOST_RUNS:.0e} are allowed; round the values, values={{value: number}}"
        )
    entropy = least_entropy(distinct, p, every)
    first, last = (p > 0).argmax(axis=1), p.shape[1] - 1 - (p[:, ::-1] > 0).argmax(axis=1)
    certain_from = distinct[last] - distinct[first]
    entropy = np.where(every >= certain_from[:, None], 0.0, entropy)
    initial = entropy[:, 0]
    found = pd.DataFrame(
        {
            "people": people,
            "initial": initial,
            "area": entropy[:, :-1] @ np.diff(unit.width(every)),
            "eps_max": unit.width(certain_from),
            "disclosure_risk": np.divide(1.0, initial, out=np.full(len(p), np.inf), where=initial > 0),
        },
        index=conditional.index,
    )
    for eps in asked:
        width = span if eps >= unit.width(np.array([span]))[0] else unit.of(eps)
        found[f"H({eps:g})"] = entropy[:, np.searchsorted(every, width, side="right") - 1]
    return found


def _numbers_of(labels: pd.Index, values: Mapping[object, float] | pd.Series | None) -> tuple:
    """The number that each sensitive value stands for, in units."""
    if labels.nlevels > 1:
        raise TableError("equivocation is of one sensitive attribute, and the view has several")
    if values is not None:
        table = values if isinstance(values, pd.Series) else pd.Series(dict(values), dtype=object)
        if len(missing := labels.difference(table.index)):
            raise TableError(f"values have no number for {listing(missing)}; every sensitive value needs one")
        labels = pd.Index(pd.to_numeric(table.reindex(labels), errors="coerce"))
    elif all(isinstance(value, numbers.Real) and not isinstance(value, bool) for value in labels):
        labels = labels.infer_objects()  # numbers in a list of any objects, as those of a population
    if not pd.api.types.is_numeric_dtype(labels):
        raise TableError(
            f"the values of {labels.name!r} are no numbers: {listing(labels)}; say what each stands for, "
            "values={value: number}"
        )
    return in_units(labels, f"the values of {labels.name!r}")[1:]
