"""DUAL_LBFGS: limited-memory quasi-Newton on the dual of maximum entropy, the papers' own solver.

With x = w exp(A' m - 1) for multipliers m, it minimises

    sum w exp(A' m - 1) - low' up + high' down - b' free,    up, down >= 0,

where a row has a free multiplier if it is an equation, one that presses up if it has a low side, and
one that presses down if it has a high side: a two-sided row has both, and m is their difference.
Inequalities are bounds on multipliers (Kazama and Tsujii, 2003), which SciPy's L-BFGS-B keeps.

It needs no factorisation and little memory, and many more iterations than Newton's method.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, OptimizeResult, minimize

from ..answer import Answer, Status
from ..program.linear_form import LinearForm
from ..tolerances import DUAL_FUNCTION

__all__ = ["lbfgs"]


def lbfgs(
    form: LinearForm,
    start: np.ndarray | None = None,
    *,
    tolerance: float = 1e-9,
    max_iterations: int = 5_000,
    memory: int = 20,
    verbose: bool = False,
) -> Answer:
    """Maximise sum x log(w / x) over ``low <= matrix @ x <= high``.

    Parameters
    ----------
    form : LinearForm
    start : ndarray, optional
        Multipliers to start from.
    tolerance : float
        Largest element of the projected gradient at which to stop, people: how far a row is from its value.
    max_iterations : int
    memory : int
        Steps that are remembered (L-BFGS-B's m, SciPy's maxcor).
    verbose : bool
        Print a line an iteration.

    Notes
    -----
    L-BFGS-B stops where the function falls no more in floating point, which is far from the tolerance
    if the function is large. It is then started again, with the function measured from that point: the
    difference keeps the digits that the function has lost. That goes on as long as the gradient halves.
    """
    begun = time.perf_counter()
    dual = BoundedDual(form, np.zeros(form.shape[0]) if start is None else start.astype(float))
    status, iterations, before = Status.INACCURATE, 0, np.inf

    def watch(intermediate_result: OptimizeResult) -> None:
        value = dual.value + intermediate_result.fun
        if verbose:
            gradient = dual.projected(intermediate_result.x, dual.at(intermediate_result.x)[1])
            print(f"gradient {gradient:9.2e} people  dual {value:.10f}")
        if value < dual.least:
            raise StopIteration

    while not (left := dual.projected(dual.origin, dual.at(dual.origin)[1])) <= tolerance:
        if dual.value < dual.least:
            status = Status.INFEASIBLE
            break
        if iterations >= max_iterations:
            status = Status.LIMIT
            break
        if not left <= before / 2:  # rounding has won
            break
        before = left
        found = minimize(
            dual.at,
            dual.origin,
            jac=True,
            method="L-BFGS-B",
            bounds=dual.bounds,
            callback=watch,
            options={
                "maxiter": max_iterations - iterations,
                "maxfun": sys.maxsize,
                "maxcor": memory,
                "gtol": tolerance,
                "ftol": 0.0,
            },
        )
        iterations += found.nit
        # A multiplier that a gradient step would take to its bound is there: else it costs its slack as a gap.
        dual.measure_from(np.where(dual.bounded & (found.x < found.jac), 0.0, found.x))
    else:
        status = Status.OPTIMAL
    message = f"{status} after {iterations} iterations, gradient {left:.1e} people"
    if status is Status.INFEASIBLE:
        return Answer(status, None, None, iterations, 0.0, time.perf_counter() - begun, message)
    m = dual.signs @ dual.origin
    with np.errstate(over="ignore"):
        counts = np.exp(form.exponent(m))
    return Answer(status, counts, m, iterations, 0.0, time.perf_counter() - begun, message)


class BoundedDual:
    """The dual function of free multipliers and of ones >= 0, measured from a point of its own, the origin."""

    def __init__(self, form: LinearForm, start: np.ndarray) -> None:
        self.form = form
        free, up, down = (
            np.flatnonzero(rows)
            for rows in (
                form.is_equation,
                ~form.is_equation & np.isfinite(form.low),
                ~form.is_equation & np.isfinite(form.high),
            )
        )
        rows, sign = np.concatenate([free, up, down]), np.ones(len(free) + len(up) + len(down))
        sign[len(free) + len(up) :] = -1
        self.signs = sp.csr_array((sign, (rows, np.arange(len(rows)))), shape=(form.shape[0], len(rows)))
        self.matrix = sp.csr_array(self.signs.T @ form.matrix)
        self.transpose = sp.csr_array(self.matrix.T)
        self.target = np.concatenate([form.low[free], form.low[up], -form.high[down]])
        self.bounded = np.arange(len(rows)) >= len(free)
        self.bounds = Bounds(np.where(self.bounded, 0.0, -np.inf), np.inf)
        everybody = max(1.0, np.abs(self.target).sum())
        self.most = DUAL_FUNCTION.linear_beyond + np.log(everybody)
        # Counts that satisfy the rows have more entropy than this, and no more than the function (weak duality):
        # where it is lower, there are no such counts.
        self.least = everybody * (np.log(form.weights.min(initial=1.0)) - self.most)
        self.measure_from(np.concatenate([start[free], np.maximum(start[up], 0.0), np.maximum(-start[down], 0.0)]))

    def measure_from(self, point: np.ndarray) -> None:
        """Move the origin."""
        self.origin = point
        self.exponent = self.form.exponent(self.signs @ point)
        self.term = self.terms(self.exponent)[0]
        self.value = float(self.term.sum() - self.target @ point)

    def terms(self, exponent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Raise e to exponents, and give the slopes, which are counts.

        A line search may try exponents that overflow. Beyond the largest the tangent goes on: the function
        stays convex, finite and smooth, and keeps its minimum, where no count is that large.
        """
        within = np.minimum(exponent, self.most)
        counts = np.exp(within)
        return counts * (1 + exponent - within), counts

    def at(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """Evaluate the function, less its value at the origin, and its gradient, people."""
        step = point - self.origin
        change = self.transpose @ step
        exponent = self.exponent + change
        term, counts = self.terms(exponent)
        small = (np.abs(change) < 1) & (np.maximum(exponent, self.exponent) < self.most)
        # x - x0 = x0 (exp(change) - 1), without the rounding of a difference of nearly equal numbers.
        risen = np.where(small, self.term * np.expm1(np.where(small, change, 0.0)), term - self.term)
        return float(risen.sum() - self.target @ step), self.matrix @ counts - self.target

    def projected(self, point: np.ndarray, gradient: np.ndarray) -> float:
        """Largest element of the gradient that a bound does not hold back, people."""
        return float(np.abs(np.where(self.bounded, np.minimum(gradient, point), gradient)).max(initial=0.0))
