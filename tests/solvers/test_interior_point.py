"""The interior-point method: multipliers near the solution, also where Newton's steps become tiny."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx.solvers.attempts import presolved
from maxent_cvx.solvers.costs import Penalties
from maxent_cvx.solvers.dual import Dual
from maxent_cvx.solvers.duality import empty_terms
from maxent_cvx.solvers.form import LinearForm
from maxent_cvx.solvers.interior_point import multipliers_near_solution
from maxent_cvx.solvers.monitor import Monitor
from maxent_cvx.solvers.newton import newton
from maxent_cvx.solvers.proofs import recession_part
from maxent_cvx.solvers.schur import newton_system
from support.random_models import from_multipliers
from tests.benchmarks.models import generic_statements


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["hard", "soft", "divergence"]))
def test_the_start_is_the_solution(seed: int, kind: str):
    """The method ends where Newton's does, up to rounding; soft rows are near the truth or missed."""
    exact, log = from_multipliers(seed), []
    form, rng = exact.form, np.random.default_rng(seed)
    n = form.shape[0] - form.n_facts
    off = np.append(np.zeros(form.n_facts), rng.choice([0.0, -0.5, 2.0], n))
    if kind == "soft" and n:
        penalties = Penalties(rng.choice([0.0, 0.5], n), rng.choice([0.3, 2.0], n))
        form = replace(form, low=form.low + off, high=form.high + off, penalties=penalties)
    if kind == "divergence" and n:
        assume((form.matrix.data >= 0).all())
        zeros, targets = np.zeros(n), rng.uniform(0.5, 2, n) * exact.counts.mean()
        sides = np.append(form.low[: form.n_facts], zeros)
        penalties = Penalties(zeros, zeros + np.inf, zeros + 0.7, targets)
        form = replace(form, low=sides, high=np.append(form.high[: form.n_facts], zeros), penalties=penalties)
    dual = Dual(form)
    m = multipliers_near_solution(dual, newton_system(form), np.zeros(form.shape[0]), 200, Monitor(), log)
    expected, point = newton(form), dual.at(m)
    close = 1e-6 * max(1.0, expected.counts.max())
    np.testing.assert_allclose(point.counts, expected.counts, rtol=0, atol=close)
    np.testing.assert_allclose(point.value, dual.at(expected.multipliers).value, rtol=1e-9, atol=close)
    assert np.array_equal(m, form.project_to_dual_cone(m))
    assert [line["iteration"] for line in log] == list(range(len(log)))


def multipliers(matrix: list[list[float]], low: list[float], high: list[float]) -> np.ndarray:
    form = LinearForm.plain(sp.csr_array(np.array(matrix)), np.array(low), np.array(high))
    return multipliers_near_solution(Dual(form), newton_system(form), np.zeros(len(low)), 200, Monitor(), [])


def test_inactive_inequalities_have_no_multiplier():
    """Of two people, one has each of two values; an upper limit of 1.00001 for the first is not reached."""
    np.testing.assert_allclose(multipliers([[1, 1], [1, 0]], [2, -np.inf], [2, 1 + 1e-5]), [1, 0], rtol=0, atol=1e-9)
    assert multipliers([[1, 1], [1, 0]], [2, -np.inf], [2, 1 + 1e-5])[1] == 0


def test_rows_without_sides_do_not_matter():
    """In partitions, a row that the published rows imply loses its sides."""
    found = multipliers([[1, 1], [1, 0], [1, 1]], [2, -np.inf, -np.inf], [2, 0.5, np.inf])
    np.testing.assert_allclose(found, [1 + np.log(1.5), np.log(0.5) - np.log(1.5), 0], rtol=0, atol=1e-9)


def rounded_tables(n: int) -> mx.MaxEnt:
    """All two-way tables of seven attributes and the salary of some people of Adult, rounded to multiples of five."""
    qi = ["workclass", "marital-status", "occupation", "relationship", "race", "sex", "education"]
    adult = mx.datasets.load_adult(complete=True).sample(n, random_state=1)
    model = mx.MaxEnt(mx.QITable(adult, qi=qi, sa="salary", sa_values=["<=50K", ">50K"]))
    for pair in itertools.combinations(qi, 2):
        cells = adult.groupby([*pair, "salary"], observed=True).size().rename("n").reset_index()
        model.add(mx.PublishedTable(cells.assign(n=(cells["n"] / 5).round().astype(int) * 5), base=5))
    return model


def test_rounded_tables_are_certified():
    """Of hundreds of dependent inequalities, many always hold with equality.

    An exact number of people is the sum of two cells that are as large as their rounding permits.
    """
    model = rounded_tables(300)
    post = model.solve()
    assert post.certificate.bound < 1e-5
    assert (post.log["iteration"] == np.arange(len(post.log))).all()
    other = model.solve(solver="CLARABEL", allow_inaccurate=True)
    assert post.entropy == pytest.approx(other.entropy, abs=1e-5)


def test_the_limit_on_iterations_includes_the_interior_point_method():
    """An answer after few iterations is refused, with its log."""
    post = rounded_tables(300).solve(max_iterations=12, allow_inaccurate=True)
    assert post.status == "limit"
    assert post.iterations == 12


def test_short_steps_do_not_end_the_method():
    """Six hundred statements with a precision of 0.001, many with the truth at an end, leave little room."""
    qi, rng = ["relationship", "occupation", "age", "workclass"], np.random.default_rng(5)
    people = mx.datasets.load_adult(complete=True).sample(200, random_state=5)
    people = people.assign(age=people["age"] // 15)
    model = mx.MaxEnt(mx.QITable(people, qi=qi, sa="salary", sa_values=["<=50K", ">50K"]))
    for row in rng.integers(200, size=600):
        who = people.iloc[row][rng.choice(qi, rng.integers(1, 5), replace=False)].to_dict()
        share = (people.loc[(people[list(who)] == who).all(axis=1), "salary"] == ">50K").mean()
        share += rng.choice([-1, 0, 1]) * 0.000999
        statement = mx.P(">50K", given=who).between(max(share - 0.001, 0), min(share + 0.001, 1))
        if statement.label not in model.knowledge:
            model.add(statement)
    form, log = presolved(model.posed).form, []
    multipliers_near_solution(Dual(form), newton_system(form), np.zeros(form.shape[0]), 200, Monitor(), log)
    assert min(max(line["residual"], line["gap"]) for line in log) < 1e-6


def test_an_answer_is_not_left_because_of_rounding():
    """From the solution on, with tolerance 0, steps are tiny because rounding prevents any improvement."""
    form = presolved(rounded_tables(300).posed).form
    again = newton(form, newton(form).multipliers, tolerance=0.0)
    assert max(line["residual"] for line in again.log) < 1


def test_a_callback_that_stops_is_not_called_again():
    numbers: list[int] = []

    def stop_in_the_middle(line: mx.solvers.Iteration) -> bool:
        numbers.append(line.iteration)
        return line.iteration == 40

    post = rounded_tables(300).solve(callback=stop_in_the_middle, allow_inaccurate=True)
    assert numbers == list(range(41))
    assert (post.status, post.iterations) == ("limit", 40)


def test_multipliers_near_infinity_contain_a_proof_about_inequalities():
    """x_1 + x_2 >= 2 and x_3 + x_4 >= 2 of four people force x_5 to 0.

    The proof has the multipliers of both rows, although they differ, and none of 0 <= x_1 + x_2 <= 5, which is inactive:
    with a negative multiplier, it would refer to five people.
    """
    matrix = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 1, 0, 0, 0]], dtype=float)
    low, high = np.array([4, 2, 2, 0.0]), np.array([4, 4, 4, 5.0])
    form = replace(LinearForm.plain(sp.csr_array(matrix), low, high), n_published=1)  # which bounds all terms
    multipliers, counts = np.array([-19.0, 20.0, 20.2, 1e-6]), np.array([1.0, 1.0, 1.0, 1.0, 1e-9])
    direction = recession_part(form, multipliers, counts)
    assert direction[0] < 0
    assert (direction[1:3] > 0).all()
    assert direction[3] >= 0
    assert empty_terms(form, direction, np.zeros(5, dtype=bool), np.zeros(5)).tolist() == [False] * 4 + [True]


@pytest.mark.parametrize("eps", [1e-8, 1e-6])
def test_narrow_intervals_are_certified(eps: float):
    """120 statements about 60 people, each vague by less than a millionth of a person.

    Newton's method does not predict on which side of an interval the solution is, and most terms are nearly 0.
    """
    people = mx.datasets.load_adult().sample(60, random_state=2)
    release = mx.anonymize.anatomy(people, qi=mx.datasets.ADULT_QI, sa="education", l=3, exempt=3)
    vague, exact = mx.MaxEnt(release), mx.MaxEnt(release)
    for statement, same in zip(generic_statements(people, 120, eps), generic_statements(people, 120), strict=True):
        vague.add(statement)
        exact.add(same)
    post = vague.solve()
    assert post.certificate.bound < 1e-5
    assert post.certificate.backward == 0
    # The exact solution satisfies the vague statements.
    assert post.entropy >= exact.solve().entropy - 1e-9
