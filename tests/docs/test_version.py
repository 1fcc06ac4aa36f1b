"""The version is written in `pyproject.toml`, and what repeats it says the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def test_citation_has_the_version():
    """Who cites the package cites the version that is installed."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (\S+)$", citation, re.MULTILINE) == [VERSION]


def test_changelog_begins_with_the_version():
    """The newest version of the changelog is the one that is installed; what is newer is unreleased."""
    headings = re.findall(r"^## \[(\S+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert next(name for name in headings if name != "Unreleased") == VERSION
