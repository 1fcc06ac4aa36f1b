"""Every public name with its signature, one per line: ``python tests/support/public_api.py``.

``public_api_VERSION.txt`` is the output for an earlier version.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Iterator
from enum import Enum
from typing import Any

import maxent_cvx as mx
from maxent_cvx._utils import errors


def lines(module: Any = mx, prefix: str = "mx.") -> Iterator[str]:
    """Describe every name in a module's ``__all__``, or defined in a private module, recursively."""
    made_here = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    for name in sorted(getattr(module, "__all__", [name for name in made_here if name[0] != "_"])):
        value = getattr(module, name)
        if inspect.ismodule(value):
            yield from lines(value, f"{prefix}{name}.")
        else:
            yield from described(value, prefix + name)
    if module is mx:
        yield from lines(errors, "errors.")


def described(value: Any, name: str) -> Iterator[str]:
    """Describe a function, or a class with its public attributes, inherited ones included."""
    if not inspect.isclass(value):
        yield name + (_signature(value) if callable(value) else "")
        return
    # The parameters of an enumeration depend on the version of Python.
    yield name + ("" if issubclass(value, Exception | Enum) else _signature(value))
    fields = {field.name for field in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else set()
    for attribute in sorted({*dir(value), *fields}):
        member = inspect.getattr_static(value, attribute, None)
        inherited = attribute in dir(Exception) if issubclass(value, Exception) else attribute in dir(object)
        if attribute.startswith("_") or inherited:
            continue
        method = isinstance(member, staticmethod | classmethod) or inspect.isfunction(member)
        yield f"{name}.{attribute}" + (_signature(getattr(value, attribute)) if method else "")


def _signature(function: Any) -> str:
    """Parameters and defaults, without annotations; a default that is a function is given by its name."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # a built-in type
        return ""
    bare = [
        p.replace(annotation=p.empty, default=_Name(p.default.__name__) if inspect.isfunction(p.default) else p.default)
        for p in signature.parameters.values()
    ]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


class _Name(str):
    """A text whose repr has no quotation marks."""

    def __repr__(self) -> str:
        return str(self)


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines()) + "\n")
