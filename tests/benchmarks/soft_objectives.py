"""Entropy with soft terms in CVXPY, beside CLARABEL: ``python -m tests.benchmarks.soft_objectives``.

Each problem is an entropy of n probabilities less a cost of what k rows miss. The columns are those of
:mod:`.peers.comparing`.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd

from .peers.comparing import CLARABEL, Comparison, compare, parser

KINDS = ("norm1", "hinge", "max", "sum_squares", "huber", "conditional value at risk")


def problem(kind: str, n: int, k: int) -> cp.Problem:
    """An entropy and a soft term of a kind."""
    rng = np.random.default_rng(0)
    x, s, B, c = cp.Variable(n), cp.Variable(), rng.normal(size=(k, n)), rng.normal(size=n)
    at = rng.random(n)
    missed = B @ x - (B @ at / at.sum() + 0.1 * rng.normal(size=k))
    cost = {
        "norm1": 2 * cp.norm1(missed), "hinge": 3 * cp.sum(cp.pos(missed)), "max": 2 * cp.max(missed),
        "sum_squares": 5 * cp.sum_squares(missed), "huber": 5 * cp.sum(cp.huber(missed, 0.05)),
        "conditional value at risk": s + 2 * cp.sum(cp.pos(c - s)) / n,
    }[kind]  # fmt: skip
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(x)) - cost), [cp.sum(x) == 1])


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    options = parser(__doc__)
    options.add_argument("--n", type=int, nargs="+", default=[6, 50, 1000], help="probabilities")
    options.add_argument("--k", type=int, nargs="+", default=[3, 5, 20], help="rows of the soft term, for each n")
    args = options.parse_args(arguments)
    sizes = list(zip(args.n, args.k, strict=True))
    comparisons = [
        Comparison(kind, f"{n} x {k}", problem, (kind, n, k), (CLARABEL,)) for n, k in sizes for kind in KINDS
    ]
    return compare(comparisons, args.together)


if __name__ == "__main__":
    main()
