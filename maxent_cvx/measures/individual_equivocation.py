"""Equivocation of everybody: how closely an adversary can say each person's number."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from ..errors import BadProbability, TableError, listing, number
from ..posterior import Posterior
from .areas import areas
from .disclosure import NEGLIGIBLE, of_those_inside
from .units import in_units

__all__ = ["individual_equivocation"]


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
    asked = [number(eps, "eps") for eps in np.atleast_1d(np.asarray(at, dtype=object))]
    if asked and min(asked) < 0:
        raise BadProbability(f"eps={min(asked):.12g}: the width of a range is expected, 0 or more")
    p = conditional.to_numpy()
    found = areas(units, unit, np.where(p > NEGLIGIBLE, p, 0.0), asked).set_axis(conditional.index)
    found.insert(0, "people", people)
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
