"""Verified bounds on Schur complements: eigenvalues and quadratic forms, dense and sparse, against exact ones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import maxent_cvx as mx
from maxent_cvx.solvers import existence

SHAPES = [np.asarray, sp.csr_array]


def drawn(seed: int, k: int, smallest: float) -> np.ndarray:
    """A symmetric matrix with a unit diagonal whose smallest eigenvalue is near a number, sparse for many rows."""
    generator = np.random.default_rng(seed)
    rows = sp.random_array((k + 5, k), density=min(1.0, 4 / k), rng=generator, data_sampler=generator.normal)
    gram = (rows.T @ rows).toarray() + np.diag(generator.uniform(0.1, 1, k))
    gram[:, -1] = gram[:, 0] * 1.0  # the last row is the first one but for what follows
    gram[-1] = gram[0]
    gram[-1, -1] = gram[0, 0] * (1 + smallest)
    root = np.sqrt(np.diag(gram))
    return gram / np.outer(root, root)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("smallest", [1e-1, 1e-4, 1e-8, 1e-12, 1e-15, 0.0])
@pytest.mark.parametrize("k", [2, 9, 40])
def test_no_eigenvalue_is_below_the_bound(shape, smallest, k):
    """The bound is below the least eigenvalue, and at most twice or so too small where roundoff does not decide."""
    for seed in range(5):
        matrix = drawn(seed, k, smallest)
        _, least = existence._verified(shape(matrix))
        exact = np.linalg.eigvalsh(matrix)[0]
        assert least <= exact + 4 * k * np.finfo(float).eps
        if exact > 1e-10:
            assert least >= 0.4 * exact


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("smallest", [1e-1, 1e-4, 1e-8])
def test_quadratic_forms_are_bounded_from_above(shape, smallest):
    """V' S^-1 v is at most the bound, in exact arithmetic, and the bound is tight."""
    k = 6
    for seed in range(5):
        matrix = drawn(seed, k, smallest)
        solve, least = existence._verified(shape(matrix))
        definite = existence._Definite(np.arange(k), shape(matrix), solve, least, 1.0)
        v = np.random.default_rng(seed).normal(size=(k, 2))
        for column, bound in zip(v.T, definite.energy(v), strict=True):
            exact = float(form(matrix, column))
            assert exact <= bound <= exact * (1 + 1e-5)


def form(matrix: np.ndarray, v: np.ndarray) -> Fraction:
    """V' S^-1 v by Gaussian elimination of fractions."""
    k = len(v)
    rows = [[Fraction(x) for x in row] + [Fraction(float(y))] for row, y in zip(matrix.tolist(), v, strict=True)]
    for i in range(k):
        for j in range(i + 1, k):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    z = [Fraction(0)] * k
    for i in reversed(range(k)):
        z[i] = (rows[i][k] - sum(rows[i][j] * z[j] for j in range(i + 1, k))) / rows[i][i]
    return sum((Fraction(float(y)) * x for y, x in zip(v, z, strict=True)), Fraction(0))


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_that_repeat_others_are_left_out(shape):
    """Of equal rows one is kept, and the rest is verified."""
    matrix = drawn(0, 30, 0.0)
    definite = existence._definite(shape(matrix), np.ones(30), 10.0)
    assert len(definite.rows) == 29
    assert definite.trust >= 0.5
    assert definite.least > 0


@pytest.mark.parametrize("seed", range(6))
def test_sparse_and_dense_proofs_agree(monkeypatch, seed):
    """Models with statements that connect everybody are certified alike by dense and by sparse factors."""
    generator = np.random.default_rng(seed)
    table = pd.DataFrame(
        {"q": generator.integers(0, 12, 60), "s": generator.integers(0, 6, 60), "b": np.arange(60) // 6}
    )
    model = mx.MaxEnt(mx.Release.from_buckets(table, qi="q", sa="s", bucket="b"))
    shares = pd.crosstab(table["q"], table["s"], normalize="index")
    for q in range(0, 12, 2):
        for s in range(3):
            model.add(mx.P(s, given={"q": q}).about(0.9 * shares.loc[q, s] + 0.1 / 6, 0.02))
            model.add(mx.P(s, given={"q": [q, q + 1]}) <= 0.8)
    dense = model.solve().certificate
    for name, value in (("MOST_DENSE_ROWS", 0), ("MOST_DENSE", 0), ("MOST_DENSE_STEP", 1), ("DENSE_SHARE", 2.0)):
        monkeypatch.setattr(existence, name, value)
    factored = []
    factor = existence._sparse_factor
    monkeypatch.setattr(existence, "_sparse_factor", lambda *each: factored.append(each[0].shape) or factor(*each))
    sparse = model.solve().certificate
    assert max(factored)[0] > 5
    assert dense.holds
    assert sparse.holds
    assert sparse.bound == pytest.approx(dense.bound, rel=0.5, abs=1e-13)
