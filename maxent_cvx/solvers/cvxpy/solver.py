"""DUAL_NEWTON as a solver that CVXPY calls: ``problem.solve(solver=mx.solvers.DualNewton())``.

CVXPY compiles a problem to a cone program. One that :mod:`.reading` can read as a sum of entropies over linear rows is
solved by Newton's method on the dual (:mod:`.newton`), or by a primal-dual method if it has bounds or variables without
entropy (:mod:`.primal_dual`). Clarabel (Goulart and Chen, 2024) solves all other programs, with logarithms,
exponentials, relative entropies of two variables or entropies in constraints, and those for which these methods find no
precise answer. Whoever answers, the status is what the program's own data prove (:meth:`.ConeProgram.distance`,
:meth:`.ConeProgram.proves_infeasible`, :meth:`.ConeProgram.proves_unbounded`).

This module and :mod:`.derivatives` depend on CVXPY's internals, as no other does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from .mixed import MixedAnswer, solve_mixed, solve_separable
from .reader import Bounded, ConeProgram, Distance, EntropyProgram, WithoutZeros, read, without_zero_references

__all__ = [
    "DualNewton",
    "Refused",
    "cone_program",
    "refusing",
    "register_with_cvxpy",
    "solve_program",
]

#: The solver that CVXPY is offered.
BACKEND = SOLVERS["DUAL_NEWTON"]
#: What the solver takes; refusals end with it.
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
#: Newton steps from the multipliers of an earlier problem, after which the method begins anew.
WARM = 10
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
        """What users call it.

        Returns
        -------
        str
        """
        return BACKEND.name

    def supports_quad_obj(self) -> bool:
        """Whether quadratic objectives are taken as they are: they are.

        Returns
        -------
        bool
        """
        return True

    def import_solver(self) -> None:
        """Nothing is imported: the solver is in this package."""

    def cite(self, data: Mapping[str, Any]) -> str:
        """Return what to cite: the software.

        Parameters
        ----------
        data : dict
            What ``apply`` made of a problem; not used.

        Returns
        -------
        str
            BibTeX.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> mx.solvers.DualNewton().cite({})[:16]
        '@misc{maxent_cvx'
        """
        return "@misc{maxent_cvx, title={maxent\\_cvx}, author={{The maxent\\_cvx developers}}}"

    # CVXPY caches compiled problems by solver, so that all instances must be equal.
    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def can_solve(self, problem_form: Any) -> bool:
        """Whether the solver supports the cones; if not, an error says which it does not, as CVXPY's does not.

        Parameters
        ----------
        problem_form : cvxpy's ProblemForm
            What CVXPY knows of the problem before it is compiled, such as its cones.

        Returns
        -------
        bool
            True; where it would be False it raises.

        Raises
        ------
        SolverError
            If the problem has other cones; also CVXPY's ``SolverError``.

        Examples
        --------
        >>> import cvxpy as cp, maxent_cvx as mx
        >>> solver = mx.solvers.DualNewton()
        >>> x = cp.Variable(2)
        >>> try:
        ...     _ = cp.Problem(cp.Minimize(cp.norm(x)), [x >= 1]).solve(solver=solver)
        ... except mx.SolverError as error:
        ...     print(str(error).split(". ")[0])
        the problem has cones of the kind SOC that DUAL_NEWTON does not take
        """
        if super().can_solve(problem_form):
            return True
        cones = {cone.__name__ for cone in problem_form.cones()} - {c.__name__ for c in self.SUPPORTED_CONSTRAINTS}
        found = f"cones of the kind {', '.join(sorted(cones))}" if cones else "functions"
        raise Refused(f"the problem has {found} that DUAL_NEWTON does not take. {TAKES}")

    @single_thread
    def solve_via_data(
        self,
        data: Mapping[str, Any],
        warm_start: bool,
        verbose: bool,
        solver_opts: Mapping[str, Any],
        solver_cache: Any = None,
    ) -> dict[str, Any]:
        """Solve what ``apply`` made of a problem.

        Parameters
        ----------
        data : dict
            The cone program: costs, matrix, right-hand side and dimensions of the cones, by CVXPY's names.
        warm_start : bool
            Whether to begin with the multipliers that `solver_cache` has of a problem with the same rows.
        verbose : bool
            Print a line an iteration.
        solver_opts : dict
            `tolerance`, `max_iterations` and `time_limit`.
        solver_cache : dict, optional
            Where the multipliers are kept; CVXPY has one for each problem.

        Returns
        -------
        dict
            "status" in CVXPY's words, "value", "primal", "eq_dual" and "ineq_dual", seconds, iterations, and the
            residuals and the gap.

        Raises
        ------
        SolverError
            If the program has no exponential cones, or no answer is found.
        UnknownName
            If the solver has no such option.

        Examples
        --------
        >>> import cvxpy as cp, maxent_cvx as mx
        >>> solver = mx.solvers.DualNewton()
        >>> x = cp.Variable(6)
        >>> problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, range(1, 7) @ x == 4.5])
        >>> data, _, _ = problem.get_problem_data(solver)
        >>> found = solver.solve_via_data(data, warm_start=False, verbose=False, solver_opts={})
        >>> found["status"], round(-found["value"], 6)                    # nats
        ('optimal', 1.613581)
        """
        begun = time.perf_counter()
        with refusing():
            cache = solver_cache if solver_cache is not None else {}
            start = cache.get(self.name()) if warm_start else None
            program, answer = self._answer(data, solver_opts, verbose, start)
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

    def _answer(
        self, data: Mapping[str, Any], options: Mapping[str, Any], verbose: bool, start: Start | None
    ) -> tuple[ConeProgram, ConeAnswer]:
        """Make a cone program of CVXPY's data, and solve it."""
        options = {name: value for name, value in options.items() if name != "use_quad_obj"}  # CVXPY's own
        monitor = Monitor(verbose=verbose, time_limit=options.pop("time_limit", np.inf))
        BACKEND.check(options)
        program = cone_program(data)
        return program, solve_program(program, {**options, "monitor": monitor}, start)

    def invert(self, solution: dict[str, Any], inverse_data: Any) -> Any:
        """Return the answer to CVXPY, with iterations, time, and its residuals and gap in ``extra_stats``.

        Parameters
        ----------
        solution : dict
            What :meth:`solve_via_data` returned.
        inverse_data : dict or InverseData
            What ``apply`` kept of the problem, to express the answer in its variables.

        Returns
        -------
        cvxpy's Solution
            Values of variables and duals of constraints, by their ids.

        Examples
        --------
        >>> import cvxpy as cp, maxent_cvx as mx
        >>> solver = mx.solvers.DualNewton()
        >>> x = cp.Variable(6)
        >>> problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, range(1, 7) @ x == 4.5])
        >>> _ = problem.solve(solver=solver)
        >>> problem.status, bool(problem.solver_stats.num_iters > 0), x.value.round(3)[[0, 5]].tolist()
        ('optimal', True, [0.054, 0.347])
        """
        inverted = super().invert(solution, inverse_data)
        inverted.attr.update({key: solution[key] for key in (s.SOLVE_TIME, s.NUM_ITERS, s.EXTRA_STATS)})
        return inverted


def cone_program(data: Mapping[str, Any]) -> ConeProgram:
    """Read what :meth:`DualNewton.apply` made of a problem as a cone program."""
    dims = data[DualNewton.DIMS]
    matrix = sp.csr_array(data[s.A])
    if not matrix.data.all():
        matrix.eliminate_zeros()
    where = _column_namer(data[s.PARAM_PROB])
    curved = data.get(s.P)
    P = sp.csc_array(curved) if curved is not None and curved.nnz else None
    return ConeProgram(data[s.C], matrix, data[s.B], dims.zero, dims.nonneg, dims.exp, where, P)


def _column_namer(program: Any) -> Callable[[int], str]:
    """Name the columns of CVXPY's matrix, such as x[3]; CVXPY flattens variables in column-major order."""

    def where(column: int) -> str:
        for variable in program.variables:
            place = column - program.var_id_to_col[variable.id]
            if 0 <= place < variable.size:
                index = ", ".join(str(int(i)) for i in np.unravel_index(place, variable.shape, order="F"))
                return f"{variable.name()}[{index}]" if variable.shape else str(variable.name())
        return f"column {column}"

    return where


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
        return not of_entropies or self.distance.holds or self.distance.relative_gap <= ROUNDED_GAP


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
        "max_iterations": min(options.get("max_iterations", WARM), WARM),
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
    if answer.status is Status.OPTIMAL and 0 < mean < SMALL_AVERAGE:
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
    is_near = max(distance.largest, distance.relative_gap) <= NEARLY
    return s.OPTIMAL_INACCURATE if is_near else s.SOLVER_ERROR
