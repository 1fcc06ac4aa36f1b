"""``maxent-cvx attack``: the results of the library, in words and as documents."""

from __future__ import annotations

import json

import matplotlib as mpl
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.cli.main import main

mpl.use("Agg")

ROLES = ["--qi", "Gender,Degree", "--sa", "Disease", "--bucket", "Bucket"]

#: Garfinkel, Abowd and Martindale (2019), Table 1: counts, means and medians as printed, suppressed cells as at most 2.
BLOCK = """\
age,sex,race,married,n,mean,median
,,,,7,38,30
,F,,,4,33.5,30
,M,,,3,44,30
,,black,,4,48.5,51
,,white,,3,24,24
18-115,,,no,<3,,
,,,yes,4,54,51
,F,black,,3,36.7,36
,M,black,,<3,,
,M,white,,<3,,
,F,white,,<3,,
0-4,,,,<3,,
0-17,,,,<3,,
64-115,,,,<3,,
"""

DOMAIN = "age=0-115;sex=F|M;race=black|white;married=yes|no"


#: Tables that cannot be read.
BAD = ["age,n\n", "age,n\n0-4,3,\n,5,\n", "age,n\n,²\n", "age,n,mean\n,3,nan\n", "age,n,mean\n,3,4\n1,2,five\n"]


@pytest.fixture(autouse=True)
def block(folder):
    """The tables of a block, in the folder too."""
    (folder / "block.csv").write_text(BLOCK)


def run(capsys, *arguments: str) -> str:
    """Run a command that must work; give its output."""
    assert main(["attack", *arguments]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


def fails(capsys, *arguments: str) -> str:
    """Run a command that must not; give the one line that it says."""
    assert main(["attack", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    return shown.err


def test_worst_case(capsys, folder, hospital):
    """The disclosures of the function, in the order of the files, with the sentences."""
    (folder / "other.csv").write_text((folder / "hospital.csv").read_text())
    found = run(capsys, "worst-case", "hospital.csv", "other.csv", *ROLES, "--k", "0,1", "--out", "worst.csv")
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    expected = mx.attacks.worst_case(release, k=[0, 1])
    written = pd.read_csv("worst.csv")
    assert written["release"].tolist() == ["hospital.csv"] * 2 + ["other.csv"] * 2
    assert written["disclosure"].tolist() == pytest.approx([*expected["disclosure"]] * 2)
    assert expected["sentences"][1][0] in found


def test_definetti(capsys, hospital):
    """P(s | bucket, QI) of the function; judged, since the table has the records themselves."""
    found = run(capsys, "definetti", "hospital.csv", *ROLES, "--out", "guess.csv", "--plot", "guess.png")
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    expected = mx.attacks.definetti(release)
    written = pd.read_csv("guess.csv", index_col=[0, 1, 2])
    assert written.to_numpy() == pytest.approx(expected.table.to_numpy())
    assert str(expected.judge(hospital)) in found


def test_calibrated_definetti(capsys, hospital):
    """The logistic model, and the evidence that the release leaks, are those of the function."""
    found = run(capsys, "definetti", "hospital.csv", *ROLES, "--classifier", "logistic")
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    expected = mx.attacks.definetti(release, classifier="logistic")
    assert str(expected.judge(hospital)) in found
    patients = pd.DataFrame({"Q": [0, 1] * 40, "S": list("ab") * 40, "B": [i // 2 for i in range(80)]})
    patients.to_csv("patients.csv", index=False)
    columns = ["--qi", "Q", "--sa", "S", "--bucket", "B"]
    found = run(capsys, "definetti", "patients.csv", *columns, "--classifier", "logistic", "--calibrate")
    release = mx.Release.from_buckets(patients, qi="Q", sa="S", bucket="B")
    assert str(mx.attacks.definetti(release, classifier="logistic", calibrate=True)) in found


def test_reconstruct(capsys):
    """The article's seven people come out, and no others (its Table 2)."""
    found = run(capsys, "reconstruct", "block.csv", "--domain", DOMAIN, "--out", "people.csv")
    assert "the records are unique" in found
    people = pd.read_csv("people.csv").drop(columns="solution").sort_values("age")
    assert [tuple(person) for person in people.to_numpy()] == [
        (8, "F", "black", "no"), (18, "M", "white", "no"), (24, "F", "white", "no"), (30, "M", "white", "yes"),
        (36, "F", "black", "yes"), (66, "F", "black", "yes"), (84, "M", "black", "yes"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        ["reconstruct", "block.csv", "--domain", "age=0-115;sex=F|M;race=black|white"],
        ["reconstruct", "block.csv", "--domain", "age"],
        ["reconstruct", "block.csv", "--domain", "age=9-1"],
        ["reconstruct", "block.csv", "--domain", DOMAIN + ";n=0-9"],
        ["reconstruct", "block.csv", "--domain", "age=1;age=2"],
        ["reconstruct", "missing.csv", "--domain", "age=0-9"],
        *(["reconstruct", f"bad{i}.csv", "--domain", "age=0-9"] for i in range(len(BAD))),
        ["worst-case", "hospital.csv", "block.csv", *ROLES, "--sa-table", "x.csv"],
        ["definetti", "hospital.csv", *ROLES, "--smoothing", "-1"],
        ["definetti", "hospital.csv", *ROLES, "--out", "x.txt"],
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(capsys, folder, arguments):
    """Exit status 2, before anything is printed or written."""
    for i, text in enumerate(BAD):
        (folder / f"bad{i}.csv").write_text(text)
    before = sorted(folder.iterdir())
    fails(capsys, *arguments)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(("sa", "value"), [("S", "1"), ("S,T", "1,u")])
def test_sensitive_values_are_given_as_they_are_printed(capsys, folder, sa, value):
    """Numbers, and combinations of values; here one of two people has the value."""
    (folder / "people.csv").write_text("Q,S,T,B\na,0,t,1\nb,1,u,1\n")
    roles = ["--qi", "Q", "--sa", sa, "--bucket", "B", "--k", "0"]
    assert " 0.5000 " in run(capsys, "worst-case", "people.csv", *roles, "--sensitive", value)


@pytest.fixture
def document(capsys, request):
    """Run a command that must work, and give its document, each key of which is on the page about the command line."""
    page = (request.config.rootpath / "docs" / "reference" / "command_line.md").read_text(encoding="utf-8")

    def document(*arguments: str) -> dict:
        assert main([*arguments, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [key for key in found if f"`{key}`" not in page] == []
        return found

    return document


def test_worst_case_of_documents(document, release):
    """A row a release and k, with the sentences that disclose as much."""
    found = document("attack", "worst-case", "hospital", "--k", "0,1")
    expected = mx.attacks.worst_case(release, k=[0, 1])
    assert [row["disclosure"] for row in found["worst_case"]] == pytest.approx(expected["disclosure"].to_list())
    assert [row["sentences"] for row in found["worst_case"]] == expected["sentences"].map(list).to_list()
    assert found["tables"] == ["hospital"]


def test_definetti_of_documents(document, release, hospital):
    """P of every value by group, and how often the likeliest is right."""
    found = document("attack", "definetti", "hospital")
    expected = mx.attacks.definetti(release)
    probabilities = [list(row["P"].values()) for row in found["probabilities"]]
    for row, p in zip(probabilities, expected.table.to_numpy(), strict=True):
        assert row == pytest.approx(list(p))
    assert list(found["probabilities"][0]["group"]) == list(expected.table.index.names)
    assert found["right"] == pytest.approx(expected.judge(hospital).right)


def test_reconstruct_of_documents(document, tmp_path, monkeypatch):
    """All solutions, and what is certain."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tables.csv").write_text("age,n,mean\n,2,0.5\n", encoding="utf-8")
    found = document("attack", "reconstruct", "tables.csv", "--domain", "age=0-1")
    assert found["solutions"] == [[{"age": 0}, {"age": 1}]]
    assert found["unique"]
    assert found["complete"]


def test_compare(document):
    """A row a solver."""
    found = document("compare", "hospital", "--solvers", "DUAL_NEWTON,SCS", "--known", "3", "--min-support", "1")
    assert [row["solver"] for row in found["solvers"]] == ["DUAL_NEWTON", "SCS"]
    assert found["solvers"][0]["certified"] is True
