"""Tables at the door: every table that cannot play its role is refused, and the reader is told what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from maxent_cvx import MaxEntError, TableError, UnknownName
from maxent_cvx._utils.errors import unknown_name
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
    ("role", "typed", "meant"),
    [
        ("qi", ["Gendr"], "Gender"),
        ("sa", "Diseese", "Disease"),
        ("bucket", "Buckets", "Bucket"),
        ("id", "name", "Name"),
    ],
)
def test_unknown_column(hospital, role, typed, meant):
    """A column that is not there is named, with its role and the column that was meant."""
    name = typed[0] if role == "qi" else typed
    with refused(UnknownName, f"{name!r} is not a column of the table (given as {role})"):
        read(hospital, **{role: typed})


@pytest.mark.parametrize("column", ["Gender", "Degree", "Disease", "Bucket", "Name"])
def test_missing_values(hospital, column):
    """A missing value in any role is refused with column, how many and both remedies, and no person's record."""
    hospital[column] = hospital[column].where(hospital.index != 3)
    with refused(TableError, f"'{column}' (1 of 10)", "drop", "replace", never="David"):
        read(hospital)


@pytest.mark.parametrize(
    ("roles", "column", "first", "second"),
    [
        ({"qi": ["Gender", "Disease"]}, "Disease", "qi", "sa"),
        ({"qi": ["Gender", "Gender"]}, "Gender", "qi", "qi"),
        ({"bucket": "Disease"}, "Disease", "sa", "bucket"),
        ({"bucket": "Degree"}, "Degree", "qi", "bucket"),
        ({"id": "Bucket"}, "Bucket", "bucket", "id"),
    ],
)
def test_column_in_two_roles(hospital, roles, column, first, second):
    """A column is a quasi-identifier or sensitive, never both; the message names column and roles."""
    with refused(TableError, f"{column!r} is given as {first} and as {second}"):
        read(hospital, **roles)


@pytest.mark.parametrize(
    "roles",
    [
        {"qi": None},
        {"qi": 3},
        {"qi": [["Gender"]]},
        {"sa": [["Disease"]]},
        {"sa": None},
        {"id": ["Name"]},
        {"bucket": ["Bucket"]},
    ],
    ids=str,
)
def test_role_that_is_no_column_name(hospital, roles):
    """What cannot be a column's name is refused as an error of the table's roles, naming the role."""
    (role,) = roles
    with pytest.raises(MaxEntError, match=role):
        read(hospital, **roles)


def test_cells_that_hold_lists(hospital):
    """A value is one value: a cell with a list is refused, naming its column."""
    hospital["Degree"] = [["college", "junior"]] * 10
    with refused(TableError, "'Degree'"):
        Microdata(hospital, ["Gender", "Degree"], "Disease").tuples()


@pytest.mark.parametrize("bad", [-1, 1.5, np.inf, "many"])
def test_counts_are_whole_and_not_negative(bad):
    """Records are counted in whole people; the message names column, table, how many are bad and where the first is."""
    counts = pd.Series([2, 0, bad, bad], name="Count")
    with refused(TableError, "'Count'", "2 of 4"):
        count_column(counts, "the SA table")


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


def test_a_value_of_another_type_is_pointed_out():
    """'1' and 1 look alike: the message says which types they have."""
    with refused(UnknownName):
        raise unknown_name("value of 'Zip'", "1", [1, 2])
