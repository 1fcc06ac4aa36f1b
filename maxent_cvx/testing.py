"""Contract tests for user-defined sources, views, solver backends and techniques of disclosure control.

Each raises an :exc:`AssertionError` with the violated part of the contract:

>>> import maxent_cvx as mx
>>> hospital = mx.datasets.load_hospital()
>>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
>>> mx.testing.check_source(mx.BucketInvariants(release), mx.MaxEnt(release).space, truth=hospital)
"""

from __future__ import annotations

import math
import re
import tempfile
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from ._utils.errors import Inaccurate, Infeasible, MaxEntError, SolverError, StatementError, TableError
from ._utils.formatting import ReprMixin
from ._utils.progress import progress_bar
from ._utils.validation import check_dataframe, check_instance, check_label, check_list, check_optional_bool, check_str
from .model.maxent import MaxEnt, load_posterior
from .model.posterior import Posterior
from .priors import QIDistribution
from .releases.base import View
from .releases.qi_table import QITable
from .releases.release import Release
from .solvers.answer import Answer, Status
from .solvers.backends import Backend, value_at
from .solvers.backends import find as find_backend
from .solvers.form import LinearForm
from .sources.base import Source, build_rows
from .sources.statements import P, Probability, Statement
from .terms.space import Space

__all__ = ["check_backend", "check_source", "check_technique", "check_view"]

# Problems with known answers, for check_backend.


Table = Sequence[Sequence[float]]
Buckets = Sequence[tuple[str, str]]

#: Two by two: with x = n(q1, s1), n(q1, s2) = 4 - x, n(q2, s1) = 3 - x and n(q2, s2) = x - 1. By Eq. (9) of
#: Privacy-MaxEnt, x = 2. The multiplier of a row x = c is the log odds ratio, since log n(q, s) = a(q) + b(s) + m [q1,
#: s1].
SQUARE = (("q1*4 q2*2", "s1*3 s2*3"),)
#: Three people, three values: a doubly stochastic table.
CUBE = (("q1 q2 q3", "s1 s2 s3"),)


@dataclass(frozen=True, eq=False)
class Problem(ReprMixin):
    """A small model whose maximum-entropy answer is known from a formula, a symmetry or a paper.

    `buckets` are the QI tuples and sensitive values of each bucket, "q1*3 q2" for q1 three times and q2 once;
    `knowledge` are statements, or functions of the space for convex constraints; `joint` is N P(q, s, b) in records,
    one table per bucket with sorted labels, or None if the knowledge is contradictory; `dual` are the multipliers m of
    the statements' rows, scaled to a largest coefficient of 1, where x = w exp(A' m - 1), or None if they are not
    unique.
    """

    buckets: Buckets
    knowledge: Sequence[Statement | Callable[[Space], object]]
    joint: Sequence[Table] | None
    dual: Sequence[float] | None = None
    name: str = ""
    origin: str = ""
    view: Callable[[Buckets], View] = field(default_factory=lambda: publish)
    prior: Callable[[], QIDistribution] | None = None

    def model(self) -> MaxEnt:
        """Make a new model."""
        prior = None if self.prior is None else self.prior()
        return MaxEnt(self.view(self.buckets), prior=prior).add(*self.knowledge)

    @property
    def feasible(self) -> bool:
        """Whether there is an answer; if not, a solve must raise :exc:`maxent_cvx.Infeasible`."""
        return self.joint is not None

    @property
    def interior(self) -> bool:
        """Whether there is an answer without zeros, so that all multipliers are finite."""
        return self.joint is not None and min(min(map(min, table)) for table in self.joint) > 0

    @property
    def needs_soft_rows(self) -> bool:
        """Whether a backend must accept soft rows (``takes_soft_rows``)."""
        return any(isinstance(known, Statement) and known.penalty is not None for known in self.knowledge)

    @property
    def needs_convex(self) -> bool:
        """Whether a backend must accept convex constraints (``takes_convex``)."""
        return any(not isinstance(known, Statement) for known in self.knowledge)

    def suits(self, backend: str | object) -> bool:
        """Return whether a backend declares that it accepts such a problem."""
        solver = find_backend(backend)
        needs_inequalities = any(isinstance(known, Statement) and known.low != known.high for known in self.knowledge)
        takes_rows = solver.takes_inequalities or not needs_inequalities
        takes_rows &= solver.takes_soft_rows or not self.needs_soft_rows
        return takes_rows and (solver.takes_convex or not self.needs_convex)

    def expected(self, space: Space) -> np.ndarray:
        """Return the exact answer."""
        check_instance(space, Space, "space")
        if self.joint is None:
            raise StatementError(f"the knowledge of {self.name!r} is contradictory, so it has no answer")
        people: dict[tuple[object, ...], float] = {}
        for b, ((qs, ss), table) in enumerate(zip(self.buckets, self.joint, strict=True), start=1):
            for q, row in zip(sorted(set(members(qs))), table, strict=True):
                people |= {(q, s, b): count for s, count in zip(sorted(set(members(ss))), row, strict=True)}
        if space.index.nlevels == 2:  # a table without buckets
            people = {term[:2]: count for term, count in people.items()}
        return np.array([people[term] for term in space.index], dtype=float)

    def __repr__(self) -> str:
        return f"<Problem {self.name!r}>"


def square(x: float) -> tuple[Table]:
    """Return the table of SQUARE with n(q1, s1) = x."""
    return ([[x, 4 - x], [3 - x, x - 1]],)


def square_dual(x: float) -> float:
    """Return the log odds ratio of that table, the multiplier of the row n(q1, s1) = x."""
    return math.log(x * (x - 1) / ((4 - x) * (3 - x)))


def members(text: str) -> list[str]:
    """Read "q1*2 q2" as q1, q1, q2."""
    pairs = [token.partition("*") for token in text.split()]
    return [name for name, _, times in pairs for _ in range(int(times or 1))]


def publish(buckets: Buckets) -> Release:
    """Publish buckets, numbered from 1."""
    frames = [pd.DataFrame({"Q": members(q), "S": members(s), "B": b}) for b, (q, s) in enumerate(buckets, start=1)]
    return Release.from_buckets(pd.concat(frames), qi="Q", sa="S", bucket="B")


def people_only(buckets: Buckets) -> QITable:
    """Publish the people and the distinct values of a single bucket, but not the counts of values."""
    ((qs, ss),) = buckets
    return QITable(pd.DataFrame({"Q": members(qs)}), qi="Q", sa="S", sa_values=members(ss))


def p(s: str | list[str], q: str) -> Probability:
    """Return the expression P(s | q)."""
    return P(s, {"Q": q})


def _loaded_die() -> Problem:
    """Make the problem of Jaynes (1962): P(i) = exp(a i) / sum exp(a j), with a such that the mean is 4.5."""
    faces = range(1, 7)
    a = brentq(lambda a: sum((j - 4.5) * math.exp(a * j) for j in faces), 0.0, 1.0, xtol=1e-15)
    total = sum(math.exp(a * j) for j in faces)
    mean = sum((j * P(f"s{j}") for j in faces[1:]), P("s1"))
    table = [[math.exp(a * j) / total for j in faces]]
    origin = "Jaynes' Brandeis dice (1962): a die whose mean is 4.5"
    return Problem(
        [("q1", "s1 s2 s3 s4 s5 s6")], [mean == 4.5], (table,), [6 * a], "loaded die", origin, view=people_only
    )


def _within_a_parabola(space: Space) -> object:
    """State (P(s1 | q1) - 0.2)^2 + (P(s1 | q2) - 1)^2 <= 0.02; the square of one expression would become rows."""
    first, second = (space.prob("s1", given={"Q": q}) for q in ("q1", "q2"))
    return (first - 0.2) ** 2 + (second - 1) ** 2 <= 0.02


def _problems() -> Iterator[Problem]:
    """Yield the problems of :func:`check_backend`: at least one of each kind of row, of zeros and of contradictions."""
    x, thirds, others = p("s1", "q1"), [[1 / 3] * 3] * 3, [0.275, 0.275, 0.45]
    yield Problem(CUBE, [], (thirds,), [], "uniform", "By symmetry every entry is 1/3.")
    yield Problem(
        SQUARE, [x == 0.4], square(1.6), [square_dual(1.6)], "one equation",
        "P(s1 | q1) = 0.4 of 4 people is x = 1.6, and the rest follows from the margins.",
    )  # fmt: skip
    yield Problem(
        CUBE, [p(["s1", "s2"], "q1") == 0.9], ([[0.45, 0.45, 0.1], others, others],),
        [math.log(0.45 * 0.45 / (0.1 * 0.275))], "one value or another", "By symmetry 0.9 = 0.45 + 0.45.",
    )  # fmt: skip
    yield _loaded_die()
    yield Problem(
        SQUARE, [x <= 0.6], square(2), [0.0], "inactive at most", "P(s1 | q1) is 0.5 by Eq. (9), below 0.6 already."
    )
    yield Problem(
        SQUARE, [x <= 0.4], square(1.6), [square_dual(1.6)], "active at most",
        "The row binds, so the answer is that of the equation; its upper side is active, so m < 0.",
    )  # fmt: skip
    yield Problem(
        SQUARE, [x >= 0.6], square(2.4), [square_dual(2.4)], "active at least",
        "P(s1 | q1) is 0.5 by Eq. (9), below 0.6: the lower side is active, so m > 0.",
    )  # fmt: skip
    yield Problem(
        SQUARE, [x.between(0.6, 0.7)], square(2.4), [square_dual(2.4)], "active between, from below",
        "The nearer side binds.",
    )  # fmt: skip
    table = pd.DataFrame({"s1": [0.8, 0.2], "s2": [0.2, 0.8]}, index=pd.Index(["q1", "q2"], name="Q"))
    prior = partial(QIDistribution, {"Q": table})
    yield Problem(
        SQUARE, [x == 0.4], square(1.6), [square_dual(1.6) - math.log(16)], "believed and known",
        "`one equation` with a prior: the multiplier is relative to the prior's odds ratio, 16.", prior=prior,
    )  # fmt: skip
    yield Problem(
        SQUARE, [], square((37 - math.sqrt(89)) / 10), [], "believed and published",
        "The odds ratio stays 16: x (x - 1) = 16 (4 - x)(3 - x), a quadratic equation.", prior=prior,
    )  # fmt: skip
    sd = math.sqrt(0.1 / (-4 * square_dual(1.6)))  # P(s1 | q1) is 4 records per unit
    yield Problem(
        SQUARE, [x.softly(0.3, sd=sd)], square(1.6), [square_dual(1.6)], "missed by its variance times the slope",
        "0.3 is missed by 0.1, since (0.4 - 0.3) / sd^2 is the slope of the entropy at 0.4.",
    )  # fmt: skip
    yield Problem(
        SQUARE, [x.softly(0.3, weight=0.05 / sd**2), x.softly(0.2, sd=sd, delta=0.05)], square(1.6),
        [square_dual(1.6) / 2] * 2, "missed at two prices",
        "Each cost has half the slope of the entropy at 0.4; Huber's is linear from a miss by 0.05 on.",
    )  # fmt: skip
    yield Problem(
        CUBE, [x == 0], ([[0, 0.5, 0.5], [0.5, 0.25, 0.25], [0.5, 0.25, 0.25]],), None, "a zero",
        "By symmetry of s2 and s3, and of q2 and q3.",
    )  # fmt: skip
    yield Problem(
        SQUARE, [x == 0.4, p("s1", "q2") == 0.5], None, None, "two values",
        "n(q1, s1) = 1.6 leaves 1.4 of q2's 2 people for s1, which is 0.7.",
    )  # fmt: skip
    yield Problem(
        SQUARE, [_within_a_parabola], square(1.2), None, "within a parabola",
        "P(s1 | q2) is 1.5 - 2 P(s1 | q1), and P(s1 | q1) is lowered from 0.5 to 0.3, which is x = 1.2.",
    )  # fmt: skip


#: The problems of :func:`check_backend`, by name.
PROBLEMS = {problem.name: problem for problem in _problems()}


#: The largest difference of equal answers, relative to the largest count.
SAME = 1e-3


def far(post: Posterior, counts: np.ndarray) -> float:
    """Return the largest |P(s, b | q) - P'(s, b | q)| between a posterior and other counts of its terms."""
    q, n_q = post.space.groups
    return float((np.abs(post.counts - counts) / n_q[q]).max())


def fault(form: LinearForm, answer: Answer | None, exact: np.ndarray) -> str:
    """Describe the mistake in an answer to a complete problem without zeros, if it is a common one."""
    if answer is None:
        return ""
    x, m = answer.counts, answer.multipliers
    if x is None or m is None:
        return f"it returns the status {answer.status} without counts: {answer.message}"
    if not _same(x, exact):
        if _same(x * exact.sum(), exact):
            return f"the counts must be records x = N p, which sum to {exact.sum():g}, not shares, which sum to 1"
        worst, off = int(np.abs(x - exact).argmax()), form.residual(np.maximum(x, 0.0))
        row = int(off.argmax())
        broken = f"; the row {form.name(row)!r} is off by {off[row]:.2g}" if off[row] > SAME else "; all rows are true"
        return f"a count is {x[worst]:.6g} records instead of {exact[worst]:.6g}{broken}"
    exponent, unweighted = form.exponent(m), form.matrix.T @ m
    with np.errstate(over="ignore"):
        if _same(np.exp(exponent), exact):
            return ""
        if _same(np.exp(form.exponent(-m)), exact):
            return "the multipliers have the wrong sign: -m fits x = w exp(A' m - 1)"
        if _same(np.exp(exponent + 1), exact):
            return "the multipliers must satisfy x = w exp(A' m - 1), not x = w exp(A' m)"
        if _same(np.exp(unweighted - 1), exact):
            return "the multipliers must satisfy x = w exp(A' m - 1) with the weights w, not x = exp(A' m - 1)"
    return "the counts are correct, but the multipliers do not satisfy x = w exp(A' m - 1)"


def _same(x: np.ndarray, exact: np.ndarray) -> bool:
    return bool(np.abs(x - exact).max() <= SAME * exact.max())


#: The tolerance, in probability, of the distance of an answer from the exact one beyond its certificate.
ROUNDING = 1e-6
#: The tolerance of a multiplier of a certified answer, whose counts are accurate to a part in ten thousand. It is
#: divided by the least count, if below 1, if the solver calls its answer inaccurate.
PRECISE = 0.02
#: The maximum number of problems and faults in an error; further faults are counted.
TOLD = 5


@dataclass
class Trial:
    """One problem, and a backend's result for it."""

    backend: Backend
    problem: Problem
    outcome: str = "not taken"
    bound: float = np.nan
    error: float = np.nan

    def faults(self) -> Iterator[str]:
        """Solve it in every way, and yield descriptions of faults."""
        model = self.problem.model()
        answer = None
        if not self.problem.needs_convex:  # convex constraints are a separate argument
            try:
                answer = self.backend.solve(model.form)
                self.backend.solve(model.form, np.full(model.form.shape[0], 0.1))
            except Exception as error:  # any error of the backend is reported
                yield _raised(error)
                return
        if not self.problem.feasible:
            self.outcome = "infeasible"
            yield from self.contradicted()
            return
        if answer is not None and answer.status is Status.INFEASIBLE:  # even if its counts can be certified
            yield f"it calls feasible knowledge infeasible: {answer.message}"
            return
        exact = self.problem.expected(model.space)
        usual = fault(model.form, answer, exact) if self.problem.interior else ""
        sure = answer is not None and (answer.counts is None or answer.status is Status.OPTIMAL)
        if usual and sure:  # even if the certificate uses other multipliers
            yield usual
            return
        post = None
        for presolve in (True, False):
            try:
                post = model.solve(self.backend, presolve=presolve)
            except Infeasible as error:
                yield f"feasible knowledge is called infeasible: {error}"
                return
            except (Inaccurate, SolverError) as error:
                if presolve:
                    yield usual or str(error)
                    return
                self.outcome = "certified after presolve"
            except Exception as error:
                yield _raised(error)
                return
            else:
                if presolve:
                    self.outcome, self.bound, self.error = "certified", post.certificate.bound, far(post, exact)
                if far(post, exact) > post.certificate.bound + ROUNDING:
                    yield f"an answer is certified to {post.certificate.bound:.1e}, but off by {far(post, exact):.1e}"
        if self.outcome == "certified" and self.problem.dual:
            yield from self.mispriced(post, list(model.knowledge), exact, usual)

    def contradicted(self) -> Iterator[str]:
        """Solve an infeasible problem, and yield descriptions of faults."""
        for presolve in (True, False):
            try:
                self.problem.model().solve(self.backend, presolve=presolve)
            except Infeasible:
                continue
            except Exception as error:
                yield f"for contradictory knowledge, {_raised(error)}"
            else:
                yield "contradictory knowledge has an answer"

    def mispriced(self, post: Posterior | None, labels: list[str], counts: np.ndarray, usual: str) -> Iterator[str]:
        """Compare the multipliers of the knowledge with the exact ones."""
        assert post is not None
        dual = np.array(self.problem.dual)
        multipliers = np.concatenate([post.multipliers[label] for label in labels])
        least = 1.0 if post.status is Status.OPTIMAL else min(1.0, float(counts[counts > 0].min()))
        if np.abs(multipliers - dual).max() > PRECISE / least:
            exact = np.round(dual, 6).tolist()
            yield (usual or f"the multipliers of the knowledge are {multipliers.round(6).tolist()} instead of {exact}")


#: Seconds after which :func:`check_backend` does not begin further problems, unless they were requested by name.
MOST_SECONDS = 20.0


def check_backend(
    backend: str | object, problems: Iterable[Problem | str] | None = None, *, progress: bool | None = None
) -> pd.DataFrame:
    """Check the contract of a solver on small problems with known answers.

    1. ``solve(form, start=None)`` returns an :class:`maxent_cvx.solvers.Answer`, with or without a start, and raises no
       errors.
    2. After presolve, every feasible problem is solved to a certificate, and the error of the answer is within the
       certificate. Without presolve, the answer may be rejected as inaccurate if the backend does not call it optimal,
       or if it has zeros; but if it is certified, its error is within the certificate, too.
    3. Multipliers have the sign and scale of the known ones. The tolerance is larger if the backend calls its answer
       inaccurate and the problem has terms of less than one record.
    4. Infeasible problems raise :exc:`maxent_cvx.Infeasible`, and no other problem does or is called infeasible.

    Problems that need inequalities, soft rows or convex constraints are skipped if the backend does not accept them
    (``takes_inequalities``, ``takes_soft_rows``, ``takes_convex``).

    Parameters
    ----------
    backend : str or object
        The name of a solver, or a user-defined backend; see :func:`maxent_cvx.solvers.register`.
    problems : iterable of str, optional
        The names of the problems to solve; by default all, none of which begins after 20 seconds.
    progress : bool, optional
        Whether to show a progress bar; by default, on a terminal or in a notebook.

    Returns
    -------
    DataFrame
        By `problem`: its `outcome` ("certified", "certified after presolve" if it was rejected without, "infeasible",
        "not taken", or "not tried" after the time limit); the certificate's `bound` and the true `error`, the largest
        of all P(s, b | q), after presolve.

    Raises
    ------
    AssertionError
        If a part of the contract is violated; the message states which, and for which problems.
    UnknownName, SolverError, StatementError
        If the solver or a problem does not exist, or the solver is not installed.

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
    >>> names = ["one equation", "one value or another", "active at most", "two values"]
    >>> mx.testing.check_backend(Scaling(), names)["outcome"].to_dict()       # doctest: +NORMALIZE_WHITESPACE
    {'one equation': 'certified', 'one value or another': 'certified', 'active at most': 'not taken',
     'two values': 'infeasible'}
    >>> wrong = Scaling()
    >>> wrong.sign = -1
    >>> try:
    ...     mx.testing.check_backend(wrong, ["one equation"])
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[0])
    SCALING fails on 1 of 1 problems. 'one equation': the multipliers have the wrong sign: -m fits x = w exp(A' m - 1)
    """
    check_optional_bool(progress, "progress")
    solver = find_backend(backend)
    chosen = [*PROBLEMS.values()] if problems is None else check_list(problems, "problems", "problems, or their names")
    if not chosen:
        raise StatementError("problems must not be empty; omit it to use all problems")
    chosen = [
        each if isinstance(each, Problem) else PROBLEMS[check_label(each, "problem", PROBLEMS)] for each in chosen
    ]
    assert not solver.trouble, f"{solver.name} is installed, but cannot be used: {solver.trouble}"
    trials = [Trial(solver, problem) for problem in chosen]
    able = [trial for trial in trials if trial.problem.suits(solver)]
    assert able, (
        f"{solver.name} does not accept any of the {len(chosen)} problems; see takes_inequalities, takes_soft_rows and "
        "takes_convex"
    )
    failures, ends = {}, time.perf_counter() + (MOST_SECONDS if problems is None else math.inf)
    for trial in progress_bar(able, f"problems of {solver.name}", progress):
        if time.perf_counter() > ends:
            trial.outcome = "not tried"
        elif faults := list(trial.faults()):
            failures[trial.problem.name] = faults
    assert not failures, f"{solver.name} fails on {len(failures)} of {len(able)} problems. {_listed(failures)}"
    rows = [(trial.problem.name, trial.outcome, trial.bound, trial.error) for trial in trials]
    return pd.DataFrame(rows, columns=["problem", "outcome", "bound", "error"]).set_index("problem")


def _listed(failures: Mapping[str, list[str]]) -> str:
    """Format distinct faults with the names of their problems; their numbers may differ between problems."""
    alike: dict[str, list[str]] = {}
    for name, faults in failures.items():
        alike.setdefault(re.sub(r"\d+(\.\d+)?(e-?\d+)?", "#", "; ".join(faults)), []).append(name)
    says = [
        f"{', '.join(map(repr, names[:TOLD]))}{', ...' * (len(names) > TOLD)}: {'; '.join(failures[names[0]])}"
        for names in list(alike.values())[:TOLD]
    ]
    more = f". And {len(alike) - TOLD} more." if len(alike) > TOLD else ""
    return ". ".join(says) + more


def _raised(error: Exception) -> str:
    """Describe an error of a backend or of a check."""
    if isinstance(error, AssertionError | SolverError):
        return str(error)
    return f"solve raises {type(error).__name__}: {error}; return an Answer with Status.FAILED instead"


@contextmanager
def _violation(begin: str) -> Iterator[None]:
    """Convert an error of the user's code to a violation of the contract, in a sentence that begins so."""
    try:
        yield
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"{begin} {type(error).__name__}: {error}") from error


def check_source(source: Source, space: Space, truth: pd.DataFrame | None = None, id: str | None = None) -> None:
    """Check the contract of an information source.

    1. Its class has a docstring, and its label is a nonempty string.
    2. :meth:`maxent_cvx.Source.rows` yields rows over the terms of the space (or CVXPY constraints); all coefficients
       are numbers, no row has an empty range, and every row has a name.
    3. It yields the same rows and constraints when called again, as building a model twice must not change it.
    4. Given the original records, its rows and constraints are true of them, except for soft rows.

    Parameters
    ----------
    source : Source
        A user-defined source, see :class:`maxent_cvx.Source`.
    space : Space
        The space of a model of the source: ``mx.MaxEnt(release).space``.
    truth : DataFrame, optional
        The original records with the release's QI, sensitive and bucket columns, if the source should be true of them.
    id : str, optional
        The column of names in the records, if the space has named people.

    Raises
    ------
    AssertionError
        If a part of the contract is violated; the message states which.
    StatementError
        If `source` is not a Source, or `space` not a Space.
    UnknownName, TableError
        If the original records lack a column, or are not the people of the space.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> class AtMost(mx.Source):
    ...     "P(s | q) <= limit for every q and s."
    ...     def __init__(self, limit):
    ...         self.limit = limit
    ...     def rows(self, space):
    ...         yield space.conditional("s", given="q") <= self.limit
    >>> space = mx.MaxEnt(release).space
    >>> mx.testing.check_source(AtMost(0.5), space)                          # passes ...
    >>> try:
    ...     mx.testing.check_source(AtMost(0.5), space, truth=hospital)          # ... but is not true of the patients
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[0])
    AtMost(0.5): Breast Cancer, female, junior is violated by the original records by 0.5
    """
    check_instance(source, Source, "source")
    check_instance(space, Space, "space")
    name = type(source).__name__
    assert type(source).__doc__, f"{name} has no docstring; write one that begins with the equation it adds"
    assert isinstance(source.label, str), f"the label of {name} must be a string, not {source.label!r}"
    assert source.label, f"the label of {name} is empty"
    with _violation(f"the rows of {name} cannot be built:"):
        emitted, again = (build_rows(source, space) for _ in range(2))
    same = len(emitted.rows) == len(again.rows) and len(emitted.convex) == len(again.convex)
    assert same, f"{source!r} emits other rows in a second call"
    for convex, copy in zip(emitted.convex, again.convex, strict=True):
        values, others = (value_at(each.expr, space.counts, np.ones(len(space))) for each in (convex, copy))
        assert np.array_equal(values, others, equal_nan=True), f"{source.label}: another constraint in a second call"
        if truth is not None:
            excess = value_at(convex.expr, space.counts, space.count(truth, id)).max(initial=0.0)
            assert excess <= 1e-9, f"a constraint of {source.label} is violated by the original records by {excess:.3g}"
    for rows, twin in zip(emitted.rows, again.rows, strict=True):
        assert rows.matrix.shape == (len(rows.low), len(space)), f"{rows.label}: one column per term, one value per row"
        assert np.isfinite(rows.matrix.data).all(), f"{rows.label}: coefficients must be finite"
        assert (np.isfinite(rows.low) | np.isfinite(rows.high)).all(), f"{rows.label}: a row has no finite side"
        assert all(rows.name(i) for i in {0, len(rows) - 1} if len(rows)), "a row has no name; give its Rows a label"
        assert rows.same_as(twin), f"{rows.label}: other rows in a second call"
        if truth is not None and rows.penalty is None:  # a soft row may be violated
            off = rows.residual(space.count(truth, id) / space.n_records)
            worst = int(off.argmax()) if len(off) else 0
            assert not (off > 1e-9).any(), f"{rows.name(worst)} is violated by the original records by {off[worst]:.3g}"


def check_technique(technique: Any, table: pd.DataFrame, confidential: str) -> None:
    """Check the contract of a technique of disclosure control.

    1. It has ``publish`` and ``infer``, and does not change the table or the population.
    2. ``infer`` returns a Series of nonnegative probabilities with sum 1 over values of the confidential attribute, for
       any known attributes of a person, from none to all, with one value or a list.
    3. Publishing again returns the same result, as far as ``infer`` shows.

    Parameters
    ----------
    technique : Technique
        See :class:`maxent_cvx.sdc.Technique`.
    table : DataFrame
        Records for the check.
    confidential : str
        The confidential attribute, a column of the table.

    Raises
    ------
    AssertionError
        If a part of the contract is violated; the message states which.
    TableError, StatementError, UnknownName
        If `table` is not a table with the column.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
    >>> mx.testing.check_technique(mx.sdc.Sampling(0.5), people, "Salary")           # passes
    >>> class Nothing:
    ...     def publish(self, table, confidential):
    ...         return table[confidential].unique()
    ...     def infer(self, published, known, population):
    ...         return pd.Series(0.2, index=published)
    >>> try:
    ...     mx.testing.check_technique(Nothing(), people, "Salary")
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[0])
    Nothing.infer, given no attributes, must return probabilities that sum to 1, not to 0.8
    """
    check_dataframe(table, "table")
    check_str(confidential, "confidential")
    check_label(confidential, "column of the table (given as confidential)", list(table.columns))
    assert not isinstance(technique, type), f"technique must be an instance, not the class {technique.__name__}"
    name = type(technique).__name__
    for method in ("publish", "infer"):
        assert callable(getattr(technique, method, None)), f"{name} has no method {method}"
    copied = table.copy()
    with _violation(f"{name}.publish raises"):
        published, again = (technique.publish(copied, confidential) for _ in range(2))
    pd.testing.assert_frame_equal(copied, table, obj=f"the table passed to {name}.publish")
    column, population = table[confidential], table.drop(columns=confidential)
    domain = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column.unique()
    rng = np.random.default_rng(0)
    for known, several in product(range(len(population.columns) + 1), (False, True)):
        person = population.iloc[rng.integers(len(table))]
        names = list(rng.permutation(population.columns)[:known])
        condition: dict[str, object] = {attribute: person[attribute] for attribute in names}
        if several and names:
            others = population[names[0]].iloc[rng.integers(len(table), size=2)]
            condition[names[0]] = list(dict.fromkeys([person[names[0]], *others]))
        copied = population.copy()
        about = f"{name}.infer, given {', '.join(names) or 'no attributes'},"
        with _violation(f"{about} raises"):
            p, twin = (technique.infer(table_read, condition, copied) for table_read in (published, again))
        pd.testing.assert_frame_equal(copied, population, obj=f"the population passed to {about}")
        assert isinstance(p, pd.Series), f"{about} must return a Series, not a {type(p).__name__}"
        assert not isinstance(p.index, pd.MultiIndex), f"{about} must return a Series by value, not by a MultiIndex"
        assert not p.index.has_duplicates, f"{about} returns duplicate values"
        assert p.index.isin(domain).all(), f"{about} returns values outside the domain"
        assert pd.api.types.is_numeric_dtype(p), f"{about} must return probabilities, not {p.dtype}"
        assert np.isfinite(p).all(), f"{about} returns NaN"
        assert (p >= 0).all(), f"{about} must return probabilities, not {p.min():.3g}"
        assert abs(p.sum() - 1) < 1e-9, f"{about} must return probabilities that sum to 1, not to {p.sum():.12g}"
        same = p.index.equals(twin.index) and np.allclose(p, twin)
        assert same, f"{about} differs after publishing again"


def check_view(view: View, truth: pd.DataFrame | None = None, id: str | None = None) -> None:
    """Check the contract of a kind of release.

    1. Its class has a docstring and a `noun`; its roles have columns, "q" and "s" first, and distinct labels.
    2. :meth:`maxent_cvx.View.terms` refers to existing labels, and lists each term once, sorted by other roles, such
       as the bucket, then q, then s; everybody has a term; and a second call returns the same.
    3. The counts of `published` are not negative, and agree with `n_q`, `n_s` and N; all counted people have a term.
    4. :meth:`maxent_cvx.View.named` and :meth:`maxent_cvx.View.described` return None or one bool per QI tuple.
    5. A model accepts it and is solved to a certificate; its constraints pass :func:`check_source`, with the original
       records if given.
    6. If it can be written as tables (``to_frames``), it can be read back unchanged, and so can a saved posterior.

    Parameters
    ----------
    view : View
        A user-defined view with some data.
    truth : DataFrame, optional
        The original records with all columns of the view.
    id : str, optional
        The column of names in the records, if the view has named people.

    Raises
    ------
    AssertionError
        If a part of the contract is violated; the message states which.
    StatementError
        If `view` is not a View.
    UnknownName, TableError
        If the original records lack a column, or are not the people of the view.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> mx.testing.check_view(release, truth=hospital)                       # passes
    >>> class Backwards(mx.QITable):
    ...     "A table whose terms are in another order."
    ...     def terms(self):
    ...         return {role: codes[::-1] for role, codes in super().terms().items()}
    >>> try:
    ...     mx.testing.check_view(Backwards(hospital, qi="Gender", sa="Disease", sa_values=["Flu", "HIV"]))
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[0])
    Backwards.terms are not sorted by q, s, at term 1
    """
    check_instance(view, View, "view")
    name = type(view).__name__
    assert type(view).__doc__, f"{name} has no docstring; write one that begins with the kind of release"
    assert isinstance(view.noun, str), f"{name}.noun must be a string, its name in messages, not {view.noun!r}"
    assert view.noun, f"{name}.noun must not be empty, as it is its name in messages"
    with _violation(f"{name} raises"):
        _check_roles(view, name)
        _check_terms(view, name)
        _check_published(view, name)
        _check_marks(view, name)
    try:
        model = MaxEnt(view)
    except (StatementError, TableError) as error:
        raise AssertionError(f"a model rejects the {view.noun}: {error}") from error
    for fact in model.facts:
        check_source(fact, model.space, truth, id)
    try:
        post = model.solve()
    except MaxEntError as error:
        raise AssertionError(f"the {view.noun} has no solution without knowledge: {error}") from error
    _check_storage(view, name, post)


def _check_roles(view: View, name: str) -> None:
    """Check columns and labels of every role."""
    assert list(view.axes)[:2] == ["q", "s"], f"{name}.axes must begin with 'q' and 's', not {list(view.axes)[:2]}"
    for role, (columns, labels) in view.axes.items():
        named = isinstance(columns, tuple) and all(isinstance(column, Hashable) for column in columns)
        assert named, f"{name}.axes: the columns of {role} must be a tuple of names, not {columns!r}"
        assert isinstance(labels, pd.Index), (
            f"{name}.axes: labels of {role} must be an Index, not {type(labels).__name__}"
        )
        assert not labels.has_duplicates, f"{name}.axes: the labels of {role} have duplicates"
    for role, counts, labels in (("q", view.n_q, view.quasi_identifiers), ("s", view.n_s, view.sensitive_values)):
        if counts is None and role == "s":
            continue
        is_counts = isinstance(counts, np.ndarray) and counts.shape == (len(labels),) and counts.dtype.kind in "iu"
        assert is_counts, f"{name}.n_{role} must be an array of {len(labels)} integers, one per label"
        assert (np.asarray(counts) >= 0).all(), f"{name}.n_{role} has a negative count"
    assert view.n_records > 0, f"{name}.n_q must not be all 0"


def _check_terms(view: View, name: str) -> None:
    """Check that terms are distinct, sorted, with existing labels, complete, and equal in a second call."""
    terms, again = view.terms(), view.terms()
    assert set(terms) == set(view.axes), f"{name}.terms has the roles {sorted(terms)}, but axes has {sorted(view.axes)}"
    sizes = {role: np.shape(codes) for role, codes in terms.items()}
    assert len(set(sizes.values())) == 1, f"{name}.terms has codes of different lengths: {sizes}"
    for role, codes in terms.items():
        n = len(view.axes[role][1])
        is_codes = isinstance(codes, np.ndarray) and codes.ndim == 1 and codes.dtype.kind in "iu"
        assert is_codes, f"{name}.terms: codes of {role} must be an array of integers"
        assert ((codes >= 0) & (codes < n)).all(), f"{name}.terms: a code of {role} is not from 0 to {n - 1}"
        assert np.array_equal(codes, again[role]), f"{name}.terms differ in a second call"
    order = [*(role for role in terms if role not in ("q", "s")), "q", "s"]
    rows = np.column_stack([terms[role] for role in order]).astype(np.int64)
    step = np.diff(rows, axis=0)
    first = np.take_along_axis(step, (step != 0).argmax(axis=1)[:, None], axis=1).ravel()
    assert (first != 0).all(), f"{name}.terms has a duplicate at term {np.flatnonzero(first == 0)[0] + 1}"
    down = np.flatnonzero(first < 0)
    assert not len(down), f"{name}.terms are not sorted by {', '.join(order)}, at term {down[0] + 1}"
    without = np.flatnonzero((view.n_q > 0) & ~np.isin(np.arange(len(view.n_q)), terms["q"]))
    assert not len(without), f"{name}.terms has no terms for {len(without)} QI tuples with people"


def _check_published(view: View, name: str) -> None:
    """Check that counts agree with each other, and that counted people have terms."""
    terms = view.terms()
    for by, counts in view.published.items():
        about = f"{name}.published[{', '.join(map(repr, by))}]"
        assert isinstance(counts, pd.Series), f"{about} must be a Series, not a {type(counts).__name__}"
        assert not counts.index.has_duplicates, f"{about} has duplicate labels"
        assert np.isfinite(counts).all(), f"{about} has a count that is not a number"
        assert (counts >= 0).all(), f"{about} has a negative count"
        if not set(by) <= set(view.axes):  # tables by columns are checked by a model
            continue
        labels = _labels(view, by, counts)
        possible = pd.MultiIndex.from_arrays([terms[role] for role in by]).unique()
        counted = pd.MultiIndex.from_arrays([codes[counts.to_numpy() > 0] for codes in labels])
        assert counted.isin(possible).all(), f"{about} counts people without a term"
        for role, total in (("q", view.n_q), ("s", None if "q" in by else view.n_s)):
            if role in by and total is not None:
                totals = np.bincount(labels[by.index(role)], counts, len(total))
                assert np.array_equal(totals, total), f"{about} does not add up to n_{role}"


def _labels(view: View, by: tuple[str, ...], counts: pd.Series) -> list[np.ndarray]:
    """Return the codes of the labels of a published table, one array per role."""
    arrays, level = [], 0
    for role in by:
        labels = view.axes[role][1]
        n = labels.nlevels if counts.index.nlevels > 1 else 1
        levels = [counts.index.get_level_values(i) for i in range(level, level + n)]
        distinct = pd.MultiIndex.from_arrays(levels) if labels.nlevels > 1 and n > 1 else levels[0]
        if isinstance(labels, pd.MultiIndex) and not isinstance(distinct, pd.MultiIndex):
            labels = labels.get_level_values(0)
        codes = labels.get_indexer(distinct)
        assert (codes >= 0).all(), f"{type(view).__name__}.published has an unknown label of {role}"
        arrays.append(codes)
        level += n
    return arrays


def _check_marks(view: View, name: str) -> None:
    """Check that marking methods return one bool per QI tuple, or None, or raise an error."""
    first = [view.quasi_identifiers.get_level_values(i)[0] for i in range(view.quasi_identifiers.nlevels)]
    calls: Iterable[tuple[str, Any, tuple[Any, ...]]] = [
        ("named", view.named, ("nobody has this name",)),
        *(("described", view.described, (column, value)) for column, value in zip(view.qi, first, strict=False)),
        ("described", view.described, ("no such attribute", 1)),
    ]
    for method, function, arguments in calls:
        try:
            marks = function(*arguments)
        except MaxEntError:
            continue
        shape = np.shape(marks)
        fits = marks is None or (shape == (len(view.n_q),) and np.asarray(marks).dtype == bool)
        assert fits, f"{name}.{method}{arguments} must return None or {len(view.n_q)} bools"


def _check_storage(view: View, name: str, post: Posterior) -> None:
    """Check that a view that can be written is read back unchanged."""
    if not hasattr(view, "to_frames"):
        return
    try:
        frames = view.to_frames()
    except TableError:  # this view cannot be written
        return
    with _violation(f"a {name} cannot be written and read:"), tempfile.TemporaryDirectory() as folder:
        twin = type(view).from_frames(frames)
        _check_same(view, twin, f"{name}.from_frames(view.to_frames())")
        file = Path(folder) / "posterior.parquet"
        post.save(file)
        loaded = load_posterior(file)
    _check_same(view, loaded.space.view, f"a {name} that is saved and loaded")
    assert np.array_equal(loaded.counts, post.counts), f"a posterior of a {name} has other counts after loading"


def _check_same(view: View, twin: View, what: str) -> None:
    """Check that two views have the same class, labels, terms and published counts."""
    assert type(twin) is type(view), f"{what} is a {type(twin).__name__}"
    for role, (columns, labels) in view.axes.items():
        same = role in twin.axes and twin.axes[role][0] == columns and twin.axes[role][1].equals(labels)
        assert same, f"{what} has other labels of {role}"
    terms, others = view.terms(), twin.terms()
    assert all(np.array_equal(terms[role], others[role]) for role in terms), f"{what} has other terms"
    same = view.published.keys() == twin.published.keys()
    same = same and all(counts.equals(twin.published[by]) for by, counts in view.published.items())
    assert same, f"{what} has other published counts"
