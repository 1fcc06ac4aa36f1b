"""How long bounds, prices and certainties of Adult take: ``python -m tests.benchmarks.questions``.

The bounds of every P(s | q) take seconds where knowledge leaves small independent parts, as the strongest associations
do. Generic statements connect everybody, and many intervals take a linear program each: half an hour, with --every.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from maxent_cvx import P

from .models import adult_model

ASKED = P("Bachelors", given={"sex": "Male", "race": "White", "relationship": "Husband"})


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Time one run."""
    begun = time.perf_counter()
    found = work()
    return time.perf_counter() - begun, found


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Measure models of growing knowledge, generic or strongest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=14_210)
    parser.add_argument("--rows", type=int, nargs="+", default=[20, 200])
    parser.add_argument("--every", action="store_true", help="bound every P(s | q) of generic knowledge, too")
    options = parser.parse_args(arguments)
    rows = []
    for strongest in (False, True):
        for n in [0, *options.rows] if strongest else options.rows:
            model = adult_model(options.records, n, strongest=strongest)
            to_solve, post = seconds(model.solve)
            to_bound, (low, high) = seconds(lambda model=model: model.bounds(ASKED))
            asks = strongest or options.every
            to_bound_all, every = seconds(model.bounds) if asks else (np.nan, ())
            to_price, _ = seconds(post.prices)
            to_tell, certain = seconds(lambda post=post: post.certain(progress=False))
            kind = "strongest" if strongest else "generic"
            found = (to_solve, to_bound, high - low, to_bound_all, len(every), to_price, to_tell, len(certain))
            rows.append((kind, n, *found))
    columns = [
        "knowledge", "rows", "solve", "bounds", "width", "all bounds", "intervals", "prices", "certain", "inferences",
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=columns)
    print("seconds; width: of the interval of one P(s | Q); all bounds: of every P(s | q)")
    print("intervals: how many these are; inferences: how many are certain")
    print(table.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    return table


if __name__ == "__main__":
    main()
