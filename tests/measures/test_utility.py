"""Utility: marginals, counting queries, and the table of risk and utility."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import BadProbability, StatementError, TableError, UnknownName, measures
from maxent_cvx.measures.utility import marginal_distance, query_error
from maxent_cvx.releases.partitioned import divided
from support.series import patients


def distances(p: dict, q: dict) -> tuple[float, float]:
    """Total variation and Hellinger distance of two distributions, term by term."""
    both = {*p, *q}
    squares = sum((math.sqrt(p.get(x, 0)) - math.sqrt(q.get(x, 0))) ** 2 for x in both)
    return sum(abs(p.get(x, 0) - q.get(x, 0)) for x in both) / 2, math.sqrt(squares / 2)


def test_of_a_population():
    """The estimate for the people in the release, from a list of more people, is compared with them."""
    frame = pd.DataFrame({"Age": [21, 24], "S": ["x", "y"]})
    records = frame.assign(Age="[20, 29]")
    voters = pd.DataFrame({"Age": [21, 24, 28, 45]})
    post = mx.MaxEnt(mx.Release.from_generalized(records, qi="Age", sa="S", population=voters)).solve()
    distance = marginal_distance(post, frame)
    third = {(age, s): 1 / 6 for age in (21, 24, 28) for s in "xy"}
    expected = distances({(21, "x"): 0.5, (24, "y"): 0.5}, third)
    assert distance.loc["Age, S"].to_list() == pytest.approx(expected, abs=1e-6)
    assert distance.loc["S", "total_variation"] == pytest.approx(0, abs=1e-9)
    # A query counts one of the two values at two of four ages; either value has 1/3 of a person at each of three ages.
    queries = query_error(post, frame, queries=50, selectivity=0.25)
    assert {*queries["actual"]} == {1}
    assert sorted({*queries["estimate"].round(6)}) == pytest.approx([1 / 3, 2 / 3], abs=1e-6)
    for measure in (marginal_distance, query_error):
        with pytest.raises(TableError):  # of two people in the release
            measure(post, frame.head(1))
        with pytest.raises(TableError):  # cells are not exact values of people
            measure(post, records)


def test_wrong_arguments(hospital, release):
    gout = np.where(hospital["Disease"] == "Flu", "Gout", hospital["Disease"])
    for error, measure, change in [
        (StatementError, marginal_distance, {"release": hospital}),
        (TableError, marginal_distance, {"original": hospital.head(9)}),
        (TableError, marginal_distance, {"original": hospital.assign(Disease="Gout")}),
        (TableError, marginal_distance, {"original": hospital.assign(Degree="college")}),
        (UnknownName, marginal_distance, {"original": hospital.drop(columns="Degree")}),
        (StatementError, query_error, {"release": hospital}),
        (TableError, query_error, {"original": hospital.head(5)}),
        (TableError, query_error, {"original": hospital.assign(Disease=gout)}),
        (StatementError, query_error, {"attributes": "Bucket"}),
        (BadProbability, query_error, {"selectivity": 2}),
        (StatementError, query_error, {"dimensions": 3}),
    ]:
        arguments = {"release": release, "original": hospital, **change}
        with pytest.raises(error):
            measure(arguments.pop("release"), arguments.pop("original"), **arguments)


def test_generalised_values():
    """A generalised value has equal shares of the exact values that it covers; other attributes are exact."""
    frame = pd.DataFrame({"Age": [20, 21, 30, 31, 31], "Town": list("abcab"), "S": list("xyxyx")})
    wide = pd.DataFrame(
        {"Age": [pd.Interval(20, 31, closed="both")] * 5, "Town": [frozenset("ab")] * 2 + ["c"] + [frozenset("ab")] * 2}
    ).assign(S=frame["S"])
    release = mx.Release.from_generalized(wide, qi=["Age", "Town"], sa="S")
    errors = query_error(release, frame, queries=400, attributes="Age", selectivity=0.2)
    named = errors[errors["attributes"] == "Age"]
    # Of four ages ceil(4 * 0.2 ** 0.5) = 2 are asked for, of two values 1: half of the people with x, or with y.
    assert set(named["estimate"]) == {1.5, 1.0}
    same = query_error(release, frame, queries=100, attributes="Town", selectivity=1.0)
    assert same["error"].max() < 1e-12


def test_memory_does_not_grow_with_the_square_of_the_values():
    """Everybody has another number, and either value of her bucket with probability 1/2."""
    n = 1500
    table = pd.DataFrame({"number": np.arange(n), "S": list("xy") * (n // 2), "b": np.arange(n) // 2})
    release = mx.Release.from_buckets(table, qi="number", sa="S", bucket="b")
    tracemalloc.start()
    try:
        distance = marginal_distance(release, table)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert distance["total_variation"].to_dict() == pytest.approx({"number": 0, "S": 0, "number, S": 0.5})
    assert peak < n * n


@pytest.fixture
def post(release) -> mx.Posterior:
    """Somebody knows that no man has breast cancer."""
    return mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()


def test_each_line(post, hospital, release):
    """Every number of risk_utility is that of its own measure."""
    result = measures.risk_utility(post, hospital, threshold=0.5, k=3)
    inference, finding, utility = (
        result.loc[kind, "value"] for kind in ("inference risk", "re-identification risk", "utility")
    )
    verdict = measures.exposed(post, 0.5, hospital, baseline="overall")
    assert inference["exposed people"] == verdict.people == 3
    assert inference["attack success"] == verdict.attack_success
    worst = measures.disclosure(post, worst=True).iloc[0]
    for name, column in {"largest probability": "max_p", "entropy l": "entropy_l", "t": "t"}.items():
        assert inference[name] == worst[column]
    assert inference["overall divergence"] == measures.overall_divergence(post, hospital)
    leaked = measures.leakage("overall", post)["value"]
    assert inference["best guess"] == pytest.approx(leaked["posterior Bayes vulnerability"])
    assert inference["best guess without the release"] == pytest.approx(leaked["prior Bayes vulnerability"])
    pd.testing.assert_series_equal(
        finding, measures.reidentification(release, k=3).measures["value"], check_names=False
    )
    assert utility["mean query error"] == measures.query_error(release, hospital)["error"].mean()
    far = measures.marginal_distance(release, hospital)
    assert utility["total variation, attribute with the sensitive values"] == far["total_variation"].max()
    assert result["says"].map(bool).all()
    assert set(result["unit"]) <= {
        "people", "probability", "values", "distance", "share", "bits", "classes", "records", "ratio",
    }  # fmt: skip


def test_in_partitions(release):
    """A release in partitions has the same measures as in memory, except means over people."""
    memory, parts = (measures.risk_utility(mx.MaxEnt(view).solve()) for view in (release, divided(release, 2)))
    lost = {name for _, name in set(memory.index) - set(parts.index)}
    assert lost == {"best guess", "best guess without the release"}
    np.testing.assert_allclose(parts["value"], memory.loc[parts.index, "value"], atol=1e-6)
    with pytest.raises(StatementError):
        measures.risk_utility(mx.MaxEnt(divided(release, 2)).solve(), mx.datasets.load_hospital())


def test_of_a_series():
    """A series has inference risks only, and needs a baseline."""
    series = patients()
    post = mx.MaxEnt(series).solve()
    result = measures.risk_utility(post, baseline=None)
    assert set(result.index.get_level_values("kind")) == {"inference risk"}
    assert result["value"]["inference risk", "exposed people"] == measures.exposed(post).people
    with pytest.raises(StatementError):
        measures.risk_utility(post)


def test_generalised_with_hierarchies():
    """Utility needs the hierarchies of the generalised values."""
    frame = pd.DataFrame({"Age": [20, 21, 30, 31, 31, 20], "S": list("xyxyxy")})
    nodes = {"Age": {"young": [20, 21], "old": [30, 31]}}
    wide = frame.assign(Age=np.where(frame["Age"] < 25, "young", "old"))
    release = mx.Release.from_generalized(wide, qi="Age", sa="S", hierarchies=nodes)
    result = measures.risk_utility(mx.MaxEnt(release).solve(), frame, hierarchies=nodes)["value"]
    assert result["re-identification risk", "k"] == 3
    far = measures.marginal_distance(release, frame, hierarchies=nodes)
    assert result["utility", "total variation, attribute"] == far.loc["Age", "total_variation"]
    assert ("inference risk", "attack success") not in result.index  # of exact ages nothing is inferred
    with pytest.raises(mx.TableError):
        measures.risk_utility(mx.MaxEnt(release).solve(), frame)
