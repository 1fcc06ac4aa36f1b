"""Releases whose buckets contain more values than people, so that the number of people with a value is not published."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import StatementError, TableError
from maxent_cvx.measures import counterfactual, exposed, individual_divergence, overall_divergence, term_divergence
from maxent_cvx.sources.base import Source
from support.helpers import refused

PEOPLE = pd.DataFrame({"age": [20, 40, 60, 30], "S": [1, 2, 2, 1], "B": [1, 1, 1, 2]})
#: Of every bucket the values: two of the first, and one of the second, are those of counterfeits.
VALUES = {1: [1, 1, 1, 2, 2], 2: [1, 3]}


def published(values: dict[int, list[int]] = VALUES) -> mx.Release:
    table = pd.DataFrame([(b, s) for b, some in values.items() for s in some], columns=["B", "S"])
    return mx.Release.from_tables(PEOPLE[["age", "B"]], table, qi="age", sa="S", bucket="B", counterfeits=True)


RELEASE = published()
SPACE = mx.MaxEnt(RELEASE).space


#: All tables that may be the original one: any of a bucket's values may be the counterfeit's.
WORLDS = [
    PEOPLE.assign(S=[*first, last]) for first in sorted(set(itertools.permutations(VALUES[1], 3))) for last in VALUES[2]
]
POINTS = [SPACE.count(world) / SPACE.n_records for world in WORLDS]


def allowed(source: Source) -> np.ndarray:
    """The tables that satisfy the rows of a source, as a mask."""
    several = list(source.rows(SPACE))
    return np.array([max(rows.residual(p).max(initial=0) for rows in several) < 1e-9 for p in POINTS])


def test_a_statistic_is_true_of_the_tables_that_have_it():
    """Mean, deviation and quantiles of those with a value, whose number differs by table: these tables, and no other."""
    assert len(WORLDS) == 14
    ages = [world.loc[world["S"] == 1, "age"].to_numpy() for world in WORLDS]
    some = np.array([len(numbers) > 0 for numbers in ages])  # the mean of nobody is anything
    ages, of = [numbers for numbers in ages if len(numbers)], {"of": "age", "given": {"S": 1}}
    assert len({len(numbers) for numbers in ages}) > 1
    means, sds = np.array([numbers.mean() for numbers in ages]), np.array([numbers.std() for numbers in ages])
    for mean, sd in set(zip(means, sds, strict=True)):
        is_mean, expected = np.isclose(means, mean), mx.E("age", given={"S": 1})
        for source, holds in [
            (expected == mean, is_mean),
            (expected >= mean, means >= mean - 1e-9),
            (mx.PublishedMoments(mean, **of), is_mean),
            (mx.PublishedMoments(mean, sd, ddof=0, **of), is_mean & np.isclose(sds, sd)),
        ]:
            np.testing.assert_array_equal(allowed(source)[some], holds)
    for q, value in itertools.product((0, 0.3, 0.5, 1), (20, 30, 40, 60)):
        holds = [np.quantile(numbers, q, method="lower") == value for numbers in ages]
        np.testing.assert_array_equal(allowed(mx.PublishedQuantile(value, q, method="lower", **of))[some], holds)


def test_any_table_is_accepted_as_the_truth():
    """Measures and associations accept every table that may be the original one."""
    post = mx.MaxEnt(RELEASE).solve()
    for i, world in enumerate(WORLDS):
        counts = pd.crosstab(world["age"], world["S"]).reindex(columns=[1, 2, 3], fill_value=0)
        p = (post.conditional().to_numpy() ** counts.to_numpy()).prod(axis=1)  # of everybody's value
        np.testing.assert_allclose(individual_divergence(post, world), -np.log2(p), atol=1e-9)
        assert overall_divergence(post, world) == pytest.approx(-np.log2(p).mean(), abs=1e-9)
        assert term_divergence(post, world) >= 0
        assert exposed(post, original=world).attack_success is not None
        assert len(counterfactual(post, world)) == 4
        known = mx.StrongestAssociations(world, positive=None, negative=None, min_support=1)
        assert allowed(known)[i]


def test_a_table_with_more_of_a_value_is_refused():
    """A table with an unpublished value, or with a value more often than published, is refused."""
    post, exact = mx.MaxEnt(RELEASE).solve(), mx.MaxEnt(published({1: [1, 2, 2], 2: [1, 3]})).solve()
    assert overall_divergence(exact, PEOPLE) >= 0
    for posterior, values in ((post, [2, 2, 2, 1]), (post, [3, 2, 2, 1]), (exact, [1, 1, 2, 1])):
        with refused(TableError):
            posterior.space.count(PEOPLE.assign(S=values))
        with refused(TableError):
            counterfactual(posterior, PEOPLE.assign(S=values))
    with refused(TableError):
        overall_divergence(post, PEOPLE.assign(S=3))


def test_the_number_of_people_with_a_value_is_unknown():
    """The overall distribution and the deviation of a sensitive number are those of people; counterfeits are none."""
    assert RELEASE.n_s is None
    assert RELEASE.n_values.tolist() == [4, 2, 1]
    post = mx.MaxEnt(RELEASE).solve()
    assert mx.Release.from_frames(RELEASE.to_frames()).n_s is None
    with refused(StatementError):
        exposed(post, baseline="overall")
    assert np.isnan(mx.measures.disclosure(post)["t"]).all()
    with refused(StatementError):
        mx.MaxEnt(RELEASE).add(mx.PublishedCorrelation(0.5, ("age", "S")))
    with refused(StatementError):
        mx.MaxEnt(RELEASE).add(mx.E("age", given={"S": 1}) - mx.E("age", given={"S": 2}) <= 3)
    for i, world in enumerate(WORLDS):
        y = world["S"]
        if y.nunique() > 1:
            r = np.corrcoef(world["age"], y)[0, 1]
            assert allowed(mx.PublishedCorrelation(r, ("age", "S"), sd=y.std(ddof=0), ddof=0))[i]
