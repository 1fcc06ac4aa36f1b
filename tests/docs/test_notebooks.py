"""The course: notebooks run from top to bottom, show what they are stored with, and their exercises are answered."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellTimeoutError

from support import notebooks
from support.notebooks import ENVIRONMENT, SMALL, code_cells, has_small_run, read, shown
from support.patience import AGES
from support.shown import differences

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
    "10_which_solver.ipynb",
]
#: What a researcher states of his own has no paper to replicate.
WITHOUT_PAPER = {"08_your_own_knowledge.ipynb"}
#: What every notebook asks, in this order: to guess first, to refute, to change the data, to state, to carry over.
EXERCISES = ["Predict", "Find a counterexample", "Change the data", "State it yourself", "Carry it over"]
#: What its head says, in this order.
HEAD = ["**Minutes.**", "**What you need.**", "**What you will learn.**"]
COURSE = (Path(__file__).parents[2] / "docs" / "notebooks.md").read_text(encoding="utf-8")


def outputs(notebook):
    """All outputs of all code cells."""
    return [output for cell in code_cells(notebook) for output in cell.outputs]


def test_every_notebook_is_tested():
    """No notebook is added without being run."""
    assert notebooks.names() == NAMES


def execute(notebook, seconds=AGES):
    """Run every cell. A kernel that hangs would do so for ever; that it was given up is said, and is no failure."""
    try:
        notebooks.execute(notebook, seconds)
    except CellTimeoutError as error:
        pytest.skip(f"a cell was given up after {seconds:g} seconds: {str(error).splitlines()[0]}")


@pytest.mark.parametrize("name", NAMES)
def test_runs(name, monkeypatch):
    """Every cell runs, answers to exercises, too, and shows what a small run showed when the notebook was stored."""
    for setting, value in {SMALL: "1", **ENVIRONMENT}.items():
        monkeypatch.setenv(setting, value)
    notebook = read(name)
    execute(notebook)
    assert differences(notebooks.stored_small_run(name), shown(notebook)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if has_small_run(read(name))])
def test_runs_in_full(name, monkeypatch):
    """What readers see in a stored notebook is what a run of the same size shows."""
    for setting, value in ENVIRONMENT.items():
        monkeypatch.setenv(setting, value)
    monkeypatch.delenv(SMALL, raising=False)
    notebook = read(name)
    files = re.findall(r'Path\("([^"]+)"\)', "\n".join(cell.source for cell in code_cells(notebook)))
    if lost := [file for file in files if not (notebooks.NOTEBOOKS / file).exists()]:
        pytest.skip(f"it was stored where there was {lost[0]}, which is not here")
    stored = shown(notebook)
    execute(notebook)
    assert differences(stored, shown(notebook)) == []


@pytest.mark.parametrize("name", NAMES)
def test_stored_with_outputs(name):
    """What a reader sees without running anything: outputs and pictures, no error, no warning, every cell in order."""
    notebook = read(name)
    nbformat.validate(notebook)
    code = code_cells(notebook)
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert all("execution" not in cell.metadata for cell in code)
    kinds = [output.output_type for output in outputs(notebook)]
    assert kinds
    assert "error" not in kinds
    assert all(output.name == "stdout" for output in outputs(notebook) if output.output_type == "stream")
    assert sum("image/png" in output.get("data", {}) for output in outputs(notebook)) >= 3


def test_small_runs_are_of_notebooks():
    """What small runs show is stored for the notebooks that have two sizes, and for no other."""
    stored = sorted(path.name for path in notebooks.SMALL_RUNS.glob("*"))
    assert stored == [notebooks.small_run_file(name).name for name in NAMES if has_small_run(read(name))]


@pytest.mark.parametrize("name", NAMES)
def test_head(name):
    """The first cell has the title, and says how long it takes, what it needs, what one learns, and of two sizes."""
    first, notebook = read(name).cells[0], read(name)
    assert first.cell_type == "markdown"
    assert first.source.startswith("# ")
    places = [first.source.find(part) for part in HEAD]
    assert -1 not in places
    assert places == sorted(places)
    assert (f"`{SMALL}=1`" in first.source) == has_small_run(notebook)


@pytest.mark.parametrize("name", NAMES)
def test_lesson_first(name):
    """A lesson comes first, then the replication, where there is a paper to replicate, and exercises at the end."""
    text = "\n".join(cell.source for cell in read(name).cells if cell.cell_type == "markdown")
    sections = re.findall(r"^## (.+)", text, re.MULTILINE)
    assert sections[-1] == "Exercises"
    replications = [place for place, section in enumerate(sections) if section.startswith("Replication: ")]
    assert len(replications) == (name not in WITHOUT_PAPER)
    assert 0 not in replications


@pytest.mark.parametrize("name", NAMES)
def test_course_page(name):
    """The course page links every notebook, with the minutes that its head says."""
    (row,) = [line for line in COURSE.splitlines() if line.startswith("|") and f"(notebooks/{name})" in line]
    head = read(name).cells[0].source
    minutes = re.search(r"\*\*Minutes\.\*\* (\d+) to read, (\d+) for the exercises", head)
    assert minutes
    assert f"| {minutes[1]} + {minutes[2]} |" in row


@pytest.mark.parametrize("name", NAMES)
def test_exercises(name):
    """Five exercises, of five kinds; each has a folded answer in words, and a folded one that computes and asserts."""
    cells = read(name).cells
    headings = [f"### Exercise {number}. {kind}\n" for number, kind in enumerate(EXERCISES, 1)]
    places = [place for place, cell in enumerate(cells) if cell.source.startswith("### Exercise ")]
    assert len(places) == len(headings)
    for heading, place in zip(headings, places, strict=True):
        question, answer = cells[place : place + 2]
        assert question.source.startswith(heading)
        before, _, words = question.source.partition("<details><summary>Answer</summary>\n\n")
        assert len(before) > len(heading) + 40
        assert words.endswith("\n\n</details>")
        assert answer.cell_type == "code"
        assert set(answer.metadata.tags) >= {"answer", "hide-cell"}  # folded on the page
        assert answer.metadata.jupyter == {"source_hidden": True, "outputs_hidden": True}  # and in Jupyter
        assert any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(answer.source)))
    assert sum("answer" in cell.metadata.get("tags", []) for cell in cells) == len(EXERCISES)
