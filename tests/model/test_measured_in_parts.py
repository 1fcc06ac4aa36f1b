"""What is measured of an answer in partitions is what is measured of the same answer in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import P, measures
from maxent_cvx.releases.partitioned import divided
from support.parts import published, random_records, some_people


def both(seed: int, n: int, named: bool) -> tuple[mx.Posterior, Any]:
    """The answers in memory and in partitions, with knowledge by which some people are exposed."""
    records = random_records(np.random.default_rng(seed))
    people = some_people(records) if named else None
    men = records[records.g == "m"]
    said = [P("flu", given={"g": "m"}) == (men.s == "flu").mean(), P("hiv", given={"age": [20, 30]}) <= 0.5]
    said += [P("flu", who="p0") >= 0.7][:named]
    models = mx.MaxEnt(published(records), people), mx.MaxEnt(divided(published(records), n), people)
    return models[0].add(*said).solve(), models[1].add(*said).solve()


@pytest.mark.parametrize(("seed", "n", "named"), [(0, 1, False), (1, 3, True), (2, 7, False)])
def test_measures_are_those_in_memory(seed: int, n: int, named: bool) -> None:
    """Groups that are in several partitions are measured once, by all of their terms."""
    one, other = both(seed, n, named)
    worst, expected_worst = (measures.disclosure(post, worst=True) for post in (other, one))
    numbers = expected_worst.columns.drop("value")
    assert worst[numbers].to_numpy(dtype=float) == pytest.approx(
        expected_worst[numbers].to_numpy(dtype=float), abs=1e-6
    )
    assert worst["value"].item() in set(expected_worst["value"]) or worst["max_p"].item() == pytest.approx(1)

    found, expected = (measures.exposed(post, 0.45) for post in (other, one))
    assert found.people == expected.people
    assert found.histogram.equals(expected.histogram)
    assert set(found.who.index) == set(expected.who.index)
    assert list(found.who.columns) == list(expected.who.columns)
    assert found.who.index.names == expected.who.index.names
    assert found.who["P"].to_numpy() == pytest.approx(expected.who["P"].to_numpy(), abs=1e-6)

    (table, people), surest = one.inferences(), other.top(5)
    assert surest["P"].to_numpy() == pytest.approx(np.sort(table.max(axis=1).to_numpy())[::-1][:5], abs=1e-6)
    for label, row in surest.iterrows():
        assert row["P"] == pytest.approx(table.loc[label, row["s"]], abs=1e-6)
        assert row["people"] == people[table.index.get_loc(label)]


@pytest.mark.parametrize(("seed", "n"), [(0, 1), (2, 7)])
def test_divergence_is_that_in_memory(seed: int, n: int) -> None:
    """From the records that were published, and from no others."""
    one, other = both(seed, n, False)
    records = random_records(np.random.default_rng(seed))
    found, expected = (measures.overall_divergence(post, records) for post in (other, one))
    assert found == pytest.approx(expected, abs=1e-6)
    assert found > 0
    with pytest.raises(mx.TableError):
        measures.overall_divergence(other, records.iloc[1:])
    with pytest.raises(mx.StatementError):
        measures.overall_divergence(both(1, 3, True)[1], records)


def test_divergence_that_is_infinite_is_no_number() -> None:
    """What is true is impossible by what is said: a count that only comes near to 0 makes no finite divergence."""
    records = random_records(np.random.default_rng(10022))
    said = [P("flu", given={"g": "m"}) == 0.3, P("hiv", given={"age": pd.Interval(15, 35)}).about(0.2, eps=0.1)]
    one, other = (mx.MaxEnt(view).add(*said).solve() for view in (published(records), divided(published(records), 2)))
    assert measures.overall_divergence(one, records) == np.inf
    with pytest.raises(mx.Inaccurate):
        measures.overall_divergence(other, records)


def test_measures_of_ones_own_are_reduced() -> None:
    """A mean over people is a sum over groups, whatever ranges these are divided into."""
    one, other = both(2, 7, False)
    table, people = one.inferences()

    def share(p: np.ndarray, people: np.ndarray, numbers: np.ndarray) -> float:
        return float(people @ p[:, 0])

    assert other.reduce(share, sum) == pytest.approx(float(people @ table.iloc[:, 0].to_numpy()), abs=1e-6)


def test_tables_of_everybody_are_refused() -> None:
    """A row a QI tuple is as long as the release, and an attack needs the records in memory."""
    other = both(0, 2, False)[1]
    with pytest.raises(mx.StatementError):
        measures.disclosure(other)
    with pytest.raises(mx.StatementError):
        measures.exposed(other, original=pd.DataFrame())
