"""The quickstart is true: its commands and Python examples run in order, and print what the page shows."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "quickstart.md").read_text(encoding="utf-8")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.skipif(os.name != "posix", reason="the commands are those of a POSIX shell")
def test_quickstart(tmp_path, monkeypatch):
    """Every block of the page runs in one folder; `...` on the page stands for any output."""
    monkeypatch.chdir(tmp_path)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    checker = doctest.OutputChecker()
    commands = 0
    for kind, text in re.findall(r"^```(text|console|python)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        if kind == "text":
            Path("people.csv").write_text(text)
            assert (DOCS / "_static" / "people.csv").read_text() == text  # the file to download
        elif kind == "console":
            for command, expected in re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
                done = subprocess.run(
                    ["bash", "-c", command], env=environment, capture_output=True, text=True, check=False
                )
                commands += 1
                # Output may be empty where the page shows `...`.
                assert checker.check_output(expected, done.stdout + "\n", FLAGS), (command, done.stdout, done.stderr)
        else:
            test = doctest.DocTestParser().get_doctest(text, {}, "quickstart.md", None, 0)
            assert doctest.DocTestRunner(optionflags=FLAGS).run(test).failed == 0
    assert commands == 9
