"""Scores over growing knowledge of Adult, warm, cold and in parallel: ``python -m tests.benchmarks.quantification``.

Cold and warm are processor seconds of a bound behind no knowledge, and behind the bounds of its curve. ``--jobs 2``
then scores all curves at once in so many processes, and in one, by the clock.
"""

from __future__ import annotations

import argparse
import time

import pandas as pd

import maxent_cvx as mx

#: How a number becomes a bound, by the name of the curve.
CURVES = {"K+": lambda k: (k, 0), "K-": lambda k: (0, k), "both": lambda k: (k - k // 2, k // 2)}


def scored(release: mx.Release, table: pd.DataFrame, bounds: list[tuple[int, int]], **how: object) -> pd.DataFrame:
    """Score bounds behind no knowledge: the iterations, and the processor seconds from one answer to the next."""
    measures = {"iterations": lambda post: post.iterations, "until": lambda post: time.process_time()}
    found = mx.quantify(release, table, [(0, 0), *bounds], measure=measures, **how)
    return found.assign(taken=found["until"].diff()).iloc[1:]


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Measure curves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=14_210)
    parser.add_argument("--known", type=int, nargs="+", default=[50, 100, 200, 300, 400])
    parser.add_argument("--attributes", type=int, default=1, help="of an association; 0 is any number")
    parser.add_argument("--curves", nargs="+", default=list(CURVES), choices=list(CURVES))
    parser.add_argument("--jobs", type=int, default=0, help="processes to compare with one")
    options = parser.parse_args(arguments)
    table = mx.datasets.load_adult().head(options.records)
    roles = {"qi": mx.datasets.ADULT_QI, "sa": "education"}
    table = table.assign(Bucket=mx.anonymize.anatomy_buckets(table, **roles, l=5, exempt=2))
    release = mx.Release.from_buckets(table, **roles, bucket="Bucket")
    how = {"attributes": options.attributes or None, "progress": False}
    rows = []
    for name in options.curves:
        bounds = [CURVES[name](k) for k in options.known]
        warm = scored(release, table, bounds, **how)
        for bound, (_, found) in zip(bounds, warm.iterrows(), strict=True):
            cold = scored(release, table, [bound], **how).iloc[0]
            difference = abs(found["entropy"] - cold["entropy"])
            rows.append(
                (name, *bound, cold["taken"], found["taken"], cold["iterations"], found["iterations"], difference)
            )
    columns = ["curve", "K+", "K-", "cold", "warm", "cold_iterations", "warm_iterations", "difference"]
    result = pd.DataFrame(rows, columns=columns)
    print("processor seconds; difference: of the entropies, nats")
    print(result.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    print(result.groupby("curve", sort=False)[["cold", "warm"]].sum().to_string(float_format=lambda x: f"{x:.3g}"))
    if options.jobs:
        every = [CURVES[name](k) for name in options.curves for k in options.known]
        for n_jobs in (1, options.jobs):
            begun = time.perf_counter()
            scored(release, table, every, n_jobs=n_jobs, **how)
            print(f"n_jobs={n_jobs}: {time.perf_counter() - begun:.3g} seconds for all curves")
    return result


if __name__ == "__main__":
    main()
