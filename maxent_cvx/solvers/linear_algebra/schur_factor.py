"""The Schur complement of the knowledge at one x: solved by conjugate gradients, formed once these take too long."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np

from ..parameters.size_limits import NEWTON_COSTS
from .conjugate_gradients import conjugate_gradients
from .schur_preconditioner import SchurComplement

__all__ = ["SchurFactor", "Systems"]


class Systems(Protocol):
    """What the systems at all x have in common.

    Attributes
    ----------
    n_known : int
        Rows of knowledge.
    products, formed : int
        Products with S so far, and how often S has been formed.
    schur : SchurComplement or None
        S as it was formed last.
    may_form : bool
        Whether S may be formed.
    """

    n_known: int
    products: int
    formed: int
    schur: SchurComplement | None
    may_form: bool

    @property
    def affordable_products(self) -> int:
        """How many products with S one solution may take before S is formed."""
        ...


class SchurFactor(ABC):
    """Solves S v = r at one x.

    Parameters
    ----------
    systems : Systems
        It counts the products, and keeps the Schur complement that was formed last.
    squares : ndarray, one a row of knowledge
        The diagonal of C = K diag(x) K'.
    ridge : float
        Relative to the diagonal, which is raised by it.
    """

    def __init__(self, systems: Systems, squares: np.ndarray, ridge: float) -> None:
        self._systems, self.squares, self._ridge = systems, squares, ridge

    @abstractmethod
    def schur_product(self, v: np.ndarray, active: np.ndarray) -> np.ndarray:
        """S v over the active rows."""

    @abstractmethod
    def form_schur(self, active: np.ndarray) -> np.ndarray:
        """S over the active rows."""

    def solve_schur(self, right: np.ndarray, active: np.ndarray, tolerance: float) -> np.ndarray:
        """Solve S v = right; S is formed if that takes more products than are affordable."""
        systems = self._systems
        empty = self.squares[active] == 0  # a row whose terms are all zero: its multiplier does not move
        right, scale = np.where(empty, 0.0, right), np.where(empty, 1.0, self.squares[active])
        raised = self._ridge * scale

        def product(v: np.ndarray) -> np.ndarray:
            return self.schur_product(v, active) + raised * v

        if systems.n_known > NEWTON_COSTS.most_dense:
            return self._conjugate(product, right, scale.__rtruediv__, tolerance, NEWTON_COSTS.most_products)[0]
        precondition = systems.schur.precondition(active, scale, self._ridge) if systems.schur else scale.__rtruediv__
        found, converged = self._conjugate(product, right, precondition, tolerance, systems.affordable_products)
        if converged or not systems.may_form:
            return found
        systems.schur = SchurComplement(self.form_schur(active), active)
        systems.formed += 1
        precondition = systems.schur.precondition(active, scale, self._ridge)
        return self._conjugate(product, right, precondition, tolerance, NEWTON_COSTS.most_after_forming, found)[0]

    def _conjugate(self, *problem: Any) -> tuple[np.ndarray, bool]:
        """Solve by conjugate gradients, and count the products."""
        solution, products, converged = conjugate_gradients(*problem)
        self._systems.products += products
        return solution, converged
