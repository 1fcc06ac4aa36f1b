"""Convex constraints that are finitely many affine ones: they become rows, and keep presolve, names and prices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.sources.cvxpy_constraints import affine_pieces

A = np.array([[1.0, 2.0, 0.0], [0.0, -0.5, 3.0]])

POLYHEDRAL: dict[str, Callable[[cp.Variable], Any]] = {
    "affine": lambda x: A @ x - 1,
    "absolute": lambda x: cp.abs(A @ x - 1) - 0.5,
    "largest": lambda x: cp.max(A @ x) - 1,
    "maximum": lambda x: cp.maximum(x[0], 2 * x[1], 0.3) - x[2],
    "largest norm": lambda x: cp.norm_inf(A @ x - 1) - 0.5,
    "least": lambda x: 0.2 - cp.min(x),
    "minimum": lambda x: 0.2 - cp.minimum(x[0], x[1]),
    "multiple": lambda x: 3 * cp.abs(x[0] - 1) / 2 - 1,
    "negative multiple": lambda x: -2 * cp.min(x) + 1,
    "square of one": lambda x: cp.square(x[0] - 1) - 0.25,
    "a square that nothing satisfies": lambda x: cp.square(x[0] - 1) + 0.25,
    "nothing of an absolute value": lambda x: 0 * cp.abs(x[0]) + cp.abs(x[1]) - 1,
    "squares one by one": lambda x: cp.square(x) - np.array([1.0, 2.0, 3.0]),
    "two absolute values": lambda x: cp.abs(x[0] - 1) + cp.abs(x[1] - 2) - 1.5,
    "positive and negative part": lambda x: cp.pos(x[0] - 1) + cp.neg(x[1] - 1) - 0.7,
    "few absolute values": lambda x: cp.norm1(x - 1) - 1.2,
    "a norm of one": lambda x: cp.norm(x[0] - 1, 2) - 0.5,
}
CURVED: dict[str, Callable[[cp.Variable], Any]] = {
    "squares": lambda x: cp.sum_squares(x) - 1,
    "a square of what is not constant": lambda x: cp.square(x[0]) - x[1],
    "exponential": lambda x: cp.exp(x[0]) - 2,
    "a square beside an absolute value": lambda x: cp.square(x[0]) + cp.abs(x[1]) - 1,
    "an absolute value beside a square": lambda x: cp.abs(x[1]) + 2 * cp.square(x[0]) - 1,
    "a square among the largest, in a sum": lambda x: cp.maximum(cp.square(x[0]), x[1]) + cp.abs(x[1]) - 1,
}


@pytest.mark.parametrize("name", POLYHEDRAL)
@given(values=st.lists(st.floats(-3, 3), min_size=3, max_size=3))
def test_pieces_say_the_same(name: str, values: list[float]):
    """Some piece is violated exactly where the constraint is."""
    x = cp.Variable(3)
    expression = POLYHEDRAL[name](x)
    pieces = affine_pieces(expression)
    assert pieces is not None
    assert all(piece.is_affine() for piece in pieces)
    x.value = np.array(values)
    written = float(np.max(expression.value))
    largest = max(float(np.max(piece.value)) for piece in pieces)
    if abs(written) > 1e-9:
        assert (largest > 0) == (written > 0)


@pytest.mark.parametrize("name", CURVED)
def test_what_is_curved_is_no_row(name: str):
    """None says so; nothing is approximated at the door."""
    assert affine_pieces(CURVED[name](cp.Variable(3))) is None


def test_too_many_pieces():
    """Eight absolute values have 256 choices of signs, which are no rows: they are a budget."""
    assert affine_pieces(cp.norm1(cp.Variable(8)) - 1) is None
