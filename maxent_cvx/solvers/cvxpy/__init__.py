"""The dual Newton method as a solver that CVXPY calls, for entropies under linear constraints."""

from __future__ import annotations
