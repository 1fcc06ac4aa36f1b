"""Range queries: bounds are those of linear programs, maximum entropy that of the general model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, Infeasible, StatementError, TableError, sdc
from maxent_cvx.testing import check_source
from support.techniques import people

#: Confidential attributes of any kind: whole, negative, constant, far apart, floats long and short.
COLUMNS = {
    "tens": lambda rng, n: rng.integers(0, 6, n) * 10,
    "negative": lambda rng, n: rng.integers(-5, 5, n),
    "constant": lambda rng, n: np.full(n, 7),
    "skewed": lambda rng, n: rng.choice([1, 2, 3, 1000], n, p=[0.4, 0.3, 0.2, 0.1]),
    "normal": lambda rng, n: rng.normal(size=n).round(3),
    "short": lambda rng, n: rng.normal(size=n).astype(np.float32),
}


@given(st.sampled_from(list(COLUMNS)), st.integers(2, 24), st.integers(1, 4), st.integers(0, 10_000))
def test_closed_form_is_the_linear_program(kind, n, half, seed):
    """L and U of half-overlapping windows are those of two linear programs per record (CAE, section 5)."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"C": COLUMNS[kind](rng, max(n, 2 * half))})
    answers = sdc.RangeQueries(2 * half, seed).publish(table, "C")
    assert len(answers) == 2 * len(table) // (2 * half) - 1  # k = floor(2n/Q) - 1
    system = np.zeros((len(answers), len(table)))
    for row, (first, last) in enumerate(answers.table[["first", "last"]].to_numpy()):
        system[row, first : last + 1] = 1
    assert np.linalg.matrix_rank(system) == len(answers)  # "linearly independent equations"
    true = table["C"].loc[answers.order].to_numpy()
    np.testing.assert_allclose(system @ true.astype(float), answers.table["sum"], rtol=1e-12, atol=1e-12)
    low, high = sdc.record_bounds(system, answers.table["sum"].to_numpy(), table["C"].min(), table["C"].max())
    size = max(np.ptp(true.astype(float)), 1e-9)
    np.testing.assert_allclose(answers.bounds["low"], low, atol=1e-6 * size)
    np.testing.assert_allclose(answers.bounds["high"], high, atol=1e-6 * size)
    slack = 1e-9 * size
    assert ((answers.bounds["low"] <= true + slack) & (true <= answers.bounds["high"] + slack)).all()
    for distribution in ("uniform", "maxent"):  # no distribution excludes the true value
        technique = sdc.RangeQueries(2 * half, seed, distribution=distribution)
        population = table.assign(Id=range(len(table)))
        for record in table.index[:3]:
            assert technique.infer(answers, {"Id": record}, population)[table["C"][record]] > 0


@pytest.mark.parametrize("kind", ["tens", "negative", "skewed", "normal"])
def test_maxent_is_that_of_the_model(kind):
    """Newton's method in one dimension finds the posterior of the model."""
    rng = np.random.default_rng(len(kind))
    for size in (2, 4, 6):
        table = pd.DataFrame({"C": COLUMNS[kind](rng, 31)})
        answers = sdc.RangeQueries(size, seed=3).publish(table, "C")
        post = answers.model.solve()
        np.testing.assert_allclose(answers.maxent, post.conditional(), atol=1e-5)
        h = -np.where(answers.maxent > 0, answers.maxent * np.log(answers.maxent.clip(lower=1e-300)), 0).sum()
        assert h * (size // 2) >= (post.entropy - np.log(len(answers.maxent))) * (answers.block >= 0).sum() - 1e-6


def test_bounds_of_other_systems():
    """A total and the sum of all but one record determine that record; impossible sums are refused."""
    system, true = np.array([[1, 1, 1, 1], [1, 1, 1, 0]]), np.array([3, 5, 1, 7])
    low, high = sdc.record_bounds(system, system @ true, 0, 10)
    np.testing.assert_allclose([low[3], high[3]], 7, atol=1e-9)
    np.testing.assert_allclose([low[:3], high[:3]], [[0] * 3, [9] * 3], atol=1e-9)
    for error, wrong, sums, low, high in [
        (Infeasible, system, system @ true, 0, 1),
        (TableError, system, [3], 0, 1),
        *((TableError, wrong, [1], 0, 1) for wrong in ([[np.nan, 1]], [["a"]])),
    ]:
        with pytest.raises(error):
            sdc.record_bounds(wrong, sums, low, high)
    for error, sums, half, low, high in [
        (Infeasible, [3.0], 1, 0, 1),
        (TableError, [np.nan, 1], 1, 0, 1),
        (TableError, [1, 1], 1, 1, 0),
        (BadProbability, [1, 1], 1, 0, np.inf),
        (StatementError, [1, 1], 0, 0, 1),
        (TableError, [[1, 1]], 1, 0, 1),
        (TableError, "12", 1, 0, 1),
    ]:
        with pytest.raises(error):
            sdc.half_overlapping_bounds(sums, half, low, high)


def test_uniform_between_bounds():
    """Algorithm 2 gives the mean over Mo of uniform distributions over the domain between L and U."""
    table = people(60, 3)
    for size in (2, 4, 16):
        technique = sdc.RangeQueries(size, seed=1)
        answers = technique.publish(table, "Salary")
        domain = np.array(sorted(set(table["Salary"])))
        expected = np.zeros(len(domain))
        mo = table.index[table["Sex"] == "F"]
        for record in mo:
            low, high = answers.bounds.loc[record]
            inside = (domain >= low - 1e-9) & (domain <= high + 1e-9)
            expected += inside / inside.sum() / len(mo)
        p = technique.infer(answers, {"Sex": "F"}, table.drop(columns="Salary"))
        np.testing.assert_allclose(p, expected, atol=1e-12)


def true_terms(answers, table, space):
    """P(block, value) of the records as they are."""
    inside = answers.block >= 0
    true = table["Salary"].loc[answers.order[inside]]
    return space.count(pd.DataFrame({"block": answers.block[inside], "Salary": true.to_numpy()})) / inside.sum()


def test_maxent_has_the_means():
    """The means of maximum entropy agree with all answers; answers and bounds are true of the records."""
    table = people(41, 5)
    answers = sdc.RangeQueries(4, seed=2).publish(table, "Salary")
    p = answers.maxent
    mean = p.to_numpy() @ p.columns.to_numpy()
    np.testing.assert_allclose(2 * (mean[:-1] + mean[1:]), answers.table["sum"], atol=1e-5)
    assert (abs(answers.maxent.sum(axis=1) - 1) < 1e-12).all()
    model = answers.model
    by_clarabel = model.solve("CLARABEL", presolve=False, polish=True)
    assert abs(by_clarabel.conditional() - p).to_numpy().max() < 1e-6
    for label in ("range sums", "bounds"):
        check_source(model.knowledge[label], model.space)
        rows = next(iter(model.knowledge[label].rows(model.space)))
        assert rows.residual(true_terms(answers, table, model.space)).max(initial=0) < 1e-9, label
    means = model.copy().remove("bounds").solve()
    assert means.entropy > model.solve().entropy
    assert (answers.block < 0).sum() == 1
    alone = answers.order[answers.block < 0][0]  # the record that no query sums
    population = table.assign(Id=range(41))
    p_alone = sdc.RangeQueries(4, seed=2, distribution="maxent").infer(answers, {"Id": alone}, population)
    np.testing.assert_allclose(p_alone, 1 / len(p.columns))


def test_queries_name_records():
    """The population has the labels of the records, in any order, which a QITable does not have."""
    table = people()
    technique = sdc.RangeQueries(4)
    answers = technique.publish(table, "Salary")
    others = table.drop(columns="Salary")
    view = mx.QITable(others, qi=["Sex"], sa="Salary", sa_values=[1, 2])
    pd.testing.assert_series_equal(technique.infer(answers, {}, view), technique.infer(answers, {}, others))
    shuffled = others.sample(frac=1, random_state=0)
    women = [technique.infer(answers, {"Sex": "F"}, population) for population in (others, shuffled)]
    pd.testing.assert_series_equal(*women)
    for known, population in [
        ({"Sex": "F"}, view),
        ({}, others.set_axis([0, *range(39)])),
        ({}, others.set_axis(range(100, 140))),
    ]:
        with pytest.raises(TableError):
            technique.infer(answers, known, population)


def test_wrong_tables():
    """Labels and columns are unique, and confidential values can be summed exactly."""
    table = people()
    for wrong in [
        pd.concat([table, table]),
        pd.concat([table, table["Age"]], axis=1),
        table.head(3),
        table.assign(Salary=table["Sex"]),
        table.assign(Salary=[np.inf, *range(39)]),
        table.assign(Salary=3 * 10**18),
    ]:
        with pytest.raises(TableError):
            sdc.RangeQueries(4).publish(wrong, "Salary")
