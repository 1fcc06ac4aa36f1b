"""Models of all kinds, from a kind and a seed.

Every model is drawn from a table of people, so that what it says is true but for the rounding of typed numbers:

    wide          coefficients from 1e-9 to 1e9 in one statement
    tame          coefficients from 0.1 to 10
    vague         the same, and every statement leaves some room
    views         other views than a release, named people, priors, and rows of one's own
    convex        some of what is between two numbers is said by a convex function
    cancelling    most of what a statement's coefficients amount to is nothing, or is published
    soft          most statements may be missed at a cost, and are: some are far from the table, or contradict others
    dense         rows with a coefficient on every term
    sparse        many small buckets, and statements about few terms each
    degenerate    rows that depend on each other, and inequalities that are active by a hair or not at all
    boundary      a combination is as large as published counts permit, which makes terms 0
    infeasible    no table satisfies it, by 1e-6 of a person at the least
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import scipy.sparse as sp

from maxent_cvx import MaxEnt
from maxent_cvx.sources.statements import Probability
from maxent_cvx.terms.rows import Rows

from ...support.random_models import random_records
from .drawn import Drawn
from .faces import boundary, infeasible
from .statements import combination, convex_statement, nearly_nothing, soft_statement, true_statement
from .structures import degenerate, dense, sparse
from .views import other_view, positive_table, published

__all__ = ["KINDS", "drawn"]

#: Exponents of ten that coefficients are drawn from, if not of 0.1 to 10.
SPREAD = {"wide": 9.0, "convex": 0.3, "cancelling": 2.0, "soft": 1.0}
#: How statements are said.
RELATIONS = {"tame": ["=", "=", "=", "<=", ">=", "between"], "vague": ["<=", ">=", "between", "between"]}
#: The least room of a statement that is no equation, as a part of its largest coefficient.
LEAST = {"convex": 0.01, "vague": 1e-4}


def drawn(kind: str, seed: int) -> Drawn | None:
    """Draw a model; None if its published counts leave no positive table."""
    return KINDS[kind](np.random.default_rng(seed))


def told(kind: str, rng: np.random.Generator) -> Drawn | None:
    """Draw a model of one to three statements that are true of a positive table; None if there is no such table."""
    records = random_records(rng, size=6)
    other = kind == "views" or (kind == "soft" and rng.random() < 0.4)
    model = other_view(records, rng) if other else MaxEnt(published(records))
    table = positive_table(model, rng)
    if table is None:
        return None
    if kind == "soft":
        _add_soft(model, records, table, rng)
        return Drawn(model, table, model)
    posed = model.copy()
    for i in range(int(rng.integers(1, 4))):
        said = combination(model, records, rng, SPREAD.get(kind, 1.0))
        if kind == "cancelling" and said is not None:
            said = said + nearly_nothing(records, rng)
        if said is None or not any(said.terms.values()):
            continue
        kinds = ["between"] if kind == "convex" and not i else RELATIONS.get(kind, RELATIONS["tame"])
        statement = true_statement(model, said, table, rng, str(rng.choice(kinds)), least=LEAST.get(kind, 0.0))
        if statement.label in posed.knowledge:
            continue
        if kind == "convex" and 0 < statement.high - statement.low < np.inf:
            posed.add(statement)
            model.add(convex_statement(said, statement), label=f"convex {i}")
        elif kind == "views" and rng.random() < 0.3:
            weights = sp.csr_array(np.where(rng.random(len(table)) < 0.5, rng.normal(size=len(table)), 0.0)[None])
            side = weights @ table / model.view.n_records
            rows = Rows(weights, side - float(rng.choice([0, 0.1])), side + 0.0, f"own {i}")
            model.add(rows, label=f"own {i}")
            posed.add(rows, label=f"own {i}")
        else:
            model.add(statement)
            posed.add(statement)
    return Drawn(model, table, posed)


def _add_soft(model: MaxEnt, records: pd.DataFrame, table: np.ndarray, rng: np.random.Generator) -> None:
    """Add soft statements, some true of the table, some far from it, some of what another is of; a few are hard."""
    said: Probability | None = None
    hard = set()
    for i in range(int(rng.integers(1, 6))):
        if said is None or rng.random() < 0.7:
            said = combination(model, records, rng, SPREAD["soft"])
        if said is None:
            continue
        relation = str(rng.choice(["=", "=", "<=", ">=", "between"]))
        if rng.random() < 0.25:
            statement = true_statement(model, said, table, rng, relation, least=0.0)
            if statement.label in hard:
                continue
            hard.add(statement.label)
        else:
            statement = soft_statement(model, said, table, rng, relation)
        model.add(statement, label=f"{i}: {statement.label}")


def _telling(kind: str) -> Callable[[np.random.Generator], Drawn | None]:
    return lambda rng: told(kind, rng)


#: From a kind to what draws a model of it.
KINDS: dict[str, Callable[[np.random.Generator], Drawn | None]] = {
    **{kind: _telling(kind) for kind in ("wide", "tame", "vague", "views", "convex", "cancelling", "soft")},
    "dense": dense, "sparse": sparse, "degenerate": degenerate, "boundary": boundary, "infeasible": infeasible,
}  # fmt: skip
