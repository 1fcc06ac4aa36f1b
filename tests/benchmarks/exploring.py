"""How soon the explorer follows a slider: ``python -m tests.benchmarks.exploring``.

The hospital, and Adult by Anatomy (l = 5) with strongest associations, or with generic statements. Seconds from
the move of a control to everything that is shown, without a browser: the median and the longest of several moves.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pandas as pd

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx.explorer.explorer import Exploration
from maxent_cvx.explorer.state import NoAnswer, State, assumptions_of

from .generic_knowledge import generic_statements

#: QI tuples that are shown, and seconds a solve may take, as by default.
ROWS, LIMIT = 20, 10.0


def hospital() -> Exploration:
    """Ten patients, two statements."""
    table = mx.datasets.load_hospital()
    release = mx.Release.from_buckets(table, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3 +- 0.05", "P(Breast Cancer | Gender=male) = 0")
    return Exploration(assumptions_of(model, table, 0.8, 2, None), table, ROWS, LIMIT)


def adult(records: int, statements: int, eps: float) -> Exploration:
    """Adult and education, with one statement about the men, or with generic ones."""
    table = mx.datasets.load_adult().head(records)
    release = mx.anonymize.anatomy(table, qi=mx.datasets.ADULT_QI, sa="education", l=5, exempt=2)
    model = mx.MaxEnt(release)
    if statements:
        model.add(*generic_statements(table, statements, eps))
    else:
        men = table["education"][table["sex"] == "Male"]
        model.add(P("Bachelors", given={"sex": "Male"}).about(round((men == "Bachelors").mean(), 2), eps=0.01))
    return Exploration(assumptions_of(model, table, 0.8, 3, None), table, ROWS, LIMIT)


def moves(exploration: Exploration, counts: list[int]) -> Iterator[tuple[str, State]]:
    """What somebody does: moves a value by steps, widens it, knows more associations, moves the threshold."""
    start = exploration.assumptions.start
    label, one = next(iter(exploration.assumptions.adjustable.items()))
    for i in (1, 2, 3, -1, -2):
        yield "value", start.moved(label, value=round(one.start.value + i * one.values.step, 6))
    for eps in (0.02, 0.05, 0.1):
        yield "vagueness", start.moved(label, vagueness=eps)
    for k in counts:
        yield f"K = {k}", replace(start.moved(label, vagueness=0.1), positive=k, negative=k)
    for threshold in (0.3, 0.5, 0.7):
        yield "threshold", replace(start, threshold=threshold)
    for value in (0.0, 1.0):
        yield "far away", start.moved(label, value=value)


def seconds(work: Callable[[], Exploration]) -> tuple[Exploration, tuple[float, float]]:
    """Seconds, and those of the processor, which other programs do not make more."""
    begun = time.perf_counter(), time.process_time()
    found = work()
    return found, (time.perf_counter() - begun[0], time.process_time() - begun[1])


def shown(exploration: Exploration, state: State) -> Exploration:
    """Move, and make all that is shown."""
    exploration.go(state)
    assert all([exploration.picture, any(exploration.sentences), exploration.code])
    return exploration


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Measure moves, in order, of each of the models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=14_210)
    parser.add_argument("--counts", type=int, nargs="+", default=[10, 50, 200, 500])
    parser.add_argument("--statements", type=int, default=20)
    options = parser.parse_args(arguments)
    models: dict[str, Callable[[], Exploration]] = {
        "hospital": hospital,
        "Adult, 1 statement": lambda: adult(options.records, 0, 0.0),
        f"Adult, {options.statements} generic": lambda: adult(options.records, options.statements, 0.02),
    }
    rows = []
    for name, make in models.items():
        exploration, taken = seconds(make)
        rows.append((name, "begin", *taken, False))
        counts = [2, 4] if name == "hospital" else options.counts
        for kind, state in moves(exploration, counts):
            exploration, taken = seconds(partial(shown, exploration, state))
            rows.append((name, kind, *taken, isinstance(exploration.answer, NoAnswer)))
    table = pd.DataFrame(rows, columns=["model", "move", "seconds", "processor", "no answer"])
    by = table.groupby(["model", "move", "no answer"], sort=False)
    found = by.agg(
        moves=("seconds", "size"), median=("seconds", "median"), longest=("seconds", "max"),
        processor=("processor", "median"), longest_processor=("processor", "max"),
    )  # fmt: skip
    print("seconds from a move to all that is shown, and processor seconds")
    print(found.to_string(float_format=lambda x: f"{x:.3f}"))
    return table


if __name__ == "__main__":
    main()
