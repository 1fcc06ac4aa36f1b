"""Equivocation of many values, techniques on many records: ``python -m tests.benchmarks.equivocation``."""

from __future__ import annotations

import argparse
import resource

import numpy as np
import pandas as pd

import maxent_cvx as mx
from maxent_cvx import sdc

from .worlds import timed

#: What the intruders of the benchmark know.
KNOWN = ["age", "sex", "education"]


def one_eps(values: int, windows: list[int], times: int) -> pd.DataFrame:
    """H(eps) of so many consecutive values, for windows of so many of them."""
    p = np.random.default_rng(0).dirichlet(np.ones(values))
    cae = mx.measures.equivocation(np.arange(values), p / p.sum())
    found = pd.DataFrame({"window": windows})
    found["seconds"] = [timed(lambda eps=window - 1: cae.at(eps), times)[0] for window in windows]
    return found.assign(ratio=found["seconds"] / found["seconds"].iloc[0])


def curves(sizes: list[int], times: int) -> pd.DataFrame:
    """The exact curve of so many consecutive values, and the bisected one of as many random ones."""
    rows = []
    for n in sizes:
        rng = np.random.default_rng(n)
        p = rng.dirichlet(np.ones(n))
        for kind, values in (("consecutive", np.arange(n)), ("random", rng.normal(size=n))):
            seconds, (area, cae) = timed(lambda values=values, p=p: drawn(values, p / p.sum()), times)
            low, high = cae.area_bounds
            rows.append((n, kind, cae.exact, len(cae.curve), seconds, (high - low) / area))
    found = pd.DataFrame(rows, columns=["values", "kind", "exact", "rows", "seconds", "open"])
    return found.assign(ratio=found["seconds"] / found["seconds"].iloc[0])


def drawn(values: np.ndarray, p: np.ndarray) -> tuple[float, mx.measures.Equivocation]:
    """The curve, and its area."""
    cae = mx.measures.equivocation(values, p)
    return cae.area, cae


def techniques(records: int) -> pd.DataFrame:
    """Adult, repeated to so many records, hours per week confidential: publish, and infer twice."""
    adult = mx.datasets.load_adult()[[*KNOWN, "occupation", "hours-per-week"]]
    table = adult.iloc[np.arange(records) % len(adult)].reset_index(drop=True)
    population = table.drop(columns="hours-per-week")
    known = {name: table[name].iloc[0] for name in KNOWN}
    rows = []
    chosen = {
        "Sampling": sdc.Sampling(0.2),
        "RangeQueries": sdc.RangeQueries(8),
        "RangeQueries, maxent": sdc.RangeQueries(8, distribution="maxent"),
        "BinomialNoise": sdc.BinomialNoise(10),
    }
    for name, technique in chosen.items():
        publish, published = timed(lambda technique=technique: technique.publish(table, "hours-per-week"))
        asked = [
            timed(lambda technique=technique, published=published: technique.infer(published, known, population))[0]
            for _ in range(2)  # bounds, and what all intruders share, are found once
        ]
        rows.append((name, publish, *asked))
    found = pd.DataFrame(rows, columns=["technique", "publish", "infer", "infer again"]).set_index("technique")
    return found.assign(ratio=found["infer"] / found["publish"])


def main(arguments: list[str] | None = None) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Print all tables, and return them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=100_000, help="consecutive values, for one eps")
    parser.add_argument("--windows", type=int, nargs="+", default=[10, 100, 1_000], help="values in a window")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 300, 1_000], help="values of whole curves")
    parser.add_argument("--records", type=int, default=30_162, help="records of the techniques")
    parser.add_argument("--times", type=int, default=3, help="the fastest of so many")
    chosen = parser.parse_args(arguments)
    one, whole = one_eps(chosen.values, chosen.windows, chosen.times), curves(chosen.sizes, chosen.times)
    print(f"one eps, {chosen.values} values:\n{one.round(3).to_string(index=False)}\n")
    print(f"whole curves:\n{whole.to_string(index=False, float_format='{:.3g}'.format)}\n")
    published = techniques(chosen.records)
    print(f"techniques, {chosen.records} records, seconds:\n{published.round(3)}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB")
    return one, whole, published


if __name__ == "__main__":
    main()
