"""What Mondrian's groups of Adult tell of exact values: ``python -m tests.benchmarks.downcoding``, rows of Markdown.

`right` is the share of people whose likeliest exact value is the true one, `without` the same from the cell alone;
`sure` is the share of whom a value has a probability above 0.9, and `without` the same of the cell. `noise` is right
less without, in standard errors, where exact values are drawn at random inside their cells, so that nothing is to be
found. Values are equally probable beforehand, or as frequent as in Adult, as a census would tell. `loss` is the median
relative error of random count queries.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import numpy as np
import pandas as pd

import maxent_cvx as mx

FEW = ["age", "sex", "race", "marital-status"]
NUMBERS = ["age", "education-num", "hours-per-week", "sex"]
EIGHT = ["age", "workclass", "education", "marital-status", "relationship", "race", "sex", "native-country"]
NAMES = {(4, "sex"): ", ".join(FEW), (4, "education-num"): ", ".join(NUMBERS), (8, "workclass"): "the eight"}
CASES = [
    (FEW, 2, "age"), (FEW, 5, "age"), (FEW, 20, "age"), (FEW, 5, "marital-status"), (NUMBERS, 2, "age"),
    (NUMBERS, 5, "age"), (NUMBERS, 20, "age"), (NUMBERS, 5, "hours-per-week"), (EIGHT, 5, "age"),
    (EIGHT, 5, "education"),
    (EIGHT, 5, "native-country"),
]  # fmt: skip


def case(adult: pd.DataFrame, qi: list[str], k: int, of: str, known: bool, queries: int) -> list[str]:
    """One row of the table."""
    algorithm = partial(mx.anonymize.mondrian, qi=qi, sa="salary", k=k)
    release = algorithm(adult)
    domain: dict[str, object] = {name: adult[name].unique() for name in qi}
    if known:
        domain[of] = adult[of].value_counts()
    begun = time.process_time()
    try:
        result = mx.attacks.downcoding(release, algorithm, of=of, domain=domain)
    except mx.MaxEntError as error:
        return [NAMES[len(qi), qi[1]], f"{k}", of, f"cannot be inferred: {error}"]
    seconds = time.process_time() - begun
    judged, idle = result.judge(adult), result.judge(drawn(adult, result, of))
    over = (idle.right - idle.baseline) / idle.standard_error if idle.standard_error else 0.0
    share = [
        float(result.records[p.max(axis=1) > 0.9].sum() / result.records.sum()) for p in (result.table, result.baseline)
    ]
    loss = mx.measures.query_error(release, adult, queries=queries)["error"].median()
    return [
        NAMES[len(qi), qi[1]], f"{k}", of, "as in Adult" if known else "uniform", f"{len(release.buckets):,}",
        f"{judged.right:.3f}", f"{judged.baseline:.3f}", f"{share[0]:.3f}", f"{share[1]:.3f}", f"{over:+.1f}",
        "yes" if isinstance(result.error, float) else "no", f"{loss:.3f}", f"{seconds:.1f}",
    ]  # fmt: skip


def drawn(adult: pd.DataFrame, result: mx.attacks.DowncodingResult, of: str) -> pd.DataFrame:
    """The same people with exact values drawn at random from what is assumed beforehand, inside their cells."""
    truth = pd.DataFrame(result._truth(adult), result.table.index)
    rng = np.random.default_rng(0)
    rows = []
    for label, n, p in zip(truth.index, truth.sum(axis=1), result.baseline.to_numpy(), strict=True):
        values = rng.choice(result.table.columns, int(n), p=p / p.sum())
        rows.append(pd.DataFrame({of: values}).assign(**dict(zip(truth.index.names, label, strict=True))))
    found = pd.concat(rows, ignore_index=True)
    others = {name: adult[name].iloc[0] for name in result.cells if name != of}  # the group is given: not looked at
    return found.assign(**others)


HEAD = [
    "attributes", "k", "inferred", "beforehand", "groups", "right", "without", "sure", "without", "noise", "exact",
    "loss", "seconds",
]  # fmt: skip


def main(arguments: list[str] | None = None) -> list[list[str]]:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, help="so many of Adult's; by default all")
    parser.add_argument("--cases", type=int, default=len(CASES), help="only the first so many")
    parser.add_argument("--queries", type=int, default=500)
    options = parser.parse_args(arguments)
    adult = mx.datasets.load_adult()
    if options.records is not None:
        adult = adult.sample(options.records, random_state=0)
    rows = []
    print(f"| {' | '.join(HEAD)} |", f"| {' | '.join(['---'] * len(HEAD))} |", sep="\n")
    for qi, k, of in CASES[: options.cases]:
        for known in (False, True):
            rows.append(case(adult, qi, k, of, known, options.queries))
            print(f"| {' | '.join(rows[-1])} |", flush=True)
    return rows


if __name__ == "__main__":
    main()
