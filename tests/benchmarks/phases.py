"""Where the time of a solve of Adult goes:  python -m tests.benchmarks.phases --records 14210 --times 3.

For each standard model it prints the time of the whole solve by the default solver, and of its phases: stacking rows to
a system, presolve, Newton's method, postsolve, certificate. The unit is one evaluation of the dual function and its
gradient, by SciPy's products with the rows as posed, so that the numbers survive a change of machine. Every run is on a
copy of the model that keeps nothing of another run. What is printed is the median; `first` is the first of the runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import pandas as pd

import maxent_cvx as mx
from maxent_cvx.solvers import attempts
from maxent_cvx.solvers import attempts as attempt

from .models import adult_model
from .solvers import evaluation_seconds

#: The standard models: rows of knowledge and their kind.
MODELS: dict[str, dict[str, Any]] = {
    "strongest 200": {"rows": 200, "strongest": True},
    "generic 200": {"rows": 200},
    "strongest 1000": {"rows": 1_000, "strongest": True},
    "vague 200": {"rows": 200, "eps": 0.02},
}
#: The functions whose time is taken, by the phase that each of them is.
PHASES = {
    "presolve": (attempts, "presolved"),
    "newton": (attempt, "_solved"),
    "postsolve": (attempt, "_restored"),
    "certificate": (attempt, "_certified"),
}


@dataclass
class Clock:
    """Processor seconds of each phase."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))

    def timing(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, whose time is added to that of a phase."""

        def timed(*arguments: Any, **options: Any) -> Any:
            begun = time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds[phase] += time.process_time() - begun

        return timed


@contextmanager
def clocked() -> Iterator[Clock]:
    """Take the time of every phase of the solves within."""
    clock, patches = Clock(), []
    for phase, (module, name) in PHASES.items():
        patches.append(mock.patch.object(module, name, clock.timing(phase, getattr(module, name))))
        patches[-1].start()
    try:
        yield clock
    finally:
        for patch in patches:
            patch.stop()


def solved(model: mx.MaxEnt) -> dict[str, float]:
    """Solve a model for the first time: processor seconds in all and of each phase, iterations, certified error."""
    with clocked() as clock:
        begun = time.process_time()
        model.form  # noqa: B018  rows are stacked where they are first asked for
        stacked = time.process_time()
        post = model.solve()
        ended = time.process_time()
    return {
        "total": ended - begun, "stacking": stacked - begun, **clock.seconds, "iterations": post.iterations,
        "certified_error": post.certificate.bound,
    }  # fmt: skip


def fresh(model: mx.MaxEnt) -> mx.MaxEnt:
    """A model of the same release and knowledge that has derived nothing from them yet."""
    return mx.MaxEnt(model.view).add(*model.knowledge.values())


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=14_210)
    parser.add_argument("--times", type=int, default=3, help="solves of each model, each of a fresh copy")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--part", type=float, default=1.0, help="this share of the rows of knowledge")
    options = parser.parse_args(arguments)

    found = []
    for name in options.models:
        kind = {**MODELS[name], "rows": max(2, round(options.part * MODELS[name]["rows"]))}
        model = adult_model(options.records, **kind)
        runs = pd.DataFrame([solved(fresh(model)) for _ in range(options.times)])
        evaluation = evaluation_seconds(model)
        median = runs.median()
        times = [column for column in runs if column not in ("iterations", "certified_error")]
        row = {"model": name, "evaluation_ms": 1e3 * evaluation, "seconds": median["total"]}
        row |= {phase: median[phase] / evaluation for phase in times}
        row |= {"first": runs["total"].iloc[0] / evaluation, "iterations": median["iterations"]}
        found.append({**row, "certified_error": runs["certified_error"].max()})
    table = pd.DataFrame(found)
    other = ["certified_error", "evaluation_ms", "seconds"]
    print(table.to_string(index=False, float_format="{:.0f}".format, formatters=dict.fromkeys(other, "{:.2g}".format)))
    return table


if __name__ == "__main__":
    main()
