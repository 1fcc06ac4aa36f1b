"""Everybody's equivocation in any posterior is that of their distribution, one by one."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import BadProbability, StatementError, TableError
from maxent_cvx.measures.disclosure import of_those_inside
from maxent_cvx.measures.equivocation import equivocation, individual_equivocation
from maxent_cvx.releases.generalized import OUTSIDE
from support.helpers import refused


def bits(q):
    """The entropy of probabilities."""
    q = np.asarray(q)
    return float(-(q[q > 0] * np.log2(q[q > 0])).sum())


def salaries():
    """Three buckets of people and their salaries, thousands."""
    return pd.DataFrame(
        {
            "Age": [20, 20, 30, 30, 37, 37, 40],
            "Salary": [50, 107, 77, 80, 77, 80, 77],
            "Bucket": [1, 1, 2, 2, 2, 2, 3],
        }
    )


def test_everybody_in_a_posterior():
    """Everybody's equivocation is that of their distribution; 57 and 3 again, and 0 for whoever is certain."""
    release = mx.Release.from_buckets(salaries(), qi=["Age"], sa="Salary", bucket="Bucket")
    post = mx.MaxEnt(release).solve()
    found = individual_equivocation(post, at=[0, 3, 5.5])
    assert found["area"].round(9).to_dict() == {20: 57, 30: 3, 37: 3, 40: 0}
    assert found["eps_max"].to_dict() == {20: 57, 30: 3, 37: 3, 40: 0}
    assert found["disclosure_risk"][40] == math.inf
    assert found["H(3)"].to_dict() == {20: 1, 30: 0, 37: 0, 40: 0}
    told = mx.MaxEnt(release).add(mx.P([77, 80], given={"Age": 20}) == 0).solve()
    pd.testing.assert_frame_equal(individual_equivocation(told), found.iloc[:, :5])
    leaning = mx.MaxEnt(release).add(mx.P(77, given={"Age": 30}) == 0.75).solve()
    assert individual_equivocation(leaning)["initial"][30] == pytest.approx(bits([0.75, 0.25]), abs=1e-6)


def test_everybody_is_one_by_one(hospital, release):
    """All at once is the same as one after the other, values given for what is no number; several may be equal."""
    numbers = pd.Series([1.5, 0.25, 9, 9, 0.3], index=sorted(hospital["Disease"].unique()))
    post = mx.MaxEnt(release).solve()
    with refused(TableError, "must be real numbers", "values={value: number}"):
        individual_equivocation(post)
    with refused(TableError, "no number for 'Pneumonia'"):
        individual_equivocation(post, values=numbers.drop("Pneumonia").to_dict())
    with refused(BadProbability, "eps=-2"):
        individual_equivocation(post, at=-2, values=numbers)
    found = individual_equivocation(post, values=numbers, at=0.05)
    for q, row in post.conditional().iterrows():
        cae = equivocation(numbers[row.index], row / row.sum())
        expected = [cae.initial, cae.area, cae.eps_max, cae.disclosure_risk, cae.at(0.05)]
        np.testing.assert_allclose(found.loc[q].iloc[1:].astype(float), expected, atol=1e-9)
    assert found["people"].sum() == len(hospital)


def kinds(hospital, release):
    """Posteriors of all views: named people, a series, a QI table, a population."""
    series = mx.ReleaseSeries(
        mx.Release.from_buckets(table, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym")
        for table in mx.datasets.load_patients()
    )
    records = hospital.assign(Degree=hospital["Degree"].where(hospital["Gender"] == "male", "*"))
    voters = pd.concat([hospital, hospital.head(1)])
    people = {"Ann": {"Gender": "female", "Degree": "college"}}
    views = {
        "named": mx.MaxEnt(release, people=people).add(mx.P("HIV", who="Ann") == 0.7),
        "series": mx.MaxEnt(series),
        "table": mx.MaxEnt(
            mx.QITable(hospital, qi="Gender", sa="Disease", sa_values=sorted(set(hospital["Disease"])))
        ).add(mx.P("Flu", given={"Gender": "male"}) == 0.5),
        "population": mx.MaxEnt(
            mx.Release.from_generalized(records, qi=["Gender", "Degree"], sa="Disease", population=voters)
        ),
    }
    return {name: model.solve() for name, model in views.items()}


def test_all_views_one_by_one(hospital, release):
    """Everybody's equivocation is that of their row, whatever the view."""
    for name, post in kinds(hospital, release).items():
        labels = [one for one in post.space.view.sensitive_values if one != OUTSIDE]
        numbers = {label: 1.1 * i**2 for i, label in enumerate(labels)}
        found = individual_equivocation(post, values=numbers, at=2.2)
        rows, people = of_those_inside(post)
        assert found["people"].tolist() == list(people), name
        for at, (_, row) in enumerate(rows.iterrows()):
            cae = equivocation([numbers[label] for label in rows.columns], row / row.sum())
            expected = [cae.initial, cae.area, cae.eps_max, cae.disclosure_risk, cae.at(2.2)]
            np.testing.assert_allclose(found.iloc[at, 1:].astype(float), expected, atol=1e-7, err_msg=name)


def test_many_values_few_each():
    """People with five of 500 values each are as quick as people with five values; and the same as one by one."""
    rng = np.random.default_rng(6)
    salary = rng.integers(0, 200, 600) * 1000 + rng.integers(0, 10, 600) * 37
    table = pd.DataFrame({"Id": np.arange(600), "Salary": salary, "Bucket": np.arange(600) // 5})
    post = mx.MaxEnt(mx.Release.from_buckets(table, qi="Id", sa="Salary", bucket="Bucket")).solve()
    found = individual_equivocation(post, at=[1_000_000, 1_000_001, 30_000, 30_000])
    assert list(found.columns[5:]) == ["H(1000000)", "H(1000001)", "H(30000)"]
    for person in range(0, 600, 40):
        row = post.conditional().loc[person]
        cae = equivocation(row[row > 0])
        np.testing.assert_allclose(
            found.loc[person].iloc[1:], [cae.initial, cae.area, cae.eps_max, cae.disclosure_risk, 0, 0, cae.at(30_000)]
        )
    with refused(StatementError, "of a Posterior"):
        individual_equivocation(post.conditional())
