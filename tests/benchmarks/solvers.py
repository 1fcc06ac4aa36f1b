"""Build and solve Adult with every solver, in one run:  python -m tests.benchmarks.solvers --records 14210 --rows 200.

The table is that of :func:`maxent_cvx.compare_solvers`, with two more columns: the ratio of the seconds (presolve and
certificate included) to the default solver's, and the seconds in evaluations of the dual function and its gradient
(plain sparse products), which survive a change of machine.
"""

from __future__ import annotations

import argparse

import pandas as pd

import maxent_cvx as mx

from .models import adult_model, evaluation_seconds

#: Solvers; a second word tells two ways of calling one apart.
SOLVERS = "DUAL_NEWTON,DUAL_LBFGS,CLARABEL,CLARABEL qdldl,ECOS,SCS"
OPTIONS = {"CLARABEL qdldl": {"direct_solve_method": "qdldl"}, "SCS": {"time_limit_secs": 120}}


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=14_210)
    parser.add_argument("--rows", type=int, default=200, help="rows of knowledge")
    parser.add_argument("--solvers", default=SOLVERS)
    parser.add_argument("--no-presolve", action="store_true", help="conic solvers get the problem as posed")
    parser.add_argument("--times", type=int, default=1, help="runs of each dual solver, of which the fastest counts")
    options = parser.parse_args(arguments)

    model = adult_model(options.records, options.rows)
    form, evaluation = model.form, evaluation_seconds(model)
    print(f"{form.shape[1]} terms, {form.shape[0]} rows, {form.matrix.nnz} coefficients")
    print(f"one evaluation {1e3 * evaluation:.2f} ms")
    rows = []
    for solver in options.solvers.split(","):
        is_dual = solver.startswith("DUAL")
        chosen = {name: of_solver for name, of_solver in OPTIONS.items() if name == solver}
        runs = pd.concat(
            mx.compare_solvers(model, [solver], chosen, presolve=is_dual or not options.no_presolve, progress=False)
            for _ in range(options.times if is_dual else 1)
        )
        rows.append(runs.nsmallest(1, "seconds"))
    table = pd.concat(rows)
    table["times_default"] = table["seconds"] / table["seconds"].iloc[0]
    table["evaluations"] = table["seconds"] / evaluation
    print(table.to_string(float_format=lambda x: f"{x:.3g}"))
    return table


if __name__ == "__main__":
    main()
