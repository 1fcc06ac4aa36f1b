"""Models at the end of what is possible, and beyond it.

Published counts make a transport polytope, whose vertices are whole numbers of people. A combination of terms with
whole coefficients is therefore largest at a whole number, known exactly; and a term is 0 wherever it is that large, or
is at least 1 at some vertex. The number of people is a power of two, so that the value as typed is the value.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.optimize

from maxent_cvx import MaxEnt, P

from ...support.random_models import QI, SA, random_records
from .drawn import Drawn
from .statements import combination, true_statement
from .structures import own_rows
from .views import positive_table, published

__all__ = ["boundary", "infeasible"]

#: Numbers of people, by which whole numbers are divided exactly.
EXACT = (4, 8, 16)
#: By how many people a contradiction is one: 2^-20 (1e-6) to 1.
LEAST_EXPONENT = -20
#: What decides between vertices of one value: less than 1 for all people together.
TIE = 1e-3
#: The room of statements beside, as a part of their largest coefficient: what is fixed as well does not contradict.
ROOM = 1e-3


def _records(rng: np.random.Generator) -> pd.DataFrame:
    while len(records := random_records(rng, size=6)) not in EXACT:
        pass
    return records


def _counts(model: MaxEnt) -> tuple[np.ndarray, np.ndarray]:
    """The published rows, in people."""
    blocks = [block for fact in model.facts for block in fact.rows(model.space)]
    matrix = np.vstack([(block.matrix != 0).toarray().astype(float) for block in blocks])
    return matrix, np.concatenate([np.rint(block.low * model.view.n_records) for block in blocks])


def _vertex(matrix: np.ndarray, side: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A vertex at which weights @ x, a whole number, is largest; one of several such is drawn."""
    tilted = weights + TIE * rng.random(len(weights))
    found = scipy.optimize.linprog(-tilted, A_eq=matrix, b_eq=side, method="highs-ds")
    x = np.rint(found.x)
    assert (matrix @ x == side).all()
    return x


def _weights(model: MaxEnt, records: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Whole coefficients: the terms of one event or two."""
    total = np.zeros(len(model.space))
    for _ in range(int(rng.integers(1, 3))):
        person = records.iloc[int(rng.integers(len(records)))]
        given = {name: person[name] for name in QI if rng.random() < 0.7}
        event = next(iter(P(str(rng.choice(sorted(set(records[SA])))), given).terms))
        total += int(rng.choice([-1, 1, 1, 2])) * (event.row(model.space).toarray()[0] != 0)
    return total


def boundary(rng: np.random.Generator) -> Drawn | None:
    """Draw a combination that is as large as it can be, and up to two statements that are true of a table with that."""
    records = _records(rng)
    model = MaxEnt(published(records))
    matrix, side = _counts(model)
    weights = _weights(model, records, rng)
    top = float(weights @ _vertex(matrix, side, weights, rng))
    face, value = np.vstack([matrix, weights]), np.append(side, top)
    vertices, unseen = [], np.ones(len(weights), dtype=bool)
    while (x := _vertex(face, value, unseen.astype(float), rng))[unseen].any():
        vertices.append(x)
        unseen &= x == 0
    table = rng.dirichlet(np.ones(len(vertices))) @ vertices
    n = model.view.n_records
    model.add(own_rows(weights, top / n, float(rng.choice([top / n, np.inf])), "the most"), label="the most")
    for _ in range(int(rng.integers(0, 3))):
        said = combination(model, records, rng, spread=1.0)
        if said is not None:
            relations = ["<=", ">=", "between"] if len(vertices) < 3 else ["=", "<=", ">=", "between"]
            statement = true_statement(model, said, table, rng, str(rng.choice(relations)), least=ROOM)
            if statement.label not in model.knowledge:
                model.add(statement)
    return Drawn(model, table, model, support=~unseen)


def infeasible(rng: np.random.Generator) -> Drawn | None:
    """Draw what is true of a table, and then what contradicts it: too much of something, or two or three rows."""
    records = _records(rng)
    model = MaxEnt(published(records))
    table = positive_table(model, rng)
    if table is None:
        return None
    for _ in range(int(rng.integers(0, 3))):
        said = combination(model, records, rng, spread=1.0)
        if said is not None:
            statement = true_statement(model, said, table, rng, str(rng.choice(["=", "<=", ">="])), least=0.0)
            if statement.label not in model.knowledge:
                model.add(statement)
    n, beyond = model.view.n_records, 2.0 ** float(rng.integers(LEAST_EXPONENT, 1))
    one, two = _weights(model, records, rng), _weights(model, records, rng)
    match rng.choice(["too much", "two", "three"]):
        case "too much":
            top = float(one @ _vertex(*_counts(model), one, rng))
            rows = [(one, (top + beyond) / n, np.inf)]
        case "two":
            value = float(one @ table) / n
            rows = [(one, -np.inf, value), (one, value + beyond / n, np.inf)]
        case _:
            first, second = float(one @ table) / n, float(two @ table) / n
            rows = [(one, first, first), (two, second, second), (one + two, first + second + beyond / n, np.inf)]
    for i, (weights, low, high) in enumerate(rows):
        model.add(own_rows(weights, low, high, f"clash {i}"), label=f"clash {i}")
    return Drawn(model, table, model, contradictory=True)
