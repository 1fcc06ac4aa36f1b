"""DUAL_NEWTON as a solver for CVXPY: ``problem.solve(solver=mx.solvers.DualNewton())``.

CVXPY compiles a problem to a cone program. If :mod:`.reader` can read it as a sum of entropies over linear rows, it is
solved by a primal-dual method (:mod:`.mixed`) or, if it was solved before with other parameters, by Newton's method on
the dual from its last multipliers. Clarabel (Goulart and Chen, 2024) solves all other programs, with logarithms,
exponentials, relative entropies of two variables or entropies in constraints, and programs for which these methods find
no precise answer. The status is always proved from the program's own data
(:meth:`.ConeProgram.distance`, :meth:`.ConeProgram.proves_infeasible`, :meth:`.ConeProgram.proves_unbounded`).

Only this module and :mod:`.derivatives` depend on CVXPY's internals.
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

from ..._utils.errors import MaxEntError, SolverError, UnknownName, pluralize
from ..answer import Status
from ..backends import SOLVERS
from ..blocks import single_thread
from ..monitor import Monitor
from .mixed import log_line, solve_from, solve_mixed
from .reader import Bounded, ConeProgram, Distance, EntropyProgram, read, without_zero_references

#: The solver that is offered to CVXPY.
BACKEND = SOLVERS["DUAL_NEWTON"]
#: The supported problems; messages about unsupported problems end with this text.
TAKES = (
    "DUAL_NEWTON supports entropies, logarithms and exponentials with linear constraints and linear or quadratic terms;"
    " use a general conic solver such as cp.CLARABEL for this problem"
)
#: Relative residuals and gap at which Clarabel stops.
TOLERANCE = 1e-9
#: Factor of the tolerance if the answer is not precise enough: costs of 1e5 multiply the residuals of rows.
STRICTER = 1e-3
#: Relative to the summands of the objective: a smaller gap consists of rounding errors, which no method reduces.
ROUNDED_GAP = 1e-12
#: Relative: the largest violation, and gap, of an answer that is returned as inaccurate.
NEARLY = 1e-5
#: A smaller average count results from scaling by an inactive constraint; it is then scaled to be nearer to 1.
SMALL_AVERAGE = 0.1
#: Statuses, from best to worst.
STATUSES = (s.OPTIMAL, s.INFEASIBLE, s.UNBOUNDED, s.OPTIMAL_INACCURATE, s.USER_LIMIT, s.SOLVER_ERROR)
#: CVXPY's lists of solver names, as far as they exist in the installed version. CVXPY has no function to add a name, so
#: they are extended in place, since other modules of CVXPY refer to the same objects.
LISTS = ("CONIC_SOLVERS", "INSTALLED_SOLVERS", "INSTALLED_CONIC_SOLVERS")

#: Identifiers of the rows of an entropy program, and their multipliers.
Start = tuple[np.ndarray, np.ndarray]


class Refused(SolverError, cvxpy.error.SolverError):
    """A problem that DUAL_NEWTON does not support; also CVXPY's error, after which CVXPY tries the next solver."""


class UnknownOption(UnknownName, cvxpy.error.SolverError):
    """An option that DUAL_NEWTON does not have; also CVXPY's error, since the next solver may have it."""


@contextmanager
def refusing() -> Iterator[None]:
    """Convert errors of this package to errors that are also CVXPY's."""
    try:
        yield
    except UnknownName as error:
        raise UnknownOption(str(error)) from None
    except MaxEntError as error:
        raise Refused(str(error)) from None


class DualNewton(ConicSolver):
    """Maximise sum a x log(w / x) + c' x over linear constraints, by Newton's method on the dual.

    A solver for any CVXPY problem of this form: entropies ``entr(x)``, ``rel_entr(x, w)`` and ``kl_div(x, w)`` with
    constant w, any positive factors, affine arguments, linear equations and inequalities. Where w is 0, x is exactly 0,
    because the divergence is infinite otherwise. Constants in costs, units, and entropy factors as small as a 5,000th
    of the costs do not affect the solver, and bounds on variables are not treated as rows. Variables without entropy
    may have linear and quadratic costs. Other problems with exponential cones, such as logarithms, exponentials and
    entropies in constraints, are passed to Clarabel (Goulart and Chen, 2024), whose answer is verified in the same way.

    Options of ``solve``: `tolerance` (the row residual and duality gap at which to stop, where an average term is 1; in
    other problems relative), `max_iterations`, and `time_limit` (in seconds, checked between iterations). With
    ``verbose=True`` a line is printed for each iteration, also of Clarabel.

    Any other problem, with second-order or semidefinite cones or without exponential cones, is refused with an error
    that names the reason. It is both a :class:`~maxent_cvx.SolverError` and CVXPY's own, so that a list of solvers
    (``solver_path``) continues with the next one.

    The status is "optimal" only if the residuals and the gap, recomputed from CVXPY's data, are small; they are in
    ``problem.solver_stats.extra_stats``. For entropies, also with costs of other variables, all methods are tried until
    the gap is at most 5e-9 of the sum of the entropies' arguments, each times its factor: at most a share of 1e-4 of
    that mass is then misplaced (Pinsker's inequality). If no method reaches it, and for all other problems, the gap is
    at most 1e-7 of the summands of the objective, one of which is a tenth of the largest cost, as for CLARABEL: with a
    cost of 1e5 that is a gap of 1e-3, and ``extra_stats.gap`` contains its size.

    Raises
    ------
    SolverError
        If the problem is refused, or no answer is found; also CVXPY's ``SolverError``.
    UnknownName
        If the solver has no such option; also CVXPY's ``SolverError``.

    Notes
    -----
    A problem that is solved again starts from the multipliers of its last optimal solution, the only stored state,
    unless ``warm_start=False``: if parameters (DPP) changed a little, Newton's method then takes a few steps, and it
    restarts after ten. With many active bounds these ten steps are often wasted. Problems with variables without
    entropy, and problems solved by Clarabel, always start from the beginning.

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
        """Return the solver's name."""
        return BACKEND.name

    def supports_quad_obj(self) -> bool:
        """Return True: quadratic objectives are supported natively."""
        return True

    def import_solver(self) -> None:
        """Import nothing: the solver is in this package."""

    def cite(self, data: Mapping[str, Any]) -> str:
        """Return the BibTeX entry of this package."""
        return "@misc{maxent_cvx, title={maxent\\_cvx}, author={{The maxent\\_cvx developers}}}"

    # CVXPY caches compiled problems by solver, so all instances must be equal.
    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def can_solve(self, problem_form: Any) -> bool:
        """Return whether the solver supports the cones of a problem; otherwise raise an error that names the others."""
        if super().can_solve(problem_form):
            return True
        if problem_form.is_mixed_integer():
            raise Refused(
                "the problem has boolean or integer variables; use a mixed-integer solver that takes exponential cones, such as "
                "cp.MOSEK or cp.SCIP"
            )
        cones = {cone.__name__ for cone in problem_form.cones()} - {c.__name__ for c in self.SUPPORTED_CONSTRAINTS}
        unsupported = f"cones of the kind {', '.join(sorted(cones))}" if cones else "functions"
        raise Refused(f"the problem has {unsupported} that DUAL_NEWTON does not support. {TAKES}")

    @single_thread
    def solve_via_data(
        self,
        data: Mapping[str, Any],
        warm_start: bool,
        verbose: bool,
        solver_opts: Mapping[str, Any],
        solver_cache: Any = None,
    ) -> dict[str, Any]:
        """Solve the cone program of a problem, and store its multipliers in CVXPY's cache of this problem."""
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
    """Return the cone program to which CVXPY has compiled a problem."""
    dims, compiled, curved, b = data[DualNewton.DIMS], data[s.PARAM_PROB], data.get(s.P), data[s.B]
    if dims.zero + dims.nonneg + 3 * dims.exp < len(b):  # CVXPY does not announce the cones of xexp
        raise SolverError(f"the problem has cones that DUAL_NEWTON does not support, such as those of xexp. {TAKES}")
    # Rows are b - A z in a cone. An infinite side is a row that is always true (x <= inf) or that no number satisfies.
    false, inequalities = np.isinf(b), slice(dims.zero, dims.zero + dims.nonneg)
    false[inequalities] &= b[inequalities] < 0
    if n_false := int(false.sum()):
        raise SolverError(
            f"the problem has {pluralize(n_false, 'row')} with an infinite constant that no finite number satisfies, such "
            "as x == inf or x <= -inf; correct the constants and the values of parameters"
        )
    matrix = sp.csr_array(data[s.A])
    if not matrix.data.all():
        matrix.eliminate_zeros()

    def where(column: int) -> str:
        """Return the name of a column, such as x[3]; CVXPY flattens variables in column-major order."""
        for variable in compiled.variables:
            place = column - compiled.var_id_to_col[variable.id]
            if 0 <= place < variable.size:
                index = ", ".join(str(int(i)) for i in np.unravel_index(place, variable.shape, order="F"))
                return f"{variable.name()}[{index}]" if variable.shape else str(variable.name())
        return f"column {column}"

    P = sp.csc_array(curved) if curved is not None and curved.nnz else None
    return ConeProgram(data[s.C], matrix, b, dims.zero, dims.nonneg, dims.exp, where, P)


def register_with_cvxpy() -> str:
    """Register the solver in CVXPY by its name, ``solver="DUAL_NEWTON"``, also for ``solver_path=[...]``.

    It is the last of CVXPY's solvers, so that problems solved without the name of a solver are not affected.
    Registering it again has no effect.

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
    """An answer to a cone program, and its distance from optimality."""

    status: str  # one of CVXPY's statuses
    z: np.ndarray
    dual: np.ndarray
    distance: Distance
    iterations: int
    start: Start | None = None  # for an entropy program: the start of the next solve

    def is_settled(self, of_entropies: bool) -> bool:
        """Return whether no other method is tried: a proof, a limit, or an optimum with a small gap for entropies."""
        if self.status != s.OPTIMAL:
            return self.status in (s.INFEASIBLE, s.UNBOUNDED, s.USER_LIMIT)
        return not of_entropies or self.distance.holds or self.distance.relative_gap <= ROUNDED_GAP


def solve_program(program: ConeProgram, options: Mapping[str, Any], start: Start | None = None) -> ConeAnswer:
    """Solve a cone program, if possible as an entropy program, starting from the multipliers of a similar one."""
    if not program.n_exp:
        raise SolverError(f"the problem contains no entropy: use cp.HIGHS or cp.CLARABEL for it. {TAKES}")
    answer = _solve(program, options, start)
    if answer.status == s.SOLVER_ERROR:
        raise SolverError(f"no answer to the problem was found: the best one has {answer.distance}")
    if answer.status != s.UNBOUNDED:
        return answer
    # Infeasible problems may also have a direction along which the objective improves without limit.
    feasible = _solve(replace(program, c=np.zeros(len(program.c)), P=None), options)
    if feasible.status == s.INFEASIBLE:
        return feasible
    is_feasible = feasible.status in (s.OPTIMAL, s.OPTIMAL_INACCURATE, s.UNBOUNDED)
    return answer if is_feasible else answer._replace(status=s.INFEASIBLE_OR_UNBOUNDED)


def _solve(program: ConeProgram, options: Mapping[str, Any], start: Start | None = None) -> ConeAnswer:
    """Solve a cone program by the first method that succeeds; "unbounded" is concluded without the constraints."""
    if (smaller := without_zero_references(program)) is not None:
        answer = _solve(smaller.program, options, start)
        z, dual = smaller.restore(answer.z, answer.dual, len(program.b))
        distance = program.distance(z, dual)
        is_lost = answer.status == s.OPTIMAL and not (distance.holds or distance.is_optimal)
        if answer.status != s.SOLVER_ERROR and not is_lost:
            return answer._replace(z=z, dual=dual, distance=distance)
    entropy, ways = read(program) if program.n_exp else None, []
    if entropy is not None and entropy.bounded is not None:  # otherwise no y > 0 satisfies the bounds
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
    # With large costs, a gap that is small for the objective may be large for the entropies: use the least gap.
    best = min(answers, key=lambda answer: (STATUSES.index(answer.status), answer.distance.gap))
    return best._replace(iterations=sum(answer.iterations for answer in answers))


def _solve_entropies(
    entropy: EntropyProgram, bounded: Bounded, options: Mapping[str, Any], start: np.ndarray | None = None
) -> ConeAnswer:
    """Solve an entropy program by the primal-dual method, or from nearby multipliers, and verify the answer."""
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
    z = entropy.program.with_values(z)
    has_cost = len(entropy.rows.cost) > 0
    distance = entropy.program.distance(z, dual, of_entropies=not has_cost)
    holds = distance.is_optimal if has_cost else distance.holds
    is_asked = start is None and ("max_iterations" in options or bool(options["monitor"].stopped))
    limited = answer.status is Status.LIMIT and is_asked and np.isfinite(distance.primal)
    words = s.OPTIMAL if holds else s.USER_LIMIT if limited else s.SOLVER_ERROR
    return ConeAnswer(words, z, dual, distance, iterations, (entropy.kept, m))


def _solve_by_clarabel(program: ConeProgram, tolerance: float, options: Mapping[str, Any]) -> ConeAnswer:
    """Call Clarabel once, and verify its answer."""
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
    # found no answer for 25 % to 90 % of programs in units of 1e8 (0 of 50 failed in these units; a cone has no unit).
    side = float(np.abs(b).max(initial=0.0)) or 1.0
    cost = max(float(np.abs(program.c).max(initial=0.0)), side * float(np.abs(P.data).max(initial=0.0))) or 1.0
    solver = clarabel.DefaultSolver(P * (side / cost), program.c / cost, A, b / side, cones, settings)
    monitor, raised = options["monitor"], []

    def watch(info: Any) -> bool:
        residual = max(info.res_primal, info.res_dual)
        try:
            return bool(monitor.tell(log_line(info.iterations, residual, info.gap_rel, info.cost_dual, monitor)))
        except BaseException as error:  # Clarabel would print it and continue
            raised.append(error)
            return True

    solver.set_termination_callback(watch)
    solution = solver.solve()
    if raised:
        raise raised[0]
    word, z, dual = str(solution.status), side * np.array(solution.x), np.zeros(len(kept))
    # Without an objective every feasible point is optimal, as dual values of 0 prove.
    if program.c.any() or program.P is not None or "PrimalInfeasible" in word:
        dual[kept] = cost * np.array(solution.z)
    if "Infeasible" not in word:
        if program.P is None and not b.any():  # every multiple of a feasible point is feasible: the optimum is at 0
            z[:] = 0.0
        else:
            z = program.with_values(z)
    distance = program.distance(z, dual)
    is_near = max(distance.largest, distance.relative_gap) <= NEARLY
    if "PrimalInfeasible" in word:
        status = s.INFEASIBLE if program.proves_infeasible(dual) else s.SOLVER_ERROR
    elif "DualInfeasible" in word:
        # Clarabel's direction is in the cones up to its tolerance; most unbounded problems have one in their linear part.
        is_proved = any(program.proves_unbounded(ray) for ray in (z, program.flat_direction()))
        status = s.UNBOUNDED if is_proved else s.SOLVER_ERROR
    elif distance.is_optimal:
        status = s.OPTIMAL
    elif word in ("MaxIterations", "CallbackTerminated") and np.isfinite(distance.primal):
        status = s.USER_LIMIT
    else:
        status = s.OPTIMAL_INACCURATE if is_near else s.SOLVER_ERROR
    return ConeAnswer(status, z, dual, distance, solution.iterations)
