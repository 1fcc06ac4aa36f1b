"""What an answer is worth, recomputed from the rows in NumPy, whichever solver gave it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from .corner import Corner
from .divergence import divergence
from .implied_zeros import empty_terms
from .linear_form import LinearForm
from .satisfying import LAST_PLACES, satisfying

__all__ = ["ACCURACY", "Certificate", "certify", "uncertified"]

#: An answer is optimal if no P(s | q) can be further than this from the maximum-entropy one. "Almost" is not.
ACCURACY = 1e-4


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
        Largest change of a count that makes every row hold exactly, people. Infinite if none was found.
    gap : float
        Duality gap of the answer so moved, people: sum (x log(x / y) - x + y), with
        y = w exp(A' multipliers - 1), plus the slack of the inequalities times their multipliers. A sum
        of non-negative terms, never a difference of objectives.
    bound : float
        Largest possible error of any P(s | q), a probability: (moved(q) + left) / n(q) + sqrt(gap(q) / (2 n(q)))
        at its largest, where gap(q) is the gap of the parts of the problem that q is in, and `left` what the
        moved answer still misses of any row, beyond the last places of its value.
    forced : int
        Terms with one possible value: those that presolve found, and those that a solver proved empty.
    """

    residual: float
    clipped: float
    moved: float
    gap: float
    bound: float
    forced: int

    @property
    def holds(self) -> bool:
        """Whether the answer counts as optimal: `bound` is at most :data:`ACCURACY`."""
        return self.bound <= ACCURACY

    def __str__(self) -> str:
        return (
            f"residual {self.residual:.1e} people, gap {self.gap:.1e} people, "
            f"every P(s | q) within {self.bound:.1e}" + ("" if self.holds else f" (not certified: above {ACCURACY:g})")
        )

    def to_dict(self) -> dict[str, float]:
        """The fields as a dictionary."""
        return asdict(self)


def certify(
    form: LinearForm,
    counts: np.ndarray,
    multipliers: np.ndarray,
    fixed: np.ndarray,
    q: np.ndarray,
    n_q: np.ndarray,
    proofs: Sequence[np.ndarray] = (),
    corner: Corner | None = None,
) -> Certificate:
    """Measure an answer against the problem as posed.

    Parameters
    ----------
    form : LinearForm
        The whole problem, before any presolve.
    counts, multipliers : ndarray
        The answer, as the solver returned it.
    fixed : ndarray of bool
        Terms with one possible value.
    q : ndarray
        For every term the group (QI tuple) whose conditional distribution is asked for.
    n_q : ndarray
        People in each group.
    proofs : sequence of ndarray
        Directions of the multipliers that prove further terms empty; checked here.
    corner : Corner, optional
        A Schur complement of the knowledge rows near the answer: it makes this faster, and no different.

    Notes
    -----
    For x that satisfies the rows, KL(x || x*) <= gap (the three-point property), and Pinsker's
    inequality turns KL into the largest error of a conditional probability. The solver's x satisfies
    the rows only nearly, so the nearest x' that satisfies them is certified, and the way there added.
    """
    clipped = float(max(0.0, -counts.min(initial=0.0)))
    x = np.maximum(counts, 0.0)
    residual = float(form.residual(x).max(initial=0.0))
    for proof in proofs:
        fixed = fixed | empty_terms(form, proof, fixed, x)
    exact = satisfying(form, x, fixed, corner)
    if exact is None:
        return Certificate(residual, clipped, np.inf, np.inf, np.inf, int(fixed.sum()))
    free = ~fixed
    distance = np.where(free, divergence(form, exact, multipliers), 0.0)
    value = form.exact_sums(exact)
    # A value is known to its last places only.
    last = LAST_PLACES * np.abs(value)
    left = (np.maximum(form.low - value, value - form.high) - last).max(initial=0.0)
    up, down = np.maximum(multipliers, 0.0), np.maximum(-multipliers, 0.0)
    with np.errstate(invalid="ignore"):
        # A multiplier that presses from an open side certifies nothing.
        slack = np.where(up > 0, up * np.maximum(value - form.low - last, 0), 0.0)
        slack += np.where(down > 0, down * np.maximum(form.high - value - last, 0), 0.0)
    part_of_row, part_of_term = form.parts(free)
    gap = np.bincount(part_of_row, slack, part_of_row.size + part_of_term.size).astype(float)  # of no rows too
    gap += np.bincount(part_of_term, distance, len(gap))
    # A group's gap is that of every part it has a term in, each counted once.
    pairs = np.unique(q * np.int64(len(gap)) + part_of_term)
    gap_q = np.bincount(pairs // len(gap), gap[pairs % len(gap)], len(n_q))
    moved_q = np.bincount(q, np.abs(exact - x), len(n_q))
    bound = ((moved_q + left) / n_q + np.sqrt(gap_q / (2 * n_q))).max(initial=0.0)
    moved = np.abs(exact - x).max(initial=0.0)
    if not np.isfinite(bound):
        bound = np.inf
    return Certificate(residual, clipped, float(moved), float(gap.sum()), float(bound), int(fixed.sum()))


def uncertified(form: LinearForm, counts: np.ndarray) -> Certificate:
    """Measure the residual only, where nothing can be proved."""
    clipped = float(max(0.0, -counts.min(initial=0.0)))
    residual = float(form.residual(np.maximum(counts, 0.0)).max(initial=0.0))
    return Certificate(residual, clipped, np.inf, np.inf, np.inf, 0)
