"""Models of particular structure: dense rows, sparse ones, and rows that depend on each other."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from maxent_cvx import MaxEnt
from maxent_cvx.terms.rows import Rows

from ...support.oracle import oracle
from ...support.random_models import random_records
from .drawn import Drawn
from .statements import combination, true_statement
from .views import positive_table, published

__all__ = ["degenerate", "dense", "own_rows", "sparse"]

#: The room of statements that are no equations, as a part of their largest coefficient.
ROOM = 1e-3


def own_rows(weights: np.ndarray, low: float, high: float, label: str) -> Rows:
    """One row over the terms, low <= weights @ p <= high."""
    return Rows(sp.csr_array(weights[None].astype(float)), np.array([low]), np.array([high]), label)


def dense(rng: np.random.Generator) -> Drawn | None:
    """Draw rows with a random coefficient on every term, at most half as many as leave a choice; some are ranges."""
    model = MaxEnt(published(random_records(rng, size=6)))
    table = positive_table(model, rng)
    if table is None:
        return None
    free = len(table) - np.linalg.matrix_rank(
        np.vstack([b.matrix.toarray() for f in model.facts for b in f.rows(model.space)])
    )
    for i in range(int(rng.integers(1, 2 + free // 2))):
        weights = rng.normal(size=len(table)) * 10 ** rng.uniform(-1, 1)
        side = float(weights @ table) / model.view.n_records
        room = 0.0 if i > 2 or rng.random() < 0.6 else float(rng.uniform(0, 0.02)) * np.abs(weights).max()
        rows = own_rows(weights, side - room, side + room, f"dense {i}")
        model.add(rows, label=rows.label)
    return Drawn(model, table, model)


def sparse(rng: np.random.Generator) -> Drawn | None:
    """Draw four to six buckets of two or three people, and two equations and some ranges of few terms each."""
    records = random_records(rng, buckets=(4, 6), size=3)
    model = MaxEnt(published(records))
    table = positive_table(model, rng)
    if table is None:
        return None
    for i in range(int(rng.integers(2, 6))):
        said = combination(model, records, rng, spread=0.5)
        if said is not None:
            relation = "=" if i < 2 else str(rng.choice(["<=", ">=", "between"]))  # few people fix few equations
            statement = true_statement(model, said, table, rng, relation, least=ROOM)
            if statement.label not in model.knowledge:
                model.add(statement)
    return Drawn(model, table, model)


def degenerate(rng: np.random.Generator) -> Drawn | None:
    """Draw whole coefficients, rows that say again what others say, and what just holds of the answer without it.

    Multiples are powers of two and sums are taken only where they are exact, so that no row contradicts another in its
    last digits.
    """
    model = MaxEnt(published(random_records(rng, size=6)))
    table = positive_table(model, rng)
    if table is None:
        return None
    n, said = model.view.n_records, []
    for i in range(int(rng.integers(1, 4))):
        weights = rng.integers(-2, 3, len(table)) * (rng.random(len(table)) < 0.5)
        side = float(weights @ table) / n
        high = side if rng.random() < 0.6 else side + float(rng.uniform(0, 0.05))
        said.append((weights, side, high))
        model.add(own_rows(weights, side, high, f"row {i}"), label=f"row {i}")
    weights, low, high = said[int(rng.integers(len(said)))]
    for i, factor in enumerate(rng.choice([2.0, 0.5, 4.0, 1.0], int(rng.integers(1, 3)))):
        model.add(own_rows(factor * weights, factor * low, factor * high, f"again {i}"), label=f"again {i}")
    exact = oracle(model, table)
    if exact is not None and rng.random() < 0.7:  # just holds: its multiplier is 0, or as good as
        weights = rng.integers(-2, 3, len(table))
        most = float(weights @ np.array([float(x) for x in exact.counts])) / n
        model.add(own_rows(weights, -np.inf, most, "just holds"), label="just holds")
        table = np.array([float(x) for x in exact.counts])
    return Drawn(model, table, model)
