"""The notebooks run from top to bottom, and are stored with outputs and without errors."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError

from support.patience import AGES, PATIENT_ENVIRONMENT

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NAMES = [
    "01_hospital.ipynb",
    "02_privacy_maxent_on_adult.ipynb",
    "03_what_if_they_also_know.ipynb",
    "04_published_rules.ipynb",
    "05_published_again.ipynb",
    "06_possible_worlds.ipynb",
    "07_how_closely_can_they_know.ipynb",
    "08_your_own_knowledge.ipynb",
    "09_attacks.ipynb",
]


def read(name):
    """A notebook as it is stored."""
    return nbformat.read(NOTEBOOKS / name, as_version=4)


def outputs(notebook):
    """All outputs of all code cells."""
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def test_every_notebook_is_tested():
    """No notebook is added without being run."""
    assert sorted(path.name for path in NOTEBOOKS.glob("*.ipynb")) == NAMES


def execute(notebook, seconds=AGES):
    """Run every cell. A kernel that hangs would do so for ever; that it was given up is said, and is no failure."""
    client = NotebookClient(
        notebook,
        timeout=seconds,
        startup_timeout=AGES,
        kernel_name="python3",
        resources={"metadata": {"path": NOTEBOOKS}},
    )
    try:
        client.execute()
    except CellTimeoutError as error:
        pytest.skip(f"a cell was given up after {seconds:g} seconds: {str(error).splitlines()[0]}")


@pytest.mark.parametrize("name", NAMES)
def test_runs(name, monkeypatch):
    """Every cell runs, however long it takes; the experiments on Adult in their small setting."""
    for setting, value in {"MAXENT_CVX_SMALL": "1", **PATIENT_ENVIRONMENT}.items():
        monkeypatch.setenv(setting, value)
    notebook = read(name)
    execute(notebook)
    assert all(output.output_type != "error" for output in outputs(notebook))


@pytest.mark.parametrize("name", NAMES)
def test_stored_with_outputs(name):
    """What a reader sees without running anything: outputs and pictures, no error, no warning, every cell in order."""
    notebook = read(name)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    kinds = [output.output_type for output in outputs(notebook)]
    assert kinds
    assert "error" not in kinds
    assert all(output.name == "stdout" for output in outputs(notebook) if output.output_type == "stream")
    assert sum("image/png" in output.get("data", {}) for output in outputs(notebook)) >= 3
