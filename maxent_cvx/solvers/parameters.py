"""Tolerances and size limits that several modules share; value, unit, meaning and source.

No tolerance decides whether an answer is right: that is the certificate's business, which is computed from the rows.
Counts are in records; "relative" is relative to the size of what is compared. Where no source is given, the value was
found by trial on the random models of ``tests/benchmarks/honesty.py`` and on the Adult data of
``tests/benchmarks/solvers.py``. How large a problem a method is tried on is in :mod:`.size_limits`, how the dual
methods choose their steps in :mod:`.dual_methods`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = [
    "ATTEMPTS",
    "ATTEMPT_SIZES",
    "BLOCK_DETECTION",
    "CERTIFICATION",
    "CONVEX_CONSTRAINTS",
    "DUAL_FUNCTION",
    "EPS",
    "FEASIBILITY",
    "LINE_SEARCH",
    "NEWTON",
    "NEWTON_COSTS",
    "NEWTON_SYSTEM",
    "PARTITIONED",
    "PENALTIES",
    "PRESOLVE",
    "PRESOLVE_SIZES",
    "PROJECTION",
    "SUBSTITUTION",
    "VANISHING_TERMS",
]

# Parameters of the dual methods: steps, line search and recession directions, with value, unit, meaning and source.
#
# They decide how fast and how far the methods get. Where no source is given, the value was found by trial on the random
# models of ``tests/benchmarks/honesty.py`` and on the Adult data of ``tests/benchmarks/solvers.py``. Counts are in
# records.


@dataclass(frozen=True)
class DualFunction:
    """How precisely the dual function is known, and where it is evaluated."""

    rounding: float = 1e-14
    """Rounding error, relative to its value."""
    summed: float = 2e-15
    """Rounding error, relative to the sums that it is the difference of."""
    large_coefficient: float = 100.0
    """Coefficient from which on the start is moved to where its term satisfies the row."""


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


# Size limits and cost models of the solvers: what problems a method is tried on; value, unit, meaning and source.
#
# A limit decides how long a solve takes, and never whether its answer is right. Where no source is given, the value was
# found by trial on the random models of ``tests/benchmarks/honesty.py`` and on the Adult data of
# ``tests/benchmarks/solvers.py``.


@dataclass(frozen=True)
class BlockDetection:
    """How the block structure of a problem is found that names no buckets."""

    widest: int = 48
    """Rows that one block may have: factoring a block costs the cube of its rows."""
    fewest: int = 100
    """Rows below which one dense factor is as fast as blocks."""
    lengths: tuple[int, ...] = (1024, 256, 128, 64, 32, 24, 16, 12, 8, 6, 5, 4, 3, 2, 1)
    """Entries of a row: while blocks are too wide, rows with more entries than the first are set aside, then than the
    next."""


@dataclass(frozen=True)
class PresolveSizes:
    """Work that presolve does only on small parts of a problem."""

    widest_block: int = 64
    """Rows of a block in which redundant rows are looked for, which costs the cube of them."""


@dataclass(frozen=True)
class NewtonCosts:
    """How the linear systems of Newton's method are solved, by what it costs; see ``linear_algebra/block_system.py``.

    Costs are counted in multiplications of a dense matrix product. The constants
    `forming_overhead`, `per_term`, `per_entry` and `per_pair` are measured by ``tests/benchmarks/newton_systems.py``.
    """

    most_multiplications: float = 2e10
    """Multiplications that factoring the blocks may take, about ten seconds; beyond, a sparse factor is computed."""
    most_entries: float = 1e8
    """Entries of all blocks (800 MB) beyond which a sparse factor is computed, too."""
    narrow: int = 256
    """Entries of a block up to which operations run along the blocks, and not block by block."""
    most_inverted: int = 1_000
    """Rows up to which a Cholesky factor is inverted, so that every later product with it is faster."""
    batch: int = 250_000
    """Doubles (2 MB, about what a processor has as a cache) of one batch of blocks while many are worked on."""
    most_dense: int = 10_000
    """Rows of knowledge up to which the Schur complement is formed (800 MB); beyond, its diagonal preconditions."""
    most_products: int = 2_000
    """Products with the Schur complement for one solution where it is not formed."""
    most_after_forming: int = 50
    """The same right after it was formed, when few are needed."""
    least_products: int = 16
    """Products that are always tried before the Schur complement is formed."""
    checks: tuple[int, ...] = (16, 32, 64, 128, 256)
    """Products after which conjugate gradients estimate how many more they need."""
    forming_share: float = 0.04
    """Share of the cost of forming the Schur complement that products may take before: it serves later systems, too."""
    forming_overhead: int = 350
    """Rows of knowledge: forming the Schur complement of k rows costs k (k + this) multiplications a row of a block."""
    fewest_columns: int = 64
    """Columns of the Schur complement that are formed at a time, at least, from sparse products."""
    per_pair_of_terms: float = 150.0
    """What a pair of terms of one block costs in sparse products, for each other row of a block and each row of
    knowledge that a term is in on average."""
    most_pairs_of_terms: float = 50_000
    """Such pairs, for each row of knowledge, up to which a matrix that has an entry for each is made: 0.6 MB a row."""
    per_sparse_product: float = 25.0
    """What an entry of the distinct columns costs there for each row of knowledge, half of S being formed."""
    per_term: float = 150.0
    """What one term costs in a product with the Schur complement, which is bound by memory."""
    per_entry: float = 30.0
    """What one entry of the distinct columns of knowledge costs in such a product."""
    per_pair: float = 5.0
    """What one pair of rows of knowledge costs in a product with the preconditioner."""


@dataclass(frozen=True)
class AttemptSizes:
    """Which ways to an answer are tried."""

    quick_linear: int = 2_000
    """Terms up to which a linear program takes milliseconds, and may be solved repeatedly."""
    largest_conic: int = 20_000
    """Terms up to which an interior-point method takes seconds; it helps where coefficients differ much in size."""
    largest_unreduced: int = 100_000
    """Terms up to which a problem is solved again without presolve, which may take minutes."""
    much_knowledge: int = 2_000
    """Rows of knowledge from which on a linear program for each component of them saves more than it costs, and from
    which on a certified answer is not sought once more from the beginning."""
    opposed_costs: float = 2e10
    """Terms times rows squared up to which the null space of rows is computed, some ten seconds."""
    most_components: int = 16
    """Problems into which one is divided: the largest independent components by themselves, the others together."""


BLOCK_DETECTION = BlockDetection()
PRESOLVE_SIZES = PresolveSizes()
NEWTON_COSTS = NewtonCosts()
ATTEMPT_SIZES = AttemptSizes()


#: Twice the unit roundoff of a double: the distance from 1 to the next larger number.
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Feasibility:
    """When a row is said to hold."""

    relative: float = 1e-9
    """Relative to the right-hand side, at least one record: the largest violation of a row that holds. Below what any
    solver of linear programs distinguishes (HiGHS: 1e-10), above the rounding of a sum of millions of counts."""
    multiple: float = 10.0
    """Multiple of `relative` at which a typed value still agrees with the values that are possible."""
    places: float = 4 * EPS
    """Relative: by how much a coefficient or a side can be rounded while a row is built. A share, its inverse, a
    statement's factor, the row's scale and the product with the value are each off by at most EPS / 2."""


@dataclass(frozen=True)
class Substitution:
    """When a row with a large coefficient is rewritten by published equations."""

    hiding_ratio: float = 100.0
    """A coefficient hides another one in the same row that is smaller by this ratio."""
    least_reduction: float = 0.25
    """An equation is subtracted if it reduces the largest possible contribution of one term to this share."""
    excess: float = 2.0
    """By what factor a point that nearly satisfies the published rows may exceed the bounds that they imply."""


@dataclass(frozen=True)
class Presolve:
    """Presolve: bound propagation, redundant rows, aggregation."""

    propagation_rounds: int = 30
    """Rounds of bound propagation; to stop early is safe, as the bounds are then merely wider."""
    least_move: float = 1e-7
    """Records, or share of a term's upper bound: the least change of a bound, as rows can enlarge rounding errors."""
    in_scale: float = 0.01
    """A row whose largest coefficient over the remaining terms is at least this is not scaled anew."""
    vanished_log: float = -50.0
    """Logarithm of a count that is taken for zero: exp(-50) is 2e-22 records."""
    zero_pivot: float = 1e-9
    """Relative to its row: a smaller pivot is the rounding error of zero."""
    value_rounds: int = 4
    """Rounds of aggregating sensitive values, one axis of the buckets a round."""
    colour_rounds: int = 30
    """Rounds of colour refinement while terms are aggregated."""
    least_saving: float = 0.1
    """Share of the terms that aggregation must save for a new problem to be made; of the rows, half as much."""


@dataclass(frozen=True)
class Projection:
    """The projection of an answer onto the rows."""

    places: float = 4 * EPS
    """Relative: the precision with which the value of a row is known."""
    rounds: int = 30
    """Rounds of projection; each must halve the residual."""
    precision: float = 0.03
    """Relative precision of each round: a rough one costs one more round."""
    ridge: float = 1e-10
    """Relative ridge of the linear system."""
    whole: float = 0.5
    """Share of the terms that may move above which the rows are not restricted to these."""


@dataclass(frozen=True)
class Certification:
    """The certificate."""

    accuracy: float = 1e-4
    """A probability: an answer counts as optimal if no P(s | q) can be further from the maximum-entropy one."""
    most_moved: float = 0.5
    """Share of itself by which a count may change on the way to a point where rows hold exactly."""
    growth: float = 1.5
    """By what factor counts, and with them the rounding of a row, may grow on that way: 1 + `most_moved`."""
    vanished: float = 1e-18
    """Records: a smaller count is 0 at the point by which an answer is certified, which adds as much to the gap."""
    active_places: float = 16 * EPS
    """Relative: an inequality is active at a side that it is so close to, as rounding would decide otherwise."""
    most_backward: float = 1e-7
    """Relative: the largest change of a row's values for which it is still the same problem (backward error)."""


@dataclass(frozen=True)
class ConvexConstraints:
    """Constraints that are convex and not affine."""

    smallest_count: float = 1e-12
    """Records: where a gradient at zero is infinite, such as that of an entropy, it is taken here."""
    backward: float = 1e-14
    """Relative: by how much convex constraints may be moved, to cover the curvature that their tangents leave out."""
    rounds: int = 100
    """Rounds of cuts, and of budgets one after the other."""
    resolved: tuple[float, ...] = (1e-14, 1e-15)
    """Relative to the number of records: smaller violations of cuts stay; the second where the first is too little."""
    stalled: float = 1e-9
    """Relative to the number of records: a violation that the last cuts have not halved, and is no larger, stays."""
    settled: float = 1e-9
    """Relative: the multipliers of several budgets have settled if a round changes none by more."""
    root: float = 4e-15
    """Relative to the limit: how exactly a budget is spent."""
    width: float = 1e-12
    """Relative: how exactly the multiplier of a budget is found."""
    first: float = 0.01
    """Nats per record: what the costs of a budget are worth where the search for its multiplier begins."""
    largest: float = 1e12
    """Nats per record: the largest multiplier of a budget, relative to its limit."""
    evaluations: int = 100
    """Problems that are solved to find the multiplier of a budget."""
    kept: float = 1e-12
    """Relative to the limit: a budget that is spent so nearly may be moved to what is spent, and said to be moved."""
    fixed: float = 1e-11
    """Relative to the limit: a budget that a large multiplier does not change by more is determined by other rows."""
    near: float = 1e-7
    """Relative to the limit: how nearly a budget is spent where what rows lack to hold exactly matters, too."""
    doubtful: float = 500.0
    """Multiple of the first multiplier, beyond which it is asked whether the budget can be kept at all."""
    sharper: int = 8
    """Further problems that are solved to say how far a limit that cannot be kept is from one that can."""
    steeper: float = 64.0
    """By how much the multiplier grows from one of these problems to the next."""
    sharp: float = 1e-6
    """Relative to the limit: how exactly that is said."""
    unattainable: float = 1e-7
    """Relative to the limit: what a budget lacks at the largest multiplier if no distribution satisfies it."""


@dataclass(frozen=True)
class SoftRows:
    """The costs of soft rows."""

    rounding: float = 16 * EPS
    """Relative: by how much a variance or a slope can be rounded between what was typed and the stored row. The square
    of a standard deviation, the row's scale and its square are each off by at most a few EPS / 2."""
    stiff: float = 1e-12
    """Records^2 per nat: the largest variance of a row that the certificate treats like an equation. With a larger one
    a residual of 1e-12 records costs less than 5e-13 nats."""
    opposed: float = 1e6
    """Nats per record: multipliers of soft rows that cancel each other matter from here on, where they are rounded by
    1e-10."""
    dependent: float = 1e-10
    """Relative to the largest: a smaller singular value of rows is that of rows that depend on each other."""
    vanished: float = 1e-10
    """Records: a count that a high cost makes less may be 0 at the point by which an answer is certified."""


@dataclass(frozen=True)
class Attempts:
    """When an answer is good enough."""

    precise: float = 1e-6
    """A probability: an answer with a larger certified error is improved, if it can be. Of a thousand statements terms
    that are known to be zero up to 1e-11 records alone make the certified error 1e-7."""
    strict_zero: float = 1e-12
    """Records: what counts as zero after an attempt that is not certified, so that P = 1 - 1e-9 is not read as 1."""


FEASIBILITY = Feasibility()
SUBSTITUTION = Substitution()
PRESOLVE = Presolve()
PROJECTION = Projection()
CERTIFICATION = Certification()
CONVEX_CONSTRAINTS = ConvexConstraints()
PENALTIES = SoftRows()
ATTEMPTS = Attempts()
