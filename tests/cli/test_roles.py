"""The roles of columns are proposed by names and values; the command that is printed runs."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.cli.roles import KEY, OTHER_SA, QI, SA, TEXT, proposed_roles
from support.commands import printed_command, write_text


def test_roles_are_proposed_by_values_and_names():
    """Distinct values and names identify records; texts that hardly recur are no quasi-identifiers, but numbers are."""
    n = 40
    table = pd.DataFrame(
        {
            "customer_id": range(n), "token": [f"t{i}" for i in range(n)], "name": [f"Ann {i % 30}" for i in range(n)],
            "birthYear": [1950 + i % 30 for i in range(n)], "Geschlecht": ["m", "w"] * (n // 2),
            "salary": [1000.5 + i for i in range(n)], "department": ["a", "b", "c", "d"] * (n // 4),
            "steps": [i % 30 for i in range(n)], "remark": [f"was late {i % 30} times" for i in range(n)],
        }
    )  # fmt: skip
    roles = {"customer_id": KEY, "token": KEY, "name": KEY, "birthYear": QI, "Geschlecht": QI, "salary": SA}
    roles |= {"department": QI, "steps": QI, "remark": TEXT}
    assert proposed_roles(table).to_dict() == roles
    # Without a column that is called sensitive, the last one that is not called a quasi-identifier is.
    assert proposed_roles(table.drop(columns="salary"))["steps"] == SA
    # Dates are quasi-identifiers, although all may be different, as names are; and so may salaries be.
    dates = pd.Series(pd.date_range("1950-01-13", periods=n, freq="37D"))
    assert proposed_roles(table.assign(day=dates.dt.strftime("%d.%m.%Y")))["day"] == QI
    assert proposed_roles(table.assign(salary=[f"{i} EUR" for i in range(n)]))["salary"] == SA
    # Of two sensitive columns the one whose values recur is judged first; the other one identifies nobody.
    two = proposed_roles(table.assign(diagnosis=["flu", "cold"] * (n // 2)))
    assert (two["diagnosis"], two["salary"]) == (SA, OTHER_SA)


@pytest.mark.parametrize("options", [[], ["--sep", "tab", "--decimal", ",", "--encoding", "cp1026"]], ids=" ".join)
def test_printed_commands_run(people, run, refuse, options):
    """Without roles a command is proposed, with the format of the file; so are commands after a verdict."""
    people.to_csv("people.csv", index=False, **{"sep": "\t", "decimal": ",", "encoding": "cp1026"} if options else {})
    run(*printed_command(refuse("quantify", "people.csv", *options), "type:"))
    roles = ["--qi", "PLZ,Größe", "--sa", "Krankheit"]
    advice = run("quantify", "people.csv", *roles, *options, "--fail-above", "0.6", status=1)
    for before in ("instead:", "Publish them:"):
        release = run(*printed_command(advice, before), "--out", "open")
        run(*printed_command(release, "Read them back:"))


def test_a_proposed_command_keeps_what_was_typed(people, refuse, run):
    """A command that lacks roles is printed with its other options, which decide how it ends."""
    people.to_csv("people.csv", index=False)
    run(*printed_command(refuse("publish", "people.csv", "--method", "mondrian", "--k", "5", "--out", "open"), "type:"))
    assert Path("open.csv").exists()
    run(
        *printed_command(refuse("quantify", "people.csv", "--baseline", "none", "--fail-above", "0.1"), "type:"),
        status=1,
    )


@pytest.mark.parametrize("unused", [[], ["Gender", "Zip"]], ids=len)
def test_a_series_proposes_its_buckets_and_quasi_identifiers(unused, refuse, run):
    """The command proposed for tables with pseudonyms and a column called Bucket judges their buckets."""
    for number, table in enumerate(mx.datasets.load_patients(), 1):
        table.drop(columns=unused).to_csv(f"t{number}.csv", index=False)
    command = printed_command(refuse("quantify", "t1.csv", "t2.csv", "--id", "Pseudonym"), "type:")
    assert ("Gender,Zip" in command) != bool(unused)
    assert "3 of 15 people exposed" in run(*command)


def test_in_a_terminal_it_asks(people, monkeypatch, run):
    """An empty answer accepts the proposal."""
    people.to_csv("people.csv", index=False)
    monkeypatch.setattr("sys.stdin", io.StringIO("PLZ\n\n"))
    monkeypatch.setattr("maxent_cvx.cli.roles.is_terminal", lambda: True)
    assert "2 groups of equal PLZ" in run("quantify", "people.csv")


@pytest.mark.parametrize("column", ["zip", "disease"])
@pytest.mark.parametrize(
    "command",
    [
        ["quantify", "--count"],
        ["quantify", "--id"],
        ["quantify", "--bucket"],
        ["publish", "--count"],
        ["publish", "--method", "mondrian", "--k", "2", "--id"],
    ],
    ids=" ".join,
)
def test_a_column_has_one_role(command, column, refuse):
    """A quasi-identifier or sensitive column cannot be a number of people, a pseudonym or a bucket, too."""
    write_text("people.csv", "zip,disease\n1,2\n1,1\n2,1\n2,3\n")
    message = refuse(command[0], "people.csv", "--qi", "zip", "--sa", "disease", *command[1:], column)
    assert f"'{column}'" in message
    assert command[-1] in message


def test_columns_of_lists_and_without_values(run, refuse):
    """Such columns are not proposed; if they are named, the message says what they contain."""
    table = pd.DataFrame({"age": [30, 30, 31, 31], "tags": [["a"], ["b"], None, ["a", "b"]], "bmi": None})
    table.assign(disease=["flu", "cold"] * 2).to_parquet("people.parquet")
    assert "--qi age --sa disease" in refuse("quantify", "people.parquet")
    for column, content in (("tags", "lists"), ("bmi", "empty")):
        message = refuse("quantify", "people.parquet", "--qi", f"age,{column}", "--sa", "disease")
        assert f"'{column}'" in message
        assert content in message
    run("publish", "people.parquet", "--qi", "age", "--sa", "disease", "--l", "2")
