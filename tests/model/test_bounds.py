"""Bounds over all distributions that are consistent with the knowledge, of one probability and of all at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

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
from maxent_cvx.solvers.linear import LinearProgram, Minima, Optimum, linear_bounds
from support.helpers import refused
from support.linear_programs import extreme
from support.random_models import random_model
from support.solving import examples

seeds = st.integers(0, 10**6)


def by_linear_programs(model: MaxEnt, probability: mx.sources.Probability) -> tuple[float, float]:
    """Bound a combination by linear programs over all terms and all rows."""
    form, n = model.form, model.space.n_records
    weight = sum(a * event.row(model.space).toarray().ravel() for event, a in probability.terms.items()) / n
    low, high = extreme(form, weight).fun, -extreme(form, -weight).fun
    return low + probability.constant, high + probability.constant


def test_what_cannot_be_bounded(release):
    """Contradictions, integer programs beside a curve, and objects that are no probability are refused."""
    model = MaxEnt(release)
    assert model.bounds("P(Flu | Gender=male)") == model.bounds(P("Flu", given={"Gender": "male"}))
    for strange in ([P("Flu") <= 0.3], P("Flu") <= 0.3, "P(Flu) = 0.3", 3, np.array(1.0), np.array("Flu")):
        with refused(mx.StatementError):
            model.bounds(strange)
    with refused(mx.UnknownName):
        model.bounds("P(Fluu)")
    with refused(mx.Infeasible):
        model.copy().add(P("Flu", given={"Gender": "male"}) == 0.9).bounds("P(HIV)")
    with refused(mx.SolverError):
        model.add(lambda space: sum(space.p**2) <= 1).bounds("P(HIV)", integer=True)


def test_rounding_is_no_contradiction(hospital, release):
    """Two statements that contradict each other by less than rounding have bounds, and the posterior within them."""
    others = [s for s in hospital["Disease"].unique() if s != "Flu"]
    for off in (1e-15, 2e-15):
        model = MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.3)
        model.add(P(others, given={"Gender": "male"}) == 0.7 + off / 6)
        low, high = model.bounds("P(Flu | Gender=female)")
        assert low - 1e-6 <= model.solve().prob("Flu", given={"Gender": "female"}) <= high + 1e-6


@pytest.mark.parametrize("far", [10, 1e11, 1e300])
def test_a_far_side_restricts_nothing(far: float):
    """A mean of at most 2.8 between 2.5 and any large number is a mean of at least 2.5; above 2.8 there is none."""
    records = pd.DataFrame({"g": list("mmmffmmfff"), "inc": [1, 2, 3, 1, 2, 3, 1, 2, 3, 4], "b": [1] * 5 + [2] * 5})
    release = mx.Release.from_buckets(records, qi="g", sa="inc", bucket="b")
    model = MaxEnt(release).add(mx.E("inc", given={"g": "m"}).between(2.5, far))
    assert model.solve().certificate.bound < 1e-9
    assert model.bounds("P(1 | g=m)") == pytest.approx((0, 0.3), abs=1e-9)
    with refused(Infeasible):
        MaxEnt(release).add(mx.E("inc", given={"g": "m"}).between(2.91, far)).solve()


# Of every P(s | q).


def probability_of(model: MaxEnt, label: tuple) -> mx.sources.Probability:
    """The probability that a row of bounds() is about."""
    view = model.view
    value = dict(zip(view.sensitive, label[len(view.qi) :], strict=True))
    return P(value, given=dict(zip(view.qi, label, strict=False)))


@pytest.mark.parametrize("value", [0.4285714286, 0.42857143])
def test_what_can_be_solved_can_be_bounded(value: float):
    """P(x) is 3/7 by the release; with a rounded value the bounds are those of the release, as its answer is."""
    records = pd.DataFrame({"r": [1, 1, 2, 2, 2, 2, 1], "s": list("xyxyzxz"), "b": [0, 0, 0, 1, 1, 1, 1]})
    release = mx.Release.from_buckets(records, qi="r", sa="s", bucket="b")
    model = MaxEnt(release).add(P("x") == value)
    assert model.solve().certificate.holds
    ours, exact = (m.bounds()[["low", "high"]] for m in (model, MaxEnt(release)))
    np.testing.assert_allclose(ours, exact, atol=1e-6)


@given(seed=st.integers(0, 10**6), statements=st.integers(0, 6))
def test_all_at_once_is_one_by_one(seed: int, statements: int):
    """Shared programs, filtering and closed forms change nothing; the posterior lies inside."""
    model = random_model(seed, statements=statements)[0]
    every = model.bounds()
    post = model.solve().conditional()
    view = model.view
    positive = post.stack().loc[lambda share: share > 1e-6].index
    assert set(positive) <= set(every.index)  # only impossible values are left out
    assert (every["exact"] == "both").all()
    every = every[["low", "high"]]
    for label, (low, high) in zip(every.index, every.to_numpy(), strict=True):
        assert (low, high) == pytest.approx(by_linear_programs(model, probability_of(model, label)), abs=1e-6)
        q, s = label[: len(view.qi)], label[len(view.qi) :]
        expected = post.loc[q if len(q) > 1 else q[0], s if len(s) > 1 else s[0]]
        assert low - 1e-6 <= expected <= high + 1e-6
    one_by_one = model.bounds([probability_of(model, label) for label in every.index])
    np.testing.assert_allclose(every, one_by_one, atol=1e-6)


@given(seed=st.integers(0, 10**6))
def test_integer_bounds_at_once(seed: int):
    """With integer=True all bounds are those one by one, and within the linear ones, wherever there is an assignment."""
    model = random_model(seed, statements=1)[0]
    linear = model.bounds()
    try:
        integer = model.bounds(integer=True)
    except mx.Infeasible:
        return
    one_by_one = model.bounds([probability_of(model, label) for label in integer.index], integer=True)
    np.testing.assert_allclose(integer[["low", "high"]], one_by_one, atol=1e-9)
    assert (integer["low"] >= linear["low"] - 1e-6).all()
    assert (integer["high"] <= linear["high"] + 1e-6).all()


def test_views_of_every_kind(hospital, release):
    """QI tables, populations, series, several sensitive attributes and named people: as one by one."""
    records = pd.DataFrame({"Age": ["*", "*", 45, 30], "Sex": list("FFMM"), "Salary": [30, 80, 40, 50]})
    everybody = pd.DataFrame({"Age": [21, 25, 30, 45, 50, 45, 30, 45], "Sex": list("FFFMMMMF")})
    frame, people = hospital.assign(Ward=["a", "b"] * 5), {"Iris": {"Gender": "female", "Degree": "graduate"}}
    table = mx.QITable(hospital, qi="Gender", sa="Disease", sa_values=["Flu", "HIV"])
    for model in (
        MaxEnt(table).add("P(Flu) = 0.3"),
        MaxEnt(table),
        MaxEnt(mx.Release.from_generalized(records, qi=["Age", "Sex"], sa="Salary", population=everybody)),
        MaxEnt(mx.Release.from_buckets(frame, qi="Gender", sa=["Disease", "Ward"], bucket="Bucket")),
        MaxEnt(release, people=people).add("P(HIV | Iris) <= 0.2"),
        MaxEnt(release, people=people),
    ):
        every = model.bounds()
        for label, ends in zip(every.index, every[["low", "high"]].to_numpy(), strict=True):
            assert ends == pytest.approx(by_linear_programs(model, probability_of(model, label)), abs=1e-6), label


def test_a_view_of_ones_own_has_its_own_closed_bounds(release):
    """Closed bounds that a subclass writes are those that are used, of one probability and of all."""
    model = MaxEnt(release)
    at = np.arange(len(model.space))
    codes, number = np.unique(model.space.cells, return_inverse=True)
    fast = model.invariants.closed_bounds_of_each(model.space, at, number, len(codes))

    class Halved(mx.BucketInvariants):
        """Half of what is true."""

        def closed_bounds(self, space, at):
            low, high = super().closed_bounds(space, at)
            return low / 2, high / 2

    slow = Halved(release).closed_bounds_of_each(model.space, at, number, len(codes))
    np.testing.assert_allclose(np.array(slow) * 2, fast)
    for source in (model.invariants, Halved(release)):  # groups without terms
        assert np.array_equal(source.closed_bounds_of_each(model.space, at[:0], number[:0], 2), np.zeros((2, 2)))


# Under sources that are disjunctions.


class OneOrTheOther(mx.Source):
    """P(s) = 0 or P(s) = 1: nobody has the value, or everybody."""

    def __init__(self, value):
        self.value = value

    def rows(self, space):
        """All that is linear of it: nothing but that it is a probability."""
        yield space.marginal("s").loc[[self.value]] <= 1

    def alternatives(self, space):
        """Nobody, or everybody."""
        return [[space.marginal("s").loc[[self.value]] == share] for share in (0, 1)]


def test_own_disjunction():
    """With at least one of a, all have a, and nobody b; of two disjunctions every combination is tried."""
    view = mx.QITable(pd.DataFrame({"q": [1, 2, 3]}), qi="q", sa="s", sa_values=["a", "b", "c"])
    model = MaxEnt(view).add(OneOrTheOther("a"))
    assert model.bounds(P("a"), integer=True) == (0, 1)
    model.add(P("a") >= 1 / 3)
    assert model.bounds([P("a"), P("b")], integer=True).to_numpy().tolist() == [[1, 1], [0, 0]]
    assert model.bounds(P("b"))[1] == pytest.approx(2 / 3, abs=1e-6)  # of distributions, its rows say less
    assert len(model.knowledge) == 2  # asking leaves the model as it was
    with refused(mx.Infeasible):
        model.add(P("a") <= 0.5).bounds(P("b"), integer=True)
    two = MaxEnt(view).add(OneOrTheOther("a"), OneOrTheOther("b"), P("c") <= 0.5)
    table = two.bounds([P("a"), P("b"), P("a") + P("b"), P("c")], integer=True)
    np.testing.assert_array_equal(table.to_numpy(), [[0, 1], [0, 1], [1, 1], [0, 0]])


def test_too_many_alternatives():
    """There is a limit to the combinations that are tried."""
    people = pd.DataFrame({"x": np.arange(40), "group": np.repeat(np.arange(10), 4)})
    many = mx.QITable(people, qi=["x", "group"], sa="s", sa_values=[1, 2, 3])
    model = MaxEnt(many).add(*(mx.PublishedQuantile(2, given={"group": i}) for i in range(10)))
    with refused(mx.NotDecided):
        model.bounds(P(2), integer=True)


# -- many expressions at once -----------------------------------------------------------------------------------------

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

    class Beyond(Minima):  # points far outside
        def of(self, cost: np.ndarray) -> Iterator[Optimum]:
            for optimum in super().of(cost):
                yield optimum._replace(x=optimum.x + 7)

    monkeypatch.setattr(intervals, "Minima", Beyond)
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
