"""All formulas over the worlds of small releases, as sets of worlds: bits of whole numbers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
import pandas as pd

import maxent_cvx as mx


class Worlds:
    """All distinct assignments of the values of some buckets to their people; a set of worlds is a number of bits."""

    def __init__(self, buckets: Sequence[Sequence[str]]) -> None:
        each = [sorted(set(itertools.permutations(values))) for values in buckets]
        self.buckets = buckets
        self.worlds = list(itertools.product(*each))
        self.all = (1 << len(self.worlds)) - 1
        self.atoms = {
            (b, i, value): sum(1 << w for w, world in enumerate(self.worlds) if world[b][i] == value)
            for b, values in enumerate(buckets)
            for i in range(len(values))
            for value in sorted(set(values))
        }

    def release(self) -> mx.Release:
        """The release that has these worlds."""
        people = [(b, value) for b, values in enumerate(self.buckets) for value in values]
        table = pd.DataFrame(people, columns=["b", "s"]).assign(q="x")
        return mx.Release.from_buckets(table, qi="q", sa="s", bucket="b")

    def implications(self) -> np.ndarray:
        """The worlds that each basic implication excludes: all of some atoms are true there, and none of others."""
        true, none = {self.all}, {self.all}
        for atom in self.atoms.values():
            true |= {some & atom for some in true}
            none |= {some & ~atom for some in none}
        one_at_least = {some & atom for some in true for atom in self.atoms.values()}
        none_of_one = {some & ~atom for some in none for atom in self.atoms.values()}
        pairs = np.array(sorted(one_at_least), np.int64)[:, None] & np.array(sorted(none_of_one), np.int64)
        return np.unique(pairs)

    def worst(self, excluded: Iterable[int], sensitive: Iterable[str]) -> Fraction:
        """The largest probability of an atom of a sensitive value in what is left, where something is left."""
        sensitive = set(sensitive)
        targets = [bits for (_, _, value), bits in self.atoms.items() if value in sensitive]
        left = [kept for bits in set(map(int, excluded)) if (kept := self.all & ~bits)]
        return max(Fraction((kept & bits).bit_count(), kept.bit_count()) for kept in left for bits in targets)

    def unions(self, sets: np.ndarray, k: int) -> np.ndarray:
        """All unions of k of some sets."""
        sums = np.zeros(1, dtype=np.int64)
        for _ in range(k):
            sums = np.unique(np.bitwise_or.outer(sums, sets))
        return sums

    def worst_formula(self, implications: np.ndarray, k: int, sensitive: Iterable[str]) -> Fraction:
        """The largest probability after k implications.

        Of a target only those are combined that are not worse than another: that leave no more of the worlds where it
        is false, and no less of those where it is true.
        """
        best = Fraction(0)
        for (_, _, value), target in self.atoms.items():
            if value not in set(sensitive):
                continue
            front: list[int] = []
            good, bad = implications & target, implications & ~target
            for i in np.lexsort((np.bitwise_count(good), -np.bitwise_count(bad).astype(int))):
                if not any(bad[i] & ~bad[j] == 0 and good[j] & ~good[i] == 0 for j in front):
                    front.append(int(i))
            for union in map(int, self.unions(implications[front], k)):
                kept = self.all & ~union
                if kept:
                    best = max(best, Fraction((kept & target).bit_count(), kept.bit_count()))
        return best

    def said(self, sentence: str) -> int:
        """The worlds in which a sentence of the package is true."""
        if sentence.startswith("not "):
            return self.all & ~self.said(sentence.removeprefix("not "))
        if " -> " in sentence:
            premise, conclusion = map(self.said, sentence.split(" -> "))
            return (self.all & ~premise) | conclusion
        match = re.fullmatch(r"person (\d+) of bucket (\d+)=(\w+)", sentence)
        assert match, sentence
        return self.atoms[int(match[2]), int(match[1]) - 1, match[3]]

    def probability(self, target: str, sentences: Iterable[str]) -> Fraction:
        """P(target | sentences)."""
        kept = self.all
        for sentence in sentences:
            kept &= self.said(sentence)
        return Fraction((kept & self.said(target)).bit_count(), kept.bit_count())


def random_worlds(rng: np.random.Generator, least: int, most: int) -> Worlds:
    """One to three buckets of up to five people with up to four values, and from `least` to `most` worlds."""
    while True:
        buckets = [
            list(rng.choice(list("abcd")[: rng.integers(1, 5)], rng.integers(1, 6))) for _ in range(rng.integers(1, 4))
        ]
        worlds = Worlds([list(map(str, values)) for values in buckets])
        if least <= len(worlds.worlds) <= most and len(worlds.atoms) <= 20:
            return worlds
