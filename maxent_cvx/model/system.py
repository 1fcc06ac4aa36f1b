"""From sources to one linear system: labels, rows in blocks, and the assembled form."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._utils.errors import DuplicateLabel, RepeatedStatement, StatementError
from .._utils.progress import ProgressBar
from ..solvers.backends import entropy_problem
from ..solvers.costs import Penalties
from ..solvers.form import (
    ClosedForm,
    Coefficients,
    Convex,
    Groups,
    LinearForm,
    Problem,
    SharedColumns,
    SplitMatrix,
    by_coefficient,
)
from ..solvers.monitor import Callback, Iteration, check_step
from ..solvers.parameters import FEASIBILITY
from ..solvers.sparse import canonical, compact, entry_rows, most_by_row
from ..solvers.substitution import substituted
from ..sources.base import Custom, Source, as_list, names_its_rows
from ..sources.invariants import PriorZeros, PublishedRows
from ..sources.statements import ParametricStatement
from ..terms.rows import Rows
from ..terms.space import Space
from .cvxpy_problem import Parametric, parametric_constraint, read_constraint, values_of

__all__ = [
    "ConstraintGroup",
    "KnowledgeBase",
    "ModifiedSource",
    "RowBlocks",
    "StoredSource",
    "also_shown",
    "assemble_system",
    "build_rows",
    "penalties",
    "rounding_errors",
    "sides",
    "unique_label",
]

# What a source emitted, read as rows: the step between a builder and the model that holds it.


class ModifiedSource(Source):
    """low <= rows <= high: what another source emitted, with some rows moved or left out."""

    def __init__(self, original: Source, emitted: tuple[Rows, ...]) -> None:
        self.original, self.emitted = original, emitted

    @property
    def label(self) -> str:
        """That of the original."""
        return self.original.label

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit the rows as they are now."""
        yield from self.emitted


class StoredSource(Source):
    """low <= rows <= high: what a source emitted before the model was saved; the source itself is in no file."""

    def __init__(self, kind: str, label: str, emitted: tuple[Rows, ...]) -> None:
        self.kind, self.stored_label, self.emitted = kind, label, emitted

    @property
    def label(self) -> str:
        """That of the source."""
        return self.stored_label

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit the rows as they were stored."""
        yield from self.emitted


@dataclass(frozen=True, eq=False)
class ConstraintGroup:
    """One source in a model."""

    source: Source
    rows: tuple[Rows, ...]  # what it emitted that is linear
    convex: tuple[Any, ...] = ()  # what it emitted that is convex only
    parametric: tuple[Parametric, ...] = ()  # which blocks of the rows depend on CVXPY parameters, and how

    @property
    def n_rows(self) -> int:
        """The number of linear rows."""
        return sum(map(len, self.rows))

    def at_parameters(self) -> ConstraintGroup:
        """The same at the values that CVXPY parameters have now; itself where they have not changed."""
        rows, parametric = self.rows, []
        for one in self.parametric:
            now, rows = one.at_parameters(rows)
            parametric.append(now)
        return self if rows is self.rows else replace(self, rows=rows, parametric=tuple(parametric))

    def without_row(self, row: int) -> ConstraintGroup:
        """The same without one row, by its number among them; what depends on parameters stays as it is now."""
        left, start = [], 0
        for rows in self.rows:
            left.append(rows.at(np.arange(start, start + len(rows)) != row))
            start += len(rows)
        return ConstraintGroup(ModifiedSource(self.source, tuple(left)), tuple(left), self.convex)

    def named(self, label: str) -> ConstraintGroup:
        """The same with rows that are called by `label`; those of several blocks also by what each block is."""
        rows = []
        for one in self.rows:
            alone = len(self.rows) == 1 or one.label == self.source.label
            rows.append(replace(one, label=label if alone else f"{label}, {one.label}") if one.label else one)
        return replace(self, rows=tuple(rows))

    def says_the_same(self, other: ConstraintGroup) -> bool:
        """Whether the other entry emitted exactly the same rows."""
        if self.convex or other.convex or self.parametric or other.parametric or len(self.rows) != len(other.rows):
            return False
        return all(mine.same_as(theirs) for mine, theirs in zip(self.rows, other.rows, strict=True))


def build_rows(source: Source, space: Space, label: str | None = None) -> ConstraintGroup:
    """Run a builder over a space; under a label of the user's, its rows are called so."""
    # So are those of a source from outside of the package, by its label: two of one class, with other parameters, may
    # say something of the same probabilities.
    rows: list[Rows] = []
    convex: list[Any] = []
    parametric: list[Parametric] = []
    name = label or source.label
    for said in as_list(source.rows(space), name):
        if isinstance(said, Source):  # a function may return P(...) <= 0.3
            inner = build_rows(said, space, label)
            parametric += [replace(one, block=one.block + len(rows)) for one in inner.parametric]
            rows += inner.rows
            convex += inner.convex
        elif isinstance(said, Rows):
            if said.matrix.shape[1] != len(space) or (said.view is not None and said.view is not space.view):
                raise StatementError(
                    f"{name!r} speaks of the {said.matrix.shape[1]} terms of another view, the model has "
                    f"{len(space)}; make rows from this model's own space (one column a term)"
                )
            if isinstance(source, ParametricStatement):
                parametric.append(_parametric(source, name, len(rows)))
            rows.append(said if label is None else replace(said, label=label))
        else:
            curved, linear = read_constraint(said, space, name)
            if (how := parametric_constraint(said, space, name, len(rows))) is not None:
                parametric.append(how)
            convex += [] if curved is None else [curved]
            rows += [] if linear is None else [linear]
    emitted = ConstraintGroup(source, tuple(rows), tuple(convex), tuple(parametric))
    return emitted if label is not None or names_its_rows(source) else emitted.named(name)


def _parametric(source: ParametricStatement, label: str, block: int) -> Parametric:
    """How the row of a statement depends on its parameters: by its sides."""

    def at_values(rows: Rows) -> Rows:
        now = source.now()
        return replace(rows, low=np.array([now.low]), high=np.array([now.high]))

    return Parametric(label, source.parameters, values_of(source.parameters, label), at_values, block)


# A progress bar that moves with the iterations of a solve.


def also_shown(bar: ProgressBar, callback: Callback | None) -> Callback:
    """A callback that moves a bar, before it does what the user's does."""

    def shown(iteration: Iteration) -> bool | None:
        bar.update()
        bar.set_postfix_str(f"residual {iteration.residual:.1e}")
        return None if callback is None else callback(iteration)

    return shown


# The rows that sources emitted, in the order of the system that is solved.


#: What to do about contradictory rows of what is published, and of what is known, where rows do not say it themselves.
PUBLISHED = "correct the published table that is wrong, or make the view without it"
KNOWLEDGE = "correct it, make it vague with .about(value, eps), or remove it"


class RowBlocks(Sequence[Rows]):
    """Blocks of rows over p, numbered through: the origin of the rows of a linear form."""

    def __init__(self, blocks: Sequence[Rows], n_hard: int = 0) -> None:
        self._blocks, self._n_hard = tuple(blocks), n_hard

    def __len__(self) -> int:
        return len(self._blocks)

    def __getitem__(self, i):  # type: ignore[no-untyped-def]
        return self._blocks[i]

    @cached_property
    def starts(self) -> np.ndarray:
        """The number of the first row of each block and, last, the number of rows."""
        return np.cumsum([0, *map(len, self._blocks)])

    @cached_property
    def by_label(self) -> dict[str, Rows]:
        """The blocks by label, in order; a label met again is numbered: "P(s) (2)"."""
        times: Counter[str] = Counter()
        found = {}
        for rows in self._blocks:
            times[rows.label] += 1
            number = f" ({times[rows.label]})" if times[rows.label] > 1 else ""
            found[rows.label + number] = rows
        return found

    @property
    def labels(self) -> dict[str, slice]:
        """The numbers of the rows of each block, by its label, in order."""
        ends = zip(self.starts, self.starts[1:], strict=False)
        return {label: slice(int(start), int(end)) for label, (start, end) in zip(self.by_label, ends, strict=True)}

    @property
    def typed(self) -> np.ndarray:
        """The numbers of the rows whose coefficients were typed as rational numbers."""
        pairs = zip(self.starts, self._blocks, strict=False)
        return np.array([start for start, rows in pairs if rows.typed], dtype=np.int64)

    def find(self, row: int) -> tuple[Rows, int]:
        """The block that a row is in, and its number there."""
        if not 0 <= row < self.starts[-1]:
            raise IndexError(row)
        block = int(np.searchsorted(self.starts, row, side="right")) - 1
        return self._blocks[block], row - int(self.starts[block])

    def name(self, row: int) -> str:
        """The label of a row."""
        rows, place = self.find(row)
        return rows.name(place)

    def remedy(self, row: int) -> str:
        """What to do about a row that contradicts others."""
        return self.find(row)[0].remedy or (PUBLISHED if row < self.starts[self._n_hard] else KNOWLEDGE)

    def coefficients(self, row: int) -> Coefficients:
        """The different coefficients of a row, as it was typed or else as it stands, and the terms that each is of."""
        as_doubles = self.doubles(row)
        return (self.find(row)[0].typed or ()) if as_doubles is None else by_coefficient(*as_doubles)

    def doubles(self, row: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The coefficients of a row as it stands and their terms; None if it was typed as rational numbers."""
        rows, place = self.find(row)
        if rows.typed is not None:
            return None
        entries = slice(rows.matrix.indptr[place], rows.matrix.indptr[place + 1])
        return rows.matrix.data[entries], rows.matrix.indices[entries]

    def sides(self, row: int) -> tuple[float, float]:
        """The low and the high side of a row as typed; infinite where it is open."""
        rows, place = self.find(row)
        return float(rows.low[place]), float(rows.high[place])

    def is_exact(self, row: int) -> bool:
        """Whether coefficients and sides are what is meant, and not what a source has rounded."""
        return self.find(row)[0].exact


# Rows over probabilities, stacked into one system over counts, with what rounding did to each of them.
#
# Two things are done to the numbers that sources emit, and both are accounted for: published counts are integers, and
# are rounded to integers again (n / N * N need not be n in floating point); and a row is scaled so that its largest
# coefficient is 1.


def assemble_system(
    published: Sequence[Rows], facts: Sequence[Rows], knowledge: Sequence[Rows], n_records: int, weights: np.ndarray
) -> LinearForm:
    """Stack rows over p into one system over counts x = N p; the sides of hard constraints are numbers of records."""
    blocks = RowBlocks([*published, *facts, *knowledge], len(published) + len(facts))
    n_published, n_facts = sum(map(len, published)), sum(map(len, [*published, *facts]))
    largest = np.concatenate([_largest(rows.matrix) for rows in blocks])
    ends = itertools.pairwise(blocks.starts.tolist())
    scaled = [
        _scaled(rows, largest[start:end], exactly=start >= n_facts)
        for rows, (start, end) in zip(blocks, ends, strict=True)
    ]
    n = len(published)
    first = sp.vstack(scaled[:n], format="csr") if n else sp.csr_array((0, len(weights)))
    others = SharedColumns(scaled[n:] or sp.csr_array((0, len(weights))))
    matrix = SplitMatrix(canonical(compact(sp.csr_array(first))), others)
    scale = n_records / largest
    is_fact = np.arange(len(scale)) < n_facts
    low, high = sides(blocks, scale, is_fact)
    # Where all coefficients are +-1 after scaling, and were so as typed, only the sides carry roundoff.
    mixed = np.concatenate([_has_other_coefficients(some) for some in (matrix.published, others.distinct)])
    for rows, start in zip(blocks, blocks.starts.tolist(), strict=False):
        if rows.typed and len({abs(a) for a, _ in rows.typed}) > 1:
            mixed[start] = True
    side_error, coefficient_error = rounding_errors(low, high, mixed, is_fact, n_records)
    return LinearForm(
        matrix,
        low,
        high,
        scale,
        blocks,
        n_published,
        n_facts,
        weights,
        side_error=side_error,
        coefficient_error=coefficient_error,
        penalties=penalties(knowledge, scale),
    )


def sides(blocks: Sequence[Rows], scale: np.ndarray, is_fact: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The low and the high sides of all rows, records; those of facts are numbers of records."""
    none = np.empty(0)
    low, high = (np.concatenate([none, *(getattr(rows, side) for rows in blocks)]) * scale for side in ("low", "high"))
    return np.where(is_fact, rounded_to_integers(low), low), np.where(is_fact, rounded_to_integers(high), high)


def rounding_errors(
    low: np.ndarray, high: np.ndarray, mixed: np.ndarray, is_fact: np.ndarray, n_records: int
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds on the errors of the residual and of the coefficients of each row that come from rounding."""
    size = np.maximum(*(np.where(np.isfinite(side), np.abs(side), 0.0) for side in (low, high)))
    is_integer = (np.rint(low) == low) & (np.rint(high) == high)
    side_error = np.where(is_fact & is_integer & ~mixed, 0.0, FEASIBILITY.places * (n_records * mixed + size))
    return side_error, np.where(mixed, FEASIBILITY.places, 0.0)


def penalties(blocks: Sequence[Rows], scale: np.ndarray) -> Penalties | None:
    """The costs of the last rows, soft ones, where a value v is v * scale records."""
    soft = [rows for rows in blocks if rows.penalty is not None]
    if not sum(map(len, soft)):
        return None
    both = [rows.penalty.variance_and_slope(len(rows)) for rows in soft if rows.penalty is not None]
    variance, slope = (np.concatenate(part) for part in zip(*both, strict=True))
    return Penalties(variance, slope).scaled(scale[-len(variance) :])


def rounded_to_integers(side: np.ndarray) -> np.ndarray:
    """Round the counts that are integers up to roundoff; the others stay."""
    with np.errstate(invalid="ignore"):
        nearest = np.rint(side)
        return np.where(np.abs(side - nearest) <= FEASIBILITY.places * np.abs(side), nearest, side)


def _largest(matrix: sp.csr_array) -> np.ndarray:
    """The largest absolute value of a coefficient of each row; 1 of a row that touches no term."""
    largest = most_by_row(np.abs(matrix.data), matrix)
    return np.where(largest > 0, largest, 1.0)


def _scaled(rows: Rows, largest: np.ndarray, *, exactly: bool) -> sp.csr_array:
    """Divide every row by its largest coefficient."""
    # Where coefficients were typed, the quotient of each and the largest is rounded once, so that multiples of a row
    # are the same row.
    matrix = rows.matrix
    if exactly and rows.typed and len({abs(a) for a, _ in rows.typed}) > 1:
        data = _typed_quotients(matrix, rows.typed)
    elif (largest == 1).all():
        return matrix
    elif matrix.data.strides == (0,):  # one number in place of coefficients that are all the same
        data = np.broadcast_to(np.sign(matrix.data[0]), matrix.nnz)
    else:
        data = matrix.data / largest[entry_rows(matrix)]
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _typed_quotients(matrix: sp.csr_array, typed: Sequence[tuple[Fraction, np.ndarray]]) -> np.ndarray:
    """The coefficients of a single row by the largest, one an entry, from how they were typed."""
    largest, dense = max(abs(a) for a, _ in typed), np.zeros(matrix.shape[1])
    for a, terms in typed:
        dense[terms] = float(a / largest)
    return dense[matrix.indices]


def _has_other_coefficients(matrix: sp.csr_array) -> np.ndarray:
    """Mark rows with coefficients other than 1 and -1."""
    return np.bincount(entry_rows(matrix), np.abs(matrix.data) != 1, matrix.shape[0]) > 0


# What one adversary holds: sources by label, what they emitted, and the problem that follows from it.


@dataclass(frozen=True, eq=False)
class KnowledgeBase:
    """Sources over one space, and everything derived from them; a change makes another one."""

    space: Space
    facts: tuple[Source, ...]  # the hard constraints: true of whatever was published; the invariants first
    emitted: dict[str, ConstraintGroup]
    label_of: dict[Hashable, str]  # the label of each source by its identity

    @classmethod
    def of(cls, space: Space, facts: tuple[Source, ...], emitted: dict[str, ConstraintGroup]) -> KnowledgeBase:
        """Hold sources by the labels given."""
        return cls(space, facts, emitted, {one.source.identity: label for label, one in emitted.items()})

    def draft(self) -> KnowledgeBase:
        """A copy to which sources are added, before anything is derived from it."""
        return replace(self, emitted=dict(self.emitted), label_of=dict(self.label_of))

    def hold(self, label: str, emitted: ConstraintGroup) -> None:
        """Hold one more source in a draft; copying it for each of thousands of statements would take their square."""
        self.emitted[label] = emitted
        self.label_of[emitted.source.identity] = label

    def calls_like(self, emitted: ConstraintGroup) -> bool:
        """Whether some rows are called as rows of knowledge already are, so that tables could not tell them apart."""
        held = {rows.label for one in self.knowledge.values() for rows in one.rows}
        return any(rows.label in held for rows in emitted.rows)

    def without(self, label: str) -> KnowledgeBase:
        """Hold one source less."""
        left = {name: one for name, one in self.emitted.items() if name != label}
        return replace(self, emitted=left, label_of={i: name for i, name in self.label_of.items() if name != label})

    def without_row(self, row: int) -> KnowledgeBase:
        """Hold one row of knowledge less, by its number in :attr:`form`; a source without rows is gone."""
        labels, sources = list(self.knowledge), self.knowledge.values()
        number = int(np.flatnonzero(self.row_numbers == row)[0])
        ends = np.cumsum([one.n_rows for one in sources])
        at = int(np.searchsorted(ends, number, side="right"))
        label, one = labels[at], self.knowledge[labels[at]]
        if one.n_rows == 1 and not one.convex:
            return self.without(label)
        less = one.without_row(number - int(ends[at]) + one.n_rows)
        return KnowledgeBase.of(self.space, self.facts, {**self.emitted, label: less})

    @cached_property
    def parametric(self) -> tuple[str, ...]:
        """The labels of what depends on CVXPY parameters."""
        return tuple(label for label, one in self.emitted.items() if one.parametric)

    def at_parameters(self) -> KnowledgeBase:
        """The same at the values that CVXPY parameters have now; itself where none has changed."""
        now = {label: self.emitted[label].at_parameters() for label in self.parametric}
        if all(one is self.emitted[label] for label, one in now.items()):
            return self
        return replace(self, emitted={**self.emitted, **now})

    def at_rest(self) -> KnowledgeBase:
        """The same, which parameters no longer change, with all that is derived from it already."""
        if not self.parametric:
            return self
        self.posed  # noqa: B018 - derived once, for this and for the copy
        fixed = {label: replace(self.emitted[label], parametric=()) for label in self.parametric}
        twin = replace(self, emitted={**self.emitted, **fixed})
        vars(twin).update({name: value for name, value in vars(self).items() if name in ("form", "posed", "problem")})
        return twin

    @property
    def knowledge(self) -> dict[str, ConstraintGroup]:
        """What the adversary knows beyond the facts, by label."""
        return dict(itertools.islice(self.emitted.items(), len(self.facts), None))

    @cached_property
    def row_numbers(self) -> np.ndarray:
        """The number in :attr:`form` of every row of knowledge, source after source; soft rows come last there."""
        rows = [rows for one in self.knowledge.values() for rows in one.rows]
        order = sorted(range(len(rows)), key=lambda i: rows[i].penalty is not None)
        size = np.array([len(one) for one in rows], dtype=np.int64)
        start = np.empty(len(rows), dtype=np.int64)
        start[order] = self.form.n_facts + np.cumsum(size[order]) - size[order]
        return np.repeat(start - (np.cumsum(size) - size), size) + np.arange(size.sum())

    @property
    def convex(self) -> list[Any]:
        """Constraints of the user's own that are convex and not affine."""
        return [constraint for one in self.emitted.values() for constraint in one.convex]

    @property
    def blocks(self) -> RowBlocks:
        """The rows of all sources, numbered through."""
        origin = self.form.origin
        assert isinstance(origin, RowBlocks)
        return origin

    @property
    def ruled_out(self) -> range:
        """The rows of :attr:`form` that say what the prior rules out; without them the prior would be another one."""
        first = next(iter(self.knowledge.values()), None)
        n_rows = first.n_rows if first and isinstance(first.source, PriorZeros) else 0
        return range(self.form.n_facts, self.form.n_facts + n_rows)

    @cached_property
    def form(self) -> LinearForm:
        """All rows as one sparse system over records."""
        rows = [one.rows for one in self.emitted.values()]
        facts, known = (list(itertools.chain(*some)) for some in (rows[1 : len(self.facts)], rows[len(self.facts) :]))
        known.sort(key=lambda one: one.penalty is not None)
        n_records = self.space.view.n_records
        weights = self.space.weights
        weights = weights if self.space.prior is None else weights * self.space.prior_density
        form = assemble_system(rows[0], facts, known, n_records, weights)
        check_step()
        return substituted(form, n_records)

    @cached_property
    def posed(self) -> Problem:
        """What is to be solved."""
        form, invariants = self.form, self.facts[0]
        check_step()
        assert isinstance(invariants, PublishedRows)
        closed_form = ClosedForm(*invariants.closed_form(self.space))
        names = [
            label if len(one.convex) == 1 else f"{label} [{i + 1}]"
            for label, one in self.emitted.items()
            for i in range(len(one.convex))
        ]
        convex = Convex(self.space.counts, self.convex, names) if self.convex else None
        check_step()
        return Problem(form, closed_form, Groups(*self.space.groups), convex)

    @cached_property
    def problem(self) -> Any:
        """The same as a CVXPY problem over ``space.counts``."""
        weights = np.asarray(self.space.multiplicities * self.space.prior_density)
        return entropy_problem(self.form, self.space.counts, weights, self.space.view.n_records, self.convex)


def unique_label(base: KnowledgeBase, emitted: ConstraintGroup, label: str | None) -> str | None:
    """Choose the label of another source; None where the same is held already, maybe under another label."""
    held, name = base.emitted, label or emitted.source.label
    same = base.label_of.get(emitted.source.identity)
    if same is None and name in held and emitted.says_the_same(held[name]):
        same = name
    again = label is not None and label not in held and any(rows.penalty is not None for rows in emitted.rows)
    if same is not None and not again:  # two soft sources that say the same, under two labels, are two measurements
        warnings.warn(f"the model holds {same!r} already; nothing was added", RepeatedStatement, stacklevel=3)
        return None
    if name not in held:
        return name
    if label is None and isinstance(emitted.source, Custom):  # functions have no text to tell them apart
        return next(f"{name} ({i})" for i in itertools.count(2) if f"{name} ({i})" not in held)
    removable = name in base.knowledge and not isinstance(held[name].source, PriorZeros)
    remedy = f", or take the old one out with remove({name!r})" if removable else ""
    raise DuplicateLabel(f"the label {name!r} is that of other knowledge; choose another with label=...{remedy}")
