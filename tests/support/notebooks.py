"""Run notebooks and store them with their outputs:  python tests/support/notebooks.py 01 03  (by default all).

Notebooks run in full. Those with a small setting run in it, too, and its outputs are stored for the tests.
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
#: Outputs of the small runs, one file per notebook that has one.
SMALL_RUNS = Path(__file__).parents[1] / "docs" / "small_runs"
#: Environment variable of the small setting.
SMALL = "MAXENT_CVX_SMALL"
#: Environment of kernels.
ENVIRONMENT = {
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "TQDM_DISABLE": "1",
    "OMP_NUM_THREADS": "1",
    **PATIENT_ENVIRONMENT,
}


def names():
    """The names of all notebooks, in order."""
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
    """Run every cell in the environment of this process."""
    NotebookClient(
        notebook,
        timeout=seconds,
        startup_timeout=AGES,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": NOTEBOOKS}},
    ).execute()


def small_run_file(name):
    """The file with the outputs of the small run."""
    return SMALL_RUNS / name.replace(".ipynb", ".json")


def stored_small_run(name):
    """The stored outputs of the small run; those in the notebook if it has one size only."""
    notebook = read(name)
    if has_small_run(notebook):
        return json.loads(small_run_file(name).read_text(encoding="utf-8"))
    return shown(notebook)


def used_seconds():
    """Processor seconds of finished child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def say(line):
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def store(name):
    """Run a notebook in full and in its small setting; store it and the outputs of the small run."""
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
