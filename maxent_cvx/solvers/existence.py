r"""A point at which rows hold exactly: that there is one near a point where they nearly hold, and how near.

Rows A x = b, with the counts x > 0 known to satisfy them but for r, |r_i| <= off_i. With X = diag(x) and S = A X A',

    x' = x (1 + A' z),    S z = -r,

satisfies them exactly, and is no less than 0 where |A' z| <= 1. S is known to rounding only. With an approximate
inverse Y of it, and kappa a bound on the row sums of \|I - Y S\|, which includes all rounding in S and in the product,
kappa < 1 proves that S is regular, and

    \|S^-1\| <= \|Y\| + kappa / (1 - kappa) max(row sums of \|Y\|)    entry by entry,

so that \|z\| <= \|S^-1\| off, and as S^-1 = Y + (I - Y S) S^-1, no count moves by a larger part of itself than

    \|A' Y\| off + \|A\|' \|I - Y S\| \|S^-1\| off    (Rump, 2010, section 10).

Numbers as typed differ from those that are stored by rounding, which depends on x' itself; r is then a continuous
function of z, and Brouwer's theorem gives the z. Rows that depend on others hold because the others do, as there is an x that satisfies all; which these
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
    found = _moves(form.matrix[rows[~depends]][:, terms].toarray(), x[terms], off[~depends])
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


def _moves(matrix: np.ndarray, x: np.ndarray, off: np.ndarray) -> np.ndarray:
    """Bound |A' S^-1 r| for all |r| <= off, S = A diag(x) A' computed in floating point; infinite if S may be singular."""
    nothing = np.full(len(x), np.inf)
    size = np.sqrt((matrix**2) @ x)
    if not (size > 0).all() or not np.isfinite(size).all():
        return nothing
    matrix, right = matrix / size[:, None], off / size  # S has ones on its diagonal then
    weighted = matrix * x
    system, sizes = weighted @ matrix.T, np.abs(weighted) @ np.abs(matrix).T
    try:
        inverse = np.linalg.inv(system)
    except np.linalg.LinAlgError:
        return nothing
    n, across = len(off), np.abs(matrix).T
    with np.errstate(over="ignore", invalid="ignore"):
        # Sums of n products, of an S whose entries are sums of as many as there are terms, of three rounded factors.
        rest = np.abs(np.eye(n) - inverse @ system) + (2 * n + len(x) + 16) * EPS * (np.abs(inverse) @ sizes)
        kappa = float(rest.sum(axis=1).max()) * (1 + 4 * n * EPS)
        if not kappa <= MOST_KAPPA:
            return nothing
        solution, row_sums = np.abs(inverse) @ right, np.abs(inverse).sum(axis=1)
        most = solution + kappa / (1 - kappa) * row_sums.max() * right.max()  # of |S^-1| off
        found = np.abs(matrix.T @ inverse) @ right + (n + 4) * EPS * (across @ solution) + across @ (rest @ most)
    return found * (1 + (4 * n + 16) * EPS)
