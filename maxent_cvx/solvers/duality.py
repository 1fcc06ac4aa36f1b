"""Proofs from multipliers, with bounds on rounding errors: weak duality, terms that are zero, bounds of terms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .form import LinearForm, Settled
from .parameters import EPS
from .sparse import pattern

#: Logarithm of a count that counts as zero: exp(-50) is 2e-22 records.
VANISHED_LOG = -50.0

# Residuals of rows, correctly rounded: error-free products, and an exactly rounded sum.


#: Veltkamp's constant: it splits a double into two halves of 26 binary digits, whose products are exact.
SPLIT = 2.0**27 + 1


def exact_residuals(form: LinearForm, x: np.ndarray, rows: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Compute A x - side for some rows and one side of each, records, rounded once.

    A product a x is the sum of two doubles (Dekker's TwoProduct), unless it overflows or underflows; the sum of all is
    rounded once (Shewchuk's algorithm, :func:`math.fsum`).
    """
    matrix = form.rows(rows)
    product, rest = two_product(matrix.data, x[matrix.indices])
    ends = matrix.indptr
    return np.array(
        [
            math.fsum([*product[start:end], *rest[start:end], -side])
            for start, end, side in zip(ends[:-1], ends[1:], sides.tolist(), strict=True)
        ]
    )


def two_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two doubles whose sum is exactly a b."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _halves(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split each double into a high and a low half (Veltkamp)."""
    high = SPLIT * a
    high = high - (high - a)
    return high, a - high


# Error bounds for A' m: from roundoff of the product, and from rounding of the coefficients.


def exact_rmatvec(form: LinearForm, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute A' m from the raw rows, with a bound on its roundoff, each with one number per term.

    If all coefficients are 1 or -1, m is split into multiples of a power of two 2^-k, whose sums are exact below
    2^(53-k), and small remainders, whose roundoff is small. Otherwise it is a plain product.
    """
    if not all((np.abs(matrix.data) == 1).all() for matrix in (form.published, form.known.distinct)):
        return form.rmatvec(multipliers), rmatvec_rounding(form, multipliers)
    unit = 2.0 ** (np.ceil(np.log2(max(np.abs(multipliers).sum(), 1.0))) - 52)
    leading = np.rint(multipliers / unit) * unit
    rest = multipliers - leading
    sums = form.rmatvec(leading), form.rmatvec(rest)
    return sums[0] + sums[1], EPS * (np.abs(sums[0]) + np.abs(sums[1])) + rmatvec_rounding(form, rest)


def rmatvec_rounding(form: LinearForm, multipliers: np.ndarray) -> np.ndarray:
    """Bound the roundoff of A' m, one number per term.

    The error of a sum of k products is at most k EPS times the sum of their absolute values.
    """
    n_products = np.diff(form.published_by_term.indptr)
    n_products = n_products + np.diff(form.known.transposed.indptr)[form.known.of_term]
    return EPS * n_products * form.absolute_rmatvec(np.abs(multipliers))


def rmatvec_coefficient_error(form: LinearForm, multipliers: np.ndarray) -> np.ndarray:
    """Bound the error of A' m due to the rounding of coefficients while rows were built; one number per term."""
    errors, n = form.coefficient_error * np.abs(multipliers), form.n_published
    if not errors.any():
        return np.zeros(form.shape[1])
    errors_of_terms = (form.known.pattern.T @ errors[n:])[form.known.of_term]
    return errors_of_terms + pattern(form.published).T @ errors[:n]


# Certificates that terms are zero: proofs by one direction of the multipliers, as in facial reduction.
#
# Let d be a direction of the multipliers, and b_i the low side of row i where d_i > 0 and its high side where d_i < 0.
# Every x that satisfies the rows then satisfies
#
#     sum_j (A' d)_j x_j  =  d' A x  >=  beta,    beta = sum_i d_i b_i.
#
# If no (A' d)_j is positive and beta = 0, then x_j = 0 wherever (A' d)_j < 0: d is a recession direction of the dual
# function. If beta > 0, there is no x >= 0 that satisfies the rows: d is a Farkas certificate.


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
    """Bound every term from above, in records, by one direction of the multipliers; infinite if nothing is implied.

    In floating point, beta and (A' d)_j are known only up to roundoff, and some (A' d)_j that should be 0 are slightly
    positive. With r_j an upper bound on (A' d)_j, and all terms with r_j > 0 at the upper bounds u_j that the published
    rows imply, a term with r_j < 0 is at most (sum over r_k > 0 of r_k u_k + max(-beta, 0) + errors) / -r_j.

    The errors include those of the fixed terms, |(A' d)_k| times the width, or times the count if that is smaller and
    r_k < 0: the term could weaken the proof only by being smaller than its count, and no term is negative.
    """
    form, direction = form.hard, direction[: form.n_hard]  # soft rows may be missed, so they prove nothing
    change, error = exact_rmatvec(form, direction)
    implied = consequence(form, direction, change, error, fixed, counts, width)
    return bounds_by(change + error, implied.excess, fixed)


def with_zeros(form: LinearForm, settled: Settled, directions: Iterable[np.ndarray], counts: np.ndarray) -> Settled:
    """Add the terms that successive directions prove to be zero to the settled ones, with their upper bounds as widths."""
    fixed, width = settled
    for direction in directions:
        upper = implied_upper_bounds(form, direction, fixed, counts, width)
        zero = upper <= form.zero_tolerance * form.count_scale
        fixed, width = fixed | zero, np.where(zero, np.maximum(upper, counts), width)
    return Settled(fixed, width)


class Consequence(NamedTuple):
    """The implication of a direction: sum_j (A' d)_j x_j >= beta over the terms that are not fixed."""

    risen: float  # upper bound of the terms with (A' d)_j > 0 on the left side, records
    beta: float  # the right side, minus the fixed terms of the left side
    error: float  # bound on the error of beta, due to rounding and to the widths of fixed terms

    @staticmethod
    def added(consequences: Sequence[Consequence]) -> Consequence:
        """Sum the consequences of partitions; the sums are rounded once more."""
        risen, beta, error = (math.fsum(numbers) for numbers in zip(*consequences, strict=True))
        return Consequence(risen, beta, error + EPS * sum(abs(each.beta) + each.risen for each in consequences))

    @property
    def excess(self) -> float:
        """Largest amount by which terms with (A' d)_j < 0 can reduce the left side, in records."""
        return self.risen + max(-self.beta, 0.0) + self.error

    @property
    def is_contradiction(self) -> bool:
        """Whether no x >= 0 satisfies the implication."""
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
    """Return the implication of a direction for the terms that are not fixed."""
    active = np.flatnonzero(direction)
    along = direction[active]
    side = np.where(along > 0, form.low[active], form.high[active])
    factors = np.concatenate([along, -change[fixed]]), np.concatenate([side, counts[fixed]])
    with np.errstate(invalid="ignore", over="ignore"):
        products = np.concatenate(two_product(*factors))
    beta = math.fsum(products) if np.isfinite(products).all() else -np.inf  # rounded once
    largest = change + error
    rises = ~fixed & (largest > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        off = EPS * abs(beta) + np.abs(along) @ form.side_error[active] + error[fixed] @ counts[fixed]
        if width is not None:
            wide = np.where(largest < 0, np.minimum(width, counts), width)
            off += (np.abs(change) + error)[fixed] @ wide[fixed]
        return Consequence(float(largest[rises] @ form.upper_bound[rises]), float(beta), float(off))


def bounds_by(largest: np.ndarray, excess: float, fixed: np.ndarray) -> np.ndarray:
    """Return the implied upper bound of each term, in records; infinite if nothing is implied."""
    with np.errstate(invalid="ignore", divide="ignore"):
        bounds = np.where(~fixed & (largest < 0), excess / -largest, np.inf)
    return np.where(np.isnan(bounds), np.inf, bounds)  # NaN if the excess is infinite or undefined


def moved_along_recession(form: LinearForm, multipliers: np.ndarray, proofs: Sequence[np.ndarray]) -> np.ndarray:
    """Move multipliers along recession directions until w exp(A' m - 1) is negligible on the terms proved zero.

    At the optimum these multipliers are infinite. A step along a direction changes the terms that it proves zero and
    the terms that earlier directions have proved zero; the last direction is therefore used first.
    """
    empty, changed = np.zeros(form.shape[1], dtype=bool), []
    for proof in proofs:
        changed.append(empty_terms(form, proof, empty, np.zeros(len(empty))))
        empty = empty | changed[-1]
    moved = multipliers
    for proof, terms in zip(reversed(proofs), reversed(changed), strict=True):
        if terms.any():
            steps = (form.exponent(moved) - VANISHED_LOG)[terms] / -form.rmatvec(proof)[terms]
            moved = moved + max(float(steps.max()), 0.0) * proof
    return moved


def dual_bound(form: LinearForm, cost: np.ndarray, multipliers: np.ndarray) -> float:
    """Bound cost @ x from below over all x >= 0 with low <= A x <= high.

    For any multipliers d of the rows, cost @ x >= d' b + sum_j min(0, (cost - A' d)_j) c_j, where b_i is the low side
    of row i if d_i > 0 and the high side if d_i < 0, and c_j is an upper bound on x_j, in records. d is first projected
    to the dual cone, since roundoff may leave a multiplier whose sign refers to a missing side.
    """
    of_rows, of_terms = _summands(form, cost, multipliers)
    return float(of_rows.sum() + of_terms.sum())


def dual_bounds(
    form: LinearForm, cost: np.ndarray, multipliers: np.ndarray, of_row: np.ndarray, of_term: np.ndarray, n: int
) -> np.ndarray:
    """Bound cost @ x over each of n independent components, given the component of every row and term."""
    of_rows, of_terms = _summands(form, cost, multipliers)
    return np.bincount(of_row, of_rows, n) + np.bincount(of_term, of_terms, n)


def error_of_sides(form: LinearForm, multipliers: np.ndarray) -> np.ndarray:
    """Bound the effect of the error of each row's side on a dual bound."""
    return np.abs(form.project_to_dual_cone(multipliers)) * form.side_error


def proved_violation(form: LinearForm, multipliers: np.ndarray) -> float:
    """Bound sum |d_i| violation_i from below over all x >= 0: positive if the rows contradict each other (Farkas).

    Errors of the sides, and the roundoff of the bound, are subtracted.
    """
    of_rows, of_terms = _summands(form, np.zeros(form.shape[1]), multipliers)
    d = form.project_to_dual_cone(multipliers)
    roundoff = rmatvec_rounding(form, d) + rmatvec_coefficient_error(form, d)
    touched = form.absolute_rmatvec(np.abs(d)) > 0
    error = error_of_sides(form, multipliers).sum() + (roundoff[touched] @ form.upper_bound[touched])
    error += (len(of_rows) + len(of_terms)) * EPS * (np.abs(of_rows).sum() + np.abs(of_terms).sum())
    return float(of_rows.sum() + of_terms.sum() - error)


def _summands(form: LinearForm, cost: np.ndarray, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the contributions of every row and every term to the bound."""
    d = form.project_to_dual_cone(multipliers)
    of_rows, of_terms = np.zeros(form.shape[0]), np.zeros(form.shape[1])
    active = np.flatnonzero(d)
    of_rows[active] = d[active] * np.where(d[active] > 0, form.low[active], form.high[active])
    reduced_cost = np.minimum(cost - form.rmatvec(d), 0.0)
    negative = np.flatnonzero(reduced_cost)
    of_terms[negative] = reduced_cost[negative] * form.upper_bound[negative]
    return of_rows, of_terms
