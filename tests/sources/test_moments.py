"""Published moments and quantiles: true of those records of which NumPy and pandas say so, and of no others."""

from __future__ import annotations

import functools
import itertools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import (
    AnsweredQueries,
    BadProbability,
    Covariance,
    Monotone,
    P,
    PublishedCorrelation,
    PublishedMoments,
    PublishedQuantile,
    StatementError,
    UnknownName,
)
from maxent_cvx.sources.moments import METHODS, nearest_fraction
from maxent_cvx.sources.numbers import whole_sums
from support.helpers import refused

INCOMES = [10, 20, 45]
#: Five people, of whom some are ill.
PEOPLE = pd.DataFrame({"age": [20, 40, 60, 80, 35], "sex": list("FMFMF")})
AGES = PEOPLE["age"].to_numpy()


def ill_of(n_ill: int | None = None) -> mx.QITable:
    """The five people, of whom so many are ill, or an unknown number."""
    if n_ill is None:
        return mx.QITable(PEOPLE, qi=["age", "sex"], sa="ill", sa_values=["no", "yes"])
    return mx.QITable(PEOPLE, qi=["age", "sex"], sa="ill", sa_distribution=pd.Series({"no": 5 - n_ill, "yes": n_ill}))


def violations(rows, points) -> np.ndarray:
    """The largest violation of the rows in each world."""
    return np.array([max(block.residual(p).max() for block in rows) for p in points])


def worlds_of(n: int, values) -> np.ndarray:
    """All values that so many people can have, one row per world."""
    return np.array(list(itertools.product(values, repeat=n)))


def points_of(space: mx.Space, people: pd.DataFrame, sa: str, worlds) -> list[np.ndarray]:
    """The probabilities of the terms in each world."""
    return [space.count(people.assign(**{sa: world})) / len(people) for world in worlds]


def ill_worlds(space: mx.Space, n_ill: int | None, least: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Masks of the ill in the worlds in which so many are ill, or at least so many if the number is unknown."""
    worlds = worlds_of(5, ["no", "yes"])
    n = (worlds == "yes").sum(axis=1)
    worlds = worlds[n >= least if n_ill is None else n == n_ill]
    return worlds == "yes", points_of(space, PEOPLE, "ill", worlds)


@pytest.mark.parametrize("places", [None, 1])
def test_all_worlds_of_a_class(places):
    """The age of the ill, 46.7 (20.8): true of the worlds with that mean and sd, and, if exact, of no others."""
    for ddof, n_ill in itertools.product([0, 1], [None, 2]):
        space = mx.Space.of(ill_of(n_ill))
        worlds, points = ill_worlds(space, n_ill, 2)
        truths = np.array([(AGES[ill].mean(), AGES[ill].std(ddof=ddof)) for ill in worlds])
        off = 1e-9 if places is None else 0.5 * 10.0**-places
        for mean, sd in truths[::3].tolist():
            published = (mean, sd) if places is None else (round(mean, places), round(sd, places))
            for n in (1, 2):  # the mean alone, and with the standard deviation
                source = PublishedMoments(*published[:n], of="age", given={"ill": "yes"}, ddof=ddof, decimals=places)
                violated = violations(list(source.rows(space)), points)
                distance = np.abs(truths - published)[:, :n].max(axis=1)
                assert (violated[distance <= off - 1e-12] < 1e-9).all()
                if places is None or n == 1:
                    assert (violated[distance > off + 1e-6] > 1e-6).all()


@given(st.lists(st.sampled_from(INCOMES), min_size=2, max_size=7), st.sampled_from([None, 0, 1, 2]), st.booleans())
def test_sensitive_numbers(incomes, places, ddof):
    """Mean and standard deviation of records, exact or rounded, are true of them, and exact ones of no others."""
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
        p = space.count(people.assign(income=other.astype(int))) / len(incomes)
        assert violations(list(source.rows(space)), [p]) > 0


def test_covariance_by_hand():
    """Mean age 47: the row of Cov(age, yes) has (age - 47) / 5 of each who is ill, and all worlds have NumPy's."""
    space = mx.Space.of(ill_of())
    (rows,) = (Covariance("age", {"yes": 1}) >= 1).rows(space)
    for ill, p in zip(*ill_worlds(space, None, 2), strict=True):
        value = (rows.matrix @ p)[0]
        assert value == pytest.approx(np.cov(AGES, ill, ddof=0)[0, 1])
        assert value == pytest.approx(((AGES - 47) / 5) @ ill)
    block = space.marginal(["ill", "age"])["yes"]
    by_block = (block * pd.Series(AGES - 47.0, pd.Index(AGES, name="age"))).sum() >= 1
    np.testing.assert_allclose(by_block.matrix.toarray(), rows.matrix.toarray(), atol=1e-12)


@pytest.mark.parametrize("kind", [int, float, Decimal, Fraction])
def test_numbers_in_a_column_of_objects(kind):
    """Whole numbers, decimal numbers and fractions in a column of objects are those of a column of numbers."""
    people = pd.DataFrame({"age": AGES})
    one, other = (
        mx.QITable(table, qi="age", sa="ill", sa_values=["no", "yes"])
        for table in (people, people.assign(age=pd.Series(map(kind, AGES.tolist()), dtype=object)))
    )
    line = mx.PublishedRegression({"intercept": -0.5, "age": 0.02}, of={"yes": 1})
    for source in (Covariance("age", {"yes": 1}) >= 1, PublishedCorrelation(0.5, ("age", {"yes": 1}), sd=0.5), line):
        (rows,), (objects,) = (source.rows(mx.Space.of(view)) for view in (one, other))
        assert rows.low == pytest.approx(objects.low)
        np.testing.assert_allclose(objects.matrix.toarray(), rows.matrix.toarray())
    with refused(StatementError):
        mx.MaxEnt(
            mx.QITable(people.astype(object).replace(AGES[0], 10**400), qi="age", sa="ill", sa_values=[0, 1])
        ).add(Covariance("age", {1: 1}) >= 0)


@given(
    st.lists(st.tuples(st.integers(18, 60), st.sampled_from(INCOMES)), min_size=3, max_size=8),
    st.sampled_from([None, 1, 2]),
    st.booleans(),
    st.booleans(),
)
def test_correlations_of_records(people, places, ddof, published):
    """Records satisfy the row of their own correlation, rounded or not, with sd given or from published counts."""
    frame = pd.DataFrame(people, columns=["age", "income"])
    assume(frame["age"].nunique() > 1 and frame["income"].nunique() > 1)
    values = {"sa_distribution": frame["income"].value_counts()} if published else {"sa_values": INCOMES}
    space = mx.Space.of(mx.QITable(frame[["age"]], qi="age", sa="income", **values))
    r, sd = float(np.corrcoef(frame.T)[0, 1]), float(frame["income"].std(ddof=int(ddof)))
    if places is not None:
        r, sd = round(r, places), round(sd, places)
    options = {} if published else {"sd": sd, "ddof": int(ddof), "sd_decimals": places}
    source = PublishedCorrelation(r, ("age", "income"), decimals=places, **options)
    mx.testing.check_source(source, space, frame)
    (rows,) = source.rows(space)
    value = (rows.matrix @ (space.count(frame) / len(frame)))[0]
    assert value == pytest.approx(np.cov(frame.T, ddof=0)[0, 1] * len(frame) ** 2)
    if places is None:
        assert rows.high[0] == rows.low[0]  # ages and incomes are integers, and so is this


# Quantiles.

SALARIES = [20, 30, 40, 70]


def earners(n: int) -> pd.DataFrame:
    """So many people, everybody of another age."""
    return pd.DataFrame({"age": 30 + 5 * np.arange(n)})


def view_of(n: int, incomes=tuple(SALARIES)) -> mx.QITable:
    """A QI table in which only the possible incomes are known."""
    return mx.QITable(earners(n), qi="age", sa="income", sa_values=list(incomes))


@functools.cache
def all_earners(n: int) -> tuple[mx.Space, np.ndarray, list[np.ndarray]]:
    """All worlds of so many earners, with the probabilities of their terms."""
    space, worlds = mx.Space.of(view_of(n)), worlds_of(n, SALARIES)
    return space, worlds, points_of(space, earners(n), "income", worlds)


@pytest.mark.parametrize("method", METHODS)
def test_all_worlds_of_a_quantile(method):
    """Every world with that quantile is feasible; of one of the numbers, only these are; of two, one alternative is."""
    for n in (1, 4):
        space, worlds, points = all_earners(n)
        for q in (0, 0.1, 0.5):
            quantiles = np.quantile(worlds, q, axis=1, method=method)
            for value in np.unique(quantiles):
                source = PublishedQuantile(value, q, method=method)
                violated, true = violations(list(source.rows(space)), points), np.abs(quantiles - value) < 1e-9
                assert (violated[true] == 0).all()
                options = source.alternatives(space)
                exact = np.min([violations(rows, points) for rows in options], axis=0)
                np.testing.assert_array_equal(exact == 0, true)
                if len(options) == 1:
                    np.testing.assert_array_equal(violated == 0, true)


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_of_an_unknown_number(method):
    """The quantile of an age among the ill, of whom it is not known how many there are, is true of true worlds only."""
    space = mx.Space.of(ill_of())
    worlds, points = ill_worlds(space, None, 1)
    for q in (0, Fraction(1, 3), 0.75):
        quantiles = np.array([np.quantile(AGES[ill], float(q), method=method) for ill in worlds])
        for value in np.unique(quantiles):
            rows = list(PublishedQuantile(value, q, given={"ill": "yes"}, of="age", method=method).rows(space))
            holds, true = violations(rows, points) < 1e-12, np.abs(quantiles - value) < 1e-9
            assert holds[true].all()
            if method in ("inverted_cdf", "lower", "higher"):
                np.testing.assert_array_equal(holds, true)


def test_exact_over_whole_assignments():
    """The mean of two middle values is exact over whole assignments: brute force over all worlds."""
    worlds = worlds_of(4, SALARIES)
    true = worlds[(np.median(worlds, axis=1) == 30) & (worlds.min(axis=1) == 20)]
    model = mx.MaxEnt(view_of(4)).add(PublishedQuantile(30), PublishedQuantile(20, q=0))
    for value in SALARIES:
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


# Whole numbers, and arguments.


@given(
    st.lists(st.integers(-10_000, 10_000), min_size=1, max_size=8),
    st.sampled_from([0, 1, 2, 4]),
    st.floats(0, 5),
    st.data(),
)
def test_no_true_sum_is_lost(units, places, width, data):
    """Sums of numbers with few decimals are multiples of the last decimal: what is in the interval stays in it."""
    numbers = np.array([round(unit / 10**places, places) for unit in units])
    counts = data.draw(st.lists(st.integers(0, 5), min_size=len(units), max_size=len(units)))
    true = Fraction(int(np.dot(units, counts)), 10**places)
    weights, low, high, by = whole_sums(numbers, float(true) - width, float(true) + width / 3)
    assert by is not None
    assert by <= places
    np.testing.assert_array_equal(weights, np.array(units) / 10 ** (places - by))
    assert low <= true * 10**by <= high
    assert (low, high) == (np.rint(low), np.rint(high))


def test_sums_that_are_not_whole_stay():
    """Thirds are not rounded, and an interval without an integer is not either, so that the rows contradict."""
    for numbers, low, high in [([1 / 3, 2], 1.2, 1.4), ([1, 2], 1.2, 1.4), ([2.0**41, 1], 1, 3)]:
        weights, *sides, by = whole_sums(np.array(numbers), low, high)
        assert by is None
        assert sides == [low, high]
        np.testing.assert_array_equal(weights, numbers)


def test_the_only_fraction_near():
    """A mean of at most ten integers is known if only one fraction is near the number."""
    assert nearest_fraction(140 / 3, 1e-9, 10) == Fraction(140, 3)
    assert nearest_fraction(46.66, 1e-9, 10) is None  # near no fraction
    assert nearest_fraction(140 / 3, 0.01, 10) is None  # near several: those with denominators up to 10, 1/90 apart
    assert nearest_fraction(0.1, 1e-12, 10) == Fraction(1, 10)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: PublishedMoments(50, of="age"), StatementError),
        (lambda: PublishedMoments(0.5, -1), BadProbability),
        (lambda: PublishedMoments(0.55, decimals=1), BadProbability),
        (lambda: PublishedMoments(0.5, 0.1, decimals=(1, 1, 1)), BadProbability),
        (lambda: PublishedMoments(0.5), mx.TableError),
        (lambda: PublishedMoments(20, 0, of="age", given={"ill": "yesno"}), UnknownName),
        (lambda: PublishedMoments(1, 1, values={"no": 0, "yes": 1}, given={"age": 20}), StatementError),
        (lambda: PublishedCorrelation(1.5, ("age", {"yes": 1})), BadProbability),
        (lambda: PublishedCorrelation(0.5, "age"), StatementError),
        (lambda: PublishedCorrelation(0.5, ("age", {"yes": 1})), StatementError),
        (lambda: PublishedCorrelation(0.5, ("sex=F", {"yes": 1}), sd=1, given={"sex": "F"}), StatementError),
        (lambda: PublishedCorrelation(0.5, ("agee", {"yes": 1}), sd=1), UnknownName),
        (lambda: PublishedCorrelation(0.5, ("age", {"yes": 1}), sd_decimals=1), StatementError),
        (lambda: Covariance("age", {}) >= 0, StatementError),
        (lambda: Covariance("sex", {"yes": 1}) >= 0, StatementError),
        (lambda: Covariance("age", {"yess": 1}) >= 0, UnknownName),
        (lambda: Monotone(Covariance("age", {"yes": 1}), "age"), StatementError),
        (lambda: PublishedQuantile(30, q=2), BadProbability),
        (lambda: PublishedQuantile(30, method="nearest"), StatementError),
        (lambda: PublishedQuantile(30.25, decimals=1), BadProbability),
        (lambda: PublishedQuantile(30, of="age"), StatementError),
        (lambda: PublishedQuantile(30, of="aged"), UnknownName),
        (lambda: PublishedQuantile(30, given={"ill": 300}), UnknownName),
        (lambda: PublishedQuantile([20, 30], q=[0.5]), StatementError),
        (lambda: PublishedQuantile([30, 20], q=[0.25, 0.75]), BadProbability),
    ],
)  # fmt: skip
def test_wrong_arguments(wrong, error):
    """A wrong argument is refused, at the latest when a model gets it."""
    with refused(error):
        mx.MaxEnt(ill_of()).add(wrong())


@pytest.mark.parametrize(
    ("values", "listed", "unknown"),
    [
        (pd.to_datetime(["2024-01-31", "2024-02-01"]), "2024-01-31", "2024"),
        (np.array([0.1, 0.2], dtype="float32"), 0.1, 0.3),
        ([1, 0], 1, True),
    ],
)
def test_a_listed_value_is_that_of_a_probability(values, listed, unknown):
    """A text lists the date that it names, and 0.1 the same number in 32 bits; True is not a listed 1."""
    view = mx.QITable(pd.DataFrame({"age": [20, 40]}), qi="age", sa="S", sa_values=values)
    post = mx.MaxEnt(view).add(Covariance("age", {listed: 1}) == -5).solve()  # only the younger person has the value
    assert post.prob(listed, {"age": 20}) == pytest.approx(1)
    for statement in (Covariance("age", {unknown: 1}) == -5, P(unknown) == 0.5):
        with refused(UnknownName):
            mx.MaxEnt(view).add(statement)


def test_a_value_is_listed_once():
    """A date and its text are the same value, which has one number."""
    day = pd.Timestamp("2024-01-31")
    view = mx.QITable(pd.DataFrame({"age": [20, 40]}), qi="age", sa="S", sa_values=[day, day + pd.Timedelta("1D")])
    with refused(StatementError):
        mx.MaxEnt(view).add(Covariance("age", {"2024-01-31": 1, day: 2}) == -5)


def test_a_quantile_that_is_always_true_has_no_effect():
    """Of one possible value it is true anyway, and of several answers one may be too vague: the others still count."""
    people = pd.DataFrame({"age": [20, 30, 40], "income": [20, 30, 40], "bucket": [0, 1, 1]})
    release = mx.Release.from_buckets(people, qi="age", sa="income", bucket="bucket")
    model = mx.MaxEnt(release).add(PublishedQuantile(20, given={"age": 20}))
    assert model.solve().entropy == pytest.approx(mx.MaxEnt(release).solve().entropy)
    assert model.bounds(mx.P(30, given={"age": 30}), integer=True) == (0, 1)
    for of in ("min", "median", "max"):
        exact = AnsweredQueries([{"age": 40}], [30], of=of)
        both = AnsweredQueries([{}, {"age": 40}], [30, 30], of=of, eps=[100, 0])
        answers = [mx.MaxEnt(release).add(source).solve().conditional() for source in (exact, both)]
        pd.testing.assert_frame_equal(*answers)
        assert answers[0].loc[40, 30] == pytest.approx(1)


def test_a_quantile_that_nobody_has():
    """A quantile that is not one of the numbers, nor between two of them by the method, is refused."""
    for wrong in (PublishedQuantile(33), AnsweredQueries([{}], [33], of="median")):
        with refused(StatementError):
            mx.MaxEnt(view_of(3)).add(wrong)


def in_different_words() -> list[tuple[mx.QITable, list]]:
    """Models with values in decimals, and statements that contain the same knowledge."""
    of_people = mx.QITable(pd.DataFrame({"x": [1.3, 1.4, 1.7]}), qi="x", sa="S", sa_values=["a", "b"])
    pay = mx.QITable(pd.DataFrame({"age": [20, 30, 41, 52]}), qi="age", sa="pay", sa_values=[1.1, 1.2, 1.4])
    x = [1.3, 1.4, 1.7]
    covariance = float(np.mean((x - np.mean(x)) * np.array([1, 0, 1])))
    sds = float(np.std(x)), float(np.std([1, 0, 1]))
    return [
        (
            of_people,
            [mx.E("x", given={"S": "a"}) == 1.55, mx.PublishedMoments(1.55, of="x", given={"S": "a"})],
        ),
        (pay, [mx.E("pay") == 1.2, mx.PublishedMoments(1.2, of="pay")]),
        (
            of_people,
            [
                mx.Covariance("x", {"a": 1}) == covariance,
                mx.PublishedCorrelation(covariance / sds[0] / sds[1], ("x", {"a": 1}), sd=sds[1], ddof=0),
            ],
        ),
    ]


@pytest.mark.parametrize("case", range(3))
def test_the_same_in_different_words(case):
    """Decimals are read as decimals by every source, so that rows that are multiples of each other are so exactly."""
    view, statements = in_different_words()[case]
    answers = [mx.MaxEnt(view).add(*some).solve() for some in ([s] for s in statements)]
    both = mx.MaxEnt(view).add(*statements).solve()
    assert both.certificate.holds
    for answer in answers:
        assert np.allclose(both.conditional(), answer.conditional(), atol=1e-6)


@pytest.mark.parametrize("x", [[0.1, 0.2, 0.3], [1.1, 1.3, 1.5], [1.0, 2.0, 3.0]])
def test_a_person_at_the_mean_does_not_count_in_a_covariance(x):
    """The mean of decimals is that of the decimals: x - mean is 0, and no roundoff."""
    x, ill = np.array(x), np.array([0, 0, 1])
    view = mx.QITable(pd.DataFrame({"x": x}), qi="x", sa="ill", sa_values=["no", "yes"])
    statement = mx.Covariance("x", {"yes": 1}) == float(np.mean((x - x.mean()) * ill))
    assert mx.MaxEnt(view).add(statement).solve().conditional()["yes"].round(6).to_list() == [0, 0.5, 1]


def test_statistics_of_everybody_given_every_value():
    """A condition that all sensitive values satisfy leaves what is published of the quasi-identifier: true, and redundant."""
    people = pd.DataFrame({"age": [20, 40, 60], "ill": ["yes"] * 3, "Bk": [1, 1, 2]})
    release = mx.Release.from_buckets(people, qi="age", sa="ill", bucket="Bk")
    moments = mx.PublishedMoments(40, 20, of="age", given={"ill": "yes"})
    for statement in (moments, mx.PublishedQuantile(40, of="age", given={"ill": "yes"})):
        assert mx.MaxEnt(release).add(statement).solve().certificate.holds
    with pytest.raises(mx.MaxEntError):
        mx.MaxEnt(release).add(mx.PublishedMoments(41, 20, of="age", given={"ill": "yes"})).solve()
