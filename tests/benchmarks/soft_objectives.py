"""Entropy with soft terms in CVXPY, by DUAL_NEWTON and by CLARABEL: ``python -m tests.benchmarks.soft_objectives``.

Each line is one problem, an entropy of n probabilities less a cost of what k rows miss, and the processor seconds of
both solvers on what CVXPY compiled, the least of five runs, with their iterations and optima. `ratio` is the seconds of
DUAL_NEWTON divided by those of CLARABEL.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd

from maxent_cvx.solvers.cvxpy.solver import DualNewton


def problems(n: int, k: int) -> dict[str, cp.Problem]:
    """An entropy and a soft term of each kind."""
    rng = np.random.default_rng(0)
    x, s, B, c = cp.Variable(n), cp.Variable(), rng.normal(size=(k, n)), rng.normal(size=n)
    at = rng.random(n)
    missed = B @ x - (B @ at / at.sum() + 0.1 * rng.normal(size=k))
    costs = {
        "norm1": 2 * cp.norm1(missed), "hinge": 3 * cp.sum(cp.pos(missed)), "max": 2 * cp.max(missed),
        "sum_squares": 5 * cp.sum_squares(missed), "huber": 5 * cp.sum(cp.huber(missed, 0.05)),
        "conditional value at risk": s + 2 * cp.sum(cp.pos(c - s)) / n,
    }  # fmt: skip
    return {name: cp.Problem(cp.Maximize(cp.sum(cp.entr(x)) - cost), [cp.sum(x) == 1]) for name, cost in costs.items()}


def least_seconds(function: Callable[[], Any], runs: int = 5) -> tuple[float, Any]:
    """Processor seconds of the quickest of some calls, and what it returns."""
    times = []
    for _ in range(runs):
        begun = time.process_time()
        found = function()
        times.append(time.process_time() - begun)
    return min(times), found


def measure(name: str, problem: cp.Problem) -> dict[str, Any]:
    """One line of the table."""
    data, _, _ = problem.get_problem_data(DualNewton())
    own, answer = least_seconds(lambda: DualNewton().solve_via_data(data, False, False, {}))
    data_of_clarabel, chain, _ = problem.get_problem_data(cp.CLARABEL)
    theirs, reference = least_seconds(lambda: chain.solver.solve_via_data(data_of_clarabel, False, False, {}))
    return {
        "problem": name, "status": answer["status"], "iterations": answer["num_iters"], "seconds": own,
        "clarabel's": theirs, "its iterations": reference.iterations, "ratio": own / theirs,
        "difference": answer["value"] - reference.obj_val,
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[6, 50, 1000], help="probabilities")
    parser.add_argument("--k", type=int, nargs="+", default=[3, 5, 20], help="rows of the soft term, for each n")
    options = parser.parse_args(arguments)
    lines = [
        {"n": n, "k": k, **measure(name, problem)}
        for n, k in zip(options.n, options.k, strict=True)
        for name, problem in problems(n, k).items()
    ]
    table = pd.DataFrame(lines)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    return table


if __name__ == "__main__":
    main()
