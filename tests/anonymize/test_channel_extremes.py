"""The best randomised publication for any unit of the loss, extreme limits, rare quasi-identifiers and any names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import maxent_cvx as mx
from maxent_cvx import StatementError
from maxent_cvx.anonymize import channel

WRONG = pd.DataFrame([[0.0, 1.0], [1.0, 0.0]], ["a", "b"], ["a", "b"])


@pytest.mark.parametrize(("per", "limit"), [("posterior", 0.8), ("lift", 1.3), ("ldp", 1.0), ("information", 0.1)])
def test_the_unit_of_the_loss_changes_the_unit_of_the_answer_alone(per: str, limit: float):
    """So does what every published value costs at least change the loss alone, and not the channel."""
    joint = pd.DataFrame([[0.2, 0.3], [0.26, 0.24]], columns=["a", "b"])
    loss = pd.DataFrame([[0.0, 1.0], [0.6, 0.0]], ["a", "b"], ["a", "b"])
    near = 1e-4 if per == "information" else 1e-9  # where the loss is least it does not change with the channel
    expected = channel(joint, loss, limit, per)
    assert expected.loss > 0.01
    for unit in (1e-12, 1e-9, 1e9, 1e13):
        best = channel(joint, unit * loss, limit, per)
        assert best.table.to_numpy() == pytest.approx(expected.table.to_numpy(), abs=near)
        assert best.loss / unit == pytest.approx(expected.loss)
        assert best.prices.to_numpy() / unit == pytest.approx(expected.prices.to_numpy(), abs=near)
        assert best.gap / unit < 1e-8
    shifted = channel(joint, 1e4 + 1e-4 * loss, limit, per)
    assert shifted.table.to_numpy() == pytest.approx(expected.table.to_numpy(), abs=max(near, 1e-6))


@pytest.mark.parametrize("limit", [21.0, 22.0, 30.0, 40.0, 100.0, 800.0])
@pytest.mark.parametrize("n", [2, 3])
def test_large_ratios_of_likelihoods(n: int, limit: float):
    """Randomised response, whose loss is (n - 1) / (n - 1 + exp(limit)); the ratio is met however large it is."""
    joint = pd.DataFrame([[1 / n] * n])
    best = channel(joint, pd.DataFrame(1 - np.eye(n)), limit, "ldp")
    assert best.loss == pytest.approx((n - 1) / (n - 1 + np.exp(min(limit, 600.0))), rel=1e-6, abs=0)
    table = np.log(best.table.to_numpy())
    assert (table.max(axis=0) - table.min(axis=0) <= limit + 1e-11).all()
    assert 0 <= best.gap <= 2e-9


@pytest.mark.parametrize("limit", [1e9, 1e16, 1e300])
def test_a_lift_without_limit_publishes_the_truth(limit: float):
    joint = pd.DataFrame([[0.5, 0.5]], columns=["a", "b"])
    best = channel(joint, WRONG, limit, "lift")
    assert best.table.to_numpy() == pytest.approx(np.eye(2))
    assert best.prices.sum() == pytest.approx(0)


@pytest.mark.parametrize(
    "statement",
    [
        mx.P("a", given={"q": "f"}).softly(0.9, sd=0.1),
        mx.AnsweredQueries([{"q": "f", "s": "a"}], [4.0]),
        mx.NoisyMarginal(
            pd.Series({"a": 3.0, "b": 7.0}).rename_axis("s"), noise=scipy.stats.laplace(scale=1.0), confidence=0.9
        ),
        lambda space: space.counts[0] == 1,
    ],
    ids=["soft", "answer", "noisy", "counts"],
)
def test_statements_that_depend_on_the_number_of_people(statement):
    """A joint distribution has no number of people, against which a penalty or a count could be weighed."""
    joint = pd.DataFrame([[0.25, 0.25], [0.3, 0.2]], pd.Index(["f", "m"], name="q"), pd.Index(["a", "b"], name="s"))
    with pytest.raises(StatementError):
        channel(joint, WRONG, 0.95, adversaries=[statement])


@pytest.mark.parametrize("rare", [1e-6, 1e-9, 5e-10, 1e-12])
def test_rare_quasi_identifiers_and_adversaries_with_statements(rare: float):
    """P(q) of the adversary is that of the joint distribution, what is stated is true, and the limit is met."""
    joint = pd.DataFrame(
        [[0.25, 0.25], [0.25 - rare / 2, 0.25 - rare / 2], [0.6 * rare, 0.4 * rare]],
        pd.Index(["f", "m", "x"], name="q"), ["a", "b"],
    )  # fmt: skip
    best = channel(joint, WRONG, 0.8, adversaries=["P(a | q=f) = 0.6", "P(a | q=x) = 0.1 +- 0.2", "P(a) = 0.4"])
    for table in best.adversaries:
        assert table.sum(axis=1).to_numpy() == pytest.approx(joint.sum(axis=1).to_numpy(), rel=1e-6)
    assert best.adversaries[1].loc["f", "a"] == pytest.approx(0.3)
    assert best.adversaries[1].loc["x", "a"] == pytest.approx(0.6 * rare, rel=1e-6)
    assert best.adversaries[2].loc["x", "a"] == pytest.approx(0.3 * rare, rel=1e-6)
    assert best.adversaries[3]["a"].sum() == pytest.approx(0.4, abs=1e-8)
    for number in range(4):
        assert best.posterior(number).max(axis=None) <= 0.8 + 1e-11
    # The best channel of each q is the best one, however rare it is.
    alone = channel(joint.loc[["x"]] / rare, WRONG, 0.8, adversaries=[best.adversaries[2].loc[["x"]] / rare])
    of_x = (best.table.loc["x"].to_numpy() * joint.loc["x"].to_numpy()[:, None] * WRONG.to_numpy()).sum()
    assert of_x / rare == pytest.approx(alone.loss, rel=1e-6)


@pytest.mark.parametrize("name", [0, "__count", "count", "q", None])
def test_any_name_of_a_quasi_identifier(name):
    """Statements about an unnamed sensitive attribute are understood whatever the quasi-identifier is called."""
    joint = pd.DataFrame([[0.25, 0.25], [0.3, 0.2]], pd.Index([1, 2], name=name), ["a", "b"])
    given = {"q" if name is None else str(name): 1}
    best = channel(joint, WRONG, 0.8, adversaries=[mx.P("a", given=given) <= 0.4])
    assert best.adversaries[1].to_numpy() == pytest.approx(np.array([[0.2, 0.3], [0.3, 0.2]]))


def test_a_quasi_identifier_called_as_the_others_by_default():
    """The channel has a level for each of q and s, and the posteriors one for each of q and y."""
    for name in ("s", "y"):
        joint = pd.DataFrame([[0.25, 0.25], [0.3, 0.2]], pd.Index([1, 2], name=name), ["a", "b"])
        best = channel(joint, WRONG, 0.8)
        assert list(best.table.index) == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]
        assert best.posterior().index.nlevels == 2
