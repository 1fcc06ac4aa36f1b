"""Certificates that terms are zero: one direction of the multipliers proves it, as in facial reduction.

Let d be a direction of the multipliers, and b_i the low side of row i where d_i > 0 and its high side where d_i < 0.
Every x that satisfies the rows then has

    sum_j (A' d)_j x_j  =  d' A x  >=  beta,    beta = sum_i d_i b_i.

If no (A' d)_j is positive and beta = 0, then x_j = 0 wherever (A' d)_j < 0: d is a recession direction of the dual
function. If beta > 0, there is no x >= 0 that satisfies the rows: d is a Farkas certificate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..parameters.tolerances import EPS, PRESOLVE
from ..program.linear_form import LinearForm
from ..program.rounding_errors import exact_rmatvec

__all__ = [
    "Consequence", "bounds_by", "consequence", "empty_terms", "implied_upper_bounds", "moved_along_recession",
]  # fmt: skip


def empty_terms(form: LinearForm, direction: np.ndarray, fixed: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Mark the terms that a direction proves to be zero; the proof is from the raw rows and includes roundoff.

    A term is marked if its upper bound by :func:`implied_upper_bounds`, which takes the same parameters, is at most
    ``form.zero_tolerance * form.count_scale``.
    """
    return implied_upper_bounds(form, direction, fixed, counts) <= form.zero_tolerance * form.count_scale


def implied_upper_bounds(
    form: LinearForm,
    direction: np.ndarray,
    fixed: np.ndarray,
    counts: np.ndarray,
    width: np.ndarray | None = None,
) -> np.ndarray:
    """Bound every term from above, records, by one direction of the multipliers; infinite where it implies nothing.

    Parameters
    ----------
    form : LinearForm
    direction : ndarray, one a row
    fixed : ndarray of bool, one a term
        Terms whose value is known already. They get no bound.
    counts : ndarray, one a term
        The values of the fixed terms, records; others are not used.
    width : ndarray, one a term, optional
        A bound on the error of these values, records; 0 by default.

    Notes
    -----
    In floating point, beta and the (A' d)_j are known to roundoff only, and some (A' d)_j that should be 0 are slightly
    positive. With r_j an upper bound on (A' d)_j, and all terms with r_j > 0 at the upper bounds u_j that the published
    rows imply, a term with r_j < 0 is at most (sum over r_k > 0 of r_k u_k + max(-beta, 0) + errors) / -r_j.

    The errors include those of the fixed terms, |(A' d)_k| times the width, or times the count if that is less and
    r_k < 0: the term could only weaken the proof by being smaller than its count, and no term is negative.
    """
    form, direction = form.hard, direction[: form.n_hard]  # a soft row can be missed, and proves nothing
    change, error = exact_rmatvec(form, direction)
    found = consequence(form, direction, change, error, fixed, counts, width)
    return bounds_by(change + error, found.excess, fixed)


class Consequence(NamedTuple):
    """What a direction implies: sum_j (A' d)_j x_j >= beta over the terms that are not fixed.

    Attributes
    ----------
    risen : float
        The most that terms with (A' d)_j > 0 add to the left side, records.
    beta : float
        The right side, less what fixed terms add to the left one.
    error : float
        A bound on the error of beta, from rounding and from the widths of fixed terms.
    """

    risen: float
    beta: float
    error: float

    @staticmethod
    def added(some: Sequence[Consequence]) -> Consequence:
        """The same of some partitions together, whose numbers are rounded once more as they are added up."""
        risen, beta, error = (math.fsum(numbers) for numbers in zip(*some, strict=True))
        return Consequence(risen, beta, error + EPS * sum(abs(one.beta) + one.risen for one in some))

    @property
    def excess(self) -> float:
        """The most that terms with (A' d)_j < 0 can take from the left side, records."""
        return self.risen + max(-self.beta, 0.0) + self.error

    @property
    def is_contradiction(self) -> bool:
        """Whether no x >= 0 satisfies it."""
        return self.beta - self.error > self.risen


def consequence(
    form: LinearForm,
    direction: np.ndarray,
    change: np.ndarray,
    error: np.ndarray,
    fixed: np.ndarray,
    counts: np.ndarray,
    width: np.ndarray | None = None,
) -> Consequence:
    """What a direction implies for the terms that are not fixed.

    Parameters
    ----------
    form : LinearForm
    direction : ndarray, one a row
        Where it is 0, the side of a row does not count.
    change, error : ndarray, one a term
        A' d, and a bound on its error.
    fixed, counts, width
        As of :func:`implied_upper_bounds`.
    """
    active = np.flatnonzero(direction)
    along = direction[active]
    side = np.where(along > 0, form.low[active], form.high[active])
    products = np.concatenate([along * side, -change[fixed] * counts[fixed]])
    size = np.abs(products).sum()
    beta = math.fsum(products) if np.isfinite(size) else -np.inf  # fsum is exact: only the products are rounded
    largest = change + error
    rises = ~fixed & (largest > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        off = EPS * size + np.abs(along) @ form.side_error[active]
        if width is not None:
            wide = np.where(largest < 0, np.minimum(width, counts), width)
            off += (np.abs(change) + error)[fixed] @ wide[fixed]
        return Consequence(float(largest[rises] @ form.upper_bound[rises]), float(beta), float(off))


def bounds_by(largest: np.ndarray, excess: float, fixed: np.ndarray) -> np.ndarray:
    """The upper bound of each term that follows, records; infinite where nothing does.

    Parameters
    ----------
    largest : ndarray, one a term
        An upper bound on (A' d)_j.
    excess : float
        As of :class:`Consequence`.
    fixed : ndarray of bool, one a term
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(~fixed & (largest < 0), excess / -largest, np.inf)
    return np.where(np.isnan(found), np.inf, found)  # NaN where the excess is infinite or undefined


def moved_along_recession(form: LinearForm, multipliers: np.ndarray, proofs: Sequence[np.ndarray]) -> np.ndarray:
    """Move multipliers along recession directions until w exp(A' m - 1) is negligible on the terms proved zero.

    At the optimum these multipliers are infinite. A step along a direction changes the terms that it proves zero, and
    terms that an earlier direction has proved zero; the last direction is therefore taken first.

    Parameters
    ----------
    form : LinearForm
    multipliers : ndarray, one a row
    proofs : sequence of ndarray, one a row each
        Every one proves terms zero given those before it.
    """
    empty, found = np.zeros(form.shape[1], dtype=bool), []
    for proof in proofs:
        found.append(empty_terms(form, proof, empty, np.zeros(len(empty))))
        empty = empty | found[-1]
    moved = multipliers
    for proof, terms in zip(reversed(proofs), reversed(found), strict=True):
        if terms.any():
            steps = (form.exponent(moved) - PRESOLVE.vanished_log)[terms] / -form.rmatvec(proof)[terms]
            moved = moved + max(float(steps.max()), 0.0) * proof
    return moved
