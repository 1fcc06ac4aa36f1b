"""Every public plot, of few things and of many, with short names and with long ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

import maxent_cvx as mx
from maxent_cvx import plots

from .posteriors import made

__all__ = ["PICTURES"]

#: A name that is longer than any picture is wide, with what Matplotlib would take for a formula.
LONG = "whoever lives in the third district and was born before the year 1950, or has paid $5_ or $6^ since then"


def _names(kind: str, n: int) -> list[str]:
    """Names of n things, short or long."""
    return [f"{LONG} ({i})" if kind == "long" else f"{kind} {i}" for i in range(n)]


def _post(rows: int, values: int, kind: str = "v") -> mx.Posterior:
    """A posterior of so many QI tuples and sensitive values."""
    share = np.random.default_rng(1).dirichlet(np.ones(values), rows)
    post, _ = made(share.tolist(), [max(4, values)] * rows)
    if kind == "v":
        return post
    counts = np.full((rows, values), 2)
    table = pd.DataFrame(
        [
            (q, s)
            for i, q in enumerate(_names(kind, rows))
            for j, s in enumerate(_names(kind, values))
            for _ in range(counts[i, j])
        ],
        columns=["a quasi-identifier with a rather long name", "a sensitive attribute with a rather long name"],
    ).assign(B=0)
    qi, sa = table.columns[:2]
    return mx.MaxEnt(mx.Release.from_buckets(table, qi=qi, sa=sa, bucket="B")).solve()


def _prices(kind: str, n: int) -> pd.DataFrame:
    price = np.linspace(2, -2, n) if n > 1 else np.array([1.0])
    table = pd.DataFrame({"side": "=", "price": price}, index=pd.Index(_names(kind, n), name="statement"))
    if n > 1:
        table.iloc[0, 1] = np.inf
    return table


def _sweep(n: int) -> pd.DataFrame:
    eps = np.linspace(0, 0.5, 21)
    return pd.DataFrame(
        [(v, e, "", 0.9 * v + e / 3, 2 + v * e) for v in np.linspace(0, 1, n) for e in eps],
        columns=["value", "eps", "message", "probability", "entropy"],
    )


def _quantification(kind: str, n: int) -> dict[str, pd.DataFrame]:
    k = np.arange(0, 200, 20)
    return {
        name: pd.DataFrame({"K+": k, "K-": k, "score": 3 * np.exp(-k / (50 + 20 * i)) + 0.1 * i})
        for i, name in enumerate(_names(kind, n))
    }


def _solvers(kind: str, n: int) -> pd.DataFrame:
    draw = np.random.default_rng(2)
    table = pd.DataFrame(
        {
            "bound": 10.0 ** draw.uniform(-12, -3, n),
            "certified": True,
            "seconds": 10.0 ** draw.uniform(-3, 2, n),
            "word": "optimal",
        },
        index=_names(kind, n),
    )
    table["certified"] = table["bound"] < 1e-4
    if n > 1:
        table.iloc[-1, [0, 3]] = [np.nan, "no answer within the time limit"]
    return table


def _profile(kind: str, n: int, largest: float = 40.0) -> pd.DataFrame:
    tau = np.geomspace(1, largest, 8)
    return pd.DataFrame(
        [
            (name, t, min(1.0, (i + 1) / n * 0.4 + 0.6 * np.log(t) / np.log(largest)))
            for i, name in enumerate(_names(kind, n)) for t in tau
        ],
        columns=["solver", "tau", "fraction"],
    )  # fmt: skip


def _equivocation(kind: str, n: int) -> dict[str, mx.measures.Equivocation]:
    return {
        name: mx.measures.equivocation([50 + i, 80, 90 + 3 * i, 140], [0.25] * 4)
        for i, name in enumerate(_names(kind, n))
    }


def _tables(kind: str, n: int) -> dict[str, pd.DataFrame]:
    draw = np.random.default_rng(3)
    return {name: pd.DataFrame(draw.dirichlet(np.full(4, 1 / (i + 1)), 50)) for i, name in enumerate(_names(kind, n))}


def _worst(kind: str, n: int) -> dict[str, pd.DataFrame]:
    k = np.arange(6)
    return {
        name: pd.DataFrame({"k": k, "disclosure": np.minimum(1, 0.2 + (k + 1) * (0.8 - i / n) / 5)})
        for i, name in enumerate(_names(kind, n))
    }


def _roc(kind: str, n: int) -> pd.DataFrame:
    x = np.linspace(0, 1, 40)
    return pd.concat(
        pd.DataFrame({"group": name, "threshold": 1 - x, "false_positive": x, "true_positive": x ** (1 / (1 + i))})
        for i, name in enumerate(_names(kind, n))
    )


def _channels(kind: str, n: int) -> pd.DataFrame:
    draw = np.random.default_rng(4)
    return pd.DataFrame(
        {"person": _names(kind, n), "value": "Flu", "release": 1, "alone": draw.random(n), "together": draw.random(n)}
    )


def _bounds(kind: str, n: int) -> tuple[pd.DataFrame, pd.Series]:
    ends = np.sort(np.random.default_rng(5).random((n, 3)), axis=1)
    table = pd.DataFrame(ends[:, [0, 2]], columns=["low", "high"], index=_names(kind, n))
    return table, pd.Series(ends[:, 1], index=table.index)


def _releases(kind: str, n: int) -> pd.DataFrame:
    draw = np.random.default_rng(6).random((n, 2))
    return pd.DataFrame(draw, columns=["risk", "utility"], index=_names(kind, n))


def _two(values: int) -> tuple[mx.Posterior, mx.Posterior]:
    """Two posteriors that differ."""
    draw = np.random.default_rng(7)
    first, second = (made(draw.dirichlet(np.ones(values), 2).tolist(), [values] * 2)[0] for _ in range(2))
    return first, second


#: Plots by what they show: of few things, of many, with long names.
PICTURES: dict[str, Callable[[], Axes]] = {
    "posterior, 2 x 2": lambda: plots.posterior(_post(2, 2)),
    "posterior, 1 x 1": lambda: plots.posterior(_post(1, 1)),
    "posterior, 100 x 14": lambda: plots.posterior(_post(100, 14)),
    "posterior, 6 x 60": lambda: plots.posterior(_post(6, 60)),
    "posterior, long names": lambda: plots.posterior(_post(3, 2, "long")),
    "prices, 1": lambda: plots.prices(_prices("P(s) = ", 1)),
    "prices, 60": lambda: plots.prices(_prices("P(s) = ", 60)),
    "prices, long names": lambda: plots.prices(_prices("long", 3)),
    "sweep, 1": lambda: plots.sweep(_sweep(1)),
    "sweep, 4": lambda: plots.sweep(_sweep(4)),
    "sweep, 15": lambda: plots.sweep(_sweep(15), "entropy"),
    "quantification, 1": lambda: plots.quantification(_quantification("T =", 1)),
    "quantification, 7": lambda: plots.quantification(_quantification("T =", 7)),
    "quantification, 20": lambda: plots.quantification(_quantification("T =", 20)),
    "quantification, long names": lambda: plots.quantification(_quantification("long", 4)),
    "solver_comparison, 1": lambda: plots.solver_comparison(_solvers("SOLVER", 1)),
    "solver_comparison, 9": lambda: plots.solver_comparison(_solvers("SOLVER", 9)),
    "solver_comparison, long names": lambda: plots.solver_comparison(_solvers("long", 4)),
    "performance_profile, 2": lambda: plots.performance_profile(_profile("SOLVER", 2, 3.0)),
    "performance_profile, 10": lambda: plots.performance_profile(_profile("SOLVER", 10)),
    "performance_profile, long names": lambda: plots.performance_profile(_profile("long", 4)),
    "equivocation, 1": lambda: plots.equivocation(_equivocation("v", 1)),
    "equivocation, 8": lambda: plots.equivocation(_equivocation("v", 8)),
    "equivocation, long names": lambda: plots.equivocation(_equivocation("long", 3)),
    "likeliest_values, 1": lambda: plots.likeliest_values(_tables("t", 1)),
    "likeliest_values, 9": lambda: plots.likeliest_values(_tables("t", 9)),
    "likeliest_values, long names": lambda: plots.likeliest_values(_tables("long", 3)),
    "worst_case, 1": lambda: plots.worst_case(_worst("r", 1)["r 0"]),
    "worst_case, 12": lambda: plots.worst_case(_worst("r", 12)),
    "worst_case, long names": lambda: plots.worst_case(_worst("long", 3)),
    "roc, 1": lambda: plots.roc(_roc("in", 1)),
    "roc, 6": lambda: plots.roc(_roc("in", 6)),
    "roc, long names": lambda: plots.roc(_roc("long", 3)),
    "before_and_after, 2": lambda: plots.before_and_after(*_two(2), {"Q": "q0"}),
    "before_and_after, 30": lambda: plots.before_and_after(*_two(30), {"Q": "q0"}, labels=(LONG, "now")),
    "before_and_after, long names": lambda: plots.before_and_after(
        _post(3, 2, "long"), _post(3, 2, "long"), {"a quasi-identifier with a rather long name": f"{LONG} (0)"}
    ),
    "exposure, 1": lambda: plots.exposure(_post(20, 3), baseline="overall"),
    "exposure, 8": lambda: plots.exposure({f"release {i}": _post(9, 2 + i) for i in range(8)}),
    "exposure, long names": lambda: plots.exposure({name: _post(9, 3) for name in _names("long", 3)}),
    "inference_channels, 1": lambda: plots.inference_channels(_channels("i", 1)),
    "inference_channels, 60": lambda: plots.inference_channels(_channels("i", 60)),
    "inference_channels, long names": lambda: plots.inference_channels(_channels("long", 3)),
    "intervals, 1": lambda: plots.intervals(*_bounds("P", 1)),
    "intervals, 60": lambda: plots.intervals(*_bounds("P", 60)),
    "intervals, long names": lambda: plots.intervals(*_bounds("long", 3)),
    "risk_utility, 1": lambda: plots.risk_utility(_releases("l =", 1)),
    "risk_utility, 14": lambda: plots.risk_utility(_releases("l =", 14)),
    "risk_utility, loss": lambda: plots.risk_utility(_releases("l =", 5), loss=True),
    "risk_utility, long names": lambda: plots.risk_utility(_releases("long", 4)),
}
