"""The likelihood of noisy counts: the maximum a posteriori, and, as noise becomes small, what private-pgm finds."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import scipy.stats

import maxent_cvx as mx
from maxent_cvx import MaxEnt

SIZES = {"A": 2, "B": 3, "C": 2, "D": 3}
CELLS = list(itertools.product(*map(range, SIZES.values())))
PEOPLE = 2_000
#: The standard deviation of the noise in every count, people.
SD = 4.0


def noisy_marginals(seed: int) -> list[pd.Series]:
    """Three-way marginals of a random table, with Gaussian noise: no table has them all."""
    rng = np.random.default_rng(seed)
    table = pd.Series(rng.multinomial(PEOPLE, rng.dirichlet(np.full(len(CELLS), 5.0))), index=index())
    some = [["A", "B", "C"], ["B", "C", "D"], ["A", "C", "D"]]
    marginals = [table.groupby(level=by).sum().astype(float) for by in some]
    return [counts + rng.normal(0, SD, len(counts)) for counts in marginals]


def index() -> pd.MultiIndex:
    return pd.MultiIndex.from_tuples(CELLS, names=list(SIZES))


def model_of(marginals: list[pd.Series], scale: float) -> MaxEnt:
    """Nothing is published but how many people there are; and these counts, with noise of so many times the scale."""
    people = pd.DataFrame({"Everybody": ["yes"], "people": [PEOPLE]})
    view = mx.QITable(people, qi="Everybody", sa=list(SIZES), sa_values=CELLS, count="people")
    noise = scipy.stats.norm(scale=SD * scale)
    return MaxEnt(view).add(*[mx.NoisyMarginal(counts, noise, how="likelihood") for counts in marginals])


def counts_of(post: mx.Posterior) -> pd.Series:
    shares = post.conditional().iloc[0]
    return pd.Series(shares.to_numpy() * PEOPLE, index=pd.MultiIndex.from_tuples(list(shares.index), names=list(SIZES)))


def mirror_descent(marginals: list[pd.Series], steps: int = 20_000) -> pd.Series:
    """The objective of private-pgm: the least sum of squared misses, from the uniform table by entropic steps.

    Steps multiply counts by exp(-t gradient), so that the table stays in the exponential family of the marginals: of
    all tables with these marginals, it has the most entropy (McKenna, Sheldon and Miklau, 2019, Algorithm 1).
    """
    at = [pd.factorize(index().droplevel([n for n in SIZES if n not in counts.index.names]))[0] for counts in marginals]
    known = []
    for counts, code in zip(marginals, at, strict=True):
        first = index().droplevel([n for n in SIZES if n not in counts.index.names])[
            np.unique(code, return_index=True)[1]
        ]
        known.append(counts.reindex(first).to_numpy())
    log_x, step = np.zeros(len(CELLS)), 1.0 / PEOPLE
    for _ in range(steps):
        x = PEOPLE * np.exp(log_x - np.logaddexp.reduce(log_x))
        log_x = log_x - step * sum(
            (np.bincount(code, x) - counts)[code] for counts, code in zip(known, at, strict=True)
        )
    return pd.Series(x, index=index())


@pytest.mark.parametrize("seed", range(2))
def test_small_noise_finds_what_private_pgm_finds(seed: int):
    """Least cost, then most entropy: as all costs grow together, to 1e-5 of every share.

    The objective of private-pgm is minimised here by mirror descent; mbi 2.0 itself, run on these marginals with
    1 / stddev as its weights, found the same tables.
    """
    marginals = noisy_marginals(seed)
    exact = mirror_descent(marginals)
    before = np.inf
    for scale in (1.0, 1e-1, 1e-2, 1e-3):
        post = model_of(marginals, scale).solve()
        apart = np.abs(counts_of(post) - exact).max() / PEOPLE
        assert apart < before / 5
        before = apart
    assert before < 1e-5
    assert post.certificate.bound < 1e-5


def test_it_is_the_maximum_a_posteriori():
    """N H less the sum of squares is largest, as SciPy finds it on all counts."""
    marginals = noisy_marginals(7)
    post = model_of(marginals, 1.0).solve()
    x = counts_of(post)

    def loss(log_x: np.ndarray) -> tuple[float, np.ndarray]:
        """The value, and its gradient by log_x."""
        share = np.exp(log_x - np.logaddexp.reduce(log_x))
        table, value, slope = pd.Series(PEOPLE * share, index=x.index), 0.0, np.log(share) + 1
        for counts in marginals:
            groups = table.groupby(level=counts.index.names)
            missed = (groups.sum() - counts).to_numpy()
            value += (missed**2).sum() / (2 * SD**2)
            slope += missed[groups.ngroup()] / SD**2
        return float((table * np.log(share)).sum() + value), np.asarray(table * (slope - share @ slope))

    begin = np.log(x.to_numpy() / PEOPLE)
    assert loss(begin)[0] == pytest.approx(-post.objective, rel=1e-12)
    found = scipy.optimize.minimize(
        loss, np.zeros(len(x)), jac=True, method="BFGS", options={"gtol": 1e-6, "maxiter": 2000}
    )
    assert -post.objective <= found.fun + 1e-6
    share = np.exp(found.x - np.logaddexp.reduce(found.x))
    np.testing.assert_allclose(share, x / PEOPLE, atol=1e-4)


HOSPITAL = mx.datasets.load_hospital()
FLU = pd.Series(
    [4.2, -0.7], index=pd.MultiIndex.from_tuples([("male", "Flu"), ("female", "Flu")], names=["Gender", "Disease"])
)


def hospital() -> MaxEnt:
    return MaxEnt(mx.Release.from_buckets(HOSPITAL, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket"))


@pytest.mark.parametrize(
    ("noise", "cost"),
    [
        (scipy.stats.norm(scale=2), lambda r: r**2 / 8),
        (scipy.stats.norm(0, 2), lambda r: r**2 / 8),
        (scipy.stats.laplace(scale=2), lambda r: np.abs(r) / 2),
        (scipy.stats.laplace(), np.abs),
        (scipy.stats.dlaplace(0.5), lambda r: np.abs(r) / 2),
    ],
)
def test_costs_are_log_likelihoods(noise, cost):
    """Of the miss in people; discrete noise is that of the geometric mechanism."""
    post = hospital().add(mx.NoisyMarginal(FLU, noise, how="likelihood")).solve()
    missed = np.array(
        [6 * post.prob("Flu", {"Gender": "male"}) - 4.2, 4 * post.prob("Flu", {"Gender": "female"}) + 0.7]
    )
    assert post.penalties.tolist() == pytest.approx(cost(missed).tolist(), abs=1e-6)
    log = noise.logpmf if hasattr(noise.dist, "pmf") else noise.logpdf
    at, zero = (np.array([3, -4]), 0) if hasattr(noise.dist, "pmf") else (missed, 0.0)
    np.testing.assert_allclose(log(zero) - log(at), cost(at), atol=1e-12)
