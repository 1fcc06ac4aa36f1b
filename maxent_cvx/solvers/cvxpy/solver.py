"""DUAL_NEWTON as a solver that CVXPY calls: ``problem.solve(solver=mx.solvers.DualNewton())``.

CVXPY compiles a problem to a cone program. One that :mod:`.reader` can read as a sum of entropies over linear rows is
solved by a primal-dual method (:mod:`.mixed`), or, if it was solved before with other parameters, by Newton's method on
the dual from its last multipliers. Clarabel (Goulart and Chen, 2024) solves all other programs, with logarithms,
exponentials, relative entropies of two variables or entropies in constraints, and those for which these methods find no
precise answer. Whichever method answers, the status is what the program's own data prove
(:meth:`.ConeProgram.distance`, :meth:`.ConeProgram.proves_infeasible`, :meth:`.ConeProgram.proves_unbounded`).

This module and :mod:`.derivatives` depend on CVXPY's internals, as no other does.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import clarabel
import cvxpy
import cvxpy.settings as s
import numpy as np
import scipy.sparse as sp
from cvxpy.constraints import ExpCone, NonNeg, Zero
from cvxpy.reductions.solvers import defines
from cvxpy.reductions.solvers.conic_solvers.conic_solver import ConicSolver

from ..._utils.errors import MaxEntError, SolverError, UnknownName
from ..answer import Status
from ..backends import SOLVERS
from ..blocks import single_thread
from ..monitor import Monitor
from .mixed import log_line, solve_from, solve_mixed
from .reader import Bounded, ConeProgram, Distance, EntropyProgram, read, without_zero_references

#: The solver that CVXPY is offered.
BACKEND = SOLVERS["DUAL_NEWTON"]
#: The problems that the solver takes; refusals end with it.
TAKES = (
    "DUAL_NEWTON takes entropies, logarithms and exponentials with linear constraints and linear or quadratic terms; "
    "use a general conic solver such as cp.CLARABEL for this problem"
)
#: Relative residuals and gap at which Clarabel stops.
TOLERANCE = 1e-9
#: By what it is multiplied where the answer is not precise enough: costs of 1e5 multiply what rows miss.
STRICTER = 1e-3
#: Relative to the summands of the objective: a gap that is rounding, and that no method makes less.
ROUNDED_GAP = 1e-12
#: Relative: the largest violation, and gap, of an answer that is returned as inaccurate.
NEARLY = 1e-5
#: A smaller average count is the result of scaling by a constraint that is not active; it is scaled nearer to 1.
SMALL_AVERAGE = 0.1
#: Statuses, the best first.
STATUSES = (s.OPTIMAL, s.INFEASIBLE, s.UNBOUNDED, s.OPTIMAL_INACCURATE, s.USER_LIMIT, s.SOLVER_ERROR)
#: CVXPY's lists of names of solvers, as far as a release has them. It has no call that adds one, so that they are
#: extended in place, as other modules of CVXPY hold the same objects.
LISTS = ("CONIC_SOLVERS", "INSTALLED_SOLVERS", "INSTALLED_CONIC_SOLVERS")

#: Which rows an entropy program has, and their multipliers.
Start = tuple[np.ndarray, np.ndarray]


class Refused(SolverError, cvxpy.error.SolverError):
    """A problem that DUAL_NEWTON does not take; also CVXPY's error, after which CVXPY tries the next solver."""


class UnknownOption(UnknownName, cvxpy.error.SolverError):
    """An option that DUAL_NEWTON does not have; also CVXPY's error, as the next solver may have it."""


@contextmanager
def refusing() -> Iterator[None]:
    """Turn errors of this package into ones that are CVXPY's as well."""
    try:
        yield
    except UnknownName as error:
        raise UnknownOption(str(error)) from None
    except MaxEntError as error:
        raise Refused(str(error)) from None


class DualNewton(ConicSolver):
    """Maximise sum a x log(w / x) + c' x over linear constraints, by Newton's method on the dual.

    A solver for any CVXPY problem of this form: entropies ``entr(x)``, ``rel_entr(x, w)`` and ``kl_div(x, w)`` with
    constant w, any positive factors, affine arguments, linear equations and inequalities. Where w is 0, x is made
    exactly 0, as the divergence is infinite else. Constants in costs, units and factors of the entropy as small as a
    5,000th of the costs make no difference to it, and bounds on variables are no rows. Variables without entropy may
    have linear and quadratic costs. Other problems with exponential cones, such as logarithms, exponentials and
    entropies in constraints, are given to Clarabel (Goulart and Chen, 2024), whose answer is judged in the same way.

    Options of ``solve``: `tolerance` (the row residual and duality gap at which to stop, where an average term is 1; in
    other problems relative), `max_iterations`, and `time_limit` (seconds, compared between iterations). With
    ``verbose=True`` a line is printed for each iteration, also of Clarabel.

    Any other problem, with second-order or semidefinite cones or without exponential ones, is refused with an error
    that says what was found, a :class:`~maxent_cvx.SolverError` and CVXPY's own, so that a list of solvers
    (``solver_path``) falls back on the next.

    The status is "optimal" only if the residuals and the gap, recomputed from CVXPY's data, are small; they are in
    ``problem.solver_stats.extra_stats``. Of entropies, also beside costs of other variables, a gap of at most 5e-9 of
    the sum of the entropies' arguments, each times its factor, is sought by every method there is: at most a share of
    1e-4 of that mass is then misplaced (Pinsker's inequality). Where none reaches it, and in all other problems, the
    gap is at most 1e-7 of the summands of the objective, of which a tenth of the largest cost is one, as for CLARABEL:
    beside a cost of 1e5 that is a gap of 1e-3, and ``extra_stats.gap`` says how large it is.

    Raises
    ------
    SolverError
        If the problem is refused, or no answer is found; also CVXPY's ``SolverError``.
    UnknownName
        If the solver has no such option; also CVXPY's ``SolverError``.

    Notes
    -----
    A problem that is solved again begins with the multipliers of its last optimal solution, which is what is kept,
    unless ``warm_start=False``: with parameters (DPP) that moved a little, Newton's method then takes a few steps, and
    begins anew after ten. Where many bounds are active these ten are often in vain. Problems with variables without
    entropy, and those that Clarabel solves, always begin anew.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import maxent_cvx as mx
    >>> x = cp.Variable(6)
    >>> fair = [cp.sum(x) == 1, range(1, 7) @ x == 4.5]
    >>> problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), fair)
    >>> round(float(problem.solve(solver=mx.solvers.DualNewton())), 6)
    1.613581
    """

    SUPPORTED_CONSTRAINTS: Any = (Zero, NonNeg, ExpCone)
    EXP_CONE_ORDER: Any = (0, 1, 2)
    MIP_CAPABLE = False

    def __repr__(self) -> str:
        return f"<DualNewton: {self.name()}, a solver for CVXPY>"

    def name(self) -> str:
        """The solver's name."""
        return BACKEND.name

    def supports_quad_obj(self) -> bool:
        """Whether quadratic objectives are taken as they are: yes."""
        return True

    def import_solver(self) -> None:
        """Nothing is imported: the solver is in this package."""

    def cite(self, data: Mapping[str, Any]) -> str:
        """BibTeX of this software."""
        return "@misc{maxent_cvx, title={maxent\\_cvx}, author={{The maxent\\_cvx developers}}}"

    # CVXPY caches compiled problems by solver, so that all instances must be equal.
    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def can_solve(self, problem_form: Any) -> bool:
        """Whether the solver supports the cones of a problem; if not, the error names those that it does not."""
        if super().can_solve(problem_form):
            return True
        cones = {cone.__name__ for cone in problem_form.cones()} - {c.__name__ for c in self.SUPPORTED_CONSTRAINTS}
        unsupported = f"cones of the kind {', '.join(sorted(cones))}" if cones else "functions"
        raise Refused(f"the problem has {unsupported} that DUAL_NEWTON does not take. {TAKES}")

    @single_thread
    def solve_via_data(
        self,
        data: Mapping[str, Any],
        warm_start: bool,
        verbose: bool,
        solver_opts: Mapping[str, Any],
        solver_cache: Any = None,
    ) -> dict[str, Any]:
        """Solve the cone program of a problem, and keep its multipliers in CVXPY's cache of this problem."""
        begun = time.perf_counter()
        with refusing():
            cache = solver_cache if solver_cache is not None else {}
            start = cache.get(self.name()) if warm_start else None
            options = {name: value for name, value in solver_opts.items() if name != "use_quad_obj"}  # CVXPY's own
            monitor = Monitor(verbose=verbose, time_limit=options.pop("time_limit", np.inf))
            BACKEND.check(options)
            program = cone_program(data)
            answer = solve_program(program, {**options, "monitor": monitor}, start)
        if answer.status == s.OPTIMAL and answer.start is not None:
            cache[self.name()] = answer.start
        dims = data[self.DIMS]
        return {
            "status": answer.status,
            "value": program.value(answer.z),
            "primal": answer.z,
            "eq_dual": answer.dual[: dims.zero],
            "ineq_dual": answer.dual[dims.zero :],
            s.SOLVE_TIME: time.perf_counter() - begun,
            s.NUM_ITERS: answer.iterations,
            s.EXTRA_STATS: answer.distance,
        }

    def invert(self, solution: dict[str, Any], inverse_data: Any) -> Any:
        """Return the answer to CVXPY, with iterations, time, and its residuals and gap in ``extra_stats``."""
        inverted = super().invert(solution, inverse_data)
        inverted.attr.update({key: solution[key] for key in (s.SOLVE_TIME, s.NUM_ITERS, s.EXTRA_STATS)})
        return inverted


def cone_program(data: Mapping[str, Any]) -> ConeProgram:
    """The cone program that CVXPY has compiled a problem to."""
    dims, compiled, curved = data[DualNewton.DIMS], data[s.PARAM_PROB], data.get(s.P)
    matrix = sp.csr_array(data[s.A])
    if not matrix.data.all():
        matrix.eliminate_zeros()

    def where(column: int) -> str:
        """The name of a column, such as x[3]; CVXPY flattens variables in column-major order."""
        for variable in compiled.variables:
            place = column - compiled.var_id_to_col[variable.id]
            if 0 <= place < variable.size:
                index = ", ".join(str(int(i)) for i in np.unravel_index(place, variable.shape, order="F"))
                return f"{variable.name()}[{index}]" if variable.shape else str(variable.name())
        return f"column {column}"

    P = sp.csc_array(curved) if curved is not None and curved.nnz else None
    return ConeProgram(data[s.C], matrix, data[s.B], dims.zero, dims.nonneg, dims.exp, where, P)


def register_with_cvxpy() -> str:
    """Let CVXPY find the solver by its name, ``solver="DUAL_NEWTON"``, also in lists of solvers, ``solver_path=[...]``.

    It comes last in CVXPY's lists: a problem that is solved without the name of a solver is solved as before. To
    register again changes nothing.

    Returns
    -------
    str
        The name.

    Examples
    --------
    >>> import cvxpy as cp, maxent_cvx as mx
    >>> mx.solvers.register_with_cvxpy()
    'DUAL_NEWTON'
    >>> x = cp.Variable(6)
    >>> problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, range(1, 7) @ x == 4.5])
    >>> round(float(problem.solve(solver="DUAL_NEWTON")), 6)                      # nats
    1.613581
    >>> _ = problem.solve(solver_path=["DUAL_NEWTON", "CLARABEL"])
    >>> problem.solver_stats.solver_name
    'DUAL_NEWTON'
    """
    solver = DualNewton()
    name = solver.name()
    defines.SOLVER_MAP_CONIC.setdefault(name, solver)
    for which in LISTS:
        names = getattr(defines, which, None)
        if isinstance(names, list) and name not in names:
            names.append(name)
    return name


class ConeAnswer(NamedTuple):
    """An answer to a cone program, and how far it is from optimal."""

    status: str  # in CVXPY's words
    z: np.ndarray
    dual: np.ndarray
    distance: Distance
    iterations: int
    start: Start | None = None  # of an entropy program: where the next one can begin

    def is_settled(self, of_entropies: bool) -> bool:
        """Whether no other way is tried: a proof, a limit, or an optimum whose gap is small for entropies, if any."""
        if self.status != s.OPTIMAL:
            return self.status in (s.INFEASIBLE, s.UNBOUNDED, s.USER_LIMIT)
        return not of_entropies or self.distance.holds or self.distance.relative_gap <= ROUNDED_GAP


def solve_program(program: ConeProgram, options: Mapping[str, Any], start: Start | None = None) -> ConeAnswer:
    """Solve a cone program, as an entropy program if it is one, from the multipliers of the last one if it is alike."""
    if not program.n_exp:
        raise SolverError(f"there is no entropy in the problem: use cp.HIGHS or cp.CLARABEL for it. {TAKES}")
    answer = _solve(program, options, start)
    if answer.status == s.SOLVER_ERROR:
        raise SolverError(f"no answer to the problem was found: the best one has {answer.distance}")
    if answer.status != s.UNBOUNDED:
        return answer
    # A direction along which the objective improves without limit exists in infeasible problems, too.
    feasible = _solve(replace(program, c=np.zeros(len(program.c)), P=None), options)
    if feasible.status == s.INFEASIBLE:
        return feasible
    is_feasible = feasible.status in (s.OPTIMAL, s.OPTIMAL_INACCURATE, s.UNBOUNDED)
    return answer if is_feasible else answer._replace(status=s.INFEASIBLE_OR_UNBOUNDED)


def _solve(program: ConeProgram, options: Mapping[str, Any], start: Start | None = None) -> ConeAnswer:
    """Solve a cone program by the first way that answers; "unbounded" is concluded without regard to the constraints."""
    if (smaller := without_zero_references(program)) is not None:
        answer = _solve(smaller.program, options, start)
        z, dual = smaller.restore(answer.z, answer.dual, len(program.b))
        distance = program.distance(z, dual)
        is_lost = answer.status == s.OPTIMAL and not (distance.holds or distance.is_optimal)
        if answer.status != s.SOLVER_ERROR and not is_lost:
            return answer._replace(z=z, dual=dual, distance=distance)
    entropy, ways = read(program) if program.n_exp else None, []
    if entropy is not None and entropy.bounded is not None:  # otherwise no y > 0 is between the bounds
        if start is not None and not len(entropy.rows.cost) and np.array_equal(start[0], entropy.kept):
            ways.append(partial(_solve_entropies, entropy, entropy.bounded, options, start[1]))
        ways.append(partial(_solve_entropies, entropy, entropy.bounded, options))
    tolerance = options.get("tolerance", TOLERANCE)
    ways += [partial(_solve_by_clarabel, program, limit, options) for limit in (tolerance, STRICTER * tolerance)]
    answers: list[ConeAnswer] = []
    for way in ways:
        answers.append(way())
        if answers[-1].is_settled(entropy is not None):
            break
    # Beside large costs a gap that is small for the objective may be large for the entropies: the least one counts.
    best = min(answers, key=lambda answer: (STATUSES.index(answer.status), answer.distance.gap))
    return best._replace(iterations=sum(answer.iterations for answer in answers))


def _solve_entropies(
    entropy: EntropyProgram, bounded: Bounded, options: Mapping[str, Any], start: np.ndarray | None = None
) -> ConeAnswer:
    """Solve an entropy program by the primal-dual method, or from multipliers near the solution, and judge the answer."""
    if start is None:
        answer = solve_mixed(bounded.program, **options)
        iterations, mean = answer.iterations, float(answer.y.mean())
        if answer.status is Status.OPTIMAL and 0 < mean < SMALL_AVERAGE:
            entropy = entropy.scaled(1 / mean)
            assert entropy.bounded is not None
            bounded = entropy.bounded
            answer = solve_mixed(bounded.program, **options)
            iterations += answer.iterations
    else:
        answer = solve_from(bounded.program, start[bounded.rows], **options)
        iterations = answer.iterations
    m = entropy.multipliers(bounded, answer.y, answer.multipliers)
    z, dual = entropy.restore(answer.y, m, answer.others)
    has_cost = len(entropy.rows.cost) > 0
    distance = entropy.program.distance(z, dual, of_entropies=not has_cost)
    holds = distance.is_optimal if has_cost else distance.holds
    is_asked = start is None and ("max_iterations" in options or bool(options["monitor"].stopped))
    limited = answer.status is Status.LIMIT and is_asked and np.isfinite(distance.primal)
    words = s.OPTIMAL if holds else s.USER_LIMIT if limited else s.SOLVER_ERROR
    return ConeAnswer(words, z, dual, distance, iterations, (entropy.kept, m))


def _solve_by_clarabel(program: ConeProgram, tolerance: float, options: Mapping[str, Any]) -> ConeAnswer:
    """Call Clarabel once, and judge its answer."""
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
        residual = max(info.res_primal, info.res_dual)
        try:
            return bool(monitor.tell(log_line(info.iterations, residual, info.gap_rel, info.cost_dual, monitor)))
        except BaseException as error:  # Clarabel would print it and go on
            raised.append(error)
            return True

    solver.set_termination_callback(watch)
    solution = solver.solve()
    if raised:
        raise raised[0]
    word, z, dual = str(solution.status), side * np.array(solution.x), np.zeros(len(kept))
    # Without an objective every point that satisfies the rows is optimal, as dual values of 0 prove.
    if program.c.any() or program.P is not None or "PrimalInfeasible" in word:
        dual[kept] = cost * np.array(solution.z)
    if "Infeasible" not in word:
        if program.P is None and not b.any():  # every multiple of a feasible point is feasible: the optimum is at 0
            z[:] = 0.0
        else:  # arguments of entropies below 0, as -1e-12, where these have no value
            of_u, sides = program.triple(1)
            plain = of_u.indptr[np.flatnonzero((np.diff(of_u.indptr) == 1) & (sides == 0))]
            column = of_u.indices[plain]
            z[column[-of_u.data[plain] * z[column] < 0]] = 0.0
    distance = program.distance(z, dual)
    is_near = max(distance.largest, distance.relative_gap) <= NEARLY
    if "PrimalInfeasible" in word:
        status = s.INFEASIBLE if program.proves_infeasible(dual) else s.SOLVER_ERROR
    elif "DualInfeasible" in word:
        status = s.UNBOUNDED if program.proves_unbounded(z) else s.SOLVER_ERROR
    elif distance.is_optimal:
        status = s.OPTIMAL
    elif word in ("MaxIterations", "CallbackTerminated") and np.isfinite(distance.primal):
        status = s.USER_LIMIT
    else:
        status = s.OPTIMAL_INACCURATE if is_near else s.SOLVER_ERROR
    return ConeAnswer(status, z, dual, distance, solution.iterations)
