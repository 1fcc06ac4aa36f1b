"""Solvers: one table from name to class, and what an answer is worth."""

from __future__ import annotations

from .certificate import ACCURACY, Certificate
from .run import Solution
from .status import Answer, Status
from .table import SOLVERS, available, find

__all__ = ["ACCURACY", "SOLVERS", "Answer", "Certificate", "Solution", "Status", "available", "find"]
