"""The problem that is solved: maximise sum x log(w / x) over rows, with the solution to the published rows alone."""

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
    """The solution in closed form to the problem with the published rows only.

    Attributes
    ----------
    counts : ndarray, one a term
        Records; NaN where there is no closed form.
    multipliers : ndarray, one a published row
    """

    counts: np.ndarray
    multipliers: np.ndarray


class Groups(NamedTuple):
    """The groups q whose conditional distributions P(s | q) are asked for.

    Attributes
    ----------
    of_term : ndarray of int
        The group of every term.
    records : ndarray
        The number of records of each group.
    """

    of_term: np.ndarray
    records: np.ndarray


class Settled(NamedTuple):
    """Terms whose value is the same in every feasible point, as far as `width` says.

    Attributes
    ----------
    fixed : ndarray of bool, one a term
    width : ndarray, one a term
        A bound on the distance between a fixed term's true value and its count, records.
    """

    fixed: np.ndarray
    width: np.ndarray

    @classmethod
    def none(cls, n_terms: int) -> Settled:
        """No term is settled."""
        return cls(np.zeros(n_terms, dtype=bool), np.zeros(n_terms))


@dataclass(frozen=True, eq=False)
class Convex:
    """Convex constraints that are not affine, on a CVXPY variable of all counts.

    Attributes
    ----------
    variable : Variable
    constraints : sequence of constraints ``expression <= 0``
    names : sequence of str
        What each is called in messages.
    """

    variable: cp.Variable
    constraints: Sequence[Any]
    names: Sequence[str] = ()

    @property
    def by_name(self) -> list[tuple[str, Any]]:
        """The constraints, each with its name."""
        names = self.names or [f"convex constraint {i + 1}" for i in range(len(self.constraints))]
        return list(zip(names, self.constraints, strict=True))


@dataclass(frozen=True, eq=False)
class Problem:
    """max sum x log(w / x), less the costs of soft rows, subject to low <= A x <= high, x in records.

    Attributes
    ----------
    form : LinearForm
        The rows and the objective's weights w.
    closed_form : ClosedForm
    groups : Groups
    convex : Convex, optional
        Constraints in addition to the rows.
    """

    form: LinearForm
    closed_form: ClosedForm
    groups: Groups
    convex: Convex | None = field(default=None)

    @property
    def n_records(self) -> float:
        """The number of records N, an upper bound on every term."""
        return float(self.groups.records.sum())

    @property
    def start(self) -> np.ndarray:
        """Multipliers of all rows to start from: those of the closed form for published rows, and 0 for knowledge."""
        return np.concatenate([self.closed_form.multipliers, np.zeros(self.form.shape[0] - self.form.n_published)])

    def with_rows(self, form: LinearForm) -> Problem:
        """Replace the rows of knowledge; the published rows must be the same."""
        return replace(self, form=form)

    @property
    def as_typed(self) -> Problem | None:
        """The problem before row operations; None if there were none."""
        return None if self.form.operations is None or self.form.typed is None else self.with_rows(self.form.typed)

    @property
    def hard(self) -> Problem:
        """The problem with its hard rows only, which determine what is feasible."""
        return self if self.form.penalties is None else replace(self, form=self.form.hard)

    def relax_published(self) -> Problem:
        """Treat the published rows as knowledge, all but those that give the number of records of each QI tuple."""
        form = self.form.relax_published()
        counts, multipliers = self.closed_form
        return replace(self, form=form, closed_form=ClosedForm(counts, multipliers[: form.n_published]))
