"""Rows that cannot hold, refused by name."""

from __future__ import annotations

import numpy as np

from ...errors import Infeasible
from ..program.linear_form import LinearForm

__all__ = ["require_feasible"]


def require_feasible(form: LinearForm, feasible: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Raise if some row cannot hold, naming the first row of knowledge among them and its possible values.

    Parameters
    ----------
    form : LinearForm
    feasible : ndarray of bool, one a row
        Whether the row can hold.
    low, high : ndarray, one a row
        The least and the largest value that the row can have, records.

    Raises
    ------
    Infeasible
        It names no row if only hard constraints cannot hold: some knowledge contradicts them then, and which one is
        found by other means.
    """
    if feasible.all():
        return
    bad = np.flatnonzero(~feasible)
    if not (bad >= form.n_facts).any():
        raise Infeasible("the knowledge contradicts the published data")
    row = int(bad[bad >= form.n_facts][0])
    least, most = ((side[row] + form.shift[row]) / form.scale[row] for side in (low, high))
    remedy = form.remedy(row)
    raise Infeasible(
        f"the knowledge contradicts the published data or itself: {form.name(row)!r} cannot hold; "
        f"with everything else it lies between {least:.6g} and {most:.6g}. {remedy[0].upper()}{remedy[1:]}"
    )
