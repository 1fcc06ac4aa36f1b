"""DUAL_NEWTON: derivatives, optimality conditions in extended precision, agreement with other solvers, any start."""

from __future__ import annotations

from dataclasses import replace

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx.solvers.answer import Status
from maxent_cvx.solvers.attempts import presolved
from maxent_cvx.solvers.certificate import certify
from maxent_cvx.solvers.dual import Dual
from maxent_cvx.solvers.form import Groups, LinearForm
from maxent_cvx.solvers.newton import newton
from support.problems import SQUARE, p, publish
from support.random_models import from_multipliers, linear_form, random_model, random_rows

OPEN = np.inf
seeds = st.integers(0, 10**6)


@given(seed=seeds)
def test_the_answer_is_optimal(seed: int):
    """With 50 digits: x = w exp(A' m - 1), the rows hold, and m is positive or negative only at an active side."""
    form = random_rows(seed, 1.0)[0]
    answer = newton(form, tolerance=1e-10)
    assert answer.status is Status.OPTIMAL
    with mp.workdps(50):
        a = form.matrix.toarray()
        m = answer.multipliers
        x = [w * mp.exp(mp.fdot(column, m) - 1) for column, w in zip(a.T, map(mp.mpf, form.weights), strict=True)]
        assert max(abs(xi - ci) for xi, ci in zip(x, answer.counts, strict=True)) < 1e-11
        for row, low, high, mi in zip(a, form.low, form.high, m, strict=True):
            value = mp.fdot(row, x)
            assert low - mp.mpf("1.1e-10") <= value <= high + mp.mpf("1.1e-10")
            if low < high and mi:
                assert abs(mi * (value - (low if mi > 0 else high))) < 1.1e-10


@given(seed=seeds, size=st.sampled_from([0.1, 1.0, 5.0]))
def test_any_start(seed: int, size: float):
    """It ends at the same x from any start, also from one with a multiplier on an infinite side.

    From its own answer there is nothing to do.
    """
    form = random_rows(seed, 1.0)[0]
    cold = newton(form)
    start = np.random.default_rng(seed).normal(0, size, form.shape[0])
    before = start.copy()
    warm = newton(form, start)
    np.testing.assert_allclose(warm.counts, cold.counts, atol=1e-7)
    np.testing.assert_array_equal(start, before)
    again = newton(form, cold.multipliers)
    assert again.iterations == 0
    np.testing.assert_array_equal(again.multipliers, cold.multipliers)


def test_how_it_ends():
    """Rows hold to the tolerance or to rounding; iterations run out; infeasible rows are never optimal."""
    for seed in range(5):
        form = random_rows(seed, 1.0)[0]
        for tolerance in (1e-2, 1e-9, 0.0):
            answer = newton(form, tolerance=tolerance)
            assert answer.status is Status.OPTIMAL
            assert form.residual(answer.counts).max() <= max(tolerance, 1e-11)
    form = random_rows(3, 1.0)[0]
    complete = newton(form)
    assert complete.iterations > 2
    for most in range(1, complete.iterations):
        answer = newton(form, max_iterations=most)
        assert (answer.status, answer.iterations, len(answer.log)) == (Status.LIMIT, most, most + 1)
        assert form.residual(answer.counts).max() > 1e-9
    contradictions = [([[1, 1], [1, 1]], [1, 2], [1, 2]), ([[1, 1], [1, 0]], [1, 2], [1, OPEN]), ([[1, 1]], [-2], [-1])]
    for contradiction in contradictions:
        with np.errstate(over="ignore"):
            assert newton(linear_form(*contradiction)).status is not Status.OPTIMAL


def test_far_from_the_start():
    """Of two bounds on a term far above both the tighter one is met; without rows x = w / e, which is certified."""
    low, high = np.array([0.01, -OPEN, -OPEN]), np.array([0.07, OPEN, 0.5])
    form = LinearForm.plain(sp.csr_array(np.ones((3, 1))), low, high, np.array([80.0]))  # 80 / e people without them
    answer = newton(form)
    assert answer.status is Status.OPTIMAL
    np.testing.assert_allclose(answer.counts, [0.07])
    assert newton(form, np.array([-40.0, 0.0, 0.0])).counts == pytest.approx([0.07])
    weights = np.array([1.0, 2.0, 3.0])
    form = LinearForm.plain(sp.csr_array((0, 3)), np.empty(0), np.empty(0), weights)
    answer = newton(form)
    np.testing.assert_allclose(answer.counts, weights / np.e)
    one_group = Groups(np.zeros(3, dtype=int), np.array([6 / np.e]))
    assert certify(form, one_group, answer.counts, answer.multipliers).holds


def test_a_start_whose_counts_overflow_is_left(release):
    """The multipliers of terms that vanish may be beyond exp(709): an answer is a start for its own model all the same."""
    statements = (
        "P(HIV | Gender=male) = 0.166666666667", "P(Breast Cancer | Gender=male) = 0", "P(Flu | Degree=college) = 0.2",
        "P(Flu | Degree=graduate) = 0.5",
    )  # fmt: skip
    model = mx.MaxEnt(release).add(*statements)
    cold = model.solve()
    for start in (cold, mx.MaxEnt(release).add(*statements[:3]).solve()):
        warm = model.solve(warm_start=start)
        np.testing.assert_allclose(warm.conditional(), cold.conditional(), atol=1e-6)
    form = model.form
    answer = newton(form, np.full(form.shape[0], 1e4))
    assert answer.status.value == "optimal"


def test_a_start_that_is_worse_than_zeros():
    """Starts with multipliers of about 30 are not used: from them the method takes up to 200 iterations, or does not end."""
    rng, qi = np.random.default_rng(3), list("ABCD")
    frame = pd.DataFrame({name: rng.integers(4, size=800) for name in qi}).assign(S=rng.choice(["y", "n"], 800))
    rules = mx.anonymize.mine_rules(frame, qi=qi, sa="S", support=0.01, confidence=0.3)
    table = mx.QITable(frame, qi=qi, sa="S", sa_values=["n", "y"])
    form = presolved(mx.MaxEnt(table).add(mx.PublishedRules(rules)).posed).form
    cold = newton(form)
    for _ in range(4):
        warm = newton(form, rng.normal(0, 30, form.shape[0]))
        assert warm.status is Status.OPTIMAL
        assert warm.iterations <= 2 * cold.iterations
        np.testing.assert_allclose(warm.counts, cold.counts, atol=1e-6)


def test_a_start_that_is_a_little_worse_than_zeros_is_used():
    """The entropic penalty extrapolates from two answers, so that the second must continue from the first."""
    form = from_multipliers(5).form
    start = form.project_to_dual_cone(np.full(form.shape[0], 0.5))
    at_start, at_zeros = (Dual(form).at(m).value for m in (start, np.zeros(form.shape[0])))
    assert at_zeros < at_start < 1e3 * abs(at_zeros)
    assert newton(form, start).log[0]["dual"] == pytest.approx(at_start)


def side_by_side(forms: list[LinearForm]) -> LinearForm:
    """One form of several without common terms, the published rows of all first."""
    matrix = sp.csr_array(sp.block_diag([form.matrix for form in forms]))
    low, high, weights = (np.concatenate([getattr(f, name) for f in forms]) for name in ("low", "high", "weights"))
    published = np.concatenate([np.arange(form.shape[0]) < form.n_published for form in forms])
    form = replace(LinearForm.plain(matrix, low, high, weights), n_published=len(published))
    order = np.argsort(~published, kind="stable")
    return replace(form.select(order), coefficients=matrix[order], n_published=int(published.sum()))


def forms(seed: int, n: int) -> list[LinearForm]:
    """Random models, each with its own weights."""
    rng = np.random.default_rng(seed)
    found = [random_model(seed + i, statements=4, buckets=(1, 1))[0].form for i in range(n)]
    return [replace(form, weights=rng.exponential(size=form.shape[1]) + 0.1) for form in found]


@pytest.mark.parametrize("n", [2, 19])
def test_components_are_solved_as_by_themselves(n: int):
    """A component has the same answer by itself and in the whole problem; a contradiction in one is one of all."""
    for seed in range(5):
        each = forms(seed, n)
        form = side_by_side(each)
        found = newton(form)
        alone = np.concatenate([newton(component).counts for component in each])
        assert found.status is Status.OPTIMAL
        np.testing.assert_allclose(found.counts, alone, atol=1e-4)  # entropy is flat at its top
        assert form.residual(found.counts).max() <= 1e-6
        sure = found.counts > 1e-6  # at a zero the multipliers are infinite
        np.testing.assert_allclose(found.counts[sure], np.exp(form.exponent(found.multipliers))[sure], rtol=1e-6)
    twice = [*SQUARE, ("q3*4 q4*2", "s1*3 s2*3")]
    model = mx.MaxEnt(publish(twice)).add(p("s1", "q1") == 0.4, p("s1", "q3") == 0.4)
    np.testing.assert_allclose(model.solve().prob("s1", {"Q": "q4"}), 0.7, atol=1e-9)  # 3 - 1.6 of 2
    with pytest.raises(mx.Infeasible):
        model.add(p("s1", "q4") == 0.6).solve()


def test_a_row_that_presolve_scales_up():
    """If a mean is the least possible up to 5e-10, its row is divided by about that; Newton's steps remain of full size."""
    view = mx.QITable(pd.DataFrame({"edu": [2] * 4 + [5] * 6 + [9] * 10}), qi="edu", sa="s", sa_values=list("abc"))
    post = mx.MaxEnt(view).add(mx.E("edu", given={"s": "a"}).about(2, eps=5e-10)).solve()
    assert post.certificate.holds
    assert post.iterations < 50
