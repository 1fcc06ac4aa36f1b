"""The Newton system at one x: the blocks are factored, the knowledge is left to its Schur complement."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from ..program.bucket_blocks import BucketBlocks
from ..program.shared_columns import SharedColumns
from .bucket_inverse import BucketInverse
from .schur_complement import schur_complement
from .schur_factor import SchurFactor, Systems

__all__ = ["BlockFactor"]


class Blocks(Systems, Protocol):
    """What the systems at all x have in common, see :class:`.block_system.BlockSystem`."""

    known: SharedColumns
    bucket_blocks: BucketBlocks
    class_of_entry: np.ndarray
    n_published: int


class BlockFactor(SchurFactor):
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
        self._blocks, self._x, self._curvature = blocks, x, curvature
        self._inverse = BucketInverse(blocks.bucket_blocks, x, ridge)
        self._by_class = blocks.known.collect(x)
        squares = blocks.known.squared @ self._by_class
        super().__init__(blocks, squares if curvature is None else squares + curvature, ridge)

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
        buckets, n = self._blocks.bucket_blocks, self._blocks.n_published
        right = np.zeros(buckets.n_slots)
        right[buckets.slot] = gradient[:n]
        of_buckets, direction = self.of_buckets(right), np.zeros(len(gradient))
        if len(active):
            right_known = gradient[n + active] - self.carried(of_buckets)[active]
            of_known = self.solve_schur(right_known, active, tolerance)
            direction[n + active] = of_known
            of_buckets -= self.made_up(of_known, active)
        direction[:n] = of_buckets[buckets.slot]
        return direction

    def of_buckets(self, right: np.ndarray) -> np.ndarray:
        """D^-1 right, one number a slot of the blocks."""
        return self._inverse.apply(right)

    def carried(self, of_buckets: np.ndarray) -> np.ndarray:
        """B v for numbers of the buckets, one a slot: what these change in every row of knowledge."""
        return np.asarray(self._blocks.known.distinct @ (self._across.T @ of_buckets))

    def made_up(self, of_known: np.ndarray, active: np.ndarray) -> np.ndarray:
        """D^-1 B' v for numbers of the active rows of knowledge, by which the buckets make up for these."""
        return self._inverse.apply(self._across @ self._by_columns(of_known, active))

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
