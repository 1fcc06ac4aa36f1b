"""The ways to an answer: as asked, and where that is not precise enough, others, one after the other."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import Infeasible, SolverError
from ..answer import Answer, Status
from ..backends.registry import SOLVERS, Backend
from ..certificate.certificate import Certificate, certify, uncertified
from ..certificate.projection import satisfying
from ..cvxpy.linearization import with_tangents
from ..cvxpy.problem import Convex
from ..decompose import solve_by_parts
from ..diagnosis.failure import contradiction, failure
from ..dual.starting import within_reach
from ..linear_algebra.schur_preconditioner import Corner
from ..presolve.reduce import Reduced
from ..program.linear_form import LinearForm
from .late_zeros import late_zeros
from .presolving import NEWTON, presolved

__all__ = ["Attempt", "Solution", "Solve"]

#: An answer whose bound is above this, a probability, is gone on with by Newton's method to the last places.
PRECISE = 1e-7
#: What is as good as nobody where a first attempt is not certified: statements such as P = 1 - 1e-9 mean what they say.
STRICT = 1e-12
#: By what part of their values convex constraints may be moved, for what is left of their curvature.
CURVED = 1e-14
#: A linear program over no more terms than this takes no time to speak of, and may be asked again and again.
MOST_LINEAR = 2_000
#: An interior-point method goes on where rows with coefficients of very different size make Newton's method on the dual
#: crawl; on no more terms than this, which takes seconds.
INTERIOR, MOST_CONIC = SOLVERS["CLARABEL"], 20_000
#: Problems with more terms than this are not solved again without presolve, which may take minutes.
MOST_TERMS = 100_000


@dataclass(frozen=True, eq=False)
class Solution:
    """An answer to the whole problem, with its certificate and the name of the solver.

    Attributes
    ----------
    answer : Answer
        Counts of all terms, people, and multipliers of all rows.
    certificate : Certificate
        How far any P(s | q) can be off.
    solver : str
        The solver's name.

    Examples
    --------
    >>> from maxent_cvx.solvers.solving.solve import run
    >>> import maxent_cvx as mx
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3)
    >>> known = (model.invariants.closed_form(model.space), model.space.groups)          # what is published alone says
    >>> run(model.form, *known, "auto", presolve=True, convex=None, allow_inaccurate=False).solver
    'DUAL_NEWTON'
    """

    answer: Answer
    certificate: Certificate
    solver: str


@dataclass(frozen=True, eq=False)
class Attempt:
    """One way to an answer.

    Attributes
    ----------
    smaller : Reduced
        What presolve left of the problem.
    solved : Answer
        The answer to that.
    found : Solution
        The answer to the whole problem.
    """

    smaller: Reduced
    solved: Answer
    found: Solution

    @property
    def bound(self) -> float:
        """How far it can be off."""
        return self.found.certificate.bound


@dataclass(frozen=True, eq=False)
class Solve:
    """Everything that one call of :func:`run` is about, with its parameters."""

    form: LinearForm
    closed_form: tuple[np.ndarray, np.ndarray]
    groups: tuple[np.ndarray, np.ndarray]
    backend: Backend
    convex: Convex | None
    polish: bool
    start: np.ndarray
    options: dict[str, Any]

    def best(self, presolve: bool) -> Attempt:
        """Try as asked, and where that is not precise enough in other ways, one after the other; keep the best.

        Raises
        ------
        Infeasible
            If rows that no answer was found to satisfy contradict each other.
        """
        n_records = self.groups[1].sum()
        smaller = presolved(self.form, self.closed_form, n_records, self.backend) if presolve else self.whole
        best = self.attempt(smaller)
        if self.convex or self.backend is not NEWTON:
            return best
        for attempt in self.others(best, presolve):
            best = min(best, attempt, key=lambda one: one.bound)
            if best.bound <= PRECISE:
                break
        return best

    def others(self, first: Attempt, presolve: bool) -> Iterator[Attempt]:
        """Go on to the last places; without more terms, proved empty; with those that nearly are; without presolve."""
        if first.bound <= PRECISE:
            return
        n_records, smaller, is_large = self.groups[1].sum(), first.smaller, self.form.shape[1] > MOST_TERMS
        exactly = {"tolerance": 0.0, **self.options}
        if first.solved.status is Status.LIMIT and "max_iterations" not in self.options:
            for attempt in self.interior(smaller):
                yield (first := attempt)
        if first.solved.status is Status.OPTIMAL and smaller.terms.any():
            yield (precise := self.attempt(smaller, first.solved.multipliers, **exactly))
            first = min(first, precise, key=lambda one: one.bound)
        limited = first.solved.status is Status.LIMIT  # no linear program for who wants it short
        if not first.found.certificate.holds and presolve and not limited:
            if isinstance(failed := self.failure(first.solved, first.found.certificate), Infeasible):
                raise failed
            for number in itertools.count():  # every round settles a term at least
                quick = smaller.form.shape[1] <= MOST_LINEAR
                zeros = late_zeros(self.form, smaller, first.solved, last=number == 0 or quick)
                if not np.isfinite(zeros).any() or first.solved.status is Status.LIMIT:
                    break
                smaller = presolved(
                    self.form, self.closed_form, n_records, self.backend, np.minimum(zeros, smaller.most)
                )
                yield (first := self.attempt(smaller))
        if is_large or "max_iterations" in self.options:
            return
        strict = replace(self, form=replace(self.form, least=STRICT))
        smaller = presolved(strict.form, self.closed_form, n_records) if presolve else strict.whole
        yield (first := strict.attempt(smaller, **exactly))
        if presolve and not first.found.certificate.holds:
            yield strict.attempt(strict.whole, **exactly)

    def interior(self, smaller: Reduced) -> Iterator[Attempt]:
        """Go on from the answer of an interior-point method, if it gives one."""
        if smaller.form.shape[1] <= MOST_CONIC and INTERIOR.installed:
            with contextlib.suppress(SolverError):
                yield replace(self, backend=INTERIOR, polish=True, options={}).attempt(smaller)

    @property
    def whole(self) -> Reduced:
        """The problem, nothing reduced."""
        return Reduced.whole(self.form)

    def attempt(self, smaller: Reduced, start: np.ndarray | None = None, **options: Any) -> Attempt:
        """Solve what presolve has left, put it back, and certify it."""
        backend, form, name = self.backend, self.form, self.backend.name
        first = within_reach(smaller.form, smaller.form.closed(smaller.start(self.start))) if start is None else start
        options = {**self.options, **options}
        if not smaller.terms.any():
            solved = Answer(Status.OPTIMAL, np.empty(0), np.empty(0), 0, 0.0, 0.0, "optimal: presolve found everything")
            name = "presolve"  # the solver never ran
        elif self.convex:
            solved = backend.solve(smaller.form, first, convex=self.convex, **options)
        else:
            solved = solve_by_parts(backend, smaller.form, first, **options)
            if self.polish and solved.multipliers is not None:
                solved, name = polished(smaller.form, solved, solved.multipliers), f"{name}, polished by {NEWTON.name}"
        if solved.counts is None or solved.multipliers is None:
            raise self.failure(solved, None)
        counts, multipliers = smaller.restore(solved.counts, solved.multipliers)
        # A conic solver's dual value of a row with room may be 1e-19 on the side that is open: that is none.
        multipliers = form.closed(multipliers)
        proofs, corner = smaller.restore_directions(solved.proofs), smaller.restore_corner(solved.corner)
        certificate = self.certificate(smaller, counts, multipliers, proofs, corner)
        if not (certificate.holds or smaller.fixed.any()):
            # A solver without presolve has something left where rows leave nothing: what these force is known.
            forced = presolved(form, self.closed_form, self.groups[1].sum(), backend)
            if forced.fixed.any():
                width = np.where(forced.fixed, forced.width + np.abs(forced.counts - np.maximum(counts, 0.0)), 0.0)
                told = self.certificate(replace(forced, width=width), counts, multipliers, proofs, corner)
                certificate = min(certificate, told, key=lambda one: one.bound)
        whole = replace(solved, counts=counts, multipliers=multipliers, proofs=proofs, corner=None)
        return Attempt(smaller, solved, Solution(whole, certificate, name))

    def certificate(
        self,
        settled: Reduced,
        counts: np.ndarray,
        multipliers: np.ndarray,
        proofs: Sequence[np.ndarray],
        corner: Corner | None,
    ) -> Certificate:
        """Certify an answer to the whole problem, given which terms presolve has settled."""
        if not self.convex:
            return certify(
                self.form, counts, multipliers, settled.fixed, *self.groups, proofs, corner, settled.width
            )  # fmt: skip
        posed = with_tangents(self.form, multipliers, self.convex, counts)
        if posed is None:
            return uncertified(self.form, counts)
        # Where the tangents hold, the constraints are off by the square of the way there; tangents at that point by
        # that of a way that is no longer than rounding. What is left is no theorem of the constraints as written.
        near = satisfying(posed[0], np.maximum(counts, 0.0), settled.fixed)
        if near is not None:
            posed = with_tangents(self.form, multipliers, self.convex, near) or posed
        found = certify(posed[0], counts, posed[1], settled.fixed, *self.groups, width=settled.width)
        return replace(found, backward=max(found.backward, CURVED))

    def failure(self, answer: Answer, certificate: Certificate | None) -> SolverError | Infeasible:
        """Say why there is no certified answer."""
        return failure(
            self.backend.name, answer, certificate, self.convex,
            lambda: contradiction(self.form, self.closed_form, self.groups[1].sum()),
        )  # fmt: skip


def polished(form: LinearForm, answer: Answer, multipliers: np.ndarray) -> Answer:
    """Go on from a solver's multipliers with Newton's method on the dual."""
    final = solve_by_parts(NEWTON, form, multipliers)
    return replace(
        final,
        iterations=answer.iterations + final.iterations,
        compile_seconds=answer.compile_seconds + final.compile_seconds,
        solve_seconds=answer.solve_seconds + final.solve_seconds,
    )
