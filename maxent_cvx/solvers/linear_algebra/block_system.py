"""Newton systems by block elimination: the buckets by dense factors, the knowledge by conjugate gradients.

The Hessian of the dual function is H = A diag(x) A'. Published rows of different buckets share no term. With the
published rows P first and the rows of knowledge K last,

    H = [ D  B' ]     D = P diag(x) P', block-diagonal, a block a bucket (:mod:`.bucket_inverse`),
        [ B  C  ]     B = K diag(x) P',  C = K diag(x) K',
                      S = C - B D^-1 B', the Schur complement, a row for each row of knowledge.

A soft row adds the second derivative of its conjugate to its diagonal element of C.

A product with S takes a few passes over the terms; forming S costs up to hundreds of times as much. Conjugate gradients
therefore solve S v = r without S, as long as that takes few products. When it takes too many, S is formed and factored.
It then preconditions the systems at later x, until these take too many products in turn (:mod:`.block_factor`).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..parameters.size_limits import NEWTON_COSTS
from ..program.linear_form import LinearForm
from .block_factor import BlockFactor
from .schur_complement import forming_cost
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
        indices = self.bucket_blocks.rows.indices
        self.class_of_entry = self.known.of_term.astype(indices.dtype, copy=False)[indices]
        self.products = self.formed = 0
        self.schur, self.may_form = schur, may_form

    @cached_property
    def affordable_products(self) -> int:
        """How many products with S one solution may take before S is formed: a share of what that costs.

        Costs are in multiplications of a dense product; a product with S is bound by memory.
        """
        k, terms, cost = self.n_known, len(self.known.of_term), NEWTON_COSTS
        forming = forming_cost(self.bucket_blocks, self.known.distinct, self.bucket_blocks.rows) + k**3
        product = cost.per_term * terms + cost.per_entry * self.known.distinct.nnz + cost.per_pair * k**2
        return int(np.clip(cost.forming_share * forming / product, cost.least_products, cost.most_products))

    def at(self, x: np.ndarray, ridge: float, curvature: np.ndarray | None = None) -> BlockFactor:
        """Factor the blocks at x.

        Parameters
        ----------
        x : ndarray, one a term
        ridge : float
            Relative to the diagonal, which is raised by it: one published row a bucket is redundant (Privacy-MaxEnt,
            Theorem 3), and rows of knowledge may be.
        curvature : ndarray, one a row of knowledge, optional
            What is added to the diagonal of C.
        """
        return BlockFactor(self, x, ridge, curvature)
