"""Where the time of a solve of Adult goes:  python -m tests.benchmarks.phases --records 14210 --times 3.

For each model it prints the processor time of the whole solve by the default solver, and of its phases: stacking rows
to a system, presolve, Newton's method, postsolve, certificate. The unit is one evaluation of the dual function and its
gradient, by SciPy's products with the rows as posed, so that the numbers survive a change of machine. Every run is on a
copy of the model that keeps nothing of another run. What is printed is the median; `first` is the first of the runs.

A model is a kind of knowledge and a number of rows. Generic and vague statements are those of :func:`.models.adult_model`;
the strongest associations, most of them certain, force zeros. ``--models "generic 5000" "vague 5000"`` has many rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import pandas as pd

import maxent_cvx as mx
from maxent_cvx.solvers import attempts

from .models import adult_model, evaluation_seconds, fresh

#: The arguments of each kind of knowledge.
KINDS: dict[str, dict[str, Any]] = {"strongest": {"strongest": True}, "generic": {}, "vague": {"eps": 0.02}}
#: The standard models.
MODELS = ("strongest 200", "generic 200", "strongest 1000", "vague 200")
#: The functions whose time is taken, by the phase that each of them is.
PHASES = {"presolve": "presolved", "newton": "_solved", "postsolve": "_restored", "certificate": "_certified"}


@contextmanager
def clocked() -> Iterator[dict[str, float]]:
    """Take the processor seconds of every phase of the solves within."""
    seconds = dict.fromkeys(PHASES, 0.0)

    def timing(phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            begun = time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                seconds[phase] += time.process_time() - begun

        return timed

    with ExitStack() as patches:
        for phase, name in PHASES.items():
            patches.enter_context(mock.patch.object(attempts, name, timing(phase, getattr(attempts, name))))
        yield seconds


def solved(model: mx.MaxEnt) -> dict[str, float]:
    """Solve a model for the first time: processor seconds in all and of each phase, iterations, certified error."""
    with clocked() as seconds:
        begun = time.process_time()
        model.form  # noqa: B018  rows are stacked where they are first asked for
        stacked = time.process_time()
        post = model.solve()
        ended = time.process_time()
    return {
        "total": ended - begun, "stacking": stacked - begun, **seconds, "iterations": post.iterations,
        "certified_error": post.certificate.bound,
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=14_210)
    parser.add_argument("--times", type=int, default=3, help="solves of each model, each of a fresh copy")
    parser.add_argument("--models", nargs="+", default=MODELS, help=f"kind ({', '.join(KINDS)}) and rows of knowledge")
    options = parser.parse_args(arguments)

    rows = []
    for name in options.models:
        kind, n_rows = name.split()
        model = adult_model(options.records, int(n_rows), **KINDS[kind])
        runs = pd.DataFrame([solved(fresh(model)) for _ in range(options.times)])
        evaluation, median = evaluation_seconds(model), runs.median()
        row = {"model": name, "evaluation_ms": 1e3 * evaluation, "seconds": median["total"]}
        row |= {phase: median[phase] / evaluation for phase in ("total", "stacking", *PHASES)}
        row |= {"first": runs["total"].iloc[0] / evaluation, "iterations": median["iterations"]}
        rows.append({**row, "certified_error": runs["certified_error"].max()})
    table = pd.DataFrame(rows)
    other = ["certified_error", "evaluation_ms", "seconds"]
    print(table.to_string(index=False, float_format="{:.0f}".format, formatters=dict.fromkeys(other, "{:.2g}".format)))
    return table


if __name__ == "__main__":
    main()
