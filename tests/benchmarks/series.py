"""Release series of Adult, as in Re-publishing, Fig. 5: ``python -m tests.benchmarks.series``."""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import pandas as pd

import maxent_cvx as mx


def adult_series(people: int, shared: int, releases: int, l: int) -> mx.ReleaseSeries:
    """Publish so many of Adult's people again and again, independently; occupation is sensitive.

    Of more than Adult has, records are repeated, as those of other people.
    """
    adult = mx.datasets.load_adult(complete=True)[["occupation"]]
    rng = np.random.default_rng(0)
    n = people + (releases - 1) * (people - shared)
    everybody = adult.iloc[rng.permutation(max(n, len(adult)))[:n] % len(adult)].reset_index(drop=True)
    everybody["id"] = np.arange(n)
    here, found = np.arange(people), []
    for u in range(releases):
        if u:
            newcomers = people + (u - 1) * (people - shared) + np.arange(people - shared)
            here = np.concatenate([rng.choice(here, shared, replace=False), newcomers])
        table = everybody.iloc[here]
        bucket = mx.anonymize.anatomy_buckets(table, qi="id", sa="occupation", l=l, seed=u)
        found.append(
            mx.Release.from_buckets(table.assign(Bucket=bucket), qi=[], sa="occupation", bucket="Bucket", id="id")
        )
    return mx.ReleaseSeries(found)


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Measure series of growing size with every solver asked for; the first is what the others are compared with."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, nargs="+", default=[1_200, 2_400, 3_600, 4_800, 6_000, 7_200])
    parser.add_argument("--shared", type=float, default=5 / 6, help="share of each release that is in the next")
    parser.add_argument("--releases", type=int, default=2)
    parser.add_argument("--l", type=int, default=5)
    parser.add_argument("--solvers", nargs="+", default=["DUAL_NEWTON", "CLARABEL"])
    options = parser.parse_args(arguments)
    rows = []
    for people in options.people:
        series = adult_series(people, round(options.shared * people), options.releases, options.l)
        begun = time.perf_counter()
        model = mx.MaxEnt(series)
        terms, constraints = model.form.shape[1], model.form.shape[0]
        to_make = time.perf_counter() - begun
        first = np.nan
        for solver in options.solvers:
            begun = time.perf_counter()
            try:  # conic solvers get the problem as CVXPY users pose it
                post = model.solve(solver, presolve=solver.startswith("DUAL"), allow_inaccurate=True)
                bound, said = post.certificate.bound, str(post.status)
            except mx.SolverError as error:
                bound, said = np.nan, type(error).__name__
            taken = time.perf_counter() - begun
            first = taken if np.isnan(first) else first
            gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            rows.append((people, terms, constraints, solver, to_make, taken, taken / first, said, bound, gib))
    columns = ["people", "terms", "constraints", "solver", "make", "solve", "ratio", "status", "certified_error", "GiB"]
    table = pd.DataFrame(rows, columns=columns)
    print("seconds; ratio: by the first solver; GiB: the most so far")
    print(table.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    return table


if __name__ == "__main__":
    main()
