"""Large linear programs, by the entropy method: weights that fall steeply with the cost.

The x that maximises sum x log(w / x) - L cost @ x comes close to the least cost as L grows; it is an entropy
problem with weights w exp(-L cost), which Newton's method solves at the size of a million terms, where simplex and
interior-point methods for linear programs take minutes at sixty thousand. Its multipliers become affine in L but
for what falls exponentially (Cominetti and San Martin, 1994): the slope between two values of L is a solution of the
dual linear program, to many digits, and whoever uses it checks what it proves.

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
from ..presolve.zero_proofs import moved_along_recession
from ..program.linear_form import LinearForm
from ..rows.sparse import entry_rows
from ..tolerances import LINEAR_PROGRAMS
from .highs import Optimum, linear_program

__all__ = ["by_entropic_penalty", "optima"]


def optima(form: LinearForm, cost: np.ndarray, precision: float = LINEAR_PROGRAMS.precision) -> Iterator[Optimum]:
    """Minimise cost @ x over x >= 0 with low <= A x <= high, in one way after the other, for the caller to check.

    Parameters
    ----------
    form : LinearForm
        Its weights do not matter.
    cost : ndarray
        At most 1 in size.
    precision : float
        How far HiGHS may leave a row off.

    Yields
    ------
    Optimum
        Of a large problem what Newton's method finds, unless it finds nothing; at last, what HiGHS says.
    """
    if form.shape[1] >= LINEAR_PROGRAMS.large and (found := by_entropic_penalty(form, cost)).found:
        yield found
    yield linear_program(cost, form.matrix, form.low, form.high, precision=precision)


def by_entropic_penalty(form: LinearForm, cost: np.ndarray) -> Optimum:
    """Minimise by Newton's method; nothing is found where that does not come to an end, as without any solution."""
    shift = reduction(form, cost)
    steep, multipliers = cost + form.rmatvec(shift), [np.zeros(form.shape[0])]
    for steepness in LINEAR_PROGRAMS.penalties:
        start = multipliers[-1] * (steepness / LINEAR_PROGRAMS.penalties[0])
        answer = newton(replace(form, weights=np.exp(-steepness * steep)), start)
        if answer.status is not Status.OPTIMAL or answer.counts is None or answer.multipliers is None:
            return Optimum(False, False, answer.message, np.empty(0), np.empty(0))
        multipliers.append(answer.multipliers)
    assert answer.counts is not None
    slope = (multipliers[2] - multipliers[1]) / (LINEAR_PROGRAMS.penalties[1] - LINEAR_PROGRAMS.penalties[0])
    slope = moved_along_recession(
        replace(form, weights=np.exp(-steep)), slope, answer.proofs
    )  # below the cost where nobody can be
    return Optimum(True, False, answer.message, answer.counts, slope - shift)


def reduction(form: LinearForm, cost: np.ndarray) -> np.ndarray:
    """Multipliers y of published equations: cost + A' y is nowhere negative, and in each of them 0 somewhere.

    The problem is the same, and begins with terms of about one person: that of a QI-invariant and then of an
    SA-invariant is reduced, as in assignment problems (Kuhn's Hungarian method).
    """
    by_term, n = form.published_by_term, form.n_published
    able = form.is_equation[:n] & (np.bincount(entry_rows(form.published), form.published.data != 1, n) == 0)
    y, rest = np.zeros(form.shape[0]), cost.astype(float)
    for place in (0, 1):
        has = np.flatnonzero(np.diff(by_term.indptr) > place)
        row = by_term.indices[by_term.indptr[has] + place]
        least = np.full(n, np.inf)
        np.minimum.at(least, row, rest[has])
        step = np.where(able & np.isfinite(least), -least, 0.0)
        y[:n] += step
        rest = rest + by_term @ step
    return y
