"""DUAL_NEWTON: projected Newton's method on the dual of maximum entropy.

Each iteration solves a Newton system over the equations and the inequalities that take part, and
stops a multiplier that would change its sign at 0 (Bertsekas, 1982, for bounds; Kazama and Tsujii's
treatment of inequalities). Cells that must vanish are dropped as soon as a step proves it.
"""

from __future__ import annotations

import time

import numpy as np

from ..answer import Answer, Status
from ..linear_algebra.newton_system import System, newton_system
from ..program.block_detection import detect_blocks
from ..program.linear_form import LinearForm
from ..tolerances import NEWTON
from .dual import Dual, Point
from .line_search import line_search
from .vanishing_terms import vanishing

__all__ = ["newton"]


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # where rows contradict each other, multipliers diverge
def newton(
    form: LinearForm,
    start: np.ndarray | None = None,
    *,
    tolerance: float = 1e-9,
    max_iterations: int = 200,
    verbose: bool = False,
) -> Answer:
    """Maximise sum x log(w / x) over ``low <= matrix @ x <= high``.

    Parameters
    ----------
    form : LinearForm
    start : ndarray, optional
        Multipliers to start from; what would press from an open side is left out.
    tolerance : float
        Largest row residual, and duality gap, at which to stop, people; not below what rounding allows.
    max_iterations : int
    verbose : bool
        Print a line an iteration.
    """
    begun = time.perf_counter()
    posed, (form, order) = form, detect_blocks(form)
    start = np.zeros(form.shape[0]) if start is None else form.project_to_dual_cone(start[order].astype(float))
    tolerance = max(tolerance, NEWTON.rounding * float(np.abs(form.low[form.is_equation]).max(initial=0.0)))
    system, dual = newton_system(form), Dual(form)
    point = dual.at(start)
    before, best, at_best, stuck, log = 0.0, np.inf, start, 0, []
    status = Status.LIMIT
    for iteration in range(max_iterations + 1):
        residual, gap = dual.distance(point)
        distance, before = max(residual, gap), before or residual
        log.append(
            {"iteration": iteration, "residual": residual, "gap": gap, "dual": point.value,
             "dropped": int(dual.removed.sum()), "products": system.products, "seconds": time.perf_counter() - begun}
        )  # fmt: skip
        if verbose:
            print("  ".join(f"{name} {value:<12.6g}" for name, value in log[-1].items()))
        stuck = stuck + 1 if distance > 0.9 * best else 0
        if distance < best:
            best, at_best = distance, point.m
        if distance <= tolerance or (stuck >= NEWTON.patience and best <= NEWTON.stalled * tolerance):
            status = Status.OPTIMAL
            break
        if iteration == max_iterations:
            break
        fell = residual / before if before else 0.0
        precision = (
            float(np.clip(fell**2, NEWTON.tightest, NEWTON.loosest)) if fell < 0.5 or iteration == 0 else NEWTON.careful
        )
        before = residual
        for ridge in NEWTON.ridges:
            step, active = direction(dual, point, system, ridge, precision)
            moved, lengthened = line_search(dual, point, step)
            if moved is not None:
                break
        else:  # the dual function falls no further than its own rounding
            status = Status.OPTIMAL if best <= NEWTON.stalled * tolerance else Status.FAILED
            break
        if lengthened and max(dual.distance(moved)) > tolerance:
            proof = vanishing(dual, point, step, system, active)
            if proof is not None:
                dual.remove(proof)
                moved = dual.at(moved.m)
        point = moved
    if not distance <= best:  # the last step may have led away again
        point = dual.at(at_best)
        residual = dual.distance(point)[0]
    message = f"{status} after {iteration} iterations, residual {residual:.1e} people"
    seconds = time.perf_counter() - begun
    m, *proofs = (_put_back(vector, order) for vector in (point.m, *dual.proofs))
    schur = system.schur if form is posed else None
    return Answer(status, point.counts, m, iteration, 0.0, seconds, message, proofs, log, schur)


def direction(
    dual: Dual, point: Point, system: System, ridge: float, precision: float
) -> tuple[np.ndarray, np.ndarray]:
    """Newton's direction over the equations and the inequalities that take part, and which knowledge does."""
    active, sign = dual.active_sides(point)
    gradient = dual.gradient(point, sign)
    off = np.abs(gradient).max(initial=0.0)
    curved = np.maximum(point.counts, np.where(dual.removed, 0.0, NEWTON.floor * off * min(off, 1.0)))
    for _ in range(NEWTON.repairs):
        known = np.flatnonzero(active[dual.form.n_published :])
        step = system.factor(curved, known, ridge)(np.where(active, gradient, 0.0), precision)
        wrong = active & (point.m == 0) & (sign * step < 0)
        if not wrong.any():
            break
        active &= ~wrong
    else:
        step[wrong] = 0.0
    return step, known


def _put_back(vector: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Undo an order of the rows."""
    found = np.empty_like(vector)
    found[order] = vector
    return found
