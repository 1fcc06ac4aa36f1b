"""DUAL_NEWTON: Newton's method on the dual of maximum entropy.

With x = exp(A' m - 1) for multipliers m, maximising sum -x log x over A x = b is the same as
minimising the smooth convex function sum exp(A' m - 1) - b' m, whose gradient is A x - b and whose
Hessian is A diag(x) A'.

An inequality l <= a x <= h keeps its row, with s = a x held inside by a barrier
t log(s - l) + t log(h - s). Its multiplier is m = t / (s - l) - t / (h - s), so that s is known from
m in closed form, and the row adds -ds/dm to the Hessian's diagonal. As t -> 0 the barrier vanishes;
the gap it leaves is at most 2 t a row.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import qdldl
import scipy.sparse as sp

from ..errors import unknown_name
from .linear_form import LinearForm
from .status import Answer, Status

__all__ = ["DualNewton", "factorised", "newton"]

#: Relative size of the diagonal that makes redundant rows (one a bucket, Theorem 3) factor.
RIDGE = 1e-11


@dataclass(frozen=True)
class DualNewton:
    """The dual Newton method with a sparse LDL' factor of the Hessian."""

    name: str = "DUAL_NEWTON"
    installed: bool = True

    def solve(self, form: LinearForm, start: np.ndarray | None = None, **options: Any) -> Answer:
        """Maximise sum entr(x) over ``low <= matrix @ x <= high``; options are those of :func:`newton`."""
        if unknown := set(options) - {"tolerance", "max_iterations", "verbose"}:
            raise unknown_name("option of DUAL_NEWTON", min(unknown), ["tolerance", "max_iterations", "verbose"])
        return newton(form, start, **options)


def newton(
    form: LinearForm,
    start: np.ndarray | None = None,
    *,
    tolerance: float = 1e-9,
    max_iterations: int = 200,
    verbose: bool = False,
) -> Answer:
    """Maximise sum entr(x) over ``low <= matrix @ x <= high``.

    Parameters
    ----------
    form : LinearForm
    start : ndarray, optional
        Multipliers to start from.
    tolerance : float
        Largest row residual, and duality gap, at which to stop, people.
    max_iterations : int
    verbose : bool
        Print a line an iteration.
    """
    begun = time.perf_counter()
    dual = _Dual(form)
    m = np.zeros(form.shape[0]) if start is None else start.astype(float)
    n_ranges = int(dual.ranges.sum())
    barrier, last_barrier = (1.0, 1e-2 * tolerance / (2 * n_ranges)) if n_ranges else (0.0, 0.0)
    point = dual.at(m, barrier)
    status = Status.LIMIT
    for iteration in range(max_iterations + 1):
        residual, gap = dual.distance(m, point)
        if verbose:
            print(f"{iteration:4d}  residual {residual:9.2e}  gap {gap:9.2e} people  barrier {barrier:9.2e}")
        if residual <= tolerance and gap <= tolerance:
            status = Status.OPTIMAL
            break
        if iteration == max_iterations:
            break
        if barrier > last_barrier and np.abs(point.gradient).max() <= max(barrier, tolerance):
            barrier = max(barrier * 0.1, last_barrier)
            point = dual.at(m, barrier)
        step = -factorised(dual.hessian(point)).solve(point.gradient)
        moved = dual.descend(m, step, point, barrier)
        if moved is None:  # the dual function falls no further than its own rounding
            status = Status.FAILED
            break
        m, point = moved
    message = f"{status} after {iteration} iterations, residual {residual:.1e} people"
    return Answer(status, point.counts, m, iteration, 0.0, time.perf_counter() - begun, message)


@dataclass(frozen=True, eq=False)
class _Point:
    """The dual function at one set of multipliers."""

    value: float
    counts: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray  # what the inequalities add to the Hessian's diagonal


class _Dual:
    """The dual function of a linear form, with a barrier for its inequalities."""

    def __init__(self, form: LinearForm) -> None:
        self.form = form
        self.matrix = form.matrix
        self.transpose = sp.csr_array(form.matrix.T)
        self.ranges = ~form.is_equation
        # An open side is closed where no solution goes: all people at once in the row's terms, twice.
        far = 2 * max(float(np.abs(form.low[form.is_equation]).sum()), 1.0)
        self.low = np.where(np.isfinite(form.low), form.low, -far)[self.ranges]
        self.high = np.where(np.isfinite(form.high), form.high, far)[self.ranges]

    def at(self, m: np.ndarray, barrier: float) -> _Point:
        """Evaluate the dual function and its derivatives."""
        with np.errstate(over="ignore"):
            counts = np.exp(self.transpose @ m - 1)
        value, target = counts.sum(), self.form.low.copy()
        curvature = np.zeros(len(m))
        if self.ranges.any():
            mine, half = m[self.ranges], (self.high - self.low) / 2
            # s is the root of m = t / (s - l) - t / (h - s); its distances to the nearer and the farther
            # end are written without differences, which would lose all digits of a tight row.
            pull = np.abs(mine) * half
            root = np.hypot(barrier, pull)
            farther = half * (barrier + root + pull) / (barrier + root)
            nearer = farther * barrier / (root + pull)
            above, below = np.where(mine > 0, [nearer, farther], [farther, nearer])
            target[self.ranges] = np.where(mine > 0, self.low + above, self.high - below)
            value += barrier * (np.log(above) + np.log(below)).sum()
            curvature[self.ranges] = 1 / (barrier / above**2 + barrier / below**2)
        with np.errstate(over="ignore", invalid="ignore"):
            return _Point(float(value - target @ m), counts, self.matrix @ counts - target, curvature)

    def distance(self, m: np.ndarray, point: _Point) -> tuple[float, float]:
        """Largest row residual, and the gap: slack of the inequalities times their multipliers, people."""
        value = self.matrix @ point.counts
        residual = np.maximum(self.form.low - value, value - self.form.high).max(initial=0.0)
        mine, held = m[self.ranges], value[self.ranges]
        slack = np.where(mine > 0, held - self.low, self.high - held)
        return float(residual), float(np.abs(mine) @ np.maximum(slack, 0.0))

    def hessian(self, point: _Point) -> sp.csc_array:
        """A diag(x) A' with the inequalities' curvature and a ridge on its diagonal."""
        gram = sp.csc_array(self.matrix @ sp.diags_array(point.counts) @ self.transpose)
        diagonal = gram.diagonal()
        return sp.csc_array(gram + sp.diags_array(point.curvature + RIDGE * np.maximum(diagonal, 1e-12)))

    def descend(
        self, m: np.ndarray, step: np.ndarray, point: _Point, barrier: float
    ) -> tuple[np.ndarray, _Point] | None:
        """Go along a Newton step, halving it until the dual function falls enough (Armijo); None if it never does."""
        slope, length = float(point.gradient @ step), 1.0
        rounding = 1e-14 * max(abs(point.value), 1.0)
        while length > 1e-10:
            trial = m + length * step
            there = self.at(trial, barrier)
            if there.value <= point.value + 1e-4 * length * slope + rounding:
                return trial, there
            length /= 2
        return None


def factorised(matrix: sp.csc_array) -> qdldl.Solver:
    """Factor a symmetric matrix by sparse LDL'."""
    return qdldl.Solver(sp.csc_matrix(sp.triu(matrix, format="csc")), upper=True)
