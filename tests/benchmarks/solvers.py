"""Build and solve Adult with every solver, in one run:  python -m tests.benchmarks.solvers --records 14210 --rows 200.

Prints seconds of the whole solve (presolve and certificate too), their ratio to the default solver's, what
they are in evaluations of the dual function and its gradient (plain sparse products, which survives a
change of machine), and what each answer is certified to. Building is timed apart.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import maxent_cvx as mx

from .models import adult_model

#: Solvers and their options; a second word tells two ways of calling one apart.
OPTIONS: dict[str, dict[str, Any]] = {
    "CLARABEL qdldl": {"direct_solve_method": "qdldl"},
    "SCS": {"time_limit_secs": 120},
}
SOLVERS = "DUAL_NEWTON,DUAL_LBFGS,CLARABEL,CLARABEL qdldl,ECOS,SCS"


def timed(work: Callable[[], Any], times: int = 1) -> tuple[float, Any]:
    """Run something; the least wall seconds, and what it returned or the error it raised."""
    least, result = np.inf, None
    for _ in range(times):
        begun = time.perf_counter()
        try:
            result = work()
        except mx.SolverError as error:
            result = error
        least = min(least, time.perf_counter() - begun)
    return least, result


def evaluation_seconds(model: mx.MaxEnt) -> float:
    """Time x = exp(A' m - 1) and A x, once, with SciPy's products."""
    matrix = model.form.matrix
    transposed, m = matrix.T.tocsr(), np.zeros(matrix.shape[0])
    return timed(lambda: matrix @ np.exp(transposed @ m - 1), times=20)[0]


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=14_210)
    parser.add_argument("--rows", type=int, default=200, help="rows of knowledge")
    parser.add_argument("--eps", type=float, default=0.0, help="vagueness of each; 0 is exact")
    parser.add_argument("--strongest", action="store_true", help="the strongest associations instead of generic rows")
    parser.add_argument("--solvers", default=SOLVERS)
    parser.add_argument("--no-presolve", action="store_true", help="conic solvers get the problem as posed")
    parser.add_argument("--times", type=int, default=1, help="runs of each dual solver, of which the fastest counts")
    options = parser.parse_args(arguments)

    import cvxpy  # noqa: F401  loading it is not building

    building, model = timed(
        lambda: adult_model(options.records, options.rows, eps=options.eps, strongest=options.strongest)
    )
    stacking, form = timed(lambda: model.form)
    evaluation = evaluation_seconds(model)
    print(f"{form.shape[1]} terms, {form.shape[0]} rows, {form.matrix.nnz} coefficients")
    print(
        f"publishing and knowing {building:.2f} s, stacking {stacking:.3f} s; one evaluation {1e3 * evaluation:.2f} ms"
    )

    found = []
    for label in options.solvers.split(","):
        name = label.split()[0]
        if not mx.solvers.SOLVERS[name].installed:
            continue
        is_dual = name.startswith("DUAL")
        presolve = is_dual or not options.no_presolve

        def work(name: str = name, label: str = label, presolve: bool = presolve) -> mx.Posterior:
            return model.solve(name, presolve=presolve, allow_inaccurate=True, **OPTIONS.get(label, {}))

        seconds, post = timed(work, options.times if is_dual else 1)
        row: dict[str, Any] = {"solver": label, "presolve": presolve, "status": "failed", "seconds": seconds}
        if isinstance(post, mx.Posterior):
            certificate = post.certificate
            row |= {"status": str(post.status), "iterations": post.iterations, "residual": certificate.residual,
                    "gap": certificate.gap, "certified_error": certificate.bound}  # fmt: skip
        found.append(row)
        print("  ".join(f"{key} {value:.3g}" if isinstance(value, float) else str(value) for key, value in row.items()))
    table = pd.DataFrame(found)
    table["times_default"] = table["seconds"] / table["seconds"].iloc[0]
    table["evaluations"] = table["seconds"] / evaluation
    print(table.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    return table


if __name__ == "__main__":
    main()
