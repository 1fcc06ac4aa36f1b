"""Events as users describe them: which QI tuples, and which sensitive values, of a view are meant."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import StatementError, shown, unknown_name
from ..tables.selection import choose
from ..views import View
from .axes import level_of

__all__ = ["mark_tuples", "tuples_described", "values_named"]


def tuples_described(view: View, given: Mapping[str, object] | None) -> np.ndarray:
    """Mark the QI tuples that are as described; an error if there is nobody."""
    mask = mark_tuples(view, given)
    if not mask.any():
        asked = ", ".join(f"{name}={choose(chosen, name)}" for name, chosen in (given or {}).items())
        raise StatementError(
            f"nobody in the {view.noun} has {asked}: each value occurs, but not together; "
            "P(value | given) would be 0/0: take a condition out"
        )
    return mask


def mark_tuples(view: View, given: Mapping[str, object] | None) -> np.ndarray:
    """Mark the QI tuples that are as described, if there are any."""
    if given is not None and not isinstance(given, Mapping):
        raise StatementError(f"given must be a dictionary {{attribute: value}}, not {shown(given)}")
    tuples = view.axes["q"][1]
    mask = np.ones(len(tuples), dtype=bool)
    for attribute, chosen in (given or {}).items():
        if (known := view.described(attribute, chosen)) is not None:
            mask &= known
            continue
        if attribute not in view.qi:
            raise unknown_name(f"quasi-identifier of the {view.noun}", attribute, view.qi)
        codes, level = level_of(tuples, view.qi.index(attribute))
        mask &= choose(chosen, attribute).mask(level, attribute)[codes]
    return mask


def values_named(view: View, value: object) -> np.ndarray:
    """Mark the sensitive values that a user named."""
    values, attributes = view.sensitive_values, view.sensitive
    if not isinstance(value, Mapping):
        if len(attributes) > 1:
            raise StatementError(
                f"{choose(value, 'the sensitive value')} may be of {' or '.join(map(repr, attributes))}; "
                "write {attribute: value}"
            )
        value = {attributes[0]: value}
    if strangers := [name for name in value if name not in attributes]:
        raise unknown_name("sensitive attribute", strangers[0], attributes)
    if not value:
        raise StatementError(f"{{}} names no sensitive attribute; write {{{attributes[0]!r}: value}}")
    mask = np.ones(len(values), dtype=bool)
    for attribute, chosen in value.items():
        codes, level = level_of(values, attributes.index(attribute))
        mask &= choose(chosen, attribute).mask(level, attribute)[codes]
    return mask
