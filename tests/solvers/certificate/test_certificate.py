"""The certificate is honest: no answer, wherever it comes from, is further from the exact one than its bound."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.solvers.certificate import ACCURACY, certify
from support.depot import CONTRADICTORY, SOLVABLE, Case, square_dual
from support.random_models import Exact, from_multipliers
from support.solving import examples, solution

#: The gap is known to about 1e-16 of its terms, and the bound is its square root.
ROUNDING = 1e-12
#: The indicator of the term (q1, s1) of the two by two.
FIRST = np.array([1, 0, 0, 0])
seeds = st.integers(0, 10**6)
#: From roundoff to more than all records.
sizes = st.floats(-9, 1).map(lambda exponent: 10**exponent)
KINDS = ("nothing", "cycle", "feasible", "anywhere", "negative", "multipliers", "cycle and multipliers")


@cache
def solved_by_hand(name: str) -> Exact:
    """A case of the depot, with the multipliers that the default solver finds."""
    case = next(case for case in SOLVABLE if case.name == name)
    model = case.model()
    found = solution(model, presolve=False, allow_inaccurate=True).answer.multipliers
    q, s = model.space.codes["q"], model.space.codes["s"]
    return Exact(model.form, case.expected(model.space), found, q, s, model.view.n_q)


def spoil(exact: Exact, kind: str, size: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Perturb counts in the null space of published rows or all rows, arbitrarily, or below zero; or multipliers."""
    rng = np.random.default_rng(seed)
    x, m = exact.counts.copy(), exact.multipliers.copy()
    if "cycle" in kind:  # q1 takes more of s1, and less of s2; q2 the other way round
        published = exact.form.matrix[: exact.form.n_published].toarray()
        for null in rng.permutation(null_vectors(published))[:1]:
            x += null * min(size, 0.9 * longest_step(x, null))
    if kind == "feasible":
        for null in rng.permutation(null_vectors(exact.form.matrix.toarray()))[:1]:
            x += null * min(size, 0.9 * longest_step(x, null))
    if kind == "anywhere":
        x *= np.exp(size * rng.normal(size=len(x)))
    if kind == "negative":
        x[rng.integers(len(x))] = -size
    if "multipliers" in kind:
        m += size * rng.normal(size=len(m))
    return x, m


def null_vectors(matrix: np.ndarray) -> np.ndarray:
    """A basis of the null space, one vector a row, with largest entry 1."""
    _, values, vectors = np.linalg.svd(matrix)
    null = vectors[(values > 1e-9).sum() :]
    return null / np.abs(null).max(axis=1, keepdims=True)


def longest_step(x: np.ndarray, direction: np.ndarray) -> float:
    """The longest step along a direction before a term is negative."""
    return float(min(x[direction < 0] / -direction[direction < 0], default=0.0))


@examples(150)
@given(seed=seeds, kind=st.sampled_from(KINDS), size=sizes)
def test_honest(seed: int, kind: str, size: float):
    """However an answer is perturbed, no P(s | q) is further from the exact one than the bound."""
    exact = from_multipliers(seed)
    counts, multipliers = spoil(exact, kind, size, seed)
    certificate = exact.certify(counts, multipliers)
    assert exact.error(counts) <= certificate.bound + ROUNDING


@pytest.mark.parametrize("name", [case.name for case in SOLVABLE])
@examples(15)
@given(kind=st.sampled_from(KINDS), size=sizes, seed=seeds)
def test_honest_on_the_depot(name: str, kind: str, size: float, seed: int):
    """The same where the exact answer has zeros, redundant rows, or buckets of very different sizes."""
    exact = solved_by_hand(name)
    counts, multipliers = spoil(exact, kind, size, seed)
    certificate = exact.certify(counts, multipliers)
    assert exact.error(counts) <= certificate.bound + ROUNDING


@examples(50)
@given(seed=seeds)
def test_useful(seed: int):
    """The exact answer is certified, with a bound well below the threshold: honesty is not achieved by refusing all."""
    exact = from_multipliers(seed)
    certificate = exact.certify(exact.counts, exact.multipliers)
    assert certificate.holds
    # Divergences are of second order in roundoff. Of inequalities that depend on each other some are inactive by
    # roundoff, which is a slack; the bound is the square root of the gap divided by the records of a group.
    assert certificate.bound <= 1e-6 / np.sqrt(min(1.0, exact.n_q.min()))
    assert certificate.gap <= 1e-12
    assert certificate.clipped == 0


@examples(50)
@given(seed=seeds, size=st.floats(-6, -3).map(lambda exponent: 10**exponent))
def test_proportionate(seed: int, size: float):
    """Multipliers with an error d have a gap of order d^2: the bound is proportional to the error."""
    exact = from_multipliers(seed)
    _, multipliers = spoil(exact, "multipliers", size, seed)
    multipliers = np.where(exact.multipliers == 0, 0.0, multipliers)  # inactive rows keep the multiplier 0
    certificate = exact.certify(exact.counts, multipliers)
    # With e = A' d, the gap is sum x (exp(e) - 1 - e), at most sum x e^2 for |e| < 1.
    e = exact.form.matrix.T @ (multipliers - exact.multipliers)
    assert certificate.gap <= exact.counts @ e**2 + 1e-9


@examples(50)
@given(seed=seeds, size=st.floats(0.5, 100))
def test_badly_violated(seed: int, size: float):
    """An answer for other published counts is not certified, whatever its multipliers."""
    exact = from_multipliers(seed)
    certificate = exact.certify(exact.counts * (1 + size), exact.multipliers)
    assert not certificate.holds
    assert certificate.residual >= size * exact.form.low[: exact.form.n_published].max() * (1 - 1e-9)


@pytest.mark.parametrize("case", CONTRADICTORY, ids=lambda case: case.name)
def test_nothing_satisfies_contradictions(case: Case):
    """Where no distribution satisfies the rows the bound is infinite."""
    model = case.model()
    problem = model.posed
    certificate = certify(problem.form, problem.groups, problem.closed_form.counts, problem.start)
    assert certificate.bound == np.inf
    assert not certificate.holds


@pytest.mark.parametrize("worthless", [np.nan, 0.0, -1.0, np.inf])
def test_worthless_answers(worthless: float):
    """Counts that are NaN, zero, negative or infinite are not certified, without an exception."""
    exact = from_multipliers(1)
    certificate = exact.certify(np.full(len(exact.counts), worthless), exact.multipliers)
    assert not certificate.holds
    certificate = exact.certify(exact.counts, np.full(len(exact.multipliers), np.nan))
    assert not certificate.holds


@examples(30)
@given(seed=seeds, size=sizes)
def test_clipped(seed: int, size: float):
    """A negative count is set to zero, and its size is reported."""
    exact = from_multipliers(seed)
    counts = exact.counts.copy()
    counts[seed % len(counts)] = -size
    certificate = exact.certify(counts, exact.multipliers)
    assert certificate.clipped == size
    counts[seed % len(counts)] = 0.0
    assert certificate.residual == exact.form.residual(counts).max()


@pytest.mark.parametrize("x", [1.21, 1.6, 1.99, 2.01, 2.4, 2.79])
def test_inactive_taken_for_active(x: float):
    """A multiplier of an inactive inequality is charged: 1.2 <= x <= 2.8 is no reason for x to be 1.6 or 2.4.

    Counts and multipliers match exactly; only the violation of complementary slackness shows the error.
    """
    exact = solved_by_hand("inactive between")
    counts = np.array([x, 4 - x, 3 - x, x - 1])
    m = square_dual(x)
    published = exact.form.matrix[:4].T.toarray()
    multipliers = np.append(np.linalg.lstsq(published, np.log(counts) + 1 - m * FIRST)[0], m)
    np.testing.assert_allclose(exact.form.matrix.T @ multipliers - 1, np.log(counts), atol=1e-12)
    certificate = exact.certify(counts, multipliers)
    assert certificate.residual <= 1e-9
    assert exact.error(counts) <= certificate.bound + ROUNDING
    # The gap is |m| times the slack of the side that the sign of m refers to.
    assert certificate.gap == pytest.approx(abs(m) * (x - 1.2 if m > 0 else 2.8 - x), rel=1e-6)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_multiplier_with_the_wrong_sign(sign: int):
    """A multiplier with the sign of a side that its row lacks proves nothing, however close the answer."""
    exact = solved_by_hand("active at most" if sign > 0 else "active at least")
    multipliers = exact.multipliers.copy()
    multipliers[-1] = sign * 1e-9
    assert exact.certify(exact.counts, exact.multipliers).bound <= ACCURACY
    assert exact.certify(exact.counts, multipliers).bound == np.inf
