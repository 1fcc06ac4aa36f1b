"""Leakage, by definition and beside pyCANON and qif."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, P, StatementError, TableError, UnknownName
from maxent_cvx.measures.leakage import leakage
from support.posteriors import chosen, posterior_with
from support.series import patients

#: Far below every probability of the tests.
TINY = 1e-12


@st.composite
def before_and_after(draw: st.DrawFn) -> tuple[list[list[float]], list[list[float]], list[int]]:
    """Draw P0 and P1 in simple fractions, many of them 0, and how many people have each QI value."""
    after, people = draw(chosen())
    row = st.lists(st.integers(0, 4), min_size=len(after[0]), max_size=len(after[0])).filter(any)
    before = [
        [w / sum(weights) for w in weights] for weights in draw(st.lists(row, min_size=len(after), max_size=len(after)))
    ]
    return before, after, people


def table(p: list[list[float]]) -> pd.DataFrame:
    """P(s | q) with the labels of `posterior_with`."""
    index = pd.Index([f"q{i}" for i in range(len(p))], name="Q")
    return pd.DataFrame(p, index=index, columns=[f"s{j}" for j in range(len(p[0]))])


def pairs(before: list[list[float]], after: list[list[float]]) -> list[tuple[float, float]]:
    return [pair for rows in zip(before, after, strict=True) for pair in zip(*rows, strict=True)]


def quotient(a: float, b: float) -> float:
    """The quotient: infinite if only the divisor is 0, and NaN for 0 / 0."""
    return a / b if b else math.inf if a else math.nan


@given(before_and_after(), st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]))
def test_of_single_values(drawn, threshold):
    """beta, delta, rho2 and gamma of single values are the worst of all people, by their definitions."""
    before, after, people = drawn
    leaks = leakage(table(before), posterior_with(after, people, bound=TINY)[0], rho1=threshold, d=threshold)["value"]
    both = pairs(before, after)
    ratios = [r for a, b in both if not math.isnan(r := quotient(b, a))]
    assert leaks["beta"] == pytest.approx(max(ratios) - 1)
    assert leaks["delta"] == pytest.approx(max(math.inf if r in (0, math.inf) else abs(math.log(r)) for r in ratios))
    low = [(a, b) for a, b in both if a <= threshold]
    assert leaks["rho2"] == pytest.approx(max((b for _, b in low), default=math.nan), nan_ok=True)
    gamma = leaks["gamma"]

    def is_private(gamma: float) -> bool:
        return all(b <= gamma and threshold * a <= gamma * b for a, b in low)

    if not low:
        assert math.isnan(gamma)
    elif gamma == math.inf:
        assert not is_private(1e300)
    else:
        assert is_private(gamma * (1 + 1e-9))
        assert gamma == 0 or not is_private(gamma * (1 - 1e-9))


@given(before_and_after(), st.sampled_from([0.1, 0.25, 0.5, 0.75]))
def test_of_sets_of_values(drawn, rho1):
    """No set of values with P0 <= rho1 has a larger P1 than rho2 of sets, and a set nearly reaches it."""
    before, after, people = drawn
    leaks = leakage(table(before), posterior_with(after, people, bound=TINY)[0], rho1=rho1)["value"]
    sets = [s for n in range(1, len(before[0]) + 1) for s in itertools.combinations(range(len(before[0])), n)]
    best = [
        sum(after[q][j] for j in s)
        for q in range(len(before))
        for s in sets
        if sum(before[q][j] for j in s) <= rho1 + TINY
    ]
    if not best:
        assert math.isnan(leaks["rho2 of sets"])
        return
    largest = max(max(row) for row in after)
    assert max(best) - 1e-9 <= leaks["rho2 of sets"] <= max(best) + largest + 1e-9  # a share of one value more, at most
    assert leaks["rho2 of sets"] >= leaks["rho2"] - 1e-9


@given(before_and_after(), st.data())
def test_of_guesses(drawn, data):
    """A vulnerability is the mean over people of the gain of the best guess; a value gains 1 if it is right."""
    before, after, people = drawn
    n_s = len(before[0])
    rows = st.lists(st.integers(0, 3), min_size=n_s, max_size=n_s)
    gain = data.draw(st.lists(rows, min_size=1, max_size=4).filter(lambda g: min(map(sum, zip(*g, strict=True))) > 0))
    columns = [f"s{j}" for j in range(n_s)]
    turned = pd.DataFrame(gain, columns=columns)[columns[::-1]]  # aligned by label
    post, _ = posterior_with(after, people, bound=TINY)

    def of(p: list[list[float]], g: list[list[float]]) -> float:
        best = [max(sum(x * y for x, y in zip(row, w, strict=True)) for w in g) for row in p]
        return sum(n * v for n, v in zip(people, best, strict=True)) / sum(people)

    leaks = leakage(table(before), post, gain=turned)["value"]
    right = np.eye(n_s).tolist()
    assert leaks["prior Bayes vulnerability"] == pytest.approx(of(before, right))
    assert leaks["posterior Bayes vulnerability"] == pytest.approx(of(after, right))
    assert leaks["min-entropy leakage"] == pytest.approx(math.log2(of(after, right) / of(before, right)), abs=1e-9)
    assert leaks["multiplicative g-leakage"] == pytest.approx(of(after, gain) / of(before, gain))
    assert leaks["additive g-leakage"] == pytest.approx(of(after, gain) - of(before, gain), abs=1e-9)


@given(before_and_after(), st.sampled_from([1e-7, 1e-3, 0.1]), st.integers(0, 10**6))
def test_bounds_by_the_certificates(drawn, bound, seed):
    """The measures of all answers within the bounds of the certificates are between `low` and `high`."""
    before, after, people = drawn
    rng = np.random.default_rng(seed)

    def near(p: list[list[float]]) -> list[list[float]]:
        """Move a share of each row's probability to another value: no set is off by more than the bound."""
        moved = np.array(p)
        for row in moved:
            source, target = rng.choice(len(row), 2, replace=False)
            step = min(bound, row[source])
            row[source] -= step
            row[target] += step
        return moved.tolist()

    gain = pd.DataFrame(rng.integers(-2, 3, (3, len(before[0]))), columns=table(before).columns)
    options = {"rho1": 0.25, "d": 0.25, "gain": gain}
    inferred = leakage(
        posterior_with(before, people, bound=bound)[0], posterior_with(after, people, bound=bound)[0], **options
    )
    exact = leakage(table(near(before)), posterior_with(near(after), people, bound=0.0)[0], **options)["value"]
    for value in (exact.dropna(), inferred["value"].dropna()):
        low, high = inferred["low"][value.index].fillna(-np.inf), inferred["high"][value.index].fillna(np.inf)
        assert (value >= low - 1e-9).all()
        assert (value <= high + 1e-9).all()


def test_zeros():
    """A probability within the bound of 0 counts as 0; one that stays 0 has not changed; without a term it is 0."""
    some, none = (
        posterior_with([[0.5, 0.5, 0.0]], [6], bound=1e-6)[0],
        posterior_with([[0.5, 0.5 - 1e-7, 1e-7]], [6], bound=1e-6)[0],
    )
    assert leakage(table([[0.5, 0.5, 0.0]]), some)["value"][["beta", "delta"]].tolist() == [0, 0]
    leaks = leakage(table([[0.25, 0.5, 0.25]]), some).loc["delta"]
    assert leaks["value"] == math.inf
    assert leaks["low"] == pytest.approx(math.log(0.25 / 1e-6))
    leaks = leakage(table([[0.25, 0.5, 0.25]]), none).loc["delta"]  # 1e-7, but for 1e-6: perhaps 0
    assert leaks["value"] == pytest.approx(math.log(0.25 / 1e-7))
    assert (leaks["low"], leaks["high"]) == (pytest.approx(math.log(0.25 / 1.1e-6)), math.inf)
    assert leakage(table([[0.5, 0.5, 0.0]]), none)["value"]["beta"] == math.inf
    frame = pd.DataFrame({"Q": list("aabb"), "K": [1, 1, 2, 2], "S": list("xyxz")})
    post = mx.MaxEnt(mx.Release.from_buckets(frame, qi="Q", sa="S", bucket="K")).solve()
    assert leakage(post.conditional(), post).loc["delta", ["value", "high"]].tolist() == pytest.approx([0, 0], abs=1e-9)


def test_priors_in_every_form(release, hospital):
    """The type of a prior, and the order of its labels, do not matter."""
    post = mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.5).solve()
    shares = hospital["Disease"].value_counts(normalize=True)
    table = pd.DataFrame(
        np.tile(shares, (2, 1)), index=pd.Index(["male", "female"], name="Gender"), columns=shares.index
    )
    first = leakage("overall", post)
    for prior in (shares, shares.iloc[::-1], table, mx.QIDistribution(table.iloc[:, ::-1])):
        pd.testing.assert_frame_equal(leakage(prior, post), first)
    before = mx.MaxEnt(release).solve()
    shuffled = before.conditional().sample(frac=1, random_state=0).iloc[:, ::-1]
    numbers = ["value"]
    pd.testing.assert_frame_equal(leakage(shuffled, post)[numbers], leakage(before, post)[numbers])


def test_named_people_and_series(release):
    """A named person has a row, which is compared with the prior of the same person."""
    people = {"Iris": {"Gender": "female", "Degree": "graduate"}}
    before = mx.MaxEnt(release, people=people).solve()
    after = mx.MaxEnt(release, people=people).add(P("HIV", who="Iris") == 0.8).solve()
    for prior in (before, mx.MaxEnt(release).solve()):
        leaks = leakage(prior, after).loc["beta"]
        assert leaks["q"] == ("Iris", "female", "graduate")
        assert leaks["value"] == pytest.approx(0.8 / (1 / 3) - 1)
    with pytest.raises(StatementError):
        leakage(before, mx.MaxEnt(release).solve())
    series = patients()
    again = mx.MaxEnt(series).solve()
    leaks = leakage(again, again)["value"]
    assert leaks[["min-entropy leakage", "additive g-leakage", "beta", "delta", "t"]].abs().max() < 1e-9


SHARES = mx.datasets.load_hospital()["Disease"].value_counts(normalize=True)
WIDER = pd.concat([SHARES, pd.Series({"Gout": 0.0})])
GENDERS = pd.Index(["male", "female"], name="Gender")
GUESS = pd.DataFrame(1.0, index=["guess"], columns=sorted(SHARES.index))


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (StatementError, {"prior": "everything"}),
        (TableError, {"prior": pd.Series({"Flu": 1.0})}),
        (UnknownName, {"prior": pd.DataFrame({"Flu": [1.0, 1.0]}, index=GENDERS)}),
        (BadProbability, {"prior": SHARES / 2}),
        (BadProbability, {"prior": SHARES.replace(0.1, np.nan)}),
        (BadProbability, {"prior": SHARES + 0.5j}),
        (StatementError, {"prior": pd.DataFrame([WIDER, WIDER], index=GENDERS)}),
        (BadProbability, {"rho1": 2}),
        (TableError, {"gain": pd.DataFrame({"Flu": [1.0]})}),
        (TableError, {"gain": pd.concat([GUESS, GUESS[["Flu"]]], axis=1)}),
        (TableError, {"gain": GUESS.iloc[:0]}),
        (StatementError, {"gain": GUESS * 1j}),
        (StatementError, {"gain": GUESS * 1e300}),
        (StatementError, {"gain": lambda w, s: 1e308}),
        (BadProbability, {"gain": lambda w, s: "much"}),
    ],
)
def test_wrong_arguments(release, error, options):
    with pytest.raises(error):
        leakage(**{"prior": "overall", "post": mx.MaxEnt(release).solve(), **options})


def test_posteriors_of_other_values_are_refused(release, hospital):
    """Prior and posterior have the same sensitive values."""
    post = mx.MaxEnt(release).solve()
    other = mx.MaxEnt(mx.QITable(hospital, qi="Gender", sa="Disease", sa_values=["Flu", "Gout"])).solve()
    for prior, after in (("overall", other), (other, post), ("overall", post.conditional())):
        with pytest.raises(StatementError):
            leakage(prior, after)


def test_large_gains(release):
    """Gains of 1e270 do not overflow, and do not change ratios."""
    post = mx.MaxEnt(release).solve()
    large = leakage("overall", post, gain=lambda w, s: 1e270 * (w == s))
    same = leakage("overall", post, gain=lambda w, s: 1.0 * (w == s))
    assert np.isfinite(large.loc["additive g-leakage", ["value", "low", "high"]].to_numpy(dtype=float)).all()
    ratio = "multiplicative g-leakage", "value"
    assert large.loc[ratio] == pytest.approx(same.loc[ratio])


@pytest.mark.filterwarnings("ignore:In a future version, the keys of:Warning")
@pytest.mark.parametrize("seed", range(3))
def test_pycanon(seed):
    """PyCANON finds the same beta and t of random classes, and the same delta if no share is 0."""
    anonymity = pytest.importorskip("pycanon.anonymity")
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 13, rng.integers(2, 7))
    of_class = np.repeat(np.arange(len(sizes)), sizes)
    frame = pd.DataFrame({"Zone": [f"zone {i}" for i in of_class], "S": rng.choice(list("vwxyz"), len(of_class))})
    release = mx.Release.from_buckets(frame.assign(Bucket=frame["Zone"]), qi="Zone", sa="S", bucket="Bucket")
    leaks = leakage("overall", mx.MaxEnt(release).solve())["value"]
    assert leaks["beta"] == pytest.approx(anonymity.basic_beta_likeness(frame, ["Zone"], ["S"]))
    assert leaks["t"] == pytest.approx(anonymity.t_closeness(frame, ["Zone"], ["S"]))
    if (pd.crosstab(frame["Zone"], frame["S"]) > 0).all(axis=None):
        assert leaks["delta"] == pytest.approx(anonymity.delta_disclosure(frame, ["Zone"], ["S"]))
    else:
        assert leaks["delta"] == math.inf
