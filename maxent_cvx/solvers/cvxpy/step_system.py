"""The linear system of a primal-dual step: of the rows alone, or of all variables where some have no entropy.

    D dy + M' dl = a,   P dv + N' dl = b,   M dy + N dv - W dl = e,

with diagonal D and W. Without v, dy is eliminated, and the structure of M is used (:mod:`.normal_matrix`); else the
sparse system is factored as it is.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import qdldl
import scipy.sparse as sp

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
    """[D + P, B'; B, -W] of all variables, B = (M, N): factored with a ridge, which refinement takes away again."""

    def __init__(self, program: MixedProgram) -> None:
        n_terms, n_rows = program.terms.matrix.shape[1], len(program.terms.right)
        self.n_terms, self.n = n_terms, n_terms + program.others.shape[1]
        P = sp.block_diag([sp.csc_array((n_terms, n_terms)), program.curvature])
        B = sp.hstack([program.terms.matrix, program.others])
        self.constant = sp.csr_array(sp.block_array([[P, B.T], [B, None]]))
        self.sign = np.repeat([1.0, -1.0], [self.n, n_rows])
        # The diagonal is stored, last in its column of the upper triangle, also where it is 0.
        self.upper = sp.csc_matrix(sp.triu(self.constant + sp.eye_array(len(self.sign)), format="csc"))
        self.upper.sort_indices()
        self.at = self.upper.indptr[1:] - 1
        self.diagonal = np.zeros(len(self.sign))
        self.factor: qdldl.Solver | None = None

    def update(self, d: np.ndarray, w: np.ndarray) -> None:
        self.diagonal = np.concatenate([d, np.zeros(self.n - self.n_terms), -w])
        self.upper.data[self.at] = self.constant.diagonal() + self.diagonal + PRIMAL_DUAL.ridge * self.sign
        if self.factor is None:
            self.factor = qdldl.Solver(self.upper, upper=True)
        else:
            self.factor.update(self.upper, upper=True)

    def solve(self, a: np.ndarray, b: np.ndarray, e: np.ndarray) -> Parts:
        assert self.factor is not None
        right = np.concatenate([a, b, e])
        found, missing, best = np.zeros(len(right)), right, np.inf
        enough = PRIMAL_DUAL.refined * (1 + np.abs(right).max(initial=0.0))
        for _ in range(PRIMAL_DUAL.refinements):
            trial = found + self.factor.solve(missing)
            rest = right - self.constant @ trial - self.diagonal * trial
            off = float(np.abs(rest).max(initial=0.0))
            if not off < best:
                break
            found, missing, best = trial, rest, off
            if best <= enough:
                break
        return found[: self.n_terms], found[self.n_terms : self.n], found[self.n :]
