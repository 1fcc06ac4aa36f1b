"""The least merging of buckets is that of an enumeration of all their partitions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import OptimizeResult

import maxent_cvx as mx
from maxent_cvx import GroupTooLarge, Infeasible
from maxent_cvx.anonymize import merge_buckets


def partitions(n: int):
    """Every partition of n buckets, as the number of each one's set."""
    if n == 0:
        yield []
        return
    for rest in partitions(n - 1):
        for number in range(max(rest, default=-1) + 2):
            yield [*rest, number]


def largest_inferred(q: np.ndarray, s: np.ndarray, bucket: np.ndarray) -> float:
    """The largest P(s | q) = sum_b P(b | q) P(s | b)."""
    of_q, of_s = np.zeros((4, 6)), np.zeros((6, 5))
    np.add.at(of_q, (q, bucket), 1)
    np.add.at(of_s, (bucket, s), 1)
    inferred = of_q @ (of_s / np.maximum(of_s.sum(axis=1, keepdims=True), 1))
    return float((inferred / np.maximum(of_q.sum(axis=1, keepdims=True), 1)).max())


@pytest.mark.parametrize("seed", range(20))
def test_no_partition_merges_less(seed: int):
    """No partition of up to five buckets that exposes nobody has more buckets."""
    rng = np.random.default_rng(seed)
    n_buckets = rng.integers(2, 6)
    n = 4 * n_buckets
    bucket = np.arange(n) % n_buckets
    table = pd.DataFrame({"q": rng.integers(0, 4, n), "s": (rng.integers(0, 3, n) + bucket) % 5, "b": bucket})
    release = mx.Release.from_buckets(table, qi="q", sa="s", bucket="b")
    threshold = 0.3 + 0.4 * rng.random()
    safe = [
        max(sets) + 1
        for sets in partitions(n_buckets)
        if largest_inferred(table["q"].to_numpy(), table["s"].to_numpy(), np.array(sets)[bucket]) < threshold
    ]
    if not safe:
        with pytest.raises(Infeasible):
            merge_buckets(release, threshold)
        return
    merging = merge_buckets(release, threshold)
    assert n_buckets - merging.lost == len(merging.release.buckets) == max(safe)
    assert merging.optimal
    assert merging.release.n_records == n
    if seed < 10:  # the model's own posterior
        assert mx.MaxEnt(merging.release).solve().conditional().max(axis=None) < threshold


@pytest.mark.parametrize("seed", range(20, 40))
def test_a_probability_at_the_threshold_is_exposed(seed: int):
    """A P(s | q) that differs from the threshold by less than the tolerance of the integer program is decided rightly."""
    rng = np.random.default_rng(seed)
    n = rng.integers(6, 16)
    q, s, bucket = (
        rng.integers(0, 3, n),
        rng.integers(0, 3, n),
        np.unique(rng.integers(0, 5, n), return_inverse=True)[1],
    )
    release = mx.Release.from_buckets(pd.DataFrame({"q": q, "s": s, "b": bucket}), qi="q", sa="s", bucket="b")
    largest = {tuple(sets): largest_inferred(q, s, np.array(sets)[bucket]) for sets in partitions(bucket.max() + 1)}
    threshold = min(rng.choice([*largest.values()]) + rng.choice([0, 1e-9, 5e-9, 1e-8, 1e-7]), 1.0)
    safe = [max(sets) + 1 for sets, p in largest.items() if p < threshold - 1e-9]
    if not safe:
        with pytest.raises(Infeasible):
            merge_buckets(release, threshold)
        return
    merging = merge_buckets(release, threshold)
    assert mx.measures.exposed(mx.MaxEnt(merging.release).solve(), threshold).people == 0
    assert len(merging.release.buckets) == max(safe)


@pytest.mark.parametrize(("n", "most", "number"), [(100, 3, 166_750), (100, 50, 166_750), (1030, None, 530_965)])
def test_too_many_sets(n: int, most: int | None, number: int):
    """Sets of up to three of 100 buckets are 166,750, and of up to two of 1,030 buckets 530,965; single ones are few."""
    table = pd.DataFrame({"q": np.arange(2 * n) % 7, "s": np.arange(2 * n) // n, "b": np.arange(2 * n) % n})
    release = mx.Release.from_buckets(table, qi="q", sa="s", bucket="b")
    with pytest.raises(GroupTooLarge, match=f"{number} sets"):
        merge_buckets(release, most=most)
    assert merge_buckets(release, most=1).lost == 0


def six_buckets(seed: int, threshold: float) -> tuple[mx.Release, list[int]]:
    """A release in six buckets, and how many buckets every safe partition loses."""
    rng = np.random.default_rng(seed)
    bucket = np.arange(30) % 6
    q, s = rng.integers(0, 4, 30), (rng.integers(0, 2, 30) + bucket) % 5
    safe = [sets for sets in partitions(6) if largest_inferred(q, s, np.array(sets)[bucket]) < threshold]
    table = pd.DataFrame({"q": q, "s": s, "b": bucket})
    return mx.Release.from_buckets(table, qi="q", sa="s", bucket="b"), [5 - max(sets) for sets in safe]


def test_the_gap_is_true_if_not_all_sets_are_considered():
    """With sets of at most two of six buckets, no partition loses fewer than lost - gap."""
    gaps = set()
    for seed in range(12):
        release, lost = six_buckets(seed, 0.32)
        try:
            merging = merge_buckets(release, 0.32, most=2)
        except Infeasible:
            continue
        assert merging.lost - merging.gap <= min(lost) <= merging.lost
        gaps.add(merging.gap)
    assert gaps == {0, 1}


def test_time_limits_give_a_true_gap_or_an_error():
    """After any time, no partition of six buckets loses fewer than lost - gap."""
    for seed in range(4):
        release, lost = six_buckets(seed, 0.4)
        for seconds in (0.0, 0.01, 0.1):
            try:
                merging = merge_buckets(release, 0.4, time_limit=seconds)
            except mx.SolverError:
                continue
            assert merging.lost - merging.gap <= min(lost) <= merging.lost


def test_a_solver_that_stops_is_an_error_without_a_time_limit(monkeypatch):
    """HiGHS may stop without an answer for other reasons than the time."""
    stopped = OptimizeResult(status=4, x=None, mip_dual_bound=None)
    monkeypatch.setitem(merge_buckets.__globals__, "milp", lambda *_, **__: stopped)
    table = pd.DataFrame({"q": [0, 1, 0, 1], "s": [0, 1, 1, 0], "b": [0, 0, 1, 1]})
    with pytest.raises(mx.SolverError):
        merge_buckets(mx.Release.from_buckets(table, qi="q", sa="s", bucket="b"), 0.9)


def test_many_sets_of_buckets_within_a_time_limit():
    """The only value with a share above the threshold in the whole release is above it in every merging, too."""
    table = pd.DataFrame(
        {"q": list("abcdef") * 10, "s": (["x", "y"] * 10 + ["x", "z", "w"] * 14)[:60], "b": [*range(30)] * 2}
    )
    release = mx.Release.from_buckets(table, qi="q", sa="s", bucket="b")
    with pytest.raises(mx.Infeasible):
        merge_buckets(release, 0.3, time_limit=30)
