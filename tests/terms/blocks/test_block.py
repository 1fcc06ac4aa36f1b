"""Blocks: values meet rows by label, whatever their order, and never by position."""

from __future__ import annotations

import operator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, LabelMismatch, MaxEntError, Rows, Space, StatementError
from support.helpers import refused
from support.strategies import microdata, publish, quasi

COMPARISONS = [operator.eq, operator.le, operator.ge]
MIRRORED = {operator.eq: operator.eq, operator.le: operator.ge, operator.ge: operator.le}
GENDERS = pd.Series({"male": 0.6, "female": 0.4}, name="P(Gender)").rename_axis("Gender")
OTHER = pd.Series({"other": 0.0}).rename_axis("Gender")


@pytest.fixture
def genders(space):
    """P(Gender), two rows: female, male."""
    return space.marginal("Gender")


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


@settings(deadline=None, max_examples=60)
@given(blocks_and_values(), st.sampled_from(COMPARISONS))
def test_order_means_nothing(drawn, compare):
    """A Series says the same in any order of its rows and levels: each row gets the value of its own label."""
    block, straight, permuted = drawn
    rows = compare(block, permuted)
    assert isinstance(rows, Rows)
    assert rows.same_as(compare(block, straight))
    for side in {operator.eq: ("low", "high"), operator.le: ("high",), operator.ge: ("low",)}[compare]:
        assert getattr(rows, side).tolist() == straight.tolist()
    assert rows.index is block.index


@settings(deadline=None, max_examples=60)
@given(blocks_and_values(), st.sampled_from(COMPARISONS))
def test_series_on_the_left(drawn, compare):
    """``series <= block`` is ``block >= series``: rows, by label, and not a Series of truth values."""
    block, straight, permuted = drawn
    rows = compare(permuted, block)
    assert isinstance(rows, Rows)
    assert rows.same_as(MIRRORED[compare](block, straight))


def test_levels_with_the_same_values():
    """Where A and B have the same values only the level names tell (A, B) from (B, A): they decide."""
    frame = pd.DataFrame({"A": [0, 0, 1, 1], "B": [0, 1, 0, 1], "S": list("xyxy"), "K": [1] * 4})
    block = Space.of(publish(frame)).marginal(["A", "B"])
    by_b_first = pd.Series([0.1, 0.2, 0.3, 0.4], index=block.index.set_names(["B", "A"]))
    assert (block == by_b_first).low.tolist() == [0.1, 0.3, 0.2, 0.4]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (GENDERS[:1], ["P(Gender) lack 'female'", "exactly the 2 labels", "reindex"]),
        (pd.concat([GENDERS, OTHER]), ["P(Gender) have 'other'", "exactly the 2 labels"]),
        (GENDERS.rename({"male": "mail"}), ["lack 'male' and have 'mail'"]),
        (GENDERS[:0], ["lack 'female', 'male'"]),
        (pd.concat([GENDERS, GENDERS[:1]]), ["repeat the labels 'male'", "one value a label"]),
        (GENDERS.rename_axis("Degree"), ["['Gender']", "['Degree']", "name the levels alike"]),
        (GENDERS.sort_index().rename_axis("Degree"), ["['Gender']", "['Degree']", "name the levels alike"]),
    ],
    ids=["short", "extra", "renamed", "empty", "repeated", "level", "level, labels in order"],
)
@pytest.mark.parametrize("compare", [*COMPARISONS, lambda block, values: values <= block])
def test_labels_that_do_not_match(genders, values, says, compare):
    """Labels too few, too many, repeated or of something else are refused, with the labels and the remedy."""
    with refused(LabelMismatch, *says):
        compare(genders, values)


def test_labels_of_several_levels_that_do_not_match(space, release):
    """A Series over more, fewer or other columns is refused, with the columns of both sides."""
    block, values = space.marginal(["q", "bucket"]), release.p_qb
    with refused(LabelMismatch, "lack ('female', 'college', 1)"):
        operator.eq(block, values[1:])
    for other in (values.droplevel("Bucket"), release.p_sb, values.rename_axis(["Degree", "Gender", "Bucket"])):
        with pytest.raises(LabelMismatch):
            operator.eq(block, other)


def test_many_labels_that_do_not_match(space):
    """Of many missing labels the first few are shown, and how many there are."""
    block = space.marginal(["q", "s", "bucket"])
    with refused(LabelMismatch):
        operator.eq(block, pd.Series(dtype=float, index=block.index[:0]))


def test_series_without_level_names(genders):
    """An index without a name is matched by its labels."""
    assert (genders == GENDERS.rename_axis(None)).low.tolist() == [0.4, 0.6]


def test_missing_value_in_a_series(genders):
    """NaN is no probability; the label that has it is named."""
    with refused(BadProbability, "P(Gender)"):
        operator.le(genders, GENDERS.where(GENDERS < 0.5))


@pytest.mark.parametrize("bad", [np.inf, -np.inf, 1.5, -0.5])
def test_value_that_no_probability_has(genders, bad):
    """An equation with a number outside [0, 1] holds of nothing, and is refused at once."""
    with pytest.raises(BadProbability, match=r"P\(Gender\)"):
        operator.eq(genders, bad)
    with pytest.raises(BadProbability, match="male"):
        operator.eq(genders, GENDERS.replace(0.6, bad))


@pytest.mark.parametrize("bad", [np.nan, True, np.True_, "0.3", b"0.3", None])
@pytest.mark.parametrize("compare", COMPARISONS)
def test_scalar_that_is_no_number(genders, bad, compare):
    """Only a number can be the value of every row: not a text, a truth value or nothing."""
    with pytest.raises(MaxEntError, match=r"P\(Gender\)"):
        compare(genders, bad)


def test_series_of_text(genders):
    """A Series of texts holds no values; the block is named."""
    with pytest.raises(MaxEntError, match=r"P\(Gender\)"):
        operator.eq(genders, GENDERS.astype(str).replace("0.4", "few"))


@pytest.mark.parametrize("number", [0.3, 0, 1, np.float64(0.3), np.float32(0.5), np.int64(1)])
def test_number(genders, number):
    """A number is the value of every row, from either side."""
    assert (genders == number).low.tolist() == [number, number]
    assert (genders <= number).same_as(number >= genders)
    assert (genders >= number).same_as(number <= genders)


@pytest.mark.parametrize(
    "values",
    [np.array([0.4, 0.6]), [0.4, 0.6], (0.4, 0.6), {"male": 0.6, "female": 0.4}, GENDERS.to_frame(), GENDERS.index],
    ids=lambda values: type(values).__name__,
)
@pytest.mark.parametrize("compare", COMPARISONS)
def test_values_without_labels(genders, values, compare):
    """What has no labels, or not one value a label, is refused on either side, with what is expected."""
    for left, right in ((genders, values), (values, genders)):
        with refused(LabelMismatch, f"a {type(values).__name__}"):
            compare(left, right)


def test_a_block_compared_with_itself(genders):
    """Both sides are the same: nothing is said, and it is not taken as an identity."""
    with refused(StatementError):
        operator.eq(genders, genders)


@pytest.mark.parametrize("compare", [operator.lt, operator.gt, operator.ne])
@pytest.mark.parametrize("values", [0.5, GENDERS], ids=["number", "series"])
def test_comparisons_that_are_no_knowledge(genders, values, compare):
    """Strict inequality and difference are not linear knowledge: refused on either side, never True or False."""
    for left, right in ((genders, values), (values, genders)):
        with pytest.raises((MaxEntError, TypeError)):
            compare(left, right)


@pytest.mark.parametrize("low", [0.1, GENDERS / 2], ids=["number", "series"])
def test_chained_comparison(genders, low):
    """Python reads ``low <= block <= high`` as two comparisons and drops the first: refused, with the remedy."""
    with pytest.raises(TypeError):
        _ = low <= genders <= 0.9


def test_between(genders):
    """``between`` says both sides, each a number or a Series by label."""
    rows = genders.between(0.1, GENDERS)
    assert rows.low.tolist() == [0.1, 0.1]
    assert rows.high.tolist() == [0.4, 0.6]
    with refused(BadProbability, "at least 0.6 and at most 0.5"):
        genders.between(GENDERS, 0.5)


def test_about(genders):
    """``about`` allows eps on either side of the value (section 4.5)."""
    rows = genders.about(GENDERS, eps=0.1)
    assert rows.low == pytest.approx([0.3, 0.5])
    assert rows.high == pytest.approx([0.5, 0.7])


@pytest.mark.parametrize(
    "eps", [-0.1, np.nan, GENDERS, GENDERS.to_numpy(), "0.1"], ids=["negative", "NaN", "Series", "array", "text"]
)
def test_vagueness_is_one_number(genders, eps):
    """Vagueness is one number, not negative; values in another order than the rows must not slip in by position."""
    with pytest.raises(MaxEntError):
        genders.about(0.5, eps=eps)


def test_rows_say_what_they_are(genders):
    """Rows carry the block's name, the relation, and a name for every row."""
    assert [compare(genders, 0.5).relation for compare in COMPARISONS] == ["==", "<=", ">="]
    assert genders.between(0.1, 0.9).relation == "between"
    assert [(genders == GENDERS).name(i) for i in range(2)] == ["P(Gender): female", "P(Gender): male"]


def test_residual(space, genders, hospital):
    """A row's residual is how far it is from holding, and nothing while it holds."""
    p = space.count(hospital) / 10
    assert (genders == GENDERS).residual(p) == pytest.approx([0, 0])
    assert (genders <= 0.5).residual(p) == pytest.approx([0, 0.1])
    assert (genders >= 0.5).residual(p) == pytest.approx([0.1, 0])


def test_rows_that_say_the_same(space):
    """Rows are the same if matrix and both sides are; other terms or other values are something else."""
    rows = space.marginal("Gender") <= 0.9
    assert rows.same_as(space.marginal("Gender") <= 0.9)
    assert not rows.same_as(space.marginal("Gender") <= 0.8)
    assert not rows.same_as(space.marginal("Gender") >= 0.9)
    assert not rows.same_as(space.marginal("s") <= 0.9)


def test_nan_coefficient(space):
    """A row with NaN in matrix or value says nothing and is refused under its own name."""
    matrix = space.marginal("Gender").matrix
    with refused(BadProbability):
        mx.Rows(matrix, np.array([0, np.nan]), np.ones(2), "gossip")
    with refused(BadProbability):
        mx.Rows(matrix * np.nan, np.zeros(2), np.ones(2), "gossip")
