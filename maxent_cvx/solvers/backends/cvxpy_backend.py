"""Solvers that are called through CVXPY as backends: those that take exponential cones."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ...display import Shown
from ...errors import SolverError, shown
from ..answer import Answer, Status
from ..monitoring.monitor import Monitor
from ..program.linear_form import LinearForm
from ..program.problem import Convex
from .cvxpy_problem import constraints, soft_rows

__all__ = ["STATUS", "CvxpyBackend", "least_violation"]

#: The meaning of CVXPY's statuses here; one that is not listed is a failure.
STATUS = {
    "optimal": Status.OPTIMAL,
    "optimal_inaccurate": Status.INACCURATE,
    "infeasible": Status.INFEASIBLE,
    "infeasible_inaccurate": Status.FAILED,  # nearly infeasible is undecided
    "unbounded": Status.FAILED,  # entropy is bounded, so that this is a numerical failure
    "unbounded_inaccurate": Status.FAILED,
    "infeasible_or_unbounded": Status.INFEASIBLE,
    "user_limit": Status.LIMIT,
    "solver_error": Status.FAILED,
}

#: What CVXPY's solvers call their tolerances, and the two values that they are given: the certificate needs more than
#: the defaults of these solvers, of 1e-6 to 1e-8. MOSEK's parameters are options inside of one, as its time limit is.
_GAPS = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
_MOSEK = tuple(f"MSK_DPAR_INTPNT_CO_TOL_{name}" for name in ("PFEAS", "DFEAS", "REL_GAP", "MU_RED"))
TOLERANCES: dict[str, tuple[tuple[str, ...], tuple[float, float]]] = {
    "CLARABEL": (_GAPS, (1e-11, 1e-14)),
    "CUCLARABEL": (_GAPS, (1e-11, 1e-14)),
    "ECOS": (("abstol", "reltol", "feastol"), (1e-12, 1e-14)),
    "ECOS_BB": (("abstol", "reltol", "feastol"), (1e-12, 1e-14)),
    "SCS": (("eps_abs", "eps_rel"), (1e-10, 1e-13)),
    "MOSEK": (_MOSEK, (1e-12, 1e-14)),
    "COPT": (("FeasTol", "DualTol", "RelGap"), (1e-9, 1e-9)),  # the least that it takes
}
#: Options that keep the last point of a solver that does not reach its tolerances: the certificate judges it.
KEEP_LAST = {name: {"accept_unknown": True} for name in ("CLARABEL", "CUCLARABEL", "MOSEK")}

#: Solvers that need no license, so that no trial solve is needed to list them.
FREE = ("CLARABEL", "ECOS", "ECOS_BB", "SCS")
#: The longest excerpt of another program's error message, in characters.
LONGEST_EXCERPT = 200


@dataclass(frozen=True)
class CvxpyBackend(Shown):
    """One of CVXPY's conic solvers, by name.

    Parameters
    ----------
    name : str
        CVXPY's name of the solver.
    options : dict
        Default options of the solver, which the user's options override.
    seconds : tuple of str
        What the solver calls its time limit; of several names each is an option inside that of the name before. Empty
        if it has none.
    is_tighter : bool
        Whether it is given the second, stricter tolerances.
    """

    name: str
    options: dict[str, Any] = field(default_factory=dict, hash=False)
    seconds: tuple[str, ...] = ()
    is_tighter: bool = False
    takes_inequalities: ClassVar[bool] = True
    takes_convex: ClassVar[bool] = True
    takes_soft_rows: ClassVar[bool] = True
    takes_callback: ClassVar[bool] = False

    @property
    def takes_time_limit(self) -> bool:
        """Whether the solver stops when its time is over."""
        return bool(self.seconds)

    def options_with(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options of one call: tolerances, the default options, and the user's own, which override them."""
        names, values = TOLERANCES.get(self.name, ((), (0.0, 0.0)))
        tolerances: dict[str, Any] = dict.fromkeys(names, values[self.is_tighter])
        if self.name == "MOSEK":
            tolerances = {"mosek_params": tolerances}
        return _merged(_merged(KEEP_LAST.get(self.name, {}) | tolerances, self.options), given)

    def tighter(self, given: Mapping[str, Any]) -> CvxpyBackend | None:
        """The same solver with stricter tolerances; None if there are none, or if the user has chosen them."""
        names, values = TOLERANCES.get(self.name, ((), (0.0, 0.0)))
        chosen = {*given, *given.get("mosek_params", {})} & {*names, "eps"}
        return None if self.is_tighter or chosen or values[0] == values[1] else replace(self, is_tighter=True)

    @property
    def installed(self) -> bool:
        """Whether CVXPY can call it on this machine."""
        import cvxpy as cp

        return self.name in cp.installed_solvers()

    @property
    def trouble(self) -> str:
        """Why it cannot be used although it is installed, such as a missing license; empty if it can."""
        if self.name in FREE:
            return ""
        try:
            _small_problem().solve(solver=self.name, **self.options_with({}))
        except Exception as error:  # what solvers raise is theirs to choose
            return _in_one_line(error)
        return ""

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that the solver refuses, which is found out by solving a small problem with them.

        Raises
        ------
        SolverError
            If the solver fails with these options. If it merely stops early, as options may demand, they are accepted.
        """
        if not options:
            return
        import cvxpy as cp

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _small_problem().solve(solver=self.name, **self.options_with(options))
        except cp.error.SolverError:
            pass
        except Exception as error:
            what = f"{self.name} does not take {', '.join(f'{key}={shown(value)}' for key, value in options.items())}"
            raise SolverError(f"{what} ({_in_one_line(error)}); correct the option, or leave it out") from None

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

        Whatever a solver raises becomes an answer with the status "failed". Conic solvers do not use `start`, and are
        not told that they have to stop: they get the seconds that are left.
        """
        import cvxpy as cp

        monitor = monitor or Monitor()
        if monitor.stopped:
            return Answer(Status.LIMIT, None, None, message=f"stopped {monitor.stopped}")
        options = _limited(self.options_with(options), self.seconds, monitor.seconds_left)

        begun = time.perf_counter()
        # Each count as a share of its upper bound, and the objective of an average term: the tolerances of solvers are
        # absolute, and relative to the largest number, so that groups of very unlike size would be of unlike precision.
        unit = form.count_scale
        average = float(unit.mean()) if len(unit) else 1.0
        shares = cp.Variable(form.shape[1], name="shares", nonneg=True)
        counts = cp.multiply(unit, shares)
        missed, cost = soft_rows(form)
        blocks = constraints(form, counts, missed)
        copies = [one.tree_copy({id(convex.variable): counts}) for one in convex.constraints] if convex else []
        entropy = unit @ cp.entr(shares) + (unit * (np.log(form.weights) - np.log(unit))) @ shares
        problem = cp.Problem(cp.Maximize((entropy - cost) / average), [block.constraint for block in blocks] + copies)
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Solution may be inaccurate")  # the status says so
                problem.solve(solver=self.name, **options)
        except Exception as error:  # what solvers raise is theirs to choose: a missing license is a mosek.Error
            took = time.perf_counter() - begun
            return Answer(Status.FAILED, None, None, 0, 0.0, took, _in_one_line(error))
        took = time.perf_counter() - begun
        stats = problem.solver_stats
        solving = float(stats.solve_time or 0.0) if stats else 0.0
        found = counts.value is not None and all(block.constraint.dual_value is not None for block in blocks)
        multipliers = np.zeros(form.shape[0])
        for block in blocks if found else []:
            multipliers[block.rows] += average * block.sign * block.constraint.dual_value
        for one, copied in zip(convex.constraints if convex else (), copies, strict=True):
            dual = copied.dual_value
            one.save_dual_value(None if dual is None else average * dual)
        return Answer(
            STATUS.get(problem.status, Status.FAILED),
            counts.value if found else None,
            multipliers if found else None,
            int(stats.num_iters or 0) if stats else 0,
            took - solving,
            solving,
            problem.status,
        )


def least_violation(
    form: LinearForm, convex: Convex, asked: Sequence[Any], seconds: float = np.inf
) -> tuple[float, np.ndarray | None, list[float]]:
    """Minimise the largest violation of some constraints over rows and all other convex constraints, by CLARABEL.

    Returns
    -------
    float, ndarray or None, list of float
        The least value of ``expression`` in ``expression <= 0``, the counts, and the multiplier of each constraint, the
        sum of which is 1; NaN, None and nothing if none is found.
    """
    import cvxpy as cp

    backend, unit = CvxpyBackend("CLARABEL", {}, ("time_limit",)), form.count_scale
    shares = cp.Variable(len(unit), nonneg=True)
    counts = cp.multiply(unit, shares)
    kept = [block.constraint for block in constraints(form, counts)]
    kept += [one.tree_copy({id(convex.variable): counts}) for one in convex.constraints if not _is_in(one, asked)]
    values = [cp.max(one.expr.tree_copy({id(convex.variable): counts})) for one in asked]
    largest = cp.Variable()
    limits = [value <= largest for value in values]
    problem = cp.Problem(cp.Minimize(largest), kept + limits)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve(solver=backend.name, **_limited(backend.options_with({}), backend.seconds, seconds))
    except Exception:  # what solvers raise is theirs to choose
        return np.nan, None, []
    if problem.status not in ("optimal", "optimal_inaccurate"):
        return np.nan, None, []
    return float(problem.value), np.asarray(counts.value), [float(one.dual_value) for one in limits]


def _is_in(one: Any, some: Sequence[Any]) -> bool:
    """Whether it is one of them; the equality of CVXPY's objects is another constraint."""
    return any(one is other for other in some)


def _limited(options: dict[str, Any], names: tuple[str, ...], seconds: float) -> dict[str, Any]:
    """Add a time limit to options; a shorter one of the user's stays."""
    if not names or not np.isfinite(seconds):
        return options
    first, *inside = names
    own = options.get(first, {} if inside else np.inf)
    return {**options, first: _limited(own, tuple(inside), seconds) if inside else min(own, seconds)}


def _merged(options: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Options with others that override them, also those inside of an option."""
    found = {**options, **over}
    for name in options.keys() & over.keys():
        if isinstance(options[name], Mapping) and isinstance(over[name], Mapping):
            found[name] = {**options[name], **over[name]}
    return found


def _small_problem() -> Any:
    """A problem of two variables, to try options and licenses on."""
    import cvxpy as cp

    x = cp.Variable(2)
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1])


def _in_one_line(error: BaseException) -> str:
    """An error of another program, in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:LONGEST_EXCERPT]}{'...' * (len(text) > LONGEST_EXCERPT)}"
