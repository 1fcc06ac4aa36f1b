"""The linear system of a partitioned model: published rows in each partition, and shared rows of knowledge.

A source is evaluated on the driver, in a space without terms, to find the labels and sides of its rows and the
attributes that it uses; then in every partition, for the coefficients of its terms. Each row is divided by its largest
coefficient over all partitions, so that the rows equal those of a model in memory to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pickle import PicklingError
from typing import Any, NamedTuple, TypeVar

import cloudpickle
import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import StatementError
from .._utils.parallel import Executor
from ..releases.partitioned import PartitionedRelease, ReleasePart, part_of
from ..solvers.columns import SharedColumns, SplitMatrix
from ..solvers.form import ClosedForm, Groups, LinearForm
from ..solvers.modular import residues, residues_of_fraction
from ..solvers.partitions import Part
from ..solvers.sparse import (
    canonical,
    compact,
    entry_rows,
    least_by_row,
    most_by_row,
    stacked,
    with_data,
    with_shared_ones,
)
from ..sources.base import ConstraintGroup, Source, StoredSource, build_rows
from ..sources.invariants import BucketInvariants
from ..sources.statements import Statement
from ..terms.axes import group_rows, tuples_described
from ..terms.partitioned import (
    Combinations,
    GlobalMarginals,
    MissingMarginal,
    NoPattern,
    PartitionView,
    PartSpace,
    Pattern,
    PatternSpace,
    joint_of,
)
from ..terms.people import People
from ..terms.rows import Rows
from ..terms.space import Space
from .system import RowBlocks, scaled_form

#: The maximum number of combinations of QI values that a source can distinguish. Every partition stores one term per
#: combination and sensitive value, besides some hundreds of thousands of terms of its own.
MOST_COMBINATIONS = 20_000

#: Number of rows over patterns built at a time: a partition stores their terms until the columns are collected.
AT_A_TIME = 50


@dataclass(frozen=True, eq=False)
class BroadcastSource(ConstraintGroup):
    """One source of a partitioned model; the columns of its rows are built in every partition."""

    label: str | None = None
    columns: frozenset[str] = frozenset()  # the QI attributes that the source distinguishes
    called: str | None = None  # the label of its rows, if the label would otherwise repeat that of another source
    patterns: tuple[Pattern, ...] = ()  # the sums P(Q, s) in its rows, if it was evaluated on the driver

    @classmethod
    def of(
        cls, emitted: ConstraintGroup, label: str | None, columns: frozenset[str], patterns: Sequence[Pattern]
    ) -> BroadcastSource:
        """Return the source with the names and sides of the rows that it built on the driver, over its patterns."""
        rows = tuple(over_patterns(block, len(patterns)) for block in emitted.rows)
        return cls(emitted.source, rows, label=label, columns=columns, patterns=tuple(patterns))

    @property
    def sent(self) -> BroadcastSource:
        """The source as sent to partitions: with patterns, but without the records from which they were mined."""
        if not self.patterns:
            return self
        return replace(self, source=StoredSource(type(self.source).__name__, self.source.label, ()))

    def named(self, label: str) -> BroadcastSource:
        """Return a copy whose rows are labelled by `label`."""
        called = super().named(label)
        return replace(self, rows=called.rows, called=label)

    def has_same_rows(self, other: ConstraintGroup) -> bool:
        """Return whether the sources are equal, functions by their code; coefficients, in the partitions, are not compared."""
        if not isinstance(other, BroadcastSource):
            return False
        try:
            return bool(cloudpickle.dumps(self.source) == cloudpickle.dumps(other.source))
        except (TypeError, ValueError, AttributeError, PicklingError):  # what cannot be pickled may be different
            return False

    def emitted_in(self, space: PartSpace) -> Iterable[Rows]:
        """Build the rows of a partition, and check that labels, sides and costs equal those on the driver."""
        if self.patterns:
            return self._of_patterns(space)
        try:
            emitted = build_rows(self.source, space, self.label)
        except MissingMarginal as needed:
            raise StatementError(
                f"{self._name} cannot be divided among partitions: it uses {', '.join(sorted(needed.columns))} in one "
                "partition but not in all; it must use the same attributes in each"
            ) from None
        if self.called is not None:
            emitted = emitted.named(self.called)
        if len(emitted.rows) != len(self.rows):
            raise self.differs(f"the number of its blocks of rows, {len(emitted.rows)} and {len(self.rows)},")
        for block, expected in zip(emitted.rows, self.rows, strict=True):
            has_same_names = block.label == expected.label and _same_labels(block.index, expected.index)
            if not (has_same_names and over_patterns(block, 0).same_as(expected)):
                raise self.differs(f"the labels, values or costs of the rows of {block.label}")
        return emitted.rows

    def _of_patterns(self, space: PartSpace) -> Iterator[Rows]:
        """Yield the rows over the terms of a partition in batches."""
        for rows in self.rows:
            for start in range(0, len(rows), AT_A_TIME):
                batch = rows.at(np.arange(start, min(start + AT_A_TIME, len(rows))))
                used, place = np.unique(batch.matrix.indices, return_inverse=True)
                of_used = (batch.matrix.data, place, batch.matrix.indptr)
                matrix = sp.csr_array(of_used, shape=(len(batch), len(used)))
                yield replace(batch, matrix=sp.csr_array(matrix @ joint_of([self.patterns[i] for i in used], space)))

    @property
    def _name(self) -> str:
        return repr(self.called or self.label or self.source.label)

    def differs(self, what: str) -> StatementError:
        """Return the error for a source whose rows depend on the partition."""
        return StatementError(
            f"{self._name} cannot be divided among partitions: {what} differ between them; use only space.marginal, "
            "space.conditional, space.prob and space.records_described, which refer to the whole release"
        )


def over_patterns(rows: Rows, n: int) -> Rows:
    """Return the rows with the coefficients of n patterns only; without any, with names, sides and costs."""
    return replace(rows, matrix=sp.csr_array(rows.matrix[:, :n]), typed=None, view=None)


def _same_labels(first: pd.Index | None, second: pd.Index | None) -> bool:
    if first is None or second is None:
        return first is second
    return first.equals(second) and list(first.names) == list(second.names)


def in_order(sources: Sequence[BroadcastSource]) -> np.ndarray:
    """Return the order of the rows of all sources in the system, with soft rows last."""
    blocks = [rows for source in sources for rows in source.rows]
    is_soft = np.repeat([rows.penalty is not None for rows in blocks], list(map(len, blocks)))
    return np.argsort(is_soft.astype(bool), kind="stable")


#: Number of entries per term that are collected before distinct columns are computed, to save passes over all terms:
#: about twenty rows if each has a fifth of the terms.
BATCH = 4


@dataclass(frozen=True, eq=False)
class RawColumns:
    """Unscaled shared rows over the terms of one partition."""

    distinct: sp.csr_array  # each distinct column once; coefficients of probabilities
    of_term: np.ndarray  # one per term: the position of its column in `distinct`
    typed: Mapping[int, tuple[Fraction, ...]]  # distinct coefficients of rows typed as rational numbers, by row

    def sizes(self) -> Sizes:
        """Return the range of the coefficients of each row."""
        distinct = self.distinct
        least, most = least_by_row(np.abs(distinct.data), distinct), most_by_row(np.abs(distinct.data), distinct)
        ends = {
            row: (min(map(abs, coefficients)), max(map(abs, coefficients))) for row, coefficients in self.typed.items()
        }
        return Sizes(least, most, ends)

    def scaled(self, sizes: Sizes) -> SharedColumns:
        """Divide each row by its largest coefficient over all partitions; rational coefficients are rounded once."""
        rows = np.arange(self.distinct.shape[0])
        data = self.distinct.data / sizes.largest[entry_rows(self.distinct)]
        quotients = self._with_typed(
            self.distinct, data, rows, lambda a, row: float(a / sizes.typed[row][1]) if row in sizes.typed else float(a)
        )
        return SharedColumns(quotients, self.of_term)

    def residues(self, rows: np.ndarray, prime: int) -> sp.csr_array:
        """Return rows as typed, modulo a prime, over the terms."""
        distinct = sp.csr_array(self.distinct[rows])
        modulo = self._with_typed(
            distinct, residues(distinct.data, prime), rows, lambda a, _: residues_of_fraction(a, prime)
        )
        return sp.csr_array(modulo[:, self.of_term])

    def _with_typed(
        self, distinct: sp.csr_array, data: np.ndarray, rows: np.ndarray, function: Callable[[Fraction, int], Any]
    ) -> sp.csr_array:
        """Return the matrix with other data, and a function of the rational coefficients in rows as typed."""
        for place, row in enumerate(rows.tolist() if self.typed else ()):
            if row in self.typed:
                entries = slice(distinct.indptr[place], distinct.indptr[place + 1])
                typed = sorted(self.typed[row])
                place_of = np.searchsorted([float(a) for a in typed], distinct.data[entries])
                data[entries] = np.array([function(a, row) for a in typed])[place_of]
        return with_data(distinct, data)


@dataclass(frozen=True, eq=False)
class Sizes:
    """The least and the largest absolute coefficient of each row."""

    least: np.ndarray  # one per row, infinite for a row without terms
    most: np.ndarray  # one per row, 0 for a row without terms
    typed: Mapping[int, tuple[Fraction, Fraction]]  # least and most of rows typed as rational numbers, by row

    @property
    def largest(self) -> np.ndarray:
        """The divisor of each row, 1 for a row without terms."""
        return np.where(self.most > 0, self.most, 1.0)

    @property
    def mixed(self) -> np.ndarray:
        """Mask of the rows with coefficients other than 1 and -1 after exact division."""
        mixed = (self.most > 0) & (self.least != self.most)
        for row, (least, most) in self.typed.items():
            mixed[row] = least != most
        return mixed


def larger(parts: Sequence[Sizes]) -> Sizes:
    """Return the ranges of coefficients over several partitions."""
    typed: dict[int, tuple[Fraction, Fraction]] = {}
    for sizes in parts:
        for row, (least, most) in sizes.typed.items():
            least_so_far, most_so_far = typed.get(row, (least, most))
            typed[row] = min(least, least_so_far), max(most, most_so_far)
    least, most = np.min([sizes.least for sizes in parts], axis=0), np.max([sizes.most for sizes in parts], axis=0)
    return Sizes(least, most, typed)


def emitted_columns(
    part: ReleasePart,
    sources: Sequence[BroadcastSource],
    around: Mapping[frozenset[str], GlobalMarginals],
    order: np.ndarray,
) -> RawColumns:
    """Build the rows of all sources over the terms of a partition, keeping only their distinct columns."""
    nothing: frozenset[str] = frozenset()
    spaces = {nothing: PartSpace.around(part, around[nothing])}  # sufficient for statements
    n_own = spaces[nothing].n_own
    columns, typed, n = ColumnCollector(n_own), {}, 0
    for source in sources:
        if source.columns not in spaces:  # at most one more in memory, because each has codes of all terms
            spaces = {nothing: spaces[nothing], source.columns: PartSpace.around(part, around[source.columns])}
        for rows in source.emitted_in(spaces[source.columns]):
            if rows.typed:
                coefficients = tuple(a for a, terms in rows.typed if (terms < n_own).any())
                typed.update({n: coefficients} if coefficients else {})
            columns.add(own_columns(rows, n_own))
            n += len(rows)
    place = np.argsort(order)
    columns.collect()
    return RawColumns(
        compact(sp.csr_array(columns.distinct[order])),
        columns.of_term,
        {int(place[row]): coefficients for row, coefficients in typed.items()},
    )


def own_columns(rows: Rows, n_own: int) -> sp.csr_array:
    """Return the coefficients of the first `n_own` terms."""
    return canonical(sp.csr_array(rows.matrix[:, :n_own]))


class ColumnCollector:
    """The distinct columns of rows that are added block by block."""

    def __init__(self, n_terms: int) -> None:
        self.of_term = np.zeros(n_terms, dtype=np.int32)  # one per term: the position of its column in `distinct`
        self.distinct = sp.csr_array((0, min(n_terms, 1)))
        self._batch: list[sp.csr_array] = []

    def add(self, block: sp.csr_array) -> None:
        """Add a block of rows."""
        self._batch.append(block)
        if sum(matrix.nnz for matrix in self._batch) >= BATCH * len(self.of_term):
            self.collect()

    def collect(self) -> None:
        """Merge the blocks into the distinct columns, one per pair of an old and a new column."""
        if not self._batch:
            return
        new = SharedColumns(self._batch)
        n_new = new.distinct.shape[1]
        of_term, pairs = pd.factorize(self.of_term.astype(np.int64) * n_new + new.of_term)
        old, added = np.divmod(pairs, max(n_new, 1))
        both = sp.vstack([self.distinct[:, old], new.distinct[:, added]], format="csr")
        self.distinct = compact(sp.csr_array(both))
        self.of_term, self._batch = of_term.astype(np.int32), []


def check_divisible(
    part: ReleasePart, sources: Sequence[BroadcastSource], around: Mapping[frozenset[str], GlobalMarginals]
) -> None:
    """Compare the coefficients of user-defined sources in a partition with those in its two halves, term by term.

    Labels and sides are compared in all partitions. This check detects coefficients that depend on other terms, such as
    on ``len(space)``.
    """
    n = len(part.buckets)
    parts = [part, *(half_of(part, np.arange(a, b)) for a, b in ((0, n // 2), (n // 2, n)))]
    for source in sources if n > 1 else ():
        spaces = [PartSpace.around(release_part, around[source.columns]) for release_part in parts]
        for whole, *halves in zip(*(source.emitted_in(space) for space in spaces), strict=True):
            of_whole, *pieces = (own_columns(rows, at.n_own) for rows, at in zip((whole, *halves), spaces, strict=True))
            if abs(of_whole - sp.csr_array(sp.hstack(pieces, format="csr"))).sum() > 0:
                raise source.differs(f"the coefficients of {whole.label}")


def half_of(part: ReleasePart, buckets: np.ndarray) -> ReleasePart:
    """Return a partition with only the given buckets."""
    half = part_of(part, buckets)
    return replace(half, q_numbers=part.q_numbers[half.q_numbers], n_s_whole=part.n_s_whole)


def own_space(part: ReleasePart, marginals: GlobalMarginals) -> Space:
    """Return the space of the terms of a partition; named people keep their global numbers."""
    around = PartSpace.around(part, marginals)
    codes = {role: code[: around.n_own] for role, code in around.codes.items()}
    people, n = around.people, len(part.quasi_identifiers)
    return Space(part, People(people.names, people.q, people.unnamed[:n]), codes)


def groups_of(part: ReleasePart, space: Space, n_tuples: int) -> tuple[Groups, np.ndarray]:
    """Return the groups of a partition's terms, and their global numbers: QI tuples, then named people."""
    q = space.codes["q"]
    if not len(space.people):
        return Groups(q.astype(np.int32), part.n_q), part.q_numbers
    who, n = space.codes["who"], len(space.people)
    of_term, records = space.groups
    number = np.empty(len(records), dtype=np.int64)
    number[of_term] = np.where(who < n, n_tuples + who, part.q_numbers[q])
    return Groups(of_term.astype(np.int32), records), number


T = TypeVar("T")


class PartitionedSpace:
    """A partitioned release, and its global marginals by the few combinations of QI values that sources need."""

    def __init__(self, release: PartitionedRelease, people: Any, executor: Executor) -> None:
        self.release, self.executor = release, executor
        self.described: dict[Hashable, int] = {}
        self._combinations: dict[frozenset[str], Combinations] = {}
        self.people = People.of(people, self._tuples)

    @cached_property
    def parts(self) -> list[Any]:
        """Handles of the partitions, which are made on first access."""
        return self.executor.made(self.release.makers)

    def move_to(self, executor: Executor) -> None:
        """Use another executor, without discarding cached counts."""
        self.executor = executor
        vars(self).pop("parts", None)

    @cached_property
    def empty(self) -> ReleasePart:
        """A partition without buckets."""
        release, n_values = self.release, len(self.release.sensitive_values)
        return ReleasePart(
            release.qi, release.sensitive, release.bucket, release.quasi_identifiers[:0], release.sensitive_values,
            pd.Index([], name=release.bucket), sp.csr_array((0, 0), dtype=np.int64),
            sp.csr_array((n_values, 0), dtype=np.int64), n_s_whole=release.n_s, n_whole=release.n_records,
        )  # fmt: skip

    @cached_property
    def _tuples(self) -> PartitionView:
        """All QI tuples with their numbers of records, but no terms."""
        release = self.release
        nowhere = np.empty(0, dtype=np.int64)
        empty = self._combined(release.qi, nowhere, nowhere)
        marginals = GlobalMarginals(empty, empty)
        return PartitionView(self.empty, marginals, release.quasi_identifiers, release.n_q, nowhere, nowhere)

    @cached_property
    def named(self) -> Combinations:
        """The QI tuples of named people."""
        numbers = np.unique(self.people.q)
        return self._combined(self.release.qi, numbers, self.release.n_q[numbers])

    def combinations(self, columns: frozenset[str]) -> Combinations:
        """Return the combinations of values of QI attributes in all partitions, cached by set of attributes."""
        if columns not in self._combinations:
            ordered = [name for name in self.release.qi if name in columns]
            of_tuple, first = group_rows(self.release.quasi_identifiers, ordered)
            if len(first) > MOST_COMBINATIONS:
                raise StatementError(
                    f"rows by {', '.join(ordered)} cannot be divided among partitions: {len(first):,} combinations of "
                    f"values occur, but at most {MOST_COMBINATIONS:,} are supported; use fewer attributes"
                )
            n = np.bincount(of_tuple, self.release.n_q, len(first)).astype(np.int64)
            self._combinations[columns] = self._combined(ordered, first, n)
        return self._combinations[columns]

    def _combined(self, columns: Sequence[str], tuples: np.ndarray, records: np.ndarray) -> Combinations:
        """Return the combinations of some QI tuples, and the values beside each in the buckets of any partition."""
        all_codes = self.release.quasi_identifiers.codes
        codes = [np.asarray(all_codes[self.release.qi.index(column)])[tuples] for column in columns]
        by_tuple = np.array(codes, dtype=np.int64).reshape(len(columns), len(tuples)).T
        values = np.ones((len(tuples), len(self.release.sensitive_values)), dtype=bool)
        combinations = Combinations(tuple(columns), by_tuple, records, values)
        if not values.size or not columns:
            return combinations
        marks = self.executor.map(values_beside, self.parts, common=(combinations,))
        return replace(combinations, values=self.executor.reduce(np.logical_or.reduce, marks))

    def marginals(self, columns: frozenset[str]) -> GlobalMarginals:
        """Return the global marginals that partitions need for a source that distinguishes these attributes."""
        combined, of_name = self.combinations(columns), np.searchsorted(np.unique(self.people.q), self.people.q)
        return GlobalMarginals(combined, self.named, self.described, self.people.names, of_name)

    def broadcast(self, source: Source, label: str | None) -> BroadcastSource:
        """Evaluate a source in a space without terms, and count the global marginals that it needs.

        A source that needs every QI tuple is evaluated once, for all of them, if its rows are sums over patterns.
        """

        def build(space: Space) -> ConstraintGroup:
            return build_rows(source, space, label)

        emitted, columns, patterns = self._evaluated(build, over_patterns=True)
        if emitted.convex or emitted.values:
            kind = "a convex CVXPY constraint" if emitted.convex else "a CVXPY parameter"
            raise StatementError(
                f"{label or source.label!r} cannot be divided among partitions: it contains {kind}; use linear rows and "
                "numbers, or solve the release in memory"
            )
        return BroadcastSource.of(emitted, label, columns, patterns)

    def columns_of(self, row: Callable[[PartSpace], Any]) -> frozenset[str]:
        """Return the attributes that a function of the space distinguishes, and count the marginals that it needs."""
        return self._evaluated(row)[1]

    def described_tuples(self, given: Mapping[str, object]) -> np.ndarray:
        """Return a mask of the QI tuples with the given values."""
        return tuples_described(self._tuples, given)

    def _evaluated(
        self, function: Callable[[Any], T], over_patterns: bool = False
    ) -> tuple[T, frozenset[str], Sequence[Pattern]]:
        """Return the value of a function of the space without terms, and the attributes that it distinguishes.

        If these are all attributes, the function may be evaluated over patterns instead, which are then returned, too.
        """
        columns: frozenset[str] = frozenset()
        while True:
            counting = replace(self.marginals(columns), whole=self._tuples)
            try:
                return function(PartSpace.around(self.empty, counting)), columns, ()
            except MissingMarginal as needed:
                columns |= needed.columns
            if over_patterns and columns == set(self.release.qi):
                patterns = PatternSpace(self._tuples, self.people)
                with suppress(NoPattern):
                    value = function(patterns)
                    if patterns.taken:
                        return value, frozenset(), patterns.taken


def values_beside(part: ReleasePart, combinations: Combinations) -> np.ndarray:
    """Return a mask of the values that share a bucket of a partition with each combination."""
    terms, n_values = part.terms(), len(part.sensitive_values)
    group = combinations.of(part.quasi_identifiers)[terms["q"]]
    marked, known = np.zeros((len(combinations.codes), n_values), dtype=bool), group >= 0
    marked[group[known], terms["s"][known]] = True
    return marked


class PartitionedProblem(NamedTuple):
    """The partitioned problem: handles of :class:`~maxent_cvx.solvers.partitions.Part`, and the shared rows."""

    parts: list[Any]
    shared: LinearForm  # without terms: sides, scale, names, costs


def partitioned_problem(
    whole: PartitionedSpace, facts: Sequence[BroadcastSource], knowledge: Sequence[BroadcastSource]
) -> PartitionedProblem:
    """Build the rows of all sources in every partition, with a common scaling."""
    sources = [*facts, *knowledge]
    around = {columns: whole.marginals(columns) for columns in {frozenset(), *(source.columns for source in sources)}}
    order = in_order(sources)
    map_, reduce = whole.executor.map, whole.executor.reduce
    if of_users := [source for source in sources if not source.patterns and not isinstance(source.source, Statement)]:
        whole.executor.gather(map_(check_divisible, whole.parts[:1], common=(of_users, around)))
    raw = map_(emitted_columns, whole.parts, common=([source.sent for source in sources], around, order))
    sizes = reduce(larger, map_(RawColumns.sizes, raw))
    shared = shared_form(facts, knowledge, sizes, whole.release.n_records)
    n_tuples = len(whole.release.quasi_identifiers)
    common = (replace(shared, origin=None), sizes, around[frozenset()], n_tuples)
    return PartitionedProblem(map_(part_of_problem, whole.parts, raw, common=common), shared)


def shared_form(
    facts: Sequence[BroadcastSource], knowledge: Sequence[BroadcastSource], sizes: Sizes, n_records: int
) -> LinearForm:
    """Return the shared rows without terms, as :func:`~maxent_cvx.model.system.assemble_system` does in memory."""
    first = [over_patterns(rows, 0) for source in facts for rows in source.rows]
    known = [over_patterns(rows, 0) for source in knowledge for rows in source.rows]
    known.sort(key=lambda rows: rows.penalty is not None)
    blocks = RowBlocks([*first, *known], len(first))
    matrix = SplitMatrix(sp.csr_array((0, 0)), SharedColumns(sp.csr_array((len(sizes.most), 0))))
    scale = n_records / sizes.largest
    return scaled_form(matrix, blocks, 0, sum(map(len, first)), scale, sizes.mixed, n_records, np.empty(0))


def part_of_problem(
    part: ReleasePart, raw: RawColumns, shared: LinearForm, sizes: Sizes, marginals: GlobalMarginals, n_tuples: int
) -> Part:
    """Return the published rows of a partition, followed by its columns of the shared rows."""
    if part.with_counterfeits.any():
        raise StatementError(
            "buckets with more values than people (counterfeits) are not supported for partitioned releases; make a "
            "single Release"
        )
    space = own_space(part, marginals)
    # The rows of BucketInvariants, in order, over counts of records.
    marginals_of_buckets = [space.marginal([role, "bucket"]).matrix for role in ("q", "s")]
    published = canonical(compact(stacked(marginals_of_buckets)))
    records = np.concatenate([part.n_qb.data, part.n_sb.data]).astype(float)
    n, zeros, ones = len(records), np.zeros(len(records)), np.ones(len(records))
    form = LinearForm(
        SplitMatrix(with_shared_ones(published), raw.scaled(sizes)),
        np.concatenate([records, shared.low]),
        np.concatenate([records, shared.high]),
        np.concatenate([part.n_records * ones, shared.scale]),
        None,
        n,
        n + shared.n_facts,
        space.weights,
        side_error=np.concatenate([zeros, shared.side_error]),
        coefficient_error=np.concatenate([zeros, shared.coefficient_error]),
        penalties=shared.penalties,
    )
    groups, numbers = groups_of(part, space, n_tuples)
    return Part(form, ClosedForm(*BucketInvariants(part).closed_form(space)), groups, numbers, raw)
