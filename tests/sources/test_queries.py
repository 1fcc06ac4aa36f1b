"""Statistics that an agency publishes: counts, sums and means, noisy marginals, and randomised response."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
from scipy.stats import binom, dlaplace, expon, geom, laplace, norm, poisson

import maxent_cvx as mx
from maxent_cvx import (
    AnsweredQueries,
    BadProbability,
    Infeasible,
    MaxEnt,
    NoisyMarginal,
    P,
    QITable,
    RandomizedResponse,
    StatementError,
    TableError,
    UnknownName,
    anonymize,
)
from maxent_cvx.releases.partitioned import divided
from maxent_cvx.sources.queries import noise_interval
from support.helpers import refused

NOBODY = {"Age": 54, "Sex": "F"}  # the only person of this age is a man


@pytest.fixture(scope="module")
def staff() -> pd.DataFrame:
    """Twelve people in three buckets of four, their age and salary."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"Age": rng.integers(20, 60, 12), "Sex": rng.choice(["F", "M"], 12)})
    return frame.assign(Salary=rng.choice([30, 40, 50, 80], 12), Bucket=np.repeat([1, 2, 3], 4))


@pytest.fixture(scope="module")
def published(staff) -> mx.Release:
    return mx.Release.from_buckets(staff, qi=["Age", "Sex"], sa="Salary", bucket="Bucket")


def test_answers_are_those_of_the_posterior(staff, published):
    """Counts, sums and means of the posterior are the answers (CAE, section 5: range sums)."""
    young, women = {"Age": pd.Interval(20, 40, closed="both")}, {"Sex": "F"}
    known = staff[staff["Age"] <= 40], staff[staff["Sex"] == "F"]
    n_rich, rich = (known[0]["Salary"] >= 50).sum(), {"Salary": pd.Interval(50, 80, closed="both")}
    model = MaxEnt(published).add(
        AnsweredQueries([young, women], [table["Salary"].sum() for table in known], of="sum"),
        AnsweredQueries([women], [known[1]["Salary"].mean()], of="mean"),
        AnsweredQueries([young | rich, NOBODY], [n_rich, 0]),
        AnsweredQueries([NOBODY], [0], of="sum"),
    )
    post = model.solve()
    joint = post.joint().reset_index(name="p")
    for terms, table in ((joint[joint["Age"] <= 40], known[0]), (joint[joint["Sex"] == "F"], known[1])):
        assert 12 * (terms["p"] * terms["Salary"]).sum() == pytest.approx(table["Salary"].sum(), abs=1e-6)
    rich_and_young = joint[(joint["Age"] <= 40) & (joint["Salary"] >= 50)]
    assert 12 * rich_and_young["p"].sum() == pytest.approx(n_rich, abs=1e-6)
    by_clarabel = model.solve(solver="CLARABEL", presolve=False, polish=True)
    assert abs(post.conditional() - by_clarabel.conditional()).to_numpy().max() < 1e-6


@pytest.mark.parametrize(
    ("query", "answer", "of"),
    [
        ({"Sex": "F"}, 13, "count"),
        ({"Sex": "F"}, 81, "mean"),
        ({"Salary": 30, "Sex": "F"}, -1, "count"),
        (NOBODY, 1, "count"),
        (NOBODY, 30, "sum"),
    ],
)
def test_a_wrong_answer_is_a_contradiction(published, query, answer, of):
    """More than everybody, a mean beyond every value, less than nobody, or anything but 0 of nobody is infeasible."""
    for view in (published, divided(published, 2)):
        with pytest.raises(Infeasible):
            MaxEnt(view).add(AnsweredQueries([query], [answer], of=of)).solve()


@pytest.mark.parametrize(
    ("queries", "answers", "options", "error"),
    [
        ({"Sex": "F"}, [1], {}, StatementError),
        ([["Sex"]], [1], {}, StatementError),
        ([{}], [1, 2], {}, StatementError),
        ([], [], {}, StatementError),
        ([{}], ["1"], {}, BadProbability),
        ([{}], [1], {"of": "mode"}, StatementError),
        ([{}], [1], {"eps": -1}, BadProbability),
        ([{}], [1], {"eps": 10**400}, BadProbability),
        ([{}], {5: 3}, {}, StatementError),
        ([{}], np.array(1.0), {}, StatementError),
        ([{}], [1], {"values": {30: 1}}, StatementError),
        ([{}], [1], {"noise": laplace}, StatementError),
        ([{"Sexe": "F"}], [1], {}, UnknownName),
        ([{"Salary": 30}], [1], {"of": "mean"}, StatementError),
        ([NOBODY], [30], {"of": "mean"}, StatementError),
    ],
)
def test_queries_that_cannot_be_read(published, queries, answers, options, error):
    """Queries, answers and options are checked, at the latest by the model."""
    with refused(error):
        MaxEnt(published).add(AnsweredQueries(queries, answers, **options))


def test_of_a_population_those_in_the_release():
    """Counts and sums are of the people in the release; the number of people of a mean is not known (section 5)."""
    records = pd.DataFrame({"Age": ["*"] * 4, "Sex": list("FFMM"), "Salary": [30, 80, 40, 50]})
    everybody = pd.DataFrame({"Age": [21, 25, 30, 45, 50, 55, 30, 45], "Sex": list("FFFMMMMF")})
    model = MaxEnt(mx.Release.from_generalized(records, qi=["Age", "Sex"], sa="Salary", population=everybody))
    model.add(NoisyMarginal(pd.Series([2.0, 2.0], pd.Index(["F", "M"], name="Sex")), norm(scale=0.01)))
    model.add(AnsweredQueries([{"Sex": "F"}, {}], [2, 4]))
    model.add(AnsweredQueries([{"Sex": "F"}, {"Age": [21, 25]}], [110, 50], of="sum"))
    joint = model.solve().joint().reset_index(name="p")
    joint["Salary"] = pd.to_numeric(joint["Salary"], errors="coerce").fillna(0)
    assert 8 * (joint["p"] * joint["Salary"])[joint["Age"].isin([21, 25])].sum() == pytest.approx(50, abs=1e-5)
    with refused(StatementError):
        model.copy().add(AnsweredQueries([{}], [50], of="mean")).solve()


def test_noisy_marginals_are_sound(staff, published):
    """With the stated confidence the truth satisfies all rows: of 100 noisy tables, at least 95 % minus chance."""
    space = MaxEnt(published).space
    truth, counts, good = space.count(staff) / 12, pd.crosstab(staff["Sex"], staff["Salary"]).stack(), 0
    for seed in range(100):
        noisy = counts + np.random.default_rng(seed).laplace(scale=2, size=len(counts))
        for rows in NoisyMarginal(noisy, laplace(scale=2), confidence=0.95).rows(space):
            good += bool((rows.residual(truth) <= 1e-12).all())
    assert good >= 100 * 0.95 - 3 * np.sqrt(100 * 0.95 * 0.05)


# Noisy marginals.


def test_cells_that_nobody_is_in(published):
    """A noisy count of an impossible cell has no effect, or, beyond the noise, contradicts the release."""
    cells = pd.Series([1.0, 0.4], index=pd.Index([30, 99], name="Salary"))
    assert len(next(iter(NoisyMarginal(cells, norm(scale=1)).rows(MaxEnt(published).space)))) == 1
    with pytest.raises(Infeasible):
        MaxEnt(published).add(NoisyMarginal(cells + 50, norm(scale=1))).solve()
    with refused(UnknownName):
        MaxEnt(published).add(NoisyMarginal(cells.iloc[1:], norm(scale=1))).solve()


@pytest.mark.parametrize(
    "noise",
    [laplace(scale=2), norm(scale=3), expon(loc=-1, scale=2), poisson(3, loc=-3), geom(0.3, loc=-2), binom(9, 0.2)],
    ids=lambda noise: noise.dist.name,
)
def test_quantiles_are_sound(noise):
    """For any noise, also a skewed one, the intervals miss the truth in at most 1 - confidence of the tables."""
    least, most = noise_interval(noise, 0.8, 3)
    drawn = noise.rvs(size=(20_000, 3), random_state=0)
    outside = ((drawn < least - 1e-12) | (drawn > most + 1e-12)).any(axis=1).mean()
    assert outside <= 0.2 + 5 * np.sqrt(0.16 / 20_000)
    assert max((drawn < least - 1e-12).mean(), (drawn > most + 1e-12).mean()) <= 0.2 / 6 + 0.01


# The likelihood of noisy counts.

SIZES = {"A": 2, "B": 3, "C": 2, "D": 3}
CELLS = pd.MultiIndex.from_tuples(list(itertools.product(*map(range, SIZES.values()))), names=list(SIZES))
PEOPLE = 2_000
#: The standard deviation of the noise in every count, people.
SD = 4.0


def noisy_marginals(seed: int) -> list[pd.Series]:
    """Three-way marginals of a random table, with Gaussian noise: no table has them all."""
    rng = np.random.default_rng(seed)
    table = pd.Series(rng.multinomial(PEOPLE, rng.dirichlet(np.full(len(CELLS), 5.0))), index=CELLS)
    marginals = [table.groupby(level=list(by)).sum().astype(float) for by in ("ABC", "BCD", "ACD")]
    return [counts + rng.normal(0, SD, len(counts)) for counts in marginals]


def by_likelihood(marginals: list[pd.Series]) -> tuple[mx.Posterior, pd.Series]:
    """The answer from these counts alone, and its shares of the cells."""
    people = pd.DataFrame({"Everybody": ["yes"], "people": [PEOPLE]})
    view = QITable(people, qi="Everybody", sa=list(SIZES), sa_values=list(CELLS), count="people")
    noise = norm(scale=SD)
    post = MaxEnt(view).add(*[NoisyMarginal(counts, noise, how="likelihood") for counts in marginals]).solve()
    shares = post.conditional().iloc[0]
    return post, pd.Series(shares.to_numpy(), index=pd.MultiIndex.from_tuples(list(shares.index), names=list(SIZES)))


def test_it_is_the_maximum_a_posteriori():
    """N H less the sum of squares is largest, as SciPy finds it on all counts."""
    marginals = noisy_marginals(7)
    post, shares = by_likelihood(marginals)

    def loss(log_x: np.ndarray) -> tuple[float, np.ndarray]:
        """The value, and its gradient by log_x."""
        share = np.exp(log_x - np.logaddexp.reduce(log_x))
        table, value, slope = pd.Series(PEOPLE * share, index=shares.index), 0.0, np.log(share) + 1
        for counts in marginals:
            groups = table.groupby(level=counts.index.names)
            missed = (groups.sum() - counts).to_numpy()
            value += (missed**2).sum() / (2 * SD**2)
            slope += missed[groups.ngroup()] / SD**2
        return float((table * np.log(share)).sum() + value), np.asarray(table * (slope - share @ slope))

    assert loss(np.log(shares.to_numpy()))[0] == pytest.approx(-post.objective, rel=1e-12)
    solution = scipy.optimize.minimize(
        loss, np.zeros(len(shares)), jac=True, method="BFGS", options={"gtol": 1e-6, "maxiter": 2000}
    )
    assert -post.objective <= solution.fun + 1e-6
    np.testing.assert_allclose(np.exp(solution.x - np.logaddexp.reduce(solution.x)), shares, atol=1e-4)


@pytest.mark.parametrize(
    ("noise", "cost"),
    [
        (norm(0, 2), lambda r: r**2 / 8),
        (laplace(scale=2), lambda r: np.abs(r) / 2),
        (laplace(), np.abs),
        (dlaplace(0.5), lambda r: np.abs(r) / 2),
    ],
)
def test_costs_are_log_likelihoods(release, noise, cost):
    """The cost of a miss in people is its negative log-likelihood; discrete noise is that of the geometric mechanism."""
    index = pd.MultiIndex.from_tuples([("male", "Flu"), ("female", "Flu")], names=["Gender", "Disease"])
    post = MaxEnt(release).add(NoisyMarginal(pd.Series([4.2, -0.7], index), noise, how="likelihood")).solve()
    missed = np.array(
        [6 * post.prob("Flu", {"Gender": "male"}) - 4.2, 4 * post.prob("Flu", {"Gender": "female"}) + 0.7]
    )
    assert post.penalties.tolist() == pytest.approx(cost(missed).tolist(), abs=1e-6)
    log = noise.logpmf if hasattr(noise.dist, "pmf") else noise.logpdf
    at, zero = (np.array([3, -4]), 0) if hasattr(noise.dist, "pmf") else (missed, 0.0)
    np.testing.assert_allclose(log(zero) - log(at), cost(at), atol=1e-12)


# Randomised response.

VALUES = ["yes", "no"]
HALF_HONEST = pd.DataFrame([[0.75, 0.25], [0.25, 0.75]], index=VALUES, columns=VALUES)


def survey(n: int, seed: int) -> pd.DataFrame:
    """People of two groups, whose share of "yes" differs, and their answers."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], n)
    truth = np.where(rng.random(n) < np.where(group == "a", 0.3, 0.7), "yes", "no")
    frame = pd.DataFrame({"Group": group, "Truth": truth})
    return frame.assign(Answer=anonymize.randomize(frame, sa="Truth", transition=HALF_HONEST, seed=seed))


def answers_of(frame: pd.DataFrame) -> QITable:
    return QITable(frame, qi=["Group", "Answer"], sa="Truth", sa_values=VALUES)


def test_exact_shares_are_bayes_rule():
    """If shares are exact, P(s | r) = T(s, r) P(s) / P(r) with P(s) from P(r) = sum_s T(s, r) P(s)."""
    model = MaxEnt(answers_of(pd.DataFrame({"Answer": ["yes"] * 400 + ["no"] * 600, "Group": "a"})))
    post = model.add(RandomizedResponse(HALF_HONEST, reported="Answer", confidence=None)).solve()
    yes = (0.4 - 0.25) / 0.5
    assert post.prob("yes") == pytest.approx(yes)
    assert post.prob("yes", given={"Answer": "yes"}) == pytest.approx(0.75 * yes / 0.4)


@pytest.mark.parametrize(
    "change",
    [{}, {"transition": HALF_HONEST.assign(never=0.0)}, {"by": [[], []]}],
    ids=["two reports", "a report that nobody gives", "the same group twice"],
)
def test_the_same_event_counts_once(change: dict[str, Any]):
    """Two possible reports are one event, so w = sqrt(ln(2 m / (1 - c)) / (2 n)) with one event per value, m = 2."""
    arguments = {"transition": HALF_HONEST, "reported": "Answer", "by": [[]]} | change
    (rows,) = RandomizedResponse(**arguments).rows(MaxEnt(answers_of(survey(4000, 0))).space)
    widths = rows.high[rows.high > 0]
    assert widths == pytest.approx([np.sqrt(np.log(4 / 0.05) / 8000)] * 2)


def test_rounded_means_of_groups_and_of_their_union():
    """Means of two groups and of everybody, rounded to a decimal, have the answer of the same means by E(...)."""
    people = pd.DataFrame({"sex": list("FMFMFFM"), "h": [40, 20, 20, 20, 30, 20, 30]})
    view = QITable(people, qi="sex", sa="h", sa_values=[20, 30, 40])
    groups, means = [{"sex": "F"}, {"sex": "M"}, {}], [27.5, 23.3, 25.7]
    queries = MaxEnt(view).add(AnsweredQueries(groups, means, of="mean", eps=0.05)).solve()
    expected = MaxEnt(view).add(
        *(mx.E("h", given=group).about(mean, eps=0.05) for group, mean in zip(groups, means, strict=True))
    )
    np.testing.assert_allclose(queries.conditional(), expected.solve().conditional(), atol=1e-6)


@pytest.mark.parametrize("n", [200, 20_000])
def test_true_rows(n: int):
    """With confidence 0.95 all rows are true together in nearly every survey; with more people they say more."""
    false = 0
    for seed in range(20):
        frame = survey(n, seed)
        model = MaxEnt(answers_of(frame)).add(RandomizedResponse(HALF_HONEST, reported="Answer"))
        false += (model.form.residual(model.space.count(frame)) > 1e-9).any()
    assert false <= 1
    low, high = model.bounds(P("yes", given={"Group": "a"}))
    assert low < 0.3 < high
    assert (high - low < 0.2) == (n > 1000)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"transition": [[1, 0], [0, 1]]}, TableError),
        ({"transition": HALF_HONEST * 2}, BadProbability),
        ({"transition": HALF_HONEST.iloc[[0, 0]]}, TableError),
        ({"transition": HALF_HONEST.iloc[:1]}, StatementError),
        ({"transition": pd.DataFrame({"yes": [1.0, 1.0]}, index=VALUES)}, StatementError),
        ({"reported": "Anser"}, UnknownName),
        ({"confidence": 1}, BadProbability),
        ({"by": [["Grup"]]}, UnknownName),
        ({"by": [["Answer"]]}, StatementError),
        ({"by": 3}, StatementError),
    ],
)
def test_wrong_responses(change, error):
    """No transition matrix, no such attribute, no such confidence."""
    with refused(error):
        MaxEnt(answers_of(survey(50, 0))).add(
            RandomizedResponse(**{"transition": HALF_HONEST, "reported": "Answer"} | change)
        )
