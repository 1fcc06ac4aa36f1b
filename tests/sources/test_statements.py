"""Statements: the arithmetic of P(...), what it refuses, and what a statement says about any assignment."""

from __future__ import annotations

import math
import operator
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, MaxEnt, P, Statement, StatementError
from support.helpers import refused
from support.strategies import publish, quasi, tables_and_assignments

FLU, WOMEN = P("Flu", given={"Gender": "male"}), P("Flu", given={"Gender": "female"})
HIV = P("HIV")
COMPARISONS = [operator.eq, operator.le, operator.ge]


@st.composite
def knowledge(draw):
    """A table, an assignment, and up to three events (values, conditions, coefficient) that somebody is like."""
    frame, other = draw(tables_and_assignments())
    events = {}
    for _ in range(draw(st.integers(1, 3))):
        values = draw(st.lists(st.sampled_from(list(frame["S"])), min_size=1, max_size=2))
        person = draw(st.sampled_from(range(len(frame))))  # conditions that describe somebody, so that P(given) > 0
        columns = draw(st.lists(st.sampled_from(quasi(frame)), unique=True))
        conditions = {column: frame[column].iloc[person] for column in columns}
        key = (frozenset(values), frozenset(conditions.items()))
        events[key] = (values, conditions, draw(st.sampled_from([-2, -1, -0.5, 0.25, 1, 3])))
    return frame, other, list(events.values())


def share(frame, values, conditions):
    """P(values | conditions) among the records, counted one by one."""
    people = [i for i in range(len(frame)) if all(frame[c].iloc[i] == v for c, v in conditions.items())]
    return sum(frame["S"].iloc[i] in values for i in people) / len(people)


@given(knowledge(), st.sampled_from(COMPARISONS), st.floats(0, 1))
def test_rows_at_any_assignment(drawn, compare, where):
    """A statement's row is sum_k a_k P(value_k | given_k), with P(given) of the release (section 4.1)."""
    frame, other, events = drawn
    expression = sum((a * P(values, given=conditions) for values, conditions, a in events), start=0.125)
    low, high = (0.125 + sum(bound([a, 0]) for *_, a in events) for bound in (min, max))
    value = low + where * (high - low)
    space = mx.Space.of(publish(frame))
    (row,) = compare(expression, value).rows(space)
    expected = sum(a * share(other, values, conditions) for values, conditions, a in events)
    assert row.matrix @ (space.count(other) / len(frame)) == pytest.approx([expected])
    bounds = {operator.eq: (value, value), operator.le: (-np.inf, value), operator.ge: (value, np.inf)}[compare]
    assert (row.low[0], row.high[0]) == pytest.approx([bound - 0.125 for bound in bounds])
    assert row.label == str(compare(expression, value))


def test_equality_is_a_statement():
    """``==`` makes a statement, which is neither true nor false, so identity of probabilities has a name of its own."""
    assert FLU.same_as(P("Flu", given={"Gender": ["male"]}))
    assert hash(FLU) == hash(P("Flu", given={"Gender": "male"}))
    for other in (2 * FLU, FLU + 0.1, "P(Flu)"):
        assert not FLU.same_as(other)
    for undecided in (HIV, HIV == 0.3, FLU / WOMEN):
        with pytest.raises(TypeError):
            bool(undecided)


def test_tables_are_refused_on_both_sides():
    """P(...) is one number: a Series, array or list on either side is refused, and not spread over elements."""
    series = pd.Series({"male": 0.6, "female": 0.4})
    for operand in (series, series.to_numpy(), series.to_frame(), series.index, [0.6]):
        for operate in (operator.eq, operator.add):
            for left, right in ((FLU, operand), (operand, FLU)):
                with refused(StatementError):
                    operate(left, right)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: FLU * HIV,  # not linear (section 3.4)
        lambda: FLU / HIV / FLU,
        lambda: FLU == FLU,  # true of every distribution, or of none
        lambda: FLU - FLU <= 0.5,
        lambda: 0 * FLU >= 0,
        lambda: (FLU / (1 - FLU)) / (WOMEN / (1 - WOMEN)),
        lambda: FLU / WOMEN <= FLU,
        lambda: FLU / (WOMEN - 0.5),  # can be negative
        lambda: P(("Flu", "HIV")),
        lambda: P([]),
        lambda: P(None),
        lambda: P("Flu", "male"),
        lambda: P("Flu", {"Gender": []}),
        lambda: P({"Disease": []}),
        lambda: P({}),
    ],
)
def test_what_is_no_linear_statement(wrong):
    """Products, tautologies and arguments that cannot be read are refused when they are written."""
    with refused(StatementError):
        wrong()


def test_vague_statements_and_intervals():
    """|P - value| <= eps; a side outside the possible values is left out, and a value outside them refused (4.5)."""
    assert FLU.about(0.02, eps=0.05).low == -math.inf
    assert FLU.about(0.98, eps=0.05).high == math.inf
    assert (FLU - HIV).about(0, eps=0.1).low == -0.1
    assert (2 * FLU - HIV >= 2).low == 2
    assert (FLU + HIV + P("Flu") == 3).low == 3
    assert isinstance(FLU <= 1 + 2**-52, Statement)  # what rounding adds to 1
    for wrong in (
        lambda: 2 * FLU - HIV >= 2.5,
        *(lambda value=value, eps=eps: FLU.about(value, eps=eps) for value, eps in ((1.3, 0.5), (0.3, -0.1))),
        *(lambda value=value, eps=eps: FLU.about(value, eps=eps) for value, eps in ((0.3, np.nan), (np.nan, 0.1))),
        lambda: FLU.between(0.4, 0.2),
        lambda: FLU.between(0.4, 1.2),
        lambda: (FLU / WOMEN).between(2, 1),
    ):
        with refused(BadProbability):
            wrong()


def test_a_ratio_has_a_denominator_other_than_zero(release):
    """A ratio to 0, which would be read as a numerator of 0, is refused, as a probability divided by 0 is."""
    for wrong in (lambda: FLU / 0, lambda: FLU / (0 * WOMEN), lambda: FLU / (WOMEN - WOMEN) == 0.3):
        with refused(BadProbability):
            wrong()
    for text in ("P(Flu) / 0 = 0.3", "(P(Flu) + P(HIV)) / (0) <= 0.3", "P(Flu) = 5/0"):
        with refused(BadProbability):
            MaxEnt(release).add(text)


def test_a_ratio_is_linear():
    """A / b <= c is a <= c b, as b is not negative."""
    for statement, same in [
        (FLU / WOMEN <= 1.3, FLU <= 1.3 * WOMEN),
        (FLU / WOMEN >= 1.3, FLU >= 1.3 * WOMEN),
        (FLU / WOMEN == 1.3, FLU - 1.3 * WOMEN == 0),
        (FLU / (1 - FLU) <= 0.5, 1.5 * FLU <= 0.5),
        (2 * (FLU / WOMEN) / 4 <= 1, 0.5 * FLU <= WOMEN),
        (0.2 / WOMEN >= 1, WOMEN <= 0.2),
    ]:
        assert statement.key == same.key


@pytest.mark.parametrize("compare", [operator.lt, operator.gt, operator.ne])
@pytest.mark.parametrize("expression", [FLU, FLU / WOMEN, lambda release: MaxEnt(release).space.marginal("Gender")])
def test_other_comparisons_are_refused(release, expression, compare):
    """A strict inequality and != are not linear knowledge, for probabilities, ratios and blocks."""
    expression = expression(release) if callable(expression) else expression
    with refused(StatementError):
        compare(expression, 0.5)


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_an_interval_of_dates_contains_its_dates(zone):
    """Dates, with a time zone or without, are in an interval of dates; numbers and texts cannot be."""
    born = pd.to_datetime(["2020-01-01", "2020-02-29", "2021-01-01"]).tz_localize(zone)
    within = pd.Interval(pd.Timestamp("2020-02-29", tz=zone), pd.Timestamp("2020-12-31", tz=zone), closed="both")

    def model(values):
        table = pd.DataFrame({"Born": values, "Disease": ["Flu", "HIV", "Flu"], "Ward": 1})
        return MaxEnt(mx.Release.from_buckets(table, qi="Born", sa="Disease", bucket="Ward"))

    for values in (born, pd.Categorical(born, categories=born)):  # categories without an order, too
        post = model(values).add(P("Flu", given={"Born": within}) == 1).solve()
        assert post.conditional()["Flu"].tolist() == pytest.approx([0.5, 1, 0.5])
        post = model(values).add("P(Flu | Born in [2020-02-29, 2020-12-31]) = 1").solve()  # in the zone of the values
        assert post.conditional()["Flu"].tolist() == pytest.approx([0.5, 1, 0.5])
    for values in ([1, 2, 3], list("abc")):
        with pytest.raises(StatementError):
            model(values).add(P("Flu", given={"Born": within}) == 0.5)


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(["2020-01-01", "2020-01-02"]),
        pd.to_datetime(["2020-01-01 12:30", "2020-01-02 12:30"]),
        pd.to_datetime(["2020-01-01", "2020-01-02"]).tz_localize("Europe/Berlin"),
        pd.to_datetime(["2020-01-01", "2020-01-02"]).date,
        pd.to_datetime(["2020-01-01", "2020-01-02"]).astype("timestamp[ns][pyarrow]"),
        pd.Index(pd.to_datetime(["2020-01-01", "2020-01-02"]).date).astype("date32[day][pyarrow]"),
        pd.PeriodIndex(["2020-01", "2020-02"], freq="M"),
        pd.to_timedelta([1, 2], unit="D"),
        pd.to_timedelta([1, 2], unit="h"),
    ],
)
def test_text_selects_dates_periods_and_durations(values):
    """The text of a time selects it in statements, blocks and verdicts; "2020", which pandas accepts, does not."""
    table = pd.DataFrame({"When": values.repeat(2), "Flu": ["yes", "no", "yes", "yes"], "Ward": 1})
    for qi, sa in (("When", "Flu"), ("Flu", "When")):
        post = MaxEnt(mx.Release.from_buckets(table, qi=qi, sa=sa, bucket="Ward")).solve()
        value, condition = (values[0], "yes") if sa == "When" else ("yes", values[0])
        expected = post.conditional().loc[condition, value]
        assert post.prob(str(P(value, given={qi: condition}))) == expected > 0
        block = post.space.conditional(sa, given=qi)
        by_text = str(value), str(condition)
        for selected in (block.loc[by_text], block.loc[[by_text]], block.xs(by_text[1], level=qi).loc[[by_text[0]]]):
            assert np.asarray(selected.value(post)) == pytest.approx(expected)
        assert post.prob(P(by_text[0], given={qi: by_text[1]})) == expected
        for wrong in ("2020", "2020-01-01 00:01"):
            where = {qi: wrong} if qi == "When" else {}
            with pytest.raises(mx.UnknownName):
                post.prob(P(value if where else wrong, given=where))
            with pytest.raises(mx.UnknownName):
                block.xs(wrong, level="When")
    if isinstance(values, pd.DatetimeIndex):
        with pytest.raises(StatementError):
            block.loc["2020":]


def test_an_interval_of_the_numbers_in_a_population():
    """People of the population who are not in the release have no number, and are in no interval."""
    records = pd.DataFrame({"Age": ["[20, 29]"] * 3, "Pay": [10, 20, 30]})
    voters = pd.DataFrame({"Age": [21, 22, 23, 24]})
    release = mx.Release.from_generalized(records, qi="Age", sa="Pay", population=voters)
    model = MaxEnt(release).add(P(pd.Interval(15, 30), given={"Age": 21}) == 0.8, "P(Pay in [0, 15] | Age=22) = 0.6")
    post = model.solve()
    assert post.prob([20, 30], given={"Age": 21}) == pytest.approx(0.8)
    assert post.prob(10, given={"Age": 22}) == pytest.approx(0.6)
    with pytest.raises(StatementError):
        model.add(P(pd.Interval(40, 50)) == 0)


@pytest.mark.parametrize("dtype", ["float32", "Float32", "float[pyarrow]", "category", "parquet", "decimal"])
def test_numbers_of_32_bits_and_decimals(dtype, tmp_path):
    """0.1 is a published value if Decimal("0.1"), or 0.1 rounded to 32 bits, was published; else it has no records."""
    table = pd.DataFrame({"Q": [0.1, 0.1, 0.2, 0.2], "S": [0.1, 0.7, 0.1, 0.7], "B": 0})
    short = table.astype(dict.fromkeys("QS", "float32" if dtype in ("category", "parquet", "decimal") else dtype))
    roles = {"qi": "Q", "sa": "S", "bucket": "B"}
    if dtype == "decimal":
        short = table.astype(str).map(Decimal)
    if dtype == "parquet":
        short.to_parquet(tmp_path / "short.parquet")
        release = mx.Release.from_parquet(tmp_path / "short.parquet", **roles, partitions=1)
    else:
        short = short.astype(dict.fromkeys("QS", "category")) if dtype == "category" else short
        release = mx.Release.from_buckets(short, **roles)
    entropy = mx.MaxEnt(mx.Release.from_buckets(table, **roles)).add("P(0.1 | Q=0.2) = 0.2").solve().entropy
    for said in (
        "P(0.1 | Q=0.2) = 0.2",
        "P(0.1 | Q in [0.2, 0.3]) = 0.2",
        P(np.float32(0.7), given={"Q": [0.2]}) == 0.8,
        mx.PublishedRuleList([({"Q": 0.2}, 0.1, 0.2)], integer=False),
    ):
        assert mx.MaxEnt(release).add(said).solve().entropy == pytest.approx(entropy, abs=1e-9)
    for unknown in (0.3, 1e300, 10**400):
        with refused(mx.UnknownName):
            mx.MaxEnt(release).add(P(unknown) == 0.2)


def test_factors_that_cancel_up_to_roundoff(release):
    """If P(Flu) is .6 times P(Flu | male) and .6 of all are men, no woman has the flu, although .6 is not 3/5 in floats."""
    same = [
        mx.MaxEnt(release).add(text).solve().entropy
        for text in ("P(Flu) = 0.6 P(Flu | Gender=male)", "P(Flu | Gender=female) = 0")
    ]
    assert same[0] == pytest.approx(same[1], abs=1e-9)


def test_a_cell_is_chosen_by_its_interval():
    """Cells of a generalised release are texts; an interval means the cell with the same ends, as in a table of intervals."""
    young, old = pd.Interval(20, 35, closed="left"), pd.Interval(35, 50, closed="left")
    table = pd.DataFrame({"age": [young, young, old, old], "S": list("xyxx")})
    release = mx.Release.from_generalized(table, qi="age", sa="S")
    assert mx.MaxEnt(release).add(mx.P("x", given={"age": young}) == 0.5).solve().certificate.holds
