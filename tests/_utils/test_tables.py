"""Tables at the door: every table that cannot play its role is refused, and the reader is told what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from maxent_cvx import MaxEntError, TableError, UnknownName
from maxent_cvx._utils.errors import join_names, unknown_name
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


def test_one_qi_column_needs_no_list(hospital):
    """A single column name is one column, not one column a letter."""
    assert read(hospital, qi="Gender").qi == ("Gender",)


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


def test_unknown_column_unlike_any(hospital):
    """Where no column is alike, the columns that there are are listed."""
    with refused(UnknownName, "'xyz' is not a column"):
        read(hospital, sa="xyz")


@pytest.mark.parametrize("column", ["Gender", "Degree", "Disease", "Bucket", "Name"])
def test_missing_values(hospital, column):
    """A missing value in any role is refused with column, how many and both remedies, and no person's record."""
    hospital[column] = hospital[column].where(hospital.index != 3)
    with refused(TableError, ".dropna(subset=[...])", ".fillna('?')", never="David"):
        read(hospital)


def test_missing_values_in_several_columns(hospital):
    """All columns with missing values are named at once, so that one repair is enough."""
    hospital.loc[[0, 1], "Degree"] = np.nan
    hospital.loc[4, "Disease"] = None
    with refused(TableError):
        read(hospital)


def test_empty_table(hospital):
    """A release of nobody does not exist."""
    with refused(TableError, "the table has no rows"):
        read(hospital.head(0))


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


def test_column_name_twice(hospital):
    """Two columns of one name cannot be told apart."""
    hospital.insert(0, "Gender", hospital["Gender"], allow_duplicates=True)
    with refused(TableError, "more than one column named 'Gender'"):
        read(hospital)


@pytest.mark.parametrize("table", [None, [1], {"Gender": ["male"]}, np.eye(2), pd.Series([1])], ids=type)
def test_not_a_table(table):
    """Only a DataFrame is a table; what was found instead is named."""
    with refused(TableError, "must be a pandas DataFrame"):
        read(table)


def test_person_with_two_rows(hospital):
    """One row a person: two people who are repeated, one of them twice, are two people; nobody is named."""
    doubled = pd.concat([hospital, hospital[:2], hospital[:1]])
    says = ("'Name' names 2 people more than once", "drop the repeats, or pass id=None")
    with refused(TableError, *says, never="Allen"):
        read(doubled)
    assert len(read(doubled, id=None)) == 13


@pytest.mark.parametrize("qi", [[], (), {}])
def test_no_quasi_identifier(hospital, qi):
    """Without quasi-identifiers there is nobody to infer about."""
    with refused(TableError, "qi names no column"):
        read(hospital, qi=qi)


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


def test_column_whose_name_is_no_text(hospital):
    """Column names appear in labels and messages, so they are text: a number is refused, for each role alike."""
    numbered = hospital.rename(columns={"Gender": 1, "Disease": 3})
    with refused(TableError, "qi", "1"):
        read(numbered, qi=[1], sa="Degree")
    with refused(TableError, "sa", "3"):
        read(numbered, qi="Degree", sa=3)


def test_cells_that_hold_lists(hospital):
    """A value is one value: a cell with a list is refused, naming its column."""
    hospital["Degree"] = [["college", "junior"]] * 10
    with refused(TableError, "'Degree'"):
        Microdata(hospital, ["Gender", "Degree"], "Disease").tuples()


@pytest.mark.parametrize("bad", [-1, 1.5, np.inf, "many"])
def test_counts_are_whole_and_not_negative(bad):
    """Records are counted in whole people; the message names column, table, how many are bad and where the first is."""
    counts = pd.Series([2, 0, bad, bad], name="Count")
    with refused(TableError, "2 of 4 are not"):
        count_column(counts, "the SA table")


def test_count_beyond_whole_numbers():
    """More people than a whole number can hold are refused, not wrapped around to a negative count."""
    with refused(TableError, "'Count' of the SA table"):
        count_column(pd.Series([2, 1e30], name="Count"), "the SA table")


def test_counts_are_read_whatever_their_type():
    """Whole numbers written as floats or text are counts all the same."""
    for counts in ([3, 0, 2], [3.0, 0.0, 2.0], ["3", "0", "2"], pd.array([3, 0, 2], dtype="Int64")):
        assert count_column(pd.Series(counts, name="Count"), "the QI table").tolist() == [3, 0, 2]


@settings(deadline=None, max_examples=60)
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


def test_a_listing_shows_the_first_few():
    """A message shows the first few of many offenders, and how many there are."""
    assert join_names("ab") == "'a', 'b'"
    assert join_names(range(7)) == "0, 1, 2, 3, 4, ... (7 in total)"


def test_numpy_values_read_as_plain_values():
    """Nobody types np.int64(3), so no message shows it."""
    assert "np." not in str(unknown_name("value", np.int64(7), [np.int64(3), np.str_("a")]))


def test_a_value_of_another_type_is_pointed_out():
    """'1' and 1 look alike: the message says which types they have."""
    with refused(UnknownName):
        raise unknown_name("value of 'Zip'", "1", [1, 2])


def test_unknown_name_where_there_is_none():
    """Where nothing exists the message does not promise a list of what does."""
    assert not str(unknown_name("label", "gossip", [])).rstrip().endswith("expected one of")


def test_every_error_is_a_value_error():
    """Who catches ValueError catches every error of this package."""
    assert issubclass(MaxEntError, ValueError)
    assert issubclass(TableError, MaxEntError)
    assert issubclass(UnknownName, MaxEntError)
