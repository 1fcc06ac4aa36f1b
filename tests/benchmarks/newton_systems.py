"""Measure the cost model of Newton systems:  python -m tests.benchmarks.newton_systems --records 14210 --rows 200 800.

The Schur complement S of k rows of knowledge is formed when products with it have cost a share of that. What they cost
is a model with constants (``solvers/schur.py``), in multiplications of a dense
product:

    forming S     slots k (k + forming_overhead) + k^3           slots: rows of all blocks, padding included
                  or, where that is less, by sparse products (``forming_cost``): then no overhead is measured
    a product     per_term terms + per_entry entries + per_pair k^2

Prints, for each number of rows, what each constant would be in this run. The unit is the time of one multiplication in
A' A of a dense 1000 x 1000 matrix, which counts as 10^9 of them, so that the constants are ratios within one run. The
seconds of a product are divided by the parts of the computation: the sparse products with the distinct columns of
knowledge (entries), a product with the preconditioner (pairs), and the rest (terms).
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from maxent_cvx.solvers import schur as costs
from maxent_cvx.solvers.blocks import regularized_cholesky
from maxent_cvx.solvers.form import LinearForm
from maxent_cvx.solvers.schur import BlockSystem, forming_cost

from .models import adult_model
from .solvers import timed

#: Rows and columns of the dense matrix that the unit is measured with.
DENSE = 1_000
#: The ridge of the systems, as in the first steps of Newton's method.
RIDGE = 1e-13
CONSTANTS = ("per_term", "per_entry", "per_pair", "forming_overhead")


def multiplication_seconds(times: int) -> float:
    """Seconds of one multiplication in a dense product A' A."""
    matrix = np.random.default_rng(0).normal(size=(DENSE, DENSE))
    return timed(lambda: matrix.T @ matrix, times)[0] / DENSE**3


def measure(form: LinearForm, times: int) -> dict[str, float]:
    """Form, factor and multiply with S of one problem, all rows of knowledge active, at random counts."""
    rng, system = np.random.default_rng(0), BlockSystem(form)
    k, slots, known = system.n_known, system.bucket_blocks.n_slots, system.known
    active, x, v = np.arange(k), rng.uniform(0.1, 1, form.shape[1]), rng.normal(size=k)
    factor = system.at(x, RIDGE)
    unit = multiplication_seconds(times)
    forming, schur = timed(lambda: factor.form_schur(active), times)
    factoring, solve = timed(lambda: regularized_cholesky(schur, RIDGE * schur.diagonal()), times)
    preconditioning = timed(lambda: solve(v), 20 * times)[0]
    product = timed(lambda: factor.schur_product(v, active), 5 * times)[0]
    collected = known.collect(x)
    entries = timed(lambda: (known.transposed @ v, known.distinct @ collected), 20 * times)[0]
    terms, nnz = form.shape[1], known.distinct.nnz
    model_forming = forming_cost(system.bucket_blocks, known.distinct, system.bucket_blocks.rows)
    is_dense = model_forming == slots * k * (k + costs.FORMING_OVERHEAD)
    model_product = costs.PER_TERM * terms + costs.PER_ENTRY * nnz + costs.PER_PAIR * k**2
    return {
        "k": k, "terms": terms, "entries": nnz, "slots": slots,
        "forming_seconds": forming + factoring, "product_seconds": product + preconditioning,
        "per_term": (product - entries) / (unit * terms),
        "per_entry": entries / (unit * nnz),
        "per_pair": preconditioning / (unit * k**2),
        "forming_overhead": forming / (unit * slots * k) - k if is_dense else np.nan,
        "factoring_k3": factoring / (unit * k**3),
        "ratio": (forming + factoring) / (product + preconditioning),
        "model_ratio": (model_forming + k**3) / model_product,
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=14_210)
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 400, 800], help="rows of knowledge")
    parser.add_argument("--times", type=int, default=5, help="runs of each part, of which the fastest counts")
    options = parser.parse_args(arguments)
    form = adult_model(options.records, max(options.rows)).form
    selected = [form.select(np.arange(form.n_published + rows)) for rows in options.rows]
    table = pd.DataFrame([measure(some, options.times) for some in selected])
    print(table.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    print("constants: " + ", ".join(f"{name} {getattr(costs, name.upper()):g}" for name in CONSTANTS))
    print("ratio: seconds of forming and factoring S to those of one product; model_ratio: the same by the cost model")
    return table


if __name__ == "__main__":
    main()
