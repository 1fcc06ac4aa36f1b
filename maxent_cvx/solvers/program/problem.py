"""The problem that is solved: maximise sum x log(w / x) over rows, with what is known of the answer beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .linear_form import LinearForm

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["ClosedForm", "Convex", "Groups", "Problem", "Settled"]


class ClosedForm(NamedTuple):
    """The answer to the published rows alone.

    Attributes
    ----------
    counts : ndarray, one a term
        Records; NaN where there is no closed form.
    multipliers : ndarray, one a published row
    """

    counts: np.ndarray
    multipliers: np.ndarray


class Groups(NamedTuple):
    """Whose conditional distributions are asked for: P(s | q), q being a group.

    Attributes
    ----------
    of_term : ndarray of int
        The group of every term.
    records : ndarray
        Records in each group.
    """

    of_term: np.ndarray
    records: np.ndarray


class Settled(NamedTuple):
    """Terms that every solution agrees on.

    Attributes
    ----------
    fixed : ndarray of bool, one a term
    width : ndarray, one a term
        How far the value of a fixed term may be from its count, records.
    """

    fixed: np.ndarray
    width: np.ndarray

    @classmethod
    def none(cls, n_terms: int) -> Settled:
        """No term is settled."""
        return cls(np.zeros(n_terms, dtype=bool), np.zeros(n_terms))


@dataclass(frozen=True, eq=False)
class Convex:
    """Constraints that are convex and not affine, on the variable of all counts."""

    variable: cp.Variable
    constraints: Sequence[Any]


@dataclass(frozen=True, eq=False)
class Problem:
    """max sum x log(w / x) subject to low <= A x <= high, x in records.

    Attributes
    ----------
    form : LinearForm
        The rows and the objective's weights w.
    closed_form : ClosedForm
    groups : Groups
    convex : Convex, optional
        Constraints beside the rows.
    """

    form: LinearForm
    closed_form: ClosedForm
    groups: Groups
    convex: Convex | None = field(default=None)

    @property
    def n_records(self) -> float:
        """N, the number of records: no term holds more."""
        return float(self.groups.records.sum())

    @property
    def start(self) -> np.ndarray:
        """Multipliers of all rows to start from: those of the closed form, and 0 for knowledge."""
        return np.concatenate([self.closed_form.multipliers, np.zeros(self.form.shape[0] - self.form.n_published)])

    def with_rows(self, form: LinearForm) -> Problem:
        """The same problem with other rows of knowledge; its published rows are the same."""
        return replace(self, form=form)

    def relax_published(self) -> Problem:
        """Take the published rows for knowledge, all but those that count the records of QI tuples."""
        form = self.form.relax_published()
        counts, multipliers = self.closed_form
        return replace(self, form=form, closed_form=ClosedForm(counts, multipliers[: form.n_published]))
