"""The course: its notebooks are read, run, and stored with what they show.

    python tests/support/notebooks.py 01 03        (all of them, if none is named)

runs notebooks in full and stores them, and stores what their small run shows for the tests.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.patience import AGES, PATIENT_ENVIRONMENT
from support.shown import shown

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
#: What the small runs show, a file a notebook that has one.
SMALL_RUNS = Path(__file__).parents[1] / "docs" / "small_runs"
#: The setting that makes experiments small.
SMALL = "MAXENT_CVX_SMALL"
#: A kernel draws into the notebook, shows no progress bars, and has the patience of the tests.
ENVIRONMENT = {
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "TQDM_DISABLE": "1",
    "OMP_NUM_THREADS": "1",
    **PATIENT_ENVIRONMENT,
}


def names():
    """All notebooks, in the order of the course."""
    return sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))


def read(name):
    """A notebook as it is stored."""
    return nbformat.read(NOTEBOOKS / name, as_version=4)


def code_cells(notebook):
    """The cells that are run."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def has_small_run(notebook):
    """Whether its experiments depend on MAXENT_CVX_SMALL."""
    return any(SMALL in cell.source for cell in code_cells(notebook))


def execute(notebook, seconds=AGES):
    """Run every cell, in a kernel whose environment is that of this process; an error in a cell is an error."""
    NotebookClient(
        notebook,
        timeout=seconds,
        startup_timeout=AGES,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": NOTEBOOKS}},
    ).execute()


def small_run_file(name):
    """Where it is stored what the small run of a notebook shows."""
    return SMALL_RUNS / name.replace(".ipynb", ".json")


def stored_small_run(name):
    """What the small run shows: as stored beside the tests; of a notebook that has one size only, as stored in it."""
    notebook = read(name)
    if has_small_run(notebook):
        return json.loads(small_run_file(name).read_text(encoding="utf-8"))
    return shown(notebook)


def used_seconds():
    """Seconds of processors that finished processes of ours have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def say(line):
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def store(name):
    """Run a notebook in full and, where it has one, in its small size; store it, and what the small run shows."""
    notebook = read(name)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    os.environ.pop(SMALL, None)
    begun, used = time.perf_counter(), used_seconds()
    execute(notebook)
    seconds = time.perf_counter() - begun
    say(f"{name}: in full {seconds:.0f} s, of processors {used_seconds() - used:.0f} s")
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.write(notebook, NOTEBOOKS / name)
    if has_small_run(notebook):
        os.environ[SMALL] = "1"
        begun = time.perf_counter()
        execute(notebook)
        say(f"{name}: small {time.perf_counter() - begun:.0f} s")
        SMALL_RUNS.mkdir(exist_ok=True)
        text = json.dumps(shown(notebook), indent=1, ensure_ascii=False)
        small_run_file(name).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ.update(ENVIRONMENT)
    for wanted in sys.argv[1:] or [""]:
        for name in names():
            if name.startswith(wanted):
                store(name)
