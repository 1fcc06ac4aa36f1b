"""Tolerances and size limits that several modules share; value, unit, meaning and source.

No tolerance decides whether an answer is right: that is the certificate's business, which is computed from the rows.
Counts are in records; "relative" is relative to the size of what is compared. Where no source is given, the value was
found by trial on the random models of ``tests/benchmarks/honesty.py`` and on the Adult data of
``tests/benchmarks/solvers.py``. Constants that one module uses stand in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = [
    "ATTEMPTS",
    "ATTEMPT_SIZES",
    "CERTIFICATION",
    "CONVEX_CONSTRAINTS",
    "EPS",
    "FEASIBILITY",
    "PENALTIES",
    "PRESOLVE",
    "PRESOLVE_SIZES",
    "PROJECTION",
    "SUBSTITUTION",
]

# Size limits and cost models of the solvers: what problems a method is tried on; value, unit, meaning and source.
#
# A limit decides how long a solve takes, and never whether its answer is right. Where no source is given, the value was
# found by trial on the random models of ``tests/benchmarks/honesty.py`` and on the Adult data of
# ``tests/benchmarks/solvers.py``.


@dataclass(frozen=True)
class PresolveSizes:
    """Work that presolve does only on small parts of a problem."""

    widest_block: int = 64
    """Rows of a block in which redundant rows are looked for, which costs the cube of them."""


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


PRESOLVE_SIZES = PresolveSizes()
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
