"""Sums of whole numbers, and of numbers with few decimals, are multiples of their last decimal."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.sources.moments import nearest_fraction
from maxent_cvx.sources.numbers import whole_sums


@given(
    st.lists(st.integers(-10_000, 10_000), min_size=1, max_size=8),
    st.sampled_from([0, 1, 2, 4]),
    st.floats(0, 5),
    st.data(),
)
def test_no_true_sum_is_lost(units, places, width, data):
    """Whatever sum of the numbers is in the interval is still in it, in the unit of the last decimal."""
    numbers = np.array([round(one / 10**places, places) for one in units])
    counts = data.draw(st.lists(st.integers(0, 5), min_size=len(units), max_size=len(units)))
    true = Fraction(int(np.dot(units, counts)), 10**places)
    weights, low, high, by = whole_sums(numbers, float(true) - width, float(true) + width / 3)
    assert by is not None
    assert by <= places
    np.testing.assert_array_equal(weights, np.array(units) / 10 ** (places - by))
    assert low <= true * 10**by <= high
    assert (low, high) == (np.rint(low), np.rint(high))


def test_what_is_not_whole_stays():
    """Thirds are left alone, and so is an interval without a whole number: a contradiction is told by the rows."""
    for numbers, low, high in [([1 / 3, 2], 1.2, 1.4), ([1, 2], 1.2, 1.4), ([2.0**41, 1], 1, 3)]:
        weights, *sides, by = whole_sums(np.array(numbers), low, high)
        assert by is None
        assert sides == [low, high]
        np.testing.assert_array_equal(weights, numbers)


@pytest.mark.parametrize(
    ("value", "off", "n", "found"),
    [
        (140 / 3, 1e-9, 10, Fraction(140, 3)),
        (46.66, 1e-9, 10, None),  # near no fraction
        (140 / 3, 0.01, 10, None),  # near several: those with denominators up to 10 may be 1/90 apart
        (0.1, 1e-12, 10, Fraction(1, 10)),
    ],
)
def test_the_only_fraction_near(value, off, n, found):
    """A mean of ten whole numbers at most is the only fraction near what was computed."""
    assert nearest_fraction(value, off, n) == found
