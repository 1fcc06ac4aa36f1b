"""How long bounds, prices and certainties of Adult take: ``python -m tests.benchmarks.questions``.

The bounds of every P(s | q) take seconds. Where generic statements connect everybody, some of their ends are not exact;
``--check 200`` compares so many exact ones, drawn at random, with linear programs of their own.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import maxent_cvx as mx
from maxent_cvx import P

from .models import adult_model

ASKED = P("Bachelors", given={"sex": "Male", "race": "White", "relationship": "Husband"})


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Time one run."""
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found


def check(model: mx.MaxEnt, every: pd.DataFrame, number: int) -> None:
    """Compare exact ends of intervals, drawn at random, with linear programs of their own."""
    n_qi = len(model.view.qi)
    exact = every[every["exact"] == "both"]
    for label, row in exact.sample(min(number, len(exact)), random_state=0).iterrows():
        assert isinstance(label, tuple)
        given = dict(zip(model.view.qi, label, strict=False))
        alone = model.bounds(P(label[n_qi], given=given))
        if np.abs(np.subtract(alone, row[["low", "high"]].to_numpy(float))).max() > 1e-6:
            print(f"P({label[n_qi]} | {given}): {tuple(row)}, and alone {alone}")


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Measure models of growing knowledge, generic or strongest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=14_210)
    parser.add_argument("--rows", type=int, nargs="+", default=[20, 200])
    parser.add_argument("--check", type=int, default=0, help="exact ends of every interval to be asked one by one")
    options = parser.parse_args(arguments)
    rows = []
    for strongest in (False, True):
        for n in [0, *options.rows] if strongest else options.rows:
            model = adult_model(options.records, n, strongest=strongest)
            to_solve, post = seconds(model.solve)
            to_bound, (low, high) = seconds(lambda model=model: model.bounds(ASKED))
            to_bound_all, every = seconds(model.bounds)
            exact = (every["exact"].isin(["low", "both"]).mean() + every["exact"].isin(["high", "both"]).mean()) / 2
            check(model, every, options.check)
            to_price, _ = seconds(post.prices)
            to_tell, certain = seconds(lambda post=post: post.certain(progress=False))
            kind = "strongest" if strongest else "generic"
            found = (to_solve, to_bound, high - low, to_bound_all, len(every), exact, to_price, to_tell, len(certain))
            rows.append((kind, n, *found))
    columns = [
        "knowledge", "rows", "solve", "bounds", "width", "all bounds", "intervals", "exact",
        "prices", "certain", "inferences",
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=columns)
    print("processor seconds; width: of the interval of one P(s | Q); all bounds: of every P(s | q)")
    print("intervals: how many these are; exact: the share of their ends; inferences: how many are certain")
    print(table.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    return table


if __name__ == "__main__":
    main()
