"""Newton systems by blocks: the buckets are eliminated all at once, the knowledge is solved densely.

The Hessian of the dual is H = A diag(x) A'. Published rows of different buckets share no term, so
that with the knowledge rows last

    H = [ D  B' ]     D = block-diagonal, a block of at most a few dozen rows a bucket,
        [ B  C  ]     S = C - B D^-1 B', the Schur complement, a row a piece of knowledge.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..tables import ranges
from .linear_form import LinearForm, parts

__all__ = ["BlockSystem"]

#: Diagonal that a row whose terms have all vanished is given instead of zero.
SMALLEST = 1e-12
#: Doubles that one batch of buckets may hold at a time.
BATCH = 4_000_000


class BlockSystem:
    """Solves H d = g for any x, with the blocks of one linear form found once.

    Published rows are laid out in slots: block by block, every block padded to the largest one's size.
    """

    def __init__(self, form: LinearForm) -> None:
        n = form.n_published
        block_of_row = parts(form.matrix[:n])[0]
        used, block = np.unique(block_of_row, return_inverse=True)
        order = np.argsort(block, kind="stable")
        size = np.bincount(block, minlength=len(used))
        first = np.cumsum(size) - size
        self.n_blocks, self.width = len(used), int(size.max(initial=0))
        self.slot = np.empty(n, dtype=np.int64)
        self.slot[order] = block[order] * self.width + np.arange(n) - first[block[order]]
        published = form.matrix[:n].tocoo()
        shape = (self.n_blocks * self.width, form.shape[1])
        self.published = sp.csr_array((published.data, (self.slot[published.row], published.col)), shape=shape)
        self.knowledge = form.matrix[n:]
        padding = np.ones(shape[0])
        padding[self.slot] = 0.0
        self.padding = padding.reshape(self.n_blocks, self.width)
        self._pair_up()
        self._known_at = np.empty(0, dtype=np.int64)

    @property
    def cost(self) -> float:
        """Multiplications that one system takes, about."""
        k = self.knowledge.shape[0]
        return self.n_blocks * self.width * (self.width**2 + self.width * k + k**2) + k**3

    def _pair_up(self) -> None:
        """Find where the product of each two entries of a term lands in the blocks."""
        by_term = self.published.tocsc()
        width = np.diff(by_term.indptr)
        partners = np.repeat(width, width)  # of each entry: how many entries its term has
        i = np.repeat(np.arange(by_term.nnz), partners)
        j = ranges(np.repeat(by_term.indptr[:-1], width), partners)
        self._term = np.repeat(np.repeat(np.arange(len(width)), width), partners)
        self._product = by_term.data[i] * by_term.data[j]
        self._cell = by_term.indices[i].astype(np.int64) * self.width + by_term.indices[j] % self.width

    def _known(self, active: np.ndarray) -> tuple[sp.csr_array, sp.csr_array, np.ndarray]:
        """Take the active knowledge rows, by row and by term, and each entry's term; kept until others are active."""
        if not (self._known_at.size and np.array_equal(active, self._known_at)):
            known = self.knowledge[active]
            by_term = sp.csr_array(known.T)
            self._known_at = active
            self._known_rows = known, by_term, np.repeat(np.arange(by_term.shape[0]), np.diff(by_term.indptr))
        return self._known_rows

    def factor(self, x: np.ndarray, active: np.ndarray, ridge: float) -> Callable[[np.ndarray], np.ndarray]:
        """Factor H over the published rows and the knowledge rows that are active.

        Parameters
        ----------
        x : ndarray, one a term
        active : ndarray of int
            Which knowledge rows take part; the others get 0.
        ridge : float
            By what share the diagonal is raised: one row a bucket is redundant (Privacy-MaxEnt,
            Theorem 3), and knowledge may be.

        Returns
        -------
        callable
            Solves H d = gradient; both have an entry a row.
        """
        inverse = self._factor_blocks(x, ridge)
        known, by_term, term = self._known(active)
        weighted = sp.csr_array((by_term.data * x[term], by_term.indices, by_term.indptr), shape=by_term.shape)
        across = self.published @ weighted  # B', a row a slot
        schur = (known @ weighted).toarray()
        own = schur.diagonal().copy()
        m, k = self.width, len(active)
        step = max(1, BATCH // max(m * k, 1))
        for lo in range(0, self.n_blocks if k else 0, step):
            hi = min(lo + step, self.n_blocks)
            v = (inverse[lo:hi] @ across[lo * m : hi * m].toarray().reshape(hi - lo, m, k)).reshape(-1, k)
            schur -= v.T @ v
        corner = _factor_dense(schur, ridge * own)
        n = len(self.slot)

        def through_blocks(right: np.ndarray) -> np.ndarray:
            y = inverse @ right.reshape(self.n_blocks, m, 1)
            return (inverse.transpose(0, 2, 1) @ y).ravel()

        def solve(gradient: np.ndarray) -> np.ndarray:
            right = np.zeros(self.n_blocks * m)
            right[self.slot] = gradient[:n]
            alone = through_blocks(right)
            found = corner(gradient[n + active] - across.T @ alone)
            direction = np.zeros(len(gradient))
            direction[:n] = (alone - through_blocks(across @ found))[self.slot]
            direction[n + active] = found
            return direction

        return solve

    def _factor_blocks(self, x: np.ndarray, ridge: float) -> np.ndarray:
        """Invert the Cholesky factors of all blocks, shape (blocks, width, width)."""
        cells = np.bincount(self._cell, self._product * x[self._term], self.n_blocks * self.width**2)
        cells = cells.astype(float, copy=False)  # NumPy counts nothing in whole numbers, whatever its weight
        blocks = cells.reshape(self.n_blocks, self.width, self.width)
        diagonal = np.einsum("bii->bi", blocks)  # a view: writing to it writes to the blocks
        diagonal += ridge * np.maximum(diagonal, SMALLEST) + self.padding
        try:
            return np.linalg.inv(np.linalg.cholesky(blocks))
        except np.linalg.LinAlgError:  # rounding was larger than the ridge
            return self._factor_blocks(x, 100 * ridge)


def _factor_dense(schur: np.ndarray, ridge: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Factor the Schur complement; a row that the others imply has none of its diagonal left, but for the ridge."""
    if not len(ridge):
        return lambda aim: aim
    schur[np.diag_indices_from(schur)] += np.maximum(ridge, 1e-25)
    try:
        factor = scipy.linalg.cho_factor(schur)
    except np.linalg.LinAlgError:
        return lambda aim: scipy.linalg.lstsq(schur, aim, cond=1e-13)[0]
    return lambda aim: scipy.linalg.cho_solve(factor, aim)
