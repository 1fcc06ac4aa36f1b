"""The exponential cone: derivatives are those of the barriers, and the scaling takes z to s."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.solvers.interior.exponential_cone import (
    CENTRE,
    correction,
    dual_gradient,
    dual_hessian,
    is_inside,
    primal_gradient,
    proximity,
    scaling,
)
from support.solving import examples

seeds = st.integers(0, 10**6)


def dual_points(seed: int, n: int = 5) -> np.ndarray:
    """Random points inside the dual cone: r beyond -p exp(q / p - 1)."""
    rng = np.random.default_rng(seed)
    p, q = -rng.uniform(0.5, 3, n), rng.uniform(-1, 1, n)
    return np.stack([p, q, -p * np.exp(q / p - 1) * (1 + rng.uniform(0.1, 3, n))], axis=1)


def points(seed: int, n: int = 5) -> np.ndarray:
    """Random points inside the cone: t below u log(w / u)."""
    rng = np.random.default_rng(seed)
    u, w = rng.uniform(0.1, 3, n), rng.uniform(0.1, 3, n)
    return np.stack([u * np.log(w / u) - rng.uniform(0.1, 3, n), u, w], axis=1)


def barrier(z: np.ndarray) -> np.ndarray:
    p, q, r = z.T
    return -np.log(q - p - p * np.log(-r / p)) - np.log(-p) - np.log(r)


def differences(function, z: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Derivatives by central differences, the last axis that of the variable."""
    moves = step * np.eye(3)
    return np.stack([(function(z + move) - function(z - move)) / (2 * step) for move in moves], axis=-1)


@examples(30)
@given(seed=seeds)
def test_derivatives(seed: int):
    """Gradient, Hessian and third derivative of the dual barrier."""
    z, rng = dual_points(seed), np.random.default_rng(seed)
    np.testing.assert_allclose(dual_gradient(z), differences(barrier, z), rtol=1e-5, atol=1e-5)
    hessian = dual_hessian(z)
    size = np.abs(hessian).max()
    np.testing.assert_allclose(hessian, differences(dual_gradient, z), atol=1e-5 * size)
    u, v = rng.normal(size=(2, *z.shape))
    third = differences(dual_hessian, z)
    expected = np.einsum("nijk,nj,nk->ni", third, u, v) / 2
    found = correction(hessian, z, np.einsum("nij,nj->ni", hessian, u), v)
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())


@examples(30)
@given(seed=seeds)
def test_conjugate(seed: int):
    """The two gradients are inverse to each other up to their sign, and the centre is a fixed point."""
    z, s = dual_points(seed), points(seed)
    np.testing.assert_allclose(primal_gradient(-dual_gradient(z)), -z, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(dual_gradient(-primal_gradient(s)), -s, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(-dual_gradient(CENTRE[None]), CENTRE[None], atol=1e-12)


@examples(30)
@given(seed=seeds)
def test_scaling(seed: int):
    """W is symmetric and positive, and takes z to s, and the dual shadow of s to that of z."""
    s, z = points(seed), dual_points(seed + 1)
    W, hessian = scaling(s, z, 1.0)
    np.testing.assert_allclose(W, W.transpose(0, 2, 1), rtol=1e-9, atol=1e-12)
    assert (np.linalg.eigvalsh(W) > 0).all()
    np.testing.assert_allclose(np.einsum("nij,nj->ni", W, z), s, rtol=1e-6, atol=1e-8)
    shadow_s, shadow_z = -dual_gradient(z), -primal_gradient(s)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", W, shadow_z), shadow_s, rtol=1e-5, atol=1e-6)
    on_path = -0.3 * dual_gradient(z)
    np.testing.assert_allclose(scaling(on_path, z, 0.3)[0], 0.3 * hessian, rtol=1e-4, atol=1e-6)


@examples(30)
@given(seed=seeds)
def test_proximity(seed: int):
    """On the central path the sum of barriers is least among pairs of the same product."""
    s, z = points(seed), dual_points(seed + 1)
    mu = (s * z).sum(axis=1) / 3
    assert proximity(s, z) >= -3 * np.log(mu).sum() - 1e-9
    on_path = -0.3 * dual_gradient(z)
    assert proximity(on_path, z) == pytest.approx(-3 * len(z) * np.log(0.3), abs=1e-6)


def test_inside():
    """Points inside are, and those beyond each bound are not."""
    s, z = points(0), dual_points(0)
    assert is_inside(s, z)
    for column, change in ((0, 10.0), (1, -10.0), (2, -10.0)):
        moved = s.copy()
        moved[0, column] += change
        assert not is_inside(moved, z)
    for column, change in ((0, 10.0), (1, -10.0), (2, -10.0)):
        moved = z.copy()
        moved[0, column] += change
        assert not is_inside(s, moved)
