"""The label of a source that gives itself none, and how rows are called by it."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import MaxEnt, Source
from support.helpers import refused


class Own(Source):
    """P(s | q) <= limit for every q and s."""

    def rows(self, space):
        yield space.conditional("s", given="q") <= getattr(self, "limit", 0.5)


class Plain(Own):
    """What is given has the names of attributes, or none."""

    def __init__(self, limit, other=None, *more, word="", **rest):
        self.limit = limit


class Private(Own):
    """What is given is kept otherwise."""

    def __init__(self, limit):
        self._cap = limit * 100


@dataclass
class Data(Own):
    """A dataclass."""

    limit: float
    other: object = None
    hidden: object = dataclasses.field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Frozen(Own):
    """A frozen one, with slots."""

    limit: float
    word: str = dataclasses.field(default="x", kw_only=True)


class Child(Plain):
    """A constructor that calls another."""

    def __init__(self, half):
        super().__init__(half * 2)


class OfData(Data):
    """One more, whose constructor is that of a dataclass."""


@dataclass
class DataOfPlain(Plain):
    """A dataclass of a class that is none."""

    share: float


class Unset(Own):
    """What is given is not kept."""

    def __init__(self, limit):
        pass


class ByConstructor(Own):
    """A label that is set."""

    def __init__(self, limit):
        self.limit, self.label = limit, f"at most {limit:.1%}"


class ByAttribute(Own):
    """A label of the class."""

    label = "cap"

    def __init__(self, limit):
        self.limit = limit


class ByProperty(Own):
    """A label that is computed."""

    def __init__(self, limit):
        self.limit = limit

    @property
    def label(self):
        return f"cap {self.limit}"


@dataclass
class ByField(Own):
    """A label among the fields."""

    limit: float
    label: str


MADE = [
    (lambda: Own(), "Own"),
    (lambda: Plain(0.4), "Plain(0.4)"),
    (lambda: Plain(limit=0.4), "Plain(0.4)"),
    (lambda: Plain(np.float64(0.4)), "Plain(0.4)"),
    (lambda: Plain(0.4, None, 1, 2, word="a"), "Plain(0.4, None, 1, 2, word='a')"),
    (lambda: Plain(0.4, word="b", extra=True), "Plain(0.4, word='b', extra=True)"),
    (lambda: Private(0.4), "Private(0.4)"),
    (lambda: Unset(0.4), "Unset(0.4)"),
    (lambda: Child(0.2), "Child(0.2)"),
    (lambda: Data(0.4), "Data(0.4, None)"),
    (lambda: OfData(0.4, 3), "OfData(0.4, 3)"),
    (lambda: DataOfPlain(0.4), "DataOfPlain(0.4)"),
    (lambda: Frozen(0.4), "Frozen(0.4, word='x')"),
    (lambda: Frozen(0.4, word="y"), "Frozen(0.4, word='y')"),
    (lambda: dataclasses.replace(Data(0.4), limit=0.3), "Data(0.3, None)"),
    (lambda: dataclasses.replace(Frozen(0.4), limit=0.3), "Frozen(0.3, word='x')"),
    (lambda: ByConstructor(0.4), "at most 40.0%"),
    (lambda: ByAttribute(0.4), "cap"),
    (lambda: ByProperty(0.4), "cap 0.4"),
    (lambda: ByField(0.4, "my own"), "my own"),
    (lambda: ByField(0.4), "ByField(0.4)"),
]


@pytest.mark.parametrize(("make", "label"), MADE, ids=[label for _, label in MADE])
def test_label(make, label):
    """A label tells the class and the arguments as they were given; one's own comes before it, however it is given."""
    assert make().label == label
    assert make().label == label  # the same again


class Loud:
    """What cannot be written."""

    def __repr__(self):
        raise RuntimeError("cannot be written")


class Bare:
    """What tells its address only."""


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (np.zeros((1000, 3)), "ndarray of 1000 x 3"),
        (pd.DataFrame({"Name": ["Alice"]}), "DataFrame of 1 x 1"),
        ([pd.Series([1, 2])] * 2, "[Series of 2, Series of 2]"),
        (list(range(10**6)), "[0, 1, 2, 3, ...]"),
        ({"Age": 3, "Sex": "F"}, "{'Age': 3, 'Sex': 'F'}"),
        ({1, 2}, "{1, 2}"),
        (Loud(), "Loud"),
        (Bare(), "Bare"),
        (Bare, "Bare"),
        (len, "len"),
        (lambda space: space, "lambda"),
        (functools.partial(len), "partial len"),
        (True, "True"),
        ("two\nlines", r"'two\nlines'"),
        ([[[[[[1]]]]]], "[[[[[...]]]]]"),
    ],
)
def test_written(value, written):
    """Data are told by kind and size, long values are cut, and nothing depends on where an object is in memory."""
    assert Plain(value).label == f"Plain({written})"
    assert Data(value).label == f"Data({written}, None)"


def test_long_values():
    """A long text or a number of thousands of digits does not make a long label."""
    assert len(Plain("x" * 10_000).label) < 60
    assert len(Plain(10**5000).label) < 60
    assert len(Plain(object, Data("y" * 100)).label) < 90


def test_what_was_given_when_it_was_made():
    """What happens to an argument later does not change the label, by which a model holds the source."""
    members = [1, 2]
    source = Plain(members)
    members.append(3)
    source.limit = 0.1
    assert source.label == "Plain([1, 2])"


@pytest.mark.parametrize(
    "make", [lambda: Plain(0.4), lambda: Data(0.4), lambda: Frozen(0.4), lambda: ByConstructor(0.4)]
)
def test_copies(make):
    """A copy has the label, and so has what was written to a file and read."""
    for twin in (copy.copy(make()), copy.deepcopy(make()), pickle.loads(pickle.dumps(make()))):
        assert twin.label == make().label


def test_constructors_stay_as_they_are():
    """Signature, docstring and errors of a constructor are the author's; two dataclasses are equal by their fields."""
    assert str(inspect.signature(Plain)) == "(limit, other=None, *more, word='', **rest)"
    assert str(inspect.signature(Child)) == "(half)"
    with pytest.raises(TypeError):
        Private()
    assert Data(0.4) == Data(0.4)
    assert Frozen(0.4) != Frozen(0.3)
    assert len({Frozen(0.4), Frozen(0.4)}) == 1


def test_the_packages_own_labels_stay():
    """What the package brings has the labels that it had."""
    rules = [({"Gender": "male"}, "Flu", 0.5)]
    assert mx.PublishedRuleList(rules).label == "list of 1 rules"
    assert mx.SameValue("Alice", "Bob").label == "Alice and Bob alike with P >= 0.5"
    assert (mx.P("Flu") <= 0.3).label == "P(Flu) <= 0.3"


@pytest.mark.parametrize("kind", [Plain, Private, Data, Frozen, ByConstructor, ByProperty])
def test_two_in_one_model(release, kind):
    """Two of one class with other parameters are apart by label, in every table, and either can be taken out."""
    model = MaxEnt(release).add(kind(0.4), kind(0.405))
    first, second = (kind(limit).label for limit in (0.4, 0.405))
    assert list(model.knowledge) == [first, second]
    assert model.describe().index.tolist()[1:] == [first, second]
    prices = model.solve().prices()
    assert prices.index.is_unique
    assert {name.partition(": ")[0] for name in prices.index} == {first, second}
    assert list(model.remove(first).knowledge) == [second]


def test_the_same_again(release):
    """The same class with the same parameters is the same knowledge, and is held once."""
    with pytest.warns(mx.RepeatedStatement, match=r"Plain\(0.4\)"):
        model = MaxEnt(release).add(Plain(0.4), Plain(limit=0.4))
    assert list(model.knowledge) == ["Plain(0.4)"]


def test_what_an_abbreviation_does_not_tell_apart(release):
    """Two whose labels are the same, and which say other things, are refused with a way out: nothing is ambiguous."""

    class Ceilings(Own):
        def __init__(self, limits):
            self.limit = float(limits.max())

    model = MaxEnt(release).add(Ceilings(np.array([0.4, 0.1])))
    with refused(mx.DuplicateLabel, "'Ceilings(ndarray of 2)'"):
        model.add(Ceilings(np.array([0.3, 0.1])))
    model.add(Ceilings(np.array([0.45, 0.1])), label="higher")
    assert list(model.knowledge) == ["Ceilings(ndarray of 2)", "higher"]


def test_rows_of_several_blocks(release):
    """A source that says several things has its label before the names that these have."""

    class Two(Own):
        def rows(self, space):
            yield space.marginal("s") <= 0.9
            yield mx.P("Flu", given={"Gender": "male"}) <= 0.9

    names = MaxEnt(release).add(Two()).solve().prices().index
    assert "Two, P(Disease): Flu" in names
    assert "Two, P(Flu | Gender=male) <= 0.9" in names
