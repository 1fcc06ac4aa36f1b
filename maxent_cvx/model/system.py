"""Conversion of sources into one linear system: labelled groups of rows, and low <= A x <= high over counts of records.

The numbers of sources are changed in two ways, and the certificate accounts for both. Published counts are integers,
but n / N * N may differ from n in floating point, so the sides of facts are rounded to integers. Each row is scaled so
that its largest coefficient is 1, which makes rows in different units comparable.
"""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._utils.errors import DuplicateLabel, RepeatedStatement, StatementError
from .._utils.validation import check_str
from ..solvers.columns import SharedColumns, SplitMatrix
from ..solvers.costs import Penalties
from ..solvers.form import ClosedForm, Coefficients, Convex, Groups, LinearForm, Problem, by_coefficient
from ..solvers.monitor import check_step
from ..solvers.parameters import PLACES
from ..solvers.sparse import canonical, compact, entry_rows, most_by_row, stacked, with_data
from ..solvers.substitution import substituted
from ..sources.base import ConstraintGroup, Custom, Source, as_source
from ..sources.invariants import PriorZeros, PublishedRows
from ..sources.parser import read_statement
from ..terms.rows import Rows, rounded_to_integers
from ..terms.space import Space
from .program import Program

#: Default remedies in messages about contradictory rows of the release, and of knowledge.
PUBLISHED = "correct the published table that is wrong, or make the view without it"
KNOWLEDGE = "correct it, allow a tolerance (+- eps), or remove it"


class RowBlocks(Sequence[Rows]):
    """Blocks of rows over p with consecutive row numbers: the origin of the rows of a linear form."""

    def __init__(self, blocks: Sequence[Rows], n_facts: int = 0) -> None:
        self._blocks, self._n_facts = tuple(blocks), n_facts  # the first blocks are facts

    def __len__(self) -> int:
        return len(self._blocks)

    def __getitem__(self, i):  # type: ignore[no-untyped-def]
        return self._blocks[i]

    @property
    def knowledge(self) -> tuple[Rows, ...]:
        """The blocks of knowledge, after the facts."""
        return self._blocks[self._n_facts :]

    @cached_property
    def starts(self) -> np.ndarray:
        """The number of the first row of each block and, last, the number of rows."""
        return np.cumsum([0, *map(len, self._blocks)])

    @cached_property
    def by_label(self) -> dict[str, Rows]:
        """The blocks by label, in order; a repeated label is numbered: "P(s) (2)"."""
        times: Counter[str] = Counter()
        blocks = {}
        for rows in self._blocks:
            times[rows.label] += 1
            number = f" ({times[rows.label]})" if times[rows.label] > 1 else ""
            blocks[rows.label + number] = rows
        return blocks

    @property
    def labels(self) -> dict[str, slice]:
        """The numbers of the rows of each block, by label, in order."""
        ends = itertools.pairwise(self.starts.tolist())
        return {label: slice(start, end) for label, (start, end) in zip(self.by_label, ends, strict=True)}

    @property
    def typed(self) -> np.ndarray:
        """The numbers of the rows whose coefficients were typed as rational numbers."""
        pairs = zip(self.starts, self._blocks, strict=False)
        return np.array([start for start, rows in pairs if rows.typed], dtype=np.int64)

    def find(self, row: int) -> tuple[Rows, int]:
        """Return the block of a row, and the position of the row in it."""
        if not 0 <= row < self.starts[-1]:
            raise IndexError(row)
        block = int(np.searchsorted(self.starts, row, side="right")) - 1
        return self._blocks[block], row - int(self.starts[block])

    def name(self, row: int) -> str:
        """Return the label of a row."""
        rows, place = self.find(row)
        return rows.name(place)

    def remedy(self, row: int) -> str:
        """Return the remedy for a row that contradicts others."""
        return self.find(row)[0].remedy or (PUBLISHED if row < self.starts[self._n_facts] else KNOWLEDGE)

    def coefficients(self, row: int) -> Coefficients:
        """Return the distinct coefficients of a row, as typed if available, and the terms of each."""
        rows, place = self.find(row)
        if rows.typed is not None:
            return rows.typed
        entries = slice(rows.matrix.indptr[place], rows.matrix.indptr[place + 1])
        return by_coefficient(rows.matrix.data[entries], rows.matrix.indices[entries])

    def sides(self, row: int) -> tuple[float, float]:
        """Return the low and the high side of a row as typed, infinite for open sides."""
        rows, place = self.find(row)
        return float(rows.low[place]), float(rows.high[place])

    def is_exact(self, row: int) -> bool:
        """Return whether coefficients and sides are exact, and not rounded by a source."""
        return self.find(row)[0].exact


@dataclass(frozen=True, eq=False)
class KnowledgeBase:
    """Immutable collection of sources over one space, and everything derived from them."""

    space: Space
    facts: tuple[Source, ...]  # sources that hold regardless of the knowledge: invariants of the release first
    groups: dict[str, ConstraintGroup]  # by label: facts, zeros of a prior, and knowledge
    label_of: dict[Hashable, str]  # label of each source by its identity

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the CVXPY program, which cannot be pickled once Clarabel has solved it."""
        return {name: value for name, value in vars(self).items() if name != "program"}

    @classmethod
    def of(cls, space: Space, facts: tuple[Source, ...], groups: dict[str, ConstraintGroup]) -> KnowledgeBase:
        """Return the collection of labelled groups."""
        return cls(space, facts, groups, {group.source.identity: label for label, group in groups.items()})

    def adding(
        self, sources: Sequence[Any], label: str | None, build: Callable[[Source, str | None], ConstraintGroup]
    ) -> KnowledgeBase:
        """Return a copy with the sources that a user adds; `build` makes the rows of each source."""
        if label is not None:
            check_str(label, "label")
            if len(sources) != 1:
                raise StatementError(f"label={label!r} can only be given for a single source, got {len(sources)}")
        base = replace(self, groups=dict(self.groups), label_of=dict(self.label_of))
        for knowledge in sources:
            source = read_statement(knowledge) if isinstance(knowledge, str) else as_source(knowledge)
            base._insert(build(source, label), label)
        return base

    def _insert(self, group: ConstraintGroup, label: str | None) -> None:
        """Add a group in place unless it is already present; copies for thousands of groups would be slow."""
        name = label or group.source.label
        same = self.label_of.get(group.source.identity)
        if same is None and name in self.groups and group.has_same_rows(self.groups[name]):
            same = name
        # Two equal soft sources with different labels are two measurements.
        is_another = label is not None and label not in self.groups and any(rows.penalty for rows in group.rows)
        if same is not None and not is_another:
            warnings.warn(f"the model already contains {same!r}; nothing was added", RepeatedStatement, stacklevel=4)
            return
        if name in self.groups:
            if label is not None or not isinstance(group.source, Custom):
                removable = name in self.knowledge and not isinstance(self.groups[name].source, PriorZeros)
                remedy = f", or remove the other with remove({name!r})" if removable else ""
                raise DuplicateLabel(
                    f"the label {name!r} belongs to other knowledge; choose another with label=...{remedy}"
                )
            # Functions have no distinguishing text: they are numbered, and so are their rows if their labels repeat.
            name = next(f"{name} ({i})" for i in itertools.count(2) if f"{name} ({i})" not in self.groups)
            labels = {rows.label for other in self.knowledge.values() for rows in other.rows}
            if any(rows.label in labels for rows in group.rows):
                group = group.named(name)
        self.groups[name] = group
        self.label_of[group.source.identity] = name

    def without(self, label: str) -> KnowledgeBase:
        """Return a copy without one group."""
        groups = {name: group for name, group in self.groups.items() if name != label}
        label_of = {identity: name for identity, name in self.label_of.items() if name != label}
        return replace(self, groups=groups, label_of=label_of)

    def without_row(self, row: int) -> KnowledgeBase:
        """Return a copy without one row of knowledge, by its number in :attr:`form`; an empty group is removed."""
        number = int(np.flatnonzero(self.row_numbers == row)[0])
        ends = np.cumsum([group.n_rows for group in self.knowledge.values()])
        at = int(np.searchsorted(ends, number, side="right"))
        label, group = list(self.knowledge.items())[at]
        if group.n_rows == 1 and not group.convex:
            return self.without(label)
        less = group.without_row(number - int(ends[at]) + group.n_rows)
        return KnowledgeBase.of(self.space, self.facts, {**self.groups, label: less})

    def without_convex(self, number: int) -> KnowledgeBase:
        """Return a copy without one convex constraint, by its number in :attr:`convex`; an empty group is removed."""
        owners = [(label, i) for label, group in self.groups.items() for i in range(len(group.convex))]
        label, place = owners[number]
        group = self.groups[label]
        if group.n_rows == 0 and len(group.convex) == 1:
            return self.without(label)
        return KnowledgeBase.of(self.space, self.facts, {**self.groups, label: group.without_convex(place)})

    def with_knowledge(self, knowledge: dict[str, ConstraintGroup]) -> KnowledgeBase:
        """Return a copy with the same facts and other knowledge."""
        facts = {fact.label: self.groups[fact.label] for fact in self.facts}
        return KnowledgeBase.of(self.space, self.facts, facts | knowledge)

    @cached_property
    def parametric(self) -> tuple[str, ...]:
        """The labels of groups that depend on CVXPY parameters."""
        return tuple(label for label, group in self.groups.items() if group.values is not None)

    def at_parameters(self) -> KnowledgeBase:
        """Return a copy at the current values of CVXPY parameters, or self if none has changed."""
        now = {label: self.groups[label].at_parameters(self.space, label) for label in self.parametric}
        if all(group is self.groups[label] for label, group in now.items()):
            return self
        base = replace(self, groups={**self.groups, **now})
        if "program" in vars(self) and all("_stated" in vars(group) for group in now.values()):
            vars(base)["program"] = self.program
        return base

    def at_rest(self) -> KnowledgeBase:
        """Return a copy that parameters no longer change, with everything that is already derived."""
        if not self.parametric:
            return self
        self.posed  # noqa: B018 - derived once, for self and the copy
        fixed = {label: replace(self.groups[label], values=None) for label in self.parametric}
        twin = replace(self, groups={**self.groups, **fixed})
        vars(twin).update({name: value for name, value in vars(self).items() if name in ("form", "posed", "program")})
        return twin

    @property
    def knowledge(self) -> dict[str, ConstraintGroup]:
        """The adversary's knowledge beyond the facts, by label, starting with the zeros of a prior."""
        return dict(itertools.islice(self.groups.items(), len(self.facts), None))

    @cached_property
    def row_numbers(self) -> np.ndarray:
        """The number of each row of knowledge in :attr:`form`, where soft rows are last, source after source."""
        rows = [rows for group in self.knowledge.values() for rows in group.rows]
        order = sorted(range(len(rows)), key=lambda i: rows[i].penalty is not None)
        size = np.array([len(block) for block in rows], dtype=np.int64)
        start = np.empty(len(rows), dtype=np.int64)
        start[order] = self.form.n_facts + np.cumsum(size[order]) - size[order]
        return np.repeat(start - (np.cumsum(size) - size), size) + np.arange(size.sum())

    @property
    def convex(self) -> list[Any]:
        """User-defined constraints that are convex and not affine."""
        return [constraint for group in self.groups.values() for constraint in group.convex]

    @property
    def blocks(self) -> RowBlocks:
        """The rows of all sources, with consecutive numbers."""
        origin = self.form.origin
        assert isinstance(origin, RowBlocks)
        return origin

    @property
    def ruled_out(self) -> range:
        """The rows of :attr:`form` for the zeros of the prior, which cannot be removed without changing the prior."""
        first = next(iter(self.knowledge.values()), None)
        n_rows = first.n_rows if first and isinstance(first.source, PriorZeros) else 0
        return range(self.form.n_facts, self.form.n_facts + n_rows)

    @cached_property
    def form(self) -> LinearForm:
        """All rows as one sparse system over counts of records."""
        published, *others = (group.rows for group in self.groups.values())
        n_others = len(self.facts) - 1  # sources of facts besides the published one
        facts, knowledge = (list(itertools.chain(*part)) for part in (others[:n_others], others[n_others:]))
        knowledge.sort(key=lambda rows: rows.penalty is not None)
        weights = self.space.weights
        weights = weights if self.space.prior is None else weights * self.space.prior_density
        form = assemble_system(published, facts, knowledge, self.space.n_records, weights)
        check_step()
        return substituted(form, self.space.n_records)

    @cached_property
    def posed(self) -> Problem:
        """The optimization problem."""
        form, invariants = self.form, self.facts[0]
        check_step()
        assert isinstance(invariants, PublishedRows)
        closed_form = ClosedForm(*invariants.closed_form(self.space))
        names = [
            label if len(group.convex) == 1 else f"{label} [{i + 1}]"
            for label, group in self.groups.items()
            for i in range(len(group.convex))
        ]
        convex = Convex(self.space.counts, self.convex, names) if names else None
        check_step()
        return Problem(form, closed_form, Groups(*self.space.groups), convex)

    @cached_property
    def program(self) -> Program:
        """The model as a CVXPY program over ``space.counts``."""
        return Program.of(self.space, self.groups)


def assemble_system(
    published: Sequence[Rows], facts: Sequence[Rows], knowledge: Sequence[Rows], n_records: int, weights: np.ndarray
) -> LinearForm:
    """Stack rows over p into one system over counts x = N p; the soft rows of `knowledge` are last."""
    blocks = RowBlocks([*published, *facts, *knowledge], len(published) + len(facts))
    n_published = sum(map(len, published))
    n_facts = n_published + sum(map(len, facts))
    empty = sp.csr_array((0, len(weights)))
    # Dividing rows keeps equal columns equal; sharing them leaves few entries to divide.
    others = SharedColumns([rows.matrix for rows in blocks[len(published) :]] or [empty])
    matrices = canonical(compact(stacked([rows.matrix for rows in published] or [empty]))), others.distinct
    (of_published, largest), (distinct, largest_known) = map(scaled_rows, matrices)
    of_blocks = zip(blocks.starts.tolist(), blocks, strict=False)
    several = [start for start, rows in of_blocks if len({abs(a) for a, _ in rows.typed or ()}) > 1]  # different sizes
    for row in several:
        if row >= n_facts:
            # The quotient of each typed coefficient and the largest is rounded once, so that multiples of a row become
            # equal.
            typed, of_class = blocks.find(row)[0].typed or (), np.zeros(distinct.shape[1])
            most = max(abs(a) for a, _ in typed)
            for a, terms in typed:
                of_class[others.of_term[terms]] = float(a / most)
            entries = slice(*distinct.indptr[row - n_published : row - n_published + 2])
            distinct.data[entries] = of_class[distinct.indices[entries]]
    matrix = SplitMatrix(of_published, SharedColumns.of_distinct(distinct, others.of_term))
    # If all coefficients are +-1 after scaling, and were so as typed, only the sides have rounding errors.
    mixed = np.concatenate([_has_other_coefficients(part) for part in (of_published, distinct)])
    mixed[several] = True
    scale = n_records / np.concatenate([largest, largest_known])
    return scaled_form(matrix, blocks, n_published, n_facts, scale, mixed, n_records, weights)


def scaled_form(
    matrix: SplitMatrix,
    blocks: RowBlocks,
    n_published: int,
    n_facts: int,
    scale: np.ndarray,
    mixed: np.ndarray,
    n_records: int,
    weights: np.ndarray,
) -> LinearForm:
    """Scale the sides and the costs of rows like their coefficients, and bound their rounding errors.

    `mixed` marks rows with coefficients other than 1 and -1, after scaling or as typed.
    """
    # A number of people that is an integer up to rounding is this integer: P = 1/3 of nine people are three people. Rows
    # that imply each other then do so exactly, and force zeros exactly.
    low, high = (
        rounded_to_integers(np.concatenate([np.empty(0), *(getattr(rows, side) for rows in blocks)]) * scale)
        for side in ("low", "high")
    )
    # Coefficients are at most 1, so that a side beyond N restricts nothing. Its rounding would widen the other side, too.
    is_wide = low < high
    low = np.where(is_wide & (low < -n_records), -np.inf, low)
    high = np.where(is_wide & (high > n_records), np.inf, high)
    size = np.maximum(*(np.where(np.isfinite(side), np.abs(side), 0.0) for side in (low, high)))
    is_integer = (np.rint(low) == low) & (np.rint(high) == high)
    side_error = np.where(is_integer & ~mixed, 0.0, PLACES * (n_records * mixed + size))
    return LinearForm(
        matrix, low, high, scale, blocks, n_published, n_facts, weights, side_error=side_error,
        coefficient_error=np.where(mixed, PLACES, 0.0), penalties=_penalties(blocks.knowledge, scale),
    )  # fmt: skip


def scaled_rows(matrix: sp.csr_array) -> tuple[sp.csr_array, np.ndarray]:
    """Divide each row by its largest coefficient, and return these too, with 1 for a row without terms."""
    largest = most_by_row(np.abs(matrix.data), matrix)
    largest = np.where(largest > 0, largest, 1.0)
    return with_data(matrix, matrix.data / largest[entry_rows(matrix)]), largest


def _has_other_coefficients(matrix: sp.csr_array) -> np.ndarray:
    """Mark rows with coefficients other than 1 and -1."""
    return np.bincount(entry_rows(matrix), np.abs(matrix.data) != 1, matrix.shape[0]) > 0


def _penalties(knowledge: Sequence[Rows], scale: np.ndarray) -> Penalties | None:
    """Return the costs of the soft rows, which are last; a value v is v * scale records."""
    pairs = [rows.penalty.variance_and_slope(len(rows)) for rows in knowledge if rows.penalty is not None and len(rows)]
    if not pairs:
        return None
    variance, slope = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return Penalties(variance, slope).scaled(scale[-len(variance) :])
