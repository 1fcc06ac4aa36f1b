"""Messages are in the words of the command line: options, not parameters of functions."""

from __future__ import annotations

import argparse

import pandas as pd
import pytest

from maxent_cvx.cli.main import main
from maxent_cvx.cli.streams import in_options

OPTIONS = argparse.Namespace(
    exempt=0, l=2, id=None, strategy="independent", hierarchy=None, count=None, qi="a", min_support=3
)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("exempt=1 is too much", "--exempt 1 is too much"),
        ("give fewer, l=... say", "give fewer, --l ... say"),
        ("made without id=", "made without --id"),
        ("with id='Pseudonym', say", "with --id Pseudonym, say"),
        ("method='x' and hierarchies={...}", "--strategy x and --hierarchy ..."),
        ("a column (given as qi)", "a column (given as --qi)"),
        ("P(Flu | l=3, exempt=x) says 'l=3'", "P(Flu | l=3, exempt=x) says 'l=3'"),  # a user's own names
        ("qi=['a', 'b'], id=(0.5, 1)", "--qi a,b, --id 0.5,1"),
        ("lower min_support", "lower --min-support"),
        ("unknown=1 stays", "unknown=1 stays"),
        ("correct it, make it vague with .about(value, eps), or remove it",
         "correct it, make it vague, as in '= 0.3 +- 0.05', or remove it"),
        ("pass count='n', or leave it out, .drop(columns='n')", "pass --count n, or rename it or leave it out"),
    ],
)  # fmt: skip
def test_parameters_are_options(message, expected):
    """What a program is told to pass is the option of the same meaning; what a user has written stays."""
    assert in_options(message, OPTIONS) == expected


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, hospital):
    """A folder of one's own with the hospital's table in it."""
    monkeypatch.chdir(tmp_path)
    hospital.to_csv("hospital.csv", index=False)
    return tmp_path


def said(capsys, *arguments: str) -> str:
    """The one line that a command says that cannot work."""
    assert main([*arguments]) == 2
    return capsys.readouterr().err


def test_attacks_speak_of_options(capsys):
    """The attacks' functions have parameters, and their commands have options."""
    roles = ["--qi", "Gender,Degree", "--sa", "Disease", "--bucket", "Bucket"]
    assert "--smoothing -1" in said(capsys, "attack", "definetti", "hospital.csv", *roles, "--smoothing", "-1")
    assert "--iterations 0" in said(capsys, "attack", "definetti", "hospital.csv", *roles, "--iterations", "0")
    assert "--sa-table" in said(
        capsys, "attack", "worst-case", "hospital.csv", "hospital.csv", *roles, "--sa-table", "x.csv"
    )


def test_ranges_of_a_domain_may_be_negative(capsys, folder):
    """Degrees below zero are whole numbers, too."""
    (folder / "tables.csv").write_text("degrees,n,mean\n,2,-3.5\n-5--3,1,\n", encoding="utf-8")
    arguments = ["attack", "reconstruct", "tables.csv", "--domain", "degrees=-5-1", "--of", "degrees", "--out", "d.csv"]
    assert main(arguments) == 0
    capsys.readouterr()
    for _, people in pd.read_csv("d.csv").groupby("solution"):
        assert people["degrees"].between(-5, 1).all()
        assert (people["degrees"] <= -3).sum() == 1
        assert people["degrees"].mean() == pytest.approx(-3.5, abs=0.05)
    assert "least number" in said(capsys, "attack", "reconstruct", "tables.csv", "--domain", "degrees=-1--5")


def test_unknown_names_of_a_file_are_named_with_their_line(capsys, folder):
    """Whether a line cannot be read, or speaks of what there is not, the file and the line are said."""
    for text, what in (
        ("\nP(Flux) = 0.3\n", "'Flux'"),
        ("\nP(Flu | Sex=male) = 0.3\n", "'Sex'"),
        ("\nP(Flu = 1\n", "'|'"),
    ):
        (folder / "gossip.txt").write_text(text, encoding="utf-8")
        found = said(capsys, "quantify", "hospital", "--knowledge", "gossip.txt")
        assert "gossip.txt, line 2" in found
        assert what in found
    assert "--know 'P(Flux) = 0.3'" in said(capsys, "quantify", "hospital", "--know", "P(Flux) = 0.3")


def test_what_is_missing_is_asked_for_with_the_columns(capsys):
    """Who forgets an option is told which, and which columns the file has."""
    found = said(capsys, "quantify", "hospital.csv", "--qi", "Gender")
    assert "--sa must be given" in found
    assert "--qi" not in found
    assert "Name, Gender, Degree, Disease, Bucket" in found
    found = said(capsys, "quantify", "hospital.csv", "--qi", "Gender,Degree", "--sa", "Disease")
    assert "--bucket COLUMN if the table has them (Name, Bucket)" in found
