"""The posterior: inferred probabilities, their labels, and questions in the paper's notation."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from hypothesis import given

import maxent_cvx as mx
from maxent_cvx import E, P, StatementError
from maxent_cvx.releases.partitioned import divided
from support.posteriors import posterior_with
from support.strategies import microdata, publish, quasi, tally

AS_NUMBERS = {"female": 0, "male": 1}
MEN, WOMEN = {"Gender": "male"}, {"Gender": "female"}


@pytest.fixture
def post(release) -> mx.Posterior:
    """The posterior of Fig. 1 and P(Flu | male) = 0.3 (section 4.1)."""
    return mx.MaxEnt(release).add(P("Flu", given=MEN) == 0.3).solve()


# -- what is inferred ------------------------------------------------------------------------------


@given(microdata())
def test_joint(frame):
    """P(q, s, b) is labelled by QI attributes, sensitive attribute and bucket, and sums to 1."""
    joint = mx.MaxEnt(publish(frame)).solve().joint()
    assert list(joint.index.names) == [*quasi(frame), "S", "K"]
    assert not joint.index.has_duplicates
    assert joint.sum() == pytest.approx(1, abs=1e-12)
    assert (joint >= 0).all()
    in_bucket = tally(frame, ["K"])
    for name, p in joint.groupby(level="K", observed=True).sum().items():
        assert p == pytest.approx(in_bucket[(name,)] / len(frame))


@given(microdata())
def test_conditional(frame):
    """P(s | q), one row per QI tuple and one column per value, is the sum of P(q, s, b) over b, by the share of q."""
    post = mx.MaxEnt(publish(frame)).solve()
    result, people = post.conditional(), tally(frame, quasi(frame))
    assert isinstance(result.index, pd.MultiIndex) == (len(quasi(frame)) > 1)
    assert list(result.index.names) == quasi(frame)
    assert result.columns.name == "S"
    assert set(result.columns) == set(frame["S"])
    expected = {(q, s): 0.0 for q in people for s in set(frame["S"])}
    for (*q, s, _), p in post.joint().items():
        expected[tuple(q), s] += p * len(frame) / people[tuple(q)]
    for (q, s), p in expected.items():
        assert result.loc[q if len(q) > 1 else q[0], s] == pytest.approx(p, abs=1e-12)


def test_nothing_is_renormalised():
    """Probability that a solver's answer lacks in a row is missing in the table."""
    assert posterior_with([[0.5, 0.4]], [10])[0].conditional().iloc[0].tolist() == pytest.approx([0.5, 0.4])


def test_entropy(release):
    """H(Q, S, B) is -sum p log p in nats, where an impossible term counts nothing (Eq. (3))."""
    post = mx.MaxEnt(release).add(P("Breast Cancer", given=MEN) == 0).solve()
    p = post.joint().to_numpy()
    assert (p == 0).any()
    assert post.entropy == pytest.approx(-sum(x * math.log(x) for x in p if x > 0))


# -- asking ----------------------------------------------------------------------------------------


def test_prob(post):
    """A probability is asked for as it was stated, or by value and given; no given is everybody."""
    assert post.prob("Flu", given=MEN) == pytest.approx(0.3, abs=1e-7)
    assert post.prob(P("Flu", given=MEN)) == pytest.approx(0.3, abs=1e-7)
    assert post.prob("Flu") == pytest.approx(3 / 10, abs=1e-9)
    assert post.prob({"Disease": ["Flu", "HIV"]}) == pytest.approx(5 / 10, abs=1e-9)
    assert isinstance(post.prob("Flu"), float)
    # 6 men have 0.3 * 6 of the three Flus, 4 women the rest.
    assert post.prob("Flu", WOMEN) == pytest.approx((3 - 6 * 0.3) / 4, abs=1e-6)
    # Sums, multiples and constants have the value that arithmetic gives them.
    flu, hiv = post.prob("Flu", MEN), post.prob("HIV", WOMEN)
    assert post.prob(2 * P("Flu", MEN) - P("HIV", WOMEN) / 2 + 0.25) == pytest.approx(2 * flu - hiv / 2 + 0.25)
    assert post.prob(P(["Flu", "HIV"], MEN)) == pytest.approx(flu + post.prob("HIV", MEN))


def test_prob_of_ratios_and_texts(post, release):
    """Ratios and texts have the values of their probabilities, also in partitions; statements have none."""
    men, women = P("Flu", MEN), P("Flu", WOMEN)
    in_parts = mx.MaxEnt(divided(release, 2)).add(men == 0.3).solve()
    for answer in (post, in_parts):
        assert answer.prob(men / women) == pytest.approx(answer.prob(men) / answer.prob(women))
        assert answer.prob("P(Flu | Gender=male) / (1 - P(Flu))") == pytest.approx(0.3 / 0.7, abs=1e-6)
        assert answer.prob("2 P(Flu | Gender=male) - 0.1") == pytest.approx(0.5, abs=1e-6)
        for wrong in (men / P("Flu", {**WOMEN, "Degree": "junior"}), men <= 0.3, "P(Flu"):
            with pytest.raises(StatementError):
                answer.prob(wrong)
        with pytest.raises(StatementError, match="given and who must be omitted"):
            answer.prob("P(Flu)", given=MEN)


def test_prob_of_a_mean_of_unknown_people(release):
    """A mean of people with a value, whose number is unknown, is a quotient of two sums over the terms."""
    for view in (release, divided(release, 2)):
        post = mx.MaxEnt(view).add(P("Flu", given=MEN) == 0.3).solve()
        mean = post.prob(E("Gender", given={"Disease": ["Flu", "HIV"], "Degree": "college"}, values=AS_NUMBERS))
        women, men = (
            post.prob(P(["Flu", "HIV"], {"Gender": gender, "Degree": "college"})) * n
            for gender, n in (("female", 2), ("male", 3))
        )
        assert mean == pytest.approx(men / (women + men))
        with pytest.raises(StatementError, match="mean of nobody"):
            post.prob(E("Gender", given={"Disease": "Flu", "Degree": "junior"}, values=AS_NUMBERS))


def test_prob_of_values_that_look_like_probabilities():
    """A sensitive value is a value, even if it could be read as a probability."""
    table = pd.DataFrame({"g": ["m", "f"], "s": ["P(x)", "y"], "b": [1, 1]})
    post = mx.MaxEnt(mx.Release.from_buckets(table, qi="g", sa="s", bucket="b")).solve()
    assert post.prob("P(x)") == pytest.approx(0.5)
