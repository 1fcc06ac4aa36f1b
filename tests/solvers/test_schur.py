"""Newton systems: when S is formed, which factorisation is chosen, and blocks that are found in any rows."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx import MaxEnt, P
from maxent_cvx.solvers import blocks as bucket_blocks
from maxent_cvx.solvers.blocks import NARROW, SMALLEST_DIAGONAL, BucketBlocks, BucketInverse
from maxent_cvx.solvers.form import LinearForm
from maxent_cvx.solvers.newton import newton
from maxent_cvx.solvers.schur import (
    FEWEST,
    WIDEST,
    BlockSystem,
    DirectSystem,
    conjugate_gradients,
    detect_blocks,
    newton_system,
)
from support.problems import FIGURE_1C, publish
from support.random_models import random_model

seeds = st.integers(0, 10**6)
RIDGE = 1e-13


def test_formed_only_when_needed(monkeypatch: pytest.MonkeyPatch):
    """S is formed when conjugate gradients need too many products, and again only when it no longer helps."""
    monkeypatch.setattr("maxent_cvx.solvers.schur.QUICKLY_FORMED", 0)  # a small S is formed at every point
    model = MaxEnt(publish(FIGURE_1C)).add(P("s1", {"Q": "q1"}) == 0.3, P("s2", {"Q": "q2"}) == 0.3)
    form, active = model.form, np.arange(2)
    x, aim = np.ones(form.shape[1]), np.append(np.zeros(form.n_published), [1.0, -2.0])
    patient = BlockSystem(form)
    patient.at(x, RIDGE).solve(aim, active)
    assert patient.formed == 0  # two rows: two products
    assert 1 <= patient.products <= 3
    hasty = BlockSystem(form)
    hasty.affordable_products = 0
    hasty.at(x, RIDGE).solve(aim, active)
    assert hasty.formed == 1
    hasty.affordable_products = patient.affordable_products
    before = hasty.products
    hasty.at(2 * x, RIDGE).solve(aim, active)  # S is twice what was formed: one product is enough
    hasty.at(x, RIDGE).solve(np.append(np.zeros(form.n_published), [1.0, 0.0]), active[:1])
    assert hasty.formed == 1
    assert hasty.products <= before + 4
    other = BlockSystem(form)
    other.affordable_products = 0
    other.at(x, RIDGE).solve(np.append(np.zeros(form.n_published), [1.0, 0.0]), active[:1])
    other.affordable_products = patient.affordable_products
    other.at(x, RIDGE).solve(aim, active)  # of a row that S was not formed for, the diagonal is taken
    assert other.formed == 1


def test_large_blocks_are_factored_sparsely(monkeypatch: pytest.MonkeyPatch):
    """A small problem has one dense factor; where blocks are too large, a sparse factor is computed: answers agree."""
    forms = [random_model(seed, statements=5)[0].form for seed in range(6)]
    known = [newton(form).counts for form in forms]
    assert all(isinstance(newton_system(form).matrix, np.ndarray) for form in forms)
    for limit, value, system in (("MOST_DENSE_WORK", 0, BlockSystem), ("MOST_MULTIPLICATIONS", 1, DirectSystem)):
        monkeypatch.setattr(f"maxent_cvx.solvers.schur.{limit}", value)
        for form, counts in zip(forms, known, strict=True):
            assert isinstance(newton_system(form), system)
            np.testing.assert_allclose(newton(form).counts, counts, atol=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_buckets_are_found_in_rows_without_names(seed: int):
    """Shuffled and without names, the published rows still fall into buckets; the answer is the same."""
    form = random_model(seed, statements=4, buckets=(30, 40))[0].form
    order = np.random.default_rng(seed).permutation(form.shape[0])
    plain = LinearForm.plain(form.matrix[order], form.low[order], form.high[order])
    blocks, back = detect_blocks(plain)
    assert blocks.n_published >= FEWEST
    assert np.bincount(blocks.bucket[0]).max() <= WIDEST
    np.testing.assert_array_equal(blocks.matrix.toarray(), plain.matrix[back].toarray())
    known, unknown = newton(form), newton(plain)
    np.testing.assert_allclose(unknown.counts, known.counts, atol=1e-6)
    kept = known.counts > 1e-6  # multipliers are in the order of the rows as given
    np.testing.assert_allclose(np.exp(plain.exponent(unknown.multipliers))[kept], known.counts[kept], rtol=1e-6)
    few = LinearForm.plain(form.matrix[: FEWEST - 1], form.low[: FEWEST - 1], form.high[: FEWEST - 1])
    assert detect_blocks(few)[0] is few


@pytest.mark.parametrize("seed", range(3))
def test_published_inequalities_are_not_eliminated(seed: int):
    """As rows of knowledge or as published ones, inequalities have the same answer."""
    form = random_model(seed, statements=2, buckets=(3, 5))[0].form
    rng = np.random.default_rng(seed)
    high = form.high.copy()
    high[: form.n_published] += np.where(rng.random(form.n_published) < 0.3, rng.uniform(0, 1, form.n_published), 0.0)
    published, known = newton(replace(form, high=high)), newton(LinearForm.plain(form.matrix, form.low, high))
    np.testing.assert_allclose(published.counts, known.counts, atol=1e-6)


@given(seed=seeds, narrow=st.booleans())
def test_any_rows_in_blocks(seed: int, narrow: bool):
    """Blocks of rows that overlap in any way, with any coefficients; single rows have no term in common."""
    rng = np.random.default_rng(seed)
    blocks = [rng.integers(-2, 3, (rng.integers(1, 6), rng.integers(1, 7))).astype(float) for _ in range(3)]
    published = sp.csr_array(sp.block_diag(blocks))
    published.eliminate_zeros()
    bucket = np.repeat(np.arange(3), [len(block) for block in blocks])
    order = rng.permutation(len(bucket))
    published, bucket = sp.csr_array(published[order]), bucket[order]
    with mock.patch.object(bucket_blocks, "NARROW", NARROW * narrow):
        buckets = BucketBlocks(published, sp.csr_array(published.T), bucket)
    assert buckets.is_narrow == narrow or max(buckets.n_single, buckets.n_others) == 0
    assert len(np.unique(buckets.slot)) == len(bucket) <= buckets.n_slots
    single = published[np.flatnonzero(buckets.slot < buckets.n_blocks * buckets.n_single)]
    assert (np.bincount(single.indices, minlength=1) <= 1).all()
    x = rng.exponential(size=published.shape[1]) + 0.1
    dense = published.toarray() * x @ published.toarray().T
    raised = dense + 1e-3 * np.diag(np.maximum(dense.diagonal(), SMALLEST_DIAGONAL))
    right, in_slots = rng.normal(size=len(bucket)), np.zeros(buckets.n_slots)
    right[dense.diagonal() == 0] = 0.0
    in_slots[buckets.slot] = right
    solution = BucketInverse(buckets, x, 1e-3).apply(in_slots)
    np.testing.assert_allclose(raised @ solution[buckets.slot], right, atol=1e-8)
    np.testing.assert_array_equal(np.delete(solution, buckets.slot), 0)  # padding


@given(seed=seeds, n=st.integers(1, 10))
def test_conjugate_gradients(seed: int, n: int):
    """A well-conditioned system takes hardly more products than it has unknowns, and none from its solution."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    matrix, right = root @ root.T / n + np.eye(n), rng.normal(size=n)
    exact = np.linalg.solve(matrix, right)
    found = conjugate_gradients(matrix.__matmul__, right, np.copy, 1e-10, 10 * n)
    assert found.converged
    assert found.products <= n + 2
    np.testing.assert_allclose(found.solution, exact, atol=1e-8)
    again = conjugate_gradients(matrix.__matmul__, right, np.copy, 1e-8, 10 * n, exact)
    assert again.products == 0
    np.testing.assert_array_equal(again.solution, exact)
    # With an indefinite matrix or too few products it does not converge.
    assert not conjugate_gradients(np.diag([1.0, -2.0]).__matmul__, np.ones(2), np.copy, 1e-10, 10).converged
    few = conjugate_gradients(np.diag([1.0, 100.0]).__matmul__, np.ones(2), np.copy, 1e-10, 1)
    assert (few.converged, few.products) == (False, 1)
    assert conjugate_gradients(np.diag([1.0, 2.0]).__matmul__, np.zeros(2), np.copy, 1e-10, 10).products == 0
