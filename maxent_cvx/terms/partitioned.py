"""Terms of a release in partitions: the space of one partition, and patterns of values across all.

An association or a rule is mined of all QI tuples together, and is about those with some values. The source is asked
once, where all tuples are known and no terms; of each sum P(Q, s) that it takes, partitions are told the values of Q.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import StatementError
from .._utils.tables import choose, group_codes, multi_index
from ..releases.base import View
from ..releases.partitioned import ReleasePart
from .axes import Axes, as_names, mark_tuples
from .block import Block
from .people import People
from .space import Space

__all__ = [
    "Combinations",
    "GlobalMarginals",
    "MissingMarginal",
    "NoPattern",
    "PartSpace",
    "PartitionView",
    "Pattern",
    "PatternSpace",
    "described_as",
    "joint_of",
]

# What a source that speaks of one partition must know of all the others.
#
# A row about P(flu | men, college) has the same coefficient on every term in whatever bucket, so that every partition
# can emit the coefficients of its own terms. Two things are of the whole: how many records are as described, and which
# groups of QI tuples and values occur at all, by which blocks are labelled. Both are answered by the release as coarse
# as the source sees it: the combinations of values of a few QI attributes.


#: Up to so many combinations of QI values a source can speak of by labels: every partition holds a term for each of
#: them with each sensitive value, and a partition has some hundreds of thousands of terms of its own.
MOST_COMBINATIONS = 20_000


class MissingMarginal(Exception):
    """Something of the whole that is not known yet: it is counted, and the source asked again.

    No error for users, and none of the package's, so that no source takes it for one.
    """

    def __init__(self, columns: frozenset[str]) -> None:
        super().__init__(columns)
        self.columns = columns


@dataclass(frozen=True, eq=False)
class Combinations:
    """The combinations of values that some QI attributes have in the whole."""

    columns: tuple[str, ...]  # the attributes, in the order of the release
    codes: np.ndarray  # positions of values in the levels of the QI tuples; sorted
    records: np.ndarray  # records of the whole with each
    values: np.ndarray  # whether a value is in some bucket together with the combination

    def of(self, tuples: pd.MultiIndex) -> np.ndarray:
        """The combination that each QI tuple has; -1 of one that has none of these."""
        known, own = np.zeros(len(self.codes), dtype=np.int64), np.zeros(len(tuples), dtype=np.int64)
        for column, codes in zip(self.columns, self.codes.T, strict=True):
            place = tuples.names.index(column)
            size, code = len(tuples.levels[place]), np.asarray(tuples.codes[place])
            # Dense again after each column, so that the mixed-radix key cannot overflow.
            keys, known = np.unique(known * size + codes, return_inverse=True)
            own = _find(keys, np.where(own < 0, -1, own * size + code))
        return own if len(self.codes) else np.full(len(tuples), -1)

    def tuples(self, like: pd.MultiIndex) -> pd.MultiIndex:
        """The combinations as QI tuples, which have the other attributes of nobody in particular."""
        codes = [np.zeros(len(self.codes), dtype=np.int64) for _ in like.names]
        for column, own in zip(self.columns, self.codes.T, strict=True):
            codes[like.names.index(column)] = own
        return multi_index(like.levels, codes, list(like.names))

    @classmethod
    def counted(
        cls, columns: frozenset[str], tuples: pd.MultiIndex, records: np.ndarray, n_values: int
    ) -> Combinations:
        """Count the records of every combination that occurs; that every value goes with each is still to be seen."""
        ordered = tuple(str(name) for name in tuples.names if name in columns)
        places = [tuples.names.index(column) for column in ordered]
        of_tuple = np.zeros(len(tuples), dtype=np.int64)
        if ordered:
            of_tuple = group_codes(
                [np.asarray(tuples.codes[i]) for i in places], [len(tuples.levels[i]) for i in places]
            )
        known, first = np.unique(of_tuple, return_index=True)
        if len(known) > MOST_COMBINATIONS:
            raise StatementError(
                f"what is said by {', '.join(ordered)} cannot be divided among partitions: {len(known):,} combinations "
                f"of their values occur, and up to {MOST_COMBINATIONS:,} can be told apart; speak of fewer attributes"
            )
        codes = np.empty((len(known), len(places)), dtype=np.int64)
        for at, i in enumerate(places):
            codes[:, at] = np.asarray(tuples.codes[i])[first]
        n = np.bincount(of_tuple, records, len(known)).astype(np.int64)
        return cls(ordered, codes, n, np.ones((len(known), n_values), dtype=bool))


def _find(keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The place of each wanted key among sorted ones; -1 of one that is not there."""
    if not len(keys):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, at, -1)


@dataclass(frozen=True, eq=False)
class GlobalMarginals:
    """What is known of the whole in every partition."""

    combinations: Combinations  # of the attributes that the source speaks of by labels
    named: Combinations  # the QI tuples of people who have names, with all attributes
    # records of the whole that are as described, by :func:`described_as`
    described: Mapping[Hashable, int] = field(default_factory=dict)
    names: pd.Index = field(default_factory=lambda: pd.Index([], dtype=object, name="who"))  # the names of people
    # the place of each one's QI tuple among those of `named`
    of_name: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def records(self, given: Mapping[str, object] | None) -> int:
        """The records of the whole that are as described."""
        return self.described[described_as(given)]


def described_as(given: Mapping[str, object] | None) -> Hashable:
    """A description of people as something that can be looked up, whatever the order in which it was written."""
    return frozenset((name, choose(chosen, name)) for name, chosen in (given or {}).items())


# One partition and its surroundings as a view: its own terms, and a few that stand for all others.


@dataclass(frozen=True, eq=False, repr=False)
class PartitionView(View):
    """The terms of one partition, in order, and behind them those that stand for the whole: no bucket has these.

    Its QI tuples are those of the partition, those of named people, and one for each combination of values by which a
    source labels rows. Such a tuple has the other attributes of nobody in particular, and as many records as the
    combination has in the whole beyond the tuples before: sums over what is told apart are those of the whole.
    """

    part: ReleasePart
    surroundings: GlobalMarginals
    tuples: pd.MultiIndex  # all QI tuples
    records: np.ndarray  # records of the whole of each
    own: np.ndarray  # the places of the partition's QI tuples among them, ascending
    of_name: np.ndarray  # the place of the QI tuple of every named person
    noun: ClassVar[str] = "release"

    @classmethod
    def of(cls, part: ReleasePart, surroundings: GlobalMarginals) -> PartitionView:
        """Surround a partition."""
        own, named, combined = part.quasi_identifiers, surroundings.named, surroundings.combinations
        if set(combined.columns) == set(part.qi):  # every QI tuple is told apart, and they are those of the whole
            tuples = multi_index(own.levels, list(combined.codes.T), list(own.names))
            of_name = combined.of(named.tuples(own))[surroundings.of_name]
            return cls(part, surroundings, tuples, combined.records, combined.of(own), of_name)
        at = named.of(own)  # of people with names, few of whom are in the partition
        places = np.full(len(named.codes), -1)
        places[at[at >= 0]] = np.flatnonzero(at >= 0)
        is_own = places >= 0
        places[~is_own] = len(own) + np.arange(int((~is_own).sum()))
        codes = [np.concatenate([own.codes[i], named.codes[~is_own, i]]) for i in range(own.nlevels)]
        apart = multi_index(own.levels, codes, list(own.names))
        records = np.concatenate([part.n_q, named.records[~is_own]])
        rest = combined.records - np.bincount(combined.of(apart), records, len(combined.codes)).astype(np.int64)
        others = combined.tuples(own)
        codes = [np.concatenate([mine, others.codes[i]]) for i, mine in enumerate(codes)]
        tuples = multi_index(own.levels, codes, list(own.names))
        records = np.concatenate([records, rest])
        return cls(part, surroundings, tuples, records, np.arange(len(own)), places[surroundings.of_name])

    @property
    def qi(self) -> tuple[str, ...]:  # type: ignore[override]
        """The columns of the release."""
        return self.part.qi

    @property
    def sensitive(self) -> tuple[str, ...]:  # type: ignore[override]
        """The columns of the release."""
        return self.part.sensitive

    @property
    def sensitive_values(self) -> pd.Index:  # type: ignore[override]
        """Those of the whole."""
        return self.part.sensitive_values

    @property
    def quasi_identifiers(self) -> pd.MultiIndex:  # type: ignore[override]
        """All QI tuples, where each of the whole is told apart."""
        self.need(self.qi)
        return self.tuples

    @property
    def n_q(self) -> np.ndarray:
        """Records of all QI tuples, where each of the whole is told apart."""
        self.need(self.qi)
        return self.records

    @property
    def n_s(self) -> np.ndarray:
        """Records of the whole with each sensitive value."""
        return self.part.n_s

    @property
    def n_records(self) -> int:
        """N, the records of the whole."""
        return self.part.n_records

    @property
    def axes(self) -> Mapping[str, tuple[tuple[str, ...], pd.Index]]:
        """QI tuples, sensitive values, buckets."""
        return {
            "q": (self.qi, self.tuples),
            "s": (self.sensitive, self.sensitive_values),
            "bucket": ((self.part.bucket,), self.part.buckets),
        }

    @property
    def published(self) -> Mapping[tuple[str, ...], pd.Series]:
        """Nothing that a partition could tell of the whole."""
        raise StatementError("what is said of single buckets cannot be divided among partitions; say it of people")

    def need(self, columns: tuple[str, ...] | list[str]) -> None:
        """Ask for combinations of values to be told apart, if they are not."""
        if missing := set(columns) - set(self.surroundings.combinations.columns):
            raise MissingMarginal(frozenset(missing))

    def terms(self) -> dict[str, np.ndarray]:
        """Number the terms of the partition, then those that stand for the whole, in a bucket of their own."""
        own, combined = self.part.terms(), self.surroundings.combinations
        named = np.zeros(len(self.surroundings.named.codes), dtype=np.int64)
        named[self.surroundings.of_name] = self.of_name
        (n, s_named), (c, s_rest) = self.surroundings.named.values.nonzero(), combined.values.nonzero()
        q = np.concatenate([named[n], len(self.tuples) - len(combined.codes) + c])
        s = np.concatenate([s_named, s_rest])
        q, s = np.divmod(np.unique(q * len(self.sensitive_values) + s), len(self.sensitive_values))
        return {
            "q": np.concatenate([self.own[own["q"]], q]),
            "s": np.concatenate([own["s"], s]),
            "bucket": np.concatenate([own["bucket"], np.full(len(q), len(self.part.buckets))]),
        }

    def people(self) -> People:
        """The named people of the whole; a combination stands for unnamed ones, even where nobody is left of it."""
        unnamed = self.records - np.bincount(self.of_name, minlength=len(self.tuples))
        if len(self.surroundings.combinations.columns) < len(self.qi):
            rest = slice(len(unnamed) - len(self.surroundings.combinations.codes), None)
            unnamed[rest] = np.maximum(unnamed[rest], 1)
        return People(self.surroundings.names, self.of_name, unnamed)


# The space of one partition: expressions over its terms that mean what they mean of the whole.


class SeenAxes(Axes):
    """The axes of a partition and its surroundings: what labels are made of must be told apart everywhere."""

    def of(self, name: str) -> tuple[np.ndarray, pd.Index]:
        """Codes over the terms of one column or role."""
        self._check(name)
        return super().of(name)

    def of_column(self, name: str) -> tuple[np.ndarray, pd.Index]:
        """Codes over the terms of one column."""
        self._check(name)
        return super().of_column(name)

    def tell_apart(self, names: Iterable[str]) -> None:
        """Have the combinations of values of some QI attributes told apart."""
        view = self.view
        assert isinstance(view, PartitionView)
        view.need([name for name in names if name in view.qi])

    def _check(self, name: str) -> None:
        view = self.view
        assert isinstance(view, PartitionView)
        if name in ("bucket", view.part.bucket):
            raise StatementError(
                "what is said of single buckets cannot be divided among partitions; say it of people, by "
                "quasi-identifiers"
            )
        view.need([*view.qi] if name == "q" else [name] * (name in view.qi))


@dataclass(frozen=True, eq=False, repr=False)
class PartSpace(Space):
    """The terms of one partition, in front of those that stand for the whole, which no row keeps.

    Whatever a source builds of ``marginal``, ``conditional``, ``prob`` and ``described`` has the same labels and sides
    in every partition, and the coefficients that it has in a model of the whole release.
    """

    @classmethod
    def around(cls, part: ReleasePart, surroundings: GlobalMarginals) -> PartSpace:
        """The space of a partition in its surroundings."""
        view = PartitionView.of(part, surroundings)
        people = view.people()
        return cls(view, people, people.split(view.terms()) if len(people) else view.terms())

    @cached_property
    def axes(self) -> Axes:
        """The columns and roles by which terms are named."""
        return SeenAxes(self.view, self.people, self.codes)

    @cached_property
    def n_own(self) -> int:
        """The number of terms of the partition, which come first."""
        return int(np.searchsorted(self.codes["bucket"], len(self._seen.part.buckets)))

    @property
    def _seen(self) -> PartitionView:
        assert isinstance(self.view, PartitionView)
        return self.view

    def marginal(self, by: str | Sequence[str]) -> Block:
        """Sum the terms into P(by), one row for each combination of values that can occur in the whole."""
        names = [column for name in as_names(by) for column in (self.view.qi if name == "q" else (name,))]
        self._seen.need([name for name in names if name in self.view.qi])
        return super().marginal(names)

    def described(self, given: Mapping[str, object] | None) -> np.ndarray:
        """Mark the QI tuples that are as described; those that stand for others, by what is told apart of them."""
        return self._described(given)[0]

    def records_by(self, attribute: str, given: Mapping[str, object] | None = None) -> np.ndarray:
        """Count the records of the whole that are as described by their value of a QI attribute."""
        self._seen.need([name for name in (attribute, *(given or {})) if name in self.view.qi])
        return super().records_by(attribute, given)

    def _described(self, given: Mapping[str, object] | None) -> tuple[np.ndarray, int]:
        records = self._seen.surroundings.records(given)
        return mark_tuples(self.view, given), records

    def _records_of_tuples(self) -> np.ndarray:
        return self._seen.records


#: Columns that stand for patterns while a source is asked: more sums P(Q, s) than that take hours to emit.
MOST_PATTERNS = 2**20


class NoPattern(Exception):
    """A source says something else than sums over patterns; no error for users."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """A set of QI tuples with some values, and a sensitive value."""

    codes: Mapping[int, np.ndarray]  # of the levels of QI tuples that it sets, the codes it has
    s: int

    def marks(self, tuples: pd.MultiIndex) -> np.ndarray:
        """Mark the QI tuples that have the values."""
        mask = np.ones(len(tuples), dtype=bool)
        for level, some in self.codes.items():
            chosen = np.zeros(len(tuples.levels[level]), dtype=bool)
            chosen[some] = True
            mask &= chosen[np.asarray(tuples.codes[level])]
        return mask


class NoTerms(Mapping[str, np.ndarray]):
    """The codes of terms of which there are none: who looks at them says no pattern."""

    def __getitem__(self, role: str) -> np.ndarray:
        raise NoPattern

    def __iter__(self) -> Iterator[str]:
        raise NoPattern

    def __len__(self) -> int:
        raise NoPattern


@dataclass(frozen=True, eq=False, repr=False)
class PatternSpace(Space):
    """The space of all QI tuples and no terms, whose columns stand for the sums P(Q, s) that a source takes."""

    taken: list[Pattern] = field(default_factory=list)  # one per column, in order

    @classmethod
    def over(cls, tuples: PartitionView, people: People) -> PatternSpace:
        """The space of all QI tuples."""
        return cls(tuples, people, NoTerms())

    def __len__(self) -> int:
        return MOST_PATTERNS

    @property
    def counts(self) -> None:  # type: ignore[override]
        """No variable of CVXPY stands for patterns."""
        raise NoPattern

    def joint(self, members: sp.csr_array, s: np.ndarray) -> sp.csr_array:
        """Coefficients of P(Q, s) on the columns that stand for them."""
        start, tuples = len(self.taken), self.view.axes["q"][1]
        assert isinstance(tuples, pd.MultiIndex)
        if members.shape[1] != len(tuples) or (members.data != 1).any():
            raise NoPattern
        self.taken.extend(pattern_of(members.indices[a:b], int(value), tuples) for a, b, value in zip(
            members.indptr, members.indptr[1:], np.asarray(s), strict=False
        ))  # fmt: skip
        n = members.shape[0]
        if len(self.taken) > MOST_PATTERNS:
            raise StatementError(f"{len(self.taken):,} patterns cannot be divided among partitions; say fewer")
        return sp.csr_array((np.ones(n), np.arange(start, start + n), np.arange(n + 1)), shape=(n, MOST_PATTERNS))


def pattern_of(members: np.ndarray, s: int, tuples: pd.MultiIndex) -> Pattern:
    """The values that QI tuples have, if all tuples with these are among them."""
    codes = {}
    for level, values in enumerate(tuples.levels):
        has = np.zeros(len(values), dtype=bool)
        has[np.asarray(tuples.codes[level])[members]] = True
        if not has.all():
            codes[level] = np.flatnonzero(has)
    found = Pattern(codes, s)
    if np.count_nonzero(found.marks(tuples)) != len(members):
        raise NoPattern
    return found


def joint_of(patterns: Sequence[Pattern], space: Space) -> sp.csr_array:
    """Coefficients of P(Q, s) on the terms of a space, a row a pattern."""
    tuples = space.view.axes["q"][1]
    assert isinstance(tuples, pd.MultiIndex)
    found = [np.flatnonzero(one.marks(tuples)) for one in patterns]
    ends = np.cumsum([0, *map(len, found)])
    indices = np.concatenate([np.empty(0, dtype=np.int64), *found])
    members = sp.csr_array((np.ones(len(indices)), indices, ends), shape=(len(patterns), len(tuples)))
    return space.joint(members, np.array([one.s for one in patterns], dtype=np.int64))
