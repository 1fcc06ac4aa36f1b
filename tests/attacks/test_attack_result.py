"""An attack is judged by the share of right guesses and the standard error of its difference from the baseline."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.attacks.result import AttackResult, score_attack


def people_and_result(rng: np.random.Generator, n: int = 400) -> tuple[pd.DataFrame, AttackResult]:
    """Random people, and a random inference of them with as random a baseline."""
    people = pd.DataFrame({"Q": rng.integers(0, 3, n), "B": rng.integers(0, 2, n), "S": rng.choice(list("xyz"), n)})
    records = people.groupby(["B", "Q"]).size()
    tables = [
        pd.DataFrame(rng.dirichlet(np.ones(3), len(records)).round(1), records.index, pd.Index(list("xyz"), name="S"))
        for _ in range(2)
    ]
    return people, AttackResult(*tables, records=records, error=0.0)


def test_shares_and_errors_are_those_of_records_counted_one_by_one() -> None:
    """The shares of right guesses and their standard error are those of one number per record."""
    for seed in range(20):
        people, result = people_and_result(np.random.default_rng(seed))
        scores = []
        for table in (result.table, result.baseline):
            rows = table.loc[list(zip(people["B"], people["Q"], strict=True))].to_numpy()
            true = rows[np.arange(len(people)), table.columns.get_indexer(people["S"])]
            largest = rows.max(axis=1)
            scores.append((true == largest) / (rows == largest[:, None]).sum(axis=1))
        judged = result.judge(people)
        difference = scores[0] - scores[1]
        assert judged.right == pytest.approx(scores[0].mean())
        assert judged.baseline == pytest.approx(scores[1].mean())
        assert judged.standard_error == pytest.approx(difference.std() / np.sqrt(len(people)))


def test_values_drawn_from_the_table_are_calibrated() -> None:
    """In every tenth of the probabilities, the share of true values is the mean probability."""
    rng = np.random.default_rng(5)
    n, rows = 2000, 30
    table = rng.dirichlet(np.full(3, 0.7), rows)
    truth = np.array([rng.multinomial(n, p) for p in table])
    result = score_attack(table, np.full((rows, 3), 1 / 3), truth).calibration.dropna()
    distance = (result["right"] - result["said"]).abs() / result["standard_error"].clip(lower=1e-9)
    assert len(result) > 4
    assert distance.max() < 4


def test_values_that_differ_by_rounding_only_tie() -> None:
    """A guess between values whose probabilities differ by a rounding error is random, as it is without the attack."""
    people = pd.DataFrame({"Q": 0, "S": ["z", "z"]})
    index, values = pd.Index([0], name="Q"), pd.Index(["y", "z"], name="S")
    tables = [pd.DataFrame([[0.5, p]], index, values) for p in (np.nextafter(0.5, 1), 0.5)]
    judged = AttackResult(*tables, records=pd.Series(2, index), error=0.0).judge(people)
    assert (judged.right, judged.baseline, judged.standard_error) == (0.5, 0.5, 0.0)


def test_other_people_than_those_attacked_are_refused() -> None:
    """The records have the number, values and columns of the people attacked."""
    people, result = people_and_result(np.random.default_rng(1))
    for error, other in [
        (mx.TableError, people.iloc[1:]),
        (mx.TableError, people.assign(S=["w", *people["S"].iloc[1:]])),
        (mx.UnknownName, people.drop(columns="B")),
    ]:
        with pytest.raises(error):
            result.judge(other)
