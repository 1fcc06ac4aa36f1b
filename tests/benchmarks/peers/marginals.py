"""Distributions of given marginals beside private-pgm: ``python -m tests.benchmarks.peers.marginals``.

    chain   two-way marginals of neighbouring attributes: a tree, whose answer is a product in closed form
    loop    the same, and the marginal of the first and the last attribute
    pairs   every two-way marginal

The answer is the distribution of most entropy with these marginals. private-pgm's ``mle_from_marginals`` has the same
one as its optimum, and holds it as a product of factors, never as a table of all cells; it is run in double precision,
for --iterations steps of L-BFGS, and the table of all cells is made of its answer at the end. Every call is traced by
JAX anew, which is most of its time where tables are small. Fitting is that of :mod:`.fitting`. The columns are those of
:mod:`.comparing`.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd

from .comparing import CLARABEL, Comparison, Peer, compare, parser
from .fitting import fit, margin_rows, others

Cliques = tuple[tuple[int, int], ...]


def cliques(kind: str, k: int) -> Cliques:
    """The pairs of attributes whose marginals are given."""
    if kind == "pairs":
        return tuple((i, j) for i in range(k) for j in range(i + 1, k))
    chain = tuple((i, i + 1) for i in range(k - 1))
    return chain if kind == "chain" else (*chain, (0, k - 1))


def truth(k: int, n: int) -> np.ndarray:
    """A positive distribution over k attributes of n categories each."""
    weights = np.random.default_rng(0).gamma(0.5, size=(n,) * k) + 1e-3
    return weights / weights.sum()


def posed(k: int, n: int, pairs: Cliques, iterations: int) -> cp.Problem:
    """Maximise H(x), where x has the given marginals."""
    p = truth(k, n)
    x = cp.Variable(p.size)
    rows = margin_rows(p.shape, pairs)
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [rows @ x == rows @ p.ravel()])


def by_private_pgm(k: int, n: int, pairs: Cliques, iterations: int) -> np.ndarray:
    import jax

    jax.config.update("jax_enable_x64", True)
    import mbi

    names, p = [f"a{i}" for i in range(k)], truth(k, n)
    domain = mbi.Domain(names, (n,) * k)
    known = {tuple(names[i] for i in pair): p.sum(axis=others(k, pair)) for pair in pairs}
    factors = {clique: mbi.Factor(domain.project(clique), jax.numpy.asarray(value)) for clique, value in known.items()}
    result = mbi.estimation.mle_from_marginals(
        mbi.CliqueVector(domain, list(known), factors), known_total=1.0, iters=iterations
    )
    return np.asarray(result.project(tuple(names)).transpose(tuple(names)).datavector(flatten=True))


def by_fitting(k: int, n: int, pairs: Cliques, iterations: int) -> np.ndarray:
    """Iterative proportional fitting of the uniform table."""
    p = truth(k, n)
    return fit(np.full(p.shape, 1 / p.size), p, pairs).ravel()


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    options = parser(__doc__)
    options.add_argument("--attributes", type=int, nargs="+", default=[4, 5], help="how many there are")
    options.add_argument("--categories", type=int, nargs="+", default=[8, 10], help="of each, one number for each")
    options.add_argument("--iterations", type=int, default=250, help="steps of private-pgm's L-BFGS")
    options.add_argument("--clarabel", type=int, default=5_000, help="most cells of problems that CLARABEL is given")
    args = options.parse_args(arguments)
    pgm = Peer("private-pgm", by_private_pgm, "mbi", "git+https://github.com/ryan112358/private-pgm")
    fitting = Peer("fitting, NumPy", by_fitting)
    comparisons = []
    for k, n in zip(args.attributes, args.categories, strict=True):
        for kind in ("chain", "loop", "pairs"):
            given = (k, n, cliques(kind, k), args.iterations)
            conic = (CLARABEL,) if n**k <= args.clarabel else ()
            comparisons.append(Comparison(kind, f"{n}^{k} cells", posed, given, (pgm, fitting, *conic)))
    return compare(comparisons, args.together)


if __name__ == "__main__":
    main()
