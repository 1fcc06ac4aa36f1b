"""Values flipped with a known probability (randomised response)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from maxent_cvx import (
    BadProbability,
    MaxEnt,
    P,
    QITable,
    RandomizedResponse,
    StatementError,
    TableError,
    UnknownName,
    anonymize,
)
from support.helpers import refused

VALUES = ["yes", "no"]
HALF_HONEST = pd.DataFrame([[0.75, 0.25], [0.25, 0.75]], index=VALUES, columns=VALUES)


def survey(n: int, seed: int, share: float = 0.3) -> pd.DataFrame:
    """People of two groups, whose share of "yes" differs."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], n)
    truth = np.where(rng.random(n) < np.where(group == "a", share, 1 - share), "yes", "no")
    return pd.DataFrame({"Group": group, "Truth": truth})


def published(frame: pd.DataFrame, transition: pd.DataFrame, seed: int = 0) -> QITable:
    answers = anonymize.randomize(frame, sa="Truth", transition=transition, seed=seed)
    return QITable(frame.assign(Answer=answers), qi=["Group", "Answer"], sa="Truth", sa_values=VALUES)


def test_shares_are_those_of_the_matrix():
    """Of many people a quarter lies."""
    frame = survey(40_000, 0)
    answers = anonymize.randomize(frame, sa="Truth", transition=HALF_HONEST)
    assert (answers != frame["Truth"]).mean() == pytest.approx(0.25, abs=0.01)
    assert anonymize.randomize(frame, sa="Truth", transition=HALF_HONEST).equals(answers)


def test_exact_shares_are_bayes_rule():
    """If shares are exact, P(s | r) = T(s, r) P(s) / P(r) with P(s) from P(r) = sum_s T(s, r) P(s)."""
    table = pd.DataFrame({"Answer": ["yes"] * 400 + ["no"] * 600, "Group": "a"})
    model = MaxEnt(QITable(table, qi=["Group", "Answer"], sa="Truth", sa_values=VALUES))
    model.add(RandomizedResponse(HALF_HONEST, reported="Answer", confidence=None))
    post = model.solve()
    yes = (0.4 - 0.25) / 0.5
    assert post.prob("yes") == pytest.approx(yes)
    assert post.prob("yes", given={"Answer": "yes"}) == pytest.approx(0.75 * yes / 0.4)


@pytest.mark.parametrize("n", [200, 20_000])
def test_true_rows(n: int):
    """With confidence 0.95 all rows are true together in nearly every survey; with more people they say more."""
    false = 0
    for seed in range(40):
        frame = survey(n, seed)
        table = published(frame, HALF_HONEST, seed)
        model = MaxEnt(table).add(RandomizedResponse(HALF_HONEST, reported="Answer"))
        answers = anonymize.randomize(frame, sa="Truth", transition=HALF_HONEST, seed=seed)
        counts = model.space.count(frame.assign(Answer=answers))
        false += (model.form.residual(counts) > 1e-9).any()
    assert false <= 2
    low, high = model.bounds(P("yes", given={"Group": "a"}))
    assert low < 0.3 < high
    assert (high - low < 0.2) == (n > 1000)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"transition": [[1, 0], [0, 1]]}, TableError, "DataFrame"),
        ({"transition": HALF_HONEST * 2}, BadProbability, "sum to 1"),
        ({"transition": HALF_HONEST.iloc[[0, 0]]}, TableError, "repeats"),
        ({"transition": HALF_HONEST.iloc[:1]}, StatementError, "a row for 'no'"),
        ({"transition": pd.DataFrame({"yes": [1.0, 1.0]}, index=VALUES)}, StatementError, "a column for 'no'"),
        ({"reported": "Anser"}, UnknownName, "'Answer'"),
        ({"confidence": 1}, BadProbability, "confidence must be"),
        ({"by": [["Grup"]]}, UnknownName, "'Group'"),
        ({"by": [["Answer"]]}, StatementError, "'Answer'"),
        ({"by": 3}, StatementError, "by must be a list of lists of QI attributes, not 3"),
    ],
)
def test_what_is_refused(change, error, says):
    """No transition matrix, no such attribute, no such confidence."""
    with refused(error, says):
        options = {"transition": HALF_HONEST, "reported": "Answer"} | change
        MaxEnt(published(survey(50, 0), HALF_HONEST)).add(RandomizedResponse(**options))
