"""Eliminate large coefficients of rows of knowledge by subtracting multiples of published equations.

Two examples of rows in which a large coefficient hides the others:

* c P(Flu | male) + P(any disease) = 1 + 0.2 c. As published, P(any disease) = 1, so that the row states
  P(Flu | male) = 0.2; but if c is small, its largest coefficients belong to a sum that is known already.
* A sum of incomes over some people of a bucket in which one income is 10^10. If it is among them, the number x of these
  people with that income is 1 up to about 10^-5. What else the row states is about the other incomes and 1 - x, and is
  lost in roundoff beside 10^10 x.

Multiples of published equations are subtracted in rational arithmetic, and every coefficient is rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ...errors import Infeasible
from ..parameters.tolerances import FEASIBILITY, SUBSTITUTION
from ..presolve.bound_propagation import term_bounds
from ..program.linear_form import LinearForm
from ..rows.sparse import least_by_row, most_by_row
from .pivots import Equations, Pivots, equation_blocks, largest_terms, pivots
from .rewriting import rewritten

__all__ = ["substituted"]


def substituted(form: LinearForm, n_records: int) -> LinearForm:
    """Rewrite the rows of knowledge in which large coefficients hide others; the feasible set is the same.

    Parameters
    ----------
    form : LinearForm
    n_records : int
    """
    uneven = _uneven(form)
    if not len(uneven):
        return form
    blocks = equation_blocks(form)
    try:
        upper = _bounds(form, n_records, uneven, blocks)
    except Infeasible:
        return form  # a solve will find the contradiction, and explain it
    rows = left = form.rows(uneven)
    steps: list[Pivots] = []
    for _ in range(2):  # twice, as one block may leave coefficients that an earlier one eliminates
        for equations in blocks:
            step = pivots(left, equations, upper)
            if len(step.row):
                steps.append(step)
                left = sp.csr_array(left - step.multiples(left) @ equations.matrix)
        if not steps:
            break
    left.eliminate_zeros()
    chosen = np.flatnonzero(_magnitude(left, upper) <= SUBSTITUTION.least_reduction * _magnitude(rows, None))
    return rewritten(form, n_records, uneven, chosen, steps, upper) if len(chosen) else form


def _uneven(form: LinearForm) -> np.ndarray:
    """The hard rows of knowledge whose coefficients differ in absolute value, as stored or as typed."""
    known, n = form.known.distinct, form.n_published
    sizes = np.abs(known.data)
    found = np.zeros(form.shape[0], dtype=bool)
    found[n:] = most_by_row(sizes, known) > least_by_row(sizes, known)
    if form.origin is not None:
        for row in form.origin.typed:
            found[row] |= len({abs(a) for a, _ in form.origin.coefficients(int(row))}) > 1
    found[: form.n_facts] = found[form.n_hard :] = False
    return np.flatnonzero(found)


def _bounds(form: LinearForm, n_records: int, uneven: np.ndarray, blocks: Sequence[Equations]) -> np.ndarray:
    """Bound every term from above, by the rows as they are and by the rows after each block's large pivots.

    A row may imply no bound before elimination, and a tight one after: that one of some people in a bucket has the
    income 10^10 implies no bound for any of them, but that none of the other people of the bucket has it.
    """
    upper, rows = term_bounds(form.hard, n_records)[1], form.rows(uneven)
    sizes = np.abs(rows.data)
    least = least_by_row(sizes, rows)
    if not (most_by_row(sizes, rows) > SUBSTITUTION.hiding_ratio * least).any():
        return upper
    for equations in blocks:
        pair, entry, *_ = largest_terms(rows, equations, upper)
        hiding = sizes[entry] > SUBSTITUTION.hiding_ratio * least[pair // equations.matrix.shape[0]]
        row, equation = np.divmod(pair[hiding], equations.matrix.shape[0])
        if not len(row):
            continue
        multiples = Pivots(row, equation, rows.indices[entry[hiding]], equations).multiples(rows)
        value = multiples @ form.low[equations.first : equations.first + multiples.shape[1]]
        left = sp.csr_array(rows - multiples @ equations.matrix)
        hard, knowledge = form.select(np.arange(form.n_facts)), form.select(uneven)
        tried = replace(
            form.select(np.concatenate([np.arange(form.n_facts), uneven])),
            coefficients=sp.csr_array(sp.vstack([hard.matrix, left], format="csr")),
            low=np.concatenate([hard.low, knowledge.low - value]),
            high=np.concatenate([hard.high, knowledge.high - value]),
            side_error=np.concatenate(
                [hard.side_error, knowledge.side_error + FEASIBILITY.places * (n_records + np.abs(value))]
            ),
        )
        upper = np.minimum(upper, term_bounds(tried, n_records)[1])
    return upper


def _magnitude(rows: sp.csr_array, upper: np.ndarray | None) -> np.ndarray:
    """The largest |a_j| u_j of each row divided by its largest u_j, the upper bounds of its terms (1 if not given)."""
    records = np.ones(rows.nnz) if upper is None else upper[rows.indices]
    activity, most = most_by_row(np.abs(rows.data) * records, rows), most_by_row(records, rows)
    return np.divide(activity, most, out=np.zeros(len(most)), where=most > 0)
