"""Uncertain knowledge equals the enumeration of all subsets by independent solves; Shapley's axioms."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import P

HOSPITAL = mx.datasets.load_hospital()
RELEASE = mx.Release.from_buckets(HOSPITAL, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")


def random_case(seed):
    """A small release, and statements near the truth, some of which contradict each other."""
    rng = np.random.default_rng(seed)
    n_buckets = int(rng.integers(2, 5))
    n = 3 * n_buckets
    table = pd.DataFrame({"q": rng.integers(0, 5, n).astype(str), "s": rng.choice(list("abc"), n)})
    table["b"] = np.repeat(np.arange(n_buckets), 3)
    release = mx.Release.from_buckets(table, qi="q", sa="s", bucket="b")
    statements = {}
    while len(statements) < 3:
        q, s = rng.choice(table["q"].unique()), rng.choice(table["s"].unique())
        truth = float((table.loc[table["q"] == q, "s"] == s).mean())
        p = P(str(s), given={"q": str(q)})
        kind = rng.integers(4)
        statement = p == truth if kind < 2 else p <= truth if kind == 2 else p >= min(truth + 0.3, 1.0)
        statements[statement] = float(rng.choice([0.1, 0.25, 0.5, 0.9]))
    return mx.MaxEnt(release), statements


def by_solves(model, statements, threshold=0.8):
    """The probability of every subset of statements and the people it exposes, None for a contradiction."""
    rows = {}
    for known in itertools.product([False, True], repeat=len(statements)):
        subset = [x for x, is_known in zip(statements, known, strict=True) if is_known]
        p = math.prod(q if k else 1 - q for k, q in zip(known, statements.values(), strict=True))
        try:
            post = model.copy().add(*subset).solve()
        except mx.Infeasible:
            rows[known] = p, None
            continue
        surest = post.conditional().max(axis=1).to_numpy()
        rows[known] = p, surest >= threshold - post.certificate.bound
    return rows


@pytest.mark.parametrize("start", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(10, 200, 10))])
def test_equals_enumeration(start):
    """The distribution is that of all subsets, each solved by itself, without those that contradict."""
    n_contradictory = 0
    for seed in range(start, start + 10):
        model, statements = random_case(seed)
        people, rows = model.view.n_q, by_solves(model, statements)
        consistent = {known: (p, who) for known, (p, who) in rows.items() if who is not None}
        total = sum(p for p, _ in consistent.values())
        result = mx.uncertain(model, statements, progress=False)
        assert result.contradictory == pytest.approx(1 - total, abs=1e-12)
        n_contradictory += total < 1 - 1e-9
        exposed = sum(p * who for p, who in consistent.values()) / total
        np.testing.assert_allclose(result.exposed, exposed, atol=1e-9)
        assert result.expected == pytest.approx(float(people @ exposed), abs=1e-9)
        spread = pd.Series({k: p for k, (p, _) in consistent.items()}).groupby(
            [int(people @ who) for _, who in consistent.values()]
        ).sum()  # fmt: skip
        np.testing.assert_allclose(result.distribution, spread / total, atol=1e-9)
        assert result.distribution.index.tolist() == spread.index.tolist()
        for k in range(4):
            numbers = [int(people @ who) for known, (_, who) in consistent.items() if sum(known) <= k]
            assert result.ends.loc[k].tolist() == [min(numbers), max(numbers)]
        assert result.standard_error == 0
        if len(consistent) == len(rows):
            check_shapley(model.copy().add(*statements), rows, people)
    assert n_contradictory > 0 or start  # one of the later ten models may have none


def check_shapley(model, rows, people):
    """The mean over all orders, one by one."""
    gains = np.zeros(3)
    for order in itertools.permutations(range(3)):
        known = [False] * 3
        for i in order:
            before = people @ rows[tuple(known)][1]
            known[i] = True
            gains[i] += people @ rows[tuple(known)][1] - before
    np.testing.assert_allclose(mx.attribute(model, progress=False), gains / 6, atol=1e-9)


TEN = {
    f"P({s} | Gender={g}) <= {HOSPITAL.loc[HOSPITAL['Gender'] == g, 'Disease'].eq(s).mean() + 1e-3:.3f}": 0.1 + 0.08 * i
    for i, (s, g) in enumerate(itertools.product(HOSPITAL["Disease"].unique(), ["male", "female"]))
}


def entropy(post):
    return post.entropy


def test_a_sample_is_within_its_standard_error():
    """Sampled expectations are within four standard errors of the exact ones, and depend on the seed only."""
    statements = {**TEN, "P(Breast Cancer | Gender=male) = 0": 0.3, "P(HIV | Degree=junior) = 0": 0.4}
    statements = dict(list(statements.items())[-6:])
    model = mx.MaxEnt(RELEASE)
    for measure in (None, entropy):
        exact = mx.uncertain(model, statements, measure, progress=False)
        drawn = mx.uncertain(model, statements, measure, draws=500, seed=1, progress=False)
        assert drawn.standard_error > 0
        assert abs(drawn.expected - exact.expected) < 4 * drawn.standard_error
        assert drawn.ends is None
        assert exact.standard_error == 0
    pd.testing.assert_series_equal(
        drawn.distribution, mx.uncertain(model, statements, entropy, draws=500, seed=1, progress=False).distribution
    )


def test_shapley_axioms():
    """Shares sum to the change; a published statement has none, equal statements have equal ones; samples agree."""
    labels = ["P(Breast Cancer | Gender=male) = 0", "P(Flu | Gender=male) = 0.4", "P(HIV | Degree=junior) = 0"]
    model = mx.MaxEnt(RELEASE).add(*labels).add("P(Breast Cancer | Gender=male) <= 0", label="equal")
    null = mx.P("Flu") == 0.3
    model.add(null)
    shares = mx.attribute(model, entropy, progress=False)
    change = model.solve().entropy - mx.MaxEnt(RELEASE).solve().entropy
    assert shares.sum() == pytest.approx(change, abs=1e-7)
    assert shares[null.label] == pytest.approx(0, abs=1e-7)
    assert shares["equal"] == pytest.approx(shares[labels[0]], abs=1e-7)
    drawn = mx.attribute(model, entropy, draws=200, progress=False)
    assert drawn.sum() == pytest.approx(change, abs=1e-7)
    error = pd.Series(drawn.attrs["standard_error"])
    assert ((drawn - shares).abs() <= 4 * error + 1e-7).all()


def test_a_statement_of_the_model_becomes_uncertain():
    """A statement of the model, by its label or in any spelling, has the given probability; the model is unchanged."""
    model = mx.MaxEnt(RELEASE).add("P(Breast Cancer | Gender=male) = 0", label="anatomy")
    for key in ("anatomy", "P(Breast Cancer | Gender=male) = 0", "P(Disease=Breast Cancer | Gender=male) = 0"):
        assert mx.uncertain(model, {key: 0.25}, progress=False).expected == pytest.approx(0.25)
    assert list(model.knowledge) == ["anatomy"]


def test_statements_with_the_same_rows():
    """Two statements about the same people, or about values that the release excludes anyway, can both be uncertain."""
    excluded = {f"P({value} | Gender=female, Degree=graduate) = 0": 0.5 for value in ("Breast Cancer", "Pneumonia")}
    assert mx.uncertain(mx.MaxEnt(RELEASE), excluded, progress=False).distribution.to_dict() == {0: 1}
    juniors = {f"P(Breast Cancer | {who}) = 1": 0.5 for who in ("Degree=junior", "Gender=female, Degree=junior")}
    assert mx.uncertain(mx.MaxEnt(RELEASE), juniors, progress=False).expected == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("statements", "options", "error"),
    [
        ({}, {}, mx.StatementError),
        ({"P(Flu) = 0.4": 1.5}, {}, mx.BadProbability),
        ({"P(Flu | Gender=male) = 0.9": 1.0}, {}, mx.Infeasible),
        ({"P(Flu) = 0.4": 0.5}, {"measure": lambda post: "much"}, mx.MaxEntError),
    ],
)
def test_wrong_arguments(statements, options, error):
    with pytest.raises(error):
        mx.uncertain(mx.MaxEnt(RELEASE), statements, progress=False, **options)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_the_unit_of_a_measure_does_not_matter(unit):
    """Expected values and shares in other units are multiples."""
    statements = {"P(Breast Cancer | Gender=male) = 0": 0.25, "P(Flu | Gender=male) = 0.4": 0.5}
    model = mx.MaxEnt(RELEASE)
    one = mx.uncertain(model, statements, entropy, progress=False)
    other = mx.uncertain(model, statements, lambda post: unit * entropy(post), progress=False)
    assert other.expected == pytest.approx(unit * one.expected, rel=1e-9)
    np.testing.assert_allclose(other.distribution.index, unit * one.distribution.index.to_numpy(), rtol=1e-7)
    np.testing.assert_allclose(other.distribution, one.distribution)


def test_a_population_is_refused():
    """Both functions name themselves in the error for a release of a population."""
    people = pd.DataFrame({"age": [20, 25, 30]})
    records = pd.DataFrame({"age": [pd.Interval(20, 30, "both")] * 2, "ill": ["yes", "no"]})
    release = mx.Release.from_generalized(records, qi="age", sa="ill", population=people)
    model = mx.MaxEnt(release).add("P(yes | age=20) <= 0.3")
    for call in (lambda: mx.attribute(model), lambda: mx.uncertain(model, {"P(yes | age=20) <= 0.3": 0.5})):
        with pytest.raises(mx.StatementError, match="attribute do not support a release of a population"):
            call()
