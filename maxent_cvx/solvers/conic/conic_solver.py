"""DUAL_NEWTON as a solver that CVXPY calls: ``problem.solve(solver=mx.solvers.DualNewton())``.

Everything here rests on CVXPY's internals, and nothing else in this package does: the cone program it hands
over is read in :mod:`.entropy_program`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import cvxpy
import cvxpy.settings as s
import numpy as np
import scipy.sparse as sp
from cvxpy.constraints import ExpCone, NonNeg, Zero
from cvxpy.reductions.solvers.conic_solvers.conic_solver import ConicSolver

from ...errors import MaxEntError, SolverError, UnknownName
from ..answer import Answer, Status
from ..backends.registry import SOLVERS
from ..certificate.projection import project
from ..linear.elastic import elastic_relaxation
from ..presolve.zero_proofs import moved_along_recession
from ..program.linear_form import LinearForm
from ..tolerances import CONIC_PROGRAM, FEASIBILITY
from .cone_program import ConeProgram, Distance
from .entropy_program import TAKES, EntropyProgram, read

__all__ = ["DualNewton"]


backend = SOLVERS["DUAL_NEWTON"]


class Refused(SolverError, cvxpy.error.SolverError):
    """A problem that DUAL_NEWTON does not take: CVXPY, which knows its own error only, then tries the next solver."""


class UnknownOption(UnknownName, cvxpy.error.SolverError):
    """An option that DUAL_NEWTON does not have, and the next solver may."""


@contextmanager
def _refusing() -> Iterator[None]:
    """Make this package's errors such that CVXPY knows them, too."""
    try:
        yield
    except UnknownName as error:
        raise UnknownOption(str(error)) from None
    except MaxEntError as error:
        raise Refused(str(error)) from None


class DualNewton(ConicSolver):
    """Maximise sum a x log(w / x) + c' x over linear constraints, by Newton's method on the dual.

    A solver for CVXPY problems that never heard of this package: entropies ``entr(x)``, ``rel_entr(x, w)`` and
    ``kl_div(x, w)`` with constant w, any positive factors, affine arguments, linear equations and inequalities.
    Options of ``solve``: `tolerance` (the row residual and duality gap at which to stop, where an average
    term is 1) and `max_iterations`. A problem that is something else is refused with an
    error that says what was found, a :class:`~maxent_cvx.SolverError` and CVXPY's own, so that a list of solvers
    (``solver_path``) falls back on the next; "optimal" is said of answers only whose residuals and
    gap, recomputed from CVXPY's data, are small.

    Raises
    ------
    SolverError
        If the problem is something else, or its answer cannot be trusted; CVXPY's ``SolverError``, too.
    UnknownName
        If the solver has no such option; CVXPY's ``SolverError``, too.

    Notes
    -----
    Newton starts cold in a few iterations, so ``warm_start`` does nothing.

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

    def name(self) -> str:
        """What users call it."""
        return backend.name

    def import_solver(self) -> None:
        """Nothing is imported: the solver is in this package."""

    def cite(self, data: Mapping[str, Any]) -> str:
        """Return what to cite: the software.

        Parameters
        ----------
        data : dict
            What ``apply`` made of a problem; not looked at.

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

    # CVXPY keeps compiled problems by solver: instances that do the same must find the same.
    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def can_solve(self, problem_form: Any) -> bool:
        """Whether the cones fit; if not, say which do not, where CVXPY says only that they do not.

        Parameters
        ----------
        problem_form : cvxpy's ProblemForm
            What CVXPY knows of the problem before it is compiled: its cones, above all.

        Returns
        -------
        bool
            True; where it would be False it raises.

        Raises
        ------
        SolverError
            If the problem has other cones; CVXPY's ``SolverError``, too.

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
            The cone program: costs, matrix, right side and dimensions of the cones, by CVXPY's names.
        warm_start : bool
            Does nothing.
        verbose : bool
            Print a line an iteration.
        solver_opts : dict
            `tolerance` and `max_iterations`.
        solver_cache : dict, optional
            Does nothing.

        Returns
        -------
        dict
            "status" in CVXPY's words, "value", "primal", "eq_dual" and "ineq_dual", time, iterations, and how far from
            optimal.

        Raises
        ------
        SolverError
            If the program is no maximum of entropies over linear constraints.
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
        with _refusing():
            entropy, found = self._found(data, {**solver_opts, "verbose": verbose})
        program, dims = entropy.program, data[self.DIMS]
        return {
            "status": found.status,
            "value": float(program.c @ found.z),
            "primal": found.z,
            "eq_dual": found.dual[: dims.zero],
            "ineq_dual": found.dual[dims.zero :],
            s.SOLVE_TIME: time.perf_counter() - begun,
            s.NUM_ITERS: found.iterations,
            s.EXTRA_STATS: found.distance,
        }

    def _found(self, data: Mapping[str, Any], options: Mapping[str, Any]) -> tuple[EntropyProgram, _Found]:
        """Read CVXPY's data as an entropy program, and solve it."""
        options = {name: value for name, value in options.items() if name != "use_quad_obj"}  # CVXPY's own
        backend.check(options)
        dims = data[self.DIMS]
        matrix = sp.csr_array(data[s.A])
        matrix.eliminate_zeros()
        where = _namer(data[s.PARAM_PROB])
        entropy = read(ConeProgram(data[s.C], matrix, data[s.B], dims.zero, dims.nonneg, dims.exp, where))
        return entropy, _solve(entropy, options)

    def invert(self, solution: dict[str, Any], inverse_data: Any) -> Any:
        """Hand the answer to CVXPY, with iterations, time, and in ``extra_stats`` its distance from the optimum.

        Parameters
        ----------
        solution : dict
            What :meth:`solve_via_data` returned.
        inverse_data : dict or InverseData
            What ``apply`` kept of the problem, to write the answer in its variables.

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


class _Found(NamedTuple):
    """An answer to a cone program, and how far it is from optimal."""

    status: str
    z: np.ndarray
    dual: np.ndarray
    distance: Distance
    iterations: int


def _solve(entropy: EntropyProgram, options: Mapping[str, Any]) -> _Found:
    """Solve in units that fit, and say what the answer is worth."""
    answer, counts, m = _newton(entropy.form, None, **options)
    iterations = answer.iterations
    mean = float(counts.mean())
    if answer.status is Status.OPTIMAL and CONIC_PROGRAM.vanished_average < mean < CONIC_PROGRAM.small_average:
        entropy = entropy.scaled(1 / mean)
        answer, counts, m = _newton(entropy.form, m, **options)  # multipliers are the same in any unit
        iterations += answer.iterations
    z, dual = entropy.restore(counts, m)
    distance = entropy.program.distance(z, dual)
    if not distance.holds:
        # Where rows force zeros, multipliers grow for ever, and residuals count that many times: have none.
        exact = project(entropy.form, counts, np.zeros(len(counts), dtype=bool))
        z, dual = entropy.restore(counts if exact is None else exact, m)
        distance = entropy.program.distance(z, dual)
    return _Found(_status(entropy, answer, distance), z, dual, distance, iterations)


def _newton(form: LinearForm, start: np.ndarray | None, **options: Any) -> tuple[Answer, np.ndarray, np.ndarray]:
    """Run Newton's method, which ends with y and multipliers however it ends."""
    answer = backend.solve(form, start, **options)
    if answer.counts is None or answer.multipliers is None:
        raise SolverError(f"{backend.name} gave no answer ({answer.message}); use another solver, such as cp.CLARABEL")
    return answer, answer.counts, moved_along_recession(form, answer.multipliers, answer.proofs)


def _status(entropy: EntropyProgram, answer: Answer, distance: Distance) -> str:
    """Say in CVXPY's words how it ended; what the solver says of itself decides nothing."""
    if distance.holds:
        return s.OPTIMAL
    try:
        clash = (
            elastic_relaxation(entropy.form).off
            > CONIC_PROGRAM.contradiction / FEASIBILITY.relative * entropy.form.tolerance
        )
    except SolverError:  # HiGHS cannot decide either
        return s.SOLVER_ERROR
    if clash.any():
        return s.INFEASIBLE
    if answer.status is Status.LIMIT and np.isfinite(distance.primal):
        return s.USER_LIMIT
    return s.OPTIMAL_INACCURATE if distance.is_near else s.SOLVER_ERROR


def _namer(program: Any) -> Callable[[int], str]:
    """Name the columns of CVXPY's matrix: x[3], in the order in which CVXPY flattens, column by column."""

    def where(column: int) -> str:
        for variable in program.variables:
            place = column - program.var_id_to_col[variable.id]
            if 0 <= place < variable.size:
                index = ", ".join(str(int(i)) for i in np.unravel_index(place, variable.shape, order="F"))
                return f"{variable.name()}[{index}]" if variable.shape else str(variable.name())
        return f"column {column}"

    return where
