"""What would be inferred with less knowledge: without any of it, without each statement, and with each one alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...sources import PriorZeros
from ..adversary import Adversary
from ..solved_rows import solved_rows
from .solved import Solvable, Solved, model_of

__all__ = ["by_statement", "without_knowledge"]

#: With more rows of knowledge than these, a source is left out as a whole, and not row by row.
MOST_ROWS = 50


def without_knowledge(post: Solved) -> Any:
    """Solve the model of a posterior with what is published alone, and its prior if it has one.

    Raises
    ------
    StatementError
        If the posterior was loaded from a file without `verify`.
    SolverError
        If there is no answer.
    """
    model = model_of(post)
    labels = _removable(model)
    return _solved(_without(model, labels), post) if labels else post


def by_statement(
    post: Solved, without: Callable[[Any], dict[str, Any]], alone: Callable[[Any], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Solve the model of a posterior again without each statement, and with each one alone, and measure both answers.

    Parameters
    ----------
    post : Posterior
    without, alone : callable
        What to measure of an answer, by name.

    Returns
    -------
    list of dict
        One a row of the knowledge, or a source if there are many rows: the `statement`, what was measured, and in
        `message` why something could not be, or "".

    Raises
    ------
    StatementError
        If the posterior was loaded from a file without `verify`.
    SolverError
        The first one, if there is no answer without any statement, or with any alone.
    """
    model = model_of(post)
    form, labels = model.form, _removable(model)
    rows = [row for row in range(form.n_facts, form.shape[0]) if row not in model.ruled_out]
    if len(rows) <= MOST_ROWS and not model.convex:
        names = [form.name(row) for row in rows]
        models = [[partial(model.without_row, row) for row in rows], [partial(_row_alone, model, row) for row in rows]]
    else:
        names = labels
        others = [[other for other in labels if other != label] for label in labels]
        models = [[partial(_without, model, some) for some in left_out] for left_out in ([[x] for x in labels], others)]
    chains = [[i] for i in range(len(names))]
    tables = [
        solved_rows(_Cases(post, names, some, measure), chains, what)
        for some, measure, what in zip(models, (without, alone), ("without", "alone"), strict=True)
    ]
    return [{**two, **one, "message": one["message"] or two["message"]} for one, two in zip(*tables, strict=True)]


@dataclass(frozen=True)
class _Cases:
    """What is solved again, by number: the names of statements, and the models."""

    post: Solved
    names: list[str]
    models: Sequence[Callable[[], Adversary]]
    measure: Callable[[Any], dict[str, Any]]

    def about(self, i: int) -> dict[str, Any]:
        """The statement."""
        return {"statement": self.names[i]}

    def solved(self, i: int, before: Any) -> Any:
        """What is inferred, begun with what is inferred of all knowledge."""
        return _solved(self.models[i](), self.post)

    def measured(self, i: int, post: Any) -> dict[str, Any]:
        """Measure it."""
        return self.measure(post)


def _row_alone(model: Adversary, row: int) -> Adversary:
    """Copy a model with one row of its knowledge only."""
    rows, place = model.blocks.find(row)
    return _without(model, _removable(model)).add(rows.at(np.array([place])))


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
