"""DUAL_NEWTON: a projected Newton method on the dual of maximum entropy.

Each iteration solves a Newton system over the equations and the inequalities that are predicted to be active. A
multiplier of an inequality that would change its sign is projected to 0 (Bertsekas, 1982, for bounds; inequalities are
treated as by Kazama and Tsujii, 2003). Terms that are zero in every solution are removed as soon as a step proves it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from typing import Any

import numpy as np

from .answer import Answer, Status
from .dual import Dual, Point
from .duality import consequence, empty_terms, exact_rmatvec
from .form import LinearForm
from .monitor import Monitor, Steps, solved_together
from .parameters import LINE_SEARCH, NEWTON, VANISHING_TERMS
from .schur import System, detect_blocks, newton_system

__all__ = [
    "facial_reduction",
    "newton",
    "newton_steps",
    "vanished_terms",
]

# The line search: Armijo's rule along a projected Newton step, with kinks and with terms that tend to zero.


def line_search(dual: Dual, point: Point, step: np.ndarray) -> tuple[Point | None, float, bool]:
    """Backtrack along a step until the dual function decreases enough, or lengthen it while the function decreases.

    A term that is zero in every solution shrinks by a factor e in every Newton step, so that Newton's method never
    ends. The function then still decreases at the end of the step, which is doubled for as long as that is so.

    Returns
    -------
    trial : Point or None
        None if no multiple of the step decreases the function enough.
    length : float
        The multiple of the step that was taken.
    falls_beyond : bool
        Whether the function still decreased at the end of the whole step, so that a longer one was tried.
    """
    length, slope = 1.0, dual.directional_derivative(point, step)
    first = first_kink(dual, point, step)
    trial, cap = trial_point(dual, point, step, length), 1.0
    while not _decreases_enough(dual, point, trial):
        if length == 1:  # where a count is far too small, the Newton step is far too long
            cap = step_cap(dual, step)
        # The function is smooth up to the first kink. A step that ends there makes that inequality inactive.
        length = first if length / 2 < first < length else min(length / 2, cap)
        if length < LINE_SEARCH.shortest * cap or not slope < 0:
            return None, 0.0, False
        trial = trial_point(dual, point, step, length)
    is_flat = slope >= -LINE_SEARCH.flat * point.rounding
    if length < 1 or is_flat or slope_at_trial(dual, point, trial, step) >= LINE_SEARCH.steep * slope:
        return trial, length, False
    while length < LINE_SEARCH.longest:
        further = trial_point(dual, point, step, 2 * length)
        if not slope_at_trial(dual, point, further, step) < 0:
            break
        trial, length = further, 2 * length
    return trial, length, True


def _decreases_enough(dual: Dual, point: Point, trial: Point) -> bool:
    """Armijo's rule for a projected step (Bertsekas): the predicted decrease is that of the projected displacement."""
    predicted = min(dual.directional_derivative(point, trial.m - point.m), 0.0)
    return bool(trial.value <= point.value + LINE_SEARCH.armijo * predicted + point.rounding)


def step_cap(dual: Dual, step: np.ndarray) -> float:
    """The largest multiple of a step, at most 1, by which no count grows by more than a factor exp(largest_rise)."""
    rise = dual.largest_rise(step)
    return min(1.0, LINE_SEARCH.largest_rise / rise) if rise > 0 else 1.0


def trial_point(dual: Dual, point: Point, step: np.ndarray, length: float) -> Point:
    """The projected point m + length * step: a multiplier of an inequality that would change its sign becomes 0.

    One that would exceed the slope of the cost of a soft row becomes that slope.
    """
    m = point.m + length * step
    m[dual.inequalities[point.m[dual.inequalities] * m[dual.inequalities] < 0]] = 0.0
    if dual.has_soft_rows:
        m = np.clip(m, -dual.slope, dual.slope)
    return dual.at(m)


def first_kink(dual: Dual, point: Point, step: np.ndarray) -> float:
    """The multiple of a step just past where a first multiplier of an inequality reaches 0; infinite if none does."""
    crosses = dual.inequalities[point.m[dual.inequalities] * step[dual.inequalities] < 0]
    return float((1 + LINE_SEARCH.past_kink) * np.min(-point.m[crosses] / step[crosses], initial=np.inf))


def slope_at_trial(dual: Dual, point: Point, trial: Point, step: np.ndarray) -> float:
    """The directional derivative at a trial point, along the components of the step that were not projected."""
    projected = dual.is_inequality & (trial.m == 0) & (point.m != 0)
    if dual.has_soft_rows:
        projected |= np.abs(trial.m) >= dual.slope
    return dual.directional_derivative(trial, np.where(projected, 0.0, step))


# Terms that are zero in every solution, found from the recession direction that Newton's steps approach.
#
# Such a term shrinks by a factor e in every Newton step, without end. What successive steps have in common is a
# recession direction of the dual function that proves the term to be zero (see :mod:`.presolve.zero_proofs`), once its
# effect on the other terms has been removed.
#
# Least squares find one direction for many terms at once (facial reduction: the solutions lie on a face of the orthant;
# Borwein and Wolkowicz, 1981), given an answer in which these terms are small.


#: Records: a term that holds less may be zero.
SMALL = 1e-6
#: The same once the tolerance is met, and how often candidates may then be given up: each forms a Schur complement.
VANISHED, VANISHED_ROUNDS = 1e-9, 3
#: Weight of such a term in the least squares of facial reduction; a term that must not change has 1.
WEIGHT = 1e-5
#: A small term that the direction lowers by less, where 1 is sought, is no longer a candidate.
LOWERED = 0.3
#: Rounds, with fewer and fewer candidates.
ROUNDS = 20
#: Times in each round that the change of the other terms is subtracted.
REPAIRS = 3
#: Relative precision of the least-squares solutions, and their relative ridge.
LEAST_SQUARES, RIDGE = 1e-8, 1e-14


def recession_direction(
    dual: Dual, point: Point, step: np.ndarray, system: System, active: np.ndarray
) -> np.ndarray | None:
    """Turn a Newton step into a recession direction that proves some terms to be zero.

    Parameters
    ----------
    dual : Dual
    point : Point
    step : ndarray
        The Newton step from that point.
    system : System
        The Newton system that it solves.
    active : ndarray of int
        The rows of knowledge that were active in it.

    Returns
    -------
    ndarray, one a row, or None
        None if nothing is proved.

    Notes
    -----
    Each round subtracts the least-squares solution of A' d = (change of the other terms), weighted by their counts.
    """
    form, alive = dual.form, ~dual.removed
    if dual.has_soft_rows:  # they can be missed, and prove nothing
        step, active = form.extend_to_soft(step[: form.n_hard]), active[active < form.n_hard - form.n_published]
    change = np.where(alive, form.rmatvec(step), 0.0)
    shrinks = change < VANISHING_TERMS.shrinks
    if not (shrinks & (point.counts < VANISHING_TERMS.small)).any():
        return None
    others = np.where(shrinks, 0.0, point.counts)
    of_newton, factor = system.schur, system.at(others, VANISHING_TERMS.ridge, point.curvature)
    direction, largest_allowed = step, VANISHING_TERMS.most_moved * min(np.abs(change).max(), 1.0)
    for _ in range(VANISHING_TERMS.rounds):
        rest = np.where(shrinks, 0.0, change)
        largest = np.abs(rest).max(initial=0.0)
        if largest <= VANISHING_TERMS.nothing * np.abs(change).max() or largest > largest_allowed:
            break
        largest_allowed = 0.1 * largest
        direction = direction - factor.solve(form.matvec(others * rest), active, VANISHING_TERMS.precision)
        change = np.where(alive, form.rmatvec(direction), 0.0)
    system.schur = of_newton or system.schur  # one that was formed here preconditions Newton's own systems badly
    return direction if empty_terms(form, direction, dual.removed, np.zeros(len(change))).any() else None


def vanished_terms(dual: Dual, point: Point) -> np.ndarray | None:
    """Find a recession direction that proves zero some terms that hold next to nothing once the tolerance is met.

    The steps can meet the tolerance before their recession directions show. The certificate cannot tell rows apart that
    differ by such terms alone.
    """
    form, removed = dual.form, dual.removed
    vanished = ~removed & (point.counts < VANISHED * np.minimum(form.weights, 1.0))
    if dual.has_soft_rows or not vanished.any():
        return None
    counts = np.where(vanished, 0.0, 1.0)
    proof = facial_reduction(form, counts, VANISHED_ROUNDS, removed)
    if not proof.any():
        return None
    # The side of a row with P = 1e-9 is as small as such terms, but it is not the rounding error of 0.
    found = consequence(form, proof, *exact_rmatvec(form, proof), removed, np.zeros(len(removed)))
    if -found.beta > found.error or not empty_terms(form, proof, removed, np.zeros(len(removed))).any():
        return None
    return proof


def facial_reduction(
    form: LinearForm, counts: np.ndarray, rounds: int = ROUNDS, removed: np.ndarray | None = None
) -> np.ndarray:
    """Find a direction d with (A' d)_j < 0 for as many small terms as possible, and (A' d)_j = 0 for all other terms.

    Parameters
    ----------
    form : LinearForm
    counts : ndarray, one a term
        An answer, records; it may be imprecise. Small counts are candidates, which the direction then proves zero.
    rounds : int
        How often terms that the direction hardly lowers may be given up.
    removed : ndarray of bool, one a term, optional
        Terms that are known to be zero; (A' d)_j is arbitrary there.

    Returns
    -------
    ndarray, one a row
        Zeros if there is no such direction. It is 0 for inequalities.

    Notes
    -----
    The least-squares solution of

        min  v sum over small terms ((A' d)_j + 1)^2  +  sum over all other terms (A' d)_j^2

    with the weight v = ``WEIGHT``. Small terms that d hardly lowers are counted among the others, and
    the problem is solved again, until d lowers all small terms that remain.
    """
    known = np.zeros(len(counts), dtype=bool) if removed is None else removed
    system, is_small = newton_system(form), ~known & (counts < SMALL)
    equations = np.flatnonzero(form.is_equation[form.n_published :])

    def solution(weights: np.ndarray, aim: np.ndarray) -> np.ndarray:
        """The least-squares solution of (A' d)_j = aim_j."""
        right = np.where(form.is_equation, form.matvec(weights * aim), 0.0)
        return system.at(weights, RIDGE).solve(right, equations, LEAST_SQUARES)

    for _ in range(rounds):
        if not is_small.any():
            break
        direction = solution(np.where(is_small, WEIGHT, ~known), np.where(is_small, -1.0, 0.0))
        for _ in range(REPAIRS):
            direction = direction - solution(np.where(is_small | known, 0.0, 1.0), form.rmatvec(direction))
        lowered = is_small & (form.rmatvec(direction) < -LOWERED)
        if np.array_equal(lowered, is_small):
            return direction
        is_small = lowered
    return np.zeros(form.shape[0])


def newton(
    form: LinearForm,
    start: np.ndarray | None = None,
    *,
    tolerance: float = 1e-9,
    max_iterations: int = 200,
    monitor: Monitor | None = None,
) -> Answer:
    """Maximise sum x log(w / x), less the costs of soft rows, over ``low <= matrix @ x <= high``.

    Parameters
    ----------
    form : LinearForm
    start : ndarray, optional
        Multipliers to start from, by default 0; they are projected to the dual cone.
    tolerance : float
        Largest row residual, and complementarity gap, at which to stop, records; raised to what rounding allows.
    max_iterations : int
    monitor : Monitor, optional
        Is told every iteration, and may stop the method.
    """
    steps = newton_steps(form, start, tolerance=tolerance, max_iterations=max_iterations)
    return solved_together([steps], monitor or Monitor())[0][0]


def newton_steps(
    form: LinearForm, start: np.ndarray | None = None, *, tolerance: float = 1e-9, max_iterations: int = 200
) -> Steps:
    """The same, step by step: it gives a line of the log before each step, and is sent whether to stop."""
    begun = time.perf_counter()
    form, order = detect_blocks(form)
    start = np.zeros(form.shape[0]) if start is None else form.project_to_dual_cone(start[order].astype(float))
    find_vanished = vanished_terms if tolerance else None
    tolerance = max(tolerance, NEWTON.rounding * float(np.abs(form.low[form.is_equation]).max(initial=0.0)))
    system, dual = newton_system(form), Dual(form)
    status, iteration, point = yield from descent(
        dual, system, start, tolerance, max_iterations, find_vanished=find_vanished
    )
    residual = dual.residual_and_gap(point)[0]
    message = f"{status} after {iteration} iterations, residual {residual:.1e} people"
    seconds = time.perf_counter() - begun
    m, *proofs = (_in_original_order(vector, order) for vector in (point.m, *dual.proofs))
    return Answer(status, point.counts, m, iteration, 0.0, seconds, message, proofs)


def descent(
    dual: Dual,
    system: System,
    start: np.ndarray,
    tolerance: float,
    max_iterations: int,
    find_zeros: Callable[..., Any] = recession_direction,
    loosest: float = NEWTON.loosest,
    find_vanished: Callable[[Dual, Point], np.ndarray | None] | None = None,
) -> Generator[Mapping[str, float], bool, tuple[Status, int, Point]]:
    """Minimise a dual function, step by step; it returns why it ended, after how many iterations, and the best point.

    Parameters
    ----------
    dual : Dual
    system : System
        The Newton systems of its Hessian.
    start : ndarray, one a row
        Multipliers in the dual cone.
    tolerance, max_iterations
        As in :func:`newton`.
    find_zeros : callable
        Turns a step into a proof that terms are zero, see :func:`.recession_direction`.
    loosest : float
        Loosest relative precision of a step.
    find_vanished : callable, optional
        Finds such a proof once the tolerance is met, see :func:`.vanished_terms`.
    """
    point = dual.at(start)
    last_residual, best, best_m, stalled = 0.0, np.inf, start, 0
    next_search, pause = 0, 1  # the iteration from which on zeros are looked for, and how long not to, once in vain
    status, is_damped, fall, within = Status.LIMIT, False, 0.0, 0
    for iteration in range(max_iterations + 1):
        residual, gap = dual.residual_and_gap(point)
        error, last_residual = max(residual, gap), last_residual or residual
        # What the function may still fall by: where terms vanish, residuals and it shrink in the same proportion.
        left = fall * min(residual / last_residual, 1.0) if last_residual else 0.0
        line = {"residual": residual, "gap": gap, "dual": point.value, "dropped": dual.n_removed}
        stop = yield {**line, "products": system.products}
        stalled = stalled + 1 if error > 0.9 * best else 0
        if error < best:
            best, best_m = error, point.m
        within += error <= tolerance
        is_reached = error <= tolerance and (left <= NEWTON.gap or within > NEWTON.patience)
        if is_reached and find_vanished is not None and (proof := find_vanished(dual, point)) is not None:
            dual.remove_zeros(proof)  # the other terms take up what these held, in further steps
            point, best, within, is_reached = dual.at(point.m), np.inf, 0, False
        if is_reached or (stalled >= NEWTON.patience and best <= NEWTON.stalled * tolerance):
            status = Status.OPTIMAL
            break
        if stop or iteration == max_iterations:
            break
        dual.start_from(point)
        precision = forcing_term(residual / last_residual if last_residual else 0.0, iteration)
        precision = min(max(precision, min(NEWTON.enough * tolerance / error, NEWTON.loosest)), loosest)
        last_residual = residual
        for ridge in NEWTON.ridges:
            step, active = newton_direction(dual, point, system, ridge, precision, is_damped=is_damped)
            trial, length, falls_beyond = line_search(dual, point, step)
            if trial is not None:
                break
        else:  # no step decreases the dual function by more than its rounding error
            status = Status.OPTIMAL if best <= NEWTON.stalled * tolerance else Status.FAILED
            break
        is_damped |= length < 1
        fall = -dual.directional_derivative(point, step) / 2
        if falls_beyond and iteration >= next_search and max(dual.residual_and_gap(trial)) > tolerance:
            proof = find_zeros(dual, point, step, system, active)
            pause = 1 if proof is not None else 2 * pause
            next_search = iteration + pause
            if proof is not None:
                dual.remove_zeros(proof)
                trial = dual.at(trial.m)
        point = trial
    if not error <= max(best, NEWTON.near * tolerance):  # the last step may have increased the error
        point = dual.at(best_m)
    return status, iteration, point


def forcing_term(reduction: float, iteration: int) -> float:
    """The relative precision of the next step, from the last reduction of the residual (Eisenstat and Walker, 1996)."""
    if reduction < 0.5 or iteration == 0:
        return float(np.clip(reduction**2, NEWTON.tightest, NEWTON.loosest))
    return NEWTON.careful


def newton_direction(
    dual: Dual, point: Point, system: System, ridge: float, precision: float, *, is_damped: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Newton's direction over the equations and the active inequalities, and which rows of knowledge are active.

    An inequality whose multiplier is 0 and would get the wrong sign, and a soft row whose multiplier would exceed the
    slope of its cost, are made inactive, and the system is solved again. Once a step was shortened (`is_damped`), terms
    that have nearly vanished are changed less.
    """
    active, sign = dual.active_set(point)
    gradient = np.where(active, dual.negative_gradient(point, sign), 0.0)
    residual = np.abs(gradient).max(initial=0.0)
    floor = NEWTON.floor * residual * (1.0 if is_damped else min(residual, 1.0))
    factor = system.at(dual.weights(point, floor), ridge, point.curvature)
    for _ in range(NEWTON.repairs):
        known = np.flatnonzero(active[dual.form.n_published :])
        step = factor.solve(np.where(active, gradient, 0.0), known, precision)
        leaving = active & dual.leaves_cone(point.m, sign, step)
        if not leaving.any():
            break
        active &= ~leaving
    else:
        step[leaving] = 0.0
    return step, known


def _in_original_order(vector: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Undo a permutation of the rows."""
    found = np.empty_like(vector)
    found[order] = vector
    return found
