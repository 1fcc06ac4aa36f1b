"""Which disguise withstands which attack, and at what loss: ``python -m tests.benchmarks.attacks``, rows of Markdown.

Adult's occupations, or some people's of it, are published in every way. `right` is the share of people whose likeliest
value is the true one, `without` the same without the attack, `said` what the attack believes of it on average; `noise`
is right less without where occupations are shuffled before they are published, in standard errors. `loss` is the
median relative error of random count queries. Another attack is a function from what is published to an AttackResult,
in ATTACKS; another disguise one from people to what is published, in DISGUISES.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

import maxent_cvx as mx

from .definetti import ATTRIBUTES, logistic

QI, SA = ATTRIBUTES["eight"], "occupation"


@dataclass(frozen=True)
class Published:
    """What is published.

    Attributes
    ----------
    view : View
        To be attacked.
    records : DataFrame
        With the labels that the attack's table has, the secret buckets, to judge it.
    queried : Release or Posterior
        To be asked, beside the `original`.
    original : DataFrame
    """

    view: mx.View
    records: pd.DataFrame
    queried: mx.Release | mx.Posterior
    original: pd.DataFrame


def in_buckets(people: pd.DataFrame, bucket: pd.Series) -> Published:
    """Publish in buckets that are given by number; 0 is left out."""
    records = people.assign(Bucket=bucket)[(bucket > 0).to_numpy()]
    release = mx.Release.from_buckets(records, qi=QI, sa=SA, bucket="Bucket")
    return Published(release, records, release, records)


def anatomy(people: pd.DataFrame, l: int) -> Published:
    return in_buckets(people, mx.anonymize.anatomy_buckets(people, qi=QI, sa=SA, l=l))


def mondrian(people: pd.DataFrame, k: int, l: int, listed: bool) -> Published:
    """Generalise; where a voter list is at hand, everybody's own quasi-identifiers are known beside the group."""
    table = mx.anonymize.mondrian_table(people, qi=QI, sa=SA, k=k, l=l)
    alike = table.astype(dict.fromkeys(QI, str))
    group = alike.groupby(QI, sort=False).ngroup() + 1
    if listed:
        return in_buckets(people, group)
    blind = in_buckets(alike, group)
    release = mx.Release.from_generalized(table, qi=QI, sa=SA)
    assert isinstance(release, mx.Release)
    return Published(blind.view, blind.records, release, people)


def similar_linkage(people: pd.DataFrame, known: list[str], r: float) -> Published:
    prior = mx.QIDistribution.estimate(people, qi=known, sa=SA, smoothing=1)
    return in_buckets(people, mx.anonymize.similar_linkage_groups(people, qi=QI, sa=SA, prior=prior, r=r))


def republished(people: pd.DataFrame, method: str) -> Published:
    """The second of two releases: a sixth of the people has left, a sixth is new."""
    n = len(people)
    everybody = people.assign(Person=np.arange(n))
    first, second = everybody.iloc[: 6 * n // 7], everybody.iloc[n // 7 :]
    bucket = mx.anonymize.anatomy_buckets(first, qi=QI, sa=SA, l=3)
    before = mx.Release.from_buckets(first.assign(Bucket=bucket), qi=QI, sa=SA, bucket="Bucket", id="Person")
    release = mx.anonymize.republish(before, second, method=method, l=3)
    assert release.persons is not None
    at = release.persons.bucket[release.persons.names.get_indexer(pd.Index(second["Person"]))]
    return Published(release, second.assign(Bucket=release.buckets[at]), mx.MaxEnt(release).solve(), second)


def randomized(people: pd.DataFrame, kept: float) -> Published:
    """Everybody's occupation, which is kept, or else drawn from all."""
    values = sorted(people[SA].unique())
    flip = pd.DataFrame(kept * np.eye(len(values)) + (1 - kept) / len(values), index=values, columns=values)
    told = mx.anonymize.randomize(people, sa=SA, transition=flip)
    records = people[[*QI, SA]].assign(Told=told)
    view = mx.QITable(records, qi=[*QI, "Told"], sa=SA, sa_values=values)
    post = mx.MaxEnt(view).add(mx.RandomizedResponse(flip, reported="Told", confidence=0.95)).solve()
    return Published(view, records, post, people)


DISGUISES: dict[str, Callable[[pd.DataFrame], Published]] = {
    "Anatomy, l = 3": lambda people: anatomy(people, 3),
    "Anatomy, l = 5": lambda people: anatomy(people, 5),
    "Anatomy, l = 7": lambda people: anatomy(people, 7),
    "Mondrian, k = 6, l = 3": lambda people: mondrian(people, 6, 3, False),
    "Mondrian, k = 6, l = 3, and a voter list": lambda people: mondrian(people, 6, 3, True),
    "similar linkage, r = 3, prior by sex": lambda people: similar_linkage(people, ["sex"], 3),
    "similar linkage, r = 2, prior by education": lambda people: similar_linkage(people, ["education"], 2),
    "republish, m-invariant, l = 3": lambda people: republished(people, "m_invariant"),
    "republish, history-guided, l = 3": lambda people: republished(people, "history_guided"),
    "randomize, 1/3 kept": lambda people: randomized(people, 1 / 3),
}
ATTACKS: dict[str, Callable[[Published], mx.attacks.AttackResult]] = {
    "deFinetti": lambda published: mx.attacks.definetti(published.view),  # type: ignore[arg-type]
    "deFinetti, logistic regression": lambda published: mx.attacks.definetti(
        published.view,  # type: ignore[arg-type]
        logistic(),
        iterations=15,
    ),
}


#: The columns of the table.
HEAD = ["disguise", "loss", "attack", "right", "without", "said", "noise"]


def row(*cells: str) -> str:
    """A row of Markdown, its last cells empty if there are no more."""
    return f"| {' | '.join([*cells, *[''] * (len(HEAD) - len(cells))])} |"


def measured(
    attack: Callable[[Published], mx.attacks.AttackResult], published: Published, noise: Published
) -> list[str]:
    """Attack what is published, and the same of shuffled values: the cells of a row, or why there are none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, nothing = attack(published), attack(noise)
    except mx.MaxEntError as error:
        return [f"does not apply: {error}"]
    judged, idle = found.judge(published.records), nothing.judge(noise.records)
    said = np.average(found.table.max(axis=1), weights=found.records)
    over = (idle.right - idle.baseline) / idle.standard_error if idle.standard_error else 0.0
    return [f"{judged.right:.3f}", f"{judged.baseline:.3f}", f"{said:.3f}", f"{over:+.1f}"]


def worst(published: Published) -> list[str]:
    """What the worst 0 to 3 implications disclose, or why that cannot be asked."""
    try:
        table = mx.attacks.worst_case(published.view, k=range(4))  # type: ignore[arg-type]
    except mx.MaxEntError as error:
        return [f"does not apply: {error}"]
    return [f"{p:.3f}" for p in table["disclosure"]]


def main(arguments: list[str] | None = None) -> list[str]:
    """Publish in every way, attack in every way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=6000, help="drawn at random; 30162 are all")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--disguises", nargs="+", default=list(DISGUISES), metavar="NAME")
    parser.add_argument("--attacks", nargs="+", default=list(ATTACKS), metavar="NAME")
    parser.add_argument("--worst", action="store_true", help="the worst 0 to 3 implications instead of attacks")
    parser.add_argument("--seconds", action="store_true", help="print how long each row took, too")
    options = parser.parse_args(arguments)
    people = mx.datasets.load_adult()[[*QI, SA]].sample(options.people, random_state=0).reset_index(drop=True)
    shuffled = people.assign(**{SA: np.random.default_rng(0).permutation(people[SA])})
    head = ["disguise", "loss", *(f"k = {k}" for k in range(4))] if options.worst else HEAD
    rows = [row(*head), row(*["---"] * len(HEAD))]
    print(*rows, sep="\n")
    for name in options.disguises:
        begun = time.process_time()
        try:
            published, noise = DISGUISES[name](people), DISGUISES[name](shuffled)
        except mx.MaxEntError as error:
            rows.append(row(name, f"cannot be made: {error}"))
            print(rows[-1], flush=True)
            continue
        asked = mx.measures.query_error(published.queried, published.original, queries=options.queries, attributes=QI)
        if options.worst:
            rows.append(row(name, f"{asked['error'].median():.2f}", *worst(published)))
            print(rows[-1], flush=True)
            continue
        for attack in options.attacks:
            cells = measured(ATTACKS[attack], published, noise)
            rows.append(row(name, f"{asked['error'].median():.2f}", attack, *cells))
            print(rows[-1], f"{time.process_time() - begun:.0f} s" * options.seconds, flush=True)
    return rows


if __name__ == "__main__":
    main()
