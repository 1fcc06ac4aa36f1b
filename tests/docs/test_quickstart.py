"""The quickstart is true: its commands and Python examples run in order, and print what the page shows."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from maxent_cvx.cli.main import main

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "quickstart.md").read_text(encoding="utf-8")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
#: How the page shows the exit status of a command.
STATUS = '; echo "exit status $?"'


def output_of(command, capsys):
    """Run a command of the page: the program in this process, others by the shell."""
    if not command.startswith("maxent-cvx "):
        return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout
    _, *arguments = shlex.split(command.removesuffix(STATUS))
    status = main(arguments)
    return capsys.readouterr().out + (f"exit status {status}\n" if command.endswith(STATUS) else "")


@pytest.mark.skipif(os.name != "posix", reason="the commands are those of a POSIX shell")
def test_quickstart(tmp_path, monkeypatch, capsys):
    """Every block of the page runs in one folder; `...` on the page stands for any output."""
    monkeypatch.chdir(tmp_path)
    checker = doctest.OutputChecker()
    commands = 0
    for kind, text in re.findall(r"^```(text|console|python)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        if kind == "text":
            Path("people.csv").write_text(text)
            assert (DOCS / "_static" / "people.csv").read_text() == text  # the file to download
        elif kind == "console":
            for command, expected in re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
                commands += 1
                output = output_of(command.replace("\\\n", ""), capsys)
                # Output may be empty where the page shows `...`.
                assert checker.check_output(expected, output + "\n", FLAGS), (command, output)
        else:
            test = doctest.DocTestParser().get_doctest(text, {}, "quickstart.md", None, 0)
            assert doctest.DocTestRunner(optionflags=FLAGS).run(test).failed == 0
    assert commands == 9
