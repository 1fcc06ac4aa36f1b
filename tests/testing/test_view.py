"""One contract for all views: those of the package keep it, and whoever breaks it is told how."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import QITable, StatementError, TableError
from maxent_cvx.testing import check_view
from support.helpers import refused
from support.stored_views import KINDS

PEOPLE = pd.DataFrame({"Ward": ["A", "A", "B"], "Age": [20, 30, 30]})
VALUES = pd.Series({"Flu": 2, "HIV": 1})


@pytest.mark.parametrize("kind", KINDS)
def test_views_of_the_package(kind: str):
    """Every kind of view keeps its promises."""
    check_view(KINDS[kind]().view)


def test_truth(release: mx.Release, hospital: pd.DataFrame):
    """What a view says is true of the records that it was made of; others are refused."""
    check_view(release, truth=hospital)
    check_view(made(Table), truth=PEOPLE.assign(Disease=["Flu", "HIV", "Flu"]))
    with refused(TableError, "other counts by s than the QI table of 3 people"):
        check_view(made(Table), truth=PEOPLE.assign(Disease=["Flu", "HIV", "HIV"]))


class Table(QITable):
    """People and values, each with how many there are."""


def made(kind: type[QITable]) -> QITable:
    """Three people, two of whom have the flu."""
    return kind(PEOPLE, qi=["Ward", "Age"], sa="Disease", sa_distribution=VALUES)


def test_one_of_your_own():
    """A subclass that changes nothing keeps the promises."""
    check_view(made(Table))


NoDocstring = type("NoDocstring", (Table,), {"__doc__": None})


class NoNoun(Table):
    """Has no word for itself."""

    noun = ""


class NotCounts(Table):
    """Numbers that are not whole."""

    n_q = property(lambda self: np.ones(3))


class TooFew(Table):
    """A count too few."""

    n_s = property(lambda self: np.array([3]))


class Negative(Table):
    """A negative count."""

    n_s = property(lambda self: np.array([4, -1]))


class OtherAxes(Table):
    """The roles in another order."""

    axes = property(lambda self: dict(reversed(super().axes.items())))


class NoTerms(Table):
    """A person without a term."""

    def terms(self):
        return {role: codes[2:] for role, codes in super().terms().items()}


class Unsorted(Table):
    """Terms in another order."""

    def terms(self):
        return {role: codes[::-1] for role, codes in super().terms().items()}


class Twice(Table):
    """A term twice."""

    def terms(self):
        return {role: np.repeat(codes, 2) for role, codes in super().terms().items()}


class BeyondLabels(Table):
    """A code that no label has."""

    def terms(self):
        return {**super().terms(), "s": super().terms()["s"] + 1}


class Uneven(Table):
    """Codes of several lengths."""

    def terms(self):
        return {**super().terms(), "s": super().terms()["s"][1:]}


class Moody(Table):
    """Other terms each time."""

    asked = 0

    def terms(self):
        self.asked += 1
        found = super().terms()
        return {role: codes[self.asked % 2 :] for role, codes in found.items()}


class AddsUp(Table):
    """Published counts that are others than those of the values."""

    published = property(lambda self: {**super().published, ("s",): VALUES + 1})


class BelowZero(Table):
    """A negative published count."""

    published = property(lambda self: {**super().published, ("s",): VALUES - 2})


class Stranger(Table):
    """A published count of what is no value."""

    published = property(lambda self: {**super().published, ("s",): pd.Series({"Flu": 2, "Gout": 1})})


class WithoutTerm(Table):
    """Somebody who is counted where no term is."""

    def terms(self):
        found = super().terms()
        return {role: codes[found["s"] == 0] for role, codes in found.items()}


class WrongMarks(Table):
    """Marks of some QI tuples only."""

    def described(self, attribute, chosen):
        return np.array([True])


class Forgets(Table):
    """Comes back as its parent."""

    def to_frames(self):
        return {"people": PEOPLE}

    @classmethod
    def from_frames(cls, frames):
        return made(QITable)


class Stumbles(Forgets):
    """Cannot read what it has written."""

    @classmethod
    def from_frames(cls, frames):
        return frames["values"]


class Shrinks(Forgets):
    """Comes back with fewer people."""

    @classmethod
    def from_frames(cls, frames):
        twin = made(cls)
        twin._n_q = np.array([1, 1, 0])
        return twin


BROKEN = {
    NoDocstring: "no docstring",
    NoNoun: "noun is empty",
    NotCounts: "n_q must be an array of 3 whole numbers",
    TooFew: "n_s must be an array of 2 whole numbers",
    Negative: "n_s has a negative count",
    OtherAxes: "axes begin with",
    NoTerms: "none for 1 QI tuples that somebody has",
    Unsorted: "not sorted by q, s, at term 1",
    Twice: "a term twice, at term 1",
    BeyondLabels: "a code of s is not from 0 to 1",
    Uneven: "codes of several lengths",
    Moody: "others when asked again",
    AddsUp: r"published\['s'\] does not add up to n_s",
    BelowZero: r"published\['s'\] has a negative count",
    Stranger: "a label of s that is not among its labels",
    WithoutTerm: r"published\['s'\] counts somebody where there is no term",
    WrongMarks: "gives neither None nor 3 times True or False",
    Forgets: "is a QITable",
    Stumbles: "cannot be written and read again: KeyError: 'values'",
    Shrinks: "has other published counts",
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda kind: kind.__name__)
def test_what_is_broken_is_said(broken: type[Table]):
    """A view that breaks the contract fails, and the error says in which point."""
    with pytest.raises(AssertionError, match=BROKEN[broken]):
        check_view(made(broken))


def test_what_is_no_view():
    """A model is none, and neither is a class."""
    for wrong in (None, Table, PEOPLE):
        with refused(StatementError, "view"):
            check_view(wrong)


def test_saved_and_loaded():
    """A view that can be written comes back from a file, and a posterior of it with the same counts."""

    @dataclasses.dataclass(frozen=True, eq=False)
    class Written(mx.View):
        """Two margins, in a dataclass of tables."""

        wards: pd.DataFrame
        diseases: pd.DataFrame
        qi, sensitive, noun = ("ward",), ("disease",), "pair of margins"
        quasi_identifiers = property(lambda self: pd.MultiIndex.from_frame(self.wards[["ward"]]))
        sensitive_values = property(lambda self: pd.Index(self.diseases["disease"]))
        n_q = property(lambda self: self.wards["n"].to_numpy())
        n_s = property(lambda self: self.diseases["n"].to_numpy())

        @property
        def published(self):
            return {("q",): self.wards.set_index("ward")["n"], ("s",): self.diseases.set_index("disease")["n"]}

        def terms(self):
            return {"q": np.repeat(np.arange(2), 2), "s": np.tile(np.arange(2), 2)}

    wards, diseases = ({name: ["x", "y"], "n": n} for name, n in (("ward", [3, 1]), ("disease", [2, 2])))
    view = Written(pd.DataFrame(wards), pd.DataFrame(diseases))
    if hasattr(view, "to_frames"):
        check_view(view)
    else:  # views of one's own need a file of facts in the package
        with pytest.raises(AssertionError, match="no model takes the pair of margins"):
            check_view(view)
