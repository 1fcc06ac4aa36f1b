"""Groups whom a prior cannot tell apart (Probabilistic Inference Protection, sections IV and V)."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import QIDistribution, StatementError, TableError, UnknownName
from maxent_cvx.anonymize.similar_linkage import nested, similar_linkage, similar_linkage_groups


def town(n: int, seed: int, n_values: int = 8) -> pd.DataFrame:
    """People of two attributes and a value that depends on both, more or less."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, n), rng.integers(0, 3, n)
    shares = rng.dirichlet(np.full(n_values, 8.0), (2, 3))
    s = np.array([rng.choice(n_values, p=shares[i, j]) for i, j in zip(a, b, strict=True)])
    return pd.DataFrame({"A": a, "B": b, "S": s})


def largest(frame: pd.DataFrame, group: pd.Series, prior: QIDistribution, counts: set[object]) -> float:
    """The largest exact P(t : x) over all groups and attribute sets, of values that count."""
    result = 0.0
    for _, people in frame.groupby(group):
        for attributes in prior.attribute_sets:
            p = mx.worlds.posterior(prior.of(people, attributes), list(people["S"]))
            result = max(result, p[[x for x in p.columns if x in counts]].max(axis=None))
    return result


@given(st.integers(0, 10_000), st.sampled_from([1.5, 2, 3]), st.sampled_from(["sound", "exact"]), st.booleans())
def test_the_promise_is_kept(seed, r, condition, several):
    """Everybody is in a group without repeated values whose exact P(t : x) are at most 1/r, or the table is refused."""
    frame = town(60, seed)
    sets = [["A"], ["A", "B"]] if several else ["A"]
    prior = QIDistribution.estimate(frame, qi=sets, sa="S", smoothing=1)
    try:
        group = similar_linkage_groups(frame, qi=["A", "B"], sa="S", prior=prior, r=r, condition=condition, seed=seed)
    except TableError:
        return
    assert group.index.equals(frame.index)
    assert group.min() == 1
    assert frame.groupby([group, "S"]).size().max() == 1
    assert group.value_counts().min() >= np.ceil(r)
    assert largest(frame, group, prior, set(frame["S"])) <= 1 / r * (1 + 1e-9)


def test_too_frequent():
    """A value with more records than groups is refused, unless r is smaller or the value is exempt."""
    frame = pd.DataFrame({"A": [0] * 12, "S": list("xxxxxabcdefg")})
    prior = QIDistribution.estimate(frame, qi="A", sa="S", smoothing=1)
    with pytest.raises(TableError):
        similar_linkage(frame, qi="A", sa="S", prior=prior, r=3)
    similar_linkage(frame, qi="A", sa="S", prior=prior, r=2)
    group = similar_linkage_groups(frame, qi="A", sa="S", prior=prior, r=3, exempt=1)
    assert (group > 0).all()
    others = frame[frame["S"] != "x"]
    assert others.groupby([group[others.index], "S"]).size().max() == 1
    assert largest(frame, group, prior, set("abcdefg")) <= 1 / 3 * (1 + 1e-9)


def test_the_least_suppression_that_is_proposed_suffices():
    """The number of records to suppress is the least after which a value occurs at most once per group of r records."""
    frame = pd.DataFrame({"A": 0, "S": list("a" * 12 + "b" * 6 + "c" * 4 + "d" * 3)})
    uniform = QIDistribution({"A": pd.DataFrame(0.25, index=pd.Index([0], name="A"), columns=list("abcd"))})
    roles = {"qi": "A", "sa": "S", "prior": uniform, "r": 4}
    with pytest.raises(TableError) as refused:
        similar_linkage(frame, **roles)
    proposed = int(re.search(r"(\d+) records$", str(refused.value))[1])
    assert similar_linkage(frame, **roles, suppress=proposed).n_records == len(frame) - proposed == 12
    with pytest.raises(TableError):
        similar_linkage(frame, **roles, suppress=proposed - 1)


@pytest.mark.parametrize("condition", ["sound", "exact", "delta"])
def test_priors_that_exclude_the_truth(condition):
    """People whose value is impossible by the prior are in groups that have worlds."""
    frame = pd.DataFrame({"A": ["m"] * 40 + ["f"] * 40, "S": list("abcd") * 20})
    prior = QIDistribution({"A": {"m": {"a": 0.0, "b": 0.4, "c": 0.3, "d": 0.3}, "f": dict.fromkeys("abcd", 0.25)}})
    try:
        group = similar_linkage_groups(frame, qi="A", sa="S", prior=prior, r=1.2, condition=condition, suppress=20)
    except TableError:
        assert condition == "delta"
        return
    inside = group > 0
    assert largest(frame[inside], group[inside], prior, set("abcd")) <= 1 / 1.2 * (1 + 1e-9)


def test_the_papers_condition_is_checked():
    """Groups that are safe by the paper's condition only are refused, because Theorem 1 is wrong."""
    frame = pd.DataFrame({"A": [0, 1, 1], "S": list("xyz")})
    prior = QIDistribution(
        pd.DataFrame(
            [[0.3, 0.1765, 0.1765, 0.347], [0.1765, 0.3, 0.3, 0.2235]],
            index=pd.RangeIndex(2, name="A"),
            columns=list("xyzw"),
        )
    )
    for condition in ("delta", "sound"):
        with pytest.raises(TableError):
            similar_linkage(frame, qi="A", sa="S", prior=prior, r=2, condition=condition)


def test_wrong_arguments():
    frame = town(40, 3)
    prior = QIDistribution.estimate(frame, qi="A", sa="S", smoothing=1)
    for error, change in [
        (StatementError, {"prior": None}),
        (UnknownName, {"condition": "sond"}),
        (StatementError, {"r": 0.5}),
        (StatementError, {"exempt": -1}),
        (StatementError, {"suppress": 0.5}),
        (UnknownName, {"qi": ["C"]}),
        (UnknownName, {"qi": ["B"]}),
    ]:
        with pytest.raises(error):
            similar_linkage(frame, **{"qi": ["A", "B"], "sa": "S", "prior": prior, "r": 2, **change})


def test_tree_of_signatures():
    """Every part but the smallest consists of two earlier parts; equal signatures are next to each other."""
    log_prior = np.log(np.random.default_rng(4).dirichlet(np.ones(5), 40))
    order, parts = nested(np.concatenate([log_prior, log_prior[:1]]))
    assert sorted(order) == list(range(41))
    assert parts[-1] == (0, 41)
    seen = set()
    for low, high in parts:
        if high - low > 1:
            assert any((low, m) in seen and (m, high) in seen for m in range(low + 1, high))
        seen.add((low, high))
    assert abs(np.flatnonzero(order == 0)[0] - np.flatnonzero(order == 40)[0]) == 1
