"""Cones whose w is the constant 0, as entropies relative to 0 have them: rows take their place.

t <= u log(w / u) with w = 0 holds where u = 0 and t <= 0, and nowhere else, as kl_div(u, 0) is infinite for u > 0. The
cone itself has no interior there, which interior-point methods need.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from .cone_program import ConeProgram

__all__ = ["WithoutZeros", "without_zero_references"]


@dataclass(frozen=True, eq=False)
class WithoutZeros:
    """A program without such cones, and how its dual values are those of the program that it came from.

    Attributes
    ----------
    program : ConeProgram
    source : ndarray of int, one a row
        The row of the other program that it is.
    sign : ndarray, one a row
        1, or -1 of a row t <= 0, whose slack is -t.
    flat : ndarray of int
        The first row of each of the cones, in the other program.
    zeros : ndarray of int
        The columns that are 0, as the argument of such a cone is a multiple of one.
    """

    program: ConeProgram
    source: np.ndarray
    sign: np.ndarray
    flat: np.ndarray
    zeros: np.ndarray

    def restore(self, z: np.ndarray, dual: np.ndarray, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        """The solution, and the dual values of the other program: those of w, which is free, are the least in K*."""
        z, found = z.copy(), np.zeros(n_rows)
        z[self.zeros] = 0.0  # where a method that goes through the interior leaves 1e-17, of which kl_div is infinite
        found[self.source] = self.sign * dual
        p, q = found[self.flat], found[self.flat + 1]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            found[self.flat + 2] = np.where(p < 0, -p * np.exp(q / p - 1), 0.0)
        return z, found


def without_zero_references(program: ConeProgram) -> WithoutZeros | None:
    """Put u = 0 and t <= 0 in the place of cones with w = 0; None if there are none.

    Parameters
    ----------
    program : ConeProgram

    Returns
    -------
    WithoutZeros or None
    """
    of_w, w = program.triple(2)
    is_flat = (np.diff(of_w.indptr) == 0) & (w == 0)
    if not is_flat.any():
        return None
    first = program.linear.stop + 3 * np.arange(program.n_exp)
    flat, others = first[is_flat], first[~is_flat]
    kept = (others[:, None] + np.arange(3)).ravel()
    # The rows u = 0 come first: of several equations it is the first one by which a variable is eliminated.
    of_program = np.split(np.arange(program.linear.stop), [program.n_zero])
    source = np.concatenate([flat + 1, of_program[0], of_program[1], flat, kept])
    sign = np.ones(len(source))
    n_zero, n_nonneg = program.n_zero + len(flat), program.n_nonneg + len(flat)
    sign[n_zero + program.n_nonneg : n_zero + n_nonneg] = -1.0
    A = sp.csr_array(sp.diags_array(sign) @ program.A[source])
    smaller = replace(program, A=A, b=sign * program.b[source], n_zero=n_zero, n_nonneg=n_nonneg, n_exp=len(others))
    of_u, u = (part[is_flat] for part in program.triple(1))
    zeros = of_u.indices[of_u.indptr[:-1][(np.diff(of_u.indptr) == 1) & (u == 0)]]
    return WithoutZeros(smaller, source, sign, flat, zeros)
