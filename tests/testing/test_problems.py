"""The depot is right: its answers satisfy the conditions of optimality, whatever the solvers of this package say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from maxent_cvx import Infeasible
from support.linear_programs import extreme
from support.problems import CONTRADICTORY, PROBLEMS, SOLVABLE, Problem

#: Rounding of sums of a few numbers, relative to the largest.
ROUNDING = 1e-12


def slopes_of_costs(problem: Problem) -> np.ndarray:
    """Minus the gradient of the costs of soft rows; where they have a kink, that of the depot, if it is one."""
    form, result = problem.model().form, np.zeros(problem.model().form.shape[1])
    if not problem.needs_soft_rows:
        return result
    soft = [(said, m) for said, m in zip(problem.knowledge, problem.dual, strict=True) if said.penalty is not None]
    x = problem.expected(problem.model().space)
    for row, (said, m) in enumerate(soft, start=form.n_hard):
        a = form.matrix[[row]].toarray()[0]
        value, scale = a @ x / form.scale[row], form.scale[row]  # as typed; of a unit, records
        missed = max(said.low - value, 0.0) - max(value - said.high, 0.0)
        sd, weight, delta = said.penalty.sd, said.penalty.weight, said.penalty.delta
        if abs(missed) < 1e-12 and weight is not None:
            assert abs(m) * scale <= weight
        else:
            slope = np.sign(missed) * weight if sd is None else np.clip(missed, -(delta or 9), delta or 9) / sd**2
            assert m * scale == pytest.approx(slope, abs=1e-9)
        result += a * m
    return result


@pytest.mark.parametrize("problem", SOLVABLE, ids=lambda problem: problem.name)
def test_answers_are_optimal(problem: Problem):
    """Rows hold, and the gradient of the entropy is a combination of them, of inequalities only those that bind.

    Where a term is zero it can be nothing else, and where all others are positive these conditions (Karush, Kuhn,
    Tucker) are sufficient, since the entropy is concave. The combination is found by non-negative least squares.
    """
    model = problem.model()
    form, hard = model.form, model.form.hard
    x = problem.expected(model.space)
    assert (x >= 0).all()
    assert (hard.residual(x) <= ROUNDING * x.sum()).all()
    held = x > 0
    for term in np.flatnonzero(~held):
        assert -extreme(hard, -np.eye(len(x))[term]).fun <= 1e-9
    a, value = hard.matrix.toarray(), hard.matrix @ x
    above, below = (slack <= ROUNDING * x.sum() for slack in (hard.high - value, value - hard.low))
    gradient = -np.log(x[held] / form.weights[held]) - 1 + slopes_of_costs(problem)[held]
    _, off = nnls(np.vstack([a[above], -a[below]])[:, held].T, gradient)
    assert off <= 1e-7 * max(1.0, np.abs(gradient).max())
    if problem.dual is not None:  # with these multipliers of what is known, x = w exp(A' m - 1)
        known, published = form.matrix[form.n_published :].toarray(), form.matrix[: form.n_published].toarray()
        assert len(problem.dual) == len(known)
        left = np.log(x / form.weights) + 1 - known.T @ problem.dual
        result = np.linalg.lstsq(published.T, left, rcond=None)[0]
        np.testing.assert_allclose(published.T @ result, left, atol=1e-9)


def test_contradictions_contradict():
    """Nothing satisfies the rows of a contradictory problem, by a linear program; or the model is refused."""
    for problem in CONTRADICTORY:
        try:
            form = problem.model().form.hard
        except Infeasible:
            continue
        assert extreme(form, np.zeros(form.shape[1])).status == 2, problem


def test_convex_problems():
    """(P(s1 | q1) - a)^2 <= e^2 is an interval of the one free number; the entropy, largest at 0.5, is concave in it.

    The answer is the point nearest to 0.5; there is none if the interval has nothing of [1/4, 3/4].
    """
    intervals = {"within a parabola": (0.1, 0.3), "within a wide parabola": (-0.2, 0.6), "beyond a parabola": (0, 0.2)}
    assert set(intervals) == {problem.name for problem in PROBLEMS.values() if problem.needs_convex}
    for name, interval in intervals.items():
        problem, (low, high) = PROBLEMS[name], np.clip(interval, [0.25, 0], [1, 0.75])
        assert problem.feasible == (low <= high)
        if problem.feasible:
            assert problem.joint[0][0][0] / 4 == pytest.approx(np.clip(0.5, low, high), abs=1e-15)


def test_printed_digits():
    """Jaynes printed the loaded die to five places."""
    printed = [0.05435, 0.07877, 0.11416, 0.16545, 0.23977, 0.34749]
    np.testing.assert_allclose(PROBLEMS["loaded die"].joint[0][0], printed, atol=5e-6)
