"""A problem in partitions has the answer of the problem as a whole, within both certificates."""

from __future__ import annotations

from contextlib import suppress

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
from tests.benchmarks.models import adult_model


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


def agrees(problem: Problem, post: mx.Posterior, n: int, seed: int = 0) -> float:
    """The answer in partitions is certified, and that of one process within both bounds; their sum."""
    solution, counts = divided(problem, n, seed)
    assert solution.certificate.holds
    q, records = problem.groups
    off = np.bincount(q, np.abs(counts - post.counts), len(records)) / records
    allowed = solution.certificate.bound + post.certificate.bound
    assert off.max(initial=0.0) <= allowed
    return allowed


def test_any_number_of_partitions_has_the_same_answer():
    """Statements of all relations: equations, inequalities, vague ones, and those that make terms zero."""
    for seed in range(7):
        model = random_model(seed, statements=4, buckets=(2, 8))[0]
        agrees(model.posed, model.solve(), 1 + seed % 7, seed)


@pytest.mark.parametrize("kind", ["tame", "vague", "cancelling", "soft", "dense", "sparse", "degenerate", "boundary"])
def test_models_of_every_kind(kind: str):
    """Soft rows, dense rows, rows that depend on each other, and combinations as large as counts permit."""
    for seed in (7000, 7003):
        found = drawn(kind, seed)
        if found is None or not isinstance(found.model.view, mx.Release) or len(found.model.space.people):
            continue
        try:
            post = found.model.solve()
        except mx.Inaccurate:  # no answer in memory is certified, which it could be compared with
            continue
        agrees(found.model.posed, post, 1 + seed % 4, seed)


def test_contradictions_are_found():
    """No answer passes for certified; nearly all contradictions are proved, by bounds or by the multipliers."""
    for seed in range(5):
        with suppress(Infeasible):
            solution, _ = divided(contradictory_model(seed).posed, 1 + seed % 3, seed)
            assert not solution.certificate.holds


def test_contradictory_rows_are_named(release):
    """Three of ten have flu, so that it is not half of the women and a third of the men."""
    model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3", "P(Flu | Gender=female) = 0.5")
    with pytest.raises(Infeasible, match="Gender=female"):
        divided(model.posed, 2)


def test_threads_and_callbacks():
    """Sums over partitions do not depend on the number of threads; a callback stops the solve."""
    problem = random_model(11, statements=4, buckets=(6, 8))[0].posed
    n_buckets = int(problem.form.bucket[0].max()) + 1
    parts, shared, _ = parted(problem, np.arange(n_buckets))
    one, two = (solve_partitioned(parts, shared, problem.n_records, LocalExecutor(threads)) for threads in (1, 3))
    assert np.array_equal(one.multipliers, two.multipliers)
    assert all(np.array_equal(a.counts, b.counts) for a, b in zip(one.points, two.points, strict=True))
    assert one.certificate == two.certificate
    monitor = Monitor(callback=lambda iteration: iteration.iteration >= 1)
    stopped = solve_partitioned(parts, shared, problem.n_records, LocalExecutor(1), monitor=monitor)
    assert stopped.status in ("limit", "optimal")
    assert len(stopped.log) <= 2


def test_adult_in_partitions():
    """14,210 records with 60 generic statements: the certified answer of one process."""
    model = adult_model(14_210, 60)
    assert agrees(model.posed, model.solve(), 5) < 1e-8
