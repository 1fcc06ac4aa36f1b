"""Where a row has a large coefficient, the published equation of its term is put in for it, if that leaves less.

In c P(Flu | male) + P(any disease) = 1 + 0.2 c, P(any disease) is 1, as published: the row says P(Flu | male) = 0.2,
and with a small c its largest coefficient is of what it says nothing about. And a sum of incomes over some people of
a bucket, of whom one has 10^10, says whether it is one of them: x, the number of them with that income, is 1 but for
10^-5 people or so. The row is about the others' incomes and about 1 - x; beside 10^10 x they vanish in rounding.

Such multiples of published equations are subtracted, in rational numbers, and every coefficient is rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ...errors import Infeasible
from ..presolve.bound_propagation import term_bounds
from ..program.linear_form import LinearForm
from ..rows.sparse import least_by_row, most_by_row
from ..tolerances import FEASIBILITY, SUBSTITUTION
from .pivots import Equations, Pivots, equations_of, largest_terms, pivots
from .rewriting import rewritten

__all__ = ["substituted"]


def substituted(form: LinearForm, n_records: int) -> LinearForm:
    """Rewrite rows of knowledge in which large coefficients hide what they say of other terms."""
    uneven = _uneven(form)
    if not len(uneven):
        return form
    blocks = equations_of(form)
    try:
        upper = _bounds(form, n_records, uneven, blocks)
    except Infeasible:
        return form  # whoever solves it says so
    rows = left = sp.csr_array(form.matrix[uneven])
    steps = []
    for equations in blocks * 2:  # what one block leaves another may take
        step = pivots(left, equations, upper)
        steps.append(step)
        left = sp.csr_array(left - step.multiples(left) @ equations.matrix)
    left.eliminate_zeros()
    chosen = np.flatnonzero(_about(left, upper) <= SUBSTITUTION.least_reduction * _about(rows, None))
    return rewritten(form, n_records, uneven, chosen, steps, upper) if len(chosen) else form


def _uneven(form: LinearForm) -> np.ndarray:
    """The rows of knowledge whose coefficients are not all of one size, if only before they were rounded."""
    known, n = form.known.distinct, form.n_published
    sizes = np.abs(known.data)
    found = np.zeros(form.shape[0], dtype=bool)
    found[n:] = most_by_row(sizes, known) > least_by_row(sizes, known)
    if form.origin is not None:
        for row in form.origin.typed:
            found[row] |= len({abs(a) for a, _ in form.origin.coefficients(int(row))}) > 1
    found[: form.n_facts] = False
    return np.flatnonzero(found)


def _bounds(form: LinearForm, n_records: int, uneven: np.ndarray, blocks: Sequence[Equations]) -> np.ndarray:
    """What each term can hold, seen by the rows as they are, and by what each block would make of them.

    That some of the people in a bucket have the income of 10^10 says of each of them nothing by itself; of the others
    it says that they do not have it.
    """
    upper, rows = term_bounds(form, n_records)[1], sp.csr_array(form.matrix[uneven])
    least = least_by_row(np.abs(rows.data), rows)
    for equations in blocks:
        pair, entry, _ = largest_terms(rows, equations, upper)
        steep = np.abs(rows.data[entry]) > SUBSTITUTION.hiding_ratio * least[pair // equations.matrix.shape[0]]
        row, equation = np.divmod(pair[steep], equations.matrix.shape[0])
        if not len(row):
            continue
        times = Pivots(row, equation, rows.indices[entry[steep]], equations).multiples(rows)
        value = times @ form.low[equations.first : equations.first + times.shape[1]]
        left = sp.csr_array(rows - times @ equations.matrix)
        facts, knowledge = form.select(np.arange(form.n_facts)), form.select(uneven)
        tried = replace(
            form.select(np.concatenate([np.arange(form.n_facts), uneven])),
            matrix=sp.csr_array(sp.vstack([facts.matrix, left], format="csr")),
            low=np.concatenate([facts.low, knowledge.low - value]),
            high=np.concatenate([facts.high, knowledge.high - value]),
            side_error=np.concatenate(
                [facts.side_error, knowledge.side_error + FEASIBILITY.places * (n_records + np.abs(value))]
            ),
        )
        upper = np.minimum(upper, term_bounds(tried, n_records)[1])
    return upper


def _about(rows: sp.csr_array, upper: np.ndarray | None) -> np.ndarray:
    """What rows are about: what a coefficient can amount to at most, by what a term can."""
    people = np.ones(rows.nnz) if upper is None else upper[rows.indices]
    amount, most = most_by_row(np.abs(rows.data) * people, rows), most_by_row(people, rows)
    return np.divide(amount, most, out=np.zeros(len(most)), where=most > 0)
