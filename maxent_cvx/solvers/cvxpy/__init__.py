"""The dual Newton method as a solver for CVXPY, for entropies under linear constraints."""

from __future__ import annotations
