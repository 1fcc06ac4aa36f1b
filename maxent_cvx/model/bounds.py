"""Bounds: the least and the largest value of linear expressions over every distribution that satisfies the rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import Infeasible, NotDecided
from .._utils.progress import progress_bar
from ..solvers.intervals import Ends, bounds
from ..sources.base import Custom
from ..sources.statements import Probability
from ..sources.tables import PublishedTable
from ..terms.space import Space

if TYPE_CHECKING:
    from .maxent import MaxEnt

# Knowledge that is a disjunction: one of several sets of rows is true, and the source's own rows are a relaxation.

#: How many models are asked at most, one a choice of alternatives.
MOST = 1000


def has_alternatives(model: MaxEnt) -> bool:
    """Whether a source of the model is a disjunction."""
    return any(len(found) > 1 for found in _choices(model).values())


def over_alternatives(model: MaxEnt, ask: Callable[[MaxEnt], np.ndarray]) -> np.ndarray:
    """The least and the largest values over all choices of alternatives."""
    found, refused = [], None
    for one in _each(model):
        try:
            found.append(ask(one))
        except Infeasible as error:
            refused = error
    if not found:
        assert refused is not None
        raise refused
    return np.stack([np.min([low for low, _ in found], axis=0), np.max([high for _, high in found], axis=0)])


def _choices(model: MaxEnt) -> dict[str, list[Any]]:
    """The alternatives of every source that has some, by its label."""
    sources = {label: getattr(source, "alternatives", None) for label, source in model.knowledge.items()}
    return {label: told(model.space) for label, told in sources.items() if told is not None}


def _always(rows: list[Any]) -> Callable[[object], list[Any]]:
    """A function of the space that gives these rows."""
    return lambda space: rows


def _each(model: MaxEnt) -> Iterator[MaxEnt]:
    """The model with each choice made."""
    choices = {label: found for label, found in _choices(model).items() if len(found) > 1}
    if (number := math.prod(map(len, choices.values()))) > MOST:
        raise NotDecided(
            f"there are {number} combinations of what {', '.join(choices)} can mean, more than the {MOST} that are "
            "tried; ask without integer=True, or for fewer of them at a time"
        )
    for chosen in itertools.product(*choices.values()):
        one = model.copy()
        for label, rows in zip(choices, chosen, strict=True):
            one.remove(label).add(Custom(_always(rows)), label=label)
        yield one


# What intervals are asked of: linear expressions of the counts of records.


@dataclass(frozen=True, eq=False)
class LinearQuery:
    """Expressions ``matrix @ x + constant`` of the counts x = N p, and what is known of each beforehand."""

    matrix: sp.csr_array  # shape (expressions, terms)
    constant: np.ndarray
    attainable: np.ndarray  # shape (2, expressions); What it can be at all: a probability is from 0 to 1
    is_rectangle: np.ndarray
    index: pd.Index


def of_combinations(combinations: Sequence[Probability], space: Space) -> LinearQuery:
    """Ask for linear combinations of probabilities."""
    rows, every = [], []
    for combination in combinations:
        parts = [coefficient * event.row(space) for event, coefficient in combination.terms.items()]
        every.append(parts)
        rows.append(sum(parts[1:], parts[0]) if parts else sp.csr_array((1, len(space))))
    matrix = sp.csr_array(sp.vstack(rows, format="csr") / space.n_records) if rows else sp.csr_array((0, len(space)))
    matrix.eliminate_zeros()
    return LinearQuery(
        matrix,
        np.array([combination.constant for combination in combinations], dtype=float),
        np.array([combination.attainable() for combination in combinations], dtype=float).reshape(-1, 2).T,
        np.array([_is_multiple(parts) for parts in every], dtype=bool),
        pd.Index(map(str, combinations), name="probability"),
    )


def _is_multiple(parts: list[sp.csr_array]) -> bool:
    """Whether an expression is a multiple of one probability: a mean has several coefficients."""
    return len(parts) == 1 and len(np.unique(parts[0].data)) <= 1


def of_conditionals(space: Space) -> LinearQuery:
    """Ask for every P(s | q) that is not impossible."""
    q, s, n_values = space.codes["q"], space.codes["s"], len(space.view.sensitive_values)
    _, first, pair = np.unique(q * n_values + s, return_index=True, return_inverse=True)
    n, n_terms = len(first), len(space)
    matrix = sp.csr_array((1 / space.view.n_q[q], (pair, np.arange(n_terms))), shape=(n, n_terms))
    attainable = np.stack([np.zeros(n), np.ones(n)])
    index = space.axes.labels(["q", "s"], first)
    return LinearQuery(matrix, np.zeros(n), attainable, np.ones(n, dtype=bool), index)


def of_table(table: PublishedTable, space: Space, cells: np.ndarray) -> LinearQuery:
    """Ask for the number of people in some cells of a table, given by position."""
    n = len(cells)
    attainable = np.stack([np.zeros(n), np.full(n, float(space.n_records))])
    matrix = sp.csr_array(table.matrix(space)[cells])
    return LinearQuery(matrix, np.zeros(n), attainable, np.ones(n, dtype=bool), table.cells.index[cells])


def bounds_of(
    asked: LinearQuery,
    model: MaxEnt,
    integer: bool,
    seconds: float,
    progress: bool | None,
    exact: bool | None = True,
) -> Ends:
    """Find the least and the largest value of linear expressions."""
    if integer and has_alternatives(model):
        value = over_alternatives(model, lambda one: bounds_of(asked, one, integer, seconds, progress).value)
        return Ends(value, np.ones(value.shape, dtype=bool))
    with progress_bar(None, "bounds", progress, total=2 * asked.matrix.shape[0]) as bar:
        found = bounds(
            model.posed,
            asked.matrix,
            is_rectangle=asked.is_rectangle,
            of_rectangles=partial(model.invariants.closed_bounds_of_each, model.space),
            integer=integer,
            exact=exact,
            seconds=seconds,
            answered=bar.update,
        )
    # a probability is between 0 and 1: roundoff must not lead outside of what is attainable at all.
    return Ends(np.clip(asked.constant + found.value, *asked.attainable), found.is_exact)
