"""Solvers: one table from name to class, and what an answer is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .answer import Answer, Status
from .backends.registry import SOLVERS, available, find, register
from .certificate.certificate import ACCURACY, Certificate
from .solving.solve import Solution

if TYPE_CHECKING:
    from .conic.conic_solver import DualNewton

__all__ = [
    "ACCURACY",
    "SOLVERS",
    "Answer",
    "Certificate",
    "DualNewton",
    "Solution",
    "Status",
    "available",
    "find",
    "register",
]


def __getattr__(name: str) -> Any:
    """Load the solver that CVXPY calls when it is asked for: importing CVXPY takes a second."""
    if name == "DualNewton":
        from .conic.conic_solver import DualNewton

        return DualNewton
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
