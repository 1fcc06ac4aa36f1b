"""``maxent-cvx attack``: the same answers as the functions, from files that somebody else wrote."""

from __future__ import annotations

import matplotlib as mpl
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.cli import main

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


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, hospital):
    """A folder of one's own with the hospital's table, and the block's, in it."""
    monkeypatch.chdir(tmp_path)
    hospital.to_csv("hospital.csv", index=False)
    (tmp_path / "block.csv").write_text(BLOCK)
    return tmp_path


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


def test_published_tables_have_no_records_to_judge_by(capsys, hospital):
    """The two tables of Anatomy: the same guesses, and no word of how often they are right."""
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    for name, table in zip(("qi.csv", "sa.csv"), release.to_tables(), strict=True):
        table.to_csv(name, index=False)
    published = ["qi.csv", "--sa-table", "sa.csv", "--count", "Count", *ROLES]
    found = run(capsys, "definetti", *published, "--out", "guess.csv")
    assert "right for" not in found
    expected = mx.attacks.definetti(release).table.to_numpy()
    assert pd.read_csv("guess.csv", index_col=[0, 1, 2]).to_numpy() == pytest.approx(expected)


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
    ("arguments", "says"),
    [
        (["reconstruct", "block.csv", "--domain", "age=0-115;sex=F|M;race=black|white"], "'married'"),
        (["reconstruct", "block.csv", "--domain", "age"], "ATTRIBUTE=VALUES"),
        (["reconstruct", "block.csv", "--domain", "age=9-1"], "least number"),
        (["reconstruct", "block.csv", "--domain", "age=1;age=2"], "given twice"),
        (["reconstruct", "missing.csv", "--domain", "age=0-9"], "missing.csv"),
        (["reconstruct", "bad.csv", "--domain", "age=0-9"], "line 3: mean is 'five'"),
        (["worst-case", "hospital.csv", "block.csv", *ROLES, "--sa-table", "x.csv"], "one TABLE"),
        (["definetti", "hospital.csv", *ROLES, "--smoothing", "-1"], "smoothing"),
        (["definetti", "hospital.csv", *ROLES, "--out", "x.txt"], ".csv"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(capsys, folder, arguments, says):
    """Exit status 2, before anything is printed or written."""
    (folder / "bad.csv").write_text("age,n,mean\n,3,4\n1,2,five\n")
    before = sorted(folder.iterdir())
    assert says in fails(capsys, *arguments)
    assert sorted(folder.iterdir()) == before
