"""Everything public, a line each: names, signatures and attributes. ``python tests/support/public_api.py`` prints it.

``public_api_VERSION.txt`` is what it printed of a version.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Iterator
from typing import Any

import maxent_cvx as mx
from maxent_cvx._utils import errors

__all__ = ["described", "lines"]


def lines(module: Any = mx, prefix: str = "mx.") -> Iterator[str]:
    """Describe every name that a module lists, and those of the modules among them."""
    for name in sorted(module.__all__):
        found = getattr(module, name)
        if inspect.ismodule(found):
            yield from lines(found, f"{prefix}{name}.")
        else:
            yield from described(found, prefix + name)
    if module is mx:
        yield from lines(errors, "errors.")


def described(found: Any, name: str) -> Iterator[str]:
    """Describe a function, or a class with its public attributes, whichever class they come from."""
    if not inspect.isclass(found):
        yield name + (_signature(found) if callable(found) else "")
        return
    yield name + ("" if issubclass(found, Exception) else _signature(found))
    fields = {field.name for field in dataclasses.fields(found)} if dataclasses.is_dataclass(found) else set()
    for attribute in sorted({*dir(found), *fields}):
        value = inspect.getattr_static(found, attribute, None)
        inherited = attribute in dir(Exception) if issubclass(found, Exception) else attribute in dir(object)
        if attribute.startswith("_") or inherited:
            continue
        method = isinstance(value, staticmethod | classmethod) or inspect.isfunction(value)
        yield f"{name}.{attribute}" + (_signature(getattr(found, attribute)) if method else "")


def _signature(function: Any) -> str:
    """The parameters and their defaults, without annotations."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # of a built-in type
        return ""
    bare = [p.replace(annotation=inspect.Parameter.empty, default=_named(p)) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _named(parameter: inspect.Parameter) -> Any:
    """A default, written the same in every process: a function by its name."""
    default = parameter.default
    return default if not inspect.isfunction(default) else _Name(default.__name__)


class _Name(str):
    """A text that is written without quotation marks."""

    def __repr__(self) -> str:
        return str(self)


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines()) + "\n")
