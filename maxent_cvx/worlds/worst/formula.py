"""The worst conjunction of k basic implications about the people of a release (Martin et al., 2007)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...errors import GroupTooLarge
from .chains import Chains
from .frequencies import Frequencies
from .least import Least, least_of_each

__all__ = ["Atom", "Formula", "as_double", "worst_formulas"]


#: The most implications whose worst is worked out: time grows with the fourth power, to minutes.
LARGEST = 100


@dataclass(frozen=True)
class Atom:
    """A person of a bucket has a value; people of a bucket are numbered from 1, buckets and values from 0."""

    bucket: int
    person: int
    value: int


@dataclass(frozen=True)
class Formula:
    """The implications "premise -> target", one for every premise; without any, the target is just asked for.

    Attributes
    ----------
    odds : Fraction
        P(not the target | the implications) / P(the target | the implications).
    target : Atom
    premises : tuple of Atom
    """

    odds: Fraction
    target: Atom
    premises: tuple[Atom, ...]

    @property
    def disclosure(self) -> Fraction:
        """P(the target | the implications)."""
        return 1 / (1 + self.odds)


def as_double(p: Fraction) -> float:
    """The double next to a probability; 1.0 is 1 only."""
    return float(p) if p == 1 else min(float(p), math.nextafter(1.0, 0.0))


def worst_formulas(frequencies: Frequencies, k: Sequence[int]) -> list[Formula]:
    """For each k the formula of at most k implications that makes the largest P(somebody has a sensitive value).

    Which few buckets are in it is found by doubles; among them all numbers are Fractions.
    """
    certain = int(frequencies.distinct[frequencies.target >= 0].min()) - 1  # the target has none of the other values
    most = min(max(k), certain)
    if most > LARGEST:
        raise GroupTooLarge(
            f"k={max(k)}: the worst of more than {LARGEST} implications is not worked out where it takes {certain} of "
            "them to make somebody's value certain; ask for a smaller k"
        )
    chosen = _candidates(least_of_each(frequencies, most))
    each = least_of_each(frequencies.some(chosen), most, exact=True)
    together = [
        Least(np.full(most + 1, Fraction(1), dtype=object), None)
    ]  # of no bucket, the first, the first two, ...
    for one in each:
        together.append(together[-1] & one)
    return [_formula(frequencies, chosen, each, together, min(number, most)) for number in k]


def _candidates(each: list[Least]) -> np.ndarray:
    """Buckets enough for a worst formula: for every m those in which m atoms leave the least, with and without target.

    Another bucket with m atoms is exchanged for that one; and if that one has m' atoms already, m + m' in it leave no
    more than the product, see :class:`Chains`.
    """
    kinds: dict[int, int] = {}
    for bucket, one in enumerate(each):
        kinds.setdefault(id(one), bucket)
    first = np.array(list(kinds.values()))
    with_target = np.array([bucket for bucket in first if each[bucket].odds is not None])
    without = np.array([each[bucket].without for bucket in first])
    odds = np.array([each[bucket].odds for bucket in with_target])
    return np.unique(np.concatenate([first[without.argmin(axis=0)], with_target[odds.argmin(axis=0)]]))


def _formula(frequencies: Frequencies, chosen: np.ndarray, each: list[Least], together: list[Least], k: int) -> Formula:
    """Share k + 1 atoms between buckets, and those of each bucket between its people."""
    target, premises = None, []
    for i, joins, atoms in _shares(each, together, k):
        found = _people(frequencies, int(chosen[i]), atoms, joins)
        if joins:
            target = found.pop(0)
        premises += found
    assert target is not None
    return Formula(_odds(together[-1], k + 1), target, tuple(premises))


def _shares(each: list[Least], together: list[Least], k: int) -> Iterator[tuple[int, bool, int]]:
    """Share k + 1 atoms between buckets, going back from the last: which, whether it is the target's, and how many."""
    m, needs = k + 1, True
    for i in range(len(each) - 1, -1, -1):
        whole = _odds(together[i + 1], m) if needs else together[i + 1].without[m]
        joins, atoms = next((joins, atoms) for joins, atoms, p in _ways(each[i], together[i], m, needs) if p == whole)
        m, needs = m - atoms, needs and not joins
        if atoms:
            yield i, joins, atoms


def _odds(some: Least, m: int) -> Fraction:
    """The least odds of m atoms."""
    assert some.odds is not None
    return some.odds[m - 1]


def _ways(here: Least, before: Least, m: int, needs: bool) -> Iterator[tuple[bool, int, Fraction]]:
    """Ways to share m atoms between a bucket and those before it: is the target in it, its atoms, and what is left."""
    for atoms in range(m, -1, -1):
        if not needs:
            yield False, atoms, here.without[atoms] * before.without[m - atoms]
            continue
        if here.odds is not None and atoms:
            yield True, atoms, here.odds[atoms - 1] * before.without[m - atoms]
        if before.odds is not None and atoms < m:
            yield False, atoms, here.without[atoms] * before.odds[m - atoms - 1]


def _people(frequencies: Frequencies, bucket: int, m: int, joins: bool) -> list[Atom]:
    """The atoms of a bucket, the target first if it is in this one."""
    one = frequencies.some(np.array([bucket]))
    target, rank = one.target[0], 0
    if joins:
        rank = int(min(one.rank[target], m))
    chains = Chains(one.size, one.prefix(m), (rank, one.count[[target]]) if joins else None, exact=True)
    links = sorted(chains.links(0, m), key=lambda link: not link[0])  # the target is person 1
    found = []
    for person, (is_target, c) in enumerate(links, start=1):
        values = list(range(min(c, one.distinct[0])))
        if is_target:
            values = [target, *(at for at in range(c if c > rank else c - 1) if at != target and at < one.distinct[0])]
        found += [Atom(bucket, person, int(one.value[at])) for at in values]
    return found
