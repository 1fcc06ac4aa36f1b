"""Convex statements on seven tables, by default and by conic solvers: python -m tests.benchmarks.convex_statements.

A statement is ``f(block - target) <= radius``, block being the probabilities P(a, s) of one attribute a and the
sensitive value s, and target a table of such probabilities near the published data. Radii are drawn between the least
value of f over all distributions that the data leave (the least attainable radius) and its value at the answer without
the statement: 1.2 is ample, 0.01 is tight, and -0.1 cannot be attained. Of each model it is told whether the default
solver answered, how precisely, in what time, and how far the conic solvers' answers are from it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd

import maxent_cvx as mx

#: Shares of the way from the least attainable radius to the one that does not bind; below 0 nothing is attainable.
SHARES = (1.2, 0.7, 0.2, 0.01, -0.1)
#: Options under which conic solvers are compared: tight tolerances.
TIGHT = {
    "CLARABEL": {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11},
    "SCS": {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iters": 20_000},
}
#: In the unit of the left side: what is attained but for less is attained, as far as solvers tell.
LEAST_WAY = 1e-3
#: The largest number of terms that conic solvers are given: beyond, they take minutes.
LARGEST_CONIC = 5_000

KINDS: dict[str, Callable[[Any, np.ndarray], Any]] = {
    "sum_squares": lambda p, target: cp.sum_squares(p - target),
    "norm1": lambda p, target: cp.norm1(p - target),
    "abs": lambda p, target: cp.abs(p - target),
    "max": lambda p, target: cp.max(p - target),
    "norm_inf": lambda p, target: cp.norm_inf(p - target),
    "huber": lambda p, target: cp.sum(cp.huber(p - target, 0.01)),
    "kl_ball": lambda p, target: cp.sum(cp.kl_div(p, target)),
    "sum_largest": lambda p, target: cp.sum_largest(cp.abs(p - target), 3),
}


def adult(records: int) -> pd.DataFrame:
    """The first complete records of Adult."""
    return mx.datasets.load_adult().head(records)


def generalised(records: int) -> mx.View:
    """Adult by Mondrian: groups of generalised ages, and who the people are."""
    table, qi = adult(records), ["age", "education-num"]
    published = mx.anonymize.mondrian_table(table, qi=qi, sa="salary", k=20)
    return mx.Release.from_generalized(published, qi=qi, sa="salary", population=table)


def counted(records: int) -> mx.View:
    """Quasi-identifiers of Adult, and the shares of the sensitive value."""
    table = adult(records)
    shares = table["education"].value_counts(normalize=True)
    return mx.QITable(table, qi=["sex", "race", "relationship"], sa="education", sa_distribution=shares)


def hospital() -> mx.View:
    """The ten patients of the papers."""
    table = mx.datasets.load_hospital()
    return mx.Release.from_buckets(table, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")


def hand_made() -> mx.View:
    """Two buckets of twelve people, drawn at random."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {"Q": rng.choice(list("abc"), 24), "S": rng.choice(list("xyz"), 24), "B": np.repeat([1, 2], 12)}
    )
    return mx.Release.from_buckets(table, qi="Q", sa="S", bucket="B")


TABLES: dict[str, tuple[Callable[[], mx.View], str]] = {
    "hospital": (hospital, "Gender"),
    "hand-made": (hand_made, "Q"),
    "adult, anatomy": (
        lambda: mx.anonymize.anatomy(adult(3000), qi=["sex", "race"], sa="education", l=5, exempt=2),
        "sex",
    ),
    "adult, Mondrian": (lambda: generalised(2000), "education-num"),
    "adult, QI table": (lambda: counted(3000), "sex"),
    "adult, occupation": (lambda: mx.anonymize.anatomy(adult(1000), qi=["age", "sex"], sa="occupation", l=4), "sex"),
    "adult, complete": (
        lambda: mx.anonymize.anatomy(mx.datasets.load_adult(), qi=mx.datasets.ADULT_QI, sa="education", l=5, exempt=2),
        "sex",
    ),
}


def outcomes(name: str, kinds: Sequence[str], shares: Sequence[float]) -> Iterator[dict[str, Any]]:
    """Solve with each statement on one table in turn."""
    make, attribute = TABLES[name]
    view = make()
    plain = mx.MaxEnt(view)
    alone = plain.solve()
    names = [attribute, "s"]
    rng = np.random.default_rng(0)
    block = plain.space.marginal(names)
    now = block.matrix @ (alone.counts / view.n_records)
    target = now * np.exp(rng.normal(0, 0.3, len(now)))
    target /= target.sum() / now.sum()
    is_large = len(plain.space) > LARGEST_CONIC
    if is_large:  # a target that can be attained: the least radius is 0, and no conic solver needs to find it
        near = plain.copy().add(block.softly(pd.Series(target, block.index), sd=1e-4)).solve()
        target = block.matrix @ (near.counts / view.n_records)
    for kind in kinds:
        left = KINDS[kind](block.expr, target)
        plain.space.counts.value = alone.counts
        ample = float(np.max(left.value))
        least = 0.0 if is_large else _least(plain, left)
        for share in shares:
            way = ample - least if share >= 0 else max(ample - least, abs(least), LEAST_WAY)
            radius = least + share * way
            model = mx.MaxEnt(view)
            own = model.space.marginal(names)
            model.add(KINDS[kind](own.expr, target) <= radius, label=kind)
            yield {"table": name, "kind": kind, "share": share, "terms": len(model.space), **judged(model, share)}


def _least(model: mx.MaxEnt, left: Any) -> float:
    """The least value of the left side over all distributions that the data leave."""
    objective = cp.Minimize(cp.max(left) if left.size > 1 else left)
    problem = cp.Problem(objective, model.problem.constraints)
    for solver in TIGHT:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                problem.solve(solver)
            except cp.error.SolverError:
                continue
        if problem.status.startswith("optimal"):
            return float(problem.value)
    raise RuntimeError(f"no conic solver finds the least value of {left}")


def judged(model: mx.MaxEnt, share: float) -> dict[str, Any]:
    """Solve by default, and compare with conic solvers: the largest difference of any P(s | q)."""
    begun = time.perf_counter()
    try:
        post = model.solve()
    except mx.Infeasible:
        return {"answer": "infeasible", "right": share < 0, "seconds": time.perf_counter() - begun}
    except (mx.Inaccurate, mx.SolverError) as refused:
        return {"answer": type(refused).__name__, "right": False, "seconds": time.perf_counter() - begun}
    seconds, bound = time.perf_counter() - begun, post.certificate.bound
    result: dict[str, Any] = {"answer": post.solver, "bound": bound, "seconds": seconds}
    group, records = model.space.groups
    if len(model.space) <= LARGEST_CONIC:
        for solver, options in TIGHT.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    model.problem.solve(solver, **options)
                except cp.error.SolverError:
                    continue
            if model.problem.status == "optimal":
                off = np.abs(model.space.counts.value - post.counts) / records[group]
                result[solver] = float(off.max())
    nearest = min((result[solver] for solver in TIGHT if solver in result), default=0.0)
    return {**result, "right": share >= 0 and bound <= 1e-6 and nearest <= 1e-5}


def main(arguments: Sequence[str] | None = None) -> pd.DataFrame:
    """Print a line for every statement that is not answered as it should be, and a table of all; one row per statement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--shares", nargs="+", type=float, default=list(SHARES))
    args = parser.parse_args(arguments)
    rows = []
    for name in args.tables:
        for row in outcomes(name, args.kinds, args.shares):
            rows.append(row)
            if not row["right"]:
                print("  ", row, flush=True)
        done = pd.DataFrame(rows).query("table == @name")
        print(f"{name}: {int(done['right'].sum())} of {len(done)} as they should be", flush=True)
    table = pd.DataFrame(rows)
    feasible = table[table["share"] >= 0]
    by_kind = feasible.groupby("kind", sort=False)
    summary = pd.DataFrame({
        "answered": by_kind["right"].sum(), "of": by_kind.size(), "largest bound": by_kind["bound"].max(),
        "median seconds": by_kind["seconds"].median(), "most seconds": by_kind["seconds"].max(),
    })  # fmt: skip
    print(summary.to_string())
    beyond = table[table["share"] < 0]
    print(f"feasible: {int(feasible['right'].sum())} of {len(feasible)} answered within 1e-6; "
          f"infeasible: {int(beyond['right'].sum())} of {len(beyond)} recognised")  # fmt: skip
    return table


if __name__ == "__main__":
    main()
