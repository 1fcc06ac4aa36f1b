"""Newton systems by block elimination: the buckets by dense factors, the knowledge by conjugate gradients.

The Hessian of the dual function is H = A diag(x) A'. Published rows of different buckets share no term. With the
published rows P first and the rows of knowledge K last,

    H = [ D  B' ]     D = P diag(x) P', block-diagonal, a block of at most a few dozen rows a bucket,
        [ B  C  ]     B = K diag(x) P',  C = K diag(x) K',
                      S = C - B D^-1 B', the Schur complement, a row for each row of knowledge.

A product with S takes a few passes over the terms; forming S costs some hundred times as much. Conjugate gradients
therefore solve S v = r without S, as long as that takes few products. When it takes too many, S is formed and factored.
It then preconditions the systems at later x, until these take too many products in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..parameters.size_limits import NEWTON_COSTS
from ..program.linear_form import LinearForm
from .conjugate_gradients import conjugate_gradients
from .schur_complement import schur_complement
from .schur_preconditioner import SchurComplement

__all__ = ["BlockSystem"]


class BlockSystem:
    """Solves H d = g at any x; the block structure of the linear form is found once.

    Parameters
    ----------
    form : LinearForm
    schur : SchurComplement, optional
        S of nearly the same problem.
    may_form : bool
        Whether S may be formed; if not, a solution can be less precise than asked for.

    Attributes
    ----------
    products : int
        Products with S so far.
    formed : int
        How often S has been formed.
    schur : SchurComplement or None
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
        """How many products with S one solution may take before S is formed: those that cost half as much as forming.

        Costs are in multiplications of a dense product: forming S is one, a product with S is bound by memory.
        """
        k, terms, cost = self.n_known, len(self.known.of_term), NEWTON_COSTS
        forming = float(self.bucket_blocks.n_slots) * k * (k + cost.forming_overhead) + k**3
        product = cost.per_term * terms + cost.per_entry * self.known.distinct.nnz + cost.per_pair * k**2
        return int(np.clip(0.5 * forming / product, cost.least_products, cost.most_products))

    def factor(self, x: np.ndarray, active: np.ndarray, ridge: float) -> Callable[..., np.ndarray]:
        """Factor H over the published rows and the active rows of knowledge.

        Parameters
        ----------
        x : ndarray, one a term
        active : ndarray of int
            The active rows of knowledge, ascending; the direction of the others is 0.
        ridge : float
            Relative to the diagonal, which is raised by it: one published row a bucket is redundant (Privacy-MaxEnt,
            Theorem 3), and rows of knowledge may be.

        Returns
        -------
        callable
            ``solve(gradient, tolerance=1e-12)`` solves H d = gradient, the rows of knowledge to a relative tolerance;
            both vectors have one number a row.
        """
        if self._x is not x or self._ridge != ridge:
            self._x, self._ridge = x, ridge
            self._inverse = self.bucket_blocks.factor(x, ridge)
            self._squares = self.known.squares(x)
        return lambda gradient, tolerance=1e-12: self._solve(gradient, active, tolerance)

    def _solve(self, gradient: np.ndarray, active: np.ndarray, tolerance: float) -> np.ndarray:
        """Block elimination: solve for the knowledge by S, then substitute back into the buckets."""
        buckets, n, x = self.bucket_blocks, self.n_published, self._x
        right = np.zeros(buckets.n_slots)
        right[buckets.slot] = gradient[:n]
        of_buckets = buckets.apply(self._inverse, right)
        direction = np.zeros(len(gradient))
        if len(active):
            right_known = gradient[n + active] - self.known.matvec(x * (buckets.by_term @ of_buckets))[active]
            of_known = self._solve_schur(right_known, active, tolerance)
            direction[n + active] = of_known
            of_buckets -= buckets.apply(self._inverse, buckets.rows @ (x * self._rmatvec(of_known, active)))
        direction[:n] = of_buckets[buckets.slot]
        return direction

    def _rmatvec(self, v: np.ndarray, active: np.ndarray) -> np.ndarray:
        """K' v over the active rows, one number a term."""
        multipliers = np.zeros(self.n_known)
        multipliers[active] = v
        return self.known.rmatvec(multipliers)

    def schur_product(self, v: np.ndarray, active: np.ndarray) -> np.ndarray:
        """S v over the active rows, where the blocks were factored last."""
        buckets, x = self.bucket_blocks, self._x
        by_term = x * self._rmatvec(v, active)
        through_buckets = buckets.apply(self._inverse, buckets.rows @ by_term)
        return self.known.matvec(by_term - x * (buckets.by_term @ through_buckets))[active]

    def form_schur(self, active: np.ndarray) -> np.ndarray:
        """S over the active rows, where the blocks were factored last."""
        return schur_complement(self.bucket_blocks, self.known, self._inverse, self._x, active)

    def _solve_schur(self, right: np.ndarray, active: np.ndarray, tolerance: float) -> np.ndarray:
        """Solve S v = right; S is formed if that takes more products than are affordable."""
        empty = self._squares[active] == 0  # a row whose terms are all zero: its multiplier does not move
        right, scale = np.where(empty, 0.0, right), np.where(empty, 1.0, self._squares[active])
        raised = self._ridge * scale

        def product(v: np.ndarray) -> np.ndarray:
            return self.schur_product(v, active) + raised * v

        if self.n_known > NEWTON_COSTS.most_dense:
            return self._conjugate(product, right, scale.__rtruediv__, tolerance, NEWTON_COSTS.most_products)[0]
        precondition = self.schur.precondition(active, scale, self._ridge) if self.schur else scale.__rtruediv__
        found, converged = self._conjugate(product, right, precondition, tolerance, self.affordable_products)
        if converged or not self._may_form:
            return found
        self.schur = SchurComplement(self.form_schur(active), active)
        self.formed += 1
        precondition = self.schur.precondition(active, scale, self._ridge)
        return self._conjugate(product, right, precondition, tolerance, NEWTON_COSTS.most_after_forming, found)[0]

    def _conjugate(self, *problem: Any) -> tuple[np.ndarray, bool]:
        """Solve by conjugate gradients, and count the products."""
        solution, products, converged = conjugate_gradients(*problem)
        self.products += products
        return solution, converged
