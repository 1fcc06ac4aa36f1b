"""Blocks: values meet rows by label, whatever their order, and never by position."""

from __future__ import annotations

import operator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx import BadProbability, LabelMismatch, Rows, Space
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
        (pd.concat([GENDERS, GENDERS[:1]]), ["'male'"]),
        (GENDERS.rename_axis("Degree"), ["['Gender']", "['Degree']", "name the levels alike"]),
        (GENDERS.sort_index().rename_axis("Degree"), ["['Gender']", "['Degree']", "name the levels alike"]),
    ],
    ids=["short", "extra", "renamed", "empty", "repeated", "level", "level, labels in order"],
)
@pytest.mark.parametrize("compare", [operator.le, lambda block, values: values <= block])
def test_labels_that_do_not_match(genders, values, says, compare):
    """Labels too few, too many, repeated or of something else are refused, with the labels and the remedy."""
    with refused(LabelMismatch, *says):
        compare(genders, values)


def test_series_without_level_names(genders):
    """An index without a name is matched by its labels."""
    assert (genders == GENDERS.rename_axis(None)).low.tolist() == [0.4, 0.6]


@pytest.mark.parametrize("number", [0.3, 0, np.float32(0.5), np.int64(1)])
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
@pytest.mark.parametrize("compare", [operator.eq, operator.le])
def test_values_without_labels(genders, values, compare):
    """What has no labels, or not one value a label, is refused on either side, with what is expected."""
    for left, right in ((genders, values), (values, genders)):
        with refused(LabelMismatch, f"a {type(values).__name__}"):
            compare(left, right)


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


def test_rows_say_what_they_are(genders):
    """Rows carry the block's name, the relation, and a name for every row."""
    assert [compare(genders, 0.5).relation for compare in COMPARISONS] == ["==", "<=", ">="]
    assert genders.between(0.1, 0.9).relation == "between"
    assert [(genders == GENDERS).name(i) for i in range(2)] == ["P(Gender): female", "P(Gender): male"]


def test_costs_of_selected_rows(genders):
    """Selected rows keep their own costs."""
    rows = genders.softly(GENDERS, sd=pd.Series({"male": 0.1, "female": 0.2}).rename_axis("Gender"), delta=0.3)
    assert rows.penalty.sd.tolist() == [0.2, 0.1]
    (male,) = np.flatnonzero(rows.index == "male")
    assert str(rows.at(np.array([male])).penalty) == "sd 0.1, delta 0.3"
    assert rows.at(rows.index == "nobody").penalty.n_rows == 0
    assert not rows.same_as(genders.softly(GENDERS, sd=0.1, delta=0.3))
    assert rows.same_as(rows.at(np.arange(2)))


def test_rows_that_say_the_same(space):
    """Rows are the same if matrix and both sides are; other terms or other values are something else."""
    rows = space.marginal("Gender") <= 0.9
    assert rows.same_as(space.marginal("Gender") <= 0.9)
    assert not rows.same_as(space.marginal("Gender") <= 0.8)
    assert not rows.same_as(space.marginal("Gender") >= 0.9)
    assert not rows.same_as(space.marginal("s") <= 0.9)
