"""DUAL_LBFGS: a limited-memory quasi-Newton method on the dual of maximum entropy, the solver that the papers use.

With x = w exp(A' m - 1) for multipliers m, it minimises

    sum w exp(A' m - 1) - b' free - low' up + high' down,    up, down >= 0.

An equation A x = b has one free multiplier. An inequality has a multiplier up >= 0 for its low side and a multiplier
down >= 0 for its high side, where these are finite; its m is up - down (Kazama and Tsujii, 2003). SciPy's L-BFGS-B
keeps the bounds on the multipliers. A soft row adds v m^2 / 2, and bounds its multipliers by the slope u of its cost
(:mod:`..rows.penalties`).

The method needs no factorisation and little memory, but many more iterations than Newton's method.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, OptimizeResult, minimize

from ..answer import Answer, Status
from ..monitoring.monitor import Monitor
from ..parameters.dual_methods import DUAL_FUNCTION
from ..program.linear_form import LinearForm

__all__ = ["lbfgs"]


def lbfgs(
    form: LinearForm,
    start: np.ndarray | None = None,
    *,
    tolerance: float = 1e-9,
    max_iterations: int = 5_000,
    memory: int = 20,
    monitor: Monitor | None = None,
) -> Answer:
    """Maximise sum x log(w / x), less the costs of soft rows, over ``low <= matrix @ x <= high``.

    Parameters
    ----------
    form : LinearForm
    start : ndarray, optional
        Multipliers to start from.
    tolerance : float
        Largest element of the projected gradient at which to stop, records. An element of the gradient is the residual
        of a row.
    max_iterations : int
    memory : int
        Corrections that are stored (m of L-BFGS-B, SciPy's ``maxcor``).
    monitor : Monitor, optional
        Is told every iteration, and may stop the method.

    Notes
    -----
    L-BFGS-B stops when the function no longer decreases in floating point, which is far from the tolerance if the value
    of the function is large. It is then restarted on the function less its value at that point: the difference keeps
    the digits that the value itself loses to rounding. Restarts end when one does not halve the gradient.
    """
    begun = time.perf_counter()
    dual = BoundedDual(form, np.zeros(form.shape[0]) if start is None else start.astype(float))
    watched = Watched(dual, monitor or Monitor())
    status, iterations, last = Status.INACCURATE, 0, np.inf
    while not (gradient := dual.projected_gradient(dual.origin, dual.at(dual.origin)[1])) <= tolerance:
        if dual.value < dual.lower_bound:
            status = Status.INFEASIBLE
            break
        if iterations >= max_iterations or watched.monitor.stopped:
            status = Status.LIMIT
            break
        if not gradient <= last / 2:  # no further progress is possible in floating point
            break
        last = gradient
        found = minimize(
            watched.at,
            dual.origin,
            jac=True,
            method="L-BFGS-B",
            bounds=dual.bounds,
            callback=watched.iteration,
            options={
                "maxiter": max_iterations - iterations,
                "maxfun": sys.maxsize,
                "maxcor": memory,
                "gtol": tolerance,
                "ftol": 0.0,
            },
        )
        iterations += found.nit
        # A multiplier that a gradient step would take to its bound is set to it: otherwise it times its slack is a gap.
        stepped = found.x - found.jac
        at_bound = np.where(stepped <= dual.bounds.lb, dual.bounds.lb, dual.bounds.ub)
        dual.move_origin(np.where((stepped <= dual.bounds.lb) | (stepped >= dual.bounds.ub), at_bound, found.x))
    else:
        status = Status.OPTIMAL
    message = f"{status} after {iterations} iterations, gradient {gradient:.1e} people"
    if status is Status.INFEASIBLE:
        return Answer(status, None, None, iterations, 0.0, time.perf_counter() - begun, message, log=watched.log)
    m = dual.signs @ dual.origin
    with np.errstate(over="ignore"):
        counts = np.exp(form.exponent(m))
    return Answer(status, counts, m, iterations, 0.0, time.perf_counter() - begun, message, log=watched.log)


class Watched:
    """A dual function whose evaluations are remembered until SciPy says which of them an iteration ended with.

    Attributes
    ----------
    log : list of dict
        A line an iteration.
    """

    def __init__(self, dual: BoundedDual, monitor: Monitor) -> None:
        self.dual, self.monitor = dual, monitor
        self.log: list[dict[str, float]] = []
        self._last: tuple[np.ndarray, np.ndarray] = (np.empty(0), np.empty(0))

    def at(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """Evaluate the function and its gradient."""
        value, gradient = self.dual.at(point)
        self._last = point.copy(), gradient
        return value, gradient

    def iteration(self, intermediate_result: OptimizeResult) -> None:
        """Log an iteration; by SciPy's protocol, StopIteration ends the method."""
        x, value = intermediate_result.x, self.dual.value + float(intermediate_result.fun)
        # A line search ends with the point that it accepts; if not, the gradient there is computed once more.
        gradient = self._last[1] if np.array_equal(self._last[0], x) else self.dual.at(x)[1]
        residual, number = self.dual.projected_gradient(x, gradient), len(self.log) + 1
        line = {"iteration": number, "residual": residual, "dual": value, "seconds": self.monitor.seconds}
        self.log.append(line)
        if self.monitor.tell(line) or value < self.dual.lower_bound:
            raise StopIteration


class BoundedDual:
    """The dual function of free and of non-negative multipliers, less its value at a reference point, the origin.

    Attributes
    ----------
    signs : csr_array, shape (rows, multipliers)
        m is this times the free, upward and downward multipliers.
    origin : ndarray
        The reference point.
    value : float
        The dual function there.
    lower_bound : float
        The dual function is nowhere less than this if the rows are feasible.
    """

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
        self.variance, slope = np.zeros(len(rows)), np.full(len(rows), np.inf)
        if form.penalties is not None:
            soft = rows >= form.n_hard
            self.variance[soft] = form.penalties.variance[rows[soft] - form.n_hard]
            slope[soft] = form.penalties.slope[rows[soft] - form.n_hard]
        self.bounds = Bounds(np.where(np.arange(len(rows)) >= len(free), 0.0, -slope), slope)
        total = max(1.0, np.abs(self.target).sum())
        self.largest_exponent = DUAL_FUNCTION.linear_beyond + np.log(total)
        # Feasible counts have an entropy above this, and by weak duality no larger one than the dual function: where
        # the dual function is less, the rows are infeasible.
        self.lower_bound = total * (np.log(form.weights.min(initial=1.0)) - self.largest_exponent)
        if form.penalties is not None:  # costs can be of any size
            self.lower_bound = -np.inf
        point = np.concatenate([start[free], np.maximum(start[up], 0.0), np.maximum(-start[down], 0.0)])
        self.move_origin(np.clip(point, self.bounds.lb, self.bounds.ub))

    def move_origin(self, point: np.ndarray) -> None:
        """Take another point as the reference."""
        self.origin = point
        self.exponent = self.form.exponent(self.signs @ point)
        self.exponential = self.extended_exp(self.exponent)[0]
        self.value = float(self.exponential.sum() - self.target @ point + self.variance @ point**2 / 2)

    def extended_exp(self, exponent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The exponential function, continued by its tangent beyond the largest exponent, and its derivative.

        A line search may try exponents that overflow. So continued, the dual function remains convex, finite and
        smooth, and has the same minimum, where no count is that large.
        """
        within = np.minimum(exponent, self.largest_exponent)
        counts = np.exp(within)
        return counts * (1 + exponent - within), counts

    def at(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """Evaluate the function, less its value at the origin, and its gradient, records."""
        step = point - self.origin
        change = self.transpose @ step
        exponent = self.exponent + change
        exponential, counts = self.extended_exp(exponent)
        small = (np.abs(change) < 1) & (np.maximum(exponent, self.exponent) < self.largest_exponent)
        # x - x0 = x0 (exp(change) - 1), without the rounding error of a difference of nearly equal numbers.
        by_expm1 = self.exponential * np.expm1(np.where(small, change, 0.0))
        increase = np.where(small, by_expm1, exponential - self.exponential)
        conjugate = float((self.variance * (point + self.origin)) @ step) / 2
        gradient = self.matrix @ counts - self.target + self.variance * point
        return float(increase.sum() - self.target @ step) + conjugate, gradient

    def projected_gradient(self, point: np.ndarray, gradient: np.ndarray) -> float:
        """Largest element of the projected gradient: the step -gradient, cut off at the bounds of the multipliers."""
        projected = np.clip(-gradient, self.bounds.lb - point, self.bounds.ub - point)
        return float(np.abs(projected).max(initial=0.0))
