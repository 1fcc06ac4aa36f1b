"""What is public is explained in full: an executed example, every parameter, what is returned, what is raised (C7)."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pkgutil import resolve_name
from typing import Any

import pytest

from maxent_cvx._utils import errors
from support.public_functions import HELD, documented

#: Without an executed example, and why.
WITHOUT_EXAMPLE = {
    "mx.NotDecided": "raised when time is over, which no example can promise",
    "mx.Posterior.of": "called by solve() with what a solver returned",
    "mx.solvers.DualNewton.name": "called by CVXPY, by its protocol",
    "mx.solvers.DualNewton.import_solver": "called by CVXPY, by its protocol",
    "mx.solvers.DualNewton.supports_quad_obj": "called by CVXPY, by its protocol",
}
#: Functions that make an error, which is then raised.
MAKES = {"unknown_name": "UnknownName"}

#: What functions return, by module and name: a package's function may have the name of the module.
RETURNED = {name: (resolve_name(":".join(name.rsplit(".", 1))), None) for name in HELD}
PUBLIC = {name: (found, owner) for name, found, owner in documented()} | RETURNED
CALLED = [name for name, (found, _) in PUBLIC.items() if not (inspect.isclass(found) and issubclass(found, Exception))]
FUNCTIONS = [name for name in CALLED if not inspect.isclass(PUBLIC[name][0])]


def read(found: Any) -> dict[str, str]:
    """The sections of a docstring by their headings."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(found) or "", flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def sections(name: str) -> dict[str, str]:
    """Those of something public; what a method lacks is in what it overrides."""
    found, owner = PUBLIC[name]
    method = name.rpartition(".")[2]
    same = [found] if owner is None else [getattr(base, method) for base in owner.__mro__ if hasattr(base, method)]
    return {heading: text for one in reversed(same) for heading, text in read(one).items()}


def explained(section: str) -> list[str]:
    """The names that a section explains; `qi, sa : str` explains two."""
    lines = re.findall(r"^(\S.*?)(?: :.*)?$", section, re.MULTILINE)
    return [name.strip().lstrip("*") for line in lines for name in line.split(",")]


def generated(function: Any) -> bool:
    """Whether nobody wrote the function: the constructor of a dataclass."""
    return bool(inspect.unwrap(function).__code__.co_filename == "<string>")


def raised(found: Any) -> Iterator[str]:
    """The errors of this package that the lines of a function itself raise, or those of a class's constructor."""
    made = [vars(found).get(name) for name in ("__init__", "__post_init__")] if inspect.isclass(found) else [found]
    written = (function for function in made if inspect.isroutine(function) and not generated(function))
    for function in written:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
                name = MAKES.get(node.exc.func.id, node.exc.func.id)
                if name in errors.__all__:
                    yield name


@pytest.mark.parametrize("name", PUBLIC)
def test_example(name: str):
    """Everything public has an executed example, or its class calls it in one; of the few that have none, why."""
    owner, method = PUBLIC[name][1], name.rpartition(".")[2]
    of_classes = "".join(read(base).get("Examples", "") for base in (owner.__mro__ if owner else []))
    called = re.search(rf"^(>>>|\.\.\.) .*(\.|def ){method}\(", of_classes, re.MULTILINE)
    has_example = ">>>" in sections(name).get("Examples", "") or called is not None
    assert has_example or name in WITHOUT_EXAMPLE


@pytest.mark.parametrize("name", CALLED)
def test_parameters(name: str):
    """Every parameter is explained, in its order, and nothing else is."""
    found = PUBLIC[name][0]
    try:
        signature = list(inspect.signature(found).parameters.values())
    except ValueError:  # of a built-in type
        return
    if name in {"mx.solvers.Status", "mx.solvers.DualNewton"} or getattr(found, "_is_protocol", False):
        return  # an enumeration, what CVXPY makes, and protocols
    given = [p.name for p in signature if p.name[0] != "_" and p.name != "self"]
    listed = explained(sections(name).get("Parameters", ""))
    in_order = listed == [one for one in given if one in listed]
    # A class that only holds what it is given explains it as attributes.
    held = explained(sections(name).get("Attributes", "")) if inspect.isclass(found) else []
    assert in_order
    assert set(given) <= {*listed, *held}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_returns(name: str):
    """What is returned is said in a section of its own."""
    found = PUBLIC[name][0]
    annotation = inspect.unwrap(getattr(found, "__func__", found)).__annotations__.get("return")
    is_said = annotation == "None" or bool({"Returns", "Yields"} & set(sections(name)))
    assert is_said


@pytest.mark.parametrize("name", CALLED)
def test_raises(name: str):
    """Errors of this package that a function raises by itself are listed, or an error that they are a kind of."""
    found = PUBLIC[name][0]
    listed = explained(sections(name).get("Raises", ""))
    lost = {one for one in raised(found) if not {kind.__name__ for kind in getattr(errors, one).__mro__} & set(listed)}
    assert not lost
