"""What an answer is worth, recomputed from the rows in NumPy, whichever solver gave it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy

from .implied_zeros import empty_terms
from .linear_form import LinearForm, parts
from .newton_system import newton_system

__all__ = ["ACCURACY", "Certificate", "certify", "satisfying", "uncertified"]

#: Rounds of moving an answer to where the rows hold.
ROUNDS = 30
#: Relative precision of each move: a rough one costs one more round.
PRECISION = 0.03
#: An answer is optimal if no P(s | q) can be further than this from the exact one. "Almost" is not.
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
        Largest possible error of any P(s | q), a probability: moved / n(q) + sqrt(gap(q) / (2 n(q))) at
        its largest, where gap(q) is the gap of the parts of the problem that q is in.
    forced : int
        Terms that presolve found to have one possible value, which every solver is spared.
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
    exact = satisfying(form, x, fixed)
    if exact is None:
        return Certificate(residual, clipped, np.inf, np.inf, np.inf, int(fixed.sum()))
    free = ~fixed
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        exponent = form.exponent(multipliers)
        y = np.exp(exponent)
        own = xlogy(exact, exact)
        # What is left of a difference of nearly equal numbers is their rounding: that much gap cannot be excluded.
        rounding = 4 * np.finfo(float).eps * (np.abs(own) + np.abs(exact * exponent) + exact)
        distance = np.where(free, np.maximum(own - exact * exponent - exact + y, 0.0) + rounding, 0.0)
    value = form.matrix @ exact
    up, down = np.maximum(multipliers, 0.0), np.maximum(-multipliers, 0.0)
    with np.errstate(invalid="ignore"):
        # A multiplier that presses from an open side (infinitely far) certifies nothing.
        slack = np.where(up > 0, up * np.maximum(value - form.low, 0), 0.0)
        slack += np.where(down > 0, down * np.maximum(form.high - value, 0), 0.0)
    part_of_row, part_of_term = parts(form.matrix @ sp.diags_array(free.astype(float)))
    gap = np.bincount(part_of_row, slack, part_of_row.size + part_of_term.size).astype(float)  # of no rows too
    gap += np.bincount(part_of_term, distance, len(gap))
    # A group's gap is that of every part it has a term in, each counted once.
    pairs = np.unique(q * np.int64(len(gap)) + part_of_term)
    gap_q = np.bincount(pairs // len(gap), gap[pairs % len(gap)], len(n_q))
    moved_q = np.bincount(q, np.abs(exact - x), len(n_q))
    bound = (moved_q / n_q + np.sqrt(gap_q / (2 * n_q))).max(initial=0.0)
    moved = np.abs(exact - x).max(initial=0.0)
    if not np.isfinite(bound):
        bound = np.inf
    return Certificate(residual, clipped, float(moved), float(gap.sum()), float(bound), int(fixed.sum()))


def uncertified(form: LinearForm, counts: np.ndarray) -> Certificate:
    """Measure the residual only, where nothing can be proved."""
    clipped = float(max(0.0, -counts.min(initial=0.0)))
    residual = float(form.residual(np.maximum(counts, 0.0)).max(initial=0.0))
    return Certificate(residual, clipped, np.inf, np.inf, np.inf, 0)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # where nothing satisfies the rows
def satisfying(form: LinearForm, x: np.ndarray, fixed: np.ndarray) -> np.ndarray | None:
    """Move x by the least relative change to where every row holds, or None if that does not succeed.

    A cell that would become negative is a zero that the rows imply: it is set to zero, and kept there.
    """
    free = np.flatnonzero(~fixed)
    rest = form.select(np.diff(form.matrix[:, free].indptr) > 0)  # rows of fixed terms only have nothing to move
    matrix = sp.csr_array(rest.matrix[:, free])
    done = rest.matrix @ np.where(fixed, x, 0.0)
    rest = replace(rest, matrix=matrix, low=rest.low - done, high=rest.high - done)
    moved = x[free]
    if not np.isfinite(moved).all():
        return None
    system = newton_system(rest)
    weight, solve, before = moved, None, np.inf
    for _ in range(ROUNDS):
        value = matrix @ moved
        missing = np.clip(value, rest.low, rest.high) - value
        # As long as it gets better: a multiplier may be large, and what is missing counts that many times.
        if (worst := np.abs(missing).max(initial=0.0)) == 0 or worst > 0.5 * before:
            break
        before = worst
        if solve is None:
            # An inequality with room has nothing to hold still for.
            tight = rest.is_equation | (value <= rest.low + rest.tolerance) | (value >= rest.high - rest.tolerance)
            solve = system.factor(weight, np.flatnonzero(tight[rest.n_published :]), 1e-10)
        moved = moved + weight * (matrix.T @ solve(missing, PRECISION))
        if not np.isfinite(moved).all():
            return None
        if (negative := moved < 0).any():
            moved, weight, solve, before = np.maximum(moved, 0.0), np.where(negative, 0.0, weight), None, np.inf
    exact = x.copy()
    exact[free] = moved
    return exact if (form.residual(exact) <= form.tolerance).all() else None
