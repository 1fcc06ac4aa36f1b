"""A primal-dual interior-point method for entropies with inequalities, bounds and variables without entropy.

    maximise sum y (c - log y) - q' v - v' P v / 2  over  low <= M y + N v <= high  and  l <= y <= u,

less the costs of missing soft rows (:mod:`.costs`). The optimality conditions are solved for y, v, the multipliers m of
the rows, the slacks and multipliers of both sides of inequalities, and the multipliers of bounds, by Newton's method
along the central path, where products of slacks and multipliers equal mu, with Mehrotra's (1992) predictor and
corrector. The logarithm is expanded to second order. As entropy and barrier of y > 0 are together self-concordant
(Nesterov and Nemirovski, 1994, section 5.1), few steps suffice from any start, even for large costs: 14 to 40 in our
measurements. In the end y = exp(c - 1 + M' m), clipped to the bounds.

An inequality has the multiplier m = z_0 - z_1 with z > 0 and slacks s > 0, one of each per finite side. A soft row is
missed by the derivative of the conjugate of its cost and, if multipliers are at most the slope of the cost, |m| <= u, by
the difference of two numbers r > 0 with r (u -+ m) = mu. With l = -m, and all of these eliminated, the linear system of
a step is

    D dy + M' dl = a,   P dv + N' dl = b,   M dy + N dv - W dl = e,

with diagonal D and W. Without v, dy is eliminated, too: (M D^-1 M' + W) dl = M D^-1 a - e.

References
----------
Mehrotra, S. (1992). On the implementation of a primal-dual interior point method. SIAM Journal on Optimization 2,
575-601.
Nesterov, Y. and Nemirovski, A. (1994). Interior-point polynomial algorithms in convex programming. SIAM.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .answer import Status
from .dual import Dual, Point
from .monitor import Monitor
from .schur import System, ldl_factor, newton_system

# All constants assume that an average term is 1. Values without a source were tuned on transport problems and rounded tables.

#: Step length as a share of the distance to the boundary.
LONGEST = 0.995
#: Nats: the largest second-order term of a logarithm that is not truncated.
LARGEST_CORRECTION = 2.0
#: Iterations without improvement after which the method stops, and those after the error has been at most NEARLY_SOLVED,
#: where rounding prevents more.
PATIENCE, LAST_PATIENCE, NEARLY_SOLVED = 12, 2, 1e-8
#: Relative ridge of the matrix for initial multipliers.
RIDGE = 1e-13
#: W of a row without sides, whose multiplier does not change.
LEFT_OUT = 1e30

#: Signs of the two sides of a row, low and high: s = sign (side - value), and l = sum of sign z.
SIGN = np.array([[-1.0], [1.0]])

#: Function of a vector that returns a vector, such as a product with M, or a solution.
Apply = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Program:
    """A problem in units in which an average term is about 1."""

    values: Apply  # M y
    exponent: Apply  # c - 1 + M' m
    low: np.ndarray
    high: np.ndarray
    others: sp.csr_array  # N
    cost: np.ndarray  # q
    curvature: sp.csc_array  # P
    least: np.ndarray  # l
    most: np.ndarray  # u
    slope: np.ndarray  # the largest multiplier of every row, infinite for hard rows
    # The first and second derivatives of the conjugates of the costs of rows, at multipliers m; 0 for hard rows.
    conjugate: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


#: The solution dy, dv and dl of the linear system of a step, as a function of its right-hand sides a, b and e.
Solve = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
#: The linear system: a function of the diagonals D and W, which factorises it.
LinearSystem = Callable[[np.ndarray, np.ndarray], Solve]


def normal_system(values: Apply, adjoint: Apply, factor: Callable[[np.ndarray, np.ndarray], Apply]) -> LinearSystem:
    """Return the system without v, given M y, M' l, and factors of M diag(x) M' + W."""

    def factored(d: np.ndarray, w: np.ndarray) -> Solve:
        x = 1 / d
        solve_rows = factor(x, w)

        def solve(a: np.ndarray, b: np.ndarray, e: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            rows = solve_rows(values(x * a) - e)
            return x * (a - adjoint(rows)), b, rows

        return solve

    return factored


class State(NamedTuple):
    """A point, or a direction. Distances from bounds are stored, because differences would lose all digits."""

    y: np.ndarray
    v: np.ndarray
    slack: np.ndarray  # s, shape (2, inequalities); 1 for infinite sides
    missed: np.ndarray  # r, shape (2, soft rows with a finite slope)
    low: np.ndarray  # y - l
    high: np.ndarray  # u - y, for the terms with an upper bound
    rows: np.ndarray  # l = -m, one per row
    sides: np.ndarray  # z, shape (2, inequalities); 0 for infinite sides
    margin: np.ndarray  # u + m and u - m, the factors of r
    below: np.ndarray  # multipliers of lower bounds
    above: np.ndarray  # multipliers of upper bounds

    def moved(self, step: State, primal: float, dual: float) -> State:
        """Return the point after a step with the given primal and dual lengths."""
        lengths = [primal] * 6 + [dual] * 5
        return State(*(part + length * move for part, length, move in zip(self, lengths, step, strict=True)))


class Residuals(NamedTuple):
    """The residuals of the optimality conditions for y and v, of the equations, and of the sides of inequalities."""

    y: np.ndarray
    v: np.ndarray
    rows: np.ndarray  # 0 for inequalities
    sides: np.ndarray


class InteriorPoint:
    """Mehrotra's predictor-corrector iterations."""

    def __init__(
        self,
        program: Program,
        system: LinearSystem,
        tolerance: float,
        is_precise: Callable[[State], bool] = lambda state: True,
    ) -> None:
        self.program, self.system, self.tolerance, self.is_precise = program, system, tolerance, is_precise
        self.is_equation = program.low == program.high
        finite = np.isfinite(np.stack([program.low, program.high]))
        self.loose = np.flatnonzero(~self.is_equation & finite.any(axis=0))
        self.without_side = ~self.is_equation & ~finite.any(axis=0)
        self.soft = np.flatnonzero(np.isfinite(program.slope) & ~self.without_side)
        self.finite = finite[:, self.loose]
        self.side = np.where(self.finite, np.stack([program.low, program.high])[:, self.loose], 0.0)
        self.bounded = np.flatnonzero(np.isfinite(program.most))
        self.degree = len(program.least) + len(self.bounded) + int(self.finite.sum()) + 2 * len(self.soft)

    def start(self, y: np.ndarray, rows: np.ndarray) -> State:
        """Return a start with terms y between their bounds, and multipliers -m of the equations."""
        program, rows = self.program, rows.copy()
        high = (program.most - y)[self.bounded]
        sides = np.where(self.finite, np.minimum(1.0, program.slope[self.loose] / 4), 0.0)
        if len(program.cost):  # multipliers of inequalities that balance costs of v, by least squares
            others = sp.csr_array(program.others[self.loose])
            factor = ldl_factor(sp.csc_array(others.T @ others), RIDGE)
            sides = np.where(self.finite, np.maximum(-SIGN * (others @ factor.solve(program.cost)), 1.0), 0.0)
        rows[self.loose] = (SIGN * sides).sum(axis=0)
        slack = SIGN * (self.side - program.values(y)[self.loose])
        margin = program.slope[self.soft] - SIGN * rows[self.soft]
        pull = program.exponent(-rows) - np.log(y)
        return State(
            y, np.zeros(len(program.cost)), np.where(self.finite, np.maximum(slack, 1.0), 1.0), 1 / margin, y - program.least,
            high, rows, sides, margin, np.maximum(-pull, 0.0) + 1 / y, np.maximum(pull[self.bounded], 0.0) + 1 / high,
        )  # fmt: skip

    def run(
        self, state: State, tell: Callable[[int, State, float, float], bool], most: int
    ) -> tuple[Status, State, int]:
        """Iterate; return the status, the best point, and the number of iterations.

        `tell` is called with the number, the point, its error and its gap; if it returns True, the method stops.
        """
        best, least, waited = state, np.inf, 0
        least_violation, is_last = np.inf, False
        for iteration in range(most + 1):
            residuals, mu = self.residuals(state), self.mu(state)
            # Relative to the slack and the side, whose rounding errors are not violations.
            of_sides = residuals.sides / (1 + state.slack + np.abs(self.side))
            violation = max(float(np.abs(part).max(initial=0.0)) for part in (residuals.rows, of_sides))
            balance = max(float((state.y * np.abs(residuals.y)).max()), float(np.abs(residuals.v).max(initial=0.0)))
            gap = mu * self.degree / len(state.y)
            error = max(violation, balance, gap)
            improves = error < 0.9 * least or (least > NEARLY_SOLVED and violation < 0.9 * least_violation)
            waited, least_violation = 0 if improves else waited + 1, min(violation, least_violation)
            if error < least:
                best, least = state, error
            stop = tell(iteration, state, max(violation, balance), gap)
            if error <= self.tolerance and self.is_precise(state):
                if is_last or iteration == most:
                    return Status.OPTIMAL, state, iteration
                is_last = True  # one more step, since large costs multiply the residual of the rows
            elif is_last:
                return Status.OPTIMAL, best, iteration
            if stop or iteration == most:
                return Status.LIMIT, best, iteration
            patience = LAST_PATIENCE if least <= NEARLY_SOLVED else PATIENCE
            trial = None if waited > patience else self.step(state, residuals, mu)
            if trial is None:
                return Status.FAILED, best, iteration
            state = trial
        raise AssertionError

    def mu(self, state: State) -> float:
        """Return the mean product of slacks and multipliers."""
        total = state.below @ state.low + (state.slack * state.sides).sum() + state.above @ state.high
        return float(total + (state.missed * state.margin).sum()) / self.degree

    def residuals(self, state: State) -> Residuals:
        """Return the residuals of the optimality conditions."""
        program = self.program
        of_y = program.exponent(-state.rows) - np.log(state.y) + state.below
        of_y[self.bounded] -= state.above
        of_v = -(program.cost + program.curvature @ state.v + program.others.T @ state.rows)
        # Values of rows, plus the amounts by which soft rows may be missed.
        values = program.values(state.y) + program.others @ state.v + program.conjugate(-state.rows)[0]
        values[self.soft] -= (SIGN * state.missed).sum(axis=0)
        of_sides = np.where(self.finite, SIGN * (self.side - values[self.loose]) - state.slack, 0.0)
        return Residuals(of_y, of_v, np.where(self.is_equation, program.low - values, 0.0), of_sides)

    def step(self, state: State, residuals: Residuals, mu: float) -> State | None:
        """Return the point after one predictor-corrector step; None if the step fails."""
        if mu == 0:  # all products have underflowed
            return None
        d, w = 1 / state.y + state.below / state.low, self.program.conjugate(-state.rows)[1]
        d[self.bounded] += state.above / state.high
        w[self.loose] += 1 / (state.sides / state.slack).sum(axis=0)
        w[self.soft] += (state.missed / state.margin).sum(axis=0)
        w[self.without_side] = LEFT_OUT
        try:
            self.solve = self.system(d, w)
        except (ValueError, RuntimeError, np.linalg.LinAlgError):
            return None
        # Predictor: products become 0. Its step length determines the centring parameter (Mehrotra's cube).
        affine = self.direction(state, residuals, (0.0, 0.0, 0.0, 0.0))
        primal, dual = self.lengths(state, affine)
        centring = mu * min(self.mu(state.moved(affine, primal, dual)) / mu, 1.0) ** 3
        # Corrector: products become mu minus their second-order terms, and log y has its own, (dy / y)^2 / 2.
        products = (
            centring - affine.below * affine.low,
            centring - affine.above * affine.high,
            centring - affine.slack * affine.sides,
            centring - affine.missed * affine.margin,
        )
        curved = np.minimum((affine.y / state.y) ** 2 / 2, LARGEST_CORRECTION)
        combined = self.direction(state, residuals._replace(y=residuals.y + primal * curved), products)
        primal, dual = (min(1.0, LONGEST * length) for length in self.lengths(state, combined))
        moved = state.moved(combined, primal, dual)
        return moved if np.isfinite(moved.y).all() and np.isfinite(moved.rows).all() else None

    def direction(self, state: State, residuals: Residuals, products: tuple[np.ndarray | float, ...]) -> State:
        """Solve the linearised conditions, in which products of slacks and multipliers become the given values."""
        slack, sides = state.slack, state.sides
        lower, upper = products[0] / state.low - state.below, products[1] / state.high - state.above
        a, e = residuals.y + lower, residuals.rows.copy()
        a[self.bounded] -= upper
        # If values of rows change by t, s changes by the residual minus sign t, and z by pull + sign ratio t. So l changes
        # by the sum of sign pull, plus t times the sum of both ratios, from which t follows.
        ratio = sides / slack
        push = np.where(self.finite, products[2] / slack - sides, 0.0)
        pull, total = (SIGN * (push - ratio * residuals.sides)).sum(axis=0), ratio.sum(axis=0)
        e[self.loose] = -pull / total
        of_missed = products[3] / state.margin - state.missed
        e[self.soft] += (SIGN * of_missed).sum(axis=0)
        y, v, rows = self.solve(a, residuals.v, e)
        change = (rows[self.loose] - pull) / total
        of_slack = np.where(self.finite, residuals.sides - SIGN * change, 0.0)
        of_sides = push - ratio * of_slack
        # At the nearer side, with z / s = 10^15, this is a rounding error; the changes of l and of the other z determine it.
        nearer, each = np.argmax(ratio, axis=0), np.arange(len(self.loose))
        of_sides[nearer, each] = SIGN[nearer, 0] * rows[self.loose] + of_sides[1 - nearer, each]
        of_slack = np.where(ratio > 1, products[2] / sides - slack - of_sides / ratio, of_slack)
        margin = -SIGN * rows[self.soft]
        return State(
            y, v, of_slack, of_missed - state.missed / state.margin * margin, y, -y[self.bounded], rows, of_sides, margin,
            lower - state.below / state.low * y, upper + state.above / state.high * y[self.bounded],
        )  # fmt: skip

    def lengths(self, state: State, step: State) -> tuple[float, float]:
        """Return the largest multiples of a step, at most 1, for which slacks and multipliers remain positive."""

        def longest(*names: str) -> float:
            parts = [(getattr(state, name), getattr(step, name)) for name in names]
            falls = [np.where(part > 0, -move / part, 0.0) for part, move in parts]  # infinite sides have no multiplier
            return min(float(1 / max(1.0, float(fall.max(initial=0.0)))) for fall in falls)

        return longest("low", "high", "slack", "missed"), longest("below", "above", "sides", "margin")


# The method for a linear form: multipliers near the solution, where the steps of Newton's method become tiny.

#: Nats per term: the error at which the method stops; Newton's method then has little left to do. With 1e-10, a twentieth of
#: the time is saved; with 1e-8, 4 of 15 models with intervals of 1e-8 to 1e-4 are refused.
TOLERANCE = 1e-12
#: Records, in units of the average term, between which terms are at the start.
NEAREST, FURTHEST = 1e-4, 1e4
#: Relative ridge of the linear system.
SYSTEM_RIDGE = 1e-13
#: Relative precision of its solution: this share of the error, but between these limits. With the smallest precision in
#: every step, models with 1,000 intervals take half as long again, and one step in 30 more.
PRECISION_SHARE, PRECISION, LEAST_PRECISION = 1e-2, 1e-13, 1e-2


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def multipliers_near_solution(
    dual: Dual, system: System, start: np.ndarray, most_iterations: int, monitor: Monitor, log: list[dict[str, float]]
) -> np.ndarray:
    """Return multipliers near the solution of a form with inequalities or soft rows; append a line per step to the log."""
    form = dual.form
    if dual.n_removed:
        form = form.select_terms(np.flatnonzero(~dual.removed))
        system = newton_system(form)
    if not form.shape[1]:
        return start
    (n_rows, n_terms), penalties, equations = form.shape, form.penalties, form.is_equation
    # If all counts were equal, the value that satisfies the equations best.
    sums = form.matvec(np.ones(n_terms))[equations]
    total = float(sums @ form.low[equations])
    unit = total / float(sums @ sums) if total > 0 else 1.0
    log_weights = np.log(form.weights) - np.log(unit)

    def conjugate(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first, second = np.zeros((2, n_rows))
        if penalties is not None:
            _, first[form.n_hard :], second[form.n_hard :] = penalties.conjugate(m[form.n_hard :])
        return first / unit, second / unit

    program = Program(
        form.matvec, lambda m: form.rmatvec(m) + log_weights - 1, form.low / unit, form.high / unit,
        sp.csr_array((n_rows, 0)), np.empty(0), sp.csc_array((0, 0)), np.zeros(n_terms), np.full(n_terms, np.inf),
        dual.slope, conjugate,
    )  # fmt: skip
    known, precision = np.arange(n_rows - form.n_published), LEAST_PRECISION

    def factor(x: np.ndarray, w: np.ndarray) -> Apply:
        at = system.at(x, SYSTEM_RIDGE, w[form.n_published :])
        return lambda right: at.solve(right, known, precision)

    method = InteriorPoint(program, normal_system(form.matvec, form.rmatvec, factor), TOLERANCE)
    rows = np.where(equations & np.isinf(dual.slope), -start, 0.0)
    y = np.clip(np.exp(program.exponent(-rows)), NEAREST, FURTHEST)

    def tell(iteration: int, state: State, error: float, gap: float) -> bool:
        nonlocal precision
        precision = float(np.clip(PRECISION_SHARE * max(error, gap), PRECISION, LEAST_PRECISION))
        return log_point(log, dual, dual.at(-state.rows), system, monitor)[-1]

    _, best, _ = method.run(method.start(y, rows), tell, most_iterations - len(log))
    m = -best.rows
    # Where a multiplier is smaller than the slack, the row is inactive; Newton's method and the certificate would treat it
    # as active. A row is missed by more than the distance of |m| from its slope where |m| is the slope.
    at, soft = method.loose, method.soft
    m[at[np.abs(m[at]) <= np.where(m[at] > 0, *best.slack)]] = 0.0
    m[soft] = np.where((best.margin < best.missed).any(axis=0), np.copysign(program.slope[soft], m[soft]), m[soft])
    return m


def log_point(
    log: list[dict[str, float]], dual: Dual, point: Point, system: System, monitor: Monitor
) -> tuple[float, float, bool]:
    """Append an iteration to the log; return its residual and gap in records, and whether the monitor stops."""
    residual, gap = dual.residual_and_gap(point)
    log.append({
        "iteration": len(log), "residual": residual, "gap": gap, "dual": point.value, "dropped": dual.n_removed,
        "products": system.products, "seconds": monitor.seconds,
    })  # fmt: skip
    return residual, gap, monitor.tell(log[-1])
