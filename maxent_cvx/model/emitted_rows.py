"""What a source emitted, read as rows: the step between a builder and the model that holds it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import StatementError
from ..sources import ParametricStatement, Source, as_list, names_its_rows
from ..terms.rows import Rows
from ..terms.space import Space
from .cvxpy_constraints import parametric_constraint, read_constraint
from .parameters import Parametric, values_of

__all__ = ["EmittedRows", "ModifiedSource", "StoredSource", "emit"]


class ModifiedSource(Source):
    """low <= rows <= high: what another source emitted, with some rows moved or left out.

    Attributes
    ----------
    original : Source
    """

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
    """low <= rows <= high: what a source emitted before the model was saved; the source itself is in no file.

    Attributes
    ----------
    kind : str
        The class of the source.
    """

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
class EmittedRows:
    """One source in a model.

    Attributes
    ----------
    source : Source
    rows : tuple of Rows
        What it emitted that is linear.
    convex : tuple of CVXPY constraints
        What it emitted that is convex only.
    parametric : tuple of Parametric
        Which blocks of the rows depend on CVXPY parameters, and how.
    """

    source: Source
    rows: tuple[Rows, ...]
    convex: tuple[Any, ...] = ()
    parametric: tuple[Parametric, ...] = ()

    @property
    def n_rows(self) -> int:
        """The number of linear rows."""
        return sum(map(len, self.rows))

    def at_parameters(self) -> EmittedRows:
        """The same at the values that CVXPY parameters have now; itself where they have not changed."""
        rows, parametric = self.rows, []
        for one in self.parametric:
            now, rows = one.at_parameters(rows)
            parametric.append(now)
        return self if rows is self.rows else replace(self, rows=rows, parametric=tuple(parametric))

    def without_row(self, row: int) -> EmittedRows:
        """The same without one row, by its number among them; what depends on parameters stays as it is now."""
        left, start = [], 0
        for rows in self.rows:
            left.append(rows.at(np.arange(start, start + len(rows)) != row))
            start += len(rows)
        return EmittedRows(ModifiedSource(self.source, tuple(left)), tuple(left), self.convex)

    def named(self, label: str) -> EmittedRows:
        """The same with rows that are called by `label`; those of several blocks also by what each block is."""
        rows = []
        for one in self.rows:
            alone = len(self.rows) == 1 or one.label == self.source.label
            rows.append(replace(one, label=label if alone else f"{label}, {one.label}") if one.label else one)
        return replace(self, rows=tuple(rows))

    def says_the_same(self, other: EmittedRows) -> bool:
        """Whether the other entry emitted exactly the same rows."""
        if self.convex or other.convex or self.parametric or other.parametric or len(self.rows) != len(other.rows):
            return False
        return all(mine.same_as(theirs) for mine, theirs in zip(self.rows, other.rows, strict=True))


def emit(source: Source, space: Space, label: str | None = None) -> EmittedRows:
    """Run a builder over a space; under a label of the user's, its rows are called so.

    So are those of a source from outside of the package, by its label: two of one class, with other parameters, may
    say something of the same probabilities.

    Raises
    ------
    StatementError
        If it emits something else than rows, statements and constraints on these terms.
    """
    rows: list[Rows] = []
    convex: list[Any] = []
    parametric: list[Parametric] = []
    name = label or source.label
    for said in as_list(source.rows(space), name):
        if isinstance(said, Source):  # a function may return P(...) <= 0.3
            inner = emit(said, space, label)
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
    emitted = EmittedRows(source, tuple(rows), tuple(convex), tuple(parametric))
    return emitted if label is not None or names_its_rows(source) else emitted.named(name)


def _parametric(source: ParametricStatement, label: str, block: int) -> Parametric:
    """How the row of a statement depends on its parameters: by its sides."""

    def at_values(rows: Rows) -> Rows:
        now = source.now()
        return replace(rows, low=np.array([now.low]), high=np.array([now.high]))

    return Parametric(label, source.parameters, values_of(source.parameters, label), at_values, block)
