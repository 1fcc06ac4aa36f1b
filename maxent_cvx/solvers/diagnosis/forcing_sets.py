"""What else sets of rows force that were found to force something: a few rows often force much."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..answer import Status
from ..dual.newton import newton
from ..monitoring.deadline import check_time, seconds_left
from ..monitoring.monitor import Monitor
from ..parameters.tolerances import DIAGNOSIS, FEASIBILITY
from ..presolve.aggregation import aggregate
from ..presolve.zero_proofs import empty_terms
from ..program.linear_form import LinearForm

__all__ = ["ForcingSets"]


class Support(NamedTuple):
    """Which terms some rows force to zero, and which they do not.

    Attributes
    ----------
    is_zero : ndarray of bool, one a term
        Proved.
    counts : ndarray, one a term
        Records that satisfy the rows.
    """

    is_zero: np.ndarray
    counts: np.ndarray


class ForcingSets:
    """Irreducible sets of rows of knowledge.

    The maximum-entropy problem of a few rows is small after aggregation. Its answer has records in every term that can
    have some, and directions of its multipliers prove zero the others. So one problem for a set, and one without each
    of its rows, tell of all terms whether the set forces them to zero, irreducibly.

    Parameters
    ----------
    form : LinearForm
    """

    def __init__(self, form: LinearForm) -> None:
        self.form = form
        self.found: list[np.ndarray] = []
        self._supports: dict[tuple[int, ...], Support | None] = {}

    def add(self, rows: np.ndarray) -> None:
        """Take note of a set, unless it is known or has more than ``DIAGNOSIS.largest_set`` rows.

        Parameters
        ----------
        rows : ndarray of int
            Rows of knowledge, by their numbers in the form.
        """
        if len(rows) <= DIAGNOSIS.largest_set and not any(np.array_equal(rows, other) for other in self.found):
            self.found.append(rows)

    def forcing(self, terms: np.ndarray) -> np.ndarray | None:
        """A set that forces some terms to zero, of whose rows none can be spared; None if none is known.

        Each problem is solved when it is first asked for.
        """
        for rows in self.found:
            support = self._support(rows)
            if support is not None and support.is_zero[terms].all() and self._needs_each(rows, terms):
                return rows
        return None

    def _needs_each(self, rows: np.ndarray, terms: np.ndarray) -> bool:
        """Whether some terms can have records without any one row of a set."""
        fewer = (self._support(rows[rows != row]) for row in rows)
        return all(one is not None and one.counts[terms].sum() > DIAGNOSIS.supposed for one in fewer)

    def _support(self, rows: np.ndarray) -> Support | None:
        """What some rows force; None if the problem has no answer."""
        key = tuple(rows.tolist())
        if key not in self._supports:
            self._supports[key] = self._solved(rows)
        return self._supports[key]

    def _solved(self, rows: np.ndarray) -> Support | None:
        """Solve the maximum-entropy problem of some rows."""
        form = self.form.select_knowledge(rows)
        aggregation = aggregate(form)
        answer = newton(aggregation.form, monitor=Monitor(time_limit=seconds_left()))
        check_time()
        if answer.status is not Status.OPTIMAL or answer.counts is None:
            return None
        counts, is_zero = aggregation.counts(answer.counts), np.zeros(form.shape[1], dtype=bool)
        if (form.residual(counts) > FEASIBILITY.multiple * form.tolerance).any():
            return None
        for proof in answer.proofs:
            is_zero |= empty_terms(form, proof[aggregation.row], is_zero, np.zeros(len(is_zero)))
        return Support(is_zero, counts)
