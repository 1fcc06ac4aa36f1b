r"""The certificate: a bound on the distance of an answer from the exact solution, whichever solver found it.

Let x* be the maximum-entropy solution to the rows as typed, every double being the rational number that it is. The
answer x that is certified satisfies the rows only approximately. The bound on its distance from x* is the sum of three
distances (all sums are over the terms of one group q):

1. From x to x', a point where rows hold up to the last places: \|x - x'\|.
2. From x' to x'', a point that satisfies all rows exactly. :mod:`.existence` proves that there is
   one, and bounds the share t_j of itself by which each count differs, and sum t_j^2 x'_j over each component.
3. From x'' to x*. For any multipliers m and y = w exp(A' m - 1), weak duality gives

       KL(x'' \|\| x*) <= sum_j (x''_j log(x''_j / y_j) - x''_j + y_j) + sum_i \|m_i\| slack_i(x''),

   and the right side is at most the same sum at x', evaluated as an upper bound (:func:`divergence`), plus

       sum_j t_j x'_j (\|log(x'_j / y_j)\| + t_j),

   as (1 + t) log(1 + t) - t <= t^2 for \|t\| <= 1/2; the sum is also bounded by the inequality of Cauchy and Schwarz.
   x'' and x* have the same number of records in every group, so that
   Pinsker's inequality bounds the distance of their conditional distributions by sqrt(KL / (2 n(q))).

Terms that presolve or a proof has fixed are known up to a width only. x'' is given their true values: the residual of a
row is enlarged by the contribution of the widths to the row, and the bound of a group by the widths of its terms. The
errors of rounding a row while it was built are added to its residual, too.

Rows that were rewritten in exact arithmetic (:mod:`.substitution`) have no such errors, and magnify the last digits of
the numbers as typed. If they contradict each other by no more than a rounding of these numbers explains, four units in
the last place (``PLACES``), the rows before rewriting are solved and certified in their place.

A soft row (:mod:`.costs`) adds its Fenchel gap at x'' to the sum in 3: its cost plus the conjugate of the
cost at its multiplier, less their product (:func:`fenchel_gaps`).

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
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from .._utils.formatting import ReprMixin
from .answer import Answer
from .blocks import single_thread
from .costs import PENALTY_ROUNDING, excess
from .duality import exact_residuals, implied_upper_bounds, rmatvec_coefficient_error, rmatvec_rounding
from .existence import MOST_BACKWARD, Components, ExactPoint, exact_point
from .form import Groups, LinearForm, Settled
from .monitor import check_step
from .parameters import EPS, FEASIBLE_MULTIPLE
from .schur import detect_blocks, newton_system

#: Relative: the precision with which the value of a row is known.
VALUE_PLACES = 4 * EPS
#: Rounds of projection; each must halve the residual.
PROJECTION_ROUNDS = 30
#: Relative precision of each round: a rough one costs one more round.
PROJECTION_PRECISION = 0.03
#: Relative ridge of the linear system.
PROJECTION_RIDGE = 1e-10
#: Of the tolerance of each row: the largest violations with which a point is not projected at first.
NEARLY_HOLD = 0.1
#: Share of the terms that may move above which the rows are not restricted to these.
WHOLE = 0.5
#: Records: a smaller count is 0 at the point by which an answer is certified, which adds as much to the gap.
VANISHED = 1e-18
#: Relative: by how much convex constraints may be moved, to cover the curvature that their tangents leave out.
CURVATURE = 1e-14
#: Relative to the limit: a budget that is spent so nearly may be moved to what is spent, and said to be moved.
KEPT = 1e-12
#: Records^2 per nat: the largest variance of a row that the certificate treats like an equation. With a larger one a
#: residual of 1e-12 records costs less than 5e-13 nats.
STIFF = 1e-12

# A convex constraint in the certificate, where its Lagrangian is a cost of soft rows.
#
# Let the constraint be C(x) + g x <= limit, and t its multiplier. The costs t C are those of soft rows, and the weights
# of the objective are w exp(-t g). By weak duality the entropy of the exact solution is at most the dual value of that
# problem plus t limit. So the gap at a point x'' that satisfies the constraint is that of the soft problem plus
#
#     t (limit - C(x'') - g x'').
#
# A constraint with t = 0 adds nothing. If it holds wherever the exact solution without it can be, that is the exact
# solution with it.


@dataclass(frozen=True, eq=False)
class Allowance:
    """The costs of missing rows and a linear expression are at most a limit."""

    rows: LinearForm  # the rows, which are soft
    linear: np.ndarray  # one per term: g, in the unit of the constraint per record
    limit: float  # in the unit of the constraint
    magnitude: float  # the size that a violation is relative to
    multiplier: float  # t, nats per unit of the constraint
    # The numbers of the rows among all rows of the certificate; empty where its costs are not those of soft rows.
    places: np.ndarray
    error: float = 0.0  # a bound on the rounding error of the limit

    @property
    def terms(self) -> np.ndarray:
        """Which terms it is about."""
        is_involved = self.linear != 0
        is_involved[self.rows.matrix.indices] = True
        return is_involved

    def met(self, is_exact: np.ndarray) -> np.ndarray:
        """Which of its rows are met, and cost nothing, where x'' satisfies some of all rows exactly."""
        penalties = self.rows.penalties
        assert penalties is not None
        can_be_met = (penalties.variance == 0) & ~penalties.is_divergence
        return can_be_met & is_exact[self.places] if len(self.places) else np.zeros_like(can_be_met)

    def left(self, x: np.ndarray, moves: np.ndarray, met: np.ndarray, *, is_movable: bool) -> tuple[float, float]:
        """What x'' leaves of the limit, nats, bounded above, and by how much it exceeds the limit, relative."""
        least, most, rounding = self._spent(x, moves, met)
        slack, beyond = max(self.limit - least, 0.0) + rounding, max(most - self.limit, 0.0)
        if is_movable and max(slack, beyond) <= KEPT * self.magnitude:
            return 0.0, (max(slack, beyond) + rounding) / self.magnitude
        return self.multiplier * slack, beyond / self.magnitude

    def _spent(self, x: np.ndarray, moves: np.ndarray, met: np.ndarray) -> tuple[float, float, float]:
        """Bounds on what x'' spends, from below and above, and how exactly they are known."""
        penalties, every = self.rows.penalties, np.arange(self.rows.shape[0])
        assert penalties is not None
        if not np.isfinite(moves).all():
            return -np.inf, np.inf, 0.0
        below, above = (
            np.where(
                np.isfinite(side),
                sign * exact_residuals(self.rows, x, every, np.nan_to_num(side, posinf=0, neginf=0)),
                0,
            )
            for sign, side in ((-1.0, self.rows.low), (1.0, self.rows.high))
        )
        missed = np.where(met, 0.0, np.maximum(np.maximum(below, above), 0.0))
        error = np.where(met, 0.0, abs(self.rows.matrix) @ moves + EPS * missed)
        ends = [penalties.cost(np.maximum(missed + shift, 0.0)) for shift in (-error, 0.0 * error, error)]
        linear, spread = math.fsum(self.linear * x), float(np.abs(self.linear) @ moves)
        least = math.fsum(np.minimum.reduce(ends)) + linear - spread
        most = math.fsum(np.maximum.reduce(ends)) + linear + spread
        # Sums are rounded once; each cost is a product and quotient of a few numbers, and its logarithm is off by EPS.
        rounding = self.error + EPS * (abs(self.limit) + 4 * math.fsum(ends[1]) + 4 * float(np.abs(self.linear) @ x))
        return least, most, rounding


# The duality gap of each group of terms, from the gaps of connected components.


@dataclass(frozen=True, eq=False)
class GroupGaps:
    """Weak duality holds for every connected component by itself; convex constraints join those that they are about."""

    of_row: np.ndarray  # the component of every row and of every term
    of_term: np.ndarray
    groups: Groups  # the QI tuples, whose conditional distributions are asked for

    def joined(self, together: Iterable[np.ndarray]) -> GroupGaps:
        """Join the components of those terms that a constraint is about, an array of bool each."""
        of_row, of_term = self.of_row, self.of_term
        for terms in together:
            if terms.any():
                joined = np.unique(of_term[terms])
                of_row = np.where(np.isin(of_row, joined), joined[0], of_row)
                of_term = np.where(np.isin(of_term, joined), joined[0], of_term)
        return replace(self, of_row=of_row, of_term=of_term)

    def of_groups(self, slack: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """Add up the gaps of the components that a group has terms in, each counted once; records, one per group."""
        size = self.of_row.size + self.of_term.size  # an upper bound
        gap = np.bincount(self.of_row, slack, size).astype(float)  # bincount of no rows has integers
        gap += np.bincount(self.of_term, distance, size)
        pairs = np.unique(self.groups.of_term * np.int64(size) + self.of_term)
        return np.bincount(pairs // size, gap[pairs % size], len(self.groups.records))

    def reach(self, slack: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """Bound how far each count of the exact solution is from x'', by Pinsker's inequality; records, one per term."""
        return np.sqrt(self.of_groups(slack, distance) * self.groups.records / 2)[self.groups.of_term]


# Convex constraints in the certificate: what they add to the gap, and which components they join.


class Excess(NamedTuple):
    """By how much a point violates a convex constraint that cuts stand for."""

    rows: np.ndarray  # the cuts
    terms: np.ndarray  # one per term: what the constraint is about
    violation: float  # in the unit of the constraint
    backward: float  # the violation, relative


class Point(NamedTuple):
    """The point x'' that satisfies the rows, as far as it is known."""

    near: np.ndarray  # one per term: counts, records
    off: np.ndarray  # one per term: a bound on the distance of each from x''
    is_exact: np.ndarray  # one per row: which rows x'' satisfies exactly, of the soft ones too


class ConvexTerms(NamedTuple):
    """All convex constraints of a problem."""

    allowances: Sequence[Allowance] = ()  # those whose Lagrangian the soft rows of the form are
    exceeded: Callable[[np.ndarray], list[Excess]] | None = None  # from a point to how it violates each of the others
    temperature: float = 1.0  # the objective of the form, times this, is that of the problem

    def charge(
        self,
        point: Point,
        price: np.ndarray,
        slack: np.ndarray,
        distance: np.ndarray,
        gaps: GroupGaps,
        *,
        is_movable: bool,
    ) -> tuple[GroupGaps, float]:
        """Add to the summands of the gap what the constraints add; return the components, and what is moved."""
        near, off, is_exact = point
        backward, together = 0.0, []
        for one in self.exceeded(near) if self.exceeded else ():
            # The cuts are those of a constraint that is relaxed by as much as x'' violates it.
            slack[one.rows] += price[one.rows] * one.violation
            backward = max(backward, one.backward, CURVATURE)
            together.append(one.terms)
        for allowance in (one for one in self.allowances if one.multiplier > 0):
            slack_of_budget, beyond = allowance.left(near, off, allowance.met(is_exact), is_movable=is_movable)
            distance[np.flatnonzero(allowance.terms)[0]] += slack_of_budget
            backward = max(backward, beyond)
            together.append(allowance.terms)
        gaps = gaps.joined(together)
        for allowance in (one for one in self.allowances if one.multiplier == 0):
            met, reach = allowance.met(is_exact), gaps.reach(slack, distance)
            if allowance.left(near, off + reach, met, is_movable=False)[1] > 0:
                backward = max(backward, allowance.left(near, off, met, is_movable=False)[1])
                gaps = gaps.joined([allowance.terms])
        return gaps, backward


# Projection onto the feasible set, in a metric that is weighted by the point itself.


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # if the rows are infeasible
def project(form: LinearForm, x: np.ndarray, fixed: np.ndarray) -> np.ndarray | None:
    """Project x onto the feasible set: minimise sum_j (y_j - x_j)^2 / x_j over the y that satisfy every row.

    In each round, violated and active inequalities are treated as equations: with inequalities the result is feasible,
    but need not be the nearest point. A term that would become negative is set to zero, and kept there.
    """
    if not np.isfinite(x).all():
        return None
    moves = _concerned(form, x, ~fixed)
    # If most terms may move, the others are given no weight: then nothing that is known of the rows is computed anew.
    whole = np.count_nonzero(moves) > WHOLE * len(x)
    terms, involved = np.arange(len(x)) if whole else np.flatnonzero(moves), form.rows_involving(moves)
    rest = form if whole else _restricted(form, x, terms, involved)
    rest, order = detect_blocks(rest)
    corrected = (involved if whole else np.ones(len(order), dtype=bool))[order]
    for may_form in (False, True):  # forming the Schur complement is expensive, and rarely needed
        moved = x.copy()
        if moves.any():
            moved[terms] = _projected(rest, x[terms], np.where(moves, x, 0.0)[terms], corrected, may_form)
        if (form.residual(moved) <= FEASIBLE_MULTIPLE * form.tolerance).all():
            return moved
    return None


def _concerned(form: LinearForm, x: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Mark the free terms of components that have a row which x violates by more than rounding."""
    value = form.exact_matvec(x)
    violation = np.clip(value, form.low, form.high) - value
    violated = ~(np.abs(violation) <= VALUE_PLACES * np.abs(value))
    if not violated.any():
        return np.zeros_like(free)
    of_row, of_term = form.components(free)
    concerned = np.zeros(int(max(of_row.max(initial=-1), of_term.max(initial=-1))) + 1, dtype=bool)
    concerned[of_row[violated]] = True
    return free & concerned[of_term]


def _restricted(form: LinearForm, x: np.ndarray, terms: np.ndarray, involved: np.ndarray) -> LinearForm:
    """Restrict the problem to some terms, the others being fixed at x, and to the rows that involve these."""
    rest, others = form.select(involved), x.copy()
    others[terms] = 0.0
    fixed_part = rest.matvec(others)
    return replace(rest.select_terms(terms), low=rest.low - fixed_part, high=rest.high - fixed_part)


def _projected(
    form: LinearForm,
    x: np.ndarray,
    weight: np.ndarray,
    corrected: np.ndarray,
    may_form: bool,
) -> np.ndarray:
    """Correct x in rounds, as long as each at least halves the largest violation.

    The violation is reduced to roundoff, as the certificate multiplies it with multipliers, which may be large. Terms
    of weight 0 stay, and rows that are not to be corrected do not count.
    """
    system, tolerance = newton_system(form, may_form=may_form), form.tolerance
    moved = best = x
    least = before = np.inf
    for _ in range(PROJECTION_ROUNDS):
        check_step()
        value = form.exact_matvec(moved)
        violation = np.where(corrected, np.clip(value, form.low, form.high) - value, 0.0)
        worst = np.abs(violation).max(initial=0.0)
        if not worst < np.inf:
            break
        if worst < least:
            best, least = moved, worst
        if worst > 0.5 * before or (np.abs(violation) <= VALUE_PLACES * np.abs(value)).all():
            break
        before = worst
        # Inactive inequalities do not restrict the correction.
        active = form.is_equation | (value <= form.low + tolerance) | (value >= form.high - tolerance)
        factor, known = system.at(weight, PROJECTION_RIDGE), np.flatnonzero((active & corrected)[form.n_published :])
        moved = moved + weight * form.rmatvec(
            factor.solve(np.where(active, violation, 0.0), known, PROJECTION_PRECISION)
        )
        if (negative := moved < 0).any():
            moved, weight, before, least = np.maximum(moved, 0.0), np.where(negative, 0.0, weight), np.inf, np.inf
    return best


# Soft rows in the certificate: their gap at a point that satisfies the hard rows exactly.
#
# Let c be the cost of missing a row by r records, c* its conjugate, and m the row's multiplier. For any x'', the row
# adds
#
#     c(r'') + c*(m) - m r''  >=  0    (Fenchel's inequality)
#
# to the duality gap, r'' being the distance of its value at x'' from the side that the sign of m refers to. Soft rows
# do not restrict x''. But where an absolute error is 0 and m is within its slope, x'' can be required to satisfy the
# row exactly: the gap of that row is then 0, and not the product of the slope and a rounding error. So it can where the
# variance v is tiny, with v m added to the value: a rounding error e of it would cost e^2 / (2 v).


def within_slopes(form: LinearForm, multipliers: np.ndarray) -> np.ndarray:
    """Move the multipliers of soft rows to where the conjugates are finite; those of hard rows stay."""
    if form.penalties is None:
        return multipliers
    n, clipped = form.n_hard, multipliers.copy()
    clipped[n:] = form.penalties.within(form.project_to_dual_cone(multipliers)[n:])
    return clipped


class Restriction(NamedTuple):
    """The rows that x'' shall satisfy."""

    form: LinearForm  # all rows, of which those that do not restrict x'' have infinite sides
    is_soft: np.ndarray  # one per row: which rows these are
    components: Components  # the connected components of the rows that do restrict it, over terms that are not fixed


def restrictions(form: LinearForm, x: np.ndarray, multipliers: np.ndarray, fixed: np.ndarray) -> Iterator[Restriction]:
    """Yield the rows that x'' may be required to satisfy: first with soft rows that x meets exactly, then without."""
    penalties, is_soft = form.penalties, np.zeros(form.shape[0], dtype=bool)
    if penalties is None:
        yield Restriction(form, is_soft, Components(*form.components(~fixed)))
        return
    met, side = np.zeros(form.shape[0], dtype=bool), np.where(multipliers < 0, form.high, form.low)
    m = multipliers[form.n_hard :]
    most = penalties.within(penalties.slope)
    met[form.n_hard :] = (penalties.variance <= STIFF) & (np.abs(m) <= most)
    side[form.n_hard :] -= penalties.variance * m
    met[form.n_hard :] &= ~penalties.is_divergence
    met &= form.is_equation | (multipliers != 0)
    met[met] = np.abs(exact_residuals(form, x, np.flatnonzero(met), side[met])) <= (
        FEASIBLE_MULTIPLE * form.tolerance[met]
    )
    is_soft[form.n_hard :] = True
    # A row that is met may have the largest multiplier, too, if it is missed as soon as anything else changes.
    inside = met.copy()
    inside[form.n_hard :] &= np.abs(m) < most
    choices = [met, *([inside] if (inside != met).any() else []), *([np.zeros_like(met)] if inside.any() else [])]
    for exactly in choices:
        missable = is_soft & ~exactly
        low, high = np.where(exactly, side, form.low), np.where(exactly, side, form.high)
        rows = np.flatnonzero(~missable)
        of_row, of_term = replace(form.select(rows), penalties=None).components(~fixed)
        component = np.full(form.shape[0], max(of_row.max(initial=-1), of_term.max(initial=-1)) + 1)
        component[rows] = of_row
        restricted = replace(
            form, low=np.where(missable, -np.inf, low), high=np.where(missable, np.inf, high), penalties=None
        )  # fmt: skip
        yield Restriction(restricted, missable, Components(component, of_term))


def fenchel_gaps(
    form: LinearForm,
    restriction: Restriction,
    x: np.ndarray,
    multipliers: np.ndarray,
    free: np.ndarray,
    moves: np.ndarray,
    width: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Bound the gap of each soft row from above, records, at any x'' within the given distance of x; 0 of other rows.

    A row on a linear part of its cost has no gap if its multiplier is the slope, which is known up to rounding: how far
    that may be from the given multiplier is returned, too.
    """
    assert form.penalties is not None
    rows, gap, doubt = np.flatnonzero(restriction.is_soft), np.zeros(form.shape[0]), np.zeros(form.shape[0])
    penalties = form.penalties.select(rows - form.n_hard)
    matrix = form.rows(rows)
    size = abs(matrix)
    below, above = (
        np.where(
            np.isfinite(side), sign * exact_residuals(form, x, rows, np.where(np.isfinite(side), side, 0.0)), -np.inf
        )
        for side, sign in ((form.low[rows], -1.0), (form.high[rows], 1.0))
    )
    with np.errstate(invalid="ignore", over="ignore"):
        error = size @ (np.where(free, x * moves, 0.0) + width) + form.side_error[rows]
        error += form.coefficient_error[rows] * (abs(matrix.sign()) @ x)
        # The distances are rounded once, and the sums above are of numbers with few digits of meaning.
        distance = np.fmax(*(np.where(np.isfinite(side), np.abs(side), 0.0) for side in (below, above)))
        error = error * (1 + EPS * (np.diff(matrix.indptr) + 4)) + 2 * EPS * distance
    gaps = penalties.fenchel_gap((below, above), error, multipliers[rows])
    doubt[rows] = penalties.doubt((below, above), error, multipliers[rows])
    charged = (size @ free.astype(float) > 0) & (doubt[rows] == 0)
    gap[rows] = np.where(charged, np.where(np.isnan(gaps), np.inf, gaps), 0.0)
    exactly = form.n_hard + np.flatnonzero(~restriction.is_soft[form.n_hard :] & (form.penalties.variance > 0))
    if len(exactly):  # x'' satisfies the row as typed but for v m, which is rounded where the side is moved by it
        variance, m = form.penalties.variance[exactly - form.n_hard], multipliers[exactly]
        side = np.where(m < 0, form.high[exactly], form.low[exactly])
        off = np.abs(restriction.form.low[exactly] - side + variance * m) + PENALTY_ROUNDING * variance * np.abs(m)
        gap[exactly] = off**2 / variance
    return gap, doubt


# The generalised Kullback-Leibler divergence between the counts and those given by the multipliers, bounded above.


def divergence(form: LinearForm, x: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """Bound x log(x / y) - x + y from above, one per term, records, for y = w exp(A' m - 1).

    With d = log(x / y) it is x (d - 1 + exp(-d)), about x d^2 / 2. It is not computed as a difference of nearly equal
    numbers, so that roundoff enters through d only; the largest value over the error interval of d is taken.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        exponent = form.exponent(multipliers)
        log_x = np.log(x)
        # Roundoff of the sum, the weight and the logarithms, a few units in the last place each.
        sizes = 1 + np.abs(exponent) + np.abs(np.log(form.weights)) + np.where(x > 0, np.abs(log_x), 0.0)
        error = rmatvec_rounding(form, multipliers) + rmatvec_coefficient_error(form, multipliers) + 4 * EPS * sizes
        d = log_x - exponent
        near = x * np.maximum(excess(d - error), excess(d + error))
        y = np.exp(exponent + error)
        far = x * d - x + y + 2 * error * (x + y)  # x and y differ so much that nothing cancels
        return np.where(x == 0, y, np.where(np.abs(d) < 1, near, far))


#: A probability: an answer counts as optimal if the bound on the error of every P(s | q) is at most this.
ACCURACY = 1e-4
#: A probability: an answer with a larger certified error is improved, if it can be. Of a thousand statements terms
#: that are known to be zero up to 1e-11 records alone make the certified error 1e-7.
PRECISE = 1e-6
#: How often counts that hold next to nothing, and would have to change much, are set to 0 where rows hold exactly.
SMALL_ROUNDS = 4


@dataclass(frozen=True)
class Certificate(ReprMixin):
    """A proved bound on the distance of an answer from the maximum-entropy distribution.

    Attributes
    ----------
    residual : float
        Largest violation of any hard row by the answer, records.
    clipped : float
        Absolute value of the most negative count that the solver returned, records; it was set to zero.
    moved : float
        Largest change of a count by the projection after which every row holds up to its last places, records. 0 if
        there was none, as rows held within 1e-10 of their sides. Infinite if no such point was found. Of an answer that
        another point certifies, its distance from that, too; `gap` is then that of the other point.
    gap : float
        Duality gap of the projected answer, records: sum (x log(x / y) - x + y), with
        y = w exp(A' multipliers - 1), plus the slack of the inequalities times their multipliers and the Fenchel gaps
        of soft rows. It is computed as a sum of non-negative terms, not as a difference of objectives.
    bound : float
        Bound on the error of every P(s | q), a probability: the maximum over q of
        (moved(q) + left(q)) / n(q) + sqrt(gap(q) / (2 n(q))). Here moved(q) is the sum of the changes by the projection
        over the terms of q, gap(q) the gap of the connected components that q has terms in, and left(q) a bound on
        the distance of the projected answer from one that satisfies the rows exactly as typed. Where a point nearby has
        a smaller bound, it is that bound, plus the changes to that point over the terms of q, relative to n(q).
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
    convex: ConvexTerms | None = None,
) -> Certificate:
    """Bound the distance of an answer from the exact solution of a problem."""
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
    if not np.isfinite(x).all():
        return best
    claim = _Claim(x, multipliers, Settled(fixed, width))
    # A projection takes as long as the rest, and seldom gains anything where rows hold but for roundoff already. Bounds for
    # the limits as typed come first, as a precise one is worth more than a smaller bound for limits that are moved.
    movable = (False, True)[: 1 + bool(convex.allowances)]
    ways = itertools.product(movable, restrictions(form, x, multipliers, fixed), (False, True))
    for is_movable, restriction, is_projected in ways:
        rows = restriction.form
        if not is_projected and not (rows.residual(x) <= NEARLY_HOLD * rows.tolerance).all():
            continue
        bounded = _bounded(form, restriction, groups, claim, convex, is_movable=is_movable, is_projected=is_projected)
        if bounded is not None and bounded[2] <= best.bound:
            best = replace(best, moved=bounded[0], gap=bounded[1], bound=bounded[2], backward=bounded[3])
        if best.bound <= PRECISE:
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
    convex: ConvexTerms,
    *,
    is_movable: bool,
    is_projected: bool,
) -> tuple[float, float, float, float] | None:
    """The fields moved, gap, bound and backward of the certificate; None if no point near x satisfies the rows."""
    x, multipliers, (fixed, width) = claim.x, claim.multipliers, claim.settled
    free, (q, n_q), start = ~fixed, groups, x
    of_hard = np.where(restriction.is_soft, 0.0, multipliers)
    for _ in range(1 + SMALL_ROUNDS):
        check_step()
        projected = project(restriction.form, start, fixed) if is_projected else start
        if projected is None:
            return None
        near = np.where(projected < VANISHED, 0.0, projected)
        check_step()
        exact = exact_point(restriction.form, near, of_hard, free, width, restriction.components)
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
        log_ratio, distance = gaps_of_terms(form, near, multipliers, free, doubt)
        first, added = _of_moving(restriction.components.of_term, near, moves, log_ratio, exact)
        distance[first] += added
    slack, distance, off = convex.temperature * slack, convex.temperature * distance, moves + width
    gaps, moved_limits = convex.charge(
        Point(near, off, ~restriction.is_soft), convex.temperature * np.abs(multipliers) * form.scale, slack, distance,
        GroupGaps(*(restriction.components if form.penalties is None else form.components(free))[:2], groups),
        is_movable=is_movable,
    )  # fmt: skip
    gap_q, backward = gaps.of_groups(slack, distance), max(exact.backward, moved_limits)
    moved_q = np.bincount(q, np.abs(near - x) + width, len(n_q))
    moved_q += _moved_by_group(groups, restriction.components.of_term, near, moves, exact.spread)
    bound = largest_error(moved_q, gap_q, n_q)
    moved = float(np.abs(near - x).max(initial=0.0))
    return (
        moved,
        float(slack.sum() + distance.sum()),
        bound if np.isfinite(bound) and backward <= MOST_BACKWARD else np.inf,
        backward,
    )


def gaps_of_terms(
    form: LinearForm, near: np.ndarray, multipliers: np.ndarray, free: np.ndarray, doubt: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds on |log(x / y)| and on x log(x / y) - x + y, one per term, where log y may be off by `doubt`; 0 if fixed."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        log_ratio = np.abs(np.log(np.where(near > 0, near, 1.0)) - np.where(near > 0, form.exponent(multipliers), 0.0))
        log_ratio += rmatvec_rounding(form, multipliers) + rmatvec_coefficient_error(form, multipliers) + doubt
        distance = np.where(free, divergence(form, near, multipliers), 0.0)
        if doubt.any():  # with y exp(doubt) for y the divergence changes by (y - x) doubt, to first order
            y = np.exp(form.exponent(multipliers))
            distance += np.where(free, np.abs(y - near) * doubt + y * np.where(doubt < 1, doubt**2, np.inf), 0.0)
    return log_ratio, distance


def largest_error(moved: np.ndarray, gap: np.ndarray, records: np.ndarray) -> float:
    """The largest bound of a group: what counts are moved by, and Pinsker's inequality, relative to its records."""
    return float((moved / records + np.sqrt(gap / (2 * records))).max(initial=0.0)) * (1 + 64 * EPS)


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


# What a solve returns: an answer with its certificate.


@dataclass(frozen=True, eq=False)
class Solution(ReprMixin):
    """The answer to a problem, with its certificate and the name of the solver.

    Attributes
    ----------
    answer : Answer
        Counts of all terms, records, and multipliers of all rows.
    certificate : Certificate
        A bound on the error of every P(s | q).
    solver : str
        The solver's name.
    certify_seconds : float
        How long the certificate took.

    Examples
    --------
    >>> from maxent_cvx.solvers.solve import solve
    >>> import maxent_cvx as mx
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3)
    >>> solve(model.posed, mx.solvers.find("auto")).solver
    'DUAL_NEWTON'
    """

    answer: Answer
    certificate: Certificate
    solver: str
    certify_seconds: float = math.nan

    def __repr__(self) -> str:
        return f"<Solution: {self.answer.status} by {self.solver}; {self.certificate}>"
