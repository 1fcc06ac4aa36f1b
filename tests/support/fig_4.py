"""People with names: those of Privacy-MaxEnt, Fig. 4, and records of random tables."""

from __future__ import annotations

import pandas as pd

from .random_models import QI

#: Fig. 4 names Alice i1 with q1, Bob i4 with q2, Charlie i9 with q5: its table is that of Fig. 1(c).
FIG_4 = {
    "Alice": {"Gender": "male", "Degree": "college"},
    "Bob": {"Gender": "female", "Degree": "college"},
    "Charlie": {"Gender": "female", "Degree": "graduate"},
}


def described(records: pd.DataFrame, names: list[int]) -> dict[object, dict[str, object]]:
    """Name records by their position."""
    return {f"i{n}": records.loc[n, list(QI)].to_dict() for n in names}
