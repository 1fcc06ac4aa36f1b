"""Build and solve Adult with every solver, in one run:  python -m tests.benchmarks.solvers --records 14210 --rows 200.

Prints seconds, ratios to the default solver, and what each answer is certified to. Building is timed apart:
rows and cp.Problem, to be compared with ECOS, which solves the same problem.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import pandas as pd

import maxent_cvx as mx

from .generic_knowledge import generic_statements


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Run something once; wall seconds and what it returned, or the error it raised."""
    begun = time.perf_counter()
    try:
        result = work()
    except mx.SolverError as error:
        result = error
    return time.perf_counter() - begun, result


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=14_210)
    parser.add_argument("--rows", type=int, default=200, help="generic knowledge rows")
    parser.add_argument("--eps", type=float, default=0.0, help="vagueness of each; 0 is exact")
    parser.add_argument("--solvers", default="DUAL_NEWTON,CLARABEL,ECOS,SCS")
    parser.add_argument("--no-presolve", action="store_true", help="the other solvers get the problem as posed")
    options = parser.parse_args(arguments)

    import cvxpy  # noqa: F401  loading it is not building

    adult = mx.datasets.load_adult().head(options.records)
    release = mx.disguise.anatomy(adult, qi=mx.datasets.ADULT_QI, sa="education", l=5, exempt=2)
    statements = generic_statements(adult, options.rows, options.eps)
    building, model = timed(lambda: mx.MaxEnt(release).add(*statements))
    compiling, _ = timed(lambda: model.problem)
    print(f"{len(model.space)} terms, {model.form.shape[0]} rows")
    print(f"build: rows {building:.2f} s, cp.Problem {compiling:.2f} s")

    found = []
    for name in options.solvers.split(","):
        if not mx.solvers.SOLVERS[name].installed:
            continue
        presolve = not options.no_presolve or name == "DUAL_NEWTON"
        seconds, post = timed(lambda: model.solve(name, presolve=presolve, allow_inaccurate=True))  # noqa: B023
        if isinstance(post, mx.Posterior):
            certificate = post.certificate
            found.append((name, post.status, post.iterations, seconds, certificate.residual, certificate.bound))
        else:
            found.append((name, "failed", 0, seconds, float("nan"), float("nan")))
    table = pd.DataFrame(found, columns=["solver", "status", "iterations", "seconds", "residual", "certified_error"])
    table["times_default"] = table["seconds"] / table["seconds"].iloc[0]
    print(table.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    return table


if __name__ == "__main__":
    main()
