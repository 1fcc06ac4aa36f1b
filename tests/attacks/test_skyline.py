"""The skyline's three kinds of knowledge, compared with everything that can be known of each kind."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from support.formulas import Worlds, random_worlds


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


def is_negated(sentence: str) -> bool:
    """Whether a sentence says what somebody has not."""
    return sentence.startswith("not ")


def is_implication(sentence: str) -> bool:
    """Whether it is an implication."""
    return " -> " in sentence


def is_atom(sentence: str) -> bool:
    """Whether it says what somebody has."""
    return not is_negated(sentence) and not is_implication(sentence)


@pytest.mark.parametrize("seed", range(5))
def test_equal_to_all_knowledge(seed: int) -> None:
    """Nobody with so much knowledge of each kind infers more, and what is listed infers so much."""
    rng = np.random.default_rng(seed)
    worlds = random_worlds(rng, 2, 60)
    values = sorted({value for _, _, value in worlds.atoms})
    sensitive = [str(value) for value in rng.permutation(values)[: rng.integers(1, len(values) + 1)]]
    table = mx.attacks.skyline(worlds.release(), range(3), range(3), range(3), sensitive=sensitive)
    assert len(table) == 27
    for row in table.itertuples():
        numbers = row.target, row.others, row.same
        expected = worst(worlds, numbers, set(sensitive))
        assert row.disclosure == pytest.approx(float(expected), abs=1e-15), (worlds.buckets, numbers)
        assert (row.disclosure == 1) == (expected == 1)
        assert worlds.probability(f"{row.person}={row.value}", row.sentences) == expected
        kinds = [sum(map(of, row.sentences)) for of in (is_negated, is_atom, is_implication)]
        assert all(said <= most for said, most in zip(kinds, numbers, strict=True))


def test_the_skyline_is_what_no_other_safe_point_exceeds() -> None:
    """Of the points below the threshold those that are not below another in everything."""
    release = Worlds([list("aabbcd"), list("abcde")]).release()
    table = mx.attacks.skyline(release, range(4), range(3), range(3), threshold=0.7)
    points = {(row.target, row.others, row.same): row for row in table.itertuples()}
    for point, row in points.items():
        assert row.safe == (row.disclosure < 0.7)
        above = [other for other in points if all(a >= b for a, b in zip(other, point, strict=True)) and other != point]
        assert row.skyline == (row.safe and not any(points[other].safe for other in above))
    assert table["skyline"].sum() > 1


def test_what_attains_the_threshold_is_not_below_it():
    """9 of 10 have the flu: 9/10 is not below 0.9, which as a double is a little more."""
    people = pd.DataFrame({"Q": list("ababababab"), "S": ["Flu"] * 9 + ["HIV"], "B": 1})
    release = mx.Release.from_buckets(people, qi="Q", sa="S", bucket="B")
    assert not mx.attacks.skyline(release, 0, 0, 0, threshold=0.9)["safe"].item()
    with pytest.raises(mx.TableError):
        mx.anonymize.mondrian(people, qi="Q", sa="S", k=1, safe=(0.9, 0))
