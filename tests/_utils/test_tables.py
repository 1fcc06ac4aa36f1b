"""Tables of records: a table that cannot play its role is refused, and the rest is read in order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import maxent_cvx as mx
from maxent_cvx import MaxEntError, TableError, UnknownName
from maxent_cvx._utils.tables import Microdata, count_column, sort_distinct
from support.helpers import refused
from support.strategies import microdata, quasi, rank

ROLES = {"qi": ["Gender", "Degree"], "sa": "Disease", "bucket": "Bucket", "id": "Name"}


def read(table, **roles):
    """Read the hospital's table, with some roles changed."""
    return Microdata(table, **{**ROLES, **roles})


def test_roles_are_kept_and_other_columns_ignored(hospital):
    """A table knows its roles; what has no role may repeat its name or be missing (section 1: ID, QI, SA)."""
    table = pd.concat([hospital, pd.DataFrame({"Note": [None] * 10}), pd.DataFrame({"Note": [None] * 10})], axis=1)
    data = read(table)
    assert (data.qi, data.sa, data.bucket, data.id) == (("Gender", "Degree"), ("Disease",), "Bucket", "Name")
    assert len(data) == 10


@pytest.mark.parametrize(
    ("error", "roles"),
    [
        (UnknownName, {"qi": ["Gendr"]}),
        (UnknownName, {"sa": "Diseese"}),
        (UnknownName, {"bucket": "Buckets"}),
        (UnknownName, {"id": "name"}),
        (TableError, {"qi": ["Gender", "Disease"]}),
        (TableError, {"qi": ["Gender", "Gender"]}),
        (TableError, {"bucket": "Disease"}),
        (TableError, {"bucket": "Degree"}),
        (TableError, {"id": "Bucket"}),
        *((MaxEntError, {role: None}) for role in ("qi", "sa")),
        *((MaxEntError, {"qi": wrong}) for wrong in (3, [["Gender"]])),
        *((MaxEntError, {role: ["Name"]}) for role in ("id", "bucket")),
        (MaxEntError, {"sa": [["Disease"]]}),
    ],
    ids=str,
)
def test_wrong_roles(hospital, error, roles):
    """A role is that of a column, which is there, and has one role only; the message names the role."""
    with pytest.raises(error, match=next(iter(roles))):
        read(hospital, **roles)


@pytest.mark.parametrize("column", ["Gender", "Degree", "Disease", "Bucket", "Name"])
def test_missing_values(hospital, column):
    """A missing value in any role is refused with its column, and no person's record."""
    hospital[column] = hospital[column].where(hospital.index != 3)
    with refused(TableError, f"'{column}' (1 of 10)", never="David"):
        read(hospital)


def test_cells_that_hold_lists(hospital):
    """A value is one value."""
    hospital["Degree"] = [["college", "junior"]] * 10
    with pytest.raises(TableError):
        Microdata(hospital, ["Gender", "Degree"], "Disease").tuples()


@pytest.mark.parametrize("bad", [-1, 1.5, np.inf, "many", 2**53 + 2, 10**18])
def test_counts_are_whole_and_not_negative(bad):
    with pytest.raises(TableError):
        count_column(pd.Series([2, 0, bad, bad], name="Count"), "the SA table")


def test_all_records_can_be_counted(tmp_path):
    """A total number of records above 2^53 is refused, in memory and in partitions; above 2^63 it would be negative."""
    table = pd.DataFrame({"Q": [*"ab"] * 600, "S": [*"xxyy"] * 300, "B": range(1_200), "n": 2**53}).astype({"B": str})
    roles = {"qi": "Q", "sa": "S", "bucket": "B", "count": "n"}
    mx.Release.from_buckets(table.assign(n=2**53 // 1_200), **roles)
    for rows in (2, 1_200):
        with refused(TableError):
            mx.Release.from_buckets(table.head(rows), **roles)
    table.head(1).to_parquet(tmp_path / "1.parquet")
    table.tail(1).to_parquet(tmp_path / "2.parquet")
    with refused(TableError):
        mx.Release.from_parquet(tmp_path, **roles, partitions=2)


@given(microdata())
def test_distinct_tuples_are_sorted_and_numbered(frame):
    """Every record is numbered by its QI tuple; tuples are sorted, by an ordered Categorical's own order."""
    codes, index = sort_distinct(frame[quasi(frame)])
    people = list(zip(*(frame[column] for column in quasi(frame)), strict=True))
    ranks = [rank(frame[column]) for column in quasi(frame)]
    expected = sorted(set(people), key=lambda q: tuple(order[v] for order, v in zip(ranks, q, strict=True)))
    assert list(index) == expected
    assert [index[code] for code in codes] == people
    assert list(index.names) == quasi(frame)


AGES = {"qi": "Age", "sa": "Disease"}


@pytest.mark.parametrize("age", ["17", " 17", 17])
def test_numbers_beside_intervals(age):
    """A column that mixes intervals and numbers holds texts, as a file gives them: "17" is the number 17."""
    table = pd.DataFrame({"Age": [age, "[20, 29]"], "Disease": ["Flu", "HIV"]})
    for ages in ([17, 25], [17.0, 25.0], ["17", "[20, 29]"]):
        release = mx.Release.from_generalized(table, **AGES, population=pd.DataFrame({"Age": ages}))
        post = mx.MaxEnt(release).solve()
        assert post.prob("Flu", given={"Age": ages[0]}) == pytest.approx(1.0)
