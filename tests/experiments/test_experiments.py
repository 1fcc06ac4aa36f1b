"""quantify, sweep and inference_channels, on this machine and on a cluster."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import partial

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import MaxEnt, MaxEntError, P, StatementError, StrongestAssociations
from maxent_cvx.solvers.backends import SOLVERS, OwnBackend
from support.patience import PATIENT_DASK
from support.random_models import random_event, random_model
from support.series import patients


def test_a_bound_is_that_knowledge(hospital, release):
    """The bound (K+, K-) is the adversary who knows the top K+ and K- associations (section 4.4)."""
    bounds = [(3, 0), (0, 2), (4, 5)]
    scores = mx.quantify(release, hospital, bounds, min_support=1)
    assert list(zip(scores["K+"], scores["K-"], strict=True)) == bounds
    for (positive, negative), (_, row) in zip(bounds, scores.iterrows(), strict=True):
        post = mx.MaxEnt(release).add(StrongestAssociations(hospital, positive, negative, min_support=1)).solve()
        assert row["entropy"] == pytest.approx(post.entropy, abs=1e-7)
        assert row["score"] == pytest.approx(mx.measures.overall_divergence(post, hospital), abs=1e-6)
    assert len(set(scores["score"].round(6))) == 3


def test_the_published_generalised_table():
    """Cells that are intervals or numbers become texts in the release; associations are the same by either form."""
    rng = np.random.default_rng(4)
    cells = pd.DataFrame({"age": rng.choice([20, 30], 20), "zip": rng.choice([13053, 13068], 20)})
    cells = cells.assign(age=[pd.Interval(low, low + 9, "both") for low in cells["age"]], s=rng.choice(list("xyz"), 20))
    release = mx.Release.from_generalized(cells, qi=["age", "zip"], sa="s")
    scores, same = (
        mx.quantify(release, table, [(0, 0), (3, 3)], progress=False).drop(columns="seconds")
        for table in (cells, cells.astype(str))
    )
    pd.testing.assert_frame_equal(scores, same)
    entropy = MaxEnt(release).add(StrongestAssociations(cells, 3, 3)).solve().entropy
    assert entropy == pytest.approx(scores["entropy"].iloc[1])


def test_several_scores(hospital, release):
    """Each measure, and each number of a measure with several, has a column."""
    measures = {
        "H": lambda post: post.entropy,
        "nats": partial(mx.measures.overall_divergence, original=hospital, base=math.e),
    }
    scores = mx.quantify(release, hospital, [(0, 0), (2, 2)], min_support=1, measure=measures)
    default = mx.quantify(release, hospital, [(0, 0), (2, 2)], min_support=1)
    assert "score" not in scores
    assert scores["H"].tolist() == scores["entropy"].tolist()
    assert (scores["nats"] / math.log(2)).tolist() == pytest.approx(default["score"].tolist())
    each = mx.quantify(
        release, hospital, [(0, 0)], measure=partial(mx.measures.individual_divergence, original=hospital)
    )
    share = pd.Series(release.n_q / 10, [f"score[{', '.join(q)}]" for q in release.quasi_identifiers])
    assert each[share.index].iloc[0] @ share == pytest.approx(default["score"][0])
    with pytest.raises(StatementError):
        mx.quantify(release, hospital, [(0, 0)], measure={"entropy": lambda post: 1.0})


@pytest.mark.parametrize("bound", [(0, 0), (1, 1)])
def test_other_people(hospital, release, bound):
    """Records of other people are refused."""
    others = hospital.assign(Disease=hospital["Disease"].replace("Lung Cancer", "HIV"))
    with pytest.raises(MaxEntError):
        mx.quantify(release, others, [bound], min_support=1)


MEN, WOMEN = {"Gender": "male"}, {"Gender": "female"}


def test_eps_goes_to_the_equality(release):
    """As eps goes 0.2, 0.05, 0.01, 0, every P(s | q) moves towards that of the equality (section 4.5)."""
    model = MaxEnt(release).add("P(HIV | Gender=female) >= 0.1")
    cancer = P("Breast Cancer", given=WOMEN)
    assert model.solve().prob("Breast Cancer", WOMEN) < 0.25
    result = mx.sweep(
        model, cancer, value=0.45, eps=[0.2, 0.05, 0.01, 0], measure=lambda post: post.conditional().stack()
    )
    assert result["probability"].tolist() == pytest.approx([0.25, 0.4, 0.44, 0.45], abs=1e-6)  # its bound is active
    exact = model.copy().add(cancer == 0.45).solve().conditional().stack()
    tables = list(result[[f"measure[{', '.join(labels)}]" for labels in exact.index]].to_numpy())
    exact = exact.to_numpy()
    np.testing.assert_allclose(tables[-1], exact, atol=1e-6)
    distance = [np.abs(table - exact).max() for table in tables]
    assert distance == sorted(distance, reverse=True)
    for before, after in itertools.pairwise(tables):  # towards it, everywhere
        assert (((after - before) * (exact - before)) >= -1e-9).all()
    assert (result["entropy"].diff().dropna() < 0).all()


@given(seed=st.integers(0, 10_000))
def test_more_vagueness_is_more_entropy(seed: int):
    """The entropy rises with eps, and the probability does not approach its value."""
    model, records = random_model(seed)
    value, who, truth = random_event(np.random.default_rng(seed), records)
    table = mx.sweep(model, P(value, who), value=truth, eps=[0, 0.02, 0.1, 0.3])
    assert (table["status"] == "optimal").all()
    assert (table["entropy"].diff().dropna() >= -1e-9).all()
    assert ((table["probability"] - truth).abs().diff().dropna() >= -1e-6).all()
    assert ((table["probability"] - truth).abs() <= table["eps"] + 1e-9).all()


def test_values(release):
    """A value that contradicts the model is infeasible; each other value has the row of its own model."""
    model = MaxEnt(release).add("P(Flu | Gender=female) = 0.25", label="known")
    table = mx.sweep(
        model, "P(HIV | Gender=male)", value=[0, 0.1, 0.3, 0.9], measure={"flu": lambda p: p.prob("Flu", MEN)}
    )
    assert table["status"].tolist() == ["optimal", "optimal", "optimal", "infeasible"]
    assert table.loc[3, ["probability", "entropy", "flu"]].isna().all()
    assert table["probability"].tolist()[:3] == pytest.approx([0, 0.1, 0.3], abs=1e-9)
    alone = model.copy().add("P(HIV | Gender=male) = 0.1").solve()
    assert table["entropy"][1] == pytest.approx(alone.entropy, abs=1e-9)
    assert table["flu"][1] == pytest.approx(alone.prob("Flu", MEN), abs=1e-6)
    assert list(model.knowledge) == ["known"]


def test_wrong_arguments(release):
    """Models, values and measures are checked; a statement may have the label of the swept one."""
    model, asked = MaxEnt(release), P("Flu", given=MEN)
    for error, change in [
        (StatementError, {"model": release}),
        (mx.BadProbability, {"value": "a"}),
        (mx.BadProbability, {"eps": [[0, 0.1]]}),
        (StatementError, {"warm_start": model.solve()}),
        (StatementError, {"measure": {"entropy": lambda post: 1}}),
        (StatementError, {"measure": {"x": 3}}),
    ]:
        with pytest.raises(error):
            mx.sweep(**{"model": model, "probability": asked, "value": 0.3, **change})
    assert len(mx.sweep(model.copy().add(P("HIV") <= 0.5, label="swept"), asked, value=0.3)) == 1


#: On two curves.
BOUNDS = [(0, 0), (0, 3), (1, 1), (2, 3), (4, 1)]


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    """A worker in a process of its own."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    import dask

    with (
        dask.config.set(PATIENT_DASK),
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


class Mine:
    """A user's solver."""

    name = "MINE"

    def solve(self, form, start=None):
        """Call Newton's method."""
        return mx.solvers.find("DUAL_NEWTON").solve(form, start)


def test_registered_solvers_in_other_processes(hospital, release, monkeypatch):
    """A solver that was registered in this process is found by its name in others."""
    monkeypatch.setitem(SOLVERS, "MINE", OwnBackend(Mine()))
    here, there = (
        mx.quantify(release, hospital, BOUNDS[:2], min_support=1, solver="MINE", n_jobs=n, progress=False)
        for n in (1, 2)
    )
    assert there["status"].tolist() == here["status"].tolist() == ["optimal"] * 2


def test_curves_on_a_cluster(hospital, release, client):
    """On a cluster quantify and sweep give the same, also for a measure that is a closure."""
    score = lambda post: 2 * post.entropy  # noqa: E731
    values = {"value": [0.0, 0.1, 0.2, 0.3, 0.9, 0.4], "eps": [0, 0.05]}
    for call in [
        lambda who: mx.quantify(release, hospital, BOUNDS, min_support=1, measure=score, client=who),
        lambda who: mx.quantify(release, hospital, BOUNDS[:2], min_support=1, measure=score, client=who),
        lambda who: mx.sweep(mx.MaxEnt(release), "P(HIV | Gender=male)", **values, client=who),
    ]:
        here, there = (call(who).drop(columns="seconds", errors="ignore") for who in (None, client))
        pd.testing.assert_frame_equal(here, there, check_exact=True)
    assert set(there["status"]) == {"optimal", "infeasible"}


def test_inference_channels_on_a_cluster(client):
    """Workers and processes find the same channels."""
    here = mx.inference_channels(patients())
    assert len(here) > 0
    for who in ({"client": client}, {"n_jobs": 2}):
        pd.testing.assert_frame_equal(mx.inference_channels(patients(), **who), here, check_exact=True)


@pytest.mark.parametrize(
    "who",
    [
        {"client": "tcp://127.0.0.1:8786"},
        {"n_jobs": "two"},
        {"client": None, "n_jobs": 0},
        {"client": "both", "n_jobs": 2},
    ],
)
def test_wrong_clients(hospital, release, client, who):
    """A wrong client or number of jobs, and both together, are refused before any model is solved."""

    def never(post):
        raise AssertionError("solved")

    if who.get("client") == "both":
        who = {**who, "client": client}
    for call in [
        lambda: mx.quantify(release, hospital, BOUNDS, measure=never, **who),
        lambda: mx.sweep(mx.MaxEnt(release), "P(Flu)", value=0.3, measure=never, **who),
        lambda: mx.inference_channels(patients(), **who),
        lambda: mx.sdc.experiment(hospital.assign(Age=range(10)), "Age", {mx.sdc.Sampling: [0.5]}, **who),
    ]:
        with pytest.raises(StatementError):
            call()


@pytest.mark.parametrize("value", [[0.2, 0.4], None], ids=["given", "current"])
def test_sweep_replaces_a_statement_with_a_parameter(release, value):
    """A statement with a CVXPY parameter is replaced; by default its value is the current one."""
    probability, share = P("Flu", given={"Gender": "male"}), cp.Parameter(value=0.3)
    model = MaxEnt(release).add(2 * probability == 2 * share)
    swept = mx.sweep(model, probability, value=value, progress=False)
    assert swept["probability"].tolist() == pytest.approx(value or [0.3])


def test_sweep_replaces_a_statement_in_another_spelling(release):
    """P(Disease=Flu) is P(Flu): a statement about a multiple of the swept combination is replaced, others stay."""
    model = MaxEnt(release).add("2 P(Disease=Flu | Gender=male) - P(HIV | Gender=female) = 0.5", "P(HIV) >= 0.1")
    swept = 4 * P("Flu", given=MEN) - 2 * P("HIV", given=WOMEN) + 1
    for value in (None, 1.8):
        assert mx.sweep(model, swept, value=value)["probability"].tolist() == pytest.approx([value or 2])
