"""Small models on which a solver that is nearly right is wrong: each was refused, or worse, once."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from maxent_cvx import Infeasible, MaxEnt, P, Statement
from maxent_cvx.solvers.answer import Status
from maxent_cvx.solvers.certificate.certificate import certify
from maxent_cvx.solvers.dual.newton import newton
from maxent_cvx.solvers.linear.elastic import elastic_relaxation
from maxent_cvx.solvers.presolve.bound_propagation import term_bounds
from maxent_cvx.solvers.program.linear_form import LinearForm
from maxent_cvx.solvers.program.problem import Groups
from support.depot import Buckets, p, publish
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
        [
            p(["b", "c"], "q4") - 2 * p("a", "q2") <= 5 / 6 - 1,
            p("c", "q4") == 4 / 6,
            p("b", "q4") == 1 / 6,
        ],
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
    """What is refused because no distribution satisfies it is called a contradiction, not inaccurate."""
    buckets, knowledge = JUST_IMPOSSIBLE[name]
    with pytest.raises(Infeasible, match=r"P\(. \| Q=q.\) <= "):
        MaxEnt(publish(buckets)).add(*knowledge).solve()


def test_contradictions_diverge_quietly():
    """On its way to infinity the dual overflows, which is no news to anybody: warnings are errors here."""
    # Of the eleven q2 five are a or c, and six are b: P(a, b or c | q2) + P(b | q2) is 1 + 6/11.
    people = ["q1*3 q2*3", "q1 q2", "q2*2", "q1*4 q2", "q2*4"]
    buckets = list(zip(people, ["a*3 b*3", "a c", "c*2", "a c*4", "b*3 c"], strict=True))
    either, every = p(["a", "c"], "q2"), ["a", "b", "c"]
    knowledge = [
        either == 5 / 11, P(every) == 1, either <= 5 / 11, p(every, "q1") <= 1,
        p(every, "q2") + p("b", "q2") <= 1 + 4 / 11, P("b") <= 6 / 19,
    ]  # fmt: skip
    with pytest.raises(Infeasible):
        MaxEnt(publish(buckets)).add(*knowledge).solve(presolve=False)


def test_far_from_the_start():
    """Of two bounds on a cell that is far above both the tighter one is met, however far a first step overshoots."""
    # 80 / e people without them.
    form = LinearForm.plain(
        sp.csr_array(np.ones((3, 1))),
        np.array([0.01, -np.inf, -np.inf]),
        np.array([0.07, np.inf, 0.5]),
        np.array([80.0]),
    )
    answer = newton(form)
    assert answer.status is Status.OPTIMAL
    np.testing.assert_allclose(answer.counts, [0.07])
    assert newton(form, np.array([-40.0, 0.0, 0.0])).counts == pytest.approx([0.07])


def test_no_rows():
    """Where nothing is asked for, x = w / e, and that is certified."""
    form = LinearForm.plain(sp.csr_array((0, 3)), np.empty(0), np.empty(0), np.array([1.0, 2.0, 3.0]))
    answer = newton(form)
    np.testing.assert_allclose(answer.counts, np.array([1.0, 2.0, 3.0]) / np.e)
    one_group = Groups(np.zeros(3, dtype=int), np.array([6 / np.e]))
    assert certify(form, one_group, answer.counts, answer.multipliers).holds
