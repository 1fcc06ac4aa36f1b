"""Sources of one's own: their rows, and the label of one that gives itself none, its class and arguments."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import MaxEnt, Source


class AtMost(Source):
    """P(s | q) <= limit for every q and s."""

    def __init__(self, limit, other=None, *, word=""):
        self.limit, self.other, self.word = limit, other, word

    def rows(self, space):
        yield space.conditional("s", given="q") <= self.limit


class Private(AtMost):
    """The argument is kept with an underscore."""

    def __init__(self, cap):
        super().__init__(cap)
        self._cap = cap


@dataclass(frozen=True)
class AtLeast(Source):
    """P(value | male) >= least: a dataclass that emits a statement."""

    value: str
    least: float
    word: str = field(default="x", kw_only=True)

    def rows(self, space):
        return [mx.P(self.value, given={"Gender": "male"}) >= self.least]


class ByConstructor(AtMost):
    """A label that the constructor sets."""

    def __init__(self, limit):
        super().__init__(limit)
        self.label = f"at most {limit:.1%}"


class ByProperty(AtMost):
    """A label that is computed."""

    @property
    def label(self):
        return f"cap {self.limit}"


def test_labels():
    """A label has class and arguments, but no defaults, no data, and nothing that differs from run to run."""
    for source, label in [
        (AtMost(0.4), "AtMost(0.4)"),
        (AtMost(limit=np.float64(0.4)), "AtMost(0.4)"),
        (AtMost(0.4, word="b"), "AtMost(0.4, word='b')"),
        (Private(0.4), "Private(0.4)"),
        (AtLeast("Flu", 0.4), "AtLeast('Flu', 0.4, word='x')"),
        (AtLeast("Flu", 0.4, word="y"), "AtLeast('Flu', 0.4, word='y')"),
        (ByConstructor(0.4), "at most 40.0%"),
        (ByProperty(0.4), "cap 0.4"),
        (AtMost(pd.DataFrame({"Name": ["Alice"]})), "AtMost(DataFrame)"),
        (AtMost(object()), "AtMost(object)"),
        (AtMost(lambda space: space), "AtMost(lambda)"),
        (AtMost(len), "AtMost(len)"),
    ]:
        assert source.label == label
        assert copy.deepcopy(source).label == label
    for source in (ByConstructor(0.4), AtLeast("Flu", 0.4)):
        assert pickle.loads(pickle.dumps(source)).label == source.label


def test_two_of_one_class(release):
    """Sources of one class with other parameters are in one model side by side, and equal ones once."""
    with pytest.warns(mx.RepeatedStatement):
        model = MaxEnt(release).add(AtMost(0.6), AtMost(limit=0.55), AtMost(0.55), AtLeast("Flu", 0.35))
    assert list(model.knowledge) == ["AtMost(0.6)", "AtMost(0.55)", "AtLeast('Flu', 0.35, word='x')"]
    post = model.solve()
    assert post.conditional().max(axis=None) <= 0.55 + 1e-9
    assert post.prob("Flu", given={"Gender": "male"}) >= 0.35 - 1e-9
    assert post.prices().index.is_unique


def test_rows_of_several_blocks(release):
    """A source with several blocks of rows has its label before their names."""

    class Two(AtMost):
        def rows(self, space):
            yield space.marginal("s") <= 0.9
            yield mx.P("Flu", given={"Gender": "male"}) <= 0.9

    names = MaxEnt(release).add(Two(1)).solve().prices().index
    assert {"Two(1), P(Disease): Flu", "Two(1), P(Flu | Gender=male) <= 0.9"} <= set(names)
