"""The solve over partitions: presolve, Newton's method on the shared rows, and the certificate.

The certificate is that of :mod:`.certificate`, with one block per partition. All buckets of all partitions count as one
connected component, whose gap bounds those of its connected components. The existence of a point that satisfies all
rows exactly is proved as in memory (:func:`.existence.correct`): each partition contributes to the Schur complement of
the rows of knowledge, to their values, and to the residues that decide linear dependence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._utils.errors import Infeasible, SolverError
from .._utils.parallel import Executor
from .answer import Status, point_of
from .attempts import NEWTON
from .blocks import single_thread
from .certificate import (
    ACCURACY,
    PRECISE,
    PROJECTION_PRECISION,
    PROJECTION_RIDGE,
    PROJECTION_ROUNDS,
    VALUE_PLACES,
    VANISHED,
    Certificate,
    Restriction,
    found_near,
    within_slopes,
)
from .columns import SharedColumns, SplitMatrix
from .existence import Block
from .explain import PRECISE_LOG, SMALL_COUNT, multipliers_beside
from .form import OF_ROWS, ClosedForm, Groups, LinearForm, Problem, Settled
from .monitor import Monitor
from .newton import MOST_TINY_STEPS, RIDGES
from .partitions import (
    TOLERANCE,
    BucketState,
    Minimum,
    OverPartitions,
    Part,
    ReducedPart,
    Weights,
    Whole,
    change_of_terms,
    determined,
    first_state,
    minimised,
    minimum,
    presolved,
    recession_part,
    require_consistent,
)
from .schur import BlockFactor
from .solve import solve
from .sparse import entry_rows

#: Iterations by which an answer is improved whose certified error exceeds `PRECISE`; from a nearby point, each doubles
#: the digits until rounding prevents it.
MORE_ITERATIONS = 3
#: Nats per record: larger multipliers are also tried scaled to this size, so that rounding hides their effect less.
LARGE_MULTIPLIERS = 1e3
#: Records: counts below this are set to 0 at the certified point if it cannot be certified otherwise.
NEARLY_VANISHED = 1e-10
#: Relative: a smaller diagonal element of the Schur complement is that of a row that the published rows imply. Such a row
#: has the price 0, as its multiplier changes no count.
IMPLIED = 1e-11
#: The largest number of terms of all partitions for which a refused problem is solved again, and shadow prices are
#: computed, in memory.
MOST_TOGETHER = 1_000_000
#: The certificate of an answer that is too far from the solution for any proof.
NO_PROOF = Certificate(np.inf, 0.0, np.inf, np.inf, np.inf, 0)


class PointPart(NamedTuple):
    """One partition of an answer: counts of its terms, in records, and multipliers of its published rows."""

    counts: np.ndarray
    multipliers: np.ndarray


@dataclass(frozen=True, eq=False)
class PartitionedSolution:
    """An answer whose counts remain in their partitions."""

    points: Sequence[Any]  # handles of PointPart
    multipliers: np.ndarray  # one per row of knowledge
    certificate: Certificate
    status: Status
    iterations: int
    log: list[dict[str, Any]]


@single_thread
def solve_partitioned(
    parts: Sequence[Any],
    shared: LinearForm,
    n_records: float,
    executor: Executor,
    *,
    start: np.ndarray | None = None,
    monitor: Monitor | None = None,
    **options: Any,
) -> PartitionedSolution:
    """Maximise sum x log(w / x), less the costs of soft rows, over the rows of all partitions, and certify the answer.

    `parts` are handles of Part, and `shared` the rows of knowledge without terms: their sides, names and costs. Options
    are `tolerance` and `max_iterations`. Raise Infeasible if rows contradict each other.
    """
    monitor, over = monitor or Monitor(), OverPartitions(executor)
    reduced_parts, rest = presolved(parts, shared, n_records, over)
    monitor.say(
        f"{shared.shape[0]:,} rows of knowledge over {len(reduced_parts):,} partitions, {monitor.seconds:.2f} seconds"
    )
    first = np.zeros(shared.shape[0]) if start is None else start
    whole = Whole(parts, shared)

    def solved(from_parts: Sequence[Any], m: np.ndarray, **more: Any) -> Minimum:
        result = minimum(whole, from_parts, rest, m, over, monitor, **{**options, **more})
        return _with_settled(whole, result, over)

    fits = not options and over.total(_n_terms, parts) <= MOST_TOGETHER
    # In memory an interior-point method follows tiny steps.
    optimum = solved(reduced_parts, first, most_tiny_steps=MOST_TINY_STEPS if fits else math.inf)
    is_far = fits and optimum.status is Status.LIMIT and not monitor.stopped
    certificate = NO_PROOF if is_far else certified(whole, optimum, over)
    if not certificate.holds:
        _require_consistent(optimum, over)
    if fits and not (certificate.holds or monitor.stopped):
        monitor.say("starting again, with all partitions together in memory")
        together = _solved_together(whole, executor, monitor)
        if together is not None and together.certificate.bound < (ACCURACY if is_far else certificate.bound):
            return together
    if is_far:
        monitor.say("continuing in partitions")
        optimum = _after(optimum, solved(optimum.parts, optimum.point.m, before=optimum))
        certificate = certified(whole, optimum, over)
    if not certificate.holds and (fewer_terms := _without_vanished(optimum)) is not None:
        monitor.say("starting again without terms that are zero")
        optimum = _after(optimum, solved(fewer_terms, first))
        certificate = certified(whole, optimum, over)
    if certificate.bound > PRECISE and optimum.status is Status.OPTIMAL and "tolerance" not in options:
        monitor.say("continuing at full precision")
        more = {"before": optimum, "tolerance": 0.0, "max_iterations": MORE_ITERATIONS}
        further = solved(optimum.parts, optimum.point.m, **more)
        better = certified(whole, further, over)
        if better.bound < certificate.bound:
            optimum, certificate = replace(_after(optimum, further), status=optimum.status), better
    if not certificate.holds:
        _require_consistent(optimum, over)
    monitor.say(f"{optimum.status} in {optimum.iterations} iterations, {monitor.seconds:.2f} seconds: {certificate}")
    points = over.map(restored, parts, optimum.parts, optimum.point.states)
    return PartitionedSolution(points, optimum.point.m, certificate, optimum.status, optimum.iterations, optimum.log)


def _after(earlier: Minimum, later: Minimum) -> Minimum:
    """Return the later result with the iterations of both runs."""
    return replace(later, iterations=earlier.iterations + later.iterations, log=[*earlier.log, *later.log])


def _require_consistent(optimum: Minimum, over: OverPartitions) -> None:
    """Raise Infeasible if the multipliers of an answer, or of the lowest point, prove a contradiction."""
    dual = optimum.systems.dual
    require_consistent(dual.whole, optimum.parts, dual.lowest or optimum.point, over)


def _solved_together(whole: Whole, executor: Executor, monitor: Monitor) -> PartitionedSolution | None:
    """Solve the problem in memory, where more zeros are found; return None if the solver stops without an answer."""
    parts = executor.gather(whole.parts)
    numbers = np.concatenate([part.q_numbers[part.groups.of_term] for part in parts])
    records = np.zeros(int(numbers.max(initial=-1)) + 1)
    for part in parts:
        records[part.q_numbers] = part.groups.records
    closed_form = ClosedForm(*map(np.concatenate, zip(*(part.closed_form for part in parts), strict=True)))
    problem = Problem(_together(parts, whole.shared), closed_form, Groups(numbers, records))
    try:
        solution = solve(problem, NEWTON, allow_inaccurate=True, monitor=monitor)
    except Infeasible:
        raise Infeasible(
            "the knowledge contradicts the published data or itself: no counts satisfy them together; remove "
            "statements, or make them vague"
        ) from None
    except SolverError:
        return None
    answer = solution.answer
    counts, multipliers = point_of(answer)
    by_part = np.split(counts, np.cumsum([part.form.shape[1] for part in parts])[:-1])
    *of_published, of_known = np.split(multipliers, np.cumsum([part.form.n_published for part in parts]))
    points = executor.made(partial(PointPart, *point) for point in zip(by_part, of_published, strict=True))
    return PartitionedSolution(
        points, of_known, solution.certificate, answer.status, answer.iterations, list(map(dict, answer.log))
    )


def _without_vanished(optimum: Minimum) -> Sequence[Any] | None:
    """Remove the terms that the multipliers of an answer prove zero; return None if there are none."""
    dual, systems, point = optimum.systems.dual, optimum.systems, optimum.point
    scale = min(1.0, LARGE_MULTIPLIERS / np.abs(point.m).max(initial=1.0))
    proof = recession_part(dual, point, systems)
    if proof is None and scale < 1:
        proof = recession_part(dual, point, systems, scale)
    if proof is None:
        return None
    dual.remove_zeros(proof)
    return dual.parts


def _with_settled(whole: Whole, optimum: Minimum, over: OverPartitions) -> Minimum:
    """Set the multiplier of each soft row whose value is determined to the slope of its cost at that value."""
    shared = whole.shared
    if shared.penalties is None:
        return optimum
    value, n_open = over.total(determined, whole.parts, optimum.parts)
    slope = shared.penalties.multiplier(*(side[shared.n_hard :] for side in (shared.low, shared.high, value)))
    m = optimum.point.m.copy()
    m[shared.n_hard :] = np.where(n_open[shared.n_hard :] > 0, m[shared.n_hard :], slope)
    return replace(optimum, point=replace(optimum.point, m=m))


def restored(part: Part, reduced_part: ReducedPart, state: BucketState) -> PointPart:
    """Postsolve: return the counts of all terms, and the multipliers of all published rows."""
    counts, multipliers = reduced_part.counts.copy(), part.closed_form.multipliers.copy()
    counts[reduced_part.terms] = state.counts
    multipliers[reduced_part.rows] = state.u[reduced_part.systems.bucket_blocks.slot]
    return PointPart(counts, multipliers)


# Projection onto the feasible set, partition by partition, in a metric weighted by the point itself; see
# :func:`.certificate.project`. Each partition eliminates its published rows; the driver corrects the rows of knowledge.


class Eliminated(NamedTuple):
    """The correction of published rows alone, one number per slot, and the sums for the driver."""

    of_buckets: np.ndarray
    sums: dict[str, Any]


def projected(whole: Whole, optimum: Minimum, over: OverPartitions) -> tuple[Sequence[Any], dict[str, Any]]:
    """Correct counts in rounds, as long as each at least halves the largest violation.

    Return handles of PointPart, and the sums at the initial answer; see :func:`eliminated`.
    """
    (parts, shared), reduced_parts, states = whole, optimum.parts, optimum.point.states
    factor = optimum.systems.at(Weights(states, 0.0), PROJECTION_RIDGE)
    points = over.map(restored, parts, reduced_parts, states)

    def violation_of_buckets() -> tuple[Sequence[Any], dict[str, Any]]:
        eliminated_ = over.map(eliminated, parts, reduced_parts, factor.factors, points)
        return eliminated_, over.total(getattr, eliminated_, common=("sums",))

    corrections, sums = violation_of_buckets()
    # Equations are corrected; inequalities are corrected at one of their sides.
    first, tolerance, is_hard = sums, shared.tolerance, np.arange(shared.shape[0]) < shared.n_hard
    near = (first["value"] <= shared.low + tolerance) | (first["value"] >= shared.high - tolerance)
    active = np.flatnonzero(is_hard & (shared.is_equation | near))
    before = np.inf
    for _ in range(PROJECTION_ROUNDS):
        value = sums["value"][active]
        violation = np.clip(value, shared.low[active], shared.high[active]) - value
        worst = max(float(np.abs(violation).max(initial=0.0)), sums["largest_residual"])
        is_exact = not sums["n_inexact"] and bool((np.abs(violation) <= VALUE_PLACES * np.abs(value)).all())
        if is_exact or not worst <= 0.5 * before:
            break
        of_known = factor.solve_schur(violation - sums["effect_on_known"][active], active, PROJECTION_PRECISION)
        common = of_known, active
        before, points = worst, over.map(corrected, reduced_parts, factor.factors, corrections, points, common=common)
        corrections, sums = violation_of_buckets()
    return points, first


def eliminated(part: Part, reduced_part: ReducedPart, factor: BlockFactor, point: PointPart) -> Eliminated:
    """Return the violation of published rows, and the correction of the buckets alone.

    Sums: K x and its change by the correction, in records; the largest violation, and the number of rows that do not
    hold up to their last places.
    """
    form, n, blocks = part.form, part.form.n_published, reduced_part.systems.bucket_blocks
    value = form.exact_matvec(point.counts)
    residual = form.low[:n] - value[:n]
    right = np.zeros(blocks.n_slots)
    right[blocks.slot] = residual[reduced_part.rows]
    of_buckets = factor.of_buckets(right)
    sums = {
        "value": value[n:], "effect_on_known": factor.effect_on_known(of_buckets),
        "largest_residual": float(np.abs(residual).max(initial=0.0)),
        "n_inexact": int((~(np.abs(residual) <= VALUE_PLACES * np.abs(value[:n]))).sum()),
    }  # fmt: skip
    return Eliminated(of_buckets, sums)


def corrected(
    reduced_part: ReducedPart,
    factor: BlockFactor,
    correction: Eliminated,
    point: PointPart,
    of_known: np.ndarray,
    active: np.ndarray,
) -> PointPart:
    """Return the point with all counts corrected in proportion; negative counts become 0."""
    of_buckets = correction.of_buckets - factor.compensation(of_known, active)
    change = change_of_terms(reduced_part, of_buckets, of_known, active)
    counts = point.counts.copy()
    counts[reduced_part.terms] = np.maximum(counts[reduced_part.terms] * (1 + change), 0.0)
    return PointPart(counts, point.multipliers)


# The certificate.


def certified(whole: Whole, optimum: Minimum, over: OverPartitions) -> Certificate:
    """Bound the error of every P(s | q)."""
    (parts, shared), reduced_parts, states = whole, optimum.parts, optimum.point.states
    is_soft = np.arange(shared.shape[0]) >= shared.n_hard
    low, high = np.where(is_soft, -np.inf, shared.low), np.where(is_soft, np.inf, shared.high)
    of_row, multipliers = np.zeros(len(is_soft), dtype=np.int64), within_slopes(shared, optimum.point.m)
    hard = replace(shared, low=low, high=high, penalties=None)
    restriction = Restriction(shared, hard, is_soft, of_row, np.empty(0, dtype=np.int64))
    points, first = projected(whole, optimum, over)
    for vanished in (VANISHED, NEARLY_VANISHED):  # counts on the edges of a forest must exceed roundoff
        blocks = over.map(block_of, parts, reduced_parts, states, points, common=(vanished,))
        found = found_near(blocks, restriction, multipliers, over)
        gap = float(found.gap.sum() + found.slack.sum())
        missed = np.maximum(low - first["value"], first["value"] - high)
        residual = max(first["largest_residual"], float(missed.max(initial=0.0)))
        bound = found.bound(np.full(len(found.table["records"]), gap), found.backward)
        certificate = Certificate(residual, 0.0, found.largest_move, gap, bound, found.n_fixed, found.backward)
        if certificate.holds:
            break
    over.map(forgotten, parts)
    return certificate


def forgotten(part: Part) -> None:
    """Free the data that the certificate has derived from the rows of one partition."""
    part.form.clear_cache()


def block_of(part: Part, reduced_part: ReducedPart, state: BucketState, point: PointPart, vanished: float) -> Block:
    """Return one partition near an answer as one connected component; counts below `vanished` are set to 0."""
    answer, component = restored(part, reduced_part, state), np.broadcast_to(np.int64(0), part.form.shape[1])
    settled = Settled(reduced_part.fixed, reduced_part.width)
    near = np.where(~settled.fixed & (point.counts < vanished), 0.0, point.counts)
    return Block(
        part.form, part.form.n_published, answer.counts, near, point.multipliers, settled, component,
        part.groups, part.q_numbers, part.exact,
    )  # fmt: skip


# Multipliers of the rows of knowledge as shadow prices, if they correspond to the answer.
#
# The derivative of the maximum of sum x log(w / x) with respect to the side of a row is -m, if every term is x = w
# exp(A' m - 1). Statements that imply each other have many such m, so up to a limit m is computed as in memory, from the
# counts of all partitions. Beyond, it is that of the solver. No multiplier shows that a term is zero. Terms determined by
# statements of 0 and the published rows are therefore removed first, since no other row can change them; over the other
# terms, the multipliers must give the answer, of which no count may be nearly 0, as rows may force it to be 0.


def price_multipliers(
    parts: Sequence[Any],
    points: Sequence[Any],
    shared: LinearForm,
    multipliers: np.ndarray,
    n_records: float,
    executor: Executor,
) -> np.ndarray | None:
    """Return multipliers of the knowledge that are minus derivatives, infinite for rows that force terms to be 0.

    Return None if there are too many counts to decide.
    """
    over = OverPartitions(executor)
    if over.total(_n_terms, parts) <= MOST_TOGETHER:
        form = _together(over.gather(parts), shared)
        counts = np.concatenate([point.counts for point in over.gather(points)])
        counts = np.where(counts <= form.zero_tolerance, 0.0, counts)
        recovered = multipliers_beside(form, counts, multipliers[shared.n_hard :])[form.n_published :]
        if not np.isnan(recovered).any():
            return recovered
    positive, negative = over.total(signs_of, parts) > 0
    is_hard = np.arange(shared.shape[0]) < shared.n_hard
    empty_above = is_hard & positive & ~negative & (shared.high == 0)
    empty_below = is_hard & negative & ~positive & (shared.low == 0)
    empty = empty_above | empty_below
    low, high = np.where(empty, shared.low, -np.inf), np.where(empty, shared.high, np.inf)
    reduced_parts, _ = presolved(parts, replace(shared, low=low, high=high, penalties=None), n_records, over)

    def are_exact(of_rows: np.ndarray) -> bool:
        """Return whether the multipliers give the counts."""
        return bool(over.total(difference, reduced_parts, points, common=(of_rows,))["largest"] <= PRECISE_LOG)

    finite = np.where(empty, 0.0, multipliers)
    if not are_exact(finite):
        return None
    chosen = np.flatnonzero(is_hard & (finite != 0))
    diagonal = over.total(schur_diagonal, reduced_parts, points, common=(chosen,))
    fewer = finite.copy()
    fewer[chosen[diagonal["schur"] <= IMPLIED * diagonal["squares"]]] = 0.0
    # A row with large coefficients that differ little seems to be implied, but then the others do not give the counts.
    finite = fewer if are_exact(fewer) else finite
    return np.where(empty_above, -np.inf, np.where(empty_below, np.inf, finite))


def schur_diagonal(reduced_part: ReducedPart, point: PointPart, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return one partition's share of S_ii for some rows of knowledge, and of the same before published rows."""
    factor = BlockFactor(reduced_part.systems, point.counts[reduced_part.terms], RIDGES[0])
    return {"schur": factor.form_schur(rows).diagonal(), "squares": factor.squares[rows]}


def _n_terms(part: Part) -> int:
    return part.form.shape[1]


def _together(parts: Sequence[Part], shared: LinearForm) -> LinearForm:
    """Return the rows of all partitions as those of one problem in memory, without names."""
    forms = [part.form.select(np.arange(part.form.n_published)) for part in parts]
    known = [part.form.known.distinct[:, part.form.known.of_term] for part in parts]
    n = sum(form.n_published for form in forms)
    published = sp.csr_array(sp.block_diag([form.published for form in forms], format="csr"))
    rows: dict[str, Any] = {
        name: np.concatenate([*(getattr(form, name) for form in forms), getattr(shared, name)]) for name in OF_ROWS
    }
    return replace(
        shared,
        coefficients=SplitMatrix(published, SharedColumns(sp.csr_array(sp.hstack(known)))),
        origin=None,
        n_published=n,
        n_facts=n + shared.n_facts,
        weights=np.concatenate([part.form.weights for part in parts]),
        **rows,
    )


def signs_of(part: Part) -> np.ndarray:
    """Return the numbers of positive and negative coefficients of each row of knowledge on classes of terms."""
    distinct = part.form.known.distinct
    rows, n = entry_rows(distinct), distinct.shape[0]
    return np.stack([np.bincount(rows, distinct.data > 0, n), np.bincount(rows, distinct.data < 0, n)])


def difference(reduced_part: ReducedPart, point: PointPart, multipliers: np.ndarray) -> dict[str, float]:
    """Return the largest difference between the logarithm of a count and its value according to the multipliers."""
    if not len(reduced_part.terms):
        return {"largest": 0.0}
    counts = point.counts[reduced_part.terms]
    if (counts < SMALL_COUNT).any():
        return {"largest": np.inf}  # rows may force these counts to be 0
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.abs(
            np.log(minimised(reduced_part, first_state(reduced_part), multipliers, TOLERANCE).counts) - np.log(counts)
        )
    return {"largest": float(np.where(np.isnan(off), np.inf, off).max())}
