"""The inputs of commands: releases in every form, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.cli.main import main

ROLES = ["--qi", "Gender,Degree", "--sa", "Disease"]


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
    assert "dropped 1 of 10 rows of gaps.csv, with missing cells in 'Gender' (1 of 10)" in capsys.readouterr().out


def test_gaps_stop_the_command_unless_told(hospital, refused):
    """The default is to stop, and to say what can be done; nothing is left out of a table that is all gaps."""
    is_male = hospital["Gender"] == "male"
    hospital.assign(Disease=hospital["Disease"].where(is_male)).to_csv("gaps.csv", index=False)
    assert "--missing drop" in refused("quantify", "gaps.csv", *ROLES, "--l", "2")
    gaps = hospital.assign(Disease=hospital["Disease"].where(is_male), Degree=hospital["Degree"].mask(is_male))
    gaps.to_csv("gaps.csv", index=False)
    assert "every row" in refused("quantify", "gaps.csv", *ROLES, "--l", "2", "--missing", "drop")
    hospital.assign(Disease=None).to_csv("gaps.csv", index=False)
    assert "is empty" in refused("quantify", "gaps.csv", *ROLES, "--l", "2", "--missing", "drop")


# -- generalised -------------------------------------------------------------------------------------

CELLS = pd.DataFrame(
    {
        "age": ["20-29", "20-29", "[30, 40)", "[30, 40)", "*", None],
        "city": ["{Bonn, Ulm}", "{Bonn, Ulm}", "Rome", "Rome", "Rome", "Rome"],
        "disease": ["Flu", "HIV", "Flu", "Flu", "HIV", "Flu"],
    }
)

OPEN = ["open.csv", "--generalized", "--qi", "age,city", "--sa", "disease"]


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
    assert "--id" in refused("quantify", *asked, "--qi", "Gender")
    one = ["--sa-table", "values.csv", "--id", "Pseudonym"]
    assert "1 times for 2 TABLEs" in refused("quantify", *asked, *one)


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


BUCKET = [*ROLES, "--bucket", "Bucket"]

SCORE = ["quantify", "hospital", "--min-support", "1"]


@pytest.fixture
def tables(folder, hospital):
    """Good and bad tables in the folder."""
    hospital.to_csv("good.csv", index=False)
    hospital.head(0).to_csv("header.csv", index=False)
    hospital.assign(Gender=hospital["Gender"].where(hospital["Name"] != "Grace")).to_csv("missing.csv", index=False)
    hospital[["Gender", "Degree", "Bucket"]].to_csv("qi.csv", index=False)
    hospital[["Disease", "Bucket"]].head(9).to_csv("sa.csv", index=False)
    hospital.assign(Count=1.5).to_csv("half.csv", index=False)
    Path("empty.csv").touch()
    Path("other.csv").write_text("x,y\n1,2\n")
    Path("ragged.csv").write_text("Gender,Degree\nmale,college\nmale,college,Flu\n")
    Path("picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    Path("folder.csv").mkdir()


def everything(folder: Path) -> dict[str, bytes]:
    """Every file, with its content."""
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


BAD = {
    "no command": [],
    "unknown option": ["quantify", "hospital", "--topp", "3"],
    "misspelt name": ["quantify", "hospitl"],
    "empty file": ["quantify", "empty.csv", *BUCKET],
    "ragged file": ["quantify", "ragged.csv", *BUCKET],
    "not text": ["quantify", "picture.csv", *BUCKET],
    "a folder": ["quantify", "folder.csv", *BUCKET],
    "no rows": ["quantify", "header.csv", *BUCKET],
    "missing values": ["quantify", "missing.csv", *BUCKET],
    "no roles": ["quantify", "good.csv"],
    "unknown column": ["quantify", "good.csv", *ROLES, "--bucket", "Bukket"],
    "not eligible": ["quantify", "good.csv", *ROLES, "--l", "5"],
    "top too many": [*SCORE, "--top", "999"],
    "knowledge and scores": [*SCORE, "--top", "1", "--know", "P(Flu) = 0.3"],
    "cannot be read": ["quantify", "hospital", "--know", "P(Flu = 0.3"],
    "bucket and l": ["quantify", "good.csv", *BUCKET, "--l", "2"],
    "halves counted": ["quantify", "half.csv", *BUCKET, "--sa-table", "half.csv", "--count", "Count"],
    "count of records": ["quantify", "half.csv", *BUCKET, "--count", "Count"],
    "sa table scored": ["quantify", "qi.csv", *BUCKET, "--sa-table", "sa.csv", "--top", "1"],
    "sa table misfits": ["quantify", "qi.csv", *BUCKET, "--sa-table", "sa.csv"],
    "baseline of something else": ["quantify", "hospital", "--baseline", "other.csv"],
    "population too small": ["quantify", "good.csv", *BUCKET, "--population-size", "5"],
    "workers of a table": ["quantify", "hospital", "--workers", "2"],
    "unknown solver": ["quantify", "hospital", "--solver", "CLARABELL"],
    "out of no kind": ["quantify", "hospital", "--out", "p.txt"],
    "plot of no kind": ["quantify", "hospital", "--plot", "p.bmp"],
    "out to nowhere": ["quantify", "hospital", "--out", "no/p.csv"],
    "out is a folder": ["quantify", "hospital", "--out", "folder.csv"],
    "unknown in compare": ["compare", "hospital", "--solvers", "SCS,CLARABELL"],
    "compare to parquet": ["compare", "hospital", "--out", "c.parquet"],
    "compare too many": ["compare", "hospital", "--known", "999"],
    "publish without l": ["publish", "good.csv", *ROLES],
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name, folder, tables, capsys):
    """Bad input ends with 2 and one line that names what is wrong and where; no file is made or changed."""
    arguments = BAD[name]
    before = everything(folder)
    try:
        status = main(arguments)
    except SystemExit as stopped:  # argparse ends the program itself
        status = stopped.code
    shown = capsys.readouterr().err
    assert status == 2
    assert everything(folder) == before
    assert "Grace" not in shown, "no person's record"
    assert "Traceback" not in shown
    assert len(shown.splitlines()) == 1, "one line"


def test_a_full_disk_leaves_no_half_file(folder, tables, capsys, monkeypatch):
    """If writing fails half way there is no file, half a file or folder of drafts, and an old file stays."""
    before = everything(folder)

    def stop(self: object, path: Path, **_: object) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("pandas.DataFrame.to_csv", stop)
    assert main(["quantify", "hospital", "--out", "good.csv"]) == 2
    assert "No space left" in capsys.readouterr().err
    assert everything(folder) == before


KNOWN = ["--know", "P(Flu | Gender=male) = 0.3"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Two files of whole buckets."""
    hospital = mx.datasets.load_hospital()
    paths = [tmp_path / "people" / f"{i}.parquet" for i in range(2)]
    paths[0].parent.mkdir()
    for path, is_last in zip(paths, (False, True), strict=True):
        hospital[(hospital["Bucket"] == 3) == is_last].to_parquet(path)
    return [str(path) for path in paths]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    def called(*arguments: str, status: int = 0) -> str:
        assert main(list(arguments)) == status
        captured = capsys.readouterr()
        return captured.out if status == 0 else captured.err

    return called


def test_files_and_their_folder_are_a_release_in_partitions(run, files):
    """What is exposed is what is exposed of the table in memory."""
    text = run("quantify", *files, *BUCKET, *KNOWN)
    assert "10 records in 3 buckets" in text
    in_memory = run("quantify", "hospital", *KNOWN)
    exposed = [line.split(";")[0] for line in in_memory.splitlines() if "people exposed" in line]
    assert exposed
    assert all(line in text for line in exposed)
    assert run("quantify", str(Path(files[0]).parent), *BUCKET, *KNOWN) == text


def test_a_folder_is_written_whole_under_a_new_name(run, files, tmp_path):
    folder = tmp_path / "answer"
    run("quantify", *files, *BUCKET, *KNOWN, "--out", str(folder))
    written = pd.read_parquet(folder)
    men = written[written["Gender"] == "male"]
    p = next(name for name in written.columns if name.startswith("P("))
    assert men.loc[men["Disease"] == "Flu", p].sum() / men[p].sum() == pytest.approx(0.3)
    run("quantify", *files, *BUCKET, "--out", str(folder), status=2)


@pytest.mark.parametrize(
    "more",
    [
        ["--top", "5"], ["--exempt", "1"], ["--solver", "CLARABEL"], ["--workers", "0"], ["--cluster", "nowhere"],
        ["--workers", "1", "--cluster", "tcp://here:1"],
    ],
)  # fmt: skip
def test_what_is_not_for_partitions_is_refused_before_any_work(run, files, more):
    assert f"{more[0]}" in run("quantify", *files, *BUCKET, *more, status=2)


def test_partitions_are_judged_as_the_table_in_memory(files, capsys):
    """The exit status and the JSON document say the same of both."""
    asked = ["--know", "P(Breast Cancer | Gender=male) = 0", "--fail-above", "0.8", "--json"]
    found = []
    for table in (files, ["hospital"]):
        assert main(["quantify", *table, *BUCKET, *asked]) == 1
        found.append(json.loads(capsys.readouterr().out))
    parts, whole = found
    assert parts["tables"] == files
    assert parts["release"]["kind"] == "PartitionedRelease"
    for key in ("people", "of"):
        assert parts["fail_above"][key] == whole["fail_above"][key]
    assert parts["entropy_nats"] == pytest.approx(whole["entropy_nats"])
    assert [row["group"] for row in parts["exposure"]["who"]] == [row["group"] for row in whole["exposure"]["who"]]
