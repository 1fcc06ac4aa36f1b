"""The calibrated deFinetti attack on Adult:  python -m tests.benchmarks.definetti --l 2 3 4 5 6 --seeds 3.

Occupation is sensitive, eight other attributes are quasi-identifiers; Anatomy makes buckets of l. `right` is the share of
records whose likeliest value is the true one, `says` the mean of its probability, `error` the calibration error (the mean
over tenths, weighed by records, of |says - right|). In the rows `permuted` the values were permuted among the people
before publication, so that nothing can be learnt.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd

import maxent_cvx as mx

#: The sensitive attribute; Anatomy needs no exempt value of it up to l = 7.
SENSITIVE = "occupation"
COLUMNS = [
    "l",
    "seed",
    "table",
    "classifier",
    "right",
    "says",
    "error",
    "baseline",
    "evidence",
    "p",
    "temperature",
    "seconds",
]


def measure(table: pd.DataFrame, l: int, seed: int, classifier: str, *, calibrate: bool) -> list[object]:
    """One attack, and how often it is right."""
    qi = [name for name in (*mx.datasets.ADULT_QI, "education") if name != SENSITIVE]
    exempt = int((table[SENSITIVE].value_counts() > len(table) // l).sum())
    buckets = mx.anonymize.anatomy_buckets(table, qi=qi, sa=SENSITIVE, l=l, exempt=exempt, seed=seed)
    published = table.assign(Bucket=buckets)
    release = mx.Release.from_buckets(published, qi=qi, sa=SENSITIVE, bucket="Bucket")
    begun = time.process_time()
    result = mx.attacks.definetti(release, classifier=classifier, calibrate=calibrate, seed=seed, progress=False)
    seconds = time.process_time() - begun
    score = result.judge(published)
    tenths = score.calibration[score.calibration["records"] > 0]
    weight = tenths["records"] / tenths["records"].sum()
    error, says = (
        float((weight * (tenths["said"] - tenths["right"]).abs()).sum()),
        float((weight * tenths["said"]).sum()),
    )
    return [
        classifier,
        score.right,
        says,
        error,
        score.baseline,
        result.evidence,
        result.p_value,
        result.temperature,
        seconds,
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--l", type=int, nargs="+", default=[2, 3, 4, 5, 6])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--records", type=int, default=30_162)
    options = parser.parse_args()
    adult = mx.datasets.load_adult().head(options.records)
    for l in options.l:
        for seed in range(options.seeds):
            permuted = adult.assign(**{SENSITIVE: np.random.default_rng(seed).permutation(adult[SENSITIVE])})
            for name, table, classifier, calibrate in (
                ("true", adult, "naive Bayes", False), ("true", adult, "logistic", True),
                ("permuted", permuted, "logistic", True),
            ):  # fmt: skip
                row = [l, seed, name, *measure(table, l, seed, classifier, calibrate=calibrate)]
                frame = pd.DataFrame([row], columns=COLUMNS)
                print(
                    frame.to_string(
                        index=False, header=not (l == options.l[0] and seed > 0), float_format="{:.3f}".format
                    ),
                    flush=True,
                )


if __name__ == "__main__":
    main()
