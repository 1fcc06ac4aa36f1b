"""Statistics that an agency publishes are knowledge: counts, sums, means, and noisy marginals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, expon, geom, laplace, norm, poisson

import maxent_cvx as mx
from maxent_cvx import (
    AnsweredQueries,
    BadProbability,
    Infeasible,
    NoisyMarginal,
    StatementError,
    UnknownName,
)
from maxent_cvx.sources.queries import noise_interval
from support.helpers import refused

BOTH = {"closed": "both"}


@pytest.fixture
def staff():
    """Twelve people in three buckets of four, their age and salary."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"Age": rng.integers(20, 60, 12), "Sex": rng.choice(["F", "M"], 12)})
    return frame.assign(Salary=rng.choice([30, 40, 50, 80], 12), Bucket=np.repeat([1, 2, 3], 4))


@pytest.fixture
def published(staff):
    return mx.Release.from_buckets(staff, qi=["Age", "Sex"], sa="Salary", bucket="Bucket")


def test_what_is_said_is_so(staff, published):
    """Counts, sums and means of the posterior are the answers (CAE, section 5: range sums)."""
    young, women = {"Age": pd.Interval(20, 40, **BOTH)}, {"Sex": "F"}
    known = staff[staff["Age"] <= 40], staff[staff["Sex"] == "F"]
    model = mx.MaxEnt(published)
    model.add(AnsweredQueries([young, women], [some["Salary"].sum() for some in known], of="sum"))
    model.add(AnsweredQueries([women], [known[1]["Salary"].mean()], of="mean"))
    rich = {"Salary": pd.Interval(50, 80, **BOTH)}
    model.add(AnsweredQueries([young | rich], [(known[0]["Salary"] >= 50).sum()]))
    post = model.solve()
    joint = post.joint().reset_index(name="p")
    for (name, frame), low in zip({"young": known[0], "women": known[1]}.items(), [True, False], strict=True):
        of = joint[joint["Age"] <= 40] if low else joint[joint["Sex"] == "F"]
        assert 12 * (of["p"] * of["Salary"]).sum() == pytest.approx(frame["Salary"].sum(), abs=1e-6), name
    assert 12 * joint[(joint["Age"] <= 40) & (joint["Salary"] >= 50)]["p"].sum() == pytest.approx(
        (known[0]["Salary"] >= 50).sum(), abs=1e-6
    )
    by_clarabel = model.solve(solver="CLARABEL", presolve=False, polish=True)
    assert abs(post.conditional() - by_clarabel.conditional()).to_numpy().max() < 1e-6


def test_a_wrong_answer_is_a_contradiction(staff, published):
    """More than everybody, or a mean beyond every value: infeasible, and the query is named."""
    for source in (
        AnsweredQueries([{"Sex": "F"}], [13]),
        AnsweredQueries([{"Sex": "F"}], [81], of="mean"),
        AnsweredQueries([{"Salary": 30, "Sex": "F"}], [-1]),
    ):
        with pytest.raises(Infeasible):
            mx.MaxEnt(published).add(source).solve()


def test_queries_that_cannot_be_read(published):
    """Each error says what was found and what is expected."""
    for arguments, options, error, says in [
        (({"Sex": "F"}, [1]), {}, StatementError, "list of {attribute: value}"),
        (([["Sex"]], [1]), {}, StatementError, "a query"),
        (([{}], [1, 2]), {}, StatementError, "1 queries, 2 answers"),
        (([], []), {}, StatementError, "one at least"),
        (([{}], ["1"]), {}, BadProbability, "finite number"),
        (([{}], [1]), {"of": "mode"}, StatementError, "one of count, sum, mean"),
        (([{}], [1]), {"eps": -1}, BadProbability, "not be negative"),
        (([{}], [1]), {"eps": 10**400}, BadProbability, "finite number"),
        (([{}], {5: 3}), {}, StatementError, "list of numbers"),
        (([{}], np.array(1.0)), {}, StatementError, "list of numbers"),
        (([{}], [1]), {"values": {30: 1}}, StatementError, "values"),
        (([{}], [1]), {"noise": laplace}, StatementError, "scipy.stats.laplace without parameters"),
    ]:
        with refused(error, says):
            AnsweredQueries(*arguments, **options)
    space = mx.MaxEnt(published).space
    with refused(UnknownName, "Sexe", "Sex"):
        list(AnsweredQueries([{"Sexe": "F"}], [1]).rows(space))
    with refused(StatementError, "is sensitive"):
        list(AnsweredQueries([{"Salary": 30}], [1], of="mean").rows(space))


def noisy(staff, scale, seed=0):
    """How many people of each sex have each salary, with Laplace noise."""
    counts = pd.crosstab(staff["Sex"], staff["Salary"]).stack()
    return counts + np.random.default_rng(seed).laplace(scale=scale, size=len(counts))


def test_noisy_marginals_are_sound(staff, published):
    """With the stated confidence the truth satisfies all rows: of 100 noisy tables, at least 95 % minus chance."""
    space = mx.MaxEnt(published).space
    truth = space.count(staff) / 12
    good = 0
    for seed in range(100):
        for rows in NoisyMarginal(noisy(staff, 2, seed), laplace(scale=2), confidence=0.95).rows(space):
            good += bool((rows.residual(truth) <= 1e-12).all())
    assert good >= 100 * 0.95 - 3 * np.sqrt(100 * 0.95 * 0.05)


def test_cells_that_nobody_is_in(published):
    """A noisy count where nobody can be says nothing, or, beyond the noise, contradicts the release."""
    cells = pd.Series([1.0, 0.4], index=pd.Index([30, 99], name="Salary"))
    assert len(next(iter(NoisyMarginal(cells, norm(scale=1)).rows(mx.MaxEnt(published).space)))) == 1
    with pytest.raises(Infeasible):
        mx.MaxEnt(published).add(NoisyMarginal(cells + 50, norm(scale=1))).solve()
    with refused(UnknownName, "99"):
        mx.MaxEnt(published).add(NoisyMarginal(cells.iloc[1:], norm(scale=1))).solve()


def with_population():
    """Four people in a release, of eight who could be."""
    records = pd.DataFrame({"Age": ["*"] * 4, "Sex": list("FFMM"), "Salary": [30, 80, 40, 50]})
    everybody = pd.DataFrame({"Age": [21, 25, 30, 45, 50, 55, 30, 45], "Sex": list("FFFMMMMF")})
    return mx.Release.from_generalized(records, qi=["Age", "Sex"], sa="Salary", population=everybody)


def test_of_a_population_those_in_the_release():
    """Counts and sums are of the people in the release; how many a mean is of is not known (section 5)."""
    model = mx.MaxEnt(with_population())
    women = pd.Series([2.0, 2.0], pd.Index(["F", "M"], name="Sex"))
    model.add(NoisyMarginal(women, norm(scale=0.01)))
    model.add(AnsweredQueries([{"Sex": "F"}, {}], [2, 4]))
    model.add(AnsweredQueries([{"Sex": "F"}, {"Age": [21, 25]}], [110, 50], of="sum"))
    joint = model.solve().joint().reset_index(name="p")
    joint["Salary"] = pd.to_numeric(joint["Salary"], errors="coerce").fillna(0)
    assert 8 * (joint["p"] * joint["Salary"])[joint["Age"].isin([21, 25])].sum() == pytest.approx(50, abs=1e-5)
    with refused(StatementError):
        model.copy().add(AnsweredQueries([{}], [50], of="mean")).solve()


@pytest.mark.parametrize(
    "noise",
    [laplace(scale=2), norm(scale=3), expon(loc=-1, scale=2), poisson(3, loc=-3), geom(0.3, loc=-2), binom(9, 0.2)],
    ids=lambda noise: noise.dist.name,
)
def test_quantiles_are_sound(noise):
    """Of any noise, also one that leans to a side, no more than 1 - confidence of the tables are misread."""
    least, most = noise_interval(noise, 0.8, 3)
    drawn = noise.rvs(size=(20_000, 3), random_state=0)
    outside = ((drawn < least - 1e-12) | (drawn > most + 1e-12)).any(axis=1).mean()
    assert outside <= 0.2 + 5 * np.sqrt(0.16 / 20_000)
    assert max((drawn < least - 1e-12).mean(), (drawn > most + 1e-12).mean()) <= 0.2 / 6 + 0.01
