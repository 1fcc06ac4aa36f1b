"""Budgets: sums of convex costs as they are read from CVXPY, and the multiplier at which they are spent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.solvers.convex import decreasing_root, read_budget

N = 5
A = np.array([[1.0, 2.0, 0.0, -1.0, 0.0], [0.0, 0.5, 3.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0]])
B = np.array([0.5, -1.0, 2.0])
TARGET = np.array([0.5, 1.0, 2.0, 0.1, 0.7])

#: What is a sum of costs, as users write it in CVXPY.
SUMS: dict[str, Callable[[cp.Variable], Any]] = {
    "sum of squares": lambda x: cp.sum_squares(A @ x - B) - 3,
    "weighted squares": lambda x: np.array([1.0, 0.5, 2.0]) @ cp.square(A @ x - B) - 3,
    "a matrix of squares": lambda x: np.ones(3) @ (np.diag([1.0, 0.5, 2.0]) @ cp.square(A @ x - B)) - 3,
    "a matrix that mixes squares": lambda x: (
        np.array([1.0, 2.0]) @ (np.array([[1, 0, 2], [0, 3, 1]]) @ cp.square(A @ x))
    ),
    "a constant at the right": lambda x: cp.square(A @ x - B) @ np.array([1.0, 0.5, 2.0]) - 3,
    "one square": lambda x: 2 * cp.square(x[0] - 1) + x[1] - 1,
    "norm": lambda x: 2 * cp.norm(A @ x - B) - 3,
    "absolute": lambda x: cp.norm1(A @ x - B) - 2,
    "sum of absolute values": lambda x: cp.sum(cp.multiply(np.array([1.0, 2.0, 3.0]), cp.abs(A @ x - B))) / 2 - 2,
    "Huber": lambda x: cp.sum(cp.huber(A @ x - B, 0.7)) - 2,
    "positive part": lambda x: cp.pos(x[0] - 1) + 3 * cp.neg(x[1] - 2) - 1,
    "quadratic form": lambda x: cp.quad_form(A @ x - B, np.diag([1.0, 2.0, 0.0]) + 0.1) - 2,
    "divergence": lambda x: cp.sum(cp.kl_div(x, TARGET)) - 2,
    "relative entropy": lambda x: cp.sum(cp.rel_entr(x[:3], TARGET[:3])) - 2,
    "entropy": lambda x: 1 - cp.sum(cp.entr(x)),
    "everything": lambda x: cp.sum_squares(x[:2]) + cp.norm1(x[2:]) - cp.sum(cp.entr(x)) + 2 * cp.sum(x) - 9,
}
#: Convex, and no sum of costs that one multiplier settles.
OTHERS: dict[str, Callable[[cp.Variable], Any]] = {
    "the largest two": lambda x: cp.sum_largest(x, 2) - 1,
    "exponential": lambda x: cp.sum(cp.exp(x)) - 9,
    "a divergence from what is unknown": lambda x: cp.sum(cp.rel_entr(TARGET, x)) - 1,
    "a norm and a square": lambda x: cp.norm(x) + cp.sum_squares(x) - 2,
    "a fourth power": lambda x: cp.sum(cp.power(x, 4)) - 2,
}


@pytest.mark.parametrize("name", SUMS)
@given(values=st.lists(st.floats(0.01, 3), min_size=N, max_size=N))
def test_what_is_read_is_what_was_written(name: str, values: list[float]):
    """A budget is kept where the CVXPY constraint holds, by as much (a norm by the difference of squares)."""
    x = cp.Variable(N, nonneg=True)
    expression = SUMS[name](x)
    budget = read_budget(expression, x, name)
    assert budget is not None
    x.value = np.array(values)
    written, read = float(expression.value), budget.spent(x.value) - budget.limit
    if name == "norm":  # 2 |y| <= 3 is |y|^2 <= 2.25
        written = ((written + 3) / 2) ** 2 - 2.25
    assert read == pytest.approx(written, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_sum_of_costs_is_left_to_cuts(name: str):
    """None says that there is no budget; nothing is read in part."""
    x = cp.Variable(N, nonneg=True)
    assert read_budget(OTHERS[name](x), x, name) is None


def test_a_target_of_zero_makes_a_zero():
    """As y log(y / 0) is infinite for y > 0, y must be 0."""
    x = cp.Variable(N, nonneg=True)
    budget = read_budget(cp.sum(cp.kl_div(x, np.array([1.0, 0.0, 2.0, 0.0, 1.0]))) - 1, x, "ball")
    assert budget is not None
    assert budget.zeros.toarray().tolist() == np.eye(N)[[1, 3]].tolist()
    assert budget.matrix.shape[0] == 3


def test_a_ball_of_all_terms_is_known_as_one():
    """A divergence of every term with one factor changes the weights; one of some terms, or of sums, does not."""
    x = cp.Variable(N, nonneg=True)
    ball = read_budget(3 * cp.sum(cp.kl_div(x, TARGET)) - 1, x, "ball")
    some = read_budget(cp.sum(cp.kl_div(x[1:], TARGET[1:])) - 1, x, "some")
    sums = read_budget(cp.sum(cp.kl_div(np.abs(A) @ x, B + 2)) - 1, x, "sums")
    assert ball is not None
    assert some is not None
    assert sums is not None
    assert ball.ball is not None
    assert ball.ball[0] == 3
    np.testing.assert_array_equal(ball.ball[1], TARGET)
    assert some.ball is None
    assert sums.ball is None


@given(st.floats(0.1, 10), st.floats(-6, 6), st.floats(-3, 3), st.sampled_from([0.5, 1.0, 2.0, 3.0]))
def test_the_root_of_a_decreasing_function(scale: float, log_root: float, log_start: float, power: float):
    """Whatever the scale of the function and of its root, and wherever the search begins."""
    root = 10.0**log_root

    def function(t: float) -> float:
        return scale * (1 / (1 + (t / root) ** power) - 0.5)

    found, value = decreasing_root(function, 10.0**log_start, 0.0, 1e-14, 1e12, 200)
    assert found == pytest.approx(root, rel=1e-9)
    assert abs(value) <= 1e-9 * scale
