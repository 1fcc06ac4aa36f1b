"""The likeliest mistakes of somebody who is new, and what they are told, word for word."""

from __future__ import annotations

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import MaxEnt, MaxEntError, P, Release

MEN = {"Gender": "male"}
ALICE = {"Alice": {"Gender": "female", "Degree": "college"}}

MISTAKES = {
    "a misspelt value": (
        lambda release, table: MaxEnt(release).add(P("Fluu") == 0.3),
        "'Fluu' is not a value of 'Disease'; did you mean 'Flu'?",
    ),
    "a misspelt attribute": (
        lambda release, table: MaxEnt(release).add(P("Flu", given={"Gendr": "male"}) == 0.3),
        "'Gendr' is not a quasi-identifier of the release; did you mean 'Gender'?",
    ),
    "the sensitive attribute as a condition": (
        lambda release, table: MaxEnt(release).add(P("male", given={"Disease": "Flu"}) == 0.3),
        "'Disease' is sensitive and cannot be a condition: statements are about P(Disease | quasi-identifiers); use Bayes' "
        "rule if the other direction is known",
    ),
    "a table in the place of a release": (
        lambda release, table: MaxEnt(table),
        "MaxEnt needs a release, not a DataFrame; make one with Release.from_buckets(...)",
    ),
    "a column that is not there": (
        lambda release, table: Release.from_buckets(table, qi="Gender", sa="Illness", bucket="Bucket"),
        "'Illness' is not a column of the table (given as sa); expected one of 'Name', 'Gender', 'Degree', 'Disease', "
        "'Bucket'",
    ),
    "missing values": (
        lambda release, table: (
            Release.from_buckets(table.replace("HIV", None), qi="Gender", sa="Disease", bucket="Bucket")
        ),
        "the table has missing values in 'Disease' (2 of 10); drop those rows with .dropna(subset=[...]), or make "
        "'missing' a value of its own with .fillna('?')",
    ),
    "per cent": (
        lambda release, table: MaxEnt(release).add("P(Flu | Gender=male) = 30%"),
        "the end is expected: write 0.3 for 30% at character 26, where '%' stands, of 'P(Flu | Gender=male) = 30%'",
    ),
    "a forgotten bracket": (
        lambda release, table: MaxEnt(release).add("P(Flu | Gender=male = 0.3"),
        "')' is expected at character 21, where '= 0.3' stands, of 'P(Flu | Gender=male = 0.3'",
    ),
    "less than": (
        lambda release, table: MaxEnt(release).add(P("Flu") < 0.4),
        "a strict < has no maximum-entropy answer of its own; write <=",
    ),
    "a product": (
        lambda release, table: MaxEnt(release).add(P("Flu") == P("HIV") * P("Flu", given=MEN)),
        "a product or quotient of two probabilities is not linear, so maximum entropy cannot use it; multiply by a "
        "number, or state one of the two as a value",
    ),
    "nobody there": (
        lambda release, table: MaxEnt(release).add(P("Flu", given={"Gender": "male", "Degree": "junior"}) == 0.1),
        "nobody in the release has Degree=junior, Gender=male: each value occurs, but not together; P(value | given) "
        "would be 0/0: take a condition out",
    ),
    "somebody without a name": (
        lambda release, table: MaxEnt(release).add("P(Flu | Alice) = 0.3"),
        "'Alice' cannot be spoken of: the model names nobody; say who that is with MaxEnt(release, people={name: "
        "{attribute: value}}), or write attribute=value",
    ),
    "a name in lower case": (
        lambda release, table: MaxEnt(release, people=ALICE).add(P("Flu", who="alice") == 0.3),
        "'alice' is not a person whom the model names; did you mean 'Alice'?",
    ),
    "knowledge that cannot be": (
        lambda release, table: (
            MaxEnt(release).add("P(Flu | Gender=male) = 0.4", "P(Flu | Gender=female) = 0.4").solve()
        ),
        "the knowledge contradicts the published data or itself: of these 2 statements one would have to move, "
        "'P(Flu | Gender=female) = 0.4' by 0.25 to 0.15, or 'P(Flu | Gender=male) = 0.4' by 0.166667 to 0.233333. "
        "Correct it, make it vague with .about(value, eps), or remove it",
    ),
    "a misspelt solver": (
        lambda release, table: MaxEnt(release).solve("Clarable"),
        "'Clarable' is not a solver; did you mean 'CLARABEL'?",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake(mistake: str, release: Release, hospital: pd.DataFrame):
    """The message says what was found, what was expected, and what to do."""
    make, message = MISTAKES[mistake]
    with pytest.raises(MaxEntError) as caught:
        make(release, hospital)
    assert str(caught.value) == message


def test_chain(release):
    """Python reads low <= P <= high as two comparisons: an error of types, as it is everywhere in Python."""
    with pytest.raises(TypeError) as caught:
        mx.MaxEnt(release).add(0.2 <= P("Flu") <= 0.4)
    assert str(caught.value) == (
        "P(Flu) >= 0.2 is a statement for model.add(), not true or false. Python reads 'low <= P(...) <= high' as two "
        "comparisons: write P(...).between(low, high)"
    )
