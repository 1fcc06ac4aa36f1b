"""The command line: ``maxent-cvx demo | quantify | report | publish | attack | compare | solvers``."""

from __future__ import annotations

from .main import main

__all__ = ["main"]
