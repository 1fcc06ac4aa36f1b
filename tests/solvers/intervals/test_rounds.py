"""Many intervals at once: the same as one by one, with far fewer linear programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import maxent_cvx.solvers.intervals.rounds as rounds
from maxent_cvx import Inaccurate, Infeasible, SolverError
from maxent_cvx.solvers.intervals.rounds import many_bounds
from maxent_cvx.solvers.linear.highs import Optimum, linear_program
from maxent_cvx.solvers.program.linear_form import LinearForm
from maxent_cvx.solvers.program.weak_duality import dual_bound, dual_bounds
from support.solving import examples

N = 20.0


def random_form(rng: np.random.Generator, blocks: int) -> LinearForm:
    """Buckets of so many records each, and rows of knowledge of single buckets, all true of one point; shuffled."""
    sizes = rng.integers(1, 6, blocks)
    bucket = rng.permutation(np.repeat(np.arange(blocks), sizes))
    point = np.rint(rng.random(len(bucket)) * 3)
    published = (bucket == np.arange(blocks)[:, None]).astype(float)
    about = rng.integers(0, blocks, 3 * blocks)
    known = rng.choice([-1.0, 0.0, 0.5, 1.0], (len(about), len(bucket)), p=[0.1, 0.3, 0.1, 0.5])
    known *= bucket == about[:, None]
    value = known @ point
    side = rng.integers(0, 3, len(about))  # at most, at least, exactly
    low = np.concatenate([published @ point, np.where(side == 0, -np.inf, value)])
    high = np.concatenate([published @ point, np.where(side == 1, np.inf, value)])
    form = LinearForm.plain(sp.csr_array(np.vstack([published, known])), low, high)
    return replace(form, n_published=blocks, n_facts=blocks)


def published_form(matrix: sp.csr_array, values: np.ndarray) -> LinearForm:
    """Equations, all of them published."""
    return replace(LinearForm.plain(matrix, values, values), n_published=len(values), n_facts=len(values))


def by_hand(form: LinearForm, objective: np.ndarray) -> tuple[float, float]:
    """Two linear programs over the whole problem, by HiGHS."""
    matrix, up, down = form.matrix.toarray(), np.isfinite(form.high), np.isfinite(form.low)
    found = [
        linprog(sign * objective, np.vstack([matrix[up], -matrix[down]]), np.r_[form.high[up], -form.low[down]])
        for sign in (1, -1)
    ]
    assert all(one.status == 0 for one in found)
    return found[0].fun, -found[1].fun


@examples(80)
@given(seed=st.integers(0, 10**6), blocks=st.integers(1, 5))
def test_many_are_as_one_by_one(seed: int, blocks: int):
    """Random expressions, also across parts: the ends of linear programs over everything."""
    rng = np.random.default_rng(seed)
    form = random_form(rng, blocks)
    asked = rng.choice([-2.0, 0.0, 0.0, 1.0, 1e3], (12, form.shape[1]))
    progress: list[int] = []
    low, high = many_bounds(form, sp.csr_array(asked), N, progress.append).value
    size = np.maximum(np.abs(asked).max(axis=1), 1)
    for i, objective in enumerate(asked):
        assert (low[i], high[i]) == pytest.approx(by_hand(form, objective), abs=1e-6 * size[i] * blocks)
    assert progress[-1:] in ([], [0])


def test_independent_parts_and_many_ends_share_programs(monkeypatch: pytest.MonkeyPatch):
    """Of 40 buckets of five by five, 1,000 terms with 2,000 ends, all are known after some dozens of programs."""
    calls = []
    monkeypatch.setattr(
        rounds, "_optimum", lambda form, cost, solve=rounds._optimum: calls.append(1) or solve(form, cost)
    )
    people = sp.kron(sp.eye_array(5), np.ones((1, 5)))
    values = sp.kron(np.ones((1, 5)), sp.eye_array(5))
    matrix = sp.csr_array(sp.block_diag([sp.vstack([people, values])] * 40, format="csr"))
    form = published_form(matrix, np.ones(400))
    low, high = many_bounds(form, sp.csr_array(sp.eye_array(1000)), 5.0, lambda open_: None).value
    np.testing.assert_allclose(low, 0, atol=1e-6)
    np.testing.assert_allclose(high, 1, atol=1e-6)
    assert 5 <= len(calls) <= 50  # of five by five, one assignment has five ones: no fewer than five


def test_a_contradiction_is_told():
    """Also if it is in one of several parts; one within the tolerance of rows is none."""
    matrix = sp.csr_array(np.array([[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]))
    every = sp.csr_array(sp.eye_array(4))
    for off in (1e-10, 1.0):
        form = published_form(matrix, np.array([2.0, 2 + off, 3]))
        if off == 1.0:
            with pytest.raises(Infeasible):
                many_bounds(form, every, N, lambda open_: None)
        else:
            low, high = many_bounds(form, every, N, lambda open_: None).value
            np.testing.assert_allclose([low, high], [[0] * 4, [2, 2, 3, 3]], atol=1e-6)


def test_a_solver_that_fails_or_lies(monkeypatch: pytest.MonkeyPatch):
    """No answer is an error; a point that violates rows settles nothing; multipliers that prove nothing are refused."""
    form = published_form(sp.csr_array(np.ones((1, 3))), np.array([2.0]))
    expressions = sp.csr_array(np.array([[1.0, 0.5, 0], [0, 1, 0.5], [1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    truth = many_bounds(form, expressions, N, lambda open_: None).value
    np.testing.assert_allclose(truth, [[0] * 5, [2] * 5], atol=1e-6)

    def nothing(form: LinearForm, cost: np.ndarray) -> list[Optimum]:
        return [Optimum(False, False, "lost", np.empty(0), np.empty(0))]

    monkeypatch.setattr(rounds, "optima", nothing)
    with pytest.raises(SolverError, match="lost"):
        many_bounds(form, expressions, N, lambda open_: None)

    def beyond(form: LinearForm, cost: np.ndarray) -> list[Optimum]:  # far outside
        answer = linear_program(cost, form.matrix, form.low, form.high)
        return [answer._replace(x=answer.x + 7)]

    monkeypatch.setattr(rounds, "optima", beyond)
    np.testing.assert_allclose(many_bounds(form, expressions, N, lambda open_: None).value, truth, atol=1e-6)

    def unproved(form: LinearForm, objective: np.ndarray) -> tuple[float, float]:
        raise Inaccurate("only 0 is proved")

    monkeypatch.setattr(rounds, "linear_bounds", unproved)
    with pytest.raises(Inaccurate):
        many_bounds(form, expressions, N, lambda open_: None)


@examples(40)
@given(seed=st.integers(0, 10**6))
def test_bounds_of_components_add_up(seed: int):
    """Weak duality holds of every component by itself: what is proved of the parts adds up to what is of all."""
    rng = np.random.default_rng(seed)
    form = random_form(rng, 3)
    cost = rng.normal(size=form.shape[1])
    answer = linear_program(cost, form.matrix, form.low, form.high)
    multipliers = answer.multipliers + rng.normal(size=form.shape[0]) * 1e-3
    of_row, of_term = form.components()
    n = int(max(of_row.max(), of_term.max())) + 1
    for d in (answer.multipliers, multipliers):
        parts = dual_bounds(form, cost, d, of_row, of_term, n)
        assert np.isfinite(parts).all()
        assert parts.sum() == pytest.approx(dual_bound(form, cost, d))
        attained = np.bincount(of_term, cost * answer.x, n)
        assert (parts <= attained + 1e-6).all()
