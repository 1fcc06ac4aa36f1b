"""The result of presolve: a smaller problem, and postsolve, which maps its solution back to the original problem."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..linear_algebra.schur_preconditioner import SchurComplement
from ..program.linear_form import LinearForm
from ..program.problem import Settled
from ..rows.penalties import Penalties
from .aggregation import Aggregation
from .zero_proofs import implied_upper_bounds

__all__ = ["Reduced"]


@dataclass(frozen=True, eq=False)
class Reduced:
    """A smaller problem, and the maps between its solution and that of the original problem.

    Attributes
    ----------
    terms : ndarray of bool, one an original term
        The terms that are left to solve for.
    rows : ndarray of int
        The original rows that are left, those of a bucket next to each other.
    aggregation : Aggregation
        What the rows and terms that are left were aggregated to; its form is the problem to solve.
    fixed : ndarray of bool, one an original term
        Terms whose value presolve has determined: implied zeros, and further values that these imply.
    counts, multipliers : ndarray
        The solution of the original problem as far as presolve has determined it.
    restricted : LinearForm
        The problem over the terms that are left, with redundant rows and before aggregation.
    n_published : int
        The number of published rows of the original problem.
    width : ndarray, one an original term
        A bound on the distance between the true value of a fixed term and its count, records.
    scale : ndarray, one a row that is left
        What the row was divided by.
    """

    terms: np.ndarray
    rows: np.ndarray
    aggregation: Aggregation
    fixed: np.ndarray
    counts: np.ndarray
    multipliers: np.ndarray
    restricted: LinearForm
    n_published: int
    width: np.ndarray
    scale: np.ndarray

    @classmethod
    def identity(cls, form: LinearForm) -> Reduced:
        """Reduce nothing."""
        n_rows, n_terms = form.shape
        every_term, every_row = np.ones(n_terms, dtype=bool), np.arange(n_rows)
        no_widths, no_scale = np.zeros(n_terms), np.ones(n_rows)
        return cls(
            every_term, every_row, Aggregation.identity(form), ~every_term, np.zeros(n_terms), np.zeros(n_rows), form,
            form.n_published, no_widths, no_scale,
        )  # fmt: skip

    def with_penalties(self, penalties: Penalties, n_hard: int) -> Reduced:
        """The same reduction where the soft rows of the original problem, those from `n_hard` on, have other costs."""
        soft = self.rows >= n_hard
        own = penalties.select(self.rows[soft] - n_hard).scaled(1 / self.scale[soft])
        form = replace(self.aggregation.form, penalties=own if len(own) else None)
        return replace(self, aggregation=replace(self.aggregation, form=form))

    @property
    def form(self) -> LinearForm:
        """The problem to solve."""
        return self.aggregation.form

    @property
    def zeros(self) -> np.ndarray:
        """Which original terms are fixed at zero."""
        return self.fixed & (self.counts == 0)

    @property
    def upper_bounds_of_zeros(self) -> np.ndarray:
        """The proved upper bounds of the terms fixed at zero, records; infinite for all other terms."""
        return np.where(self.zeros, self.width, np.inf)

    @property
    def settled(self) -> Settled:
        """The fixed terms, for the certificate."""
        return Settled(self.fixed, self.width)

    def settled_for(self, counts: np.ndarray) -> Settled:
        """The fixed terms, for the certificate of other counts: their distance from `counts` is added to the widths."""
        distance = np.abs(self.counts - np.maximum(counts, 0.0))
        return Settled(self.fixed, np.where(self.fixed, self.width + distance, 0.0))

    def start(self, multipliers: np.ndarray) -> np.ndarray:
        """Multipliers of the reduced problem, from those of the original rows."""
        return self.aggregation.aggregated_multipliers(multipliers[self.rows] * self.scale)

    def restore(self, counts: np.ndarray, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Postsolve: counts and multipliers of the original problem, from those of the reduced problem."""
        all_counts, all_multipliers = self.counts.copy(), self.multipliers.copy()
        all_counts[self.terms] = self.aggregation.counts(counts)
        all_multipliers[self.rows] = self.aggregation.multipliers(multipliers) / self.scale
        return all_counts, all_multipliers

    def proved_zeros(self, form: LinearForm, directions: Iterable[np.ndarray]) -> np.ndarray:
        """The upper bounds, records, of terms that directions prove zero, each given those before; infinite elsewhere.

        Parameters
        ----------
        form : LinearForm
            The original problem.
        directions : iterable of ndarray
            Directions of the multipliers of the reduced problem.
        """
        fixed, width, found = self.fixed, self.width, np.full(len(self.fixed), np.inf)
        for proof in self.restore_directions(directions):
            upper = implied_upper_bounds(form, proof, fixed, self.counts, width)
            zero = upper <= form.zero_tolerance * form.count_scale
            found, width, fixed = np.where(zero, upper, found), np.where(zero, upper, width), fixed | zero
        return found

    def restore_schur(self, schur: SchurComplement | None) -> SchurComplement | None:
        """Scale and number a Schur complement's rows as in the original problem; aggregation leaves it unchanged."""
        if schur is None:
            return None
        known = self.rows >= self.n_published
        return schur.scaled(self.scale[known]).renumbered(self.rows[known] - self.n_published)

    def restore_directions(self, directions: Iterable[np.ndarray]) -> list[np.ndarray]:
        """Directions of the original problem's multipliers, from those of the reduced problem's."""
        found = []
        for direction in directions:
            restored = np.zeros(len(self.multipliers))
            restored[self.rows] = direction[self.aggregation.row] / self.scale
            found.append(restored)
        return found
