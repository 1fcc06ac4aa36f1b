"""The hard constraints of named people, beside those of the view: each of them has one record."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...terms.rows import Rows
from ...terms.space import Space
from ..base import Source

__all__ = ["NamedPeople"]


class NamedPeople(Source):
    """sum_{s, b} P(i, q, s, b) = 1 / N for every person i with a name, whose QI tuple is q.

    Together with the QI- and SA-invariants, which are about everybody, these rows have the answer of a table
    with a pseudonym for every record. Somebody whose QI tuple nobody else has needs no row: the QI-invariant
    says it.

    Notes
    -----
    Privacy-MaxEnt, section 6; the paper leaves the invariants out.
    """

    @property
    def label(self) -> str:
        """The name of this source in every model with named people."""
        return "named people"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row a person."""
        everybody, people = space.marginal("who"), space.people
        alike = people.unnamed + np.bincount(people.q, minlength=len(people.unnamed))  # records of every QI tuple
        yield everybody.at(alike[people.q] > 1) == 1 / space.n_records
