"""Explanations: rows that contradict each other, rows that force terms to zero, and the shadow price of each row.

Contradictions. An irreducible infeasible subsystem (IIS) is a set of rows that are infeasible together, and feasible
without any one of them. The elastic relaxation (least sum of violations) decides feasibility up to the tolerance of
each row, and its dual solution d, a Farkas certificate, ranks the rows: d'(sides) exceeds every d'A x with x >= 0.
Bisection (QuickXplain) reduces the first rows of that order to an IIS. HiGHS computes an IIS as well, but with one
tolerance for all rows, whereas rows here may be violated by the rounding error of their own numbers.

Forcing. Rows force terms to zero if they contradict the supposition that these terms have some records; the IIS of that
contradiction is the reason.

Multipliers. If x = w exp(A'm - 1), the least-squares solution m of A'm = log(x / w) + 1 over the positive terms
contains the multiplier of every row, also of rows that presolve removed. The derivative of the maximum of
sum x log(w / x) with respect to the side of a row is -m, its shadow price.

References
----------
Chinneck, J. W. (2008). Feasibility and Infeasibility in Optimization. Springer.
Junker, U. (2004). QuickXplain: preferred explanations and relaxations for over-constrained problems. AAAI, 167-172.
Lawson, C. L. and Hanson, R. J. (1974). Solving Least Squares Problems. Prentice-Hall.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import Inaccurate, Infeasible, NotDecided, SolverError
from .aggregate import aggregate
from .answer import Answer, Status
from .backends import remedy as option_remedy
from .blocks import single_thread
from .certificate import Certificate
from .duality import empty_terms, proved_violation
from .form import LinearForm, Problem
from .linear import elastic_relaxation, linear_bounds
from .monitor import DIAGNOSIS, Monitor, check_time, diagnosing, seconds_left
from .newton import newton
from .parameters import FEASIBLE, FEASIBLE_MULTIPLE
from .presolve import LEAST_MOVE, reduce, term_bounds
from .proofs import rationalised
from .schur import detect_blocks, newton_system
from .sparse import entry_rows

#: The largest number of statements in the text of an error.
MOST_NAMED = 5
#: The most precise solver.
NEWTON = "DUAL_NEWTON"
#: Multiple of a row's tolerance: larger contradictions are not due to rounding in presolve.
CLEAR = 1e3
#: Records: the supposed total of terms that must be zero; the contradiction to this gives the reason for the zeros.
SUPPOSED = 1e-2
#: The largest set of rows whose other implied zeros are examined, with one problem of about 10 ms per row.
LARGEST_SET = 50
#: Largest difference between the logarithm of a count and its value according to the multipliers.
PRECISE_LOG = 1e-5
#: Rounds of dropping inequalities whose multipliers have the wrong sign.
SIGN_ROUNDS = 20
#: Rounds of iterative refinement of a least-squares solution, its relative precision, and its relative ridge.
REFINEMENTS, LEAST_SQUARES, RIDGE = 5, 1e-10, 1e-12
#: The largest product of terms and squared rows for which dense least squares take less than a second.
MOST_DENSE = 1e8
#: Records: terms with less are examined, since they may be zero.
SMALL_COUNT = 1e-6
#: Relative: smaller components of a direction are rounding errors.
NOTHING = 1e-6
#: Relative to the size of a row: a smaller remainder means that the hard constraints determine its value.
DETERMINED = 1e-9
#: Relative error of what remains of rows without their parts along published rows.
REMAINDERS = 1e-10


@dataclass(frozen=True, eq=False)
class Conflict:
    """An IIS: rows of knowledge that, with the hard constraints, are infeasible, and feasible without any one of them."""

    rows: np.ndarray
    # One line per row, by name: its sides `low` and `high` as typed, the `least` and the `most` value that it can
    # have subject to the hard constraints and the other rows, and the distance `move` between the two ranges, all in
    # the unit of the row as typed.
    table: pd.DataFrame
    # Whether the rows are published rows, of releases that contradict each other, instead of knowledge.
    is_published: bool = False
    remedies: tuple[str, ...] = ("correct it, or remove it",)  # possible remedies, without repetitions

    @property
    def error(self) -> Infeasible:
        """Return the error to raise, with the table as its `conflict`."""
        moves = []
        for name, row in self.table.head(MOST_NAMED).iterrows():
            if not row["move"] > 0:
                moves.append(repr(name))
                continue
            end = row["most"] if row["most"] < row["low"] else row["least"]
            # Distinguishes the new value, and a statement with this value holds: rounding to nine digits is accepted.
            digits = max(10, 4 - math.floor(math.log10(row["move"])))
            moves.append(f"{name!r} to {end:.{digits}g} (by {row['move']:.6g})")
        n, clash, what = len(self.table), "the knowledge contradicts the published data or itself", "statement"
        if self.is_published:
            clash, what = "the published data contradict each other", "row"
        who = f"one {what}" if n == 1 else f"one of these {n} {what}s"
        remedy = "; or ".join(self.remedies)
        error = Infeasible(
            f"{clash}: {who} must change, {', or '.join(moves)}{f', ... ({n} in all)' * (n > MOST_NAMED)}. "
            f"{remedy[0].upper()}{remedy[1:]}"
        )
        error.conflict = self.table
        return error


@single_thread
def conflict(problem: Problem, multiple: float = FEASIBLE_MULTIPLE) -> Conflict | None:
    """Find an IIS among the rows of knowledge; return None if all rows can hold together.

    Contradictions that can be explained by the rounding of numbers are ignored. If the published rows contradict each
    other, as those of several releases can, the IIS consists of published rows.
    """
    form = problem.form
    try:
        rows = find_iis(problem.with_rows(form.within_rounding), multiple)
    except Infeasible:  # the hard constraints contradict each other
        rows = None
    if rows is not None:
        return _described(form, rows)
    if not np.isnan(problem.closed_form.counts).any():  # the closed form satisfies the published rows
        return None
    published = problem.with_rows(form.select_knowledge(np.empty(0, dtype=int))).relax_published()
    rows = find_iis(published, multiple)
    return None if rows is None else replace(_described(published.form, rows), is_published=True)


def _described(form: LinearForm, rows: np.ndarray) -> Conflict:
    """Describe an IIS; remedies for statements come before remedies for a prior."""
    remedies = dict.fromkeys(form.remedy(row) for row in np.sort(rows)[::-1].tolist())
    return Conflict(rows, _table(form, rows), remedies=tuple(remedies))


def find_iis(problem: Problem, multiple: float = FEASIBLE_MULTIPLE) -> np.ndarray | None:
    """Find an irreducible infeasible subsystem among the rows of knowledge; return None if all rows can hold together.

    Hard constraints are never part of it.

    The Farkas certificate of the elastic relaxation ranks the rows by the size of their multipliers. The first 1, 2, 4,
    ... rows are tried until they are infeasible, and reduced to an irreducible subsystem by bisection (QuickXplain;
    Junker, 2004). With few rows of knowledge most terms are interchangeable, so that each trial is a small problem
    after aggregation.
    """
    form = problem.form

    def infeasible(rows: np.ndarray) -> bool:
        return _infeasible(problem.with_rows(form.select_knowledge(rows)), multiple)

    aggregation = aggregate(form)
    relaxation = elastic_relaxation(aggregation.form)
    if not (relaxation.off > multiple * aggregation.form.tolerance).any():
        return None
    if not proved_violation(aggregation.form, relaxation.direction) > 0:  # within HiGHS's tolerances, nothing is proved
        return None
    strength = np.abs(relaxation.direction[aggregation.row])
    known = np.arange(form.n_facts, form.shape[0])
    order = known[np.argsort(-strength[known], kind="stable")]
    n = 1
    while n < len(order) and not infeasible(order[:n]):
        n *= 2

    return irreducible(infeasible, order[:0], order[:n])


def irreducible(infeasible: Callable[[np.ndarray], bool], given: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Reduce items to those needed for infeasibility with the given items, which are feasible without them."""
    if len(items) == 1:
        return items
    first, last = np.array_split(items, 2)
    more = np.append(given, first)
    of_last = last[:0] if infeasible(more) else irreducible(infeasible, more, last)
    if len(of_last) and infeasible(with_last := np.append(given, of_last)):
        return of_last
    return np.append(irreducible(infeasible, with_last if len(of_last) else given, first), of_last)


def _infeasible(problem: Problem, multiple: float) -> bool:
    """Return whether no x >= 0 satisfies the rows up to their tolerances."""
    try:
        smaller = aggregate(reduce(problem).restricted).form
        off = elastic_relaxation(smaller).off
        if not (off > CLEAR * smaller.tolerance).any() and off.any():
            # Terms fixed by presolve are only as precise as their bounds: decide with the problem before presolve.
            smaller = aggregate(problem.form).form
            off = elastic_relaxation(smaller).off
    except Infeasible:
        return True
    return bool((off > multiple * smaller.tolerance).any())


def _table(form: LinearForm, rows: np.ndarray) -> pd.DataFrame:
    """Tabulate the sides of each row of an IIS, and its range subject to the other rows; the largest moves first."""
    rows = np.sort(rows)
    ranges = np.column_stack([form.low[rows], form.high[rows], [_range(form, row, rows[rows != row]) for row in rows]])
    ranges = (ranges + form.shift[rows, None]) / form.scale[rows, None] + 0.0  # in the units of the rows as typed
    table = pd.DataFrame(ranges, columns=["low", "high", "least", "most"])
    table["move"] = np.maximum(table["least"] - table["high"], table["low"] - table["most"])
    table.index = pd.Index([form.name(row) for row in rows], name="statement")
    # Moves that are equal up to rounding are in the order of the rows.
    return table.sort_values("move", ascending=False, kind="stable", key=lambda move: move.round(9))


def _range(form: LinearForm, row: int, others: np.ndarray) -> tuple[float, float]:
    """Return the least and largest value of a row, in records, subject to hard and other rows; NaN if not found."""
    selected, place = form.select_knowledge(np.append(others, row)), form.n_facts + int((others < row).sum())
    low, high = selected.low.copy(), selected.high.copy()
    low[place], high[place] = -np.inf, np.inf
    aggregation = aggregate(replace(selected, low=low, high=high))
    row = int(aggregation.row[place])
    objective = aggregation.form.rows(np.array([row])).toarray().ravel()
    try:
        return linear_bounds(aggregation.form.select(np.arange(aggregation.form.shape[0]) != row), objective)
    except NotDecided:  # the time limit was reached
        raise
    except (Infeasible, SolverError):  # the other rows are infeasible as well, within tolerances
        return np.nan, np.nan


def contradiction(problem: Problem) -> Infeasible | None:
    """Return an irreducible contradiction of the knowledge as an error; None if the knowledge is consistent."""
    proved = conflict(problem.hard, multiple=1)  # strict, since a usually tolerated contradiction made the solve fail
    return None if proved is None else proved.error


def failure(
    problem: Problem, name: str, answer: Answer, certificate: Certificate | None, stopped: str = ""
) -> SolverError | Infeasible:
    """Return the error for a missing certified answer: contradictory knowledge, or a solver that failed."""
    if stopped:
        return _interrupted(name, answer, certificate, stopped)
    # If no feasible point was found near the answer, the rows may be infeasible.
    maybe_infeasible, proved, consistent = certificate is None or not np.isfinite(certificate.bound), None, ""
    if maybe_infeasible:
        with diagnosing() as undecided:
            proved = contradiction(problem)
        if undecided:
            consistent = f"whether the knowledge is consistent was not decided in {DIAGNOSIS:g} seconds"
    if proved is not None:
        return proved
    if certificate is None and answer.status is Status.INFEASIBLE and problem.convex:
        return SolverError(
            f"{name} reports that no distribution satisfies the convex constraints together with the other rows, but "
            "this was not proved, and the linear rows alone are consistent; relax a constraint, or use another solver"
        )
    if certificate is None:
        return SolverError(
            f"{name} found no answer ({answer.message}), and {consistent or 'the knowledge is consistent'}; "
            f"{option_remedy(name, answer)}, or use another solver (see maxent_cvx.solvers.available())"
        )
    options = option_remedy(name, answer)
    remedy = f"rewrite the statements with numbers of similar size, {options}"
    if not np.isfinite(certificate.bound):
        remedy = (
            "statements may be nearly dependent, or contradict each other in their last digits: remove one of them, "
            f"{remedy}"
        )
    if problem.convex:
        remedy = f"write linear constraints as linear rows, {options}"
    elif name != NEWTON:
        remedy = f"{options}, use polish=True, or {NEWTON}, which is more precise"
    elif answer.status is Status.LIMIT:
        remedy = "allow more iterations"
    return Inaccurate(
        f"{name} stopped with {answer.message!r}, and the answer is not certified: {certificate}"
        f"{consistent and f'; {consistent}'}. {remedy[0].upper()}{remedy[1:]}, or pass allow_inaccurate=True"
    )


def _interrupted(name: str, answer: Answer, certificate: Certificate | None, stopped: str) -> SolverError:
    """Return the error of a solve that was stopped by a time limit or a callback."""
    if certificate is None:
        return SolverError(
            f"{name} was stopped {stopped} before it had an answer ({answer.message}); allow more time, or use "
            f"{NEWTON}, which has an answer at any time"
        )
    unknown = "" if np.isfinite(certificate.bound) else "; whether the knowledge is consistent was not examined"
    return Inaccurate(
        f"{name} was stopped {stopped}, after {answer.iterations} iterations, and the answer is not certified: "
        f"{certificate}{unknown}. Allow more time, or pass allow_inaccurate=True"
    )


def zeros_by_bounds(form: LinearForm, rows: np.ndarray, n_records: float) -> Iterator[tuple[int, np.ndarray]]:
    """Yield, for each row of knowledge, the terms that bound propagation of it and the hard constraints proves zero."""
    for row in rows[_may_tighten(form, rows, n_records)]:
        try:
            selected = form.select_knowledge(np.array([row]))
            upper = term_bounds(selected, n_records)[1]
        except Infeasible:
            continue
        yield int(row), upper <= FEASIBLE * selected.count_scale


def _may_tighten(form: LinearForm, rows: np.ndarray, n_records: float) -> np.ndarray:
    """Mark the rows that tighten any bound obtained by propagation of the hard constraints.

    A row that tightens no bound does not change the result of propagation. Most vague or common probabilities are such
    rows. The slack of a row is compared with the widest term of each column; half the smallest move is a margin for
    rounding errors, by which propagation only widens bounds.
    """
    hard = form.select_knowledge(np.empty(0, dtype=int))
    try:
        lower, upper = term_bounds(hard, n_records)
    except Infeasible:
        return np.ones(len(rows), dtype=bool)
    if (upper <= FEASIBLE * hard.count_scale).any():  # then zeros are proved with any row
        return np.ones(len(rows), dtype=bool)
    known, at = form.known, rows - form.n_published
    width, distinct = np.zeros(known.distinct.shape[1]), known.distinct[at]
    positive, negative = distinct.maximum(0), distinct.minimum(0)
    below, above = known.collect(lower), known.collect(upper)
    low, high = positive @ below + negative @ above, positive @ above + negative @ below
    np.maximum.at(width, known.of_term, upper - lower)
    scale = np.full(len(width), np.inf)
    np.minimum.at(scale, known.of_term, form.count_scale)
    slack = np.maximum(np.minimum(form.high[rows] - low, high - form.low[rows]), 0.0)
    row, least_move = entry_rows(distinct), LEAST_MOVE * scale[distinct.indices] / 2
    tightens = np.abs(distinct.data) * (width[distinct.indices] - least_move) > slack[row]
    return np.bincount(row, tightens, len(rows)) > 0


def forcing_rows(problem: Problem, terms: np.ndarray) -> np.ndarray | None:
    """Find an irreducible set of rows of knowledge that, with the hard constraints, force the given terms to zero.

    If rows force the terms to zero, they contradict the supposition that the terms have ``SUPPOSED`` records in total;
    an IIS of this contradiction is an irreducible set that forces them. Its Farkas certificate is then a direction that
    proves the terms zero, which is verified from the raw rows. The converse does not hold: rows that only force the
    terms below ``SUPPOSED`` contradict the supposition as well, and may be found instead. In that case rows are removed
    one by one, as long as the certificate of a linear program still proves the terms zero.
    """
    form = problem.form
    supposed = _with_supposition(form, terms, hard=True)
    iis = find_iis(problem.with_rows(supposed))
    if iis is None:
        return None
    rows = np.sort(iis) - 1
    aggregation = aggregate(supposed.select_knowledge(rows + 1))
    direction = elastic_relaxation(aggregation.form).direction[aggregation.row]
    proof = _proof(form.select_knowledge(rows), terms, direction, form.n_facts)
    return _irreducible(form, terms) if proof is None else rows


def _irreducible(form: LinearForm, terms: np.ndarray) -> np.ndarray | None:
    """Find an irreducible set of rows of knowledge that force terms to zero, by deletion; None without a proof."""
    rows = _needed(form, terms, np.arange(form.n_facts, form.shape[0]))
    if rows is None:
        return None
    for row in rows:
        if row in rows:  # it may have been dropped with an earlier row
            fewer = _needed(form, terms, rows[rows != row])
            rows = rows if fewer is None else fewer
    return rows


def _needed(form: LinearForm, terms: np.ndarray, rows: np.ndarray) -> np.ndarray | None:
    """Return the rows of knowledge with nonzero multipliers in a proof that terms are zero; None without a proof.

    The proof is the certificate of an elastic relaxation in which only the supposition is relaxed.
    """
    selected = form.select_knowledge(rows)
    last = selected.shape[0]
    aggregation = aggregate(_with_supposition(selected, terms, hard=False))
    price = np.append(np.full(len(rows), np.inf), 1.0)
    try:
        direction = elastic_relaxation(aggregation.form, price).direction[aggregation.row]
    except NotDecided:  # the time limit was reached
        raise
    except (Infeasible, SolverError):  # the rows are feasible only within their tolerances
        return None
    proof = _proof(selected, terms, direction, last)
    return None if proof is None else rows[proof[form.n_facts :] != 0]


def _proof(form: LinearForm, terms: np.ndarray, direction: np.ndarray, place: int) -> np.ndarray | None:
    """Return a direction that proves terms zero, given the Farkas certificate of a contradiction; None if it fails."""
    multiplier = direction[place]
    if not multiplier > 0:
        return None
    proof = rationalised(np.delete(direction, place) / multiplier)
    nothing_fixed = np.zeros(form.shape[1], dtype=bool)
    return proof if empty_terms(form, proof, nothing_fixed, np.zeros(form.shape[1]))[terms].all() else None


def _with_supposition(form: LinearForm, terms: np.ndarray, *, hard: bool) -> LinearForm:
    """Add the row that the terms have ``SUPPOSED`` records, as the last hard row or as the last row of all."""
    place = form.n_facts if hard else form.shape[0]
    row, matrix = sp.csr_array(terms.astype(float)[None]), form.matrix
    coefficients = sp.csr_array(sp.vstack([matrix[:place], row, matrix[place:]], format="csr"))
    of_row = {"low": SUPPOSED, "high": np.inf, "scale": 1.0, "shift": 0.0, "side_error": 0.0, "coefficient_error": 0.0}
    arrays: dict[str, Any] = {name: np.insert(getattr(form, name), place, value) for name, value in of_row.items()}
    return replace(form, coefficients=coefficients, n_facts=form.n_facts + hard, **arrays)


class Support(NamedTuple):
    """Terms that given rows force to zero, and a point that satisfies the rows."""

    is_zero: np.ndarray  # one per term: whether it is proved zero
    counts: np.ndarray  # records of a point that satisfies the rows


class ForcingSets:
    """Irreducible sets of rows of knowledge.

    The maximum-entropy problem of a few rows is small after aggregation. Its solution is positive for every term that
    can be, and directions of its multipliers prove that the other terms are zero. One problem for a set, and one
    without each of its rows, therefore decide for all terms whether the set forces them to zero irreducibly.
    """

    def __init__(self, form: LinearForm) -> None:
        self.form = form
        self.found: list[np.ndarray] = []
        self._support = cache(self._solved)

    def add(self, rows: np.ndarray) -> None:
        """Add a set, unless it is known or has more than ``LARGEST_SET`` rows."""
        if len(rows) <= LARGEST_SET and not any(np.array_equal(rows, other) for other in self.found):
            self.found.append(rows)

    def forcing(self, terms: np.ndarray) -> np.ndarray | None:
        """Return a set that forces the given terms to zero and is irreducible; None if no such set is known.

        Problems are solved when they are first needed.
        """
        for rows in self.found:
            support = self._support(tuple(rows))
            if support is not None and support.is_zero[terms].all() and self._needs_each(rows, terms):
                return rows
        return None

    def _needs_each(self, rows: np.ndarray, terms: np.ndarray) -> bool:
        """Return whether the terms can have records after removal of any one row of a set."""
        fewer = (self._support(tuple(rows[rows != row])) for row in rows)
        return all(answer is not None and answer.counts[terms].sum() > SUPPOSED for answer in fewer)

    def _solved(self, rows: tuple[int, ...]) -> Support | None:
        """Solve the maximum-entropy problem of the given rows; None if it has no answer."""
        form = self.form.select_knowledge(np.array(rows, dtype=int))
        aggregation = aggregate(form)
        answer = newton(aggregation.form, monitor=Monitor(time_limit=seconds_left()))
        check_time()
        if answer.status is not Status.OPTIMAL or answer.counts is None:
            return None
        counts, is_zero = aggregation.counts(answer.counts), np.zeros(form.shape[1], dtype=bool)
        if (form.residual(counts) > FEASIBLE_MULTIPLE * form.tolerance).any():
            return None
        for proof in answer.proofs:
            is_zero |= empty_terms(form, proof[aggregation.row], is_zero, np.zeros(len(is_zero)))
        return Support(is_zero, counts)


@single_thread
def multipliers_from_counts(form: LinearForm, counts: np.ndarray, exponent: np.ndarray | float = 0.0) -> np.ndarray:
    """Find multipliers m with x = w exp(A' m + exponent - 1) where x > 0; they are infinite for rows that force zeros.

    m is the minimum-norm least-squares solution of A' m = log(x / w) + 1 - exponent over the terms with x > 0. Inequalities that
    are inactive, or whose multiplier has the wrong sign, get 0. If that leaves a residual, inequalities are added again
    one by one; among identical rows, one may then have the whole multiplier.
    """
    candidates, (form, order) = ~determined(form), detect_blocks(form)  # published inequalities may be inactive, too
    m = np.empty(len(order))
    m[order] = _multipliers(form, counts, exponent, candidates[order])
    return m


def multipliers_beside(form: LinearForm, counts: np.ndarray, soft: np.ndarray) -> np.ndarray:
    """Return the multipliers of all rows, given those of the soft rows."""
    multipliers = np.concatenate([np.zeros(form.n_hard), soft])
    multipliers[: form.n_hard] = multipliers_from_counts(form.hard, counts, form.rmatvec(multipliers))
    return multipliers


def determined(form: LinearForm) -> np.ndarray:
    """Mark rows of knowledge whose value the hard constraints determine: linear combinations of their equations.

    A row is such a combination if and only if it is orthogonal to all x with E x = 0, where E are the equations. It is
    tested against one random x of this kind, to which any other row is orthogonal with probability 0.
    """
    is_determined = np.zeros(form.shape[0], dtype=bool)
    equations = form.select(np.flatnonzero(form.is_equation[: form.n_facts]))
    if not equations.shape[0] or form.n_facts == form.shape[0]:
        return is_determined
    x = np.random.default_rng(0).uniform(1, 2, form.shape[1])
    others = np.arange(equations.shape[0] - equations.n_published)
    factor = newton_system(equations).at(np.ones(len(x)), RIDGE)
    for _ in range(REFINEMENTS):
        x = x - equations.rmatvec(factor.solve(equations.matvec(x), others, LEAST_SQUARES))
    determined = np.abs(form.matvec(x)) <= DETERMINED * form.absolute_matvec(np.ones(len(x)))
    is_determined[form.n_facts :] = determined[form.n_facts :]
    return is_determined


def _multipliers(
    form: LinearForm, counts: np.ndarray, exponent: np.ndarray | float, candidates: np.ndarray
) -> np.ndarray:
    """Return :func:`multipliers_from_counts` with multipliers for the candidate rows only."""
    value = form.exact_matvec(counts)
    at_low, at_high = value <= form.low + form.tolerance, value >= form.high - form.tolerance
    tight = replace(form, low=np.where(at_low, form.low, form.high), high=np.where(at_low, form.low, form.high))

    def with_signs(multipliers: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Find multipliers of active rows, removing inequalities whose multiplier has the wrong sign until none has."""
        active = (at_low | at_high) & candidates
        for _ in range(SIGN_ROUNDS):
            m = multipliers(active)
            wrong = active & ~form.is_equation & (((m > NOTHING) & ~at_low) | ((m < -NOTHING) & ~at_high))
            if not wrong.any():
                break
            active = active & ~wrong
        return m

    if ((counts > 0) & (counts < SMALL_COUNT)).any():  # an inexact solution has small counts for forced zeros
        direction = with_signs(lambda active: _zero_proof(tight, counts, active))
        zero = counts == 0
        counts = np.where(empty_terms(form, direction, zero, np.zeros(len(counts))), 0.0, counts)
    positive = counts > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        target = np.where(positive, np.log(counts / form.weights) + 1 - exponent, np.nan)
    m = with_signs(lambda active: _finite_multipliers(form, target, active))
    if np.abs(_residual(form, target, m)).max(initial=0.0) > PRECISE_LOG:
        m = _with_rows_added(form, target, m, at_low & candidates, at_high & candidates)
        if np.abs(_residual(form, target, m)).max(initial=0.0) > PRECISE_LOG:
            return np.full(form.shape[0], np.nan)
    if positive.all():
        return m
    support = positive.astype(float)
    forces = with_signs(lambda active: _zero_proof(tight, support, active))
    return np.where(forces != 0, np.copysign(np.inf, forces), m)


def _finite_multipliers(form: LinearForm, target: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Return the minimum-norm least-squares solution over the positive terms; `target` is NaN for all others."""
    is_positive = ~np.isnan(target)
    m, positive, rows = np.zeros(form.shape[0]), np.flatnonzero(is_positive), np.flatnonzero(active)
    if len(positive) * len(rows) ** 2 <= MOST_DENSE:  # with a ridge, redundant rows share less exactly
        matrix, right = form.matrix[rows][:, positive].toarray().T, target[positive]
        is_known = rows >= form.n_facts
        apart, size, _ = _apart(matrix[:, ~is_known], matrix[:, is_known])
        m[rows[is_known]] = np.linalg.lstsq(apart / size, right, rcond=REMAINDERS)[0] / size
        rest = right - matrix[:, is_known] @ m[rows[is_known]]
        m[rows[~is_known]] = np.linalg.lstsq(matrix[:, ~is_known], rest, rcond=None)[0]
        plain = np.linalg.lstsq(matrix, right, rcond=None)[0]
        if np.linalg.norm(right - matrix @ m[rows]) > np.linalg.norm(right - matrix @ plain) + PRECISE_LOG:
            m[rows] = plain  # remainders so small that they are mostly rounding errors
        return m
    known = np.flatnonzero(active[form.n_published :])
    factor = newton_system(form).at(is_positive.astype(float), RIDGE)
    for _ in range(REFINEMENTS):
        gradient = np.where(active, form.matvec(_residual(form, target, m)), 0.0)
        m = m + factor.solve(gradient, known, LEAST_SQUARES)
    return m


def _apart(published: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return columns of knowledge without their parts along published columns, their sizes, and the multiples.

    Multipliers of such columns, divided by their sizes, do not depend on the multiples of published rows that were
    subtracted before. The size is infinite if nothing is left.
    """
    multiples = np.linalg.lstsq(published, known, rcond=None)[0]
    apart = known - published @ multiples
    size = np.linalg.norm(apart, axis=0)
    return apart, np.where(size > DETERMINED * np.linalg.norm(known, axis=0), size, np.inf), multiples


def _residual(form: LinearForm, target: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Compute the target minus A' m for positive terms, and 0 for other terms."""
    return np.where(np.isnan(target), 0.0, target - form.rmatvec(m))


def _with_rows_added(
    form: LinearForm, target: np.ndarray, m: np.ndarray, at_low: np.ndarray, at_high: np.ndarray
) -> np.ndarray:
    """Reduce the residual of multipliers with the right signs by adding inequalities to the active rows.

    Of mutually dependent inequalities, :func:`_multipliers` may remove more than necessary. The one with the largest
    gradient is added, as by Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23); where a sign would
    become wrong, the step ends and the row is removed.
    """
    active = (m != 0) | (form.is_equation & (at_low | at_high))
    for _ in range(SIGN_ROUNDS):
        gradient = form.matvec(_residual(form, target, m))
        gradient = np.where(
            active, 0.0, np.where(at_low, np.maximum(gradient, 0), 0) - np.where(at_high, np.minimum(gradient, 0), 0)
        )
        if not gradient.max(initial=0.0) > PRECISE_LOG:
            break
        active[gradient.argmax()] = True
        while True:
            step = _finite_multipliers(form, target, active) - m
            beyond = m + step
            wrong = active & ~form.is_equation & (((beyond > 0) & ~at_low) | ((beyond < 0) & ~at_high))
            if not wrong.any():
                m = beyond
                break
            share = np.divide(-m, step, out=np.zeros(len(m)), where=wrong & (step != 0))
            first = np.flatnonzero(wrong)[share[wrong].argmin()]
            m = m + share[first] * step
            m[first], active[first] = 0.0, False
    return m


#: Records: smaller terms may be zero.
SMALL = 1e-6
#: Weight of small terms in the least squares of facial reduction; terms that must not change have weight 1.
WEIGHT = 1e-5
#: A small term that the direction lowers by less, instead of by 1, is no longer a candidate.
LOWERED = 0.3
#: Relative: a candidate must be lowered by more than 1 plus this.
ENOUGH = 1e-6
#: Rounds of facial reduction, with fewer and fewer candidates; least-squares solutions in each round; and corrections
#: of the change of other terms in each of these.
ROUNDS, STEPS, REPAIRS = 20, 5, 3
#: Relative precision of its least-squares solutions, and their relative ridge.
FACIAL_PRECISION, FACIAL_RIDGE = 1e-8, 1e-14


def facial_reduction(form: LinearForm, counts: np.ndarray) -> np.ndarray:
    """Find a direction d with (A' d)_j < 0 for as many small terms as possible, and (A' d)_j = 0 for all other terms.

    It is the least-squares solution of

        min  v sum over small terms max((A' d)_j + 1, 0)^2  +  sum over all other terms (A' d)_j^2

    with the weight v = ``WEIGHT``; 0 for inequalities, and everywhere if there is none. Small terms that d hardly lowers
    are moved to the other terms, and the problem is solved again, until d lowers all remaining small terms. `counts`
    may be imprecise. The solutions lie on a face of the orthant (Borwein and Wolkowicz, 1981).

    A term may be lowered by more than 1, because a row may lower one term much more than another.
    """
    system, is_small = newton_system(form), counts < SMALL
    equations = np.flatnonzero(form.is_equation[form.n_published :])

    def solution(weights: np.ndarray, aim: np.ndarray) -> np.ndarray:
        """Return the least-squares solution of (A' d)_j = aim_j."""
        right = np.where(form.is_equation, form.matvec(weights * aim), 0.0)
        return system.at(weights, FACIAL_RIDGE).solve(right, equations, FACIAL_PRECISION)

    for _ in range(ROUNDS):
        if not is_small.any():
            break
        short = is_small  # the terms with nonzero squares
        for _ in range(STEPS):
            direction = solution(np.where(is_small, WEIGHT * short, 1.0), np.where(short, -1.0, 0.0))
            for _ in range(REPAIRS):
                direction = direction - solution(np.where(is_small, 0.0, 1.0), form.rmatvec(direction))
            change = form.rmatvec(direction)
            lowered = is_small & (change < -LOWERED)
            if np.array_equal(lowered, is_small):
                return direction
            last, short = short, is_small & (change > -1 - ENOUGH)
            if np.array_equal(last, short):
                break
        is_small = lowered
    return np.zeros(form.shape[0])


def _zero_proof(form: LinearForm, counts: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Return a direction of the multipliers that proves nearly zero terms zero; its largest component is 1 or -1."""
    direction, chosen = np.zeros(form.shape[0]), form.select(active)
    if form.shape[1] * chosen.shape[0] ** 2 <= MOST_DENSE and chosen.shape[0] > chosen.n_facts:
        matrix, n = chosen.matrix.toarray(), chosen.n_facts
        # Without their parts along published rows, rows of knowledge give the same proof in memory and in partitions.
        apart, size, multiples = _apart(matrix[:n].T, matrix[n:].T)
        rows = sp.csr_array(np.vstack([matrix[:n], (apart / size).T]))
        of_rows = facial_reduction(replace(chosen, coefficients=rows), counts)
        of_rows[n:] /= size
        of_rows[:n] -= multiples @ of_rows[n:]
        direction[active] = of_rows
    else:
        direction[active] = facial_reduction(chosen, counts)
    direction /= max(np.abs(direction).max(initial=0.0), NOTHING)
    return np.where(np.abs(direction) > NOTHING, direction, 0.0)
