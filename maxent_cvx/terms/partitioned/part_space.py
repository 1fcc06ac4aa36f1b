"""The space of one partition: expressions over its terms that mean what they mean of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ...errors import StatementError
from ...views.partitioned.release_part import ReleasePart
from ..axes import Axes, as_names
from ..blocks.block import Block
from ..events import mark_tuples
from ..space import Space
from .seen_part import SeenPart
from .surroundings import Surroundings

__all__ = ["PartSpace"]


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
        assert isinstance(view, SeenPart)
        view.need([name for name in names if name in view.qi])

    def _check(self, name: str) -> None:
        view = self.view
        assert isinstance(view, SeenPart)
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

    Raises
    ------
    Needed
        While sources speak, if they tell apart what is not told apart here.
    """

    @classmethod
    def around(cls, part: ReleasePart, surroundings: Surroundings) -> PartSpace:
        """The space of a partition in its surroundings."""
        view = SeenPart.of(part, surroundings)
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
    def _seen(self) -> SeenPart:
        assert isinstance(self.view, SeenPart)
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
