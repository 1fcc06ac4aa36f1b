"""The best randomised publication within a limit: independent programs, closed forms, Blahut-Arimoto, extreme limits."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.stats
from scipy.optimize import linprog
from scipy.special import rel_entr

import maxent_cvx as mx
from maxent_cvx import BadProbability, Infeasible, StatementError, TableError
from maxent_cvx.anonymize import channel


def wrong(values) -> pd.DataFrame:
    """A loss of 1 unless the value itself is published."""
    return pd.DataFrame(1.0 - np.eye(len(values)), list(values), list(values))


def conditional(joint: pd.DataFrame) -> np.ndarray:
    return joint.div(joint.sum(axis=1), axis=0).to_numpy()


def hospital(qi="Gender") -> pd.DataFrame:
    table = mx.datasets.load_hospital()
    return pd.crosstab(table[qi], table["Disease"], normalize="all")


NOISY = pd.crosstab(mx.datasets.load_hospital()["Disease"], "n")["n"].astype(float)


def random_case(seed: int):
    """Two joint distributions and a loss."""
    rng = np.random.default_rng(seed)
    n_q, n_s, n_y = rng.integers(1, 4), rng.integers(2, 5), rng.integers(2, 5)
    joints = [pd.DataFrame(rng.dirichlet(np.ones(n_q * n_s)).reshape(n_q, n_s)) for _ in range(2)]
    return joints, pd.DataFrame(rng.random((n_s, n_y))), rng


def least_loss(joints, loss, limit, per) -> float:
    """The least loss by SciPy's linear programs, one for each q, a row for every pair of values in the ldp case."""
    total, costs = 0.0, loss.to_numpy()
    n_s, n_y = costs.shape
    for q in range(len(joints[0])):
        rows = []
        for y in range(n_y):
            for joint in joints:
                belief = conditional(joint)[q]
                for s in range(n_s):
                    for other in range(n_s):
                        row = np.zeros((n_s, n_y))
                        if per == "ldp":
                            row[s, y] += 1
                            row[other, y] -= np.exp(limit)
                        else:
                            row[:, y] = -belief * limit * (belief[s] if per == "lift" else 1)
                            row[s, y] += belief[s]
                        rows.append(row.ravel())
        sums = np.kron(np.eye(n_s), np.ones(n_y))
        w = (joints[0].to_numpy()[q][:, None] * costs).ravel()
        total += linprog(w, A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(n_s)).fun
    return total


@pytest.mark.parametrize("seed", range(18))
def test_least_loss_within_the_limit(seed: int):
    """The loss is that of independent programs, and the inferences of both adversaries are within the limit."""
    joints, loss, rng = random_case(seed)
    per = ("posterior", "lift", "ldp")[seed % 3]
    prior = max(conditional(joint).max() for joint in joints)
    limit = {"posterior": prior + (1 - prior) * rng.random(), "lift": 1 + rng.random(), "ldp": 2 * rng.random()}[per]
    best = channel(joints[0], loss, limit=limit, per=per, adversaries=[joints[1]])
    assert best.loss == pytest.approx(least_loss(joints, loss, limit, per), abs=1e-8)
    assert 0 <= best.gap < 1e-8
    assert (best.prices <= 0).all()
    m = best.table.to_numpy().reshape(len(joints[0]), *loss.shape)
    assert m.min() >= 0
    assert m.sum(axis=2) == pytest.approx(1.0)
    if per == "ldp":
        assert (m.max(axis=1) <= np.exp(limit) * m.min(axis=1) + 1e-12).all()
        return
    for number, joint in enumerate(joints):
        posterior = best.posterior(number)
        before = conditional(joint)[posterior.index.get_level_values(0)]
        # A value published with a probability of p has its posterior up to rounding / p.
        assert (posterior.to_numpy() <= (limit if per == "posterior" else limit * before) + 1e-6).all()


@pytest.mark.parametrize("n", [2, 3, 10])
def test_randomised_response(n: int):
    """With 0-1 loss the truth is exp(eps) times as likely as another value (Kairouz, Oh and Viswanath 2016, section 4)."""
    values = list(range(n))
    joint = pd.DataFrame([[1 / n] * n], columns=values)
    for epsilon in (0.1, 1.0, 3.0):
        best = channel(joint, wrong(values), limit=epsilon, per="ldp")
        expected = (np.ones((n, n)) + (np.exp(epsilon) - 1) * np.eye(n)) / (np.exp(epsilon) + n - 1)
        assert best.table.to_numpy() == pytest.approx(expected, abs=1e-8)
        slope = -(n - 1) * np.exp(epsilon) / (np.exp(epsilon) + n - 1) ** 2
        assert best.prices.sum() == pytest.approx(slope, abs=1e-8)
        assert best.gap < 1e-8


def blahut_arimoto(p: np.ndarray, d: np.ndarray, slope: float) -> tuple[float, float, np.ndarray]:
    """Loss and information, in nats, of the channel that minimises loss + information / slope."""
    r = np.full(d.shape[1], 1 / d.shape[1])
    for _ in range(5_000):
        m = r * np.exp(-slope * d)
        m /= m.sum(axis=1, keepdims=True)
        r = p @ m
    return p @ (m * d).sum(axis=1), p @ rel_entr(m, r).sum(axis=1), m


@pytest.mark.parametrize("seed", range(3))
def test_limited_information_is_rate_distortion(seed: int):
    """At the information of Blahut and Arimoto's channel the loss is theirs, and so is the price, -1 / slope."""
    rng = np.random.default_rng(seed)
    p, d = rng.dirichlet(np.ones(4)), 1 - np.eye(4) + 0.3 * rng.random((4, 4))
    slope = 8.0
    loss, information, _ = blahut_arimoto(p, d, slope)
    best = channel(pd.DataFrame([p]), pd.DataFrame(d), limit=information, per="information")
    assert best.loss == pytest.approx(loss, abs=1e-7)
    assert best.prices.sum() == pytest.approx(-1 / slope, rel=1e-3)
    assert best.gap < 1e-7


def test_adversaries_with_statements():
    """Statements give the nearest joint distribution in relative entropy with P(q) kept, as CVXPY computes it."""
    joint = hospital()
    statements = ["P(Flu | Gender=male) <= 0.4", "P(HIV) = 0.3"]
    best = channel(joint, wrong(joint.columns), limit=0.7, adversaries=[statements, statements[0], 0.5 * joint + 0.05])
    p = cp.Variable(joint.shape, nonneg=True)
    distance = cp.sum(cp.rel_entr(p, np.maximum(joint.to_numpy(), 1e-300)))
    flu, hiv = (joint.columns.get_loc(value) for value in ("Flu", "HIV"))
    rows = [
        cp.sum(p, axis=1) == joint.sum(axis=1).to_numpy(),
        p[joint.to_numpy() == 0] == 0,
        p[1, flu] <= 0.4 * cp.sum(p[1]),
        cp.sum(p[:, hiv]) == 0.3,
    ]
    cp.Problem(cp.Minimize(distance), rows).solve(solver=cp.CLARABEL)
    assert best.adversaries[1].to_numpy() == pytest.approx(p.value, abs=1e-5)
    for number in range(4):
        assert best.posterior(number).max(axis=None) <= 0.7 + 1e-9
    alone = channel(joint, wrong(joint.columns), limit=0.7)
    assert alone.loss <= best.loss + 1e-9


def test_levels_without_names():
    """The names of quasi-identifiers do not matter, nor that they have none."""
    joint = pd.DataFrame([[0.3, 0.2], [0.2, 0.3]], [["f", "m"], [1, 2]], ["no", "yes"])
    wrong = pd.DataFrame([[0, 1], [1, 0]], ["no", "yes"], ["no", "yes"])
    named = joint.rename_axis(["sex", "age"])
    losses = [
        mx.anonymize.channel(table, wrong, limit=0.75, adversaries=[mx.P("yes") <= 0.45]).loss
        for table in (joint, named)
    ]
    assert losses[0] == pytest.approx(losses[1], abs=1e-9)


@pytest.mark.parametrize("per", ["posterior", "lift", "ldp", "information"])
def test_price_is_the_slope_of_the_loss(per: str):
    """The price is dloss / dlimit, by central differences."""
    joint = hospital()
    limit, h = {"posterior": 0.7, "lift": 1.4, "ldp": 1.0, "information": 0.2}[per], 1e-3
    low, middle, high = (channel(joint, wrong(joint.columns), limit=limit + x, per=per) for x in (-h, 0, h))
    assert middle.prices.sum() == pytest.approx((high.loss - low.loss) / (2 * h), rel=1e-3)
    assert middle.prices.sum() < 0


@pytest.mark.parametrize("per", ["posterior", "lift", "ldp"])
def test_rare_values_are_within_the_limit(per: str):
    """Values of 1e-12 of the people are within the limit, too, also if the limit leaves next to nothing."""
    refused_by_solver = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n_q, n_s, n_y = rng.integers(1, 4), rng.integers(2, 5), rng.integers(2, 5)
        joint = rng.dirichlet(np.ones(n_q * n_s) * 10.0 ** rng.uniform(-1.5, 1)).reshape(n_q, n_s)
        joint[:, 0] *= 10.0 ** -rng.uniform(3, 12)
        joint = pd.DataFrame(joint / joint.sum())
        least = {"posterior": conditional(joint).max(), "lift": 1.0, "ldp": 0.0}[per]
        limit = least + rng.choice([0, 1e-12, 1e-8, 1e-4, 0.1]) * (1 - least if per == "posterior" else 1)
        loss = pd.DataFrame(rng.random((n_s, n_y)) * 10.0 ** rng.uniform(-5, 6))
        try:
            best = channel(joint, loss, limit, per)
        except mx.SolverError:  # next to nothing is left, and HiGHS finds nothing
            refused_by_solver += 1
            continue
        table = best.table.to_numpy().reshape(n_q, n_s, n_y)
        if per == "ldp":
            assert (table.max(axis=1) <= np.exp(limit) * table.min(axis=1) * (1 + 1e-11)).all()
            continue
        posterior = best.posterior()
        prior = 1.0
        if per == "lift":
            prior = joint.div(joint.sum(axis=1), axis=0).loc[posterior.index.get_level_values(0)].to_numpy()
        assert (posterior.to_numpy() <= limit * prior * (1 + 1e-11)).all()
    assert refused_by_solver <= 3


@pytest.mark.parametrize(("per", "limit"), [("posterior", 0.4), ("lift", 1.0), ("ldp", 0.0), ("information", 0.0)])
def test_limits_that_leave_nothing(per: str, limit: float):
    """At the least limit nothing is published about s, and the loss is that of the best guess."""
    joint = pd.DataFrame([[0.4, 0.35, 0.25]]) if per != "posterior" else pd.DataFrame([[0.4, 0.4, 0.2]])
    best = channel(joint, wrong(joint.columns), limit=limit, per=per)
    if per != "posterior":
        assert best.loss == pytest.approx(0.6)
    assert best.posterior().max(axis=None) <= 0.4 + 1e-6
    assert best.gap < 1e-6


def test_randomized_response_of_the_channel():
    """The published values and the channel give the posteriors of the channel."""
    joint = pd.DataFrame(
        {"a": [0.25, 0.1], "b": [0.2, 0.15], "c": [0.15, 0.15]}, index=pd.Index(["x", "y"], name="Group")
    ).rename_axis(columns="Value")
    best = channel(joint, wrong(joint.columns), limit=np.log(3), per="ldp")
    m = best.table.to_numpy().reshape(2, 3, 3)
    counts = pd.DataFrame(np.einsum("qs,qsy->qy", joint, m) * 1000, joint.index, pd.Index(list("abc"), name="Reported"))
    assert counts.to_numpy() == pytest.approx(counts.round().to_numpy())
    people = counts.round().astype(int).stack().rename("n").reset_index()
    view = mx.QITable(people, qi=["Group", "Reported"], sa="Value", sa_values=list("abc"), count="n")
    model = mx.MaxEnt(view).add(mx.RandomizedResponse(best.table, reported="Reported", confidence=None))
    inferred = model.solve().conditional()
    expected = best.posterior().loc[inferred.index, inferred.columns]
    assert inferred.to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-6)


@pytest.mark.parametrize("limit", [21.0, 22.0, 30.0, 40.0, 100.0, 800.0])
@pytest.mark.parametrize("n", [2, 3])
def test_large_ratios_of_likelihoods(n: int, limit: float):
    """The loss of randomised response is (n - 1) / (n - 1 + exp(limit)), and the limit is met however large it is."""
    joint = pd.DataFrame([[1 / n] * n])
    best = channel(joint, pd.DataFrame(1 - np.eye(n)), limit, "ldp")
    assert best.loss == pytest.approx((n - 1) / (n - 1 + np.exp(min(limit, 600.0))), rel=1e-6, abs=0)
    table = np.log(best.table.to_numpy())
    assert (table.max(axis=0) - table.min(axis=0) <= limit + 1e-11).all()
    assert 0 <= best.gap <= 2e-9


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"joint": [[1.0]]}, TableError),
        ({"joint": hospital() * 2}, BadProbability),
        ({"loss": wrong(["Flu", "HIV"])}, TableError),
        ({"loss": wrong(hospital().columns).set_axis(["y"] * 5, axis=1)}, TableError),
        ({"limit": 0.1}, Infeasible),
        ({"limit": 1.5}, BadProbability),
        ({"limit": 0.9, "per": "lift"}, Infeasible),
        ({"per": "entropy"}, StatementError),
        ({"adversaries": "P(Flu) = 0.3"}, StatementError),
        ({"adversaries": ["P(Flue) = 0.3"]}, mx.UnknownName),
        ({"adversaries": [hospital().iloc[:, :2] / hospital().iloc[:, :2].sum(axis=None)]}, TableError),
        # A joint distribution has no number of people, which a penalty or a count needs.
        ({"adversaries": [mx.P("Flu", given={"Gender": "male"}).softly(0.9, sd=0.1)]}, StatementError),
        ({"adversaries": [mx.AnsweredQueries([{"Gender": "male", "Disease": "Flu"}], [4.0])]}, StatementError),
        ({"adversaries": [mx.NoisyMarginal(NOISY, noise=scipy.stats.laplace(), confidence=0.9)]}, StatementError),
        ({"adversaries": [lambda space: space.counts[0] == 1]}, StatementError),
    ],
)
def test_wrong_arguments(change, error):
    """The joint distribution sums to 1 and has the labels of the loss, and the limit can be met."""
    with pytest.raises(error):
        channel(**({"joint": hospital(), "loss": wrong(hospital().columns), "limit": 0.7} | change))
