"""The default solver beside conic solvers, from 27 to 60,000 terms:  python -m tests.benchmarks.sizes --times 5.

Each run solves a model that keeps nothing of another run, certificate included, and directly afterwards CVXPY solves
the same rows by each conic solver. The ratios are medians of these pairs, once with BLAS on one thread and once with
its defaults: below 1 the default solver is faster. To measure beside another process, start two of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import maxent_cvx as mx

from .models import adult_model, fresh

#: Records of Adult and rows of knowledge; (0, 1) is the hospital.
SIZES = ((0, 1), (40, 20), (130, 20), (200, 50), (250, 20), (1_000, 100), (3_000, 200), (14_210, 200))


def model_of(records: int, rows: int) -> mx.MaxEnt:
    """The hospital with one statement, or Adult with generic knowledge."""
    if records:
        return adult_model(records, rows)
    release = mx.Release.from_buckets(
        mx.datasets.load_hospital(), qi=["Gender", "Degree"], sa="Disease", bucket="Bucket"
    )
    return mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3)


def seconds_of(solve: Callable[[], Any]) -> float:
    """Wall seconds of one solve; NaN if CVXPY has no answer."""
    begun = time.perf_counter()
    try:
        solve()
    except cp.error.SolverError:
        return np.nan
    return time.perf_counter() - begun


def solve_by_cvxpy(model: mx.MaxEnt, solver: str) -> None:
    """Build the same problem with CVXPY, and solve it."""
    form = model.form
    x = cp.Variable(form.shape[1])
    cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [form.matrix @ x == form.low]).solve(solver=solver)


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5, help="pairs of solves of each model")
    parser.add_argument("--largest", type=int, default=100_000, help="leave larger models out, terms")
    parser.add_argument("--conic", type=int, default=20_000, help="no conic solver on larger models, terms")
    options = parser.parse_args(arguments)
    solvers = [name for name in ("CLARABEL", "ECOS") if name in cp.installed_solvers()]

    rows: list[dict[str, Any]] = []
    for model in (model_of(*size) for size in SIZES):
        n_rows, terms = model.form.shape
        for threads in (1, None) if terms <= options.largest else ():
            runs = []
            with threadpool_limits(threads, user_api="blas"):
                for _ in range(options.times + 1):
                    ours = seconds_of(fresh(model).solve)
                    run = {"ms": 1e3 * ours}
                    for name in solvers if terms <= options.conic else ():
                        run[name] = ours / seconds_of(lambda model=model, name=name: solve_by_cvxpy(model, name))
                    runs.append(run)
            median = pd.DataFrame(runs[1:]).median()  # the first loads what later runs find loaded
            rows.append({"terms": terms, "rows": n_rows, "threads": threads or "all", **median})
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format="{:.3g}".format))
    return table


if __name__ == "__main__":
    main()
