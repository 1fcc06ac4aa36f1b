"""Associations between QI values and the sensitive attribute, against counting them one by one (section 4.4)."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import StatementError, StrongestAssociations
from support.strategies import assignments, microdata, publish, quasi, rank, tally


def oracle(frame, negative, min_support=1, sizes=(1, 2, 3)):
    """Every association that has the support, strongest first: (given, value, confidence, support)."""
    order = {column: rank(frame[column]) for column in [*quasi(frame), "S"]}
    results = []
    for size in sizes:
        for columns in combinations(quasi(frame), size):
            people, joint = tally(frame, columns), tally(frame, [*columns, "S"])
            for combination, n in people.items():
                for value in order["S"]:
                    with_value = joint.get((*combination, value), 0)
                    support = n - with_value if negative else with_value
                    names = [order[column][v] for column, v in zip(columns, combination, strict=True)]
                    key = (-Fraction(support, n), -support, size, columns, names, order["S"][value])
                    if value in set(frame["S"]) and support >= min_support:
                        results.append((key, dict(zip(columns, combination, strict=True)), value))
    return [(conditions, value, -key[0], -key[1]) for key, conditions, value in sorted(results, key=lambda f: f[0])]


def mine(frame, **options):
    """Mine a drawn table, its QI columns named in reverse: names, not their order of mention, break ties."""
    return mx.mine_associations(frame, qi=quasi(frame)[::-1], sa="S", **options)


@settings(max_examples=60)
@given(microdata(max_qi=3), st.integers(1, 3), st.sampled_from([None, 1, (1, 2), (2, 3)]))
def test_all_associations_in_order(frame, min_support, attributes):
    """All Q => S and Q => not S: confidence, then support, both descending, then fewer attributes, then names."""
    allowed = range(1, len(quasi(frame)) + 1)
    sizes = allowed if attributes is None else np.atleast_1d(attributes).tolist()
    assume(set(sizes) <= set(allowed))
    mined = mine(frame, min_support=min_support, attributes=attributes)
    table = mined.table()
    positive, negative = (oracle(frame, sign, min_support, sizes) for sign in (False, True))
    assert (len(mined.positive), len(mined.negative)) == (len(positive), len(negative))
    for row, (conditions, value, confidence, support) in zip(
        table.itertuples(index=False), positive + negative, strict=True
    ):
        given = ", ".join(f"{column}={v}" for column, v in conditions.items())
        assert row.rule.replace("=> not ", "=> ") == f"{given} => {value}"
        assert (row.attributes, row.support) == (len(conditions), support)
        assert row.confidence == pytest.approx(float(confidence), abs=1e-15)
    signs = ["=> not " in rule for rule in table["rule"]]
    assert signs == [False] * len(positive) + [True] * len(negative)


@given(microdata(max_qi=3), st.integers(1, 2), st.data())
def test_rows_at_any_assignment(frame, min_support, data):
    """The rows are P(S | Q) = n(Q, S) / n(Q) of the strongest associations, in order, over the right people."""
    other = data.draw(assignments(frame))
    wanted = [oracle(frame, sign, min_support) for sign in (False, True)]
    k = [data.draw(st.sampled_from([None, *range(len(result) + 1)])) for result in wanted]
    space = mx.Space.of(publish(frame))
    blocks = list(StrongestAssociations(frame, *k, min_support=min_support).rows(space))
    for rows, result, number, negative in zip(blocks, wanted, k, (False, True), strict=True):
        result = result[:number]
        p_s = [1 - confidence if negative else confidence for _, _, confidence, _ in result]
        assert rows.low.tolist() == rows.high.tolist() == pytest.approx([float(p) for p in p_s])
        shares = []
        for conditions, value, _, _ in result:
            n = tally(other, list(conditions))[tuple(conditions.values())]
            shares.append(tally(other, [*conditions, "S"]).get((*conditions.values(), value), 0) / n)
        assert (rows.matrix @ (space.count(other) / len(frame))).tolist() == pytest.approx(shares)
        assert rows.residual(space.count(frame) / len(frame)).tolist() == pytest.approx([0] * len(result), abs=1e-12)


def test_it_is_rare_for_males_to_have_breast_cancer(hospital):
    """The strongest negative association of Fig. 1(a) is the paper's own: no male has Breast Cancer (section 4.4)."""
    mined = mx.mine_associations(hospital, qi=["Gender", "Degree"], sa="Disease")
    first = mined.table(0, 1).iloc[0]
    assert (first["rule"], first["confidence"], first["support"]) == ("Gender=male => not Breast Cancer", 1, 6)


@given(microdata(max_qi=3), st.integers(1, 5))
def test_pieces_are_mined_as_the_table(frame, n):
    """However a table is cut, the associations of its pieces together are those of the whole, in the same order."""
    pieces = (frame.iloc[rows] for rows in np.array_split(np.arange(len(frame)), n))
    result, whole = (mx.mine_associations(one, qi=quasi(frame), sa="S", min_support=1) for one in (pieces, frame))
    pd.testing.assert_frame_equal(result.table(), whole.table())
    assert list(result.tuples) == list(whole.tuples)
    assert np.array_equal(result.n_tuple, whole.n_tuple)
    assert np.array_equal(result.n_value, whole.n_value)


@pytest.mark.parametrize("bad", [[], [3], ["x"], "x", 3, None, [pd.DataFrame({"Gender": ["m"]})]])
def test_pieces_that_are_none_are_refused(bad):
    """An iterable of pieces must have tables of records, at least one of which is not empty."""
    with pytest.raises(mx.MaxEntError):
        mx.mine_associations(bad, qi="Gender", sa="Disease")


@pytest.mark.parametrize("k", [-1, 1.5, "1", True, np.nan])
def test_number_of_associations(hospital, k):
    """K is a whole number: 0, 1, 2, ..., or None for all."""
    for numbers in ((k, 0), (0, k)):
        with pytest.raises(StatementError):
            StrongestAssociations(hospital, *numbers)


def test_no_association_has_enough_support():
    """All associations of two attributes can be none, and then they do not constrain the model."""
    frame = pd.DataFrame({"A": [1, 2, 3, 4], "B": [1, 1, 2, 2], "S": list("xyzw"), "K": [1, 1, 2, 2]})
    blocks = StrongestAssociations(frame, None, None, attributes=2).rows(mx.Space.of(publish(frame)))
    assert [len(rows.low) for rows in blocks] == [0, 0]


def test_mined_of_the_columns_in_another_order():
    """Where A and B have the same values, associations mined of (B, A) must not be taken for those of (A, B)."""
    frame = pd.DataFrame(
        {"A": [0, 0, 0, 1, 1, 1, 1, 0], "B": [0, 1, 1, 0, 0, 1, 1, 0], "S": list("xxyyyxyy"), "K": [1] * 4 + [2] * 4}
    )
    mined = mx.mine_associations(frame, qi=["B", "A"], sa="S", min_support=1)
    space = mx.Space.of(publish(frame))
    with suppress(StatementError):  # refused is as good as read by name
        for rows in StrongestAssociations(mined, None, None).rows(space):
            assert rows.residual(space.count(frame) / len(frame)).max() == pytest.approx(0, abs=1e-12)
