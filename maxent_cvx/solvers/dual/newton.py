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
from ..program.block_detection import arranged
from ..program.linear_form import LinearForm
from .dual import Dual, Point
from .line_search import descend
from .vanishing_terms import vanishing

__all__ = ["newton"]

#: Times that a Newton system is solved again without the inequalities it would push the wrong way.
REPAIRS = 20
#: Where nothing has improved for so many iterations, or no step lowers the dual function any more, rounding has
#: won: an answer that is so many times the tolerance away is taken, and the certificate says what it is worth.
PATIENCE, STALLED = 5, 1e3
#: Rounding of a row's sum, relative to the largest one: less is not to be had.
ROUNDING = 1e-13
#: Relative ridges of the Hessian, tried in turn: the first leaves Newton's step as it is where rows are
#: redundant, the last makes the step short where inequalities that cannot all be tight are taken to be.
RIDGES = (1e-13, 1e-9, 1e-6, 1e-3, 1.0)
#: People that a term is taken to hold at least, where Newton's step is looked for, times the residual in people and,
#: where that is less than one, its square. A step through terms that have as good as vanished would raise some of
#: them beyond all bounds, and would have to be cut short for nothing; and the end is not slowed (Levenberg, Marquardt).
FLOOR = 1e-6
#: Loosest and tightest relative precision of a Newton step; between them it is the square of what the residual has
#: fallen by last: nothing is wasted before convergence is quadratic, and then it is not spoilt (Eisenstat and Walker).
LOOSEST, TIGHTEST = 0.2, 1e-6
#: That of a step after one that has not halved the residual: knowledge that is nearly implied by other needs it.
CAREFUL = 0.02


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
    posed, (form, order) = form, arranged(form)
    start = np.zeros(form.shape[0]) if start is None else form.closed(start[order].astype(float))
    tolerance = max(tolerance, ROUNDING * float(np.abs(form.low[form.is_equation]).max(initial=0.0)))
    system, dual = newton_system(form), Dual(form)
    point = dual.at(start)
    before, best, at_best, stuck, log = 0.0, np.inf, start, 0, []
    status = Status.LIMIT
    for iteration in range(max_iterations + 1):
        residual, gap = dual.distance(point)
        distance, before = max(residual, gap), before or residual
        log.append(
            {"iteration": iteration, "residual": residual, "gap": gap, "dual": point.value,
             "dropped": int(dual.dropped.sum()), "products": system.products, "seconds": time.perf_counter() - begun}
        )  # fmt: skip
        if verbose:
            print("  ".join(f"{name} {value:<12.6g}" for name, value in log[-1].items()))
        stuck = stuck + 1 if distance > 0.9 * best else 0
        if distance < best:
            best, at_best = distance, point.m
        if distance <= tolerance or (stuck >= PATIENCE and best <= STALLED * tolerance):
            status = Status.OPTIMAL
            break
        if iteration == max_iterations:
            break
        fell = residual / before if before else 0.0
        precision = float(np.clip(fell**2, TIGHTEST, LOOSEST)) if fell < 0.5 or iteration == 0 else CAREFUL
        before = residual
        for ridge in RIDGES:
            step, active = direction(dual, point, system, ridge, precision)
            moved, lengthened = descend(dual, point, step)
            if moved is not None:
                break
        else:  # the dual function falls no further than its own rounding
            status = Status.OPTIMAL if best <= STALLED * tolerance else Status.FAILED
            break
        if lengthened and max(dual.distance(moved)) > tolerance:
            proof = vanishing(dual, point, step, system, active)
            if proof is not None:
                dual.drop(proof)
                moved = dual.at(moved.m)
        point = moved
    if not distance <= best:  # the last step may have led away again
        point = dual.at(at_best)
        residual = dual.distance(point)[0]
    message = f"{status} after {iteration} iterations, residual {residual:.1e} people"
    seconds = time.perf_counter() - begun
    m, *proofs = (_put_back(vector, order) for vector in (point.m, *dual.proofs))
    corner = system.corner if form is posed else None
    return Answer(status, point.counts, m, iteration, 0.0, seconds, message, proofs, log, corner)


def direction(
    dual: Dual, point: Point, system: System, ridge: float, precision: float
) -> tuple[np.ndarray, np.ndarray]:
    """Newton's direction over the equations and the inequalities that take part, and which knowledge does."""
    active, sign = dual.pull(point)
    gradient = dual.gradient(point, sign)
    off = np.abs(gradient).max(initial=0.0)
    curved = np.maximum(point.counts, np.where(dual.dropped, 0.0, FLOOR * off * min(off, 1.0)))
    for _ in range(REPAIRS):
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
