"""Where a solve begins that is handed an earlier answer: its multipliers, row by row where rows have names."""

from __future__ import annotations

import numpy as np

from ..errors import StatementError
from ..terms.rows import Rows
from .adversary import Adversary
from .posterior import Posterior

__all__ = ["by_rows", "first_multipliers"]


def first_multipliers(model: Adversary, earlier: Posterior) -> np.ndarray:
    """Begin with an earlier posterior's multipliers; new knowledge begins with 0."""
    if not isinstance(earlier, Posterior):
        raise StatementError(f"warm_start must be a posterior of this release, not a {type(earlier).__name__}")
    if not earlier.multipliers:
        raise StatementError("warm_start has no multipliers: they are not saved with a posterior; solve it again")
    if earlier.space.view is not model.view:
        raise StatementError("warm_start is a posterior of another release; start from one of this release")
    default = model.form.by_label(model.posed.start)
    known, rows = earlier.multipliers, model.blocks.by_label
    before = {} if earlier.model is None else earlier.model.blocks.by_label
    written = np.concatenate(
        [
            value if label not in known else by_rows(known[label], value, before.get(label), rows[label])
            for label, value in default.items()
        ]
    )
    return model.form.transformed_multipliers(written)


def by_rows(known: np.ndarray, default: np.ndarray, before: Rows | None, now: Rows) -> np.ndarray:
    """Take multipliers from the rows that had a label to those that have it now, row by row where they have names."""
    if len(known) == 0 or before is now:
        return known if before is now else default
    if before is not None and before.index is not None and now.index is not None and before.index.is_unique:
        at = before.index.get_indexer(now.index)
        return np.where(at >= 0, known[at], default)
    return known if len(known) == len(default) else default
