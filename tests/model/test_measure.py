"""What a measure is, wherever one is taken: a function of the posterior that gives a number, or several by name."""

from __future__ import annotations

import traceback
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


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        (flu, "flu"),
        (wrapped, "flu"),
        (partial(flu), "flu"),
        (partial(partial(Scaled(1).method)), "method"),
        (lambda post: flu(post), "measure"),
        (partial(lambda post: flu(post)), "measure"),
        (Scaled(1), "Scaled"),
        (Scaled(1).method, "method"),
        (Scaled.fixed, "fixed"),
        (attrgetter("entropy"), "attrgetter"),
        (max, "max"),
    ],
)
def test_names(measure, name):
    """A function is called by its name, a partial one by that of what is inside, an object by that of its class."""
    assert list(Measures.of([measure]).functions) == [name]
    assert list(Measures.of([measure, measure, measure]).functions) == [name, f"{name} (2)", f"{name} (3)"]
    assert list(Measures.of({"mine": measure}).functions) == ["mine"]


@pytest.mark.parametrize(
    "given",
    [None, "0.3", True, 1j, [0.3], np.array([1.0]), pd.NA, {}, pd.Series(dtype=float)],
)
def test_what_is_no_number(place, given):
    """What is no number is refused by the name of its measure, with the step it was found at."""
    with refused(StatementError, "number"):
        place({"fine": flu, "mine": lambda post: given})


@pytest.mark.parametrize(
    ("measure", "says"),
    [
        (lambda: 1.0, "a function of the posterior is expected"),
        (lambda post, scale, unit: 1.0, "functools.partial(measure, scale=..., unit=...)"),
        (lambda post, *, scale: 1.0, "functools.partial(measure, scale=...)"),
    ],
)
def test_what_else_a_measure_needs(place, measure, says):
    """What cannot be called with a posterior alone is refused, with what is to be bound."""
    with refused(StatementError, says):
        place(measure)


class Broken(Exception):
    """What a user's own function raises."""


def broken(post):
    raise Broken("no disk")


@pytest.mark.parametrize(
    ("name", "where"),
    [("quantify", "with K+ = 0, K- = 0"), ("sweep", "with value = 0.1, eps = 0"), ("prices", "of all that is known")],
)
def test_what_a_measure_raises(name, where, model):
    """An error of the user's own stays what it is, and says in a note which measure it was, and of what."""
    with pytest.raises(Broken) as raised:
        PLACES[name](model, {"fine": flu, "mine": broken})
    assert f"raised by the measure 'mine', {where}" in "".join(traceback.format_exception(raised.value))


def test_nothing_is_solved_for_a_wrong_measure(monkeypatch, model):
    """A measure that cannot be called is told before the first solve, which may take an hour."""
    post = model.solve()
    monkeypatch.setattr(MaxEnt, "solve", lambda *given, **options: pytest.fail("it was solved"))
    for measure in (5, lambda: 1.0, lambda post, x, y: 1.0):
        for name in ("quantify", "sweep"):
            with pytest.raises(StatementError):
                PLACES[name](model, measure)
        with pytest.raises(StatementError):
            post.prices(leave_one_out=True, measure=measure)
