"""The nearest answer at which every row holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ..linear_algebra.newton_system import newton_system
from ..linear_algebra.schur_preconditioner import SchurComplement
from ..program.block_detection import detect_blocks
from ..program.linear_form import LinearForm
from ..rows.exact_products import exact_matvec
from ..tolerances import FEASIBILITY, PROJECTION

__all__ = ["project"]


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # where nothing satisfies the rows
def project(
    form: LinearForm, x: np.ndarray, fixed: np.ndarray, schur: SchurComplement | None = None
) -> np.ndarray | None:
    """Move x by the least relative change to where every row holds, or None if that does not succeed.

    A cell that would become negative is a zero that the rows imply: it is set to zero, and kept there.

    Parameters
    ----------
    form : LinearForm
    x : ndarray
        Counts >= 0, people.
    fixed : ndarray of bool
        Terms that must not move.
    corner : Corner, optional
        A Schur complement of the knowledge rows near x, which makes this faster.
    """
    if not np.isfinite(x).all():
        return None
    free = np.flatnonzero(~fixed)
    rest, involved = _over(form, x, free)
    if schur is None:
        rest, _ = detect_blocks(rest)
    else:
        rank = np.where(involved, np.cumsum(involved) - 1 - rest.n_published, -1)
        schur = schur.renumbered(rank[form.n_published :])
    for may_form in (False, True):  # to form the Schur complement costs more than all else, and is rarely needed
        exact = x.copy()
        exact[free] = _projected(rest, x[free], schur, may_form)
        if (form.residual(exact) <= FEASIBILITY.multiple * form.tolerance).all():
            return exact
    return None


def _over(form: LinearForm, x: np.ndarray, free: np.ndarray) -> tuple[LinearForm, np.ndarray]:
    """The problem over some terms, the others as they are; and which rows speak of those terms."""
    if len(free) == len(x):
        return form, np.ones(form.shape[0], dtype=bool)
    columns = form.matrix[:, free]
    involved = np.diff(columns.indptr) > 0
    rest, others = form.select(involved), x.copy()
    others[free] = 0.0
    done = rest.matrix @ others
    matrix = sp.csr_array(columns[np.flatnonzero(involved)])
    return replace(
        rest, matrix=matrix, low=rest.low - done, high=rest.high - done, weights=form.weights[free]
    ), involved


def _projected(form: LinearForm, x: np.ndarray, schur: SchurComplement | None, may_form: bool) -> np.ndarray:
    """Move x as long as what is missing at least halves: multipliers may be large, and count it that many times."""
    system, tolerance = newton_system(form, schur, may_form=may_form), form.tolerance
    moved = best = weight = x
    least = before = np.inf
    for _ in range(PROJECTION.rounds):
        value = exact_matvec(form.matrix, moved)
        missing = np.clip(value, form.low, form.high) - value
        worst = np.abs(missing).max(initial=0.0)
        if not worst < np.inf:
            break
        if worst < least:
            best, least = moved, worst
        if worst > 0.5 * before or (np.abs(missing) <= PROJECTION.places * np.abs(value)).all():
            break
        before = worst
        # An inequality with room has nothing to hold still for.
        tight = form.is_equation | (value <= form.low + tolerance) | (value >= form.high - tolerance)
        solve = system.factor(weight, np.flatnonzero(tight[form.n_published :]), PROJECTION.ridge)
        moved = moved + weight * form.rmatvec(solve(np.where(tight, missing, 0.0), PROJECTION.precision))
        if (negative := moved < 0).any():
            moved, weight, before, least = np.maximum(moved, 0.0), np.where(negative, 0.0, weight), np.inf, np.inf
    return best
