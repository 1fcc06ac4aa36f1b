"""Parameters of the dual methods: steps, line search and recession directions, with value, unit, meaning and source.

They decide how fast and how far the methods get. Where no source is given, the value was found by trial on the random
models of ``tests/benchmarks/honesty.py`` and on the Adult data of ``tests/benchmarks/solvers.py``. Counts are in
records.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DUAL_FUNCTION", "LINE_SEARCH", "NEWTON", "NEWTON_SYSTEM", "PARTITIONED", "VANISHING_TERMS"]


@dataclass(frozen=True)
class DualFunction:
    """How precisely the dual function is known, and where it is evaluated."""

    rounding: float = 1e-14
    """Rounding error, relative to its value."""
    summed: float = 2e-15
    """Rounding error, relative to the sums that it is the difference of."""
    large_coefficient: float = 100.0
    """Coefficient from which on the start is moved to where its term satisfies the row."""
    linear_beyond: float = 10.0
    """Logarithm, added to that of N: beyond, L-BFGS continues exp by its tangent, so that nothing overflows."""


@dataclass(frozen=True)
class NewtonSystem:
    """Ridges (regularization) of the linear systems of Newton's method."""

    smallest_diagonal: float = 1e-12
    """Records: the least diagonal element that the ridge is relative to; for published rows whose terms are all 0."""
    vanished_diagonal: float = 1e-200
    """A row of knowledge with a smaller diagonal element has lost all its terms; its multiplier does not move."""
    first_ridge: float = 1e-14
    """Relative ridge of the Schur complement; raised a hundredfold while rounding makes the matrix indefinite."""


@dataclass(frozen=True)
class Newton:
    """Newton's method on the dual."""

    repairs: int = 20
    """Times that a system is solved again without inequalities whose multipliers would get the wrong sign."""
    patience: int = 5
    """Iterations without improvement after which rounding prevents any."""
    stalled: float = 1e3
    """Multiple of the tolerance at which an answer is then accepted; the certificate says how accurate it is."""
    rounding: float = 1e-13
    """Relative to the largest right-hand side: the smallest residual that is asked for."""
    ridges: tuple[float, ...] = (1e-13, 1e-9, 1e-6, 1e-3, 1.0)
    """Relative ridges of the Hessian, tried in turn; a large one shortens the step if not all rows can be active."""
    floor: float = 1e-6
    """Records, times the residual and, where that is less than one, times its square: the least count of a term in the
    Hessian. A step through terms that are nearly zero would raise some beyond all bounds (Levenberg 1944, Marquardt
    1963). Once that has shortened a step, times the residual only."""
    loosest: float = 0.2
    """Loosest relative precision of a step: that is the square of the residual's last reduction (Eisenstat, Walker)."""
    tightest: float = 1e-6
    """Tightest relative precision of a step."""
    gap: float = 1e-14
    """Records: if the function may fall by more, up to `patience` iterations follow once the tolerance is met, as terms
    that vanish hold little and yet too much. A bound for a group of one record is then sqrt(1e-14 / 2) = 7e-8."""
    near: float = 3.0
    """Multiple of the tolerance up to which the last point is taken, even if that of an earlier one was less."""
    enough: float = 0.01
    """Multiple of the tolerance: the residual that a step needs to reach, beyond which it is not made more precise."""
    careful: float = 0.02
    """Relative precision of a step after one that has not halved the residual."""


@dataclass(frozen=True)
class LineSearch:
    """The length of a step."""

    armijo: float = 1e-4
    """Share of the decrease predicted by the slope that a step must bring (Armijo 1966; Bertsekas 1982)."""
    steep: float = 0.2
    """Share of the slope at the start of a step: the step is lengthened if the slope at its end is this or more."""
    shortest: float = 1e-6
    """Shortest multiple of a Newton step."""
    longest: float = 64.0
    """Longest multiple of a Newton step."""
    largest_rise: float = 30.0
    """Logarithm: in a step that had to be shortened, no count grows by more than a factor exp(30)."""
    past_kink: float = 1e-12
    """Relative: how far beyond the first kink a step goes that ends there."""
    flat: float = 10.0
    """Multiple of the rounding error of the function: a smaller slope cannot be told from 0."""


@dataclass(frozen=True)
class VanishingTerms:
    """When a recession direction that proves terms zero is looked for in Newton's steps."""

    shrinks: float = -0.5
    """Largest change of the logarithm of a count, in one Newton step, by which it tends to zero; the limit is -1."""
    small: float = 1e-2
    """Records: a term that tends to zero holds less."""
    most_moved: float = 0.25
    """Share of the largest change, or of 1, the limit of that of a vanishing term, by which other terms may change:
    otherwise the steps have not yet converged to a direction."""
    rounds: int = 6
    """Rounds in which the effect of a direction on other terms is removed."""
    precision: float = 1e-4
    """Relative precision of the least-squares solution in each round."""
    ridge: float = 1e-13
    """Its relative ridge."""
    nothing: float = 1e-15
    """Relative to the largest change: a smaller change of other terms is rounding."""


@dataclass(frozen=True)
class Partitioned:
    """The multipliers of published rows, given those of the knowledge, in a problem of partitions."""

    prices_in_memory: int = 1_000_000
    """Terms of all partitions up to which shadow prices are found in memory, where multipliers alone do not tell."""
    tolerance: float = 1e-13
    """Records: the largest violation of a published row at which to stop."""
    rounding: float = 1e-10
    """Relative to the largest right-hand side: a violation that is no longer halved is one of rounding below this."""
    near: float = 0.5
    """Relative to its side: the violation of a row from which on Newton's method takes over from scaling."""
    scalings: int = 8
    """Rounds of scaling at most."""
    iterations: int = 25
    """Newton's steps at most."""
    whole_step: float = 0.1
    """Logarithm: a step that changes counts by less is not shortened."""
    ridge: float = 1e-10
    """Relative ridge of the blocks, in each of which one row is redundant."""
    dependent: float = 1e-9
    """Relative to the diagonal: a row of knowledge with a smaller pivot in S is implied by others."""
    precise: float = 1e-8
    """A probability: an answer with a larger certified error is made more precise."""
    more_iterations: int = 3
    """Iterations for that; from nearby, each doubles the digits until rounding prevents it."""


DUAL_FUNCTION = DualFunction()
NEWTON_SYSTEM = NewtonSystem()
NEWTON = Newton()
LINE_SEARCH = LineSearch()
VANISHING_TERMS = VanishingTerms()
PARTITIONED = Partitioned()
