"""Means, standard deviations, covariances and correlations: true of those records of which NumPy and pandas say so."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import (
    BadProbability,
    Covariance,
    Monotone,
    PublishedCorrelation,
    PublishedMoments,
    StatementError,
    UnknownName,
)
from support.helpers import refused

AGES, INCOMES = np.array([20, 40, 60, 80, 35]), [10, 20, 45]


def ill_of(n_ill: int | None = None) -> mx.QITable:
    """Five people, of whom so many are ill, or nobody says how many."""
    table = pd.DataFrame({"age": AGES, "sex": list("FMFMF")})
    if n_ill is None:
        return mx.QITable(table, qi=["age", "sex"], sa="ill", sa_values=["no", "yes"])
    return mx.QITable(table, qi=["age", "sex"], sa="ill", sa_distribution=pd.Series({"no": 5 - n_ill, "yes": n_ill}))


def points_of(space, worlds) -> list[np.ndarray]:
    """The probabilities of each world, 1 for the ill."""
    people = pd.DataFrame({"age": AGES, "sex": list("FMFMF")})
    return [space.count(people.assign(ill=np.where(ill, "yes", "no"))) / 5 for ill in worlds]


def violated(rows, points) -> np.ndarray:
    """By how much each world violates the rows."""
    return np.array([max(one.residual(p).max() for one in rows) for p in points])


def of_so_many(n_ill: int | None) -> list[np.ndarray]:
    """The worlds in which so many are ill; at least two of whom, so that they have a standard deviation."""
    every = [np.array(ill) for ill in itertools.product([0, 1], repeat=5)]
    return [ill for ill in every if (ill.sum() == n_ill if n_ill is not None else ill.sum() >= 2)]


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("n_ill", [None, 2])
@pytest.mark.parametrize("places", [None, 1])
def test_all_worlds_of_a_class(ddof, n_ill, places):
    """The age of the ill, 46.7 (20.8): true of the worlds with that mean and sd, and, if exact, of no others."""
    worlds, view = of_so_many(n_ill), ill_of(n_ill)
    space = mx.Space.of(view)
    points = points_of(space, worlds)
    told = [(AGES[ill == 1].mean(), AGES[ill == 1].std(ddof=ddof)) for ill in worlds]
    for mean, sd in told[::3]:
        rounded = (mean, sd) if places is None else (round(mean, places), round(sd, places))
        source = PublishedMoments(*rounded, of="age", given={"ill": "yes"}, ddof=ddof, decimals=places)
        found = violated(list(source.rows(space)), points)
        off = 1e-9 if places is None else 0.5 * 10.0**-places
        near = np.array([max(abs(m - rounded[0]), abs(s - rounded[1])) for m, s in told])
        assert (found[near <= off - 1e-12] < 1e-9).all()
        if places is None:
            assert (found[near > 1e-6] > 1e-6).all()
        alone = list(PublishedMoments(rounded[0], of="age", given={"ill": "yes"}, decimals=places).rows(space))
        near = np.array([abs(m - rounded[0]) for m, _ in told])
        found = violated(alone, points)
        assert (found[near <= off - 1e-12] < 1e-9).all()
        assert (found[near > off + 1e-6] > 1e-6).all()


@given(st.lists(st.sampled_from(INCOMES), min_size=2, max_size=7), st.sampled_from([None, 0, 1, 2]), st.booleans())
def test_sensitive_numbers(incomes, places, ddof):
    """Mean and standard deviation of records, however they are rounded, are true of them; of others by pandas' word."""
    people = pd.DataFrame({"age": 20 + np.arange(len(incomes))})
    space = mx.Space.of(mx.QITable(people, qi="age", sa="income", sa_values=INCOMES))
    data = pd.Series(incomes, dtype=float)
    mean, sd = float(data.mean()), float(data.std(ddof=int(ddof)))
    if places is not None:
        mean, sd = round(mean, places), round(sd, places)
    source = PublishedMoments(mean, sd, ddof=int(ddof), decimals=places)
    mx.testing.check_source(source, space, people.assign(income=incomes))
    other = data.replace(10, 45)
    if places is None and (other != data).any():
        rows = list(source.rows(space))
        p = space.count(people.assign(income=other.astype(int))) / len(incomes)
        assert max(one.residual(p).max() for one in rows) > 0


def test_covariance_by_hand():
    """Mean age 47: the row of Cov(age, yes) has (age - 47) / 5 of each who is ill, and all worlds have NumPy's."""
    space = mx.Space.of(ill_of())
    (rows,) = (Covariance("age", {"yes": 1}) >= 1).rows(space)
    for ill in of_so_many(None):
        truth = pd.DataFrame({"age": AGES, "sex": list("FMFMF"), "ill": np.where(ill, "yes", "no")})
        value = (rows.matrix @ (space.count(truth) / 5))[0]
        assert value == pytest.approx(np.cov(AGES, ill, ddof=0)[0, 1])
        assert value == pytest.approx(((AGES - 47) / 5) @ ill)
    block = space.marginal(["ill", "age"])["yes"]
    by_block = (block * pd.Series(AGES - 47.0, pd.Index(AGES, name="age"))).sum() >= 1
    np.testing.assert_allclose(by_block.matrix.toarray(), rows.matrix.toarray(), atol=1e-12)


@given(
    st.lists(st.tuples(st.integers(18, 60), st.sampled_from(INCOMES)), min_size=3, max_size=8),
    st.sampled_from([None, 1, 2]),
    st.booleans(),
    st.booleans(),
)
def test_correlations_of_records(people, places, ddof, published):
    """Records satisfy the row of their own correlation, rounded or not, with sd told or from published counts."""
    frame = pd.DataFrame(people, columns=["age", "income"])
    assume(frame["age"].nunique() > 1 and frame["income"].nunique() > 1)
    told = {"sa_distribution": frame["income"].value_counts()} if published else {"sa_values": INCOMES}
    space = mx.Space.of(mx.QITable(frame[["age"]], qi="age", sa="income", **told))
    r, sd = float(np.corrcoef(frame.T)[0, 1]), float(frame["income"].std(ddof=int(ddof)))
    if places is not None:
        r, sd = round(r, places), round(sd, places)
    said = {} if published else {"sd": sd, "ddof": int(ddof), "sd_decimals": places}
    source = PublishedCorrelation(r, ("age", "income"), decimals=places, **said)
    mx.testing.check_source(source, space, frame)
    (rows,) = source.rows(space)
    value = (rows.matrix @ (space.count(frame) / len(frame)))[0]
    assert value == pytest.approx(np.cov(frame.T, ddof=0)[0, 1] * len(frame) ** 2)
    if places is None:
        assert rows.high[0] == rows.low[0]  # ages and incomes are whole, and so is this


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda: PublishedMoments(50, of="age"), StatementError, []),
        (lambda: PublishedMoments(0.5, -1), BadProbability, ["sd must be"]),
        (lambda: PublishedMoments(0.55, decimals=1), BadProbability, []),
        (lambda: PublishedMoments(0.5, 0.1, decimals=(1, 1, 1)), BadProbability, []),
        (lambda: PublishedMoments(0.5), mx.TableError, ["'ill'"]),
        (lambda: PublishedMoments(20, 0, of="age", given={"ill": "yesno"}), UnknownName, ["'yesno'"]),
        (lambda: PublishedMoments(1, 1, values={"no": 0, "yes": 1}, given={"age": 20}), StatementError, ["ddof=1"]),
        (lambda: PublishedCorrelation(1.5, ("age", {"yes": 1})), BadProbability, ["r must be"]),
        (lambda: PublishedCorrelation(0.5, "age"), StatementError, []),
        (lambda: PublishedCorrelation(0.5, ("age", {"yes": 1})), StatementError, []),
        (lambda: PublishedCorrelation(0.5, ("sex=F", {"yes": 1}), sd=1, given={"sex": "F"}), StatementError, ["same"]),
        (lambda: PublishedCorrelation(0.5, ("agee", {"yes": 1}), sd=1), UnknownName, []),
        (lambda: PublishedCorrelation(0.5, ("age", {"yes": 1}), sd_decimals=1), StatementError, ["sd_decimals"]),
        (lambda: Covariance("age", {}) >= 0, StatementError, []),
        (lambda: Covariance("sex", {"yes": 1}) >= 0, StatementError, []),
        (lambda: Covariance("age", {"yess": 1}) >= 0, UnknownName, []),
        (lambda: Monotone(Covariance("age", {"yes": 1}), "age"), StatementError, []),
    ],
)  # fmt: skip
def test_errors(wrong, error, says):
    """What is wrong is told, at the latest when a model gets it."""
    with refused(error, *says):
        mx.MaxEnt(ill_of()).add(wrong())
