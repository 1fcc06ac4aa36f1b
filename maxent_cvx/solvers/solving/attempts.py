"""The ways to an answer: as asked, and where that is not precise enough, others, one after the other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ...errors import Infeasible, SolverError
from ..answer import Status
from ..backends.registry import SOLVERS
from ..diagnosis.failure import failure
from ..presolve.reduce import Reduced
from ..program.problem import Problem
from ..size_limits import ATTEMPT_SIZES
from ..tolerances import ATTEMPTS
from .attempt import Attempt, Request, attempt
from .forced_zeros import zeros_after_solve
from .presolving import NEWTON, presolved

__all__ = ["attempts"]

#: An interior-point method goes on where rows with coefficients of very different size make Newton's method on the dual
#: crawl; on no more terms than this, which takes seconds.
INTERIOR = SOLVERS["CLARABEL"]


def attempts(problem: Problem, request: Request) -> Iterator[Attempt]:
    """Solve as asked; then, with the default solver, in all other ways, until whoever asks has an answer.

    To the last places; without terms that are proved empty only now; with terms that nearly are; without presolve.

    Raises
    ------
    Infeasible
        If rows that no answer was found to satisfy contradict each other.
    """
    if problem.convex or not request.presolve:
        reduced = Reduced.whole(problem.form)
    else:
        reduced = presolved(problem, request.backend)
    yield (first := attempt(problem, request, reduced))
    if problem.convex or request.backend is not NEWTON:
        return
    for one in _on_same_rows(problem, request, first):
        first = one if one.bound <= first.bound else first  # of two without a bound the later one got further
        yield one
    limited = first.solved.status is Status.LIMIT  # no linear program for who wants it short
    if request.presolve and not first.holds and not limited:
        yield from _without_more_terms(problem, request, first)
    if problem.form.shape[1] <= ATTEMPT_SIZES.largest_unreduced and "max_iterations" not in request.options:
        yield from _strictly(problem, request.exactly())


def _on_same_rows(problem: Problem, request: Request, first: Attempt) -> Iterator[Attempt]:
    """Go on from an interior-point answer, where Newton's method came to no end, and to the last places."""
    reduced = first.reduced
    crawled = first.solved.status is Status.LIMIT and "max_iterations" not in request.options
    if crawled and reduced.form.shape[1] <= ATTEMPT_SIZES.largest_conic and INTERIOR.installed:
        with suppress(SolverError):
            first = attempt(problem, replace(request, backend=INTERIOR, polish=True, options={}), reduced)
            yield first
    if first.solved.status is Status.OPTIMAL and reduced.terms.any():
        yield attempt(problem, request.exactly(), reduced, first.solved.multipliers)


def _without_more_terms(problem: Problem, request: Request, first: Attempt) -> Iterator[Attempt]:
    """Take out terms that an answer leaves nearly empty, and that are; every round settles one at least."""
    failed = failure(problem, request.backend.name, first.solved, first.solution.certificate)
    if isinstance(failed, Infeasible):
        raise failed
    for number in itertools.count():
        reduced, quick = first.reduced, first.reduced.form.shape[1] <= ATTEMPT_SIZES.quick_linear
        zeros = zeros_after_solve(problem.form, reduced, first.solved, last=number == 0 or quick)
        if not np.isfinite(zeros).any() or first.solved.status is Status.LIMIT:
            return
        reduced = presolved(problem, request.backend, np.minimum(zeros, reduced.most))
        yield (first := attempt(problem, request, reduced))


def _strictly(problem: Problem, request: Request) -> Iterator[Attempt]:
    """Keep terms that hold next to nobody; at last without any presolve."""
    problem = problem.with_rows(replace(problem.form, zero_tolerance=ATTEMPTS.strict_zero))
    whole = Reduced.whole(problem.form)
    yield (first := attempt(problem, request, presolved(problem) if request.presolve else whole))
    if request.presolve and not first.holds:
        yield attempt(problem, request, whole)
