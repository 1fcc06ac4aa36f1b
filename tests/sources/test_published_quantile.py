"""PublishedQuantile: records satisfy its rows if NumPy computes that quantile of them."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import AnsweredQueries, BadProbability, P, PublishedQuantile, StatementError, UnknownName
from maxent_cvx.sources.moments import METHODS
from support.helpers import refused

INCOMES = [20, 30, 40, 70]


def people_of(n: int) -> pd.DataFrame:
    """So many, everybody of another age."""
    return pd.DataFrame({"age": 30 + 5 * np.arange(n)})


def view_of(n: int, incomes=INCOMES) -> mx.QITable:
    """Nothing is known of incomes but what they can be."""
    return mx.QITable(people_of(n), qi="age", sa="income", sa_values=list(incomes))


def worlds_of(view: mx.QITable, rows, incomes=INCOMES) -> tuple[np.ndarray, np.ndarray]:
    """All incomes that the people can have, and by how much rows are violated by each."""
    n, space = view.n_records, mx.Space.of(view)
    worlds = np.array(list(itertools.product(incomes, repeat=n)))
    ages = people_of(n)["age"].to_numpy()
    at = {(age, income): i for i, (age, income) in enumerate(space.index)}
    p = np.zeros((len(worlds), len(space)))
    for i in range(n):
        p[np.arange(len(worlds)), [at[ages[i], income] for income in worlds[:, i]]] = 1 / n
    return worlds, np.array([max(one.residual(row).max() for one in rows) for row in p])


@pytest.mark.parametrize("method", METHODS)
def test_all_worlds(method):
    """Every world with that quantile is feasible; of one of the numbers, only these are; of two, one alternative is."""
    for n, q in itertools.product([1, 4], [0, 0.1, 0.5, 0.9]):
        check_all_worlds(method, q, n)


def check_all_worlds(method, q, n):
    view = view_of(n)
    worlds = np.array(list(itertools.product(INCOMES, repeat=n)))
    quantiles = np.quantile(worlds, q, axis=1, method=method)
    for value in np.unique(quantiles):
        source = PublishedQuantile(value, q, method=method)
        found = worlds_of(view, list(source.rows(mx.Space.of(view))))[1]
        true = np.abs(quantiles - value) < 1e-9
        assert (found[true] == 0).all()
        options = source.alternatives(mx.Space.of(view))
        exact = np.min([worlds_of(view, rows)[1] for rows in options], axis=0)
        np.testing.assert_array_equal(exact == 0, true)
        if len(options) == 1:
            np.testing.assert_array_equal(found == 0, true)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("q", [0, Fraction(1, 3), 0.75])
def test_all_worlds_of_an_unknown_number(method, q):
    """The quantile of an age among the ill, of whom it is not known how many there are, is true of true worlds only."""
    ages = np.array([30, 35, 40, 45, 50])
    view = mx.QITable(pd.DataFrame({"age": ages}), qi="age", sa="ill", sa_values=["no", "yes"])
    space = mx.Space.of(view)
    worlds = [np.array(ill) for ill in itertools.product([0, 1], repeat=5) if any(ill)]
    quantiles = np.array([np.quantile(ages[ill == 1], float(q), method=method) for ill in worlds])
    points = [space.count(pd.DataFrame({"age": ages, "ill": np.where(ill, "yes", "no")})) / 5 for ill in worlds]
    for value in np.unique(quantiles):
        rows = list(PublishedQuantile(value, q, given={"ill": "yes"}, of="age", method=method).rows(space))
        holds = np.array([max(one.residual(p).max() for one in rows) < 1e-12 for p in points])
        true = np.abs(quantiles - value) < 1e-9
        assert holds[true].all()
        if method in ("inverted_cdf", "lower", "higher"):
            np.testing.assert_array_equal(holds, true)


@given(st.lists(st.sampled_from([1.5, 2.0, 3.25, 7.0]), min_size=1, max_size=9), st.data())
def test_rounded(incomes, data):
    """A rounded quantile is true of whatever is rounded to it."""
    q, method = data.draw(st.sampled_from([0, 0.1, 0.3, 0.5, 1])), data.draw(st.sampled_from(METHODS))
    places = data.draw(st.sampled_from([0, 1, 2]))
    view = view_of(len(incomes), [1.5, 2.0, 3.25, 7.0])
    space = mx.Space.of(view)
    value = round(float(np.quantile(incomes, q, method=method)), places)
    p = space.count(people_of(len(incomes)).assign(income=incomes)) / len(incomes)
    (rows,) = PublishedQuantile(value, q, method=method, decimals=places).rows(space)
    assert rows.residual(p).max() < 1e-12


def test_exact_over_whole_assignments():
    """The mean of two middle values is exact over whole assignments: brute force over all worlds."""
    view, told = view_of(4), [PublishedQuantile(30), PublishedQuantile(20, q=0)]
    worlds = np.array(list(itertools.product(INCOMES, repeat=4)))
    true = worlds[(np.median(worlds, axis=1) == 30) & (worlds.min(axis=1) == 20)]
    model = mx.MaxEnt(view).add(*told)
    for value in INCOMES:
        shares = (true == value).mean(axis=1)
        assert model.bounds(P(value), integer=True) == pytest.approx((shares.min(), shares.max()), abs=1e-9)
    more = (true == 20).mean(axis=1) - (true == 40).mean(axis=1)
    assert model.bounds(P(20) - P(40), integer=True) == pytest.approx((more.min(), more.max()), abs=1e-9)
    assert model.bounds(P(20) - P(40))[1] == pytest.approx(1 / 2, abs=1e-6)  # the relaxation: two have 20, one 30
    assert more.max() == 1 / 4
    none = model.copy().add(P(30) == 0.25, P(40) == 0)
    assert none.bounds(P(70)) == pytest.approx((0.25, 0.25), abs=1e-6)  # 20, 20, 30, 70, whose median is 25
    with refused(mx.Infeasible):
        none.bounds(P(20), integer=True)


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda: PublishedQuantile(33), StatementError, ["(method)"]),
        (lambda: PublishedQuantile(30, q=2), BadProbability, ["q must be"]),
        (lambda: PublishedQuantile(30, method="nearest"), StatementError, ["'nearest'", "linear"]),
        (lambda: PublishedQuantile(30.25, decimals=1), BadProbability, []),
        (lambda: PublishedQuantile(30, of="age"), StatementError, []),
        (lambda: PublishedQuantile(30, of="aged"), UnknownName, []),
        (lambda: PublishedQuantile(30, given={"income": 300}), UnknownName, ["300"]),
        (lambda: AnsweredQueries([{}], [33], of="median"), StatementError, ["nobody", "eps="]),
    ],
)
def test_errors(wrong, error, says):
    """What is wrong is told, at the latest when a model gets it."""
    with refused(error, *says):
        mx.MaxEnt(view_of(3)).add(wrong())
