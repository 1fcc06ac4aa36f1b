"""What every solver promises, tried on problems whose answers are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..errors import Inaccurate, Infeasible, SolverError, StatementError, arguments
from ..model.posterior import Posterior
from ..solvers.answer import Answer, Status
from ..solvers.backends.registry import Backend
from ..solvers.backends.registry import find as find_backend
from ..solvers.program.linear_form import LinearForm
from .backend_faults import far, fault
from .problems import PROBLEMS, Problem, find

__all__ = ["check_backend"]

#: Rounding, a probability, by which an answer may be further from the exact one than its certificate says.
ROUNDING = 1e-6
#: How far a multiplier may be off: that of a certified answer, whose counts are good to a part in ten thousand. It
#: is divided by the least count, if below 1, where the solver calls its answer inaccurate.
PRECISE = 0.02
#: Problems that an error tells of; the others are counted.
TOLD = 5


@dataclass
class Trial:
    """One problem, and what a backend makes of it."""

    backend: Backend
    problem: Problem
    outcome: str = "not taken"
    bound: float = np.nan
    error: float = np.nan

    def faults(self) -> Iterator[str]:
        """Solve it in every way; say what is wrong."""
        model = self.problem.model()
        answer = None
        if not self.problem.needs_convex:  # which come as an argument of their own
            try:
                answer = untouched(self.backend, model.form)
            except Exception as error:  # whatever the backend raises is to be told
                yield _raised(error)
                return
        if not self.problem.feasible:
            self.outcome = "infeasible"
            yield from self.contradicted()
            return
        exact = self.problem.expected(model.space)
        post = None
        for presolve in (True, False):
            try:
                post = model.solve(self.backend, presolve=presolve)
            except Infeasible as error:
                yield f"the knowledge can hold, and is called infeasible: {error}"
                return
            except (Inaccurate, SolverError) as error:
                told = fault(model.form, answer, exact) if self.problem.interior else ""
                sure = answer is not None and (answer.counts is None or answer.status is Status.OPTIMAL)
                if presolve or (told and sure):
                    yield told or str(error)
                    return
                self.outcome = "certified after presolve"
            except Exception as error:
                yield _raised(error)
                return
            else:
                if presolve:
                    self.outcome, self.bound, self.error = "certified", post.certificate.bound, far(post, exact)
                if far(post, exact) > post.certificate.bound + ROUNDING:
                    yield f"an answer is certified to {post.certificate.bound:.1e} and off by {far(post, exact):.1e}"
        if self.outcome == "certified" and self.problem.dual:
            yield from self.mispriced(post, list(model.knowledge), exact, fault(model.form, answer, exact))

    def contradicted(self) -> Iterator[str]:
        """Ask for what cannot be."""
        for presolve in (True, False):
            try:
                self.problem.model().solve(self.backend, presolve=presolve)
            except Infeasible:
                continue
            except Exception as error:
                yield f"of contradictory knowledge: {_raised(error)}"
            else:
                yield "the knowledge is contradictory, and there is an answer"

    def mispriced(self, post: Posterior | None, labels: list[str], counts: np.ndarray, usual: str) -> Iterator[str]:
        """Compare the multipliers of what is known with the exact ones."""
        assert post is not None
        dual = np.array(self.problem.dual)
        found = np.concatenate([post.multipliers[label] for label in labels])
        least = 1.0 if post.status is Status.OPTIMAL else min(1.0, float(counts[counts > 0].min()))
        if np.abs(found - dual).max() > PRECISE / least:
            exact = np.round(dual, 6).tolist()
            yield usual or f"the multipliers of what is known are {found.round(6).tolist()}, and {exact} are exact"


def check_backend(backend: str | object, problems: Iterable[Problem | str] | None = None) -> pd.DataFrame:
    """Check the contract of a solver on problems with known answers; an :exc:`AssertionError` says what is broken.

    1. ``solve(form, start=None)`` returns an :class:`maxent_cvx.solvers.Answer`, with or without a start, raises
       nothing, and leaves the form as it is.
    2. After presolve every problem that has an answer is solved to a certificate, and the answer is as close to the
       exact one as that says. Without presolve it may be refused as not precise enough, if the backend does not call it
       optimal, or it has zeros; but if it is certified it is so close, too.
    3. Multipliers are signed and scaled as those that are known. They are compared more loosely if the backend calls
       its answer inaccurate and the problem has terms of less than one record.
    4. What cannot be ends in :exc:`maxent_cvx.Infeasible`, and nothing else does.

    Problems that need inequalities, soft rows or convex constraints are left out where the backend says that it does
    not take them (``takes_inequalities``, ``takes_soft_rows``, ``takes_convex``).

    Parameters
    ----------
    backend : str or object
        A solver's name, or one of your own; see :func:`maxent_cvx.solvers.register`.
    problems : iterable of Problem or str, optional
        Those to try, or their names; by default all of :data:`maxent_cvx.testing.problems.PROBLEMS`.

    Returns
    -------
    DataFrame
        By `problem`: its `outcome` ("certified", "certified after presolve" where it was refused without, "infeasible",
        "not taken"); the certificate's `bound` and the true `error`, the largest of any P(s, b | q), after presolve.

    Raises
    ------
    AssertionError
        If a part of the contract is broken; which, and on which problems, it says.
    UnknownName, SolverError, StatementError
        If there is no such solver, or it is not installed; if there is no such problem.

    Examples
    --------
    >>> import numpy as np
    >>> import maxent_cvx as mx
    >>> from maxent_cvx.solvers import Answer, Status
    >>> class Scaling:
    ...     "Generalised iterative scaling."
    ...     name = "SCALING"
    ...     takes_inequalities = False
    ...     sign = 1
    ...     def solve(self, form, start=None, *, sweeps=2000):
    ...         m, a = np.zeros(form.shape[0]), form.matrix.toarray()
    ...         for _ in range(sweeps):
    ...             for i in range(len(m)):
    ...                 x = np.exp(form.exponent(m))
    ...                 m[i] += (form.low[i] - a[i] @ x) / max(a[i] ** 2 @ x, 1e-300)
    ...         return Answer(Status.OPTIMAL, np.exp(form.exponent(m)), self.sign * m)
    >>> some = ["one equation", "one value or another", "active at most", "two values"]
    >>> mx.testing.check_backend(Scaling(), some)["outcome"].to_dict()       # doctest: +NORMALIZE_WHITESPACE
    {'one equation': 'certified', 'one value or another': 'certified', 'active at most': 'not taken',
     'two values': 'infeasible'}
    >>> wrong = Scaling()
    >>> wrong.sign = -1
    >>> try:
    ...     mx.testing.check_backend(wrong, ["one equation"])
    ... except AssertionError as error:
    ...     print(error)
    SCALING is broken on 1 of 1 problems. 'one equation': the multipliers have the other sign: x = w exp(A' m - 1) holds
    with -m
    """
    found = find_backend(backend)
    chosen = _chosen(problems)
    assert not found.trouble, f"{found.name} is installed, but not usable: {found.trouble}"
    trials = [Trial(found, problem) for problem in chosen]
    able = [trial for trial in trials if trial.problem.suits(found)]
    assert able, (
        f"{found.name} takes none of the {len(chosen)} problems: see takes_inequalities, takes_soft_rows, takes_convex"
    )
    told = {trial.problem.name: faults for trial in able if (faults := list(trial.faults()))}
    says = " ".join(f"{name!r}: {'; '.join(faults)}" for name, faults in list(told.items())[:TOLD])
    more = f" And {len(told) - TOLD} more." if len(told) > TOLD else ""
    assert not told, f"{found.name} is broken on {len(told)} of {len(able)} problems. {says}{more}"
    rows = [(trial.problem.name, trial.outcome, trial.bound, trial.error) for trial in trials]
    return pd.DataFrame(rows, columns=["problem", "outcome", "bound", "error"]).set_index("problem")


def untouched(backend: Backend, form: LinearForm) -> Answer:
    """Ask a backend twice, without a start and with one, for an answer to a problem that it must not change."""
    form = replace(form, coefficients=form.matrix)  # one matrix, and not made anew whenever it is asked for
    sides = [form.matrix.data, form.low, form.high, form.weights]
    before = [side.copy() for side in sides]
    answer = backend.solve(form)
    backend.solve(form, np.full(form.shape[0], 0.1))
    if not all(np.array_equal(*pair) for pair in zip(sides, before, strict=True)):
        raise AssertionError("solve changes the form that it is given")
    return answer


def _raised(error: Exception) -> str:
    """What a backend raised, or what an own check says."""
    if isinstance(error, AssertionError | SolverError):
        return str(error)
    return f"solve raises {type(error).__name__}: {error}; return an Answer with Status.FAILED instead"


def _chosen(problems: Any) -> list[Problem]:
    """Read what problems to try."""
    if problems is None:
        return list(PROBLEMS.values())
    chosen = arguments.list_of(problems, "problems", "problems, or their names")
    if not chosen:
        raise StatementError("problems is empty; leave it out to try all of them")
    return [problem if isinstance(problem, Problem) else find(problem) for problem in chosen]
