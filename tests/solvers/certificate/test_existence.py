"""Rows of many columns: which depend on others, and how far the nearest point is where all hold exactly."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx.solvers.certificate.existence_proofs.modular import PRIMES, dependent_rows, residues
from maxent_cvx.solvers.certificate.existence_proofs.verified_inverse import bounded_moves, bounded_moves_of_batch
from support.solving import examples

seeds = st.integers(0, 10**6)


@examples(60)
@given(seed=seeds, n_columns=st.sampled_from([5, 40, 400]))
def test_dependent_rows_are_those_that_add_nothing_to_the_rank(seed: int, n_columns: int):
    """Also where the columns that matter are few among many, and are not the first that are looked at."""
    rng = np.random.default_rng(seed)
    matrix = np.zeros((9, n_columns))
    matrix[:, rng.choice(n_columns, 4, replace=False)] = rng.integers(-3, 4, (9, 4))
    everywhere = rng.integers(-1, 2, (2, n_columns))
    matrix[:6] += rng.integers(-1, 2, (6, 2)) @ everywhere
    matrix[8] = matrix[0] - 2 * matrix[3]
    ranks = [np.linalg.matrix_rank(matrix[:i]) if i else 0 for i in range(10)]
    by_prime = [sp.csr_array(residues(matrix, prime)) for prime in PRIMES]
    n_first = int(rng.integers(0, 10))
    depends, by_first = dependent_rows(by_prime, n_first)
    np.testing.assert_array_equal(depends, np.diff(ranks) == 0)
    first = matrix[:n_first]
    of_first = [np.linalg.matrix_rank(np.vstack([first, row])) == ranks[n_first] for row in matrix]
    np.testing.assert_array_equal(by_first, np.array(of_first) & depends)


@examples(60)
@given(seed=seeds)
def test_a_sparse_system_has_the_bounds_of_a_dense_one(seed: int):
    """Only rounding differs."""
    rng = np.random.default_rng(seed)
    matrix = sp.random_array((5, 30), density=0.4, rng=rng, data_sampler=rng.standard_normal).tocsr()
    x, residual = rng.uniform(0.0, 3.0, 30), 10 ** rng.uniform(-14, -3, 5)
    dense = bounded_moves_of_batch(matrix.toarray()[None], x[None], residual[None])[0]
    np.testing.assert_allclose(bounded_moves(matrix, x, residual), dense, rtol=1e-6)


def test_a_bucket_of_a_hundred_by_a_hundred_is_proved():
    """Its 200 rows of 10,000 terms are no dense matrix, and the bound is for the rows as typed."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"q": rng.integers(100, size=2_000), "s": rng.integers(100, size=2_000), "bucket": 0})
    model = mx.MaxEnt(mx.Release.from_buckets(table, qi="q", sa="s", bucket="bucket"))
    model.add(*(P(s, given={"q": s}) == 0.05 + 0.001 * s for s in range(5)), P(7, given={"q": 9}) <= 0.005)
    certificate = model.solve().certificate
    assert certificate.bound < 1e-9
    assert certificate.backward == 0


@examples(200)
@given(seed=seeds, spread=st.sampled_from([0.0, 4.0, 10.0]))
def test_a_proof_is_of_a_point_that_exists(seed: int, spread: float):
    """Of counts and residuals of any size, some of them 0: x (1 + A' z), S z = -r, in 60 digits, is within bounds."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-1, 2, (4, 8)).astype(float)
    x = 10 ** rng.uniform(-spread, spread, 8) * (rng.random(8) < 0.7)
    residual = 10 ** rng.uniform(-16, -2, 4) * (rng.random(4) < 0.6)
    found = bounded_moves(sp.csr_array(matrix), x, residual)
    of_batch = bounded_moves_of_batch(matrix[None], x[None], residual[None])[0]
    np.testing.assert_array_equal(np.isinf(found), np.isinf(of_batch))
    if np.isinf(found).any():
        return
    still = ~(np.abs(matrix) @ x > 0)
    assert not residual[still].any()
    with mp.workdps(60):
        a, counts = mp.matrix(matrix[~still]), mp.diag(x.tolist())
        z = mp.lu_solve(a * counts * a.T, -mp.matrix(residual[~still])) if a.rows else mp.matrix(0, 1)
        moves = a.T * z if a.rows else mp.zeros(8, 1)
    assert all(abs(move) <= bound for move, bound in zip(moves, found, strict=True))
