"""MaxEnt with a prior: the least relative entropy, which is not the posterior over possible worlds."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import P, QIDistribution
from support.strategies import microdata, publish, quasi
from support.worlds import by_enumeration


@pytest.fixture
def prior(hospital) -> QIDistribution:
    """A prior by gender from the hospital's own records, in which nothing is impossible."""
    return QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=1)


@pytest.fixture
def strict(hospital) -> QIDistribution:
    """A prior by gender in which values that nobody has are impossible."""
    return QIDistribution.estimate(hospital, qi="Gender", sa="Disease")


def by_cvxpy(model: mx.MaxEnt, believed: np.ndarray) -> np.ndarray:
    """The least sum of rel_entr(p, prior), over the rows, by a conic solver that knows nothing of this package."""
    form, n = model.form, model.view.n_records
    x, equal = cp.Variable(form.shape[1], nonneg=True), form.low == form.high
    rows = form.matrix @ x
    constraints = [rows[equal] == form.low[equal]]
    for sign, side in ((1, form.high), (-1, form.low)):
        some = ~equal & np.isfinite(side)
        constraints += [sign * rows[some] <= sign * side[some]] if some.any() else []
    cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(x, n * believed))), constraints).solve(solver="CLARABEL")
    return x.value


def of_terms(model: mx.MaxEnt, prior: QIDistribution) -> np.ndarray:
    """The prior of every term, looked up by its labels."""
    labels = model.space.index.to_frame(index=False)
    table = prior["Gender"]
    return np.array([table.loc[g, d] for g, d in zip(labels["Gender"], labels["Disease"], strict=True)])


@pytest.mark.parametrize(
    "knowledge",
    [[], [P("Flu", given={"Gender": "male"}) == 0.4], [P("HIV") >= 0.1, P("Flu", given={"Degree": "college"}) <= 0.3]],
)
def test_least_relative_entropy(release, prior, knowledge):
    """The answer is that of a conic program of the formula; the objective is H + sum p log(prior)."""
    model = mx.MaxEnt(release, prior=prior).add(*knowledge)
    post = model.solve()
    believed = of_terms(model, prior)
    np.testing.assert_allclose(post.counts, by_cvxpy(model, believed), atol=2e-5)
    p = post.counts / release.n_records
    n = release.n_records
    value = model.problem.solve() / n + np.log(n)
    assert value == pytest.approx(post.entropy + p @ np.log(believed), abs=1e-6)
    of_tuple = post.joint().groupby(level=["Gender", "Degree", "Bucket"]).transform("sum").to_numpy()
    ratio = np.where(p > 0, p / (of_tuple * believed), 1.0)
    assert post.relative_entropy == pytest.approx(float((p * np.log(ratio)).sum()), abs=1e-12)


def test_named_people(release, prior):
    """D rises with knowledge, and differs from the objective of the program by a constant, also if people are named."""
    base = mx.MaxEnt(release, people={"Al": {"Gender": "male", "Degree": "college"}}, prior=prior)
    models = [base, base.copy().add(P("Flu", who="Al") == 0.9)]
    models.append(models[1].copy().add(P("Flu", given={"Gender": "male"}) == 0.4))
    posts = [model.solve() for model in models]
    off = [post.objective - model.problem.solve("CLARABEL") for post, model in zip(posts, models, strict=True)]
    assert np.ptp(off) < 1e-5
    assert np.all(np.diff([post.relative_entropy for post in posts]) > 0)
    unnamed = mx.MaxEnt(release, prior=prior).solve()
    assert posts[0].relative_entropy == pytest.approx(unnamed.relative_entropy, abs=1e-7)


def test_two_tuples():
    """In a group of two, maximum entropy understates the risk: its odds are the square root of the exact ones."""
    frame = pd.DataFrame({"G": ["m", "f"], "D": ["yes", "no"], "B": [1, 1]})
    prior = QIDistribution({"G": {"m": {"yes": 0.1, "no": 0.9}, "f": {"yes": 0.003, "no": 0.997}}})
    release = mx.Release.from_buckets(frame, qi="G", sa="D", bucket="B")
    said = mx.MaxEnt(release, prior=prior).solve().conditional().loc["m"]
    exact = mx.worlds.linkage(release, prior)[1, "m"]
    assert (said["yes"] / said["no"]) ** 2 == pytest.approx(exact["yes"] / exact["no"], rel=1e-8)
    assert said["yes"] < exact["yes"]


def test_repeated_values():
    """Maximum entropy does not always understate the risk: for {a, b, c, c} it is .562 instead of 1/2 over all worlds."""
    people = pd.DataFrame({"Who": ["Ann", "Bob", "Cem", "Dan"], "S": list("abcc"), "B": 1})
    believed = pd.DataFrame([[0.4, 0.0, 0.6]] + 3 * [[0.2, 0.2, 0.6]], columns=list("abc"), index=people["Who"])
    prior = QIDistribution(believed)
    release = mx.Release.from_buckets(people, qi="Who", sa="S", bucket="B")
    by_hand = by_enumeration(believed.to_numpy(), [0, 1, 2, 2])
    np.testing.assert_allclose(by_hand, [[1 / 2, 0, 1 / 2]] + 3 * [[1 / 6, 1 / 3, 1 / 2]])
    assert mx.worlds.r_robustness(release, prior)["largest"].max() == pytest.approx(1 / 2)
    said = mx.MaxEnt(release, prior=prior).solve().conditional()
    assert said.loc["Ann", "c"] == said.max(axis=None) == pytest.approx(0.5616, abs=5e-5)
    np.testing.assert_allclose(said, by_scaling(believed.to_numpy(), [1, 1, 2]), atol=1e-6)


def by_scaling(table: np.ndarray, totals: list[int]) -> np.ndarray:
    """Scale rows to 1 and columns to their totals, in turns (Deming and Stephan, 1940)."""
    for _ in range(1_000):
        table = table * (totals / table.sum(axis=0))
        table = table / table.sum(axis=1, keepdims=True)
    return table


def test_series(hospital):
    """The people of a series have priors by their QI: a series of one release has the answer of the release."""
    frame = hospital.assign(Name=[f"p{i}" for i in range(len(hospital))])
    prior = QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=1)
    release = mx.Release.from_buckets(frame, qi=["Gender"], sa="Disease", bucket="Bucket", id="Name")
    one = mx.MaxEnt(mx.ReleaseSeries([release]), prior=prior).solve().people()
    plain = mx.Release.from_buckets(hospital, qi=["Gender"], sa="Disease", bucket="Bucket")
    joint = mx.MaxEnt(plain, prior=prior).solve().joint()
    for name, row in one.iterrows():
        person = frame[frame["Name"] == name].iloc[0]
        own = joint.loc[person["Gender"], :, person["Bucket"]]
        np.testing.assert_allclose(row[own.index], own / own.sum(), atol=1e-8)


# -- priors of 0 ----------------------------------------------------------------------


def test_what_is_impossible_stays_so(release, strict):
    """A prior of 0 excludes the value, and is the reason of certainties that follow from it."""
    model = mx.MaxEnt(release, prior=strict)
    post = model.solve()
    assert (post.counts[of_terms(model, strict) == 0] == 0).all()
    certain = post.certain()
    assert certain.loc["P(Flu | Degree=graduate, Gender=male)", "probability"] == 1
    assert certain.loc["P(Flu | Degree=graduate, Gender=male)", "because"] == ["prior: female, Flu"]
    assert model.bounds("P(Flu | Gender=male)") == pytest.approx((0.5, 0.5))
    assert "prior" in model.describe().index


@given(microdata(), st.randoms(use_true_random=False))
def test_true_data_satisfy_what_their_prior_rules_out(frame, random):
    """A prior estimated from the data never rules them out; the posterior has the published counts."""
    attribute = random.choice(quasi(frame))
    prior = QIDistribution.estimate(frame, qi=attribute, sa="S")
    release = publish(frame)
    post = mx.MaxEnt(release, prior=prior).solve()
    table = post.joint().groupby(level=["K", "S"], observed=True).sum() * len(frame)
    counts = frame.groupby(["K", "S"], observed=True).size()
    for label, n in counts.items():
        assert table[label] == pytest.approx(n, abs=1e-6)
    for label, row in mx.worlds.linkage(release, prior).groupby(level=[0, 1], observed=True):
        assert row.sum() == pytest.approx(1, rel=1e-9), label
