"""Files that the pages for contributors name exist, and the picture of the README is drawn by the script beside it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


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


def test_picture_of_the_readme_is_drawn_as_it_is(tmp_path):
    """The script beside the README's picture draws it: a picture of the same size."""
    script = ROOT / "docs" / "_static" / "draw_hospital.py"
    subprocess.run(
        [sys.executable, script, tmp_path / "drawn.png"], check=True, env={**os.environ, "MPLBACKEND": "Agg"}
    )
    size = slice(16, 24)  # of a PNG file: its width and height, after the signature and the name of the first chunk
    assert (tmp_path / "drawn.png").read_bytes()[size] == script.with_name("hospital.png").read_bytes()[size]
