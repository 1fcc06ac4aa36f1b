"""What is drawn: a model, and what the oracle needs to know of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxent_cvx import MaxEnt

__all__ = ["Drawn"]


@dataclass(frozen=True)
class Drawn:
    """A model, a table of its terms that satisfies it but for rounding, and what the oracle solves instead.

    Attributes
    ----------
    model, posed : MaxEnt
    table : ndarray, shape (terms,)
        Positive, but for terms outside the support.
    support : ndarray of bool, shape (terms,), optional
        The terms that are not 0 in every solution; None if that is all of them.
    contradictory : bool
        Whether the rows have no solution, by much more than rounding.
    """

    model: MaxEnt
    table: np.ndarray
    posed: MaxEnt
    support: np.ndarray | None = None
    contradictory: bool = False
