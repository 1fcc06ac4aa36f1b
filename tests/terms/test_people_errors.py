"""Mistakes with named people: each is told who, what and what to do."""

from __future__ import annotations

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import Count, P, StatementError, TableError, UnknownName
from support.fig_4 import FIG_4
from support.helpers import refused


@pytest.fixture
def model(release: mx.Release) -> mx.MaxEnt:
    return mx.MaxEnt(release, people=FIG_4)


MAN = {"Gender": "male", "Degree": "college"}
JUNIOR = {"Gender": "female", "Degree": "junior"}

WRONG = {
    "not in the release": ({"Alice": {"Gender": "male", "Degree": "junior"}}, StatementError, ["nobody", "'Alice'"]),
    "unknown value": ({"Alice": MAN | {"Gender": "mael"}}, UnknownName, ["'mael'", "'Alice'", "'male' or 'female'"]),
    "more than there are": ({"Alice": JUNIOR, "Bob": JUNIOR}, StatementError, ["2 people", "contains 1"]),
    "named twice": (pd.DataFrame(MAN, index=["Alice", "Bob", "Alice"]), StatementError, ["once", "'Alice'"]),
    "incomplete": ({"Alice": MAN, "Bob": {"Gender": "male"}}, StatementError, ["'Bob'", "'Degree'"]),
    "incomplete, all": ({"Alice": {"Gender": "male"}}, StatementError, ["'Alice'", "'Degree'"]),
    "nothing": ({"Alice": {}}, StatementError, ["'Alice'", "'Gender'"]),
    "no attribute": ({"Alice": MAN | {"Disease": "Flu"}}, UnknownName, ["'Disease'", "'Gender', 'Degree'"]),
    "no dictionary": ({"Alice": "male"}, StatementError, ["'Alice'", "'male'", "dictionary"]),
    "names only": (["Alice"], StatementError, ["dictionary", "['Alice']"]),
    "several values": ({"Alice": MAN | {"Gender": ["male"]}}, StatementError, ["'Gender'", "single value"]),
    "no name": ({None: MAN}, StatementError, ["None"]),
    "the others": ({"(others)": MAN}, StatementError, ["'(others)'"]),
    "a column twice": (
        pd.DataFrame([["male", "male", "college"]], ["Alice"], ["Gender", "Gender", "Degree"]),
        StatementError,
        ["'Gender'"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_descriptions(release, case):
    """The error names the person or the attribute, and what is expected."""
    people, error, says = WRONG[case]
    with refused(error, *says):
        mx.MaxEnt(release, people=people)


def test_wrong_statements(model, release):
    """People who are not known, counted twice, or described where they are named."""
    with refused(UnknownName):
        model.add("P(HIV | Alicia) = 0.2")
    with refused(StatementError):
        mx.MaxEnt(release).add("P(HIV | Alice) = 0.2")
    with refused(StatementError):
        Count("HIV", who=["Alice", "Bob", "Alice"])
    with refused(StatementError):
        P("HIV", who=["Alice", "Bob"])
    with refused(StatementError):
        P("HIV", given={"Gender": "male"}, who="Alice")
    with refused(mx.BadProbability):
        Count("HIV", who=["Alice", "Bob"]).between(1, 3)
    with refused(StatementError):
        Count("HIV", who=[])
    with refused(StatementError):
        P("HIV", who=2.5)
    with refused(StatementError):
        mx.MaxEnt(release).solve().people()
    with refused(UnknownName):
        mx.MaxEnt(release).space.marginal("who")


def test_truth_needs_names(model, hospital):
    """Records are counted by person only if they say who is who."""
    with refused(TableError):
        model.space.count(hospital)
    with refused(TableError):
        model.space.count(hospital, id="Name")


def test_a_column_called_who(hospital):
    """A column that is called as named people are is refused where some are named."""
    release = mx.Release.from_buckets(
        hospital.rename(columns={"Gender": "who"}), qi=["who", "Degree"], sa="Disease", bucket="Bucket"
    )
    assert mx.MaxEnt(release).solve().prob("Flu") == pytest.approx(0.3)
    with refused(StatementError):
        mx.MaxEnt(release, people={"Alice": {"who": "male", "Degree": "college"}})
