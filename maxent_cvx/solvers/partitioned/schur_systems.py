"""Newton systems of the partial dual: products with the Schur complement are sums over partitions, and so is it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..linear_algebra.block_factor import BlockFactor
from ..linear_algebra.block_system import BlockSystem
from ..linear_algebra.schur_factor import SchurFactor
from ..linear_algebra.schur_preconditioner import SchurComplement
from ..rows.sized import Sized
from .bucket_multipliers import BucketState
from .partial_dual import PartialDual, Weights
from .reduction import ReducedPart

__all__ = ["PartitionedFactor", "PartitionedSystems"]


class PartitionedSystems:
    """Solves S v = r at any x.

    Parameters
    ----------
    dual : PartialDual
        Whose partitions they are of, also after terms have been left out.
    may_form : bool
        Whether S may be formed.

    Attributes
    ----------
    products, formed : int
        Products with S so far, and how often S has been formed.
    schur : SchurComplement or None
        S as it was formed last.
    """

    def __init__(self, dual: PartialDual, *, may_form: bool = True) -> None:
        self.dual, self.executor, self.n_known, self.may_form = dual, dual.executor, dual.form.shape[0], may_form
        self.products = self.formed = 0
        self.schur: SchurComplement | None = None

    @cached_property
    def affordable_products(self) -> int:
        """How many products with S one solution may take before S is formed: the most that any partition affords."""
        return int(self.executor.reduce(max, self.executor.map(affordable_products, self.dual.parts)))

    def at(self, x: Weights, ridge: float, curvature: np.ndarray | None = None) -> PartitionedFactor:
        """Factor the blocks of all partitions at x."""
        factors = self.executor.map(factored, self.dual.parts, x.states, common=(x.floor, ridge))
        squares = self.executor.reduce(added, self.executor.map(squares_of, factors))
        return PartitionedFactor(self, factors, squares, ridge, curvature)


class PartitionedFactor(SchurFactor):
    """The Schur complement at one x."""

    def __init__(
        self,
        systems: PartitionedSystems,
        factors: Sequence[Any],
        squares: np.ndarray,
        ridge: float,
        curvature: np.ndarray | None,
    ) -> None:
        super().__init__(systems, squares if curvature is None else squares + curvature, ridge)
        self._executor, self.factors, self._curvature = systems.executor, factors, curvature

    def solve(self, gradient: np.ndarray, active: np.ndarray, tolerance: float = 1e-12) -> np.ndarray:
        """Solve for the active rows of knowledge; the direction of the others is 0."""
        direction = np.zeros(len(gradient))
        if len(active):
            direction[active] = self.solve_schur(gradient[active], active, tolerance)
        return direction

    def schur_product(self, v: np.ndarray, active: np.ndarray) -> np.ndarray:
        """S v over the active rows, added up over partitions."""
        products = self._executor.map(product_with, self.factors, common=(v, active))
        product: np.ndarray = self._executor.reduce(added, products)
        return product if self._curvature is None else product + self._curvature[active] * v

    def form_schur(self, active: np.ndarray) -> np.ndarray:
        """S over the active rows, added up over partitions."""
        formed = self._executor.map(schur_of, self.factors, common=(active,))
        schur: np.ndarray = self._executor.reduce(added, formed)
        if self._curvature is not None:
            schur[np.diag_indices_from(schur)] += self._curvature[active]
        return schur


def added(some: Sequence[np.ndarray]) -> np.ndarray:
    """The sum of arrays."""
    total = some[0].copy()
    for one in some[1:]:
        total += one
    return total


def affordable_products(part: ReducedPart) -> int:
    """How many products one partition affords."""
    return part.systems.affordable_products


class PartFactor(Sized, BlockFactor):
    """The blocks of one partition, factored."""


def factored(part: ReducedPart, state: BucketState, floor: float, ridge: float) -> PartFactor:
    """The blocks of one partition, factored."""
    systems: BlockSystem = part.systems
    return PartFactor(systems, np.maximum(state.counts, floor), ridge)


def squares_of(factor: BlockFactor) -> np.ndarray:
    """Its share of the diagonal of C."""
    return factor.squares


def product_with(factor: BlockFactor, v: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Its share of S v."""
    return factor.schur_product(v, active)


def schur_of(factor: BlockFactor, active: np.ndarray) -> np.ndarray:
    """Its share of S."""
    return factor.form_schur(active)
