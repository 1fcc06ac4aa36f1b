"""The answer to a cone program: the package's own methods for entropy programs, Clarabel for all else, and the judge.

A program that :mod:`.reading` takes is solved by Newton's method on the dual of its entropies, or by a primal-dual
method if it has bounds or variables without entropy. Clarabel (Goulart and Chen, 2024) solves all other programs, with
logarithms, exponentials, relative entropies of two variables or entropies in constraints, and those for which the own
methods find no precise answer. Whoever answers, the status is what the program's own data prove
(:meth:`.ConeProgram.distance`, :meth:`.ConeProgram.proves_infeasible`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import clarabel
import cvxpy.settings as s
import numpy as np
import scipy.sparse as sp

from ...errors import SolverError
from ..answer import Status
from ..backends.registry import SOLVERS
from ..parameters.dual_methods import SEPARABLE_NEWTON
from ..parameters.tolerances import CONIC_PROGRAM
from .cone_program import ConeProgram, Distance
from .entropy_program import Bounded, EntropyProgram
from .newton import solve_separable
from .primal_dual import MixedAnswer, solve_mixed
from .reading import TAKES, read
from .zero_references import WithoutZeros, without_zero_references

__all__ = ["BACKEND", "ConeAnswer", "Start", "solve_program"]

#: The solver that CVXPY is offered.
BACKEND = SOLVERS["DUAL_NEWTON"]
#: Relative residuals and gap at which Clarabel stops.
TOLERANCE = 1e-9
#: By what it is multiplied where the answer is not precise enough: costs of 1e5 multiply what rows miss.
STRICTER = 1e-3
#: Statuses, the best first.
STATUSES = (s.OPTIMAL, s.INFEASIBLE, s.UNBOUNDED, s.OPTIMAL_INACCURATE, s.USER_LIMIT, s.SOLVER_ERROR)

#: Which rows an entropy program has, and their multipliers.
Start = tuple[np.ndarray, np.ndarray]


class ConeAnswer(NamedTuple):
    """An answer to a cone program, and how far it is from optimal.

    Attributes
    ----------
    status : str
        In CVXPY's words.
    z : ndarray, one a column
    dual : ndarray, one a row
    distance : Distance
    iterations : int
    start : (ndarray, ndarray), optional
        Of an entropy program, which rows it has and their multipliers: where the next one can begin.
    """

    status: str
    z: np.ndarray
    dual: np.ndarray
    distance: Distance
    iterations: int
    start: Start | None = None

    def is_settled(self, of_entropies: bool) -> bool:
        """Whether no other way is tried: a proof, a limit, or an optimum whose gap is small for entropies, if any."""
        if self.status != s.OPTIMAL:
            return self.status in (s.INFEASIBLE, s.UNBOUNDED, s.USER_LIMIT)
        return not of_entropies or self.distance.holds or self.distance.relative_gap <= CONIC_PROGRAM.rounded_gap


#: A method with its program; None if it does not apply.
Way = Callable[[], ConeAnswer | None]


def solve_program(program: ConeProgram, options: Mapping[str, Any], start: Start | None = None) -> ConeAnswer:
    """Solve a cone program, as an entropy program if it is one, from the multipliers of the last one if it is alike.

    Raises
    ------
    SolverError
        If it has no exponential cones, or if no answer is found.
    """
    if not program.n_exp:
        raise SolverError(f"there is no entropy in the problem: use cp.HIGHS or cp.CLARABEL for it. {TAKES}")
    answer = _solved(program, options, start)
    if answer.status == s.SOLVER_ERROR:
        raise SolverError(f"no answer to the problem was found: the best one has {answer.distance}")
    if answer.status != s.UNBOUNDED:
        return answer
    # A direction along which the objective improves without limit exists in infeasible problems, too.
    feasible = _solved(replace(program, c=np.zeros(len(program.c)), P=None), options)
    if feasible.status == s.INFEASIBLE:
        return feasible
    is_feasible = feasible.status in (s.OPTIMAL, s.OPTIMAL_INACCURATE, s.UNBOUNDED)
    return answer if is_feasible else answer._replace(status=s.INFEASIBLE_OR_UNBOUNDED)


def _solved(program: ConeProgram, options: Mapping[str, Any], start: Start | None = None) -> ConeAnswer:
    """Solve a cone program by the first way that answers; "unbounded" is said without a look at the constraints."""
    if not program.n_exp:
        return _solve_cone_program(program, options)
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
    entropy = read(program)
    if entropy is None:
        return _solve_cone_program(program, options)
    if start is not None and not len(entropy.cost) and np.array_equal(start[0], entropy.kept):
        return _solve_entropy_program(entropy, options, start[1])
    return _solve_entropy_program(entropy, options, None)


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


def _solve_cone_program(program: ConeProgram, options: Mapping[str, Any]) -> ConeAnswer:
    """Solve a program by Clarabel."""
    return _first_settled(_clarabel_ways(program, options), of_entropies=False)


def _solve_entropy_program(entropy: EntropyProgram, options: Mapping[str, Any], start: np.ndarray | None) -> ConeAnswer:
    """Solve an entropy program by the own method for it, and, if need be, by Clarabel."""
    has_bounds = entropy.bounded is not None and len(entropy.bounded.bounds) > 0
    own = _primal_dual if len(entropy.cost) or has_bounds else _in_logarithms
    ways: list[Way] = [partial(own, entropy, options), *_clarabel_ways(entropy.program, options)]
    if start is not None:
        ways = [partial(_from_multipliers, entropy, options, start), *ways]
    return _first_settled(ways, of_entropies=True)


def _clarabel_ways(program: ConeProgram, options: Mapping[str, Any]) -> list[Way]:
    """Clarabel with the tolerance given, and with a stricter one."""
    tolerance = options.get("tolerance", TOLERANCE)
    return [partial(_by_clarabel, program, limit, options) for limit in (tolerance, STRICTER * tolerance)]


def _first_settled(ways: Iterable[Way], *, of_entropies: bool) -> ConeAnswer:
    """The first answer that is settled, or the best of all, with the iterations of all.

    Of entropies, a gap that is small for the objective may be large beside large costs; where no way finds another, the
    answer with the least gap counts.
    """
    found: list[ConeAnswer] = []
    for way in ways:
        answer = way()
        if answer is not None:
            found.append(answer)
            if answer.is_settled(of_entropies):
                break
    best = min(found, key=lambda one: (STATUSES.index(one.status), one.distance.gap))
    return best._replace(iterations=sum(one.iterations for one in found))


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


def _by_clarabel(program: ConeProgram, tolerance: float, options: Mapping[str, Any]) -> ConeAnswer:
    """Call Clarabel once, and judge what comes back."""
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = tolerance
    settings.max_iter = options.get("max_iterations", settings.max_iter)
    kept, n = np.isfinite(program.b), len(program.c)
    cones = [clarabel.ZeroConeT(program.n_zero)]
    cones += [clarabel.NonnegativeConeT(int(kept[program.n_zero : program.linear.stop].sum()))]
    cones += [clarabel.ExponentialConeT()] * program.n_exp
    A, b = sp.csc_matrix(program.A[np.flatnonzero(kept)]), program.b[kept]
    P = sp.csc_matrix((n, n)) if program.P is None else sp.csc_matrix(sp.triu(program.P))
    # Units in which the largest side and the largest cost are 1: Clarabel's tolerances are partly absolute, and it
    # found no answer to a quarter to nine tenths of programs in units of 1e8 (0 of 50 with these; a cone has no unit).
    side = float(np.abs(b).max(initial=0.0)) or 1.0
    cost = max(float(np.abs(program.c).max(initial=0.0)), side * float(np.abs(P.data).max(initial=0.0))) or 1.0
    solver = clarabel.DefaultSolver(P * (side / cost), program.c / cost, A, b / side, cones, settings)
    monitor, raised = options["monitor"], []

    def watch(info: Any) -> bool:
        line = {"residual": max(info.res_primal, info.res_dual), "gap": info.gap_rel, "dual": info.cost_dual}
        line |= {"iteration": info.iterations, "parts": 1, "dropped": 0, "products": 0, "seconds": monitor.seconds}
        try:
            return bool(monitor.tell(line))
        except BaseException as error:  # Clarabel would print it and go on
            raised.append(error)
            return True

    solver.set_termination_callback(watch)
    found = solver.solve()
    if raised:
        raise raised[0]
    word, z, dual = str(found.status), side * np.array(found.x), np.zeros(len(kept))
    if program.c.any() or program.P is not None or "PrimalInfeasible" in word:
        dual[kept] = cost * np.array(found.z)
    # Without an objective every point that satisfies the rows is optimal, as dual values of 0 prove. Without right-hand
    # sides every multiple of a feasible point is feasible: the optimum is 0, at 0, if there is one.
    if "Infeasible" not in word:
        at_zero = program.P is None and not b.any()
        z[slice(None) if at_zero else _negative_arguments(program, z)] = 0.0
    distance = program.distance(z, dual)
    return ConeAnswer(_status(program, word, z, dual, distance), z, dual, distance, found.iterations)


def _negative_arguments(program: ConeProgram, z: np.ndarray) -> np.ndarray:
    """Columns that are arguments of entropies and below 0, as -1e-12, where these have no value."""
    arguments, sides = program.triple(1)
    plain = arguments.indptr[np.flatnonzero((np.diff(arguments.indptr) == 1) & (sides == 0))]
    column = arguments.indices[plain]
    return column[-arguments.data[plain] * z[column] < 0]


def _status(program: ConeProgram, word: str, z: np.ndarray, dual: np.ndarray, distance: Distance) -> str:
    """The status in CVXPY's words."""
    if "PrimalInfeasible" in word:
        return s.INFEASIBLE if program.proves_infeasible(dual) else s.SOLVER_ERROR
    if "DualInfeasible" in word:
        return s.UNBOUNDED if program.proves_unbounded(z) else s.SOLVER_ERROR
    if distance.is_optimal:
        return s.OPTIMAL
    if word in ("MaxIterations", "CallbackTerminated") and np.isfinite(distance.primal):
        return s.USER_LIMIT
    is_near = max(distance.largest, distance.relative_gap) <= CONIC_PROGRAM.nearly
    return s.OPTIMAL_INACCURATE if is_near else s.SOLVER_ERROR
