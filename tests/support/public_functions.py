"""Everything public that has a docstring of its own: functions, classes, methods; and what functions return."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import maxent_cvx as mx

__all__ = ["HELD", "documented", "functions", "returns"]

#: What public functions return, or a public class holds, under names that nobody imports.
HELD = (
    "maxent_cvx.attacks.definetti.DeFinettiResult",
    "maxent_cvx.explorer.explorer.Explorer",
    "maxent_cvx.model.explain.Relaxation",
    "maxent_cvx.reporting.report.Report",
    "maxent_cvx.solvers.backends.Backend",
    "maxent_cvx.solvers.cvxpy.derivatives.SolutionDerivatives",
    "maxent_cvx.sources.Probability",
    "maxent_cvx.sources.SoftSource",
    "maxent_cvx._utils.associations.Associations",
    "maxent_cvx.terms.rows.Penalty",
    "maxent_cvx.terms.people.People",
)


def documented(module: ModuleType = mx, prefix: str = "mx.") -> Iterator[tuple[str, Any, type | None]]:
    """Every public function, class and method of a class, with the class; methods inherited from elsewhere are not."""
    for name in module.__all__:
        found = getattr(module, name)
        if inspect.ismodule(found):
            yield from documented(found, f"{prefix}{name}.")
        elif callable(found):
            yield prefix + name, found, None
        if inspect.isclass(found) and name != "DualNewton":  # whose methods are CVXPY's protocol
            own = [base for base in found.__mro__ if base.__module__.startswith("maxent_cvx")]
            methods = {name: value for base in reversed(own) for name, value in vars(base).items() if name[0] != "_"}
            for method, value in methods.items():
                if isinstance(value, classmethod | staticmethod) or inspect.isfunction(value):
                    yield f"{prefix}{name}.{method}", getattr(found, method), found


def functions() -> Iterator[tuple[str, Callable[..., Any], type | None]]:
    """Every public function and method."""
    return (one for one in documented() if not inspect.isclass(one[1]))


def returns(function: Callable[..., Any]) -> Iterator[type]:
    """The classes of this package that a function says it returns."""
    bare = inspect.unwrap(getattr(function, "__func__", function))
    for word in re.findall(r"\w+", str(bare.__annotations__.get("return", ""))):
        found = bare.__globals__.get(word)
        if inspect.isclass(found) and found.__module__.startswith("maxent_cvx"):
            yield found
