"""Derivatives of the solution of a CVXPY problem with respect to its parameters, by the implicit function theorem.

The optimality conditions of a :class:`.ConeProgram` are differentiated with a fixed active set. An inequality is active
and remains an equation, or its multiplier is 0. An exponential cone whose dual value is a multiple a of the gradient
g' = (-1, log(w / u) - 1, u / w) of g = u log(w / u) - t remains on its boundary, g = 0. With H = a times the second
derivative of g, at the slacks s = b - A z, the system is

    (P - A' H A) dz + A_active' dl + (A' g) da = first,    A_active dz = second,    g' A dz = third.

Like :mod:`.solver`, this module depends on internals of CVXPY: the compiled, parametrised cone program.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.reductions.solvers.solving_chain import SolvingChain
from scipy.sparse.linalg import splu

from ..._utils.errors import SolverError, join_names, pluralize, short_repr
from .reader import ConeProgram
from .solver import DualNewton, Refused, cone_program, refusing

#: Relative to the largest: smaller multipliers and slacks are 0. If both are 0, there is no derivative.
STRICT = 1e-7
#: Relative to the largest slack: smaller arguments of an entropy are 0.
VANISHED = 1e-12
#: Relative to the largest slack: a smaller argument of an entropy may be why the system cannot be solved.
SMALL = 1e-6
#: Relative residual of the system of derivatives.
PRECISION = 1e-7
#: Relative ridge of the system, which makes redundant rows harmless; iterative refinement removes its effect.
RIDGE = 1e-11
#: Rounds of refinement.
REFINEMENTS = 10


class Sensitivity:
    """The linear system of the derivatives at a solution."""

    def __init__(self, program: ConeProgram, z: np.ndarray, dual: np.ndarray) -> None:
        self.program, self.z, self.dual = program, z, dual
        n, first = len(z), program.linear.stop
        self.active = np.concatenate([np.arange(program.n_zero), program.n_zero + self._active_inequalities()])
        slack = program.b - program.A @ z
        self.arguments = slack[first:].reshape(-1, 3)[:, 1] / np.abs(slack[first:]).max(initial=np.finfo(float).tiny)
        cones = self._curved_cones(dual[first:].reshape(-1, 3))
        self.rows = (first + 3 * cones[:, None] + np.arange(3)).ravel()
        _, u, w = slack[self.rows].reshape(-1, 3).T
        a = -dual[self.rows].reshape(-1, 3)[:, 0]
        of_all = sp.csr_array(program.A)
        self.n, self.curved = n, of_all[self.rows]
        number, k = np.arange(len(cones)), 3 * np.arange(len(cones))
        # The gradient of g = u log(w / u) - t, and a times its second derivative by u and w.
        gradient = np.stack([-np.ones(len(u)), np.log(w / u) - 1, u / w], axis=1)
        self.gradient = sp.csr_array((gradient.ravel(), (np.repeat(number, 3), np.arange(3 * len(u)))))
        second = (-a / u, a / w, a / w, -a * u / w**2)
        at_rows = np.concatenate([k + 1, k + 1, k + 2, k + 2]), np.concatenate([k + 1, k + 2, k + 1, k + 2])
        self.hessian = sp.csr_array((np.concatenate(second), at_rows), shape=(3 * len(u), 3 * len(u)))
        P = sp.csc_array((n, n)) if program.P is None else program.P
        top = P - self.curved.T @ self.hessian @ self.curved
        equations = sp.vstack([of_all[self.active], self.gradient @ self.curved], format="csr")
        self.matrix = sp.csc_array(sp.block_array([[top, equations.T], [equations, None]]))
        size = np.abs(self.matrix.data).max(initial=1.0)
        ridge = RIDGE * size * np.where(np.arange(self.matrix.shape[0]) < n, 1.0, -1.0)
        self.factor = splu(sp.csc_matrix(self.matrix + sp.diags_array(ridge)))

    def _active_inequalities(self) -> np.ndarray:
        """Return the positions of the inequalities that hold with equality."""
        program, n, m = self.program, self.program.n_zero, self.program.linear.stop
        matrix = program.A[n:m]
        slack = program.b[n:m] - matrix @ self.z
        # The unit is that of all rows: the summands of the inequalities alone, as of |s| <= t, may all be nearly 0.
        summands = abs(program.A) @ np.abs(self.z) + np.abs(np.where(np.isfinite(program.b), program.b, 0.0))
        size = max(float(summands.max(initial=0.0)), np.finfo(float).tiny)
        largest = max(float(np.abs(self.dual).max(initial=0.0)), np.finfo(float).tiny)
        slack, multiplier = slack / size, self.dual[n:m] / largest
        doubtful = np.flatnonzero(np.maximum(slack, multiplier) <= STRICT)
        if len(doubtful):
            columns = matrix[doubtful[:1]].indices
            names = ", ".join(program.where(int(column)) for column in columns[:3])
            raise SolverError(
                f"the solution has no derivative: {len(doubtful)} inequalities hold with equality and have the "
                f"multiplier 0, the first one on {names}; the one-sided derivatives differ. Change a parameter"
            )
        return np.flatnonzero(multiplier > slack)

    def _curved_cones(self, dual: np.ndarray) -> np.ndarray:
        """Return the positions of the cones on whose boundary the solution is."""
        a = -dual[:, 0]
        used = a > STRICT * a.max(initial=0.0)
        if (at_zero := used & (self.arguments <= VANISHED)).any():
            raise SolverError(
                f"the solution has no derivative: {self._argument(int(at_zero.argmax()))}; at 0 the entropy has no "
                "derivative. Remove it from the problem, or change a parameter"
            )
        return np.flatnonzero(used)

    def _argument(self, cone: int) -> str:
        """Describe the argument of an entropy that is nearly 0."""
        column = self.program.triple[1][0][[cone]].indices
        name = self.program.where(int(column[0])) if len(column) else "a constant"
        return f"{name} is nearly 0 ({max(self.arguments[cone], 0.0):.0e} of the largest argument)"

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solve for right-hand sides; redundant rows are permitted if the right-hand sides are consistent."""
        solution = np.zeros_like(right)
        rest, size = right, np.abs(right).max(initial=0.0)
        for _ in range(REFINEMENTS):
            solution = solution + self.factor.solve(rest)
            rest = right - self.matrix @ solution
            if np.abs(rest).max(initial=0.0) <= PRECISION * size:
                return solution
        residual = (
            f"the residual of the system of derivatives is {np.abs(rest).max() / size:.0e}, above {PRECISION:.0e}"
        )
        if self.arguments.min(initial=1.0) <= SMALL:
            raise SolverError(
                f"the derivatives cannot be computed: {self._argument(int(self.arguments.argmin()))}, where the "
                f"derivatives of the entropy are too large: {residual}. Remove it from the problem, or change a parameter"
            )
        raise SolverError(
            f"the solution has no derivative: {residual}. The solution may not be unique, or constraints may contradict "
            "each other if these parameters change"
        )

    def right(self, gradient: sp.csr_array, slack: sp.csr_array) -> sp.csr_array:
        """Return right-hand sides, one per column, for changes of the gradient and the slacks at the fixed solution."""
        curved = slack[self.rows]
        first = -gradient - self.curved.T @ (self.hessian @ curved)
        return sp.vstack([first, slack[self.active], self.gradient @ curved], format="csr")


class SolutionDerivatives:
    """Derivatives at a solution, returned by :func:`maxent_cvx.solvers.derivatives`.

    Parameters
    ----------
    problem : cvxpy.Problem
    chain : cvxpy's SolvingChain
        The chain that compiled the problem.
    program : cvxpy's ParamConeProg
        The compiled problem.
    sensitivity : Sensitivity

    Examples
    --------
    If the mean of a die rises by 0.1, the probabilities of its six numbers change as follows, to first order:

    >>> import cvxpy as cp, maxent_cvx as mx
    >>> x, mean = cp.Variable(6), cp.Parameter(value=3.5)
    >>> die = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, range(1, 7) @ x == mean])
    >>> moving = mx.solvers.derivatives(die)
    >>> mean.delta = 0.1
    >>> moving.derivative()
    >>> print(x.delta.round(4))
    [-0.0143 -0.0086 -0.0029  0.0029  0.0086  0.0143]
    """

    def __init__(self, problem: cp.Problem, chain: SolvingChain, program: Any, sensitivity: Sensitivity) -> None:
        self._problem, self._chain, self._program, self._sensitivity = problem, chain, program, sensitivity
        z, dual = sensitivity.z, sensitivity.dual
        n, m = len(z), len(dual)
        A, c = sp.coo_array(program.A), sp.coo_array(program.q)
        # A column of CVXPY's tensor is a parameter's part of (-A, b), flattened by columns; the last one is constant.
        self._n = program.A.shape[1] - 1
        row, column = A.coords[0] % m, A.coords[0] // m
        slack = sp.coo_array((A.data * np.append(z, 1.0)[column], (row, A.coords[1])), shape=(m, self._n + 1))
        of_A = column < n
        parts = [(-A.data[of_A] * dual[row[of_A]], column[of_A], A.coords[1][of_A])]
        of_c = c.coords[0] < n
        parts.append((c.data[of_c], c.coords[0][of_c], c.coords[1][of_c]))
        if program.P is not None:
            P = sp.coo_array(program.P)
            parts.append((P.data * z[P.coords[0] // n], P.coords[0] % n, P.coords[1]))
        data, rows, columns = (np.concatenate(part) for part in zip(*parts, strict=True))
        gradient = sp.coo_array((data, (rows, columns)), shape=(n, self._n + 1))
        with refusing():
            self._right = sensitivity.right(sp.csr_array(gradient)[:, :-1], sp.csr_array(slack)[:, :-1])

    def __repr__(self) -> str:
        n = pluralize(len(self._problem.variables()), "variable")
        return f"<SolutionDerivatives: of {n}, by {pluralize(self._n, 'number')} of the parameters>"

    def derivative(self) -> None:
        """Set every variable's `delta` to its change if parameters change by their `delta` (None counts as 0).

        This is what ``cvxpy.Problem.derivative`` does.

        Raises
        ------
        SolverError
            If the solution has no derivative in this direction.

        Examples
        --------
        >>> import cvxpy as cp, maxent_cvx as mx
        >>> x, mean = cp.Variable(6), cp.Parameter(value=3.5)
        >>> die = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, range(1, 7) @ x == mean])
        >>> moves = mx.solvers.derivatives(die)
        >>> mean.delta = 0.1
        >>> moves.derivative()
        >>> x.delta.round(4).tolist()
        [-0.0143, -0.0086, -0.0029, 0.0029, 0.0086, 0.0143]
        """
        deltas = {p.id: np.zeros(p.shape) if p.delta is None else np.asarray(p.delta) for p in self._parameters}
        moved = self._moved(deltas)
        for variable in self._problem.variables():
            variable.delta = moved[variable.id]  # type: ignore[assignment]

    def backward(self) -> None:
        """Set every parameter's `gradient`, given the gradient of a function of the variables in their `gradient`.

        This is what ``cvxpy.Problem.backward`` does; a gradient that is None counts as 1.

        Raises
        ------
        SolverError
            If the solution has no derivative.

        Examples
        --------
        >>> import cvxpy as cp, maxent_cvx as mx
        >>> x, mean = cp.Variable(6), cp.Parameter(value=3.5)
        >>> die = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, range(1, 7) @ x == mean])
        >>> moves = mx.solvers.derivatives(die)
        >>> x.gradient = [0, 0, 0, 0, 0, 1]                            # of P(6)
        >>> moves.backward()
        >>> round(float(mean.gradient), 4)
        0.1429
        """
        gradients = {
            v.id: np.ones(v.shape) if v.gradient is None else np.asarray(v.gradient, dtype=float)
            for v in self._problem.variables()
        }
        gradients = _through(self._chain.reductions, "var_backward", gradients)
        of_z = np.zeros(self._right.shape[0])
        of_z[: self._sensitivity.n] = self._program.split_adjoint(gradients)
        with refusing():
            of_entries = self._sensitivity.solve(of_z) @ self._right  # the system is symmetric
        columns, by_id = self._program.param_id_to_col, self._program.id_to_param
        gradient_of = {
            p.id: of_entries[columns[p.id] : columns[p.id] + p.size].reshape(p.shape, order="F") for p in by_id.values()
        }
        gradient_of = _through(reversed(self._chain.reductions), "param_backward", gradient_of)
        for parameter in self._parameters:
            parameter.gradient = gradient_of[parameter.id]  # type: ignore[assignment]

    def jacobian(self, variable: cp.Variable, parameter: cp.Parameter) -> np.ndarray:
        """Return all derivatives of a variable's entries with respect to a parameter's entries.

        Parameters
        ----------
        variable : cvxpy.Variable
        parameter : cvxpy.Parameter

        Returns
        -------
        ndarray
            Its shape is that of the variable followed by that of the parameter.

        Raises
        ------
        SolverError
            If the solution has no derivative, or the variable or the parameter is not in the problem.

        Examples
        --------
        >>> import cvxpy as cp, maxent_cvx as mx
        >>> x, mean = cp.Variable(6), cp.Parameter(value=3.5)
        >>> die = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, range(1, 7) @ x == mean])
        >>> mx.solvers.derivatives(die).jacobian(x, mean).round(4).tolist()
        [-0.1429, -0.0857, -0.0286, 0.0286, 0.0857, 0.1429]
        """
        known = ("variable", variable, self._problem.variables()), ("parameter", parameter, self._parameters)
        for kind, given, own in known:
            if getattr(given, "id", None) not in [each.id for each in own]:
                names = join_names(each.name() for each in own) or "it has none"
                raise Refused(f"{kind} must be one of the problem's {kind}s ({names}), got {short_repr(given)}")
        jacobian = np.empty((variable.size, parameter.size))
        for entry in range(parameter.size):
            deltas = {p.id: np.zeros(p.shape) for p in self._parameters}
            deltas[parameter.id] = np.eye(1, parameter.size, entry).reshape(parameter.shape, order="F")
            jacobian[:, entry] = np.ravel(self._moved(deltas)[variable.id], order="F")
        return jacobian.reshape(variable.shape + parameter.shape, order="F")

    @property
    def _parameters(self) -> list[cp.Parameter]:
        return list(self._problem.parameters())

    def _moved(self, deltas: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
        """Return the changes of the variables, by their ids, for the given changes of the parameters."""
        deltas, entries = _through(self._chain.reductions, "param_forward", deltas), np.zeros(self._n)
        for number, column in self._program.param_id_to_col.items():  # in the order of CVXPY's tensors
            if number in deltas:
                delta = np.ravel(deltas[number], order="F")
                entries[column : column + len(delta)] = delta
        with refusing():
            moved = self._sensitivity.solve(self._right @ entries)
        parts = self._program.split_solution(moved[: self._sensitivity.n])
        parts = _through(reversed(self._chain.reductions), "var_forward", parts)
        return {v.id: np.asarray(parts.get(v.id, np.zeros(v.shape))) for v in self._problem.variables()}


def _through(reductions: Any, step: str, values: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Apply CVXPY's reductions to changes of values."""
    for reduction in reductions:
        values = getattr(reduction, step)(values)
    return values


def derivatives(problem: cp.Problem, **options: Any) -> SolutionDerivatives:
    """Solve a problem and differentiate its solution with respect to its parameters, dx = -(dF/dx)^-1 (dF/dp) dp.

    F = 0 are the optimality conditions, where active inequalities are treated as equations (implicit function theorem;
    Agrawal et al., 2019, "Differentiating through a cone program"). The solution is differentiable if it is unique and
    all active inequalities have nonzero multipliers; otherwise an error is raised.

    Parameters
    ----------
    problem : cvxpy.Problem
        A problem that :class:`DualNewton` can solve, with parameters that have values and obey CVXPY's rules for them
        (DPP). It is solved, and its variables have their values afterwards.
    **options
        Options of the solver. A `tolerance` of 1e-10 makes derivatives more precise than the default.

    Returns
    -------
    SolutionDerivatives
        With ``derivative()`` and ``backward()``, as in ``cvxpy.Problem``, and ``jacobian(variable, parameter)``.

    Raises
    ------
    SolverError
        If the problem is not DPP, is refused, has a parameter without a value, has no optimal solution, or has one
        that is not differentiable; also CVXPY's ``SolverError``.

    Examples
    --------
    The change in the probability of a six if the mean of a die rises:

    >>> import cvxpy as cp, maxent_cvx as mx
    >>> x, mean = cp.Variable(6), cp.Parameter(value=3.5)
    >>> die = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, range(1, 7) @ x == mean])
    >>> round(float(mx.solvers.derivatives(die).jacobian(x, mean)[5]), 4)
    0.1429
    """
    if not isinstance(problem, cp.Problem):
        raise Refused(f"problem must be a cvxpy.Problem, got {problem!r}")
    if not problem.is_dpp():
        raise Refused("the problem is not DPP, so that its data are not linear in its parameters")
    if unset := [parameter.name() for parameter in problem.parameters() if parameter.value is None]:
        raise Refused(f"the problem has parameters without a value: {join_names(unset)}; set their values first")
    solver = DualNewton()
    data, chain, inverse = problem.get_problem_data(solver)
    answer = solver.solve_via_data(data, warm_start=False, verbose=False, solver_opts=options)
    problem.unpack_results(answer, chain, inverse)
    if answer["status"] != cp.OPTIMAL:
        raise Refused(f"the problem is {answer['status']}; only an optimal solution has derivatives")
    with refusing():
        dual = np.concatenate([answer["eq_dual"], answer["ineq_dual"]])
        sensitivity = Sensitivity(cone_program(data), answer["primal"], dual)
    return SolutionDerivatives(problem, chain, data["param_prob"], sensitivity)
