"""The worst case over implications, negations and equalities of k people (VLDB 2007)."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import GroupTooLarge, StatementError, TableError, pluralize, short_repr, unknown_name
from .._utils.tables import ranges
from .._utils.validation import check_float, check_instance, check_int, check_list, is_in
from ..releases.partitioned import PartitionedRelease
from ..releases.release import Release
from ..releases.series import ReleaseSeries
from .groups import check_no_counterfeits

# MINIMIZE1 of Martin et al. (2007): the least probability that several atoms about one bucket are all false.


#: The number of people in the chain, the largest c of the next one, the remaining atoms, and whether the target
#: remains.
State = tuple[int, int, int, bool]


class Chains:
    """Chains of people, each of whom has none of the c most frequent values of their bucket; c never increases."""

    # Given the people before, the i-th person of a chain, from 0, has none of the c values with probability
    # (n - i - S_c) / (n - i), where n is the size of the bucket, and S_c its number of people with one of the c values.
    # The least probability for m atoms is that of a chain with sum c = m.
    # *Proof.* Let v be at least as frequent as w, and replace w by v in every set of avoided values that contains w but
    # not v. Fix all people with other values than these two. Of the rest, B avoid both, X only v, Y only w, and N
    # neither; the worlds are those with B = 0, X on w and Y on v: C(N, n_v - Y) of them before, and C(N, n_v) after,
    # which is not larger, since n_v is at least as far from N / 2: n_v - n_w + X + Y >= |n_v - n_w + X - Y|. Finally,
    # every set consists of the most frequent values; such sets are nested, and the product takes the largest first.
    # The *target* also avoids a value s, which r values precede, all more frequent. By the same argument, without
    # replacing its s (Y then counts the target before and after), its set is s and the most frequent others. If another
    # person avoids c values without s, c <= r, and the target at most c, move the values that the target lacks from the
    # other to the target: since P(the target has s, the other avoids both sets) = P(the other has s, the target avoids
    # both) <= P(the other has s, the target avoids its own), the probability does not increase. So sets are nested
    # again: sets with s come before the target, and sets that are smaller than its own after it.
    # *The probability of two chains in one bucket, merged, is at most the product of their probabilities.* Order the
    # people of both, with the target if one has it, by the sizes of their sets: no factor increases, since it decreases
    # in i. If a person with c values without s is just before the target, who has s and a <= c others, exchange these
    # values and their positions: x (y - n_s) becomes (x - n_s) y, for x = n - i - S_c <= y = n - i - 1 - S_a, which is
    # not larger. Finally, the order is a chain.

    def __init__(
        self, size: np.ndarray, prefix: np.ndarray, target: tuple[int, np.ndarray] | None = None, exact: bool = False
    ) -> None:
        self.size, self.prefix, self.target, self.exact = size, prefix, target, exact
        self.rank = 0 if target is None else target[0]  # the number of values before the target's by frequency
        self.most = prefix.shape[1] - 1
        self._found: dict[State, np.ndarray | None] = {}
        self._one = np.full(len(size), Fraction(1), dtype=object) if exact else np.ones(len(size))

    def least(self) -> np.ndarray:
        """Return the least probability for at most m atoms, shape (buckets, m), m from 0, or from 1 with a target."""
        has = self.target is not None
        columns = [self._reached((0, m, m, has)) for m in range(int(has), self.most + 1)]
        return np.asarray(np.minimum.accumulate(np.column_stack(columns), axis=1))

    def links(self, m: int) -> list[tuple[bool, int]]:
        """Return a chain in a single bucket of at most m atoms with the least probability: whether the target, and c."""
        # People after a probability of 0 are left out, except the target. This requires Fractions, which can be
        # compared for equality.
        needs = self.target is not None
        (least,) = self.least()
        m = int(np.flatnonzero(least == least[m - needs])[0]) + needs  # no more atoms than needed
        chain: list[tuple[bool, int]] = []
        i, cap, possible = 0, m, True
        while m:
            p = self._reached((i, cap, m, needs))
            joins = next((joins for joins, value in self._ways((i, cap, m, needs)) if value == p), None)
            if joins is None:
                cap -= 1
                continue
            if joins or possible:
                chain.append((joins, cap))
            possible = possible and bool(self._avoids(i, cap, joins) > 0)
            i, m, needs, cap = i + 1, m - cap, needs and not joins, min(self._next(cap, joins), m - cap)
        return chain

    def _reached(self, state: State) -> np.ndarray:
        """Return :meth:`_least` for a state from which a chain exists."""
        least = self._least(state)
        assert least is not None
        return least

    def _least(self, state: State) -> np.ndarray | None:
        """Return the least probability of the rest of a chain; None if there is no such chain."""
        i, cap, m, needs = state
        if not m and not needs:
            return self._one
        if not cap:
            return None
        if state not in self._found:
            ways = [value for _, value in self._ways(state)]
            if (below := self._least((i, cap - 1, m, needs))) is not None:
                ways.append(below)
            self._found[state] = np.minimum.reduce(ways) if ways else None
        return self._found[state]

    def _ways(self, state: State) -> list[tuple[bool, np.ndarray]]:
        """Return the probabilities if the next person avoids exactly `cap` values, and whether this is the target."""
        i, cap, m, needs = state
        ways = []
        for joins in (True, False):
            remaining = m - cap
            if remaining < 0 or (joins and not needs) or (needs and not joins and cap <= self.rank):
                continue
            least_after = self._least((i + 1, min(self._next(cap, joins), remaining), remaining, needs and not joins))
            if least_after is not None:
                ways.append((joins, self._avoids(i, cap, joins) * least_after))
        return ways

    def _next(self, c: int, joined: bool) -> int:
        """Return the largest c of the person after one with c, who is the target if `joined`."""
        return c - 1 if joined and c <= self.rank else c

    def _avoids(self, i: int, c: int, joins: bool) -> np.ndarray:
        """Return the probability that person i has none of c values: the most frequent, or, for the target, also s."""
        avoided = self.prefix[:, c]
        if joins and self.target is not None and c <= self.rank:
            avoided = self.prefix[:, c - 1] + self.target[1]
        remaining = self.size - i
        return quotient(np.maximum(remaining - avoided, 0), np.maximum(remaining, 1), self.exact)


def quotient(numerator: np.ndarray, denominator: np.ndarray, exact: bool = False) -> np.ndarray:
    """Divide integers, as Fractions or as doubles."""
    if not exact:
        return np.asarray(numerator / denominator)
    pairs = zip(numerator.tolist(), denominator.tolist(), strict=True)
    ratios = np.empty(len(numerator), dtype=object)
    ratios[:] = [Fraction(a, b) for a, b in pairs]
    return ratios


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The values of each bucket by decreasing count; among equally frequent values, sensitive ones come first."""

    # All assignments of a bucket's values to its people are equally likely, so that only the counts matter.

    start: np.ndarray  # (buckets + 1,): the first entry of each bucket, and the end of the last
    value: np.ndarray  # the number of the value of each entry
    count: np.ndarray  # the number of people of the bucket with the value
    sensitive: np.ndarray  # whether the value is sensitive

    @classmethod
    def of(cls, n_sb: sp.sparray, sensitive: np.ndarray) -> Self:
        """Sort a table of counts, one row per value and one column per bucket."""
        table = sp.csc_array(n_sb)
        bucket = np.repeat(np.arange(table.shape[1]), np.diff(table.indptr))
        order = np.lexsort((table.indices, ~sensitive[table.indices], -table.data, bucket))
        return cls(table.indptr.astype(np.int64), table.indices[order].astype(np.int64), table.data[order], sensitive)

    def some(self, buckets: np.ndarray) -> Frequencies:
        """Select some of the buckets."""
        width = self.distinct[buckets]
        entries = ranges(self.start[buckets], width)
        start = np.concatenate([[0], np.cumsum(width)])
        return Frequencies(start, self.value[entries], self.count[entries], self.sensitive)

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def size(self) -> np.ndarray:
        """The number of people of each bucket."""
        return np.add.reduceat(self.count, self.start[:-1])

    @cached_property
    def distinct(self) -> np.ndarray:
        """The number of distinct values of each bucket."""
        return np.diff(self.start)

    @cached_property
    def bucket(self) -> np.ndarray:
        """The bucket of every entry."""
        return np.repeat(np.arange(len(self)), self.distinct)

    @cached_property
    def rank(self) -> np.ndarray:
        """The rank of every entry in its bucket, from 0."""
        return np.arange(len(self.count)) - self.start[self.bucket]

    @cached_property
    def target(self) -> np.ndarray:
        """The entry of each bucket's most frequent sensitive value; -1 if it has none."""
        entries = np.flatnonzero(self.sensitive[self.value])
        first = np.full(len(self), -1)
        first[self.bucket[entries[::-1]]] = entries[::-1]  # written in reverse, so that the first entry remains
        return first

    def prefix(self, width: int) -> np.ndarray:
        """Return numbers of people with one of a bucket's c most frequent values, (buckets, c), 0 <= c <= `width`."""
        top = np.zeros((len(self), width + 1), dtype=np.int64)
        inside = self.rank < width
        top[self.bucket[inside], self.rank[inside] + 1] = self.count[inside]
        return np.cumsum(top, axis=1)


def sensitive_values(release: object, sensitive: object) -> np.ndarray:
    """Mark the sensitive values of a release of buckets, by default all values."""
    remedies: dict[type, str] = {
        ReleaseSeries: "pass one of its releases, made without pseudonyms",
        PartitionedRelease: "join its parts, Release.from_partitions(release)",
    }
    release = check_instance(release, Release, "the release", remedies.get(type(release), ""))
    if release.persons is not None:
        raise StatementError(
            "the release has pseudonyms, which link its people to other releases and thus to further buckets; make it "
            "without id= to measure this release alone"
        )
    check_no_counterfeits(release)
    values = release.sensitive_values.to_flat_index()
    if sensitive is None:
        return np.ones(len(values), dtype=bool)
    is_single = isinstance(sensitive, str) or (isinstance(sensitive, tuple) and is_in(sensitive, values))
    chosen = [sensitive] if is_single else check_list(sensitive, "sensitive", "sensitive values")
    if not chosen:
        raise StatementError("sensitive must contain at least one value; omit it for all values")
    marked = np.zeros(len(values), dtype=bool)
    for value in chosen:
        try:
            at = values.get_loc(value)
        except (KeyError, TypeError, ValueError, pd.errors.InvalidIndexError):
            raise unknown_name("sensitive value of the release", value, values) from None
        marked[at] = True
    return marked


# MINIMIZE2 of Martin et al. (2007): MINIMIZE1 for several buckets together.


@dataclass(frozen=True, eq=False)
class Least:
    """The least probability that at most m atoms about the people of some buckets are all false."""

    # Buckets are independent, so that their probabilities are multiplied.

    without: np.ndarray  # (k + 1,): the least P(all m atoms are false), m from 0
    odds: np.ndarray | None  # (k + 1,): the least P(all m + 1 atoms are false, one of the target) / P(target); or None

    def __and__(self, other: Least) -> Least:
        """Combine the buckets of both."""
        pairs = [(self.odds, other.without), (other.odds, self.without)]
        possible = [_shared(odds, without) for odds, without in pairs if odds is not None]
        return Least(_shared(self.without, other.without), np.minimum.reduce(possible) if possible else None)


def _shared(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the least product over all ways to share m atoms: a convolution of minimum and product."""
    product = first * second[0]
    for m in range(1, len(second)):
        product[m:] = np.minimum(product[m:], first[:-m] * second[m])
    return product


def least_of_each(frequencies: Frequencies, k: int, exact: bool = False) -> list[Least]:
    """Compute the least probabilities of each bucket alone, up to k + 1 atoms; equal buckets share one object."""
    prefix = frequencies.prefix(k + 1)
    has = frequencies.target >= 0
    at = frequencies.target[has]
    rank, with_s = np.full(len(frequencies), -1), np.zeros(len(frequencies), dtype=np.int64)
    rank[has], with_s[has] = np.minimum(frequencies.rank[at], k + 1), frequencies.count[at]
    # Buckets with the same frequencies have the same answer; only few of many buckets differ.
    key = np.column_stack([frequencies.size, rank, with_s, prefix])
    _, first, kind = np.unique(key, axis=0, return_index=True, return_inverse=True)
    size, prefix, rank, with_s = frequencies.size[first], prefix[first], rank[first], with_s[first]
    without = Chains(size, prefix[:, :-1], exact=exact).least()
    odds: list[np.ndarray | None] = [None] * len(first)
    for r in np.unique(rank[rank >= 0]):
        buckets = np.flatnonzero(rank == r)
        p = Chains(size[buckets], prefix[buckets], (int(r), with_s[buckets]), exact).least()
        for i, bucket in enumerate(buckets):
            odds[bucket] = p[i] * quotient(size[[bucket]], with_s[[bucket]], exact)
    of_kind = [Least(*pair) for pair in zip(without, odds, strict=True)]
    return [of_kind[i] for i in kind.reshape(-1)]


def least_of_counts(counts: np.ndarray, k: int) -> list[Least]:
    """Compute :func:`least_of_each` for groups with only sensitive values, from counts, shape (groups, values)."""
    decreasing = -np.sort(-counts, axis=1)[:, : k + 1]
    prefix = np.zeros((len(counts), k + 2), dtype=np.int64)
    prefix[:, 1 : decreasing.shape[1] + 1] = decreasing
    size = counts.sum(axis=1)
    least = Chains(size, np.cumsum(prefix, axis=1)).least()  # everybody's set has the most frequent value, the target's
    return [Least(p[:-1], p[1:] * n / most) for p, n, most in zip(least, size, decreasing[:, 0], strict=True)]


# The worst conjunction of k basic implications about the people of a release (Martin et al., 2007).


#: The maximum number of implications: the time grows with its fourth power, up to minutes.
LARGEST = 100


@dataclass(frozen=True)
class Atom:
    """The atom "a person has a value". People of a bucket are numbered from 1, buckets and values from 0."""

    bucket: int
    person: int
    value: int


@dataclass(frozen=True)
class Formula:
    """A target, and the known implications "premise -> target"."""

    disclosure: Fraction  # P(the target | the implications)
    target: Atom
    premises: tuple[Atom, ...]


def as_double(p: Fraction) -> float:
    """Return the double nearest to a probability; only 1 becomes 1.0."""
    return float(p) if p == 1 else min(float(p), math.nextafter(1.0, 0.0))


def worst_formulas(frequencies: Frequencies, k: Sequence[int]) -> list[Formula]:
    """Return, for each k, the formula of at most k implications with the largest P(person has sensitive value)."""
    # The few candidate buckets are found with doubles, the formula itself with Fractions.
    certain = int(frequencies.distinct[frequencies.target >= 0].min()) - 1  # implications to exclude all other values
    most = min(max(k), certain)
    if most > LARGEST:
        raise GroupTooLarge(
            f"k must be at most {LARGEST}, not {max(k)}, if {certain} implications are needed for certainty; use a "
            "smaller k"
        )
    chosen = _candidates(least_of_each(frequencies, most))
    each = least_of_each(frequencies.some(chosen), most, exact=True)
    no_bucket = Least(np.full(most + 1, Fraction(1), dtype=object), None)
    together = list(itertools.accumulate(each, operator.and_, initial=no_bucket))  # for 0, 1, 2, ... buckets
    return [_formula(frequencies, chosen, each, together, min(number, most)) for number in k]


def _candidates(each: list[Least]) -> np.ndarray:
    """Return buckets that suffice for a worst formula: for every m, those of least probability and least odds."""
    # Any other bucket with m atoms can be replaced by the least one; if that has m' atoms already, the probability of
    # m + m' atoms in it is not larger than the product, see :class:`Chains`.
    kinds: dict[int, int] = {}
    for bucket, least in enumerate(each):
        kinds.setdefault(id(least), bucket)
    first = np.array(list(kinds.values()))
    with_target = np.array([bucket for bucket in first if each[bucket].odds is not None])
    without = np.array([each[bucket].without for bucket in first])
    odds = np.array([each[bucket].odds for bucket in with_target])
    return np.unique(np.concatenate([first[without.argmin(axis=0)], with_target[odds.argmin(axis=0)]]))


def _formula(frequencies: Frequencies, chosen: np.ndarray, each: list[Least], together: list[Least], k: int) -> Formula:
    """Distribute k + 1 atoms among buckets, and those of each bucket among its people."""
    target, premises = None, []
    for i, joins, atoms in _shares(each, together, k):
        people = _people(frequencies, int(chosen[i]), atoms, joins)
        if joins:
            target = people.pop(0)
        premises += people
    assert target is not None
    return Formula(1 / (1 + _odds(together[-1], k + 1)), target, tuple(premises))


def _shares(each: list[Least], together: list[Least], k: int) -> Iterator[tuple[int, bool, int]]:
    """Distribute k + 1 atoms among buckets, from the last: the bucket, whether it has the target, and its atoms."""
    m, needs = k + 1, True
    for i in range(len(each) - 1, -1, -1):
        least = _odds(together[i + 1], m) if needs else together[i + 1].without[m]
        joins, atoms = next((joins, atoms) for joins, atoms, p in _ways(each[i], together[i], m, needs) if p == least)
        m, needs = m - atoms, needs and not joins
        if atoms:
            yield i, joins, atoms


def _odds(some: Least, m: int) -> Fraction:
    """Return the least odds of m atoms."""
    assert some.odds is not None
    return some.odds[m - 1]


def _ways(here: Least, before: Least, m: int, needs: bool) -> Iterator[tuple[bool, int, Fraction]]:
    """Yield all ways to share m atoms between a bucket and earlier ones: has the target, its atoms, probability."""
    for atoms in range(m, -1, -1):
        if not needs:
            yield False, atoms, here.without[atoms] * before.without[m - atoms]
            continue
        if here.odds is not None and atoms:
            yield True, atoms, here.odds[atoms - 1] * before.without[m - atoms]
        if before.odds is not None and atoms < m:
            yield False, atoms, here.without[atoms] * before.odds[m - atoms - 1]


def _people(frequencies: Frequencies, bucket: int, m: int, joins: bool) -> list[Atom]:
    """Return the atoms of a bucket, the target's first if it is in this bucket."""
    here = frequencies.some(np.array([bucket]))
    target = here.target[0]
    rank = int(min(here.rank[target], m)) if joins else 0
    chains = Chains(here.size, here.prefix(m), (rank, here.count[[target]]) if joins else None, exact=True)
    links = sorted(chains.links(m), key=lambda link: not link[0])  # the target is person 1
    people = []
    for person, (is_target, c) in enumerate(links, start=1):
        n_values = c - 1 if is_target and c <= rank else c  # without the target's own value
        values = list(range(min(n_values, here.distinct[0])))
        if is_target:
            values = [target, *(at for at in values if at != target)]
        people += [Atom(bucket, person, int(here.value[at])) for at in values]
    return people


# (c, k)-safety: with k basic implications, every probability of a person's value is below c (Martin et al., 2007).


#: The relative error per atom by which odds in doubles may be too large: some roundings of 1e-16, with a margin.
ROUNDING = 1e-13


@dataclass(frozen=True)
class Safety:
    """The condition P(person has value | k basic implications) < c, for all people, values and implications."""

    c: float  # a probability above 0; 1 only excludes certainty
    k: int

    @classmethod
    def read(cls, safe: object) -> Self | None:
        """Read the argument `safe`: None, or the pair (c, k)."""
        if safe is None:
            return None
        if not isinstance(safe, tuple) or len(safe) != 2:
            raise TableError(f"safe must be a pair (c, k) such as (0.5, 2), not {short_repr(safe)}")
        c = check_float(safe[0], "c of safe=(c, k)", 0.0, 1.0, TableError)
        if not c:
            raise TableError("c of safe=(c, k) must be above 0")
        return cls(c, check_int(safe[1], "k of safe=(c, k)", 0, error=TableError))

    def disclosure(self, frequencies: Frequencies) -> float:
        """Return the largest probability given k implications, as a double; 0 if no value is sensitive."""
        if (frequencies.target < 0).all():
            return 0.0
        (worst,) = worst_formulas(frequencies, [self.k])
        return as_double(worst.disclosure)

    def unreachable(self, p: float, best: str, remedy: str = "") -> TableError:
        """Return the error that even the best groups have a disclosure of p, with a further remedy."""
        return TableError(
            f"({self.c:g}, {self.k})-safety cannot be reached: even with {best}, the disclosure is {p:.3g} after "
            f"{pluralize(self.k, 'implication')}; choose a larger c or a smaller k{remedy}"
        )

    def holds(self, least: Least) -> bool:
        """Return whether it is true for buckets with these least odds; False in doubt."""
        return least.odds is None or bool(least.odds[self.k] * self.c > (1 - self.c) * (1 + (self.k + 1) * ROUNDING))


@dataclass(frozen=True)
class Breach:
    """The knowledge that maximises the probability of a target."""

    disclosure: Fraction  # P(the target | the knowledge)
    target: Atom
    #: Known negated values of the target, known values of others, and atoms that each imply the target.
    knowledge: tuple[tuple[Atom, ...], tuple[Atom, ...], tuple[Atom, ...]]


def worst_breach(frequencies: Frequencies, l: int, k: int, m: int) -> Breach:
    """Find the target, the value and the knowledge with the largest probability."""
    # The knowledge consists of l values that the target does not have, the values of k others, and m people (the
    # family) whose having the target's value implies that the target has it. *Proof that three ways suffice.* The odds
    # are (n - n_s - L - k_0) / n_s of the target's bucket, where L of its people have one of the l values, times the
    # probability that nobody in the family has s; useful values of others are neither s nor among the l. The j-th
    # member of the family in a bucket with k_b known others contributes (n - n_s - k_b - j) / (n - k_b - j), which
    # decreases in j and in k_b, and its logarithm is concave. So is the sum of the logarithms in the numbers moved from
    # one bucket to another, whose minimum is at an end: the whole family is in one bucket, and all known others are in
    # the target's bucket or in that of the family.
    l, most = min(l, int(frequencies.distinct.max())), int(frequencies.size.max())
    k, m = min(k, most), min(m, most)
    at = np.flatnonzero(frequencies.sensitive[frequencies.value])
    bucket = frequencies.bucket[at]
    n, n_s, prefix = frequencies.size[bucket], frequencies.count[at], frequencies.prefix(l + 1)[bucket]
    remaining = n - np.where(
        frequencies.rank[at] < l, prefix[:, l + 1], prefix[:, l] + n_s
    )  # neither s nor among the l
    ways = [np.maximum(remaining - k, 0) / n_s * _without_s(n, n_s, k + 1, m)]
    partners = [np.arange(len(at))]
    values = np.unique(frequencies.value[at], return_inverse=True)[1]
    for known in (0, k) if m else ():  # in the family's bucket; if it is the target's, the first way is better
        p = _without_s(n, n_s, known, m)
        order = np.lexsort((p, values))
        least = order[np.searchsorted(values[order], np.arange(values.max() + 1))]  # the least p of every value
        partners.append(least[values])
        fewest = np.maximum(remaining - (k - known), 0) / n_s * p[partners[-1]]
        ways.append(np.where(partners[-1] == partners[0], np.inf, fewest))
    way, entry = map(int, np.unravel_index(np.argmin(ways), (len(ways), len(at))))
    home = int(partners[way][entry])
    known = (k + 1, 0, k)[way]
    alone = Fraction(max(int(remaining[entry]) - (0 if way == 2 else k), 0), int(n_s[entry]))
    # The probability of :func:`_without_s`, exactly: ways to choose the family without and with the value.
    without, every = (math.perm(max(int(people) - known, 0), m) for people in (n[home] - n_s[home], n[home]))
    odds = alone * Fraction(without, max(every, 1))
    return _worded(frequencies, odds, (int(at[entry]), int(at[home])), (l, k, m), way == 2)


def _without_s(n: np.ndarray, n_s: np.ndarray, known: int, m: int) -> np.ndarray:
    """Return the probability that m of n people do not have the value if `known` others have other values."""
    p = np.ones(len(n))
    for i in range(known, known + m):
        p *= np.maximum(n - n_s - i, 0) / np.maximum(n - i, 1)
        if not p.any():
            break
    return p


def _worded(
    frequencies: Frequencies, odds: Fraction, pair: tuple[int, int], numbers: tuple[int, int, int], elsewhere: bool
) -> Breach:
    """Convert the knowledge to atoms; if `elsewhere`, the known others are in the family's bucket."""
    l, k, m = numbers
    (b, home), s = frequencies.bucket[list(pair)].tolist(), int(frequencies.value[pair[0]])
    target = Atom(b, 1, s)
    values, counts = _others(frequencies, b, s)
    without = tuple(Atom(b, 1, int(value)) for value in values[:l])
    where = home if elsewhere else b
    values, counts = _others(frequencies, where, s) if elsewhere else (values[l:], counts[l:])
    people = {b: 1, home: int(b == home)}  # numbers of people named so far
    known = np.repeat(values, np.minimum(counts, k))[: min(k, frequencies.size[where] - people[where])]
    others = tuple(Atom(where, people[where] + i, int(value)) for i, value in enumerate(known, start=1))
    people[where] += len(others)
    members = min(m, int(frequencies.size[home]) - people[home])
    family = tuple(Atom(home, people[home] + i, s) for i in range(1, members + 1))
    return Breach(1 / (1 + odds), target, (without, others, family))


def _others(frequencies: Frequencies, bucket: int, s: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the other values of a bucket, the most frequent first, and their counts."""
    entries = slice(*frequencies.start[bucket : bucket + 2])
    value, count = frequencies.value[entries], frequencies.count[entries]
    return value[value != s], count[value != s]
