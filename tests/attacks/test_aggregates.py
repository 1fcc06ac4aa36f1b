"""What published counts say of people in the data, and of others: a logistic regression on the queries, and its ROC."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import maxent_cvx as mx

ATTRIBUTES = list("abcdefghij")


def answered(queries: list[dict[str, object]], data: pd.DataFrame) -> list[int]:
    """Counts, record by record."""
    return [int((data[list(query)] == pd.Series(query)).all(axis=1).sum()) for query in queries]


def people_and_answers(seed: int, n: int, k: int, signal: float = 0.0) -> tuple[pd.DataFrame, mx.AnsweredQueries]:
    """2 n people, the first n of them in the data, and k counts of those in it by three attributes each."""
    rng = np.random.default_rng(seed)
    people = pd.DataFrame(rng.integers(0, 2, (2 * n, len(ATTRIBUTES))), columns=ATTRIBUTES)
    people["ill"] = rng.random(2 * n) < 0.5 + signal * (2 * people["a"] - 1)
    people["inside"] = np.arange(2 * n) < n
    queries = []
    while len(queries) < k:
        query = {str(a): int(rng.integers(0, 2)) for a in rng.choice(ATTRIBUTES, 3, replace=False)}
        if answered([query], people[people["inside"]])[0]:
            queries.append({**query, "ill": True})
    return people, mx.AnsweredQueries(queries, answered(queries, people[people["inside"]]))


def attacked(people: pd.DataFrame, answers: mx.AnsweredQueries, **more: float) -> mx.attacks.AggregatesResult:
    return mx.attacks.aggregates(answers, people, target={"ill": True}, members="inside", **more)


@pytest.mark.parametrize("sd", [0.1, 1.5])
def test_scores_are_those_of_a_logistic_regression_on_the_queries(sd: float) -> None:
    """The cost sum log(1 + exp(f.m)) - a.m + sd^2 m.m / 2 is least, of all people."""
    people, answers = people_and_answers(0, 40, 12)
    asked = [pd.Series({name: value for name, value in query.items() if name != "ill"}) for query in answers.queries]
    features = np.column_stack([(people[list(one.index)] == one).all(axis=1) for one in asked]).astype(float)
    inside = features[people["inside"]]

    def cost(m: np.ndarray) -> float:
        return float(np.logaddexp(0, inside @ m).sum() - answers.answers @ m + sd**2 * m @ m / 2)

    def slope(m: np.ndarray) -> np.ndarray:
        return np.asarray(inside.T @ (1 / (1 + np.exp(-inside @ m))) - answers.answers + sd**2 * m)

    m = minimize(cost, np.zeros(12), jac=slope, method="BFGS", options={"gtol": 1e-10}).x
    result = attacked(people, answers, sd=sd)
    rows = pd.MultiIndex.from_frame(people[list(result.table.index.names)])
    np.testing.assert_allclose(result.scores.loc[rows], 1 / (1 + np.exp(-features @ m)), atol=1e-5)


def test_as_many_answers_as_people_are_the_people_and_nobody_else() -> None:
    """Everybody's bit comes out of enough counts; of people not in the data they say nothing (Dinur and Nissim)."""
    people, answers = people_and_answers(1, 40, 200)
    result = attacked(people, answers)
    assert result.auc.loc["in the data", "auc"] > 0.99
    outside = result.auc.loc["not in the data"]
    assert abs(outside["auc"] - 0.5) < 3 * outside["standard_error"]
    gain, error = result.vulnerability
    assert gain > 3 * error
    inside = people[people["inside"]]
    unique = inside[~inside.duplicated(ATTRIBUTES, keep=False)]
    scores = result.scores.loc[pd.MultiIndex.from_frame(unique[list(result.table.index.names)])]
    assert np.abs(scores.to_numpy() - unique["ill"]).max() < 0.2


def test_areas_are_shares_of_pairs() -> None:
    """AUC and the placements of its standard error, pair by pair; the curve encloses the area."""
    for seed in range(5):
        people, answers = people_and_answers(seed, 25, 8)
        result = attacked(people, answers)
        rows = pd.MultiIndex.from_frame(people[list(result.table.index.names)])
        score = result.scores.loc[rows].to_numpy().round(9)
        for group, here in (("in the data", people["inside"]), ("not in the data", ~people["inside"])):
            with_it, without = score[here & people["ill"]], score[here & ~people["ill"]]
            wins = (with_it[:, None] > without) + 0.5 * (with_it[:, None] == without)
            area = result.auc.loc[group]
            assert area["auc"] == pytest.approx(wins.mean())
            variance = wins.mean(axis=1).var(ddof=1) / len(with_it) + wins.mean(axis=0).var(ddof=1) / len(without)
            assert area["standard_error"] == pytest.approx(np.sqrt(variance))
            curve = result.roc[result.roc["group"] == group]
            assert np.trapezoid(curve["true_positive"], curve["false_positive"]) == pytest.approx(area["auc"])


def test_answers_that_say_nothing_leave_everybody_alike() -> None:
    """An interval that holds whatever the truth is: areas of one half, without a row to solve for."""
    people, answers = people_and_answers(4, 30, 5)
    result = attacked(people, mx.AnsweredQueries(answers.queries, [15] * 5, eps=30))
    assert result.auc["auc"].tolist() == [0.5, 0.5]
    assert result.scores.to_numpy() == pytest.approx(0.5)


def test_wrong_arguments() -> None:
    """Sums, queries about everybody, targets that are not there, and people who are in no data."""
    people, answers = people_and_answers(6, 10, 3)
    for error, change in [
        (mx.StatementError, {"answers": mx.AnsweredQueries([{}], [3], of="sum")}),
        (mx.StatementError, {"answers": mx.AnsweredQueries([{"ill": True}], [3])}),
        (mx.UnknownName, {"target": {"ill": 3}}),
        (mx.UnknownName, {"target": {"sick": True}}),
        (mx.StatementError, {"target": {}}),
        (mx.TableError, {"population": people.assign(inside=False), "members": "inside"}),
        (mx.TableError, {"population": people.assign(inside=1), "members": "inside"}),
    ]:
        arguments = {"answers": answers, "population": people, "target": {"ill": True}, **change}
        with pytest.raises(error):
            mx.attacks.aggregates(**arguments)
