"""``maxent-cvx attack``: the results of the library, in words, in files and as documents."""

from __future__ import annotations

import itertools

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from support.commands import write_text

mpl.use("Agg")

BUCKET = ["--qi", "Gender,Degree", "--sa", "Disease", "--bucket", "Bucket"]

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


def test_worst_case(run, document, release):
    """The disclosures and sentences are those of the function, one row per release and k in the order of the files."""
    command = ["attack", "worst-case", "hospital", "hospital.csv", *BUCKET, "--k", "0,1"]
    expected = mx.attacks.worst_case(release, k=[0, 1])
    assert expected["sentences"][1][0] in run(*command, "--out", "worst.csv")
    written = pd.read_csv("worst.csv")
    assert written["release"].tolist() == ["hospital"] * 2 + ["hospital.csv"] * 2
    assert written["disclosure"].tolist() == pytest.approx([*expected["disclosure"]] * 2)
    result = document(*command)
    assert [row["disclosure"] for row in result["worst_case"]] == pytest.approx([*expected["disclosure"]] * 2)
    assert [row["sentences"] for row in result["worst_case"]] == [*map(list, expected["sentences"])] * 2
    assert result["tables"] == ["hospital", "hospital.csv"]


@pytest.mark.parametrize("classifier", ["naive-bayes", "logistic"])
def test_definetti(run, document, release, hospital, classifier):
    """P(s | bucket, QI) and the accuracy are those of the function, judged by the records of the table."""
    command = ["attack", "definetti", "hospital.csv", *BUCKET, "--classifier", classifier]
    expected = mx.attacks.definetti(release, classifier=classifier.replace("-bayes", " Bayes"))
    assert str(expected.judge(hospital)) in run(*command, "--out", "guess.csv", "--plot", "guess.png")
    assert pd.read_csv("guess.csv", index_col=[0, 1, 2]).to_numpy() == pytest.approx(expected.table.to_numpy())
    result = document(*command)
    rows = pd.DataFrame([row["P"] for row in result["probabilities"]])
    assert rows.to_numpy() == pytest.approx(expected.table.to_numpy())
    assert list(result["probabilities"][0]["group"]) == list(expected.table.index.names)
    assert result["right"] == pytest.approx(expected.judge(hospital).right)


def test_calibrated_definetti(run):
    """The evidence that the release leaks is that of the function."""
    patients = pd.DataFrame({"Q": [0, 1] * 40, "S": list("ab") * 40, "B": [i // 2 for i in range(80)]})
    patients.to_csv("patients.csv", index=False)
    roles = ["--qi", "Q", "--sa", "S", "--bucket", "B"]
    text = run("attack", "definetti", "patients.csv", *roles, "--classifier", "logistic", "--calibrate")
    release = mx.Release.from_buckets(patients, qi="Q", sa="S", bucket="B")
    assert str(mx.attacks.definetti(release, classifier="logistic", calibrate=True)) in text


def test_reconstruct(run):
    """The article's seven people come out, and no others (its Table 2)."""
    domain = ["--domain", "age=0-115;sex=F|M;race=black|white;married=yes|no"]
    text = run("attack", "reconstruct", write_text("block.csv", BLOCK), *domain, "--out", "people.csv")
    assert "the records are unique" in text
    people = pd.read_csv("people.csv").drop(columns="solution").sort_values("age")
    assert [tuple(person) for person in people.to_numpy()] == [
        (8, "F", "black", "no"), (18, "M", "white", "no"), (24, "F", "white", "no"), (30, "M", "white", "yes"),
        (36, "F", "black", "yes"), (66, "F", "black", "yes"), (84, "M", "black", "yes"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("age,sex,n\n,F,3\n,M,x\n", 3),
        ("Published by the ward,,\nage,sex,n\n\n,F,3\n \n,M,x\n", 6),
        ('age,sex,n\r\n"0|\r\n1",F,3\r\n,M,x\r\n', 4),
        ("age,sex,n\r\r,,\r,M,x\r", 4),
        ("sep=;\nage;sex;n\n;F;3\n;M;x\n", 4),
        ('n\n""\nx\n', 3),
    ],
    ids=["plain", "title and blank lines", "cell of two lines", "Mac", "line for Excel", "empty cell in quotes"],
)
def test_reconstruct_names_the_line_of_the_file(refuse, text, line):
    """The wrong count is in the line that an editor shows, whatever is above it."""
    command = ["attack", "reconstruct", write_text("tables.csv", text), "--domain", "age=0-3;sex=F|M"]
    assert f"'tables.csv', line {line}: " in refuse(*command)


@pytest.mark.parametrize(("sep", "decimal"), [(",", "."), (";", ",")])
def test_reconstruct_with_several_solutions(document, sep, decimal):
    """All pairs of women of mean age 25.0 and of men of mean age 35.0 are found, with the median 28 of all."""
    rows = ["sex,age,n,mean,median", ",,4,30.0,28", "F,,2,25.0,25", "M,,2,35.0,35"]
    path = write_text("tables.csv", "\n".join(rows).replace(",", sep).replace(".", decimal))
    result = document("attack", "reconstruct", path, "--domain", "age=22-40;sex=F|M")
    solutions = [sorted((row["sex"], row["age"]) for row in solution) for solution in result["solutions"]]
    assert sorted(solutions) == [
        [("F", 50 - f), ("F", f), ("M", 70 - m), ("M", m)]
        for f, m in itertools.product(range(28, 24, -1), range(40, 34, -1))
        if abs(np.median([50 - f, f, 70 - m, m]) - 28) <= 0.5
    ]
    assert not result["unique"]
    assert result["complete"]
