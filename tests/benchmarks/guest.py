"""DUAL_NEWTON as CVXPY's guest against plain methods of its users' fields: ``python -m tests.benchmarks.guest``.

Each line is one problem, stated in CVXPY, and the processor seconds of four things in one run: CVXPY's own compilation,
DUAL_NEWTON on what that gives, CLARABEL on its own (where the size allows), and a method of the field, written down in
NumPy and SciPy:

    transport     Sinkhorn in the logarithmic domain, until margins hold to 1e-9, for at most --sweeps sweeps
    capacities    none: transport with an upper bound on every entry
    moments       SciPy's trust-exact Newton method on the dual, dense

`memory` is what the process took at most beyond CVXPY's compilation, MiB; each problem is solved in a process of its
own. `ratio` is the seconds of DUAL_NEWTON divided by those of the field's method, `clarabel` CLARABEL's divided by
DUAL_NEWTON's.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import scipy.optimize
from scipy.special import logsumexp

from maxent_cvx.solvers.cvxpy.solver import DualNewton

#: Largest transport problem that CLARABEL is asked for.
CLARABEL_UP_TO = 100


def seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of a call, and what it returns."""
    begun = time.process_time()
    found = function()
    return time.process_time() - begun, found


def costs(n: int) -> np.ndarray:
    """Squared distances between random points of the unit square, of which the largest is 1."""
    rng = np.random.default_rng(0)
    first, last = rng.random((n, 2)), rng.random((n, 2))
    cost = ((first[:, None] - last[None]) ** 2).sum(axis=-1)
    return cost / cost.max()


def transport(n: int, temperature: float, capacity: float | None) -> cp.Problem:
    """Entropic transport between uniform margins, entries at most `capacity` times their mean."""
    x = cp.Variable((n, n))
    rows = [cp.sum(x, axis=1) == 1 / n, cp.sum(x, axis=0) == 1 / n]
    rows += [] if capacity is None else [x <= capacity / n**2]
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(costs(n), x)) - temperature * cp.sum(cp.entr(x))), rows)


def sinkhorn(n: int, temperature: float, sweeps: int) -> str:
    """Sinkhorn's method in the logarithmic domain; whether it ended before its limit."""
    scaled, margin = -costs(n) / temperature, -np.log(n)
    f = g = np.zeros(n)
    for sweep in range(1, sweeps + 1):
        f = margin - logsumexp(scaled + g, axis=1)
        last = logsumexp(scaled + f[:, None], axis=0)
        if sweep % 10 == 0 and np.abs(np.exp(last + g) - 1 / n).sum() <= 1e-9:
            return f"{sweep} sweeps"
        g = margin - last
    return f"not after {sweeps} sweeps"


def moments(n: int, k: int) -> tuple[cp.Problem, np.ndarray, np.ndarray]:
    """The distribution of most entropy over n outcomes with k given moments."""
    rng = np.random.default_rng(0)
    features, truth = rng.normal(size=(k, n)), rng.random(n) ** 4
    truth /= truth.sum()
    p = cp.Variable(n)
    rows = [cp.sum(p) == 1, features @ p == features @ truth]
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), rows), features, features @ truth


def plain_newton(features: np.ndarray, target: np.ndarray) -> str:
    """Minimise log sum exp(m' features) - m' target by trust-exact."""

    def weights(m: np.ndarray) -> np.ndarray:
        exponent = m @ features
        p = np.exp(exponent - exponent.max())
        return p / p.sum()

    def hessian(m: np.ndarray) -> np.ndarray:
        p = weights(m)
        mean = features @ p
        return (features * p) @ features.T - np.outer(mean, mean)

    found = scipy.optimize.minimize(
        lambda m: logsumexp(m @ features) - m @ target,
        np.zeros(len(target)),
        jac=lambda m: features @ weights(m) - target,
        hess=hessian,
        method="trust-exact",
        options={"gtol": 1e-10},
    )
    return f"{found.nit} iterations"


def measure(kind: str, n: int, k: int, temperature: float, capacity: float | None, sweeps: int) -> dict[str, Any]:
    """One line of the table."""
    if kind == "moments":
        problem, features, target = moments(n, k)
        field = lambda: plain_newton(features, target)  # noqa: E731
    else:
        problem = transport(n, temperature, capacity)
        field = (lambda: sinkhorn(n, temperature, sweeps)) if capacity is None else None
    solver = DualNewton()
    compiling, (data, _, _) = seconds(lambda: problem.get_problem_data(solver))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    own, answer = seconds(lambda: solver.solve_via_data(data, warm_start=False, verbose=False, solver_opts={}))
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    line = {
        "problem": kind, "n": n, "k or temperature": k if kind == "moments" else temperature, "compiling": compiling,
        "seconds": own, "status": answer["status"], "iterations": answer["num_iters"], "memory": memory,
        "gap": answer["solver_specific_stats"].gap,
    }  # fmt: skip
    if field is not None:
        line["field"], line["field's"] = seconds(field)
        line["ratio"] = own / line["field"]
    if kind != "moments" and n <= CLARABEL_UP_TO:
        data, _, _ = problem.get_problem_data(cp.CLARABEL)
        chain = problem._cache.solving_chain
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            line["clarabel"] = seconds(lambda: chain.solve_via_data(problem, data))[0] / own
    return line


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[100, 1000], help="rows and columns of transport problems")
    parser.add_argument("--temperatures", type=float, nargs="+", default=[0.01, 0.001, 0.0002])
    parser.add_argument("--capacities", type=float, nargs="*", default=[3.3], help="largest entry, in mean entries")
    parser.add_argument("--outcomes", type=int, nargs="+", default=[100_000])
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--sweeps", type=int, default=2_000)
    parser.add_argument("--together", action="store_true", help="in one process: `memory` is then of all so far")
    options = parser.parse_args(arguments)
    tasks: list[tuple[Any, ...]] = []
    for n in options.n:
        for temperature in options.temperatures:
            tasks += [("transport", n, 0, temperature, None, options.sweeps)]
            limits = options.capacities if n <= CLARABEL_UP_TO else []
            tasks += [("capacities", n, 0, temperature, capacity, options.sweeps) for capacity in limits]
    tasks += [("moments", n, options.moments, 0.0, None, 0) for n in options.outcomes]
    lines = []
    for task in tasks:  # one process after another, so that each has its own peak of memory
        if options.together:
            lines.append(measure(*task))
            continue
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            lines.append(pool.apply(measure, task))
    table = pd.DataFrame(lines)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    return table


if __name__ == "__main__":
    main()
