"""Methods of anonymization against attacks, on UCI Adult:  python -m tests.benchmarks.attacks methods.

    methods         deFinetti and the worst case against every method, and the loss of utility
    intersection    two releases that share people
    minimality      the algorithm is known
    reconstruction  the records of a block of people from published tables
    definetti       the attack beside the true values, cross-fitted and calibrated, also where values were permuted

`right` is the share of people whose likeliest value is true, `without` the same without the attack, `claimed` the
probability that the attack gives it on average; `noise` is right less without, in standard errors, where the values
were shuffled before the release. `loss` is the median relative error of random count queries.

Of `definetti`, ``--how anatomy`` makes buckets of l; `mondrian` makes groups of at least 4 people with l values, and the
attacker has a voter list, so that exact quasi-identifiers are known; `series` are two Anatomy releases of the same
people, each attacked by itself; then two m-invariant and two history-guided releases, between which a quarter of the
people leaves and another quarter comes, attacked together. `says` is the mean probability of the likeliest value,
`error` the calibration error (the mean over tenths, weighed by records, of |says - right|). The rows `others' truth`
learn the logistic model from the true values of all people outside of the bucket's fold. In the rows `permuted` the
values were permuted among the people before publication, so that nothing can be learnt.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import maxent_cvx as mx
from maxent_cvx.attacks.definetti import BucketWorlds, Logistic

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


#: Quasi-identifiers of `definetti`, in the order of its published figures; the smallest group of Mondrian, the folds of
#: people, and fits of some steps each, after which the logistic model of known values does not change any more.
FITTED_QI = [name for name in (*mx.datasets.ADULT_QI, "education") if name != SA]
K, FOLDS, FITS = 4, 5, 10


def definetti(people: pd.DataFrame, given: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Every attack on the first people of Adult, for each l and seed."""
    adult = mx.datasets.load_adult().head(given.people)
    for l, seed in itertools.product(given.l, range(given.seeds)):
        permuted = adult.assign(**{SA: np.random.default_rng(seed).permutation(adult[SA])})
        for name, table in (("true", adult), ("permuted", permuted)):
            classifiers = ("logistic",) if name == "permuted" else ("naive Bayes", "logistic", "others' truth")
            for buckets, classifier in itertools.product(_publications(table, given.how, l, seed), classifiers):
                published = table.assign(Bucket=buckets)
                release = mx.Release.from_buckets(published, qi=FITTED_QI, sa=SA, bucket="Bucket")
                row = {"l": l, "seed": seed, "table": name, "classifier": classifier}
                yield row | _fitted(release, published, classifier, seed)
        if given.how == "series":
            yield from _fitted_to_series(adult, l, seed)


def _publications(table: pd.DataFrame, how: str, l: int, seed: int) -> list[pd.Series]:
    """The bucket of every record, for every publication."""
    if how == "mondrian":
        groups = mx.anonymize.mondrian_table(table, qi=FITTED_QI, sa=SA, k=K, l=l)
        return [groups[FITTED_QI].astype(str).groupby(FITTED_QI).ngroup()]
    exempt = int((table[SA].value_counts() > len(table) // l).sum())
    seeds = [seed, seed + 1000] if how == "series" else [seed]
    return [mx.anonymize.anatomy_buckets(table, qi=FITTED_QI, sa=SA, l=l, exempt=exempt, seed=each) for each in seeds]


def _fitted(release: Any, records: pd.DataFrame, classifier: str, seed: int, **options: Any) -> dict[str, object]:
    """One attack: how often it is right, how calibrated, and its processor seconds."""
    begun = time.process_time()
    if classifier == "others' truth":
        result = from_true_values(release, records, seed)
    else:
        options = {"calibrate": classifier == "logistic", "seed": seed, **options}
        result = mx.attacks.definetti(release, classifier=classifier, progress=False, **options)
    score = result.judge(records)
    tenths = score.calibration[score.calibration["records"] > 0]
    weight = tenths["records"] / tenths["records"].sum()
    return {
        "right": score.right, "says": weight @ tenths["said"],
        "error": weight @ (tenths["said"] - tenths["right"]).abs(), "baseline": score.baseline,
        **{name: getattr(result, name, None) for name in ("evidence", "p_value", "temperature")},
        "seconds": time.process_time() - begun,
    }  # fmt: skip


def from_true_values(release: mx.Release, published: pd.DataFrame, seed: int) -> mx.attacks.AttackResult:
    """P(s | bucket, QI tuple) by a logistic model that is learnt from the true values of people of other folds."""
    worlds = BucketWorlds(release)
    fold = np.random.default_rng(seed).permutation(len(release.buckets)) % FOLDS
    q = release.quasi_identifiers.get_indexer(pd.MultiIndex.from_frame(published[FITTED_QI]))
    s = release.sensitive_values.get_indexer(published[SA])
    fold_of_record = fold[release.buckets.get_indexer(published["Bucket"])]
    p = shares = worlds.equally_likely()
    for number in range(FOLDS):
        truth = np.zeros((len(release.quasi_identifiers), len(release.sensitive_values)))
        np.add.at(truth, (q[fold_of_record != number], s[fold_of_record != number]), 1.0)
        model = Logistic(release)
        log_f = [model.learnt(truth)[0] for _ in range(FITS)][-1]
        inferred = worlds.posterior(np.vstack([log_f, np.zeros(log_f.shape[1])]), 2e8)[0]
        p = np.where((fold[worlds.rows[0]] == number)[:, None], inferred, p)
    table, baseline = (pd.DataFrame(each, worlds.index, release.sensitive_values) for each in (p, shares))
    records = pd.Series(worlds.records, worlds.index)
    return mx.attacks.AttackResult(table=table, baseline=baseline, records=records, error=0.0)


def _fitted_to_series(table: pd.DataFrame, l: int, seed: int) -> Iterator[dict[str, object]]:
    """Attacks on both releases of a series together."""
    people, quarter = table.assign(Person=np.arange(len(table))), len(table) // 4
    earlier = people.iloc[: 3 * quarter]
    buckets = mx.anonymize.anatomy_buckets(earlier, qi=FITTED_QI, sa=SA, l=l, seed=seed)
    first = mx.Release.from_buckets(earlier.assign(Bucket=buckets), qi=FITTED_QI, sa=SA, bucket="Bucket", id="Person")
    later = people.iloc[quarter:][[*FITTED_QI, SA, "Person"]]
    for method, name in (("m_invariant", "invariant"), ("history_guided", "guided")):
        series = mx.ReleaseSeries([first, mx.anonymize.republish(first, later, method=method, l=l, seed=seed)])
        for classifier in ("naive Bayes", "logistic"):
            row = {"l": l, "seed": seed, "table": name, "classifier": classifier}
            yield row | _fitted(series, people, classifier, 0, calibrate=False)


ATTACKS = {function.__name__: function for function in (methods, intersection, minimality, reconstruction, definetti)}


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attack", choices=list(ATTACKS))
    parser.add_argument(
        "--people", type=int, default=6_000, help="drawn from Adult (`definetti`: the first); 30162 are all"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument(
        "--tables", type=int, default=2_000, help="tables that are sampled where the algorithm is known"
    )
    parser.add_argument("--block", type=int, default=30, help="people of a block that is reconstructed")
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each block")
    parser.add_argument("--how", choices=["anatomy", "mondrian", "series"], default="anatomy", help="of `definetti`")
    parser.add_argument("--l", type=int, nargs="+", default=[2, 3, 4, 5, 6], help="of `definetti`")
    parser.add_argument("--seeds", type=int, default=3, help="of `definetti`")
    given = parser.parse_args(arguments)
    people = mx.datasets.load_adult().sample(given.people, random_state=given.seed).reset_index(drop=True)
    table = pd.DataFrame(ATTACKS[given.attack](people, given))
    print(table.to_string(index=False, float_format="{:.3f}".format))
    return table


if __name__ == "__main__":
    main()
