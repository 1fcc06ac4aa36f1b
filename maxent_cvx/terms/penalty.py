"""What it costs to miss a row: the difference between knowledge and evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import BadProbability, StatementError, number

__all__ = ["Penalty"]


#: The least standard deviation, weight or delta, in the unit of the value; the most is one over it. Their squares,
#: times the squares of numbers of records, are within what doubles can be.
LEAST = 1e-60


@dataclass(frozen=True)
class Penalty:
    r"""The cost, nats, of missing a value by r, in the unit of the value: r^2 / (2 sd^2), or weight \|r\|.

    With `delta` it is Huber's: the square up to \|r\| = delta, linear beyond. The maximum-entropy objective N H(p) is,
    up to Stirling's formula, the logarithm of the number of tables that look like p, so that a cost of r^2 / (2 sd^2)
    is minus the log-likelihood of a value observed with Gaussian noise, and weight \|r\| that with Laplace noise of
    the scale 1 / weight; the answer is then the maximum a posteriori.

    Parameters
    ----------
    sd : float or ndarray, one a row, optional
        Standard deviation, in the unit of the value.
    weight : float or ndarray, one a row, optional
        Nats per unit of the value.
    delta : float or ndarray, one a row, optional
        From which \|r\| on the cost is linear, in the unit of the value.

    Raises
    ------
    StatementError
        If there is neither `sd` nor `weight`, or both, or `delta` without `sd`.
    BadProbability
        If one of them is not above 0, or beyond what doubles can be squared.

    Examples
    --------
    It is what :func:`maxent_cvx.soft` makes of its arguments, and a function of the space may give its rows:

    >>> from maxent_cvx.terms.penalty import Penalty
    >>> print(Penalty(sd=0.05, delta=0.1))
    sd 0.05, delta 0.1
    """

    sd: float | np.ndarray | None = None
    weight: float | np.ndarray | None = None
    delta: float | np.ndarray | None = None

    def __post_init__(self) -> None:
        if (self.sd is None) == (self.weight is None):
            raise StatementError(
                "a soft statement has a standard deviation, sd=0.05, or costs weight=50 nats per unit: give one of both"
            )
        if self.delta is not None and self.sd is None:
            raise StatementError("delta= says where a squared cost becomes linear, which needs sd=; weight= is linear")
        for name in ("sd", "weight", "delta"):
            value = getattr(self, name)
            if value is None:
                continue
            if not isinstance(value, np.ndarray):
                object.__setattr__(self, name, number(value, name))
            found = np.atleast_1d(getattr(self, name))
            if (bad := ~((found >= LEAST) & (found <= 1 / LEAST))).any():
                raise BadProbability(
                    f"{name} must be a number above 0, from {LEAST:g} to {1 / LEAST:g}; {found[bad][0]:.12g} is not"
                )

    def variance_and_slope(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The variance sd^2 and the largest slope of the cost of each of n rows, in the unit of the value.

        Parameters
        ----------
        n : int

        Returns
        -------
        variance : ndarray, shape (n,)
            0 where the cost is the absolute error.
        slope : ndarray, shape (n,)
            Nats per unit; infinite where the cost is a square.
        """
        if self.sd is None:
            assert self.weight is not None
            return np.zeros(n), np.broadcast_to(np.asarray(self.weight, dtype=float), n)
        variance = np.broadcast_to(np.asarray(self.sd, dtype=float) ** 2, n)
        return variance, np.full(n, np.inf) if self.delta is None else np.asarray(self.delta, dtype=float) / variance

    def at(self, rows: np.ndarray) -> Penalty:
        """Keep the costs of some rows."""
        return Penalty(*(side[rows] if isinstance(side, np.ndarray) else side for side in self._sides))

    def same_as(self, other: object) -> bool:
        """Whether another penalty is the same."""
        return isinstance(other, Penalty) and all(
            np.array_equal(a, b, equal_nan=True) for a, b in zip(self._as_arrays, other._as_arrays, strict=True)
        )

    @property
    def n_rows(self) -> int | None:
        """How many rows there are costs of; None if they are the same for any number."""
        return max((side.size for side in self._sides if isinstance(side, np.ndarray)), default=None)

    @property
    def _sides(self) -> tuple[float | np.ndarray | None, ...]:
        return self.sd, self.weight, self.delta

    @property
    def _as_arrays(self) -> list[np.ndarray]:
        return [np.asarray(np.nan if side is None else side, dtype=float).ravel() for side in self._sides]

    def __str__(self) -> str:
        sides = {"sd": self.sd, "weight": self.weight, "delta": self.delta}
        known = {name: np.atleast_1d(side) for name, side in sides.items() if side is not None}
        ranges = {name: (side.min(initial=np.inf), side.max(initial=-np.inf)) for name, side in known.items()}
        return ", ".join(
            f"{name} {low:.12g}" + ("" if low == high else f" to {high:.12g}") for name, (low, high) in ranges.items()
        )
