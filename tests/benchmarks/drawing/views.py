"""Views and tables that are drawn: what is published, and a positive table that it is true of."""

from __future__ import annotations

import numpy as np
import pandas as pd

from maxent_cvx import MaxEnt, QIDistribution, QITable, Release, ReleaseSeries

from ...support.random_models import QI, SA

__all__ = ["other_view", "positive_table", "published"]

#: People by which counts of a table may be missed when scaling ends, and its most rounds.
FITTED, ROUNDS = 1e-13, 5_000


def published(records: pd.DataFrame, **roles: str) -> Release:
    return Release.from_buckets(records, qi=QI, sa=SA, bucket="Bucket", **roles)


def other_view(records: pd.DataFrame, rng: np.random.Generator) -> MaxEnt:
    """Draw a model of another view, of named people, or with a prior."""
    match rng.choice(["table", "counted table", "people", "series", "prior"]):
        case "table":
            return MaxEnt(QITable(records, qi=QI, sa=SA, sa_values=sorted(set(records[SA]))))
        case "counted table":
            return MaxEnt(QITable(records, qi=QI, sa=SA, sa_distribution=records[SA].value_counts(normalize=True)))
        case "people":
            some = records.sample(min(len(records), int(rng.integers(1, 3))), random_state=int(rng.integers(1000)))
            names = [f"P{i}" for i in range(len(some))]
            return MaxEnt(published(records), people=some[list(QI)].set_axis(names))
        case "series":
            named = records.assign(Id=np.arange(len(records)))
            again = named.assign(Bucket=rng.permutation(named["Bucket"].to_numpy()))
            return MaxEnt(ReleaseSeries([published(one, id="Id") for one in (named, again)]))
    values = sorted(set(records[SA]))
    believed = pd.DataFrame(
        rng.dirichlet(np.ones(len(values)), 2), index=pd.Index(["f", "m"], name="Sex"), columns=values
    )
    return MaxEnt(published(records), prior=QIDistribution(believed))


def positive_table(model: MaxEnt, rng: np.random.Generator) -> np.ndarray | None:
    """Draw a positive table with the published counts: random numbers, scaled until they fit; None if they do not."""
    blocks = [block for fact in model.facts for block in fact.rows(model.space)]
    rows = [
        ((block.matrix != 0).toarray().astype(float), np.rint(block.low * model.view.n_records)) for block in blocks
    ]
    x = np.exp(rng.normal(0, 1, len(model.space)))
    for _ in range(ROUNDS):
        for matrix, n in rows:
            x = x * np.exp(np.log(n / (matrix @ x)) @ matrix)
        if max(np.abs(matrix @ x - n).max(initial=0.0) for matrix, n in rows) < FITTED:
            break
    fits = all(np.abs(matrix @ x - n).max(initial=0.0) < 1e-9 for matrix, n in rows)
    return x if fits and x.min() > 1e-6 else None
