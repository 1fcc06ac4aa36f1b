"""``maxent-cvx report`` writes the page of the library, and ends as quantify does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import maxent_cvx as mx
from support.reports import read

MEDICINE = ["--know", "P(Breast Cancer | Gender=male) = 0"]

ROLES = ["--qi", "Gender,Degree", "--sa", "Disease", "--bucket", "Bucket"]


@pytest.fixture(autouse=True)
def releases(hospital):
    """Two releases of the hospital in the folder, in three and in two buckets."""
    hospital.to_csv("three.csv", index=False)
    hospital.assign(Bucket=hospital["Bucket"].replace(2, 3)).to_csv("two.csv", index=False)


def page(name="report.html"):
    """A page that was written."""
    return read(Path(name).read_text(encoding="utf-8"))


def headings(report, level):
    return [text for at, text in report.headings if at == level]


def test_the_page_is_that_of_the_library(run, release, hospital):
    """The tables are those of mx.report, except for the time of the solve."""
    options = ["--about", "source=Fig. 1", "--threshold", "0.9"]
    assert "wrote report.html" in run("report", "three.csv", *ROLES, *MEDICINE, *options)
    post = mx.MaxEnt(release).add(MEDICINE[1]).solve()
    expected = mx.report(post, threshold=0.9, original=hospital, about={"table": "three.csv", "source": "Fig. 1"})
    for caption, rows in read(expected.html).tables.items():
        written, wanted = (
            [row for row in table if row[0][0] != "seconds to solve"] for table in (page().tables[caption], rows)
        )
        assert written == wanted


def test_side_by_side(run):
    """Several tables are shown side by side, under their names."""
    run("report", "three.csv", "two.csv", *ROLES, *MEDICINE, "--out", "both.html")
    assert headings(page("both.html"), 3)[:2] == ["three.csv", "two.csv"]
    figures = page("both.html").table("Side by side")
    assert {row[0][0]: (row[1][1], row[2][1]) for row in figures}["people exposed"] == (1, 0)


@pytest.mark.parametrize("option", ["--sensitive", "--baseline"])
def test_side_by_side_with_values_of_two_types(run, option):
    """A value that is a text in one file and a number in the other is one value, for options about both files."""
    Path("draft.csv").write_text("age,code\n30,1\n30,x\n40,1\n40,x\n")
    Path("final.csv").write_text("age,code\n30,1\n30,2\n40,1\n40,1\n")
    Path("before.csv").write_text("code,P\n1,0.5\nx,0.3\n2,0.2\n")
    command = ["report", "draft.csv", "final.csv", "--qi", "age", "--sa", "code"]
    text = run(*command, option, "1" if option == "--sensitive" else "before.csv")
    assert "code of 'final.csv' is read as in TABLE: 1 as '1'" in text
    figures = page().table("Side by side")
    assert {row[0][0]: (row[1][1], row[2][1]) for row in figures}["people exposed"] == (0, 2)


def test_it_ends_as_quantify_does(run):
    """The exit status is 1 if people are exposed above the limit, and the page is written and names their number."""
    assert "FAIL: 1 of 10" in run(
        "report", "three.csv", *ROLES, *MEDICINE, "--fail-above", "0.5", "--attack", "worst-case", status=1
    )
    assert "Attacks" in headings(page(), 2)
    text = run("report", "three.csv", *ROLES, "--fail-above", "0.4", status=1)
    (failed,) = re.findall(r"FAIL: (\d+ of 10) people", text)
    assert f"{failed} people are exposed" in page().text
    run("report", "three.csv", *ROLES, "--fail-above", "0.5")
    assert "a probability of more than 50 %" in page().text


def test_records_of_a_release_need_original_records(run, refuse, hospital):
    """Cells of a generalised table are no original records; the message names the option that gives them."""
    hospital.replace({"Gender": ["male", "female"]}, "*").to_csv("coarse.csv", index=False)
    options = ["report", "coarse.csv", "--generalized", *ROLES[:4], "--records"]
    assert "--original" in refuse(*options)
    assert "wrote report.html" in run(*options, "--original", "coarse.csv")


def test_a_missing_baseline_is_mentioned_once(run, hospital):
    """The page judges by the same baseline, which needs no second line."""
    rules = ["--method", "rules", "--support", "0.1", "--confidence", "0.5", "--out", "published"]
    run("publish", "three.csv", "--qi", "Gender,Degree", "--sa", "Disease", *rules)
    values = ",".join(hospital["Disease"].unique())
    text = run(
        "report", "published_rules.csv", "--qi-table", "published_qi.csv", "--values", values, "--language", "de"
    )
    assert "veröffentlichte Regel: " in page().text
    assert text.count("baseline: none") == 1


def test_options_that_are_mentioned_exist(run):
    """Of many exposed groups the first ten are printed; quantify, which alone has --json, lists all of them."""
    Path("many.csv").write_text("age,code\n" + "".join(f"{age},{age % 2}\n" for age in range(12)))
    text = run("report", "many.csv", "--qi", "age", "--sa", "code", "--l", "1")
    assert "... and 2 more groups; quantify --json lists all of them" in text
