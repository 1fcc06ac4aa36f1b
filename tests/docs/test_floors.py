"""The house: modules import from lower floors only, no file is too long, the front door lists what is inside."""

from __future__ import annotations

import ast
import graphlib
import importlib
import inspect
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

import maxent_cvx as mx

ROOT = Path(mx.__file__).parent
#: The floors, bottom up; a package is one floor. What is imported by all of them is at the bottom.
FLOORS = [
    "errors", "arguments", "system", "tables", "datasets", "views", "priors", "worlds", "terms", "rules", "solvers",
    "sources", "model", "testing", "measures", "disguise", "sdc", "studies", "plots", "cli",
]  # fmt: skip
LONGEST = 400


def modules() -> dict[str, Path]:
    """Every module by its name below the package: "errors", "sources.base", "sources" for its __init__."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts not in (("__init__",), ("datasets", "make_adult")):  # a script, which the package does not need
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def statements(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of a module, inside functions too, but not those for type checkers."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield from statements(other)
        elif isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        else:
            yield from statements(child)


def imports(name: str) -> set[str]:
    """The modules of the package that a module imports; "" is the package itself."""
    path, found = MODULES[name], set()
    package = ["maxent_cvx", *name.split(".")][: None if path.stem == "__init__" else -1]
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            sources = [alias.name for alias in node.names]
        else:
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *filter(None, [node.module])])
            sources = [
                f"{base}.{alias.name}" if below(f"{base}.{alias.name}") in MODULES else base for alias in node.names
            ]
        found |= {below(source) for source in sources if source.split(".")[0] == "maxent_cvx"}
    return found


def below(dotted: str) -> str:
    """A module's name below the package."""
    return dotted.removeprefix("maxent_cvx").removeprefix(".")


def floor(name: str) -> str:
    return name.split(".")[0]


def test_every_module_has_a_floor():
    """No module is without a floor, and no floor without a module."""
    assert {floor(name) for name in MODULES} == set(FLOORS)


def test_imports_are_seen():
    """The reader of imports sees what everybody sees: relative, of a package's module, not those for type checkers."""
    assert {"errors", "model.posterior", "tables.microdata"} <= imports("measures.accuracy")
    assert {"datasets", "disguise", "measures", "plots"} <= imports("cli.main")
    assert "sources.base" in imports("sources.statements.statement")
    assert "terms.space" not in imports("terms.block")
    assert "tables" not in imports("errors")


@pytest.mark.parametrize("name", MODULES)
def test_imports_go_down(name):
    """A module imports from lower floors or its own package, and never from the front door."""
    allowed = set(FLOORS[: FLOORS.index(floor(name))])
    if "." in name or MODULES[name].stem == "__init__":
        allowed.add(floor(name))
    upward = {other for other in imports(name) if floor(other) not in allowed}
    assert not upward, f"{name} imports {sorted(upward)}"


def test_sources_and_solvers_do_not_know_each_other():
    """Rows are the seam between what is known and how it is solved, for type checkers too."""
    for one, other in (("sources", "solvers"), ("solvers", "sources")):
        for name, path in MODULES.items():
            if floor(name) == one:
                text = [
                    ast.unparse(node)
                    for node in ast.walk(ast.parse(path.read_text()))
                    if isinstance(node, ast.Import | ast.ImportFrom)
                ]
                assert not [line for line in text if other in line], name


def test_no_circles():
    """Also within a package nobody imports in a circle."""
    graph = {name: {other for other in imports(name) if other != name} for name in MODULES}
    assert list(graphlib.TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_length(path):
    """A file is a concept, and none is above 400 lines."""
    assert len(path.read_text().splitlines()) <= LONGEST


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
    assert stray == {"annotations"}


@pytest.mark.parametrize("name", MODULES)
def test_lists(name):
    """Each module lists what others may use; all of it exists, and all that is a class or function is explained."""
    module = importlib.import_module(f"maxent_cvx.{name}")
    if len(ast.parse(MODULES[name].read_text()).body) == 1:  # a room that only says what it is
        assert module.__doc__
        return
    assert len(module.__all__) == len(set(module.__all__))
    for public in module.__all__:
        value = getattr(module, public)
        if inspect.isclass(value) or inspect.isroutine(value):
            assert value.__doc__, f"{name}.{public} has no docstring"
