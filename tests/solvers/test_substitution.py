"""Badly scaled rows, rewritten by published equations, have the same feasible set and are better scaled."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from maxent_cvx import MaxEnt, P, Release
from maxent_cvx.model.system import assemble_system
from maxent_cvx.solvers.form import LinearForm
from maxent_cvx.sources.queries import AnsweredQueries
from maxent_cvx.terms.rows import Rows
from support.oracle import oracle

OUTLIER = 10**10


def people(n: int, seed: int) -> pd.DataFrame:
    """Incomes in thousands, and one of 10^10; buckets of five."""
    rng = np.random.default_rng(seed)
    incomes = np.append(1000 * np.round(rng.lognormal(3, 1, n - 1)).astype(int) + 1000, OUTLIER)
    return pd.DataFrame(
        {"Age": rng.choice([20, 30, 40], n), "Sex": rng.choice(["f", "m"], n), "Income": rng.permutation(incomes),
         "Bucket": np.arange(n) // 5}
    )  # fmt: skip


def model_of(records: pd.DataFrame, *queries: dict[str, object], of: str = "sum", eps: float = 0.0) -> MaxEnt:
    """A model with the published records, and sums or means of some of their incomes."""
    model = MaxEnt(Release.from_buckets(records, qi=["Age", "Sex"], sa="Income", bucket="Bucket"))
    answers = [
        float(records["Income"][(records[list(query)] == pd.Series(query)).all(axis=1)].agg(of)) for query in queries
    ]
    return model.add(AnsweredQueries(queries, answers, of=of, eps=eps))


def as_stacked(model: MaxEnt) -> LinearForm:
    """The rows before any of them is rewritten."""
    n = model.form.n_facts
    facts, knowledge = (
        [rows for rows, end in zip(model.blocks, model.blocks.starts[1:], strict=True) if inside(end)]
        for inside in (lambda end: end <= n, lambda end: end > n)
    )
    return assemble_system(facts, [], knowledge, model.view.n_records, model.form.weights)


@pytest.mark.parametrize(("n", "eps", "seed"), [(20, 0.0, 0), (60, 1000.0, 1), (200, 1000.0, 0)])
def test_sums_with_one_income_of_ten_billion(n: int, eps: float, seed: int):
    """What sums of incomes imply about the smaller ones is not lost beside the largest."""
    certificate = model_of(people(n, seed), {"Age": 20}, {"Sex": "f"}, eps=eps).solve().certificate
    assert certificate.holds
    assert certificate.backward == 0


def test_sums_against_extended_precision():
    """The answer is that of 80-digit arithmetic for the rational numbers as typed, within the certificate's bound."""
    compared = 0
    for seed in range(6):
        model = model_of(people(10, seed), {"Sex": "f"})
        post = model.solve()
        exact = oracle(model, np.full(len(model.space), 0.1))
        if exact is not None:  # it finds positive answers only
            compared += 1
            off = np.abs(post.counts - np.array([float(x) for x in exact.counts])).max()
            assert off <= post.certificate.bound * model.view.n_records + 1e-12
    assert compared >= 3


@pytest.mark.parametrize("c", [1e-3, 1e-6, 1e-9, 1e-12])
def test_rewritten_rows_are_the_same_rows(c: float):
    """A rewritten row is the original one minus multiples of published equations, times its factor."""
    records = people(20, 1)
    model = model_of(records, {"Sex": "f"})
    flu = sorted(set(records["Income"]))
    model.add(c * P(flu[0], given={"Sex": "f"}) + P(flu) == 1 + 0.25 * c)
    before, after = as_stacked(model), model.form
    operations = after.operations
    assert operations is not None
    changed = np.flatnonzero(operations.factors != 1)
    assert set(changed) == {after.shape[0] - 2, after.shape[0] - 1}
    rational = before.matrix.toarray() - (operations.multiples[:, : after.n_published] @ before.published).toarray()
    np.testing.assert_allclose(after.matrix.toarray(), operations.factors[:, None] * rational, rtol=1e-4, atol=1e-4)
    own = after.matrix[[changed[1]]].toarray()[0]
    of = model.space.codes["s"] == model.space.view.sensitive_values.get_loc(flu[0])
    # After elimination of the published 1 the row is c P(flu | f) = 0.25 c.
    assert not own[~of].any()
    side = (Fraction(1 + 0.25 * c) - 1) / Fraction(c)
    assert after.low[changed[1]] / own[own != 0][0] == pytest.approx(
        float(side) * float((records["Sex"] == "f").sum()), rel=1e-14
    )


def test_multipliers_are_those_of_the_rows_as_written():
    """N p = exp(A' m - 1), with every row as its source emits it, scaled to a largest coefficient of 1."""
    model = model_of(people(20, 0), {"Age": 20}, {"Sex": "f"})
    post, form = model.solve(), as_stacked(model)
    m = np.concatenate([*post.multipliers.values()])
    np.testing.assert_allclose(np.exp(form.exponent(m)), post.counts, rtol=1e-6, atol=1e-9)
    again = model.solve(warm_start=post)
    np.testing.assert_allclose(again.counts, post.counts, atol=1e-9)
    assert again.iterations <= post.iterations


def test_extreme_coefficients(release):
    """Coefficients at the limits of doubles are answered within the bound; rows that always hold change no answer."""
    flu, hiv = P("Flu", given={"Gender": "male"}), P("HIV", given={"Gender": "female"})
    for c in (1e300, 1e-300, 5e-324):
        post = MaxEnt(release).add(c * flu + hiv <= 0.4 * c + 1).solve()
        assert post.prob(flu) <= 0.5 + post.certificate.bound
    model = model_of(people(20, 0), {"Sex": "f"})
    row = np.zeros((1, len(model.space)))
    row[0, [0, 5]] = 1, 1e-9
    for low in (-np.inf, 0.0):
        more = model.copy().add(Rows(sp.csr_array(row), np.array([low]), np.array([np.inf]), "own"), label="own")
        np.testing.assert_allclose(more.solve().counts, model.solve().counts, atol=1e-9)
