"""``maxent-cvx attack``: the same answers as the functions, from files that somebody else wrote."""

from __future__ import annotations

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
        (["reconstruct", "block.csv", "--domain", DOMAIN + ";n=0-9"], "no attribute"),
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


def test_columns_may_have_the_names_of_what_is_printed(capsys, folder):
    """The surest guesses with quasi-identifiers called P and value, a solution with an attribute called solution."""
    (folder / "people.csv").write_text("P,value,S,B\n1,f,x,1\n2,m,y,1\n1,f,x,2\n2,m,x,2\n")
    found = run(capsys, "definetti", "people.csv", "--qi", "P,value", "--sa", "S", "--bucket", "B")
    assert found.split("The surest:\n")[1].splitlines()[0].split() == ["B", "P", "value", "value", "P", "records"]
    (folder / "tables.csv").write_text("solution,n\nacid,1\n,2\n")
    run(capsys, "reconstruct", "tables.csv", "--domain", "solution=acid|base", "--out", "out.csv")
    assert pd.read_csv("out.csv").to_dict("list") == {"solution_": [1, 1], "solution": ["acid", "base"]}


@pytest.mark.parametrize(("sa", "value"), [("S", "1"), ("S,T", "1,u")])
def test_sensitive_values_are_given_as_they_are_printed(capsys, folder, sa, value):
    """Numbers, and combinations of values; here one of two people has the value."""
    (folder / "people.csv").write_text("Q,S,T,B\na,0,t,1\nb,1,u,1\n")
    roles = ["--qi", "Q", "--sa", sa, "--bucket", "B", "--k", "0"]
    assert " 0.5000 " in run(capsys, "worst-case", "people.csv", *roles, "--sensitive", value)


def test_values_of_a_domain_with_words_are_words(capsys, folder):
    """A value called NA is not everybody, and a range is of the words that its numbers are among."""
    (folder / "tables.csv").write_text("race,age,n\nNA,,1\n,0-1,2\n,,2\n,unknown,0\nNA,1,1\nwhite,0,1\n")
    found = run(capsys, "reconstruct", "tables.csv", "--domain", "race=NA|white;age=0-2|unknown", "--out", "out.csv")
    assert "the records are unique" in found
    people = pd.read_csv("out.csv", keep_default_na=False)
    assert sorted(zip(people["race"], people["age"], strict=True)) == [("NA", 1), ("white", 0)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("age,n\n", "no line but its header"),
        ("age,n\n0-4,3,\n,5,\n", "more cells than the header"),
        ("age,n\n,²\n", "line 2"),
        ("age,n,mean\n,3,nan\n", "line 2: mean must be a finite number"),
    ],
)
def test_tables_that_cannot_be_read(capsys, folder, text, says):
    """One line says what is wrong: nothing is read as something else."""
    (folder / "tables.csv").write_text(text)
    assert says in fails(capsys, "reconstruct", "tables.csv", "--domain", "age=0-9")
