"""Blocks are Series of expressions: labels decide, never positions, and each operation is that of the values."""

from __future__ import annotations

import operator
from decimal import Decimal

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, Block, LabelMismatch, Rows, Space, StatementError, UnknownName
from support.helpers import refused
from support.strategies import microdata, publish, quasi

COMPARISONS = [operator.eq, operator.le, operator.ge]
MIRRORED = {operator.eq: operator.eq, operator.le: operator.ge, operator.ge: operator.le}
GENDERS = pd.Series({"male": 0.6, "female": 0.4}, name="P(Gender)").rename_axis("Gender")
ORDERED = ("text", "whole", "real", "truth", "ranked")
NUMBERS = st.sampled_from([-2.0, -0.5, 0.25, 1.0, 3.0])


@pytest.fixture
def genders(space):
    """P(Gender), two rows: female, male."""
    return space.marginal("Gender")


@pytest.fixture
def smokers():
    """A release of who smokes, by age and sex, without men of 50."""
    table = pd.DataFrame(
        [(20, "m", "no"), (20, "f", "no"), (20, "m", "yes"), (30, "m", "yes"), (30, "f", "no")] * 2
        + [(40, "m", "yes"), (40, "f", "no"), (40, "m", "no"), (50, "f", "yes"), (50, "f", "no")],
        columns=["age", "sex", "s"],
    )
    return mx.Release.from_buckets(table.assign(b=1), qi=["age", "sex"], sa="s", bucket="b")


# -- values meet rows by label --------------------------------------------------------------------------------------


@st.composite
def blocks_and_values(draw):
    """A block, its values in the order of the rows, and the same values in any order of rows and levels."""
    frame = draw(microdata())
    by = draw(st.permutations([*quasi(frame), "S", "K"]))[: draw(st.integers(1, 4))]
    block = Space.of(publish(frame)).marginal(by)
    straight = pd.Series(np.arange(1, len(block) + 1) / 100, index=block.index)
    permuted = straight.iloc[draw(st.permutations(range(len(block))))]
    if len(by) > 1:
        permuted = permuted.reorder_levels(draw(st.permutations(by)))
    return block, straight, permuted


@given(blocks_and_values(), st.sampled_from(COMPARISONS))
def test_order_means_nothing(drawn, compare):
    """A Series says the same in any order of its rows and levels, on either side: each row gets the value of its label."""
    block, straight, permuted = drawn
    rows = compare(block, permuted)
    assert isinstance(rows, Rows)
    assert rows.same_as(compare(block, straight))
    for side in {operator.eq: ("low", "high"), operator.le: ("high",), operator.ge: ("low",)}[compare]:
        assert getattr(rows, side).tolist() == straight.tolist()
    assert rows.index is block.index
    mirrored = compare(permuted, block)
    assert isinstance(mirrored, Rows)
    assert mirrored.same_as(MIRRORED[compare](block, straight))


def test_labels_that_do_not_match(genders):
    """Labels that are missing, additional, repeated or of other attributes are refused, and so are unlabelled values."""
    for values in (
        GENDERS[:1],
        pd.concat([GENDERS, pd.Series({"other": 0.0}).rename_axis("Gender")]),
        pd.concat([GENDERS, GENDERS[:1]]),
        GENDERS.rename({"male": "mail"}),
        GENDERS.sort_index().rename_axis("Degree"),
        np.array([0.4, 0.6]),
        [0.4, 0.6],
        {"male": 0.6, "female": 0.4},
        GENDERS.to_frame(),
        GENDERS.index,
    ):
        for left, right in ((genders, values), (values, genders)):
            for compare in (operator.eq, operator.le):
                with refused(LabelMismatch):
                    compare(left, right)
    # An index without a name is matched by its labels.
    assert (genders == GENDERS.rename_axis(None)).low.tolist() == [0.4, 0.6]


def test_sides(genders, space):
    """A number is the value of every row; between and about have two sides, each by label; rows have names."""
    assert (genders == np.float32(0.5)).low.tolist() == [0.5, 0.5]
    rows = genders.between(0.1, GENDERS)
    assert (rows.low.tolist(), rows.high.tolist()) == ([0.1, 0.1], [0.4, 0.6])
    with refused(BadProbability):
        genders.between(GENDERS, 0.5)
    assert genders.about(GENDERS, eps=0.1).same_as(genders.between(GENDERS - 0.1, GENDERS + 0.1))  # section 4.5
    relations = [rows.relation, *(compare(genders, 0.5).relation for compare in COMPARISONS)]
    assert relations == ["between", "==", "<=", ">="]
    assert [rows.name(i) for i in range(2)] == ["P(Gender): female", "P(Gender): male"]
    for other in (genders <= 0.8, genders >= 0.9, space.marginal("s") <= 0.9):
        assert not other.same_as(genders <= 0.9)


def test_costs_of_selected_rows(genders):
    """Selected rows keep their own costs."""
    rows = genders.softly(GENDERS, sd=pd.Series({"male": 0.1, "female": 0.2}).rename_axis("Gender"), delta=0.3)
    assert rows.penalty.sd.tolist() == [0.2, 0.1]
    (male,) = np.flatnonzero(rows.index == "male")
    assert str(rows.at(np.array([male])).penalty) == "sd 0.1, delta 0.3"
    assert rows.at(rows.index == "nobody").penalty.n_rows == 0
    assert not rows.same_as(genders.softly(GENDERS, sd=0.1, delta=0.3))
    assert rows.same_as(rows.at(np.arange(2)))


# -- an operation on a block is the operation on its values at any probabilities ------------------------------------


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


def same(result, expected):
    """Both have the same values at the same labels, in any order of rows and levels."""
    if not isinstance(expected, pd.Series):
        assert result == pytest.approx(expected)
        return
    if expected.index.nlevels > 1:
        expected = expected.reorder_levels(result.index.names)
    assert not result.index.has_duplicates
    assert len(result) == len(expected)
    np.testing.assert_allclose(expected.reindex(result.index), result, atol=1e-12)


def weights_for(block, draw):
    """A Series of numbers, one a label, in an order of its own."""
    numbers = draw(st.lists(NUMBERS, min_size=len(block), max_size=len(block)))
    return pd.Series(numbers, index=block.index).sample(frac=1, random_state=draw(st.integers(0, 99)))


@given(blocks(), NUMBERS, NUMBERS)
def test_numbers(drawn, a, c):
    """Multiples, constants, the other sign, and quotients."""
    _, p, block = drawn
    value = block.value(p)
    for result, expected in [
        (a * block + c, a * value + c),
        (c - block / a, c - value / a),
        (-(block - c) * a, -(value - c) * a),
        (np.float64(a) * block, a * value),
        (+block, value),
    ]:
        assert isinstance(result, Block)
        same(result.value(p), expected)


@given(blocks(), st.data())
def test_series(drawn, data):
    """Series are aligned by label, on either side; arrays by position, as pandas has it."""
    _, p, block = drawn
    value, w = block.value(p), weights_for(block, data.draw)
    array = np.arange(1.0, len(block) + 1)
    for result, expected in [
        (block * w + w, value * w + w),
        (w * block, w * value),
        (w - block / w, w - value / w),
        (array * block - array, array * value - array),
    ]:
        same(result.value(p), expected)


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
    labelled = pd.Series(mask, index=block.index)[::-1]
    same(block[labelled].value(p), value[mask])
    if block.index.nlevels > 1:
        same(block[labelled.astype("boolean").reorder_levels(block.index.names[::-1])].value(p), value[mask])
    with refused(LabelMismatch):
        block[labelled.rename({label[0]: "unknown"}, level=0)]
    below = np.asarray([one <= label[0] for one in block.space.axes.of(block.index.names[0])[1]], dtype=bool)
    if not isinstance(block.index.levels[0], pd.CategoricalIndex):
        known = block.space.axes.of(block.index.names[0])[1][below]
        same(block.loc[: label[0]].value(p), value[value.index.get_level_values(0).isin(known)])


def everywhere(block, value):
    """The values of a block at all combinations of known values: 0 where nothing can be."""
    names = block.index.names
    order = [sorted_values(block.space, name) for name in names]
    whole = pd.MultiIndex.from_product(order, names=names) if len(names) > 1 else pd.Index(order[0], name=names[0])
    return value.reindex(whole, fill_value=0.0)


@given(blocks(), st.data())
def test_differences(drawn, data):
    """A difference is along a level in its order; an impossible value is 0, and has no row if both values are."""
    space, p, block = drawn
    names = list(block.index.names)
    level = data.draw(st.sampled_from(names))
    order, rest = sorted_values(space, level), [name for name in names if name != level]

    def along(values):
        return values.groupby(level=rest, sort=False, observed=True) if rest else values

    occurs = everywhere(block, pd.Series(1.0, index=block.index))
    steps, possible = along(everywhere(block, block.value(p))).diff(), occurs + along(occurs).shift(fill_value=0) > 0
    difference = block.diff(level)
    same(difference.value(p), steps[possible & steps.notna()])
    # A constant vanishes and a factor stays, whatever is left out as impossible.
    same((2 * block - 1).diff(level).value(p), 2 * difference.value(p))
    if not rest:  # differences of differences are those of values that both have
        second = difference.diff(level).value(p)
        assert set(second.index) <= set(order[2:])
        np.testing.assert_allclose(second, steps.diff().reindex(second.index))
    # The first value of the level has no difference: it is not 0.
    wrong = [lambda: difference.xs(order[0], level=level)]
    wrong += [lambda: difference.diff(level).xs(order[:2][-1], level=level)]
    if order[0] in block.index.get_level_values(level):
        wrong += [lambda: difference + block, lambda: block - difference, lambda: difference >= 0.1 * block]
        wrong += [lambda: difference == block.value(p), lambda: difference.sum(level) + block.sum(level)]
    for make in wrong:
        with pytest.raises(LabelMismatch):
            make()


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
    one, two = (data.draw(st.sampled_from(list(space.axes.of(first)[1]))) for _ in range(2))
    together = (block.xs(one, level=first) + 2 * block.xs(two, level=first)).value(p)
    table = everywhere(block, block.value(p))
    expected = table.xs(one, level=first) + 2 * table.xs(two, level=first)
    np.testing.assert_allclose(together, expected.reindex(together.index))
    assert expected.sum() == pytest.approx(together.sum())
    label = tuple(data.draw(st.sampled_from(sorted_values(space, name))) for name in block.index.names)
    assert block.loc[label].value(p) == pytest.approx(table[label])


@given(blocks(), NUMBERS, st.data())
def test_residuals_of_comparisons(drawn, c, data):
    """The residual of a row at p is the distance of its two sides if they are in the wrong order."""
    _, p, block = drawn
    value, series = block.value(p), weights_for(block, data.draw)
    left, left_value = 2 * block - 1, 2 * value - 1

    def excess(low, high):
        return (low - high).clip(lower=0)

    for rows, residual in [
        (left == series, (left_value - series).abs()),
        (left <= c, excess(left_value, c)),
        (left >= block, excess(value, left_value)),
        (left.between(series, series + 1), excess(series, left_value) + excess(left_value, series + 1)),
        (left.between(3 * block, c), excess(3 * value, left_value) + excess(left_value, c)),
        (abs(block - series) <= 0.25, excess((value - series).abs(), 0.25)),
        (abs(block - series) <= 2 * block, excess((value - series).abs(), 2 * value)),
    ]:
        assert rows.residual(p).sum() == pytest.approx(residual.sum(), abs=1e-9)
        assert rows.index is not None


def test_a_block_is_printed_as_a_table(smokers):
    block = mx.Space.of(smokers).conditional("s", given=["age", "sex"])
    assert "2 P(s | age, sex) - 1" in repr(2 * block - 1)
    assert "P(yes | age, sex)" in block["yes"]._repr_html_()
    assert "P(" in repr(block.loc["yes", 20, "m"])


def test_within_another_block(smokers):
    """|a| <= b is two rows per label, of a single expression b for all of them; where one side is implied, one row."""
    model = mx.MaxEnt(smokers)
    block = model.space.conditional("s", given="age")["yes"]
    limit = 0.25 * model.space.marginal("s").loc["yes"]
    rows = abs(block - block.loc[40]) <= limit
    assert rows.label == "|P(yes | age) - P(yes | age=40)| <= 0.25 P(yes)"
    assert list(rows.index.names) == ["age", "side"]
    assert len(rows) == 2 * len(block)
    assert np.isfinite(np.where(rows.index.get_level_values("side") == "high", rows.high, rows.low)).all()
    post = model.copy().add("P(yes | age=30) >= 0.5", rows).solve()
    shares = block.value(post)
    assert (shares - shares[40]).abs().max() == pytest.approx(limit.value(post), abs=1e-6)
    assert len(abs(block) <= block) == len(block)  # block >= -block
    with refused(mx.Infeasible):
        mx.MaxEnt(smokers).add(abs(block - 0.9) <= block - 0.6).solve()


@pytest.mark.parametrize("kind", ["marginal", "conditional"])
def test_zeros_of_nobody_are_left_out(smokers, kind):
    """No man is 50: 0 in a table is no statement about him, any other number an error, as is a table without others."""
    space, labels = mx.Space.of(smokers), [("yes", 50, "m"), ("no", 50, "m")]
    block = space.marginal(["s", "age", "sex"]) if kind == "marginal" else space.conditional("s", given=["age", "sex"])
    table, index = pd.Series(0.01, index=block.index), pd.MultiIndex.from_tuples(labels, names=block.index.names)
    whole = pd.concat([table, pd.Series(0.0, index=index)])
    assert (block == whole).same_as(block == table)
    assert len(abs(block - whole) <= 0.02) == len(block)
    with refused(LabelMismatch, "('yes', 50, 'm')"):
        operator.eq(block, pd.concat([table, pd.Series(0.1, index=index)]))
    nobody = block.loc["yes", 50, "m"]
    several = [block.xs((50, "m"), level=["age", "sex"]), block.loc[index]] if kind == "conditional" else []
    for expression in (nobody, *several):
        assert expression.matrix.nnz == 0
        with refused(StatementError):
            operator.le(expression, 0.5)
    if kind == "marginal":
        with pytest.raises(mx.Infeasible):
            mx.MaxEnt(smokers).add(nobody >= 0.5).solve()


def test_rows_that_were_not_selected_are_missing(smokers):
    """They do not count as 0."""
    block = mx.Space.of(smokers).conditional("s", given="age")
    young = block.loc[:, :30]
    for error, use in [
        (LabelMismatch, lambda: block - young),
        (LabelMismatch, lambda: young + block),
        (LabelMismatch, lambda: young + pd.Series(1.0, index=block.index)),
        (UnknownName, lambda: young.loc["yes", 40]),
    ]:
        with refused(error):
            use()
    assert young.diff("age").index.to_list() == [("no", 30), ("yes", 30)]
    assert len(block.loc["yes", [20, 50]].diff("age")) == 1  # 50 against 20


def test_differences_of_a_sum_with_a_single_expression(smokers):
    """The value of such a sum at other labels is not known, but no other labels are needed here: it cancels."""
    block = Space.of(smokers).conditional("s", given="age")
    steps = (block + block.loc["yes", 20]).diff("age")
    assert not steps.constant.any()
    assert abs(steps.matrix - block.diff("age").matrix).max() == 0
    assert len(steps <= 0.5) == len(steps)


def test_slices_of_decimals_include_their_ends():
    """The slice from 0.2 contains Decimal("0.2"), which is below the float 0.2."""
    table = pd.DataFrame({"dose": [Decimal("0.1"), Decimal("0.2")], "s": ["yes", "no"], "b": 1})
    block = Space.of(mx.Release.from_buckets(table, qi="dose", sa="s", bucket="b")).marginal("dose")
    assert block.loc[0.2:].index.to_list() == [Decimal("0.2")]


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


# -- among nobody a probability is 0 / 0: an expression of it is undefined, as NaN is in pandas ----------------------


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


def marked(result, expected):
    """The undefined labels are those with NaN in pandas."""
    for label, undefined in zip(result.index, result.undefined, strict=True):
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
def shares(smokers):
    """P(s | age, sex), where nobody of 50 is a man."""
    return Space.of(smokers).conditional("s", given=["age", "sex"])


def test_statements_about_nobody_are_refused(shares):
    """Every comparison with a probability among nobody is refused, by label; so is its expression."""
    steps = shares["yes"].diff("age")
    men, women = (shares.xs(sex, level="sex")["yes"] for sex in "mf")
    nobody, of_nobody = shares.loc["yes", 50, "m"], shares.xs((50, "m"), level=["age", "sex"])
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
        lambda: men >= women,
        lambda: women >= men,
        lambda: abs(men - women) <= 0.1,
        lambda: men.loc[50] >= 0.1,
        lambda: women >= nobody,
        lambda: nobody <= women.loc[20],
    ):
        with refused(StatementError, "50"):
            compare()
    for total in (steps.sum(), of_nobody.sum()):
        with refused(StatementError):
            operator.le(total, 1)


# -- errors ---------------------------------------------------------------------------------------------------------

ERRORS = [
    (UnknownName, lambda b: b["ye"]),
    (UnknownName, lambda b: b.loc["yes", [20, 41]]),
    (UnknownName, lambda b: b.loc[[("yes", 41)]]),
    (UnknownName, lambda b: b.loc["yes", 20, 1]),
    (UnknownName, lambda b: b.xs(20, level="ag")),
    (UnknownName, lambda b: b.sum(level="sex")),
    (StatementError, lambda b: b.loc["yes", "a":"b"]),
    (StatementError, lambda b: b.loc["yes", 20:40:2]),
    (StatementError, lambda b: b * b),
    (StatementError, lambda b: 1 / b),
    (StatementError, lambda b: b / b),
    (BadProbability, lambda b: b / 0),
    (LabelMismatch, lambda b: b + [1.0] * 8),
    (BadProbability, lambda b: b + np.nan),
    (BadProbability, lambda b: b + pd.Series(np.nan, index=b.index)),
    (BadProbability, lambda b: 2 * b <= np.inf),
    (BadProbability, lambda b: Rows(b.matrix * np.inf, np.zeros(len(b)), np.ones(len(b)), "infinite")),
    (BadProbability, lambda b: Rows(b.matrix, np.full(len(b), np.inf), np.full(len(b), np.inf), "unlimited")),
    (StatementError, lambda b: b[pd.Series(None, b.index, dtype="boolean")]),
    (StatementError, lambda b: b + np.ones(3)),
    (LabelMismatch, lambda b: b["yes"] * pd.Series({20: 1, 30: 1, 40: 1, 50: 1, 60: 1}).rename_axis("age")),
    (LabelMismatch, lambda b: b["yes"] + pd.Series({20: 1.0}).rename_axis("age")),
    (StatementError, lambda b: b == b),
    (StatementError, lambda b: abs(b) >= 0.1),
    (StatementError, lambda b: abs(b) == 0.1),
    (BadProbability, lambda b: abs(b - 0.5) <= -0.1),
    (StatementError, lambda b: b.value(np.ones(3))),
    (LabelMismatch, lambda b: b * pd.Series({"yes": 1.0, "no": 0.0})),
    (LabelMismatch, lambda b: b.sum() * pd.Series({20: 1.0})),
    (UnknownName, lambda b: b.sum() * pd.Series({1: 1.0}).rename_axis("ag")),
    (LabelMismatch, lambda b: b.sum() * pd.Series({41: 1.0}).rename_axis("age")),
    (LabelMismatch, lambda b: b.sum() * pd.Series([1.0, 2.0], pd.Index([20, 20], name="age"))),
    (LabelMismatch, lambda b: b["yes"] - pd.Series({20: 1.0}).rename_axis("age") * b.loc["yes", 40]),
    (StatementError, lambda b: b <= cp.Parameter(value=0.3)),
    (LabelMismatch, lambda b: b["yes"].loc[[20, 20]]),
    (LabelMismatch, lambda b: b.loc["yes", [20, 20]]),
    (StatementError, lambda b: b["yes"].loc[np.array(20)]),
    (LabelMismatch, lambda b: b.at(np.array([0, 0]))),
    (StatementError, lambda b: b.sum().diff("age")),
]


def test_errors(smokers, space):
    """Selections, sums and comparisons that are not possible are errors; a block has no truth value and no positions."""
    block = Space.of(smokers).conditional("s", given="age")
    for error, wrong in ERRORS:
        with refused(error):
            wrong(block)
    with refused(StatementError):  # of another model
        _ = Space.of(smokers).marginal("s") + space.marginal("s")
    for use in (bool, list, lambda b: 1 in b):
        with pytest.raises(TypeError):
            use(block)
