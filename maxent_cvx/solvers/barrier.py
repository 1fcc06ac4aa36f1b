"""A barrier method for inequalities: multipliers near the solution, where the steps of Newton's method become tiny.

Newton's method of :mod:`.newton` predicts the active inequalities in every step. If a thousand of them, such as the
cells of rounded tables, depend on each other, the prediction changes in every step, and steps become tiny. The barrier
method needs no prediction. The multiplier of an inequality low <= a x <= high is z_0 - z_1 with z > 0, one per side, and

    sum w exp(A' m - 1) - b' m - low' z_0 + high' z_1 - mu sum log z + k |m - c|^2 / 2

is minimised while mu tends to 0. In the limit, mu / z is the slack of the row at its side. The last term, over the
inequalities only, keeps multipliers finite that can be changed together without an effect (a proximal term); c are the
multipliers when mu was last reduced, so that the term vanishes in the limit. If the cost of a soft row has a slope u,
|m| <= u, and t = u - m and u + m have barriers, too.

The second derivative mu / z^2 of the barrier is replaced by s / z, where s > 0 are slacks that Newton's method drives to
z s = mu (a primal-dual method; Nocedal and Wright, 2006, section 19.3), and mu / t^2 by r / t, with the amounts r by
which a soft row is missed. The system is that of :mod:`.schur` with one more diagonal element per row; its direction
decreases the function above for any s and r. mu falls superlinearly (Waechter and Biegler, 2006, section 2.1).

References
----------
Nocedal, J. and Wright, S. J. (2006). Numerical optimization, second edition. Springer.
Waechter, A. and Biegler, L. T. (2006). On the implementation of an interior-point filter line-search algorithm for
large-scale nonlinear programming. Mathematical Programming 106, 25-57.
"""

from __future__ import annotations

import numpy as np

from .dual import Dual, Point
from .monitor import Monitor
from .schur import System

#: Nats: the first and the last mu, the product of a multiplier and a slack.
FIRST_MU, LAST_MU = 1.0, 1e-15
#: If the error is at most this times mu, mu is reduced to the smaller of its fifth and its power 1.5 (the values of Waechter
#: and Biegler, 2006).
CENTRAL, REDUCED, POWER = 10.0, 0.2, 1.5
#: Nats per record: the first z beyond the multipliers of the start; and the largest multiple of the dual function at the start
#: that it may lead to. With thousands of rules about one term it leads to more, and smaller z take 25 s on Adult (support
#: .02, confidence .9, with non-rules), where Newton's method from zeros takes 4 s.
FIRST_Z, FAR = 0.5, 1e3
#: Records^2 per nat: the least k; otherwise it is mu. With less, the changes of dependent rows are rounding errors.
LEAST_PROXIMAL = 1e-8
#: The largest share of the distance to 0 that positive numbers go in one step.
TO_BOUNDARY = 0.99
#: Factor within which z s and t r stay near mu.
NEAR_MU = 1e10
#: Required share of the predicted decrease, the shortest step, and the relative rounding error of the function.
ARMIJO, SHORTEST, ROUNDING = 1e-4, 1e-10, 1e-13
#: Relative ridge of the system, and precision of its solution: the first times mu, but at least the second.
RIDGE, PRECISION, FINEST = 1e-13, 1e-3, 1e-13
#: The largest number of steps; rounded and noisy tables of Adult need 30 to 50, vague statements up to 110.
MOST_STEPS = 150
#: The largest numbers of successive steps, at one mu and at the last mu, in which the error does not fall by a tenth. Steps
#: to the boundary are short; at the end, rounding prevents more. Of 16 models of 600 vague statements about 200 people, 13
#: are certified; with 20 steps at the last mu 14, but tables take up to 1.3 times as long; with 8 at every mu 9.
PATIENCE, LAST_PATIENCE = 20, 8


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # trial points may be far away
def barrier_start(
    dual: Dual, system: System, start: np.ndarray, most_iterations: int, monitor: Monitor, log: list[dict[str, float]]
) -> np.ndarray:
    """Return multipliers near the solution, or zeros if its first point is too far; append a line per step to the log."""
    form, is_equation, sides = dual.form, ~dual.is_inequality, np.stack([dual.form.low, dual.form.high])
    # In partitions, rows that published rows imply have no side; their multipliers do not change.
    has_side = np.isfinite(sides).any(axis=0)
    at, known = np.flatnonzero(dual.is_inequality & has_side), np.flatnonzero(has_side[form.n_published :])
    sign, side = np.array([[1.0], [-1.0]]), sides[:, at]  # axes: low and high side, inequality
    is_finite, each = np.isfinite(side), np.arange(len(at))
    width, side = np.where(is_finite.all(axis=0), side[1] - side[0], 0.0), np.where(is_finite, side, 0.0)
    bounded = np.flatnonzero(np.isfinite(dual.slope) & has_side)
    u, mu, center, proximal = dual.slope[bounded], FIRST_MU, np.zeros(len(at)), FIRST_MU
    m = np.clip(start, -dual.slope / 2, dual.slope / 2)
    value_of_start = abs(dual.at(m).value)
    z = np.where(is_finite, np.maximum(sign * m[at], 0.0) + np.minimum(FIRST_Z, dual.slope[at] / 4), 0.0)
    m[at] = (sign * z).sum(axis=0)
    point = dual.at(m)
    if not point.value <= FAR * value_of_start:
        return np.zeros(len(m))
    t = u - sign * m[bounded]
    s, r = np.where(is_finite, mu / z, 1.0), mu / t
    best, least, stalled = (m, t), np.inf, 0

    def value(point: Point, z: np.ndarray, t: np.ndarray) -> float:
        # The dual function takes the side that the sign of m selects; the smaller z is the share of the other one.
        of_sides = width @ z.min(axis=0) - mu * (np.log(z[is_finite]).sum() + np.log(t).sum())
        return float(point.value + of_sides + proximal * ((point.m[at] - center) ** 2).sum() / 2)

    for _ in range(len(log), min(len(log) + MOST_STEPS, most_iterations) + 1):
        while True:
            center, activity = m[at] if mu <= LAST_MU else center, point.activity.copy()
            activity[at] += proximal * (m[at] - center)
            activity[bounded] += (sign * mu / t).sum(axis=0)
            rest = np.where(is_equation, dual.equation_sides - activity, 0.0)
            slack = np.where(is_finite, sign * (activity[at] - side), 0.0)
            errors = rest, (slack - s)[is_finite], (z * s - mu)[is_finite], t * r - mu
            error = max(float(np.abs(each_error).max(initial=0.0)) for each_error in errors)
            if mu <= LAST_MU or not error <= CENTRAL * mu:
                break
            mu = max(LAST_MU, min(REDUCED * mu, mu**POWER))
            center, proximal, least = m[at], max(mu, LEAST_PROXIMAL), np.inf
        stalled = stalled + 1 if error > 0.9 * least else 0
        if error < least:
            least, best = error, (m, t)
        *_, stop = log_point(log, dual, point, system, monitor)
        if stop or stalled > (PATIENCE if mu > LAST_MU else LAST_PATIENCE) or error <= CENTRAL * mu:
            break
        # With y the change of the activity as defined above, Newton's method for z s = mu and slack = s changes z by
        # -(z / s) (pull + sign y). The sum of both is the change of m, so that y is eliminated.
        ratio, pull = np.where(is_finite, z / s, 0.0), np.where(is_finite, slack - mu / z, 0.0)
        both, right, curvature = ratio.sum(axis=0), rest, np.zeros(form.shape[0])
        right[at], curvature[at] = -(sign * ratio * pull).sum(axis=0) / both, 1 / both + proximal
        curvature[bounded] += (r / t).sum(axis=0)
        curvature = curvature[form.n_published :] + (0.0 if point.curvature is None else point.curvature)
        dual.start_from(point)
        factor = system.at(dual.weights(point, 0.0), RIDGE, curvature)
        step = factor.solve(right, known, max(PRECISION * mu, FINEST))
        dz = -ratio * (pull + sign * (right[at] - step[at] / both))
        # With z / s = 10^15 this is a rounding error; the change of the other side and of m determine it.
        larger = np.argmax(ratio, axis=0)
        dz[larger, each] = sign[larger, 0] * step[at] + dz[1 - larger, each]
        dz[~is_finite] = 0.0
        dt = -sign * step[bounded]
        predicted = float((pull * dz).sum() - rest[is_equation] @ step[is_equation])
        before, length = value(point, z, t), min(_to_boundary(z, dz), _to_boundary(t, dt))
        while True:
            trial = dual.at(m + length * step)
            change = value(trial, z + length * dz, t + length * dt) - before
            if change <= ARMIJO * length * predicted + ROUNDING * max(abs(before), 1.0) or length < SHORTEST:
                break
            length /= 2
        if length < SHORTEST:
            break
        ds, dr = np.where(is_finite, mu / z - s - dz / ratio, 0.0), mu / t - r - r / t * dt
        point, m, z, t = trial, trial.m, z + length * dz, t + length * dt
        s, r = s + _to_boundary(s, ds) * ds, r + _to_boundary(r, dr) * dr
        s = np.where(is_finite, np.clip(s, mu / (NEAR_MU * z), NEAR_MU * mu / z), 1.0)
        r = np.clip(r, mu / (NEAR_MU * t), NEAR_MU * mu / t)
    m, t = best[0].copy(), best[1]
    # Where a multiplier is smaller than the slack, the row is inactive; Newton's method and the certificate would treat it
    # as active. As t r = mu, a row is missed by more than t where |m| is the slope.
    slack = sign * (dual.at(m).activity[at] - side)
    m[at[np.abs(m[at]) <= np.where(m[at] > 0, *slack)]] = 0.0
    m[bounded] = np.where((t**2 < mu).any(axis=0), np.copysign(u, m[bounded]), m[bounded])
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


def _to_boundary(values: np.ndarray, change: np.ndarray) -> float:
    """Return the longest step, at most 1, that keeps positive values positive."""
    falls = change < 0
    return min(1.0, float((-TO_BOUNDARY * values[falls] / change[falls]).min(initial=1.0)))
