"""Sources that are disjunctions: whole assignments are asked about under each of the things that can be meant."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import NotDecided, P, PublishedQuantile
from support.helpers import refused


class OneOrTheOther(mx.Source):
    """P(s) = 0 or P(s) = 1: nobody has the value, or everybody."""

    def __init__(self, value):
        self.value = value

    def rows(self, space):
        """All that is linear of it: nothing but that it is a probability."""
        yield space.marginal("s").loc[[self.value]] <= 1

    def alternatives(self, space):
        """Nobody, or everybody."""
        return [[space.marginal("s").loc[[self.value]] == share] for share in (0, 1)]


@pytest.fixture
def view():
    """Three people and three values."""
    return mx.QITable(pd.DataFrame({"q": [1, 2, 3]}), qi="q", sa="s", sa_values=["a", "b", "c"])


def test_own_disjunction(view):
    """A source of one's own says what it can mean; with at least one of a, all have a, and nobody b."""
    model = mx.MaxEnt(view).add(OneOrTheOther("a"))
    assert model.bounds(P("a"), integer=True) == (0, 1)
    model.add(P("a") >= 1 / 3)
    assert model.bounds([P("a"), P("b")], integer=True).to_numpy().tolist() == [[1, 1], [0, 0]]
    assert model.bounds(P("b"))[1] == pytest.approx(2 / 3, abs=1e-6)  # of distributions, its rows say less
    assert len(model.knowledge) == 2  # asking leaves the model as it was
    with refused(mx.Infeasible):
        model.add(P("a") <= 0.5).bounds(P("b"), integer=True)


def test_two_disjunctions(view):
    """Every combination is tried; those that contradict each other are left out."""
    model = mx.MaxEnt(view).add(OneOrTheOther("a"), OneOrTheOther("b"), P("c") <= 0.5)
    table = model.bounds([P("a"), P("b"), P("a") + P("b"), P("c")], integer=True)
    np.testing.assert_array_equal(table.to_numpy(), [[0, 1], [0, 1], [1, 1], [0, 0]])


def test_too_many(view):
    """There is a limit to the combinations that are tried, and it is told."""
    people = pd.DataFrame({"x": np.arange(40), "group": np.repeat(np.arange(10), 4)})
    many = mx.QITable(people, qi=["x", "group"], sa="s", sa_values=[1, 2, 3])
    model = mx.MaxEnt(many).add(*(PublishedQuantile(2, given={"group": i}) for i in range(10)))
    with refused(NotDecided, "median given group=0 is 2"):
        model.bounds(P(2), integer=True)
