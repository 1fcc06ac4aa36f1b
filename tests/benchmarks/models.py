"""Models to measure on: Adult published by Anatomy, or larger tables of its shape, and knowledge of two kinds."""

from __future__ import annotations

import maxent_cvx as mx

from .generic_knowledge import generic_statements
from .larger_tables import larger_adult

#: Records of Adult itself; more are drawn.
COMPLETE = 30_162


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
