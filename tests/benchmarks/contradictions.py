"""How long it takes to find three statements that clash among many: ``python -m tests.benchmarks.contradictions``."""

from __future__ import annotations

import argparse
import time

import pandas as pd

import maxent_cvx as mx
from maxent_cvx import P

from .models import generic_statements

RICH, POOR, MEN = {"sex": "Male", "salary": ">50K"}, {"sex": "Male", "salary": "<=50K"}, {"sex": "Male"}


def contradictory_adult(n: int) -> tuple[mx.MaxEnt, list[str]]:
    """Adult, and n statements: all are true but the last, which two others contradict together."""
    table = mx.datasets.load_adult().head(14_210)
    release = mx.anonymize.anatomy(table, qi=mx.datasets.ADULT_QI, sa="education", l=5, exempt=2)

    def share(given: dict[str, str]) -> float:
        described = pd.concat([table[name] == value for name, value in given.items()], axis=1).all(axis=1)
        return float((table["education"][described] == "Bachelors").mean())

    clashing = [
        P("Bachelors", given=RICH) == share(RICH),
        P("Bachelors", given=POOR) == share(POOR),
        P("Bachelors", given=MEN) == round(share(MEN) + 0.02, 3),
    ]
    # What is known of women is known of men, as that of everybody is published: it would contradict the last alone.
    true = [
        said
        for said in generic_statements(table, n)
        if {name for event, _ in said.terms for name, _ in event.given} != {"sex"}
    ]
    model = mx.MaxEnt(release)
    for statement in [*clashing, *true][:n]:
        if statement.label not in model.knowledge:
            model.add(statement)
    return model, [statement.label for statement in clashing]


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Measure models of growing knowledge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--statements", type=int, nargs="+", default=[50, 200, 500])
    options = parser.parse_args(arguments)
    rows = []
    for n in options.statements:
        model, clashing = contradictory_adult(n)
        begun = time.perf_counter()
        clash = model.diagnose()
        seconds = time.perf_counter() - begun
        begun = time.perf_counter()
        relaxed = model.relax()
        rows.append(
            (
                n,
                seconds,
                len(clash),
                set(clash.index) == set(clashing),
                time.perf_counter() - begun,
                len(relaxed.changes),
            )
        )
    table = pd.DataFrame(rows, columns=["statements", "seconds", "found", "right", "relax_seconds", "moved"])
    print(table.to_string(index=False))
    return table


if __name__ == "__main__":
    main()
