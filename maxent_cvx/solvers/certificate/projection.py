"""Projection onto the feasible set, in a metric that is weighted by the point itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..linear_algebra.newton_system import newton_system
from ..linear_algebra.schur_preconditioner import SchurComplement
from ..monitoring.deadline import check_step
from ..parameters.tolerances import FEASIBILITY, PROJECTION
from ..program.block_detection import detect_blocks
from ..program.linear_form import LinearForm

__all__ = ["project"]


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # if the rows are infeasible
def project(
    form: LinearForm, x: np.ndarray, fixed: np.ndarray, schur: SchurComplement | None = None
) -> np.ndarray | None:
    """Project x onto the feasible set: minimise sum_j (y_j - x_j)^2 / x_j over the y that satisfy every row.

    In each round, violated and active inequalities are treated as equations: with inequalities the result is feasible,
    but need not be the nearest point. A term that would become negative is set to zero, and kept there.

    Parameters
    ----------
    form : LinearForm
    x : ndarray
        Counts >= 0, records.
    fixed : ndarray of bool
        Terms that keep their counts.
    schur : SchurComplement, optional
        The Schur complement of the knowledge rows at a point near x, to precondition with.

    Returns
    -------
    ndarray or None
        None if no feasible point was found.
    """
    if not np.isfinite(x).all():
        return None
    moves = _concerned(form, x, ~fixed)
    # If most terms may move, the others are given no weight: then nothing that is known of the rows is computed anew.
    whole = np.count_nonzero(moves) > PROJECTION.whole * len(x)
    terms, involved = np.arange(len(x)) if whole else np.flatnonzero(moves), form.rows_involving(moves)
    rest = form if whole else _restricted(form, x, terms, involved)
    if schur is None:
        rest, order = detect_blocks(rest)
        corrected = (involved if whole else np.ones(len(order), dtype=bool))[order]
    else:
        kept = np.ones(len(involved), dtype=bool) if whole else involved
        rank = np.where(kept, np.cumsum(kept) - 1 - rest.n_published, -1)
        schur, corrected = schur.renumbered(rank[form.n_published :]), involved[kept]
    for may_form in (False, True):  # forming the Schur complement is expensive, and rarely needed
        moved = x.copy()
        if moves.any():
            moved[terms] = _projected(rest, x[terms], np.where(moves, x, 0.0)[terms], corrected, schur, may_form)
        if (form.residual(moved) <= FEASIBILITY.multiple * form.tolerance).all():
            return moved
    return None


def _concerned(form: LinearForm, x: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Mark the free terms of components that have a row which x violates by more than rounding."""
    value = form.exact_matvec(x)
    violation = np.clip(value, form.low, form.high) - value
    violated = ~(np.abs(violation) <= PROJECTION.places * np.abs(value))
    if not violated.any():
        return np.zeros_like(free)
    of_row, of_term = form.components(free)
    concerned = np.zeros(int(max(of_row.max(initial=-1), of_term.max(initial=-1))) + 1, dtype=bool)
    concerned[of_row[violated]] = True
    return free & concerned[of_term]


def _restricted(form: LinearForm, x: np.ndarray, terms: np.ndarray, involved: np.ndarray) -> LinearForm:
    """Restrict the problem to some terms, the others being fixed at x, and to the rows that involve these."""
    rest, others = form.select(involved), x.copy()
    others[terms] = 0.0
    fixed_part = rest.matvec(others)
    return replace(rest.select_terms(terms), low=rest.low - fixed_part, high=rest.high - fixed_part)


def _projected(
    form: LinearForm,
    x: np.ndarray,
    weight: np.ndarray,
    corrected: np.ndarray,
    schur: SchurComplement | None,
    may_form: bool,
) -> np.ndarray:
    """Correct x in rounds, as long as each at least halves the largest violation.

    The violation is reduced to roundoff, as the certificate multiplies it with multipliers, which may be large. Terms
    of weight 0 stay, and rows that are not to be corrected do not count.
    """
    system, tolerance = newton_system(form, schur, may_form=may_form), form.tolerance
    moved = best = x
    least = before = np.inf
    for _ in range(PROJECTION.rounds):
        check_step()
        value = form.exact_matvec(moved)
        violation = np.where(corrected, np.clip(value, form.low, form.high) - value, 0.0)
        worst = np.abs(violation).max(initial=0.0)
        if not worst < np.inf:
            break
        if worst < least:
            best, least = moved, worst
        if worst > 0.5 * before or (np.abs(violation) <= PROJECTION.places * np.abs(value)).all():
            break
        before = worst
        # Inactive inequalities do not restrict the correction.
        active = form.is_equation | (value <= form.low + tolerance) | (value >= form.high - tolerance)
        factor, known = system.at(weight, PROJECTION.ridge), np.flatnonzero((active & corrected)[form.n_published :])
        moved = moved + weight * form.rmatvec(
            factor.solve(np.where(active, violation, 0.0), known, PROJECTION.precision)
        )
        if (negative := moved < 0).any():
            moved, weight, before, least = np.maximum(moved, 0.0), np.where(negative, 0.0, weight), np.inf, np.inf
    return best
