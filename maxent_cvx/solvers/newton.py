"""DUAL_NEWTON: a projected Newton method on the dual of maximum entropy.

The dual function g of :mod:`.dual` is minimised over the multipliers m. Each iteration

1. predicts which inequalities are active, and solves the Newton system A diag(x) A' d = b - A x over these and the
   equations (:mod:`.schur`), with a precision that depends on the last reduction of the residual (Eisenstat and Walker,
   1996). A row whose multiplier would leave its cone is made inactive, and the system is solved again;
2. searches along m + t d, where a multiplier of an inequality that would change its sign becomes 0 (Bertsekas, 1982,
   for bounds; inequalities are treated as by Kazama and Tsujii, 2003), for a point that satisfies Armijo's rule;
3. if g still decreases at the end of the step, doubles the step, and derives a recession direction of g from it, which
   proves that terms are zero in every solution. Such a term is removed: in every further Newton step it would only
   shrink by a factor e, so that the method would never end.

If steps become tiny several times, which means that the prediction of the active inequalities changes in every step, or
if there are too many steps, an interior-point method (:mod:`.interior_point`), which needs no prediction, finds a start
near the solution.

It stops when the largest residual of a row and the complementarity gap are within the tolerance, or when rounding
prevents any improvement.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .answer import Answer, Status
from .dual import Dual, Point
from .duality import empty_terms
from .form import LinearForm
from .interior_point import log_point, multipliers_near_solution
from .monitor import Monitor
from .schur import System, detect_blocks, newton_system

# Values without a source were tuned on the random models of tests/benchmarks/honesty.py and on Adult.

#: Relative to the dual function at zero multipliers: a start with a larger value is replaced by zeros. After rows had
#: been removed, the value at a start was 1e136 times as large. The starts of an entropic penalty (:mod:`.linear`), at
#: which it is 2.5 times as large, are kept, because its extrapolation requires them.
WORST_START = 1e6
#: How often a system is solved again without rows whose multipliers would leave their cones.
REPAIRED = 20
#: Iterations without improvement after which rounding is assumed to prevent any.
PATIENCE = 5
#: Multiple of the tolerance, and records, at which an answer is then accepted; the certificate bounds its error.
STALLED, SOLVED = 1e3, 1e-8
#: Relative to the largest right-hand side: the smallest residual that can be required.
ROUNDING = 1e-13
#: Relative ridges of the Hessian, tried in turn; a large ridge shortens the step if not all rows can be active.
RIDGES = (1e-13, 1e-9, 1e-6, 1e-3, 1.0)
#: Records, times the residual and, if that is below one, times its square: the least count of a term in the Hessian. A
#: step through nearly zero terms would make some of them arbitrarily large (Levenberg 1944, Marquardt 1963). After a
#: step was shortened by this, the factor is the residual only.
FLOOR = 1e-6
#: Largest and smallest relative precision of a step: the square of the residual's last reduction, clipped to these.
LOOSEST, TIGHTEST = 0.2, 1e-6
#: Records: if the function may decrease by more, up to `PATIENCE` iterations follow after the tolerance is met, because
#: vanishing terms may be too large even if small. A bound for a group of one record is then sqrt(1e-14 / 2) = 7e-8.
GAP = 1e-14

# The line search: Armijo's rule along a projected Newton step, with kinks and with terms that tend to zero.

#: Required share of the decrease predicted by the slope (Armijo 1966; Bertsekas 1982).
ARMIJO = 1e-4
#: Relative to the slope at the start of a step: a step is lengthened if the slope at its end is at least this.
STEEP = 0.2
#: Shortest and longest multiple of a Newton step.
SHORTEST, LONGEST = 1e-6, 64.0
#: The multiple of a Newton step below which a step is tiny, and the largest number of tiny steps before the
#: interior-point method follows. Rules of Adult with hundreds of inequalities have at most one, rounded tables one in
#: three from the start.
TINY, MOST_TINY_STEPS = 1e-3, 1
#: Steps after which the interior-point method follows as well, for example if rows are badly scaled. Of 596 random models,
#: 18 reached a limit of 200 steps without it, and 4 with it.
MOST_STEPS = 100
#: Records: once the error has been smaller, Newton's method ends soon, and steps may be tiny due to rounding. A choice.
NEARLY_SOLVED = 1e-3


def line_search(dual: Dual, point: Point, step: np.ndarray) -> tuple[Point | None, float, bool]:
    """Shorten a step until the dual function decreases enough, or double it while the function decreases at its end.

    Return the point (None if there is none), the multiple of the step, and whether the full step was lengthened.
    """
    length, slope = 1.0, dual.directional_derivative(point, step)
    trial = trial_point(dual, point, step, length)
    while not _decreases_enough(dual, point, trial):
        length /= 2
        if length < SHORTEST or not slope < 0:
            return None, 0.0, False
        trial = trial_point(dual, point, step, length)
    if length < 1 or slope_at_trial(dual, point, trial, step) >= STEEP * slope:
        return trial, length, False
    while length < LONGEST:
        further = trial_point(dual, point, step, 2 * length)
        if not slope_at_trial(dual, point, further, step) < 0:
            break
        trial, length = further, 2 * length
    return trial, length, True


def _decreases_enough(dual: Dual, point: Point, trial: Point) -> bool:
    """Apply Armijo's rule to a projected step: the predicted decrease is that of the projected displacement."""
    predicted = min(dual.directional_derivative(point, trial.m - point.m), 0.0)
    return bool(trial.value <= point.value + ARMIJO * predicted + point.rounding)


def trial_point(dual: Dual, point: Point, step: np.ndarray, length: float) -> Point:
    """Return the projected m + length * step: multipliers of inequalities that would change their sign become 0.

    Multipliers that would exceed the slope of the cost of a soft row become that slope.
    """
    m = point.m + length * step
    m[dual.inequalities[point.m[dual.inequalities] * m[dual.inequalities] < 0]] = 0.0
    return dual.at(np.clip(m, -dual.slope, dual.slope))


def slope_at_trial(dual: Dual, point: Point, trial: Point, step: np.ndarray) -> float:
    """Return the directional derivative at a trial point, along the components of the step that were not projected."""
    projected = dual.is_inequality & (trial.m == 0) & (point.m != 0) | (np.abs(trial.m) >= dual.slope)
    return dual.directional_derivative(trial, np.where(projected, 0.0, step))


# Terms that are zero in every solution, derived from the recession direction that Newton's steps approach.
#
# The common part of successive steps is a recession direction d of g: (A' d)_j < 0 for vanishing terms, 0 for all
# others, and d' (sides) >= 0. A Newton step is such a direction except for its effect on the other terms. Each round
# subtracts the least-squares solution of A' d = (change of the other terms), weighted by their counts, until that
# effect is within rounding; :mod:`.duality` then proves which terms d makes zero.
#
#: Largest change of the logarithm of a count in one Newton step if the count tends to zero; the limit is -1.
SHRINKS = -0.5
#: Records: terms that tend to zero are smaller.
VANISHING = 1e-2
#: Largest change of other terms, as a share of the largest change or of 1, the limit for vanishing terms. If it is
#: exceeded, the steps have not yet converged to a direction.
RECESSION_MOVED = 0.25
#: Rounds of removing the effect of a direction on other terms, and relative precision of each solution.
RECESSION_ROUNDS, RECESSION_PRECISION = 6, 1e-4
#: Relative to the largest change: smaller changes of other terms are rounding errors.
NOTHING = 1e-15


def recession_direction(
    dual: Dual, point: Point, step: np.ndarray, system: System, active: np.ndarray
) -> np.ndarray | None:
    """Turn a Newton step, the solution of `system` over the `active` rows of knowledge, into a recession direction.

    It has one number per row; None if it proves no term to be zero.
    """
    form, alive = dual.form, ~dual.removed
    # Soft rows may be missed, and prove nothing.
    step, active = form.extend_to_soft(step[: form.n_hard]), active[active < form.n_hard - form.n_published]
    change = np.where(alive, form.rmatvec(step), 0.0)
    shrinks = change < SHRINKS
    if not (shrinks & (point.counts < VANISHING)).any():
        return None
    others = np.where(shrinks, 0.0, point.counts)
    of_newton, factor = system.schur, system.at(others, RIDGES[0], point.curvature)
    direction, largest_allowed = step, RECESSION_MOVED * min(np.abs(change).max(), 1.0)
    for _ in range(RECESSION_ROUNDS):
        rest = np.where(shrinks, 0.0, change)
        largest = np.abs(rest).max(initial=0.0)
        if largest <= NOTHING * np.abs(change).max() or largest > largest_allowed:
            break
        largest_allowed = 0.1 * largest
        direction = direction - factor.solve(form.matvec(others * rest), active, RECESSION_PRECISION)
        change = np.where(alive, form.rmatvec(direction), 0.0)
    system.schur = of_newton or system.schur  # S as formed here is a bad preconditioner for Newton's systems
    return direction if empty_terms(form, direction, dual.removed, np.zeros(len(change))).any() else None


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # multipliers may diverge, and weights vanish
def newton(
    form: LinearForm,
    start: np.ndarray | None = None,
    *,
    tolerance: float = 1e-9,
    max_iterations: int = 200,
    monitor: Monitor | None = None,
) -> Answer:
    """Maximise sum x log(w / x), less the costs of soft rows, over ``low <= A x <= high``.

    The start is `start`, projected to the dual cone. The method stops when residual and complementarity gap are at most
    `tolerance`, in records, or the smallest value that rounding permits.
    """
    begun, monitor = time.perf_counter(), monitor or Monitor()
    form, order = detect_blocks(form)
    start = np.zeros(form.shape[0]) if start is None else form.project_to_dual_cone(start[order].astype(float))
    tolerance = max(tolerance, ROUNDING * float(np.abs(form.low[form.is_equation]).max(initial=0.0)))
    dual = Dual(form)
    system = newton_system(form)
    log: list[dict[str, float]] = []
    descend = partial(descent, dual, system, tolerance)
    has_kinks = len(dual.inequalities) > 0 or bool(np.isfinite(dual.slope).any())
    most_tiny_steps = MOST_TINY_STEPS if has_kinks else math.inf
    status, point = descend(min(max_iterations, MOST_STEPS), monitor, log, start, most_tiny_steps=most_tiny_steps)
    if status is Status.LIMIT and len(log) <= max_iterations and not monitor.stopped:
        start = multipliers_near_solution(dual, system, start, max_iterations, monitor, log)
        status, point = (status, dual.at(start)) if monitor.stopped else descend(max_iterations, monitor, log, start)
    iteration, residual = len(log) - 1, dual.residual_and_gap(point)[0]
    message = f"{status} after {iteration} iterations, residual {residual:.1e} people"
    seconds = time.perf_counter() - begun
    back = np.argsort(order)
    m, *proofs = (vector[back] for vector in (point.m, *dual.proofs))
    return Answer(status, point.counts, m, iteration, 0.0, seconds, message, proofs, log)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # multipliers may diverge
def descent(
    dual: Dual,
    system: System,
    tolerance: float,
    max_iterations: int,
    monitor: Monitor,
    log: list[dict[str, float]],
    start: np.ndarray,
    *,
    find_zeros: Callable[..., Any] = recession_direction,
    loosest: float = LOOSEST,
    most_tiny_steps: float = math.inf,
) -> tuple[Status, Point]:
    """Minimise by Newton's method; return the status and the best point, and append a line per iteration to the log.

    `find_zeros` derives from a step a proof that terms are zero. The status is LIMIT after more than `most_tiny_steps`.
    """
    point = dual.at(start)
    # A start from another problem, or with vanishing terms, may be worse than zeros by many orders of magnitude.
    if start.any() and not point.value <= WORST_START * abs((origin := dual.at(np.zeros(len(start)))).value):
        start, point = origin.m, origin
    last_residual, error, best, best_m, stalled = 0.0, np.inf, np.inf, start, 0
    next_search, pause = 0, 1  # next iteration that searches zeros, and pause after a failed search
    status, is_damped, fall, within, n_tiny = Status.LIMIT, False, 0.0, 0, 0
    for iteration in range(len(log), max_iterations + 1):
        residual, gap, stop = log_point(log, dual, point, system, monitor)
        error, last_residual = max(residual, gap), last_residual or residual
        # Estimated remaining decrease: if terms vanish, it shrinks in proportion to the residuals.
        may_fall = fall * min(residual / last_residual, 1.0) if last_residual else 0.0
        stalled = stalled + 1 if error > 0.9 * best else 0  # iterations without a tenth of improvement
        if error < best:
            best, best_m = error, point.m
        within += error <= tolerance
        is_reached = error <= tolerance and (may_fall <= GAP or within > PATIENCE)
        if is_reached or (stalled >= PATIENCE and best <= max(STALLED * tolerance, SOLVED)):
            status = Status.OPTIMAL
            break
        if stop or iteration == max_iterations or n_tiny > most_tiny_steps:
            break
        dual.start_from(point)
        # The precision depends on the last reduction of the residual (Eisenstat and Walker, 1996).
        reduction, last_residual = residual / last_residual if last_residual else 0.0, residual
        precision = min(float(np.clip(reduction**2, TIGHTEST, LOOSEST)), loosest)
        for ridge in RIDGES:  # larger ridges shorten the step, if not all rows can be active together
            step, active = newton_direction(dual, point, system, ridge, precision, is_damped=is_damped)
            trial, length, falls_beyond = line_search(dual, point, step)
            if trial is not None:
                break
        else:  # no step decreases the dual function by more than its rounding error
            status = Status.OPTIMAL if best <= STALLED * tolerance else Status.FAILED
            break
        is_damped |= length < 1
        n_tiny += length < TINY and best > NEARLY_SOLVED
        # Newton's decrement: the decrease of the quadratic model over a full step.
        fall = -dual.directional_derivative(point, step) / 2
        if falls_beyond and iteration >= next_search and max(dual.residual_and_gap(trial)) > tolerance:
            proof = find_zeros(dual, point, step, system, active)
            # A failed search costs a few products with S: after each failure, the pause is doubled.
            pause = 1 if proof is not None else 2 * pause
            next_search = iteration + pause
            if proof is not None:
                dual.remove_zeros(proof)
                trial = dual.at(trial.m)
        point = trial
    if not error <= max(best, tolerance):  # the last step may have increased the error
        point = dual.at(best_m)
    return status, point


def newton_direction(
    dual: Dual, point: Point, system: System, ridge: float, precision: float, *, is_damped: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return Newton's direction over the equations and active inequalities, and the active rows of knowledge.

    An inequality whose multiplier is 0 and would get the wrong sign, or a soft row whose multiplier would exceed the
    slope of its cost, is made inactive, and the system is solved again. After a shortened step (`is_damped`), nearly
    vanished terms are changed less.
    """
    active, sign = dual.active_set(point)
    gradient = np.where(active, dual.negative_gradient(point, sign), 0.0)
    residual = np.abs(gradient / dual.largest_coefficient).max(initial=0.0)  # records: presolve may have scaled rows up
    floor = FLOOR * residual * (1.0 if is_damped else min(residual, 1.0))  # the Hessian is exact in the limit
    factor = system.at(dual.weights(point, floor), ridge, point.curvature)
    for _ in range(REPAIRED):
        known = np.flatnonzero(active[dual.form.n_published :])
        step = factor.solve(np.where(active, gradient, 0.0), known, precision)
        leaving = active & dual.leaves_cone(point.m, sign, step)
        if not leaving.any():
            break
        active &= ~leaving
    else:
        step[leaving] = 0.0
    return step, known
