"""Which sensitive values count."""

from __future__ import annotations

import numpy as np

from ...views.grouped import OUTSIDE
from ..case import Case

__all__ = ["counted_values"]


def counted_values(case: Case) -> np.ndarray:
    """Mark the values that must not be inferred; not to be in a release is no value."""
    values, asked = case.view.sensitive_values.to_flat_index(), case.asked.sensitive
    inside = np.asarray(values != OUTSIDE)
    if asked is None:
        return inside
    wanted = list(asked) if isinstance(asked, list | set | frozenset) else [asked]
    return inside & np.array([value in wanted for value in values])
