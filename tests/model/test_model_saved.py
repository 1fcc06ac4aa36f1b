"""A model comes back from a file with everything that is known, and with the same answer to the last digit."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import Count, P, RepeatedStatement, StatementError, TableError
from maxent_cvx.model.storage import same_system
from support.helpers import refused
from support.random_models import random_model
from support.stored_views import KINDS


def through_a_file(model: mx.MaxEnt, folder: Path) -> mx.MaxEnt:
    """Save, and load."""
    model.save(folder / "model.parquet")
    return mx.MaxEnt.load(folder / "model.parquet")


def assert_same(model: mx.MaxEnt, again: mx.MaxEnt) -> None:
    """Everything a user sees is the same, and the answer to the last digit."""
    assert type(again) is type(model)
    assert type(again.view) is type(model.view)
    assert list(again.knowledge) == list(model.knowledge)
    pd.testing.assert_frame_equal(again.describe(), model.describe())
    assert [again.form.name(i) for i in range(again.form.shape[0])] == [
        model.form.name(i) for i in range(model.form.shape[0])
    ]
    assert same_system(model.form, again.form)
    one, other = model.solve(), again.solve()
    np.testing.assert_array_equal(one.counts, other.counts)
    assert one.certificate == other.certificate
    pd.testing.assert_frame_equal(one.prices(), other.prices())


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_view(kind: str, tmp_path):
    """With its people, and its prior."""
    model = KINDS[kind]()
    again = through_a_file(model, tmp_path)
    assert_same(model, again)
    assert (again.prior is None) == (model.prior is None)
    if model.prior is not None:
        for attributes, table in model.prior.tables.items():
            pd.testing.assert_frame_equal(again.prior.tables[attributes], table)
    assert list(again.space.people.names) == list(model.space.people.names)


@given(seed=st.integers(0, 10**6))
def test_random_models(seed: int, tmp_path_factory):
    """Whatever statements say: their rational coefficients, their sides, their names."""
    model = random_model(seed)[0]
    again = through_a_file(model, tmp_path_factory.mktemp("models"))
    assert same_system(model.form, again.form)
    assert list(again.knowledge.values()) == list(model.knowledge.values())  # statements come back as statements
    for mine, other in zip(model.blocks, again.blocks, strict=True):
        assert (mine.label, mine.exact, mine.remedy, len(mine)) == (other.label, other.exact, other.remedy, len(other))
        if mine.typed is not None:
            theirs = {a: sorted(terms.tolist()) for a, terms in other.typed}
            assert theirs == {a: sorted(terms.tolist()) for a, terms in mine.typed}


@pytest.fixture
def told(hospital, release) -> mx.MaxEnt:
    """A model that knows something of every kind."""
    allen = {"Allen": {"Gender": "male", "Degree": "college"}, 7: {"Gender": "male", "Degree": "college"}}
    model = mx.MaxEnt(release, people=allen)
    noisy = pd.Series([3.2, 1.9], pd.Index(["Flu", "HIV"], name="Disease"))
    model.add(Count("HIV", who=["Allen", 7]) <= 1.5, label="who has it")
    model.add(mx.StrongestAssociations(hospital, positive=2, negative=2, min_support=1))
    model.add(mx.NoisyMarginal(noisy, scipy.stats.norm(scale=1.0)))
    model.add(lambda space: space.conditional("s", given="Gender") <= 0.9)
    model.add(lambda space: space.prob("Flu", given={"Gender": "male"}) <= 0.6, label="an affine constraint")
    model.add(P("Flu", given={"Gender": "male"}).about(1 / 3, eps=0.1))
    return model.add(model.space.marginal("s") >= 0.01)


def test_knowledge_of_every_kind(told, tmp_path):
    """Sources come back as the rows that they emitted, under their labels; what they were is told."""
    again = through_a_file(told, tmp_path)
    assert_same(told, again)
    assert again.describe()["source"].tolist() == told.describe()["source"].tolist()
    assert_same(told, through_a_file(again, tmp_path))  # also a second time
    assert again.remove("who has it").solve().counts.shape == told.solve().counts.shape
    with pytest.warns(RepeatedStatement):
        again.add(P("Flu", given={"Gender": "male"}).about(1 / 3, eps=0.1))


def test_soft_knowledge(release, tmp_path):
    """What it costs to miss a row comes back with it, a number a row or one for all."""
    model = mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}).softly(0.3, sd=0.05, delta=0.1))
    model.add(P("HIV", given={"Gender": "male"}).softly(0.1, weight=50))
    rows = model.space.marginal("s") >= 0.12
    model.add(mx.soft(rows, weight=np.arange(len(rows)) + 3.0), "P(Flu | Degree=college) <= 0.4")
    again = through_a_file(model, tmp_path)
    assert_same(model, again)
    for mine, other in zip(model.blocks, again.blocks, strict=True):
        assert (mine.penalty is None) == (other.penalty is None)
        assert mine.penalty is None or mine.penalty.same_as(other.penalty)


def test_a_prior_that_rules_out(hospital, release, tmp_path):
    """What a prior holds to be impossible is known before and after, and cannot be taken out."""
    prior = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease")
    model = mx.MaxEnt(release, prior=prior).add("P(Flu | Degree=college) <= 0.4")
    again = through_a_file(model, tmp_path)
    assert_same(model, again)
    assert again.ruled_out == model.ruled_out != range(0)
    with pytest.raises(StatementError):
        again.remove(next(iter(again.knowledge)))
    less = model.without_row(model.form.n_facts)
    assert same_system(less.form, through_a_file(less, tmp_path).form)


def test_what_is_convex_is_refused(release, tmp_path):
    """No file holds a convex constraint: the error names it, and what to do; nothing is written."""
    model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3")
    model.add(lambda space: cp.sum_squares(space.marginal("s").expr) <= 0.5, label="not too sure")
    with refused(StatementError, "'not too sure' is a convex constraint"):
        model.save(tmp_path / "model.parquet")
    assert not list(tmp_path.iterdir())
    assert_same(model.copy().remove("not too sure"), through_a_file(model.copy().remove("not too sure"), tmp_path))


def test_nothing_is_run_from_a_file(told, tmp_path):
    """A function is not in the file: another process, which has never seen it, reads the model."""
    told.save(tmp_path / "model.parquet")
    code = "import maxent_cvx as mx, sys; print(mx.MaxEnt.load(sys.argv[1]).solve().counts.tobytes().hex())"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "model.parquet")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == told.solve().counts.tobytes().hex()
    assert b"pickle" not in (tmp_path / "model.parquet").read_bytes()
    columns = pd.read_parquet(tmp_path / "model.parquet").columns.tolist()  # any program reads the coefficients
    assert columns == ["row", "term", "coefficient", "typed"]


def test_models_and_posteriors_are_told_apart(told, tmp_path):
    """A file of the other kind is an error that says which function reads it."""
    told.save(tmp_path / "model.parquet")
    told.solve().save(tmp_path / "post.parquet")
    with refused(TableError, "MaxEnt.load"):
        mx.load_posterior(tmp_path / "model.parquet")
    with refused(TableError, "load_posterior"):
        mx.MaxEnt.load(tmp_path / "post.parquet")
    with refused(TableError, "MaxEnt.save"):
        mx.MaxEnt.load(tmp_path / "no.parquet")
    with refused(TableError):
        told.save(3)


def test_a_pickled_model_of_many_terms_is_solved():
    """A model goes through pickle, as to other processes; the arrays of a large one come back on top of bytes."""
    n = 3000
    table = pd.DataFrame({"q": np.arange(n) // 3, "s": np.arange(n) % 3, "bucket": np.arange(n) // 6})
    model = mx.MaxEnt(mx.Release.from_buckets(table, qi="q", sa="s", bucket="bucket")).add("P(1 | q=0) = 0.5")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.solve().counts, model.solve().counts)
