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
from .conjugate_gradients import conjugate_gradients
from .schur_preconditioner import Corner

__all__ = ["BlockSystem"]

#: Doubles that one batch of buckets may hold at a time, or as many as S does.
BATCH = 4_000_000
#: Most rows of knowledge for which S is formed (800 MB); for more, its diagonal preconditions.
MOST_DENSE = 10_000
#: Most products with S for one solution, when S is not formed and when it just has been.
MOST_PRODUCTS, MOST_AFTER_FORMING = 2_000, 50


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

    def __init__(self, form: LinearForm, corner: Corner | None = None, *, may_form: bool = True) -> None:
        self.known = form.known
        self.n_published, self.n_known = form.n_published, form.shape[0] - form.n_published
        self.buckets = form.buckets
        self.products = self.formed = 0
        self.corner, self._may_form = corner, may_form
        self._x = np.empty(0)  # where the blocks are factored, and with which ridge
        self._ridge = 0.0

    @cached_property
    def worth(self) -> int:
        """How many products with S to spend on one solution before S is formed: what costs half as much."""
        k, terms = self.n_known, len(self.known.of_term)
        # As measured, in multiplications: S is dense and computes fast, a product is bound by memory.
        forming = float(self.buckets.n_slots) * k * (k + 500) + k**3
        product = 1_000.0 * terms + 200.0 * self.known.distinct.nnz + 50.0 * k**2
        return int(np.clip(0.5 * forming / product, 16, MOST_PRODUCTS))

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
            self._inverse = self.buckets.factor(x, ridge)
            self._squares = self.known.squares(x)
        return lambda gradient, tolerance=1e-12: self._solve(gradient, active, tolerance)

    def _solve(self, gradient: np.ndarray, active: np.ndarray, tolerance: float) -> np.ndarray:
        buckets, n, x = self.buckets, self.n_published, self._x
        right = np.zeros(buckets.n_slots)
        right[buckets.slot] = gradient[:n]
        alone = buckets.apply(self._inverse, right)
        direction = np.zeros(len(gradient))
        if len(active):
            aim = gradient[n + active] - self.known.sums(x * (buckets.by_term @ alone))[active]
            found = self._solve_corner(aim, active, tolerance)
            direction[n + active] = found
            alone -= buckets.apply(self._inverse, buckets.rows @ (x * self._spread(found, active)))
        direction[:n] = alone[buckets.slot]
        return direction

    def _spread(self, found: np.ndarray, active: np.ndarray) -> np.ndarray:
        """K' times a number for every active row."""
        multipliers = np.zeros(self.n_known)
        multipliers[active] = found
        return self.known.spread(multipliers)

    def _solve_corner(self, aim: np.ndarray, active: np.ndarray, tolerance: float) -> np.ndarray:
        """Solve S v = aim, forming S where that is cheaper than to go on without."""
        buckets, x = self.buckets, self._x
        empty = self._squares[active] == 0  # no term is left that could move such a row
        aim, scale = np.where(empty, 0.0, aim), np.where(empty, 1.0, self._squares[active])
        raised = self._ridge * scale

        def product(v: np.ndarray) -> np.ndarray:
            terms = x * self._spread(v, active)
            through = buckets.apply(self._inverse, buckets.rows @ terms)
            return self.known.sums(terms - x * (buckets.by_term @ through))[active] + raised * v

        if self.n_known > MOST_DENSE:
            return self._conjugate(product, aim, scale.__rtruediv__, tolerance, MOST_PRODUCTS)[0]
        precondition = self.corner.precondition(active, scale, self._ridge) if self.corner else scale.__rtruediv__
        found, converged = self._conjugate(product, aim, precondition, tolerance, self.worth)
        if converged or not self._may_form:
            return found
        self.corner = Corner(self._form(active), active)
        self.formed += 1
        precondition = self.corner.precondition(active, scale, self._ridge)
        return self._conjugate(product, aim, precondition, tolerance, MOST_AFTER_FORMING, found)[0]

    def _conjugate(self, *problem: Any) -> tuple[np.ndarray, bool]:
        """Solve by conjugate gradients, and count the products."""
        solution, products, converged = conjugate_gradients(*problem)
        self.products += products
        return solution, converged

    def _form(self, active: np.ndarray) -> np.ndarray:
        """Form S over the active rows of knowledge."""
        x, m, rows = self._x, self.buckets.width, self.buckets.rows
        distinct = self.known.distinct[active]
        schur = (distinct @ (sp.diags_array(self.known.collect(x)) @ distinct.T)).toarray()
        # P diag(x) with the terms of a class added up: a row a slot, a column a class; B' is that times the classes.
        shape = (rows.shape[0], distinct.shape[1])
        by_class = sp.csr_array(
            (rows.data * x[rows.indices], self.known.of_term[rows.indices], rows.indptr), shape=shape
        )
        classes = distinct.T.toarray()
        step = max(BATCH // max(m * len(active), 1), len(active) // max(m, 1) + 1)  # S is read and written once a batch
        for low in range(0, self.buckets.n_blocks, step):
            inverse = self._inverse[low : low + step]
            across = (by_class[low * m : (low + len(inverse)) * m] @ classes).reshape(len(inverse), m, len(active))
            half = (inverse @ across).reshape(-1, len(active))
            schur -= half.T @ half
        return schur
