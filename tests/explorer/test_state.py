"""The state of the explorer: sliders, models, answers, and the code that makes a model again."""

from __future__ import annotations

import re
import uuid
from dataclasses import replace

import numpy as np
import pytest

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx.explorer import state as solving
from maxent_cvx.explorer.explorer import _interval, heat_map, short
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
NONE = "P(Breast Cancer | Gender=male) = 0"
IRIS = {"Iris": {"Gender": "female", "Degree": "graduate"}}


def of(statement):
    """A statement with its sliders."""
    return adjustable(statement.label, statement)


@pytest.mark.parametrize(
    ("statement", "value", "vagueness"),
    [
        (MEN == 0.3, 0.3, 0),
        (MEN == 1 / 3, 1 / 3, 0),
        (MEN.about(0.3, eps=0.05), 0.3, 0.05),
        (MEN.about(0.123456, eps=1e-7), 0.123456, 1e-7),
        (MEN.between(0.1, 0.3), 0.2, 0.1),
        (MEN <= 0.3, 0.3, None),
        (MEN >= 0.3, 0.3, None),
        (MEN.softly(0.3, sd=0.05), 0.3, 0.05),
        (MEN.softly(0.3, weight=50), 0.3, None),
        (mx.Count("HIV", who=["Alice", "Bob"]) == 1, 1, 0),
    ],
    ids=str,
)
def test_where_sliders_begin(statement, value, vagueness):
    """The value of a range is its middle, and its vagueness half its width, or a standard deviation.

    At the start the statement is the given one to the last digit, also between the steps of a slider.
    """
    sliders = of(statement)
    assert sliders.start.value == pytest.approx(value, abs=1e-12)
    assert (sliders.vagueness is None) == (vagueness is None)
    assert vagueness is None or sliders.start.vagueness == pytest.approx(vagueness)
    assert sliders.values.low <= value <= sliders.values.high
    assert sliders.at(sliders.start) is statement


@pytest.mark.parametrize(
    ("statement", "setting", "moved"),
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
def test_a_moved_slider_changes_one_number(statement, setting, moved):
    """A slider changes the value or the vagueness, and nothing else of the statement."""
    assert of(statement).at(setting) == moved


def test_sources_without_a_value_have_no_slider():
    """A statement that allows everything, a mean of unknown numbers, and associations have no slider."""
    assert of(MEN.anything()) is None
    assert of(mx.E("income") == 4) is None
    assert adjustable("fair", mx.StrongestAssociations(HOSPITAL, 1, 1)) is None


def test_intervals_are_the_bounds_of_the_model():
    """The intervals of the groups that are shown, in any order, are the bounds of the model."""
    model = mx.MaxEnt(RELEASE).add(MEN == 0.3)
    table, groups = model.solve().inferences()[0], np.array([4, 0])
    low_and_high, bounds = intervals(model, groups, 60.0), model.bounds()
    for i, q in enumerate(table.index[groups]):
        for j, s in enumerate(table.columns):
            expected = bounds.loc[(*q, s), ["low", "high"]] if (*q, s) in bounds.index else (0, 0)
            np.testing.assert_allclose(low_and_high[:, i, j], list(expected), atol=1e-9)


def test_the_groups_with_the_largest_probabilities_are_shown():
    """If there are more groups than are shown, those with the largest probability come first."""
    model = mx.MaxEnt(RELEASE).add(NONE)
    table = model.solve().conditional()
    assert answered(model, None, 20, 60.0).shown.equals(table)
    two = answered(model, None, 2, 60.0)
    assert two.shown.index[0] == ("female", "junior")
    assert two.shown.max(axis=1).min() >= table.drop(two.shown.index).to_numpy().max()


def test_contradictions_name_what_clashes():
    """Each conflicting statement is named with what the others permit, or the release if it is alone."""
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


def test_a_solve_that_is_not_finished_in_time_is_a_message():
    head, _ = contradiction(answered(mx.MaxEnt(RELEASE).add(MEN == 0.3), None, 20, 0.0))
    assert head.startswith("There is no answer: ")


def test_convex_knowledge():
    """A convex constraint has intervals, and is among the statements of a contradiction."""
    import cvxpy as cp

    convex = mx.MaxEnt(RELEASE).add(lambda space: cp.sum_squares(space.p) <= 0.045, label="spread")
    narrow, wide = (answered(model, None, 20, 60.0) for model in (convex, mx.MaxEnt(RELEASE)))
    assert np.ptp(narrow.interval, axis=0).sum() < np.ptp(wide.interval, axis=0).sum() - 0.1
    assert "interval of all values" in heat_map(narrow, 0.8)
    _, items = contradiction(answered(convex.copy().add(MEN == 0.5), None, 20, 60.0))
    assert any("spread" in item for item in items)


def test_the_verdict_compares_with_the_start():
    """The verdict has the divergence, if the truth is known, and the exposed people, now and at the start."""
    before = answered(mx.MaxEnt(RELEASE), HOSPITAL, 20, 60.0)
    after = answered(mx.MaxEnt(RELEASE).add(NONE), HOSPITAL, 20, 60.0)
    bits = [f"{mx.measures.overall_divergence(a.post, HOSPITAL):.3f} bits" for a in (after, before)]
    divergence = f"Divergence from the truth: {bits[0]}, {bits[1]} at the start"
    assert verdict(after, before, 0.8, 0.8)[0].startswith(divergence)
    unmoved = verdict(before, before, 0.8, 0.8)
    assert "at the start" not in " ".join(unmoved)
    assert len(unmoved) == len(verdict(answered(mx.MaxEnt(RELEASE), None, 2, 60), before, 0.8, 0.8)) + 1


def test_labels_are_text_and_no_markup():
    """Markup in the names of values is escaped."""
    strange = HOSPITAL.replace({"Gender": {"male": "<b>male</b>"}, "Disease": {"Flu": "<script>alert(1)</script>"}})
    release = mx.Release.from_buckets(strange, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    page = heat_map(answered(mx.MaxEnt(release), None, 20, 60.0), 0.8)
    assert "<script" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_old_heat_maps_and_exposed_cells_are_marked():
    """A heat map of an earlier answer is marked; cells from the threshold on are framed."""
    answer = answered(mx.MaxEnt(RELEASE).add(NONE), None, 20, 60.0)
    assert "maxent-old" not in heat_map(answer, 0.8)
    assert "maxent-old" in heat_map(answer, 0.8, is_current=False)
    overall = HOSPITAL["Disease"].value_counts(normalize=True)
    for threshold in (0.8, 0.4, 0.25, 0.15):
        counts = [s for s in answer.shown.columns if overall[s] < threshold]
        framed = heat_map(answer, threshold).count('class="maxent-exposed"')
        assert framed == (answer.shown[counts].to_numpy() >= threshold).sum()


def test_groups_with_a_frame_are_the_exposed_people():
    """Frames agree with the verdict, also at P = 0.4 up to rounding, and at the baseline P0 = 0.3 up to rounding."""
    answer = answered(mx.MaxEnt(RELEASE).add(MEN == 0.4), None, 20, 60.0)
    for threshold in (0.4, 0.3 + 1e-12):
        framed = [row for row in heat_map(answer, threshold).split("<tr>") if "maxent-exposed" in row]
        people = sum(int(re.search(r'"people">(\d+)', row)[1]) for row in framed)
        assert people == answer.exposure(threshold).people > 0


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1, 1, "certain"),
        (0.996, 0.996, "exactly"),
        (0.9925, 0.9965, ".99&ndash;&gt;.99"),
        (0.9955, 1, "&gt;.99&ndash;1"),
        (0, 0.004, "0&ndash;&lt;.01"),
    ],
)
def test_certain_and_exact_values_have_one_value_only(low, high, text):
    """Only P = 1 is certain, and a value is exact if no other value is possible."""
    assert _interval(low, high) == f"<small>{text}</small>"


@pytest.mark.parametrize(
    ("p", "text"), [(0, "0"), (1, "1"), (0.25, ".25"), (0.001, "&lt;.01"), (0.999, "&gt;.99"), (1 - 1e-12, "1")]
)
def test_only_zero_and_one_look_like_it(p, text):
    """A probability that is not quite 0 or 1 is not written as 0 or 1."""
    assert short(p) == text


def taken_apart(model, original=HOSPITAL, chosen=None, min_support=2):
    """The assumptions of a model."""
    return assumptions_of(model, original, 0.8, min_support, chosen)


def test_at_the_start_it_is_the_model():
    """Without any moved control the knowledge is that of the model, with K and functions in it."""
    model = mx.MaxEnt(RELEASE).add(MEN == 0.3).add(lambda space: space.prob("HIV") <= 0.5, label="own")
    model.add(mx.StrongestAssociations(HOSPITAL, 0, 2))
    parts = taken_apart(model)
    assert list(parts.model_at(parts.start).knowledge) == list(model.knowledge)
    assert (parts.start.positive, parts.start.negative) == (0, 2)
    assert list(parts.adjustable) == ["P(Flu | Gender=male) = 0.3"]
    assert list(parts.others) == ["own"]


def test_the_statements_with_sliders():
    """The first twenty statements have sliders, or those that are named; the others can be known or not."""
    model = mx.MaxEnt(RELEASE).add(*(MEN.between(0, 0.5 + i / 100) for i in range(MOST_STATEMENTS + 1)))
    last = list(model.knowledge)[-1]
    assert last in taken_apart(model).others
    assert list(taken_apart(model, chosen=[last]).adjustable) == [last]
    with pytest.raises(mx.UnknownName, match="rumour"):
        taken_apart(model, chosen=["rumour"])


@pytest.mark.parametrize("patience", [0, 16])
def test_consistent_knowledge_has_its_answer(monkeypatch, patience):
    """The answer is the same if the solve takes so long that consistency is checked."""
    monkeypatch.setattr(solving, "PATIENCE", patience)
    model = mx.MaxEnt(RELEASE).add(MEN == 0.3)
    np.testing.assert_array_equal(solved(model, 60.0).counts, model.solve().counts)


def run(parts, state, **names):
    """Run the code of a state, and compare its answer with that of the state's model."""
    variables = {"release": parts.model.view, "original": HOSPITAL, "explored": parts.model, **names}
    exec(typed(parts, state), variables)
    np.testing.assert_allclose(variables["post"].counts, parts.model_at(state).solve().counts, atol=1e-9)
    return variables["model"]


def test_all_kinds_of_knowledge():
    """The code has statements with and without labels, soft ones, functions, and K, without what is not known."""
    model = mx.MaxEnt(RELEASE).add(MEN.about(0.3, eps=0.05), "P(HIV) ~ 0.2 +- 0.05").add("P(Flu) <= 0.5", label="own")
    model.add(lambda space: space.conditional("s", given="q") <= 1, label="shares")
    parts = taken_apart(model)
    run(parts, parts.start)
    moved = parts.start.moved("own", value=0.4).moved("0.25 <= P(Flu | Gender=male) <= 0.35", known=False)
    assert {"own", "shares"} < set(run(parts, replace(moved, positive=1, negative=2)).knowledge)


@pytest.mark.parametrize("is_mined", [False, True])
def test_associations_of_the_model(is_mined):
    """Associations of the model are taken from it, with their support, or as they were mined."""
    associations = mx.StrongestAssociations(HOSPITAL, 1, 1, min_support=2)
    if is_mined:
        mined = mx.mine_associations(HOSPITAL, qi=["Gender", "Degree"], sa="Disease", min_support=2)
        associations = mx.StrongestAssociations(mined, 1, 1)
    parts = taken_apart(mx.MaxEnt(RELEASE).add(associations), None, min_support=3)
    run(parts, parts.start)
    run(parts, replace(parts.start, positive=2, negative=4))
    assert len(run(parts, replace(parts.start, positive=0, negative=0)).knowledge) == 0


def test_named_people_are_an_argument_of_the_code():
    parts = taken_apart(mx.MaxEnt(RELEASE, people=IRIS).add("P(HIV | Iris) = 0.2"), None)
    run(parts, parts.start.moved("P(HIV | Iris) = 0.2", value=0.3), people=IRIS)


def test_statements_that_no_text_can_express():
    """A statement about identifiers of a class that no text is read as is taken from the model."""
    numbered = HOSPITAL.assign(Degree=HOSPITAL["Bucket"].map(lambda n: uuid.UUID(int=n)))
    release = mx.Release.from_buckets(numbered, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    about = P("HIV", given={"Degree": numbered["Degree"][0]})
    for statement, moved in (
        (about <= 0.9, {"value": 0.2}),
        (about.softly(0.4, sd=0.05, delta=0.1), {"value": 0.1, "vagueness": 0.01}),
    ):
        parts = taken_apart(mx.MaxEnt(release).add(statement), None)
        assert "explored.knowledge[" in typed(parts, parts.start)
        run(parts, parts.start)
        run(parts, parts.start.moved(*parts.adjustable, **moved))
