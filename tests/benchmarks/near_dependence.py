"""Random models of statements that nearly depend on each other, each reproduced by its kind and its seed.

A = a and A + d B = c say together that B = (c - a) / d, however small d is. The truth needs no solver: it is what the
doubles as typed say of B, by fractions. Models of one component of up to 5,000 rows, of hundreds of small components
and in partitions are drawn, with probabilities and with means of values of up to 10^12:

    near    d is 10^-4 to 10^-14
    well    d is 10^-1 to 10^-3
    clash   the same is stated twice, with values that differ in late digits
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd

import maxent_cvx as mx
from maxent_cvx import E, P
from maxent_cvx.releases.partitioned import divided

NEAR = ("near", "well", "clash")
VALUES = ["Flu", "Gout", "HIV", "Mumps", "Ulcer"]


def nearly_dependent(kind: str, seed: int, largest: int) -> tuple[mx.MaxEnt, object, Fraction | None]:
    """A model, the statement B, and its true value; None if no distribution satisfies the statements.

    Of a mean, B is that of the other values among the men, by value.
    """
    rng = np.random.default_rng((NEAR.index(kind), seed))
    buckets = int(np.exp(rng.uniform(np.log(8), np.log(largest))))
    n, with_values = 5 * buckets, rng.random() < 0.4
    separate = not with_values and rng.random() < 0.25  # every bucket has quasi-identifiers of its own
    table = pd.DataFrame(
        {
            "Sex": rng.choice(["f", "m"], n),
            "Age": rng.choice([20, 30, 40, 50], n),
            "Bucket": np.repeat(np.arange(buckets), 5),
            "S": rng.choice(VALUES, n, p=[0.3, 0.25, 0.2, 0.15, 0.1]),
        }
    )
    table.loc[:3, "Sex"] = ["f", "f", "m", "m"]
    table.loc[:3, "S"] = ["Flu", "HIV", "Flu", "HIV"]
    table.loc[4:8, "S"] = VALUES  # every value occurs
    qi, where = ["Sex", "Age"], {}
    if separate:
        table["Zip"] = table["Bucket"]
        qi, where = ["Zip", "Sex", "Age"], {"Zip": 0}
    release = mx.Release.from_buckets(table, qi=qi, sa="S", bucket="Bucket")
    in_parts = not separate and rng.random() < 0.4
    model = mx.MaxEnt(divided(release, int(rng.integers(2, 5))) if in_parts else release)
    here = table if not separate else table[table.Zip == 0]
    men, women = here[here.Sex == "m"], here[here.Sex == "f"]
    a = round(float((men.S == "Flu").mean()), 6)
    share = float((women.S == "HIV").mean())
    of_a, of_b = P("Flu", given={"Sex": "m", **where}), P("HIV", given={"Sex": "f", **where})
    if kind == "clash":
        off = 10.0 ** -rng.uniform(3, 12.5)
        factor = float(rng.choice([1.0, 3.0, 0.7]))
        model.add(of_a == a, factor * of_a == factor * a * (1 + off))
        return model, of_a, None
    d = 10.0 ** -(rng.uniform(4, 14) if kind == "near" else rng.uniform(1, 3))
    f = round(share * rng.uniform(0.9, 1.1), 4)
    if kind == "near" and rng.random() < 0.2:
        f = 2.0  # no probability
    if with_values:
        top = 10.0 ** (rng.uniform(4, 12) if kind == "near" else rng.uniform(0, 2))
        values = dict(zip(VALUES, [top, 0.0, 1.0, 2.0, 3.0], strict=True))
        mean = a * top + sum(values[v] * float(men.S.eq(v).mean()) for v in VALUES[1:]) * rng.uniform(0.9, 1.1)
        model.add(of_a == a, E("S", given={"Sex": "m", **where}, values=values) == mean)
        truth = Fraction(mean) - Fraction(a) * Fraction(top)
        return model, {v: values[v] for v in VALUES[1:]}, truth
    c = a + d * f
    model.add(of_a == a, of_a + d * of_b == c)
    truth = (Fraction(c) - Fraction(a)) / Fraction(d)
    if separate:  # where A determines B, the statements contradict each other, by little or by much
        low, high = mx.MaxEnt(release).add(of_a == a).bounds(of_b)
        if high - low < 1e-3 or (truth <= 1 and not low <= f <= high):
            return nearly_dependent(kind, seed + 1_000_000, largest)
    return model, of_b, truth if truth >= 0 and truth <= 1 else None
