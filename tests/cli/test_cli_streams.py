"""The command line in a pipe: a dash for a standard stream, data alone on standard output, a reader who goes away."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.cli import main

PROGRAM = [sys.executable, "-c", "import sys; from maxent_cvx.cli import main; sys.exit(main(sys.argv[1:]))"]
ROLES = ["--qi", "Gender,Degree", "--sa", "Disease"]
BUCKET = [*ROLES, "--bucket", "Bucket"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, hospital):
    """A folder of one's own with the hospital's table in it."""
    monkeypatch.chdir(tmp_path)
    hospital.to_csv("hospital.csv", index=False)
    return tmp_path


def test_a_table_from_standard_input(monkeypatch, capsys, folder):
    """What is said of a file is said of the same text on standard input."""
    assert main(["quantify", "hospital.csv", *BUCKET]) == 0
    expected = capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO((folder / "hospital.csv").read_text()))
    assert main(["quantify", "-", *BUCKET]) == 0
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--knowledge", "P(Flu | Gender=male) = 0.3\n"),
        ("--people", "name,Gender,Degree\nAlice,female,college\n"),
        ("--baseline", "Disease,P\nFlu,0.5\nHIV,0.5\nPneumonia,0\nBreast Cancer,0\nLung Cancer,0\n"),
    ],
)
def test_other_files_from_standard_input(monkeypatch, capsys, folder, option, text):
    """Every option that reads a file reads a dash as standard input."""
    (folder / "file").write_text(text, encoding="utf-8")
    assert main(["quantify", "hospital", option, "file"]) == 0
    expected = capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert main(["quantify", "hospital", option, "-"]) == 0
    assert capsys.readouterr().out == expected


def test_a_line_of_standard_input_is_named(monkeypatch, capsys):
    """A wrong statement on standard input is named by its line."""
    monkeypatch.setattr("sys.stdin", io.StringIO("P(Flu) >= 0.1\n\nP(Flux) = 0.3\n"))
    assert main(["quantify", "hospital", "--knowledge", "-"]) == 2
    assert "standard input, line 3: 'Flux'" in capsys.readouterr().err


def test_standard_streams_are_there_once(capsys):
    """Two readers of standard input, or two writers of standard output, are refused before any work."""
    assert main(["quantify", "-", *BUCKET, "--knowledge", "-"]) == 2
    assert "TABLE and --knowledge both read standard input" in capsys.readouterr().err
    assert main(["quantify", "hospital", "--json", "--out", "-"]) == 2
    assert "both write to standard output" in capsys.readouterr().err


def test_data_alone_on_standard_output(capsys, release):
    """With --out - standard output is the CSV file, and what is said for people goes to standard error."""
    assert main(["quantify", "hospital", "--out", "-"]) == 0
    shown = capsys.readouterr()
    found = pd.read_csv(io.StringIO(shown.out), index_col=[0, 1])
    pd.testing.assert_frame_equal(found, mx.MaxEnt(release).solve().conditional(), check_names=False)
    assert "Worst disclosure" in shown.err


def test_two_tables_do_not_fit_one_stream(capsys):
    """Anatomy writes two files; one stream cannot hold them."""
    assert main(["publish", "hospital", "--l", "2", "--out", "-"]) == 2
    assert "writes two tables" in capsys.readouterr().err


def test_a_pipe_from_end_to_end(folder):
    """``cat people | publish | quantify | a program that reads JSON``, with real processes and pipes."""
    with (folder / "hospital.csv").open("rb") as people:
        published = subprocess.run(
            [*PROGRAM, "publish", "-", *ROLES, "--method", "mondrian", "--k", "3", "--out", "-"],
            stdin=people, capture_output=True, check=True,
        )  # fmt: skip
    judged = subprocess.run(
        [*PROGRAM, "quantify", "-", *ROLES, "--generalized", "--json", "--fail-above", "0.4"],
        input=published.stdout, capture_output=True, check=False,
    )  # fmt: skip
    read = subprocess.run([sys.executable, "-m", "json.tool"], input=judged.stdout, capture_output=True, check=True)
    found = json.loads(read.stdout)
    assert found["tables"] == ["-"]
    assert found["release"]["records"] == 10
    assert judged.returncode == found["status"] == int(found["fail_above"]["people"] > 0)
    assert judged.stderr == b""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGPIPE: its pipes break in another way")
@pytest.mark.parametrize(
    "arguments", [["solvers"], ["quantify", "--help"], ["quantify", "hospital", "--out", "-"]], ids=str
)
def test_a_reader_who_goes_away_is_no_error(arguments):
    """``| head`` closes the pipe: the program ends quietly, with the status that shells give for it."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.Popen([*PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=buffered)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 141
    assert b"Traceback" not in said
    assert b"Exception" not in said
    assert b"error:" not in said


def test_the_version_is_the_package_s(capsys):
    """--version prints it on standard output, and ends with 0."""
    from importlib.metadata import version

    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert not stopped.value.code
    assert capsys.readouterr().out.split()[:2] == ["maxent-cvx", version("maxent-cvx")]


def test_a_warning_is_a_line(capsys):
    """What is worth a warning is a line on standard error, without Python's file and line."""
    assert main(["quantify", "hospital", *["--know", "P(Flu | Gender=male) <= 0.3"] * 2]) == 0
    assert capsys.readouterr().err.startswith("maxent-cvx: warning: the model holds 'P(Flu | Gender=male) <= 0.3'")


def test_an_interrupt_is_a_line(capsys, monkeypatch):
    """Who stops the program sees no traceback; the status is that of shells."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("maxent_cvx.model.maxent.MaxEnt.solve", interrupted)
    assert main(["quantify", "hospital"]) == 130
    assert capsys.readouterr().err == "maxent-cvx: interrupted\n"
