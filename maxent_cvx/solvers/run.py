"""One solve: presolve, a backend, the way back, and the certificate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import Inaccurate, Infeasible, SolverError
from .certificate import Certificate, certify, uncertified
from .components import solve_by_parts
from .conflict import conflict
from .cvxpy_backend import CvxpyBackend
from .cvxpy_problem import Convex
from .face import face_proof
from .implied_zeros import empty_terms
from .linear_form import LinearForm
from .presolve import Reduced, reduce
from .status import Answer, Status
from .support import local_proofs, support_proof
from .table import SOLVERS, Backend, find
from .tangent import with_tangents

__all__ = ["Solution", "run"]

NEWTON = SOLVERS["DUAL_NEWTON"]
#: From so many rows of knowledge on, a linear program for each part of it costs less than it saves.
MUCH = 2_000


@dataclass(frozen=True, eq=False)
class Solution:
    """An answer to the whole problem, with its certificate and the name of the solver."""

    answer: Answer
    certificate: Certificate
    solver: str


def run(
    form: LinearForm,
    closed_form: tuple[np.ndarray, np.ndarray],
    groups: tuple[np.ndarray, np.ndarray],
    solver: str,
    *,
    presolve: bool,
    convex: Convex | None,
    allow_inaccurate: bool,
    polish: bool = False,
    start: np.ndarray | None = None,
    empty: np.ndarray | None = None,
    **options: Any,
) -> Solution:
    """Solve a linear form by name of a solver.

    Parameters
    ----------
    form : LinearForm
    closed_form : (counts, multipliers)
        The answer to the published rows alone.
    groups : (ndarray, ndarray)
        The QI tuple of every term, and how many people have each.
    solver, presolve, allow_inaccurate, polish, options
        See :meth:`maxent_cvx.MaxEnt.solve`.
    start : ndarray, optional
        Multipliers to start from, one a row; by default those of the closed form.
    empty : ndarray of bool, optional
        Terms that are proved to be empty, for presolve; more are looked for if the answer is not certified.
    convex : Convex, optional
        Constraints that are not affine: then a CVXPY solver gets the whole problem.

    Raises
    ------
    Infeasible, Inaccurate, SolverError
    """
    backend = find("CLARABEL" if convex and solver == "auto" else solver)
    if convex and not isinstance(backend, CvxpyBackend):
        raise SolverError(
            f"{backend.name} takes linear rows only, and the model holds a convex constraint of your own; "
            f"choose one of {[b.name for b in SOLVERS.values() if isinstance(b, CvxpyBackend) and b.installed]}"
        )
    if convex and polish:
        raise SolverError("polish=True goes on with DUAL_NEWTON, which takes linear rows only; leave it out")
    backend.check(options)
    presolve = presolve and not convex
    smaller = presolved(form, closed_form, groups[1].sum(), backend, empty) if presolve else Reduced.whole(form)
    if start is None:
        start = np.concatenate([closed_form[1], np.zeros(form.shape[0] - form.n_published)])
    first, name = smaller.form.closed(smaller.start(start)), backend.name
    if not smaller.terms.any():
        answer = Answer(Status.OPTIMAL, np.empty(0), np.empty(0), 0, 0.0, 0.0, "optimal: presolve found everything")
        name = "presolve"  # the solver never ran
    elif convex:
        answer = backend.solve(smaller.form, first, convex=convex, **options)
    else:
        answer = solve_by_parts(backend, smaller.form, first, **options)
        if polish and answer.multipliers is not None:
            answer, name = polished(smaller.form, answer, answer.multipliers), f"{name}, polished by {NEWTON.name}"
    if answer.counts is None or answer.multipliers is None:
        raise failure(form, closed_form, groups[1].sum(), backend.name, answer, convex)
    solved = answer
    counts, multipliers = smaller.restore(answer.counts, answer.multipliers)
    proofs = smaller.restore_directions(answer.proofs)
    corner = smaller.restore_corner(answer.corner)
    answer = replace(answer, counts=counts, multipliers=multipliers, proofs=proofs, corner=None)
    posed = with_tangents(form, multipliers, convex, counts) if convex else (form, multipliers)
    certificate = (
        certify(posed[0], counts, posed[1], smaller.fixed, *groups, proofs, corner)
        if posed
        else uncertified(form, counts)
    )
    if not (certificate.holds and answer.status is Status.OPTIMAL):
        # An answer that cannot be moved to where the rows hold is no inaccurate answer: they may never hold.
        failed = failure(form, closed_form, groups[1].sum(), backend.name, answer, convex, certificate)
        ended = backend is NEWTON and answer.status is not Status.LIMIT  # no linear program for who wants it short
        if presolve and ended and not isinstance(failed, Infeasible):
            zeros = late_zeros(form, smaller, solved, last=empty is None)
            if zeros.any():
                return run(
                    form, closed_form, groups, solver, presolve=True, convex=None, allow_inaccurate=allow_inaccurate,
                    polish=polish, start=start, empty=zeros | smaller.empty, **options
                )  # fmt: skip
        if not allow_inaccurate or isinstance(failed, Infeasible):
            raise failed
    return Solution(answer, certificate, name)


def presolved(
    form: LinearForm,
    closed_form: tuple[np.ndarray, np.ndarray],
    n_records: float,
    backend: Backend = NEWTON,
    empty: np.ndarray | None = None,
) -> Reduced:
    """Presolve for a backend; a contradiction that bounds see is told in full."""
    try:
        smaller = reduce(form, closed_form, n_records, empty)
        return without_empty(form, closed_form, n_records, smaller, backend)
    except Infeasible as error:
        raise contradiction(form, closed_form, n_records) or error from None


def without_empty(
    form: LinearForm, closed_form: tuple[np.ndarray, np.ndarray], n_records: float, smaller: Reduced, backend: Backend
) -> Reduced:
    """Take out terms that bounds leave open and that are empty nevertheless, where the backend cannot by itself.

    Newton's method proves them as it goes, but for much knowledge, where many of them are empty because of
    others: there the knowledge itself is asked first. Other solvers are far off where rows force zeros, and
    conic ones call it optimal, so that they get what Newton's method has proved.
    """
    while smaller.form.shape[0] - smaller.form.n_facts >= MUCH:
        zeros = proved(form, smaller, local_proofs(smaller.form))
        if not zeros.any():
            break
        smaller = reduce(form, closed_form, n_records, zeros | smaller.empty)
    if backend is not NEWTON and smaller.terms.any():
        ended = solve_by_parts(NEWTON, smaller.form, np.zeros(smaller.form.shape[0]))
        zeros = proved(form, smaller, ended.proofs)
        smaller = reduce(form, closed_form, n_records, zeros | smaller.empty) if zeros.any() else smaller
    return smaller


def late_zeros(form: LinearForm, smaller: Reduced, answer: Answer, *, last: bool) -> np.ndarray:
    """Terms that an answer which is not certified leaves nearly empty, and that are; or, at last, any that are."""
    assert answer.counts is not None
    zeros = proved(form, smaller, [*answer.proofs, face_proof(smaller.form, answer.counts)])
    return proved(form, smaller, [support_proof(smaller.form)]) if last and not zeros.any() else zeros


def proved(form: LinearForm, smaller: Reduced, directions: Iterable[np.ndarray]) -> np.ndarray:
    """Terms that directions of the reduced problem's multipliers prove empty, each given those before it."""
    empty = smaller.fixed
    for proof in smaller.restore_directions(directions):
        empty = empty | empty_terms(form, proof, empty, smaller.counts)
    return empty & ~smaller.fixed


def polished(form: LinearForm, answer: Answer, multipliers: np.ndarray) -> Answer:
    """Go on from a solver's multipliers with Newton's method on the dual."""
    final = solve_by_parts(NEWTON, form, multipliers)
    return replace(
        final,
        iterations=answer.iterations + final.iterations,
        compile_seconds=answer.compile_seconds + final.compile_seconds,
        solve_seconds=answer.solve_seconds + final.solve_seconds,
    )


def contradiction(form: LinearForm, closed_form: tuple[np.ndarray, np.ndarray], n_records: float) -> Infeasible | None:
    """Find why there is no answer: an irreducible contradiction of the knowledge; None if it is consistent."""
    found = conflict(form, closed_form, n_records, forgiven=1)  # what is else forgiven as rounding was too much
    return None if found is None else found.error


def failure(
    form: LinearForm,
    closed_form: tuple[np.ndarray, np.ndarray],
    n_records: float,
    name: str,
    answer: Answer,
    convex: Convex | None,
    certificate: Certificate | None = None,
) -> SolverError | Infeasible:
    """Say why there is no certified answer: the knowledge is contradictory, or the solver is at its end."""
    doubtful = certificate is None or not np.isfinite(certificate.bound)
    stuck = certificate is not None and certificate.holds and not convex  # precise, and no end
    if (doubtful or stuck) and (clash := contradiction(form, closed_form, n_records)) is not None:
        return clash
    if certificate is None and answer.status is Status.INFEASIBLE and convex:
        return Infeasible(
            f"{name} finds that no distribution satisfies your convex constraint together with the rest "
            "(the linear rows alone are consistent); relax the constraint"
        )
    if certificate is None:
        return SolverError(
            f"{name} gave no answer ({answer.message}), and the knowledge is consistent; give the solver more time and "
            "iterations, or use another (see maxent_cvx.solvers.available())"
        )
    proof = f"certified nevertheless: {certificate}" if certificate.holds else f"not certified: {certificate}"
    return Inaccurate(
        f"{name} stopped with {answer.message!r}, and the answer is {proof}. "
        "Use another solver (the default is the most precise), change its tolerances, or pass allow_inaccurate=True"
    )
