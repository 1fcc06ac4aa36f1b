r"""A point at which rows hold exactly: that there is one near a point where they nearly hold, and how near.

Rows A x = b, with the counts x > 0 known to satisfy them but for r, |r_i| <= off_i. With X = diag(x) and S = A X A',

    x' = x (1 + A' z),    S z = -r,

satisfies them exactly, and is no less than 0 where |A' z| <= 1. S is known to rounding only. With an approximate
inverse Y of it, and kappa a bound on the row sums of \|I - Y S\|, which includes all rounding in S and in the product,
kappa < 1 proves that S is regular, and

    \|S^-1\| <= \|Y\| + kappa / (1 - kappa) max(row sums of \|Y\|)    entry by entry,

so that \|z\| <= \|S^-1\| off, and no count moves by more than that part of itself which \|A\|' \|z\| is (Rump, 2010,
section 10). Rows that depend on others hold because the others do, as there is an x that satisfies all; which these
are is decided in exact arithmetic (see :mod:`.modular`).

References
----------
Rump, S. M. (2010). Verification methods: rigorous results using floating-point arithmetic. Acta Numerica 19, 287-449.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .linear_form import EPS, LinearForm
from .modular import PRIMES, dependent_rows, residues, residues_of_fraction

__all__ = ["MOST_MOVED", "relative_moves"]

#: No count may move by more than this part of itself.
MOST_MOVED = 0.5
#: An approximate inverse is taken if I - Y S is no larger than this.
MOST_KAPPA = 0.5


def relative_moves(
    form: LinearForm, x: np.ndarray, terms: np.ndarray, rows: np.ndarray, off: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Bound how far counts move, each by a part of itself, to where rows hold exactly.

    Parameters
    ----------
    form : LinearForm
    x : ndarray
        Counts, people.
    terms : ndarray of int
        Counts > 0 that may move; the others stay.
    rows : ndarray of int
        Rows that shall hold, each at one value; equations before inequalities.
    off : ndarray, one of the rows
        How far each is from that at most, people.

    Returns
    -------
    moves : ndarray, one of the terms
        Infinite throughout if nothing is proved.
    implied : ndarray of bool, one of the rows
        Inequalities that hold because the equations do, and not necessarily at that value.
    """
    nothing, equations = np.full(len(terms), np.inf), form.is_equation[rows]
    depends, by_equations = _dependent(form, rows, terms)
    if (depends & ~by_equations).any() or not np.isfinite(off).all():
        return nothing, ~equations
    matrix = form.matrix[rows[~depends]][:, terms].toarray()
    weighted = matrix * x[terms]
    system, sizes = weighted @ matrix.T, np.abs(weighted) @ np.abs(matrix).T
    moves = _solution_bound(system, sizes, off[~depends], len(terms))
    found = np.abs(matrix).T @ moves * (1 + 4 * len(off) * EPS)
    return found if (found <= MOST_MOVED).all() else nothing, depends & ~equations


def _dependent(form: LinearForm, rows: np.ndarray, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mark rows that are combinations of those before them, as typed, and those that the equations imply."""
    matrix = form.matrix[rows][:, terms].toarray()
    columns = np.unique(np.vstack([matrix, *_patterns(form, rows, terms)]), axis=1, return_index=True)[1]
    by_prime = []
    for prime in PRIMES:
        found = residues(matrix[:, columns], prime)
        for i, row in enumerate(rows):
            if (typed := form.typed(int(row))) is not None:
                found[i] = 0
                for coefficient, at in typed:
                    found[i] += residues_of_fraction(coefficient, prime) * np.isin(terms[columns], at)
                found[i] %= prime
        by_prime.append(found)
    return dependent_rows(by_prime, int(form.is_equation[rows].sum()))


def _patterns(form: LinearForm, rows: np.ndarray, terms: np.ndarray) -> list[np.ndarray]:
    """What the typed coefficients tell apart, which rounding may not: which terms each is of."""
    known = [form.typed(int(row)) for row in rows]
    return [np.isin(terms, at)[None].astype(float) for typed in known if typed is not None for _, at in typed]


def _solution_bound(system: np.ndarray, sizes: np.ndarray, off: np.ndarray, n_terms: int) -> np.ndarray:
    """Bound |S^-1 r| for all |r| <= off, S being a symmetric matrix computed as a sum of n_terms products."""
    size = np.sqrt(system.diagonal())
    nothing = np.full(len(off), np.inf)
    if not (size > 0).all() or not np.isfinite(system).all():
        return nothing
    scale = size[:, None] * size
    system, sizes = system / scale, sizes / scale
    try:
        inverse = np.linalg.inv(system)
    except np.linalg.LinAlgError:
        return nothing
    n = len(off)
    with np.errstate(over="ignore", invalid="ignore"):
        # Sums of n products, of an S whose entries are sums of n_terms products, each scaled: so many roundings.
        rest = np.abs(np.eye(n) - inverse @ system) + (2 * n + n_terms + 16) * EPS * (np.abs(inverse) @ sizes)
        kappa = float(rest.sum(axis=1).max()) * (1 + 4 * n * EPS)
        if not kappa <= MOST_KAPPA:
            return nothing
        right, row_sums = off / size, np.abs(inverse).sum(axis=1)
        found = np.abs(inverse) @ right + kappa / (1 - kappa) * row_sums.max() * right.max()
    return found / size * (1 + (2 * n + 16) * EPS)
