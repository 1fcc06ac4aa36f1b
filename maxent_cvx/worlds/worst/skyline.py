"""The worst that three kinds of knowledge can do: of the target, of others, of who has the same value (VLDB 2007)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .formula import Atom
from .frequencies import Frequencies

__all__ = ["Breach", "worst_breach"]


@dataclass(frozen=True)
class Breach:
    """What is known of whom, where the target is surest to have a value.

    Attributes
    ----------
    odds : Fraction
        P(not the target | what is known) / P(the target | what is known).
    target : Atom
    without : tuple of Atom
        What the target is known not to have.
    others : tuple of Atom
        What others are known to have.
    family : tuple of Atom
        Each of which would imply the target.
    """

    odds: Fraction
    target: Atom
    without: tuple[Atom, ...]
    others: tuple[Atom, ...]
    family: tuple[Atom, ...]


def worst_breach(frequencies: Frequencies, l: int, k: int, m: int) -> Breach:
    """Find the target, the value and the knowledge with the largest probability.

    Known are l values that the target has not, the values of k others, and of m people that, if they have the target's
    value, the target has it.

    *Proof that three ways suffice.* The odds are (n - n_s - L - k_0) / n_s of the target's bucket, with L of its people
    having one of the l values, times the probability that nobody of the family has s; the values of others that help
    are those that are neither s nor among the l. The j-th member of the family in a bucket in which k_b others are
    known contributes (n - n_s - k_b - j) / (n - k_b - j), which falls in j and in k_b, and its logarithm is concave. So
    is the sum of the logarithms in the numbers that are moved from one bucket to another, which is least at an end: all
    the family is in one bucket, and all others who are known are in the target's bucket or in that of the family.
    """
    l, most = min(l, int(frequencies.distinct.max())), int(frequencies.size.max())
    k, m = min(k, most), min(m, most)
    at = np.flatnonzero(frequencies.sensitive[frequencies.value])
    bucket = frequencies.bucket[at]
    n, n_s, prefix = frequencies.size[bucket], frequencies.count[at], frequencies.prefix(l + 1)[bucket]
    rest = n - np.where(frequencies.rank[at] < l, prefix[:, l + 1], prefix[:, l] + n_s)  # neither s nor among the l
    ways = [np.maximum(rest - k, 0) / n_s * _without_s(n, n_s, k + 1, m)]
    partners = [np.arange(len(at))]
    values = np.unique(frequencies.value[at], return_inverse=True)[1]
    for known in (0, k) if m else ():  # in the bucket of the family; in the target's own the first way does more
        p = _without_s(n, n_s, known, m)
        order = np.lexsort((p, values))
        least = order[np.searchsorted(values[order], np.arange(values.max() + 1))]  # of every value the least p
        partners.append(least[values])
        found = np.maximum(rest - (k - known), 0) / n_s * p[partners[-1]]
        ways.append(np.where(partners[-1] == partners[0], np.inf, found))
    way, entry = map(int, np.unravel_index(np.argmin(ways), (len(ways), len(at))))
    home = int(partners[way][entry])
    known = (k + 1, 0, k)[way]
    alone = Fraction(max(int(rest[entry]) - (0 if way == 2 else k), 0), int(n_s[entry]))
    odds = alone * _exactly(int(n[home]), int(n_s[home]), known, m)
    return _worded(frequencies, odds, (int(at[entry]), int(at[home])), (l, k, m), way == 2)


def _without_s(n: np.ndarray, n_s: np.ndarray, known: int, m: int) -> np.ndarray:
    """The probability that m of n people have not the value, so many being known to have others."""
    found = np.ones(len(n))
    for i in range(known, known + m):
        found *= np.maximum(n - n_s - i, 0) / np.maximum(n - i, 1)
        if not found.any():
            break
    return found


def _exactly(n: int, n_s: int, known: int, m: int) -> Fraction:
    """The same of one bucket, exactly."""
    ways = math.perm(max(n - n_s - known, 0), m)
    return Fraction(ways, math.perm(max(n - known, 0), m)) if ways else Fraction(0)


def _worded(
    frequencies: Frequencies, odds: Fraction, pair: tuple[int, int], numbers: tuple[int, int, int], elsewhere: bool
) -> Breach:
    """Say who is known to have what; `elsewhere`: the others who are known are in the family's bucket."""
    l, k, m = numbers
    (b, home), s = frequencies.bucket[list(pair)].tolist(), int(frequencies.value[pair[0]])
    target = Atom(b, 1, s)
    values, counts = _others(frequencies, b, s)
    without = tuple(Atom(b, 1, int(value)) for value in values[:l])
    where = home if elsewhere else b
    values, counts = _others(frequencies, where, s) if elsewhere else (values[l:], counts[l:])
    people = {b: 1, home: int(b == home)}  # how many are named
    known = np.repeat(values, counts)[: min(k, frequencies.size[where] - people[where])]
    others = tuple(Atom(where, people[where] + i, int(value)) for i, value in enumerate(known, start=1))
    people[where] += len(others)
    members = min(m, int(frequencies.size[home]) - people[home])
    family = tuple(Atom(home, people[home] + i, s) for i in range(1, members + 1))
    return Breach(odds, target, without, others, family)


def _others(frequencies: Frequencies, bucket: int, s: int) -> tuple[np.ndarray, np.ndarray]:
    """The other values of a bucket, and how many have each, the most frequent first."""
    here = slice(*frequencies.start[bucket : bucket + 2])
    value, count = frequencies.value[here], frequencies.count[here]
    return value[value != s], count[value != s]
