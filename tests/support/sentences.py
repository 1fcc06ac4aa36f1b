"""Random sentences about people and their values, with what they say of a world; and worlds by enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from maxent_cvx.worlds.sentences import Sentence, at_least, at_most, exactly, has

#: Whether a sentence is true, of who has what.
Truth = Callable[[Mapping[str, object]], bool]


def random_sentence(
    rng: np.random.Generator, names: Sequence[str], values: Sequence[object], depth: int = 2
) -> tuple[Sentence, Truth]:
    """Draw a sentence, and say what it means without its own help."""
    if depth == 0 or rng.random() < 0.25:
        who, what = str(rng.choice(names)), values[rng.integers(len(values))]
        return has(who, what), lambda world: world[who] == what
    kind = rng.choice(["and", "or", "not", "implies", "exactly", "least", "most"])
    n = 1 if kind == "not" else 2 if kind in ("and", "or", "implies") else int(rng.integers(1, 4))
    drawn = [random_sentence(rng, names, values, depth - 1) for _ in range(n)]
    if kind in ("exactly", "least", "most"):  # which count distinct sentences
        drawn = list({sentence: (sentence, truth) for sentence, truth in drawn}.values())
        n = len(drawn)
    parts, true = [sentence for sentence, _ in drawn], [truth for _, truth in drawn]
    k = int(rng.integers(0, n + 1))

    def number(world: Mapping[str, object]) -> int:
        return sum(truth(world) for truth in true)

    made: dict[str, tuple[Callable[[], Sentence], Truth]] = {
        "and": (lambda: parts[0] & parts[1], lambda world: number(world) == 2),
        "or": (lambda: parts[0] | parts[1], lambda world: number(world) > 0),
        "not": (lambda: ~parts[0], lambda world: number(world) == 0),
        "implies": (lambda: parts[0].implies(parts[1]), lambda world: not true[0](world) or true[1](world)),
        "exactly": (lambda: exactly(k, parts), lambda world: number(world) == k),
        "least": (lambda: at_least(k, parts), lambda world: number(world) >= k),
        "most": (lambda: at_most(k, parts), lambda world: number(world) <= k),
    }
    make, truth = made[str(kind)]
    return make(), truth


def worlds_of_records(
    records: pd.DataFrame, people: Mapping[str, str], f: pd.DataFrame | None
) -> Iterator[tuple[dict[str, object], float]]:
    """What named people have in every world of records (Q, S, B), and what it counts: who is which record, too."""
    q = records["Q"].to_numpy()
    owners = [
        own
        for own in itertools.product(*(np.flatnonzero(q == of) for of in people.values()))
        if len(set(own)) == len(own)
    ]
    hands = [set(itertools.permutations(bucket["S"])) for _, bucket in records.groupby("B", sort=False)]
    for dealt in itertools.product(*hands):
        values = [value for hand in dealt for value in hand]
        weight = 1.0 if f is None else float(np.prod([f.loc[of, value] for of, value in zip(q, values, strict=True)]))
        if weight > 0:
            for own in owners:
                yield {name: values[record] for name, record in zip(people, own, strict=True)}, weight


def people_by_enumeration(
    records: pd.DataFrame, people: Mapping[str, str], f: pd.DataFrame | None, truths: Sequence[Truth]
) -> pd.DataFrame | None:
    """P(s | person) over all worlds of records in which everything is true; None if there are none."""
    share, total = pd.DataFrame(0.0, index=list(people), columns=sorted(records["S"].unique())), 0.0
    for world, weight in worlds_of_records(records, people, f):
        if all(truth(world) for truth in truths):
            total += weight
            for name, value in world.items():
                share.loc[name, value] += weight
    return share / total if total > 0 else None


def random_family(
    rng: np.random.Generator,
) -> tuple[pd.DataFrame, dict[str, str], pd.DataFrame | None, list[tuple[Sentence, Truth]]]:
    """Draw records in up to three buckets, some of them named, a prior (with zeros in some) or none, and sentences."""
    n_buckets = int(rng.integers(1, 4))
    sizes = rng.integers(1, 4 if n_buckets == 3 else 5, n_buckets)
    n, described = int(sizes.sum()), list("abcd")[: rng.integers(1, 5)]
    values = ["cold", "flu", "hiv"]
    records = pd.DataFrame(
        {"Q": rng.choice(described, n), "S": rng.choice(values, n), "B": np.repeat(np.arange(n_buckets), sizes)}
    )
    named = rng.choice(n, int(rng.integers(1, min(4, n) + 1)), replace=False)
    people = {name: str(records["Q"][i]) for name, i in zip(["Ann", "Bob", "Cat", "Dan"], named, strict=False)}
    f = None
    if rng.random() < 0.5:
        p = rng.dirichlet(np.ones(3), len(described))
        if rng.random() < 0.4:
            p[rng.random(p.shape) < 0.25] = 0.0
            p[p.sum(axis=1) == 0] = 1.0
        f = pd.DataFrame(p / p.sum(axis=1, keepdims=True), index=pd.Index(described, name="Q"), columns=values)
    occur = sorted(records["S"].unique())
    return records, people, f, [random_sentence(rng, list(people), occur) for _ in range(rng.integers(0, 4))]
