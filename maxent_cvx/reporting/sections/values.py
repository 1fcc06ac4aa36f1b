"""Which sensitive values count."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import arguments
from ...views.grouped import OUTSIDE
from ..case import Case

__all__ = ["counted_values"]


def counted_values(case: Case) -> np.ndarray:
    """Mark the values that must not be inferred; not to be in a release is no value."""
    values, asked = case.view.sensitive_values.to_flat_index(), case.asked.sensitive
    inside = np.asarray(values != OUTSIDE)
    if asked is None:
        return inside
    if isinstance(asked, Mapping):
        levels = [case.view.sensitive_values.get_level_values(name) for name in asked]
        return inside & np.all(
            [level.isin(_listed(some)) for level, some in zip(levels, asked.values(), strict=True)], axis=0
        )
    wanted = _listed(asked)
    return inside & np.array([value in wanted for value in values])


def _listed(values: object) -> list[object]:
    """Read one value or several; a tuple is one, a combination."""
    return [values] if isinstance(values, str | tuple) or not arguments.is_several(values) else list(values)
