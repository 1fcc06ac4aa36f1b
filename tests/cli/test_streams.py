"""The command line in a pipe: a dash for a standard stream, data alone on standard output, a closed pipe."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.cli.main import main
from support.commands import printed_command

PROGRAM = [sys.executable, "-m", "maxent_cvx"]

ROLES = ["--qi", "Gender,Degree", "--sa", "Disease"]

BUCKET = [*ROLES, "--bucket", "Bucket"]

#: The content of a file for each option that reads one; of the table, None.
INPUTS = {
    "TABLE": None,
    "--knowledge": "P(Flu | Gender=male) = 0.3\n",
    "--people": "name,Gender,Degree\nAlice,female,college\n",
    "--baseline": "Disease,P\nFlu,0.5\nHIV,0.5\nPneumonia,0\nBreast Cancer,0\nLung Cancer,0\n",
}


def reading(option: str, path: str) -> list[str]:
    """The command that reads a file as the table, or by another option."""
    return ["quantify", path, *BUCKET] if option == "TABLE" else ["quantify", "hospital", option, path]


@pytest.fixture
def file(folder, request):
    """A file for the option that the test is about."""
    text = INPUTS[request.getfixturevalue("option")]
    path = folder / "in.csv"
    path.write_text((folder / "hospital.csv").read_text() if text is None else text, encoding="utf-8")
    return path


@pytest.mark.parametrize("option", INPUTS)
def test_files_from_standard_input(monkeypatch, run, file, option):
    """Every option that reads a file reads a dash as standard input, with the same result."""
    expected = run(*reading(option, "in.csv"))
    monkeypatch.setattr("sys.stdin", io.StringIO(file.read_text(encoding="utf-8")))
    assert run(*reading(option, "-")).replace("standard input", "in.csv") == expected


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "with a mark"])
def test_standard_input_is_utf_8(monkeypatch, run, refuse, mark):
    """In every locale, knowledge is read from standard input as from a file: in UTF-8, with or without a mark."""
    Path("ill.csv").write_text("sex,ill\nm,Müde\nm,HIV\nf,Müde\nf,HIV\n", encoding="utf-8")
    knowledge = f"{mark}P(Müde | sex=m) <= 0.9\n"
    command = ["quantify", "ill.csv", "--qi", "sex", "--sa", "ill", "--knowledge"]

    def give(encoding: str) -> None:
        stream = io.BytesIO(knowledge.encode(encoding, "ignore"))
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stream, encoding="cp1252"))

    Path("known.txt").write_text(knowledge, encoding="utf-8")
    give("utf-8")
    assert run(*command, "-").replace("standard input", "known.txt") == run(*command, "known.txt")
    give("cp1252")
    Path("known.txt").write_text(knowledge, encoding="cp1252", errors="ignore")
    assert refuse(*command, "-").replace("standard input", "known.txt") == refuse(*command, "known.txt")


def test_each_standard_stream_is_used_once(refuse):
    """Two readers of standard input, or two writers of standard output, are refused before any work."""
    assert "TABLE and --knowledge" in refuse("quantify", "-", *BUCKET, "--knowledge", "-")
    assert "--json and --out" in refuse("quantify", "hospital", "--json", "--out", "-")


def test_data_alone_on_standard_output(capsys, run, release):
    """With --out - standard output is the CSV file with P(s | q), and messages go to standard error."""
    assert main(["quantify", "hospital", "--out", "-"]) == 0
    captured = capsys.readouterr()
    table = pd.read_csv(io.StringIO(captured.out), index_col=[0, 1])
    pd.testing.assert_frame_equal(table, mx.MaxEnt(release).solve().conditional(), check_names=False)
    assert "Worst disclosure" in captured.err
    assert "wrote p.csv" in run("quantify", "hospital", "--out", "p.csv")
    pd.testing.assert_frame_equal(pd.read_csv("p.csv", index_col=[0, 1]), table)


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
    result = json.loads(judged.stdout)
    assert result["tables"] == ["-"]
    assert result["release"]["records"] == 10
    assert judged.returncode == result["status"] == int(result["fail_above"]["people"] > 0)
    assert judged.stderr == b""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGPIPE: its pipes break in another way")
@pytest.mark.parametrize("arguments", [["quantify", "--help"], ["quantify", "hospital", "--out", "-"]], ids=str)
def test_a_closed_pipe_is_no_error(arguments):
    """``| head`` closes the pipe: the program ends quietly, with the status that shells give for it."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.Popen([*PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=buffered)
    process.stdout.close()
    message = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 141
    assert not [word for word in (b"Traceback", b"Exception", b"error:") if word in message]


@pytest.mark.parametrize("name", ["in.csv", "./in.csv", "symbolic.csv", "hard.csv"])
@pytest.mark.parametrize("is_stdin", [False, True])
@pytest.mark.parametrize("option", ["TABLE", "--people", "--knowledge"])
def test_an_input_is_never_overwritten(file, refuse, monkeypatch, name, option, is_stdin):
    """A command that would write over its input is refused, under any name of the file, also as standard input."""
    Path("symbolic.csv").symlink_to("in.csv")
    os.link("in.csv", "hard.csv")
    before = file.read_bytes()
    with file.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert "would overwrite" in refuse(*reading(option, "-" if is_stdin else "in.csv"), "--out", name)
    assert file.read_bytes() == before


def test_two_outputs_are_two_files(refuse):
    """Two output options that lead to the same file, even through a link, are refused."""
    Path("a.csv").touch()
    Path("b.svg").symlink_to("a.csv")
    assert "would both write" in refuse("quantify", "hospital", "--out", "a.csv", "--plot", "b.svg")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
@pytest.mark.parametrize(
    ("command", "redirection"),
    [
        ("quantify hospital", ">/dev/full"),
        ("quantify hospital --json", ">/dev/full"),
        ("--help", ">/dev/full"),
        ("--help", ">&-"),
    ],
)
def test_standard_output_that_cannot_be_written(command, redirection):
    """Status 2 and one line: 1 would say that somebody is exposed."""
    line = f"exec {shlex.join(PROGRAM)} {command} {redirection}"
    done = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(b"maxent-cvx: error: standard output")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("is_closed", [False, True])
@pytest.mark.parametrize("command", ["quantify nofile", "quantify", "quantify hospital --k x"])
def test_an_error_is_a_document_too(command, is_closed, capsys, monkeypatch):
    """With --json standard output is one document, also of wrong options and without standard error."""
    if is_closed:
        monkeypatch.setattr("sys.stderr", None)  # what Python makes of 2>&-
    assert main([*command.split(), "--json"]) == 2
    if is_closed:
        sys.stderr.close()  # what it was replaced by
    assert json.loads(capsys.readouterr().out)["status"] == 2


def test_labels_do_nothing_to_a_terminal(hospital, capsys):
    """Control characters, including line breaks, are printed as escapes in sentences, tables and errors."""
    evil = "Flu\x1b[2J\x07\u202e\nPASS: nobody is exposed"
    table = hospital.replace("Flu", evil).rename(columns={"Gender": "Gen\x9bder\nPASS: a"})
    table.to_csv("evil\x1b.csv", index=False)
    roles = ["--qi", '"Gen\x9bder\nPASS: a",Degree', "--sa", "Disease", "--bucket", "Bucket"]
    assert main(["quantify", "evil\x1b.csv", *roles, "--threshold", "0.3", "--out", "p\x1b.csv"]) == 0
    assert main(["attack", "worst-case", "evil\x1b.csv", *roles]) == 0
    assert main(["quantify", "no\x1bfile"]) == 2
    captured = capsys.readouterr()
    for text in (captured.out, captured.err):
        assert not set(text) & set("\x1b\x07\x9b\u202e")
        assert not [line for line in text.splitlines() if line.startswith("PASS")]
    assert "Flu\\x1b[2J" in captured.out
    assert evil in pd.read_csv("p\x1b.csv").columns, "data stay data"


def test_formulas_are_escaped_on_request(hospital, run):
    """No cell and no name of a published file begins like a formula, and the command that reads it back runs."""
    table = hospital.replace({"Flu": "=1+1", "male": "@SUM(1)"}).rename(columns={"Gender": "+Gender"})
    table.to_csv("sheet.csv", index=False)
    roles = ["--qi", "+Gender,Degree", "--sa", "Disease"]
    text = run("publish", "sheet.csv", *roles, "--l", "2", "--out", "open", "--escape-formulas")
    for path in ("open_qi.csv", "open_sa.csv"):
        cells = pd.read_csv(path, header=None, dtype=str).stack()
        assert not cells.str.match(r"[=+\-@\t\r]").any()
    run(*printed_command(text, "Read them back:"))
