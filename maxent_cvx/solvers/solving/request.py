"""How a problem is to be solved: the backend, where it starts, and its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..backends.registry import Backend
from ..monitoring.monitor import Monitor

__all__ = ["Request"]


@dataclass(frozen=True, eq=False)
class Request:
    """How a problem is to be solved.

    Attributes
    ----------
    backend : Backend
    start : ndarray
        Multipliers to start from, one a row of the problem.
    presolve : bool
        Whether the problem is reduced before it is solved.
    polish : bool
        Whether Newton's method continues from the backend's multipliers.
    options : mapping
        Options of the backend.
    monitor : Monitor
        What is told of the solve, and may stop it.
    """

    backend: Backend
    start: np.ndarray
    presolve: bool = True
    polish: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    monitor: Monitor = field(default_factory=Monitor)

    def at_full_precision(self) -> Request:
        """The same request with tolerance 0, unless the user has set a tolerance."""
        return replace(self, options={"tolerance": 0.0, **self.options})
