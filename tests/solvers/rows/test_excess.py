"""Divergences of numbers are right to nearly all their digits, however near or far the numbers are."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maxent_cvx.solvers.costs import Penalties, divergence_from, excess, log_ratio
from support.solving import examples

#: The series of `excess` ends at 0.01, beyond which two digits cancel.
RELATIVE = 1e-13
targets = st.floats(-200, 200).map(lambda power: 10.0**power)
#: y / T - 1: from the spacing of doubles upwards, on either side.
near = st.tuples(st.sampled_from([-1, 1]), st.floats(-16, -0.01)).map(lambda drawn: drawn[0] * 10.0 ** drawn[1])


def right(y: float, target: float) -> None:
    """The three functions agree with 60 digits."""
    with mp.workdps(60):
        d = mp.log(mp.mpf(y) / mp.mpf(target))
        expected = y * d - y + target
        assert log_ratio(np.array(y), np.array(target)) == pytest.approx(float(d), rel=RELATIVE, abs=0)
        assert divergence_from(np.array(y), np.array(target)) == pytest.approx(float(expected), rel=RELATIVE, abs=0)


@examples(300)
@given(targets, near)
def test_near(target: float, off: float):
    """Where y is near to T, what remains of y log(y / T) - y + T is of the second order, and has all its digits."""
    y = target * (1 + off)
    if y != target:
        right(y, target)


@examples(300)
@given(targets, targets)
@example(1e200, 1e-200)
@example(1e-200, 1e200)
@example(5e-324, 1.0)
@example(5e-324, 1e200)
def test_far(y: float, target: float):
    """So it is where they are of different sizes, whose quotient no double holds."""
    if y != target:
        right(y, target)


@given(targets)
def test_ends(target: float):
    """It is T at y = 0, where the logarithm is infinite, and 0 at y = T."""
    zero, one = np.zeros(1), np.array([target])
    assert divergence_from(zero, one) == [target]
    assert log_ratio(zero, one) == [-np.inf]
    assert divergence_from(one, one) == [0.0]


@examples(300)
@example(0.01)
@example(-0.01)
@given(st.tuples(st.sampled_from([-1, 1]), st.floats(-150, 2.5)).map(lambda drawn: drawn[0] * 10.0 ** drawn[1]))
def test_excess(d: float):
    """``d - 1 + exp(-d)`` of logarithms of any size."""
    with mp.workdps(400):
        expected = float(mp.mpf(d) - 1 + mp.exp(-mp.mpf(d)))
    assert excess(np.array(d)) == pytest.approx(expected, rel=RELATIVE, abs=0)


@examples(200)
@given(targets, near, st.floats(-3, 3).map(lambda power: 10.0**power))
def test_cost_of_a_divergence(target: float, off: float, temperature: float):
    """A row's cost is t times the divergence, and its multiplier minus the derivative of that, -t log(y / T)."""
    penalties = Penalties(np.zeros(1), np.full(1, np.inf), np.array([temperature]), np.array([target]))
    y = target * (1 + off)
    with mp.workdps(60):
        d = mp.log(mp.mpf(y) / mp.mpf(target))
        cost, slope = float(temperature * (y * d - y + target)), float(-temperature * d)
    assert penalties.cost(np.array([y])) == pytest.approx([cost], rel=RELATIVE, abs=0)
    assert penalties.multiplier(np.zeros(1), np.zeros(1), np.array([y])) == pytest.approx([slope], rel=RELATIVE, abs=0)
