"""What all comparisons share: a process for every method, its seconds and memory, how far answers are apart, a table.

The columns:

    seconds     processor time of the shorter of two runs (of one, if that took long); of CVXPY's solvers without
                compilation
    MiB         what the process took at most, beyond what it held before (for CVXPY's solvers: beyond compilation)
    compiling   the same two of CVXPY's compilation
    violated    by how much the answer violates a constraint, at most; minus the smallest entry, if that is negative
    apart       the largest difference from DUAL_NEWTON's answer, divided by its largest entry
    ours        DUAL_NEWTON's seconds divided by those of the method: above 1 we lose

Each method runs in a process of its own, after a small problem that pays for imports.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd

from maxent_cvx.solvers.cvxpy.solver import DualNewton

__all__ = ["CLARABEL", "OURS", "Comparison", "Peer", "compare", "parser", "show"]

#: What the solver under test is called in tables.
OURS = "DUAL_NEWTON"
#: Bytes of the unit of ``ru_maxrss``.
UNIT = 1 if sys.platform == "darwin" else 1024
#: Seconds after which a method is not run again.
LONG = 5.0
#: How numbers of a column are printed.
FORMATS = {"seconds": "{:.3g}", "MiB": "{:.0f}", "ours": "{:.2g}", "violated": "{:.0e}", "apart": "{:.0e}"}
FORMATS |= {"compiling": FORMATS["seconds"], "compiling, MiB": FORMATS["MiB"], "entropy": "{:.8f}"}
#: The columns of a table.
COLUMNS = ("problem", "size", "method", "compiling", "compiling, MiB", "seconds", "MiB", "violated", "apart", "ours",
           "said")  # fmt: skip


@dataclass(frozen=True)
class Peer:
    """A method of the field: what it is called, the module it needs, how that is installed, and the method itself.

    `solve` takes the arguments of the problem and returns values of its first variable.
    """

    name: str
    solve: Callable[..., np.ndarray]
    module: str = "numpy"
    install: str = "numpy"

    @property
    def missing(self) -> str:
        """Why the method is not there, in words, or nothing."""
        is_installed = importlib.util.find_spec(self.module) is not None
        return "" if is_installed else f"{self.module} is not installed: pip install {self.install}"


@dataclass(frozen=True)
class Comparison:
    """One problem: `posed` states it in CVXPY from `arguments`, from which every peer solves it, too."""

    name: str
    size: str
    posed: Callable[..., cp.Problem]
    arguments: tuple[Any, ...]
    peers: tuple[Peer | str, ...]


#: CVXPY's default for problems with exponential cones.
CLARABEL = "CLARABEL"


def peak() -> float:
    """The most memory that the process has had, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT / 2**20


def timed(function: Callable[[], Any], again: bool = True) -> tuple[float, float, Any]:
    """Processor seconds (of the shorter of two calls), MiB beyond what the process had, and what a function returns."""
    before, begun = peak(), time.process_time()
    result = function()
    seconds, memory = time.process_time() - begun, peak() - before
    if again and seconds < LONG:
        seconds = min(seconds, timed(function, again=False)[0])
    return seconds, memory, result


def by_solver(name: str, posed: Callable[..., cp.Problem], arguments: tuple[Any, ...]) -> dict[str, Any]:
    """Compile a problem, solve it by one of CVXPY's solvers, and return the answer with what either took."""
    solver = DualNewton() if name == OURS else name
    x = cp.Variable(3)
    cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1]).solve(solver=solver)  # pays for imports
    problem = posed(*arguments)
    compiling, held, (data, chain, inverse) = timed(
        lambda: problem.get_problem_data(solver, solver_opts={}), again=False
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            seconds, memory, raw = timed(lambda: chain.solve_via_data(problem, data))
        except cp.error.SolverError as error:
            return {"said": str(error)}
        problem.unpack_results(raw, chain, inverse)
    return {
        "compiling": compiling, "compiling, MiB": held, "seconds": seconds, "MiB": memory,
        "answer": problem.variables()[0].value, "said": problem.status,
    }  # fmt: skip


def by_peer(peer: Peer, arguments: tuple[Any, ...]) -> dict[str, Any]:
    """Solve a problem by a method of the field, and return the answer with what it took."""
    importlib.import_module(peer.module)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        seconds, memory, answer = timed(lambda: peer.solve(*arguments))
    words = {str(one.message).split(".")[0] for one in said if issubclass(one.category, UserWarning)}
    return {"seconds": seconds, "MiB": memory, "answer": answer, "said": "; ".join(sorted(words))}


def apart_from_others(function: Callable[..., dict[str, Any]], *arguments: Any, together: bool) -> dict[str, Any]:
    """Call a function in a process of its own, unless all are to be together."""
    if together:
        return function(*arguments)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def violation(problem: cp.Problem, answer: np.ndarray) -> float:
    """By how much values of the first variable violate a constraint, or are negative, at most."""
    problem.variables()[0].save_value(answer)
    worst = max((float(np.max(one.violation())) for one in problem.constraints), default=0.0)
    return max(worst, -float(answer.min()))


def measured(comparison: Comparison, together: bool) -> Iterable[dict[str, Any]]:
    """The lines of one problem: DUAL_NEWTON, then every other method."""
    problem = comparison.posed(*comparison.arguments)
    own: dict[str, Any] = {}
    for peer in (OURS, *comparison.peers):
        line = {"problem": comparison.name, "size": comparison.size}
        if isinstance(peer, str):
            task: tuple[Any, ...] = (by_solver, peer, comparison.posed, comparison.arguments)
            line["method"] = peer
        elif peer.missing:
            yield {**line, "method": peer.name, "said": peer.missing}
            continue
        else:
            task = (by_peer, peer, comparison.arguments)
            line["method"] = peer.name
        line |= apart_from_others(*task, together=together)
        answer = line.pop("answer", None)
        if answer is None:
            yield line
            continue
        line["violated"] = violation(problem, answer)
        if peer == OURS:
            own = {"answer": answer, "seconds": line["seconds"]}
        elif own:
            line["apart"] = float(np.abs(answer - own["answer"]).max() / np.abs(own["answer"]).max())
            line["ours"] = own["seconds"] / line["seconds"]
        yield line


def compare(comparisons: Iterable[Comparison], together: bool = False) -> pd.DataFrame:
    """Measure, print and return the table."""
    return show((line for one in comparisons for line in measured(one, together)), COLUMNS)


def show(lines: Iterable[dict[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Print lines as they come, as a Markdown table, and return them."""
    print("| " + " | ".join(columns) + " |\n| " + " | ".join("---" for _ in columns) + " |")
    results = []
    for line in lines:
        results.append({name: line.get(name) for name in columns})
        print("| " + " | ".join(_written(name, value) for name, value in results[-1].items()) + " |", flush=True)
    return pd.DataFrame(results)


def _written(name: str, value: Any) -> str:
    if value is None or value != value:
        return ""
    return FORMATS[name].format(value) if name in FORMATS else str(value)


def parser(doc: str | None) -> argparse.ArgumentParser:
    """A command line with what all scripts take."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--together", action="store_true", help="in one process: MiB are then those beyond all before")
    return parser
