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
function of z, and Brouwer's theorem gives the z. Rows that depend on others hold because the others do, as there is
an x that satisfies all; which these are is decided in exact arithmetic (see :mod:`.modular`).

References
----------
Rump, S. M. (2010). Verification methods: rigorous results using floating-point arithmetic. Acta Numerica 19, 287-449.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..tolerances import CERTIFICATION, EPS
from .modular import PRIMES, dependent_rows, residues, residues_of_fraction

__all__ = ["Moves", "Part", "relative_moves"]


class Part(NamedTuple):
    """Rows that shall hold, equations first, over counts that may move; they have nothing to do with any others.

    Attributes
    ----------
    matrix : ndarray, shape (rows, terms)
    x : ndarray, one of the terms
        Counts > 0, people.
    off : ndarray, one of the rows
        How far each is from its value at most, people.
    n_equations : int
    inward : ndarray, one of the rows
        1 for an inequality that is held at its low side, -1 at its high side, 0 for an equation.
    typed : sequence, one of the rows
        The coefficients before any rounding, times any number, where they are told: each, and which terms it is of.
    """

    matrix: np.ndarray
    x: np.ndarray
    off: np.ndarray
    n_equations: int
    inward: np.ndarray
    typed: Sequence[Sequence[tuple[Fraction, np.ndarray]] | None]


class Moves(NamedTuple):
    """How far counts move to where rows hold exactly.

    Attributes
    ----------
    moves : ndarray, one of the terms
        The part of itself that no count moves further than; infinite throughout if nothing is proved.
    implied : ndarray of bool, one of the rows
        Inequalities that the equations imply.
    inside : bool
        Whether the other inequalities hold within their sides, and not at them.
    missed : ndarray, one of the rows
        How far beyond their sides inequalities may be that depend on others at theirs, people.
    """

    moves: np.ndarray
    implied: np.ndarray
    inside: bool
    missed: np.ndarray


def relative_moves(part: Part) -> Moves:
    """Bound how far counts move, each by a part of itself, to where rows hold exactly.

    Inequalities that depend on each other cannot all be held at their sides, which rounding has moved. All that are
    independent are then aimed at inside, so far that the others hold as well. Where there is no inside, as of
    P <= 0.3 and P >= 0.3, the others are missed by no more than rounding, which is told.
    """
    nothing, equation = np.full(len(part.x), np.inf), np.arange(len(part.off)) < part.n_equations
    depends, by_equations = _dependent(part)
    implied, odd = by_equations & ~equation, depends & ~by_equations
    none = np.zeros(len(part.off))
    if not np.isfinite(part.off).all():
        return Moves(nothing, implied, False, none)
    matrix, off = part.matrix[~depends], part.off[~depends]
    found, inside = _moves(matrix, part.x, off), False
    if odd.any() and np.isfinite(found).all():
        aim = part.inward[~depends]
        weighted = matrix * part.x
        with np.errstate(divide="ignore", invalid="ignore"):
            way = part.x * (matrix.T @ np.linalg.lstsq(weighted @ matrix.T, aim)[0])
            gain = part.inward[odd] * (part.matrix[odd] @ way)
            missing = part.off[odd] + np.abs(part.matrix[odd]) @ (part.x * found)
            margin = 2 * float((missing / np.maximum(gain, 0.0)).max())
            within = _moves(matrix, part.x, off + margin * np.abs(aim)) if margin < np.inf else nothing
        inside = bool((within[part.x > 0] <= CERTIFICATION.most_moved).all())
        if inside:
            found = within
        else:
            none[odd] = missing
    within_reach = (found[part.x > 0] <= CERTIFICATION.most_moved).all()  # nobody does not move
    return Moves(np.where(part.x > 0, found, 0.0) if within_reach else nothing, implied, inside, none)


def _dependent(part: Part) -> tuple[np.ndarray, np.ndarray]:
    """Mark rows that are combinations of those before them, as typed, and those that the equations imply."""
    by_prime = []
    for prime in PRIMES:
        found = residues(part.matrix, prime)
        for i, typed in enumerate(part.typed):
            if typed is not None:
                found[i] = sum((residues_of_fraction(a, prime) * of for a, of in typed), np.zeros(1, dtype=np.int64))
        by_prime.append(found % prime)
    columns = np.unique(np.vstack(by_prime), axis=1, return_index=True)[1]  # of those that are alike one is enough
    by_prime = [found[:, columns] for found in by_prime]
    return dependent_rows(by_prime, part.n_equations)


def _moves(matrix: np.ndarray, x: np.ndarray, off: np.ndarray) -> np.ndarray:
    """Bound |A' S^-1 r| for all |r| <= off, where S = A diag(x) A' is rounded; infinite if S may be singular."""
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
        if not kappa <= CERTIFICATION.most_kappa:
            return nothing
        solution, row_sums = np.abs(inverse) @ right, np.abs(inverse).sum(axis=1)
        most = solution + kappa / (1 - kappa) * row_sums.max() * right.max()  # of |S^-1| off
        found = np.abs(matrix.T @ inverse) @ right + (n + 4) * EPS * (across @ solution) + across @ (rest @ most)
    return found * (1 + (4 * n + 16) * EPS)
