"""The answer to a cone program that is an entropy program: by DUAL_NEWTON, and judged by its residuals and gap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import cvxpy.settings as s
import numpy as np

from ...errors import SolverError
from ..answer import Answer, Status
from ..backends.registry import SOLVERS
from ..certificate.projection import project
from ..linear import elastic_relaxation
from ..parameters.dual_methods import INTERIOR, SEPARABLE_NEWTON
from ..parameters.tolerances import CONIC_PROGRAM, FEASIBILITY
from ..presolve.zero_proofs import moved_along_recession
from ..program.linear_form import LinearForm
from ..separable.newton import solve_separable
from ..separable.primal_dual import MixedAnswer, solve_mixed
from .cone_program import ConeProgram, Distance
from .entropy_program import Bounded, EntropyProgram
from .interior_answer import ConeAnswer, refuse_rounding_errors, solve_cone_program
from .reading import TAKES, read
from .zero_references import WithoutZeros, without_zero_references

__all__ = ["BACKEND", "solve_program"]

#: The solver that CVXPY is offered.
BACKEND = SOLVERS["DUAL_NEWTON"]


#: Statuses after which no other way is tried.
DECIDED = (s.INFEASIBLE, s.USER_LIMIT)

#: Which rows an entropy program has, and their multipliers.
Start = tuple[np.ndarray, np.ndarray]


def solve_program(program: ConeProgram, options: Mapping[str, Any], start: Start | None = None) -> ConeAnswer:
    """Solve a cone program, as an entropy program if it is one, from the multipliers of the last one if it is alike.

    Raises
    ------
    SolverError
        If it has no exponential cones, or is no entropy program and the interior-point method finds no answer either.
    """
    if not program.n_exp:
        raise SolverError(f"there is no entropy in the problem: use cp.HIGHS or cp.CLARABEL for it. {TAKES}")
    answer = _solved(program, options, start)
    if answer.status != s.UNBOUNDED:
        return answer
    # A direction along which the objective improves without limit exists in infeasible problems, too.
    without_costs = replace(program, c=np.zeros(len(program.c)), P=None)
    try:
        feasible = _solved(without_costs, options)
    except SolverError:
        return answer._replace(status=s.INFEASIBLE_OR_UNBOUNDED)
    if feasible.status == s.INFEASIBLE:
        return feasible
    is_feasible = feasible.status in (s.OPTIMAL, s.OPTIMAL_INACCURATE, s.UNBOUNDED)
    return answer if is_feasible else answer._replace(status=s.INFEASIBLE_OR_UNBOUNDED)


def _solved(program: ConeProgram, options: Mapping[str, Any], start: Start | None = None) -> ConeAnswer:
    """Solve a cone program by the first way that answers; "unbounded" is said without a look at the constraints."""
    if not program.n_exp:
        return solve_cone_program(program, options)
    if (row := program.contradiction) is not None:
        return _refuted_by(program, row)
    if len(free := program.unlimited):
        direction = np.zeros(len(program.c))
        direction[free] = -np.sign(program.c[free])
        rows = np.zeros(len(program.b))
        return ConeAnswer(s.UNBOUNDED, direction, rows, program.distance(direction, rows), 0)
    if (smaller := without_zero_references(program)) is not None:
        answer = _with_zeros(program, smaller, _solved(smaller.program, options, start))
        if answer.status != s.SOLVER_ERROR:
            return answer
    try:
        entropy = read(program)
    except SolverError as refusal:
        answer = solve_cone_program(program, options)
        if answer.status == s.SOLVER_ERROR:
            raise SolverError(f"the interior-point method found no answer, and {refusal}") from None
        return answer
    if start is not None and not len(entropy.cost) and np.array_equal(start[0], entropy.kept):
        return solve_entropy_program(entropy, options, start[1])
    return solve_entropy_program(entropy, options)


def _refuted_by(program: ConeProgram, row: int) -> ConeAnswer:
    """The answer to a program with a row without variables that does not hold: the row itself is the proof."""
    z, dual = np.zeros(len(program.c)), np.zeros(len(program.b))
    dual[row] = -np.sign(program.b[row])
    return ConeAnswer(s.INFEASIBLE, z, dual, program.distance(z, dual), 0)


def _with_zeros(program: ConeProgram, smaller: WithoutZeros, answer: ConeAnswer) -> ConeAnswer:
    """The answer to a program with entropies relative to 0, judged by its own rows, from that to one without."""
    z, dual = smaller.restore(answer.z, answer.dual, len(program.b))
    distance = program.distance(z, dual)
    is_lost = answer.status == s.OPTIMAL and not (distance.holds or distance.is_optimal)
    return answer._replace(status=s.SOLVER_ERROR if is_lost else answer.status, z=z, dual=dual, distance=distance)


def solve_entropy_program(
    entropy: EntropyProgram, options: Mapping[str, Any], start: np.ndarray | None = None
) -> ConeAnswer:
    """Solve in the logarithmic domain, and if that fails otherwise; measure the distance from optimality.

    The other ways are the linear form, whose method proves zeros, and the interior-point method, which is the better
    one where many terms are at bounds. The first answer whose gap is small for the entropies counts. Beside large costs
    one that is small for the objective may be large for these; where no way finds another, that with the least counts.
    """
    ways: list[Callable[..., ConeAnswer | None]] = [_in_logarithms, _as_linear_form, _as_cone_program]
    if len(entropy.cost):
        ways = [_primal_dual, _as_cone_program, _as_cone_program_strictly]
    elif entropy.bounded is not None and len(entropy.bounded.bounds):
        ways = [_primal_dual, _as_cone_program, _as_linear_form]
    if start is not None:
        ways = [partial(_from_multipliers, start=start), *ways]
    found: list[ConeAnswer] = []
    error: SolverError | None = None
    for way in ways:
        try:
            answer = way(entropy, options)
        except SolverError as refusal:
            error = refusal
            continue
        if answer is None:
            continue
        found.append(answer)
        is_least = answer.distance.holds or answer.distance.relative_gap <= CONIC_PROGRAM.rounded_gap
        if answer.status in DECIDED or (answer.status == s.OPTIMAL and is_least):
            break
    if not found:
        raise error or SolverError(f"no answer was found; use another solver, such as cp.CLARABEL. {BACKEND.name}")
    best = _best(found)
    if best.status == s.SOLVER_ERROR and error is not None:
        raise error
    return best._replace(iterations=sum(one.iterations for one in found))


def _best(found: list[ConeAnswer]) -> ConeAnswer:
    """The optimal answer with the least gap, or the one after which nothing else was tried, or the nearest."""
    optimal = [one for one in found if one.status == s.OPTIMAL]
    if optimal:
        return min(optimal, key=lambda one: one.distance.gap)
    if found[-1].status in DECIDED:
        return found[-1]
    return min(found, key=lambda one: (one.status == s.SOLVER_ERROR, one.distance.largest))


def _as_cone_program(entropy: EntropyProgram, options: Mapping[str, Any]) -> ConeAnswer:
    """Solve the program as it came, by the interior-point method."""
    return solve_cone_program(entropy.program, options)


def _as_cone_program_strictly(entropy: EntropyProgram, options: Mapping[str, Any]) -> ConeAnswer:
    """The same with a stricter tolerance: a large cost of other variables multiplies what rows miss."""
    tolerance = INTERIOR.stricter * options.get("tolerance", INTERIOR.tolerance)
    return solve_cone_program(entropy.program, {**options, "tolerance": tolerance})


def _in_logarithms(entropy: EntropyProgram, options: Mapping[str, Any]) -> ConeAnswer | None:
    """Solve rows without bounds by Newton's method on the dual."""

    def solve(entropy: EntropyProgram, bounded: Bounded) -> MixedAnswer:
        status, counts, m, iterations = solve_separable(bounded.program, **options)
        return MixedAnswer(status, counts, np.empty(0), m, iterations)

    return _with_bounds(entropy, solve, options)


def _from_multipliers(entropy: EntropyProgram, options: Mapping[str, Any], start: np.ndarray) -> ConeAnswer | None:
    """Solve by Newton's method on the dual, bounds as bounds, from multipliers near those of the solution."""
    few = {
        **options,
        "max_iterations": min(options.get("max_iterations", SEPARABLE_NEWTON.warm), SEPARABLE_NEWTON.warm),
    }

    def solve(entropy: EntropyProgram, bounded: Bounded) -> MixedAnswer:
        status, counts, m, iterations = solve_separable(bounded.program, start=start[bounded.rows], **few)
        return MixedAnswer(status, counts, np.empty(0), m, iterations)

    answer = _with_bounds(entropy, solve, options)
    if answer is None or answer.status == s.OPTIMAL:
        return answer
    return answer._replace(status=s.SOLVER_ERROR)  # the limit was that of a first attempt


def _primal_dual(entropy: EntropyProgram, options: Mapping[str, Any]) -> ConeAnswer | None:
    """Solve with bounds as bounds and with other variables; None if there is no y > 0 between the bounds."""

    def solve(entropy: EntropyProgram, bounded: Bounded) -> MixedAnswer:
        return solve_mixed(entropy.mixed(bounded), **options)

    return _with_bounds(entropy, solve, options)


def _with_bounds(
    entropy: EntropyProgram, solve: Callable[[EntropyProgram, Bounded], MixedAnswer], options: Mapping[str, Any]
) -> ConeAnswer | None:
    """Solve, a second time in other units if an average count is small, and judge."""
    bounded = entropy.bounded
    if bounded is None:
        return None
    answer = solve(entropy, bounded)
    iterations, mean = answer.iterations, float(answer.y.mean())
    if answer.status is Status.OPTIMAL and CONIC_PROGRAM.vanished_average < mean < CONIC_PROGRAM.small_average:
        entropy = entropy.scaled(1 / mean)
        bounded = entropy.bounded
        assert bounded is not None
        answer = solve(entropy, bounded)
        iterations += answer.iterations
    m = entropy.multipliers(bounded, answer.y, answer.multipliers)
    z, dual = entropy.restore(answer.y, m, answer.others)
    distance = entropy.program.distance(z, dual, of_entropies=not len(entropy.cost))
    holds = distance.is_optimal if len(entropy.cost) else distance.holds
    is_asked = "max_iterations" in options or bool(options["monitor"].stopped)
    limited = answer.status is Status.LIMIT and is_asked and not holds and np.isfinite(distance.primal)
    words = s.OPTIMAL if holds else s.USER_LIMIT if limited else s.SOLVER_ERROR
    return ConeAnswer(words, z, dual, distance, iterations, (entropy.kept, m))


def _as_linear_form(entropy: EntropyProgram, options: Mapping[str, Any]) -> ConeAnswer | None:
    """Solve by the method that proves zeros."""
    form, shift = entropy.form
    answer, counts, m = _newton(form, None, **options)
    iterations = answer.iterations
    mean = float(counts.mean())
    if answer.status is Status.OPTIMAL and CONIC_PROGRAM.vanished_average < mean < CONIC_PROGRAM.small_average:
        entropy = entropy.scaled(1 / mean)
        form, shift = entropy.form
        answer, counts, m = _newton(form, m, **options)  # multipliers are the same in any unit
        iterations += answer.iterations
    z, dual = entropy.restore(counts, m - shift)
    distance = entropy.program.distance(z, dual)
    if not distance.holds:
        # If rows imply zeros, multipliers tend to infinity, and residual times multiplier is a gap: remove residuals.
        exact = project(form, counts, np.zeros(len(counts), dtype=bool))
        z, dual = entropy.restore(counts if exact is None else exact, m - shift)
        distance = entropy.program.distance(z, dual)
    return ConeAnswer(_status(entropy, answer.status, distance), z, dual, distance, iterations)


def _newton(form: LinearForm, start: np.ndarray | None, **options: Any) -> tuple[Answer, np.ndarray, np.ndarray]:
    """Newton's method, which returns y and multipliers whatever its status is."""
    answer = BACKEND.solve(form, start, **options)
    if answer.counts is None or answer.multipliers is None:
        raise SolverError(f"{BACKEND.name} gave no answer ({answer.message}); use another solver, such as cp.CLARABEL")
    return answer, answer.counts, moved_along_recession(form, answer.multipliers, answer.proofs)


def _status(entropy: EntropyProgram, status: Status, distance: Distance) -> str:
    """The status in CVXPY's words, from the residuals and the gap; the solver's own claim makes nothing optimal."""
    if distance.holds:
        return s.OPTIMAL
    try:
        form = entropy.hard_rows
        clash = elastic_relaxation(form).off > CONIC_PROGRAM.contradiction / FEASIBILITY.relative * form.tolerance
    except SolverError:  # HiGHS cannot decide either
        return s.SOLVER_ERROR
    if clash.any():
        refuse_rounding_errors(entropy.program)
        return s.INFEASIBLE
    if status is Status.LIMIT and np.isfinite(distance.primal):
        return s.USER_LIMIT
    return s.OPTIMAL_INACCURATE if distance.is_near else s.SOLVER_ERROR
