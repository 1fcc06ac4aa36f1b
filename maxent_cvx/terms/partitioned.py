"""Terms of a release in partitions: the space of one partition, and patterns of values across all.

A row about P(flu | men, college) has the same coefficient on its terms in every bucket, so each partition can compute
the coefficients of its own terms. Only two quantities depend on the whole release: the number of records that match a
description, and the combinations of values that occur, which label the rows of blocks. Both follow from marginals of
the whole release over the few QI attributes that a source distinguishes.

Associations and rules are mined from all QI tuples together, and each concerns the tuples with certain values. Such a
source is evaluated once, on the driver, which has all tuples but no terms; for each sum P(Q, s) in its rows, partitions
receive the values of Q.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NoReturn

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import StatementError
from .._utils.tables import choose, multi_index
from ..releases.base import View
from ..releases.partitioned import ReleasePart
from .axes import mark_tuples, tuples_described
from .people import People
from .space import Space

NO_BUCKETS = "rows about single buckets cannot be divided among partitions; use rows about people, by quasi-identifiers"


class MissingMarginal(Exception):
    """Request the marginal of the whole release over some QI attributes, after which the source is evaluated again.

    Users never see it. It does not derive from the package's errors, so that no source handles it as one.
    """

    def __init__(self, columns: frozenset[str]) -> None:
        super().__init__(columns)
        self.columns = columns


@dataclass(frozen=True, eq=False)
class Combinations:
    """The combinations of values of some QI attributes in the whole release, sorted."""

    columns: tuple[str, ...]  # the attributes, in the order of the release
    codes: np.ndarray  # positions of values in the levels of the QI tuples, shape (combinations, attributes)
    records: np.ndarray  # number of records of the whole release, one per combination
    values: np.ndarray  # whether some bucket contains both the combination and the value, (combinations, values)

    def of(self, tuples: pd.MultiIndex) -> np.ndarray:
        """Return the position of the combination of each QI tuple; -1 if it is not among them."""
        if not self.columns:
            return np.full(len(tuples), len(self.codes) - 1)  # one combination, or none
        codes = [np.asarray(tuples.codes[tuples.names.index(column)]) for column in self.columns]
        return pd.MultiIndex.from_arrays(list(self.codes.T)).get_indexer(pd.MultiIndex.from_arrays(codes))

    def tuples(self, like: pd.MultiIndex) -> pd.MultiIndex:
        """Return the combinations as QI tuples, with arbitrary values of the other attributes."""
        codes = [np.zeros(len(self.codes), dtype=np.int64) for _ in like.names]
        for column, code in zip(self.columns, self.codes.T, strict=True):
            codes[like.names.index(column)] = code
        return multi_index(like.levels, codes, list(like.names))


@dataclass(frozen=True, eq=False)
class GlobalMarginals:
    """Marginals of the whole release, given to every partition."""

    combinations: Combinations  # of the attributes that the source distinguishes
    named: Combinations  # the QI tuples of named people, with all attributes
    described: dict[Hashable, int] = field(default_factory=dict)  # number of matching records, by description
    names: pd.Index = field(default_factory=lambda: pd.Index([], dtype=object, name="who"))  # of named people
    of_name: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # their positions in `named`
    whole: PartitionView | None = None  # all QI tuples, on the driver, which counts records for all partitions

    def records(self, given: Mapping[str, object] | None) -> int:
        """Return the number of records of the whole release that match a description."""
        described = frozenset((name, choose(chosen, name)) for name, chosen in (given or {}).items())
        if self.whole is not None:
            mask = mark_tuples(self.whole, given)
            self.described.setdefault(described, int(self.whole.records[mask].sum()))
            tuples_described(self.whole, given)  # raises if nobody matches, on the driver only: a source may count 0
        return self.described[described]


@dataclass(frozen=True, eq=False, repr=False)
class PartitionView(View):
    """The terms of one partition, followed by terms outside its buckets that represent the whole release.

    Its QI tuples are those of the partition, those of named people, and one per combination of values that a source
    distinguishes. The latter have arbitrary values of the other attributes, and the records of the combination in the
    whole release that the other tuples do not count. Sums over distinguished attributes thus equal those of the whole.
    """

    part: ReleasePart
    marginals: GlobalMarginals
    tuples: pd.MultiIndex  # all QI tuples
    records: np.ndarray  # number of records of the whole release, one per QI tuple
    own: np.ndarray  # the positions of the partition's own QI tuples, ascending
    of_name: np.ndarray  # the position of the QI tuple of every named person
    noun: ClassVar[str] = "release"

    @classmethod
    def of(cls, part: ReleasePart, marginals: GlobalMarginals) -> PartitionView:
        """Make the view of a partition."""
        part_tuples, named, combined = part.quasi_identifiers, marginals.named, marginals.combinations
        if set(combined.columns) == set(part.qi):  # every QI tuple of the whole release is distinguished
            tuples = multi_index(part_tuples.levels, list(combined.codes.T), list(part_tuples.names))
            of_name = combined.of(named.tuples(part_tuples))[marginals.of_name]
            return cls(part, marginals, tuples, combined.records, combined.of(part_tuples), of_name)
        at = named.of(part_tuples)  # few named people are in the partition
        places = np.full(len(named.codes), -1)
        places[at[at >= 0]] = np.flatnonzero(at >= 0)
        is_own = places >= 0
        places[~is_own] = len(part_tuples) + np.arange(int((~is_own).sum()))
        codes = [np.concatenate([part_tuples.codes[i], named.codes[~is_own, i]]) for i in range(part_tuples.nlevels)]
        apart = multi_index(part_tuples.levels, codes, list(part_tuples.names))
        records = np.concatenate([part.n_q, named.records[~is_own]])
        represented = np.bincount(combined.of(apart), records, len(combined.codes)).astype(np.int64)
        others = combined.tuples(part_tuples)
        codes = [np.concatenate([mine, others.codes[i]]) for i, mine in enumerate(codes)]
        tuples = multi_index(part_tuples.levels, codes, list(part_tuples.names))
        records = np.concatenate([records, combined.records - represented])
        return cls(part, marginals, tuples, records, np.arange(len(part_tuples)), places[marginals.of_name])

    # Columns, values and numbers of records of the whole release, which every part stores.
    qi = property(lambda self: self.part.qi)
    sensitive = property(lambda self: self.part.sensitive)
    sensitive_values = property(lambda self: self.part.sensitive_values)
    n_s = property(lambda self: self.part.n_s)
    n_records = property(lambda self: self.part.n_records)

    @property
    def quasi_identifiers(self) -> pd.MultiIndex:  # type: ignore[override]
        """All QI tuples; an error unless every QI tuple of the whole release is distinguished."""
        self.tell_apart(self.qi)
        return self.tuples

    @property
    def n_q(self) -> np.ndarray:
        """Records of all QI tuples; an error unless every QI tuple of the whole release is distinguished."""
        self.tell_apart(self.qi)
        return self.records

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
        """Not available: a partition does not contain the other buckets of the release."""
        raise StatementError(NO_BUCKETS)

    def tell_apart(self, names: Iterable[str]) -> None:
        """Check that the combinations of values of some columns or roles are distinguished."""
        columns = {column for name in names for column in (self.qi if name == "q" else (name,))}
        if columns & {"bucket", self.part.bucket}:
            raise StatementError(NO_BUCKETS)
        if missing := columns.intersection(self.qi).difference(self.marginals.combinations.columns):
            raise MissingMarginal(frozenset(missing))

    def terms(self) -> dict[str, np.ndarray]:
        """Number the terms of the partition, then those that represent the whole release, in a bucket of their own."""
        part_terms, combined = self.part.terms(), self.marginals.combinations
        named = np.zeros(len(self.marginals.named.codes), dtype=np.int64)
        named[self.marginals.of_name] = self.of_name
        (n, s_named), (c, s_rest) = self.marginals.named.values.nonzero(), combined.values.nonzero()
        q = np.concatenate([named[n], len(self.tuples) - len(combined.codes) + c])
        s = np.concatenate([s_named, s_rest])
        q, s = np.divmod(np.unique(q * len(self.sensitive_values) + s), len(self.sensitive_values))
        return {
            "q": np.concatenate([self.own[part_terms["q"]], q]),
            "s": np.concatenate([part_terms["s"], s]),
            "bucket": np.concatenate([part_terms["bucket"], np.full(len(q), len(self.part.buckets))]),
        }

    def people(self) -> People:
        """Return the named people of the whole release; every combination represents at least one unnamed person."""
        unnamed = self.records - np.bincount(self.of_name, minlength=len(self.tuples))
        if len(self.marginals.combinations.columns) < len(self.qi):
            representatives = slice(len(unnamed) - len(self.marginals.combinations.codes), None)
            unnamed[representatives] = np.maximum(unnamed[representatives], 1)
        return People(self.marginals.names, self.of_name, unnamed)


@dataclass(frozen=True, eq=False, repr=False)
class PartSpace(Space):
    """The terms of one partition, followed by those that represent the whole release, which are cut from all rows.

    Rows built from ``marginal``, ``conditional``, ``prob`` and ``described`` have the same labels and sides in every
    partition, and the coefficients that they have in a model of the whole release.
    """

    view: PartitionView

    @classmethod
    def around(cls, part: ReleasePart, marginals: GlobalMarginals) -> PartSpace:
        """Make the space of a partition, given marginals of the whole release."""
        view = PartitionView.of(part, marginals)
        return cls.of(view, view.people())

    @cached_property
    def n_own(self) -> int:
        """The number of terms of the partition, which come first."""
        return int(np.searchsorted(self.codes["bucket"], len(self.view.part.buckets)))

    @property
    def counts(self) -> NoReturn:
        """Not available, and neither is `p`: the same position is another term in each partition."""
        raise StatementError(
            "space.p and space.counts cannot be used in partitions, each of which has other terms; use space.marginal, "
            "space.conditional or space.prob"
        )

    def _described(self, given: Mapping[str, object] | None) -> tuple[np.ndarray, int]:
        records = self.view.marginals.records(given)
        return mark_tuples(self.view, given), records

    def _records_of_tuples(self) -> np.ndarray:
        return self.view.records


#: The maximum number of patterns, and of the columns that represent them while a source is evaluated. Computing the
#: rows of more sums P(Q, s) takes hours.
MOST_PATTERNS = 2**20


class NoPattern(Exception):
    """Signal that the rows of a source are not sums over patterns; users never see it."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """The QI tuples with certain values, and a sensitive value."""

    codes: Mapping[int, np.ndarray]  # the allowed codes of some levels of the QI tuples
    s: int

    def marks(self, tuples: pd.MultiIndex) -> np.ndarray:
        """Mark the QI tuples with these values."""
        mask = np.ones(len(tuples), dtype=bool)
        for level, numbers in self.codes.items():
            chosen = np.zeros(len(tuples.levels[level]), dtype=bool)
            chosen[numbers] = True
            mask &= chosen[np.asarray(tuples.codes[level])]
        return mask


def no_pattern() -> NoReturn:
    """Raise NoPattern: a source that reads the codes of terms does not use patterns."""
    raise NoPattern


@dataclass(frozen=True, eq=False, repr=False)
class PatternSpace(Space):
    """The space of all QI tuples without terms; its columns represent the sums P(Q, s) that a source uses."""

    codes: Mapping[str, np.ndarray] = field(default_factory=lambda: defaultdict(no_pattern))
    taken: list[Pattern] = field(default_factory=list)  # one per column, in order

    def __len__(self) -> int:
        return MOST_PATTERNS

    @property
    def _variable(self) -> NoReturn:
        """Not available: no CVXPY variable represents patterns."""
        raise NoPattern

    def joint(self, members: sp.csr_array, s: np.ndarray) -> sp.csr_array:
        """Return the coefficients of the sums P(Q, s) on the columns that represent them."""
        start, tuples = len(self.taken), self.view.axes["q"][1]
        assert isinstance(tuples, pd.MultiIndex)
        if members.shape[1] != len(tuples) or (members.data != 1).any():
            raise NoPattern
        self.taken.extend(pattern_of(members.indices[a:b], int(value), tuples) for a, b, value in zip(
            members.indptr, members.indptr[1:], np.asarray(s), strict=False
        ))  # fmt: skip
        n = members.shape[0]
        if len(self.taken) > MOST_PATTERNS:
            raise StatementError(f"{len(self.taken):,} patterns cannot be divided among partitions; use fewer")
        return sp.csr_array((np.ones(n), np.arange(start, start + n), np.arange(n + 1)), shape=(n, MOST_PATTERNS))


def pattern_of(members: np.ndarray, s: int, tuples: pd.MultiIndex) -> Pattern:
    """Return the values of QI tuples as a pattern; raise NoPattern if other tuples have these values, too."""
    codes = {}
    for level, values in enumerate(tuples.levels):
        has = np.zeros(len(values), dtype=bool)
        has[np.asarray(tuples.codes[level])[members]] = True
        if not has.all():
            codes[level] = np.flatnonzero(has)
    pattern = Pattern(codes, s)
    if np.count_nonzero(pattern.marks(tuples)) != len(members):
        raise NoPattern
    return pattern


def joint_of(patterns: Sequence[Pattern], space: Space) -> sp.csr_array:
    """Return the coefficients of P(Q, s) on the terms of a space, one row per pattern."""
    tuples = space.view.axes["q"][1]
    assert isinstance(tuples, pd.MultiIndex)
    members_of = [np.flatnonzero(pattern.marks(tuples)) for pattern in patterns]
    ends = np.cumsum([0, *map(len, members_of)])
    indices = np.concatenate([np.empty(0, dtype=np.int64), *members_of])
    members = sp.csr_array((np.ones(len(indices)), indices, ends), shape=(len(patterns), len(tuples)))
    return space.joint(members, np.array([pattern.s for pattern in patterns], dtype=np.int64))
