"""Compare models at the boundary with interior ones:  python -m tests.benchmarks.boundary --models 20.

A model at the boundary knows, statement after statement, the largest probability that an event can have
given all before (by a linear program): zeros are forced everywhere. Its interior twin knows, of the same
events, values halfway between that and what its own posterior says. Prints the iterations of both.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.optimize import linprog

import maxent_cvx as mx

SEXES, AGES, VALUES = ("f", "m"), (20, 30, 40, 50), ("Flu", "Gout", "HIV", "Mumps", "Ulcer")


def random_release(rng: np.random.Generator, n_buckets: int) -> mx.Release:
    """Publish buckets of five people with QI and values drawn at random."""
    n = 5 * n_buckets
    table = pd.DataFrame({"Sex": rng.choice(SEXES, n), "Age": rng.choice(AGES, n), "Disease": rng.choice(VALUES, n)})
    return mx.Release.from_buckets(
        table.assign(Bucket=np.arange(n) // 5), qi=["Sex", "Age"], sa="Disease", bucket="Bucket"
    )


def largest(model: mx.MaxEnt, row: sp.csr_array) -> float:
    """The largest value of a linear expression over everything that satisfies the model's equations."""
    form = model.form
    found = linprog(-row.toarray().ravel(), A_eq=form.matrix, b_eq=form.low, method="highs")
    assert found.success, found.message
    return float(-found.fun / model.space.n_records)


def twins(seed: int, n_buckets: int, n_statements: int) -> tuple[mx.MaxEnt, mx.MaxEnt]:
    """Make a model at the boundary, and one inside."""
    rng = np.random.default_rng(seed)
    release = random_release(rng, n_buckets)
    edge, inside = mx.MaxEnt(release), mx.MaxEnt(release)
    for _ in range(n_statements):
        value, given = str(rng.choice(VALUES)), {"Sex": str(rng.choice(SEXES)), "Age": int(rng.choice(AGES))}
        event = mx.P(value, given)
        try:
            row = edge.space.row(value, given)
        except mx.MaxEntError:  # nobody is like this
            continue
        if any(str(event) in label for label in edge.knowledge):
            continue
        most = largest(edge, row)
        within = (largest(inside, row) + inside.solve().prob(value, given)) / 2
        edge.add(event == min(most, 1.0))
        inside.add(event == min(within, 1.0))
    return edge, inside


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--buckets", type=int, default=60)
    parser.add_argument("--statements", type=int, default=12)
    options = parser.parse_args(arguments)
    found = []
    for seed in range(options.models):
        edge, inside = twins(seed, options.buckets, options.statements)
        row: dict[str, float] = {"seed": seed}
        for name, model in (("boundary", edge), ("interior", inside)):
            post = model.solve(allow_inaccurate=True)
            zeros = int((post.counts < 1e-9).sum())
            row |= {
                f"{name}_zeros": zeros,
                f"{name}_iterations": post.iterations,
                f"{name}_error": post.certificate.bound,
            }
        found.append(row)
    table = pd.DataFrame(found)
    print(table.to_string(index=False, float_format=lambda x: f"{x:.2g}"))
    mean = table.mean()
    print(f"iterations, boundary to interior: {mean['boundary_iterations'] / mean['interior_iterations']:.2f}")
    return table


if __name__ == "__main__":
    main()
