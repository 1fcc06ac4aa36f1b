"""A cone program as CVXPY states it, and how far an answer to it is from optimal, whoever found it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy

from ..certificate.certificate import ACCURACY
from ..tolerances import CONIC_PROGRAM

__all__ = ["ConeProgram", "Distance"]

TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Distance:
    """How far an answer is from optimal; all relative, all recomputed from the program's own data.

    Attributes
    ----------
    primal : float
        Largest violation of a row of b - A z in K.
    dual : float
        Largest violation of c + A' dual = 0, and of dual in K*.
    gap : float
        What the answer can be short of the optimum, sum |s dual|, per unit of what the entropies weigh.
    """

    primal: float
    dual: float
    gap: float

    @property
    def holds(self) -> bool:
        """Whether the answer counts as optimal: no part of the mass above `ACCURACY` is at a wrong place (Pinsker)."""
        return max(self.primal, self.dual) <= CONIC_PROGRAM.residual and np.sqrt(2 * self.gap) <= ACCURACY

    @property
    def is_near(self) -> bool:
        """Whether the answer is worth looking at though it does not hold."""
        return max(self.primal, self.dual, self.gap) <= CONIC_PROGRAM.usable

    def __str__(self) -> str:
        return f"relative violations {self.primal:.1e} primal, {self.dual:.1e} dual, gap {self.gap:.1e}"


@dataclass(frozen=True, eq=False)
class ConeProgram:
    """Minimise c' z subject to b - A z in K: zeros, then non-negative numbers, then exponential cones.

    A triple (t, u, w) of the exponential cone says t <= u log(w / u), with u, w >= 0.

    Attributes
    ----------
    c, b : ndarray
    A : csr_array
    n_zero, n_nonneg, n_exp : int
        Rows of equations, rows of inequalities, triples of exponential cones.
    where : callable
        The name of a column of A, for messages.
    """

    c: np.ndarray
    A: sp.csr_array
    b: np.ndarray
    n_zero: int
    n_nonneg: int
    n_exp: int
    where: Callable[[int], str]

    @property
    def linear(self) -> slice:
        """Rows that are equations and inequalities."""
        return slice(0, self.n_zero + self.n_nonneg)

    def triple(self, place: int) -> tuple[sp.csr_array, np.ndarray]:
        """Rows of A and b for t (0), u (1) or w (2) of every exponential cone."""
        at = slice(self.linear.stop + place, None, 3)
        return sp.csr_array(self.A[at]), self.b[at]

    def distance(self, z: np.ndarray, dual: np.ndarray) -> Distance:
        """Measure an answer: its violations, and its gap as a sum of non-negative terms.

        A row is measured against the numbers added up in it, and at least against an average argument
        of the entropies: x = 0 holds if x is nothing beside its peers.
        """
        if not (np.isfinite(z).all() and np.isfinite(dual).all()):
            return Distance(np.inf, np.inf, np.inf)
        bound = np.isfinite(self.b)
        slack = self.b - self.A @ z
        argued = np.unique(self.triple(1)[0].indices)
        typical = np.abs(z[argued]).mean() if len(argued) else 0.0
        size = abs(self.A)
        largest = np.asarray(size.max(axis=1).todense()).ravel() if size.shape[1] else np.zeros(len(slack))
        scale = size @ np.abs(z) + np.abs(np.where(bound, self.b, 0)) + largest * typical + TINY
        n, m = self.n_zero, self.linear.stop
        t, u, w = slack[m::3], slack[m + 1 :: 3], slack[m + 2 :: 3]
        inside = np.maximum(u, 0.0)
        over = t - xlogy(inside, np.maximum(w, TINY)) + xlogy(inside, inside)
        missing = np.concatenate([np.abs(slack[:n]), -slack[n:m], over, -u, -w])
        scales = np.concatenate([scale[:m], scale[m::3] + scale[m + 1 :: 3], scale[m + 1 :: 3], scale[m + 2 :: 3]])
        # The dual cone: p < 0 and r >= -p exp(q / p - 1).
        p, q, r = dual[m::3], dual[m + 1 :: 3], dual[m + 2 :: 3]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            short = np.where(p < 0, 1 - r / (-p * np.exp(q / p - 1)), np.inf)
        weighed = np.abs(dual)
        weighed[m + 1 :: 3] = np.maximum(weighed[m + 1 :: 3], -p)  # log(w / u) - 1 is as good as 0 where it is rounding
        stationary = np.abs(self.c + self.A.T @ dual) / (np.abs(self.c) + size.T @ weighed + TINY)
        wrong_sign = -dual[n:m] / (np.abs(dual).max(initial=0.0) + TINY)
        product = np.where(bound[:m], np.abs(np.where(bound[:m], slack[:m], 0.0) * dual[:m]), 0.0)
        with np.errstate(over="ignore"):
            gap = product.sum() + np.maximum(t * p + u * q + w * r, 0.0).sum()
            gap /= -p @ np.abs(u) + TINY
        return Distance(
            float((missing / scales).max(initial=0.0)),
            float(max(stationary.max(initial=0.0), wrong_sign.max(initial=0.0), short.max(initial=0.0))),
            float(gap),
        )
