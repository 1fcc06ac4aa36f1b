"""Intervals: bounds over every distribution that is consistent with what is known (design, section 3)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P
from support.depot import CUBE, p, publish
from support.helpers import refused
from support.random_models import random_model

seeds = st.integers(0, 10**6)


def by_linear_programs(model: MaxEnt, asked: mx.sources.Probability) -> tuple[float, float]:
    """Bound a combination over all terms and all rows, with no short cut."""
    form, n = model.form, model.space.n_records
    weight = sum(a * event.row(model.space).toarray().ravel() for event, a in asked.terms.items()) / n
    exact, upper, lower = form.is_equation, np.isfinite(form.high), np.isfinite(form.low)
    found = [
        linprog(
            sign * weight,
            A_eq=form.matrix[exact].toarray(),
            b_eq=form.low[exact],
            A_ub=np.vstack([form.matrix[upper].toarray(), -form.matrix[lower].toarray()]),
            b_ub=np.concatenate([form.high[upper], -form.low[lower]]),
            method="highs",
        )
        for sign in (1, -1)
    ]
    assert all(f.success for f in found)
    return found[0].fun + asked.constant, -found[1].fun + asked.constant


def some_probability(model: MaxEnt, rng: np.random.Generator, n: int) -> mx.sources.Probability:
    """A combination of n probabilities of values and people of the release."""
    view, total = model.view, 0.0
    for _ in range(n):
        values = list(rng.choice(view.sensitive_values, rng.integers(1, 3)))
        person = view.quasi_identifiers[rng.integers(len(view.quasi_identifiers))]
        chosen = rng.choice(len(view.qi), rng.integers(0, len(view.qi) + 1), replace=False)
        total = float(rng.choice([-2.0, 0.5, 1.0])) * P(values, given={view.qi[i]: person[i] for i in chosen}) + total
    return total


@given(seed=seeds, n=st.integers(1, 3))
def test_bounds_are_those_of_the_whole_problem(seed: int, n: int):
    """Presolve, closed forms and independent parts change nothing; and the posterior lies inside."""
    model = random_model(seed, statements=4)[0]
    asked = some_probability(model, np.random.default_rng(seed), n)
    low, high = model.bounds(asked)
    np.testing.assert_allclose((low, high), by_linear_programs(model, asked), atol=1e-6)
    post = model.solve()
    assert low - 1e-6 <= post.prob(asked) <= high + 1e-6


@given(seed=seeds)
def test_without_knowledge_bounds_are_counting(seed: int):
    """In a bucket, n(Q, S) is any whole number from max(0, n(Q) + n(S) - n) to min(n(Q), n(S)): all assignments."""
    rng = np.random.default_rng(seed)
    people, values = rng.integers(0, 3, 5), rng.integers(0, 3, 5)
    text = [" ".join(f"{letter}{i}" for i in codes) for letter, codes in (("q", people), ("s", values))]
    model = MaxEnt(publish([tuple(text)]))
    q, s = f"q{people[0]}", f"s{values[0]}"
    of_q = people == people[0]
    seen = {np.mean([v == values[0] for v in np.array(order)[of_q]]) for order in itertools.permutations(values)}
    assert model.bounds(p(s, q)) == pytest.approx((min(seen), max(seen)), abs=1e-12)


def test_what_cannot_be_bounded(hospital):
    """Contradictions, curves, and what is no probability are refused by name."""
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    model = MaxEnt(release)
    assert model.bounds("P(Flu | Gender=male)") == model.bounds(P("Flu", given={"Gender": "male"}))
    for strange in ([P("Flu") <= 0.3], P("Flu") <= 0.3, 3):
        with refused(mx.StatementError):
            model.bounds(strange)
    with refused(mx.UnknownName, "'Fluu'"):
        model.bounds("P(Fluu)")
    with refused(mx.StatementError):
        model.bounds("P(Flu) = 0.3")
    with refused(mx.Infeasible, "contradicts"):
        model.copy().add(P("Flu", given={"Gender": "male"}) == 0.9).bounds("P(HIV)")
    with refused(mx.SolverError):
        model.add(lambda space: sum(space.p**2) <= 1).bounds("P(HIV)", integer=True)


def test_what_a_row_is_forgiven_contradicts_nothing(hospital):
    """Two statements that miss each other by less than rounding are as good for bounds as for the posterior."""
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    others = [s for s in hospital["Disease"].unique() if s != "Flu"]
    for off in (1e-15, 2e-15):
        model = MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.3)
        model.add(P(others, given={"Gender": "male"}) == 0.7 + off / 6)
        low, high = model.bounds("P(Flu | Gender=female)")
        assert low - 1e-6 <= model.solve().prob("Flu", given={"Gender": "female"}) <= high + 1e-6


@pytest.mark.parametrize("asked", [np.array(1.0), np.array("Flu")])
def test_an_array_without_a_dimension(asked: np.ndarray):
    """It is iterable by its type, and cannot be iterated over."""
    with pytest.raises(mx.StatementError, match="bounds"):
        MaxEnt(publish(CUBE)).bounds(asked)
