"""Exposure: which people are exposed, compared with a baseline, in intervals of numbers, and by which statements."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, StatementError, TableError, UnknownName
from maxent_cvx.measures.exposure import exposed
from maxent_cvx.releases.partitioned import divided
from support.parts import published, random_records, some_people
from support.posteriors import chosen, posterior_with


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[list[float]], list[int], list[float] | None, list[str], float]:
    """Draw P(s | q), numbers of people, a baseline in tenths, the sensitive values and a threshold."""
    p, people = draw(chosen())
    size = len(p[0])
    cuts = sorted(draw(st.lists(st.integers(0, 10), min_size=size - 1, max_size=size - 1)))
    before = [(b - a) / 10 for a, b in zip([0, *cuts], [*cuts, 10], strict=True)]
    some = draw(st.lists(st.sampled_from([f"s{j}" for j in range(size)]), min_size=1, unique=True))
    threshold = draw(st.sampled_from([0.2, 0.3, 0.5, 0.55, 0.7, 0.8, 1.0]))
    return p, people, draw(st.sampled_from([before, before, None])), some, threshold


@given(cases())
def test_the_rule(case):
    """A person is exposed if a sensitive value reaches the threshold, and its baseline does not.

    People whose value is certain without being exposed are counted. A guess is right as often as likeliest values are.
    """
    p, people, before, some, threshold = case
    post, frame = posterior_with(p, people, bound=1e-9)
    values = [f"s{j}" for j in range(len(p[0]))]
    baseline = None if before is None else pd.Series(before, values)
    exposure = exposed(post, threshold, frame, sensitive=some, baseline=baseline)
    unlikely = {s for s, b in zip(values, before or [0] * len(values), strict=True) if b < threshold - 1e-6}
    expected, tenths, anyway, by_value = {}, [0] * 10, dict.fromkeys(some, 0), dict.fromkeys(some, 0)
    uncounted: dict[str, int] = {}
    chance = 0.0
    for i, (row, n) in enumerate(zip(p, people, strict=True)):
        largest = max((x for s, x in zip(values, row, strict=True) if s in some and s in unlikely), default=0.0)
        if largest >= threshold - 1e-6:
            expected[f"q{i}"] = n
        tenths[min(math.floor(largest * 10 + 1e-6), 9)] += n
        for s, x in zip(values, row, strict=True):
            if s in some and x >= threshold - 1e-6:
                (by_value if s in unlikely else anyway)[s] += n
            if x > 1 - 1e-6 and not (s in some and s in unlikely):
                uncounted[s] = uncounted.get(s, 0) + n
        likeliest = {s for s, x in zip(values, row, strict=True) if x > max(row) - 1e-6}
        chance += frame.loc[frame["Q"] == f"q{i}", "S"].isin(likeliest).sum() / len(likeliest)
    assert exposure.people == sum(expected.values())
    assert exposure.who["people"].to_dict() == expected
    assert exposure.histogram.to_list() == tenths
    assert [round(tenth.left * 10) for tenth in exposure.histogram.index] == list(range(10))
    assert exposure.values["anyway"].to_dict() == anyway
    assert exposure.values["exposed"].to_dict() == by_value
    for q, s in exposure.who["S"].items():
        assert p[int(q[1:])][values.index(s)] >= threshold - 1e-6
        assert s in unlikely
    assert exposure.uncounted["people"].to_dict() == uncounted
    assert len(exposure.warnings) == len(uncounted)
    assert exposure.attack_success == pytest.approx(chance / len(frame))


@given(cases(), st.sampled_from([0.25, 0.6, 0.8]))
def test_several_thresholds(case, other):
    """With several thresholds, a person is exposed who is exposed at one of them."""
    p, people, before, some, threshold = case
    post, _ = posterior_with(p, people, bound=1e-9)
    baseline = None if before is None else pd.Series(before, [f"s{j}" for j in range(len(p[0]))])
    both, *each = (
        exposed(post, at, sensitive=some, baseline=baseline).who["people"].to_dict()
        for at in ([threshold, other], threshold, other)
    )
    assert both == each[0] | each[1]


def test_the_bound_decides_for_exposure():
    """P is taken as high as the certificate allows, and the baseline of a posterior as low."""
    close = posterior_with([[0.795, 0.205]], [5], bound=0.01)[0]
    exposure = exposed(close, 0.8, baseline=pd.Series({"s0": 0.5, "s1": 0.5}))
    assert exposure.people == 5
    assert len(exposure.warnings) == 1
    sure = posterior_with([[0.9, 0.1]], [5], bound=1e-9)[0]
    assert exposed(sure, 0.8, baseline=posterior_with([[0.805, 0.195]], [5], bound=0.01)[0]).people == 5
    assert exposed(sure, 0.8, baseline=posterior_with([[0.805, 0.195]], [5], bound=1e-3)[0]).people == 0
    assert not exposed(sure, 0.8, baseline="overall").warnings
    vague = posterior_with([[0.9, 0.1]], [5], bound=1.0)[0]  # any P may be 1, but s0 does not count
    found = exposed(vague, 0.8, sensitive="s0", baseline=pd.Series({"s0": 0.9, "s1": 0.1}))
    assert found.people == len(found.who) == 0


@pytest.mark.parametrize("per_group", [False, True])
def test_values_that_only_the_baseline_has_are_in_its_events(per_group):
    """P0(|S - s| <= within), of a hierarchy's node and of one of two attributes include values that nobody published."""
    table = pd.DataFrame(
        {"age": [1, 1, 2, 2], "pay": [10, 30, 10, 30], "sick": ["cold", "other", "flu", "cold"], "b": 1}
    )

    def judged(sa, before, **how):
        release = mx.Release.from_buckets(table, qi="age", sa=sa, bucket="b")
        baseline = pd.Series(before).rename_axis(sa)
        if per_group:
            baseline = pd.DataFrame([baseline, baseline], index=pd.Index([1, 2], name="age"))
            baseline.columns.names = [sa] if isinstance(sa, str) else sa
        return exposed(mx.MaxEnt(release).solve(), 0.5, baseline=baseline, **how).values["baseline"].to_dict()

    pay = {9: 0.45, 10: 0.3, 30: 0.15, "unknown": 0.1}
    assert judged("pay", {9: 0.45, 10: 0.3, 30: 0.25}, within=2) == pytest.approx({10: 0.75, 30: 0.25})
    assert judged("pay", pay, within=2) == pytest.approx({10: 0.3, 30: 0.15})  # positions need numbers only
    sick = {"cold": 0.1, "flu": 0.1, "rsv": 0.7, "other": 0.1}
    result = judged("sick", sick, within={"respiratory": ["cold", "flu", "rsv"]})
    assert result == pytest.approx({"cold": 0.1, "flu": 0.1, "other": 0.1, "respiratory": 0.9})
    both = {("cold", 10): 0.1, ("cold", 30): 0.1, ("other", 30): 0.1, ("flu", 10): 0.1, ("cold", 99): 0.6}
    result = judged(["sick", "pay"], both, sensitive={"sick": None})
    assert result == pytest.approx({"cold": 0.8, "other": 0.1, "flu": 0.1})


def test_a_baseline_by_group(hospital, release):
    """P(s | q) may be a table by some attributes, or what a model infers of people who are not in the release."""
    post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()
    table = pd.crosstab(hospital["Gender"], hospital["Disease"], normalize="index")
    exposure = exposed(post, 0.5, baseline=table)
    # Half of the women have breast cancer: of Grace, and of the two college women, it is no news.
    assert exposure.people == 0
    assert exposure.values.loc["Breast Cancer", ["not_counted", "anyway"]].to_list() == [4, 3]
    assert exposed(post, 0.5, baseline=mx.QIDistribution(table)).people == 0
    assert exposed(post, 0.6, baseline=table).people == 1
    census = mx.QITable(hospital, qi="Gender", sa="Disease", sa_values=list(release.sensitive_values))
    told = mx.MaxEnt(census).add("P(Breast Cancer | Gender=female) = 0.5").solve()
    assert exposed(post, 0.5, baseline=told).people == 0
    assert exposed(post, 0.6, baseline=told).people == 1
    assert exposed(post, 0.5, baseline=mx.MaxEnt(census).solve()).people == 3
    assert exposed(post, 0.5, baseline=post).people == 0


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (BadProbability, {"threshold": 80}),
        (UnknownName, {"sensitive": "No"}),
        (StatementError, {"sensitive": []}),
        (StatementError, {"sensitive": ("s0", "s1")}),
        (StatementError, {"baseline": "everybody"}),
        (StatementError, {"baseline": "without her"}),
        (TableError, {"baseline": pd.Series({"s0": 0.3})}),
        (TableError, {"baseline": pd.Series([0.3, 0.3], ["s0", "s0"])}),
        (BadProbability, {"baseline": pd.Series({"s0": 30, "s1": 70})}),
        (BadProbability, {"baseline": pd.Series({"s0": 0.7, "s1": 0.7})}),
        (BadProbability, {"baseline": pd.Series({"s0": -0.1, "s1": 0.5})}),
        (BadProbability, {"baseline": pd.Series({"s0": math.nan, "s1": 0.5})}),
        (BadProbability, {"baseline": pd.Series({"s0": "few", "s1": "many"})}),
        (StatementError, {"within": 1}),
    ],
)
def test_wrong_arguments(error, options):
    with pytest.raises(error):
        exposed(posterior_with([[0.9, 0.1]], [5])[0], **options)


def test_a_series_does_not_ask_for_original_records_that_it_refuses():
    """Nothing can be inferred about a person of a series without the person's record, with or without the records."""
    first, second = mx.datasets.load_patients()
    roles = {"qi": [], "sa": "Disease", "bucket": "Bucket", "id": "Pseudonym"}
    series = mx.ReleaseSeries(mx.Release.from_buckets(table, **roles) for table in (first, second))
    post = mx.MaxEnt(series).solve()
    with pytest.raises(StatementError, match="use one of the releases of the series"):
        exposed(post, baseline="without her")


def test_fractions_are_probabilities():
    """A threshold of one half is written as 0.5."""
    post = posterior_with([[0.9, 0.1]], [5])[0]
    exposure = exposed(post, Fraction(1, 2), baseline="overall", rho1=Fraction(1, 4))
    assert str(exposure) == str(exposed(post, 0.5, baseline="overall", rho1=0.25))


@pytest.mark.parametrize("within", [-1, True, pd.Timedelta(1)])
def test_wrong_distances(within):
    with pytest.raises(StatementError):
        exposed(solved(salaries()), within=within)


@pytest.fixture
def two() -> pd.DataFrame:
    """Ten people with two sensitive attributes; the disease of some is certain in their bucket, their salary is not."""
    return pd.DataFrame(
        {
            "q": list("aaabbbcccc"),
            "bucket": [1, 1, 1, 2, 2, 2, 3, 3, 3, 3],
            "disease": ["Flu", "Flu", "Flu", "HIV", "HIV", "Flu", "Flu", "Flu", "Flu", "Flu"],
            "salary": ["low", "high", "mid", "low", "low", "low", "high", "high", "high", "low"],
        }
    )


def test_several_sensitive_attributes(two):
    """Combinations are judged, or the sums for the values of one attribute; certain values of no combination count."""
    post = mx.MaxEnt(mx.Release.from_buckets(two, qi="q", sa=["disease", "salary"], bucket="bucket")).solve()
    exposure = exposed(post, 0.7)  # of c three in four have (Flu, high)
    assert (exposure.people, list(exposure.who.columns)) == (4, ["disease", "salary", "P", "people"])
    assert exposed(post, 0.7, sensitive=("Flu", "high")).people == 4
    assert exposed(post, 0.6, sensitive=[("Flu", "high"), ("HIV", "low")]).people == 7
    of_one = exposed(post, 0.7, sensitive={"disease": ["Flu", "HIV"]})
    assert (of_one.people, of_one.who["disease"].to_list()) == (7, ["Flu", "Flu"])
    assert list(of_one.who.columns) == ["disease", "P", "people"]
    assert exposed(post, 0.7, sensitive={"disease": "Flu", "salary": ["low", "high"]}).people == 4
    assert exposed(post, 0.7, sensitive={"salary": "low"}).people == 3
    # Eight in ten have the flu; two in ten the combination with a low salary, one of them alone in it.
    assert exposed(post, 0.7, sensitive={"disease": ["Flu", "HIV"]}, baseline="overall").people == 0
    assert exposed(post, 0.6, sensitive={"disease": "HIV"}, baseline="overall").people == 3
    assert exposed(post, 0.6, sensitive={"disease": "HIV"}, baseline=pd.Series({"Flu": 0.8, "HIV": 0.2})).people == 3
    assert exposure.uncounted["people"].to_dict() == {"disease=Flu": 3, "salary=low": 3}
    assert exposure.uncounted.attrs["people"] == 6
    for error, wrong in [
        (StatementError, "Flu"),
        (UnknownName, ("HIV", "high")),
        (StatementError, {"disease": "HIV", "salary": "high"}),
        (UnknownName, {"illness": "HIV"}),
    ]:
        with pytest.raises(error):
            exposed(post, sensitive=wrong)


def test_people_by_name(hospital, release):
    """A person known by name is judged apart from others with the same quasi-identifiers."""
    people = {"Allen": {"Gender": "male", "Degree": "college"}}
    post = mx.MaxEnt(release, people=people).add("P(Flu | Allen) = 0.9").solve()
    exposure = exposed(post, 0.8, baseline="overall")
    assert exposure.who.index.get_level_values("who").to_list() == ["Allen"]
    assert exposure.who[["Disease", "baseline", "people"]].to_numpy().tolist() == [["Flu", 0.3, 1]]
    assert exposure.statements["people"].to_dict() == {"P(Flu | Allen) = 0.9": 1}
    assert exposed(post, 0.8, baseline=post).people == 0
    assert exposed(post, 0.8, baseline=mx.MaxEnt(release).solve()).people == 1
    with pytest.raises(StatementError):
        exposed(mx.MaxEnt(release).solve(), baseline=post)


def check_partitions(views: list[mx.View], people: Any = None, **options: Any) -> None:
    """Exposure in partitions is that in memory."""
    memory, parts = (exposed(mx.MaxEnt(view, people).solve(), **options) for view in views)
    assert memory.people == parts.people
    assert memory.histogram.to_list() == parts.histogram.to_list()
    assert (memory.within, memory.undecided, memory.distances) == (parts.within, parts.undecided, parts.distances)
    assert memory.warnings == parts.warnings
    assert memory.expected_error == (None if parts.expected_error is None else pytest.approx(parts.expected_error))
    pd.testing.assert_frame_equal(memory.who.sort_index(), parts.who.sort_index(), check_dtype=False)
    pd.testing.assert_frame_equal(memory.values, parts.values)


@pytest.mark.parametrize(("seed", "n", "named"), [(0, 1, False), (1, 3, True)])
def test_in_partitions(seed, n, named):
    """Labels have the same exposure in partitions as in memory; statements and models of other views are refused."""
    records = random_records(np.random.default_rng(seed))
    people = some_people(records) if named else None
    views = [published(records), divided(published(records), n)]
    values = list(views[0].sensitive_values)
    plain = pd.Series(1 / len(values), values)
    for options in (
        {"baseline": "overall"},
        {"sensitive": values[:2]},
        {"sensitive": values[1:], "baseline": plain},
        {"threshold": 1 / len(values), "baseline": plain},
        {"threshold": [0.3, 0.6], "baseline": "overall"},
    ):
        check_partitions(views, people, **{"threshold": 0.4, **options})
    memory, parts = (mx.MaxEnt(view, people).solve() for view in views)
    for wrong in (memory, memory.conditional()):
        with pytest.raises(StatementError):
            exposed(parts, baseline=wrong)
    with pytest.raises(StatementError):
        _ = exposed(parts).statements


def test_a_median_between_two_values_is_the_lower_one():
    """If P(S <= 0.1) is a half up to rounding, people are exposed by the interval around 0.1, also in partitions."""
    rng = np.random.default_rng(54)
    table = pd.DataFrame({"age": rng.integers(20, 23, 12), "S": rng.choice([0.1, 0.2, 1e6], 12, p=[0.5, 0.4, 0.1])})
    view = mx.Release.from_buckets(table.assign(B=rng.integers(0, 2, 12)), qi="age", sa="S", bucket="B")
    posts = [mx.MaxEnt(each).add("P(0.1 | age=20) <= 0.99").solve() for each in (view, divided(view, 2))]
    memory, parts = (exposed(post, 0.6, baseline=None).who.sort_index() for post in posts)
    pd.testing.assert_frame_equal(memory, parts, check_dtype=False)


def test_a_saved_posterior_has_no_statements(tmp_path, release):
    """A file does not contain the knowledge: people who are exposed are counted, and statements are refused."""
    post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()
    post.save(tmp_path / "post.parquet")
    exposure = exposed(mx.load_posterior(tmp_path / "post.parquet"), baseline="overall")
    assert exposure.people == 1
    with pytest.raises(StatementError):
        _ = exposure.statements


def test_necessary_and_sufficient(release):
    """Each of two equal statements is sufficient, and none necessary; of two that expose together, both are necessary."""
    men, women = "P(Breast Cancer | Gender=male) = 0", "P(Breast Cancer | Gender=female) = 0.5"
    same = exposed(mx.MaxEnt(release).add(men, women).solve(), 0.8, baseline="overall")
    assert same.people == 1  # Grace
    assert same.statements[["people", "alone", "without"]].to_numpy().tolist() == [[0, 1, 1]] * 2
    one, other = "P(HIV | Gender=male, Degree=college) = 0", "P(HIV | Gender=male, Degree=high school) = 0"
    both = exposed(mx.MaxEnt(release).add(one, other).solve(), 0.8, baseline="overall")
    assert both.who.index.to_list() == [("female", "junior")]  # HIV in her bucket can be hers only
    assert both.statements[["people", "alone", "without"]].to_numpy().tolist() == [[1, 0, 0]] * 2


def test_rows_of_a_source(release):
    """Each row of a source is one statement, soft ones, too; a convex source is one statement."""
    rows = mx.MaxEnt(release).space.conditional("s", given="Gender").loc[["Breast Cancer"]] == pd.Series(
        {("Breast Cancer", "female"): 0.5, ("Breast Cancer", "male"): 0.0}
    )
    post = mx.MaxEnt(release).add(rows, label="a table").add("P(Flu | Gender=male) ~ 0.45 +- 0.01").solve()
    exposure = exposed(post, 0.8, baseline="overall").statements
    assert exposure["alone"].to_list() == [1, 1, 0]
    assert exposure["people"].to_list() == [0, 0, 0]
    assert exposure.index[2] == "P(Flu | Gender=male) ~ 0.45 +- 0.01"
    model = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0")
    model.add(lambda space: [cp.sum_squares(space.p) <= 0.5], label="near")
    exposure = exposed(model.solve(), 0.8, baseline="overall").statements
    assert exposure["people"].to_dict() == {"P(Breast Cancer | Gender=male) = 0": 1, "near": 0}
    assert exposure["alone"].to_list() == [1, 0]


def two_attributes(names):
    """Ten people, nine of whom have A=y, B=n: the release with its sensitive attributes in an order."""
    table = pd.DataFrame({"q": ["a"] * 10, "A": ["y"] * 9 + ["n"], "B": ["n"] * 9 + ["y"], "b": [0] * 10})
    return table, mx.MaxEnt(mx.Release.from_buckets(table, qi=["q"], sa=names, bucket="b")).solve()


def test_labels_of_a_baseline_are_matched_by_name():
    """The order of the attributes of a baseline does not matter; one of another attribute is refused."""
    table, post = two_attributes(["A", "B"])
    other = two_attributes(["B", "A"])[1]
    for baseline in (
        table[["A", "B"]].value_counts(normalize=True),
        table[["B", "A"]].value_counts(normalize=True),
        table.groupby("q")[["B", "A"]].value_counts(normalize=True).unstack([1, 2], fill_value=0.0),
        other,
    ):
        assert exposed(post, 0.8, baseline=baseline).people == 0
    with pytest.raises(TableError):
        exposed(post, 0.8, sensitive={"A": ["y"]}, baseline=table["B"].value_counts(normalize=True))


def test_another_value_is_not_the_same_exposure():
    """A person exposed with F by the release, and with H by a statement, counts as exposed by the statement."""
    table = pd.DataFrame({"q": list("aabbbc"), "S": list("FFFFHH"), "b": [0] * 6})
    release = mx.Release.from_buckets(table, qi=["q"], sa="S", bucket="b")
    base = pd.Series({"F": 0.1, "H": 0.1})
    post = mx.MaxEnt(release).add("P(H | q=a) = 1").solve()
    assert "a" in exposed(post, 0.6, baseline=base).who.index
    assert exposed(post, 0.6, sensitive=["H"], baseline=base).published_alone == 0
    assert exposed(post, 0.6, baseline=base).statements.loc["P(H | q=a) = 1", "people"] >= 2


@pytest.mark.parametrize("name", ["P", "people", "baseline"])
def test_attributes_that_are_called_as_a_column(name):
    """An attribute with the name of a column of the table of exposed people is refused."""
    table = pd.DataFrame({"q": list("aab"), "S": list("FFH"), "b": [0, 0, 0]})
    for old in ("q", "S"):
        renamed = table.rename(columns={old: name})
        qi, sa = (name, "S") if old == "q" else ("q", name)
        post = mx.MaxEnt(mx.Release.from_buckets(renamed, qi=[qi], sa=sa, bucket="b")).solve()
        with pytest.raises(TableError):
            exposed(post, 0.5)


ROUNDING = 1e-9


def solved(values: Any) -> mx.Posterior:
    """A posterior of 20 groups of 50 people, one bucket each."""
    group = np.repeat(np.arange(20), 50)
    table = pd.DataFrame({"age": group, "pay": values, "bucket": group})
    return mx.MaxEnt(mx.Release.from_buckets(table, qi="age", sa="pay", bucket="bucket")).solve()


def salaries() -> np.ndarray:
    """Everybody in a group earns the same within 50, of 30,000 to 120,000."""
    return np.repeat(np.linspace(30_000, 120_000, 20), 50).round() + np.random.default_rng(0).integers(0, 50, 1000)


@st.composite
def cases_of_exposure_numbers(draw: st.DrawFn) -> dict[str, Any]:
    """Draw numbers, what is inferred of three groups, a baseline, centres, a distance and a threshold."""
    numbers = sorted(draw(st.lists(st.integers(0, 40), min_size=2, max_size=7, unique=True)))
    values = sorted({n / draw(st.sampled_from([1, 10])) for n in numbers} | {99.0})
    weights = st.lists(st.integers(0, 4), min_size=len(values), max_size=len(values)).filter(any)
    p = [[w / sum(row) for w in row] for row in draw(st.lists(weights, min_size=1, max_size=3))]
    before = draw(weights)
    return {
        "values": values, "p": p, "p0": [b / sum(before) for b in before],
        "threshold": draw(st.sampled_from([0.3, 0.5, 0.6, 0.8, 1.0])),
        "within": draw(st.sampled_from([None, 0, 0.1, 0.3, 1, 3.0, 100])),
        "some": draw(st.one_of(st.none(), st.lists(st.sampled_from(values), min_size=1, unique=True))),
    }  # fmt: skip


@given(cases_of_exposure_numbers(), st.booleans())
def test_the_rule_of_exposure_numbers(case, is_compared):
    """A person is exposed if an interval reaches the threshold and its baseline does not, counted one by one."""
    values, p, threshold, people = np.array(case["values"]), np.array(case["p"]), case["threshold"], [9, 11, 14]
    people = people[: len(p)]
    p0 = np.array(case["p0"]) * is_compared
    post = posterior_with(case["p"], people, case["values"], bound=1e-10)[0]
    baseline = pd.Series(p0, values) if is_compared else None
    options = {"sensitive": case["some"], "within": case["within"]}
    exposure = exposed(post, threshold, baseline=baseline, **options)
    radius = np.ptp(values) / 20 if case["within"] is None else case["within"]
    centres = values if case["some"] is None else case["some"]
    expected = {}
    for i, n in enumerate(people):
        for c in centres:
            inside = np.abs(values - c) <= radius + ROUNDING
            if p[i, inside].sum() >= threshold - ROUNDING and p0[inside].sum() < threshold - ROUNDING:
                expected[f"q{i}"] = n
    assert (exposure.people, exposure.who["people"].to_dict()) == (sum(expected.values()), expected)
    assert exposure.within == pytest.approx(radius)
    for q, row in exposure.who.iterrows():
        inside = np.abs(values - row["S"]) <= radius + ROUNDING
        assert row["P"] == pytest.approx(p[int(q[1:]), inside].sum())
    errors = [min(np.abs(values - guess) @ row for guess in values) for row in p]
    assert exposure.expected_error == pytest.approx(np.average(errors, weights=people), abs=1e-9)
    closer = sum(
        n
        for i, n in enumerate(people)
        if is_compared and f"q{i}" not in expected and _known_closer(values, p[i], p0, centres, radius, threshold)
    )
    assert any(f"would expose {closer} p" in sentence for sentence in exposure.undecided) == (closer > 0)


def _known_closer(values, p, p0, centres, radius, threshold) -> bool:
    """Whether an interval no wider than the radius, with a centre in it, has P >= threshold and a smaller baseline."""
    return any(
        values[j] - values[i] <= radius + ROUNDING
        and any(values[i] <= c <= values[j] for c in centres)
        and p[i : j + 1].sum() >= threshold - ROUNDING
        and p0[i : j + 1].sum() < threshold - ROUNDING
        for i in range(len(values))
        for j in range(i, len(values))
    )


@pytest.mark.parametrize(
    "written",
    [
        lambda pay: [f"${x:,.0f}" for x in pay],
        lambda pay: [f"{x:,.0f} €".replace(",", ".") for x in pay],
        lambda pay: [f"USD{x:.0f}" for x in pay],
        lambda pay: [f"{x:.0f}-{x + 9:.0f} years" for x in pay],
        lambda pay: (pd.Timestamp("2000-01-01") + pd.to_timedelta(pay, unit="h")).strftime("%d/%m/%Y %H:00"),
        lambda pay: [f"{x:.0f}" for x in pay],
        lambda pay: [*(float(x) for x in pay[:-1]), "unknown"],
        lambda pay: [f"name{i}" for i in range(len(pay))],
    ],
)
def test_labels_that_hide_numbers_are_not_safe_in_silence(written):
    """If labels look like numbers, or all values differ, the result is undecided unless within is given."""
    post = solved(pd.Series(written(salaries())))
    exposure = exposed(post, baseline="overall")
    assert exposure.people == 0
    assert exposure.undecided
    assert {*exposure.undecided} <= {*exposure.warnings}
    assert not exposed(post, baseline="overall", within=0).undecided


@pytest.mark.parametrize(
    "dates",
    [
        lambda days: pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D"),
        lambda days: pd.Timestamp("2020-01-01", tz="Europe/Berlin") + pd.to_timedelta(days, unit="D"),
        lambda days: (pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D")).strftime("%Y-%m-%d"),
        lambda days: (pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D")).date,
        lambda days: pd.to_timedelta(days, unit="D"),
        lambda days: pd.Timestamp("2020-01-01").to_period("D") + np.asarray(days),
    ],
)
def test_dates_are_numbers(dates):
    """Dates of any type count to within a duration, of which the default is a twentieth of their range."""
    days = np.repeat(np.arange(20) * 100, 50) + np.arange(1000) % 5
    post = solved(dates(days))
    assert exposed(post, baseline="overall").within == pd.Timedelta(days=1904) / 20
    assert exposed(post, baseline="overall").people == 1000
    assert [exposed(post, within=w).people for w in ("4 days", pd.Timedelta(days=2), "1 day", 0)] == [1000, 1000, 0, 0]
    assert exposed(post).expected_error == pd.Timedelta("28:48:00")
    with pytest.raises(StatementError):
        exposed(post, within=4)


def test_an_outlier_leaves_the_result_undecided():
    """One huge value makes the default distance so large that everybody is in one interval."""
    pay = salaries()
    pay[7] = 1e9
    exposure = exposed(solved(pay), baseline="overall")
    assert exposure.people == 0
    assert any("would expose 1,000 people" in sentence for sentence in exposure.undecided)
    assert exposed(solved(pay), baseline="overall", within=50).people == 1000


def test_a_hierarchy_of_values():
    """The nodes of a hierarchy count besides the values, and its root does not."""
    ill = np.where(np.arange(1000) // 50 < 5, np.resize(["Ulcer", "Gastritis"], 1000), np.resize(["Flu", "Cold"], 1000))
    post = solved(ill)
    nodes = {"stomach": ["Ulcer", "Gastritis"], "lungs": ["Flu", "Cold"], "any": ["stomach", "lungs"]}
    levels = pd.DataFrame([["Ulcer", "stomach"], ["Gastritis", "stomach"], ["Flu", "lungs"], ["Cold", "lungs"]])
    assert exposed(post, baseline="overall").people == 0
    for hierarchy in (nodes, levels):
        exposure = exposed(post, baseline="overall", within=hierarchy)
        assert (exposure.people, set(exposure.who["pay"])) == (1000, {"stomach", "lungs"})
        assert exposed(post, sensitive=["Ulcer"], within=hierarchy).people == 250
    for error, wrong in ((TableError, {"Flu": ["Cold", "Ulcer"]}), (StatementError, {"lungs": ["flu", "cold"]})):
        with pytest.raises(error):
            exposed(post, within=wrong)


def test_several_attributes_with_a_number():
    """Combinations with a number are judged by equality, with a warning; one attribute is judged by intervals."""
    group = np.repeat(np.arange(20), 50)
    table = pd.DataFrame({"age": group, "pay": salaries(), "ill": np.resize(["Flu", "Cold"], 1000), "bucket": group})
    post = mx.MaxEnt(mx.Release.from_buckets(table, qi="age", sa=["ill", "pay"], bucket="bucket")).solve()
    exposure = exposed(post, baseline="overall")
    assert (exposure.people, len(exposure.undecided), exposure.within) == (0, 1, None)
    assert exposed(post, baseline="overall", sensitive={"pay": None}).people == 1000
    assert exposed(post, baseline="overall", sensitive={"pay": None}, within=0).people == 0
    assert not exposed(post, within=0).undecided
    with pytest.raises(StatementError):
        exposed(post, within=500)


def test_a_limit_of_the_baseline():
    """With rho1, only values whose baseline is at most rho1 count."""
    post = posterior_with([[0.81, 0.19], [0.1, 0.9]], [50, 50], bound=1e-9)[0]
    baseline = pd.Series({"s0": 0.79, "s1": 0.21})
    exposure = exposed(post, 0.8, baseline=baseline)
    assert (exposure.people, exposure.lift.round(3).to_dict()) == (100, {"q1": 4.286, "q0": 1.025})
    assert exposed(post, 0.8, baseline=baseline, rho1=0.21).who.index.to_list() == ["q1"]
    assert exposed(post, 0.8, baseline=baseline, rho1=0.2).people == 0


def test_a_population_larger_than_the_release():
    """Each of n people who may have the only published value is judged as if in the release, with a warning.

    Up to rounding: 1/n / (1 - (n-1)/n) is not 1 in floats.
    """
    for n in range(2, 12):
        records, voters = pd.DataFrame({"q": ["a"], "d": ["HIV"]}), pd.DataFrame({"q": ["a"] * n})
        post = mx.MaxEnt(mx.Release.from_generalized(records, qi="q", sa="d", population=voters)).solve()
        exposure = exposed(post, 1.0)
        assert (exposure.people, len(exposure.distances)) == (n, 1)


def test_a_baseline_in_other_types():
    """Rounding of float32, and an index with one level as of value_counts of a table, do not matter; gaps are errors."""
    hospital = mx.datasets.load_hospital()
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    post = mx.MaxEnt(release).add(mx.P("Breast Cancer", given={"Gender": "male"}) == 0).solve()
    overall = hospital["Disease"].value_counts(normalize=True)
    expected = exposed(post, 0.6, baseline="overall").people
    for baseline in (overall, overall.astype("float32"), hospital[["Disease"]].value_counts(normalize=True)):
        assert exposed(post, 0.6, baseline=baseline).people == expected
    with pytest.raises(BadProbability):
        exposed(post, 0.6, baseline=overall.where(overall.index != "HIV"))


def test_risk_utility_of_a_generalised_release_without_her():
    """The baseline of each record is that of `exposed`, which reads the records of generalised releases, too."""
    table = mx.datasets.load_hospital()[["Gender", "Disease"]].assign(Age="[20, 40)")
    post = mx.MaxEnt(mx.Release.from_generalized(table, qi=["Gender", "Age"], sa="Disease")).solve()
    risks = mx.measures.risk_utility(post, table, threshold=0.3, baseline="without her").loc["inference risk"]
    assert risks.loc["exposed people", "value"] == exposed(post, 0.3, table, baseline="without her").people
