"""Rules of Adult: mining, making the model, solving: ``python -m tests.benchmarks.rules``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import pandas as pd

import maxent_cvx as mx

#: The eight categorical attributes of the paper.
QI = ["workclass", "marital-status", "occupation", "relationship", "race", "sex", "native-country", "education"]


def seconds(work: Callable[[], Any], times: int) -> tuple[float, Any]:
    """The fastest of some runs."""
    taken = []
    for _ in range(times):
        begun = time.process_time()
        found = work()
        taken.append(time.process_time() - begun)
    return min(taken), found


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Measure the rules of one support, by confidence, with what is published of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=None, help="of 30,162 complete ones")
    parser.add_argument("--support", type=float, default=0.1)
    parser.add_argument("--confidence", type=float, nargs="+", default=[0.6, 0.9])
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args(arguments)
    adult = mx.datasets.load_adult(complete=True).head(options.records)
    table = mx.QITable(adult, qi=QI, sa="salary", sa_values=["<=50K", ">50K"])
    rows = []
    for confidence in options.confidence:
        mine = lambda confidence=confidence: mx.anonymize.mine_rules(  # noqa: E731
            adult, qi=QI, sa="salary", support=options.support, confidence=confidence
        )
        to_mine, rules = seconds(mine, options.times)
        for scores in (None, "confidence"):
            source = mx.PublishedRules(rules, scores=scores)
            to_make, model = seconds(lambda source=source: mx.MaxEnt(table).add(source), options.times)
            to_solve, post = seconds(model.solve, options.times)
            ratio = (to_make + to_solve) / to_mine
            bound, counts = post.certificate.bound, source.counts
            row = (confidence, scores or "-", *counts, to_mine, to_make, to_solve, ratio, bound)
            rows.append(row)
    columns = ["confidence", "scores", *counts.index, "mine", "make", "solve", "ratio", "certified_error"]
    found = pd.DataFrame(rows, columns=columns)
    print(f"{table}; processor seconds; ratio: make and solve, by mine")
    print(found.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    return found


if __name__ == "__main__":
    main()
