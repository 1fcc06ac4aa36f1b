"""Bounds: the least and the largest value of linear expressions over all distributions that satisfy the rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import Inaccurate, Infeasible, NotDecided
from .._utils.progress import progress_bar
from ..solvers.convex_bounds import convex_bounds
from ..solvers.intervals import Ends, bounds
from ..solvers.monitor import within
from ..sources.statements import Probability
from ..sources.tables import PublishedTable
from ..terms.space import Space

if TYPE_CHECKING:
    from .maxent import MaxEnt

#: Maximum number of models solved for one query, one per combination of alternatives.
MOST = 1000


@dataclass(frozen=True, eq=False)
class LinearQuery:
    """Expressions ``matrix @ x + constant`` of the counts x = N p, and their ranges."""

    matrix: sp.csr_array  # shape (expressions, terms)
    constant: np.ndarray
    attainable: np.ndarray  # shape (2, expressions): the range without constraints, from 0 to 1 for a probability
    # One per expression: whether it is a multiple of the sum of the terms that combine, in every bucket, all of some
    # QI tuples with some values. Such expressions have a closed form without knowledge.
    is_rectangle: np.ndarray
    index: pd.Index


def of_combinations(combinations: Sequence[Probability], space: Space) -> LinearQuery:
    """Return the query for linear combinations of probabilities."""
    events = [[a * event.row(space) for event, a in combination.terms.items()] for combination in combinations]
    rows = [sum(parts, sp.csr_array((1, len(space)))) for parts in events]
    matrix = sp.csr_array(sp.vstack(rows, format="csr") / space.n_records) if rows else sp.csr_array((0, len(space)))
    matrix.eliminate_zeros()
    return LinearQuery(
        matrix,
        np.array([combination.constant for combination in combinations], dtype=float),
        np.array([combination.attainable() for combination in combinations], dtype=float).reshape(-1, 2).T,
        # A single event is a rectangle if it is a probability; a mean has several coefficients.
        np.array([len(parts) == 1 and len(np.unique(parts[0].data)) <= 1 for parts in events], dtype=bool),
        pd.Index(map(str, combinations), name="probability"),
    )


def of_conditionals(space: Space) -> LinearQuery:
    """Return the query for every possible P(s | q)."""
    q, s, n_values = space.codes["q"], space.codes["s"], len(space.view.sensitive_values)
    _, first, pair = np.unique(q * n_values + s, return_index=True, return_inverse=True)
    n, n_terms = len(first), len(space)
    matrix = sp.csr_array((1 / space.view.n_q[q], (pair, np.arange(n_terms))), shape=(n, n_terms))
    attainable = np.stack([np.zeros(n), np.ones(n)])
    index = space.axes.labels(["q", "s"], first)
    return LinearQuery(matrix, np.zeros(n), attainable, np.ones(n, dtype=bool), index)


def of_table(table: PublishedTable, space: Space, cells: np.ndarray) -> LinearQuery:
    """Return the query for the number of people in cells of a table, given by position."""
    n = len(cells)
    attainable = np.stack([np.zeros(n), np.full(n, float(space.n_records))])
    matrix = sp.csr_array(table.matrix(space)[cells])
    return LinearQuery(matrix, np.zeros(n), attainable, np.ones(n, dtype=bool), table.cells.index[cells])


def bounds_of(
    query: LinearQuery, model: MaxEnt, integer: bool, seconds: float, progress: bool | None, exact: bool | None = True
) -> Ends:
    """Bound linear expressions; with `exact` None, bounds are exact for small components only."""
    if integer and (models := _alternatives(model)):
        values, infeasible = [], None
        for chosen in models:
            try:
                values.append(bounds_of(query, chosen, integer, seconds, progress).value)
            except Infeasible as error:
                infeasible = error
        if infeasible is not None and not values:
            raise infeasible
        value = np.stack([np.min([low for low, _ in values], axis=0), np.max([high for _, high in values], axis=0)])
        return Ends(value, np.ones(value.shape, dtype=bool))
    linear_bounds = partial(
        bounds,
        expressions=query.matrix,
        is_rectangle=query.is_rectangle,
        of_rectangles=partial(model.invariants.closed_bounds_of_each, model.space),
        integer=integer,
        exact=exact,
    )
    with progress_bar(None, "bounds", progress, total=2 * query.matrix.shape[0]) as bar:
        if model.posed.convex is None:
            ends = linear_bounds(model.posed, seconds=seconds, answered=bar.update)
        else:
            with within(seconds):
                ends = convex_bounds(model.posed, query.matrix, linear_bounds, bar.update)
    # Rounding errors must not lead outside of the range, which is 0 to 1 for a probability.
    return Ends(np.clip(query.constant + ends.value, *query.attainable), ends.is_exact)


def require_attained(query: LinearQuery, ends: Ends) -> None:
    """Raise Inaccurate if a bound may not be attained, as for nearly contradictory convex constraints."""
    open_ = np.flatnonzero(~ends.is_exact.all(axis=0))
    if len(open_):
        low, high = ends.value[:, open_[0]]
        raise Inaccurate(
            f"{query.index[open_[0]]} is proved to be between {low:.6g} and {high:.6g}, but these bounds may not be "
            "attained, because a conic program has no precise answer; pass exact=False for bounds that may be wider"
        )


def _alternatives(model: MaxEnt) -> list[MaxEnt]:
    """Return one model per combination of alternatives of its sources, or [] without alternatives."""
    # A source may be a disjunction: one of several sets of rows holds. The rows of the source are a relaxation.
    choices = {
        label: source.alternatives(model.space)
        for label, source in model.knowledge.items()
        if hasattr(source, "alternatives")
    }
    choices = {label: alternatives for label, alternatives in choices.items() if len(alternatives) > 1}
    if not choices:
        return []
    if (number := math.prod(map(len, choices.values()))) > MOST:
        raise NotDecided(
            f"there are {number} combinations of the alternatives of {', '.join(choices)}, but at most {MOST} are "
            "supported; pass integer=False, or remove some of these sources"
        )
    models = []
    for chosen in itertools.product(*choices.values()):
        twin = model.copy()
        for label, rows in zip(choices, chosen, strict=True):
            twin.remove(label).add(lambda space, rows=rows: rows, label=label)
        models.append(twin)
    return models
