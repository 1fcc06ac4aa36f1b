"""A cone program in CVXPY's form, and how far an answer to it is from optimal, whichever solver found it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy

from ..certificate.certificate import ACCURACY
from ..rows.sparse import most_by_row

__all__ = ["ConeProgram", "Distance"]

TINY = np.finfo(float).tiny
#: Relative to the size of the summands of a row: the largest violation of an optimal answer.
RESIDUAL = 1e-7
#: Relative to the summands of the objective: the largest gap of an optimal answer to what is not an entropy program.
GAP = 1e-7
#: Share of the largest cost that counts as a summand of the objective, as all others may be 0 at an optimum of 0: it is
#: what a variable of 0.1 costs, and allows a gap of 1e-8 of that cost, as CLARABEL does. Beside such costs a gap that
#: is small for the entropies is sought first.
SHARE = 0.1
#: The side of a row without variables, absolute, and the cost of a variable in no row, relative to the largest, that
#: count as 0: CLARABEL's tolerance for what has nothing to be compared with.
NO_SIDE = 1e-8
#: A proof that there is no solution refutes those that are less than about 1 / `PROOF` units large.
PROOF = 1e-4


@dataclass(frozen=True)
class Distance:
    """The residuals and the gap of an answer, relative, computed from the program's own data.

    Attributes
    ----------
    primal : float
        Largest violation of b - A z in K, in any row.
    dual : float
        Largest violation of c + A' dual = 0, and of dual in K*.
    gap : float
        The complementarity gap s' dual with slack s = b - A z, as a sum of absolute values: a bound on the distance of
        the objective from its optimum. It is divided by the sum of the entropies' arguments times their factors.
    largest : float
        The largest violation of any row, and of any of the dual conditions, relative to the largest of all their
        summands, as solvers of general cone programs measure it.
    relative_gap : float
        The gap, and what residuals of the dual conditions add to it, divided by the sum of the absolute values of its
        summands and of the objective's.
    """

    primal: float
    dual: float
    gap: float
    largest: float = np.inf
    relative_gap: float = np.inf

    @property
    def holds(self) -> bool:
        """Whether the answer counts as optimal.

        By Pinsker's inequality at most a share `ACCURACY` of the mass is then misplaced.
        """
        return max(self.primal, self.dual) <= RESIDUAL and np.sqrt(2 * self.gap) <= ACCURACY

    @property
    def is_optimal(self) -> bool:
        """Whether the answer to a program that is no entropy program counts as optimal."""
        return self.largest <= RESIDUAL and self.relative_gap <= GAP

    def __str__(self) -> str:
        return f"relative violations {self.primal:.1e} primal, {self.dual:.1e} dual, gap {self.gap:.1e}"


@dataclass(frozen=True, eq=False)
class ConeProgram:
    """Minimise c' z + z' P z / 2 subject to b - A z in K, a product of zero, non-negative and exponential cones.

    A triple (t, u, w) is in the exponential cone if t <= u log(w / u) and u, w >= 0.

    Attributes
    ----------
    c, b : ndarray
    A : csr_array
    n_zero, n_nonneg, n_exp : int
        Rows of equations, rows of inequalities, triples of exponential cones.
    where : callable
        The name of a column of A, for messages.
    P : csc_array, optional
        z' P z / 2 is added to the objective.
    """

    c: np.ndarray
    A: sp.csr_array
    b: np.ndarray
    n_zero: int
    n_nonneg: int
    n_exp: int
    where: Callable[[int], str]
    P: sp.csc_array | None = None

    @property
    def linear(self) -> slice:
        """Rows that are equations and inequalities."""
        return slice(0, self.n_zero + self.n_nonneg)

    @cached_property
    def _triples(self) -> list[tuple[sp.csr_array, np.ndarray]]:
        first = self.linear.stop
        return [(self.A[first + place :: 3], self.b[first + place :: 3]) for place in range(3)]

    def triple(self, place: int) -> tuple[sp.csr_array, np.ndarray]:
        """Rows of A and b for t (0), u (1) or w (2) of every exponential cone."""
        return self._triples[place]

    @cached_property
    def contradiction(self) -> int | None:
        """The first equation or inequality without variables that does not hold, such as 0 = 1.

        Without another summand to compare it with, a side as small as rounding leaves one is no contradiction.
        """
        sides, is_equation = self.b[self.linear], np.arange(self.linear.stop) < self.n_zero
        is_empty = np.diff(self.A.indptr)[self.linear] == 0
        wrong = np.flatnonzero(is_empty & (np.where(is_equation, np.abs(sides), -sides) > NO_SIDE))
        return int(wrong[0]) if len(wrong) else None

    @cached_property
    def unlimited(self) -> np.ndarray:
        """Columns that have a cost, more than rounding beside the largest, and stand in no row or quadratic term."""
        is_free = np.abs(self.c) > NO_SIDE * np.abs(self.c).max(initial=0.0)
        in_cones = self.A.indices[self.A.indptr[self.linear.stop] :]
        is_free[in_cones] = False  # these few first, which mostly are all
        if is_free.any():
            is_free[self.A.indices] = False
        if self.P is not None:
            is_free[self.P.indices] = False
        return np.flatnonzero(is_free)

    def value(self, z: np.ndarray) -> float:
        """The objective."""
        return float(self.c @ z) + (0.0 if self.P is None else float(z @ (self.P @ z)) / 2)

    @cached_property
    def linear_rows(self) -> sp.csr_array:
        """The rows of A that are equations and inequalities; they come first, and nothing is copied."""
        n_rows = self.linear.stop
        indptr = self.A.indptr[: n_rows + 1]
        n_entries = indptr[-1]
        return sp.csr_array((self.A.data[:n_entries], self.A.indices[:n_entries], indptr), (n_rows, self.A.shape[1]))

    @cached_property
    def _sizes(self) -> sp.csr_array:
        """The absolute values of A, with its own indices."""
        return sp.csr_array((np.abs(self.A.data), self.A.indices, self.A.indptr), self.A.shape)

    @cached_property
    def _largest(self) -> np.ndarray:
        """The largest of each row of them."""
        return most_by_row(self._sizes.data, self._sizes)

    def distance(self, z: np.ndarray, dual: np.ndarray, *, of_entropies: bool = False) -> Distance:
        """Compute the residuals and the gap of an answer, the gap as a sum of non-negative terms.

        The residual of a row is relative to the sum of the absolute values of its summands, which includes an average
        argument of the entropies: x = 0 holds if x is small compared with other variables. Of an answer to an entropy
        program that holds, the measures that other programs are judged by are left out.
        """
        if not (np.isfinite(z).all() and np.isfinite(dual).all()):
            return Distance(np.inf, np.inf, np.inf)
        m, finite = self.linear.stop, np.isfinite(self.b)
        slack = self.b - self.A @ z
        is_argument = np.zeros(len(z), dtype=bool)
        is_argument[self.triple(1)[0].indices] = True
        average = np.abs(z[is_argument]).mean() if is_argument.any() else 0.0
        size = self._sizes
        of_row = size @ np.abs(z) + np.abs(np.where(finite, self.b, 0))
        scale = of_row + self._largest * average + TINY
        p, q, r = dual[m::3], dual[m + 1 :: 3], dual[m + 2 :: 3]
        t, u, w = slack[m::3], slack[m + 1 :: 3], slack[m + 2 :: 3]
        sizes = np.abs(dual)
        sizes[m + 1 :: 3] = np.maximum(sizes[m + 1 :: 3], -p)  # log(w / u) - 1 is a difference, which may cancel
        curved = np.zeros(len(z)) if self.P is None else self.P @ z
        gradient = self.c + curved
        balance = np.abs(gradient + self.A.T @ dual)
        balances = np.abs(self.c) + np.abs(curved) + size.T @ sizes + TINY
        product = np.where(finite[:m], np.abs(np.where(finite[:m], slack[:m], 0.0) * dual[:m]), 0.0)
        with np.errstate(over="ignore"):
            gap = product.sum() + np.maximum(t * p + u * q + w * r, 0.0).sum()
            relative = gap / (-p @ np.abs(u) + TINY)
        found = Distance(
            self._violation(slack, scale),
            max(float((balance / balances).max(initial=0.0)), self.dual_violation(dual)),
            float(relative),
        )
        if of_entropies and found.holds:
            return found
        everywhere = np.full(len(scale), float(scale.max(initial=0.0)))
        dual_size = float(np.abs(dual).max(initial=0.0)) + TINY
        largest = max(
            self._violation(slack, everywhere),
            float(balance.max(initial=0.0) / balances.max(initial=TINY)),
            self.outside(dual).max(initial=0.0) / dual_size,
        )
        with np.errstate(over="ignore"):
            summands = np.abs(gradient) @ np.abs(z) + np.abs(np.where(finite, slack, 0)) @ np.abs(dual)
            summands += np.abs(np.where(finite, self.b, 0)) @ np.abs(dual)
            summands += SHARE * np.abs(self.c).max(initial=0.0)
            relative_gap = (gap + balance @ self._reach(size, of_row, z)) / (summands + TINY)
        return replace(found, largest=float(largest), relative_gap=float(relative_gap))

    def _reach(self, size: sp.csr_array, scale: np.ndarray, z: np.ndarray) -> np.ndarray:
        """How far each column can move, at least as far as it is from 0, before it exceeds all other summands of a row.

        What residuals of the dual conditions are multiplied by is what they change the objective by, in any unit. Rows
        of one column without a side do not say how large it is.
        """
        length = np.diff(size.indptr)
        told = np.repeat((length > 1) | (self.b != 0), length)
        room = np.repeat(scale, length)[told] / size.data[told]
        reach = np.full(len(z), np.inf)
        np.minimum.at(reach, size.indices[told], room)
        return np.where(np.isfinite(reach), np.maximum(reach, np.abs(z)), np.abs(z))

    def outside(self, dual: np.ndarray) -> np.ndarray:
        """By how much dual values are not in K*, in their own unit."""
        n, m = self.n_zero, self.linear.stop
        p, q, r = dual[m::3], dual[m + 1 :: 3], dual[m + 2 :: 3]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            missing = np.where(p < 0, -p * np.exp(q / p - 1) - r, np.maximum(p, np.maximum(-q, -r)))
        return np.concatenate([-dual[n:m], np.where(np.isnan(missing), np.inf, missing)])

    def _violation(self, slack: np.ndarray, scale: np.ndarray) -> float:
        """By how much a slack is not in K, relative to scales of the rows."""
        n, m = self.n_zero, self.linear.stop
        t, u, w = slack[m::3], slack[m + 1 :: 3], slack[m + 2 :: 3]
        u_plus = np.maximum(u, 0.0)
        excess = t - xlogy(u_plus, np.maximum(w, TINY)) + xlogy(u_plus, u_plus)
        violation = np.concatenate([np.abs(slack[:n]), -slack[n:m], excess, -u, -w])
        scales = np.concatenate([scale[:m], scale[m::3] + scale[m + 1 :: 3], scale[m + 1 :: 3], scale[m + 2 :: 3]])
        return float((violation / scales).max(initial=0.0))

    def dual_violation(self, dual: np.ndarray) -> float:
        """By how much dual values are not in K*, relative: p < 0 and r >= -p exp(q / p - 1), or p = 0 and q, r >= 0."""
        n, m = self.n_zero, self.linear.stop
        p, q, r = dual[m::3], dual[m + 1 :: 3], dual[m + 2 :: 3]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            outside = np.where(p < 0, 1 - r / (-p * np.exp(q / p - 1)), np.inf)
            outside = np.where((p == 0) & (q >= 0) & (r >= 0), 0.0, outside)
        wrong_sign = -dual[n:m] / (np.abs(dual).max(initial=0.0) + TINY)
        return float(max(wrong_sign.max(initial=0.0), outside.max(initial=0.0)))

    def proves_infeasible(self, dual: np.ndarray) -> bool:
        """Whether dual values are in the dual cone, A' dual = 0 and b' dual < 0: then b - A z in K has no solution.

        As z' A' dual <= b' dual for all solutions, a residual of A' dual refutes those that are not very large; the
        unit of a column is the largest right-hand side divided by the column's largest coefficient.
        """
        b = np.where(np.isfinite(self.b), self.b, 0.0)
        largest = np.zeros(self.A.shape[1])
        np.maximum.at(largest, self.A.indices, np.abs(self.A.data))
        units = np.abs(b).max(initial=0.0) / np.where(largest > 0, largest, np.inf)
        against = -float(b @ dual)
        is_zero = float(np.abs(self.A.T @ dual) @ units) <= PROOF * against
        outside = self.outside(dual).max(initial=0.0) / (np.abs(dual).max(initial=0.0) or 1.0)
        return bool(against > 0 and is_zero and outside <= RESIDUAL)

    def proves_unbounded(self, z: np.ndarray) -> bool:
        """Whether z is a direction in which the objective falls and all rows hold for ever."""
        fall = -float(self.c @ z)
        curved = 0.0 if self.P is None else float(np.abs(self.P @ z).max(initial=0.0))
        size = self._sizes @ np.abs(z)
        slack = np.where(np.isfinite(self.b), -(self.A @ z), 0.0)
        off = self._violation(slack, np.full(len(slack), float(size.max(initial=0.0)) + TINY))
        return bool(fall > 0 and curved <= RESIDUAL * fall and off <= RESIDUAL)
