"""Measures, wherever they are arguments: functions of the posterior that return a number, or several by name."""

from __future__ import annotations

from functools import partial, wraps
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import MaxEnt, StatementError
from maxent_cvx.model.measure import Measures
from support.helpers import refused

MEN = {"Gender": "male"}


def flu(post):
    return post.prob("Flu", MEN)


@wraps(flu)
def wrapped(post):
    return flu(post)


class Scaled:
    """An object that is called, and has methods."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, post):
        return self.factor * flu(post)

    def method(self, post):
        return self.factor * flu(post)

    @staticmethod
    def fixed(post):
        return flu(post)


@pytest.fixture
def model(release) -> MaxEnt:
    return MaxEnt(release).add("P(Flu | Gender=male) <= 0.3", "P(HIV | Gender=male) = 0.2")


#: The three places that take a measure; each is a table, made of a model and a measure.
PLACES = {
    "quantify": lambda model, measure: mx.quantify(
        model.view, mx.datasets.load_hospital(), [(0, 0), (1, 1)], min_support=1, measure=measure
    ),
    "sweep": lambda model, measure: mx.sweep(model, "P(HIV | Gender=male)", value=[0.1, 0.2], measure=measure),
    "prices": lambda model, measure: model.solve().prices(leave_one_out=True, measure=measure),
}


@pytest.fixture(params=PLACES)
def place(request, model):
    return partial(PLACES[request.param], model)


def test_names():
    """The name of a measure is that of the function, also inside a partial one, or of the class of an object."""
    for measure, name in [
        (flu, "flu"),
        (wrapped, "flu"),
        (partial(flu), "flu"),
        (partial(partial(Scaled(1).method)), "method"),
        (lambda post: flu(post), "measure"),
        (partial(lambda post: flu(post)), "measure"),
        (Scaled(1), "Scaled"),
        (Scaled.fixed, "fixed"),
        (attrgetter("entropy"), "attrgetter"),
        (max, "max"),
    ]:
        assert list(Measures.of([measure] * 3).functions) == [name, f"{name} (2)", f"{name} (3)"]
        assert list(Measures.of({"mine": measure}).functions) == ["mine"]


def test_what_is_no_number(place):
    """A measure whose value is not a number is refused."""
    for given in (None, "0.3", True, 1j, [0.3], np.array([1.0]), pd.NA, {}, pd.Series(dtype=float)):
        with refused(StatementError):
            place({"fine": flu, "mine": lambda post, given=given: given})


def test_what_a_measure_raises(place):
    """An error raised by a measure is not changed, and a note names the measure."""

    def broken(post):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as raised:
        place({"fine": flu, "mine": broken})
    assert any("mine" in note for note in raised.value.__notes__)


def test_nothing_is_solved_for_a_wrong_measure(monkeypatch, model):
    """A measure that cannot be called with a posterior alone is refused before the first solve, which may be long."""
    post = model.solve()
    monkeypatch.setattr(MaxEnt, "solve", lambda *given, **options: pytest.fail("it was solved"))
    for measure in (5, lambda: 1.0, lambda post, x, y: 1.0, lambda post, *, scale: 1.0):
        for name in ("quantify", "sweep"):
            with refused(StatementError):
                PLACES[name](model, measure)
        with refused(StatementError):
            post.prices(leave_one_out=True, measure=measure)
