"""Bounds of many expressions: the same as one linear program for each end, and attained where they say so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import Inaccurate, Infeasible, MaxEnt, P, SolverError
from maxent_cvx.model.bounds import of_conditionals
from maxent_cvx.solvers import intervals
from maxent_cvx.solvers.form import LinearForm
from maxent_cvx.solvers.intervals import Questions, attain_locally, many_bounds
from maxent_cvx.solvers.linear import LinearProgram, Optimum, linear_bounds
from support.linear_programs import extreme
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


@examples(20)
@given(seed=st.integers(0, 10**6), blocks=st.integers(1, 5))
def test_many_are_as_one_by_one(seed: int, blocks: int):
    """Random expressions, also across parts: the ends of linear programs over everything."""
    rng = np.random.default_rng(seed)
    form = random_form(rng, blocks)
    asked = rng.choice([-2.0, 0.0, 0.0, 1.0, 1e3], (12, form.shape[1]))
    known: list[int] = []
    low, high = many_bounds(form, sp.csr_array(asked), N, known.append).value
    size = np.maximum(np.abs(asked).max(axis=1), 1)
    for i, objective in enumerate(asked):
        ends = extreme(form, objective).fun, -extreme(form, -objective).fun
        assert (low[i], high[i]) == pytest.approx(ends, abs=1e-6 * size[i] * blocks)
    assert sum(known) == 2 * len(asked)


def test_independent_parts_and_many_ends_share_programs(monkeypatch: pytest.MonkeyPatch):
    """Of 40 buckets of five by five, 1,000 terms with 2,000 ends, all are known after some dozens of programs."""
    calls = []
    monkeypatch.setattr(LinearProgram, "run", lambda *given, solve=LinearProgram.run: calls.append(1) or solve(*given))
    people = sp.kron(sp.eye_array(5), np.ones((1, 5)))
    values = sp.kron(np.ones((1, 5)), sp.eye_array(5))
    matrix = sp.csr_array(sp.block_diag([sp.vstack([people, values])] * 40, format="csr"))
    form = published_form(matrix, np.ones(400))
    low, high = many_bounds(form, sp.csr_array(sp.eye_array(1000)), 5.0, lambda ends: None).value
    np.testing.assert_allclose(low, 0, atol=1e-6)
    np.testing.assert_allclose(high, 1, atol=1e-6)
    assert 5 <= len(calls) <= 50  # of five by five, one assignment has five ones: no fewer than five


def test_a_contradiction_is_an_error():
    """A contradiction in one of several parts is an error, unless it is within the tolerance of rows."""
    matrix = sp.csr_array(np.array([[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]))
    every = sp.csr_array(sp.eye_array(4))
    for off in (1e-10, 1.0):
        form = published_form(matrix, np.array([2.0, 2 + off, 3]))
        if off == 1.0:
            with pytest.raises(Infeasible):
                many_bounds(form, every, N, lambda ends: None)
        else:
            low, high = many_bounds(form, every, N, lambda ends: None).value
            np.testing.assert_allclose([low, high], [[0] * 4, [2, 2, 3, 3]], atol=1e-6)


def test_a_solver_that_fails_or_lies(monkeypatch: pytest.MonkeyPatch):
    """No answer is an error; a point that violates rows settles nothing; multipliers that prove nothing are refused."""
    form = published_form(sp.csr_array(np.ones((1, 3))), np.array([2.0]))
    expressions = sp.csr_array(np.array([[1.0, 0.5, 0], [0, 1, 0.5], [1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    truth = many_bounds(form, expressions, N, lambda ends: None).value
    np.testing.assert_allclose(truth, [[0] * 5, [2] * 5], atol=1e-6)

    nothing = Optimum(False, False, "lost", np.empty(0), np.empty(0))
    with monkeypatch.context() as patched:
        patched.setattr(LinearProgram, "minimum", lambda program, cost: nothing)
        with pytest.raises(SolverError, match="lost"):
            many_bounds(form, expressions, N, lambda ends: None)

    def beyond(polyhedron: Any, cost: np.ndarray) -> tuple[Any, Optimum]:  # far outside
        answer = next(polyhedron.minima.of(cost))
        return polyhedron, answer._replace(x=answer.x + 7)

    monkeypatch.setattr(intervals.Polyhedron, "feasible_optimum", beyond)
    np.testing.assert_allclose(many_bounds(form, expressions, N, lambda ends: None).value, truth, atol=1e-6)

    def unproved(form: LinearForm, objective: np.ndarray) -> tuple[float, float]:
        raise Inaccurate("only 0 is proved")

    monkeypatch.setattr(intervals, "linear_bounds", unproved)
    with pytest.raises(Inaccurate):
        many_bounds(form, expressions, N, lambda ends: None)


def published(seed: int, people: int = 240, statements: int = 8, *, vague: bool = False) -> MaxEnt:
    """A release of buckets of some ten people, with true statements about groups that are in many buckets."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "a": rng.choice(list("uvw"), people),
            "b": rng.choice(list("xyz"), people),
            "c": rng.integers(0, people // 6, people),
            "s": rng.choice(list("12345"), people, p=[0.4, 0.25, 0.2, 0.1, 0.05]),
            "bucket": rng.permutation(people) // 10,
        }
    )
    model = MaxEnt(mx.Release.from_buckets(table, qi=["a", "b", "c"], sa="s", bucket="bucket"))
    groups = [{"a": a} for a in "uvw"] + [{"a": a, "b": b} for a in "uvw" for b in "xyz"]
    for i in rng.permutation(5 * len(groups))[:statements]:
        group, value = groups[i // 5], "12345"[i % 5]
        found = table.query(" and ".join(f"{name} == {of!r}" for name, of in group.items()))
        share, probability = float((found["s"] == value).mean()), P(value, given=group)
        model.add(probability.about(share, eps=0.01) if vague and i % 2 else probability == share)
    return model


def asked_of(model: MaxEnt) -> Questions:
    """Every P(s | q) of a model, over the rows before presolve."""
    return Questions(model.form, sp.csr_array(of_conditionals(model.space).matrix), float(model.space.n_records))


@examples(4)
@given(seed=st.integers(0, 10**6), vague=st.booleans())
def test_attained_ends_are_values_of_linear_programs(seed: int, vague: bool):
    """An end that is marked as attained is the value of its linear program; most ends are marked."""
    model = published(seed, people=600, vague=vague)
    asked = asked_of(model)
    open_before = asked.open
    attain_locally(model.form, asked)
    noted = open_before & ~asked.open
    assert noted.sum() > open_before.sum() / 2
    rng = np.random.default_rng(seed)
    for side, part in rng.permutation(np.argwhere(noted))[:12]:
        truth = linear_bounds(model.form, asked.matrix[[part]].toarray().ravel())[side]
        assert abs(truth - asked.proved[side, part]) <= 1e-6


def test_a_contradiction_is_an_error_without_linear_programs_for_ends():
    """Contradictory knowledge is an error also if no linear program computes an end."""
    model = published(0)
    model.add(P("1", given={"a": "u"}) >= 0.7, *(P("1", given={"a": "u", "b": b}) <= 0.2 for b in "xyz"))
    for exact in (None, False, True):
        with pytest.raises(mx.Infeasible):
            model.bounds(exact=exact)
