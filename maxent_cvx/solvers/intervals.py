r"""The least and the largest values of linear expressions over the feasible set, implied by the rows alone.

:func:`bounds` presolves, and splits the remaining problem into independent components. The bounds of every term (bound
propagation) give outer bounds of each expression. They are proved, and exact if some feasible point attains them. Such
points are found in this order.

1. *Closed form.* In buckets with published rows only, the caller provides the bounds of rectangles.
2. *One interior point.* Let a bucket contain n people, n_i with the QI tuple of a count and n_j with its sensitive
   value. If the count is X, and the rest is spread in proportion to the numbers n_i' and n_j' of the other QI tuples
   and values, all published rows of the bucket hold:
       (i, j): X          (i, j'): (n_i - X) n_j' / (n - n_j)          (i', j): (n_j - X) n_i' / (n - n_i)
                          (i', j'): (n - n_i - n_j + X) n_i' n_j' / ((n - n_i) (n - n_j))

   The rows of knowledge K then change by r. All other buckets compensate this: their counts become x (1 + B'y), where
   x > 0 is the maximum-entropy point, B is K minus its projection onto the published rows in the metric of x, and
   S y = -r with the Schur complement S = B diag(x) B' over these other buckets. No count is negative if
   \|B_t'y\| <= 1 for every term t. S is formed once, over all buckets. Without the changed buckets it is at least
   (1 - rho) S, where rho is the sum of the leverages x_t \|S^-1/2 B_t\|^2 of their terms, so that

       \|B_t'y\| <= \|B_t'S^-1 r\| + rho / (1 - rho) \|S^-1/2 B_t\| \|S^-1/2 r\|
                <= \|S^-1/2 B_t\| \|S^-1/2 r\| / (1 - rho).

   The first bound is evaluated for the terms with large \|S^-1/2 B_t\|, the second for all others together. Where it is
   largest, as for counts of nearly 0, counts are not changed.
3. *Linear programs.* Components are independent, so that one program answers one question per component. As long as it
   is efficient, the objective is a sum of many expressions with open ends and random weights: its optimum attains many
   of the proved bounds (filtering, in optimization-based bound tightening). The remaining expressions are solved one by
   one, from the basis of the previous program, and proved by weak duality.

References
----------
Gleixner, A. M., Berthold, T., Mueller, B. and Weltge, S. (2017). Three enhancements for optimization-based bound
tightening. Journal of Global Optimization 67, 731-757.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .._utils.errors import Infeasible
from .answer import Status
from .attempts import MUCH_KNOWLEDGE, presolved
from .blocks import BucketInverse, single_thread
from .duality import dual_bounds, error_of_sides
from .explain import conflict, contradiction
from .form import LinearForm, Problem
from .linear import GAP, LARGE, Minima, integer_bounds, linear_bounds, settle_integers
from .monitor import Monitor, check_time, seconds_left, within
from .newton import newton
from .parameters import FEASIBLE_MULTIPLE
from .presolve import Reduced, fix_implied, remaining, term_bounds
from .schur import schur_complement
from .sparse import entry_rows, most_by_row

#: The largest number of expressions of a component that have their own linear programs from the start.
FEW = 2
#: The largest number of rows of knowledge for which the eigenvalues of their Schur complement take seconds.
MOST_ROWS = 2_000
#: The smallest number of ends for which one interior point takes less time than linear programs.
FEWEST_ENDS = 100
#: The number of terms whose moves are evaluated separately; all others have a common bound.
STEEP = 2_000
#: Ends that are decided together: 16 MB per hundred rows of knowledge.
BATCH = 10_000
#: Numbers that are computed together for all terms, 32 MB; with fewer than 64 for each of 60,000 terms it takes longer.
OF_TERMS = 4_000_000
#: Relative to the diagonal of the published rows of a bucket, one of which is redundant.
RIDGE = 1e-12
#: Relative to the largest eigenvalue of the Schur complement: smaller ones indicate redundant knowledge.
RANGE = 1e-9
#: Share of the terms whose counts may be changed, those with the smallest changes.
MOVED = 0.999
#: The largest relative change of a count: less than 1, so that rounding errors do not matter.
MOST_MOVE = 0.9
#: Records: a change outside the range of redundant rows of knowledge that is still within rounding.
LOST = 1e-8


class Ends(NamedTuple):
    """The least and the largest values, both arrays of shape (2, expressions)."""

    value: np.ndarray  # proved outer bounds
    is_exact: np.ndarray  # whether the value is attained


@single_thread
def bounds(
    problem: Problem,
    expressions: sp.csr_array,
    *,
    is_rectangle: np.ndarray | None = None,
    of_rectangles: Callable[[np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray]] | None = None,
    integer: bool = False,
    exact: bool | None = True,
    seconds: float = math.inf,
    answered: Callable[[int], None] = lambda ends: None,
) -> Ends:
    """Find the least and the largest value of linear expressions over every x that satisfies the hard rows.

    `is_rectangle` marks the expressions that are multiples of a sum of terms that, in every bucket, are all
    combinations of some QI tuples and some values. Given terms, the rectangle of each, and the number of rectangles,
    `of_rectangles` returns the least and the largest sum of each over the published rows of its buckets. If `exact` is
    True all ends must be attained; if it is None, those of components of less than ``LARGE`` terms. `seconds` is the
    limit for all linear programs together, presolve included, or for each integer program. `answered` is called with
    the number of newly known ends.
    """
    problem = problem.hard  # soft rows do not restrict the feasible set

    def bounds_of(problem: Problem) -> Ends:
        form = problem.form
        # Redundant rows do not affect HiGHS, and nothing is aggregated. With much knowledge, linear programs over the
        # knowledge alone find further zeros.
        has_much = form.shape[0] - form.n_facts >= MUCH_KNOWLEDGE
        reduced = presolved(problem) if has_much else fix_implied(problem)
        reduced = settle_integers(reduced) if integer else reduced
        fixed = np.where(reduced.fixed, reduced.counts, 0.0), np.where(reduced.fixed, reduced.width, 0.0)
        value = expressions @ fixed[0] + np.outer([-1.0, 1.0], abs(expressions) @ fixed[1])
        is_open = ~reduced.fixed[expressions.indices]
        if is_rectangle is not None and of_rectangles is not None:
            is_closed = without_knowledge(problem, reduced)[expressions.indices]
            is_closed &= is_rectangle[entry_rows(expressions)]
            value, is_open = value + _in_closed_form(expressions, is_closed, of_rectangles), is_open & ~is_closed
        ends = np.concatenate([[0], np.cumsum(is_open)])[expressions.indptr]
        rest = sp.csr_array((expressions.data[is_open], expressions.indices[is_open], ends), shape=expressions.shape)
        open_ = np.flatnonzero(np.diff(rest.indptr) > 0)
        answered(2 * (rest.shape[0] - len(open_)))
        is_exact = np.ones(value.shape, dtype=bool)
        if not len(open_):
            return Ends(value, is_exact)
        # The rest of the problem: the components of the open terms; the other terms are fixed up to their widths.
        component = form.components(~reduced.fixed)[1]
        free = ~reduced.fixed & np.isin(component, component[rest.indices])
        error = form.absolute_matvec(fixed[1])
        smaller = remaining(form, free, form.rows_involving(free), form.matvec(fixed[0]), error)
        columns = sp.csr_array(rest[open_][:, np.flatnonzero(free)])
        if integer:
            for at, row in enumerate(open_):
                value[:, row] += integer_bounds(smaller, columns[[at]].toarray().ravel(), seconds)
                answered(2)
            return Ends(value, is_exact)
        largest = LARGE if exact is None else math.inf if exact else 0
        of_rest = many_bounds(smaller, columns, problem.n_records, answered, largest=largest)
        value[:, open_] += of_rest.value
        is_exact[:, open_] = of_rest.is_exact
        return Ends(value, is_exact)

    with within(math.inf if integer else seconds):
        try:
            return bounds_of(problem)
        except Infeasible as error:
            contradicted = error
    if (proved := conflict(problem)) is not None:
        raise proved.error from None
    # Operations on nearly dependent rows magnified rounding errors, or a value that other rows determine is rounded.
    form = problem.form
    shift = np.where(np.arange(form.shape[0]) < form.n_facts, 0.0, FEASIBLE_MULTIPLE * form.tolerance)
    widened = problem.with_rows(replace(form, low=form.low - shift, high=form.high + shift))
    for other in () if integer else filter(None, (problem.as_typed, widened)):
        with within(seconds), suppress(Infeasible):
            return bounds_of(other)
    raise contradiction(problem) or contradicted from None


def without_knowledge(problem: Problem, reduced: Reduced) -> np.ndarray:
    """Mark the terms of buckets with published rows only, for which there is a closed form.

    If presolve has fixed a term of a bucket, rows of knowledge affect the bucket.
    """
    bucket = problem.form.bucket[1]
    involved = problem.form.known.touched | reduced.fixed | np.isnan(problem.closed_form.counts)
    return (np.bincount(bucket, involved) == 0)[bucket]


def _in_closed_form(
    expressions: sp.csr_array,
    is_closed: np.ndarray,
    of_rectangles: Callable[[np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray]],
) -> np.ndarray:
    """Return the contributions of the marked entries, equal within each row, to the least and the largest values."""
    n = expressions.shape[0]
    if not is_closed.any():
        return np.zeros((2, n))
    row, coefficient = entry_rows(expressions)[is_closed], np.zeros(n)
    coefficient[row] = expressions.data[is_closed]
    return np.sort(coefficient * np.stack(of_rectangles(expressions.indices[is_closed], row, n)), axis=0)


def many_bounds(
    form: LinearForm,
    expressions: sp.csr_array,
    n_records: float,
    answered: Callable[[int], None],
    *,
    largest: float = math.inf,
) -> Ends:
    """Return outer bounds of expressions @ x over x >= 0 with low <= A x <= high."""
    questions = Questions(form, expressions, n_records)
    is_feasible = attain_locally(form, questions)
    n_terms = np.bincount(questions.of_term, minlength=questions.n_components)
    is_small = n_terms <= largest
    if not is_feasible and (open_ := questions.open & ~is_small[questions.component]).any():
        # Ends of large components are not computed, but a contradiction of their rows must be found.
        large = Polyhedron(form, questions, questions.component[open_.any(axis=0)])
        next(large.minima.of(np.zeros(len(large.terms))))
    n_left = 2 * expressions.shape[0]
    rng = np.random.default_rng(0)
    components = np.bincount(questions.component, minlength=questions.n_components)
    pays = components > FEW
    polyhedron: Polyhedron | None = None
    open_ = questions.open & is_small[questions.component]
    while open_.any():
        before = np.bincount(questions.component, open_.sum(axis=0), len(components))
        if (n_open := int(before.sum())) < n_left:
            answered(n_left - n_open)
            n_left = n_open
        chosen, weights = _choose(questions, open_, pays, rng)
        if polyhedron is None or 2 * n_terms[before > 0].sum() < len(polyhedron.terms):
            # Programs over components without open ends take time; a new polyhedron loses the last basis.
            polyhedron = Polyhedron(form, questions, np.flatnonzero(before))
        _round(polyhedron, questions, chosen, weights, pays)
        open_ = questions.open & is_small[questions.component]
        after = np.bincount(questions.component, open_.sum(axis=0), len(components))
        pays &= (before == 0) | (before - after > 1)
    answered(n_left)
    return Ends(questions.bounds(), questions.are_known())


class Polyhedron:
    """Components of a problem, by their numbers, over which linear programs are solved one after another."""

    def __init__(self, form: LinearForm, questions: Questions, components: np.ndarray) -> None:
        rows, terms = np.isin(questions.of_row, components), np.flatnonzero(np.isin(questions.of_term, components))
        self.terms = terms  # their numbers in the problem
        self.of_row, self.of_term = questions.of_row[rows], questions.of_term[terms]  # the component of each
        self.minima = Minima(form.select(rows).select_terms(terms), widens=True)

    @property
    def form(self) -> LinearForm:
        """Rows and terms of the components; the rows may have been widened."""
        return self.minima.form

    def component(self, number: int) -> LinearForm:
        """Return the rows and terms of one component."""
        return self.form.select(self.of_row == number).select_terms(np.flatnonzero(self.of_term == number))


def _choose(
    questions: Questions, open_: np.ndarray, pays: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Choose the ends, (side, part), to solve for in this round, and their weights; one side per component.

    If filtering pays, these are all open ends on the side that has more of them, otherwise the first one.
    """
    n = len(pays)
    more = np.argmax([np.bincount(questions.component, side, n) for side in open_], axis=0)
    side, part = np.nonzero(open_)
    kept = more[questions.component[part]] == side
    side, part = side[kept], part[kept]
    component = questions.component[part]
    first = np.zeros(len(part), dtype=bool)
    first[np.unique(component, return_index=True)[1]] = True
    kept = pays[component] | first
    side, part = side[kept], part[kept]
    weights = np.where(pays[questions.component[part]], rng.uniform(0.5, 1.0, len(part)), 1.0)
    return np.stack([side, part]), weights


def _round(
    polyhedron: Polyhedron, questions: Questions, chosen: np.ndarray, weights: np.ndarray, pays: np.ndarray
) -> None:
    """Solve one linear program and record its answer."""
    (side, part), n = chosen, questions.n_components
    sign, component = np.where(side == 0, 1.0, -1.0) * weights, polyhedron.of_term
    of_part = np.zeros(questions.matrix.shape[0])
    of_part[part] = sign  # one side of each part
    cost = (questions.transposed @ of_part)[polyhedron.terms]
    largest = np.zeros(n)
    np.maximum.at(largest, component, np.abs(cost))
    cost = cost / np.where(largest > 0, largest, 1.0)[component]
    optimum = next(polyhedron.minima.of(cost))
    form, x, of_row = polyhedron.form, optimum.x, polyhedron.of_row
    violated = np.bincount(of_row, form.residual(x) > FEASIBLE_MULTIPLE * form.tolerance, n) > 0
    questions.attain(x, polyhedron.terms, (np.bincount(component, minlength=n) > 0) & ~violated)
    if (singly := np.flatnonzero(~pays[questions.component[part]])).size:
        of = questions.component[part[singly]]
        bound = dual_bounds(form, cost, optimum.multipliers, of_row, component, n)[of]
        is_proved = np.abs(np.bincount(component, cost * x, n)[of] - bound) <= GAP
        proved = singly[is_proved]
        bound = bound - np.bincount(of_row, error_of_sides(form, optimum.multipliers), n)[of]
        questions.answer(side[proved], part[proved], bound[is_proved] * sign[proved])
        for i in part[singly[~is_proved]]:  # by a separate linear program, which raises an error if it is imprecise
            smaller = polyhedron.component(questions.component[i])
            objective = questions.matrix[[i]].toarray().ravel()[polyhedron.terms[component == questions.component[i]]]
            for end, value in enumerate(linear_bounds(smaller, objective)):
                questions.answer(end, i, value)


class Questions:
    """The proved and the attained values of expressions over the feasible set, both in units of `size`.

    An expression is the sum of its parts, one per connected component, whose least values add up. So do the largest.
    """

    def __init__(self, form: LinearForm, expressions: sp.csr_array, n_records: float) -> None:
        self.n_expressions = expressions.shape[0]
        self.of_row, self.of_term = form.components()
        self.n_components = int(max(self.of_row.max(initial=0), self.of_term.max(initial=0))) + 1
        part_of = entry_rows(expressions) * self.n_components + self.of_term[expressions.indices]
        parts, row = np.unique(part_of, return_inverse=True)
        self.expression, self.component = np.divmod(parts, self.n_components)
        matrix = sp.csr_array((expressions.data, (row, expressions.indices)), shape=(len(parts), form.shape[1]))
        self.size = most_by_row(np.abs(matrix.data), matrix)
        matrix.data /= self.size[entry_rows(matrix)]
        self.matrix, self.transposed = matrix, matrix.T
        self.of_terms = np.stack(term_bounds(form, n_records))
        lower, upper = self.of_terms
        positive, negative = sp.csr_array(self.matrix.maximum(0)), sp.csr_array(self.matrix.minimum(0))
        self.proved = np.stack([positive @ lower + negative @ upper, positive @ upper + negative @ lower])
        self.attained = np.stack([np.full(len(parts), np.inf), np.full(len(parts), -np.inf)])

    @property
    def open(self) -> np.ndarray:
        """Mark the least and the largest values that are not yet known, of shape (2, parts)."""
        least, most = self.attained - self.proved
        return np.stack([least > GAP, most < -GAP])

    def attain(self, x: np.ndarray, terms: np.ndarray, feasible: np.ndarray) -> None:
        """Record the values at a point."""
        every = np.zeros(self.matrix.shape[1])
        every[terms] = x
        values = self.matrix @ every
        at = feasible[self.component]
        self.attained[0, at] = np.minimum(self.attained[0, at], values[at])
        self.attained[1, at] = np.maximum(self.attained[1, at], values[at])

    def answer(self, side: np.ndarray | int, part: np.ndarray | int, value: np.ndarray | float) -> None:
        """Record least (side 0) or largest (side 1) values that are proved, and attained up to the gap."""
        self.proved[side, part] = self.attained[side, part] = value

    def are_known(self) -> np.ndarray:
        """Mark the least and largest values of expressions that are attained, of shape (2, expressions)."""
        return np.stack([np.bincount(self.expression, side, self.n_expressions) == 0 for side in self.open])

    def bounds(self) -> np.ndarray:
        """Return the proved bounds on the least and largest value of every expression, of shape (2, expressions)."""
        return np.stack([np.bincount(self.expression, side * self.size, self.n_expressions) for side in self.proved])


def attain_locally(form: LinearForm, questions: Questions) -> bool:
    """Record all ends that are attained according to one interior point, the maximum-entropy point.

    These are ends of sums of counts, at most one count per bucket, at which each count attains its proved bound.
    """
    n_known = form.shape[0] - form.n_published
    if not 0 < n_known <= MOST_ROWS or questions.open.sum() < FEWEST_ENDS:
        return False
    answer = newton(form, monitor=Monitor(time_limit=seconds_left()))
    check_time()
    x = answer.counts
    if answer.status is not Status.OPTIMAL or x is None:
        return False
    if (form.residual(x) > FEASIBLE_MULTIPLE * form.tolerance).any():
        return False
    extremes = ExtremeBuckets.of(form, x)
    if extremes is None:
        return True
    compensation = Compensation.at(form, x)
    sums = _sums_of_counts(questions, form.bucket[1])
    for side in range(2):
        parts = np.flatnonzero(questions.open[side] & sums)
        for batch in np.array_split(parts, len(parts) // BATCH + 1):
            attained = _attained(questions, extremes, compensation, side, batch)
            questions.attained[side, batch[attained]] = questions.proved[side, batch[attained]]
            check_time()
    return True


def _sums_of_counts(questions: Questions, bucket: np.ndarray) -> np.ndarray:
    """Mark the parts that are sums of counts of different buckets."""
    matrix = questions.matrix
    part = entry_rows(matrix)
    pair = part * np.int64(bucket.max(initial=0) + 1) + bucket[matrix.indices]
    _, first, number = np.unique(pair, return_index=True, return_counts=True)
    n = matrix.shape[0]
    others = np.bincount(part[first], number > 1, n) + np.bincount(part, matrix.data != 1, n)
    return others == 0


def _attained(
    questions: Questions, extremes: ExtremeBuckets, compensation: Compensation, side: int, batch: np.ndarray
) -> np.ndarray:
    """Mark the parts that attain the proved value on one of their sides."""
    matrix = questions.matrix[batch]
    end, terms, n = entry_rows(matrix), matrix.indices, len(batch)
    value = questions.of_terms[side, terms]
    possible = np.bincount(end, ~extremes.are_possible(terms, value), n) == 0
    combinations = extremes.combinations(terms, value, end, n)
    used = np.unique(combinations.indices)
    change = combinations[:, used] @ extremes.parts[used].toarray()
    leverage = np.bincount(end, compensation.leverage[extremes.bucket[terms]], n)
    return possible & compensation.suffices(change @ compensation.root, change @ compensation.outside, leverage)


@dataclass(frozen=True, eq=False)
class Compensation:
    """The changes of knowledge that the buckets at one interior point can compensate."""

    # Shape (rows of knowledge, rank): S^-1/2 on the range of S: ``change @ root`` has the norm of S^-1/2 r
    root: np.ndarray
    # Shape (rows of knowledge, others): an orthonormal basis of the complement of the range; changes must be 0 there.
    outside: np.ndarray
    steep: np.ndarray  # shape (steep terms, rank): S^-1/2 B_t of the terms where it is large
    largest: float  # the largest norm of S^-1/2 B_t of all other terms
    leverage: np.ndarray  # one per bucket: the sums of the leverages of its terms

    @classmethod
    def at(cls, form: LinearForm, x: np.ndarray) -> Compensation:
        """Form and factorise S at x > 0: twice, the second time without the terms that must keep their counts."""
        root, _, inverse = _inverse_root(form, x)
        before, _ = _columns(form, inverse, x, root, np.zeros(len(x), dtype=bool))
        moved = np.where(before <= np.quantile(before, MOVED), x, 0.0)
        root, outside, inverse = _inverse_root(form, moved)
        order = np.argsort(np.where(moved > 0, before, 0.0))
        is_steep = np.zeros(len(x), dtype=bool)
        is_steep[order[-STEEP:]] = True
        norm, steep = _columns(form, inverse, moved, root, is_steep)
        largest = float(norm[(moved > 0) & ~is_steep].max(initial=0.0))
        return cls(root, outside, steep, largest, np.bincount(form.bucket[1], moved * norm**2))

    def suffices(self, change: np.ndarray, outside: np.ndarray, leverage: np.ndarray) -> np.ndarray:
        """Mark the changes that can be compensated."""
        size, lost = np.linalg.norm(change, axis=1), np.abs(outside).max(axis=1, initial=0.0)
        remainder = 1 - leverage
        possible = (remainder > 0) & (lost <= LOST) & (self.largest * size <= MOST_MOVE * remainder)
        steep, of_steep = np.linalg.norm(self.steep, axis=1), self.steep.T
        for batch in np.array_split(np.flatnonzero(possible), len(change) // STEEP + 1):
            moves = np.abs(change[batch] @ of_steep)
            moves += (leverage[batch] / remainder[batch] * size[batch])[:, None] * steep
            possible[batch] = (moves <= MOST_MOVE).all(axis=1)
        return possible


def _inverse_root(form: LinearForm, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, BucketInverse]:
    """Return S^-1/2 on the range of S, an orthonormal basis of the complement, and the factors of the buckets.

    Rows of knowledge may be redundant.
    """
    known, inverse = form.known, BucketInverse(form.bucket_blocks, x, RIDGE)
    every = np.arange(known.distinct.shape[0])
    schur = schur_complement(inverse, known, _across(form, x), known.collect(x), every)
    squares = known.squared @ known.collect(x)
    size = np.sqrt(np.where(squares > 0, squares, 1.0))
    values, vectors = np.linalg.eigh(schur / size / size[:, None])
    in_range = values > RANGE * values.max(initial=0.0)
    outside = vectors[:, ~in_range] / size[:, None]
    outside /= np.linalg.norm(outside, axis=0)
    return vectors[:, in_range] / np.sqrt(values[in_range]) / size[:, None], outside, inverse


def _across(form: LinearForm, x: np.ndarray) -> sp.csr_array:
    """Return P diag(x) by slot, summed over the terms of each class of columns of the knowledge."""
    rows, known = form.bucket_blocks.rows, form.known
    shape = (rows.shape[0], known.distinct.shape[1])
    return sp.csr_array((rows.data * x[rows.indices], known.of_term[rows.indices], rows.indptr), shape=shape)


def _columns(
    form: LinearForm, inverse: BucketInverse, x: np.ndarray, root: np.ndarray, is_wanted: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the norm of S^-1/2 B_t, one per term, and S^-1/2 B_t for the wanted terms."""
    buckets, known, classes = form.bucket_blocks, form.known, form.known.transposed @ root
    across = [_across(form, x)[side.ravel()] for side in buckets.slots]
    squares, columns = np.zeros(len(x)), [np.empty((np.count_nonzero(is_wanted), 0))]
    step = max(OF_TERMS // len(x), 1)
    for start in range(0, root.shape[1], step):
        batch = classes[:, start : start + step]
        first, second = (
            (part @ batch).reshape(*side.shape, -1) for part, side in zip(across, buckets.slots, strict=True)
        )
        projected = np.empty((buckets.n_slots, batch.shape[1]))
        for side, solution in zip(buckets.slots, inverse.solutions(first, second, slice(None)), strict=True):
            projected[side] = solution
        of_terms = batch[known.of_term] - buckets.by_term @ projected
        squares += (of_terms**2).sum(axis=1)
        columns.append(of_terms[is_wanted])
    return np.sqrt(squares), np.concatenate(columns, axis=1)


@dataclass(frozen=True, eq=False)
class ExtremeBuckets:
    """Changes of the rows of knowledge as combinations of `parts`."""

    # Shape (parts, rows of knowledge): the distinct columns of the knowledge, followed by the values of the knowledge
    # over every row, over every bucket, and at x.
    parts: sp.csr_array
    of_term: np.ndarray  # the class of each term's column,
    row: np.ndarray  # its two published rows,
    column: np.ndarray
    bucket: np.ndarray  # and its bucket
    in_row: np.ndarray  # the number of people at x in each published row,
    in_bucket: np.ndarray  # and in each bucket
    is_complete: np.ndarray  # whether each QI tuple of a bucket can have each of its sensitive values

    @classmethod
    def of(cls, form: LinearForm, x: np.ndarray) -> ExtremeBuckets | None:
        """Return the buckets of a form at a point; None unless each term is in two published rows of sums of counts."""
        by_term, known = form.published_by_term, form.known
        if (np.diff(by_term.indptr) != 2).any() or (by_term.data != 1).any():
            return None
        by_term.sort_indices()
        row, column = by_term.indices[::2], by_term.indices[1::2]
        of_row, bucket = form.bucket
        n_rows, n_buckets = form.n_published, int(of_row.max(initial=-1)) + 1
        in_row, in_bucket = form.published @ x, np.bincount(bucket, x, n_buckets)
        terms = np.bincount(bucket, x > 0, n_buckets)
        sizes = [np.bincount(of_row[np.unique(side)], minlength=n_buckets) for side in (row, column)]
        is_complete = (terms == sizes[0] * sizes[1]) & (np.bincount(of_row, minlength=n_buckets) == sizes[0] + sizes[1])
        n_classes, classes = known.transposed.shape[0], known.of_term
        over_rows = _collected(
            np.r_[row, column], np.r_[classes, classes], np.r_[in_row[column], in_row[row]], n_rows, n_classes
        )
        over_buckets = _collected(bucket, classes, in_row[row] * in_row[column], n_buckets, n_classes)
        at_x = _collected(bucket, classes, x, n_buckets, n_classes)
        identity = sp.eye_array(n_classes, format="csr")
        weights = sp.csr_array(sp.vstack([identity, over_rows, over_buckets, at_x], format="csr"))
        return cls(
            sp.csr_array(weights @ known.transposed), classes, row, column, bucket, in_row, in_bucket, is_complete
        )

    def combinations(self, terms: np.ndarray, value: np.ndarray, end: np.ndarray, n_ends: int) -> sp.csr_array:
        """Return the change of the knowledge, as a combination of the parts, if counts are set to given values."""
        row, column, bucket = self.row[terms], self.column[terms], self.bucket[terms]
        of_row, of_column, every = self.in_row[row], self.in_row[column], self.in_bucket[bucket]
        with np.errstate(divide="ignore", invalid="ignore"):
            rest_of_row = _share(of_row - value, every - of_column)
            rest_of_column = _share(of_column - value, every - of_row)
            rest = _share(_share(every - of_row - of_column + value, every - of_row), every - of_column)
        corrected = value - of_column * rest_of_row - of_row * rest_of_column + rest * of_row * of_column
        n_rows, n_buckets = len(self.in_row), len(self.in_bucket)
        n_classes = self.parts.shape[0] - n_rows - 2 * n_buckets
        first = n_classes + n_rows  # of the buckets
        at = [self.of_term[terms], n_classes + row, n_classes + column, first + bucket, first + n_buckets + bucket]
        by = [corrected, rest_of_row - rest * of_row, rest_of_column - rest * of_column, rest, -np.ones(len(terms))]
        return _collected(np.tile(end, 5), np.concatenate(at), np.concatenate(by), n_ends, self.parts.shape[0])

    def are_possible(self, terms: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Mark the counts that may have a value: their buckets are complete, and no other count becomes negative."""
        of_row, of_column = self.in_row[self.row[terms]], self.in_row[self.column[terms]]
        every, off = self.in_bucket[self.bucket[terms]], LOST
        within = (value >= -off) & (value <= np.minimum(of_row, of_column) + off)
        return self.is_complete[self.bucket[terms]] & within & (value >= of_row + of_column - every - off)


def _share(number: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Return a number of people divided by another; 0 if that is 0."""
    return np.where(of > LOST, number / of, 0.0)


def _collected(row: np.ndarray, column: np.ndarray, value: np.ndarray, n_rows: int, n_columns: int) -> sp.csr_array:
    """Return a sparse matrix from its entries; repeated entries are summed."""
    return sp.csr_array((value, (row, column)), shape=(n_rows, n_columns))
