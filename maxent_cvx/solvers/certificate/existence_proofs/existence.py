r"""Existence of a point that satisfies rows exactly near one that satisfies them approximately, with a bound.

Let the rows be A x = b, and let x > 0 have the residual r = A x - b with |r_i| <= e_i. With X = diag(x) and S = A X A',

    x' = x (1 + A' z),    S z = -r,

satisfies the rows exactly, and x' >= 0 if |A' z| <= 1, where :mod:`.verified_inverse` bounds |A' S^-1 r|.

The rows as typed differ from the stored ones by rounding errors whose effect depends on x' itself. Then r is a
continuous function of z, and Brouwer's fixed-point theorem gives a z. Rows that depend linearly on others hold if the
others do, provided that all rows are consistent; which rows these are is decided in exact arithmetic (:mod:`.modular`).
That published rows are consistent need not be proved, unless some terms are to be 0 at x' that could be positive: then
their sides are part of the elimination.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...parameters.tolerances import CERTIFICATION
from ...rows.sparse import entry_rows
from .modular import PRIMES, dependent_rows, residues, residues_of_fraction
from .verified_inverse import bounded_moves

__all__ = ["Component", "RelativeMoves", "relative_moves"]


class Component(NamedTuple):
    """The active rows of a connected component, equations first, over its free terms.

    Attributes
    ----------
    matrix : csr_array, shape (rows, terms)
    x : ndarray, one of the terms
        Counts >= 0, records. Counts of 0 do not change.
    residual : ndarray, one of the rows
        A bound e on the absolute value of each residual, records.
    n_equations : int
    inward : ndarray, one of the rows
        1 for an inequality that is active at its low side, -1 at its high side, 0 for an equation.
    typed : sequence, one of the rows
        The coefficients as typed, up to a common factor, as rational numbers, each with the columns of its terms, or
        as doubles with their columns; None if unknown.
    sides : sequence of Fraction, one of the rows, optional
        The right-hand sides exactly, where the rows may be inconsistent; None of a row for which it is unknown.
    """

    matrix: sp.csr_array
    x: np.ndarray
    residual: np.ndarray
    n_equations: int
    inward: np.ndarray
    typed: Sequence[Sequence[tuple[Fraction | np.ndarray, np.ndarray]] | None]
    sides: Sequence[Fraction | None] | None = None


class RelativeMoves(NamedTuple):
    """Bounds on a point that satisfies the rows of a component exactly.

    Attributes
    ----------
    moves : ndarray, one of the terms
        A bound on the relative change of each count; infinite for all if nothing is proved.
    implied : ndarray of bool, one of the rows
        Inequalities that depend linearly on the equations.
    interior : bool
        Whether the other inequalities are satisfied strictly, and not with equality.
    violation : ndarray, one of the rows
        A bound on the violation of inequalities that depend linearly on other active ones, records.
    """

    moves: np.ndarray
    implied: np.ndarray
    interior: bool
    violation: np.ndarray


def relative_moves(component: Component) -> RelativeMoves:
    """Bound the relative changes of counts to a point where all rows of a component hold.

    Active inequalities that depend linearly on each other cannot in general all hold with equality, as rounding has
    changed their sides. Then the independent ones are required to hold strictly, with a margin such that the dependent
    ones hold as well. If there is no such point, as for P <= 0.3 and P >= 0.3, the independent ones hold with equality,
    and the violation of the dependent ones, of the order of rounding errors, is bounded.
    """
    x, residual = component.x, component.residual
    unproved, equation = np.full(len(x), np.inf), np.arange(len(residual)) < component.n_equations
    depends, by_equations = _dependent(component)
    implied, dependent = by_equations & ~equation, depends & ~by_equations
    violation = np.zeros(len(residual))
    if not np.isfinite(residual).all() or _inconsistent(component, depends):
        return RelativeMoves(unproved, implied, False, violation)
    matrix = component.matrix[~depends]
    found, interior = bounded_moves(matrix, x, residual[~depends]), False
    if dependent.any() and np.isfinite(found).all():
        inward = component.inward[~depends]
        system = (matrix @ sp.diags_array(x) @ matrix.T).toarray()
        with np.errstate(divide="ignore", invalid="ignore"):
            # A step that moves every independent inequality off its side by one record, and its effect on the others.
            step = x * (matrix.T @ np.linalg.lstsq(system, inward)[0])
            gain = component.inward[dependent] * (component.matrix[dependent] @ step)
            missing = residual[dependent] + abs(component.matrix[dependent]) @ (x * found)
            margin = 2 * float((missing / np.maximum(gain, 0.0)).max())
            strict = (
                bounded_moves(matrix, x, residual[~depends] + margin * np.abs(inward)) if margin < np.inf else unproved
            )
        interior = bool(np.isfinite(strict).all() and (strict[x > 0] <= CERTIFICATION.most_moved).all())
        if interior:
            found = strict
        else:
            violation[dependent] = missing
    # Counts of 0 do not change. Without a proof the bound is infinite for them, too.
    is_proved = np.isfinite(found).all() and (found[x > 0] <= CERTIFICATION.most_moved).all()
    return RelativeMoves(np.where(x > 0, found, 0.0) if is_proved else unproved, implied, interior, violation)


def _dependent(component: Component) -> tuple[np.ndarray, np.ndarray]:
    """Mark rows that depend linearly, as typed, on earlier ones, and those that depend on the equations alone."""
    return dependent_rows(_modular(component), component.n_equations)


def _inconsistent(component: Component, depends: np.ndarray) -> bool:
    """Whether the sides of dependent rows do not depend on the other sides as the rows do, or may not."""
    if component.sides is None or not depends.any():
        return False
    unknown = np.random.default_rng(len(depends)).integers(1, min(PRIMES), (len(PRIMES), len(depends)))
    augmented = []
    for matrix, prime, instead in zip(_modular(component), PRIMES, unknown, strict=True):
        sides = [
            int(other) if side is None else residues_of_fraction(side, prime)
            for side, other in zip(component.sides, instead, strict=True)
        ]
        augmented.append(sp.csr_array(sp.hstack([matrix, sp.csr_array(np.array(sides, dtype=np.int64)[:, None])])))
    return not np.array_equal(depends, dependent_rows(augmented, component.n_equations)[0])


def _modular(component: Component) -> list[sp.csr_array]:
    """The rows as typed, modulo each prime."""
    matrix = component.matrix
    known = np.array([typed is not None for typed in component.typed])
    kept = ~known[entry_rows(matrix)]
    stored = entry_rows(matrix)[kept], matrix.indices[kept]
    as_typed = [(i, a, at) for i, typed in enumerate(component.typed) for a, at in typed or ()]
    rows = np.concatenate([stored[0], *(np.full(len(at), i) for i, _, at in as_typed)])
    columns = np.concatenate([stored[1], *(at for _, _, at in as_typed)])
    by_prime = []
    for prime in PRIMES:
        numbers = [
            np.full(len(at), residues_of_fraction(a, prime)) if isinstance(a, Fraction) else residues(a, prime)
            for _, a, at in as_typed
        ]
        numbers.insert(0, residues(matrix.data[kept], prime))
        found = sp.csr_array((np.concatenate(numbers), (rows, columns)), shape=matrix.shape)
        found.data %= prime  # of a term with several coefficients, the sum
        by_prime.append(found)
    return by_prime
