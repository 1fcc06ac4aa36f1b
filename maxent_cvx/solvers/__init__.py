"""Solvers of the entropy program by name, and the certificates of their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .answer import Answer, Status
from .backends import SOLVERS, available, find, register
from .certificate import ACCURACY, Certificate, Solution
from .monitor import Iteration

if TYPE_CHECKING:
    from .cvxpy.derivatives import derivatives
    from .cvxpy.solver import DualNewton, register_with_cvxpy

__all__ = [
    "ACCURACY",
    "SOLVERS",
    "Answer",
    "Certificate",
    "DualNewton",
    "Iteration",
    "Solution",
    "Status",
    "available",
    "derivatives",
    "find",
    "register",
    "register_with_cvxpy",
]


def __getattr__(name: str) -> Any:
    """Import `DualNewton`, the solver for CVXPY, on first use, because importing CVXPY takes a second."""
    if name == "DualNewton":
        from .cvxpy.solver import DualNewton

        return DualNewton
    if name == "derivatives":
        from .cvxpy.derivatives import derivatives

        return derivatives
    if name == "register_with_cvxpy":
        from .cvxpy.solver import register_with_cvxpy

        return register_with_cvxpy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
