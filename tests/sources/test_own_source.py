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
    """Class and arguments, but for defaults; no data, and nothing that differs from run to run; copies have it, too."""
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


def test_one_label_for_several_sources(release):
    """The same class with the same parameters is held once; if the rows differ, the second is refused."""
    with pytest.warns(mx.RepeatedStatement):
        model = MaxEnt(release).add(AtMost(0.4), AtMost(limit=0.4))
    assert list(model.knowledge) == ["AtMost(0.4)"]

    class Unset(AtMost):
        def __init__(self, cap):
            self.limit = cap

    model = MaxEnt(release).add(Unset(0.4))
    with refused(mx.DuplicateLabel):
        model.add(Unset(0.3))
    assert list(model.add(Unset(0.45), label="higher").knowledge) == ["Unset", "higher"]


def test_twice_in_one_model(release, tmp_path):
    """Two of one class, with other parameters, are held, solved with, priced and saved side by side."""
    model = MaxEnt(release).add(AtMost(0.6), AtMost(0.55), AtLeast("Flu", 0.35), AtLeast("HIV", 0.1))
    post = model.solve()
    assert len(model.knowledge) == 4
    assert post.conditional().max(axis=None) <= 0.55 + 1e-9
    assert post.prob("Flu", given={"Gender": "male"}) >= 0.35 - 1e-9
    assert post.prices().index.is_unique
    post.save(tmp_path / "post.parquet")
    np.testing.assert_array_equal(mx.load_posterior(tmp_path / "post.parquet").counts, post.counts)


def test_rows_of_several_blocks(release):
    """A source with several blocks of rows has its label before their names."""

    class Two(AtMost):
        def rows(self, space):
            yield space.marginal("s") <= 0.9
            yield mx.P("Flu", given={"Gender": "male"}) <= 0.9

    names = MaxEnt(release).add(Two(1)).solve().prices().index
    assert {"Two(1), P(Disease): Flu", "Two(1), P(Flu | Gender=male) <= 0.9"} <= set(names)


def test_contract(release, hospital):
    """A source keeps what every source promises on data of which it is true, and fails where it is false."""
    space = MaxEnt(release).space
    mx.testing.check_source(AtLeast("Flu", 0.5), space, truth=hospital)
    with pytest.raises(AssertionError):
        mx.testing.check_source(AtMost(0.4), space, truth=hospital)
