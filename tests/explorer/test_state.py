"""The state of the explorer: sliders, models, answers, and the code that makes a model again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx.explorer import state as solving
from maxent_cvx.explorer.explorer import heat_map, short
from maxent_cvx.explorer.state import (
    MOST_STATEMENTS,
    Setting,
    adjustable,
    answered,
    assumptions_of,
    contradiction,
    intervals,
    solved,
    typed,
    verdict,
)

MEN = P("Flu", given={"Gender": "male"})
HOSPITAL = mx.datasets.load_hospital()
RELEASE = mx.Release.from_buckets(HOSPITAL, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
IRIS = {"Iris": {"Gender": "female", "Degree": "graduate"}}


def of(said):
    """A statement as the model holds it."""
    return adjustable(said.label, said)


@pytest.mark.parametrize(
    ("said", "value", "vagueness"),
    [
        (MEN == 0.3, 0.3, 0),
        (MEN.about(0.3, eps=0.05), 0.3, 0.05),
        (MEN.between(0.1, 0.3), 0.2, 0.1),
        (MEN <= 0.3, 0.3, None),
        (MEN >= 0.3, 0.3, None),
        (MEN.softly(0.3, sd=0.05), 0.3, 0.05),
        (MEN.softly(0.3, weight=50), 0.3, None),
        (mx.Count("HIV", who=["Alice", "Bob"]) == 1, 1, 0),
    ],
    ids=str,
)
def test_where_sliders_begin(said, value, vagueness):
    """The value of a range is its middle, and its vagueness half its width, or a standard deviation."""
    one = of(said)
    assert one.start.value == value
    assert (one.vagueness is None) == (vagueness is None)
    assert vagueness is None or one.start.vagueness == vagueness
    assert one.values.low <= value <= one.values.high


@pytest.mark.parametrize(
    ("said", "setting", "then"),
    [
        (MEN == 0.3, Setting(0.4), MEN == 0.4),
        (MEN == 0.3, Setting(0.4, 0.05), MEN.about(0.4, eps=0.05)),
        (MEN.about(0.3, eps=0.05), Setting(0.3, 0), MEN == 0.3),
        (MEN.between(0.1, 0.3), Setting(0.2, 0.02), MEN.between(0.18, 0.22)),
        (MEN <= 0.3, Setting(0.2), MEN <= 0.2),
        (MEN >= 0.3, Setting(0.2), MEN >= 0.2),
        (MEN.softly(0.3, sd=0.05), Setting(0.4, 0.1), MEN.softly(0.4, sd=0.1)),
        (MEN.softly(0.3, weight=50), Setting(0.4), MEN.softly(0.4, weight=50)),
        (MEN.softly(0.3, sd=0.05, delta=0.1), Setting(0.4, 0.02), MEN.softly(0.4, sd=0.02, delta=0.1)),
        (MEN - P("HIV") >= 0.1, Setting(-0.1), MEN - P("HIV") >= -0.1),
    ],
    ids=str,
)
def test_what_is_said_elsewhere(said, setting, then):
    """A slider moves a value or a vagueness, and nothing else of the statement."""
    assert of(said).at(setting) == then


@pytest.mark.parametrize("said", [MEN.between(0.1, 0.3), MEN.about(0.123456, eps=1e-7), MEN == 1 / 3], ids=str)
def test_the_start_is_what_was_typed(said):
    """What nobody moved is said to the last digit, also between the steps of a slider."""
    one = of(said)
    assert one.at(one.start) is said


def test_what_has_no_value_has_no_slider():
    """A vague statement that allows everything, a mean of numbers that are not told, and functions are only known."""
    assert of(MEN.anything()) is None
    assert of(mx.E("income") == 4) is None
    assert adjustable("fair", mx.StrongestAssociations(mx.datasets.load_hospital(), 1, 1)) is None


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


def test_most_is_inferred_of_those_who_are_shown():
    """Of more groups than are shown those with the largest probability come first; of fewer all, as published."""
    model = mx.MaxEnt(RELEASE).add("P(Breast Cancer | Gender=male) = 0")
    table = model.solve().conditional()
    assert answered(model, None, 20, 60.0).shown.equals(table)
    two = answered(model, None, 2, 60.0)
    assert two.shown.index[0] == ("female", "junior")
    assert two.shown.max(axis=1).min() >= table.drop(two.shown.index).to_numpy().max()


def test_contradictions_name_what_clashes():
    """What cannot all be true is named, with what the others permit of each; alone it is what is published."""
    two = answered(mx.MaxEnt(RELEASE).add(MEN == 0.3, MEN == 0.4), None, 20, 60.0)
    head, items = contradiction(two)
    assert head == "Contradiction: these 2 statements cannot all be true."
    assert sorted(items) == [
        "P(Flu | Gender=male) = 0.3: the others permit 0.4",
        "P(Flu | Gender=male) = 0.4: the others permit 0.3",
    ]
    head, items = contradiction(answered(mx.MaxEnt(RELEASE).add(MEN == 0.9), None, 20, 60.0))
    assert head == "Contradiction: the release rules out this statement."
    assert items == ["P(Flu | Gender=male) = 0.9: the release permits between 0.167 and 0.5"]


def test_whatever_goes_wrong_is_said():
    """A solve that is not finished in its time is no traceback."""
    said = contradiction(answered(mx.MaxEnt(RELEASE).add(MEN == 0.3), None, 20, 0.0))
    assert said[0].startswith("There is no answer: ")


def test_convex_knowledge():
    """A convex constraint has intervals, and is among the statements of a contradiction."""
    import cvxpy as cp

    convex = mx.MaxEnt(RELEASE).add(lambda space: cp.sum_squares(space.p) <= 0.045, label="spread")
    found = answered(convex, None, 20, 60.0)
    plain = answered(mx.MaxEnt(RELEASE), None, 20, 60.0)
    assert np.ptp(found.interval, axis=0).sum() < np.ptp(plain.interval, axis=0).sum() - 0.1
    assert "interval of all values" in heat_map(found, 0.8)
    _, items = contradiction(answered(convex.copy().add(MEN == 0.5), None, 20, 60.0))
    assert any("spread" in item for item in items)


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
        value = "a value" if people else "no value"
        assert verdict(answer, answer, 0.8, 0.8)[0].startswith(f"{people} of 10 people exposed: {value} with P < 0.8")


@pytest.mark.parametrize(
    ("p", "text"), [(0, "0"), (1, "1"), (0.25, ".25"), (0.001, "&lt;.01"), (0.999, "&gt;.99"), (1 - 1e-12, "1")]
)
def test_only_zero_and_one_look_like_it(p, text):
    """What is not quite certain is not written as if it were."""
    assert short(p) == text


def taken_apart(model, original=HOSPITAL, chosen=None):
    """The assumptions of a model."""
    return assumptions_of(model, original, 0.8, 2, chosen)


def same(first, second):
    """Whether two models have the same answer."""
    return np.array_equal(first.solve().counts, second.solve().counts)


def test_at_the_start_it_is_the_model():
    """Controls that nobody has moved say what the model says, with K and functions in it."""
    model = mx.MaxEnt(RELEASE).add(MEN == 0.3).add(lambda space: space.prob("HIV") <= 0.5, label="own")
    model.add(mx.StrongestAssociations(HOSPITAL, 0, 2))
    parts = taken_apart(model)
    assert list(parts.model_at(parts.start).knowledge) == list(model.knowledge)
    assert (parts.start.positive, parts.start.negative) == (0, 2)
    assert list(parts.adjustable) == ["P(Flu | Gender=male) = 0.3"]
    assert list(parts.others) == ["own"]


def test_moved_it_is_the_model_that_would_be_typed():
    """Values, K and what is known elsewhere make the model that somebody would type; the given one is left alone."""
    model = mx.MaxEnt(RELEASE).add(MEN == 0.3).add("P(HIV) <= 0.5", label="own")
    parts, before = taken_apart(model), list(model.knowledge)
    state = parts.start.moved("P(Flu | Gender=male) = 0.3", value=0.4, vagueness=0.05).moved("own", known=False)
    typed = mx.MaxEnt(RELEASE).add(MEN.about(0.4, eps=0.05), mx.StrongestAssociations(HOSPITAL, 0, 3, min_support=2))
    assert same(parts.model_at(replace(state, negative=3)), typed)
    assert list(model.knowledge) == before


def test_who_chooses_the_statements_with_sliders():
    """The first twenty by default, or those that are named; the others can be known or not."""
    model = mx.MaxEnt(RELEASE).add(*(MEN.between(0, 0.5 + i / 100) for i in range(MOST_STATEMENTS + 1)))
    last = list(model.knowledge)[-1]
    assert last in taken_apart(model).others
    assert list(taken_apart(model, chosen=[last]).adjustable) == [last]
    with pytest.raises(mx.UnknownName, match="rumour"):
        taken_apart(model, chosen=["rumour"])


#: A third of the men at least have the flu, if none has breast cancer: presolve does not see that, nor Newton at once.
NEARLY = ["P(Breast Cancer | Gender=male) = 0", "0.23 <= P(Flu | Gender=male) <= 0.33"]


@pytest.mark.parametrize("patience", [0, 16])
def test_consistent_knowledge_has_its_answer(monkeypatch, patience):
    """An answer is the same, also where it took so long that it was asked whether there is any."""
    monkeypatch.setattr(solving, "PATIENCE", patience)
    model = mx.MaxEnt(RELEASE).add(P("Flu", given={"Gender": "male"}) == 0.3)
    np.testing.assert_array_equal(solved(model, 60.0).counts, model.solve().counts)


def test_contradictions_are_told_as_they_are_diagnosed():
    """What Newton's method does not see at once is diagnosed, and nobody waits for it to give up."""
    model = mx.MaxEnt(RELEASE).add(*NEARLY)
    with pytest.raises(mx.Infeasible) as told:
        solved(model, 60.0)
    assert told.value.conflict.equals(model.diagnose())
    assert sorted(told.value.conflict.index) == sorted(NEARLY)


def run(parts, state, **names):
    """Run the code of a state, and compare its answer with that of the state's model."""
    there = {"release": parts.model.view, "original": HOSPITAL, "explored": parts.model, **names}
    exec(typed(parts, state), there)  # our own lines
    np.testing.assert_allclose(there["post"].counts, parts.model_at(state).solve().counts, atol=1e-9)
    return there["model"]


def test_all_kinds_of_knowledge():
    """Statements with and without labels, soft ones, functions, what is not known, and K: all of it is typed."""
    model = mx.MaxEnt(RELEASE).add(MEN.about(0.3, eps=0.05), "P(HIV) ~ 0.2 +- 0.05").add("P(Flu) <= 0.5", label="own")
    model.add(lambda space: space.conditional("s", given="q") <= 1, label="shares")
    parts = assumptions_of(model, HOSPITAL, 0.8, 2, None)
    run(parts, parts.start)
    moved = parts.start.moved("own", value=0.4).moved("0.25 <= P(Flu | Gender=male) <= 0.35", known=False)
    found = run(parts, replace(moved, positive=1, negative=2))
    assert {"own", "shares"} < set(found.knowledge)


@pytest.mark.parametrize("is_mined", [False, True])
def test_associations_of_the_model(is_mined):
    """Associations that the model holds are taken from it, with their support, or as they were mined."""
    given = HOSPITAL, {"min_support": 2}
    if is_mined:
        given = mx.mine_associations(HOSPITAL, qi=["Gender", "Degree"], sa="Disease", min_support=2), {}
    model = mx.MaxEnt(RELEASE).add(mx.StrongestAssociations(given[0], 1, 1, **given[1]))
    parts = assumptions_of(model, None, 0.8, 3, None)
    run(parts, parts.start)
    run(parts, replace(parts.start, positive=2, negative=4))
    assert len(run(parts, replace(parts.start, positive=0, negative=0)).knowledge) == 0


def test_people_and_values_that_no_text_can_hold():
    """Named people are an argument; a statement about dates, which no text is read as, is taken from the model."""
    parts = assumptions_of(mx.MaxEnt(RELEASE, people=IRIS).add("P(HIV | Iris) = 0.2"), None, 0.8, 3, None)
    run(parts, parts.start.moved("P(HIV | Iris) = 0.2", value=0.3), people=IRIS)
    dated = HOSPITAL.assign(Degree=pd.to_datetime("2020-01-01") + pd.to_timedelta(HOSPITAL["Bucket"], unit="D"))
    release = mx.Release.from_buckets(dated, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    model = mx.MaxEnt(release).add(P("HIV", given={"Degree": dated["Degree"][0]}) <= 0.9)
    parts = assumptions_of(model, None, 0.8, 3, None)
    assert "explored.knowledge[" in typed(parts, parts.start)
    run(parts, parts.start)
    (label,) = parts.adjustable
    run(parts, parts.start.moved(label, value=0.2))
    soft = mx.MaxEnt(release).add(P("HIV", given={"Degree": dated["Degree"][0]}).softly(0.4, sd=0.05, delta=0.1))
    parts = assumptions_of(soft, None, 0.8, 3, None)
    (label,) = parts.adjustable
    run(parts, parts.start.moved(label, value=0.1, vagueness=0.01))
