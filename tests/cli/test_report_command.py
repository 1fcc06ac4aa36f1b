"""``maxent-cvx report`` and ``quantify --report`` write the page of the library, and end as quantify does."""

from __future__ import annotations

import re

import pytest

import maxent_cvx as mx
from maxent_cvx.cli.main import main
from support.reports import read

MEDICINE = ["--know", "P(Breast Cancer | Gender=male) = 0"]

ROLES = ["--qi", "Gender,Degree", "--sa", "Disease", "--bucket", "Bucket"]


@pytest.fixture(autouse=True)
def releases(folder, hospital):
    """Two releases of the hospital in the folder, in three and in two buckets."""
    hospital.to_csv("three.csv", index=False)
    hospital.assign(Bucket=hospital["Bucket"].replace(2, 3)).to_csv("two.csv", index=False)


def headings(path, level):
    return [text for at, text in read(path.read_text(encoding="utf-8")).headings if at == level]


def test_the_page_is_that_of_the_library(folder, capsys, hospital):
    """It says what mx.report says, but for what it tells of the table."""
    assert main(["report", "three.csv", *ROLES, *MEDICINE, "--about", "source=Fig. 1", "--threshold", "0.9"]) == 0
    assert "wrote report.html" in capsys.readouterr().out
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    post = mx.MaxEnt(release).add(MEDICINE[1]).solve()
    expected = mx.report(post, threshold=0.9, original=hospital, about={"table": "three.csv", "source": "Fig. 1"})
    written, wanted = read((folder / "report.html").read_text(encoding="utf-8")), read(expected.html)
    clock = "seconds to solve"
    for caption, rows in wanted.tables.items():
        assert [row for row in written.tables[caption] if row[0][0] != clock] == [r for r in rows if r[0][0] != clock]


def test_side_by_side(folder, capsys):
    """Several tables are shown side by side, under their names."""
    assert main(["report", "three.csv", "two.csv", *ROLES, *MEDICINE, "--out", "both.html"]) == 0
    assert headings(folder / "both.html", 3)[:2] == ["three.csv", "two.csv"]
    figures = read((folder / "both.html").read_text(encoding="utf-8")).table("Side by side")
    assert {row[0][0]: (row[1][1], row[2][1]) for row in figures}["people exposed"] == (1, 0)


def test_it_ends_as_quantify_does(folder, capsys):
    """Whoever is exposed above the limit makes it end with 1, and the page is written."""
    assert main(["report", "three.csv", *ROLES, *MEDICINE, "--fail-above", "0.5", "--attack", "worst-case"]) == 1
    assert "Attacks" in headings(folder / "report.html", 2)
    assert "FAIL: 1 of 10" in capsys.readouterr().out
    assert main(["report", "three.csv", *ROLES, "--fail-above", "0.4"]) == 1
    (failed,) = re.findall(r"FAIL: (\d+ of 10) people", capsys.readouterr().out)
    assert f"{failed} people are exposed" in read((folder / "report.html").read_text(encoding="utf-8")).text
    assert main(["report", "three.csv", *ROLES, "--fail-above", "0.5"]) == 0
    assert "a probability of more than 50 %" in read((folder / "report.html").read_text(encoding="utf-8")).text


def test_quantify_writes_it_too(folder, capsys):
    """A report is one more output of quantify, of a release in partitions as well."""
    assert main(["quantify", "three.csv", *ROLES, *MEDICINE, "--report", "q.html"]) == 0
    assert "1 of 10 people is exposed" in read((folder / "q.html").read_text(encoding="utf-8")).text
    mx.datasets.load_hospital().to_parquet("three.parquet")
    assert main(["quantify", "three.parquet", *ROLES, *MEDICINE, "--report", "p.html"]) == 0
    assert "1 of 10 people is exposed" in read((folder / "p.html").read_text(encoding="utf-8")).text


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "three.csv", *ROLES, "--out", "report.pdf"],
        ["report", "three.csv", *ROLES, "--language", "fr"],
        ["quantify", "adult", "--rows", "100", "--top", "0,5", "--report", "q.html"],
    ],
)
def test_what_is_wrong_is_one_line(folder, capsys, arguments):
    """Nothing is written where something is wrong, and it is said before any work."""
    before = sorted(folder.iterdir())
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1
    assert "exposed" not in printed.out
    assert sorted(folder.iterdir()) == before


def test_a_missing_baseline_is_mentioned_once(folder, capsys):
    """The page judges by the same baseline, which needs no second line."""
    main(["publish", "three.csv", "--qi", "Gender,Degree", "--sa", "Disease", "--method", "rules", "--support", "0.1",
          "--confidence", "0.5", "--out", "published"])  # fmt: skip
    capsys.readouterr()
    values = ",".join(mx.datasets.load_hospital()["Disease"].unique())
    command = ["report", "published_rules.csv", "--qi-table", "published_qi.csv", "--values", values]
    assert main([*command, "--language", "de"]) == 0
    assert "veröffentlichte Regel: " in read((folder / "report.html").read_text(encoding="utf-8")).text
    assert capsys.readouterr().out.count("baseline: none") == 1
