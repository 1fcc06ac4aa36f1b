r"""The certificate: a bound on the distance of an answer from the exact solution, whichever solver found it.

Let x* be the maximum-entropy solution to the rows as typed. Every double is taken as the exact rational number that it
represents, with three exceptions: a side, in people, that is an integer up to the rounding of a double is this integer;
numbers with up to four decimals in means and covariances are these decimals, and a mean is that of such numbers; and
typed factors that cancel up to 2^-50 cancel. The certified answer x satisfies the rows only approximately. The bound on
its distance from x* is the sum of three distances (all sums are over the terms of one group q):

1. From x to x', a point at which rows hold up to the last places: \|x - x'\|.
2. From x' to x'', a point that satisfies all rows exactly. :mod:`.existence` proves that it exists, and bounds the
   share t_j of itself by which each count differs, and sum t_j^2 x'_j over each component.
3. From x'' to x*. For any multipliers m and y = w exp(A' m - 1), weak duality gives

       KL(x'' \|\| x*) <= sum_j (x''_j log(x''_j / y_j) - x''_j + y_j) + sum_i \|m_i\| slack_i(x''),

   and the right side is at most the same sum at x', evaluated as an upper bound (:func:`gaps_of_terms`), plus

       sum_j t_j x'_j (\|log(x'_j / y_j)\| + t_j),

   since (1 + t) log(1 + t) - t <= t^2 for \|t\| <= 1/2; the sum is also bounded by the inequality of Cauchy and
   Schwarz. As x'' and x* have the same number of records in every group, Pinsker's inequality bounds the distance of
   their conditional distributions by sqrt(KL / (2 n(q))).

Terms that presolve or a proof has fixed are known only up to a width, which enlarges residuals and bounds. A soft row
(:mod:`.costs`) adds its Fenchel gap at x'' to the sum in 3 (:func:`fenchel_gaps`).

All of these are sums over blocks (:class:`.existence.Block`): a problem in memory is one block, and a release in
partitions has one block per partition (:func:`found_near`). If statements are so nearly dependent that exact arithmetic
distinguishes them but floating point does not, nothing is proved, and the bound is infinite. A value that other rows
determine may be typed rounded, to about nine digits; then the bound refers to rows whose sides are changed by at most
`backward`, relatively. Linear dependence is decided modulo two primes, so that the theorem holds except with a
probability of about 10^-13.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .._utils.formatting import ReprMixin
from .._utils.parallel import LocalExecutor
from .answer import Answer
from .blocks import single_thread
from .costs import PENALTY_ROUNDING, excess
from .duality import exact_residuals, rmatvec_coefficient_error, rmatvec_rounding, with_zeros
from .existence import GROWTH, MOST_BACKWARD, MOST_MOVED, ROUNDED, SMALL, Block, LocalRows, Moved, correct
from .form import Groups, LinearForm, Problem, Settled
from .monitor import check_step
from .parameters import EPS, FEASIBLE_MULTIPLE
from .partitions import OverPartitions, added
from .schur import detect_blocks, newton_system
from .sparse import absolute, entry_rows, split_exactly, with_entries_in

#: Relative distance from a side below which an inequality counts as active, since rounding decides otherwise.
ACTIVE_PLACES = 16 * EPS
#: Relative precision of the values of rows.
VALUE_PLACES = 4 * EPS
#: Rounds of projection; each must halve the residual.
PROJECTION_ROUNDS = 30
#: Relative precision of each round: a low precision costs one more round.
PROJECTION_PRECISION = 0.03
#: Relative ridge of the linear system.
PROJECTION_RIDGE = 1e-10
#: Relative to the tolerance of each row: the largest violation at which a point is first certified without projection.
NEARLY_HOLD = 0.1
#: From this number of equations on, those that repeat others on all open terms are looked for; a small system needs no
#: reduction. A choice, not a measurement.
MANY_ROWS = 100
#: How often inactive inequalities that the certifying point may violate are watched, or treated as active. A choice.
WATCH_ROUNDS = 4
#: Records: smaller counts are set to 0 at the certifying point, which adds as much to the gap.
VANISHED = 1e-18
#: The largest number of entries of soft rows whose values are computed with one rounding, by a loop over the entries.
MOST_ROUNDED_ONCE = 1_000_000
#: Relative: the assumed error of the values and tangents of convex constraints, which CVXPY computes in doubles, and the
#: change that covers their curvature.
CURVATURE = 1e-14
#: Relative to the limit: a constraint this close to its limit may be relaxed to its value, and is reported as moved.
KEPT = 1e-12
#: Records^2 per nat: the largest variance of a row that the certificate treats like an equation. With a larger
#: variance, a residual of 1e-12 records costs less than 5e-13 nats.
STIFF = 1e-12

# Convex constraints in the certificate whose Lagrangian is a cost of soft rows.
#
# Let the constraint be C(x) + g x <= limit, and t its multiplier. The costs t C are those of soft rows, and the weights
# of the objective are w exp(-t g). By weak duality the entropy of the exact solution is at most the dual value of that
# problem plus t limit. So the gap at a point x'' that satisfies the constraint is that of the soft problem plus
#
#     t (limit - C(x'') - g x'').
#
# A constraint with t = 0 adds nothing. If it holds everywhere that the exact solution without it can be, that solution
# is also the exact one with it.


@dataclass(frozen=True, eq=False)
class Allowance:
    """A constraint: the costs of missing rows, plus a linear expression, are at most a limit."""

    rows: LinearForm  # the soft rows
    linear: np.ndarray  # one per term: g, in the unit of the constraint per record
    limit: float  # in the unit of the constraint
    magnitude: float  # the unit of relative violations
    multiplier: float  # t, nats per unit of the constraint
    # The positions of the rows among all rows of the certificate; empty if the costs are not those of soft rows.
    places: np.ndarray
    error: float  # a bound on the rounding error of the limit

    @property
    def terms(self) -> np.ndarray:
        """Mark the terms in the constraint."""
        is_involved = self.linear != 0
        is_involved[self.rows.matrix.indices] = True
        return is_involved

    def met(self, is_exact: np.ndarray) -> np.ndarray:
        """Mark the rows that x'' meets at no cost, given which of all rows it satisfies exactly."""
        penalties = self.rows.penalties
        assert penalties is not None
        can_be_met = (penalties.variance == 0) & ~penalties.is_divergence
        return can_be_met & is_exact[self.places] if len(self.places) else np.zeros_like(can_be_met)

    def left(self, x: np.ndarray, moves: np.ndarray, met: np.ndarray, *, is_movable: bool) -> tuple[float, float]:
        """Return an upper bound on the multiplier times the slack at x'' in nats, and on the relative violation."""
        least, most, rounding = self._spent(x, moves, met)
        slack, beyond = max(self.limit - least, 0.0) + rounding, max(most - self.limit, 0.0)
        if is_movable and max(slack, beyond) <= KEPT * self.magnitude:
            return 0.0, (max(slack, beyond) + rounding) / self.magnitude
        return self.multiplier * slack, beyond / self.magnitude

    def _spent(self, x: np.ndarray, moves: np.ndarray, met: np.ndarray) -> tuple[float, float, float]:
        """Return lower and upper bounds on the left side at x'', and the rounding error."""
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
        # A divergence is least at its target, other costs increase.
        least_at = np.where(penalties.is_divergence, np.clip(penalties.target - missed, -error, error), -error)
        ends = [penalties.cost(np.maximum(missed + shift, 0.0)) for shift in (-error, least_at, error)]
        linear, spread = math.fsum(self.linear * x), float(np.abs(self.linear) @ moves)
        least, most = math.fsum(np.minimum.reduce(ends)), math.fsum(np.maximum.reduce(ends))
        # Sums are rounded once; each cost is a product and quotient of a few numbers, with an error of EPS in its log.
        rounding = self.error + EPS * (abs(self.limit) + 4 * most + 4 * float(np.abs(self.linear) @ x))
        return least + linear - spread, most + linear + spread, rounding


# The duality gap of each group of terms, computed from the gaps of connected components.


@dataclass(frozen=True, eq=False)
class Gaps:
    """Gaps of connected components, each of which satisfies weak duality; convex constraints join their components."""

    of_row: np.ndarray  # the component of every row
    label: np.ndarray  # one per component of hard rows: the component that contains it
    table: Mapping[str, np.ndarray]  # the groups and components of :class:`Found`
    n_components: int

    def joined(self, components: np.ndarray) -> Gaps:
        """Join some components of hard rows."""
        if not len(components):
            return self
        joined = np.unique(self.label[components])
        of_row, label = (np.where(np.isin(of, joined), joined[0], of) for of in (self.of_row, self.label))
        return replace(self, of_row=of_row, label=label)

    def of_groups(self, slack: np.ndarray, gap: np.ndarray) -> np.ndarray:
        """Sum the gaps of all components in which a group has terms, each counted once; records, one per group."""
        size = self.n_components
        total = np.bincount(self.of_row, slack, size) + np.bincount(self.label, gap, size)
        pairs = np.unique(self.table["group"] * np.int64(size) + self.label[self.table["component"]])
        return np.bincount(pairs // size, total[pairs % size], len(self.table["records"]))


# Convex constraints in the certificate: their contribution to the gap, and the components that they join.


class Excess(NamedTuple):
    """The violation of a convex constraint that is represented by cuts."""

    rows: np.ndarray  # the cuts
    terms: np.ndarray  # one per term: whether the constraint involves it
    violation: float  # in the unit of the constraint
    backward: float  # the violation, relative


class ConvexTerms(NamedTuple):
    """The convex constraints of a problem."""

    allowances: Sequence[Allowance] = ()  # constraints whose Lagrangian consists of soft rows of the form
    exceeded: Callable[[np.ndarray], list[Excess]] | None = None  # returns the violations of the other constraints
    temperature: float = 1.0  # the objective of the form, times this, is that of the problem

    def add_to_gap(
        self,
        block: Block,
        off: np.ndarray,
        is_exact: np.ndarray,
        price: np.ndarray,
        slack: np.ndarray,
        gap: np.ndarray,
        gaps: Gaps,
        *,
        is_movable: bool,
    ) -> tuple[Gaps, float]:
        """Add the contributions of the constraints to `slack` and `gap`; return the components, and the largest move.

        x'' differs from the counts of the block by at most `off`, and satisfies exactly the rows in `is_exact`.
        """
        near, of_term, backward = block.near, block.component, 0.0
        of_group = np.unique(block.groups.of_term, return_inverse=True)[1]
        for violated in self.exceeded(near) if self.exceeded else ():
            # The cuts are those of a constraint that is relaxed by the violation at x'', which is computed up to rounding.
            rows = violated.rows
            rounding = CURVATURE * np.maximum(np.abs(block.form.high[rows]), 1.0) / block.form.scale[rows]
            slack[rows] += price[rows] * (violated.violation + rounding)
            backward = max(backward, violated.backward, CURVATURE)
            gaps = gaps.joined(of_term[violated.terms])
        for allowance in (each for each in self.allowances if each.multiplier > 0):
            slack_of_budget, beyond = allowance.left(near, off, allowance.met(is_exact), is_movable=is_movable)
            components = of_term[allowance.terms]
            gap[components[0]] += slack_of_budget
            backward = max(backward, beyond)
            gaps = gaps.joined(components)
        for allowance in (each for each in self.allowances if each.multiplier == 0):
            met = allowance.met(is_exact)
            # The largest distance from x'' to the exact solution without the constraint, by Pinsker's inequality.
            reach = np.sqrt(gaps.of_groups(slack, gap) * gaps.table["records"] / 2)[of_group]
            if allowance.left(near, off + reach, met, is_movable=False)[1] > 0:
                backward = max(backward, allowance.left(near, off, met, is_movable=False)[1])
                gaps = gaps.joined(of_term[allowance.terms])
        return gaps, backward


# Projection onto the feasible set, in a metric weighted by the point itself.


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # if the rows are infeasible
def project(form: LinearForm, x: np.ndarray, fixed: np.ndarray) -> np.ndarray | None:
    """Project x onto the feasible set: minimise sum_j (y_j - x_j)^2 / x_j over the y that satisfy every row.

    In each round, violated and active inequalities are treated as equations: with inequalities the result is feasible,
    but need not be the nearest point. A term that would become negative is fixed at zero. Rounds continue as long as each
    at least halves the largest violation: it is reduced to roundoff, because the certificate multiplies it by multipliers,
    which may be large. Return None if rows remain violated.
    """
    if not np.isfinite(x).all():
        return None
    free = ~fixed
    corrected, (form, order) = form.rows_involving(free), detect_blocks(form)
    corrected, weight, tolerance, system = corrected[order], np.where(free, x, 0.0), form.tolerance, newton_system(form)
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
    return best if (form.residual(best) <= FEASIBLE_MULTIPLE * form.tolerance).all() else None


# Soft rows in the certificate: their gap at a point that satisfies the hard rows exactly.
#
# Let c be the cost of missing a row by r records, c* its conjugate, and m the row's multiplier. For any x'', the row
# adds
#
#     c(r'') + c*(m) - m r''  >=  0    (Fenchel's inequality)
#
# to the duality gap, where r'' is the distance of its value at x'' from the side that the sign of m refers to. Soft
# rows do not restrict x''. But if an absolute error is 0 and m is within its slope, x'' can be required to satisfy the
# row exactly: the gap of that row is then 0 instead of the product of the slope and a rounding error. This is also
# possible if the variance v is tiny, with v m added to the value: a rounding error e of it would cost e^2 / (2 v).


def within_slopes(form: LinearForm, multipliers: np.ndarray) -> np.ndarray:
    """Move the multipliers of soft rows to where the conjugates are finite; those of hard rows do not change."""
    if form.penalties is None:
        return multipliers
    n, clipped = form.n_hard, multipliers.copy()
    clipped[n:] = form.penalties.within(form.project_to_dual_cone(multipliers)[n:])
    return clipped


class Restriction(NamedTuple):
    """The rows that x'' is required to satisfy."""

    whole: LinearForm  # all rows, unchanged
    form: LinearForm  # all rows; rows that do not restrict x'' have infinite sides
    is_soft: np.ndarray  # one per row: whether it does not restrict x''
    # The connected component of every row that restricts x'', and of every term, connected by terms that are not fixed.
    of_row: np.ndarray
    of_term: np.ndarray

    @property
    def n_components(self) -> int:
        """Upper bound on the number of components."""
        return int(max(self.of_row.max(initial=0), self.of_term.max(initial=0))) + 1


def restrictions(form: LinearForm, x: np.ndarray, multipliers: np.ndarray, fixed: np.ndarray) -> Iterator[Restriction]:
    """Yield the rows that x'' may have to satisfy: first with the soft rows that x meets exactly, then without."""
    penalties, is_soft = form.penalties, np.zeros(form.shape[0], dtype=bool)
    if penalties is None:
        yield Restriction(form, form, is_soft, *form.components(~fixed))
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
    # A row that is met may have the largest multiplier, too, if any other change makes it missed.
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
        yield Restriction(form, restricted, missable, component, of_term)


def fenchel_gaps(
    restriction: Restriction, multipliers: np.ndarray, value: np.ndarray, change: np.ndarray, involved: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Bound the gap of each soft row from above, in records, at any x'' whose values differ by at most `change`.

    A row on a linear part of its cost has no gap if its multiplier is the slope, which is known up to rounding; a bound
    on the difference between the slope and the given multiplier is returned, too.
    """
    form, gap, doubt = restriction.whole, np.zeros(len(value)), np.zeros(len(value))
    if form.penalties is None:
        return gap, doubt
    soft, penalties = slice(form.n_hard, None), form.penalties
    low, high, m, missable = form.low[soft], form.high[soft], multipliers[soft], restriction.is_soft[soft]
    beyond = low - value[soft], value[soft] - high
    # These differences are rounded, too.
    error = change[soft] + EPS * np.fmax(*(np.where(np.isfinite(side), np.abs(side), 0.0) for side in beyond))
    with np.errstate(invalid="ignore", divide="ignore"):
        gaps = penalties.fenchel_gap(beyond, error, m)
        doubt[soft] = np.where(missable, penalties.doubt(beyond, error, m), 0.0)
        charged = involved[soft] & (doubt[soft] == 0)
        of_missable = np.where(charged, np.where(np.isnan(gaps), np.inf, gaps), 0.0)
        # x'' satisfies the other rows as typed except for v m, which is rounded when the side is moved by it.
        moved_side = restriction.form.low[soft] - np.where(m < 0, high, low)
        off = np.abs(moved_side + penalties.variance * m) + PENALTY_ROUNDING * penalties.variance * np.abs(m)
        of_exact = np.where(penalties.variance > 0, off**2 / penalties.variance, 0.0)
    gap[soft] = np.where(missable, of_missable, of_exact)
    return gap, doubt


# The generalised Kullback-Leibler divergence between the counts and those of the multipliers, bounded above.


def gaps_of_terms(
    form: LinearForm, x: np.ndarray, multipliers: np.ndarray, doubt: np.ndarray | float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Bound |log(x / y)| and x log(x / y) - x + y for each term; log y of y = w exp(A' m - 1) is exact up to `doubt`.

    With d = log(x / y) the second is x (d - 1 + exp(-d)), about x d^2 / 2, in records. It is not a difference of nearly
    equal numbers, so that roundoff enters only through d; the maximum over the error interval of d is taken.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        exponent, log_x = form.exponent(multipliers), np.log(x)
        # Roundoff of the sum, the weight and the logarithms, a few units in the last place each.
        sizes = 1 + np.abs(exponent) + np.abs(np.log(form.weights)) + np.where(x > 0, np.abs(log_x), 0.0)
        error = rmatvec_rounding(form, multipliers) + rmatvec_coefficient_error(form, multipliers) + 4 * EPS * sizes
        d, error = log_x - exponent, error + doubt
        near = x * np.maximum(excess(d - error), excess(d + error))
        y = np.exp(exponent + error)
        far = x * d - x + y + 2 * error * (x + y)  # nothing cancels, since x and y differ enough
        log_ratio = np.where(x == 0, 0.0, np.abs(d) + error)
        return log_ratio, np.where(x == 0, y, np.where(np.abs(d) < 1, near, far))


#: A probability: an answer counts as optimal if the bound on the error of every P(s | q) is at most this.
ACCURACY = 1e-4
#: A probability: an answer with a larger certified error is improved if possible. With a thousand statements, terms
#: that are known to be zero only up to 1e-11 records make the certified error 1e-7.
PRECISE = 1e-6
#: How often tiny counts that would have to change much are set to 0 at the point where rows hold exactly.
SMALL_ROUNDS = 4


@dataclass(frozen=True)
class Certificate(ReprMixin):
    """A proved bound on the distance of an answer from the maximum-entropy distribution.

    Attributes
    ----------
    residual : float
        Largest violation of a hard row by the answer, in records.
    clipped : float
        Absolute value of the most negative count that the solver returned, in records; it was set to zero.
    moved : float
        Largest change of a count by the projection after which every row holds up to its last places, in records. It
        is 0 if all rows held within 1e-10 of their sides, and infinite if no such point was found. If another point
        certifies the answer, it includes the distance from that point; `gap` is then the gap of the other point.
    gap : float
        Duality gap of the projected answer, in records: sum (x log(x / y) - x + y), with
        y = w exp(A' multipliers - 1), plus the slack of the inequalities times their multipliers and the Fenchel gaps
        of soft rows. It is computed as a sum of non-negative terms, not as a difference of objectives.
    bound : float
        Bound on the error of every P(s | q), a probability: the maximum over q of
        (moved(q) + left(q)) / n(q) + sqrt(gap(q) / (2 n(q))). Here moved(q) is the sum of the changes by the projection
        over the terms of q, gap(q) the gap of the connected components in which q has terms, and left(q) a bound on
        the distance of the projected answer from one that satisfies the rows exactly as typed. If a nearby point has a
        smaller bound, it is that bound plus the changes to that point over the terms of q, relative to n(q).
    forced : int
        Number of terms with only one feasible value: those fixed by presolve, and those proved zero.
    backward : float
        Relative backward error: 0 if the bound refers to the exact solution for the rows as typed, up to the rounding
        of their numbers. Otherwise it refers to rows whose sides are changed by at most this share of their values, or
        of one record if that is more: rows of statements that were typed rounded although other rows determine their
        value, and tangents of convex constraints. It is assumed, and not proved, that the values of convex constraints
        that CVXPY computes have a relative error of at most 1e-14.

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
        """Return the fields as a dictionary.

        Returns
        -------
        dict of str to float
            The values by attribute name.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
        >>> list(mx.MaxEnt(release).solve().certificate.to_dict())
        ['residual', 'clipped', 'moved', 'gap', 'bound', 'forced', 'backward']
        """
        return asdict(self)


# The certificate over blocks: a problem in memory is one block, and each partition of a release is a block.


class Found(NamedTuple):
    """A point x'' where all rows hold exactly: bounds on its distance from x' and on its gap."""

    slack: np.ndarray  # one per shared row: multiplier times distance from its side, or Fenchel gap; records
    gap: np.ndarray  # one per component, records
    # The changes of counts from the answer to x'' by group and component, in records (`moved`), with the group, the
    # component, and the number of records of each group.
    table: dict[str, np.ndarray]
    backward: float
    moved: Sequence[Any]  # handles of the bounds on the changes of counts from x' to x''
    largest_move: float  # from the answer to x', records
    n_fixed: int

    def bound(self, gap_of_groups: np.ndarray, backward: float) -> float:
        """Return the largest bound of a group: changes of counts, plus Pinsker's bound, relative to its records."""
        records = self.table["records"]
        moved = np.bincount(self.table["group"], self.table["moved"], len(records))
        bound = float((moved / records + np.sqrt(gap_of_groups / (2 * records))).max(initial=0.0)) * (1 + 64 * EPS)
        return bound if np.isfinite(bound) and backward <= MOST_BACKWARD else np.inf


def sums_of_rows(block: Block) -> dict[str, np.ndarray]:
    """Return the contributions of one block to the shared rows: A x, a bound on its roundoff, |A| x, and the like."""
    form, near, shared = block.form, block.near, slice(block.n_own, None)
    value, size, entries = form.exact_matvec(near), form.absolute_matvec(near), form.entries
    roundoff = EPS * (entries + 4) * size
    soft = np.arange(form.n_hard, form.shape[0])
    if entries[soft].sum() <= MOST_ROUNDED_ONCE:  # the cost of a soft row is proportional to the roundoff
        value[soft] = exact_residuals(form, near, soft, np.zeros(len(soft)))
        roundoff[soft] = EPS * np.abs(value[soft])
    sums = {
        "value": value, "size": size, "roundoff": roundoff, "mass": form.mass_of_rows(near),
        "widths": form.absolute_matvec(block.settled.width), "entries": entries,
        "open": form.absolute_matvec((~block.settled.fixed).astype(float)),
    }  # fmt: skip
    return {name: of_row[shared] for name, of_row in sums.items()}


def found_near(
    blocks: Sequence[Any],
    restriction: Restriction,
    multipliers: np.ndarray,
    over: OverPartitions,
    watched: np.ndarray | None = None,
    also_active: np.ndarray | None = None,
    rounds: int = WATCH_ROUNDS,
) -> Found:
    """Bound the distance from x', where rows hold up to their last places, to a point x'' where they hold exactly.

    `blocks` are handles of Block, and arrays have one number for each row shared by the blocks. Inactive inequalities
    that x'' may violate according to a first bound are `watched`, that is, checked by a sharper bound; if that does not
    exclude a violation, they are treated as active.
    """
    form, sums = restriction.form, over.total(sums_of_rows, blocks)
    m, value, involved = np.where(restriction.is_soft, 0.0, multipliers), sums["value"], sums["open"] > 0
    rounding = GROWTH * restriction.whole.rounding_of_rows(sums["mass"])
    # Sums over several blocks have one more rounding error per block.
    roundoff = sums["roundoff"] + EPS * (len(blocks) - 1) * sums["size"]
    side_error = rounding + sums["widths"]
    watched, also_active = (np.zeros(len(m), dtype=bool) if rows is None else rows for rows in (watched, also_active))
    # Correct the active rows: from x' to x''.
    at_low, at_high = active_sides(form, value, m, side_error, also_active)
    is_watched = watched & ~(at_low | at_high)
    side, corrected = np.where(at_low, form.low, form.high), involved & (at_low | at_high)
    side = np.where(is_watched, value, side)
    inward = np.where(form.is_equation, 0.0, np.where(at_low, 1.0, -1.0))
    equations = np.flatnonzero((corrected & form.is_equation)[form.n_published :]) + form.n_published
    repeated, contradiction = repeated_rows(blocks, equations, side, rounding + sums["widths"], over)
    local = over.map(
        LocalRows, blocks, common=(corrected & ~repeated | is_watched, side, rounding, 1 / max(len(blocks), 1))
    )
    used, correction = correct(local, side, rounding, inward, is_watched, restriction.of_row, over)
    distance = np.where(is_watched, np.inf, 0.0)  # without a bound unless the correction has one
    distance[correction.rows] = correction.distance
    is_proved = np.isfinite(correction.length)
    moved = over.map(LocalRows.moved, used, common=(np.where(is_proved, correction.length, 0.0),))
    change = over.total(change_of_rows, blocks, moved) * (1 + EPS * (sums["entries"] + 4))
    change = np.where(is_watched, np.minimum(change, distance), change) + side_error + roundoff
    # Check the inactive rows at x''.
    above, below = value - form.low, form.high - value
    with np.errstate(invalid="ignore"):
        # Inactive inequalities that x'' may violate: nothing is proved unless they are watched, or treated as active.
        unproved = involved & ~(at_low | at_high) & ~((above >= change) & (below >= change))
        if unproved.any() and rounds:
            also_active = also_active | (unproved & watched)
            return found_near(blocks, restriction, multipliers, over, watched | unproved, also_active, rounds - 1)
        # Inequalities that x'' satisfies strictly must not violate their other side.
        unproved |= corrected & ~form.is_equation & (form.high - form.low < distance)
        # Rows whose terms are all fixed hold, or are moved to where they do.
        violation = np.where(involved, 0.0, np.maximum(-above, -below) - rounding - roundoff)
        magnitude = np.maximum(np.abs(np.where(np.isfinite(side), side, 0.0)), 1.0)
        backward = max(correction.backward, contradiction, float((violation / magnitude).max(initial=0.0)))
        # Bound the gap: multipliers times distances from the sides, costs of soft rows, and divergences of terms.
        slack = np.where((m > 0) & ~at_low, m * (np.maximum(above, 0) + change), 0.0)
        slack -= np.where((m < 0) & ~at_high, m * (np.maximum(below, 0) + change), 0.0)
        # At x'', rows that are implied by others are off by at most the contradiction between them.
        slack += np.where(corrected, np.abs(m) * distance, 0.0)
    slack[np.isnan(slack) | unproved] = np.inf
    slack[form.is_equation] = 0.0
    of_soft, doubt = fenchel_gaps(restriction, multipliers, value, change, involved)
    shares = over.gather(over.map(share_of, blocks, used, moved, common=(multipliers, doubt, restriction.n_components)))
    total = added([of_block for of_block, _ in shares])
    length = np.zeros(len(total["gap"]))
    length[restriction.of_row[correction.rows]] = correction.length
    # A bound on the square root of sum d^2 / x over the terms of a component, where d are the changes of counts.
    with np.errstate(invalid="ignore"):  # of components where nothing is proved
        spread = np.sqrt(total["of_own"]) + length * total["largest_stretch"]
        gap = total["gap"] + np.fmin(total["moving"], spread * (np.sqrt(total["log_ratio"]) + spread))
    is_failed = total["n_failed"] > 0 or not is_proved.all()
    gap[np.isnan(gap) | is_failed] = np.inf
    return Found(
        slack + of_soft, gap, _table([table for _, table in shares], spread), backward, moved,
        float(total["largest_move"]), int(total["n_fixed"]),
    )  # fmt: skip


def repeated_rows(
    blocks: Sequence[Any], rows: np.ndarray, side: np.ndarray, side_error: np.ndarray, over: OverPartitions
) -> tuple[np.ndarray, float]:
    """Mark equations of knowledge that equal an earlier one on all terms that are not fixed, among the given `rows`.

    They hold where that one does, up to the contradiction between the two, which is relative to the side, and due to
    rounding; its bound is returned, too. Of all associations of a few attributes, most are such rows. Coefficients other
    than 1 and -1 may be rounded, and are left to the general case.
    """
    is_repeated = np.zeros(len(side), dtype=bool)
    if len(rows) < MANY_ROWS:
        return is_repeated, 0.0
    sums = over.total(on_open_and_fixed_terms, blocks, common=(rows,))
    rows, sums = rows[sums["n_other"] == 0], {name: of_row[sums["n_other"] == 0] for name, of_row in sums.items()}
    _, first, of_row = np.unique(sums["hash"], return_index=True, return_inverse=True)
    second = np.flatnonzero(first[of_row] != np.arange(len(rows)))
    first = first[of_row[second]]
    n_different = over.total(different_on_open_terms, blocks, common=(rows[second], rows[first]))
    apart, error = sums["fixed"] - side[rows], sums["error"] + side_error[rows] + EPS * np.abs(side[rows])
    size = np.maximum(np.abs(side[rows]), sums["mass"])
    off = np.abs(apart[second] - apart[first]) - error[second] - error[first]
    is_equal = (n_different == 0) & (off <= ROUNDED * (size[second] + size[first]))
    is_repeated[rows[second[is_equal]]] = True
    magnitude = np.maximum(np.abs(side[rows[second]]), 1.0)
    return is_repeated, float((off / magnitude)[is_equal].max(initial=0.0))


def on_open_and_fixed_terms(block: Block, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return hashes of shared rows on the classes of columns with open terms, and their values on the other classes.

    `n_other` is the number of coefficients that are not 1 or -1, or may be rounded, and `mass` that of all records.
    """
    form, known = block.form, block.form.known
    distinct = known.distinct[rows + block.n_own - form.n_published]
    is_open = known.collect((~block.settled.fixed).astype(float)) > 0
    multiples, rest = split_exactly(np.where(is_open[known.of_term], 0.0, block.near))
    value = distinct @ known.collect(multiples)
    error = EPS * (np.diff(distinct.indptr) + len(multiples)) * (absolute(distinct) @ known.collect(np.abs(rest)))
    other = np.bincount(entry_rows(distinct), np.abs(distinct.data) != 1, len(rows))
    return {
        "hash": distinct @ np.where(is_open, np.random.default_rng(0).uniform(1, 2, len(is_open)), 0.0),
        "fixed": value + distinct @ known.collect(rest), "error": error + EPS * np.abs(value),
        "n_other": other + (form.coefficient_error[rows + block.n_own] != 0), "mass": np.full(len(rows), block.near.sum()),
    }  # fmt: skip


def different_on_open_terms(block: Block, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the number of classes of columns with open terms in which each row differs from another."""
    known, first = block.form.known, block.n_own - block.form.n_published
    is_open = known.collect((~block.settled.fixed).astype(float)) > 0
    difference = with_entries_in(known.distinct[rows + first] - known.distinct[others + first], is_open)
    return np.bincount(entry_rows(difference), difference.data != 0, len(rows))


def active_sides(
    form: LinearForm,
    value: np.ndarray,
    multipliers: np.ndarray,
    side_error: np.ndarray,
    also_active: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Mark the rows that x'' must satisfy with equality, at their low and at their high side; equations at the low one.

    An inequality with a multiplier is active within its feasibility tolerance, one without within roundoff.
    """
    roundoff, tolerance = ACTIVE_PLACES * np.abs(value) + side_error, form.tolerance
    roundoff = np.where(also_active, np.minimum(value - form.low, form.high - value), roundoff)
    above, below = value - form.low, form.high - value
    up, down = multipliers > 0, multipliers < 0
    at_low = form.is_equation | (up & (above <= tolerance)) | (~down & (above <= roundoff))
    return at_low, ~at_low & ((down & (below <= tolerance)) | (below <= roundoff))


def change_of_rows(block: Block, moved: Moved) -> np.ndarray:
    """Return |A| times the moves of the counts of one block, in records, for the shared rows."""
    return block.form.absolute_matvec(moved.moves)[block.n_own :]


def share_of(
    block: Block, local: LocalRows, moved: Moved, multipliers: np.ndarray, doubt: np.ndarray, size: int
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the contribution of one block to the bound; `doubt` bounds the error of A' m, `size` counts components.

    Sums over each component, with y = w exp(A' m - 1): the gap x log(x / y) - x + y, the increase of the gap from x' to
    x'' term by term, x log(x / y)^2, and d^2 / x for the correction by the block's own rows. For each group in a
    component, in records: the changes of counts before x' and from x' to x'', and the number of records.
    """
    form, near, (fixed, width), (q, n_q) = block.form, block.near, block.settled, block.groups
    unsure = form.absolute_rmatvec(np.append(np.zeros(block.n_own), doubt)) if doubt.any() else 0.0
    log_ratio, gap = gaps_of_terms(form, near, np.append(block.multipliers, multipliers), unsure)
    moves, change = moved.moves, np.abs(near - block.counts)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        relative = np.where(moves > 0, moves / near, 0.0)
        of_terms = {
            "gap": np.where(fixed, 0.0, gap), "moving": moves * (log_ratio + relative), "log_ratio": near * log_ratio**2,
            "of_own": np.where(moved.own > 0, moved.own**2 / near, 0.0),
        }  # fmt: skip
    sums: dict[str, Any] = {name: np.bincount(block.component, of_term, size) for name, of_term in of_terms.items()}
    sums["n_failed"] = int(local.failed.sum()) + int((~(relative <= MOST_MOVED)).sum())
    sums["largest_stretch"], sums["largest_move"] = moved.stretch, float(change.max(initial=0.0))
    sums["n_fixed"] = int(fixed.sum())
    pairs, number = np.unique(q * np.int64(size) + block.component, return_inverse=True)
    table = {"group": block.numbers[pairs // size], "component": pairs % size}
    for name, of_term in (("before", change + width), ("moves", moves), ("near", near)):
        table[name] = np.bincount(number, of_term, len(pairs))
    return sums, {**table, "records": n_q[pairs // size]}


def _table(tables: Sequence[dict[str, np.ndarray]], spread: np.ndarray) -> dict[str, np.ndarray]:
    """Merge the tables of all blocks; a group may have terms in several blocks, and groups are renumbered from 0.

    The changes to x'' of a group in a component are bounded term by term, or by the inequality of Cauchy and Schwarz.
    """
    joined = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    _, first, group = np.unique(joined["group"], return_index=True, return_inverse=True)
    pairs, place = np.unique(group * np.int64(len(spread)) + joined["component"], return_inverse=True)
    before, moves, near = (np.bincount(place, joined[name], len(pairs)) for name in ("before", "moves", "near"))
    component = pairs % len(spread)
    with np.errstate(invalid="ignore"):  # fmin ignores NaN
        moved = before + np.fmin(moves, spread[component] * np.sqrt(near))
    group = pairs // len(spread)
    return {"group": group, "component": component, "moved": moved, "records": joined["records"][first]}


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
    settled = fixed, width = with_zeros(form, Settled(fixed, np.where(fixed, width, 0.0)), proofs, x)
    best = replace(uncertified(form, counts), forced=int(fixed.sum()))
    if not np.isfinite(x).all():
        return best
    none, numbers = np.empty(0), np.arange(len(groups.records))
    block = Block(form, 0, x, x, none, settled, none, groups, numbers)
    # Projection takes as long as the rest, and rarely helps if rows already hold up to roundoff. Bounds for the limits
    # as typed come first: a precise one is preferable to a smaller bound for limits that are moved.
    movable = (False, True)[: 1 + bool(convex.allowances)]
    ways = itertools.product(movable, restrictions(form, x, multipliers, fixed), (False, True))
    for is_movable, restriction, is_projected in ways:
        rows = restriction.form
        if not is_projected and not (rows.residual(x) <= NEARLY_HOLD * rows.tolerance).all():
            continue
        best = _better(best, block, restriction, multipliers, convex, is_movable=is_movable, is_projected=is_projected)
        if best.bound <= PRECISE:
            break
    return best


def _better(
    before: Certificate,
    block: Block,
    restriction: Restriction,
    multipliers: np.ndarray,
    convex: ConvexTerms,
    *,
    is_movable: bool,
    is_projected: bool,
) -> Certificate:
    """Return the certificate by a point near x that satisfies the rows, or the earlier one if that is not worse."""
    form, start, (fixed, width) = block.form, block.counts, block.settled
    over = OverPartitions(LocalExecutor(1))
    for _ in range(1 + SMALL_ROUNDS):
        check_step()
        projected = project(restriction.form, start, fixed) if is_projected else start
        if projected is None:
            return before
        near = np.where(projected < VANISHED, 0.0, projected)
        block = replace(block, near=near, component=restriction.of_term)
        check_step()
        found = found_near([block], restriction, multipliers, over)
        moves = found.moved[0].moves
        stuck = ~fixed & (near < SMALL) & ~(moves <= MOST_MOVED * near)
        if not stuck.any():
            break
        # The same rows probably force other counts up to that size to 0. Without those that are stuck now, others would be
        # stuck in the next round: with 30,000 associations of Adult, 241 after 268.
        start = np.where(~fixed & (near <= near[stuck].max()), 0.0, near)
    check_step()
    of_row, of_term = form.components(~fixed)  # soft rows connect their terms, too
    label = np.zeros(restriction.n_components, dtype=np.int64)
    label[restriction.of_term] = of_term
    gaps = Gaps(of_row, label, found.table, int(max(of_row.max(initial=-1), of_term.max(initial=-1))) + 1)
    slack, gap = convex.temperature * found.slack, convex.temperature * found.gap
    gaps, moved_limits = convex.add_to_gap(
        block, moves + width, ~restriction.is_soft, convex.temperature * np.abs(multipliers) * form.scale, slack, gap,
        gaps, is_movable=is_movable,
    )  # fmt: skip
    backward = max(found.backward, moved_limits)
    bound, total = found.bound(gaps.of_groups(slack, gap), backward), float(slack.sum() + gap.sum())
    if bound > before.bound:
        return before
    return replace(before, moved=found.largest_move, gap=total, bound=bound, backward=backward)


def uncertified(form: LinearForm, counts: np.ndarray) -> Certificate:
    """Return a certificate with the residual only, if no bound can be proved."""
    clipped = float(max(0.0, -counts.min(initial=0.0)))
    residual = float(form.residual(np.maximum(counts, 0.0)).max(initial=0.0))
    return Certificate(residual, clipped, np.inf, np.inf, np.inf, 0)


# Multipliers fitted to the counts of an answer, and a bound by a nearby certified point.
#
# The multipliers of a conic solver are often less precise than its counts: an interior-point method that stops early
# does not determine those of nearly active inequalities.
#
# 1. The least-squares solution of sum_j x_j (log(x_j / w_j) + 1 - (A' m)_j)^2 over the equations and the active
#    inequalities fits them to the counts: to first order it minimises the duality gap at x, sum_j x_j d_j^2 / 2.
# 2. Let y be a point with a certificate of its own. Every P(s | q) of x is within the bound of y, plus the distance of
#    x from y relative to the records of q. This certifies counts that are nearly exact but whose gap is too large,
#    since the bound contains the square root of the gap.

#: Rounds of dropping inequalities whose multipliers have the wrong sign.
SIGN_ROUNDS = 10
#: Relative ridge and precision of the least squares; with the ridge, dependent rows share a multiplier.
RIDGE, PRECISION = 1e-12, 1e-12
#: Relative distance from a side below which an inequality may be active at an answer that is not exact.
NEARLY = 1e-5


@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def fitted(form: LinearForm, counts: np.ndarray, multipliers: np.ndarray) -> np.ndarray | None:
    """Fit the multipliers of hard rows to counts; keep those of soft rows. Return None if they cannot be fitted."""
    form, order = detect_blocks(form)
    x, m = np.maximum(counts, 0.0), form.project_to_dual_cone(multipliers[order])
    value, is_hard = form.matvec(x), np.arange(form.shape[0]) < form.n_hard
    close = NEARLY * np.maximum(np.abs(value), 1.0)
    at_low, at_high = is_hard & (value - form.low <= close), is_hard & (form.high - value <= close)
    soft = form.rmatvec(np.where(is_hard, 0.0, m))
    target = np.where(x > 0, np.log(x / form.weights) + 1 - soft, 0.0)
    factor = newton_system(form).at(x, RIDGE)
    active, fit = at_low | at_high, np.zeros(len(m))
    for _ in range(SIGN_ROUNDS):
        # The system requires all published rows; the multipliers of inactive ones are set to 0 afterwards.
        gradient = np.where(active, form.matvec(x * target), 0.0)
        fit = np.where(active, factor.solve(gradient, np.flatnonzero(active[form.n_published :]), PRECISION), 0.0)
        wrong = active & ~form.is_equation & (((fit > 0) & ~at_low) | ((fit < 0) & ~at_high))
        if not wrong.any():
            break
        active &= ~wrong
    fit = form.project_to_dual_cone(np.where(is_hard, fit, m))
    if not np.isfinite(fit).all():
        return None
    return fit[np.argsort(order)]


def by_distance(certificate: Certificate, near: np.ndarray, counts: np.ndarray, problem: Problem) -> Certificate:
    """Certify counts by their distance from others, which have a certificate."""
    (of_term, records), x = problem.groups, np.maximum(counts, 0.0)
    apart = np.abs(x - np.maximum(near, 0.0))
    furthest = float((np.bincount(of_term, apart, len(records)) / records).max(initial=0.0))
    return replace(
        certificate,
        residual=float(problem.form.residual(x).max(initial=0.0)),
        clipped=float(max(0.0, -counts.min(initial=0.0))),
        moved=certificate.moved + float(apart.max(initial=0.0)),
        bound=(certificate.bound + furthest) * (1 + 64 * EPS),
    )


# The result of a solve: an answer with its certificate.


@dataclass(frozen=True, eq=False)
class Solution(ReprMixin):
    """The answer to a problem, with its certificate and the name of the solver.

    Attributes
    ----------
    answer : Answer
        Counts of all terms, in records, and multipliers of all rows.
    certificate : Certificate
        A bound on the error of every P(s | q).
    solver : str
        The solver's name.
    certify_seconds : float
        Seconds spent on the certificate.

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
