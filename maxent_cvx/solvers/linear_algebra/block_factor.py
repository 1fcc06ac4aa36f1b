"""The Newton system at one x: blocks factored, the Schur complement of the knowledge by conjugate gradients."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from ..parameters.size_limits import NEWTON_COSTS
from ..program.bucket_blocks import BucketBlocks
from ..program.shared_columns import SharedColumns
from .bucket_inverse import BucketInverse
from .conjugate_gradients import conjugate_gradients
from .schur_complement import schur_complement
from .schur_preconditioner import SchurComplement

__all__ = ["BlockFactor"]


class Blocks(Protocol):
    """What the systems at all x have in common, see :class:`.block_system.BlockSystem`."""

    known: SharedColumns
    bucket_blocks: BucketBlocks
    class_of_entry: np.ndarray
    n_published: int
    n_known: int
    products: int
    formed: int
    schur: SchurComplement | None
    may_form: bool

    @property
    def affordable_products(self) -> int:
        """How many products with S one solution may take before S is formed."""
        ...


class BlockFactor:
    """Solves H d = g at one x, for any active rows of knowledge.

    Parameters
    ----------
    blocks : BlockSystem
        It counts the products, and keeps the Schur complement that was formed last.
    x : ndarray, one a term
    ridge : float
        Relative to the diagonal, which is raised by it.
    curvature : ndarray, one a row of knowledge, optional
        What is added to the diagonal of C.
    """

    def __init__(self, blocks: Blocks, x: np.ndarray, ridge: float, curvature: np.ndarray | None = None) -> None:
        self._blocks, self._x, self._ridge, self._curvature = blocks, x, ridge, curvature
        self._inverse = BucketInverse(blocks.bucket_blocks, x, ridge)
        self._by_class = blocks.known.collect(x)
        squares = blocks.known.squared @ self._by_class
        self._squares = squares if curvature is None else squares + curvature

    @cached_property
    def _across(self) -> sp.csr_array:
        """P diag(x), summed over the terms of each class of columns of K, so that B' is this times the columns."""
        rows, known = self._blocks.bucket_blocks.rows, self._blocks.known
        shape = (rows.shape[0], known.distinct.shape[1])
        data = self._x[rows.indices]
        if not self._blocks.bucket_blocks.has_ones:
            data *= rows.data
        return sp.csr_array((data, self._blocks.class_of_entry, rows.indptr), shape=shape)

    def solve(self, gradient: np.ndarray, active: np.ndarray, tolerance: float = 1e-12) -> np.ndarray:
        """Block elimination: solve for the knowledge by S, then substitute back into the buckets.

        Parameters
        ----------
        gradient : ndarray, one a row
        active : ndarray of int
            The active rows of knowledge, ascending; the direction of the others is 0.
        tolerance : float
            Of the rows of knowledge, relative.

        Returns
        -------
        ndarray, one a row
        """
        buckets, known, n = self._blocks.bucket_blocks, self._blocks.known, self._blocks.n_published
        right = np.zeros(buckets.n_slots)
        right[buckets.slot] = gradient[:n]
        of_buckets = self._inverse.apply(right)
        direction = np.zeros(len(gradient))
        if len(active):
            right_known = gradient[n + active] - (known.distinct @ (self._across.T @ of_buckets))[active]
            of_known = self._solve_schur(right_known, active, tolerance)
            direction[n + active] = of_known
            of_buckets -= self._inverse.apply(self._across @ self._by_columns(of_known, active))
        direction[:n] = of_buckets[buckets.slot]
        return direction

    def schur_product(self, v: np.ndarray, active: np.ndarray) -> np.ndarray:
        """S v over the active rows."""
        columns = self._by_columns(v, active)
        through_buckets = self._inverse.apply(self._across @ columns)
        of_class = self._by_class * columns - self._across.T @ through_buckets
        product = (self._blocks.known.distinct @ of_class)[active]
        return product if self._curvature is None else product + self._curvature[active] * v

    def form_schur(self, active: np.ndarray) -> np.ndarray:
        """S over the active rows."""
        schur = schur_complement(self._inverse, self._blocks.known, self._across, self._by_class, active)
        if self._curvature is not None:
            schur[np.diag_indices_from(schur)] += self._curvature[active]
        return schur

    def _by_columns(self, v: np.ndarray, active: np.ndarray) -> np.ndarray:
        """K' v over the active rows, one number a class of columns."""
        multipliers = np.zeros(self._blocks.n_known)
        multipliers[active] = v
        return self._blocks.known.transposed @ multipliers

    def _solve_schur(self, right: np.ndarray, active: np.ndarray, tolerance: float) -> np.ndarray:
        """Solve S v = right; S is formed if that takes more products than are affordable."""
        blocks = self._blocks
        empty = self._squares[active] == 0  # a row whose terms are all zero: its multiplier does not move
        right, scale = np.where(empty, 0.0, right), np.where(empty, 1.0, self._squares[active])
        raised = self._ridge * scale

        def product(v: np.ndarray) -> np.ndarray:
            return self.schur_product(v, active) + raised * v

        if blocks.n_known > NEWTON_COSTS.most_dense:
            return self._conjugate(product, right, scale.__rtruediv__, tolerance, NEWTON_COSTS.most_products)[0]
        precondition = blocks.schur.precondition(active, scale, self._ridge) if blocks.schur else scale.__rtruediv__
        found, converged = self._conjugate(product, right, precondition, tolerance, blocks.affordable_products)
        if converged or not blocks.may_form:
            return found
        blocks.schur = SchurComplement(self.form_schur(active), active)
        blocks.formed += 1
        precondition = blocks.schur.precondition(active, scale, self._ridge)
        return self._conjugate(product, right, precondition, tolerance, NEWTON_COSTS.most_after_forming, found)[0]

    def _conjugate(self, *problem: Any) -> tuple[np.ndarray, bool]:
        """Solve by conjugate gradients, and count the products."""
        solution, products, converged = conjugate_gradients(*problem)
        self._blocks.products += products
        return solution, converged
