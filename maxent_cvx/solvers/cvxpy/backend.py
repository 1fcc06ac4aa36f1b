"""Every solver that CVXPY knows and that takes exponential cones."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ...arguments import flag
from ...errors import SolverError, shown
from ..answer import Answer, Status
from ..program.linear_form import LinearForm
from ..program.problem import Convex
from .problem import constraints

__all__ = ["STATUS", "CvxpyBackend", "words"]

#: CVXPY's words, and what they mean here; a word that is not listed is a failure.
STATUS = {
    "optimal": Status.OPTIMAL,
    "optimal_inaccurate": Status.INACCURATE,
    "infeasible": Status.INFEASIBLE,
    "infeasible_inaccurate": Status.FAILED,  # almost infeasible decides nothing
    "unbounded": Status.FAILED,  # entropy is bounded: the solver is lost
    "unbounded_inaccurate": Status.FAILED,
    "infeasible_or_unbounded": Status.INFEASIBLE,
    "user_limit": Status.LIMIT,
    "solver_error": Status.FAILED,
}

#: Solvers that need no license, and are not tried before they are listed.
FREE = ("CLARABEL", "ECOS", "ECOS_BB", "SCS")
#: Characters of another program's words that a message shows.
MOST = 200


@dataclass(frozen=True)
class CvxpyBackend:
    """One of CVXPY's conic solvers, by name.

    Parameters
    ----------
    name : str
        CVXPY's name of the solver.
    options : dict
        Options that the solver is given unless the user says otherwise.
    """

    name: str
    options: dict[str, Any] = field(default_factory=dict, hash=False)
    takes_inequalities: ClassVar[bool] = True
    takes_convex: ClassVar[bool] = True

    @property
    def installed(self) -> bool:
        """Whether CVXPY can call it on this machine."""
        import cvxpy as cp

        return self.name in cp.installed_solvers()

    @property
    def trouble(self) -> str:
        """Why it cannot be used although it is installed, for want of a license for instance; empty if it can."""
        if self.name in FREE:
            return ""
        try:
            _tiny().solve(solver=self.name, **self.options)
        except Exception as error:  # what solvers raise is theirs to choose
            return words(error)
        return ""

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that the solver refuses: only it knows its own, so that it is asked, by a tiny problem.

        Raises
        ------
        SolverError
            If it cannot solve that with these options; that it stops early, as it may be told to, is no refusal.
        """
        options = dict(options)
        flag(options.pop("verbose", False), "verbose")
        if not options:
            return
        import cvxpy as cp

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _tiny().solve(solver=self.name, **{**self.options, **options})
        except cp.error.SolverError:
            pass
        except Exception as error:
            what = f"{self.name} does not take {', '.join(f'{key}={shown(value)}' for key, value in options.items())}"
            raise SolverError(f"{what} ({words(error)}); correct the option, or leave it out") from None

    def solve(
        self,
        form: LinearForm,
        start: np.ndarray | None = None,
        *,
        convex: Convex | None = None,
        **options: Any,
    ) -> Answer:
        """Maximise sum x log(w / x) over ``low <= matrix @ x <= high`` and convex constraints on x.

        A solver's failure, whatever it raises, is an answer with that status. `start` is of no use to conic solvers.
        """
        import cvxpy as cp

        begun = time.perf_counter()
        counts = convex.variable if convex else cp.Variable(form.shape[1], name="counts")
        parts = constraints(form, counts)
        also = list(convex.constraints) if convex else []
        entropy = cp.sum(cp.entr(counts))
        if form.is_weighted:
            entropy += np.log(form.weights) @ counts
        problem = cp.Problem(cp.Maximize(entropy), [part.constraint for part in parts] + also)
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Solution may be inaccurate")  # the status says so, and we raise
                problem.solve(solver=self.name, **{**self.options, **options})
        except Exception as error:  # what solvers raise is theirs to choose: a missing license is a mosek.Error
            took = time.perf_counter() - begun
            return Answer(Status.FAILED, None, None, 0, 0.0, took, words(error))
        took = time.perf_counter() - begun
        stats = problem.solver_stats
        solving = float(stats.solve_time or 0.0) if stats else 0.0
        found = counts.value is not None and all(part.constraint.dual_value is not None for part in parts)
        multipliers = np.zeros(form.shape[0])
        for part in parts if found else []:
            multipliers[part.rows] += part.sign * part.constraint.dual_value
        return Answer(
            STATUS.get(problem.status, Status.FAILED),
            counts.value if found else None,
            multipliers if found else None,
            int(stats.num_iters or 0) if stats else 0,
            took - solving,
            solving,
            problem.status,
        )


def _tiny() -> Any:
    """A problem that every solver can try its options, and its license, on."""
    import cvxpy as cp

    x = cp.Variable(2)
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1])


def words(error: BaseException) -> str:
    """What another program raised, in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:MOST]}{'...' * (len(text) > MOST)}"
