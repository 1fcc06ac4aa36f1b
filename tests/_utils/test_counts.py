"""A column that says how many people a row stands for is read where it is named, and never passed over."""

from __future__ import annotations

import pandas as pd
import pytest

import maxent_cvx as mx

#: Six people in three rows.
GENERALIZED = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]", "*"], "Disease": ["Flu", "HIV", "Flu"], "n": [3, 1, 2]})
ROLES = {"qi": "Age", "sa": "Disease"}


def expanded(table: pd.DataFrame) -> pd.DataFrame:
    """A row a person."""
    return table.loc[table.index.repeat(table["n"])].drop(columns="n")


def same(one: mx.View, other: mx.View) -> bool:
    """Whether two views publish the same."""
    return all(one.published[by].equals(other.published[by]) for by in other.published)


@pytest.mark.parametrize("of_population", [True, False])
def test_generalized_of_a_population(of_population):
    """Counts may be in the records, in the population, or in both."""
    voters = pd.DataFrame({"Age": [21, 25, 40], "n": [3, 3, 2]})
    population = voters if of_population else expanded(voters)
    release = mx.Release.from_generalized(GENERALIZED, **ROLES, population=population, count="n")
    other = mx.Release.from_generalized(expanded(GENERALIZED), **ROLES, population=expanded(voters))
    assert release.n_records == 8
    assert same(release, other)
    plain = mx.Release.from_generalized(expanded(GENERALIZED), **ROLES, population=voters, count="n")
    assert same(plain, other)


def test_buckets():
    """So it is with records in buckets."""
    table = pd.DataFrame({"Sex": ["m", "f", "f"], "Disease": ["Flu", "HIV", "Flu"], "B": [1, 1, 2], "n": [2, 1, 4]})
    roles = {"qi": "Sex", "sa": "Disease", "bucket": "B"}
    release = mx.Release.from_buckets(table, **roles, count="n")
    assert release.n_records == 7
    assert same(release, mx.Release.from_buckets(expanded(table), **roles))


@pytest.mark.parametrize("age", ["17", " 17", 17])
def test_numbers_beside_intervals(age):
    """A column that mixes intervals and numbers holds texts, as a file gives them: "17" is the number 17."""
    table = pd.DataFrame({"Age": [age, "[20, 29]"], "Disease": ["Flu", "HIV"]})
    for ages in ([17, 25], [17.0, 25.0], ["17", "[20, 29]"]):
        release = mx.Release.from_generalized(table, **ROLES, population=pd.DataFrame({"Age": ages}))
        post = mx.MaxEnt(release).solve()
        assert post.prob("Flu", given={"Age": ages[0]}) == pytest.approx(1.0)
