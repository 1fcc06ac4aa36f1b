"""Statements that are true of Adult and certain of nothing: confidence strictly between 0.05 and 0.95."""

from __future__ import annotations

import numpy as np
import pandas as pd

import maxent_cvx as mx


def generic_statements(table: pd.DataFrame, n: int, eps: float = 0.0, seed: int = 0) -> list[mx.Statement]:
    """Draw n different P(education | 1 to 3 QI attributes), exact or eps-vague."""
    rng = np.random.default_rng(seed)
    values = sorted(table["education"].unique())
    found: dict[str, mx.Statement] = {}
    while len(found) < n:
        attributes = rng.choice(mx.datasets.ADULT_QI, rng.integers(1, 4), replace=False)
        person = table.iloc[rng.integers(len(table))]
        given = {str(attribute): person[attribute] for attribute in attributes}
        alike = table[np.logical_and.reduce([table[a] == v for a, v in given.items()])]
        value = values[rng.integers(len(values))]
        confidence = float((alike["education"] == value).mean())
        if 0.05 < confidence < 0.95:
            probability = mx.P(value, given=given)
            statement = probability.about(confidence, eps) if eps else probability == confidence
            found[str(statement)] = statement
    return list(found.values())
