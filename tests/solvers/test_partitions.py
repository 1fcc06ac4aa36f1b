"""A problem in partitions has the answer of the problem as a whole, within both certificates."""

from __future__ import annotations

import numpy as np
import pytest

import maxent_cvx as mx
from maxent_cvx._utils.errors import Infeasible
from maxent_cvx._utils.parallel import LocalExecutor
from maxent_cvx.solvers.form import Problem
from maxent_cvx.solvers.monitor import Monitor
from maxent_cvx.solvers.partitions_certificate import PartitionedSolution, solve_partitioned
from support.partitioning import parted
from support.random_models import contradictory_model, random_model
from tests.benchmarks.drawing import drawn


def divided(problem: Problem, n: int, seed: int = 0) -> tuple[PartitionedSolution, np.ndarray]:
    """Solve a problem in at most n partitions; also the counts of all terms."""
    n_buckets = int(problem.form.bucket[0].max(initial=-1)) + 1
    of_bucket = np.random.default_rng(seed).integers(n, size=n_buckets)
    parts, shared, places = parted(problem, np.unique(of_bucket, return_inverse=True)[1])
    solution = solve_partitioned(parts, shared, problem.n_records, LocalExecutor(1))
    counts = np.zeros(problem.form.shape[1])
    for point, terms in zip(solution.points, places, strict=True):
        counts[terms] = point.counts
    return solution, counts


def errors(problem: Problem, counts: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For every QI tuple the sum of the differences of P(s, b | q)."""
    q, records = problem.groups
    return np.bincount(q, np.abs(counts - others), len(records)) / records


@pytest.mark.parametrize("seed", range(7))
def test_any_number_of_partitions_has_the_same_answer(seed: int):
    """Statements of all relations: equations, inequalities, vague ones, and those that make terms zero."""
    model = random_model(seed, statements=4, buckets=(2, 8))[0]
    post = model.solve()
    solution, counts = divided(model.posed, 1 + seed % 7, seed)
    assert solution.certificate.holds
    allowed = solution.certificate.bound + post.certificate.bound
    assert errors(model.posed, counts, post.counts).max(initial=0.0) <= allowed


@pytest.mark.parametrize("kind", ["tame", "vague", "cancelling", "soft", "dense", "sparse", "degenerate", "boundary"])
@pytest.mark.parametrize("seed", [7000, 7003])
def test_models_of_every_kind(kind: str, seed: int):
    """Soft rows, dense rows, rows that depend on each other, and combinations as large as counts permit."""
    found = drawn(kind, seed)
    if found is None or not isinstance(found.model.view, mx.Release) or len(found.model.space.people):
        pytest.skip("it is of another view, or of nothing")
    try:
        problem, post = found.model.posed, found.model.solve()
    except mx.Inaccurate:
        pytest.skip("no answer in memory is certified, which it could be compared with")
    solution, counts = divided(problem, 1 + seed % 4, seed)
    allowed = solution.certificate.bound + post.certificate.bound
    assert solution.certificate.holds
    assert errors(problem, counts, post.counts).max(initial=0.0) <= allowed


@pytest.mark.parametrize("seed", range(5))
def test_contradictions_are_found(seed: int):
    """No answer passes for certified; nearly all contradictions are proved, by bounds or by the multipliers."""
    problem = contradictory_model(seed).posed
    try:
        solution, _ = divided(problem, 1 + seed % 3, seed)
    except Infeasible as error:
        assert "contradicts" in str(error)  # noqa: PT017 - some may not be proved
    else:
        assert not solution.certificate.holds


def test_contradictory_rows_are_named():
    """Three of ten have flu, so that it is not half of the women and a third of the men."""
    hospital = mx.datasets.load_hospital()
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3", "P(Flu | Gender=female) = 0.5")
    with pytest.raises(Infeasible, match="Gender=female"):
        divided(model.posed, 2)


def test_a_callback_stops_it():
    """What has been reached by then is returned, with its certificate."""
    model = random_model(3, statements=4, buckets=(2, 8))[0]
    problem = model.posed
    n_buckets = int(problem.form.bucket[0].max()) + 1
    parts, shared, _ = parted(problem, np.arange(n_buckets))
    monitor = Monitor(callback=lambda iteration: iteration.iteration >= 1)
    solution = solve_partitioned(parts, shared, problem.n_records, LocalExecutor(1), monitor=monitor)
    assert solution.status in ("limit", "optimal")
    assert len(solution.log) <= 2


def test_threads_change_nothing():
    """Sums over partitions are made in the same order, however many are worked on at a time."""
    problem = random_model(11, statements=4, buckets=(6, 8))[0].posed
    n_buckets = int(problem.form.bucket[0].max()) + 1
    parts, shared, _ = parted(problem, np.arange(n_buckets))
    one, two = (solve_partitioned(parts, shared, problem.n_records, LocalExecutor(threads)) for threads in (1, 3))
    assert np.array_equal(one.multipliers, two.multipliers)
    assert all(np.array_equal(a.counts, b.counts) for a, b in zip(one.points, two.points, strict=True))
    assert one.certificate == two.certificate


def test_adult_in_partitions():
    """14,210 records with 60 generic statements: the certified answer of one process."""
    from tests.benchmarks.models import adult_model

    model = adult_model(14_210, 60)
    post = model.solve()
    solution, counts = divided(model.posed, 5)
    allowed = solution.certificate.bound + post.certificate.bound
    assert allowed < 1e-8
    assert errors(model.posed, counts, post.counts).max() <= allowed
