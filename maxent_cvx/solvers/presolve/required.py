"""Rows that must be able to hold."""

from __future__ import annotations

import numpy as np

from ...errors import Infeasible
from ..program.linear_form import LinearForm

__all__ = ["require"]


def require(form: LinearForm, holds: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Raise if some row cannot hold, naming the first piece of knowledge and what is possible.

    Parameters
    ----------
    holds : ndarray of bool, one a row
    low, high : ndarray
        The least and largest value that each row can take, people.

    Raises
    ------
    Infeasible
        Facts are true: if only they cannot hold, other rows must be found to blame.
    """
    if holds.all():
        return
    bad = np.flatnonzero(~holds)
    if not (bad >= form.n_facts).any():
        raise Infeasible("the knowledge contradicts the published data")
    row = int(bad[bad >= form.n_facts][0])
    least, most = ((side[row] + form.shift[row]) / form.scale[row] for side in (low, high))
    remedy = form.remedy(row)
    raise Infeasible(
        f"the knowledge contradicts the published data or itself: {form.name(row)!r} cannot hold; "
        f"with everything else it lies between {least:.6g} and {most:.6g}. {remedy[0].upper()}{remedy[1:]}"
    )
