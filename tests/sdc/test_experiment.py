"""Experiments: every cell is what one publication and one intruder give, whoever computes it."""

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
def found(table):
    return run(table, techniques=TECHNIQUES, repetitions=3, targets=4, seed=1, at=[10, 30])


def test_every_cell_is_there(found):
    """Technique x strength x repetition x attributes known x targets, in order, and all numbers in their range."""
    assert len(found) == 6 * 3 * 4 * 4
    cells = found.groupby(["technique", "strength", "repetition", "size"], sort=False).size()
    assert (cells == 4).all()
    assert list(cells.index)[:5] == [*(("Sampling", 0.2, 0, size) for size in range(4)), ("Sampling", 0.2, 1, 0)]
    assert found["truth"].between(0, 1).all()
    assert (found["H(30)"] <= found["H(10)"] + 1e-12).all()
    assert (found["H(10)"] <= found["initial"] + 1e-12).all()
    assert (found["attributes"].str.split(", ").map(lambda names: len([n for n in names if n])) == found["size"]).all()
    assert found.loc[found["size"] == 0, "people"].eq(60).all()


def test_one_cell_by_hand(table, found):
    """A row is the equivocation of what the technique infers for that person."""
    seed = int(np.random.default_rng([1, 2]).integers(2**31))
    for name, strength in (("Sampling", 0.6), ("RangeQueries", 2), ("BinomialNoise", 60)):
        technique = getattr(sdc, name)(strength, seed=seed)
        published = technique.publish(table, "Salary")
        cell = found.query("technique == @name and strength == @strength and repetition == 2 and size == 2")
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


def test_repetitions_are_paired(found):
    """All techniques and strengths have the same targets, and the same order in which attributes become known."""
    wide = found.assign(draw=found.groupby(["technique", "strength", "repetition", "size"]).cumcount())
    for column in ("attributes", "people", "target"):
        cells = wide.groupby(["repetition", "size", "draw"])[column].nunique()
        assert (cells == 1).all(), column
    assert (wide.groupby(["repetition", "draw"])["target"].nunique() == 1).all()
    for _, some in wide.groupby(["repetition", "draw"]):
        by_size = some.drop_duplicates("size").sort_values("size")
        names = [set(text.split(", ")) - {""} for text in by_size["attributes"]]
        assert all(a < b for a, b in itertools.pairwise(names))
        assert by_size["people"].is_monotonic_decreasing  # the same person, of whom more is known


def test_whoever_computes_it(table, found):
    """Two processes, threads by joblib's context, and the same seed: the same table. Another seed: another one."""
    again = partial(run, table, techniques=TECHNIQUES, repetitions=3, targets=4, at=[10, 30])
    pd.testing.assert_frame_equal(again(seed=1, n_jobs=2), found)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        pd.testing.assert_frame_equal(again(seed=1), found)
    assert not again(seed=2).equals(found)


def test_your_own_technique(table):
    """A class of your own, and a built-in one with settings, are techniques as well."""
    maxent = partial(sdc.RangeQueries, distribution="maxent")
    found = run(table, techniques={Rounded: ["Sex", "Age"], maxent: [4]}, repetitions=1, targets=2)
    assert set(found["technique"]) == {"Rounded", "RangeQueries(distribution='maxent')"}


def test_what_a_technique_does_to_its_table(table):
    """A technique that spoils the table it is given spoils nobody else's; and sizes draw by themselves."""

    class Spoiling(Rounded):
        def publish(self, given, confidential):
            said = super().publish(given, confidential)
            given[confidential] = 10
            return said

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


def unseeded(strength):
    return sdc.Sampling(strength)


@pytest.mark.parametrize(
    ("error", "change"),
    [
        *(
            (StatementError, {"techniques": wrong})
            for wrong in (
                [sdc.Sampling],
                {"Sampling": [1]},
                {sdc.Sampling: 0.5},
                {lambda strength, seed: None: [1]},
                {unseeded: [1]},
                {Mute: [1]},
            )
        ),
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
