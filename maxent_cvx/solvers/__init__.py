"""Solvers of the entropy program by name, and the certificates of their answers."""

from __future__ import annotations

from importlib import import_module
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


#: The modules of names that are imported on first use, because importing CVXPY takes a second.
_LATE = {
    "DualNewton": ".cvxpy.solver", "derivatives": ".cvxpy.derivatives", "register_with_cvxpy": ".cvxpy.solver",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a solver or function for CVXPY on first use."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
