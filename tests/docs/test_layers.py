"""Modules import from lower layers only, and never in a cycle."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_layers(tmp_path):
    """Every contract of import-linter in pyproject.toml is kept."""
    settings = Path(__file__).parents[2] / "pyproject.toml"
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()"]
    done = subprocess.run(
        [*command, "--config", str(settings), "--no-cache"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
