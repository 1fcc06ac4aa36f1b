r"""The certificate: how far an answer can be from the exact one, recomputed in NumPy, whichever solver gave it.

Let x* be the maximum-entropy answer to the rows as they were typed, every double being the rational number that it is.
The answer that is certified, x, satisfies them only nearly. The bound adds up three ways (all sums are of one group q):

1. From x to x', where rows hold to the last places: \|x - x'\|.
2. From x' to a point x'' that satisfies all rows exactly. That there is one, and that no count on the way moves by more
   than a part t_j of itself, is proved in :mod:`.existence`: \|x' - x''\| <= sum t_j x'_j.
3. From x'' to x*. For any multipliers m and y = w exp(A' m - 1), weak duality gives

       KL(x'' \|\| x*) <= sum_j (x''_j log(x''_j / y_j) - x''_j + y_j) + sum_i \|m_i\| slack_i(x''),

   and the right side is at most the same sum at x', which rounding only makes larger (:mod:`.program.divergence`), and

       sum_j t_j x'_j (\|log(x'_j / y_j)\| + t_j),

   as (1 + t) log(1 + t) - t <= t^2 for \|t\| <= 1/2. x'' and x* have the same people in every group, so that Pinsker's
   inequality bounds the distance of their conditional distributions, sqrt(KL / (2 n(q))).

Terms that presolve or a proof has settled are known within a width only. x'' is given their true values: a row misses
by what the widths make of it, and a group by its widths. What rounding did to a row while it was built is charged as
what it misses, too.

In components of the problem with more rows than ``EXISTENCE_PROOF_SIZES.largest_component`` the second way is not
proved but estimated, to first order. What is proved there is of rows that are moved by no more than `backward` of
their values.
That rows depend on others is decided modulo two primes (:mod:`.modular`): it is a theorem but for a chance of some
10^-13.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from ..linear_algebra.schur_preconditioner import SchurComplement
from ..presolve.zero_proofs import most_left
from ..program.divergence import divergence
from ..program.linear_form import LinearForm
from ..program.problem import Groups, Settled
from ..program.rounding_errors import rmatvec_coefficient_error, rmatvec_rounding
from ..tolerances import CERTIFICATION, EPS
from .exact_point import exact_point
from .projection import project

__all__ = ["ACCURACY", "Certificate", "certify", "uncertified"]

#: An answer is optimal if no P(s | q) can be further than this from the maximum-entropy one. "Almost" is not.
ACCURACY = CERTIFICATION.accuracy


@dataclass(frozen=True)
class Certificate:
    """Proof of how close an answer is to the maximum-entropy distribution.

    Attributes
    ----------
    residual : float
        Largest violation of any row by the answer, people.
    clipped : float
        Largest negative count that the solver returned and that was set to zero, people.
    moved : float
        Largest change of a count that makes every row hold to its last places, people. Infinite if none was found.
    gap : float
        Duality gap of the answer so moved, people: sum (x log(x / y) - x + y), with
        y = w exp(A' multipliers - 1), plus the slack of the inequalities times their multipliers. A sum
        of non-negative terms, never a difference of objectives.
    bound : float
        Largest possible error of any P(s | q), a probability: (moved(q) + left(q)) / n(q) + sqrt(gap(q) / (2 n(q)))
        at its largest, where gap(q) is the gap of the parts of the problem that q is in, and left(q) how far the
        moved answer is from one that satisfies the rows exactly as typed.
    forced : int
        Terms with one possible value: those that presolve found, and those that a solver proved empty.
    backward : float
        0 if the bound is of the exact answer to the rows as typed. In large models, where that is not proved, it is
        the answer to rows of which none is moved by more than this part of its value, a few units in the last place;
        what these moves make of the answer is then in the bound to first order.

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


def certify(
    form: LinearForm,
    groups: Groups,
    counts: np.ndarray,
    multipliers: np.ndarray,
    settled: Settled | None = None,
    proofs: Sequence[np.ndarray] = (),
    schur: SchurComplement | None = None,
) -> Certificate:
    """Measure an answer against the problem as posed.

    Parameters
    ----------
    form : LinearForm
        The whole problem, before any presolve.
    groups : Groups
        The QI tuples, whose conditional distributions are asked for.
    counts, multipliers : ndarray
        The answer, as the solver returned it.
    settled : Settled, optional
        Terms with one possible value, beside those that `proofs` prove empty.
    proofs : sequence of ndarray
        Directions of the multipliers that prove further terms empty; checked here.
    corner : Corner, optional
        A Schur complement of the knowledge rows near the answer: it makes this faster, and no different.
    """
    clipped = float(max(0.0, -counts.min(initial=0.0)))
    x = np.maximum(counts, 0.0)
    residual = float(form.residual(x).max(initial=0.0))
    fixed, width = settled or Settled.none(form.shape[1])
    width = np.where(fixed, width, 0.0)
    q, n_q = groups
    for proof in proofs:
        left = most_left(form, proof, fixed, x, width)
        empty = left <= form.zero_tolerance * form.count_scale
        width = np.where(empty, np.maximum(left, x), width)
        fixed = fixed | empty
    near = project(form, x, fixed, schur)
    if near is None:
        return Certificate(residual, clipped, np.inf, np.inf, np.inf, int(fixed.sum()))
    free = ~fixed
    parts = form.components(free)
    exact = exact_point(form, near, multipliers, free, width, parts, schur)
    with np.errstate(invalid="ignore", over="ignore"):
        moves = np.where(free, near * exact.moves, 0.0)
        off_y = np.abs(np.log(np.where(near > 0, near, 1.0)) - np.where(near > 0, form.exponent(multipliers), 0.0))
        off_y += rmatvec_rounding(form, multipliers) + rmatvec_coefficient_error(form, multipliers)
        distance = np.where(free, divergence(form, near, multipliers) + moves * (off_y + exact.moves), 0.0)
        distance = np.where(free & (near == 0), divergence(form, near, multipliers), distance)
    component_of_row, component_of_term = parts
    gap = np.bincount(component_of_row, exact.slack, component_of_row.size + component_of_term.size).astype(
        float
    )  # of no rows too
    gap += np.bincount(component_of_term, distance, len(gap))
    # A group's gap is that of every part it has a term in, each counted once.
    pairs = np.unique(q * np.int64(len(gap)) + component_of_term)
    gap_q = np.bincount(pairs // len(gap), gap[pairs % len(gap)], len(n_q))
    moved_q = np.bincount(q, np.abs(near - x) + moves + width, len(n_q))
    bound = float((moved_q / n_q + np.sqrt(gap_q / (2 * n_q))).max(initial=0.0)) * (1 + 64 * EPS)
    moved = float(np.abs(near - x).max(initial=0.0))
    bound = bound if np.isfinite(bound) else np.inf
    return Certificate(residual, clipped, moved, float(gap.sum()), bound, int(fixed.sum()), exact.backward)


def uncertified(form: LinearForm, counts: np.ndarray) -> Certificate:
    """Measure the residual only, where nothing can be proved."""
    clipped = float(max(0.0, -counts.min(initial=0.0)))
    residual = float(form.residual(np.maximum(counts, 0.0)).max(initial=0.0))
    return Certificate(residual, clipped, np.inf, np.inf, np.inf, 0)
