"""What of a statement can be moved, and what is then said."""

from __future__ import annotations

import pytest

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx.explorer.state import Scale, Setting, adjustable

MEN = P("Flu", given={"Gender": "male"})


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


@pytest.mark.parametrize(
    ("scale", "step"),
    [
        (Scale.of(0, 1), 0.01),
        (Scale.of(0, 1, 0.3), 0.01),
        (Scale.of(0, 1, 0.177), 0.001),
        (Scale.of(0, 1, 1 / 3), 0.0001),
        (Scale.of(0, 3), 0.01),
        (Scale.of(1, 50), 0.1),
        (Scale.of(0, 20_000), 100),
    ],
)
def test_steps(scale, step):
    """A slider has a step that is a power of ten, and a finer one if the value as typed needs it, up to a limit."""
    assert scale.step == pytest.approx(step)


def test_a_scale_stays_inside():
    """No step of a slider is a value that cannot be attained."""
    scale = Scale.of(-1 / 3, 2 / 3)
    assert (scale.low, scale.high) == (-0.33, 0.66)
