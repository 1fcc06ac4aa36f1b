"""Points that satisfy rows exactly: which rows others imply, how far the nearest such point is, and verified bounds."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx._utils.parallel import LocalExecutor
from maxent_cvx.releases.partitioned import divided
from maxent_cvx.solvers import certificate, existence
from maxent_cvx.solvers.existence import Block, LocalRows, correct
from maxent_cvx.solvers.form import Groups, LinearForm, Settled
from maxent_cvx.solvers.modular import PRIMES, combination, residues, residues_of_fraction
from maxent_cvx.solvers.partitions import OverPartitions
from support.solving import examples

seeds = st.integers(0, 10**6)


def drawn(seed: int, n_terms: int, n_known: int, spread: float) -> tuple[LinearForm, np.ndarray]:
    """Buckets of several QI values and sensitive values, some cells and some rows missing, with rows of knowledge."""
    rng = np.random.default_rng(seed)
    q, s, b = rng.integers(0, 4, n_terms), rng.integers(0, 3, n_terms), rng.integers(0, 3, n_terms)
    cells = np.unique(np.stack([q, s, b], axis=1), axis=0)
    of_q = np.unique(cells[:, [0, 2]], axis=0, return_inverse=True)[1].ravel()
    of_s = np.unique(cells[:, [1, 2]], axis=0, return_inverse=True)[1].ravel()
    columns = np.arange(len(cells))
    first = sp.csr_array((np.ones(len(cells)), (of_q, columns)))
    second = sp.csr_array((np.ones(len(cells)), (of_s, columns)))
    published = sp.csr_array(sp.vstack([first, second[rng.random(second.shape[0]) < 0.8]]))
    known = rng.integers(-1, 2, (n_known, len(cells))).astype(float)
    if n_known > 2:
        known[-1] = known[0] + known[1]  # implied by others
    matrix = sp.csr_array(sp.vstack([published, sp.csr_array(known)]))
    x = 10 ** rng.uniform(-spread, spread, len(cells))
    side = matrix @ x
    n = published.shape[0]
    return LinearForm(matrix, side, side, np.ones(len(side)), None, n, n, np.ones(len(x))), x


@examples(60)
@given(seed=seeds, n_terms=st.integers(3, 30), n_known=st.integers(1, 5), spread=st.sampled_from([0.0, 1.0, 2.0, 4.0]))
def test_there_is_a_point_where_all_rows_hold_within_the_bounds(seed: int, n_terms: int, n_known: int, spread: float):
    """The nearest such point, in 60 digits: sum d^2 / x is at most the bound, for sides that are off."""
    form, x = drawn(seed, n_terms, n_known, spread)
    rng = np.random.default_rng(seed)
    near = x * (1 + 1e-9 * rng.uniform(-1, 1, len(x)))
    if seed % 2:  # published rows hold
        side = np.where(np.arange(form.shape[0]) < form.n_published, form.matrix @ near, form.low)
        form = replace(form, low=side, high=side)
    every = np.ones(form.shape[0], dtype=bool)
    one, none = np.zeros(len(x), dtype=int), np.empty(0)
    groups = Groups(one, np.array([x.sum()]))
    block = Block(form, 0, x, near, none, Settled.none(len(x)), one, groups, np.zeros(1))
    local = LocalRows(block, every, form.low, np.full(form.shape[0], 1e-13))
    zeros, over = np.zeros(len(form.low)), OverPartitions(LocalExecutor(1))
    side_error = np.full(len(zeros), 1e-13) * len(local.known)
    nothing = zeros.astype(bool)
    _, found = correct([local], form.low, side_error, zeros, nothing, zeros.astype(int), over)
    if not np.isfinite(found.length).all():
        return
    moved = local.moved(found.length)
    bound = np.sqrt((moved.own**2 / near).sum()) + found.length.max(initial=0.0) * moved.stretch
    with mp.workdps(60):
        matrix = form.matrix.toarray()
        ranks = [np.linalg.matrix_rank(matrix[:i]) for i in range(len(matrix) + 1)]
        rows = np.flatnonzero(np.diff(ranks))
        a, counts = mp.matrix(matrix[rows]), mp.diag(near.tolist())
        residual = a * mp.matrix(near) - mp.matrix(form.low[rows])
        z = mp.lu_solve(a * counts * a.T, residual)
        nearest = mp.sqrt((z.T * (a * counts * a.T) * z)[0])
    assert nearest <= bound * (1 + 1e-9)


@examples(60)
@given(seed=seeds, n_terms=st.integers(12, 30), n_known=st.integers(2, 5))
def test_a_watched_row_changes_by_no_more_than_its_bound(seed: int, n_terms: int, n_known: int):
    """The last row is not corrected: its value changes where the shortest correction of the others ends."""
    form, x = drawn(seed, n_terms, n_known, 2)
    near = x * (1 + 1e-6 * np.random.default_rng(seed).uniform(-1, 1, len(x)))
    watched = np.arange(form.shape[0]) == form.shape[0] - 1
    value = form.matrix @ near
    side, zeros, one = np.where(watched, value, form.low), np.zeros(len(value)), np.zeros(len(x), dtype=int)
    groups, none = Groups(one, np.array([x.sum()])), np.empty(0)
    block = Block(form, 0, x, near, none, Settled.none(len(x)), one, groups, np.zeros(1))
    local = LocalRows(block, np.ones(form.shape[0], dtype=bool), side, zeros).with_all_cycles()
    over = OverPartitions(LocalExecutor(1))
    _, found = correct([local], side, zeros, zeros, watched, zeros.astype(int), over)
    assume(len(local.space.outside) and len(found.rows) > 1 and np.isfinite(found.distance[-1]))
    at = near + local.change
    terms, cycles = zip(*local.space.cycles(np.arange(len(local.space.outside))), strict=True)
    along = sp.vstack(cycles).toarray() * np.sqrt(near[np.concatenate(terms)])[:, None]
    known = form.matrix[found.rows].toarray()
    end = at + along.T @ np.linalg.lstsq(known[:-1] @ along.T, (form.low - form.matrix @ at)[found.rows[:-1]])[0]
    np.testing.assert_allclose(
        form.matrix[found.rows[:-1]] @ end, form.low[found.rows[:-1]], rtol=0, atol=1e-9 * x.sum()
    )
    assert abs(known[-1] @ end - value[-1]) <= found.distance[-1] * (1 + 1e-6) + 1e-12 * x.sum()


@examples(60)
@given(seed=seeds, n_others=st.sampled_from([4, 80]), n_columns=st.sampled_from([6, 40, 90]))
def test_a_row_is_a_combination_if_it_adds_nothing_to_the_rank(seed: int, n_others: int, n_columns: int):
    """Whether the factors exist does not depend on rounding, and they are the factors, also of dependent rows."""
    rng = np.random.default_rng(seed)
    others = rng.integers(-3, 4, (n_others, n_columns)).astype(float) / 8
    if rng.random() < 0.5:
        others[::2] = others[1::2]
    row = rng.integers(-2, 3, n_others) @ others if rng.random() < 0.5 else rng.integers(-3, 4, n_columns).astype(float)
    implied = np.linalg.matrix_rank(np.vstack([others, row])) == np.linalg.matrix_rank(others)
    for prime in PRIMES:
        found = combination(residues(row, prime), residues(others, prime), prime)
        assert (found is not None) == implied
        if found is not None:
            total = sum(int(c) * residues(other, prime).astype(object) for c, other in zip(found, others, strict=True))
            assert not ((total - residues(row, prime)) % prime).any()


@examples(60)
@given(seed=seeds, spread=st.integers(0, 15))
def test_sums_in_two_parts(seed: int, spread: int):
    """The two parts are the exact sum up to the bound, which is far below the roundoff of one number."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=60) * 10 ** rng.uniform(-spread, spread, 60)
    of_sum = rng.integers(0, 3, 60)
    high, low, error = existence._exact_sums(values, of_sum, 3)
    for i in range(3):
        exact = sum(map(Fraction, values[of_sum == i].tolist()))
        assert abs(Fraction(high[i]) + Fraction(low[i]) - exact) <= Fraction(error[i])
    assert spread > 4 or (error <= 1e-20).all()


def test_residues():
    """The residue of a double is that of the rational number that it is."""
    for number in (0.1, -0.1, 1.0, -3.0, 2.0**-60, 1e9, 0.0):
        for prime in PRIMES:
            assert residues(np.array([number, 1.0]), prime)[0] == residues_of_fraction(Fraction(number), prime)


def test_a_row_that_differs_by_a_unit_in_the_last_place_is_another_row():
    """0.1 + 0.2 is not 0.3: the doubles as the rational numbers that they are."""
    for prime in PRIMES:
        others = residues(np.array([[0.1, 1.0], [0.2, 1.0]]), prime)
        assert combination(residues(np.array([0.1 + 0.2, 2.0]), prime), others[:1], prime) is None
        assert combination(residues(np.array([0.2, 2.0]), prime), others[:1], prime) is not None


def test_a_bucket_of_a_hundred_by_a_hundred_is_proved():
    """Its 200 rows of 10,000 terms are no dense matrix, and the bound is for the rows as typed."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"q": rng.integers(100, size=2_000), "s": rng.integers(100, size=2_000), "bucket": 0})
    model = mx.MaxEnt(mx.Release.from_buckets(table, qi="q", sa="s", bucket="bucket"))
    model.add(*(P(s, given={"q": s}) == 0.05 + 0.001 * s for s in range(5)), P(7, given={"q": 9}) <= 0.005)
    certificate = model.solve().certificate
    assert certificate.bound < 1e-9
    assert certificate.backward <= 1e-11


# -- verified bounds on Schur complements, dense and sparse ---------------------------------------------------------

SHAPES = [np.asarray, sp.csr_array]


def nearly_singular(seed: int, k: int, smallest: float) -> np.ndarray:
    """A symmetric matrix with a unit diagonal whose smallest eigenvalue is near a number, sparse for many rows."""
    generator = np.random.default_rng(seed)
    rows = sp.random_array((k + 5, k), density=min(1.0, 4 / k), rng=generator, data_sampler=generator.normal)
    gram = (rows.T @ rows).toarray() + np.diag(generator.uniform(0.1, 1, k))
    gram[:, -1] = gram[:, 0] * 1.0  # the last row is the first one but for what follows
    gram[-1] = gram[0]
    gram[-1, -1] = gram[0, 0] * (1 + smallest)
    root = np.sqrt(np.diag(gram))
    return gram / np.outer(root, root)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_eigenvalue_is_below_the_bound(shape):
    """The bound is below the least eigenvalue, and at most twice or so too small where roundoff does not decide."""
    for smallest in (1e-1, 1e-4, 1e-8, 1e-12, 1e-15, 0.0):
        for seed, k in enumerate((2, 9, 40)):
            matrix = nearly_singular(seed, k, smallest)
            _, least = existence._verified(shape(matrix))
            exact = np.linalg.eigvalsh(matrix)[0]
            assert least <= exact + 4 * k * np.finfo(float).eps
            if exact > 1e-10:
                assert least >= 0.4 * exact


@pytest.mark.parametrize("shape", SHAPES)
def test_quadratic_forms_are_bounded_from_above(shape):
    """V' S^-1 v is at most the bound, in 60 digits, and the bound is tight; it is also one for all uncertain v."""
    k = 6
    for seed, smallest in enumerate((1e-1, 1e-4, 1e-8)):
        matrix = nearly_singular(seed, k, smallest)
        solve, least = existence._verified(shape(matrix))
        definite = existence._Definite(np.arange(k), shape(matrix), solve, least, 1.0)
        v = np.random.default_rng(seed).normal(size=(k, 2))
        for column, bound in zip(v.T, definite.energy(v), strict=True):
            with mp.workdps(60):
                exact = mp.fdot(column, mp.lu_solve(mp.matrix(matrix), mp.matrix(column)))
            assert exact <= bound <= exact * (1 + 1e-5)
        uncertain, fixed = np.abs(v[:, 1]), v
        signs = np.array(list(itertools.product([-1, 1], repeat=k + 2)))
        corners = v[:, :1] + uncertain[:, None] * signs[:, :k].T + fixed @ signs[:, k:].T
        exact = np.sqrt((corners * np.linalg.solve(matrix, corners)).sum(axis=0).max())
        assert exact <= definite.longest(v[:, 0], uncertain, fixed) * (1 + 1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_that_repeat_others_are_left_out(shape):
    """Of equal rows one is kept, and the rest is verified."""
    matrix = nearly_singular(0, 30, 0.0)
    definite = existence._definite(shape(matrix), np.ones(30), 10.0)
    assert len(definite.rows) == 29
    assert definite.trust >= 0.5
    assert definite.least > 0


def test_long_combinations_of_rows_are_left_out():
    """Sums of neighbours in a chain depend on each other between neighbours whose values are certain."""
    n, certain = 3_000, [100, 1_400, 2_900]
    variance = np.random.default_rng(0).uniform(1, 2, n + 1)
    variance[certain] = 0.0
    incidence = sp.diags_array([np.ones(n), np.ones(n)], offsets=[0, 1], shape=(n, n + 1), format="csr")
    matrix = sp.csr_array(incidence @ sp.diags_array(variance) @ incidence.T)
    root = sp.diags_array(1 / np.sqrt(matrix.diagonal()))
    definite = existence._definite(sp.csr_array(root @ matrix @ root), np.full(n, 100.0), 40.0)
    assert len(definite.rows) == n - (len(certain) - 1)
    assert definite.trust >= 0.5


def test_a_release_without_knowledge_is_proved():
    """The closed form is certified for the hundreds of published rows of a release alone, in memory and in partitions."""
    table = pd.DataFrame(np.random.default_rng(0).integers(0, 6, (400, 2)), columns=["q", "s"]).assign(
        b=np.arange(400) // 5
    )
    release = mx.Release.from_buckets(table, qi="q", sa="s", bucket="b")
    for published in (release, divided(release, 2)):
        assert mx.MaxEnt(published).solve().certificate.bound < 1e-12


@pytest.mark.parametrize(("seed", "off"), [(0, 0.0), (1, 1e-14), (0, 1e-12), (1, 1e-9), (0, 1e-6)])
def test_repeated_equations_are_certified_alike(monkeypatch, seed, off):
    """Whether equal rows are left out changes no certificate: it reports a contradiction between them, or is refused."""
    generator = np.random.default_rng(seed)
    table = pd.DataFrame(generator.integers(0, 2, (40, 4)), columns=["a", "b", "c", "s"]).assign(
        bucket=np.arange(40) // 5
    )
    model = mx.MaxEnt(mx.Release.from_buckets(table, qi=["a", "b", "c"], sa="s", bucket="bucket"))
    model.add(mx.StrongestAssociations(table, None, None, min_support=1))
    share = float(table.loc[table["a"] == 0, "s"].mean())
    model.add(P(1, given={"a": 0}) == share + off)
    certificates = []
    for many in (1, 10**6):
        monkeypatch.setattr(certificate, "MANY_ROWS", many)
        try:
            certificates.append(model.solve(allow_inaccurate=True).certificate)
        except mx.Infeasible:
            certificates.append(None)
    without, every = certificates
    if without is None:
        assert every is None
        return
    assert without.holds == every.holds == (off <= 1e-14)
    assert without.bound == pytest.approx(every.bound, rel=0.5, abs=1e-13)
    assert max(without.backward, every.backward) <= 2 * off


@pytest.mark.parametrize("n", [30, 200])
def test_integer_factors_and_elimination_decide_alike(monkeypatch, n: int):
    """Two releases of the same people depend on each other, with factors of 1 and -1, and have one certificate."""
    generator = np.random.default_rng(n)
    people = pd.DataFrame({"id": np.arange(n), "s": generator.integers(0, 4, n)})
    releases = [
        mx.Release.from_buckets(people.assign(b=generator.permutation(n) // 5), qi=[], sa="s", bucket="b", id="id")
        for _ in range(2)
    ]
    model = mx.MaxEnt(mx.ReleaseSeries(releases))
    post, found = model.solve(), []
    as_integers = existence._as_integers
    monkeypatch.setattr(existence, "_as_integers", lambda *each: found.append(as_integers(*each)) or found[-1])
    by_integers = model.certify(post.counts, post.multipliers)
    assert any(integers is not None for integers in found)
    monkeypatch.setattr(existence, "_as_integers", lambda *_: None)
    assert model.certify(post.counts, post.multipliers) == by_integers


@pytest.mark.parametrize("seed", range(2))
def test_sparse_and_dense_proofs_agree(monkeypatch, seed):
    """Models with statements that connect everybody are certified alike by dense and by sparse factors."""
    generator = np.random.default_rng(seed)
    table = pd.DataFrame(
        {"q": generator.integers(0, 12, 60), "s": generator.integers(0, 6, 60), "b": np.arange(60) // 6}
    )
    model = mx.MaxEnt(mx.Release.from_buckets(table, qi="q", sa="s", bucket="b"))
    shares = pd.crosstab(table["q"], table["s"], normalize="index")
    for q in range(0, 12, 2):
        for s in range(3):
            model.add(P(s, given={"q": q}).about(0.9 * shares.loc[q, s] + 0.1 / 6, 0.02))
            model.add(P(s, given={"q": [q, q + 1]}) <= 0.8)
    dense = model.solve().certificate
    for name, value in (("MOST_DENSE_ROWS", 0), ("MOST_DENSE", 0), ("MOST_DENSE_STEP", 1), ("DENSE_SHARE", 2.0)):
        monkeypatch.setattr(existence, name, value)
    factored = []
    factor = existence._sparse_factor
    monkeypatch.setattr(existence, "_sparse_factor", lambda *each: factored.append(each[0].shape) or factor(*each))
    sparse = model.solve().certificate
    assert max(factored)[0] > 5
    assert dense.holds
    assert sparse.holds
    assert sparse.bound == pytest.approx(dense.bound, rel=0.5, abs=1e-13)
