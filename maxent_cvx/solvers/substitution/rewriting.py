"""Subtract multiples of equations from rows in rational arithmetic, from the rows as typed, and round once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from ..parameters.tolerances import FEASIBILITY, SUBSTITUTION
from ..program.linear_form import LinearForm
from ..rows.rational_row import RationalRow
from ..rows.row_operations import RowOperations
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
    """Apply the pivots to some rows, one step after the other, and scale these rows anew.

    Parameters
    ----------
    form : LinearForm
    n_records : int
    rows : ndarray of int
        The rows of the form that the row numbers of the pivots refer to.
    chosen : ndarray of int
        Which of these to rewrite.
    steps : sequence of Pivots
    upper : ndarray, one a term
        Upper bounds, records. A rewritten row is scaled by its magnitude within them.

    Notes
    -----
    A row stays as it is if its new coefficients exceed the range of doubles.
    """
    new = {
        name: getattr(form, name).copy()
        for name in ("low", "high", "scale", "shift", "side_error", "coefficient_error")
    }
    factors, rewritten_rows = np.ones(form.shape[0]), {}
    subtracted: list[tuple[int, int, float]] = []
    origin = form.origin
    assert origin is not None
    most = SUBSTITUTION.excess * np.minimum(form.upper_bound, n_records)
    for i in chosen.tolist():
        row = int(rows[i])
        first = RationalRow.from_origin(origin, row, n_records)
        found, equations = _eliminated(first, i, steps, form.low)
        magnitude = _magnitude(found, upper) or n_records / float(form.scale[row])  # no terms: keep the scale it had
        scale = Fraction(2) ** -math.floor(math.log2(magnitude))  # a power of two divides without rounding
        found = found.scaled(scale)
        try:
            (low, high), (error, error_of_sides) = found.sides, found.rounding_error
            coefficients, shift, new_scale = found.coefficients, float(found.constant), float(n_records * scale)
        except OverflowError:
            continue
        side_error = error @ most[found.terms] + error_of_sides
        if not origin.is_exact(row):
            source, sizes = FEASIBILITY.places * float(scale), np.abs(first.coefficients)
            side_error += source * (
                sizes @ most[first.terms] + max(filter(math.isfinite, map(abs, first.sides)), default=0.0)
            )
            error = np.append(error, source * sizes.max(initial=0.0))
        rewritten_rows[row] = found.terms, coefficients
        new["low"][row], new["high"][row] = low, high
        new["scale"][row], new["shift"][row] = new_scale, shift
        new["side_error"][row], new["coefficient_error"][row] = side_error, error.max(initial=0.0)
        factors[row] = new_scale / form.scale[row]
        subtracted += [(row, equation, float(a)) for equation, a in equations]
    if not rewritten_rows:
        return form
    at = tuple(np.array([one[k] for one in subtracted], dtype=np.int64) for k in (0, 1))
    scaled = np.array([one[2] for one in subtracted]) * form.scale[at[0]] / n_records
    operations = RowOperations(sp.csr_array((scaled, at), shape=(len(factors), len(factors))), factors)
    matrix = _with_rows(form.matrix, rewritten_rows)
    return replace(form, coefficients=matrix, operations=operations, typed=form, **new)


def _eliminated(
    row: RationalRow, i: int, steps: Sequence[Pivots], sides: np.ndarray
) -> tuple[RationalRow, list[tuple[int, Fraction]]]:
    """Apply the pivots of row i; also return the numbers of the equations subtracted, and their multiples."""
    subtracted = []
    for step in steps:
        own = slice(*np.searchsorted(step.row, [i, i + 1]))
        multiples = [row.coefficient(j) for j in step.term[own].tolist()]
        numbers = step.equations.first + step.equation[own]
        counts = [Fraction(n) for n in sides[numbers].tolist()]
        row = row.minus_equations(multiples, counts, step.equations.matrix[step.equation[own]])
        subtracted += list(zip(numbers.tolist(), multiples, strict=True))
    return row, subtracted


def _magnitude(row: RationalRow, upper: np.ndarray) -> float:
    """The largest |a_j| u_j of a row divided by its largest u_j, the upper bounds of its terms; 0 without terms."""
    sizes = np.abs(row.coefficients)
    most = upper[row.terms]
    largest = float(np.max(most, where=sizes > 0, initial=0.0))
    return float(np.max(sizes * most)) / largest if largest else 0.0


def _with_rows(matrix: sp.csr_array, replaced: dict[int, tuple[np.ndarray, np.ndarray]]) -> sp.csr_array:
    """Replace some rows of a matrix, each by its terms and their coefficients."""
    kept = np.ones(matrix.shape[0])
    kept[list(replaced)] = 0.0
    row = np.repeat(list(replaced), [len(terms) for terms, _ in replaced.values()])
    terms, coefficients = (np.concatenate(column) for column in zip(*replaced.values(), strict=True))
    found = sp.csr_array(sp.diags_array(kept) @ matrix + sp.csr_array((coefficients, (row, terms)), shape=matrix.shape))
    found.eliminate_zeros()
    found.sort_indices()
    return found
