"""One table of risks and utility: each line is what its measure says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import StatementError, measures
from maxent_cvx.releases.partitioned import divided
from support.helpers import refused


@pytest.fixture
def post(release) -> mx.Posterior:
    """Somebody knows that no man has breast cancer."""
    return mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()


def test_each_line(post, hospital, release):
    """Every number is that of its own measure."""
    found = measures.risk_utility(post, hospital, threshold=0.5, k=3)
    inference, finding, utility = (
        found.loc[kind, "value"] for kind in ("inference risk", "re-identification risk", "utility")
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
    assert found["says"].map(bool).all()
    assert set(found["unit"]) <= {
        "people", "probability", "values", "distance", "share", "bits", "classes", "records", "ratio",
    }  # fmt: skip


def test_what_needs_the_original(post, hospital):
    """Without the original there is no utility, and no truth to compare with; the rest is the same."""
    with_it, without = measures.risk_utility(post, hospital), measures.risk_utility(post)
    left = set(with_it.index) - set(without.index)
    assert {kind for kind, _ in left} == {"utility", "inference risk"}
    assert {name for kind, name in left if kind == "inference risk"} == {"attack success", "overall divergence"}
    pd.testing.assert_frame_equal(with_it.loc[without.index], without)


def test_certain_and_not_counted():
    """A value that is certain and not sensitive has a line of its own, with its name."""
    frame = pd.DataFrame({"q": list("aabbbb"), "s": ["x", "x", "x", "y", "z", "z"], "b": [1, 1, 2, 2, 2, 2]})
    post = mx.MaxEnt(mx.Release.from_buckets(frame, qi="q", sa="s", bucket="b")).solve()
    row = measures.risk_utility(post, sensitive=["y", "z"]).loc[("inference risk", "certain, not counted")]
    assert (row["value"], row["says"]) == (2, "of whom a value is certain that does not count: x")


def test_in_partitions(release):
    """The same lines as in memory, but for the mean over people."""
    one, other = (measures.risk_utility(mx.MaxEnt(view).solve()) for view in (release, divided(release, 2)))
    assert {name for _, name in set(one.index) - set(other.index)} == {"best guess", "best guess without the release"}
    np.testing.assert_allclose(other["value"], one.loc[other.index, "value"], atol=1e-6)
    with refused(StatementError, "leave original= out"):
        measures.risk_utility(mx.MaxEnt(divided(release, 2)).solve(), mx.datasets.load_hospital())


def test_of_a_series():
    """Records of a series are found by pseudonyms; what is inferred is listed, beside a baseline that is given."""
    tables = mx.datasets.load_patients()
    series = mx.ReleaseSeries(
        mx.Release.from_buckets(t, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym") for t in tables
    )
    post = mx.MaxEnt(series).solve()
    found = measures.risk_utility(post, baseline=None)
    assert set(found.index.get_level_values("kind")) == {"inference risk"}
    assert found["value"]["inference risk", "exposed people"] == measures.exposed(post).people
    with refused(StatementError, "not published by the series"):
        measures.risk_utility(post)


def test_generalised_with_hierarchies():
    """Generalised values are read for utility as they were for the release."""
    frame = pd.DataFrame({"Age": [20, 21, 30, 31, 31, 20], "S": list("xyxyxy")})
    nodes = {"Age": {"young": [20, 21], "old": [30, 31]}}
    wide = frame.assign(Age=np.where(frame["Age"] < 25, "young", "old"))
    release = mx.Release.from_generalized(wide, qi="Age", sa="S", hierarchies=nodes)
    found = measures.risk_utility(mx.MaxEnt(release).solve(), frame, hierarchies=nodes)["value"]
    assert found["re-identification risk", "k"] == 3
    far = measures.marginal_distance(release, frame, hierarchies=nodes)
    assert found["utility", "total variation, attribute"] == far.loc["Age", "total_variation"]
    assert ("inference risk", "attack success") not in found.index  # of exact ages nothing is inferred
    with refused(mx.TableError, "stands for none"):
        measures.risk_utility(mx.MaxEnt(release).solve(), frame)


def test_of_a_population():
    """Of groups of a voter list its own people are the population; small shares are written with their digits."""
    records = pd.DataFrame({"Age": ["[20, 29]"] * 2 + ["[40, 49]"], "S": ["x", "x", "y"]})
    voters = pd.DataFrame({"Age": [*range(20, 30)] * 100 + [45, 46]})
    release = mx.Release.from_generalized(records, qi="Age", sa="S", population=voters)
    found = measures.risk_utility(mx.MaxEnt(release).solve(), records.assign(Age=[21, 24, 45]), k=3)
    finding = found.loc["re-identification risk"]
    expected = measures.reidentification(release, k=3).measures
    pd.testing.assert_frame_equal(finding, expected, check_names=False)
    assert finding["value"]["population k"] == 2
    assert finding["says"]["marketer risk"] == "16.7% of all records would be linked rightly"
    assert "utility" not in found.index.get_level_values("kind")
    frame = pd.DataFrame({"q": [*"aabb"]})
    says = measures.reidentification(frame, "q", population=10**6).measures["says"]["marketer risk"]
    assert says.startswith("0.000")


def test_somebody_of_whom_much_is_certain_is_one_person():
    """Two attributes of four people are certain, and not their combination with a third: four people, not eight."""
    table = pd.DataFrame({"q": ["a"] * 4, "D": ["Flu"] * 4, "I": ["high"] * 4, "J": list("abcd"), "b": [0] * 4})
    post = mx.MaxEnt(mx.Release.from_buckets(table, qi=["q"], sa=["D", "I", "J"], bucket="b")).solve()
    found = mx.measures.risk_utility(post)
    assert found.loc[("inference risk", "certain, not counted"), "value"] == 4
