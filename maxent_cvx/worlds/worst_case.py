"""The worst case over implications, negations and equalities of k people (VLDB 2007)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import GroupTooLarge, StatementError, TableError, short_repr, unknown_name
from .._utils.tables import ranges
from .._utils.validation import check_float, check_instance, check_int, check_list
from ..releases.partitioned import PartitionedRelease
from ..releases.release import Release
from ..releases.series import ReleaseSeries

__all__ = [
    "Atom",
    "Frequencies",
    "Safety",
    "as_double",
    "least_of_counts",
    "sensitive_values",
    "worst_breach",
    "worst_formulas",
]

# The least probability that nobody in a bucket has what some atoms say: MINIMIZE1 of Martin et al. (2007).


#: How many people are in the chain before, the most values that the next may avoid, atoms left, is the target to come?
State = tuple[int, int, int, bool]


class Chains:
    """Chains of people, each of whom has none of the c most frequent values of their bucket; c does not grow."""

    # The i-th person of a chain, from 0, does so with probability (n - i - S_c) / (n - i) if those before do: n is the
    # size of the bucket, and S_c how many of it have one of the c values. Some chain is the least that m atoms can do,
    # sum c = m.
    # *Proof.* Let v be at least as frequent as w, and replace w by v in every set of values avoided that holds w and
    # not v. Fix who has other values than these two. Of the rest B avoid both, X only v, Y only w, and N neither; the
    # worlds are those with B = 0, X on w and Y on v: C(N, n_v - Y) of them before, and C(N, n_v) after, which is no
    # more, since n_v is at least as far from N / 2: n_v - n_w + X + Y >= |n_v - n_w + X - Y|. In the end every set is
    # one of most frequent values; such sets contain one another, and the product is that of the largest first.
    # The *target* avoids a value s besides, before which r others stand, all more frequent. By the same argument, its s
    # not being replaced (Y then counts the target before and after), its set is s and the most frequent others. If
    # somebody else avoids c values without s, c <= r, and the target no more than c, give the target what it lacks of
    # them, and take that from the other: since P(the target has s, the other avoids both sets) = P(the other has s, the
    # target avoids both) <= P(the other has s, the target avoids its own), the probability does not rise. So sets
    # contain one another again: those with s in them come before the target, and those that are smaller than its own
    # after it.
    # *Two chains in one bucket leave no more than the product of what each leaves.* Put the people of both, with the
    # target if one has it, in one row by the sizes of their sets: nobody's factor grows, since it falls in i. If
    # somebody with c values and without s stands just before the target, who has s and a <= c others, let them exchange
    # these values, and their places: x (y - n_s) becomes (x - n_s) y, for x = n - i - S_c <= y = n - i - 1 - S_a, which
    # is no more. In the end the row is a chain.

    def __init__(
        self, size: np.ndarray, prefix: np.ndarray, target: tuple[int, np.ndarray] | None = None, exact: bool = False
    ) -> None:
        self.size, self.prefix, self.target, self.exact = size, prefix, target, exact
        self.most = prefix.shape[1] - 1
        self._found: dict[State, np.ndarray | None] = {}
        self._one = np.full(len(size), Fraction(1), dtype=object) if exact else np.ones(len(size))

    def least(self) -> np.ndarray:
        """The least probability of at most m atoms, shape (buckets, m): m from 0, or from 1 if one is of the target."""
        has = self.target is not None
        columns = [self._reached((0, m, m, has)) for m in range(int(has), self.most + 1)]
        return np.asarray(np.minimum.accumulate(np.column_stack(columns), axis=1))

    def links(self, bucket: int, m: int) -> list[tuple[bool, int]]:
        """A chain of at most m atoms with the least probability: whether it is the target, and c, of each person."""
        # Those behind whom the probability is 0 are left out, but the target. For Fractions only, which can be
        # compared.
        needs = self.target is not None
        least = self.least()[bucket]
        m = int(np.flatnonzero(least == least[m - needs])[0]) + needs  # no more atoms than are needed
        chain: list[tuple[bool, int]] = []
        i, cap, possible = 0, m, True
        while m:
            p = self._reached((i, cap, m, needs))[bucket]
            joins = next((joins for joins, value in self._ways((i, cap, m, needs)) if value[bucket] == p), None)
            if joins is None:
                cap -= 1
                continue
            if joins or possible:
                chain.append((joins, cap))
            possible = possible and bool(self._avoids(i, cap, joins)[bucket] > 0)
            i, m, needs, cap = i + 1, m - cap, needs and not joins, min(self._next(cap, joins), m - cap)
        return chain

    def _reached(self, state: State) -> np.ndarray:
        """What is left of a chain that there is."""
        least = self._least(state)
        assert least is not None
        return least

    def _least(self, state: State) -> np.ndarray | None:
        """The least probability of what is left of a chain; None if there is no such chain."""
        i, cap, m, needs = state
        if not m and not needs:
            return self._one
        if not cap:
            return None
        if state not in self._found:
            ways = [value for _, value in self._ways(state)]
            below = self._least((i, cap - 1, m, needs))
            ways += [below] if below is not None else []
            self._found[state] = np.minimum.reduce(ways) if ways else None
        return self._found[state]

    def _ways(self, state: State) -> list[tuple[bool, np.ndarray]]:
        """What is left if the next person avoids just as many values as may be: the target, or somebody else."""
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

    @property
    def rank(self) -> int:
        """How many values are more frequent than the target's."""
        return 0 if self.target is None else self.target[0]

    def _next(self, c: int, joined: bool) -> int:
        """How many values the person after one of c may avoid; `joined`: after the target."""
        return c - 1 if joined and c <= self.rank else c

    def _avoids(self, i: int, c: int, joins: bool) -> np.ndarray:
        """The probability that person i has none of c values: the most frequent, or, of the target, s among them."""
        avoided = self.prefix[:, c]
        if joins and self.target is not None and c <= self.rank:
            avoided = self.prefix[:, c - 1] + self.target[1]
        remaining = self.size - i
        return quotient(np.maximum(remaining - avoided, 0), np.maximum(remaining, 1), self.exact)


def quotient(numerator: np.ndarray, denominator: np.ndarray, exact: bool = False) -> np.ndarray:
    """Divide whole numbers, as Fractions or as doubles."""
    if not exact:
        return np.asarray(numerator / denominator)
    pairs = zip(numerator.tolist(), denominator.tolist(), strict=True)
    ratios = np.empty(len(numerator), dtype=object)
    ratios[:] = [Fraction(a, b) for a, b in pairs]
    return ratios


# How often each value occurs in each bucket, the most frequent first.


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The values of buckets in decreasing order of their counts; of equally frequent ones the sensitive come first."""

    # All worlds that deal a bucket's values to its people are equally likely, so that nothing else of a bucket matters.

    start: np.ndarray  # (buckets + 1,): where the entries of each bucket begin, and where the last end
    value: np.ndarray  # of every entry the number of the value, and how many of the bucket have it
    count: np.ndarray  # of every entry the number of the value, and how many of the bucket have it
    sensitive: np.ndarray  # which values must not be inferred

    @classmethod
    def of(cls, n_sb: sp.sparray, sensitive: np.ndarray) -> Self:
        """Sort a table of counts, one row per value and a column a bucket."""
        table = sp.csc_array(n_sb)
        bucket = np.repeat(np.arange(table.shape[1]), np.diff(table.indptr))
        order = np.lexsort((table.indices, ~sensitive[table.indices], -table.data, bucket))
        return cls(table.indptr.astype(np.int64), table.indices[order].astype(np.int64), table.data[order], sensitive)

    def some(self, buckets: np.ndarray) -> Frequencies:
        """Only these buckets."""
        width = self.distinct[buckets]
        entries = ranges(self.start[buckets], width)
        start = np.concatenate([[0], np.cumsum(width)])
        return Frequencies(start, self.value[entries], self.count[entries], self.sensitive)

    @classmethod
    def of_groups(cls, groups: list[np.ndarray], n_values: int) -> Self:
        """Count the values of some groups of records; all of them are sensitive."""
        counts = np.column_stack([np.bincount(group, minlength=n_values) for group in groups])
        return cls.of(sp.csc_array(counts), np.ones(n_values, dtype=bool))

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def size(self) -> np.ndarray:
        """How many people each bucket has."""
        return np.add.reduceat(self.count, self.start[:-1])

    @cached_property
    def distinct(self) -> np.ndarray:
        """How many different values each bucket has."""
        return np.diff(self.start)

    @cached_property
    def bucket(self) -> np.ndarray:
        """The bucket of every entry."""
        return np.repeat(np.arange(len(self)), self.distinct)

    @cached_property
    def rank(self) -> np.ndarray:
        """Of every entry, how many of its bucket stand before it."""
        return np.arange(len(self.count)) - self.start[self.bucket]

    @cached_property
    def target(self) -> np.ndarray:
        """Of every bucket the first of its sensitive values, the most frequent one, among the entries; -1 if none."""
        entries = np.flatnonzero(self.sensitive[self.value])
        first = np.full(len(self), -1)
        first[self.bucket[entries[::-1]]] = entries[::-1]  # the last that is written is the first
        return first

    def prefix(self, width: int) -> np.ndarray:
        """How many of each bucket have one of its c most frequent values, for c from 0 to `width`: (buckets, c)."""
        top = np.zeros((len(self), width + 1), dtype=np.int64)
        inside = self.rank < width
        top[self.bucket[inside], self.rank[inside] + 1] = self.count[inside]
        return np.cumsum(top, axis=1)


def sensitive_values(release: object, sensitive: object) -> np.ndarray:
    """Mark the sensitive values of a release, all of them by default; what is not a release of buckets is refused."""
    remedies: dict[type, str] = {
        ReleaseSeries: "give one of its releases, made without pseudonyms",
        PartitionedRelease: "join its parts, Release.from_partitions(release)",
    }
    release = check_instance(release, Release, "the release", remedies.get(type(release), ""))
    if release.persons is not None:
        raise StatementError(
            "the release has pseudonyms, which link its people to other releases, and so to more than a bucket; make "
            "it without id= to ask what this release alone lets be known"
        )
    if release.with_counterfeits.any():
        raise StatementError(
            "the release must not contain counterfeits, as a world assigns every value to a person; remove them"
        )
    values = release.sensitive_values.to_flat_index()
    if sensitive is None:
        return np.ones(len(values), dtype=bool)
    is_single = isinstance(sensitive, str) or (isinstance(sensitive, tuple) and sensitive in values)
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


# The least that atoms can leave over, of every bucket and of buckets together: MINIMIZE2 of Martin et al. (2007).


@dataclass(frozen=True, eq=False)
class Least:
    """How little can be left of the worlds of some buckets, for at most so many atoms, of which all are false."""

    # Buckets are independent, so that probabilities of different ones are multiplied.

    without: np.ndarray  # (k + 1,): the least P(none of m atoms), m from 0
    odds: np.ndarray | None  # (k + 1,)

    def __and__(self, other: Least) -> Least:
        """Of the buckets of both."""
        pairs = [(self.odds, other.without), (other.odds, self.without)]
        possible = [_shared(odds, without) for odds, without in pairs if odds is not None]
        return Least(_shared(self.without, other.without), np.minimum.reduce(possible) if possible else None)


def _shared(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The least product, the atoms being shared between both: a convolution, of minimum and product."""
    product = first * second[0]
    for m in range(1, len(second)):
        product[m:] = np.minimum(product[m:], first[:-m] * second[m])
    return product


def least_of_each(frequencies: Frequencies, k: int, exact: bool = False) -> list[Least]:
    """What up to k + 1 atoms can leave over, of every bucket by itself; buckets alike share one object."""
    prefix = frequencies.prefix(k + 1)
    has = frequencies.target >= 0
    at = frequencies.target[has]
    rank, with_s = np.full(len(frequencies), -1), np.zeros(len(frequencies), dtype=np.int64)
    rank[has], with_s[has] = np.minimum(frequencies.rank[at], k + 1), frequencies.count[at]
    # Buckets of the same frequencies have the same answer, and there are few kinds of them, or many buckets.
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
    """The same of groups of whose values, all of them sensitive, the counts are given, shape (groups, values)."""
    decreasing = -np.sort(-counts, axis=1)[:, : k + 1]
    prefix = np.zeros((len(counts), k + 2), dtype=np.int64)
    prefix[:, 1 : decreasing.shape[1] + 1] = decreasing
    size = counts.sum(axis=1)
    least = Chains(size, np.cumsum(prefix, axis=1)).least()  # everybody's set has the most frequent value, the target's
    return [Least(p[:-1], p[1:] * n / most) for p, n, most in zip(least, size, decreasing[:, 0], strict=True)]


# The worst conjunction of k basic implications about the people of a release (Martin et al., 2007).


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
    """The implications "premise -> target", one for every premise; without any, the target is just asked for."""

    odds: Fraction  # p(not the target | the implications) / P(the target | the implications)
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
    """For each k the formula of at most k implications that makes the largest P(somebody has a sensitive value)."""
    # Which few buckets are in it is found by doubles; among them all numbers are Fractions.
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
    for least in each:
        together.append(together[-1] & least)
    return [_formula(frequencies, chosen, each, together, min(number, most)) for number in k]


def _candidates(each: list[Least]) -> np.ndarray:
    """Buckets that suffice for a worst formula: for every m, where m atoms leave the least, with and without target."""
    # Another bucket with m atoms is exchanged for that one; and if that one has m' atoms already, m + m' in it leave no
    # more than the product, see :class:`Chains`.
    kinds: dict[int, int] = {}
    for bucket, least in enumerate(each):
        kinds.setdefault(id(least), bucket)
    first = np.array(list(kinds.values()))
    with_target = np.array([bucket for bucket in first if each[bucket].odds is not None])
    without = np.array([each[bucket].without for bucket in first])
    odds = np.array([each[bucket].odds for bucket in with_target])
    return np.unique(np.concatenate([first[without.argmin(axis=0)], with_target[odds.argmin(axis=0)]]))


def _formula(frequencies: Frequencies, chosen: np.ndarray, each: list[Least], together: list[Least], k: int) -> Formula:
    """Share k + 1 atoms between buckets, and those of each bucket between its people."""
    target, premises = None, []
    for i, joins, atoms in _shares(each, together, k):
        people = _people(frequencies, int(chosen[i]), atoms, joins)
        if joins:
            target = people.pop(0)
        premises += people
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
    frequencies_of_bucket = frequencies.some(np.array([bucket]))
    target, rank = frequencies_of_bucket.target[0], 0
    if joins:
        rank = int(min(frequencies_of_bucket.rank[target], m))
    chains = Chains(
        frequencies_of_bucket.size,
        frequencies_of_bucket.prefix(m),
        (rank, frequencies_of_bucket.count[[target]]) if joins else None,
        exact=True,
    )
    links = sorted(chains.links(0, m), key=lambda link: not link[0])  # the target is person 1
    people = []
    for person, (is_target, c) in enumerate(links, start=1):
        values = list(range(min(c, frequencies_of_bucket.distinct[0])))
        if is_target:
            values = [
                target,
                *(
                    at
                    for at in range(c if c > rank else c - 1)
                    if at != target and at < frequencies_of_bucket.distinct[0]
                ),
            ]
        people += [Atom(bucket, person, int(frequencies_of_bucket.value[at])) for at in values]
    return people


# (c, k)-safety: no k basic implications give anybody's value a probability of c or more (Martin et al., 2007).


#: By how much, of themselves and for each atom, odds in doubles may be too large: some roundings of 1e-16, and room.
ROUNDING = 1e-13


@dataclass(frozen=True)
class Safety:
    """Whether P(somebody has a value | k basic implications) < c, for everybody and all of them."""

    c: float  # a probability above 0; 1 is safe from certainty
    k: int

    @classmethod
    def read(cls, safe: object) -> Self | None:
        """Read the argument `safe`: None, or the pair (c, k)."""
        if safe is None:
            return None
        if not isinstance(safe, tuple) or len(safe) != 2:
            raise TableError(f"safe={short_repr(safe)}: a pair (c, k) is expected, such as (0.5, 2)")
        c = check_float(safe[0], "c of safe=(c, k)", 0.0, 1.0, TableError)
        if not c:
            raise TableError("safe=(0, k): nothing has a probability below 0; choose a larger c")
        return cls(c, check_int(safe[1], "k of safe=(c, k)", 0, error=TableError))

    def disclosure(self, frequencies: Frequencies) -> float:
        """The largest probability after k implications, rounded: 9/10 is not below 0.9; 0 if none is sensitive."""
        if (frequencies.target < 0).all():
            return 0.0
        (worst,) = worst_formulas(frequencies, [self.k])
        return as_double(worst.disclosure)

    def holds(self, least: Least) -> bool:
        """Whether it is kept by buckets of which this is the least that is left over; in doubt, not."""
        return least.odds is None or bool(least.odds[self.k] * self.c > (1 - self.c) * (1 + (self.k + 1) * ROUNDING))


@dataclass(frozen=True)
class Breach:
    """What is known of whom, where the target is surest to have a value."""

    odds: Fraction  # p(not the target | what is known) / P(the target | what is known)
    target: Atom
    without: tuple[Atom, ...]  # what the target is known not to have
    others: tuple[Atom, ...]  # what others are known to have
    family: tuple[Atom, ...]  # each of which would imply the target


def worst_breach(frequencies: Frequencies, l: int, k: int, m: int) -> Breach:
    """Find the target, the value and the knowledge with the largest probability."""
    # Known are l values that the target has not, the values of k others, and of m people that, if they have the
    # target's value, the target has it.
    # *Proof that three ways suffice.* The odds are (n - n_s - L - k_0) / n_s of the target's bucket, with L of its
    # people having one of the l values, times the probability that nobody of the family has s; the values of others
    # that help are those that are neither s nor among the l. The j-th member of the family in a bucket in which k_b
    # others are known contributes (n - n_s - k_b - j) / (n - k_b - j), which falls in j and in k_b, and its logarithm
    # is concave. So is the sum of the logarithms in the numbers that are moved from one bucket to another, which is
    # least at an end: all the family is in one bucket, and all others who are known are in the target's bucket or in
    # that of the family.
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
    for known in (0, k) if m else ():  # in the bucket of the family; in the target's own the first way does more
        p = _without_s(n, n_s, known, m)
        order = np.lexsort((p, values))
        least = order[np.searchsorted(values[order], np.arange(values.max() + 1))]  # of every value the least p
        partners.append(least[values])
        fewest = np.maximum(remaining - (k - known), 0) / n_s * p[partners[-1]]
        ways.append(np.where(partners[-1] == partners[0], np.inf, fewest))
    way, entry = map(int, np.unravel_index(np.argmin(ways), (len(ways), len(at))))
    home = int(partners[way][entry])
    known = (k + 1, 0, k)[way]
    alone = Fraction(max(int(remaining[entry]) - (0 if way == 2 else k), 0), int(n_s[entry]))
    odds = alone * _exactly(int(n[home]), int(n_s[home]), known, m)
    return _worded(frequencies, odds, (int(at[entry]), int(at[home])), (l, k, m), way == 2)


def _without_s(n: np.ndarray, n_s: np.ndarray, known: int, m: int) -> np.ndarray:
    """The probability that m of n people have not the value, so many being known to have others."""
    p = np.ones(len(n))
    for i in range(known, known + m):
        p *= np.maximum(n - n_s - i, 0) / np.maximum(n - i, 1)
        if not p.any():
            break
    return p


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
    entries = slice(*frequencies.start[bucket : bucket + 2])
    value, count = frequencies.value[entries], frequencies.count[entries]
    return value[value != s], count[value != s]
