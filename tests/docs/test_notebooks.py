"""Every notebook runs from top to bottom and shows the outputs that it is stored with."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbclient.exceptions import CellTimeoutError

from support import notebooks
from support.notebooks import ENVIRONMENT, SMALL, code_cells, has_small_run, read, shown
from support.patience import AGES
from support.shown import differences

NAMES = notebooks.names()


def execute(notebook):
    """Run every cell; skip the test if a kernel hangs."""
    try:
        notebooks.execute(notebook)
    except CellTimeoutError as error:
        pytest.skip(f"a cell was given up after {AGES} seconds: {str(error).splitlines()[0]}")


@pytest.mark.parametrize("name", NAMES)
def test_runs(name, monkeypatch):
    """Every cell runs, with the asserted answers to exercises, and the small run has the stored outputs."""
    for setting, value in {SMALL: "1", **ENVIRONMENT}.items():
        monkeypatch.setenv(setting, value)
    notebook = read(name)
    execute(notebook)
    assert differences(notebooks.stored_small_run(name), shown(notebook)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if has_small_run(read(name))])
def test_runs_in_full(name, monkeypatch):
    """The outputs of a stored notebook are those of a run of the same size."""
    for setting, value in ENVIRONMENT.items():
        monkeypatch.setenv(setting, value)
    monkeypatch.delenv(SMALL, raising=False)
    notebook = read(name)
    files = re.findall(r'Path\("([^"]+)"\)', "\n".join(cell.source for cell in code_cells(notebook)))
    if missing := [file for file in files if not (notebooks.NOTEBOOKS / file).exists()]:
        pytest.skip(f"it was stored where there was {missing[0]}, which is not here")
    stored = shown(notebook)
    execute(notebook)
    assert differences(stored, shown(notebook)) == []


@pytest.mark.parametrize("name", NAMES)
def test_stored_with_outputs(name):
    """A stored notebook is valid, was run in order, and has neither errors nor warnings in its outputs."""
    notebook = read(name)
    nbformat.validate(notebook)
    code = code_cells(notebook)
    outputs = [output for cell in code for output in cell.outputs]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert "error" not in {output.output_type for output in outputs}
    assert all(output.name == "stdout" for output in outputs if output.output_type == "stream")
    assert any("image/png" in output.get("data", {}) for output in outputs)
