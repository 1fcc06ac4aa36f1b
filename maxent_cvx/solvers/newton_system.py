"""The choice of how to solve the Newton systems of one problem."""

from __future__ import annotations

from .block_system import BlockSystem
from .linear_form import LinearForm
from .sparse_system import SparseSystem

__all__ = ["newton_system"]

#: Multiplications a system from which on a sparse factor is taken instead of dense blocks.
DENSE_COST = 2e11


def newton_system(form: LinearForm) -> BlockSystem | SparseSystem:
    """Eliminate the buckets as dense blocks, unless they are large or the knowledge is: then factor sparsely."""
    blocks = BlockSystem(form)
    return blocks if blocks.cost <= DENSE_COST else SparseSystem(form)
