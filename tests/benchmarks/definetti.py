"""Adult's occupations in Anatomy's buckets, guessed from the release alone: ``python -m tests.benchmarks.definetti``.

A row a set of quasi-identifiers, l and seed of the buckets; ``--permuted`` shuffles occupations before they are
published, ``--logistic`` takes logistic regression for naive Bayes, ``--calibration`` prints what each tenth is worth.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd

import maxent_cvx as mx

#: Sets of attributes by name; "eight" are Adult's usual categorical ones and age.
ATTRIBUTES = {
    "sex": ["sex"],
    "education": ["education"],
    "three": ["education", "sex", "workclass"],
    "eight": [
        "age", "workclass", "education", "marital-status", "relationship", "race", "sex", "native-country",
    ],
    "all": [
        "age", "workclass", "education", "education-num", "marital-status", "relationship", "race", "sex",
        "hours-per-week", "native-country", "salary",
    ],
}  # fmt: skip


def logistic() -> object:
    """Logistic regression, its warnings off that the last digit is missing."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=200)


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Publish, attack and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, help="so many of Adult's, drawn at random; by default all 30,162")
    parser.add_argument("--qi", nargs="+", default=["eight"], help=f"of {', '.join(ATTRIBUTES)}, or attributes a,b,c")
    parser.add_argument("--l", type=int, nargs="+", default=[3, 4])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--smoothing", type=float, default=1.0)
    parser.add_argument("--permuted", action="store_true")
    parser.add_argument("--logistic", action="store_true")
    parser.add_argument("--calibration", action="store_true")
    options = parser.parse_args(arguments)
    adult = mx.datasets.load_adult()
    if options.people is not None:
        adult = adult.sample(options.people, random_state=0).reset_index(drop=True)
    if options.permuted:
        adult["occupation"] = np.random.default_rng(0).permutation(adult["occupation"])
    rows = []
    for name in options.qi:
        qi = ATTRIBUTES.get(name, name.split(","))
        for l, seed in [(l, seed) for l in options.l for seed in range(options.seeds)]:
            people = adult.assign(Bucket=mx.anonymize.anatomy_buckets(adult, qi=qi, sa="occupation", l=l, seed=seed))
            release = mx.Release.from_buckets(people, qi=qi, sa="occupation", bucket="Bucket")
            begun = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = mx.attacks.definetti(
                    release, logistic() if options.logistic else None, options.smoothing, options.iterations
                )
            taken, judged = time.process_time() - begun, found.judge(people)
            said = np.average(found.table.max(axis=1), weights=found.records)
            likelihood, n = found.log["log_likelihood"].iloc[-1], len(found.log)
            rows.append(
                (name, l, seed, judged.right, judged.baseline, judged.standard_error, said, n, likelihood, taken)
            )
            print(" ".join(f"{x:.4g}" if isinstance(x, float) else str(x) for x in rows[-1]), flush=True)
            if options.calibration:
                print(judged.calibration.dropna().round(3).to_string())
    columns = ["qi", "l", "seed", "right", "shares", "error", "said", "iterations", "log_likelihood", "seconds"]
    table = pd.DataFrame(rows, columns=columns)
    print(table.to_string(index=False, float_format=lambda x: f"{x:.3f}"))
    return table


if __name__ == "__main__":
    main()
