"""One bucket of n QI values and n sensitive values: python -m tests.benchmarks.large_buckets --sizes 100 300 1000.

Twenty people a QI value are drawn at random. What is known is nothing, the shares of six values among people of one QI
value each (`rows`), or also the mean of the sensitive value among half of the QI values, and of its square among a
quarter (`dense`). Every model runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

import maxent_cvx as mx
from maxent_cvx import P

from .larger import peak_memory

KINDS = ("nothing", "rows", "dense")


def bucket_model(n: int, kind: str, seed: int = 0) -> mx.MaxEnt:
    """One bucket of n by n terms, and knowledge of a kind."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"q": rng.integers(n, size=20 * n), "s": rng.integers(n, size=20 * n), "bucket": 0})
    model = mx.MaxEnt(mx.Release.from_buckets(table, qi="q", sa="s", bucket="bucket"))
    if kind == "nothing":
        return model
    model.add(*(P(s, given={"q": s}) == 0.05 + 0.01 * s for s in range(5)), P(7, given={"q": 9}) <= 0.02)
    if kind == "dense":
        half, quarter = list(range(n // 2)), list(range(n // 4, n // 2))
        model.add(mx.E("s", given={"q": half}) == 0.51 * n)
        model.add(mx.E("s", values={s: s * s / n for s in range(n)}, given={"q": quarter}) <= 0.337 * n)
    return model


def measure(n: int, kind: str) -> dict[str, object]:
    """Build and solve one model."""
    model, begun = bucket_model(n, kind), time.process_time()
    post = model.solve()
    return {
        "n": n, "knowledge": kind, "terms": len(model.space), "seconds": time.process_time() - begun,
        "iterations": post.iterations, "certified_error": post.certificate.bound, "backward": post.certificate.backward,
        "peak_gib": peak_memory(),
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--one", action="store_true", help="measure one model in this process, and print JSON")
    options = parser.parse_args(arguments)
    if options.one:
        found = [measure(options.sizes[0], options.kinds[0])]
        print(json.dumps(found[0]))
        return pd.DataFrame(found)
    found = []
    for kind in options.kinds:
        for n in options.sizes:
            command = [sys.executable, "-m", "tests.benchmarks.large_buckets", "--one", "--sizes", str(n)]
            root = Path(__file__).parents[2]
            run = subprocess.run([*command, "--kinds", kind], check=True, capture_output=True, cwd=root)
            found.append(json.loads(run.stdout.splitlines()[-1]))
    table = pd.DataFrame(found)
    print(table.to_string(index=False, float_format=lambda x: f"{x:.2g}"))
    return table


if __name__ == "__main__":
    main()
