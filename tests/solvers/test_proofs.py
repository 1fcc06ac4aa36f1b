"""Terms that a direction proves zero are zero in every feasible point; a term that can be positive is never proved."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linprog

import maxent_cvx as mx
from maxent_cvx import MaxEnt
from maxent_cvx.solvers.certificate import certify
from maxent_cvx.solvers.duality import empty_terms, exact_rmatvec, implied_upper_bounds, moved_along_recession
from maxent_cvx.solvers.explain import facial_reduction
from maxent_cvx.solvers.form import Groups, LinearForm
from maxent_cvx.solvers.newton import newton
from maxent_cvx.solvers.proofs import local_proofs, recession_part, support_proof
from support.linear_programs import ranges
from support.problems import PROBLEMS, p, publish
from support.random_models import from_multipliers, random_model
from support.solving import solution
from tests.benchmarks.models import generic_statements

seeds = st.integers(0, 10**6)


def empty(form: LinearForm, *proofs: np.ndarray) -> np.ndarray:
    """The terms that directions prove zero, each given those before it."""
    found = np.zeros(form.shape[1], dtype=bool)
    for proof in proofs:
        found |= empty_terms(form, proof, found, np.zeros(len(found)))
    return found


@example(seed=29, size=1.0)  # facial reduction ends without a direction
@given(seed=seeds, size=st.floats(-12, 3).map(lambda exponent: 10**exponent))
def test_exactly_the_zeros_are_proved(seed: int, size: float):
    """The linear program finds one direction that proves all terms zero that can be nothing else.

    No other direction proves a term zero that can be positive: those of Newton's method, of facial reduction from
    rough or wrong answers, slightly perturbed certificates, and random ones.
    """
    form, rng = random_model(seed, statements=6)[0].form, np.random.default_rng(seed)
    most, proof = ranges(form)[1], support_proof(form)
    np.testing.assert_array_equal(empty(form, proof), most <= 1e-6)
    assert (most[empty(form, *newton(form).proofs)] <= 1e-6).all()
    noise = size * rng.normal(size=form.shape[0]) * (rng.random(form.shape[0]) < rng.choice([0.1, 0.5, 1.0]))
    rough = newton(form, max_iterations=12).counts
    reduced = [facial_reduction(form, counts) for counts in (rough, np.zeros(form.shape[1]))]
    reduced += [recession_part(form, multipliers, rough) for multipliers in (newton(form).multipliers, noise)]
    for direction in (proof + noise, -proof, noise, np.round(noise), rng.permutation(proof), *reduced):
        assert (most[empty(form, direction)] <= 1e-6).all()


def test_many_records():
    """A proof holds for hundreds of thousands of records as for one: roundoff is relative to their number."""
    for n in (1, 10**5):
        buckets = [(f"q1*{n} q2*{2 * n} q3*{n}", f"s1*{n} s2*{2 * n} s3*{n}")]
        # All q1 and q2 are s1 or s2, crosswise: q1 in s1 and q2 in s2 are as many as q1 or s1 and q2 or s2 allow.
        model = MaxEnt(publish(buckets)).add(p("s1", "q1") + 2 * p("s2", "q2") == 3)
        zero = [False, True, True, True, False, True, True, True, False]
        assert empty(model.form, support_proof(model.form)).tolist() == zero
        np.testing.assert_allclose(model.solve().conditional(), np.eye(3), atol=1e-9)


def test_a_fixed_zero_can_only_be_larger():
    """x1 + x2 = 0 proves x2 zero however wide x1 is, which is not negative; x2 = x1 proves it at most as wide."""
    fixed, width, direction = np.array([True, False]), np.array([0.25, 0.0]), np.array([-1.0])
    for first, most in ((1.0, 0.0), (-1.0, 0.25)):
        form = LinearForm.plain(sp.csr_array([[first, 1.0]]), np.zeros(1), np.zeros(1))
        bounds = implied_upper_bounds(form, direction, fixed, np.zeros(2), width)
        assert bounds[1] == pytest.approx(most, abs=1e-15)
    # Nor is what is fixed at 0.1 less than 0: x1 + x2 = 0.5 leaves at most 0.5 for x2.
    form = LinearForm.plain(sp.csr_array([[1.0, 1.0]]), np.full(1, 0.5), np.full(1, 0.5))
    bounds = implied_upper_bounds(form, direction, fixed, np.array([0.1, 0.0]), width)
    assert bounds[1] == pytest.approx(0.5, rel=1e-12)


@given(seed=seeds)
def test_bounds_hold_whatever_fixed_terms_are(seed: int):
    """No point whose fixed terms are within their widths exceeds a bound, by a linear program for each term."""
    rng = np.random.default_rng(seed)
    n_rows, n_terms = 4, 8
    matrix = sp.csr_array((rng.random((n_rows, n_terms)) < 0.5) * rng.choice([1.0, 1.0, 3.0, -1.0], (n_rows, n_terms)))
    fixed = rng.random(n_terms) < 0.5
    counts = np.where(rng.random(n_terms) < 0.6, 0.0, rng.integers(1, 4, n_terms)).astype(float)
    width = np.where(fixed, rng.choice([0.0, 1e-9, 0.25, 2.0], n_terms), 0.0)
    side = matrix @ np.maximum(counts + width * rng.uniform(-1, 1, n_terms), 0.0)
    form = LinearForm.plain(matrix, side, side)
    direction = -rng.integers(0, 3, n_rows).astype(float) * rng.choice([1, 1, 1, -1], n_rows)
    bounds = implied_upper_bounds(form, direction, fixed, counts, width)
    low, high = np.where(fixed, np.maximum(counts - width, 0), 0.0), np.where(fixed, counts + width, np.inf)
    for term in np.flatnonzero(np.isfinite(bounds)):
        most = linprog(-np.eye(n_terms)[term], A_eq=matrix.toarray(), b_eq=side, bounds=np.column_stack([low, high]))
        assert most.success
        assert -most.fun <= bounds[term] + 1e-7


@given(seed=seeds)
def test_moved_along_recession(seed: int):
    """Multipliers moved along the proofs make terms proved zero negligible, and leave the others unchanged."""
    form = random_model(seed, statements=6)[0].form
    proof = support_proof(form)
    gone = empty(form, proof)
    m = np.random.default_rng(seed).normal(size=form.shape[0])
    before, after = np.exp(form.exponent(m)), np.exp(form.exponent(moved_along_recession(form, m, [proof])))
    assert (after[gone] < 1e-20).all()
    np.testing.assert_allclose(after[~gone], before[~gone], rtol=1e-6)
    answer = newton(form)
    gone = empty(form, *answer.proofs)
    after = np.exp(form.exponent(moved_along_recession(form, answer.multipliers, answer.proofs)))
    assert (after[gone] < 1e-20).all()
    np.testing.assert_allclose(after[~gone], answer.counts[~gone], rtol=1e-5, atol=1e-12)


def test_the_certificate_needs_proofs():
    """With the proofs that Newton's method found an answer with zeros is certified, without them it is not.

    A direction that proves nothing changes no certificate.
    """
    model = PROBLEMS["crosswise"].model()
    found = solution(model, presolve=False).answer
    about = (model.form, Groups(model.space.codes["q"], model.view.n_q), found.counts, found.multipliers)
    assert certify(*about, proofs=found.proofs).bound < 1e-6
    assert certify(*about, proofs=found.proofs).forced == 4  # s3 of q1 and q2, s1 and s2 of q3
    assert certify(*about).forced == 0
    for seed in range(10):
        exact, rng = from_multipliers(seed), np.random.default_rng(seed)
        groups = Groups(exact.q, exact.n_q)
        false = [rng.normal(size=exact.form.shape[0]), np.full(exact.form.shape[0], -1.0)]
        for counts in (exact.counts, np.where(rng.random(len(exact.q)) < 0.3, 0.0, exact.counts)):
            honest = certify(exact.form, groups, counts, exact.multipliers)
            assert certify(exact.form, groups, counts, exact.multipliers, proofs=false) == honest


def overlapping(rng: np.random.Generator, n_terms: int, rows: int) -> LinearForm:
    """Sums over overlapping sets of terms, of which a few are positive: knowledge without published rows."""
    counts = np.where(rng.random(n_terms) < 0.4, rng.integers(1, 9, n_terms), 0).astype(float)
    chosen = rng.random((rows, n_terms)) < 0.5
    chosen[:, 0] = True  # all of them overlap
    matrix = sp.csr_array(chosen.astype(float))
    return LinearForm.plain(matrix, matrix @ counts, matrix @ counts)


@given(seed=seeds)
def test_local_proofs_find_all_zeros_of_components(seed: int):
    """In each connected component, the knowledge alone proves zero exactly the terms that it forces to zero."""
    rng = np.random.default_rng(seed)
    sides = [overlapping(rng, 7, rows) for rows in (3, 1, 5)]
    together = LinearForm.plain(
        sp.csr_array(sp.block_diag([form.matrix for form in sides])), *(np.concatenate([f.low for f in sides]),) * 2
    )
    proofs = local_proofs(together)
    alone = [ranges(form)[1] <= 1e-6 for form in sides]
    alone[1][:] = False  # a single row is left to bound propagation
    np.testing.assert_array_equal(empty(together, *proofs), np.concatenate(alone))
    assert all((proof == np.rint(proof)).all() for proof in proofs)


@given(seed=seeds, size=st.floats(-8, 8).map(lambda exponent: 10**exponent))
def test_exact_rmatvec(seed: int, size: float):
    """The error of A' m is within its bound, by rational arithmetic."""
    rng = np.random.default_rng(seed)
    form = random_model(seed, statements=6)[0].form
    m = size * rng.normal(size=form.shape[0])
    found, off = exact_rmatvec(form, m)
    exact = [sum(map(Fraction.from_float, m * column)) for column in form.matrix.toarray().T]
    assert all(
        abs(Fraction.from_float(x) - y) <= Fraction.from_float(e) for x, y, e in zip(found, exact, off, strict=True)
    )


def test_hundreds_of_exact_statements():
    """Shares of integers are typed with an error of 1e-16, which zeros that statements force together magnify."""
    table = mx.datasets.load_adult().sample(900, random_state=0).reset_index(drop=True)
    release = mx.anonymize.anatomy(table, qi=mx.datasets.ADULT_QI, sa="education", l=5, exempt=2)
    post = mx.MaxEnt(release).add(*generic_statements(table, 500)).solve()
    assert post.certificate.holds
    assert post.certificate.forced > 1_000
