"""DUAL_NEWTON as a solver that CVXPY calls: ``problem.solve(solver=mx.solvers.DualNewton())``.

This module and :mod:`.registration` depend on CVXPY's internals, as no other does. The cone program that CVXPY compiles
is read as an entropy program in :mod:`.reading` and solved in :mod:`.cone_answer`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import cvxpy
import cvxpy.settings as s
import numpy as np
import scipy.sparse as sp
from cvxpy.constraints import ExpCone, NonNeg, Zero
from cvxpy.reductions.solvers.conic_solvers.conic_solver import ConicSolver

from ...errors import MaxEntError, SolverError, UnknownName
from ..linear_algebra.single_thread import single_thread
from ..monitoring.monitor import Monitor
from .cone_answer import BACKEND, ConeAnswer, Start, solve_program
from .cone_program import ConeProgram
from .reading import TAKES

__all__ = ["DualNewton", "Refused", "cone_program", "refusing"]


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
