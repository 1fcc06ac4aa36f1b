"""Rows that depend on CVXPY parameters: read again where a parameter has another value, and nothing else of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import StatementError
from ..terms.rows import Rows

__all__ = ["Parametric", "values_of"]


@dataclass(frozen=True, eq=False)
class Parametric:
    """One block of rows, as a function of parameters.

    Attributes
    ----------
    label : str
        What holds the parameters, for messages.
    parameters : sequence of cvxpy.Parameter
    values : tuple of ndarray
        Their values when the rows were read.
    at_values : callable, optional
        From the rows as they are to those at the values that the parameters have now. None of a convex constraint,
        which CVXPY reads whenever it solves.
    block : int
        Which of the source's blocks they are.
    """

    label: str
    parameters: Sequence[Any]
    values: tuple[np.ndarray, ...]
    at_values: Callable[[Rows], Rows] | None
    block: int

    def at_parameters(self, rows: tuple[Rows, ...]) -> tuple[Parametric, tuple[Rows, ...]]:
        """Read the rows of a source again; what is returned is what was given where no value is another.

        Raises
        ------
        StatementError
            If a parameter has no value.
        BadProbability
            If nothing can have the value.
        """
        values = values_of(self.parameters, self.label)
        if self.at_values is None or all(map(np.array_equal, values, self.values)):
            return self, rows
        now = self.at_values(rows[self.block])
        changed = (*rows[: self.block], now, *rows[self.block + 1 :])
        return Parametric(self.label, self.parameters, values, self.at_values, self.block), changed


def values_of(parameters: Sequence[Any], label: str) -> tuple[np.ndarray, ...]:
    """The values of parameters now.

    Raises
    ------
    StatementError
        If one has none.
    """
    for parameter in parameters:
        if parameter.value is None:
            raise StatementError(
                f"{label!r} has a CVXPY Parameter without a value, {parameter.name()}; set its value first"
            )
    return tuple(np.array(parameter.value, dtype=float) for parameter in parameters)
