"""A folder of its own for every test of the command line, and commands with the exit status that they must have."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from maxent_cvx.cli.main import main
from support.commands import printed_command


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, hospital):
    """The working folder, with the hospital's table in it."""
    monkeypatch.chdir(tmp_path)
    hospital.to_csv("hospital.csv", index=False)
    return tmp_path


@pytest.fixture
def people():
    """Sixty people with letters of Western Europe, decimal numbers and codes with leading zeros."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "Alter": rng.integers(20, 60, 60), "PLZ": rng.choice(["01067", "80331"], 60),
            "Größe": rng.integers(1500, 2000, 60) / 10, "Krankheit": rng.choice(["Grippe", "Müdigkeit; stark", "Röteln"], 60),
        }
    )  # fmt: skip


@pytest.fixture
def run(capsys):
    """Run a command that must end with a status, and report an error only if there is one; return its output."""

    def run(*arguments: str, status: int = 0) -> str:
        assert main([*arguments]) == status
        captured = capsys.readouterr()
        assert bool(captured.err) == (status in (2, 3, 70)), captured.err
        return captured.out

    return run


@pytest.fixture
def refuse(capsys):
    """Run a command that must end with status 2; return the one line on standard error."""

    def refuse(*arguments: str) -> str:
        assert main([*arguments]) == 2
        message = capsys.readouterr().err
        assert len(message.splitlines()) == 1
        return message

    return refuse


@pytest.fixture
def document(run, request):
    """Run a command with --json; return its document, each key of which is on the page about the command line."""
    page = (request.config.rootpath / "docs" / "reference" / "command_line.md").read_text(encoding="utf-8")

    def document(*arguments: str, status: int = 0) -> dict:
        result = json.loads(run(*arguments, "--json", status=status))
        assert result["status"] == status
        assert [key for key in result if f"`{key}`" not in page] == []
        return result

    return document


@pytest.fixture
def published(run, document):
    """Publish, run the command that is printed, and return its document."""

    def published(*arguments: str) -> dict:
        return document(*printed_command(run("publish", *arguments), "Read them back:"))

    return published
