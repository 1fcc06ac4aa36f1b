"""Solvers by name: Newton's method and L-BFGS on the dual, CVXPY's conic solvers, and user-defined solvers.

A backend maximises sum x log(w / x), less the costs of soft rows, over the rows of a linear form, and returns counts
and multipliers. The certificate verifies both, whichever solver computed them.
"""

from __future__ import annotations

import inspect
import operator
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.optimize import Bounds, OptimizeResult, minimize

from .._utils.errors import BadProbability, SolverError, UnknownName, join_names, short_repr, unknown_name
from .._utils.formatting import ReprMixin
from .._utils.validation import check_int, check_known, check_positive, check_seconds
from .answer import Answer, Status
from .certificate import fitted
from .costs import Penalties
from .form import Convex, LinearForm
from .monitor import Monitor
from .newton import newton

if TYPE_CHECKING:
    import cvxpy as cp


#: CVXPY's statuses as :class:`Status`; any status that is not listed is a failure.
STATUS = {
    "optimal": Status.OPTIMAL,
    "optimal_inaccurate": Status.INACCURATE,
    "infeasible": Status.INFEASIBLE,
    "infeasible_inaccurate": Status.FAILED,  # nearly infeasible is undecided
    "unbounded": Status.FAILED,  # entropy is bounded, so this is a numerical failure
    "unbounded_inaccurate": Status.FAILED,
    "infeasible_or_unbounded": Status.INFEASIBLE,
    "user_limit": Status.LIMIT,
    "solver_error": Status.FAILED,
}
#: Names of the tolerances of CVXPY's solvers, and two values for each: the certificate needs smaller ones than the
#: defaults of 1e-6 to 1e-8. For MOSEK, the tolerances and the time limit are nested inside another option.
_GAPS = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
_MOSEK = tuple(f"MSK_DPAR_INTPNT_CO_TOL_{name}" for name in ("PFEAS", "DFEAS", "REL_GAP", "MU_RED"))
TOLERANCES: dict[str, tuple[tuple[str, ...], tuple[float, float]]] = {
    "CLARABEL": (_GAPS, (1e-11, 1e-14)),
    "CUCLARABEL": (_GAPS, (1e-11, 1e-14)),
    "ECOS": (("abstol", "reltol", "feastol"), (1e-12, 1e-14)),
    "ECOS_BB": (("abstol", "reltol", "feastol"), (1e-12, 1e-14)),
    "SCS": (("eps_abs", "eps_rel"), (1e-10, 1e-13)),
    "MOSEK": (_MOSEK, (1e-12, 1e-14)),
    "COPT": (("FeasTol", "DualTol", "RelGap"), (1e-9, 1e-9)),  # the smallest permitted values
}
#: Options that return the last point of a solver that does not reach its tolerances; the certificate verifies it.
KEEP_LAST = {name: {"accept_unknown": True} for name in ("CLARABEL", "CUCLARABEL", "MOSEK")}
#: Names of the option for the largest number of iterations.
ITERATIONS = {"CLARABEL": "max_iter", "ECOS": "max_iters", "ECOS_BB": "max_iters", "SCS": "max_iters"}
#: Options of the second call: by default Clarabel stops at short steps, often before it has the last five digits.
PATIENT: dict[str, dict[str, Any]] = {"CLARABEL": {"min_switch_step_length": 1e-2, "min_terminate_step_length": 1e-8}}
#: The share of the remaining seconds for the solver; the certificate needs the rest.
SOLVING = 0.9
#: Solvers that need no license, so that no trial solve is needed to list them.
FREE = ("CLARABEL", "ECOS", "ECOS_BB", "SCS")
#: The largest number of characters of another program's error message.
LONGEST_EXCERPT = 200
#: Logarithm relative to that of N: above it, L-BFGS replaces exp by its tangent, so that nothing overflows. No feasible
#: count is that large.
LINEAR_BEYOND = 10.0


# A linear form as CVXPY constraints, and the whole problem in CVXPY, which users can print and extend.


def soft_rows(form: LinearForm) -> tuple[cp.Expression | None, Any]:
    """Return the residual of every row, as variables for soft rows, and their cost in nats; None and 0 if all are hard."""
    import cvxpy as cp

    if (penalties := form.penalties) is None:
        return None, 0.0
    missed = cp.Variable(len(penalties), name="missed")
    cost: Any = 0.0
    if len(rows := np.flatnonzero(penalties.is_divergence)):  # the cost is a function of the value, which is -missed
        cost += penalties.temperature[rows] @ cp.kl_div(-missed[rows], penalties.target[rows])
    if len(rows := np.flatnonzero(~penalties.is_divergence)):
        cost += cost_of_missing(missed[rows], penalties.variance[rows], penalties.slope[rows])
    return sp.eye_array(form.shape[0], format="csc")[:, form.n_hard :] @ missed, cost


def cost_of_missing(missed: cp.Expression, variance: np.ndarray, slope: np.ndarray) -> cp.Expression:
    """Return the sum of the costs of rows missed by r: r^2 / (2 v), s |r|, or the Huber function of both."""
    import cvxpy as cp

    cost: Any = 0.0
    if len(rows := np.flatnonzero(variance == 0)):
        cost += slope[rows] @ cp.abs(missed[rows])
    if len(rows := np.flatnonzero((variance > 0) & np.isinf(slope))):
        cost += cp.sum_squares(cp.multiply(1 / np.sqrt(2 * variance[rows]), missed[rows]))
    if len(rows := np.flatnonzero((variance > 0) & np.isfinite(slope))):
        # cvxpy.huber(y, 1) is y^2 up to |y| = 1, and 2 |y| - 1 above.
        knee = variance[rows] * slope[rows]
        cost += (knee * slope[rows] / 2) @ cp.huber(cp.multiply(1 / knee, missed[rows]))
    return cost


def by_relation(low: np.ndarray, high: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each relation that occurs ("==", ">=" or "<=") with the numbers of its rows; an interval is in two."""
    is_equation = low == high
    for relation, of_rows in (
        ("==", is_equation),
        (">=", ~is_equation & np.isfinite(low)),
        ("<=", ~is_equation & np.isfinite(high)),
    ):
        if len(rows := np.flatnonzero(of_rows)):
            yield relation, rows


#: The operator of each relation.
RELATE: dict[str, Callable[[Any, Any], Any]] = {"==": operator.eq, ">=": operator.ge, "<=": operator.le}


def constraints(
    form: LinearForm, counts: cp.Expression, missed: cp.Expression | None = None
) -> list[tuple[np.ndarray, float, Any]]:
    """Return all rows as at most three constraints, each with its rows and the sign from dual values to multipliers.

    Compiling one constraint per row would take seconds. `missed`, one per row, is added to the values.
    """
    blocks = []
    for relation, rows in by_relation(form.low, form.high):
        value = form.rows(rows) @ counts
        if missed is not None:
            value += missed[rows]
        side = (form.high if relation == "<=" else form.low)[rows]
        blocks.append((rows, 1.0 if relation == ">=" else -1.0, RELATE[relation](value, side)))
    return blocks


@dataclass(frozen=True)
class CvxpyBackend(ReprMixin):
    """A conic solver of CVXPY, with default options that the user's options override."""

    name: str
    options: dict[str, Any] = field(default_factory=dict, hash=False)
    #: The name of its time limit; if there are several names, each is an option nested in the one before. May be empty.
    seconds: tuple[str, ...] = ()
    is_tighter: bool = False  # whether it uses the second, stricter tolerances
    takes_inequalities: ClassVar[bool] = True
    takes_convex: ClassVar[bool] = True
    takes_soft_rows: ClassVar[bool] = True
    takes_callback: ClassVar[bool] = False

    @property
    def takes_time_limit(self) -> bool:
        """Whether the solver has a time limit."""
        return bool(self.seconds)

    def options_with(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of one call: tolerances and defaults, overridden by the user's options."""
        names, values = TOLERANCES.get(self.name, ((), (0.0, 0.0)))
        tolerances: dict[str, Any] = dict.fromkeys(names, values[self.is_tighter])
        if self.name == "MOSEK":
            tolerances = {"mosek_params": tolerances}
        patient = PATIENT.get(self.name, {}) if self.is_tighter else {}
        return _merged(_merged(KEEP_LAST.get(self.name, {}) | tolerances | patient, self.options), options)

    def tighter(self, options: Mapping[str, Any]) -> CvxpyBackend | None:
        """Return the solver with stricter tolerances; None if there are none, or if the user has set them."""
        names, values = TOLERANCES.get(self.name, ((), (0.0, 0.0)))
        chosen = {*options, *options.get("mosek_params", {})} & {*names, "eps"}
        return None if self.is_tighter or chosen or values[0] == values[1] else replace(self, is_tighter=True)

    @property
    def installed(self) -> bool:
        """Whether CVXPY can call the solver on this machine."""
        import cvxpy as cp

        return self.name in cp.installed_solvers()

    @property
    def trouble(self) -> str:
        """Why an installed solver cannot be used, such as a missing license; empty if it can."""
        error = None if self.name in FREE else self._error({})
        return "" if error is None else _in_one_line(error)

    def check(self, options: Mapping[str, Any]) -> None:
        """Raise StatementError if the solver rejects the options, which is tested on a small problem."""
        if not options:
            return
        import cvxpy as cp

        error = self._error(options)
        if error is not None and not isinstance(error, cp.error.SolverError):
            shown = ", ".join(f"{key}={short_repr(value)}" for key, value in options.items())
            raise SolverError(
                f"{self.name} does not accept {shown} ({_in_one_line(error)}); correct or omit the option"
            )

    def _error(self, options: Mapping[str, Any]) -> Exception | None:
        """Return the error of the solver on a problem of two variables, None if it has none."""
        import cvxpy as cp

        x = cp.Variable(2)
        problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                problem.solve(solver=self.name, **self.options_with(options))
        except Exception as error:  # solvers raise exceptions of any class
            return error
        return None

    def solve(
        self,
        form: LinearForm,
        start: np.ndarray | None = None,
        *,
        convex: Convex | None = None,
        monitor: Monitor | None = None,
        **options: Any,
    ) -> Answer:
        """Maximise sum x log(w / x), less the costs of soft rows, over rows and convex constraints.

        Any exception of the solver becomes an answer with the status "failed". Conic solvers do not use `start`, and
        cannot be stopped; their time limit is most of the remaining time.
        """
        import cvxpy as cp

        monitor = monitor or Monitor()
        if monitor.stopped:
            return Answer(Status.LIMIT, None, None, message=f"stopped {monitor.stopped}")
        options = limited(self.options_with(options), self.seconds, SOLVING * monitor.seconds_left)

        begun = time.perf_counter()
        # Variables are counts relative to their upper bounds, and the objective is divided by the average bound. The
        # tolerances of solvers are absolute and relative to the largest number, so that groups of very different size
        # would have different precision.
        unit = form.count_scale
        average = float(unit.mean()) if len(unit) else 1.0
        shares = cp.Variable(form.shape[1], name="shares", nonneg=True)
        counts = cp.multiply(unit, shares)
        missed, cost = soft_rows(form)
        blocks = constraints(form, counts, missed)
        scaled = [_scaled(each, convex.variable, counts, unit) for each in convex.constraints] if convex else []
        entropy = unit @ cp.entr(shares) + (unit * (np.log(form.weights) - np.log(unit))) @ shares
        problem = cp.Problem(cp.Maximize((entropy - cost) / average), [block[2] for block in blocks + scaled])
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Solution may be inaccurate")  # the status contains it
                problem.solve(solver=self.name, **options)
        except Exception as error:  # of any class: a missing license is a mosek.Error
            took = time.perf_counter() - begun
            return Answer(Status.FAILED, None, None, 0, 0.0, took, _in_one_line(error))
        took, stats = time.perf_counter() - begun, problem.solver_stats
        solving = float(stats.solve_time or 0.0) if stats else 0.0
        is_answered = counts.value is not None and all(block[2].dual_value is not None for block in blocks)
        multipliers = np.zeros(form.shape[0])
        for rows, sign, constraint in blocks if is_answered else []:
            multipliers[rows] += average * sign * constraint.dual_value
        for posed, size, constraint in scaled:
            dual = constraint.dual_value
            posed.save_dual_value(None if dual is None else average * dual / size)
        return Answer(
            STATUS.get(problem.status, Status.FAILED),
            counts.value if is_answered else None,
            multipliers if is_answered else None,
            int(stats.num_iters or 0) if stats else 0,
            took - solving,
            solving,
            problem.status,
            tolerance=_tolerance(self.name, options),
        )


def _scaled(constraint: Any, variable: cp.Variable, counts: cp.Expression, unit: np.ndarray) -> tuple[Any, float, Any]:
    """Return a convex constraint ``expression <= 0``, its divisor, and the quotient as a constraint on scaled counts.

    The divisor is the effect of an average scaled count: interior-point methods stall if multipliers have very
    different sizes.
    """
    size = 1.0
    with suppress(NotImplementedError):  # CVXPY has no gradient at this point
        matrix, _ = linearise(constraint.expr, variable, unit / 2)
        size = float(np.abs(matrix.multiply(unit)).data.mean()) if matrix.data.any() else 1.0
    return constraint, size, constraint.expr.tree_copy({id(variable): counts}) / size <= 0


def least_violation(
    form: LinearForm, convex: Convex, relaxed: Sequence[Any], seconds: float = np.inf
) -> tuple[float, np.ndarray | None, list[float]]:
    """Minimise the largest violation of some constraints over rows and all other convex constraints, by CLARABEL.

    Return the smallest value of ``expression`` in ``expression <= 0``, the counts, and the multiplier of each
    constraint (their sum is 1); or NaN, None and an empty list if there is no answer.
    """
    import cvxpy as cp

    unit = form.count_scale
    counts = cp.multiply(unit, cp.Variable(len(unit), nonneg=True))
    kept = [block[2] for block in constraints(form, counts)]
    # Compared by identity, since == of CVXPY's objects is another constraint.
    others = [constraint for constraint in convex.constraints if not any(constraint is other for other in relaxed)]
    kept += [constraint.tree_copy({id(convex.variable): counts}) for constraint in others]
    values = [cp.max(constraint.expr.tree_copy({id(convex.variable): counts})) for constraint in relaxed]
    largest = cp.Variable()
    limits = [value <= largest for value in values]
    problem = cp.Problem(cp.Minimize(largest), kept + limits)
    if solve_by_clarabel(problem, seconds) != "optimal":
        return np.nan, None, []
    return float(problem.value), np.asarray(counts.value), [float(limit.dual_value) for limit in limits]


def solve_by_clarabel(problem: cp.Problem, seconds: float) -> str:
    """Solve a problem with a time limit; return the status ("optimal" may be inaccurate), or an error message."""
    backend = CvxpyBackend("CLARABEL", {}, ("time_limit",))
    options = limited(backend.options_with({}), backend.seconds, seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve(solver=backend.name, **options)
    except Exception as error:  # solvers raise exceptions of any class
        return _in_one_line(error)
    return "optimal" if problem.status == "optimal_inaccurate" else problem.status


def _tolerance(name: str, options: Mapping[str, Any]) -> float:
    """Return the first tolerance among the options of a call; NaN if there is none."""
    names, _ = TOLERANCES.get(name, ((), (0.0, 0.0)))
    settings = {**options, **options.get("mosek_params", {})}
    return next((float(settings[option]) for option in (*names, "eps") if option in settings), np.nan)


def remedy(name: str, answer: Answer) -> str:
    """Return advice which options of a solver to change if its answer is not certified."""
    names, values = TOLERANCES.get(name, ((), (0.0, 0.0)))
    if answer.tolerance > values[0]:
        return f"set {join_names(names)} to {values[0]:g} or less, or omit them"
    if isinstance(SOLVERS.get(name), DualBackend):
        return "raise max_iterations, or lower tolerance"
    if name in ITERATIONS:
        return f"raise {ITERATIONS[name]}"
    if names:
        return f"allow more iterations, or change {join_names(names)}"
    return "check the solver with maxent_cvx.testing.check_backend, allow more iterations, or set stricter tolerances"


def limited(options: dict[str, Any], names: tuple[str, ...], seconds: float) -> dict[str, Any]:
    """Add a time limit to options, unless the user has set a shorter one."""
    if not names or not np.isfinite(seconds):
        return options
    first, *inside = names
    settings = options.get(first, {} if inside else np.inf)
    return {**options, first: limited(settings, tuple(inside), seconds) if inside else min(settings, seconds)}


def _merged(options: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two sets of options, also options nested inside an option; those of `over` have priority."""
    merged = {**options, **over}
    for name in options.keys() & over.keys():
        if isinstance(options[name], Mapping) and isinstance(over[name], Mapping):
            merged[name] = {**options[name], **over[name]}
    return merged


def _in_one_line(error: BaseException) -> str:
    """Return the message of another program's error in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:LONGEST_EXCERPT]}{'...' * (len(text) > LONGEST_EXCERPT)}"


# CVXPY expressions on the counts as linear rows: exact if they are affine, otherwise first-order expansions.


@contextmanager
def _valued(variable: cp.Variable, at: np.ndarray) -> Iterator[None]:
    """Temporarily set the value of a variable."""
    before = variable.value
    variable.save_value(at)
    try:
        yield
    finally:
        variable.save_value(before)


def value_at(expression: cp.Expression, variable: cp.Variable, at: np.ndarray) -> np.ndarray:
    """Return the value of an expression at a point, as a vector."""
    with _valued(variable, at):
        value: Any = expression.value
    dense = np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=float)
    return np.atleast_1d(dense).ravel(order="F")


def linearise(expression: cp.Expression, variable: cp.Variable, at: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
    """Return the first-order expansion of an expression at a point, ``matrix @ variable + constant``; exact if affine.

    Raise NotImplementedError if CVXPY has no finite gradient there.
    """
    if not any(part.id == variable.id for part in expression.variables()):
        value = value_at(expression, variable, at)
        return sp.csr_array((len(value), variable.size)), value
    gradient = _gradient(expression, variable, at)
    if gradient is None and expression.is_affine():  # for example geo_mean of one number at 0
        at = np.ones(variable.size)
        gradient = _gradient(expression, variable, at)
    if gradient is None:
        raise NotImplementedError(f"no gradient of {expression}")
    value = value_at(expression, variable, at)
    matrix = sp.csr_array(sp.csc_array(np.atleast_2d(gradient) if np.ndim(gradient) == 0 else gradient).T)
    if not (np.isfinite(matrix.data).all() and np.isfinite(value).all()):
        raise NotImplementedError(f"no finite gradient of {expression}")
    return matrix, value - matrix @ at


def _gradient(expression: cp.Expression, variable: cp.Variable, at: np.ndarray) -> Any:
    """Return CVXPY's gradient at a point; None if it is undefined or not implemented."""
    with _valued(variable, at), np.errstate(all="ignore"):
        try:
            return expression.grad[variable]
        except (NotImplementedError, AttributeError, TypeError, ValueError):  # ValueError: cummax
            return None


# The adapter for user-defined solvers: objects with a name and a ``solve``; all else has defaults.


#: Default attributes of a user-defined solver.
DEFAULTS: dict[str, Any] = {
    "installed": True,
    "trouble": "",
    "takes_inequalities": True,
    "takes_convex": False,
    "takes_soft_rows": False,
}
#: The fields of a form that user-defined solvers receive as copies: they may overwrite them, but the certificate must not
#: use their numbers.
COPIED = ("coefficients", "low", "high", "weights", "penalties")


@dataclass(frozen=True, eq=False)
class OwnBackend(ReprMixin):
    """An object with ``name`` and ``solve(form, start=None, **options)``, which returns an ``Answer``.

    It may have ``check(options)`` and the attributes of :data:`DEFAULTS`. If its ``solve`` has a parameter
    ``monitor``, it reports every iteration, ``monitor.tell({"iteration": 0, "residual": ...})``, and stops if the
    result is True, because of the time limit or a callback.
    """

    own: Any

    def __repr__(self) -> str:
        return f"<OwnBackend: {self.own.name}>"

    def __getattr__(self, name: str) -> Any:
        if name == "name":
            return str(self.own.name)
        if name in ("takes_time_limit", "takes_callback"):
            return "monitor" in inspect.signature(self.own.solve).parameters
        if name not in DEFAULTS:
            raise AttributeError(name)
        return type(DEFAULTS[name])(getattr(self.own, name, DEFAULTS[name]))

    def check(self, options: Mapping[str, Any]) -> None:
        """Raise an error for options that the solver rejects or, without ``check``, that ``solve`` does not have."""
        if callable(check := getattr(self.own, "check", None)):
            check(options)
            return
        parameters = list(inspect.signature(self.own.solve).parameters.values())
        if any(p.kind is p.VAR_KEYWORD for p in parameters):
            return
        check_known(
            options, f"option of {self.name}", [p.name for p in parameters[2:] if p.name not in ("monitor", "convex")]
        )

    def solve(
        self, form: LinearForm, start: np.ndarray | None = None, *, monitor: Monitor | None = None, **options: Any
    ) -> Answer:
        """Call the solver, and check that its answer has the shapes of this problem."""
        monitor = copy(monitor or Monitor())
        monitor.told = []  # the log of a solver that reports iterations, unless its answer has one
        if self.takes_time_limit:
            options["monitor"] = monitor
        own_form = replace(form, **{name: deepcopy(getattr(form, name)) for name in COPIED})
        answer = self.own.solve(own_form, start, **options)
        if not isinstance(answer, Answer):
            raise SolverError(
                f"{self.name}.solve must return a maxent_cvx.solvers.Answer, not {short_repr(answer)}: "
                "Answer(status, counts, multipliers)"
            )
        if answer.status not in list(Status):
            raise SolverError(
                f"{self.name} returned the status {short_repr(answer.status)}; expected one of "
                f"{[status.value for status in Status]}"
            )
        check_int(answer.iterations, f"iterations of the answer of {self.name}", 0, error=SolverError)
        for name in ("compile_seconds", "solve_seconds"):
            try:
                check_seconds(getattr(answer, name), f"{name} of the answer of {self.name}")
            except BadProbability as error:
                raise SolverError(str(error)) from None
        message = answer.message or str(answer.status)  # for errors
        answer = replace(answer, status=Status(answer.status), message=message, log=answer.log or monitor.told)
        if answer.counts is None:
            return answer
        rows, terms = form.shape
        for name, array, size in (("counts", answer.counts, terms), ("multipliers", answer.multipliers, rows)):
            if array is None:
                return replace(answer, multipliers=_from_counts(form, answer.counts))
            if not isinstance(array, np.ndarray) or array.shape != (size,) or array.dtype.kind != "f":
                is_array = isinstance(array, np.ndarray)
                what = f"of shape {array.shape} and type {array.dtype}" if is_array else short_repr(array)
                raise SolverError(
                    f"{self.name} returned {name} {what}; an array of {size} floats is expected, of shape ({size},)"
                )
            if not np.isfinite(array).all():
                message = f"{answer.message}, with {name} that are not finite numbers"
                return Answer(Status.FAILED, None, None, answer.iterations, 0.0, 0.0, message)
        return answer


def _from_counts(form: LinearForm, counts: np.ndarray) -> np.ndarray | None:
    """Return multipliers for counts: slopes of the costs for soft rows, and fitted values for hard rows."""
    multipliers = np.zeros(form.shape[0])
    if form.penalties is not None:
        sides = (form.low, form.high, form.matvec(np.maximum(counts, 0.0)))
        multipliers[form.n_hard :] = form.penalties.multiplier(*(side[form.n_hard :] for side in sides))
    return fitted(form, counts, multipliers)


def as_backend(backend: object) -> Backend:
    """Return a backend unchanged, or an adapter of a user-defined solver."""
    if isinstance(backend, DualBackend | CvxpyBackend | OwnBackend):
        return cast(Backend, backend)
    name = getattr(backend, "name", None)
    if isinstance(backend, type) or not isinstance(name, str) or not name.strip() or name == "auto":
        raise SolverError(
            "a solver must be a name, or an object with a name and solve(form, start=None, **options), got "
            f"{short_repr(backend)}"
        )
    if not callable(getattr(backend, "solve", None)):
        raise SolverError(f"solver {name!r} has no solve(form, start=None, **options), which returns an Answer")
    try:
        signature = inspect.signature(backend.solve)  # type: ignore[attr-defined]
        signature.bind(None, None)
    except TypeError as error:
        raise SolverError(
            f"solver {name!r} has solve{signature}, but solve(form, start=None, **options) is expected: {error}"
        ) from None
    return cast(Backend, OwnBackend(backend))


# The dual methods of this package as backends: functions of a linear form, with names.


@dataclass(frozen=True)
class DualBackend(ReprMixin):
    """A function that maximises sum x log(w / x) over a linear form; its keyword arguments are the options."""

    name: str
    function: Callable[..., Answer]
    takes_convex: bool = False  # whether it solves convex constraints, as a sequence of problems of rows
    installed: ClassVar[bool] = True
    trouble: ClassVar[str] = ""
    takes_inequalities: ClassVar[bool] = True
    takes_time_limit: ClassVar[bool] = True
    takes_callback: ClassVar[bool] = True
    takes_soft_rows: ClassVar[bool] = True

    def __repr__(self) -> str:
        return f"<DualBackend: {self.name}>"

    def check(self, options: Mapping[str, Any]) -> None:
        """Raise an error for options that the function does not have, or that have invalid values."""
        if not options:  # a signature takes as long as an iteration of a small problem
            return
        names = [p.name for p in inspect.signature(self.function).parameters.values() if p.kind is p.KEYWORD_ONLY]
        names[names.index("monitor")] = "time_limit"  # which callers pass to the monitor
        check_known(options, f"option of {self.name}", names)
        for name, value in options.items():
            if name == "tolerance":
                check_positive(value, name)
            else:
                check_int(value, name, 1)

    def solve(
        self, form: LinearForm, start: np.ndarray | None = None, *, monitor: Monitor | None = None, **options: Any
    ) -> Answer:
        """Maximise sum x log(w / x) over ``low <= matrix @ x <= high``; without a monitor, ``verbose=True`` prints."""
        verbose = options.pop("verbose", False)
        return self.function(form, start, monitor=monitor or Monitor(verbose=verbose), **options)


def lbfgs(
    form: LinearForm,
    start: np.ndarray | None = None,
    *,
    tolerance: float = 1e-9,
    max_iterations: int = 5_000,
    memory: int = 20,
    monitor: Monitor | None = None,
) -> Answer:
    """Maximise sum x log(w / x), less the costs of soft rows, by SciPy's L-BFGS-B on the dual.

    It needs no factorisation and little memory, but many more iterations than Newton's method. It stops if the largest
    element of the projected gradient is at most `tolerance`, in records (an element of the gradient is the residual of
    a row); `memory` is the number of stored corrections (m of L-BFGS-B).

    L-BFGS-B stops when the function no longer decreases in floating point, which is far from the tolerance if the value
    of the function is large. It is then restarted on the function less its value at that point: the difference keeps
    the digits that the value loses to rounding. Restarts end when one does not halve the gradient.
    """
    begun, monitor = time.perf_counter(), monitor or Monitor()
    log: list[dict[str, float]] = []
    dual = BoundedDual(form, np.zeros(form.shape[0]) if start is None else start.astype(float))

    def log_iteration(intermediate_result: OptimizeResult) -> None:
        x, value = intermediate_result.x, dual.value + float(intermediate_result.fun)
        residual = dual.projected_gradient(x, dual.last_gradient)  # a line search evaluates its result last
        log.append({"iteration": len(log) + 1, "residual": residual, "dual": value, "seconds": monitor.seconds})
        if monitor.tell(log[-1]) or value < dual.lower_bound:
            raise StopIteration  # stops L-BFGS-B

    status, iterations, last = Status.INACCURATE, 0, np.inf
    while not (gradient := dual.projected_gradient(dual.origin, dual.at(dual.origin)[1])) <= tolerance:
        if dual.value < dual.lower_bound:
            status = Status.INFEASIBLE
            break
        if iterations >= max_iterations or monitor.stopped:
            status = Status.LIMIT
            break
        if not gradient <= last / 2:  # no further progress is possible in floating point
            break
        last = gradient
        optimum = minimize(
            dual.at, dual.origin, jac=True, method="L-BFGS-B", bounds=dual.bounds, callback=log_iteration,
            options={
                "maxiter": max_iterations - iterations, "maxfun": sys.maxsize, "maxcor": memory, "gtol": tolerance,
                "ftol": 0.0,
            },
        )  # fmt: skip
        iterations += optimum.nit
        # A multiplier that a gradient step would take to its bound is set to it, since its slack would add to the gap.
        stepped, low, high = optimum.x - optimum.jac, dual.bounds.lb, dual.bounds.ub
        dual.move_origin(np.where(stepped <= low, low, np.where(stepped >= high, high, optimum.x)))
    else:
        status = Status.OPTIMAL
    message = f"{status} after {iterations} iterations, gradient {gradient:.1e} people"
    counts = m = None
    if status is not Status.INFEASIBLE:
        m = np.bincount(dual.row, dual.origin, form.shape[0])
        with np.errstate(over="ignore"):
            counts = np.exp(form.exponent(m))
    return Answer(status, counts, m, iterations, 0.0, time.perf_counter() - begun, message, log=log)


class BoundedDual:
    """The dual function of free and of non-negative multipliers, minus its value at a reference point, the origin.

        sum w exp(A' m - 1) - low' up + high' down - b' free + conjugates of the costs of soft rows.

    An equation A x = b has one free multiplier. An inequality has multipliers up >= 0 for its low side and -down <= 0
    for its high side, if these are finite, and m = up - down (Kazama and Tsujii, 2003): a row with two different sides
    is treated as two rows. The multipliers of a soft row are at most the slope of its cost.
    """

    def __init__(self, form: LinearForm, start: np.ndarray) -> None:
        two_sided = ~form.is_equation & np.isfinite(form.low) & np.isfinite(form.high)
        self.row = np.repeat(np.arange(form.shape[0]), 1 + two_sided)  # the original row of each row
        is_second, two_sided, form = np.diff(self.row, prepend=-1) == 0, two_sided[self.row], form.select(self.row)
        low, high = np.where(is_second, -np.inf, form.low), np.where(two_sided & ~is_second, np.inf, form.high)
        self.form = form = replace(form, low=low, high=high)
        self.target = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
        none, largest = np.empty(0), np.full(len(low), np.inf)
        self.penalties = Penalties(none, none) if form.penalties is None else form.penalties
        self.bounds = Bounds(form.project_to_dual_cone(-largest), form.project_to_dual_cone(largest))
        total = max(1.0, np.abs(self.target).sum())
        self.largest_exponent = LINEAR_BEYOND + np.log(total)
        # Feasible counts have an entropy above this and, by weak duality, at most the value of the dual function: if
        # that is smaller, the rows are infeasible. Costs of soft rows can have any size.
        least = total * (np.log(form.weights.min(initial=1.0)) - self.largest_exponent)
        self.lower_bound = -np.inf if len(self.penalties) else least
        self.last_gradient = np.empty(0)
        self.move_origin(form.project_to_dual_cone(start[self.row]))

    def move_origin(self, point: np.ndarray) -> None:
        """Set the reference point."""
        self.origin = point
        self.exponent = self.form.exponent(point)
        self.exponential = self._extended_exp(self.exponent)[0]
        self.value = float(self.exponential.sum() - self.target @ point) + self._conjugate(point)[0]

    def _extended_exp(self, exponent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return exp and its derivative; above the largest exponent, exp is replaced by its tangent.

        The dual function then remains convex, finite and smooth wherever a line search goes.
        """
        within = np.minimum(exponent, self.largest_exponent)
        counts = np.exp(within)
        return counts * (1 + exponent - within), counts

    def _conjugate(self, m: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the conjugates of the costs of soft rows, and their derivatives with respect to m."""
        derivative, n = np.zeros(len(m)), self.form.n_hard
        value, derivative[n:], _ = self.penalties.conjugate(m[n:])
        return value, derivative

    def at(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the function, minus its value at the origin, and its gradient in records."""
        step = point - self.origin
        change = self.form.rmatvec(step)
        exponent = self.exponent + change
        exponential, counts = self._extended_exp(exponent)
        # x - x0 = x0 (exp(change) - 1), without the rounding error of a difference of nearly equal numbers.
        is_small = (np.abs(change) < 1) & (np.maximum(exponent, self.exponent) < self.largest_exponent)
        by_expm1 = self.exponential * np.expm1(np.where(is_small, change, 0.0))
        increase = np.where(is_small, by_expm1, exponential - self.exponential)
        self.last_gradient = self.form.matvec(counts) + self._conjugate(point)[1] - self.target
        value, n = float(increase.sum() - self.target @ step), self.form.n_hard
        value += self.penalties.conjugate_increase(self.origin[n:], step[n:])
        return value, self.last_gradient

    def projected_gradient(self, point: np.ndarray, gradient: np.ndarray) -> float:
        """Return the largest element of the projected gradient: the step -gradient, truncated at the bounds."""
        projected = np.clip(-gradient, self.bounds.lb - point, self.bounds.ub - point)
        return float(np.abs(projected).max(initial=0.0))


class Backend(Protocol):
    """Interface of a solver: its name, its capabilities, and the maximisation of sum x log(w / x) over rows.

    Attributes
    ----------
    name : str
    installed : bool
        Whether it can be called on this machine.
    trouble : str
        Why it cannot be used although it is installed; empty if it can.
    takes_inequalities : bool
        Whether rows may be inequalities or intervals.
    takes_convex : bool
        Whether it supports convex constraints on the counts: as ``convex=``, or DUAL_NEWTON as problems of rows.
    takes_time_limit : bool
        Whether it has a time limit.
    takes_callback : bool
        Whether it reports every iteration while it runs.
    takes_soft_rows : bool
        Whether it subtracts ``form.penalties``, the costs of missing the last rows, from the objective.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> backend = mx.solvers.find("DUAL_NEWTON")
    >>> backend.name, backend.installed, backend.takes_inequalities, backend.takes_convex
    ('DUAL_NEWTON', True, True, True)
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def installed(self) -> bool: ...  # noqa: D102
    @property
    def trouble(self) -> str: ...  # noqa: D102
    @property
    def takes_inequalities(self) -> bool: ...  # noqa: D102
    @property
    def takes_convex(self) -> bool: ...  # noqa: D102
    @property
    def takes_time_limit(self) -> bool: ...  # noqa: D102
    @property
    def takes_callback(self) -> bool: ...  # noqa: D102
    @property
    def takes_soft_rows(self) -> bool: ...  # noqa: D102

    def check(self, options: Mapping[str, Any]) -> None:
        """Raise an error for options that the solver does not have, before any computation."""

    def solve(
        self, form: LinearForm, start: np.ndarray | None = None, *, monitor: Monitor | None = None, **options: Any
    ) -> Answer:
        """Maximise sum x log(w / x) over ``low <= matrix @ x <= high``, starting from `start` if it can use it."""
        ...


#: All solvers by name, the default first. On these problems, "faer" is the most precise factorisation of Clarabel.
SOLVERS: dict[str, Backend] = {
    backend.name: backend
    for backend in (
        DualBackend("DUAL_NEWTON", newton, takes_convex=True),
        DualBackend("DUAL_LBFGS", lbfgs),
        CvxpyBackend("CLARABEL", {"direct_solve_method": "faer"}, ("time_limit",)),
        CvxpyBackend("ECOS"),
        CvxpyBackend("SCS", {}, ("time_limit_secs",)),
        CvxpyBackend("MOSEK", {}, ("mosek_params", "MSK_DPAR_OPTIMIZER_MAX_TIME")),
    )
}


def register(backend: Any) -> Any:
    """Register a user-defined solver, so that it can be found by name, compared with others, and listed.

    Parameters
    ----------
    backend : object
        An object with a ``name`` and ``solve(form, start=None, **options)``, which maximises sum x log(w / x) over
        counts x >= 0, in records, with ``form.low <= form.matrix @ x <= form.high``; w are ``form.weights``. These
        arrays are copies, which it may overwrite. It returns
        ``Answer(status, counts, multipliers, iterations, compile_seconds, solve_seconds, message)``:

        * status: a :class:`Status`, "optimal" if the solver met its own tolerances;
        * counts: x, an array of floats, one per term; None if there is no answer;
        * multipliers: m with x = w exp(A' m - 1), an array of floats, one per row: positive where a row is active at
          its low side, negative at its high side. None if the solver has none; they are then fitted to the counts;
        * iterations, seconds to compile and to solve, and a message: they are reported, and may be omitted.

        It may have ``installed``, ``check(options)``, which raises an error, and ``takes_inequalities = False``. If
        ``solve`` has a parameter ``monitor``, it reports every iteration, and stops if
        ``monitor.tell({"iteration": 0, "residual": 0.1})`` is True; these lines are the log. Every answer is certified.

        With ``takes_soft_rows = True``, rows from number ``form.n_hard`` on may be violated. A violation of r >= 0
        records costs r^2 / (2 v) nats up to r = u v, and u r - u^2 v / 2 beyond, where v >= 0 and u > 0 are in
        ``form.penalties.variance`` and ``form.penalties.slope`` (u may be infinite; the cost is u r if v = 0).

        With ``takes_convex = True``, ``solve`` also has a parameter ``convex``, None or an object with CVXPY
        ``constraints`` on its CVXPY ``variable``, which has one entry per term. For prices, the solver passes the dual
        value of each constraint to its method ``save_dual_value``.

    Returns
    -------
    object
        The backend, so that an instance can be created and registered in one line.

    Raises
    ------
    SolverError
        If the object does not have this interface, or if another solver has the same name.

    See Also
    --------
    maxent_cvx.testing.check_backend : Check a backend, and describe its errors.

    Examples
    --------
    SciPy's BFGS minimises the dual function, whose gradient is A x - b:

    >>> import numpy as np, maxent_cvx as mx
    >>> from scipy.optimize import minimize
    >>> from maxent_cvx.solvers import Answer, Status
    >>> class Bfgs:
    ...     name, takes_inequalities = "BFGS", False
    ...     def solve(self, form, start=None):
    ...         a, b, w = form.matrix, form.low, form.weights
    ...         def dual(m):
    ...             x = w * np.exp(a.T @ m - 1)
    ...             return x.sum() - b @ m, a @ x - b
    ...         result = minimize(dual, np.zeros(len(b)), jac=True, method="BFGS", options={"gtol": 1e-8})
    ...         counts = w * np.exp(a.T @ result.x - 1)
    ...         return Answer(Status.OPTIMAL, counts, result.x, result.nit, message=result.message)
    >>> bfgs = mx.solvers.register(Bfgs())
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3).solve("BFGS").solver
    'BFGS'
    >>> del mx.solvers.SOLVERS["BFGS"]                         # unregister it again
    """
    solver = as_backend(backend)
    existing = SOLVERS.get(solver.name)
    if existing is not None and getattr(existing, "own", None) is not backend:
        raise SolverError(f"a solver named {solver.name!r} exists already; choose another name")
    SOLVERS[solver.name] = solver
    return backend


def find(name: str | object) -> Backend:
    """Return a solver by its name; "auto" is the default solver. A backend object is returned unchanged.

    Parameters
    ----------
    name : str or object
        A name listed by :func:`available`, or "auto"; or a backend that :func:`register` accepts.

    Returns
    -------
    Backend
        With ``name``, ``installed``, ``check(options)`` and ``solve(form, start, **options)``.

    Raises
    ------
    UnknownName
        If no solver has this name, or if it is one of CVXPY's without exponential cones, such as OSQP.
    SolverError
        If it is not installed, or if the argument is neither a name nor a solver.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.solvers.find("auto").name
    'DUAL_NEWTON'
    >>> mx.solvers.find("Clarabel")
    Traceback (most recent call last):
    ...
    maxent_cvx.UnknownName: 'Clarabel' is not a solver; did you mean 'CLARABEL'?
    """
    entry: object = name
    if isinstance(name, str):
        entry = next(iter(SOLVERS.values())) if name == "auto" else SOLVERS.get(name) or _of_cvxpy(name)
        if entry is None and name.upper() in _without_exponential_cones():
            raise UnknownName(f"{name} does not support exponential cones, so it cannot maximise entropy; {_others()}")
        if entry is None:
            raise unknown_name("solver", name, ["auto", *SOLVERS])
    solver = as_backend(entry)
    if not solver.installed:
        raise SolverError(f"solver {solver.name} is not installed; install it, or {_others()}")
    return solver


def _others() -> str:
    return f"choose one of {[backend.name for backend in registered() if backend.installed]}"


def registered() -> list[Backend]:
    """Return all registered solvers, the default first."""
    return [as_backend(backend) for backend in SOLVERS.values()]


def _of_cvxpy(name: str) -> Backend | None:
    """Return a solver of CVXPY that is not registered and supports exponential cones, or None."""
    from cvxpy.constraints import ExpCone
    from cvxpy.reductions.solvers.defines import SOLVER_MAP_CONIC

    known = SOLVER_MAP_CONIC.get(name)
    return CvxpyBackend(name) if known is not None and ExpCone in known.SUPPORTED_CONSTRAINTS else None


def _without_exponential_cones() -> set[str]:
    """Return the names of CVXPY's solvers that cannot maximise entropy."""
    from cvxpy.reductions.solvers.defines import SOLVER_MAP_CONIC, SOLVER_MAP_QP

    return {name for name in [*SOLVER_MAP_CONIC, *SOLVER_MAP_QP] if _of_cvxpy(name) is None}


def available() -> pd.DataFrame:
    """Return a table of all solvers: whether each is installed, and why an installed one cannot be used.

    Returns
    -------
    DataFrame
        Indexed by `solver`, the default first: `installed`, True or False; `note`, empty for a solver that can be used.
        Other solvers of CVXPY with exponential cones are listed if they are installed.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> print(mx.solvers.available().loc[["DUAL_NEWTON", "DUAL_LBFGS", "CLARABEL"], "installed"].to_list())
    [True, True, True]
    """
    import cvxpy as cp

    others = [_of_cvxpy(name) for name in cp.installed_solvers() if name not in SOLVERS]
    rows = []
    for backend in [*registered(), *(backend for backend in others if backend is not None)]:
        trouble = backend.trouble if backend.installed else ""
        rows.append((backend.name, backend.installed, f"installed, but not usable: {trouble}" if trouble else ""))
    return pd.DataFrame(rows, columns=["solver", "installed", "note"]).set_index("solver")
