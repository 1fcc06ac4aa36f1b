"""Experiments: every cell is the result of one publication and one intruder."""

from __future__ import annotations

import itertools
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import BadProbability, StatementError, TableError, UnknownName, sdc
from support.techniques import Rounded, people

TECHNIQUES = {sdc.Sampling: [0.2, 0.6], sdc.RangeQueries: [2, 8], sdc.BinomialNoise: [10, 60]}
run = partial(sdc.experiment, confidential="Salary", progress=False)


@pytest.fixture(scope="module")
def table():
    return people(60)


@pytest.fixture(scope="module")
def result(table):
    return run(table, techniques=TECHNIQUES, repetitions=3, targets=4, seed=1, at=[10, 30])


def test_every_cell_is_there(result):
    """The rows are technique x strength x repetition x known attributes x targets, with numbers in their range."""
    assert len(result) == 6 * 3 * 4 * 4
    cells = result.groupby(["technique", "strength", "repetition", "size"], sort=False).size()
    assert (cells == 4).all()
    assert list(cells.index)[:5] == [*(("Sampling", 0.2, 0, size) for size in range(4)), ("Sampling", 0.2, 1, 0)]
    assert result["truth"].between(0, 1).all()
    assert (result["H(30)"] <= result["H(10)"] + 1e-12).all()
    assert (result["H(10)"] <= result["initial"] + 1e-12).all()
    assert (
        result["attributes"].str.split(", ").map(lambda names: len([n for n in names if n])) == result["size"]
    ).all()
    assert result.loc[result["size"] == 0, "people"].eq(60).all()


def test_one_cell_by_hand(table, result):
    """A row is the equivocation of what the technique infers about that person."""
    seed = int(np.random.default_rng([1, 2]).integers(2**31))
    for name, strength in (("Sampling", 0.6), ("RangeQueries", 2), ("BinomialNoise", 60)):
        technique = getattr(sdc, name)(strength, seed=seed)
        published = technique.publish(table, "Salary")
        cell = result.query("technique == @name and strength == @strength and repetition == 2 and size == 2")
        attributes = cell["attributes"].iloc[0].split(", ")
        possible = {}
        for values, group in table.groupby(attributes):
            p = technique.infer(published, dict(zip(attributes, values, strict=True)), table)
            cae = mx.measures.equivocation(p)
            for true in set(group["Salary"]):
                possible[len(group), round(p[true], 9), round(cae.initial, 9), round(cae.area, 6), cae.eps_max] = True
        for _, row in cell.iterrows():
            key = row["people"], round(row["truth"], 9), round(row["initial"], 9), round(row["area"], 6), row["eps_max"]
            assert key in possible


def test_repetitions_are_paired(result):
    """All techniques and strengths have the same targets, whose attributes become known in the same order."""
    wide = result.assign(draw=result.groupby(["technique", "strength", "repetition", "size"]).cumcount())
    for column in ("attributes", "people", "target"):
        cells = wide.groupby(["repetition", "size", "draw"])[column].nunique()
        assert (cells == 1).all(), column
    assert (wide.groupby(["repetition", "draw"])["target"].nunique() == 1).all()
    for _, some in wide.groupby(["repetition", "draw"]):
        by_size = some.drop_duplicates("size").sort_values("size")
        names = [set(text.split(", ")) - {""} for text in by_size["attributes"]]
        assert all(a < b for a, b in itertools.pairwise(names))
        assert by_size["people"].is_monotonic_decreasing  # the same person, of whom more is known


def test_processes_and_seeds(table, result):
    """The table depends on the seed, and not on processes or threads."""
    again = partial(run, table, techniques=TECHNIQUES, repetitions=3, targets=4, at=[10, 30])
    pd.testing.assert_frame_equal(again(seed=1, n_jobs=2), result)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        pd.testing.assert_frame_equal(again(seed=1), result)
    assert not again(seed=2).equals(result)


def test_other_techniques(table):
    """A class of the user and a partial class with settings are techniques."""
    maxent = partial(sdc.RangeQueries, distribution="maxent")
    result = run(table, techniques={Rounded: ["Sex", "Age"], maxent: [4]}, repetitions=1, targets=2)
    assert set(result["technique"]) == {"Rounded", "RangeQueries(distribution='maxent')"}


def test_techniques_and_sizes_are_independent(table):
    """A technique that changes its table changes no other table, and each size has its own draws."""

    class Spoiling(Rounded):
        def publish(self, given, confidential):
            published = super().publish(given, confidential)
            given[confidential] = 10
            return published

    before = table.copy()
    run(table, techniques={Spoiling: ["Sex"]}, repetitions=1, targets=2)
    pd.testing.assert_frame_equal(table, before)
    pairs = table.assign(Pair=list(zip(table["Sex"], table["Education"], strict=True)))
    once = partial(run, pairs, techniques={sdc.Sampling: [0.5]}, known=["Pair", "Age"], repetitions=2, targets=3)
    all_sizes, one_size = once(draw="values"), once(draw="values", sizes=[2])
    pd.testing.assert_frame_equal(all_sizes[all_sizes["size"] == 2].reset_index(drop=True), one_size)


class Lazy(Rounded):
    """Its probabilities sum to a half."""

    def infer(self, published, known, population):
        return pd.Series([0.5], index=published.columns[:1])


class Mute:
    """A class without the methods of a technique."""

    def __init__(self, strength, seed):
        pass


@pytest.mark.parametrize(
    ("error", "change"),
    [
        (StatementError, {"techniques": [sdc.Sampling]}),
        (StatementError, {"techniques": {"Sampling": [1]}}),
        (StatementError, {"techniques": {sdc.Sampling: 0.5}}),
        (StatementError, {"techniques": {lambda strength, seed: None: [1]}}),
        (StatementError, {"techniques": {sdc.noise_limit: [1]}}),
        (StatementError, {"techniques": {Mute: [1]}}),
        (TableError, {"techniques": {Lazy: ["Sex"]}}),
        (StatementError, {"known": ["Salary"]}),
        (StatementError, {"known": ["Age", "Age"]}),
        (StatementError, {"sizes": [4]}),
        (StatementError, {"sizes": []}),
        (StatementError, {"sizes": [1, "a"]}),
        (StatementError, {"draw": "records"}),
        (StatementError, {"repetitions": 0}),
        (UnknownName, {"confidential": "Salery"}),
        (TableError, {"confidential": "Sex"}),
        (BadProbability, {"at": [-1]}),
        (BadProbability, {"at": ["a"]}),
        (StatementError, {"n_jobs": 0}),
        (StatementError, {"client": "tcp://127.0.0.1:8786"}),
        (StatementError, {"progress": "no"}),
    ],
)
def test_wrong_arguments(table, error, change):
    with pytest.raises(error):
        run(**{"table": table, "techniques": TECHNIQUES, "repetitions": 1, **change})
