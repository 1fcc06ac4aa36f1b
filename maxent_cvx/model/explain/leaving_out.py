"""What would be inferred with less knowledge: without any of it, and without each statement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...sources import PriorZeros
from ..adversary import Adversary
from ..solved_rows import solved_rows
from .solved import Solvable, Solved, model_of

__all__ = ["without_each", "without_knowledge"]

#: With more rows of knowledge than these, a source is left out as a whole, and not row by row.
MOST_ROWS = 50
#: What is left out, by its name, and the model without it.
LeftOut = tuple[str, Callable[[], Adversary]]


def without_knowledge(post: Solved) -> Any:
    """Solve the model of a posterior with what is published alone, and its prior if it has one.

    Raises
    ------
    StatementError
        If the posterior was loaded from a file, which does not hold its knowledge.
    SolverError
        If there is no answer.
    """
    model = model_of(post)
    labels = _removable(model)
    return _solved(_without(model, labels), post) if labels else post


def without_each(post: Solved, measure: Callable[[Any], dict[str, Any]]) -> list[dict[str, Any]]:
    """Solve the model of a posterior again without each statement in turn, and measure what is inferred then.

    Returns
    -------
    list of dict
        One a row of the knowledge, or a source if there are many rows: the `statement`, what was measured, the `status`
        of the answer, and in `message` why there is none, or "".

    Raises
    ------
    StatementError
        If the posterior was loaded from a file, which does not hold its knowledge.
    SolverError
        The first one, if there is no answer without any statement.
    """
    model = model_of(post)
    form, ruled_out = model.form, model.ruled_out
    rows = [row for row in range(form.n_facts, form.shape[0]) if row not in ruled_out]
    if len(rows) <= MOST_ROWS and not model.convex:
        left_out: list[LeftOut] = [(form.name(row), partial(model.without_row, row)) for row in rows]
    else:
        left_out = [(label, partial(_without, model, [label])) for label in _removable(model)]
    cases = _Cases(post, left_out, measure)
    return solved_rows(cases, [[i] for i in range(len(left_out))], "without")


@dataclass(frozen=True)
class _Cases:
    """What is solved again, by number."""

    post: Solved
    left_out: list[LeftOut]
    measure: Callable[[Any], dict[str, Any]]

    def about(self, i: int) -> dict[str, Any]:
        """The statement."""
        return {"statement": self.left_out[i][0]}

    def solved(self, i: int, before: Any) -> Any:
        """What is inferred without it, begun with what is inferred with it."""
        return _solved(self.left_out[i][1](), self.post)

    def measured(self, i: int, post: Any) -> dict[str, Any]:
        """Measure it."""
        return self.measure(post)


def _removable(model: Adversary) -> list[str]:
    """The labels of knowledge that may come and go."""
    return [label for label, source in model.knowledge.items() if not isinstance(source, PriorZeros)]


def _without(model: Adversary, labels: list[str]) -> Adversary:
    """Copy a model without some of its knowledge."""
    twin = model.copy()
    for label in labels:
        twin.remove(label)
    return twin


def _solved(model: Adversary, post: Solved) -> Any:
    """Solve a model, begun with the multipliers of an earlier answer."""
    assert isinstance(model, Solvable)
    return model.solve(warm_start=post, time_limit=float("inf"))
