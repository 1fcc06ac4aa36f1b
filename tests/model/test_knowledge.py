"""What a model takes for knowledge: statements, sources, rows, constraints, functions; and what it refuses."""

from __future__ import annotations

import cvxpy as cp
import pytest

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P, Source, StatementError, StrongestAssociations
from support.helpers import refused

FLU = P("Flu", given={"Gender": "male"})


@pytest.fixture
def model(release):
    """A model that knows nothing yet."""
    return MaxEnt(release)


class AtMost(Source):
    """P(s | q) <= limit for every q and s."""

    def __init__(self, limit):
        self.limit = limit

    def rows(self, space):
        yield space.conditional("s", given="q") <= self.limit


def several(space):
    yield space.prob("HIV") <= 0.3
    yield P("Flu") == 0.3
    yield space.marginal("s") <= 0.9


@pytest.mark.parametrize(
    ("function", "rows"),
    [
        (lambda space: space.marginal("s") <= 0.9, 5),
        (lambda space: P("Flu") == 0.3, 1),
        (lambda space: space.prob("HIV") <= 0.3, 1),
        (lambda space: [space.prob(value) <= 0.5 for value in ("HIV", "Flu")], 2),
        (lambda space: (space.prob(value) <= 0.5 for value in ("HIV", "Flu")), 2),
        (lambda space: cp.abs(space.prob("HIV") - 0.2) <= 0.1, 2),
        (lambda space: cp.exp(space.prob("HIV")) <= 1.3, 0),
        (lambda space: AtMost(0.9), 22),  # 27 terms, of which 5 pairs of q and s are in two buckets
        (several, 7),
    ],
)
def test_functions(model, function, rows):
    """A function of the space may return rows, a statement, a CVXPY constraint, a source, or several of them."""
    name = "your own" if function.__name__ == "<lambda>" else function.__name__
    model.add(function)
    assert list(model.knowledge) == [name]
    assert model.describe().loc[name, "rows"] == rows
    assert len(model.convex) == (rows == 0)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (None, "None"),
        (3, "3"),
        ("gossip", "'gossip'"),
        (FLU, "P(Flu | Gender=male)"),
        ([FLU == 0.3], "[<Statement"),
        (P, "'P' returns a Probability"),
        (StrongestAssociations, "StrongestAssociations"),
        (AtMost, "AtMost"),
    ],
)
def test_what_is_no_knowledge(model, said, found):
    """What says nothing about the terms is refused, with what was found; a class wants to be called."""
    with refused(StatementError, found, "expected"):
        model.add(said)
    assert model.knowledge == {}


def test_sources_that_emit_no_rows(model):
    """A source of one's own that returns nothing, or rows without a list, is named, and told what to emit."""
    for emitted in (None, 3, "text"):
        broken = type("Broken", (Source,), {"rows": lambda self, space, emitted=emitted: emitted})
        with pytest.raises(StatementError, match="Broken"):
            model.add(broken())
    bare = type("Bare", (Source,), {"rows": lambda self, space: space.marginal("s") <= 0.9})
    try:
        model.add(bare())
    except StatementError:
        assert model.knowledge == {}
    else:
        assert model.describe().loc["Bare", "rows"] == 5


def test_rows_of_a_release_with_as_many_terms(model, hospital):
    """Rows over as many terms in another order would be read by position: refused."""
    hospital["Disease"] = hospital["Disease"].replace("Flu", "Zoster")
    other = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    with refused(StatementError):
        model.add(mx.Space.of(other).marginal("s") <= 0.9)
