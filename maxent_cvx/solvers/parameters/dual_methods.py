"""Parameters of the dual methods: steps, line search and recession directions, with value, unit, meaning and source.

They decide how fast and how far the methods get. Where no source is given, the value was found by trial on the random
models of ``tests/benchmarks/honesty.py`` and on the Adult data of ``tests/benchmarks/solvers.py``. Counts are in
records.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "DUAL_FUNCTION", "INTERIOR", "LINE_SEARCH", "NEWTON", "NEWTON_SYSTEM", "PARTITIONED",
    "PRIMAL_DUAL", "SEPARABLE_NEWTON", "VANISHING_TERMS",
]  # fmt: skip


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
class SeparableNewton:
    """Newton's method in the logarithmic domain, for problems of CVXPY, where an average term is 1.

    The values were found by trial on transport problems, ``tests/benchmarks/guest.py``.
    """

    first_spread: float = 10.0
    """Nats: the range of the centred costs at the first temperature."""
    growth: float = 2.0
    """By what factor the temperature falls first."""
    fastest: float = 4.0
    """By what factor it falls at most."""
    steps_aimed_at: float = 4.0
    """Newton steps at one temperature: with fewer the temperature falls faster, with more slower."""
    loose: float = 0.05
    """Relative to the sum of all right-hand sides: the sum of violations at which the next temperature follows."""
    strayed: float = 1.0
    """Relative to the sum of all right-hand sides: the largest sum of violations right after the temperature fell."""
    slowest: float = 1.01
    """By what factor the temperature falls at least."""
    longest: float = 64.0
    """Longest multiple of a step."""
    steep: float = 0.1
    """Share of the slope at the start of a step: it is doubled if the slope at its end is this or more."""
    warm: int = 10
    """Newton steps from the multipliers of an earlier problem, after which the method begins anew."""
    is_sum: float = 1e-9
    """Relative: equations determine the sum of all terms if a combination of them is a row of ones to this."""
    rounding: float = 1e-13
    """Relative to the largest right-hand side: the smallest violation that is asked for."""
    gap: float = 1e-10
    """Nats a term: the largest gap by residuals of rows whose multipliers are large, at which to stop."""
    summed: float = 2e-15
    """The same relative to the products of right-hand sides and multipliers, for its rounding error."""
    stalled: float = 1e3
    """Multiple of the tolerance at which an answer is taken that rounding does not let improve."""
    patience: int = 3
    """Iterations without improvement after which such an answer is taken."""
    falls: float = 1e-4
    """Relative fall of the dual function in one iteration that counts as an improvement, too, if a smaller one: where
    rows contradict each other, it falls for ever."""
    falling: float = 0.25
    """What such an iteration counts among those without improvement."""
    long_patience: int = 15
    """Iterations without improvement after which the method gives up."""
    ridges: tuple[float, ...] = (1e-13, 1e-9, 1e-6, 1e-3, 1e-2)
    """Relative ridges of the Hessian, tried in turn."""
    floors: tuple[float, ...] = (1e-6, 1e-4, 1e-2, 0.1, 1.0)
    """With each of them, the least term in the Hessian, also of terms at a bound, times the residual and, where that is
    less than one, times its square: where too few terms are free, it shortens the step (Levenberg, Marquardt)."""
    repairs: int = 20
    """Times that a system is solved again without inequalities whose multipliers would get the wrong sign."""
    armijo: float = 1e-4
    """Share of the predicted decrease that a step must bring (Armijo, 1966)."""
    shortest: float = 1e-6
    """Shortest multiple of a step that is tried."""


@dataclass(frozen=True)
class PrimalDual:
    """The interior-point method for entropies with bounds and variables without entropy, where an average term is 1."""

    far: float = 10.0
    """Slack of an upper bound, beyond which its first multiplier does not make up for costs."""
    longest: float = 0.995
    """Share of the way to the boundary that a step goes."""
    largest_correction: float = 2.0
    """Nats: the largest second-order term of a logarithm that is taken for true."""
    improves: float = 0.9
    """An iteration that leaves more than this share of the error is without improvement."""
    patience: int = 12
    """Iterations without improvement after which the method ends."""
    ridge: float = 1e-9
    """Regularization of the linear systems where variables have no entropy, which refinement takes away again. Their
    own curvature, multipliers of inequalities by slacks, is down to 1e-9; less ridge is too little at prices of 1e5."""
    same: float = 1e-6
    """Relative: terms of the point and terms that multipliers say are taken for each other if no further apart."""
    stalled: float = 1e2
    """Multiple of the tolerance at which an answer is taken that rounding does not let improve."""
    rounding: float = 1e-13
    """Relative to the largest right-hand side: the smallest violation that is asked for."""
    gap: float = 1e-10
    """Nats a term: the largest gap by residuals of rows, times their multipliers, at which to stop."""


@dataclass(frozen=True)
class Interior:
    """The interior-point method for what is more than entropies; the values are those of Goulart and Chen (2024)."""

    tolerance: float = 1e-9
    """Largest relative error at which the method stops."""
    stricter: float = 1e-3
    """By what it is multiplied where the answer is not precise enough: costs of 1e5 multiply what rows miss."""
    ridge: float = 1e-7
    """Regularization of the linear systems; refinement takes it away again."""
    refinements: int = 8
    """Rounds of iterative refinement."""
    refined: float = 1e-14
    """Relative residual at which they end."""
    equilibrations: int = 10
    """Rounds of equilibration."""
    widest: float = 1e4
    """Largest factor of one round."""
    largest_side: float = 1e6
    """Right-hand sides beyond this, after equilibration, are made 1 by another unit of x."""
    longest: float = 0.99
    """Share of the way to the boundary that a step goes."""
    shortest: float = 1e-5
    """Shortest step."""
    shortened: float = 0.8
    """By what factor a step is shortened that leaves an exponential cone."""
    neighbourhood: float = 3.0
    """Largest sum of barriers, a cone, above that on the central path."""
    largest_correction: float = 1e12
    """A correction for curvature with larger entries is rounding."""
    certified: float = 1e-9
    """Relative residual of a proof that there is no solution."""
    patience: int = 15
    """Iterations without improvement after which the method ends."""
    short_patience: int = 3
    """The same where the answer is near enough to be taken."""
    stalled: float = 1e3
    """Multiple of the tolerance at which an answer is taken that rounding does not let improve."""


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
SEPARABLE_NEWTON = SeparableNewton()
NEWTON = Newton()
PRIMAL_DUAL = PrimalDual()
INTERIOR = Interior()
LINE_SEARCH = LineSearch()
VANISHING_TERMS = VanishingTerms()
PARTITIONED = Partitioned()
