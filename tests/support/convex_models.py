"""Random small models with convex statements, their prices and bounds by other computations.

A model has one or two convex statements, and a linear one beside them, hard or soft. The price of a statement is compared
with (H(c + e) - H(c - e)) / 2e, c being its right-hand side as typed; the bounds of every P(s | q) with the conic programs
of CVXPY.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import pandas as pd

import maxent_cvx as mx
from maxent_cvx import P

#: The step of the differences, relative to the way from the least attainable value to the value without the statement.
STEP = 1e-3
#: In the unit of the left side: with less between them, a draw is made again.
LEAST_WAY = 1e-3
#: Relative to the same: how far a right-hand side is from the point that attains all.
ROOM = 0.02
#: Of the difference quotient: what it is off by, second order in the step, and rounding errors.
CLOSE = {"rtol": 1e-3, "atol": 1e-5}


def _joint(space: Any) -> Any:
    return space.marginal(["g", "s"])


def _entropy(space: Any, rng: np.random.Generator) -> Any:
    """The negative entropy of whether the value is z; maximum entropy over all values has less of it."""
    block = _joint(space)
    is_z = (block.index.get_level_values("s") == "z").astype(float)
    return -cp.entr(is_z @ block.expr) - cp.entr((1 - is_z) @ block.expr)


def _near(distance: Callable[[Any, np.ndarray], Any]) -> Callable[[Any, np.random.Generator], Any]:
    """The distance of the joint distribution from a random one."""

    def left(space: Any, rng: np.random.Generator) -> Any:
        block = _joint(space)
        return distance(block.expr, rng.dirichlet(np.full(len(block), 3.0)))

    return left


def _gini(space: Any, rng: np.random.Generator) -> Any:
    """The mean absolute difference of the shares of groups in one value: a sum of absolute values."""
    rate = space.conditional("s", given="g")["x"].expr
    n = rate.size
    return sum(cp.abs(rate[i] - rate[j]) for i in range(n) for j in range(i)) / n**2 + cp.sum_squares(rate) / 10


def _ratio(space: Any, rng: np.random.Generator) -> Any:
    """The squared share of a value relative to that of another: no sum of costs."""
    rate = space.conditional("s", given="g")["x"].expr
    return cp.quad_over_lin(rate, 0.2 + cp.sum(space.conditional("s", given="g")["y"].expr))


def _information(space: Any, rng: np.random.Generator) -> Any:
    """The mutual information of g, whose shares are known, and s."""
    block = _joint(space)
    index = block.index
    g, s = index.get_level_values("g"), index.get_level_values("s")
    of_g = (g.to_numpy()[:, None] == g.unique().to_numpy()[None]).astype(float)
    of_s = (s.to_numpy()[:, None] == s.unique().to_numpy()[None]).astype(float)
    p_g = of_g @ _shares(space, g.unique())
    return cp.sum(cp.rel_entr(block.expr, cp.multiply(p_g, of_s @ (of_s.T @ block.expr))))


def _shares(space: Any, groups: pd.Index) -> np.ndarray:
    """P(g) of every group."""
    view = space.view
    shares = pd.Series(view.n_q, view.quasi_identifiers.get_level_values("g")).groupby(level=0).sum() / view.n_records
    return shares.reindex(groups).to_numpy()


def _log_sum_exp(space: Any, rng: np.random.Generator) -> Any:
    return cp.log_sum_exp(5 * space.conditional("s", given="g")["x"].expr)


def _largest(space: Any, rng: np.random.Generator) -> Any:
    """The largest Euclidean norm of two groups."""
    block = _joint(space).expr
    half = block.size // 2
    return cp.maximum(cp.norm(block[:half]), cp.norm(block[half:]))


KINDS: dict[str, Callable[[Any, np.random.Generator], Any]] = {
    "entropy": _entropy,
    "kl": _near(lambda p, target: cp.sum(cp.kl_div(p, target))),
    "sum_squares": _near(lambda p, target: cp.sum_squares(p - target)),
    "norm": _near(lambda p, target: 2 * cp.norm(p - target)),
    "norm1": _near(lambda p, target: cp.norm1(p - target)),
    "gini": _gini,
    "ratio": _ratio,
    "information": _information,
    "log_sum_exp": _log_sum_exp,
    "largest": _largest,
}


class Drawn(NamedTuple):
    """A random model as a function of the right-hand sides of its statements."""

    kinds: tuple[str, ...]
    model: Callable[[np.ndarray], mx.MaxEnt]
    sides: np.ndarray  # of the convex statements, then of the linear one
    steps: np.ndarray


def view_of(rng: np.random.Generator) -> mx.View:
    """A release of buckets, or people whose values are not known."""
    n = int(rng.integers(30, 120))
    table = pd.DataFrame({"g": rng.choice(list("abc"), n), "s": rng.choice(list("xyz"), n, p=[0.2, 0.3, 0.5])})
    if rng.random() < 0.5:
        return mx.QITable(table, qi="g", sa="s", sa_values=list("xyz"))
    return mx.Release.from_buckets(table.assign(b=rng.integers(0, 3, n)), qi="g", sa="s", bucket="b")


@cache
def drawn(seed: int, *kinds: str) -> Drawn:
    """Draw a model whose convex statements are between what is attainable and what does not bind."""
    rng = np.random.default_rng(seed)
    kinds = kinds or tuple(rng.choice(list(KINDS), 2, replace=False).tolist())
    view = view_of(rng)
    seeds = rng.integers(0, 2**31, len(kinds))
    group, shift, soft = str(rng.choice(list("abc"))), float(rng.uniform(0.03, 0.1)), rng.random() < 0.25
    alone = mx.MaxEnt(view).solve()
    asked = P("x", given={"g": group})
    linear = min(alone.prob(asked) + shift, 0.5 * alone.prob(asked) + 0.5 * mx.MaxEnt(view).bounds(asked)[1])

    def left(space: Any, i: int) -> Any:
        return KINDS[kinds[i]](space, np.random.default_rng(seeds[i]))

    def with_linear(value: float) -> mx.MaxEnt:
        statement = asked.softly(value, sd=0.05) if soft else asked >= value
        return mx.MaxEnt(view).add(statement, label="linear")

    beside = with_linear(linear)
    space, points = beside.space, [beside.solve().counts]
    values = [left(space, i) for i in range(len(kinds))]
    for value in values:
        cp.Problem(cp.Minimize(value), beside.problem.constraints).solve("CLARABEL")
        points.append(np.maximum(space.counts.value, 0.0))
    # What a point attains that is between the answer and those where each left side is least, all can attain.
    share = float(rng.uniform(0.3, 0.8))
    between = (1 - share) * points[0] + share * np.mean(points[1:], axis=0)
    sides, ways = [], []
    for value, point in zip(values, points[1:], strict=True):
        at = []
        for space.counts.value in (point, between):
            at.append(float(value.value))
        sides.append(at[1] + ROOM * (at[1] - at[0]))
        ways.append(at[1] - at[0])
    if min(ways) < LEAST_WAY:
        return drawn(seed + 1000, *kinds)

    def model(values: np.ndarray) -> mx.MaxEnt:
        made = with_linear(float(values[-1]))
        for i, kind in enumerate(kinds):
            if kind == "entropy":  # typed the other way round
                made.add(lambda space, i=i: -left(space, i) >= -float(values[i]), label=kind)
            else:
                made.add(lambda space, i=i: left(space, i) <= float(values[i]), label=kind)
        return made

    return Drawn(kinds, model, np.array([*sides, linear]), STEP * np.array([*ways, min(0.05, *ways) / 2]))


def missed(case: Drawn, solver: str = "auto") -> pd.DataFrame:
    """The prices of a model, and the finite differences of its entropy (of its objective, with soft statements)."""
    prices = case.model(case.sides).solve(solver).prices()["price"]
    derivatives = {}
    for i, name in enumerate([*case.kinds, "linear"]):
        step = np.zeros(len(case.sides))
        step[i] = case.steps[i]
        ends = [case.model(case.sides + sign * step).solve() for sign in (-1, 1)]
        low, high = (post.objective / post.space.n_records for post in ends)
        derivatives[name] = (high - low) / (2 * step[i]) * (-1 if name == "entropy" else 1)
    differences = pd.Series(derivatives)
    table = pd.DataFrame({"price": prices.reindex(differences.index), "difference": differences})
    return table.assign(close=np.isclose(table["price"], table["difference"], **CLOSE))


def apart(case: Drawn) -> pd.DataFrame:
    """The bounds of every P(s | q), and by how much they are outside of what CLARABEL attains."""
    model = case.model(case.sides)
    table = model.bounds(progress=False)
    counts, known = model.space.counts, [*model.problem.constraints, model.space.counts >= 0]
    for side, goal in (("low", cp.Minimize), ("high", cp.Maximize)):
        values = []
        for group, value in table.index:
            problem = cp.Problem(goal(model.space.prob(value, given={"g": group})), known)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                problem.solve("CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
            values.append(float(problem.value))
        table[f"{side} outside"] = (table[side] - values) * (-1 if side == "low" else 1)
    assert counts.value is not None
    return table
