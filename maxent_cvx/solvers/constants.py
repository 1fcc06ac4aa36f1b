"""What published equations make constant, taken out of the rows of knowledge that are nearly combinations of them.

In c P(Flu | male) + P(any disease) = 1 + 0.2 c, P(any disease) is 1: the row says P(Flu | male) = 0.2, and with a
small c its largest coefficient, which a row is scaled by, is of what it says nothing about. Where a row has all terms
of a published equation, with coefficients of one sign, the smallest of these times the equation is such a constant.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import scipy.sparse as sp

from .entries import entry_rows, most_by_row

__all__ = ["without_constants"]

#: A row is rewritten if that makes its largest coefficient so much smaller.
SMALLER = 0.25


def without_constants(
    matrix: sp.csr_array,
    low: np.ndarray,
    high: np.ndarray,
    scale: np.ndarray,
    shift: np.ndarray,
    doubt: np.ndarray,
    blur: np.ndarray,
    ends: np.ndarray,
    rounding: float,
) -> tuple[sp.csr_array, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rewrite rows without what is constant, and scale them anew so that their largest coefficient is 1.

    Parameters
    ----------
    matrix, low, high, scale, shift, doubt, blur
        As in :class:`.stacking.Stacked`; all coefficients are at most 1.
    ends : ndarray of int
        Where the blocks of published rows, and of other facts, begin and end.
    rounding : float
        What rounding all coefficients once makes of a row, at most, people.
    """
    rows, n = entry_rows(matrix), int(ends[-1])
    uneven = np.bincount(rows, np.abs(matrix.data) != 1, matrix.shape[0]) > 0
    entries = np.flatnonzero(uneven[rows] & (rows >= n))
    if not len(entries):
        return matrix, low, high, scale, shift, doubt, blur
    data, row, column = matrix.data.copy(), rows[entries], matrix.indices[entries]
    constant, size = np.zeros(len(low)), np.zeros(len(low))
    for start, end in [*itertools.pairwise(ends)] * 2:  # what one block leaves another may take
        block = sp.csr_array(matrix[start:end])
        is_equation = (low[start:end] == high[start:end]) & (np.diff(block.indptr) > 0)
        of_term = np.full(matrix.shape[1], -1)
        of_term[block.indices] = entry_rows(block)
        if (block.data != 1).any() or len(np.unique(block.indices)) < block.nnz:  # its rows must have no term in common
            continue
        has = np.flatnonzero((of_term[column] >= 0) & (data[entries] != 0))
        key = row[has] * np.int64(end - start) + of_term[column[has]]
        pairs, pair = np.unique(key, return_inverse=True)
        of_row, equation = pairs // (end - start), pairs % (end - start)
        sign = np.bincount(pair, np.sign(data[entries[has]]), len(pairs))
        covered = is_equation[equation] & (np.abs(sign) == np.diff(block.indptr)[equation])
        least = np.full(len(pairs), np.inf)
        np.minimum.at(least, pair, np.abs(data[entries[has]]))
        times = np.where(covered, np.sign(sign) * least, 0.0)
        data[entries[has]] -= times[pair]
        part = times * low[start + equation]
        constant += np.bincount(of_row, part, len(low))
        size += np.bincount(of_row, np.abs(part) * np.bincount(of_row, minlength=len(low))[of_row], len(low))
    left = most_by_row(np.abs(data), matrix)
    chosen = uneven & (np.arange(len(low)) >= n) & (left > 0) & (left <= SMALLER)
    by = np.where(chosen, left, 1.0)
    constant = np.where(chosen, constant, 0.0)
    # Subtracting rounds every coefficient, and adding up what is constant every partial sum, to the last places.
    doubt = np.where(chosen, doubt + rounding + math.ulp(1.0) * (size + np.abs(constant)), doubt) / by
    data = np.where(chosen[rows], data / by[rows], matrix.data)
    found = sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    found.eliminate_zeros()
    return (
        found,
        (low - constant) / by,
        (high - constant) / by,
        scale / by,
        (shift + constant) / by,
        doubt,
        2 * blur / by,
    )
