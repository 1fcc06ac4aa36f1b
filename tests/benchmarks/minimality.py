"""What knowing Mondrian's algorithm tells about a few people of Adult: ``python -m tests.benchmarks.minimality``.

The algorithm is a black box that is called thousands of times, so that only samples of some tens of people are
feasible. Per sensitive attribute, k and l, over several samples: of how many people a probability moves by more than
0.05, and by how much at most; the share of people whose likeliest value is right, with the algorithm and without it.
"""

from __future__ import annotations

import argparse
from functools import partial

import pandas as pd

import maxent_cvx as mx

QI = ["age", "sex"]
CASES = [("salary", 2, 2), ("salary", 5, 2), ("education", 4, 4)]


def case(adult: pd.DataFrame, sa: str, k: int, l: int, n: int) -> dict[str, float]:
    """The figures of one sample of people."""
    algorithm = partial(mx.anonymize.mondrian, qi=QI, sa=sa, k=k, l=l)
    release = algorithm(adult)
    result = mx.attacks.minimality(release, algorithm, population=adult, n=n)
    moved = (result.table - result.baseline).abs().max(axis=1)
    judgement = result.judge(adult)
    return {
        "groups": len(release.buckets),
        "told of": int(result.records[moved > 0.05].sum()),
        "moved by": moved.max(),
        "error": 0.0 if isinstance(result.error, float) else result.error.max(axis=None),
        "right": judgement.right,
        "without": judgement.baseline,
    }


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=40, help="people of Adult in a sample")
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--cases", type=int, default=len(CASES), help="only the first so many")
    parser.add_argument("--n", type=int, default=2_000, help="tables that are sampled")
    options = parser.parse_args(arguments)
    adult = mx.datasets.load_adult()
    rows = []
    for sa, k, l in CASES[: options.cases]:
        samples = [adult.sample(options.records, random_state=seed) for seed in range(options.samples)]
        figures = pd.DataFrame([case(people, sa, k, l, options.n) for people in samples])
        rows.append(
            {"sensitive": sa, "k": k, "l": l} | figures.mean().to_dict() | {"moved by": figures["moved by"].max()}
        )
        print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    print(table.round(3).to_string(index=False))
    return table


if __name__ == "__main__":
    main()
