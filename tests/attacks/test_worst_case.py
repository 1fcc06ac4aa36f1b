"""The worst case of k implications and the skyline of three kinds of knowledge, beside all formulas over all worlds."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import GroupTooLarge, StatementError, UnknownName
from maxent_cvx.releases.partitioned import divided
from support.formulas import Worlds, random_worlds
from support.series import patients

#: The introduction of Martin et al.: the diseases of five men and of five women.
PAPER = (["flu", "flu", "lung", "lung", "mumps"], ["flu", "flu", "breast", "ovary", "heart"])


def check(worlds: Worlds, table: pd.DataFrame, expected: dict[int, Fraction]) -> None:
    """The table has these probabilities, and its sentences, at most k of them, reach them."""
    for row in table.itertuples():
        assert row.disclosure == pytest.approx(float(expected[row.k]), abs=1e-15), (worlds.buckets, row.k)
        assert (row.disclosure == 1) == (expected[row.k] == 1)
        assert len(row.sentences) <= row.k
        assert all(" -> " in sentence for sentence in row.sentences)
        assert worlds.probability(f"{row.person}={row.value}", row.sentences) == expected[row.k]


def some_sensitive(rng: np.random.Generator, worlds: Worlds) -> list[str]:
    """Some of the values, one at least."""
    values = sorted({value for _, _, value in worlds.atoms})
    return [str(value) for value in rng.permutation(values)[: rng.integers(1, len(values) + 1)]]


@pytest.mark.parametrize(
    ("seed", "least", "most"), [*((seed, 2, 12) for seed in range(5)), *((seed, 6, 30) for seed in range(1000, 1004))]
)
def test_equal_to_all_formulas(seed: int, least: int, most: int) -> None:
    """No conjunction of k implications gives a larger probability than the worst case."""
    rng = np.random.default_rng(seed)
    worlds = random_worlds(rng, least, most)
    sensitive = some_sensitive(rng, worlds)
    implications = worlds.implications()
    expected = {k: worlds.worst_formula(implications, k, sensitive) for k in range(4)}
    if most == 12:  # few enough worlds to leave no formula out
        assert expected == {k: worlds.worst(worlds.unions(implications, k), sensitive) for k in range(4)}
    check(worlds, mx.attacks.worst_case(worlds.release(), range(4), sensitive=sensitive), expected)


def parts(total: int, largest: int) -> list[tuple[int, ...]]:
    """All ways to write a number as a sum of falling numbers."""
    if not total:
        return [()]
    return [(c, *rest) for c in range(min(total, largest), 0, -1) for rest in parts(total - c, c)]


def avoided(counts: list[int], sizes: tuple[int, ...]) -> Fraction:
    """P(person after person has none of the c first values), c being the falling sizes."""
    n, p = sum(counts), Fraction(1)
    for i, c in enumerate(sizes):
        p *= Fraction(max(n - i - sum(counts[:c]), 0), n - i) if i < n else 0
    return p


def odds_with_target(counts: list[int], s: int, m: int) -> Fraction:
    """The least P(none of m atoms) / P(target has s), over all sizes: the target avoids s and the first other values.

    P(the target avoids them, and others theirs) = P(it avoids the others, and ...) - P(it has s, and ...).
    """
    n, result = sum(counts), []
    for own in range(m):
        first = [v for v in range(len(counts)) if v != s][:own]
        for sizes in parts(m - 1 - own, m):
            if s in range(own):  # its values are the first own + 1
                p = avoided(counts, tuple(sorted([*sizes, own + 1], reverse=True)))
            else:
                rest = [count - (v == s) for v, count in enumerate(counts)]
                has_s = Fraction(counts[s], n) * avoided(rest, sizes)
                p = avoided(counts, tuple(sorted([*sizes, len(first)], reverse=True))) - has_s
            result.append(p * n / counts[s])
    return min(result)


@pytest.mark.parametrize("seed", range(4))
def test_many_buckets(seed: int) -> None:
    """With many buckets, the worst case is that of trying every bucket and all sizes of sets of values."""
    rng = np.random.default_rng(seed)
    shares, largest = rng.dirichlet(np.ones(5)), 4 + 4 * (seed % 2)  # small ones are often alike
    buckets = [list(map(str, rng.choice(list("abcde"), rng.integers(3, largest + 1), p=shares))) for _ in range(16)]
    people = pd.DataFrame([(b, s) for b, values in enumerate(buckets) for s in values], columns=["b", "s"])
    release = mx.Release.from_buckets(people.assign(q="x"), qi="q", sa="s", bucket="b")
    sensitive = list(people["s"].unique()[: 1 + seed % 3])
    most = 4
    without, odds = [Fraction(1)] + [Fraction(1)] * most, [Fraction(10**6)] * (most + 1)
    for values in buckets:
        order = sorted(set(values), key=lambda v: (-values.count(v), v not in sensitive, v))
        counts = [values.count(v) for v in order]
        here = [min(avoided(counts, sizes) for sizes in parts(m, m)) for m in range(most + 1)]
        ranks = [order.index(v) for v in sensitive if v in order]
        with_target = [min(odds_with_target(counts, s, m + 1) for s in ranks) for m in range(most + 1)] if ranks else []
        odds = [
            min(
                [odds[m - j] * here[j] for j in range(m + 1)]
                + [with_target[m - j] * without[j] for j in range(m + 1) if ranks]
            )
            for m in range(most + 1)
        ]
        without = [min(without[m - j] * here[j] for j in range(m + 1)) for m in range(most + 1)]
    table = mx.attacks.worst_case(release, range(most + 1), sensitive=sensitive)
    expected = [float(1 / (1 + min(odds[: k + 1]))) for k in range(most + 1)]
    np.testing.assert_allclose(table["disclosure"], expected, atol=1e-15)


def test_the_papers_example() -> None:
    """2/5 without knowledge; two in three after one implication; 10/19 if Hannah's flu would be Charlie's."""
    worlds = Worlds(PAPER)
    table = mx.attacks.worst_case(worlds.release(), range(3))
    assert table["disclosure"].to_list() == [2 / 5, 2 / 3, 1]
    check(worlds, table, dict(enumerate([Fraction(2, 5), Fraction(2, 3), Fraction(1)])))
    charlie, hannah = "person 1 of bucket 0=flu", "person 1 of bucket 1=flu"
    assert worlds.probability(charlie, [f"{hannah} -> {charlie}"]) == Fraction(10, 19)


def test_what_is_not_certain_is_not_1() -> None:
    """An implication that leaves a doubt of 5 in 10^17, less than doubles near 1 can show, makes nobody certain."""
    people = pd.DataFrame({"q": "x", "s": ["a", "b", "c"], "b": 0, "n": [2 * 10**8, 1, 1]})
    release = mx.Release.from_buckets(people, qi="q", sa="s", bucket="b", count="n")
    table = mx.attacks.worst_case(release, [0, 1, 2])
    assert table["disclosure"].to_list() == [1 - 2 / (2 * 10**8 + 2), np.nextafter(1.0, 0.0), 1.0]
    assert table["sentences"][1] == ("person 2 of bucket 0=a -> person 1 of bucket 0=a",)


def test_wrong_arguments() -> None:
    """Only a release without pseudonyms and counterfeits has a worst case; values must occur in it."""
    release, series = Worlds(PAPER).release(), patients()
    partitioned = divided(release, 2)
    qi_table = pd.DataFrame({"q": ["x", "x"], "b": [1, 1]})
    sa_table = pd.DataFrame({"s": ["a", "b", "c"], "b": [1, 1, 1]})
    fake = mx.Release.from_tables(qi_table, sa_table, qi="q", sa="s", bucket="b", counterfeits=True)
    many = mx.Release.from_buckets(pd.DataFrame({"q": "x", "s": range(200), "b": 0}), qi="q", sa="s", bucket="b")
    for error, change in [
        (StatementError, {"release": series}),
        (StatementError, {"release": partitioned}),
        (StatementError, {"release": series.releases[0]}),
        (StatementError, {"release": fake}),
        (UnknownName, {"sensitive": ["fly"]}),
        (GroupTooLarge, {"release": many, "k": 150}),
        (StatementError, {"k": -1}),
        (StatementError, {"k": []}),
    ]:
        with pytest.raises(error):
            mx.attacks.worst_case(**{"release": release, "k": 1, **change})
    assert mx.attacks.worst_case(mx.Release.from_partitions(partitioned), 1)["disclosure"].item() == 2 / 3


# -- skyline ------------------------------------------------------------------------------------------------------------


def worst(worlds: Worlds, numbers: tuple[int, int, int], sensitive: set[str]) -> Fraction:
    """The largest P(target) over all targets, l values that it has not, k others' values, and m relatives."""
    best = Fraction(0)
    people = sorted({(b, i) for b, i, _ in worlds.atoms})
    for (bucket, person, value), target in worlds.atoms.items():
        if person or value not in sensitive:  # people of a bucket are alike
            continue
        not_had = [bits for (b, i, v), bits in worlds.atoms.items() if (b, i) == (bucket, 0) and v != value]
        without = worlds.unions(np.array([*not_had, 0]), numbers[0])
        else_ = [who for who in people if who != (bucket, 0)]
        for family in itertools.combinations(else_, min(numbers[2], len(else_))):
            related = [worlds.atoms.get((*who, value), 0) & ~target for who in family]
            others = [
                worlds.all & ~bits for (b, i, _), bits in worlds.atoms.items() if (b, i) not in {*family, (bucket, 0)}
            ]
            known = worlds.unions(np.array([*others, 0]), numbers[1])
            for bits in map(int, np.unique(np.bitwise_or.outer(known, without))):
                if kept := worlds.all & ~(bits | int(np.bitwise_or.reduce(np.array([*related, 0])))):
                    best = max(best, Fraction((kept & target).bit_count(), kept.bit_count()))
    return best


@pytest.mark.parametrize("seed", range(5))
def test_skyline_is_equal_to_all_knowledge(seed: int) -> None:
    """Nobody with so many sentences of each kind infers more, and the listed sentences reach the disclosure."""
    rng = np.random.default_rng(seed)
    worlds = random_worlds(rng, 2, 60)
    sensitive = some_sensitive(rng, worlds)
    table = mx.attacks.skyline(worlds.release(), range(3), range(3), range(3), sensitive=sensitive)
    assert len(table) == 27
    for row in table.itertuples():
        numbers = row.target, row.others, row.same
        expected = worst(worlds, numbers, set(sensitive))
        assert row.disclosure == pytest.approx(float(expected), abs=1e-15), (worlds.buckets, numbers)
        assert (row.disclosure == 1) == (expected == 1)
        assert worlds.probability(f"{row.person}={row.value}", row.sentences) == expected
        negated = sum(sentence.startswith("not ") for sentence in row.sentences)
        implications = sum(" -> " in sentence for sentence in row.sentences)
        assert negated <= row.target
        assert implications <= row.same
        assert len(row.sentences) - negated - implications <= row.others


def test_the_skyline_is_what_no_other_safe_point_exceeds() -> None:
    """The skyline has the safe points that no other safe point dominates."""
    release = Worlds([list("aabbcd"), list("abcde")]).release()
    table = mx.attacks.skyline(release, range(4), range(3), range(3), threshold=0.7)
    points = {(row.target, row.others, row.same): row for row in table.itertuples()}
    for point, row in points.items():
        assert row.safe == (row.disclosure < 0.7)
        above = [other for other in points if all(a >= b for a, b in zip(other, point, strict=True)) and other != point]
        assert row.skyline == (row.safe and not any(points[other].safe for other in above))
    assert table["skyline"].sum() > 1
