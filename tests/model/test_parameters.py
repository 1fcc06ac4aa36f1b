"""CVXPY parameters in knowledge: a solve takes their present values, and nothing is built again."""

from __future__ import annotations

import operator

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, MaxEnt, P, StatementError
from support.helpers import refused
from support.problems import SQUARE, p, publish

MEN = {"Gender": "male"}
flu = P("Flu", given=MEN)


@pytest.fixture
def rumour() -> cp.Parameter:
    return cp.Parameter(value=0.3, name="rumour")


def number_of(model: MaxEnt) -> float:
    return model.solve().prob("Flu", given=MEN)


@pytest.mark.parametrize("compare", [operator.eq, operator.le, operator.ge])
def test_a_statement_follows_its_parameter(release, rumour, compare):
    """At every value the answer is that of the statement with the number, to the last digit; so is CVXPY's, nearly."""
    model = MaxEnt(release).add(compare(flu, rumour))
    problem = model.problem
    for rumour.value in (0.3, 0.4, 0.2, 0.3):
        plain = MaxEnt(release).add(compare(flu, rumour.value))
        post, exact = model.solve(), plain.solve()
        np.testing.assert_array_equal(post.counts, exact.counts)
        assert post.certificate == exact.certificate
        assert model.bounds(flu) == plain.bounds(flu)
        n = release.n_records
        value = problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10) / n + np.log(n)
        np.testing.assert_allclose(value, exact.entropy, atol=1e-6)
        np.testing.assert_allclose(model.read(problem).counts, exact.counts, atol=1e-5)
    assert model.problem is problem


@given(value=st.floats(0.26, 0.74), other=st.floats(0.26, 0.74))
def test_cvxpy_constraints_follow_theirs(value, other):
    """Affine in terms and parameters, a parameter as a coefficient, a function of one, or convex: all follow."""
    r = cp.Parameter(value=value, name="r", nonneg=True)
    said = {
        "affine": lambda space: 2 * space.prob("s1", {"Q": "q1"}) + 0.1 == 2 * r + 0.1,
        "coefficient": lambda space: r * space.prob("s1", {"Q": "q1"}) == r * r,
        "function": lambda space: space.prob("s1", {"Q": "q1"}) <= cp.exp(r) - 1 - r,
        "vector": lambda space: cp.hstack([space.prob(s, {"Q": "q1"}) for s in ("s1", "s2")]) <= cp.hstack([r, 1]),
    }
    plain = {
        "affine": p("s1", "q1") == other,
        "coefficient": p("s1", "q1") == other,
        "function": p("s1", "q1") <= min(np.exp(other) - 1 - other, 1.0),
        "vector": p("s1", "q1") <= other,
    }
    for kind, function in said.items():
        r.value = value
        model = MaxEnt(publish(SQUARE)).add(function)
        matrix = model.blocks[-1].matrix
        model.form  # noqa: B018 - derived at the first value
        r.value = other
        try:
            exact = MaxEnt(publish(SQUARE)).add(plain[kind]).solve()
        except mx.Infeasible:
            with pytest.raises(mx.Infeasible):
                model.solve()
            continue
        np.testing.assert_allclose(model.solve().conditional(), exact.conditional(), atol=1e-7)
        assert (model.blocks[-1].matrix is matrix) == (kind != "coefficient" and kind != "function") or value == other


def test_rows_are_emitted_once(release, rumour):
    """Another value changes sides: no source emits its rows a second time, and other rows are the same objects."""
    calls = []

    def source(space: mx.Space) -> list[object]:
        calls.append(1)
        return [space.prob("Flu", given=MEN) == rumour, space.conditional("s", given="q") <= 0.95]

    model = MaxEnt(release).add(source, "P(HIV | Gender=male) <= 0.4")
    first = list(model.blocks)
    rumour.value = 0.35
    assert number_of(model) == pytest.approx(0.35)
    assert len(calls) == 1
    same = [block is other for block, other in zip(first, model.blocks, strict=True)]
    assert same == [True, True, False, True, True]  # the first two are those of the release
    assert model.blocks[2].matrix is first[2].matrix
    assert model.form is model.form  # nothing is derived again as long as no value changes


def test_an_answer_stays_as_it_was(release, rumour):
    """The prices of a posterior are those of the values at the time of its solve."""
    model = MaxEnt(release).add(flu == rumour)
    post = model.solve()
    prices = post.prices()
    rumour.value = 0.4
    pd.testing.assert_frame_equal(post.prices(), prices)
    pd.testing.assert_frame_equal(post.prices(leave_one_out=True)[prices.columns], prices)
    assert post.model.solve().prob("Flu", given=MEN) == pytest.approx(0.3)
    assert number_of(model.copy()) == pytest.approx(0.4)  # a copy of the model follows
    assert number_of(model.at_rest()) == pytest.approx(0.4)
    assert "rumour" in prices.index[0]


def test_values_that_cannot_be(release, rumour):
    """Without a value, or with an impossible probability, there is no solve; after the next good value there is.

    The model can be shown, and the statement removed, at any value.
    """
    model = MaxEnt(release).add(flu == rumour)
    for error, value in ((StatementError, None), (BadProbability, 1.5)):
        rumour.value = value
        for ask in (model.solve, lambda: model.bounds("P(Flu)")):
            with refused(error):
                ask()
    rumour.value = 0.25
    assert number_of(model) == pytest.approx(0.25)
    rumour.value = None
    assert repr(model) == "<MaxEnt: 27 terms, 19 rows from 2 sources>"
    assert not model.remove(*model.knowledge).knowledge
    with refused(StatementError):
        MaxEnt(release).add(flu == cp.Parameter(name="nothing"))


def test_labels_and_repeats(release, rumour):
    """The label of a statement has the parameter's name; adding it twice is a warning; relaxed, it has a number."""
    model = MaxEnt(release).add(flu >= 2 * rumour)
    assert list(model.knowledge) == ["P(Flu | Gender=male) >= 2.0 * rumour"]
    with pytest.warns(mx.RepeatedStatement):
        model.add(flu >= 2 * rumour)
    assert len(model.knowledge) == 1
    wider = model.relax().model  # three of six men at most have it
    assert wider.solve().prob("Flu", given=MEN) == pytest.approx(0.5)


@pytest.mark.parametrize("compare", [operator.eq, operator.le, operator.ge])
def test_a_soft_statement_follows_its_parameter(release, rumour, compare):
    """At every value, also one that no probability has, cost and answer are those of the statement with the number."""
    said = compare(flu, rumour)
    models = [MaxEnt(release).add(mx.soft(one, sd=0.05)) for one in (said, lambda space: said)]
    for rumour.value in (0.3, 0.45, 0.2, 1.2):
        low = -np.inf if compare is operator.le else rumour.value
        high = np.inf if compare is operator.ge else rumour.value
        post = MaxEnt(release).add(flu.missable(low, high, mx.soft(flu == 0.3, sd=0.05).penalty)).solve()
        for model in models:
            assert number_of(model) == pytest.approx(post.prob("Flu", given=MEN), abs=1e-9)
            np.testing.assert_allclose(model.solve().penalties, post.penalties, atol=1e-9)


@pytest.mark.parametrize("compare", [operator.eq, operator.le, operator.ge])
def test_a_mean_among_people_of_unknown_number(compare):
    """E(age | ill) = c is (age - c) p = 0: the row and the program follow the parameter, as a new statement's do."""
    view = mx.QITable(pd.DataFrame({"age": [20, 40, 70]}), qi="age", sa="ill", sa_values=["no", "yes"])
    mean, c = mx.E("age", given={"ill": "yes"}), cp.Parameter(value=40.0)
    model = MaxEnt(view).add(compare(mean, c))
    for c.value in (40.0, 30.0, 55.0):
        expected = MaxEnt(view).add(compare(mean, c.value)).solve().counts
        np.testing.assert_allclose(model.solve().counts, expected, atol=1e-9)
        model.problem.solve(solver="CLARABEL")
        np.testing.assert_allclose(model.space.counts.value, expected, atol=1e-4)


@pytest.mark.parametrize(
    "bound",
    [
        lambda p, x: p * cp.abs(x) <= 0.05, lambda p, x: p * cp.square(x) <= 0.01, lambda p, x: cp.square(x) <= p - 1,
        lambda p, x: p * cp.norm1(cp.hstack([x, x])) <= 0.1, lambda p, x: p * cp.abs(x) + cp.abs(x) <= 0.05,
        lambda p, x: p * cp.minimum(x, 0.2 - x) >= -0.1,
    ],
)  # fmt: skip
def test_a_factor_that_vanishes(release, bound):
    """A convex constraint of which a parameter leaves nothing, or which it makes impossible, and back again."""
    p = cp.Parameter(nonneg=True, value=1.5)

    def said(space):
        return bound(p, space.prob("Flu", given=MEN) - 0.5)

    def answer(model):
        try:
            return number_of(model)
        except mx.Infeasible:
            return None

    model = MaxEnt(release).add(said)
    for p.value in (1.5, 0.0, 1.2, 0.5):
        expected = answer(MaxEnt(release).add(said))
        assert (result := answer(model)) == (None if expected is None else pytest.approx(expected, abs=1e-7)), result


def test_a_divergence_from_a_parameter_that_is_zero(release):
    """A probability whose reference is 0 is 0, which could not be undone; a positive reference may become 0."""
    t = cp.Parameter(nonneg=True, value=0.0)

    def near(space):
        chosen = [space.prob("Breast Cancer", given={"Degree": "college"}), space.prob("HIV", given=MEN)]
        return cp.sum(cp.kl_div(cp.hstack(chosen), cp.hstack([t, 0.05]))) <= 0.2

    def of_college(model):
        return model.solve().prob("Breast Cancer", given={"Degree": "college"})

    with refused(StatementError):
        MaxEnt(release).add(near)
    t.value = 0.3
    model = MaxEnt(release).add(near)
    assert of_college(model) > 0.1
    t.value = 0.0
    assert of_college(model) == pytest.approx(0, abs=1e-6)
    t.value = 0.3
    assert of_college(model) > 0.1
