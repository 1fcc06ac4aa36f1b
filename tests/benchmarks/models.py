"""Models to measure on: Adult published by Anatomy, or larger tables of its shape, and two kinds of knowledge."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

import maxent_cvx as mx

#: Records of Adult itself; more are drawn.
COMPLETE = 30_162
#: How likely a value is to come from another record.
MIXED = 0.25


def larger_adult(n_records: int, seed: int = 0) -> pd.DataFrame:
    """Draw records of Adult, and exchange QI values, each with probability 1/4, among those of the same education.

    So there are many more QI tuples than Adult has, as a larger population would have.
    """
    rng = np.random.default_rng(seed)
    adult = mx.datasets.load_adult().sort_values("education", kind="stable", ignore_index=True)
    drawn = rng.integers(len(adult), size=n_records)
    codes = pd.factorize(adult["education"])[0]
    first, size = np.searchsorted(codes, np.arange(codes.max() + 1)), np.bincount(codes)
    columns = {}
    for attribute in mx.datasets.ADULT_QI:
        of_same = codes[drawn]
        other = first[of_same] + (rng.random(n_records) * size[of_same]).astype(np.int64)
        source = np.where(rng.random(n_records) < MIXED, other, drawn)
        columns[attribute] = adult[attribute].to_numpy()[source]
    return pd.DataFrame({**columns, "education": adult["education"].to_numpy()[drawn]})


def generic_statements(table: pd.DataFrame, n: int, eps: float = 0.0, seed: int = 0) -> list[mx.Statement]:
    """Draw n different P(education | 1 to 3 QI attributes), exact or eps-vague."""
    rng = np.random.default_rng(seed)
    codes, values = {}, {}
    for name in (*mx.datasets.ADULT_QI, "education"):
        codes[name], values[name] = pd.factorize(table[name], sort=True)
    statements: dict[str, mx.Statement] = {}
    while len(statements) < n:
        attributes = rng.choice(mx.datasets.ADULT_QI, rng.integers(1, 4), replace=False)
        person = rng.integers(len(table))
        alike = np.logical_and.reduce([codes[name] == codes[name][person] for name in attributes])
        degree = rng.integers(len(values["education"]))
        confidence = float((codes["education"][alike] == degree).mean())
        if 0.05 < confidence < 0.95:
            given = {str(name): values[name][codes[name][person]] for name in attributes}
            probability = mx.P(values["education"][degree], given=given)
            statement = probability.about(confidence, eps) if eps else probability == confidence
            statements[str(statement)] = statement
    return list(statements.values())


def adult_model(records: int, rows: int, *, eps: float = 0.0, strongest: bool = False) -> mx.MaxEnt:
    """Publish QI and education by Anatomy (l = 5, two values exempt), and know so many rows.

    Knowledge is generic (confidence between 0.05 and 0.95, 1 to 3 attributes), or the strongest
    associations, half positive and half negative, whose confidence is mostly 1.
    """
    table = mx.datasets.load_adult().head(records) if records <= COMPLETE else larger_adult(records)
    release = mx.anonymize.anatomy(table, qi=mx.datasets.ADULT_QI, sa="education", l=5, exempt=2)
    if strongest:
        half = rows // 2
        return mx.MaxEnt(release).add(mx.StrongestAssociations(table, positive=rows - half, negative=half))
    return mx.MaxEnt(release).add(*generic_statements(table, rows, eps))


def fresh(model: mx.MaxEnt) -> mx.MaxEnt:
    """A model of the same release and knowledge that has derived nothing from them yet."""
    return mx.MaxEnt(model.view).add(*model.knowledge.values())


def evaluation_seconds(model: mx.MaxEnt) -> float:
    """The least time of x = exp(A' m - 1) and A x, by SciPy's products."""
    matrix = model.form.matrix
    transposed, m, least = matrix.T.tocsr(), np.zeros(matrix.shape[0]), np.inf
    for _ in range(20):
        begun = time.perf_counter()
        matrix @ np.exp(transposed @ m - 1)
        least = min(least, time.perf_counter() - begun)
    return least
