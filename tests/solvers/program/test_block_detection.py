"""Buckets are found in problems that name none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from maxent_cvx.solvers.answer import Status
from maxent_cvx.solvers.form import LinearForm
from maxent_cvx.solvers.newton import newton
from maxent_cvx.solvers.schur import FEWEST, WIDEST, detect_blocks
from support.random_models import random_model


def anonymous(form: LinearForm, seed: int) -> LinearForm:
    """Forget which rows are published, and shuffle them."""
    order = np.random.default_rng(seed).permutation(form.shape[0])
    return LinearForm.plain(form.matrix[order], form.low[order], form.high[order])


@pytest.mark.parametrize("seed", range(5))
def test_buckets_are_found(seed: int):
    """Shuffled and without names, the published rows still fall into buckets; the answer is the same."""
    model, _ = random_model(seed, statements=4, buckets=(30, 40))
    plain = anonymous(model.form, seed)
    found, back = detect_blocks(plain)
    assert found.n_published >= FEWEST
    assert np.bincount(found.bucket[0]).max() <= WIDEST
    assert sorted(back) == list(range(plain.shape[0]))
    np.testing.assert_array_equal(found.matrix.toarray(), plain.matrix[back].toarray())
    known, unknown = newton(model.form), newton(plain)
    assert known.status is unknown.status is Status.OPTIMAL
    assert known.counts is not None
    np.testing.assert_allclose(unknown.counts, known.counts, atol=1e-6)
    # Multipliers come back in the order of the rows as given: they stand for the counts.
    assert unknown.multipliers is not None
    kept = known.counts > 1e-6
    np.testing.assert_allclose(np.exp(plain.exponent(unknown.multipliers))[kept], known.counts[kept], rtol=1e-6)


def test_few_rows_stay_as_they_are():
    """Small problems are left unchanged."""
    plain = anonymous(random_model(1)[0].form, 1)
    assert plain.shape[0] < FEWEST
    assert detect_blocks(plain)[0] is plain


@pytest.mark.parametrize("seed", range(20))
def test_published_inequalities(seed: int):
    """Published inequalities are not eliminated: taken as knowledge or as published, the answer is the same."""
    form = random_model(seed, statements=2, buckets=(3, 5))[0].form
    rng = np.random.default_rng(seed)
    slack = np.where(rng.random(form.n_published) < 0.3, rng.uniform(0, 1, form.n_published), 0.0)
    high = form.high.copy()
    high[: form.n_published] += slack
    looser = replace(form, high=high)
    published, known = newton(looser), newton(LinearForm.plain(form.matrix, form.low, high))
    assert published.status is known.status is Status.OPTIMAL
    assert known.counts is not None
    np.testing.assert_allclose(published.counts, known.counts, atol=1e-6)
