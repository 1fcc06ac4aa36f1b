"""How long sentences on exact worlds take, as a ratio to none: ``python -m tests.benchmarks.sentences``.

``bucket`` is one bucket of many records, ``adult`` Adult in thousands of buckets of four, in hundreds of which each
person may be, ``chain`` buckets of three, one after the other, of which each one's person has x if the one before has.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd

import maxent_cvx as mx

#: A case: a release, who is known by name, what is known, and the prior or none.
Case = tuple[mx.Release, dict[str, dict[str, object]], list[str], mx.QIDistribution | None]


def bucket(records: int, people: int) -> Iterator[tuple[str, Case]]:
    """One bucket, exactly two of the people have one of ten values; then with a prior, of one of two values."""
    some = np.arange(records)
    ten = pd.DataFrame({"Q": some % 2, "S": some * 7 % 10, "B": 0})
    two = ten.assign(S=(some < records // 20).astype(int))
    named = {f"P{i}": {"Q": i % 2} for i in range(people)}
    known = [f"exactly 2 of ({', '.join(f'{name}=1' for name in named)})"]
    prior = mx.QIDistribution(pd.DataFrame({0: [0.9, 0.8], 1: [0.1, 0.2]}, index=pd.Index([0, 1], name="Q")))
    for name, table, believed in (("bucket", ten, None), ("bucket, prior", two, prior)):
        yield name, (mx.Release.from_buckets(table, qi="Q", sa="S", bucket="B"), named, known, believed)


def adult(records: int, people: int) -> Iterator[tuple[str, Case]]:
    """Anatomy, l = 4, by age, sex and race; then by sex alone, so that three people may be nearly everywhere."""
    table = mx.datasets.load_adult().head(records)
    for qi, n in ((["age", "sex", "race"], people), (["sex"], min(people, 3))):
        release = mx.anonymize.anatomy(table, qi=qi, sa="occupation", l=4, exempt=2)
        drawn = table[qi].sample(n, random_state=1).to_dict("records")
        named = {f"P{i}": row for i, row in enumerate(drawn)}
        known = [f"exactly 1 of ({', '.join(f'{name}=Sales' for name in named)})", "P0=Craft-repair -> not P1=Sales"]
        yield f"adult by {', '.join(qi)}", (release, named, known, None)


def chain(people: int) -> Iterator[tuple[str, Case]]:
    """Sentences that link everybody to the next, and one about all."""
    n = np.arange(3 * people)
    table = pd.DataFrame({"Q": n, "S": np.array(list("xyz"))[n % 3], "B": n // 3})
    release = mx.Release.from_buckets(table, qi="Q", sa="S", bucket="B")
    named = {f"P{i}": {"Q": 3 * i} for i in range(people)}
    yield "chain", (release, named, [f"P{i}=x -> P{i + 1}=x" for i in range(people - 1)], None)
    yield "how many", (release, named, [f"exactly {people // 4} of ({', '.join(f'{p}=x' for p in named)})"], None)


def seconds(case: Case, *, known: bool) -> float:
    """Processor time of a question, with what is known or without."""
    release, people, sentences, prior = case
    begun = time.process_time()
    mx.worlds.linkage(release, prior, people=people, knowledge=sentences if known else [])
    return time.process_time() - begun


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Measure every case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bucket", type=int, default=10_000, help="records of the bucket")
    parser.add_argument("--adult", type=int, default=30_162, help="records of Adult")
    parser.add_argument("--people", type=int, default=5)
    parser.add_argument("--chain", type=int, default=200, help="people of the chain")
    options = parser.parse_args(arguments)
    rows = []
    every = (bucket(options.bucket, options.people), adult(options.adult, options.people), chain(options.chain))
    for name, case in (one for cases in every for one in cases):
        release, people, *_ = case
        without, with_them = (seconds(case, known=known) for known in (False, True))
        rows.append((name, release.n_records, len(release.buckets), len(people), with_them, with_them / without))
    found = pd.DataFrame(rows, columns=["case", "records", "buckets", "people", "seconds", "ratio"])
    print(found.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    return found


if __name__ == "__main__":
    main()
