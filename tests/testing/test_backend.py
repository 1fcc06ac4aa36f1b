"""One contract for all solvers: those of the package keep it, and whoever breaks it is told how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import maxent_cvx as mx
from maxent_cvx import SolverError, StatementError, UnknownName
from maxent_cvx.solvers.answer import Answer, Status
from maxent_cvx.solvers.backends import SOLVERS
from maxent_cvx.testing import check_backend
from support.helpers import refused
from support.problems import PROBLEMS, find
from support.solving import INSTALLED

NEWTON = mx.solvers.find("DUAL_NEWTON")
#: Enough to find out most of what can be wrong.
FEW = ["one equation", "one value or another", "active at most", "inactive at most", "two values"]


class Own:
    """The default solver, and something that goes wrong with its answers."""

    name = "OWN"
    takes_inequalities = True
    takes_soft_rows = True

    def __init__(self, change: Callable[..., Answer] = lambda answer, form: answer) -> None:
        self.change = change

    def solve(self, form, start=None):
        return self.change(NEWTON.solve(form, start), form)


def multipliers_of(form, logarithm: np.ndarray) -> np.ndarray:
    """Some m with A' m = logarithm."""
    return np.linalg.lstsq(form.matrix.toarray().T, logarithm, rcond=None)[0]


@pytest.mark.parametrize("solver", INSTALLED)
def test_solvers_of_the_package(solver: str):
    """Every solver keeps its promises on all that it takes, and answers no worse than it says."""
    report = check_backend(solver)
    assert list(report.index) == list(PROBLEMS)
    taken = [PROBLEMS[name].suits(solver) for name in report.index]
    assert (report["outcome"] != "not taken").to_list() == taken
    feasible = np.array([problem.feasible for problem in PROBLEMS.values()]) & taken
    assert (report.loc[feasible, "outcome"].str.startswith("certified")).all()
    assert (report.loc[feasible, "error"] <= report.loc[feasible, "bound"] + 1e-6).all()
    assert report.loc[~feasible, ["bound", "error"]].isna().all(axis=None)


def test_one_of_your_own():
    """An object that solves need not be registered, and problems may be given, too."""
    report = check_backend(Own(), [*FEW, find("a zero")])
    assert report["outcome"].to_list() == ["certified"] * 4 + ["infeasible", "certified"]
    assert "OWN" not in SOLVERS


def test_what_it_does_not_take():
    """What a solver says that it does not take is left out; something must be left."""
    equations = Own()
    equations.takes_inequalities = False
    assert check_backend(equations, FEW)["outcome"].value_counts()["not taken"] == 2
    with pytest.raises(AssertionError, match="takes none of the 1 problems"):
        check_backend(equations, ["active at most"])


def shares(answer: Answer, form) -> Answer:
    return replace(answer, counts=answer.counts / answer.counts.sum())


def other_sign(answer: Answer, form) -> Answer:
    return replace(answer, multipliers=-answer.multipliers)


def without_one(answer: Answer, form) -> Answer:
    return replace(answer, multipliers=multipliers_of(form, np.log(answer.counts / form.weights)))


def without_weights(answer: Answer, form) -> Answer:
    return replace(answer, multipliers=multipliers_of(form, np.log(answer.counts) + 1))


def no_multipliers(answer: Answer, form) -> Answer:
    return replace(answer, multipliers=np.zeros(form.shape[0]))


def uniform(answer: Answer, form) -> Answer:
    return replace(answer, counts=np.full(form.shape[1], answer.counts.mean()))


def gives_up(answer: Answer, form) -> Answer:
    return Answer(Status.FAILED, None, None, message="out of luck")


def raises(answer: Answer, form) -> Answer:
    raise ZeroDivisionError("division by zero")


def says_nothing(answer: Answer, form) -> None:
    return None


def changes_rows(answer: Answer, form) -> Answer:
    form.matrix.data *= 1.0 + 1e-12
    return answer


def too_sure(answer: Answer, form) -> Answer:
    return replace(answer, counts=answer.counts[::-1].copy())


def too_long(answer: Answer, form) -> Answer:
    return replace(answer, counts=np.append(answer.counts, 0.0))


#: What goes wrong, on which problem, and what is said.
BROKEN = [
    (shares, "one value or another", "the counts are shares"),
    (other_sign, "one value or another", "the multipliers have the other sign"),
    (other_sign, "one equation", "the multipliers have the other sign"),
    (without_one, "one value or another", "x = w exp\\(A' m - 1\\) is expected"),
    (without_weights, "believed and known", "without the weights w"),
    (no_multipliers, "one value or another", "the counts are right, and the multipliers are not"),
    (uniform, "one value or another", "a count is 0.333333 records and 0.1 is exact; the row '.*' is off by"),
    (gives_up, "one equation", "no answer, failed: out of luck"),
    (too_sure, "one equation", "a count is 2.4 records and 1.4 is exact"),
    (raises, "one equation", "solve raises ZeroDivisionError: division by zero; return an Answer"),
    (raises, "two values", "solve raises ZeroDivisionError"),
    (says_nothing, "one equation", "must return a maxent_cvx.solvers.Answer"),
    (changes_rows, "one equation", "changes the form"),
    (too_long, "one equation", "array of 4 floats is expected"),
]


@pytest.mark.parametrize(
    ("wrong", "problem", "says"), BROKEN, ids=[f"{wrong.__name__}-{problem}" for wrong, problem, _ in BROKEN]
)
def test_what_is_broken_is_said(wrong: Callable[..., Answer], problem: str, says: str):
    """A solver that breaks the contract fails, and the error says in which point, and on which problem."""
    with pytest.raises(AssertionError, match=f"OWN is broken on 1 of 1 problems. '{problem}': .*{says}"):
        check_backend(Own(wrong), [problem])


def test_inequalities_taken_for_equations():
    """Who holds an inequality with room for an equation is found out."""

    class Tight(Own):
        def solve(self, form, start=None):
            side = np.where(np.isfinite(form.high), form.high, form.low)
            return NEWTON.solve(replace(form, low=side, high=side), start)

    check_backend(Tight(), ["one equation", "active at most"])
    with pytest.raises(AssertionError, match=r"'inactive at most': .*all rows hold"):
        check_backend(Tight(), ["inactive at most"])


def test_all_that_is_broken_is_counted():
    """Of many problems five are told, and the others counted."""
    with pytest.raises(AssertionError, match=r"broken on 21 of 21 problems\. .* And 16 more\.$"):
        check_backend(Own(raises), list(PROBLEMS)[:21])


def test_installed_and_not_usable():
    """A solver without a license is told apart from one that is wrong."""
    unlicensed = Own()
    unlicensed.trouble = "no license found"
    with pytest.raises(AssertionError, match="OWN is installed, but not usable: no license found"):
        check_backend(unlicensed)


def test_wrong_calls():
    """What is no solver, and what is no problem, is refused as everywhere."""
    with refused(UnknownName, "'CLARABELL'", "CLARABEL"):
        check_backend("CLARABELL")
    with refused(SolverError, "no such name"):
        check_backend(Own)
    with refused(UnknownName, "'one equations'", "one equation"):
        check_backend("DUAL_NEWTON", ["one equations"])
    with refused(StatementError, "problems"):
        check_backend("DUAL_NEWTON", "one equation")
    with refused(StatementError, "empty"):
        check_backend("DUAL_NEWTON", [])
