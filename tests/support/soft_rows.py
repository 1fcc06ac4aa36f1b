"""Soft statements against CVXPY: random models whose problem is written again from the statements.

The problem is max N H(p) - sum of costs over the terms p, without the package's assembled and scaled rows. Compared are
the objective, which `model.problem` gives less the constant N log N, and every P(s | q). CVXPY's solver leaves a small gap in the
objective, and probabilities are off by up to the square root of that.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
from scipy.special import xlogy

from maxent_cvx import Inaccurate, MaxEnt, Posterior, Statement
from tests.benchmarks.drawing import drawn

#: Tolerances that are asked of a solver: its duality gap, and the violation of rows.
TIGHT: dict[str, dict[str, float]] = {
    "CLARABEL": {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12, "max_iter": 500},
    "SCS": {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iters": 200_000},
}
#: The largest cost or price, nats a record, of models that a solver with doubles can be compared on.
MILD = 1e4


def written_anew(model: MaxEnt) -> tuple[cp.Problem, cp.Variable]:
    """Write max N H(p) - sum of costs, with p = P(q, s, b) and statements as typed: P(event) / P(group) ~ value."""
    space, n = model.space, model.view.n_records
    p = cp.Variable(len(space), name="p")
    objective: Any = n * cp.sum(cp.entr(p)) + n * (np.log(space.multiplicities * space.prior_density) @ p)
    constraints = []
    for source in [*model.facts, *model.knowledge.values()]:
        for rows in source.rows(space):
            value = rows.matrix @ p
            low, high = np.isfinite(rows.low), np.isfinite(rows.high)
            if rows.penalty is None:
                exact = rows.low == rows.high
                constraints += [value[exact] == rows.low[exact]] if exact.any() else []
                constraints += [value[low & ~exact] >= rows.low[low & ~exact]] if (low & ~exact).any() else []
                constraints += [value[high & ~exact] <= rows.high[high & ~exact]] if (high & ~exact).any() else []
                continue
            assert isinstance(source, Statement)
            sides = ([rows.low - value] if low.all() else []) + ([value - rows.high] if high.all() else [])
            missed = cp.maximum(*sides, 0.0)
            objective -= cp.sum(_cost(missed, rows.penalty.sd, rows.penalty.weight, rows.penalty.delta))
    return cp.Problem(cp.Maximize(objective), constraints), p


def _cost(missed: Any, sd: Any, weight: Any, delta: Any) -> Any:
    """What it costs, as the documentation says: abs, the square, or half of cvxpy.huber."""
    if sd is None:
        return weight * missed
    return cp.square(missed / sd) / 2 if delta is None else cp.huber(missed / sd, float(delta / sd)) / 2


def compared(seed: int, solver: str = "CLARABEL") -> dict[str, Any] | None:
    """Solve one model both ways; None if it has no soft row, or is beyond the precision of the solver."""
    case = drawn("soft", seed)
    if case is None or case.model.form.penalties is None:
        return None
    model, found = case.model, {"seed": seed}
    try:
        post = model.solve()
    except Inaccurate:
        return {**found, "word": "refused"}
    prices = np.abs(np.concatenate([m for label, m in post.multipliers.items() if label in model.knowledge]))
    if prices.max(initial=0.0) > MILD or post.penalties.max() > MILD:
        return {**found, "word": "beyond", "bound": post.certificate.bound}
    problem, p = written_anew(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            problem.solve(solver=solver, **TIGHT[solver])
            own = model.problem.solve(solver=solver, **TIGHT[solver])
        except cp.SolverError:
            return {**found, "word": "not solved by CVXPY", "bound": post.certificate.bound}
    n = model.view.n_records
    q, n_q = model.space.groups
    apart = np.abs(post.counts - n * p.value)
    exact, size = post.objective + _constant(post), 1.0 + abs(problem.value) + post.penalties.sum()
    return {
        **found, "word": "compared", "bound": post.certificate.bound,
        "objective": abs(problem.value - exact) / size,
        "problem": abs(own + n * math.log(n) - exact) / size,
        "probability": float((np.bincount(q, apart, len(n_q)) / n_q).max()),
    }  # fmt: skip


def _constant(post: Posterior) -> float:
    """What the entropy relative to a prior lacks, nats: it is of the conditional P(s | q, b)."""
    if post.space.prior is None:
        return 0.0
    of_tuple = [level for level in post.space.index.names if level != post.space.view.sensitive[0]]
    share = pd.Series(post.counts, post.space.index).groupby(level=of_tuple).sum() / post.space.n_records
    return -post.space.n_records * float(xlogy(share, share).sum())
