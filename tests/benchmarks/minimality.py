"""What knowing Mondrian's algorithm tells of Adult: ``python -m tests.benchmarks.minimality``.

For each sensitive attribute, k and l: how many groups there are; how many people the algorithm tells something of
(a probability moves by more than 0.01), by how much at most, and of how many people a value is sure (above 0.99) with
it and without; the share of people whose likeliest value is right, with it and without, and the standard error of the
difference; whether all is exact; what the disguise costs, as the median relative error of random queries; processor
time.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import pandas as pd

import maxent_cvx as mx

QI = ["age", "sex", "race", "marital-status"]
CASES = [
    ("education", 5, 3), ("education", 5, 5), ("occupation", 5, 5), ("occupation", 10, 8), ("salary", 5, 2),
    ("salary", 2, 2), ("salary", 2, None),
]  # fmt: skip


def case(adult: pd.DataFrame, sa: str, k: int, l: int | None, n: int, queries: int) -> dict[str, object]:
    """One row of the table."""
    algorithm = partial(mx.anonymize.mondrian, qi=QI, sa=sa, k=k, l=l)
    release = algorithm(adult)
    begun = time.process_time()
    result = mx.attacks.minimality(release, algorithm, population=adult, n=n)
    seconds = time.process_time() - begun
    moved = (result.table - result.baseline).abs().max(axis=1)
    judgement = result.judge(adult)
    sure, without = (int(result.records[p.max(axis=1) > 0.99].sum()) for p in (result.table, result.baseline))
    error = mx.measures.query_error(release, adult, queries=queries)["error"].median()
    row = {"sensitive": sa, "k": k, "l": l, "groups": len(release.buckets)}
    row |= {
        "told of": int(result.records[moved > 0.01].sum()),
        "largest": moved.max(),
        "sure": sure,
        "without": without,
    }
    row |= {"right": judgement.right, "baseline": judgement.baseline, "se": judgement.standard_error}
    return row | {"exact": isinstance(result.error, float), "loss": error, "seconds": seconds}


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, help="so many of Adult's; by default all")
    parser.add_argument("--cases", type=int, default=len(CASES), help="only the first so many")
    parser.add_argument("--n", type=int, default=20_000, help="assignments that are sampled where counting is too much")
    parser.add_argument("--queries", type=int, default=500)
    options = parser.parse_args(arguments)
    adult = mx.datasets.load_adult()
    if options.records is not None:
        adult = adult.sample(options.records, random_state=0)
    found = pd.DataFrame([case(adult, *one, options.n, options.queries) for one in CASES[: options.cases]])
    print(found.round(4).to_string(index=False))
    return found


if __name__ == "__main__":
    main()
