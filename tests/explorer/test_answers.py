"""What follows from the controls: intervals as a model gives them, contradictions in words, pictures without markup."""

from __future__ import annotations

import numpy as np
import pytest

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx.explorer.explorer import heat_map, short
from maxent_cvx.explorer.state import answered, contradiction, intervals, verdict

HOSPITAL = mx.datasets.load_hospital()
RELEASE = mx.Release.from_buckets(HOSPITAL, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
MEN = P("Flu", given={"Gender": "male"})
IRIS = {"Iris": {"Gender": "female", "Degree": "graduate"}}


def test_intervals_are_the_bounds_of_the_model():
    """Of the groups that are shown, in any order, each interval is what the model's bounds are."""
    model = mx.MaxEnt(RELEASE).add(MEN == 0.3)
    table, groups = model.solve().inferences()[0], np.array([4, 0])
    found = intervals(model, groups, 60.0)
    bounds = model.bounds()
    for i, q in enumerate(table.index[groups]):
        for j, s in enumerate(table.columns):
            expected = bounds.loc[(*q, s), ["low", "high"]] if (*q, s) in bounds.index else (0, 0)
            np.testing.assert_allclose(found[:, i, j], list(expected), atol=1e-9)


def test_named_people_are_shown_apart():
    """Of people who are known by name the picture has a row each, with an interval of their own."""
    model = mx.MaxEnt(RELEASE, people=IRIS).add("P(HIV | Iris) = 0.2")
    answer = answered(model, None, 20, 60.0)
    (at,) = np.flatnonzero(answer.shown.index.get_level_values("who") == "Iris")
    hiv = answer.shown.columns.get_loc("HIV")
    assert answer.shown.iloc[at, hiv] == pytest.approx(0.2)
    for j, s in enumerate(answer.shown.columns):
        np.testing.assert_allclose(answer.interval[:, at, j], model.bounds(P(s, who="Iris")), atol=1e-9)
    assert "Iris, female, graduate" in heat_map(answer, 0.8)


def test_most_is_inferred_of_those_who_are_shown():
    """Of more groups than are shown those with the largest probability come first; of fewer all, as published."""
    model = mx.MaxEnt(RELEASE).add("P(Breast Cancer | Gender=male) = 0")
    table = model.solve().conditional()
    assert answered(model, None, 20, 60.0).shown.equals(table)
    two = answered(model, None, 2, 60.0)
    assert two.shown.index[0] == ("female", "junior")
    assert two.shown.max(axis=1).min() >= table.drop(two.shown.index).to_numpy().max()


def test_contradictions_name_what_clashes():
    """What cannot all be true is named, with what the others leave of each; alone it is what is published."""
    two = answered(mx.MaxEnt(RELEASE).add(MEN == 0.3, MEN == 0.4), None, 20, 60.0)
    head, items = contradiction(two)
    assert head == "Contradictory: these 2 statements cannot all be true."
    assert sorted(items) == [
        "P(Flu | Gender=male) = 0.3: the others leave 0.4",
        "P(Flu | Gender=male) = 0.4: the others leave 0.3",
    ]
    head, items = contradiction(answered(mx.MaxEnt(RELEASE).add(MEN == 0.9), None, 20, 60.0))
    assert head == "Contradictory: what is published rules this out."
    assert items == ["P(Flu | Gender=male) = 0.9: what is published leaves between 0.167 and 0.5"]


def test_whatever_goes_wrong_is_said():
    """A solve that is not finished in its time is no traceback; nor are intervals that nobody can find."""
    said = contradiction(answered(mx.MaxEnt(RELEASE).add(MEN == 0.3), None, 20, 0.0))
    assert said[0].startswith("There is no answer. ")
    import cvxpy as cp

    convex = mx.MaxEnt(RELEASE).add(lambda space: cp.sum_squares(space.p) <= 0.9)
    found = answered(convex, None, 20, 60.0)
    assert found.interval is None
    assert "convex" in verdict(found, found, 0.8, 0.8)[-1]
    assert "leave open" not in heat_map(found, 0.8)


def test_the_verdict_compares_with_the_start():
    """The divergence, if the truth is known, and the exposed, now and at the start."""
    before = answered(mx.MaxEnt(RELEASE), HOSPITAL, 20, 60.0)
    after = answered(mx.MaxEnt(RELEASE).add("P(Breast Cancer | Gender=male) = 0"), HOSPITAL, 20, 60.0)
    bits = [f"{mx.measures.overall_divergence(one.post, HOSPITAL):.3f} bits" for one in (after, before)]
    assert verdict(after, before, 0.8, 0.8)[0].startswith(
        f"Divergence from the truth: {bits[0]}, {bits[1]} at the start"
    )
    assert "at the start" not in " ".join(verdict(before, before, 0.8, 0.8))
    assert (
        len(verdict(before, before, 0.8, 0.8))
        == len(verdict(answered(mx.MaxEnt(RELEASE), None, 2, 60), before, 0.8, 0.8)) + 1
    )


def test_labels_are_text_and_no_markup():
    """What a table calls its values is shown as it is, whatever it looks like."""
    strange = HOSPITAL.replace({"Gender": {"male": "<b>male</b>"}, "Disease": {"Flu": "<script>alert(1)</script>"}})
    release = mx.Release.from_buckets(strange, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    page = heat_map(answered(mx.MaxEnt(release), None, 20, 60.0), 0.8)
    assert "<script" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_picture_of_before_says_so():
    """A heat map that is not of now is marked; cells from the threshold on are framed."""
    answer = answered(mx.MaxEnt(RELEASE).add("P(Breast Cancer | Gender=male) = 0"), None, 20, 60.0)
    assert "maxent-old" not in heat_map(answer, 0.8)
    assert "maxent-old" in heat_map(answer, 0.8, is_current=False)
    overall = HOSPITAL["Disease"].value_counts(normalize=True)
    for threshold in (0.8, 0.4, 0.25, 0.15):
        counts = [s for s in answer.shown.columns if overall[s] < threshold]
        framed = heat_map(answer, threshold).count('class="maxent-exposed"')
        assert framed == (answer.shown[counts].to_numpy() >= threshold).sum()


def test_only_sensitive_values_are_framed_and_counted():
    """Where some values count, others are neither framed nor said to expose anybody."""
    model = mx.MaxEnt(RELEASE).add("P(Breast Cancer | Gender=male) = 0")
    for sensitive, people in ((["Breast Cancer"], 1), (["HIV"], 0)):
        answer = answered(model, None, 20, 60.0, sensitive)
        assert heat_map(answer, 0.8).count('class="maxent-exposed"') == people
        assert verdict(answer, answer, 0.8, 0.8)[0].startswith(f"{people} of 10 people exposed")


def test_nothing_overall_is_published():
    """Where nothing says how frequent the values are, exposure is judged without a baseline, and says so."""
    view = mx.QITable(HOSPITAL, qi="Gender", sa="Disease", sa_values=sorted(set(HOSPITAL["Disease"])))
    answer = answered(mx.MaxEnt(view).add("P(Flu | Gender=male) >= 0.9"), None, 20, 60.0)
    assert verdict(answer, answer, 0.8, 0.8)[0] == "6 of 10 people exposed: a value is inferred with P >= 0.8."


@pytest.mark.parametrize(
    ("p", "text"), [(0, "0"), (1, "1"), (0.25, ".25"), (0.001, "&lt;.01"), (0.999, "&gt;.99"), (1 - 1e-12, "1")]
)
def test_only_zero_and_one_look_like_it(p, text):
    """What is not quite certain is not written as if it were."""
    assert short(p) == text
