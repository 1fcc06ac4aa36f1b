"""Costs of soft rows: the conjugate is that of the cost, and the gap that is charged is no less than the true one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

from maxent_cvx.solvers.costs import Penalties, divergence_from, log_ratio
from maxent_cvx.solvers.form import LinearForm

sizes = st.floats(-6, 6).map(lambda power: 10.0**power)
#: What makes a cost: the variance and the slope.
costs = st.one_of(
    st.tuples(st.just(0.0), sizes), st.tuples(sizes, st.just(np.inf)), st.tuples(sizes, sizes)
)  # fmt: skip


def of(variance: float, slope: float) -> Penalties:
    return Penalties(np.array([variance]), np.array([slope]))


def exact_cost(r: Fraction, v: Fraction, u: Fraction | None) -> Fraction:
    """Huber's cost of r >= 0: r^2 / (2 v) up to v u, u r - v u^2 / 2 beyond."""
    if u is None or r < v * u or (r == v * u and v):
        return r * r / (2 * v) if r else Fraction(0)
    return u * r - v * u * u / 2


def exact_gap(value: Fraction, low: Fraction, high: Fraction, m: Fraction, v: Fraction, u: Fraction | None) -> Fraction:
    """c(missed) + v m^2 / 2 - m (side - value), the side being the low one where m >= 0."""
    missed = max(low - value, value - high, Fraction(0))
    return exact_cost(missed, v, u) + v * m * m / 2 - m * ((low if m >= 0 else high) - value)


@given(costs, st.floats(0, 1e6))
def test_the_conjugate_is_of_the_cost(cost: tuple[float, float], missed: float):
    """Fenchel and Young: c(r) + c*(m) >= m r for every |m| <= u, with equality at m = the slope of c at r."""
    penalties = of(*cost)
    v, u = cost
    at = penalties.multiplier(np.array([0.0]), np.array([0.0]), np.array([-missed]))[0]
    c = penalties.cost(np.array([missed]))[0]
    assert abs(at) <= u
    size = max(c, v * at**2, abs(at) * missed)
    assert c + v * at**2 / 2 == pytest.approx(at * missed, abs=1e-12 * size)
    for share in (-1.0, 0.0, 0.3, 0.9, 1.0):
        m = share * u if np.isfinite(u) else at + share
        assert c + v * m**2 / 2 >= m * missed - 1e-12 * max(size, v * m**2, abs(m) * missed)


@given(
    cost=costs,
    value=st.floats(-1e4, 1e4),
    low=st.floats(-1e4, 1e4),
    width=st.one_of(st.just(0.0), sizes),
    share=st.floats(-1, 1),
    off=st.floats(-16, 2),
    shift=st.floats(-1, 1),
    near=st.booleans(),
)
def test_the_gap_is_never_too_small(cost, value, low, width, share, off, shift, near):
    """For any value within the error of the one that is given, and any multiplier, by exact rational arithmetic."""
    v, u = cost
    high, penalties = low + width, of(v, u)
    if near:  # the multiplier of the value
        m = penalties.within(penalties.multiplier(np.array([low]), np.array([high]), np.array([value])))[0]
    else:
        m = penalties.within(np.array([share * (u if np.isfinite(u) else 1e3)]))[0]
    error = 10.0**off
    below, above = Fraction(low) - Fraction(value), Fraction(value) - Fraction(high)
    given_error = error + 1e-15 * (abs(low) + abs(value) + abs(high))  # of the rounded distances
    beyond = np.array([float(below)]), np.array([float(above)])
    bound = penalties.fenchel_gap(beyond, np.array([given_error]), np.array([m]))[0]
    exact = [Fraction(number) for number in (value + shift * error, low, high, m, v)]
    true = exact_gap(*exact, None if np.isinf(u) else Fraction(u))
    assert true >= 0
    assert Fraction(bound) >= true if np.isfinite(bound) else bound > 0


@given(st.tuples(st.one_of(st.just(0.0), sizes), sizes), st.floats(-8, 8), st.floats(-16, 0), st.floats(-1, 1))
def test_on_a_linear_part_the_slope_has_no_gap(cost, power, off, shift):
    """Where that is claimed, and the slope is the multiplier that was given, up to rounding."""
    (v, u), missed, penalties = cost, 10.0**power, of(*cost)
    error, m = missed * 10.0**off, penalties.within(np.array([u]))
    doubt = penalties.doubt((np.array([missed]), np.array([-missed])), np.array([error]), m)[0]
    assert doubt <= 1e-13 * u
    value, exact = -Fraction(missed) + Fraction(shift * error), (Fraction(0), Fraction(0), Fraction(u), Fraction(v))
    if doubt:
        assert exact_gap(value, *exact, Fraction(u)) == 0
    else:
        assert missed * (1 - 10.0**off) <= v * u * (1 + 1e-13)


def test_selected_rows_keep_their_costs():
    """Soft rows are the last ones, whichever are selected; the hard ones alone have no costs."""
    form = LinearForm.plain(sp.csr_array(np.eye(4)), np.ones(4), np.ones(4))
    form = replace(form, penalties=Penalties(np.array([1.0, 2.0, 3.0]), np.array([np.inf, 4.0, 5.0])))
    some = form.select(np.array([0, 3, 1]))
    assert (some.n_hard, some.penalties.variance.tolist(), some.penalties.slope.tolist()) == (1, [3, 1], [5, np.inf])
    assert form.hard.penalties is None
    assert form.hard.shape == (1, 4)
    assert form.select(np.array([True, False, False, False])).penalties is None


#: The series of `excess` ends at 0.01, beyond which two digits cancel.
RELATIVE = 1e-13
targets = st.floats(-200, 200).map(lambda power: 10.0**power)
#: y / T: near 1, or of any size.
ratios = st.one_of(
    st.tuples(st.sampled_from([-1, 1]), st.floats(-16, -0.01)).map(lambda drawn: 1 + drawn[0] * 10.0 ** drawn[1]),
    st.floats(-200, 100).map(lambda power: 10.0**power),
)


@example(1.0, 5e-324)
@example(1e200, 1e-300)
@given(targets, ratios)
def test_divergences_have_nearly_all_their_digits(target: float, ratio: float):
    """Y log(y / T) - y + T, its logarithm, and the cost and the multiplier of a row, against 60 digits."""
    y, temperature = target * ratio, 3.0
    if y in (0.0, target):
        assert divergence_from(np.array([y]), np.array([target])) == [target - y]
        return
    with mp.workdps(60):
        d = mp.log(mp.mpf(y) / mp.mpf(target))
        expected = y * d - y + target
    assert log_ratio(np.array(y), np.array(target)) == pytest.approx(float(d), rel=RELATIVE, abs=0)
    assert divergence_from(np.array(y), np.array(target)) == pytest.approx(float(expected), rel=RELATIVE, abs=0)
    penalties = Penalties(np.zeros(1), np.full(1, np.inf), np.array([temperature]), np.array([target]))
    assert penalties.cost(np.array([y])) == pytest.approx([float(temperature * expected)], rel=RELATIVE, abs=0)
    multiplier = penalties.multiplier(np.zeros(1), np.zeros(1), np.array([y]))
    assert multiplier == pytest.approx([float(-temperature * d)], rel=RELATIVE, abs=0)
