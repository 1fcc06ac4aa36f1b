"""What Mondrian's groups tell about ages (in tens) of a few people of Adult: ``python -m tests.benchmarks.downcoding``.

The algorithm is a black box that is called thousands of times, so that only samples of some people are feasible. Per k,
over several samples: the share of people whose likeliest age is the true one, with the algorithm and from the cell
alone, where all ages are equally probable beforehand.
"""

from __future__ import annotations

import argparse
from functools import partial

import pandas as pd

import maxent_cvx as mx


def case(adult: pd.DataFrame, k: int, n: int) -> dict[str, float]:
    """The figures of one sample of people."""
    algorithm = partial(mx.anonymize.mondrian, qi="age", sa="salary", k=k)
    release = algorithm(adult)
    result = mx.attacks.downcoding(release, algorithm, domain={"age": range(10, 100, 10)}, n=n)
    judgement = result.judge(adult)
    error = 0.0 if isinstance(result.error, float) else result.error.max(axis=None)
    return {
        "groups": len(release.buckets),
        "error": error,
        "right": judgement.right,
        "without": judgement.baseline,
    }


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=8, help="people of Adult in a sample")
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--k", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--n", type=int, default=4_000, help="tables that are sampled")
    options = parser.parse_args(arguments)
    adult = mx.datasets.load_adult()
    adult["age"] = adult["age"] // 10 * 10
    rows = []
    for k in options.k:
        samples = [adult.sample(options.records, random_state=seed) for seed in range(options.samples)]
        rows.append({"k": k} | pd.DataFrame([case(people, k, options.n) for people in samples]).mean().to_dict())
    table = pd.DataFrame(rows)
    print(table.round(3).to_string(index=False))
    return table


if __name__ == "__main__":
    main()
