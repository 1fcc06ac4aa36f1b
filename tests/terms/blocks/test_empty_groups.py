"""Among nobody a probability is 0 / 0: what uses it is undefined, as NaN is in pandas, and nothing is said by it."""

from __future__ import annotations

import operator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import LabelMismatch, Space, StatementError
from support.helpers import refused
from support.strategies import microdata, publish, quasi


@st.composite
def conditionals(draw):
    """P(S | two attributes), and a table over all values: NaN in groups that nobody is in, else 0."""
    frame = draw(microdata(palettes=("text", "whole", "ranked")).filter(lambda frame: len(quasi(frame)) > 1))
    given = quasi(frame)[:2]
    space = Space.of(publish(frame))
    block = space.conditional("S", given=given)
    names = ["S", *given]
    values = [sorted_values(space, name) for name in names]
    table = pd.Series(0.0, index=pd.MultiIndex.from_product(values, names=names))
    people = set(zip(*(frame[name] for name in given), strict=True))
    table[[(b, c) not in people for _, b, c in table.index]] = np.nan
    return space, block, table, given


def sorted_values(space, name):
    """The values of a column, in order."""
    values = space.axes.of(name)[1]
    return list(values) if isinstance(values, pd.CategoricalIndex) else sorted(values)


def marked(found, expected):
    """What is undefined is what pandas has as NaN, and nothing else; the rest has its values."""
    for label, undefined in zip(found.index, found.undefined, strict=True):
        assert undefined == pd.isna(expected[label])


@given(conditionals(), st.data())
def test_undefined_is_what_is_nan(drawn, data):
    """Steps, sums and differences of blocks, multiples, slices, and sums over levels carry it as pandas does."""
    space, block, table, (first, second) = drawn
    steps = table.groupby(["S", first], sort=False).diff()
    marked(block.diff(second), steps)
    marked(1 - 2 * block.diff(second), steps)
    value = data.draw(st.sampled_from(sorted_values(space, second)))
    marked(
        block.diff(first).xs(value, level=second), table.groupby(["S", second], sort=False).diff().xs(value, level=2)
    )
    one, two = (data.draw(st.sampled_from(sorted_values(space, first))) for _ in "ab")
    of_one, of_two = (block.xs(value, level=first) for value in (one, two))
    both = table.xs(one, level=1) - table.xs(two, level=1)
    marked(of_one - of_two, both)
    marked(of_one - space.conditional("S", given=second), table.xs(one, level=1))
    label = tuple(data.draw(st.sampled_from(list(level))) for level in table.index.levels)
    assert block.loc[label].undefined == [pd.isna(table[label])]
    assert block.loc[[label]].undefined == [pd.isna(table[label])]
    assert not block.undefined.any()


@pytest.fixture
def block(smokers):
    """P(s | age, sex), where nobody of 50 is a man."""
    return Space.of(smokers).conditional("s", given=["age", "sex"])


def test_nothing_is_said_by_it(block):
    """Every comparison with it is refused, by label, with the group and what to do; so is its expression."""
    steps = block["yes"].diff("age")
    men, women = (block.xs(sex, level="sex")["yes"] for sex in "mf")
    says = ["(50, 'm')", "nobody is age=50, sex=m", "~x.undefined", "Monotone"]
    for compare in (
        lambda: steps >= 0,
        lambda: steps == 0,
        lambda: steps <= 0.5,
        lambda: steps.between(-0.1, 0.1),
        lambda: steps.about(0, 0.1),
        lambda: steps.softly(0, sd=0.1),
        lambda: abs(steps) <= 0.1,
        lambda: abs(steps) <= 2 * steps,
        lambda: steps <= pd.Series(0.5, index=steps.index),
        lambda: steps.expr,
    ):
        with refused(StatementError, *says):
            compare()
    for compare in (lambda: men >= women, lambda: women >= men, lambda: abs(men - women) <= 0.1):
        with refused(StatementError, " 50"):
            compare()
    for one in (men.loc[50], block.loc["yes", 50, "m"]):
        for compare in (lambda one=one: one >= 0.1, lambda one=one: women >= one, lambda one=one: one <= women.loc[20]):
            with refused(StatementError, "age=50", "sex=m"):
                compare()
    with refused(StatementError, "not defined"):
        operator.le(steps.sum(), 1)
    of_nobody = block.xs((50, "m"), level=["age", "sex"])
    with refused(StatementError, "not defined"):
        operator.ge(of_nobody.sum(), 0.1)


def test_the_others_are_said(smokers, block):
    """What remains when it is left out is what Monotone says of groups that there are, and true of the table."""
    steps = block["yes"].diff("age")
    kept = steps.loc[~steps.undefined] >= -1
    assert set(steps.index) - set(kept.index) == {(50, "m")}
    men = steps.xs("m", level="sex")
    rows = men.loc[~men.undefined] >= 0
    (monotone,) = mx.Monotone(mx.P("yes"), along="age", given={"sex": "m"}).rows(block.space)
    np.testing.assert_allclose(rows.matrix.toarray(), monotone.matrix.toarray())


def test_what_says_nothing_is_left_out(block):
    """0 of nobody in a table is no statement; of such labels alone, it is an error, as with whatever cannot be."""
    table = pd.Series(0.5, index=block.index)
    labels = pd.MultiIndex.from_tuples([("yes", 50, "m"), ("no", 50, "m")], names=block.index.names)
    whole = pd.concat([table, pd.Series(0.0, index=labels)])
    assert (block == whole).same_as(block == table)
    assert len(abs(block - whole) <= 0.02) == len(block)
    with refused(LabelMismatch):
        operator.eq(block, pd.concat([table, pd.Series(0.1, index=labels)]))
    for nothing in (block.loc["yes", 50, "m"], block.xs((50, "m"), level=["age", "sex"]), block.loc[labels]):
        with refused(StatementError, "no effect"):
            operator.le(nothing, 0.5)


def test_impossible_among_people_is_a_number(block):
    """A value that nobody of a group can have has probability 0, of which statements can be made."""
    rare = mx.Release.from_buckets(
        pd.DataFrame({"a": [1, 1, 2, 2], "s": list("xyzz"), "b": [1, 1, 2, 2]}), qi="a", sa="s", bucket="b"
    )
    x = Space.of(rare).conditional("s", given="a")["x"]
    steps = x.diff("a")
    assert steps.index.to_list() == [2]
    assert not steps.undefined.any()
    assert len(steps >= -0.4) == 1
    assert not block.loc["yes", 40, :].undefined.any()
