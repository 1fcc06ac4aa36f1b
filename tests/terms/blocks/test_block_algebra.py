"""Blocks are Series of expressions: what is done to a block is done to its values at any probabilities."""

from __future__ import annotations

import operator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import Block, LabelMismatch, Space, StatementError, UnknownName
from support.helpers import refused
from support.strategies import microdata, publish, quasi

ORDERED = ("text", "whole", "real", "truth", "ranked")
NUMBERS = st.sampled_from([-2.0, -0.5, 0.25, 1.0, 3.0])


@st.composite
def blocks(draw, least=1):
    """A space with random probabilities of its terms, and a marginal or a conditional of it."""
    frame = draw(microdata(palettes=ORDERED))
    space = Space.of(publish(frame))
    by = draw(st.permutations([*quasi(frame), "S", "K"]))[: draw(st.integers(least, 3))]
    given = [column for column in by if column in quasi(frame)]
    of = [column for column in by if column not in given]
    block = space.conditional(of, given=given) if of and given and draw(st.booleans()) else space.marginal(by)
    p = draw(st.lists(st.integers(0, 9), min_size=len(space), max_size=len(space)))
    return space, np.array(p) / 90, block


def same(found, expected):
    """The same values at the same labels, in whatever order of rows and levels."""
    if not isinstance(expected, pd.Series):
        assert found == pytest.approx(expected)
        return
    if expected.index.nlevels > 1:
        expected = expected.reorder_levels(found.index.names)
    assert not found.index.has_duplicates
    assert len(found) == len(expected)
    np.testing.assert_allclose(expected.reindex(found.index), found, atol=1e-12)


def weights_for(block, draw):
    """A Series of numbers, one a label, in an order of its own."""
    numbers = draw(st.lists(NUMBERS, min_size=len(block), max_size=len(block)))
    return pd.Series(numbers, index=block.index).sample(frac=1, random_state=draw(st.integers(0, 99)))


@given(blocks(), NUMBERS, NUMBERS)
def test_numbers(drawn, a, c):
    """Multiples, constants, the other sign, and quotients."""
    _, p, block = drawn
    value = block.value(p)
    for found, expected in [
        (a * block + c, a * value + c),
        (c - block / a, c - value / a),
        (-(block - c) * a, -(value - c) * a),
        (np.float64(a) * block, a * value),
        (+block, value),
    ]:
        assert isinstance(found, Block)
        same(found.value(p), expected)


@given(blocks(), st.data())
def test_series(drawn, data):
    """Series are aligned by label, on either side; arrays by position, as pandas has it."""
    _, p, block = drawn
    value, w = block.value(p), weights_for(block, data.draw)
    array = np.arange(1.0, len(block) + 1)
    for found, expected in [
        (block * w + w, value * w + w),
        (w * block, w * value),
        (w - block / w, w - value / w),
        (array * block - array, array * value - array),
    ]:
        same(found.value(p), expected)


@given(blocks(least=2), st.data())
def test_sum(drawn, data):
    """Sums over all labels, and over those that share some levels, in whatever order these are named."""
    _, p, block = drawn
    levels = data.draw(st.permutations(block.index.names))[: data.draw(st.integers(1, block.index.nlevels))]
    changed = block * weights_for(block, data.draw) + 1
    same(changed.sum(level=levels).value(p), changed.value(p).groupby(level=levels, observed=True).sum())
    same(changed.sum().value(p), changed.value(p).sum())


@given(blocks(least=2), st.data())
def test_selection(drawn, data):
    """A label, a value of a level, lists, slices and masks select what pandas selects."""
    _, p, block = drawn
    value = block.value(p)
    label = data.draw(st.sampled_from(list(block.index)))
    level = data.draw(st.integers(0, block.index.nlevels - 1))
    name = block.index.names[level]
    assert block.loc[label].value(p) == block[label].value(p) == pytest.approx(value.loc[label])
    same(block.xs(label[level], level=name).value(p), value.xs(label[level], level=name))
    same(block[label[0]].value(p), value.xs(label[0], level=0))
    same(block.loc[[label]].value(p), value.loc[[label]])
    mask = value.index.get_level_values(level) == label[level]
    same(block[mask].value(p), value[mask])
    same(block[pd.Series(mask, index=block.index)[::-1]].value(p), value[mask])
    below = np.asarray([one <= label[0] for one in block.space.axes.of(block.index.names[0])[1]], dtype=bool)
    if not isinstance(block.index.levels[0], pd.CategoricalIndex):
        known = block.space.axes.of(block.index.names[0])[1][below]
        same(block.loc[: label[0]].value(p), value[value.index.get_level_values(0).isin(known)])


def everywhere(block, value, order):
    """The values of a block at all combinations of known values: 0 where nothing can be."""
    names = block.index.names
    whole = pd.MultiIndex.from_product([order[name] for name in names], names=names)
    return value.reindex(whole, fill_value=0.0) if len(names) > 1 else value.reindex(order[names[0]], fill_value=0.0)


@given(blocks(), st.data())
def test_differences(drawn, data):
    """Along a level in its order; what cannot be is 0, and differences of nothing from nothing have no row."""
    space, p, block = drawn
    level = data.draw(st.sampled_from(block.index.names))
    order = {name: sorted_values(space, name) for name in block.index.names}
    table = everywhere(block, block.value(p), order)
    occurs = everywhere(block, pd.Series(1.0, index=block.index), order)
    table, occurs = (one.unstack(level) if block.index.nlevels > 1 else one.to_frame().T for one in (table, occurs))
    columns = pd.Index(order[level])
    table, occurs = table.reindex(columns=columns), occurs.reindex(columns=columns).to_numpy()
    expected = table.to_numpy()[:, 1:] - table.to_numpy()[:, :-1]
    there = (occurs[:, 1:] + occurs[:, :-1]) > 0
    found = block.diff(level)
    assert len(found) == there.sum()
    for (row, column), _ in np.ndenumerate(expected):
        if there[row, column]:
            rest = table.index[row] if isinstance(table.index[row], tuple) else (table.index[row],)
            at = dict(zip(table.index.names, rest, strict=True)) | {level: order[level][column + 1]}
            label = tuple(at[name] for name in block.index.names)
            got = found.loc[label if len(label) > 1 else label[0]].value(p)
            assert got == pytest.approx(expected[row, column])
    # A constant goes, a factor stays, whatever is left out for being impossible.
    same((2 * block - 1).diff(level).value(p), 2 * found.value(p))
    if block.index.nlevels == 1:
        # Differences of differences are those of values that both have.
        expected = np.diff(table.to_numpy()[0], 2)
        for column, value in enumerate(expected):
            label = order[level][column + 2]
            assert label not in found.diff(level).index or found.diff(level).loc[label].value(p) == pytest.approx(value)
        assert set(found.diff(level).index) <= set(order[level][2:])
    # The first value of the level has no difference: it is not 0.
    first = order[level][0]
    refusing = [lambda: found.xs(first, level=level), lambda: found.diff(level).xs(order[level][:2][-1], level=level)]
    if first in block.index.get_level_values(level):
        refusing += [lambda: found + block, lambda: block - found, lambda: found >= 0.1 * block]
        refusing += [lambda: found == block.value(p), lambda: found.sum(level) + block.sum(level)]
    for wrong in refusing:
        with pytest.raises(LabelMismatch):
            wrong()


def sorted_values(space, name):
    """The values of a column, in order."""
    values = space.axes.of(name)[1]
    return list(values) if isinstance(values, pd.CategoricalIndex) else sorted(values)


@given(blocks(least=2), st.data())
def test_blocks(drawn, data):
    """Two blocks are added by label; one along some of the levels counts for all rows that share them."""
    space, p, block = drawn
    names = list(block.index.names)
    other = space.marginal(data.draw(st.permutations(names))) * data.draw(NUMBERS)
    value = other.value(p).reorder_levels(names)
    same((block + other).value(p), block.value(p).add(value, fill_value=0))
    same((other - block).value(p), value.sub(block.value(p), fill_value=0))
    coarse = space.marginal(names[0])
    broad = coarse.value(p).reindex(block.index.get_level_values(0)).to_numpy()
    same((block - coarse).value(p), block.value(p) - broad)
    same((coarse - block).value(p), broad - block.value(p))
    one = block.loc[block.index[0]]
    same((block - one).value(p), block.value(p) - one.value(p))


@given(blocks(least=2), st.data())
def test_values_that_cannot_meet(drawn, data):
    """Selecting, then adding, is adding, then selecting: what cannot be counts as 0 in both."""
    space, p, block = drawn
    first = block.index.names[0]
    values = space.axes.of(first)[1]
    one, two = data.draw(st.sampled_from(list(values))), data.draw(st.sampled_from(list(values)))
    together = block.xs(one, level=first) + 2 * block.xs(two, level=first)
    order = {name: sorted_values(space, name) for name in block.index.names}
    table = everywhere(block, block.value(p), order)
    expected = table.xs(one, level=first) + 2 * table.xs(two, level=first)
    found = together.value(p)
    np.testing.assert_allclose(found, expected.reindex(found.index))
    assert expected.sum() == pytest.approx(found.sum())
    label = tuple(data.draw(st.sampled_from(order[name])) for name in block.index.names)
    assert block.loc[label].value(p) == pytest.approx(table[label])


@given(blocks(), NUMBERS, st.data())
def test_comparisons_say_what_they_say(drawn, c, data):
    """A row of a comparison misses at p by as much as the two sides are apart on the wrong side."""
    _, p, block = drawn
    value, series = block.value(p), weights_for(block, data.draw)
    left = (2 * block - 1, 2 * value - 1)
    for rows, apart in [
        (left[0] == series, (left[1] - series).abs()),
        (left[0] <= c, (left[1] - c).clip(lower=0)),
        (left[0] >= block, (value - left[1]).clip(lower=0)),
        (left[0].between(series, series + 1), (series - left[1]).clip(lower=0) + (left[1] - series - 1).clip(lower=0)),
        (left[0].between(3 * block, c), (3 * value - left[1]).clip(lower=0).add((left[1] - c).clip(lower=0))),
        (abs(block - series) <= 0.25, ((value - series).abs() - 0.25).clip(lower=0)),
        (abs(block - series) <= 2 * block, ((value - series).abs() - 2 * value).clip(lower=0)),
    ]:
        assert rows.residual(p).sum() == pytest.approx(apart.sum(), abs=1e-9)
        assert rows.index is not None


def test_within_another_block(smokers):
    """|a| <= b is two rows a label, of a single expression b for all of them; where a side holds anyway, it is one."""
    model = mx.MaxEnt(smokers)
    block = model.space.conditional("s", given="age")["yes"]
    rows = abs(block - block.loc[40]) <= 0.25 * model.space.marginal("s").loc["yes"]
    assert rows.label == "|P(yes | age) - P(yes | age=40)| <= 0.25 P(yes)"
    assert list(rows.index.names) == ["age", "side"]
    assert len(rows) == 2 * len(block)
    assert np.isfinite(np.where(rows.index.get_level_values("side") == "high", rows.high, rows.low)).all()
    found = block.value(model.copy().add("P(yes | age=30) >= 0.5", rows).solve())
    most = 0.25 * model.space.marginal("s").loc["yes"].value(model.copy().add("P(yes | age=30) >= 0.5", rows).solve())
    assert (found - found[40]).abs().max() == pytest.approx(most, abs=1e-6)
    assert len(abs(block) <= block) == len(block)  # block >= -block
    with refused(mx.Infeasible):
        mx.MaxEnt(smokers).add(abs(block - 0.9) <= block - 0.6).solve()


def test_normal_equations(smokers):
    """X'(y - X beta) = 0 of y = [smokes] on 1 and age: the answer's own regression has these coefficients."""
    model = mx.MaxEnt(smokers)
    yes = model.space.marginal(["s", "age"])["yes"]
    age = yes.index.to_series()
    share = model.space.marginal("age").value(model.solve())  # known
    fit = share * (0.4 + 0.01 * (age - 460 / 15))  # 6 of 15 smoke, whose ages sum up to 460: only 0.4 agrees with that
    post = model.add(yes.sum() == fit.sum(), label="intercept").add((yes * age - fit * age).sum() == 0).solve()
    table = post.joint().groupby(level=["age", "s"]).sum().unstack("s")
    weights, ages = table.sum(axis=1).to_numpy(), table.index.to_numpy()
    y = table["yes"].to_numpy() / weights
    slope, intercept = np.polyfit(ages, y, 1, w=np.sqrt(weights))
    assert (intercept, slope) == pytest.approx((0.4 - 4.6 / 15, 0.01), abs=1e-6)


def test_tables(smokers):
    """A block prints as a table: how many terms, their coefficients, the constant; no more than the first rows."""
    block = mx.Space.of(smokers).conditional("s", given=["age", "sex"])
    text = repr(2 * block - 1)
    assert text.splitlines()[0] == "<Block: 2 P(s | age, sex) - 1, 14 rows by ['s', 'age', 'sex']>"
    assert "constant" in text
    assert text.endswith("...")
    html = block["yes"]._repr_html_()
    assert html.count("<th>yes") + html.count("<th>m</th>") == 3
    assert "P(yes | age, sex)" in html
    assert "single expression" in repr(block.loc["yes", 20, "m"])


def test_impossible_is_zero(smokers):
    """No man is 50: the probability is a row of zeros, selected, compared and in differences."""
    block = mx.Space.of(smokers).marginal(["s", "age", "sex"])
    nobody = block.loc["yes", 50, "m"]
    assert nobody.matrix.nnz == 0
    with refused(StatementError):
        operator.le(nobody, 0.5)
    with pytest.raises(mx.Infeasible):
        mx.MaxEnt(smokers).add(nobody >= 0.5).solve()
    falls = block.loc["yes", :, "m"].diff("age")
    assert falls.loc[50].matrix.toarray() == pytest.approx(-block.loc["yes", 40, "m"].matrix.toarray())
    table = pd.Series(0.01, index=block.index)
    zero = pd.Series([0.0], index=pd.MultiIndex.from_tuples([("yes", 50, "m")], names=block.index.names))
    assert (block == pd.concat([table, zero])).same_as(block == table)
    with refused(LabelMismatch, "('yes', 50, 'm')"):
        operator.eq(block, pd.concat([table, zero + 0.1]))


def test_what_was_left_out_is_not_impossible(smokers):
    """Rows that were not selected are missing, and do not count as 0."""
    block = mx.Space.of(smokers).conditional("s", given="age")
    young = block.loc[:, :30]
    with refused(LabelMismatch):
        _ = block - young
    with refused(LabelMismatch):
        _ = young + block
    with refused(LabelMismatch):
        _ = young + pd.Series(1.0, index=block.index)
    with refused(UnknownName):
        _ = young.loc["yes", 40]
    assert young.diff("age").index.to_list() == [("no", 30), ("yes", 30)]
    assert len(block.loc["yes", [20, 50]].diff("age")) == 1  # 50 against 20


def test_differences_of_a_sum_with_a_single_expression(smokers):
    """The value of such a sum at other labels is not known, but no other labels are needed here: it cancels."""
    block = Space.of(smokers).conditional("s", given="age")
    steps = (block + block.loc["yes", 20]).diff("age")
    assert not steps.constant.any()
    assert abs(steps.matrix - block.diff("age").matrix).max() == 0
    assert len(steps <= 0.5) == len(steps)


def test_order_of_categories():
    """Ordered categories are in their order, not in that of the alphabet; unordered ones have none."""
    table = pd.DataFrame({"age": ["old", "young", "mid"] * 4, "s": ["yes", "no"] * 6, "b": 1})
    for ordered in (True, False):
        ages = pd.Categorical(table["age"], categories=["young", "mid", "old"], ordered=ordered)
        space = Space.of(mx.Release.from_buckets(table.assign(age=ages), qi="age", sa="s", bucket="b"))
        block = space.conditional("s", given="age")["yes"]
        if ordered:
            assert block.diff("age").index.to_list() == ["mid", "old"]
            assert block.loc["mid":].index.to_list() == ["mid", "old"]
        else:
            with refused(StatementError, "'age'", "ordered=True"):
                block.diff("age")
