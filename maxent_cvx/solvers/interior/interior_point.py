"""An interior-point method for quadratic programs over zero, non-negative and exponential cones.

    minimise x' P x / 2 + q' x  over  A x + s = b, s in K,

by the homogeneous embedding of Goulart and Chen (2024), in which a problem without a solution ends with its proof:

    P x + A' z + q tau = 0,   A x + s = b tau,   x' P x / tau + q' x + b' z + kappa = 0,   s in K, z in K*.

Mehrotra's predictor and corrector lead along the central path s z = mu; the exponential cones are scaled by primal-dual
pairs (:mod:`.exponential_cone`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..answer import Status
from ..monitoring.monitor import Monitor
from ..parameters.dual_methods import INTERIOR
from .equilibration import equilibrated
from .exponential_cone import CENTRE, correction, dual_gradient, is_inside, proximity, scaling
from .kkt_system import KktSystem

__all__ = ["InteriorAnswer", "solve_interior"]


class InteriorAnswer(NamedTuple):
    """How the method ended.

    Attributes
    ----------
    status : Status
        OPTIMAL, LIMIT, FAILED; INFEASIBLE with a proof z in `dual`, of A' z = 0 and b' z < 0.
    is_unbounded : bool
        Whether x is a direction without an end: P x = 0, A x + s = 0 and q' x < 0.
    x, dual : ndarray
    iterations : int
    """

    status: Status
    is_unbounded: bool
    x: np.ndarray
    dual: np.ndarray
    iterations: int


@dataclass
class _State:
    """A point of the embedding, or a direction."""

    x: np.ndarray
    z: np.ndarray
    s: np.ndarray
    tau: float
    kappa: float

    def moved(self, step: _State, by: float) -> _State:
        return _State(
            self.x + by * step.x, self.z + by * step.z, self.s + by * step.s,
            self.tau + by * step.tau, self.kappa + by * step.kappa,
        )  # fmt: skip


def solve_interior(
    P: sp.csc_array, q: np.ndarray, A: sp.csc_array, b: np.ndarray, cones: tuple[int, int], *,
    tolerance: float = INTERIOR.tolerance, max_iterations: int = 200, monitor: Monitor | None = None,
) -> InteriorAnswer:  # fmt: skip
    """Minimise x' P x / 2 + q' x over A x + s = b, s in a product of cones.

    Parameters
    ----------
    P, A : csc_array
    q, b : ndarray
    cones : (int, int)
        Rows of equations, and of inequalities; all other rows are triples of exponential cones.
    tolerance : float
        Relative residuals and gap at which to stop.
    max_iterations : int
    monitor : Monitor, optional
        Is told every iteration, and may stop the method.
    """
    monitor = monitor or Monitor()
    scaled = equilibrated(P, q, A, b, cones[0] + cones[1])
    method = _Embedding(scaled.P, scaled.q, scaled.A, scaled.b, cones)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        status, is_unbounded, point, iterations = method.run(tolerance, max_iterations, monitor)
    per = 1.0 if status is Status.INFEASIBLE or is_unbounded else point.tau
    x, dual = scaled.unit * scaled.columns * point.x / per, scaled.rows * point.z / (per * scaled.cost)
    return InteriorAnswer(status, is_unbounded, x, dual, iterations)


class _Embedding:
    """The iterations on equilibrated data."""

    def __init__(self, P: sp.csc_array, q: np.ndarray, A: sp.csc_array, b: np.ndarray, cones: tuple[int, int]) -> None:
        self.P, self.q, self.A, self.b = P, q, A, b
        self.n_zero, self.n_linear = cones[0], cones[0] + cones[1]
        self.degree = cones[1] + len(b) - self.n_linear
        self.system = KktSystem(P, A, self.n_linear)
        self.A_t = self.system.A_t

    def start(self) -> _State:
        """The centre of all cones."""
        s = np.ones(len(self.b))
        s[: self.n_zero] = 0.0
        s[self.n_linear :] = np.tile(CENTRE, (len(s) - self.n_linear) // 3)
        return _State(np.zeros(len(self.q)), s.copy(), s, 1.0, 1.0)

    def run(self, tolerance: float, max_iterations: int, monitor: Monitor) -> tuple[Status, bool, _State, int]:
        """Iterate; the status, whether the problem is unbounded, the last point, and the iterations."""
        point = self.start()
        best, best_error, worse = point, np.inf, 0
        for iteration in range(max_iterations + 1):
            residuals = self.residuals(point)
            primal, dual, gap = self.errors(point, residuals)
            error = max(primal, dual, gap)
            if error < best_error:
                best, best_error, worse = point, error, 0
            else:
                worse += 1
            line = {"residual": max(primal, dual), "gap": gap, "dual": 0.0, "dropped": 0, "products": 0}
            stop = monitor.tell({"iteration": iteration, "parts": 1, **line, "seconds": monitor.seconds})
            if error <= tolerance:
                return Status.OPTIMAL, False, point, iteration
            if (verdict := self.certificate(point)) is not None:
                return (
                    Status.INFEASIBLE if verdict == "infeasible" else Status.FAILED,
                    verdict != "infeasible",
                    point,
                    (iteration),
                )
            if stop or iteration == max_iterations:
                return Status.LIMIT, False, best, iteration
            trial = self.step(point, residuals)
            near = best_error <= INTERIOR.stalled * tolerance
            if trial is None or worse > (INTERIOR.short_patience if near else INTERIOR.patience):
                return Status.OPTIMAL if near else Status.FAILED, False, best, iteration
            point = trial
        raise AssertionError

    def residuals(self, point: _State) -> tuple[np.ndarray, np.ndarray, float]:
        """What is missing in the three equations of the embedding."""
        curved = self.P @ point.x
        first = curved + self.A_t @ point.z + self.q * point.tau
        second = self.A @ point.x + point.s - self.b * point.tau
        third = float(point.x @ curved) / point.tau + float(self.q @ point.x) + float(self.b @ point.z) + point.kappa
        return first, second, third

    def errors(self, point: _State, residuals: tuple[np.ndarray, np.ndarray, float]) -> tuple[float, float, float]:
        """Relative residuals and gap of the solution that a point stands for."""
        t = point.tau
        curved = float(point.x @ (self.P @ point.x)) / t**2
        value, bound = curved / 2 + float(self.q @ point.x) / t, -curved / 2 - float(self.b @ point.z) / t

        def largest(vector: np.ndarray) -> float:
            return float(np.abs(vector).max(initial=0.0))

        primal = largest(residuals[1]) / t / (1 + max(largest(self.b), (largest(point.x) + largest(point.s)) / t))
        dual = largest(residuals[0]) / t / (1 + max(largest(self.q), (largest(point.x) + largest(point.z)) / t))
        return primal, dual, abs(value - bound) / (1 + min(abs(value), abs(bound)))

    def certificate(self, point: _State) -> str | None:
        """Whether a point proves that there is no solution: none at all, or none that is best."""
        ray, size = float(self.b @ point.z), INTERIOR.certified
        if ray < 0 and np.abs(self.A_t @ point.z).max(initial=0.0) <= size * -ray:
            return "infeasible"
        fall = float(self.q @ point.x)
        if fall < 0:
            off = max(np.abs(self.P @ point.x).max(initial=0.0), np.abs(self.A @ point.x + point.s).max(initial=0.0))
            if off <= size * -fall:
                return "unbounded"
        return None

    def step(self, point: _State, residuals: tuple[np.ndarray, np.ndarray, float]) -> _State | None:
        """One predictor and corrector step; None if no step stays inside the cones."""
        k, z0 = self.n_linear, self.n_zero
        mu = (float(point.s @ point.z) + point.tau * point.kappa) / (self.degree + 1)
        exp_s, exp_z = point.s[k:].reshape(-1, 3), point.z[k:].reshape(-1, 3)
        blocks, hessian = scaling(exp_s, exp_z, mu)
        diagonal = np.zeros(k)
        diagonal[z0:] = point.s[z0:k] / point.z[z0:k]
        try:
            self.system.update(diagonal, blocks)
        except (ValueError, RuntimeError):
            return None
        constant = self.system.solve(-self.q, self.b)
        affine = self.direction(point, constant, residuals, point.s, point.kappa * point.tau)
        length = self.reach(point, affine, 1.0, is_guarded=False)
        sigma = (1 - length) ** 3
        rest = tuple((1 - sigma) * part for part in residuals)
        target = point.s.copy()
        target[z0:k] += (affine.s[z0:k] * affine.z[z0:k] - sigma * mu) / point.z[z0:k]
        curved = correction(hessian, exp_z, affine.s[k:].reshape(-1, 3), affine.z[k:].reshape(-1, 3))
        target[k:] += (sigma * mu * dual_gradient(exp_z) - curved).ravel()
        product = point.kappa * point.tau + affine.kappa * affine.tau - sigma * mu
        combined = self.direction(point, constant, rest, target, product)
        length = self.reach(point, combined, INTERIOR.longest, is_guarded=True)
        if length < INTERIOR.shortest:  # without the correction, and towards the centre
            target = point.s.copy()
            target[z0:k] -= mu / point.z[z0:k]
            target[k:] += (mu * dual_gradient(exp_z)).ravel()
            centring = tuple(0.0 * part for part in residuals)
            combined = self.direction(point, constant, centring, target, point.kappa * point.tau - mu)
            length = self.reach(point, combined, INTERIOR.longest, is_guarded=True)
            if length < INTERIOR.shortest:
                return None
        return point.moved(combined, length)

    def direction(
        self,
        point: _State,
        constant: tuple[np.ndarray, np.ndarray],
        residuals: tuple,
        target: np.ndarray,
        product: float,
    ) -> _State:
        """Solve the linearised equations, with W dz + ds = -target, and tau dkappa + kappa dtau = -product."""
        first, second, third = residuals
        target = target.copy()
        target[: self.n_zero] = 0.0
        x1, z1 = constant
        x2, z2 = self.system.solve(-first, target - second)
        curved = self.P @ point.x
        slope = 2 * curved / point.tau + self.q
        above = -third + product / point.tau - float(slope @ x2) - float(self.b @ z2)
        below = float(slope @ x1) + float(self.b @ z1) - float(point.x @ curved) / point.tau**2
        below -= point.kappa / point.tau
        tau = above / below
        x, z = x2 + tau * x1, z2 + tau * z1
        s = -target - self.system.scaled(z)
        s[: self.n_zero] = 0.0
        return _State(x, z, s, tau, (-product - point.kappa * tau) / point.tau)

    def reach(self, point: _State, step: _State, longest: float, *, is_guarded: bool) -> float:
        """The largest multiple of a step that stays inside all cones, and, if guarded, near the central path."""
        k, z0 = self.n_linear, self.n_zero
        length = 1.0
        for value, change in (
            (point.s[z0:k], step.s[z0:k]), (point.z[z0:k], step.z[z0:k]),
            (np.array([point.tau, point.kappa]), np.array([step.tau, step.kappa])),
        ):  # fmt: skip
            falls = change < 0
            if falls.any():
                length = min(length, float((-value[falls] / change[falls]).min()))
        if not np.isfinite(length):
            return 0.0
        length *= longest
        if len(point.s) == k:
            return length
        while length >= INTERIOR.shortest:
            trial = point.moved(step, length)
            s, z = trial.s[k:].reshape(-1, 3), trial.z[k:].reshape(-1, 3)
            if is_inside(s, z) and (not is_guarded or self.is_near_the_path(trial, s, z)):
                return length
            length *= INTERIOR.shortened
        return 0.0

    def is_near_the_path(self, point: _State, s: np.ndarray, z: np.ndarray) -> bool:
        """Whether the sum of barriers is not much larger than on the central path."""
        k, z0 = self.n_linear, self.n_zero
        mu = (float(point.s @ point.z) + point.tau * point.kappa) / (self.degree + 1)
        found = (self.degree + 1) * np.log(mu) - np.log(point.tau * point.kappa)
        found += proximity(s, z) - float(np.log(point.s[z0:k] * point.z[z0:k]).sum())
        return bool(found < INTERIOR.neighbourhood * (1 + len(s)))
