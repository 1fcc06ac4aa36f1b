"""Tables that are fitted to margins: ``python -m tests.benchmarks.peers.fitting``.

    raking      a survey table fitted to new margins of rows and columns (Deming and Stephan 1940), half of it empty
    three-way   a table with all three two-way margins given, for which there is no closed form
    stochastic  a non-negative matrix scaled to rows and columns that sum to 1 (Sinkhorn and Knopp 1967)
    balancing   a matrix of flows changed least, in divergence, so that every row sums to its column (Schneider 1990)

The first three are iterative proportional fitting, in a few lines of NumPy until no entry changes by 1e-13, and by
ipfn; the last is Schneider and Zenios's scaling of one row and column after the other. The columns are those of
:mod:`.comparing`.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stdout

import cvxpy as cp
import numpy as np
import pandas as pd
import scipy.sparse as sp

from .comparing import CLARABEL, Comparison, Peer, compare, parser

#: The change of an entry, relative to the largest, at which fitting stops, and the most rounds.
STILL, ROUNDS = 1e-13, 20_000
#: The share of cells that are zero, and stay so.
EMPTY = 0.5


def seed_table(shape: Sequence[int], empty: float) -> tuple[np.ndarray, np.ndarray]:
    """A table to begin from, and one with the same empty cells, whose margins are to be met; sums are 1."""
    rng = np.random.default_rng(0)
    begin, truth = rng.gamma(0.5, size=shape) + 1e-3, rng.gamma(0.5, size=shape) + 1e-3
    kept = rng.random(shape) >= empty
    return begin * kept / (begin * kept).sum(), truth * kept / (truth * kept).sum()


def sums_over(shape: Sequence[int], axes: Sequence[int]) -> sp.csr_array:
    """The 0/1 matrix that sums a flattened table over some axes."""
    left = [n for axis, n in enumerate(shape) if axis not in axes]
    index = np.arange(int(np.prod(left))).reshape([1 if a in axes else n for a, n in enumerate(shape)])
    rows = np.broadcast_to(index, shape).ravel()
    return sp.csr_array((np.ones(rows.size), (rows, np.arange(rows.size))), shape=(index.size, rows.size))


def others(n_axes: int, margin: tuple[int, ...]) -> tuple[int, ...]:
    """The axes that a margin sums over."""
    return tuple(axis for axis in range(n_axes) if axis not in margin)


def margin_rows(shape: Sequence[int], margins: Sequence[tuple[int, ...]]) -> sp.csr_array:
    """The 0/1 matrix of some margins of a flattened table."""
    return sp.vstack([sums_over(shape, others(len(shape), margin)) for margin in margins], format="csr")


def fit(x: np.ndarray, truth: np.ndarray, margins: Sequence[tuple[int, ...]]) -> np.ndarray:
    """Iterative proportional fitting of a table to margins of another one."""
    over = [others(x.ndim, margin) for margin in margins]
    for _ in range(ROUNDS):
        before = x
        for axes in over:
            sums = x.sum(axis=axes, keepdims=True)
            x = x * np.divide(truth.sum(axis=axes, keepdims=True), sums, out=np.zeros_like(sums), where=sums > 0)
        if np.abs(x - before).max() <= STILL * x.max():
            break
    return x


def fitted(shape: Sequence[int], kept: Sequence[tuple[int, ...]], empty: float) -> cp.Problem:
    """Minimise KL(x | begin), where x has the margins of the truth over the kept axes; empty cells are no variables."""
    begin, truth = (table.ravel() for table in seed_table(shape, empty))
    cells = begin > 0
    x = cp.Variable(int(cells.sum()))
    rows = margin_rows(shape, kept)[:, np.flatnonzero(cells)]
    return cp.Problem(cp.Minimize(cp.sum(cp.kl_div(x, begin[cells]))), [rows @ x == rows @ truth[cells]])


def by_fitting(shape: Sequence[int], kept: Sequence[tuple[int, ...]], empty: float) -> np.ndarray:
    begin, truth = seed_table(shape, empty)
    return fit(begin, truth, kept)[begin > 0]


def by_ipfn(shape: Sequence[int], kept: Sequence[tuple[int, ...]], empty: float) -> np.ndarray:
    from ipfn import ipfn

    begin, truth = seed_table(shape, empty)
    margins = [truth.sum(axis=others(len(shape), margin)) for margin in kept]
    axes = [list(margin) for margin in kept]
    fitting = ipfn.ipfn(begin.copy(), margins, axes, convergence_rate=1e-12, max_iteration=2000)
    with redirect_stdout(io.StringIO()):  # it prints that it has converged
        return fitting.iteration()[begin > 0]


def stochastic(n: int) -> cp.Problem:
    """Minimise KL(x | begin) with every row and column sum 1."""
    x = cp.Variable((n, n))
    rows = [cp.sum(x, axis=1) == 1, cp.sum(x, axis=0) == 1]
    return cp.Problem(cp.Minimize(cp.sum(cp.kl_div(x, seed_table((n, n), 0.0)[0]))), rows)


def by_knopp(n: int) -> np.ndarray:
    """Sinkhorn and Knopp's method: rows and columns are scaled in turn."""
    a = seed_table((n, n), 0.0)[0]
    rows = np.ones(n)
    for _ in range(ROUNDS):
        columns = 1 / (rows @ a)
        rows, before = 1 / (a @ columns), rows
        if np.abs(rows / before - 1).max() <= STILL:
            break
    return rows[:, None] * a * columns


def balancing(n: int) -> cp.Problem:
    """Minimise KL(x | begin) where what flows into each place flows out again; empty cells are no variables."""
    begin = seed_table((n, n), EMPTY)[0].ravel()
    cells = np.flatnonzero(begin)
    x = cp.Variable(len(cells))
    flows = (sums_over((n, n), (1,)) - sums_over((n, n), (0,)))[:, cells]
    return cp.Problem(cp.Minimize(cp.sum(cp.kl_div(x, begin[cells]))), [flows @ x == 0])


def by_schneider(n: int) -> np.ndarray:
    """Scale one row by a factor and its column by the inverse, so that they sum to the same, in turn."""
    x = seed_table((n, n), EMPTY)[0].copy()
    for _ in range(ROUNDS):
        worst = 1.0
        for i in range(n):
            factor = np.sqrt((x[:, i].sum() - x[i, i]) / (x[i].sum() - x[i, i]))
            x[i] *= factor
            x[:, i] /= factor
            worst = max(worst, factor, 1 / factor)
        if worst - 1 <= STILL:
            break
    return x[x > 0]


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    options = parser(__doc__)
    options.add_argument("--n", type=int, nargs="+", default=[100, 500], help="rows and columns of matrices")
    options.add_argument("--three-way", type=int, nargs="+", default=[10, 30], help="categories of each of three axes")
    options.add_argument("--clarabel", type=int, default=30_000, help="most cells of problems that CLARABEL is given")
    args = options.parse_args(arguments)
    comparisons = []
    ipf, ipfn = Peer("fitting, NumPy", by_fitting), Peer("ipfn", by_ipfn, "ipfn", "ipfn")
    for n in args.n:
        conic = (CLARABEL,) if n**2 <= args.clarabel else ()
        margins = ((n, n), ((0,), (1,)), EMPTY)
        size = f"{n} x {n}"
        comparisons += [
            Comparison("raking", size, fitted, margins, (ipf, ipfn, *conic)),
            Comparison("stochastic", size, stochastic, (n,), (Peer("Sinkhorn and Knopp, NumPy", by_knopp), *conic)),
            Comparison("balancing", size, balancing, (n,), (Peer("Schneider and Zenios", by_schneider), *conic)),
        ]
    for n in args.three_way:
        conic = (CLARABEL,) if n**3 <= args.clarabel else ()
        margins = ((n, n, n), ((0, 1), (1, 2), (0, 2)), 0.0)
        comparisons.append(Comparison("three-way", f"{n} x {n} x {n}", fitted, margins, (ipf, ipfn, *conic)))
    return compare(comparisons, args.together)


if __name__ == "__main__":
    main()
