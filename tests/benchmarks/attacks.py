"""Methods of anonymization against attacks, on UCI Adult:  python -m tests.benchmarks.attacks methods.

    methods         deFinetti and the worst case against every method, and the loss of utility
    intersection    two releases that share people
    minimality      the algorithm is known
    reconstruction  the records of a block of people from published tables

`right` is the share of people whose likeliest value is true, `without` the same without the attack, `claimed` the
probability that the attack gives it on average; `noise` is right less without, in standard errors, where the values
were shuffled before the release. `loss` is the median relative error of random count queries.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import maxent_cvx as mx

QI = ["age", "workclass", "education", "marital-status", "relationship", "race", "sex", "native-country"]
SA = "occupation"
#: A release, the records that an attack on it is compared with, and a release and records that are asked queries.
Published = tuple[Any, pd.DataFrame, Any, pd.DataFrame]


def in_buckets(people: pd.DataFrame, bucket: pd.Series) -> Published:
    """Publish people in given buckets; 0 is left out."""
    records = people.assign(Bucket=bucket)[(bucket > 0).to_numpy()]
    release = mx.Release.from_buckets(records, qi=QI, sa=SA, bucket="Bucket")
    return release, records, release, records


def anatomy(people: pd.DataFrame, l: int) -> Published:
    return in_buckets(people, mx.anonymize.anatomy_buckets(people, qi=QI, sa=SA, l=l))


def mondrian(people: pd.DataFrame, listed: bool) -> Published:
    """Generalised values, or, if everybody is on a voter list, the groups with exact values."""
    table = mx.anonymize.mondrian_table(people, qi=QI, sa=SA, k=6, l=3)
    text = table.astype(dict.fromkeys(QI, str))
    group = text.groupby(QI, sort=False).ngroup() + 1
    if listed:
        return in_buckets(people, group)
    release, records, *_ = in_buckets(text, group)
    return release, records, mx.Release.from_generalized(table, qi=QI, sa=SA), people


def similar_linkage(people: pd.DataFrame, known: str, r: float) -> Published:
    prior = mx.QIDistribution.estimate(people, qi=known, sa=SA, smoothing=1)
    return in_buckets(people, mx.anonymize.similar_linkage_groups(people, qi=QI, sa=SA, prior=prior, r=r))


METHODS: dict[str, Callable[[pd.DataFrame], Published]] = {
    **{f"Anatomy, l = {l}": partial(anatomy, l=l) for l in (3, 5, 7)},
    "Mondrian, k = 6, l = 3": partial(mondrian, listed=False),
    "Mondrian, and a voter list": partial(mondrian, listed=True),
    "similar linkage, r = 3, by sex": partial(similar_linkage, known="sex", r=3),
    "similar linkage, r = 2, by education": partial(similar_linkage, known="education", r=2),
}


def methods(people: pd.DataFrame, given: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Attack every method, and the same method on shuffled values."""
    shuffled = people.assign(**{SA: np.random.default_rng(0).permutation(people[SA])})
    for name, publish in METHODS.items():
        try:
            release, records, asked, original = publish(people)
            noise, noise_records, *_ = publish(shuffled)
        except mx.TableError as error:
            yield {"method": name, "reason": str(error)}
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a classifier that stops early
            attack, idle = mx.attacks.definetti(release), mx.attacks.definetti(noise)
        judged, nothing = attack.judge(records), idle.judge(noise_records)
        worst = mx.attacks.worst_case(release, k=range(4))["disclosure"]
        error = mx.measures.query_error(asked, original, queries=given.queries, attributes=QI)["error"]
        yield {
            "method": name, "loss": error.median(), "right": judged.right, "without": judged.baseline,
            "claimed": np.average(attack.table.max(axis=1), weights=attack.records),
            "noise": (nothing.right - nothing.baseline) / (nothing.standard_error or np.nan),
            **{f"k = {k}": p for k, p in enumerate(worst)},
        }  # fmt: skip


def intersection(people: pd.DataFrame, given: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Two releases that share a third of their people; `certain` is the share of these whose value is certain."""
    qi = [name for name in QI if name not in ("relationship", "native-country")]
    n, both = int(len(people) / 1.67), int(len(people) / 6)
    tables = [people.iloc[:n], people.iloc[n - both : 2 * n - both]]
    shared = tables[0].iloc[n - both :]
    for k in (5, 20):
        cells = [mx.anonymize.mondrian_table(table, qi=qi, sa=SA, k=k) for table in tables]
        voters = pd.concat(tables)[qi]
        releases = [mx.Release.from_generalized(table, qi=qi, sa=SA, population=voters) for table in cells]
        yield _overlap(f"Mondrian, k = {k}", releases, shared, qi)
    for l in (2, 3, 4):
        releases = [mx.anonymize.anatomy(table, qi=qi, sa=SA, l=l, seed=i) for i, table in enumerate(tables)]
        yield _overlap(f"Anatomy, l = {l}", releases, shared, qi)


def _overlap(name: str, releases: list[Any], shared: pd.DataFrame, qi: list[str]) -> dict[str, object]:
    result = mx.attacks.intersection(releases)
    tuples = pd.MultiIndex.from_frame(shared[qi])
    judged = result.judge(shared[tuples.isin(result.table.index)])
    certain = result.certain.reindex(tuples).notna().mean()
    return {"method": name, "certain": certain, "right": judged.right, "better release alone": judged.baseline}


def minimality(people: pd.DataFrame, given: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Mondrian's algorithm is known; `moved` counts people for whom a probability moves by more than 0.01.

    The algorithm is a black box that is called for every sampled table, so that only tens of people are feasible.
    """
    people = people.head(40)
    for k in (2, 5):
        sa, l = "salary", 2
        algorithm = partial(mx.anonymize.mondrian, qi=["age", "sex"], sa=sa, k=k, l=l)
        result = mx.attacks.minimality(algorithm(people), algorithm, population=people, n=given.tables)
        moved = (result.table - result.baseline).abs().max(axis=1)
        judged = result.judge(people)
        yield {
            "sensitive": sa, "k": k, "l": l, "moved": int(result.records[moved > 0.01].sum()), "largest": moved.max(),
            "right": judged.right, "without": judged.baseline,
        }  # fmt: skip


#: Published tables of a block; each level adds to those above.
LEVELS: dict[str, list[Any]] = {
    "number, sex, race": [[], "sex", "race"],
    "sex and race": [["sex", "race"]],
    "marital status": ["marital"],
    "age classes": [{"age": range(5)}, {"age": range(18)}, {"age": range(64, 126)}],
    "all three": [["sex", "race", "marital"]],
    "ages in tens by sex and race": [["decade", "sex", "race"]],
    "ages in fives by all": [["five", "sex", "race", "marital"]],
}


def reconstruction(people: pd.DataFrame, given: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Random blocks as in Garfinkel, Abowd and Martindale (2019); `certain` people are in every solution."""
    for level in range(len(LEVELS)):
        by = [table for tables in list(LEVELS.values())[: level + 1] for table in tables]
        rows = [_block(given.block, seed, by, given.time_limit) for seed in range(given.blocks)]
        yield {"added": list(LEVELS)[level], **pd.DataFrame(rows).mean()}


def _block(n: int, seed: int, by: list[Any], time_limit: float) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 95, n)
    married = (age >= 15) & (rng.random(n) < 0.6)
    block = pd.DataFrame({
        "age": age, "sex": rng.choice(["F", "M"], n), "race": rng.choice(["black", "white"], n),
        "marital": np.where(married, "married", "single"),
    }).assign(decade=age // 10, five=age // 5)  # fmt: skip
    values = [range(126), ["F", "M"], ["black", "white"], ["married", "single"]]
    domain = pd.MultiIndex.from_product(values, names=["age", "sex", "race", "marital"]).to_frame(index=False)
    domain = domain[(domain["age"] >= 15) | (domain["marital"] == "single")]
    domain = domain.assign(decade=domain["age"] // 10, five=domain["age"] // 5)
    tables = mx.attacks.tabulate(block, by, of="age", seed=seed)
    try:
        result = mx.attacks.reconstruct(tables, domain, limit=3, time_limit=time_limit)
    except mx.NotDecided:
        return {"tables": len(tables), "solved": 0.0}
    judged = result.judge(block)
    certain = len(result.certain) if result.decided else np.nan
    return {"tables": len(tables), "solved": 1.0, "certain": certain, "right": judged.right, "without": judged.baseline}


ATTACKS = {function.__name__: function for function in (methods, intersection, minimality, reconstruction)}


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attack", choices=list(ATTACKS))
    parser.add_argument("--people", type=int, default=6_000, help="drawn from Adult at random; 30162 are all")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument(
        "--tables", type=int, default=2_000, help="tables that are sampled where the algorithm is known"
    )
    parser.add_argument("--block", type=int, default=30, help="people of a block that is reconstructed")
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each block")
    given = parser.parse_args(arguments)
    people = mx.datasets.load_adult().sample(given.people, random_state=given.seed).reset_index(drop=True)
    table = pd.DataFrame(ATTACKS[given.attack](people, given))
    print(table.to_string(index=False, float_format="{:.3f}".format))
    return table


if __name__ == "__main__":
    main()
