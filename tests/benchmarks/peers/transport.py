"""Entropic optimal transport beside POT: ``python -m tests.benchmarks.peers.transport``.

    balanced     uniform margins, POT's Sinkhorn, in the logarithmic domain and not, until margins hold to 1e-9
    unbalanced   margins that may be missed at the cost of their divergence (POT's scaling, stabilized)
    partial      seven tenths of the mass, margins are upper bounds (POT's Bregman projections in logarithms)
    capacities   no entry above --capacity mean entries: POT has none, Dykstra's method in NumPy stands for the field

Costs are squared distances of random points of the unit square, the largest 1; the temperature is what multiplies the
entropy. The columns are those of :mod:`.comparing`. CLARABEL runs up to --clarabel rows.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd

from .comparing import CLARABEL, Comparison, Peer, compare, parser

#: The margins' error at which POT stops, and the change at which Dykstra's method does.
REACHED, STILL = 1e-9, 1e-13
#: Most sweeps of either, up to 100 rows and beyond.
SWEEPS = {True: 100_000, False: 2_000}
#: What missing a margin costs, in units of the largest transport cost, and the mass that is moved by partial transport.
MISSING, MOVED = 0.5, 0.7


def costs(n: int) -> np.ndarray:
    """Squared distances between random points of the unit square, of which the largest is 1."""
    rng = np.random.default_rng(0)
    first, last = rng.random((n, 2)), rng.random((n, 2))
    cost = ((first[:, None] - last[None]) ** 2).sum(axis=-1)
    return cost / cost.max()


def transport(n: int, temperature: float, capacity: float | None) -> cp.Problem:
    """Entropic transport between uniform margins, entries at most `capacity` times their mean."""
    x = cp.Variable((n, n))
    rows = [cp.sum(x, axis=1) == 1 / n, cp.sum(x, axis=0) == 1 / n]
    rows += [] if capacity is None else [x <= capacity / n**2]
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(costs(n), x)) - temperature * cp.sum(cp.entr(x))), rows)


def unbalanced(n: int, temperature: float) -> cp.Problem:
    """Minimise <C, X> + t sum (x log x - x) + r KL(X 1 | 1/n) + r KL(X' 1 | 1/n) (Chizat et al. 2018)."""
    x, margin = cp.Variable((n, n)), np.full(n, 1 / n)
    missed = cp.sum(cp.kl_div(cp.sum(x, axis=1), margin)) + cp.sum(cp.kl_div(cp.sum(x, axis=0), margin))
    entropic = -temperature * (cp.sum(cp.entr(x)) + cp.sum(x))
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(costs(n), x)) + entropic + MISSING * missed))


def partial(n: int, temperature: float) -> cp.Problem:
    """Margins of at most 1/n, and a given mass in all (Benamou et al. 2015, section 5.1)."""
    x = cp.Variable((n, n))
    rows = [cp.sum(x, axis=1) <= 1 / n, cp.sum(x, axis=0) <= 1 / n, cp.sum(x) == MOVED]
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(costs(n), x)) - temperature * cp.sum(cp.entr(x))), rows)


def pot_balanced(n: int, temperature: float, capacity: None) -> np.ndarray:
    import ot

    margin = np.full(n, 1 / n)
    return ot.bregman.sinkhorn_log(margin, margin, costs(n), temperature, numItermax=SWEEPS[n <= 100], stopThr=REACHED)


def pot_factors(n: int, temperature: float, capacity: None) -> np.ndarray:
    """As factors of rows and columns, without logarithms: fast, until they overflow."""
    import ot

    margin = np.full(n, 1 / n)
    return ot.sinkhorn(margin, margin, costs(n), temperature, numItermax=SWEEPS[n <= 100], stopThr=REACHED)


def pot_unbalanced(n: int, temperature: float) -> np.ndarray:
    import ot

    margin = np.full(n, 1 / n)
    return ot.unbalanced.sinkhorn_unbalanced(
        margin, margin, costs(n), temperature, MISSING, method="sinkhorn_stabilized", reg_type="kl",
        c=np.ones((n, n)), numItermax=SWEEPS[n <= 100], stopThr=1e-12,
    )  # fmt: skip


def pot_partial(n: int, temperature: float) -> np.ndarray:
    import ot

    margin = np.full(n, 1 / n)
    return ot.partial.entropic_partial_wasserstein(
        margin,
        margin,
        costs(n),
        temperature,
        m=MOVED,
        method="sinkhorn_log",
        numItermax=SWEEPS[n <= 100],
        stopThr=1e-12,
    )


def dykstra(n: int, temperature: float, capacity: float) -> np.ndarray:
    """Bregman projections on either margin and on the capacities, with Dykstra's correction of the last."""
    x, most, correction = np.exp(-costs(n) / temperature), capacity / n**2, 1.0
    for _ in range(SWEEPS[n <= 100]):
        before = x
        x = x / (n * x.sum(axis=1, keepdims=True))
        x = x / (n * x.sum(axis=0)) * correction
        x, correction = np.minimum(x, most), np.maximum(x / most, 1.0)
        if np.abs(x - before).max() <= STILL:
            break
    return x


POT = {"module": "ot", "install": "pot"}


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    options = parser(__doc__)
    options.add_argument("--n", type=int, nargs="+", default=[100, 1000], help="rows and columns")
    options.add_argument("--temperatures", type=float, nargs="+", default=[0.1, 0.01, 0.001])
    options.add_argument("--kinds", nargs="+", default=["balanced", "unbalanced", "partial", "capacities"])
    options.add_argument("--capacity", type=float, default=3.3)
    options.add_argument("--clarabel", type=int, default=100, help="largest problem that CLARABEL is asked for")
    args = options.parse_args(arguments)
    comparisons = []
    for n in args.n:
        conic = (CLARABEL,) if n <= args.clarabel else ()
        for t in args.temperatures:
            kinds = {
                "balanced": (transport, (n, t, None), Peer("POT, sinkhorn_log", pot_balanced, **POT),
                             Peer("POT, sinkhorn", pot_factors, **POT)),
                "unbalanced": (unbalanced, (n, t), Peer("POT, sinkhorn_stabilized", pot_unbalanced, **POT)),
                "partial": (partial, (n, t), Peer("POT, entropic_partial", pot_partial, **POT)),
                "capacities": (transport, (n, t, args.capacity), Peer("Dykstra, NumPy", dykstra)),
            }  # fmt: skip
            for kind in args.kinds:
                posed, given, *peers = kinds[kind]
                comparisons.append(Comparison(kind, f"{n} x {n}, t = {t:g}", posed, given, (*peers, *conic)))
    return compare(comparisons, args.together)


if __name__ == "__main__":
    main()
