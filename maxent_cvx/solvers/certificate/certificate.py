r"""The certificate: a bound on the distance of an answer from the exact solution, whichever solver found it.

Let x* be the maximum-entropy solution to the rows as typed, every double being the rational number that it is. The
answer x that is certified satisfies the rows only approximately. The bound on its distance from x* is the sum of three
distances (all sums are over the terms of one group q):

1. From x to x', a point where rows hold up to the last places: \|x - x'\|.
2. From x' to x'', a point that satisfies all rows exactly. :mod:`.existence_proofs.correction` proves that there is
   one, and bounds the share t_j of itself by which each count differs, and sum t_j^2 x'_j over each component.
3. From x'' to x*. For any multipliers m and y = w exp(A' m - 1), weak duality gives

       KL(x'' \|\| x*) <= sum_j (x''_j log(x''_j / y_j) - x''_j + y_j) + sum_i \|m_i\| slack_i(x''),

   and the right side is at most the same sum at x', evaluated as an upper bound (:mod:`.program.divergence`), plus

       sum_j t_j x'_j (\|log(x'_j / y_j)\| + t_j),

   as (1 + t) log(1 + t) - t <= t^2 for \|t\| <= 1/2; the sum is also bounded by the inequality of Cauchy and Schwarz.
   x'' and x* have the same number of records in every group, so that
   Pinsker's inequality bounds the distance of their conditional distributions by sqrt(KL / (2 n(q))).

Terms that presolve or a proof has fixed are known up to a width only. x'' is given their true values: the residual of a
row is enlarged by the contribution of the widths to the row, and the bound of a group by the widths of its terms. The
errors of rounding a row while it was built are added to its residual, too.

Rows that were rewritten in exact arithmetic (:mod:`..substitution`) have no such errors, and magnify the last digits of
the numbers as typed. If they contradict each other by no more than a rounding of these numbers explains, four units in
the last place (``FEASIBILITY.places``), the rows before rewriting are solved and certified in their place.

A soft row (:mod:`..rows.penalties`) adds its Fenchel gap at x'' to the sum in 3: its cost plus the conjugate of the
cost at its multiplier, less their product (:mod:`.soft_rows`).

The proof in 2 is the same for any number of rows, buckets and components, and for releases in partitions. It is
refused, and the bound infinite, where statements depend on each other so nearly that floating point cannot tell them
apart and exact arithmetic can. Statements that others imply exactly may contradict these by the rounding of their
numbers. A value that the other rows determine may be typed rounded, to about nine digits, and so may one that they
determine but for counts that all but vanish: then the bound refers to rows whose sides are changed by at most
`backward`, relatively. Linear dependence is decided modulo two primes, so that the theorem holds except with a
probability of about 10^-13.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd

from ...display import Shown
from ..linear_algebra.schur_preconditioner import SchurComplement
from ..linear_algebra.single_thread import single_thread
from ..monitoring.deadline import check_step
from ..parameters.tolerances import CERTIFICATION, EPS
from ..presolve.zero_proofs import implied_upper_bounds
from ..program.divergence import divergence
from ..program.linear_form import LinearForm
from ..program.problem import Groups, Settled
from ..program.rounding_errors import rmatvec_coefficient_error, rmatvec_rounding
from .convex_terms import ConvexTerms, Point
from .existence_proofs.exact_point import ExactPoint, exact_point
from .group_gaps import GroupGaps
from .projection import project
from .soft_rows import Restriction, fenchel_gaps, restrictions, rows_without_terms_hold, within_slopes

__all__ = ["ACCURACY", "Certificate", "certify", "uncertified"]

#: A probability: an answer counts as optimal if the bound on the error of every P(s | q) is at most this.
ACCURACY = CERTIFICATION.accuracy
#: How often counts that hold next to nothing, and would have to change much, are set to 0 where rows hold exactly.
SMALL_ROUNDS = 4


@dataclass(frozen=True)
class Certificate(Shown):
    """A proved bound on the distance of an answer from the maximum-entropy distribution.

    Attributes
    ----------
    residual : float
        Largest violation of any hard row by the answer, records.
    clipped : float
        Absolute value of the most negative count that the solver returned, records; it was set to zero.
    moved : float
        Largest change of a count by the projection after which every row holds up to its last places, records.
        Infinite if no such point was found.
    gap : float
        Duality gap of the projected answer, records: sum (x log(x / y) - x + y), with
        y = w exp(A' multipliers - 1), plus the slack of the inequalities times their multipliers and the Fenchel gaps
        of soft rows. It is computed as a sum of non-negative terms, not as a difference of objectives.
    bound : float
        Bound on the error of every P(s | q), a probability: the maximum over q of
        (moved(q) + left(q)) / n(q) + sqrt(gap(q) / (2 n(q))). Here moved(q) is the sum of the changes by the projection
        over the terms of q, gap(q) the gap of the connected components that q has terms in, and left(q) a bound on
        the distance of the projected answer from one that satisfies the rows exactly as typed.
    forced : int
        The number of terms with only one feasible value: those that presolve has fixed, and those proved zero.
    backward : float
        Relative backward error: 0 if the bound refers to the exact solution for the rows as typed, up to the rounding
        of their numbers. Otherwise it refers to rows whose sides are changed by at most this share of their values:
        those of statements whose value other rows determine and that were typed rounded, and limits of convex
        constraints.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> certificate = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3).solve().certificate
    >>> certificate.holds, certificate.bound < 1e-9, certificate.residual < 1e-9
    (True, True, True)
    """

    residual: float
    clipped: float
    moved: float
    gap: float
    bound: float
    forced: int
    backward: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether the answer counts as optimal: `bound` is at most :data:`ACCURACY`."""
        return self.bound <= ACCURACY

    def __str__(self) -> str:
        of_rows = f", with rows moved by {self.backward:.0e} of their values" if self.backward else ""
        return (
            f"residual {self.residual:.1e} people, gap {self.gap:.1e} people, "
            f"every P(s | q) within {self.bound:.1e}{of_rows}"
            + ("" if self.holds else f" (not certified: above {ACCURACY:g})")
        )

    def __repr__(self) -> str:
        return f"<Certificate: {self}>"

    def to_dict(self) -> dict[str, float]:
        """The fields as a dictionary.

        Returns
        -------
        dict of str to float
            By the names of the attributes.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
        >>> list(mx.MaxEnt(release).solve().certificate.to_dict())
        ['residual', 'clipped', 'moved', 'gap', 'bound', 'forced', 'backward']
        """
        return asdict(self)


@single_thread
def certify(
    form: LinearForm,
    groups: Groups,
    counts: np.ndarray,
    multipliers: np.ndarray,
    settled: Settled | None = None,
    proofs: Sequence[np.ndarray] = (),
    schur: SchurComplement | None = None,
    convex: ConvexTerms | None = None,
) -> Certificate:
    """Bound the distance of an answer from the exact solution of a problem.

    Parameters
    ----------
    form : LinearForm
        The problem before presolve.
    groups : Groups
        The QI tuples, whose conditional distributions are asked for.
    counts, multipliers : ndarray
        The answer, as the solver returned it.
    settled : Settled, optional
        Terms with only one feasible value, in addition to those that `proofs` prove zero.
    proofs : sequence of ndarray
        Directions of the multipliers that prove further terms zero; they are verified here.
    schur : SchurComplement, optional
        The Schur complement of the knowledge rows at a point near the answer, to precondition with.
    convex : ConvexTerms, optional
        The convex constraints.
    """
    convex = convex or ConvexTerms()
    x, multipliers = np.maximum(counts, 0.0), within_slopes(form, multipliers)
    fixed, width = settled or Settled.none(form.shape[1])
    width = np.where(fixed, width, 0.0)
    for proof in proofs:
        upper = implied_upper_bounds(form, proof, fixed, x, width)
        zero = upper <= form.zero_tolerance * form.count_scale
        width = np.where(zero, np.maximum(upper, x), width)
        fixed = fixed | zero
    residual, clipped = float(form.residual(x).max(initial=0.0)), float(max(0.0, -counts.min(initial=0.0)))
    best = Certificate(residual, clipped, np.inf, np.inf, np.inf, int(fixed.sum()))
    claim = _Claim(x, multipliers, Settled(fixed, width))
    for restriction, is_movable in itertools.product(restrictions(form, x, multipliers, fixed), (False, True)):
        if is_movable and not convex.allowances:
            continue
        found = _bounded(form, restriction, groups, claim, schur, convex, is_movable=is_movable)
        if found is not None and found[2] <= best.bound:
            best = replace(best, moved=found[0], gap=found[1], bound=found[2], backward=found[3])
        if best.holds:  # a bound for the limits as typed is worth more than a smaller one for limits that are moved
            break
    return best


@dataclass(frozen=True)
class _Claim:
    """An answer that is judged: counts, none negative, multipliers, and the terms with only one feasible value."""

    x: np.ndarray
    multipliers: np.ndarray
    settled: Settled


def _bounded(
    form: LinearForm,
    restriction: Restriction,
    groups: Groups,
    claim: _Claim,
    schur: SchurComplement | None,
    convex: ConvexTerms,
    *,
    is_movable: bool,
) -> tuple[float, float, float, float] | None:
    """The fields moved, gap, bound and backward of the certificate; None if no point near x satisfies the rows."""
    x, multipliers, (fixed, width) = claim.x, claim.multipliers, claim.settled
    free, (q, n_q), start = ~fixed, groups, restriction.near
    own = np.where(restriction.is_soft, 0.0, multipliers)
    for _ in range(1 + SMALL_ROUNDS):
        check_step()
        projected = project(restriction.form, start, ~restriction.held, schur)
        if projected is None:
            return None
        near = np.where(projected < CERTIFICATION.vanished, 0.0, projected)
        if not rows_without_terms_hold(form, restriction, near, fixed, width):
            return None
        check_step()
        exact = exact_point(restriction.form, near, own, restriction.held, width, restriction.components)
        if not exact.stuck.any():
            break
        start = np.where(exact.stuck, 0.0, near)
    check_step()
    slack, doubt = exact.slack, np.zeros(form.shape[1])
    if restriction.is_soft.any():
        soft, of_row = fenchel_gaps(form, restriction, near, multipliers, free, exact.moves, width)
        slack, doubt = slack + soft, form.absolute_rmatvec(of_row)
    with np.errstate(invalid="ignore", over="ignore"):
        moves = np.where(free & (near > 0), near * exact.moves, 0.0)
        log_ratio = np.abs(np.log(np.where(near > 0, near, 1.0)) - np.where(near > 0, form.exponent(multipliers), 0.0))
        log_ratio += rmatvec_rounding(form, multipliers) + rmatvec_coefficient_error(form, multipliers) + doubt
        distance = np.where(free, divergence(form, near, multipliers), 0.0)
        first, added = _of_moving(restriction.components.of_term, near, moves, log_ratio, exact)
        distance[first] += added
        if doubt.any():  # with y exp(doubt) for y the divergence changes by (y - x) doubt, to first order
            y = np.exp(form.exponent(multipliers))
            distance += np.where(free, np.abs(y - near) * doubt + y * np.where(doubt < 1, doubt**2, np.inf), 0.0)
    slack, distance, off = convex.temperature * slack, convex.temperature * distance, moves + width
    gaps, moved_limits = convex.charge(
        Point(near, off, ~restriction.is_soft), convex.temperature * np.abs(multipliers) * form.scale, slack, distance,
        GroupGaps(*(restriction.components if form.penalties is None else form.components(free))[:2], groups),
        is_movable=is_movable,
    )  # fmt: skip
    gap_q, backward = gaps.of_groups(slack, distance), max(exact.backward, moved_limits)
    moved_q = np.bincount(q, np.abs(near - x) + width, len(n_q))
    moved_q += _moved_by_group(groups, restriction.components.of_term, near, moves, exact.spread)
    bound = float((moved_q / n_q + np.sqrt(gap_q / (2 * n_q))).max(initial=0.0)) * (1 + 64 * EPS)
    moved = float(np.abs(near - x).max(initial=0.0))
    return (
        moved,
        float(slack.sum() + distance.sum()),
        bound if np.isfinite(bound) and backward <= CERTIFICATION.most_backward else np.inf,
        backward,
    )


def _of_moving(
    component: np.ndarray, near: np.ndarray, moves: np.ndarray, log_ratio: np.ndarray, exact: ExactPoint
) -> tuple[np.ndarray, np.ndarray]:
    """What moving to x'' adds to the gap of each component: by its first term, records."""
    size, first = len(exact.spread), np.unique(component, return_index=True)[1]
    with np.errstate(invalid="ignore"):
        term_by_term = np.bincount(component, moves * (log_ratio + exact.moves), size)
        together = exact.spread * (np.sqrt(np.bincount(component, near * log_ratio**2, size)) + exact.spread)
        added = np.fmin(term_by_term, together)[component[first]]
    return first, np.where(np.isnan(added), np.inf, added)


def _moved_by_group(
    groups: Groups, component: np.ndarray, near: np.ndarray, moves: np.ndarray, spread: np.ndarray
) -> np.ndarray:
    """Bound sum |d| over the terms of each group, records, by sum |d| or by Cauchy and Schwarz; d are the moves."""
    size = len(spread)
    number, pairs = pd.factorize(groups.of_term * np.int64(size) + component)
    with np.errstate(invalid="ignore"):  # fmin takes the other where one is not a number
        together = spread[pairs % size] * np.sqrt(np.bincount(number, near))
    return np.bincount(pairs // size, np.fmin(np.bincount(number, moves), together), len(groups.records))


def uncertified(form: LinearForm, counts: np.ndarray) -> Certificate:
    """Compute the residual only, where no bound can be proved."""
    clipped = float(max(0.0, -counts.min(initial=0.0)))
    residual = float(form.residual(np.maximum(counts, 0.0)).max(initial=0.0))
    return Certificate(residual, clipped, np.inf, np.inf, np.inf, 0)
