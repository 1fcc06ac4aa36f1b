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


WRONG = {
    "not in the release": (
        {"Alice": {"Gender": "male", "Degree": "junior"}},
        StatementError,
        "nobody in the release has the Gender, Degree of 'Alice': each value occurs, but not together; "
        "correct the description",
    ),
    "unknown value": (
        {"Alice": {"Gender": "mael", "Degree": "college"}},
        UnknownName,
        "'mael' is not a value of 'Gender' (of 'Alice'); did you mean 'male' or 'female'?",
    ),
    "more than there are": (
        {name: {"Gender": "female", "Degree": "junior"} for name in ("Alice", "Bob")},
        StatementError,
        "2 people have the same description, 'Alice', 'Bob', but the release contains 1 with that Gender, Degree; "
        "correct the descriptions, or name fewer people",
    ),
    "named twice": (
        pd.DataFrame({"Gender": "male", "Degree": "college"}, index=["Alice", "Bob", "Alice"]),
        StatementError,
        "people must be described once each, but several rows describe 'Alice'",
    ),
    "incomplete": (
        {"Alice": {"Gender": "male", "Degree": "college"}, "Bob": {"Gender": "male"}},
        StatementError,
        "the description of 'Bob' lacks 'Degree'; every QI attribute is needed",
    ),
    "incomplete, all": (
        {"Alice": {"Gender": "male"}},
        StatementError,
        "the descriptions of people lack 'Degree'; every QI attribute is needed",
    ),
    "nothing": (
        {"Alice": {}},
        StatementError,
        "the descriptions of people lack 'Gender'; every QI attribute is needed",
    ),
    "no attribute": (
        {"Alice": {"Gender": "male", "Degree": "college", "Disease": "Flu"}},
        UnknownName,
        "'Disease' is not a quasi-identifier of the release; expected one of 'Gender', 'Degree'",
    ),
    "no dictionary": (
        {"Alice": "male"},
        StatementError,
        "'Alice' is described by 'male'; a dictionary {attribute: value} is expected",
    ),
    "names only": (
        ["Alice"],
        StatementError,
        "people must be a dictionary {name: {attribute: value}}, or a table with the QI columns indexed by name, "
        "not ['Alice']",
    ),
    "several values": (
        {"Alice": {"Gender": ["male"], "Degree": "college"}},
        StatementError,
        "'Gender' of every person must be a single value: unhashable type: 'list'",
    ),
    "no name": ({None: FIG_4["Alice"]}, StatementError, "a person's name must be a text or an integer, not None"),
    "the others": (
        {"(others)": FIG_4["Alice"]},
        StatementError,
        "a person's name must be a text or an integer, not '(others)'",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_descriptions(release, case):
    """The error says who, what and what to do."""
    people, kind, message = WRONG[case]
    with pytest.raises(kind) as caught:
        mx.MaxEnt(release, people=people)
    assert str(caught.value) == message


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
