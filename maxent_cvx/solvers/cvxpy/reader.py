"""Reading of a cone program as an entropy program, if it is equivalent to one: maximum entropy over linear rows.

With f(u; w) = u log(w / u), a f(u; w) = f(a u; a w). Any sum of a f(u; w) - c' u with a > 0 is therefore a sum of
f(y; v) over y = a u: the logarithms of the weights v = a w exp(-c / a) contain the factors and the linear part.

A cone program is stated in columns z, an entropy program in the heights t and the arguments u of its cones. The columns
are eliminated in three steps. (1) Cones with w = 0 become rows, u = 0 and t <= 0. (2) If t or u is a multiple of one
column, as for entropies of plain variables, that column is renamed. (3) An equation with one remaining column
determines it. So does an inequality, if some optimal solution has the column at this bound because no other row and no
cost prevents it: in |e| <= t <= 1 the column t may be set to 1, and in t <= entr(x) with t maximised it is
entr(x). Columns that no row determines remain as variables without entropy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr, splu
from scipy.special import logsumexp, xlogy

from ..certificate import ACCURACY
from ..linear import LinearProgram
from ..parameters import EPS
from ..sparse import entry_rows, least_by_row, most_by_row
from .mixed import MixedProgram

TINY = np.finfo(float).tiny
#: Relative to the size of the summands of a row: the largest permitted violation of an optimal answer.
RESIDUAL = 1e-7
#: Relative to the summands of its row: what an argument of a logarithm may lack. Without it, Clarabel's answers to 6
#: of 100 random minima of log_sum_exp were refused; one lacked 3e-14 where 1e-18 is needed.
VANISHING = 1e-12
#: Relative to the summands of the objective: the largest permitted gap if the program is not an entropy program.
GAP = 1e-7
#: Share of the largest cost that counts as a summand of the objective, since all others may be 0 at an optimum of 0. It
#: is the cost of a variable of 0.1, and permits a gap of 1e-8 of that cost, as CLARABEL does.
SHARE = 0.1
#: A proof of infeasibility excludes only solutions that are smaller than about 1 / `PROOF` units.
PROOF = 1e-4
#: Rounds of substitution, and the growth of the matrix, after which columns that others define remain variables: of a
#: recursion such as x[1:] == x[:-1] + y, a round determines one column. With 2,000 columns it took 23 s instead of .2.
LONGEST_CHAIN, LARGEST_FILL = 20, 10
#: Largest logarithm of the sum of weights for which y is scaled by it, so that exp does not overflow.
LARGEST_LOG_WEIGHT = 600.0


@dataclass(frozen=True)
class Distance:
    """The relative residuals and gap of an answer, computed from the program's own data.

    Attributes
    ----------
    primal : float
        Largest violation of b - A z in K, over all rows.
    dual : float
        Largest violation of c + A' dual = 0, and of dual in K*.
    gap : float
        The complementarity gap s' dual with slack s = b - A z, as a sum of absolute values: a bound on the distance of
        the objective from its optimum. It is divided by the sum of the entropies' arguments times their factors.
    largest : float
        Largest violation of any row, relative to its own summands or the largest side, and of any dual condition,
        relative to the largest of all their summands. The answer to an infeasible problem may contain numbers of
        1e10, relative to which every violation is small.
    relative_gap : float
        The gap, plus the effect of residuals of the dual conditions, divided by the sum of the absolute values of its
        summands and of those of the objective.
    """

    primal: float
    dual: float
    gap: float
    largest: float = np.inf
    relative_gap: float = np.inf

    @property
    def holds(self) -> bool:
        """Whether an entropy program is solved: at most a share `ACCURACY` of the mass is misplaced (Pinsker)."""
        return max(self.primal, self.dual) <= RESIDUAL and np.sqrt(2 * self.gap) <= ACCURACY

    @property
    def is_optimal(self) -> bool:
        """Whether a program of another kind is solved."""
        return self.largest <= RESIDUAL and self.relative_gap <= GAP

    def __str__(self) -> str:
        return f"relative violations {self.primal:.1e} primal, {self.dual:.1e} dual, gap {self.gap:.1e}"


@dataclass(frozen=True, eq=False)
class ConeProgram:
    """Minimise c' z + z' P z / 2 subject to b - A z in K, a product of zero, non-negative and exponential cones.

    A triple (t, u, w) is in the exponential cone if t <= u log(w / u) and u, w >= 0.
    """

    c: np.ndarray
    A: sp.csr_array
    b: np.ndarray
    n_zero: int  # number of equations, which come first
    n_nonneg: int  # number of inequalities
    n_exp: int  # number of exponential cones
    where: Callable[[int], str]  # returns the name of a column, for messages
    P: sp.csc_array | None = None

    @property
    def linear(self) -> slice:
        """Rows that are equations or inequalities."""
        return slice(0, self.n_zero + self.n_nonneg)

    @cached_property
    def triple(self) -> list[tuple[sp.csr_array, np.ndarray]]:
        """The rows of A and b for t (0), u (1) and w (2) of all exponential cones."""
        first = self.linear.stop
        return [(self.A[first + place :: 3], self.b[first + place :: 3]) for place in range(3)]

    def cones(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the three parts of the values of rows in exponential cones."""
        first = self.linear.stop
        return values[first::3], values[first + 1 :: 3], values[first + 2 :: 3]

    def value(self, z: np.ndarray) -> float:
        """Return the objective at z."""
        return float(self.c @ z) + (0.0 if self.P is None else float(z @ (self.P @ z)) / 2)

    def with_values(self, z: np.ndarray) -> np.ndarray:
        """Move z so that no argument of an entropy is negative, such as -1e-16, where the entropy has no value.

        Plain variables become 0. Other arguments become larger than the rounding errors of their evaluation.
        """
        of_u, sides = self.triple[1]
        length, u = np.diff(of_u.indptr), sides - of_u @ z
        rounding = 2 * EPS * (length + 1) * (abs(of_u) @ np.abs(z) + np.abs(sides))
        is_plain = (length == 1) & (sides == 0)
        if (~is_plain & (u < rounding)).any() and np.isfinite(z).all():
            low = np.flatnonzero(u < rounding)
            change = np.where(is_plain, np.minimum(u, 0.0), u - 2 * rounding)[low]
            unit = np.abs(change).max()  # lsqr stops at absolute tolerances
            z = z + unit * lsqr(of_u[low], change / unit)[0]
        plain = of_u.indptr[:-1][is_plain]
        column = of_u.indices[plain]
        z[column[-of_u.data[plain] * z[column] < 0]] = 0.0
        return z

    @cached_property
    def _sizes(self) -> sp.csr_array:
        """Absolute values of A, with its own index arrays."""
        return sp.csr_array((np.abs(self.A.data), self.A.indices, self.A.indptr), self.A.shape)

    def distance(self, z: np.ndarray, dual: np.ndarray, *, of_entropies: bool = False) -> Distance:
        """Compute the residuals and the gap of an answer, the gap as a sum of non-negative terms.

        The residual of a row is relative to the sum of the absolute values of its summands, including an average
        argument of the entropies: x = 0 holds if x is small compared with other variables. If the answer to an entropy
        program holds, the measures for programs of other kinds are omitted.
        """
        if not (np.isfinite(z).all() and np.isfinite(dual).all()):
            return Distance(np.inf, np.inf, np.inf)
        m, finite, size = self.linear.stop, np.isfinite(self.b), self._sizes
        sides = np.abs(np.where(finite, self.b, 0))
        slack = self.b - self.A @ z
        is_argument = np.zeros(len(z), dtype=bool)
        is_argument[self.triple[1][0].indices] = True
        average = np.abs(z[is_argument]).mean() if is_argument.any() else 0.0
        of_row = size @ np.abs(z) + sides
        scale = of_row + most_by_row(size.data, size) * average + TINY
        (p, q, r), (t, u, w) = self.cones(dual), self.cones(slack)
        sizes = np.abs(dual)
        sizes[m + 1 :: 3] = np.maximum(sizes[m + 1 :: 3], -p)  # log(w / u) - 1 may cancel
        curved = np.zeros(len(z)) if self.P is None else self.P @ z
        gradient = self.c + curved
        balance = np.abs(gradient + self.A.T @ dual)
        balances = np.abs(self.c) + np.abs(curved) + size.T @ sizes + TINY
        finite_slack = np.where(finite, slack, 0.0)
        with np.errstate(over="ignore"):
            gap = np.abs(finite_slack[:m] * dual[:m]).sum() + np.maximum(t * p + u * q + w * r, 0.0).sum()
            relative = gap / (-p @ np.abs(u) + TINY)
        dual_violation = max(float((balance / balances).max(initial=0.0)), self.dual_violation(dual))
        distance = Distance(self._violation(slack, scale), dual_violation, float(relative))
        if of_entropies and distance.holds:
            return distance
        # At a minimum of 0, as of consistent least squares, the derivatives of all terms and rows vanish. Then they are
        # compared with those that the quadratic cost has if its columns change by the largest value.
        far = float(np.abs(z).max(initial=0.0))
        steep = 0.0 if self.P is None else SHARE * far * float(np.abs(self.P.data).max(initial=0.0))
        largest = max(
            self._violation(slack, np.maximum(scale, float(sides.max(initial=0.0)))),
            float(balance.max(initial=0.0) / balances.max(initial=max(steep, TINY))),
            self.outside(dual).max(initial=0.0) / (max(float(np.abs(dual).max(initial=0.0)), steep) + TINY),
        )
        with np.errstate(over="ignore"):
            summands = np.abs(gradient) @ np.abs(z) + (np.abs(finite_slack) + sides) @ np.abs(dual)
            summands += SHARE * np.abs(self.c).max(initial=0.0) + steep * far + TINY
            relative_gap = (gap + balance @ self._reach(size, of_row, z)) / summands
        return replace(distance, largest=float(largest), relative_gap=float(relative_gap))

    def _reach(self, size: sp.csr_array, scale: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return how far each column can move, at least its distance from 0, before it exceeds the other summands.

        A residual of the dual conditions changes the objective by this factor times the residual, in any unit. Rows of
        one column without a side do not bound it.
        """
        length = np.diff(size.indptr)
        shows = np.repeat((length > 1) | (self.b != 0), length)
        reach = np.full(len(z), np.inf)
        np.minimum.at(reach, size.indices[shows], np.repeat(scale, length)[shows] / size.data[shows])
        return np.where(np.isfinite(reach), np.maximum(reach, np.abs(z)), np.abs(z))

    def outside(self, dual: np.ndarray) -> np.ndarray:
        """Return the distances of dual values from K*, in their own unit."""
        p, q, r = self.cones(dual)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            missing = np.where(p < 0, -p * np.exp(q / p - 1) - r, np.maximum(p, np.maximum(-q, -r)))
        return np.concatenate([-dual[self.n_zero : self.linear.stop], np.where(np.isnan(missing), np.inf, missing)])

    def _violation(self, slack: np.ndarray, scale: np.ndarray) -> float:
        """Return the violation of slack in K, relative to scales of the rows."""
        n, m = self.n_zero, self.linear.stop
        (t, u, w), (of_t, of_u, of_w) = self.cones(slack), self.cones(scale)
        u_plus = np.maximum(u, 0.0)
        excess = t - xlogy(u_plus, np.maximum(w, TINY)) + xlogy(u_plus, u_plus)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            missing = np.where(u > 0, u * np.exp(t / u) - w, np.inf)
        # If exp(t / u) is tiny, a w of -1e-14 is feasible up to rounding, although its logarithm is not.
        of_cones = np.where(missing <= VANISHING * of_w, 0.0, excess / (of_t + of_u))
        violation = np.concatenate([np.abs(slack[:n]), -slack[n:m], -u, -w]) / np.concatenate([scale[:m], of_u, of_w])
        return float(max(violation.max(initial=0.0), of_cones.max(initial=0.0)))

    def dual_violation(self, dual: np.ndarray) -> float:
        """Return the relative violation of dual in K*: p < 0 and r >= -p exp(q / p - 1), or p = 0 and q, r >= 0."""
        p, q, r = self.cones(dual)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            outside = np.where(p < 0, 1 - r / (-p * np.exp(q / p - 1)), np.inf)
        outside = np.where((p == 0) & (q >= 0) & (r >= 0), 0.0, outside)
        wrong_sign = -dual[self.n_zero : self.linear.stop] / (np.abs(dual).max(initial=0.0) + TINY)
        return float(max(wrong_sign.max(initial=0.0), outside.max(initial=0.0)))

    def proves_infeasible(self, dual: np.ndarray) -> bool:
        """Return whether dual is in the dual cone, A' dual = 0 and b' dual < 0: then b - A z in K has no solution.

        As z' A' dual <= b' dual for all solutions, a residual of A' dual excludes solutions that are not very large;
        the unit of a column is the largest right-hand side divided by the column's largest coefficient.
        """
        b = np.where(np.isfinite(self.b), self.b, 0.0)
        largest = np.zeros(self.A.shape[1])
        np.maximum.at(largest, self.A.indices, self._sizes.data)
        units = np.abs(b).max(initial=0.0) / np.where(largest > 0, largest, np.inf)
        against = -float(b @ dual)
        is_zero = float(np.abs(self.A.T @ dual) @ units) <= PROOF * against
        outside = self.outside(dual).max(initial=0.0) / (np.abs(dual).max(initial=0.0) or 1.0)
        return bool(against > 0 and is_zero and outside <= RESIDUAL)

    def flat_direction(self) -> np.ndarray:
        """Return the steepest direction in a box along which all cones stay in their linear part: u = 0, t <= 0, w >= 0."""
        (p, q, r), quadratic = self.triple, [] if self.P is None else [sp.csr_array(self.P)]
        below = sp.vstack([self.A[self.n_zero : self.linear.stop], -p[0], r[0]], format="csr")
        rows = sp.csr_array(sp.vstack([below, self.A[: self.n_zero], q[0], *quadratic], format="csr"))
        shift = rows @ np.ones(rows.shape[1])  # of variables that are at least 0
        low = np.where(np.arange(rows.shape[0]) < below.shape[0], -np.inf, shift)
        optimum = LinearProgram(rows, low, shift, upper=2.0).minimum(self.c)
        return optimum.x - 1 if optimum.found else np.zeros(len(self.c))

    def proves_unbounded(self, z: np.ndarray) -> bool:
        """Return whether z is a direction in which the objective decreases without limit and all rows hold."""
        fall = -float(self.c @ z)
        curved = 0.0 if self.P is None else float(np.abs(self.P @ z).max(initial=0.0))
        size = self._sizes @ np.abs(z)
        slack = np.where(np.isfinite(self.b), -(self.A @ z), 0.0)
        off = self._violation(slack, np.full(len(slack), float(size.max(initial=0.0)) + TINY))
        return bool(fall > 0 and curved <= RESIDUAL * fall and off <= RESIDUAL)


class Bounded(NamedTuple):
    """A program with bounds in place of inequalities of one term."""

    program: MixedProgram
    rows: np.ndarray  # the remaining rows
    bounds: np.ndarray  # rows replaced by bounds, the tightest for each side of a term
    terms: np.ndarray  # the term of each of these rows


@dataclass(frozen=True, eq=False)
class EntropyProgram:
    """Maximise entropies over rows M y + N v = or <= r, with the map from y and v to the solution of a cone program."""

    program: ConeProgram
    rows: MixedProgram  # without bounds, in units in which an average y is about 1, as absolute tolerances require
    scale: float  # y in the units of the rows, divided by y in those of the program
    kept: np.ndarray  # the remaining rows of the elimination,
    per_row: np.ndarray  # and the divisor of each
    out: Elimination  # the columns of the program as affine functions of the heights t and the arguments u of the cones
    term: np.ndarray  # the argument of a cone is `share` times the argument of this term
    share: np.ndarray
    weight: np.ndarray  # w of each cone,
    factor: np.ndarray  # and the factor a of its entropy in the objective
    total: np.ndarray  # y of a term divided by its argument: the sum of a times `share` over its cones
    unit: float  # v divided by the variables of the program

    def restore(self, counts: np.ndarray, multipliers: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the solution z of the cone program and the dual value of each of its rows, given those of the rows.

        On the boundary of a cone, t = u log(w / u), the dual value is a (-1, log(w / u) - 1, u / w).
        """
        program, factor = self.program, self.factor
        with np.errstate(over="ignore", invalid="ignore"):
            argument = counts / (self.scale * self.total)
            u = self.share * argument[self.term]
            heights = u * np.log(self.weight) - xlogy(u, u)
            kept = np.concatenate([heights, argument, others / (self.scale * self.unit)])
            z = self.out.constant + self.out.matrix @ kept
            log_argument = self.rows.exponent(multipliers) - np.log(self.scale * self.total)
            log_ratio = np.log(self.weight) - log_argument[self.term] - np.log(self.share)
            dual = np.zeros(len(program.b))
            for part, of_part in zip(
                program.cones(dual), (-factor, factor * (log_ratio - 1), factor * np.exp(-log_ratio)), strict=True
            ):
                part[:] = of_part
            # The rows of the elimination: t of each cone, u of each term, v, then the rows of the program.
            first = len(kept)
            real = self.kept >= first
            dual[self.kept[real] - first] = -multipliers[real] / self.per_row[real]
            if (eliminated := self.out.used >= first).any():
                # Duals of eliminated rows: the reduced cost of a variable that a row determined is 0.
                rows, columns = self.out.used[eliminated] - first, self.out.gives[eliminated]
                missing = -(program.c + program.A.T @ dual)[columns]  # no such column is in a quadratic term
                dual[rows] = splu(sp.csc_matrix(program.A[rows][:, columns].T)).solve(missing)
        return z, dual

    def scaled(self, by: float) -> EntropyProgram:
        """Return the program in other units."""
        rows = replace(
            self.rows, right=self.rows.right * by, log_weights=self.rows.log_weights + np.log(by),
            curvature=sp.csc_array(self.rows.curvature / by),
        )  # fmt: skip
        return replace(self, rows=rows, scale=self.scale * by)

    @cached_property
    def bounded(self) -> Bounded | None:
        """Program with bounds in place of inequalities of one term; None if no y > 0 satisfies them."""
        rows, n_terms = self.rows, self.rows.matrix.shape[1]
        length = np.diff(rows.matrix.indptr)
        single = np.flatnonzero((length == 1) & (np.diff(rows.others.indptr) == 0) & ~rows.is_equation)
        if not len(single):
            return Bounded(rows, np.arange(len(length)), single, single)
        term, a = (part[rows.matrix.indptr[single]] for part in (rows.matrix.indices, rows.matrix.data))
        side, least, most = rows.right[single] / a, np.zeros(n_terms), np.full(n_terms, np.inf)
        above, below = np.flatnonzero(a > 0), np.flatnonzero(a < 0)
        np.minimum.at(most, term[above], side[above])
        np.maximum.at(least, term[below], side[below])
        if (most <= 0).any() or (least > most).any():
            return None
        above, below = (at[np.lexsort((sign * side[at], term[at]))] for at, sign in ((above, 1), (below, -1)))
        tightest = np.concatenate([at[np.unique(term[at], return_index=True)[1]] for at in (above, below)])
        remaining = np.setdiff1d(np.arange(len(length)), single, assume_unique=True)
        program = replace(
            rows, matrix=rows.matrix[remaining], others=rows.others[remaining], right=rows.right[remaining],
            is_equation=rows.is_equation[remaining], least=least, most=most,
        )  # fmt: skip
        return Bounded(program, remaining, single[tightest], term[tightest])

    def multipliers(self, bounded: Bounded, counts: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """Return multipliers of all rows, given those of the rows that are not bounds: log y minus the exponent."""
        of_rows = np.zeros(len(self.rows.right))
        of_rows[bounded.rows] = multipliers
        if len(bounded.bounds):
            terms, at = bounded.terms, bounded.bounds
            a = self.rows.matrix.data[self.rows.matrix.indptr[at]]
            with np.errstate(divide="ignore"):
                of_single = (np.log(counts[terms]) - bounded.program.exponent(multipliers)[terms]) / a
            of_rows[at] = np.where((counts[terms] == self.rows.right[at] / a) & (of_single < 0), of_single, 0.0)
        return of_rows


def read(program: ConeProgram) -> EntropyProgram | None:
    """Read a cone program as an entropy program; return None if it is not equivalent to one.

    It is one if every w is a positive constant, and every height t has a negative cost and is in no constraint.
    """
    of_w, weight = program.triple[2]
    if of_w.nnz or not program.n_exp or (weight <= 0).any():
        return None
    term, share, first, per = _terms(program)
    n_cones, n_terms = len(term), len(first)
    n_kept = n_cones + n_terms
    heights, arguments = program.triple[0], program.triple[1]
    of_arguments = arguments[0][first] if n_terms < n_cones else arguments[0].copy()
    of_arguments.data /= np.repeat(per, np.diff(of_arguments.indptr))
    ties = sp.vstack([heights[0], of_arguments], format="csr"), np.concatenate([heights[1], arguments[1][first] / per])
    out, number, others = _eliminate(program, ties)
    factor = -out.cost[:n_cones]
    if len(out.unbounded) or (factor <= 0).any() or (out.rows.indices < n_cones).any():
        return None
    total = np.bincount(term, factor * share, n_terms)
    mean = np.bincount(term, factor * share * (np.log(weight) - np.log(share)), n_terms)
    log_v = np.log(total) + (mean - out.cost[n_cones:n_kept]) / total
    unit = float(total.mean())  # scales variables without entropy like y
    per_term = np.concatenate([np.ones(n_cones), total, np.full(len(others), unit)])
    data = out.rows.data if (total == 1).all() else out.rows.data / per_term[out.rows.indices]
    matrix = sp.csr_array((data, out.rows.indices - n_cones, out.rows.indptr), (len(out.right), n_terms + len(others)))
    is_equation = number < n_kept + len(others) + program.n_zero
    matrix, right, kept, per_row = _rows(matrix, out.right, is_equation, n_terms)
    P = sp.csc_array((len(others), len(others))) if program.P is None else program.P[others][:, others]
    of_terms = matrix[:, :n_terms] if len(others) else matrix
    of_others = matrix[:, n_terms:] if len(others) else sp.csr_array((len(right), 0))
    rows = MixedProgram(
        of_terms, right, is_equation[kept], log_v, sp.csr_array(of_others), out.cost[n_kept:] / unit,
        sp.csc_array(P / unit**2),
    )  # fmt: skip
    unscaled = EntropyProgram(program, rows, 1.0, number[kept], per_row, out, term, share, weight, factor, total, unit)
    return unscaled.scaled(1 / _average(rows))


def _average(rows: MixedProgram) -> float:
    """Estimate the average y: if all y were equal, the value that satisfies the equations best, if it is positive."""
    n_terms = rows.matrix.shape[1]
    sums = (rows.matrix @ np.ones(n_terms))[rows.is_equation]
    if (of_equations := float(sums @ rows.right[rows.is_equation])) > 0:
        return of_equations / float(sums @ sums)
    largest = np.abs(rows.right).max(initial=0.0)
    return (largest or np.exp(min(float(logsumexp(rows.log_weights)) - 1, LARGEST_LOG_WEIGHT))) / n_terms


def _eliminate(
    program: ConeProgram, ties: tuple[sp.csr_array, np.ndarray]
) -> tuple[Elimination, np.ndarray, np.ndarray]:
    """Eliminate all columns except those in quadratic terms and those that no row determines, which are returned."""
    n_rows, n_columns = program.linear.stop, program.A.shape[1]
    right, ends = program.b[program.linear].copy(), program.A.indptr[: n_rows + 1]
    linear = sp.csr_array((program.A.data[: ends[-1]], program.A.indices[: ends[-1]], ends), (n_rows, n_columns))
    if (unconstrained := right == np.inf).any():
        right[unconstrained] = 0.0
        linear = sp.csr_array(sp.diags_array(~unconstrained * 1.0) @ linear)
        linear.eliminate_zeros()
    others = np.empty(0, dtype=np.int64) if program.P is None else np.unique(program.P.indices)
    while True:
        n_others, tied = len(others), ties
        if n_others:
            definitions = sp.csr_array((-np.ones(n_others), (np.arange(n_others), others)), shape=(n_others, n_columns))
            tied = sp.vstack([ties[0], definitions], format="csr"), np.append(ties[1], np.zeros(n_others))
        out, number = _eliminate_columns(tied, (linear, right), program.c, program.n_zero)
        if not len(out.left):
            return out, number, others
        others = np.union1d(others, out.left)


def _terms(program: ConeProgram) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Find the cones whose arguments are multiples of one column, and therefore belong to one term.

    Return, for each cone, its term and the factor of its argument in that column; for each term, one of its cones and
    the factor of that. Other arguments have a term of their own.
    """
    matrix, constant = program.triple[1]
    n = len(constant)
    is_multiple = (np.diff(matrix.indptr) == 1) & (constant == 0)
    multiple, key = np.ones(n), np.arange(n) + matrix.shape[1]
    multiple[is_multiple] = -matrix.data[matrix.indptr[:-1][is_multiple]]
    is_multiple &= multiple > 0
    multiple[~is_multiple] = 1.0
    key[is_multiple] = matrix.indices[matrix.indptr[:-1][is_multiple]]
    _, first, term = np.unique(key, return_index=True, return_inverse=True)
    return term, multiple, first, multiple[first]


def _rows(
    matrix: sp.csr_array, right: np.ndarray, is_equation: np.ndarray, n_terms: int
) -> tuple[sp.csr_array, np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows, each divided by its largest coefficient, without those that hold for any y > 0."""
    most, least = most_by_row(matrix.data, matrix), least_by_row(matrix.data, matrix)
    largest = np.maximum(most, np.where(least < np.inf, -least, 0.0))
    empty = largest == 0
    if matrix.shape[1] > n_terms:
        most[np.bincount(entry_rows(matrix), matrix.indices >= n_terms, len(most)) > 0] = np.inf
    always_holds = np.where(is_equation, empty & (right == 0), (most <= 0) & (right >= 0))
    kept = np.flatnonzero(~always_holds)
    per_row = np.where(empty, 1.0, largest)[kept]
    rows = matrix[kept] if len(kept) < len(right) else matrix
    if not (per_row == 1).all():
        data = rows.data / np.repeat(per_row, np.diff(rows.indptr))
        rows = sp.csr_array((data, rows.indices, rows.indptr), rows.shape)
    return rows, right[kept] / per_row, kept, per_row


@dataclass(frozen=True, eq=False)
class WithoutZeros:
    """A program without cones with w = 0, and the map to the dual values of the original program."""

    program: ConeProgram
    source: np.ndarray  # one per row: the corresponding row of the original program
    sign: np.ndarray  # 1, or -1 for a row t <= 0, whose slack is -t
    flat: np.ndarray  # the first row of each of these cones in the original program
    zeros: np.ndarray  # columns that are 0, since the argument of such a cone is a multiple

    def restore(self, z: np.ndarray, dual: np.ndarray, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the solution and the dual values of the original program; those of w are free, and minimal in K*."""
        z, multipliers = z.copy(), np.zeros(n_rows)
        z[self.zeros] = 0.0  # interior-point methods leave 1e-17, where kl_div is infinite
        multipliers[self.source] = self.sign * dual
        p, q = multipliers[self.flat], multipliers[self.flat + 1]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            multipliers[self.flat + 2] = np.where(p < 0, -p * np.exp(q / p - 1), 0.0)
        return z, multipliers


def without_zero_references(program: ConeProgram) -> WithoutZeros | None:
    """Replace cones with w = 0 by u = 0 and t <= 0; return None if there are none."""
    of_w, w = program.triple[2]
    is_flat = (np.diff(of_w.indptr) == 0) & (w == 0)
    if not is_flat.any():
        return None
    first = program.linear.stop + 3 * np.arange(program.n_exp)
    flat, others = first[is_flat], first[~is_flat]
    kept = (others[:, None] + np.arange(3)).ravel()
    # The rows u = 0 come first, because a variable is eliminated by the first of several equations.
    equations, inequalities = np.split(np.arange(program.linear.stop), [program.n_zero])
    source = np.concatenate([flat + 1, equations, inequalities, flat, kept])
    sign = np.ones(len(source))
    n_zero, n_nonneg = program.n_zero + len(flat), program.n_nonneg + len(flat)
    sign[n_zero + program.n_nonneg : n_zero + n_nonneg] = -1.0
    A = sp.csr_array(sp.diags_array(sign) @ program.A[source])
    smaller = replace(program, A=A, b=sign * program.b[source], n_zero=n_zero, n_nonneg=n_nonneg, n_exp=len(others))
    of_u, u = (part[is_flat] for part in program.triple[1])
    zeros = of_u.indices[of_u.indptr[:-1][(np.diff(of_u.indptr) == 1) & (u == 0)]]
    return WithoutZeros(smaller, source, sign, flat, zeros)


@dataclass(frozen=True, eq=False)
class Elimination:
    """Rows and objective over the kept variables, and the eliminated variables as ``constant + matrix @ kept``."""

    rows: sp.csr_array  # rows @ kept is equal to, or at most, `right`; a row that determined a variable is empty
    right: np.ndarray
    cost: np.ndarray
    matrix: sp.csr_array
    constant: np.ndarray
    used: np.ndarray  # rows that determined a variable,
    gives: np.ndarray  # and the variable, numbered among the variables that are not kept
    left: np.ndarray  # variables that no row determines
    unbounded: np.ndarray  # variables in no row that have a cost


def _eliminate_columns(
    ties: tuple[sp.csr_array, np.ndarray], linear: tuple[sp.csr_array, np.ndarray], cost: np.ndarray, n_zero: int
) -> tuple[Elimination, np.ndarray]:
    """Eliminate all columns z from the rows of a program; ties k + B z = d define the kept variables k.

    The first tie with only one column renames that column, at little cost. The other ties and the rows of the program
    are eliminated as equations. For each row of the result, return its number, first among the ties and then among the
    rows of the program.
    """
    of_ties, sides = ties
    n_kept, n_columns = of_ties.shape
    # The first tie with this column alone renames it: column = constant + factor * kept variable.
    single = np.flatnonzero(np.diff(of_ties.indptr) == 1)
    column, first = np.unique(of_ties.indices[of_ties.indptr[single]], return_index=True)
    tie = single[first]
    is_named, is_open = np.zeros(n_columns, dtype=bool), np.ones(n_kept, dtype=bool)
    is_named[column], is_open[tie] = True, False
    unnamed = np.flatnonzero(~is_named)
    name, factor, constant = np.empty(n_columns, of_ties.indices.dtype), np.ones(n_columns), np.zeros(n_columns)
    per = of_ties.data[of_ties.indptr[tie]]
    name[column], factor[column], constant[column] = tie, -1 / per, sides[tie] / per
    name[unnamed] = n_kept + np.arange(len(unnamed))

    def renamed(rows: sp.csr_array, right: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
        data = rows.data if (factor == 1).all() else rows.data * factor[rows.indices]
        shape = (rows.shape[0], n_kept + len(unnamed))
        constants = rows @ constant if constant.any() else 0.0
        return sp.csr_array((data, name[rows.indices], rows.indptr), shape), right - constants

    rows, right = renamed(*linear)
    costs = np.bincount(name, cost * factor, rows.shape[1])
    open_ties = np.flatnonzero(is_open)
    number = np.concatenate([open_ties, n_kept + np.arange(rows.shape[0])])
    if len(open_ties):
        tied, tied_right = renamed(of_ties[open_ties], sides[open_ties])
        definitions = sp.csr_array((np.ones(len(open_ties)), (np.arange(len(open_ties)), open_ties)), tied.shape)
        rows, right = sp.vstack([tied + definitions, rows], format="csr"), np.concatenate([tied_right, right])
    ends = np.concatenate([[0], np.cumsum(is_named)]).astype(name.dtype)
    matrix = sp.csr_array((factor[is_named], name[is_named], ends), shape=(n_columns, n_kept))
    if not len(unnamed):
        none = np.empty(0, dtype=np.int64)
        return Elimination(rows, right, costs, matrix, constant, none, none, none, none), number
    eliminated = eliminate(rows, right, costs, n_kept, len(open_ties) + n_zero)
    of_left = (eliminated.matrix.data, (unnamed[entry_rows(eliminated.matrix)], eliminated.matrix.indices))
    constant[unnamed] = eliminated.constant
    return replace(
        eliminated, matrix=sp.csr_array(matrix + sp.csr_array(of_left, shape=matrix.shape)), constant=constant,
        used=number[eliminated.used], gives=unnamed[eliminated.gives], left=unnamed[eliminated.left],
        unbounded=unnamed[eliminated.unbounded],
    ), number  # fmt: skip


def eliminate(rows: sp.csr_array, right: np.ndarray, cost: np.ndarray, n_kept: int, n_equations: int) -> Elimination:
    """Eliminate all variables except the first `n_kept` from ``rows @ (kept, others)`` = or <= `right`.

    The objective is to minimise `cost`. Equations come first. If two rows determine a variable, the first is used.
    """
    n_rows, n_others = rows.shape[0], rows.shape[1] - n_kept
    work = sp.csr_array(sp.vstack([rows, sp.csr_array(cost[None, :])], format="csr"))  # the objective is the last row
    right, undetermined, none = np.append(right, 0.0), np.ones(n_others, dtype=bool), np.empty(0, dtype=np.int64)
    pivot_rows, used, solved, constants = [none], [none], [], []
    most = LARGEST_FILL * work.nnz
    while undetermined.any() and len(used) <= LONGEST_CHAIN and work.nnz <= most:
        others = np.flatnonzero(undetermined)
        among = work[:, n_kept + others]
        row, at = _pivots(among[:n_rows], among[[n_rows]].toarray().ravel(), n_equations)
        if not len(row):
            break
        pivot, column = np.asarray(among[row, at]).ravel(), others[at]
        giving, value = work[row], right[row]
        share = work[:, n_kept + column]
        share.data /= pivot[share.indices]
        work = work - share @ giving  # which makes the giving rows exactly 0
        right = right - share @ value
        solved.append(giving[:, :n_kept])
        solved[-1].data /= -np.repeat(pivot, np.diff(solved[-1].indptr))
        constants.append(value / pivot)
        pivot_rows.append(column)
        used.append(row)
        undetermined[column] = False
    others = np.flatnonzero(undetermined)
    of_others = work[:, n_kept + others]
    touched = np.bincount(of_others[:n_rows].indices, minlength=len(others)) > 0
    has_cost = of_others[[n_rows]].toarray().ravel() != 0
    gives = np.concatenate(pivot_rows)
    # Variables in no row and without a cost are set to 0; they are the first of the others.
    order = np.argsort(np.concatenate([gives, others[~touched & ~has_cost], others[touched | has_cost]]))
    matrix = sp.csr_array(sp.vstack([*solved, sp.csr_array((len(others), n_kept))], format="csr")[order])
    constant = np.concatenate([*constants, np.zeros(len(others))])[order]
    kept = work[:, :n_kept]
    return Elimination(
        kept[:n_rows], right[:n_rows], kept[[n_rows]].toarray().ravel(), matrix, constant, np.concatenate(used), gives,
        others[touched], others[~touched & has_cost],
    )  # fmt: skip


def _pivots(among: sp.csr_array, costs: np.ndarray, n_equations: int) -> tuple[np.ndarray, np.ndarray]:
    """Choose rows with one remaining variable, and that variable; no row or variable is chosen twice."""
    is_single = np.diff(among.indptr) == 1
    single = np.flatnonzero(is_single)
    column, first = np.unique(among.indices[among.indptr[single]], return_index=True)
    row = single[first]  # the first row that determines a variable
    if (exact := row < n_equations).any():
        return row[exact], column[exact]
    # If no equation determines a variable, an inequality does if the variable is in no equation, no other inequality
    # bounds it on that side, and its cost, if any, moves it there.
    entries = among.tocoo()
    above = np.bincount(entries.col, entries.data > 0, among.shape[1])
    below = np.bincount(entries.col, entries.data < 0, among.shape[1])
    tied = np.bincount(entries.col, entries.row < n_equations, among.shape[1]) > 0
    up, down = (above == 1) & (costs <= 0) & ~tied, (below == 1) & (costs >= 0) & ~tied
    bounds = is_single[entries.row] & np.where(entries.data > 0, up[entries.col], down[entries.col])
    column, first = np.unique(entries.col[bounds], return_index=True)
    return entries.row[bounds][first], column
