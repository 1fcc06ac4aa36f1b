"""A model taken apart into what can be moved and what stays, and put together again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx.explorer.state import MOST_STATEMENTS, assumptions_of

HOSPITAL = mx.datasets.load_hospital()
MEN = P("Flu", given={"Gender": "male"})


def release():
    """Ten patients in three buckets."""
    return mx.Release.from_buckets(HOSPITAL, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")


def taken_apart(model, original=HOSPITAL, chosen=None):
    """The assumptions of a model."""
    return assumptions_of(model, original, 0.8, 2, chosen)


def same(first, second):
    """Whether two models have the same answer."""
    return np.array_equal(first.solve().counts, second.solve().counts)


def test_at_the_start_it_is_the_model():
    """Controls that nobody has moved say what the model says, with K and functions in it."""
    model = mx.MaxEnt(release()).add(MEN == 0.3).add(lambda space: space.prob("HIV") <= 0.5, label="own")
    model.add(mx.StrongestAssociations(HOSPITAL, 0, 2))
    parts = taken_apart(model)
    assert list(parts.model_at(parts.start).knowledge) == list(model.knowledge)
    assert (parts.start.positive, parts.start.negative) == (0, 2)
    assert list(parts.adjustable) == ["P(Flu | Gender=male) = 0.3"]
    assert list(parts.others) == ["own"]


def test_moved_it_is_the_model_that_would_be_typed():
    """Values, K and what is known elsewhere make the model that somebody would type; the given one is left alone."""
    model = mx.MaxEnt(release()).add(MEN == 0.3).add("P(HIV) <= 0.5", label="own")
    parts, before = taken_apart(model), list(model.knowledge)
    state = parts.start.moved("P(Flu | Gender=male) = 0.3", value=0.4, vagueness=0.05).moved("own", known=False)
    typed = mx.MaxEnt(release()).add(MEN.about(0.4, eps=0.05), mx.StrongestAssociations(HOSPITAL, 0, 3, min_support=2))
    assert same(parts.model_at(replace(state, negative=3)), typed)
    assert list(model.knowledge) == before


def test_statements_may_come_to_say_the_same():
    """Two statements that swap their values, or have one value, are both said."""
    model = mx.MaxEnt(release()).add(MEN <= 0.3, label="a").add(MEN <= 0.4, label="b")
    parts = taken_apart(model)
    swapped = parts.start.moved("a", value=0.4).moved("b", value=0.3)
    assert same(parts.model_at(swapped), model)
    assert same(parts.model_at(parts.start.moved("a", value=0.4)), mx.MaxEnt(release()).add(MEN <= 0.4))
    plain = taken_apart(mx.MaxEnt(release()).add(MEN <= 0.3, MEN <= 0.4))
    at_once = plain.start.moved("P(Flu | Gender=male) <= 0.3", value=0.4).moved(
        "P(Flu | Gender=male) <= 0.4", value=0.5
    )
    assert list(plain.model_at(at_once).knowledge) == ["P(Flu | Gender=male) <= 0.4", "P(Flu | Gender=male) <= 0.5"]


def test_who_chooses_the_statements_with_sliders():
    """The first twenty by default, or those that are named; the others can be known or not."""
    model = mx.MaxEnt(release()).add(*(MEN.between(0, 0.5 + i / 100) for i in range(MOST_STATEMENTS + 1)))
    last = list(model.knowledge)[-1]
    assert last in taken_apart(model).others
    assert list(taken_apart(model, chosen=[last]).adjustable) == [last]
    with pytest.raises(mx.UnknownName, match="rumour"):
        taken_apart(model, chosen=["rumour"])


def test_how_many_associations_there_are():
    """K goes up to the number of associations that there are; without the records there are none to be known."""
    mined = mx.mine_associations(HOSPITAL, qi=["Gender", "Degree"], sa="Disease", min_support=2)
    assert taken_apart(mx.MaxEnt(release())).most == (len(mined.positive), len(mined.negative))
    assert taken_apart(mx.MaxEnt(release()), original=None).most == (0, 0)
    own = mx.MaxEnt(release()).add(mx.StrongestAssociations(mined, None, None))
    assert taken_apart(own, original=None).start.positive == len(mined.positive)
