"""Newton systems by blocks: the buckets are eliminated all at once, the knowledge by conjugate gradients.

The Hessian of the dual is H = A diag(x) A'. Published rows of different buckets share no term, so
that with the knowledge rows K last

    H = [ D  B' ]     D = block-diagonal, a block of at most a few dozen rows a bucket,
        [ B  C  ]     S = C - B D^-1 B', the Schur complement, a row a piece of knowledge.

A product with S is a few passes over the terms, S itself costs some hundred times as much. So S is
formed and factored rarely, and preconditions conjugate gradients at later x as long as they need few
products.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..program.linear_form import LinearForm
from ..tolerances import NEWTON_SYSTEM
from .conjugate_gradients import conjugate_gradients
from .schur_preconditioner import SchurComplement

__all__ = ["BlockSystem"]


class BlockSystem:
    """Solves H d = g for any x, with the blocks of one linear form found once.

    Parameters
    ----------
    form : LinearForm
    corner : Corner, optional
        S of nearly the same problem.
    may_form : bool
        Whether S may be formed; if not, a solution can be less precise than asked for.

    Attributes
    ----------
    products : int
        Products with S so far.
    formed : int
        How often S has been formed.
    corner : Corner or None
        S as it was formed last, or of nearly the same problem.
    """

    def __init__(self, form: LinearForm, schur: SchurComplement | None = None, *, may_form: bool = True) -> None:
        self.known = form.known
        self.n_published, self.n_known = form.n_published, form.shape[0] - form.n_published
        self.bucket_blocks = form.bucket_blocks
        self.products = self.formed = 0
        self.schur, self._may_form = schur, may_form
        self._x = np.empty(0)  # where the blocks are factored, and with which ridge
        self._ridge = 0.0

    @cached_property
    def affordable_products(self) -> int:
        """How many products with S to spend on one solution before S is formed: what costs half as much."""
        k, terms = self.n_known, len(self.known.of_term)
        cost = NEWTON_SYSTEM
        # In multiplications: S is dense and computes fast, a product is bound by memory.
        forming = float(self.bucket_blocks.n_slots) * k * (k + cost.forming_overhead) + k**3
        product = cost.per_term * terms + cost.per_entry * self.known.distinct.nnz + cost.per_pair * k**2
        return int(np.clip(0.5 * forming / product, cost.least_products, cost.most_products))

    def factor(self, x: np.ndarray, active: np.ndarray, ridge: float) -> Callable[..., np.ndarray]:
        """Factor H over the published rows and the knowledge rows that are active.

        Parameters
        ----------
        x : ndarray, one a term
        active : ndarray of int
            Which knowledge rows take part, ascending; the others get 0.
        ridge : float
            By what share the diagonal is raised: one row a bucket is redundant (Privacy-MaxEnt,
            Theorem 3), and knowledge may be.

        Returns
        -------
        callable
            ``solve(gradient, tolerance=1e-12)`` solves H d = gradient, the rows of knowledge to a
            relative tolerance; both vectors have an entry a row.
        """
        if self._x is not x or self._ridge != ridge:
            self._x, self._ridge = x, ridge
            self._inverse = self.bucket_blocks.factor(x, ridge)
            self._squares = self.known.squares(x)
        return lambda gradient, tolerance=1e-12: self._solve(gradient, active, tolerance)

    def _solve(self, gradient: np.ndarray, active: np.ndarray, tolerance: float) -> np.ndarray:
        buckets, n, x = self.bucket_blocks, self.n_published, self._x
        right = np.zeros(buckets.n_slots)
        right[buckets.slot] = gradient[:n]
        alone = buckets.apply(self._inverse, right)
        direction = np.zeros(len(gradient))
        if len(active):
            aim = gradient[n + active] - self.known.matvec(x * (buckets.by_term @ alone))[active]
            found = self._solve_schur(aim, active, tolerance)
            direction[n + active] = found
            alone -= buckets.apply(self._inverse, buckets.rows @ (x * self._rmatvec(found, active)))
        direction[:n] = alone[buckets.slot]
        return direction

    def _rmatvec(self, found: np.ndarray, active: np.ndarray) -> np.ndarray:
        """K' times a number for every active row."""
        multipliers = np.zeros(self.n_known)
        multipliers[active] = found
        return self.known.rmatvec(multipliers)

    def _solve_schur(self, aim: np.ndarray, active: np.ndarray, tolerance: float) -> np.ndarray:
        """Solve S v = aim, forming S where that is cheaper than to go on without."""
        buckets, x = self.bucket_blocks, self._x
        empty = self._squares[active] == 0  # no term is left that could move such a row
        aim, scale = np.where(empty, 0.0, aim), np.where(empty, 1.0, self._squares[active])
        raised = self._ridge * scale

        def product(v: np.ndarray) -> np.ndarray:
            terms = x * self._rmatvec(v, active)
            through = buckets.apply(self._inverse, buckets.rows @ terms)
            return self.known.matvec(terms - x * (buckets.by_term @ through))[active] + raised * v

        if self.n_known > NEWTON_SYSTEM.most_dense:
            return self._conjugate(product, aim, scale.__rtruediv__, tolerance, NEWTON_SYSTEM.most_products)[0]
        precondition = self.schur.precondition(active, scale, self._ridge) if self.schur else scale.__rtruediv__
        found, converged = self._conjugate(product, aim, precondition, tolerance, self.affordable_products)
        if converged or not self._may_form:
            return found
        self.schur = SchurComplement(self._form(active), active)
        self.formed += 1
        precondition = self.schur.precondition(active, scale, self._ridge)
        return self._conjugate(product, aim, precondition, tolerance, NEWTON_SYSTEM.most_after_forming, found)[0]

    def _conjugate(self, *problem: Any) -> tuple[np.ndarray, bool]:
        """Solve by conjugate gradients, and count the products."""
        solution, products, converged = conjugate_gradients(*problem)
        self.products += products
        return solution, converged

    def _form(self, active: np.ndarray) -> np.ndarray:
        """Form S over the active rows of knowledge."""
        x, m, rows = self._x, self.bucket_blocks.width, self.bucket_blocks.rows
        distinct = self.known.distinct[active]
        schur = (distinct @ (sp.diags_array(self.known.collect(x)) @ distinct.T)).toarray()
        # P diag(x) with the terms of a class added up: a row a slot, a column a class; B' is that times the classes.
        shape = (rows.shape[0], distinct.shape[1])
        by_class = sp.csr_array(
            (rows.data * x[rows.indices], self.known.of_term[rows.indices], rows.indptr), shape=shape
        )
        classes = distinct.T.toarray()
        step = max(
            NEWTON_SYSTEM.batch // max(m * len(active), 1), len(active) // max(m, 1) + 1
        )  # S is read and written once a batch
        for low in range(0, self.bucket_blocks.n_blocks, step):
            inverse = self._inverse[low : low + step]
            across = (by_class[low * m : (low + len(inverse)) * m] @ classes).reshape(len(inverse), m, len(active))
            half = (inverse @ across).reshape(-1, len(active))
            schur -= half.T @ half
        return schur
