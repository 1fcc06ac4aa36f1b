"""Large linear programs by an entropic penalty.

As the penalty parameter L grows, the x that maximises sum x log(w / x) - L cost @ x approaches the least cost. It is
the maximum-entropy problem with weights w exp(-L cost), which Newton's method solves for a million terms, while simplex
and interior-point methods for linear programs take minutes for sixty thousand. The multipliers become affine in L, up
to an exponentially small term (Cominetti and San Martin, 1994): their slope between two values of L is a solution of
the dual linear program, to many digits. Callers verify what it proves by weak duality.

References
----------
Cominetti, R. and San Martin, J. (1994). Asymptotic analysis of the exponential penalty trajectory in linear
programming. Mathematical Programming 67, 169-187.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..answer import Status
from ..dual.newton import newton
from ..monitoring.deadline import check_time, seconds_left
from ..monitoring.monitor import Monitor
from ..parameters.size_limits import LINEAR_PROGRAM_SIZES
from ..parameters.tolerances import LINEAR_PROGRAMS
from ..presolve.zero_proofs import moved_along_recession
from ..program.linear_form import LinearForm
from ..rows.sparse import entry_rows
from .highs import Optimum, linear_program

__all__ = ["by_entropic_penalty", "optima"]


def optima(form: LinearForm, cost: np.ndarray, precision: float = LINEAR_PROGRAMS.precision) -> Iterator[Optimum]:
    """Minimise cost @ x over x >= 0 with low <= A x <= high by one method after the other; the caller verifies each.

    Parameters
    ----------
    form : LinearForm
        Its weights do not matter.
    cost : ndarray, one a term
        At most 1 in absolute value.
    precision : float
        Largest violation of a row by HiGHS, records.

    Yields
    ------
    Optimum
        For a large problem that of the entropic penalty, if it finds one; then that of HiGHS.
    """
    if form.shape[1] >= LINEAR_PROGRAM_SIZES.large and (found := by_entropic_penalty(form, cost)).found:
        yield found
    yield linear_program(cost, form.matrix, form.low, form.high, precision=precision)


def by_entropic_penalty(form: LinearForm, cost: np.ndarray) -> Optimum:
    """Minimise by Newton's method; nothing is found if it does not converge, as where the rows are infeasible."""
    shift = reducing_multipliers(form, cost)
    reduced_cost, multipliers = cost + form.rmatvec(shift), [np.zeros(form.shape[0])]
    for penalty in LINEAR_PROGRAMS.penalties:
        start = multipliers[-1] * (penalty / LINEAR_PROGRAMS.penalties[0])
        answer = newton(
            replace(form, weights=np.exp(-penalty * reduced_cost)), start, monitor=Monitor(time_limit=seconds_left())
        )
        check_time()
        if answer.status is not Status.OPTIMAL or answer.counts is None or answer.multipliers is None:
            return Optimum(False, False, answer.message, np.empty(0), np.empty(0))
        multipliers.append(answer.multipliers)
    assert answer.counts is not None
    slope = (multipliers[2] - multipliers[1]) / (LINEAR_PROGRAMS.penalties[1] - LINEAR_PROGRAMS.penalties[0])
    # In terms that must be zero, this lowers A' slope below the cost.
    slope = moved_along_recession(replace(form, weights=np.exp(-reduced_cost)), slope, answer.proofs)
    return Optimum(True, False, answer.message, answer.counts, slope - shift)


def reducing_multipliers(form: LinearForm, cost: np.ndarray) -> np.ndarray:
    """Multipliers y of published equations with reduced costs cost + A' y >= 0, the least of each equation being 0.

    The reduced costs are those of an equivalent problem, whose counts are about one record at the start. They are
    reduced first by the QI-invariants, then by the SA-invariants, as in assignment problems (Kuhn's Hungarian method).
    """
    by_term, n = form.published_by_term, form.n_published
    usable = form.is_equation[:n] & (np.bincount(entry_rows(form.published), form.published.data != 1, n) == 0)
    y, rest = np.zeros(form.shape[0]), cost.astype(float)
    for place in (0, 1):
        has = np.flatnonzero(np.diff(by_term.indptr) > place)
        row = by_term.indices[by_term.indptr[has] + place]
        least = np.full(n, np.inf)
        np.minimum.at(least, row, rest[has])
        step = np.where(usable & np.isfinite(least), -least, 0.0)
        y[:n] += step
        rest = rest + by_term @ step
    return y
