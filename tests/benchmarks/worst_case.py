"""What k pieces of knowledge can do to Adult, and the time to find it: ``python -m tests.benchmarks.worst_case``.

Disclosure of occupations: of Martin et al.'s release (age in intervals of 20, nothing else), of negated atoms alone, of
Anatomy and of Mondrian with and without (c, k)-safety. Processor times are ratios to the time of Anatomy.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import maxent_cvx as mx

QI = ["age", "sex", "race", "marital-status"]


def timed(question: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds, and the answer."""
    begun = time.process_time()
    answer = question()
    return time.process_time() - begun, answer


def curves(most: int, group: int, safe: tuple[float, int]) -> pd.DataFrame:
    """Disclosure by k, a column a release."""
    adult = mx.datasets.load_adult()
    roles: dict[str, Any] = {"qi": QI, "sa": "occupation"}
    ages = adult.assign(Bucket=adult["age"] // 20)
    releases = {
        "ages": mx.Release.from_buckets(ages, qi="age", sa="occupation", bucket="Bucket"),
        "Anatomy l=5": mx.anonymize.anatomy(adult, **roles, l=5),
        f"Mondrian k={group}": mx.anonymize.mondrian(adult, **roles, k=group),
        f"... safe={safe}": mx.anonymize.mondrian(adult, **roles, k=group, safe=safe),
    }
    k = range(most + 1)
    found = {name: mx.attacks.worst_case(one, k)["disclosure"].to_numpy() for name, one in releases.items()}
    negated = mx.attacks.skyline(releases["ages"], k, 0, 0)["disclosure"].to_numpy()
    return pd.DataFrame({"ages, negated": negated, **found}, index=pd.Index(k, name="k"))


def times(sizes: list[int], most: int) -> pd.DataFrame:
    """Adult, repeated to so many records: time of Anatomy, and of the two attacks as multiples of it."""
    adult, rows = mx.datasets.load_adult(), []
    for records in sizes:
        table = adult.iloc[np.arange(records) % len(adult)].reset_index(drop=True)
        first, release = timed(lambda table=table: mx.anonymize.anatomy(table, qi=QI, sa="occupation", l=5))
        worst, _ = timed(lambda release=release: mx.attacks.worst_case(release, range(most + 1)))
        skyline, _ = timed(lambda release=release: mx.attacks.skyline(release))
        rows.append((records, len(release.buckets), first, worst / first, skyline / first))
    return pd.DataFrame(rows, columns=["records", "buckets", "anatomy_seconds", "worst_case", "skyline_27_points"])


def main(arguments: list[str] | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=13, help="the largest k of the curves")
    parser.add_argument("--group", type=int, default=10, help="Mondrian's k")
    parser.add_argument("--safe", type=float, nargs=2, default=[0.5, 2], metavar=("c", "k"))
    parser.add_argument("--records", type=int, nargs="*", default=[30_162, 300_000])
    options = parser.parse_args(arguments)
    one = curves(options.most, options.group, (options.safe[0], int(options.safe[1])))
    print(one.to_string(float_format=lambda x: f"{x:.3f}"), end="\n\n")
    two = times(options.records, 3)
    print(two.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    return one, two


if __name__ == "__main__":
    main()
