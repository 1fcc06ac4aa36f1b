"""Exposure: how many people an adversary can be sure about, and how often the likeliest value is the true one."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, P, TableError
from maxent_cvx.measures.exposure import exposed
from support.helpers import refused
from support.posteriors import chosen, made

PROPERTY = settings(deadline=None, max_examples=30)


@PROPERTY
@given(chosen(), st.floats(0, 1))
def test_counts(drawn, threshold):
    """Exposed are the people whose likeliest value has the threshold's probability or more."""
    p, people = drawn
    largest = [max(row) for row in p]
    if any(0 < abs(most - threshold) < 1e-6 for most in largest):
        return  # too near to call
    found = exposed(made(p, people, bound=1e-8)[0], threshold)
    expected = {f"q{i}": n for i, (n, most) in enumerate(zip(people, largest, strict=True)) if most >= threshold}
    assert found.people == sum(expected.values())
    assert found.who["people"].to_dict() == expected
    assert found.threshold == threshold


def test_who():
    """Exposed people are listed with the value inferred and its probability, the surest first."""
    found = exposed(made([[0.8, 0.2], [0.5, 0.5], [0.1, 0.9]], [5, 6, 7])[0])
    assert list(found.who.index) == ["q2", "q0"]
    assert found.who["S"].tolist() == ["s1", "s0"]
    assert found.who["P"].tolist() == pytest.approx([0.9, 0.8])
    assert found.who["people"].tolist() == [7, 5]


@pytest.mark.parametrize("share", [0.1 + 0.2, 0.7, 0.8, 1 - 0.2, 0.9])
def test_at_the_threshold(share):
    """A probability equal to the threshold, but for rounding, reaches it; the next above does not."""
    post, _ = made([[share, 1 - share]], [5], bound=1e-9)
    largest = round(max(share, 1 - share), 10)
    assert exposed(post, largest).people == 5
    assert exposed(post, largest + 1e-6).people == 0
    assert exposed(post, largest - 1e-6).people == 5


def test_what_the_certificate_cannot_tell_is_exposed():
    """An answer right to 0.01 does not prove that 0.795 is below 0.8: on the safe side, it counts as reaching it."""
    p = [[0.795, 0.205], [0.78, 0.22]]
    assert exposed(made(p, [5, 7], bound=0.01)[0], 0.8).people == 5
    assert exposed(made(p, [5, 7], bound=1e-6)[0], 0.8).people == 0
    assert exposed(made(p, [5, 7], bound=math.inf)[0], 0.8).people == 12


@pytest.mark.parametrize(("threshold", "people"), [(0, 12), (1, 5)])
def test_extreme_thresholds(threshold, people):
    """Everybody is exposed at 0; at 1 only who is known for certain."""
    assert exposed(made([[1, 0], [0.99, 0.01]], [5, 7], bound=1e-9)[0], threshold).people == people


@PROPERTY
@given(chosen())
def test_histogram(drawn):
    """Everybody is in the tenth where their likeliest value lies; 1 is in the last one."""
    p, people = drawn
    found = exposed(made(p, people, bound=1e-9)[0]).histogram
    assert found.sum() == sum(people)
    expected = [0] * 10
    for row, n in zip(p, people, strict=True):
        expected[min(math.floor(max(row) * 10 + 1e-6), 9)] += n
    assert found.tolist() == expected
    assert [round(tenth.left * 10) for tenth in found.index] == list(range(10))


def test_histogram_at_a_border():
    """What the certificate cannot tell from the next tenth is in it, as with the threshold."""
    found = exposed(made([[0.7 - 1e-12, 0.3], [0.69, 0.31]], [5, 6], bound=1e-9)[0]).histogram
    assert found.to_numpy().nonzero()[0].tolist() == [6, 7]
    assert found.iloc[6:8].tolist() == [6, 5]


@PROPERTY
@given(chosen())
def test_attack_success(drawn):
    """P(argmax = truth): each person's chance that a guess among the likeliest values of their tuple is right."""
    p, people = drawn
    post, frame = made(p, people, bound=1e-9)
    chance = 0.0
    for q, s in zip(frame["Q"], frame["S"], strict=True):
        row = p[int(q[1:])]
        likeliest = [f"s{j}" for j, x in enumerate(row) if x > max(row) - 1e-6]
        chance += (s in likeliest) / len(likeliest)
    assert exposed(post, original=frame).attack_success == pytest.approx(chance / len(frame))
    assert exposed(post).attack_success is None


def test_attack_on_the_hospital(hospital, release):
    """By Eq. (1) alone an attacker's guesses are right for 2.5 of the ten patients of Fig. 1."""
    # Flu, the guess for college men, is right for Allen; Flu for college women is wrong. High school men: Breast Cancer
    # and Pneumonia tie, right for Frank half the time. Grace, Iris and James: three values tie.
    found = exposed(mx.MaxEnt(release).solve(), original=hospital)
    assert found.attack_success == pytest.approx((1 + 3 * 1 / 3 + 1 / 2) / 10)


def test_medicine_exposes_grace(hospital, release):
    """Knowing that no man has Breast Cancer exposes one woman of ten people (section 1)."""
    post = mx.MaxEnt(release).add(P("Breast Cancer", given={"Gender": "male"}) == 0).solve()
    found = exposed(post, 0.8)
    assert found.people == 1
    assert list(found.who.index) == [("female", "junior")]


def test_in_words(hospital, release):
    """In words it says how many, of how many, from which probability on, and how well guessing works."""
    post = mx.MaxEnt(release).solve()
    assert str(exposed(post, 0.4)) == "2 of 10 people exposed at P >= 0.4"  # the college women: Flu, 5/12
    assert str(exposed(post, 0.4, hospital)).endswith("guessing the likeliest value is right for 25.0%")
    html = exposed(post, 0.4, hospital)._repr_html_()
    assert "2 of 10" in html
    assert re.search(r"female.*college.*Flu", html, re.DOTALL)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, 80, math.nan, math.inf])
def test_bad_threshold(release, threshold):
    """A threshold is a probability; 80 is not 80 %."""
    with refused(BadProbability, f"threshold={threshold!r}", "from 0 to 1"):
        exposed(mx.MaxEnt(release).solve(), threshold)


@pytest.mark.parametrize("change", [{"Gender": "male"}, {"Disease": "Flu"}], ids=["other people", "other values"])
def test_other_records(hospital, release, change):
    """Success is measured against the people of the release only."""
    with refused(TableError, "pass the table that was published"):
        exposed(mx.MaxEnt(release).solve(), original=hospital.assign(**change))


def test_original_without_buckets(hospital, release):
    """The attack is on P(s | q): which bucket somebody was in does not matter."""
    post = mx.MaxEnt(release).solve()
    without = exposed(post, original=hospital.drop(columns="Bucket")).attack_success
    assert without == exposed(post, original=hospital).attack_success
