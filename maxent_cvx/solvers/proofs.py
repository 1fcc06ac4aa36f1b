"""Directions of the multipliers that prove terms zero, for implied zeros that bound propagation does not find.

A direction d with A'd <= 0 and d'(sides) >= 0 proves that, in every x >= 0 with low <= A x <= high, the terms with
(A'd)_j < 0 are zero (see :mod:`.duality`, which verifies it). Newton's steps approach such directions, but not closely
enough for a proof if thousands of terms are zero, some of them because others are. They are found by least squares
(:func:`.explain.facial_reduction`), or here by a linear program, which finds all of them at once. Over all rows the
program may take minutes where Newton's method takes seconds, so it is the last resort. Over the knowledge alone, whose
independent components each involve one sensitive value, it takes seconds.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .form import LinearForm
from .linear import LinearProgram
from .monitor import diagnosing
from .sparse import components

#: Directions this close to multiples of 1/2, 1/3, ... are rounded to them, so that their sums are exact.
NEAR_FRACTION = 1e-6
#: The largest denominator tried.
LARGEST_DENOMINATOR = 12


def support_proof(form: LinearForm, among: np.ndarray | None = None) -> np.ndarray:
    """Find one direction of the multipliers that proves every implied zero among some terms; see :mod:`.duality`.

    The feasible set is a polyhedron, which is homogenised by x = (u + v) / t with t >= 0. Then

        max sum u,    0 <= u <= 1,  v >= 0,  low t <= A (u + v) <= high t,

    where u_j = 0 for the other terms, has u_j = 1 if x_j can be positive, and u_j = 0 otherwise. The dual d of its rows then
    has A' d <= 0, with (A' d)_j <= -1 where u_j = 0, and d' (its sides) = 0.
    """
    n_rows, n_terms = form.shape
    terms = np.arange(n_terms) if among is None else np.flatnonzero(among)
    exact = form.is_equation
    upper, lower = np.isfinite(form.high) & ~exact, np.isfinite(form.low) & ~exact
    # A row with two different sides becomes two rows, as both contain t: A (u + v) >= low t, and A (u + v) <= high t.
    rows = np.concatenate([np.flatnonzero(kind) for kind in (exact, upper, lower)])
    kind = np.repeat([0, 1, 2], [np.count_nonzero(exact), np.count_nonzero(upper), np.count_nonzero(lower)])
    side = np.where(kind == 1, form.high[rows], form.low[rows])
    matrix = form.matrix[rows]
    program = LinearProgram(
        sp.csr_array(sp.hstack([matrix[:, terms], matrix, sp.csr_array(-side[:, None])], format="csr")),
        np.where(kind == 1, -np.inf, 0.0),
        np.where(kind == 2, np.inf, 0.0),
        upper=np.repeat([1.0, np.inf], [len(terms), n_terms + 1]),
    )
    direction = np.zeros(n_rows)
    with diagnosing():
        optimum = program.minimum(-np.repeat([1.0, 0.0], [len(terms), n_terms + 1]))
        if optimum.found:
            np.add.at(direction, rows, optimum.multipliers)
    return rationalised(direction)


def local_proofs(form: LinearForm) -> list[np.ndarray]:
    """Find directions that prove terms zero by the knowledge alone, one for each of its independent components.

    Two overlapping rows with the same value are an example: if P(s | Q) P(Q) = P(s | Q, R) P(Q, R), the terms of s with
    Q but not R are zero.
    """
    known, n = form.known.distinct, form.n_published
    of_row, of_class = components(known)
    proofs = []
    for component in np.flatnonzero(np.bincount(of_row) > 1):  # bound propagation handles single rows
        rows, classes = np.flatnonzero(of_row == component), np.flatnonzero(of_class == component)
        sides = form.low[n + rows], form.high[n + rows]
        direction = np.zeros(form.shape[0])
        direction[n + rows] = support_proof(LinearForm.plain(sp.csr_array(known[rows][:, classes]), *sides))
        proofs.append(direction)
    return proofs


def rationalised(direction: np.ndarray) -> np.ndarray:
    """Round a direction to integers over a common denominator, as is exact for most vertices, or return it unchanged.

    The result is multiplied by that denominator, which does not change the proof.
    """
    for denominator in range(1, LARGEST_DENOMINATOR + 1):
        rounded = np.rint(direction * denominator)
        if np.abs(rounded / denominator - direction).max(initial=0.0) <= NEAR_FRACTION:
            return rounded
    return direction
