"""How many of CVXPY's own exponential-cone test problems DUAL_NEWTON takes: ``python -m tests.benchmarks.harvest``.

The tests of the installed CVXPY are run, and every problem that they solve and that compiles to exponential cones is
kept: its cone program, without duplicates. Each is then given to DUAL_NEWTON and to CLARABEL, and what becomes of it is
counted, apart for those with second-order, semidefinite or power cones:

    right       both solvers say the same: a status without an answer, or the same optimum, and the conditions of
                optimality hold for DUAL_NEWTON's answer
    refused     in words
    no answer   limits or numerical trouble, or inaccurate: it says so
    wrong       "optimal" or "infeasible" or "unbounded" although it is not
    open        CLARABEL has no answer to compare with

``--list`` prints a line for every problem that is not right. The tests take some minutes; their problems can be kept in
a file (``--file``).
"""

from __future__ import annotations

import argparse
import hashlib
import io
import multiprocessing
import pickle
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import CLARABEL

from maxent_cvx.solvers.cvxpy.solver import DualNewton

#: Files of CVXPY's tests that are not run: they take long, or need other software.
LEFT_OUT = ("nlp_tests", "ram_limited", "test_benchmarks", "test_openmp_conflict", "test_dqcp")
#: Relative difference of two optima that counts as none; CLARABEL's own tolerance is 1e-8.
SAME = 1e-5
#: Largest number of variables of a problem that is kept.
MOST = 20_000


class Harvest:
    """A plugin of pytest: problems that are solved while tests run."""

    def __init__(self) -> None:
        self.problems: dict[str, dict[str, Any]] = {}
        self.test, self.busy = "", False

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Keep the name of the test."""
        self.test = item.nodeid.split("tests/")[-1]

    def wrapped(self, solve: Callable[..., Any]) -> Callable[..., Any]:
        """``Problem.solve`` that keeps what it solves."""

        def keeping(problem: cp.Problem, *args: Any, **options: Any) -> Any:
            if not self.busy:
                self.busy = True
                with suppress(Exception), warnings.catch_warnings(), redirect_stdout(io.StringIO()):
                    warnings.simplefilter("ignore")
                    self.keep(problem, bool(options.get("gp", False)))
                self.busy = False
            return solve(problem, *args, **options)

        return keeping

    def keep(self, problem: cp.Problem, gp: bool) -> None:
        """Compile a problem, and keep it if it has exponential cones."""
        if problem.is_mixed_integer():
            return
        fresh = cp.Problem(problem.objective, problem.constraints)
        data, _, _ = fresh.get_problem_data(cp.CLARABEL, gp=gp)
        dims = data["dims"]
        if not dims.exp or len(data["c"]) > MOST:
            return
        quadratic = data.get("P")
        kept = {
            "A": sp.csc_array(data["A"]), "b": data["b"], "c": data["c"],
            "P": None if quadratic is None or not quadratic.nnz else sp.csc_array(quadratic),
            "dims": {"zero": dims.zero, "nonneg": dims.nonneg, "exp": dims.exp, "soc": list(dims.soc),
                     "psd": list(dims.psd), "p3d": list(dims.p3d), "pnd": [list(p) for p in dims.pnd]},
            "test": self.test,
        }  # fmt: skip
        parts = [kept["c"], kept["b"], kept["A"].toarray() if kept["A"].shape[1] < 500 else kept["A"].data]
        key = hashlib.sha256(b"".join(np.ascontiguousarray(p).tobytes() for p in parts) + repr(dims).encode())
        self.problems.setdefault(key.hexdigest(), {**kept, "cone_dims": dims})


def harvest(only: str = "") -> list[dict[str, Any]]:
    """Run CVXPY's tests, and return the problems that they solve."""
    folder = Path(cp.__file__).parent / "tests"
    files = sorted(str(path) for path in folder.glob("test_*.py") if path.stem not in LEFT_OUT and only in path.stem)
    plugin, solve = Harvest(), cp.Problem.solve
    cp.Problem.solve = plugin.wrapped(solve)
    try:
        with redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pytest.main(["-q", "-x", "--maxfail=100000", "-p", "no:cacheprovider", "-p", "no:doctest", "-c",
                         "/dev/null", "--rootdir", str(folder), *files], plugins=[plugin])  # fmt: skip
    finally:
        cp.Problem.solve = solve
    return list(plugin.problems.values())


class _Named:
    """What DUAL_NEWTON asks of CVXPY's program: the names of columns."""

    variables: tuple[()] = ()


def data_of(problem: dict[str, Any]) -> dict[str, Any]:
    """The data as CVXPY hands it to a solver."""
    data = {name: problem[name] for name in ("A", "b", "c")}
    if problem["P"] is not None:
        data["P"] = problem["P"]
    return {**data, "dims": problem["cone_dims"], "param_prob": _Named()}


def compared(problem: dict[str, Any]) -> dict[str, Any]:
    """Solve one problem with both solvers."""
    data, dims = data_of(problem), problem["dims"]
    line = {"test": problem["test"], "variables": len(problem["c"]), "exp": dims["exp"]}
    line["kind"] = "other cones" if dims["soc"] or dims["psd"] or dims["p3d"] or dims["pnd"] else "exponential"
    line["kind"] += ", quadratic" if problem["P"] is not None else ""
    begun = time.process_time()
    reference = CLARABEL().solve_via_data(data, False, False, {})
    line["clarabel_seconds"] = time.process_time() - begun
    line["clarabel"] = str(reference.status)
    if line["kind"].startswith("other cones"):
        return {**line, "word": "refused", "said": "other cones"}
    begun = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = DualNewton().solve_via_data(data, warm_start=False, verbose=False, solver_opts={})
    except cp.error.SolverError as error:
        return {**line, "word": "refused", "said": str(error)}
    line["seconds"], line["said"] = time.process_time() - begun, result["status"]
    return {**line, "word": word(problem, result, line["clarabel"], reference)}


def word(problem: dict[str, Any], result: dict[str, Any], status: str, reference: Any) -> str:
    """What an answer is called."""
    solved = status in ("Solved", "AlmostSolved")
    if result["status"] == cp.OPTIMAL:
        if not solved:
            return "open" if status not in ("PrimalInfeasible", "DualInfeasible") else "wrong"
        off = abs(result["value"] - reference.obj_val)
        size = 1 + abs(reference.obj_val)
        return "right" if off <= SAME * size and satisfies_kkt(problem, result) else "wrong"
    if result["status"] == cp.INFEASIBLE:
        return "right" if status == "PrimalInfeasible" else "wrong" if solved else "open"
    if result["status"] == cp.UNBOUNDED:
        return "right" if status == "DualInfeasible" else "wrong" if solved else "open"
    return "no answer"


def satisfies_kkt(problem: dict[str, Any], result: dict[str, Any]) -> bool:
    """Whether the conditions of optimality hold for an answer, by a measure of their own, not the solver's."""
    z, A, b, dims = result["primal"], problem["A"], problem["b"], problem["dims"]
    y = np.concatenate([result["eq_dual"], result["ineq_dual"]])
    finite = np.isfinite(b)
    slack, n, m = np.where(finite, b, 0) - A @ z, dims["zero"], dims["zero"] + dims["nonneg"]
    size = 1 + np.abs(slack).max(initial=0)
    holds = np.abs(slack[:n]).max(initial=0) <= 1e-6 * size and slack[n:m][finite[n:m]].min(initial=0) >= -1e-6 * size
    t, u, w = slack[m::3], slack[m + 1 :: 3], slack[m + 2 :: 3]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        top = np.where(u > 0, u * np.log(np.maximum(w, 0) / np.where(u > 0, u, 1)), np.where(t <= 0, np.inf, 0))
        holds &= bool((t <= top + 1e-6 * size).all() and u.min(initial=0) >= -1e-6 * size)
    curved = 0 if problem["P"] is None else problem["P"] @ z
    stationary = np.abs(problem["c"] + curved + A.T @ y).max(initial=0)
    scale = 1 + np.abs(y).max(initial=0)
    gap = abs(float(slack @ y)) / (1 + abs(float(problem["c"] @ z)) + float(np.abs(slack) @ np.abs(y)) * 1e-3)
    return bool(holds and stationary <= 1e-6 * scale and gap <= 1e-5 and y[n:m].min(initial=0) >= -1e-8 * scale)


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, help="where the problems are kept; made if it does not exist")
    parser.add_argument("--only", default="", help="part of the names of the files of tests that are run")
    parser.add_argument("--list", action="store_true", help="print every problem that is not right")
    options = parser.parse_args(arguments)
    if options.file is not None and options.file.exists():
        problems = pickle.loads(options.file.read_bytes())
    else:
        with multiprocessing.get_context("spawn").Pool(1) as pool:  # a process of its own for CVXPY's tests
            problems = pool.apply(harvest, (options.only,))
        if options.file is not None:
            options.file.write_bytes(pickle.dumps(problems))
    table = pd.DataFrame([compared(problem) for problem in problems])
    if options.list:
        rest = table[table["word"] != "right"]
        print(rest[["test", "kind", "word", "clarabel", "said"]].to_string(index=False, max_colwidth=110))
    print(table.pivot_table(index="kind", columns="word", values="test", aggfunc="count", fill_value=0, margins=True))
    taken = table[table["word"] == "right"]
    print(f"of {len(table)} problems {len(taken)} right")
    if len(taken):
        ratio = taken["seconds"] / taken["clarabel_seconds"]
        print(f"seconds / CLARABEL's: median {ratio.median():.1f}")
    return table


if __name__ == "__main__":
    main()
