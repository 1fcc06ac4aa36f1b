"""D^-1 for the block-diagonal part D of a Newton system: the diagonal part of each block, then a Cholesky factor.

With a block as in :mod:`..program.bucket_blocks`, eliminating its single rows leaves E = D2 - M' D1^-1 M = L L'. So

    D^-1 = [ D1^-1  0 ]  +  [ -N ] E^-1 [ -N'  I ],    N = D1^-1 M.
           [ 0      0 ]     [ I  ]
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..parameters.dual_methods import NEWTON_SYSTEM
from ..program.bucket_blocks import BlockEntries, BucketBlocks

__all__ = ["BucketInverse"]


class BucketInverse:
    """All blocks at one x, factored.

    Parameters
    ----------
    blocks : BucketBlocks
    x : ndarray, one a term
    ridge : float
        Relative to the diagonal, which is raised by it; increased a hundredfold while rounding exceeds it.

    Attributes
    ----------
    single : ndarray, one a slot of a single row
        The diagonal of D1.
    """

    def __init__(self, blocks: BucketBlocks, x: np.ndarray, ridge: float) -> None:
        self.blocks = blocks
        self._n = blocks.n_blocks * blocks.n_single
        entries = blocks.entries(x)
        while True:
            raised = entries.diagonal + ridge * np.maximum(entries.diagonal, NEWTON_SYSTEM.smallest_diagonal)
            try:
                self._factor(entries, raised)
                break
            except np.linalg.LinAlgError:  # roundoff exceeded the ridge
                ridge *= 100

    def _factor(self, entries: BlockEntries, diagonal: np.ndarray) -> None:
        cross, self.single, of_others = entries.cross, diagonal[: self._n], self._second(diagonal[self._n :])
        if self.blocks.narrow:
            self._scaled = cross / self._first(self.single)[:, None]
            rest = -np.einsum("isb,itb->stb", cross, self._scaled)
            np.einsum("ssb->sb", rest)[...] += of_others  # a view: writing to it writes to the matrices
        else:
            self._scaled = cross / self._first(self.single)[:, :, None]
            rest = -(cross.transpose(0, 2, 1) @ self._scaled)
            np.einsum("bss->bs", rest)[...] += of_others
        if entries.below is not None:
            rest += entries.below
        if not np.isfinite(rest).all():
            self._inverse = np.full_like(rest, np.nan)
        else:
            self._inverse = _inverse_cholesky(rest) if self.blocks.narrow else np.linalg.inv(np.linalg.cholesky(rest))

    def apply(self, right: np.ndarray) -> np.ndarray:
        """Compute D^-1 right; one number a slot."""
        first, second = self._first(right[: self._n]), self._second(right[self._n :])
        scaled = first / self._first(self.single)
        if self.blocks.narrow:
            half = second - np.einsum("isb,ib->sb", self._scaled, first)
            half = np.einsum("stb,tb->sb", self._inverse, half)
            others = np.einsum("tsb,tb->sb", self._inverse, half)
            scaled = scaled - np.einsum("isb,sb->ib", self._scaled, others)
        else:
            half = second - (self._scaled.transpose(0, 2, 1) @ first[:, :, None])[:, :, 0]
            others = (self._inverse.transpose(0, 2, 1) @ (self._inverse @ half[:, :, None]))[:, :, 0]
            scaled = scaled - (self._scaled @ others[:, :, None])[:, :, 0]
        return np.concatenate([scaled.ravel(), others.ravel()])

    def _first(self, of_slot: np.ndarray) -> np.ndarray:
        n, width = self.blocks.n_blocks, self.blocks.n_single
        return of_slot.reshape((width, n) if self.blocks.narrow else (n, width))

    def _second(self, of_slot: np.ndarray) -> np.ndarray:
        n, width = self.blocks.n_blocks, self.blocks.n_others
        return of_slot.reshape((width, n) if self.blocks.narrow else (n, width))

    def halves(self, first: np.ndarray, second: np.ndarray, batch: slice) -> np.ndarray:
        """L^-1 (B2' - N' B1') for some blocks, so that E^-1 adds its square to B D^-1 B'.

        Parameters
        ----------
        first, second : ndarray, shape (blocks, single, columns) and (blocks, others, columns)
            B1' and B2'.
        batch : slice of int
            Which blocks these are.
        """
        scaled, inverse = self._of(batch)
        return inverse @ (second - scaled @ first)

    def solutions(self, first: np.ndarray, second: np.ndarray, batch: slice) -> tuple[np.ndarray, np.ndarray]:
        """D^-1 B' for some blocks, in two parts as B' is; see :meth:`halves` for the parameters."""
        scaled, inverse = self._of(batch)
        others = inverse.transpose(0, 2, 1) @ (inverse @ (second - scaled @ first))
        single = self._first(self.single)
        single = single[:, batch].T if self.blocks.narrow else single[batch]
        return first / single[:, :, None] - scaled.transpose(0, 2, 1) @ others, others

    def root(self, across: sp.csr_array) -> sp.csr_array:
        """The sparse V with V'V = B D^-1 B', for a sparse B' that has a row a slot; V has as many."""
        single, others = self.blocks.slots
        scaled, inverse = self._of(slice(0, self.blocks.n_blocks))
        first, second, own = across[: self._n], across[self._n :], others - self._n
        n = own.size
        half = second - _block_matrix(scaled, own, single, (n, self._n)) @ first
        halves = sp.diags_array(1 / np.sqrt(self.single)) @ first, _block_matrix(inverse, own, own, (n, n)) @ half
        return sp.csr_array(sp.vstack(halves, format="csr"))

    def _of(self, batch: slice) -> tuple[np.ndarray, np.ndarray]:
        """N' and L^-1 of some blocks, block after block."""
        if not self.blocks.narrow:
            return self._scaled[batch].transpose(0, 2, 1), self._inverse[batch]
        scaled, inverse = self._scaled[..., batch].transpose(2, 1, 0), self._inverse[..., batch].transpose(2, 0, 1)
        return np.ascontiguousarray(scaled), np.ascontiguousarray(inverse)


def _block_matrix(blocks: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """A sparse matrix of dense blocks, (blocks, height, width), whose rows and columns are given for every block."""
    row, column = (np.broadcast_to(one, blocks.shape).ravel() for one in (rows[:, :, None], columns[:, None, :]))
    return sp.csr_array((blocks.ravel(), (row, column)), shape=shape)


def _inverse_cholesky(matrices: np.ndarray) -> np.ndarray:
    """L^-1 of many small matrices L L', of shape (width, width, matrices), of which only the lower entries count.

    Raises
    ------
    numpy.linalg.LinAlgError
        If some matrix is not positive definite.
    """
    width, rest = len(matrices), matrices
    factor, inverse = np.zeros_like(matrices), np.zeros_like(matrices)
    for j in range(width):
        if (rest[j, j] <= 0).any():
            raise np.linalg.LinAlgError("not positive definite")
        column = rest[j:, j] / np.sqrt(rest[j, j])
        factor[j:, j] = column
        rest[j + 1 :, j + 1 :] -= column[1:, None] * column[None, 1:]
    for i in range(width):
        inverse[i, i] = 1 / factor[i, i]
        if i:
            inverse[i, :i] = -inverse[i, i] * np.einsum("jb,jkb->kb", factor[i, :i], inverse[:i, :i])
    return inverse
