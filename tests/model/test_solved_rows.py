"""Tables of many solves: warm in chains, parallel between them, and rows that fail leave the others as they are."""

from __future__ import annotations

from dataclasses import dataclass

import joblib
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import Inaccurate, MaxEnt, NotDecided, SolverError, StatementError
from maxent_cvx._utils.parallel import Workers
from maxent_cvx.model.explain import solved_rows
from support.helpers import refused

#: As quantify's associations, each curve is a chain.
BOUNDS = [(0, 0), (0, 3), (1, 1), (2, 0), (0, 5), (2, 3), (4, 1)]


@dataclass
class Answer:
    """A stand-in for a posterior, with the number of the answer it started from."""

    number: int
    began: int | None
    status: str = "optimal"


class Cases:
    """Cases of which some fail."""

    def __init__(self, **failing: Exception | type[BaseException]) -> None:
        self.failing = {int(number.removeprefix("case")): error for number, error in failing.items()}

    def about(self, i):
        return {"case": i}

    def solved(self, i, before):
        if i in self.failing:
            raise self.failing[i]
        return Answer(i, None if before is None else before.number)

    def measured(self, i, post):
        return {"began": post.began}


def test_along_chains():
    """Each case starts from the answer before it in its chain; rows are in the order of their numbers."""
    for n_jobs in (1, 2):
        with joblib.parallel_config(backend="threading"):
            rows = solved_rows(Cases(), [[0, 2, 4], [3, 1]], "cases", Workers(n_jobs))
        assert [row["case"] for row in rows] == [0, 1, 2, 3, 4]
        assert [row["began"] for row in rows] == [None, 3, 0, None, 2]
        assert [(row["status"], row["message"]) for row in rows] == [("optimal", "")] * 5


def test_rows_that_fail():
    """A failed row has the message of its error, and the next one starts from the last answer.

    If all rows fail there is no table, but the first error; infeasible is an answer.
    """
    cases = Cases(case1=mx.Infeasible("cannot be"), case2=Inaccurate("not certified"))
    rows = solved_rows(cases, [[0, 1, 2, 3]], "cases")
    assert [row["status"] for row in rows] == ["optimal", "infeasible", "failed", "optimal"]
    assert [row["message"] for row in rows] == ["", "cannot be", "not certified", ""]
    assert rows[3]["began"] == 0
    assert "began" not in rows[1]
    with refused(NotDecided):
        solved_rows(Cases(case0=NotDecided("late"), case1=SolverError("other")), [[0, 1]], "cases")
    rows = solved_rows(Cases(case0=mx.Infeasible("no"), case1=SolverError("other")), [[0, 1]], "cases")
    assert [row["status"] for row in rows] == ["infeasible", "failed"]
    assert solved_rows(Cases(), [], "cases") == []


@pytest.mark.parametrize("error", [KeyboardInterrupt(), StatementError("wrong")])
def test_an_interrupt(error):
    """An error that ends a table early has the finished rows, if there are any."""
    with pytest.raises(type(error)) as raised:
        solved_rows(Cases(case2=error), [[1], [0], [2, 3]], "cases")
    pd.testing.assert_frame_equal(
        raised.value.finished, pd.DataFrame(solved_rows(Cases(), [[0], [1]], "cases")), check_dtype=False
    )
    with pytest.raises(type(error)) as raised:
        solved_rows(Cases(case0=type(error)()), [[0]], "cases")
    assert not hasattr(raised.value, "finished")


def test_two_processes(hospital, release):
    """Scores and sweeps of one process and of two are the same to the last digit."""
    score = lambda post: 2 * post.entropy  # noqa: E731
    tables = [
        mx.quantify(release, hospital, BOUNDS, min_support=1, measure=score, n_jobs=n).drop(columns="seconds")
        for n in (None, 2)
    ]
    pd.testing.assert_frame_equal(*tables, check_exact=True)
    assert (tables[0]["status"] == "optimal").all()
    values = [0.0, 0.1, 0.2, 0.3, 0.9, 0.4]
    tables = [
        mx.sweep(MaxEnt(release), "P(HIV | Gender=male)", value=values, eps=[0, 0.05], measure=score, n_jobs=n)
        for n in (1, 2)
    ]
    pd.testing.assert_frame_equal(*tables, check_exact=True)
    assert tables[0]["status"].tolist().count("infeasible") == 4  # two of six men have HIV
    for wrong in (0, "two", 1.5):
        with refused(StatementError):
            mx.quantify(release, hospital, BOUNDS, n_jobs=wrong)
        with refused(StatementError):
            mx.sweep(MaxEnt(release), "P(Flu)", value=0.3, n_jobs=wrong)


def test_without_a_statement_that_is_needed(release, monkeypatch):
    """A solve without a statement that fails is NaN in that row, with the reason."""
    post = MaxEnt(release).add("P(HIV | Gender=male) = 0.2", "P(Flu | Gender=male) = 0.35").solve()
    whole = post.prices(leave_one_out=True)
    assert (whole["message"] == "").all()
    right = MaxEnt.solve

    def solve(self, *given, **options):
        if list(self.knowledge) == ["P(Flu | Gender=male) = 0.35"]:
            raise Inaccurate("not certified")
        return right(self, *given, **options)

    monkeypatch.setattr(MaxEnt, "solve", solve)
    prices = post.prices(leave_one_out=True)
    failed = "P(HIV | Gender=male) = 0.2"
    assert prices.loc[failed, ["without", "change"]].isna().all()
    assert prices.loc[failed, "message"] == "not certified"
    pd.testing.assert_frame_equal(prices.drop(failed), whole.drop(failed))
