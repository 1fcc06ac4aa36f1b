"""Statistical disclosure control: what every technique promises, and what each refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from maxent_cvx import BadProbability, GroupTooLarge, StatementError, TableError, UnknownName, sdc
from maxent_cvx.testing import check_technique
from support.techniques import Rounded, people

TECHNIQUES = [
    sdc.Sampling(0.3),
    sdc.Sampling(1),
    sdc.RangeQueries(2),
    sdc.RangeQueries(6),
    sdc.RangeQueries(6, distribution="maxent"),
    sdc.BinomialNoise(0),
    sdc.BinomialNoise(30),
    sdc.BinomialNoise(100),
    Rounded("Sex"),
]


@pytest.mark.parametrize("technique", TECHNIQUES, ids=repr)
def test_techniques_keep_the_contract(technique):
    """All give probabilities over the domain, also the one that a user writes in ten lines."""
    check_technique(technique, people(), "Salary")
    assert isinstance(technique, sdc.Technique)


def broken(name, change):
    """A technique that changes what is inferred, or its arguments."""

    def infer(self, published, known, population):
        return change(super(technique, self).infer(published, known, population), population)

    technique = type(name, (Rounded,), {"infer": infer})
    return technique("Sex")


def zeroed(p, population):
    population.iloc[:, 0] = 0
    return p


class Mute:
    """It publishes, and infers nothing."""

    def publish(self, table, confidential):
        return table


@pytest.mark.parametrize(
    "technique",
    [
        broken("Half", lambda p, _: p / 2),
        broken("Nothing", lambda p, _: p * np.nan),
        broken("Careless", zeroed),
        Mute(),
        sdc.Sampling,
    ],
    ids=repr,
)
def test_what_breaks_the_contract(technique):
    with pytest.raises(AssertionError):
        check_technique(technique, people(), "Salary")


def wide():
    """Sums of many different values."""
    return sdc.RangeQueries(2).publish(pd.DataFrame({"C": range(12_000)}), "C")


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (BadProbability, lambda: sdc.Sampling(0)),
        (BadProbability, lambda: sdc.Sampling(2)),
        (StatementError, lambda: sdc.Sampling(0.5, seed=-1)),
        (StatementError, lambda: sdc.RangeQueries(3)),
        (StatementError, lambda: sdc.RangeQueries(0)),
        (StatementError, lambda: sdc.RangeQueries(2, distribution="normal")),
        (StatementError, lambda: sdc.RangeQueries(2, distribution=np.array(["uniform"]))),
        (BadProbability, lambda: sdc.BinomialNoise(101)),
        (StatementError, lambda: sdc.BinomialNoise(10, prior={1: 1})),
        (BadProbability, lambda: sdc.noise_limit(-50, 10)),
        (BadProbability, lambda: sdc.noise_limit("a", 10)),
        (StatementError, lambda: sdc.Channel(5, 3)),
        (StatementError, lambda: sdc.Channel(5, -2)),
        (GroupTooLarge, lambda: sdc.Channel(100_000, 10_000).matrix),
        (GroupTooLarge, lambda: wide().maxent),
    ],
)
def test_wrong_strengths(error, make):
    with pytest.raises(error):
        make()


@pytest.mark.parametrize("technique", [sdc.Sampling(0.5), sdc.RangeQueries(4), sdc.BinomialNoise(20)], ids=repr)
def test_wrong_knowledge(technique):
    """Unknown attributes and values, nobody, the confidential attribute, and what something else published."""
    table = people()
    published = technique.publish(table, "Salary")
    present = set(table[["Age", "Sex"]].itertuples(index=False, name=None))
    nobody = next({"Age": a, "Sex": s} for a in set(table["Age"]) for s in "FM" if (a, s) not in present)
    for error, output, known, population in [
        (UnknownName, published, {"Agee": 20}, table),
        (UnknownName, published, {"Age": 99}, table),
        (StatementError, published, {"Salary": 50}, table),
        (StatementError, published, ["Age"], table),
        (StatementError, published, nobody, table),
        (TableError, published, {}, table.head(0)),
        (TableError, published, {"Age": 20}, None),
        (StatementError, table, {}, table),
    ]:
        with pytest.raises(error):
            technique.infer(output, known, population)
    with pytest.raises(TableError):
        technique.publish(table.assign(Age=np.nan), "Salary")
    with pytest.raises(UnknownName):
        technique.publish(table, "Salery")
