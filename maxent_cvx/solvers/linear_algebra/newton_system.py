"""The choice of a method for the Newton systems of one problem: block elimination, or a sparse factor."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..parameters.size_limits import NEWTON_COSTS
from ..program.linear_form import LinearForm
from .block_system import BlockSystem
from .schur_preconditioner import SchurComplement
from .sparse_system import SparseSystem

__all__ = ["Factor", "System", "newton_system"]


class Factor(Protocol):
    """A diag(x) A' at one x, factored."""

    def solve(self, gradient: np.ndarray, active: np.ndarray, tolerance: float = 1e-12) -> np.ndarray:
        """Solve for the published rows and the active rows of knowledge; the direction of the others is 0."""
        ...


class System(Protocol):
    """Solves A diag(x) A' d = gradient for any x.

    Attributes
    ----------
    products : int
        Products with the Schur complement in conjugate gradients so far; 0 where the system is solved directly.
    schur : SchurComplement or None
        The Schur complement that preconditions them.
    """

    products: int
    schur: SchurComplement | None

    def at(self, x: Any, ridge: float, curvature: np.ndarray | None = None) -> Factor:
        """The system at one x, its diagonal raised by a relative ridge and, of knowledge, by the curvature given.

        x is what :meth:`..dual.dual.Dual.weights` gives, an array unless the problem is in partitions.
        """
        ...


def newton_system(form: LinearForm, schur: SchurComplement | None = None, *, may_form: bool = True) -> System:
    """Choose block elimination with dense blocks, unless the blocks are large: then a sparse factor.

    Parameters
    ----------
    form : LinearForm
    schur : SchurComplement, optional
        A Schur complement of nearly the same problem.
    may_form : bool
        Whether one may be formed; if not, a solution can be less precise than asked for.
    """
    blocks = BlockSystem(form, schur, may_form=may_form)
    buckets = blocks.bucket_blocks
    is_small = buckets.cost <= NEWTON_COSTS.most_multiplications and buckets.n_entries <= NEWTON_COSTS.most_entries
    return blocks if is_small else SparseSystem(form)
