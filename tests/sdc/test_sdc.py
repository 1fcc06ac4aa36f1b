"""Statistical disclosure control: what every technique promises, and what each refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from maxent_cvx import BadProbability, GroupTooLarge, StatementError, TableError, UnknownName, sdc
from maxent_cvx.testing import check_technique
from support.helpers import refused
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


def test_what_breaks_the_contract():
    """The check says what is broken."""

    class Half(Rounded):
        def infer(self, published, known, population):
            return super().infer(published, known, population) / 2

    class Mute:
        def publish(self, table, confidential):
            return table

    class Careless(Rounded):
        def infer(self, published, known, population):
            population.iloc[:, 0] = 0
            return super().infer(published, known, population)

    class Nothing(Rounded):
        def infer(self, published, known, population):
            return super().infer(published, known, population) * np.nan

    with pytest.raises(AssertionError, match="population"):
        check_technique(Careless("Sex"), people(), "Salary")
    with pytest.raises(AssertionError, match="NaN"):
        check_technique(Nothing("Sex"), people(), "Salary")
    with pytest.raises(AssertionError):
        check_technique(sdc.Sampling, people(), "Salary")
    with pytest.raises(AssertionError):
        check_technique(Half("Sex"), people(), "Salary")
    with pytest.raises(AssertionError):
        check_technique(Mute(), people(), "Salary")


def wide():
    """Sums of many different values."""
    return sdc.RangeQueries(2).publish(pd.DataFrame({"C": range(12_000)}), "C")


def test_strengths_out_of_range():
    """Each error says what is expected."""
    for make, error, says in [
        (lambda: sdc.Sampling(0), BadProbability, "a share"),
        (lambda: sdc.Sampling(2), BadProbability, "a share"),
        (lambda: sdc.Sampling(0.5, seed=-1), StatementError, "seed must be"),
        (lambda: sdc.RangeQueries(3), StatementError, "even"),
        (lambda: sdc.RangeQueries(0), StatementError, "size must be"),
        (lambda: sdc.RangeQueries(2, distribution="normal"), StatementError, "'uniform' or 'maxent'"),
        (lambda: sdc.RangeQueries(2, distribution=np.array(["uniform"])), StatementError, "'uniform' or 'maxent'"),
        (lambda: sdc.BinomialNoise(101), BadProbability, "percent"),
        (lambda: sdc.BinomialNoise(10, prior={1: 1}), StatementError, "Series"),
        (lambda: sdc.noise_limit(-50, 10), BadProbability, "percent"),
        (lambda: sdc.noise_limit("a", 10), BadProbability, "finite number"),
        (lambda: sdc.Channel(5, 3), StatementError, "even"),
        (lambda: sdc.Channel(5, -2), StatementError, "limit must be"),
        (lambda: sdc.Channel(100_000, 10_000).matrix, GroupTooLarge, "round the values"),
        (lambda: wide().maxent, GroupTooLarge, "round the values"),
    ]:
        with refused(error, says):
            make()


@pytest.mark.parametrize("technique", [sdc.Sampling(0.5), sdc.RangeQueries(4), sdc.BinomialNoise(20)], ids=repr)
def test_knowledge_that_cannot_be(technique):
    """Unknown attributes and values, nobody, the confidential attribute, and what something else published."""
    table = people()
    published = technique.publish(table, "Salary")
    with refused(UnknownName, "Agee", "Age"):
        technique.infer(published, {"Agee": 20}, table)
    with refused(UnknownName, "99"):
        technique.infer(published, {"Age": 99}, table)
    with refused(StatementError):
        technique.infer(published, {"Salary": 50}, table)
    with refused(StatementError, "dictionary"):
        technique.infer(published, ["Age"], table)
    with refused(TableError, "population"):
        technique.infer(published, {}, table.head(0))
    with refused(TableError):
        technique.infer(published, {"Age": 20}, None)
    with refused(StatementError, "infer"):
        technique.infer(table, {}, table)
    nobody = next(
        {"Age": a, "Sex": s, "Education": e}
        for a in set(table["Age"])
        for s in "FM"
        for e in set(table["Education"])
        if not ((table["Age"] == a) & (table["Sex"] == s) & (table["Education"] == e)).any()
    )
    with refused(StatementError):
        technique.infer(published, nobody, table)
    with refused(TableError, "missing values"):
        technique.publish(table.assign(Age=np.nan), "Salary")
    with refused(UnknownName, "Salery"):
        technique.publish(table, "Salery")
