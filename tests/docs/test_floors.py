"""Modules import from lower layers only; the package lists its public names; modules list theirs."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
import tomllib
import types
from pathlib import Path

import grimp
import pytest

import maxent_cvx as mx

ROOT = Path(mx.__file__).parent


def modules() -> dict[str, Path]:
    """Every module by its name below the package: "errors", "sources.base", "sources" for its __init__."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts not in (("__init__",), ("datasets", "make_adult")):  # a script, which the package does not need
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@pytest.fixture(scope="module")
def graph():
    """Every import of the package, inside functions and for type checkers too."""
    return grimp.build_graph("maxent_cvx", cache_dir=None)


def test_imports_are_seen(graph):
    """The reader of imports sees what everybody sees: inside functions, and those for type checkers."""
    assert "maxent_cvx.terms.space" in graph.find_modules_directly_imported_by("maxent_cvx.model.maxent")
    assert "maxent_cvx._utils" in graph.find_modules_directly_imported_by("maxent_cvx.measures.accuracy")
    assert not graph.find_modules_directly_imported_by("maxent_cvx._utils.errors")


def test_nobody_enters_by_the_front_door(graph):
    """What is inside imports from where a thing is, and not from the list that users see (C5)."""
    assert not graph.find_modules_that_directly_import("maxent_cvx")


def test_floors(tmp_path):
    """Rooms import from lower floors only, and nothing in a circle: the contracts in pyproject.toml are kept (C5)."""
    settings = Path(__file__).parents[2] / "pyproject.toml"
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()"]
    done = subprocess.run(
        [*command, "--config", str(settings), "--no-cache"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_room_has_a_floor():
    """The contracts name the rooms that there are, and no others."""
    contracts = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    layers = contracts["tool"]["importlinter"]["contracts"][0]["layers"]
    named = [room.strip() for layer in layers for room in layer.replace("|", ":").split(":")]
    assert sorted(named) == sorted({name.split(".")[0] for name in MODULES})


def test_front_door():
    """What the package offers is listed, sorted, there, and explained."""
    assert mx.__all__ == sorted(mx.__all__)
    assert len(mx.__all__) == len(set(mx.__all__))
    for name in mx.__all__:
        assert inspect.cleandoc(getattr(mx, name).__doc__ or ""), f"{name} has no docstring"


def test_nothing_public_is_unlisted():
    """What a reader finds at the front door without looking is on its list: no stray public names but submodules."""
    stray = {
        name
        for name, value in vars(mx).items()
        if not name.startswith("_") and name not in mx.__all__ and not isinstance(value, types.ModuleType)
    }
    assert stray == set()


@pytest.mark.parametrize("name", MODULES)
def test_lists(name):
    """Each module lists what others may use (C6); all of it exists, and every class and function is explained."""
    module = importlib.import_module(f"maxent_cvx.{name}")
    if len(ast.parse(MODULES[name].read_text()).body) == 1:  # a room that only says what it is
        assert module.__doc__
        return
    assert len(module.__all__) == len(set(module.__all__))
    for public in module.__all__:
        value = getattr(module, public)
        if inspect.isclass(value) or inspect.isroutine(value):
            assert value.__doc__, f"{name}.{public} has no docstring"
