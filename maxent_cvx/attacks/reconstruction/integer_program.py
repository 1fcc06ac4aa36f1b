"""Integer programs of small whole coefficients, by HiGHS through SciPy: low <= A x <= high, x integer."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from ...errors import NotDecided, SolverError
from ...solvers.linear import ANY_GAP

__all__ = ["IntegerProgram"]


@dataclass
class IntegerProgram:
    """Variables 0 <= x <= upper and rows, to which both can be added; all numbers are integers.

    Attributes
    ----------
    upper : ndarray of int
        One a variable.
    """

    upper: np.ndarray
    _entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)
    _sides: list[np.ndarray] = field(default_factory=list)
    _n_rows: int = 0

    def copy(self) -> Self:
        """The same program, to which more can be added."""
        return type(self)(self.upper.copy(), list(self._entries), list(self._sides), self._n_rows)

    def variables(self, number: int, upper: int = 1) -> np.ndarray:
        """Add variables, and give their places."""
        self.upper = np.concatenate([self.upper, np.full(number, upper)])
        return np.arange(len(self.upper) - number, len(self.upper))

    def add(self, *parts: tuple[np.ndarray, Any], low: Any = -np.inf, high: Any = np.inf) -> None:
        """Add rows: low <= sum over parts of coefficients @ x[places] <= high.

        Parameters
        ----------
        *parts : (ndarray of int, matrix)
            The places of variables, and the coefficients of these, a row each.
        low, high : float or ndarray
            One a row, or of all.
        """
        blocks = [
            (places, sp.coo_array(np.atleast_2d(by) if isinstance(by, np.ndarray) else by)) for places, by in parts
        ]
        rows = blocks[0][1].shape[0]
        for places, block in blocks:
            row, column = block.coords
            self._entries.append((row + self._n_rows, places[column], block.data))
        self._sides.append(np.column_stack([np.broadcast_to(np.asarray(one, float), rows) for one in (low, high)]))
        self._n_rows += rows

    def solve(self, until: float, towards: np.ndarray | None = None) -> np.ndarray | None:
        """Find a point, and None if there is none.

        Parameters
        ----------
        until : float
            When to give up, on the clock of :func:`time.perf_counter`.
        towards : ndarray of int, optional
            The places of variables whose sum should be small; it need not be the least.

        Raises
        ------
        NotDecided
            If the time is over.
        SolverError
            If HiGHS fails.
        """
        if (left := until - time.perf_counter()) <= 0:
            raise NotDecided("the time is over")
        row, column, value = map(np.concatenate, zip(*self._entries, strict=True))
        sides, n = np.concatenate(self._sides), len(self.upper)
        matrix = sp.csc_array(sp.coo_array((value.astype(float), (row, column)), (self._n_rows, n)))
        matrix.indices, matrix.indptr = (
            matrix.indices.astype(np.int32),
            matrix.indptr.astype(np.int32),
        )  # for older SciPy
        cost = np.zeros(n)
        cost[[] if towards is None else towards] = 1.0
        answer = milp(
            cost,
            integrality=np.ones(n, dtype=np.int64),
            bounds=Bounds(np.zeros(n), self.upper.astype(float)),
            constraints=LinearConstraint(matrix, sides[:, 0], sides[:, 1]),
            options={"time_limit": left, "mip_rel_gap": ANY_GAP},
        )
        if answer.status == 2:
            return None
        if answer.x is not None:
            return np.rint(answer.x).astype(np.int64)
        if answer.status == 1:
            raise NotDecided("the time is over")
        raise SolverError(f"HiGHS found no records: {answer.message}")
