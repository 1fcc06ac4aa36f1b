"""Equivocation of everybody: how precisely an adversary infers each person's number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from ...errors import StatementError, TableError, shown
from ...model.posterior import Posterior
from ...tables.numbers import numbers_of
from ..disclosure import NEGLIGIBLE, of_those_inside
from .areas import areas, widths_asked
from .units import in_units

__all__ = ["individual_equivocation"]


def individual_equivocation(
    post: Posterior, at: float | Iterable[float] = (), values: Mapping[object, float] | pd.Series | None = None
) -> pd.DataFrame:
    """H(eps) of P(s | q), for each row of ``post.inferences()``: least entropy over windows of width eps, bits.

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
        below 1e-9 count as zero. The mean area, weighted by people, is that of a release.

    Raises
    ------
    StatementError
        If `post` is no Posterior.
    TableError
        If the values are not numbers, or one is missing; or the view has several sensitive attributes.
    BadProbability
        If an eps is negative, or not a number.
    GroupTooLarge
        If that takes too long.

    Notes
    -----
    As :func:`equivocation`, exactly, for all people at once: O(k^4) for each of them, k being how many values are
    possible for the person; or O(v^2 d) with v values of the release and d distinct differences, if that is less. Of a
    population (:class:`maxent_cvx.GroupedRelease`) those in the release are measured.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [20, 20, 30, 30], "Salary": [50, 52, 50, 107], "Bucket": [1, 1, 2, 2]})
    >>> release = mx.Release.from_buckets(people, qi="Age", sa="Salary", bucket="Bucket")
    >>> found = mx.measures.individual_equivocation(mx.MaxEnt(release).solve(), at=5)
    >>> print(found[["people", "initial", "area", "eps_max", "H(5)"]].round(3))       # 50 or 52 is nearly the same
         people  initial  area  eps_max  H(5)
    Age
    20        2      1.0   2.0      2.0   0.0
    30        2      1.0  57.0     57.0   1.0
    """
    if not isinstance(post, Posterior):
        raise StatementError(f"equivocation of everybody is of a Posterior, not of {shown(post)}")
    conditional, people = of_those_inside(post)
    if conditional.columns.nlevels > 1:
        raise TableError("equivocation is of one sensitive attribute, and the view has several")
    asked = widths_asked(at)
    p = np.where(conditional.to_numpy() > NEGLIGIBLE, conditional.to_numpy(), 0.0)
    possible = np.flatnonzero(p.any(axis=0))  # impossible values must not decide the unit in which numbers are compared
    labels = conditional.columns.take(possible)
    _, units, unit = in_units(numbers_of(labels, values), f"the values of {labels.name!r}")
    found = areas(units, unit, p[:, possible], asked).set_axis(conditional.index)
    found.insert(0, "people", people)
    return found
