"""How many people two releases without pseudonyms expose together: ``python -m tests.benchmarks.intersection``.

Two publishers draw from Adult, with so many people in both, and publish groups by Mondrian (k), or buckets by Anatomy
(l) or by similar linkage (r, with the prior by sex). Of the people in both, "exposed" is the share whose occupation is
the only one that both of their groups hold, "alone" the share whom one release exposes; "right" the share whose
likeliest value is the true one, "one release" that of the better release. ``--shuffled`` deals the values anew to each
release; ``--known`` tells the attack how many people are in both (Anatomy); ``--overall`` makes values as frequent as
in all of both releases, in Mondrian's groups, too.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np
import pandas as pd

import maxent_cvx as mx

QI, SA = ["age", "workclass", "education", "marital-status", "race", "sex"], "occupation"


def publications(n: int, both: int, shuffled: bool, seed: int) -> tuple[list[pd.DataFrame], pd.DataFrame]:
    """Two tables of n people each, and the records of those in both, as in the first."""
    adult, rng = mx.datasets.load_adult()[[*QI, SA]], np.random.default_rng(seed)
    drawn = adult.iloc[rng.permutation(len(adult))[: 2 * n - both]].reset_index(drop=True)
    tables = [drawn.iloc[:n], drawn.iloc[n - both :]]
    if shuffled:
        tables = [table.assign(**{SA: rng.permutation(table[SA])}) for table in tables]
    return tables, tables[0].iloc[n - both :]


def made(
    method: str, parameter: float, l: int | None, tables: Sequence[pd.DataFrame], people: pd.DataFrame
) -> list[object]:
    """Both releases; those of Mondrian with the voter list of all people."""
    if method == "anatomy":
        return [mx.anonymize.anatomy(t, qi=QI, sa=SA, l=parameter, seed=i) for i, t in enumerate(tables)]
    if method == "linkage":
        priors = [mx.QIDistribution.estimate(table, qi="sex", sa=SA, smoothing=1) for table in tables]
        return [
            mx.anonymize.similar_linkage(table, qi=QI, sa=SA, prior=prior, r=parameter, seed=i)
            for i, (table, prior) in enumerate(zip(tables, priors, strict=True))
        ]
    cells = [mx.anonymize.mondrian_table(table, qi=QI, sa=SA, k=parameter, l=l) for table in tables]
    return [mx.Release.from_generalized(one, qi=QI, sa=SA, population=people) for one in cells]


def row(method: str, parameter: float, l: int | None, arguments: argparse.Namespace) -> dict[str, object]:
    """One pair of releases, attacked and judged."""
    tables, both = publications(arguments.records, arguments.both, arguments.shuffled, arguments.seed)
    people = pd.concat(tables)[QI]
    releases = made(method, parameter, l, tables, people)
    begun = time.process_time()
    overlap = arguments.both if arguments.known and method == "anatomy" else None
    frequency = pd.concat(tables)[SA].value_counts() if arguments.overall else None
    result = mx.attacks.intersection(releases, overlap, prior=frequency)
    seconds = time.process_time() - begun
    inside = pd.MultiIndex.from_frame(both[QI]).isin(result.table.index)
    judged = result.judge(both[inside])
    certain = result.certain.reindex(pd.MultiIndex.from_frame(both[QI]))
    alone = [_certain_alone(release, both) for release in releases]
    calibration = judged.calibration.dropna()
    off = np.average((calibration["said"] - calibration["right"]).abs(), weights=calibration["records"])
    return {
        "method": method, "k, l or r": parameter, "l": l or "", "exposed": certain.notna().mean(), "alone": max(alone),
        "exposed and right": (certain.to_numpy() == both[SA].to_numpy()).mean(), "right": judged.right,
        "one release": judged.baseline, "standard error": judged.standard_error, "calibration off by": off,
        "impossible": 1 - inside.mean(), "seconds": seconds,
    }  # fmt: skip


def _certain_alone(release: mx.Release | mx.GroupedRelease, both: pd.DataFrame) -> float:
    """The share of the people in both whose value one release alone gives away."""
    alone = mx.attacks.intersection([release, release])
    return float(alone.certain.reindex(pd.MultiIndex.from_frame(both[QI])).notna().mean())


def main(arguments: Sequence[str] | None = None) -> pd.DataFrame:
    """Attack pairs of releases, one a method and parameter."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=17_581, help="of each release")
    parser.add_argument("--both", type=int, default=5_000, help="people in both")
    parser.add_argument("--k", type=int, nargs="*", default=[5, 10, 20, 30, 50], help="of Mondrian")
    parser.add_argument("--diverse", type=int, default=None, help="distinct values of Mondrian's groups")
    parser.add_argument("--l", type=int, nargs="*", default=[2, 3, 4, 5, 6], help="of Anatomy")
    parser.add_argument("--r", type=float, nargs="*", default=[2, 3], help="of similar linkage")
    parser.add_argument("--shuffled", action="store_true")
    parser.add_argument("--known", action="store_true")
    parser.add_argument("--overall", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    rows = [row("mondrian", k, given.diverse, given) for k in given.k]
    rows += [row("anatomy", l, None, given) for l in given.l]
    rows += [row("linkage", r, None, given) for r in given.r]
    table = pd.DataFrame(rows)
    print(table.round(3).to_string(index=False))
    return table


if __name__ == "__main__":
    main()
