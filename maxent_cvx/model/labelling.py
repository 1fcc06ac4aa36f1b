"""Under which label a source is held."""

from __future__ import annotations

import itertools
import warnings

from ..errors import DuplicateLabel, RepeatedStatement
from ..sources import Custom, PriorZeros
from .emitted_rows import EmittedRows
from .knowledge_base import KnowledgeBase

__all__ = ["new_label"]


def new_label(base: KnowledgeBase, emitted: EmittedRows, label: str | None) -> str | None:
    """Choose the label of another source; None where the same is held already, maybe under another label.

    Parameters
    ----------
    base : KnowledgeBase
    emitted : EmittedRows
        What the source emitted.
    label : str, optional
        The user's own.

    Raises
    ------
    DuplicateLabel
        If other knowledge has it.

    Warns
    -----
    RepeatedStatement
        If the same is held already.
    """
    held, name = base.emitted, label or emitted.source.label
    same = base.label_of.get(emitted.source.identity)
    if same is None and name in held and emitted.says_the_same(held[name]):
        same = name
    again = label is not None and label not in held and any(rows.penalty is not None for rows in emitted.rows)
    if same is not None and not again:  # two soft sources that say the same, under two labels, are two measurements
        warnings.warn(f"the model holds {same!r} already; nothing was added", RepeatedStatement, stacklevel=3)
        return None
    if name not in held:
        return name
    if label is None and isinstance(emitted.source, Custom):  # functions have no text to tell them apart
        return next(f"{name} ({i})" for i in itertools.count(2) if f"{name} ({i})" not in held)
    removable = name in base.knowledge and not isinstance(held[name].source, PriorZeros)
    remedy = f", or take the old one out with remove({name!r})" if removable else ""
    raise DuplicateLabel(f"the label {name!r} is that of other knowledge; choose another with label=...{remedy}")
