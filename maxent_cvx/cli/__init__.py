"""The command line: ``maxent-cvx demo | quantify | compare | publish | solvers``."""

from __future__ import annotations

from .main import main

__all__ = ["main"]
