"""Certificates of statements that nearly depend on each other: python -m tests.benchmarks.near_dependence.

A = a and A + d B = c say together that B = (c - a) / d, however small d is. The truth needs no solver: it is what the
doubles as typed say of B, by fractions. Models of one component of up to 5,000 rows, of hundreds of small components
and in partitions are drawn, with probabilities and with means of values of up to 10^12, and judged:

    answered       a certified answer
    refused        Inaccurate: nothing is proved
    infeasible     Infeasible
    exceeded       B is further from the truth than the bound, or no distribution satisfies the statements
    wrong          Infeasible, although B = (c - a) / d is possible

`near` statements differ by d = 10^-4 to 10^-14, `well` ones by 10^-1 to 10^-3; `clash` states the same twice with
values that differ in late digits. The exit status is 1 if some bound is exceeded, a status is wrong or a
well-conditioned model is refused.
"""

from __future__ import annotations

import argparse
import sys
import time
from fractions import Fraction

import numpy as np
import pandas as pd

import maxent_cvx as mx
from maxent_cvx import E, P
from maxent_cvx.releases.partitioned import divided

KINDS = ("near", "well", "clash")
VALUES = ["Flu", "Gout", "HIV", "Mumps", "Ulcer"]


def drawn(kind: str, seed: int, largest: int) -> tuple[mx.MaxEnt, object, Fraction | None]:
    """A model, the statement B, and its true value; None if no distribution satisfies the statements."""
    rng = np.random.default_rng((KINDS.index(kind), seed))
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
            return drawn(kind, seed + 1_000_000, largest)
    return model, of_b, truth if truth >= 0 and truth <= 1 else None


def judged(kind: str, seed: int, largest: int) -> tuple[str, str]:
    """How a model ends, and whether that is `exceeded`, `wrong` or neither."""
    model, statement, truth = drawn(kind, seed, largest)
    try:
        post = model.solve(time_limit=120)
    except mx.Infeasible:
        return "infeasible", "wrong" if truth is not None and kind == "well" else ""
    except mx.MaxEntError:
        return "refused", ""
    if truth is None:  # a value that the release determines may be typed rounded: then the certificate says so
        return "answered", "" if kind == "clash" and post.certificate.backward > 0 else "exceeded"
    bound = post.certificate.bound
    if isinstance(statement, dict):  # the mean of the other values among men
        value = sum(v * float(post.prob(P(s, given={"Sex": "m"}))) for s, v in statement.items())
        allowed = bound * sum(abs(v) for v in statement.values())
    else:
        value, allowed = float(post.prob(statement)), bound
    return "answered", "exceeded" if abs(value - float(truth)) > allowed + 1e-15 else ""


def main() -> int:
    """Draw, judge, and print a line of counts for each kind."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--number", type=int, default=100, help="models of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--largest", type=int, default=700, help="the most buckets of a model")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    args, failed = parser.parse_args(), 0
    for kind in args.kinds:
        begun = time.perf_counter()
        counts = dict.fromkeys(("answered", "refused", "infeasible", "exceeded", "wrong"), 0)
        for seed in range(args.seed, args.seed + args.number):
            word, fault = judged(kind, seed, args.largest)
            counts[word] += 1
            if fault:
                counts[fault] += 1
                print(f"  --kinds {kind} --seed {seed} --number 1: {word}, {fault}", flush=True)
        failed += counts["exceeded"] + counts["wrong"] + (counts["refused"] if kind == "well" else 0)
        seconds = f"{time.perf_counter() - begun:.0f} s"
        print(f"{kind:6}", *(f"{name} {n:5}" for name, n in counts.items()), seconds, flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
