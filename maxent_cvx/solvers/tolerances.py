"""Every tolerance and size limit of the solvers on one page: its value, unit, meaning and source.

A tolerance decides what is called equal, a limit what is tried at all. None of them decides whether an answer is
right: that is the certificate's business, which is computed from the rows. Counts are in records; "relative" is
relative to the size of what is compared. Where a source is "experience", the value was found by trial on the random
models of ``tests/benchmarks/honesty.py`` and on the Adult data of ``tests/benchmarks/solvers.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = [
    "ATTEMPTS", "BLOCK_DETECTION", "CERTIFICATION", "CONIC_PROGRAM", "CONVEX_CONSTRAINTS", "DIAGNOSIS",
    "DUAL_FUNCTION", "EPS", "FACIAL_REDUCTION", "FEASIBILITY", "INTEGER", "LINEAR_PROGRAMS", "LINE_SEARCH",
    "MULTIPLIERS", "NEWTON", "NEWTON_SYSTEM", "PRESOLVE", "PROJECTION", "SUBSTITUTION", "VANISHING_TERMS",
]  # fmt: skip

#: Twice the unit roundoff of a double: the distance from 1 to the next larger number.
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Feasibility:
    """When a row is said to hold."""

    relative: float = 1e-9
    """Relative to a row's side, at least one record: by so much an answer may miss a row. Below what any solver of
    linear programs distinguishes (HiGHS: 1e-10), above the rounding of a sum of millions of counts."""
    multiple: float = 10.0
    """How many times `relative` a row may be missed where what is typed is compared with what is possible."""
    places: float = 4 * EPS
    """Relative: by how much a coefficient or a side can be rounded while a row is built. A share, its inverse, a
    statement's factor, the row's scale and the product with the value are each off by at most EPS / 2."""


@dataclass(frozen=True)
class Substitution:
    """When a row with a large coefficient is rewritten by published equations."""

    hiding_ratio: float = 100.0
    """A coefficient hides another one in the same row that is smaller by this ratio. Experience."""
    least_reduction: float = 0.25
    """An equation is subtracted if what the row's largest term can amount to falls to this share. Experience."""
    excess: float = 2.0
    """By what factor a point that nearly satisfies the published rows may exceed the bounds that they give."""


@dataclass(frozen=True)
class Presolve:
    """What is worked out before a solver begins."""

    propagation_rounds: int = 30
    """Rounds of bound propagation; to stop early is safe, as bounds are then merely wider."""
    least_move: float = 1e-7
    """Records, or share of a term's upper bound: a bound is tightened by no less, as rows can enlarge rounding."""
    in_scale: float = 0.01
    """A row whose largest coefficient over the remaining terms is at least this is not scaled anew."""
    vanished_log: float = -50.0
    """The logarithm of a count that is as good as zero: exp(-50) is 2e-22 records."""
    zero_pivot: float = 1e-9
    """Relative to its row: a smaller pivot is what rounding leaves of zero."""
    widest_block: int = 64
    """Rows of a block in which redundant rows are looked for; the work is their cube."""
    value_rounds: int = 4
    """Rounds of aggregating sensitive values, one axis of the buckets a round."""
    colour_rounds: int = 30
    """Rounds of colour refinement while terms are aggregated."""
    least_saving: float = 0.1
    """Share of the terms that aggregation must save to be worth a new problem; of the rows, half as much."""


@dataclass(frozen=True)
class BlockDetection:
    """How the blocks of a problem are found that names none."""

    widest: int = 48
    """Rows that one block may have: factoring costs their cube."""
    fewest: int = 100
    """Rows below which one dense factor is as fast."""
    lengths: tuple[int, ...] = (1024, 256, 128, 64, 32, 24, 16, 12, 8, 6, 5, 4, 3, 2, 1)
    """Entries of a row: where blocks are too wide, rows longer than the first are set aside, then than the next."""


@dataclass(frozen=True)
class NewtonSystem:
    """How the linear systems of Newton's method are solved."""

    smallest_diagonal: float = 1e-12
    """Records: the diagonal that a published row gets whose terms have all vanished."""
    vanished_diagonal: float = 1e-200
    """A row of knowledge with less on its diagonal has lost all its terms; its multiplier does not move."""
    first_ridge: float = 1e-14
    """Relative ridge of the Schur complement, raised a hundredfold as long as rounding makes it indefinite."""
    most_inverted: int = 1_000
    """Rows up to which a Cholesky factor is inverted, which makes every later product with it faster."""
    checks: tuple[int, ...] = (16, 32, 64, 128, 256)
    """Products after which conjugate gradients estimate how many more they need."""
    most_multiplications: float = 2e10
    """Multiplications that factoring the blocks may take, about ten seconds; beyond, a sparse factor is taken."""
    batch: int = 4_000_000
    """Doubles (32 MB) that one batch of blocks may hold while the Schur complement is formed."""
    most_dense: int = 10_000
    """Rows of knowledge up to which the Schur complement is formed (800 MB); beyond, its diagonal preconditions."""
    most_products: int = 2_000
    """Products with the Schur complement for one solution where it is not formed."""
    most_after_forming: int = 50
    """The same right after it was formed, where few are needed."""
    forming_overhead: int = 500
    """Rows of knowledge: forming the Schur complement of k rows takes k (k + this) multiplications a slot."""
    per_term: float = 1_000.0
    """Multiplications of a dense product that take as long as one term of a product with the Schur complement, which is
    bound by memory. This and the next two: ``tests/benchmarks/newton_systems.py``."""
    per_entry: float = 200.0
    """The same for an entry of the distinct columns of knowledge."""
    per_pair: float = 50.0
    """The same for a pair of rows of knowledge."""
    least_products: int = 16
    """Products that are always tried before the Schur complement is formed."""


@dataclass(frozen=True)
class DualFunction:
    """How precisely the dual function is known."""

    rounding: float = 1e-14
    """Relative to its value."""
    summed: float = 2e-15
    """Relative to the sums that it is the difference of."""
    large_coefficient: float = 100.0
    """A coefficient from which on a start is moved to where its term fits into the row's side."""
    linear_beyond: float = 10.0
    """Logarithm, added to that of N: a count above is continued by the tangent of exp, so that L-BFGS meets no inf."""


@dataclass(frozen=True)
class Newton:
    """Newton's method on the dual."""

    repairs: int = 20
    """Times that a system is solved again without the inequalities that a step would push to the wrong side."""
    patience: int = 5
    """Iterations without improvement after which rounding has won."""
    stalled: float = 1e3
    """Multiple of the tolerance at which an answer is taken then; the certificate says what it is worth."""
    rounding: float = 1e-13
    """Relative to the largest side: no residual is asked for below it."""
    ridges: tuple[float, ...] = (1e-13, 1e-9, 1e-6, 1e-3, 1.0)
    """Relative ridges of the Hessian, tried in turn; a large one shortens the step where not all rows can be active."""
    floor: float = 1e-6
    """Records, times the residual and, where that is less than one, its square: the least count of a term in the
    Hessian. A step through terms that have as good as vanished would raise some beyond all bounds (Levenberg 1944,
    Marquardt 1963)."""
    loosest: float = 0.2
    """Loosest relative precision of a step: that is the square of the residual's last reduction (Eisenstat, Walker)."""
    tightest: float = 1e-6
    """Tightest relative precision of a step."""
    careful: float = 0.02
    """Relative precision of the step after one that has not halved the residual."""


@dataclass(frozen=True)
class LineSearch:
    """How far to go along a step."""

    armijo: float = 1e-4
    """Share of the decrease that the slope promises which a step must bring (Armijo 1966; Bertsekas 1982)."""
    steep: float = 0.2
    """Share of the first slope: a step is lengthened if the function falls at its end by this or more."""
    shortest: float = 1e-6
    """Shortest multiple of a Newton step."""
    longest: float = 64.0
    """Longest multiple of a Newton step."""
    largest_rise: float = 30.0
    """Logarithm: no count rises by more than exp(30) in a step that had to be shortened."""
    past_kink: float = 1e-12
    """Relative: how far beyond the first kink a step goes that ends there."""
    flat: float = 10.0
    """Multiple of the function's rounding: a slope below is no slope."""


@dataclass(frozen=True)
class VanishingTerms:
    """When Newton's steps are looked at for a recession direction that proves terms zero."""

    shrinks: float = -0.5
    """Logarithm of the factor by which a vanishing term shrinks in one Newton step, at most: exp(-1) in the limit."""
    small: float = 1e-2
    """Records: a vanishing term holds less."""
    most_moved: float = 0.25
    """Share of the largest change by which other terms may change: else the steps have not settled on a direction."""
    rounds: int = 6
    """Rounds of taking out of a direction what it does to other terms."""
    precision: float = 1e-4
    """Relative precision of the least-squares solution in each."""
    ridge: float = 1e-13
    """Its relative ridge."""
    nothing: float = 1e-15
    """Relative to the largest change: a smaller change of other terms is rounding."""


@dataclass(frozen=True)
class FacialReduction:
    """A direction that proves as many small terms zero as possible."""

    small: float = 1e-6
    """Records: a term that holds less may be zero."""
    weight: float = 1e-5
    """Weight of such a term in least squares, beside 1 of a term that must not move."""
    lowered: float = 0.3
    """A term that the direction lowers by less, where 1 is aimed at, is no longer asked to move."""
    rounds: int = 20
    """Rounds of asking fewer terms to move."""
    repairs: int = 3
    """Times that the movement of the others is taken back in each."""
    precision: float = 1e-8
    """Relative precision of the least-squares solutions."""
    ridge: float = 1e-14
    """Their relative ridge."""


@dataclass(frozen=True)
class LinearPrograms:
    """Linear programs, by HiGHS or by the entropic penalty."""

    precision: float = 1e-10
    """Records: the feasibility tolerance that is asked of HiGHS, the tightest that it takes; its default is 1e-7."""
    share: float = 1e-15
    """Relative to the largest side: what is asked of HiGHS where sides are too large for `precision`."""
    coarsest: float = 1e-7
    """Records: the coarsest tolerance that is asked of HiGHS."""
    gap: float = 1e-6
    """What is proved and what is attained may differ by so much, relative to the largest coefficient."""
    large: int = 5_000
    """Terms from which on the entropic penalty is tried before HiGHS."""
    penalties: tuple[float, float] = (300.0, 600.0)
    """The two factors of costs of at most 1, in nats: exp(-600) is still a number."""
    near_fraction: float = 1e-6
    """A direction within this of multiples of 1/2, 1/3, ... is taken to be them, so that its sums are exact."""
    largest_denominator: int = 12
    """The largest denominator that is tried."""


@dataclass(frozen=True)
class Integer:
    """Integer programs."""

    rounding: float = 1e-6
    """Records: how far a count may be from an integer for having been typed as a rounded probability."""
    precision: float = 1e-6
    """Records: by how much HiGHS leaves a row off, at most (its `mip_feasibility_tolerance`)."""
    widest_ratio: float = 1e9
    """Coefficients of one row that are further apart are beyond that precision."""
    near_integer: float = 1e-6
    """Records: presolve's value of a term is an integer if it is no further from one; bounds move by 1e-7 or more."""


@dataclass(frozen=True)
class Projection:
    """Moving an answer to where all rows hold."""

    places: float = 4 * EPS
    """Relative: the precision with which a row's value is known."""
    rounds: int = 30
    """Rounds of moving; each must halve what is missing."""
    precision: float = 0.03
    """Relative precision of each: a rough one costs one more round."""
    ridge: float = 1e-10
    """Relative ridge of the system."""


@dataclass(frozen=True)
class Certification:
    """The certificate."""

    accuracy: float = 1e-4
    """A probability: an answer counts as optimal if no P(s | q) can be further from the maximum-entropy one."""
    most_moved: float = 0.5
    """Share of itself by which a count may move on the way to a point where rows hold exactly."""
    most_kappa: float = 0.5
    """An approximate inverse Y of S is taken if the norm of I - Y S is no larger: Neumann's series then converges."""
    growth: float = 1.5
    """By what factor counts, and with them a row's rounding, may grow on that way: 1 + `most_moved`."""
    active_places: float = 16 * EPS
    """Relative: an inequality is active at a side that it is so close to, as rounding would decide otherwise."""
    largest_component: int = 600
    """Rows of an independent component up to which a dense inverse is verified."""
    most_components: int = 600
    """Components for which that is done."""
    most_work: float = 2e9
    """Multiplications for all of them together: about a second."""
    most_backward: float = 1e-7
    """Relative: rows that would have to be moved by more of their values are another problem's."""
    estimate_precision: float = 0.03
    """Relative precision of the first-order estimate where components are too large for a proof."""
    estimate_ridge: float = 1e-10
    """Its relative ridge."""


@dataclass(frozen=True)
class Diagnosis:
    """Contradictions, and what forces a term to be zero."""

    supposed: float = 1e-2
    """Records that are supposed to be where nobody can be, for the contradiction that this makes."""
    clear: float = 1e3
    """Multiple of a row's tolerance: a larger contradiction is not one of presolve's rounding."""


@dataclass(frozen=True)
class Multipliers:
    """Multipliers worked out from counts, for shadow prices."""

    precise: float = 1e-5
    """The logarithm of a count may be off by so much from what the multipliers say."""
    rounds: int = 20
    """Rounds of leaving out inequalities whose multipliers have the wrong sign."""
    refinements: int = 5
    """Rounds of iterative refinement."""
    precision: float = 1e-10
    """Relative precision of the least-squares solution."""
    ridge: float = 1e-13
    """Its relative ridge."""
    small: float = 1e-6
    """Records: a term that holds less may be zero, which is then looked into."""
    nothing: float = 1e-6
    """Relative: a part of a direction that is no more than rounding."""
    determined: float = 1e-9
    """Relative to a row's size: what is left of it where the hard constraints determine its value."""


@dataclass(frozen=True)
class ConvexConstraints:
    """Constraints that are convex and not affine."""

    smallest_count: float = 1e-12
    """Records: where a gradient at zero is infinite, as of an entropy, it is taken here."""
    backward: float = 1e-14
    """Relative: by how much convex constraints may be moved, for what is left of their curvature at the tangent."""


@dataclass(frozen=True)
class ConicProgram:
    """DUAL_NEWTON as a solver of CVXPY's conic programs."""

    residual: float = 1e-7
    """Relative to the size of what is added up in a row: the largest violation of an optimal answer."""
    usable: float = 1e-2
    """Relative: the largest violation of an answer that is returned as inaccurate."""
    largest_log_weight: float = 600.0
    """Largest |log w| of a weight: exp takes it, with room for multipliers."""
    small_average: float = 0.1
    """An average count below was scaled by a constraint that is not active; it is scaled nearer to 1."""
    vanished_average: float = 1e-12
    """Below this nothing is left to scale."""
    contradiction: float = 1e-6
    """Relative to the rows' scale: the least elastic relaxation at which rows are called contradictory."""


@dataclass(frozen=True)
class Attempts:
    """When an answer is good enough, and what is tried else."""

    precise: float = 1e-7
    """A probability: an answer whose bound is larger is improved, if it can be."""
    strict_zero: float = 1e-12
    """Records: what counts as zero where a first attempt is not certified, so that P = 1 - 1e-9 means what it says."""
    quick_linear: int = 2_000
    """Terms over which a linear program takes milliseconds, and may be asked again and again."""
    largest_conic: int = 20_000
    """Terms over which an interior-point method takes seconds; it helps where coefficients differ much in size."""
    largest_whole: int = 100_000
    """Terms up to which a problem is solved again without presolve, which may take minutes."""
    much_knowledge: int = 2_000
    """Rows of knowledge from which on a linear program for each component of them saves more than it costs."""
    most_components: int = 16
    """Problems into which one is divided: the largest independent components by themselves, the others together."""


FEASIBILITY = Feasibility()
SUBSTITUTION = Substitution()
PRESOLVE = Presolve()
BLOCK_DETECTION = BlockDetection()
NEWTON_SYSTEM = NewtonSystem()
DUAL_FUNCTION = DualFunction()
NEWTON = Newton()
LINE_SEARCH = LineSearch()
VANISHING_TERMS = VanishingTerms()
FACIAL_REDUCTION = FacialReduction()
LINEAR_PROGRAMS = LinearPrograms()
INTEGER = Integer()
PROJECTION = Projection()
CERTIFICATION = Certification()
DIAGNOSIS = Diagnosis()
MULTIPLIERS = Multipliers()
CONVEX_CONSTRAINTS = ConvexConstraints()
CONIC_PROGRAM = ConicProgram()
ATTEMPTS = Attempts()
