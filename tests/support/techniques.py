"""Made-up records, and a technique that a user might write."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

BOTH = {"closed": "both"}


def people(n=40, seed=0):
    """Made-up records, as in Table 2 of the paper, with a salary that depends on the rest."""
    rng = np.random.default_rng(seed)
    age, sex, education = rng.integers(16, 30, n), rng.choice(["F", "M"], n), rng.integers(1, 6, n)
    salary = (10 * (education + rng.integers(0, 4, n)) + 10 * (age > 22)).astype(int)
    return pd.DataFrame({"Age": age, "Sex": sex, "Education": education, "Salary": salary})


@dataclass(frozen=True)
class Rounded:
    """A fourth technique: publish a table of the confidential attribute by one other, in fives of people."""

    by: str
    seed: int = 0

    def publish(self, table, confidential):
        return (pd.crosstab(table[self.by], table[confidential]) / 5).round() * 5 + 1

    def infer(self, published, known, population):
        chosen = known.get(self.by, list(published.index))
        row = published.loc[chosen if isinstance(chosen, list) else [chosen]].sum()
        return row / row.sum()
