"""How long questions about Adult take:  python -m tests.benchmarks.questions bounds.

    bounds          the bounds of one P(s | Q) and of every P(s | q), prices and certainties; seconds
    contradictions  finding three statements that clash among many, and the least change that ends it; seconds

Of `bounds`, `width` is that of the interval of one P(s | Q), `exact` the share of exact ends among all `intervals`, and
`inferences` how many are certain. Where generic statements connect everybody, some ends are not exact.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

import maxent_cvx as mx
from maxent_cvx import P

from .models import adult_model, generic_statements

ONE = P("Bachelors", given={"sex": "Male", "race": "White", "relationship": "Husband"})
RICH, POOR, MEN = {"sex": "Male", "salary": ">50K"}, {"sex": "Male", "salary": "<=50K"}, {"sex": "Male"}


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of one run, and its result."""
    begun = time.process_time()
    result = work()
    return time.process_time() - begun, result


def bounds(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Models of growing knowledge, generic or strongest."""
    kinds = [(n, False) for n in options.rows] + [(n, True) for n in [0, *options.rows]]
    for n, strongest in kinds:
        model = adult_model(options.records, n, strongest=strongest)
        to_solve, post = timed(model.solve)
        to_bound, (low, high) = timed(lambda model=model: model.bounds(ONE))
        to_bound_all, every = timed(model.bounds)
        exact = (every["exact"].isin(["low", "both"]).mean() + every["exact"].isin(["high", "both"]).mean()) / 2
        to_price, _ = timed(post.prices)
        to_infer, certain = timed(lambda post=post: post.certain(progress=False))
        yield {
            "knowledge": "strongest" if strongest else "generic", "rows": n, "solve": to_solve, "bounds": to_bound,
            "width": high - low, "all bounds": to_bound_all, "intervals": len(every), "exact": exact,
            "prices": to_price, "certain": to_infer, "inferences": len(certain),
        }  # fmt: skip


def contradictory_adult(records: int, n: int) -> tuple[mx.MaxEnt, list[str]]:
    """Adult, and n statements: all are true but the last, which two others contradict together."""
    table = mx.datasets.load_adult().head(records)
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
        statement
        for statement in generic_statements(table, n)
        if {name for event, _ in statement.terms for name, _ in event.given} != {"sex"}
    ]
    model = mx.MaxEnt(release)
    for statement in [*clashing, *true][:n]:
        if statement.label not in model.knowledge:
            model.add(statement)
    return model, [statement.label for statement in clashing]


def contradictions(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Models of growing knowledge, three statements of which clash."""
    for n in options.rows:
        model, clashing = contradictory_adult(options.records, n)
        to_diagnose, clash = timed(model.diagnose)
        to_relax, relaxed = timed(model.relax)
        yield {
            "statements": n, "diagnose": to_diagnose, "clashing": len(clash),
            "right": set(clash.index) == set(clashing), "relax": to_relax, "moved": len(relaxed.changes),
        }  # fmt: skip


QUESTIONS = {function.__name__: function for function in (bounds, contradictions)}


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", choices=list(QUESTIONS))
    parser.add_argument("--records", type=int, default=14_210)
    parser.add_argument("--rows", type=int, nargs="+", default=[20, 200, 500], help="statements")
    options = parser.parse_args(arguments)
    table = pd.DataFrame(QUESTIONS[options.question](options))
    print(table.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    return table


if __name__ == "__main__":
    main()
