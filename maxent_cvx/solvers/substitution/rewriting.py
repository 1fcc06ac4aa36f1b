"""Rows rewritten without multiples of equations: in rational numbers, from what was typed, and rounded once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from ..program.linear_form import LinearForm
from ..rows.rational_row import RationalRow
from ..rows.row_operations import RowOperations
from ..tolerances import FEASIBILITY, SUBSTITUTION
from .pivots import Pivots

__all__ = ["rewritten"]


def rewritten(
    form: LinearForm,
    n_records: int,
    rows: np.ndarray,
    chosen: np.ndarray,
    steps: Sequence[Pivots],
    upper: np.ndarray,
) -> LinearForm:
    """Subtract from some rows the equations that the pivots say, one step after the other, and scale them anew.

    Parameters
    ----------
    form : LinearForm
    n_records : int
    rows : ndarray of int
        The numbers, in the form, of the rows that the pivots number.
    chosen : ndarray of int
        Which of these to rewrite.
    steps : sequence of Pivots
    upper : ndarray
        The most people that each term can hold; a row is scaled by what it is about.
    """
    new = {
        name: getattr(form, name).copy()
        for name in ("low", "high", "scale", "shift", "side_error", "coefficient_error")
    }
    by, data = np.ones(form.shape[0]), {}
    subtracted: list[tuple[int, int, float]] = []
    origin = form.origin
    assert origin is not None
    most = SUBSTITUTION.excess * np.minimum(form.upper_bound, n_records)
    for i in chosen.tolist():
        row = int(rows[i])
        found = first = RationalRow.of(origin, row, n_records)
        taken = []
        for step in steps:
            mine = slice(*np.searchsorted(step.row, [i, i + 1]))
            multiples = [found.at(j) for j in step.term[mine].tolist()]
            numbers = step.equations.first + step.equation[mine]
            counts = [Fraction(n) for n in form.low[numbers].tolist()]
            found = found.less(multiples, counts, step.equations.matrix[step.equation[mine]])
            taken += [(row, k, float(a)) for k, a in zip(numbers.tolist(), multiples, strict=True)]
        about = _about(found, upper) or n_records / float(form.scale[row])  # of what says nothing, the scale it had
        scale = Fraction(2) ** -math.floor(math.log2(about))  # which divides without rounding
        found = found.times(scale)
        try:
            (low, high), (off, off_side) = found.sides, found.rounding
            coefficients, shift, to_people = found.coefficients, float(found.constant), float(n_records * scale)
        except OverflowError:  # no double is so large: the row stays as it is
            continue
        side_error = off @ most[found.terms] + off_side
        if not origin.is_exact(row):
            source, sizes = FEASIBILITY.places * float(scale), np.abs(first.coefficients)
            side_error += source * (
                sizes @ most[first.terms] + max(filter(math.isfinite, map(abs, first.sides)), default=0.0)
            )
            off = np.append(off, source * sizes.max(initial=0.0))
        data[row] = found.terms, coefficients
        new["low"][row], new["high"][row] = low, high
        new["scale"][row], new["shift"][row] = to_people, shift
        new["side_error"][row], new["coefficient_error"][row] = side_error, off.max(initial=0.0)
        by[row] = to_people / form.scale[row]
        subtracted += taken
    if not data:
        return form
    at = tuple(np.array([one[k] for one in subtracted], dtype=np.int64) for k in (0, 1))
    times = np.array([one[2] for one in subtracted]) * form.scale[at[0]] / n_records
    operations = RowOperations(sp.csr_array((times, at), shape=(len(by), len(by))), by)
    return replace(form, matrix=_with_rows(form.matrix, data), operations=operations, **new)


def _about(row: RationalRow, upper: np.ndarray) -> float:
    """What a row is about: what a coefficient can amount to at most, by what a term of it can; 0 if it says nothing."""
    sizes = np.abs(row.coefficients)
    most = upper[row.terms]
    people = float(np.max(most, where=sizes > 0, initial=0.0))
    return float(np.max(sizes * most)) / people if people else 0.0


def _with_rows(matrix: sp.csr_array, data: dict[int, tuple[np.ndarray, np.ndarray]]) -> sp.csr_array:
    """Put other rows, each the terms and their coefficients, in the places of some."""
    kept = np.ones(matrix.shape[0])
    kept[list(data)] = 0.0
    row = np.repeat(list(data), [len(terms) for terms, _ in data.values()])
    terms, coefficients = (np.concatenate(column) for column in zip(*data.values(), strict=True))
    found = sp.csr_array(sp.diags_array(kept) @ matrix + sp.csr_array((coefficients, (row, terms)), shape=matrix.shape))
    found.eliminate_zeros()
    found.sort_indices()
    return found
