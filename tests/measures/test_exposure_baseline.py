"""Exposure beside what everybody knows anyway: which inferences are the release's doing, and whose."""

from __future__ import annotations

import math
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, StatementError, TableError, UnknownName
from maxent_cvx.measures.exposure import exposed
from maxent_cvx.releases.partitioned import divided
from support.helpers import refused
from support.parts import published, random_records, some_people
from support.posteriors import chosen, made

PROPERTY = settings(deadline=None, max_examples=60)


@pytest.fixture
def survey() -> mx.Release:
    """2,000 people in buckets of 25, of whom four in each answered yes: 84 % in all answered no."""
    n = np.arange(2000)
    table = pd.DataFrame({"age": 20 + n % 40, "answer": np.where(n % 25 < 4, "yes", "no"), "bucket": n // 25})
    return mx.Release.from_buckets(table, qi="age", sa="answer", bucket="bucket")


def test_what_everybody_knows_exposes_nobody(survey):
    """A value that 84 % have anyway, inferred of everybody with 84 %, is not what the release has betrayed."""
    post = mx.MaxEnt(survey).solve()
    assert exposed(post).people == 2000
    found = exposed(post, baseline="overall")
    assert (found.people, found.total, len(found.who), found.histogram.iloc[8:].sum()) == (0, 2000, 0, 0)
    assert found.values.loc["no"].to_dict() == {
        "baseline": 0.84, "exposed": 0, "certain": 0, "not_counted": 2000, "anyway": 2000,
    }  # fmt: skip
    assert exposed(post, sensitive=["yes"]).people == 0
    assert str(found).splitlines() == [
        "0 of 2000 people exposed: no value that has P < 0.8 overall is inferred with P >= 0.8.",
        "'no' is not counted, as it has P = 0.84 overall; it is inferred with P >= 0.8 of 2000 people.",
    ]


def test_knowledge_that_exposes(survey):
    """Who knows more of the people of one age infers the answer that few have; through what, and how much, is said."""
    post = mx.MaxEnt(survey).add("P(yes | age=30) = 0.9", "P(yes | age=31) <= 0.5").solve()
    found = exposed(post, baseline="overall")
    assert (found.people, found.who.index.to_list(), found.published_alone) == (50, [30], 0)
    assert found.who.loc[30, ["answer", "baseline", "people"]].to_list() == ["yes", 0.16, 50]
    assert found.statements["people"].to_dict() == {"P(yes | age=30) = 0.9": 50, "P(yes | age=31) <= 0.5": 0}
    assert found.statements["without"].to_list() == [0, 50]
    before = mx.MaxEnt(survey).add("P(yes | age=31) <= 0.5").solve().prob("yes", {"age": 30})
    assert found.statements["raises"].iloc[0] == pytest.approx(0.9 - before, abs=1e-6)
    assert "By what is published alone 0 of them would be; the others are exposed through the 2 statements" in str(
        found
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[list[float]], list[int], list[float], list[str], float]:
    """Draw what is inferred, of how many people, a baseline in tenths, values that are sensitive, and a threshold."""
    p, people = draw(chosen())
    size = len(p[0])
    cuts = sorted(draw(st.lists(st.integers(0, 10), min_size=size - 1, max_size=size - 1)))
    before = [(b - a) / 10 for a, b in zip([0, *cuts], [*cuts, 10], strict=True)]
    values = [f"s{j}" for j in range(size)]
    some = draw(st.lists(st.sampled_from(values), min_size=1, unique=True))
    return p, people, before, some, draw(st.sampled_from([0.2, 0.3, 0.5, 0.55, 0.7, 0.8, 1.0]))


@PROPERTY
@given(cases())
def test_the_rule(case):
    """Exposed is who has a sensitive value at or above the threshold whose baseline is below it; counted one by one."""
    p, people, before, some, threshold = case
    post = made(p, people, bound=1e-9)[0]
    values = [f"s{j}" for j in range(len(before))]
    found = exposed(post, threshold, sensitive=some, baseline=pd.Series(before, values))
    expected, tenths, anyway, by_value = {}, [0] * 10, dict.fromkeys(some, 0), dict.fromkeys(some, 0)
    for i, (row, n) in enumerate(zip(p, people, strict=True)):
        count = {s: x for s, x, b in zip(values, row, before, strict=True) if s in some and b < threshold - 1e-6}
        largest = max(count.values(), default=0.0)
        if largest >= threshold - 1e-6:
            expected[f"q{i}"] = n
        tenths[min(math.floor(largest * 10 + 1e-6), 9)] += n
        for s, x in zip(values, row, strict=True):
            if s in some and x >= threshold - 1e-6:
                (by_value if s in count else anyway)[s] += n
    assert found.people == sum(expected.values())
    assert found.who["people"].to_dict() == expected
    assert found.histogram.to_list() == tenths
    assert found.values["anyway"].to_dict() == anyway
    assert found.values["exposed"].to_dict() == by_value
    for q, s in found.who["S"].items():
        assert p[int(q[1:])][values.index(s)] >= threshold - 1e-6
        assert before[values.index(s)] < threshold


@PROPERTY
@given(cases())
def test_who_is_certain_and_not_counted(case):
    """Whoever's value is certain is exposed, or in the table of those who are not counted, and in the warnings."""
    p, people, before, some, threshold = case
    values = [f"s{j}" for j in range(len(before))]
    post = made(p, people, bound=1e-9)[0]
    found = exposed(post, threshold, sensitive=some, baseline=pd.Series(before, values))
    expected: dict[str, int] = {}
    for row, n in zip(p, people, strict=True):
        (sure,) = [s for s, x in zip(values, row, strict=True) if x > 1 - 1e-6] or [None]
        if sure is not None and not (sure in some and before[values.index(sure)] < threshold - 1e-6):
            expected[sure] = expected.get(sure, 0) + n
    assert found.uncounted["people"].to_dict() == expected
    for s, n in expected.items():
        why = "its baseline reaches the threshold" if s in some else "it is not among the sensitive values"
        assert f"'{s}' is certain (P = 1) of {n} people not counted: {why}." in found.warnings
    assert len(found.warnings) == len(expected)


@PROPERTY
@given(chosen(), st.sampled_from([0.2, 0.5, 0.8, 1.0]))
def test_without_a_baseline(drawn, threshold):
    """All values and a baseline of 0 are what is counted where nothing is said of either."""
    p, people = drawn
    post = made(p, people, bound=1e-9)[0]
    plain = exposed(post, threshold)
    nothing = pd.Series(0.0, post.space.view.sensitive_values)
    for other in (exposed(post, threshold, sensitive=list(nothing.index)), exposed(post, threshold, baseline=nothing)):
        assert (other.people, other.histogram.to_list()) == (plain.people, plain.histogram.to_list())
        pd.testing.assert_frame_equal(other.who.drop(columns="baseline", errors="ignore"), plain.who)


@pytest.mark.parametrize("share", [0.1 + 0.2, 0.7, 0.8, 1 - 0.2, 0.9])
def test_a_baseline_at_the_threshold(share):
    """A value whose baseline is the threshold, but for rounding, is not counted; one that is below it is."""
    post = made([[0.95, 0.05]], [5], bound=1e-9)[0]
    at = round(share, 10)
    assert exposed(post, at, baseline=pd.Series({"s0": share, "s1": 1 - share})).people == 0
    assert exposed(post, at + 1e-6, baseline=pd.Series({"s0": share, "s1": 1 - share})).people == 5


def test_nothing_learnt_at_the_threshold():
    """Where a release says of everybody what everybody knew, at the threshold itself, nobody is exposed."""
    post, frame = made([[0.5, 0.5], [0.5, 0.5]], [4, 6], bound=1e-9)
    assert frame["S"].value_counts(normalize=True).to_list() == [0.5, 0.5]
    assert exposed(post, 0.5).people == 10
    assert exposed(post, 0.5, baseline="overall").people == 0
    assert exposed(post, 0.5, baseline=post).people == 0


def test_the_bound_decides_for_exposure():
    """What is inferred is taken as high as the certificate allows, and a baseline that was solved for as low."""
    close = made([[0.795, 0.205]], [5], bound=0.01)[0]
    found = exposed(close, 0.8, baseline=pd.Series({"s0": 0.5, "s1": 0.5}))
    assert found.people == 5
    assert any("counted only because the certificate's bound, 0.01," in one for one in found.warnings)
    sure = made([[0.9, 0.1]], [5], bound=1e-9)[0]
    assert exposed(sure, 0.8, baseline=made([[0.805, 0.195]], [5], bound=0.01)[0]).people == 5
    assert exposed(sure, 0.8, baseline=made([[0.805, 0.195]], [5], bound=1e-3)[0]).people == 0
    assert not exposed(sure, 0.8, baseline="overall").warnings


def test_a_baseline_by_group(hospital, release):
    """P(s | q) may be a table by some attributes, or what a model infers of people who are not in the release."""
    post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()
    table = pd.crosstab(hospital["Gender"], hospital["Disease"], normalize="index")
    found = exposed(post, 0.5, baseline=table)
    # Half of the women have breast cancer: of Grace, and of the two college women, it is no news.
    assert found.people == 0
    assert found.values.loc["Breast Cancer", ["not_counted", "anyway"]].to_list() == [4, 3]
    assert "'Breast Cancer' is certain (P = 1) of 1 person not counted: its baseline reaches" in found.warnings[0]
    assert exposed(post, 0.5, baseline=mx.QIDistribution(table)).people == 0
    assert exposed(post, 0.6, baseline=table).people == 1
    census = mx.QITable(hospital, qi="Gender", sa="Disease", sa_values=list(release.sensitive_values))
    told = mx.MaxEnt(census).add("P(Breast Cancer | Gender=female) = 0.5").solve()
    assert exposed(post, 0.5, baseline=told).people == 0
    assert exposed(post, 0.6, baseline=told).people == 1
    assert exposed(post, 0.5, baseline=mx.MaxEnt(census).solve()).people == 3
    assert exposed(post, 0.5, baseline=post).people == 0


def test_values_that_the_release_has_not():
    """A baseline may be of more values; it must speak of those that are judged, and of probabilities."""
    post = made([[0.9, 0.1]], [5])[0]
    assert exposed(post, 0.8, baseline=pd.Series({"s0": 0.3, "s1": 0.3, "s2": 0.4})).people == 5
    assert exposed(post, 0.8, sensitive="s0", baseline=pd.Series({"s0": 0.3})).people == 5
    with refused(TableError, "says nothing about 's1'", "write 0"):
        exposed(post, 0.8, baseline=pd.Series({"s0": 0.3}))
    with refused(TableError, "has a value twice", "'s0'"):
        exposed(post, 0.8, baseline=pd.Series([0.3, 0.3], ["s0", "s0"]))
    for wrong in ({"s0": 30, "s1": 70}, {"s0": 0.7, "s1": 0.7}, {"s0": -0.1, "s1": 0.5}, {"s0": math.nan, "s1": 0.5}):
        with refused(BadProbability, "baseline / baseline.sum()"):
            exposed(post, 0.8, baseline=pd.Series(wrong))
    with refused(BadProbability, "must hold numbers"):
        exposed(post, 0.8, baseline=pd.Series({"s0": "few", "s1": "many"}))
    for wrong in ("everybody", 0.3, {"s0": 0.3}, ["s0"]):
        with refused(StatementError, "baseline=", '"overall", a Series of P(s)'):
            exposed(post, 0.8, baseline=wrong)


def test_sensitive_values_that_are_none():
    """Values are called as they are in the release."""
    post = made([[0.9, 0.1]], [5], ["no", "yes"])[0]
    with refused(UnknownName, "'Yes' is not a value of 'S'; did you mean 'yes'?"):
        exposed(post, sensitive="Yes")
    with refused(StatementError, "chooses no value"):
        exposed(post, sensitive=[])
    with refused(StatementError, "could mean"):
        exposed(post, sensitive=("no", "yes"))
    assert exposed(post, sensitive={"S": "no"}).people == exposed(post, sensitive=["no", "no"]).people == 5


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
    """Combinations are judged, or the values of one attribute, added up; a certain value in none of them is told."""
    post = mx.MaxEnt(mx.Release.from_buckets(two, qi="q", sa=["disease", "salary"], bucket="bucket")).solve()
    found = exposed(post, 0.7)  # of c three in four have (Flu, high)
    assert (found.people, list(found.who.columns)) == (4, ["disease", "salary", "P", "people"])
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
    assert found.uncounted["people"].to_dict() == {"disease=Flu": 3, "salary=low": 3}
    with refused(StatementError, "a tuple of 2 values"):
        exposed(post, sensitive="Flu")
    with refused(UnknownName, "is not a combination of disease, salary"):
        exposed(post, sensitive=("HIV", "high"))
    with refused(StatementError, "nobody can have them together"):
        exposed(post, sensitive={"disease": "HIV", "salary": "high"})
    with refused(UnknownName, "'illness' is not a sensitive attribute"):
        exposed(post, sensitive={"illness": "HIV"})


def test_people_by_name(hospital, release):
    """A person known by name is exposed, or not, apart from others with the same quasi-identifiers."""
    people = {"Allen": {"Gender": "male", "Degree": "college"}}
    post = mx.MaxEnt(release, people=people).add("P(Flu | Allen) = 0.9").solve()
    found = exposed(post, 0.8, baseline="overall")
    assert found.who.index.get_level_values("who").to_list() == ["Allen"]
    assert found.who[["Disease", "baseline", "people"]].to_numpy().tolist() == [["Flu", 0.3, 1]]
    assert found.statements["people"].to_dict() == {"P(Flu | Allen) = 0.9": 1}
    assert exposed(post, 0.8, baseline=post).people == 0
    assert exposed(post, 0.8, baseline=mx.MaxEnt(release).solve()).people == 1
    with refused(StatementError, "baseline: it names people"):
        exposed(mx.MaxEnt(release).solve(), baseline=post)


def test_a_population():
    """Of a voter list it is judged what is inferred of somebody who is in the release."""
    records = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]", "[40, 49]"], "Disease": ["HIV", "HIV", "Flu"]})
    voters = pd.DataFrame({"Age": [21, 24, 28, 45, 46, 60]})
    post = mx.MaxEnt(mx.Release.from_generalized(records, qi="Age", sa="Disease", population=voters)).solve()
    found = exposed(post, 0.7, baseline="overall")
    assert found.values["baseline"].to_dict() == {"Flu": pytest.approx(1 / 3), "HIV": pytest.approx(2 / 3)}
    assert (found.people, found.total) == (5, 5)
    assert "5 of 5 people who may be in the release (100.0%) exposed" in str(found)
    assert exposed(post, 0.6, baseline="overall").people == 2  # two thirds of those in the release have HIV anyway


def test_a_series_needs_a_baseline_by_value():
    """How many of all people have each value is not published by several releases; it can be given."""
    tables = mx.datasets.load_patients()
    series = mx.ReleaseSeries(
        mx.Release.from_buckets(t, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym") for t in tables
    )
    post = mx.MaxEnt(series).solve()
    with refused(StatementError, "not published by the series", "give P(s) as a Series"):
        exposed(post, baseline="overall")
    few = pd.Series(0.2, series.sensitive_values)
    assert exposed(post, 0.9, baseline=few).people == exposed(post, 0.9).people > 0
    assert exposed(post, 0.9, baseline=few).published_alone == exposed(post, 0.9).people


@pytest.mark.parametrize(("seed", "n", "named"), [(0, 1, False), (1, 3, True), (2, 7, False)])
def test_in_partitions(seed, n, named):
    """Counted where the partitions are, it is what is counted in memory."""
    records = random_records(np.random.default_rng(seed))
    people = some_people(records) if named else None
    posts = [mx.MaxEnt(view, people).solve() for view in (published(records), divided(published(records), n))]
    values = list(posts[0].space.view.sensitive_values)
    plain = pd.Series(1 / len(values), values)
    asked: list[dict[str, Any]] = [
        {"baseline": "overall"}, {"sensitive": values[:2]}, {"sensitive": values[1:], "baseline": plain},
        {"threshold": 1 / len(values), "baseline": plain},
    ]  # fmt: skip
    for options in asked:
        one, other = (exposed(post, **{"threshold": 0.4, **options}) for post in posts)
        assert (one.people, one.histogram.to_list()) == (other.people, other.histogram.to_list())
        assert set(one.who.index) == set(other.who.index)
        assert list(one.who.columns) == list(other.who.columns)
        assert one.warnings == other.warnings
        pd.testing.assert_frame_equal(one.values, other.values)
        assert str(one).splitlines()[0] == str(other).splitlines()[0]
    for wrong in (posts[0], posts[0].conditional()):
        with refused(StatementError, "the same for everybody"):
            exposed(posts[1], baseline=wrong)
    with refused(StatementError, "no statement is left out", "model.remove(label)"):
        _ = exposed(posts[1]).statements


def test_exempt_values_are_warned_of():
    """Anatomy may leave buckets in which everybody has the exempt value: known for certain, and said."""
    table = pd.DataFrame({"age": np.arange(100), "illness": np.where(np.arange(100) % 10, "no", "yes")})
    release = mx.anonymize.anatomy(table, qi=["age"], sa="illness", l=2, exempt=1)
    post = mx.MaxEnt(release).solve()
    found = exposed(post, baseline="overall")
    sure = int((post.conditional()["no"] > 1 - 1e-9).sum())
    assert found.people == 0
    assert sure > 0
    assert found.uncounted.loc["no", "people"] == sure
    assert str(found).endswith(
        f"Warning: 'no' is certain (P = 1) of {sure} people not counted: its baseline reaches the threshold."
    )


def test_what_cannot_be_said_of_a_saved_posterior(tmp_path, release):
    """A file holds no knowledge: who is exposed is counted, and not through what."""
    post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()
    post.save(tmp_path / "post.parquet")
    found = exposed(mx.load_posterior(tmp_path / "post.parquet"), baseline="overall")
    assert found.people == 1
    assert "1 of 10 people (10.0%) exposed" in str(found)
    with refused(StatementError, "loaded from a file"):
        _ = found.statements


def test_many_statements_are_left_out_by_source(release):
    """Of more rows than can be solved for one by one, each source is left out as a whole."""
    model = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0")
    model = model.add(lambda space: space.conditional("s", given="q") <= 1, label="nothing new")
    for i in range(30):
        model = model.add(f"P(Flu | Gender=male) <= {0.9 + i / 1000}")
    found = exposed(model.solve(), baseline="overall").statements
    assert len(found) == 32
    assert found["people"].to_dict()["nothing new"] == 0
    assert found.index[0] == "P(Breast Cancer | Gender=male) = 0"


def test_necessary_and_sufficient(release):
    """Of statements that say the same each is enough and none needed; of two that expose together, each is."""
    men, women = "P(Breast Cancer | Gender=male) = 0", "P(Breast Cancer | Gender=female) = 0.5"
    same = exposed(mx.MaxEnt(release).add(men, women).solve(), 0.8, baseline="overall")
    assert same.people == 1  # Grace
    assert same.statements[["people", "alone", "without"]].to_numpy().tolist() == [[0, 1, 1]] * 2
    one, other = "P(HIV | Gender=male, Degree=college) = 0", "P(HIV | Gender=male, Degree=high school) = 0"
    both = exposed(mx.MaxEnt(release).add(one, other).solve(), 0.8, baseline="overall")
    assert both.who.index.to_list() == [("female", "junior")]  # HIV in her bucket can be hers only
    assert both.statements[["people", "alone", "without"]].to_numpy().tolist() == [[1, 0, 0]] * 2
    assert "alone 0 of them would be; the others are exposed through the 2 statements" in str(both)


def test_rows_of_a_source(release):
    """Rows of one source are statements of their own, soft ones, too; convex knowledge is left out as a whole."""
    rows = mx.MaxEnt(release).space.conditional("s", given="Gender").loc[["Breast Cancer"]] == pd.Series(
        {("Breast Cancer", "female"): 0.5, ("Breast Cancer", "male"): 0.0}
    )
    post = mx.MaxEnt(release).add(rows, label="a table").add("P(Flu | Gender=male) ~ 0.45 +- 0.01").solve()
    found = exposed(post, 0.8, baseline="overall").statements
    assert found["alone"].to_list() == [1, 1, 0]
    assert found["people"].to_list() == [0, 0, 0]
    assert found.index[2] == "P(Flu | Gender=male) ~ 0.45 +- 0.01"
    model = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0")
    model.add(lambda space: [cp.sum_squares(space.p) <= 0.5], label="near")
    found = exposed(model.solve(), 0.8, baseline="overall").statements
    assert found["people"].to_dict() == {"P(Breast Cancer | Gender=male) = 0": 1, "near": 0}
    assert found["alone"].to_list() == [1, 0]


def test_a_prior_is_no_statement(hospital, release):
    """What a prior rules out cannot be left out: it belongs to what is believed of the published."""
    prior = mx.QIDistribution(pd.crosstab(hospital["Gender"], hospital["Disease"], normalize="index"))
    post = mx.MaxEnt(release, prior=prior).add("P(HIV | Gender=female) = 0.25").solve()
    found = exposed(post, 0.8, baseline="overall")
    assert found.people == found.published_alone == 2
    assert "They are exposed by what is published and the prior alone." in str(found)
    assert list(found.statements.index) == ["P(HIV | Gender=female) = 0.25"]


def test_made_by_hand(release):
    """One that is put together of numbers alone says what it can, and knows no statements."""
    found = exposed(mx.MaxEnt(release).solve(), 0.4)
    made_so = mx.measures.Exposure(0.4, found.people, found.who, found.histogram, None)
    assert str(made_so) == str(found) == "2 of 10 people exposed at P >= 0.4"
    with refused(StatementError, "no statement is left out"):
        _ = made_so.statements


def test_in_html():
    """Whatever values are called, they are text on a page."""
    post = made([[0.9, 0.1]], [5], ["<b>no</b>", "yes"])[0]
    page = exposed(post, baseline=pd.Series({"<b>no</b>": 0.1, "yes": 0.9}))._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;no" in page


def two_attributes(names):
    """Ten people, nine of whom have A=y, B=n: the release with its sensitive attributes in an order."""
    table = pd.DataFrame({"q": ["a"] * 10, "A": ["y"] * 9 + ["n"], "B": ["n"] * 9 + ["y"], "b": [0] * 10})
    return table, mx.MaxEnt(mx.Release.from_buckets(table, qi=["q"], sa=names, bucket="b")).solve()


def test_labels_of_a_baseline_are_read_by_their_names():
    """The same baseline with its attributes in another order is the same; one of another attribute is refused."""
    table, post = two_attributes(["A", "B"])
    other = two_attributes(["B", "A"])[1]
    for baseline in (
        table[["A", "B"]].value_counts(normalize=True),
        table[["B", "A"]].value_counts(normalize=True),
        table.groupby("q")[["B", "A"]].value_counts(normalize=True).unstack([1, 2], fill_value=0.0),
        other,
    ):
        assert exposed(post, 0.8, baseline=baseline).people == 0
    with pytest.raises(TableError, match="the baseline is of 'B'"):
        exposed(post, 0.8, sensitive={"A": ["y"]}, baseline=table["B"].value_counts(normalize=True))


def test_another_value_is_not_the_same_exposure():
    """Who is exposed by F through what is published, and by H through a statement, is exposed through the statement."""
    table = pd.DataFrame({"q": list("aabbbc"), "S": list("FFFFHH"), "b": [0] * 6})
    release = mx.Release.from_buckets(table, qi=["q"], sa="S", bucket="b")
    base = pd.Series({"F": 0.1, "H": 0.1})
    post = mx.MaxEnt(release).add("P(H | q=a) = 1").solve()
    assert ("a",) in exposed(post, 0.6, baseline=base).who.index or "a" in exposed(post, 0.6, baseline=base).who.index
    assert exposed(post, 0.6, sensitive=["H"], baseline=base).published_alone == 0
    assert exposed(post, 0.6, baseline=base).statements.loc["P(H | q=a) = 1", "people"] >= 2


@pytest.mark.parametrize("name", ["P", "people", "baseline"])
def test_attributes_that_are_called_as_a_column(name):
    """An attribute with the name of a column of those exposed would be lost, and is refused."""
    table = pd.DataFrame({"q": list("aab"), "S": list("FFH"), "b": [0, 0, 0]})
    for old in ("q", "S"):
        renamed = table.rename(columns={old: name})
        qi, sa = (name, "S") if old == "q" else ("q", name)
        post = mx.MaxEnt(mx.Release.from_buckets(renamed, qi=[qi], sa=sa, bucket="b")).solve()
        with pytest.raises(TableError, match=f"called '{name}'"):
            exposed(post, 0.5)
