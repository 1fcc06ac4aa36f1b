"""E(...): a statement about a mean holds for the answer, and for the original records."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import E, P, StatementError, UnknownName
from maxent_cvx.releases.base import OUTSIDE
from support.helpers import refused
from support.strategies import publish, tables_and_assignments


@given(tables_and_assignments(palettes=("whole", "real")), st.sampled_from([None, "A"]))
def test_means_of_records(drawn, attribute):
    """At the original records the row's value is their mean, of people by QI or of a QI by class."""
    frame, other = drawn
    space = mx.Space.of(publish(frame))
    p = space.count(other) / len(other)
    for value in frame["A"].unique() if attribute else [None]:
        chosen = None if attribute is None else {attribute: value}
        people = other if attribute is None else other[other[attribute] == value]
        (rows,) = (E("S", given=chosen) <= 1000).rows(space)
        assert (rows.matrix @ p)[0] == pytest.approx(people["S"].mean())
        by_hand = sum(float(s) * P(s, given=chosen) for s in frame["S"].unique())
        (same,) = (by_hand <= by_hand.attainable()[1]).rows(space)
        np.testing.assert_allclose(rows.matrix.toarray(), same.matrix.toarray(), atol=1e-12)
    value = other["S"].iloc[0]
    (rows,) = (E("A", given={"S": value}) <= 1000).rows(space)
    assert (rows.matrix @ p)[0] == pytest.approx(other.loc[other["S"] == value, "A"].mean())


AGES = {"age": [20, 40, 60, 80]}


def test_differences_of_class_means():
    """Two of four people are ill, and on average 20 years older than the others: 60 and 40 years."""
    view = mx.QITable(pd.DataFrame(AGES), qi="age", sa="ill", sa_distribution=pd.Series({"no": 2, "yes": 2}))
    ill, healthy = (E("age", given={"ill": value}) for value in ("yes", "no"))
    assert mx.MaxEnt(view).bounds(ill) == pytest.approx((30, 70), abs=1e-5)
    elder = ill - healthy >= 20
    assert mx.MaxEnt(view).add(elder).solve().prob(ill) == pytest.approx(60)
    assert elder.label == "E(age | ill=yes) - E(age | ill=no) >= 20"


def test_rows_of_a_mean_of_unknown_people_have_their_own_text():
    """Their price is that of (E - 60) P(ill) >= 0, which is linear; after a relaxation E is no longer 70."""
    view = mx.QITable(pd.DataFrame(AGES), qi="age", sa="ill", sa_values=["no", "yes"])
    mean = E("age", given={"ill": "yes"})
    by_hand = sum((age - 60) / 4 * P("yes", given={"age": age}) for age in (20, 40, 80)) >= 0
    expected, result = (
        mx.MaxEnt(view).add(said, P("yes") >= 0.5).solve().prices()["price"] for said in (by_hand, mean >= 60)
    )
    text = "(E(age | ill=yes) - 60) P(ill=yes) >= 0"
    assert result[text] == pytest.approx(expected[by_hand.label])
    relaxed = mx.MaxEnt(view).add(mean >= 70, P("yes") >= 0.75).relax(priority={"P(yes) >= 0.75": 1e3}).model
    by_age = relaxed.solve().conditional()["yes"]
    assert np.average(by_age.index, weights=by_age) == pytest.approx(60)
    assert "E(age | ill=yes) >= 70" in relaxed.describe().index


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: E("age") == 50, StatementError),
        (lambda: E("age", given={"sex": "F"}) == 50, StatementError),
        (lambda: E("sex", given={"ill": "yes"}) == 1, StatementError),
        (lambda: E("agee", given={"ill": "yes"}) == 1, UnknownName),
        (lambda: E("age", given={"ill": "yess"}) == 1, UnknownName),
        (lambda: E("age", given={"ill": "yes"}) - E("age", given={"ill": "no"}) >= 1, StatementError),
        (lambda: E("age", given={"ill": "yes"}).softly(50, sd=1), StatementError),
    ],
)
def test_errors_of_class_means(wrong, error):
    """Expressions that are not linear, of unknown names, or of numbers that are published are refused."""
    people = pd.DataFrame({**AGES, "sex": list("FMFM")})
    with refused(error):
        mx.MaxEnt(mx.QITable(people, qi=["age", "sex"], sa="ill", sa_values=["no", "yes"])).add(wrong())


def test_numbers_are_read_whatever_stores_them():
    """Numbers of a column of objects have a mean, as their moments do; texts and booleans are refused."""
    people, roles = pd.DataFrame({"q": list("abc"), "K": [1, 1, 1]}), {"qi": "q", "sa": "S", "bucket": "K"}
    for dtype in (object, int, float, "category", "Int64"):
        values = pd.Series([1, 2, 6]).astype(dtype)
        model = mx.MaxEnt(mx.Release.from_buckets(people.assign(S=values), **roles))
        means = [model.add(fact).solve().conditional() for fact in (E("S") == 3, mx.PublishedMoments(3))]
        np.testing.assert_allclose(*means, atol=1e-9)
    for strange in ([1, "2", 6], [True, False, 6]):
        other = mx.MaxEnt(mx.Release.from_buckets(people.assign(S=pd.Series(strange, dtype=object)), **roles))
        with refused(StatementError):
            other.add(E("S") == 3)


def test_means_of_those_in_the_release():
    """In a population larger than the release, a mean is that of the people in the release, in all worlds."""
    records = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]", "[30, 39]"], "Pay": [10, 30, 20]})
    population = pd.DataFrame({"Age": [21, 24, 28, 31, 35]})
    release = mx.Release.from_generalized(records, qi="Age", sa="Pay", population=population)
    space, thousands, n_worlds = mx.MaxEnt(release).space, {10: 0.01, 20: 0.02, 30: 0.03}, 0
    age_of, pay_of = (space.index.get_level_values(name) for name in ("Age", "Pay"))
    for young, old in itertools.product(itertools.permutations([10, 30, None]), itertools.permutations([20, None])):
        n_worlds += 1
        pay = dict(zip(population["Age"], [*young, *old], strict=True))
        held = [OUTSIDE if pay[age] is None else pay[age] for age in age_of]
        p = np.array([value == his for value, his in zip(pay_of, held, strict=True)]) / len(population)
        for ages in (list(pay), [21, 24], [24, 31]):
            group = {"Age": ages} if len(ages) < len(pay) else None
            known = [pay[age] for age in ages if pay[age] is not None]
            for mean in [10, 15, 20, 25, 30] if group else [20]:  # that of all is 20 in any world
                for of, unit in ((E("Pay", given=group), 1), (E("Pay", given=group, values=thousands), 1000)):
                    (rows,) = (of == mean / unit).rows(space)
                    if known:
                        assert np.isclose(rows.matrix @ p, rows.low, atol=1e-12).all() == (np.mean(known) == mean)
    assert n_worlds == 12
    for mean in (E("Pay") == 20, mx.PublishedMoments(20)):
        assert mx.MaxEnt(release).add(mean).solve().conditional().loc[21, 10] == pytest.approx(1 / 3)
    named = mx.MaxEnt(release, people={"Al": {"Age": 21}}).add(E("Pay", who="Al") == 25)
    hers = named.solve().people().loc["Al"]
    assert (10 * hers[10] + 30 * hers[30]) / (hers[10] + hers[30]) == pytest.approx(25)
    with refused(StatementError):
        mx.MaxEnt(release).add(E("Pay", given={"Age": 21}) - E("Pay", given={"Age": 24}) >= 1)
