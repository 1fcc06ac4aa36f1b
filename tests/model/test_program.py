"""The model as a CVXPY program: constraints by source, the objective, a changed problem, and a solution read back."""

from __future__ import annotations

import html
import re
import warnings

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P
from support.helpers import refused
from support.problems import PROBLEMS, SOLVABLE

EXACT = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
MALE = {"Gender": "male"}
FLU, HIV = P("Flu", given=MALE), P("HIV", given=MALE)


def solved(problem: cp.Problem) -> cp.Problem:
    """A problem, solved by CLARABEL to a precision that it does not always reach, as its warning says."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        problem.solve("CLARABEL", **EXACT)
    return problem


#: One example of every kind of rows.
KNOWLEDGE = {
    "equation": FLU == 0.4,
    "interval": HIV.between(0.1, 0.3),
    "soft": P("HIV").softly(0.3, sd=0.05),
    "soft and linear": P("HIV").softly(0.3, weight=20),
    "Huber": P("HIV").softly(0.3, sd=0.02, delta=0.01),
    "softly at most": mx.soft(FLU <= 0.3, sd=0.05),
    "softly between": mx.soft(FLU.between(0.1, 0.3), sd=0.05),
    "several rows": mx.StrongestAssociations(mx.datasets.load_hospital(), 2, 2, min_support=2),
    "a function": lambda space: space.conditional("s", given="Gender") <= 0.45,
    "absolute value": lambda space: cp.abs(space.prob("Flu", given=MALE) - 0.4) <= 0.05,
    "convex": lambda space: cp.norm2(space.p) <= 0.24,
}


@pytest.mark.parametrize("kind", list(KNOWLEDGE))
def test_a_source_alone(release, kind):
    """The constraints of one source, beside those of the release, give the answer that the model gives."""
    model = MaxEnt(release).add(KNOWLEDGE[kind], label="it")
    source = model.knowledge["it"]
    constraints = source.constraints(model.space)
    solved(cp.Problem(model.objective, [*model.constraints["published buckets"], *constraints]))
    assert np.abs(model.space.counts.value - model.solve().counts).max() < 1e-4
    assert {str(constraint.label) for constraint in constraints} <= {source.label}


@pytest.mark.parametrize("case", [*SOLVABLE[::6], PROBLEMS["within a parabola"]], ids=lambda case: case.name)
def test_solved_by_CVXPY_and_read(case):
    """A problem solved outside is certified by its dual values, or by an answer of our own beside it."""
    model = case.model()
    solved(model.problem)
    post = model.read(model.problem)
    assert post.certificate.holds
    assert post.solver == "CLARABEL"
    exact = model.solve()
    off = np.abs(post.conditional() - exact.conditional()).to_numpy().max()
    assert off <= post.certificate.bound + exact.certificate.bound + 1e-12
    assert post.entropy == pytest.approx(exact.entropy, abs=1e-4)


def test_order_labels_and_objects(release):
    """Constraints come in the order of the model, labelled by their sources, and are the same in every call."""
    model = MaxEnt(release).add(FLU == 0.4, HIV.between(0.1, 0.3), P("HIV").softly(0.2, sd=0.1))
    labels = ["published buckets", "P(Flu | Gender=male) = 0.4", "0.1 <= P(HIV | Gender=male) <= 0.3"]
    assert list(model.constraints) == [*labels, "P(HIV) ~ 0.2 +- 0.1"]
    assert [len(several) for several in model.constraints.values()] == [2, 1, 2, 0]
    assert [str(one.label) for one in model.problem.constraints] == [labels[i] for i in (0, 0, 1, 2, 2)]
    assert model.problem is model.problem
    assert model.copy().constraints["published buckets"][0] is model.constraints["published buckets"][0]
    assert "P(HIV) ~ 0.2 +- 0.1" in model.objective.format_labeled()


def test_a_problem_changed_by_hand(release):
    """If a constraint is added and a source dropped, the posterior is that of the model so changed."""
    model = MaxEnt(release).add(FLU == 0.4, HIV <= 0.05)
    mine = model.space.prob("Pneumonia", given={"Gender": "female"}) <= 0.1
    kept = [one for label, several in model.constraints.items() if "HIV" not in label for one in several]
    post = model.read(solved(cp.Problem(model.objective, [*kept, mine])))
    expected = MaxEnt(release).add(FLU == 0.4, P("Pneumonia", given={"Gender": "female"}) <= 0.1).solve()
    np.testing.assert_allclose(post.counts, expected.counts, atol=1e-5)
    assert list(model.knowledge) == ["P(Flu | Gender=male) = 0.4", "P(HIV | Gender=male) <= 0.05"]
    assert next(iter(post.model.knowledge)) == "P(Flu | Gender=male) = 0.4"
    np.testing.assert_allclose(post.prices()["price"], expected.prices()["price"], atol=1e-5)


def test_a_soft_source_dropped(release):
    """Without its cost in the objective, a soft source is not in the posterior's model."""
    model = MaxEnt(release).add(FLU == 0.4, P("HIV").softly(0.3, sd=0.01))
    problem = solved(cp.Problem(cp.Maximize(cp.sum(cp.entr(model.space.counts))), model.problem.constraints))
    with refused(mx.StatementError):
        model.read(problem)  # another object with the same meaning is not recognised
    problem = solved(cp.Problem(cp.Maximize(model.objective.expr.args[0]), model.problem.constraints))
    np.testing.assert_allclose(model.read(problem).counts, MaxEnt(release).add(FLU == 0.4).solve().counts, atol=1e-5)


def test_another_objective(release):
    """The largest P(Flu | male) over everything consistent is that of bounds."""
    model = MaxEnt(release).add(HIV <= 0.1)
    problem = cp.Problem(cp.Maximize(model.space.prob("Flu", given=MALE)), model.problem.constraints)
    assert solved(problem).value == pytest.approx(model.bounds(FLU)[1], abs=1e-7)
    twice = cp.Problem(cp.Maximize(model.objective.expr + model.objective.expr), model.problem.constraints)
    for other in (problem, twice):
        with refused(mx.StatementError):
            model.read(other)


def test_what_cannot_be_read(release):
    """Unsolved and infeasible problems, other variables, and a problem without the release are refused."""
    model = MaxEnt(release).add(FLU == 0.4)
    constraints, flu = model.problem.constraints, model.constraints["P(Flu | Gender=male) = 0.4"]
    for error, problem in ((mx.SolverError, cp.Problem(model.objective, constraints)), (mx.StatementError, "solved")):
        with refused(error):
            model.read(problem)
    t = cp.Variable(name="t")
    for error, others in [
        (mx.SolverError, [*constraints, model.space.prob("Flu", given=MALE) >= 0.6]),  # infeasible
        (mx.StatementError, [*constraints, model.space.prob("HIV") <= t, t <= 0.2]),
        (mx.StatementError, [*flu, cp.sum(model.space.p) == 1]),
    ]:
        problem = cp.Problem(model.objective, others)
        problem.solve("CLARABEL")
        with refused(error):
            model.read(problem)
    solved, other = (cp.Problem(model.objective, constraints) for _ in range(2))
    solved.solve("CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    assert model.read(solved).certificate.holds
    with refused(mx.SolverError):  # the variable's value is that of another problem
        model.read(other)


def test_a_rough_answer(release):
    """A wrong answer is refused, or returned with a bound that its error keeps."""
    model = MaxEnt(release).add(FLU == 0.4)
    problem = cp.Problem(model.objective, model.problem.constraints)
    problem.solve("SCS", eps_abs=1e-2, eps_rel=1e-2)
    with refused(mx.Inaccurate):
        model.read(problem)
    post, exact = model.read(problem, allow_inaccurate=True), model.solve()
    off = np.abs(post.conditional() - exact.conditional()).to_numpy().max()
    assert 1e-4 < off <= post.certificate.bound + 1e-12


def test_convex_models_are_certified(release):
    """Counts beside a convex constraint are certified by their distance from the answer; the residual is their own."""
    model = MaxEnt(release).add(FLU == 0.4, lambda space: cp.norm2(space.p) <= 0.24)
    exact = model.solve()
    counts = exact.counts + np.linspace(-0.01, 0.01, len(exact.counts))
    certificate, clipped = model.certify(counts), np.maximum(counts, 0)
    assert np.abs(clipped - exact.counts).max() / model.view.n_q.max() <= certificate.bound < 0.1
    assert certificate.residual == model.form.residual(clipped).max()
    assert certificate.clipped == max(0, -counts.min())
    with refused(mx.SolverError):
        model.certify(counts, exact.multipliers)


def test_prices_of_a_rough_answer(release):
    """Dual values of inequalities that are inactive for certain are 0, and the others near to the exact prices."""
    model = MaxEnt(release).add(FLU == 0.3, HIV.between(0.1, 0.3), P("Pneumonia", given=MALE) <= 0.9)
    model.problem.solve("CLARABEL")  # with the tolerances of CVXPY
    rough, exact = (post.prices() for post in (model.read(model.problem), model.solve()))
    pd.testing.assert_series_equal(rough["side"].sort_index(), exact["side"].sort_index())
    np.testing.assert_allclose(rough["price"].sort_index(), exact["price"].sort_index(), atol=1e-4)


def test_prices_of_soft_statements_that_are_met(release):
    """A weight leaves the price of a statement that is met between its slopes; CVXPY has no dual value of a cost."""
    model = MaxEnt(release).add(FLU.softly(0.4, weight=50))
    solved(model.problem)
    hard = MaxEnt(release).add(FLU == 0.4).solve().prices()["price"].item()  # the multiplier of the hard statement
    for post in (model.solve(), model.read(model.problem)):
        assert post.prices()["price"].item() == pytest.approx(hard, abs=1e-6)


def test_in_words_and_formulas(release):
    """Every source is in the printed program, also as HTML, and in its formulas."""
    model = MaxEnt(release).add(FLU == 0.4, P("HIV").softly(0.2, sd=0.1), lambda space: cp.norm2(space.p) <= 0.3)
    words, shown = str(model), model._repr_html_()
    for label in ("P(Flu | Gender=male) = 0.4", "P(HIV) ~ 0.2 +- 0.1", "your own"):
        assert label in words
    assert all(html.escape(piece) in shown for line in words.splitlines() for piece in re.split(r"  +", line) if piece)
    assert r"P ( \text{Flu} \mid \text{Gender} = \text{male} ) = 0.4" in model.latex()
    assert r"f_{\text{your own}}(P) \le 0.3" in model.latex()
    assert model.latex().count(r"\\") == len(model.latex().splitlines()) - 3


def test_constraints_are_printed_on_one_line(release):
    """Matrices of expressions are printed by name, as those of rows are, in a program and in the error of a constraint."""

    def spread(space):
        return cp.sum_squares(space.conditional("s", given="Gender").expr)

    model = MaxEnt(release).add(lambda space: spread(space) <= 0.8, lambda space: cp.exp(space.prob("HIV")) <= 1.3)
    assert len(str(model.problem).splitlines()) == 1 + len(model.problem.constraints)
    with pytest.raises(mx.StatementError) as raised:
        model.add(lambda space: spread(space) >= 0.5)
    assert len(str(raised.value).splitlines()) == 1
