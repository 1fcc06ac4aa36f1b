"""The lines that make a model again: what was explored, to be typed."""

from __future__ import annotations

from ..errors import MaxEntError
from ..sources import Source, Statement, StrongestAssociations, read_statement
from ..tables.associations import Associations
from .assumptions import Assumptions
from .state import State

__all__ = ["typed"]


def typed(assumptions: Assumptions, state: State) -> str:
    """Write the Python that makes the model of a state.

    Names stand for what only the reader has: ``release``, ``people``, ``prior``, ``original``, and ``explored`` for the
    model that was given, of which knowledge is taken that no text says.

    Parameters
    ----------
    assumptions : Assumptions
    state : State

    Returns
    -------
    str
    """
    model = assumptions.model
    arguments = ["release", *["people=people"][: len(model.space.people)], *["prior=prior"][: model.prior is not None]]
    lines = [f"model = mx.MaxEnt({', '.join(arguments)})"]
    for label, setting in state.settings.items():
        if not setting.known:
            continue
        one = assumptions.adjustable.get(label)
        source = assumptions.others[label] if one is None else one.at(setting)
        was = assumptions.others[label] if one is None else one.said
        lines.append(_added(label, source, was, own=one.has_own_label if one else label != source.label))
    if state.positive or state.negative:
        lines.append(_associations(assumptions, state))
    if any("explored.knowledge" in line for line in lines):
        lines.insert(0, "# explored: the model that mx.explore was given")
    imports = ["from dataclasses import replace", ""] if any("replace(" in line for line in lines) else []
    return "\n".join([*imports, "import maxent_cvx as mx", "", *lines, "post = model.solve()"])


def _added(label: str, source: Source, was: Source, own: bool) -> str:
    """The line that adds one source."""
    named = f", label={label!r}" if own else ""
    if isinstance(source, Statement) and _is_text(source):
        return f"model.add({str(source)!r}{named})"
    held = f"explored.knowledge[{label!r}]"
    if isinstance(source, Statement) and isinstance(was, Statement) and source != was:
        sides = ", ".join(f"{side}=float('{getattr(source, side)!r}')" for side in ("low", "high"))
        held = f"replace({held}, {sides})"
        if (cost := source.penalty) is not None:
            said = ", ".join(f"{name}={value!r}" for name, value in vars(cost).items() if value is not None)
            held = f"mx.soft(replace({held}, penalty=None), {said})"
    return f"model.add({held}{named})"


def _is_text(said: Statement) -> bool:
    """Whether the statement's text is read as the same statement."""
    try:
        return read_statement(str(said)) == said
    except MaxEntError:
        return False


def _associations(assumptions: Assumptions, state: State) -> str:
    """The line that adds the strongest associations."""
    mined = assumptions.mined
    assert mined is not None
    if assumptions.replaced is not None:
        held = f"explored.knowledge[{assumptions.replaced!r}]"
        if (state.positive, state.negative) == (assumptions.start.positive, assumptions.start.negative):
            return f"model.add({held})"
        own = assumptions.model.knowledge[assumptions.replaced]
        is_mined = isinstance(own, StrongestAssociations) and isinstance(own.original, Associations)
        mining = "" if is_mined else f", {held}.min_support, {held}.attributes"
        return f"model.add(mx.StrongestAssociations({held}.original, {state.positive}, {state.negative}{mining}))"
    minimum = "" if mined.min_support == 3 else f", min_support={mined.min_support}"
    return f"model.add(mx.StrongestAssociations(original, {state.positive}, {state.negative}{minimum}))"
