"""What one adversary holds: sources by label, what they emitted, and the problem that follows from it."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..solvers.backends.cvxpy_problem import entropy_problem
from ..solvers.monitoring.deadline import check_step
from ..solvers.program.linear_form import LinearForm
from ..solvers.program.problem import ClosedForm, Convex, Groups, Problem
from ..solvers.substitution.substitution import substituted
from ..sources import PriorZeros, PublishedRows, Source
from ..terms.space import Space
from .emitted_rows import EmittedRows
from .row_blocks import RowBlocks
from .stacking import stacked

__all__ = ["KnowledgeBase"]


@dataclass(frozen=True, eq=False)
class KnowledgeBase:
    """Sources over one space, and everything derived from them; a change makes another one.

    Attributes
    ----------
    space : Space
    facts : tuple of Source
        The hard constraints: true of whatever was published; the invariants first.
    emitted : dict of str to EmittedRows
        What every source emitted, by its label: the facts first, then what a prior rules out, then the rest.
    label_of : dict
        The label of each source by its identity.
    """

    space: Space
    facts: tuple[Source, ...]
    emitted: dict[str, EmittedRows]
    label_of: dict[Hashable, str]

    @classmethod
    def of(cls, space: Space, facts: tuple[Source, ...], emitted: dict[str, EmittedRows]) -> KnowledgeBase:
        """Hold sources by the labels given."""
        return cls(space, facts, emitted, {one.source.identity: label for label, one in emitted.items()})

    def draft(self) -> KnowledgeBase:
        """A copy to which sources are added, before anything is derived from it."""
        return replace(self, emitted=dict(self.emitted), label_of=dict(self.label_of))

    def hold(self, label: str, emitted: EmittedRows) -> None:
        """Hold one more source in a draft; copying it for each of thousands of statements would take their square."""
        self.emitted[label] = emitted
        self.label_of[emitted.source.identity] = label

    def calls_like(self, emitted: EmittedRows) -> bool:
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
    def knowledge(self) -> dict[str, EmittedRows]:
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
        form = stacked(rows[0], facts, known, n_records, weights)
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
