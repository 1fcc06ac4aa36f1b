"""The active set at a point: equations, and inequalities that hold with equality up to roundoff."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...parameters.tolerances import CERTIFICATION
from ...program.linear_form import LinearForm

__all__ = ["ActiveRows", "active_rows"]


class ActiveRows(NamedTuple):
    """The rows that x'' shall satisfy with equality: equations, and inequalities that are active up to roundoff.

    Attributes
    ----------
    at_low, at_high : ndarray of bool
        The side that is active; for equations it is the low one.
    side : ndarray, one a row
        The value of the active side, records.
    side_error : ndarray, one a row
        A bound on the error of this value, records: from rounding, and from the widths of fixed terms.
    """

    at_low: np.ndarray
    at_high: np.ndarray
    side: np.ndarray
    side_error: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """Which rows are active."""
        return self.at_low | self.at_high

    @property
    def inward(self) -> np.ndarray:
        """The direction from the active side into the feasible set: 1 at a low side, -1 at a high side."""
        return np.where(self.at_low, 1.0, -1.0)


def active_rows(
    form: LinearForm,
    value: np.ndarray,
    multipliers: np.ndarray,
    side_error: np.ndarray,
    also_active: np.ndarray | None,
) -> ActiveRows:
    """Find the active rows, and the side at which each is active.

    An inequality with a multiplier is active within its feasibility tolerance, one without within roundoff.
    """
    roundoff, tolerance = CERTIFICATION.active_places * np.abs(value) + side_error, form.tolerance
    if also_active is not None:
        roundoff = np.where(also_active, np.minimum(value - form.low, form.high - value), roundoff)
    above, below = value - form.low, form.high - value
    up, down = multipliers > 0, multipliers < 0
    at_low = form.is_equation | (up & (above <= tolerance)) | (~down & (above <= roundoff))
    at_high = ~at_low & ((down & (below <= tolerance)) | (below <= roundoff))
    return ActiveRows(at_low, at_high, np.where(at_low, form.low, form.high), side_error)
