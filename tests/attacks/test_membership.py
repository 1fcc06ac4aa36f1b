"""Membership in a release, and inference from answered counts about people in the data and others."""

from __future__ import annotations

from itertools import combinations

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import maxent_cvx as mx

RANGES = [(20, 29), (20, 39), (30, 39), (25, 34), (20, 24)]


def published(sizes: dict[tuple[int, int], int]) -> mx.Release:
    """Publish so many records of each range of ages."""
    cells = [f"[{low}, {high}]" for (low, high), n in sizes.items() for _ in range(n)]
    return mx.Release.from_generalized(pd.DataFrame({"Age": cells, "S": "x"}), qi="Age", sa="S")


def enumerated(sizes: dict[tuple[int, int], int], ages: list[int]) -> np.ndarray | None:
    """P(in) of every person, over all choices of different people for the groups."""
    inside, total = np.zeros(len(ages)), 0

    def fill(left: list[tuple[tuple[int, int], int]], used: frozenset[int]) -> None:
        nonlocal total
        if not left:
            total += 1
            inside[list(used)] += 1
            return
        ((low, high), n), *rest = left
        free = [i for i, age in enumerate(ages) if low <= age <= high and i not in used]
        for chosen in combinations(free, n):
            fill(rest, used | set(chosen))

    fill(list(sizes.items()), frozenset())
    return inside / total if total else None


def by_cvxpy(sizes: dict[tuple[int, int], int], ages: list[int]) -> np.ndarray:
    """Maximum entropy over who is in which group, person by person."""
    can = np.array([[low <= age <= high for low, high in sizes] for age in ages])
    x, out = cp.Variable(can.shape, nonneg=True), cp.Variable(len(ages), nonneg=True)
    rows = [cp.sum(x, axis=0) == list(sizes.values()), cp.sum(x, axis=1) + out == 1, x[~can] == 0]
    cp.Problem(cp.Maximize(cp.sum(cp.entr(x[can])) + cp.sum(cp.entr(out))), rows).solve(solver="CLARABEL")
    return 1 - out.value


def test_the_answer_has_maximum_entropy_and_is_that_of_worlds_without_overlap() -> None:
    """P(in) is that of CVXPY over single people; of groups that do not overlap, it is the share of all choices.

    Of groups that overlap, that of worlds is another one, within some hundredths on average.
    """
    rng, distances, n_exact = np.random.default_rng(1), [], 0
    for _ in range(50):
        ages = sorted(rng.integers(20, 40, 9).tolist())
        sizes = {RANGES[i]: int(rng.integers(1, 4)) for i in rng.choice(len(RANGES), 2, replace=False)}
        if (exact := enumerated(sizes, ages)) is None:
            continue
        result = mx.attacks.membership(published(sizes), pd.DataFrame({"Age": ages}))
        np.testing.assert_allclose(result.p.loc[ages], by_cvxpy(sizes, ages), atol=1e-4)
        (_, first_end), (second_start, _) = sorted(sizes)
        if first_end < second_start:
            np.testing.assert_allclose(result.p.loc[ages], exact, atol=1e-12)
            assert result.error == 0.0
            assert result.delta == pytest.approx((exact.min(), exact.max()))
            n_exact += 1
        else:
            distances += np.abs(result.p.loc[ages] - exact).tolist()
    assert n_exact > 5
    assert len(distances) > 150
    assert 0 < np.mean(distances) < 0.03


def test_releases_of_every_kind_say_the_same() -> None:
    """The population may be part of the release, or a table of rows or counts; quasi-identifiers may be exact."""
    voters = pd.DataFrame({"Age": [21, 25, 25, 33, 41, 52]})
    table = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]", "[30, 49]"], "S": ["a", "b", "a"]})
    release = mx.Release.from_generalized(table, qi="Age", sa="S")
    result = mx.attacks.membership(release, voters)
    grouped = mx.attacks.membership(mx.Release.from_generalized(table, qi="Age", sa="S", population=voters))
    counted = mx.attacks.membership(release, voters.value_counts().rename("n").reset_index(), count="n")
    for other in (grouped, counted):
        pd.testing.assert_frame_equal(result.table, other.table)
        assert result.records.tolist() == other.records.tolist()
    exact = mx.Release.from_buckets(
        pd.DataFrame({"Age": [25, 41], "S": ["a", "b"], "B": 1}), qi="Age", sa="S", bucket="B"
    )
    assert mx.attacks.membership(exact, voters).p.to_dict() == {21: 0.0, 25: 0.5, 33: 0.0, 41: 1.0, 52: 0.0}


def test_wrong_populations() -> None:
    """There is one population, and it has the people of the release."""
    release = published({(20, 29): 2})
    voters = pd.DataFrame({"Age": [21, 25, 33]})
    table = pd.DataFrame({"Age": ["[20, 29]"], "S": ["a"]})
    four = pd.DataFrame({"Age": [21, 25, 33, 34]})
    grouped = mx.Release.from_generalized(table, qi="Age", sa="S", population=voters)
    for error, view, population, count in [
        (mx.StatementError, release, None, None),
        (mx.StatementError, grouped, voters, None),
        (mx.TableError, release, voters.iloc[1:], None),
        (mx.UnknownName, release, voters, "n"),
        (mx.Infeasible, published({(20, 24): 1, (20, 29): 2, (30, 39): 1}), four, None),
        (mx.TableError, published({(20, 24): 1, (20, 29): 2}), voters, None),
    ]:
        with pytest.raises(error):
            mx.attacks.membership(view, population, count=count)
    result = mx.attacks.membership(release, voters)
    for people in ([19], [21, 21]):
        with pytest.raises(mx.TableError):
            result.judge(pd.DataFrame({"Age": people}))


# -- aggregates ---------------------------------------------------------------------------------------------------------

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


def test_many_answers_reveal_the_people_in_the_data() -> None:
    """Enough counts reveal everybody in the data, and nothing about people who are not (Dinur and Nissim)."""
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
    """The AUC and its standard error are those of all pairs of people, and the area below the curve is the AUC."""
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


def test_uninformative_answers_leave_everybody_alike() -> None:
    """If every count is in the intervals of the answers, all scores and areas are one half."""
    people, answers = people_and_answers(4, 30, 5)
    result = attacked(people, mx.AnsweredQueries(answers.queries, [15] * 5, eps=30))
    assert result.auc["auc"].tolist() == [0.5, 0.5]
    assert result.scores.to_numpy() == pytest.approx(0.5)


def test_answers_about_nobody_in_the_data_count_fully_for_others() -> None:
    """A count a of people whose QI combination nobody in the data has gives the multiplier a / sd^2, whatever N is."""
    data = pd.DataFrame({"sex": list("mmff"), "age": [1, 2, 2, 2], "ill": [False, True] * 2})
    people = pd.concat([data.assign(inside=True), pd.DataFrame([["f", 1, True, False]], columns=[*data, "inside"])])
    answers = mx.AnsweredQueries([{"sex": "f", "age": 1, "ill": True}, {"sex": "m", "ill": True}], [2, 1])
    scores = attacked(people.astype({"inside": bool}), answers, sd=1).scores
    assert scores["f", 1] == pytest.approx(1 / (1 + np.exp(-2)))


def test_without_both_kinds_of_people_there_is_no_curve() -> None:
    """If everybody has the target value, the curves and areas have no rows."""
    people, answers = people_and_answers(4, 10, 2)
    result = attacked(people.assign(ill=True), answers)
    assert (len(result.roc), len(result.auc)) == (0, 0)
    assert result.roc.columns.equals(attacked(people, answers).roc.columns)


def test_wrong_aggregates() -> None:
    """Answers must be counts with the target, and some people must be in the data."""
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
