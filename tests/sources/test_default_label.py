"""The label of a source that gives itself none: its class and the arguments of its constructor."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import MaxEnt, Source
from support.helpers import refused


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
class Data(Source):
    """A dataclass."""

    limit: float
    word: str = field(default="x", kw_only=True)

    def rows(self, space):
        yield space.conditional("s", given="q") <= self.limit


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


LABELS = [
    (lambda: AtMost(0.4), "AtMost(0.4)"),
    (lambda: AtMost(limit=np.float64(0.4)), "AtMost(0.4)"),
    (lambda: AtMost(0.4, word="b"), "AtMost(0.4, word='b')"),
    (lambda: Private(0.4), "Private(0.4)"),
    (lambda: Data(0.4), "Data(0.4, word='x')"),
    (lambda: Data(0.4, word="y"), "Data(0.4, word='y')"),
    (lambda: ByConstructor(0.4), "at most 40.0%"),
    (lambda: ByProperty(0.4), "cap 0.4"),
    (lambda: AtMost(pd.DataFrame({"Name": ["Alice"]})), "AtMost(DataFrame)"),
    (lambda: AtMost(object()), "AtMost(object)"),
    (lambda: AtMost(lambda space: space), "AtMost(lambda)"),
    (lambda: AtMost(len), "AtMost(len)"),
]


@pytest.mark.parametrize(("make", "label"), LABELS, ids=[label for _, label in LABELS])
def test_label(make, label):
    """Class and arguments, but for defaults; no data, and nothing that differs from run to run; copies have it, too."""
    assert make().label == label
    assert copy.deepcopy(make()).label == label


@pytest.mark.parametrize("source", [ByConstructor(0.4), Data(0.4)])
def test_pickle(source):
    """What is read again has the label."""
    assert pickle.loads(pickle.dumps(source)).label == source.label


def test_the_same_again(release):
    """The same class with the same parameters is the same knowledge, and is held once."""
    with pytest.warns(mx.RepeatedStatement):
        model = MaxEnt(release).add(AtMost(0.4), AtMost(limit=0.4))
    assert list(model.knowledge) == ["AtMost(0.4)"]


def test_one_label_for_different_rows(release):
    """Two whose labels are the same, and whose rows are not, are refused."""

    class Unset(AtMost):
        def __init__(self, cap):
            self.limit = cap

    model = MaxEnt(release).add(Unset(0.4))
    with refused(mx.DuplicateLabel, "'Unset'"):
        model.add(Unset(0.3))
    assert list(model.add(Unset(0.45), label="higher").knowledge) == ["Unset", "higher"]


def test_rows_of_several_blocks(release):
    """A source with several blocks of rows has its label before their names."""

    class Two(AtMost):
        def rows(self, space):
            yield space.marginal("s") <= 0.9
            yield mx.P("Flu", given={"Gender": "male"}) <= 0.9

    names = MaxEnt(release).add(Two(1)).solve().prices().index
    assert "Two(1), P(Disease): Flu" in names
    assert "Two(1), P(Flu | Gender=male) <= 0.9" in names
