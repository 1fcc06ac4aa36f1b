"""Presolve: bounds are valid, only implied terms and redundant rows are removed, and postsolve restores all of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx import Infeasible, MaxEnt, P, Release
from maxent_cvx.solvers.form import LinearForm
from maxent_cvx.solvers.presolve import dependent, dependent_by_elimination, reduce, redundant, term_bounds
from support.linear_programs import extreme, ranges
from support.problems import CUBE, FIGURE_1C, PROBLEMS, SQUARE, p, publish
from support.random_models import random_model
from support.solving import examples

OPEN = np.inf
#: The upper bound of every term without any row.
N = 20
seeds = st.integers(0, 10**6)


class Named(LinearForm):
    """A form without origin whose rows have names for errors."""

    def name(self, row: int) -> str:
        return f"row {row}"


def rows(matrix: object, low: object, high: object, n_published: int = 0) -> LinearForm:
    """A linear form, typed; its first rows may be published ones, which have no negative coefficient."""
    a, low, high = sp.csr_array(np.array(matrix, float)), np.array(low, float), np.array(high, float)
    return replace(Named.plain(a, low, high), n_published=n_published, n_facts=n_published)


def drawn(seed: int, coefficients: list[float], width: float = 3.0) -> tuple[LinearForm, np.ndarray]:
    """Draw equations and inequalities, some with one side, and integers that satisfy all of them exactly.

    Sums of integer multiples of the coefficients must be exact in doubles.
    """
    rng = np.random.default_rng(seed)
    n_terms, n_rows, n_published = int(rng.integers(2, 7)), int(rng.integers(1, 7)), int(rng.integers(0, 3))
    x = rng.integers(0, 5, n_terms) * rng.integers(0, 2, n_terms).astype(float)
    known = rng.choice([0.0, *coefficients], (n_rows, n_terms), p=[0.4, *[0.6 / len(coefficients)] * len(coefficients)])
    published = rng.integers(0, 2, (n_published, n_terms)).astype(float)
    matrix = np.vstack([published, known])
    matrix = matrix[np.abs(matrix).max(axis=1) > 0]
    n_published = int((published.max(axis=1) > 0).sum())
    value, kind = matrix @ x, rng.choice(["==", "<=", ">=", "between"], len(matrix))
    kind[:n_published] = "=="
    room = np.rint(rng.uniform(0, width, len(matrix)) * 4) / 4
    low = np.where(kind == "==", value, np.where(kind == "<=", -OPEN, value - room))
    high = np.where(kind == "==", value, np.where(kind == ">=", OPEN, value + room))
    return rows(matrix, low, high, n_published), x


# -- bounds of terms ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coefficients", [[1.0], [1.0, -1.0], [1.0, -1.0, 2.0, -0.5, 3.0], [1.0, 2.0**-20, -(2.0**12)]])
@given(seed=seeds)
def test_nothing_feasible_is_outside(coefficients: list[float], seed: int):
    """Optima of linear programs are within the bounds, and exactly feasible points are, to the last bit."""
    form, x = drawn(seed, coefficients)
    lower, upper = term_bounds(form, N)
    least, most = ranges(form, N)
    off = 1e-6 / min(map(abs, coefficients))  # HiGHS violates a row by up to 1e-7, which a small coefficient enlarges
    assert (lower <= least + off).all()
    assert (most <= upper + off).all()
    assert (lower <= x).all()
    assert (x <= upper).all()


@examples(100)
@given(seed=seeds, triangular=st.booleans())
def test_rounded_outwards(seed: int, triangular: bool):
    """For coefficients and sides of any size, points that are feasible in rational arithmetic are within the bounds.

    So they are where rows fix one term after the other, and only roundoff is left between the bounds.
    """
    rng = np.random.default_rng(seed)
    n_terms, n_rows = int(rng.integers(1, 7)), int(rng.integers(1, 6))
    if triangular:
        matrix = np.tril(rng.normal(0, 1, (n_terms, n_terms)))
        np.fill_diagonal(matrix, rng.choice([-1.0, 1.0], n_terms) * rng.uniform(0.5, 1, n_terms))
        x = rng.uniform(1, N / 2, n_terms)
    else:
        matrix = rng.normal(0, 1, (n_rows, n_terms)) * rng.choice([0.0, 1e-6, 1.0, 1.0, 1e3], (n_rows, n_terms))
        matrix = matrix[np.abs(matrix).max(axis=1) > 0]
        x = rng.uniform(0, N, n_terms) * rng.integers(0, 2, n_terms)
    matrix /= np.abs(matrix).max(axis=1, initial=1e-300, keepdims=True)
    exact = [sum((Fraction(a) * Fraction(v) for a, v in zip(row, x, strict=True)), Fraction(0)) for row in matrix]
    low = np.array([_beyond(value, -1) for value in exact])
    high = np.array([_beyond(value, 1) for value in exact])
    side = rng.choice(["both"] if triangular else ["both", "low", "high"], len(matrix))
    form = rows(matrix.reshape(-1, n_terms), np.where(side == "high", -OPEN, low), np.where(side == "low", OPEN, high))
    lower, upper = term_bounds(form, N)
    assert (lower <= x).all()
    assert (x <= upper).all()
    assert not triangular or (upper - lower <= 1e-5).all()


def _beyond(value: Fraction, sign: int) -> float:
    """The double next to a number, on one side of it."""
    near = float(value)
    return near if sign * (Fraction(near) - value) >= 0 else float(np.nextafter(near, sign * OPEN))


@given(seed=seeds)
def test_infeasible_only_if_it_is(seed: int):
    """Rows that are refused as contradictory are infeasible by a linear program, too."""
    form, _ = drawn(seed, [1.0, -1.0, 2.0])
    rng = np.random.default_rng(seed)
    moved = np.where(rng.random(form.shape[0]) < 0.5, rng.integers(-6, 7, form.shape[0]), 0)
    moved[: form.n_published] = np.maximum(moved[: form.n_published], -form.low[: form.n_published])
    form = replace(form, low=form.low + moved, high=form.high + moved)
    try:
        lower, upper = term_bounds(form, N)
    except Infeasible:
        assert extreme(form, np.zeros(form.shape[1]), N).status == 2
    else:
        assert (lower <= upper).all()


def test_bounds_do_not_depend_on_the_number_of_other_records():
    """What rows of a few people force to zero is known to the last places, also in a release of ten million people."""
    for others in (1, 10**7):
        form = rows(
            [[1, 1, 0, 0], [0, 0, 0, 1], [1, 0, 1, 0], [1, 0, 0, 0]], [3, others, 2.1, 2.1], [3, others, 2.1, 2.1], 2
        )
        upper = term_bounds(form, 3 + others)[1]
        assert upper[2] < 1e-10


def test_one_row_that_cannot_hold():
    """A row whose side is beyond its activity bounds is refused."""
    for row, low, high in (
        ([1, 1], 41, OPEN),  # two terms of at most 20
        ([1, 1], -OPEN, -1),
        ([1, -1], 21, OPEN),
        ([-1, -0.5], 1, 1),
        ([0, 0], 1, 1),
    ):
        assert extreme(rows([row], [low], [high]), np.zeros(2), N).status == 2
        with pytest.raises(Infeasible):
            term_bounds(rows([row], [low], [high]), N)


@given(seed=seeds)
def test_one_row_is_exact(seed: int):
    """For a single row the bounds are the exact ranges of the terms."""
    rng = np.random.default_rng(seed)
    row = rng.choice([-2.0, -1.0, -0.3, 0.0, 0.7, 1.0, 3.0], int(rng.integers(1, 6)))
    value = float(row @ rng.uniform(0, N, len(row)))
    low, high = [(value, value), (-OPEN, value), (value, OPEN), (value - 1, value + 1)][int(rng.integers(4))]
    form = rows([row], [low], [high])
    for found, end in zip(term_bounds(form, N), ranges(form, N), strict=True):
        np.testing.assert_allclose(found, end, atol=1e-5)


# -- the smaller problem --------------------------------------------------------------------------------------------


@given(seed=seeds)
def test_the_smaller_problem_is_the_same_problem(seed: int):
    """A fixed term has the one value that the rows allow; the true counts satisfy the smaller problem, too.

    Postsolve restores what was removed, and divides an aggregated count among its terms.
    """
    model, records = random_model(seed, statements=4, buckets=(1, 2))
    lower, upper = term_bounds(model.form, model.view.n_records)
    smaller = reduce(model.posed)
    least, most = ranges(model.form)
    assert (lower <= least + 1e-6).all()
    assert (most <= upper + 1e-6).all()
    fixed, terms = smaller.fixed, smaller.terms
    np.testing.assert_allclose(most[fixed], least[fixed], atol=1e-6)
    np.testing.assert_allclose(smaller.counts[fixed], least[fixed], atol=1e-6)
    truth, n_terms = model.space.count(records).astype(float), smaller.form.shape[1]
    cut = np.bincount(smaller.aggregation.term, truth[terms], n_terms)
    assert (smaller.form.residual(cut) <= 1e-7).all()
    back, multipliers = smaller.restore(cut, np.arange(smaller.form.shape[0]) + 2000.0)
    np.testing.assert_allclose(back[fixed], truth[fixed], atol=1e-7)
    assert (model.form.residual(back) <= 1e-7).all()
    np.testing.assert_allclose(np.bincount(smaller.aggregation.term, back[terms], n_terms), cut, atol=1e-12)
    np.testing.assert_array_equal(back[~terms], smaller.counts[~terms])
    others = np.setdiff1d(np.arange(len(multipliers)), smaller.rows)
    np.testing.assert_array_equal(multipliers[others], smaller.multipliers[others])
    assert not (terms & fixed).any()


@pytest.mark.parametrize(
    ("people", "cases", "ratio"),
    [((10_250, 71_199), 38_623, 0.0009), ((30, 27_381), 23_127, 0.2569), ((17_522, 1_942), 116, 7.9e-05)],
)
def test_a_relative_risk_determines_both_probabilities(people: tuple[int, int], cases: int, ratio: float):
    """P(x | a) = r P(x | b) and the number of cases determine both, however small the range that rounding leaves."""
    groups = pd.DataFrame({"Q": ["a", "b"], "B": 1, "n": people})
    values = pd.DataFrame({"S": ["x", "y"], "B": 1, "n": [cases, sum(people) - cases]})
    release = Release.from_tables(groups, values, qi="Q", sa="S", bucket="B", count="n")
    model = MaxEnt(release).add(P("x", given={"Q": "a"}) / P("x", given={"Q": "b"}) == ratio)
    other = cases / (people[1] + ratio * people[0])
    assert model.solve().conditional()["x"].tolist() == pytest.approx([ratio * other, other], abs=1e-9)


def test_what_zeros_force_in_turn_is_found():
    """Section 3.1: two zeros on Fig. 1(c) decide all of bucket 1."""
    model = PROBLEMS["two zeros"].model()
    smaller = reduce(model.posed)
    first = model.space.index.get_level_values("B") == 1
    assert smaller.fixed[first].all()
    np.testing.assert_array_equal(smaller.counts[first], PROBLEMS["two zeros"].expected(model.space)[first])


# -- a row is redundant only if the rows that are left imply it -----------------------------------------------------


def marked(model: MaxEnt) -> np.ndarray:
    return redundant(model.form, model.view.n_records)


@given(seed=seeds)
def test_dependent_rows(seed: int):
    """One published row per bucket is dependent (Privacy-MaxEnt, Theorem 3); the others have full rank.

    Without some of the terms as many more are dependent as the rank is deficient. What the graph of the rows says is
    what elimination finds.
    """
    model, _ = random_model(seed)
    form = model.form.select(np.arange(model.form.n_published))
    assert dependent(form).sum() == len(model.view.buckets)
    left = np.flatnonzero(np.random.default_rng(seed).random(form.shape[1]) < 0.65)
    fewer = replace(form, coefficients=form.matrix[:, left], weights=form.weights[left])
    for some in (form, fewer):
        found, dense = dependent(some), some.published.toarray()
        assert np.linalg.matrix_rank(dense[~found]) == (~found).sum() == np.linalg.matrix_rank(dense)
        np.testing.assert_array_equal(found, dependent_by_elimination(some))


@given(seed=seeds)
def test_what_is_left_implies_the_rest(seed: int):
    """No x >= 0 that satisfies the remaining rows violates a redundant one, by linear programs."""
    model, _ = random_model(seed, statements=6)
    form, found = model.form, marked(model)
    left = form.select(~found)
    for row in np.flatnonzero(found):
        for sign, side in ((1, form.low[row]), (-1, form.high[row])):
            if np.isfinite(side):
                least = extreme(left, sign * form.matrix[[row]].toarray().ravel())
                assert least.success
                assert least.fun >= sign * side - 1e-6


def test_an_inequality_is_no_proof_of_itself():
    """An inequality that is implied only by a bound derived from itself is not redundant: it is active."""
    for buckets, s, q, bound in (
        (CUBE, "s1", "q1", 0.2),  # 1/3 without it; the bound that it puts on its own term is no proof of it
        (SQUARE, "s1", "q1", 0.4),  # 0.5 without it
        (FIGURE_1C, ["s1", "s3"], "q1", 0.1),  # Eq. (9): s1 and s3 are 1/2 of bucket 1, and 2/3 of bucket 2
    ):
        model = MaxEnt(publish(buckets)).add(p(s, q) <= bound)
        assert not marked(model)[-1]
        assert model.solve().prob(p(s, q)) == pytest.approx(bound, abs=1e-6)


def test_inequalities_that_hold_anyway():
    """Inequalities that published numbers imply are redundant: in the two by two, 1 to 3 of the 4 q1 are s1."""
    x = p("s1", "q1")
    for statement, implied in ((x <= 0.75, True), (x <= 0.7499, False), (x <= 1, True), (x >= 0, True)):
        assert marked(MaxEnt(publish(SQUARE)).add(statement))[-1] == implied, statement.label


def test_repeated():
    """Of statements with equal rows and sides all but one are redundant; with other sides none is."""
    x = p("s1", "q1")
    model = MaxEnt(publish(SQUARE)).add(x == 0.4, x + x == 0.8, x <= 0.4, x == 0.4 + 1e-12)
    # The row of x + x is scaled to that of x; the last value is another one, however little.
    np.testing.assert_array_equal(marked(model)[-4:], [False, True, False, False])
    # q1's s2 is not q1's s1, whatever the value.
    model = MaxEnt(publish(SQUARE)).add(x <= 0.6, p("s2", "q1") <= 0.6)
    assert not marked(model)[-2:].any()


def test_wide_buckets_are_left_alone(monkeypatch: pytest.MonkeyPatch):
    """Elimination skips buckets that are too wide, since redundant rows do no harm; two kinds of rows need none."""
    monkeypatch.setattr("maxent_cvx.solvers.presolve.WIDEST_BLOCK", 3)
    model = MaxEnt(publish(CUBE))
    assert not dependent_by_elimination(model.form).any()
    np.testing.assert_array_equal(np.flatnonzero(dependent(model.form)), [model.form.n_published - 1])
    np.testing.assert_allclose(model.solve().counts, 1 / 3)
