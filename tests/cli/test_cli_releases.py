"""What ``maxent-cvx quantify`` reads: gaps, generalised cells, series, rules; the same as the library makes of it."""

from __future__ import annotations

import io
import json

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.cli.main import main

ROLES = ["--qi", "Gender,Degree", "--sa", "Disease"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, hospital):
    """A folder of one's own with the hospital's table in it."""
    monkeypatch.chdir(tmp_path)
    hospital.to_csv("hospital.csv", index=False)
    return tmp_path


@pytest.fixture
def answer(capsys):
    """Run quantify --json, which must work, and give the document."""

    def answer(*arguments: str) -> dict:
        assert main(["quantify", *arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return answer


@pytest.fixture
def refused(capsys):
    """Run a command that cannot work, and give the line that says why."""

    def refused(*arguments: str) -> str:
        assert main([*arguments]) == 2
        shown = capsys.readouterr().err
        assert len(shown.splitlines()) == 1
        return shown

    return refused


# -- missing cells -----------------------------------------------------------------------------------


def test_rows_with_gaps_are_left_out_and_counted(hospital, capsys, answer):
    """--missing drop is the table without those rows, and says how many; a gap in another column is none."""
    gaps = hospital.assign(Gender=hospital["Gender"].where(hospital.index != 3), Name=None)
    gaps.to_csv("gaps.csv", index=False)
    gaps.dropna(subset=["Gender"]).to_csv("whole.csv", index=False)
    asked = [*ROLES, "--l", "2"]
    found, whole = answer("gaps.csv", *asked, "--missing", "drop"), answer("whole.csv", *asked)
    assert found["entropy_nats"] == whole["entropy_nats"]
    assert found["left_out"] == [{"table": "gaps.csv", "rows": 1, "of": 10, "cells": {"Gender": 1}}]
    assert whole["left_out"] == []
    assert main(["quantify", "gaps.csv", *asked, "--missing", "drop"]) == 0
    assert "left out 1 of 10 rows of gaps.csv, with missing cells in 'Gender' (1 of 10)" in capsys.readouterr().out


def test_gaps_stop_the_command_unless_told(hospital, refused):
    """The default is to stop, and to say what can be done; nothing is left out of a table that is all gaps."""
    hospital.assign(Disease=None).to_csv("gaps.csv", index=False)
    assert "--missing drop leaves those rows out" in refused("quantify", "gaps.csv", *ROLES, "--l", "2")
    assert "every row" in refused("quantify", "gaps.csv", *ROLES, "--l", "2", "--missing", "drop")


# -- generalised -------------------------------------------------------------------------------------

CELLS = pd.DataFrame(
    {
        "age": ["20-29", "20-29", "[30, 40)", "[30, 40)", "*", None],
        "city": ["{Bonn, Ulm}", "{Bonn, Ulm}", "Rome", "Rome", "Rome", "Rome"],
        "disease": ["Flu", "HIV", "Flu", "Flu", "HIV", "Flu"],
    }
)
OPEN = ["open.csv", "--generalized", "--qi", "age,city", "--sa", "disease"]


def test_generalised_cells(answer):
    """Intervals, ranges, sets, stars and gaps are groups, as of Release.from_generalized."""
    CELLS.to_csv("open.csv", index=False)
    release = mx.Release.from_generalized(CELLS, qi=["age", "city"], sa="disease")
    found = answer(*OPEN)
    assert found["release"]["buckets"] == len(release.buckets) == 3
    assert found["entropy_nats"] == pytest.approx(mx.MaxEnt(release).solve().entropy)


def test_a_population_is_who_may_be_meant(answer):
    """With a voter list P(s | q) is of its people, as of the library."""
    CELLS.to_csv("open.csv", index=False)
    voters = pd.DataFrame({"age": [21, 25, 33, 35, 50, 60, 70], "city": ["Bonn", "Ulm"] + ["Rome"] * 5})
    voters.to_csv("voters.csv", index=False)
    release = mx.Release.from_generalized(CELLS, qi=["age", "city"], sa="disease", population=voters)
    found = answer(*OPEN, "--population", "voters.csv")
    assert found["release"]["kind"] == type(release).__name__
    assert found["entropy_nats"] == pytest.approx(mx.MaxEnt(release).solve().entropy)


def test_a_hierarchy_says_what_cells_stand_for(answer, folder, refused):
    """Names of nodes are read by a hierarchy, as ARX writes it, one for each attribute."""
    table = pd.DataFrame({"age": ["young", "young", "old", "old"], "disease": ["Flu", "HIV", "Flu", "Flu"]})
    table.to_csv("open.csv", index=False)
    (folder / "age.csv").write_text("21;young;*\n25;young;*\n50;old;*\n60;old;*\n", encoding="utf-8")
    pd.DataFrame({"age": [21, 25, 50, 60]}).to_csv("voters.csv", index=False)
    asked = ["open.csv", "--qi", "age", "--sa", "disease", "--population", "voters.csv"]
    found = answer(*asked, "--hierarchy", "age=age.csv")
    everybody = pd.read_csv("voters.csv")
    release = mx.Release.from_generalized(
        table, qi="age", sa="disease", population=everybody, hierarchies={"age": "age.csv"}
    )
    assert found["entropy_nats"] == pytest.approx(mx.MaxEnt(release).solve().entropy)
    assert "given twice" in refused("quantify", *asked, "--hierarchy", "age=age.csv", "--hierarchy", "age=b.csv")
    assert "did you mean 'age'" in refused("quantify", *asked, "--hierarchy", "aged=age.csv")


def test_cells_that_look_generalised_are_noticed(refused):
    """Who forgets --generalized is told of it, and in no message is anybody's cell."""
    CELLS.fillna("*").to_csv("open.csv", index=False)
    said = refused("quantify", "open.csv", "--qi", "age,city", "--sa", "disease")
    assert "--generalized" in said
    assert "20-29" not in said
    assert "give one" in refused("quantify", *OPEN, "--l", "2")


# -- series ------------------------------------------------------------------------------------------


def test_several_tables_are_a_series(answer, refused):
    """Releases that pseudonyms link, as of ReleaseSeries; more is known than from each alone."""
    tables = mx.datasets.load_patients()
    for name, table in zip(("first.csv", "second.csv"), tables, strict=True):
        table.to_csv(name, index=False)
    series = mx.ReleaseSeries(
        mx.Release.from_buckets(t, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym") for t in tables
    )
    asked = ["first.csv", "second.csv", "--sa", "Disease", "--bucket", "Bucket"]
    found = answer(*asked, "--id", "Pseudonym", "--threshold", "0.9")
    expected = mx.measures.exposed(mx.MaxEnt(series).solve(), 0.9)
    assert found["exposure"]["people"] == expected.people > 0
    assert found["tables"] == ["first.csv", "second.csv"]
    assert found["exposure"]["baseline"] is None, "how many people have each value is not published of a series"
    assert "--id links" in refused("quantify", *asked, "--qi", "Gender")
    one = ["--sa-table", "values.csv", "--id", "Pseudonym"]
    assert "1 times for 2 TABLEs" in refused("quantify", *asked, *one)


def test_a_series_of_generalised_releases(answer, hospital, capsys):
    """What Mondrian publishes of each with pseudonyms is a series, too."""
    roles = ["--qi", "Gender,Degree", "--sa", "Disease", "--id", "Name"]
    releases = []
    for name, k in (("one", 3), ("two", 4)):
        assert main(["publish", "hospital.csv", *roles, "--method", "mondrian", "--k", str(k), "--out", name]) == 0
        made = {"qi": ["Gender", "Degree"], "sa": "Disease", "id": "Name", "k": k}
        releases.append(mx.anonymize.mondrian(hospital, **made))
    capsys.readouterr()
    series = mx.ReleaseSeries(releases)
    found = answer("one.csv", "two.csv", "--generalized", *roles)
    assert found["entropy_nats"] == pytest.approx(mx.MaxEnt(series).solve().entropy)


# -- rules -------------------------------------------------------------------------------------------


@pytest.fixture
def rules(hospital, folder):
    """The hospital's rules in a file, as they are published."""
    found = mx.anonymize.mine_rules(hospital, qi=["Gender", "Degree"], sa="Disease", support=0.2, confidence=0.5)
    found.to_csv("rules.csv")
    hospital[["Gender", "Degree"]].to_csv("qi.csv", index=False)
    hospital["Disease"].value_counts().reset_index().to_csv("values.csv", index=False)
    return found


def test_rules_are_recognised_and_need_people(rules, refused):
    """The first line of the file says what it is; the people and their possible values must be given."""
    assert "--qi-table must be given" in refused("quantify", "rules.csv")
    said = refused("quantify", "rules.csv", "--qi-table", "qi.csv")
    assert "--values must be given" in said
    assert all(repr(value) in said for value in rules.table["Disease"].unique())


def test_rules_disclose_what_the_library_says(rules, hospital, answer):
    """Values from the command line, from the table of people itself, or with their published distribution."""
    values = sorted(hospital["Disease"].unique())
    shares = hospital["Disease"].value_counts()
    for more, told in (
        (["--qi-table", "qi.csv", "--values", ",".join(values)], {"sa_values": values}),
        (["--qi-table", "hospital.csv"], {"sa_values": values}),
        (["--qi-table", "qi.csv", "--distribution", "values.csv"], {"sa_distribution": shares}),
    ):
        view = mx.QITable(hospital, qi=["Gender", "Degree"], sa="Disease", **told)
        expected = mx.MaxEnt(view).add(mx.PublishedRules(rules)).solve()
        assert answer("rules.csv", *more)["entropy_nats"] == pytest.approx(expected.entropy)


def test_rules_from_standard_input(rules, answer, monkeypatch, folder):
    """A dash is a file of rules where people are given."""
    expected = answer("rules.csv", "--qi-table", "hospital.csv")
    monkeypatch.setattr("sys.stdin", io.StringIO((folder / "rules.csv").read_text(encoding="utf-8")))
    found = answer("-", "--qi-table", "hospital.csv")
    assert found["entropy_nats"] == expected["entropy_nats"]


def test_published_scores_say_more(hospital, answer):
    """With their confidences, as they are printed, the rules say more than that they are rules."""
    roles = {"qi": ["Gender", "Degree"], "sa": "Disease"}
    rules = mx.anonymize.mine_rules(hospital, **roles, support=0.2, confidence=0.3).rounded(2)
    rules.to_csv("rules.csv")
    asked = ["rules.csv", "--qi-table", "hospital.csv"]
    view = mx.QITable(hospital, **roles, sa_values=sorted(hospital["Disease"].unique()))
    source = mx.PublishedRules(rules, scores="confidence", decimals=2)
    found = answer(*asked, "--scores", "confidence", "--decimals", "2")
    assert found["entropy_nats"] == pytest.approx(mx.MaxEnt(view).add(source).solve().entropy)
    assert found["entropy_nats"] < answer(*asked)["entropy_nats"] - 1e-3
