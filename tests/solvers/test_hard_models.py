"""Small models on which a solver that is nearly right is wrong: each was refused, or worse, once."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import Infeasible, MaxEnt, P, Statement
from maxent_cvx.solvers.linear import elastic_relaxation
from maxent_cvx.solvers.presolve import term_bounds
from support.problems import Buckets, p, publish
from support.solving import error

#: Every a is q1's: P(d) is 2/3 whatever the answer, so that P(a | q1) >= 1.
NINE = (("q1*3 q2*3 q3*3", "a*3 d*6"),)
ALL_OF_A = [P("d") - 3 * p("a", "q1") <= 2 / 3 - 3, p("a", "q2") == 0]


def test_rounding_does_not_grow():
    """Bounds chase each other through two rows, one of which makes a rounding error nine times as large a round."""
    model = MaxEnt(publish(NINE)).add(*ALL_OF_A)
    truth = np.array([3.0, 0, 0, 3, 0, 3])  # q1's a and d, q2's, q3's
    lower, upper = term_bounds(model.form, model.view.n_records)
    assert (lower <= truth + 1e-9).all()
    assert (truth <= upper + 1e-9).all()
    np.testing.assert_allclose(model.solve().counts, truth, atol=1e-9)


#: True of some assignment, and answered alike with and without presolve.
SOLVABLE: dict[str, tuple[Buckets, list[Statement]]] = {
    # P(b or c | q4) is 5/6, so that P(a | q2) >= 1/2: of two a one is q2's.
    "a chase through two buckets": (
        [("q2*2 q3 q4*3", "a b c*4"), ("q1 q4*3", "a c*3")],
        [p(["b", "c"], "q4") - 2 * p("a", "q2") <= 5 / 6 - 1, p("c", "q4") == 4 / 6, p("b", "q4") == 1 / 6],
    ),
    # Cells of q1 are empty because cells of q2 are, and those because of q1's.
    "zeros because of zeros": (
        [("q2*3", "a b*2"), ("q1*5 q2", "a c*5"), ("q1 q2*2", "a*2 b"), ("q2*3", "a*2 b")],
        [p(["a", "c"], "q1") <= 5 / 6, p("b", "q2").about(1 / 3, eps=0.01), p(["b", "c"], "q1") <= 5 / 6],
    ),
    # Ten digits of 1 are less than 1, by less than a row is forgiven; multipliers never come to rest.
    "ten digits": ([("q1*2 q2*2 q3", "a b*2 c*2")], [p("b", "q1") == 0.5, p(["a", "b", "c"], "q3") <= 1 - 1e-10]),
}


@pytest.mark.parametrize("name", SOLVABLE)
def test_solvable(name: str):
    """It is certified, and presolve makes no difference to it."""
    buckets, knowledge = SOLVABLE[name]
    model = MaxEnt(publish(buckets)).add(*knowledge)
    assert elastic_relaxation(model.form).off.max() == 0
    post, whole = model.solve(), model.solve(presolve=False, allow_inaccurate=True)
    assert error(post, whole.counts) <= post.certificate.bound + whole.certificate.bound + 1e-9


def test_zeros_that_only_a_linear_program_finds():
    """Three rows say nothing, and the others force every cell: q1 is a and q2 is b in every bucket."""
    # P(a or b | q1) = 1, so that P(b | q2) >= 1.
    either = ["a", "b"]
    cross = p(either, "q1") - 0.5 * p("b", "q2") <= 0.5
    nothing = [P(either) <= 1, P(either) == 1, P(either, {"Q": ["q1", "q2"]}).between(0.98, 1)]
    model = MaxEnt(publish([("q1 q2", "a b")] * 3)).add(p("a", "q2") <= 0.01, cross, *nothing)
    np.testing.assert_allclose(model.solve().conditional(), np.eye(2), atol=1e-9)


#: By how little, people, they contradict what is published, relative to the sides of their rows: 3e-8 and more.
JUST_IMPOSSIBLE: dict[str, tuple[Buckets, list[Statement]]] = {
    "nothing left to solve": ([("q1*9", "a*3 b*6")], [p("b", "q1") <= 6 / 9 - 2e-8]),
    "settled by presolve": (
        [("q1*9 q2*3 q4*3 q5*3", "b*6 c*6 e*6"), ("q3", "c"), ("q3*4 q4*2 q5*2", "a*4 c*2 e*2"), ("q3*3 q5*3", "d*6")],
        [p("d", "q3") <= 3 / 8 - 2e-8],
    ),
}


@pytest.mark.parametrize("name", JUST_IMPOSSIBLE)
def test_just_impossible(name: str):
    """Knowledge that no distribution satisfies raises Infeasible, not Inaccurate."""
    buckets, knowledge = JUST_IMPOSSIBLE[name]
    with pytest.raises(Infeasible, match=r"P\(. \| Q=q.\) <= "):
        MaxEnt(publish(buckets)).add(*knowledge).solve()


def published(rows, qi, **options):
    """A release of tuples (QI, sensitive value, bucket, number of people)."""
    table = pd.DataFrame(rows, columns=[qi, "s", "b", "n"])
    return mx.Release.from_buckets(table, qi=qi, sa="s", bucket="b", count="n", **options)


def test_a_mean_computed_in_double_precision_is_true():
    """Whatever the order of its sum, a true mean that is the least possible contradicts nothing."""
    rows = [("m", "yes", 2, 1), ("n", "no", 2, 3), ("m", "yes", 0, 1), ("m", "no", 0, 1), ("n", "no", 0, 1)]
    rows += [("n", "no", 3, 3), ("n", "yes", 3, 1), ("n", "no", 1, 1)]
    values = {"yes": 3.7, "no": 1e-8}
    people = [values[s] for q, s, _, n in rows for _ in range(n) if q == "n"]
    means = [sum(people) / len(people), sum(x / len(people) for x in people), float(np.mean(people))]
    for toward in (0.0, 1.0):  # Python 3.12 and later sum exactly: the four numbers on each side
        mean = means[0]
        for _ in range(4):
            means.append(mean := math.nextafter(mean, toward))
    for mean in means:
        model = mx.MaxEnt(published(rows, "E")).add(mx.E("s", given={"E": "n"}, values=values) == mean)
        assert model.solve().prob("yes", given={"E": "n"}) == pytest.approx(1 / 9, abs=1e-6)
        assert len(model.diagnose()) == 0
    model = mx.MaxEnt(published(rows, "E")).add(mx.E("s", given={"E": "n"}, values=values) == mean * (1 - 1e-7))
    with pytest.raises(mx.Infeasible):
        model.solve()


def test_a_value_as_small_as_its_number():
    """E == 1e-8, the least of the numbers, means that everybody has that value; presolve cannot fix the terms."""
    rows = [("a", "lo", 0, 1), ("b", "lo", 0, 1), ("b", "hi", 1, 1), ("b", "hi", 0, 1)]
    model = mx.MaxEnt(published(rows, "q_")).add(mx.E("s", given={"q_": "a"}, values={"hi": 3.7, "lo": 1e-8}) == 1e-8)
    post = model.solve()
    assert post.certificate.holds
    assert post.prob("lo", given={"q_": "a"}) == pytest.approx(1)


def test_bounds_where_presolve_fixes_a_term_up_to_a_width():
    """One equation has one solution: 22 of 721,032 people share 118,768."""
    rows = [(1, "never", 0, 47128), (1, "never", 1, 555107), (1, "no", 0, 7), (1, "yes", 0, 118444)]
    rows += [(1, "yes", 1, 324), (10, "never", 1, 22)]
    model = mx.MaxEnt(published(rows, "Q")).add(mx.P("yes", given={"Q": 1}) == mx.P("yes", given={"Q": 10}))
    low, high = model.bounds("P(yes | Q=10)")
    assert low <= 118768 / 721032 <= high
    assert high - low < 1e-6


@pytest.mark.parametrize("limit", [1e-2, 1e-6])
def test_limits_that_make_counts_vanish(limit):
    """A low limit makes a count about its square: 1e-14 of a person, beside which rows are singular up to rounding."""
    people = (
        "300202 300302 000222 312302 300302 004222 314221 304222 304222 004201 302222 012222 312222 "
        "300322 304122 314202 013322 300132 000222 000022 002022 404202 303232 310422 300322 304222 314232"
    )
    table = pd.DataFrame([list(one) for one in people.split()], columns=["Q0", "Q1", "Q2", "Q3", "S", "B"])
    release = mx.Release.from_buckets(table, qi=["Q0", "Q1", "Q2", "Q3"], sa="S", bucket="B")
    a, b = P("0", given={"Q0": "3", "Q1": "1", "Q3": "2"}), P("0", given={"Q1": "1"})
    c = P("3", given={"Q1": "0", "Q2": ["0", "3", "4"]})
    for rare in (3 * a + 0.5 * b, a + c, 3 * a + 0.5 * b + 0.5 * c):
        post = mx.MaxEnt(release).add(rare <= limit).solve()
        assert post.certificate.holds
        polished = mx.MaxEnt(release).add(rare <= limit).solve(solver="CLARABEL", polish=True)
        np.testing.assert_allclose(post.counts, polished.counts, atol=1e-5)


@pytest.mark.parametrize(("first", "second"), [(5e-6, 1e-5), (5e-7, 1e-6), (1e-8, 3e-8), (1e-9, 1e-4)])
def test_soft_statements_that_contradict_each_other(release, first, second):
    """The answer is the mean weighted by the precisions, as that of a hard statement of it."""
    flu = mx.P("Flu", given={"Gender": "male"})
    mean = (0.3 / first**2 + 0.35 / second**2) / (1 / first**2 + 1 / second**2)
    post = mx.MaxEnt(release).add(flu.softly(0.3, sd=first), flu.softly(0.35, sd=second)).solve()
    expected = mx.MaxEnt(release).add(flu == mean).solve()
    np.testing.assert_allclose(post.counts, expected.counts, atol=1e-3)
    assert post.certificate.holds
