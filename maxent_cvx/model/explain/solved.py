"""What an explanation needs to see of a posterior."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ...terms.space import Space

__all__ = ["Solved"]


class Solved(Protocol):
    """An answer, as :class:`~maxent_cvx.Posterior` is one."""

    @property
    def space(self) -> Space:
        """The terms, and whose they are."""
        ...

    @property
    def counts(self) -> np.ndarray:
        """N P(q, s, b), records."""
        ...

    @property
    def model(self) -> Any:
        """The model as it was when it was solved, or None."""
        ...
