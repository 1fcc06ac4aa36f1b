"""Statements that are true of a table and certain of nothing: confidence strictly between 0.05 and 0.95."""

from __future__ import annotations

import numpy as np
import pandas as pd

import maxent_cvx as mx


def generic_statements(table: pd.DataFrame, n: int, eps: float = 0.0, seed: int = 0) -> list[mx.Statement]:
    """Draw n different P(education | 1 to 3 QI attributes), exact or eps-vague."""
    rng = np.random.default_rng(seed)
    codes, values = {}, {}
    for name in (*mx.datasets.ADULT_QI, "education"):
        codes[name], values[name] = pd.factorize(table[name], sort=True)
    found: dict[str, mx.Statement] = {}
    while len(found) < n:
        attributes = rng.choice(mx.datasets.ADULT_QI, rng.integers(1, 4), replace=False)
        person = rng.integers(len(table))
        alike = np.logical_and.reduce([codes[name] == codes[name][person] for name in attributes])
        degree = rng.integers(len(values["education"]))
        confidence = float((codes["education"][alike] == degree).mean())
        if 0.05 < confidence < 0.95:
            given = {str(name): values[name][codes[name][person]] for name in attributes}
            probability = mx.P(values["education"][degree], given=given)
            statement = probability.about(confidence, eps) if eps else probability == confidence
            found[str(statement)] = statement
    return list(found.values())
