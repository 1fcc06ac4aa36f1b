"""Exposure where sensitive values are numbers, dates, ranks, or labels that only look like them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import StatementError, TableError
from maxent_cvx.measures.exposure import exposed
from maxent_cvx.releases.partitioned import divided
from support.helpers import refused
from support.posteriors import made

PROPERTY = settings(deadline=None, max_examples=60)
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
def cases(draw: st.DrawFn) -> dict[str, Any]:
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


@PROPERTY
@given(cases(), st.booleans())
def test_the_rule(case, is_compared):
    """Exposed is who has an interval at or above the threshold whose baseline is below it, counted one by one."""
    values, p, threshold, people = np.array(case["values"]), np.array(case["p"]), case["threshold"], [9, 11, 14]
    people = people[: len(p)]
    p0 = np.array(case["p0"]) * is_compared
    post = made(case["p"], people, case["values"], bound=1e-10)[0]
    baseline = pd.Series(p0, values) if is_compared else None
    options = {"sensitive": case["some"], "within": case["within"]}
    found = exposed(post, threshold, baseline=baseline, **options)
    radius = np.ptp(values) / 20 if case["within"] is None else case["within"]
    centres = values if case["some"] is None else case["some"]
    expected = {}
    for i, n in enumerate(people):
        for c in centres:
            inside = np.abs(values - c) <= radius + ROUNDING
            if p[i, inside].sum() >= threshold - ROUNDING and p0[inside].sum() < threshold - ROUNDING:
                expected[f"q{i}"] = n
    assert (found.people, found.who["people"].to_dict()) == (sum(expected.values()), expected)
    assert found.within == pytest.approx(radius)
    for q, row in found.who.iterrows():
        inside = np.abs(values - row["S"]) <= radius + ROUNDING
        assert row["P"] == pytest.approx(p[int(q[1:]), inside].sum())
    errors = [min(np.abs(values - guess) @ row for guess in values) for row in p]
    assert found.expected_error == pytest.approx(np.average(errors, weights=people), abs=1e-9)
    closer = sum(
        n
        for i, n in enumerate(people)
        if is_compared and f"q{i}" not in expected and _known_closer(values, p[i], p0, centres, radius, threshold)
    )
    said = [one for one in found.undecided if f"would expose {closer} p" in one]
    assert bool(said) == (closer > 0)


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


def test_salaries_known_within_fifty():
    """Nobody's exact salary is likely; everybody's is known within 50, and the best guess is off by less than that."""
    post = solved(salaries())
    found = exposed(post, baseline="overall")
    assert (found.people, found.within) == (1000, pytest.approx((salaries().max() - salaries().min()) / 20))
    assert found.expected_error < 50 < 10_000 < found.expected_error_before
    assert exposed(post, baseline="overall", within=50).people == 1000
    assert exposed(post, baseline="overall", within=0).people == 0


@pytest.mark.parametrize(
    "written",
    [
        lambda pay: [f"${x:,.0f}" for x in pay],
        lambda pay: [f"{x / 1000:.3f}k EUR" for x in pay],
        lambda pay: [f"{x:,.0f} €".replace(",", ".") for x in pay],
        lambda pay: [f"USD{x:.0f}" for x in pay],
        lambda pay: [f"about {x:.0f}" for x in pay],
        lambda pay: [f"{x:.0f}-{x + 9:.0f} years" for x in pay],
        lambda pay: (pd.Timestamp("2000-01-01") + pd.to_timedelta(pay, unit="h")).strftime("%d/%m/%Y %H:00"),
        lambda pay: [f"{x:.0f}" for x in pay],
        lambda pay: [*(float(x) for x in pay[:-1]), "unknown"],
        lambda pay: [f"name{i}" for i in range(len(pay))],
    ],
)
def test_labels_that_hide_numbers_are_not_safe_in_silence(written):
    """Labels that look like numbers, and values that are all different, leave the verdict open until somebody looks."""
    post = solved(pd.Series(written(salaries())))
    found = exposed(post, baseline="overall")
    assert found.people == 0
    assert found.undecided
    assert {*found.undecided} <= {*found.warnings}
    assert all(one in str(found) and one in repr(found) for one in found.undecided)
    assert not exposed(post, baseline="overall", within=0).undecided


@pytest.mark.parametrize("labels", [["A01", "A02", "B20.1", "B20.2"], ["s1", "s2", "s3"], ["<=50K", ">50K"], ["Flu"]])
def test_codes_are_labels(labels):
    """A digit in a code, and a split in two, does not make labels numbers."""
    post = solved(np.resize(labels, 1000))
    assert not exposed(post, baseline="overall").undecided


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
    with refused(StatementError, "a duration is expected"):
        exposed(post, within=4)


def test_ordered_values_count_by_rank():
    """Of an ordered Categorical the neighbours count, and a twentieth of the ranks if that is more."""
    for ranks, within in ((4, 3 / 20), (5, 1), (20, 1), (100, 4)):
        names = [f"{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(ranks)]
        code = np.minimum(np.repeat(np.arange(20), 50) * ranks // 20 + np.arange(1000) % 2, ranks - 1)
        post = solved(pd.Categorical.from_codes(code, names, ordered=True))
        found = exposed(post, baseline="overall")
        assert found.within == pytest.approx(within)
        assert (found.people > 500) == (within >= 1)
        assert exposed(post, baseline="overall", within=0).people < 500
        plain = solved(np.array(names)[code])
        assert exposed(plain, baseline="overall").within is None


def test_few_numbers_are_values():
    """Codes 0 and 1, or marks from 1 to 5, differ by more than a twentieth of their range: equal values count."""
    post = solved(np.arange(1000) % 2)
    assert exposed(post, 0.5).who.shape[0] == 20
    assert exposed(post, 0.6).people == 0
    assert exposed(post).within == pytest.approx(0.05)


def test_an_outlier_does_not_hide_everybody():
    """One huge value makes the default so large that everybody is in one interval; then the verdict is open."""
    pay = salaries()
    pay[7] = 1e9
    found = exposed(solved(pay), baseline="overall")
    assert found.people == 0
    assert any("would expose 1000 people" in one for one in found.undecided)
    assert exposed(solved(pay), baseline="overall", within=50).people == 1000


def test_whole_numbers_are_exact():
    """Neighbours among integers that floats cannot tell apart, and decimals whose difference is rounded, are told."""
    huge = 2**60 + np.resize([0, 1, 2], 1000).astype(object)
    assert exposed(solved(huge), 0.9, within=1).people == 1000
    assert exposed(solved(huge), 0.9, within=0).people == 0
    assert exposed(solved(np.resize([0.9, 1.1], 1000)), 0.9, within=0.2).people == 1000
    assert exposed(solved(np.resize([0.9, 1.1], 1000)), 0.9, within=0.2 - 1e-9).people == 0


def test_a_hierarchy_of_values():
    """The nodes of a hierarchy count besides the values, and its root does not."""
    ill = np.where(np.arange(1000) // 50 < 5, np.resize(["Ulcer", "Gastritis"], 1000), np.resize(["Flu", "Cold"], 1000))
    post = solved(ill)
    nodes = {"stomach": ["Ulcer", "Gastritis"], "lungs": ["Flu", "Cold"], "any": ["stomach", "lungs"]}
    levels = pd.DataFrame([["Ulcer", "stomach"], ["Gastritis", "stomach"], ["Flu", "lungs"], ["Cold", "lungs"]])
    assert exposed(post, baseline="overall").people == 0
    for hierarchy in (nodes, levels):
        found = exposed(post, baseline="overall", within=hierarchy)
        assert (found.people, set(found.who["pay"])) == (1000, {"stomach", "lungs"})
        assert exposed(post, sensitive=["Ulcer"], within=hierarchy).people == 250
    with refused(TableError, "a node 'Flu'"):
        exposed(post, within={"Flu": ["Cold", "Ulcer"]})
    with refused(StatementError, "none of the values"):
        exposed(post, within={"lungs": ["flu", "cold"]})


@pytest.mark.parametrize("within", [-1, np.nan, np.inf, "x", "3 days", [1], np.array([1, 2]), True, pd.Timedelta(1)])
def test_distances_that_are_none(within):
    """What is not a distance is refused, and so is one of labels."""
    with refused(StatementError, "within="):
        exposed(solved(salaries()), within=within)
    with refused(StatementError, "within="):
        exposed(solved(np.resize(["Flu", "Cold"], 1000)), within=within)


def test_several_attributes_with_a_number():
    """Combinations are judged by equal values, which is said; one attribute is judged by intervals."""
    group = np.repeat(np.arange(20), 50)
    table = pd.DataFrame({"age": group, "pay": salaries(), "ill": np.resize(["Flu", "Cold"], 1000), "bucket": group})
    post = mx.MaxEnt(mx.Release.from_buckets(table, qi="age", sa=["ill", "pay"], bucket="bucket")).solve()
    found = exposed(post, baseline="overall")
    assert (found.people, len(found.undecided), found.within) == (0, 1, None)
    assert exposed(post, baseline="overall", sensitive={"pay": None}).people == 1000
    assert exposed(post, baseline="overall", sensitive={"pay": None}, within=0).people == 0
    assert not exposed(post, within=0).undecided
    with refused(StatementError, "judge one attribute"):
        exposed(post, within=500)


@pytest.mark.parametrize("within", [None, 0, 500, 5000, 10**6])
@pytest.mark.parametrize("baseline", [None, "overall"])
def test_in_partitions(within, baseline):
    """In partitions, the same is counted and said as in memory."""
    r = np.random.default_rng(3)
    group = np.repeat(np.arange(20), 30)
    pay = group * 1000 + r.integers(0, 900, 600) * (np.arange(600) % 7 < 5) * 3
    table = pd.DataFrame({"age": group, "pay": pay, "bucket": np.arange(600) // 10})
    release = mx.Release.from_buckets(table, qi="age", sa="pay", bucket="bucket")
    one, other = (
        exposed(mx.MaxEnt(view).solve(), 0.6, baseline=baseline, within=within)
        for view in (release, divided(release, 4))
    )
    assert (one.people, one.within, one.undecided) == (other.people, other.within, other.undecided)
    assert one.expected_error == pytest.approx(other.expected_error)
    assert one.distances == other.distances
    pd.testing.assert_frame_equal(one.who.sort_index(), other.who.sort_index(), check_dtype=False)
    pd.testing.assert_frame_equal(one.values, other.values)


def test_many_rows_are_judged_in_parts(monkeypatch):
    """Judged a few rows at a time, with a baseline of each row, it is what is judged at once."""
    post = solved(salaries() + np.random.default_rng(1).integers(0, 30_000, 1000))
    baseline = post.conditional().sample(frac=1.0, random_state=0).set_axis(post.conditional().index)
    whole = exposed(post, 0.3, baseline=baseline)
    monkeypatch.setattr("maxent_cvx.measures.exposure.MOST_NUMBERS", 3000)
    parts = exposed(post, 0.3, baseline=baseline)
    assert whole.people > 0
    assert str(whole) == str(parts)
    pd.testing.assert_frame_equal(whole.who, parts.who)
    pd.testing.assert_frame_equal(whole.values, parts.values)


def test_a_smaller_baseline_may_be_asked_for():
    """A baseline just below the threshold and P just above it count; with rho1 only what was unlikely does."""
    post = made([[0.81, 0.19], [0.1, 0.9]], [50, 50], bound=1e-9)[0]
    baseline = pd.Series({"s0": 0.79, "s1": 0.21})
    found = exposed(post, 0.8, baseline=baseline)
    assert (found.people, found.lift.round(3).to_dict()) == (100, {"q1": 4.286, "q0": 1.025})
    assert exposed(post, 0.8, baseline=baseline, rho1=0.21).who.index.to_list() == ["q1"]
    assert exposed(post, 0.8, baseline=baseline, rho1=0.2).people == 0
