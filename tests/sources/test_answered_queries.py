"""Statistics that an agency publishes are knowledge: counts, sums, means, and noisy marginals."""

from __future__ import annotations

import cvxpy as cp
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
    P,
    StatementError,
    TableError,
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


def test_it_is_the_same_as_by_hand(staff, published):
    """A sum is sum_s s N P(s | Q) P(Q), written out in CVXPY; a count is P(...) times people."""
    women = {"Sex": "F"}
    total = float(staff.loc[staff["Sex"] == "F", "Salary"].sum())
    n = int((staff["Sex"] == "F").sum())
    one = mx.MaxEnt(published).add(AnsweredQueries([women], [total], of="sum", eps=5)).solve()
    other = mx.MaxEnt(published).add(
        lambda space: cp.abs(sum(s * space.prob(s, given=women) for s in [30, 40, 50, 80]) * n - total) <= 5
    )
    assert abs(one.conditional() - other.solve("CLARABEL").conditional()).to_numpy().max() < 1e-4
    counted = mx.MaxEnt(published).add(AnsweredQueries([women | {"Salary": 30}], [1], eps=0.5, integer=False)).solve()
    said = mx.MaxEnt(published).add(P(30, given=women).between(0.5 / n, 1.5 / n)).solve()
    pd.testing.assert_frame_equal(counted.conditional(), said.conditional(), atol=1e-9)


def test_vague_answers(staff, published):
    """An answer rounded to tens says less than an exact one; one that may be anything says nothing."""
    sources = [AnsweredQueries([{"Sex": "F", "Salary": 30}], [1], eps=eps, integer=False) for eps in (0, 0.3, 0.6, 100)]
    assert len(next(iter(sources[-1].rows(mx.MaxEnt(published).space)))) == 0
    entropies = [mx.MaxEnt(published).add(source).solve().entropy for source in sources]
    assert entropies == sorted(entropies)
    assert entropies[-1] == pytest.approx(mx.MaxEnt(published).solve().entropy)


def test_a_wrong_answer_is_a_contradiction(staff, published):
    """More than everybody, or a mean beyond every value: infeasible, and the query is named."""
    for source in (
        AnsweredQueries([{"Sex": "F"}], [13]),
        AnsweredQueries([{"Sex": "F"}], [81], of="mean"),
        AnsweredQueries([{"Salary": 30, "Sex": "F"}], [-1]),
    ):
        with pytest.raises(Infeasible):
            mx.MaxEnt(published).add(source).solve()


def test_means_narrow_what_is_certain(staff, published):
    """Bounds see the answers: of two people the mean and one value give the other."""
    two = staff[staff["Bucket"] == 1].iloc[:2].assign(Bucket=1, Age=[21, 22], Sex="F", Salary=[30, 80])
    release = mx.Release.from_buckets(two, qi=["Age", "Sex"], sa="Salary", bucket="Bucket")
    model = mx.MaxEnt(release)
    assert model.bounds(P(80, given={"Age": 22})) == pytest.approx((0, 1))
    model.add(AnsweredQueries([{"Age": 22}], [80], of="mean"))
    assert model.bounds(P(30, given={"Age": 21}))[0] == pytest.approx(1)
    assert len(model.solve().certain(progress=False)) > 0


def test_several_attributes_and_numbers(hospital):
    """Of several sensitive attributes one is summed; values that are no numbers are given theirs."""
    frame = hospital.assign(Cost=range(10))
    release = mx.Release.from_buckets(frame, qi=["Gender"], sa=["Disease", "Cost"], bucket="Bucket")
    model = mx.MaxEnt(release)
    with refused(StatementError, "attribute="):
        model.copy().add(AnsweredQueries([{}], [45], of="sum")).solve()
    with refused(TableError, "values="):
        model.copy().add(AnsweredQueries([{}], [45], of="sum", attribute="Disease")).solve()
    with refused(UnknownName, "Costs", "Cost"):
        model.copy().add(AnsweredQueries([{}], [45], of="sum", attribute="Costs")).solve()
    post = model.add(AnsweredQueries([{"Gender": "male", "Disease": "Flu"}], [7], of="sum", attribute="Cost")).solve()
    joint = post.joint().reset_index(name="p")
    of = joint[(joint["Gender"] == "male") & (joint["Disease"] == "Flu")]
    assert 10 * (of["p"] * of["Cost"]).sum() == pytest.approx(7, abs=1e-6)


def test_queries_that_cannot_be_read(published):
    """Each error says what was found and what is expected."""
    for arguments, options, error, says in [
        (({"Sex": "F"}, [1]), {}, StatementError, "list of {attribute: value}"),
        (([["Sex"]], [1]), {}, StatementError, "a query is"),
        (([{}], [1, 2]), {}, StatementError, "1 queries, 2 answers"),
        (([], []), {}, StatementError, "one at least"),
        (([{}], ["1"]), {}, BadProbability, "finite number"),
        (([{}], [1]), {"of": "mode"}, StatementError, "one of count, sum, mean"),
        (([{}], [1]), {"eps": -1}, BadProbability, "not be negative"),
        (([{}], [1]), {"eps": 10**400}, BadProbability, "finite number"),
        (([{}], {5: 3}), {}, StatementError, "list of numbers"),
        (([{}], np.array(1.0)), {}, StatementError, "list of numbers"),
        (([{}], [1]), {"values": {30: 1}}, StatementError, "adds no values up"),
        (([{}], [1]), {"noise": laplace}, StatementError, "scipy.stats.laplace, with no parameters"),
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


def test_noisy_counts_by_a_role_of_a_view_of_ones_own(staff):
    """Whatever the columns of a view's roles are, it may have been counted by them, noisily: here by its floors."""

    class ByFloor(mx.QITable):
        """Everybody's age group and floor; the floor is a role of its own."""

        @property
        def axes(self):
            return {**super().axes, "floor": (("Floor",), pd.Index([1, 2], name="Floor"))}

        def terms(self):
            q, s, floor = (codes.ravel() for codes in np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"))
            order = np.lexsort((s, q, floor))
            return {"q": q[order], "s": s[order], "floor": floor[order]}

        @property
        def published(self):
            return {("q",): pd.Series(self.n_q, self.quasi_identifiers.get_level_values(0))}

    view = ByFloor(staff, qi="Sex", sa="Salary", sa_values=[30, 40])
    counts = pd.Series([3.0], pd.MultiIndex.from_tuples([(2, 30)], names=["Floor", "Salary"]))
    (rows,) = NoisyMarginal(counts, norm(scale=0.1)).rows(mx.MaxEnt(view).space)
    assert (rows.name(0), rows.low[0], rows.high[0]) == ("noisy counts by Floor, Salary: 2, 30", 0.25, 0.25)
    floor, salary = (rows.view.axes[role][1].to_numpy() for role in ("floor", "s"))
    terms = view.terms()
    assert rows.matrix.toarray()[0].tolist() == ((floor[terms["floor"]] == 2) & (salary[terms["s"]] == 30)).tolist()
    with refused(UnknownName, "'Flor'"):
        mx.MaxEnt(view).add(NoisyMarginal(counts.rename_axis(["Flor", "Salary"]), norm(scale=0.1)))


def test_noisy_marginals_are_sound(staff, published):
    """With the stated confidence the truth satisfies all rows: of 400 noisy tables, at least 95 % minus chance."""
    space = mx.MaxEnt(published).space
    truth = space.count(staff) / 12
    good = 0
    for seed in range(400):
        for rows in NoisyMarginal(noisy(staff, 2, seed), laplace(scale=2), confidence=0.95).rows(space):
            good += bool((rows.residual(truth) <= 1e-12).all())
    assert good >= 400 * 0.95 - 3 * np.sqrt(400 * 0.95 * 0.05)


def test_less_noise_tells_more(staff, published):
    """The entropy rises with the noise, up to that of the release alone."""
    counts = pd.crosstab(staff["Sex"], staff["Salary"]).stack().astype(float)
    alone = mx.MaxEnt(published).solve().entropy
    entropies = [
        mx.MaxEnt(published).add(NoisyMarginal(counts, norm(scale=scale), integer=False)).solve().entropy
        for scale in (1e-3, 0.1, 0.5, 10)
    ]
    assert entropies == sorted(entropies)
    assert entropies[0] < entropies[-1] == pytest.approx(alone)


def test_noise_with_ends(staff, published):
    """Binomial noise has ends: with confidence 1 the truth is within, and whole numbers are as narrow as without."""
    counts = staff.groupby("Salary").size()
    rows = [
        next(iter(NoisyMarginal(counts, binom(4, 0.5, loc=-2), confidence=1, integer=integer).rows(space)))
        for integer in (True, False)
        for space in [mx.MaxEnt(published).space]
    ]
    assert rows[0].same_as(rows[1])
    assert np.nanmin(rows[0].high * 12 - counts) == pytest.approx(2)


def test_cells_that_nobody_is_in(published):
    """A noisy count where nobody can be says nothing, or, beyond the noise, contradicts the release."""
    cells = pd.Series([1.0, 0.4], index=pd.Index([30, 99], name="Salary"))
    assert len(next(iter(NoisyMarginal(cells, norm(scale=1)).rows(mx.MaxEnt(published).space)))) == 1
    with pytest.raises(Infeasible):
        mx.MaxEnt(published).add(NoisyMarginal(cells + 50, norm(scale=1))).solve()
    with refused(UnknownName, "99"):
        mx.MaxEnt(published).add(NoisyMarginal(cells.iloc[1:], norm(scale=1))).solve()


def test_counts_that_cannot_be_read():
    """Each error says what was found and what is expected."""
    good = pd.Series([1.0, 2.0], index=pd.Index(["F", "M"], name="Sex"))
    for counts, noise, options, error, says in [
        ([1, 2], norm(), {}, TableError, "pandas Series"),
        (good.rename_axis(None), norm(), {}, TableError, "name of another attribute"),
        (pd.concat([good, good]), norm(), {}, TableError, "repeat"),
        (good * np.nan, norm(), {}, TableError, "missing value"),
        (good, 2.0, {}, StatementError, "distribution of scipy.stats"),
        (good, laplace, {}, StatementError, "call it"),
        (good, norm(scale=-1), {}, StatementError, "out of range"),
        (good, norm(scale=[1, 2]), {}, StatementError, "no quantiles"),
        (good.rename_axis(["Sex"]).astype(complex), norm(), {}, TableError, "real numbers"),
        (good, norm(), {"confidence": 1}, StatementError, "below 1"),
        (good, norm(), {"confidence": 0}, BadProbability, "confidence"),
    ]:
        with refused(error, says):
            NoisyMarginal(counts, noise, **options)
    with refused(StatementError, "integer=False"):
        staff = pd.DataFrame({"Sex": ["F", "M"], "Salary": [1, 2], "Bucket": 1})
        release = mx.Release.from_buckets(staff, qi="Sex", sa="Salary", bucket="Bucket")
        mx.MaxEnt(release).add(NoisyMarginal(good + 0.5, norm(scale=1e-6))).solve()


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


def test_of_a_series_and_of_named_people(hospital):
    """Queries are about pseudonyms' releases, and about named people's QI, as any knowledge is."""
    tables = mx.datasets.load_patients()
    series = mx.ReleaseSeries(
        mx.Release.from_buckets(table, qi=["Gender"], sa="Disease", bucket="Bucket", id="Pseudonym") for table in tables
    )
    one = mx.MaxEnt(series).add(AnsweredQueries([{"Gender": "male", "Disease": "Diabetes"}], [1])).solve()
    men = one.space.described({"Gender": "male"}).sum()
    assert one.prob("Diabetes", given={"Gender": "male"}) * men == pytest.approx(1, abs=1e-6)
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    people = {"Ann": {"Gender": "female", "Degree": "college"}}
    named = mx.MaxEnt(release, people=people).add(AnsweredQueries([{"Gender": "female", "Disease": "HIV"}], [0]))
    assert named.solve().people().loc["Ann", "HIV"] == pytest.approx(0, abs=1e-9)


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


def test_noisy_range_queries(staff, published):
    """Noise on ranges is read as that on cells; and a count is whole."""
    ranges = [{"Age": pd.Interval(20, 40, **BOTH), "Salary": 30}, {"Salary": [30, 40]}]
    truth = [((staff["Age"] <= 40) & (staff["Salary"] == 30)).sum(), staff["Salary"].isin([30, 40]).sum()]
    noise = binom(4, 0.5, loc=-2)
    source = AnsweredQueries(ranges, np.array(truth) + 0.4, noise=noise, confidence=1, eps=0.5)
    rows = next(iter(source.rows(mx.MaxEnt(published).space)))
    assert (rows.residual(mx.MaxEnt(published).space.count(staff) / 12) == 0).all()
    finite = np.isfinite(rows.low) & np.isfinite(rows.high)
    assert set((rows.high - rows.low)[finite]) <= {4.0}
    with refused(StatementError, "everybody"):
        list(AnsweredQueries([{}], [1.5], eps=0.4).rows(mx.MaxEnt(published).space))


def test_value_counts_as_pandas_makes_them(staff, published):
    """An index of one level in a MultiIndex is an index; two sources of one kind have names of their own."""
    model = mx.MaxEnt(published)
    model.add(NoisyMarginal(staff[["Salary"]].value_counts().astype(float), norm(scale=0.1)))
    model.add(AnsweredQueries([{"Sex": "F"}], [(staff["Sex"] == "F").sum()]))
    model.add(AnsweredQueries([{"Sex": "M"}], [(staff["Sex"] == "M").sum()]))
    assert len(model.knowledge) == 3
    model.solve()
    with refused(UnknownName, "'s'"):
        mx.MaxEnt(published).add(NoisyMarginal(pd.Series([1.0], pd.Index([30], name="s")), norm())).solve()
