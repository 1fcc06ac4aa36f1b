"""Against pyCANON, whose "posterior" is the shares in equivalence classes, and qif, whose "posterior" is a channel's.

Each is compared on 50 random tables of people in classes, one bucket a class: P(s | q) is the share of s in the class.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx

SEEDS = range(50)


def classes(seed: int) -> pd.DataFrame:
    """Two to six classes of two to twelve people, of up to five values."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 13, rng.integers(2, 7))
    of_class = np.repeat(np.arange(len(sizes)), sizes)
    frame = pd.DataFrame({"Zone": [f"zone {i}" for i in of_class], "S": rng.choice(list("vwxyz"), len(of_class))})
    return frame.assign(Bucket=frame["Zone"])


def solved(frame: pd.DataFrame) -> mx.Posterior:
    return mx.MaxEnt(mx.Release.from_buckets(frame, qi="Zone", sa="S", bucket="Bucket")).solve()


@pytest.mark.filterwarnings("ignore:In a future version, the keys of:Warning")
@pytest.mark.parametrize("seed", SEEDS)
def test_pycanon(seed):
    """Beta and t agree; delta does where every value occurs in every class, and is infinite otherwise.

    The peer's enhanced beta is another measure: the largest over s of min(beta, -ln P(s)).
    """
    anonymity = pytest.importorskip("pycanon.anonymity")
    frame = classes(seed)
    found = mx.measures.leakage("overall", solved(frame))["value"]
    assert found["beta"] == pytest.approx(anonymity.basic_beta_likeness(frame, ["Zone"], ["S"]))
    assert found["t"] == pytest.approx(anonymity.t_closeness(frame, ["Zone"], ["S"]))
    shares = pd.crosstab(frame["Zone"], frame["S"], normalize="index")
    log = np.abs(np.log(shares[shares > 0] / frame["S"].value_counts(normalize=True)))
    assert anonymity.delta_disclosure(frame, ["Zone"], ["S"]) == pytest.approx(log.max(axis=None))  # zeros left out
    expected = log.max(axis=None) if (shares > 0).all(axis=None) else math.inf
    assert found["delta"] == pytest.approx(expected)
    rarest = -math.log(frame["S"].value_counts(normalize=True).min())
    enhanced = anonymity.enhanced_beta_likeness(frame, ["Zone"], ["S"])
    assert enhanced == pytest.approx(min(found["beta"], rarest))


def test_some_tables_have_no_zeros():
    """Of the 50 tables some have every value in every class, so that delta is compared with pyCANON's."""
    complete = [(pd.crosstab(f["Zone"], f["S"]) > 0).all(axis=None) for f in map(classes, SEEDS)]
    assert 0 < sum(complete) < len(complete)


@pytest.mark.parametrize("seed", SEEDS)
def test_qif(seed):
    """Vulnerabilities and leakages are those of the channel from the value to the class, for any gains."""
    measure = pytest.importorskip("qif").measure
    frame = classes(seed)
    joint = pd.crosstab(frame["S"], frame["Zone"], normalize="all")
    prior = joint.sum(axis=1)
    pi, channel = prior.to_numpy(), joint.div(prior, axis=0).to_numpy()
    gain = np.random.default_rng(seed).random((4, len(prior)))
    found = mx.measures.leakage("overall", solved(frame), gain=pd.DataFrame(gain, columns=prior.index))["value"]
    bayes, g = measure.bayes_vuln, measure.g_vuln
    assert found["prior Bayes vulnerability"] == pytest.approx(bayes.prior(pi))
    assert found["posterior Bayes vulnerability"] == pytest.approx(bayes.posterior(pi, channel))
    assert found["min-entropy leakage"] == pytest.approx(bayes.min_entropy_leakage(pi, channel), abs=1e-9)
    assert found["multiplicative g-leakage"] == pytest.approx(g.mult_leakage(gain, pi, channel))
    assert found["additive g-leakage"] == pytest.approx(g.add_leakage(gain, pi, channel), abs=1e-9)
