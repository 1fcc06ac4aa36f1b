"""The pages for contributors say what is so: the floors, the rooms of the engine, files by their paths, conventions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "maxent_cvx"
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def drawn(heading: str) -> list[list[str]]:
    """The rooms of the first picture below a heading, a list a line, from the top; words end at two spaces."""
    picture = ARCHITECTURE.partition(f"\n{heading}\n")[2].partition("```text\n")[2].partition("```")[0]
    found = []
    for line in picture.splitlines():
        names = re.match(r"  (?:\d+ +)?((?:\w+(?:  ?| \| ))+) {2,}\S", line)
        if names and "front door" not in line:
            found.append(re.findall(r"\w+", names[1]))
    return found


def test_floors_are_drawn_as_they_are():
    """The picture of the floors is the contract that imports are checked by (C5)."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    rooms = [sorted(re.findall(r"\w+", layer)) for layer in layers]
    assert [sorted(floor) for floor in drawn("## The floors")] == rooms
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{sum(map(len, rooms))} rooms on {len(rooms)} floors" in readme


def test_engine_is_drawn_as_it_is():
    """A room of the engine imports only rooms printed below it; one that is not printed imports none of them."""
    graph = grimp.build_graph("maxent_cvx", cache_dir=None)
    lines = drawn("## The rooms of the engine")
    height = {room: -number for number, rooms in enumerate(lines) for room in rooms}
    rooms = {path.stem for path in (PACKAGE / "solvers").iterdir()} - {"__init__", "__pycache__"}
    assert set(height) <= rooms
    rises = []
    for room in rooms:
        modules = {f"maxent_cvx.solvers.{room}", *graph.find_descendants(f"maxent_cvx.solvers.{room}")}
        imported = set().union(*map(graph.find_modules_directly_imported_by, modules))
        below = {name.split(".")[2] for name in imported if name.startswith("maxent_cvx.solvers.")} - {room}
        own = height.get(room, -len(lines))
        rises += [f"{room} imports {other}" for other in below if height.get(other, -len(lines) - 1) >= own]
    assert rises == []


def paths(page: str) -> Iterator[str]:
    """Files and folders that a page names: `solvers/dual/newton.py`, `tests/benchmarks`, not `sources/<kind>.py`."""
    for name in re.findall(r"`([\w./]+)`", page):
        if name.endswith((".py", ".md", ".toml", ".rst")) or ("/" in name and "." not in name and name[0] != "/"):
            yield name


@pytest.mark.parametrize("page", [ARCHITECTURE, CONTRIBUTING], ids=["architecture", "contributing"])
def test_files_that_pages_name_exist(page):
    """A path is one below the repository or below the package, or the end of one: `projection.py` of a room named."""
    files = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if not {".git", "_build"} & set(path.parts)}
    named = set(paths(page))
    lost = {name for name in named if not any(f"/{path}".endswith("/" + name.rstrip("/")) for path in files)}
    assert named
    assert lost == set()


def test_conventions_are_numbered():
    """The conventions have the numbers 1, 2, 3 and so on, each once."""
    numbers = [int(number) for number in re.findall(r"^\*\*C(\d+)\. ", CONTRIBUTING, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_conventions_that_are_cited_exist():
    """Whoever cites a convention, as "(C5)" or "(C1, C7)", cites one that there is."""
    written = {f"C{number}" for number in re.findall(r"^\*\*C(\d+)\. ", CONTRIBUTING, re.MULTILINE)}
    cited = set()
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *ROOT.glob("*.md")]:
        for together in re.findall(r"\((C\d+(?:, C\d+)*)\)", path.read_text(encoding="utf-8")):
            cited |= set(together.split(", "))
    assert cited
    assert cited <= written


def test_picture_of_the_readme_is_drawn_as_it_is(tmp_path):
    """The script beside the README's picture draws it: a picture of the same size."""
    script = ROOT / "docs" / "_static" / "draw_hospital.py"
    subprocess.run(
        [sys.executable, script, tmp_path / "drawn.png"], check=True, env={**os.environ, "MPLBACKEND": "Agg"}
    )
    size = slice(16, 24)  # of a PNG file: its width and height, after the signature and the name of the first chunk
    assert (tmp_path / "drawn.png").read_bytes()[size] == script.with_name("hospital.png").read_bytes()[size]
