"""The reference has every public name, and nothing else; what it refers to elsewhere is what a table says."""

from __future__ import annotations

import importlib
import inspect
import pydoc
import re
import runpy
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import maxent_cvx as mx
from support.public_functions import HELD, functions, returns

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted((DOCS / "reference").glob("*.rst"))
MAKE = runpy.run_path(str(DOCS / "inventories" / "make.py"))
#: How a page names what it explains: a module, something of it, or a line of a table.
NAMED = re.compile(
    r"^\.\. (?P<module>auto|current)module:: (?P<path>\S+)$"
    r"|^\.\. (?:data|autoclass|autofunction):: (?P<name>\w+)$"
    r"|^   (?P<listed>\w+)$",
    re.MULTILINE,
)


def public(module: ModuleType = mx) -> Iterator[str]:
    """Every name of the front door, by its path."""
    yield module.__name__
    for name in module.__all__:
        found = getattr(module, name)
        yield from public(found) if inspect.ismodule(found) else [f"{module.__name__}.{name}"]


def explained(page: Path) -> Iterator[str]:
    """What a page has, by its path."""
    module = ""
    for named in NAMED.finditer(page.read_text()):
        if named["module"]:
            module = named["path"]
        if named["module"] != "current":
            yield module if named["module"] else f"{module}.{named['name'] or named['listed']}"


def resolved_name(name: str) -> object:
    """What a dotted name stands for; a package's function may have the name of the module that defines it."""
    module, _, last = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), last)
    except (ImportError, ValueError):
        return pydoc.locate(name)


def test_every_public_name_is_on_one_page():
    """Whoever makes a name public says on which page it is; what is on a page is public, or given by what is."""
    assert Counter(name for page in PAGES for name in explained(page)) == Counter([*public(), *HELD])


def test_what_is_returned_is_explained():
    """Every class of the package that a public function or method returns has a page."""
    named = {name for page in PAGES for name in explained(page)}
    pages = {resolved for name in named if inspect.isclass(resolved := resolved_name(name))}
    returned = {found for _, function, _ in functions() for found in returns(function)}
    assert mx.Posterior in returned
    assert returned - pages == set()


def test_every_page_is_reached():
    """The table of contents has every page."""
    contents = (DOCS / "reference" / "index.md").read_text()
    assert all(f"\n{page.stem}\n" in contents for page in PAGES)


@pytest.mark.parametrize("project", MAKE["NAMES"])
def test_inventories_are_those_of_the_table(project):
    """Who adds a name to the table also writes the inventories; however zlib compresses them."""
    stored, made = (DOCS / "inventories" / f"{project}.inv").read_bytes(), MAKE["inventory"](project)
    (head, body), (other_head, other_body) = (one.split(b"zlib.\n", 1) for one in (stored, made))
    assert (head, zlib.decompress(body)) == (other_head, zlib.decompress(other_body))
