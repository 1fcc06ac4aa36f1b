"""The pages name what exists: every public name has a page, every plot a picture, every path a file."""

from __future__ import annotations

import importlib
import inspect
import pydoc
import re
import runpy
import tomllib
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import maxent_cvx as mx

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REFERENCE = sorted((DOCS / "reference").glob("*.rst"))
MAKE = runpy.run_path(str(DOCS / "inventories" / "make.py"))
#: How a page of the reference names an object: as a module, by a directive, or as a line of a table.
NAMED = re.compile(
    r"^\.\. (?P<module>auto|current)module:: (?P<path>\S+)$"
    r"|^\.\. (?:data|autoclass|autofunction):: (?P<name>\w+)$"
    r"|^   (?P<listed>\w+)$",
    re.MULTILINE,
)


def public(module: ModuleType = mx) -> Iterator[str]:
    """Every public name, by its path."""
    yield module.__name__
    for name in module.__all__:
        value = getattr(module, name)
        yield from public(value) if inspect.ismodule(value) else [f"{module.__name__}.{name}"]


def documented(page: Path) -> Iterator[str]:
    """Every name that a page of the reference documents, by its path."""
    module = ""
    for match in NAMED.finditer(page.read_text(encoding="utf-8")):
        if match["module"]:
            module = match["path"]
        if match["module"] != "current":
            yield module if match["module"] else f"{module}.{match['name'] or match['listed']}"


def returned() -> Iterator[type]:
    """Every class of the package that a public function or method returns, by its annotation."""
    for path in public():
        value = pydoc.locate(path)
        members = [getattr(value, name) for name in dir(value) if name[0] != "_"] if inspect.isclass(value) else [value]
        for function in members:
            bare = inspect.unwrap(getattr(function, "__func__", function))
            for word in re.findall(r"\w+", str(getattr(bare, "__annotations__", {}).get("return", ""))):
                cls = getattr(bare, "__globals__", {}).get(word)
                if inspect.isclass(cls) and cls.__module__.startswith("maxent_cvx"):
                    yield cls


def resolve(name: str) -> object:
    """Find an object by its path, also where a function and the module that defines it have one name."""
    module, _, last = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), last)
    except (ImportError, ValueError, AttributeError):
        return pydoc.locate(name)


def test_every_public_name_has_one_page():
    """Every public name is on exactly one page of the reference."""
    pages = Counter(name for page in REFERENCE for name in documented(page))
    assert Counter(public()) - pages == Counter()
    assert [name for name, n in pages.items() if n > 1] == []


def test_every_documented_name_exists():
    """Every name on a page of the reference is public, or a class that a public function returns."""
    others = {name for page in REFERENCE for name in documented(page)} - set(public())
    assert {name for name in others if not inspect.isclass(resolve(name))} == set()


def test_every_returned_class_has_a_page():
    """Every class of the package that a public function or method returns is documented."""
    pages = {value for page in REFERENCE for name in documented(page) if inspect.isclass(value := resolve(name))}
    classes = set(returned())
    assert mx.Posterior in classes
    assert classes - pages == set()


def test_hints_accept_dicts_of_names():
    """A Mapping is invariant in its keys, so that Mapping[object, float] refuses a dict[str, float]; Any does not."""
    for path in public():
        value = pydoc.locate(path)
        hints = getattr(value.__init__ if inspect.isclass(value) else value, "__annotations__", {})
        assert not re.search(r"Mapping\[(object|Hashable)\b", str(hints)), path


def test_every_plot_is_in_the_gallery():
    """Each public plot has its code in the gallery, which Sphinx runs when it builds the pages."""
    called = re.findall(r"^   mx\.plots\.(\w+)\(", (DOCS / "gallery.rst").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(called) == sorted(mx.plots.__all__)


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_named_files_exist(page: str):
    """Every path on a page for contributors exists, or is the end of an existing path."""
    existing = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if not {".git", "_build"} & set(path.parts)}
    words = re.findall(r"`([\w./]+)`", (ROOT / page).read_text(encoding="utf-8"))
    paths = [word for word in words if word.endswith((".py", ".md", ".toml", ".rst", "/"))]
    assert paths
    assert [path for path in paths if not any(f"/{name}".endswith("/" + path.rstrip("/")) for name in existing)] == []


def test_named_benchmarks_exist():
    """Every command `python -m tests.benchmarks.NAME` on a page runs a module that exists."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.glob("*.md"), *DOCS.glob("guide/*.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    names = set(re.findall(r"tests\.benchmarks\.((?:peers\.)?[a-z_]+)", text))
    assert {"attacks", "solvers"} <= names
    folder = ROOT / "tests" / "benchmarks"
    assert [name for name in names if not (folder / f"{name.replace('.', '/')}.py").exists()] == []


@pytest.mark.parametrize("project", MAKE["NAMES"])
def test_inventories_match_their_table(project: str):
    """The stored inventories of other projects' names are those that their table makes."""
    (head, body), (made_head, made_body) = (
        data.split(b"zlib.\n", 1)
        for data in ((DOCS / "inventories" / f"{project}.inv").read_bytes(), MAKE["inventory"](project))
    )
    assert (head, zlib.decompress(body)) == (made_head, zlib.decompress(made_body))


def test_version():
    """`CITATION.cff` and the newest release in the changelog have the version of `pyproject.toml`."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    releases = re.findall(r"^## \[(\d\S*)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert re.findall(r"^version: (\S+)$", citation, re.MULTILINE) == [version]
    assert releases[0] == version
