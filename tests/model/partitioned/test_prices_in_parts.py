"""Shadow prices of an answer in partitions: those in memory, which are derivatives of the entropy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx.releases.partitioned import divided
from support.parts import published, random_records


def said(records: pd.DataFrame, rng: np.random.Generator) -> list[Any]:
    """Statements of different groups, none of which implies another: near what is true, true, or soft."""
    men = (records[records.g == "m"].s == "flu").mean()
    young = (records[records.age == 20].s == "hiv").mean()
    return [
        P("flu", given={"g": "m"}) == float(np.clip(men + rng.uniform(-0.03, 0.03), 0.02, 0.98)),
        P("hiv", given={"age": 20}) <= float(young + 0.05 * rng.uniform()),
        P("cold", given={"d": "a"}).softly(0.2, sd=0.05),
        P("lung", given={"d": "b"}) <= 0.999,
    ]


def solved(view: Any, knowledge: list[Any]) -> Any:
    return mx.MaxEnt(view).add(*knowledge).solve()


@pytest.mark.parametrize("seed", range(10))
def test_prices_are_those_in_memory(seed: int) -> None:
    """Whatever the number of partitions; inactive inequalities have none."""
    rng = np.random.default_rng(seed)
    records = random_records(rng)
    release, knowledge = published(records), said(records, rng)
    expected, found = (solved(view, knowledge).prices() for view in (release, divided(release, 1 + seed % 7)))
    assert set(found.index) == set(expected.index)
    assert found["price"].to_numpy() == pytest.approx(expected.loc[found.index, "price"].to_numpy(), abs=1e-5)
    assert (found["side"] == expected.loc[found.index, "side"]).all()


def test_a_price_is_a_derivative() -> None:
    """Of the entropy, by the value as typed: compared with a difference quotient."""
    records = random_records(np.random.default_rng(3))
    view, true = divided(published(records), 3), (records[records.g == "m"].s == "flu").mean()
    low, middle, high = (solved(view, [P("flu", given={"g": "m"}) == true + off]) for off in (-1e-4, 0, 1e-4))
    assert middle.prices()["price"].item() == pytest.approx((high.entropy - low.entropy) / 2e-4, rel=1e-5)


def test_statements_of_nothing(release: mx.Release) -> None:
    """The price of P = 0 is infinite; what it determines, of people of other groups, leaves other prices finite."""
    knowledge = ["P(Breast Cancer | Gender=male) = 0", "P(Flu | Gender=male) <= 0.35"]
    expected, found = (solved(view, knowledge).prices() for view in (release, divided(release, 2)))
    assert found["price"].iloc[0] == expected["price"].iloc[0] == np.inf
    assert found["price"].iloc[1] == pytest.approx(expected["price"].iloc[1], rel=1e-6)
    assert 0 < found["price"].iloc[1] < 10


def test_statements_that_force_zeros() -> None:
    """The price of a statement that leaves nobody else with a value is infinite, as in memory."""
    rows = [("y", 0, "no", 0, 1), ("y", 0, "yes", 0, 1954), ("y", 0, "maybe", 0, 4324), ("y", 1, "maybe", 0, 2383)]
    rows += [("y", 1, "yes", 0, 235), ("n", 1, "yes", 1, 2141), ("n", 0, "maybe", 1, 18), ("y", 0, "yes", 1, 14)]
    table = pd.DataFrame(rows, columns=["sex", "d", "s", "b", "n"])
    view = mx.Release.from_buckets(table, qi=["sex", "d"], sa="s", bucket="b", count="n")
    least = mx.MaxEnt(view).bounds(P("maybe", given={"d": 0}))[0]
    expected, found = (solved(one, [P("maybe", given={"d": 0}) == least]).prices() for one in (view, divided(view, 2)))
    assert abs(expected["price"].item()) == np.inf
    assert found["price"].item() == expected["price"].item()


def test_a_soft_statement_about_what_is_certain(release: mx.Release) -> None:
    """Its price is the slope of its cost, as in memory."""
    knowledge = ["P(HIV | Gender=female) = 0", P("HIV", given={"Gender": "female"}).softly(0.2, weight=10)]
    expected, found = (solved(view, knowledge) for view in (release, divided(release, 2)))
    assert expected.prices().loc[:, "price"].max() == np.inf
    pd.testing.assert_frame_equal(found.prices().sort_index(), expected.prices().sort_index(), rtol=1e-6)
    assert found.certificate.gap < 1e-6


def test_certainty(release: mx.Release) -> None:
    """Certainty by P = 1 forces zeros, too."""
    expected, found = (
        solved(view, ["P(Breast Cancer | Degree=junior) = 1"]).prices() for view in (release, divided(release, 2))
    )
    pd.testing.assert_frame_equal(found, expected)


def test_what_is_refused(release: mx.Release) -> None:
    """Nothing is left out one by one."""
    certain = solved(divided(release, 2), ["P(Breast Cancer | Degree=junior) = 1"])
    with pytest.raises(mx.StatementError, match="remove"):
        certain.prices(leave_one_out=True)
