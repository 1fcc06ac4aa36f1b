"""PublishedRegression: the fit's own records satisfy its rows, and only records with that fit do."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

import maxent_cvx as mx
from maxent_cvx import BadProbability, P, PublishedRegression, StatementError, UnknownName
from support.helpers import refused

AGES = [20, 40, 60, 80]


def view_of(people: pd.DataFrame, values=("low", "high")) -> mx.QITable:
    """Known quasi-identifiers; of the sensitive value no more than what it can be."""
    return mx.QITable(people, qi=list(people.columns), sa="income", sa_values=list(values))


def logit(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Maximum likelihood by Newton's method, without a penalty."""
    b = np.zeros(X.shape[1])
    for _ in range(60):
        mean = 1 / (1 + np.exp(-X @ b))
        b = b + np.linalg.solve((X.T * (mean * (1 - mean))) @ X, X.T @ (y - mean))
    return b


def violations(source: mx.Source, people: pd.DataFrame, worlds: np.ndarray) -> np.ndarray:
    """By how much the rows are violated by records with these responses, at most; one a world."""
    space = mx.Space.of(view_of(people))
    keys = people.to_numpy(dtype=object).tolist()
    low, high = (space.index.get_indexer([(*key, value) for key in keys]) for value in ("low", "high"))
    p = np.zeros((len(space), len(worlds)))
    for i in range(len(people)):
        np.add.at(p, (np.where(worlds[:, i] == 1, low[i], high[i]), np.arange(len(worlds))), 1 / len(people))
    return np.max([[rows.residual(one).max() for one in p.T] for rows in source.rows(space)], axis=0)


def truth_of(source: mx.Source, people: pd.DataFrame, y: np.ndarray) -> float:
    """By how much the rows are violated by records with these responses, at most."""
    return float(violations(source, people, np.array([y]))[0])


def test_by_hand():
    """The line age/50 - 1/2 of four people says sum y = 2 and sum age y = 140, so that the two elder ones are it."""
    line = PublishedRegression({"intercept": -0.5, "age": 0.02}, of={"low": 1})
    model = mx.MaxEnt(view_of(pd.DataFrame({"age": AGES}))).add(line)
    (rows,) = line.rows(model.space)
    low = model.space.index.get_level_values("income") == "low"
    np.testing.assert_array_equal(rows.matrix.toarray()[:, low] / 4, [[1, 1, 1, 1], AGES])
    assert rows.matrix[:, ~low].nnz == 0
    assert rows.low.tolist() == rows.high.tolist() == [2, 140]
    assert rows.exact
    np.testing.assert_allclose(model.solve().conditional().loc[AGES, "low"], [0, 0, 1, 1], atol=1e-6)
    assert model.bounds(P("low", given={"age": 60})) == pytest.approx((1, 1), abs=1e-5)


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(18, 60), st.booleans()), min_size=4, max_size=7), st.data())
def test_all_worlds_of_small_tables(people, data):
    """The rows hold of exactly those assignments whose least-squares fit is the published one, or is rounded to it."""
    people = pd.DataFrame(people, columns=["age", "smoker"])
    X = np.column_stack([np.ones(len(people)), people["age"], people["smoker"].astype(float)])
    assume(np.linalg.matrix_rank(X) == 3)
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(people), max_size=len(people))))
    places, names = data.draw(st.sampled_from([1, 2, 3])), ["intercept", "age", "smoker"]
    fit = np.linalg.lstsq(X, y, rcond=None)[0]
    exact = PublishedRegression(dict(zip(names, fit, strict=True)), {"low": 1})
    rounded = PublishedRegression(
        {name: round(float(b), places) for name, b in zip(names, fit, strict=True)}, {"low": 1}, decimals=places
    )
    worlds = np.array(list(itertools.product([0, 1], repeat=len(people))))
    theirs = np.linalg.lstsq(X, worlds.T, rcond=None)[0]
    same, other = np.abs(theirs.T - fit).max(axis=1) < 1e-10, np.abs((worlds - y) @ X).max(axis=1) > 0.5
    found = violations(exact, people, worlds)
    assert (found[same] < 1e-9).all()
    assert (found[other] > 0.5).all()
    assert (same | other).all()
    off = np.abs(theirs.T - [rounded.coefficients[name] for name in names]).max(axis=1) - 0.5 * 10.0**-places
    found = violations(rounded, people, worlds)
    assert (found[off < -1e-12] == 0).all()
    assert (found[off > 1e-6] > 0).all()


@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.integers(18, 60), st.sampled_from("FM"), st.integers(0, 1)), min_size=6, max_size=12),
    st.sampled_from([None, 0, 1, 2, 4]),
)
def test_logistic_fits_are_feasible(people, places):
    """Records satisfy the rows of their own logistic fit, however it is rounded; none of many worlds is lost."""
    frame = pd.DataFrame(people, columns=["age", "sex", "y"])
    X = np.column_stack([np.ones(len(frame)), frame["age"], (frame["sex"] == "M").astype(float)])
    assume(np.linalg.matrix_rank(X) == 3)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            b = logit(X, frame["y"].to_numpy(float))
        except np.linalg.LinAlgError:
            assume(False)
    assume(np.isfinite(b).all() and np.abs(X @ b).max() < 20)  # else the classes are separable
    if places is not None:
        b = np.array([round(float(one), places) for one in b])
    said = PublishedRegression(
        dict(zip(["intercept", "age", "sex=M"], b, strict=True)), {"low": 1}, "logistic", decimals=places
    )
    assert truth_of(said, frame[["age", "sex"]], frame["y"].to_numpy()) < 1e-9


def test_logistic_by_hand():
    """With an indicator, each group has its own share: 1 of 4 women and 2 of 3 men are logits -log 3 and log 2."""
    people = pd.DataFrame({"sex": list("FFFFMMM"), "age": [1, 2, 3, 4, 5, 6, 7]})
    told = {"intercept": -math.log(3), "sex=M": math.log(2) + math.log(3)}
    post = mx.MaxEnt(view_of(people)).add(PublishedRegression(told, {"low": 1}, "logistic")).solve()
    assert post.prob("low", given={"sex": "F"}) == pytest.approx(1 / 4, abs=1e-7)
    assert post.prob("low", given={"sex": "M"}) == pytest.approx(2 / 3, abs=1e-7)
    rounded = {name: round(value, 1) for name, value in told.items()}
    model = mx.MaxEnt(view_of(people)).add(PublishedRegression(rounded, {"low": 1}, "logistic", decimals=1))
    # 4 / (1 + exp(1.1)) is between 0.96 and 1.04 at the ends, of whole people 1
    assert model.bounds(P("low", given={"sex": "F"}), integer=True) == pytest.approx((1 / 4, 1 / 4))
    assert model.bounds(P("low", given={"sex": "M"}), integer=True) == pytest.approx((2 / 3, 2 / 3))
    near = next(PublishedRegression(rounded, {"low": 1}, "logistic", decimals=1).rows(model.space))
    low, high = mx.MaxEnt(model.space.view).add(near).bounds(P("low", given={"sex": "F"}))
    assert (low, high) == pytest.approx([1 / (1 + math.exp(1.1 + s * 0.05)) for s in (1, -1)], abs=2e-3)


def fitted(kind: str, X: pd.DataFrame, y: np.ndarray) -> tuple[dict[str, float], dict[str, object]]:
    """Scikit-learn's fit, and how it is said."""
    model, said = {
        "linear": (LinearRegression(), {}),
        "ridge": (Ridge(alpha=3.0, tol=1e-12), {"penalty": 3.0}),
        "logistic": (LogisticRegression(C=1e12, tol=1e-10, max_iter=10_000), {"kind": "logistic", "penalty": 1e-12}),
        "penalized": (LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000), {"kind": "logistic", "penalty": 2.0}),
        "default": (LogisticRegression(max_iter=10_000), {"kind": "logistic", "penalty": 1.0, "tolerance": 1e-4}),
    }[kind]
    if kind in ("logistic", "penalized"):
        model.set_params(solver="newton-cholesky")
    model.fit(X, y)
    found = dict(zip(X.columns, np.ravel(model.coef_), strict=True))
    return {"intercept": float(np.ravel(model.intercept_)[0])} | found, said


@pytest.mark.parametrize("kind", ["linear", "ridge", "logistic", "penalized", "default"])
def test_fits_of_scikit_learn(kind):
    """The records satisfy what scikit-learn gives, also penalised fits, and the answer has their scores."""
    rng = np.random.default_rng(1)
    people = pd.DataFrame({"age": rng.integers(18, 70, 60), "sex": rng.choice(["F", "M"], 60)})
    y = (rng.random(60) < 1 / (1 + np.exp(2 - people["age"] / 30 - (people["sex"] == "M")))).to_numpy(int)
    X = pd.DataFrame({"age": people["age"], "sex=M": (people["sex"] == "M").astype(float)})
    X["age:sex=M"] = X["age"] * X["sex=M"]
    coefficients, said = fitted(kind, X, y)
    source = PublishedRegression(coefficients, {"low": 1}, **said)
    assert truth_of(source, people, y) < 1e-9
    post = mx.MaxEnt(view_of(people)).add(source).solve()
    low = post.conditional()["low"].reindex(pd.MultiIndex.from_frame(people)).to_numpy()
    scores = np.array([X[name] @ (low - y) for name in X]) / 60
    np.testing.assert_allclose(scores, 0, atol=3e-4 if kind == "default" else 1e-6)
    if kind in ("penalized", "default", "ridge"):  # as if it were not penalised, it is false of the records
        as_if = {name: value for name, value in said.items() if name == "kind"}
        assert truth_of(PublishedRegression(coefficients, {"low": 1}, **as_if), people, y) > 1e-3
    rounded = {name: round(float(b), 3) for name, b in coefficients.items()}
    said = {name: value for name, value in said.items() if name != "tolerance"}
    assert truth_of(PublishedRegression(rounded, {"low": 1}, decimals=3, **said), people, y) < 1e-9


def test_what_is_published_already_is_no_contradiction():
    """The intercept's equation follows from the published shares, and the others from buckets: nothing changes."""
    rng = np.random.default_rng(2)
    people = pd.DataFrame({"age": rng.integers(18, 70, 90), "income": rng.choice(["low", "mid", "high"], 90)})
    people["b"] = people["age"]  # everybody of an age is in one bucket
    release = mx.Release.from_buckets(people, qi="age", sa="income", bucket="b")
    y = people["income"].map({"low": 0.1, "mid": 0.7, "high": 1 / 3}).to_numpy()
    b = np.linalg.lstsq(np.column_stack([np.ones(90), people["age"]]), y, rcond=None)[0]
    source = PublishedRegression({"intercept": b[0], "age": b[1]}, {"low": 0.1, "mid": 0.7, "high": 1 / 3})
    before, after = mx.MaxEnt(release).solve(), mx.MaxEnt(release).add(source).solve()
    pd.testing.assert_frame_equal(before.conditional(), after.conditional())
    wrong = PublishedRegression({"intercept": b[0] + 1e-4, "age": b[1]}, source.of)
    with pytest.raises(mx.Infeasible, match=r"regression.*decimals="):
        mx.MaxEnt(release).add(wrong).solve()


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda: PublishedRegression({}, {"low": 1}), StatementError, []),
        (lambda: PublishedRegression({"age": np.nan}, {"low": 1}), BadProbability, ["'age'", "finite"]),
        (lambda: PublishedRegression({"age": 0.123}, {"low": 1}, decimals=2), BadProbability, ["0.123", "2 decimals"]),
        (lambda: PublishedRegression({"age": 0.1}, {"low": 1}, decimals={"Age": 1}), StatementError, []),
        (lambda: PublishedRegression({"age": 0.1}, {"low": 1}, "probit"), StatementError, ["'linear' or 'logistic'"]),
        (lambda: PublishedRegression({"age": 0.1}, {"low": 1}, tolerance=1, decimals=1), StatementError, []),
        (lambda: PublishedRegression({"agee": 0.1}, {"low": 1}), UnknownName, []),
        (lambda: PublishedRegression({"sex": 0.1}, {"low": 1}), StatementError, ["'sex=F'"]),
        (lambda: PublishedRegression({"sex=X": 0.1}, {"low": 1}), UnknownName, ["'X'", "'sex'"]),
        (lambda: PublishedRegression({"age": 0.1}, {"lov": 1}), UnknownName, []),
        (lambda: PublishedRegression({"age": 0.1}, "income"), mx.TableError, ["'income'"]),
        (lambda: PublishedRegression({"age": 0.1}, {"low": 2}, "logistic"), StatementError, []),
        (lambda: PublishedRegression({"age": 1, "age:intercept": 1}, {"low": 1}, decimals=1), StatementError, ["dep"]),
        (lambda: PublishedRegression({"age": 0.1}, {"low": 1}, given={"sex": "X"}), UnknownName, ["'X'"]),
    ],
)  # fmt: skip
def test_errors(wrong, error, says):
    """What is wrong is told, at the latest when a model gets it."""
    people = pd.DataFrame({"age": AGES, "sex": list("FFMM")})
    with refused(error, *says):
        mx.MaxEnt(view_of(people)).add(wrong())
