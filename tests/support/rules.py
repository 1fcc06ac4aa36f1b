"""The examples of "published rules", and random tables with what rules mean, written down pattern by pattern."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd

import maxent_cvx as mx

QI = ["Education", "Gender"]
#: Fig. 1(a): twelve people.
EXAMPLE_1 = pd.DataFrame(
    [
        row.split()
        for row in [
            "Doctorate Male 50K-", "Masters Female 50K-", "Doctorate Female 50K+", "Bachelors Male 50K-",
            "Masters Female 50K+", "Doctorate Male 50K+", "Masters Female 50K+", "Doctorate Female 50K+",
            "Masters Female 50K+", "Doctorate Female 50K+", "Masters Female 50K+", "Doctorate Female 50K+",
        ]
    ],
    columns=[*QI, "Salary"],
)  # fmt: skip
#: Fig. 2: three people.
EXAMPLE_2 = pd.DataFrame(
    [["Doctorate", "Female", "50K+"], ["Doctorate", "Male", "50K+"], ["Masters", "Female", "50K-"]],
    columns=[*QI, "Salary"],
)


def people_of(frame: pd.DataFrame, qi=QI, sa="Salary") -> mx.QITable:
    """What everybody knows of a table: who is in it, and which values there are."""
    return mx.QITable(frame, qi=qi, sa=sa, sa_values=sorted(frame[sa].unique()))


def random_table(rng: np.random.Generator) -> pd.DataFrame:
    """Draw 3 to 12 people: up to three QI attributes and a sensitive one, each of two or three values."""
    n, k = int(rng.integers(3, 13)), int(rng.integers(1, 4))
    columns = {f"Q{i}": rng.choice(list("abc")[: rng.integers(2, 4)], n) for i in range(k)}
    return pd.DataFrame({**columns, "S": rng.choice(list("xyz")[: rng.integers(2, 4)], n)})


def correlated_table(seed: int) -> pd.DataFrame:
    """Draw up to 1,500 people whose attributes depend on one number, as in real data; many patterns are certain."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(50, 1500)), int(rng.integers(3, 7))
    z = rng.random(n)
    columns = {f"Q{i}": np.minimum((rng.random(n) + z) / 2 * rng.integers(2, 5), 3).astype(int) for i in range(k)}
    return pd.DataFrame(columns).astype(str).assign(S=np.where(z + rng.normal(0, 0.2, n) > 0.6, "y", "n"))


def patterns(frame: pd.DataFrame) -> dict[tuple[frozenset, str], tuple[int, int]]:
    """Every pattern Q => X that some people have, with n(Q) and n(Q, X), by looking at everybody."""
    qi = [column for column in frame if column.startswith("Q")]
    counts = {}
    for size in range(1, len(qi) + 1):
        for subset in itertools.combinations(qi, size):
            for values in set(map(tuple, frame[list(subset)].to_numpy())):
                inside = (frame[list(subset)] == list(values)).all(axis=1)
                for value in sorted(set(frame["S"])):
                    key = frozenset(zip(subset, values, strict=True)), value
                    counts[key] = int(inside.sum()), int((inside & (frame["S"] == value)).sum())
    return counts


def is_rule(n_q: int, n_qx: int, n: int, s: str, c: str, *, strict: bool) -> bool:
    """By the definition, in fractions; a pattern that nobody has is no rule."""
    support, confidence = Fraction(n_qx, n), Fraction(n_qx, n_q)
    if strict:
        return support > Fraction(s) and confidence > Fraction(c)
    return n_qx > 0 and support >= Fraction(s) and confidence >= Fraction(c)


def written_rules(rules: mx.RuleSet) -> set[tuple[frozenset, str]]:
    """The rules of a set, as :func:`patterns` writes them."""
    return {
        (frozenset((name, row[name]) for name in rules.qi if row[name] is not None), row[rules.sa])
        for _, row in rules.table.iterrows()
    }
