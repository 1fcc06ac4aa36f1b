"""Ratios of probabilities, compared with numbers, and ranges in text."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P, StatementError
from maxent_cvx.sources.parser import read_statement
from support.helpers import refused

MEN, WOMEN = P("Flu", given={"Gender": "male"}), P("Flu", given={"Gender": "female"})


@pytest.mark.parametrize(
    ("statement", "same"),
    [
        (MEN / WOMEN <= 1.3, MEN <= 1.3 * WOMEN),
        (MEN / WOMEN >= 1.3, MEN >= 1.3 * WOMEN),
        (MEN / WOMEN == 1.3, MEN - 1.3 * WOMEN == 0),
        (MEN / (1 - MEN) <= 0.5, 1.5 * MEN <= 0.5),
        (2 * (MEN / WOMEN) / 4 <= 1, 0.5 * MEN <= WOMEN),
        (0.2 / WOMEN >= 1, WOMEN <= 0.2),
    ],
)
def test_a_ratio_is_linear(statement, same):
    """A / b <= c is a <= c b, as b is not negative."""
    assert statement.key == same.key


@pytest.mark.parametrize(("low", "high"), [(1.2, 1.5), (0.5, 0.8)])
def test_a_relative_risk(release, low, high):
    """The relative risk is inside its limits, and at the one that is nearer to what would be without it."""
    ratio = MEN / WOMEN
    posts = [
        MaxEnt(release).add(one).solve() for one in (ratio.between(low, high), ratio.about((low + high) / 2, 0.15))
    ]
    for post in posts:
        assert low - 1e-9 <= post.prob(MEN) / post.prob(WOMEN) <= high + 1e-9
    np.testing.assert_allclose(posts[0].counts, MaxEnt(release).add(f"{low} <= {ratio} <= {high}").solve().counts)


def test_what_is_no_ratio_of_use():
    """Ratios of ratios, of negative numbers and compared with probabilities are refused, with the remedy."""
    for wrong in (lambda: (MEN / (1 - MEN)) / (WOMEN / (1 - WOMEN)), lambda: MEN / WOMEN <= MEN):
        with refused(StatementError, "if one of the two is known"):
            wrong()
    with refused(StatementError, "can be negative"):
        MEN / (WOMEN - 0.5)
    with pytest.raises(TypeError, match="not true or false"):
        bool(MEN / WOMEN)
    with refused(mx.BadProbability, "swap"):
        (MEN / WOMEN).between(2, 1)


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("age>=37", pd.Interval(37, math.inf, "left")),
        ("age > 37", pd.Interval(37, math.inf, "neither")),
        ("age<=37", pd.Interval(-math.inf, 37, "right")),
        ("age < -0.5", pd.Interval(-math.inf, -0.5, "neither")),
        ("age in [30, 40)", pd.Interval(30, 40, "left")),
    ],
)
def test_ranges_in_text(text, interval):
    """A range is read as an interval, and written so that it is read as the same."""
    statement = read_statement(f"P(yes | {text}) <= 0.2")
    assert statement == (P("yes", given={"age": interval}) <= 0.2)
    assert read_statement(str(statement)) == statement


def test_several_quantiles_are_those_one_by_one():
    """A list of quantiles gives the rows of each; their number and order are checked."""
    view = mx.QITable(pd.DataFrame({"age": range(20, 60, 4)}), qi="age", sa="income", sa_values=[10, 20, 30, 40])
    together = MaxEnt(view).add(mx.PublishedQuantile([20, 30], q=[0.25, 0.75], method="lower", of="income"))
    apart = MaxEnt(view)
    for value, q in ((20, 0.25), (30, 0.75)):
        apart.add(mx.PublishedQuantile(value, q=q, method="lower", of="income"))
    np.testing.assert_allclose(together.solve().counts, apart.solve().counts, atol=1e-9)
    for integer in (False, True):
        np.testing.assert_allclose(together.bounds(P(20), integer=integer), apart.bounds(P(20), integer=integer))
    with refused(StatementError, "one q"):
        mx.PublishedQuantile([20, 30], q=[0.5])
    with refused(mx.BadProbability, "order"):
        mx.PublishedQuantile([30, 20], q=[0.25, 0.75])
