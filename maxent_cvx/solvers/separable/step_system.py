"""The linear system of a primal-dual step: of the rows alone, or of all variables where some have no entropy.

    D dy + M' dl = a,   P dv + N' dl = b,   M dy + N dv - W dl = e,

with diagonal D and W. Without v, dy is eliminated, and the structure of M is used (:mod:`.normal_matrix`); else the
sparse system is factored as it is.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.sparse as sp

from ..interior.kkt_system import KktSystem
from ..parameters.dual_methods import PRIMAL_DUAL
from ..parameters.tolerances import SEPARABLE
from .mixed_program import MixedProgram
from .normal_matrix import Solve

__all__ = ["StepSystem", "step_system"]

#: dy, dv and dl.
Parts = tuple[np.ndarray, np.ndarray, np.ndarray]


class StepSystem(Protocol):
    """Solves the system for one D and W after another."""

    def update(self, d: np.ndarray, w: np.ndarray) -> None:
        """Factor the system for D and W."""
        ...

    def solve(self, a: np.ndarray, b: np.ndarray, e: np.ndarray) -> Parts:
        """Solve for a right-hand side."""
        ...


def step_system(program: MixedProgram) -> StepSystem:
    """Choose a way by whether there are variables without entropy."""
    return _OfAll(program) if program.others.shape[1] else _OfRows(program)


class _OfRows:
    def __init__(self, program: MixedProgram) -> None:
        self.normal = program.terms.normal
        self.rows = np.arange(len(program.terms.right))
        self.x = np.empty(0)
        self.factored: Solve | None = None

    def update(self, d: np.ndarray, w: np.ndarray) -> None:
        self.x = 1 / d
        self.factored = self.normal.factor(self.x, self.rows, SEPARABLE.ridge, w)

    def solve(self, a: np.ndarray, b: np.ndarray, e: np.ndarray) -> Parts:
        assert self.factored is not None
        rows = self.factored(self.normal.matvec(self.x * a) - e)
        return self.x * (a - self.normal.rmatvec(rows)), b, rows


class _OfAll:
    def __init__(self, program: MixedProgram) -> None:
        n_terms, n_others = program.terms.matrix.shape[1], program.others.shape[1]
        P = sp.block_diag([sp.csc_array((n_terms, n_terms)), program.curvature], format="csc")
        A = sp.csc_array(sp.hstack([program.terms.matrix, program.others]))
        self.system = KktSystem(sp.csc_array(P), A, len(program.terms.right), PRIMAL_DUAL.ridge)
        self.n_terms, self.none = n_terms, np.zeros(n_others)

    def update(self, d: np.ndarray, w: np.ndarray) -> None:
        self.system.update(w, np.empty((0, 3, 3)), np.concatenate([d, self.none]))

    def solve(self, a: np.ndarray, b: np.ndarray, e: np.ndarray) -> Parts:
        found, rows = self.system.solve(np.concatenate([a, b]), e)
        return found[: self.n_terms], found[self.n_terms :], rows
