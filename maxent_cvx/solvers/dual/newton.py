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

from ..answer import Answer, Status
from ..linear_algebra.newton_system import System, newton_system
from ..monitoring.monitor import Monitor
from ..monitoring.together import Steps, solved_together
from ..parameters.dual_methods import NEWTON
from ..program.block_detection import detect_blocks
from ..program.linear_form import LinearForm
from .dual import Dual, Point
from .line_search import line_search
from .vanishing_terms import recession_direction, vanished_terms

__all__ = ["newton", "newton_steps"]


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
    posed, (form, order) = form, detect_blocks(form)
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
    schur = system.schur if form is posed else None
    return Answer(status, point.counts, m, iteration, 0.0, seconds, message, proofs, corner=schur)


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
