"""Statistical disclosure control: what an intruder infers is what Bayes, linear programs and enumeration say."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers import refused
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import maxent_cvx as mx
from maxent_cvx import BadProbability, GroupTooLarge, Infeasible, StatementError, TableError, UnknownName, sdc
from maxent_cvx.sdc import linkage
from maxent_cvx.testing import check_source, check_technique

BOTH = {"closed": "both"}


def people(n=40, seed=0):
    """Made-up records, as in Table 2 of the paper, with a salary that depends on the rest."""
    rng = np.random.default_rng(seed)
    age, sex, education = rng.integers(16, 30, n), rng.choice(["F", "M"], n), rng.integers(1, 6, n)
    salary = (10 * (education + rng.integers(0, 4, n)) + 10 * (age > 22)).astype(int)
    return pd.DataFrame({"Age": age, "Sex": sex, "Education": education, "Salary": salary})


@dataclass(frozen=True)
class Rounded:
    """A fourth technique: publish a table of the confidential attribute by one other, in fives of people."""

    by: str
    seed: int = 0

    def publish(self, table, confidential):
        return (pd.crosstab(table[self.by], table[confidential]) / 5).round() * 5 + 1

    def infer(self, published, known, population):
        chosen = known.get(self.by, list(published.index))
        row = published.loc[chosen if isinstance(chosen, list) else [chosen]].sum()
        return row / row.sum()


TECHNIQUES = [
    sdc.Sampling(0.3),
    sdc.Sampling(1),
    sdc.RangeQueries(2),
    sdc.RangeQueries(6),
    sdc.RangeQueries(6, distribution="maxent"),
    sdc.BinomialNoise(0),
    sdc.BinomialNoise(30),
    sdc.BinomialNoise(100),
    Rounded("Sex"),
]


@pytest.mark.parametrize("technique", TECHNIQUES, ids=repr)
def test_techniques_keep_the_contract(technique):
    """All give probabilities over the domain, also the one that a user writes in ten lines."""
    check_technique(technique, people(), "Salary")
    assert isinstance(technique, sdc.Technique)


def test_what_breaks_the_contract():
    """The check says what is broken."""

    class Half(Rounded):
        def infer(self, published, known, population):
            return super().infer(published, known, population) / 2

    class Mute:
        def publish(self, table, confidential):
            return table

    class Careless(Rounded):
        def infer(self, published, known, population):
            population.iloc[:, 0] = 0
            return super().infer(published, known, population)

    class Nothing(Rounded):
        def infer(self, published, known, population):
            return super().infer(published, known, population) * np.nan

    with pytest.raises(AssertionError, match="population"):
        check_technique(Careless("Sex"), people(), "Salary")
    with pytest.raises(AssertionError, match="NaN"):
        check_technique(Nothing("Sex"), people(), "Salary")
    with pytest.raises(AssertionError, match="is a class"):
        check_technique(sdc.Sampling, people(), "Salary")
    with pytest.raises(AssertionError, match=r"sum to 0\.5"):
        check_technique(Half("Sex"), people(), "Salary")
    with pytest.raises(AssertionError, match="no method infer"):
        check_technique(Mute(), people(), "Salary")


# -- sampling ------------------------------------------------------------------------------------------------------


@given(st.integers(1, 30), st.floats(0.05, 1), st.integers(0, 99))
def test_sampling_counts(n, factor, seed):
    """p_i = f_i/|Mo| + (|Mo| - |Ms|)/(|Mo| |D|), counted by hand (CAE, "Details of experiments")."""
    table = people(n, seed)
    size = round(Fraction(f"{factor:.15g}") * n)
    if not size:
        return
    technique = sdc.Sampling(factor, seed)
    sample = technique.publish(table, "Salary")
    assert len(sample) == size
    known = {"Sex": table["Sex"].iloc[0], "Age": pd.Interval(16, table["Age"].iloc[0], **BOTH)}
    mo = table[(table["Sex"] == known["Sex"]) & (table["Age"] <= table["Age"].iloc[0])]
    ms = sample.table[(sample.table["Sex"] == known["Sex"]) & (sample.table["Age"] <= table["Age"].iloc[0])]
    domain = sorted(set(table["Salary"]))
    expected = [(ms["Salary"] == d).sum() / len(mo) + (len(mo) - len(ms)) / len(mo) / len(domain) for d in domain]
    p = technique.infer(sample, known, table.drop(columns="Salary"))
    assert list(p.index) == domain
    np.testing.assert_allclose(p, expected, atol=1e-12)
    assert p.sum() == pytest.approx(1)
    view = mx.QITable(table, qi=["Age", "Sex"], sa="Salary", sa_values=domain)
    pd.testing.assert_series_equal(technique.infer(sample, known, view), p)


def test_sampling_is_without_replacement():
    """Every record is in at most once, all equally often, and smaller samples are part of larger ones."""
    table = people(50).assign(Id=range(50))
    seen = np.zeros(50)
    for seed in range(400):
        sample = sdc.Sampling(0.2, seed).publish(table, "Salary").table
        assert sample["Id"].is_unique
        assert set(sample["Id"]) <= set(sdc.Sampling(0.5, seed).publish(table, "Salary").table["Id"])
        seen[sample["Id"]] += 1
    assert abs(seen - 80).max() < 5 * math.sqrt(400 * 0.2 * 0.8)


def test_domain_of_a_categorical():
    """A Categorical brings its domain, also the values that nobody has."""
    table = people()
    domain = range(0, 120, 10)
    table["Salary"] = pd.Categorical(table["Salary"], categories=domain)
    p = sdc.Sampling(0.5).infer(sdc.Sampling(0.5).publish(table, "Salary"), {}, table[["Age"]])
    assert list(p.index) == list(domain)
    assert p[0] == pytest.approx(0.5 / 12)


# -- query restriction ---------------------------------------------------------------------------------------------


#: Confidential attributes of any kind: whole, negative, constant, far apart, floats long and short.
COLUMNS = {
    "tens": lambda rng, n: rng.integers(0, 6, n) * 10,
    "negative": lambda rng, n: rng.integers(-5, 5, n),
    "constant": lambda rng, n: np.full(n, 7),
    "skewed": lambda rng, n: rng.choice([1, 2, 3, 1000], n, p=[0.4, 0.3, 0.2, 0.1]),
    "normal": lambda rng, n: rng.normal(size=n).round(3),
    "short": lambda rng, n: rng.normal(size=n).astype(np.float32),
}


@given(st.sampled_from(list(COLUMNS)), st.integers(2, 24), st.integers(1, 4), st.integers(0, 10_000))
def test_closed_form_is_the_linear_program(kind, n, half, seed):
    """L and U of half-overlapping windows are those of two linear programs a record (CAE, section 5)."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"C": COLUMNS[kind](rng, max(n, 2 * half))})
    answers = sdc.RangeQueries(2 * half, seed).publish(table, "C")
    assert len(answers) == 2 * len(table) // (2 * half) - 1  # k = floor(2n/Q) - 1
    system = np.zeros((len(answers), len(table)))
    for row, (first, last) in enumerate(answers.table[["first", "last"]].to_numpy()):
        system[row, first : last + 1] = 1
    assert np.linalg.matrix_rank(system) == len(answers)  # "linearly independent equations"
    true = table["C"].loc[answers.order].to_numpy()
    np.testing.assert_allclose(system @ true.astype(float), answers.table["sum"], rtol=1e-12, atol=1e-12)
    low, high = sdc.record_bounds(system, answers.table["sum"].to_numpy(), table["C"].min(), table["C"].max())
    size = max(np.ptp(true.astype(float)), 1e-9)
    np.testing.assert_allclose(answers.bounds["low"], low, atol=1e-6 * size)
    np.testing.assert_allclose(answers.bounds["high"], high, atol=1e-6 * size)
    slack = 1e-9 * size
    assert ((answers.bounds["low"] <= true + slack) & (true <= answers.bounds["high"] + slack)).all()
    for distribution in ("uniform", "maxent"):  # whoever is known all but by name is not excluded
        technique = sdc.RangeQueries(2 * half, seed, distribution=distribution)
        population = table.assign(Id=range(len(table)))
        for record in table.index[:3]:
            assert technique.infer(answers, {"Id": record}, population)[table["C"][record]] > 0


@pytest.mark.parametrize(("start", "step"), [(10**9, 1), (10**8, 1), (1e6, 0.01), (-1e5, 0.01), (0.0, 1e-7)])
def test_values_far_from_zero(start, step):
    """What is added up is how far values are above the least: where they begin means nothing."""
    rng = np.random.default_rng(1)
    for size in (2, 4):
        places = rng.integers(0, 10, 20)
        near, far = (
            pd.DataFrame({"Id": range(20), "C": first + places * width}) for first, width in ((0, 1), (start, step))
        )
        for distribution in ("uniform", "maxent"):
            technique = sdc.RangeQueries(size, seed=2, distribution=distribution)
            one, other = (technique.infer(technique.publish(t, "C"), {"Id": [0, 3]}, t[["Id"]]) for t in (near, far))
            np.testing.assert_allclose(other.to_numpy(), one.to_numpy(), atol=1e-9)


def test_numbers_of_any_type():
    """Decimals and nullable numbers are numbers, and keep their labels; half floats are refused."""
    for values in (list(map(Decimal, ("0.1", "0.2", "0.3", "0.4"))), pd.array([1, 2, 3, 4], dtype="Int64")):
        table = pd.DataFrame({"A": list("aabb"), "C": values})
        for technique in (sdc.Sampling(0.5), sdc.RangeQueries(2), sdc.BinomialNoise(50)):
            p = technique.infer(technique.publish(table, "C"), {"A": "a"}, table[["A"]])
            assert p.index.isin(table["C"]).all()
            assert p.sum() == pytest.approx(1)
    with refused(TableError, "float16"):
        sdc.Sampling(0.5).publish(pd.DataFrame({"C": np.float16([1, 2])}), "C")
    assert len(sdc.Sampling(0.575).publish(pd.DataFrame({"C": range(100)}), "C")) == 58


def test_values_far_apart():
    """Values that are close, among large ones, are told apart: exact bounds stay exact, in whole numbers and cents."""
    for values in (
        np.arange(1_700_000_000, 1_700_000_004),
        np.array([1, 2, 3, 10**9]),
        np.array([1.5e6 + 0.01, 1.5e6 + 0.02, 1.5e6 + 0.03, 1.5e6 + 0.04]),
    ):
        table = pd.DataFrame({"Id": range(4), "C": values})
        for distribution in ("uniform", "maxent"):
            technique = sdc.RangeQueries(2, distribution=distribution)
            answers = technique.publish(table, "C")
            if (answers.bounds["low"] == answers.bounds["high"]).all():
                for record, value in enumerate(values):
                    assert technique.infer(answers, {"Id": record}, table[["Id"]])[value] == 1
            else:
                width = (answers.bounds["high"] - answers.bounds["low"]).max()
                assert width > 0.5 * np.diff(values).min()


@pytest.mark.parametrize("kind", ["tens", "negative", "skewed", "normal"])
def test_maxent_is_that_of_the_model(kind):
    """Newton's method in one dimension finds the optimum of the model, which any solver can solve."""
    rng = np.random.default_rng(len(kind))
    for size in (2, 4, 6):
        table = pd.DataFrame({"C": COLUMNS[kind](rng, 31)})
        answers = sdc.RangeQueries(size, seed=3).publish(table, "C")
        post = answers.model.solve()
        np.testing.assert_allclose(answers.maxent, post.conditional(), atol=1e-5)
        h = -np.where(answers.maxent > 0, answers.maxent * np.log(answers.maxent.clip(lower=1e-300)), 0).sum()
        assert h * (size // 2) >= (post.entropy - np.log(len(answers.maxent))) * (answers.block >= 0).sum() - 1e-6


def test_bounds_of_other_systems():
    """The linear program takes any system: a total and all but one give that one; impossible sums are refused."""
    system, true = np.array([[1, 1, 1, 1], [1, 1, 1, 0]]), np.array([3, 5, 1, 7])
    low, high = sdc.record_bounds(system, system @ true, 0, 10)
    np.testing.assert_allclose([low[3], high[3]], 7, atol=1e-9)
    np.testing.assert_allclose([low[:3], high[:3]], [[0] * 3, [9] * 3], atol=1e-9)
    with refused(Infeasible, "between 0 and 1"):
        sdc.record_bounds(system, system @ true, 0, 1)
    with refused(Infeasible, "between 0 and 1"):
        sdc.half_overlapping_bounds(np.array([3.0]), 1, 0, 1)
    for sums, half, low, high, error, says in [
        ([np.nan, 1], 1, 0, 1, TableError, "missing"),
        ([1, 1], 1, 1, 0, TableError, "swap"),
        ([1, 1], 1, 0, np.inf, BadProbability, "finite"),
        ([1, 1], 0, 0, 1, StatementError, "half=0"),
        ([[1, 1]], 1, 0, 1, TableError, "real numbers"),
    ]:
        with refused(error, says):
            sdc.half_overlapping_bounds(sums, half, low, high)
    for wrong in ([[np.nan, 1]], [[np.inf, 1]], [[1j, 1]]):
        with refused(TableError, "finite real numbers"):
            sdc.record_bounds(wrong, [1], 0, 1)
    with refused(TableError, "list of numbers"):
        sdc.half_overlapping_bounds("12", 1, 0, 1)
    with refused(TableError, "table of numbers"):
        sdc.record_bounds([["a"]], [1], 0, 1)
    with refused(TableError, "one sum a query"):
        sdc.record_bounds(system, np.array([3]), 0, 1)


def test_uniform_between_bounds():
    """Algorithm 2, counted by hand: a mean over Mo of uniform distributions over the domain between L and U."""
    table = people(60, 3)
    for size in (2, 4, 16):
        technique = sdc.RangeQueries(size, seed=1)
        answers = technique.publish(table, "Salary")
        domain = np.array(sorted(set(table["Salary"])))
        expected = np.zeros(len(domain))
        mo = table.index[table["Sex"] == "F"]
        for record in mo:
            low, high = answers.bounds.loc[record]
            inside = (domain >= low - 1e-9) & (domain <= high + 1e-9)
            expected += inside / inside.sum() / len(mo)
        p = technique.infer(answers, {"Sex": "F"}, table.drop(columns="Salary"))
        np.testing.assert_allclose(p, expected, atol=1e-12)


def true_terms(answers, table, space):
    """P(block, value) of the records as they are."""
    inside = answers.block >= 0
    true = table["Salary"].loc[answers.order[inside]]
    return space.count(pd.DataFrame({"block": answers.block[inside], "Salary": true.to_numpy()})) / inside.sum()


def test_maxent_has_the_means():
    """Maximum entropy keeps every answer as a mean, and nothing outside the bounds; both are true of the records."""
    table = people(41, 5)
    answers = sdc.RangeQueries(4, seed=2).publish(table, "Salary")
    p = answers.maxent
    mean = p.to_numpy() @ p.columns.to_numpy()
    np.testing.assert_allclose(2 * (mean[:-1] + mean[1:]), answers.table["sum"], atol=1e-5)
    assert (abs(answers.maxent.sum(axis=1) - 1) < 1e-12).all()
    model = answers.model
    by_clarabel = model.solve("CLARABEL", presolve=False, polish=True)
    assert abs(by_clarabel.conditional() - p).to_numpy().max() < 1e-6
    for label in ("range sums", "bounds"):
        check_source(model.knowledge[label], model.space)
        rows = next(iter(model.knowledge[label].rows(model.space)))
        assert rows.residual(true_terms(answers, table, model.space)).max(initial=0) < 1e-9, label
    means = model.copy().remove("bounds").solve()
    assert means.entropy > model.solve().entropy  # who forgets what is impossible knows less
    assert (answers.block < 0).sum() == 1
    alone = answers.order[answers.block < 0][0]  # the record that no query sums
    population = table.assign(Id=range(41))
    said = sdc.RangeQueries(4, seed=2, distribution="maxent").infer(answers, {"Id": alone}, population)
    np.testing.assert_allclose(said, 1 / len(p.columns))


def test_queries_name_records():
    """The population is labelled as the records; a QITable has no labels."""
    table = people()
    technique = sdc.RangeQueries(4)
    answers = technique.publish(table, "Salary")
    others = table.drop(columns="Salary")
    view = mx.QITable(others, qi=["Sex"], sa="Salary", sa_values=[1, 2])
    with refused(TableError, "QITable has none"):
        technique.infer(answers, {"Sex": "F"}, view)
    pd.testing.assert_series_equal(technique.infer(answers, {}, view), technique.infer(answers, {}, others))
    with refused(TableError, "labelled"):
        technique.infer(answers, {}, others.set_axis([0, *range(39)]))
    with refused(TableError, "labelled"):
        technique.infer(answers, {}, others.set_axis(range(100, 140)))
    with refused(TableError, "reset the index"):
        technique.publish(pd.concat([table, table]), "Salary")
    with refused(TableError, "fewer than the 100"):
        sdc.RangeQueries(100).publish(table, "Salary")
    for wrong, says in [
        (table["Sex"], "real numbers"),
        ([np.inf, *range(39)], "finite"),
        ([1j, *range(39)], "real numbers"),
        (np.full(40, 3 * 10**18), "not exact"),
    ]:
        with refused(TableError, says):
            technique.publish(table.assign(Salary=wrong), "Salary")
    with refused(TableError, "two columns 'Age'"):
        technique.publish(pd.concat([table, table["Age"]], axis=1), "Salary")
    named_block = table.rename(columns={"Salary": "block"})
    answers = sdc.RangeQueries(4).publish(named_block, "block")
    np.testing.assert_allclose(answers.model.solve().conditional(), answers.maxent, atol=1e-6)
    pd.testing.assert_series_equal(
        technique.infer(answers, {"Sex": "F"}, others.sample(frac=1, random_state=0)),
        technique.infer(answers, {"Sex": "F"}, others),
    )


def test_sums_of_two_give_all_away():
    """With Q = 2 one record at an end of the domain determines all: then every technique of inference is certain."""
    table = people(300, 1)
    for distribution in ("uniform", "maxent"):
        technique = sdc.RangeQueries(2, distribution=distribution)
        answers = technique.publish(table, "Salary")
        p = technique.infer(answers, {"Sex": "F"}, table)
        share = table.loc[table["Sex"] == "F", "Salary"].value_counts(normalize=True).reindex(p.index).fillna(0)
        assert (answers.bounds["low"] == answers.bounds["high"]).all()
        np.testing.assert_allclose(p, share, atol=1e-9)


# -- noise ---------------------------------------------------------------------------------------------------------


def test_how_much_noise():
    """M is k % of |D| - 1, rounded to the nearest 2; the middle of two goes up (appendix)."""
    assert [sdc.noise_limit(percent, 25) for percent in (0, 4, 5, 10, 20, 50, 100)] == [0, 0, 2, 2, 4, 12, 24]
    assert sdc.noise_limit(10, 31) == 4  # 3 is between 2 and 4
    assert sdc.noise_limit(50, 3) == 2  # 1 is between 0 and 2
    assert [sdc.noise_limit(percent, 2) for percent in (99.9, 100)] == [0, 2]
    assert sdc.noise_limit(0.3, 1001) == sdc.noise_limit(0.7 - 0.4, 1001) == 4  # 3, though floats say less


@given(st.integers(1, 9), st.integers(0, 6))
def test_the_channel(places, half):
    """T(x, y) is what happens: every noise with its probability, moved to the end where it is outside."""
    channel = sdc.Channel(places, 2 * half)
    expected = np.zeros((places, places))
    for x, noise in itertools.product(range(places), range(2 * half + 1)):
        y = min(max(x + noise - half, 0), places - 1)
        expected[x, y] += binom.pmf(noise, 2 * half, 0.5)
    np.testing.assert_allclose(channel.matrix.toarray(), expected, atol=1e-12)
    x, y = map(np.ravel, np.indices((places, places)))
    np.testing.assert_allclose(channel.probability(x, y), expected.ravel(), atol=1e-12)


def test_noise_is_drawn_so():
    """Published values have the frequencies of the channel, of every attribute."""
    table = pd.DataFrame({"A": np.repeat([0, 1, 2, 3, 4], 4_000), "C": np.tile([10, 20, 30, 40], 5_000)})
    noisy = sdc.BinomialNoise(100, seed=1).publish(table, "C").table
    for name in ("A", "C"):
        domain = sorted(set(table[name]))
        channel = sdc.Channel(len(domain), 4)
        expected = channel.matrix.sum(axis=0) / len(domain)
        seen = noisy[name].value_counts(normalize=True).reindex(domain)
        assert abs(seen - expected).max() < 5 * np.sqrt(0.25 / 20_000)


def fits(value, known):
    """Whether a value is one of those that are known."""
    if isinstance(known, pd.Interval):
        return value in known
    return value in known if isinstance(known, list) else value == known


def by_enumeration(noisy, table, known, names):
    """P(d | Y, known) by summing over every true table of independent records, and every record as the person's."""
    domain = list(noisy.domain)
    tuples = table[names].value_counts(normalize=True)
    truths = [(x, d, share / len(domain)) for x, share in tuples.items() for d in range(len(domain))]
    places = {name: list(noisy.domains[name]) for name in [*names, noisy.confidential]}

    def said(truth, record):
        x, d, share = truth
        p = share
        for name, value in [*zip(names, x, strict=True), (noisy.confidential, domain[d])]:
            matrix = noisy.channels[name].matrix.toarray()
            p *= matrix[places[name].index(value), places[name].index(record[name])]
        return p

    records = noisy.table.to_dict("records")
    found = np.zeros(len(domain))
    for world in itertools.product(truths, repeat=len(records)):
        p = math.prod(said(truth, record) for truth, record in zip(world, records, strict=True))
        for x, d, _ in world:  # any of them is the person
            if all(fits(x[names.index(name)], value) for name, value in known.items()):
                found[d] += p
    return found / found.sum()


@pytest.mark.parametrize(
    ("names", "known"),
    [
        (["A"], {"A": 1}),
        (["A"], {"A": 3}),
        (["A", "B"], {"A": 2, "B": "y"}),
        (["A", "B"], {"B": "x"}),  # what is published of A tells whose record it is
        (["A", "B"], {"A": [1, 3]}),
        (["B", "A"], {"A": pd.Interval(2, 3, **BOTH)}),
        (["A"], {}),
    ],
)
def test_noise_by_enumeration(names, known):
    """The derivation of BinomialNoise is Bayes' rule over all true tables (the paper's algorithm 3 is missing)."""
    table = pd.DataFrame({"A": [1, 2, 3], "B": ["x", "y", "y"], "C": [10, 20, 30]})
    technique = sdc.BinomialNoise(100, seed=4)
    noisy = technique.publish(table, "C")
    expected = by_enumeration(noisy, table, known, names)
    np.testing.assert_allclose(technique.infer(noisy, known, table[names]), expected, atol=1e-12)


def test_chunks_are_together(monkeypatch):
    """However many pairs are looked at at once, and attributes taken together, the answer is the same."""
    table = people(120, 7)
    technique = sdc.BinomialNoise(50)
    once = technique.infer(technique.publish(table, "Salary"), {"Education": [2, 3], "Sex": "F"}, table)
    for at_once, joint in ((1, 1), (50, 1), (50, 2**21)):
        monkeypatch.setattr(linkage, "AT_ONCE", at_once)
        monkeypatch.setattr(linkage, "JOINT", joint)
        again = technique.infer(technique.publish(table, "Salary"), {"Education": [2, 3], "Sex": "F"}, table)
        np.testing.assert_allclose(again, once, atol=1e-12)


def test_nothing_stale():
    """What was found for one table or population is not said of another."""
    table = people(60, 8)
    technique = sdc.BinomialNoise(100)
    noisy = technique.publish(table, "Salary")
    first = technique.infer(noisy, {"Age": 20}, table)
    turned = replace(noisy, table=noisy.table.assign(Age=noisy.table["Age"].to_numpy()[::-1]))
    assert not np.allclose(technique.infer(turned, {"Age": 20}, table), first)
    noisy.table["Age"] = noisy.table["Age"].to_numpy()[::-1].copy()
    np.testing.assert_allclose(technique.infer(noisy, {"Age": 20}, table), technique.infer(turned, {"Age": 20}, table))
    codes = pd.DataFrame({"a": [0, 1], "b": pd.Categorical([0, 1], categories=[0, 1, 2]), "C": [1, 2]})
    noisy = sdc.BinomialNoise(100, seed=8).publish(codes, "C")
    technique.infer(noisy, {"a": 0}, codes[["a"]])
    after = technique.infer(noisy, {"b": 0}, codes[["b"]])
    fresh = technique.infer(sdc.BinomialNoise(100, seed=8).publish(codes, "C"), {"b": 0}, codes[["b"]])
    pd.testing.assert_series_equal(after, fresh)
    other = table.assign(Age=table["Age"].iloc[::-1].to_numpy())
    assert not np.allclose(technique.infer(turned, {"Age": 20}, other), technique.infer(turned, {"Age": 20}, table))


def test_no_noise():
    """Without noise the intruder knows the frequencies among those who match."""
    table = people()
    technique = sdc.BinomialNoise(0)
    noisy = technique.publish(table, "Salary")
    known = {"Sex": "M", "Education": [1, 2]}
    mo = table[(table["Sex"] == "M") & table["Education"].isin([1, 2])]
    expected = mo["Salary"].value_counts(normalize=True).reindex(noisy.domain).fillna(0)
    np.testing.assert_allclose(technique.infer(noisy, known, table), expected, atol=1e-12)
    view = mx.QITable(table, qi=["Sex", "Education"], sa="Salary", sa_values=noisy.domain)
    np.testing.assert_allclose(technique.infer(noisy, known, view), expected, atol=1e-12)


def test_noise_is_calibrated():
    """Of all people, those who are told a probability near p have the value about p of the time."""
    rng = np.random.default_rng(0)
    told, truth = [], []
    for seed in range(60):
        n = 60
        table = pd.DataFrame({"A": rng.integers(0, 12, n), "B": rng.integers(0, 5, n), "C": rng.integers(0, 6, n)})
        technique = sdc.BinomialNoise(40, seed)
        noisy = technique.publish(table, "C")
        for person in rng.choice(n, 20, replace=False):
            p = technique.infer(noisy, table[["A", "B"]].iloc[person].to_dict(), table)
            told.append(p)
            truth.append(np.eye(6)[table["C"].iloc[person]][noisy.domain])
    told, truth = np.ravel(told), np.ravel(truth)
    for low, high in itertools.pairwise([0, 0.1, 0.2, 0.3, 0.5]):
        some = (told >= low) & (told < high)
        assert abs(told[some].mean() - truth[some].mean()) < 5 * np.sqrt(0.25 / some.sum())


def test_a_prior_of_the_values():
    """A better prior than the uniform one gives the truth more probability on average."""
    table = people(300, 2)
    prior = table["Salary"].value_counts(normalize=True)
    plain, better = sdc.BinomialNoise(60), sdc.BinomialNoise(60, prior=prior)
    noisy = plain.publish(table, "Salary")
    p, q = (technique.infer(noisy, {"Sex": "F"}, table) for technique in (plain, better))
    share = table.loc[table["Sex"] == "F", "Salary"].value_counts(normalize=True).reindex(p.index).fillna(0)
    assert (q - share).abs().sum() < (p - share).abs().sum()
    with refused(UnknownName, "prior has no probability of"):
        sdc.BinomialNoise(60, prior=prior.iloc[1:]).infer(noisy, {}, table)
    for wrong, error, says in [
        (pd.Series([0.5, 0.5], [1, 1]), TableError, "more than one"),
        (pd.Series(["a"]), TableError, "real numbers"),
        (pd.Series([1.5, -0.5]), BadProbability, "none below 0"),
        (pd.Series([np.nan]), TableError, "missing"),
    ]:
        with refused(error, says):
            sdc.BinomialNoise(60, prior=wrong)
    with refused(BadProbability, "sum to 1"):
        sdc.BinomialNoise(60, prior=prior * 2).infer(noisy, {}, table)
    with refused(BadProbability, "impossible"):
        sdc.BinomialNoise(0, prior=(prior * 0).where(prior < prior.max(), 1.0)).infer(
            sdc.BinomialNoise(0).publish(table, "Salary"), {}, table
        )


# -- what is refused -----------------------------------------------------------------------------------------------


def wide():
    """Sums of many different values."""
    return sdc.RangeQueries(2).publish(pd.DataFrame({"C": range(12_000)}), "C")


def test_strengths_out_of_range():
    """Each error says what is expected."""
    for make, error, says in [
        (lambda: sdc.Sampling(0), BadProbability, "a share"),
        (lambda: sdc.Sampling(2), BadProbability, "a share"),
        (lambda: sdc.Sampling(0.5, seed=-1), StatementError, "seed=-1"),
        (lambda: sdc.RangeQueries(3), StatementError, "even"),
        (lambda: sdc.RangeQueries(0), StatementError, "size=0"),
        (lambda: sdc.RangeQueries(2, distribution="normal"), StatementError, "uniform, maxent"),
        (lambda: sdc.RangeQueries(2, distribution=np.array(["uniform"])), StatementError, "uniform, maxent"),
        (lambda: sdc.BinomialNoise(101), BadProbability, "from 0 to 100"),
        (lambda: sdc.BinomialNoise(10, prior={1: 1}), StatementError, "Series"),
        (lambda: sdc.noise_limit(-50, 10), BadProbability, "from 0 to 100"),
        (lambda: sdc.noise_limit("a", 10), BadProbability, "finite number"),
        (lambda: sdc.Channel(5, 3), StatementError, "even"),
        (lambda: sdc.Channel(5, -2), StatementError, "limit=-2"),
        (lambda: sdc.Channel(100_000, 10_000).matrix, GroupTooLarge, "round the values"),
        (lambda: wide().maxent, GroupTooLarge, "round the values"),
    ]:
        with refused(error, says):
            make()


@pytest.mark.parametrize("technique", [sdc.Sampling(0.5), sdc.RangeQueries(4), sdc.BinomialNoise(20)], ids=repr)
def test_knowledge_that_cannot_be(technique):
    """Unknown attributes and values, nobody, the confidential attribute, and what something else published."""
    table = people()
    published = technique.publish(table, "Salary")
    with refused(UnknownName, "Agee", "Age"):
        technique.infer(published, {"Agee": 20}, table)
    with refused(UnknownName, "99"):
        technique.infer(published, {"Age": 99}, table)
    with refused(StatementError, "is the confidential attribute"):
        technique.infer(published, {"Salary": 50}, table)
    with refused(StatementError, "dictionary"):
        technique.infer(published, ["Age"], table)
    with refused(TableError, "no rows"):
        technique.infer(published, {}, table.head(0))
    with refused(TableError, "population must be"):
        technique.infer(published, {"Age": 20}, None)
    with refused(StatementError, "infer reads what"):
        technique.infer(table, {}, table)
    nobody = next(
        {"Age": a, "Sex": s, "Education": e}
        for a in set(table["Age"])
        for s in "FM"
        for e in set(table["Education"])
        if not ((table["Age"] == a) & (table["Sex"] == s) & (table["Education"] == e)).any()
    )
    with refused(StatementError, "nobody in the population has Age="):
        technique.infer(published, nobody, table)
    with refused(TableError, "missing values"):
        technique.publish(table.assign(Age=np.nan), "Salary")
    with refused(UnknownName, "Salery"):
        technique.publish(table, "Salery")


def test_another_population():
    """A population that the records were not drawn from is found out where it shows."""
    table = people()
    sampling, noise = sdc.Sampling(1), sdc.BinomialNoise(0)
    with refused(TableError, "drawn from"):
        sampling.infer(sampling.publish(table, "Salary"), {}, table.head(3))
    with refused(TableError, "not in the population"):
        sampling.infer(sampling.publish(table.assign(Age=table["Age"].astype(str)), "Salary"), {"Age": 20}, table)
    with refused(TableError, "not in the published domain"):
        noise.infer(noise.publish(table, "Salary"), {"Age": 90}, table.assign(Age=90))
    only_women = table.assign(Sex=pd.Categorical(["F"] * 40, ["F", "M"]))
    with refused(TableError, "anybody like that"):
        noise.infer(noise.publish(only_women, "Salary"), {"Sex": "M"}, table.assign(Sex="M"))
