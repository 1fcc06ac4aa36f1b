"""Values of further tables are those of the main table, whatever their types and notations are."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import TableError
from maxent_cvx.cli.main import main
from maxent_cvx.cli.matching import with_types_of
from support.commands import write_table

DAYS = pd.to_datetime(["2024-01-31", "2024-03-02"])


@pytest.mark.parametrize(
    ("main", "further", "expected"),
    [
        (["01067", "80331"], [1067, 80331, 4109], ["01067", "80331", "04109"]),  # zeros lost in a spreadsheet
        ([1067, 80331], ["01067", "99999"], [1067, 99999]),
        ([1, 3], ["1.0", "3"], [1, 3]),
        (["1", "3", "x"], [1.0, 3.0], ["1", "3"]),
        (["1.10", "1.1"], ["1.1", "1.10"], ["1.1", "1.10"]),  # versions, not numbers
        (["2024-01-31", "2024-03-02"], [*DAYS], ["2024-01-31", "2024-03-02"]),
        (["31.01.2024", "02.03.2024"], ["2024-03-02", "2024-05-01"], ["02.03.2024", "2024-05-01"]),
        (["2024-01", "2024-03"], ["2024-01-01", "2024-01-31"], ["2024-01-01", "2024-01-31"]),  # not January and its end
        (["01/2024", "03/2024"], ["2024-01-01", "2024-03-01"], ["01/2024", "03/2024"]),
        ([*DAYS], ["31.01.2024"], [DAYS[0]]),
        ([day.date() for day in DAYS], ["2024-03-02"], [datetime.date(2024, 3, 2)]),
        ([True, False], ["true", "False"], [True, False]),
        (["True", "x"], [True], ["True"]),
        ([1, "2a"], ["1", "2a"], [1, "2a"]),
        (["m", "f"], ["m", "x"], ["m", "x"]),
    ],
    ids=str,
)
def test_values_of_other_types(main, further, expected):
    """Equal values become those of the main table; other values get its type."""
    table = with_types_of(
        {"a": pd.Series(main)}, pd.DataFrame({"a": pd.Series([*further, None], dtype=object)}), "b.csv"
    )
    assert table["a"].iloc[:-1].to_list() == expected
    assert [type(value) is str for value in table["a"].iloc[:-1]] == [type(value) is str for value in expected]
    assert table["a"].isna().to_list() == [False] * len(expected) + [True]


@pytest.mark.parametrize("further", [["1", "x"], ["1", "01"]], ids=str)
def test_values_that_have_no_counterpart(further):
    """Texts among numbers, and two texts of one number, are an error instead of no match."""
    with pytest.raises(TableError, match=r"column 'a' of 'b.csv'"):
        with_types_of({"a": pd.Series([1, 2])}, pd.DataFrame({"a": further}), "b.csv")


@pytest.fixture
def patients():
    """Thirty people in three buckets, with codes and dates."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "id": [f"{i:03d}" for i in range(90, 120)], "zip": rng.choice(["01067", "80331"], 30),
            "born": rng.choice(["2024-01-31", "2024-03-02"], 30), "disease": rng.choice(["flu", "HIV"], 30),
            "group": np.arange(30) // 10,
        }
    )  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_further_tables_match(patients, ending, run, document):
    """Original records, people and baselines with numbers and dates instead of texts match the release."""
    write_table(patients, "people.csv")
    write_table(patients[["zip", "born", "group"]], "qi.csv")
    write_table(patients[["disease", "group"]].assign(group=patients["group"].map("{:02d}".format)), "sa.csv")
    spoilt = patients.assign(zip=patients["zip"].astype(int), born=pd.to_datetime(patients["born"]))
    original = write_table(spoilt, f"original.{ending}")
    known = spoilt[["zip", "born"]].drop_duplicates()
    named = known.head(2).assign(name=["Ann", "Bob"])[["name", "zip", "born"]]
    who = write_table(named, f"who.{ending}")
    baseline = write_table(known.assign(flu=0.5, HIV=0.5), f"baseline.{ending}")
    roles = ["--qi", "zip,born", "--sa", "disease", "--bucket", "group", "--sa-table", "sa.csv"]
    same = document("quantify", "qi.csv", *roles, "--original", "people.csv")
    assert document("quantify", "qi.csv", *roles, "--original", original)["divergence_bits"] == same["divergence_bits"]
    assert "Ann" in run("quantify", "qi.csv", *roles, "--people", who)
    assert "30 people" in run("quantify", "qi.csv", *roles, "--baseline", baseline)


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_sensitive_dates_are_named_as_printed(patients, ending, document, refuse):
    """Sensitive days without times are 2024-01-31, in combinations and in names of columns of a baseline, too."""
    path = write_table(patients.assign(born=pd.to_datetime(patients["born"])), f"people.{ending}")
    write_table(pd.DataFrame({"zip": ["01067", "80331"], "2024-01-31": 0.5, "2024-03-02": 0.5}), "before.csv")
    command = ["quantify", path, "--qi", "zip", "--bucket", "group", "--sa"]
    pair = document(*command, "born,disease", "--sensitive", "2024-01-31,flu")
    assert "2024-01-31,flu" in {row["value"] for row in pair["release"]["values"]}
    assert "(--sensitive 2024-01-31," in refuse(*command, "born,disease", "--sensitive", "flu")
    document(*command, "born", "--baseline", "before.csv")


def test_names_come_first(patients, refuse):
    """A table of people whose first column is a quasi-identifier has no names."""
    write_table(patients, "people.csv")
    write_table(patients[["zip", "born"]].head(1).assign(name="Ann"), "who.csv")
    message = refuse("quantify", "people.csv", "--qi", "zip,born", "--sa", "disease", "--people", "who.csv")
    assert "the first column of 'who.csv' must contain the names of people" in message


def test_series_without_common_people(patients, capsys):
    """A warning says that the releases of a series have nobody in common, as their pseudonyms may differ in form."""
    write_table(patients, "first.csv")
    write_table(patients.assign(id="P" + patients["id"]), "second.csv")
    roles = ["--id", "id", "--sa", "disease", "--bucket", "group"]
    assert main(["quantify", "first.csv", "second.csv", *roles]) == 0
    assert "nobody in first.csv has a pseudonym (id) of the other releases" in capsys.readouterr().err


def test_series_of_releases_with_pseudonyms_of_two_types(patients):
    """In Python, pseudonyms that are texts in one release and numbers in the other are an error."""
    roles = {"qi": [], "sa": "disease", "bucket": "group", "id": "id"}
    releases = [
        mx.Release.from_buckets(table, **roles) for table in (patients, patients.assign(id=patients["id"].astype(int)))
    ]
    with pytest.raises(TableError):
        mx.ReleaseSeries(releases)
