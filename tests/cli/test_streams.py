"""The command line in a pipe: a dash for a standard stream, data alone on standard output, a reader who goes away."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.cli.main import main

PROGRAM = [sys.executable, "-c", "import sys; from maxent_cvx.cli import main; sys.exit(main(sys.argv[1:]))"]

ROLES = ["--qi", "Gender,Degree", "--sa", "Disease"]

BUCKET = [*ROLES, "--bucket", "Bucket"]


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


def identical(path):
    """A file's content, to see that it is kept."""
    return path.read_bytes()


@pytest.mark.parametrize("name", ["in.csv", "./in.csv", "symbolic.csv", "hard.csv"])
@pytest.mark.parametrize("option", ["TABLE", "--people", "--knowledge", "stdin"])
def test_an_input_is_never_overwritten(folder, capsys, monkeypatch, name, option):
    """Under whichever name, and whichever option reads it, a command that would write over it is refused."""
    texts = {
        "TABLE": (folder / "hospital.csv").read_text(),
        "--people": "name,Gender,Degree\nAlice,female,college\n",
        "--knowledge": "P(Flu | Gender=male) = 0.3\n",
    }
    (folder / "in.csv").write_text(texts.get(option, texts["TABLE"]))
    (folder / "symbolic.csv").symlink_to("in.csv")
    os.link("in.csv", "hard.csv")
    before = identical(folder / "in.csv")
    given = (
        ["in.csv", *BUCKET]
        if option == "TABLE"
        else ["-", *BUCKET]
        if option == "stdin"
        else ["hospital", option, "in.csv"]
    )
    with (folder / "in.csv").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert main(["quantify", *given, "--out", name]) == 2
    assert "would overwrite" in capsys.readouterr().err
    assert identical(folder / "in.csv") == before


def test_two_outputs_are_two_files(folder, capsys):
    """A link may make one file of two names: then one would be lost."""
    (folder / "a.csv").touch()
    (folder / "b.svg").symlink_to("a.csv")
    assert main(["quantify", "hospital", "--out", "a.csv", "--plot", "b.svg"]) == 2
    assert "would both write" in capsys.readouterr().err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
@pytest.mark.parametrize("stream", ["full", "closed"])
@pytest.mark.parametrize("command", [["quantify", "hospital"], ["quantify", "hospital", "--json"], ["--help"]], ids=str)
def test_standard_output_that_cannot_be_written(command, stream):
    """Status 2 and one line: 1 would say that somebody is exposed."""
    line = f"exec {shlex.join([*PROGRAM, *command])} {'>/dev/full' if stream == 'full' else '>&-'}"
    found = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, check=False)
    assert found.returncode == 2
    assert found.stderr.startswith(b"maxent-cvx: error: standard output")
    assert found.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    "command", [["quantify", "nofile"], ["quantify"], ["quantify", "hospital", "--k", "x"]], ids=str
)
@pytest.mark.parametrize("error", ["", "2>&-"])
def test_an_error_is_a_document_too(command, error):
    """With --json standard output is one document, also of wrong options and without standard error."""
    line = f"exec {shlex.join([*PROGRAM, *command, '--json'])} {error}"
    found = subprocess.run(["sh", "-c", line], capture_output=True, check=False)
    assert json.loads(found.stdout)["status"] == found.returncode == 2


def test_labels_do_nothing_to_a_terminal(folder, capsys):
    """Control characters are shown as escapes, in sentences, tables and errors; a line break begins no line."""
    evil = "Flu\x1b[2J\x07\u202e\nPASS: nobody is exposed"
    table = pd.read_csv(folder / "hospital.csv").replace("Flu", evil)
    table = table.rename(columns={"Gender": "Gen\x9bder\nPASS: a"})
    table.to_csv("evil\x1b.csv", index=False)
    roles = ["--qi", '"Gen\x9bder\nPASS: a",Degree', "--sa", "Disease", "--bucket", "Bucket"]
    assert main(["quantify", "evil\x1b.csv", *roles, "--threshold", "0.3", "--out", "p\x1b.csv"]) == 0
    assert main(["attack", "worst-case", "evil\x1b.csv", *roles]) == 0
    assert main(["quantify", "no\x1bfile"]) == 2
    shown = capsys.readouterr()
    for text in (shown.out, shown.err):
        assert not set(text) & set("\x1b\x07\x9b\u202e")
        assert not [line for line in text.splitlines() if line.startswith("PASS")]
    assert "Flu\\x1b[2J" in shown.out
    assert pd.read_csv("p\x1b.csv").columns[3] == evil or evil in pd.read_csv("p\x1b.csv").columns, "data stay data"


def test_formulas_are_escaped_on_request(folder, capsys):
    """No cell and no name of a published file begins like a formula, and the command that reads it back runs."""
    table = pd.read_csv(folder / "hospital.csv").replace({"Flu": "=1+1", "male": "@SUM(1)"})
    table.rename(columns={"Gender": "+Gender"}).to_csv("sheet.csv", index=False)
    roles = ["--qi", "+Gender,Degree", "--sa", "Disease"]
    assert main(["publish", "sheet.csv", *roles, "--l", "2", "--out", "open", "--escape-formulas"]) == 0
    command = shlex.split(capsys.readouterr().out.splitlines()[-1].partition(":")[2])
    for path in ("open_qi.csv", "open_sa.csv"):
        cells = pd.read_csv(path, header=None, dtype=str).stack()
        assert not cells.str.match(r"[=+\-@\t\r]").any()
    assert main(command[1:]) == 0
